/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stack that a node of the call tree is in the sampling file. An orphan subtree
 * (orphans.c) is its region below the root: what is in the file stays there
 * when the counts move. Its nodes forget their stacks then.
 */
#include "nodeagent/replay/gpu/gpu.h"
#include "nodeagent/replay/openmp/teams.h"
#include "nodeagent/replay/internal.h"
#include "nodeagent/replay/sequences.h"

bool replay_is_in_orphan(const struct replay *r, const struct node *n)
{
	while (r->n_orphans && n->parent) {
		if (key_is_orphan(n->key))
			return true;
		n = n->parent;
	}
	return false;
}

/* A new stack: function of this key, called by that stack. again: one that was made before with
 * the same caller and function is as good. */
static uint32_t new_stack(struct sampled_track *l, uint32_t caller, uint64_t key, bool again)
{
	uint32_t function = l->numbers->function(l->ctx, key), stack;
	uint64_t both = (uint64_t)caller << 32 | function;
	const uint32_t *known = again ? map64_find(&l->stacks, both) : NULL;

	if (known)
		return *known;
	stack = vfd_stack_new(l->track, caller, function);
	if (stack == VFD_NONE)
		return caller;
	if (again)
		map64_add(&l->stacks, both, stack);
	return stack;
}

uint32_t replay_new_sample(struct replay *r, struct node *n)
{
	uint64_t key = n->key;
	struct node_extra *e;
	uint32_t caller, number;

	if (!n->parent)
		return 0;
	if (key_is_orphan(key)) {
		uint32_t region = r->orphans[(uint32_t)key].region;

		if (region == OPENMP_NONE)
			return 0;
		key = openmp_region_key(region);
	}
	caller = replay_sample(r, n->parent);
	number = new_stack(r->sampled, caller, key, replay_is_in_orphan(r, n));
	e = calltree_extra(n);
	e->stack = (e->stack & SAMPLE_PRECISE) | number;
	return number;
}

uint32_t replay_judge_sample(struct replay *r, struct node *n)
{
	const struct sampled_track *l = r->sampled;
	bool precise = key_is_orphan(n->key) || l->numbers->is_precise(l->ctx, n->key);

	return calltree_extra(n)->stack = SAMPLE_NONE | (precise ? SAMPLE_PRECISE : 0);
}

uint32_t replay_sample_below(struct replay *r, struct node *caller, uint64_t key)
{
	return new_stack(r->sampled, replay_sample(r, caller), key, true);
}

void replay_told_window(struct replay *r, uint64_t t)
{
	struct sampled_track *l = r->sampled;

	if (vfd_window_has(&l->window))
		vfd_sample(l->track, replay_sample(r, l->picked), l->window.last);
	vfd_window_open(&l->window, t);
	l->wake = t;
}

bool replay_decide_sample(
	struct replay *r, struct node *ran, uint64_t t, uint64_t took, bool precise)
{
	struct sampled_track *l = r->sampled;

	if (!precise && t <= l->next && took <= l->long_call) {
		if (vfd_window_pass(&l->window, t))
			l->picked = ran;
		l->wake = l->window.next < l->next ? l->window.next : l->next;
		return false;
	}
	if (!precise && t > l->next)
		l->next = t + l->interval;
	replay_told_window(r, t);
	vfd_call_took(l->track, took);
	return true;
}

void replay_sample_aside(struct replay *r, struct node *n, struct node *ran, uint64_t t)
{
	struct sampled_track *l = r->sampled;

	if (l->interval) {
		replay_told_window(r, t);
		vfd_sample(l->track, replay_sample(r, ran), t);
	}
	vfd_enter_aside(l->track, replay_sample(r, n), t);
}

void replay_sample_team(struct replay *r, uint32_t level, uint32_t number)
{
	struct sampled_track *l = r->sampled;

	if (l->openmp_level == level && l->openmp_number == number)
		return;
	l->openmp_level = level;
	l->openmp_number = number;
	vfd_track_openmp(l->track, level, number);
}

void replay_sampled_launch(struct replay *r, uint32_t number)
{
	const struct vfd_track *l = r->sampled->track;
	const struct node *n = replay_node(r->top);
	const uint32_t stack = n->extra ? n->extra->stack & ~SAMPLE_PRECISE : 0;

	if (vfd_is_entering(l, stack, r->top->since))
		gpu_call_sampled(r->gpu, number, vfd_track_number(l), stack);
}

void replay_set_sampled(struct replay *r, struct sampled_track *l)
{
	r->sampled = l;
	sequences_new_track(r->sequences);
}

struct sampled_track *replay_sampled(const struct replay *r)
{
	return r->sampled;
}
