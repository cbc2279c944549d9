/* SPDX-License-Identifier: BSD-3-Clause */
/* Node profiles made by dice, for the tests of merging, storing and collating. */
#ifndef VFTR_T_RANDOM_PROFILE_H
#define VFTR_T_RANDOM_PROFILE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/hash.h"
#include "nodeagent/profile/fold.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/base/util.h"
#include "shm/locks.h"
#include "t/lib/dice.h"
#include "t/unit/profile/profile-path.h"
#include "t/unit/profile/random-ends.h"
#include "t/unit/profile/random-start.h"

static const struct profile *sorting;

static inline int by_path(const void *x, const void *y)
{
	return profile_stack_cmp(sorting, *(const uint32_t *)x, sorting, *(const uint32_t *)y);
}

/* Sorts stacks that were made parent first. */
static inline void sort_random_stacks(struct profile *p)
{
	uint32_t *order = xcalloc(p->n_stacks, sizeof(*order));
	uint32_t *place = xcalloc(p->n_stacks, sizeof(*place));
	struct profile_stack *out = xcalloc(p->n_stacks, sizeof(*out));

	for (uint32_t i = 0; i < p->n_stacks; i++)
		order[i] = i;
	sorting = p;
	qsort(order, p->n_stacks, sizeof(*order), by_path);
	for (uint32_t i = 0; i < p->n_stacks; i++)
		place[order[i]] = i;
	for (uint32_t i = 0; i < p->n_stacks; i++) {
		out[i] = p->stacks[order[i]];
		if (out[i].parent != PROFILE_NONE)
			out[i].parent = place[out[i].parent];
	}
	free(order);
	free(place);
	free(p->stacks);
	p->stacks = out;
}

static inline uint32_t find_stack(const struct profile *p, const char *path)
{
	for (uint32_t i = 0; i < p->n_stacks; i++) {
		char *is = profile_path(p, i);
		int same = !strcmp(is, path);

		free(is);
		if (same)
			return i;
	}
	return PROFILE_NONE;
}

/* One more stack below parent; its hash is cut to hash_mask. */
static inline uint32_t add_stack(
	struct profile *p, uint32_t parent, const char *name, uint64_t hash_mask)
{
	uint32_t i = p->n_stacks;
	struct profile_stack *s;
	char *path;

	p->names = xrealloc(p->names, (p->n_names + 1) * sizeof(*p->names));
	p->names[p->n_names] = xstrdup(name);
	p->stacks = xrealloc(p->stacks, (i + 1) * sizeof(*p->stacks));
	s = memset(&p->stacks[i], 0, sizeof(*s));
	s->parent = parent;
	s->name = p->n_names++;
	p->n_stacks++;
	path = profile_path(p, i);
	s->hash = stack_hash(path, strlen(path) + 1) & hash_mask;
	free(path);
	return i;
}

static inline void throw_numbers(
	struct dice *d, struct profile_stack *s, uint32_t first_rank, uint32_t unranked)
{
	s->calls = throw_dice(d, 1000000);
	s->lost_calls = throw_dice(d, 3) ? 0 : throw_dice(d, 1000);
	s->excl_ns = (uint64_t)throw_dice(d, 1u << 31) * 4;
	s->incl_ns = s->excl_ns + throw_dice(d, 1u << 30);
	s->ranks = throw_dice(d, 4);
	if (s->ranks) {
		s->rank_min = first_rank + throw_dice(d, 4);
		s->rank_max = first_rank + throw_dice(d, 4);
		if (unranked && !throw_dice(d, 3))
			s->rank_max = PROFILE_UNRANKED + throw_dice(d, unranked);
		/* few values, so that there are ties */
		s->excl_min_ns = throw_dice(d, 3);
		s->excl_max_ns = 10 + throw_dice(d, 3);
	}
	s->excl_sumsq_ns2 = (unsigned __int128)s->excl_ns * s->excl_ns;
	s->estimated = !throw_dice(d, 5);
	s->first_ns = s->calls % 40; /* not known; and ties */
}

static inline void throw_process(struct dice *d, struct profile_process *w, uint32_t rank)
{
	w->rank = rank;
	w->pid = 100 + throw_dice(d, 30000);
	w->executable = xasprintf("/opt/app%u", throw_dice(d, 2));
	w->end = throw_dice(d, 4);
	w->exit_status = (int)throw_dice(d, 20) - 1;
	w->started_s = throw_dice(d, 1000) / 3.0;
	w->runtime_s = throw_dice(d, 1000) / 7.0;
	w->calls = throw_dice(d, 1000);
	w->outlived = w->end == PROCESS_KILLED && w->pid % 2;
	if (throw_dice(d, 2))
		w->quarantined = xstrdup("the ring held an unknown record");
}

/* The counts from `sends` to `bytes_received`, in whatever order they stand. */
#define THROW_MESSAGES(d, x)                                                                       \
	((x)->sends = throw_dice(d, 1000), (x)->receives = throw_dice(d, 1000),                    \
		(x)->bytes_sent = (uint64_t)throw_dice(d, 1u << 31) << 9,                          \
		(x)->bytes_received = (uint64_t)throw_dice(d, 1u << 31) << 9)

static inline void throw_stack_messages(struct dice *d, struct profile *p)
{
	for (uint32_t i = 0; i < p->n_stacks; i++) {
		if (throw_dice(d, 3))
			continue;

		struct profile_messages *m = ADD_ELEMENT(p, messages);

		m->stack = i;
		THROW_MESSAGES(d, m);
		m->send_ns = throw_dice(d, 1u << 30);
		m->receive_ns = throw_dice(d, 1u << 30);
		m->send_bandwidth = (unsigned __int128)throw_dice(d, 1u << 30) << 40;
		m->receive_bandwidth = (unsigned __int128)throw_dice(d, 1u << 30) << 40;
	}
}

static inline void throw_functions(struct dice *d, struct profile *p, uint32_t first_rank)
{
	for (uint32_t id = 18; id < 40; id++) {
		if (throw_dice(d, 4))
			continue;

		struct profile_function *f = ADD_ELEMENT(p, functions);

		f->id = id;
		f->ranks = throw_dice(d, 4);
		f->calls = throw_dice(d, 1000);
		f->ns = throw_dice(d, 1u << 30);
		f->sumsq_ns2 = (unsigned __int128)f->ns * f->ns;
		THROW_MESSAGES(d, f);
		if (!f->ranks)
			continue;
		f->rank_min = first_rank + throw_dice(d, 4);
		f->rank_max = p->unranked ? PROFILE_UNRANKED : first_rank + throw_dice(d, 4);
		f->min_ns = throw_dice(d, 3);
		f->max_ns = 10 + throw_dice(d, 3);
	}
}

static inline void throw_pairs(struct dice *d, struct profile *p, uint32_t first_rank)
{
	uint32_t ranks[32], n = 0;

	for (; n < 28; n++)
		ranks[n] = n;
	for (uint32_t i = 0; i < p->unranked; i++)
		ranks[n++] = PROFILE_UNRANKED + i;
	ranks[n++] = PROFILE_ELSEWHERE;
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t k = 0; k < n; k++) {
			if ((i / 4 != first_rank / 4 && k / 4 != first_rank / 4) ||
				throw_dice(d, 4))
				continue;

			struct profile_pair *q = ADD_ELEMENT(p, pairs);

			q->from = ranks[i];
			q->to = ranks[k];
			THROW_MESSAGES(d, q);
		}
	}
}

static inline void throw_comm(struct dice *d, struct profile_comm *c, uint64_t id)
{
	c->id = id << 60;
	c->name = throw_dice(d, 2) ? xasprintf("name %u", throw_dice(d, 3)) : NULL;
	c->kind = throw_dice(d, 12);
	c->size = throw_dice(d, 6);
	c->remote_size = throw_dice(d, 6);
	c->ranks = 1 + throw_dice(d, 4);
	THROW_MESSAGES(d, c);
	c->collectives = throw_dice(d, 1000);
	c->collective_bytes_sent = throw_dice(d, 1000);
	c->collective_bytes_received = throw_dice(d, 1000);
	c->collective_ns = throw_dice(d, 1u << 30);
	c->ambiguous_sends = throw_dice(d, 10);
	c->ambiguous_receives = throw_dice(d, 10);
}

static inline void throw_file(struct dice *d, struct profile_file *f, uint32_t number)
{
	f->name = xasprintf("/data/file%u", number);
	f->ranks = 1 + throw_dice(d, 4);
	f->opens = f->ranks;
	f->reads = throw_dice(d, 100);
	f->writes = throw_dice(d, 100);
	f->bytes_read = throw_dice(d, 1u << 30);
	f->bytes_written = throw_dice(d, 1u << 30);
	f->read_ns = throw_dice(d, 1u << 30);
	f->write_ns = throw_dice(d, 1u << 30);
}

static inline void throw_communication(struct dice *d, struct profile *p, uint32_t node)
{
	uint32_t gap = throw_dice(d, 3);

	p->lost_messages = throw_dice(d, 3) ? 0 : throw_dice(d, 1000);
	p->open_requests = throw_dice(d, 3) ? 0 : throw_dice(d, 10);
	p->dropped_calls = p->lost_messages / 3;
	p->ambiguous_sends = throw_dice(d, 3) ? 0 : throw_dice(d, 10);
	p->ambiguous_receives = throw_dice(d, 3) ? 0 : throw_dice(d, 10);
	throw_stack_messages(d, p);
	throw_open(d, p, 4 * node);
	throw_rank_times(p, 4 * node);
	throw_iterations(p, 4 * node);
	throw_slices(p, 4 * node);
	throw_functions(d, p, 4 * node);
	for (uint32_t i = 0; i <= 64; i++) {
		if (throw_dice(d, 8))
			continue;

		struct profile_size *s = ADD_ELEMENT(p, sizes);

		s->log2 = i;
		THROW_MESSAGES(d, s);
	}
	throw_pairs(d, p, 4 * node);
	for (uint32_t i = 0; i < 8; i++)
		if (throw_dice(d, 2))
			throw_comm(d, ADD_ELEMENT(p, comms), i);
	for (uint32_t i = 0; i < 6; i++)
		if (!throw_dice(d, 3))
			throw_file(d, ADD_ELEMENT(p, files), i);
	/* two nodes that seem to be one host, so that places are joined */
	for (uint32_t i = 0; i < 4; i += 1 + gap) {
		struct profile_rank_range *at = ADD_ELEMENT(p, rank_ranges);

		at->first = at->last = 4 * node + i;
		at->host = xasprintf("host%u", node / 2);
	}
	for (uint32_t i = 0; i < p->unranked; i++) {
		struct profile_rank_range *at = ADD_ELEMENT(p, rank_ranges);

		at->first = at->last = PROFILE_UNRANKED + i;
		at->host = xasprintf("host%u", node / 2);
	}
}

static inline void throw_threads(struct dice *d, struct profile *p, uint32_t node)
{
	for (uint32_t i = 0; i < p->n_stacks; i++) {
		struct profile_thread_range *t;

		if (throw_dice(d, 3))
			continue;
		t = ADD_ELEMENT(p, thread_ranges);
		t->stack = i;
		t->threads = 1 + throw_dice(d, 100);
		/* few values, so that there are ties */
		t->min_ns = throw_dice(d, 3);
		t->max_ns = 2 + throw_dice(d, 3);
		t->rank_min = 4 * node + throw_dice(d, 4);
		t->thread_min = throw_dice(d, 3);
		t->rank_max = p->unranked ? PROFILE_UNRANKED : t->rank_min;
		t->thread_max = throw_dice(d, 3);
	}
	for (uint32_t i = 0; i < throw_dice(d, 4); i++) {
		struct profile_thread *t = ADD_ELEMENT(p, ended_threads);

		t->rank = 4 * node;
		t->number = i;
		t->parent = i ? 0 : PROFILE_NONE;
		t->threads = 1;
		t->name = throw_dice(d, 2) ? xstrdup("worker") : NULL;
		t->alive_ns = throw_dice(d, 1u << 30);
		THROW_MESSAGES(d, t);
	}
	for (uint32_t i = 0; i < p->n_ended_threads; i++) {
		struct profile_thread_stack *s = ADD_ELEMENT(p, thread_stacks);

		s->thread = i;
		s->stack = throw_dice(d, p->n_stacks);
		s->calls = throw_dice(d, 100);
	}
	for (uint32_t i = 0; i < 2 * p->n_ended_threads; i++) {
		struct profile_thread_count *c = ADD_ELEMENT(p, thread_counts);

		c->thread = i / 2;
		c->stack = i % 2 ? PROFILE_NONE : throw_dice(d, p->n_stacks);
		c->counter = throw_dice(d, 4);
		c->value = throw_dice(d, 1000);
	}
}

static inline void throw_switched(struct dice *d, struct profile *p)
{
	static const char *const names[] = {"first", "second", "third"};

	for (uint32_t i = 0; i < 3; i++) {
		struct profile_switched *s;

		if (throw_dice(d, 3))
			continue;
		s = ADD_ELEMENT(p, switched);
		s->name = xstrdup(names[i]);
		s->from_ns = throw_dice(d, 3);
		s->calls = throw_dice(d, 1u << 30);
		s->processes = throw_dice(d, 10);
	}
}

static inline void throw_openmp(struct dice *d, struct profile *p, uint32_t node)
{
	for (uint32_t i = 0; i < p->n_stacks; i++) {
		struct profile_openmp *o;

		if (throw_dice(d, 3))
			continue;
		o = ADD_ELEMENT(p, openmp);
		o->stack = i;
		o->ranks = 1 + throw_dice(d, 4);
		o->calls = throw_dice(d, 3);
		o->size_min = o->calls ? 1 + throw_dice(d, 3) : 0;
		o->size_max = o->size_min + throw_dice(d, 3);
		o->threads = throw_dice(d, 100);
		for (uint64_t *ns = &o->wall_ns; ns <= &o->task_ns; ns++)
			*ns = throw_dice(d, 1u << 30);
	}
	for (uint32_t i = 0; i < throw_dice(d, 6); i++) {
		struct profile_openmp_thread *t = ADD_ELEMENT(p, openmp_threads);

		t->rank = 4 * node;
		t->parent = i ? throw_dice(d, i) : PROFILE_NONE;
		t->level = i ? p->openmp_threads[t->parent].level + 1 : 0;
		t->number = i;
		t->tasks = throw_dice(d, 100);
		t->threads = xstrdup(throw_dice(d, 2) ? "0 12" : "");
		t->more = throw_dice(d, 2);
	}
}

static inline void throw_gpu(struct dice *d, struct profile *p, uint32_t node)
{
	static const char *const names[] = {"axpy", "gemm", "memcpy HtoD"};

	for (uint32_t i = 0; i < p->n_stacks; i++)
		for (uint32_t k = 0; k < 3; k++) {
			struct profile_gpu *g;

			if (throw_dice(d, 3))
				continue;
			g = ADD_ELEMENT(p, gpu);
			*g = (struct profile_gpu){.stack = i,
				.kind = k / 2,
				.detail = k / 2,
				.function = throw_dice(d, 400),
				.ranks = 1 + throw_dice(d, 4),
				.registers = throw_dice(d, 256),
				.threads_min = throw_dice(d, 1024),
				.threads_max = 1024 + throw_dice(d, 1024),
				.grid = {throw_dice(d, 9), 1, 1},
				.block = {throw_dice(d, 9), 2, 1},
				.local_bytes = throw_dice(d, 9),
				.occupancy = throw_dice(d, 1000),
				.name = xstrdup(names[k])};
			for (uint64_t *n = &g->calls; n <= &g->calls_max; n++)
				*n = 1 + throw_dice(d, 1u << 30);
		}
	for (uint32_t i = 0; i < throw_dice(d, 6); i++) {
		struct profile_gpu_stream *s = ADD_ELEMENT(p, gpu_streams);

		*s = (struct profile_gpu_stream){.rank = 4 * node,
			.device = i,
			.context = throw_dice(d, 2) ? i : PROFILE_NONE,
			.stream = throw_dice(d, 100),
			.name = throw_dice(d, 2) ? xstrdup("a device") : NULL};
		for (uint64_t *n = &s->calls; n <= &s->span_ns; n++)
			*n = throw_dice(d, 1u << 30);
	}
}

static inline void throw_user_counters(struct dice *d, struct profile *p, uint32_t node)
{
	for (uint32_t i = 0; i < throw_dice(d, 4); i++) {
		struct profile_user_counter *c = ADD_ELEMENT(p, user_counters);

		*c = (struct profile_user_counter){.rank = 4 * node,
			.real = throw_dice(d, 2),
			.values = 1 + throw_dice(d, 1u << 20),
			.last_ns = throw_dice(d, 1u << 30),
			.name = xasprintf("counter %u\n%s", i, i % 2 ? "B" : "")};
		for (uint64_t *n = &c->min; n <= &c->last; n++)
			*n = throw_dice(d, 1u << 30);
	}
}

static inline void throw_gpu_devices(struct dice *d, struct profile *p, uint32_t node)
{
	for (uint32_t i = 0; i < throw_dice(d, 4); i++) {
		struct profile_gpu_device *g = ADD_ELEMENT(p, gpu_devices);

		*g = (struct profile_gpu_device){.uuid = {7, 10 * (node % 2) + i},
			.rank = 4 * node + i,
			.processes = 1 + throw_dice(d, 3),
			.name = xstrdup("a GPU")};
		for (uint64_t *n = &g->calls; n <= &g->sum_ns; n++)
			*n = throw_dice(d, 1u << 30);
	}
	for (uint32_t i = 0; i < throw_dice(d, 5); i++) {
		struct profile_gpu_link *l = ADD_ELEMENT(p, gpu_links);

		*l = (struct profile_gpu_link){.from = {0, i},
			.to = {7, throw_dice(d, 30)},
			.kind = 1,
			.calls = throw_dice(d, 99),
			.bytes = throw_dice(d, 1u << 20)};
	}
	for (uint32_t i = 0; i < p->n_stacks; i++) {
		struct profile_gpu_wait *w;

		if (throw_dice(d, 4))
			continue;
		w = ADD_ELEMENT(p, gpu_waits);
		*w = (struct profile_gpu_wait){.stack = i,
			.detail = throw_dice(d, 4),
			.stream = throw_dice(d, 3),
			.ranks = 1,
			.calls = throw_dice(d, 99),
			.ns = throw_dice(d, 1u << 30),
			.name = xstrdup(throw_dice(d, 2) ? "axpy" : "")};
	}
}

static inline void throw_openacc(struct dice *d, struct profile *p)
{
	for (uint32_t i = 0; i < p->n_stacks; i++) {
		struct profile_openacc *o;
		uint64_t calls = 1 + throw_dice(d, 99);

		if (throw_dice(d, 4))
			continue;
		o = ADD_ELEMENT(p, openacc);
		*o = (struct profile_openacc){.stack = i,
			.event = 6 + throw_dice(d, 5),
			.parent = throw_dice(d, 3),
			.ranks = 1,
			.calls = calls,
			.calls_min = calls,
			.calls_max = calls,
			.ns = throw_dice(d, 1u << 30),
			.bytes = throw_dice(d, 1u << 20),
			.text = xstrdup(throw_dice(d, 2) ? "heat.c\n42-50\nmain\na" : "\n\n\n")};
	}
}

static inline void throw_matching(struct dice *d, struct profile *p, uint32_t node)
{
	struct profile_matching *m = &p->matching;

	for (int i = 0; i < PROFILE_MATCH_LABELS; i++)
		m->pairs[i] = throw_dice(d, 100);
	m->unmatched_sends[0] = throw_dice(d, 3);
	m->unmatched_receives[1] = throw_dice(d, 3);
	m->violations = throw_dice(d, 2);
	if (m->violations) {
		m->worst_ns = throw_dice(d, 3);
		m->worst_from = throw_dice(d, 2) ? 4 * node : PROFILE_ELSEWHERE;
		m->worst_to = 4 * node + throw_dice(d, 2);
	}
	for (uint32_t i = 0; i < throw_dice(d, 6); i++) {
		struct profile_thread_pair *q = ADD_ELEMENT(p, thread_pairs);

		q->from = throw_dice(d, 4); /* of any node */
		q->from_thread = i;
		q->to = 4 * node;
		q->messages = 1 + throw_dice(d, 100);
		q->bytes = throw_dice(d, 1000);
		if (i && q->from < q[-1].from)
			q->from = q[-1].from;
	}
}

/* By other dice than the rest, too: for ranks, and for threads of a rank. */
static inline void throw_waits(uint32_t node, struct profile *p)
{
	struct dice own = {.state = node + 177}, *d = &own;

	for (uint32_t i = 0; i < p->n_stacks; i++) {
		struct profile_wait *w;

		if (throw_dice(d, 4))
			continue;
		w = ADD_ELEMENT(p, waits);
		*w = (struct profile_wait){.stack = i,
			.kind = 1,
			.late = throw_dice(d, 2) ? PROFILE_ELSEWHERE : 4 * node,
			.calls = throw_dice(d, 99),
			.ns = throw_dice(d, 1u << 30)};
		for (uint32_t t = 0; t < throw_dice(d, 4); t++) {
			w = ADD_ELEMENT(p, waits);
			*w = (struct profile_wait){.stack = i,
				.kind = 8,
				.late = 4 * node,
				.calls = throw_dice(d, 9),
				.ns = 1 + throw_dice(d, 1u << 30),
				.late_thread = t,
				.late_stack = throw_dice(d, p->n_stacks + 1)};
		}
	}
}

/* Who waited for whom, of groups of two ranks in some nodes; what has no start has no
 * configuration.
 */
static inline void throw_wait_pairs(uint32_t node, struct profile *p)
{
	struct dice own = {.state = node + 178}, *d = &own;

	for (uint32_t i = 0; i < 6; i++) {
		struct profile_wait_pair *w;

		if (throw_dice(d, 2))
			continue;
		w = ADD_ELEMENT(p, wait_pairs);
		*w = (struct profile_wait_pair){.log2 = node % 2,
			.rank = 4 * node + i / 3,
			.late = i % 3 == 2 ? PROFILE_ELSEWHERE : 4 * node + i % 3,
			.calls = 1 + throw_dice(d, 99),
			.ns = throw_dice(d, 1u << 30)};
	}
	if (p->n_starts && throw_dice(d, 2))
		p->starts->changes = xstrdup("profile.sample=20\noutput.layout=\"run\"\n");
}

/* By other dice than the rest, too. */
static inline void throw_compared(uint32_t node, struct profile *p)
{
	struct dice own = {.state = node + 77}, *d = &own;

	for (uint32_t log2 = 0; log2 < 32; log2 += 1 + throw_dice(d, 20)) {
		struct profile_compared *c = ADD_ELEMENT(p, compared);

		*c = (struct profile_compared){.log2 = log2,
			.kept = throw_dice(d, 99),
			.unknown = throw_dice(d, 9),
			.waited = throw_dice(d, 99),
			.waited_ns = throw_dice(d, 1u << 30),
			.error_ns = throw_dice(d, 1u << 20),
			.below = throw_dice(d, 9),
			.below_ns = throw_dice(d, 1000),
			.partly_ns = 100 * log2};
		c->partly = log2 % (c->unknown + 1);
		c->calls = c->kept + throw_dice(d, 99);
	}
}

static inline void throw_sampled(uint32_t node, struct profile *p)
{
	struct dice own = {.state = node + 78}, *d = &own;

	for (uint32_t log2 = throw_dice(d, 2); log2 < 10; log2 += 1 + throw_dice(d, 9)) {
		struct profile_sampled *s = ADD_ELEMENT(p, sampled);

		*s = (struct profile_sampled){.log2 = log2, .kept = throw_dice(d, 99)};
		s->calls = s->kept + throw_dice(d, 99);
	}
}

/* Of its processes, as gather does it; by other dice than the rest, which stays as it was. */
static inline void throw_cpu(uint32_t node, struct profile *p)
{
	struct dice own = {.state = node + 1}, *d = &own;

	for (size_t i = 0; i < p->n_processes; i++) {
		struct profile_process *w = &p->processes[i];
		const uint64_t wall = 1 + throw_dice(d, 1000);
		struct profile one = {.cpu = {.least_rank = w->rank,
					      .least_wall_ns = wall,
					      .queued_rank = w->rank,
					      .queued_wall_ns = wall}};

		one.cpu.least_ns = w->cpu_ns = throw_dice(d, 4) * wall / 4;
		one.cpu.most_queued_ns = w->queued_ns = throw_dice(d, 4) * wall / 4;
		fold_cpu(p, &one);
		p->cpu.ns += w->cpu_ns;
		p->cpu.queued_ns += w->queued_ns;
		p->cpu.wall_ns += wall;
	}
}

/* By other dice than the rest, which stays as it was. */
static inline void throw_stack_samples(uint32_t node, struct profile *p)
{
	struct dice own = {.state = node + 91}, *d = &own;

	for (uint32_t i = 0; i < p->n_stacks; i++) {
		const uint64_t n = throw_dice(d, 8) ? 0 : throw_dice(d, 1000);

		if (p->stacks[i].estimated)
			*ADD_ELEMENT(p, stack_samples) = (struct profile_stack_samples){
				.stack = i, .own = n, .all = n + throw_dice(d, 1000)};
	}
}

/* A valid node profile of "nodeNODE" with up to n_stacks stacks. */
static inline struct profile *random_profile(
	struct dice *d, uint32_t node, uint32_t n_stacks, uint64_t hash_mask)
{
	static const char *const names[] = {
		"main", "foo", "bar", "solve_", "_ZN1a1bE", "f(int)", "a<b", "x"};
	struct profile *p = profile_new();

	p->unranked = throw_dice(d, 3);
	p->ranks = 4 + p->unranked;
	p->threads = p->ranks;
	p->world_size = throw_dice(d, 4) ? 64 : 0;
	p->start_s = 1700000000 + throw_dice(d, 1000);
	p->end_s = p->start_s + throw_dice(d, 1000);
	p->runtime_s = throw_dice(d, 100000) / 100.0;
	p->records = p->calls = throw_dice(d, 1u << 31);
	p->blocked_ns = throw_dice(d, 1000);
	for (uint32_t k = 0; k < 1 + throw_dice(d, 2); k++) {
		char *path = xasprintf("/opt/bin/app%u", throw_dice(d, 3));

		profile_add_executable(p, path);
		free(path);
	}
	for (uint32_t k = 0; k < throw_dice(d, 4); k++)
		profile_warn(p, "warning %u", throw_dice(d, 6));
	if (n_stacks)
		add_stack(p, PROFILE_NONE, "init", hash_mask);
	for (uint32_t k = 1; k < n_stacks; k++) {
		uint32_t parent = throw_dice(d, p->n_stacks), same = 0;
		const char *name = names[throw_dice(d, ARRAY_SIZE(names))];

		for (uint32_t i = 0; i < p->n_stacks; i++)
			same |= p->stacks[i].parent == parent &&
				!strcmp(p->names[p->stacks[i].name], name);
		if (!same)
			add_stack(p, parent, name, hash_mask);
	}
	for (uint32_t i = 0; i < p->n_stacks; i++)
		throw_numbers(d, &p->stacks[i], 4 * node, p->unranked);
	sort_random_stacks(p);

	p->n_agents = 1;
	p->agents = xcalloc(1, sizeof(*p->agents));
	p->agents[0].host = xasprintf("node%u", node);
	p->agents[0].cpu_s = throw_dice(d, 1000) / 3.0;
	p->agents[0].affinity = throw_dice(d, 2) ? xstrdup("cpu 3") : NULL;
	p->agents[0].processes = p->ranks;
	if (throw_dice(d, 2))
		p->agents[0].clock = (struct profile_clock){.state = PROFILE_CLOCK_COMPARED,
			.from_ns = throw_dice(d, 1000),
			.to_ns = 1000 + throw_dice(d, 1000),
			.offset_ns = (int64_t)throw_dice(d, 1000) - 500,
			.offset_end_ns = (int64_t)throw_dice(d, 1000) - 500,
			.error_ns = throw_dice(d, 1000),
			.bursts = throw_dice(d, 10),
			.checks = throw_dice(d, 3)};
	p->n_processes = p->ranks;
	p->processes = xcalloc(p->n_processes, sizeof(*p->processes));
	for (uint32_t i = 0; i < p->n_processes; i++)
		throw_process(d, &p->processes[i], i < 4 ? 4 * node + i : PROFILE_UNRANKED + i - 4);
	if (p->unranked) {
		p->n_dead = 1;
		p->dead = xcalloc(1, sizeof(*p->dead));
		throw_process(d, &p->dead[0], PROFILE_UNRANKED + p->unranked - 1);
	}
	throw_cpu(node, p);
	throw_compared(node, p);
	throw_sampled(node, p);
	throw_start(node, p);
	throw_communication(d, p, node);
	throw_matching(d, p, node);
	throw_switched(d, p);
	throw_user_counters(d, p, node);
	if (n_stacks) {
		throw_threads(d, p, node);
		throw_openmp(d, p, node);
		throw_gpu(d, p, node);
		throw_gpu_devices(d, p, node);
		throw_openacc(d, p);
	}
	return p;
}

static inline void throw_posix_files(struct dice *d, struct profile *p)
{
	for (uint32_t i = 0; i < 5; i++) {
		struct profile_posix_file *f =
			throw_dice(d, 2) ? ADD_ELEMENT(p, posix_files) : NULL;

		if (!f)
			continue;
		*f = (struct profile_posix_file){.ranks = 1 + throw_dice(d, 4),
			.name = xasprintf(i ? "/data/file %u" : "(pipes)", i)};
		for (uint64_t *n = &f->opens; n <= &f->write_max; n++)
			*n = throw_dice(d, 1u << 30);
		if (throw_dice(d, 2))
			f->read_min = UINT64_MAX;
	}
}

static inline void throw_memory(struct dice *d, struct profile *p)
{
	for (uint32_t i = 0; i < p->n_stacks; i++) {
		struct profile_memory *m = throw_dice(d, 2) ? ADD_ELEMENT(p, memory) : NULL;

		if (!m)
			continue;
		*m = (struct profile_memory){.stack = i, .ranks = 1 + throw_dice(d, 4)};
		for (uint64_t *n = &m->records; n <= &m->peak_bytes; n++)
			*n = throw_dice(d, 1u << 30);
		m->bytes_variance = throw_dice(d, 1u << 30);
		m->live_variance = (unsigned __int128)throw_dice(d, 1u << 30) << 64;
		m->lifetime_ns = throw_dice(d, 1u << 30);
		m->largest = throw_dice(d, 1u << 30);
	}
}

static inline void throw_memory_ranks(struct dice *d, struct profile *p)
{
	for (uint32_t i = 0; i < p->n_processes; i++) {
		struct profile_memory_rank *m = ADD_ELEMENT(p, memory_ranks);

		*m = (struct profile_memory_rank){.rank = p->processes[i].rank, .processes = 1};
		for (uint64_t *n = &m->allocations; n <= &m->peak_ns; n++)
			*n = throw_dice(d, 1u << 30);
	}
}

static inline void throw_user_rests(struct dice *d, struct profile *p)
{
	for (uint32_t i = 0; i < 3; i++) {
		struct profile_user_rest *r = throw_dice(d, 2) ? ADD_ELEMENT(p, user_rests) : NULL;

		if (!r)
			continue;
		*r = (struct profile_user_rest){.real = i % 2,
			.ranks = 1 + throw_dice(d, 9),
			.values = 1 + throw_dice(d, 1u << 20),
			.min = throw_dice(d, 1u << 20),
			.max = throw_dice(d, 1u << 20),
			.min_rank = p->processes[0].rank,
			.max_rank = p->processes[p->n_processes - 1].rank,
			.name = xasprintf("counter %u\n", i)};
		exact_sum_put(&r->sum, 0.3 * throw_dice(d, 1u << 20));
	}
}

static inline void throw_comm_rests(struct dice *d, struct profile *p)
{
	for (uint32_t i = 0; i < 4; i++) {
		struct profile_comm_rest *r = throw_dice(d, 2) ? ADD_ELEMENT(p, comm_rests) : NULL;

		if (!r)
			continue;
		*r = (struct profile_comm_rest){.kind = i / 2, .size = 1 + i};
		for (uint64_t *n = &r->ranks; n <= &r->ambiguous_receives; n++)
			*n = 1 + throw_dice(d, 1u << 20);
	}
}

static inline void throw_gpu_link_rests(struct dice *d, struct profile *p)
{
	for (uint32_t i = 0; i < 3; i++) {
		struct profile_gpu_link_rest *r =
			throw_dice(d, 2) ? ADD_ELEMENT(p, gpu_link_rests) : NULL;

		if (!r)
			continue;
		*r = (struct profile_gpu_link_rest){.kind = 1, .detail = 1, .to = i};
		for (uint64_t *n = &r->links; n <= &r->ns; n++)
			*n = 1 + throw_dice(d, 1u << 20);
	}
}

static inline void throw_locks(struct dice *d, struct profile *p)
{
	for (uint32_t i = 0; i < 2 * LOCK_KINDS_END; i++) {
		struct profile_lock *l = throw_dice(d, 2) ? ADD_ELEMENT(p, locks) : NULL;

		if (!l)
			continue;
		*l = (struct profile_lock){.kind = i / 2,
			.holder = i % 2 && p->n_stacks ? 1 + throw_dice(d, p->n_stacks) : 0,
			.ranks = 1 + throw_dice(d, 4),
			.calls = throw_dice(d, 1u << 30),
			.ns = throw_dice(d, 1u << 30),
			.longest_ns = throw_dice(d, 1u << 20),
			.first = throw_dice(d, p->n_stacks + 1),
			.name = xasprintf("lock %u", i % 2)};
	}
}

/* The same with waits, stack samples, files, memory and locks, which the golden files have not. */
static inline struct profile *random_profile_with_waits(
	struct dice *d, uint32_t node, uint32_t n_stacks, uint64_t hash_mask)
{
	struct profile *p = random_profile(d, node, n_stacks, hash_mask);

	throw_waits(node, p);
	throw_wait_pairs(node, p);
	throw_stack_samples(node, p);
	throw_posix_files(d, p);
	throw_memory(d, p);
	throw_memory_ranks(d, p);
	throw_locks(d, p);
	throw_user_rests(d, p);
	throw_comm_rests(d, p);
	throw_gpu_link_rests(d, p);
	return p;
}

#endif
