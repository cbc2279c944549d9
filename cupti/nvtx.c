/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranges of NVTX as regions. A program that uses NVTX loads the library that
 * NVTX_INJECTION64_PATH names at its first call, asks for InitializeInjectionNvtx2(),
 * and has its functions replaced; CUDA is not needed for it. Ranges are pushed and
 * popped on one thread; what starts here and ends anywhere, and names, are nvtx-range.c's.
 * A mark is a region without length. Categories, colours and payloads are not kept.
 */
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include "cupti/cupti.h"
#include "cupti/nvtx-abi.h"
#include "cupti/nvtx-range.h"

#define EXPORT	   __attribute__((visibility("default")))
#define DEPTH_MAX  64
#define NAME_BYTES NVTX_NAME_BYTES
#define POOL_BYTES ((size_t)1 << 20)

struct range {
	const void *domain;
	char name[NAME_BYTES];
};

static __thread struct range ranges[DEPTH_MAX];
static __thread int depth; /* of all, also of those that have no place */

/* Registered strings and domains are known by pointers that stay. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *pool;
static size_t used;

void nvtx_after_fork(void)
{
	pthread_mutex_init(&lock, NULL);
}

static const void *keep(const char *text)
{
	static const char no_room[] = "(range)";
	size_t bytes = strnlen(text, NAME_BYTES - 1) + 1;
	char *to = NULL;

	pthread_mutex_lock(&lock);
	if (!pool) {
		void *p = mmap(NULL, POOL_BYTES, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		pool = p == MAP_FAILED ? NULL : p;
	}
	if (pool && used + bytes <= POOL_BYTES) {
		to = pool + used;
		used += bytes;
		memcpy(to, text, bytes - 1);
	}
	pthread_mutex_unlock(&lock);
	return to ? to : no_room;
}

static int push(const void *domain, const char *name)
{
	if (depth < DEPTH_MAX) {
		struct range *r = &ranges[depth];

		r->domain = domain;
		strncpy(r->name, name && name[0] ? name : "(range)", NAME_BYTES - 1);
		gpu_host->call(false, r->name, NAME_BYTES);
	}
	return depth++;
}

/* Each domain has a stack of its own; mostly they are one inside of the other. */
static int pop(const void *domain)
{
	int i = (depth < DEPTH_MAX ? depth : DEPTH_MAX) - 1;

	if (depth > DEPTH_MAX)
		return --depth;
	while (i >= 0 && ranges[i].domain != domain)
		i--;
	if (i < 0)
		return -1;
	gpu_host->call(true, ranges[i].name, NAME_BYTES);
	memmove(&ranges[i], &ranges[i + 1], (size_t)(depth - 1 - i) * sizeof(ranges[0]));
	return --depth;
}

/* Characters beyond ASCII are not kept. */
static const char *from_wide(const wchar_t *wide, char *text)
{
	size_t i = 0;

	for (; wide && wide[i] && i < NAME_BYTES - 1; i++)
		text[i] = wide[i] >= ' ' && wide[i] <= '~' ? (char)wide[i] : '?';
	text[i] = '\0';
	return text;
}

/* text: room for NAME_BYTES. NULL: it has none. */
static const char *name_of(const struct nvtx_attributes *a, char *text)
{
	if (!a || a->size < sizeof(*a))
		return NULL;
	if (a->message_type == NVTX_MESSAGE_WIDE)
		return from_wide(a->message, text);
	if (a->message_type == NVTX_MESSAGE_ASCII || a->message_type == NVTX_MESSAGE_REGISTERED)
		return a->message;
	return NULL;
}

static int push_attributes(const void *domain, const struct nvtx_attributes *a)
{
	char text[NAME_BYTES];

	return push(domain, name_of(a, text));
}

static uint64_t start(const char *name)
{
	return nvtx_range_start(name && name[0] ? name : "(range)");
}

static void mark(const char *name)
{
	if (!name || !name[0])
		name = "(mark)";
	gpu_host->call(false, name, NAME_BYTES);
	gpu_host->call(true, name, NAME_BYTES);
}

/* ---- what the program's functions become ------------------------------------------------ */

static int range_push_ex(const struct nvtx_attributes *a)
{
	return push_attributes(NULL, a);
}

static int range_push(const char *name)
{
	return push(NULL, name);
}

static int range_push_wide(const wchar_t *name)
{
	char text[NAME_BYTES];

	return push(NULL, from_wide(name, text));
}

static int range_pop(void)
{
	return pop(NULL);
}

static int domain_push(const void *domain, const struct nvtx_attributes *a)
{
	return push_attributes(domain, a);
}

static int domain_pop(const void *domain)
{
	return pop(domain);
}

static void mark_ex(const struct nvtx_attributes *a)
{
	char text[NAME_BYTES];

	mark(name_of(a, text));
}

static void mark_wide(const wchar_t *name)
{
	char text[NAME_BYTES];

	mark(from_wide(name, text));
}

static void domain_mark(const void *domain, const struct nvtx_attributes *a)
{
	(void)domain;
	mark_ex(a);
}

static uint64_t start_ex(const struct nvtx_attributes *a)
{
	char text[NAME_BYTES];

	return start(name_of(a, text));
}

static uint64_t start_wide(const wchar_t *name)
{
	char text[NAME_BYTES];

	return start(from_wide(name, text));
}

static uint64_t domain_start(const void *domain, const struct nvtx_attributes *a)
{
	(void)domain;
	return start_ex(a);
}

static void domain_end(const void *domain, uint64_t number)
{
	(void)domain;
	nvtx_range_end(number);
}

static const void *domain_string(const void *domain, const char *text)
{
	(void)domain;
	return text ? keep(text) : NULL;
}

static const void *domain_string_wide(const void *domain, const wchar_t *wide)
{
	char text[NAME_BYTES];

	return wide ? domain_string(domain, from_wide(wide, text)) : NULL;
}

static const void *domain_create(const char *name)
{
	return name ? keep(name) : NULL;
}

static const void *domain_create_wide(const wchar_t *wide)
{
	char text[NAME_BYTES];

	return wide ? keep(from_wide(wide, text)) : NULL;
}

static void name_thread(uint32_t tid, const char *name)
{
	if (name && name[0])
		nvtx_name_thread(tid, name);
}

static void name_thread_wide(uint32_t tid, const wchar_t *wide)
{
	char text[NAME_BYTES];

	name_thread(tid, from_wide(wide, text));
}

static void name_device(int device, const char *name)
{
	if (device >= 0 && name && name[0])
		nvtx_name_device((uint32_t)device, name);
}

static void name_device_wide(int device, const wchar_t *wide)
{
	char text[NAME_BYTES];

	name_device(device, from_wide(wide, text));
}

static void name_stream(void *stream, const char *name)
{
	if (name && name[0])
		nvtx_name_stream(stream, name);
}

static void name_stream_wide(void *stream, const wchar_t *wide)
{
	char text[NAME_BYTES];

	name_stream(stream, from_wide(wide, text));
}

#define ROW(module, number, f)                                                                     \
	{                                                                                          \
		NVTX_MODULE_##module, NVTX_##number, (nvtx_function *)(f)                          \
	}

static const struct {
	uint32_t module, number;
	nvtx_function *f;
} functions[] = {
	ROW(CORE, MARK_EX, mark_ex),
	ROW(CORE, MARK, mark),
	ROW(CORE, MARK_WIDE, mark_wide),
	ROW(CORE, START_EX, start_ex),
	ROW(CORE, START, start),
	ROW(CORE, START_WIDE, start_wide),
	ROW(CORE, END, nvtx_range_end),
	ROW(CORE, PUSH_EX, range_push_ex),
	ROW(CORE, PUSH, range_push),
	ROW(CORE, PUSH_WIDE, range_push_wide),
	ROW(CORE, POP, range_pop),
	ROW(CORE, NAME_THREAD, name_thread),
	ROW(CORE, NAME_THREAD_WIDE, name_thread_wide),
	ROW(CORE2, DOMAIN_MARK, domain_mark),
	ROW(CORE2, DOMAIN_START, domain_start),
	ROW(CORE2, DOMAIN_END, domain_end),
	ROW(CORE2, DOMAIN_PUSH, domain_push),
	ROW(CORE2, DOMAIN_POP, domain_pop),
	ROW(CORE2, DOMAIN_STRING, domain_string),
	ROW(CORE2, DOMAIN_STRING_WIDE, domain_string_wide),
	ROW(CORE2, DOMAIN_CREATE, domain_create),
	ROW(CORE2, DOMAIN_CREATE_WIDE, domain_create_wide),
	ROW(CUDA, CUDA_NAME_STREAM, name_stream),
	ROW(CUDA, CUDA_NAME_STREAM_WIDE, name_stream_wide),
	ROW(CUDART, CUDART_NAME_DEVICE, name_device),
	ROW(CUDART, CUDART_NAME_DEVICE_WIDE, name_device_wide),
	ROW(CUDART, CUDART_NAME_STREAM, name_stream),
	ROW(CUDART, CUDART_NAME_STREAM_WIDE, name_stream_wide),
};

/* 1: we listen; 0: nobody does, and the program's calls cost nothing. */
EXPORT int InitializeInjectionNvtx2(nvtx_tables *tables);
int InitializeInjectionNvtx2(nvtx_tables *tables)
{
	const struct nvtx_callbacks *c = tables ? tables(NVTX_TABLE_CALLBACKS) : NULL;

	if (!c || c->bytes < sizeof(*c) || !cupti_host())
		return 0;
	cupti_watch_forks();
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		nvtx_function ***table;
		unsigned n;

		if (c->functions(functions[i].module, &table, &n) && functions[i].number < n &&
			table[functions[i].number])
			*table[functions[i].number] = functions[i].f;
	}
	return 1;
}
