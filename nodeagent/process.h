/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One traced process, from HELLO to its end: its socket, its code map, its
 * region names, its threads' rings. Everything that comes from the process is
 * checked; a process that breaks a rule is quarantined: its messages and rings
 * are no longer read, and what it gave until then is kept.
 */
#ifndef VFTR_NODEAGENT_PROCESS_H
#define VFTR_NODEAGENT_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include "nodeagent/codemap.h"
#include "nodeagent/profile.h"
#include "nodeagent/replay.h"
#include "shm/segment.h"
#include "shm/wire.h"

struct agent;
struct budget_process;
struct gpu;
struct match_process;
struct process;
struct sampling_process;
struct session_process;
struct traffic;
struct traffic_lane;
struct user_counters;

struct thread_ring {
	struct process *process;
	struct ring ring;
	struct replay *replay;
	struct traffic_lane *lane;
	uint64_t tail;	      /* our own copy of the consumer's position */
	uint64_t head;	      /* what it had published when a round of reading began */
	uint32_t epoch;	      /* of the code map, up to here */
	uint64_t placed_tail; /* tail when the agent last chose its CPU */
	uint64_t start_ticks;
	uint64_t blocked_ns; /* of one that has ended */
	int tid;
	uint32_t number, parent; /* of the thread; of its creator, or PROFILE_NONE */
	char name[16];
	bool named;		  /* by the user, who knows better than the system */
	uint64_t lost_seen;	  /* calls and messages lost, as told to the matcher */
	bool error;		  /* quarantined */
	struct thread_ring *next; /* in process.unsettled */
};

struct ring_slot;
struct thread_past;
struct thread_ranges;

struct process {
	struct agent *agent;
	int socket; /* -1 once hung up */
	int pidfd;  /* -1 if there is none */
	int pid, parent_pid, parent_traced;
	uint64_t program;	  /* that it ran when it connected, procfs_program() */
	int rank, size;		  /* from MPI, in the main job, or WIRE_UNKNOWN */
	int job_rank;		  /* from MPI, in its own job */
	uint64_t job;		  /* valid if job_rank is */
	bool main_job;		  /* it is in the job whose ranks the outputs number */
	int rank_hint, size_hint; /* from the launcher's environment */
	char *executable, *invoked_as, *directory;
	struct control_agent_shm *control;
	const struct control_app_shm *control_app;
	uint64_t definitions; /* messages received */
	struct codemap *code;
	struct region **regions; /* regions.c: in chunks */
	size_t n_regions, cap_regions, region_bytes;
	struct thread_ring **threads; /* by ring index; NULL: ended and added to past */
	size_t n_threads, cap_threads;
	uint32_t threads_ever;	 /* number of the next thread */
	struct ring_slot *slots; /* threads.c: rings that wait for their next thread */
	size_t cap_slots;
	uint32_t free_slot;		      /* 1 + index of one without a ring, or 0 */
	uint64_t ring_bytes, ring_bytes_most; /* of its rings, now and at one time */
	uint32_t untraced_threads;	      /* there was no memory for a ring */
	struct thread_past *each;	      /* ended threads one by one, if they are wanted */
	size_t n_each, cap_each, each_nodes;
	struct thread_ranges *ranges;  /* threads-past.h; NULL: none */
	struct openmp *openmp;	       /* or NULL: no thread yet */
	struct thread_ring *unsettled; /* ended, but parts in OpenMP teams have no place yet */
	size_t n_unsettled;
	struct gpu *gpu;
	struct user_counters *user_counters; /* or NULL: it has defined none */
	struct traffic *traffic;
	struct match_process *match;	     /* or NULL */
	uint64_t match_place;		     /* valid if it had one */
	struct match_process *session_match; /* of an MPI process in a session, or NULL */
	uint64_t session_place;		     /* ... or 0 */
	struct sampling_process *sampled;    /* or NULL */
	struct session_process *session;     /* sessions.c; or NULL */
	struct calltree *past;		     /* of threads that ended */
	struct fork_frames *forks;	     /* forks.c */
	uint32_t parent_fork;
	struct replay_counts past_counts;
	struct budget_process *budget; /* or NULL */
	uint64_t past_lost, past_blocked_ns, past_lost_messages;
	uint64_t connected_ticks; /* a child of fork() connects before it attaches */
	uint64_t start_ticks, end_ticks;
	uint64_t end_late_ns;	/* its end may have been so much earlier */
	int64_t start_s, end_s; /* UNIX time */
	enum process_end end;
	int exit_status; /* exit code or signal, -1 unknown */
	bool greeted, said_bye, ended;
	bool was_task, held;	    /* last-words.h */
	bool lost;		    /* it gave up before it was attached, and is in no sum */
	bool turned_away;	    /* it has sent more with its HELLO, which does not count */
	char *quarantined;	    /* why, or NULL */
	struct process *next, **at; /* in agent.processes: and what points here */
	struct process *next_live;  /* in agent.live, then in process_past */
	struct process *next_caller, *prev_caller; /* in agent.callers, until HELLO */
	uint64_t connected_raw_ns;
	bool awaited;		  /* callers.c: the child of a process that is traced */
	struct process *namesake; /* pids.h: an older one with this pid */
};

/* A connection was accepted. Owned by callers.c, and from HELLO on by the agent's lists. */
struct process *process_new(struct agent *a, int socket, int pid);
/* Of a caller: its connection is closed; to be freed by callers_sweep(). */
void process_drop(struct process *p);
/* It has said HELLO: it is in agent.processes until it is freed, and among the living. */
void process_enlist(struct process *p);
void process_free(struct process *p);

/* process-messages.c: reads what is on the socket. False: the other side hung up. */
bool process_receive(struct process *p);
/* Reads until nothing is there. False: there was more, and the others are due. */
bool process_receive_all(struct process *p);

/* The socket hung up, or the pidfd fired: is this the end? */
void process_hung_up(struct process *p);
/* Takes everything that is left and closes the books. */
void process_finish(struct process *p, enum process_end how);

void process_quarantine(struct process *p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * process-mpi.c: messages about MPI, and who waits for whom. process_define()
 * takes COMM, WINDOW, FILE, NAME and GONE; `data` is what follows the fixed part.
 */
void process_set_rank(struct process *p, const struct wire_rank *m);
void process_define(struct process *p, const struct wire_head *m, const void *data);
/* A process came, told its rank, or ended: the agent's sync is told. */
void process_members_changed(struct agent *a);
/* What limits its communication has reached, as warnings. */
void process_warn_limits(const struct process *p);
/* process-lost.c: it says that it goes on untraced; it did so, when its books are closed. */
void process_gave_up(struct process *p);
void process_warn_gave_up(const struct process *p);
/* It has loaded an MPI, and a library of ours that knows none. */
void process_warn_unseen(const struct process *p);

/* Answers on the socket, with a descriptor if fd >= 0. text may be NULL. */
bool process_answer(struct process *p, struct wire_head *m, size_t fixed, const char *text, int fd);

/* It has connected, as the child of a fork does, and may say HELLO yet. */
static inline bool process_is_expected(const struct process *p)
{
	return !p->greeted && !p->ended;
}

/* Those that have ended leave the living. */
void processes_sweep(struct agent *a);

/* Totals over living and ended threads. */
struct replay_counts process_counts(const struct process *p);

/* "rank 3 (pid 123)" or "process 123"; valid until the next call. */
const char *process_name(const struct process *p);

#endif
