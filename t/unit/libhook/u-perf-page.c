/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading perf events by their page, on pages that the test makes: most machines that
 * run tests have no counters, or do not let a program read them.
 */
#include <check.h>
#include <string.h>

#include "libhook/counter/perf-page.h"
#include "t/lib/suite.h"

static struct perf_event_mmap_page page;
static uint64_t pmc, now;
static uint32_t asked;
static unsigned reads, changes;

static uint64_t read_pmc(uint32_t index)
{
	asked = index;
	reads++;
	if (changes) { /* the kernel was here meanwhile: the event has another counter */
		changes--;
		page.lock += 2;
		page.offset += 1000;
		page.index++;
		pmc += 7;
	}
	return pmc;
}

static uint64_t ticks(void)
{
	return now;
}

static struct perf_reading read_page(void)
{
	return perf_page_read(&page, read_pmc, ticks);
}

static void begin(void)
{
	memset(&page, 0, sizeof(page));
	page.cap_user_rdpmc = 1;
	page.pmc_width = 48;
	page.index = 3;
	page.lock = 8;
	pmc = now = 0;
	reads = changes = 0;
}

START_TEST(test_readable)
{
	begin();
	ck_assert(perf_page_is_readable(&page));
	ck_assert(!perf_page_is_readable(NULL));
	page.cap_user_rdpmc = 0;
	ck_assert(!perf_page_is_readable(&page));
	page.cap_user_rdpmc = 1;
	page.pmc_width = 0;
	ck_assert(!perf_page_is_readable(&page));
	page.pmc_width = 65;
	ck_assert(!perf_page_is_readable(&page));
}
END_TEST

START_TEST(test_count)
{
	begin();
	page.offset = 1000;
	pmc = 234;
	ck_assert_uint_eq(read_page().count, 1234);
	ck_assert_uint_eq(asked, 2); /* index - 1 */
	ck_assert_uint_eq(reads, 1);
}
END_TEST

/* The kernel begins at a negative number, so that a counter overflows in time. */
START_TEST(test_sign)
{
	static const unsigned widths[] = {32, 40, 48, 63, 64};

	for (unsigned i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		begin();
		page.pmc_width = (uint16_t)widths[i];
		page.offset = (int64_t)1 << 30;
		pmc = (uint64_t)-100;
		if (widths[i] < 64)
			pmc &= ((uint64_t)1 << widths[i]) - 1;
		ck_assert_uint_eq(read_page().count, ((uint64_t)1 << 30) - 100);
		pmc = 5;
		ck_assert_uint_eq(read_page().count, ((uint64_t)1 << 30) + 5);
	}
	/* bits that the counter does not have do not matter */
	begin();
	pmc = (uint64_t)0xabcd << 48 | 77;
	ck_assert_uint_eq(read_page().count, 77);
}
END_TEST

START_TEST(test_no_counter)
{
	begin();
	page.index = 0;
	page.offset = 555;
	page.time_enabled = 100;
	page.time_running = 60;
	pmc = 1;
	ck_assert_uint_eq(read_page().count, 555);
	ck_assert_uint_eq(reads, 0);
	/* what is unknown to the page, as in a child of fork, is nothing */
	memset(&page, 0, sizeof(page));
	ck_assert_uint_eq(read_page().count, 0);
	ck_assert_uint_eq(reads, 0);
}
END_TEST

START_TEST(test_changed_meanwhile)
{
	begin();
	changes = 3;
	page.offset = 10;
	pmc = 1;
	ck_assert_uint_eq(read_page().count, 10 + 3000 + 1 + 21);
	ck_assert_uint_eq(reads, 4);
	ck_assert_uint_eq(asked, 5);
	ck_assert_uint_eq(page.lock, 14);
}
END_TEST

START_TEST(test_times)
{
	struct perf_reading r;

	/* 2 ns a tick: mult / 2^shift */
	begin();
	page.cap_user_time = 1;
	page.time_shift = 10;
	page.time_mult = 2048;
	page.time_offset = (uint64_t)-4000; /* the page's times were those at tick 2000 */
	page.time_enabled = 900;
	page.time_running = 300;
	now = 2500;
	r = read_page();
	ck_assert_uint_eq(r.enabled, 900 + 1000);
	ck_assert_uint_eq(r.running, 300 + 1000);
	page.index = 0; /* it waits for its turn */
	r = read_page();
	ck_assert_uint_eq(r.enabled, 900 + 1000);
	ck_assert_uint_eq(r.running, 300);
	page.time_running = 900; /* always counted: the times need not be known */
	r = read_page();
	ck_assert_uint_eq(r.enabled, 900);
	ck_assert_uint_eq(r.running, 900);
	page.time_running = 300;
	page.cap_user_time = 0;
	r = read_page();
	ck_assert_uint_eq(r.enabled, 900);
	ck_assert_uint_eq(r.running, 300);
}
END_TEST

/* As a machine that was up for a year has them. */
START_TEST(test_large_times)
{
	begin();
	page.time_shift = 31;
	page.time_mult = 894784853; /* 2.4 GHz */
	now = (uint64_t)2400000000 * 3600 * 24 * 365;
	ck_assert(perf_page_since(&page, now) / 1000000000 + 1 - (uint64_t)3600 * 24 * 365 < 2);
	ck_assert_uint_eq(perf_page_since(&page, now + 24) - perf_page_since(&page, now), 10);
}
END_TEST

START_TEST(test_scaling)
{
	struct perf_reading r = {1000, 300, 100};

	ck_assert_uint_eq(perf_scaled(0, &r), 3000);
	ck_assert_uint_eq(perf_scaled(3001, &r), 3001); /* it never shrinks */
	r.running = 300;
	ck_assert_uint_eq(perf_scaled(0, &r), 1000);
	r.running = 301; /* clocks are read one after the other */
	ck_assert_uint_eq(perf_scaled(0, &r), 1000);
	r.running = 0; /* it had no turn yet */
	ck_assert_uint_eq(perf_scaled(42, &r), 42);
	r.enabled = 0; /* there are no times */
	ck_assert_uint_eq(perf_scaled(42, &r), 1000);
	r = (struct perf_reading){(uint64_t)1 << 62, 3000000000, 2000000000};
	ck_assert_uint_eq(perf_scaled(0, &r), (uint64_t)3 << 61);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("perf page");
	TCase *c = tcase_create("perf page");

	tcase_add_test(c, test_readable);
	tcase_add_test(c, test_count);
	tcase_add_test(c, test_sign);
	tcase_add_test(c, test_no_counter);
	tcase_add_test(c, test_changed_meanwhile);
	tcase_add_test(c, test_times);
	tcase_add_test(c, test_large_times);
	tcase_add_test(c, test_scaling);
	suite_add_tcase(s, c);
	return run_suite(s);
}
