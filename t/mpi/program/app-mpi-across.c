/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * app-mpi-across PLUG-IN: loads the plug-in so that its code, of PLUGIN_BYTES and little
 * more, lies across a multiple of 4 GiB, and unloads it. Then come messages to itself,
 * taken by probes, barriers and regions, ROUNDS of each. Prints where the plug-in was.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include "vftrace.h"

#define PLUGIN_BYTES ((size_t)16 << 20)
#define ROUNDS	     10

static const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

/* Room is given from above: takes all of it down to where half of the plug-in fits. */
static void take_room_above(void)
{
	uintptr_t at = (uintptr_t)mmap(NULL, PLUGIN_BYTES, PROT_NONE, flags, -1, 0);
	uintptr_t end = (at >> 32 << 32) + PLUGIN_BYTES / 2;

	while (at > end)
		at = (uintptr_t)mmap(NULL, PLUGIN_BYTES, PROT_NONE, flags, -1, 0);
	munmap((void *)at, PLUGIN_BYTES);
	if (at + PLUGIN_BYTES > end)
		mmap((void *)end, at + PLUGIN_BYTES - end, PROT_NONE, flags | MAP_FIXED_NOREPLACE,
			-1, 0);
}

static int load_and_unload(const char *file)
{
	const char *low;
	void *plugin;

	take_room_above();
	plugin = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	if (!plugin)
		return -1;
	low = dlsym(plugin, "plugin_code");
	printf("%s\n", (uintptr_t)low >> 32 < ((uintptr_t)low + PLUGIN_BYTES) >> 32 ? "across 4 GiB"
										    : "elsewhere");
	return dlclose(plugin);
}

static void round_trip(void)
{
	int out = 1, in;
	MPI_Message message;
	MPI_Request request;

	MPI_Isend(&out, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, &request);
	MPI_Mprobe(0, 3, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
	MPI_Mrecv(&in, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	if (argc < 2 || load_and_unload(argv[1]))
		return 1;
	MPI_Init(&argc, &argv);
	for (int i = 0; i < ROUNDS; i++) {
		vftrace_region_begin("after it");
		round_trip();
		MPI_Barrier(MPI_COMM_WORLD);
		vftrace_region_end("after it");
	}
	MPI_Finalize();
	return 0;
}
