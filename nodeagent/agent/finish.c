/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/agent/finish.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "conf/conf.h"
#include "nodeagent/agent/deadlock.h"
#include "nodeagent/agent/roles/agent.h"
#include "nodeagent/clock/sync.h"
#include "nodeagent/collate/collate.h"
#include "nodeagent/process/counter/counters.h"
#include "nodeagent/net/ending.h"
#include "nodeagent/net/transport.h"
#include "nodeagent/filter/filter.h"
#include "nodeagent/gather/gather.h"
#include "nodeagent/agent/step/in-step.h"
#include "nodeagent/agent/snapshot.h"
#include "nodeagent/agent/launch/launch.h"
#include "nodeagent/agent/launch/program-name.h"
#include "nodeagent/internode/collectives.h"
#include "nodeagent/internode/matching.h"
#include "nodeagent/report/output.h"
#include "nodeagent/process/process.h"
#include "nodeagent/process/names.h"
#include "nodeagent/profile/ids.h"
#include "nodeagent/profile/lists.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/profile/prune.h"
#include "nodeagent/process/regions.h"
#include "nodeagent/agent/results/html-report.h"
#include "nodeagent/agent/results/older-results.h"
#include "nodeagent/agent/rounds.h"
#include "nodeagent/recorder/recorder.h"
#include "nodeagent/process/rendezvous.h"
#include "nodeagent/agent/peers.h"
#include "nodeagent/base/result-files.h"
#include "nodeagent/base/util.h"
#include "nodeagent/profile/vfp.h"
#include "nodeagent/stack/stack.h"
#include "shm/atomic.h"

#define NO_ROOM	       2    /* beside 1 of what could not be written: the disk is full */
#define SOURCES_S      10.0 /* for reading debug information, the most */
#define SOURCES_KEEP_S 15.0 /* of what a batch system leaves us */

/* Of -errno or 0. */
static int outcome(int result)
{
	if (!result)
		return 0;
	return result == -ENOSPC || result == -EDQUOT ? 1 | NO_ROOM : 1;
}

/* Takes the message by its place: arguments are evaluated in any order. */
static int report_result(int result, char **error)
{
	if (*error)
		complain("%s", *error);
	free(*error);
	*error = NULL;
	return outcome(result);
}

static char *node_profile_path(const struct agent *a, const char *base)
{
	return host_result(&a->host, base, RESULT_NODE_PROFILE);
}

/* The job has another name than this node alone would have given it. */
static void rename_node_profile(const struct agent *a, const char *old, const char *new)
{
	char *from = node_profile_path(a, old), *to = node_profile_path(a, new);

	if (strcmp(old, new) && rename(from, to))
		complain("cannot rename %s to %s: %s", from, to, strerror(errno));
	free(from);
	free(to);
}

static int write_node_profile(const struct agent *a, const struct profile *p, const char *base)
{
	char *path = node_profile_path(a, base);
	int error = vfp_write(p, path);

	if (error)
		complain("cannot write %s: %s", path, strerror(-error));
	free(path);
	return outcome(error);
}

/* Logs of the ranks in logfile_for_ranks that ran here. */
static int write_rank_logs(struct agent *a, const struct profile *node, uint32_t nranks,
	const char *base, const struct profile_number *numbers, size_t n)
{
	int failed = 0;

	if (!strcmp(a->host.conf->logfile_for_ranks, "none"))
		return 0;
	for (struct process *p = a->host.processes; p; p = p->next) {
		uint32_t rank;
		struct profile *one;
		char *error = NULL;

		if (!p->greeted || !p->ended)
			continue;
		rank = profile_rank_shown(node, (uint32_t)p->rank);
		if (!rank_list_has(a->host.conf->logfile_for_ranks, rank))
			continue;
		one = gather(&a->host, p);
		one->world_size = node->world_size;
		profile_name_far(one);
		failed |= report_result(output_rank(one, &one->processes[0], nranks, a->host.conf,
						a->host.output_directory, base, numbers, n, &error),
			&error);
		profile_free(one);
	}
	return failed;
}

/* Ranks of the job that ran on other nodes, with agents we do not know. */
static bool is_part_of_job(const struct agent *a, const struct profile *p)
{
	if (a->several)
		return !a->host.transport;
	return !a->host.transport && p->world_size > p->ranks - p->unranked &&
	       (a->form == FORM_EMBEDDED || in_step_may_have_others(a->step));
}

static void leave_processes(struct agent *a)
{
	unsigned left = 0;

	for (struct process *p = a->host.processes; p; p = p->next) {
		if (p->ended)
			continue;
		if (p->control)
			store_relaxed(&p->control->orders, ORDER_LEAVE);
		process_finish(p, p->held ? PROCESS_EXITED : PROCESS_RUNNING);
		if (p->end != PROCESS_RUNNING || a->form == FORM_ATTACH)
			continue;
		if (a->told_to_stop)
			left++;
		else
			host_warn(&a->host, true,
				"%s still ran when this agent ended, as it took the job for over: "
				"what it did later is not in the profile",
				process_name(p));
	}
	left = deadlock_was_asked(a) ? left : 0; /* else the command has ended without them */
	if (left)
		host_warn(&a->host, false,
			"the run was ended while %u %s: what happened later is not in the profile",
			left, one_or_many(left, "process still ran", "processes still ran"));
	a->host.was_ended = deadlock_tell(a) || left;
	stack_end(&a->host);
}

static void put_clock(const struct agent *a, struct profile *node)
{
	for (size_t i = 0; a->host.clock && i < node->n_agents; i++)
		if (!strcmp(node->agents[i].host, a->host.name))
			clock_sync_sum(a->host.clock, &node->agents[i].clock);
}

/* Whether something is missing of what --expect asked for. */
static bool is_partial(const struct agent *a, const struct profile *p)
{
	return ANY(i, p->n_agents, p->agents[i].missing) || p->ranks < a->expect || p->n_dead ||
	       p->lost_calls || p->lost_messages || p->lost_processes;
}

/* What the names of files begin with; round: 0 for all of the run. */
static char *name_of(const struct agent *a, const struct profile *node, unsigned round)
{
	const char *wish = a->host.conf->outfile_basename;
	char *name =
		wish ? xstrdup(wish) : file_base(node->application ? node->application : "unknown");
	char *base = result_base(result_layout(a->host.conf), name, round);

	free(name);
	return base;
}

static char *agree_on_name(struct agent *a, const struct profile *whole, char *base)
{
	char *old = xstrdup(base);

	if (whole && whole->application) {
		free(base);
		base = name_of(a, whole, 0);
	}
	base = peers_agree(a, base);
	if (strcmp(old, base)) { /* nobody has looked what is there */
		int lock = older_results_begin(a, base);

		older_results_end(&a->host, &lock);
	}
	if (a->host.n_ever)
		rename_node_profile(a, old, base);
	free(old);
	return base;
}

static int write_node_log(struct agent *a, const struct profile *node, const char *base,
	const struct profile_number *numbers, size_t n)
{
	const struct recorder_sum recorder = recorder_sum(&a->host);
	const struct vfd_written *w = &recorder.written;
	const struct output_trace trace = {
		.path = recorder.path,
		.bytes = w->bytes,
		.events = w->events,
		.messages = w->messages,
		.launches = w->launches,
		.thinned = w->thinned,
		.dropped_blocks = w->dropped_blocks,
	};
	struct profile *named = profile_has_far(node) ? profile_copy(node) : NULL;
	char *error = NULL;
	int failed;

	if (named)
		profile_name_far(named);
	failed = report_result(
		output_node(named ?: node, a->host.conf, a->host.output_directory, base,
			a->host.name, trace.path ? &trace : NULL, numbers, n, &error),
		&error);
	profile_free(named);
	return failed;
}

/* Processes, other agents and snapshots: nothing more comes from them. */
static void end_sources(struct agent *a)
{
	leave_processes(a); /* or they wait for room while we wait for a disk */
	snapshot_end(a);
	peers_stop(a);
	peers_clock(a, true);
	a->host.lost_processes += session_unseen(&a->host);
	if (a->host.lost_processes)
		complain("%u %s gave up waiting for this agent and %s not in the profile",
			a->host.lost_processes,
			one_or_many(a->host.lost_processes, "process", "processes"),
			one_or_many(a->host.lost_processes, "is", "are"));
}

static bool has_only_mpi(const struct profile *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n_stacks; i++) {
		if (p->stacks[i].parent == PROFILE_NONE ||
			!strncmp(p->names[p->stacks[i].name], SITE_PREFIX, strlen(SITE_PREFIX)))
			continue;
		if (strncmp(p->names[p->stacks[i].name], "MPI_", 4))
			return false;
		n++;
	}
	return n;
}

/* All stands below init then, and a user looks for his functions in vain. */
static void tell_only_mpi(const struct profile *p)
{
	const char *program = p->application ? p->application : "the program";

	if (!has_only_mpi(p))
		return;
	if (is_interpreter(program))
		complain("%s runs a script: its MPI calls are seen, and no functions", program);
	else
		complain("%s is not instrumented: its MPI calls are seen, and no functions; for "
			 "these compile it with what `vftr flags' prints",
			program);
}

/* What he has misspelled is not for the summary alone. */
static void tell_filters_in_vain(const struct profile *p)
{
	for (size_t i = 0; i < p->n_warnings; i++)
		if (!strncmp(p->warnings[i], FILTER_WARNING, strlen(FILTER_WARNING)))
			complain("%s", p->warnings[i]);
}

void agent_tell_profile(const struct agent *a, const struct profile *p)
{
	output_digest(stderr, p, a->host.conf, a->host.output_directory);
	tell_only_mpi(p);
	tell_filters_in_vain(p);
}

/*
 * Tells the user what there is to know, and where the results are. whole: the job's profile, or
 * NULL. failed: some could not be written; which, has been said.
 */
static void tell_files(const struct agent *a, const struct profile *node,
	const struct profile *whole, const char *base, bool failed)
{
	const bool part = is_part_of_job(a, node);
	char *path = host_result(&a->host, base, part ? RESULT_NODE_PROFILE : RESULT_SUMMARY);

	if (part && !failed)
		complain("node profile: %s (vftr collate %s makes the summary)", path,
			a->host.output_directory);
	else if (!part && (!a->host.transport || (whole && whole->ranks))) {
		agent_tell_profile(a, whole ? whole : node);
		if (!failed)
			complain("profile: %s", path);
	}
	free(path);
}

static void warn_of_counters(struct host *host)
{
	char *text;

	for (unsigned i = 0; (text = counters_trouble(host->counters, host->conf, i)); i++) {
		if (*text)
			host_warn(host, false, "%s.", text);
		free(text);
	}
}

/* The profile of this node as that of the job, without call paths that have little time; NULL: as
 * it is, or it is not all of the job. */
static struct profile *prune_alone(const struct agent *a, const struct profile *node)
{
	const uint64_t from = prune_from(a->host.conf);
	struct profile *p;

	if (a->host.transport || is_part_of_job(a, node) || node->n_stacks <= from)
		return NULL;
	p = profile_copy(node);
	prune_job(p, from);
	return p;
}

/* Where this agent is to have it. whole: the job's profile; NULL: that of the node, or unknown. */
static int write_summary(
	struct agent *a, const struct profile *node, const struct profile *whole, const char *base)
{
	char *error = NULL;

	if (whole && !whole->ranks) {
		if (a->form == FORM_ATTACH) {
			complain("there was no process to attach to on any node");
			return 1;
		}
		complain(AGENTS_UNTRACED " (see vftr doctor)");
		return 0;
	}
	if (!whole && (a->host.transport || is_part_of_job(a, node)))
		return 0;
	return report_result(output_summary(whole ? whole : node, a->host.conf,
				     a->host.output_directory, base, &error),
		       &error) |
	       outcome(html_report_write(&a->host, whole ? whole : node, base));
}

/* Other agents wait for us, but not for ever. */
static double sources_s(const struct host *host)
{
	const double part = host->conf->agent_deadline_s / 4;

	return ending_left(part < SOURCES_S ? part : SOURCES_S, SOURCES_KEEP_S);
}

/* There are processes, and nothing was recorded of any. */
static bool is_untraced(const struct profile *p)
{
	return !p->calls && !p->n_stack_samples;
}

/* failed: outcome() of what was written. True: on a full disk something was removed for it, which
 * the results say. */
static bool make_room(struct agent *a, int failed, struct profile *node, struct profile *whole)
{
	char *what = failed & NO_ROOM ? recorder_make_room(&a->host) : NULL;

	if (!what)
		return false;
	host_warn(&a->host, true, "%s", what); /* for the logs of ranks */
	profile_warn(node, "%s", what);
	if (whole)
		profile_warn(whole, "%s", what);
	free(what);
	return true;
}

/* The summary and the logs. whole: at agent 0, else NULL. */
static int write_results(struct agent *a, struct profile *node, struct profile *whole,
	const char *base, const struct profile_number *numbers, size_t n_numbers)
{
	const uint32_t nranks =
		whole && a->host.transport ? whole->ranks : node->world_size + node->unranked;
	int failed, no_logs = 0;

	a->partial = is_partial(a, whole ? whole : node);
	if (whole || !a->host.transport)
		a->nothing_traced = is_untraced(whole ? whole : node);
	do
		failed = write_summary(a, node, whole, base);
	while (make_room(a, failed, node, whole));
	if (whole && a->host.transport)
		peers_tell(a, base);
	if (a->host.n_ever)
		do {
			no_logs = write_node_log(a, node, base, numbers, n_numbers);
			no_logs |= write_rank_logs(a, node, nranks, base, numbers, n_numbers);
		} while (make_room(a, no_logs, node, whole));
	return failed | no_logs;
}

/*
 * The ids of the job's stacks, of which whole is the profile, or else of this node's: if it is not
 * alone, agent 0 has not told those of the job, and whoever compares logs is to know. The caller
 * frees them.
 */
static struct profile_number *own_numbers(
	struct agent *a, struct profile *node, const struct profile *whole, size_t *n)
{
	static const char why[] =
		"the ids of stacks in the logs of this node and its ranks are its own, and "
		"others than in the summary: agent 0 has not told those of the job in time";

	if (a->host.n_ever && a->host.transport && a->host.transport->rank) {
		profile_warn(node, "%s", why);
		host_warn(&a->host, true, "%s", why); /* for the logs of ranks */
	}
	whole = whole ? whole : node;
	*n = whole->n_stacks;
	return profile_numbers(whole);
}

int agent_finish(struct agent *a)
{
	struct profile *node, *whole = NULL;
	struct profile_number *numbers = NULL;
	size_t n_numbers = 0;
	int failed = 0, lock;
	char *base;

	ending_writes();
	end_sources(a);
	if (!a->host.n_ever && !a->host.transport && !a->late_profile) {
		if (a->form == FORM_SIBLING) /* the only one; who started it has not seen that */
			complain(AGENTS_UNTRACED " (see vftr doctor)");
		a->partial = true;
		return 0;
	}
	clocks_calibrate(&a->host.clocks);
	gather_ranks(&a->host);
	regions_warn(&a->host);
	matching_end(&a->host);
	collectives_end(&a->host);
	peers_notes(a);
	a->host.sources_s = sources_s(&a->host);
	recorder_close(&a->host);
	warn_of_counters(&a->host);
	filter_warn(&a->host);
	node = a->late_profile ? a->late_profile : gather(&a->host, NULL);
	put_clock(a, node);
	if (!a->late_profile)
		matching_store(&a->host, node);
	base = name_of(a, node, 0);
	lock = older_results_begin(a, base);
	if (a->host.n_ever) {
		do
			failed = write_node_profile(a, node, base);
		while (make_room(a, failed, node, NULL));
	}
	if (a->host.transport) {
		older_results_end(&a->host, &lock); /* which others wait for */
		failed |= peers_collate(a, node, &whole, &numbers, &n_numbers);
		if (whole)
			in_step_name_missing(a, whole);
		base = agree_on_name(a, whole, base);
		/* another run may have written its own meanwhile */
		lock = older_results_begin(a, base);
	}
	failed |= recorder_rename(&a->host, base);
	if (!whole)
		whole = prune_alone(a, node);
	if (!numbers)
		numbers = own_numbers(a, node, whole, &n_numbers);
	failed |= write_results(a, node, whole, base, numbers, n_numbers);
	if (!a->quiet)
		tell_files(a, node, whole, base, failed);
	older_results_end(&a->host, &lock);
	profile_free(whole);
	profile_free(node);
	free(numbers);
	free(base);
	return (failed | rounds_end(a)) != 0;
}

/* All files that this node alone can write; ranks: also of single ranks. */
static int write_files(struct agent *a, const struct profile *node, const char *base, bool ranks)
{
	struct profile_number *numbers;
	struct profile *alone = prune_alone(a, node);
	const struct profile *job = alone ? alone : node;
	int failed = write_node_profile(a, node, base);

	failed |= write_summary(a, node, alone, base);
	numbers = profile_numbers(job);
	failed |= write_node_log(a, node, base, numbers, job->n_stacks);
	if (ranks)
		failed |= write_rank_logs(
			a, node, node->world_size + node->unranked, base, numbers, job->n_stacks);
	free(numbers);
	profile_free(alone);
	return failed != 0;
}

static int write_alone(struct agent *a, const struct profile *node, const char *base, bool ranks)
{
	int lock = older_results_begin(a, base), failed = write_files(a, node, base, ranks);

	older_results_end(&a->host, &lock);
	return failed;
}

unsigned agent_close_copy(struct agent *a)
{
	unsigned running = 0;

	for (struct process *p = a->host.processes; p; p = p->next) {
		running += p->greeted && !p->ended;
		process_finish(p, PROCESS_RUNNING);
	}
	gather_ranks(&a->host);
	return running;
}

/* In a copy of the agent, after agent_close_copy(). */
static struct profile *gather_copy(struct agent *a)
{
	struct profile *node = gather(&a->host, NULL);

	put_clock(a, node);
	matching_store(&a->host, node);
	return node;
}

int agent_write_so_far(struct agent *a)
{
	unsigned running = agent_close_copy(a);
	struct profile *node = gather_copy(a);
	char *base;
	int failed;

	profile_warn(node, "these are results on the way: %u of %u processes were running", running,
		node->ranks);
	base = name_of(a, node, 0);
	failed = write_alone(a, node, base, true);
	free(base);
	profile_free(node);
	return failed;
}

#define DEATH "the agent died: " /* what a standby warns of begins so */

/* By a standby. */
static bool is_of_dead(const struct profile *p)
{
	return ANY(i, p->n_warnings, !strncmp(p->warnings[i], DEATH, strlen(DEATH)));
}

/* The profile of this node and run that is there, if the agent has written it, and it tells of no
 * earlier time than `mine'; or NULL. */
static struct profile *read_later(
	const struct agent *a, const char *base, const struct profile *mine)
{
	char *path = node_profile_path(a, base), *error = NULL;
	struct profile *p = NULL;

	if (a->host.run && vfp_run(path) == a->host.run)
		p = vfp_read(path, &error);
	free(error);
	free(path);
	if (!p || (p->end_s >= mine->end_s && !is_of_dead(p)))
		return p;
	profile_free(p);
	return NULL;
}

int agent_write_standby(struct agent *a, const struct standby_results *r)
{
	const long before_s = (long)(time(NULL) - r->until);
	struct profile *node = gather_copy(a), *later;
	char *base = name_of(a, node, 0), clock[HOST_CLOCK_BYTES];
	int lock = older_results_begin(a, base), failed;

	host_clock_text(clock, (uint64_t)r->until * 1000000000);
	later = read_later(a, base, node); /* when nobody else writes */
	if (later) {
		profile_free(node);
		node = later;
	} else {
		profile_warn(node,
			DEATH "these are its results until %s, %ld s before; %u of %u processes "
			      "were running",
			clock, before_s, r->running, node->ranks);
	}
	failed = write_files(a, node, base, !later);
	older_results_end(&a->host, &lock);
	r->tell_when(a);
	if (later)
		complain("the agent died: its results are those of its last node profile");
	else
		complain("the agent died: its results end at %s, %ld s before", clock, before_s);
	if (!a->quiet)
		tell_files(a, node, NULL, base, failed);
	free(base);
	profile_free(node);
	return failed;
}

int agent_write_round(struct agent *a, const struct profile *node, unsigned round)
{
	char *base = name_of(a, node, round);
	int failed = write_alone(a, node, base, false);

	free(base);
	return failed;
}

struct profile *agent_read_round(
	const struct agent *a, const struct profile *like, unsigned round, char **error)
{
	char *base = name_of(a, like, round);
	char *path = node_profile_path(a, base);
	struct profile *p = NULL;

	*error = NULL;
	if (!access(path, F_OK) || errno != ENOENT)
		p = vfp_read(path, error);
	free(path);
	free(base);
	return p;
}
