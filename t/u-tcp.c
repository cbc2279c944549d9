/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The agents' TCP: digests by published vectors, contacts, the secret's file, and three
 * agents in one process whose connections are torn at random. How they meet is in u-tcp-meet.
 */
#include "nodeagent/peer-tcp.h"

#include <check.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "nodeagent/addresses.h"
#include "nodeagent/collate-tree.h"
#include "nodeagent/contact.h"
#include "nodeagent/lookup.h"
#include "nodeagent/peer-tcp-internal.h"
#include "nodeagent/secret.h"
#include "nodeagent/sha256.h"
#include "nodeagent/util.h"
#include "t/suite.h"
#include "t/tcp-agents.h"

/* Digests */

static void is_hex(const char *wanted, const unsigned char *got)
{
	char text[2 * SHA256_BYTES + 1];

	for (int i = 0; i < SHA256_BYTES; i++)
		snprintf(text + 2 * i, 3, "%02x", got[i]);
	ck_assert_str_eq(text, wanted);
}

/* FIPS 180-4: examples; the last one is a million times 'a' */
static const struct {
	const char *text, *digest;
} digests[] = {
	{"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
	{"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
	{"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		"248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
	{NULL, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
};

START_TEST(sha256_vectors)
{
	const char *text = digests[_i].text;
	unsigned char digest[SHA256_BYTES];
	struct sha256 s;

	sha256_begin(&s);
	for (int i = 0; !text && i < 1000000; i++)
		sha256_add(&s, "a", 1);
	if (text)
		sha256_add(&s, text, strlen(text));
	sha256_end(&s, digest);
	is_hex(digests[_i].digest, digest);
}
END_TEST

/* RFC 4231: cases 2 and 6 */
START_TEST(hmac_vectors)
{
	const struct hmac_part two[] = {{"what do ya want ", 16}, {"for nothing?", 12}};
	const char *long_text = "Test Using Larger Than Block-Size Key - Hash Key First";
	const struct hmac_part one = {long_text, strlen(long_text)};
	unsigned char key[131], mac[SHA256_BYTES], other[SHA256_BYTES];

	hmac_sha256("Jefe", 4, two, 2, mac);
	is_hex("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843", mac);
	memset(key, 0xaa, sizeof(key));
	hmac_sha256(key, sizeof(key), &one, 1, other);
	is_hex("60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54", other);
	ck_assert(!hmac_equal(mac, other));
	ck_assert(hmac_equal(mac, mac));
}
END_TEST

/* The paper's appendix A: key 00..0f, message 00..0e */
START_TEST(siphash_vector)
{
	unsigned char key[SIPHASH_KEY_BYTES], text[15];

	for (int i = 0; i < SIPHASH_KEY_BYTES; i++)
		key[i] = (unsigned char)i;
	for (int i = 0; i < 15; i++)
		text[i] = (unsigned char)i;
	ck_assert_uint_eq(siphash(key, text, 0, text, 15), 0xa129ca6149be45e5);
	ck_assert_uint_eq(siphash(key, text, 8, text + 8, 7), 0xa129ca6149be45e5);
	ck_assert_uint_ne(siphash(key, text, 8, text + 8, 6), 0xa129ca6149be45e5);
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
	ck_assert(strstr(error, "less than 16 bytes"));
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

	while (!peers[at]->receive(peers[at], PEER_ANY, 5, &buf, &bytes, &who, 0)) {
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

	if (i != k && t->agents[k].link.fd >= 0)
		shutdown(t->agents[k].link.fd, throw(2) ? SHUT_RDWR : SHUT_RD);
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
	until = peer_now() + 20;
	do {
		pump_all(0.005);
		for (int i = 0; i < AGENTS; i++)
			take_all(i, taken);
	} while (memcmp(sent, taken, sizeof(sent)) && peer_now() < until);
	ck_assert_mem_eq(sent, taken, sizeof(sent));
	part();
}
END_TEST

static void *leave(void *p)
{
	((struct peer *)p)->finish(p, 0, 0, peer_now() + 5);
	return NULL;
}

START_TEST(a_will_is_told_once_and_only_after_death)
{
	struct peer *leaver;
	pthread_t thread;
	uint64_t news;
	size_t bytes;
	void *buf;
	int who;

	meet(1.5);
	peers[1]->will(peers[1], 0, 9, "first", 5);
	peers[1]->will(peers[1], 0, 9, "second", 6);
	peers[2]->will(peers[2], 0, 9, "never", 5);
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
	for (double until = peer_now() + 4; peer_now() < until;)
		peers[0]->pump(peers[0], peer_now() + 0.01);
	ck_assert_int_eq(peers[0]->receive(peers[0], 1, 9, &buf, &bytes, &who, 0), 0);
	ck_assert_uint_eq(bytes, 6);
	ck_assert_mem_eq(buf, "second", 6);
	free(buf);
	ck_assert_int_eq(
		peers[0]->receive(peers[0], PEER_ANY, 9, &buf, &bytes, &who, 0), -ECONNRESET);
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
	char out[PEER_SMALL_MAX], buf[PEER_SMALL_MAX];
	void *big;
	size_t bytes;
	int who, got = -EAGAIN;

	meet(10);
	memset(out, 'x', sizeof(out));
	ck_assert_int_eq(peers[2]->post(peers[2], 1, 600, out, sizeof(out)), 0);
	for (double until = peer_now() + 5; got == -EAGAIN && peer_now() < until;)
		got = peers[1]->look(peers[1], PEER_ANY, 600, buf, sizeof(buf), &who);
	ck_assert_int_eq(got, 0);
	ck_assert_int_eq(who, 2);
	ck_assert_mem_eq(buf, out, sizeof(buf));
	ck_assert_int_eq(peers[1]->look(peers[1], 0, 600, buf, sizeof(buf), &who), -EAGAIN);
	ck_assert_int_eq(peers[1]->post(peers[1], 7, 600, out, 1), -EINVAL);
	ck_assert_int_eq(peers[1]->post(peers[1], 0, 600, out, PEER_SMALL_MAX + 1), -EINVAL);
	ck_assert_int_eq(peers[1]->send(peers[1], -1, 5, out, 1, 0), -EINVAL);
	ck_assert_int_eq(peers[1]->send(peers[1], 0, PEER_TAG_MAX + 1, out, 1, 0), -EINVAL);
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

static double slow_s = 1e9;

/* A name server that never answers for some names, and late for others. */
int getaddrinfo(const char *host, const char *service, const struct addrinfo *wanted,
	struct addrinfo **found)
{
	int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **) =
		(__typeof__(real))dlsym(RTLD_NEXT, "getaddrinfo");

	if (wanted->ai_flags & AI_NUMERICHOST)
		return real(host, service, wanted, found);
	if (strstr(host, "hangs"))
		poll(NULL, 0, -1);
	if (strstr(host, "none"))
		return EAI_NONAME;
	if (strstr(host, "slow"))
		poll(NULL, 0, (int)(slow_s * 1000));
	return real("127.0.0.1", service, wanted, found);
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
	struct lookup *l, *many[100];
	struct addresses a;
	const char *why;

	slow_s = 0.3;
	for (size_t i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = lookup_begin(i < 20 ? &hangs : &slow, -1);
	l = lookup_begin(&number, -1);
	ck_assert(lookup_take(&l, &a, &why));
	ck_assert_ptr_null(l);
	ck_assert_uint_eq(a.n, 2);
	addresses_clear(&a);
	l = lookup_begin(&none, -1);
	ck_assert(lookup_wait(&l, &a, &why, 30));
	ck_assert_uint_eq(a.n, 0);
	ck_assert_str_eq(why, gai_strerror(EAI_NONAME));
	for (size_t i = 20; i < ARRAY_SIZE(many); i += 2) {
		ck_assert(lookup_wait(&many[i], &a, &why, 30));
		ck_assert_uint_eq(a.n, 1);
		ck_assert_uint_eq(address_port(a.at), 7);
		addresses_clear(&a);
		lookup_drop(many[i + 1]);
	}
	for (size_t i = 0; i < 20; i++) {
		ck_assert(!lookup_take(&many[i], &a, &why));
		lookup_drop(many[i]);
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
	static struct peer_tcp_options o;
	char *secret = secret_file("a secret of more than 16 bytes", 0600);
	struct peer *p;

	o = (struct peer_tcp_options){.peers = list, .listen = listen, .secret = secret, .me = -1};
	p = peer_tcp_open(&o, "host", "s", deadline_s, error);
	unlink(secret);
	free(secret);
	return (struct tcp *)p;
}

/* Nobody else waits for such a name, and it is said which one it is. */
START_TEST(a_name_server_that_does_not_answer)
{
	char *error, *notes;
	double before = peer_now();
	struct tcp *t = open_by_names("hangs1:7,none2:7,numbers:27183", NULL, 1.6, &error);

	ck_assert_msg(t != NULL, "%s", error ? error : "");
	ck_assert_int_eq(t->peer.rank, 2);
	ck_assert(peer_now() - before < 30);
	for (double until = peer_now() + 2.5; peer_now() < until;) {
		double begun = peer_now();

		t->peer.pump(&t->peer, begun + 0.2);
		ck_assert(peer_now() - begun < 3);
	}
	notes = peer_tcp_notes(&t->peer);
	ck_assert_ptr_nonnull(notes);
	ck_assert_msg(
		strstr(notes, "hangs1:7 is looked for in vain: the name server does not answer"),
		"%s", notes);
	ck_assert_msg(strstr(notes, "none2:7 is looked for in vain: "), "%s", notes);
	ck_assert_msg(strstr(notes, "none2:7 did not come, no address of its name is known"), "%s",
		notes);
	ck_assert_msg(strstr(notes, "hangs1:7 did not come, no address"), "%s", notes);
	free(notes);
	t->peer.finish(&t->peer, 0, 0, 0);
	before = peer_now();
	ck_assert_ptr_null(open_by_names("hangs1:7,hangs2:8", NULL, 0.3, &error));
	ck_assert_msg(strstr(error, "does not for hangs1:7; --me N says"), "%s", error);
	free(error);
	ck_assert_ptr_null(open_by_names("127.0.0.1:7", "hangs3:7", 0.3, &error));
	ck_assert(strstr(error, "the name server does not answer") ||
		  strstr(error, "none of the ports"));
	free(error);
	ck_assert(peer_now() - before < 30);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tcp");
	TCase *t = tcase_create("tcp");

	program_name = "u-tcp";
	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, sha256_vectors, 0, ARRAY_SIZE(digests));
	tcase_add_test(t, hmac_vectors);
	tcase_add_test(t, siphash_vector);
	tcase_add_loop_test(t, contact_texts, 0, ARRAY_SIZE(contacts));
	tcase_add_test(t, contact_lists);
	tcase_add_test(t, secrets);
	tcase_add_loop_test(t, torn_connections_lose_nothing, 0, 3);
	tcase_add_test(t, a_will_is_told_once_and_only_after_death);
	tcase_add_test(t, small_messages_and_wrong_use);
	tcase_add_test(t, names_that_hang);
	tcase_add_test(t, a_name_server_that_does_not_answer);
	suite_add_tcase(s, t);
	return run_suite(s);
}
