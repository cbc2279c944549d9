/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of the OpenACC profiling interface that we use, written down from the OpenACC
 * specification, versions 2.6 to 3.3, and the functions of our files for it. Not every
 * compiler comes with its header; a test compares with one that does.
 */
#ifndef VFTR_LIBHOOK_ACCELERATOR_OPENACC_TOOL_H
#define VFTR_LIBHOOK_ACCELERATOR_OPENACC_TOOL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "shm/openacc.h"

/* The runtime fills the first valid_bytes of each structure, which may be fewer than here. */
struct acc_prof {
	int event_type;
	int valid_bytes;
	int version;
	int device_type;
	int device_number;
	int thread_id;
	ssize_t async, async_queue;
	const char *src_file, *func_name; /* or NULL */
	int line_no, end_line_no;	  /* not known: 0 or less */
	int func_line_no, func_end_line_no;
};

/* Members of all events, and of data events and launches. */
struct acc_event {
	int event_type;
	int valid_bytes;
	int parent_construct;
	int implicit;
	void *tool_info;
	union {
		const char *var_name;	 /* or NULL */
		const char *kernel_name; /* of a launch; or NULL */
	};
	size_t bytes; /* of a launch, the number of gangs */
};

typedef void (*acc_callback)(const struct acc_prof *prof, const struct acc_event *event, void *api);
typedef void (*acc_registration)(int event, acc_callback callback, int how);
#define ACC_REG 0

/* Called by the runtime, once; lookup is not used. */
void acc_register_library(acc_registration reg, acc_registration unreg, void *lookup);

/* An event and its place in the source; texts are never NULL, and may be empty. */
struct openacc_site {
	uint64_t address; /* in the code of the construct, or 0 */
	uint32_t event;	  /* number of the one that begins it */
	uint32_t parent;
	uint32_t line, last;
	const char *file, *function, *name;
};

#pragma GCC visibility push(hidden)

/*
 * openacc-sites.c: returns 1 + the number of the site's region, or 0 if nothing can be recorded.
 * Attaches the process if need be; keeps errno; takes no lock once the site is known.
 */
uint32_t vftr_openacc_region(const struct openacc_site *site);

/* openacc.c, for gomp-openacc.c: `caller` in the program calls `function` of libgomp. Not to be
 * called within callbacks. */
void vftr_openacc_called(const void *caller, const void *function);

#pragma GCC visibility pop

#endif
