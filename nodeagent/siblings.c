/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/siblings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "conf/conf.h"
#include "nodeagent/agent.h"
#include "nodeagent/clock-sync.h"
#include "nodeagent/collate.h"
#include "nodeagent/courier.h"
#include "nodeagent/ending.h"
#include "nodeagent/in-step.h"
#include "nodeagent/peer.h"
#include "nodeagent/process.h"
#include "nodeagent/profile.h"
#include "nodeagent/sessions.h"
#include "nodeagent/util.h"

#define TAG_STATE	500 /* to agent 0: struct state */
#define TAG_FINISH	501 /* from agent 0: the number of the run */
#define TAG_NAME	502 /* from agent 0: name of the job, without NUL */
#define START_S		60.0
#define NAME_S		5.0  /* after a collation all are there */
#define LAST_S		2.0  /* for the last comparison of clocks, or less */
#define LEAVE_S		10.0 /* until all have written */
#define KEEP_S		2.0  /* ... of what is left before SIGKILL */
#define HURRIED_S	1.5  /* before SIGKILL, the others are waited for so long */
#define STOP_S		0.5  /* how often it is asked whether agent 0 wants to stop */
#define LOOK_S		0.2  /* how often an agent without processes looks */
#define PATIENCE_S	10.0 /* for ranks that were announced and never seen */
#define PATIENCE_GONE_S 2.0  /* ... when an agent is gone, and its ranks with it */

enum { BUSY, IDLE, DONE, GONE };

struct state {
	int what;
	int ended; /* ranks that ended on this node */
	int world; /* ranks of the job, 0 if unknown */
	int ever;  /* processes that have attached on this node */
};

/* agent 0: what each one said last, and what those said before that are gone */
static struct state *states, *before;
static bool *heard; /* of whom a word has come: its last one, too, if it dies */
static struct state said = {.what = -1};
static double all_quiet_since, began;
static bool finish_said;

static char *plugin_directory(void)
{
	char path[4096], *slash;
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	path[n > 0 ? n : 0] = '\0';
	slash = strrchr(path, '/');
	return xasprintf("%.*s/../lib/vftr", slash ? (int)(slash - path) : 0, path);
}

/* The others are known. */
static void begin(struct agent *a)
{
	began = peer_now();
	if (a->peer->rank == 0) {
		states = xcalloc((size_t)a->peer->size, sizeof(*states));
		before = xcalloc((size_t)a->peer->size, sizeof(*before));
		heard = xcalloc((size_t)a->peer->size, sizeof(*heard));
		for (int i = 0; i < a->peer->size; i++)
			states[i].what = IDLE;
	} else {
		a->run = a->sibling ? a->run : 0; /* until agent 0 says it */
		struct state will = {.what = GONE};

		peer_will(a->peer, 0, TAG_STATE, &will, sizeof(will));
	}
}

/* Nothing: it was taken for dead, and is here again. */
static void take_state(struct agent *a, int who, const void *buf, size_t bytes)
{
	if (!bytes && states[who].what == GONE) {
		states[who] = before[who];
		return;
	}
	if (bytes != sizeof(struct state))
		return;
	heard[who] = true;
	if (states[who].what != GONE)
		before[who] = states[who];
	memcpy(&states[who], buf, bytes);
	if (states[who].what == GONE)
		sessions_agent_gone(a, who);
}

static void hear_states(struct agent *a)
{
	void *buf;
	size_t bytes;
	int who;

	while (!a->peer->receive(a->peer, PEER_ANY, TAG_STATE, &buf, &bytes, &who, 0)) {
		if (who >= 0 && who < a->peer->size)
			take_state(a, who, buf, bytes);
		free(buf);
	}
	for (who = 1; a->peer->gone && who < a->peer->size; who++)
		if (!heard[who] && a->peer->gone(a->peer, who)) {
			const struct state gone = {.what = GONE};

			take_state(a, who, &gone, sizeof(gone));
		}
}

static int join_by_tcp(struct agent *a, char **contact, char **error)
{
	char *text;

	if (!courier_there()) {
		*error = xasprintf("cannot join the other agents: fork failed");
		return -1;
	}
	if (!courier_join(a->host, a->session, a->conf->agent_deadline_s,
		    a->conf->clock_sync_interval_s, NULL, &text)) {
		*error = text;
		return -1;
	}
	*contact = text;
	a->joining = true;
	return 0;
}

/* All agents of a run write its number, which agent 0 has. */
static void take_finish(struct agent *a, void *buf, size_t bytes)
{
	if (bytes == sizeof(a->run))
		memcpy(&a->run, buf, bytes);
	free(buf);
}

double siblings_attend(struct agent *a)
{
	static double next;
	double now;
	void *buf;
	size_t bytes;
	int who;

	if (!a->several || in_step_meets(a))
		return NEVER_S;
	now = peer_now();
	if (now < next && !a->news)
		return next - now;
	next = now + (a->joining ? LOOK_S : STOP_S);
	if (a->joining) {
		int error = courier_joined(&a->peer);

		if (error == -EAGAIN)
			return LOOK_S;
		a->joining = false;
		if (error)
			siblings_give_up(a);
		else
			begin(a);
	} else if (a->n_live && a->peer && a->peer->rank && !a->told_to_stop &&
		   !a->peer->receive(a->peer, 0, TAG_FINISH, &buf, &bytes, &who, 0)) {
		take_finish(a, buf, bytes);
		a->told_to_stop = a->at_once = true;
	} else if (a->peer && !a->peer->rank) {
		hear_states(a);
	}
	return next - now;
}

void siblings_give_up(struct agent *a)
{
	a->joining = false;
	a->orphaned = true;
	agent_warn(a, true, "agent 0 of the session did not answer: this node is on its own");
}

int siblings_join(struct agent *a, char **contact, char **error)
{
	char *dir;
	int failed;

	*error = NULL;
	*contact = NULL;
	if (a->several)
		return join_by_tcp(a, contact, error);
	dir = plugin_directory();
	a->peer = peer_open(dir, NULL, a->conf->agent_start_s, error);
	free(dir);
	if (!a->peer)
		return *error ? -1 : 0;
	failed = collate_start(a->peer, a->host, START_S);
	if (failed == -ECONNRESET && a->sibling) { /* the front runs no command then */
		*error = xstrdup("the launcher of the agents ended before they had met");
		return -1;
	}
	courier_compare_clocks(a->peer, a->conf->clock_sync_interval_s);
	if (failed)
		agent_warn(a, true, "not all agents answered at the start: %s", strerror(-failed));
	begin(a);
	return 0;
}

void siblings_refuse(struct agent *a)
{
	char *error, *dir = plugin_directory();
	struct peer *p = peer_open(dir, NULL, a->conf->agent_start_s, &error);

	if (p)
		p->finish(p, PEER_ABORT, 125, peer_now() + 1);
	free(dir);
	free(error);
}

static struct state present_state(const struct agent *a, int what)
{
	struct state s = {.what = what, .ever = (int)a->n_ever};

	for (const struct process *p = a->processes; p; p = p->next) {
		int rank = p->rank != WIRE_UNKNOWN ? p->rank : p->rank_hint;
		int size = p->size != WIRE_UNKNOWN ? p->size : p->size_hint;

		if (!p->greeted || p->parent_traced)
			continue;
		if (size > s.world)
			s.world = size;
		s.ended += p->ended && rank != WIRE_UNKNOWN && p->end != PROCESS_EXECED;
	}
	if (a->adopted) {
		s.ended += (int)(a->adopted->ranks - a->adopted->unranked);
		s.ever += (int)a->adopted->ranks;
		if ((int)a->adopted->world_size > s.world)
			s.world = (int)a->adopted->world_size;
	}
	return s;
}

static void tell(struct agent *a, int what)
{
	struct state s = present_state(a, what);

	if (!memcmp(&s, &said, sizeof(s)))
		return;
	said = s;
	/* should we die, the others must not wait for our word */
	if (a->peer->rank) {
		struct state will = s;

		will.what = GONE;
		peer_will(a->peer, 0, TAG_STATE, &will, sizeof(will));
	}
	if (a->peer->rank == 0)
		states[0] = s;
	else
		a->peer->send(a->peer, 0, TAG_STATE, &said, sizeof(said), peer_now() + 1);
}

void siblings_busy(struct agent *a)
{
	if (a->peer && said.what != BUSY && (said.what != -1 || a->several))
		tell(a, BUSY);
}

static bool over_everywhere(struct agent *a)
{
	bool any_done = false, any_gone = false, all_done = true;
	int ended = 0, world = 0;
	unsigned ever = 0;

	for (int i = 0; i < a->peer->size; i++) {
		if (states[i].what == BUSY)
			return false;
		all_done &= states[i].what != IDLE;
		any_gone |= states[i].what == GONE;
		any_done |= states[i].what == DONE;
		ever += (unsigned)states[i].ever;
		ended += states[i].ended;
		if (states[i].world > world)
			world = states[i].world;
	}
	if (a->step) /* each knows when its tasks have ended */
		return all_done;
	if (a->expect && ever < a->expect && !any_gone)
		return a->within_s > 0 && peer_now() - began > a->within_s;
	if (!any_done && !any_gone)
		return false;
	if (!all_quiet_since)
		all_quiet_since = peer_now();
	return ended >= world ||
	       peer_now() - all_quiet_since > (any_gone ? PATIENCE_GONE_S : PATIENCE_S);
}

static void say_finish(struct agent *a)
{
	for (int i = 1; i < a->peer->size && !finish_said; i++)
		a->peer->send(a->peer, i, TAG_FINISH, &a->run, sizeof(a->run), peer_now() + 1);
	finish_said = true;
}

/* SIGTERM has come, this node is done, and another one says nothing. */
static bool too_late(bool local)
{
	static double since;

	if (!local || !ending_is())
		since = 0;
	else if (since == 0)
		since = peer_now();
	return since > 0 && peer_now() - since > HURRIED_S;
}

bool siblings_finished(struct agent *a, bool local, double *wait_s)
{
	bool late = too_late(local);
	void *buf = NULL;
	size_t bytes;
	int who;

	*wait_s = LOOK_S;
	tell(a, local ? DONE : IDLE);
	if (a->peer->rank) {
		int error = a->peer->receive(a->peer, 0, TAG_FINISH, &buf, &bytes, &who, 0);

		if (error) {
			a->orphaned = late || error != -ETIMEDOUT; /* cut off from the others */
			return false;
		}
		take_finish(a, buf, bytes);
		return true;
	}
	hear_states(a);
	if (!over_everywhere(a) && !late) {
		if (!local)
			all_quiet_since = 0;
		return false;
	}
	say_finish(a);
	return true;
}

void siblings_stop(struct agent *a)
{
	if (!a->several || !a->peer || a->orphaned)
		return;
	if (a->peer->rank)
		tell(a, DONE);
	else
		say_finish(a);
}

void siblings_notes(struct agent *a)
{
	char *notes = courier_there() && a->several ? courier_notes() : NULL, *save = NULL;

	for (char *line = notes ? strtok_r(notes, "\n", &save) : NULL; line;
		line = strtok_r(NULL, "\n", &save))
		agent_warn(a, false, "%s", line);
	free(notes);
}

void siblings_clock(struct agent *a, bool last)
{
	double last_s = ending_exchange(a->conf->agent_deadline_s) / 8;
	struct clock_sync c;

	if (!a->peer || !courier_clock(a->peer, !last ? 0 : last_s < LAST_S ? last_s : LAST_S, &c))
		return;
	if (a->clock)
		clock_sync_clear(a->clock);
	else
		a->clock = xmalloc(sizeof(*a->clock));
	*a->clock = c;
}

int siblings_collate(struct agent *a, const struct profile *node, struct profile **whole,
	uint64_t **hashes, size_t *n_hashes)
{
	int error = collate_run(
		a->peer, node, ending_exchange(a->conf->agent_deadline_s), whole, hashes, n_hashes);

	if (error == -ECONNRESET && a->sibling) {
		/* all node profiles are in files: who started us makes the summary of them */
		profile_free(*whole);
		*whole = NULL;
	}
	if (error && a->peer->rank == 0)
		complain("not all agents answered (%s); the summary names those that are missing",
			strerror(-error));
	return 0;
}

char *siblings_agree(struct agent *a, char *mine)
{
	void *buf;
	size_t bytes;
	int who;

	if (a->peer->rank == 0) {
		for (int i = 1; i < a->peer->size; i++)
			a->peer->send(
				a->peer, i, TAG_NAME, mine, strlen(mine), peer_now() + NAME_S);
		return mine;
	}
	if (peer_receive(a->peer, 0, 0, TAG_NAME, &buf, &bytes, &who, peer_now() + NAME_S))
		return mine;
	if (bytes && bytes < 256 && !memchr(buf, '/', bytes) && !memchr(buf, 0, bytes)) {
		char *its = xasprintf("%.*s", (int)bytes, (char *)buf);

		/* one that we would have chosen, too, may be the user's own wish */
		if (strcmp(its, mine)) {
			free(mine);
			mine = file_base(its);
		}
		free(its);
	}
	free(buf);
	return mine;
}

void siblings_leave(struct agent *a, int status)
{
	collate_end(a->peer, status, ending_left(LEAVE_S, KEEP_S));
	a->peer = NULL;
}
