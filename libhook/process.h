/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the process as a whole keeps, and what the slow-path files offer each
 * other. Everything here runs with vftr_thread.busy set, so no signal handler
 * of the same thread can come back in; other threads are held off by
 * process_lock(). Nothing here allocates from the application's heap, opens a
 * file for writing, or changes errno, environment or signal handling.
 */
#ifndef VFTR_LIBHOOK_PROCESS_H
#define VFTR_LIBHOOK_PROCESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include "libhook/patience.h"
#include "libhook/thread.h"
#include "shm/wire.h"

enum process_state {
	PROCESS_NEW = 0, /* nothing happened yet */
	PROCESS_ON,
	PROCESS_OFF, /* for good: switched off, refused, or the agent is gone */
};

enum gpu_state {
	GPU_NONE = 0,
	GPU_SEEN,   /* CUDA is in the process */
	GPU_LOADED, /* and we know, or have tried */
};

struct process {
	uint32_t state; /* enum process_state; read without the lock */
	uint32_t life;	/* counts forks: rings of an older life are not ours */
	int socket;
	ino_t socket_inode; /* an application may close our descriptor and reuse it */
	int pid;
	int parent_traced;
	uint32_t forks; /* numbers them, for the agent */
	uint32_t parent_fork;
	bool drop_when_full;
	bool clock_is_raw;
	uint32_t no_messages;	 /* the user wants no records of communication */
	uint32_t lengths_wanted; /* of each message of a collective call */
	uint32_t publish_forks;	 /* a team is told of before its threads tell of it */
	uint64_t lost_early;	 /* calls of signal handlers before there was a control page */
	uint32_t pauses;	 /* nesting of vftrace_pause(), all threads */
	uint64_t block_most_ns;	 /* without a sign of the agent; 0: not known yet */
	uint32_t last_words_ms;	 /* to wait at the end: last-words.c; or 0 */
	char session[128];	 /* the one we are attached to; children of fork() follow */
	uint64_t ring_size;
	uint64_t modules_checked; /* ticks of the last look at the module list */
	uint64_t modules_wide;	  /* modules whose low halves overlap */
	uint32_t gpu;		  /* enum gpu_state */
	uint32_t gpu_wanted;
	uint32_t openacc_wanted;
	uint32_t switches;	/* functions that are switched off (switches.h), at most */
	unsigned counter_words; /* of a COUNTERS record, 0: none are wanted */
	struct control_agent_shm *agent;
	struct control_app_shm *app;
};

extern struct process vftr_process __attribute__((visibility("hidden")));

/* Is vftr_process attached, and are we it, rather than a copy that a fork has made? */
static inline bool process_is_on(void)
{
	return load_acquire(&vftr_process.state) == PROCESS_ON && load_relaxed(&vftr_own.here);
}

static inline int cancel_off(void)
{
	int old = PTHREAD_CANCEL_ENABLE;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
	return old;
}

static inline void cancel_restore(int old)
{
	pthread_setcancelstate(old, NULL);
}

/*
 * The slow path and all that a signal handler must not do in between; site: the
 * return address of the function that has called the hook, or NULL.
 */
#define CANCEL_UNTOUCHED (-1)
static inline __attribute__((always_inline)) void busy_begin_at(struct thread *t, const void *site)
{
	uintptr_t here = (uintptr_t)__builtin_dwarf_cfa();

	if (!t->busy) {
		t->left = 0;
		t->cancel = CANCEL_UNTOUCHED;
		t->busy_return = 0;
		t->busy_site = site;
		t->busy_at = here;
		fence_signal();
	}
	t->busy++;
	fence_signal();
	if (t->busy == 1) { /* a handler may have come before we were busy */
		t->busy_site = site;
		t->busy_at = here;
	}
}

static inline __attribute__((always_inline)) void busy_begin(struct thread *t)
{
	busy_begin_at(t, NULL);
}

static inline __attribute__((always_inline)) void busy_end(struct thread *t)
{
	fence_signal();
	t->busy--;
}

/* The same for what a thread must not be cancelled in: nobody would see its end. */
static inline __attribute__((always_inline)) void busy_begin_surely(
	struct thread *t, const void *site)
{
	busy_begin_at(t, site);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &t->cancel);
}

static inline __attribute__((always_inline)) void busy_end_surely(struct thread *t)
{
	fence_signal();
	t->left = 1; /* by its end, if it is cancelled at once */
	fence_signal();
	pthread_setcancelstate(t->cancel, NULL);
	busy_end(t);
}

#pragma GCC visibility push(hidden)

/* The lock also keeps the caller from being cancelled or interrupted while it is held. */
void process_lock(void);
void process_unlock(void);
uint64_t process_ticks(void);

/*
 * say.c: "vftrace: WHAT: MORE; running untraced" on the standard error of the start, if that
 * is still there and takes it at once; more may be empty. Raises no signal. Keeps errno.
 */
void say(const char *what, const char *more);
void say_late(uint32_t ms); /* the agent, with what it has to write at the end */

/* last-words.c: after BYE. */
void last_words_wait(void);

/* attach.c: by VFTR_OFF, which is looked at before anything else. */
bool user_has_switched_off(void);
/* find the agent and say hello; afterwards state is ON or OFF. */
void process_attach(void);
/* A ring for the calling thread; state ACTIVE or OFF. */
void thread_attach(struct thread *t);
/* Its ring becomes the agent's; state NEW. Its last act. */
void thread_detach(struct thread *t);
/* The agent is gone or useless: record nothing from now on. */
void process_switch_off(void);
/* It has not given a sign for too long (patience.h): the same, and it will know. Never waits. */
void process_give_up(void);
/* The caller has the lock, and a signal waits that asks the program to end. */
bool process_is_to_end(void);
/* Is the agent still at the other end? */
bool agent_alive(void);
/* Is the descriptor still the socket that we opened, and is the other end open? */
bool socket_is(int fd);
bool socket_answers(int fd);
/* Ring the agent's doorbell. Never blocks. */
void agent_kick(void);
/* Sets the gate by what the process is doing. With the lock held. */
void process_gate(void);
/*
 * Child of fork(): forget the parent's connection and rings. interrupted: in a
 * signal handler that has interrupted the slow path, which will go on. The
 * parent's socket, or -1; the caller closes it.
 */
int process_forget(bool interrupted);
/* ... and let go of the lock that the parent had taken. */
void process_child_unlock(void);
/* The same for a child that no handler has told us of (own_pages, thread.h). */
void process_born(void);

/* left.c: before a jump. Keeps errno. */
void slow_path_jump(struct thread *t);
/* Has one left what makes t busy, if `here` is where the slow path is now, and site its caller's?
 */
bool slow_path_left(const struct thread *t, uintptr_t here, const void *site);
/* It has: t is not busy any more. */
void slow_path_repair(struct thread *t);
/* Before an event of t that is busy for it: does not count skipped frames that a jump has left. */
void skipped_forget(struct thread *t, uint64_t exit_bit, uint64_t key, const void *site);

/* guest.c: others begin and cease to use the memory of the calling thread. */
void guests_begin(void);
void guests_end(void);
/* Is the caller one of them? */
bool thread_is_guest(const struct thread *t);

/*
 * rings.c: what this process has mapped, by index. All with the lock held.
 * What an ended thread leaves is spare, and may be offered to the agent for the
 * next one.
 */
/* 1 + index of a spare ring, which then is no longer spare, or 0. */
uint32_t rings_take_spare(void);
/* Maps fd (or takes spare ring `index` if fd < 0) for the calling thread. 0 or -errno. */
int rings_use(const struct wire_ring *reply, int fd, struct ring *ring);
/* The thread has ended. Whether its ring will be kept: */
bool rings_keep(uint32_t index);
void rings_leave(uint32_t index, bool keep);
/* Index of the ring of a living thread, or UINT32_MAX. */
uint32_t rings_of(uintptr_t pthread_self);
/* Child of fork(): none of them is ours; private memory instead of all that are mapped. */
void rings_forget(void);
void rings_blank(void);

/* thread-start.c: who created a thread; and its name. */
struct thread_start;
struct thread_start *thread_start_new(void *(*run)(void *), int (*run_c11)(void *), void *argument);
void thread_start_cancel(struct thread_start *s);
void *thread_start_posix(void *start);
int thread_start_c11(void *start);
/* The name of a thread has changed, successfully. */
void thread_named(uintptr_t pthread_self, const char *name);
#define THREAD_NAME_BYTES 16
void thread_own_name(char name[THREAD_NAME_BYTES]);

/*
 * message.c: one packet; 0 or -errno. Texts are NUL-terminated strings. If the agent
 * does not take it or answer in time, the process has given up when they return.
 */
struct wire_text {
	const char *s[3];
};
int message_send(struct wire_head *head, size_t fixed, const struct wire_text *text);
/* The same with data behind the fixed part. */
int message_send_data(struct wire_head *head, size_t fixed, const void *data, size_t bytes);
int message_receive(void *buffer, size_t bytes, int *fd, size_t *got);
/* The same on any socket, with -ETIMEDOUT; for attaching. */
int message_send_on(int fd, struct wire_head *head, size_t fixed, const struct wire_text *text,
	struct patience *patience);
int message_receive_on(int socket, void *buffer, size_t bytes, int *fd, size_t *got,
	struct patience *patience);
/* One without text, if there is room at once. */
void message_throw(int fd, enum wire_kind kind);

/* spawn.c: start an agent for this session; 0 or -errno; -ECANCELED: the agent
 * itself has said why it does not want to; -ENOEXEC: something else was started. */
int agent_spawn(const char *session);

/* attach.c: where the program is; without /proc as it was called, from here. */
void executable_path(char *out, size_t bytes);
/* modules.c: tell the agent what was loaded and unloaded since the last look. */
void modules_refresh(void);
/* ... also if another thread is looking now, and may have begun before. */
void modules_refresh_surely(void);
/* ... unless somebody looked a moment ago. */
void modules_refresh_rarely(uint64_t ticks);
void modules_forget(void);
/* Name and contents of the module with code at this address, hashed; 0: none. */
uint64_t module_identity(uint64_t address);

/* gpu.c, not in programs that are linked statically: CUDA was seen; the process ends. */
void gpu_load(void) __attribute__((weak));
void gpu_flush(void) __attribute__((weak));

/* life.c: fork and exit handlers; once per process, again harmless. */
void life_install(void);
/* Have the end of the calling thread told to the agent. */
void thread_end_install(void);

/*
 * region.c: begin (exit_bit 0) or end of the region that is named by the text
 * up to a NUL, at most `most` bytes; NULL is ignored. site: the caller's place.
 */
void region_event(uint64_t exit_bit, const char *name, size_t most, const void *site);
/* For a region without a name; with the lock held. */
uint64_t region_next_number(void);
/* All regions again, after fork; construct.c: those of OpenMP. */
void regions_announce(void);
void constructs_announce(void);
/* Those of code that is not there any more, of the module with this identity. */
void constructs_unloaded(uint64_t low, uint64_t high, uint64_t module);
/* The same two for OpenACC (openacc-sites.c), not in programs that are linked statically. */
void openacc_announce(void) __attribute__((weak));
void openacc_unloaded(uint64_t low, uint64_t high) __attribute__((weak));

/* slow.c: publish what the thread has stored so far, so that the agent sees it. */
void thread_publish(struct thread *t);

#pragma GCC visibility pop

#endif
