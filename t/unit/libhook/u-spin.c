/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread waits for a lock that one of lower real-time priority has, on the same CPU. */
#include "shm/spin.h"

#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

#include "t/lib/suite.h"

static uint32_t lock;
static unsigned passed;

static void *pass(void *unused)
{
	spin_lock(&lock);
	passed++;
	spin_unlock(&lock);
	return unused;
}

static bool on_first_cpu(int priority)
{
	const struct sched_param p = {.sched_priority = priority};
	cpu_set_t all, one;

	CPU_ZERO(&one);
	if (sched_getaffinity(0, sizeof(all), &all))
		return false;
	for (int i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
		if (CPU_ISSET(i, &all))
			CPU_SET(i, &one);
	return !sched_setaffinity(0, sizeof(one), &one) && !sched_setscheduler(0, SCHED_FIFO, &p);
}

START_TEST(lower_priority)
{
	const struct sched_param higher = {.sched_priority = 2};
	pthread_attr_t a;
	pthread_t t;

	if (!on_first_cpu(1)) {
		printf("# no real-time priority here\n");
		return;
	}
	pthread_attr_init(&a);
	pthread_attr_setinheritsched(&a, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&a, SCHED_FIFO);
	pthread_attr_setschedparam(&a, &higher);
	spin_lock(&lock);
	ck_assert_int_eq(pthread_create(&t, &a, pass, NULL), 0);
	ck_assert_uint_eq(passed, 0); /* it has run, and has given way */
	spin_unlock(&lock);
	pthread_join(t, NULL);
	ck_assert_uint_eq(passed, 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("spin");
	TCase *tc = tcase_create("spin");

	tcase_add_test(tc, lower_priority);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
