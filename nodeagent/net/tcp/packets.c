/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets of a viewer's connection, each in one frame: none is kept, none is sent again. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nodeagent/net/tcp/internal.h"
#include "nodeagent/base/util.h"

void tcp_packets_open(
	struct tcp_packets *p, int fd, const struct tcp_keys *keys, bool dialed, size_t most)
{
	*p = (struct tcp_packets){.fd = fd, .most = most};
	memcpy(p->key_out, dialed ? keys->of_dialer : keys->of_listener, TCP_KEY_BYTES);
	memcpy(p->key_in, dialed ? keys->of_listener : keys->of_dialer, TCP_KEY_BYTES);
}

void tcp_packets_clear(struct tcp_packets *p)
{
	free(p->out);
	free(p->content);
	sodium_memzero(p, sizeof(*p));
	p->fd = -1;
}

bool tcp_packet_put(struct tcp_packets *p, enum tcp_kind kind, const void *buf, size_t bytes)
{
	const struct tcp_frame f = {.kind = kind, .bytes = (uint32_t)bytes};

	if (p->out)
		return false;
	p->out = tcp_frame_seal(p->key_out, p->n_out++, &f, buf, &p->out_bytes);
	p->out_at = 0;
	return true;
}

int tcp_packets_flush(struct tcp_packets *p)
{
	while (p->out && p->out_at < p->out_bytes) {
		const ssize_t n = send(p->fd, p->out + p->out_at, p->out_bytes - p->out_at,
			MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n < 0 && errno != EINTR)
			return -errno;
		p->out_at += n > 0 ? (size_t)n : 0;
	}
	free(p->out);
	p->out = NULL;
	return 0;
}

/* 1: buf is full; 0: not yet; -errno. */
static int fill_buffer(struct tcp_packets *p, void *buf, size_t bytes)
{
	while (p->in_at < bytes) {
		const ssize_t n =
			recv(p->fd, (char *)buf + p->in_at, bytes - p->in_at, MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n <= 0)
			return n ? -errno : -ECONNRESET;
		p->in_at += (size_t)n;
	}
	p->in_at = 0;
	return 1;
}

/* As fill_buffer(): the frame says how long its content is. */
static int take_frame(struct tcp_packets *p)
{
	const int got = fill_buffer(p, p->sealed, sizeof(p->sealed));

	if (got <= 0)
		return got;
	if (!tcp_frame_open(p->key_in, p->n_in, p->sealed, &p->in))
		return -EBADMSG;
	if (p->in.kind == TCP_BYE)
		return -ENODATA;
	if (p->in.kind != TCP_PACKET || !p->in.bytes || p->in.bytes > p->most)
		return -EPROTO;
	p->content = xmalloc(tcp_content_sealed(p->in.bytes));
	return 1;
}

int tcp_packet_take(struct tcp_packets *p, char **content, size_t *bytes)
{
	int got = p->content ? 1 : take_frame(p);

	if (got > 0)
		got = fill_buffer(p, p->content, tcp_content_sealed(p->in.bytes));
	if (got <= 0)
		return got;
	if (!tcp_content_open(p->key_in, p->n_in++, &p->in, p->content))
		return -EBADMSG;
	*content = p->content;
	*bytes = p->in.bytes;
	p->content = NULL;
	return 1;
}
