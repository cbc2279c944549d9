/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The waits of collective calls for each other, from the times at which the members
 * entered: no barrier is added to the program. Only members on this node are compared here; what
 * agents compare when the job is over is kept in elsewhere.h.
 *
 * Each instance of a collective call (communicator, ticket) is kept until all
 * members that live on this node have left it. Then each has waited from its own enter to
 * that of the last one for whom it had to wait, or to its own exit if that was earlier:
 *  - barrier, all to all: each for the last of all
 *  - from a root: the others for the root, the root for nobody (0 ticks)
 *  - to a root: the root for the last of all, the others for nobody
 *  - scans: each for the last of the ranks below it
 *  - neighbourhood collectives: each for the last of all, which is too much
 * A window's ranks meet in the same way; its instances are apart from those of its communicator.
 * Two of its ranks, too, one of which waits for the other one as for a root (window/exposure.h).
 * In an intercommunicator "all" are those of the other group; nothing is known
 * if no member of the other group lives here.
 *
 * With mpi.show_sync_time each call that blocks gets a child, "MPI_Xxx_sync", with its wait for
 * members on this node, and a listener (listener.h) gets the same. A call that does not block,
 * or a persistent one, waits where it is completed, and its instance is kept until all have
 * completed it: then that call has waited, from its own enter.
 */
#ifndef VFTR_NODEAGENT_REPLAY_COMM_SYNC_H
#define VFTR_NODEAGENT_REPLAY_COMM_SYNC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct calltree;
struct causes;
struct clocks;
struct completion;
struct elsewhere;
struct exposure_pair;
struct far_locks;
struct longest;
struct node;
struct pending;
struct request;
struct sampled_comm;
struct sampling;
struct spawns;
struct sync;
struct traffic;
struct traffic_track;
struct window_locks;

#ifndef SYNC_OPEN_MAX
#define SYNC_OPEN_MAX 65536u /* instances; then the oldest is dropped */
#endif
#ifndef SYNC_ARRIVALS_MAX
#define SYNC_ARRIVALS_MAX (1u << 19) /* of all instances, in at most 92 MB; then the same */
#endif
#define SYNC_BLOCKS_MAX (SYNC_ARRIVALS_MAX / 32) /* of 64 arrivals, as not all have so many */

/* A rank that lives on this node. */
struct sync_member {
	uint64_t job;
	bool job_known; /* else it is a member in any job */
	uint32_t rank;
};

/* One per agent. */
struct sync *sync_new(void);
void sync_free(struct sync *s);

/*
 * From now on instances with members on other nodes are kept for elsewhere.h; waits in them are
 * counted here for "MPI_Xxx_sync" only. A second call changes nothing. bytes_max: as for
 * elsewhere_new().
 */
void sync_begin_elsewhere(struct sync *s, size_t bytes_max);
/* The instances that sync_begin_elsewhere() keeps, or NULL; owned by s. */
struct elsewhere *sync_elsewhere(struct sync *s);

/*
 * From now on one in some calls stands for others, if there are too many to compare each
 * (replay/sampling/sampling.h): calls that block, of communicators of one job, unless
 * mpi.show_sync_time asks for each. clocks outlive s.
 */
void sync_begin_sampling(struct sync *s, struct clocks *clocks);
/* NULL before sync_begin_sampling(); owned by s. */
struct sampling *sync_sampling(struct sync *s);
/* A process does not have this communicator any more. c NULL: nothing happens, and s may be NULL.
 */
void sync_comm_gone(struct sync *s, struct sampled_comm *c);

/* The causes of the waits of all processes; owned by s. */
struct causes *sync_causes(struct sync *s);

/*
 * Number of calls in instances that were dropped before all members had come, for lack of room:
 * their waits are not counted.
 */
uint64_t sync_dropped(const struct sync *s);

/* The ranks that live on this node now; m is copied. Instances that waited only for ranks
 * that are gone become complete. */
void sync_set_members(struct sync *s, const struct sync_member *m, size_t n);

/* A member has left the collective call p on a communicator. */
void sync_arrive(struct sync *s, struct traffic_track *l, const struct pending *p, uint64_t until);
/*
 * A member has left the call p, an EPOCH, on a window. Calls in which not all ranks of the window
 * meet change nothing.
 */
void sync_arrive_at_window(
	struct sync *s, struct traffic_track *l, const struct pending *p, uint64_t until);
/* A member has left the call p, an EPOCH, on a window, in which one of this pair waited for the
 * other one. */
void sync_meet(struct sync *s, struct traffic_track *l, const struct pending *p, uint64_t until,
	const struct exposure_pair *pair);
/* A member has completed a collective call. */
void sync_complete(
	struct sync *s, struct traffic *t, const struct request *q, const struct completion *c);

/* Locks of windows that processes of this node have; owned by s. */
struct window_locks *sync_window_locks(struct sync *s);

/* Jobs that were spawned, and communicators that lead to them; owned by s. */
struct spawns *sync_spawns(struct sync *s);

/* Locks of windows with members on other nodes, or NULL; owned by s. */
struct far_locks *sync_far_locks(struct sync *s);

/*
 * Waits in calls of many members are counted a while after these are complete: for one rank after
 * the other, as what is counted for one is then at hand. To be called before anybody looks at them;
 * s may be NULL.
 */
void sync_settle(struct sync *s);

/* What calls that complete several operations have waited for; owned by s. */
struct longest *sync_longest(struct sync *s);

/* To be called with traffic_track_end(). */
void sync_move(struct sync *s, struct traffic_track *l, struct calltree *past);
/* To be called with traffic_track_moved(). */
void sync_moved(struct sync *s, const struct traffic_track *l, const struct node *from);
/* To be called before the process's trees are freed. */
void sync_forget(struct sync *s, struct traffic *t);

#endif
