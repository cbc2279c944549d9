/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints a call tree: a line for each frame that has enough time. */
#include "nodeagent/tool/show/tree.h"

#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/table.h"
#include "nodeagent/base/util.h"
#include "nodeagent/tool/show/words.h"

#define INDENT_MOST 20u /* frames; the depth of deeper ones is a number */
#define NAME_LEAST  16u

/* What joins frames: for one above with more below it, for a frame, for the last one. */
struct lines {
	const char *more, *frame, *last;
};

struct child {
	uint32_t above, node;
	uint64_t key;
};

ORDER_BY(by_key, struct child, RISING(above) ?: FALLING(key) ?: RISING(node))

struct printing {
	const struct run *run;
	const struct tree_request *request;
	struct union_tree tree;
	bool own;	     /* the time that counts is exclusive */
	struct child *child; /* all nodes but the first, those below one node together */
	size_t *first;	     /* by node: where those below it begin */
	uint64_t all_ns, least_ns;
	const struct lines *lines;
	struct text_cuts *cuts;	    /* of names */
	bool open[INDENT_MOST + 1]; /* by depth: more frames follow */
	size_t shown;
	uint64_t shown_ns; /* exclusive */
};

static uint64_t key_of(const struct printing *t, const struct union_node *n)
{
	return t->own ? n->excl_ns : n->incl_ns;
}

static void sort_children(struct printing *t)
{
	const size_t n = t->tree.n_nodes;

	t->child = xcalloc(n, sizeof(*t->child));
	t->first = xcalloc(n + 1, sizeof(*t->first));
	for (uint32_t i = 1; i < n; i++) {
		const struct union_node *node = &t->tree.nodes[i];

		t->child[i - 1] = (struct child){node->above, i, key_of(t, node)};
		t->first[node->above + 1]++;
	}
	qsort(t->child, n - 1, sizeof(*t->child), by_key);
	for (size_t i = 1; i <= n; i++)
		t->first[i] += t->first[i - 1];
}

/* ---- a line --------------------------------------------------------------------------- */

static bool has_ranks(const struct printing *t)
{
	return t->run->p->ranks > 1;
}

static const char *name_of(const struct printing *t, const struct union_node *n)
{
	const struct report *r = &t->run->r;

	return r->shown[r->p->stacks[n->stack].name];
}

/* "200 ms @0 .. 840 ms @3": own time of the ranks that have the least and the most. */
static char *ranks_of(const struct printing *t, const struct union_node *n)
{
	const struct profile *p = t->run->p;
	const struct profile_stack *s = &p->stacks[n->own];
	char *least, *most, *both;

	if (n->paths > 1)
		return xstrdup("-");
	least = words_time(s->excl_min_ns);
	most = words_time(s->excl_max_ns);
	both = xasprintf("%s @%u .. %s @%u", least, profile_rank_shown(p, s->rank_min), most,
		profile_rank_shown(p, s->rank_max));
	free(least);
	free(most);
	return both;
}

/* The lines left of a name, and in *columns their width. */
static char *stem_of(const struct printing *t, const struct union_node *n, size_t *columns)
{
	char *stem, *to;

	*columns = 0;
	if (n->depth > INDENT_MOST) {
		stem = xasprintf("[%u] ", n->depth);
		*columns = strlen(stem);
		return stem;
	}
	to = stem = xmalloc(8 * INDENT_MOST);
	*to = '\0';
	for (uint32_t d = 2; d <= n->depth; d++, *columns += 2)
		to = stpcpy(to, d < n->depth ? t->open[d] ? t->lines->more : "  "
				: t->open[d] ? t->lines->frame
					     : t->lines->last);
	return stem;
}

static void print_head(const struct printing *t)
{
	printf("%6s  %8s  %8s  %6s  ", t->own ? "own %" : "incl %", "incl", "own", "calls");
	if (has_ranks(t))
		printf("%25s  ", "own time, least .. most");
	puts(t->request->reverse ? "function, and its callers" : "call tree");
}

static void print_node(struct printing *t, const struct union_node *n)
{
	char *incl = words_time_marked(n->incl_ns, n->estimated);
	char *own = words_time_marked(n->excl_ns, n->own_estimated);
	char *calls = n->estimated && !n->calls ? xstrdup("-") : words_count(n->calls);
	char *ranks = ranks_of(t, n), *stem, *name;
	size_t used = has_ranks(t) ? 63 : 36, columns;
	double percent = t->all_ns ? 100.0 * (double)key_of(t, n) / (double)t->all_ns : 0.0;

	printf("%6.1f  %8s  %8s  %6s  ", percent, incl, own, calls);
	if (has_ranks(t))
		printf("%25s  ", ranks);
	stem = stem_of(t, n, &columns);
	used += columns;
	name = words_name(t->cuts, name_of(t, n),
		used + NAME_LEAST < WORDS_WIDTH ? WORDS_WIDTH - used : NAME_LEAST);
	printf("%s%s\n", stem, name);
	free(incl);
	free(own);
	free(calls);
	free(ranks);
	free(stem);
	free(name);
}

/* ---- all lines ------------------------------------------------------------------------ */

static bool is_shown(const struct printing *t, size_t child, uint32_t above)
{
	const struct union_node *n;

	if (child >= t->first[above + 1])
		return false;
	n = &t->tree.nodes[t->child[child].node];
	return key_of(t, n) >= t->least_ns && (!t->request->depth || n->depth <= t->request->depth);
}

static void walk_tree(struct printing *t)
{
	size_t *next = xcalloc(t->tree.n_nodes + 1, sizeof(*next));
	uint32_t at = 0;

	memcpy(next, t->first, t->tree.n_nodes * sizeof(*next));
	for (;;) {
		const struct union_node *n;

		if (!is_shown(t, next[at], at)) {
			if (!at)
				break;
			at = t->tree.nodes[at].above;
			continue;
		}

		const uint32_t above = at;

		at = t->child[next[at]++].node;
		n = &t->tree.nodes[at];
		if (n->depth <= INDENT_MOST)
			t->open[n->depth] = is_shown(t, next[above], above);
		print_node(t, n);
		t->shown++;
		t->shown_ns += n->excl_ns;
	}
	free(next);
}

static void print_rest(const struct printing *t)
{
	const size_t all = t->tree.n_nodes - 1, left_out = all - t->shown;
	uint64_t own = 0;
	char *time;

	putchar('\n');
	if (!left_out) {
		printf("all %zu frames\n", all);
		return;
	}
	printf("%zu of %zu frames; left out are %zu below %g %%", t->shown, all, left_out,
		t->request->percent);
	if (t->request->depth)
		printf(" or deeper than %u", (unsigned)t->request->depth);
	for (size_t i = 1; i < t->tree.n_nodes; i++)
		own += t->tree.nodes[i].excl_ns;
	time = words_time(own - t->shown_ns);
	/* upwards, the same time stands at a function and at its callers */
	if (!t->request->reverse)
		printf(", with %s of own time", time);
	putchar('\n');
	free(time);
}

/* The group of a function's name, as it is shown or as the linker knows it; or PROFILE_NONE. */
static uint32_t find_function(const struct report *r, const char *name)
{
	for (uint32_t i = 0; i < r->p->n_names; i++)
		if (!strcmp(r->shown[i], name) || !strcmp(r->p->names[i], name))
			return r->group[i];
	complain("--from %s: no such function in this profile; vftr show lists them", name);
	return PROFILE_NONE;
}

static uint64_t all_time(const struct printing *t)
{
	const struct profile *p = t->run->p;
	uint64_t ns = 0;

	for (size_t i = 1; t->request->from && i < t->tree.n_nodes; i++)
		if (t->tree.nodes[i].depth == 1)
			ns += key_of(t, &t->tree.nodes[i]);
	for (size_t i = 0; !t->request->from && i < p->n_stacks; i++)
		ns += p->stacks[i].excl_ns;
	return ns;
}

static void print_tree(struct printing *t)
{
	char *head = run_headline(t->run);

	sort_children(t);
	t->all_ns = all_time(t);
	t->least_ns = (uint64_t)(t->request->percent / 100.0 * (double)t->all_ns);
	printf("%s\n", head);
	for (size_t i = 0; i < t->run->p->n_warnings; i++) {
		char *text = text_plain(t->run->p->warnings[i]);

		printf("Warning: %s\n", text);
		free(text);
	}
	putchar('\n');
	print_head(t);
	walk_tree(t);
	print_rest(t);
	free(head);
}

bool tree_show(const struct run *run, const struct tree_request *request)
{
	static const struct lines ascii = {"| ", "|-", "`-"};
	static const struct lines utf8 = {"\u2502 ", "\u251c\u2500", "\u2514\u2500"};
	struct printing t = {.run = run, .request = request};
	uint32_t group = PROFILE_NONE;

	if (request->from) {
		group = find_function(&run->r, request->from);
		if (group == PROFILE_NONE)
			return false;
	}
	t.own = request->reverse && !request->from;
	t.lines = words_utf8() ? &utf8 : &ascii;
	t.tree = request->reverse ? union_up(&run->r, group, request->depth)
				  : union_down(&run->r, group);
	t.cuts = text_cuts_new(TEXT_BOTH_ENDS);
	print_tree(&t);
	text_cuts_free(t.cuts);
	free(t.child);
	free(t.first);
	free(t.tree.nodes);
	return true;
}
