/* SPDX-License-Identifier: BSD-3-Clause */
/* What a process says of MPI: its rank and job, communicators, windows, files. */
#include <stdlib.h>
#include <string.h>
#include "nodeagent/agent.h"
#include "nodeagent/matching.h"
#include "nodeagent/process.h"
#include "nodeagent/sampling.h"
#include "nodeagent/traffic-neighbours.h"
#include "nodeagent/traffic-sync.h"
#include "nodeagent/traffic.h"
#include "nodeagent/util.h"

#define THREAD_MULTIPLE 3 /* MPI_THREAD_MULTIPLE, in all MPI libraries */

/*
 * The main job is the first one that is seen here and was not spawned by
 * another. Ranks of the others would be taken for its ranks: their processes
 * count as unranked.
 */
static bool is_main_job(const struct process *p, const struct wire_rank *m)
{
	if (m->spawned)
		return false;
	return !p->agent->has_main_job || p->agent->main_job == m->job;
}

void process_set_rank(struct process *p, const struct wire_rank *m)
{
	if (m->rank < 0 || m->size <= m->rank || (uint32_t)m->rank >= PROFILE_UNRANKED)
		return;
	p->job = m->job;
	p->job_rank = m->rank;
	/* a further round of a session (sessions.h) is the same job to the outputs */
	p->main_job = p->main_job || is_main_job(p, m);
	if (p->main_job) {
		p->agent->has_main_job = true;
		p->agent->main_job = m->job;
		p->rank = m->rank;
		p->size = m->size;
	} else {
		p->rank = p->size = p->rank_hint = p->size_hint = WIRE_UNKNOWN;
	}
	traffic_rank(p->traffic, m->rank, m->job);
	matching_join(p, m->thread_level >= THREAD_MULTIPLE);
	sampling_process_rank(p, m->rank, m->size, m->job);
	process_members_changed(p->agent);
}

void process_define(struct process *p, const struct wire_head *m, const void *data)
{
	const char *why = NULL, *text = m->text_bytes ? data : "";

	switch (m->kind) {
	case WIRE_COMM:
		why = traffic_define_comm(p->traffic, (const struct wire_comm *)m, m->text_bytes);
		break;
	case WIRE_NEIGHBOURS:
		why = traffic_define_neighbours(
			p->traffic, (const struct wire_neighbours *)m, m->text_bytes);
		break;
	case WIRE_WINDOW:
	case WIRE_FILE:
		why = traffic_define_object(
			p->traffic, (enum wire_kind)m->kind, (const struct wire_object *)m, text);
		break;
	case WIRE_NAME:
		why = traffic_name(p->traffic, (const struct wire_about *)m, text);
		break;
	case WIRE_GONE:
		why = traffic_gone(p->traffic, (const struct wire_about *)m);
		break;
	}
	if (why)
		process_quarantine(p, "%s", why);
}

void process_members_changed(struct agent *a)
{
	struct sync_member *m;
	size_t n = 0;

	if (!a->sync)
		return;
	m = xmalloc((a->n_ever + 1) * sizeof(*m));
	for (const struct process *p = a->live; p; p = p->next_live) {
		bool told = p->job_rank != WIRE_UNKNOWN;
		int rank = told ? p->job_rank : p->rank_hint;

		if (!p->greeted || p->ended || p->quarantined || rank < 0 ||
			(!told && p->parent_traced) || n >= a->n_ever)
			continue;
		m[n++] = (struct sync_member){p->job, told, (uint32_t)rank};
	}
	sync_set_members(a->sync, m, n);
	free(m);
}

/* The first process of which it is said is named, all others are one line. */
void process_warn_limits(const struct process *p)
{
	const struct agent *a = p->agent;
	const char *text;

	for (unsigned i = 0; (text = traffic_limit_reached(p->traffic, i)); i++) {
		size_t k = 0;

		while (k < a->n_warnings && !strstr(a->warnings[k], text))
			k++;
		agent_warn(p->agent, false, "%s: %s",
			k < a->n_warnings ? "others, too" : process_name(p), text);
	}
}

void process_warn_unseen(const struct process *p)
{
	static const struct {
		const char *file, *mpi;
	} libraries[] = {
		{"libmpi.so.40", "openmpi"}, {"libmpich.so", "mpich"}, {"libmpi.so.12", "mpich"}};

	if (!p->greeted || p->job_rank != WIRE_UNKNOWN || p->rank_hint == WIRE_UNKNOWN ||
		!codemap_has(p->code, "libvftrace.so"))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(libraries); i++)
		if (codemap_has(p->code, libraries[i].file)) {
			agent_warn(p->agent, false,
				"%s: its MPI calls were not seen: link it with -lvftrace-%s in "
				"place of -lvftrace, or run "
				"`vftr-node-agent --preload -- mpirun ...'",
				p->executable, libraries[i].mpi);
			return;
		}
}
