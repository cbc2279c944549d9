/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fields of all records are known from the tables of vftr-vfp(5): those of 64 and 128
 * bits are sums, but for the ones named here.
 */
#include "nodeagent/subtract.h"

#include <stdlib.h>
#include <string.h>
#include "nodeagent/profile-mpi.h"
#include "nodeagent/profile.h"
#include "nodeagent/util.h"
#include "nodeagent/vfp-format.h"

/* Fields of 64 bits that are no sums: a key, or an extreme that is left as it is. */
static const struct {
	size_t array, field;
} no_sums[] = {
#define NO_SUM(list, type, field)                                                                  \
	{                                                                                          \
		offsetof(struct profile, list), offsetof(struct type, field)                       \
	}
	NO_SUM(comms, profile_comm, id),
	NO_SUM(functions, profile_function, min_ns),
	NO_SUM(functions, profile_function, max_ns),
	NO_SUM(functions, profile_function, sumsq_ns2),
	NO_SUM(gpu, profile_gpu, min_ns),
	NO_SUM(gpu, profile_gpu, max_ns),
	NO_SUM(gpu, profile_gpu, blocks_min),
	NO_SUM(gpu, profile_gpu, blocks_max),
	NO_SUM(gpu, profile_gpu, calls_min),
	NO_SUM(gpu, profile_gpu, calls_max),
	NO_SUM(gpu_devices, profile_gpu_device, uuid[0]),
	NO_SUM(gpu_devices, profile_gpu_device, uuid[1]),
	NO_SUM(gpu_devices, profile_gpu_device, memory_bytes),
	NO_SUM(gpu_links, profile_gpu_link, from[0]),
	NO_SUM(gpu_links, profile_gpu_link, from[1]),
	NO_SUM(gpu_links, profile_gpu_link, to[0]),
	NO_SUM(gpu_links, profile_gpu_link, to[1]),
	NO_SUM(gpu_waits, profile_gpu_wait, max_ns),
	NO_SUM(openacc, profile_openacc, calls_min),
	NO_SUM(openacc, profile_openacc, calls_max),
#undef NO_SUM
};

/* Lists of which the rest is of use; the others go. */
static const size_t kept_lists[] = {
	offsetof(struct profile, messages),
	offsetof(struct profile, functions),
	offsetof(struct profile, sizes),
	offsetof(struct profile, pairs),
	offsetof(struct profile, comms),
	offsetof(struct profile, files),
	offsetof(struct profile, places),
	offsetof(struct profile, open),
	offsetof(struct profile, openmp),
	offsetof(struct profile, counters),
	offsetof(struct profile, counts),
	offsetof(struct profile, gpu),
	offsetof(struct profile, gpu_streams),
	offsetof(struct profile, openacc),
	offsetof(struct profile, gpu_waits),
};

/* Those of which a node has what is more than the sum over its processes. */
static const size_t node_lists[] = {
	offsetof(struct profile, gpu_devices),
	offsetof(struct profile, gpu_links),
};

/* Lists of which the first member of an element is the number of a stack. */
static const size_t at_stacks[] = {
	offsetof(struct profile, messages),
	offsetof(struct profile, open),
	offsetof(struct profile, openmp),
	offsetof(struct profile, counts),
	offsetof(struct profile, gpu),
	offsetof(struct profile, gpu_waits),
	offsetof(struct profile, openacc),
};

static bool is_in(size_t array, const size_t *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (list[i] == array)
			return true;
	return false;
}

static bool is_sum(size_t array, const struct vfp_field *f)
{
	if (f->kind != U64 && f->kind != U128)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(no_sums); i++)
		if (no_sums[i].array == array && no_sums[i].field == f->offset)
			return false;
	return true;
}

static void less(uint64_t *now, uint64_t before)
{
	*now -= before < *now ? before : *now;
}

static void less_wide(void *now, const void *before)
{
	unsigned __int128 a, b;

	memcpy(&a, now, sizeof(a));
	memcpy(&b, before, sizeof(b));
	a -= b < a ? b : a;
	memcpy(now, &a, sizeof(a));
}

/* before NULL: nothing is taken off. Whether anything is left. */
static bool subtract_element(
	const struct vfp_section *s, char *now, const char *before, size_t array)
{
	bool left = false;

	for (size_t i = 0; i < s->n_fields; i++) {
		const struct vfp_field *f = &s->fields[i];
		const size_t bytes = f->kind == U128 ? 16 : 8;

		if (!is_sum(array, f))
			continue;
		if (before && f->kind == U128)
			less_wide(now + f->offset, before + f->offset);
		else if (before)
			less((uint64_t *)(void *)(now + f->offset),
				*(const uint64_t *)(const void *)(before + f->offset));
		for (size_t k = 0; k < bytes; k++)
			left = left || now[f->offset + k];
	}
	return left;
}

static const struct vfp_section *section_of(const struct profile_list *l)
{
	for (size_t i = 0; i < VFP_N_SECTIONS; i++)
		if (vfp_sections[i].element_bytes && vfp_sections[i].array == l->array)
			return &vfp_sections[i];
	return NULL;
}

static void drop_element(char *at, const struct profile_list *l)
{
	if (l->text != SIZE_MAX)
		free(*(char **)(void *)(at + l->text));
}

/* Both sorted, before's elements among those of now: of one process, or gone with its stack. */
static void subtract_list(struct profile *now, const struct profile *before,
	const struct profile_list *l, const size_t *kept_ones, size_t n_kept)
{
	const struct vfp_section *s = section_of(l);
	size_t *n = (size_t *)(void *)((char *)now + l->count), kept = 0, k = 0;
	const size_t n_before =
		before ? *(const size_t *)(const void *)((const char *)before + l->count) : 0;
	char *at = *(char **)(void *)((char *)now + l->array);
	const char *other =
		before ? *(char *const *)(const void *)((const char *)before + l->array) : NULL;
	const bool drop = !s || !is_in(l->array, kept_ones, n_kept);

	for (size_t i = 0; i < *n; i++) {
		char *e = at + i * l->element_bytes;
		const char *same = NULL;

		while (k < n_before && l->cmp(other + k * l->element_bytes, e) < 0)
			k++;
		if (k < n_before && !l->cmp(other + k * l->element_bytes, e))
			same = other + k * l->element_bytes;
		if (drop || (!subtract_element(s, e, same, l->array) && l->add)) {
			drop_element(e, l);
			continue;
		}
		memmove(at + kept++ * l->element_bytes, e, l->element_bytes);
	}
	*n = kept;
}

/* ---- stacks ------------------------------------------------------------------ */

static void one_process(struct profile_stack *s)
{
	s->excl_min_ns = s->excl_max_ns = s->excl_ns;
	s->excl_sumsq_ns2 = (unsigned __int128)s->excl_ns * s->excl_ns;
}

/* Of each stack of now, the same one of before, or PROFILE_NONE. */
static void subtract_stacks(struct profile *now, const struct profile *before, uint32_t *same)
{
	uint32_t k = 0;

	for (uint32_t i = 0; i < now->n_stacks; i++) {
		struct profile_stack *s = &now->stacks[i];

		same[i] = PROFILE_NONE;
		while (before && k < before->n_stacks && profile_stack_cmp(before, k, now, i) < 0)
			k++;
		if (!before || k >= before->n_stacks || profile_stack_cmp(before, k, now, i))
			continue;
		same[i] = k;
		less(&s->calls, before->stacks[k].calls);
		less(&s->lost_calls, before->stacks[k].lost_calls);
		less(&s->incl_ns, before->stacks[k].incl_ns);
		less(&s->excl_ns, before->stacks[k].excl_ns);
		if (s->excl_ns > s->incl_ns)
			s->excl_ns = s->incl_ns;
		one_process(s);
	}
}

/* Those at which something happened, and all above them. */
static bool *stacks_to_keep(const struct profile *p)
{
	bool *keep = xcalloc(p->n_stacks + 1, sizeof(*keep));

	for (uint32_t i = 0; i < p->n_stacks; i++) {
		const struct profile_stack *s = &p->stacks[i];

		if (!s->calls && !s->lost_calls && !s->incl_ns && s->parent != PROFILE_NONE)
			continue;
		for (uint32_t k = i; k != PROFILE_NONE && !keep[k]; k = p->stacks[k].parent)
			keep[k] = true;
	}
	return keep;
}

static void renumber(struct profile *p, const uint32_t *to)
{
	for (const struct profile_list *l = profile_lists; l < profile_lists + PROFILE_N_LISTS;
		l++) {
		size_t *n = (size_t *)(void *)((char *)p + l->count), kept = 0;
		char *at = *(char **)(void *)((char *)p + l->array);

		if (!is_in(l->array, at_stacks, ARRAY_SIZE(at_stacks)))
			continue;
		for (size_t i = 0; i < *n; i++) {
			char *e = at + i * l->element_bytes;
			uint32_t *stack = (uint32_t *)(void *)e;

			*stack = to[*stack];
			if (*stack == PROFILE_NONE)
				drop_element(e, l);
			else
				memmove(at + kept++ * l->element_bytes, e, l->element_bytes);
		}
		*n = kept;
	}
}

static void drop_stacks(struct profile *p)
{
	bool *keep = stacks_to_keep(p);
	uint32_t *to = xmalloc((p->n_stacks + 1) * sizeof(*to)), n = 0;

	for (uint32_t i = 0; i < p->n_stacks; i++)
		to[i] = keep[i] ? n++ : PROFILE_NONE;
	for (uint32_t i = 0; i < p->n_stacks; i++) {
		struct profile_stack s = p->stacks[i];

		if (!keep[i])
			continue;
		if (s.parent != PROFILE_NONE)
			s.parent = to[s.parent];
		p->stacks[to[i]] = s;
	}
	p->n_stacks = n;
	renumber(p, to);
	free(to);
	free(keep);
}

/*
 * The lists go by the numbers of now's stacks: those of before get these, in a copy. The
 * order stays, as both are sorted alike.
 */
static struct profile *with_stacks_of(
	const struct profile *before, const struct profile *now, const uint32_t *same)
{
	struct profile *copy = profile_copy(before);
	uint32_t *to = xmalloc((before->n_stacks + 1) * sizeof(*to));

	memset(to, 0xff, (before->n_stacks + 1) * sizeof(*to));
	for (uint32_t i = 0; i < now->n_stacks; i++)
		if (same[i] != PROFILE_NONE)
			to[same[i]] = i;
	renumber(copy, to);
	free(to);
	profile_pairs_fold(copy, now->pair_ranks);
	return copy;
}

static void subtract_numbers(struct profile *now, const struct profile *before)
{
	less(&now->records, before->records);
	less(&now->calls, before->calls);
	less(&now->lost_calls, before->lost_calls);
	less(&now->blocked_ns, before->blocked_ns);
	less(&now->hook_ns_total, before->hook_ns_total);
	less(&now->lost_messages, before->lost_messages);
	less(&now->open_requests, before->open_requests);
	less(&now->ambiguous_sends, before->ambiguous_sends);
	less(&now->ambiguous_receives, before->ambiguous_receives);
	now->runtime_s -= before->runtime_s < now->runtime_s ? before->runtime_s : now->runtime_s;
	now->start_s = before->end_s;
	if (!now->n_processes || !before->n_processes)
		return;
	less(&now->processes->records, before->processes->records);
	less(&now->processes->calls, before->processes->calls);
	less(&now->processes->lost_calls, before->processes->lost_calls);
	less(&now->processes->blocked_ns, before->processes->blocked_ns);
	now->processes->runtime_s = now->runtime_s;
}

/* What there is thread by thread goes by the numbers of stacks, too. */
static void drop_threads(struct profile *p)
{
	struct profile_process *processes = p->processes;
	size_t n = p->n_processes;

	p->processes = NULL;
	p->n_processes = 0;
	profile_drop_processes(p);
	p->processes = processes;
	p->n_processes = n;
}

void profile_subtract(struct profile *now, const struct profile *before)
{
	uint32_t *same = xmalloc((now->n_stacks + 1) * sizeof(*same));
	struct profile *then;

	drop_threads(now);
	subtract_stacks(now, before, same);
	then = before ? with_stacks_of(before, now, same) : NULL;
	for (size_t i = 0; i < PROFILE_N_LISTS; i++)
		subtract_list(now, then, &profile_lists[i], kept_lists, ARRAY_SIZE(kept_lists));
	for (size_t i = 0; i < now->n_functions; i++) {
		struct profile_function *f = &now->functions[i];

		f->min_ns = f->max_ns = f->ns;
		f->sumsq_ns2 = (unsigned __int128)f->ns * f->ns;
	}
	memset(&now->matching, 0, sizeof(now->matching));
	if (before) {
		subtract_numbers(now, before);
		drop_stacks(now);
	}
	profile_free(then);
	free(same);
}

void profile_subtract_devices(
	struct profile *round, struct profile *now, const struct profile *before)
{
	for (const struct profile_list *l = profile_lists; l < profile_lists + PROFILE_N_LISTS;
		l++) {
		size_t *n = (size_t *)(void *)((char *)round + l->count);
		size_t *n_now = (size_t *)(void *)((char *)now + l->count);
		void **at = (void **)(void *)((char *)round + l->array);
		void **at_now = (void **)(void *)((char *)now + l->array);

		if (!is_in(l->array, node_lists, ARRAY_SIZE(node_lists)))
			continue;
		subtract_list(now, before, l, node_lists, ARRAY_SIZE(node_lists));
		free(*at); /* they were dropped from single processes: it is empty */
		*at = *at_now;
		*n = *n_now;
		*at_now = NULL;
		*n_now = 0;
	}
}
