/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * count DIRECTORY: the parts of the agent and the tools that do the work, each on the same
 * input every time, for callgrind to count their instructions (t/bench/count). Each part
 * ends with a dump that has its name, and with a line "PART EVENTS". What a part makes goes
 * into DIRECTORY.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <valgrind/callgrind.h>

#include "conf/conf.h"
#include "mpi_id.h"
#include "nodeagent/agent/observers.h"
#include "nodeagent/process/counter/counters.h"
#include "nodeagent/process/drain.h"
#include "nodeagent/process/host.h"
#include "nodeagent/gather/gather.h"
#include "nodeagent/profile/merge.h"
#include "nodeagent/report/output.h"
#include "nodeagent/process/process.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/process/rings.h"
#include "nodeagent/process/names.h"
#include "nodeagent/replay/comm/sync.h"
#include "nodeagent/profile/vfp.h"
#include "shm/message.h"
#include "shm/ring.h"
#include "shm/wire.h"
#include "t/unit/profile/random-profile.h"
#include "t/unit/trace/vfd-by-hand.h"

#define BLOCKS	  200u /* of records for each part */
#define TICKS	  50u  /* from one record to the next */
#define FIRST	  500u /* ticks of the first record of a block after those of the block */
#define CODE	  0x400000u
#define FUNCTIONS 40u
#define NODES	  16u
#define STACKS	  300u

static const char *dir;

static void begin(void)
{
	CALLGRIND_ZERO_STATS;
	CALLGRIND_START_INSTRUMENTATION;
}

static void end(const char *part, uint64_t events)
{
	CALLGRIND_STOP_INSTRUMENTATION;
	CALLGRIND_DUMP_STATS_AT(part);
	printf("%s %llu\n", part, (unsigned long long)events);
}

/* ---- processes that attach, and write what they are told to -------------------------- */

struct app {
	struct process *process;
	int socket;
	struct control_agent_shm *agent;
	struct control_app_shm *control;
	struct ring ring;
	uint64_t block[BLOCK_WORDS], ticks;
	unsigned used;
	uint64_t events, tickets;
};

static struct host a;

/* The agent's answer, and the segment that comes with it. */
static void hear(struct app *p)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	union {
		struct wire_head head;
		char bytes[512];
	} reply;
	struct iovec part = {&reply, sizeof(reply)};
	struct msghdr m = {.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control)};
	int fd = -1;

	process_receive(p->process);
	while (recvmsg(p->socket, &m, MSG_DONTWAIT) > 0) {
		if (CMSG_FIRSTHDR(&m))
			memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fd));
		if (fd >= 0 && reply.head.kind == WIRE_WELCOME)
			vftr_segment_map_control(fd, &p->agent, &p->control);
		else if (fd >= 0 && reply.head.kind == WIRE_RING)
			vftr_segment_map_ring(fd, a.conf->shm_ring_size, &p->ring);
		close(fd);
		fd = -1;
		m.msg_controllen = sizeof(control);
	}
}

static void tell(struct app *p, struct wire_head *head, uint32_t kind, size_t fixed,
	const void *more, size_t bytes)
{
	char packet[1024];

	head->kind = kind;
	head->text_bytes = (uint32_t)bytes;
	head->ticks = p->ticks;
	memcpy(packet, head, fixed);
	if (bytes)
		memcpy(packet + fixed, more, bytes);
	if (send(p->socket, packet, fixed + bytes, 0) < 0)
		die(99, "send: %m");
	if (p->control)
		p->control->definitions++;
	hear(p);
}

static void open_block(struct app *p)
{
	memset(p->block, 0, sizeof(p->block));
	p->block[0] = record_sync_word(p->ticks);
	p->used = 1;
}

static void attach(struct app *p, uint64_t ticks, int rank)
{
	static const char texts[] = "/bin/app\0app\0/";
	static const struct wire_run everybody = {0, 1, 2};
	struct wire_hello hello = {.version = WIRE_VERSION,
		.pid = 100 + rank,
		.rank_hint = WIRE_UNKNOWN,
		.size_hint = WIRE_UNKNOWN};
	struct wire_module module = {.low = CODE, .high = CODE + 0x100000};
	struct wire_thread thread = {.tid = 100 + rank};
	struct wire_rank in = {.rank = rank, .size = 2, .job = 1};
	struct wire_comm world = {
		.id = 1, .number = 1, .rank = (uint32_t)rank, .size = 2, .runs = 1};
	int pair[2];

	*p = (struct app){.ticks = ticks};
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		die(99, "socketpair: %m");
	p->socket = pair[0];
	p->process = process_new(&a, pair[1], 0);
	tell(p, &hello.head, WIRE_HELLO, sizeof(hello), texts, sizeof(texts));
	tell(p, &module.head, WIRE_MODULE, sizeof(module), "/bin/app", 9);
	tell(p, &thread.head, WIRE_THREAD, sizeof(thread), "app", 4);
	if (!p->ring.base)
		die(99, "the agent has not given a ring");
	if (rank >= 0) {
		tell(p, &in.head, WIRE_RANK, sizeof(in), NULL, 0);
		tell(p, &world.head, WIRE_COMM, sizeof(world), &everybody, sizeof(everybody));
	}
	ring_start(&p->ring, 100, ticks);
	open_block(p);
}

static void publish(struct app *p)
{
	const uint64_t head = p->ring.producer->head;

	memcpy(p->ring.data + (head & (p->ring.size - 1)) / 8, p->block, BLOCK_BYTES);
	p->ring.producer->head = head + BLOCK_BYTES;
	p->ring.producer->stage[0] = head + BLOCK_BYTES;
	open_block(p);
}

/* Room for a frame with what is in it. */
static void room(struct app *p)
{
	if (p->used + 16 > BLOCK_WORDS)
		publish(p);
}

static void frame(struct app *p, uint64_t exit_bit, uint32_t id)
{
	p->ticks += TICKS;
	p->block[p->used++] = record_word(p->ticks, exit_bit, id);
	p->events++;
}

static void words(struct app *p, size_t n, const uint64_t *w)
{
	memcpy(p->block + p->used, w, n * sizeof(*w));
	p->used += (unsigned)n;
}

#define WORDS(p, ...) words(p, sizeof((uint64_t[]){__VA_ARGS__}) / 8, (uint64_t[]){__VA_ARGS__})
#define MPI(f)	      (RECORD_ID_MPI + VFTR_MPI_##f)

/* Calls of functions that call others; no two threads of this are the same. */
static void functions(struct app *p, struct dice *d, unsigned depth)
{
	const uint32_t id = CODE + 16 * throw_dice(d, FUNCTIONS);

	room(p);
	frame(p, 0, id);
	for (unsigned i = 0; depth < 6 && i < 3; i++)
		functions(p, d, depth + 1 + throw_dice(d, 2));
	room(p);
	frame(p, RECORD_EXIT, id);
}

static void message(struct app *p, enum record_id kind, uint32_t peer, uint32_t request)
{
	const uint32_t ticket = (uint32_t)p->tickets++;

	WORDS(p, message_head(kind, 7), message_pair(ticket, peer), message_subject(1, 1, request),
		message_last(0, 1000 + ticket % 100));
}

static void blocking(struct app *p, bool send)
{
	room(p);
	frame(p, 0, send ? MPI(SEND) : MPI(RECV));
	message(p, send ? RECORD_SEND : RECORD_RECV, send ? 1 : 0, 0);
	frame(p, RECORD_EXIT, send ? MPI(SEND) : MPI(RECV));
}

static void nonblocking(struct app *p, bool send)
{
	const uint32_t request = 1 + (uint32_t)p->tickets;

	room(p);
	frame(p, 0, send ? MPI(ISEND) : MPI(IRECV));
	message(p, send ? RECORD_SEND : RECORD_POST, send ? 1 : 0, request);
	frame(p, RECORD_EXIT, send ? MPI(ISEND) : MPI(IRECV));
	frame(p, 0, MPI(WAIT));
	WORDS(p, message_head(RECORD_COMPLETE, request));
	frame(p, RECORD_EXIT, MPI(WAIT));
}

static void together(struct app *p)
{
	room(p);
	frame(p, 0, MPI(ALLREDUCE));
	WORDS(p, message_head(RECORD_COLLECTIVE, VFTR_MPI_ALLREDUCE),
		message_pair((uint32_t)p->tickets++, MESSAGE_NO_RANK), message_subject(1, 1, 0),
		message_pair(2, 2), 16, MESSAGE_MARK | 16);
	frame(p, RECORD_EXIT, MPI(ALLREDUCE));
}

static void fill(struct app *p, unsigned kind)
{
	const uint64_t until = p->ring.producer->head + BLOCKS * (uint64_t)BLOCK_BYTES;
	struct dice d = {.state = 5};

	p->events = p->tickets = 0;
	while (p->ring.producer->head < until) {
		if (kind == 0)
			functions(p, &d, 0);
		else if (kind == 1)
			blocking(p, p->process->rank == 0);
		else if (kind == 2)
			nonblocking(p, p->process->rank == 0);
		else
			together(p);
	}
	publish(p);
}

/* Whether this is counted or not. */
static uint64_t drained(struct app *p)
{
	const uint64_t bytes = drain_process(p->process);

	if (!bytes || p->process->quarantined)
		die(99, "%s", p->process->quarantined ? p->process->quarantined : "nothing read");
	return p->events;
}

static void detach(struct app *p)
{
	close(p->socket);
	process_hung_up(p->process);
	process_finish(p->process, PROCESS_EXITED);
	vftr_segment_unmap_ring(&p->ring);
	vftr_segment_unmap_control(p->agent);
}

static void prepare(const char *sampling)
{
	static char name[] = "node";
	char *error = NULL;

	a = (struct host){.conf = conf_default(),
		.name = name,
		.output_directory = dir,
		.observers = agent_observers};
	if (conf_set(a.conf, "sampling.active", sampling, &error) ||
		conf_set(a.conf, "sampling.sample_interval", "0", &error))
		die(99, "%s", error);
	a.conf->shm_ring_size = 4 << 20;
	a.counters = counters_new(a.conf);
	a.rings = ring_store_new(a.conf->shm_ring_size, ring_store_memory);
	clocks_init(&a.clocks, "raw");
	clocks_calibrate(&a.clocks);
	a.clocks.ns_per_tick = 1;
	a.symbols = symcache_new(&a);
}

static uint64_t first_ticks(void)
{
	/* well before now, and far from where the upper bits change */
	return (host_ticks(&a) >> RECORD_TIME_BITS << RECORD_TIME_BITS) -
	       ((uint64_t)1 << RECORD_TIME_BITS) + FIRST;
}

static void replays(void)
{
	static struct app p;
	uint64_t events;

	prepare("false");
	attach(&p, first_ticks(), -1);
	fill(&p, 0); /* the call tree grows */
	drained(&p);
	fill(&p, 0);
	begin();
	events = drained(&p);
	end("drain+replay", events);
	detach(&p);

	prepare("true");
	attach(&p, first_ticks(), -1);
	fill(&p, 0);
	drained(&p);
	fill(&p, 0);
	begin();
	events = drained(&p);
	end("drain+replay+sampling", events);
	detach(&p);
}

static void communication(void)
{
	static const char *const names[] = {
		NULL, "replay-messages", "replay-requests", "replay-collectives"};
	static struct app p, q;
	uint64_t events;

	for (unsigned kind = 1; kind < ARRAY_SIZE(names); kind++) {
		prepare("false");
		attach(&p, first_ticks(), 0);
		attach(&q, first_ticks(), 1);
		fill(&p, kind);
		fill(&q, kind);
		begin();
		events = drained(&p);
		events += drained(&q);
		end(names[kind], events);
		detach(&p);
		detach(&q);
	}
}

/* ---- the sampling file --------------------------------------------------------------- */

static void encoder(void)
{
	struct vfd_setup s = {.way = OUTFILE_PWRITE};
	struct hand h = {.state = 5};
	uint32_t stacks[HAND_TRACKS][4];
	uint64_t events = 0;

	s.path = xasprintf("%s/encoder.vfd", dir);
	hand_begin(&h, &s);
	hand_run(&h, 20000, 400); /* call paths become known */
	for (uint32_t track = 0; track < HAND_TRACKS; track++) {
		while (h.n_open[track])
			hand_exit(&h, track);
		for (uint32_t i = 0; i < ARRAY_SIZE(stacks[0]); i++)
			stacks[track][i] = hand_stack(&h, track, 0, i);
	}
	begin();
	for (uint32_t i = 0; i < 200000; i++) {
		const uint32_t track = i % HAND_TRACKS;
		const uint32_t stack = stacks[track][i / HAND_TRACKS % ARRAY_SIZE(stacks[0])];

		vfd_enter(h.tracks[track], stack, h.ticks[track] += 100);
		vfd_exit(h.tracks[track], stack, h.ticks[track] += 100);
		events += 2;
	}
	end("encode-calls", events);
	begin();
	for (uint32_t i = 0; i < 20000; i++) {
		h.ticks[i % 4] += 100;
		hand_message(&h, i % 4);
	}
	end("encode-messages", 20000);
	hand_end(&h);
	hand_free(&h);
}

/* ---- profiles --------------------------------------------------------------------------- */

static void profiles(void)
{
	struct profile *node[NODES], *whole = NULL;
	unsigned char *bytes[NODES];
	size_t n[NODES];
	struct dice d = {.state = 5};
	struct conf *conf = conf_default();
	char *error = NULL;

	for (uint32_t i = 0; i < NODES; i++)
		node[i] = random_profile(&d, i, STACKS, UINT64_MAX);
	begin();
	for (uint32_t i = 0; i < NODES; i++)
		if (vfp_encode(node[i], &bytes[i], &n[i]))
			die(99, "out of memory");
	end("vfp-encode", NODES);
	for (uint32_t i = 0; i < NODES; i++)
		profile_free(node[i]);
	begin();
	for (uint32_t i = 0; i < NODES; i++)
		node[i] = vfp_decode(bytes[i], n[i], &error);
	end("vfp-decode", NODES);
	begin();
	for (uint32_t i = 0; i < NODES; i++)
		whole = profile_merge(whole, node[i]);
	end("merge", NODES);
	begin();
	if (output_summary(whole, conf, dir, "count", &error))
		die(99, "%s", error);
	end("log+json", whole->n_stacks);
	profile_free(whole);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		die(2, "usage: count DIRECTORY");
	dir = argv[1];
	program_name = "count";
	replays();
	communication();
	encoder();
	profiles();
	return 0;
}
