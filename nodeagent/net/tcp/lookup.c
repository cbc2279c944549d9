/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * getaddrinfo_a() asks, in threads of the C library. We look whether it has an answer instead
 * of being told: the thread that would tell us unblocks all signals, and takes those that the
 * agent reads from a descriptor. A question under way cannot be taken back: its look-up is
 * freed when it is answered.
 */
#include "nodeagent/net/tcp/lookup.h"

#include <netdb.h>
#include <poll.h>
#include <stdlib.h>

#include "nodeagent/net/tcp/addresses.h"
#include "nodeagent/net/tcp/contact.h"
#include "nodeagent/net/transport.h"
#include "nodeagent/base/util.h"

#define LOOK_MS 10

struct lookup {
	struct lookup *next; /* of those dropped */
	struct contact contact;
	struct gaicb questions[CONTACT_ADDRESSES_MAX]; /* one per host; none: they are numbers */
	size_t n_questions;
	struct addresses found;
};

static bool is_answered(const struct lookup *l)
{
	return !ANY(
		i, l->n_questions, gai_error((struct gaicb *)&l->questions[i]) == EAI_INPROGRESS);
}

static void free_lookup(struct lookup *l)
{
	for (size_t i = 0; i < l->n_questions; i++)
		if (l->questions[i].ar_result)
			freeaddrinfo(l->questions[i].ar_result);
	contact_clear(&l->contact);
	addresses_clear(&l->found);
	free(l);
}

static void free_answered(struct lookup **at)
{
	while (*at) {
		struct lookup *l = *at;

		if (is_answered(l)) {
			*at = l->next;
			free_lookup(l);
		} else {
			at = &l->next;
		}
	}
}

static void ask_names(struct lookup *l)
{
	static const struct addrinfo wanted = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
	struct gaicb *list[CONTACT_ADDRESSES_MAX];

	l->n_questions = l->contact.n;
	for (size_t i = 0; i < l->n_questions; i++) {
		list[i] = &l->questions[i];
		list[i]->ar_name = l->contact.at[i].host;
		list[i]->ar_request = &wanted;
	}
	/* one that cannot be asked has no result, and is not under way */
	getaddrinfo_a(GAI_NOWAIT, list, (int)l->n_questions, NULL);
}

struct lookup *lookup_begin(const struct contact *c)
{
	struct lookup *l = xcalloc(1, sizeof(*l));
	char *error;

	if (contact_parse(c->text, &l->contact, &error))
		free(error);
	else if (!addresses_given(&l->contact, &l->found))
		ask_names(l);
	return l;
}

bool lookup_take(struct lookup **at, struct addresses *a, const char **why)
{
	struct lookup *l = *at;

	if (!is_answered(l))
		return false;
	*why = "no address";
	for (size_t i = 0; i < l->n_questions; i++) {
		int failed = gai_error(&l->questions[i]);

		addresses_add(&l->found, l->questions[i].ar_result, l->contact.at[i].port);
		if (failed)
			*why = gai_strerror(failed);
	}
	addresses_loopback_last(&l->found);
	if (l->found.n)
		*why = NULL;
	*a = l->found;
	l->found = (struct addresses){0};
	free_lookup(l);
	*at = NULL;
	return true;
}

void lookup_drop(struct lookup *l, struct lookup **dropped)
{
	if (l) {
		l->next = *dropped;
		*dropped = l;
	}
	free_answered(dropped);
}

bool lookup_wait(struct lookup **l, struct addresses *a, const char **why, double most_s)
{
	const double until = transport_now() + most_s;

	while (!lookup_take(l, a, why)) {
		if (transport_now() >= until)
			return false;
		poll(NULL, 0, LOOK_MS);
	}
	return true;
}
