/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Theoretical occupancy against what NVIDIA's own calculator gives for the same block:
 * the wanted numbers are those of cuda_occupancy.h of CUDA 13.0, compiled with these
 * limits; each limit is the one that bounds at least once.
 */
#include <check.h>
#include <stdlib.h>

#include "nodeagent/profile/gpu-occupancy.h"
#include "shm/gpu.h"
#include "t/lib/suite.h"

static const struct gpu_limits volta = {70, 32, 64, 32, 65536, 98304, 65536, 1024};
static const struct gpu_limits ampere = {86, 32, 48, 16, 65536, 102400, 65536, 1024};
static const struct gpu_limits hopper = {90, 32, 64, 32, 65536, 233472, 65536, 1024};

static const struct {
	const struct gpu_limits *l;
	uint32_t threads, registers, shared, blocks;
	enum gpu_bound bound;
} rows[] = {
	{&volta, 256, 32, 1024, 8, GPU_BOUND_WARPS},
	{&volta, 1024, 32, 0, 2, GPU_BOUND_WARPS},
	{&volta, 1024, 64, 0, 1, GPU_BOUND_REGISTERS},
	{&volta, 1024, 65, 0, 0, GPU_BOUND_REGISTERS},
	{&volta, 32, 16, 0, 32, GPU_BOUND_BLOCKS},
	{&volta, 33, 40, 0, 24, GPU_BOUND_REGISTERS},
	{&volta, 128, 255, 0, 2, GPU_BOUND_REGISTERS},
	{&volta, 64, 168, 4096, 6, GPU_BOUND_REGISTERS},
	{&volta, 256, 16, 40000, 2, GPU_BOUND_SHARED},
	{&volta, 96, 24, 20000, 4, GPU_BOUND_SHARED},
	{&volta, 512, 96, 0, 1, GPU_BOUND_REGISTERS},
	{&volta, 1000, 33, 12345, 1, GPU_BOUND_REGISTERS},
	{&ampere, 256, 32, 1024, 6, GPU_BOUND_WARPS},
	{&ampere, 1024, 32, 0, 1, GPU_BOUND_WARPS},
	{&ampere, 1024, 64, 0, 1, GPU_BOUND_WARPS},
	{&ampere, 1024, 65, 0, 0, GPU_BOUND_REGISTERS},
	{&ampere, 32, 16, 0, 16, GPU_BOUND_BLOCKS},
	{&ampere, 33, 40, 0, 16, GPU_BOUND_BLOCKS},
	{&ampere, 128, 255, 0, 2, GPU_BOUND_REGISTERS},
	{&ampere, 64, 168, 4096, 6, GPU_BOUND_REGISTERS},
	{&ampere, 256, 16, 40000, 2, GPU_BOUND_SHARED},
	{&ampere, 96, 24, 20000, 4, GPU_BOUND_SHARED},
	{&ampere, 512, 96, 0, 1, GPU_BOUND_REGISTERS},
	{&ampere, 1000, 33, 12345, 1, GPU_BOUND_WARPS},
	{&hopper, 256, 32, 1024, 8, GPU_BOUND_WARPS},
	{&hopper, 1024, 32, 0, 2, GPU_BOUND_WARPS},
	{&hopper, 1024, 64, 0, 1, GPU_BOUND_REGISTERS},
	{&hopper, 1024, 65, 0, 0, GPU_BOUND_REGISTERS},
	{&hopper, 32, 16, 0, 32, GPU_BOUND_BLOCKS},
	{&hopper, 33, 40, 0, 24, GPU_BOUND_REGISTERS},
	{&hopper, 128, 255, 0, 2, GPU_BOUND_REGISTERS},
	{&hopper, 64, 168, 4096, 6, GPU_BOUND_REGISTERS},
	{&hopper, 256, 16, 40000, 5, GPU_BOUND_SHARED},
	{&hopper, 96, 24, 20000, 11, GPU_BOUND_SHARED},
	{&hopper, 512, 96, 0, 1, GPU_BOUND_REGISTERS},
	{&hopper, 1000, 33, 12345, 1, GPU_BOUND_REGISTERS},
};

START_TEST(test_rows)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct gpu_occupancy o = gpu_occupancy(
			rows[i].l, rows[i].threads, rows[i].registers, rows[i].shared);
		uint32_t warps = (rows[i].threads + 31) / 32;

		ck_assert_msg(o.blocks == rows[i].blocks, "row %zu: %u blocks, not %u", i, o.blocks,
			rows[i].blocks);
		ck_assert_msg(o.bound == rows[i].bound, "row %zu: bound %d", i, (int)o.bound);
		ck_assert_uint_eq(o.permille, rows[i].blocks * warps * 1000 / rows[i].l->warps);
	}
}
END_TEST

/* A device that tells nothing, or a block that cannot be. */
START_TEST(test_unknown)
{
	struct gpu_limits l = hopper;

	ck_assert_uint_eq(gpu_occupancy(&l, 0, 32, 0).permille, 0);
	ck_assert_uint_eq(gpu_occupancy(&l, UINT64_MAX / 4, 32, 0).permille, 0);
	ck_assert_uint_eq(gpu_occupancy(&l, UINT64_MAX, 32, 0).permille, 0);
	ck_assert_uint_eq(gpu_occupancy(&l, 1025, 32, 0).permille, 0);
	ck_assert_uint_eq(gpu_occupancy(&l, 32, 32, UINT32_MAX).permille, 0);
	ck_assert_uint_eq(gpu_occupancy(&l, 32, UINT32_MAX, 0).permille, 0);
	l.warps = 0;
	ck_assert_uint_eq(gpu_occupancy(&l, 32, 32, 0).permille, 0);
	l = (struct gpu_limits){0};
	ck_assert_int_eq(gpu_occupancy(&l, 32, 32, 0).bound, GPU_BOUND_UNKNOWN);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("gpu-occupancy");
	TCase *tc = tcase_create("occupancy");

	tcase_add_test(tc, test_rows);
	tcase_add_test(tc, test_unknown);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
