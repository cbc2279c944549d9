/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way to the part for CUDA (shm/gpu.h), a library beside this one. It is
 * loaded when the list of modules has shown that the process has CUDA, by the
 * next thread that comes out of the slow path, where no lock is held; or CUDA
 * has loaded it and it asks for us. Without CUDA nothing here runs.
 */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "libhook/emit.h"
#include "libhook/process.h"
#include "shm/gpu.h"

#define EXPORT	   __attribute__((visibility("default")))
#define PATH_BYTES 4096

static const char library[] = "libvftrace-cupti.so";
static const struct gpu_part *part;

static bool gpu_active(void)
{
	return process_is_on() && !load_relaxed(&vftr_process.pauses);
}

static uint32_t gpu_generation(void)
{
	return load_relaxed(&vftr_process.generation);
}

static void gpu_call(bool is_exit, const char *name, uint64_t most)
{
	vftr_region_event(is_exit ? RECORD_EXIT : 0, name, most, NULL);
}

static void gpu_number(uint32_t function, uint32_t number)
{
	const uint64_t word[2] = {record_gpu_call_word(function), RECORD_GPU_MARK | number};

	vftr_emit(word);
}

/* Runs on threads of the vendor's library, which are not recorded: uses only the socket. */
static bool gpu_send(struct wire_head *m, uint64_t fixed, const void *data, uint64_t bytes)
{
	int saved_errno = errno, error = -EAGAIN;

	if (process_is_on())
		error = vftr_message_send_data(m, fixed, data, bytes);
	m->ticks = 0;
	errno = saved_errno;
	return !error;
}

static void gpu_note(const char *text)
{
	struct wire_head m = {.kind = WIRE_NOTE};

	gpu_send(&m, sizeof(m), text, strlen(text) + 1);
}

static const struct gpu_host host;

static void begin(const struct gpu_part *p)
{
	if (!p || p->version != GPU_SEAM_VERSION)
		return;
	part = p;
	p->begin(&host);
}

static void gpu_use(const struct gpu_part *p)
{
	if (process_is_on() && vftr_process.gpu_wanted &&
		(claim_u32(&vftr_process.gpu, GPU_NONE, GPU_LOADED) ||
			claim_u32(&vftr_process.gpu, GPU_SEEN, GPU_LOADED)))
		begin(p);
}

static const struct gpu_host host = {.version = GPU_SEAM_VERSION,
	.active = gpu_active,
	.generation = gpu_generation,
	.call = gpu_call,
	.number = gpu_number,
	.send = gpu_send,
	.ticks = vftr_process_ticks,
	.note = gpu_note,
	.use = gpu_use};

static void find_part(void *handle)
{
	gpu_part_function *find;
	void *f = dlsym(handle, "vftrace_gpu_part");

	if (!f)
		return;
	memcpy(&find, &f, sizeof(find));
	begin(find());
}

/* Beside the file that this code is in; in a program, beside its folder as well. */
static void *open_beside(void)
{
	static const char *const below[] = {"", "../lib/"};
	static char path[PATH_BYTES]; /* one thread gets here */
	Dl_info self;
	void *handle = NULL;
	const char *slash;

	if (!dladdr(&host, &self) || !self.dli_fname || !(slash = strrchr(self.dli_fname, '/')))
		return NULL;
	for (unsigned i = 0; !handle && i < sizeof(below) / sizeof(below[0]); i++) {
		int n = snprintf(path, sizeof(path), "%.*s/%s%s", (int)(slash - self.dli_fname),
			self.dli_fname, below[i], library);

		if (n > 0 && (size_t)n < sizeof(path))
			handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	}
	return handle;
}

void vftr_gpu_load(void)
{
	int saved_errno = errno;
	void *handle;

	if (!claim_u32(&vftr_process.gpu, GPU_SEEN, GPU_LOADED))
		return;
	handle = open_beside();
	if (!handle)
		handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	if (handle)
		find_part(handle);
	else
		gpu_note("the program uses CUDA, but libvftrace-cupti.so is not beside libvftrace: "
			 "GPUs are not traced");
	errno = saved_errno;
}

void vftr_gpu_flush(void)
{
	if (part)
		part->flush();
}

/* For a part that CUDA or NVTX has loaded. */
EXPORT gpu_host_function vftrace_gpu_host;
const struct gpu_host *vftrace_gpu_host(void)
{
	vftr_slow(clock_counter(), 0, 0, NULL); /* attaches if need be */
	return &host;
}
