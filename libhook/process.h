/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of the process as a whole, and the functions that the slow-path files offer
 * each other. The slow path runs with vftr_thread.busy set, so no signal handler
 * of the same thread can come back in; other threads are held off by
 * vftr_process_lock(). Unless a comment says that a function keeps errno, it may change
 * it, and whoever comes from the program restores it. Nothing here changes the environment,
 * calls malloc() itself, or opens a file for writing (but switches/code.c /proc/self/mem,
 * to change code); agent/patience.c makes symbolic links, and sampler/ handles one signal.
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
	GPU_LOADED, /* the part for it is loaded, or could not be */
};

struct process {
	uint32_t state;	     /* enum process_state; read without the lock */
	uint32_t generation; /* number of forks and of changes of the agent so far: rings of an
				older generation are the parent's, or of the agent before */
	int socket;
	ino_t socket_inode; /* an application may close our descriptor and reuse it */
	int pid;
	int parent_traced;
	uint32_t forks; /* numbers them, for the agent */
	uint32_t parent_fork;
	bool drop_when_full; /* shm.when_full is drop, not block */
	bool clock_is_raw;
	uint32_t no_messages;	 /* the user wants no records of communication */
	uint32_t lengths_wanted; /* the length of each message of a collective call is wanted */
	bool begun_by_hook;	 /* the first event was of a function */
	bool call_sites;	 /* from where MPI functions are called is recorded */
	bool call_sites_auto;	 /* the user leaves that to us */
	uint32_t publish_forks;	 /* publish FORK before any record of its team */
	uint64_t lost_early;	 /* calls of signal handlers before there was a control page */
	uint32_t pauses; /* nesting of vftrace_pause(), all threads, and maybe PAUSED_BY_AGENT */
	uint64_t block_most_ns; /* longest wait without a sign of the agent; 0: not known yet */
	uint32_t last_words_ms; /* longest wait for MAY_END after BYE, or 0 */
	char session[128];	/* the one we are attached to; children of fork() follow */
	uint64_t ring_size;
	uint64_t modules_checked; /* ticks of the last look at the module list */
	uint64_t modules_wide;	  /* modules whose low halves overlap */
	uint32_t gpu;		  /* enum gpu_state */
	uint32_t gpu_wanted;
	uint32_t openacc_wanted;
	bool python_wanted; /* functions of Python are recorded, if their names match */
	const char *python_include, *python_exclude; /* regular expressions, or empty */
	uint32_t files_wanted;
	uint64_t memory_mean, memory_large; /* shm/memory.h; mean 0: memory is not recorded */
	uint32_t locks_wanted;
	uint32_t sleds_wanted;	  /* switches/sleds.h */
	uint32_t successor;	  /* enum wire_successor */
	uint32_t waits_for_agent; /* 1: the agent has gone, and another one may come */
	uint64_t agent_lost_ns;	  /* clock_raw_ns() when that was seen */
	uint64_t agent_looked;	  /* ticks of clock_counter() of the last look at the agent */
	int agent_pid;		  /* of the agent that has welcomed us; 0: not known */
	bool has_rank;		  /* MPI has told of itself */
	uint32_t switches;	  /* functions that are switched off (switches.h), at most */
	unsigned counter_words;	  /* of a COUNTERS record, 0: none are wanted */
	struct control_agent_shm *agent;
	struct control_app_shm *app;
};

#define PAUSED_BY_AGENT (1u << 31)

extern struct process vftr_process __attribute__((visibility("hidden")));

/* True if vftr_process is attached, and is that of this process, not a copy made by a fork. */
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
 * Brackets the slow path: in between, signal handlers record nothing. site: the return
 * address of the function that has called the hook, or NULL.
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

/* As busy_begin() and busy_end(), where the thread must not be cancelled, as the end of its
 * slow path would not be seen. */
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

/*
 * True while the slow path of this thread is interrupted by the caller, a signal handler. If a
 * handler has left the slow path by a jump, that is repaired first, as at the next event of a
 * function. Keeps errno.
 */
static inline bool thread_is_busy(const struct thread *t)
{
	if (__builtin_expect(t->busy && t->left, 0))
		vftr_slow(clock_counter(), 0, 0, NULL);
	return t->busy;
}
/* slow.c: an event that cannot be recorded, as its thread is busy. */
void vftr_nested(struct thread *t, uint64_t exit_bit);

/*
 * The lock also keeps the caller from being cancelled or interrupted while it is held. Whoever has
 * it must not take it again.
 */
void vftr_process_lock(void);
void vftr_process_unlock(void);
uint64_t vftr_process_ticks(void);

/* api/locks.c: the calling thread, for whose end others may wait, is about to end. */
void vftr_locks_thread_ends(void);

/*
 * say.c: "vftrace: WHAT: MORE; running untraced" on the standard error of the start, if that
 * is still there and takes it at once; more may be empty. Raises no signal. Keeps errno.
 */
void vftr_say(const char *what, const char *more);
/* What this errno means, in English. Unlike strerror() of glibc before 2.32 it takes no lock. */
const char *vftr_error_text(int error);
void vftr_say_late(uint32_t ms); /* the agent wrote nothing within ms */

/* agent/last-words.c: waits for MAY_END after BYE, if the agent asked for that. */
void vftr_last_words_wait(void);

/* attach.c: false if another copy of this library in the process gets the program's calls: then
 * this one records nothing. */
bool vftr_is_first_copy(void);
/* copies.c: true if the address is in a copy of this library. Asks the dynamic linker. */
bool vftr_is_of_a_copy(void *address);

/* attach.c: true if VFTR_OFF is set, or if VFTR_PROGRAMS does not name this program; both are read
 * before anything else. */
bool vftr_user_has_switched_off(void);
/*
 * Finds the agent and says hello; afterwards state is ON or OFF. by_hook: the first event of the
 * process is the call of an instrumented function.
 */
void vftr_process_attach(bool by_hook);
/* emit.c: vftr_messages_wanted() has changed, by state or no_messages. */
void vftr_messages_follow(void);
/* emit.c: chooses vftr_enter_call(). */
void vftr_call_sites_want(bool wanted);
/* The callers of MPI have frames of their own from now on, which was not known when the process
 * attached: then call sites are wanted no more, unless the user says so. */
void vftr_callers_are_seen(void);
/* switches/hooked-modules.c: true if a module of the program calls the hooks. */
bool vftr_modules_call_hooks(void);
/*
 * Gets a ring for the calling thread; afterwards its state is ACTIVE or OFF, or still NEW in a
 * child that a signal handler has forked meanwhile, which tries again at its next event.
 */
void vftr_thread_attach(struct thread *t);
/* The calling thread's last act: gives its ring to the agent; state NEW. */
void vftr_thread_detach(struct thread *t);
/* Records nothing from now on, as the agent is gone or useless. */
void vftr_process_switch_off(void);
/* The same, when the agent gave no sign for too long (patience.h); sends it GAVE_UP. Never
 * waits. */
void vftr_process_give_up(void);
/*
 * Attaches anew, by the connection fd, which is closed if that fails. The process had another
 * agent, which is gone: its rings are left (vftr_rings_are_left()) until their threads attach. With
 * the lock held.
 */
void vftr_process_go_over(int fd);
/* True if a signal that ends the program is pending; false unless the caller has the lock. */
bool vftr_process_is_to_end(void);
/* api/message.c: true if the agent is still at the other end of the socket. */
bool vftr_agent_alive(void);
/*
 * vftr_socket_is(): fd is still the socket that we opened. vftr_socket_answers(): its other end is
 * open.
 */
bool vftr_socket_is(int fd);
bool vftr_socket_answers(int fd);
/* Rings the agent's doorbell. Never blocks. */
void vftr_agent_kick(void);
/* Sets the gate (thread.h) by the state of the process. With the lock held. */
void vftr_process_gate(void);
/*
 * Child of fork(): forgets the parent's connection and rings. interrupted: called in a
 * signal handler that has interrupted the slow path, which will go on. Returns the
 * parent's socket, or -1; the caller closes it.
 */
int vftr_process_forget(bool interrupted);
/* Child of fork(): releases the lock that the parent had taken. */
void vftr_process_child_unlock(void);
/* The two above, for a child that was made without our fork handlers (own_pages, thread.h). */
void vftr_process_born(void);

/* unwound.c: before a jump. Keeps errno. */
void vftr_slow_path_jump(struct thread *t);
/* True if a jump has left the call that made t busy, seen from the slow path at stack address
 * `here`, called from site. */
bool vftr_slow_path_left(const struct thread *t, uintptr_t here, const void *site);
/* If vftr_slow_path_left(): makes t not busy any more. */
void vftr_slow_path_repair(struct thread *t);
/* Before an event, with t busy: forgets skipped frames that a jump has left. */
void vftr_skipped_forget(struct thread *t, uint64_t exit_bit, uint64_t key, const void *site);

/* vfork-child.c: children of vfork() begin, and cease, to use the calling thread's memory. */
void vftr_vfork_children_begin(void);
void vftr_vfork_children_end(void);
/* True if the caller is such a child. */
bool vftr_thread_is_vfork_child(const struct thread *t);

/*
 * rings.c: the rings that this process has mapped, by index. All with the lock held.
 * The ring of an ended thread is spare, and may be offered to the agent for the next
 * thread.
 */
/* 1 + index of a spare ring, which then is no longer spare, or 0. */
uint32_t vftr_rings_take_spare(void);
/*
 * The calling thread gets ring reply->index: the spare one if reply->uses is not 0, otherwise fd,
 * which is mapped and stays open. 0 or -errno.
 */
int vftr_rings_use(const struct wire_ring *reply, int fd, struct ring *ring);
/* For a thread that ends. keep: true if its ring will be kept as a spare one. leave: gives up
 * the ring, as keep said. */
bool vftr_rings_keep(uint32_t index);
void vftr_rings_leave(uint32_t index, bool keep);
/* Index of the ring of a living thread, or UINT32_MAX. */
uint32_t vftr_rings_of(uintptr_t pthread_self);
/* Child of fork(): unmaps and forgets all rings. */
void vftr_rings_forget(void);
/* The same, with private memory in place of the mapped rings, as interrupted code writes there. */
void vftr_rings_blank(void);
/*
 * The agent is another one: rings of living threads are left, which stay mapped as these may use
 * them; all indexes are free. vftr_rings_is_left(): the ring mapped at base is one, and not let go
 * yet.
 */
void vftr_rings_are_left(void);
bool vftr_rings_is_left(const void *base);
/* Another agent can read what is in the ring that is left: no calls of functions that were switched
 * off, which it counts by numbers of its own. */
bool vftr_rings_may_take(const void *base);
/* The same for the ring of thread tid, which ends while no agent is there: its ring is kept until
 * there is one, if there are not too many already. False: it is not. */
bool vftr_rings_leave_ended(uint32_t index, int32_t tid);
/* A ring of an ended thread that is left, and its thread; false: there is none. */
bool vftr_rings_next_ended(struct ring *ring, int32_t *tid);
/* The least of vftr_ring_unread_since() (successor.h) of all rings that are left. */
uint64_t vftr_rings_unread_since(void);
/* Unmaps the ring that is left at base, if there is one. */
void vftr_rings_let_go(const void *base);
/* The same, but what the thread that had it may be about to store harms nobody. */
void vftr_rings_blank_left(const void *base);
/* Ring `index' moves to the place of the one that is left at base, which is let go. *ring: the
 * ring, if it could be done. */
bool vftr_rings_put_in_place(uint32_t index, void *base, struct ring *ring);
/* The thread of the ring that is left at base, if there is one, has ended. */
void vftr_rings_end_left(const void *base, int32_t tid);

/* thread-start.c: the creator of a thread, and its name. vftr_thread_start_new(): NULL if there is
 * no room; then the thread starts without this. */
struct thread_start;
struct thread_start *vftr_thread_start_new(
	void *(*run)(void *), int (*run_c11)(void *), void *argument, size_t stack_bytes);
void vftr_thread_start_cancel(struct thread_start *s);
void *vftr_thread_start_posix(void *start);
int vftr_thread_start_c11(void *start);
/* The name of a thread has changed, successfully. */
void vftr_thread_named(uintptr_t pthread_self, const char *name);
#define THREAD_NAME_BYTES 16
void vftr_thread_own_name(char name[THREAD_NAME_BYTES]);

/*
 * api/message.c: one packet; 0 or -errno, -EBADF without a connection. Texts are NUL-terminated
 * strings, up to the first that is NULL. If the agent does not take it or answer in time, the
 * process has given up when they return. Sets head->text_bytes; head->ticks 0 becomes now.
 */
struct wire_text {
	const char *s[3];
};
int vftr_message_send(struct wire_head *head, size_t fixed, const struct wire_text *text);
/* The same with data behind the fixed part. */
int vftr_message_send_data(struct wire_head *head, size_t fixed, const void *data, size_t bytes);
/* Unless it returns -EBADF, *fd is a descriptor that the caller closes, or -1. -ECONNRESET: the
 * agent has ended. */
int vftr_message_receive(void *buffer, size_t bytes, int *fd, size_t *got);
/* The same on any socket, for attaching; -ETIMEDOUT when patience is over. head->ticks stays. */
int vftr_message_send_on(int fd, struct wire_head *head, size_t fixed, const struct wire_text *text,
	struct patience *patience);
int vftr_message_receive_on(
	int socket, void *buffer, size_t bytes, int *fd, size_t *got, struct patience *patience);
/* Sends a message without text, if there is room at once. */
void vftr_message_throw(int fd, enum wire_kind kind);

/* session/spawn.c: start an agent for this session; 0 or -errno; -ECANCELED: the agent
 * itself has said why it does not want to; -ENOEXEC: something else was started. */
int vftr_agent_spawn(const char *session);

/* probe.c: this is a program of a build system's own, for which no agent is started. */
bool vftr_is_probe(void);
/* probe.c: false if VFTR_PROGRAMS is set and none of its patterns, which commas separate, is that
 * of this program's name or of its file's. In patterns * is any text, ? any byte, [a-c] and [!a-c]
 * one byte, and a backslash takes the meaning of the next byte away. Takes no lock. */
bool vftr_is_wanted_program(void);

/* attach.c: the path of the program; without /proc the one by which it was called. */
void vftr_executable_path(char *out, size_t bytes);
/*
 * loader-lock.c: takes the lock of dl_iterate_phdr(); patiently: waits for it for 0.1 s at most.
 * True if the calling thread now has it, or if the lock is not known. False if another thread has
 * it, or this one had it before. The caller has blocked all signals, and gives it back.
 */
bool vftr_loader_lock_try(bool patiently);
void vftr_loader_lock_give(void);
/* In a child of fork(): if a thread of the parent had the lock, each later try returns false. */
void vftr_loader_lock_in_child(void);
/* dl_iterate_phdr() with the lock taken, patiently; 0 if it cannot be taken. */
struct dl_phdr_info;
int vftr_loader_walk(int (*see)(struct dl_phdr_info *, size_t, void *), void *context);
/* modules.c: tells the agent which modules were loaded and unloaded since the last call. Does
 * nothing if another thread is in it. */
void vftr_modules_refresh(void);
/*
 * The same; if another thread is in the function, runs again after it, as that thread may have
 * looked too early.
 */
void vftr_modules_refresh_surely(void);
/* vftr_modules_refresh(), unless the last look was less than a moment (modules.c) before `ticks';
 * does not wait for the loader's lock. */
void vftr_modules_refresh_rarely(uint64_t ticks);
/* All modules are to be told again: we are a child of fork(). */
void vftr_modules_forget(void);
/* The same, as the agent is another one, where other threads may be in vftr_modules_refresh*(). */
void vftr_modules_tell_again(void);
/*
 * Around fork(): waits for at most 0.1 s until no thread of this process is in
 * vftr_modules_refresh*(), and keeps all out until the release. False: a thread still is; then
 * there is nothing to release.
 */
bool vftr_modules_hold(void);
void vftr_modules_release(void);
/* Name and contents of the module with code at this address, hashed; 0: none. */
uint64_t vftr_module_identity(uint64_t address);

/*
 * sampler/: stack samples by timers, where the kernel gives the agent none (shm/stack-samples.h).
 * The lock is held in the first three. receive: takes the message SAMPLES, which WELCOME has
 * announced; 0 or -errno. An agent before may have sent one, too. forgo: there is none. begin: from
 * now on all threads are sampled; the process is attached. forget: for a child of fork(), which has
 * no timers, and the memory of its parent's samples.
 */
int vftr_sampler_receive(int socket, struct patience *patience);
void vftr_sampler_forgo(void);
void vftr_sampler_begin(void);
void vftr_sampler_forget(void);
/* Before the code of a plug-in is gone: takes back the timers and the handler; without the lock. */
void vftr_sampler_end(void);
/* The calling thread has begun, or is about to end; without the lock. */
void vftr_sampler_thread_begin(void);
void vftr_sampler_thread_end(void);
/* To be called in the first function of a new thread; bytes: of its stack. */
void vftr_thread_stack(size_t bytes);

/* api/annotation.c: sets which annotations are recorded; wanted: bits of enum annotation. */
void vftr_annotations_want(uint32_t wanted);

/* gpu.c, not in programs that are linked statically: call the first when CUDA was seen, the
 * second when the process ends. */
void vftr_gpu_load(void) __attribute__((weak));
void vftr_gpu_flush(void) __attribute__((weak));

/* generation.c: fork and exit handlers; once per process, again harmless. */
void vftr_generation_install(void);
/* Makes the end of the calling thread call vftr_thread_detach(). */
void vftr_thread_end_install(void);

/*
 * api/pause.c. vftr_pause_follow(): begins or ends the pause as the agent wants it; returns true if
 * the process is paused, by the agent or by itself. vftr_pause_attach(): the same at attaching,
 * with the lock held.
 */
bool vftr_pause_follow(void);
void vftr_pause_attach(void);
/* Of a record that is not stored as its thread is paused: true if it is wanted all the same, as it
 * completes a request that was posted before. */
bool vftr_pause_keeps(const uint64_t *word);

/*
 * api/region.c: begins (exit_bit 0) or ends the region with this name: the text up to its NUL, at
 * most `most` bytes; NULL is ignored. site: return address of the program's call, or NULL.
 */
void vftr_region_event(uint64_t exit_bit, const char *name, size_t most, const void *site);
/* The number of the region with this name, for good, in children of fork, too; false if there is no
 * memory for it, and in children of vfork() and handlers that have interrupted the slow path. */
bool vftr_region_number(const char *name, size_t most, uint64_t *number);
/* The region with this number begins or ends. site: the address that the call which it stands for
 * returns to, or NULL; at an exit it is not used. */
void vftr_region_numbered(uint64_t exit_bit, uint64_t number, const void *site);
/* A new number, for a region without a name. With the lock held. */
uint64_t vftr_region_next_number(void);
/* Sends all regions again, after fork; openmp/construct.c: those of OpenMP. */
void vftr_regions_announce(void);
void vftr_constructs_announce(void);
/* openmp/construct.c: forgets the constructs of a module that was unloaded. */
void vftr_constructs_unloaded(uint64_t low, uint64_t high, uint64_t module);
/* The same two for OpenACC (accelerator/openacc-sites.c), not in programs that are linked
 * statically. */
void vftr_openacc_announce(void) __attribute__((weak));
void vftr_openacc_unloaded(uint64_t low, uint64_t high) __attribute__((weak));
/*
 * python/, not in programs that are linked statically. vftr_python_is_here(): an interpreter in
 * this process will report its functions. vftr_python_thread_end(): the calling thread ends.
 */
bool vftr_python_is_here(void) __attribute__((weak));
void vftr_python_thread_end(void) __attribute__((weak));

/* slow.c: publish what the thread has stored so far, so that the agent sees it. */
void vftr_thread_publish(struct thread *t);

#pragma GCC visibility pop

#endif
