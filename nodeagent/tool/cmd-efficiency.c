/* SPDX-License-Identifier: BSD-3-Clause */
/* `vftr efficiency`: how much of their time the ranks of runs did useful work, and why not more. */
#include "nodeagent/tool/cmd.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nodeagent/base/json-write.h"
#include "nodeagent/base/table.h"
#include "nodeagent/base/util.h"
#include "nodeagent/report/efficiency.h"
#include "nodeagent/tool/show/run.h"

#define NAME_COLUMNS 20

static const char usage[] =
	"usage: vftr efficiency [OPTIONS] RUN...\n"
	"\n"
	"Shows the parallel efficiency of runs and its factors, one column for each run; of\n"
	"several runs also how they scale, against the one with the fewest threads. RUN is a\n"
	"folder with node profiles (BASE_HOST.vfp, HOST.vfp), or such a file.\n"
	"\n"
	"  -w, --weak         the runs' work grew with their threads; else it was the same\n"
	"  -c, --csv          as CSV; times are seconds, factors from 0 to 1\n"
	"  -j, --json         as JSON\n"
	"  -b, --base BASE    only runs of this name\n"
	"  -h, --help         this text\n"
	"\n"
	"vftr-analysis(7) explains the numbers.\n"
	"\n"
	"Exit status: 0 done, 1 done without runs or files that could not be read, or that\n"
	"have no times of ranks, 2 nothing could be read, or wrong usage.\n";

struct request {
	bool weak, csv, json;
	const char *base;
};

struct column {
	const char *path; /* as named */
	char *name;
	struct efficiency e;
	double scaling, global; /* NAN: it is the only run */
};

struct columns {
	struct column *at;
	size_t n, reference;
};

/* Factors in the order in which they are shown. */
static const struct {
	const char *title, *key;
	size_t at;
	bool of_job;   /* not of a single process */
	bool of_nodes; /* shown if a run had several */
} factors[] = {
#define OF(member) offsetof(struct column, member)
	{"Global", "global", OF(global), false, false},
	{"  Parallel", "parallel", OF(e.parallel), false, false},
	{"    Load balance", "load_balance", OF(e.load_balance), true, false},
	{"      in nodes", "load_balance_in_nodes", OF(e.in_nodes), true, true},
	{"      between nodes", "load_balance_between_nodes", OF(e.between_nodes), true, true},
	{"    Communication", "communication", OF(e.communication), true, false},
	{"    OpenMP", "openmp", OF(e.openmp), false, false},
	{"      Load balance", "openmp_load_balance", OF(e.openmp_balance), false, false},
	{"      Communication", "openmp_communication", OF(e.openmp_communication), false, false},
	{"  Computation scaling", "computation_scaling", OF(scaling), false, false},
#undef OF
};

static double factor_of(const struct column *c, size_t i)
{
	if (factors[i].of_job && !c->e.is_job)
		return NAN;
	return *(const double *)(const void *)((const char *)c + factors[i].at);
}

static bool some_have(const struct columns *all, size_t i)
{
	for (size_t k = 0; k < all->n; k++)
		if (isfinite(factor_of(&all->at[k], i)) &&
			(!factors[i].of_nodes || all->at[k].e.nodes > 1))
			return true;
	return false;
}

/* ---- the runs ---------------------------------------------------------------------------- */

static char *name_of(const char *path)
{
	size_t n = strlen(path);
	char *copy, *name;

	while (n > 1 && path[n - 1] == '/')
		n--;
	copy = xasprintf("%.*s", (int)n, path);
	name = text_short(basename(copy), NAME_COLUMNS);
	free(copy);
	return name;
}

/* 0, 1 or 2, as the exit status of a command on this run alone. */
static int add_run(struct columns *all, char *path, const char *base)
{
	struct column *c = &all->at[all->n];
	struct run run;
	int status = run_open(&run, &path, 1, base);

	if (status == 2)
		return status;
	if (efficiency_of(run.p, &c->e)) {
		c->path = path;
		c->name = name_of(path);
		c->scaling = c->global = NAN;
		all->n++;
	} else {
		complain("%s: it has no times of ranks: several processes that are no ranks, no "
			 "time between MPI_Init and MPI_Finalize, or an earlier version of vftr",
			path);
		status = 2;
	}
	run_close(&run);
	return status;
}

static void scale(struct columns *all, bool weak)
{
	for (size_t i = 1; i < all->n; i++)
		if (all->at[i].e.threads < all->at[all->reference].e.threads)
			all->reference = i;
	for (size_t i = 0; i < all->n && all->n > 1; i++) {
		struct column *c = &all->at[i];

		c->scaling = efficiency_scaling(&c->e, &all->at[all->reference].e, weak);
		c->global = c->scaling * c->e.parallel;
	}
}

/* ---- as text ----------------------------------------------------------------------------- */

static void print_row(const struct columns *all, struct table *t, size_t i)
{
	table_text(t, factors[i].title + (all->n > 1 || !i ? 0 : 2));
	for (size_t k = 0; k < all->n; k++) {
		const double value = factor_of(&all->at[k], i);
		char text[32] = "----";

		if (isfinite(value))
			snprintf(text, sizeof(text), "%.1f", 100.0 * value);
		table_text(t, text);
	}
}

static void print_size(const struct columns *all, struct table *t)
{
	table_text(t, "Ranks");
	for (size_t k = 0; k < all->n; k++)
		table_uint(t, all->at[k].e.ranks);
	table_text(t, "Threads");
	for (size_t k = 0; k < all->n; k++)
		table_uint(t, all->at[k].e.threads);
	table_text(t, "Window[s]");
	for (size_t k = 0; k < all->n; k++)
		table_real(t, 0, 3, all->at[k].e.window_s);
}

static void print_doubts(const struct column *c)
{
	const char *before = ": estimated: ";

	if (!c->e.doubts)
		return;
	fputs(c->name, stdout);
	for (unsigned i = 0; i < DOUBTS; i++) {
		char *text;

		if (!(c->e.doubts >> i & 1))
			continue;
		text = efficiency_sentence(&c->e, i);
		printf("%s%s", before, text);
		before = "; ";
		free(text);
	}
	putchar('\n');
}

static void print_text(const struct columns *all, const struct request *r)
{
	struct table *t = table_new(TABLE_FRAMED);

	table_column(t, "Efficiency[%]", TABLE_LEFT);
	for (size_t k = 0; k < all->n; k++)
		table_column(t, all->at[k].name, TABLE_RIGHT);
	print_size(all, t);
	for (size_t i = 0; i < ARRAY_SIZE(factors); i++)
		if (some_have(all, i))
			print_row(all, t, i);
	table_print(t, stdout);
	if (all->n > 1)
		printf("Computation scaling: useful time in %s / in the run%s.\n",
			all->at[all->reference].name,
			r->weak ? ", each divided by its threads"
				: "; the work is the same in all");
	for (size_t k = 0; k < all->n; k++)
		print_doubts(&all->at[k]);
}

/* ---- for programs ------------------------------------------------------------------------ */

static void put_quoted(const char *text)
{
	char *plain = text_plain(text);

	putchar('"');
	for (const char *at = plain; *at; at++)
		printf(*at == '"' ? "\"\"" : "%c", *at);
	putchar('"');
	free(plain);
}

static void print_csv(const struct columns *all)
{
	fputs("run,ranks,threads,nodes,window_s,useful_s,useful_max_s", stdout);
	for (size_t i = 0; i < ARRAY_SIZE(factors); i++)
		printf(",%s", factors[i].key);
	puts(",estimated");
	for (size_t k = 0; k < all->n; k++) {
		const struct efficiency *e = &all->at[k].e;
		const char *before = ",";

		put_quoted(all->at[k].path);
		printf(",%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%.9f,%.9f,%.9f", e->ranks, e->threads,
			e->nodes, e->window_s, e->useful_s, e->useful_max_s);
		for (size_t i = 0; i < ARRAY_SIZE(factors); i++) {
			const double value = factor_of(&all->at[k], i);

			putchar(',');
			if (isfinite(value))
				printf("%.9f", value);
		}
		if (!e->doubts)
			putchar(',');
		for (unsigned i = 0; i < DOUBTS; i++) {
			if (!(e->doubts >> i & 1))
				continue;
			printf("%s%s", before, efficiency_doubts[i]);
			before = " ";
		}
		putchar('\n');
	}
}

static void put_run(struct json *j, const struct column *c)
{
	json_object(j, NULL);
	json_string(j, "run", c->path);
	json_string(j, "model", c->e.hybrid ? "hybrid" : "mpi");
	json_uint(j, "ranks", c->e.ranks);
	json_uint(j, "threads", c->e.threads);
	json_uint(j, "nodes", c->e.nodes);
	json_real(j, "window_s", c->e.window_s);
	json_exact(j, "useful_s", c->e.useful_s);
	json_exact(j, "useful_max_s", c->e.useful_max_s);
	for (size_t i = 0; i < ARRAY_SIZE(factors); i++)
		if (isfinite(factor_of(c, i)))
			json_exact(j, factors[i].key, factor_of(c, i));
	json_array(j, "estimated");
	for (unsigned i = 0; i < DOUBTS; i++)
		if (c->e.doubts >> i & 1)
			json_string(j, NULL, efficiency_doubts[i]);
	json_close(j);
	json_close(j);
}

static void print_json(const struct columns *all, const struct request *r)
{
	struct json j;

	json_begin(&j, stdout, 2);
	json_object(&j, NULL);
	json_string(&j, "format", "vftr-efficiency");
	json_uint(&j, "version", 1);
	json_string(&j, "scaling", r->weak ? "weak" : "strong");
	json_string(&j, "reference", all->at[all->reference].path);
	json_array(&j, "runs");
	for (size_t k = 0; k < all->n; k++)
		put_run(&j, &all->at[k]);
	json_close(&j);
	json_close(&j);
}

static int show_runs(const struct request *r, char **paths, size_t n)
{
	struct columns all = {.at = xcalloc(n, sizeof(*all.at))};
	int status = 0;

	for (size_t i = 0; i < n; i++)
		if (add_run(&all, paths[i], r->base))
			status = 1;
	scale(&all, r->weak);
	if (!all.n)
		status = 2;
	else if (r->json)
		print_json(&all, r);
	else if (r->csv)
		print_csv(&all);
	else
		print_text(&all, r);
	for (size_t i = 0; i < all.n; i++)
		free(all.at[i].name);
	free(all.at);
	return status;
}

int cmd_efficiency(int argc, char **argv)
{
	struct request r = {0};
	const struct cmd_option options[] = {
		{"weak", 'w', .flag = &r.weak},
		{"csv", 'c', .flag = &r.csv},
		{"json", 'j', .flag = &r.json},
		{"base", 'b', .text = &r.base},
		{0},
	};
	int status = cmd_options(argc, argv, options, usage);

	if (status >= 0)
		return status;
	if (optind == argc) {
		complain("efficiency: name folders of runs; see vftr efficiency --help");
		return 2;
	}
	if (r.csv && r.json) {
		complain("efficiency: --csv or --json, not both");
		return 2;
	}
	return show_runs(&r, argv + optind, (size_t)(argc - optind));
}
