/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * BASE_all.json, the summary for programs: vftr-profile(5). A member that
 * changes its meaning or goes needs a new version; new members do not.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/first-end.h"
#include "nodeagent/json.h"
#include "nodeagent/report.h"

#define FORMAT		"vftr-profile"
#define VERSION		1
#define LINES_TO	2 /* one line per member of the top level and per element of its arrays */
#define SIGNAL_KNOWN(d) ((d)->end == PROCESS_KILLED && (d)->exit_status > 0)

static void write_head(struct json *j, const struct report *r)
{
	const struct profile *p = r->p;
	uint64_t ranks = p->ranks ? p->ranks : 1;
	char run[17];

	json_string(j, "format", FORMAT);
	json_uint(j, "version", VERSION);
	json_string(j, "package", "vftr " VFTR_VERSION);
	if (p->run && p->run != PROFILE_RUNS_MIXED) {
		snprintf(run, sizeof(run), "%016" PRIx64, p->run);
		json_string(j, "run", run);
	}
	json_string(j, "application", p->application);
	json_array(j, "executables");
	for (size_t i = 0; i < p->n_executables; i++)
		json_string(j, NULL, p->executables[i]);
	json_close(j);
	json_int(j, "start_s", p->start_s);
	json_int(j, "end_s", p->end_s);
	json_uint(j, "ranks", report_ranks(p));
	json_uint(j, "processes", p->ranks);
	json_uint(j, "unranked", p->unranked);
	json_uint(j, "threads", p->threads);
	json_uint(j, "nodes", p->n_agents);
	json_real(j, "runtime_s", p->runtime_s);
	json_seconds(j, "overhead_s", (p->hook_ns_total + p->blocked_ns) / ranks);
	json_seconds(j, "hooks_s", p->hook_ns_total / ranks);
	json_uint(j, "events", p->records);
	json_uint(j, "calls", p->calls);
	json_uint(j, "lost", p->lost_calls);
	json_uint(j, "lost_processes", p->lost_processes);
	json_seconds(j, "blocked_s", p->blocked_ns);
}

static void write_deaths(struct json *j, const struct profile *p)
{
	json_array(j, "dead_ranks");
	for (size_t i = 0; i < p->n_dead; i++)
		json_uint(j, NULL, profile_rank_shown(p, p->dead[i].rank));
	json_close(j);
	json_array(j, "dead");
	for (size_t i = 0; i < p->n_dead; i++) {
		const struct profile_process *d = &p->dead[i];
		char *end = report_end(d);

		json_object(j, NULL);
		json_uint(j, "rank", profile_rank_shown(p, d->rank));
		json_int(j, "pid", d->pid);
		json_string(j, "executable", d->executable);
		json_string(j, "end", end);
		if (SIGNAL_KNOWN(d))
			json_int(j, "signal", d->exit_status);
		json_real(j, "runtime_s", d->runtime_s);
		json_uint(j, "events", d->records);
		json_uint(j, "calls", d->calls);
		json_uint(j, "lost", d->lost_calls);
		json_close(j);
		free(end);
	}
	json_close(j);
}

static void write_agents(struct json *j, const struct profile *p)
{
	json_array(j, "agents");
	for (size_t i = 0; i < p->n_agents; i++) {
		const struct profile_agent *a = &p->agents[i];

		json_object(j, NULL);
		json_string(j, "host", a->host);
		json_bool(j, "missing", a->missing);
		json_real(j, "cpu_s", a->cpu_s);
		json_real(j, "wall_s", a->wall_s);
		json_uint(j, "wakeups", a->wakeups);
		json_uint(j, "drained_bytes", a->drained_bytes);
		json_uint(j, "records", a->records);
		json_uint(j, "processes", a->processes);
		json_string(j, "place", a->place);
		json_close(j);
	}
	json_close(j);
}

static void write_warnings(struct json *j, const struct profile *p)
{
	char *first_end = first_end_sentence(p);

	json_array(j, "warnings");
	if (first_end)
		json_string(j, NULL, first_end);
	free(first_end);
	for (size_t i = 0; i < p->n_warnings; i++)
		json_string(j, NULL, p->warnings[i]);
	json_close(j);
}

/* Standard deviation of the exclusive time over the processes that have the stack. */
static double deviation_s(const struct profile_stack *s)
{
	double n = s->ranks ? s->ranks : 1, mean = (double)s->excl_ns / n;
	double variance = (double)s->excl_sumsq_ns2 / n - mean * mean;

	return variance > 0.0 ? sqrt(variance) * 1e-9 : 0.0;
}

static void write_stack(struct json *j, const struct report *r, uint32_t stack)
{
	const struct profile *p = r->p;
	const struct profile_stack *s = &p->stacks[stack];
	uint32_t rank, parent = r->parent[stack];
	double imbalance = report_imbalance(r, stack, &rank);
	char hash[17], *path = report_path(r, stack);

	snprintf(hash, sizeof(hash), "%016" PRIx64, s->hash);
	json_object(j, NULL);
	json_uint(j, "id", r->id[stack]);
	json_string(j, "hash", hash);
	json_string(j, "path", path);
	json_string(j, "function", r->shown[s->name]);
	json_string(j, "caller", parent == PROFILE_NONE ? NULL : r->shown[p->stacks[parent].name]);
	json_int(j, "parent", parent == PROFILE_NONE ? -1 : (int64_t)r->id[parent]);
	json_uint(j, "calls", s->calls);
	json_seconds(j, "t_incl_s", s->incl_ns);
	json_seconds(j, "t_excl_s", s->excl_ns);
	json_uint(j, "ranks", s->ranks);
	json_seconds(j, "t_excl_min_s", s->excl_min_ns);
	json_seconds(j, "t_excl_max_s", s->excl_max_ns);
	json_real(j, "t_excl_deviation_s", deviation_s(s));
	json_uint(j, "rank_min", profile_rank_shown(p, s->rank_min));
	json_uint(j, "rank_max", profile_rank_shown(p, s->rank_max));
	json_real(j, "imbalance_percent", imbalance);
	json_uint(j, "imbalance_rank", rank);
	json_real(j, "overhead_s", report_overhead_s(r, s->calls));
	json_uint(j, "lost", s->lost_calls);
	json_bool(j, "estimated", s->estimated);
	json_thread_range(j, r, stack);
	json_hwprof_stack(j, r, stack);
	json_close(j);
	free(path);
}

static void write_groups(struct json *j, const struct report *r)
{
	struct report_group *groups;
	uint32_t *members;
	size_t n = report_groups(r, &groups, &members);

	json_array(j, "functions");
	for (size_t i = 0; i < n; i++) {
		const struct report_group *g = &groups[i];

		json_object(j, NULL);
		json_string(j, "function", r->shown[g->name]);
		json_uint(j, "calls", g->calls);
		json_seconds(j, "t_incl_s", g->incl_ns);
		json_seconds(j, "t_excl_s", g->excl_ns);
		json_array(j, "stacks");
		for (size_t k = 0; k < g->n; k++)
			json_uint(j, NULL, r->id[members[g->first + k]]);
		json_close(j);
		json_close(j);
	}
	json_close(j);
	free(groups);
	free(members);
}

void json_report(FILE *f, const struct report *r)
{
	struct json j;

	json_begin(&j, f, LINES_TO);
	json_object(&j, NULL);
	write_head(&j, r);
	write_deaths(&j, r->p);
	json_first_end(&j, r->p);
	write_agents(&j, r->p);
	json_clocks(&j, r);
	write_warnings(&j, r->p);
	json_array(&j, "stacks");
	for (size_t i = 0; i < r->p->n_stacks; i++)
		write_stack(&j, r, i);
	json_close(&j);
	write_groups(&j, r);
	json_processes(&j, r);
	json_threads(&j, r);
	json_openmp(&j, r);
	json_mpi(&j, r);
	json_matching(&j, r);
	json_gpu(&j, r);
	json_openacc(&j, r);
	json_hwprof(&j, r);
	json_switched(&j, r);
	json_user_counters(&j, r);
	json_close(&j);
}
