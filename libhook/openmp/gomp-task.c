/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Explicit tasks of libgomp. A task's body may run later, on another thread, or
 * never; what we need to know then travels in front of the block of data that
 * libgomp copies for it. libgomp itself uses the first three words of that block:
 * the event of a detached task, or the bounds and reductions of a taskloop.
 *
 *	as libgomp sees it	| words | our head | padding | the program's block |
 *
 * A copy function of ours is handed over only if the program has one: libgomp
 * never drops a cancelled task whose data were copied by a function.
 */
#include <string.h>
#include <sys/mman.h>
#include "libhook/openmp/gomp.h"

#define FLAG_DETACH (1u << 13)
#define LARGE	    32768u /* bytes that had better not lie on the stack twice */

typedef void (*copy_function)(void *to, void *from);

struct task {
	uint64_t word[3];
	struct task *self; /* the one that was not copied: its data are not behind it */
	gomp_function fn;
	copy_function copy;
	char *data;
	uint64_t offset;     /* of the block from here */
	uint32_t words_used; /* by libgomp for the body */
	uint32_t team;
	uint32_t region;
	uint32_t creator;
};

GOMP_RUNS_BODIES static void run_task(void *task)
{
	struct task *t = task;
	char *data = t->self == t ? t->data : (char *)t + t->offset;
	struct gomp_context c;

	if (data)
		memcpy(data, t->word, 8 * t->words_used);
	memset(&c, 0, offsetof(struct gomp_context, open));
	c.fn = t->fn;
	c.team = t->team;
	vftr_task(0, t->team, t->region, false, t->creator);
	vftr_gomp_context_begin(&c);
	t->fn(data);
	vftr_gomp_context_end(&c);
	vftr_task(RECORD_EXIT, t->team, t->region, false, t->creator);
}

static void copy_task(void *to, void *from)
{
	struct task *t = from;

	memcpy(to, t, sizeof(*t));
	if (t->words_used && t->data)
		memcpy(t->data, t->word, 8 * t->words_used);
	t->copy((char *)to + t->offset, t->data);
}

/* The argument for libgomp in place of the program's. */
struct created {
	struct task *task; /* NULL: not recorded */
	gomp_function fn;
	void *data;
	copy_function copy;
	long bytes, align;
	uint32_t frame;
	void *room; /* mapped for it, or NULL */
	size_t mapped;
};

static size_t task_align(long align)
{
	return align > (long)_Alignof(struct task) ? (size_t)align : _Alignof(struct task);
}

static size_t task_offset(long align)
{
	size_t to = task_align(align);

	return (sizeof(struct task) + to - 1) / to * to;
}

/* Bytes of room that the task needs until libgomp has its copy. */
static size_t task_room(const struct created *c)
{
	size_t bytes = task_offset(c->align) + task_align(c->align);

	return c->copy || !c->data ? bytes : bytes + (size_t)c->bytes;
}

static void task_describe(struct created *c, struct gomp *library, enum construct kind, char *room,
	uint32_t words_used)
{
	size_t align = task_align(c->align);
	struct task *t = (void *)(((uintptr_t)room + align - 1) / align * align);

	c->frame = vftr_construct(kind, vftr_gomp_place(c->fn), NULL);
	*t = (struct task){.self = t,
		.fn = c->fn,
		.copy = c->copy,
		.data = c->data,
		.offset = task_offset(c->align),
		.words_used = words_used,
		.team = vftr_gomp_here()->team,
		.region = vftr_construct(CONSTRUCT_TASK, vftr_gomp_place(c->fn), NULL),
		.creator = vftr_gomp_ask(library, GOMP_ROW_omp_get_thread_num)};
	if (c->data && c->bytes > 0) {
		memcpy(t->word, c->data,
			(size_t)c->bytes < sizeof(t->word) ? (size_t)c->bytes : sizeof(t->word));
		if (!c->copy)
			memcpy((char *)t + t->offset, c->data, (size_t)c->bytes);
	}
	c->task = t;
	c->fn = run_task;
	c->data = t;
	c->copy = c->copy ? copy_task : NULL;
	c->bytes = (long)t->offset + (c->bytes > 0 ? c->bytes : 0);
	c->align = (long)align;
}

/* Room for large blocks; NULL for what fits on the stack, or if there is none. */
static char *map_room(struct created *c, size_t bytes)
{
	void *room;

	if (bytes <= LARGE)
		return NULL;
	room = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (room == MAP_FAILED)
		return NULL;
	c->room = room;
	c->mapped = bytes;
	return room;
}

static void created_end(struct created *c)
{
	if (!c->task)
		return;
	vftr_construct_exit(c->frame);
	if (c->room)
		munmap(c->room, c->mapped);
}

/* room: from the stack of the entry point, where the task may lie until that returns */
#define CREATE(row, kind, words)                                                                   \
	__attribute__((cleanup(created_end))) struct created c = {                                 \
		.fn = fn, .data = data, .copy = copy, .bytes = bytes, .align = align};             \
	struct gomp *library;                                                                      \
	void *found = vftr_gomp_find(GOMP_ROW_##row, GOMP_CALLER, &library);                       \
                                                                                                   \
	if (library) {                                                                             \
		size_t n = task_room(&c);                                                          \
		char *room = map_room(&c, n);                                                      \
                                                                                                   \
		if (!room && n <= LARGE)                                                           \
			room = __builtin_alloca(n);                                                \
		if (room)                                                                          \
			task_describe(&c, library, CONSTRUCT_##kind, room, words);                 \
		if (room)                                                                          \
			vftr_construct_enter(c.frame);                                             \
	}

GOMP_EXPORT void GOMP_task(gomp_function fn, void *data, copy_function copy, long bytes, long align,
	bool deferred, unsigned flags, void **depend, int priority, void *detach);
GOMP_EXPORT void GOMP_task(gomp_function fn, void *data, copy_function copy, long bytes, long align,
	bool deferred, unsigned flags, void **depend, int priority, void *detach)
{
	CREATE(GOMP_task, TASK_CREATE, flags & FLAG_DETACH ? 1 : 0)
	((void (*)(gomp_function, void *, copy_function, long, long, bool, unsigned, void **, int,
		void *))found)(
		c.fn, c.data, c.copy, c.bytes, c.align, deferred, flags, depend, priority, detach);
}

#define TASKLOOP(name, number)                                                                     \
	GOMP_EXPORT void name(gomp_function, void *, copy_function, long, long, unsigned,          \
		unsigned long, int, number, number, number);                                       \
	GOMP_EXPORT void name(gomp_function fn, void *data, copy_function copy, long bytes,        \
		long align, unsigned flags, unsigned long tasks, int priority, number from,        \
		number to, number step)                                                            \
	{                                                                                          \
		CREATE(name, TASKLOOP, 2)                                                          \
		((void (*)(gomp_function, void *, copy_function, long, long, unsigned,             \
			unsigned long, int, number, number, number))found)(c.fn, c.data, c.copy,   \
			c.bytes, c.align, flags, tasks, priority, from, to, step);                 \
	}

TASKLOOP(GOMP_taskloop, long)
TASKLOOP(GOMP_taskloop_ull, ull)
