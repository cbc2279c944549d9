/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages between the agents of a job. Nothing here waits without a deadline,
 * and while waiting the process sleeps. A deadline `until` is a time of
 * transport_now(); one that has passed means: try once.
 */
#ifndef VFTR_NODEAGENT_NET_TRANSPORT_H
#define VFTR_NODEAGENT_NET_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Magic and version of all messages between agents, over TCP and over MPI. All agents of a job have
 * the same.
 */
#define TRANSPORT_MAGIC	    "vftrpeer"
#define TRANSPORT_VERSION   10
#define TRANSPORT_ORDER	    0x01020304u /* as this machine stores it: others see another one */
#define TRANSPORT_ANY	    (-1)
#define TRANSPORT_TAG_MAX   1000
#define TRANSPORT_SMALL_MAX 64

struct collate_plan;
struct route;
struct transport;

/*
 * The collation's plan, made when the agents have met: agent 0 makes it from the hosts of all
 * ranks and sends each agent its own with this tag; the others take the message. Then
 * transport->plan is set. take: false if the message makes no sense.
 */
struct transport_plan_operations {
	int host_tag; /* of hosts on their way to agent 0 */
	int tag;
	void (*make)(struct transport *p, char *const *hosts);
	bool (*take)(struct transport *p, const void *buf, size_t bytes);
};

/* Messages of this agent since it began, and bytes of their contents. */
struct transport_counts {
	uint64_t sent, sent_bytes, received, received_bytes;
	uint64_t small; /* those of post and look, in both directions, besides */
};

struct transport {
	int rank, size;
	struct transport_counts counts; /* not behind a proxy, which has them */

	/*
	 * Sends a message of any size. 0 when it has left, or -errno; after
	 * -ETIMEDOUT it may leave later, and buf must stay as it is until the
	 * process ends: so it is also where MPI has a part of it and fails then.
	 * After any other error nobody reads buf any more. Messages to one agent
	 * with one tag arrive in order.
	 */
	int (*send)(
		struct transport *p, int to, int tag, const void *buf, size_t bytes, double until);

	/*
	 * The next message with this tag from agent `from`, or TRANSPORT_ANY; *who is
	 * the sender. 0, -ETIMEDOUT, or another -errno (-ECONNRESET: MPI has gone
	 * for good, this agent is alone). The caller frees *buf.
	 */
	int (*receive)(struct transport *p, int from, int tag, void **buf, size_t *bytes, int *who,
		double until);

	/*
	 * Leaves MPI and frees p. If `together`, all agents call it and it waits
	 * for them; if they have not come by the deadline the process ends
	 * with status. TRANSPORT_ABORT: the launcher ends all of them with
	 * status. Otherwise MPI is not finalized, and the process should
	 * end soon, by _exit().
	 */
#define TRANSPORT_ABORT (-1)
	void (*finish)(struct transport *p, int together, int status, double until);

	/*
	 * Messages of at most TRANSPORT_SMALL_MAX bytes that never wait, for clock/burst.h.
	 * NULL where a proxy is in between. post: 0, -EAGAIN if too many have not left
	 * yet, or another -errno. look: the next one with this tag, 0 or -EAGAIN if
	 * there is none. A tag is used either here or for send and receive.
	 */
	int (*post)(struct transport *p, int to, int tag, const void *buf, size_t bytes);
	int (*look)(struct transport *p, int from, int tag, void *buf, size_t bytes, int *who);

	/* MPI only, else NULL: true if a message of send() with this tag can be received. */
	bool (*waits)(struct transport *p, int tag);

	/*
	 * With a proxy, else NULL: it rings (proxy_bell()) when a message with this tag has come.
	 * True: at once. False: over MPI, where nothing tells of a message, when the proxy is awake
	 * for something else, as to compare clocks. One tag, for good.
	 */
	bool (*listen)(struct transport *p, int tag);

	/*
	 * With a proxy, else NULL: a message that agent 0 gets (to_root) from the proxy when this
	 * agent has died and the proxy has not; replaces the one before.
	 */
	void (*last_will)(struct transport *p, int tag, const void *buf, size_t bytes);

	/*
	 * Where gone() is: from now on a message of one byte with this tag comes from an agent that
	 * has died, and an empty one from one that was taken for dead and is back.
	 */
	void (*deaths)(struct transport *p, int tag);

	/*
	 * Without MPI (net/tcp/tcp.h), else NULL. pump: serves the connections, and sleeps until
	 * one of them is ready, or `until`. next: seconds until pump should be called, also if fd
	 * is not readable. news: grows when a message for receive() has come, or an agent is gone.
	 * gone: true if this agent is known to be dead.
	 */
	bool (*gone)(struct transport *p, int rank);
	/* Asks for a connection to this agent before there is something to send; over MPI NULL, as
	 * gone() is. p->size must be known. */
	void (*meet)(struct transport *p, int rank);
	/*
	 * Where gone() is: true if this agent lets us wait so long for its answers that what others
	 * can pass on should not wait for it, though it may be alive; until it answers in time.
	 */
	bool (*slow)(struct transport *p, int rank);
	/*
	 * Where gone() is: waits until all agents below this one in the tree (tree.h) have left by
	 * finish() with `together`, or died. False: not until then.
	 */
	bool (*await_left)(struct transport *p, double until);
	void (*pump)(struct transport *p, double until);
	double (*next)(struct transport *p);
	int fd;
	uint64_t news;
	/*
	 * Grows when an agent is started anew before the plan is made: it has none of the messages
	 * that were sent to the old one.
	 */
	uint64_t anew;

	/*
	 * With a proxy, else NULL: what it needs to take the agent's place if that dies. remember:
	 * the agent's plan and host, when they are known. collated: the collation is over, only
	 * the end is to come; complete: no agent is missing in it.
	 */
	void (*remember)(struct transport *p, const void *plan, size_t bytes, const char *host);
	void (*collated)(struct transport *p, bool complete);

	/*
	 * Messages over a tree of the agents (route.h), so that agent 0 has few of them; NULL: they
	 * are sent directly. to_root(): to agent 0, which receives those of one sender in order.
	 * to_one(), to_all(): from agent 0 to one, or to all others. Contents are copied. Return 0
	 * or -errno. To be called by transport_to_root() and so on.
	 *
	 * to_root(): on the way a message is held for up to hold_s, to be sent on together with
	 * others: until all agents below have sent one that is `final`, or all that have sent one
	 * that is not. It is held longer while the last message of another agent below is not
	 * final, as agent 0 waits for that agent anyway. hold_s 0: it is not held. A held message,
	 * and any if another agent dies, may be lost if its sender has sent a later one with the
	 * same tag.
	 */
	int (*to_root)(struct transport *p, int tag, const void *buf, size_t bytes, bool final,
		double hold_s);
	int (*to_one)(struct transport *p, int to, int tag, const void *buf, size_t bytes);
	int (*to_all)(struct transport *p, int tag, const void *buf, size_t bytes);
	struct route *route;
	/*
	 * Called while receive() waits. True: receive() returns -EINTR, as the message may have
	 * come over the tree, or something has to be passed on soon. NULL: there is nothing to do.
	 */
	bool (*attend)(struct transport *p);

	struct collate_plan *plan; /* of collate/, which frees it */
};

/* Counts a message of so many bytes. */
static inline void transport_count_sent(struct transport *p, size_t bytes)
{
	p->counts.sent++;
	p->counts.sent_bytes += bytes;
}

static inline void transport_count_received(struct transport *p, size_t bytes)
{
	p->counts.received++;
	p->counts.received_bytes += bytes;
}

/* Monotonic time in seconds. */
double transport_now(void);

/*
 * As p->receive(), but the wait ends soon, by -ETIMEDOUT, if the agent `for_whom` has died, from
 * which, or through which, the message should come.
 */
int transport_receive(struct transport *p, int from, int for_whom, int tag, void **buf,
	size_t *bytes, int *who, double until);

/* As the operations; where those are missing, by p->send() until then. */
int transport_to_root(struct transport *p, int tag, const void *buf, size_t bytes, bool final,
	double hold_s, double until);
int transport_to_one(
	struct transport *p, int to, int tag, const void *buf, size_t bytes, double until);
int transport_to_all(struct transport *p, int tag, const void *buf, size_t bytes, double until);

/* p->last_will(), if that is not NULL. p may be NULL. */
void transport_last_will(struct transport *p, int tag, const void *buf, size_t bytes);

/*
 * Path of the plug-in by which an agent joins the others, if the environment says that a launcher
 * started several: PLUGIN_DIR/peer-MPI.so, the caller frees; NULL: this is the only agent. mpi is
 * "openmpi" or "mpich", or NULL to tell by the environment. An agent that was started by a traced
 * process must not ask: it has the environment of that process.
 */
char *transport_plugin(const char *plugin_dir, const char *mpi);

/* Number of agents, by the environment that a launcher gives; 1 if there is none. */
int transport_launched(void);

/* The MPI that transport_plugin() would take: "openmpi", "mpich" or NULL for none. */
const char *peer_wanted(void);

/*
 * Loads a plug-in into this process; the agents have start_s seconds to meet. NULL with *error:
 * a sentence (caller frees).
 */
struct transport *transport_load(const char *plugin, double start_s, char **error);

/* The one symbol of a plug-in. */
typedef struct transport *transport_open_function(double start_s, char **error);
#define TRANSPORT_OPEN_SYMBOL "vftr_peer_open"

#endif
