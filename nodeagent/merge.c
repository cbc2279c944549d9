/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two sorted lists of stacks become one, as in a merge sort. Parents are
 * renumbered by two maps old -> new; names are put into one list in the order
 * in which the stacks first use them, whatever the order was before.
 */
#include "nodeagent/merge.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/compare.h"
#include "nodeagent/profile-mpi.h"
#include "nodeagent/profile.h"
#include "nodeagent/util.h"

/* A set of strings that numbers them from 0. */
struct string_set {
	char **at;
	size_t n;
	uint32_t *slot; /* number + 1, or 0 */
	size_t mask;
};

static void set_init(struct string_set *s, size_t most)
{
	size_t slots = 16;

	while (slots < 2 * most)
		slots *= 2;
	s->at = xcalloc(most, sizeof(*s->at));
	s->n = 0;
	s->slot = xcalloc(slots, sizeof(*s->slot));
	s->mask = slots - 1;
}

/* Takes over text, or frees it if the set has it. */
static uint32_t set_add(struct string_set *s, char *text)
{
	uint64_t h = 0xcbf29ce484222325u;
	size_t i;

	for (const char *c = text; *c; c++)
		h = (h ^ (unsigned char)*c) * 0x100000001b3u;
	for (i = (h ^ h >> 32) & s->mask; s->slot[i]; i = (i + 1) & s->mask) {
		if (!strcmp(s->at[s->slot[i] - 1], text)) {
			free(text);
			return s->slot[i] - 1;
		}
	}
	s->at[s->n] = text;
	s->slot[i] = ++s->n;
	return s->n - 1;
}

static uint32_t *set_add_all(struct string_set *s, char **texts, size_t n)
{
	uint32_t *number = xcalloc(n, sizeof(*number));

	for (size_t i = 0; i < n; i++)
		number[i] = set_add(s, texts[i]);
	return number;
}

/* One of the two profiles, while its stacks are read. */
struct side {
	struct profile_stack *stacks; /* names renumbered to those of the set */
	uint32_t n;
	uint32_t *place; /* of each stack in the result */
};

static void side_init(struct side *s, struct profile *p, struct string_set *names)
{
	uint32_t *number = set_add_all(names, p->names, p->n_names);

	s->stacks = p->stacks;
	s->n = p->n_stacks;
	s->place = xcalloc(s->n, sizeof(*s->place));
	for (uint32_t i = 0; i < s->n; i++)
		s->stacks[i].name = number[s->stacks[i].name];
	free(number);
	free(p->names);
	p->names = NULL;
	p->n_names = 0;
}

/*
 * Order of two stacks of equal hash. What was once found equal is remembered
 * in twin[] (of a's stacks: place in b), so that all comparisons together walk
 * over each stack once.
 */
static int path_cmp(const struct side *a, uint32_t i, const struct side *b, uint32_t j,
	uint32_t *twin, char **names)
{
	uint32_t x = i, y = j;

	while (x != PROFILE_NONE && y != PROFILE_NONE && twin[x] != y) {
		uint32_t s = a->stacks[x].name, t = b->stacks[y].name;

		if (s != t)
			return strcmp(names[s], names[t]);
		x = a->stacks[x].parent;
		y = b->stacks[y].parent;
	}
	if ((x == PROFILE_NONE) != (y == PROFILE_NONE))
		return x == PROFILE_NONE ? -1 : 1;
	for (x = i, y = j; x != PROFILE_NONE && twin[x] != y;
		x = a->stacks[x].parent, y = b->stacks[y].parent)
		twin[x] = y;
	return 0;
}

static void add_numbers(struct profile_stack *to, const struct profile_stack *from)
{
	if (from->ranks &&
		(!to->ranks || from->excl_min_ns < to->excl_min_ns ||
			(from->excl_min_ns == to->excl_min_ns && from->rank_min < to->rank_min))) {
		to->excl_min_ns = from->excl_min_ns;
		to->rank_min = from->rank_min;
	}
	if (from->ranks &&
		(!to->ranks || from->excl_max_ns > to->excl_max_ns ||
			(from->excl_max_ns == to->excl_max_ns && from->rank_max < to->rank_max))) {
		to->excl_max_ns = from->excl_max_ns;
		to->rank_max = from->rank_max;
	}
	to->ranks += from->ranks;
	to->calls += from->calls;
	to->lost_calls += from->lost_calls;
	to->incl_ns += from->incl_ns;
	to->excl_ns += from->excl_ns;
	to->excl_sumsq_ns2 += from->excl_sumsq_ns2;
	to->estimated |= from->estimated;
}

static void take(struct profile_stack *out, struct side *s, uint32_t i, uint32_t place)
{
	out[place] = s->stacks[i];
	if (out[place].parent != PROFILE_NONE)
		out[place].parent = s->place[out[place].parent];
}

/* Places first, then records: a parent may come after its child. */
static void merge_stacks(struct profile *to, struct side *a, struct side *b, char **names)
{
	uint32_t *twin = xmalloc(a->n * sizeof(*twin) + 1);
	struct profile_stack *out;
	uint32_t i = 0, j = 0, n = 0;

	memset(twin, 0xff, a->n * sizeof(*twin));
	while (i < a->n || j < b->n) {
		int order;

		if (i == a->n || j == b->n)
			order = i == a->n ? 1 : -1;
		else if (a->stacks[i].hash != b->stacks[j].hash)
			order = a->stacks[i].hash < b->stacks[j].hash ? -1 : 1;
		else
			order = path_cmp(a, i, b, j, twin, names);
		if (order <= 0)
			a->place[i++] = n;
		if (order >= 0)
			b->place[j++] = n;
		n++;
	}
	free(twin);
	out = xcalloc(n, sizeof(*out));
	for (i = 0; i < a->n; i++)
		take(out, a, i, a->place[i]);
	for (i = j = 0; j < b->n; j++) {
		while (i < a->n && a->place[i] < b->place[j])
			i++;
		if (i < a->n && a->place[i] == b->place[j])
			add_numbers(&out[b->place[j]], &b->stacks[j]);
		else
			take(out, b, j, b->place[j]);
	}
	free(a->stacks);
	free(b->stacks);
	to->stacks = out;
	to->n_stacks = n;
}

/* Numbers the names anew as the stacks use them, and drops the others. */
static void settle_names(struct profile *p, struct string_set *all)
{
	uint32_t *number = xmalloc(all->n * sizeof(*number) + 1);
	char **names = xcalloc(all->n, sizeof(*names));
	uint32_t n = 0;

	memset(number, 0xff, all->n * sizeof(*number));
	for (size_t i = 0; i < p->n_stacks; i++) {
		uint32_t *to = &number[p->stacks[i].name];

		if (*to == UINT32_MAX) {
			*to = n;
			names[n++] = all->at[p->stacks[i].name];
		}
		p->stacks[i].name = *to;
	}
	for (size_t i = 0; i < all->n; i++) {
		if (number[i] == UINT32_MAX)
			free(all->at[i]);
	}
	free(number);
	free(all->at);
	free(all->slot);
	p->names = names;
	p->n_names = n;
}

static void shift_unranked(struct profile *p, uint32_t by)
{
	for (size_t i = 0; i < p->n_stacks; i++) {
		struct profile_stack *s = &p->stacks[i];

		if (s->rank_min >= PROFILE_UNRANKED)
			s->rank_min += by;
		if (s->rank_max >= PROFILE_UNRANKED)
			s->rank_max += by;
	}
	for (size_t i = 0; i < p->n_dead; i++) {
		if (p->dead[i].rank >= PROFILE_UNRANKED)
			p->dead[i].rank += by;
	}
	profile_mpi_shift(p, by);
}

static int text_cmp(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int agent_cmp(const void *x, const void *y)
{
	const struct profile_agent *a = x, *b = y;
	int order = text_cmp(a->host, b->host);

	if (order)
		return order;
	COMPARE(a->missing, b->missing);
	COMPARE(a->processes, b->processes);
	COMPARE(a->records, b->records);
	COMPARE(a->drained_bytes, b->drained_bytes);
	COMPARE(a->wakeups, b->wakeups);
	COMPARE(a->cpu_s, b->cpu_s);
	COMPARE(a->wall_s, b->wall_s);
	return text_cmp(a->place, b->place);
}

static int process_cmp(const void *x, const void *y)
{
	const struct profile_process *a = x, *b = y;
	int order;

	COMPARE(a->rank, b->rank);
	COMPARE(a->pid, b->pid);
	COMPARE(a->parent_pid, b->parent_pid);
	COMPARE(a->runtime_s, b->runtime_s);
	COMPARE(a->records, b->records);
	COMPARE(a->calls, b->calls);
	order = text_cmp(a->executable, b->executable);
	return order ? order : text_cmp(a->quarantined, b->quarantined);
}

void profile_sort(struct profile *p)
{
	if (p->n_agents)
		qsort(p->agents, p->n_agents, sizeof(*p->agents), agent_cmp);
	if (p->n_dead)
		qsort(p->dead, p->n_dead, sizeof(*p->dead), process_cmp);
}

/* Appends from[] to *to[], and frees from; what they point to moves along. */
static void append(void **to, size_t *n, void *from, size_t more, size_t bytes)
{
	if (more) {
		*to = xrealloc(*to, (*n + more) * bytes);
		memcpy((char *)*to + *n * bytes, from, more * bytes);
		*n += more;
	}
	free(from);
}

static void merge_lists(struct profile *a, struct profile *b)
{
	struct string_set warnings;

	append((void **)&a->agents, &a->n_agents, b->agents, b->n_agents, sizeof(*a->agents));
	append((void **)&a->dead, &a->n_dead, b->dead, b->n_dead, sizeof(*a->dead));
	b->agents = NULL;
	b->dead = NULL;
	b->n_agents = b->n_dead = 0;
	profile_sort(a);

	set_init(&warnings, a->n_warnings + b->n_warnings);
	free(set_add_all(&warnings, a->warnings, a->n_warnings));
	free(set_add_all(&warnings, b->warnings, b->n_warnings));
	free(warnings.slot);
	free(a->warnings);
	free(b->warnings);
	a->warnings = warnings.at;
	a->n_warnings = warnings.n;
	b->warnings = NULL;
	b->n_warnings = 0;
}

static void move_text(char **to, char **from)
{
	if (!*to) {
		*to = *from;
		*from = NULL;
	}
}

static void merge_job(struct profile *a, struct profile *b)
{
	if (a->executable)
		profile_add_executable(a, a->executable);
	if (b->executable)
		profile_add_executable(b, b->executable);
	move_text(&a->application, &b->application);
	move_text(&a->executable, &b->executable);
	for (size_t i = 0; i < b->n_executables; i++)
		profile_add_executable(a, b->executables[i]);

	if (b->begin_known && (!a->begin_known || b->begin_ns < a->begin_ns)) {
		a->begin_known = true;
		a->begin_ns = b->begin_ns;
	}
	if (!a->run)
		a->run = b->run;
	else if (b->run && b->run != a->run)
		a->run = PROFILE_RUNS_MIXED;
	if (!a->start_s || (b->start_s && b->start_s < a->start_s))
		a->start_s = b->start_s;
	if (b->end_s > a->end_s)
		a->end_s = b->end_s;
	if (b->runtime_s > a->runtime_s)
		a->runtime_s = b->runtime_s;
	if (b->world_size > a->world_size)
		a->world_size = b->world_size;
	a->ranks += b->ranks;
	a->unranked += b->unranked;
	a->threads += b->threads;
	a->records += b->records;
	a->calls += b->calls;
	a->lost_calls += b->lost_calls;
	a->lost_processes += b->lost_processes;
	a->blocked_ns += b->blocked_ns;
	a->hook_ns_total += b->hook_ns_total;
	a->ring_bytes += b->ring_bytes;
}

struct profile *profile_merge(struct profile *a, struct profile *b)
{
	struct string_set names;
	struct side left, right;

	if (!a || !b)
		return a ? a : b;
	shift_unranked(b, a->unranked);
	set_init(&names, a->n_names + b->n_names);
	side_init(&left, a, &names);
	side_init(&right, b, &names);
	merge_stacks(a, &left, &right, names.at);
	b->stacks = NULL;
	b->n_stacks = 0;
	profile_mpi_merge(a, b, left.place, right.place);
	free(left.place);
	free(right.place);
	settle_names(a, &names);
	merge_job(a, b);
	merge_lists(a, b);
	profile_warn_programs(a);
	profile_drop_processes(a);
	profile_free(b);
	return a;
}
