/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For benchmarks and tests of the agent: processes that attach to an agent in this process, and
 * write records as they are told to, the same every time.
 */
#ifndef VFTR_T_TRACED_H
#define VFTR_T_TRACED_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "conf/conf.h"
#include "mpi_id.h"
#include "nodeagent/agent/observers.h"
#include "nodeagent/agent/roles/agent.h"
#include "nodeagent/process/counter/counters.h"
#include "nodeagent/process/drain.h"
#include "nodeagent/process/host.h"
#include "nodeagent/process/names.h"
#include "nodeagent/process/process.h"
#include "nodeagent/process/rings.h"
#include "shm/message.h"
#include "shm/ring.h"
#include "shm/wire.h"
#include "t/lib/dice.h"

#define TICKS	  50u  /* from one record to the next */
#define FIRST	  500u /* ticks of the first record of a block after those of the block */
#define CODE	  0x400000u
#define FUNCTIONS 40u

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

static struct agent whole; /* observers look for it around the host */
static struct host *const host = &whole.host;

/* The agent's answer, and the segment that comes with it. */
static inline void hear(struct app *p)
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
			vftr_segment_map_ring(fd, host->conf->shm_ring_size, &p->ring);
		close(fd);
		fd = -1;
		m.msg_controllen = sizeof(control);
	}
}

static inline void tell(struct app *p, struct wire_head *head, uint32_t kind, size_t fixed,
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

static inline void open_block(struct app *p)
{
	memset(p->block, 0, sizeof(p->block));
	p->block[0] = record_sync_word(p->ticks);
	p->used = 1;
}

/* rank: in a job of `size`, or -1 without MPI. */
static inline void attach(struct app *p, uint64_t ticks, int rank, int size)
{
	static const char texts[] = "/bin/app\0app\0/";
	const struct wire_run everybody = {0, 1, size};
	struct wire_hello hello = {.version = WIRE_VERSION,
		.pid = 100 + rank,
		.rank_hint = WIRE_UNKNOWN,
		.size_hint = WIRE_UNKNOWN};
	struct wire_module module = {.low = CODE, .high = CODE + 0x100000};
	struct wire_thread thread = {.tid = 100 + rank};
	struct wire_rank in = {.rank = rank, .size = size, .job = 1};
	struct wire_comm world = {
		.id = 1, .number = 1, .rank = (uint32_t)rank, .size = (uint32_t)size, .runs = 1};
	int pair[2];

	*p = (struct app){.ticks = ticks};
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		die(99, "socketpair: %m");
	p->socket = pair[0];
	p->process = process_new(host, pair[1], 0);
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

/* Another thread of the process, with a ring of its own; of is detached, and its ring unmapped. */
static inline void attach_thread(struct app *p, const struct app *of)
{
	struct wire_thread thread = {.tid = (int)(of->process->pid + (int)of->process->n_threads)};

	*p = *of;
	p->ring = (struct ring){0};
	tell(p, &thread.head, WIRE_THREAD, sizeof(thread), "app", 4);
	if (!p->ring.base)
		die(99, "the agent has not given a ring");
	ring_start(&p->ring, 100 + (uint64_t)thread.tid, p->ticks);
	open_block(p);
}

static inline void publish(struct app *p)
{
	const uint64_t head = p->ring.producer->head;

	memcpy(p->ring.data + (head & (p->ring.size - 1)) / 8, p->block, BLOCK_BYTES);
	p->ring.producer->head = head + BLOCK_BYTES;
	p->ring.producer->stage[0] = head + BLOCK_BYTES;
	open_block(p);
}

/* Room for a frame with what is in it. */
static inline void room(struct app *p)
{
	if (p->used + 16 > BLOCK_WORDS)
		publish(p);
}

static inline void frame(struct app *p, uint64_t exit_bit, uint32_t id)
{
	p->ticks += TICKS;
	p->block[p->used++] = record_word(p->ticks, exit_bit, id);
	p->events++;
}

static inline void words(struct app *p, size_t n, const uint64_t *w)
{
	memcpy(p->block + p->used, w, n * sizeof(*w));
	p->used += (unsigned)n;
}

#define WORDS(p, ...) words(p, sizeof((uint64_t[]){__VA_ARGS__}) / 8, (uint64_t[]){__VA_ARGS__})
#define MPI(f)	      (RECORD_ID_MPI + VFTR_MPI_##f)

/* Calls of functions that call others; no two threads of this are the same. */
static inline void functions(struct app *p, struct dice *d, unsigned depth)
{
	const uint32_t id = CODE + 16 * throw_dice(d, FUNCTIONS);

	room(p);
	frame(p, 0, id);
	for (unsigned i = 0; depth < 6 && i < 3; i++)
		functions(p, d, depth + 1 + throw_dice(d, 2));
	room(p);
	frame(p, RECORD_EXIT, id);
}

static inline void message(struct app *p, enum record_id kind, uint32_t peer, uint32_t request)
{
	const uint32_t ticket = (uint32_t)p->tickets++;

	WORDS(p, message_head(kind, 7), message_pair(ticket, peer), message_subject(1, 1, request),
		message_last(0, 1000 + ticket % 100));
}

/* Rank 0 sends to rank 1. */
static inline void blocking(struct app *p, bool send, uint64_t enter, uint64_t leave)
{
	room(p);
	p->ticks = enter - TICKS;
	frame(p, 0, send ? MPI(SEND) : MPI(RECV));
	message(p, send ? RECORD_SEND : RECORD_RECV, send ? 1 : 0, 0);
	p->ticks = leave - TICKS;
	frame(p, RECORD_EXIT, send ? MPI(SEND) : MPI(RECV));
}

static inline void nonblocking(struct app *p, bool send)
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

/* All ranks: two messages of 8 bytes each. */
static inline void together(struct app *p, uint64_t enter, uint64_t leave)
{
	room(p);
	p->ticks = enter - TICKS;
	frame(p, 0, MPI(ALLREDUCE));
	WORDS(p, message_head(RECORD_COLLECTIVE, VFTR_MPI_ALLREDUCE),
		message_pair((uint32_t)p->tickets++, MESSAGE_NO_RANK), message_subject(1, 1, 0),
		message_pair(2, 2), 16, MESSAGE_MARK | 16);
	p->ticks = leave - TICKS;
	frame(p, RECORD_EXIT, MPI(ALLREDUCE));
}

/* Whether this is counted or not. */
static inline uint64_t drained(struct app *p)
{
	const uint64_t bytes = drain_process(p->process);

	if (!bytes || p->process->quarantined)
		die(99, "%s", p->process->quarantined ? p->process->quarantined : "nothing read");
	return p->events;
}

static inline void detach(struct app *p)
{
	close(p->socket);
	process_hung_up(p->process);
	process_finish(p->process, PROCESS_EXITED);
	vftr_segment_unmap_ring(&p->ring);
	vftr_segment_unmap_control(p->agent);
}

/* A new agent, which writes into the directory; its rings have so many bytes. */
static inline void prepare(const char *directory, uint64_t ring_bytes)
{
	static char name[] = "node";

	whole = (struct agent){0};
	*host = (struct host){.conf = conf_default(),
		.name = name,
		.output_directory = directory,
		.observers = agent_observers};
	host->conf->shm_ring_size = ring_bytes;
	host->counters = counters_new(host->conf);
	host->rings = ring_store_new(host->conf->shm_ring_size, ring_store_memory);
	clocks_init(&host->clocks, "raw");
	clocks_calibrate(&host->clocks);
	host->clocks.ns_per_tick = 1;
	host->symbols = symcache_new(host);
}

/* Before the first process attaches. */
static inline void set(const char *key, const char *value)
{
	char *error = NULL;

	if (conf_set(host->conf, key, value, &error))
		die(99, "%s", error);
}

static inline uint64_t first_ticks(void)
{
	/* well before now, and far from where the upper bits change */
	return (host_ticks(host) >> RECORD_TIME_BITS << RECORD_TIME_BITS) -
	       ((uint64_t)1 << RECORD_TIME_BITS) + FIRST;
}

#endif
