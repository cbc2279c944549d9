/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages on their way along the tree of agents (route.h), in lists and as parts of one message.
 */
#ifndef VFTR_NODEAGENT_NET_RECORDS_H
#define VFTR_NODEAGENT_NET_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A message of which agent 0 is one end; `agent' is the other one. */
struct record {
	struct record *next, **at; /* in its list; the pointer to this one */
	uint64_t number;
	int agent, tag, hop; /* hop: down, to this child or one below */
	bool final, all;     /* all: down, to `agent' and those below it */
	bool urgent;	     /* up: waits for nothing, here and further on */
	bool again, late; /* up, here: the record before was final, too; this one has waited longer
			     than `due' */
	double due;	  /* time at which it is passed on */
	size_t bytes;
	char content[];
};

struct records {
	struct record *first, **end;
};

/* A copy of the content; free() frees both. NUL follows the content. */
struct record *record_new(int agent, uint64_t number, int tag, const void *buf, size_t bytes);
/* A copy without next, hop, due, and the members for the way up. */
struct record *record_copy(const struct record *e);

/* The list owns it from now on; a list of zeros is empty. */
void records_add(struct records *to, struct record *e);
/* Takes *at, which is a `first' or `next' of the list, out of it. */
struct record *records_take_at(struct records *from, struct record **at);
/* Takes e, which is in the list, out of it. */
void records_take_out(struct records *from, struct record *e);
/* The first one, or NULL. */
struct record *records_take(struct records *from);
/* Replaces to, which is empty, by `from', which is empty then: a list must not be copied. */
void records_move(struct records *to, struct records *from);
void records_clear(struct records *list);

/* Bytes that record_put() needs, and writes. */
size_t record_bytes(const struct record *e);
size_t record_put(char *at, const struct record *e, double now);
/*
 * Reads the next record, and moves *at behind it. NULL: there is none, or it makes no sense for
 * this number of agents. The time that it has to wait counts from `now'.
 */
struct record *record_get(const char **at, const char *end, int agents, double now);

#endif
