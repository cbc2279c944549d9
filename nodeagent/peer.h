/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages between the agents of a job. Nothing here waits without a deadline,
 * and while waiting the process sleeps. A deadline `until` is a time of
 * peer_now(); one that has passed means: try once.
 */
#ifndef VFTR_NODEAGENT_PEER_H
#define VFTR_NODEAGENT_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PEER_ANY       (-1)
#define PEER_TAG_MAX   1000
#define PEER_SMALL_MAX 64

struct collate_plan;

struct peer {
	int rank, size;

	/*
	 * Sends a message of any size. 0 when it has left, or -errno; after
	 * -ETIMEDOUT it may leave later, and buf must stay as it is until the
	 * process ends. Messages to one agent with one tag arrive in order.
	 */
	int (*send)(struct peer *p, int to, int tag, const void *buf, size_t bytes, double until);

	/*
	 * The next message with this tag from agent `from`, or PEER_ANY; *who is
	 * the sender. 0, -ETIMEDOUT, or another -errno (-ECONNRESET: MPI has gone
	 * for good, this agent is alone). The caller frees *buf.
	 */
	int (*receive)(struct peer *p, int from, int tag, void **buf, size_t *bytes, int *who,
		double until);

	/*
	 * Leaves MPI and frees p. If `together`, all agents call it and it waits
	 * for them; when that has not happened by the deadline the process ends
	 * with status. PEER_ABORT: the launcher ends all of them with
	 * status. Otherwise MPI is left as it is, and the process should
	 * end soon, by _exit().
	 */
#define PEER_ABORT (-1)
	void (*finish)(struct peer *p, int together, int status, double until);

	/*
	 * Messages of at most PEER_SMALL_MAX bytes that never wait, for clock-burst.h.
	 * NULL where a courier is in between. post: 0, -EAGAIN if too many have not left
	 * yet, or another -errno. look: the next one with this tag, 0 or -EAGAIN if
	 * there is none. A tag is used either here or for send and receive.
	 */
	int (*post)(struct peer *p, int to, int tag, const void *buf, size_t bytes);
	int (*look)(struct peer *p, int from, int tag, void *buf, size_t bytes, int *who);

	/*
	 * Of a transport without MPI (peer-tcp.h), else NULL. will: a message that `to` gets
	 * when this agent dies; replaces the last one. Should it come back, an empty message
	 * with that tag says so. pump: does what is to be done, and sleeps until there is
	 * something, or `until`; next: seconds until it should be called, also before fd is
	 * readable. news: grows when a message for receive() has come, or somebody has gone.
	 * gone: this agent has died, as far as is known. NULL also means: nobody knows.
	 */
	bool (*gone)(struct peer *p, int rank);
	void (*will)(struct peer *p, int to, int tag, const void *buf, size_t bytes);
	void (*pump)(struct peer *p, double until);
	double (*next)(struct peer *p);
	int fd;
	uint64_t news;

	struct collate_plan *plan; /* of collate.c */
};

/* Monotonic time in seconds. */
double peer_now(void);

/*
 * As p->receive(), but the wait ends soon, by -ETIMEDOUT, when the agent `for_whom` has died: it
 * is from it, or through it, that the message should come.
 */
int peer_receive(struct peer *p, int from, int for_whom, int tag, void **buf, size_t *bytes,
	int *who, double until);

/*
 * Joins the other agents, if the environment says that a launcher started
 * several: loads PLUGIN_DIR/peer-MPI.so. mpi is "openmpi" or "mpich", or NULL
 * to tell by the environment. They have start_s seconds to meet. NULL with *error NULL: this is the
 * only agent. NULL with *error: a sentence (caller frees). An agent that was started by a traced
 * process must not call this: it has the environment of that process.
 */
struct peer *peer_open(const char *plugin_dir, const char *mpi, double start_s, char **error);

/* Which plug-in peer_open() would take: "openmpi", "mpich" or NULL for none. */
const char *peer_wanted(void);

/*
 * For agents that a launcher started; to be called first in main, before any
 * thread. The caller becomes the courier (courier.h): it stays with the
 * launcher, does the agent's MPI, passes SIGTERM, SIGINT, SIGHUP and SIGUSR1
 * on, and ends with the agent's status, or with 0 when it had to stand in for
 * an agent that was killed. The rest of the program runs in a child, where
 * this returns (and gets SIGTERM if the courier dies). If fork fails it returns
 * in the caller, and MPI will be in the agent itself.
 */
void peer_shield(void);

/* A message that the courier sends if this agent dies; replaces the last one. */
void peer_will(struct peer *peer, int to, int tag, const void *buf, size_t bytes);

/* Loads a plug-in into this process. As peer_open(). */
struct peer *peer_load(const char *plugin, double start_s, char **error);

/* The one symbol of a plug-in. */
typedef struct peer *peer_open_function(double start_s, char **error);
#define PEER_OPEN_SYMBOL "vftr_peer_open"

#endif
