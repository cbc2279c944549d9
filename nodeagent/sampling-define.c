/* SPDX-License-Identifier: BSD-3-Clause */
/* What processes, threads and functions are in the sampling file. */
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "nodeagent/agent.h"
#include "nodeagent/calltree.h"
#include "nodeagent/codemap.h"
#include "nodeagent/demangle.h"
#include "nodeagent/process.h"
#include "nodeagent/regions.h"
#include "nodeagent/sampling-internal.h"
#include "nodeagent/symcache.h"
#include "nodeagent/traffic-tap.h"
#include "nodeagent/util.h"

extern const char *const vftr_mpi_names[]; /* generated from mpi/mpi.tab */
extern const unsigned vftr_mpi_n;

static struct vfd_writer *writer(const struct sampling_process *s)
{
	return s->sampling->writer;
}

/* ---- functions ------------------------------------------------------------------ */

static bool matches(const struct sampling *s, const char *name)
{
	const struct name_style style = {
		s->agent->conf->strip_module_names, s->agent->conf->demangle_cxx};
	char *shown = name_shown(name, &style);
	bool found = !regexec(&s->precise, shown, 0, NULL, 0);

	free(shown);
	return found || !regexec(&s->precise, name, 0, NULL, 0);
}

static enum vfd_function_kind kind_of(const struct process *p, uint64_t key)
{
	if (!RECORD_IS_REGION(key) && !(key & KEY_WIDE)) {
		if (key & KEY_INIT)
			return VFD_FUNCTION_OTHER;
		if ((uint32_t)key >= RECORD_ID_FUNCTION)
			return VFD_FUNCTION_CODE;
		if ((uint32_t)key < RECORD_ID_LOGGED)
			return VFD_FUNCTION_MPI;
		if ((uint32_t)key < RECORD_ID_REGION)
			return VFD_FUNCTION_REGION;
	} else if (!RECORD_IS_REGION(key)) {
		return VFD_FUNCTION_CODE;
	}
	return regions_kind_of_key(p, key) == CONSTRUCT_KINDS ? VFD_FUNCTION_REGION
							      : VFD_FUNCTION_OPENMP;
}

static bool is_precise(enum vfd_function_kind kind, uint64_t key)
{
	return kind != VFD_FUNCTION_CODE &&
	       (kind != VFD_FUNCTION_OTHER || key == KEY_PAUSE || (key & KEY_SYNC) == KEY_SYNC);
}

static void find_code(const struct process *p, uint64_t key, struct vfd_function *f)
{
	struct code_place place;

	if (!codemap_find_key(p->code, key, &place))
		return;
	f->module = place.path;
	f->address = place.address;
	f->build_id_bytes = (uint32_t)place.build_id_bytes;
	memcpy(f->build_id, place.build_id, place.build_id_bytes);
}

/* Names that need no file to be read are told at once. Returns number << 1 | precise. */
static uint32_t define(struct sampling_process *s, uint64_t key)
{
	const struct process *p = s->process;
	struct vfd_function f = {.process = s->number, .kind = kind_of(p, key)};
	bool is_code = f.kind == VFD_FUNCTION_CODE, match = is_code && s->sampling->has_precise;
	bool late = (is_code && !match) || f.kind == VFD_FUNCTION_OPENMP;
	uint32_t number;

	f.precise = is_precise(f.kind, key);
	if (!late)
		f.name = symcache_name(p->agent->symbols, p, key);
	if (match)
		f.precise = matches(s->sampling, f.name);
	if (is_code)
		find_code(p, key, &f);
	if (f.kind == VFD_FUNCTION_OPENMP)
		f.index = regions_kind_of_key(p, key);
	if (f.kind == VFD_FUNCTION_MPI) {
		f.index = key_mpi((uint32_t)key);
		f.process = VFD_NONE;
	}
	number = vfd_define_function(writer(s), &f);
	if (late) {
		s->unnamed = grow(s->unnamed, s->n_unnamed, &s->cap_unnamed, sizeof(*s->unnamed));
		s->unnamed[s->n_unnamed++] = (struct sampled_function){key, number, f.precise};
	}
	return number << 1 | f.precise;
}

/* The functions of MPI are those of all processes. */
static uint32_t mpi_function(struct sampling_process *s, uint64_t key)
{
	uint32_t *known = &s->sampling->mpi[key_mpi(key)];

	if (!*known)
		*known = define(s, key) + 1;
	return *known - 1;
}

static uint32_t function_of(struct sampling_process *s, uint64_t key)
{
	const uint32_t *known;
	uint32_t number;

	if (key_mpi(key) < vftr_mpi_n)
		return mpi_function(s, key);
	known = map64_find(&s->functions, key);
	if (known)
		return *known;
	number = define(s, key);
	map64_add(&s->functions, key, number);
	return number;
}

uint32_t sampling_function(struct sampling_process *s, uint64_t key)
{
	return function_of(s, key) >> 1;
}

bool sampling_is_precise(struct sampling_lane *l, uint64_t key)
{
	enum vfd_function_kind kind = kind_of(l->process->process, key);

	if (kind != VFD_FUNCTION_CODE || !l->process->sampling->has_precise)
		return is_precise(kind, key);
	return function_of(l->process, key) & 1;
}

static void name_functions(struct sampling_process *s)
{
	for (size_t i = 0; i < s->n_unnamed; i++) {
		const struct sampled_function *f = &s->unnamed[i];

		vfd_define_name(writer(s), f->number,
			symcache_name(s->process->agent->symbols, s->process, f->key), f->precise);
	}
	s->n_unnamed = 0;
}

/* ---- threads ---------------------------------------------------------------------- */

struct sampling_lane *sampling_thread_begin(struct thread_ring *t, const char *name)
{
	struct sampling_process *s = t->process->sampled;
	struct vfd_thread told = {.number = t->number,
		.creator = t->parent,
		.tid = t->tid,
		.name = name && *name ? name : NULL,
		.start = (int64_t)t->start_ticks};
	struct sampling_lane *l;

	if (!s)
		return NULL;
	l = xcalloc(1, sizeof(*l));
	told.process = s->number;
	l->process = s;
	l->interval = s->sampling->interval;
	l->long_call = 2 * l->interval;
	l->window.random = ((uint64_t)told.process << 32 | told.number) * 2 + 0x9e3779b97f4a7c15u;
	l->lane = vfd_lane_new(writer(s), &told);
	while (s->n_threads <= t->number) {
		s->threads = grow(s->threads, s->n_threads, &s->cap_threads, sizeof(*s->threads));
		s->threads[s->n_threads++] = (struct sampled_thread){NULL, VFD_NONE};
	}
	s->threads[t->number] = (struct sampled_thread){l->lane, vfd_lane_number(l->lane)};
	return l;
}

void sampling_thread_name(struct thread_ring *t)
{
	struct sampling_process *s = t->process->sampled;

	if (s && t->number < s->n_threads && s->threads[t->number].lane)
		vfd_lane_name(s->threads[t->number].lane, t->name);
}

void sampling_thread_end(struct thread_ring *t, struct sampling_lane *l, uint64_t ticks)
{
	struct sampling_process *s = t->process->sampled;

	if (!l)
		return;
	vfd_lane_end(l->lane, ticks);
	s->threads[t->number].lane = NULL;
	map64_free(&l->stacks);
	free(l);
}

uint32_t sampling_stack(struct sampling_lane *l, uint32_t caller, uint64_t key, bool again)
{
	uint32_t function = function_of(l->process, key) >> 1, stack;
	uint64_t both = (uint64_t)caller << 32 | function;
	const uint32_t *known = again ? map64_find(&l->stacks, both) : NULL;

	if (known)
		return *known;
	stack = vfd_stack_new(l->lane, caller, function);
	if (stack == VFD_NONE)
		return caller;
	if (again)
		map64_add(&l->stacks, both, stack);
	return stack;
}

void sampling_openmp(struct sampling_lane *l, uint32_t level, uint32_t number)
{
	if (l->openmp_level == level && l->openmp_number == number)
		return;
	l->openmp_level = level;
	l->openmp_number = number;
	vfd_lane_openmp(l->lane, level, number);
}

/* ---- processes --------------------------------------------------------------------- */

void sampling_process_rank(struct process *p, int rank, int size, uint64_t job)
{
	struct sampling_process *s = p->sampled;

	if (!s)
		return;
	s->has_rank = true;
	if (p->match && !map64_find(&s->sampling->places, p->match_place))
		map64_add(&s->sampling->places, p->match_place, s->number);
	vfd_define_rank(writer(s), s->number, rank, size > 0 ? (uint32_t)size : 0, job);
}

void sampling_process_session(struct process *p)
{
	struct sampling_process *s = p->sampled;

	if (s && p->session_match && !map64_find(&s->sampling->places, p->session_place))
		map64_add(&s->sampling->places, p->session_place, s->number);
}

void sampling_round(const struct agent *a, uint32_t number, uint64_t ticks)
{
	if (a->sampling && a->sampling->writer)
		vfd_define_round(a->sampling->writer, number, ticks);
}

void sampling_process_end(struct process *p)
{
	static const uint32_t hows[] = {
		[PROCESS_EXITED] = 0, [PROCESS_KILLED] = 1, [PROCESS_EXECED] = 2};
	struct sampling_process *s = p->sampled;

	if (!s)
		return;
	traffic_tap_rest(p->traffic, p->end_ticks);
	name_functions(s);
	if (p->end != PROCESS_RUNNING)
		vfd_define_process_end(
			writer(s), s->number, p->end_ticks, hows[p->end], p->exit_status);
}

void sampling_process_free(struct process *p)
{
	struct sampling_process *s = p->sampled;

	if (!s)
		return;
	map64_free(&s->functions);
	map64_free(&s->objects);
	free(s->unnamed);
	free(s->threads);
	free(s);
	p->sampled = NULL;
}
