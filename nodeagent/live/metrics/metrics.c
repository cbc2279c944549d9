/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The format is that of https://prometheus.io/docs/instrumenting/exposition_formats: lines HELP and
 * TYPE, then a line for each series; without time stamps, as the node exporter wants it.
 */
#include "nodeagent/live/metrics/metrics.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "nodeagent/base/util.h"
#include "nodeagent/live/sample/sample.h"
#include "nodeagent/live/view.h"
#include "nodeagent/process/host.h"
#include "nodeagent/process/process.h"
#include "shm/clock.h"

#define IN_NS 1e-9

struct metrics {
	struct host *host;
	struct sampler *sampler;
	struct live_view view; /* the last look */
	char *path, *job;
	double every_s;
	uint64_t due; /* raw ns */
	bool warned;
	/* sums of all looks */
	uint64_t records, classes[LIVE_CLASSES_END];
	double cpu_s;
	uint64_t resident_bytes;
};

/* ---- the table of series ------------------------------------------------------------------- */

#define METRIC(name, value)                                                                        \
	static double name(const struct metrics *m)                                                \
	{                                                                                          \
		return (double)(value);                                                            \
	}
#define METRIC_OF(name, value)                                                                     \
	static double name(const struct metrics *m, unsigned i)                                    \
	{                                                                                          \
		return (double)(value);                                                            \
	}

METRIC(processes_of, m->view.processes)
METRIC(threads_of, m->view.threads)
METRIC(ended_of, m->view.ended)
METRIC(records_of, m->records)
METRIC(calls_of, m->view.calls)
METRIC(lost_of, m->view.lost_calls)
METRIC(useful_share_of, m->view.processes ? 1e-6 * (double)m->view.share / m->view.processes : 0.0)

static double balance_of(const struct metrics *m)
{
	const double most = (double)m->view.share_most * m->view.processes;

	return most > 0.0 ? (double)m->view.share / most : 1.0;
}

METRIC(agent_cpu_of, m->cpu_s)
METRIC(agent_memory_of, m->resident_bytes)
METRIC(wakeups_of, m->host->wakeups)
METRIC(drained_of, m->host->drained_bytes)
METRIC(look_of, m->view.n_nodes ? (double)m->view.nodes[0].look *IN_NS : 0.0)
METRIC_OF(class_of, (double)m->classes[i] * IN_NS)
METRIC_OF(waits_of, m->view.waits[i].calls)
METRIC_OF(waited_of, (double)m->view.waits[i].ns *IN_NS)

/* "useful_s" is of class "useful". */
static void put_class_name(FILE *f, unsigned i)
{
	const char *name = live_class_name(i);

	fwrite(name, 1, strlen(name) - 2, f);
}

static void put_wait_name(FILE *f, unsigned i)
{
	fputs(wait_kind_name(i), f);
}

static const struct family {
	const char *name, *type, *help;
	double (*value)(const struct metrics *m);
	/* or a series for each of n values of a label */
	const char *label;
	unsigned n;
	double (*value_of)(const struct metrics *m, unsigned i);
	void (*put_label)(FILE *f, unsigned i);
} families[] = {
	{"vftr_processes", "gauge", "Traced processes of this node that run.",
		.value = processes_of},
	{"vftr_threads", "gauge", "Their threads.", .value = threads_of},
	{"vftr_processes_ended_total", "counter", "Traced processes that have ended.",
		.value = ended_of},
	{"vftr_calls_total", "counter", "Calls of functions, regions, MPI and GPUs.",
		.value = calls_of},
	{"vftr_lost_calls_total", "counter", "Calls that were not recorded.", .value = lost_of},
	{"vftr_records_total", "counter", "Records that the agent has read.", .value = records_of},
	{"vftr_time_seconds_total", "counter",
		"Time of all threads by what it was spent for; mpi_wait is part of mpi, off_cpu of "
		"any.",
		.label = "class", .n = LIVE_CLASSES_END, .value_of = class_of,
		.put_label = put_class_name},
	{"vftr_waits_total", "counter", "Calls that have waited for other ranks or threads.",
		.label = "kind", .n = WAIT_KINDS_END, .value_of = waits_of,
		.put_label = put_wait_name},
	{"vftr_wait_seconds_total", "counter", "What they have waited.", .label = "kind",
		.n = WAIT_KINDS_END, .value_of = waited_of, .put_label = put_wait_name},
	{"vftr_useful_ratio", "gauge",
		"Part of the last period that first threads spent in the program's own work.",
		.value = useful_share_of},
	{"vftr_load_balance_ratio", "gauge", "Its mean over processes, by the greatest.",
		.value = balance_of},
	{"vftr_agent_cpu_seconds_total", "counter", "CPU time of the node agent.",
		.value = agent_cpu_of},
	{"vftr_agent_resident_bytes", "gauge", "Memory of the node agent.",
		.value = agent_memory_of},
	{"vftr_agent_wakeups_total", "counter", "Times that the agent slept and woke.",
		.value = wakeups_of},
	{"vftr_agent_drained_bytes_total", "counter", "Bytes read from rings.",
		.value = drained_of},
	{"vftr_agent_look_seconds", "gauge", "Time that making these numbers takes.",
		.value = look_of},
};

/* ---- writing ------------------------------------------------------------------------------- */

/* In quotes: \ " and newlines have a backslash. */
static void put_label(FILE *f, const char *name, const char *value)
{
	fprintf(f, "%s=\"", name);
	for (; *value; value++) {
		if (strchr("\\\"", *value))
			fputc('\\', f);
		if (*value == '\n')
			fputs("\\n", f);
		else
			fputc(*value, f);
	}
	fputc('"', f);
}

/* Of the process that came first, so that a label stays as processes come: they are added in front.
 */
static const char *program_of(const struct metrics *m)
{
	const char *path = "", *slash;

	for (const struct process *p = m->host->processes; p; p = p->next)
		path = p->greeted && p->executable ? p->executable : path;
	slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static void put_series(
	FILE *f, const struct metrics *m, const char *program, const struct family *of, unsigned i)
{
	fprintf(f, "%s{", of->name);
	put_label(f, "job_id", m->job);
	fputc(',', f);
	put_label(f, "program", program);
	if (of->label) {
		fprintf(f, ",%s=\"", of->label);
		of->put_label(f, i);
		fputc('"', f);
	}
	fprintf(f, "} %.15g\n", of->label ? of->value_of(m, i) : of->value(m));
}

static void write_families(FILE *f, const struct metrics *m)
{
	const char *program = program_of(m);

	EACH(const struct family, of, families, ARRAY_SIZE(families)) {
		fprintf(f, "# HELP %s %s\n# TYPE %s %s\n", of->name, of->help, of->name, of->type);
		for (unsigned i = 0; i < (of->label ? of->n : 1); i++)
			put_series(f, m, program, of, i);
	}
}

static void look_at_node(struct metrics *m)
{
	struct rusage u;
	FILE *f = fopen("/proc/self/statm", "re");
	uint64_t pages = 0;

	memset(&m->view, 0, sizeof(m->view));
	sampler_look(m->sampler, &m->view);
	m->records += m->view.records;
	for (unsigned i = 0; i < LIVE_CLASSES_END; i++)
		m->classes[i] += m->view.classes[i];
	getrusage(RUSAGE_SELF, &u);
	m->cpu_s = (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
		   1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) + m->host->spent_s;
	if (f && fscanf(f, "%*u %" SCNu64, &pages) == 1)
		m->resident_bytes = pages * (uint64_t)sysconf(_SC_PAGESIZE);
	if (f)
		fclose(f);
}

static void write_file(struct metrics *m)
{
	FILE *f;
	struct writing *w;
	int rc = write_begin(&f, &w, m->path);

	if (!rc) {
		write_families(f, m);
		rc = write_end(f, w);
	}
	if (rc && !m->warned) {
		m->warned = true;
		host_warn(m->host, false, "agent.metrics_file: %s could not be written: %s",
			m->path, strerror(-rc));
	}
}

/* ------------------------------------------------------------------------------------------ */

struct metrics *metrics_new(struct host *host, const char *path, const char *job, double every_s)
{
	struct metrics *m = xcalloc(1, sizeof(*m));

	m->host = host;
	m->path = xstrdup(path);
	m->job = xstrdup(job);
	m->every_s = every_s;
	m->sampler = sampler_new(host);
	look_at_node(m); /* from now on there are periods */
	return m;
}

double metrics_tick(struct metrics *m)
{
	const uint64_t now = clock_raw_ns(), every = (uint64_t)(m->every_s * 1e9);

	if (m->due && now < m->due)
		return IN_NS * (double)(m->due - now);
	if (m->due)
		look_at_node(m);
	write_file(m);
	m->due = now + every;
	return m->every_s;
}

void metrics_end(struct metrics *m)
{
	if (!m)
		return;
	unlink(m->path);
	sampler_free(m->sampler);
	free(m->path);
	free(m->job);
	free(m);
}
