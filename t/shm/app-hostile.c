/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process that attaches as it should and then misbehaves in one way:
 *
 *	app-hostile MODE [SEED [MILLISECONDS]]
 *
 * It is not linked with the library: it speaks the protocol of shm/wire.h
 * itself. Exit status 0 when it did its worst, 2 when it could not attach.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include "shm/clock.h"
#include "shm/message.h"
#include "shm/ring.h"
#include "shm/segment.h"
#include "shm/wire.h"

static int sock = -1;
static struct control_agent_shm *agent;
static struct control_app_shm *app;
static struct ring ring;
static uint32_t clock_source;
static uint64_t state, stop_ns;

static uint64_t any(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

static bool goes_on(void)
{
	return clock_raw_ns() < stop_ns;
}

static uint64_t ticks_now(void)
{
	return clock_source == CLOCK_SOURCE_RAW ? clock_raw_ns() : clock_counter();
}

static void give_up(const char *what)
{
	fprintf(stderr, "app-hostile: %s: %s\n", what, strerror(errno));
	exit(2);
}

static int connect_to_agent(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	/* for an agent that hangs: on a busy machine it may answer late */
	struct timeval limit = {60, 0};
	int s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s/%s.sock", getenv("VFTR_RUNTIME_DIR"),
		getenv("VFTR_SESSION"));
	if (s < 0 || connect(s, (struct sockaddr *)&a, sizeof(a)))
		give_up(a.sun_path);
	setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	return s;
}

/* One packet; false if the agent does not take it. */
static bool tell(struct wire_head *head, uint32_t kind, size_t fixed, const char *text)
{
	char packet[WIRE_TEXT_MAX];
	size_t bytes = text ? strlen(text) + 1 : 0;

	head->kind = kind;
	head->text_bytes = (uint32_t)bytes;
	head->ticks = ticks_now();
	memcpy(packet, head, fixed);
	if (text)
		memcpy(packet + fixed, text, bytes);
	if (send(sock, packet, fixed + bytes, MSG_NOSIGNAL) < 0)
		return false;
	if (app && kind != WIRE_HELLO)
		store_release(&app->definitions, app->definitions + 1);
	return true;
}

static ssize_t hear(void *reply, size_t bytes, int *fd)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part = {reply, bytes};
	struct msghdr m = {.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control)};
	ssize_t n = recvmsg(sock, &m, 0);
	struct cmsghdr *c;

	*fd = -1;
	for (c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL; c; c = CMSG_NXTHDR(&m, c))
		if (c->cmsg_type == SCM_RIGHTS)
			memcpy(fd, CMSG_DATA(c), sizeof(*fd));
	return n;
}

static void hello(void)
{
	struct wire_hello h = {.version = WIRE_VERSION,
		.pid = getpid(),
		.ppid = getppid(),
		.rank_hint = WIRE_UNKNOWN,
		.size_hint = WIRE_UNKNOWN,
		.raw_ns = clock_raw_ns()};
	struct wire_welcome w;
	int fd = -1;

	if (!tell(&h.head, WIRE_HELLO, sizeof(h), "/bin/hostile") || hear(&w, sizeof(w), &fd) < 0 ||
		fd < 0 || vftr_segment_map_control(fd, &agent, &app))
		give_up("no welcome");
	clock_source = w.clock_source;
	close(fd);
}

/* False when the agent has no more rings for us. */
static bool thread(struct ring *r)
{
	struct wire_thread t = {.tid = (int)syscall(SYS_gettid)};
	struct wire_ring reply = {.error = -1};
	int fd;

	if (!tell(&t.head, WIRE_THREAD, sizeof(t), "hostile") ||
		hear(&reply, sizeof(reply), &fd) <= 0 || fd < 0)
		return false;
	if (vftr_segment_map_ring(fd, reply.ring_size, r))
		give_up("no ring");
	close(fd);
	ring_start(r, (uint32_t)t.tid, ticks_now());
	return true;
}

static void attach(void)
{
	sock = connect_to_agent();
	hello();
	if (!thread(&ring))
		give_up("no thread");
}

static void rest(long ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

/* Publishes a block of the caller's making as if all were well. */
static void publish(const uint64_t *block)
{
	uint64_t head = ring.producer->head;

	while (!ring_has_room(&ring, 1)) {
		if (!goes_on() || ring.consumer->retired)
			return;
		send(sock, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT); /* the doorbell */
		rest(1);
	}
	memcpy(ring.data + (head & (ring.size - 1)) / 8, block, BLOCK_BYTES);
	store_release(&ring.producer->head, head + BLOCK_BYTES);
}

static void random_bytes(void *p, size_t bytes)
{
	uint64_t *w = p;

	for (size_t i = 0; i < bytes / 8; i++)
		w[i] = any();
}

/* ---- the ways ------------------------------------------------------------ */

static void mode_data(void)
{
	random_bytes(ring.data, ring.size);
	store_release(&ring.producer->head, ring.size / 2 / BLOCK_BYTES * BLOCK_BYTES);
}

static void mode_stage(void)
{
	random_bytes(ring.stage[0], BLOCK_BYTES);
	random_bytes(ring.stage[1], BLOCK_BYTES);
	ring.producer->stage[0] = ring.producer->head + BLOCK_BYTES;
	ring.producer->stage[1] = ring.producer->head;
}

static void mode_head(void)
{
	store_release(&ring.producer->head, any() | 8);
}

static void mode_far_head(void)
{
	store_release(&ring.producer->head, any() & ~(uint64_t)(BLOCK_BYTES - 1));
}

static void mode_back(void)
{
	uint64_t block[BLOCK_WORDS] = {record_sync_word(ticks_now())};

	for (int i = 0; i < 20; i++)
		publish(block);
	/* else nobody knows that it goes back */
	for (int ms = 0; ms < 60000 && load_acquire(&ring.consumer->tail) < 20 * BLOCK_BYTES; ms++)
		rest(1);
	store_release(&ring.producer->head, 2 * BLOCK_BYTES);
}

static void mode_empty(void)
{
	store_release(&ring.producer->head, 4 * BLOCK_BYTES);
}

/* Never said to be started, yet full of something. */
static void mode_not_started(void)
{
	store_release(&ring.producer->magic, 0);
	random_bytes(&ring.producer->size, SEGMENT_PAGE - 8);
}

static void mode_page(void)
{
	random_bytes(&ring.producer->size, SEGMENT_PAGE - 8);
}

/* Sane blocks whose records are anything; MODE sets how sane. */
static void words(unsigned sense, unsigned long blocks)
{
	uint64_t block[BLOCK_WORDS];

	while (blocks-- && goes_on() && !ring.consumer->retired) {
		block[0] = record_sync_word(ticks_now());
		for (unsigned i = 1; i < BLOCK_WORDS; i++) {
			uint32_t id = sense == 0 ? (uint32_t)any()
				      : sense == 1
					      ? (uint32_t)(any() % 30)
					      : RECORD_ID_FUNCTION + (uint32_t)(any() % 3000000);

			block[i] = record_word(ticks_now(), any() & RECORD_EXIT, id);
			for (unsigned n = record_words(block[i]); n > 1 && i + 1 < BLOCK_WORDS; n--)
				block[++i] = any() >> any() % 64;
		}
		publish(block);
	}
}

static void mode_words(void)
{
	words(0, -1ul);
}

static void mode_control_words(void)
{
	words(1, -1ul);
}

static void mode_paths(void)
{
	words(2, -1ul);
}

static void one_record(uint32_t id, uint64_t payload)
{
	uint64_t block[BLOCK_WORDS] = {record_sync_word(ticks_now()),
		record_word(ticks_now(), 0, RECORD_ID_FUNCTION + 7),
		record_word(ticks_now(), 0, id), payload};

	publish(block);
}

static void mode_resume(void)
{
	one_record(RECORD_PAUSE, 0);
	one_record(RECORD_RESUME, (uint64_t)1 << 62);
}

static void mode_close(void)
{
	for (int i = 0; i < 1000 && goes_on(); i++)
		one_record(RECORD_CLOSE, UINT64_MAX);
	one_record(RECORD_WAIT + 1, 1);
}

/* Waits for locks, and locks that are given back, at any time: nothing else. */
static void mode_locks(void)
{
	uint64_t block[BLOCK_WORDS];

	while (goes_on() && !ring.consumer->retired) {
		const uint64_t now = ticks_now();

		memset(block, 0, sizeof(block));
		block[0] = record_sync_word(now);
		for (unsigned i = 1; i + 7 <= BLOCK_WORDS;) {
			const uint64_t lock = any() % (any() % 2 ? 4 : OPENMP_LOCKS);
			const uint64_t bits =
				OPENMP_MARK | lock << 32 | (any() & (OPENMP_HOLDS | OPENMP_TURN));

			block[i++] = record_word(now - any() % (1 << 20), 0, RECORD_WAIT);
			block[i++] = bits;
			block[i++] = record_word(now, RECORD_EXIT, RECORD_WAIT);
			block[i++] = bits;
			block[i++] = RECORD_UNLOCK;
			block[i++] = lock;
			block[i++] = OPENMP_MARK | (now - any() % (1 << 28));
		}
		publish(block);
	}
}

/* ---- communication ---- */

static void define_comm(uint32_t number, struct wire_run run, uint32_t size)
{
	struct {
		struct wire_comm m;
		struct wire_run run;
	} packet = {{.number = number, .id = number, .size = size, .runs = 1}, run};

	packet.m.head = (struct wire_head){WIRE_COMM, sizeof(run), ticks_now()};
	if (send(sock, &packet, sizeof(packet), MSG_NOSIGNAL) >= 0)
		store_release(&app->definitions, app->definitions + 1);
}

/* Calls with messages in them: requests that nobody completes, of ever new
 * numbers, to ever new peers, on a communicator as large as there can be. */
static void mode_requests(void)
{
	uint64_t block[BLOCK_WORDS];
	uint32_t request = 0, size = 1u << 29;

	define_comm(1, (struct wire_run){0, 1, (int32_t)size}, size);
	while (goes_on() && !ring.consumer->retired) {
		memset(block, 0, sizeof(block));
		block[0] = record_sync_word(ticks_now());
		for (unsigned i = 1; i + 6 <= BLOCK_WORDS;) {
			block[i++] = record_word(ticks_now(), 0, RECORD_ID_MPI + 20);
			block[i++] = message_head(
				any() % 4 ? RECORD_SEND : RECORD_POST, (uint32_t)any());
			block[i++] = message_pair(0, (uint32_t)(any() % size));
			block[i++] = message_subject(1, 0, ++request);
			block[i++] = message_last(0, any());
			if (any() % 10) /* some frames never end */
				block[i++] =
					record_word(ticks_now(), RECORD_EXIT, RECORD_ID_MPI + 20);
		}
		publish(block);
	}
}

/* Records of communication that have the right form, and mean nothing. */
static void mode_messages(void)
{
	uint64_t block[BLOCK_WORDS];

	define_comm(1, (struct wire_run){0, 1, 8}, 8);
	while (goes_on() && !ring.consumer->retired) {
		block[0] = record_sync_word(ticks_now());
		for (unsigned i = 1; i < BLOCK_WORDS;) {
			uint64_t w = any() % 3 ? message_head(RECORD_SEND + any() % 10, 1)
					       : record_word(ticks_now(), any() & RECORD_EXIT,
							 RECORD_ID_MPI + (uint32_t)(any() % 30));
			unsigned n = record_words(w);

			block[i++] = w;
			for (unsigned k = 1; k < n && i < BLOCK_WORDS; k++)
				block[i++] = (any() % 9) << 40 | (any() % 9) << 32 | any() % 9 |
					     (k + 1 == n ? MESSAGE_MARK : 0);
		}
		publish(block);
	}
}

/* On a communicator that nobody has defined. */
static void mode_stranger(void)
{
	uint64_t block[BLOCK_WORDS] = {record_sync_word(ticks_now()), message_head(RECORD_SEND, 1),
		message_pair(0, 1), message_subject(77, 0, 0), message_last(0, 1)};

	publish(block);
}

/* A rank that the communicator lacks. */
static void mode_no_such_rank(void)
{
	uint64_t block[BLOCK_WORDS] = {record_sync_word(ticks_now()), message_head(RECORD_SEND, 1),
		message_pair(0, 8), message_subject(1, 0, 0), message_last(0, 1)};

	define_comm(1, (struct wire_run){0, 1, 8}, 8);
	publish(block);
}

/* Nothing wrong with any of them; they are never freed. */
static void mode_comms(void)
{
	for (uint32_t i = 1; goes_on() && i < MESSAGE_COMM_LIMIT; i++)
		define_comm(i, (struct wire_run){0, 1, 8}, 8);
}

static void mode_wrong_members(void)
{
	define_comm(1, (struct wire_run){(int32_t)any() | 1, (int32_t)any(), INT32_MAX}, 8);
}

static void mode_files(void)
{
	struct wire_object f = {.number = 0};
	struct wire_about gone = {.object = WIRE_OBJECT_FILE};
	char name[64];

	while (goes_on()) {
		snprintf(name, sizeof(name), "file %llx", (unsigned long long)any());
		f.number++;
		if (!tell(&f.head, WIRE_FILE, sizeof(f), name))
			break;
		gone.number = f.number - (uint32_t)(any() % 2);
		if (gone.number)
			tell(&gone.head, WIRE_GONE, sizeof(gone), NULL);
	}
}

static void mode_future(void)
{
	uint64_t block[BLOCK_WORDS] = {record_sync_word(ticks_now() * 5)};

	publish(block);
}

static void mode_packets(void)
{
	char packet[2000];

	while (goes_on()) {
		random_bytes(packet, sizeof(packet));
		((struct wire_head *)(void *)packet)->kind = (uint32_t)(any() % (WIRE_KINDS + 3));
		if (send(sock, packet, any() % sizeof(packet), MSG_NOSIGNAL) < 0)
			break;
	}
}

static void mode_second_hello(void)
{
	struct wire_hello h = {.version = WIRE_VERSION};

	tell(&h.head, WIRE_HELLO, sizeof(h), "again");
}

static void mode_region(void)
{
	struct wire_region r = {.number = (uint64_t)1 << 60};

	tell(&r.head, WIRE_REGION, sizeof(r), "far out");
}

static void mode_rank(void)
{
	struct wire_rank r = {.rank = INT32_MAX - 1, .size = INT32_MAX};

	tell(&r.head, WIRE_RANK, sizeof(r), NULL);
}

/* Nothing wrong with any of these; there are many. */
static void mode_flood(void)
{
	struct wire_rank r = {.rank = -5, .size = -7};
	struct wire_region g = {.number = 5};

	while (goes_on())
		if (!tell(&r.head, WIRE_RANK, sizeof(r), NULL) ||
			!tell(&g.head, WIRE_REGION, sizeof(g), "region"))
			break;
}

/* Questions whose answers nobody reads, and definitions that never come. */
static void mode_questions(void)
{
	struct wire_number n = {.number = 0};
	uint64_t block[BLOCK_WORDS] = {record_sync_word(ticks_now())};

	while (goes_on()) {
		if (ring_has_room(&ring, 1))
			publish(block);
		if (!tell(&n.head, WIRE_STACK, sizeof(n), NULL))
			break;
		store_release(&app->definitions, any());
	}
}

static void mode_threads(void)
{
	struct ring more;

	for (int i = 0; i < 3000 && goes_on() && thread(&more); i++)
		vftr_segment_unmap_ring(&more);
}

/* Ends threads that it has not, and asks for rings that are in use or never were. */
static void mode_spare(void)
{
	uint64_t block[BLOCK_WORDS] = {record_sync_word(ticks_now())};

	for (int i = 0; i < 200 && goes_on(); i++) {
		struct wire_number n = {.number = any() % 4 | (any() % 2 ? WIRE_RING_KEPT : 0)};
		struct wire_thread t = {
			.tid = 1, .parent = (uint32_t)(any() % 8), .spare = (uint32_t)(any() % 6)};
		struct wire_ring reply;
		int fd;

		if (any() % 2 && ring_has_room(&ring, 1))
			publish(block);
		if (!tell(&n.head, WIRE_THREAD_END, sizeof(n), NULL) ||
			!tell(&t.head, WIRE_THREAD, sizeof(t), "spare") ||
			hear(&reply, sizeof(reply), &fd) <= 0)
			return;
		if (fd >= 0)
			close(fd);
		ring.producer->magic = ring_magic(reply.uses);
	}
}

/* Says that its thread has ended, and goes on filling its ring. */
static void mode_undead(void)
{
	struct wire_number n = {.number = 0};
	uint64_t block[BLOCK_WORDS] = {record_sync_word(ticks_now())};
	bool told = false;

	while (goes_on()) {
		if (ring_has_room(&ring, 1))
			publish(block);
		if (!told && ring.producer->head > 100 * BLOCK_BYTES)
			told = tell(&n.head, WIRE_THREAD_END, sizeof(n), NULL);
	}
}

static void mode_modules(void)
{
	static const char *const paths[] = {
		"/dev/zero", "fifo", "/", "", "/proc/self/mem", "/no/such/file", "/etc/passwd"};
	struct wire_module m;

	for (unsigned i = 0; i < 3000 && goes_on(); i++) {
		random_bytes(&m, sizeof(m) & ~7u);
		m.low = any() >> any() % 64;
		m.high = m.low + (any() >> any() % 64);
		m.build_id_bytes = (uint32_t)(any() % 40);
		if (!tell(&m.head, WIRE_MODULE, sizeof(m), paths[i % 7]))
			break;
		if (i % 3 == 0) {
			struct wire_number n = {.number = m.low};

			tell(&n.head, WIRE_MODULE_GONE, sizeof(n), NULL);
		}
	}
	words(2, 30);
}

/* Connections that say nothing. */
static void mode_mute(void)
{
	for (int i = 0; i < 300 && goes_on(); i++)
		connect_to_agent();
	rest(200);
}

/* ... or go at once. */
static void mode_come_and_go(void)
{
	for (int i = 0; i < 3000 && goes_on(); i++)
		close(connect_to_agent());
}

static const struct {
	const char *name;
	void (*run)(void);
} modes[] = {{"data", mode_data}, {"stage", mode_stage}, {"head", mode_head},
	{"far-head", mode_far_head}, {"back", mode_back}, {"empty", mode_empty},
	{"not-started", mode_not_started}, {"page", mode_page}, {"words", mode_words},
	{"control-words", mode_control_words}, {"paths", mode_paths}, {"resume", mode_resume},
	{"close", mode_close}, {"locks", mode_locks}, {"requests", mode_requests},
	{"messages", mode_messages}, {"stranger", mode_stranger},
	{"no-such-rank", mode_no_such_rank}, {"comms", mode_comms},
	{"wrong-members", mode_wrong_members}, {"files", mode_files}, {"future", mode_future},
	{"packets", mode_packets}, {"second-hello", mode_second_hello}, {"region", mode_region},
	{"rank", mode_rank}, {"flood", mode_flood}, {"questions", mode_questions},
	{"threads", mode_threads}, {"spare", mode_spare}, {"undead", mode_undead},
	{"modules", mode_modules}, {"mute", mode_mute}, {"come-and-go", mode_come_and_go}};

int main(int argc, char **argv)
{
	state = argc > 2 ? strtoull(argv[2], NULL, 0) * 2 + 1 : 1;
	state *= 0x9e3779b97f4a7c15u;
	stop_ns = clock_raw_ns() + (argc > 3 ? strtoull(argv[3], NULL, 0) : 1000) * 1000000u;
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (argc < 2 || strcmp(argv[1], modes[i].name))
			continue;
		attach();
		modes[i].run();
		rest(100); /* the agent looks at it while we live */
		return 0;
	}
	fprintf(stderr, "usage: app-hostile MODE [SEED [MILLISECONDS]]; modes:");
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		fprintf(stderr, " %s", modes[i].name);
	fprintf(stderr, "\n");
	return 1;
}
