/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/finish.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "conf/conf.h"
#include "nodeagent/agent.h"
#include "nodeagent/collate.h"
#include "nodeagent/gather.h"
#include "nodeagent/output.h"
#include "nodeagent/process.h"
#include "nodeagent/profile.h"
#include "nodeagent/siblings.h"
#include "nodeagent/util.h"
#include "nodeagent/vfp.h"
#include "shm/atomic.h"

static int report(int result, char *error)
{
	if (error)
		complain("%s", error);
	free(error);
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
			error);
		profile_free(one);
	}
	return failed;
}

/* Ranks of the job that ran on other nodes, with agents we do not know. */
static bool is_part_of_job(const struct agent *a, const struct profile *p)
{
	return !a->peer && p->world_size > p->ranks - p->unranked && a->embedded;
}

static void leave_processes(struct agent *a)
{
	for (struct process *p = a->processes; p; p = p->next) {
		if (p->ended)
			continue;
		if (p->control)
			store_relaxed(&p->control->closing, 1);
		process_finish(p, PROCESS_RUNNING);
	}
}

static char *agree_on_name(struct agent *a, const struct profile *whole, char *base)
{
	char *old = xstrdup(base);

	if (whole && whole->application && !a->conf->outfile_basename) {
		free(base);
		base = xstrdup(whole->application);
	}
	base = siblings_agree(a, base);
	if (a->n_ever)
		rename_node_profile(a, old, base);
	free(old);
	return base;
}

int agent_finish(struct agent *a)
{
	struct profile *node, *whole = NULL;
	uint64_t *hashes = NULL;
	size_t n_hashes = 0;
	char *base, *error = NULL;
	int failed = 0;

	leave_processes(a);
	if (!a->n_ever && !a->peer && !a->adopted)
		return 0;
	clocks_calibrate(&a->clocks);
	gather_ranks(a);
	node = a->adopted ? a->adopted : gather(a, NULL);
	base = xstrdup(a->conf->outfile_basename ? a->conf->outfile_basename
		       : node->application	 ? node->application
						 : "unknown");
	if (a->n_ever)
		failed |= write_node_profile(a, node, base);
	if (a->peer) {
		failed |= siblings_collate(a, node, &whole, &hashes, &n_hashes);
		base = agree_on_name(a, whole, base);
	}
	if (!hashes) { /* alone: the ids of this node are those of the job */
		hashes = collate_hashes(node);
		n_hashes = node->n_stacks;
	}
	if (whole && !whole->ranks)
		complain("no process was traced (see vftr doctor)");
	else if (whole || (!a->peer && !is_part_of_job(a, node)))
		failed |= report(output_summary(whole ? whole : node, a->conf, a->output_directory,
					 base, &error),
			error);
	error = NULL;
	if (a->n_ever) {
		uint32_t nranks = whole ? whole->ranks : node->world_size + node->unranked;

		failed |= report(output_node(node, a->conf, a->output_directory, base, a->host,
					 hashes, n_hashes, &error),
			error);
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
	return failed;
}
