/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the GPUs of large jobs have moved, in a bounded number of entries: of each kind those with
 * the most and the least of each measure are kept, and the others are added up. A sum has no node:
 * a GPU may be in a sum of gpu_devices[], too, and then nobody knows where it is.
 *
 * Any order of merging gives the same: an entry that has others of a part before it has them before
 * it in the whole. But one that is in two parts, of two runs, counts twice in a sum.
 */
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/profile/lists.h"
#include "nodeagent/profile/profile.h"

enum measure { CALLS, BYTES, TIME, SPEED, MEASURES };

struct ranked {
	uint32_t kind, detail, from, to; /* as in gpu_link_rests[] */
	uint32_t at;			 /* in gpu_links[] */
	uint64_t value;
};

#define BY_KIND (RISING(kind) ?: RISING(detail) ?: RISING(from) ?: RISING(to))
ORDER_BY(by_kind, struct ranked, BY_KIND ?: RISING(at))
ORDER_BY(by_value, struct ranked, FALLING(value) ?: RISING(at))

/* In bytes for 2^20 ns, as an integer. */
static uint64_t speed_of(const struct profile_gpu_link *l)
{
	const unsigned __int128 speed = l->ns ? ((unsigned __int128)l->bytes << 20) / l->ns : 0;

	return speed < UINT64_MAX ? (uint64_t)speed : UINT64_MAX;
}

static uint64_t measure_of(const struct profile_gpu_link *l, enum measure measure)
{
	const uint64_t of[MEASURES] = {
		[CALLS] = l->calls, [BYTES] = l->bytes, [TIME] = l->ns, [SPEED] = speed_of(l)};

	return of[measure];
}

static bool is_gpu(const uint64_t uuid[2])
{
	return uuid[0] || uuid[1];
}

static uint32_t end_of(const struct profile_gpu_link *l)
{
	if (!is_gpu(l->to))
		return PROFILE_LINK_HOST;
	return is_gpu(l->from) && memcmp(l->from, l->to, sizeof(l->to)) ? PROFILE_LINK_OTHER_GPU
									: PROFILE_LINK_GPU;
}

static struct ranked *links_by_kind(const struct profile *p)
{
	struct ranked *all = xcalloc(p->n_gpu_links + 1, sizeof(*all));

	for (size_t i = 0; i < p->n_gpu_links; i++) {
		const struct profile_gpu_link *l = &p->gpu_links[i];

		all[i] = (struct ranked){.kind = l->kind,
			.detail = l->detail,
			.from = is_gpu(l->from) ? PROFILE_LINK_GPU : PROFILE_LINK_HOST,
			.to = end_of(l),
			.at = (uint32_t)i};
	}
	qsort(all, p->n_gpu_links, sizeof(*all), by_kind);
	return all;
}

/* Marks those to be kept of n of one kind. */
static void mark_extremes(
	const struct profile *p, struct ranked *first, size_t n, size_t extremes, bool *kept)
{
	for (unsigned i = 0; i < 2 * MEASURES; i++) {
		for (size_t k = 0; k < n; k++)
			first[k].value = measure_of(&p->gpu_links[first[k].at], i / 2) ^
					 (i % 2 ? UINT64_MAX : 0);
		qsort(first, n, sizeof(*first), by_value);
		for (size_t k = 0; k < MIN(n, extremes); k++)
			kept[first[k].at] = true;
	}
}

static bool is_same_kind(const struct ranked *x, const struct ranked *y)
{
	return !BY_KIND;
}

static void add_rest(struct profile *p, const struct ranked *of)
{
	const struct profile_gpu_link *l = &p->gpu_links[of->at];
	struct profile_gpu_link_rest *r = profile_add(p, PROFILE_GPU_LINK_RESTS);

	*r = (struct profile_gpu_link_rest){.kind = of->kind,
		.detail = of->detail,
		.from = of->from,
		.to = of->to,
		.links = 1,
		.calls = l->calls,
		.bytes = l->bytes,
		.ns = l->ns};
}

static void keep_links(struct profile *p, const bool *kept)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n_gpu_links; i++)
		if (kept[i])
			p->gpu_links[n++] = p->gpu_links[i];
	p->n_gpu_links = n;
}

void profile_gpu_links_limit(struct profile *p, uint64_t most, size_t extremes)
{
	uint64_t n = p->n_gpu_links;
	struct ranked *all;
	bool *kept;

	EACH(const struct profile_gpu_link_rest, r, p->gpu_link_rests, p->n_gpu_link_rests)
		n += r->links;
	if (n <= most)
		return;
	all = links_by_kind(p);
	kept = xcalloc(p->n_gpu_links + 1, sizeof(*kept));
	for (size_t i = 0, end; i < p->n_gpu_links; i = end) {
		for (end = i + 1; end < p->n_gpu_links && is_same_kind(&all[i], &all[end]);)
			end++;
		mark_extremes(p, all + i, end - i, extremes, kept);
	}
	for (size_t i = 0; i < p->n_gpu_links; i++)
		if (!kept[all[i].at])
			add_rest(p, &all[i]);
	keep_links(p, kept);
	profile_combine(p, PROFILE_GPU_LINK_RESTS);
	free(kept);
	free(all);
}
