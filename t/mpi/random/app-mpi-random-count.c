/* SPDX-License-Identifier: BSD-3-Clause */
#include "app-mpi-random.h"

#include <stdlib.h>
#include <string.h>

_Thread_local struct counts *counts;

void count_call(const char *function)
{
	int i = 0;

	while (counts->functions[i].name && counts->functions[i].name != function &&
		strcmp(counts->functions[i].name, function) != 0)
		i++;
	if (i == (int)(sizeof(counts->functions) / sizeof(counts->functions[0])) - 1)
		wrong("more functions than there is room for");
	counts->functions[i].name = function;
	counts->functions[i].calls++;
	counts->function = i;
}

static void add(struct tally *to, const struct tally *t)
{
	to->sends += t->sends;
	to->bytes_sent += t->bytes_sent;
	to->receives += t->receives;
	to->bytes_received += t->bytes_received;
}

static int group_index(const struct group *g)
{
	int i = 0;

	while (counts->groups[i].name && strcmp(counts->groups[i].name, g->name) != 0)
		i++;
	if (i == GROUPS_MAX - 1)
		wrong("more names of communicators than there is room for");
	if (!counts->groups[i].name)
		counts->groups[i].name = strdup(g->name);
	return i;
}

static void count_message(const struct group *g, int world, const struct tally *t)
{
	const long long bytes = t->bytes_sent + t->bytes_received;
	int size = 0;

	while (bytes >> size)
		size++;
	add(&counts->peers[world], t);
	add(&counts->sizes[size], t);
	add(&counts->groups[group_index(g)].messages, t);
	add(&counts->functions[counts->function].all, t);
}

void count_send(const struct group *g, int world, long long bytes)
{
	const struct tally t = {.sends = 1, .bytes_sent = bytes};

	count_message(g, world, &t);
	add(&counts->messages[world], &t);
}

void count_receive(const struct group *g, int world, long long bytes)
{
	const struct tally t = {.receives = 1, .bytes_received = bytes};

	count_message(g, world, &t);
	add(&counts->messages[world], &t);
}

/* What moves nothing is no message. */
void count_one_sided(const struct group *g, int world, long long out, long long in)
{
	if (out)
		count_message(g, world, &(struct tally){.sends = 1, .bytes_sent = out});
	if (in)
		count_message(g, world, &(struct tally){.receives = 1, .bytes_received = in});
}

void count_collective(const struct group *g, const struct tally *t)
{
	const int i = group_index(g);

	counts->groups[i].collectives++;
	add(&counts->groups[i].collective, t);
	add(&counts->functions[counts->function].all, t);
}

void count_neighbour(int world, const struct tally *t)
{
	add(&counts->peers[world], t);
}

static void write_tally(FILE *f, const struct tally *t)
{
	fprintf(f, " %lld %lld %lld %lld", t->sends, t->bytes_sent, t->receives, t->bytes_received);
}

/* One half of each line of a matrix; the other ranks write the other. */
static void write_matrix(FILE *f, const char *what, const struct tally *peers, int rank)
{
	for (int i = 0; i < RANKS_MAX; i++) {
		const struct tally *t = &peers[i];

		if (t->sends)
			fprintf(f, "%s %d %d %lld %lld 0 0\n", what, rank, i, t->sends,
				t->bytes_sent);
		if (t->receives)
			fprintf(f, "%s %d %d 0 0 %lld %lld\n", what, i, rank, t->receives,
				t->bytes_received);
	}
}

void counts_write(FILE *f, const struct counts *c, int rank)
{
	write_matrix(f, "pair", c->peers, rank);
	write_matrix(f, "message", c->messages, rank);
	for (int i = 0; i < 64; i++) {
		const struct tally *t = &c->sizes[i];

		if (!t->sends && !t->receives)
			continue;
		fprintf(f, "size %lld", i ? 1LL << (i - 1) : 0);
		write_tally(f, t);
		fputc('\n', f);
	}
	for (int i = 0; c->groups[i].name; i++) {
		fprintf(f, "comm %s", c->groups[i].name);
		write_tally(f, &c->groups[i].messages);
		fprintf(f, " %lld %lld %lld\n", c->groups[i].collectives,
			c->groups[i].collective.bytes_sent, c->groups[i].collective.bytes_received);
	}
	for (int i = 0; c->functions[i].name; i++) {
		fprintf(f, "function %s %lld", c->functions[i].name, c->functions[i].calls);
		write_tally(f, &c->functions[i].all);
		fputc('\n', f);
	}
}
