/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: everything a process can do to its agent, for clang
 * -fsanitize=fuzzer. The input is a list of actions on a real socket pair and
 * real ring segments; the agent's own files receive, drain, finish and gather.
 *
 *	0 kind n	a packet of this kind with n more bytes as its body
 *	1 n		a raw packet of n bytes
 *	2 n		a block of up to n records, published properly
 *	3 n		the same, left in the staging block
 *	4 where value	a word in the producer's page, the staging blocks or the data
 *	5		the agent looks
 *	6 where		a byte of the definitions counter
 *	7		a communicator that makes sense
 *
 * A record is one byte of kind and, depending on it, some bytes more. In the
 * words of records of communication there is one byte for each number.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include "conf/conf.h"
#include "nodeagent/agent/observers.h"
#include "nodeagent/agent/roles/agent.h"
#include "nodeagent/process/host.h"
#include "nodeagent/replay/tree/calltree.h"
#include "nodeagent/process/counter/counters.h"
#include "nodeagent/process/drain.h"
#include "nodeagent/gather/gather.h"
#include "nodeagent/process/process.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/process/rings.h"
#include "nodeagent/process/names.h"
#include "nodeagent/replay/comm/sync.h"
#include "nodeagent/base/util.h"
#include "shm/files.h"
#include "shm/gpu.h"
#include "shm/locks.h"
#include "shm/message.h"
#include "shm/openacc.h"
#include "shm/ring.h"
#include "shm/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

#define GATHER_NODES 500 /* more names than that take long and tell no more */

static const uint8_t *at, *end;
static struct agent agent; /* observers find it by its host */
static struct host *const a = &agent.host;
static int theirs;
static struct control_app_shm *app;
static struct control_agent_shm *app_agent;
static struct ring rings[4];
static unsigned n_rings;

static uint8_t byte(void)
{
	return at < end ? *at++ : 0;
}

static uint64_t number(unsigned bytes)
{
	uint64_t v = 0;

	while (bytes--)
		v = v << 8 | byte();
	return v;
}

static void copy_in(void *to, size_t bytes)
{
	size_t n = bytes < (size_t)(end - at) ? bytes : (size_t)(end - at);

	if (!n)
		return;
	memcpy(to, at, n);
	at += n;
}

/* Answers of the agent: the descriptors in them are mapped. */
static void hear(void)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	static char text[WIRE_TEXT_MAX + 64];
	struct wire_head *head = (void *)text;

	for (;;) {
		struct iovec part = {text, sizeof(text)};
		struct msghdr m = {.msg_iov = &part,
			.msg_iovlen = 1,
			.msg_control = &control,
			.msg_controllen = sizeof(control)};
		struct cmsghdr *c;
		int fd = -1;

		if (recvmsg(theirs, &m, MSG_DONTWAIT) <= 0)
			return;
		for (c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c))
			memcpy(&fd, CMSG_DATA(c), sizeof(fd));
		if (fd < 0)
			continue;
		if (head->kind == WIRE_WELCOME && !app)
			vftr_segment_map_control(fd, &app_agent, &app);
		else if (head->kind == WIRE_RING && n_rings < ARRAY_SIZE(rings) &&
			 !vftr_segment_map_ring(fd, a->conf->shm_ring_size, &rings[n_rings])) {
			ring_start(&rings[n_rings], 1, host_ticks(a));
			n_rings++;
		}
		close(fd);
	}
}

static void look(struct process *p)
{
	process_receive(p);
	hear();
	if (p->greeted && !p->ended) {
		drain_process(p);
		drain_is_urgent(p);
	}
}

static void packet(uint32_t kind, size_t fixed, size_t more)
{
	char m[4096] = {0};
	struct wire_head *head = (void *)m;

	if (more > sizeof(m) - fixed)
		more = sizeof(m) - fixed;
	copy_in(m + sizeof(*head), fixed - sizeof(*head) + more);
	head->kind = kind;
	head->text_bytes = (uint32_t)more;
	head->ticks = host_ticks(a) - byte();
	if (kind == WIRE_HELLO)
		((struct wire_hello *)(void *)m)->version = WIRE_VERSION;
	if (send(theirs, m, fixed + more, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0 && app)
		app->definitions++;
}

static void fixed_packet(void)
{
	static const struct {
		uint32_t kind;
		size_t fixed;
	} kinds[] = {
		{WIRE_HELLO, sizeof(struct wire_hello)},
		{WIRE_MODULE, sizeof(struct wire_module)},
		{WIRE_MODULE_GONE, sizeof(struct wire_number)},
		{WIRE_THREAD, sizeof(struct wire_thread)},
		{WIRE_THREAD_END, sizeof(struct wire_number)},
		{WIRE_REGION, sizeof(struct wire_region)},
		{WIRE_CONSTRUCT, sizeof(struct wire_construct)},
		{WIRE_NOTE, sizeof(struct wire_head)},
		{WIRE_RANK, sizeof(struct wire_rank)},
		{WIRE_BYE, sizeof(struct wire_bye)},
		{WIRE_FORK, sizeof(struct wire_fork)},
		{WIRE_STACK, sizeof(struct wire_number)},
		{WIRE_COMM, sizeof(struct wire_comm)},
		{WIRE_NEIGHBOURS, sizeof(struct wire_neighbours)},
		{WIRE_WINDOW, sizeof(struct wire_object)},
		{WIRE_FILE, sizeof(struct wire_object)},
		{WIRE_NAME, sizeof(struct wire_about)},
		{WIRE_GONE, sizeof(struct wire_about)},
		{WIRE_OPENACC, sizeof(struct wire_openacc)},
		{WIRE_THREAD_NAME, sizeof(struct wire_number)},
		{WIRE_COUNTER, sizeof(struct wire_counter)},
		{WIRE_FILE_NAME, sizeof(struct wire_file_name)},
		{WIRE_LOCK, sizeof(struct wire_lock)},
		{WIRE_GPU, sizeof(struct wire_gpu)},
		{WIRE_GPU_NAME, sizeof(struct wire_about)},
		{WIRE_GPU_DEVICE, sizeof(struct wire_gpu_device)},
		{WIRE_GPU_STREAM, sizeof(struct wire_gpu_stream)},
	};
	unsigned k = byte() % ARRAY_SIZE(kinds);

	packet(kinds[k].kind, kinds[k].fixed, byte());
}

/* A communicator that can be: of size ranks from first on. */
static void good_comm(void)
{
	uint32_t size = byte() % 16 + 1;
	struct {
		struct wire_comm m;
		struct wire_run run[2];
	} c = {.m = {.number = byte(), .id = byte(), .size = size, .runs = 1},
		.run = {{byte(), 1, (int32_t)size}, {byte(), 1, (int32_t)size}}};
	size_t bytes;

	if (byte() & 1) {
		c.m.remote_size = size;
		c.m.runs = 2;
	}
	bytes = c.m.runs * sizeof(c.run[0]);
	c.m.head = (struct wire_head){WIRE_COMM, (uint32_t)bytes, host_ticks(a)};
	if (send(theirs, &c, sizeof(c.m) + bytes, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0 && app)
		app->definitions++;
}

/* The words after the first of a record of communication. */
static unsigned message(uint64_t *words, uint64_t w)
{
	unsigned n = record_words(w);

	words[0] = w;
	for (unsigned i = 1; i < n; i++)
		words[i] = (uint64_t)byte() << 40 | (uint64_t)byte() << 32 | byte();
	if (n == 4 || n == 6) /* the type is of no interest, the communicator is */
		words[2] = message_subject(byte(), 0, byte());
	if ((uint32_t)w == RECORD_LENGTHS)
		words[1] = message_pair(byte(), byte() << 8 | byte());
	if (n > 1)
		words[n - 1] = byte() == 255 ? number(8) : message_last(byte(), byte());
	return n;
}

/* Small numbers, so that teams meet their threads. */
static unsigned openmp(uint64_t *words, uint64_t w)
{
	uint8_t team = byte(), place = byte();
	uint64_t region = team >> 4, number = place & 7, size = place >> 3 & 7;

	words[0] = w;
	if ((uint32_t)w == RECORD_WAIT) {
		words[1] = OPENMP_MARK | (place & 1 ? OPENMP_HOLDS : 0) | (uint64_t)number << 32 |
			   (place & 0x80 ? OPENMP_TURN : 0) | region;
		return 2;
	}
	words[1] = (uint64_t)(team & 15) << 32 | region;
	words[2] = OPENMP_MARK | (uint64_t)(place >> 6) << 48 | size << 24 | number;
	if (place == 255)
		words[1] = number * 0x1000193u, words[2] = OPENMP_MARK | byte() << 20 | byte();
	return 3;
}

/* GPU_CALL, OPENACC, USER_COUNTER and UNLOCK. */
static unsigned numbered(uint64_t *words, uint32_t kind)
{
	unsigned n = record_words(kind);

	words[0] = (uint64_t)byte() << RECORD_TIME_SHIFT | kind;
	words[1] = byte();
	if (kind == RECORD_UNLOCK) {
		words[1] &= 7;
		words[2] = OPENMP_MARK | (host_ticks(a) - ((uint64_t)byte() << byte() % 32));
		return n;
	}
	words[n - 1] = byte() == 255 ? number(8) : RECORD_USER_MARK | byte();
	return n;
}

static unsigned records(uint64_t *block, unsigned n)
{
	uint64_t ticks = host_ticks(a);
	unsigned used = 1;

	block[0] = record_sync_word(ticks);
	while (n-- && used + 6 <= BLOCK_WORDS && at < end) {
		uint8_t kind = byte();
		uint64_t exit_bit = kind & 0x80 ? RECORD_EXIT : 0;

		kind &= 0x7f;
		if (kind == 0) {
			block[used++] = number(8);
		} else if (record_is_openmp(kind)) {
			used += openmp(block + used, record_word(ticks + kind, exit_bit, kind));
		} else if (kind < 16) {
			uint64_t w = record_word(ticks + kind, exit_bit, kind);

			block[used++] = w;
			if (record_words(w) == 2)
				block[used++] = byte() < 200 ? byte() : number(8);
		} else if (record_is_message(kind)) {
			used += message(block + used, message_head(kind, byte()));
		} else if (kind < 64 && !record_has_time(kind)) {
			used += numbered(block + used, kind);
		} else {
			block[used++] = record_word(ticks, exit_bit,
				kind < 64 ? RECORD_ID_MPI + kind : RECORD_ID_FUNCTION * kind);
		}
	}
	return used;
}

static void publish(struct ring *r)
{
	uint64_t block[BLOCK_WORDS] = {0}, head = r->producer->head;

	records(block, byte());
	/* scribble() may have moved head */
	memcpy(r->data + (head & (r->size - BLOCK_BYTES)) / 8, block, BLOCK_BYTES);
	r->producer->head = head + BLOCK_BYTES;
}

static void scribble(struct ring *r)
{
	uint64_t where = number(2);
	uint64_t *word = where < 512	? (uint64_t *)r->producer + where % 10
			 : where < 1024 ? r->stage[where & 1] + where / 2 % BLOCK_WORDS
					: r->data + where % (r->size / 8);

	*word = number(8);
}

static void act(struct process *p)
{
	uint8_t what = byte() % 8;
	struct ring *r = n_rings ? &rings[byte() % n_rings] : NULL;
	char raw[300] = {0};
	size_t n;

	switch (what) {
	case 0:
		fixed_packet();
		break;
	case 1:
		copy_in(raw, n = byte());
		send(theirs, raw, n, MSG_DONTWAIT | MSG_NOSIGNAL);
		break;
	case 2:
		if (r)
			publish(r);
		break;
	case 3:
		if (r)
			records(r->stage[0], byte());
		break;
	case 4:
		if (r)
			scribble(r);
		break;
	case 5:
		look(p);
		break;
	case 6:
		if (app)
			app->definitions = byte();
		break;
	case 7:
		good_comm();
		break;
	}
}

static void prepare(void)
{
	static char host[] = "host";

	a->conf = conf_default();
	a->conf->shm_ring_size = RING_SIZE_MIN;
	a->conf->mpi_show_sync_time = true;
	a->name = host;
	a->observers = agent_observers;
	a->counters = counters_new(a->conf);
	a->rings = ring_store_new(a->conf->shm_ring_size, ring_store_memory);
	clocks_init(&a->clocks, "raw");
	clocks_calibrate(&a->clocks);
	/* what is urgent goes to stderr, and there is much of it */
	program_name = "f-segment";
}

static void forget(struct process *p)
{
	for (unsigned i = 0; i < n_rings; i++)
		vftr_segment_unmap_ring(&rings[i]);
	n_rings = 0;
	vftr_segment_unmap_control(app_agent);
	app = NULL;
	app_agent = NULL;
	close(theirs);
	process_free(p);
	sync_free(a->sync);
	a->sync = NULL;
	a->processes = a->live = NULL;
	symcache_free(a->symbols);
	host_warnings_free(a);
	a->n_live = a->n_ever = 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct process *p;
	int pair[2];

	if (!a->conf)
		prepare();
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		abort();
	theirs = pair[0];
	a->symbols = symcache_new(a);
	p = process_new(a, pair[1], 0);
	at = end = NULL; /* it attaches as it should */
	packet(WIRE_HELLO, sizeof(struct wire_hello), 3);
	look(p);
	packet(WIRE_THREAD, sizeof(struct wire_thread), 0);
	look(p);
	at = data;
	end = data + bytes;
	while (at < end)
		act(p);
	look(p);
	process_hung_up(p);
	process_finish(p, PROCESS_KILLED);
	if (calltree_nodes(p->ended_tree) < GATHER_NODES) {
		gather_ranks(a);
		profile_free(gather(a, NULL));
	}
	forget(p);
	return 0;
}
