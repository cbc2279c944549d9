/* SPDX-License-Identifier: BSD-3-Clause */
/* Joining, starting, finishing and leaving a session: vftrace-session.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "libhook/find-agent.h"
#include "libhook/process.h"
#include "libhook/session.h"

#define EXPORT __attribute__((visibility("default")))

_Static_assert((int)VFTRACE_CODES == (int)SESSION_CODES, "the same codes");
_Static_assert((int)VFTRACE_COLLECTIVES == (int)SESSION_COLLECTIVES, "the same operations");
_Static_assert((int)VFTRACE_ERROR_AGENT_GONE == (int)SESSION_AGENT_GONE, "the same codes");

static struct {
	uint32_t generation; /* vftr_process.generation when we joined: a child of fork() has not */
	uint32_t joined, round;
	uint32_t starting; /* request of vftrace_start_async(), or 0 */
	char contact[SESSION_CONTACT_MAX + 1];
} mine;

/* A child of fork() is nobody yet. */
static bool is_joined(void)
{
	return load_acquire(&mine.joined) && mine.generation == vftr_process.generation;
}

int vftr_session_ready(void)
{
	int saved_errno = errno;

	vftr_slow(clock_counter(), 0, 0, NULL); /* attaches if need be */
	errno = saved_errno;
	if (!process_is_on() || load_relaxed(&vftr_process.waits_for_agent))
		return vftr_session_fail(VFTRACE_NO_AGENT, NULL);
	if (!is_joined() && mine.generation != vftr_process.generation) {
		vftr_session_lock();
		mine.joined = mine.round = mine.starting = 0;
		mine.generation = vftr_process.generation;
		vftr_session_comms_forget();
		vftr_session_unlock();
	}
	return VFTRACE_OK;
}

static int session_joined(void)
{
	int code = vftr_session_ready();

	if (!code && !is_joined())
		code = vftr_session_fail(VFTRACE_ERROR_NOT_JOINED, NULL);
	return code;
}

int vftr_session_started(void)
{
	int code;

	if (load_relaxed(&mine.round) && process_is_on() && is_joined())
		return VFTRACE_OK;
	code = session_joined();
	return code ? code : vftr_session_fail(VFTRACE_ERROR_NOT_STARTED, NULL);
}

EXPORT int vftrace_enabled(void)
{
	return vftr_session_ready() == VFTRACE_OK;
}

EXPORT int vftrace_round(void)
{
	return is_joined() ? (int)load_relaxed(&mine.round) : 0;
}

static bool is_word(const char *s, size_t most)
{
	size_t n = strlen(s);

	return n <= most && strcspn(s, " \t\r\n\v\f") == n;
}

EXPORT int vftrace_join(int number, const char *name, const char **contact)
{
	struct wire_session m = {.operation = SESSION_JOIN, .number = number};
	char text[SESSION_NAME_MAX + SESSION_CONTACT_MAX + 2];
	const char *other = contact && *contact ? *contact : "";
	union session_packet p;
	int code, bytes;

	vftr_find_agent_of(other);
	code = vftr_session_ready();
	if (code)
		return code;
	if (is_joined())
		return vftr_session_fail(
			VFTRACE_ERROR_ALREADY, "vftrace_join: this process has joined already");
	if (number < -1 || number >= (int)SESSION_MEMBERS_MAX)
		return vftr_session_fail(VFTRACE_ERROR_ARGUMENT,
			"vftrace_join: number %d is not -1 or from 0 to %u", number,
			SESSION_MEMBERS_MAX - 1);
	if (!name || !name[0] || strlen(name) > SESSION_NAME_MAX)
		return vftr_session_fail(VFTRACE_ERROR_ARGUMENT,
			"vftrace_join: a name has 1 to %u bytes", SESSION_NAME_MAX);
	if (!is_word(other, SESSION_CONTACT_MAX))
		return vftr_session_fail(VFTRACE_ERROR_CONTACT,
			"vftrace_join: a contact has no blanks and at most %u bytes",
			SESSION_CONTACT_MAX);
	bytes = snprintf(text, sizeof(text), "%s%c%s", name, 0, other) + 1;
	code = vftr_session_do(&m, text, (size_t)bytes, SESSION_TIMEOUT_S, &p);
	if (code)
		return code;
	vftr_session_lock();
	snprintf(mine.contact, sizeof(mine.contact), "%.*s", (int)SESSION_CONTACT_MAX,
		p.bytes + sizeof(p.answer));
	mine.round = mine.starting = 0;
	mine.generation = vftr_process.generation;
	store_release(&mine.joined, 1);
	vftr_session_unlock();
	if (contact)
		*contact = mine.contact;
	return VFTRACE_OK;
}

EXPORT int vftrace_expect(int processes, int n_contacts, const char *const *contacts)
{
	struct wire_session m = {.operation = SESSION_EXPECT, .count = processes};
	char text[WIRE_TEXT_MAX];
	size_t used = 0;
	union session_packet p;
	int code = session_joined();

	if (code)
		return code;
	if (processes < 1 || processes > (int)SESSION_MEMBERS_MAX || n_contacts < 0 ||
		n_contacts > processes || (n_contacts && !contacts))
		return vftr_session_fail(VFTRACE_ERROR_ARGUMENT,
			"vftrace_expect: %d processes and %d contacts%s: it takes 1 to %u "
			"processes, and as many contacts or less",
			processes, n_contacts, contacts ? "" : " (NULL)", SESSION_MEMBERS_MAX);
	for (int i = 0; i < n_contacts; i++) {
		size_t n = contacts[i] ? strlen(contacts[i]) + 1 : 0;

		if (!n || !is_word(contacts[i], SESSION_CONTACT_MAX))
			return vftr_session_fail(VFTRACE_ERROR_CONTACT,
				"vftrace_expect: contacts[%d] is no contact: it has 1 to %u bytes "
				"and no "
				"blanks",
				i, SESSION_CONTACT_MAX);
		if (used + n > sizeof(text))
			return vftr_session_fail(VFTRACE_ERROR_LIMIT,
				"vftrace_expect: contacts of more than %zu bytes", sizeof(text));
		memcpy(text + used, contacts[i], n);
		used += n;
	}
	return vftr_session_do(&m, text, used, SESSION_TIMEOUT_S, &p);
}

static int began(const union session_packet *p)
{
	int code = VFTRACE_OK;

	vftr_session_lock();
	mine.starting = 0;
	if (is_joined()) {
		vftr_session_comms_forget();
		code = vftr_session_comm_set(VFTRACE_COMM_WORLD, &p->answer.comm);
		if (!code)
			code = vftr_session_comm_set(VFTRACE_COMM_SELF, &p->answer.self);
		if (!code)
			code = vftr_session_comm_set(VFTRACE_COMM_PARENT, &p->answer.parent);
		store_release(&mine.round, p->answer.epoch);
	}
	vftr_session_unlock();
	return vftr_session_fail(code, "no memory for a communicator");
}

static void not_starting(uint32_t request)
{
	vftr_session_lock();
	if (mine.starting == request)
		mine.starting = 0;
	vftr_session_unlock();
}

/* Asks to start, unless it was. */
static int ask_start(union session_packet *p, uint32_t *request)
{
	struct wire_session m = {.operation = SESSION_START};
	int code = session_joined();

	if (code)
		return code;
	if (load_relaxed(&mine.round))
		return vftr_session_fail(VFTRACE_ERROR_ALREADY, "this round has started already");
	if (load_relaxed(&mine.starting))
		return vftr_session_fail(VFTRACE_ERROR_BUSY, "this process is starting already");
	vftr_thread_publish(&vftr_thread); /* it belongs to what was before */
	code = vftr_session_ask(&m, NULL, 0, p);
	*request = m.request;
	if (code)
		return code;
	store_release(&mine.starting, m.request);
	return VFTRACE_OK;
}

EXPORT int vftrace_start(double timeout_s)
{
	union session_packet p;
	uint32_t request;
	int code = ask_start(&p, &request);

	if (!code && p.answer.pending)
		code = vftr_session_wait(request, timeout_s, &p);
	if (!code)
		return began(&p);
	if (code != VFTRACE_ERROR_BUSY)
		not_starting(request);
	return code;
}

EXPORT int vftrace_start_async(void)
{
	union session_packet p;
	uint32_t request;
	int code = ask_start(&p, &request);

	return code || p.answer.pending ? code : began(&p);
}

EXPORT int vftrace_test(int *done)
{
	uint32_t request = load_acquire(&mine.starting);
	struct wire_session m = {.operation = SESSION_ASK, .number = (int32_t)request};
	union session_packet p;
	int code;

	if (!done)
		return vftr_session_fail(VFTRACE_ERROR_ARGUMENT, "vftrace_test: NULL");
	*done = 1;
	code = session_joined();
	if (code)
		return code;
	if (!request)
		return vftrace_round() ? VFTRACE_OK
				       : vftr_session_fail(VFTRACE_ERROR_NOT_STARTED, NULL);
	code = vftr_session_ask(&m, NULL, 0, &p);
	if (!code && p.answer.pending) {
		*done = 0;
		return VFTRACE_OK;
	}
	if (!code)
		return began(&p);
	not_starting(request);
	return code;
}

EXPORT int vftrace_finish(double timeout_s)
{
	struct wire_session m = {.operation = SESSION_FINISH};
	union session_packet p;
	int code = vftr_session_started();

	if (code)
		return code;
	vftr_thread_publish(&vftr_thread);
	code = vftr_session_do(&m, NULL, 0, timeout_s, &p);
	if (code && code != VFTRACE_ERROR_DEAD) /* else all who live have come */
		return code;
	vftr_session_lock();
	mine.round = 0;
	vftr_session_comms_forget();
	vftr_session_unlock();
	return code;
}

EXPORT int vftrace_abort(void)
{
	struct wire_session m = {.operation = SESSION_ABORT};
	union session_packet p;
	int code = session_joined();

	return code ? code : vftr_session_ask(&m, NULL, 0, &p);
}

static int forget(enum session_operation how)
{
	struct wire_session m = {.operation = how};
	union session_packet p;
	int code = session_joined();

	if (code)
		return code;
	vftr_session_lock();
	mine.round = mine.starting = 0;
	vftr_session_comms_forget();
	if (how == SESSION_LEAVE)
		mine.joined = 0;
	vftr_session_unlock();
	return vftr_session_ask(&m, NULL, 0, &p);
}

EXPORT int vftrace_reset(void)
{
	return forget(SESSION_RESET);
}

EXPORT int vftrace_leave(void)
{
	return forget(SESSION_LEAVE);
}

EXPORT int vftrace_children(const char **contact)
{
	struct wire_session m = {.operation = SESSION_CHILDREN};
	union session_packet p;
	char *to;
	int code = contact ? vftr_session_started()
			   : vftr_session_fail(VFTRACE_ERROR_ARGUMENT, "vftrace_children: NULL");

	if (!code)
		code = vftr_session_do(&m, NULL, 0, SESSION_TIMEOUT_S, &p);
	if (code)
		return code;
	to = vftr_session_contact_room();
	if (!to)
		return VFTRACE_ERROR_LIMIT;
	snprintf(to, SESSION_CONTACT_MAX + 1, "%.*s", (int)SESSION_CONTACT_MAX,
		p.bytes + sizeof(p.answer));
	*contact = to;
	return VFTRACE_OK;
}
