/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One traced process, from HELLO to its end: its socket, its code map, its
 * region names, its threads' rings. Everything that comes from the process is
 * checked; a process that breaks a rule is quarantined: its messages and rings
 * are no longer read, and what it gave until then is kept.
 */
#ifndef VFTR_NODEAGENT_PROCESS_PROCESS_H
#define VFTR_NODEAGENT_PROCESS_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include "nodeagent/base/rank.h"
#include "nodeagent/process/codemap.h"
#include "nodeagent/process/cpu/off-clock.h"
#include "nodeagent/process/procfs.h"
#include "nodeagent/process/rings.h"
#include "nodeagent/replay/replay.h"
#include "nodeagent/replay/window.h"
#include "shm/segment.h"
#include "shm/wire.h"

struct host;
struct filter_process;
struct forks;
struct overhead_process;
struct gpu;
struct match_process;
struct process;
struct recorder_process;
struct session_process;
struct traffic;
struct traffic_track;
struct files;
struct memory;
struct lock_uses;
struct user_counters;

struct thread_ring {
	struct process *process;
	struct ring ring;
	struct replay *replay;
	struct traffic_track *track;
	uint64_t tail;	      /* our own copy of the consumer's position */
	uint64_t head;	      /* published position when this round over the rings began */
	uint32_t epoch;	      /* of the code map at the last record */
	uint16_t taken;	      /* words of the block at tail that have been read */
	bool stopped;	      /* drain_own() has come to a word that is not for it */
	uint8_t vain;	      /* successive calls of drain_own() that have read no block */
	uint64_t piece_end;   /* position up to which it may read for now, ... */
	uint64_t piece_ticks; /* ... and ticks where that began */
	uint64_t placed_tail; /* tail when the agent last chose its CPU */
	uint64_t start_ticks;
	uint64_t blocked_ns; /* waits for room, of a thread that has ended */
	uint64_t cpu_ticks;  /* CPU time of a thread that is seen from outside and has ended */
	int tid;
	uint32_t number, parent; /* of the thread; of its creator, or PROFILE_NONE */
	char name[16];
	bool named;		  /* by the user, whose name wins over the system's */
	uint64_t lost_seen;	  /* lost calls and messages that the matcher knows of */
	bool error;		  /* quarantined */
	struct thread_ring *next; /* in process.unsettled */
};

struct ring_slot;
struct ended_thread;
struct thread_ranges;

struct process {
	struct host *host;
	int socket; /* -1 once hung up */
	int pidfd;  /* -1 if there is none */
	int pid, parent_pid, parent_traced;
	uint64_t began;		  /* procfs_began() when it connected, if it has no pidfd */
	uint64_t program;	  /* procfs_program() when it connected */
	int rank, size;		  /* from MPI, in the main job, or WIRE_UNKNOWN */
	int job_rank;		  /* from MPI, in its own job */
	uint64_t job;		  /* valid if job_rank is */
	bool spawned;		  /* by MPI_Comm_spawn */
	int job_size;		  /* ranks of its job; 0: not known */
	bool main_job;		  /* it is in the job whose ranks are shown in the outputs */
	int rank_hint, size_hint; /* from the launcher's environment */
	char *executable, *invoked_as, *directory;
	/* its control segment; control is NULL before HELLO and when the segment is given on */
	struct stored_control stored_control;
	struct control_agent_shm *control;	   /* the agent's page of it */
	const struct control_app_shm *control_app; /* the application's, or control_left */
	struct control_app_shm *control_left;	   /* copy, when the segment is given on; or NULL */
	uint64_t definitions;			   /* messages received */
	struct codemap *code;
	struct region **regions; /* regions.c: in chunks */
	size_t n_regions, cap_regions, region_bytes;
	struct thread_ring **threads; /* by ring index; NULL: ended and added to ended_tree */
	size_t n_threads, cap_threads;
	uint32_t threads_ever;	 /* number of the next thread */
	struct ring_slot *slots; /* threads.c: rings that wait for their next thread */
	size_t cap_slots;
	uint32_t free_slot;		      /* 1 + index of one without a ring, or 0 */
	uint64_t ring_bytes, ring_bytes_most; /* of its rings, now and at one time */
	uint32_t untraced_threads;	      /* for lack of memory for a ring */
	struct ended_thread *ended_threads;   /* ended threads one by one, if they are wanted */
	size_t n_ended_threads, cap_ended_threads, each_nodes;
	struct thread_ranges *ranges;  /* threads-ended.h; NULL: none */
	struct time_window window;     /* of all threads that have ended */
	struct openmp *openmp;	       /* or NULL: no thread yet */
	struct locks *locks;	       /* the same */
	struct thread_ring *unsettled; /* ended, but parts in OpenMP teams have no place yet */
	size_t n_unsettled;
	struct gpu *gpu;
	struct user_counters *user_counters; /* or NULL: it has defined none */
	struct files *files;		     /* or NULL: they are not recorded */
	struct memory *memory;		     /* the same */
	struct lock_uses *lock_uses;	     /* the same, of those of the C library */
	struct traffic *traffic;
	struct match_process *match;	     /* or NULL */
	uint64_t proc_id;		     /* valid if it had one */
	struct match_process *session_match; /* of an MPI process in a session, or NULL */
	uint64_t session_proc_id;	     /* its id there, or 0 */
	struct recorder_process *sampled;    /* or NULL */
	struct stack_process *stack;	     /* or NULL; stack/stack.h */
	struct session_process *session;     /* session/session.c; or NULL */
	struct calltree *ended_tree;	     /* of threads that ended */
	struct forks *forks;		     /* forks.h; NULL: none yet */
	uint32_t parent_fork;
	struct replay_counts ended_counts;
	struct overhead_process *overhead; /* or NULL */
	struct filter_process *filtered;   /* filter/filter.h; or NULL */
	uint64_t ended_lost, ended_blocked_ns, ended_lost_messages;
	uint64_t connected_ticks; /* a child of fork() connects before it attaches */
	uint64_t start_ticks, end_ticks;
	uint64_t end_late_ns;	/* its end may have been so much earlier */
	int64_t start_s, end_s; /* UNIX time */
	enum process_end end;
	struct cpu_used cpu_before, cpu; /* when it connected; last known */
	struct off_clock off_cpu;	 /* of its first thread */
	int exit_status;		 /* exit code or signal, -1 unknown */
	struct {
		uint64_t bytes, period_ns;
		int fd;
	} samples;	       /* for SAMPLES; bytes 0: it is to take none; stack/timers.h */
	bool uninstrumented;   /* preloaded, and nothing in it called the hooks when it came */
	bool outside;	       /* attach/attach.h: it has no socket, and its threads no rings */
	bool other_program;    /* of these: it has called execve() */
	uint64_t program_seen; /* of these, at the last look */
	bool greeted, said_bye, ended;
	bool was_task, held, aborts; /* last-words.h */
	bool lost;		     /* it gave up before it was attached, and is in no sum */
	bool turned_away;	     /* refused: messages after its HELLO are ignored */
	char *quarantined;	     /* why, or NULL */
	struct process *next, **at;  /* in host.processes; the pointer to this one */
	struct process *next_live;   /* in host.live, then in ended_process */
	bool read_no_more;	     /* drain_host() */
	struct process *next_caller, *prev_caller; /* in host.callers, until HELLO */
	uint64_t connected_raw_ns;
	uint64_t deaf_seen;	  /* raw ns of the last look, without our socket; 0: it has that */
	uint64_t missed_before;	  /* callers.c: until it connected */
	bool awaited;		  /* callers.c: the child of a process that is traced */
	struct process *namesake; /* pids.h: an older one with this pid */
};

/* For an accepted connection. Owned by callers.c, from HELLO on by host.processes. */
struct process *process_new(struct host *host, int socket, int pid);
/* Closes the connection of a caller; callers_sweep() frees it. */
void process_drop(struct process *p);
/* After HELLO: puts p into host.processes, until it is freed, and into host.live. */
void process_enlist(struct process *p);
void process_free(struct process *p);

/* Keeps the CPU time of the process, if it is more than before. */
void process_has_had(struct process *p, struct cpu_used used);

/* messages.c: reads what is on the socket, for a turn. False: the other side hung up. */
bool process_receive(struct process *p);
/* Reads until the socket is empty or the other side hangs up, for some turns. False: there is more,
 * but other processes are due. */
bool process_receive_all(struct process *p);
/* For a process that has ended: reads all that it has left on the socket. */
void process_receive_last(struct process *p);

/* life.c: the socket hung up, or the pidfd fired: finds out whether the process has ended. */
void process_hung_up(struct process *p);
/* Reads everything that is left and ends the process's profile. */
void process_finish(struct process *p, enum process_end how);

void process_quarantine(struct process *p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* mpi.c: takes the rank of a process. */
void process_set_rank(struct process *p, const struct wire_rank *m);
/* To be called when a process has made a communicator by MPI_Comm_spawn. */
void process_has_spawned(struct process *p);
/* Makes host->sync, unless it is there, or nothing is to be compared. By process_new(), and by who
 * hears earlier of processes on other nodes. */
void process_begin_comparing(struct host *host);
/* Updates host->sync after a process came, got a rank, or ended. */
void process_members_changed(struct host *host);
/* Warns of limits that its communication has reached. */
void process_warn_limits(const struct process *p);
/* lost.c: takes GAVE_UP; warns at the end of a process that gave up. */
void process_gave_up(struct process *p);
void process_warn_gave_up(const struct process *p);
/* mpi.c: warns of a process with an MPI and our library without MPI. */
void process_warn_unseen(const struct process *p);

/* messages.c: answers on the socket, with a descriptor if fd >= 0. text may be NULL. */
bool process_answer(struct process *p, struct wire_head *m, size_t fixed, const char *text, int fd);

/* True if p has connected, as the child of a fork does, and may still say HELLO. */
static inline bool process_is_expected(const struct process *p)
{
	return !p->greeted && !p->ended;
}

/* life.c: finds out whether processes that have closed our socket run another program or, without
 * a pidfd, have ended. Returns seconds until the next call. */
double processes_deaf_tick(struct host *host);
/* life.c: takes ended processes out of host.live. */
void processes_sweep(struct host *host);

/* Totals over living and ended threads. */
struct replay_counts process_counts(const struct process *p);

/* "rank 3 (pid 123)" or "process 123"; valid until the next call. */
const char *process_name(const struct process *p);

#endif
