/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations for the files of this folder, which run in the application's process. */
#ifndef VFTR_CUPTI_CUPTI_H
#define VFTR_CUPTI_CUPTI_H

#include <stdbool.h>
#include "cupti/abi.h"
#include "shm/gpu.h"

/* CUPTI's functions, found in load.c; those that are not needed may be NULL. */
struct cupti_library {
	int (*subscribe)(void **subscriber, cupti_on_call *f, void *context);
	int (*unsubscribe)(void *subscriber);
	int (*enable_domain)(uint32_t enable, void *subscriber, uint32_t domain);
	int (*register_callbacks)(cupti_on_request *request, cupti_on_complete *complete);
	int (*enable)(uint32_t kind);
	int (*next)(uint8_t *buffer, size_t valid, struct cupti_record **record);
	int (*dropped)(void *context, uint32_t stream, size_t *n);
	int (*flush_all)(uint32_t flags);
	int (*timestamp)(uint64_t *ns);
	/* not in all versions */
	int (*enable_callback)(
		uint32_t enable, void *subscriber, uint32_t domain, uint32_t function);
	int (*callback_name)(uint32_t domain, uint32_t function, const char **name);
	int (*memory_config)(struct cupti_memory_config *config, uint32_t n);
	int (*version)(uint32_t *version);
	int (*context_id)(void *context, uint32_t *id);
	int (*stream_id)(void *context, void *stream, uint8_t per_thread, uint32_t *id);
};

extern struct cupti_library cupti;
extern const struct gpu_host *gpu_host;

/* part.c: gpu_host if this library was not loaded by libvftrace, or NULL. */
const struct gpu_host *cupti_host(void);

/* load.c: finds CUPTI. NULL, or a sentence on why there is none. */
const char *cupti_load(void);

/* callback.c */
cupti_on_call cupti_call;
/* Has CUPTI call cupti_call() for all functions that are recorded. 0, or CUPTI's error. */
int cupti_choose_calls(void *subscriber);
/* True if a call of CUDA was seen since the last fork; else there is nothing to flush. */
bool cupti_was_called(void);
/* The calling thread is in a call into CUDA, which a signal handler may have interrupted anywhere.
 */
bool cupti_is_inside(void);

/* activity.c */
cupti_on_request cupti_request;
cupti_on_complete cupti_complete;
/* A range of the program, in ticks, as an activity; call: as for number() of shm/gpu.h. */
void cupti_range(const char *name, uint32_t call, uint64_t from, uint64_t to);
/* deliver.c: begins at the first call of CUDA in a process; ends when the process does. */
void deliver_begin(void);
void deliver_end(void);
/* Child of fork() (activity.c, deliver.c, nvtx.c, nvtx-range.c): reset locks, which threads that
 * are not here may have held. */
void activity_after_fork(void);
void deliver_after_fork(void);
void nvtx_after_fork(void);
void nvtx_range_after_fork(void);
/* part.c: calls these after each fork from now on; may be called again. */
void cupti_watch_forks(void);

/* activity.c: sends the agent the state of the clocks and of the buffers. */
void cupti_tell_state(void);

#endif
