/* SPDX-License-Identifier: BSD-3-Clause */
/* Defines processes, threads and functions in the sampling file. */
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "nodeagent/process/host.h"
#include "nodeagent/replay/tree/calltree.h"
#include "nodeagent/process/codemap.h"
#include "nodeagent/process/forks.h"
#include "nodeagent/symbols/demangle.h"
#include "nodeagent/process/process.h"
#include "nodeagent/process/regions.h"
#include "nodeagent/recorder/internal.h"
#include "nodeagent/process/names.h"
#include "nodeagent/replay/comm/listener.h"
#include "nodeagent/base/util.h"

extern const char *const vftr_mpi_names[]; /* generated from mpi/generate/mpi.tab */
extern const unsigned vftr_mpi_n;

static struct vfd_writer *writer(const struct recorder_process *s)
{
	return s->recorder->writer;
}

/* ---- functions ------------------------------------------------------------------ */

static bool matches(const struct recorder *s, const char *name)
{
	const struct name_style style = name_style_of(s->host->conf);

	return name_matches(&s->precise, name, &style);
}

/* Who can say what the key of a frame is: the number of a region, or the address of code. */
struct teller {
	const struct process *process;
	uint64_t key; /* there */
	bool knows;
};

static bool can_tell(const struct process *p, uint64_t key)
{
	struct code_location location;

	if (key_is_region(key))
		return regions_has(p, key);
	return (!key_is_function(key) && !key_is_site(key)) ||
	       codemap_find_key(p->code, key, &location);
}

/* A child of fork() has the frames of its parent before it has said what they are: until then the
 * parent knows it, where the same code is at the same address. */
static struct teller teller_of(const struct process *p, uint64_t key)
{
	const bool known = can_tell(p, key);
	const struct process *parent = known ? NULL : forks_parent(p);
	uint64_t there = key;

	if (parent && !key_is_region(key))
		there = codemap_newest_key(parent->code, key);
	if (parent && can_tell(parent, there))
		return (struct teller){parent, there, true};
	return (struct teller){p, key, known};
}

static enum vfd_function_kind kind_of(const struct process *p, uint64_t key)
{
	if (!RECORD_IS_REGION(key) && !(key & KEY_WIDE)) {
		if (key == KEY_JOIN || key == KEY_IDLE)
			return VFD_FUNCTION_OPENMP;
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
	return regions_kind_of_key(teller_of(p, key).process, key) == CONSTRUCT_KINDS
		       ? VFD_FUNCTION_REGION
		       : VFD_FUNCTION_OPENMP;
}

static bool is_precise(enum vfd_function_kind kind, uint64_t key)
{
	return kind != VFD_FUNCTION_CODE &&
	       (kind != VFD_FUNCTION_OTHER || key == KEY_PAUSE || key == KEY_BLOCKED ||
		       (key & KEY_SYNC) == KEY_SYNC);
}

static void find_code(const struct process *p, uint64_t key, struct vfd_function *f)
{
	struct code_location location;

	if (!codemap_find_key(p->code, key, &location))
		return;
	f->module = location.path;
	f->address = location.address;
	f->build_id_bytes = (uint32_t)location.build_id_bytes;
	memcpy(f->build_id, location.build_id, location.build_id_bytes);
}

/* Names that are known and need no file to be read are told at once. Returns number << 1 | precise.
 */
static uint32_t define_function(struct recorder_process *s, uint64_t key)
{
	const struct teller t = teller_of(s->process, key);
	const struct process *p = t.process;
	struct vfd_function f = {.process = s->number, .kind = kind_of(s->process, key)};
	bool is_code = f.kind == VFD_FUNCTION_CODE;
	bool match = is_code && !key_is_site(key) && s->recorder->has_precise;
	bool late = (is_code && !match) || f.kind == VFD_FUNCTION_OPENMP || !t.knows;
	uint32_t number;

	f.precise = is_precise(f.kind, key);
	if (!late)
		f.name = symcache_name(p->host->symbols, p, t.key);
	if (match)
		f.precise = matches(s->recorder, symcache_name(p->host->symbols, p, t.key));
	if (is_code)
		find_code(p, t.key, &f);
	if (f.kind == VFD_FUNCTION_OPENMP)
		f.index = regions_kind_of_key(p, t.key);
	if (f.kind == VFD_FUNCTION_REGION)
		f.index = regions_is_lock_wait(p, t.key) ? VFD_REGION_LOCK_WAIT : 0;
	if (f.kind == VFD_FUNCTION_MPI) {
		f.index = key_mpi((uint32_t)key);
		f.process = VFD_NONE;
	}
	number = vfd_define_function(writer(s), &f);
	if (late)
		*LIST_ADD(s, unnamed) = (struct sampled_function){key, number, f.precise};
	else if (is_code)
		*LIST_ADD(s->recorder, named) = (struct recorder_named){f.name, number};
	return number << 1 | f.precise;
}

/* The functions of MPI are those of all processes. */
static uint32_t mpi_function(struct recorder_process *s, uint64_t key)
{
	uint32_t *known = &s->recorder->mpi[key_mpi(key)];

	if (!*known)
		*known = define_function(s, key) + 1;
	return *known - 1;
}

static uint32_t function_of(struct recorder_process *s, uint64_t key)
{
	uint32_t *known;

	if (key_mpi(key) < vftr_mpi_n)
		return mpi_function(s, key);
	known = map64_at(&s->functions, key, VFD_NONE);
	if (*known == VFD_NONE)
		*known = define_function(s, key);
	return *known;
}

uint32_t recorder_function(struct recorder_process *s, uint64_t key)
{
	return function_of(s, key) >> 1;
}

static uint32_t number_of(void *process, uint64_t key)
{
	return recorder_function(process, key);
}

static bool is_precise_key(void *process, uint64_t key)
{
	struct recorder_process *s = process;
	enum vfd_function_kind kind = kind_of(s->process, key);

	if (kind != VFD_FUNCTION_CODE || !s->recorder->has_precise)
		return is_precise(kind, key);
	return function_of(s, key) & 1;
}

/* A construct is named by its place, which is known then; that of code is not yet. */
static void name_late(struct recorder_process *s, const struct sampled_function *f)
{
	struct symcache *symbols = s->process->host->symbols;
	const char *name = symcache_name(symbols, s->process, f->key);
	struct source_place place = {NULL, 0};

	vfd_define_name(writer(s), f->number, name, f->precise);
	if (key_is_site(f->key))
		place = symcache_site(symbols, s->process, f->key);
	else if (kind_of(s->process, f->key) == VFD_FUNCTION_CODE)
		*LIST_ADD(s->recorder, named) = (struct recorder_named){name, f->number};
	else
		place = regions_source(symbols, s->process, f->key);
	if (place.file)
		vfd_define_source(writer(s), f->number, place.file, place.line);
}

static void name_functions(struct recorder_process *s)
{
	for (size_t i = 0; i < s->n_unnamed; i++)
		name_late(s, &s->unnamed[i]);
	s->n_unnamed = 0;
}

void recorder_name_functions(struct recorder *s)
{
	for (struct process *p = s->host->processes; p; p = p->next)
		if (p->sampled)
			name_functions(p->sampled);
}

void recorder_sources(struct recorder *s)
{
	symcache_read_sources(s->host->symbols);
	EACH(const struct recorder_named, n, s->named, s->n_named) {
		const struct source_place place = symcache_source_of(s->host->symbols, n->name);

		if (place.file)
			vfd_define_source(s->writer, n->number, place.file, place.line);
	}
	free(s->named);
	s->named = NULL;
	s->n_named = s->cap_named = 0;
}

/* ---- threads ---------------------------------------------------------------------- */

static void begin_thread(struct thread_ring *t)
{
	static const struct sampled_numbers numbers = {.function = number_of,
		.is_precise = is_precise_key,
		.counters = recorder_counters,
		.user_counter = recorder_user_counter};
	struct recorder_process *s = t->process->sampled;
	struct vfd_thread told = {.number = t->number,
		.creator = t->parent,
		.tid = t->tid,
		.name = *t->name ? t->name : NULL,
		.start = (int64_t)t->start_ticks};
	struct sampled_track *l;

	if (!s)
		return;
	l = xcalloc(1, sizeof(*l));
	told.process = s->number;
	l->numbers = &numbers;
	l->ctx = s;
	l->interval = s->recorder->interval;
	l->long_call = 2 * l->interval;
	l->window.random = ((uint64_t)told.process << 32 | told.number) * 2 + 0x9e3779b97f4a7c15u;
	l->track = vfd_track_new(writer(s), &told);
	while (s->n_threads <= t->number) {
		*LIST_ADD(s, threads) = (struct sampled_thread){NULL, VFD_NONE};
	}
	s->threads[t->number] = (struct sampled_thread){l->track, vfd_track_number(l->track)};
	replay_set_sampled(t->replay, l);
	recorder_watch_slow(t);
}

static void name_thread(struct thread_ring *t)
{
	struct recorder_process *s = t->process->sampled;

	if (s && t->number < s->n_threads && s->threads[t->number].track)
		vfd_track_name(s->threads[t->number].track, t->name);
}

static void end_thread(struct thread_ring *t)
{
	struct sampled_track *l = replay_sampled(t->replay);

	if (!l)
		return;
	vfd_track_end(l->track, replay_last_ticks(t->replay));
	t->process->sampled->threads[t->number].track = NULL;
	replay_set_sampled(t->replay, NULL);
	map64_free(&l->stacks);
	free(l);
}

/* ---- processes --------------------------------------------------------------------- */

void recorder_process_rank(struct process *p, int rank, int size, uint64_t job)
{
	struct recorder_process *s = p->sampled;

	if (!s)
		return;
	s->has_rank = true;
	if (p->match)
		map64_at(&s->recorder->proc_ids, p->proc_id, s->number);
	vfd_define_rank(writer(s), s->number, rank, size > 0 ? (uint32_t)size : 0, job);
}

static void set_session_rank(struct process *p)
{
	struct recorder_process *s = p->sampled;

	if (s && p->session_match)
		map64_at(&s->recorder->proc_ids, p->session_proc_id, s->number);
}

static void set_rank(struct process *p, const struct wire_rank *m)
{
	recorder_process_rank(p, m->rank, m->size, m->job);
}

void recorder_round(const struct host *host, uint32_t number, uint64_t ticks)
{
	if (host->recorder && host->recorder->writer)
		vfd_define_round(host->recorder->writer, number, ticks);
}

/* A signal, or an exit that tells of an error. */
static void note_death(struct process *p)
{
	const char *name = process_name(p);
	char *what;

	if (p->end != PROCESS_KILLED && p->exit_status <= 0)
		return;
	what = p->end == PROCESS_KILLED && p->exit_status > 0
		       ? xasprintf("%s was killed by signal %d", name, p->exit_status)
	       : p->end == PROCESS_KILLED ? xasprintf("%s was killed", name)
					  : xasprintf("%s exited with %d", name, p->exit_status);
	recorder_event(p->host,
		(struct flight_event){.kind = EVENT_DEATH,
			.of_pid = p->rank < 0,
			.number = (uint64_t)(p->rank < 0 ? p->pid : p->rank)},
		what);
	free(what);
}

static void end_process(struct process *p)
{
	static const uint32_t hows[] = {
		[PROCESS_EXITED] = 0, [PROCESS_KILLED] = 1, [PROCESS_EXECED] = 2};
	struct recorder_process *s = p->sampled;

	if (!s)
		return;
	traffic_listener_rest(p->traffic, p->end_ticks);
	name_functions(s);
	if (p->end != PROCESS_RUNNING)
		vfd_define_process_end(
			writer(s), s->number, p->end_ticks, hows[p->end], p->exit_status);
	note_death(p);
}

static void free_process(struct process *p)
{
	struct recorder_process *s = p->sampled;

	if (!s)
		return;
	map64_free(&s->functions);
	map64_free(&s->objects);
	free(s->unnamed);
	free(s->threads);
	free(s);
	p->sampled = NULL;
}

const struct process_observer recorder_observer = {
	.begin = recorder_process_begin,
	.rank = set_rank,
	.session_rank = set_session_rank,
	.thread_begin = begin_thread,
	.thread_name = name_thread,
	.thread_end = end_thread,
	.thread_waited = recorder_thread_waited,
	.end = end_process,
	.free = free_process,
};
