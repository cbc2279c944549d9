/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators whose calls alternate: each has the arrivals of 16 calls in one block. */
#include "nodeagent/replay/comm/sync.c"
#include "nodeagent/replay/comm/sync-plain.c"
#include "nodeagent/replay/comm/sync-waits.c"

#include <check.h>
#include <stdlib.h>
#include "t/lib/suite.h"

enum { CALLS = 1600 };

/* Each call has had three members, of which the third is in a block. */
static void call_all(struct sync *s, const uint64_t *ids, unsigned n)
{
	static struct comm comm = {.refs = 1};

	for (uint32_t ticket = 1; ticket <= CALLS; ticket++)
		for (unsigned k = 0; k < n; k++) {
			struct instance *i =
				instance_add(s, NULL, &comm, ids[k], ticket, (struct purpose){0});

			i->n = FEW;
			instance_add_block(s, i);
			i->n++;
			s->n_arrivals += i->n;
		}
}

START_TEST(up_to_four_communicators_with_the_same_places_share_no_block)
{
	struct sync *s = sync_new();
	uint64_t ids[PLACES] = {1};
	unsigned n = 1;

	for (uint64_t id = 2; n < PLACES; id++)
		if (group_places(s, id) == group_places(s, ids[0]))
			ids[n++] = id;
	call_all(s, ids, n);
	ck_assert_uint_eq(s->arrivals.used, n * CALLS / SIDE);
	while (s->oldest) {
		struct instance *i = s->oldest;

		instance_unlink(s, i);
		instance_free(s, i);
	}
	ck_assert_uint_eq(s->arrivals.used, 0);
	ck_assert_uint_eq(s->groups.used, 0);
	ck_assert_uint_eq(s->n_arrivals, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sync-groups");
	TCase *c = tcase_create("sync-groups");

	tcase_add_test(c, up_to_four_communicators_with_the_same_places_share_no_block);
	suite_add_tcase(s, c);
	return run_suite(s);
}
