/* SPDX-License-Identifier: BSD-3-Clause */
/* What libvftrace offers to libvftrace-annotations.so: shm/annotation.h. And MPI_Pcontrol(). */
#include "shm/annotation.h"
#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
#include "libhook/emit.h"
#include "libhook/process.h"

#define EXPORT __attribute__((visibility("default")))

static uint32_t wanted;

void vftr_annotations_want(uint32_t bits)
{
	store_relaxed(&wanted, bits);
}

/* Attaches, if need be: then it is known. */
static bool is_wanted(enum annotation a)
{
	if (!process_is_on() && load_acquire(&vftr_process.state) != PROCESS_OFF)
		vftr_slow(clock_counter(), 0, 0, NULL);
	return process_is_on() && load_relaxed(&wanted) >> a & 1;
}

static uint64_t begin_region(enum annotation a, const char *name, uint64_t most)
{
	uint64_t number = 0;

	if (!name || !is_wanted(a) || !vftr_region_number(name, most, &number))
		return 0;
	vftr_region_numbered(0, number, NULL);
	return number + 1;
}

/* What comes from a program may be anything: the agent ignores the end of what is not open. */
static void end_region(uint64_t region)
{
	if (region && region <= UINT32_MAX >> 1)
		vftr_region_numbered(RECORD_EXIT, region - 1, NULL);
}

static void end_name(enum annotation a, const char *name, uint64_t most)
{
	if (is_wanted(a))
		vftr_region_event(RECORD_EXIT, name, most, NULL);
}

static const struct annotation_host host = {.version = ANNOTATION_SEAM_VERSION,
	.begin = begin_region,
	.end = end_region,
	.end_name = end_name};

EXPORT annotation_host_function vftrace_annotation_host;
const struct annotation_host *vftrace_annotation_host(void)
{
	return &host;
}

bool vftr_pcontrol_wanted(void)
{
	return is_wanted(ANNOTATION_pcontrol);
}

/* Bytes of a text that may be nowhere, up to two pieces of memory; 0: none can be read. */
static size_t read_text(const char *from, char *to, size_t most)
{
	const size_t page = PAGE_BYTES_MOST, here = page - (uintptr_t)from % page;
	const size_t first = here < most ? here : most;
	const struct iovec local = {to, most};
	const struct iovec remote[] = {{(void *)(uintptr_t)from, first},
		{(void *)((uintptr_t)from + first), most - first}};
	ssize_t n = process_vm_readv(getpid(), &local, 1, remote, 2, 0);

	return n > 0 ? strnlen(to, (size_t)n) : 0;
}

void vftr_pcontrol_region(int level, const char *name, const void *site)
{
	int saved_errno = errno;
	char text[256];
	size_t bytes = read_text(name, text, sizeof(text));

	errno = saved_errno;
	for (size_t i = 0; i < bytes; i++)
		if ((unsigned char)text[i] < ' ')
			return;
	if (bytes)
		vftr_region_event(level < 0 ? RECORD_EXIT : 0, text, bytes, site);
}
