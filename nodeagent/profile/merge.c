/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two sorted lists of stacks become one, as in a merge sort. Parents are
 * renumbered by two maps old -> new; names are put into one list in the order
 * in which the stacks first use them, whatever the order was before.
 */
#include "nodeagent/profile/merge.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/profile/profile.h"
#include "nodeagent/base/map.h"
#include "nodeagent/profile/schema.h"
#include "nodeagent/base/util.h"
#include "shm/fnv.h"

/* A set of strings that numbers them from 0. */
struct string_set {
	char **at;
	size_t n;
	struct map64 number; /* by hash; texts of one hash have the next ones */
};

static void set_init(struct string_set *s, size_t most)
{
	*s = (struct string_set){.at = xcalloc(most, sizeof(*s->at))};
}

/* Takes over text, or frees it if the set has it. */
static uint32_t set_add(struct string_set *s, char *text)
{
	uint64_t h = fnv_text(FNV_BEGIN, text);
	const uint32_t *known;

	for (; (known = map64_find(&s->number, h)); h++) {
		if (!strcmp(s->at[*known], text)) {
			free(text);
			return *known;
		}
	}
	map64_add(&s->number, h, (uint32_t)s->n);
	s->at[s->n] = text;
	return (uint32_t)s->n++;
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
	uint32_t *renumber; /* of each stack in the result */
};

static void side_init(struct side *s, struct profile *p, struct string_set *names)
{
	uint32_t *number = set_add_all(names, p->names, p->n_names);

	s->stacks = p->stacks;
	s->n = p->n_stacks;
	s->renumber = xcalloc(s->n, sizeof(*s->renumber));
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

static void take_stack(struct profile_stack *out, struct side *s, uint32_t i, uint32_t renumber)
{
	out[renumber] = s->stacks[i];
	if (out[renumber].parent != PROFILE_NONE)
		out[renumber].parent = s->renumber[out[renumber].parent];
}

/* Gives the stacks of both sides their numbers in the merged profile; returns how many it has. */
static uint32_t renumber_stacks(struct side *a, struct side *b, char **names)
{
	uint32_t *twin = xmalloc(a->n * sizeof(*twin) + 1);
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
			a->renumber[i++] = n;
		if (order >= 0)
			b->renumber[j++] = n;
		n++;
	}
	free(twin);
	return n;
}

/* Places first, then records: a parent may come after its child. */
static void merge_stacks(struct profile *to, struct side *a, struct side *b, char **names)
{
	const uint32_t n = renumber_stacks(a, b, names);
	struct profile_stack *out = xcalloc(n, sizeof(*out));
	uint32_t i, j;

	for (i = 0; i < a->n; i++)
		take_stack(out, a, i, a->renumber[i]);
	for (i = j = 0; j < b->n; j++) {
		while (i < a->n && a->renumber[i] < b->renumber[j])
			i++;
		if (i < a->n && a->renumber[i] == b->renumber[j])
			profile_record_add(&profile_schema[PROFILE_STACKS], &out[b->renumber[j]],
				&b->stacks[j]);
		else
			take_stack(out, b, j, b->renumber[j]);
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
	map64_free(&all->number);
	p->names = names;
	p->n_names = n;
}

static uint32_t shifted(const void *by, uint32_t rank)
{
	if (rank < PROFILE_UNRANKED || rank >= PROFILE_FAR)
		return rank;
	return rank + *(const uint32_t *)by;
}

/* Unranked processes are numbered higher by `by`. */
static void shift_unranked(struct profile *p, uint32_t by)
{
	for (enum profile_list i = 0; by && i < PROFILE_LISTS; i++)
		profile_renumber_ranks(p, i, shifted, &by);
}

static int text_cmp(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

ORDER_BY(agent_cmp, struct profile_agent,
	text_cmp(x->host, y->host) ?: RISING(missing) ?: RISING(processes) ?: RISING(records) ?:
	RISING(drained_bytes) ?: RISING(wakeups) ?: RISING(cpu_s) ?: RISING(wall_s) ?:
	text_cmp(x->affinity, y->affinity))

ORDER_BY(process_cmp, struct profile_process,
	RISING(rank) ?: RISING(pid) ?: RISING(parent_pid) ?: RISING(runtime_s) ?: RISING(records) ?:
	RISING(calls) ?: text_cmp(x->executable, y->executable) ?:
	text_cmp(x->quarantined, y->quarantined))

void profile_sort(struct profile *p)
{
	if (p->n_agents)
		qsort(p->agents, p->n_agents, sizeof(*p->agents), agent_cmp);
	if (p->n_dead)
		qsort(p->dead, p->n_dead, sizeof(*p->dead), process_cmp);
}

/* Appends from[] to *to[], and frees from; what they point to moves along. */
static void append_records(void **to, size_t *n, void *from, size_t more, size_t bytes)
{
	if (more) {
		*to = xrealloc(*to, (*n + more) * bytes);
		memcpy((char *)*to + *n * bytes, from, more * bytes);
		*n += more;
	}
	free(from);
}

static bool has_warning(const struct profile *p, const char *text)
{
	return ANY(i, p->n_warnings, !strcmp(p->warnings[i], text));
}

static void keep_filter_warnings(struct profile *p, const struct profile *of)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->n_warnings; i++) {
		char *text = p->warnings[i];

		if (!strncmp(text, FILTER_WARNING, strlen(FILTER_WARNING)) &&
			!has_warning(of, text))
			free(text);
		else
			p->warnings[kept++] = text;
	}
	p->n_warnings = kept;
}

/* A pattern was in vain if it was so on all nodes that have traced something. */
static void drop_filter_warnings(struct profile *a, struct profile *b)
{
	if (!a->ranks || !b->ranks)
		return;
	keep_filter_warnings(a, b);
	keep_filter_warnings(b, a);
}

static void merge_lists(struct profile *a, struct profile *b)
{
	struct string_set warnings;

	append_records(
		(void **)&a->agents, &a->n_agents, b->agents, b->n_agents, sizeof(*a->agents));
	append_records((void **)&a->dead, &a->n_dead, b->dead, b->n_dead, sizeof(*a->dead));
	b->agents = NULL;
	b->dead = NULL;
	b->n_agents = b->n_dead = 0;
	profile_sort(a);
	profile_dead_limit(a, PROFILE_DEAD_MAX);
	profile_ends_limit(a, PROFILE_ENDS_MAX, PROFILE_ENDS_EACH);

	set_init(&warnings, a->n_warnings + b->n_warnings);
	free(set_add_all(&warnings, a->warnings, a->n_warnings));
	free(set_add_all(&warnings, b->warnings, b->n_warnings));
	map64_free(&warnings.number);
	free(a->warnings);
	free(b->warnings);
	a->warnings = warnings.at;
	a->n_warnings = warnings.n;
	b->warnings = NULL;
	b->n_warnings = 0;
}

/* Of a list that has one record at most. */
static void merge_one(struct profile *a, struct profile *b, enum profile_list which)
{
	const struct profile_schema *s = &profile_schema[which];

	if (!*profile_n(a, s))
		profile_move_list(a, b, which);
	else if (*profile_n(b, s))
		profile_record_add(s, *profile_array(a, s), *profile_array(b, s));
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

	if (!a->run)
		a->run = b->run;
	else if (b->run && b->run != a->run)
		a->run = PROFILE_RUNS_MIXED;
	profile_record_add(&profile_schema[PROFILE_JOB], a, b);
	profile_record_add(&profile_schema[PROFILE_BEGIN], a, b);
	profile_record_add(&profile_schema[PROFILE_CPU], a, b);
	profile_record_add(&profile_schema[PROFILE_MATCHING], a, b);
	merge_one(a, b, PROFILE_STARTS);
	merge_one(a, b, PROFILE_PRUNED);
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
	profile_lists_merge(a, b, left.renumber, right.renumber);
	free(left.renumber);
	free(right.renumber);
	settle_names(a, &names);
	drop_filter_warnings(a, b);
	merge_job(a, b);
	merge_lists(a, b);
	profile_warn_programs(a);
	profile_drop_processes(a);
	profile_free(b);
	return a;
}
