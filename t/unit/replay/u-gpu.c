/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GPUs at the agent: the union of intervals against a plain count, the GPU's
 * clock against a known line, activities that come before and after their calls,
 * what the host waited for, and packets that make no sense.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/clock/ticks.h"
#include "nodeagent/replay/tree/calltree.h"
#include "nodeagent/replay/gpu/internal.h"
#include "nodeagent/replay/gpu/gpu.h"
#include "nodeagent/base/util.h"
#include "t/lib/suite.h"

#define SLOTS 4000

START_TEST(test_union)
{
	static bool slot[SLOTS];

	for (unsigned seed = 1; seed < 30; seed++) {
		struct gpu_busy b = {0};
		uint64_t wanted = 0;

		srand(seed);
		memset(slot, 0, sizeof(slot));
		for (int i = 0; i < 200; i++) {
			uint64_t from = (uint64_t)rand() % (SLOTS - 60),
				 to = from + (uint64_t)rand() % 60;

			gpu_busy_add(&b, from, to);
			for (uint64_t k = from; k < to; k++)
				slot[k] = true;
		}
		for (int k = 0; k < SLOTS; k++)
			wanted += slot[k];
		ck_assert_uint_eq(gpu_busy_length(&b), wanted);
		for (size_t i = 1; i < b.n; i++)
			ck_assert(b.at[i - 1].to < b.at[i].from);
		gpu_busy_free(&b);
	}
}
END_TEST

START_TEST(test_union_of_many)
{
	struct gpu_busy b = {0};

	for (uint64_t i = 0; i < 300000; i++)
		gpu_busy_add(&b, 10 * i, 10 * i + 4);
	ck_assert_uint_eq(gpu_busy_length(&b), 4 * 300000);
	ck_assert(b.n < 100000);
	gpu_busy_add(&b, 5, 3); /* nothing */
	ck_assert_uint_eq(gpu_busy_length(&b), 4 * 300000);
	gpu_busy_free(&b);
}
END_TEST

START_TEST(test_clock)
{
	struct clocks c = {.ns_per_tick = 0.5};
	struct gpu_clock g = {0};
	/* the GPU's clock is 100 ppm fast, and began elsewhere */
	const uint64_t base = 1700000000000000000u;

	for (uint64_t ns = 0; ns < 100000000; ns += 10000000)
		gpu_clock_pair(
			&g, &c, 1000 + 2 * ns + 20, 40, base + (uint64_t)((double)ns * 1.0001));
	for (uint64_t ns = 80000000; ns < 100000000; ns += 777777) {
		int64_t off =
			(int64_t)(gpu_clock_ticks(&g, base + (uint64_t)((double)ns * 1.0001)) -
				  (1000 + 2 * ns));

		ck_assert_int_le(llabs(off), 4);
	}
	ck_assert_uint_eq(g.error, 20);
	/* a clock that was set begins anew, and one that makes no sense is not believed */
	gpu_clock_pair(&g, &c, 500000000, 2, 5);
	ck_assert_uint_eq(gpu_clock_ticks(&g, 5), 499999999);
	gpu_clock_pair(&g, &c, 500000010, 2, 5000000000);
	ck_assert_double_eq_tol(g.ticks_per_ns, 2, 1e-9);
	ck_assert_uint_eq(gpu_clock_ticks(&g, 0), 0);
}
END_TEST

/* ---- one process with one path ----------------------------------------------------------- */

static struct clocks clocks;
static uint64_t begin; /* of the process */
static struct calltree *tree;
static struct node *frame;
static struct gpu *gpu;

static void setup(void)
{
	clocks = (struct clocks){.ns_per_tick = 1};
	begin = 0;
	tree = calltree_new();
	frame = calltree_child(tree, calltree_root(tree), NULL, 9000);
	frame = calltree_child(tree, frame, NULL, 9001);
	gpu = gpu_new(&clocks);
}

static void teardown(void)
{
	gpu_free(gpu);
	calltree_free(tree);
}

/* Sentence i of what is missing has this in it. */
static bool is_lost(unsigned i, const char *text)
{
	char *loss = gpu_loss(gpu, i);
	const bool is = loss && strstr(loss, text);

	free(loss);
	return is;
}

static struct gpu_activity kernel(uint32_t call, uint64_t start, uint64_t end)
{
	return (struct gpu_activity){.kind = GPU_KERNEL,
		.name = 1,
		.call = call,
		.start = start,
		.end = end,
		.grid = {4, 2, 1},
		.block = {32, 1, 1}};
}

static bool packet(uint32_t n, const struct gpu_activity *a)
{
	struct wire_gpu m = {.head = {.kind = WIRE_GPU,
				     .text_bytes = n * (uint32_t)sizeof(*a),
				     .ticks = 1000000},
		.gpu_ns = 1000000,
		.n = n,
		.requested = 1};

	return gpu_packet(gpu, begin, &m, a);
}

static const struct gpu_sum *only_sum(void)
{
	size_t n;
	const struct gpu_sum *s = gpu_sums(gpu, &n), *only = NULL;

	for (; n; n--, s++)
		if (s->kind != GPU_API) { /* the call itself */
			ck_assert_ptr_null(only);
			only = s;
		}
	ck_assert_ptr_nonnull(only);
	return only;
}

START_TEST(test_any_order)
{
	struct gpu_activity a[3] = {
		kernel(5, 1100, 1200), kernel(6, 1300, 1500), kernel(7, 2000, 2001)};
	const struct gpu_sum *s;

	gpu_call(gpu, frame, 0x020000d3, 6, 1290);
	ck_assert(packet(3, a));
	gpu_call(gpu, frame, 0x020000d3, 5, 1050);
	ck_assert(packet(0, NULL));
	gpu_call(gpu, frame, 0x020000d3, 7, 1999);
	gpu_end(gpu, 0);
	s = only_sum();
	ck_assert_uint_eq(s->n, 3);
	ck_assert_uint_eq(s->ticks, 301);
	ck_assert_uint_eq(s->min_ticks, 1);
	ck_assert_uint_eq(s->max_ticks, 200);
	ck_assert_uint_eq(s->started, 3);
	ck_assert_uint_eq(s->latency, 50 + 10 + 1);
	ck_assert_uint_eq(s->blocks_max, 8);
	ck_assert_uint_eq(s->function, 0x020000d3);
	ck_assert_uint_eq(s->path->key, 9001);
	ck_assert_uint_eq(s->path->parent->key, 9000);
	/* one buffer has not come back */
	ck_assert(is_lost(0, "1 buffers"));
	ck_assert_ptr_null(gpu_loss(gpu, 1));
}
END_TEST

START_TEST(test_without_call)
{
	struct gpu_activity a = kernel(77, 10, 20);

	ck_assert(packet(1, &a));
	gpu_end(gpu, 0);
	ck_assert_ptr_eq(only_sum()->path, gpu_root(gpu));
	ck_assert(is_lost(1, "of 1 activities"));
	ck_assert_ptr_null(gpu_loss(gpu, 2));
}
END_TEST

START_TEST(test_many_calls)
{
	size_t n;
	const struct gpu_stream *s;

	for (uint32_t i = 1; i <= 200000; i++)
		gpu_call(gpu, frame, 1, i, i);
	for (uint32_t i = 1; i <= 200000; i += 100) {
		struct gpu_activity a[100];

		for (uint32_t k = 0; k < 100; k++)
			a[k] = kernel(i + k, 10 * (i + k), 10 * (i + k) + 5);
		ck_assert(packet(100, a));
	}
	ck_assert_uint_eq(only_sum()->n, 200000);
	ck_assert_uint_eq(only_sum()->started, 200000);
	s = gpu_streams(gpu, &n);
	ck_assert_uint_eq(n, 2);
	ck_assert_uint_eq(gpu_busy_length(&s[0].busy), 5 * 200000);
	ck_assert_uint_eq(gpu_busy_length(&s[1].computing), 5 * 200000);
}
END_TEST

START_TEST(test_names)
{
	struct wire_about m = {.number = 1, .object = WIRE_GPU_KERNEL_NAME};
	struct gpu_activity a = kernel(0, 10, 20);

	ck_assert(packet(1, &a));
	ck_assert_str_eq(gpu_sum_name(gpu, only_sum()), "(unknown kernel)");
	ck_assert(gpu_name(gpu, &m, "saxpy"));
	ck_assert_str_eq(gpu_sum_name(gpu, only_sum()), "saxpy");
	gpu_device_told(gpu, &(struct wire_gpu_device){.device = 3}, "Tesla");
	gpu_device_told(gpu, &(struct wire_gpu_device){.device = UINT32_MAX}, "none");
	ck_assert_str_eq(gpu_device_name(gpu, 3), "Tesla");
	ck_assert_ptr_null(gpu_device_name(gpu, 2));
	m.number = 0;
	m.object = WIRE_GPU_KERNEL_NAME;
	ck_assert(!gpu_name(gpu, &m, "x"));
	m.object = 9;
	ck_assert(!gpu_name(gpu, &m, "x"));
	gpu_stream_told(gpu, &(struct wire_gpu_stream){.context = 1, .stream = 7}, "default");
	gpu_stream_told(gpu, &(struct wire_gpu_stream){.context = 1, .stream = 7}, "mine");
	gpu_stream_told(gpu,
		&(struct wire_gpu_stream){
			.device = 3, .context = GPU_NO_STREAM, .stream = GPU_NO_STREAM},
		"renamed");
	ck_assert_str_eq(gpu_stream_name(gpu, 1, 7), "mine");
	ck_assert_ptr_null(gpu_stream_name(gpu, 2, 7));
	ck_assert_str_eq(gpu_device_name(gpu, 3), "renamed");
}
END_TEST

START_TEST(test_no_sense)
{
	struct gpu_activity a = kernel(1, 1, 2);
	struct wire_gpu m = {.head = {.text_bytes = sizeof(a) - 1}, .n = 1};

	ck_assert(!gpu_packet(gpu, begin, &m, &a));
	m.n = GPU_BATCH + 1;
	m.head.text_bytes = m.n * (uint32_t)sizeof(a);
	ck_assert(!gpu_packet(gpu, begin, &m, &a));
	a.kind = GPU_KINDS;
	ck_assert(!packet(1, &a));
	a = kernel(1, 1, 2);
	a.name = UINT32_MAX;
	ck_assert(!packet(1, &a));
	a = kernel(1, 1, 2);
	a.kind = GPU_COPY;
	a.detail = GPU_COPIES;
	ck_assert(!packet(1, &a));
}
END_TEST

static struct gpu_activity wait_for(uint32_t stream, uint32_t detail, uint64_t start, uint64_t end)
{
	return (struct gpu_activity){.kind = GPU_WAIT,
		.detail = detail,
		.stream = stream,
		.device = GPU_NO_DEVICE,
		.start = start,
		.end = end};
}

static struct gpu_activity in_stream(uint32_t stream, uint32_t name, uint64_t start, uint64_t end)
{
	struct gpu_activity a = kernel(0, start, end);

	a.stream = stream;
	a.name = name;
	return a;
}

/* Ends of kernels and waits, in ns; the records come in any order. */
START_TEST(test_waits)
{
	struct gpu_activity a[] = {in_stream(1, 1, 100000, 200000), in_stream(2, 2, 100000, 400000),
		wait_for(1, GPU_WAIT_STREAM, 150000, 200500),
		wait_for(2, GPU_WAIT_STREAM, 300000, 400500),
		wait_for(GPU_NO_STREAM, GPU_WAIT_CONTEXT, 450000, 600500),
		in_stream(1, 3, 410000, 600000), /* after the wait for it */
		in_stream(1, 4, 700000, 800000),
		wait_for(1, GPU_WAIT_STREAM, 900000, 900010), /* it was over */
		in_stream(1, 5, 900500, 901000),	      /* and this came later */
		wait_for(1, GPU_WAIT_STREAM_EVENT, 900000, 990000) /* not the host */};
	static const struct {
		uint64_t what, ticks;
	} wanted[] = {{1, 50500}, {2, 100500}, {3, 150500}, {0, 10}};
	const struct gpu_host_wait *w;
	size_t n;

	ck_assert(packet(ARRAY_SIZE(a), a));
	gpu_end(gpu, 0);
	w = gpu_host_waits(gpu, &n);
	ck_assert_uint_eq(n, ARRAY_SIZE(wanted));
	for (size_t i = 0; i < n; i++) {
		size_t k = 0;

		while (k < n && wanted[k].what != (uint32_t)w[i].what)
			k++;
		ck_assert_uint_lt(k, n);
		ck_assert_uint_eq(w[i].n, 1);
		ck_assert_uint_eq(w[i].ticks, wanted[k].ticks);
	}
}
END_TEST

START_TEST(test_links)
{
	struct gpu_activity a[] = {{.kind = GPU_COPY, .detail = GPU_COPY_TO_DEVICE, .bytes = 10},
		{.kind = GPU_COPY, .detail = GPU_COPY_TO_DEVICE, .bytes = 20},
		{.kind = GPU_COPY, .detail = GPU_COPY_PEER, .bytes = 5, .from = 1, .to = 2},
		{.kind = GPU_COPY, .detail = GPU_COPY_PEER, .bytes = 6, .from = 2, .to = 1},
		{.kind = GPU_MEMORY,
			.detail = GPU_MEMORY_TO_HOST,
			.bytes = 7,
			.from = 3,
			.to = GPU_NO_DEVICE}};
	const struct gpu_link *l;
	size_t n;

	for (size_t i = 0; i < ARRAY_SIZE(a); i++) {
		a[i].start = 1000 * i + 1;
		a[i].end = 1000 * i + 101;
	}
	ck_assert(packet(ARRAY_SIZE(a), a));
	l = gpu_links(gpu, &n);
	ck_assert_uint_eq(n, 4);
	ck_assert(l[0].from == GPU_NO_DEVICE && l[0].to == 0 && l[0].bytes == 30 && l[0].n == 2);
	ck_assert(l[1].from == 1 && l[1].to == 2 && l[1].bytes == 5 && l[1].ticks == 100);
	ck_assert(l[2].from == 2 && l[2].to == 1 && l[2].bytes == 6);
	ck_assert(l[3].from == 3 && l[3].to == GPU_NO_DEVICE && l[3].bytes == 7);
}
END_TEST

START_TEST(test_range)
{
	struct gpu_activity a = {
		.kind = GPU_RANGE, .name = 1, .call = 0xc0000001, .start = 500, .end = 700};
	const struct gpu_sum *s;

	gpu_call(gpu, frame, GPU_INTERFACE_NVTX << 24 | 5, 0xc0000001, 400);
	ck_assert(packet(1, &a));
	s = only_sum();
	ck_assert_uint_eq(s->ticks, 200); /* ticks as they are */
	ck_assert_uint_eq(s->path->key, 9001);
	a.end = UINT64_MAX; /* a process cannot know the future */
	ck_assert(packet(1, &a));
	ck_assert_uint_lt(only_sum()->max_ticks, UINT64_MAX / 2);
}
END_TEST

/* A clock that is wrong moves nothing to before the process began, or into the future. */
START_TEST(test_wrong_clock)
{
	struct gpu_activity a[] = {kernel(0, 10, 700), kernel(0, UINT64_MAX / 2, UINT64_MAX - 9)};
	const struct gpu_stream *s;
	size_t n;

	begin = 500;
	ck_assert(packet(ARRAY_SIZE(a), a));
	s = gpu_streams(gpu, &n);
	ck_assert_uint_eq(n, 2);
	ck_assert_uint_eq(s[1].first, 500);
	ck_assert_uint_ge(s[1].last, 700);
	ck_assert_uint_le(s[1].last, clocks_ticks(&clocks));
}
END_TEST

/* While recording pauses activities come whose calls are not known: later ones pay little. */
START_TEST(test_waiting_in_vain)
{
	struct gpu_activity a[100];

	for (uint32_t i = 0; i < 2500; i++) {
		for (uint32_t k = 0; k < 100; k++)
			a[k] = kernel(2000000 + 100 * i + k, 10, 20);
		ck_assert(packet(100, a));
	}
	for (uint32_t i = 1; i <= 20000; i++) {
		a[0] = kernel(i, 100 * (uint64_t)i, 100 * (uint64_t)i + 5);
		gpu_call(gpu, frame, 1, i, 100 * (uint64_t)i - 10);
		ck_assert(packet(1, a));
	}
	gpu_end(gpu, 0);
	ck_assert(is_lost(1, "250000 activities"));
}
END_TEST

/* Whatever the numbers are, nothing breaks, and no time is negative. */
START_TEST(test_random)
{
	size_t n;

	srand(3);
	for (int i = 0; i < 3000; i++) {
		struct gpu_activity a[4];

		for (int k = 0; k < 4; k++) {
			for (size_t b = 0; b < sizeof(a[k]); b++)
				((unsigned char *)&a[k])[b] = (unsigned char)rand();
			a[k].kind %= GPU_API;
			a[k].detail = 0;
			a[k].name %= 50;
			a[k].call %= 1000;
			a[k].device %= 4;
			a[k].stream %= 9;
			a[k].context %= 3;
		}
		ck_assert(packet(4, a));
		gpu_call(gpu, frame, 1, (uint32_t)rand() % 1000, (uint64_t)rand());
	}
	gpu_end(gpu, 0);
	for (const struct gpu_sum *s = gpu_sums(gpu, &n); n--; s++)
		ck_assert(s->min_ticks <= s->max_ticks && s->n);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("gpu");
	TCase *plain = tcase_create("intervals and clocks");
	TCase *with = tcase_create("activities");

	tcase_add_test(plain, test_union);
	tcase_add_test(plain, test_union_of_many);
	tcase_add_test(plain, test_clock);
	tcase_add_checked_fixture(with, setup, teardown);
	tcase_add_test(with, test_any_order);
	tcase_add_test(with, test_without_call);
	tcase_add_test(with, test_many_calls);
	tcase_add_test(with, test_names);
	tcase_add_test(with, test_waits);
	tcase_add_test(with, test_links);
	tcase_add_test(with, test_range);
	tcase_add_test(with, test_no_sense);
	tcase_add_test(with, test_random);
	tcase_add_test(with, test_wrong_clock);
	tcase_add_test(with, test_waiting_in_vain);
	tcase_set_timeout(with, 30);
	suite_add_tcase(s, plain);
	suite_add_tcase(s, with);
	return run_suite(s);
}
