/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target for what agents tell each other of sessions, for clang -fsanitize=fuzzer. The
 * first byte chooses: agent 0, whose coordinator gets requests from two others, each a few
 * numbers and a text; or another agent with a process that asks, and gets such outcomes.
 * What is told on the way out has to be whole.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "conf/conf.h"
#include "nodeagent/agent/observers.h"
#include "nodeagent/agent/roles/agent.h"
#include "nodeagent/process/counter/counters.h"
#include "nodeagent/net/transport.h"
#include "nodeagent/process/process.h"
#include "nodeagent/process/rings.h"
#include "nodeagent/session/internal.h"
#include "nodeagent/session/session.h"
#include "nodeagent/process/names.h"
#include "nodeagent/replay/comm/sync.h"
#include "nodeagent/base/util.h"
#include "shm/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

#define TAG_REQUEST 510
#define KEYS	    6
#define SEEN	    8

static const uint8_t *at, *end;
static struct agent a;
static bool listens; /* for one message at a time */
static int theirs;

/* What was seen on the way out: most of what comes in speaks of it. */
static uint64_t comms[SEEN], keys[SEEN];
static uint32_t requests[SEEN];
static char contacts[SEEN][128];
static unsigned n_comms, n_keys, n_contacts;

static uint8_t byte(void)
{
	return at < end ? *at++ : 0;
}

static size_t copy_in(void *to, size_t bytes)
{
	size_t n = bytes < (size_t)(end - at) ? bytes : (size_t)(end - at);

	if (n)
		memcpy(to, at, n);
	at += n;
	return n;
}

/* ---- what comes in ---------------------------------------------------------------- */

static size_t fill_text(char *to, unsigned what)
{
	size_t n = 0;

	switch (what % 4) {
	case 0:
		return copy_in(to, byte());
	case 1: /* of one who joins, with a contact or without */
		n = (size_t)sprintf(to, "name") + 1;
		if (n_contacts && byte() & 1)
			n += (size_t)sprintf(to + n, "%s%s", byte() & 1 ? "S:" : "",
				     contacts[byte() % SEEN]) +
			     1;
		return n;
	case 2:
		return (size_t)sprintf(to, "%s", contacts[byte() % SEEN]) + 1;
	default: /* ranks */
		for (unsigned k = byte() % 9; k--; n += sizeof(int32_t))
			memcpy(to + n, &(int32_t){(int8_t)byte()}, sizeof(int32_t));
		return n;
	}
}

static void *a_request(size_t *bytes)
{
	struct session_request r = {.operation = byte() % (SESSION_IDLE + 2)};
	uint8_t what = byte();
	char *buf = xcalloc(1, sizeof(r) + 1024);
	size_t n = fill_text(buf + sizeof(r), what);

	r.request = byte();
	r.key = 1 + byte() % KEYS;
	r.comm = what & 64 ? comms[byte() % SEEN] : 0;
	r.pid = byte();
	r.number = (int8_t)byte();
	r.count = (int8_t)byte();
	r.bytes = (uint32_t)n - (what == 255);
	memcpy(buf, &r, sizeof(r));
	*bytes = sizeof(r) + n;
	if (what == 254)
		*bytes = byte() % sizeof(r);
	return buf;
}

static void *an_outcome(size_t *bytes)
{
	unsigned which = byte() % SEEN, made = byte() % 9, parent = byte() % 5;
	struct session_outcome o = {.key = keys[which], .request = requests[which]};
	char *buf = xcalloc(1, sizeof(o) + 1024);
	size_t n = sizeof(o);

	o.code = byte() % (SESSION_CODES + 1);
	o.rank = (int8_t)byte();
	o.size = (int8_t)byte();
	o.job = byte();
	o.made = (struct session_members){byte(), byte() % 16, made};
	o.parent = (struct session_members){byte(), byte() % 16, parent};
	if (o.rank == -1) /* more than there can be */
		o.made.n = 0x40000000u << byte() % 3;
	for (unsigned k = 0; k < made + parent; k++, n += sizeof(int32_t))
		memcpy(buf + n, &(int32_t){(int8_t)byte()}, sizeof(int32_t));
	o.text_bytes = byte();
	memset(buf + n, 'x', o.text_bytes);
	n += o.text_bytes;
	buf[n - 1] = byte() == 77 ? 'x' : '\0';
	memcpy(buf, &o, sizeof(o));
	*bytes = byte() == 77 ? byte() % n : n;
	return buf;
}

static int receive(
	struct transport *p, int from, int tag, void **buf, size_t *bytes, int *who, double until)
{
	if (!listens)
		return -ETIMEDOUT;
	listens = false;
	*buf = tag == TAG_REQUEST ? a_request(bytes) : an_outcome(bytes);
	*who = tag == TAG_REQUEST ? 1 + byte() % 2 : 0;
	return 0;
}

/* ---- what goes out ----------------------------------------------------------------- */

static void see_outcome(const struct session_outcome *o, size_t bytes)
{
	size_t members = (size_t)o->made.n + o->parent.n;
	const char *text = (const char *)o + bytes - o->text_bytes;

	if (bytes < sizeof(*o) || !o->text_bytes ||
		bytes != sizeof(*o) + members * sizeof(int32_t) + o->text_bytes ||
		text[o->text_bytes - 1] || o->code >= SESSION_CODES || o->made.rank > o->made.n ||
		o->parent.rank > o->parent.n)
		abort();
	if (o->made.id)
		comms[n_comms++ % SEEN] = o->made.id;
	if (!o->code && strchr(text, '#'))
		snprintf(contacts[n_contacts++ % SEEN], sizeof(contacts[0]), "%s", text);
}

static void see_request(const struct session_request *r, size_t bytes)
{
	if (bytes < sizeof(*r) || bytes != sizeof(*r) + r->bytes)
		abort();
	keys[n_keys % SEEN] = r->key;
	requests[n_keys++ % SEEN] = r->request;
}

static int send_one(
	struct transport *p, int to, int tag, const void *buf, size_t bytes, double until)
{
	if (to < 0 || to >= p->size)
		abort();
	if (tag == TAG_REQUEST)
		see_request(buf, bytes);
	else
		see_outcome(buf, bytes);
	return 0;
}

static struct transport transport = {.size = 3, .send = send_one, .receive = receive};

/* ---- the agents -------------------------------------------------------------------- */

static void tick(void)
{
	listens = true;
	a.news = true;
	sessions_tick(&a);
	listens = false;
}

static void packet(struct process *p, const void *fixed, size_t bytes, const char *text, size_t n)
{
	char buf[2048], answer[WIRE_TEXT_MAX];

	memcpy(buf, fixed, bytes);
	((struct wire_head *)(void *)buf)->text_bytes = (uint32_t)n;
	memcpy(buf + bytes, text, n);
	send(theirs, buf, bytes + n, MSG_DONTWAIT | MSG_NOSIGNAL);
	process_receive(p);
	while (recv(theirs, answer, sizeof(answer), MSG_DONTWAIT) > 0)
		;
}

static void ask(struct process *p)
{
	struct wire_session m = {.head.kind = WIRE_SESSION};
	char text[1024];
	uint8_t what = byte();
	size_t n = fill_text(text, what);

	m.operation = byte() % (SESSION_OPERATIONS + 1);
	m.request = byte() % 70;
	m.comm = what & 64 ? SESSION_COMM_FIRST + byte() % 16 : 0;
	m.number = (int8_t)byte();
	m.count = (int8_t)byte();
	packet(p, &m, sizeof(m), text, n);
}

static void far_agent(void)
{
	struct wire_hello hello = {.head.kind = WIRE_HELLO, .version = WIRE_VERSION};
	struct process *p;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		abort();
	theirs = pair[0];
	p = process_new(&a.host, pair[1], 0);
	packet(p, &hello, sizeof(hello), "a\0b\0c", 6);
	while (at < end)
		byte() & 1 ? ask(p) : tick();
	close(theirs);
	process_receive(p);
	process_hung_up(p);
	process_finish(p, PROCESS_KILLED);
	process_free(p);
	a.host.processes = a.host.live = NULL;
	sync_free(a.host.sync);
	a.host.sync = NULL;
}

/* Files are written then. */
static void all_idle(struct agent *a)
{
}

static void begin_round(struct agent *a, uint32_t round)
{
}

static const struct session_duties duties = {.all_idle = all_idle, .begin_round = begin_round};

static void prepare(void)
{
	static char host[] = "host", session[] = "fuzz";

	a.host.conf = conf_default();
	a.host.conf->mpi_match = false;
	a.host.counters = counters_new(a.host.conf);
	a.host.name = host;
	a.host.observers = agent_observers;
	a.host.session = session;
	a.host.rings = ring_store_new(a.host.conf->shm_ring_size, ring_store_memory);
	a.host.transport = &transport;
	a.expect = 2;
	clocks_init(&a.host.clocks, "raw");
	clocks_calibrate(&a.host.clocks);
	program_name = "f-session";
	/* of the agent; the fuzzer writes to descriptor 2 */
	if (!getenv("F_SESSION_VERBOSE"))
		stderr = fopen("/dev/null", "w");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	if (!a.host.conf)
		prepare();
	if (!bytes)
		return 0;
	at = data + 1;
	end = data + bytes;
	transport.rank = data[0] & 1;
	n_comms = n_keys = n_contacts = 0;
	memset(comms, 0, sizeof(comms));
	memset(keys, 0, sizeof(keys));
	memset(contacts, 0, sizeof(contacts));
	a.host.symbols = symcache_new(&a.host);
	sessions_begin(&a, &duties);
	while (!transport.rank && at < end)
		tick();
	if (transport.rank)
		far_agent();
	sessions_end(&a);
	symcache_free(a.host.symbols);
	host_warnings_free(&a.host);
	a.host.n_live = a.host.n_ever = 0;
	return 0;
}
