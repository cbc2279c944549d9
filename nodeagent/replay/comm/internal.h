/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations for the files of this folder only. */
#ifndef VFTR_NODEAGENT_REPLAY_COMM_INTERNAL_H
#define VFTR_NODEAGENT_REPLAY_COMM_INTERNAL_H

#include "nodeagent/base/map.h"
#include "nodeagent/base/rank.h"
#include "nodeagent/match/probes.h"
#include "nodeagent/replay/comm/share.h"
#include "nodeagent/replay/comm/listener.h"
#include "nodeagent/replay/comm/comm.h"
#include "nodeagent/replay/jobs/spawns.h"
#include "nodeagent/replay/tree/activity.h"
#include "shm/message.h"

/* In the id of a function: its form with large counts (MPI_Send_c). */
#define LARGE_COUNT 1u

#define NO_SUMS UINT32_MAX

enum traffic_limit {
	LIMIT_COMMS,
	LIMIT_NEIGHBOURS,
	LIMIT_PERSISTENT,
	LIMIT_LENGTHS,
	LIMIT_GONE,
	LIMIT_REQUESTS,
	LIMIT_EARLY,
	LIMIT_PEERS,
	LIMIT_COMM_SUMS,
	LIMIT_FILE_SUMS,
	LIMIT_ORDER,
	LIMIT_THREADS,
	LIMITS
};

/* ---- communicators, windows, files: communicators.c ----------------------- */

struct run {
	int32_t first, stride;
	uint32_t before; /* members of the runs before */
};

struct comm {
	uint64_t id, port; /* as in struct wire_comm */
	uint32_t number, kind, size, remote_size;
	uint32_t rank;		  /* of the process in it */
	uint32_t members;	  /* that runs[] give */
	uint32_t refs;		  /* its number, windows, open requests, messages in open frames */
	uint32_t sums;		  /* index into sums.comms, or NO_SUMS */
	uint32_t local, local_of; /* members on this node, as counted by sync.c ... */
	uint32_t local_most;	  /* ... the most at a time, ... */
	bool is_local;		  /* ... and whether the process is one */
	uint32_t arrives_next;	  /* at collective calls that are compared: the ticket after the
				     greatest so far */
	uint32_t plain_of; /* while sync.c counts local_of as this, sync-plain.c takes its calls */
	uint32_t called;   /* the ticket after that of the last collective call read; 0: none */
	uint64_t left;	   /* when it has left the last of these, or of those on windows of
			      it; 0: none */
	uint32_t windows;  /* made on it */
	uint32_t parent;   /* number of the communicator it was made from, or 0 */
	uint32_t told;	   /* its number in the listener, or 0 */
	bool joins;	   /* ranks of two jobs may be in it: spawned.c */
	bool link_told;	   /* to the listener */
	bool awaits_root;  /* spawns_await_port() was called */
	uint64_t job;	   /* that its members are ranks of; 0: the process's own */
	char *name;
	struct run *runs;
	size_t n_runs, cap_runs;
	struct topology *topology; /* neighbours.h, or NULL */
	struct shares *shares;	   /* share.h, or NULL */
	struct spawned *spawned;   /* spawned.c, or NULL */
	/* spawned.c: what it was made from, held until all its members are known, or NULL; what led
	 * from one job to the other, held, or NULL; and in which ways it was made from that */
	struct comm *source, *origin;
	uint64_t way;
	struct sampled_comm *sampled; /* ../sampling/sampling.h, or NULL */
};

/* A number for the group of a communicator between two jobs that the process is in; 0: not known.
 */
uint32_t spawned_side(const struct comm *c);
/* True if ranks of both jobs are known to be in one group of an intercommunicator. */
bool spawned_is_mixed(const struct comm *c);
static inline bool has_spawned_side(const struct comm *c)
{
	return c->spawned && spawned_side(c);
}

/* Ranks that records may name: of the remote group, if there is one. */
static inline uint32_t comm_ranks(const struct comm *c)
{
	return c->remote_size ? c->remote_size : c->size;
}

/* Number of all members, of both groups. */
static inline uint32_t comm_all(const struct comm *c)
{
	return c->remote_size + c->size;
}

/*
 * True if agents compare the collective calls of c at the end, as members of it are on other nodes.
 * Of an intercommunicator only if it is known to lead to a spawned job, and each group has ranks of
 * one job, as agents tell groups by these; of others only the members on this node are compared.
 * Members that have ended count as members of this node.
 */
static inline bool has_members_elsewhere(const struct comm *c)
{
	return c->local_most < comm_all(c) &&
	       (!c->remote_size || (has_spawned_side(c) && !spawned_is_mixed(c)));
}

/*
 * World rank of a member, or PROFILE_ELSEWHERE; rank < comm_ranks(c), or c NULL. A member of the
 * own group of an intercommunicator is asked for as rank + remote_size.
 */
uint32_t comm_world_of_runs(const struct comm *c, uint32_t rank);
static inline uint32_t comm_world(const struct comm *c, uint32_t rank)
{
	const struct run *r = c && c->n_runs == 1 ? c->runs : NULL;

	return r && r->stride == 1 ? (uint32_t)r->first + rank : comm_world_of_runs(c, rank);
}
/* The same if c is of the process's own job, else PROFILE_ELSEWHERE. */
static inline uint32_t comm_peer(const struct comm *c, uint32_t rank)
{
	return c && c->job ? PROFILE_ELSEWHERE : comm_world(c, rank);
}
bool comm_has_world(const struct comm *c, uint32_t world);

/*
 * Find the object that a record's number names. NULL, or an error. *c is NULL for number 0
 * and for objects that are no longer, or were never, kept.
 */
const char *find_comm(struct traffic *t, uint32_t number, struct comm **c);
const char *find_window(struct traffic *t, uint32_t number, struct comm **c);
/* The identity of a window that find_window() has found, equal on all ranks: it follows from that
 * of its communicator and from how many were made on that before. */
uint64_t window_id(const struct traffic *t, uint32_t number);
/* *sums is NO_SUMS where *c would be NULL. */
const char *find_file(struct traffic *t, uint32_t number, uint32_t *sums);

static inline struct comm *comm_hold(struct comm *c)
{
	if (c)
		c->refs++;
	return c;
}
/* To be called when nobody holds c. */
void comm_free(struct traffic *t, struct comm *c);
static inline void comm_drop(struct traffic *t, struct comm *c)
{
	if (c && !--c->refs)
		comm_free(t, c);
}
void comms_free(struct traffic *t);

/* Live numbers of one kind of object. */
struct numbers {
	struct map32 live; /* number -> index into slots[], or into sums.files */
	uint32_t highest;
};

struct gone {
	uint64_t ticks;
	uint32_t object, number;
};

/* ---- requests: requests.c ----------------------------------------- */

/* A record that waits for the end of its frame. */
struct pending {
	/* EPOCH: bytes is the window's identity; offset: ticks, as in struct vfd_message, of a send
	 * in partitions and of the receive of a message that was probed */
	struct message m;
	struct comm *comm; /* held; of a window for RMA and EPOCH */
	struct node *node;
	uint64_t since;
	uint64_t depth;
	uint32_t level;
	uint32_t stack; /* of struct traffic_frame */
	bool timed, entered;
	struct share share; /* COLLECTIVE: what of it counts */
};

struct request {
	struct pending of;	     /* what posted it */
	struct traffic_track *track; /* NULL: it has ended */
	uint32_t thread;	     /* its number */
	bool probed;		     /* MATCHED: the record of the probe was read */
	bool taken;		     /* it is more than a probe */
	uint32_t next_free;
};

/* A DONE, and the call and thread that learnt of it. */
struct completion {
	struct message m;
	uint64_t since, ticks;
	uint32_t thread, path;
	bool in_pause;
};

struct early {
	struct completion c; /* kind POST: the record of a probe that no longer counts */
	uint32_t next_free;
};

struct requests {
	struct map32 open, early; /* number -> index into ... */
	struct request *at;
	struct early *early_at;
	size_t n, cap, n_early, cap_early;
	uint32_t free_at, free_early; /* first of the unused ones */
	size_t hand;		      /* where early ones are given up next */
	uint64_t forgotten;
};

/* Results as of traffic_left(). */
const char *request_post(struct traffic_track *l, const struct pending *p);
const char *request_done(struct traffic *t, const struct completion *c);
/*
 * A call of MPI_Mrecv that began at `since' has received the message that the probe with this
 * number had found. Returns how many ticks before that was; 0: not known.
 */
uint64_t request_received(struct traffic *t, uint32_t number, uint64_t since);
/* A call that began at `since' has made a part of the send with this number ready. */
void request_part(struct traffic *t, uint32_t number, uint64_t since);
/* True for the node of a function that takes messages out of the queue by probing. */
bool is_matched_probe(const struct node *n);
/* Nodes of the track's tree are now their counterparts. */
void requests_move(struct traffic_track *l);
/* The same for the nodes at `from` and below it only; the track goes on. */
void requests_moved(struct traffic_track *l, const struct node *from);
void requests_free(struct traffic *t);

/* ---- matching: match.c; nothing without a matcher --------------------- */

/* A SEND, RECV or POST; until: when its call ended. */
void match_call(struct traffic_track *l, const struct pending *p, uint64_t until, bool failed);
/* A PARTITION, whose call began at `since`. */
void match_part(const struct traffic *t, const struct message *m, uint64_t since);
/* The communicator c is about to be forgotten. */
void match_comm_gone(struct traffic *t, const struct comm *c);
/* The request q has ended. */
void match_completion(struct traffic *t, const struct request *q, const struct completion *c);

/* ---- numbers of call paths: paths.c ------------------------------------------ */

struct path {
	struct node *node; /* NULL: forgotten */
	uint32_t before;   /* the number before of the same track, or 0 */
	uint32_t now;	   /* the number of what it has moved to, which had one; or 0 */
};

/* By number less 1. */
struct paths {
	struct path *at;
	size_t n, cap;
};

/* The node of a number, wherever its counts are now; NULL: forgotten, or no number. */
const struct node *path_node(const struct traffic *t, uint32_t path);
/* The number of a node in the track's tree, always the same; 0: there are too many. */
uint32_t path_number(struct traffic_track *l, struct node *n);
/* The same of a node in the tree of threads that have ended. */
uint32_t path_number_past(struct traffic *t, struct node *n);
/* As requests_move() and requests_moved(), for numbers of paths. */
void paths_move(struct traffic_track *l);
void paths_moved(struct traffic_track *l, const struct node *from);

/* ---- causes of waits: causes.h -------------------------------------------------- */

struct cause_parts;

/* Smaller in tests. */
#ifndef CAUSES_MAX
#define CAUSES_MAX 4096u /* rows of one process; further causes are not counted */
#endif

/* Which processes are late, and how much may be done: one per agent. */
struct causes;
struct causes *causes_new(void);
void causes_free(struct causes *c);
/* The process's trees are to be freed. */
void causes_forget(struct causes *c, struct traffic *t);
/* There are several agents: histories of sends to other nodes are kept. */
void causes_begin_elsewhere(struct causes *c);

/* Rows of one process that waits. */
struct cause_row {
	uint32_t kind, path; /* of the call that waited */
	/* its number in struct causes, or FAR and the rank in its job, and of what it did */
	uint32_t late, late_path;
	uint64_t ticks;
};

struct cause_rows {
	struct cause_row *at;
	size_t n, cap;
	struct match_table by_key; /* -> 1 + index */
};

/* Frees t->causes and t->activities. */
void causes_of_process_free(struct traffic *t);

/* The last calls of a thread; owned by its process, as it may outlive the thread. */
struct thread_activity;
/* Keeps a, which may be NULL, until it is let go as often; not longer than its process. Returns it.
 */
struct thread_activity *thread_activity_hold(struct thread_activity *a);
void thread_activity_let_go(struct thread_activity *a);
/* The thread has ended: traffic_track_end(). Frees a, unless it may still be asked for. */
void thread_activity_end(struct thread_activity *a, struct calltree *past);
/* activity_walk() of its calls. */
size_t thread_activity_tell(const struct thread_activity *a, uint64_t from, uint64_t to,
	activity_stretch *stretch, void *arg);
/* The number of a node of its tree: path_number(). */
uint32_t thread_activity_path(const struct thread_activity *a, struct node *n);

/* True if there is time to look at a wait that ended at `to'. */
bool causes_may_look(struct causes *c, uint64_t to);
/*
 * Counts what the thread of `late` did in [from, to], ticks, while the call at t's path number
 * `path` (0: not known) waited for it. late NULL: not known. *counted, if not NULL, is what was
 * counted: nothing if the wait was not looked at.
 */
void causes_add(struct causes *c, struct traffic *t, uint32_t path, enum wait_kind kind,
	struct thread_activity *late, uint64_t from, uint64_t to, struct cause_parts *counted);

/* ---- locks of windows that processes of this node have: window-locks.c ------------- */

struct longest;
struct window_locks;

/* Waits count in l, and what others did meanwhile in c; both outlive it. */
struct window_locks *window_locks_new(struct longest *l, struct causes *c);
void window_locks_free(struct window_locks *w);
/* From now on epochs of windows with members on other nodes are kept for far-locks.h. */
void window_locks_begin_elsewhere(struct window_locks *w);
struct far_locks *window_locks_far(const struct window_locks *w);
/* The call p, an EPOCH on a window, is over. Calls that are not about locks change nothing. */
void window_locks_call(
	struct window_locks *w, struct traffic_track *l, const struct pending *p, uint64_t until);
/* The process's trees are to be freed. */
void window_locks_forget(struct window_locks *w, const struct traffic *t);

/* ---- communicators with spawned jobs: spawned.c ---------------------------------- */

struct match_message;

/*
 * The two jobs of a communicator that is used at these ticks: an intercommunicator, or one that was
 * merged from such. NULL: it has ranks of one job only, or the other job is not known.
 */
const struct spawn_link *spawned_link(struct traffic *t, struct comm *c, uint64_t used);
/* The identity of the communicator for collective calls; looks for the other job first. */
uint64_t spawned_meeting(struct traffic *t, struct comm *c, uint64_t used);
/* Whether a process of the other side of this communicator has this rank in this job. */
bool spawned_has(const struct comm *c, uint64_t job, uint32_t rank);
/*
 * True if one of these processes is in a job that the job of the other one has spawned, or met by
 * a port.
 */
bool spawned_is_linked(const struct traffic *a, const struct traffic *b);
/* The identity of c that is the same in both jobs, if they are known; else c->id. */
uint64_t spawned_identity(const struct comm *c);
static inline uint64_t comm_identity(const struct comm *c)
{
	return __builtin_expect(c->spawned != NULL, 0) ? spawned_identity(c) : c->id;
}
/* The identity by which the matcher knows messages on c. */
uint64_t spawned_told(const struct comm *c);
/*
 * Gives m, whose comm and peer are not set, to the matcher as soon as the other job is known. rank:
 * of the peer in it. posted: of a DONE the record that it completes, else NULL. Returns false if c
 * has ranks of one job only.
 */
bool spawned_match(struct traffic *t, struct comm *c, uint32_t rank, const struct message *posted,
	const struct match_message *m);
/* No more messages come on c. */
void spawned_end(struct traffic *t, struct comm *c);
/*
 * Notes that c, which is new and whose members are not known yet, was made from a communicator with
 * ranks of two jobs.
 */
void spawned_define(struct traffic *t, struct comm *c);
/* To be called when the members of c are known. */
void spawned_complete(struct traffic *t, struct comm *c);
/* This function of MPI, which makes communicators, was called on c. */
void spawned_made_from(struct traffic *t, struct comm *c, uint32_t function);
void spawned_sources_free(struct traffic *t);
/* Tells the listener the other group of c, once, if it knows both groups. */
void spawned_tell(struct traffic *t, struct comm *c);

/* ---- sums: sums.c --------------------------------------------------- */

/* Count the message of p; bytes and peer (a world rank): the actual ones. A call is both the
 * message and its time. */
void sums_send_call(
	struct traffic *t, const struct pending *p, uint32_t peer, uint64_t bytes, uint64_t ticks);
void sums_receive_call(
	struct traffic *t, const struct pending *p, uint32_t peer, uint64_t bytes, uint64_t ticks);
void sums_send(struct traffic *t, const struct pending *p, uint32_t peer, uint64_t bytes);
void sums_send_cancelled(struct traffic *t, const struct pending *p, uint32_t peer, uint64_t bytes);
void sums_send_time(
	struct traffic *t, const struct pending *p, uint32_t peer, uint64_t bytes, uint64_t ticks);
void sums_receive(struct traffic *t, const struct pending *p, uint32_t peer, uint64_t bytes);
void sums_receive_time(
	struct traffic *t, const struct pending *p, uint32_t peer, uint64_t bytes, uint64_t ticks);
/* n messages of a collective call of neighbours, bytes: of all: in the matrix only. */
void sums_neighbour(struct traffic *t, uint32_t peer, bool received, uint32_t n, uint64_t bytes);
/* A collective call: what it sends when it is posted, the rest when it is over. */
void sums_collective(struct traffic *t, const struct pending *p);
void sums_collective_over(struct traffic *t, const struct pending *p);
void sums_collective_time(struct traffic *t, const struct pending *p, uint64_t ticks);
/* All three, of a call that was over when it returned. */
void sums_collective_call(struct traffic *t, const struct pending *p, uint64_t ticks);
void sums_file(struct traffic *t, const struct pending *p, uint64_t bytes, uint64_t ticks);
/* Index of the sums of files of this name, made if need be. */
uint32_t sums_of_file(struct traffic *t, const char *name);
/* Index of the sums of a communicator, made if need be; c may be NULL. */
uint32_t sums_of_comm(struct traffic *t, struct comm *c);
void sums_rank_changed(struct traffic *t);
/* True if messages to and from this world rank count. */
bool sums_is_listed(const struct traffic *t, uint32_t peer);
void sums_free(struct traffic *t);

/* ---- communications one by one: listener.c ------------------------------------------ */

/* The number that the listener has for c, or 0. */
uint32_t listener_comm(struct traffic *t, struct comm *c);
struct traffic {
	const struct conf *conf;
	struct sync *sync;
	struct traffic_listener listener; /* message NULL: there is none */
	struct match_process *match;	  /* or NULL */
	uint64_t match_job;
	struct match_process *session_match; /* of communicators with a job of their own */
	uint64_t session_job;
	uint32_t session_rank;
	uint64_t job;
	int rank;
	struct spawn_name name; /* to its launcher, if it may have spawned or is spawned */
	struct comm **sources;	/* from which others were made, held: spawned.c */
	size_t n_sources, cap_sources;
	uint32_t group_costs;	/* of groups with ranks of two jobs: spawned.c */
	uint64_t held_bytes;	/* of messages that wait for the other side of these: spawned.c */
	uint64_t unlinked;	/* traffic_unlinked() */
	bool all_ranks, listed; /* mpi.only_for_ranks: is everybody, am I? */
	struct rank_range *ranges; /* the list, or NULL */
	size_t n_ranges;

	struct numbers numbers[3]; /* by enum wire_object_kind */
	struct comm *recent;	   /* communicator that was found last, or NULL */
	/* number of a live window -> how many were made on its communicator before; and as
	 * arrives_next of a communicator */
	struct map32 windows, windows_next;
	struct exposures *exposures; /* or NULL */
	struct comm **slots;	     /* of communicators and windows */
	size_t n_slots, cap_slots;
	uint32_t *vacant; /* slots */
	size_t n_vacant, cap_vacant;
	size_t n_comms, n_runs; /* alive */
	size_t n_between;	/* communicators that may be between jobs: spawned_end() */
	size_t n_lengths;	/* kept, of messages of collective calls */
	struct gone *gone;	/* oldest first from first_gone on */
	size_t first_gone, n_gone, cap_gone;

	struct requests requests;
	struct match_probes probes; /* those of messages that were received */
	struct paths paths;
	struct causes *all_causes;	    /* of sync, or NULL */
	struct cause_rows causes;	    /* of its waits */
	uint32_t late_number;		    /* in struct causes, or 0 */
	struct thread_activity *activities; /* of its threads, and of the last that have ended */
	uint32_t n_activities_ended;
	struct calltree *past; /* of threads that have ended; NULL: none has */
	uint32_t elsewhere;    /* elsewhere_process(), or 0 */
	bool lost;	       /* traffic_lost() */
	size_t n_pending;      /* of all tracks */

	struct order *order;
	uint32_t n_tracks, tracks_ever;
	struct map32 late_at; /* 1 + thread -> index into late[] */
	struct traffic_thread *late;
	size_t n_late, cap_late;

	struct traffic_sums sums;
	struct map64 peer_at, comm_at, file_at; /* index into sums by peer, id, hash of the name */
	uint32_t last_peer;			/* index */
	unsigned limits;			/* bits, by enum traffic_limit */
};

/* A call of MPI_Probe(). */
struct probed {
	struct node *node;
	uint64_t enter, leave;
};

#define PROBES_KEPT 16u

struct traffic_track {
	struct traffic *traffic;
	struct calltree *tree;
	uint32_t number;
	struct pending *pending;
	size_t n, cap;
	size_t n_open;	    /* requests it has posted */
	size_t n_arrived;   /* its arrivals that sync.c keeps, each of which holds its activity */
	uint32_t last_path; /* the last number that a path of its tree has got, or 0 */
	struct probed *probes; /* since its last receive, the last PROBES_KEPT */
	size_t n_probes, cap_probes;
	uint64_t earlier;		  /* when the next message took place, or 0 */
	struct thread_activity *activity; /* or NULL */
	uint64_t history_at;		  /* ticks of its last history (history.h) ... */
	uint32_t history;		  /* ... and the number of that, or 0 */
};

/*
 * The communication of p is over: tells the listener. done: the record that completed it; NULL: p
 * has no request.
 */
void listener_tell(struct traffic *t, uint32_t thread, const struct pending *p,
	const struct message *done, uint64_t ticks);
static inline void listener_notify(struct traffic *t, uint32_t thread, const struct pending *p,
	const struct message *done, uint64_t ticks)
{
	if (t->listener.message)
		listener_tell(t, thread, p, done, ticks);
}

static inline uint64_t ticks_between(uint64_t from, uint64_t to)
{
	return (int64_t)(to - from) > 0 ? to - from : 0;
}

#endif
