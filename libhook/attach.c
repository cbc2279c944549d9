/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finding the agent and getting segments from it. Failure of any kind means
 * that the process runs untraced; at most one line on stderr says why.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include "libhook/emit.h"
#include "libhook/process.h"

#define REPLY_SECONDS	5
#define START_SECONDS	10
#define LOW_DESCRIPTORS 200 /* shells and daemons use and close the lowest ones */

struct process vftr_process = {.socket = -1, .life = 1};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int cancel_state; /* of its holder */

void process_lock(void)
{
	int old = cancel_off();

	pthread_mutex_lock(&lock);
	cancel_state = old;
}

void process_unlock(void)
{
	int old = cancel_state;

	pthread_mutex_unlock(&lock);
	cancel_restore(old);
}

uint64_t process_ticks(void)
{
	return vftr_process.clock_is_raw ? clock_raw_ns() : clock_counter();
}

static void say(const char *what, const char *more)
{
	char line[512];
	int n = snprintf(line, sizeof(line), "vftrace: %s%s%s; running untraced\n", what,
		more[0] ? ": " : "", more);

	if (n > 0 && write(STDERR_FILENO, line,
			     (size_t)n < sizeof(line) ? (size_t)n : sizeof(line) - 1) < 0)
		return;
}

static bool switched_off(void)
{
	static const char *const yes[] = {"1", "yes", "on", "true"};
	const char *v = getenv("VFTR_OFF");

	for (unsigned i = 0; v && i < sizeof(yes) / sizeof(yes[0]); i++)
		if (!strcasecmp(v, yes[i]))
			return true;
	return false;
}

static int number_from(const char *const *names)
{
	for (; *names; names++) {
		const char *v = getenv(*names);

		if (v && v[0] >= '0' && v[0] <= '9')
			return atoi(v);
	}
	return WIRE_UNKNOWN;
}

static const char *const rank_variables[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", NULL};
static const char *const size_variables[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", NULL};

static int runtime_directory(char *out, size_t bytes)
{
	const char *dir = getenv("VFTR_RUNTIME_DIR");
	const char *xdg = getenv("XDG_RUNTIME_DIR");
	int n;

	if (dir && dir[0])
		n = snprintf(out, bytes, "%s", dir);
	else if (xdg && xdg[0])
		n = snprintf(out, bytes, "%s/vftr", xdg);
	else
		n = snprintf(out, bytes, "/tmp/vftr-%u", (unsigned)getuid());
	return n > 0 && (size_t)n < bytes ? 0 : -ENAMETOOLONG;
}

/* The session an agent of our own would have: one per job on this node. */
static void job_session(char *out, size_t bytes)
{
	const char *v;

	if ((v = getenv("PMIX_NAMESPACE")))
		snprintf(out, bytes, "job-%.80s", v);
	else if ((v = getenv("SLURM_JOB_ID")))
		snprintf(out, bytes, "job-%.40s.%.40s", v,
			getenv("SLURM_STEP_ID") ? getenv("SLURM_STEP_ID") : "0");
	else if (getenv("PMI_RANK"))
		snprintf(out, bytes, "job-of-%d", (int)getppid());
	else
		snprintf(out, bytes, "process-%d", (int)getpid());
	for (; *out; out++)
		if (*out == '/')
			*out = '-';
}

/* Descriptor of a connection to the agent of this session, or -errno. */
static int connect_to(const char *directory, const char *session)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	struct timeval limit = {REPLY_SECONDS, 0};
	struct ucred peer;
	socklen_t bytes = sizeof(peer);
	int n, fd, high;

	n = snprintf(a.sun_path, sizeof(a.sun_path), "%s/%s.sock", directory, session);
	if (n < 0 || (size_t)n >= sizeof(a.sun_path))
		return -ENAMETOOLONG;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	high = fcntl(fd, F_DUPFD_CLOEXEC, LOW_DESCRIPTORS);
	if (high >= 0) {
		close(fd);
		fd = high;
	}
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	if (connect(fd, (struct sockaddr *)&a, sizeof(a))) {
		n = -errno;
		close(fd);
		return n;
	}
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) || peer.uid != geteuid()) {
		close(fd);
		return -EPERM;
	}
	return fd;
}

static bool nobody_there(int error)
{
	return error == -ENOENT || error == -ECONNREFUSED || error == -ENOTDIR;
}

/* The agent of VFTR_SESSION, of "default", of our job, or a new one. */
static int find_agent(void)
{
	char directory[256];
	const char *named = getenv("VFTR_SESSION");
	const char *agent = getenv("VFTR_AGENT");
	struct timespec pause = {0, 2000000};
	int fd, error = runtime_directory(directory, sizeof(directory));

	if (error)
		return error;
	if (vftr_process.session[0]) {
		fd = connect_to(directory, vftr_process.session);
		if (!nobody_there(fd))
			return fd;
	}
	snprintf(vftr_process.session, sizeof(vftr_process.session), "%.100s",
		named && named[0] ? named : "default");
	fd = connect_to(directory, vftr_process.session);
	if (!nobody_there(fd) || (agent && !strcmp(agent, "off")))
		return fd;
	if (!named || !named[0])
		job_session(vftr_process.session, sizeof(vftr_process.session));
	fd = connect_to(directory, vftr_process.session);
	if (!nobody_there(fd))
		return fd;
	error = agent_spawn(vftr_process.session);
	if (error)
		return error;
	/* ours, or that of a faster rank: whoever got the lock answers */
	for (int i = 0; i < START_SECONDS * 500; i++) {
		fd = connect_to(directory, vftr_process.session);
		if (!nobody_there(fd))
			return fd;
		nanosleep(&pause, NULL);
	}
	return -ETIMEDOUT;
}

static void executable_name(char *out, size_t bytes)
{
	ssize_t n = readlink("/proc/self/exe", out, bytes - 1);

	out[n > 0 ? n : 0] = '\0';
}

/* argv[0], from the kernel's copy: the program may have changed its own. */
static void invocation_name(char *out, size_t bytes)
{
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, out, bytes - 1) : 0;

	out[n > 0 ? n : 0] = '\0';
	if (fd >= 0)
		close(fd);
}

union reply {
	struct wire_head head;
	struct wire_welcome welcome;
	struct wire_ring ring;
	char bytes[1024];
};

static int say_hello(int fd, union reply *reply, size_t *got, int *control)
{
	char executable[4096], invoked[1024], directory[4096];
	struct wire_hello hello = {
		.head = {.kind = WIRE_HELLO, .ticks = clock_counter()},
		.version = WIRE_VERSION,
		.pid = getpid(),
		.ppid = getppid(),
		.parent_traced = vftr_process.parent_traced,
		.parent_fork = vftr_process.parent_fork,
		.rank_hint = number_from(rank_variables),
		.size_hint = number_from(size_variables),
		.raw_ns = clock_raw_ns(),
	};
	struct wire_text text = {{executable, invoked, directory}};
	int error;

	executable_name(executable, sizeof(executable));
	invocation_name(invoked, sizeof(invoked));
	if (!getcwd(directory, sizeof(directory)))
		directory[0] = '\0';
	error = message_send_on(fd, &hello.head, sizeof(hello), &text);
	return error ? error : message_receive_on(fd, reply, sizeof(*reply) - 1, control, got);
}

static void accept_welcome(const struct wire_welcome *w)
{
	vftr_process.ring_size = w->ring_size;
	vftr_process.drop_when_full = w->drop_when_full;
	vftr_process.no_messages = !w->messages;
	vftr_process.clock_is_raw = w->clock_source == CLOCK_SOURCE_RAW;
	if (vftr_process.clock_is_raw)
		store_relaxed(&vftr_gate, GATE_ALL);
}

/* 0 and a mapped control segment, or -errno after saying why. */
static int attach_to(int fd)
{
	union reply reply = {.bytes = {0}};
	size_t got = 0;
	int control, error = say_hello(fd, &reply, &got, &control);

	if (error) {
		say("the agent does not answer", strerror(-error));
		return error;
	}
	reply.bytes[got < sizeof(reply) ? got : sizeof(reply) - 1] = '\0';
	if (reply.head.kind == WIRE_REFUSED && got > sizeof(reply.head)) {
		say(reply.bytes + sizeof(reply.head), "");
		error = -EACCES;
	} else if (reply.head.kind != WIRE_WELCOME || got < sizeof(reply.welcome)) {
		say("the agent speaks another language", "");
		error = -EPROTO;
	} else if (reply.welcome.off) {
		error = -ECANCELED;
	} else if (control < 0 ||
		   (error = segment_map_control(control, &vftr_process.agent, &vftr_process.app))) {
		say("no shared memory from the agent", strerror(error ? -error : EPROTO));
		error = -EPROTO;
	} else {
		accept_welcome(&reply.welcome);
	}
	if (control >= 0)
		close(control);
	return error;
}

static enum process_state attach_now(void)
{
	uint64_t from = clock_raw_ns();
	struct stat st;
	int fd;

	if (switched_off())
		return PROCESS_OFF;
	vftr_process.pid = getpid();
	fd = find_agent();
	if (fd < 0) {
		const char *agent = getenv("VFTR_AGENT");

		if (fd != -ECANCELED && !(nobody_there(fd) && agent && !strcmp(agent, "off")))
			say(fd == -EPERM ? "the agent's socket belongs to another user"
					 : "no agent could be reached or started",
				fd == -EPERM ? "" : strerror(-fd));
		return PROCESS_OFF;
	}
	if (fstat(fd, &st) || attach_to(fd)) {
		close(fd);
		return PROCESS_OFF;
	}
	vftr_process.socket = fd;
	vftr_process.socket_inode = st.st_ino;
	modules_refresh();
	regions_announce();
	life_install();
	vftr_process.app->attach_ns = clock_raw_ns() - from;
	return PROCESS_ON;
}

void process_attach(void)
{
	process_lock();
	if (vftr_process.state == PROCESS_NEW)
		store_release(&vftr_process.state, attach_now());
	process_unlock();
}

void thread_attach(struct thread *t)
{
	struct wire_thread request = {.head = {.kind = WIRE_THREAD}, .parent = t->parent};
	char name[THREAD_NAME_BYTES];
	struct wire_text text = {{name}};
	union reply reply;
	size_t got = 0;
	int fd = -1, error;
	uint64_t ticks;

	memset(&t->ring, 0, sizeof(t->ring));
	t->life = vftr_process.life;
	t->kicked_at = 0;
	t->skipped_depth = t->lost_here = t->unclosed = 0;
	t->jumped = NULL;
	request.tid = (int32_t)syscall(SYS_gettid);
	process_lock();
	thread_own_name(name);
	request.spare = rings_take_spare();
	error = message_send(&request.head, sizeof(request), &text);
	if (!error)
		error = message_receive(&reply, sizeof(reply), &fd, &got);
	if (error) /* a late answer would be taken for that to the next question */
		process_switch_off();
	if (!error && (got < sizeof(reply.ring) || reply.head.kind != WIRE_RING))
		error = -EPROTO;
	if (!error && request.spare && reply.ring.uses != 0 &&
		reply.ring.index + 1 != request.spare)
		error = -EPROTO;
	if (!error && request.spare && reply.ring.uses == 0)
		rings_leave(request.spare - 1, false); /* the agent has another one for us */
	if (!error)
		error = reply.ring.error ? reply.ring.error : rings_use(&reply.ring, fd, &t->ring);
	process_unlock();
	if (fd >= 0)
		close(fd);
	t->state = error ? THREAD_OFF : THREAD_ACTIVE;
	t->limit = NULL;
	if (error)
		return;
	/* after the request: a ring's first time is not before its definition */
	ticks = process_ticks();
	t->index = reply.ring.index;
	t->number = reply.ring.number;
	ring_start(&t->ring, (uint32_t)request.tid, ticks);
	t->stage = 0;
	t->cur = t->ring.stage[0] + 1;
	t->high = ticks >> RECORD_TIME_BITS;
	thread_end_install();
}

void thread_detach(struct thread *t)
{
	struct wire_number end = {.head = {.kind = WIRE_THREAD_END}, .number = t->index};
	char name[THREAD_NAME_BYTES];
	struct wire_text text = {{name}};
	bool keep = false, had_one = t->ring.base != NULL;

	process_lock();
	if (t->state != THREAD_OFF && load_acquire(&vftr_process.state) == PROCESS_ON) {
		keep = rings_keep(t->index);
		end.number |= keep ? WIRE_RING_KEPT : 0;
		thread_own_name(name);
		keep = !message_send(&end.head, sizeof(end), &text) && keep;
	}
	memset(&t->ring, 0, sizeof(t->ring));
	t->state = THREAD_NEW;
	if (had_one)
		rings_leave(t->index, keep);
	process_unlock();
}

void process_switch_off(void)
{
	store_release(&vftr_process.state, PROCESS_OFF);
	store_relaxed(&vftr_gate, GATE_ALL);
}

void process_forget(void)
{
	static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
	struct thread *t = &vftr_thread;
	struct control_agent_shm *control;

	lock = fresh; /* before_fork() has taken it */
	t->state = THREAD_NEW;
	t->limit = NULL;
	t->cur = NULL;
	t->parent = t->endings = 0;
	memset(&t->ring, 0, sizeof(t->ring));
	fence_signal();
	rings_forget();
	cancel_restore(cancel_state);
	if (vftr_process.state != PROCESS_ON)
		return;
	close(vftr_process.socket);
	vftr_process.socket = -1;
	control = vftr_process.agent;
	vftr_process.agent = NULL;
	vftr_process.app = NULL; /* before it goes: signal handlers look at it */
	fence_signal();
	segment_unmap_control(control);
	vftr_process.parent_traced = vftr_process.pid;
	vftr_process.parent_fork = vftr_process.forks;
	vftr_process.life++;
	modules_forget();
	vftr_process.state = PROCESS_NEW;
}
