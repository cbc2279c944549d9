/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The agents' TCP: what is on the wire, contacts, the secret's file, and three
 * agents in one process whose connections are torn at random. How they meet is in u-tcp-meet.
 */
#include "nodeagent/net/tcp/tcp.h"

#include <check.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <netdb.h>
#include <netinet/in.h>
#include <nss.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "nodeagent/net/tcp/addresses.h"
#include "nodeagent/collate/tree.h"
#include "nodeagent/net/tcp/contact.h"
#include "nodeagent/net/tcp/lookup.h"
#include "nodeagent/net/tcp/internal.h"
#include "nodeagent/net/tcp/secret.h"
#include "nodeagent/base/util.h"
#include "t/lib/suite.h"
#include "t/unit/net/tcp-agents.h"

/* What the wire says of fixed inputs: agents of two versions must agree. */

static void is_hex(const char *wanted, const unsigned char *got)
{
	char text[2 * TCP_DIGEST_BYTES + 1];

	for (unsigned i = 0; i < TCP_DIGEST_BYTES; i++)
		snprintf(text + 2 * i, 3, "%02x", got[i]);
	ck_assert_str_eq(text, wanted);
}

/* A secret shorter than a block of SHA-256, and a longer one, which is hashed itself. */
static const struct {
	const char *secret;
	size_t bytes;
	const char *hello, *keys;
} proofs[] = {
	{"Jefe", 4, "f00ccdd5c4d6f443fda35dfa842a56746f074466ad16b737cd100be74384ee26",
		"b247345956a835d8f836897dd9b42eaa9b47d709f3f0faaad88617a03374aa8e"},
	{"Test Using Larger Than Block-Size Key - Hash Key First, and then a bit more of it", 80,
		"bbbef05159cf68d4dcd4367cbc4355548542ef7b34a6276a13b964607bf1e773",
		"757f1b144c805c3b43baf26e3c10088e464cd850b58d5a7223e4258ccd649d54"},
};

START_TEST(proofs_on_the_wire)
{
	struct tcp t = {.secret = (char *)proofs[_i].secret, .secret_bytes = proofs[_i].bytes};
	struct tcp_meeting m = {0};
	unsigned char mac[TCP_DIGEST_BYTES];

	memset(&m.hello, 'h', sizeof(m.hello));
	memset(&m.welcome, 'w', sizeof(m.welcome));
	tcp_sign_hello(&t, &m.hello, mac);
	is_hex(proofs[_i].hello, mac);
	tcp_sign(&t, &m, "keys", "", 0, mac);
	is_hex(proofs[_i].keys, mac);
}
END_TEST

START_TEST(digest_of_the_list_on_the_wire)
{
	struct tcp t = {0};
	char *error;

	ck_assert_int_eq(contacts_add(&t.list, "node1:7,node2", &error), 0);
	ck_assert(tcp_adopt_list(&t, 0));
	is_hex("9e38c4bc627dda06e7dfe72553a9d244752339dabd00c13f71f1f09371ac1b73", t.digest);
	contacts_clear(&t.list);
	free(t.agents);
}
END_TEST

/* By another implementation, t/security/peer.py. */
START_TEST(frames_on_the_wire)
{
	static const char wanted[] = "9d788c81fe2c44b499fdd340169f5cd405c88b82d6358a177afbcb7fee5af"
				     "d5eb644f87f20eacc3d251e"
				     "beb393518bef6ccbaf1e18b606f1e62885b6051e32aabbfe6cf6763394d4b"
				     "ebac63cc6e01f7201652326"
				     "07cca9";
	const struct tcp_frame f = {
		.seq = 1, .ack = 2, .left = 15, .kind = TCP_MESSAGE, .tag = 5, .bytes = 15};
	unsigned char key[TCP_KEY_BYTES], *sealed;
	char text[sizeof(wanted)], content[15 + TCP_TAG_BYTES + 1];
	struct tcp_frame back;
	size_t bytes;

	for (unsigned i = 0; i < TCP_KEY_BYTES; i++)
		key[i] = (unsigned char)i;
	sealed = tcp_frame_seal(key, 7, &f, "fifteen letters", &bytes);
	ck_assert_uint_eq(bytes, TCP_FRAME_SEALED + 15 + TCP_TAG_BYTES);
	sodium_bin2hex(text, sizeof(text), sealed, bytes);
	ck_assert_str_eq(text, wanted);
	ck_assert(!tcp_frame_open(key, 8, sealed, &back));
	ck_assert(tcp_frame_open(key, 7, sealed, &back));
	ck_assert(!memcmp(&f, &back, sizeof(f)));
	memcpy(content, sealed + TCP_FRAME_SEALED, sizeof(content) - 1);
	ck_assert(!tcp_content_open(key, 6, &f, content));
	memcpy(content, sealed + TCP_FRAME_SEALED, sizeof(content) - 1);
	ck_assert(tcp_content_open(key, 7, &f, content));
	ck_assert_str_eq(content, "fifteen letters");
	/* the frame is not taken for its content */
	memcpy(content, sealed, sizeof(content) - 1);
	ck_assert(!tcp_content_open(key, 7, &f, content));
	for (size_t i = 0; i < TCP_FRAME_SEALED; i++) {
		sealed[i] ^= 1;
		ck_assert(!tcp_frame_open(key, 7, sealed, &back));
		sealed[i] ^= 1;
	}
	free(sealed);
}
END_TEST

/* Contacts */

static const struct {
	const char *text, *hosts; /* as HOST|PORT, with blanks; NULL: refused */
	const char *session;
} contacts[] = {
	{"node1", "node1|8387", NULL},
	{"node1:7", "node1|7", NULL},
	{"10.0.0.1:65535/name", "10.0.0.1|65535", "name"},
	{"[fe80::1%eth0]:80", "fe80::1%eth0|80", NULL},
	{"[::1]", "::1|8387", NULL},
	{"a:1+b:2+[::2]:3/s.1", "a|1 b|2 ::2|3", "s.1"},
	{"", NULL, NULL},
	{":7", NULL, NULL},
	{"a:", NULL, NULL},
	{"a:0", NULL, NULL},
	{"a:65536", NULL, NULL},
	{"a:7x", NULL, NULL},
	{"a:-7", NULL, NULL},
	{"::1", NULL, NULL},
	{"[::1", NULL, NULL},
	{"[::1]7", NULL, NULL},
	{"[]:7", NULL, NULL},
	{"a+", NULL, NULL},
	{"+a", NULL, NULL},
	{"a++b", NULL, NULL},
	{"a/", NULL, NULL},
	{"a/b/c", NULL, NULL},
	{"a b", NULL, NULL},
	{"@file", NULL, NULL},
	{"a,b", NULL, NULL},
	{"a\tb", NULL, NULL},
	{"1+2+3+4+5+6+7+8+9+10+11+12+13+14+15+16+17", NULL, NULL},
};

START_TEST(contact_texts)
{
	struct contact c;
	char *error = NULL, all[256] = "";
	int failed = contact_parse(contacts[_i].text, &c, &error);

	ck_assert_int_eq(!failed, contacts[_i].hosts != NULL);
	ck_assert(failed ? error && strstr(error, "contact `") : !error);
	for (size_t i = 0; i < c.n; i++)
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s|%u", i ? " " : "",
			c.at[i].host, c.at[i].port);
	if (!failed) {
		ck_assert_str_eq(all, contacts[_i].hosts);
		ck_assert_pstr_eq(c.session, contacts[_i].session);
		ck_assert_str_eq(c.text, contacts[_i].text);
	}
	contact_clear(&c);
	free(error);
}
END_TEST

START_TEST(contact_lists)
{
	struct contacts list = {0};
	char path[] = "/tmp/u-tcp.XXXXXX", *error, *text, *at;
	const char *content = "# two nodes\n\na:1 , b:2/s\n\tc:3 # the third\n";
	int fd = mkstemp(path);

	ck_assert_int_eq(write(fd, content, strlen(content)), (ssize_t)strlen(content));
	at = xasprintf("@%s", path);
	ck_assert_int_eq(contacts_add(&list, at, &error), 0);
	ck_assert_int_eq(contacts_add(&list, "d,e:5", &error), 0);
	text = contacts_text(&list);
	ck_assert_str_eq(text, "a:1,b:2/s,c:3,d,e:5");
	ck_assert_int_eq(ftruncate(fd, 0), 0);
	ck_assert_int_ne(contacts_add(&list, at, &error), 0);
	ck_assert(strstr(error, "there is no contact in it"));
	free(error);
	ck_assert_int_ne(contacts_add(&list, " , ", &error), 0);
	free(error);
	ck_assert_int_ne(contacts_add(&list, "@/nowhere/at/all", &error), 0);
	free(error);
	contacts_clear(&list);
	unlink(path);
	close(fd);
	free(text);
	free(at);
}
END_TEST

START_TEST(secrets)
{
	char *path = secret_file("0123456789abcdef \n", 0600), *secret, *error, *again;
	char home[] = "/tmp/u-tcp.XXXXXX";
	size_t bytes, bytes_again;
	FILE *f;

	ck_assert_int_eq(secret_read(path, &secret, &bytes, &error), 0);
	ck_assert_uint_eq(bytes, 16);
	free(secret);
	chmod(path, 0640);
	ck_assert_int_ne(secret_read(path, &secret, &bytes, &error), 0);
	ck_assert(strstr(error, "mode 0600"));
	free(error);
	free(path);
	path = secret_file("0123456789abcde\n\n", 0600);
	ck_assert_int_ne(secret_read(path, &secret, &bytes, &error), 0);
	ck_assert(strstr(error, "it has 15 bytes; 16 are the least"));
	free(error);
	unlink(path);
	free(path);
	/* blanks at the end are no part of it, a NUL is */
	path = secret_file("", 0600);
	f = fopen(path, "w");
	fwrite("0123456789abcde\0\n", 1, 17, f);
	fclose(f);
	ck_assert_int_eq(secret_read(path, &secret, &bytes, &error), 0);
	ck_assert_uint_eq(bytes, 16);
	free(secret);
	unlink(path);
	free(path);
	/* the default one is made once */
	ck_assert_ptr_nonnull(mkdtemp(home));
	setenv("HOME", home, 1);
	ck_assert_int_eq(secret_read(NULL, &secret, &bytes, &error), 0);
	ck_assert_uint_eq(bytes, 64);
	ck_assert_int_eq(secret_read(NULL, &again, &bytes_again, &error), 0);
	ck_assert_uint_eq(bytes_again, bytes);
	ck_assert_mem_eq(again, secret, bytes);
	free(secret);
	free(again);
	path = xasprintf("%s/.vftr-secret", home);
	unlink(path);
	rmdir(home);
	free(path);
}
END_TEST

static uint32_t dice = 1;

static unsigned throw(unsigned n)
{
	dice = dice * 1664525 + 1013904223;
	return (dice >> 8) % n;
}

struct content {
	uint32_t from, number, bytes, check;
};

static void send_one(int from, int to, uint32_t number)
{
	size_t bytes = sizeof(struct content) + throw(throw(20) ? 300 : 900000);
	struct content c = {(uint32_t)from, number, (uint32_t)bytes, throw(1000000)};
	unsigned char *buf = xcalloc(1, bytes);

	memset(buf, (int)c.check & 0xff, bytes);
	memcpy(buf, &c, sizeof(c));
	ck_assert_int_eq(peers[from]->send(peers[from], to, 5, buf, bytes, 0), 0);
	free(buf);
}

static void take_all(int at, uint32_t next[AGENTS][AGENTS])
{
	size_t bytes;
	void *buf;
	int who;

	while (!peers[at]->receive(peers[at], TRANSPORT_ANY, 5, &buf, &bytes, &who, 0)) {
		struct content c;
		size_t wrong = 0;

		ck_assert_uint_ge(bytes, sizeof(c));
		memcpy(&c, buf, sizeof(c));
		ck_assert_uint_eq(c.bytes, bytes);
		ck_assert_int_eq((int)c.from, who);
		ck_assert_uint_eq(c.number, next[who][at]);
		for (size_t i = sizeof(c); i < bytes; i++)
			wrong += ((unsigned char *)buf)[i] != (c.check & 0xff);
		ck_assert_uint_eq(wrong, 0);
		next[who][at]++;
		free(buf);
	}
}

/* Breaks one end, in the middle of whatever is under way. */
static void tear(void)
{
	int i = (int) throw(AGENTS), k = (int) throw(AGENTS);
	struct tcp *t = (struct tcp *)peers[i];

	if (i != k && tcp_agent_of(t, k)->link.fd >= 0)
		shutdown(tcp_agent_of(t, k)->link.fd, throw(2) ? SHUT_RDWR : SHUT_RD);
}

START_TEST(torn_connections_lose_nothing)
{
	uint32_t sent[AGENTS][AGENTS] = {0}, taken[AGENTS][AGENTS] = {0};
	double until;

	dice = (uint32_t)_i + 7;
	meet(20);
	for (int i = 0; i < 400; i++) {
		int from = (int) throw(AGENTS), to = (int) throw(AGENTS);

		if (from != to)
			send_one(from, to, sent[from][to]++);
		if (!throw(10))
			tear();
		pump_all(0.0005);
		take_all((int) throw(AGENTS), taken);
	}
	until = transport_now() + 20;
	do {
		pump_all(0.005);
		for (int i = 0; i < AGENTS; i++)
			take_all(i, taken);
	} while (memcmp(sent, taken, sizeof(sent)) && transport_now() < until);
	ck_assert_mem_eq(sent, taken, sizeof(sent));
	part();
}
END_TEST

static void *leave(void *p)
{
	((struct transport *)p)->finish(p, 0, 0, transport_now() + 5);
	return NULL;
}

START_TEST(a_death_is_told_once)
{
	struct transport *leaver;
	pthread_t thread;
	uint64_t news;
	size_t bytes;
	void *buf;
	int who;

	meet(1.5);
	peers[0]->deaths(peers[0], 9);
	pump_all(0.3);
	ck_assert_int_eq(peers[0]->receive(peers[0], 1, 9, &buf, &bytes, &who, 0), -ETIMEDOUT);
	/* one leaves as it should, one only falls silent */
	leaver = peers[2];
	collate_plan_free(leaver->plan);
	leaver->plan = NULL;
	peers[2] = NULL;
	ck_assert_int_eq(pthread_create(&thread, NULL, leave, leaver), 0);
	pump_all(0.5);
	pthread_join(thread, NULL);
	for (double until = transport_now() + 4; transport_now() < until;)
		peers[0]->pump(peers[0], transport_now() + 0.01);
	ck_assert_int_eq(peers[0]->receive(peers[0], 1, 9, &buf, &bytes, &who, 0), 0);
	ck_assert_uint_eq(bytes, 1);
	free(buf);
	ck_assert_int_eq(
		peers[0]->receive(peers[0], TRANSPORT_ANY, 9, &buf, &bytes, &who, 0), -ECONNRESET);
	/* and it is back when it speaks again, as after a cut */
	ck_assert_int_eq(peers[1]->send(peers[1], 0, 5, "here", 4, 0), 0);
	news = peers[0]->news;
	pump_all(1);
	ck_assert_uint_gt(peers[0]->news, news);
	ck_assert_int_eq(peers[0]->receive(peers[0], 1, 5, &buf, &bytes, &who, 0), 0);
	free(buf);
	ck_assert_int_eq(peers[0]->receive(peers[0], 1, 9, &buf, &bytes, &who, 0), 0);
	ck_assert_uint_eq(bytes, 0);
	free(buf);
	ck_assert_int_eq(peers[0]->receive(peers[0], 1, 9, &buf, &bytes, &who, 0), -ETIMEDOUT);
	part();
}
END_TEST

START_TEST(small_messages_and_wrong_use)
{
	char out[TRANSPORT_SMALL_MAX], buf[TRANSPORT_SMALL_MAX];
	void *big;
	size_t bytes;
	int who, got = -EAGAIN;

	meet(10);
	memset(out, 'x', sizeof(out));
	ck_assert_int_eq(peers[2]->post(peers[2], 1, 600, out, sizeof(out)), 0);
	for (double until = transport_now() + 5; got == -EAGAIN && transport_now() < until;) {
		peers[2]->pump(peers[2], 0); /* it has no connection to this one yet */
		got = peers[1]->look(peers[1], TRANSPORT_ANY, 600, buf, sizeof(buf), &who);
	}
	ck_assert_int_eq(got, 0);
	ck_assert_int_eq(who, 2);
	ck_assert_mem_eq(buf, out, sizeof(buf));
	ck_assert_int_eq(peers[1]->look(peers[1], 0, 600, buf, sizeof(buf), &who), -EAGAIN);
	ck_assert_int_eq(peers[1]->post(peers[1], 7, 600, out, 1), -EINVAL);
	ck_assert_int_eq(peers[1]->post(peers[1], 0, 600, out, TRANSPORT_SMALL_MAX + 1), -EINVAL);
	ck_assert_int_eq(peers[1]->send(peers[1], -1, 5, out, 1, 0), -EINVAL);
	ck_assert_int_eq(peers[1]->send(peers[1], 0, TRANSPORT_TAG_MAX + 1, out, 1, 0), -EINVAL);
	ck_assert_int_eq(peers[1]->send(peers[1], 1, 5, "self", 4, 0), 0);
	ck_assert_int_eq(peers[1]->receive(peers[1], 1, 5, &big, &bytes, &who, 0), 0);
	ck_assert_uint_eq(bytes, 4);
	free(big);
	ck_assert_int_eq(peers[1]->send(peers[1], 0, 5, "", 0, 0), 0);
	pump_all(0.3);
	ck_assert_int_eq(peers[0]->receive(peers[0], 1, 5, &big, &bytes, &who, 0), 0);
	ck_assert_uint_eq(bytes, 0);
	free(big);
	part();
}
END_TEST

/* Names */

#define HANGS 16 /* of 20 that the C library asks at a time */

/* Names are asked of nss-standin.c, which some of them never get an answer from. */
static void ask_standin(void)
{
	char self[4096], *path;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	ck_assert(n > 0);
	self[n] = '\0';
	path = xasprintf("%s/libnss_standin.so.2", dirname(self));
	ck_assert_msg(dlopen(path, RTLD_NOW) != NULL, "%s", dlerror());
	ck_assert_int_eq(__nss_configure_lookup("hosts", "standin"), 0);
	free(path);
}

static struct contact contact_of(const char *text)
{
	struct contact c;
	char *error;

	ck_assert_int_eq(contact_parse(text, &c, &error), 0);
	return c;
}

START_TEST(names_that_hang)
{
	struct contact number = contact_of("127.0.0.1:7+[::1]:8"), slow = contact_of("slow:7"),
		       hangs = contact_of("hangs"), none = contact_of("none");
	struct lookup *l, *many[100], *dropped = NULL;
	struct addresses a;
	const char *why;

	ask_standin();
	for (size_t i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = lookup_begin(i < HANGS ? &hangs : &slow);
	l = lookup_begin(&number);
	ck_assert(lookup_take(&l, &a, &why));
	ck_assert_ptr_null(l);
	ck_assert_uint_eq(a.n, 2);
	addresses_clear(&a);
	l = lookup_begin(&none);
	ck_assert(lookup_wait(&l, &a, &why, 30));
	ck_assert_uint_eq(a.n, 0);
	ck_assert_str_eq(why, gai_strerror(EAI_NONAME));
	for (size_t i = HANGS; i < ARRAY_SIZE(many); i += 2) {
		ck_assert(lookup_wait(&many[i], &a, &why, 30));
		ck_assert_uint_eq(a.n, 1);
		ck_assert_uint_eq(address_port(a.at), 7);
		addresses_clear(&a);
		lookup_drop(many[i + 1], &dropped);
	}
	for (size_t i = 0; i < HANGS; i++) {
		ck_assert(!lookup_take(&many[i], &a, &why));
		lookup_drop(many[i], &dropped);
	}
	contact_clear(&number);
	contact_clear(&slow);
	contact_clear(&hangs);
	contact_clear(&none);
}
END_TEST

static struct tcp *open_by_names(
	const char *list, const char *listen, double deadline_s, char **error)
{
	static struct tcp_options o;
	char *secret = secret_file("a secret of more than 16 bytes", 0600);
	struct transport *p;

	o = (struct tcp_options){.peers = list, .listen = listen, .secret = secret, .me = -1};
	p = tcp_open(&o, "host", "s", deadline_s, error);
	unlink(secret);
	free(secret);
	return (struct tcp *)p;
}

/* Nobody else waits for such a name, and it is said which one it is. */
START_TEST(a_name_server_that_does_not_answer)
{
	char *error, *notes;
	double before = transport_now();
	struct tcp *t;

	ask_standin();
	t = open_by_names("hangs1:7,192.0.2.7:7,none2:7,numbers:27183", NULL, 1.6, &error);
	ck_assert_msg(t != NULL, "%s", error ? error : "");
	ck_assert_int_eq(t->transport.rank, 3); /* below 2, below 0 */
	ck_assert(transport_now() - before < 30);
	for (double until = transport_now() + 2.5; transport_now() < until;) {
		double begun = transport_now();

		t->transport.pump(&t->transport, begun + 0.2);
		ck_assert(transport_now() - begun < 3);
	}
	notes = tcp_notes(&t->transport);
	ck_assert_ptr_nonnull(notes);
	ck_assert_msg(strstr(notes, "no agent found at hangs1:7: the name server does not answer"),
		"%s", notes);
	ck_assert_msg(strstr(notes, "no agent found at none2:7: "), "%s", notes);
	ck_assert_msg(strstr(notes, "none2:7 did not come, no address of its name is known"), "%s",
		notes);
	ck_assert_msg(strstr(notes, "hangs1:7 did not come, no address"), "%s", notes);
	free(notes);
	t->transport.finish(&t->transport, 0, 0, 0);
	before = transport_now();
	ck_assert_ptr_null(open_by_names("hangs1:7,hangs2:8", NULL, 0.3, &error));
	ck_assert_msg(strstr(error, "does not for hangs1:7; --me N says"), "%s", error);
	free(error);
	ck_assert_ptr_null(open_by_names("127.0.0.1:7", "hangs3:7", 0.3, &error));
	ck_assert(strstr(error, "the name server does not answer") ||
		  strstr(error, "none of the ports"));
	free(error);
	ck_assert(transport_now() - before < 30);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tcp");
	TCase *t = tcase_create("tcp");

	program_name = "u-tcp";
	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, proofs_on_the_wire, 0, ARRAY_SIZE(proofs));
	tcase_add_test(t, digest_of_the_list_on_the_wire);
	tcase_add_test(t, frames_on_the_wire);
	tcase_add_loop_test(t, contact_texts, 0, ARRAY_SIZE(contacts));
	tcase_add_test(t, contact_lists);
	tcase_add_test(t, secrets);
	tcase_add_loop_test(t, torn_connections_lose_nothing, 0, 3);
	tcase_add_test(t, a_death_is_told_once);
	tcase_add_test(t, small_messages_and_wrong_use);
	tcase_add_test(t, names_that_hang);
	tcase_add_test(t, a_name_server_that_does_not_answer);
	suite_add_tcase(s, t);
	return run_suite(s);
}
