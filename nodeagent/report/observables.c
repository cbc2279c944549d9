/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/report/observables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "conf/conf.h"
#include "nodeagent/report/formula.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/base/util.h"

#define OWN_SYMBOLS 2 /* T and CALLS, behind those of the counters */

/* P5: sorted by stack. */
static uint32_t *index_counts(const struct profile *p)
{
	uint32_t *first = xcalloc(p->n_stacks + 1, sizeof(*first));
	size_t k = 0;

	for (size_t i = 0; i <= p->n_stacks; i++) {
		while (k < p->n_counts && p->counts[k].stack < i)
			k++;
		first[i] = (uint32_t)k;
	}
	return first;
}

static char **symbols_of(const struct profile *p)
{
	char **symbol = xcalloc(p->n_counters + OWN_SYMBOLS, sizeof(*symbol));

	for (size_t i = 0; i < p->n_counters; i++) {
		const char *name = p->counters[i].name;

		symbol[i] = xasprintf("%.*s", (int)strcspn(name, " "), name);
	}
	symbol[p->n_counters] = xstrdup("T");
	symbol[p->n_counters + 1] = xstrdup("CALLS");
	return symbol;
}

struct hwprof *hwprof_new(const struct profile *p, const struct conf *c)
{
	const struct conf_list *o = &c->hwprof_observables;
	struct hwprof *h;

	if (!c->hwprof_active || (!p->n_counters && !o->n))
		return NULL;
	h = xcalloc(1, sizeof(*h));
	h->p = p;
	h->c = c;
	h->first = index_counts(p);
	h->symbol = symbols_of(p);
	h->n_symbols = p->n_counters + OWN_SYMBOLS;
	h->value = xcalloc(h->n_symbols, sizeof(*h->value));
	h->f = xcalloc(o->n + 1, sizeof(*h->f));
	for (size_t i = 0; i < o->n; i++) {
		char *error;

		h->f[i] = formula_new(o->observables[i].formula, (const char *const *)h->symbol,
			h->n_symbols, &error);
		free(error);
	}
	return h;
}

void hwprof_free(struct hwprof *h)
{
	if (!h)
		return;
	for (size_t i = 0; i < h->c->hwprof_observables.n; i++)
		formula_free(h->f[i]);
	for (size_t i = 0; i < h->n_symbols; i++)
		free(h->symbol[i]);
	free(h->first);
	free(h->symbol);
	free(h->f);
	free(h->value);
	free(h);
}

int hwprof_check(const struct conf *c, char **error)
{
	const struct conf_list *k = &c->hwprof_counters;
	const struct conf_list *o = &c->hwprof_observables;
	const char **name = xcalloc(k->n + OWN_SYMBOLS, sizeof(*name));
	const int line = c->line[CONF_ID_hwprof_observables];
	char *place = c->file && line ? xasprintf("%s:%d: ", c->file, line) : xstrdup("");

	*error = NULL;
	for (size_t i = 0; i < k->n; i++)
		name[i] = k->counters[i].symbol;
	name[k->n] = "T";
	name[k->n + 1] = "CALLS";
	for (size_t i = 0; i < o->n && !*error; i++) {
		char *why;

		formula_free(
			formula_new(o->observables[i].formula, name, k->n + OWN_SYMBOLS, &why));
		if (why)
			*error = xasprintf("%shwprof.observables: element %zu: formula: \"%s\": %s",
				place, i + 1, o->observables[i].formula, why);
		free(why);
	}
	free(place);
	free(name);
	return *error ? -1 : 0;
}

uint64_t hwprof_count(const struct hwprof *h, size_t counter, uint32_t stack)
{
	const struct profile *p = h->p;
	size_t from = stack == PROFILE_NONE ? 0 : h->first[stack];
	size_t to = stack == PROFILE_NONE ? p->n_counts : h->first[stack + 1];
	uint64_t sum = 0;

	for (size_t i = from; i < to; i++)
		if (p->counts[i].counter == p->counters[counter].number)
			sum += p->counts[i].value;
	return sum;
}

double hwprof_formula(const struct hwprof *h, size_t observable, const uint64_t *values,
	uint64_t excl_ns, uint64_t calls)
{
	size_t n = h->p->n_counters;

	if (!h->f[observable])
		return NAN;
	for (size_t i = 0; i < n; i++)
		h->value[i] = (double)values[i];
	h->value[n] = (double)excl_ns * 1e-9;
	h->value[n + 1] = (double)calls;
	return formula_value(h->f[observable], h->value);
}

double hwprof_observable(const struct hwprof *h, size_t observable, uint32_t stack)
{
	const struct profile *p = h->p;
	uint64_t *values = xmalloc(p->n_counters * sizeof(*values) + 1), excl_ns = 0, calls = 0;
	bool all = stack == PROFILE_NONE;
	double result;

	for (size_t i = 0; i < p->n_counters; i++)
		values[i] = hwprof_count(h, i, stack);
	for (size_t i = all ? 0 : stack; i < (all ? p->n_stacks : stack + (size_t)1); i++) {
		excl_ns += p->stacks[i].excl_ns;
		calls += p->stacks[i].calls;
	}
	result = hwprof_formula(h, observable, values, excl_ns, calls);
	free(values);
	return result;
}

/* P5: sorted by thread, then stack. */
void hwprof_thread(const struct hwprof *h, uint32_t thread, uint32_t stack, uint64_t *values)
{
	const struct profile *p = h->p;
	const struct profile_thread_count *all = p->thread_counts;
	size_t from = LOWER_BOUND(i, 0, p->n_thread_counts,
		all[i].thread < thread || (all[i].thread == thread && all[i].stack < stack));

	memset(values, 0, p->n_counters * sizeof(*values));
	for (; from < p->n_thread_counts; from++) {
		const struct profile_thread_count *c = &p->thread_counts[from];

		if (c->thread != thread || c->stack != stack)
			break;
		for (size_t i = 0; i < p->n_counters; i++)
			if (p->counters[i].number == c->counter)
				values[i] += c->value;
	}
}

const char *hwprof_type(const struct conf *c)
{
	static const char *const types[][2] = {
		{"dummy", "Dummy"},
		{"papi", "PAPI"},
		{"perf", "Perf"},
		{"likwid", "Likwid"},
		{"ve", "VEPERF"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (!strcmp(types[i][0], c->hwprof_type))
			return types[i][1];
	return "None";
}

const char *hwprof_name(const struct hwprof *h, size_t counter)
{
	const char *name = h->p->counters[counter].name;

	name += strcspn(name, " ");
	return *name ? name + 1 : name;
}

struct place {
	double value;
	uint32_t stack;
};

ORDER_BY(by_value, struct place, FALLING(value) ?: RISING(stack))

uint32_t *hwprof_sort(const struct hwprof *h)
{
	size_t n = h->p->n_stacks, column = (size_t)h->c->hwprof_sort_by_column;
	struct place *rank_ranges = xcalloc(n, sizeof(*rank_ranges));
	uint32_t *order = xmalloc(n * sizeof(*order) + 1);

	for (size_t i = 0; i < n; i++) {
		double value = 0;

		if (column < h->c->hwprof_observables.n)
			value = hwprof_observable(h, column, (uint32_t)i);
		else if (column < h->p->n_counters)
			value = (double)hwprof_count(h, column, (uint32_t)i);
		rank_ranges[i] = (struct place){isnan(value) ? -INFINITY : value, (uint32_t)i};
	}
	if (n)
		qsort(rank_ranges, n, sizeof(*rank_ranges), by_value);
	for (size_t i = 0; i < n; i++)
		order[i] = rank_ranges[i].stack;
	free(rank_ranges);
	return order;
}
