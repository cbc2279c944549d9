/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hidden calls: random programs, whose calls and times by path are compared with those that a
 * plain stack of all calls gives; and what they may not disturb.
 */
#include "t/lib/dice.h"
#include "t/unit/replay/replay-by-hand.h"

#define FUNCTIONS 12
#define OTHERS	  3 /* regions, and functions of MPI */
#define KEYS	  (FUNCTIONS + 2 * OTHERS)
#define CALLS_MAX 60
#define PATHS_MAX 20000

/* ---- the rules, and their keys ------------------------------------------------------------ */

static unsigned bits[KEYS]; /* FILTER_ */
static unsigned asked[KEYS];
static struct replay_filter rules;

static uint32_t key_of(unsigned k)
{
	if (k < FUNCTIONS)
		return F(k);
	return k < FUNCTIONS + OTHERS ? RECORD_ID_REGION + k - FUNCTIONS
				      : RECORD_ID_MPI + 40 + k - FUNCTIONS - OTHERS;
}

static unsigned class_of(void *ctx, uint64_t key)
{
	(void)ctx;
	for (unsigned k = 0; k < KEYS; k++)
		if (key_of(k) == key) {
			asked[k]++;
			return bits[k];
		}
	ck_abort_msg("asked for a key that is none");
}

static int same_key(void *ctx, uint64_t key, uint64_t site)
{
	(void)ctx;
	return key == site;
}

/* ---- what is to come out ------------------------------------------------------------------- */

struct path {
	unsigned up, key;
	unsigned below[KEYS]; /* the path with this key next; 0: none */
	uint64_t calls, ticks;
};

struct call {
	unsigned key;
	bool seen, joins; /* joins: it is a direct call of itself */
	unsigned path;	  /* that is seen while it is on top */
};

static struct path paths[PATHS_MAX];
static unsigned n_paths;
static struct call calls[CALLS_MAX];
static unsigned n_calls;

static unsigned path_below(unsigned up, unsigned key)
{
	unsigned *below = &paths[up].below[key];

	if (*below)
		return *below;
	ck_assert_uint_lt(n_paths, PATHS_MAX);
	paths[n_paths] = (struct path){.up = up, .key = key};
	return *below = n_paths++;
}

static unsigned path_now(void)
{
	return n_calls ? calls[n_calls - 1].path : 0;
}

static bool is_seen(unsigned key)
{
	bool inside = !rules.only || bits[key] & FILTER_ONLY;
	unsigned depth = 0;

	if (key >= FUNCTIONS + OTHERS)
		return true;
	if (bits[key] & FILTER_NOT)
		return false;
	if (key >= FUNCTIONS)
		return true;
	for (unsigned i = 0; i < n_calls; i++) {
		const struct call *c = &calls[i];
		const bool mpi = c->key >= FUNCTIONS + OTHERS;

		if (!mpi && bits[c->key] & FILTER_NOT)
			return false;
		inside |= !mpi && c->seen && bits[c->key] & FILTER_ONLY;
		depth += c->key < FUNCTIONS && c->seen && !c->joins;
	}
	return inside && (!rules.depth || depth < rules.depth);
}

static void time_goes_on(void)
{
	for (unsigned p = path_now(); p; p = paths[p].up)
		paths[p].ticks++;
}

static void model_in(unsigned key)
{
	const struct call *top = n_calls ? &calls[n_calls - 1] : NULL;
	struct call c = {.key = key, .path = path_now()};

	time_goes_on();
	c.joins = top && top->seen && top->key == key;
	c.seen = c.joins || is_seen(key);
	if (c.seen && !c.joins)
		c.path = path_below(c.path, key);
	if (c.seen)
		paths[c.path].calls++;
	calls[n_calls++] = c;
}

static unsigned find_call(unsigned key)
{
	unsigned i = n_calls;

	while (i && calls[i - 1].key != key)
		i--;
	return i;
}

/* ---- random programs ----------------------------------------------------------------------- */

static void flush_both_ways(struct dice *d)
{
	unsigned to = 0;

	if (!used)
		return;
	if (throw_dice(d, 2))
		ck_assert_ptr_null(replay_block_own(r, block, 0, &no_epoch, NOW, &to));
	ck_assert_ptr_null(replay_block(r, block, to, BLOCK_WORDS, &no_epoch, NOW));
	memset(block, 0, sizeof(block));
	used = 0;
}

static void jump_to(unsigned key)
{
	time_goes_on();
	n_calls = find_call(key);
	control(RECORD_SITE, key_of(key));
}

static void step(struct dice *d)
{
	const unsigned what = throw_dice(d, 100);
	const unsigned key = n_calls ? calls[throw_dice(d, n_calls)].key : 0;

	if (used + 16 > BLOCK_WORDS)
		flush_both_ways(d);
	if (n_calls < CALLS_MAX && what < 49) {
		model_in(throw_dice(d, KEYS));
		in(key_of(calls[n_calls - 1].key));
	} else if (n_calls && what < 96) {
		time_goes_on();
		out(key_of(calls[--n_calls].key));
	} else if (n_calls && what < 98) {
		time_goes_on();
		out(key_of(key)); /* those above it have no exit */
		n_calls = find_call(key) - 1;
	} else if (n_calls) {
		jump_to(key);
	}
}

static void random_rules(struct dice *d)
{
	rules = (struct replay_filter){.class_of = class_of,
		.only = throw_dice(d, 2),
		.depth = throw_dice(d, 2) ? throw_dice(d, 5) : 0};
	for (unsigned k = 0; k < KEYS; k++)
		bits[k] =
			(throw_dice(d, 4) ? 0 : FILTER_ONLY) | (throw_dice(d, 5) ? 0 : FILTER_NOT);
}

static void begin_again(void)
{
	replay_free(r);
	r = replay_new(START, same_key, NULL);
	replay_set_openmp(r, teams, 0);
	replay_set_filter(r, &rules);
	used = 0;
	ticks = based = START;
	memset(block, 0, sizeof(block));
	paths[0] = (struct path){0};
	n_paths = 1;
	n_calls = 0;
}

static void compare_path(unsigned i)
{
	const struct node *n = calltree_root(replay_tree(r));
	unsigned up[CALLS_MAX + 1], depth = 0;

	for (unsigned p = i; p; p = paths[p].up)
		up[depth++] = paths[p].key;
	while (depth && n)
		n = calltree_find_child(n, key_of(up[--depth]));
	expect(n, paths[i].calls, paths[i].ticks);
}

START_TEST(random_programs)
{
	struct dice d = {(uint64_t)_i * 7919 + 1};
	uint64_t all = 0;

	random_rules(&d);
	begin_again();
	for (unsigned i = 0; i < 40000 && n_paths < PATHS_MAX - CALLS_MAX; i++)
		step(&d);
	end();
	for (unsigned i = 1; i < n_paths; i++) {
		compare_path(i);
		all += paths[i].calls;
	}
	ck_assert_uint_eq(calltree_nodes(replay_tree(r)), n_paths);
	ck_assert_uint_eq(replay_counts(r)->calls, all);
	ck_assert_uint_eq(replay_counts(r)->stray, 0);
}
END_TEST

/* ---- what is told of hidden calls ----------------------------------------------------------- */

static void rule(unsigned key, unsigned to)
{
	memset(bits, 0, sizeof(bits));
	bits[key] = to;
	rules = (struct replay_filter){.class_of = class_of, .only = to == FILTER_ONLY};
	begin_again();
}

START_TEST(stack_with_hidden_calls)
{
	const uint64_t seen[] = {F(0)}, all[] = {F(2), KEY_HIDDEN, F(1), KEY_HIDDEN | 1, F(0)};
	struct replay *child = replay_new(START, same_key, NULL);
	uint64_t keys[8];

	rule(1, FILTER_NOT);
	in(F(0));
	in(F(1));
	in(F(2));
	ck_assert_ptr_null(flush());
	ck_assert_uint_eq(replay_stack(r, false, keys, 8), 1);
	ck_assert_mem_eq(keys, seen, sizeof(seen));
	ck_assert_uint_eq(replay_stack(r, true, keys, 8), 5);
	ck_assert_mem_eq(keys, all, sizeof(all));
	ck_assert_uint_eq(replay_stack(r, true, keys, 3), 2);
	/* of another process the names are not known yet */
	bits[1] = 0;
	replay_set_filter(child, &rules);
	replay_inherit(child, all, 5, START);
	replay_free(r);
	r = child;
	out(F(2));
	in(F(3));
	out(F(3));
	out(F(1));
	in(F(3));
	out(F(3));
	out(F(0));
	end();
	ck_assert_uint_eq(calltree_nodes(replay_tree(r)), 3);
	ck_assert_uint_eq(AT(F(0), F(3))->calls, 1);
	ck_assert_uint_eq(replay_counts(r)->stray, 0);
}
END_TEST

static int is_first(void *ctx, uint64_t key)
{
	(void)ctx;
	return key == F(0);
}

START_TEST(main_is_hidden)
{
	rule(1, FILTER_ONLY);
	replay_drop_prelude(r, is_first);
	in(F(1));
	out(F(1));
	in(F(0));
	in(F(1));
	out(F(1));
	out(F(0));
	end();
	expect(AT(F(1)), 1, 1);
	ck_assert_uint_eq(replay_counts(r)->calls, 1);
}
END_TEST

/* Below DEPTH_MAX there is one node for each function, and its own time. */
START_TEST(deep_down)
{
	rule(1, FILTER_NOT);
	for (unsigned i = 0; i < DEPTH_MAX + 10; i++)
		in(F(2 + i % 2));
	in(F(1));
	in(key_of(KEYS - 1));
	in(F(2));
	out(F(2));
	out(key_of(KEYS - 1));
	out(F(1));
	for (unsigned i = DEPTH_MAX + 10; i--;)
		out(F(2 + i % 2));
	end();
	ck_assert_uint_eq(calltree_root(replay_tree(r))->ticks, 2 * (DEPTH_MAX + 10) + 6);
	ck_assert_uint_eq(replay_counts(r)->calls, DEPTH_MAX + 11);
	ck_assert_uint_eq(replay_counts(r)->stray + replay_counts(r)->closed, 0);
}
END_TEST

static unsigned fits_nothing(void *ctx, uint64_t key)
{
	(void)ctx, (void)key;
	return 0;
}

/* Of many calls below DEPTH_MAX. */
static double cpu_of_the_deep(bool filtered)
{
	const unsigned n = 100000;
	clock_t since;

	rule(1, FILTER_NOT);
	rules.class_of = fits_nothing;
	replay_set_filter(r, filtered ? &rules : NULL);
	since = clock();
	for (unsigned i = 0; i < n; i++)
		in(F(2 + i % 2));
	for (unsigned i = n; i--;)
		out(F(2 + i % 2));
	end();
	ck_assert_uint_eq(replay_counts(r)->calls, n);
	return (double)(clock() - since);
}

/* A pattern is no reason to go up to main at each of them. */
START_TEST(deep_calls_stay_cheap)
{
	ck_assert_double_le(cpu_of_the_deep(true), 4 * (cpu_of_the_deep(false) + 1));
}
END_TEST

/* The frame from which on all paths are one, and hidden calls just above it. */
START_TEST(at_the_last_depth)
{
	const struct node *last = NULL;

	rule(1, FILTER_NOT);
	for (unsigned i = 0; i < DEPTH_MAX - 1; i++)
		in(F(2 + i % 2));
	in(F(1));
	in(key_of(KEYS - 1));
	out(key_of(KEYS - 1));
	out(F(1));
	ck_assert_ptr_null(flush());
	last = calltree_root(replay_tree(r));
	for (unsigned i = 0; i < DEPTH_MAX - 1; i++)
		last = calltree_find_child(last, F(2 + i % 2));
	for (unsigned i = DEPTH_MAX - 1; i--;)
		out(F(2 + i % 2));
	end();
	ck_assert_uint_eq(last->ticks, 5);
}
END_TEST

/* A function that calls itself takes no more room when it is hidden than when it is seen. */
START_TEST(recursion_has_no_end)
{
	const uint64_t all[] = {F(1), KEY_HIDDEN | 1, F(1), KEY_HIDDEN | 1, F(0)};
	uint64_t keys[8];

	rule(1, FILTER_NOT);
	in(F(0));
	in(F(1));
	in(F(1));
	ck_assert_ptr_null(flush());
	ck_assert_uint_eq(replay_stack(r, true, keys, 8), 5);
	ck_assert_mem_eq(keys, all, sizeof(all));
	for (unsigned i = 0; i < FRAMES_MAX; i++)
		in(F(1));
	for (unsigned i = 0; i < FRAMES_MAX + 2; i++)
		out(F(1));
	in(F(2));
	out(F(2));
	out(F(0));
	end();
	ck_assert_uint_eq(AT(F(0), F(2))->calls, 1);
	ck_assert_uint_eq(calltree_nodes(replay_tree(r)), 3);
	ck_assert_uint_eq(replay_counts(r)->stray + replay_counts(r)->closed, 0);
}
END_TEST

/* Both its words are taken at once, and it is asked for as any other. */
START_TEST(leaf_of_a_hidden_call)
{
	uint64_t before;

	rule(0, FILTER_NOT);
	memset(asked, 0, sizeof(asked));
	in(F(0));
	ck_assert_ptr_null(flush());
	before = replay_counts(r)->records;
	in(F(2));
	out(F(2));
	in(F(3)); /* the block ends within it */
	ck_assert_ptr_null(flush());
	out(F(3));
	ck_assert_ptr_null(flush());
	ck_assert_uint_eq(replay_counts(r)->records - before, 4);
	ck_assert_uint_eq(asked[2], 1);
	ck_assert_uint_eq(asked[3], 1);
	out(F(0));
	in(F(2));
	out(F(2));
	end();
	expect(AT(F(2)), 1, 1);
	ck_assert_uint_eq(calltree_root(replay_tree(r))->ticks, 8);
	ck_assert_uint_eq(replay_counts(r)->calls, 1);
}
END_TEST

/* Each exit of what is not open is looked for among all hidden calls: that must not last. */
START_TEST(strays_stay_cheap)
{
	rule(0, FILTER_NOT);
	for (unsigned i = 0; i < 300000; i++)
		in(F(i % 2));
	for (unsigned i = 0; i < 300000; i++)
		out(C);
	end();
	ck_assert_uint_eq(replay_counts(r)->stray, 300000);
	ck_assert_uint_eq(calltree_nodes(replay_tree(r)), 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("filter");
	TCase *c = tcase_create("filter");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_set_timeout(c, 60);
	tcase_add_loop_test(c, random_programs, 0, 300);
	tcase_add_test(c, stack_with_hidden_calls);
	tcase_add_test(c, main_is_hidden);
	tcase_add_test(c, deep_down);
	tcase_add_test(c, deep_calls_stay_cheap);
	tcase_add_test(c, at_the_last_depth);
	tcase_add_test(c, recursion_has_no_end);
	tcase_add_test(c, leaf_of_a_hidden_call);
	tcase_add_test(c, strays_stay_cheap);
	suite_add_tcase(s, c);
	return run_suite(s);
}
