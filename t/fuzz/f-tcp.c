/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target for what comes over TCP, for clang -fsanitize=fuzzer. The first byte chooses:
 * words of a stranger; or of one that knows the secret, as frames whose checksums are made
 * right, as the dice would never throw them, of a neighbour in the tree or of another agent; or a
 * meeting of such a one, for a connection or only a knock; or an invitation; or a contact.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nodeagent/collate/tree.h"
#include "nodeagent/net/route.h"
#include "nodeagent/net/tcp/internal.h"
#include "nodeagent/base/util.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static const struct tcp_options options = {.me = -1};
static const struct tcp_keys keys = {"not so secret", "nor is this one"};

/* Agent 1 of 3, or one that waits for its invitation. */
static struct transport *agent(bool invited)
{
	char *error;
	struct tcp *t;
	static char path[64], text[] = "0123456789abcdef";
	static struct tcp_options o;

	if (!path[0]) {
		int fd = memfd_create("secret", 0);

		program_name = "f-tcp";
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		if (fchmod(fd, 0600) || write(fd, text, 16) != 16)
			abort();
		/* the words about strangers */
		fd = open("/dev/null", O_WRONLY);
		if (!getenv("F_TCP_VERBOSE"))
			stderr = fdopen(fd, "w");
	}
	o = options;
	o.secret = path;
	o.listen = "127.0.0.1:0";
	o.peers = invited ? "127.0.0.1:9,127.0.0.1:9,127.0.0.1:9" : NULL;
	o.me = invited ? 1 : -1;
	t = (struct tcp *)tcp_open(&o, "here", "fuzz", 5, &error);
	if (!t)
		abort();
	t->next = 1e18; /* nobody is dialed */
	route_open(&t->transport);
	return &t->transport;
}

static int connection(int *theirs)
{
	int pair[2], room = 1 << 22;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair))
		abort();
	setsockopt(pair[1], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	*theirs = pair[1];
	return pair[0];
}

static void put(int fd, const void *buf, size_t bytes)
{
	if (bytes && send(fd, buf, bytes, MSG_NOSIGNAL) < 0)
		return;
}

static void stranger(struct transport *p, const uint8_t *data, size_t bytes)
{
	struct sockaddr_storage from = {.ss_family = AF_INET};
	int theirs, ours = connection(&theirs);

	tcp_meet((struct tcp *)p, ours, &from);
	put(theirs, data, bytes / 2);
	p->pump(p, 0);
	put(theirs, data + bytes / 2, bytes - bytes / 2);
	p->pump(p, 0);
	shutdown(theirs, SHUT_WR);
	p->pump(p, 0);
	close(theirs);
}

/* PROOF by who knows the secret, and has had WELCOME, if that has come. */
static void prove(struct tcp *t, int theirs, const struct tcp_hello *h)
{
	struct tcp_meeting m = {.hello = *h};
	unsigned char proof[TCP_DIGEST_BYTES];

	if (recv(theirs, &m.welcome, sizeof(m.welcome), MSG_DONTWAIT) != sizeof(m.welcome))
		return;
	tcp_sign(t, &m, "dialer", NULL, 0, proof);
	put(theirs, proof, sizeof(proof));
}

/* A meeting in which all is right, and then what its sender says. */
static void meeting(
	struct transport *p, const struct tcp_hello *h, const uint8_t *data, size_t bytes)
{
	struct tcp *t = (struct tcp *)p;
	struct sockaddr_storage from = {.ss_family = AF_INET};
	int theirs, ours = connection(&theirs);

	tcp_meet(t, ours, &from);
	put(theirs, h, sizeof(*h));
	p->pump(p, 0);
	prove(t, theirs, h);
	p->pump(p, 0);
	put(theirs, data, bytes);
	p->pump(p, 0);
	close(theirs);
	p->pump(p, 0);
}

/*
 * HELLO with the head made right, and by the second byte signed, of this job or both, proved, or a
 * knock; then what its sender says next.
 */
static void hello(struct transport *p, const uint8_t *data, size_t bytes)
{
	struct tcp *t = (struct tcp *)p;
	const unsigned how = bytes ? *data : 0;
	uint8_t buf[sizeof(struct tcp_hello) + TCP_DIGEST_BYTES] = {0};
	struct tcp_hello h;

	memcpy(buf + TCP_HEAD_BYTES, data + (bytes > 0),
		bytes > sizeof(buf) - TCP_HEAD_BYTES ? sizeof(buf) - TCP_HEAD_BYTES
						     : bytes - (bytes > 0));
	memcpy(&h, buf, sizeof(h));
	memcpy(h.magic, TCP_MAGIC, sizeof(h.magic));
	h.version = TCP_VERSION - !(how % 16);
	h.order = TCP_BYTE_ORDER;
	if (how & 1) {
		memcpy(h.list, t->digest, sizeof(h.list));
		h.purpose = how & 4 ? TCP_KNOCK : TCP_LINK;
		h.from = how & 4 ? 0 : 2;
		h.to = 1;
		h.size = 3;
		h.received &= 1;
	}
	if (how & 2)
		tcp_sign_hello(t, &h, h.proof);
	memcpy(buf, &h, sizeof(h));
	if (how & 8)
		meeting(p, &h, buf + sizeof(h), TCP_DIGEST_BYTES);
	else
		stranger(p, buf, sizeof(buf));
}

static void frames(struct transport *p, const uint8_t *data, size_t bytes)
{
	struct tcp *t = (struct tcp *)p;
	struct tcp_agent *a = tcp_agent_of(t, bytes && *data & 64 ? 0 : 2);
	int theirs, who;
	uint64_t n = 0, seq = 0;
	unsigned char *sealed;
	size_t wire;

	tcp_find_neighbours(t);

	tcp_keep(a, TCP_MESSAGE, 5, "for them", 8);
	a->life = 1;
	strcpy(a->host, "there");
	tcp_link_open(t, a, connection(&theirs), &keys, false, 0);
	tcp_watch(t, a->link.fd, TCP_WATCH_AGENT, a, false, false);
	while (bytes >= 8) {
		uint16_t content = (uint16_t)(data[4] | data[5] << 8);
		struct tcp_frame f = {.kind = data[0] & 7,
			.seq = data[0] & 8 ? data[1] : ++seq,
			.ack = data[0] & 16 ? data[1] : 0,
			.tag = data[2] | (uint32_t)(data[3] & 3) << 8,
			.left = data[0] & 32 ? data[6] | (uint64_t)data[7] << 40 : content,
			.bytes = content};

		if (f.kind > TCP_BYE && f.kind < TCP_INVITE && !(data[0] & 8)) {
			f.seq = 0;
			seq--;
		}
		data += 8;
		bytes -= 8;
		f.bytes = f.bytes > bytes ? (uint32_t)bytes : f.bytes;
		if (!(f.left >> 32) && f.left > f.bytes && f.left == content)
			f.left = f.bytes;
		sealed = tcp_frame_seal(keys.of_dialer, n++, &f, data, &wire);
		put(theirs, sealed, wire);
		free(sealed);
		data += f.bytes;
		bytes -= f.bytes;
		p->pump(p, 0);
		route_attend(p);
	}
	close(theirs);
	p->pump(p, 0);
	route_attend(p);
	for (int tag = 0; tag <= TRANSPORT_TAG_MAX; tag++) {
		void *buf;
		size_t got;

		while (!p->receive(p, TRANSPORT_ANY, tag, &buf, &got, &who, 0)) {
			if (tag == TAG_PLAN && !p->plan)
				collate_plan_operations.take(p, buf, got);
			free(buf);
		}
		if (tag == 40)
			tag = TRANSPORT_TAG_MAX - 40;
	}
	collate_plan_free(p->plan);
	p->plan = NULL;
}

static void contact(const uint8_t *data, size_t bytes)
{
	char *text = malloc(bytes + 1), *error = NULL;
	struct contacts list = {0};

	memcpy(text, data, bytes);
	text[bytes] = '\0';
	if (text[0] != '@' && !contacts_add(&list, text, &error)) {
		char *again = contacts_text(&list);
		struct contacts second = {0};

		/* what is accepted comes back the same */
		if (contacts_add(&second, again, &error) || second.n != list.n)
			abort();
		contacts_clear(&second);
		free(again);
	}
	contacts_clear(&list);
	free(error);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct transport *p;

	if (!bytes)
		return 0;
	if (data[0] % 8 == 7) {
		contact(data + 1, bytes - 1);
		return 0;
	}
	p = agent(data[0] % 8 < 6);
	if (data[0] % 8 < 3)
		frames(p, data + 1, bytes - 1);
	else if (data[0] % 8 < 5)
		hello(p, data + 1, bytes - 1);
	else
		stranger(p, data + 1, bytes - 1);
	/* nothing of a fuzzer's peers waits to be acknowledged */
	p->finish(p, 0, 0, 0);
	return 0;
}
