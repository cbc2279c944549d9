/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connection of a viewer outside of the job to an agent of it, over TCP: the packets are those
 * of the agent's own socket (shm/wire.h, WIRE_LIVE). Both sides prove that they know the agents'
 * secret. For one thread.
 */
#ifndef VFTR_NODEAGENT_NET_TCP_VIEWER_LINK_H
#define VFTR_NODEAGENT_NET_TCP_VIEWER_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct viewer_link;

/*
 * To the agent at a contact (contact.h), within most_s seconds. secret: its file, or NULL: the
 * default one, which is not made. session: the one that it must be of, or NULL. *named: the
 * agent's session, or empty where it has no name of its own; the caller frees. NULL and *error, a
 * sentence that the caller frees.
 */
struct viewer_link *viewer_link_open(const char *contact, const char *secret, const char *session,
	double most_s, char **named, char **error);
void viewer_link_close(struct viewer_link *l);

/* Can be read when there is something to receive. */
int viewer_link_fd(const struct viewer_link *l);

/* False: it does not leave now, and is lost. */
bool viewer_link_send(struct viewer_link *l, const void *packet, size_t bytes);

/*
 * The next packet, in a buffer with `room` bytes; 0: none has come whole yet. -ENODATA: the agent
 * says that it sends no more, as it ends; another -errno: the connection broke.
 */
ssize_t viewer_link_receive(struct viewer_link *l, void *buf, size_t room);

#endif
