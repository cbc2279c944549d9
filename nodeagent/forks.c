/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/forks.h"

#include <stdlib.h>
#include "nodeagent/agent.h"
#include "nodeagent/drain.h"
#include "nodeagent/process.h"
#include "nodeagent/util.h"

#define STACK_FRAMES 4096
#define FORKS_KEPT   256

/* Open frames of a thread at a fork; the child takes them. The last few are kept. */
struct fork_frames {
	struct fork_frames *next;
	uint32_t number;
	size_t n;
	uint64_t keys[];
};

void forks_add(struct process *p, const struct wire_fork *m)
{
	uint32_t index = m->index;
	struct fork_frames *f, **old = &p->forks;

	p->agent->forks_announced++;
	if (index >= p->n_threads || !p->threads[index])
		return;
	drain_thread_to(p->threads[index], m->position);
	f = xmalloc(sizeof(*f) + STACK_FRAMES * sizeof(f->keys[0]));
	f->n = replay_stack(p->threads[index]->replay, f->keys, STACK_FRAMES);
	f = xrealloc(f, sizeof(*f) + f->n * sizeof(f->keys[0]));
	f->number = m->number;
	f->next = p->forks;
	p->forks = f;
	for (int i = 0; *old && i < FORKS_KEPT; i++)
		old = &(*old)->next;
	if (*old) {
		free(*old); /* the list is never longer */
		*old = NULL;
	}
}

size_t forks_inherited(const struct process *p, const uint64_t **keys)
{
	for (const struct process *q = p->parent_traced ? p->agent->processes : NULL; q;
		q = q->next) {
		if (q->pid != p->parent_traced || q == p)
			continue;
		for (const struct fork_frames *f = q->forks; f; f = f->next)
			if (f->number == p->parent_fork) {
				*keys = f->keys;
				return f->n;
			}
	}
	return 0;
}

void forks_free(struct process *p)
{
	while (p->forks) {
		struct fork_frames *f = p->forks;

		p->forks = f->next;
		free(f);
	}
}
