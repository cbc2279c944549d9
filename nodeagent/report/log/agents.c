/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the agents cost. A summary of thousands of nodes shows those that matter most,
 * here as in the other tables with a line per node; the others are in the JSON file.
 */
#include <stdlib.h>

#include "nodeagent/report/log/internal.h"

#define AGENTS_TOP 50

struct weighted {
	double weight;
	uint32_t i;
};

ORDER_BY(heaviest_first, struct weighted, FALLING(weight) ?: RISING(i))

ORDER_BY(by_place, struct weighted, RISING(i))

uint32_t *report_agents(
	const struct profile *p, double (*weight)(const struct profile_agent *), size_t *n_shown)
{
	struct weighted *all = xcalloc(p->n_agents, sizeof(*all));
	uint32_t *shown = xcalloc(p->n_agents, sizeof(*shown));

	*n_shown = p->n_agents > AGENTS_ALL ? AGENTS_TOP : p->n_agents;
	for (uint32_t i = 0; i < p->n_agents; i++)
		all[i] = (struct weighted){weight(&p->agents[i]), i};
	if (*n_shown < p->n_agents) {
		qsort(all, p->n_agents, sizeof(*all), heaviest_first);
		qsort(all, *n_shown, sizeof(*all), by_place);
	}
	for (size_t i = 0; i < *n_shown; i++)
		shown[i] = all[i].i;
	free(all);
	return shown;
}

static double cpu_percent(const struct profile_agent *a)
{
	return a->wall_s > 0.0 ? 100.0 * a->cpu_s / a->wall_s : 0.0;
}

static void print_rest(FILE *f, const struct profile *p)
{
	double cpu_s = 0, wall_s = 0;

	if (p->n_agents <= AGENTS_ALL)
		return;
	for (size_t i = 0; i < p->n_agents; i++) {
		cpu_s += p->agents[i].cpu_s;
		wall_s += p->agents[i].wall_s;
	}
	fprintf(f,
		"Those with the greatest CPU[%%] of %zu agents, which together used %.3f s of CPU "
		"time, %.2f %% of a CPU each.\n",
		p->n_agents, cpu_s, wall_s > 0.0 ? 100.0 * cpu_s / wall_s : 0.0);
}

ROW_VALUE(bool, has_answered, profile_agent, !at->missing)
ROW_VALUE(double, agent_percent, profile_agent, cpu_percent(at))
ROW_VALUE(const char *, agent_place, profile_agent, at->missing ? "no answer" : at->affinity)

ROW_VALUE(bool, has_model, profile_agent, at->cpu_model != NULL)
ROW_VALUE(bool, has_kernel, profile_agent, at->kernel != NULL)
ROW_VALUE(bool, has_machine, profile_agent, at->cpus != 0)

#define AGENT(title, json, type, member, ...)                                                      \
	COLUMN(title, json, type, struct profile_agent, member, ##__VA_ARGS__)

static const struct column agent_columns[] = {
	AGENT("Host", "host", TEXT, host),
	AGENT(NULL, "missing", BOOL, missing),
	AGENT("Processes", NULL, COUNT, processes, .where = has_answered),
	AGENT("CPU[s]", "cpu_s", REAL, cpu_s, .log_where = has_answered),
	COLUMN_GET("CPU[%]", NULL, REAL, real, agent_percent, .decimals = 2, .where = has_answered),
	AGENT(NULL, "wall_s", REAL, wall_s),
	AGENT("Wake-ups", "wakeups", COUNT, wakeups, .log_where = has_answered),
	AGENT("Drained[MiB]", "drained_bytes", MIB, drained_bytes, .log_where = has_answered),
	AGENT("Records", "records", COUNT, records, .log_where = has_answered),
	AGENT(NULL, "processes", COUNT, processes),
	AGENT(NULL, "place", TEXT, affinity),
	AGENT(NULL, "threads", COUNT, threads, .where = has_machine),
	AGENT(NULL, "cpu_model", TEXT, cpu_model, .where = has_model),
	AGENT(NULL, "cpus", COUNT, cpus, .where = has_machine),
	AGENT(NULL, "memory_bytes", COUNT, memory_bytes, .where = has_machine),
	AGENT(NULL, "kernel", TEXT, kernel, .where = has_kernel),
	COLUMN_GET("Ran on", NULL, TEXT, text, agent_place),
};

static uint32_t *busiest(const struct report *r, size_t *n)
{
	return report_agents(r->p, cpu_percent, n);
}

static const struct list agent_list =
	LIST(agent_columns, agents, .title = "Agents", .json = "agents", .order = busiest);

void section_agents(FILE *f, const struct report *r)
{
	columns_print(f, r, &agent_list, 0);
	print_rest(f, r->p);
}

void json_agents(struct json *j, const struct report *r)
{
	columns_json(j, r, &agent_list);
}
