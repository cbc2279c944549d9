/* SPDX-License-Identifier: BSD-3-Clause */
/* `vftr efficiency`: how much of their time the ranks of runs did useful work, and why not more. */
#include "nodeagent/tool/cmd.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nodeagent/base/json-write.h"
#include "nodeagent/base/table.h"
#include "nodeagent/base/util.h"
#include "nodeagent/report/efficiency.h"
#include "nodeagent/report/gpu.h"
#include "nodeagent/report/scaling.h"
#include "nodeagent/tool/efficiency/function.h"
#include "nodeagent/tool/exact/exact.h"
#include "nodeagent/tool/show/run.h"

static const char usage[] =
	"usage: vftr efficiency [OPTIONS] RUN...\n"
	"       vftr efficiency [OPTIONS] -f FUNCTION... RUN...\n"
	"\n"
	"Shows the parallel efficiency of runs and its factors, one column for each run; of\n"
	"several runs also how they scale, compared with the one with the fewest threads. RUN\n"
	"is a folder with node profiles (BASE_HOST.vfp, HOST.vfp), or such a file.\n"
	"\n"
	"  -f, --function F   this function, or call path such as \"solve<step\", in place of the\n"
	"                     run: its time, balance over ranks and scaling; may be repeated\n"
	"  -m, --model MODEL  multiplicative (the default): factors are multiplied; additive:\n"
	"                     losses are added up\n"
	"      --exact        serialisation and transfer, too, from the sampling files in the\n"
	"                     same folder, in which all calls were recorded\n"
	"  -s, --strong       the work was the same in all runs\n"
	"  -w, --weak         the work grew with the threads; without -s and -w the numbers of\n"
	"                     calls decide\n"
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
	bool strong, weak, csv, json, additive, exact;
	const char *base;
	struct function_list functions;
};

struct column {
	const char *path; /* as named */
	char *name;
	struct efficiency e;
	double scaling, global; /* NAN: it is the only run */
	struct scaling_run run;
	struct scaling_factors factors; /* of scaling */
	double offload;
	struct gpu_efficiency gpu; /* its factors are NAN if no GPU was used */
	struct efficiency_additive additive;
	/* communication = serialisation * transfer; NAN: not asked for, or no sampling files */
	double serialisation, transfer;
	bool exact_doubts[CAUSAL_DOUBTS];
	bool left_out;
	char *why; /* they are estimates, or left out; or NULL */
};

/* A row of a model. */
struct factor {
	const char *title, *key;
	size_t at;
	bool of_job;   /* not of a single process */
	bool of_nodes; /* shown if a run had several */
};

struct columns {
	struct column *at;
	size_t n, reference;
	struct scaling scaling; /* of several runs */
	const struct factor *factors;
	size_t n_factors;
};

#define OF(member) offsetof(struct column, member)
/* clang-format off */
#define SCALING_ROWS \
	{"  Computation scaling", "computation_scaling", OF(scaling), false, false}, \
	{"    Instructions", "instruction_scaling", OF(factors.instructions), false, false}, \
	{"    IPC", "ipc_scaling", OF(factors.ipc), false, false}, \
	{"    Frequency", "frequency_scaling", OF(factors.frequency), false, false}, \
	{"GPU", "gpu", OF(gpu.parallel), false, false}, \
	{"  Load balance", "gpu_load_balance", OF(gpu.balance), false, false}, \
	{"  Communication", "gpu_communication", OF(gpu.communication), false, false}, \
	{"  Orchestration", "gpu_orchestration", OF(gpu.orchestration), false, false}, \
	{"Device offload", "device_offload", OF(offload), false, false},
/* clang-format on */

/* Factors in the order in which they are shown. */
static const struct factor multiplicative[] = {{"Global", "global", OF(global), false, false},
	{"  Parallel", "parallel", OF(e.parallel), false, false},
	{"    Load balance", "load_balance", OF(e.load_balance), true, false},
	{"      in nodes", "load_balance_in_nodes", OF(e.in_nodes), true, true},
	{"      between nodes", "load_balance_between_nodes", OF(e.between_nodes), true, true},
	{"    Communication", "communication", OF(e.communication), true, false},
	{"      Serialisation", "serialisation", OF(serialisation), true, false},
	{"      Transfer", "transfer", OF(transfer), true, false},
	{"    OpenMP", "openmp", OF(e.openmp), false, false},
	{"      Load balance", "openmp_load_balance", OF(e.openmp_balance), false, false},
	{"      Communication", "openmp_communication", OF(e.openmp_communication), false, false},
	SCALING_ROWS};

/* Each is 1 less what is lost: the sum of two of them is 1 more than the one above. */
static const struct factor additive[] = {{"Global", "global", OF(global), false, false},
	{"  Parallel", "parallel", OF(e.parallel), false, false},
	{"    Processes", "process", OF(additive.process), false, false},
	{"      Load balance", "process_load_balance", OF(additive.balance), true, false},
	{"        in nodes", "process_load_balance_in_nodes", OF(additive.in_nodes), true, true},
	{"        between nodes", "process_load_balance_between_nodes", OF(additive.between_nodes),
		true, true},
	{"      Communication", "process_communication", OF(additive.communication), true, false},
	{"    Threads", "thread", OF(additive.thread), false, false}, SCALING_ROWS};
#undef OF

static double factor_of(const struct column *c, const struct factor *f)
{
	if (f->of_job && !c->e.is_job)
		return NAN;
	return *(const double *)(const void *)((const char *)c + f->at);
}

static bool some_have(const struct columns *all, const struct factor *f)
{
	return ANY(k, all->n,
		isfinite(factor_of(&all->at[k], f)) && (!f->of_nodes || all->at[k].e.nodes > 1));
}

/* ---- the runs ---------------------------------------------------------------------------- */

static bool is_folder(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

static void measure(struct column *c, const struct run *run)
{
	c->run = scaling_of(&run->r);
	c->run.ranks = c->e.ranks;
	c->run.threads = c->e.threads;
	c->run.useful_s = c->e.all_useful_s;
	c->additive = efficiency_additive(&c->e);
	c->gpu = gpu_efficiency(run->p);
	c->offload = efficiency_offload(run->p);
	if (!c->gpu.devices)
		c->gpu.parallel = c->gpu.balance = c->gpu.communication = c->gpu.orchestration =
			NAN;
}

static void take_exact(struct column *c, const struct exact *x)
{
	c->serialisation = exact_efficiency(x).serialisation;
	c->transfer = c->e.communication / c->serialisation;
	for (unsigned i = 0; i < CAUSAL_DOUBTS; i++)
		c->exact_doubts[i] = causal_totals(x->run->c)->doubts[i] > 0;
	c->why = exact_doubts(x);
}

/* The share of the longest chain of work comes from the sampling files, the rest is the
 * profile's: of the first job. The chain is that of all jobs. */
static int add_exact(struct column *c, const char *path, const char *base)
{
	char *folder = is_folder(path) ? xstrdup(path) : file_directory(path);
	struct exact x;
	int status = exact_open(&x, &folder, 1, base);

	free(folder);
	if (status == 2)
		return 1;
	c->left_out = exact_jobs(&x) > 1;
	if (!c->left_out)
		take_exact(c, &x);
	else
		c->why = xasprintf("the sampling files have ranks of %" PRIu32
				   " MPI jobs; the other factors are those of the first one",
			exact_jobs(&x));
	exact_close(&x);
	return status;
}

/* 0, 1 or 2, as the exit status of a command on this run alone. */
static int add_run(struct columns *all, char *path, const struct request *r)
{
	struct column *c = &all->at[all->n];
	struct run run;
	int status = run_open(&run, &path, 1, r->base);

	if (status == 2)
		return status;
	if (efficiency_of(run.p, &c->e)) {
		c->path = path;
		c->name = run_short_name(path);
		c->scaling = c->global = c->serialisation = c->transfer = NAN;
		c->factors = (struct scaling_factors){NAN, NAN, NAN};
		measure(c, &run);
		if (r->exact && c->e.is_job && add_exact(c, path, r->base))
			status = 1;
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

static void scale(struct columns *all, const struct request *r)
{
	struct scaling_run *runs = xcalloc(all->n + 1, sizeof(*runs));
	const struct column *reference;

	for (size_t i = 1; i < all->n; i++)
		if (all->at[i].e.threads < all->at[all->reference].e.threads)
			all->reference = i;
	for (size_t i = 0; i < all->n; i++)
		runs[i] = all->at[i].run;
	all->scaling = (struct scaling){.weak = r->weak, .reason = SCALING_BY_OPTION};
	if (all->n > 1 && !r->weak && !r->strong)
		all->scaling = scaling_recognise(runs, all->n, all->reference);
	reference = &all->at[all->reference];
	for (size_t i = 0; i < all->n && all->n > 1; i++) {
		struct column *c = &all->at[i];

		c->scaling = efficiency_scaling(&c->e, &reference->e, all->scaling.weak);
		c->global = c->scaling * c->e.parallel;
		c->factors = scaling_factors(&c->run, &reference->run, all->scaling.weak);
	}
	free(runs);
}

/* ---- as text ----------------------------------------------------------------------------- */

static void print_row(
	const struct columns *all, struct table *t, const struct factor *f, const char *title)
{
	table_text(t, title);
	for (size_t k = 0; k < all->n; k++) {
		const double value = factor_of(&all->at[k], f);
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

static void print_scaling(const struct columns *all)
{
	char *why = scaling_sentence(&all->scaling);

	printf("Computation scaling: useful time in %s / in the run%s.\n%s\n",
		all->at[all->reference].name,
		all->scaling.weak ? ", each divided by its threads"
				  : "; the work is the same in all",
		why);
	free(why);
}

static void print_text(const struct columns *all)
{
	struct table *t = table_new(TABLE_FRAMED);
	size_t left = 0;

	table_column(t, "Efficiency[%]", TABLE_LEFT);
	for (size_t k = 0; k < all->n; k++)
		table_column(t, all->at[k].name, TABLE_RIGHT);
	print_size(all, t);
	for (size_t i = 0; i < all->n_factors; i++) {
		const struct factor *f = &all->factors[i];

		/* Global is of several runs: without it, what is below it moves to the left */
		if (*f->title != ' ')
			left = i || all->n > 1 ? 0 : 2;
		if (some_have(all, f))
			print_row(all, t, f, f->title + (*f->title == ' ' ? left : 0));
	}
	table_print(t, stdout);
	table_free(t);
	if (all->n > 1)
		print_scaling(all);
	for (size_t k = 0; k < all->n; k++) {
		print_doubts(&all->at[k]);
		if (all->at[k].why)
			printf("%s: serialisation and transfer are %s: %s\n", all->at[k].name,
				all->at[k].left_out ? "left out" : "estimated", all->at[k].why);
	}
}

/* Why the numbers are estimates, each word once; their number. */
static size_t words_of(const struct column *c, const char *words[DOUBTS + CAUSAL_DOUBTS])
{
	size_t n = 0;

	for (unsigned i = 0; i < DOUBTS; i++)
		if (c->e.doubts >> i & 1)
			words[n++] = efficiency_doubts[i];
	for (unsigned i = 0; i < CAUSAL_DOUBTS; i++) {
		size_t k = 0;

		while (k < n && strcmp(words[k], causal_doubts[i].id))
			k++;
		if (c->exact_doubts[i] && k == n)
			words[n++] = causal_doubts[i].id;
	}
	return n;
}

/* ---- for programs ------------------------------------------------------------------------ */

static void print_csv(const struct columns *all)
{
	fputs("run,ranks,threads,nodes,window_s,useful_s,useful_max_s", stdout);
	for (size_t i = 0; i < all->n_factors; i++)
		printf(",%s", all->factors[i].key);
	puts(",estimated");
	for (size_t k = 0; k < all->n; k++) {
		const struct efficiency *e = &all->at[k].e;
		const char *before = ",", *words[DOUBTS + CAUSAL_DOUBTS];

		text_put_csv(stdout, all->at[k].path);
		printf(",%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%.9f,%.9f,%.9f", e->ranks, e->threads,
			e->nodes, e->window_s, e->useful_s, e->useful_max_s);
		for (size_t i = 0; i < all->n_factors; i++) {
			const double value = factor_of(&all->at[k], &all->factors[i]);

			putchar(',');
			if (isfinite(value))
				printf("%.9f", value);
		}
		for (size_t i = 0, n = words_of(&all->at[k], words); i < n; i++) {
			printf("%s%s", before, words[i]);
			before = " ";
		}
		puts(*before == ',' ? "," : "");
	}
}

static void put_run(struct json *j, const struct columns *all, const struct column *c)
{
	const char *words[DOUBTS + CAUSAL_DOUBTS];

	json_object(j, NULL);
	json_string(j, "run", c->path);
	json_string(j, "model", c->e.hybrid ? "hybrid" : "mpi");
	json_uint(j, "ranks", c->e.ranks);
	json_uint(j, "threads", c->e.threads);
	json_uint(j, "nodes", c->e.nodes);
	json_real(j, "window_s", c->e.window_s);
	json_exact(j, "useful_s", c->e.useful_s);
	json_exact(j, "useful_max_s", c->e.useful_max_s);
	for (size_t i = 0; i < all->n_factors; i++)
		if (isfinite(factor_of(c, &all->factors[i])))
			json_exact(j, all->factors[i].key, factor_of(c, &all->factors[i]));
	json_array(j, "estimated");
	for (size_t i = 0, n = words_of(c, words); i < n; i++)
		json_string(j, NULL, words[i]);
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
	json_string(&j, "factors", r->additive ? "additive" : "multiplicative");
	json_string(&j, "scaling", all->scaling.weak ? "weak" : "strong");
	if (all->n > 1)
		json_string(&j, "scaling_by", scaling_reasons[all->scaling.reason]);
	json_string(&j, "reference", all->at[all->reference].path);
	json_array(&j, "runs");
	for (size_t k = 0; k < all->n; k++)
		put_run(&j, all, &all->at[k]);
	json_close(&j);
	json_close(&j);
}

static int show_runs(const struct request *r, char **paths, size_t n)
{
	struct columns all = {
		.at = xcalloc(n, sizeof(*all.at)),
		.factors = r->additive ? additive : multiplicative,
		.n_factors = r->additive ? ARRAY_SIZE(additive) : ARRAY_SIZE(multiplicative),
	};
	int status = 0;

	for (size_t i = 0; i < n; i++)
		if (add_run(&all, paths[i], r))
			status = 1;
	scale(&all, r);
	if (!all.n)
		status = 2;
	else if (r->json)
		print_json(&all, r);
	else if (r->csv)
		print_csv(&all);
	else
		print_text(&all);
	for (size_t i = 0; i < all.n; i++) {
		free(all.at[i].name);
		free(all.at[i].why);
		scaling_done(&all.at[i].run);
	}
	free(all.at);
	return status;
}

static bool take_model(const char *text, void *to)
{
	bool *is_additive = to;

	*is_additive = !strcmp(text, "additive");
	if (*is_additive || !strcmp(text, "multiplicative"))
		return true;
	complain("--model %s: it is multiplicative or additive", text);
	return false;
}

static int show_functions(const struct request *r, char **paths, size_t n)
{
	const struct function_request of = {
		.functions = &r->functions,
		.strong = r->strong,
		.weak = r->weak,
		.csv = r->csv,
		.json = r->json,
		.base = r->base,
	};

	return functions_show(&of, paths, n);
}

/* False after a message. */
static bool is_right(const struct request *r, bool has_runs)
{
	if (!has_runs)
		complain("efficiency: name folders of runs; see vftr efficiency --help");
	else if (r->csv && r->json)
		complain("efficiency: --csv or --json, not both");
	else if (r->strong && r->weak)
		complain("efficiency: --strong or --weak, not both");
	else if (r->additive && r->functions.n_names)
		complain("efficiency: --model is for all of a run, not for --function");
	else if (r->exact && r->functions.n_names)
		complain("efficiency: --exact is for all of a run, not for --function");
	else if (r->exact && r->additive)
		complain("efficiency: --exact is of the multiplicative model, which has "
			 "serialisation and transfer; the additive one has neither");
	else
		return true;
	return false;
}

int cmd_efficiency(int argc, char **argv)
{
	struct request r = {0};
	const struct cmd_option options[] = {
		{"function", 'f', .take = function_take, .to = &r.functions},
		{"model", 'm', .take = take_model, .to = &r.additive},
		{"exact", .flag = &r.exact},
		{"strong", 's', .flag = &r.strong},
		{"weak", 'w', .flag = &r.weak},
		{"csv", 'c', .flag = &r.csv},
		{"json", 'j', .flag = &r.json},
		{"base", 'b', .text = &r.base},
		{0},
	};
	int status = cmd_options(argc, argv, options, usage);
	const size_t n = status < 0 ? (size_t)(argc - optind) : 0;

	if (status < 0 && !is_right(&r, n > 0))
		status = 2;
	else if (status < 0 && r.functions.n_names)
		status = show_functions(&r, argv + optind, n);
	else if (status < 0)
		status = show_runs(&r, argv + optind, n);
	free(r.functions.names);
	return status;
}
