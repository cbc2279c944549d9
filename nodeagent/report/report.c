/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prepares a profile for printing, in time linear in the number of stacks:
 * deep mutual recursion and 100 000 paths must not cost more than the writing.
 */
#include "nodeagent/report/observables.h"
#include "nodeagent/report/report.h"

#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "nodeagent/profile/ids.h"
#include "nodeagent/symbols/names.h"
#include "nodeagent/report/columns.h"
#include "nodeagent/report/digest.h"
#include "nodeagent/report/imbalance.h"
#include "nodeagent/base/table.h"
#include "nodeagent/base/result-files.h"
#include "nodeagent/base/util.h"

/* Paths are printed whole as long as all of them together stay below this. */
#define PATHS_TOTAL    (64u << 20)
#define PATH_CUT_BYTES 1000
#define PATH_GAP       "..."

struct named {
	const char *shown;
	uint32_t name;
};

ORDER_BY(by_text, struct named, ALPHABETIC(shown))

/* All that is shown in tables and JSON as the name of a function. */
static struct names *all_names(const struct report *r)
{
	const struct profile *p = r->p;
	const struct name_style style = name_style_of(r->c);
	size_t n = 0;
	const char **raw =
		xcalloc(p->n_names + p->n_gpu + p->n_gpu_waits + p->n_switched, sizeof(*raw));
	struct names *names;

	for (size_t i = 0; i < p->n_names; i++)
		raw[n++] = p->names[i];
	for (size_t i = 0; i < p->n_gpu; i++)
		raw[n++] = p->gpu[i].name;
	for (size_t i = 0; i < p->n_gpu_waits; i++)
		raw[n++] = p->gpu_waits[i].name;
	for (size_t i = 0; i < p->n_switched; i++)
		raw[n++] = p->switched[i].name;
	names = names_new(raw, n, &style);
	free(raw);
	return names;
}

static void prepare_names(struct report *r)
{
	const struct profile *p = r->p;
	struct named *sorted = xcalloc(p->n_names, sizeof(*sorted));
	const bool has_locks = digest_has_locks(p);

	r->names = all_names(r);
	r->separator = name_separator(r->c);
	r->shown = xcalloc(p->n_names, sizeof(*r->shown));
	r->cell = xcalloc(p->n_names, sizeof(*r->cell));
	r->group = xcalloc(p->n_names, sizeof(*r->group));
	r->part = xcalloc(p->n_names, sizeof(*r->part));
	for (uint32_t i = 0; i < p->n_names; i++) {
		const struct name *name = names_lookup(r->names, p->names[i]);

		r->part[i] = (uint8_t)digest_part_of(has_locks, p->names[i]);
		r->shown[i] = name->shown;
		r->cell[i] = name->cell;
		sorted[i] = (struct named){r->shown[i], i};
	}
	qsort(sorted, p->n_names, sizeof(*sorted), by_text);
	for (size_t i = 0; i < p->n_names; i++) {
		if (!i || by_text(&sorted[i - 1], &sorted[i]))
			r->n_groups++;
		r->group[sorted[i].name] = r->n_groups - 1;
	}
	free(sorted);
}

static void prepare_ids(struct report *r, const struct profile_number *numbers, size_t n)
{
	uint32_t *id;

	if (numbers) {
		r->id = profile_ids_in(r->p, numbers, n);
		return;
	}
	id = profile_ids(r->p);
	r->id = xcalloc(r->p->n_stacks, sizeof(*r->id));
	for (size_t i = 0; i < r->p->n_stacks; i++)
		r->id[i] = id[i];
	free(id);
}

/* Children of each stack as one array, `first` with one element more than there are stacks. */
static void list_children(const struct profile *p, uint32_t **first, uint32_t **child)
{
	size_t n = p->n_stacks;
	uint32_t *start = xcalloc(n + 2, sizeof(*start));

	*child = xcalloc(n, sizeof(**child));
	for (size_t i = 0; i < n; i++)
		if (p->stacks[i].parent < n)
			start[p->stacks[i].parent + 2]++;
	for (size_t i = 2; i < n + 2; i++)
		start[i] += start[i - 1];
	/* filling moves start[k + 1] from the first to behind the last child of k */
	for (size_t i = 0; i < n; i++)
		if (p->stacks[i].parent < n)
			(*child)[start[p->stacks[i].parent + 1]++] = i;
	*first = start;
}

/* A stack as the walk needs it: it comes to them in no order, and reads a line of each. */
struct place {
	uint32_t next, end; /* children not entered yet: child[next .. end) */
	uint32_t group;
	uint32_t bytes; /* of its name */
	bool reached;
};

struct walk {
	struct place *places; /* by stack */
	uint32_t *child;
	uint32_t *path; /* open frames, outermost first */
	uint32_t *open; /* open frames per group */
	size_t separator;
};

static struct place *list_places(const struct report *r, const uint32_t *first)
{
	const struct profile *p = r->p;
	struct place *places = xcalloc(p->n_stacks, sizeof(*places));
	uint32_t *bytes = xcalloc(p->n_names, sizeof(*bytes));

	for (size_t i = 0; i < p->n_names; i++)
		bytes[i] = (uint32_t)strlen(r->shown[i]);
	for (size_t i = 0; i < p->n_stacks; i++) {
		const uint32_t name = p->stacks[i].name;

		places[i] =
			(struct place){first[i], first[i + 1], r->group[name], bytes[name], false};
	}
	free(bytes);
	return places;
}

static void enter_stack(struct report *r, struct walk *w, size_t depth)
{
	uint32_t at = w->path[depth], up = depth ? w->path[depth - 1] : PROFILE_NONE;
	struct place *place = &w->places[at];

	place->reached = true;
	r->parent[at] = up;
	r->path_bytes[at] = place->bytes;
	if (up != PROFILE_NONE)
		r->path_bytes[at] += w->separator + r->path_bytes[up];
	r->outermost[at] = !w->open[place->group]++;
}

/* Depth-first: a frame opened while its group has none open is the outermost one. */
static void walk_from(struct report *r, struct walk *w, uint32_t root)
{
	size_t top = 0;

	w->path[top++] = root;
	enter_stack(r, w, 0);
	while (top) {
		struct place *at = &w->places[w->path[top - 1]];
		uint32_t child;

		if (at->next == at->end) {
			w->open[at->group]--;
			top--;
			continue;
		}
		child = w->child[at->next++];
		if (w->places[child].reached)
			continue;
		w->path[top++] = child;
		enter_stack(r, w, top - 1);
	}
}

static void prepare_tree(struct report *r)
{
	const struct profile *p = r->p;
	size_t n = p->n_stacks, total = 0;
	struct walk w = {
		.path = xcalloc(n, sizeof(*w.path)),
		.open = xcalloc(r->n_groups, sizeof(*w.open)),
		.separator = strlen(r->separator),
	};
	uint32_t *first;

	list_children(p, &first, &w.child);
	w.places = list_places(r, first);
	free(first);
	r->parent = xcalloc(n, sizeof(*r->parent));
	r->path_bytes = xcalloc(n, sizeof(*r->path_bytes));
	r->outermost = xcalloc(n, sizeof(*r->outermost));
	for (size_t i = 0; i < n; i++)
		if (p->stacks[i].parent >= n)
			walk_from(r, &w, i);
	/* only a damaged profile has stacks that no root leads to */
	for (size_t i = 0; i < n; i++)
		if (!w.places[i].reached)
			walk_from(r, &w, i);
	for (size_t i = 0; i < n; i++)
		total += r->path_bytes[i];
	r->path_limit = total <= PATHS_TOTAL ? SIZE_MAX : PATH_CUT_BYTES;
	free(w.places);
	free(w.child);
	free(w.path);
	free(w.open);
}

/* Counted calls have their time from their caller. What only stack samples have seen has no calls.
 */
static void prepare_estimates(struct report *r)
{
	const struct profile *p = r->p;

	r->own_estimated = xcalloc(p->n_stacks, sizeof(*r->own_estimated));
	for (size_t i = 0; i < p->n_stacks; i++) {
		r->own_estimated[i] |= p->stacks[i].estimated;
		if (p->stacks[i].estimated && p->stacks[i].calls && r->parent[i] != PROFILE_NONE)
			r->own_estimated[r->parent[i]] = true;
	}
}

bool report_own_is_counted(const struct report *r, uint32_t stack)
{
	const struct profile_stack *s = &r->p->stacks[stack];

	return r->own_estimated[stack] && (s->calls || !s->estimated);
}

bool report_any_counted(const struct report *r, const uint32_t *stacks, size_t n)
{
	return ANY(i, n, report_own_is_counted(r, stacks[i]));
}

void report_init(struct report *r, const struct profile *p, const struct conf *c,
	const struct profile_number *numbers, size_t n)
{
	*r = (struct report){.p = p, .c = c, .run = !strcmp(c->output_layout, "run")};
	r->listed = xcalloc(p->n_stacks, sizeof(*r->listed));
	prepare_names(r);
	prepare_ids(r, numbers, n);
	prepare_tree(r);
	prepare_estimates(r);
	r->by_id = report_sort_ids(r);
	report_prepare_groups(r);
	r->hwprof = hwprof_new(p, c);
	r->late = xcalloc(1, sizeof(*r->late));
	r->once = columns_once_new();
	r->digest = xcalloc(1, sizeof(*r->digest));
	r->imbalance = imbalance_formula(c->profile_table_imbalance_formula);
	for (size_t i = 0; i < p->n_stacks; i++)
		r->excl_s += p->stacks[i].excl_ns * 1e-9;
}

void report_done(struct report *r)
{
	hwprof_free(r->hwprof);
	free(r->late->order);
	free(r->late);
	columns_once_free(r->once);
	free(r->digest);
	free(r->shown);
	free(r->cell);
	names_free(r->names);
	free(r->group);
	free(r->part);
	free(r->by_id);
	free(r->groups);
	free(r->members);
	free(r->id);
	free(r->parent);
	free(r->path_bytes);
	free(r->outermost);
	free(r->own_estimated);
	free(r->listed);
}

const char *report_name(const struct report *r, const char *raw)
{
	const struct name *name = names_lookup(r->names, raw);

	return name ? name->shown : raw;
}

const char *report_cell(const struct report *r, const char *raw)
{
	const struct name *name = names_lookup(r->names, raw);

	return name ? name->cell : raw;
}

char *report_full_name(const struct report *r, const char *raw)
{
	struct name_style style = name_style_of(r->c);

	if (strncmp(raw, "_Z", 2))
		return NULL;
	style.form = NAME_FULL;
	style.keep_cxx = false;
	return name_shown(raw, &style);
}

const struct profile_source *report_source(const struct report *r, const char *raw)
{
	const struct profile_source *all = r->p->sources;
	const size_t n = r->p->n_sources, at = LOWER_BOUND(i, 0, n, strcmp(all[i].name, raw) < 0);

	return at < n && !strcmp(all[at].name, raw) && all[at].line ? &all[at] : NULL;
}

bool report_name_differs(const struct report *r, const char *raw)
{
	return strcmp(report_name(r, raw), raw) != 0;
}

/* The innermost frames, then a gap: "foo<bar<...". */
static char *cut_path(const struct report *r, uint32_t stack)
{
	const struct profile_stack *stacks = r->p->stacks;
	char *path = xmalloc(PATH_CUT_BYTES + sizeof(PATH_GAP));
	size_t bytes = 0, gap = strlen(r->separator);

	for (uint32_t at = stack; at != PROFILE_NONE; at = r->parent[at]) {
		const char *name = r->cell[stacks[at].name];
		size_t more = strlen(name) + gap;

		if (bytes + more > PATH_CUT_BYTES)
			break;
		memcpy(path + bytes, name, more - gap);
		memcpy(path + bytes + more - gap, r->separator, gap);
		bytes += more;
	}
	memcpy(path + bytes, PATH_GAP, sizeof(PATH_GAP));
	return path;
}

char *report_path(const struct report *r, uint32_t stack)
{
	if (r->path_bytes[stack] > r->path_limit)
		return cut_path(r, stack);

	char *path = xmalloc(r->path_bytes[stack] + 1), *to = path;

	for (uint32_t at = stack; at != PROFILE_NONE; at = r->parent[at]) {
		if (to > path)
			to = stpcpy(to, r->separator);
		to = stpcpy(to, r->shown[r->p->stacks[at].name]);
	}
	*to = '\0';
	return path;
}

char *report_short_path(const struct report *r, uint32_t stack, unsigned functions, size_t columns)
{
	char *path = xstrdup(r->cell[r->p->stacks[stack].name]), *cut;
	uint32_t at = r->parent[stack];

	for (unsigned i = 1; i < functions && at != PROFILE_NONE; i++, at = r->parent[at]) {
		char *longer;

		/* "init" is no function, and says nothing */
		if (r->parent[at] == PROFILE_NONE)
			break;
		longer = xasprintf("%s%s%s", path, r->separator, r->cell[r->p->stacks[at].name]);
		if (text_columns(longer) > columns) {
			free(longer);
			break;
		}
		free(path);
		path = longer;
	}
	cut = text_short(path, columns);
	free(path);
	return cut;
}

double report_overhead_s(const struct report *r, uint64_t calls)
{
	if (!r->p->calls)
		return 0.0;
	return (double)calls * ((double)r->p->hook_ns_total / (double)r->p->calls) * 1e-9;
}

double report_blocked_s(const struct report *r)
{
	return 1e-9 * (double)(r->process ? r->process->blocked_ns : r->p->blocked_ns);
}

static struct spread spread_of(const struct report *r, uint32_t stack)
{
	const struct profile_stack *s = &r->p->stacks[stack];

	return (struct spread){
		.n = s->ranks,
		.sum = s->excl_ns,
		.min = s->excl_min_ns,
		.max = s->excl_max_ns,
		.rank_min = profile_rank_shown(r->p, s->rank_min),
		.rank_max = profile_rank_shown(r->p, s->rank_max),
		.sumsq = s->excl_sumsq_ns2,
	};
}

double report_imbalance(const struct report *r, uint32_t stack, uint32_t *rank)
{
	const struct spread spread = spread_of(r, stack);

	return imbalance_by(r->imbalance, &spread, rank);
}

uint32_t report_imbalance_rank(const struct report *r, uint32_t stack)
{
	const struct spread spread = spread_of(r, stack);

	return imbalance_rank(r->imbalance, &spread);
}

char *report_end(const struct profile_process *process)
{
	switch (process->end) {
	case PROCESS_RUNNING:
		return xstrdup("running");
	case PROCESS_EXECED:
		return xstrdup("exec");
	case PROCESS_EXITED:
		if (process->exit_status < 0)
			return xstrdup("exited");
		return xasprintf("exited %d", process->exit_status);
	case PROCESS_KILLED:
		if (process->exit_status <= 0)
			return xstrdup("vanished");
		return xasprintf(
			"signal %d (%s)", process->exit_status, strsignal(process->exit_status));
	}
	return xstrdup("unknown");
}

uint32_t report_ranks(const struct profile *p)
{
	return p->world_size ? p->world_size : p->ranks;
}

uint32_t report_all_ranks(const struct profile *p)
{
	return report_ranks(p) + profile_other_ranks(p);
}

int report_write(const char *dir, const struct result *file,
	void (*fill)(FILE *f, const struct report *r, const void *ctx), const struct report *r,
	const void *ctx, char **error)
{
	char *path = result_path(result_layout(r->c), dir, file);
	struct writing *tmp;
	FILE *f;
	int rc = write_begin(&f, &tmp, path);

	if (!rc) {
		fill(f, r, ctx);
		if (file->kind == RESULT_SUMMARY || file->kind == RESULT_PROFILE)
			write_durable(tmp);
		rc = write_end(f, tmp);
	}
	if (rc && !*error)
		*error = xasprintf("cannot write %s: %s", path, strerror(-rc));
	free(path);
	return rc;
}
