/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libvftrace-cupti.so: beginning and end. It is loaded by libvftrace when the
 * process has CUDA loaded, or by CUDA's driver itself, which asks for
 * InitializeInjection() if CUDA_INJECTION64_PATH names this library.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cupti/cupti.h"
#include "shm/atomic.h"

#define EXPORT	     __attribute__((visibility("default")))
#define DEVICES_MOST 64

const struct gpu_host *gpu_host;
static void *subscriber;
static uint32_t state;
enum { NEW = 0, BEGUN, RUNNING };

/* missed: what is missing without it, or NULL if nothing that would be noticed. */
static const struct {
	uint32_t kind;
	const char *missed;
} kinds[] = {{KIND_DEVICE, NULL}, {KIND_CONTEXT, NULL}, {KIND_KERNEL, "kernels"},
	{KIND_COPY, "copies"}, {KIND_PEER_COPY, "copies between GPUs"}, {KIND_SET, "sets"},
	{KIND_WAIT, "synchronisation"}, {KIND_OVERHEAD, NULL}};

/* GPUs of this machine; the process may see fewer. The driver is not asked, as it begins. */
static uint32_t machine_devices(void)
{
	DIR *dir = opendir("/proc/driver/nvidia/gpus");
	struct dirent *e;
	uint32_t n = 0;

	while (dir && (e = readdir(dir)))
		n += e->d_name[0] != '.';
	if (dir)
		closedir(dir);
	return n < 1 ? 1 : n > DEVICES_MOST ? DEVICES_MOST : n;
}

/* Unified memory: of all devices, what has moved and what has faulted. */
static void enable_memory(void)
{
	static const uint32_t counters[] = {1, 2, 3, 4, 5, 8};
	const uint32_t n = sizeof(counters) / sizeof(counters[0]);
	struct cupti_memory_config config[DEVICES_MOST * (sizeof(counters) / sizeof(counters[0]))];

	if (!cupti.memory_config)
		return;
	/* one device too many is refused */
	for (uint32_t devices = machine_devices(); devices; devices--) {
		for (uint32_t i = 0; i < n * devices; i++) /* scope 1: this process, one device */
			config[i] = (struct cupti_memory_config){1, counters[i % n], i / n, 1};
		if (cupti.memory_config(config, n * devices) == CUPTI_OK) {
			cupti.enable(KIND_MEMORY);
			return;
		}
	}
}

static void after_fork(void)
{
	activity_after_fork();
	deliver_after_fork();
	nvtx_after_fork();
	nvtx_range_after_fork();
}

static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, after_fork);
}

void cupti_watch_forks(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, watch_forks);
}

static void flush(void)
{
	if (load_acquire(&state) != RUNNING || !cupti_was_called() || !gpu_host->active() ||
		cupti_is_inside())
		return;
	cupti.flush_all(CUPTI_FLUSH_FORCED);
	cupti_tell_state();
}

static void end(void)
{
	deliver_end();
	flush();
}

static const char *start(void)
{
	static char text[128];
	const char *missed = NULL;
	uint32_t enabled = 0;
	int error;

	/* first: another tool's buffers must stay its own */
	error = cupti.subscribe(&subscriber, cupti_call, NULL);
	if (error == CUPTI_BUSY || error == CUPTI_LIMIT)
		return "CUPTI is in use by another tool: GPUs are not traced";
	if (error) { /* 999 and the like: there is no driver */
		snprintf(text, sizeof(text),
			"CUPTI refuses its callbacks (error %d): GPUs are not traced", error);
		return text;
	}
	if (cupti.register_callbacks(cupti_request, cupti_complete)) {
		cupti.unsubscribe(subscriber);
		subscriber = NULL;
		return "CUPTI refuses buffers for what GPUs do: GPUs are not traced";
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		error = cupti.enable(kinds[i].kind);
		enabled += error == CUPTI_OK;
		if (!error || !kinds[i].missed)
			continue;
		if (!missed)
			snprintf(text, sizeof(text),
				"CUPTI refuses to tell of %s (error %d): they are missing",
				kinds[i].missed, error);
		missed = kinds[i].missed;
	}
	enable_memory();
	if (cupti_choose_calls(subscriber))
		return "CUPTI refuses to tell of calls into CUDA: the call paths of what GPUs do "
		       "are not known";
	if (!enabled)
		return "CUPTI gives no activities (may its user see the GPU's counters?): only "
		       "calls into CUDA are traced";
	return missed ? text : NULL;
}

static void begin(const struct gpu_host *host)
{
	const char *trouble;

	if (!host || host->version != GPU_SEAM_VERSION || !claim_u32(&state, NEW, BEGUN))
		return;
	gpu_host = host;
	cupti_watch_forks();
	trouble = cupti_load();
	if (!trouble)
		trouble = start();
	if (trouble)
		host->note(trouble);
	if (!subscriber)
		return;
	store_release(&state, RUNNING);
	cupti_tell_state();
	/* before CUDA's own, which has been registered before */
	atexit(end);
}

static const struct gpu_part part = {GPU_SEAM_VERSION, "CUPTI", begin, flush};

EXPORT gpu_part_function vftrace_gpu_part;
const struct gpu_part *vftrace_gpu_part(void)
{
	return &part;
}

const struct gpu_host *cupti_host(void)
{
	gpu_host_function *find;
	const struct gpu_host *host;
	void *f = gpu_host ? NULL : dlsym(RTLD_DEFAULT, "vftrace_gpu_host");

	if (f) {
		memcpy(&find, &f, sizeof(find));
		host = find();
		if (host && host->version == GPU_SEAM_VERSION)
			gpu_host = host;
	}
	return gpu_host;
}

/* CUDA's driver has loaded us. 1: all is well, also without a tracer in the process. */
EXPORT int InitializeInjection(void);
int InitializeInjection(void)
{
	if (cupti_host())
		gpu_host->use(&part);
	return 1;
}
