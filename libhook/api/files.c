/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What libvftrace-files.so asks us for (shm/files.h). It finds this table by the name of the
 * function below, when the program is loaded; without it, or if the agent does not want files
 * recorded, nothing here runs.
 */
#include <errno.h>
#include <string.h>
#include "libhook/emit.h"
#include "libhook/process.h"
#include "shm/files.h"

#define EXPORT __attribute__((visibility("default")))

static enum files_state files_state(void)
{
	struct thread *t = &vftr_thread;

	if (load_relaxed(&vftr_process.state) == PROCESS_OFF)
		return FILES_OFF;
	if (vftr_thread_is_vfork_child(t))
		return FILES_FOREIGN;
	if (thread_is_busy(t))
		return FILES_UNKNOWN;
	if (t->state == THREAD_NEW || t->generation != vftr_process.generation || !process_is_on())
		vftr_slow(clock_counter(), 0, 0, NULL);
	if (!process_is_on())
		return FILES_OFF;
	if (!vftr_process.files_wanted)
		return FILES_OFF;
	return t->state == THREAD_OFF ? FILES_UNKNOWN : FILES_ON;
}

static uint32_t files_generation(void)
{
	return load_relaxed(&vftr_process.generation);
}

static void files_call(bool is_exit, const char *name, uint32_t *cache, const void *site)
{
	uint64_t number = load_relaxed(cache);

	if (number) {
		number--;
	} else {
		if (!vftr_region_number(name, strlen(name), &number))
			return;
		if (number < UINT32_MAX)
			store_relaxed(cache, (uint32_t)number + 1);
	}
	vftr_region_numbered(is_exit ? RECORD_EXIT : 0, number, site);
}

static void files_record(uint64_t head, int64_t bytes, uint64_t ticks)
{
	vftr_emit_3(head, (uint64_t)(bytes < 0 ? -1 : bytes), FILE_CALL_MARK | ticks);
}

static void files_name(uint32_t number, const char *path)
{
	struct wire_file_name m = {.head.kind = WIRE_FILE_NAME, .number = number};

	vftr_define(&m.head, sizeof(m), path, strlen(path) + 1);
}

static const struct files_host host = {.version = FILES_SEAM_VERSION,
	.state = files_state,
	.generation = files_generation,
	.call = files_call,
	.record = files_record,
	.name = files_name,
	.ticks = vftr_process_ticks};

EXPORT files_host_function vftrace_files_host;
EXPORT const struct files_host *vftrace_files_host(void)
{
	return &host;
}
