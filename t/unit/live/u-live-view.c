/* SPDX-License-Identifier: BSD-3-Clause */
/* Views: sums, bounds of lists, packets, and packets that nobody of ours has made. */
#include <stdio.h>
#include <string.h>
#include "nodeagent/base/util.h"
#include "nodeagent/live/view.h"
#include "t/lib/dice.h"
#include "t/lib/suite.h"

static struct live_view a, b;
static unsigned char packed[LIVE_PACKED_MOST];

static void add_path(struct live_view *v, uint64_t hash, uint64_t calls, uint64_t ns)
{
	struct live_path *p = &v->paths[v->n_paths++];

	*p = (struct live_path){.hash = hash,
		.calls = calls,
		.ns = ns,
		.ns_now = ns,
		.processes = 1,
		.most_rank = (uint32_t)hash,
		.most_now = ns,
		.least_now = ns};
	snprintf(p->text, sizeof(p->text), "f%u<main<init", (unsigned)hash);
}

/* The view of node number k. */
static void make_node(struct live_view *v, uint32_t k)
{
	struct live_node n = {.agent = k, .processes = 2, .interval = 1000 + k};
	struct live_rank r = {.agent = k, .interval = 1000 + k};

	memset(v, 0, sizeof(*v));
	v->n_all = 1;
	v->processes = 2;
	v->interval = 1000 + k;
	v->calls = 100 + k;
	v->share = 10;
	v->share_most = k;
	v->classes[LIVE_MPI] = 7;
	v->waits[WAIT_NXN] = (struct live_wait){1, 2, 3, 4};
	snprintf(n.host, sizeof(n.host), "node%u", k);
	n.classes[LIVE_USEFUL] = 2 * k;
	live_add_node(v, &n);
	for (uint32_t i = 0; i < 2; i++) {
		r.rank = 2 * k + i;
		r.first_useful = r.rank;
		live_add_rank(v, &r);
	}
}

START_TEST(sums_are_those_of_all_and_lists_keep_the_largest)
{
	enum { NODES = 300 };

	make_node(&a, 0);
	for (uint32_t k = 1; k < NODES; k++) {
		make_node(&b, k);
		live_merge(&a, &b);
	}
	ck_assert_uint_eq(a.n_all, NODES);
	ck_assert_uint_eq(a.processes, 2 * NODES);
	ck_assert_uint_eq(a.calls, NODES * 100 + NODES * (NODES - 1) / 2);
	ck_assert_uint_eq(a.interval, 1000 + NODES - 1);
	ck_assert_uint_eq(a.share, 10 * NODES);
	ck_assert_uint_eq(a.share_most, NODES - 1);
	ck_assert_uint_eq(a.classes[LIVE_MPI], 7 * NODES);
	ck_assert_uint_eq(a.waits[WAIT_NXN].ns_now, 4 * NODES);
	ck_assert_uint_eq(a.n_nodes, LIVE_NODES_MAX);
	ck_assert_uint_eq(a.n_ranks, LIVE_RANKS_MAX);
	for (uint32_t i = 0; i < LIVE_NODES_MAX; i++)
		ck_assert_uint_eq(a.nodes[i].agent, NODES - 1 - i);
	for (uint32_t i = 0; i < LIVE_RANKS_MAX; i++)
		ck_assert_uint_eq(a.ranks[i].rank, 2 * NODES - 1 - i);
}
END_TEST

START_TEST(a_node_without_an_interval_leaves_the_view_without_one)
{
	make_node(&a, 1);
	make_node(&b, 2);
	b.interval = 0;
	live_merge(&a, &b);
	ck_assert_uint_eq(a.interval, 0);
	make_node(&b, 3);
	live_merge(&a, &b);
	ck_assert_uint_eq(a.interval, 0);
}
END_TEST

START_TEST(numbers_do_not_wrap)
{
	make_node(&a, 1);
	make_node(&b, 2);
	a.calls = UINT64_MAX - 1;
	a.processes = UINT32_MAX;
	live_merge(&a, &b);
	ck_assert_uint_eq(a.calls, UINT64_MAX);
	ck_assert_uint_eq(a.processes, UINT32_MAX);
}
END_TEST

static struct live_request answer(uint64_t stamp, int state, const char *file)
{
	struct live_request q = {.stamp = stamp};

	q.nodes[state] = 1;
	snprintf(q.file, sizeof(q.file), "%s", file);
	return q;
}

START_TEST(answers_are_those_to_the_last_request)
{
	make_node(&a, 1);
	a.request = answer(5, REQUEST_WRITTEN, "");
	make_node(&b, 2);
	b.request = answer(5, REQUEST_FAILED, "file");
	live_merge(&a, &b);
	ck_assert_uint_eq(a.request.nodes[REQUEST_WRITTEN], 1);
	ck_assert_uint_eq(a.request.nodes[REQUEST_FAILED], 1);
	ck_assert_str_eq(a.request.file, "file");
	b.request = answer(4, REQUEST_FULL, "older");
	live_merge(&a, &b);
	ck_assert_uint_eq(a.request.nodes[REQUEST_FULL], 0);
	b.request = answer(6, REQUEST_DUE, "newer");
	live_merge(&a, &b);
	ck_assert_uint_eq(a.request.nodes[REQUEST_WRITTEN], 0);
	ck_assert_uint_eq(a.request.nodes[REQUEST_DUE], 1);
	ck_assert_str_eq(a.request.file, "newer");
}
END_TEST

/* The pause has none. */
START_TEST(orders_are_merged_by_their_names)
{
	make_node(&a, 1);
	make_node(&b, 2);
	live_add_off(&a, &(struct live_off){.name = "", .nodes = 1, .functions = 2, .stamp = 9});
	live_add_off(&a, &(struct live_off){.name = "f", .nodes = 1, .functions = 1, .stamp = 8});
	live_add_off(&b, &(struct live_off){.name = "", .nodes = 1, .functions = 3, .stamp = 9});
	live_merge(&a, &b);
	ck_assert_uint_eq(a.n_off, 2);
	ck_assert_uint_eq(a.off[0].nodes, 2);
	ck_assert_uint_eq(a.off[0].functions, 5);
	ck_assert_uint_eq(a.off[1].nodes, 1);
}
END_TEST

START_TEST(those_that_are_missing_are_counted_beyond_the_list)
{
	make_node(&a, 1);
	make_node(&b, 2);
	for (uint32_t i = 0; i < LIVE_MISSING_MAX; i++) {
		live_add_missing(&a, &(struct live_missing){.agent = 1000 + i});
		live_add_missing(&b, &(struct live_missing){.agent = 500 + i});
	}
	live_merge(&a, &b);
	ck_assert_uint_eq(a.n_absent, 2 * LIVE_MISSING_MAX);
	ck_assert_uint_eq(a.n_missing, LIVE_MISSING_MAX);
	ck_assert_uint_eq(a.missing[0].agent, 500);
}
END_TEST

START_TEST(paths_of_one_hash_are_one)
{
	make_node(&a, 1);
	make_node(&b, 2);
	add_path(&a, 5, 10, 100);
	add_path(&b, 5, 7, 300);
	b.paths[0].most_rank = 9;
	live_merge(&a, &b);
	ck_assert_uint_eq(a.n_paths, 1);
	ck_assert_uint_eq(a.paths[0].calls, 17);
	ck_assert_uint_eq(a.paths[0].ns, 400);
	ck_assert_uint_eq(a.paths[0].processes, 2);
	ck_assert_uint_eq(a.paths[0].most_rank, 9);
	ck_assert_uint_eq(a.paths[0].least_now, 100);
	ck_assert_uint_eq(a.paths[0].without, 0);
	ck_assert_uint_eq(a.n_cut, 0);
}
END_TEST

/* What a path of the list lacks, and what one that is not in it has, is never more than is said. */
START_TEST(what_is_left_out_has_a_bound)
{
	enum { NODES = 20, PATHS = 200 };
	static uint64_t truth[PATHS];
	struct dice d = {(uint64_t)_i + 1};

	memset(truth, 0, sizeof(truth));
	for (uint32_t k = 0; k < NODES; k++) {
		struct live_path all[PATHS];
		struct live_view *v = k ? &b : &a;

		make_node(v, k);
		for (uint32_t i = 0; i < PATHS; i++) {
			uint64_t ns = throw_dice(&d, 1000) + (i < 3 ? 5000 : 0);

			v->n_paths = 0;
			add_path(v, i + 1, 1, ns);
			all[i] = v->paths[0];
			truth[i] += ns;
		}
		qsort(all, PATHS, sizeof(*all), live_path_order);
		memcpy(v->paths, all, sizeof(v->paths));
		v->n_paths = LIVE_PATHS_MAX;
		v->n_cut = 1;
		v->cut_ns = v->cut_now = all[LIVE_PATHS_MAX].ns;
		if (k)
			live_merge(&a, &b);
	}
	ck_assert_uint_eq(a.n_paths, LIVE_PATHS_MAX);
	ck_assert_uint_eq(a.n_cut, NODES);
	for (size_t i = 0; i < a.n_paths; i++) {
		ck_assert_uint_le(a.paths[i].ns, truth[a.paths[i].hash - 1]);
		if (!a.paths[i].without)
			ck_assert_uint_eq(a.paths[i].ns, truth[a.paths[i].hash - 1]);
		truth[a.paths[i].hash - 1] = 0;
	}
	for (size_t i = 0; i < PATHS; i++)
		ck_assert_uint_le(truth[i], a.cut_ns);
	for (size_t i = 0; i < 3; i++)
		ck_assert_uint_eq(truth[i], 0); /* the largest ones are in the list */
}
END_TEST

/* ---- packets -----------------------------------------------------------------------------------
 */

static void make_large(struct live_view *v)
{
	make_node(v, 1);
	v->n_all = v->n_absent = UINT32_MAX;
	for (uint32_t i = 0; i < LIVE_NODES_MAX; i++) {
		struct live_node n;

		memset(&n, 0xff, sizeof(n));
		memset(n.host, 'h', sizeof(n.host) - 1);
		n.host[sizeof(n.host) - 1] = '\0';
		v->nodes[i] = n;
	}
	v->n_nodes = LIVE_NODES_MAX;
	memset(v->ranks, 0xff, sizeof(v->ranks));
	v->n_ranks = LIVE_RANKS_MAX;
	for (uint32_t i = 0; i < LIVE_PATHS_MAX; i++) {
		struct live_path p;

		memset(&p, 0xff, sizeof(p));
		memset(p.text, 'p', sizeof(p.text) - 1);
		p.text[sizeof(p.text) - 1] = '\0';
		p.hash = UINT64_MAX - i;
		v->paths[v->n_paths++] = p;
	}
	for (uint32_t i = 0; i < LIVE_MISSING_MAX; i++) {
		v->missing[i] = (struct live_missing){.agent = UINT32_MAX, .why = LIVE_GONE};
		memset(v->missing[i].host, 'm', LIVE_HOST_BYTES - 1);
	}
	v->n_missing = LIVE_MISSING_MAX;
	v->request = (struct live_request){.stamp = UINT64_MAX, .nodes = {UINT32_MAX}};
	memset(v->request.file, 'r', LIVE_PATH_BYTES - 1);
	for (uint32_t i = 0; i < LIVE_OFF_MAX; i++) {
		memset(&v->off[i], 0xff, sizeof(v->off[i]));
		memset(v->off[i].name, 'o', LIVE_PATH_BYTES - 1);
		v->off[i].name[LIVE_PATH_BYTES - 1] = '\0';
	}
	v->n_off = LIVE_OFF_MAX;
}

START_TEST(the_largest_view_is_what_it_was)
{
	static unsigned char again[LIVE_PACKED_MOST];
	size_t bytes;

	make_large(&a);
	bytes = live_pack(&a, NULL, packed);
	ck_assert_uint_le(bytes, LIVE_PACKED_MOST);
	ck_assert_ptr_null(live_unpack(&b, NULL, packed, bytes));
	ck_assert_uint_eq(live_pack(&b, NULL, again), bytes);
	ck_assert_mem_eq(packed, again, bytes);
}
END_TEST

START_TEST(texts_are_told_once)
{
	struct live_names *told = live_names_new(), *known = live_names_new();
	size_t first, second;

	make_node(&a, 1);
	for (uint64_t h = 1; h <= LIVE_PATHS_MAX; h++)
		add_path(&a, h, h, h);
	first = live_pack(&a, told, packed);
	ck_assert_ptr_null(live_unpack(&b, known, packed, first));
	ck_assert_mem_eq(&a, &b, sizeof(a));
	second = live_pack(&a, told, packed);
	ck_assert_uint_lt(second + 10 * LIVE_PATHS_MAX, first);
	ck_assert_ptr_null(live_unpack(&b, known, packed, second));
	ck_assert_mem_eq(&a, &b, sizeof(a));
	/* thousands of paths: the texts that both sides keep are bounded, and stay the same */
	for (uint64_t h = 1; h < 5000; h += LIVE_PATHS_MAX) {
		a.n_paths = 0;
		for (uint64_t i = 0; i < LIVE_PATHS_MAX; i++)
			add_path(&a, h * 3 + i, 1, 1);
		ck_assert_ptr_null(live_unpack(&b, known, packed, live_pack(&a, told, packed)));
		ck_assert_mem_eq(&a, &b, sizeof(a));
	}
	live_names_free(told);
	live_names_free(known);
}
END_TEST

START_TEST(hostile_packets_are_refused)
{
	struct live_names *known = live_names_new();
	size_t bytes;

	make_node(&a, 1);
	add_path(&a, 5, 10, 100);
	live_add_missing(&a, &(struct live_missing){.agent = 3});
	bytes = live_pack(&a, NULL, packed);
	for (size_t n = 0; n < bytes; n++) {
		ck_assert_ptr_nonnull(live_unpack(&b, known, packed, n));
		ck_assert_uint_eq(b.n_all + b.n_paths + b.n_nodes, 0);
	}
	packed[bytes] = 0;
	ck_assert_str_eq(live_unpack(&b, NULL, packed, bytes + 1), "there is more than it says");
	ck_assert_str_eq(
		live_unpack(&b, NULL, packed, LIVE_PACKED_MOST + 1), "it is longer than any");
	packed[0] += 2; /* the version */
	ck_assert_str_eq(live_unpack(&b, NULL, packed, bytes), "it is of another version");
	live_names_free(known);
}
END_TEST

START_TEST(rows_that_cannot_be_are_refused)
{
	make_node(&a, 1);
	a.n_all = 0;
	ck_assert_ptr_nonnull(live_unpack(&b, NULL, packed, live_pack(&a, NULL, packed)));
	make_node(&a, 1);
	live_add_missing(&a, &(struct live_missing){.agent = 3, .why = LIVE_GONE + 1});
	ck_assert_ptr_nonnull(live_unpack(&b, NULL, packed, live_pack(&a, NULL, packed)));
	make_node(&a, 1);
	add_path(&a, 5, 10, 100);
	a.paths[0].without = 2;
	ck_assert_ptr_nonnull(live_unpack(&b, NULL, packed, live_pack(&a, NULL, packed)));
	make_node(&a, 1);
	a.n_cut = 2;
	ck_assert_ptr_nonnull(live_unpack(&b, NULL, packed, live_pack(&a, NULL, packed)));
	make_node(&a, 1);
	a.request = answer(1, REQUEST_DUE, "");
	a.request.nodes[REQUEST_FULL] = 1;
	ck_assert_ptr_nonnull(live_unpack(&b, NULL, packed, live_pack(&a, NULL, packed)));
}
END_TEST

START_TEST(changed_packets_do_no_harm)
{
	struct live_names *known = live_names_new();
	struct dice d = {77};
	size_t bytes;

	make_large(&a);
	for (int i = 0; i < 20000; i++) {
		bytes = live_pack(&a, NULL, packed);
		for (unsigned k = 1 + throw_dice(&d, 4); k--;)
			packed[throw_dice(&d, (uint32_t)bytes)] =
				(unsigned char)throw_dice(&d, 256);
		if (!live_unpack(&b, known, packed, bytes)) {
			ck_assert_uint_le(b.n_nodes, LIVE_NODES_MAX);
			for (size_t p = 0; p < b.n_paths; p++)
				ck_assert_ptr_nonnull(memchr(b.paths[p].text, 0, LIVE_PATH_BYTES));
			live_merge(&b, &b);
		}
		if (i % 100)
			continue;
		make_node(&a, 1);
		add_path(&a, throw_dice(&d, 50), 1, 1);
	}
	live_names_free(known);
}
END_TEST

START_TEST(texts_of_others_can_be_printed)
{
	make_node(&a, 1);
	add_path(&a, 5, 10, 100);
	snprintf(a.paths[0].text, sizeof(a.paths[0].text), "f\033[2J<main");
	ck_assert_ptr_null(live_unpack(&b, NULL, packed, live_pack(&a, NULL, packed)));
	ck_assert_str_eq(b.paths[0].text, "f?[2J<main");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("live views");
	TCase *c = tcase_create("merge"), *w = tcase_create("packets");

	tcase_add_test(c, sums_are_those_of_all_and_lists_keep_the_largest);
	tcase_add_test(c, a_node_without_an_interval_leaves_the_view_without_one);
	tcase_add_test(c, numbers_do_not_wrap);
	tcase_add_test(c, answers_are_those_to_the_last_request);
	tcase_add_test(c, orders_are_merged_by_their_names);
	tcase_add_test(c, those_that_are_missing_are_counted_beyond_the_list);
	tcase_add_test(c, paths_of_one_hash_are_one);
	tcase_add_loop_test(c, what_is_left_out_has_a_bound, 0, 20);
	suite_add_tcase(suite, c);
	tcase_add_test(w, the_largest_view_is_what_it_was);
	tcase_add_test(w, texts_are_told_once);
	tcase_add_test(w, hostile_packets_are_refused);
	tcase_add_test(w, rows_that_cannot_be_are_refused);
	tcase_add_test(w, changed_packets_do_no_harm);
	tcase_add_test(w, texts_of_others_can_be_printed);
	suite_add_tcase(suite, w);
	return run_suite(suite);
}
