/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the agents cost. A summary of thousands of nodes shows those that matter most,
 * here as in the other tables with a line per node; the others are in the JSON file.
 */
#include <stdlib.h>

#include "nodeagent/report.h"
#include "nodeagent/table.h"
#include "nodeagent/util.h"

#define NOTHING	   "----"
#define AGENTS_ALL 100 /* so many are all shown */
#define AGENTS_TOP 50

struct weighted {
	double weight;
	size_t i;
};

static int heaviest_first(const void *x, const void *y)
{
	const struct weighted *a = x, *b = y;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return (a->i > b->i) - (a->i < b->i);
}

static int by_place(const void *x, const void *y)
{
	const struct weighted *a = x, *b = y;

	return (a->i > b->i) - (a->i < b->i);
}

size_t *report_agents(
	const struct profile *p, double (*weight)(const struct profile_agent *), size_t *n_shown)
{
	struct weighted *all = xcalloc(p->n_agents, sizeof(*all));
	size_t *shown = xcalloc(p->n_agents, sizeof(*shown));

	*n_shown = p->n_agents > AGENTS_ALL ? AGENTS_TOP : p->n_agents;
	for (size_t i = 0; i < p->n_agents; i++)
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

static void print_rest(FILE *f, const struct profile *p, size_t shown)
{
	double cpu_s = 0, wall_s = 0;

	if (shown == p->n_agents)
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

void section_agents(FILE *f, const struct report *r)
{
	static const char *const titles[] = {
		"Host",
		"Processes",
		"CPU[s]",
		"CPU[%]",
		"Wake-ups",
		"Drained[MiB]",
		"Records",
		"Ran on",
	};
	struct table *t;
	size_t *shown, n;

	if (!r->p->n_agents)
		return;
	t = table_new(TABLE_FRAMED);
	shown = report_agents(r->p, cpu_percent, &n);
	for (size_t i = 0; i < ARRAY_SIZE(titles); i++)
		table_column(t, titles[i], TABLE_RIGHT);
	for (size_t i = 0; i < n; i++) {
		const struct profile_agent *a = &r->p->agents[shown[i]];

		table_text(t, a->host);
		if (a->missing) {
			for (size_t k = 1; k < ARRAY_SIZE(titles) - 1; k++)
				table_text(t, NOTHING);
			table_text(t, "no answer");
			continue;
		}
		table_uint(t, a->processes);
		table_real(t, 0, 3, a->cpu_s);
		table_real(t, 0, 2, cpu_percent(a));
		table_uint(t, a->wakeups);
		table_real(t, 0, 2, a->drained_bytes / 1048576.0);
		table_uint(t, a->records);
		table_text(t, a->place ? a->place : NOTHING);
	}
	fputs("\nAgents\n", f);
	table_print(t, f);
	print_rest(f, r->p, n);
	table_free(t);
	free(shown);
}
