/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Viewers from outside of the job. One that has proved to know the secret gets a connection to
 * the socket of the agent, where it is a viewer like those of this node: packets go to and fro.
 * While one of them leaves, no other is taken from the agent, for which a viewer that is slow or
 * stopped is then one that misses views.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "nodeagent/net/tcp/internal.h"
#include "nodeagent/base/util.h"
#include "shm/wire.h"

#define VIEWERS_MOST 16	       /* the agent takes fewer at a time */
#define HEARD_MOST   64	       /* packets of one at a time: others want to be served, too */
#define REQUEST_MOST 4096      /* bytes of what a viewer says */
#define VIEW_MOST    (1 << 18) /* of what the agent says */
#define ON_WAY_MOST  (1 << 18) /* views that wait in the kernel would be old ones */

struct tcp_viewer {
	struct tcp_viewer *next;
	struct tcp_packets packets;
	int agent; /* the socket */
};

void tcp_admit_viewers(struct transport *p, const char *socket)
{
	struct tcp *t = (struct tcp *)p;

	free(t->viewed);
	t->viewed = xstrdup(socket);
}

bool tcp_admits_viewers(const struct tcp *t)
{
	return t->viewed && t->n_viewers < VIEWERS_MOST && !t->leaving;
}

static int connect_to_agent(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0 || strlen(path) >= sizeof(address.sun_path))
		goto failed;
	strcpy(address.sun_path, path);
	if (!connect(fd, (struct sockaddr *)&address, sizeof(address)))
		return fd;
failed:
	if (fd >= 0)
		close(fd);
	return -1;
}

static void end_viewer(struct tcp *t, struct tcp_viewer *v)
{
	struct tcp_viewer **at = &t->viewers;

	while (*at != v)
		at = &(*at)->next;
	*at = v->next;
	t->n_viewers--;
	tcp_close(t, v->agent);
	tcp_close(t, v->packets.fd);
	tcp_packets_clear(&v->packets);
	free(v);
}

/* All views have come that will. */
static void say_end(struct tcp_viewer *v)
{
	if (tcp_packet_put(&v->packets, TCP_BYE, NULL, 0))
		tcp_packets_flush(&v->packets);
}

/* Errors end the viewer at its next event. */
static void watch_again(struct tcp *t, struct tcp_viewer *v)
{
	const bool leaves = v->packets.out != NULL;
	struct epoll_event e = {
		.events = leaves ? 0 : EPOLLIN, .data.u64 = (uintptr_t)v | TCP_WATCH_VIEWED};

	epoll_ctl(t->epoll, EPOLL_CTL_MOD, v->agent, &e);
	tcp_watch(t, v->packets.fd, TCP_WATCH_VIEWER, v, leaves, true);
}

void tcp_viewer_up(struct tcp *t, struct tcp_meeting *m)
{
	const int most = ON_WAY_MOST, agent = connect_to_agent(t->viewed);
	struct tcp_viewer *v;
	struct tcp_keys keys;

	if (agent < 0 || !tcp_keys(t, m, &keys)) {
		tcp_stranger(t, m, agent < 0 ? "the agent takes no viewer now" : "it has no key");
		if (agent >= 0)
			close(agent);
		return;
	}
	v = xcalloc(1, sizeof(*v));
	v->agent = agent;
	tcp_packets_open(&v->packets, m->fd, &keys, false, REQUEST_MOST);
	sodium_memzero(&keys, sizeof(keys));
	setsockopt(m->fd, SOL_SOCKET, SO_SNDBUF, &most, sizeof(most));
	v->next = t->viewers;
	t->viewers = v;
	t->n_viewers++;
	if (tcp_watch(t, v->packets.fd, TCP_WATCH_VIEWER, v, false, true) ||
		tcp_watch(t, v->agent, TCP_WATCH_VIEWED, v, false, false))
		end_viewer(t, v);
	m->fd = -1;
}

/* What a viewer may say to the agent: who said HELLO would be a process of the job there. */
static bool is_request(const char *content, size_t bytes)
{
	struct wire_head head;

	if (bytes < sizeof(head))
		return false;
	memcpy(&head, content, sizeof(head));
	return head.kind == WIRE_LIVE || head.kind == WIRE_SWITCH;
}

/* False: it has ended, or makes no sense. What the agent does not take now is said again. */
static bool hear_viewer(struct tcp_viewer *v)
{
	char *content;
	size_t bytes;
	int got = 1;

	for (int left = HEARD_MOST; left && got > 0; left--) {
		got = tcp_packet_take(&v->packets, &content, &bytes);
		if (got <= 0)
			break;
		if (is_request(content, bytes))
			send(v->agent, content, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
		else
			got = -EPROTO;
		free(content);
	}
	return got >= 0;
}

void tcp_on_viewer(struct tcp *t, struct tcp_viewer *v)
{
	if (tcp_packets_flush(&v->packets) || !hear_viewer(v))
		end_viewer(t, v);
	else
		watch_again(t, v);
}

/* False: the agent has ended, or has had enough of this viewer. */
static bool hear_agent(struct tcp_viewer *v, char *view)
{
	while (!v->packets.out) {
		const ssize_t n = recv(v->agent, view, VIEW_MOST, MSG_DONTWAIT | MSG_TRUNC);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return true;
		if (n <= 0 || n > VIEW_MOST)
			return false;
		tcp_packet_put(&v->packets, TCP_PACKET, view, (size_t)n);
		if (tcp_packets_flush(&v->packets))
			return false;
	}
	return true;
}

void tcp_on_viewed(struct tcp *t, struct tcp_viewer *v, bool hung_up)
{
	char *view = xmalloc(VIEW_MOST);
	const bool stalled = v->packets.out != NULL;

	/* what it has not taken when the agent hangs up it will not see */
	if (hear_agent(v, view) && !(hung_up && stalled)) {
		watch_again(t, v);
	} else {
		say_end(v);
		end_viewer(t, v);
	}
	free(view);
}

void tcp_viewers_end(struct tcp *t)
{
	while (t->viewers) {
		say_end(t->viewers);
		end_viewer(t, t->viewers);
	}
	free(t->viewed);
	t->viewed = NULL;
}
