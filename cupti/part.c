/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libvftrace-cupti.so: beginning and end. It is loaded by libvftrace when the
 * process has CUDA loaded, or by CUDA's driver itself, which asks for
 * InitializeInjection() if CUDA_INJECTION64_PATH names this library.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cupti/cupti.h"
#include "shm/atomic.h"

#define EXPORT	  __attribute__((visibility("default")))
#define PERIOD_MS 500 /* how long finished activities may stay with CUPTI */

const struct gpu_host *gpu_host;
static void *subscriber;
static uint32_t state;
enum { NEW = 0, BEGUN, RUNNING };

static const uint32_t kinds[] = {
	KIND_DEVICE, KIND_KERNEL, KIND_COPY, KIND_PEER_COPY, KIND_SET, KIND_WAIT, KIND_OVERHEAD};

/* Unified memory: of all devices, what has moved and what has faulted. */
static void enable_memory(void)
{
	static const uint32_t counters[] = {1, 2, 3, 4, 5, 8};
	struct cupti_memory_config config[sizeof(counters) / sizeof(counters[0])];
	const uint32_t n = sizeof(counters) / sizeof(counters[0]);

	if (!cupti.memory_config)
		return;
	for (uint32_t i = 0; i < n; i++) /* scope 1: this process, one device */
		config[i] = (struct cupti_memory_config){1, counters[i], 0, 1};
	if (cupti.memory_config(config, n) == CUPTI_OK)
		cupti.enable(KIND_MEMORY);
}

static void flush(void)
{
	if (load_acquire(&state) != RUNNING || !cupti_was_called() || !gpu_host->active())
		return;
	cupti.flush_all(CUPTI_FLUSH_FORCED);
	cupti_tell_state();
}

static const char *start(void)
{
	static char text[128];
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
		return "CUPTI takes no buffers for activities: GPUs are not traced";
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		enabled += cupti.enable(kinds[i]) == CUPTI_OK;
	enable_memory();
	cupti.enable_domain(1, subscriber, DOMAIN_RUNTIME);
	cupti.enable_domain(1, subscriber, DOMAIN_DRIVER);
	if (cupti.flush_period)
		cupti.flush_period(PERIOD_MS);
	return enabled ? NULL
		       : "CUPTI gives no activities (may its user see the GPU's counters?): only "
			 "calls into CUDA are traced";
}

static void begin(const struct gpu_host *host)
{
	const char *trouble;

	if (!host || host->version != GPU_SEAM_VERSION || !claim_u32(&state, NEW, BEGUN))
		return;
	gpu_host = host;
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
	atexit(flush);
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
