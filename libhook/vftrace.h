/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Public interface of libvftrace, for C and C++. See vftrace(3).
 *
 * Any thread may call any function at any time, also before main and after MPI_Finalize. When
 * tracing is off, functions do nothing; what those return that have a result is said at each. A
 * signal handler may call vftrace_region_begin() and vftrace_region_end() only, with names that the
 * process has used before. All functions keep errno.
 */
#ifndef VFTRACE_H
#define VFTRACE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Begin and end a named region, below the function or region that is open on the calling thread.
 * Two calls belong to one region if name and caller are the same. The name is copied, and cut after
 * 1023 bytes; with NULL nothing happens. An end without a begin changes nothing; a region without
 * an end ends when the function around it returns. The logs count both.
 */
void vftrace_region_begin(const char *name);
void vftrace_region_end(const char *name);

/*
 * Stop recording, and start it again, for all threads of the process. Calls nest:
 * recording goes on after as many resumes as there were pauses. Functions that are
 * entered while recording is paused do not appear; functions that were open before may
 * return, and are closed properly. The paused time is shown as "vftrace_pause" below
 * the caller.
 */
void vftrace_pause(void);
void vftrace_resume(void);

/*
 * Input and output by call path. Call vftrace_io_begin() before an operation, and vftrace_io_end()
 * after it on the same thread, with the result of the former: an opaque time, or 0 if tracing is
 * off. The operation counts for the function or region that is open at its end. bytes: bytes that
 * were read or written; below 0: the operation failed, and counts with no bytes. With a begin of 0,
 * or another kind, nothing happens.
 */
enum vftrace_io { VFTRACE_IO_READ, VFTRACE_IO_WRITE };
uint64_t vftrace_io_begin(void);
void vftrace_io_end(enum vftrace_io kind, uint64_t begin, int64_t bytes);

/*
 * Returns the call path of the calling thread, innermost function first: "foo<bar<main<init", or
 * "init" if it is not known, as when tracing is off. A path longer than 16 KiB loses its outermost
 * names. The caller frees the string with free(); NULL: malloc has failed. Waits for the agent's
 * answer, which takes milliseconds.
 */
char *vftrace_get_stack(void);

/*
 * Returns the length in bytes, without the NUL, of the string that vftrace_get_stack() would
 * return; 0: malloc has failed. Waits as that does.
 */
int vftrace_get_stack_string_length(void);

/* Returns the version of the library, as "0.1.0": a static string. */
const char *vftrace_version(void);

#ifdef __cplusplus
}
#endif

#endif
