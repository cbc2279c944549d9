/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/process/forks.h"

#include <stdlib.h>
#include <string.h>
#include "nodeagent/process/host.h"
#include "nodeagent/process/drain.h"
#include "nodeagent/process/pids.h"
#include "nodeagent/process/process.h"
#include "nodeagent/base/util.h"

#define STACK_FRAMES 4096
#define FORKS_KEPT   256

/* Open frames of a thread at a fork; the child takes them. The last few are kept. */
struct fork_frames {
	struct fork_frames *next;
	uint32_t number;
	size_t n;
	uint64_t keys[];
};

static void free_list(struct fork_frames **list)
{
	while (*list) {
		struct fork_frames *f = *list;

		*list = f->next;
		free(f);
	}
}

static void keep_last(struct fork_frames **list)
{
	for (int i = 0; *list && i < FORKS_KEPT; i++)
		list = &(*list)->next;
	free_list(list);
}

void forks_add(struct process *p, const struct wire_fork *m)
{
	uint64_t keys[STACK_FRAMES];
	uint32_t index = m->index;
	struct fork_frames *f;
	size_t n;

	p->host->forks_announced++;
	if (index >= p->n_threads || !p->threads[index])
		return;
	drain_thread_to(p->threads[index], m->position);
	n = replay_stack(p->threads[index]->replay, true, keys, STACK_FRAMES);
	f = xmalloc(sizeof(*f) + n * sizeof(f->keys[0]));
	memcpy(f->keys, keys, n * sizeof(f->keys[0]));
	f->n = n;
	f->number = m->number;
	f->next = p->forks;
	p->forks = f;
	if (++p->n_forks < 2 * FORKS_KEPT) /* a walk along all of them for each is much */
		return;
	keep_last(&p->forks);
	p->n_forks = FORKS_KEPT;
}

static const struct fork_frames *find_frames(const struct fork_frames *f, uint32_t number)
{
	while (f && f->number != number)
		f = f->next;
	return f;
}

size_t forks_inherited(const struct process *p, const uint64_t **keys)
{
	const struct fork_frames *f = NULL;
	const struct process *q;

	if (!p->parent_traced)
		return 0;
	for (q = pids_newest(p->host, p->parent_traced); q && !f; q = q->namesake)
		if (q != p)
			f = find_frames(q->forks, p->parent_fork);
	if (!f)
		f = find_frames(pids_forks(p->host, p->parent_traced), p->parent_fork);
	if (!f)
		return 0;
	*keys = f->keys;
	return f->n;
}

void forks_leave(struct process *p, struct fork_frames **to)
{
	struct fork_frames **last = &p->forks;

	while (*last)
		last = &(*last)->next;
	*last = *to;
	*to = p->forks;
	p->forks = NULL;
	p->n_forks = 0;
	keep_last(to);
}

void forks_free(struct process *p)
{
	free_list(&p->forks);
}
