/* SPDX-License-Identifier: BSD-3-Clause */
/* One message of a round, sent once or several times. */
#ifndef APP_MPI_RANDOM_MESSAGE_H
#define APP_MPI_RANDOM_MESSAGE_H

#include "app-mpi-random.h"

#define MESSAGES_MAX 16

/* Blocking ones, non-blocking ones, persistent ones. */
enum how_sent {
	SEND,
	BSEND,
	SSEND,
	RSEND,
	ISEND,
	IBSEND,
	ISSEND,
	IRSEND,
	ISEND_FREE,
	SEND_INIT,
	BSEND_INIT,
	SSEND_INIT,
	RSEND_INIT,
	PSEND,
};

/* From IRECV on, before anything is sent. */
enum how_received {
	RECV,
	PROBE_RECV,
	IPROBE_RECV,
	MPROBE_MRECV,
	MPROBE_IMRECV,
	IMPROBE_MRECV,
	IMPROBE_IMRECV,
	IRECV,
	RECV_INIT,
	PRECV,
};

struct message {
	struct group *on;
	int from, to; /* world ranks */
	int tag, kind;
	int count, spare; /* elements; and this many more in the receiver's buffer */
	int repeats, parts;
	enum how_sent sent;
	enum how_received received;
	bool any_source, any_tag;
	bool has_sends, has_receives; /* persistent ones: */
	MPI_Request sends, receives;
};

bool posts_before(const struct message *m);
/* ready: receives are posted for sure when it is sent. */
void draw_message(struct message *m, int tag, bool ready);
/* alone: no other messages are about, of this round or others. */
void draw_wildcards(struct message *all, int n, bool alone);
/* This rank's part, if it has one. */
void post_receives(struct message *all, int n, int again);
void send_message(struct message *m);
void receive_message(struct message *m);
/* The second to fourth time of those that have one, and the end of persistent requests. */
void repeat_messages(struct message *all, int n);

#endif
