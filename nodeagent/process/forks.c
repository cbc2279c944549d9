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
#define TAKEN_KEPT                                                                                 \
	256u /* of the last ones: a child that forks before it calls leaves it to its own */

#ifndef FORKS_MAX /* less in a test */
#define FORKS_MAX   65536u
#define FORKS_BYTES ((size_t)16 << 20) /* of open frames */
#endif

/* Open frames of a thread, of the forks that were made with these. */
struct fork_stack {
	uint32_t users;
	size_t n;
	uint64_t keys[];
};

struct fork_frames {
	uint32_t number;
	bool taken; /* by a child */
	struct fork_stack *stack;
};

/* Of a process, by increasing number. */
struct forks {
	struct fork_frames *frames;
	size_t n_frames, cap_frames, bytes;
	uint32_t forgotten; /* the last number of those that were, or 0 */
};

static size_t stack_bytes(const struct fork_stack *s)
{
	return sizeof(*s) + s->n * sizeof(s->keys[0]);
}

static void leave_stack(struct forks *f, struct fork_stack *s)
{
	if (--s->users)
		return;
	f->bytes -= stack_bytes(s);
	free(s);
}

/* Equal stacks follow each other: a loop forks. */
static struct fork_stack *take_stack(struct forks *f, const uint64_t *keys, size_t n)
{
	struct fork_stack *s = f->n_frames ? f->frames[f->n_frames - 1].stack : NULL;

	if (!s || s->n != n || memcmp(s->keys, keys, n * sizeof(keys[0]))) {
		s = xmalloc(sizeof(*s) + n * sizeof(keys[0]));
		memcpy(s->keys, keys, n * sizeof(keys[0]));
		s->users = 0;
		s->n = n;
		f->bytes += stack_bytes(s);
	}
	s->users++;
	return s;
}

/* Those that a child has taken go, but for the last few; and of the others the first `oldest'. */
static void thin_out(struct forks *f, size_t oldest)
{
	const size_t last = f->n_frames > TAKEN_KEPT ? f->n_frames - TAKEN_KEPT : 0;
	size_t kept = 0;

	for (size_t i = 0; i < f->n_frames; i++) {
		const bool old = i < last && (f->frames[i].taken || oldest);

		if (old && !f->frames[i].taken) {
			oldest--;
			f->forgotten = f->frames[i].number;
		}
		if (old)
			leave_stack(f, f->frames[i].stack);
		else
			f->frames[kept++] = f->frames[i];
	}
	f->n_frames = kept;
}

static bool is_full(const struct forks *f, unsigned quarters)
{
	return f->n_frames >= FORKS_MAX / 4 * quarters || f->bytes >= FORKS_BYTES / 4 * quarters;
}

/* A child may come long after its fork, or never, as when it runs another program at once. */
static void make_room(struct forks *f)
{
	if (!is_full(f, 4))
		return;
	thin_out(f, 0);
	if (is_full(f, 3))
		thin_out(f, f->n_frames / 2);
}

void forks_add(struct process *p, const struct wire_fork *m)
{
	uint64_t keys[STACK_FRAMES];
	uint32_t index = m->index;
	struct forks *f = p->forks;
	struct fork_stack *stack;
	size_t n;

	p->host->forks_announced++;
	if (index >= p->n_threads || !p->threads[index])
		return;
	drain_thread_to(p->threads[index], m->position);
	if (!f)
		f = p->forks = xcalloc(1, sizeof(*f));
	if (f->n_frames &&
		m->number <= f->frames[f->n_frames - 1].number) /* it numbers them in their order */
		return;
	make_room(f);
	n = replay_stack(p->threads[index]->replay, true, keys, STACK_FRAMES);
	stack = take_stack(f, keys, n); /* shared with the last one */
	*LIST_ADD(f, frames) = (struct fork_frames){m->number, false, stack};
}

static struct fork_frames *find_frames(const struct forks *f, uint32_t number)
{
	const size_t at = f ? LOWER_BOUND(i, 0, f->n_frames, f->frames[i].number < number) : 0;

	return f && at < f->n_frames && f->frames[at].number == number ? &f->frames[at] : NULL;
}

static bool is_forgotten(const struct forks *f, uint32_t number)
{
	return f && number <= f->forgotten;
}

const struct process *forks_parent(const struct process *p)
{
	const struct process *q = NULL;

	if (p->parent_traced && p->parent_fork)
		q = pids_newest(p->host, p->parent_traced);
	while (q && (q == p || !find_frames(q->forks, p->parent_fork)))
		q = q->namesake;
	return q;
}

static bool are_forgotten(const struct process *p, const struct forks *left)
{
	const struct process *q = pids_newest(p->host, p->parent_traced);

	while (q && (q == p || !is_forgotten(q->forks, p->parent_fork)))
		q = q->namesake;
	return q || is_forgotten(left, p->parent_fork);
}

size_t forks_inherited(const struct process *p, const uint64_t **keys)
{
	const struct forks *left = pids_forks(p->host, p->parent_traced);
	const struct process *parent = forks_parent(p);
	struct fork_frames *f;

	if (!p->parent_traced || !p->parent_fork)
		return 0;
	f = find_frames(parent ? parent->forks : left, p->parent_fork);
	if (!f && are_forgotten(p, left))
		host_warn(p->host, false,
			"process %d has called something after so many more forks of its parent "
			"that its own is forgotten: its calls stand below init",
			p->pid);
	if (!f)
		return 0;
	f->taken = true;
	*keys = f->stack->keys;
	return f->stack->n;
}

static void free_all(struct forks *f)
{
	for (size_t i = 0; f && i < f->n_frames; i++)
		leave_stack(f, f->frames[i].stack);
	if (f)
		free(f->frames);
	free(f);
}

void forks_leave(struct process *p, struct forks **to)
{
	if (!p->forks)
		return;
	free_all(*to);
	*to = p->forks;
	p->forks = NULL;
	thin_out(*to, 0);
}

void forks_free(struct process *p)
{
	free_all(p->forks);
	p->forks = NULL;
}
