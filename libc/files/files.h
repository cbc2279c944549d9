/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of this folder offer each other. All of it may run in signal handlers, in a
 * child of vfork(), and before any constructor; nothing allocates from the heap, takes a lock,
 * or changes errno.
 */
#ifndef VFTR_FILES_FILES_H
#define VFTR_FILES_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include "libc/files/functions.h"
#include "libc/interpose.h"
#include "shm/files.h"

enum function {
#define FUNCTION_NUMBER(symbol, name) CALL_##symbol,
	FUNCTIONS(FUNCTION_NUMBER)
#undef FUNCTION_NUMBER
		CALLS
};

/* ---- real.c: the functions of whoever comes behind us ---- */

/* Addresses by enum function; 0: not looked for yet. */
extern uintptr_t files_real[CALLS];
/* Looks for it. Where there is none, the address of a function that fails with ENOSYS. */
uintptr_t files_find(enum function f);

#define REAL(symbol)                                                                               \
	((__typeof__(&symbol))(likely(files_real[CALL_##symbol]) ? files_real[CALL_##symbol]       \
								 : files_find(CALL_##symbol)))

/* ---- call.c: a call of one of them ---- */

/* NULL: the process is without libvftrace, or that is of another version. */
extern const struct files_host *files_host;

struct call {
	enum function function;
	const void *site;
	uint64_t begin; /* ticks */
};

/* FILES_ON: the frame is open, and one of the functions below ends it. site: where the program
 * has called the function. */
enum files_state files_begin(struct call *c, enum function f, const void *site);
#define SITE __builtin_return_address(0)
/* The same for a call of which nothing is to be kept if it is not recorded. */
static inline bool files_on(struct call *c, enum function f, const void *site)
{
	return unlikely(files_host != NULL) && files_begin(c, f, site) == FILES_ON;
}

/* A call with this result, of a file; ends the frame. */
void files_end(const struct call *c, enum file_call kind, uint32_t file, int64_t bytes);

#define FILES_HERE INT64_MIN /* where the descriptor stands */
/* A read or write of so many bytes, -1 if it failed, at a place in the file or FILES_HERE. The
 * frame stays open after files_inside(), as the call has more to record; files_moved() ends it. */
void files_inside(const struct call *c, int fd, enum file_call kind, ssize_t bytes, int64_t at);
void files_moved(const struct call *c, int fd, enum file_call kind, ssize_t bytes, int64_t at);
/* A call of a descriptor that moved nothing; failed: result is -1. */
void files_called(const struct call *c, int fd, enum file_call kind, int64_t result);
/* A call of a name; the name is not kept. */
void files_named(const struct call *c, int64_t result);
/* The descriptor that was opened, or -1. */
void files_opened(const struct call *c, int fd);
/* Inside of the frame: bytes that calls without a record have moved. */
void files_rest(enum file_call kind, uint32_t file, int64_t bytes);

/* ---- descriptors.c ---- */

struct descriptor {
	uint32_t known; /* 1 + number of its file; 0: not looked at yet */
	uint32_t appends;
	int64_t position; /* of the descriptor in the file, as far as our functions move it */
	int64_t next;	  /* where the last read or write has ended */
};

/* The descriptor, looked at; one that no table has is a copy that nobody keeps. */
struct descriptor *files_descriptor(int fd);
/* It is about to be closed, or somebody else uses it now. */
void files_forget(int fd);
void files_forget_range(unsigned first, unsigned last);
/* True if it was looked at, and not forgotten. */
bool files_knows(int fd);
/* `to` is another name of what `from` is. */
void files_same(int from, int to);

/* ---- names.c ---- */

/* The number of the file with this name, of which the agent knows. 0: there are too many. */
uint32_t files_number(const char *name);
/* To be called before a number is used: after a fork the agent is another one. */
void files_tell(uint32_t number);

#endif
