/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Activities: CUPTI fills buffers that it has asked us for and gives them back,
 * usually on a thread of its own. What is in them goes to the agent at once, so
 * that it survives the process, and the buffer is used again. Nothing here waits
 * for the GPU.
 */
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include "cupti/cupti.h"
#include "shm/atomic.h"
#include "shm/fnv.h"

#define BUFFER_BYTES ((size_t)1 << 20)
#define SPARE_MAX    64u
#define NAMES	     ((size_t)1 << 16) /* a power of two; kernels beyond half of it have none */
#define CLOCK_TRIES  5

/*
 * Lock of the buffers. No function is called while it is held, as CUPTI may ask for a
 * buffer while it holds locks of its own.
 */
static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static uint8_t *spare[SPARE_MAX];
static uint32_t n_spare, requested, completed, pool_generation;

/* Lock of the rest. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t dropped;
static uint32_t generation;

static struct {
	uint64_t hash; /* 0: free */
	uint32_t number;
} * names;
static uint32_t n_names;

static struct {
	struct wire_gpu m;
	struct gpu_activity at[GPU_BATCH];
} batch;

/* ---- buffers ---------------------------------------------------------------------------- */

void activity_after_fork(void)
{
	pthread_mutex_init(&pool_lock, NULL);
	pthread_mutex_init(&lock, NULL);
}

/* A child of fork() has told its agent nothing yet. */
static void take_lock(void)
{
	pthread_mutex_lock(&lock);
	if (generation == gpu_host->generation())
		return;
	generation = gpu_host->generation();
	dropped = 0;
	batch.m.n = 0;
	n_names = 0;
	if (names)
		memset(names, 0, NAMES * sizeof(*names));
}

static void take_pool(void)
{
	pthread_mutex_lock(&pool_lock);
	/* the table may have been half written when a child of fork() got its copy */
	if (pool_generation != gpu_host->generation())
		requested = completed = n_spare = 0;
	pool_generation = gpu_host->generation();
}

static void *pages(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* Reads both clocks together: the closest pair of a few tries. */
static void read_clocks(struct wire_gpu *m)
{
	uint64_t least = UINT64_MAX;

	m->gpu_ns = 0;
	m->head.ticks = gpu_host->ticks();
	for (int i = 0; cupti.timestamp && i < CLOCK_TRIES; i++) {
		uint64_t ns, before = gpu_host->ticks(), after;

		if (cupti.timestamp(&ns) != CUPTI_OK)
			break;
		after = gpu_host->ticks();
		if (after - before >= least)
			continue;
		least = after - before;
		m->gpu_ns = ns;
		m->head.ticks = after;
	}
	m->width = least < UINT32_MAX ? (uint32_t)least : UINT32_MAX;
}

static void send_batch(void)
{
	take_pool();
	batch.m.requested = requested;
	batch.m.completed = completed;
	pthread_mutex_unlock(&pool_lock);
	read_clocks(&batch.m);
	batch.m.head.kind = WIRE_GPU;
	batch.m.dropped = dropped;
	if (!gpu_host->send(
		    &batch.m.head, sizeof(batch.m), batch.at, batch.m.n * sizeof(batch.at[0])))
		dropped += batch.m.n;
	batch.m.n = 0;
}

void cupti_tell_state(void)
{
	take_lock();
	send_batch();
	pthread_mutex_unlock(&lock);
}

/* May be called with CUPTI's locks held: nothing of CUPTI is called, its clock neither. */
void cupti_request(uint8_t **buffer, size_t *bytes, size_t *records_max)
{
	struct wire_gpu m = {.head = {.kind = WIRE_GPU}};

	take_pool();
	*buffer = n_spare ? spare[--n_spare] : NULL;
	if (!*buffer)
		*buffer = pages(BUFFER_BYTES);
	*bytes = *buffer ? BUFFER_BYTES : 0; /* without memory CUPTI drops, and counts */
	*records_max = 0;
	requested += *buffer != NULL;
	m.requested = requested;
	m.completed = completed;
	pthread_mutex_unlock(&pool_lock);
	gpu_host->send(&m.head, sizeof(m), NULL, 0);
}

static void give_back(uint8_t *buffer, size_t bytes)
{
	bool kept = false;

	take_pool();
	completed++;
	if (buffer && bytes == BUFFER_BYTES && n_spare < SPARE_MAX) {
		spare[n_spare++] = buffer;
		kept = true;
	}
	pthread_mutex_unlock(&pool_lock);
	if (buffer && !kept)
		munmap(buffer, bytes);
}

/* ---- from CUPTI's records to ours ----------------------------------------------------------- */

static void tell_name(uint32_t object, uint32_t number, const char *text)
{
	struct wire_about m = {.head = {.kind = WIRE_GPU_NAME}, .number = number, .object = object};

	gpu_host->send(&m.head, sizeof(m), text, strnlen(text, WIRE_TEXT_MAX - 1) + 1);
}

static uint32_t name_number(const char *text)
{
	uint64_t h;
	size_t i;

	if (!text || !text[0])
		return 0;
	if (!names)
		names = pages(NAMES * sizeof(*names));
	if (!names)
		return 0;
	h = fnv_text(FNV_BEGIN, text) | 1;
	for (i = h & (NAMES - 1); names[i].hash && names[i].hash != h;)
		i = (i + 1) & (NAMES - 1);
	if (!names[i].hash) {
		if (n_names >= NAMES / 2)
			return 0;
		names[i].hash = h;
		names[i].number = ++n_names;
		tell_name(WIRE_GPU_KERNEL_NAME, n_names, text);
	}
	return names[i].number;
}

static void from_kernel(struct gpu_activity *a, const void *record)
{
	const struct cupti_kernel *k = record;

	*a = (struct gpu_activity){.kind = GPU_KERNEL,
		.start = k->start,
		.end = k->end,
		.name = name_number(k->name),
		.call = k->correlation,
		.device = k->device,
		.context = k->context,
		.stream = k->stream,
		.registers = k->registers,
		.shared_bytes = (uint32_t)k->static_shared + (uint32_t)k->dynamic_shared,
		.local_bytes = k->local_per_thread};
	for (int i = 0; i < 3; i++) {
		a->grid[i] = (uint32_t)k->grid[i];
		a->block[i] = (uint32_t)k->block[i];
	}
}

/* CUPTI's directions tell arrays (3 to 7) from other memory. */
static const uint8_t copies[] = {[1] = GPU_COPY_TO_DEVICE,
	[2] = GPU_COPY_TO_HOST,
	[3] = GPU_COPY_TO_DEVICE,
	[4] = GPU_COPY_TO_HOST,
	[5] = GPU_COPY_ON_DEVICE,
	[6] = GPU_COPY_ON_DEVICE,
	[7] = GPU_COPY_ON_DEVICE,
	[8] = GPU_COPY_ON_DEVICE,
	[9] = GPU_COPY_ON_HOST,
	[10] = GPU_COPY_PEER};

static void from_copy(struct gpu_activity *a, const void *record)
{
	const struct cupti_copy *c = record;

	*a = (struct gpu_activity){.kind = GPU_COPY,
		.detail = c->direction < sizeof(copies) ? copies[c->direction] : 0,
		.start = c->start,
		.end = c->end,
		.bytes = c->bytes,
		.call = c->correlation,
		.device = c->device,
		.context = c->context,
		.stream = c->stream};
}

static void from_peer_copy(struct gpu_activity *a, const void *record)
{
	const struct cupti_peer_copy *c = record;

	from_copy(a, record); /* the same beginning */
	a->detail = GPU_COPY_PEER;
	a->call = c->correlation;
	a->from = c->from_device;
	a->to = c->to_device;
}

static void from_set(struct gpu_activity *a, const void *record)
{
	const struct cupti_set *s = record;

	*a = (struct gpu_activity){.kind = GPU_SET,
		.start = s->start,
		.end = s->end,
		.bytes = s->bytes,
		.call = s->correlation,
		.device = s->device,
		.context = s->context,
		.stream = s->stream};
}

static void from_wait(struct gpu_activity *a, const void *record)
{
	const struct cupti_wait *w = record;

	*a = (struct gpu_activity){.kind = GPU_WAIT,
		.detail = w->type < GPU_WAITS ? w->type : 0,
		.start = w->start,
		.end = w->end,
		.call = w->correlation,
		.device = GPU_NO_DEVICE,
		.context = w->context,
		.stream = w->stream};
}

static const uint8_t memories[] = {[1] = GPU_MEMORY_TO_DEVICE,
	[2] = GPU_MEMORY_TO_HOST,
	[3] = GPU_MEMORY_HOST_FAULT,
	[4] = GPU_MEMORY_DEVICE_FAULT,
	[5] = GPU_MEMORY_THRASHING,
	[8] = GPU_MEMORY_ON_DEVICE};

/* The device is that which the pages go to, or come from. Some kinds have no end. */
static void from_memory(struct gpu_activity *a, const void *record)
{
	const struct cupti_memory *m = record;
	uint32_t detail = m->counter < sizeof(memories) ? memories[m->counter] : 0;
	bool of_host = detail == GPU_MEMORY_HOST_FAULT;

	*a = (struct gpu_activity){.kind = GPU_MEMORY,
		.detail = detail,
		.start = m->start,
		.end = m->end > m->start ? m->end : m->start,
		.bytes = of_host ? 1 : m->value,
		.device = detail == GPU_MEMORY_TO_DEVICE ? m->to : m->from,
		.stream = GPU_NO_STREAM,
		.from = detail == GPU_MEMORY_TO_DEVICE || of_host ? GPU_NO_DEVICE : m->from,
		.to = detail == GPU_MEMORY_TO_DEVICE || detail == GPU_MEMORY_ON_DEVICE
			      ? m->to
			      : GPU_NO_DEVICE};
	if (detail == GPU_MEMORY_THRASHING) { /* their mask: the first of those that fight */
		a->device = a->from = m->from ? (uint32_t)__builtin_ctz(m->from) : GPU_NO_DEVICE;
		a->bytes = 1;
	}
}

static void from_overhead(struct gpu_activity *a, const void *record)
{
	const struct cupti_overhead *o = record;

	*a = (struct gpu_activity){.kind = GPU_OVERHEAD,
		.detail = o->type >> 16,
		.start = o->start,
		.end = o->end,
		.device = GPU_NO_DEVICE,
		.stream = GPU_NO_STREAM};
}

static const struct {
	uint32_t kind;
	void (*from)(struct gpu_activity *a, const void *record);
} converters[] = {
	{KIND_KERNEL, from_kernel},
	{KIND_COPY, from_copy},
	{KIND_PEER_COPY, from_peer_copy},
	{KIND_SET, from_set},
	{KIND_WAIT, from_wait},
	{KIND_MEMORY, from_memory},
	{KIND_OVERHEAD, from_overhead},
};

static void tell_device(const void *record)
{
	static const char unknown[] = "";
	const struct cupti_device *d = record;
	struct wire_gpu_device m = {.head = {.kind = WIRE_GPU_DEVICE},
		.memory_bytes = d->memory,
		.device = d->id,
		.multiprocessors = d->multiprocessors,
		.limits = {.capability = 10 * d->major + d->minor,
			.warp_threads = d->warp_threads,
			.warps = d->warps,
			.blocks = d->blocks,
			.registers = d->registers,
			.shared_bytes = d->shared_bytes,
			.block_registers = d->block_registers,
			.block_threads = d->block_threads}};
	const char *name = d->name ? d->name : unknown;
	uint32_t version;

	memcpy(m.uuid, d->uuid, sizeof(m.uuid));
	if (cupti.version && cupti.version(&version) == CUPTI_OK && version >= CUPTI_HAS_MIG &&
		d->is_mig)
		memcpy(m.uuid, d->mig_uuid, sizeof(m.uuid));
	gpu_host->send(&m.head, sizeof(m), name, strnlen(name, WIRE_TEXT_MAX - 1) + 1);
}

static void tell_context(const void *record)
{
	static const char name[] = "default";
	const struct cupti_context *c = record;
	struct wire_gpu_stream m = {.head = {.kind = WIRE_GPU_STREAM},
		.device = c->device,
		.context = c->id,
		.stream = c->default_stream};

	gpu_host->send(&m.head, sizeof(m), name, sizeof(name));
}

static void take_record(const struct cupti_record *r)
{
	if (r->kind == KIND_DEVICE) {
		tell_device(r);
		return;
	}
	if (r->kind == KIND_CONTEXT) {
		tell_context(r);
		return;
	}
	for (size_t i = 0; i < sizeof(converters) / sizeof(converters[0]); i++)
		if (converters[i].kind == r->kind) {
			if (batch.m.n == GPU_BATCH)
				send_batch();
			converters[i].from(&batch.at[batch.m.n++], r);
			return;
		}
}

void cupti_complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid)
{
	struct cupti_record *r = NULL;
	size_t lost = 0;
	int end = CUPTI_LIMIT;

	if (cupti.dropped(context, stream, &lost) != CUPTI_OK)
		lost = 0;
	take_lock();
	while (buffer && valid && !(end = cupti.next(buffer, valid, &r)))
		take_record(r);
	dropped += lost;
	give_back(buffer, bytes);
	send_batch();
	pthread_mutex_unlock(&lock);
	if (end != CUPTI_LIMIT)
		gpu_host->note("CUPTI could not read a buffer of its own: activities of GPUs "
			       "are missing");
}

void cupti_range(const char *name, uint32_t call, uint64_t from, uint64_t to)
{
	take_lock();
	if (batch.m.n == GPU_BATCH)
		send_batch();
	batch.at[batch.m.n++] = (struct gpu_activity){.kind = GPU_RANGE,
		.start = from,
		.end = to,
		.name = name_number(name),
		.call = call,
		.device = GPU_NO_DEVICE,
		.context = GPU_NO_STREAM,
		.stream = GPU_NO_STREAM};
	send_batch();
	pthread_mutex_unlock(&lock);
}
