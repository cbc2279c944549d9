/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How agents meet over TCP, and who does not: first words, places, addresses to listen at,
 * and what is changed on the way.
 */
#include "nodeagent/net/tcp/tcp.h"

#include <check.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nodeagent/net/tcp/internal.h"
#include "nodeagent/base/util.h"
#include "t/lib/suite.h"
#include "t/unit/net/tcp-agents.h"

static void forge(struct tcp_agent *a, int i)
{
	a->link.key_out[i] ^= 1;
}

/* As its next frame, with byte i from the begin, or from the end if it is below 0, changed. */
static void send_frame(struct tcp_agent *a, const struct tcp_frame *f, int i)
{
	size_t bytes;
	unsigned char *sealed =
		tcp_frame_seal(a->link.key_out, a->link.n_out++, f, "content", &bytes);

	if (i)
		sealed[i < 0 ? bytes + i : (size_t)i] ^= 8;
	ck_assert_int_eq(send(a->link.fd, sealed, bytes, 0), bytes);
	free(sealed);
}

static void forge_content(struct tcp_agent *a, int i)
{
	(void)i;
	send_frame(a, &(struct tcp_frame){.kind = TCP_SMALL, .bytes = 8, .left = 8}, -1);
}

/* A length that was never sent, of content that would be waited for. */
static void forge_length(struct tcp_agent *a, int i)
{
	const struct tcp_frame f = {.kind = TCP_MESSAGE, .bytes = 8, .left = 8, .seq = 1};

	(void)i;
	send_frame(a, &f, offsetof(struct tcp_frame, bytes) + 2);
}

static void (*const forgeries[])(struct tcp_agent *, int) = {forge, forge_content, forge_length};

/* Whatever is changed in what passes, by anybody on the way, breaks the connection only. */
START_TEST(forged_frames_are_seen)
{
	struct tcp *t;
	struct tcp_agent *a;
	char *notes;
	void *buf;
	size_t bytes;
	int who, got;

	meet(10);
	t = (struct tcp *)peers[2];
	a = tcp_agent_of(t, 0);
	for (int i = 0; i < 6; i++) {
		forgeries[_i](a, i);
		ck_assert_int_eq(peers[2]->send(peers[2], 0, 5, "forged", 6, 0), 0);
		/* it was sent again over a new connection, with the right keys */
		got = -ETIMEDOUT;
		for (double until = transport_now() + 10; got && transport_now() < until;) {
			pump_all(0.02);
			got = peers[0]->receive(peers[0], 2, 5, &buf, &bytes, &who, 0);
		}
		ck_assert_int_eq(got, 0);
		ck_assert_mem_eq(buf, "forged", 6);
		free(buf);
	}
	ck_assert_uint_eq(tcp_agent_of((struct tcp *)peers[0], 2)->nonsense, 0);
	ck_assert(!tcp_agent_of((struct tcp *)peers[0], 2)->left);
	/* ... and one after the other, they are not made again at once */
	ck_assert_uint_ge(tcp_agent_of((struct tcp *)peers[2], 0)->breaks, 4);
	notes = tcp_notes(peers[0]);
	ck_assert_msg(strstr(notes, "what came was changed on the way") != NULL, "%s", notes);
	free(notes);
	part();
}
END_TEST

/* One that has the keys and makes no sense is another thing. */
START_TEST(nonsense_with_right_checksums_is_the_end)
{
	struct tcp_agent *a;
	char *notes;

	meet(10);
	a = tcp_agent_of((struct tcp *)peers[2], 0);
	for (int i = 0; i < 3; i++) {
		struct tcp_frame f = {.kind = TCP_KINDS + 7};

		for (double until = transport_now() + 5; a->link.fd < 0 && transport_now() < until;)
			pump_all(0.01);
		send_frame(a, &f, 0);
		pump_all(0.1);
	}
	ck_assert_uint_eq(tcp_agent_of((struct tcp *)peers[0], 2)->nonsense, 3);
	notes = tcp_notes(peers[0]);
	ck_assert_msg(strstr(notes, "is not trusted any more") != NULL, "%s", notes);
	free(notes);
	part();
}
END_TEST

/* More than can be listened to at a time, in one thread: as on a busy node. */
START_TEST(many_meet)
{
	enum { MANY = 135 };
	static struct tcp_options o[MANY];
	static char *found[MANY];
	static struct transport *all[MANY];
	const int n = getenv("VFTR_LONG") && *getenv("VFTR_LONG") ? MANY : 40;
	char *error = NULL, *secret = secret_file("a secret of more than 16 bytes", 0600);
	int links = 0;

	for (int i = n - 1; i >= 0; i--) {
		o[i] = (struct tcp_options){.listen = "127.0.0.1:0",
			.secret = secret,
			.me = -1,
			.lead = i == 0,
			.contacts = found + 1,
			.n_contacts = i ? 0 : n - 1};
		all[i] = tcp_open(&o[i], "host", "s", 50, &error);
		ck_assert_msg(all[i] != NULL, "%s", error ? error : "");
		found[i] = xasprintf("127.0.0.1:%u", ((struct tcp *)all[i])->port);
	}
	unlink(secret);
	for (double until = transport_now() + 50; links < 2 * (n - 1) && transport_now() < until;) {
		links = 0;
		for (int i = 0; i < n; i++) {
			struct tcp *t = (struct tcp *)all[i];

			all[i]->pump(all[i], 0);
			ck_assert_uint_le(t->n_accepted, TCP_MEETINGS);
			for (size_t k = 0; k < t->n_known; k++)
				links += t->known[k]->link.fd >= 0;
		}
	}
	/* the edges of the tree, seen from both ends */
	ck_assert_int_eq(links, 2 * (n - 1));
	for (int i = 0; i < n; i++) {
		all[i]->finish(all[i], 0, 0, 0);
		free(found[i]);
	}
	free(secret);
}
END_TEST

/* More than may try are there, and silent: they make room for one that is none of them. */
START_TEST(strangers_make_room)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct tcp *t;
	int silent[TCP_SHARE + 8];
	double until, opened;

	meet(20);
	t = (struct tcp *)peers[0];
	at.sin_port = htons((uint16_t)t->port);
	for (size_t i = 0; i < ARRAY_SIZE(silent); i++) {
		silent[i] = socket(AF_INET, SOCK_STREAM, 0);
		ck_assert_int_eq(connect(silent[i], (struct sockaddr *)&at, sizeof(at)), 0);
	}
	pump_all(0.1);
	ck_assert_uint_eq(t->n_accepted, TCP_SHARE);
	for (until = transport_now() + 10;
		tcp_agent_of(t, 2)->link.fd < 0 && transport_now() < until;)
		pump_all(0.01);
	opened = tcp_agent_of(t, 2)->link.opened;
	shutdown(tcp_agent_of(t, 2)->link.fd, SHUT_RDWR);
	for (until = transport_now() + 10; transport_now() < until;) {
		pump_all(0.01);
		if (tcp_agent_of(t, 2)->link.fd >= 0 && tcp_agent_of(t, 2)->link.opened > opened)
			break;
	}
	ck_assert_int_ge(tcp_agent_of(t, 2)->link.fd, 0);
	ck_assert_double_gt(tcp_agent_of(t, 2)->link.opened, opened);
	for (size_t i = 0; i < ARRAY_SIZE(silent); i++)
		close(silent[i]);
	pump_all(0.1);
	ck_assert_uint_eq(t->n_accepted, 0);
	part();
}
END_TEST

/* First words: which answer they get, whether that has a proof, and what is said of them. */
enum first_words { FALSE_PROOF, OLD, OTHER_BYTES, OTHER_JOB, OTHER_NAME, WRONG_PLACE, GOOD };

static const struct {
	uint32_t verdict;
	bool proved;
	const char *said;
} answers[] = {
	[FALSE_PROOF] = {TCP_OTHER_SECRET, false, "it has another secret"},
	[OLD] = {TCP_OTHER_VERSION, false,
		"it speaks version 1 of the agents' protocol, and this agent version 10"},
	[OTHER_BYTES] = {TCP_OTHER_ORDER, false, "it has another byte order"},
	[OTHER_JOB] = {TCP_OTHER_LIST, true,
		"it is of session `s' (list of contacts ffffffff), and this agent is of session "
		"`s' (list of contacts "},
	[OTHER_NAME] = {TCP_OTHER_SESSION, true, "it is of session `tea' (list of contacts "},
	[WRONG_PLACE] = {TCP_OTHER_LIST, true, "its place is none"},
	[GOOD] = {TCP_ANOTHER_LIFE, true, "it was started anew, or there are two of it"},
};

static int say(struct tcp *t, const void *words, size_t bytes, struct tcp_welcome *w)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons((uint16_t)t->port)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	ssize_t n, have = 0;

	ck_assert_int_eq(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	ck_assert_int_eq(send(fd, words, bytes, 0), (ssize_t)bytes);
	for (double until = transport_now() + 5;
		transport_now() < until && have < (ssize_t)sizeof(*w);) {
		t->transport.pump(&t->transport, 0);
		n = recv(fd, (char *)w + have, sizeof(*w) - (size_t)have, MSG_DONTWAIT);
		if (!n || (n < 0 && errno != EAGAIN))
			break;
		have += n > 0 ? n : 0;
	}
	close(fd);
	return (int)have;
}

START_TEST(first_words)
{
	static const unsigned char nothing[TCP_DIGEST_BYTES];
	struct tcp_welcome w = {0};
	struct tcp_hello h;
	struct tcp *t, *of;
	char *notes;

	meet(10);
	t = (struct tcp *)peers[0];
	of = (struct tcp *)peers[1];
	h = (struct tcp_hello){.version = TCP_VERSION,
		.order = TCP_BYTE_ORDER,
		.purpose = TCP_LINK,
		.from = _i == WRONG_PLACE ? 0 : 1,
		.size = AGENTS,
		.life = 77,
		.host = "there",
		.session = "s"};
	memcpy(h.magic, TCP_MAGIC, sizeof(h.magic));
	memcpy(h.list, of->digest, sizeof(h.list));
	if (_i == OTHER_NAME)
		strcpy(h.session, "tea");
	if (_i == OTHER_JOB)
		memset(h.list, 0xff, sizeof(h.list));
	if (_i == OLD)
		h.version = 1;
	if (_i == OTHER_BYTES)
		h.order = 0x04030201;
	tcp_sign_hello(of, &h, h.proof);
	if (_i == FALSE_PROOF)
		h.proof[31] ^= 1;
	free(tcp_notes(peers[0]));
	/* those of version 1 had 144 bytes, and took an answer of 168 */
	ck_assert_int_ge(say(t, &h, _i == OLD ? 144 : sizeof(h), &w), _i == OLD ? 168 : 264);
	ck_assert_uint_eq(w.version, TCP_VERSION);
	ck_assert_uint_eq(w.verdict, answers[_i].verdict);
	ck_assert_int_eq(memcmp(w.proof, nothing, sizeof(nothing)) != 0, answers[_i].proved);
	notes = tcp_notes(peers[0]);
	ck_assert_msg(notes && strstr(notes, answers[_i].said), "%s", notes ? notes : "nothing");
	free(notes);
	part();
}
END_TEST

/* What a stranger answers who knows no secret, at the place of an agent that is to be invited. */
static const enum tcp_verdict unproved[] = {TCP_WELCOME, TCP_NOT_YET, TCP_INVITED, TCP_TAKEN};

START_TEST(a_verdict_is_proved)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct tcp_welcome w = {
		.version = TCP_VERSION, .order = TCP_BYTE_ORDER, .verdict = unproved[_i]};
	static struct tcp_options o;
	char *error = NULL, *secret = secret_file("a secret of more than 16 bytes", 0600), *contact,
	     *notes = NULL;
	int fd = socket(AF_INET, SOCK_STREAM, 0), dialer = -1;
	socklen_t bytes = sizeof(at);
	double until = transport_now() + 20;
	struct tcp *t;

	ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	ck_assert_int_eq(listen(fd, 8), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&at, &bytes), 0);
	contact = xasprintf("127.0.0.1:%u", ntohs(at.sin_port));
	o = (struct tcp_options){.listen = "127.0.0.1:0",
		.secret = secret,
		.me = -1,
		.lead = true,
		.contacts = &contact,
		.n_contacts = 1};
	t = (struct tcp *)tcp_open(&o, "host", "s", 20, &error);
	ck_assert_msg(t != NULL, "%s", error ? error : "");
	while (dialer < 0 && transport_now() < until) {
		struct pollfd p = {.fd = fd, .events = POLLIN};

		t->transport.pump(&t->transport, transport_now() + 0.01);
		if (poll(&p, 1, 0) > 0)
			dialer = accept(fd, NULL, NULL);
	}
	memcpy(w.magic, TCP_MAGIC, sizeof(w.magic));
	ck_assert_int_eq(send(dialer, &w, sizeof(w), 0), sizeof(w));
	close(fd);
	while (!notes && transport_now() < until) {
		t->transport.pump(&t->transport, transport_now() + 0.01);
		notes = tcp_notes(&t->transport);
		ck_assert(!tcp_agent_of(t, 1)->invited);
	}
	ck_assert_msg(notes && strstr(notes, "it has another secret"), "%s", notes ? notes : "");
	free(notes);
	close(dialer);
	t->transport.finish(&t->transport, 0, 0, 0);
	unlink(secret);
	free(secret);
	free(contact);
}
END_TEST

/* Whoever repeats what an agent said in an earlier run makes nobody forget that agent. */
START_TEST(another_life_is_proved)
{
	struct tcp_hello h = {.version = TCP_VERSION,
		.order = TCP_BYTE_ORDER,
		.purpose = _i ? TCP_KNOCK : TCP_LINK,
		.from = _i ? 0 : 1,
		.to = _i ? 1 : 0,
		.size = AGENTS,
		.life = 77};
	struct collate_plan *plan;
	struct tcp_welcome w;
	struct tcp_agent *a;
	struct tcp *t;
	uint64_t life;

	meet(10);
	t = (struct tcp *)peers[h.to];
	plan = peers[h.to]->plan;
	peers[h.to]->plan = NULL;
	a = tcp_agent_of(t, (int)h.from);
	life = a->life;
	ck_assert_uint_ne(a->received, 0);
	tcp_link_close(t, a);
	a->next_dial = transport_now() + 100;
	memcpy(h.magic, TCP_MAGIC, sizeof(h.magic));
	memcpy(h.list, t->digest, sizeof(h.list));
	tcp_sign_hello(t, &h, h.proof);
	ck_assert_int_eq(say(t, &h, sizeof(h), &w), sizeof(w));
	ck_assert_uint_eq(w.verdict, TCP_WELCOME);
	ck_assert_uint_eq(w.received, 0);
	ck_assert_uint_eq(a->life, life);
	ck_assert_uint_ne(a->received, 0);
	peers[h.to]->plan = plan;
	part();
}
END_TEST

/* Nobody makes an agent dial by what another one said in an earlier run. */
START_TEST(a_knock_is_proved)
{
	struct tcp_hello h = {.version = TCP_VERSION,
		.order = TCP_BYTE_ORDER,
		.purpose = TCP_KNOCK,
		.from = 0,
		.to = 1,
		.size = AGENTS};
	struct tcp_welcome w;
	struct tcp_agent *a;
	struct tcp *t;

	meet(10);
	h.life = ((struct tcp *)peers[0])->life;
	t = (struct tcp *)peers[1];
	a = tcp_agent_of(t, 0);
	tcp_link_close(t, a);
	a->next_dial = transport_now() + 100;
	memcpy(h.magic, TCP_MAGIC, sizeof(h.magic));
	memcpy(h.list, t->digest, sizeof(h.list));
	tcp_sign_hello(t, &h, h.proof);
	ck_assert_int_eq(say(t, &h, sizeof(h), &w), sizeof(w));
	ck_assert_uint_eq(w.verdict, TCP_WELCOME);
	ck_assert(!a->wanted);
	ck_assert_double_gt(a->next_dial, transport_now() + 50);
	part();
}
END_TEST

START_TEST(words_that_are_repeated)
{
	struct tcp_hello h = {.version = TCP_VERSION,
		.order = TCP_BYTE_ORDER,
		.purpose = TCP_LINK,
		.from = 1,
		.size = AGENTS,
		.life = 77};
	struct tcp_welcome w;
	struct tcp *t;
	char *notes;

	meet(10);
	t = (struct tcp *)peers[0];
	memcpy(h.magic, TCP_MAGIC, sizeof(h.magic));
	tcp_sign_hello(t, &h, h.proof);
	ck_assert_int_eq(say(t, &h, sizeof(h), &w), sizeof(w));
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(say(t, &h, sizeof(h), &w), 0);
	notes = tcp_notes(peers[0]);
	ck_assert_msg(strstr(notes, "it repeats what another agent has said") != NULL, "%s", notes);
	free(notes);
	part();
}
END_TEST

/* What a socket does not take at once is sent later: as on a network, of small packets. */
START_TEST(long_invitation)
{
	enum { MANY = 2000, SEGMENT = 1448 };
	static char *contacts[MANY], at[] = "127.0.0.1:1+127.0.0.1:1+127.0.0.1:1+127.0.0.1:1";
	struct tcp_options *o = options;
	char *error = NULL, *secret = secret_file("a secret of more than 16 bytes", 0600);
	const int segment = SEGMENT;
	struct tcp *invited;

	o[1] = (struct tcp_options){.listen = "127.0.0.1:0", .secret = secret, .me = -1};
	peers[1] = tcp_open(&o[1], "host1", "s", 10, &error);
	ck_assert_msg(peers[1] != NULL, "%s", error ? error : "");
	invited = (struct tcp *)peers[1];
	ck_assert_int_eq(setsockopt(invited->listener[0], IPPROTO_TCP, TCP_MAXSEG, &segment,
				 sizeof(segment)),
		0);
	contacts[0] = xasprintf("127.0.0.1:%u", invited->port);
	for (int i = 1; i < MANY; i++)
		contacts[i] = xasprintf("%s+%s+%s+%s", at, at, at, at);
	o[0] = (struct tcp_options){.listen = "127.0.0.1:0",
		.secret = secret,
		.me = -1,
		.lead = true,
		.contacts = contacts,
		.n_contacts = MANY};
	peers[0] = tcp_open(&o[0], "host0", "s", 10, &error);
	ck_assert_msg(peers[0] != NULL, "%s", error ? error : "");
	for (double until = transport_now() + 8; !peers[1]->size && transport_now() < until;)
		pump_all(0.01);
	ck_assert_int_eq(peers[1]->size, MANY + 1);
	part();
	unlink(secret);
	free(secret);
	for (int i = 0; i < MANY; i++)
		free(contacts[i]);
}
END_TEST

/* A copy of the process that has our descriptors: what we have closed tells us nothing more. */
START_TEST(copies_of_closed_ones)
{
	static struct tcp_options o;
	char *error = NULL, *secret = secret_file("a secret of more than 16 bytes", 0600);
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct pollfd news;
	struct tcp *t;
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	pid_t copy;

	o = (struct tcp_options){.listen = "127.0.0.1:0", .secret = secret, .me = -1};
	t = (struct tcp *)tcp_open(&o, "host", "s", 10, &error);
	ck_assert_msg(t != NULL, "%s", error ? error : "");
	at.sin_port = htons((uint16_t)t->port);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	while (!t->n_accepted)
		t->transport.pump(&t->transport, transport_now() + 1);
	copy = fork();
	if (!copy) {
		pause();
		_exit(0);
	}
	ck_assert_int_gt(copy, 0);
	ck_assert_int_eq(send(fd, "not what an agent says", 22, 0), 22);
	while (t->n_accepted)
		t->transport.pump(&t->transport, transport_now() + 1);
	ck_assert_int_eq(send(fd, "and more", 8, MSG_NOSIGNAL), 8);
	close(fd);
	news = (struct pollfd){.fd = t->epoll, .events = POLLIN};
	ck_assert_int_eq(poll(&news, 1, 200), 0);
	kill(copy, SIGKILL);
	ck_assert_int_eq(waitpid(copy, NULL, 0), copy);
	t->transport.finish(&t->transport, 0, 0, 0);
	unlink(secret);
	free(secret);
}
END_TEST

/* Where an agent listens that is told no address: at those of its contact. */
static const struct {
	const char *peers;
	int me;
	const char *contact; /* what it listens at, or what is said */
} places[] = {
	{"127.0.0.1:27311,127.0.0.1:27312", 0, "127.0.0.1:27311/s"},
	{"127.0.0.1:27311,localhost:27313", 1, "127.0.0.1:27313/s"},
	{"127.0.0.1:27311/s,[::1]:27314/s", 0, "127.0.0.1:27311/s"},
	{"192.0.2.7:27311,127.0.0.1:27312", 0,
		"192.0.2.7:27311: this node has none of its addresses"},
	{"127.0.0.1:27311/x,127.0.0.1:27312", 0,
		"the session `x' in place 0, and this agent's is `s'"},
};

START_TEST(listening_places)
{
	static struct tcp_options o;
	char *error, *secret = secret_file("a secret of more than 16 bytes", 0600), *contact;
	struct transport *p;

	o = (struct tcp_options){.peers = places[_i].peers, .secret = secret, .me = places[_i].me};
	p = tcp_open(&o, "host", "s", 5, &error);
	unlink(secret);
	free(secret);
	if (!p) {
		ck_assert_msg(strstr(error, places[_i].contact) != NULL, "%s", error);
		free(error);
		return;
	}
	contact = tcp_contact(p);
	ck_assert_msg(strstr(contact, places[_i].contact) != NULL, "%s", contact);
	ck_assert_msg(!strchr(contact, '[') || strstr(contact, "[::1]"), "%s", contact);
	free(contact);
	p->finish(p, 0, 0, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tcp-meet");
	TCase *t = tcase_create("tcp-meet");

	program_name = "u-tcp-meet";
	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, forged_frames_are_seen, 0, ARRAY_SIZE(forgeries));
	tcase_add_test(t, nonsense_with_right_checksums_is_the_end);
	tcase_add_test(t, many_meet);
	tcase_add_test(t, strangers_make_room);
	tcase_add_loop_test(t, first_words, 0, ARRAY_SIZE(answers));
	tcase_add_loop_test(t, a_verdict_is_proved, 0, ARRAY_SIZE(unproved));
	tcase_add_loop_test(t, another_life_is_proved, 0, 2);
	tcase_add_test(t, a_knock_is_proved);
	tcase_add_test(t, words_that_are_repeated);
	tcase_add_test(t, long_invitation);
	tcase_add_test(t, copies_of_closed_ones);
	tcase_add_loop_test(t, listening_places, 0, ARRAY_SIZE(places));
	suite_add_tcase(s, t);
	return run_suite(s);
}
