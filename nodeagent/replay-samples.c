/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stack that a node of the call tree is in the sampling file. A shell
 * (replay-shells.c) is its region below the root: what is in the file stays there
 * when the counts move. Its nodes forget their stacks then.
 */
#include "nodeagent/gpu.h"
#include "nodeagent/openmp.h"
#include "nodeagent/replay-internal.h"

static bool is_in_shell(const struct replay *r, const struct node *n)
{
	while (r->n_shells && n->parent) {
		if (key_is_shell(n->key))
			return true;
		n = n->parent;
	}
	return false;
}

uint32_t replay_new_sample(struct replay *r, struct node *n)
{
	uint64_t key = n->key;
	struct node_extra *e;
	uint32_t caller, number;

	if (!n->parent)
		return 0;
	if (key_is_shell(key)) {
		uint32_t region = r->shells[(uint32_t)key].region;

		if (region == OPENMP_NONE)
			return 0;
		key = openmp_region_key(region);
	}
	caller = replay_sample(r, n->parent);
	number = sampling_stack(r->sampled, caller, key, is_in_shell(r, n));
	e = calltree_extra(n);
	e->stack = (e->stack & SAMPLE_PRECISE) | number;
	return number;
}

uint32_t replay_judge_sample(struct replay *r, struct node *n)
{
	bool precise = key_is_shell(n->key) || sampling_is_precise(r->sampled, n->key);

	return calltree_extra(n)->stack = SAMPLE_NONE | (precise ? SAMPLE_PRECISE : 0);
}

/* The recorded events begin anew at t; what was left out before that is told. */
static void told_window(struct replay *r, struct sampling_lane *l, uint64_t t)
{
	if (vfd_window_has(&l->window))
		vfd_sample(l->lane, replay_sample(r, l->picked), l->window.last);
	vfd_window_open(&l->window, t);
	l->wake = t;
}

bool replay_decide_sample(
	struct replay *r, struct node *ran, uint64_t t, uint64_t took, bool precise)
{
	struct sampling_lane *l = r->sampled;

	if (!precise && t <= l->next && took <= l->long_call) {
		if (vfd_window_pass(&l->window, t))
			l->picked = ran;
		l->wake = l->window.next < l->next ? l->window.next : l->next;
		return false;
	}
	if (!precise && t > l->next)
		l->next = t + l->interval;
	told_window(r, l, t);
	vfd_call_took(l->lane, took);
	return true;
}

void replay_sample_aside(struct replay *r, struct node *n, struct node *ran, uint64_t t)
{
	struct sampling_lane *l = r->sampled;

	if (l->interval) {
		told_window(r, l, t);
		vfd_sample(l->lane, replay_sample(r, ran), t);
	}
	vfd_enter_aside(l->lane, replay_sample(r, n), t);
}

void replay_sampled_launch(struct replay *r, uint32_t number)
{
	const struct vfd_lane *l = r->sampled->lane;
	const struct node *n = replay_node(r->top);
	const uint32_t stack = n->extra ? n->extra->stack & ~SAMPLE_PRECISE : 0;

	if (vfd_is_entering(l, stack, r->top->since))
		gpu_call_sampled(r->gpu, number, vfd_lane_number(l), stack);
}

void replay_set_sampled(struct replay *r, struct sampling_lane *l)
{
	r->sampled = l;
}

struct sampling_lane *replay_sampled(const struct replay *r)
{
	return r->sampled;
}
