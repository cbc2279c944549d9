/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of the TCP transport share, and what is on the wire. Two agents meet by
 *
 *	dialer     HELLO            PROOF      frames ...
 *	listener          WELCOME              frames ...
 *
 * in which each proves by HMAC-SHA256 that it knows the secret: the dialer first, by the
 * signature of HELLO, so that a stranger gets nothing that was made with the secret. Numbers
 * are in the byte order of the machine, which HELLO tells. From both come the keys of the
 * checksums of all frames. Of two agents the one with the higher rank dials. The table of
 * every byte is in vftr-peers(7).
 */
#ifndef VFTR_NODEAGENT_PEER_TCP_INTERNAL_H
#define VFTR_NODEAGENT_PEER_TCP_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "nodeagent/addresses.h"
#include "nodeagent/contact.h"
#include "nodeagent/lookup.h"
#include "nodeagent/peer-tcp.h"
#include "nodeagent/peer.h"
#include "nodeagent/quota.h"
#include "nodeagent/sha256.h"

#define TCP_MAGIC		"vftrpeer"
#define TCP_VERSION		2
#define TCP_BYTE_ORDER		0x01020304u
#define TCP_NONCE_BYTES		32
#define TCP_HOST_BYTES		64
#define TCP_SESSION_BYTES	64	     /* a longer name is cut */
#define TCP_PART_BYTES		(256u << 10) /* of a longer message in one frame */
#define TCP_FRAME_MOST		(1u << 20)   /* a longer one is refused */
#define TCP_LISTENERS		16
#define TCP_MEETINGS		512  /* at a time, with others that dialed */
#define TCP_SHARE		128  /* ... of those, with one address that have not said HELLO */
#define TCP_SHARES		4096 /* that are told apart */
#define TCP_HELLOS		1024 /* that are known again */
#define TCP_DIALS		32   /* that we began within TCP_PATIENCE_S */
#define TCP_PATIENCE_S		1.0  /* with one side of a meeting, if others wait */
#define PAUSE_FIRST_S		0.05 /* between attempts to reach somebody */
#define PAUSE_MOST_S		2.0
#define TCP_QUICK_MOST		256  /* small messages that have not left */
#define TCP_SMALL_MOST		4096 /* that nobody has taken */
#define TCP_NOTES_MOST		200  /* about agents */
#define TCP_NOTES_EACH		10   /* of them, of one kind about one agent */
#define TCP_STRANGER_NOTES_MOST 50   /* about others */
#define TCP_STRANGER_NOTES_EACH 4    /* of them, about one address */

enum tcp_purpose { TCP_LINK = 1, TCP_INVITATION };

enum tcp_verdict {
	TCP_WELCOME = 0,
	TCP_OTHER_VERSION,
	TCP_OTHER_ORDER,
	TCP_OTHER_LIST,
	TCP_ANOTHER_LIFE,
	TCP_NOT_YET,
	TCP_INVITED, /* already */
	TCP_TAKEN,   /* ... by somebody else */
	TCP_OTHER_SESSION,
	TCP_OTHER_SECRET,
	TCP_VERDICTS
};

struct tcp_hello {
	char magic[8];
	uint32_t version, order;
	uint32_t purpose, from, to, size; /* ranks, number of agents */
	uint64_t life;			  /* another one after a restart */
	uint64_t received;		  /* frames that need not be sent again */
	unsigned char nonce[TCP_NONCE_BYTES];
	unsigned char list[SHA256_BYTES]; /* digest of all contacts; 0: not known yet */
	char host[TCP_HOST_BYTES], session[TCP_SESSION_BYTES]; /* empty session: any */
	unsigned char proof[SHA256_BYTES];
};

/* Without a proof where the verdict is one about HELLO's first words or its proof. */
struct tcp_welcome {
	char magic[8];
	uint32_t version, order, verdict, unused;
	uint64_t life, received;
	unsigned char nonce[TCP_NONCE_BYTES];
	unsigned char list[SHA256_BYTES];
	char host[TCP_HOST_BYTES], session[TCP_SESSION_BYTES];
	unsigned char proof[SHA256_BYTES];
};

#define TCP_HEAD_BYTES 16 /* of both: magic, version and order, in all versions */

enum tcp_kind {
	TCP_MESSAGE = 1, /* part of one */
	TCP_WILL,	 /* ... of one that counts if its sender dies */
	TCP_BYE,	 /* the sender leaves, all went well */
	TCP_SMALL,	 /* whole; lost where a connection is lost */
	TCP_ALIVE,	 /* nothing but the acknowledgement */
	TCP_INVITE,	 /* after HELLO with TCP_INVITATION: the contacts of all */
	TCP_KINDS
};

struct tcp_frame {
	uint64_t head; /* SipHash of what follows but mac, so that lengths can be believed */
	uint64_t mac;  /* SipHash of frame and content */
	uint64_t seq;  /* from 1; 0: not repeated on another connection */
	uint64_t ack;  /* all up to this one have come */
	uint64_t left; /* bytes of the message, this part included */
	uint32_t kind, tag, bytes, unused;
};

_Static_assert(sizeof(struct tcp_hello) == 272, "no padding");
_Static_assert(sizeof(struct tcp_welcome) == 264, "no padding");
_Static_assert(sizeof(struct tcp_frame) == 56, "no padding");

struct tcp_chunk {
	struct tcp_chunk *next;
	struct tcp_frame frame;
	char content[];
};

/* A connection after both have proved who they are. */
struct tcp_link {
	int fd; /* -1: none */
	unsigned char key_out[SIPHASH_KEY_BYTES], key_in[SIPHASH_KEY_BYTES];
	uint64_t n_out, n_in;
	struct tcp_chunk *now; /* being written, frame and content */
	size_t now_at;
	struct tcp_chunk *quick, **quick_end; /* before all that is kept */
	unsigned n_quick;
	struct tcp_frame in;
	size_t in_at;
	char *content;
	bool wants_out;
	double opened; /* s */
};

/* Another agent. */
struct tcp_agent {
	int rank;
	const struct contact *contact;
	struct addresses addresses; /* none yet: */
	struct lookup *lookup;	    /* under way, or NULL */
	double lookup_since;
	bool lookup_noted;
	char host[TCP_HOST_BYTES]; /* empty: never met */
	uint64_t life;
	struct tcp_link link;

	/* sent and not acknowledged; from `unsent` on not even sent on this connection */
	struct tcp_chunk *kept, **kept_end, *unsent;
	uint64_t last_seq, acked;
	uint64_t received, told; /* what came; and of that what it knows of */

	/* a message that comes in parts */
	char *partial;
	uint32_t partial_kind, partial_tag;
	uint64_t partial_total, partial_have, partial_room;

	unsigned n_small; /* of those in the inbox */
	struct {
		int tag;
		void *buf;
		size_t bytes;
	} will;

	bool left, dead, lost_noted;
	unsigned nonsense; /* frames with right checksums that make no sense */
	unsigned breaks;   /* of connections that did not live long, in a row */
	double heard, sent, down_since, refused_since, next_dial, pause;
	size_t next_address;
	int meetings; /* dialed and under way */
};

struct tcp_message {
	struct tcp_message *next;
	int from, tag;
	bool small;
	size_t bytes;
	void *buf;
};

struct tcp_meeting {
	struct tcp_meeting *next;
	int fd;
	enum {
		MEET_CONNECT,
		MEET_HELLO,
		MEET_WELCOME,
		MEET_PROOF,
		MEET_INVITE,
		MEET_INVITING
	} state;
	bool dialed, probe; /* probe: only to see whether there is still somebody */
	enum tcp_purpose purpose;
	int rank; /* whom we dialed */
	struct tcp_hello hello;
	struct tcp_welcome welcome;
	struct tcp_frame frame;
	char *content;
	size_t have, bytes; /* ... of content, where it is sent */
	double began, until;
	char *who;	/* its address */
	uint64_t share; /* ... by which it has its share of places */
	bool silent;	/* has a place of those */
};

struct tcp {
	struct peer peer; /* first: the two are converted by a cast */
	const struct peer_tcp_options *options;
	char *secret, *session;
	size_t secret_bytes;
	char host[TCP_HOST_BYTES], named[TCP_SESSION_BYTES]; /* named: session, or empty */
	unsigned char digest[SHA256_BYTES];		     /* of the list */
	uint64_t life, inviter;				     /* of whom we know the others, or 0 */
	double deadline, started, next; /* s; next: when timers are looked at */
	int epoll, listener[TCP_LISTENERS];
	int bell; /* eventfd: a name was looked up */
	size_t n_listeners;
	bool full; /* others that dial wait */
	int turn;  /* who is the next to be dialed */
	unsigned port;
	struct contacts list;
	struct tcp_agent *agents; /* by rank; our own is not used */
	struct tcp_meeting *meetings;
	unsigned n_accepted;
	uint16_t silent[TCP_SHARES]; /* meetings, by share */
	struct tcp_message *inbox, **inbox_end;
	char *notes;
	struct quota about_agents, strangers;
	uint64_t hellos[TCP_HELLOS]; /* beginnings of their proofs */
	unsigned next_hello;
	bool leaving;
};

enum tcp_watch { TCP_WATCH_LISTENER, TCP_WATCH_MEETING, TCP_WATCH_AGENT, TCP_WATCH_BELL };

/* peer-tcp.c */
int tcp_watch(struct tcp *t, int fd, enum tcp_watch kind, const void *p, bool out, bool again);
/* It is closed, and tells us nothing more, even if a copy of our process has it open, too. */
void tcp_close(struct tcp *t, int fd);
/* A line for log and standard error: about this agent, if it has not had too many; or any. */
void tcp_note(struct tcp *t, const struct tcp_agent *a, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void tcp_say(struct tcp *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void tcp_deliver(struct tcp *t, int from, int tag, bool small, void *buf, size_t bytes);
/* The next of these; the caller frees it and its content. NULL: there is none. */
struct tcp_message *tcp_take(struct tcp *t, int from, int tag);
/* The list is known: who is who. False if it makes no sense for rank me. */
bool tcp_adopt_list(struct tcp *t, int me);
/* For texts: "node2 (10.0.0.2:8387)"; good until the next call. */
const char *tcp_name(const struct tcp_agent *a);

/* The connection is closed, and made again; or nobody is there any more. */
void tcp_lost(struct tcp *t, struct tcp_agent *a, const char *why);
void tcp_die_of(struct tcp *t, struct tcp_agent *a, const char *why);

/* peer-tcp-timers.c: whatever is due; t->next is when to come back. */
void tcp_tick(struct tcp *t);

/* peer-tcp-link.c: frames of one agent, in and out. Both return 0 or -errno: the connection is
 * to be closed; -EBADMSG if what came was changed on the way, -EPROTO if its sender makes no
 * sense. */
int tcp_link_read(struct tcp *t, struct tcp_agent *a);
int tcp_link_write(struct tcp *t, struct tcp_agent *a);
const char *tcp_link_error(int error);
/* A connection from now on; the other side has `received` of our frames. */
void tcp_link_open(struct tcp *t, struct tcp_agent *a, int fd, const unsigned char *keys,
	bool dialed, uint64_t received);
void tcp_link_close(struct tcp *t, struct tcp_agent *a);
/* What is sent again where a connection breaks; and what is not. */
void tcp_keep(struct tcp_agent *a, enum tcp_kind kind, int tag, const void *buf, size_t bytes);
bool tcp_quick(struct tcp_agent *a, enum tcp_kind kind, int tag, const void *buf, size_t bytes);
void tcp_agent_clear(struct tcp_agent *a);
/* Fills in both checksums; and whether they are right: first of all but the content. */
void tcp_frame_sign(
	const unsigned char *key, uint64_t number, struct tcp_frame *f, const void *content);
bool tcp_frame_head_is_right(const unsigned char *key, uint64_t number, const struct tcp_frame *f);
bool tcp_frame_is_right(
	const unsigned char *key, uint64_t number, const struct tcp_frame *f, const void *content);

/* peer-tcp-meet.c: what both sides of a meeting do */
struct tcp_meeting *tcp_meeting_new(struct tcp *t, int fd);
void tcp_meeting_event(struct tcp *t, struct tcp_meeting *m);
/* The descriptor is not closed where it has become that of a link: m->fd is -1 then. */
void tcp_meeting_end(struct tcp *t, struct tcp_meeting *m);
double tcp_meeting_s(const struct tcp *t);
void tcp_sign_hello(const struct tcp *t, const struct tcp_hello *h, unsigned char *proof);
/* what: "listener" or "dialer", for the proofs, and "keys" */
void tcp_sign(const struct tcp *t, const struct tcp_meeting *m, const char *what,
	unsigned char mac[SHA256_BYTES]);
bool tcp_fill_nonce(unsigned char nonce[TCP_NONCE_BYTES]);
bool tcp_send_all(struct tcp_meeting *m, const void *buf, size_t bytes);
/* 1: buf is full; 0: not yet; -1: it was closed. */
int tcp_receive_more(struct tcp_meeting *m, void *buf, size_t bytes);
/* Why an agent is not one of ours: of its verdict, session and digest. The caller frees. */
char *tcp_refusal(const struct tcp *t, uint32_t verdict, uint32_t version, const char *session,
	const unsigned char *list);
/* Refused in the course of a normal start. */
bool tcp_comes_too_often(uint32_t verdict);
/* Whether the agent of this place may have this session. */
bool tcp_session_fits(const struct tcp *t, const struct contact *c, const char *session);
void tcp_link_up(struct tcp *t, struct tcp_meeting *m, struct tcp_agent *a, uint64_t life,
	const char *host, uint64_t received);

/* peer-tcp-listen.c: the listener's side */
/* All that dial at this listener, as far as there is room for them. */
void tcp_accept(struct tcp *t, int fd);
void tcp_listen_again(struct tcp *t, bool yes);
/* A connection from outside; from is NULL in tests. Others may have to make room for it. */
void tcp_meet(struct tcp *t, int fd, const struct sockaddr_storage *from);
/* Named once of an address, whatever its port: most try again and again. */
void tcp_stranger(struct tcp *t, const struct tcp_meeting *m, const char *why);
/* Whether it has not said who it is yet, and counts for its share. */
void tcp_silent(struct tcp *t, struct tcp_meeting *m, bool yes);
void tcp_on_hello(struct tcp *t, struct tcp_meeting *m);
void tcp_on_proof(struct tcp *t, struct tcp_meeting *m);
void tcp_on_invite(struct tcp *t, struct tcp_meeting *m);

/* peer-tcp-dial.c: the dialer's side */
void tcp_dial(struct tcp *t, struct tcp_agent *a, enum tcp_purpose purpose, bool probe);
void tcp_on_connected(struct tcp *t, struct tcp_meeting *m);
void tcp_on_welcome(struct tcp *t, struct tcp_meeting *m);
void tcp_on_inviting(struct tcp *t, struct tcp_meeting *m);

/* peer-tcp-open.c: before anybody is met. Why not, or NULL; the caller frees. */
char *tcp_prepare(struct tcp *t);

#endif
