/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communication that a program logs: as the records of MPI (shm/message.h), in frames of
 * their own.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include "libhook/emit.h"
#include "libhook/process.h"
#include "libhook/session.h"
#include "shm/fnv.h"
#include "shm/message.h"

#define EXPORT __attribute__((visibility("default")))

/* A name and its entry never change once it has a number: who looks for it takes no lock. */
struct name {
	char text[SESSION_NAME_MAX + 1];
	int of;	       /* of a state: its class; of a location: its line */
	uint32_t next; /* number of the next one in its bucket, or 0 */
};

#define BUCKETS 8192u

struct names {
	struct session_list list; /* number n is item n - 1 */
	uint32_t bucket[BUCKETS];
};

static struct names classes, states, locations;

struct unordered {
	uint64_t ticks; /* 0: now */
	uint32_t open;	/* collectives begun */
};
static __thread struct unordered own __attribute__((tls_model("initial-exec")));

static int find(int comm, struct session_comm **c)
{
	int code = vftr_session_started();

	if (code)
		return code;
	*c = vftr_session_comm(comm);
	if (*c)
		return VFTRACE_OK;
	return vftr_session_fail(
		VFTRACE_ERROR_ARGUMENT, "there is no communicator %d in this process", comm);
}

static void emit(const uint64_t *word)
{
	const uint64_t earlier[] = {message_head(RECORD_EARLIER, 0), MESSAGE_MARK | own.ticks};

	if (!vftr_messages_wanted())
		return;
	if (own.ticks)
		vftr_emit(earlier);
	vftr_emit(word);
}

static int log_message(enum logged_call call, int comm, int peer, int tag, uint64_t bytes)
{
	struct session_comm *c;
	int code = find(comm, &c);
	uint32_t ticket;
	uint64_t word[4];

	if (code)
		return code;
	if (peer < 0 || (uint32_t)peer >= c->size || tag < 0 || bytes > MESSAGE_BYTES)
		return vftr_session_fail(VFTRACE_ERROR_ARGUMENT,
			"a message to or from rank %d with tag %d and %llu bytes: ranks are from 0 "
			"to %u, tags from 0, and it has at most %llu bytes",
			peer, tag, (unsigned long long)bytes, c->size - 1,
			(unsigned long long)MESSAGE_BYTES);
	ticket = add_relaxed_u32(call == LOGGED_SEND ? &c->sent[peer] : &c->posted, 1);
	word[0] = message_head(call == LOGGED_SEND ? RECORD_SEND : RECORD_RECV, (uint32_t)tag);
	word[1] = message_pair(ticket, (uint32_t)peer);
	word[2] = message_subject(c->number, MESSAGE_TYPE_DERIVED, 0);
	word[3] = message_last(0, bytes);
	vftr_enter_id(RECORD_ID_LOGGED + call);
	emit(word);
	vftr_exit_id(RECORD_ID_LOGGED + call);
	return VFTRACE_OK;
}

EXPORT int vftrace_log_send(int comm, int peer, int tag, uint64_t bytes)
{
	return log_message(LOGGED_SEND, comm, peer, tag, bytes);
}

EXPORT int vftrace_log_receive(int comm, int peer, int tag, uint64_t bytes)
{
	return log_message(LOGGED_RECEIVE, comm, peer, tag, bytes);
}

EXPORT int vftrace_collective_begin(void)
{
	int code = vftr_session_started();

	if (code)
		return code;
	own.open++;
	vftr_enter_id(RECORD_ID_LOGGED + LOGGED_COLLECTIVE);
	return VFTRACE_OK;
}

EXPORT int vftrace_collective_end(void)
{
	if (!own.open)
		return vftr_session_fail(VFTRACE_ERROR_MISMATCH,
			"vftrace_collective_end without vftrace_collective_begin");
	own.open--;
	vftr_exit_id(RECORD_ID_LOGGED + LOGGED_COLLECTIVE);
	return VFTRACE_OK;
}

/* Messages that it stands for, as the MPI operation of this name. */
static void messages_of(
	int operation, const struct session_comm *c, bool root, uint32_t *sends, uint32_t *receives)
{
	const uint32_t all = c->size;

	*sends = *receives = 0;
	switch (operation) {
	case VFTRACE_BROADCAST:
	case VFTRACE_SCATTER:
		*sends = root ? all : 0;
		*receives = 1;
		break;
	case VFTRACE_REDUCE:
	case VFTRACE_GATHER:
		*sends = 1;
		*receives = root ? all : 0;
		break;
	case VFTRACE_ALLREDUCE:
	case VFTRACE_ALLGATHER:
	case VFTRACE_ALLTOALL:
		*sends = *receives = all;
		break;
	}
}

EXPORT int vftrace_log_collective(
	int operation, int comm, int root, uint64_t bytes_sent, uint64_t bytes_received)
{
	struct session_comm *c;
	int code = find(comm, &c);
	const bool inside = own.open;
	uint32_t sends, receives;
	uint64_t word[6];

	if (code)
		return code;
	if (operation < 0 || operation >= VFTRACE_COLLECTIVES || root < -1 ||
		(root >= 0 && (uint32_t)root >= c->size) || bytes_sent > MESSAGE_BYTES ||
		bytes_received > MESSAGE_BYTES)
		return vftr_session_fail(VFTRACE_ERROR_ARGUMENT,
			"collective operation %d with root %d, %llu bytes sent and %llu received: "
			"operations are from 0 to %d, roots from -1 to %u, and either has at most "
			"%llu bytes",
			operation, root, (unsigned long long)bytes_sent,
			(unsigned long long)bytes_received, VFTRACE_COLLECTIVES - 1, c->size - 1,
			(unsigned long long)MESSAGE_BYTES);
	messages_of(operation, c, root >= 0 && (uint32_t)root == c->rank, &sends, &receives);
	word[0] = message_head(RECORD_COLLECTIVE, SESSION_FUNCTION + (uint32_t)operation);
	word[1] = message_pair(
		add_relaxed_u32(&c->collectives, 1), root < 0 ? MESSAGE_NO_RANK : (uint32_t)root);
	word[2] = message_subject(c->number, MESSAGE_TYPE_DERIVED, 0);
	word[3] = message_pair(sends, receives);
	word[4] = bytes_sent;
	word[5] = MESSAGE_MARK | bytes_received;
	if (!inside)
		vftr_enter_id(RECORD_ID_LOGGED + LOGGED_COLLECTIVE);
	emit(word);
	if (!inside)
		vftr_exit_id(RECORD_ID_LOGGED + LOGGED_COLLECTIVE);
	return VFTRACE_OK;
}

EXPORT int vftrace_begin_unordered(uint64_t time)
{
	int code = vftr_session_started();

	if (code)
		return code;
	if (!time || time > vftr_process_ticks())
		return vftr_session_fail(VFTRACE_ERROR_ARGUMENT,
			"vftrace_begin_unordered: the time %llu is 0 or in the future: give one "
			"that vftrace_time() has returned",
			(unsigned long long)time);
	own.ticks = time;
	return VFTRACE_OK;
}

EXPORT int vftrace_end_unordered(void)
{
	if (!own.ticks)
		return vftr_session_fail(VFTRACE_ERROR_MISMATCH,
			"vftrace_end_unordered without vftrace_begin_unordered");
	own.ticks = 0;
	return VFTRACE_OK;
}

uint64_t vftr_session_earlier(void)
{
	return own.ticks;
}

EXPORT uint64_t vftrace_time(void)
{
	return vftr_session_ready() ? 0 : vftr_process_ticks();
}

/* ---- names ---------------------------------------------------------------------- */

static struct name *named(struct names *l, int number)
{
	return number > 0 ? vftr_session_at(&l->list, (uint32_t)number - 1, sizeof(struct name))
			  : NULL;
}

static uint32_t *bucket_of(struct names *l, const char *name, int of)
{
	const uint64_t hash = fnv_word(fnv_text(FNV_BEGIN, name), (uint32_t)of);

	return &l->bucket[(hash ^ hash >> 32) % BUCKETS];
}

/* Its number, or 0. */
static uint32_t find_name(struct names *l, const uint32_t *bucket, const char *name, int of)
{
	uint32_t i = load_acquire(bucket); /* pairs with add_name() */
	const struct name *n;

	for (; (n = named(l, (int)i)) && (n->of != of || strcmp(n->text, name)); i = n->next)
		;
	return i;
}

/* With the lock. 0: no memory. */
static uint32_t add_name(struct names *l, uint32_t *bucket, const char *name, int of)
{
	struct name *n = vftr_session_more(&l->list, sizeof(*n));

	if (!n)
		return 0;
	snprintf(n->text, sizeof(n->text), "%s", name);
	n->of = of;
	n->next = *bucket;
	store_release(bucket, l->list.n); /* pairs with find_name() */
	return l->list.n;
}

static int define(struct names *l, const char *name, int of, int *number)
{
	int code = vftr_session_ready();
	uint32_t *bucket, i;

	if (code)
		return code;
	if (!name || !name[0] || strlen(name) > SESSION_NAME_MAX || !number)
		return vftr_session_fail(
			VFTRACE_ERROR_ARGUMENT, "a name has 1 to %u bytes", SESSION_NAME_MAX);
	bucket = bucket_of(l, name, of);
	i = find_name(l, bucket, name, of);
	if (!i) {
		vftr_session_lock();
		i = find_name(l, bucket, name, of);
		if (!i)
			i = add_name(l, bucket, name, of);
		vftr_session_unlock();
	}
	if (!i)
		return vftr_session_fail(VFTRACE_ERROR_LIMIT, NULL);
	*number = (int)i;
	return VFTRACE_OK;
}

EXPORT int vftrace_class(const char *name, int *number)
{
	return define(&classes, name, 0, number);
}

EXPORT int vftrace_state(const char *name, int class_number, int *number)
{
	if (!vftr_session_ready() && !named(&classes, class_number))
		return vftr_session_fail(
			VFTRACE_ERROR_ARGUMENT, "there is no class %d", class_number);
	return define(&states, name, class_number, number);
}

EXPORT int vftrace_location(const char *file, int line, int *number)
{
	return define(&locations, file, line, number);
}

static int region_of(int state, int location, char *text, size_t bytes)
{
	const struct name *s = named(&states, state), *where = named(&locations, location);
	int code = vftr_session_ready();

	if (code)
		return code;
	if (!s || (location && !where))
		return vftr_session_fail(VFTRACE_ERROR_ARGUMENT,
			"there is no state %d or location %d", state, location);
	snprintf(text, bytes, "%s:%s", named(&classes, s->of)->text, s->text);
	if (where)
		snprintf(text + strlen(text), bytes - strlen(text), "@%s:%d", where->text,
			where->of);
	return VFTRACE_OK;
}

#define REGION_BYTES (3 * (SESSION_NAME_MAX + 1) + 16)

EXPORT int vftrace_enter(int state, int location)
{
	char text[REGION_BYTES];
	int code = region_of(state, location, text, sizeof(text));

	if (!code)
		vftr_region_event(0, text, sizeof(text), __builtin_return_address(0));
	return code;
}

EXPORT int vftrace_leave_state(int state, int location)
{
	char text[REGION_BYTES];
	int code = region_of(state, location, text, sizeof(text));

	if (!code)
		vftr_region_event(RECORD_EXIT, text, sizeof(text), __builtin_return_address(0));
	return code;
}

/* Recorded as a write to a file with the name of the label. */
EXPORT int vftrace_log_data(uint64_t bytes, const char *label)
{
	static struct names labels;
	static uint32_t told, generation;
	struct wire_object m = {.head.kind = WIRE_FILE};
	char name[SESSION_NAME_MAX + 16];
	uint64_t word[4];
	int number, code = define(&labels, label, 0, &number);

	if (code)
		return code;
	if (bytes > MESSAGE_BYTES)
		return vftr_session_fail(VFTRACE_ERROR_ARGUMENT, "more bytes than can be counted");
	vftr_session_lock();
	if (generation != vftr_process.generation) {
		generation = vftr_process.generation;
		told = 0;
	}
	while (told < (uint32_t)number) {
		snprintf(name, sizeof(name), "(data) %s", named(&labels, (int)told + 1)->text);
		m.number = SESSION_COMM_FIRST + ++told;
		m.head.ticks = 0;
		vftr_define(&m.head, sizeof(m), name, strlen(name) + 1);
	}
	vftr_session_unlock();
	word[0] = message_head(RECORD_FILE, 0);
	word[1] = message_pair(SESSION_COMM_FIRST + (uint32_t)number, 0);
	word[2] = MESSAGE_NO_OFFSET;
	word[3] = message_last(MESSAGE_WRITE, bytes);
	vftr_enter_id(RECORD_ID_LOGGED + LOGGED_DATA);
	emit(word);
	vftr_exit_id(RECORD_ID_LOGGED + LOGGED_DATA);
	return VFTRACE_OK;
}
