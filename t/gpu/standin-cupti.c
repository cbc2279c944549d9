/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stand-in for libcupti: see standin-cuda.h. Buffers are given back by a
 * thread of its own. STANDIN_CUPTI in the environment, a list of words, changes
 * what it does:
 *
 *   busy        another tool has subscribed
 *   records=N   a buffer is full after N records
 *   drop=N      each N-th record finds no room
 *   inside      a thread that is in a call of CUDA must not flush: it would wait for itself
 *   late        buffers are given back at a forced flush only, the last ones first
 *   tell        at the end: how many calls of functions that are left out were told
 *   never       ... and not even then
 *   denied      activities are refused
 *   garbage     correlations, times and kinds are random numbers
 *   devices=N   tells of N devices and their default streams, not only of the first
 *   fail=N      the N-th call of its functions fails
 */
#include "standin-cuda.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cupti/abi.h"

#define FULL_MAX 4096
enum { LAST_ERROR = 10 }; /* number of cudaGetLastError, as in CUPTI */

struct buffer {
	uint8_t *at;
	size_t bytes, used;
	unsigned records;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static cupti_on_call *on_call;
static void *on_call_context;
static cupti_on_request *on_request;
static cupti_on_complete *on_complete;
static bool domains[8], kinds[64], has_thread, left_out[LAST_ERROR + 1];
static unsigned told_in_vain;
static struct buffer now, full[FULL_MAX];
static unsigned n_full, n_records, in_work;
static size_t dropped;
static __thread unsigned inside; /* of calls that were told */

static bool word(const char *name, unsigned *value)
{
	const char *all = getenv("STANDIN_CUPTI"), *at = all ? strstr(all, name) : NULL;

	if (at && value && at[strlen(name)] == '=')
		*value = (unsigned)atoi(at + strlen(name) + 1);
	return at;
}

static const size_t sizes[64] = {[KIND_COPY] = 88,
	[KIND_SET] = 88,
	[KIND_KERNEL] = 200,
	[KIND_DEVICE] = sizeof(struct cupti_device),
	[KIND_CONTEXT] = 32,
	[KIND_OVERHEAD] = sizeof(struct cupti_overhead),
	[KIND_PEER_COPY] = 96,
	[KIND_MEMORY] = 72,
	[KIND_WAIT] = sizeof(struct cupti_wait)};

static bool fails(void)
{
	static unsigned calls;
	unsigned at = 0;

	word("fail", &at);
	return at && __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) == at;
}

#define FAIL_IF_WANTED                                                                             \
	do {                                                                                       \
		if (fails())                                                                       \
			return 999;                                                                \
	} while (0)

/* ---- what the library's user calls --------------------------------------------------------- */

static void deliver(struct buffer *b)
{
	on_complete(NULL, 0, b->at, b->bytes, b->used);
	b->at = NULL;
}

static void *worker(void *unused)
{
	struct buffer b;

	(void)unused;
	pthread_mutex_lock(&lock);
	for (;;) {
		while (!n_full || word("late", NULL) || word("never", NULL))
			pthread_cond_wait(&more, &lock);
		b = full[0];
		memmove(full, full + 1, --n_full * sizeof(b));
		in_work++;
		pthread_mutex_unlock(&lock);
		deliver(&b);
		pthread_mutex_lock(&lock);
		in_work--;
	}
	return NULL;
}

static void push_now(void)
{
	if (now.at && n_full < FULL_MAX)
		full[n_full++] = now;
	memset(&now, 0, sizeof(now));
	pthread_cond_signal(&more);
}

static void scramble(void *record, size_t bytes)
{
	static unsigned seed = 1;
	uint8_t *at = record;

	for (int k = 0; k < 6; k++)
		at[4 + (unsigned)rand_r(&seed) % (bytes > 100 ? 92 : bytes - 4)] =
			(uint8_t)rand_r(&seed);
}

static void record(const void *r, size_t bytes)
{
	uint32_t kind = ((const struct cupti_record *)r)->kind;
	unsigned most = 0, every = 0;
	uint8_t *to;

	if (kind >= 64 || !kinds[kind])
		return;
	word("records", &most);
	word("drop", &every);
	pthread_mutex_lock(&lock);
	n_records++;
	if (every && n_records % every == 0) {
		dropped++;
		goto out;
	}
	if (now.at && (now.used + bytes > now.bytes || (most && now.records >= most)))
		push_now();
	if (!now.at) {
		size_t records_max;

		pthread_mutex_unlock(&lock);
		on_request(&to, &bytes, &records_max);
		pthread_mutex_lock(&lock);
		if (now.at) { /* somebody was faster: his goes first */
			push_now();
		}
		now = (struct buffer){to, bytes, 0, 0};
	}
	bytes = sizes[kind];
	if (!now.at || now.used + bytes > now.bytes) {
		dropped++;
		goto out;
	}
	to = now.at + now.used;
	memcpy(to, r, bytes);
	if (word("garbage", NULL) && kind == KIND_KERNEL) {
		const char *name = ((struct cupti_kernel *)to)->name;

		scramble(to, bytes);
		((struct cupti_kernel *)to)->name = name;
	}
	now.used += bytes;
	now.records++;
out:
	pthread_mutex_unlock(&lock);
}

static void call(
	uint32_t where, uint32_t domain, uint32_t function, const char *name, uint32_t correlation)
{
	struct cupti_call c = {
		.site = where, .function = name, .context_id = 1, .correlation = correlation};

	if (!on_call || !domains[domain] ||
		(domain == DOMAIN_RUNTIME && function <= LAST_ERROR && left_out[function]))
		return;
	on_call(on_call_context, domain, function, &c);
	inside += where == SITE_ENTER ? 1u : -1u;
	told_in_vain += domain == DOMAIN_RUNTIME && function == LAST_ERROR;
}

static struct standin_hooks hooks = {call, record};

int cuptiSubscribe(void **subscriber, cupti_on_call *f, void *context);
int cuptiSubscribe(void **subscriber, cupti_on_call *f, void *context)
{
	FAIL_IF_WANTED;
	if (word("busy", NULL) || on_call)
		return CUPTI_BUSY;
	on_call = f;
	on_call_context = context;
	*subscriber = &hooks;
	standin_hooks = &hooks;
	return CUPTI_OK;
}

int cuptiUnsubscribe(void *subscriber);
int cuptiUnsubscribe(void *subscriber)
{
	FAIL_IF_WANTED;
	(void)subscriber;
	on_call = NULL;
	return CUPTI_OK;
}

int cuptiEnableDomain(uint32_t enable, void *subscriber, uint32_t domain);
int cuptiEnableDomain(uint32_t enable, void *subscriber, uint32_t domain)
{
	FAIL_IF_WANTED;
	(void)subscriber;
	domains[domain % 8] = enable;
	return CUPTI_OK;
}

int cuptiGetCallbackName(uint32_t domain, uint32_t function, const char **name);
int cuptiGetCallbackName(uint32_t domain, uint32_t function, const char **name)
{
	if (domain != DOMAIN_RUNTIME || function != LAST_ERROR)
		return 1; /* INVALID_PARAMETER */
	FAIL_IF_WANTED;
	*name = "cudaGetLastError_v3020";
	return CUPTI_OK;
}

int cuptiEnableCallback(uint32_t enable, void *subscriber, uint32_t domain, uint32_t function);
int cuptiEnableCallback(uint32_t enable, void *subscriber, uint32_t domain, uint32_t function)
{
	FAIL_IF_WANTED;
	if (subscriber != &hooks || domain != DOMAIN_RUNTIME || function > LAST_ERROR)
		return 1;
	left_out[function] = !enable;
	return CUPTI_OK;
}

__attribute__((destructor)) static void tell_calls(void)
{
	if (word("tell", NULL))
		fprintf(stderr, "calls told in vain: %u\n", told_in_vain);
}

int cuptiActivityRegisterCallbacks(cupti_on_request *request, cupti_on_complete *complete);
int cuptiActivityRegisterCallbacks(cupti_on_request *request, cupti_on_complete *complete)
{
	FAIL_IF_WANTED;
	on_request = request;
	on_complete = complete;
	return CUPTI_OK;
}

/* As an H100, the same ones in every process. */
static void tell_device(unsigned i)
{
	struct cupti_device d = {.kind = KIND_DEVICE,
		.memory = (uint64_t)80 << 30,
		.warp_threads = 32,
		.multiprocessors = 132,
		.warps = 64,
		.blocks = 32,
		.shared_bytes = 233472,
		.registers = 65536,
		.block_registers = 65536,
		.block_threads = 1024,
		.major = 9,
		.id = i,
		.uuid = {0x9e, 0x37, 0x79, 0xb9, [15] = (uint8_t)(i + 1)},
		.name = "Stand-in GPU"};

	record(&d, sizeof(d));
}

int cuptiActivityEnable(uint32_t kind);
int cuptiActivityEnable(uint32_t kind)
{
	pthread_t thread;
	unsigned n = 0;

	FAIL_IF_WANTED;
	if (word("denied", NULL) || kind >= 64)
		return 35; /* INSUFFICIENT_PRIVILEGES */
	kinds[kind] = true;
	if (!has_thread)
		has_thread = !pthread_create(&thread, NULL, worker, NULL);
	word("devices", &n);
	if (kind == KIND_DEVICE)
		for (unsigned i = 0; i < (n ? n : 1); i++)
			tell_device(i);
	for (unsigned i = 0; kind == KIND_CONTEXT && i < n; i++) {
		union {
			struct cupti_context of;
			uint8_t room[32];
		} c = {.of = {KIND_CONTEXT, i + 1, i, 1, 7}};

		record(&c, sizeof(c));
	}
	return CUPTI_OK;
}

int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, struct cupti_record **r);
int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, struct cupti_record **r)
{
	uint8_t *next = *r ? (uint8_t *)*r + sizes[(*r)->kind] : buffer;

	FAIL_IF_WANTED;
	if (next >= buffer + valid)
		return CUPTI_LIMIT;
	*r = (struct cupti_record *)next;
	return CUPTI_OK;
}

int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *n);
int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *n)
{
	FAIL_IF_WANTED;
	(void)context;
	(void)stream;
	pthread_mutex_lock(&lock);
	*n = dropped;
	dropped = 0;
	pthread_mutex_unlock(&lock);
	return CUPTI_OK;
}

int cuptiActivityFlushAll(uint32_t flags);
int cuptiActivityFlushAll(uint32_t flags)
{
	struct buffer b;

	FAIL_IF_WANTED;
	if (inside && word("inside", NULL))
		abort();
	if (word("never", NULL) || (!flags && word("late", NULL)))
		return CUPTI_OK;
	pthread_mutex_lock(&lock);
	push_now();
	while (n_full) {
		b = full[--n_full];
		pthread_mutex_unlock(&lock);
		deliver(&b);
		pthread_mutex_lock(&lock);
	}
	while (in_work) {
		pthread_mutex_unlock(&lock);
		sched_yield();
		pthread_mutex_lock(&lock);
	}
	pthread_mutex_unlock(&lock);
	return CUPTI_OK;
}

int cuptiGetTimestamp(uint64_t *ns);
int cuptiGetTimestamp(uint64_t *ns)
{
	FAIL_IF_WANTED;
	*ns = standin_time();
	return CUPTI_OK;
}

int cuptiActivityConfigureUnifiedMemoryCounter(struct cupti_memory_config *config, uint32_t n);
int cuptiActivityConfigureUnifiedMemoryCounter(struct cupti_memory_config *config, uint32_t n)
{
	FAIL_IF_WANTED;
	return config && n ? CUPTI_OK : 1;
}

int cuptiGetContextId(void *context, uint32_t *id);
int cuptiGetContextId(void *context, uint32_t *id)
{
	uint32_t stream;

	FAIL_IF_WANTED;
	standin_stream_is(context, id, &stream);
	return CUPTI_OK;
}

int cuptiGetStreamIdEx(void *context, void *stream, uint8_t per_thread, uint32_t *id);
int cuptiGetStreamIdEx(void *context, void *stream, uint8_t per_thread, uint32_t *id)
{
	uint32_t of;

	(void)context;
	(void)per_thread;
	FAIL_IF_WANTED;
	standin_stream_is(stream, &of, id);
	return CUPTI_OK;
}
