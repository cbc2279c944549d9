/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/agent/peers.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "conf/conf.h"
#include "nodeagent/agent/roles/agent.h"
#include "nodeagent/agent/job-end.h"
#include "nodeagent/clock/sync.h"
#include "nodeagent/collate/collate.h"
#include "nodeagent/proxy/proxy.h"
#include "nodeagent/net/ending.h"
#include "nodeagent/agent/step/in-step.h"
#include "nodeagent/net/transport.h"
#include "nodeagent/process/process.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/profile/prune.h"
#include "nodeagent/replay/tree/calltree.h"
#include "nodeagent/internode/directory.h"
#include "nodeagent/internode/matching.h"
#include "nodeagent/agent/launch/supervisor.h"
#include "nodeagent/process/rendezvous.h"
#include "nodeagent/session/session.h"
#include "nodeagent/base/installed.h"
#include "nodeagent/base/util.h"

#define TAG_STATE  500	/* to agent 0: struct job_state */
#define TAG_FINISH 501	/* from agent 0: struct finish */
#define TELL_S	   5.0	/* after a collation all are there; or TELL_PART of the deadline */
#define LAST_S	   2.0	/* for the last comparison of clocks, or less */
#define LEAVE_S	   10.0 /* until all have written; or LEAVE_PART of the deadline */
#define KEEP_S	   2.0	/* ... of what is left before SIGKILL */
#define HURRIED_S  1.5	/* before SIGKILL, the others are waited for so long */
#define STOP_S	   0.5	/* how often it is asked whether agent 0 wants to stop */
#define JOIN_PART  12	/* of the deadline: who is to stop waits so long for those whom it joins */
#define LOOK_S	   0.2	/* how often an agent without processes looks */

#define TELL_PART  12
#define LEAVE_PART 6

#define LINGER_S 2.0 /* longer without processes: the others may end without this agent */

/* States wait so long for those of other agents (net/route.h). */
#define STATE_HOLD_S 1.0
#define BUSY_HOLD_S  0.2
/* Whoever ends by itself waits so long for agent 0's word, which comes after its own. */
#define FINISH_S (STATE_HOLD_S + 0.5)

/* Behind it are the numbers of n_gone agents. */
struct finish {
	uint64_t run;	     /* its number */
	uint32_t exchange;   /* 1: agents tell each other of messages between nodes */
	uint32_t n_gone;     /* as agent 0 knows then */
	uint64_t prune_from; /* of collate_prune(); PRUNE_NEVER: agents do not ask each other */
};

struct siblings {
	struct job_end *job;   /* at agent 0 when the others are known */
	struct job_state said; /* what: -1, nothing yet */
	double met_s;	       /* since the start, when the others were known */
	bool finish_said;      /* by agent 0 */
	uint64_t prune_from;   /* ... with it */
	uint32_t *gone;	       /* ... agents */
	size_t n_gone;
	double next;	   /* look at the others then */
	double late_since; /* SIGTERM has come and this node is done; 0: not so */
};

static struct siblings *of(struct agent *a)
{
	if (!a->siblings) {
		a->siblings = xcalloc(1, sizeof(*a->siblings));
		a->siblings->said.what = -1;
		a->siblings->prune_from = PRUNE_NEVER;
	}
	return a->siblings;
}

static char *plugin_directory(void)
{
	char *prefix = installed_prefix();
	char *folder = prefix ? installed_library_folder(prefix, "vftr") : NULL;
	char *path = folder ? xasprintf("%s/vftr", folder)
			    : xasprintf("%s/lib/vftr", prefix ? prefix : "");

	free(folder);
	free(prefix);
	return path;
}

/* NULL with *error NULL: this is the only agent. */
static struct transport *open_by_plugin(const struct agent *a, char **error)
{
	char *dir = plugin_directory(), *plugin = transport_plugin(dir, NULL);
	struct transport *p = NULL;

	*error = NULL;
	conf_settle_agents(a->host.conf, transport_launched());
	if (plugin)
		p = proxy_open(plugin, a->host.conf->agent_start_s, error);
	free(plugin);
	free(dir);
	return p;
}

void peers_shield(void)
{
	static const struct proxy_duties duties = {
		.begin = supervised_leave,
		.agent_killed = session_sweep,
		.take_over = directory_gone,
	};

	proxy_shield(&duties);
}

/* The others are known. */
static void begin_job(struct agent *a)
{
	conf_settle_agents(a->host.conf, a->host.transport->size);
	if (a->host.transport->rank == 0) {
		of(a)->met_s = 1e-9 * (double)(clock_raw_ns() - a->host.start_raw_ns);
		of(a)->job = job_end_new(a->host.transport->size, transport_now());
		if (a->host.transport->deaths)
			a->host.transport->deaths(a->host.transport, TAG_STATE);
	} else {
		a->host.run = a->form == FORM_SIBLING ? a->host.run : 0; /* until agent 0 says it */
		struct job_state last_will = {.what = JOB_GONE};

		transport_last_will(a->host.transport, TAG_STATE, &last_will, sizeof(last_will));
	}
}

static void take_state(struct agent *a, int who, const void *buf, size_t bytes)
{
	if (job_end_take(of(a)->job, who, buf, bytes))
		sessions_agent_gone(a, who);
}

static void hear_states(struct agent *a)
{
	void *buf;
	size_t bytes;
	int who;

	while (!a->host.transport->receive(
		a->host.transport, TRANSPORT_ANY, TAG_STATE, &buf, &bytes, &who, 0)) {
		if (who >= 0 && who < a->host.transport->size)
			take_state(a, who, buf, bytes);
		free(buf);
	}
}

static int join_by_tcp(struct agent *a, char **contact, char **error)
{
	char *text;

	if (!proxy_there()) {
		*error = xasprintf("cannot join the other agents: fork failed");
		return -1;
	}
	if (!proxy_join(a->host.name, a->host.session, a->host.conf->agent_deadline_s,
		    conf_more_s(a->host.conf), a->host.conf->clock_sync_interval_s, NULL, &text)) {
		*error = text;
		return -1;
	}
	*contact = text;
	a->joining = true;
	if (a->host.conf->agent_remote_viewers)
		proxy_admit_viewers(a->host.socket_path);
	return 0;
}

/* All agents of a run write its number, which agent 0 has. */
static void take_finish(struct agent *a, void *buf, size_t bytes)
{
	struct siblings *s = of(a);
	struct finish f;

	if (bytes >= sizeof(f))
		memcpy(&f, buf, sizeof(f));
	if (bytes >= sizeof(f) && (bytes - sizeof(f)) / sizeof(*s->gone) == f.n_gone) {
		free(s->gone);
		s->n_gone = f.n_gone;
		s->gone = xmalloc(s->n_gone * sizeof(*s->gone) + 1);
		memcpy(s->gone, (char *)buf + sizeof(f), s->n_gone * sizeof(*s->gone));
		a->host.run = f.run;
		a->host.no_exchange = !f.exchange;
		s->prune_from = f.prune_from;
		s->finish_said = true;
	}
	free(buf);
}

double peers_attend(struct agent *a)
{
	double *next, now;
	void *buf;
	size_t bytes;
	int who;

	if (!a->several || in_step_meets(a))
		return NEVER_S;
	now = transport_now();
	next = &of(a)->next;
	if (now < *next && !a->news)
		return *next - now;
	*next = now + (a->joining ? LOOK_S : STOP_S);
	if (a->joining) {
		int error = proxy_joined(&a->host.transport);

		if (error == -EAGAIN)
			return LOOK_S;
		a->joining = false;
		if (error)
			peers_give_up(a);
		else
			begin_job(a);
	} else if (a->host.n_live && a->host.transport && a->host.transport->rank &&
		   !a->told_to_stop &&
		   !a->host.transport->receive(
			   a->host.transport, 0, TAG_FINISH, &buf, &bytes, &who, 0)) {
		take_finish(a, buf, bytes);
		a->told_to_stop = a->at_once = true;
	} else if (a->host.transport && !a->host.transport->rank) {
		hear_states(a);
	}
	return *next - now;
}

void peers_give_up(struct agent *a)
{
	a->joining = false;
	a->orphaned = true;
	host_warn(&a->host, true, "agent 0 of the session did not answer: this node is on its own");
}

int peers_join(struct agent *a, char **contact, char **error)
{
	int failed;

	*error = NULL;
	*contact = NULL;
	if (a->several)
		return join_by_tcp(a, contact, error);
	a->host.transport = open_by_plugin(a, error);
	if (!a->host.transport)
		return *error ? -1 : 0;
	failed = collate_start(a->host.transport, a->host.name, a->host.conf->agent_start_s);
	if (failed == -ECONNRESET && a->form == FORM_SIBLING) { /* the front runs no command then */
		*error = xstrdup("the launcher of the agents ended before they had met");
		return -1;
	}
	proxy_compare_clocks(a->host.transport, a->host.conf->clock_sync_interval_s);
	if (failed)
		host_warn(&a->host, true, "not all agents answered at the start: %s",
			strerror(-failed));
	begin_job(a);
	return 0;
}

void peers_refuse(struct agent *a)
{
	char *error;
	struct transport *p = open_by_plugin(a, &error);

	if (p)
		p->finish(p, TRANSPORT_ABORT, 125, transport_now() + 1);
	free(error);
}

static struct job_state present_state(const struct agent *a, int what)
{
	struct job_state s = {.what = what, .ever = (int)a->host.n_ever};

	for (const struct process *p = a->host.processes; p; p = p->next) {
		int rank = p->rank != WIRE_UNKNOWN ? p->rank : p->rank_hint;
		int size = p->size != WIRE_UNKNOWN ? p->size : p->size_hint;

		if (!p->greeted)
			continue;
		s.paths += p->ended && p->ended_tree ? (int)calltree_nodes(p->ended_tree) : 0;
		if (p->parent_traced)
			continue;
		s.world = MAX(s.world, size);
		s.ended += p->ended && rank != WIRE_UNKNOWN && p->end != PROCESS_EXECED;
	}
	if (a->late_profile) {
		s.ended += (int)(a->late_profile->ranks - a->late_profile->unranked);
		s.ever += (int)a->late_profile->ranks;
		s.paths += (int)a->late_profile->n_stacks;
		s.world = MAX(s.world, (int)a->late_profile->world_size);
	}
	return s;
}

/*
 * What agent 0 takes each agent for until it hears of it (job-end.h). Who has joined it over TCP
 * says even that: processes may have come before, and agent 0 knows only then that none have.
 */
static bool is_known(const struct agent *a, const struct job_state *said, const struct job_state *s)
{
	return !a->several && said->what == -1 && s->what == JOB_IDLE && !s->ended && !s->world &&
	       !s->ever;
}

/* Without a process there is no more of it than when that was said last. */
static bool has_news(const struct agent *a, const struct job_state *said, const struct job_state *s)
{
	if (s->what == JOB_BUSY || !a->host.n_ever)
		return false;
	if (said->what != JOB_BUSY && said->what != -1 && said->ever == s->ever &&
		said->ended == s->ended)
		return said->sends;
	return matching_has_news(&a->host);
}

static void tell_state(struct agent *a, int what)
{
	struct job_state s = present_state(a, what), *said = &of(a)->said, same;
	const bool known = is_known(a, said, &s);
	const bool soon = what == JOB_BUSY || said->what == -1;

	s.sends = has_news(a, said, &s);
	same = s;
	same.paths = said->paths; /* it is no news by itself */
	if (!memcmp(&same, said, sizeof(same)))
		return;
	*said = s;
	if (known)
		return;
	/* should we die, the others must not wait for our word */
	if (a->host.transport->rank) {
		struct job_state last_will = s;

		last_will.what = JOB_GONE;
		transport_last_will(a->host.transport, TAG_STATE, &last_will, sizeof(last_will));
	}
	if (a->host.transport->rank == 0)
		job_end_take(of(a)->job, 0, &s, sizeof(s));
	else
		transport_to_root(a->host.transport, TAG_STATE, said, sizeof(*said),
			what != JOB_BUSY, soon ? BUSY_HOLD_S : STATE_HOLD_S, transport_now() + 1);
}

void peers_busy(struct agent *a)
{
	int said = of(a)->said.what;

	if (a->host.transport && said != JOB_BUSY && (said != -1 || a->several))
		tell_state(a, JOB_BUSY);
}

/* Of --within, what was left when the agents had met. */
static double rest_of_within(struct agent *a)
{
	return a->within_s > 0 ? fmax(a->within_s - of(a)->met_s, 0.001) : 0;
}

static bool over_everywhere(struct agent *a)
{
	const struct job_rule rule = {
		.all_must_end = a->step != NULL,
		.all_speak = a->several,
		.expect = a->expect,
		.within_s = rest_of_within(a),
	};

	return job_end_reached(of(a)->job, &rule, transport_now());
}

/* Agents ask each other for nothing if the job has few call paths anyway. */
static uint64_t wanted_prune(struct agent *a)
{
	const uint64_t from = prune_from(a->host.conf);

	return job_end_paths(of(a)->job) > from ? from : PRUNE_NEVER;
}

static void say_finish(struct agent *a)
{
	struct finish f = {.run = a->host.run};
	struct siblings *s = of(a);
	size_t bytes;
	char *message;

	if (s->finish_said)
		return;
	s->finish_said = true;
	s->gone = job_end_gone(s->job, &s->n_gone);
	f.exchange = job_end_exchange(s->job);
	f.n_gone = (uint32_t)s->n_gone;
	f.prune_from = s->prune_from = wanted_prune(a);
	a->host.no_exchange = !f.exchange;
	bytes = s->n_gone * sizeof(*s->gone);
	message = xmalloc(sizeof(f) + bytes);
	memcpy(message, &f, sizeof(f));
	memcpy(message + sizeof(f), s->gone, bytes);
	transport_to_all(
		a->host.transport, TAG_FINISH, message, sizeof(f) + bytes, transport_now() + 1);
	free(message);
}

/* SIGTERM has come, this node is done, and another one says nothing. */
static bool too_late(struct agent *a, bool local)
{
	double *since = &of(a)->late_since;

	if (!local || !ending_is())
		*since = 0;
	else if (*since == 0)
		*since = transport_now();
	return *since > 0 && transport_now() - *since > HURRIED_S;
}

/* It will soon say that it is done, or busy again: until then it has nothing new to say. */
static bool still_lingers(struct agent *a, bool local, bool waits)
{
	return !local && !waits && of(a)->said.what == JOB_BUSY && a->host.n_ever &&
	       1e-9 * (double)(clock_raw_ns() - a->quiet_since) < LINGER_S;
}

bool peers_finished(struct agent *a, bool local, bool waits, double *wait_s)
{
	bool late = too_late(a, local);
	void *buf = NULL;
	size_t bytes;
	int who;

	*wait_s = LOOK_S;
	if (!still_lingers(a, local, waits))
		tell_state(a, local ? JOB_DONE : waits ? JOB_WAITS : JOB_IDLE);
	if (a->host.transport->rank) {
		int error = a->host.transport->receive(
			a->host.transport, 0, TAG_FINISH, &buf, &bytes, &who, 0);

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
			job_end_restart(of(a)->job);
		return false;
	}
	say_finish(a);
	return true;
}

/* They are about to meet: what the others have traced would be lost with us. */
static void join_in_time(struct agent *a)
{
	const double s = ending_left(a->host.conf->agent_deadline_s / JOIN_PART, KEEP_S),
		     until = transport_now() + s;
	const struct timespec pause = {.tv_nsec = 20000000};

	while (a->joining && a->host.n_ever && transport_now() < until) {
		of(a)->next = 0;
		in_step_tick(a); /* goes on with the meeting of a step */
		peers_attend(a);
		nanosleep(&pause, NULL);
	}
}

void peers_stop(struct agent *a)
{
	size_t bytes;
	void *buf;
	int who;

	join_in_time(a);
	if (!a->several || !a->host.transport || a->orphaned)
		return;
	if (!a->host.transport->rank) {
		say_finish(a);
		return;
	}
	tell_state(a, JOB_DONE);
	if (!of(a)->finish_said && !a->host.transport->receive(a->host.transport, 0, TAG_FINISH,
					   &buf, &bytes, &who, transport_now() + FINISH_S))
		take_finish(a, buf, bytes);
}

void peers_notes(struct agent *a)
{
	char *notes = proxy_there() && a->several ? proxy_notes() : NULL, *save = NULL;

	for (char *line = notes ? strtok_r(notes, "\n", &save) : NULL; line;
		line = strtok_r(NULL, "\n", &save))
		host_warn(&a->host, false, "%s", line);
	free(notes);
}

void peers_clock(struct agent *a, bool last)
{
	double last_s = ending_exchange(a->host.conf->agent_deadline_s) / 8;
	int64_t end = (int64_t)clocks_raw_ns();
	struct clock_sync c;

	if (!a->host.transport || !proxy_clock(a->host.transport,
					  !last		    ? 0
					  : last_s < LAST_S ? last_s
							    : LAST_S,
					  &c))
		return;
	if (a->host.n_ever) {
		clocks_calibrate(&a->host.clocks);
		c.used_from = clocks_raw_of(&a->host.clocks, a->host.first_start_ticks);
		c.used_to = end;
	}
	if (a->host.clock)
		clock_sync_clear(a->host.clock);
	else
		a->host.clock = xmalloc(sizeof(*a->host.clock));
	*a->host.clock = c;
}

int peers_collate(struct agent *a, const struct profile *node, struct profile **whole,
	struct profile_number **numbers, size_t *n_numbers)
{
	const struct siblings *s = of(a);
	const bool asks = s->prune_from != PRUNE_NEVER;
	int error;

	if (a->several && !s->finish_said && a->host.transport)
		collate_unasked(a->host.transport);
	collate_prune(a->host.transport, asks ? s->prune_from : prune_from(a->host.conf), asks,
		s->gone, s->n_gone);
	error = collate_run(a->host.transport, node,
		ending_exchange(a->host.conf->agent_deadline_s), whole, numbers, n_numbers);
	if (error == -ECONNRESET && a->form == FORM_SIBLING) {
		/* all node profiles are in files: who started us makes the summary of them */
		profile_free(*whole);
		*whole = NULL;
	}
	if (error && a->host.transport->rank == 0)
		complain("not all agents answered (%s); the summary names those that are missing",
			strerror(-error));
	return 0;
}

char *peers_agree(struct agent *a, char *mine)
{
	const char *its = collate_name(a->host.transport);

	/* one that we would have chosen, too, may be the user's own wish */
	if (!its[0] || strchr(its, '/') || !strcmp(its, mine))
		return mine;
	free(mine);
	return file_base(its);
}

/* Who has given agents a long deadline has many of them, or a slow machine. */
static double at_the_end(const struct agent *a, double least_s, int part)
{
	return fmax(least_s, a->host.conf->agent_deadline_s / part);
}

void peers_tell(struct agent *a, const char *name)
{
	collate_tell(
		a->host.transport, name, ending_left(at_the_end(a, TELL_S, TELL_PART), KEEP_S));
}

void peers_leave(struct agent *a, int status)
{
	collate_end(
		a->host.transport, status, ending_left(at_the_end(a, LEAVE_S, LEAVE_PART), KEEP_S));
	a->host.transport = NULL;
	job_end_free(of(a)->job);
	free(of(a)->gone);
	free(a->siblings);
	a->siblings = NULL;
}
