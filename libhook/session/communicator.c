/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators of sessions. Their members are known to the agents; here are rank, size,
 * and the tickets that tell messages of one channel apart.
 */
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include "libhook/process.h"
#include "libhook/session.h"

#define EXPORT __attribute__((visibility("default")))

static struct session_list comms;

static size_t sent_bytes(uint32_t size)
{
	return (size_t)size * sizeof(uint32_t);
}

struct session_comm *vftr_session_comm(int comm)
{
	struct session_comm *c =
		comm > 0 ? vftr_session_at(&comms, (uint32_t)comm, sizeof(*c)) : NULL;

	return c && load_acquire(&c->number) ? c : NULL;
}

/* Tickets of a communicator that is no more stay mapped, as a thread may be at them. */
static int set(struct session_comm *c, const struct wire_session_comm *w)
{
	uint32_t *sent = c->sent;

	store_release(&c->number, 0);
	if (!w->number)
		return VFTRACE_OK;
	if (w->size > c->room) {
		sent = mmap(NULL, sent_bytes(w->size), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (sent == MAP_FAILED)
			return VFTRACE_ERROR_LIMIT;
		c->room = (uint32_t)((sent_bytes(w->size) + 4095) / 4096 * 4096 / sizeof(*sent));
	} else {
		memset(sent, 0, sent_bytes(w->size));
	}
	c->sent = sent;
	c->rank = w->rank;
	c->size = w->size;
	c->posted = c->collectives = 0;
	store_release(&c->number, w->number); /* pairs with vftr_session_comm() */
	return VFTRACE_OK;
}

int vftr_session_comm_set(int comm, const struct wire_session_comm *w)
{
	while (load_relaxed(&comms.n) <= (uint32_t)comm)
		if (!vftr_session_more(&comms, sizeof(struct session_comm)))
			return VFTRACE_ERROR_LIMIT;
	return set(vftr_session_at(&comms, (uint32_t)comm, sizeof(struct session_comm)), w);
}

void vftr_session_comms_forget(void)
{
	for (uint32_t i = 0; i < comms.n; i++) {
		struct session_comm *c = vftr_session_at(&comms, i, sizeof(*c));

		store_release(&c->number, 0);
	}
}

/* The outcome of create and attach. */
static int take_new(const union session_packet *p, int *new_comm)
{
	uint32_t i = VFTRACE_COMM_PARENT + 1;
	int code;

	vftr_session_lock();
	while (i < comms.n &&
		((struct session_comm *)vftr_session_at(&comms, i, sizeof(struct session_comm)))
			->number)
		i++;
	code = i > INT_MAX / 2 ? VFTRACE_ERROR_LIMIT
			       : vftr_session_comm_set((int)i, &p->answer.comm);
	vftr_session_unlock();
	if (code)
		return vftr_session_fail(code, "no memory for a communicator");
	*new_comm = (int)i;
	return VFTRACE_OK;
}

static int find(int comm, struct session_comm **c)
{
	int code = vftr_session_started();

	if (code)
		return code;
	*c = vftr_session_comm(comm);
	if (!*c)
		return vftr_session_fail(VFTRACE_ERROR_ARGUMENT,
			"there is no communicator %d in this process", comm);
	return VFTRACE_OK;
}

EXPORT int vftrace_comm_rank(int comm, int *rank)
{
	struct session_comm *c;
	int code =
		rank ? find(comm, &c) : vftr_session_fail(VFTRACE_ERROR_ARGUMENT, "rank is NULL");

	if (!code)
		*rank = (int)c->rank;
	return code;
}

EXPORT int vftrace_comm_size(int comm, int *size)
{
	struct session_comm *c;
	int code =
		size ? find(comm, &c) : vftr_session_fail(VFTRACE_ERROR_ARGUMENT, "size is NULL");

	if (!code)
		*size = (int)c->size;
	return code;
}

EXPORT int vftrace_parent(int *comm)
{
	int code = comm ? vftr_session_started()
			: vftr_session_fail(VFTRACE_ERROR_ARGUMENT, "comm is NULL");

	if (comm)
		*comm = VFTRACE_COMM_INVALID;
	if (!code && vftr_session_comm(VFTRACE_COMM_PARENT))
		*comm = VFTRACE_COMM_PARENT;
	return code;
}

EXPORT int vftrace_comm_create(int comm, int n, const int *ranks, double timeout_s, int *new_comm)
{
	struct wire_session m = {.operation = SESSION_CREATE};
	union session_packet p;
	struct session_comm *c;
	bool member = false;
	int code = find(comm, &c);

	if (code)
		return code;
	if (!new_comm || n < 1 || !ranks)
		return vftr_session_fail(
			VFTRACE_ERROR_ARGUMENT, "vftrace_comm_create: no processes");
	if ((size_t)n * sizeof(int) > WIRE_TEXT_MAX)
		return vftr_session_fail(VFTRACE_ERROR_LIMIT,
			"vftrace_comm_create: more than %zu processes",
			WIRE_TEXT_MAX / sizeof(int));
	*new_comm = VFTRACE_COMM_INVALID;
	for (int i = 0; i < n; i++) {
		if (ranks[i] < 0 || (uint32_t)ranks[i] >= c->size)
			return vftr_session_fail(VFTRACE_ERROR_ARGUMENT,
				"vftrace_comm_create: rank %d is not from 0 to %u", ranks[i],
				c->size - 1);
		member |= (uint32_t)ranks[i] == c->rank;
	}
	if (!member)
		return vftr_session_fail(VFTRACE_ERROR_ARGUMENT,
			"vftrace_comm_create: rank %u calls it and is not in the list", c->rank);
	m.comm = c->number;
	m.count = n;
	code = vftr_session_do(&m, ranks, (size_t)n * sizeof(int), timeout_s, &p);
	return code ? code : take_new(&p, new_comm);
}

EXPORT int vftrace_comm_free(int *comm)
{
	struct wire_session m = {.operation = SESSION_FREE};
	union session_packet p;
	struct session_comm *c;
	int code =
		comm ? find(*comm, &c) : vftr_session_fail(VFTRACE_ERROR_ARGUMENT, "comm is NULL");

	if (code)
		return code;
	if (*comm <= VFTRACE_COMM_PARENT)
		return vftr_session_fail(
			VFTRACE_ERROR_ARGUMENT, "vftrace_comm_free: world, self and parent stay");
	vftr_session_lock();
	m.comm = c->number;
	store_release(&c->number, 0);
	vftr_session_unlock();
	*comm = VFTRACE_COMM_INVALID;
	return m.comm ? vftr_session_ask(&m, NULL, 0, &p) : VFTRACE_OK;
}

EXPORT int vftrace_attach(
	int root, int comm, int children, const char *contact, double timeout_s, int *new_comm)
{
	struct wire_session m = {.operation = SESSION_ATTACH, .number = root};
	union session_packet p;
	struct session_comm *c;
	size_t bytes = 0;
	int code = find(comm, &c);

	if (code)
		return code;
	if (!new_comm || root < 0 || (uint32_t)root >= c->size)
		return vftr_session_fail(VFTRACE_ERROR_ARGUMENT,
			"vftrace_attach: root %d is not from 0 to %u, or new_comm is NULL", root,
			c->size - 1);
	*new_comm = VFTRACE_COMM_INVALID;
	if ((uint32_t)root == c->rank) {
		if (children < 1 || !contact || strlen(contact) > SESSION_CONTACT_MAX)
			return vftr_session_fail(VFTRACE_ERROR_ARGUMENT,
				"vftrace_attach: the root needs the number of children, and the "
				"contact that they got");
		m.count = children;
		bytes = strlen(contact) + 1;
	}
	m.comm = c->number;
	code = vftr_session_do(&m, contact, bytes, timeout_s, &p);
	return code ? code : take_new(&p, new_comm);
}
