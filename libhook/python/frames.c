/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls of Python that are open on each thread. The agent closes frames whose exits are missing
 * by itself, but would take them for regions that the user has forgotten to end.
 */
#include <errno.h>
#include <sys/mman.h>

#include "libhook/process.h"
#include "libhook/python/functions.h"

#define FIRST_BYTES ((size_t)1 << 16)

struct call {
	const void *what; /* its frame or code */
	uint64_t function;
};

static __thread struct {
	struct call *at;
	size_t n, bytes;
} calls;

static bool grow(void)
{
	size_t bytes = calls.bytes ? 2 * calls.bytes : FIRST_BYTES;
	void *at = calls.bytes ? mremap(calls.at, calls.bytes, bytes, MREMAP_MAYMOVE)
			       : mmap(NULL, bytes, PROT_READ | PROT_WRITE,
					 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return false;
	calls.at = at;
	calls.bytes = bytes;
	return true;
}

void vftr_python_enter(const void *what, uint64_t function)
{
	int saved_errno;

	if (load_relaxed(&vftr_process.state) == PROCESS_OFF)
		return;
	if (unlikely((calls.n + 1) * sizeof(calls.at[0]) > calls.bytes)) {
		saved_errno = errno;
		if (!grow()) {
			errno = saved_errno;
			return;
		}
	}
	calls.at[calls.n++] = (struct call){what, function};
	vftr_region_numbered(0, function - 1, NULL);
}

static void leave_top(void)
{
	vftr_region_numbered(RECORD_EXIT, calls.at[--calls.n].function - 1, NULL);
}

bool vftr_python_leave_innermost(const void *what)
{
	const bool is_it = calls.n && calls.at[calls.n - 1].what == what;

	if (is_it)
		leave_top();
	return is_it;
}

void vftr_python_leave(const void *what)
{
	size_t n = calls.n;

	while (n && calls.at[n - 1].what != what)
		n--;
	while (n && calls.n >= n)
		leave_top();
}

void vftr_python_leave_all(void)
{
	while (calls.n)
		leave_top();
}

void vftr_python_thread_end(void)
{
	if (calls.bytes)
		munmap(calls.at, calls.bytes);
	calls.at = NULL;
	calls.n = calls.bytes = 0;
}
