/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OpenACC: the events that its runtime reports (OpenACC 2.6 to 3.3, chapter "Profiling and
 * Error Callback Interface"), and how they reach the agent. An event is a frame; one that has
 * no end is a frame that ends at once. The region of the frame says which event it is and
 * where: a WIRE_OPENACC defines it. Inside of the frame a record OPENACC (shm/record.h) has
 * the bytes that were moved or allocated.
 */
#ifndef VFTR_SHM_OPENACC_H
#define VFTR_SHM_OPENACC_H

#include <stdbool.h>
#include <stdint.h>
#include "shm/wire.h"

/* The column of Vftrace's tables that has the time of an event. */
enum openacc_time { OPENACC_OTHER, OPENACC_COMPUTE, OPENACC_DATA, OPENACC_WAIT };

/* number of the event that begins it, its name, whether another one ends it, its column */
#define OPENACC_EVENTS(_)                                                                          \
	_(DEVICE_INIT, 1, "device_init", 1, OPENACC_OTHER)                                         \
	_(DEVICE_SHUTDOWN, 3, "device_shutdown", 1, OPENACC_OTHER)                                 \
	_(RUNTIME_SHUTDOWN, 5, "runtime_shutdown", 0, OPENACC_OTHER)                               \
	_(CREATE, 6, "create", 0, OPENACC_DATA)                                                    \
	_(DELETE, 7, "delete", 0, OPENACC_DATA)                                                    \
	_(ALLOC, 8, "alloc", 0, OPENACC_DATA)                                                      \
	_(FREE, 9, "free", 0, OPENACC_DATA)                                                        \
	_(ENTER_DATA, 10, "enter_data", 1, OPENACC_DATA)                                           \
	_(EXIT_DATA, 12, "exit_data", 1, OPENACC_DATA)                                             \
	_(UPDATE, 14, "update", 1, OPENACC_DATA)                                                   \
	_(COMPUTE, 16, "compute_construct", 1, OPENACC_COMPUTE)                                    \
	_(LAUNCH, 18, "enqueue_launch", 1, OPENACC_COMPUTE)                                        \
	_(UPLOAD, 20, "enqueue_upload", 1, OPENACC_DATA)                                           \
	_(DOWNLOAD, 22, "enqueue_download", 1, OPENACC_DATA)                                       \
	_(WAIT, 24, "wait", 1, OPENACC_WAIT)

enum openacc_event {
#define OPENACC_ENUM(event, number, name, has_end, column) OPENACC_##event##_EVENT = number,
	OPENACC_EVENTS(OPENACC_ENUM)
#undef OPENACC_ENUM
		OPENACC_EVENT_LAST = 26
};

/* The construct that an event is part of. */
#define OPENACC_PARENTS(_)                                                                         \
	_(0, "parallel")                                                                           \
	_(1, "kernels")                                                                            \
	_(2, "loop")                                                                               \
	_(3, "data")                                                                               \
	_(4, "enter data")                                                                         \
	_(5, "exit data")                                                                          \
	_(6, "host_data")                                                                          \
	_(7, "atomic")                                                                             \
	_(8, "declare")                                                                            \
	_(9, "init")                                                                               \
	_(10, "shutdown")                                                                          \
	_(11, "set")                                                                               \
	_(12, "update")                                                                            \
	_(13, "routine")                                                                           \
	_(14, "wait")                                                                              \
	_(15, "runtime_api")                                                                       \
	_(16, "serial")
#define OPENACC_RUNTIME_API 15u
#define OPENACC_NO_PARENT   UINT32_MAX

/* Names and numbers, for the node agent and the tool. */

/* "compute_construct"; NULL: no event begins with this number. */
const char *openacc_event_name(uint32_t event);
/* True if another event ends it. */
bool openacc_event_ends(uint32_t event);
enum openacc_time openacc_event_time(uint32_t event);
/* "enter data"; "" for an unknown number. */
const char *openacc_parent_name(uint32_t parent);

/* WIRE_OPENACC: a region, numbered with all others. Text: file, function, variable or kernel. */
struct wire_openacc {
	struct wire_head head;
	uint64_t number;
	uint64_t address;    /* in the code of the construct, if there is no file; or 0 */
	uint32_t event;	     /* enum openacc_event */
	uint32_t parent;     /* OPENACC_PARENTS, or OPENACC_NO_PARENT */
	uint32_t line, last; /* of the construct, 0: not known */
};

_Static_assert(sizeof(struct wire_openacc) == 48, "a format");

#endif
