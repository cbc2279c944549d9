/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes of this node that are in a session; see session.h. */
#include "nodeagent/session/session.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "nodeagent/agent/roles/agent.h"
#include "nodeagent/process/drain.h"
#include "nodeagent/internode/matching.h"
#include "nodeagent/process/process.h"
#include "nodeagent/session/internal.h"
#include "nodeagent/replay/comm/comm.h"
#include "nodeagent/base/util.h"
#include "shm/atomic.h"

struct pending {
	uint32_t request, operation;
	uint64_t comm; /* of FREE and the like */
	bool over, given_up;
	struct wire_session_answer answer;
	char *text;
};

struct known_comm {
	uint32_t number;
	enum wire_comm_kind kind;
	uint64_t id; /* 0: of the process itself only */
};

/* What a process has of sessions; p->session, from its first request on. */
struct session_process {
	struct sessions *node;
	uint64_t key;
	bool in_mpi; /* its rank is that of MPI */
	uint32_t next_comm;
	struct pending pending[SESSION_PENDING_MAX];
	size_t n_pending;
	struct known_comm *comms;
	size_t n_comms, cap_comms;
};

/* ---- outcomes --------------------------------------------------------------------- */

static struct process *process_of(struct agent *a, uint64_t key)
{
	for (struct process *p = a->host.processes; p; p = p->next)
		if (p->session && p->session->key == key)
			return p;
	return NULL;
}

static struct pending *pending_of(struct session_process *s, uint32_t request)
{
	return FIND(x, s->pending, s->n_pending, x->request == request);
}

static void forget_pending(struct session_process *s, struct pending *q)
{
	if (!q->over)
		s->node->waiting--;
	free(q->text);
	*q = s->pending[--s->n_pending];
}

/* Tells our own traffic of a communicator. Members are ranks in the session. */
static void define_comm(struct process *p, const struct session_members *m, const int32_t *ranks,
	struct wire_session_comm *out, enum wire_comm_kind kind)
{
	struct session_process *s = p->session;
	struct {
		struct wire_comm m;
		struct wire_run runs[];
	} * w;
	uint32_t runs = 0;
	const char *why;

	if (!m->id || m->rank >= m->n || s->next_comm >= SESSION_COMM_FIRST)
		return;
	w = xcalloc(1, sizeof(*w) + m->n * sizeof(w->runs[0]));
	for (uint32_t i = 0; i < m->n; i++) {
		struct wire_run *last = runs ? &w->runs[runs - 1] : NULL;

		if (last && (last->count == 1 || last->stride == ranks[i] - ranks[i - 1]) &&
			ranks[i] != ranks[i - 1]) {
			last->stride = ranks[i] - ranks[i - 1];
			last->count++;
		} else {
			w->runs[runs++] = (struct wire_run){ranks[i], 0, 1};
		}
	}
	out->number = SESSION_COMM_FIRST + s->next_comm++;
	out->rank = m->rank;
	out->size = m->n;
	w->m = (struct wire_comm){
		.head = {.kind = WIRE_COMM, .ticks = host_ticks(&agent_of(p->host)->host)},
		.id = m->id,
		.number = out->number,
		.kind = kind,
		.rank = m->rank,
		.size = m->n};
	why = NULL;
	for (uint32_t from = 0; from < runs && !why; from += w->m.runs) {
		w->m.runs_before = from;
		w->m.runs = runs - from < WIRE_RUNS_MAX ? runs - from : WIRE_RUNS_MAX;
		memmove(w->runs, w->runs + (from ? WIRE_RUNS_MAX : 0),
			(from ? runs - from : 0) * sizeof(w->runs[0]));
		why = traffic_define_comm(p->traffic, &w->m, w->m.runs * sizeof(w->runs[0]));
	}
	free(w);
	if (why)
		process_quarantine(p, "%s", why);
	*LIST_ADD(s, comms) = (struct known_comm){out->number, kind, m->id};
}

/* The coordinator frees the world of a round itself. */
static void comm_gone(struct process *p, size_t i, uint64_t ticks)
{
	struct session_process *s = p->session;
	const struct known_comm k = s->comms[i];
	const struct wire_about gone = {.head = {.kind = WIRE_GONE, .ticks = ticks},
		.number = k.number,
		.object = WIRE_OBJECT_COMM};
	struct session_request r = {
		.operation = SESSION_FREE, .key = s->key, .pid = p->pid, .comm = k.id};

	s->comms[i] = s->comms[--s->n_comms];
	traffic_gone(p->traffic, &gone);
	if (k.kind != WIRE_COMM_PREDEFINED)
		sessions_forward(agent_of(p->host), &r, "");
}

static void name_comm(struct process *p, uint32_t number, const char *name)
{
	const struct wire_about m = {.number = number, .object = WIRE_OBJECT_COMM};

	if (number)
		traffic_name(p->traffic, &m, name);
}

/* A round begins: its messages are those of another job. */
static void begin_round(struct process *p, const struct session_outcome *o)
{
	struct wire_rank m = {.rank = o->rank, .size = o->size, .job = o->job, .thread_level = 3};

	agent_of(p->host)->sessions->duties->begin_round(agent_of(p->host), o->epoch);
	drain_process_now(p);
	if (p->session->in_mpi) {
		matching_join_session(p, (uint32_t)o->rank, o->job);
		return;
	}
	if (p->match && (p->job != o->job || p->job_rank != o->rank))
		matching_leave(p);
	process_set_rank(p, &m);
}

/* Reading rings reads sockets, too: other requests of the process may come in between. */
static void fill_answer(struct process *p, uint32_t operation, const struct session_outcome *o,
	struct wire_session_answer *w)
{
	const int32_t *ranks = (const int32_t *)(const void *)(o + 1);
	struct session_process *s = p->session;

	w->code = o->code;
	w->epoch = o->epoch;
	if (operation == SESSION_START && !o->code) {
		struct session_members self = {.id = o->made.id ^ (s->key | 1) << 1, .n = 1};

		s->in_mpi = s->in_mpi || (p->job_rank != WIRE_UNKNOWN && !s->next_comm);
		begin_round(p, o);
		while (s->n_comms) /* of the round before: it has forgotten them */
			comm_gone(p, s->n_comms - 1, host_ticks(p->host));
		define_comm(p, &o->made, ranks, &w->comm, WIRE_COMM_PREDEFINED);
		define_comm(p, &self, &o->rank, &w->self, WIRE_COMM_PREDEFINED);
		if (w->self.number) /* only we know it */
			s->comms[s->n_comms - 1].id = 0;
		define_comm(p, &o->parent, ranks + o->made.n, &w->parent, WIRE_COMM_PARENT);
		name_comm(p, w->comm.number, "VFTRACE_COMM_WORLD");
		name_comm(p, w->self.number, "VFTRACE_COMM_SELF");
		name_comm(p, w->parent.number, "VFTRACE_COMM_PARENT");
	} else if (o->made.id) {
		define_comm(p, &o->made, ranks, &w->comm,
			operation == SESSION_ATTACH ? WIRE_COMM_SPAWN : WIRE_COMM_CREATE);
	}
	if (operation == SESSION_FINISH)
		drain_process_now(p);
}

/* Its pid may be another's by now. */
static void terminate(const struct process *p)
{
	if (p->pidfd < 0 ||
		(syscall(SYS_pidfd_send_signal, p->pidfd, SIGTERM, NULL, 0) && errno == ENOSYS))
		kill(p->pid, SIGTERM);
}

/* One has died, and --on-death is abort. */
static void stop_processes(struct agent *a)
{
	for (const struct process *p = a->host.processes; p; p = p->next)
		if (p->session && !p->ended && p->pid > 0)
			terminate(p);
}

static void wake_process(const struct process *p)
{
	if (!p->control)
		return;
	store_release(&p->control->outcomes, p->control->outcomes + 1); /* pairs with its look */
	syscall(SYS_futex, &p->control->outcomes, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

static void settle_pending(struct session_process *s, struct pending *q, const char *text)
{
	q->over = true;
	s->node->waiting--;
	free(q->text);
	q->text = xstrdup(text);
}

static bool makes_sense(const struct session_outcome *o, size_t bytes)
{
	const int32_t *ranks = (const int32_t *)(const void *)(o + 1);
	uint64_t members;

	if (bytes < sizeof(*o))
		return false;
	members = (uint64_t)o->made.n + o->parent.n;
	if (members > SESSION_MEMBERS_MAX * 2 ||
		bytes != sizeof(*o) + members * sizeof(*ranks) + o->text_bytes || !o->text_bytes ||
		((const char *)o)[bytes - 1] || o->code < 0 || o->code >= SESSION_CODES ||
		o->size < 0 || o->size > (int32_t)SESSION_MEMBERS_MAX || o->rank < 0 ||
		o->rank > o->size)
		return false;
	/* -1: not in this round */
	return ALL(i, members, ranks[i] >= -1 && ranks[i] < (int32_t)SESSION_MEMBERS_MAX);
}

void sessions_arrived(struct agent *a, const struct session_outcome *o, size_t bytes)
{
	struct wire_session_answer w = {.request = o->request};
	struct process *p;
	struct pending *q;

	if (!makes_sense(o, bytes))
		return;
	if (!o->key && o->code)
		a->sessions->duties->all_idle(a);
	else if (!o->key)
		stop_processes(a);
	p = o->key ? process_of(a, o->key) : NULL;
	q = p ? pending_of(p->session, o->request) : NULL;
	if (!p || p->ended || !q || q->over)
		return;
	fill_answer(p, q->operation, o, &w);
	q = pending_of(p->session, o->request); /* it may have moved, or gone with the process */
	if (!q || q->over)
		return;
	q->answer = w;
	settle_pending(p->session, q, (const char *)o + bytes - o->text_bytes);
	wake_process(p);
}

/* Should it come back, it is to forget what they wanted. */
static void withdraw(struct process *p, const struct pending *q)
{
	struct session_request r = {
		.operation = q->operation == SESSION_JOIN ? SESSION_LEAVE : SESSION_GIVE_UP,
		.key = p->session->key,
		.pid = p->pid,
		.number = (int32_t)q->request};

	sessions_forward(agent_of(p->host), &r, "");
}

static char *leader_lost(const struct agent *a)
{
	char *leader = sessions_leader(a);
	char *text = xasprintf("%s, which leads the session, cannot be reached", leader);

	free(leader);
	return text;
}

void sessions_leader_lost(struct agent *a)
{
	char *why = leader_lost(a);

	for (struct process *p = a->host.processes; p; p = p->next) {
		for (size_t i = 0; p->session && i < p->session->n_pending; i++) {
			struct pending *q = &p->session->pending[i];

			if (q->over)
				continue;
			withdraw(p, q);
			q->answer.code = SESSION_AGENT_GONE;
			settle_pending(p->session, q, why);
			wake_process(p);
		}
	}
	free(why);
}

/* ---- from the process ------------------------------------------------------------- */

static struct session_process *session_of(struct process *p)
{
	if (!p->session) {
		p->session = xcalloc(1, sizeof(*p->session));
		p->session->node = agent_of(p->host)->sessions;
		while (getrandom(&p->session->key, sizeof(p->session->key), 0) !=
				sizeof(p->session->key) ||
			!p->session->key)
			;
	}
	return p->session;
}

static void answer_process(struct process *p, struct wire_session_answer *w, const char *text)
{
	w->head.kind = WIRE_SESSION_ANSWER;
	process_answer(p, &w->head, sizeof(*w), text ? text : "", -1);
}

static void answer_code(struct process *p, uint32_t request, enum session_code code)
{
	struct wire_session_answer w = {.request = request, .code = code};

	answer_process(p, &w, NULL);
}

static void answer_pending(struct process *p, uint32_t request)
{
	struct wire_session_answer w = {.request = request, .pending = 1};
	char *leader = sessions_leader(agent_of(p->host));

	answer_process(p, &w, leader); /* in case that there is never an outcome */
	free(leader);
}

static void on_ask(struct process *p, uint32_t request)
{
	struct session_process *s = p->session;
	struct pending *q = pending_of(s, request);
	struct pending copy;

	if (!q) {
		answer_code(p, request, SESSION_ARGUMENT);
		return;
	}
	if (!q->over) {
		answer_pending(p, request);
		return;
	}
	copy = *q;
	q->text = NULL;
	forget_pending(s, q);
	answer_process(p, &copy.answer, copy.text);
	free(copy.text);
}

static bool comm_id(const struct session_process *s, uint32_t number, uint64_t *id)
{
	for (size_t i = s->n_comms; i--;)
		if (s->comms[i].number == number) {
			*id = s->comms[i].id;
			return true;
		}
	return false;
}

static void on_free(struct process *p, const struct wire_session *m)
{
	const struct session_process *s = p->session;

	for (size_t i = 0; i < s->n_comms; i++) {
		if (s->comms[i].number != m->comm)
			continue;
		comm_gone(p, i, m->head.ticks);
		answer_code(p, m->request, SESSION_OK);
		return;
	}
	answer_code(p, m->request, SESSION_ARGUMENT);
}

static struct session_request request_of(const struct process *p, const struct wire_session *m)
{
	return (struct session_request){.operation = m->operation,
		.request = m->request,
		.key = p->session->key,
		.pid = p->pid,
		.number = m->number,
		.count = m->count,
		.bytes = m->head.text_bytes};
}

/* At once: nothing comes back but OK. */
static bool is_notice(uint32_t operation)
{
	return operation == SESSION_ABORT || operation == SESSION_RESET ||
	       operation == SESSION_LEAVE || operation == SESSION_GIVE_UP;
}

static void on_request(struct process *p, const struct wire_session *m, const void *data)
{
	struct session_process *s = session_of(p);
	struct session_request r = request_of(p, m);
	struct pending *q;

	if (!m->operation || m->operation >= SESSION_OPERATIONS ||
		m->head.text_bytes > WIRE_TEXT_MAX) {
		process_quarantine(p, "a request to its session that makes no sense");
		return;
	}
	if (m->operation == SESSION_ASK) {
		on_ask(p, (uint32_t)m->number);
		return;
	}
	if (m->operation == SESSION_FREE) {
		on_free(p, m);
		return;
	}
	if ((m->operation == SESSION_CREATE || m->operation == SESSION_ATTACH) &&
		!comm_id(s, m->comm, &r.comm)) {
		answer_code(p, m->request, SESSION_ARGUMENT);
		return;
	}
	if (is_notice(m->operation)) {
		if (m->operation == SESSION_GIVE_UP) {
			q = pending_of(s, (uint32_t)m->number);
			if (!q || q->over) {
				on_ask(p, (uint32_t)m->number);
				return;
			}
			q->given_up = true;
			answer_pending(p, m->request);
		} else {
			answer_code(p, m->request, SESSION_OK);
		}
		sessions_forward(agent_of(p->host), &r, data);
		return;
	}
	if (s->node->leader_gone) {
		struct wire_session_answer w = {.request = m->request, .code = SESSION_AGENT_GONE};
		char *why = leader_lost(agent_of(p->host));

		answer_process(p, &w, why);
		free(why);
		return;
	}
	/* those that nobody asks for any more */
	for (size_t i = s->n_pending; s->n_pending >= SESSION_PENDING_MAX && i--;)
		if (s->pending[i].given_up)
			forget_pending(s, &s->pending[i]);
	if (s->n_pending >= SESSION_PENDING_MAX || pending_of(s, m->request)) {
		answer_code(p, m->request, SESSION_LIMIT);
		return;
	}
	s->pending[s->n_pending++] = (struct pending){
		.request = m->request, .operation = m->operation, .answer.request = m->request};
	s->node->waiting++;
	/* its outcome may be there when this returns */
	sessions_forward(agent_of(p->host), &r, data);
	on_ask(p, m->request);
}

static void on_end(struct process *p)
{
	struct session_request r = {.operation = SESSION_DIED};

	if (!p->session)
		return;
	r.key = p->session->key;
	r.pid = p->pid;
	r.number = p->end == PROCESS_KILLED ? 1 : 0;
	while (p->session->n_pending)
		forget_pending(p->session, &p->session->pending[0]);
	sessions_forward(agent_of(p->host), &r, "");
}

static void free_session(struct process *p)
{
	if (!p->session)
		return;
	while (p->session->n_pending)
		forget_pending(p->session, &p->session->pending[0]);
	free(p->session->comms);
	free(p->session);
	p->session = NULL;
}

const struct process_observer session_observer = {
	.session_request = on_request,
	.end = on_end,
	.free = free_session,
};
