/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The front for libgomp, which offers no tool interface: its entry points are
 * interposed (gomp-table.h). gomp.c records what threads do, gomp-task.c tasks,
 * gomp-lock.c locks, gomp-library.c knows whose functions are called.
 */
#ifndef VFTR_LIBHOOK_OPENMP_GOMP_H
#define VFTR_LIBHOOK_OPENMP_GOMP_H

#include <stdbool.h>
#include <stdint.h>
#include "libhook/openmp/construct.h"
#include "libhook/openmp/gomp-table.h"

#define GOMP_EXPORT __attribute__((visibility("default")))
#define GOMP_CALLER __builtin_return_address(0)

/*
 * The functions of ours that run bodies of the program stand together: a body
 * that ends with a call into libgomp may jump there, and return to one of them.
 */
#define GOMP_RUNS_BODIES __attribute__((section("vftr_bodies"), noinline))

enum gomp_row {
#define ROW(result, name, ...) GOMP_ROW_##name,
#define ROW_OTHER(name, ...)   GOMP_ROW_##name,
	GOMP_CALLS(ROW) GOMP_PARALLELS(ROW) GOMP_PARALLEL_STARTS(ROW) GOMP_LOCKS(ROW_OTHER)
		GOMP_UNLOCKS(ROW_OTHER) GOMP_TURNS(ROW_OTHER) GOMP_OTHERS(ROW_OTHER)
#undef ROW
#undef ROW_OTHER
			GOMP_ROWS
};

/* One OpenMP library of the process. */
struct gomp {
	const void *base; /* NULL: not in use */
	void *handle;
	uint32_t is_recorded;
	void *real[GOMP_ROWS]; /* NULL: not looked up yet */
};

#define GOMP_FRAMES 16 /* most open frames of one task: loop, taskgroups, criticals */

/*
 * The state of one task, implicit or explicit, on the stack of the function that
 * runs it. Open frames that begin and end with calls of their own are listed, so
 * that cancellation can end them.
 */
struct gomp_context {
	struct gomp_context *outer;
	gomp_function fn; /* its body */
	uint32_t team;	  /* 0: none */
	uint32_t late;	  /* frame of a combined construct not yet begun, or 0 */
	uint32_t hidden;  /* frames begun that found no room */
	uint16_t skipped; /* GOMP_parallel_start() called and not recorded */
	uint8_t is_old;	  /* made by GOMP_parallel_start() */
	uint8_t used;
	uint32_t open[GOMP_FRAMES]; /* region << 8 | kind */
};

#pragma GCC visibility push(hidden)

/*
 * Returns the function to which a call is passed on; never NULL. Sets *library, to NULL if the call
 * is not to be recorded: tracing is off, or the library is LLVM's (ompt.c records), or of a version
 * that we do not know.
 */
void *vftr_gomp_find(enum gomp_row row, const void *caller, struct gomp **library);
/* The same for a function of GOMP_LOCKS or GOMP_UNLOCKS, without the library. */
void *vftr_gomp_find_lock(enum gomp_row row, const void *caller);
/* A function of the library itself. */
void *vftr_gomp_real(struct gomp *library, enum gomp_row row);
/* Calls omp_get_level() or another function without parameters; returns 0 for a result below 0. */
uint32_t vftr_gomp_ask(struct gomp *library, enum gomp_row what);

/*
 * The address that identifies a construct whose body is a function: an address in that
 * function, as it may be called from several places, or by jumps.
 */
const void *vftr_gomp_place(gomp_function fn);
/* The same for another construct: the caller, or the body that has jumped to the call. */
const void *vftr_gomp_site(const void *caller);

/*
 * Begins a frame of the construct on the calling thread, which ends by a call or by cancellation.
 */
void vftr_gomp_frame(enum construct kind, const void *site);

/* The calling thread's context; begin sets outer, end closes all open frames. */
struct gomp_context *vftr_gomp_here(void);
void vftr_gomp_context_begin(struct gomp_context *c);
void vftr_gomp_context_end(struct gomp_context *c);

#pragma GCC visibility pop

#endif
