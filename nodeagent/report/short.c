/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/report/short.h"

#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/profile/running-share.h"
#include "nodeagent/report/digest.h"
#include "nodeagent/report/main-loop.h"
#include "nodeagent/report/report.h"

#define SHORT	  5.0  /* hooks: a function whose call takes less is short */
#define NAMES_MAX 5    /* short functions are named at most ... */
#define NAMED	  20   /* ... if one call in 20, or more, is of them */
#define COSTLY	  0.01 /* of the CPU time: hooks that take as much are worth to be left out */
#define OPTION	  "-finstrument-functions-exclude-function-list="
#define LETTERS                                                                                    \
	"abcdefghijklmnopqrstuvwxyz"                                                               \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

ORDER_BY(by_calls, struct report_group, FALLING(calls) ?: RISING(name))

bool short_function_is_counted(
	const struct report *r, const struct report_group *g, const uint32_t *members)
{
	/* what only stack samples have seen has no calls */
	for (size_t i = g->first; i < g->first + g->n; i++)
		if (r->p->stacks[members[i]].estimated && r->p->stacks[members[i]].calls)
			return true;
	return false;
}

double short_running_share(const struct profile_cpu *c, bool threads)
{
	double running, waiting;

	if (!c->wall_ns)
		return 1;
	waiting = (double)c->queued_ns; /* of first threads */
	if (threads)
		running = (double)c->wall_ns > waiting ? (double)c->wall_ns - waiting : 0;
	else
		running = (double)c->ns;
	return running_share(running, waiting);
}

/*
 * Times are those of a clock, and a function whose process had a tenth of a CPU has taken ten times
 * as long: hooks, whose cost is the least of several measurements, have not. Where it was counted,
 * that it was short is why; a mean cost of counted calls says nothing.
 */
static bool is_short(const struct report *r, const struct report_group *g, const uint32_t *members)
{
	double hook_s = report_overhead_s(r, r->p->calls) / (double)r->p->calls / 2;
	double excl_s = 1e-9 * (double)g->excl_ns *
			short_running_share(&r->p->cpu, r->p->threads > r->p->ranks);

	return short_function_is_counted(r, g, members) ||
	       (g->calls && excl_s < SHORT * hook_s * (double)g->calls);
}

/* The part of a readable name that a compiler knows the function by; NULL for C++ and regions. */
static const char *plain_name(const struct report *r, uint32_t name)
{
	const char *shown = r->shown[name], *colon = strrchr(shown, ':');
	const char *last = colon ? colon + 1 : shown;

	if (!strncmp(r->p->names[name], "_Z", 2) || !*last || last[strspn(last, LETTERS)])
		return NULL;
	return last;
}

struct short_functions short_functions(const struct report *r)
{
	struct report_group *groups;
	const uint32_t *members;
	size_t n = report_groups(r, &groups, &members);
	struct short_functions s = {
		.names = xcalloc(n + 1, sizeof(*s.names)),
		.calls = xcalloc(n + 1, sizeof(*s.calls)),
	};

	qsort(groups, n, sizeof(*groups), by_calls);
	for (size_t i = 0; i < n; i++) {
		const struct report_group *g = &groups[i];
		const char *raw = r->p->names[g->name];

		if (digest_part(r, members[g->first]) != DIGEST_COMPUTING || strchr(raw, '@') ||
			!is_short(r, g, members))
			continue;
		s.names[s.n] = g->name;
		s.calls[s.n++] = g->calls;
		s.all_calls += g->calls;
		s.has_cxx |= !strncmp(raw, "_Z", 2);
	}
	free(groups);
	return s;
}

void short_functions_free(struct short_functions *s)
{
	free(s->names);
	free(s->calls);
}

static double cpu_s(const struct report *r)
{
	return r->p->cpu.wall_ns ? 1e-9 * (double)r->p->cpu.ns : r->excl_s;
}

/* Clears those of leaves[], by group, that call others than these; true if there were some. */
static bool clear_callers(const struct report *r, bool *leaves)
{
	bool any = false;

	for (uint32_t i = 0; i < r->p->n_stacks; i++) {
		const uint32_t parent = r->parent[i];
		uint32_t caller;

		if (parent == PROFILE_NONE || leaves[r->group[r->p->stacks[i].name]])
			continue;
		caller = r->group[r->p->stacks[parent].name];
		any |= leaves[caller];
		leaves[caller] = false;
	}
	return any;
}

void short_functions_keep_costly(const struct report *r, struct short_functions *s)
{
	bool *leaves = xcalloc(r->n_groups + 1, sizeof(*leaves));
	const struct short_functions all = *s;
	struct main_loop loop;

	for (size_t i = 0; i < s->n; i++)
		leaves[r->group[s->names[i]]] =
			report_overhead_s(r, s->calls[i]) >= COSTLY * cpu_s(r);
	if (main_loop_of(r->p, &loop)) {
		leaves[r->group[r->p->stacks[loop.stack].name]] = false;
		main_loop_done(&loop);
	}
	while (clear_callers(r, leaves))
		;
	s->n = 0;
	s->all_calls = 0;
	s->has_cxx = false;
	for (size_t i = 0; i < all.n; i++) {
		if (!leaves[r->group[all.names[i]]])
			continue;
		s->names[s->n] = all.names[i];
		s->calls[s->n++] = all.calls[i];
		s->all_calls += all.calls[i];
		s->has_cxx |= !strncmp(r->p->names[all.names[i]], "_Z", 2);
	}
	free(leaves);
}

void short_functions_option(
	FILE *f, const struct report *r, const struct short_functions *s, size_t most)
{
	const char *before = OPTION;

	for (size_t i = 0; i < s->n && i < most; i++) {
		const char *name = plain_name(r, s->names[i]);

		if (!name)
			continue;
		fprintf(f, "%s%s", before, name);
		before = ",";
	}
}

char *short_functions_option_text(
	const struct report *r, const struct short_functions *s, size_t most)
{
	char *text;
	size_t bytes;
	FILE *f = memory_begin(&text, &bytes);

	short_functions_option(f, r, s, most);
	memory_end(f);
	return text;
}

size_t short_functions_named(const struct report *r, const struct short_functions *s)
{
	size_t n = 0;

	while (n < s->n && n < NAMES_MAX && s->calls[n] >= r->p->calls / NAMED)
		n++;
	return n;
}

/* Names of C++ as gcc shows them, but for template arguments, which a name here has not. */
char *short_function_word(const struct report *r, uint32_t name)
{
	const char *plain = plain_name(r, name), *last;
	char *shown, *full;
	size_t bytes;

	if (plain)
		return xstrdup(plain);
	full = report_full_name(r, r->p->names[name]);
	if (!full)
		return NULL;
	bytes = strcspn(r->shown[name], " "); /* "f #2" */
	shown = xasprintf("%.*s", (int)bytes, r->shown[name]);
	last = strrchr(shown, ':');
	last = last ? last + 1 : shown;
	if (!*last || last[strspn(last, LETTERS)]) {
		free(shown);
		shown = NULL;
	} else if (!strstr(full, shown) && last > shown) {
		char *end = xasprintf("::%s", last);

		free(shown);
		shown = end;
	}
	free(full);
	return shown;
}
