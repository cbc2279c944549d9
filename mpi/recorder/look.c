/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/recorder/look.h"

#include <stddef.h>
#include "libhook/emit.h"
#include "mpi/call.h"
#include "mpi/recorder/request.h"
#include "shm/look.h"

/* The notes of all wrappers. */
extern const char looks_start[] __asm__("__start_vftr_looks")
	__attribute__((weak, visibility("hidden")));
extern const char looks_end[] __asm__("__stop_vftr_looks")
	__attribute__((weak, visibility("hidden")));

void vftr_look_start(void)
{
	static struct mpi_look look;
	const uint64_t pointer = look_pointer();

	if (!pointer)
		return;
	look = (struct mpi_look){
		.magic = LOOK_MAGIC,
		.notes = (uint64_t)(uintptr_t)looks_start,
		.notes_bytes = (uint64_t)(looks_end - looks_start),
		.outer = (int64_t)((uint64_t)(uintptr_t)vftr_mpi_outer() - pointer),
		.call_bytes = sizeof(struct mpi_call),
		.id = offsetof(struct mpi_call, id),
		.language = offsetof(struct mpi_call, language),
		.number = offsetof(struct mpi_call, number),
		.handle = offsetof(struct mpi_call, handle),
		.own = offsetof(struct mpi_call, own),
		.multiple = (uint64_t)(uintptr_t)&vftr_mpi_multiple,
	};
	vftr_request_look(&look);
	vftr_look_at(&look);
}
