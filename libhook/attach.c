/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attaching to the agent and getting segments from it. Failure of any kind means
 * that the process runs untraced; at most one line on stderr says why.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include "libhook/hook-cost.h"
#include "libhook/counters.h"
#include "libhook/emit.h"
#include "libhook/find-agent.h"
#include "libhook/process.h"
#include "libhook/session.h"
#include "libhook/successor.h"
#include "libhook/switches.h"
#include "shm/look.h"
#include "shm/runtime-dir.h"
#include "shm/system.h"

struct process vftr_process = {.socket = -1, .generation = 1};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int cancel_state; /* of its holder */
static sigset_t signals; /* ... and what was blocked before */
static int holder;	 /* his tid */

/*
 * A signal handler of the holder may fork, or leave by siglongjmp(): it waits.
 * That is never long, nor does it happen often.
 */
void vftr_process_lock(void)
{
	sigset_t all, blocked;
	int old;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &blocked);
	old = cancel_off();
	pthread_mutex_lock(&lock);
	cancel_state = old;
	signals = blocked;
	store_relaxed(&holder, (int)syscall(SYS_gettid));
}

bool vftr_process_is_to_end(void)
{
	static const int asks[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGXCPU};
	sigset_t pending;

	if (load_relaxed(&holder) != (int)syscall(SYS_gettid) || sigpending(&pending))
		return false;
	for (unsigned i = 0; i < sizeof(asks) / sizeof(asks[0]); i++)
		if (sigismember(&pending, asks[i]) && !sigismember(&signals, asks[i]))
			return true;
	return false;
}

void vftr_process_unlock(void)
{
	int old = cancel_state;
	sigset_t blocked = signals;

	store_relaxed(&holder, 0);
	pthread_mutex_unlock(&lock);
	cancel_restore(old);
	pthread_sigmask(SIG_SETMASK, &blocked, NULL);
}

uint64_t vftr_process_ticks(void)
{
	return vftr_process.clock_is_raw ? clock_raw_ns() : clock_counter();
}

static const char self;

/* In a later copy of this library (copies.c) it is that of the first, by the rules of the dynamic
 * linker. */
extern const void *vftrace_copy;
__attribute__((visibility("default"))) const void *vftrace_copy = &self;

bool vftr_is_first_copy(void)
{
	return vftrace_copy == &self;
}

/* A program with more rights than its user must not do what his environment says. */
bool vftr_user_has_switched_off(void)
{
	static const char *const yes[] = {"1", "yes", "on", "true"};
	const char *v = getenv("VFTR_OFF");

	if (getauxval(AT_SECURE) || !vftr_is_wanted_program())
		return true;
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

void vftr_executable_path(char *out, size_t bytes)
{
	const char *as_run = (const char *)getauxval(AT_EXECFN);
	ssize_t n = sys_readlink("/proc/self/exe", out, bytes - 1);
	size_t used;

	out[n > 0 ? n : 0] = '\0';
	if (n > 0 || !as_run)
		return;
	if (as_run[0] != '/' && !sys_getcwd(out, bytes))
		out[0] = '\0';
	used = strlen(out);
	snprintf(out + used, bytes - used, "%s%s", used ? "/" : "", as_run);
}

/* argv[0], from the kernel's copy: the program may have changed its own. */
static void invocation_name(char *out, size_t bytes)
{
	int fd = sys_open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? sys_read(fd, out, bytes - 1) : 0;

	out[n > 0 ? n : 0] = '\0';
	if (fd >= 0)
		sys_close(fd);
}

/*
 * The thread that attaches asks for its ring with the same breath: one time to wait
 * for the agent instead of two. With the lock held.
 */
static struct {
	int32_t tid; /* whose it is, until it takes it; 0: nobody's */
	struct wire_ring reply;
	struct ring ring;
	bool refused; /* by us: it cannot be mapped */
} early;

/* What a thread asks a ring with. With the lock held. */
static struct wire_thread ring_request(const struct ring *before, uint32_t parent, int32_t tid)
{
	struct wire_thread request = {.head = {.kind = WIRE_THREAD, .ticks = vftr_process_ticks()},
		.tid = tid,
		.parent = parent};

	if (vftr_rings_is_left(before->base)) {
		request.head.ticks = vftr_ring_unread_since(before);
		request.was_recorded = 1;
		request.parent = 0; /* this agent numbers anew */
	}
	return request;
}

static int ask_for_ring(int fd, struct patience *patience)
{
	struct wire_thread request =
		ring_request(&vftr_thread.ring, vftr_thread.parent, (int32_t)syscall(SYS_gettid));
	char name[THREAD_NAME_BYTES];
	struct wire_text text = {{name}};

	vftr_thread_own_name(name);
	early.tid = request.tid;
	return vftr_message_send_on(fd, &request.head, sizeof(request), &text, patience);
}

static int early_ring(int socket, struct patience *patience)
{
	size_t got = 0;
	int fd = -1, error = vftr_message_receive_on(
			     socket, &early.reply, sizeof(early.reply), &fd, &got, patience);

	if (!error && (got < sizeof(early.reply) || early.reply.head.kind != WIRE_RING ||
			      early.reply.uses))
		error = -EPROTO;
	early.refused = false;
	if (!error && !early.reply.error) {
		early.reply.error = vftr_rings_use(&early.reply, fd, &early.ring);
		early.refused = early.reply.error != 0;
	}
	if (fd >= 0)
		sys_close(fd);
	/* as vftr_message_send() would: pairs with drain_process() */
	add_release_u64(&vftr_process.app->definitions, 1);
	return error;
}

union reply {
	struct wire_head head;
	struct wire_welcome welcome;
	char bytes[WIRE_TEXT_MAX];
};

#define NO_ANSWER 10003 /* no errno either: find-agent.h has the others */

/* An agent that refuses us sends the reason, and may hang up before our second message. */
static bool hung_up(int error)
{
	return error == -EPIPE || error == -ECONNRESET;
}

static bool is_preloaded(void)
{
	const char *v = getenv("LD_PRELOAD");

	return v && strstr(v, "libvftrace");
}

/* This process was attached, and the agent is another one. */
static void note_recorded(struct wire_hello *hello)
{
	const uint64_t since = vftr_rings_unread_since();

	hello->was_recorded = 1;
	if (vftr_process.clock_is_raw)
		hello->raw_ns = since;
	else
		hello->head.ticks = since;
}

static int say_hello(
	int fd, union reply *reply, size_t *got, int *control, struct patience *patience)
{
	/* not on the stack, which may be a small one; the lock is held */
	static char executable[4096], invoked[1024], directory[4096];
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
		.uninstrumented = is_preloaded() && !vftr_modules_call_hooks(),
		.sleds = vftr_sleds_prepare(),
	};
	struct wire_text text = {{executable, invoked, directory}};
	int error;

	if (load_relaxed(&vftr_process.waits_for_agent))
		note_recorded(&hello);
	vftr_executable_path(executable, sizeof(executable));
	invocation_name(invoked, sizeof(invoked));
	if (!sys_getcwd(directory, sizeof(directory)))
		directory[0] = '\0';
	error = vftr_message_send_on(fd, &hello.head, sizeof(hello), &text, patience);
	if (!error)
		error = ask_for_ring(fd, patience);
	if (!error || hung_up(error))
		error = vftr_message_receive_on(
			fd, reply, sizeof(*reply) - 1, control, got, patience);
	if (hung_up(error)) /* the kernel tells that once, before what was said */
		error = vftr_message_receive_on(
			fd, reply, sizeof(*reply) - 1, control, got, patience);
	return error;
}

/* text: what follows WELCOME */
static void accept_python(const struct wire_welcome *w, const char *text)
{
	static char patterns[WIRE_TEXT_MAX + 2]; /* those of the first agent stay */
	const size_t bytes = strlen(text);	 /* as much as one message has */
	const size_t include = w->python_include < bytes ? w->python_include : bytes;

	if (vftr_process.python_include)
		return;
	snprintf(patterns, sizeof(patterns), "%.*s", (int)include, text);
	memcpy(patterns + include + 1, text + include, bytes - include + 1);
	vftr_process.python_include = patterns;
	vftr_process.python_exclude = patterns + include + 1;
	vftr_process.python_wanted = w->python;
}

/* By their own calls: then it is not needed from where they call MPI. */
static bool callers_are_seen(const struct wire_welcome *w)
{
	return vftr_modules_call_hooks() || (w->sleds && vftr_sleds_prepare()) ||
	       (w->python && vftr_python_is_here && vftr_python_is_here());
}

/* The agent takes a call that states no site for one from the last site of its function. */
void vftr_callers_are_seen(void)
{
	for (unsigned i = 0; i < CALL_SITE_FUNCTIONS; i++)
		if (vftr_thread.sites[i])
			return;
	if (vftr_process.call_sites_auto)
		vftr_call_sites_want(false);
}

static void accept_welcome(const struct wire_welcome *w, const char *text)
{
	vftr_process.ring_size = w->ring_size;
	vftr_process.drop_when_full = w->drop_when_full;
	vftr_process.block_most_ns = (uint64_t)w->block_most_ms * 1000000;
	vftr_process.no_messages = w->messages == WIRE_MESSAGES_NONE;
	vftr_process.lengths_wanted = w->messages == WIRE_MESSAGES_EACH;
	vftr_process.publish_forks = w->publish_forks;
	vftr_process.clock_is_raw = w->clock_source == CLOCK_SOURCE_RAW;
	vftr_process.counter_words = vftr_counters_wanted();
	vftr_process.gpu_wanted = w->gpu;
	vftr_process.openacc_wanted = w->openacc;
	vftr_annotations_want(w->annotations);
	vftr_process.files_wanted = w->files;
	vftr_process.memory_mean = w->memory_mean;
	vftr_process.memory_large = w->memory_large;
	vftr_process.locks_wanted = w->locks;
	vftr_process.sleds_wanted = w->sleds;
	vftr_process.successor = w->successor;
	vftr_process.call_sites_auto = w->call_sites == WIRE_CALL_SITES_AUTO;
	vftr_call_sites_want(w->call_sites == WIRE_CALL_SITES_ON ||
			     (w->call_sites == WIRE_CALL_SITES_AUTO && !callers_are_seen(w)));
	vftr_process.last_words_ms = w->last_words_ms;
	accept_python(w, text);
}

static int map_control(int fd)
{
	return load_relaxed(&vftr_process.waits_for_agent)
		       ? vftr_segment_replace_control(fd, vftr_process.agent)
		       : vftr_segment_map_control(fd, &vftr_process.agent, &vftr_process.app);
}

static void not_answered(int fd, int error)
{
	if (error == -ETIMEDOUT)
		vftr_message_throw(fd, WIRE_GAVE_UP);
	if (error != -ETIMEDOUT || vftr_patience_over())
		vftr_say("the node agent does not answer", vftr_error_text(-error));
}

/*
 * 0 and a mapped control segment, or -errno after saying why. -NO_ANSWER, silently, if `once_more`
 * and the agent has hung up: it ended just then, or we had no CPU for as long as it waits.
 */
static int attach_to(int fd, struct patience *patience, bool once_more)
{
	static union reply reply; /* the lock is held */
	size_t got = 0;
	int control, error = say_hello(fd, &reply, &got, &control, patience);

	if (once_more && hung_up(error))
		return -NO_ANSWER;
	if (error) {
		not_answered(fd, error);
		return error;
	}
	reply.bytes[got < sizeof(reply) ? got : sizeof(reply) - 1] = '\0';
	if (reply.head.kind == WIRE_REFUSED && got > sizeof(reply.head)) {
		vftr_say(reply.bytes + sizeof(reply.head), "");
		error = -EACCES;
	} else if (reply.head.kind != WIRE_WELCOME || got < sizeof(reply.welcome)) {
		vftr_say("the node agent is of another version than this library; use both of one "
			 "installation of vftr",
			"");
		error = -EPROTO;
	} else if (reply.welcome.off) {
		error = -ECANCELED;
	} else if (control < 0 || (error = map_control(control))) {
		/* without a descriptor: this process may open no more files */
		vftr_say("the node agent's memory cannot be shared",
			vftr_error_text(control < 0 ? EMFILE : -error));
		error = -EPROTO;
	} else {
		accept_welcome(&reply.welcome, reply.bytes + sizeof(reply.welcome));
		if (reply.welcome.samples)
			error = vftr_sampler_receive(fd, patience);
		else
			vftr_sampler_forgo();
		if (!error)
			error = early_ring(fd, patience);
		if (hung_up(error) && load_relaxed(&vftr_process.waits_for_agent))
			error = -NO_ANSWER;
		else if (error)
			not_answered(fd, error);
	}
	if (control >= 0)
		sys_close(control);
	return error;
}

void vftr_process_gate(void)
{
	bool slowly = vftr_process.pauses || vftr_process.clock_is_raw ||
		      vftr_process.counter_words || vftr_process.state == PROCESS_OFF;

	store_relaxed(&vftr_own.gate, slowly			  ? GATE_ALL
				      : vftr_process.modules_wide ? GATE_CODE
				      : vftr_process.switches	  ? GATE_SWITCHES
								  : GATE_FUNCTIONS);
	store_relaxed(&vftr_own.counting,
		!vftr_process.pauses && !vftr_process.modules_wide && load_relaxed(&vftr_own.here));
}

static void say_no_agent(int error)
{
	const char *named = getenv("VFTR_SESSION"), *agent = getenv("VFTR_AGENT");
	char directory[256] = "", line[400];

	vftr_runtime_dir(directory, NULL, sizeof(directory));
	switch (error) {
	case EPERM:
		snprintf(line, sizeof(line),
			"the node agent's socket in %.200s belongs to another user; set "
			"VFTR_RUNTIME_DIR to a directory of yours",
			directory);
		break;
	case NOT_OUR_DIRECTORY:
		snprintf(line, sizeof(line),
			"the runtime directory %.200s must be yours and have mode 0700; make it "
			"so, "
			"or set VFTR_RUNTIME_DIR to another one",
			directory);
		break;
	case NOT_A_SESSION:
		snprintf(line, sizeof(line),
			"VFTR_SESSION=%.100s: a session's name has no `/' and does not begin with "
			"`.'",
			named ? named : "");
		break;
	case ENOEXEC:
		snprintf(line, sizeof(line),
			"%s%.200s is no vftr-node-agent; set VFTR_AGENT to the path of one",
			agent && agent[0] ? "VFTR_AGENT=" : "the program beside libvftrace",
			agent && agent[0] ? agent : "");
		break;
	case ECHILD:
		snprintf(line, sizeof(line),
			"process 1 of a container starts no node agent, which would end with it; "
			"use vftr-node-agent -- COMMAND");
		break;
	default:
		snprintf(line, sizeof(line),
			"no node agent (%.180s) could be reached or started: %s (see vftr doctor)",
			agent && agent[0] ? agent : "VFTR_AGENT is not set",
			vftr_error_text(error));
	}
	vftr_say(line, "");
}

/* The same by the connection fd, which is closed if that fails. */
static int meet_agent_at(int fd, struct patience *patience, bool once_more)
{
	struct stat st;
	int error;

	early.tid = 0;
	error = sys_fstat(fd, &st) ? -errno : attach_to(fd, patience, once_more);
	if (error) {
		early.tid = 0; /* no ring has come for it */
		sys_close(fd);
		return error;
	}
	vftr_process.socket = fd;
	vftr_process.socket_inode = st.st_ino;
	vftr_process.agent_pid = vftr_agent_pid(fd);
	vftr_process.agent_looked = clock_counter();
	store_release(&vftr_process.waits_for_agent, 0);
	return 0;
}

/* 0, and the process has a socket and the agent's answer; or -errno after saying why. */
static int meet_agent(bool once_more)
{
	struct patience patience;
	int fd;

	vftr_patience_begin(&patience);
	fd = vftr_find_agent(&patience);
	if (fd < 0) {
		const char *agent = getenv("VFTR_AGENT");

		if (fd != -ECANCELED && !(vftr_nobody_there(fd) && agent && !strcmp(agent, "off")))
			say_no_agent(-fd);
		return fd;
	}
	return meet_agent_at(fd, &patience, once_more);
}

/* What an agent must know of a process that it has welcomed, besides its modules. */
static void tell_agent(void)
{
	vftr_regions_announce();
	vftr_constructs_announce();
	if (vftr_openacc_announce)
		vftr_openacc_announce();
	vftr_generation_install();
	vftr_switches_attach();
	vftr_pause_attach(); /* sets the gate, too */
	vftr_process.app->hook_ps = vftr_hook_cost_ps();
	vftr_sampler_begin();
	if (vftr_process.sleds_wanted)
		vftr_sleds_change();
}

/* For each thread that has ended while no agent was there: a ring, what it has stored, its end. */
static void tell_ended(void)
{
	struct ring from, to;
	struct wire_ring reply;
	size_t got;
	int32_t tid;
	int fd, error = 0;

	for (; !error && vftr_rings_next_ended(&from, &tid); vftr_rings_let_go(from.base)) {
		struct wire_thread request = ring_request(&from, 0, tid);
		struct wire_number end = {.head = {.kind = WIRE_THREAD_END}};
		struct wire_text none = {{""}};

		error = vftr_message_send(&request.head, sizeof(request), &none);
		if (!error)
			error = vftr_message_receive(&reply, sizeof(reply), &fd, &got);
		if (error)
			break;
		if (got == sizeof(reply) && reply.head.kind == WIRE_RING && !reply.error &&
			fd >= 0 && !vftr_segment_map_ring(fd, reply.ring_size, &to)) {
			vftr_ring_give(&to, &from, tid);
			vftr_segment_unmap_ring(&to);
		}
		if (fd >= 0)
			sys_close(fd);
		end.number = reply.index;
		vftr_message_send(&end.head, sizeof(end), &none);
	}
	if (error)
		vftr_agent_failed(error);
}

/* The agent is no successor. If it has welcomed us it learns that we go on untraced. */
static void leave_agent(void)
{
	const int fd = vftr_process.socket;

	vftr_process_switch_off();
	if (fd < 0)
		return;
	vftr_message_throw(fd, WIRE_GAVE_UP);
	vftr_process.socket = -1;
	sys_close(fd);
}

void vftr_process_go_over(int fd)
{
	const uint64_t from = clock_raw_ns();
	const bool was_raw = vftr_process.clock_is_raw;
	const unsigned counter_words = vftr_process.counter_words;
	struct patience patience;
	int error;

	vftr_patience_begin(&patience);
	vftr_rings_are_left();
	vftr_process.parent_traced = 0; /* this agent knows nothing of that */
	vftr_process.parent_fork = 0;
	error = meet_agent_at(fd, &patience, true);
	if (error == -NO_ANSWER) /* it has gone, too */
		return;
	if (!error && (vftr_process.clock_is_raw != was_raw ||
			      vftr_process.counter_words != counter_words))
		error = -EPROTO; /* what is stored has the other clock, or other counters */
	if (error) {
		leave_agent();
		return;
	}
	store_release(&vftr_process.generation, vftr_process.generation + 1);
	vftr_modules_tell_again();
	tell_agent();
	tell_ended();
	vftr_process.app->attach_ns = clock_raw_ns() - from;
}

static enum process_state attach_now(void)
{
	uint64_t from = clock_raw_ns();
	int error;

	if (!vftr_is_first_copy() || vftr_user_has_switched_off())
		return PROCESS_OFF;
	vftr_process.pid = getpid();
	error = meet_agent(true);
	if (error == -NO_ANSWER)
		error = meet_agent(false);
	if (error)
		return PROCESS_OFF;
	/* before anything can be told from the state of a parent */
	madvise(&vftr_own, sizeof(vftr_own), MADV_WIPEONFORK);
	store_relaxed(&vftr_own.here, 1);
	add_relaxed_u64(&vftr_process.app->lost_nested, vftr_process.lost_early);
	vftr_modules_forget();
	vftr_modules_refresh();
	tell_agent();
	vftr_process.app->attach_ns = clock_raw_ns() - from;
	/* it may have given up in the middle of what it had to say */
	return load_relaxed(&vftr_process.state) == PROCESS_OFF ? PROCESS_OFF : PROCESS_ON;
}

void vftr_process_attach(bool by_hook)
{
	vftr_process_lock();
	vftr_process.begun_by_hook |= by_hook;
	vftr_thread.own = true;
	if (vftr_process.state == PROCESS_NEW)
		store_release(&vftr_process.state, attach_now());
	vftr_messages_follow();
	vftr_thread.own = false;
	vftr_process_unlock();
}

/* Of a child of fork() these are its parent's, and of another ring. */
static void sites_begin(struct thread *t)
{
	void *memory;

	if (t->sites != vftr_no_sites) {
		memset(t->sites, 0, sizeof(vftr_no_sites));
	} else if (vftr_process.call_sites) {
		memory = mmap(NULL, sizeof(vftr_no_sites), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (memory != MAP_FAILED)
			t->sites = memory;
	}
}

static void sites_end(struct thread *t)
{
	void *memory = t->sites;

	t->sites = vftr_no_sites;
	fence_signal();
	if (memory != vftr_no_sites)
		munmap(memory, sizeof(vftr_no_sites));
}

/* To be called after the request, so that a ring's first time is not before its definition. The
 * agent does not see the ring yet. */
static void ring_begin(struct thread *t, const struct wire_ring *reply, int32_t tid)
{
	uint64_t ticks = vftr_process_ticks();

	t->index = reply->index;
	t->number = reply->number;
	t->ring.producer->pointer = look_pointer();
	ring_prepare(&t->ring, (uint32_t)tid, ticks);
	vftr_switches_begin(t);
	sites_begin(t);
	t->turns++; /* a handler may have forked, and record in the child */
	t->stage = 0;
	t->cur = t->at = t->ring.stage[0] + 1;
	t->high = (uint32_t)(ticks >> RECORD_TIME_BITS);
	vftr_thread_end_install();
}

/* A ring that could not be received or mapped is the agent's again, and the user is told. */
static void give_back(const struct wire_ring *reply, int error)
{
	struct wire_number end = {.head = {.kind = WIRE_THREAD_END}, .number = reply->index};
	struct wire_head note = {.kind = WIRE_NOTE};
	struct wire_text text = {{""}};
	static uint32_t told; /* of this generation */
	char line[160];

	vftr_message_send(&end.head, sizeof(end), &text);
	if (told == vftr_process.generation)
		return;
	told = vftr_process.generation;
	if (error == -EPROTO) /* without a descriptor */
		error = -EMFILE;
	snprintf(line, sizeof(line),
		"process %d: a thread, maybe more, had no memory for its events and was not "
		"traced: %s%s",
		vftr_process.pid, vftr_error_text(-error),
		error == -EMFILE ? " (see ulimit -n)" : "");
	text.s[0] = line;
	vftr_message_send(&note, sizeof(note), &text);
}

static int take_early(struct wire_ring *reply, struct ring *ring)
{
	early.tid = 0;
	*reply = early.reply;
	*ring = early.ring;
	if (early.refused)
		give_back(reply, reply->error);
	return reply->error;
}

static int new_ring(
	struct thread *t, const struct ring *before, int32_t tid, struct wire_ring *reply)
{
	struct wire_thread request = ring_request(before, t->parent, tid);
	char name[THREAD_NAME_BYTES];
	struct wire_text text = {{name}};
	size_t got = 0;
	int fd = -1, error;

	if (load_relaxed(&vftr_process.waits_for_agent))
		return -ECONNRESET;
	vftr_thread_own_name(name);
	request.spare = vftr_rings_take_spare();
	error = vftr_message_send(&request.head, sizeof(request), &text);
	if (!error)
		error = vftr_message_receive(reply, sizeof(*reply), &fd, &got);
	if (error) /* a late answer would be taken for that to the next question */
		vftr_agent_failed(error);
	if (!error && (got < sizeof(*reply) || reply->head.kind != WIRE_RING))
		error = -EPROTO;
	if (!error && request.spare && reply->uses != 0 && reply->index + 1 != request.spare)
		error = -EPROTO;
	if (!error && request.spare && reply->uses == 0)
		vftr_rings_leave(request.spare - 1, false); /* the agent has another one for us */
	if (!error)
		error = reply->error;
	if (!error && (error = vftr_rings_use(reply, fd, &t->ring)))
		give_back(reply, error);
	if (fd >= 0)
		sys_close(fd);
	return error;
}

/* The thread has a new ring, and a left one from before, which nobody reads. */
static void take_along(struct thread *t, const struct thread *before)
{
	vftr_counters_end(t);
	t->parent = 0;
	if (t->state != THREAD_ACTIVE || !vftr_ring_take_along(t, before))
		vftr_rings_blank_left(before->ring.base);
}

void vftr_thread_attach(struct thread *t)
{
	struct wire_ring reply = {.index = 0};
	struct thread before;
	int32_t tid;
	int error;

	t->limit = NULL; /* no handler stores to a ring that is left */
	fence_signal();
	before = *t;
	t->state = THREAD_NEW;
	t->counts = NULL;
	memset(&t->ring, 0, sizeof(t->ring));
	t->generation = vftr_process.generation;
	t->kicked_at = t->blocked = t->blocked_until = 0;
	t->skipped_depth = t->lost_here = t->unclosed = 0;
	t->jumped = NULL;
	tid = (int32_t)syscall(SYS_gettid);
	vftr_process_lock();
	if (vftr_process.state == PROCESS_NEW) { /* a signal handler has forked: we are the child */
		vftr_process_unlock();
		return;
	}
	t->own = true;
	error = early.tid == tid ? take_early(&reply, &t->ring)
				 : new_ring(t, &before.ring, tid, &reply);
	t->own = false;
	if (!error)
		ring_begin(t, &reply, tid);
	t->state = error ? THREAD_OFF : THREAD_ACTIVE;
	if (vftr_rings_is_left(before.ring.base))
		take_along(t, &before);
	if (t->state != THREAD_OFF)
		ring_show(&t->ring);
	vftr_process_unlock(); /* what a signal handler that waits may leave by a jump, is whole */
	if (!error)
		vftr_counters_begin(t);
}

void vftr_thread_detach(struct thread *t)
{
	struct wire_number end = {.head = {.kind = WIRE_THREAD_END}, .number = t->index};
	char name[THREAD_NAME_BYTES];
	struct wire_text text = {{name}};
	const void *base = t->ring.base;
	bool keep = false;
	int error;

	vftr_counters_end(t);
	vftr_session_thread_end();
	if (vftr_python_thread_end)
		vftr_python_thread_end();
	vftr_process_lock();
	t->own = true;
	if (t->state != THREAD_OFF && load_acquire(&vftr_process.state) == PROCESS_ON) {
		keep = vftr_rings_keep(t->index);
		end.number |= keep ? WIRE_RING_KEPT : 0;
		vftr_thread_own_name(name);
		error = vftr_message_send(&end.head, sizeof(end), &text);
		keep = !error && keep;
		if (hung_up(error)) /* before anybody has looked */
			vftr_agent_failed(error);
	}
	t->counts = NULL;
	memset(&t->ring, 0, sizeof(t->ring));
	t->state = THREAD_NEW;
	if (vftr_rings_is_left(base)) /* of an agent that went before it knew us all */
		vftr_rings_let_go(base);
	else if (base && !(load_relaxed(&vftr_process.waits_for_agent) &&
				 vftr_rings_leave_ended(t->index, (int32_t)syscall(SYS_gettid))))
		vftr_rings_leave(t->index, keep);
	sites_end(t);
	t->own = false;
	vftr_process_unlock();
}

void vftr_process_switch_off(void)
{
	store_release(&vftr_process.state, PROCESS_OFF);
	store_relaxed(&vftr_own.gate, GATE_ALL);
	vftr_messages_follow();
}

void vftr_process_give_up(void)
{
	if (load_acquire(&vftr_process.state) == PROCESS_OFF)
		return;
	vftr_process_switch_off();
	store_release(&vftr_process.app->gave_up, vftr_process_ticks());
	if (vftr_socket_is(
		    vftr_process.socket)) /* not one of the program's that has its number now */
		vftr_message_throw(vftr_process.socket, WIRE_GAVE_UP);
	if (vftr_patience_over())
		vftr_say("the node agent does not answer any more", "");
}

/*
 * The parent's control page and rings are not ours. If a signal handler has forked,
 * the interrupted code still uses them when it goes on: so private memory takes their
 * place.
 */
int vftr_process_forget(bool interrupted)
{
	static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
	struct thread *t = &vftr_thread;
	struct control_agent_shm *control = vftr_process.agent;
	struct ring ring = t->ring;
	int parents = vftr_process.socket;

	lock = fresh; /* whoever held it is not here */
	vftr_loader_lock_in_child();
	vftr_modules_forget();
	store_relaxed(&holder, 0);
	vftr_session_forget_lock();
	early.tid = 0;
	vftr_sampler_forget();
	t->limit = NULL;
	t->counts = NULL;
	t->parent = t->endings = t->vfork_children = 0;
	vftr_counters_forget(t, interrupted);
	if (interrupted) {
		vftr_rings_blank();
		vftr_segment_blank(control, CONTROL_BYTES);
	} else {
		t->state = THREAD_NEW;
		t->cur = NULL;
		memset(&t->ring, 0, sizeof(t->ring));
		t->ring.producer = ring.producer;
		fence_signal();
		vftr_rings_forget();
		/* the fast path, or a count, may have been interrupted just before its store */
		vftr_segment_blank(ring.base, RING_DATA_OFFSET);
	}
	vftr_process.socket = -1;
	vftr_process.waits_for_agent = 0;
	if (parents >= 0 && !vftr_socket_is(parents))
		parents = -1; /* the program has closed it */
	if (vftr_process.state != PROCESS_ON)
		return parents;
	if (!interrupted) {
		vftr_process.agent = NULL;
		vftr_process.app = NULL; /* before it goes: signal handlers look at it */
		fence_signal();
		vftr_segment_unmap_control(control);
	}
	vftr_process.parent_traced = vftr_process.pid;
	vftr_process.lost_early = 0;
	vftr_process.generation++;
	vftr_process.state = PROCESS_NEW;
	vftr_messages_follow();
	return parents;
}

void vftr_process_born(void)
{
	int saved_errno = errno, parents;

	vftr_process.parent_fork = 0; /* our parent has not announced us */
	parents = vftr_process_forget(vftr_thread.busy != 0);
	if (parents >= 0)
		sys_close(parents);
	errno = saved_errno;
}

void vftr_process_child_unlock(void)
{
	cancel_restore(cancel_state);
	pthread_sigmask(SIG_SETMASK, &signals, NULL);
}
