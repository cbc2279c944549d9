/* SPDX-License-Identifier: BSD-3-Clause */
/* The start of the TCP transport: who we are in the list, and where we listen. */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nodeagent/net/tcp/internal.h"
#include "nodeagent/net/tcp/secret.h"
#include "nodeagent/base/util.h"

#define BACKLOG		  1024
#define LOOKUPS_MOST_S	  30.0
#define LOOKUP_PATIENCE_S 2.0 /* then a place further down in the list may be ours */

/* What --listen says. */
struct wish {
	bool given;
	char *host;    /* NULL: any address */
	unsigned port; /* 0: any */
};

static char *parse_listen(const char *text, struct wish *w)
{
	const char *colon = strrchr(text, ':');
	struct contact c;
	char *error, *copy;

	*w = (struct wish){.given = true};
	/* ":PORT", and port 0 is no contact */
	if (text[0] == ':' || (colon && !strcmp(colon, ":0"))) {
		char *whole = xasprintf("%.*s", (int)(colon - text), text);

		copy = xasprintf(
			"%s:%s", whole[0] ? whole : "any", strcmp(colon, ":0") ? colon + 1 : "1");
		free(whole);
	} else {
		copy = xstrdup(text);
	}
	if (contact_parse(copy, &c, &error)) {
		free(copy);
		return error;
	}
	free(copy);
	if (c.n != 1 || c.session) {
		contact_clear(&c);
		return xasprintf("--listen %s: not of the form ADDRESS:PORT", text);
	}
	w->port = colon && !strcmp(colon, ":0") ? 0 : c.at[0].port;
	if (text[0] != ':')
		w->host = xstrdup(c.at[0].host);
	contact_clear(&c);
	return NULL;
}

/* Listens at one address; the port is then that of the transport. 0 or -errno. */
static int listen_one(struct tcp *t, const struct sockaddr_storage *at, bool both)
{
	struct sockaddr_storage got;
	socklen_t bytes = sizeof(got);
	int on = 1, off = 0, error = 0;
	int fd = socket(at->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (at->ss_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, both ? &off : &on, sizeof(on));
	if (bind(fd, (const struct sockaddr *)at, address_bytes(at)) || listen(fd, BACKLOG) ||
		getsockname(fd, (struct sockaddr *)&got, &bytes))
		error = -errno;
	if (!error)
		error = tcp_watch(
			t, fd, TCP_WATCH_LISTENER, (void *)(t->n_listeners << 3), false, false);
	if (error) {
		close(fd);
		return error;
	}
	t->listener[t->n_listeners++] = fd;
	t->port = address_port(&got);
	return 0;
}

static int listen_any(struct tcp *t, unsigned port)
{
	struct sockaddr_storage any = {.ss_family = AF_INET6};
	int error;

	address_set_port(&any, port);
	error = listen_one(t, &any, true);
	if (!error || error == -EADDRINUSE)
		return error;
	any = (struct sockaddr_storage){.ss_family = AF_INET};
	address_set_port(&any, port);
	return listen_one(t, &any, false);
}

/* At all of these with one port; those that can't be had count only if there is no other. */
static int listen_at(struct tcp *t, const struct addresses *a, unsigned port)
{
	int error = -EADDRNOTAVAIL;

	for (size_t i = 0; i < a->n && t->n_listeners < TCP_LISTENERS; i++) {
		struct sockaddr_storage at = a->at[i];
		int failed;

		address_set_port(&at, port);
		failed = listen_one(t, &at, false);
		if (!failed)
			port = t->port;
		error = t->n_listeners ? 0 : failed;
	}
	return error;
}

/* Many machines have their own name at 127.0.0.1, where others cannot find them. */
static bool is_own_name(const struct tcp *t, const char *host, const struct addresses *a)
{
	size_t n = strcspn(host, ".");

	return a->n && ALL(i, a->n, address_is_loopback(&a->at[i])) && !strncmp(host, t->host, n) &&
	       strcspn(t->host, ".") == n;
}

/* How long one may wait for the name server before anything is known of the others. */
static double patience_s(const struct tcp *t)
{
	return t->deadline < LOOKUPS_MOST_S ? t->deadline : LOOKUPS_MOST_S;
}

/* False: no answer in time. */
static bool look_up_now(struct tcp *t, const char *host, struct addresses *a)
{
	struct contact c = {.text = contact_address_text(host, CONTACT_PORT)};
	struct lookup *l = lookup_begin(&c);
	const char *why;
	bool answered = lookup_wait(&l, a, &why, patience_s(t));

	lookup_drop(l, &t->dropped);
	free(c.text);
	return answered;
}

static bool is_own(const struct addresses *a, const struct addresses *own, unsigned *port)
{
	for (size_t i = 0; i < a->n; i++)
		for (size_t k = 0; k < own->n; k++)
			if (address_equal(&a->at[i], &own->at[k])) {
				*port = address_port(&a->at[i]);
				return true;
			}
	return false;
}

static void stop_listening(struct tcp *t)
{
	while (t->n_listeners)
		close(t->listener[--t->n_listeners]);
}

static bool is_this_machine(const char *host)
{
	return !strcasecmp(host, "localhost") || !strncasecmp(host, "localhost.", 10) ||
	       !strcasecmp(host, "ip6-localhost") || !strcasecmp(host, "ip6-loopback");
}

/* A name that leads others here, but on this node only to itself, as many have it. */
static bool is_known_elsewhere(const struct contact *c, const struct addresses *a)
{
	struct addresses numbers;

	for (size_t i = 0; i < a->n; i++)
		if (!address_is_loopback(&a->at[i]))
			return false;
	for (size_t i = 0; i < c->n; i++)
		if (is_this_machine(c->at[i].host))
			return false;
	if (addresses_given(c, &numbers)) {
		addresses_clear(&numbers);
		return false;
	}
	return a->n > 0;
}

/*
 * At the addresses of our own contact, and no others. -EADDRINUSE where another agent has
 * one of them: it has this place.
 */
static int listen_as_contact(struct tcp *t, const struct contact *c, const struct addresses *a)
{
	struct addresses own;
	int error = -EADDRNOTAVAIL;

	if (is_known_elsewhere(c, a))
		return listen_any(t, address_port(&a->at[0]));
	addresses_own(NULL, &own);
	for (size_t i = 0; i < a->n && t->n_listeners < TCP_LISTENERS; i++) {
		unsigned port;
		const struct addresses one = {.n = 1, .at = &a->at[i]};
		int failed = is_own(&one, &own, &port) ? listen_one(t, &a->at[i], false)
						       : -EADDRNOTAVAIL;

		error = t->n_listeners && failed != -EADDRINUSE ? 0 : failed;
		if (failed == -EADDRINUSE)
			break;
	}
	addresses_clear(&own);
	if (error)
		stop_listening(t);
	return error;
}

static int listen_somewhere(struct tcp *t, const struct wish *w, unsigned port)
{
	struct addresses a = {0};
	int error;

	if (!w->host && !t->options->interface)
		return listen_any(t, port);
	if (w->host && !look_up_now(t, w->host, &a))
		return -ETIMEDOUT;
	if (!w->host)
		addresses_own(t->options->interface, &a);
	if (w->host && !t->options->interface && is_own_name(t, w->host, &a))
		error = listen_any(t, port);
	else
		error = listen_at(t, &a, port);
	addresses_clear(&a);
	return error;
}

/* Places of the list that may be ours. */
struct search {
	const struct wish *wish;
	struct addresses own;
	struct lookup **names; /* by place; NULL: that one was looked at */
	size_t unanswered;     /* the first place of those, or the number of places */
	bool any;	       /* of them is on this node */
	int error;	       /* of the last one */
};

/*
 * Of several agents on one node each has the first place whose port nobody listens at. all:
 * not only those before the first one without an answer. -1: none is known.
 */
static int look_for_me(struct tcp *t, struct search *s, bool all)
{
	s->unanswered = t->list.n;
	for (size_t i = 0; i < t->list.n; i++) {
		struct addresses a;
		const char *why;
		unsigned port;
		bool ours;

		if (!s->names[i])
			continue;
		if (!lookup_take(&s->names[i], &a, &why)) {
			if (s->unanswered == t->list.n)
				s->unanswered = i;
			if (all)
				continue;
			break;
		}
		ours = is_own(&a, &s->own, &port) && (!s->wish->port || s->wish->port == port) &&
		       tcp_session_fits(t, &t->list.at[i], t->named);
		if (ours) {
			s->any = true;
			if (s->wish->given || t->options->interface)
				s->error = listen_somewhere(t, s->wish, port);
			else
				s->error = listen_as_contact(t, &t->list.at[i], &a);
		}
		addresses_clear(&a);
		if (ours && !s->error)
			return (int)i;
	}
	return -1;
}

static char *not_found(const struct tcp *t, const struct search *s)
{
	if (s->any)
		return xasprintf("none of the ports that --peers has for this node can be used: %s",
			strerror(-s->error));
	if (s->unanswered < t->list.n)
		return xasprintf("--peers has no address of this node, as far as the name server "
				 "answers, which it does not for %s; --me N says which place is "
				 "this agent's",
			t->list.at[s->unanswered].text);
	return xstrdup("--peers has no address of this node; --me N says which place is this "
		       "agent's");
}

static char *find_me(struct tcp *t, const struct wish *w, int *me)
{
	const double since = transport_now(), half = patience_s(t) / 2;
	const double in_turn = half < LOOKUP_PATIENCE_S ? half : LOOKUP_PATIENCE_S;
	struct search s = {.wish = w};
	char *error = NULL;

	addresses_own(NULL, &s.own);
	s.names = xcalloc(t->list.n, sizeof(struct lookup *));
	for (size_t i = 0; i < t->list.n; i++)
		s.names[i] = lookup_begin(&t->list.at[i]);
	for (;;) {
		const double waited = transport_now() - since;

		*me = look_for_me(t, &s, waited > in_turn);
		if (*me >= 0 || s.unanswered == t->list.n || waited > patience_s(t))
			break;
		poll(NULL, 0, 5);
	}
	if (*me < 0)
		error = not_found(t, &s);
	for (size_t i = 0; i < t->list.n; i++)
		lookup_drop(s.names[i], &t->dropped);
	free(s.names);
	addresses_clear(&s.own);
	return error;
}

/* The place is known, and nothing is said of where to listen. */
static char *listen_in_place(struct tcp *t, const struct contact *c)
{
	struct lookup *l = lookup_begin(c);
	struct addresses a = {0};
	const char *why = NULL;
	int error = -ETIMEDOUT;

	if (lookup_wait(&l, &a, &why, patience_s(t)) && a.n)
		error = listen_as_contact(t, c, &a);
	lookup_drop(l, &t->dropped);
	addresses_clear(&a);
	if (!error)
		return NULL;
	return xasprintf("cannot listen at %s: %s; --listen :PORT listens at all addresses of "
			 "this node",
		c->text,
		why			  ? why
		: error == -ETIMEDOUT	  ? "the name server does not answer"
		: error == -EADDRNOTAVAIL ? "this node has none of its addresses"
					  : strerror(-error));
}

/* All that we are to invite are on this machine. */
static bool invites_neighbours_only(const struct tcp_options *o)
{
	bool all = o->lead;

	for (int i = 0; i < o->n_contacts && all; i++) {
		struct contact c;
		struct addresses a;
		char *error;

		if (contact_parse(o->contacts[i], &c, &error)) {
			free(error);
			return false;
		}
		for (size_t k = 0; k < c.n; k++)
			all &= is_this_machine(c.at[k].host) ||
			       strchr("[0123456789", c.at[k].host[0]);
		if (addresses_given(&c, &a)) {
			for (size_t k = 0; k < a.n; k++)
				all &= address_is_loopback(&a.at[k]);
			addresses_clear(&a);
		}
		contact_clear(&c);
	}
	return all;
}

static char *listen_as(struct tcp *t, struct wish *w, int me)
{
	const bool place = me >= 0 && !w->given && !t->options->interface;
	unsigned port = w->given ? w->port : me >= 0 ? t->list.at[me].at[0].port : CONTACT_PORT;
	int error;

	if (place)
		return listen_in_place(t, &t->list.at[me]);
	if (!w->given && !t->options->interface && invites_neighbours_only(t->options))
		w->host = xstrdup("127.0.0.1");
	error = listen_somewhere(t, w, port);
	if (!error)
		return NULL;
	return xasprintf("cannot listen at %s%sport %u: %s", w->host ? w->host : "",
		w->host ? ", " : "", port,
		error == -ETIMEDOUT ? "the name server does not answer" : strerror(-error));
}

/* Contacts of the others, ourselves in front. */
static char *make_list_of_lead(struct tcp *t)
{
	struct contacts list = {0};
	char *error = NULL, *own, *text;

	own = tcp_contact(&t->transport);
	if (contacts_add(&list, own, &error))
		goto out;
	for (int i = 0; i < t->options->n_contacts; i++)
		if (contacts_add(&list, t->options->contacts[i], &error))
			goto out;
	text = contacts_text(&list);
	if (strlen(text) + 16 > TCP_LIST_MOST)
		error = xstrdup("the contacts together are longer than 16 MiB");
	free(text);
out:
	free(own);
	t->list = list;
	return error;
}

char *tcp_prepare(struct tcp *t)
{
	const struct tcp_options *o = t->options;
	struct wish w = {0};
	struct addresses own;
	char *error = NULL;
	int me = o->me;

	if (secret_read(o->secret, &t->secret, &t->secret_bytes, &error))
		return error;
	if (o->interface && !addresses_own(o->interface, &own))
		return xasprintf(
			"--interface %s: there is none, or it has no address", o->interface);
	if (o->interface)
		addresses_clear(&own);
	if (o->listen)
		error = parse_listen(o->listen, &w);
	if (!error && o->peers && !contacts_add(&t->list, o->peers, &error) && me >= (int)t->list.n)
		error = xasprintf(
			"--me %d: --peers has %zu contacts, the first is 0", me, t->list.n);
	if (!error && o->peers && me < 0)
		error = find_me(t, &w, &me);
	else if (!error)
		error = listen_as(t, &w, o->peers ? me : -1);
	if (!error && o->lead) {
		me = 0;
		error = make_list_of_lead(t);
	}
	if (!error && o->peers && !tcp_session_fits(t, &t->list.at[me], t->named))
		error = xasprintf(
			"--peers has the session `%s' in place %d, and this agent's is `%s'",
			t->list.at[me].session, me, t->named);
	if (!error && (o->peers || o->lead) && !tcp_adopt_list(t, me))
		error = xasprintf("the list of contacts has %zu places, and none with number %d",
			t->list.n, me);
	free(w.host);
	return error;
}
