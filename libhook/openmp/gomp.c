/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records the threads of OpenMP programs of gcc and gfortran, at the entry
 * points of libgomp. A parallel region runs our function around the program's,
 * on each thread of its team. libgomp has one barrier, so that the implicit one
 * of a static loop or a single is recorded as any other; it has no call at the
 * end of a single, and none at all for loops whose schedule gcc works out itself.
 */
#include <string.h>
#include "libhook/openmp/gomp.h"
#include "shm/atomic.h"

static __thread struct gomp_context *current;
static __thread struct gomp_context outside; /* of all regions and tasks */

/* By the linker: the functions that are GOMP_RUNS_BODIES. */
extern const char __start_vftr_bodies[] __attribute__((visibility("hidden")));
extern const char __stop_vftr_bodies[] __attribute__((visibility("hidden")));

const void *vftr_gomp_place(gomp_function fn)
{
	return (const char *)(uintptr_t)fn + 1; /* as if it were returned to */
}

const void *vftr_gomp_site(const void *caller)
{
	const struct gomp_context *c = current;
	bool jumped = (const char *)caller >= __start_vftr_bodies &&
		      (const char *)caller < __stop_vftr_bodies;

	return jumped && c ? vftr_gomp_place(c->fn) : caller;
}

/* ---- frames that begin in one call and end in another ---- */

struct gomp_context *vftr_gomp_here(void)
{
	return current ? current : &outside;
}

static uint32_t frame_of(uint32_t region, uint32_t kind)
{
	return region << 8 | kind;
}

static void open_frame(struct gomp_context *c, uint32_t frame)
{
	if (c->used == GOMP_FRAMES) {
		c->hidden++;
		return;
	}
	c->open[c->used++] = frame;
	vftr_construct_enter(frame >> 8);
}

static void close_frames(struct gomp_context *c, uint32_t left)
{
	while (c->used > left)
		vftr_construct_exit(c->open[--c->used] >> 8);
}

/* The frames inside of it were left by a cancellation. */
static void close_frame(struct gomp_context *c, uint32_t kind)
{
	if (c->hidden) {
		c->hidden--;
		return;
	}
	for (uint32_t i = c->used; i--;)
		if ((c->open[i] & 0xff) == kind) {
			close_frames(c, i);
			return;
		}
}

void vftr_gomp_context_begin(struct gomp_context *c)
{
	c->outer = current;
	current = c;
}

void vftr_gomp_context_end(struct gomp_context *c)
{
	close_frames(c, 0);
	current = c->outer;
}

/* ---- GOMP_CALLS ---- */

enum { CONSTRUCT_0 = CONSTRUCT_KINDS }; /* a row waits for nothing */

#define ACTION_OPEN  0x100
#define ACTION_CLOSE 0x200
#define ACTION_KIND  0xff
#define OPEN(kind)   (ACTION_OPEN | CONSTRUCT_##kind)
#define CLOSE(kind)  (ACTION_CLOSE | CONSTRUCT_##kind)
#define LATE	     0x300

static const struct row {
	uint16_t first, wait, then;
} rows[] = {
#define ROW(...) ROW_(__VA_ARGS__)
#define ROW_(result, name, parameters, arguments, first, wait, then)                               \
	[GOMP_ROW_##name] = {first, CONSTRUCT_##wait, then},
	GOMP_CALLS(ROW)
#undef ROW
#undef ROW_
};

struct call {
	void *real;
	const struct row *row; /* NULL: not recorded */
	const void *site;
	uint32_t wait;
};

void vftr_gomp_frame(enum construct kind, const void *site)
{
	open_frame(vftr_gomp_here(), frame_of(vftr_construct(kind, site, NULL), kind));
}

static void act(unsigned action, const void *site)
{
	struct gomp_context *c = vftr_gomp_here();
	uint32_t kind = action & ACTION_KIND;

	switch (action & ~ACTION_KIND) {
	case ACTION_OPEN:
		vftr_gomp_frame(kind, site);
		break;
	case ACTION_CLOSE:
		close_frame(c, kind);
		break;
	case LATE:
		if (c->late)
			open_frame(c, c->late);
		c->late = 0;
		break;
	}
}

static void call_begin(struct call *c, enum gomp_row row, const void *site)
{
	struct gomp *g;

	c->real = vftr_gomp_find(row, site, &g);
	c->row = g ? &rows[row] : NULL;
	if (!g)
		return;
	c->site = vftr_gomp_site(site);
	act(c->row->first, c->site);
	c->wait = 0;
	if (c->row->wait != CONSTRUCT_0)
		c->wait = vftr_construct(c->row->wait, c->site, NULL);
	vftr_wait(0, c->wait, 0);
}

static void call_end(struct call *c)
{
	if (!c->row)
		return;
	vftr_wait(RECORD_EXIT, c->wait, 0);
	act(c->row->then, c->site);
}

#define CALL(...) CALL_(__VA_ARGS__)
#define CALL_(result, name, parameters, arguments, first, wait, then)                              \
	GOMP_EXPORT result name parameters;                                                        \
	GOMP_EXPORT result name parameters                                                         \
	{                                                                                          \
		__attribute__((cleanup(call_end))) struct call call;                               \
                                                                                                   \
		call_begin(&call, GOMP_ROW_##name, GOMP_CALLER);                                   \
		return ((result(*) parameters)call.real)arguments;                                 \
	}
GOMP_CALLS(CALL)

/* NULL tells the caller to run the block; the others have waited for its data. */
GOMP_EXPORT void *GOMP_single_copy_start(void);
GOMP_EXPORT void *GOMP_single_copy_start(void)
{
	const void *site = GOMP_CALLER;
	struct gomp *g;
	void *(*real)(void), *data;
	uint32_t wait;

	*(void **)&real = vftr_gomp_find(GOMP_ROW_GOMP_single_copy_start, site, &g);
	if (!g)
		return real();
	site = vftr_gomp_site(site);
	wait = vftr_construct(CONSTRUCT_BARRIER_IMPLICIT, site, NULL);
	vftr_wait(0, wait, 0);
	data = real();
	vftr_wait(RECORD_EXIT, wait, 0);
	if (!data)
		act(OPEN(SINGLE), site);
	return data;
}

/* ---- parallel regions ---- */

/* Data for the threads of a team, on the stack of the thread that made it. */
struct part {
	void *reductions; /* libgomp looks for it in the first word */
	gomp_function fn;
	void *data;
	struct gomp *library; /* NULL: not recorded */
	uint32_t team;
	uint32_t region;
	uint32_t late; /* as in a context */
	uint32_t size;
	void *real;
	gomp_function run; /* what libgomp is to call, and with what */
	void *argument;
};

/* A thread's part in it. */
struct member {
	struct gomp_context context;
	uint32_t level, size, number;
};

static void team_record(uint64_t exit_bit, const struct member *m, uint32_t region)
{
	vftr_team(exit_bit, m->context.team, region, m->level, m->size, m->number);
}

static void team_enter(struct member *m, struct part *p)
{
	memset(&m->context, 0, offsetof(struct gomp_context, open));
	m->context.fn = p->fn;
	m->context.team = p->team;
	m->context.late = p->late;
	m->level = vftr_gomp_ask(p->library, GOMP_ROW_omp_get_level);
	m->size = vftr_gomp_ask(p->library, GOMP_ROW_omp_get_num_threads);
	m->number = vftr_gomp_ask(p->library, GOMP_ROW_omp_get_thread_num);
	if (m->number == 0)
		p->size = m->size;
	team_record(0, m, p->region);
	vftr_gomp_context_begin(&m->context);
}

static void team_exit(struct member *m, uint32_t region)
{
	vftr_gomp_context_end(&m->context);
	team_record(RECORD_EXIT, m, region);
}

GOMP_RUNS_BODIES static void run_part(void *part)
{
	struct part *p = part;
	uint32_t region = p->region;
	struct member m;

	team_enter(&m, p);
	p->fn(p->data);
	team_exit(&m, region);
}

static void part_begin(struct part *p, enum gomp_row row, uint32_t late_kind, gomp_function fn,
	void *data, unsigned threads, const void *site)
{
	memset(p, 0, sizeof(*p));
	p->real = vftr_gomp_find(row, site, &p->library);
	p->run = fn;
	p->argument = data;
	if (p->library)
		p->region = vftr_construct(CONSTRUCT_PARALLEL, vftr_gomp_place(fn), NULL);
	if (!p->region) {
		p->library = NULL;
		return;
	}
	if (row == GOMP_ROW_GOMP_parallel_reductions)
		p->reductions = *(void **)data;
	if (late_kind != CONSTRUCT_0)
		p->late = frame_of(vftr_construct(late_kind, vftr_gomp_place(fn), NULL), late_kind);
	p->fn = fn;
	p->data = data;
	p->run = run_part;
	p->argument = p;
	p->team = vftr_team_new();
	vftr_fork(0, p->team, p->region, threads);
}

static void part_end(struct part *p)
{
	if (p->library)
		vftr_fork(RECORD_EXIT, p->team, p->region, p->size);
}

#define BARE(...)     __VA_ARGS__
#define PARALLEL(...) PARALLEL_(__VA_ARGS__)
#define PARALLEL_(result, name, parameters, arguments, late)                                       \
	GOMP_EXPORT result name(gomp_function, void *, unsigned BARE parameters);                  \
	GOMP_EXPORT result name(gomp_function fn, void *data, unsigned threads BARE parameters)    \
	{                                                                                          \
		__attribute__((cleanup(part_end))) struct part part;                               \
                                                                                                   \
		part_begin(                                                                        \
			&part, GOMP_ROW_##name, CONSTRUCT_##late, fn, data, threads, GOMP_CALLER); \
		return ((result(*)(gomp_function, void *, unsigned BARE parameters))part.real)(    \
			part.run, part.argument, threads BARE arguments);                          \
	}
GOMP_PARALLELS(PARALLEL)

/* ---- the same of gcc before 4.9 ---- */

#define OLD_REGIONS 128u /* open at one time; more are not recorded */

/* Begins with the context, which GOMP_parallel_end() finds. */
static struct old_region {
	struct member member;
	struct part part;
	uint32_t taken;
} old_regions[OLD_REGIONS];

static struct old_region *old_begin(struct part *plain, enum gomp_row row, uint32_t late_kind,
	gomp_function fn, void *data, unsigned threads, const void *site)
{
	struct old_region *o = NULL;
	struct gomp *g;

	for (unsigned i = 0; !o && i < OLD_REGIONS; i++)
		if (!load_relaxed(&old_regions[i].taken) && claim_u32(&old_regions[i].taken, 0, 1))
			o = &old_regions[i];
	if (o) {
		part_begin(&o->part, row, late_kind, fn, data, threads, site);
		*plain = o->part;
		if (o->part.library)
			return o;
		store_release(&o->taken, 0);
	}
	plain->real = vftr_gomp_find(row, site, &g);
	plain->run = fn;
	plain->argument = data;
	vftr_gomp_here()->skipped++;
	return NULL;
}

/* libgomp has made the team; the caller runs the body next. */
static void old_enter(struct old_region *o)
{
	if (!o)
		return;
	team_enter(&o->member, &o->part);
	o->member.context.is_old = true;
}

#define PARALLEL_START(...) PARALLEL_START_(__VA_ARGS__)
#define PARALLEL_START_(result, name, parameters, arguments, late)                                 \
	GOMP_EXPORT result name(gomp_function, void *, unsigned BARE parameters);                  \
	GOMP_EXPORT result name(gomp_function fn, void *data, unsigned threads BARE parameters)    \
	{                                                                                          \
		struct part part;                                                                  \
		struct old_region *old = old_begin(                                                \
			&part, GOMP_ROW_##name, CONSTRUCT_##late, fn, data, threads, GOMP_CALLER); \
                                                                                                   \
		((result(*)(gomp_function, void *, unsigned BARE parameters))part.real)(           \
			part.run, part.argument, threads BARE arguments);                          \
		old_enter(old);                                                                    \
	}
GOMP_PARALLEL_STARTS(PARALLEL_START)

GOMP_EXPORT void GOMP_parallel_end(void);
GOMP_EXPORT void GOMP_parallel_end(void)
{
	struct gomp_context *c = vftr_gomp_here();
	struct old_region *o = NULL;
	void (*real)(void);
	struct gomp *g;

	*(void **)&real = vftr_gomp_find(GOMP_ROW_GOMP_parallel_end, GOMP_CALLER, &g);
	if (c->skipped)
		c->skipped--;
	else if (c->is_old)
		o = (struct old_region *)(void *)c;
	if (o)
		team_exit(&o->member, o->part.region);
	real();
	if (!o)
		return;
	part_end(&o->part);
	store_release(&o->taken, 0);
}
