/* SPDX-License-Identifier: BSD-3-Clause */
/* The TCP transport's contact and notes, and the plan of the agents over TCP. */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "nodeagent/net/tcp/internal.h"
#include "nodeagent/base/util.h"

#define HOLD_PART 8 /* of the deadline: hosts wait for those of others (net/route.h) */

static char *add_address(char *text, struct sockaddr_storage at, unsigned port)
{
	char *one;

	address_set_port(&at, port);
	one = address_text(&at);
	text = xappend(text, "%s%s", text[0] ? "+" : "", one);
	free(one);
	return text;
}

/* Addresses of the machine that others can use; loopback ones only if there are no others. */
static char *all_addresses(const struct tcp *t)
{
	char *text = xstrdup("");
	struct addresses own;

	addresses_own(t->options->interface, &own);
	for (int loopback = 0; loopback < 2 && !text[0]; loopback++) {
		size_t n = 0;

		for (size_t i = 0; i < own.n && n < CONTACT_ADDRESSES_MAX; i++) {
			if (address_is_loopback(&own.at[i]) != loopback ||
				address_is_link_local(&own.at[i]))
				continue;
			text = add_address(text, own.at[i], t->port);
			n++;
		}
	}
	addresses_clear(&own);
	return text;
}

char *tcp_contact(const struct transport *p)
{
	const struct tcp *t = (const struct tcp *)p;
	char *text = xstrdup("");

	for (size_t i = 0; i < t->n_listeners; i++) {
		struct sockaddr_storage at = {0};
		socklen_t bytes = sizeof(at);

		if (getsockname(t->listener[i], (struct sockaddr *)&at, &bytes))
			continue;
		if (address_is_any(&at)) {
			free(text);
			text = all_addresses(t);
			break;
		}
		if (!address_is_link_local(&at) || t->options->interface)
			text = add_address(text, at, address_port(&at));
	}
	if (t->session && t->session[0])
		text = xappend(text, "/%s", t->session);
	return text;
}

/*
 * The plan of the collation: hosts go to agent 0 along the tree. It makes the plan when all are
 * here, or it is late.
 */

static void hear_hosts(struct tcp *t, const struct transport_plan_operations *o)
{
	struct transport *p = &t->transport;
	size_t bytes;
	void *buf;
	int who;

	if (!t->hosts)
		t->hosts = xcalloc((size_t)p->size, sizeof(*t->hosts));
	while (!p->receive(p, TRANSPORT_ANY, o->host_tag, &buf, &bytes, &who, 0)) {
		if (bytes && !((char *)buf)[bytes - 1] && !t->hosts[who]) {
			t->hosts[who] = xstrdup(buf);
			t->n_hosts++;
		}
		free(buf);
	}
}

static void plan_as_root(struct tcp *t, const struct transport_plan_operations *o)
{
	char **hosts;

	hear_hosts(t, o);
	if (t->n_hosts < t->transport.size - 1 && transport_now() - t->started <= tcp_missed_s(t))
		return;
	hosts = t->hosts;
	t->hosts = NULL;
	for (int i = 0; i < t->transport.size; i++)
		if (!hosts[i])
			hosts[i] = xstrdup(i == t->transport.rank ? t->host : t->list.at[i].text);
	o->make(&t->transport, hosts);
	for (int i = 0; i < t->transport.size; i++)
		free(hosts[i]);
	free(hosts);
}

/* That nobody listened was no death: all have come by now, or are late. */
static void forget_refusals(struct tcp *t)
{
	for (size_t i = 0; i < t->n_known; i++) {
		struct tcp_agent *a = t->known[i];

		if (a->life)
			continue;
		a->refused_since = 0;
		a->next_dial = 0;
	}
	t->next = 0;
}

bool tcp_joined(struct transport *p, const struct transport_plan_operations *o)
{
	struct tcp *t = (struct tcp *)p;
	size_t bytes;
	void *buf;
	int who;

	if (p->plan || !p->size)
		return p->plan != NULL;
	if (!p->rank) {
		plan_as_root(t, o);
		return p->plan != NULL;
	}
	if (!t->host_said)
		transport_to_root(p, o->host_tag, t->host, strlen(t->host) + 1, true,
			t->deadline / HOLD_PART, transport_now() + 1);
	t->host_said = true;
	if (!p->receive(p, 0, o->tag, &buf, &bytes, &who, 0)) {
		o->take(p, buf, bytes);
		free(buf);
		forget_refusals(t);
	}
	return p->plan != NULL;
}
