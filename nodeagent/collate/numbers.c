/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Down the tree: the ids of stacks in the job. Each agent gets those of the stacks that it has sent
 * up, or more, so that what it needs for that does not grow with the job. A message is a head, and
 * then the numbers (profile/ids.h).
 */
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/collate/tree.h"
#include "nodeagent/profile/ids.h"
#include "nodeagent/profile/profile.h"

#define HEAD_BYTES sizeof(struct numbers_head)

ORDER_BY(hash_cmp, uint64_t, ORDER(*x, *y))

struct keys keys_of(const struct piece *at, size_t n)
{
	struct keys k = {0};
	size_t all = 0;

	for (size_t i = 0; i < n; i++)
		all += at[i].profile->n_stacks;
	k.hash = xmalloc((all + 1) * sizeof(*k.hash));
	for (size_t i = 0; i < n; i++)
		for (size_t s = 0; s < at[i].profile->n_stacks; s++)
			k.hash[k.n++] = at[i].profile->stacks[s].hash;
	if (n > 1)
		qsort(k.hash, k.n, sizeof(*k.hash), hash_cmp);
	return k;
}

/* Those with these hashes go to `to`, which may be NULL: they are counted then. */
static size_t choose(
	const struct keys *k, const struct profile_number *all, size_t n, struct profile_number *to)
{
	size_t at = 0, chosen = 0;

	for (size_t i = 0; i < n; i++) {
		while (at < k->n && k->hash[at] < all[i].hash)
			at++;
		if (at == k->n)
			break;
		if (k->hash[at] != all[i].hash)
			continue;
		if (to)
			to[chosen] = all[i];
		chosen++;
	}
	return chosen;
}

static const struct profile_number *numbers_in(const void *message, size_t bytes, size_t *n)
{
	*n = (bytes - HEAD_BYTES) / sizeof(struct profile_number);
	return (const struct profile_number *)((const char *)message + HEAD_BYTES);
}

struct profile_number *numbers_choose(
	const struct keys *k, const void *message, size_t bytes, size_t *n)
{
	size_t n_all;
	const struct profile_number *all = numbers_in(message, bytes, &n_all);
	struct profile_number *chosen;

	*n = choose(k, all, n_all, NULL);
	chosen = xmalloc((*n + 1) * sizeof(*chosen));
	choose(k, all, n_all, chosen);
	return chosen;
}

void *numbers_pack(
	const struct numbers_head *head, const struct profile_number *all, size_t n, size_t *bytes)
{
	char *message;

	*bytes = HEAD_BYTES + n * sizeof(*all);
	message = xmalloc(*bytes);
	memcpy(message, head, HEAD_BYTES);
	memcpy(message + HEAD_BYTES, all, n * sizeof(*all));
	return message;
}

bool numbers_valid(uint64_t run, const void *message, size_t bytes)
{
	return bytes >= HEAD_BYTES && (bytes - HEAD_BYTES) % sizeof(struct profile_number) == 0 &&
	       !memcmp(message, &run, sizeof(run)) && !((const char *)message)[HEAD_BYTES - 1];
}

static int send_part(struct transport *transport, int to, const struct keys *k, const void *message,
	size_t bytes, double until)
{
	struct profile_number *chosen;
	size_t n, part_bytes;
	void *part;

	if (!k->hash)
		return transport->send(transport, to, TAG_DOWN, message, bytes, until);
	chosen = numbers_choose(k, message, bytes, &n);
	part = numbers_pack(message, chosen, n, &part_bytes);
	free(chosen);
	send_and_free(transport, to, TAG_DOWN, part, part_bytes, until);
	return 0;
}

int numbers_pass_down(struct transport *transport, const void *message, size_t bytes, double until)
{
	struct collate_plan *plan = transport->plan;
	int error = 0;

	for (uint32_t k = plan->n_children; k-- > 0;) {
		if (plan->delivered[k] || plan->in_place)
			error |= send_part(
				transport, plan->child[k], &plan->keys[k], message, bytes, until);
	}
	for (int i = 0; plan->direct && i < transport->size; i++) {
		if (plan->direct[i])
			error |= transport->send(transport, i, TAG_DOWN, message, bytes, until);
	}
	return error;
}
