/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that wait for each other, for work, or for a GPU. */
#include "nodeagent/report/findings/internal.h"

#include <stdlib.h>
#include <string.h>

#include "nodeagent/report/waits.h"
#include "shm/construct.h"

#define SAME_PART   0.5 /* of what threads of a rank wait for each other: for one of them */
#define HOLDER_PART 0.5 /* of all waits for locks: one thread in one call path is to be named */

/* Waits of a region's threads for each other: at its barriers and at its end. */
static uint64_t openmp_waits(const struct profile_openmp *o)
{
	return o->barrier_ns + o->join_ns;
}

/*
 * Is it always the same thread, in the same call path? Where each team waits for one, and for the
 * same work of it, the threads of its rank together wait that much for each.
 */
static bool is_always_the_same(const struct profile_openmp *o)
{
	const double each = (double)openmp_waits(o) / (o->ranks ? o->ranks : 1.0);
	const double threads = o->ranks ? (double)o->threads / o->ranks : 0.0;

	return o->slowest_stack && threads * (double)o->beyond_ns >= SAME_PART * each;
}

static void say_slowest(
	const struct facts *facts, struct finding *f, const struct profile_openmp *o)
{
	char *path = short_path(facts->r, o->slowest_stack - 1);

	finding_say(f,
		"Threads of %s wait %s for each other, mostly for thread %" PRIu32 ".%" PRIu32
		", which works %s longer than the mean in %s.",
		report_cell(facts->r, facts->p->names[facts->p->stacks[o->stack].name]),
		amount_of(facts, f->seconds).text, profile_rank_shown(facts->p, o->slowest_rank),
		o->slowest_thread, quantity_seconds(s_of(o->beyond_ns)).text, path);
	prove_rank(f, facts->p, o->slowest_rank);
	prove_count(f, "thread", o->slowest_thread);
	prove_seconds(f, "t_slowest_s", s_of(o->slowest_ns));
	prove_seconds(f, "t_beyond_s", s_of(o->beyond_ns));
	free(path);
	path = report_path(facts->r, o->slowest_stack - 1);
	prove_text(f, "slowest_path", path);
	free(path);
}

bool look_openmp_wait(const struct facts *facts, struct finding *f)
{
	const struct profile *p = facts->p;
	const struct profile_openmp *most = NULL;
	double balance;
	char *path;

	for (size_t i = 0; i < p->n_openmp; i++)
		if (!most || openmp_waits(&p->openmp[i]) > openmp_waits(most))
			most = &p->openmp[i];
	if (!most || !openmp_waits(most) || !most->most_ns)
		return false;
	f->seconds = s_of(openmp_waits(most));
	balance = (double)most->average_ns / (double)most->most_ns;
	if (is_always_the_same(most)) {
		say_slowest(facts, f, most);
	} else {
		path = short_path(facts->r, most->stack);
		finding_say(f,
			"Threads of %s wait %s for each other: on average they work %.0f %% of the "
			"time of the one with most.",
			path, amount_of(facts, f->seconds).text, 100.0 * balance);
		free(path);
	}
	prove_stack(f, facts->r, most->stack);
	prove_count(f, "teams", most->calls);
	prove_seconds(f, "t_barrier_s", s_of(most->barrier_ns));
	prove_seconds(f, "t_join_s", s_of(most->join_ns));
	prove_seconds(f, "t_busy_s", s_of(most->busy_ns));
	prove_ratio(f, "balance", balance);
	return true;
}

static void prove_holder(struct finding *f, const struct report *r, const struct profile_wait *w)
{
	char *path = report_path(r, w->late_stack - 1);

	prove_text(f, "holder_path", path);
	prove_seconds(f, "holder_s", s_of(w->ns));
	free(path);
}

/* The call path from which most was waited for, of one thread. */
static bool say_holder(const struct facts *facts, struct finding *f)
{
	const struct profile_wait *most = NULL;
	const char *function;
	struct waits w;
	bool stands_out = false;

	waits_of(facts->p, WAITS_FOR_THREADS, WAITS_ALL, &w);
	for (size_t i = 0; i < w.n_places; i++)
		for (size_t k = 0; k < w.places[i].n_late; k++)
			if (!most || w.places[i].late[k]->ns > most->ns)
				most = w.places[i].late[k];
	if (most && most->late_thread && most->late_stack)
		stands_out = s_of(most->ns) >= HOLDER_PART * f->seconds;
	waits_done(&w);
	function = stands_out ? waits_function(facts->r, most->late_stack) : NULL;
	if (!function)
		return false;
	finding_say(f,
		"Threads wait %s for locks and critical regions, %.0f %% of it while thread "
		"%" PRIu32 ".%" PRIu32 " holds one in %s.",
		amount_of(facts, f->seconds).text, 100.0 * s_of(most->ns) / f->seconds,
		profile_rank_shown(facts->p, most->late), most->late_thread - 1, function);
	prove_rank(f, facts->p, most->late);
	prove_count(f, "thread", most->late_thread - 1);
	prove_holder(f, facts->r, most);
	return true;
}

bool look_openmp_lock(const struct facts *facts, struct finding *f)
{
	const struct profile *p = facts->p;
	uint32_t most = PROFILE_NONE;
	bool *is_lock = waits_locks(p);
	uint64_t ns = 0;
	char *path, *where;

	for (uint32_t i = 0; i < p->n_stacks; i++) {
		if (!is_lock[p->stacks[i].name])
			continue;
		ns += p->stacks[i].excl_ns;
		if (most == PROFILE_NONE || p->stacks[i].excl_ns > p->stacks[most].excl_ns)
			most = i;
	}
	free(is_lock);
	if (!ns)
		return false;
	f->seconds = s_of(ns);
	if (!say_holder(facts, f)) {
		path = short_path(facts->r, most);
		where = part_in((double)p->stacks[most].excl_ns, (double)ns, path);
		finding_say(f, "Threads wait %s for locks and critical regions%s.",
			amount_of(facts, f->seconds).text, where);
		free(where);
		free(path);
	}
	prove_stack(f, facts->r, most);
	prove_seconds(f, "t_excl_s", s_of(p->stacks[most].excl_ns));
	prove_count(f, "calls", p->stacks[most].calls);
	return true;
}

bool look_openmp_idle(const struct facts *facts, struct finding *f)
{
	if (!facts->d.openmp_idle_ns)
		return false;
	f->seconds = s_of(facts->d.openmp_idle_ns);
	finding_say(f,
		"Workers of OpenMP have nothing to do for %s: only the first thread of a rank "
		"works then.",
		amount_of(facts, f->seconds).text);
	prove_seconds(f, "openmp_idle_s", f->seconds);
	return true;
}

bool look_gpu_wait(const struct facts *facts, struct finding *f)
{
	const struct profile *p = facts->p;
	const struct profile_gpu_wait *most = NULL;
	uint64_t ns = 0;
	char *path, *where;

	for (size_t i = 0; i < p->n_gpu_waits; i++) {
		ns += p->gpu_waits[i].ns;
		if (!most || p->gpu_waits[i].ns > most->ns)
			most = &p->gpu_waits[i];
	}
	if (!ns)
		return false;
	f->seconds = s_of(ns);
	path = short_path(facts->r, most->stack);
	where = part_in((double)most->ns, (double)ns, path);
	finding_say(f, "The host waits %s for GPUs%s%s%s.", amount_of(facts, f->seconds).text,
		where, *most->name ? " for " : "",
		*most->name ? report_cell(facts->r, most->name) : "");
	free(where);
	free(path);
	prove_stack(f, facts->r, most->stack);
	if (*most->name)
		prove_text(f, "activity", report_name(facts->r, most->name));
	prove_count(f, "calls", most->calls);
	prove_seconds(f, "t_s", s_of(most->ns));
	prove_seconds(f, "gpu_wait_s", f->seconds);
	return true;
}
