/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/tool/efficiency/function.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/report/digest.h"
#include "nodeagent/report/efficiency.h"
#include "nodeagent/tool/efficiency/internal.h"
#include "nodeagent/tool/show/run.h"

bool function_take(const char *text, void *list)
{
	struct function_list *l = list;

	*LIST_ADD(l, names) = text;
	return true;
}

/* ---- a function in a run ----------------------------------------------------------------- */

/* Its call paths; the caller frees. */
struct found {
	uint32_t *stacks;
	size_t n;
};

static void find_name(struct found *f, const struct report *r, const char *name)
{
	for (uint32_t i = 0; i < r->p->n_stacks; i++) {
		const uint32_t of = r->p->stacks[i].name;

		if (!strcmp(r->shown[of], name) || !strcmp(r->cell[of], name))
			f->stacks[f->n++] = i;
	}
}

/* "solve < step" becomes "solve<step", as both are usual. */
static char *close_up(const char *path)
{
	char *text = xcalloc(strlen(path) + 1, 1), *to = text;

	for (const char *at = path; *at; at++)
		if (*at != ' ' || (at[1] != '<' && (to == text || to[-1] != '<')))
			*to++ = *at;
	return text;
}

/* Those that begin with "function<caller", and end there or go on with "<". */
static void find_path(struct found *f, const struct report *r, const char *path)
{
	char *wanted = close_up(path);
	const size_t n = strlen(wanted);

	for (uint32_t i = 0; i < r->p->n_stacks; i++) {
		char *as_shown = report_path(r, i), *is = close_up(as_shown);

		if (!strncmp(is, wanted, n) && (!is[n] || is[n] == '<'))
			f->stacks[f->n++] = i;
		free(as_shown);
		free(is);
	}
	free(wanted);
}

static struct report_group group_of(const struct report *r, const struct found *f)
{
	struct report_group g = {.name = r->p->stacks[f->stacks[0]].name, .n = f->n};

	for (size_t i = 0; i < f->n; i++) {
		g.calls += r->p->stacks[f->stacks[i]].calls;
		g.excl_ns += r->p->stacks[f->stacks[i]].excl_ns;
	}
	return g;
}

static void balance_of(struct function_time *t, const struct report *r, const struct found *f,
	const struct report_group *g)
{
	const struct digest_imbalance im = digest_imbalance(r, f->stacks, g);

	if (im.name == PROFILE_NONE)
		return;
	t->mean_s = 1e-9 * (double)im.sum_ns / im.members;
	/* of several paths both are bounds */
	t->max_s = fmax(t->mean_s, 1e-9 * (double)im.max_ns);
	t->balance = t->mean_s / t->max_s;
	t->rank_max = im.rank;
	if (im.is_bound)
		return;
	t->min_s = 1e-9 * (double)im.min_ns;
	/* which ranks never call it is not known */
	if (im.ranks >= im.members)
		t->rank_min = im.rank_min;
}

static struct function_time time_of(const struct report *r, const char *name)
{
	struct function_time t = {.time_s = NAN,
		.share = NAN,
		.mean_s = NAN,
		.max_s = NAN,
		.min_s = NAN,
		.balance = NAN,
		.scaling = NAN,
		.rank_max = PROFILE_NONE,
		.rank_min = PROFILE_NONE};
	struct found f = {.stacks = xcalloc(r->p->n_stacks + 1, sizeof(*f.stacks))};
	struct report_group g;

	find_name(&f, r, name);
	if (!f.n && strchr(name, '<'))
		find_path(&f, r, name);
	if (f.n) {
		g = group_of(r, &f);
		t.paths = f.n;
		t.calls = g.calls;
		t.time_s = 1e-9 * (double)g.excl_ns;
		t.share = t.time_s / r->excl_s;
		balance_of(&t, r, &f, &g);
	}
	free(f.stacks);
	return t;
}

/* ---- the runs ---------------------------------------------------------------------------- */

/* 0, 1 or 2, as the exit status of a command on this run alone. */
static int add_run(struct function_runs *all, char *path)
{
	const struct function_list *l = all->request->functions;
	struct function_run *one = &all->at[all->n];
	struct efficiency e;
	struct run run;
	const int status = run_open(&run, &path, 1, all->request->base);

	if (status == 2)
		return status;
	one->path = path;
	one->name = run_short_name(path);
	one->run = scaling_of(&run.r);
	one->run.ranks = one->run.threads = fmax(1.0, report_all_ranks(run.p));
	if (efficiency_of(run.p, &e)) {
		one->run.threads = e.threads;
		one->run.useful_s = e.all_useful_s;
	}
	one->times = xcalloc(l->n_names, sizeof(*one->times));
	for (size_t i = 0; i < l->n_names; i++)
		one->times[i] = time_of(&run.r, l->names[i]);
	all->n++;
	run_close(&run);
	return status;
}

static void scale_times(struct function_runs *all)
{
	struct scaling_run *runs = xcalloc(all->n + 1, sizeof(*runs));
	const struct function_run *reference;

	for (size_t i = 0; i < all->n; i++) {
		runs[i] = all->at[i].run;
		if (runs[i].threads < runs[all->reference].threads)
			all->reference = i;
	}
	all->scaling = (struct scaling){.weak = all->request->weak, .reason = SCALING_BY_OPTION};
	if (!all->request->weak && !all->request->strong)
		all->scaling = scaling_recognise(runs, all->n, all->reference);
	reference = &all->at[all->reference];
	for (size_t i = 0; i < all->n; i++) {
		const double grown =
			all->scaling.weak ? runs[i].threads / reference->run.threads : 1.0;

		for (size_t k = 0; k < all->request->functions->n_names; k++)
			all->at[i].times[k].scaling =
				reference->times[k].time_s / all->at[i].times[k].time_s * grown;
	}
	free(runs);
}

/* False after messages: there is one that no run has. */
static bool are_known(const struct function_runs *all)
{
	const struct function_list *l = all->request->functions;
	bool known = true;

	for (size_t i = 0; i < l->n_names; i++) {
		bool found = false;

		for (size_t k = 0; k < all->n; k++)
			found |= all->at[k].times[i].paths > 0;
		if (!found)
			complain("no run has a function or call path `%s'; vftr show lists them",
				l->names[i]);
		known &= found;
	}
	return known;
}

static void functions_free(struct function_runs *all)
{
	for (size_t i = 0; i < all->n; i++) {
		scaling_done(&all->at[i].run);
		free(all->at[i].name);
		free(all->at[i].times);
	}
	free(all->at);
}

int functions_show(const struct function_request *r, char **paths, size_t n)
{
	struct function_runs all = {.request = r, .at = xcalloc(n, sizeof(*all.at))};
	int status = 0;

	for (size_t i = 0; i < n; i++)
		if (add_run(&all, paths[i]))
			status = 1;
	if (all.n && !are_known(&all))
		status = 1;
	if (all.n > 1)
		scale_times(&all);
	if (!all.n)
		status = 2;
	else if (r->json)
		functions_print_json(&all);
	else if (r->csv)
		functions_print_csv(&all);
	else
		functions_print(&all);
	functions_free(&all);
	return status;
}
