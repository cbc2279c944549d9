/* SPDX-License-Identifier: BSD-3-Clause */
/* One list of call paths out of those of several lanes. */
#include "nodeagent/vfd-paths.h"

#include <stdlib.h>

#include "nodeagent/map64.h"
#include "nodeagent/util.h"

struct path {
	uint32_t caller, lane, stack; /* a stack that it stands for */
	char *name, *text;
};

struct vfd_paths {
	struct vfd_file *f;
	struct path *paths;
	size_t n, cap;
	uint32_t **of_lane; /* by lane: by stack */
	size_t n_lanes;
};

static uint32_t add(struct vfd_paths *p, uint32_t caller, uint32_t lane, uint32_t stack)
{
	p->paths = grow(p->paths, p->n, &p->cap, sizeof(*p->paths));
	p->paths[p->n] = (struct path){.caller = caller, .lane = lane, .stack = stack};
	return (uint32_t)p->n++;
}

bool *vfd_paths_lost(struct vfd_file *f, uint32_t process)
{
	struct vfd_filter filter = {.lane = VFD_NONE,
		.raw = true,
		.process_set = process != VFD_NONE,
		.process = process};
	struct vfd_cursor *c;
	struct vfd_event e;
	size_t n, damaged;
	bool *lost;

	vfd_threads(f, &n);
	lost = xcalloc(n + 1, sizeof(*lost));
	vfd_damage(f, &damaged);
	if (!damaged && vfd_facts(f)->closed)
		return lost;
	c = vfd_cursor_new(&f, 1, &filter);
	while (vfd_next(c, &e)) {
		vfd_stacks(f, e.lane, &n);
		lost[e.lane] |= e.stack + 1 == n;
	}
	vfd_cursor_free(c);
	return lost;
}

static void add_lane(struct vfd_paths *p, struct map64 *known, uint32_t lane, bool lost)
{
	size_t n;
	const struct vfd_stack *stacks = vfd_stacks(p->f, lane, &n);
	uint32_t *numbers = xcalloc(n, sizeof(*numbers));

	for (size_t i = 1; i < n - !lost; i++) {
		uint32_t caller = numbers[stacks[i].caller];
		uint64_t key = (uint64_t)caller << 32 | stacks[i].function;
		uint32_t *at = map64_find(known, key);

		numbers[i] = at ? *at : add(p, caller, lane, (uint32_t)i);
		if (!at)
			map64_add(known, key, numbers[i]);
	}
	p->of_lane[lane] = numbers;
}

struct vfd_paths *vfd_paths_new(struct vfd_file *f, uint32_t process)
{
	struct vfd_paths *p = xcalloc(1, sizeof(*p));
	const struct vfd_thread *threads = vfd_threads(f, &p->n_lanes);
	bool *lost = vfd_paths_lost(f, process);
	struct map64 known = {0};

	p->f = f;
	p->of_lane = xcalloc(p->n_lanes, sizeof(*p->of_lane));
	add(p, VFD_NONE, 0, 0);
	for (size_t i = 0; i < p->n_lanes; i++)
		if (threads[i].process == process)
			add_lane(p, &known, (uint32_t)i, lost[i]);
	map64_free(&known);
	free(lost);
	return p;
}

void vfd_paths_free(struct vfd_paths *p)
{
	for (size_t i = 0; i < p->n; i++) {
		free(p->paths[i].name);
		free(p->paths[i].text);
	}
	for (size_t i = 0; i < p->n_lanes; i++)
		free(p->of_lane[i]);
	free(p->of_lane);
	free(p->paths);
	free(p);
}

size_t vfd_paths_count(const struct vfd_paths *p)
{
	return p->n;
}

uint32_t vfd_paths_find(const struct vfd_paths *p, uint32_t lane, uint32_t stack)
{
	return lane < p->n_lanes && p->of_lane[lane] ? p->of_lane[lane][stack] : 0;
}

uint32_t vfd_paths_caller(const struct vfd_paths *p, uint32_t path)
{
	return p->paths[path].caller;
}

const char *vfd_paths_name(struct vfd_paths *p, uint32_t path)
{
	struct path *at = &p->paths[path];

	if (!at->name)
		at->name = xasprintf("%s%s", vfd_stack_name(p->f, at->lane, at->stack),
			path && vfd_stack_precise(p->f, at->lane, at->stack) ? "*" : "");
	return at->name;
}

const char *vfd_paths_text(struct vfd_paths *p, uint32_t path)
{
	struct path *at = &p->paths[path];

	if (!at->text)
		at->text = path ? vfd_stack_path(p->f, at->lane, at->stack, true) : xstrdup("init");
	return at->text;
}
