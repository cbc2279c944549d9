/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Declarations for the files of the TCP transport, and the format on the wire. Two agents meet by
 *
 *	dialer     HELLO            PROOF      frames ...
 *	listener          WELCOME              frames ...
 *
 * in which each proves by HMAC-SHA256 that it knows the secret: the dialer first, by the
 * signature of HELLO, so that a stranger gets nothing that was made with the secret. Numbers
 * are in the byte order of the machine, which HELLO has. Each has half of an agreement on keys
 * that nobody else can make (X25519), so who learns the secret later cannot read what was
 * recorded. All frames are sealed by ChaCha20-Poly1305 (seal.c). Of two agents the one with the
 * higher rank dials; if the other one wants a connection, it asks for that by a meeting that ends
 * with PROOF. The table of every byte is in vftr-peers(7).
 */
#ifndef VFTR_NODEAGENT_NET_TCP_INTERNAL_H
#define VFTR_NODEAGENT_NET_TCP_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include <sodium.h>

#include "nodeagent/net/tcp/addresses.h"
#include "nodeagent/net/tcp/contact.h"
#include "nodeagent/net/tcp/lookup.h"
#include "nodeagent/net/tcp/tcp.h"
#include "nodeagent/net/transport.h"
#include "nodeagent/base/quota.h"

#define TCP_MAGIC		TRANSPORT_MAGIC
#define TCP_VERSION		TRANSPORT_VERSION
#define TCP_BYTE_ORDER		TRANSPORT_ORDER
#define TCP_DIGEST_BYTES	crypto_hash_sha256_BYTES /* and of a proof, HMAC-SHA256 */
#define TCP_KEY_BYTES		32			 /* of ChaCha20-Poly1305 */
#define TCP_TAG_BYTES		16			 /* what sealing adds */
#define TCP_SHARE_BYTES		32			 /* of X25519 */
#define TCP_HOST_BYTES		64
#define TCP_SESSION_BYTES	64	     /* a longer name is cut */
#define TCP_PART_BYTES		(256u << 10) /* of a longer message in one frame */
#define TCP_FRAME_MOST		(1u << 20)   /* a longer one is refused */
#define TCP_LIST_MOST		(16u << 20)  /* of an invitation: the list of all contacts */
#define TCP_LISTENERS		16
#define TCP_MEETINGS		512  /* at a time, with others that dialed */
#define TCP_SHARE		128  /* meetings of one address without HELLO */
#define TCP_SHARES		4096 /* hashes of addresses for that */
#define TCP_HELLOS		1024 /* last ones, which are refused if they come again */
#define TCP_DIALS		32   /* most that we begin within TCP_PATIENCE_S */
#define TCP_PATIENCE_S		1.0  /* for one side of a meeting, if others wait */
#define TCP_BYE_TOGETHER	1u   /* tag of a TCP_BYE: all below have left before */
#define LEFT_S			2.0 /* later it is told that an agent has left: most leave together */
#define PAUSE_FIRST_S		0.05 /* between attempts to reach an agent */
#define PAUSE_MOST_S		2.0
#define TCP_QUICK_MOST		256  /* small messages that have not left */
#define TCP_SMALL_MOST		4096 /* small messages of an agent in the inbox */
#define TCP_NOTES_MOST		200  /* lines about agents */
#define TCP_NOTES_EACH		10   /* of them, of one kind about one agent */
#define TCP_STRANGER_NOTES_MOST 50   /* about others */
#define TCP_STRANGER_NOTES_EACH 4    /* of them, about one address */

enum tcp_purpose { TCP_LINK = 1, TCP_INVITATION, TCP_KNOCK, TCP_VIEW };

/* What has become of an agent. */
enum tcp_fate {
	TCP_LIVES,
	TCP_ENDED,
	TCP_UNREACHED,
	TCP_NEVER_CAME,
	TCP_NAMELESS,
	TCP_UNTRUSTED,
	TCP_LEFT,
	TCP_FATES
};

enum tcp_verdict {
	TCP_WELCOME = 0,
	TCP_OTHER_VERSION,
	TCP_OTHER_ORDER,
	TCP_OTHER_LIST,
	TCP_ANOTHER_LIFE,
	TCP_NOT_YET,
	TCP_INVITED, /* already */
	TCP_TAKEN,   /* invited by another agent */
	TCP_OTHER_SESSION,
	TCP_OTHER_SECRET,
	TCP_NO_VIEWERS, /* from outside are admitted */
	TCP_VERDICTS
};

struct tcp_hello {
	char magic[8];
	uint32_t version, order;
	uint32_t purpose, from, to, size; /* ranks, number of agents */
	uint64_t life;	   /* number of this run of the agent: a restart has another */
	uint64_t received; /* last seq that came from the other side */
	unsigned char share[TCP_SHARE_BYTES]; /* public, another one each time */
	unsigned char list[TCP_DIGEST_BYTES]; /* digest of all contacts; 0: not known yet */
	char host[TCP_HOST_BYTES], session[TCP_SESSION_BYTES]; /* empty session: any */
	unsigned char proof[TCP_DIGEST_BYTES];
};

/* proof is zero if the verdict is about HELLO's first words or its proof. */
struct tcp_welcome {
	char magic[8];
	uint32_t version, order, verdict, unused;
	uint64_t life, received;
	unsigned char share[TCP_SHARE_BYTES]; /* public, another one each time */
	unsigned char list[TCP_DIGEST_BYTES];
	char host[TCP_HOST_BYTES], session[TCP_SESSION_BYTES];
	unsigned char proof[TCP_DIGEST_BYTES];
};

#define TCP_HEAD_BYTES 16 /* of both: magic, version and order, in all versions */

enum tcp_kind {
	TCP_MESSAGE = 1, /* part of one */
	TCP_BYE,	 /* the sender leaves, all went well */
	TCP_SMALL,	 /* whole; lost where a connection is lost */
	TCP_ALIVE,	 /* only an acknowledgement */
	TCP_INVITE,	 /* after HELLO with TCP_INVITATION: the contacts of all */
	TCP_NEWS,	 /* of other agents, see news.c */
	TCP_CHECK,	 /* empty, to be acknowledged: does the other side still work? */
	TCP_PACKET,	 /* of a viewer, or for one */
	TCP_KINDS
};

struct tcp_frame {
	uint64_t seq;  /* from 1; 0: not repeated on another connection */
	uint64_t ack;  /* all frames up to this seq have come */
	uint64_t left; /* bytes of the message, this part included */
	uint32_t kind, tag, bytes, unused;
};

_Static_assert(sizeof(struct tcp_hello) == 272, "no padding");
_Static_assert(sizeof(struct tcp_welcome) == 264, "no padding");
_Static_assert(sizeof(struct tcp_frame) == 40, "no padding");
#define TCP_FRAME_SEALED (sizeof(struct tcp_frame) + TCP_TAG_BYTES)

struct tcp_keys {
	unsigned char of_dialer[TCP_KEY_BYTES], of_listener[TCP_KEY_BYTES];
};

struct tcp_chunk {
	struct tcp_chunk *next;
	struct tcp_frame frame;
	char content[];
};

/* A connection after both have proved who they are. */
struct tcp_link {
	int fd; /* -1: none */
	unsigned char key_out[TCP_KEY_BYTES], key_in[TCP_KEY_BYTES];
	uint64_t n_out, n_in;
	struct tcp_chunk *now;	   /* being written: */
	unsigned char *now_sealed; /* frame and content */
	size_t now_bytes, now_at;
	struct tcp_chunk *quick, **quick_end; /* sent before all kept ones */
	unsigned n_quick;
	unsigned char
		sealed[TCP_FRAME_SEALED]; /* of which in_at bytes have come, content included */
	struct tcp_frame in;
	size_t in_at;
	char *content; /* where it is decrypted, too; NULL: the frame has not come */
	bool wants_out;
	double opened; /* s */
};

/* A connection of a viewer after both have proved who they are; see packets.c. */
struct tcp_packets {
	int fd;
	unsigned char key_out[TCP_KEY_BYTES], key_in[TCP_KEY_BYTES];
	uint64_t n_out, n_in;
	unsigned char *out; /* a frame that leaves; NULL: none */
	size_t out_bytes, out_at;
	size_t most; /* bytes of a packet that comes */
	unsigned char sealed[TCP_FRAME_SEALED];
	struct tcp_frame in;
	size_t in_at;  /* bytes of sealed, or of content, that have come */
	char *content; /* NULL: the frame has not come */
};

/* Another agent. */
struct tcp_agent {
	int rank;
	const struct contact *contact;
	struct addresses addresses; /* empty: not looked up yet */
	struct lookup *lookup;	    /* under way, or NULL */
	double lookup_since;
	bool lookup_noted;
	char host[TCP_HOST_BYTES]; /* empty: never met */
	uint64_t life;
	struct tcp_link link;

	/* sent and not acknowledged; from `unsent` on not even sent on this connection */
	struct tcp_chunk *kept, **kept_end, *unsent;
	uint64_t last_seq, acked;
	uint64_t received, told; /* last seq that came; that we acknowledged */

	/* a message that comes in parts */
	char *partial;
	uint32_t partial_tag;
	uint64_t partial_total, partial_have, partial_room;

	unsigned n_small; /* of those in the inbox */

	bool near;   /* a neighbour in the tree */
	bool wanted; /* a connection, until there is one */
	bool marked; /* while neighbours are looked for */
	bool absent; /* has not come yet, and is not waited for: its neighbours do without it */
	bool invited;
	bool told_of; /* others, by all that we know */
	enum tcp_fate fate;
	enum tcp_fate said; /* by others, while there is a connection: it may soon break */
	bool left, left_told, dead, lost_noted;
	bool left_together;	     /* ... after all below it */
	double left_since, check_at; /* 0: nothing to be checked */
	struct tcp_chunk *pending;   /* a small message, until there is a connection */
	double pending_since;
	unsigned nonsense; /* frames that were opened and make no sense */
	unsigned breaks;   /* of connections that did not live long, in a row */
	bool slow;	   /* see transport.h */
	unsigned slow_times;
	double heard, sent, down_since, refused_since, next_dial, pause;
	double waiting_since; /* for an acknowledgement, if something is kept */
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
	bool dialed;
	enum tcp_purpose purpose;
	int rank; /* whom we dialed */
	struct tcp_hello hello;
	struct tcp_welcome welcome;
	unsigned char own[TCP_SHARE_BYTES]; /* what our share was made of */
	unsigned char sealed[TCP_FRAME_SEALED];
	struct tcp_frame frame;
	char *content;
	size_t have, bytes; /* of content, if it is sent */
	double began, until;
	char *who;	/* its address */
	uint64_t share; /* index in tcp->silent, by its address */
	bool silent;	/* counts in tcp->silent[share] */
};

struct tcp {
	struct transport transport; /* first: the two are converted by a cast */
	const struct tcp_options *options;
	char *secret, *session;
	size_t secret_bytes;
	char host[TCP_HOST_BYTES], named[TCP_SESSION_BYTES]; /* named: session, or empty */
	unsigned char digest[TCP_DIGEST_BYTES];		     /* of the list */
	uint64_t life;
	bool invites;			/* others, as it was invited itself or leads */
	double deadline, started, next; /* s; next: time of the next timer */
	double more; /* s that deadline gets for each agent when they are known */
	int epoll, listener[TCP_LISTENERS];
	size_t n_listeners;
	bool full;   /* dialers wait to be accepted */
	size_t turn; /* of known agents, which is dialed next */
	unsigned port;
	struct contacts list;
	struct tcp_agent **agents; /* by rank; NULL: nothing is known, as of ourselves */
	struct tcp_agent **known;  /* the same ones */
	size_t n_known, cap_known;
	bool near_stale; /* neighbours are to be looked for */
	char **hosts;	 /* agent 0, before the plan is made: by rank, NULL if it has not come */
	int n_hosts;
	bool host_said;
	struct lookup *dropped; /* without an answer yet */
	struct tcp_meeting *meetings;
	struct tcp_viewer *viewers;
	unsigned n_viewers;
	char *viewed; /* the agent's socket, for viewers; NULL: none are admitted */
	unsigned n_accepted;
	uint16_t silent[TCP_SHARES]; /* meetings, by share */
	struct tcp_message *inbox, **inbox_end;
	char *notes;
	struct quota about_agents, strangers;
	uint64_t hellos[TCP_HELLOS]; /* first words of their proofs */
	unsigned next_hello;
	int deaths; /* messages with this tag tell of them; 0: none */
	bool leaving;
};

enum tcp_watch {
	TCP_WATCH_LISTENER,
	TCP_WATCH_MEETING,
	TCP_WATCH_AGENT,
	TCP_WATCH_VIEWER, /* its connection */
	TCP_WATCH_VIEWED, /* its socket to the agent */
};

/* tcp.c */
int tcp_watch(struct tcp *t, int fd, enum tcp_watch kind, const void *p, bool out, bool again);
/* Closes fd without further events from it, even if a copy of our process has it open, too. */
void tcp_close(struct tcp *t, int fd);
/* A line for log and standard error: about this agent, unless it has had too many; or always. */
void tcp_note(struct tcp *t, const struct tcp_agent *a, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void tcp_say(struct tcp *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void tcp_deliver(struct tcp *t, int from, int tag, bool small, void *buf, size_t bytes);
/* The next message of this sender and tag; the caller frees it and its content. NULL: none. */
struct tcp_message *tcp_take(struct tcp *t, int from, int tag);
/* Makes the agents from t->list. False if the list makes no sense for rank me. */
bool tcp_adopt_list(struct tcp *t, int me);
/* For texts: "node2 (10.0.0.2:8387)". */
struct tcp_name {
	char text[TCP_HOST_BYTES + CONTACT_BYTES_MAX + 8];
};
struct tcp_name tcp_name(const struct tcp_agent *a);

/* Closes the connection, which is made again; or gives the agent up as dead. */
void tcp_lost(struct tcp *t, struct tcp_agent *a, const char *why);
/* A message to this agent itself, if it wants them: of its death, or that it is back. */
void tcp_tell_death(struct tcp *t, const struct tcp_agent *a, bool dead);

/* agents.c */
/* Makes it known. */
struct tcp_agent *tcp_agent_of(struct tcp *t, int rank);
/* NULL: it is not known. */
struct tcp_agent *tcp_agent_known(const struct tcp *t, int rank);
/* True if there should be a connection; before that becomes true, tcp_want() is to be called. */
bool tcp_needs(const struct tcp_agent *a);
void tcp_want(struct tcp *t, struct tcp_agent *a);
void tcp_find_neighbours(struct tcp *t);
/* It was started anew, before anything happened: what it has not got is sent again. */
void tcp_forget_life(struct tcp *t, struct tcp_agent *a);

/* news.c: what we know ourselves; neighbours learn it. */
void tcp_die_of(struct tcp *t, struct tcp_agent *a, enum tcp_fate fate);
void tcp_is_back(struct tcp *t, struct tcp_agent *a);
void tcp_has_left(struct tcp *t, struct tcp_agent *a);
/* Sends all that we know, to a new neighbour. */
void tcp_news_all(struct tcp *t, struct tcp_agent *to);
/* The connection is gone: what others have said meanwhile counts. */
void tcp_news_late(struct tcp *t, struct tcp_agent *a);
/* What a neighbour has told: 0 or -EPROTO. */
int tcp_news_take(struct tcp *t, struct tcp_agent *source, const char *content, size_t bytes);

/* timers.c: does what is due; sets t->next. */
void tcp_tick(struct tcp *t);
/* Who has not come so long after the start takes no part. */
double tcp_missed_s(const struct tcp *t);
/* From when on the agent is slow, if it does not acknowledge anything. */
double tcp_slow_from(const struct tcp *t, const struct tcp_agent *a);
/* It is slow until it has acknowledged a TCP_CHECK in time. */
void tcp_note_slow(struct tcp *t, struct tcp_agent *a);
/* Later than its acknowledgement it is checked; the more often it was slow, the later. */
double tcp_check_s(const struct tcp_agent *a);

/* link.c: frames of one agent, in and out. Both return 0 or -errno, and then the connection
 * must be closed; -EBADMSG: a frame was changed on the way, -EPROTO: its sender makes no
 * sense. */
int tcp_link_read(struct tcp *t, struct tcp_agent *a);
int tcp_link_write(struct tcp *t, struct tcp_agent *a);
const char *tcp_link_error(int error);
/* Makes fd the agent's connection; the other side has our frames up to `received`. */
void tcp_link_open(struct tcp *t, struct tcp_agent *a, int fd, const struct tcp_keys *keys,
	bool dialed, uint64_t received);
void tcp_link_close(struct tcp *t, struct tcp_agent *a);
/* Queues a message that is sent again if the connection breaks; or one that is not. Of small
 * messages one waits for a connection. */
void tcp_keep(struct tcp_agent *a, enum tcp_kind kind, int tag, const void *buf, size_t bytes);
bool tcp_quick(struct tcp *t, struct tcp_agent *a, enum tcp_kind kind, int tag, const void *buf,
	size_t bytes);
void tcp_agent_clear(struct tcp *t, struct tcp_agent *a);

/* seal.c: keys, and frames under them. A key seals one frame of each number. */
/* Our half of an agreement on keys; what it is made of is kept in the meeting. */
void tcp_draw_share(struct tcp_meeting *m, unsigned char share[TCP_SHARE_BYTES]);
/* After HELLO and WELCOME. False: what came is no share. */
bool tcp_keys(const struct tcp *t, const struct tcp_meeting *m, struct tcp_keys *keys);
/* Bytes of the frame and its content on the wire, which the caller frees. */
unsigned char *tcp_frame_seal(const unsigned char *key, uint64_t number, const struct tcp_frame *f,
	const void *content, size_t *bytes);
/* False: it was changed on the way, or was not made with this key, as this one of its frames. */
bool tcp_frame_open(const unsigned char *key, uint64_t number,
	const unsigned char sealed[TCP_FRAME_SEALED], struct tcp_frame *f);
/* Bytes on the wire of so many of content. */
size_t tcp_content_sealed(size_t bytes);
/* The same of a frame's content, in its place, which has room for a NUL that is put behind it. */
bool tcp_content_open(
	const unsigned char *key, uint64_t number, const struct tcp_frame *f, char *content);

/* meet.c: what both sides of a meeting do */
struct tcp_meeting *tcp_meeting_new(struct tcp *t, int fd);
void tcp_meeting_event(struct tcp *t, struct tcp_meeting *m);
/* Closes m->fd, unless it is -1 because it has become that of a link. */
void tcp_meeting_end(struct tcp *t, struct tcp_meeting *m);
double tcp_meeting_s(const struct tcp *t);
void tcp_sign_hello(const struct tcp *t, const struct tcp_hello *h, unsigned char *proof);
/* what: "listener" or "dialer", for the proofs; seal.c has more behind both messages */
void tcp_sign(const struct tcp *t, const struct tcp_meeting *m, const char *what, const void *more,
	size_t more_bytes, unsigned char mac[TCP_DIGEST_BYTES]);
bool tcp_send_all(struct tcp_meeting *m, const void *buf, size_t bytes);
/* 1: buf is full; 0: not yet; -1: it was closed. */
int tcp_receive_more(struct tcp_meeting *m, void *buf, size_t bytes);
/* A sentence why an agent is refused, by its verdict, session and digest. The caller frees. */
char *tcp_refusal(const struct tcp *t, uint32_t verdict, uint32_t version, const char *session,
	const unsigned char *list);
/* True for a refusal that occurs in a normal start. */
bool tcp_comes_too_often(uint32_t verdict);
/* True if the agent of this contact may have this session. */
bool tcp_session_fits(const struct tcp *t, const struct contact *c, const char *session);
void tcp_link_up(struct tcp *t, struct tcp_meeting *m, struct tcp_agent *a, uint64_t life,
	const char *host, uint64_t received);

/* listen.c: the listener's side */
/* True if what answers is a new process of this agent, while nothing is lost by that. */
bool tcp_may_start_anew(const struct tcp *t, const struct tcp_agent *a, uint64_t life);
/* Accepts all that dial at this listener, as far as there is room for them. */
void tcp_accept(struct tcp *t, int fd);
void tcp_listen_again(struct tcp *t, bool yes);
/* A connection from outside; from is NULL in tests. Others may have to make room for it. */
void tcp_meet(struct tcp *t, int fd, const struct sockaddr_storage *from);
/* Reports a stranger once for its address, whatever its port: most try again and again. */
void tcp_stranger(struct tcp *t, const struct tcp_meeting *m, const char *why);
/* Counts m as silent, or no longer so, for its address. */
void tcp_silent(struct tcp *t, struct tcp_meeting *m, bool yes);
void tcp_on_hello(struct tcp *t, struct tcp_meeting *m);
void tcp_on_proof(struct tcp *t, struct tcp_meeting *m);
void tcp_on_invite(struct tcp *t, struct tcp_meeting *m);

/* dial.c: the dialer's side */
void tcp_dial(struct tcp *t, struct tcp_agent *a, enum tcp_purpose purpose);
void tcp_on_connected(struct tcp *t, struct tcp_meeting *m);
void tcp_on_welcome(struct tcp *t, struct tcp_meeting *m);
void tcp_on_inviting(struct tcp *t, struct tcp_meeting *m);
/* The first words of a WELCOME, which all versions have. Why not, or NULL; the caller frees. */
char *tcp_check_head(const struct tcp *t, const struct tcp_welcome *w);
/* Of a WELCOME: anybody could have sent it. */
bool tcp_needs_no_proof(uint32_t verdict);

/* packets.c: of viewers. `most`: bytes of a packet that may come. clear() leaves fd open. */
void tcp_packets_open(
	struct tcp_packets *p, int fd, const struct tcp_keys *keys, bool dialed, size_t most);
void tcp_packets_clear(struct tcp_packets *p);
/* To be sent by flush(). False: another one still leaves. */
bool tcp_packet_put(struct tcp_packets *p, enum tcp_kind kind, const void *buf, size_t bytes);
/* 0 or -errno; what has not left then, p->out, leaves later. */
int tcp_packets_flush(struct tcp_packets *p);
/* 1: the next packet, which the caller frees; 0: it has not come; -ENODATA: the other side has
 * ended; another -errno. */
int tcp_packet_take(struct tcp_packets *p, char **content, size_t *bytes);

/* viewers.c: those that have dialed */
bool tcp_admits_viewers(const struct tcp *t);
/* Takes m->fd, which is -1 then, or leaves it where the agent cannot be reached. */
void tcp_viewer_up(struct tcp *t, struct tcp_meeting *m);
void tcp_on_viewer(struct tcp *t, struct tcp_viewer *v);
void tcp_on_viewed(struct tcp *t, struct tcp_viewer *v, bool hung_up);
/* None is admitted any more. */
void tcp_viewers_end(struct tcp *t);

/* open.c: before any agent is met. NULL, or a sentence on the error; the caller frees. */
char *tcp_prepare(struct tcp *t);

#endif
