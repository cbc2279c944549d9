/* SPDX-License-Identifier: BSD-3-Clause */
/* Profiles of ranges of nodes, on their way to agent 0, as lists and as messages. */
#include "nodeagent/collate/tree.h"

#include <stdlib.h>
#include <string.h>

#include "nodeagent/profile/merge.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/base/util.h"
#include "nodeagent/profile/vfp.h"

/* Of a message up: then the n pieces' heads, then their profiles. */
struct up_head {
	uint64_t run, n;
};

struct piece_head {
	uint64_t first, end, bytes;
};

ORDER_BY(piece_cmp, struct piece, RISING(first))

void pieces_add(struct pieces *p, uint64_t first, uint64_t end, struct profile *profile)
{
	*APPEND(p->at, p->n, p->cap) = (struct piece){
		.first = first, .end = end, .profile = profile};
}

ORDER_BY(larger_first, struct piece, ORDER(y->end - y->first, x->end - x->first) ?: RISING(first))

/*
 * An agent that was acknowledged too late sent its piece twice, once inside a
 * larger one: the larger ones are kept.
 */
static void drop_overlaps(struct pieces *p)
{
	size_t kept = 0;

	if (p->n)
		qsort(p->at, p->n, sizeof(*p->at), larger_first);
	for (size_t i = 0; i < p->n; i++) {
		bool overlaps = false;

		for (size_t k = 0; k < kept; k++)
			overlaps |= p->at[i].first < p->at[k].end && p->at[k].first < p->at[i].end;
		if (overlaps)
			profile_free(p->at[i].profile);
		else
			p->at[kept++] = p->at[i];
	}
	p->n = kept;
}

/* As a tree: of thousands of pieces, the first ones are not walked once for each. */
static struct profile *merge_range(struct piece *at, size_t n)
{
	if (n == 1)
		return at[0].profile;
	return profile_merge(merge_range(at, n / 2), merge_range(at + n / 2, n - n / 2));
}

void pieces_join(struct pieces *p)
{
	size_t kept = 0, end;

	drop_overlaps(p);
	if (p->n)
		qsort(p->at, p->n, sizeof(*p->at), piece_cmp);
	for (size_t i = 0; i < p->n; i = end) {
		end = i + 1;
		while (end < p->n && p->at[end - 1].end == p->at[end].first)
			end++;
		p->at[kept++] = (struct piece){.first = p->at[i].first,
			.end = p->at[end - 1].end,
			.profile = merge_range(p->at + i, end - i)};
	}
	p->n = kept;
}

/* The number of the piece behind piece i that is whole, too; or p->n. */
static size_t whole_behind(const struct pieces *p, size_t i)
{
	size_t k = 0;

	while (k < p->n && !(p->at[k].whole && p->at[k].first == p->at[i].end))
		k++;
	return k;
}

void pieces_join_whole(struct pieces *p)
{
	for (size_t i = 0, k; i < p->n; i++) {
		if (!p->at[i].whole || (k = whole_behind(p, i)) == p->n)
			continue;
		p->at[i].profile = profile_merge(p->at[i].profile, p->at[k].profile);
		p->at[i].end = p->at[k].end;
		p->at[k] = p->at[--p->n];
		i = SIZE_MAX; /* from the first one on: they are few */
	}
}

/* Of one piece, which may be large: there is no second copy of it. */
static void *pack_one(const struct piece *piece, uint64_t run, size_t *bytes)
{
	const struct up_head head = {run, 1};
	struct piece_head h = {piece->first, piece->end, 0};
	unsigned char *out;

	if (vfp_encode_behind(piece->profile, sizeof(head) + sizeof(h), &out, bytes))
		die(125, "out of memory");
	h.bytes = *bytes - sizeof(head) - sizeof(h);
	memcpy(out, &head, sizeof(head));
	memcpy(out + sizeof(head), &h, sizeof(h));
	return out;
}

static void *pack_several(const struct pieces *p, uint64_t run, size_t *bytes)
{
	struct up_head head = {run, p->n};
	unsigned char **part = xcalloc(p->n, sizeof(*part)), *out;
	size_t *size = xcalloc(p->n, sizeof(*size)), at = sizeof(head);

	*bytes = sizeof(head) + p->n * sizeof(struct piece_head);
	for (size_t i = 0; i < p->n; i++) {
		if (vfp_encode(p->at[i].profile, &part[i], &size[i]))
			die(125, "out of memory");
		*bytes += size[i];
	}
	out = xmalloc(*bytes);
	memcpy(out, &head, sizeof(head));
	for (size_t i = 0; i < p->n; i++) {
		struct piece_head h = {p->at[i].first, p->at[i].end, size[i]};

		memcpy(out + at, &h, sizeof(h));
		at += sizeof(h);
	}
	for (size_t i = 0; i < p->n; i++) {
		memcpy(out + at, part[i], size[i]);
		at += size[i];
		free(part[i]);
	}
	free(part);
	free(size);
	return out;
}

void *pieces_pack(const struct pieces *p, uint64_t run, size_t *bytes)
{
	return p->n == 1 ? pack_one(&p->at[0], run, bytes) : pack_several(p, run, bytes);
}

static void unpack_piece(
	struct pieces *p, const struct piece_head *h, const unsigned char *from, uint64_t n)
{
	struct profile *profile;
	char *error;

	if (h->first >= h->end || h->end > n)
		return;
	profile = vfp_decode(from, h->bytes, &error);
	if (!profile) {
		complain("the profile of %llu other %s cannot be used, and what ran there is "
			 "missing: %s",
			(unsigned long long)(h->end - h->first),
			one_or_many(h->end - h->first, "node", "nodes"), error);
		free(error);
		return;
	}
	pieces_add(p, h->first, h->end, profile);
}

bool pieces_unpack(
	struct pieces *p, uint64_t run, uint64_t n, const unsigned char *buf, size_t bytes)
{
	struct up_head head;
	size_t at;

	if (bytes < sizeof(head))
		return false;
	memcpy(&head, buf, sizeof(head));
	if (head.run != run || head.n > (bytes - sizeof(head)) / sizeof(struct piece_head))
		return false;
	at = sizeof(head) + head.n * sizeof(struct piece_head);
	for (uint64_t i = 0; i < head.n; i++) {
		struct piece_head h;

		memcpy(&h, buf + sizeof(head) + i * sizeof(h), sizeof(h));
		if (h.bytes > bytes - at)
			break;
		unpack_piece(p, &h, buf + at, n);
		at += h.bytes;
	}
	return true;
}

bool pieces_cover(const struct pieces *p, uint64_t position)
{
	for (size_t i = 0; i < p->n; i++) {
		if (p->at[i].first <= position && position < p->at[i].end)
			return true;
	}
	return false;
}

void pieces_free(struct pieces *p)
{
	for (size_t i = 0; i < p->n; i++)
		profile_free(p->at[i].profile);
	free(p->at);
}
