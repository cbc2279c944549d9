/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who has died, left, or is back: told by those who had a connection to it, from neighbour to
 * neighbour in the tree. About each agent such words come from the side of the tree on which
 * it is; others are not heard, as who was cut off from us takes us all for dead.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/net/tcp/internal.h"
#include "nodeagent/net/tree.h"
#include "nodeagent/base/util.h"

/* Content of TCP_NEWS: this, and then runs to its end. whole: all others on this side live. */
struct news {
	uint32_t whole, unused;
};

struct news_entry {
	uint32_t rank, fate;
};

#define ENTRIES_MOST ((TCP_PART_BYTES - sizeof(struct news)) / sizeof(struct news_entry))

static const char *const fates[TCP_FATES] = {
	[TCP_ENDED] = "has ended without a word",
	[TCP_UNREACHED] = "cannot be reached any more",
	[TCP_NEVER_CAME] = "did not come",
	[TCP_NAMELESS] = "did not come, no address of its name is known",
	[TCP_UNTRUSTED] = "is not trusted any more",
};

static bool is_below(int size, int top, int rank)
{
	return rank > top && rank < tree_end(size, top);
}

/*
 * True if `at` hears from agent `by` what it has to say about agent `of`. Where a child of `at` is
 * dead, those below that one are neighbours, none of which knows how the others fare.
 */
static bool is_heard(const struct tcp *t, int at, int by, int of)
{
	const int size = t->transport.size;

	if (is_below(size, at, by))
		return is_below(size, by, of);
	return at != of && by != of && is_below(size, by, at) && !is_below(size, at, of);
}

/* To all neighbours but the one that it came from. */
static void pass_on(struct tcp *t, const struct tcp_agent *about, const struct tcp_agent *source)
{
	const struct {
		struct news head;
		struct news_entry entry;
	} content = {.entry = {(uint32_t)about->rank, (uint32_t)about->fate}};

	for (size_t i = 0; i < t->n_known && !t->leaving; i++) {
		struct tcp_agent *a = t->known[i];

		if (!a->near || a->link.fd < 0 || a == source ||
			!is_heard(t, a->rank, t->transport.rank, about->rank))
			continue;
		tcp_keep(a, TCP_NEWS, 0, &content, sizeof(content));
		if (tcp_link_write(t, a))
			tcp_lost(t, a, strerror(EPIPE));
	}
	t->next = 0;
}

void tcp_news_all(struct tcp *t, struct tcp_agent *to)
{
	struct news *content = xcalloc(1, TCP_PART_BYTES);
	struct news_entry *entry = (struct news_entry *)(content + 1);
	size_t n = 0;

	content->whole = 1;
	for (size_t i = 0; i < t->n_known; i++) {
		const struct tcp_agent *a = t->known[i];

		if (a->fate == TCP_LIVES || !is_heard(t, to->rank, t->transport.rank, a->rank))
			continue;
		if (n == ENTRIES_MOST) {
			content->whole = 0;
			break;
		}
		entry[n++] = (struct news_entry){(uint32_t)a->rank, (uint32_t)a->fate};
	}
	if (n || to->told_of)
		tcp_keep(to, TCP_NEWS, 0, content, sizeof(*content) + n * sizeof(*entry));
	to->told_of = true;
	free(content);
}

static void tell_ourselves(struct tcp *t, const struct tcp_agent *a, bool dead)
{
	t->transport.news++;
	tcp_tell_death(t, a, dead);
}

static void note_death(struct tcp *t, struct tcp_agent *a, enum tcp_fate fate)
{
	a->dead = true;
	a->fate = fate;
	t->near_stale = true;
	if (!t->leaving)
		tcp_note(t, a, "the agent on %s %s", tcp_name(a).text, fates[fate]);
	a->lost_noted = true;
	tell_ourselves(t, a, true);
}

void tcp_die_of(struct tcp *t, struct tcp_agent *a, enum tcp_fate fate)
{
	note_death(t, a, fate);
	if (a->near)
		pass_on(t, a, NULL);
}

void tcp_is_back(struct tcp *t, struct tcp_agent *a)
{
	a->dead = false;
	a->fate = TCP_LIVES;
	t->near_stale = true;
	tell_ourselves(t, a, false);
	if (a->near)
		pass_on(t, a, NULL);
}

void tcp_has_left(struct tcp *t, struct tcp_agent *a)
{
	a->left_told = true;
	a->fate = TCP_LEFT;
	t->near_stale = true;
	t->transport.news++;
	if (a->near)
		pass_on(t, a, NULL);
}

/* What we see ourselves counts more. */
static void hear_fate(
	struct tcp *t, struct tcp_agent *a, enum tcp_fate fate, struct tcp_agent *source)
{
	a->said = a->link.fd >= 0 ? fate : TCP_LIVES;
	if (a->link.fd >= 0 || a->left || (fate == TCP_LIVES && (!a->dead || a->near)) ||
		(fate != TCP_LIVES && fate != TCP_LEFT && a->dead))
		return;
	if (fate == TCP_LIVES) {
		a->dead = a->lost_noted = false;
		a->fate = fate;
		tcp_note(t, a, "the agent on %s is connected again", tcp_name(a).text);
		a->down_since = transport_now();
		tell_ourselves(t, a, false);
	} else if (fate == TCP_LEFT) {
		a->left = a->left_told = true;
		a->fate = fate;
		t->near_stale = true;
		t->transport.news++;
	} else {
		note_death(t, a, fate);
	}
	pass_on(t, a, source);
}

void tcp_news_late(struct tcp *t, struct tcp_agent *a)
{
	const enum tcp_fate said = a->said;

	a->said = TCP_LIVES;
	if (said != TCP_LIVES && !a->near)
		hear_fate(t, a, said, NULL);
}

static void hear_of_the_living(
	struct tcp *t, struct tcp_agent *source, const struct news_entry *dead, size_t n)
{
	for (size_t i = 0; i < t->n_known; i++) {
		struct tcp_agent *a = t->known[i];
		bool named = (!a->dead && !a->said) ||
			     !is_heard(t, t->transport.rank, source->rank, a->rank);

		for (size_t k = 0; k < n && !named; k++)
			named = dead[k].rank == (uint32_t)a->rank;
		if (!named)
			hear_fate(t, a, TCP_LIVES, source);
	}
}

int tcp_news_take(struct tcp *t, struct tcp_agent *source, const char *content, size_t bytes)
{
	const size_t n = (bytes - sizeof(struct news)) / sizeof(struct news_entry);
	struct news_entry *entry;
	struct news head;
	int error = 0;

	if (bytes < sizeof(head) || sizeof(head) + n * sizeof(*entry) != bytes)
		return -EPROTO;
	memcpy(&head, content, sizeof(head));
	entry = xcalloc(n + 1, sizeof(*entry));
	memcpy(entry, content + sizeof(head), n * sizeof(*entry));
	for (size_t i = 0; i < n && !error; i++) {
		const struct news_entry e = entry[i];

		if (e.rank >= (uint32_t)t->transport.size || e.fate >= TCP_FATES)
			error = -EPROTO;
		else if (is_heard(t, t->transport.rank, source->rank, (int)e.rank))
			hear_fate(t, tcp_agent_of(t, (int)e.rank), (enum tcp_fate)e.fate, source);
	}
	if (!error && head.whole)
		hear_of_the_living(t, source, entry, n);
	free(entry);
	return error;
}
