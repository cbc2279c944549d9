/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Public interface of libvftrace, for C and C++. See vftrace(3).
 *
 * Every call may be made by any thread at any time, also before main, after
 * MPI_Finalize, and when tracing is off: then nothing happens.
 */
#ifndef VFTRACE_H
#define VFTRACE_H

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A named region below the function or region that is open. Regions are told
 * apart by name and caller; a name of more than 1023 bytes is cut. An end
 * without a begin is ignored; a region without an end ends when the function
 * around it returns. The logs count both.
 */
void vftrace_region_begin(const char *name);
void vftrace_region_end(const char *name);

/*
 * Stop recording, and start it again, for all threads. Calls nest. Functions that are
 * entered while recording is paused do not appear; those that return are
 * closed properly. The time is shown as "vftrace_pause" below the caller.
 */
void vftrace_pause(void);
void vftrace_resume(void);

/*
 * Call path of the calling thread, innermost first: "foo<bar<main<init".
 * Allocated with malloc; the caller frees. "init" if the path is not known, NULL
 * only if malloc fails. It asks the agent, which takes milliseconds.
 */
char *vftrace_get_stack(void);

/* Bytes of the string above, without the NUL. */
int vftrace_get_stack_string_length(void);

/* "0.1.0" */
const char *vftrace_version(void);

#ifdef __cplusplus
}
#endif

#endif
