/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The agents' messages over MPI; the only file of the agent that includes
 * mpi.h. Compiled once per MPI into lib/vftr/peer-MPI.so. A message is a
 * header and the content in parts, each in a call whose count fits an int.
 * MPI is entered only by calls that return at once; between them we sleep.
 */
#include "nodeagent/net/transport.h"

#include <mpi.h>

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PART_BYTES     ((size_t)1 << 30)
#define SLEEP_FIRST_NS 50000l
#define SLEEP_MOST_NS  20000000l
#define SLEEP_MOVE_NS  500000l /* while a message moves: MPI moves some of it in each call only */
#define PART_SECONDS   10.0    /* for the content, at least, once the header is here */

#define POSTED_MAX 256 /* small messages that have not left */
#define SAY_S	   5.0 /* for all agents to say why they do not go on */

struct mpi_peer {
	struct transport transport; /* first: the two are converted by a cast */
	bool *broken;		    /* by rank: it stopped in the middle of a message */
	struct posted {
		MPI_Request request;
		char content[TRANSPORT_SMALL_MAX];
	} posted[POSTED_MAX];
	unsigned next_posted;
	char *stranger; /* a sentence on an agent of another version, or NULL */
};

struct message_header {
	uint64_t bytes;
};

/* Header and content have tags of their own, so that one is never taken for the other. */
static int header_tag(int tag)
{
	return 2 * tag;
}

static int content_tag(int tag)
{
	return 2 * tag + 1;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

/* Sleeps a while, longer each time; false when the deadline has passed. */
static bool sleep_longer(long *sleep_ns, long most_ns, double until)
{
	struct timespec t = {.tv_nsec = *sleep_ns};

	if (now() >= until)
		return false;
	nanosleep(&t, NULL);
	if (*sleep_ns < most_ns)
		*sleep_ns *= 2;
	return true;
}

static int wait_for(MPI_Request *requests, int n, double until)
{
	long sleep_ns = SLEEP_FIRST_NS;
	int first = 0;

	do {
		int done = 1;

		while (done && first < n) {
			if (MPI_Test(&requests[first], &done, MPI_STATUS_IGNORE))
				return -EIO;
			first += done;
		}
		if (first == n)
			return 0;
	} while (sleep_longer(&sleep_ns, SLEEP_MOVE_NS, until));
	return -ETIMEDOUT;
}

static int n_parts(size_t bytes)
{
	return (int)((bytes + PART_BYTES - 1) / PART_BYTES);
}

static int part_bytes(size_t bytes, int part)
{
	size_t left = bytes - part * PART_BYTES;

	return (int)(left < PART_BYTES ? left : PART_BYTES);
}

static int send_message(
	struct transport *p, int to, int tag, const void *buf, size_t bytes, double until)
{
	int parts = n_parts(bytes), error = 0, n = 0;
	/* both outlive this call when the message does not leave in time */
	struct message_header *header = malloc(sizeof(*header));
	MPI_Request *requests = malloc((parts + 1) * sizeof(*requests));

	if (!header || !requests || to < 0 || to >= p->size) {
		free(header);
		free(requests);
		return header && requests ? -EINVAL : -ENOMEM;
	}
	header->bytes = bytes;
	transport_count_sent(p, bytes);
	if (MPI_Isend(header, sizeof(*header), MPI_BYTE, to, header_tag(tag), MPI_COMM_WORLD,
		    &requests[n++])) {
		free(header);
		free(requests);
		return -EIO;
	}
	for (int i = 0; i < parts && !error; i++) {
		if (MPI_Isend((const char *)buf + i * PART_BYTES, part_bytes(bytes, i), MPI_BYTE,
			    to, content_tag(tag), MPI_COMM_WORLD, &requests[n++]))
			error = -EIO;
	}
	/* whatever the error: MPI may still read what was posted */
	if (error || wait_for(requests, n, until))
		return -ETIMEDOUT;
	free(header);
	free(requests);
	return 0;
}

/* Receives the parts of a message, after its header. The sender has posted all of them. */
static int receive_content(
	struct mpi_peer *m, int from, int tag, size_t bytes, void **buf, double until)
{
	int parts = n_parts(bytes), error;
	MPI_Request *requests = malloc(parts * sizeof(*requests) + 1);
	char *content = malloc(bytes + 1);

	if (!requests || !content) {
		free(requests);
		free(content);
		m->broken[from] = true;
		return -ENOMEM;
	}
	for (int i = 0; i < parts; i++) {
		if (MPI_Irecv(content + i * PART_BYTES, part_bytes(bytes, i), MPI_BYTE, from,
			    content_tag(tag), MPI_COMM_WORLD, &requests[i])) {
			m->broken[from] = true;
			return -EIO;
		}
	}
	/* the deadline was for a message to begin; a last look must not break one off */
	if (until < now() + PART_SECONDS)
		until = now() + PART_SECONDS;
	error = wait_for(requests, parts, until);
	if (error) {
		/* MPI may still write there: neither is freed */
		m->broken[from] = true;
		return error;
	}
	free(requests);
	*buf = content;
	return 0;
}

static int receive_message(
	struct transport *p, int from, int tag, void **buf, size_t *bytes, int *who, double until)
{
	struct mpi_peer *m = (struct mpi_peer *)p;
	int source = from == TRANSPORT_ANY ? MPI_ANY_SOURCE : from;
	long sleep_ns = SLEEP_FIRST_NS;

	do {
		struct message_header header;
		MPI_Status status;
		int found = 0;

		if (MPI_Iprobe(source, header_tag(tag), MPI_COMM_WORLD, &found, &status))
			return -EIO;
		if (!found && p->attend && p->attend(p))
			return -EINTR;
		if (!found)
			continue;
		/* it is here, so this returns at once */
		if (MPI_Recv(&header, sizeof(header), MPI_BYTE, status.MPI_SOURCE, header_tag(tag),
			    MPI_COMM_WORLD, MPI_STATUS_IGNORE))
			return -EIO;
		if (m->broken[status.MPI_SOURCE])
			continue;
		*who = status.MPI_SOURCE;
		*bytes = header.bytes;
		transport_count_received(p, header.bytes);
		return receive_content(m, *who, tag, header.bytes, buf, until);
	} while (sleep_longer(&sleep_ns, SLEEP_MOST_NS, until));
	return -ETIMEDOUT;
}

static bool message_waits(struct transport *p, int tag)
{
	int found = 0;

	return !MPI_Iprobe(MPI_ANY_SOURCE, header_tag(tag), MPI_COMM_WORLD, &found,
		       MPI_STATUS_IGNORE) &&
	       found;
}

/* A place whose message has left, or NULL; one to a dead agent may keep its for good. */
static struct posted *free_place(struct mpi_peer *m)
{
	for (unsigned i = 0; i < POSTED_MAX; i++) {
		struct posted *p = &m->posted[m->next_posted++ % POSTED_MAX];
		int left = 1;

		if (p->request == MPI_REQUEST_NULL ||
			(!MPI_Test(&p->request, &left, MPI_STATUS_IGNORE) && left))
			return p;
	}
	return NULL;
}

static int post_small(struct transport *p, int to, int tag, const void *buf, size_t bytes)
{
	struct posted *place = free_place((struct mpi_peer *)p);

	if (!place)
		return -EAGAIN;
	if (bytes > sizeof(place->content) || to < 0 || to >= p->size)
		return -EINVAL;
	memcpy(place->content, buf, bytes);
	p->counts.small++;
	if (MPI_Isend(place->content, (int)bytes, MPI_BYTE, to, header_tag(tag), MPI_COMM_WORLD,
		    &place->request))
		return -EIO;
	return 0;
}

static int look_small(struct transport *p, int from, int tag, void *buf, size_t bytes, int *who)
{
	int source = from == TRANSPORT_ANY ? MPI_ANY_SOURCE : from, found = 0;
	MPI_Status status;

	if (MPI_Iprobe(source, header_tag(tag), MPI_COMM_WORLD, &found, &status))
		return -EIO;
	if (!found)
		return -EAGAIN;
	*who = status.MPI_SOURCE;
	p->counts.small++;
	/* it is here, so this returns at once */
	return MPI_Recv(buf, (int)bytes, MPI_BYTE, *who, header_tag(tag), MPI_COMM_WORLD,
		       MPI_STATUS_IGNORE)
		       ? -EIO
		       : 0;
}

/* ---- connections ------------------------------------------------------------------------ */

/*
 * MPI makes a connection when the first message is sent. Open MPI 4.1.4 loses it over TCP if
 * both sides begin at the same moment ("connect() to ... failed"). So of two agents the one
 * with the lower rank begins: it sends a greeting, and the other one answers. Nobody sends
 * anything else before all agents with lower ranks have greeted it. In large jobs an agent
 * greets those below it in a tree only, and agent 0 all. Both say their version by that, as
 * whatever comes from an agent of another one would be garbage.
 */
#define GREET_ALL     64 /* in a job of at most so many agents each two meet */
#define GREET_FAN_OUT 16

enum { TAG_GREETING = 2 * TRANSPORT_TAG_MAX + 2, TAG_ANSWER };

static bool are_to_meet(const struct transport *p, int low, int high)
{
	return p->size <= GREET_ALL || low == 0 || low == (high - 1) / GREET_FAN_OUT;
}

/* The same in all versions; those before 4 send nothing. */
struct greeting {
	char magic[8];
	uint32_t version, order;
};

static struct greeting own_greeting(void)
{
	const char *test = getenv("VFTR_TEST_VERSION");
	struct greeting g = {.version = test ? (uint32_t)atoi(test) : TRANSPORT_VERSION,
		.order = TRANSPORT_ORDER};

	memcpy(g.magic, TRANSPORT_MAGIC, sizeof(g.magic));
	return g;
}

static void check_greeting(struct mpi_peer *m, int from, const struct greeting *its)
{
	const struct greeting ours = own_greeting();

	if (m->stranger || !memcmp(its, &ours, sizeof(ours)))
		return;
	if (memcmp(its->magic, ours.magic, sizeof(ours.magic)) || its->order != ours.order) {
		if (asprintf(&m->stranger,
			    "agent %d is none of this version of vftr, or of a machine with "
			    "another "
			    "byte order; use one version of vftr on all nodes",
			    from) < 0)
			m->stranger = NULL;
	} else if (asprintf(&m->stranger,
			   "agent %d speaks version %u of the agents' protocol, and this agent "
			   "version %u; use one version of vftr on all nodes",
			   from, its->version, ours.version) < 0) {
		m->stranger = NULL;
	}
}

/* To and from all agents above this one. */
static void greet_others(struct mpi_peer *m, double until)
{
	struct transport *p = &m->transport;
	MPI_Request *requests = malloc(2 * (size_t)p->size * sizeof(*requests));
	/* ours, and then theirs by rank: they stay where MPI may still read or write them */
	struct greeting *words = calloc((size_t)p->size + 1, sizeof(*words)), *theirs = words + 1;
	int n = 0, error = requests && words ? 0 : -ENOMEM;

	for (int high = p->rank + 1; high < p->size && !error; high++) {
		if (!are_to_meet(p, p->rank, high))
			continue;
		*words = own_greeting();
		if (MPI_Isend(words, sizeof(*words), MPI_BYTE, high, TAG_GREETING, MPI_COMM_WORLD,
			    &requests[n++]) ||
			MPI_Irecv(&theirs[high], sizeof(*words), MPI_BYTE, high, TAG_ANSWER,
				MPI_COMM_WORLD, &requests[n++]))
			error = -EIO;
		transport_count_sent(p, sizeof(*words));
		transport_count_received(p, sizeof(*words));
	}
	if (!error)
		error = wait_for(requests, n, until);
	for (int high = p->rank + 1; high < p->size && !error; high++)
		if (are_to_meet(p, p->rank, high))
			check_greeting(m, high, &theirs[high]);
	free(requests);
	if (!error || error == -ENOMEM)
		free(words);
}

/*
 * A process of Open MPI 4.1.4 that is still in MPI_Init when its first message comes over TCP
 * jumps to address 0: nobody has registered for it yet. All leave MPI_Init at about the same
 * time, but nothing that does not use messages tells when.
 */
static void wait_for_init_of_others(void)
{
	struct timespec t = {.tv_nsec = 100000000};

	nanosleep(&t, NULL);
}

/* An agent that does not come is missed later, where something is wanted of it. */
static void meet_others(struct mpi_peer *m, double until)
{
	struct transport *p = &m->transport;
	static struct greeting ours, its; /* MPI may use them after a deadline */

	ours = own_greeting();
	for (int low = 0; low < p->rank; low++) {
		MPI_Request request;

		if (!are_to_meet(p, low, p->rank))
			continue;
		its = (struct greeting){0};
		if (MPI_Irecv(&its, sizeof(its), MPI_BYTE, low, TAG_GREETING, MPI_COMM_WORLD,
			    &request) ||
			wait_for(&request, 1, until))
			return;
		check_greeting(m, low, &its);
		if (MPI_Isend(&ours, sizeof(ours), MPI_BYTE, low, TAG_ANSWER, MPI_COMM_WORLD,
			    &request) ||
			wait_for(&request, 1, until))
			return;
		transport_count_received(p, sizeof(its));
		transport_count_sent(p, sizeof(ours));
	}
	greet_others(m, until);
}

/* ---- begin and end ------------------------------------------------------------------------ */

/* MPI_Init and MPI_Finalize can't be interrupted; a thread watches over them. */
struct watchdog {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t stop;
	bool stopped, running;
	double until;
	int status;
	const char *what;
};

static void *watch(void *arg)
{
	struct watchdog *w = arg;
	struct timespec t = {.tv_sec = (time_t)w->until};
	int error = 0;

	t.tv_nsec = (long)((w->until - t.tv_sec) * 1e9);
	pthread_mutex_lock(&w->lock);
	while (!w->stopped && !error)
		error = pthread_cond_timedwait(&w->stop, &w->lock, &t);
	if (!w->stopped) {
		if (w->what) {
			fprintf(stderr, "vftr-node-agent: %s\n", w->what);
			fflush(stderr);
		}
		_exit(w->status);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

static void watchdog_start(struct watchdog *w)
{
	pthread_condattr_t attr;

	pthread_mutex_init(&w->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&w->stop, &attr);
	pthread_condattr_destroy(&attr);
	w->running = !pthread_create(&w->thread, NULL, watch, w);
}

static void watchdog_stop(struct watchdog *w)
{
	if (!w->running)
		return;
	pthread_mutex_lock(&w->lock);
	w->stopped = true;
	pthread_cond_signal(&w->stop);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
}

static void finish_mpi(struct transport *p, int together, int status, double until)
{
	struct mpi_peer *m = (struct mpi_peer *)p;
	struct watchdog dog = {.until = until, .status = status};

	if (together == TRANSPORT_ABORT)
		MPI_Abort(MPI_COMM_WORLD, status);
	if (together) {
		watchdog_start(&dog);
		MPI_Finalize();
		watchdog_stop(&dog);
	}
	free(m->broken);
	free(m);
}

/* The launcher ends all agents when one has ended: those that have met say first what it is. */
static void say_together(const char *what)
{
	struct watchdog dog = {.until = now() + SAY_S, .status = 125};

	fprintf(stderr, "vftr-node-agent: %s\n", what);
	fflush(stderr);
	watchdog_start(&dog);
	MPI_Finalize();
	watchdog_stop(&dog);
}

__attribute__((visibility("default"))) struct transport *vftr_peer_open(
	double start_s, char **error);

struct transport *vftr_peer_open(double start_s, char **error)
{
	char what[100];
	struct watchdog dog = {.until = now() + start_s, .status = 125, .what = what};
	struct mpi_peer *m = calloc(1, sizeof(*m));
	int failed, provided;

	*error = NULL;
	snprintf(what, sizeof(what),
		"the agents did not find each other: MPI_Init did not end within %g s", start_s);
	if (!m)
		return NULL;
	watchdog_start(&dog);
	failed = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
	watchdog_stop(&dog);
	if (failed) {
		*error = strdup("MPI_Init of the agents failed");
		free(m);
		return NULL;
	}
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_rank(MPI_COMM_WORLD, &m->transport.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &m->transport.size);
	m->transport.send = send_message;
	m->transport.receive = receive_message;
	m->transport.post = post_small;
	m->transport.look = look_small;
	m->transport.waits = message_waits;
	for (int i = 0; i < POSTED_MAX; i++)
		m->posted[i].request = MPI_REQUEST_NULL;
	m->transport.finish = finish_mpi;
	m->broken = calloc(m->transport.size, sizeof(*m->broken));
	if (!m->broken) {
		free(m);
		return NULL;
	}
	if (m->transport.size > 1)
		wait_for_init_of_others();
	meet_others(m, dog.until);
	if (!m->stranger)
		return &m->transport;
	say_together(m->stranger);
	*error = strdup("agents of different versions do not work together");
	free(m->stranger);
	free(m->broken);
	free(m);
	return NULL;
}
