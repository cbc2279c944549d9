/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranges of NVTX as regions. A program that uses NVTX loads the library that
 * NVTX_INJECTION64_PATH names at its first call, asks for InitializeInjectionNvtx2(),
 * and has its functions replaced; CUDA is not needed for it. Ranges are pushed and
 * popped on one thread; those that start on one and end on another are no regions.
 */
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include "cupti/cupti.h"
#include "cupti/nvtx-abi.h"

#define EXPORT	   __attribute__((visibility("default")))
#define DEPTH_MAX  64
#define NAME_BYTES 96 /* what is kept of a name */
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

static int push_attributes(const void *domain, const struct nvtx_attributes *a)
{
	char text[NAME_BYTES];

	if (!a || a->size < sizeof(*a))
		return push(domain, NULL);
	if (a->message_type == NVTX_MESSAGE_WIDE)
		return push(domain, from_wide(a->message, text));
	if (a->message_type == NVTX_MESSAGE_ASCII || a->message_type == NVTX_MESSAGE_REGISTERED)
		return push(domain, a->message);
	return push(domain, NULL);
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

static const void *domain_string(const void *domain, const char *text)
{
	(void)domain;
	return text ? keep(text) : NULL;
}

static const void *domain_create(const char *name)
{
	return name ? keep(name) : NULL;
}

static const struct {
	uint32_t module, number;
	nvtx_function *f;
} functions[] = {
	{NVTX_MODULE_CORE, NVTX_PUSH_EX, (nvtx_function *)range_push_ex},
	{NVTX_MODULE_CORE, NVTX_PUSH, (nvtx_function *)range_push},
	{NVTX_MODULE_CORE, NVTX_PUSH_WIDE, (nvtx_function *)range_push_wide},
	{NVTX_MODULE_CORE, NVTX_POP, (nvtx_function *)range_pop},
	{NVTX_MODULE_CORE2, NVTX_DOMAIN_PUSH, (nvtx_function *)domain_push},
	{NVTX_MODULE_CORE2, NVTX_DOMAIN_POP, (nvtx_function *)domain_pop},
	{NVTX_MODULE_CORE2, NVTX_DOMAIN_STRING, (nvtx_function *)domain_string},
	{NVTX_MODULE_CORE2, NVTX_DOMAIN_CREATE, (nvtx_function *)domain_create},
};

/* 1: we listen; 0: nobody does, and the program's calls cost nothing. */
EXPORT int InitializeInjectionNvtx2(nvtx_tables *tables);
int InitializeInjectionNvtx2(nvtx_tables *tables)
{
	const struct nvtx_callbacks *c = tables ? tables(NVTX_TABLE_CALLBACKS) : NULL;

	if (!c || c->bytes < sizeof(*c) || !cupti_host())
		return 0;
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		nvtx_function ***table;
		unsigned n;

		if (c->functions(functions[i].module, &table, &n) && functions[i].number < n &&
			table[functions[i].number])
			*table[functions[i].number] = functions[i].f;
	}
	return 1;
}
