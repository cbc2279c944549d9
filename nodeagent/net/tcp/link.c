/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames of one agent over its present connection, and what outlives that. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "nodeagent/net/tcp/internal.h"
#include "nodeagent/base/util.h"

#define READS_MOST 64  /* frames at a time: others want to be read, too */
#define CALM_S	   2.0 /* a connection that lived so long did not break at once */

/* What a frame of each kind may be. */
static const struct {
	uint32_t most;
	bool kept;
} kinds[TCP_KINDS] = {
	[TCP_MESSAGE] = {TCP_FRAME_MOST, true},
	[TCP_BYE] = {0, true},
	[TCP_SMALL] = {TRANSPORT_SMALL_MAX, false},
	[TCP_ALIVE] = {0, false},
	[TCP_NEWS] = {TCP_PART_BYTES, true},
	[TCP_CHECK] = {0, true},
};

const char *tcp_link_error(int error)
{
	return error == -EPROTO	   ? "what came is not of the agents' protocol"
	       : error == -EBADMSG ? "what came was changed on the way"
				   : strerror(-error);
}

/* Out */

static struct tcp_chunk *chunk_new(
	enum tcp_kind kind, int tag, const char *buf, size_t bytes, size_t left)
{
	struct tcp_chunk *c = xmalloc(sizeof(*c) + bytes);

	c->next = NULL;
	c->frame = (struct tcp_frame){
		.kind = kind, .tag = (uint32_t)tag, .bytes = (uint32_t)bytes, .left = left};
	if (bytes)
		memcpy(c->content, buf, bytes);
	return c;
}

void tcp_keep(struct tcp_agent *a, enum tcp_kind kind, int tag, const void *buf, size_t bytes)
{
	const char *at = buf;
	size_t left = bytes;

	if (!a->kept)
		a->waiting_since = transport_now();
	do {
		size_t part = left < TCP_PART_BYTES ? left : TCP_PART_BYTES;
		struct tcp_chunk *c = chunk_new(kind, tag, at, part, left);

		c->frame.seq = ++a->last_seq;
		*a->kept_end = c;
		a->kept_end = &c->next;
		if (!a->unsent)
			a->unsent = c;
		left -= part;
		if (left)
			at += part;
	} while (left);
}

static void put_quick(struct tcp_link *l, struct tcp_chunk *c)
{
	*l->quick_end = c;
	l->quick_end = &c->next;
	l->n_quick++;
}

bool tcp_quick(struct tcp *t, struct tcp_agent *a, enum tcp_kind kind, int tag, const void *buf,
	size_t bytes)
{
	struct tcp_link *l = &a->link;

	if (l->fd >= 0 && l->n_quick >= TCP_QUICK_MOST)
		return false;
	if (l->fd >= 0) {
		put_quick(l, chunk_new(kind, tag, buf, bytes, bytes));
		return true;
	}
	if (kind != TCP_SMALL || a->dead || a->left)
		return false;
	tcp_want(t, a);
	a->wanted = true;
	free(a->pending);
	a->pending = chunk_new(kind, tag, buf, bytes, bytes);
	a->pending_since = transport_now();
	return true;
}

/* The last small message, if it was sent not long before there was a connection. */
static void send_pending(struct tcp_agent *a, double now)
{
	if (a->pending && now - a->pending_since < CALM_S)
		put_quick(&a->link, a->pending);
	else
		free(a->pending);
	a->pending = NULL;
}

static struct tcp_chunk *next_chunk(struct tcp_agent *a)
{
	struct tcp_link *l = &a->link;
	struct tcp_chunk *c = l->quick;

	if (c) {
		l->quick = c->next;
		if (!l->quick)
			l->quick_end = &l->quick;
		l->n_quick--;
		return c;
	}
	c = a->unsent;
	if (c)
		a->unsent = c->next;
	return c;
}

static bool is_kept(const struct tcp_chunk *c)
{
	return c->frame.seq != 0;
}

static int write_sealed(struct tcp_link *l)
{
	while (l->now_at < l->now_bytes) {
		ssize_t n = send(l->fd, l->now_sealed + l->now_at, l->now_bytes - l->now_at,
			MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		l->now_at += (size_t)n;
	}
	return 0;
}

static void free_sealed(struct tcp_link *l)
{
	free(l->now_sealed);
	l->now_sealed = NULL;
}

int tcp_link_write(struct tcp *t, struct tcp_agent *a)
{
	struct tcp_link *l = &a->link;
	bool blocked = false;

	while (l->fd >= 0 && !blocked) {
		int error;

		if (!l->now) {
			l->now = next_chunk(a);
			if (!l->now)
				break;
			l->now_at = 0;
			l->now->frame.ack = a->told = a->received;
			l->now_sealed = tcp_frame_seal(l->key_out, l->n_out++, &l->now->frame,
				l->now->content, &l->now_bytes);
		}
		error = write_sealed(l);
		if (error && error != -EAGAIN)
			return error;
		blocked = error;
		if (!blocked) {
			free_sealed(l);
			if (!is_kept(l->now))
				free(l->now);
			l->now = NULL;
			a->sent = transport_now();
		}
	}
	if (l->fd >= 0 && blocked != l->wants_out) {
		l->wants_out = blocked;
		tcp_watch(t, l->fd, TCP_WATCH_AGENT, a, blocked, true);
	}
	return 0;
}

/* In */

/* A check tells that what came before it was passed on; a late answer tells nothing. */
static void note_check(struct tcp *t, struct tcp_agent *a, bool in_time)
{
	if (a->slow && in_time) {
		a->slow = false;
		t->transport.news++;
	}
}

static int acknowledge(struct tcp *t, struct tcp_agent *a, uint64_t ack)
{
	const double now = transport_now();
	const bool in_time = now < tcp_slow_from(t, a);

	if (ack < a->acked) /* of a frame that was overtaken */
		return 0;
	if (ack > a->last_seq)
		return -EPROTO;
	while (a->kept && a->kept->frame.seq <= ack) {
		struct tcp_chunk *c = a->kept;

		if (c == a->unsent || c == a->link.now)
			return -EPROTO;
		if (c->frame.kind == TCP_CHECK)
			note_check(t, a, in_time);
		if (c->frame.kind == TCP_MESSAGE || a->slow)
			a->check_at = now + tcp_check_s(a);
		a->kept = c->next;
		if (!a->kept)
			a->kept_end = &a->kept;
		free(c);
		a->waiting_since = now;
	}
	a->acked = ack;
	return 0;
}

static void complete_message(struct tcp *t, struct tcp_agent *a)
{
	char *buf = a->partial;
	size_t bytes = a->partial_have;

	a->partial = NULL;
	a->partial_room = 0;
	tcp_deliver(t, a->rank, (int)a->partial_tag, false, buf, bytes);
}

/* A part of a message. Memory is taken as it comes, not as it was announced. */
static int take_part(struct tcp *t, struct tcp_agent *a, const struct tcp_frame *f)
{
	if (!a->partial) {
		a->partial_tag = f->tag;
		a->partial_total = f->left;
		a->partial_have = 0;
		a->partial_room = f->bytes + 1;
		a->partial = xmalloc(a->partial_room);
	}
	if (f->tag != a->partial_tag || f->left != a->partial_total - a->partial_have ||
		f->bytes > f->left || (!f->bytes && f->left))
		return -EPROTO;
	if (a->partial_have + f->bytes >= a->partial_room) {
		uint64_t room = 2 * (a->partial_have + f->bytes) + 1;

		/* the last byte is for a NUL behind texts */
		a->partial_room = room > a->partial_total ? a->partial_total + 1 : room;
		a->partial = xrealloc(a->partial, a->partial_room);
	}
	if (f->bytes)
		memcpy(a->partial + a->partial_have, a->link.content, f->bytes);
	a->partial_have += f->bytes;
	a->partial[a->partial_have] = '\0';
	if (a->partial_have == a->partial_total)
		complete_message(t, a);
	return 0;
}

static int take_frame(struct tcp *t, struct tcp_agent *a, const struct tcp_frame *f)
{
	int error = acknowledge(t, a, f->ack);

	if (error)
		return error;
	a->heard = transport_now();
	if (f->kind == TCP_SMALL && a->n_small < TCP_SMALL_MOST) {
		a->n_small++;
		tcp_deliver(t, a->rank, (int)f->tag, true, a->link.content, f->bytes);
		a->link.content = NULL;
	}
	if (!kinds[f->kind].kept)
		return 0;
	if (f->seq != a->received + 1)
		return f->seq && f->seq <= a->received ? 0 : -EPROTO;
	a->received++;
	if (f->kind == TCP_BYE) {
		a->left = true;
		a->left_since = a->heard;
		a->left_together = f->tag == TCP_BYE_TOGETHER;
		return 0;
	}
	if (f->kind == TCP_NEWS)
		return tcp_news_take(t, a, a->link.content, f->bytes);
	if (f->kind == TCP_CHECK)
		return 0;
	return take_part(t, a, f);
}

static bool frame_makes_sense(const struct tcp_frame *f)
{
	return f->kind > 0 && f->kind < TCP_KINDS && f->kind != TCP_INVITE && !f->unused &&
	       f->bytes <= kinds[f->kind].most && f->tag <= TRANSPORT_TAG_MAX &&
	       !f->seq == !kinds[f->kind].kept;
}

/* 1: all of it is there, up to so many bytes of the frame; 0: not yet. */
static int receive_up_to(struct tcp_link *l, unsigned char *to, size_t from, size_t all)
{
	while (l->in_at < all) {
		ssize_t n = recv(l->fd, to + l->in_at - from, all - l->in_at, MSG_DONTWAIT);

		if (!n)
			return -ECONNRESET;
		if (n < 0)
			return errno == EAGAIN || errno == EINTR ? 0 : -errno;
		l->in_at += (size_t)n;
	}
	return 1;
}

/* 1: a frame was read; 0: there is no whole one yet. */
static int read_frame(struct tcp *t, struct tcp_agent *a)
{
	struct tcp_link *l = &a->link;
	int got = l->content ? 1 : receive_up_to(l, l->sealed, 0, TCP_FRAME_SEALED);

	if (got <= 0)
		return got;
	if (!l->content) {
		if (!tcp_frame_open(l->key_in, l->n_in, l->sealed, &l->in))
			return -EBADMSG;
		if (!frame_makes_sense(&l->in))
			return -EPROTO;
		l->content = xmalloc(tcp_content_sealed(l->in.bytes) + 1);
	}
	got = receive_up_to(l, (unsigned char *)l->content, TCP_FRAME_SEALED,
		TCP_FRAME_SEALED + tcp_content_sealed(l->in.bytes));
	if (got <= 0)
		return got;
	if (!tcp_content_open(l->key_in, l->n_in, &l->in, l->content))
		return -EBADMSG;
	l->n_in++;
	got = take_frame(t, a, &l->in);
	free(l->content);
	l->content = NULL;
	l->in_at = 0;
	return got ? got : 1;
}

int tcp_link_read(struct tcp *t, struct tcp_agent *a)
{
	int got = 1;

	for (int i = 0; i < READS_MOST && got > 0 && a->link.fd >= 0; i++)
		got = read_frame(t, a);
	if (a->near && a->check_at > 0 && a->check_at < t->next)
		t->next = a->check_at;
	if (a->left && !a->left_told && a->left_since + LEFT_S < t->next)
		t->next = a->left_since + LEFT_S;
	if (a->received > a->told)
		tcp_quick(t, a, TCP_ALIVE, 0, NULL, 0);
	return got < 0 ? got : tcp_link_write(t, a);
}

/* Connections */

void tcp_link_open(struct tcp *t, struct tcp_agent *a, int fd, const struct tcp_keys *keys,
	bool dialed, uint64_t received)
{
	struct tcp_link *l = &a->link;

	tcp_link_close(t, a);
	a->unsent = NULL;
	acknowledge(t, a, received);
	*l = (struct tcp_link){.fd = fd, .opened = transport_now()};
	l->quick_end = &l->quick;
	memcpy(l->key_out, dialed ? keys->of_dialer : keys->of_listener, TCP_KEY_BYTES);
	memcpy(l->key_in, dialed ? keys->of_listener : keys->of_dialer, TCP_KEY_BYTES);
	a->unsent = a->kept;
	a->told = a->received;
	a->heard = a->sent = l->opened;
	send_pending(a, l->opened);
	a->refused_since = 0;
	a->said = TCP_LIVES;
}

/* Where connections break one after the other, the next one waits for a while. */
static double pause_after(struct tcp_agent *a, double now)
{
	double s = PAUSE_FIRST_S;

	if (now - a->link.opened >= CALM_S)
		a->breaks = 0;
	if (!a->breaks++)
		return 0;
	for (unsigned i = 2; i < a->breaks && s < PAUSE_MOST_S; i++)
		s *= 1.5;
	return s < PAUSE_MOST_S ? s : PAUSE_MOST_S;
}

void tcp_link_close(struct tcp *t, struct tcp_agent *a)
{
	struct tcp_link *l = &a->link;
	double now = transport_now();

	if (l->fd < 0)
		return;
	tcp_close(t, l->fd);
	l->fd = -1;
	if (l->now && !is_kept(l->now))
		free(l->now);
	while (l->quick) {
		struct tcp_chunk *c = l->quick;

		l->quick = c->next;
		free(c);
	}
	l->quick_end = &l->quick;
	l->now = NULL;
	free_sealed(l);
	sodium_memzero(l->key_out, sizeof(l->key_out));
	sodium_memzero(l->key_in, sizeof(l->key_in));
	free(l->content);
	l->content = NULL;
	a->unsent = a->kept;
	/* one over which nothing came as it was sent was none */
	if (l->n_in)
		a->down_since = now;
	a->pause = pause_after(a, now);
	a->next_dial = a->pause > 0 ? now + a->pause : 0;
	t->next = 0;
}

void tcp_agent_clear(struct tcp *t, struct tcp_agent *a)
{
	while (a->kept) {
		struct tcp_chunk *c = a->kept;

		a->kept = c->next;
		free(c);
	}
	free(a->partial);
	free(a->pending);
	addresses_clear(&a->addresses);
	lookup_drop(a->lookup, &t->dropped);
}
