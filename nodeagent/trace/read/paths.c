/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes one list of call paths from those of several tracks. */
#include "nodeagent/trace/read/paths.h"

#include <stdlib.h>

#include "nodeagent/base/map.h"
#include "nodeagent/base/util.h"

struct path {
	uint32_t caller, track, stack; /* a stack that it stands for */
	char *name, *text;
};

struct vfd_paths {
	struct vfd_file *f;
	struct path *paths;
	size_t n, cap;
	uint32_t **of_track; /* by track: by stack */
	size_t n_tracks;
	bool whole; /* a stack without definition is one that no sample needed */
};

static bool is_whole(const struct vfd_file *f)
{
	size_t damaged;

	vfd_damage(f, &damaged);
	return !damaged && vfd_facts(f)->closed;
}

static void add_path(struct vfd_paths *p, uint32_t caller, uint32_t track, uint32_t stack)
{
	*APPEND(p->paths, p->n, p->cap) =
		(struct path){.caller = caller, .track = track, .stack = stack};
}

bool *vfd_paths_lost(struct vfd_file *f, uint32_t process)
{
	struct vfd_filter filter = {.track = VFD_NONE,
		.raw = true,
		.process_set = process != VFD_NONE,
		.process = process};
	struct vfd_cursor *c;
	struct vfd_event e;
	bool *lost;
	size_t n;

	vfd_threads(f, &n);
	lost = xcalloc(n + 1, sizeof(*lost));
	if (is_whole(f))
		return lost;
	c = vfd_cursor_new(&f, 1, &filter);
	while (vfd_next(c, &e)) {
		vfd_stacks(f, e.track, &n);
		lost[e.track] |= e.stack + 1 == n;
	}
	vfd_cursor_free(c);
	return lost;
}

static void add_track(struct vfd_paths *p, struct map64 *known, uint32_t track, bool lost)
{
	size_t n;
	const struct vfd_stack *stacks = vfd_stacks(p->f, track, &n);
	uint32_t *numbers = xcalloc(n, sizeof(*numbers));

	for (size_t i = 1; i < n - !lost; i++) {
		uint32_t caller = numbers[stacks[i].caller];
		uint64_t key = (uint64_t)caller << 32 | stacks[i].function;

		if (p->whole && stacks[i].function == VFD_NONE)
			continue;
		numbers[i] = *map64_at(known, key, (uint32_t)p->n);
		if (numbers[i] == p->n)
			add_path(p, caller, track, (uint32_t)i);
	}
	p->of_track[track] = numbers;
}

struct vfd_paths *vfd_paths_new(struct vfd_file *f, uint32_t process)
{
	struct vfd_paths *p = xcalloc(1, sizeof(*p));
	const struct vfd_thread *threads = vfd_threads(f, &p->n_tracks);
	bool *lost = vfd_paths_lost(f, process);
	struct map64 known = {0};

	p->f = f;
	p->whole = is_whole(f);
	p->of_track = xcalloc(p->n_tracks, sizeof(*p->of_track));
	add_path(p, VFD_NONE, 0, 0);
	for (size_t i = 0; i < p->n_tracks; i++)
		if (threads[i].process == process)
			add_track(p, &known, (uint32_t)i, lost[i]);
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
	for (size_t i = 0; i < p->n_tracks; i++)
		free(p->of_track[i]);
	free(p->of_track);
	free(p->paths);
	free(p);
}

size_t vfd_paths_count(const struct vfd_paths *p)
{
	return p->n;
}

uint32_t vfd_paths_find(const struct vfd_paths *p, uint32_t track, uint32_t stack)
{
	return track < p->n_tracks && p->of_track[track] ? p->of_track[track][stack] : 0;
}

uint32_t vfd_paths_caller(const struct vfd_paths *p, uint32_t path)
{
	return p->paths[path].caller;
}

const char *vfd_paths_name(struct vfd_paths *p, uint32_t path)
{
	struct path *at = &p->paths[path];

	if (!at->name)
		at->name = xasprintf("%s%s", vfd_stack_name(p->f, at->track, at->stack),
			path && vfd_stack_precise(p->f, at->track, at->stack) ? "*" : "");
	return at->name;
}

const char *vfd_paths_text(struct vfd_paths *p, uint32_t path)
{
	struct path *at = &p->paths[path];

	if (!at->text)
		at->text =
			path ? vfd_stack_path(p->f, at->track, at->stack, true) : xstrdup("init");
	return at->text;
}
