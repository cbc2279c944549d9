/* SPDX-License-Identifier: BSD-3-Clause */
/* Of many processes that give up waiting at one moment, one has a word to say. */
#include "libhook/agent/patience.c"

#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <sys/stat.h>

#include "t/lib/suite.h"

#define THREADS 2
#define ROUNDS	1000

struct process vftr_process = {.state = PROCESS_ON};

bool vftr_process_is_to_end(void)
{
	return false;
}

static char directory[] = "/tmp/vftr-u-patience-XXXXXX";
static unsigned winners, here, round_of_all;

/* All at one moment, without sleep. */
static void meet(unsigned *round)
{
	++*round;
	if (__atomic_add_fetch(&here, 1, __ATOMIC_ACQ_REL) == *round * (THREADS + 1))
		__atomic_store_n(&round_of_all, *round, __ATOMIC_RELEASE);
	for (unsigned spins = 0; __atomic_load_n(&round_of_all, __ATOMIC_ACQUIRE) < *round;)
		if (++spins % 64)
			cpu_relax();
		else
			sched_yield();
}

static void *give_up(void *unused)
{
	unsigned round = 0;

	for (int i = 0; i < ROUNDS; i++) {
		meet(&round);
		if (vftr_patience_over())
			__atomic_add_fetch(&winners, 1, __ATOMIC_RELAXED);
		meet(&round);
		meet(&round); /* the mark is taken away */
	}
	return unused;
}

/* In a new directory with the lock of agent 17, of which s.hung may be a mark. */
static void prepare(const char *lock)
{
	char path[300];
	FILE *f;

	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/s.lock", directory);
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	fputs(lock, f);
	fclose(f);
	vftr_patience_of(directory, "s");
}

static void clean(void)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/s.hung", directory);
	unlink(path);
	snprintf(path, sizeof(path), "%s/s.lock", directory);
	unlink(path);
	ck_assert_int_eq(rmdir(directory), 0);
}

START_TEST(one_of_many_says_it)
{
	char path[300];
	pthread_t thread[THREADS];
	unsigned rounds_with_more = 0, round = 0;

	prepare("17\n30000\n");
	snprintf(path, sizeof(path), "%s/s.hung", directory);
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&thread[i], NULL, give_up, NULL), 0);
	for (int i = 0; i < ROUNDS; i++) {
		winners = 0;
		meet(&round);
		meet(&round);
		ck_assert_uint_ge(winners, 1);
		rounds_with_more += winners > 1;
		ck_assert(marked());
		ck_assert_int_eq(unlink(path), 0);
		meet(&round);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	ck_assert_uint_eq(rounds_with_more, 0);
	clean();
}
END_TEST

START_TEST(mark_of_an_earlier_agent)
{
	char path[300];

	prepare("17\n30000\n");
	snprintf(path, sizeof(path), "%s/s.hung", directory);
	ck_assert_int_eq(symlink("16", path), 0);
	ck_assert(!marked());
	ck_assert(vftr_patience_over());
	ck_assert(marked());
	ck_assert(!vftr_patience_over());
	clean();
}
END_TEST

/* How long one waits is in the lock, behind the number of the agent. */
START_TEST(time_in_the_lock)
{
	static const struct {
		const char *lock;
		uint64_t ns;
	} locks[] = {{"17\n2500\n", UINT64_C(2500000000)}, {"17\n", 0}, {"17", 0}, {"", 0},
		{"17\n0\n", 0}, {"17\n-5\n", 0}, {"x\n2500\n", 0},
		{"99999999999999999999999999\n", 0}};

	vftr_process.block_most_ns = 0;
	prepare(locks[_i].lock);
	ck_assert_uint_eq(vftr_process.block_most_ns, locks[_i].ns);
	clean();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("patience");
	TCase *t = tcase_create("patience");

	tcase_set_timeout(t, 60);
	tcase_add_test(t, one_of_many_says_it);
	tcase_add_test(t, mark_of_an_earlier_agent);
	tcase_add_loop_test(t, time_in_the_lock, 0, 8);
	suite_add_tcase(s, t);
	return run_suite(s);
}
