/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Node profiles of many nodes: from files, in whatever order their names are, with
 * memory for a few of them only; messages in a bounded number of pairs; a short log.
 */
#include "nodeagent/collate/tree.h"
#include "nodeagent/collate/collate.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "conf/conf.h"
#include "nodeagent/profile/merge.h"
#include "nodeagent/report/output.h"
#include "nodeagent/profile/lists.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/profile/vfp.h"
#include "t/unit/profile/random-profile.h"
#include "t/unit/profile/same-profile.h"
#include "t/lib/suite.h"

#define FEW 9

static char folder[] = "/tmp/u-collate.XXXXXX";

static char *write_one(struct profile *p, uint32_t name)
{
	char *path = xasprintf("%s/app_n%u.vfp", folder, name);

	ck_assert_int_eq(vfp_write(p, path), 0);
	return path;
}

static void unlink_all(char **paths, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unlink(paths[i]);
		free(paths[i]);
	}
}

/* _i: 0 names as the hosts, 1 the other way round, 2 as they like. */
START_TEST(names_of_files_do_not_matter)
{
	static const uint32_t names[3][FEW] = {
		{0, 1, 2, 3, 4, 5, 6, 7, 8},
		{8, 7, 6, 5, 4, 3, 2, 1, 0},
		{0, 1, 2, 3, 8, 5, 6, 7, 4},
	};
	struct dice d = {.state = 4};
	struct profile *left = NULL, *p;
	char *paths[FEW + 1];
	size_t bad;

	for (uint32_t i = 0; i < FEW; i++) {
		p = random_profile_with_waits(&d, i, 20, UINT64_MAX);
		paths[i] = write_one(p, names[_i][i]);
		left = profile_merge(left, p);
	}
	paths[FEW] = xasprintf("%s/app_n33.vfp", folder);
	p = collate_read(paths, FEW, &bad, NULL, NULL);
	ck_assert_uint_eq(bad, 0);
	assert_same(p, left);
	profile_free(p);
	p = collate_read(paths, FEW + 1, &bad, NULL, NULL);
	ck_assert_uint_eq(bad, 1);
	assert_same(p, left);
	profile_free(p);
	profile_free(left);
	unlink_all(paths, FEW + 1);
}
END_TEST

static long peak_kib(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	long kib = 0;

	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "VmHWM: %ld", &kib);
	if (f)
		fclose(f);
	return kib;
}

#define MANY   128
#define STACKS 4000

static struct profile *wide_profile(uint32_t node)
{
	struct profile *p = profile_new();

	p->stacks = xcalloc(STACKS, sizeof(*p->stacks));
	p->names = xcalloc(STACKS, sizeof(*p->names));
	p->n_names = p->n_stacks = STACKS;
	p->ranks = p->world_size = 1;
	for (uint32_t i = 0; i < STACKS; i++) {
		p->names[i] = i ? xasprintf("function_%u", i) : xstrdup("init");
		p->stacks[i].name = i;
		p->stacks[i].parent = i ? 0 : PROFILE_NONE;
		p->stacks[i].hash = i;
	}
	p->n_agents = 1;
	p->agents = xcalloc(1, sizeof(*p->agents));
	p->agents[0].host = xasprintf("n%03u", node);
	p->agents[0].wall_s = 1;
	p->agents[0].cpu_s = node / 1000.0;
	p->agents[0].clock.state = node ? PROFILE_CLOCK_COMPARED : PROFILE_CLOCK_REFERENCE;
	p->agents[0].clock.error_ns = node;
	return p;
}

static size_t lines_of(const char *path)
{
	FILE *f = fopen(path, "r");
	size_t n = 0;
	int c;

	ck_assert_ptr_nonnull(f);
	while ((c = getc(f)) != EOF)
		n += c == '\n';
	fclose(f);
	return n;
}

START_TEST(many_nodes_need_the_memory_and_the_lines_of_a_few)
{
	struct conf *c = conf_default();
	char *paths[MANY], *log, *json, *error = NULL;
	struct profile *p;
	size_t bad;
	long before, one;

	for (uint32_t i = 0; i < MANY; i++) {
		char *path = xasprintf("%s/app_n%03u.vfp", folder, i);

		p = wide_profile(i);
		ck_assert_int_eq(vfp_write(p, path), 0);
		profile_free(p);
		paths[i] = path;
	}
	one = STACKS * (long)(sizeof(struct profile_stack) + 32) / 1024;
	before = peak_kib();
	p = collate_read(paths, MANY, &bad, NULL, NULL);
	ck_assert_uint_eq(bad, 0);
	ck_assert_uint_eq(p->n_agents, MANY);
#if !defined(__SANITIZE_ADDRESS__)
	ck_assert_int_lt(peak_kib() - before, one * MANY / 3);
#endif
	for (size_t i = 0; i < p->n_stacks; i++)
		ck_assert_uint_eq(p->stacks[i].hash, i);
	p->n_stacks = p->n_names = 1;
	c->print_config = false;
	ck_assert_int_eq(output_summary(p, c, folder, "app", &error), 0);
	p->n_stacks = p->n_names = STACKS;
	log = xasprintf("%s/app_all.log", folder);
	json = xasprintf("%s/app_all.json", folder);
	ck_assert_uint_lt(lines_of(log), 150); /* tables of nodes are cut at 100 */
	unlink(log);
	unlink(json);
	free(log);
	free(json);
	profile_free(p);
	conf_free(c);
	unlink_all(paths, MANY);
	(void)one;
	(void)before;
}
END_TEST

/* Of `ranks` ranks from first on: messages to all of `world`. */
static struct profile *all_to_all(uint32_t first, uint32_t ranks, uint32_t world)
{
	struct profile *p = profile_new();
	size_t n = 0;

	p->pairs = xcalloc(2 * (size_t)ranks * world, sizeof(*p->pairs));
	p->world_size = world;
	p->ranks = ranks;
	for (uint32_t from = 0; from < world; from++)
		for (uint32_t to = 0; to < world; to++) {
			const bool sends = from - first < ranks, receives = to - first < ranks;

			if (!sends && !receives)
				continue;
			p->pairs[n++] = (struct profile_pair){.from = from,
				.to = to,
				.sends = sends,
				.bytes_sent = sends ? 8 : 0,
				.receives = receives,
				.bytes_received = receives ? 8 : 0};
		}
	p->n_pairs = n;
	return p;
}

#define WORLD 2048 /* 4 million pairs, twice of what is kept */

START_TEST(pairs_of_ranks_are_bounded)
{
	struct profile *p = all_to_all(0, WORLD / 2, WORLD), *q, *other;
	uint64_t sends = 0, receives = 0;

	ck_assert_uint_gt(p->n_pairs, PROFILE_PAIRS_MAX);
	assert_valid(p);
	p = profile_merge(p, all_to_all(WORLD / 2, WORLD / 2, WORLD));
	assert_valid(p);
	ck_assert_uint_eq(p->pair_ranks, 8); /* with 4 there would be 262144 */
	ck_assert_uint_eq(p->n_pairs, WORLD / 8 * WORLD / 8);
	for (size_t i = 0; i < p->n_pairs; i++) {
		ck_assert(p->pairs[i].from % 8 == 0 && p->pairs[i].to % 8 == 0);
		sends += p->pairs[i].sends;
		receives += p->pairs[i].receives;
	}
	ck_assert_uint_eq(sends, (uint64_t)WORLD * WORLD);
	ck_assert_uint_eq(receives, (uint64_t)WORLD * WORLD);
	/* one that is rank by rank, and one of larger groups */
	q = all_to_all(0, 1, 8);
	other = all_to_all(0, 8, 8);
	profile_pairs_fold(other, 4);
	assert_valid(other);
	ck_assert_uint_eq(other->n_pairs, 4);
	q = profile_merge(q, other);
	assert_valid(q);
	ck_assert_uint_eq(q->pair_ranks, 4);
	ck_assert_uint_eq(q->pairs[0].sends, 4 + 16);
	p = profile_merge(q, p);
	ck_assert_uint_eq(p->pair_ranks, 8);
	profile_free(p);
}
END_TEST

/* From each of n ranks to each of `to` others, as pairs[] has them. */
static struct profile *rows(uint32_t first, uint32_t n, uint32_t to)
{
	struct profile *p = profile_new();

	p->pairs = xcalloc((size_t)n * to, sizeof(*p->pairs));
	p->n_pairs = (size_t)n * to;
	for (uint32_t i = 0; i < n * to; i++)
		p->pairs[i] = (struct profile_pair){
			.from = first + i / to, .to = i % to, .sends = 1, .bytes_sent = 8};
	return p;
}

START_TEST(pairs_are_exact_up_to_the_limit)
{
	struct profile *p = profile_merge(rows(0, 128, 1024), rows(128, 128, 1024));

	ck_assert_uint_eq(p->n_pairs, 262144);
	ck_assert_uint_eq(p->pair_ranks, 0);
	p = profile_merge(p, rows(250, 6, 1024)); /* no new ones */
	ck_assert_uint_eq(p->n_pairs, 262144);
	ck_assert_uint_eq(p->pair_ranks, 0);
	p = profile_merge(p, rows(256, 1, 1));
	assert_valid(p);
	ck_assert_uint_eq(p->pair_ranks, 2);
	ck_assert_uint_eq(p->n_pairs, 128 * 512 + 1);
	profile_free(p);
}
END_TEST

/* As a node has them, process by process. */
START_TEST(pairs_of_a_node_are_bounded_while_they_come)
{
	const uint32_t here = WORLD / 2;
	struct profile *p = profile_new(), *q = all_to_all(0, here, WORLD);

	p->world_size = WORLD;
	p->ranks = here;
	for (uint32_t r = 0; r < here; r++) {
		for (uint32_t k = 0; k < 2 * WORLD; k++) {
			struct profile_pair *to = profile_add(p, PROFILE_PAIRS);
			const uint32_t peer = (r * 77 + k) % WORLD;

			*to = k < WORLD ? (struct profile_pair){r, peer, 1, 8, 0, 0}
					: (struct profile_pair){peer, r, 0, 0, 1, 8};
		}
		profile_pairs_make_room(p);
		ck_assert_uint_le(p->n_pairs, PROFILE_PAIRS_MAX / 2 * 3);
	}
	profile_pairs_settle(p);
	assert_valid(p);
	ck_assert_uint_eq(p->pair_ranks, 8);
	profile_pairs_limit(q, PROFILE_PAIRS_MAX, PROFILE_PAIRS_GROUPED);
	assert_same(p, q);
	profile_free(p);
	profile_free(q);
}
END_TEST

/* From each of n ranks to each of n others, as pairs[] has them. */
static struct profile *from_to(uint32_t n, uint32_t from, uint32_t to)
{
	struct profile *p = profile_new();

	for (uint32_t i = 0; i < n * n; i++)
		*(struct profile_pair *)profile_add(p, PROFILE_PAIRS) = (struct profile_pair){
			.from = from + i / n, .to = to + i % n, .sends = 1, .bytes_sent = 8};
	return p;
}

/* Ranks of a spawned job on other nodes, then all of such jobs. */
START_TEST(ranks_without_groups_are_bounded)
{
	const uint32_t far = PROFILE_FAR + 77;
	struct profile *p = from_to(20, PROFILE_UNRANKED, far), *q;

	p->ranks = p->unranked = 20;
	assert_valid(p);
	profile_pairs_limit(p, 400, 400);
	ck_assert_uint_eq(p->n_pairs, 400);
	profile_pairs_limit(p, 399, 399);
	assert_valid(p);
	ck_assert_uint_eq(p->pair_ranks, 1);
	ck_assert_uint_eq(p->n_pairs, 20);
	ck_assert_uint_eq(p->pairs[19].from, PROFILE_UNRANKED + 19);
	ck_assert_uint_eq(p->pairs[19].to, PROFILE_ELSEWHERE);
	ck_assert_uint_eq(p->pairs[19].sends, 20);
	/* whom another part tells apart is not told apart in the whole */
	q = from_to(3, far, PROFILE_UNRANKED);
	q->ranks = q->unranked = 3;
	p = profile_merge(p, q);
	assert_valid(p);
	ck_assert_uint_eq(p->n_pairs, 20 + 3);
	ck_assert_uint_eq(p->pairs[20].from, PROFILE_ELSEWHERE);
	ck_assert_uint_eq(p->pairs[20].to, PROFILE_UNRANKED + 20);
	ck_assert_uint_eq(p->pairs[20].sends, 3);
	profile_pairs_limit(p, 22, 22);
	assert_valid(p);
	ck_assert_uint_eq(p->n_pairs, 1);
	ck_assert_uint_eq(p->pairs[0].from, PROFILE_ELSEWHERE);
	ck_assert_uint_eq(p->pairs[0].to, PROFILE_ELSEWHERE);
	ck_assert_uint_eq(p->pairs[0].sends, 400 + 9);
	profile_free(p);
}
END_TEST

/* Ranks of the MPI job have neighbours further on. */
START_TEST(neighbours_that_have_sent_nothing)
{
	struct profile *p = profile_new();

	for (uint32_t i = 0; i < 64; i++)
		*(struct profile_pair *)profile_add(p, PROFILE_PAIRS) =
			(struct profile_pair){.from = 16 * i, .to = 0, .sends = 1};
	profile_pairs_limit(p, 32, 32);
	assert_valid(p);
	ck_assert_uint_eq(p->n_pairs, 32);
	ck_assert_uint_eq(p->pair_ranks, 32);
	profile_free(p);
}
END_TEST

/* Files 0 ... n-1 of a process, of which file i took i us, and (pipes) took all the time. */
static struct profile *with_files(const char *folder, unsigned n)
{
	struct profile *p = profile_new();
	struct profile_posix_file *f;

	for (unsigned i = 0; i < n; i++) {
		f = profile_add(p, PROFILE_POSIX_FILES);
		*f = (struct profile_posix_file){.ranks = 1, .opens = 1, .read_ns = 1000 * i};
		f->name = xasprintf("/%s/%u", folder, i);
	}
	f = profile_add(p, PROFILE_POSIX_FILES);
	*f = (struct profile_posix_file){.ranks = 1, .opens = 1, .read_ns = UINT32_MAX};
	f->name = xstrdup("(pipes)");
	profile_combine(p, PROFILE_POSIX_FILES);
	return p;
}

START_TEST(files_of_ranks_are_bounded)
{
	const unsigned n = PROFILE_FILES_MAX - 1;
	struct profile *p = with_files("a", n);
	uint64_t opens = 0, ns = 0;

	ck_assert_uint_eq(p->n_posix_files, PROFILE_FILES_MAX);
	p = profile_merge(p, with_files("b", n));
	ck_assert_uint_eq(p->n_posix_files, PROFILE_FILES_MAX);
	p = profile_merge(with_files("c", 10), p);
	ck_assert_uint_le(p->n_posix_files, PROFILE_FILES_MAX);
	ck_assert_uint_ge(p->n_posix_files, PROFILE_FILES_MAX - 1); /* the rest was one already */
	ck_assert_str_eq(p->posix_files[0].name, "(other files)");
	ck_assert_uint_eq(p->posix_files[0].ranks, 1); /* at least: of no single one were more */
	ck_assert_str_eq(p->posix_files[1].name, "(pipes)");
	ck_assert_uint_eq(p->posix_files[1].ranks, 3);
	for (size_t i = 0; i < p->n_posix_files; i++) {
		opens += p->posix_files[i].opens;
		ns += p->posix_files[i].read_ns;
		ck_assert(!i || strcmp(p->posix_files[i - 1].name, p->posix_files[i].name) < 0);
	}
	ck_assert_uint_eq(opens, 2 * n + 10 + 3);
	ck_assert_uint_eq(ns, (uint64_t)n * (n - 1) * 1000 + 45000 + 3 * (uint64_t)UINT32_MAX);
	profile_free(p);
}
END_TEST

START_TEST(groups_do_not_depend_on_the_tree)
{
	struct dice d = {.state = 77 + _i};
	struct profile *at[3], *left, *right;

	for (uint32_t i = 0; i < 3; i++) {
		at[i] = random_profile_with_waits(&d, i, 10, UINT64_MAX);
		assert_valid(at[i]);
	}
	left = profile_merge(
		profile_merge(profile_copy(at[0]), profile_copy(at[1])), profile_copy(at[2]));
	profile_pairs_limit(left, 60, 60);
	for (uint32_t i = 0; i < 3; i++)
		profile_pairs_limit(at[i], 60, 60);
	right = profile_merge(at[1], at[2]);
	profile_pairs_limit(right, 60, 60);
	right = profile_merge(at[0], right);
	profile_pairs_limit(right, 60, 60);
	ck_assert_uint_gt(left->pair_ranks, 1);
	assert_valid(left);
	assert_same(left, right);
	profile_free(left);
	profile_free(right);
}
END_TEST

#define PARTS	   12
#define PAIRS_MOST 400
#define PAIRS_LEFT 50

/* A few pairs, many of them in several parts; some parts are grouped already. */
static struct profile *random_part(struct dice *d, uint32_t most)
{
	struct profile *p = profile_new();
	const uint32_t n = throw_dice(d, most);

	for (uint32_t i = 0; i < n; i++)
		*(struct profile_pair *)profile_add(p, PROFILE_PAIRS) =
			(struct profile_pair){throw_dice(d, 64), throw_dice(d, 64), 1, i, 2, 3};
	profile_combine(p, PROFILE_PAIRS);
	if (!throw_dice(d, 3))
		profile_pairs_limit(p, PAIRS_MOST, PAIRS_LEFT);
	if (most > PAIRS_MOST / PARTS && !throw_dice(d, 40))
		profile_pairs_fold(p, 1u << throw_dice(d, 4));
	return p;
}

static struct profile *joined(struct profile *a, struct profile *b)
{
	profile_pairs_join(a, b, PAIRS_MOST, PAIRS_LEFT);
	return profile_merge(a, b);
}

/* _i: of odd ones all parts together are few. */
START_TEST(groups_of_any_tree_are_the_same)
{
	struct dice d = {.state = 1000 + (uint64_t)_i};
	struct profile *part[PARTS], *all = NULL;
	uint32_t n = PARTS, first = 0;

	for (uint32_t i = 0; i < PARTS; i++) {
		part[i] = random_part(&d, _i % 2 ? PAIRS_MOST / PARTS : 2 * PAIRS_MOST);
		first = part[i]->pair_ranks > first ? part[i]->pair_ranks : first;
		all = profile_merge(all, profile_copy(part[i])); /* whose own limits are far */
	}
	ck_assert_uint_eq(all->pair_ranks, first);
	profile_pairs_limit(all, PAIRS_MOST, PAIRS_LEFT);
	assert_valid(all);
	ck_assert(_i % 2 ? all->pair_ranks == 0 : all->pair_ranks > 1);
	ck_assert(_i % 2 || all->n_pairs <= PAIRS_LEFT);
	while (n > 1) {
		const uint32_t i = throw_dice(&d, n - 1);

		part[i] = joined(part[i], part[i + 1]);
		ck_assert_uint_le(part[i]->n_pairs, part[i]->pair_ranks ? PAIRS_LEFT : PAIRS_MOST);
		memmove(&part[i + 1], &part[i + 2], (--n - i - 1) * sizeof(*part));
	}
	assert_same(part[0], all);
	profile_free(part[0]);
	profile_free(all);
}
END_TEST

#define PIECES 1500

/* As they come to agent 0 when those between are dead; number 700 is missing. */
START_TEST(pieces_of_very_many_nodes)
{
	struct pieces p = {0};
	clock_t begin;

	for (uint32_t i = PIECES; i-- > 0;) {
		struct profile *one = profile_new();

		one->n_agents = 1;
		one->agents = xcalloc(1, sizeof(*one->agents));
		one->agents[0].host = xasprintf("n%05u", i);
		one->ranks = one->unranked = 1;
		if (i != 700)
			pieces_add(&p, i, i + 1, one);
		else
			profile_free(one);
	}
	pieces_add(&p, 3, 5, wide_profile(3)); /* the larger one stays */
	begin = clock();
	pieces_join(&p);
	printf("# %d pieces joined in %.3f s\n", PIECES,
		(double)(clock() - begin) / CLOCKS_PER_SEC);
	ck_assert_uint_eq(p.n, 2);
	ck_assert_uint_eq(p.at[0].first, 0);
	ck_assert_uint_eq(p.at[0].end, 700);
	ck_assert_uint_eq(p.at[1].end, PIECES);
	ck_assert_uint_eq(p.at[0].profile->n_agents, 699);
	ck_assert_uint_eq(p.at[1].profile->n_agents, PIECES - 701);
	ck_assert_uint_eq(p.at[1].profile->unranked, PIECES - 701);
	assert_valid(p.at[0].profile);
	pieces_free(&p);
}
END_TEST

static void add_whole(struct pieces *p, uint64_t first, uint64_t end, bool whole)
{
	pieces_add(p, first, end, all_to_all((uint32_t)first, 2, 2));
	p->at[p->n - 1].whole = whole;
}

static bool has_piece(const struct pieces *p, uint64_t first, uint64_t end)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->at[i].first == first && p->at[i].end == end)
			return true;
	return false;
}

/* The others may be parts of what comes later. */
START_TEST(pieces_that_are_whole_are_joined_before_all_have_come)
{
	struct pieces p = {0};

	add_whole(&p, 4, 6, true);
	add_whole(&p, 0, 1, true);
	add_whole(&p, 1, 2, false);
	add_whole(&p, 2, 4, true);
	add_whole(&p, 6, 7, false);
	pieces_join_whole(&p);
	ck_assert_uint_eq(p.n, 4);
	ck_assert(has_piece(&p, 2, 6) && has_piece(&p, 0, 1));
	ck_assert(has_piece(&p, 1, 2) && has_piece(&p, 6, 7));
	add_whole(&p, 1, 2, true);
	pieces_join_whole(&p);
	ck_assert_uint_eq(p.n, 3);
	ck_assert(has_piece(&p, 0, 6));
	pieces_join(&p);
	ck_assert_uint_eq(p.n, 1);
	ck_assert(has_piece(&p, 0, 7));
	assert_valid(p.at[0].profile);
	pieces_free(&p);
}
END_TEST

/* Its sender need not send again what would be as bad. */
START_TEST(a_message_with_a_bad_piece_is_taken)
{
	struct pieces p = {0}, taken = {0};
	unsigned char *message;
	size_t bytes;

	for (uint32_t i = 0; i < 3; i++)
		pieces_add(&p, 2 * i, 2 * i + 1, all_to_all(i, 2, 2));
	message = pieces_pack(&p, 7, &bytes);
	ck_assert(!pieces_unpack(&taken, 8, 6, message, bytes));
	ck_assert(!pieces_unpack(&taken, 7, 6, message, 10));
	ck_assert_uint_eq(taken.n, 0);
	message[bytes - 100] ^= 0xff; /* in the last one */
	ck_assert(pieces_unpack(&taken, 7, 6, message, bytes));
	ck_assert_uint_eq(taken.n, 2);
	ck_assert(pieces_unpack(&taken, 7, 6, message, bytes - 200));
	free(message);
	pieces_free(&taken);
	pieces_free(&p);
}
END_TEST

START_TEST(groups_are_checked)
{
	struct profile *p = all_to_all(0, 2, 2);

	p->pair_ranks = 2;
	ck_assert_ptr_nonnull(profile_valid(p));
	p->pair_ranks = 3;
	ck_assert_ptr_nonnull(profile_valid(p));
	p->pair_ranks = 1u << 31;
	ck_assert_ptr_nonnull(profile_valid(p));
	p->pair_ranks = 1;
	assert_valid(p);
	profile_free(p);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("collate");
	TCase *t = tcase_create("collate");
	int failed;

	if (!mkdtemp(folder))
		return 1;
	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, names_of_files_do_not_matter, 0, 3);
	tcase_add_test(t, many_nodes_need_the_memory_and_the_lines_of_a_few);
	tcase_add_test(t, pairs_of_ranks_are_bounded);
	tcase_add_test(t, pairs_are_exact_up_to_the_limit);
	tcase_add_test(t, pairs_of_a_node_are_bounded_while_they_come);
	tcase_add_loop_test(t, groups_of_any_tree_are_the_same, 0, 100);
	tcase_add_test(t, ranks_without_groups_are_bounded);
	tcase_add_test(t, neighbours_that_have_sent_nothing);
	tcase_add_test(t, files_of_ranks_are_bounded);
	tcase_add_loop_test(t, groups_do_not_depend_on_the_tree, 0, 6);
	tcase_add_test(t, pieces_that_are_whole_are_joined_before_all_have_come);
	tcase_add_test(t, a_message_with_a_bad_piece_is_taken);
	tcase_add_test(t, groups_are_checked);
	tcase_add_test(t, pieces_of_very_many_nodes);
	suite_add_tcase(s, t);
	failed = run_suite(s);
	rmdir(folder);
	return failed;
}
