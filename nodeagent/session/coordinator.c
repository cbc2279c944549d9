/* SPDX-License-Identifier: BSD-3-Clause */
/* What members of a session ask for; see coordinator.h. */
#include "nodeagent/session/coordinator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include "nodeagent/agent/roles/agent.h"
#include "nodeagent/collate/collate.h"
#include "nodeagent/net/transport.h"
#include "nodeagent/base/util.h"

static struct coordinator *coordinator(struct agent *a)
{
	struct coordinator *c = a->sessions->coordinator;

	if (c)
		return c;
	c = a->sessions->coordinator = xcalloc(1, sizeof(*c));
	c->agent = a;
	if (getrandom(&c->session, sizeof(c->session), 0) != sizeof(c->session))
		c->session = a->host.start_raw_ns;
	c->groups = xcalloc(1, sizeof(*c->groups));
	c->groups->expected = a->expect;
	return c;
}

void coordinator_free(struct coordinator *c)
{
	if (!c)
		return;
	while (c->operations)
		operation_free(c, c->operations);
	for (struct group *g = c->groups, *next; g; g = next) {
		next = g->next;
		free(g->lost_name);
		free(g);
	}
	for (size_t i = 0; i < c->n_members; i++) {
		free(c->members[i].name);
		free(c->members[i].text);
	}
	for (size_t i = 0; i < c->n_comms; i++)
		free(c->comms[i].who);
	map64_free(&c->by_key);
	free(c->members);
	free(c->comms);
	free(c->activity);
	free(c);
}

static const char *host_of(const struct agent *a, int agent)
{
	const char *host = collate_host_of(a->host.transport, agent);

	return host ? host : a->host.name;
}

const char *member_text(const struct coordinator *c, uint32_t member)
{
	struct member *m = &c->members[member];

	free(m->text);
	m->text = xasprintf("%s (pid %d on %s)", m->name, m->pid, host_of(c->agent, m->agent));
	return m->text;
}

bool member_lives(const struct coordinator *c, uint32_t member)
{
	return !c->members[member].dead && !c->members[member].left;
}

const char *member_fate(const struct coordinator *c, uint32_t member)
{
	const struct member *m = &c->members[member];

	return m->left	   ? "has left"
	       : m->away   ? "cannot be reached any more"
	       : m->killed ? "has died"
			   : "has ended";
}

static struct group *group_of_contact(struct coordinator *c, uint64_t contact)
{
	struct group *g = c->groups;

	while (g && g->contact != contact)
		g = g->next;
	return g;
}

/* The key behind the last '#', or 0. */
static uint64_t key_in(const char *contact)
{
	const char *mark = strrchr(contact, '#');
	char *end;
	uint64_t key;

	if (!mark || strlen(mark) != 17 || strspn(mark + 1, "0123456789abcdef") != 16)
		return 0;
	key = strtoull(mark + 1, &end, 16);
	return *end ? 0 : key;
}

static bool known_member(const struct coordinator *c, uint64_t key, uint32_t *member)
{
	const uint32_t *at = key ? map64_find(&c->by_key, key) : NULL;

	if (!at || !member_lives(c, *at))
		return false;
	*member = *at;
	return true;
}

/* ---- joining -------------------------------------------------------------------------- */

/* Before it is a member, it is told by its key. */
static void refuse_request(struct coordinator *c, const struct session_request *r,
	enum session_code code, const char *text)
{
	struct session_outcome *o;
	size_t bytes = strlen(text) + 1;

	o = xcalloc(1, sizeof(*o) + bytes);
	o->key = r->key;
	o->request = r->request;
	o->code = code;
	o->text_bytes = (uint32_t)bytes;
	memcpy(o + 1, text, bytes);
	sessions_deliver(c->agent, r->agent, o, sizeof(*o) + bytes);
	free(o);
}

/* How this agent is reached, and which of its members or groups is meant. */
static void tell_contact(struct coordinator *c, uint32_t member, uint32_t request, uint64_t key)
{
	const struct agent *a = c->agent;
	char *place = a->contact ? xstrdup(a->contact)
				 : xasprintf("%s/%s", a->host.name, a->host.session);

	outcome_tell(c, member, request, SESSION_OK, "%s#%016llx", place, (unsigned long long)key);
	free(place);
}

/* Whether a contact is of another session on this host, and its name. */
static bool is_elsewhere(const struct agent *a, const char *contact, int *bytes, const char **name)
{
	const char *host = contact + (strncmp(contact, "S:", 2) ? 0 : 2);
	const char *slash = strchr(host, '/'), *key = strrchr(host, '#');

	if (a->several || !slash || !key || key <= slash + 1 ||
		strlen(a->host.name) != (size_t)(slash - host) ||
		memcmp(a->host.name, host, (size_t)(slash - host)))
		return false;
	*name = slash + 1;
	*bytes = (int)(key - slash - 1);
	return strlen(a->host.session) != (size_t)*bytes ||
	       memcmp(a->host.session, *name, (size_t)*bytes);
}

/* NULL: refused. */
static struct group *group_to_join(
	struct coordinator *c, const struct session_request *r, const char *contact)
{
	struct group *g = c->groups;
	char text[SESSION_CONTACT_MAX + 200];
	const char *name;
	uint32_t leader;
	uint64_t key;
	int bytes;

	while (g->next)
		g = g->next; /* the first one is the last in the list */
	if (!*contact)
		return g;
	if (!strncmp(contact, "S:", 2)) {
		if (known_member(c, key_in(contact + 2), &leader))
			return c->members[leader].group;
	} else {
		key = key_in(contact);
		g = key ? group_of_contact(c, key) : NULL;
		if (g)
			return g;
	}
	if (is_elsewhere(c->agent, contact, &bytes, &name))
		snprintf(text, sizeof(text),
			"vftrace_join: the contact `%.300s' is of another agent than the one that "
			"this process has (session %.60s): start the process with "
			"VFTR_SESSION=%.*s",
			contact, c->agent->host.session, bytes < 100 ? bytes : 100, name);
	else
		snprintf(text, sizeof(text),
			"vftrace_join: no process of this session has given the contact `%.*s'",
			SESSION_CONTACT_MAX, contact);
	refuse_request(c, r, SESSION_CONTACT, text);
	return NULL;
}

static bool number_is_free(
	struct coordinator *c, const struct session_request *r, const struct group *g)
{
	char text[400 + SESSION_NAME_MAX];

	for (uint32_t i = 0; i < c->n_members && r->number >= 0; i++) {
		const struct member *m = &c->members[i];

		if (m->group != g || m->number != r->number || !member_lives(c, i))
			continue;
		snprintf(text, sizeof(text), "vftrace_join: %s has number %d", member_text(c, i),
			r->number);
		refuse_request(c, r, SESSION_NUMBER, text);
		return false;
	}
	if (!g->expected || g->joined < g->expected)
		return true;
	snprintf(text, sizeof(text), "vftrace_join: all %u processes have joined", g->expected);
	refuse_request(c, r, SESSION_LIMIT, text);
	return false;
}

static void on_join(struct coordinator *c, const struct session_request *r, const char *data)
{
	size_t name_bytes = strnlen(data, r->bytes);
	const char *contact = name_bytes + 1 < r->bytes ? data + name_bytes + 1 : "";
	struct group *g;
	struct member *m;
	uint32_t there;

	if (known_member(c, r->key, &there)) {
		refuse_request(
			c, r, SESSION_ALREADY, "vftrace_join: this process has joined already");
		return;
	}
	if (name_bytes > SESSION_NAME_MAX || !name_bytes || c->n_members >= SESSION_MEMBERS_MAX ||
		r->number < -1) {
		refuse_request(c, r, SESSION_ARGUMENT, "");
		return;
	}
	g = group_to_join(c, r, contact);
	if (!g || !number_is_free(c, r, g))
		return;
	c->members = grow(c->members, c->n_members, &c->cap_members, sizeof(*c->members));
	m = &c->members[c->n_members];
	*m = (struct member){.key = r->key,
		.agent = r->agent,
		.pid = r->pid,
		.number = r->number,
		.rank = -1,
		.name = xasprintf("%.*s", (int)name_bytes, data),
		.group = g};
	for (char *x = m->name; *x; x++)
		if ((unsigned char)*x < ' ' || *x == 127)
			*x = '?';
	if (map64_find(&c->by_key, r->key))
		*map64_find(&c->by_key, r->key) = (uint32_t)c->n_members;
	else
		map64_add(&c->by_key, r->key, (uint32_t)c->n_members);
	g->joined++;
	if (g->lost)
		g->lost--;
	tell_contact(c, (uint32_t)c->n_members++, r->request, r->key);
}

static void on_expect(
	struct coordinator *c, uint32_t member, const struct session_request *r, const char *data)
{
	struct group *g = c->members[member].group;
	const char *end = data + r->bytes;
	uint32_t other;

	for (const char *s = data; s < end; s += strlen(s) + 1) {
		if (known_member(c, key_in(s), &other) && c->members[other].group == g)
			continue;
		outcome_tell(c, member, r->request, SESSION_CONTACT,
			"vftrace_expect: no process that has joined has the contact `%.300s'", s);
		return;
	}
	if (r->count < 1 || (uint32_t)r->count < g->joined ||
		(uint32_t)r->count > SESSION_MEMBERS_MAX) {
		outcome_tell(c, member, r->request, SESSION_ARGUMENT,
			"vftrace_expect: %d processes, and %u have joined already", r->count,
			g->joined);
		return;
	}
	g->expected = (uint32_t)r->count;
	outcome_tell(c, member, r->request, SESSION_OK, NULL);
	for (struct operation *o = c->operations; o; o = o->next)
		if (o->kind == STARTING && c->members[o->arrivals[0].member].group == g) {
			operation_try(c, o);
			return;
		}
}

/* ---- collective operations -------------------------------------------------------------- */

static void on_start(struct coordinator *c, uint32_t member, const struct session_request *r)
{
	struct group *g = c->members[member].group;
	struct operation *o;

	if (c->members[member].rank >= 0) {
		outcome_tell(c, member, r->request, SESSION_ALREADY, NULL);
		return;
	}
	if (g->lost && !g->started) {
		outcome_tell(c, member, r->request, SESSION_DEAD, "vftrace_start: %s has died",
			g->lost_name);
		return;
	}
	o = operation_arrive(c, STARTING, member, r->request, 0, NULL, 0);
	if (o)
		operation_try(c, o);
}

static void on_finish(struct coordinator *c, uint32_t member, const struct session_request *r)
{
	struct operation *o;

	if (c->members[member].rank < 0) {
		outcome_tell(c, member, r->request, SESSION_NOT_STARTED, NULL);
		return;
	}
	o = operation_arrive(c, FINISHING, member, r->request, 0, NULL, 0);
	if (o)
		operation_try(c, o);
}

static void on_children(struct coordinator *c, uint32_t member, const struct session_request *r)
{
	struct group *g = xcalloc(1, sizeof(*g));

	while (getrandom(&g->contact, sizeof(g->contact), 0) != sizeof(g->contact) || !g->contact)
		;
	g->next = c->groups;
	c->groups = g;
	tell_contact(c, member, r->request, g->contact);
}

/* If the member is in the communicator, 0: of itself only; else NULL, and it is told. */
static struct communicator *comm_of(
	struct coordinator *c, uint32_t member, const struct session_request *r)
{
	struct communicator *comm =
		r->comm ? communicator_find(c, r->comm) : communicator_new(c, &member, 1);

	for (uint32_t i = 0; comm && i < comm->n; i++)
		if (comm->who[i] == member)
			return comm;
	outcome_tell(c, member, r->request, SESSION_ARGUMENT, NULL);
	return NULL;
}

static void on_create(
	struct coordinator *c, uint32_t member, const struct session_request *r, const char *data)
{
	const struct communicator *comm = comm_of(c, member, r);
	uint32_t n = r->bytes / sizeof(int32_t), *who;
	struct operation *o;

	if (!comm)
		return;
	who = xcalloc(n + 1, sizeof(*who));
	for (uint32_t i = 0; i < n; i++) {
		int32_t rank;

		memcpy(&rank, data + i * sizeof(rank), sizeof(rank));
		who[i] = rank >= 0 && (uint32_t)rank < comm->n ? comm->who[rank] : UINT32_MAX;
		for (uint32_t k = 0; k < i && who[i] != UINT32_MAX; k++)
			if (who[k] == who[i])
				who[i] = UINT32_MAX;
		if (who[i] != UINT32_MAX)
			continue;
		outcome_tell(c, member, r->request, SESSION_ARGUMENT,
			"vftrace_comm_create: rank %d is not in the communicator, or is there "
			"twice",
			rank);
		free(who);
		return;
	}
	o = operation_arrive(c, CREATING, member, r->request, comm->id, who, n);
	free(who);
	if (o)
		operation_try(c, o);
}

static void on_attach(
	struct coordinator *c, uint32_t member, const struct session_request *r, const char *data)
{
	const struct communicator *comm = comm_of(c, member, r);
	struct operation *o;
	struct group *g;

	if (!comm)
		return;
	o = operation_arrive(c, ATTACHING, member, r->request, comm->id, comm->who, comm->n);
	if (!o)
		return;
	if (o->root >= 0 && o->root != r->number) {
		operation_fail(c, o, SESSION_MISMATCH,
			"%s says that rank %d is the root, others %d", member_text(c, member),
			r->number, o->root);
		return;
	}
	o->root = r->number;
	if (r->number >= 0 && (uint32_t)r->number < comm->n && comm->who[r->number] == member) {
		g = group_of_contact(c, key_in(data));
		if (!g || !g->contact || g->attaching || g->again || r->count < 1) {
			operation_fail(c, o, SESSION_CONTACT,
				"`%.300s' is no contact for children, or was used before", data);
			return;
		}
		g->expected = (uint32_t)r->count;
		g->attaching = o;
		o->children = g;
		if (g->lost || g->joined > g->expected) {
			operation_fail(c, o, g->lost ? SESSION_DEAD : SESSION_LIMIT, "%s",
				g->lost ? g->lost_name : "more children than this have joined");
			return;
		}
	}
	operation_try(c, o);
}

/* ---- leaving ----------------------------------------------------------------------------- */

/* To all agents: SESSION_OK to stop their processes, else their processes are idle. */
static void tell_all(struct coordinator *c, enum session_code code)
{
	struct session_outcome *o = xcalloc(1, sizeof(*o) + 1);
	const struct transport *transport = c->agent->host.transport;

	o->text_bytes = 1;
	o->code = code;
	for (int i = 0; i < (transport ? transport->size : 1); i++)
		sessions_deliver(c->agent, i, o, sizeof(*o) + 1);
	free(o);
}

static void on_gone(struct coordinator *c, uint32_t member, bool died, bool killed)
{
	struct member *m = &c->members[member];
	struct group *g = m->group;
	bool in_round = m->rank >= 0;

	m->dead = died;
	m->left = !died;
	m->killed = killed;
	g->joined--;
	if (died) {
		g->lost++;
		free(g->lost_name);
		g->lost_name = xasprintf("%s %s", member_text(c, member), member_fate(c, member));
	}
	operations_of_member(c, member, SESSION_DEAD);
	if (!g->joined) { /* the next ones begin anew */
		g->started = g->lost = 0;
		g->expected = g->contact ? 0 : c->agent->expect;
	}
	if (died && in_round) {
		host_warn(&c->agent->host, true, "session: %s before round %u was finished",
			g->lost_name, c->round);
		if (c->agent->abort_on_death)
			tell_all(c, SESSION_OK);
	}
}

static void on_reset(struct coordinator *c, uint32_t member)
{
	struct group *g = c->members[member].group;
	bool anyone = false;

	c->members[member].rank = -1;
	operations_of_member(c, member, SESSION_MISMATCH); /* as the others go on */
	for (uint32_t i = 0; i < c->n_members; i++)
		anyone |= c->members[i].group == g && member_lives(c, i) && c->members[i].rank >= 0;
	if (!anyone)
		group_is_free(c, g);
}

/* One is busy, or none has processes: nothing is said. Once only, until one is busy again. */
static void look_for_quiet(struct coordinator *c)
{
	bool quiet = false, busy = false;

	for (int i = 0; i < c->n_activity; i++) {
		quiet |= c->activity[i] == SESSION_QUIET;
		busy |= c->activity[i] == SESSION_BUSY_NODE;
	}
	if (quiet && !busy && !c->all_quiet)
		tell_all(c, SESSION_TIMEOUT);
	c->all_quiet = quiet && !busy;
}

static void on_idle(struct coordinator *c, const struct session_request *r)
{
	if (!c->activity) {
		c->n_activity = c->agent->host.transport ? c->agent->host.transport->size : 1;
		c->activity = xcalloc((size_t)c->n_activity, sizeof(*c->activity));
	}
	if (r->agent < 0 || r->agent >= c->n_activity || r->number < 0 || r->number > SESSION_QUIET)
		return;
	c->activity[r->agent] = (enum session_activity)r->number;
	look_for_quiet(c);
}

static void on_free(struct coordinator *c, const struct session_request *r)
{
	struct communicator *comm = communicator_find(c, r->comm);

	if (comm && ++comm->freed == comm->n)
		communicator_free(c, comm);
}

void coordinator_agent_gone(struct agent *a, int agent)
{
	struct coordinator *c = coordinator(a);

	for (uint32_t i = 0; i < c->n_members; i++)
		if (c->members[i].agent == agent && member_lives(c, i)) {
			c->members[i].away = true;
			on_gone(c, i, true, false);
		}
	if (agent < c->n_activity)
		c->activity[agent] = SESSION_NOBODY;
	look_for_quiet(c);
}

/* It has not joined; or its agent was away for so long that all went on without it. */
static void refuse_unknown(struct coordinator *c, const struct session_request *r)
{
	const uint32_t *at = map64_find(&c->by_key, r->key);

	if (r->operation == SESSION_DIED || r->operation == SESSION_FREE ||
		r->operation == SESSION_LEAVE || r->operation == SESSION_GIVE_UP)
		return;
	if (at && c->members[*at].dead)
		refuse_request(c, r, SESSION_DEAD,
			"the agent of this node could not be reached for too long: the session "
			"has gone on without this process");
	else
		refuse_request(c, r, SESSION_NOT_JOINED, "");
}

void coordinator_take(struct agent *a, const struct session_request *r, const void *data)
{
	struct coordinator *c = coordinator(a);
	uint32_t member;

	if (r->operation == SESSION_IDLE) {
		on_idle(c, r);
		return;
	}
	if (r->operation == SESSION_JOIN) {
		on_join(c, r, data);
		return;
	}
	if (!known_member(c, r->key, &member)) {
		refuse_unknown(c, r);
		return;
	}
	switch (r->operation) {
	case SESSION_EXPECT:
		on_expect(c, member, r, data);
		break;
	case SESSION_START:
		on_start(c, member, r);
		break;
	case SESSION_FINISH:
		on_finish(c, member, r);
		break;
	case SESSION_CHILDREN:
		on_children(c, member, r);
		break;
	case SESSION_CREATE:
		on_create(c, member, r, data);
		break;
	case SESSION_ATTACH:
		on_attach(c, member, r, data);
		break;
	case SESSION_ABORT:
		operations_of_member(c, member, SESSION_ABORTED);
		break;
	case SESSION_RESET:
		on_reset(c, member);
		break;
	case SESSION_FREE:
		on_free(c, r);
		break;
	case SESSION_LEAVE:
		on_gone(c, member, false, false);
		break;
	case SESSION_DIED: /* who has finished may go as he likes */
		on_gone(c, member,
			r->number || c->members[member].rank >= 0 ||
				!c->members[member].group->again,
			r->number);
		break;
	case SESSION_GIVE_UP:
		operation_give_up(c, member, (uint32_t)r->number);
		break;
	}
}
