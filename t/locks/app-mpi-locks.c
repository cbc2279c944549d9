/* SPDX-License-Identifier: BSD-3-Clause */
/* In each rank a thread waits three times for a mutex that another one has. */
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

#define ROUNDS 3

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int held, had;

/* Until it is locked and somebody waits for it. */
static __attribute__((noinline)) void have_table(int round)
{
	pthread_mutex_lock(&table_lock);
	atomic_store(&held, round);
	while (__atomic_load_n(&table_lock.__data.__lock, __ATOMIC_RELAXED) != 2)
		sched_yield();
	pthread_mutex_unlock(&table_lock);
	__asm__ volatile("");
}

static __attribute__((noinline)) void want_table(void)
{
	pthread_mutex_lock(&table_lock);
	pthread_mutex_unlock(&table_lock);
	__asm__ volatile("");
}

static void *waiter(void *unused)
{
	for (int round = 1; round <= ROUNDS; round++) {
		while (atomic_load(&held) < round)
			sched_yield();
		want_table();
		atomic_store(&had, round);
	}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	int level;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
	if (pthread_create(&thread, NULL, waiter, NULL))
		MPI_Abort(MPI_COMM_WORLD, 1);
	for (int round = 1; round <= ROUNDS; round++) {
		have_table(round);
		while (atomic_load(&had) < round)
			sched_yield();
	}
	pthread_join(thread, NULL);
	MPI_Finalize();
	return 0;
}
