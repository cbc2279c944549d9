/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/agent/over.h"

#include <signal.h>
#include <stdint.h>
#include <unistd.h>
#include "conf/conf.h"
#include "nodeagent/agent/last-words.h"
#include "nodeagent/agent/late-profiles.h"
#include "nodeagent/agent/launch/supervisor.h"
#include "nodeagent/agent/peers.h"
#include "nodeagent/agent/roles/agent.h"
#include "nodeagent/attach/attach.h"
#include "nodeagent/process/callers.h"
#include "nodeagent/process/procfs.h"

#define NOBODY_CAME_S 20.0 /* an embedded agent without any process ends */
#define LOOK_AROUND_S 0.5  /* where nothing tells us */

enum presence { NOBODY, MORE_EXPECTED, HERE, ENDED, PRESENCES }; /* of processes */
enum order { GO_ON, STOP, STOP_NOW, ORDERS };
enum company { ALONE, CUT_OFF, BY_MPI, BY_TCP, JOINING, COMPANIES }; /* of other agents */

struct situation {
	enum agent_form form;
	enum presence processes;
	enum order told;
	enum company others;
};

static double seconds_since(uint64_t raw_ns)
{
	return 1e-9 * (double)(clock_raw_ns() - raw_ns);
}

/* ---- the ends: seconds that are left until then; 0 or less: this is it ------------------- */

static double end_now(struct agent *a)
{
	return 0;
}

static double end_never(struct agent *a)
{
	return NEVER_S;
}

/* What outlives the command has the same time as it would have to start. */
static double end_by_patience(struct agent *a)
{
	if (!a->stop_since)
		a->stop_since = clock_raw_ns();
	return a->host.conf->agent_linger_s - seconds_since(a->stop_since);
}

/* A child of a fork may not have called anything yet, or was not even scheduled. */
static double end_without_children(struct agent *a)
{
	if (a->host.forks_announced > a->host.children_seen || callers_any(&a->host))
		return end_by_patience(a);
	return 0;
}

static double end_of_command(struct agent *a)
{
	return supervised_is() ? NEVER_S : LOOK_AROUND_S;
}

/* We are told by SIGUSR1, through our proxy, which must run for that. */
static double end_when_told(struct agent *a)
{
	if (procfs_is_stopped(getppid()))
		kill(getppid(), SIGCONT);
	return LOOK_AROUND_S;
}

static enum adoption look_for_late(struct agent *a)
{
	return a->host.n_ever || a->form == FORM_EMBEDDED || a->form == FORM_STEP ||
			       a->form == FORM_ATTACH
		       ? ADOPT_NOBODY
		       : late_profiles_look(a);
}

static double end_after_joining(struct agent *a)
{
	look_for_late(a);
	if ((a->host.n_ever || a->told_to_stop || a->form == FORM_ATTACH) &&
		seconds_since(a->quiet_since) > a->host.conf->agent_deadline_s + LOOK_AROUND_S)
		peers_give_up(a);
	return LOOK_AROUND_S;
}

static double end_with_others(struct agent *a)
{
	const enum adoption look = look_for_late(a);
	const bool done =
		look == ADOPT_OVER || a->told_to_stop || a->form == FORM_ATTACH ||
		(a->host.n_ever && seconds_since(a->quiet_since) >= a->host.conf->agent_linger_s);
	double wait_s;

	return peers_finished(a, done, look == ADOPT_WAITS, &wait_s) ? 0 : wait_s;
}

static double end_of_waiting(struct agent *a)
{
	if (look_for_late(a) == ADOPT_OVER)
		return 0;
	return a->within_s > 0 ? a->within_s - seconds_since(a->host.start_raw_ns) : NEVER_S;
}

static double end_embedded_in_vain(struct agent *a)
{
	return NOBODY_CAME_S - seconds_since(a->quiet_since);
}

static double end_of_orphan(struct agent *a)
{
	if (look_for_late(a) == ADOPT_OVER)
		return 0;
	return a->host.conf->agent_start_s - seconds_since(a->quiet_since);
}

static double end_by_late_profile(struct agent *a)
{
	return look_for_late(a) == ADOPT_OVER ? 0 : LOOK_AROUND_S;
}

static double end_after_linger(struct agent *a)
{
	if (last_words_complete(a))
		return 0;
	return a->host.conf->agent_linger_s - seconds_since(a->quiet_since);
}

/* Of the processes that this agent is attached to. */
static double attached_left_s(const struct agent *a)
{
	if (!a->host.n_live)
		return 0;
	return a->within_s > 0 ? a->within_s - attach_age_s(&a->host) : NEVER_S;
}

static double end_of_attached(struct agent *a)
{
	return attached_left_s(a);
}

/* ---- the table -------------------------------------------------------------------------- */

#define A(x)	(1u << (x))
#define NOT(x)	(~A(x))
#define ALWAYS	(~0u)
#define TO_MEET (A(BY_MPI) | A(BY_TCP))

/*
 * The first line that fits counts; sets of bits. Agents that joined over TCP end together: the
 * end of the command is not that of all.
 */
static const struct end_rule {
	unsigned forms, processes, told, others;
	double (*left_s)(struct agent *a);
} rules[] = {
	{ALWAYS, ALWAYS, A(STOP_NOW), ALWAYS, end_now},
	{A(FORM_ATTACH), ALWAYS, ALWAYS, A(ALONE) | A(CUT_OFF), end_of_attached},
	{A(FORM_ATTACH), A(HERE), ALWAYS, ALWAYS, end_of_attached},
	{ALWAYS, A(HERE), A(STOP), ALWAYS, end_by_patience},
	{ALWAYS, A(HERE), ALWAYS, ALWAYS, end_never},
	{ALWAYS, ALWAYS, A(STOP), A(ALONE) | A(CUT_OFF) | A(BY_MPI), end_without_children},
	{A(FORM_COMMAND), ALWAYS, A(GO_ON), ALWAYS, end_of_command},
	{A(FORM_SIBLING), ALWAYS, ALWAYS, NOT(CUT_OFF), end_when_told},
	{A(FORM_STEP), ALWAYS, A(GO_ON), NOT(JOINING), end_never}, /* its tasks are what counts */
	{ALWAYS, ALWAYS, ALWAYS, A(JOINING), end_after_joining},
	{ALWAYS, ALWAYS, ALWAYS, TO_MEET, end_with_others},
	{ALWAYS, A(MORE_EXPECTED), ALWAYS, ALWAYS, end_of_waiting},
	{A(FORM_EMBEDDED), A(NOBODY), ALWAYS, ALWAYS, end_embedded_in_vain},
	{A(FORM_SIBLING), A(NOBODY), ALWAYS, ALWAYS, end_of_orphan},
	{ALWAYS, A(NOBODY), ALWAYS, ALWAYS, end_by_late_profile},
	{ALWAYS, A(ENDED), ALWAYS, ALWAYS, end_after_linger},
};

static const struct end_rule *rule_for(const struct situation *s)
{
	const struct end_rule *r = rules;

	while (!(r->forms & A(s->form) && r->processes & A(s->processes) && r->told & A(s->told) &&
		 r->others & A(s->others)))
		r++;
	return r;
}

static struct situation situation_of(const struct agent *a)
{
	const bool is_attached = a->form == FORM_ATTACH;

	return (struct situation){
		.form = a->form,
		.processes = is_attached && attached_left_s(a) <= 0	 ? ENDED
			     : a->host.n_live && !last_words_all_held(a) ? HERE
			     : a->expect > a->host.n_ever		 ? MORE_EXPECTED
			     : !a->host.n_ever				 ? NOBODY
									 : ENDED,
		.told = a->at_once	  ? STOP_NOW
			: a->told_to_stop ? STOP
					  : GO_ON,
		.others = a->joining	      ? JOINING
			  : a->orphaned	      ? CUT_OFF
			  : a->several	      ? BY_TCP
			  : a->host.transport ? BY_MPI
					      : ALONE,
	};
}

/* The command may start a process at any time: the others do not end without it. */
static bool command_runs(const struct situation *s)
{
	return s->form == FORM_COMMAND && s->told == GO_ON;
}

/* It has the asked time of them, also where it waits for other agents from now on. */
static void leave_attached(struct agent *a)
{
	if (a->form == FORM_ATTACH && a->several && a->host.n_live && attached_left_s(a) <= 0)
		attach_end(&a->host);
}

bool agent_is_over(struct agent *a, double *wait_s)
{
	struct situation s;

	leave_attached(a);
	s = situation_of(a);
	if (s.processes == HERE || command_runs(&s))
		peers_busy(a);
	if (s.processes == HERE)
		a->quiet_since = 0;
	else if (!a->quiet_since)
		a->quiet_since = clock_raw_ns();
	*wait_s = rule_for(&s)->left_s(a);
	return *wait_s <= 0;
}
