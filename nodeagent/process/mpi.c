/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of a process about MPI: its rank and job, communicators, windows, files. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "nodeagent/process/host.h"
#include "nodeagent/process/observer.h"
#include "nodeagent/process/process.h"
#include "nodeagent/process/procfs.h"
#include "nodeagent/replay/comm/sync.h"
#include "nodeagent/replay/comm/comm.h"
#include "nodeagent/replay/jobs/spawns.h"
#include "nodeagent/base/util.h"
#include "shm/fnv.h"

/*
 * The main job is the first one that is seen here and was not spawned by
 * another. Ranks of the others would be taken for its ranks: their processes
 * count as unranked.
 */
static bool is_main_job(const struct process *p, const struct wire_rank *m)
{
	if (m->spawned)
		return false;
	return !p->host->has_main_job || p->host->main_job == m->job;
}

static struct spawn_name name_of(const char *space, size_t length, const char *rank)
{
	struct spawn_name n = {fnv_bytes(FNV_BEGIN, space, length) | 1, 0};
	char *end;

	n.rank = (uint32_t)strtoul(rank, &end, 10);
	return end == rank ? (struct spawn_name){0, 0} : n;
}

void process_has_spawned(struct process *p)
{
	char space[256], rank[16];
	struct spawn_name own;

	/* of PMIx, which Open MPI is started by */
	if (!procfs_variable(p->pid, "PMIX_NAMESPACE", space, sizeof(space)) ||
		!procfs_variable(p->pid, "PMIX_RANK", rank, sizeof(rank)))
		return;
	own = name_of(space, strlen(space), rank);
	traffic_spawn_name(p->traffic, &own);
}

/* Open MPI tells it by SPACE.RANK:NUMBER which process has spawned it. */
static void note_spawned(struct process *p, const struct wire_rank *m)
{
	char port[512];
	const char *dot;
	struct spawn_name root;

	p->spawned = m->spawned;
	if (!m->spawned || !p->host->sync ||
		!procfs_variable(p->pid, "OMPI_PARENT_PORT", port, sizeof(port)))
		return;
	dot = strchr(port, '.');
	if (!dot)
		return;
	root = name_of(port, (size_t)(dot - port), dot + 1);
	spawns_add_job(
		sync_spawns(p->host->sync), m->job, (uint32_t)m->size, p->connected_ticks, &root);
	if (!m->rank)
		spawns_tell_job(sync_spawns(p->host->sync), m->job);
	process_has_spawned(p);
}

void process_set_rank(struct process *p, const struct wire_rank *m)
{
	if (m->rank < 0 || m->size <= m->rank || (uint32_t)m->rank >= PROFILE_UNRANKED)
		return;
	p->job = m->job;
	p->job_rank = m->rank;
	p->job_size = m->size;
	/* a further round of a session (session/session.h) is the same job to the outputs */
	p->main_job = p->main_job || is_main_job(p, m);
	if (p->main_job) {
		p->host->has_main_job = true;
		p->host->main_job = m->job;
		p->rank = m->rank;
		p->size = m->size;
		if (p->host->sync)
			spawns_set_main(sync_spawns(p->host->sync), m->job);
	} else {
		p->rank = p->size = p->rank_hint = p->size_hint = WIRE_UNKNOWN;
	}
	traffic_rank(p->traffic, m->rank, m->job);
	note_spawned(p, m);
	observers_tell(p->host, rank, p, m);
	process_members_changed(p->host);
}

void process_members_changed(struct host *host)
{
	struct sync_member *m;
	size_t n = 0;

	if (!host->sync)
		return;
	m = xmalloc((host->n_ever + 1) * sizeof(*m));
	for (const struct process *p = host->live; p; p = p->next_live) {
		bool told = p->job_rank != WIRE_UNKNOWN;
		int rank = told ? p->job_rank : p->rank_hint;

		if (!p->greeted || p->ended || p->quarantined || rank < 0 ||
			(!told && p->parent_traced) || n >= host->n_ever)
			continue;
		m[n++] = (struct sync_member){p->job, told, (uint32_t)rank};
	}
	sync_set_members(host->sync, m, n);
	free(m);
}

/* The first process of which it is said is named, all others are one line. */
void process_warn_limits(const struct process *p)
{
	const struct host *host = p->host;
	const char *text;

	for (unsigned i = 0; (text = traffic_limit_reached(p->traffic, i)); i++) {
		size_t k = 0;

		while (k < host->n_warnings && !strstr(host->warnings[k], text))
			k++;
		host_warn(p->host, false, "%s: %s",
			k < host->n_warnings ? "others, too" : process_name(p), text);
	}
	if (traffic_unlinked(p->traffic))
		host_warn(p->host, false,
			"%s: %" PRIu64 " messages on communicators with ranks of another job have "
			"no partner: more than are kept (%u MiB) came before it was known which "
			"job",
			process_name(p), traffic_unlinked(p->traffic), TRAFFIC_HELD_MAX >> 20);
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
			host_warn(p->host, false,
				"%s: its MPI calls were not seen: link it with -lvftrace-%s in "
				"place of -lvftrace, or run "
				"`vftr run -- mpirun ...'",
				p->executable, libraries[i].mpi);
			return;
		}
}
