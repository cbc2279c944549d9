/* SPDX-License-Identifier: BSD-3-Clause */
/* What the program says that it reads and writes: a record for each operation, at its end. */
#include "libhook/emit.h"
#include "libhook/process.h"
#include "libhook/vftrace.h"

#define EXPORT __attribute__((visibility("default")))

_Static_assert((int)VFTRACE_IO_READ == (int)RECORD_IO_READ &&
		       (int)VFTRACE_IO_WRITE == (int)RECORD_IO_WRITE,
	"the same kinds");

EXPORT uint64_t vftrace_io_begin(void)
{
	if (vftr_thread.state != THREAD_ACTIVE ||
		vftr_thread.generation != vftr_process.generation || !process_is_on())
		vftr_slow(clock_counter(), 0, 0, NULL); /* attaches, or follows a pause */
	return process_is_on() ? vftr_process_ticks() : 0;
}

EXPORT void vftrace_io_end(enum vftrace_io kind, uint64_t begin, int64_t bytes)
{
	uint64_t end;

	if (!begin || (unsigned)kind >= RECORD_IO_KINDS)
		return;
	end = vftr_process_ticks();
	vftr_emit_3(record_io_word((enum record_io)kind), (uint64_t)(bytes < 0 ? -1 : bytes),
		RECORD_IO_MARK | (end > begin ? end - begin : 0));
}
