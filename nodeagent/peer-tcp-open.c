/* SPDX-License-Identifier: BSD-3-Clause */
/* The start of the TCP transport: who we are in the list, and where we listen. */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nodeagent/peer-tcp-internal.h"
#include "nodeagent/secret.h"
#include "nodeagent/util.h"

#define BACKLOG 256

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

	for (size_t i = 0; i < a->n; i++)
		if (!address_is_loopback(&a->at[i]))
			return false;
	return a->n && !strncmp(host, t->host, n) && strcspn(t->host, ".") == n;
}

static int listen_somewhere(struct tcp *t, const struct wish *w, unsigned port)
{
	struct contact c = {.n = 1, .at = {{w->host, CONTACT_PORT}}};
	struct addresses a = {0};
	int error;

	if (!w->host && !t->options->interface)
		return listen_any(t, port);
	if (w->host)
		addresses_of(&c, &a);
	else
		addresses_own(t->options->interface, &a);
	if (w->host && !t->options->interface && is_own_name(t, w->host, &a))
		error = listen_any(t, port);
	else
		error = listen_at(t, &a, port);
	addresses_clear(&a);
	return error;
}

static bool is_own(const struct contact *c, const struct addresses *own, unsigned *port)
{
	struct addresses a;
	bool found = false;

	addresses_of(c, &a);
	for (size_t i = 0; i < a.n && !found; i++)
		for (size_t k = 0; k < own->n && !found; k++) {
			found = address_equal(&a.at[i], &own->at[k]);
			*port = address_port(&a.at[i]);
		}
	addresses_clear(&a);
	return found;
}

/*
 * Several agents of one list may be on one node: the first of its places whose port nobody
 * listens at is ours.
 */
static char *find_me(struct tcp *t, const struct wish *w, int *me)
{
	struct addresses own;
	bool any = false;
	int error = 0;

	addresses_own(NULL, &own);
	for (size_t i = 0; i < t->list.n; i++) {
		unsigned port;

		if (!is_own(&t->list.at[i], &own, &port) || (w->port && w->port != port))
			continue;
		any = true;
		error = listen_somewhere(t, w, port);
		if (error)
			continue;
		*me = (int)i;
		break;
	}
	addresses_clear(&own);
	if (*me >= 0)
		return NULL;
	return any ? xasprintf("none of the ports that --peers has for this node can be used: %s",
			     strerror(-error))
		   : xstrdup("--peers has no address of this node; --me N says which place is "
			     "this agent's");
}

static char *listen_as(struct tcp *t, const struct wish *w, int me)
{
	unsigned port = w->given ? w->port : me >= 0 ? t->list.at[me].at[0].port : CONTACT_PORT;
	int error = listen_somewhere(t, w, port);

	if (!error)
		return NULL;
	return xasprintf("cannot listen at %s%sport %u: %s", w->host ? w->host : "",
		w->host ? ", " : "", port, strerror(-error));
}

/* Contacts of the others, ourselves in front. */
static char *make_list_of_lead(struct tcp *t)
{
	struct contacts list = {0};
	char *error = NULL, *own, *text;

	own = peer_tcp_contact(&t->peer);
	if (contacts_add(&list, own, &error))
		goto out;
	for (int i = 0; i < t->options->n_contacts; i++)
		if (contacts_add(&list, t->options->contacts[i], &error))
			goto out;
	text = contacts_text(&list);
	if (strlen(text) + 16 > TCP_FRAME_MOST)
		error = xstrdup("the contacts together are longer than 1 MiB");
	free(text);
out:
	free(own);
	t->list = list;
	return error;
}

char *tcp_prepare(struct tcp *t)
{
	const struct peer_tcp_options *o = t->options;
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
	if (!error && (o->peers || o->lead) && !tcp_adopt_list(t, me))
		error = xstrdup("the list of contacts makes no sense");
	free(w.host);
	return error;
}
