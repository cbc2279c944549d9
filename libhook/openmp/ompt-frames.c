/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stack per thread, on pages of its own that are touched as it grows. It
 * never moves: other threads read the entry of the parallel region they work
 * in (the runtime orders that). What does not fit any more is only counted.
 */
#include "libhook/openmp/ompt-frames.h"

#include <stddef.h>
#include <sys/mman.h>
#include "libhook/ompt-check.h"
#include "libhook/openmp/locks.h"
#include "libhook/thread.h"

#define STACK_BYTES ((size_t)1 << 21)
#define STACK_OPEN  (STACK_BYTES / sizeof(struct open))

struct stack {
	struct open *base;
	uint32_t n;
	uint32_t team;	     /* 1 + index of the innermost team, or 0 */
	uint32_t over;	     /* begun when there was no room */
	uint64_t lock_since; /* 0: none is asked for */
	const void *lock_address, *lock;
	uint32_t lock_open; /* the region of the wait for it, if its begin is recorded */
	bool sets_lock;
	const void *caller; /* of the function that comes next, if we are in between */
};

static __thread struct stack own;
static uint32_t too_deep; /* said */

static const bool waits[CONSTRUCT_KINDS] = {
#define CONSTRUCT_WAITS(kind, name, is_wait) [CONSTRUCT_##kind] = is_wait,
	CONSTRUCTS(CONSTRUCT_WAITS)
#undef CONSTRUCT_WAITS
};

/*
 * A task in the 64 bits that the runtime keeps for it:
 * team<<32 | begun<<31 | creator's number<<20 | region
 */
#define TASK_REGIONS ((1u << 20) - 1)
#define TASK_CREATOR 20
#define TASK_NUMBERS ((1u << 11) - 1)
#define TASK_BEGUN   ((uint64_t)1 << 31)

static struct open *push(const struct open *new)
{
	if (!own.base) {
		void *room = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (room != MAP_FAILED)
			own.base = room;
	}
	if (!own.base || own.n == STACK_OPEN) {
		own.over++;
		if (claim_u32(&too_deep, 0, 1))
			vftr_note("a thread had more tasks and constructs of OpenMP open at once "
				  "than are recorded: the innermost are missing");
		return NULL;
	}
	own.base[own.n] = *new;
	if (new->what == OPEN_TEAM) {
		own.base[own.n].outer = own.team;
		own.team = own.n + 1;
	}
	return &own.base[own.n++];
}

static void record(const struct open *o, uint64_t exit_bit, bool resumed)
{
	switch ((enum open_what)o->what) {
	case OPEN_CONSTRUCT:
		if (waits[o->kind])
			vftr_wait(exit_bit, o->region,
				(uint64_t)o->lock << 32 | (o->in_turn ? OPENMP_TURN : 0));
		else if (exit_bit)
			vftr_construct_exit(o->region);
		else
			vftr_construct_enter(o->region);
		break;
	case OPEN_FORK:
		vftr_fork(exit_bit, o->team, o->region, o->size);
		break;
	case OPEN_TEAM:
		if (!o->left)
			vftr_team(exit_bit, o->team, o->region, o->level, o->size, o->number);
		break;
	case OPEN_TASK:
		vftr_task(exit_bit, o->team, o->region, resumed, o->number);
		break;
	}
}

static void close_from(uint32_t i)
{
	while (own.n > i) {
		const struct open *o = &own.base[--own.n];

		record(o, RECORD_EXIT, false);
		if (o->what == OPEN_TEAM)
			own.team = o->outer;
	}
}

/* True if the end that came is that of something we had no room for. */
static bool was_over(void)
{
	if (!own.over)
		return false;
	own.over--;
	return true;
}

static const struct open *own_team(void)
{
	return own.team ? &own.base[own.team - 1] : NULL;
}

bool vftr_frames_inside(enum construct kind)
{
	return own.n && own.base[own.n - 1].what == OPEN_CONSTRUCT &&
	       own.base[own.n - 1].kind == kind;
}

const void *vftr_frames_address(void)
{
	const struct open *team;

	if (own.n && own.base[own.n - 1].what != OPEN_TASK)
		return own.base[own.n - 1].address;
	team = own_team();
	return team ? team->address : NULL;
}

const void *vftr_frames_site(const void *address)
{
	const void *caller = own.caller;

	own.caller = NULL;
	if (caller)
		return caller;
	return address && !ompt_is_runtime(address) ? address : vftr_frames_address();
}

void vftr_frames_called_from(const void *caller)
{
	own.caller = caller;
}

_Static_assert(sizeof(struct open) == 48, "so many fit on a stack");

static bool shares_work(unsigned kind)
{
	return kind == CONSTRUCT_LOOP || kind == CONSTRUCT_SECTIONS || kind == CONSTRUCT_SINGLE ||
	       kind == CONSTRUCT_WORKSHARE;
}

/* When one of these begins, an open work-sharing construct was cancelled. */
static void end_cancelled(enum construct kind)
{
	if (!shares_work(kind) && kind != CONSTRUCT_BARRIER && kind != CONSTRUCT_BARRIER_IMPLICIT)
		return;
	for (uint32_t i = own.n; i && own.base[i - 1].what == OPEN_CONSTRUCT; i--)
		if (shares_work(own.base[i - 1].kind))
			close_from(i - 1);
}

void vftr_frames_enter(enum construct kind, const void *address)
{
	vftr_frames_enter_wait(kind, address, 0);
}

void vftr_frames_enter_wait(enum construct kind, const void *address, uint64_t lock)
{
	struct open o = {.what = OPEN_CONSTRUCT,
		.kind = (uint8_t)kind,
		.in_turn = lock & OPENMP_TURN,
		.lock = (uint32_t)(lock >> 32)};

	end_cancelled(kind);
	o.address = vftr_frames_site(address);
	o.region = vftr_construct(kind, o.address, NULL);
	if (push(&o))
		record(&o, 0, false);
}

void vftr_frames_leave(enum construct kind)
{
	if (was_over())
		return;
	for (uint32_t i = own.n; i && own.base[i - 1].what == OPEN_CONSTRUCT; i--)
		if (own.base[i - 1].kind == kind) {
			close_from(i - 1);
			return;
		}
}

static void want_no_lock(void)
{
	if (own.lock_since)
		vftr_lock_got(own.lock);
	own.lock_since = 0;
}

void vftr_frames_sets_lock(bool sets)
{
	own.sets_lock = sets;
}

void vftr_frames_lock_wanted(const void *address, const void *lock)
{
	if (own.lock_since && own.lock_open)
		vftr_wait(RECORD_EXIT, own.lock_open, OPENMP_TURN); /* it has got nothing */
	want_no_lock();
	own.lock_address = vftr_frames_site(address);
	own.lock = lock;
	own.lock_open = 0;
	if (own.sets_lock) {
		own.sets_lock = false; /* a jump may leave the function without a word */
		own.lock_open = vftr_construct(CONSTRUCT_LOCK_WAIT, own.lock_address, NULL);
		vftr_wait(0, own.lock_open, vftr_lock_bits(lock, 0));
	}
	own.lock_since = clock_counter();
	vftr_lock_wanted(lock);
}

void vftr_frames_lock_got(bool again)
{
	const uint64_t bits = again ? 0 : vftr_lock_bits(own.lock, 0);
	uint32_t region = own.lock_open;

	if (!own.lock_since)
		return;
	if (!region) {
		region = vftr_construct(CONSTRUCT_LOCK_WAIT, own.lock_address, NULL);
		vftr_wait_since(own.lock_since, region, bits);
	}
	vftr_wait(RECORD_EXIT, region, bits);
	want_no_lock();
}

struct open *vftr_frames_fork(enum construct kind, const void *address, uint32_t size)
{
	const struct open *team = own_team();
	struct open o = {.what = OPEN_FORK, .kind = (uint8_t)kind, .size = size};

	o.address = vftr_frames_site(address);
	o.level = (uint16_t)((team ? team->level : 0) + (kind == CONSTRUCT_PARALLEL));
	o.region = vftr_construct(kind, o.address, NULL);
	o.team = vftr_team_new();
	record(&o, 0, false);
	return push(&o);
}

void vftr_frames_join(const struct open *fork)
{
	if (fork && fork >= own.base && fork < own.base + own.n && fork->what == OPEN_FORK) {
		own.over = 0;
		close_from((uint32_t)(fork - own.base));
	}
}

void vftr_frames_team(const struct open *fork, const void *task, uint32_t size, uint32_t number)
{
	struct open o = {.what = OPEN_TEAM, .task = task, .size = size, .number = number};
	uint32_t i = own.n;

	if (fork) {
		o.address = fork->address;
		o.region = fork->region;
		o.team = fork->team;
		o.level = fork->level;
	}
	if (i && fork == &own.base[i - 1])
		own.base[i - 1].size = size; /* as it really is */
	if (push(&o))
		record(&o, 0, false);
}

void vftr_frames_team_left(void)
{
	uint32_t i = own.team;

	if (!i || own.over || own.base[i - 1].left)
		return;
	close_from(i);
	record(&own.base[i - 1], RECORD_EXIT, false);
	own.base[i - 1].left = true;
}

void vftr_frames_team_end(void)
{
	uint32_t i = own.team;

	if (i && !was_over())
		close_from(i - 1);
}

bool vftr_frames_left(void)
{
	return own.n && own.base[own.n - 1].what == OPEN_TEAM && own.base[own.n - 1].left;
}

uint64_t vftr_frames_task_made(const void *address)
{
	const struct open *team = own_team();
	uint32_t region = vftr_construct(CONSTRUCT_TASK, vftr_frames_site(address), NULL);
	uint32_t creator = team ? team->number : 0;

	if (!region || region > TASK_REGIONS)
		return 0;
	return (uint64_t)(team ? team->team : 0) << 32 |
	       (uint64_t)(creator < TASK_NUMBERS ? creator : TASK_NUMBERS) << TASK_CREATOR | region;
}

/* 1 + index of this task, below nothing but constructs and other explicit tasks; or 0. */
static uint32_t find_task(const void *task)
{
	for (uint32_t i = own.n; i; i--) {
		const struct open *o = &own.base[i - 1];

		if ((o->what == OPEN_TASK || o->what == OPEN_TEAM) && o->task == task)
			return i;
		if (o->what == OPEN_TEAM || o->what == OPEN_FORK)
			break;
	}
	return 0;
}

static void task_begin(uint64_t *task)
{
	struct open o = {.what = OPEN_TASK, .task = task};
	uint64_t value = *task;

	if (!value)
		return;
	o.team = (uint32_t)(value >> 32);
	o.number = (uint32_t)(value >> TASK_CREATOR) & TASK_NUMBERS;
	o.region = (uint32_t)value & TASK_REGIONS;
	*task |= TASK_BEGUN;
	if (push(&o))
		record(&o, 0, value & TASK_BEGUN);
}

void vftr_frames_task_end(const uint64_t *task)
{
	uint32_t i;

	if (!*task || was_over())
		return;
	i = find_task(task);
	if (i && own.base[i - 1].what == OPEN_TASK)
		close_from(i - 1);
}

bool vftr_frames_task_runs(const void *task)
{
	uint32_t i = own.over ? 0 : find_task(task);

	for (uint32_t above = i; i && above < own.n; above++)
		if (own.base[above].what == OPEN_TASK)
			close_from(above);
	return i != 0;
}

void vftr_frames_task_next(uint64_t *task)
{
	bool fresh = *task && !(*task & TASK_BEGUN);

	if (fresh || !vftr_frames_task_runs(task))
		task_begin(task);
}

void vftr_frames_free(void)
{
	want_no_lock();
	/* others may still look at an open region when the process ends inside of it */
	if (own.base && !own.n)
		munmap(own.base, STACK_BYTES);
	own = (struct stack){0};
}
