/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CUPTI's callbacks at the enter and exit of functions of the runtime and driver
 * interface, on the calling thread. Each is a frame; what the runtime itself calls
 * in the driver is part of it and no frame of its own. Functions that can start
 * something on the GPU, or wait for it, give their correlation number as well.
 */
#include <string.h>
#include "cupti/cupti.h"
#include "shm/atomic.h"

/* Called so often, or for so little, that a frame says nothing. */
static const char *const ignored[] = {
	"__cudaPushCallConfiguration",
	"__cudaPopCallConfiguration",
	"cudaGetLastError",
	"cudaPeekAtLastError",
	"cudaGetDevice",
	"cuCtxGetCurrent",
	"cuCtxSetCurrent",
	"cuCtxPushCurrent",
	"cuCtxPopCurrent",
	"cuCtxGetDevice",
	"cuGetErrorString",
	"cuGetErrorName",
	"cuGetProcAddress",
	"cuGetExportTable",
	"cuStreamGetCtx",
	"cuDriverGetVersion",
	"cuDeviceTotalMem",
	"cuDevicePrimaryCtxGetState",
	"cuModuleGetLoadingMode",
};

/*
 * Beginnings of questions to the driver, as ignored. The runtime of CUDA 13 asks them outside
 * of its own functions: 120 of them as it begins, and a kernel's name at each launch.
 */
static const char *const questions[] = {"cuDeviceGet", "cuLibraryGet", "cuKernelGet", "cuFuncGet"};

/* Beginnings, behind cuda or cu, of those that start something or wait. */
static const char *const starting[] = {"Launch", "Memcpy", "Memset", "Graph", "StreamSynchronize",
	"StreamWait", "DeviceSynchronize", "ThreadSynchronize", "CtxSynchronize",
	"EventSynchronize", "MemPrefetch", "Malloc", "Free", "MemAlloc", "MemFree", "HostAlloc",
	"FreeHost", "Array", "Module", "Stream", "Event"};

enum { NEW = 0, IGNORED, PLAIN, STARTING };
#define FUNCTIONS  2048u
#define CLASS_BITS 2
#define BYTES_MOST 255u

/* By domain and function: bytes of the name << CLASS_BITS | class. */
static uint32_t known[2][FUNCTIONS];
static uint32_t called_in;

static __thread uint32_t depth; /* of calls that we are in */

/* Length of a name without the version at its end: _v2, _v7000, _v3020_ptsz */
static uint32_t name_bytes(const char *name)
{
	size_t n = strnlen(name, BYTES_MOST);

	for (size_t i = n; i-- > 2;)
		if (name[i - 1] == '_' && name[i] == 'v' && name[i + 1] >= '0' &&
			name[i + 1] <= '9')
			return (uint32_t)(i - 1);
	return (uint32_t)n;
}

static bool begins_with_one(const char *name, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strncmp(name, list[i], strlen(list[i])))
			return true;
	return false;
}

static uint32_t classify(const char *name)
{
	uint32_t bytes = name_bytes(name);
	const char *rest = name + (strncmp(name, "cuda", 4) ? 2 : 4);

	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		if (strlen(ignored[i]) == bytes && !strncmp(ignored[i], name, bytes))
			return bytes << CLASS_BITS | IGNORED;
	if (begins_with_one(name, questions, sizeof(questions) / sizeof(questions[0])))
		return bytes << CLASS_BITS | IGNORED;
	if (!strncmp(name, "cu", 2) &&
		begins_with_one(rest, starting, sizeof(starting) / sizeof(starting[0])))
		return bytes << CLASS_BITS | STARTING;
	return bytes << CLASS_BITS | PLAIN;
}

static uint32_t class_of(uint32_t domain, uint32_t function, const char *name)
{
	uint32_t *at, class;

	if (function >= FUNCTIONS)
		return classify(name);
	at = &known[domain == DOMAIN_RUNTIME][function];
	class = load_relaxed(at); /* whoever comes first writes the same */
	if (class == NEW) {
		class = classify(name);
		store_relaxed(at, class);
	}
	return class;
}

/* What is ignored need not be told of; that it is told, and left out, costs each call more. */
static void leave_out_ignored(void *subscriber, uint32_t domain)
{
	for (uint32_t function = 1; function < FUNCTIONS; function++) {
		const char *name = NULL;

		if (cupti.callback_name(domain, function, &name) == CUPTI_OK && name &&
			class_of(domain, function, name) % (1 << CLASS_BITS) == IGNORED)
			cupti.enable_callback(0, subscriber, domain, function);
	}
}

int cupti_choose_calls(void *subscriber)
{
	static const uint32_t domains[] = {DOMAIN_RUNTIME, DOMAIN_DRIVER};
	int error = CUPTI_OK;

	for (size_t i = 0; i < sizeof(domains) / sizeof(domains[0]); i++) {
		int e = cupti.enable_domain(1, subscriber, domains[i]);

		if (e)
			error = e;
		else if (cupti.callback_name && cupti.enable_callback)
			leave_out_ignored(subscriber, domains[i]);
	}
	return error;
}

bool cupti_is_inside(void)
{
	return depth != 0;
}

bool cupti_was_called(void)
{
	return load_relaxed(&called_in) == gpu_host->generation();
}

static void enter(uint32_t domain, uint32_t function, const struct cupti_call *call, uint32_t class)
{
	if (load_relaxed(&called_in) != gpu_host->generation()) {
		store_relaxed(&called_in, gpu_host->generation());
		deliver_begin();
	}
	gpu_host->call(false, call->function, class >> CLASS_BITS);
	if (class % (1 << CLASS_BITS) == STARTING)
		gpu_host->number(domain << 24 | (function & 0xffffff), call->correlation);
}

/* The runtime's functions call the driver's: those are not looked at. */
void cupti_call(void *context, uint32_t domain, uint32_t function, const struct cupti_call *call)
{
	uint32_t class;

	(void)context;
	if ((domain != DOMAIN_RUNTIME && domain != DOMAIN_DRIVER) || !call || !call->function)
		return;
	/* what has begun ends, although another thread may have paused recording meanwhile */
	if (!depth && (call->site != SITE_ENTER || !gpu_host->active()))
		return;
	class = class_of(domain, function, call->function);
	if (class % (1 << CLASS_BITS) == IGNORED)
		return;
	if (call->site == SITE_ENTER) {
		if (!depth++)
			enter(domain, function, call, class);
	} else if (!--depth) {
		gpu_host->call(true, call->function, class >> CLASS_BITS);
	}
}
