/* SPDX-License-Identifier: BSD-3-Clause */
/* Making, checking and walking profiles. Paths may be thousands of frames deep: no recursion. */
#include "nodeagent/profile.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/profile-mpi.h"
#include "nodeagent/util.h"

#define PROGRAMS_WARNING "several programs ran: "
#define PROGRAMS_SHOWN	 16

struct profile *profile_new(void)
{
	return xcalloc(1, sizeof(struct profile));
}

static void strings_free(char **at, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(at[i]);
	free(at);
}

static void processes_free(struct profile_process *at, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(at[i].executable);
		free(at[i].quarantined);
	}
	free(at);
}

static void each_free(struct profile *p)
{
	for (size_t i = 0; i < p->n_each; i++)
		free(p->each[i].name);
	free(p->each);
	for (size_t i = 0; i < p->n_openmp_threads; i++)
		free(p->openmp_threads[i].threads);
	free(p->openmp_threads);
	free(p->thread_stacks);
	free(p->thread_counts);
}

void profile_free(struct profile *p)
{
	if (!p)
		return;
	free(p->application);
	free(p->executable);
	strings_free(p->executables, p->n_executables);
	strings_free(p->names, p->n_names);
	strings_free(p->warnings, p->n_warnings);
	free(p->stacks);
	for (size_t i = 0; i < p->n_agents; i++) {
		free(p->agents[i].host);
		free(p->agents[i].place);
	}
	free(p->agents);
	processes_free(p->dead, p->n_dead);
	processes_free(p->processes, p->n_processes);
	each_free(p);
	profile_mpi_free(p);
	free(p);
}

void profile_drop_processes(struct profile *p)
{
	processes_free(p->processes, p->n_processes);
	p->processes = NULL;
	p->n_processes = 0;
	each_free(p);
	p->each = NULL;
	p->thread_stacks = NULL;
	p->thread_counts = NULL;
	p->openmp_threads = NULL;
	p->n_each = p->n_thread_stacks = p->n_thread_counts = p->n_openmp_threads = 0;
}

static char *dup_or_null(const char *s)
{
	return s ? xstrdup(s) : NULL;
}

static char **strings_copy(char **from, size_t n)
{
	char **to = xcalloc(n, sizeof(*to));

	for (size_t i = 0; i < n; i++)
		to[i] = xstrdup(from[i]);
	return to;
}

static void *array_copy(const void *from, size_t n, size_t bytes)
{
	void *to = xcalloc(n, bytes);

	if (n)
		memcpy(to, from, n * bytes);
	return to;
}

static struct profile_process *processes_copy(const struct profile_process *from, size_t n)
{
	struct profile_process *to = array_copy(from, n, sizeof(*to));

	for (size_t i = 0; i < n; i++) {
		to[i].executable = dup_or_null(from[i].executable);
		to[i].quarantined = dup_or_null(from[i].quarantined);
	}
	return to;
}

struct profile *profile_copy(const struct profile *p)
{
	struct profile *c = array_copy(p, 1, sizeof(*c));

	c->application = dup_or_null(p->application);
	c->executable = dup_or_null(p->executable);
	c->executables = strings_copy(p->executables, p->n_executables);
	c->names = strings_copy(p->names, p->n_names);
	c->warnings = strings_copy(p->warnings, p->n_warnings);
	c->stacks = array_copy(p->stacks, p->n_stacks, sizeof(*c->stacks));
	c->agents = array_copy(p->agents, p->n_agents, sizeof(*c->agents));
	for (size_t i = 0; i < p->n_agents; i++) {
		c->agents[i].host = dup_or_null(p->agents[i].host);
		c->agents[i].place = dup_or_null(p->agents[i].place);
	}
	c->dead = processes_copy(p->dead, p->n_dead);
	c->processes = processes_copy(p->processes, p->n_processes);
	c->each = array_copy(p->each, p->n_each, sizeof(*c->each));
	for (size_t i = 0; i < p->n_each; i++)
		c->each[i].name = dup_or_null(p->each[i].name);
	c->thread_stacks =
		array_copy(p->thread_stacks, p->n_thread_stacks, sizeof(*c->thread_stacks));
	c->thread_counts =
		array_copy(p->thread_counts, p->n_thread_counts, sizeof(*c->thread_counts));
	c->openmp_threads =
		array_copy(p->openmp_threads, p->n_openmp_threads, sizeof(*c->openmp_threads));
	for (size_t i = 0; i < p->n_openmp_threads; i++)
		c->openmp_threads[i].threads = dup_or_null(p->openmp_threads[i].threads);
	profile_mpi_copy(c);
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
	f = open_memstream(&text, &bytes);
	if (!f)
		die(125, "out of memory");
	fputs(PROGRAMS_WARNING, f);
	for (size_t i = 0; i < p->n_executables && i < PROGRAMS_SHOWN; i++)
		fprintf(f, "%s%s", i ? ", " : "", p->executables[i]);
	if (p->n_executables > PROGRAMS_SHOWN)
		fprintf(f, " and %zu more", p->n_executables - PROGRAMS_SHOWN);
	if (fclose(f))
		die(125, "out of memory");
	p->warnings = xrealloc(p->warnings, (p->n_warnings + 1) * sizeof(*p->warnings));
	memmove(p->warnings + 1, p->warnings, p->n_warnings * sizeof(*p->warnings));
	p->warnings[0] = text;
	p->n_warnings++;
}

void profile_add_executable(struct profile *p, const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t at = 0;

	if (!p->executable)
		p->executable = xstrdup(path);
	if (!p->application)
		p->application = xstrdup(slash ? slash + 1 : path);
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

char *profile_path(const struct profile *p, uint32_t stack)
{
	size_t n = 0, cap = 256;
	char *text = xmalloc(cap);

	for (; stack != PROFILE_NONE; stack = p->stacks[stack].parent) {
		const char *name = p->names[p->stacks[stack].name];
		size_t bytes = strlen(name);

		if (n + bytes + 2 > cap) {
			cap = 2 * (n + bytes + 2);
			text = xrealloc(text, cap);
		}
		if (n)
			text[n++] = '<';
		memcpy(text + n, name, bytes);
		n += bytes;
	}
	text[n] = '\0';
	return text;
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

const char *profile_valid(const struct profile *p)
{
	size_t roots = 0;

	if (p->n_stacks >= PROFILE_NONE || p->n_names >= PROFILE_NONE)
		return "more stacks or names than can be numbered";
	if (p->application && strchr(p->application, '/'))
		return "the application's name is a path";
	for (size_t i = 0; i < p->n_names; i++) {
		if (!p->names[i])
			return "a name is missing";
	}
	for (size_t i = 0; i < p->n_stacks; i++) {
		const struct profile_stack *s = &p->stacks[i];

		if (s->name >= p->n_names)
			return "a stack's name is not in the list of names";
		if (s->parent != PROFILE_NONE && s->parent >= p->n_stacks)
			return "P2: a stack's parent is not in the profile";
		if (s->parent == PROFILE_NONE) {
			roots++;
			if (strcmp(p->names[s->name], "init"))
				return "P2: the root is not named init";
		}
		if (s->excl_ns > s->incl_ns)
			return "P4: a stack's exclusive time exceeds its inclusive time";
	}
	if (p->n_stacks && roots != 1)
		return "P2: there is not exactly one root";
	if (!rooted(p))
		return "P2: a stack is its own caller";
	for (size_t i = 1; i < p->n_stacks; i++) {
		int order = profile_stack_cmp(p, i - 1, p, i);

		if (order == 0)
			return "P3: two stacks have the same path";
		if (order > 0)
			return "P1: the stacks are not sorted";
	}
	for (size_t i = 0; i < p->n_agents; i++) {
		if (!p->agents[i].host)
			return "an agent has no host";
	}
	for (size_t i = 0; i < p->n_thread_stacks; i++) {
		const struct profile_thread_stack *s = &p->thread_stacks[i];

		if (s->thread >= p->n_each || s->stack >= p->n_stacks ||
			(i && s->thread < s[-1].thread))
			return "a thread or its stack is not in the profile";
	}
	for (size_t i = 0; i < p->n_thread_counts; i++) {
		const struct profile_thread_count *c = &p->thread_counts[i];

		if (c->thread >= p->n_each || (i && c->thread < c[-1].thread) ||
			(c->stack >= p->n_stacks && c->stack != PROFILE_NONE))
			return "a counter of a thread that is not in the profile";
	}
	for (size_t i = 0; i < p->n_openmp_threads; i++) {
		const struct profile_openmp_thread *t = &p->openmp_threads[i];

		if (!t->threads || (t->parent != PROFILE_NONE && t->parent >= i))
			return "a place in the tree of OpenMP threads comes before its parent";
	}
	return profile_mpi_valid(p);
}
