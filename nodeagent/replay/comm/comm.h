/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communication of one process, as its records tell it (shm/message.h): open
 * requests, communicators, and sums by call path, peer, communicator, size and
 * file. Memory grows with what is different - call paths, peers, communicators
 * in use, open requests - and never with the number of messages. Everything
 * here is untrusted input: a record that contradicts the others is an error
 * that quarantines the process, never a wrong index.
 *
 *  - the records of a frame are settled when the frame is left: then
 *    FAILED would have come, and the times are known
 *  - a send counts when it was posted, a receive when it is complete; durations
 *    and bandwidths count when it is known that the call or request has ended
 *  - mpi.only_for_ranks: a message counts if this rank and the peer's are in the
 *    list, also one of a collective call (share.h); files always count
 *  - records of threads are read one thread after the other: a DONE may be read
 *    before the record of its request, and waits for that
 */
#ifndef VFTR_NODEAGENT_REPLAY_COMM_COMM_H
#define VFTR_NODEAGENT_REPLAY_COMM_COMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "nodeagent/base/wait-kinds.h"
#include "nodeagent/replay/tree/activity.h"
#include "nodeagent/replay/tree/calltree.h"
#include "shm/wire.h"

struct conf;
struct longest_wait;
struct match_probe;
struct match_process;
struct sync;
struct traffic;
struct traffic_track; /* one thread */

/* Most things of each kind of a process at once; further ones count less exactly. Smaller in
 * tests. */
#ifndef TRAFFIC_COMMS_MAX
#define TRAFFIC_COMMS_MAX    (1u << 18) /* beyond: peers are PROFILE_ELSEWHERE */
#define TRAFFIC_RUNS_MAX     (1u << 20)
#define TRAFFIC_GONE_MAX     (1u << 14) /* freed, and kept for records not yet read */
#define TRAFFIC_REQUESTS_MAX (1u << 20)
#define TRAFFIC_EARLY_MAX    (1u << 16) /* completions read before what they complete */
#define TRAFFIC_PENDING_MAX  (1u << 18) /* records in frames that are open */
#define TRAFFIC_PEERS_MAX    (1u << 20)
#define TRAFFIC_SUMS_MAX     4096u	/* communicators, files: the rest is summed up as others */
#define TRAFFIC_LATE_MAX     4096u	/* threads that ended before their requests */
#define TRAFFIC_PATHS_MAX    (1u << 22) /* call paths with receives, of all threads ever */
#endif

/* conf and sync must outlive the result; sync: NULL without mpi.waits and mpi.show_sync_time. */
struct traffic *traffic_new(const struct conf *c, struct sync *sync);
void traffic_free(struct traffic *t);

/* Adds a thread, whose records make this tree. Tracks are numbered from 0. */
struct traffic_track *traffic_track_new(struct traffic *t, struct calltree *tree);
/*
 * The thread has ended, its frames are closed, and its tree was added to `past`
 * (calltree_add()) but not yet freed. Frees the track.
 */
void traffic_track_end(struct traffic_track *l, struct calltree *past);

/*
 * The counts of `from` and of all nodes below it have moved to their counterparts
 * (calltree_move()). No frame of these nodes is open.
 */
void traffic_track_moved(struct traffic_track *l, const struct node *from);

/*
 * Tells what the thread did in [from, to], ticks; returns the number of calls that it looked at:
 * activity_walk(). ctx: as it was given.
 */
typedef size_t traffic_activity(
	void *ctx, uint64_t from, uint64_t to, activity_stretch *stretch, void *arg);
/* True if calls of MPI_Probe() are wanted. */
bool traffic_asks_probes(const struct traffic_track *l);
/*
 * A call of MPI_Probe() at node n has ended. It is taken to have found the message that the thread
 * receives next, and so to have waited for that message, if it was sent during the call.
 */
void traffic_probed(struct traffic_track *l, struct node *n, uint64_t enter, uint64_t leave);
/* The call of MPI_Probe() with this number (match_done.probes); NULL: it is not known. */
const struct match_probe *traffic_probe(const struct traffic *t, uint32_t number);

/*
 * True if what this thread does is to be kept, as others may wait for it: traffic_track_activity()
 * is then to be called, once.
 */
bool traffic_asks_activity(const struct traffic_track *l);
/*
 * Returns where to add the calls that the thread leaves from these ticks on, until
 * traffic_track_end(). fn tells of them, with ctx.
 */
struct activity *traffic_track_activity(
	struct traffic_track *l, traffic_activity *fn, void *ctx, uint64_t ticks);

/* The frame that a record stands in. */
struct traffic_frame {
	struct node *node;
	bool call; /* it is the record's MPI call, or a pause; else the enter was lost */
	uint32_t level;
	uint64_t depth; /* level, depth: frames that are left later are not larger */
	uint64_t since;
	uint32_t stack; /* for the listener (listener.h) */
	bool entered;	/* the enter of that stack was recorded where the listener records */
};

/*
 * Takes a record whose last word is not zero. words: all words of it. now: time of the last
 * record, ticks. Returns NULL, or a static text that says why the record makes no sense:
 * then no other record may be given.
 */
const char *traffic_record(struct traffic_track *l, const uint64_t *words,
	const struct traffic_frame *f, uint64_t now);
/* The frame is left at ticks, and all above it. Result as before. */
const char *traffic_left(struct traffic_track *l, uint32_t level, uint64_t depth, uint64_t ticks);
/* Records of the process were lost, or it did not record for a while. */
void traffic_lost(struct traffic *t);
/* traffic_lost() for the process of a track. */
void traffic_track_lost(struct traffic_track *l);
/* True if a record waits for its frame to be left. */
bool traffic_pending(const struct traffic_track *l);

struct spawn_name;
/*
 * The launcher's name of the process, if it has spawned others or is spawned; to be given before
 * the first message between the jobs.
 */
void traffic_spawn_name(struct traffic *t, const struct spawn_name *own);
/* This communicator, which was made by MPI_Comm_spawn, is used at these ticks. */
void traffic_comm_spawned(struct traffic *t, uint32_t number, uint64_t ticks);
/* Bytes of the messages of a process that wait until the other job is known, with the room for
 * more in their lists; those of a communicator that needs more are given up: of a single one after
 * 262 144. Smaller in tests. */
#ifndef TRAFFIC_HELD_MAX
#define TRAFFIC_HELD_MAX (20u << 20)
#endif
/* How many messages were given up: they have no partner. */
uint64_t traffic_unlinked(const struct traffic *t);
/*
 * No more messages come: those that wait until the other job of their intercommunicator is known
 * are given to the matcher without it.
 */
void traffic_spawned_end(struct traffic *t);

/* Definitions. NULL, or a static text: why the message makes no sense. bytes: of the data
 * behind it. */
const char *traffic_define_comm(struct traffic *t, const struct wire_comm *m, size_t bytes);
const char *traffic_define_object(
	struct traffic *t, enum wire_kind kind, const struct wire_object *m, const char *name);
const char *traffic_name(struct traffic *t, const struct wire_about *m, const char *name);
/*
 * The object was freed. It stays known until traffic_sweep(), as records of other threads may still
 * name it.
 */
const char *traffic_gone(struct traffic *t, const struct wire_about *m);
/* Forgets objects that were freed; all threads' records up to these ticks have been read. */
void traffic_sweep(struct traffic *t, uint64_t ticks);
/* True if there is something to sweep. */
bool traffic_has_gone(const struct traffic *t);
/* True if anything was ever defined. */
bool traffic_in_use(const struct traffic *t);

/* World rank of this process, and of which job. */
void traffic_rank(struct traffic *t, int rank, uint64_t job);
/* The job of traffic_rank(). */
uint64_t traffic_job(const struct traffic *t);

/* From now on its messages go to the matcher, with ranks in this job. match NULL: no more. */
void traffic_match(struct traffic *t, struct match_process *match, uint64_t job);

/*
 * An MPI process has joined a session (session/session.h): communicators from SESSION_COMM_FIRST on
 * have ranks of this job, where it is `rank`, and their messages go to `match`, which may be
 * NULL.
 */
void traffic_session(struct traffic *t, struct match_process *match, uint32_t rank, uint64_t job);

/* One sentence per limit above that was reached, or NULL; i = 0, 1, ... */
const char *traffic_limit_reached(const struct traffic *t, unsigned i);

struct traffic_peer {
	uint32_t peer; /* world rank in the process's own job, or PROFILE_ELSEWHERE */
	bool listed;
	uint64_t sends, receives, bytes_sent, bytes_received;
};

struct traffic_size {
	uint64_t sends, receives, bytes_sent, bytes_received;
};

struct traffic_comm {
	uint64_t id; /* 0: all others */
	char *name;  /* or NULL */
	uint32_t kind, size, remote_size;
	uint64_t sends, receives, bytes_sent, bytes_received;
	uint64_t collectives, collective_bytes_sent, collective_bytes_received;
	uint64_t collective_ticks;
	uint64_t ambiguous_sends, ambiguous_receives;
};

struct traffic_file {
	char *name;
	uint64_t opens, reads, writes, bytes_read, bytes_written;
	uint64_t read_ticks, write_ticks;
};

/* Class of a message's size: 0 is 0 bytes, k is 2^(k-1) to 2^k - 1. */
#define TRAFFIC_SIZES 65

struct traffic_sums {
	struct traffic_peer *peers;
	size_t n_peers, cap_peers;
	struct traffic_size sizes[TRAFFIC_SIZES];
	struct traffic_comm *comms;
	size_t n_comms, cap_comms;
	struct traffic_file *files;
	size_t n_files, cap_files;
	/* of messages between two ranks: order.h; complete when all tracks have ended */
	uint64_t ambiguous_sends, ambiguous_receives;
};

/*
 * Counts waits for rank `late` (UINT32_MAX: several) at a call path, by its number (struct
 * match_done). calls and ticks may be negative, modulo 2^64, to take some back.
 */
void traffic_wait(struct traffic *t, uint32_t path, enum wait_kind kind, uint32_t late,
	uint64_t calls, uint64_t ticks);

/* The same with the error of the clocks of two nodes in w->error: ticks, summed over the calls. */
void traffic_wait_elsewhere(struct traffic *t, uint32_t path, const struct node_wait *w);

/*
 * Tells when the wait was that traffic_wait() has counted: calltree_wait_at(). With longest_count
 * that is not needed.
 */
void traffic_wait_at(struct traffic *t, uint32_t path, uint64_t at, uint64_t ticks);

/* A longest_count (longest.h) that counts by traffic_wait(), if mpi.waits is on. */
void traffic_count_longest(struct traffic *t, const struct longest_wait *w, uint64_t calls);
/* The same for a wait that is not taken back. n: traffic_path_node() of w->path. */
void traffic_count_alone(struct traffic *t, struct node *n, const struct longest_wait *w);

/*
 * The wait w, which was counted, was one in the wrong order: it counts as that, and no longer as of
 * its kind. path: of the call in which the other message was received.
 */
void traffic_wait_in_wrong_order(struct traffic *t, struct longest_wait *w, uint32_t path);

/*
 * The number of the call path of a node in the track's tree. It is the same each time, and valid as
 * long as the process is known; 0: there are too many paths.
 */
uint32_t traffic_path(struct traffic_track *l, struct node *n);
/* A node that counts were moved to has several numbers; for each of them this is the same one. */
uint32_t traffic_path_now(const struct traffic *t, uint32_t path);
/* The node of a path number, also after its counts have moved; NULL: it is not known. */
struct node *traffic_path_node(const struct traffic *t, uint32_t path);

/* The sums of everything that was settled until now; owned by t. */
const struct traffic_sums *traffic_sums(const struct traffic *t);
/* Requests that were posted and never seen to complete. */
uint64_t traffic_open_requests(const struct traffic *t);

/* Open requests of one kind (enum node_open) that one node has posted. */
struct traffic_open {
	const struct node *node;
	uint32_t kind;
	uint64_t requests;
};
/*
 * The open requests by the node that has posted them, sorted by node and kind, each once.
 * Requests that were given up are not in it, but in the extra of their nodes. The caller frees
 * it.
 */
struct traffic_open *traffic_open(const struct traffic *t, size_t *n);

/* Messages that a track has posted, and that were completed, or taken back, after its end. */
struct traffic_thread {
	uint32_t thread; /* number of the track, or PROFILE_NONE: of several */
	uint64_t sends, receives, bytes_sent, bytes_received; /* modulo 2^64 */
};
const struct traffic_thread *traffic_late(const struct traffic *t, size_t *n);

#endif
