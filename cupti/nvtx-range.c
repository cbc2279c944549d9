/* SPDX-License-Identifier: BSD-3-Clause */
#include "cupti/nvtx-range.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include "cupti/cupti.h"
#include "cupti/nvtx-abi.h"

#define OPEN_MAX  4096u /* ranges at once */
#define TRIES	  16u
#define CALL_BASE 0xc0000000u /* CUPTI counts from 1 */
#define CALL_MASK 0x1fffffffu

struct open_range {
	uint64_t number; /* 0: free */
	uint64_t from;
	char name[NVTX_NAME_BYTES];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct open_range *open_ranges;
static uint64_t last;

void nvtx_range_after_fork(void)
{
	pthread_mutex_init(&lock, NULL);
}

static struct open_range *find(uint64_t number, uint64_t wanted)
{
	for (uint64_t i = number; open_ranges && i < number + TRIES; i++)
		if (open_ranges[i % OPEN_MAX].number == wanted)
			return &open_ranges[i % OPEN_MAX];
	return NULL;
}

static uint32_t call_of(uint64_t number)
{
	return CALL_BASE | ((uint32_t)number & CALL_MASK);
}

uint64_t nvtx_range_start(const char *name)
{
	struct open_range *r;
	uint64_t number;

	/* where it starts has a path, as the launch of a kernel has */
	pthread_mutex_lock(&lock);
	number = ++last;
	if (!open_ranges) {
		void *p = mmap(NULL, OPEN_MAX * sizeof(*open_ranges), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		open_ranges = p == MAP_FAILED ? NULL : p;
	}
	r = find(number, 0);
	if (r) {
		r->number = number;
		strncpy(r->name, name, NVTX_NAME_BYTES - 1);
		r->from = gpu_host->ticks();
	}
	pthread_mutex_unlock(&lock);
	if (r && gpu_host->active())
		gpu_host->number(GPU_INTERFACE_NVTX << 24 | NVTX_START, call_of(number));
	return number;
}

void nvtx_range_end(uint64_t number)
{
	struct open_range *r, ended = {0};

	pthread_mutex_lock(&lock);
	r = number ? find(number, number) : NULL;
	if (r) {
		ended = *r;
		r->number = 0;
	}
	pthread_mutex_unlock(&lock);
	if (ended.number && gpu_host->active())
		cupti_range(ended.name, call_of(number), ended.from, gpu_host->ticks());
}

static void tell_stream(uint32_t device, uint32_t context, uint32_t stream, const char *name)
{
	struct wire_gpu_stream m = {.head = {.kind = WIRE_GPU_STREAM},
		.device = device,
		.context = context,
		.stream = stream};

	gpu_host->send(&m.head, sizeof(m), name, strlen(name) + 1);
}

void nvtx_name_device(uint32_t device, const char *name)
{
	tell_stream(device, GPU_NO_STREAM, GPU_NO_STREAM, name);
}

/* Asks the driver, which is loaded if there is a stream. */
static void *context_of(void *stream)
{
	void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD), *context = NULL;
	void *f = dlsym(driver ? driver : RTLD_DEFAULT, "cuStreamGetCtx");
	int (*get)(void *, void **);

	if (f) {
		memcpy(&get, &f, sizeof(f));
		if (get(stream, &context))
			context = NULL;
	}
	if (driver)
		dlclose(driver);
	return context;
}

void nvtx_name_stream(void *stream, const char *name)
{
	uint32_t context_id, stream_id;
	void *context;

	if (!cupti.stream_id || !cupti.context_id || !gpu_host->active())
		return;
	context = context_of(stream);
	if (context && cupti.context_id(context, &context_id) == CUPTI_OK &&
		cupti.stream_id(NULL, stream, 0, &stream_id) == CUPTI_OK)
		tell_stream(GPU_NO_DEVICE, context_id, stream_id, name);
}

void nvtx_name_thread(uint32_t tid, const char *name)
{
	struct wire_about m = {
		.head = {.kind = WIRE_GPU_NAME}, .number = tid, .object = WIRE_GPU_THREAD_NAME};

	gpu_host->send(&m.head, sizeof(m), name, strlen(name) + 1);
}
