/* SPDX-License-Identifier: BSD-3-Clause */
/* The stand-in for libcudart: see standin-cuda.h. The driver is called below the runtime. */
#include "standin-cuda.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "cupti/abi.h"

#define DEVICES 4
#define STREAMS 256

struct standin_stream {
	uint32_t number, device;
	uint64_t free_at; /* the GPU's time when what was started is over */
};

struct standin_hooks *standin_hooks;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct standin_stream streams[STREAMS], defaults[DEVICES];
static uint32_t n_streams, correlation;
static __thread uint32_t device;

static uint64_t host_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

uint64_t standin_time(void)
{
	static uint64_t from;
	uint64_t now = host_time();

	if (!from)
		from = now;
	return 1700000000000000000 + (now - from) + (now - from) / 20000; /* 50 ppm fast */
}

enum {
	LAUNCH = 211,
	COPY = 41,
	PEER = 49,
	SET = 52,
	GRAPH = 311,
	STREAM_WAIT = 131,
	DEVICE_WAIT = 165,
	LAST_ERROR = 10,
	PREFETCH = 290,
	CREATE = 129,
	SET_DEVICE = 16
};

struct call {
	uint32_t function, driver, correlation;
	const char *name, *driver_name;
};

static void site(const struct call *c, uint32_t where)
{
	struct standin_hooks *h = standin_hooks;

	if (!h)
		return;
	if (where == SITE_ENTER)
		h->call(where, DOMAIN_RUNTIME, c->function, c->name, c->correlation);
	if (c->driver_name)
		h->call(where, DOMAIN_DRIVER, c->driver, c->driver_name, c->correlation);
	if (where == SITE_EXIT)
		h->call(where, DOMAIN_RUNTIME, c->function, c->name, c->correlation);
}

/* As the driver does, when it begins. */
static void inject(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void *library = path ? dlopen(path, RTLD_NOW) : NULL;
	void *f = library ? dlsym(library, "InitializeInjection") : NULL;
	int (*init)(void);

	if (!f)
		return;
	memcpy(&init, &f, sizeof(f));
	init();
}

static struct call enter(uint32_t function, const char *name, uint32_t driver, const char *below)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, inject);
	struct call c = {function, driver, __atomic_add_fetch(&correlation, 1, __ATOMIC_RELAXED),
		name, below};

	site(&c, SITE_ENTER);
	return c;
}

static int leave(const struct call *c)
{
	site(c, SITE_EXIT);
	return 0;
}

static void record(const void *r, size_t bytes)
{
	if (standin_hooks)
		standin_hooks->record(r, bytes);
}

static struct standin_stream *stream_of(cudaStream_t s)
{
	if (s)
		return s;
	defaults[device].device = device;
	defaults[device].number = 7;
	return &defaults[device];
}

void standin_stream_is(void *stream, uint32_t *context, uint32_t *number)
{
	const struct standin_stream *s = stream_of(stream);

	*context = s->device + 1;
	*number = s->number;
}

/* The stream does something for ns; from when on. */
static uint64_t begin(struct standin_stream *s, uint64_t ns)
{
	uint64_t now = standin_time(), from;

	pthread_mutex_lock(&lock);
	from = s->free_at > now + 2000 ? s->free_at : now + 2000;
	s->free_at = from + ns;
	pthread_mutex_unlock(&lock);
	return from;
}

static void wait_until(uint64_t gpu_time)
{
	struct timespec t = {0, 20000};

	while (standin_time() < gpu_time)
		nanosleep(&t, NULL);
}

int cudaSetDevice(int d)
{
	struct call c = enter(SET_DEVICE, "cudaSetDevice_v3020", 0, NULL);

	device = (uint32_t)d % DEVICES;
	return leave(&c);
}

int cudaStreamCreate(cudaStream_t *s)
{
	struct call c = enter(CREATE, "cudaStreamCreate_v3020", 0, NULL);

	pthread_mutex_lock(&lock);
	*s = &streams[n_streams % STREAMS];
	(*s)->number = 13 + n_streams++ % STREAMS;
	(*s)->device = device;
	pthread_mutex_unlock(&lock);
	return leave(&c);
}

static void copy(const struct call *c, struct standin_stream *s, uint8_t direction, size_t bytes)
{
	union {
		struct cupti_copy of;
		uint8_t room[88];
	} r = {.of = {.kind = KIND_COPY, .direction = direction, .bytes = bytes}};
	uint64_t ns = 1000 + bytes / 10; /* 10 GB/s */

	r.of.start = begin(s, ns);
	r.of.end = r.of.start + ns;
	r.of.device = s->device;
	r.of.context = s->device + 1;
	r.of.stream = s->number;
	r.of.correlation = c->correlation;
	record(&r, sizeof(r));
}

int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int direction, cudaStream_t s)
{
	static const uint8_t directions[] = {9, 1, 2, 8};
	struct call c = enter(COPY, "cudaMemcpyAsync_v3020", 279, "cuMemcpyHtoDAsync_v2");

	copy(&c, stream_of(s), directions[direction], bytes);
	memmove(to, from, bytes);
	return leave(&c);
}

int cudaMemcpyPeerAsync(
	void *to, int to_device, const void *from, int from_device, size_t bytes, cudaStream_t st)
{
	struct call c = enter(PEER, "cudaMemcpyPeerAsync_v4000", 0, NULL);
	struct standin_stream *s = stream_of(st);
	uint64_t ns = 1000 + bytes / 20;
	union {
		struct cupti_peer_copy of;
		uint8_t room[96];
	} r = {.of = {.kind = KIND_PEER_COPY,
		       .direction = 10,
		       .bytes = bytes,
		       .device = s->device,
		       .context = s->device + 1,
		       .stream = s->number,
		       .from_device = (uint32_t)from_device,
		       .to_device = (uint32_t)to_device,
		       .correlation = c.correlation}};

	r.of.start = begin(s, ns);
	r.of.end = r.of.start + ns;
	record(&r, sizeof(r));
	memmove(to, from, bytes);
	return leave(&c);
}

int cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t st)
{
	struct call c = enter(SET, "cudaMemsetAsync_v3020", 0, NULL);
	struct standin_stream *s = stream_of(st);
	union {
		struct cupti_set of;
		uint8_t room[88];
	} r = {.of = {.kind = KIND_SET, .bytes = bytes, .correlation = c.correlation}};

	r.of.start = begin(s, 1500);
	r.of.end = r.of.start + 1500;
	r.of.device = s->device;
	r.of.context = s->device + 1;
	r.of.stream = s->number;
	record(&r, sizeof(r));
	memset(to, value, bytes);
	return leave(&c);
}

static void kernel(const struct call *c, const char *name, unsigned blocks, unsigned threads,
	uint64_t ns, struct standin_stream *s)
{
	union {
		struct cupti_kernel of;
		uint8_t room[200];
	} r = {.of = {.kind = KIND_KERNEL,
		       .registers = 32,
		       .grid = {(int)blocks, 1, 1},
		       .block = {(int)threads, 1, 1},
		       .static_shared = 1024,
		       .name = name}};

	r.of.start = begin(s, ns);
	r.of.end = r.of.start + ns;
	r.of.device = s->device;
	r.of.context = s->device + 1;
	r.of.stream = s->number;
	r.of.correlation = c->correlation;
	record(&r, sizeof(r));
}

int cudaLaunchKernel(
	const char *name, unsigned blocks, unsigned threads, uint64_t ns, cudaStream_t s)
{
	struct call c = enter(LAUNCH, "cudaLaunchKernel_v7000", 307, "cuLaunchKernel");

	kernel(&c, name, blocks, threads, ns, stream_of(s));
	return leave(&c);
}

int cudaGraphLaunch(const char *name, unsigned n, uint64_t ns, cudaStream_t s)
{
	struct call c = enter(GRAPH, "cudaGraphLaunch_v10000", 514, "cuGraphLaunch");

	while (n--)
		kernel(&c, name, 1, 32, ns, stream_of(s));
	return leave(&c);
}

static void waited(const struct call *c, uint32_t type, uint32_t stream, uint64_t from)
{
	struct cupti_wait w = {.kind = KIND_WAIT,
		.type = type,
		.start = from,
		.end = standin_time(),
		.correlation = c->correlation,
		.context = device + 1,
		.stream = stream};

	record(&w, sizeof(w));
}

int cudaStreamSynchronize(cudaStream_t s)
{
	struct call c = enter(STREAM_WAIT, "cudaStreamSynchronize_v3020", 0, NULL);
	uint64_t from = standin_time();

	wait_until(stream_of(s)->free_at);
	waited(&c, 3, stream_of(s)->number, from);
	return leave(&c);
}

int cudaDeviceSynchronize(void)
{
	struct call c = enter(DEVICE_WAIT, "cudaDeviceSynchronize_v3020", 0, NULL);
	uint64_t from = standin_time(), last = defaults[device].free_at;

	for (uint32_t i = 0; i < n_streams && i < STREAMS; i++)
		if (streams[i].device == device && streams[i].free_at > last)
			last = streams[i].free_at;
	wait_until(last);
	waited(&c, 4, UINT32_MAX, from);
	return leave(&c);
}

int cudaGetLastError(void)
{
	struct call c = enter(LAST_ERROR, "cudaGetLastError_v3020", 0, NULL);

	return leave(&c);
}

int cudaMemPrefetchAsync(void *at, size_t bytes, int to, cudaStream_t s)
{
	struct call c = enter(PREFETCH, "cudaMemPrefetchAsync_v8000", 0, NULL);
	union {
		struct cupti_memory of;
		uint8_t room[72];
	} r = {.of = {.kind = KIND_MEMORY, .counter = 1, .value = bytes, .from = UINT32_MAX}};

	(void)at;
	r.of.start = begin(stream_of(s), 5000);
	r.of.end = r.of.start + 5000;
	r.of.to = (uint32_t)to;
	if (to < 0) { /* the host */
		r.of.counter = 2;
		r.of.from = device;
	}
	record(&r, sizeof(r));
	r.of = (struct cupti_memory){KIND_MEMORY, 4, 3, r.of.end, r.of.end, 0, device, 0, 0, 0};
	record(&r, sizeof(r)); /* three page faults of the GPU */
	return leave(&c);
}

/* Of the driver, as far as the names of streams need it. */
int cuStreamGetCtx(void *stream, void **context);
int cuStreamGetCtx(void *stream, void **context)
{
	*context = stream;
	return 0;
}
