/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Public interface of libvftrace, for C and C++. See vftrace(3).
 *
 * Any thread may make any call at any time, also before main and after MPI_Finalize. A
 * call does nothing when tracing is off. In a signal handler only the calls for regions
 * may be made, with names that the process has used before. errno is kept.
 */
#ifndef VFTRACE_H
#define VFTRACE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Begin and end a named region, below the function or region that is open on the
 * calling thread. Regions are told apart by name and caller. The name is copied and
 * cut after 1023 bytes; NULL is ignored. An end without a begin is ignored; a region
 * without an end ends when the function around it returns. The logs count both.
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
 * Input and output by call path. vftrace_io_begin() returns the time before an operation, in
 * ticks, or 0 if it is not traced; vftrace_io_end() counts the operation for the function or
 * region that is open, on the thread that has begun it. bytes: how many were moved; less than
 * 0: it failed, and counts as an operation without bytes. With a begin of 0, or a kind that is
 * none of these, nothing happens.
 */
enum vftrace_io { VFTRACE_IO_READ, VFTRACE_IO_WRITE };
uint64_t vftrace_io_begin(void);
void vftrace_io_end(enum vftrace_io kind, uint64_t begin, int64_t bytes);

/*
 * Call path of the calling thread, innermost first: "foo<bar<main<init". Paths longer
 * than 16 KiB lose their outermost names. Allocated with malloc; the caller frees it.
 * "init" if the path is not known, NULL only if malloc fails. The call waits for the
 * agent's answer, which takes milliseconds.
 */
char *vftrace_get_stack(void);

/* Bytes of the string that vftrace_get_stack() would return, without the NUL; as slow. */
int vftrace_get_stack_string_length(void);

/* Version of the library, as "0.1.0"; a static string. */
const char *vftrace_version(void);

#ifdef __cplusplus
}
#endif

#endif
