/* SPDX-License-Identifier: BSD-3-Clause */
/* Viewers of other machines: what an agent's socket says reaches them, and no more than they read.
 */
#include "nodeagent/net/tcp/viewer-link.h"

#include <check.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define AGENTS 1
#include "nodeagent/net/tcp/internal.h"
#include "nodeagent/base/util.h"
#include "shm/wire.h"
#include "t/lib/suite.h"
#include "t/unit/net/tcp-agents.h"

#define PACKET 100000
#define MOST_S 20

static char *secret, *path;
static int listener;

/* One agent with a socket of its own, which is this test. */
static void begin(bool admits)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	char *error = NULL;

	secret = secret_file("a secret of more than 16 bytes", 0600);
	path = xasprintf("/tmp/u-tcp-viewers.%d", (int)getpid());
	unlink(path);
	strcpy(at.sun_path, path);
	listener = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	ck_assert_int_eq(bind(listener, (struct sockaddr *)&at, sizeof(at)), 0);
	ck_assert_int_eq(listen(listener, 8), 0);
	options[0] = (struct tcp_options){
		.listen = "127.0.0.1:0", .secret = secret, .me = -1, .lead = true};
	peers[0] = tcp_open(&options[0], "host0", "s", 20, &error);
	ck_assert_msg(peers[0] != NULL, "%s", error ? error : "");
	if (admits)
		tcp_admit_viewers(peers[0], path);
}

static void end(void)
{
	unlink(secret);
	unlink(path);
	close(listener);
	part();
	free(secret);
	free(path);
}

struct opening {
	const char *secret, *session;
	struct viewer_link *link;
	char *named, *error;
	bool done;
};

static void *open_link(void *opening)
{
	struct opening *o = opening;
	char *contact = xasprintf("127.0.0.1:%u", ((struct tcp *)peers[0])->port);

	o->link = viewer_link_open(contact, o->secret, o->session, MOST_S, &o->named, &o->error);
	free(contact);
	__atomic_store_n(&o->done, true, __ATOMIC_RELEASE);
	return NULL;
}

/* The dialer waits, so it has a thread while the agent is served here. */
static void dial(struct opening *o)
{
	const double until = transport_now() + MOST_S;
	pthread_t t;

	ck_assert_int_eq(pthread_create(&t, NULL, open_link, o), 0);
	while (!__atomic_load_n(&o->done, __ATOMIC_ACQUIRE) && transport_now() < until)
		pump_all(0.001);
	pthread_join(t, NULL);
	pump_all(0.01);
}

/* A viewer, and the agent's end of its connection. */
static struct viewer_link *viewer(int *agent)
{
	struct opening o = {.secret = secret, .session = "s"};
	const double until = transport_now() + MOST_S;
	struct pollfd p = {.fd = listener, .events = POLLIN};

	dial(&o);
	ck_assert_msg(o.link != NULL, "%s", o.error ? o.error : "");
	ck_assert_str_eq(o.named, "s");
	free(o.named);
	while (!poll(&p, 1, 0) && transport_now() < until)
		pump_all(0.001);
	*agent = accept(listener, NULL, NULL);
	ck_assert_int_ge(*agent, 0);
	return o.link;
}

static ssize_t receive(struct viewer_link *l, void *buf)
{
	const double until = transport_now() + MOST_S;
	ssize_t n = 0;

	while (!n && transport_now() < until) {
		pump_all(0.001);
		n = viewer_link_receive(l, buf, PACKET + 1);
	}
	return n;
}

START_TEST(packets_go_to_and_fro)
{
	static char packet[PACKET], got[PACKET + 1];
	struct viewer_link *l;
	int agent;

	begin(true);
	l = viewer(&agent);
	for (int i = 1; i < 50; i++) {
		const size_t bytes = (size_t)i * (PACKET / 50);

		memset(packet, i, bytes);
		ck_assert_int_eq(send(agent, packet, bytes, 0), bytes);
		ck_assert_int_eq(receive(l, got), bytes);
		ck_assert_mem_eq(got, packet, bytes);
		const struct wire_head head = {.kind = i % 2 ? WIRE_LIVE : WIRE_SWITCH};
		const size_t said = sizeof(head) + (size_t)i;

		memcpy(packet, &head, sizeof(head));
		ck_assert(viewer_link_send(l, packet, said));
		pump_all(0.001);
		while (recv(agent, got, sizeof(got), MSG_DONTWAIT) < 0)
			pump_all(0.001);
		ck_assert_mem_eq(got, packet, said);
	}
	close(agent);
	ck_assert_int_eq(receive(l, got), -ENODATA);
	viewer_link_close(l);
	end();
}
END_TEST

/* A process of the job says HELLO; so could a viewer, if the agent heard it. */
START_TEST(one_that_is_no_viewer_is_let_go)
{
	static const struct wire_head other[] = {
		{.kind = WIRE_HELLO}, {.kind = WIRE_NOTE}, {.kind = WIRE_SESSION}};
	char got[sizeof(struct wire_head)];
	struct viewer_link *l;
	int agent;

	begin(true);
	l = viewer(&agent);
	/* the last one is a packet without a head */
	ck_assert(viewer_link_send(l, &other[_i % 3], _i < 3 ? sizeof(other[0]) : 1));
	for (ssize_t n = -1; n < 0;) {
		pump_all(0.001);
		n = recv(agent, got, sizeof(got), MSG_DONTWAIT);
		ck_assert_int_le(n, 0); /* 0: it has hung up, and said nothing */
	}
	close(agent);
	viewer_link_close(l);
	end();
}
END_TEST

/* Sends to the agent's end until that takes no more for a while. Packets that it has taken. */
static int fill(int agent)
{
	static const char packet[PACKET];
	int n = 0;

	for (int idle = 0; idle < 100; idle++) {
		while (send(agent, packet, sizeof(packet), MSG_DONTWAIT) > 0) {
			n++;
			idle = 0;
		}
		pump_all(0.001);
	}
	return n;
}

START_TEST(one_that_does_not_read_holds_up_nobody)
{
	static char got[PACKET + 1];
	struct viewer_link *slow, *other;
	int to_slow, to_other, n;
	double began;

	begin(true);
	slow = viewer(&to_slow);
	other = viewer(&to_other);
	n = fill(to_slow);
	ck_assert_int_ge(n, 1);
	ck_assert_int_lt(n, 200); /* 20 MB; the kernel has room for some */
	ck_assert_int_eq(send(to_other, "view", 5, 0), 5);
	ck_assert_int_eq(receive(other, got), 5);
	/* while nothing can be done it sleeps */
	began = transport_now();
	peers[0]->pump(peers[0], began + 0.2);
	ck_assert_double_ge(transport_now() - began, 0.19);
	/* all that the agent has got rid of comes, in order, when it reads again */
	for (int i = 0; i < n; i++)
		ck_assert_int_eq(receive(slow, got), PACKET);
	/* an agent that hangs up on one that does not read is rid of it */
	ck_assert_int_ge(fill(to_slow), 1);
	close(to_slow);
	pump_all(0.05);
	ck_assert_uint_eq(((struct tcp *)peers[0])->n_viewers, 1);
	viewer_link_close(slow);
	viewer_link_close(other);
	pump_all(0.05);
	ck_assert_uint_eq(((struct tcp *)peers[0])->n_viewers, 0);
	ck_assert_int_eq(recv(to_other, got, 1, MSG_DONTWAIT), 0);
	close(to_other);
	end();
}
END_TEST

START_TEST(one_that_says_too_much_is_let_go)
{
	static char packet[PACKET], got[8];
	struct viewer_link *l;
	int agent;

	begin(true);
	l = viewer(&agent);
	ck_assert(viewer_link_send(l, packet, sizeof(packet)) || true);
	for (int i = 0; i < 100 && ((struct tcp *)peers[0])->n_viewers; i++)
		pump_all(0.01);
	ck_assert_uint_eq(((struct tcp *)peers[0])->n_viewers, 0);
	ck_assert_int_eq(recv(agent, got, sizeof(got), MSG_DONTWAIT), 0);
	viewer_link_close(l);
	close(agent);
	end();
}
END_TEST

/* Who is refused, and why. */
static const struct {
	bool admits, knows;
	const char *session, *why;
} refused[] = {
	{false, true, NULL, "viewers from outside are not admitted"},
	{true, false, NULL, "it has another secret"},
	{false, false, NULL, "it has another secret"},
	{true, true, "other", "it is of session `s'"},
};

START_TEST(refused_by_one_sentence)
{
	struct opening o = {.session = refused[_i].session};
	char *notes, *wrong;

	begin(refused[_i].admits);
	wrong = xasprintf("%s.wrong", secret);
	rename(secret, wrong);
	free(secret);
	secret = secret_file("another secret of more than 16", 0600);
	o.secret = refused[_i].knows ? wrong : secret;
	dial(&o);
	ck_assert_ptr_null(o.link);
	ck_assert_msg(strstr(o.error, refused[_i].why) != NULL, "%s", o.error);
	ck_assert_ptr_null(strchr(o.error, '\n'));
	notes = tcp_notes(peers[0]);
	ck_assert_ptr_nonnull(notes);
	ck_assert_uint_eq(((struct tcp *)peers[0])->n_viewers, 0);
	free(notes);
	free(o.error);
	unlink(wrong);
	free(wrong);
	end();
}
END_TEST

/* An agent of version 1, whose WELCOME was shorter. */
static void *be_of_version_1(void *listening)
{
	struct tcp_welcome w = {.version = 1, .order = TCP_BYTE_ORDER, .verdict = 1};
	char hello[sizeof(struct tcp_hello)];
	const int fd = accept(*(int *)listening, NULL, NULL);

	memcpy(w.magic, TCP_MAGIC, sizeof(w.magic));
	recv(fd, hello, sizeof(hello), MSG_WAITALL);
	send(fd, &w, 168, MSG_NOSIGNAL);
	close(fd);
	return NULL;
}

START_TEST(refused_by_another_version)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	char *known = secret_file("a secret of more than 16 bytes", 0600), *contact, *named, *error;
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t bytes = sizeof(at);
	pthread_t t;

	ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	ck_assert_int_eq(listen(fd, 8), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&at, &bytes), 0);
	ck_assert_int_eq(pthread_create(&t, NULL, be_of_version_1, &fd), 0);
	contact = xasprintf("127.0.0.1:%u", ntohs(at.sin_port));
	ck_assert_ptr_null(viewer_link_open(contact, known, NULL, MOST_S, &named, &error));
	ck_assert_msg(
		strstr(error, "it speaks version 1 of the agents' protocol") != NULL, "%s", error);
	pthread_join(t, NULL);
	close(fd);
	unlink(known);
	free(known);
	free(contact);
	free(error);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tcp-viewers");
	TCase *c = tcase_create("tcp-viewers");

	program_name = "u-tcp-viewers";
	tcase_set_timeout(c, 120);
	tcase_add_test(c, packets_go_to_and_fro);
	tcase_add_test(c, one_that_does_not_read_holds_up_nobody);
	tcase_add_loop_test(c, one_that_is_no_viewer_is_let_go, 0, 4);
	tcase_add_test(c, one_that_says_too_much_is_let_go);
	tcase_add_loop_test(c, refused_by_one_sentence, 0, (int)ARRAY_SIZE(refused));
	tcase_add_test(c, refused_by_another_version);
	suite_add_tcase(s, c);
	return run_suite(s);
}
