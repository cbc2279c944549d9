/* SPDX-License-Identifier: BSD-3-Clause */
/* Making, checking and walking profiles. Paths may be thousands of frames deep: no recursion. */
#include "nodeagent/profile/profile.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/profile/schema.h"
#include "nodeagent/base/util.h"

#define PROGRAMS_WARNING "several programs ran: "
#define PROGRAMS_SHOWN	 16

struct profile *profile_new(void)
{
	return xcalloc(1, sizeof(struct profile));
}

void profile_free(struct profile *p)
{
	if (!p)
		return;
	profile_lists_free(p);
	free(p);
}

void profile_drop_processes(struct profile *p)
{
	profile_drop_list(p, PROFILE_PROCESSES);
	profile_drop_threads(p);
}

void profile_drop_threads(struct profile *p)
{
	profile_drop_list(p, PROFILE_EACH);
	profile_drop_list(p, PROFILE_THREAD_STACKS);
	profile_drop_list(p, PROFILE_THREAD_COUNTS);
	profile_drop_list(p, PROFILE_OPENMP_THREADS);
}

struct profile *profile_copy(const struct profile *p)
{
	struct profile *c = profile_new();

	*c = *p;
	c->places = NULL;
	profile_lists_copy(c);
	return c;
}

static void drop_programs_warning(struct profile *p)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->n_warnings; i++) {
		if (strncmp(p->warnings[i], PROGRAMS_WARNING, strlen(PROGRAMS_WARNING)))
			p->warnings[kept++] = p->warnings[i];
		else
			free(p->warnings[i]);
	}
	p->n_warnings = kept;
}

/* Stands first among the warnings and is made anew, so that merging in any order gives one text. */
void profile_warn_programs(struct profile *p)
{
	char *text = NULL;
	size_t bytes;
	FILE *f;

	drop_programs_warning(p);
	if (p->n_executables < 2)
		return;
	f = memory_begin(&text, &bytes);
	fputs(PROGRAMS_WARNING, f);
	for (size_t i = 0; i < p->n_executables && i < PROGRAMS_SHOWN; i++)
		fprintf(f, "%s%s", i ? ", " : "", p->executables[i]);
	if (p->n_executables > PROGRAMS_SHOWN)
		fprintf(f, " and %zu more", p->n_executables - PROGRAMS_SHOWN);
	memory_end(f);
	p->warnings = xrealloc(p->warnings, (p->n_warnings + 1) * sizeof(*p->warnings));
	memmove(p->warnings + 1, p->warnings, p->n_warnings * sizeof(*p->warnings));
	p->warnings[0] = text;
	p->n_warnings++;
}

void profile_add_executable(struct profile *p, const char *path)
{
	size_t at = 0;

	if (!p->executable)
		p->executable = xstrdup(path);
	if (!p->application)
		p->application = xstrdup(basename(path));
	while (at < p->n_executables && strcmp(p->executables[at], path) < 0)
		at++;
	if (at < p->n_executables && !strcmp(p->executables[at], path))
		return;
	p->executables = xrealloc(p->executables, (p->n_executables + 1) * sizeof(char *));
	memmove(p->executables + at + 1, p->executables + at,
		(p->n_executables - at) * sizeof(char *));
	p->executables[at] = xstrdup(path);
	p->n_executables++;
	profile_warn_programs(p);
}

void profile_warn(struct profile *p, const char *fmt, ...)
{
	va_list args;
	char *text;
	int n;

	va_start(args, fmt);
	n = vasprintf(&text, fmt, args);
	va_end(args);
	if (n < 0)
		die(125, "out of memory");
	for (size_t i = 0; i < p->n_warnings; i++) {
		if (!strcmp(p->warnings[i], text)) {
			free(text);
			return;
		}
	}
	p->warnings = xrealloc(p->warnings, (p->n_warnings + 1) * sizeof(*p->warnings));
	p->warnings[p->n_warnings++] = text;
}

int profile_stack_cmp(const struct profile *a, uint32_t i, const struct profile *b, uint32_t j)
{
	if (a->stacks[i].hash != b->stacks[j].hash)
		return a->stacks[i].hash < b->stacks[j].hash ? -1 : 1;
	while (i != PROFILE_NONE && j != PROFILE_NONE) {
		const struct profile_stack *s = &a->stacks[i], *t = &b->stacks[j];
		int order;

		if (a == b && i == j)
			return 0;
		if (a != b || s->name != t->name) {
			order = strcmp(a->names[s->name], b->names[t->name]);
			if (order)
				return order;
		}
		i = s->parent;
		j = t->parent;
	}
	return (i != PROFILE_NONE) - (j != PROFILE_NONE);
}

/* Whether every stack reaches the root; each stack is walked over once. */
static bool rooted(const struct profile *p)
{
	enum { UNSEEN, ON_THE_WAY, ROOTED };
	unsigned char *state = xcalloc(p->n_stacks, 1);
	bool ok = true;

	for (uint32_t i = 0; ok && i < p->n_stacks; i++) {
		uint32_t at = i;

		for (; at != PROFILE_NONE && state[at] == UNSEEN; at = p->stacks[at].parent)
			state[at] = ON_THE_WAY;
		ok = at == PROFILE_NONE || state[at] == ROOTED;
		for (at = i; ok && at != PROFILE_NONE && state[at] == ON_THE_WAY;
			at = p->stacks[at].parent)
			state[at] = ROOTED;
	}
	free(state);
	return ok;
}

/* NULL, or what is wrong with a stack, whatever the others are. */
static const char *stack_fault(const struct profile *p, const struct profile_stack *s)
{
	if (s->name >= p->n_names)
		return "a stack's name is not in the list of names";
	if (s->parent != PROFILE_NONE && s->parent >= p->n_stacks)
		return "a stack's parent is not in the profile";
	if (s->parent == PROFILE_NONE && strcmp(p->names[s->name], "init"))
		return "the root is not named init";
	if (s->excl_ns > s->incl_ns)
		return "a stack's exclusive time exceeds its inclusive time";
	return NULL;
}

/* NULL, or why the stacks are not in the order of profile_stack_cmp(), each once. */
static const char *order_fault(const struct profile *p)
{
	for (size_t i = 1; i < p->n_stacks; i++) {
		const int order = profile_stack_cmp(p, i - 1, p, i);

		if (order == 0)
			return "two stacks have the same path";
		if (order > 0)
			return "the stacks are not sorted";
	}
	return NULL;
}

const char *profile_valid(const struct profile *p)
{
	const char *fault;
	size_t roots = 0;

	if (p->n_stacks >= PROFILE_NONE || p->n_names >= PROFILE_NONE)
		return "more stacks or names than can be numbered";
	if (p->application && strchr(p->application, '/'))
		return "the application's name is a path";
	for (size_t i = 0; i < p->n_names; i++)
		if (!p->names[i])
			return "a name is missing";
	for (size_t i = 0; i < p->n_stacks; i++) {
		fault = stack_fault(p, &p->stacks[i]);
		if (fault)
			return fault;
		roots += p->stacks[i].parent == PROFILE_NONE;
	}
	if (p->n_stacks && roots != 1)
		return "there is not exactly one root";
	if (!rooted(p))
		return "a stack is its own caller";
	fault = order_fault(p);
	return fault ? fault : profile_lists_valid(p);
}

/* Unranked processes come last; a helper of a rank has called no MPI. */
uint32_t profile_other_ranks(const struct profile *p)
{
	const struct profile_rank_time *t = p->rank_times;
	uint32_t n = 0;

	for (size_t i = p->n_rank_times; p->world_size && i && t[i - 1].rank >= PROFILE_UNRANKED;
		i--)
		n += t[i - 1].flags & RANK_HAS_MPI ? 1 + t[i - 1].others : 0;
	return n;
}
