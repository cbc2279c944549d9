/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranges as NVTX makes them. With NVTX's header its own code; without, what that does:
 * the library in NVTX_INJECTION64_PATH fills a table of functions, or is not there.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#ifdef HAS_CUDA
#include "standin-cuda.h"
#endif

#ifdef HAS_NVTX
#include <nvtx3/nvToolsExt.h>
#else
#include <dlfcn.h>
#include <stdlib.h>
#include "cupti/nvtx-abi.h"

typedef struct nvtx_attributes nvtxEventAttributes_t;
static int (*push_a)(const char *), (*pop_a)(void);
static int (*push_domain)(const void *, const struct nvtx_attributes *);
static int (*pop_domain)(const void *);
static const void *(*string)(const void *, const char *), *(*create)(const char *);
static void (*mark_a)(const char *), (*end)(uint64_t), (*name_a)(uint32_t, const char *);
static uint64_t (*start_a)(const char *);
static void **core[16] = {[NVTX_PUSH] = (void **)&push_a,
	[NVTX_POP] = (void **)&pop_a,
	[NVTX_MARK] = (void **)&mark_a,
	[NVTX_START] = (void **)&start_a,
	[NVTX_END] = (void **)&end,
	[NVTX_NAME_THREAD] = (void **)&name_a};
static void **core2[16] = {[NVTX_DOMAIN_PUSH] = (void **)&push_domain,
	[NVTX_DOMAIN_POP] = (void **)&pop_domain,
	[NVTX_DOMAIN_STRING] = (void **)&string,
	[NVTX_DOMAIN_CREATE] = (void **)&create};
static void (*name_stream)(void *, const char *);
static void **cudart[16] = {[NVTX_CUDART_NAME_STREAM] = (void **)&name_stream};

static int functions(uint32_t module, nvtx_function ****table, unsigned *n)
{
	void ***from = module == NVTX_MODULE_CORE     ? core
		       : module == NVTX_MODULE_CORE2  ? core2
		       : module == NVTX_MODULE_CUDART ? cudart
						      : NULL;

	memcpy(table, &from, sizeof(from));
	*n = 16;
	return from != NULL;
}

static const void *tables(uint32_t table)
{
	static const struct nvtx_callbacks callbacks = {sizeof(callbacks), functions};

	return table == NVTX_TABLE_CALLBACKS ? &callbacks : NULL;
}

__attribute__((no_instrument_function, constructor)) static void load(void)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
	int (*init)(nvtx_tables *);
	void *f = library ? dlsym(library, "InitializeInjectionNvtx2") : NULL;

	if (!f)
		return;
	memcpy(&init, &f, sizeof(f));
	init(tables);
}

static void nvtxRangePushA(const char *name)
{
	if (push_a)
		push_a(name);
}

static void nvtxRangePop(void)
{
	if (pop_a)
		pop_a();
}

static const void *nvtxDomainCreateA(const char *name)
{
	return create ? create(name) : NULL;
}

static const void *nvtxDomainRegisterStringA(const void *domain, const char *text)
{
	return string ? string(domain, text) : NULL;
}

static void nvtxDomainRangePushEx(const void *domain, const struct nvtx_attributes *a)
{
	if (push_domain)
		push_domain(domain, a);
}

static void nvtxDomainRangePop(const void *domain)
{
	if (pop_domain)
		pop_domain(domain);
}

static void nvtxMarkA(const char *name)
{
	if (mark_a)
		mark_a(name);
}

static uint64_t nvtxRangeStartA(const char *name)
{
	return start_a ? start_a(name) : 0;
}

static void nvtxRangeEnd(uint64_t range)
{
	if (end)
		end(range);
}

static void nvtxNameOsThreadA(uint32_t tid, const char *name)
{
	if (name_a)
		name_a(tid, name);
}

__attribute__((unused)) static void nvtxNameCudaStreamA(void *stream, const char *name)
{
	if (name_stream)
		name_stream(stream, name);
}
#define nvtxDomainHandle_t const void *
#define nvtxStringHandle_t const void *
#endif

static void step(nvtxDomainHandle_t domain, nvtxStringHandle_t name)
{
	nvtxEventAttributes_t a;

	memset(&a, 0, sizeof(a));
	a.version = 3;
	a.size = sizeof(a);
#ifdef HAS_NVTX
	a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	a.message.registered = name;
#else
	a.message_type = NVTX_MESSAGE_REGISTERED;
	a.message = name;
#endif
	nvtxDomainRangePushEx(domain, &a);
	nvtxRangePushA("inner");
	nvtxRangePop();
	nvtxDomainRangePop(domain);
}

static void *end_there(void *range)
{
	usleep(2000);
	nvtxRangeEnd(*(uint64_t *)range);
	nvtxRangeEnd(4711); /* none has this number */
	return NULL;
}

/* Started here, ended on another thread; two at once. */
static void across(void)
{
	uint64_t first = nvtxRangeStartA("across"), second = nvtxRangeStartA("across");
	pthread_t thread;

	nvtxNameOsThreadA((uint32_t)gettid(), "pilot");
	pthread_create(&thread, NULL, end_there, &first);
	nvtxMarkA("beacon");
	nvtxMarkA("beacon");
	nvtxRangeEnd(second);
	pthread_join(thread, NULL);
}

#ifdef HAS_CUDA
static void named_stream(void)
{
	cudaStream_t s;

	cudaStreamCreate(&s);
	nvtxNameCudaStreamA(s, "halo");
	cudaLaunchKernel("exchange", 1, 32, 5000000, s);
	cudaStreamSynchronize(s);
}
#endif

int main(void)
{
	nvtxDomainHandle_t domain = nvtxDomainCreateA("mine");
	nvtxStringHandle_t name = nvtxDomainRegisterStringA(domain, "registered");

	nvtxRangePushA("outer");
	for (int i = 0; i < 3; i++)
		step(domain, name);
	nvtxRangePop();
	nvtxRangePop(); /* one too many */
	for (int i = 0; i < 100; i++)
		nvtxRangePushA("deep");
	for (int i = 0; i < 100; i++)
		nvtxRangePop();
	across();
#ifdef HAS_CUDA
	named_stream();
#endif
	puts("done");
	return 0;
}
