/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay/comm/elsewhere.h"

#include <stdlib.h>
#include <string.h>
#include "nodeagent/base/map.h"

struct elsewhere {
	size_t bytes_max, bytes;
	struct elsewhere_comm *comms;
	size_t n_comms, cap_comms;
	struct match_table at;	    /* by id and job -> index in comms, and 1 */
	struct traffic **processes; /* NULL: forgotten */
	size_t n_processes, cap_processes;
	uint64_t refused;
};

struct elsewhere *elsewhere_new(size_t bytes_max)
{
	struct elsewhere *e = xcalloc(1, sizeof(*e));

	e->bytes_max = bytes_max;
	return e;
}

void elsewhere_free(struct elsewhere *e)
{
	if (!e)
		return;
	for (size_t i = 0; i < e->n_comms; i++) {
		free(e->comms[i].instances);
		free(e->comms[i].calls);
	}
	free(e->comms);
	free(e->processes);
	match_table_free(&e->at);
	free(e);
}

/* Of numbers that other agents compute as well: no secret is in it. */
uint64_t elsewhere_hash(uint64_t id, uint64_t job, uint32_t ticket)
{
	uint64_t h = (id ^ job << 1) * 0x9e3779b97f4a7c15u + ticket;

	h = (h ^ h >> 32) * 0xd6e8feb86659fd93u;
	h = (h ^ h >> 32) * 0xd6e8feb86659fd93u;
	return h ^ h >> 32;
}

static bool is_kept(const struct elsewhere_comm *c, uint32_t ticket)
{
	return !(elsewhere_hash(c->id, c->job, ticket) & (((uint64_t)1 << c->log2) - 1));
}

static size_t bytes_of(const struct elsewhere_comm *c)
{
	return sizeof(*c) + c->n_instances * sizeof(*c->instances) + c->n_calls * sizeof(*c->calls);
}

/* ---- bounds --------------------------------------------------------------------- */

static void thin_out(struct elsewhere_comm *c)
{
	size_t to = 0, call_to = 0, call = 0;

	c->log2++;
	for (size_t i = 0; i < c->n_instances; i++) {
		const struct elsewhere_instance from = c->instances[i];

		if (is_kept(c, from.ticket)) {
			memmove(&c->calls[call_to], &c->calls[call], from.n * sizeof(*c->calls));
			call_to += from.n;
			c->instances[to++] = from;
		}
		call += from.n;
	}
	c->n_instances = to;
	c->n_calls = call_to;
	c->cap_instances = to ? to : 1;
	c->instances = xrealloc(c->instances, c->cap_instances * sizeof(*c->instances));
	c->cap_calls = call_to ? call_to : 1;
	c->calls = xrealloc(c->calls, c->cap_calls * sizeof(*c->calls));
}

static void make_rare(struct elsewhere *e, struct elsewhere_comm *c)
{
	const size_t before = bytes_of(c);

	thin_out(c);
	e->bytes -= before - bytes_of(c);
}

/* Those with less than half of their share have less than half of all: much gets free. */
static void make_room(struct elsewhere *e)
{
	const size_t share = e->bytes / e->n_comms / 2;

	for (size_t i = 0; i < e->n_comms; i++) {
		struct elsewhere_comm *c = &e->comms[i];

		if (bytes_of(c) >= share && c->log2 < ELSEWHERE_LOG2_MAX)
			make_rare(e, c);
	}
}

/* ---- adding --------------------------------------------------------------------- */

static struct elsewhere_comm *comm_like(struct elsewhere *e, const struct elsewhere_comm *like)
{
	const uintptr_t known = (uintptr_t)match_table_find(&e->at, like->id, like->job);

	if (known) /* of another size: a process lies */
		return e->comms[known - 1].size == like->size ? &e->comms[known - 1] : NULL;
	if (e->n_comms >= ELSEWHERE_COMMS_MAX)
		return NULL;
	*LIST_ADD(e, comms) = (struct elsewhere_comm){
		.id = like->id, .job = like->job, .child_job = like->child_job, .size = like->size};
	match_table_add(&e->at, like->id, like->job, (void *)(uintptr_t)e->n_comms);
	e->bytes += sizeof(*like);
	return &e->comms[e->n_comms - 1];
}

uint32_t elsewhere_process(struct elsewhere *e, struct traffic *t)
{
	*LIST_ADD(e, processes) = t;
	return (uint32_t)e->n_processes;
}

void elsewhere_add(struct elsewhere *e, const struct elsewhere_comm *like,
	const struct elsewhere_instance *i, const struct elsewhere_call *calls)
{
	struct elsewhere_comm *c = comm_like(e, like);

	if (!c) {
		e->refused += i->n;
		return;
	}
	c->ever += (i->tells ? 0 : i->n) + like->ever;
	while (c->log2 < like->log2)
		make_rare(e, c);
	if (!is_kept(c, i->ticket))
		return;
	*LIST_ADD(c, instances) = *i;
	for (uint32_t k = 0; k < i->n; k++)
		*LIST_ADD(c, calls) = calls[k];
	e->bytes += sizeof(*i) + i->n * sizeof(*calls);
	if (e->bytes > e->bytes_max)
		make_room(e);
}

void elsewhere_forget(struct elsewhere *e, uint32_t process)
{
	e->processes[process - 1] = NULL;
}

/* ---- at the end ----------------------------------------------------------------- */

LIST_GETTER(elsewhere_comms, struct elsewhere, struct elsewhere_comm, comms)

uint64_t elsewhere_refused(const struct elsewhere *e)
{
	return e->refused;
}

struct traffic *elsewhere_whose(const struct elsewhere *e, const struct elsewhere_call *call)
{
	return e->processes[call->process - 1];
}
