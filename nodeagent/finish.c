/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/finish.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "conf/conf.h"
#include "nodeagent/agent.h"
#include "nodeagent/clock-sync.h"
#include "nodeagent/collate.h"
#include "nodeagent/counters.h"
#include "nodeagent/ending.h"
#include "nodeagent/gather.h"
#include "nodeagent/in-step.h"
#include "nodeagent/interim.h"
#include "nodeagent/launch.h"
#include "nodeagent/matching.h"
#include "nodeagent/output.h"
#include "nodeagent/process.h"
#include "nodeagent/profile.h"
#include "nodeagent/regions.h"
#include "nodeagent/rounds.h"
#include "nodeagent/sampling.h"
#include "nodeagent/session.h"
#include "nodeagent/siblings.h"
#include "nodeagent/util.h"
#include "nodeagent/vfp.h"
#include "shm/atomic.h"

/* Takes the message by its place: arguments are evaluated in any order. */
static int report(int result, char **error)
{
	if (*error)
		complain("%s", *error);
	free(*error);
	*error = NULL;
	return result ? 1 : 0;
}

static char *node_profile_path(const struct agent *a, const char *base)
{
	return xasprintf("%s/%s_%s" VFP_SUFFIX, a->output_directory, base, a->host);
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
	return error ? 1 : 0;
}

/* Logs of the ranks in logfile_for_ranks that ran here. */
static int write_rank_logs(struct agent *a, const struct profile *node, uint32_t nranks,
	const char *base, const uint64_t *hashes, size_t n)
{
	int failed = 0;

	if (!strcmp(a->conf->logfile_for_ranks, "none"))
		return 0;
	for (struct process *p = a->processes; p; p = p->next) {
		uint32_t rank;
		struct profile *one;
		char *error = NULL;

		if (!p->greeted || !p->ended)
			continue;
		rank = profile_rank_shown(node, (uint32_t)p->rank);
		if (!rank_list_has(a->conf->logfile_for_ranks, rank))
			continue;
		one = gather(a, p);
		one->world_size = node->world_size;
		failed |= report(output_rank(one, &one->processes[0], nranks, a->conf,
					 a->output_directory, base, hashes, n, &error),
			&error);
		profile_free(one);
	}
	return failed;
}

/* Ranks of the job that ran on other nodes, with agents we do not know. */
static bool is_part_of_job(const struct agent *a, const struct profile *p)
{
	if (a->several)
		return !a->peer;
	return !a->peer && p->world_size > p->ranks - p->unranked &&
	       (a->embedded || in_step_may_have_others(a->step));
}

static void leave_processes(struct agent *a)
{
	for (struct process *p = a->processes; p; p = p->next) {
		if (p->ended)
			continue;
		if (p->control)
			store_relaxed(&p->control->closing, 1);
		process_finish(p, p->held ? PROCESS_EXITED : PROCESS_RUNNING);
	}
}

static void put_clock(const struct agent *a, struct profile *node)
{
	for (size_t i = 0; a->clock && i < node->n_agents; i++)
		if (!strcmp(node->agents[i].host, a->host))
			clock_sync_sum(a->clock, &node->agents[i].clock);
}

/* Whether something is missing of what --expect asked for. */
static bool is_partial(const struct agent *a, const struct profile *p)
{
	for (size_t i = 0; i < p->n_agents; i++)
		if (p->agents[i].missing)
			return true;
	return p->ranks < a->expect || p->n_dead || p->lost_calls || p->lost_messages ||
	       p->lost_processes;
}

static char *agree_on_name(struct agent *a, const struct profile *whole, char *base)
{
	char *old = xstrdup(base);

	if (whole && whole->application && !a->conf->outfile_basename) {
		free(base);
		base = file_base(whole->application);
	}
	base = siblings_agree(a, base);
	if (a->n_ever)
		rename_node_profile(a, old, base);
	free(old);
	return base;
}

static char *name_of(const struct agent *a, const struct profile *node)
{
	if (a->conf->outfile_basename)
		return xstrdup(a->conf->outfile_basename);
	return file_base(node->application ? node->application : "unknown");
}

static int write_node_log(struct agent *a, const struct profile *node, const char *base,
	const uint64_t *hashes, size_t n)
{
	const struct sampling_sum sampling = sampling_sum(a);
	char *error = NULL;

	return report(output_node(node, a->conf, a->output_directory, base, a->host, &sampling,
			      hashes, n, &error),
		&error);
}

int agent_finish(struct agent *a)
{
	struct profile *node, *whole = NULL;
	uint64_t *hashes = NULL;
	size_t n_hashes = 0;
	char *base, *error = NULL;
	int failed = 0;

	ending_writes();
	interim_end(a);
	leave_processes(a);
	siblings_stop(a);
	siblings_clock(a, true);
	a->lost_processes += session_unseen(a);
	if (a->lost_processes)
		complain("%u %s gave up waiting for this agent and %s not in the profile",
			a->lost_processes, one_or_many(a->lost_processes, "process", "processes"),
			one_or_many(a->lost_processes, "is", "are"));
	if (!a->n_ever && !a->peer && !a->adopted) {
		if (a->sibling) /* the only one; who started it has not seen that */
			complain(AGENTS_UNTRACED " (see vftr doctor)");
		a->partial = true;
		return 0;
	}
	clocks_calibrate(&a->clocks);
	gather_ranks(a);
	regions_warn(a);
	matching_end(a);
	siblings_notes(a);
	sampling_close(a);
	counters_warn(a);
	node = a->adopted ? a->adopted : gather(a, NULL);
	put_clock(a, node);
	if (!a->adopted)
		matching_store(a, node);
	base = name_of(a, node);
	if (a->n_ever)
		failed |= write_node_profile(a, node, base);
	if (a->peer) {
		failed |= siblings_collate(a, node, &whole, &hashes, &n_hashes);
		if (whole)
			in_step_name_missing(a, whole);
		base = agree_on_name(a, whole, base);
	}
	failed |= sampling_rename(a, base);
	if (!hashes) { /* alone: the ids of this node are those of the job */
		hashes = collate_hashes(node);
		n_hashes = node->n_stacks;
	}
	a->partial = is_partial(a, whole ? whole : node);
	if (whole && !whole->ranks)
		complain(AGENTS_UNTRACED " (see vftr doctor)");
	else if (whole || (!a->peer && !is_part_of_job(a, node)))
		failed |= report(output_summary(whole ? whole : node, a->conf, a->output_directory,
					 base, &error),
			&error);
	if (a->n_ever) {
		uint32_t nranks = whole ? whole->ranks : node->world_size + node->unranked;

		failed |= write_node_log(a, node, base, hashes, n_hashes);
		failed |= write_rank_logs(a, node, nranks, base, hashes, n_hashes);
	}
	if (!a->quiet && !failed && is_part_of_job(a, node))
		complain("node profile: %s/%s_%s.vfp (vftr collate %s makes the summary)",
			a->output_directory, base, a->host, a->output_directory);
	else if (!a->quiet && !failed && (!a->peer || (whole && whole->ranks)))
		complain("profile: %s/%s_all.log", a->output_directory, base);
	profile_free(whole);
	profile_free(node);
	free(hashes);
	free(base);
	return failed | rounds_end(a);
}

/* All files that this node alone can write; ranks: also of single ranks. */
static int write_alone(struct agent *a, const struct profile *node, const char *base, bool ranks)
{
	char *error = NULL;
	uint64_t *hashes;
	int failed = write_node_profile(a, node, base);

	if (!a->peer && !is_part_of_job(a, node))
		failed |= report(
			output_summary(node, a->conf, a->output_directory, base, &error), &error);
	hashes = collate_hashes(node);
	failed |= write_node_log(a, node, base, hashes, node->n_stacks);
	if (ranks)
		failed |= write_rank_logs(
			a, node, node->world_size + node->unranked, base, hashes, node->n_stacks);
	free(hashes);
	return failed;
}

unsigned agent_close_copy(struct agent *a)
{
	unsigned running = 0;

	for (struct process *p = a->processes; p; p = p->next) {
		running += p->greeted && !p->ended;
		process_finish(p, PROCESS_RUNNING);
	}
	gather_ranks(a);
	return running;
}

int agent_write_so_far(struct agent *a)
{
	unsigned running = agent_close_copy(a);
	struct profile *node = gather(a, NULL);
	char *base;
	int failed;

	put_clock(a, node);
	matching_store(a, node);
	profile_warn(node, "these are results on the way: %u of %u processes were running", running,
		node->ranks);
	base = name_of(a, node);
	failed = write_alone(a, node, base, true);
	free(base);
	profile_free(node);
	return failed;
}

int agent_write_round(struct agent *a, const struct profile *node, unsigned round)
{
	char *name = name_of(a, node), *base = xasprintf("%s.round%u", name, round);
	int failed = write_alone(a, node, base, false);

	free(base);
	free(name);
	return failed;
}

struct profile *agent_read_round(
	const struct agent *a, const struct profile *like, unsigned round, char **error)
{
	char *name = name_of(a, like), *base = xasprintf("%s.round%u", name, round);
	char *path = node_profile_path(a, base);
	struct profile *p = NULL;

	*error = NULL;
	if (!access(path, F_OK) || errno != ENOENT)
		p = vfp_read(path, error);
	free(path);
	free(base);
	free(name);
	return p;
}
