/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For tests of `vftr where': app-where-cycle DIR MODE, which ends when DIR/end is there, whoever
 * waits then.
 *
 *	pair	two threads, each has a mutex and waits for that of the other
 *	three	three threads, each has a mutex or a read-write lock and waits for that of the next
 *	timed	as pair, but one waits for an hour and not for ever
 *	deep	the same, so many calls down that few of them are shown
 *	chain	three threads, each waits for the mutex of the next; the last one has all it wants
 *	regions	OpenMP: as pair, with two critical regions
 *	again	OpenMP: a thread in a critical region waits for that region
 *	set	OpenMP: one thread has got a lock by omp_set_lock(), another one waits in that
 *
 * With -DWITH_MPI rank 1 does so, and the others wait for it in MPI_Barrier.
 */
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#ifdef WITH_MPI
#include <mpi.h>
#endif

#define APART	__attribute__((noinline, noipa))
#define THREADS 3
#define CALLS	1500 /* of `deep': more than a path of vftr has frames */

static const char *dir;
static pthread_barrier_t all_have;
static omp_lock_t set_lock;
pthread_mutex_t first_lock = PTHREAD_MUTEX_INITIALIZER, second_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t third_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t shared_lock = PTHREAD_RWLOCK_INITIALIZER;

static APART void keep_until_end(void)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/end", dir);
	while (access(path, F_OK) && !access(dir, F_OK))
		usleep(50000);
}

static APART void want(pthread_mutex_t *lock)
{
	pthread_mutex_lock(lock);
}

static APART void want_for_an_hour(pthread_mutex_t *lock)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += 3600;
	pthread_mutex_timedlock(lock, &end);
}

static APART void go_down(int calls);

static APART void further_down(int calls)
{
	go_down(calls);
	__asm__ volatile(""); /* no tail call */
}

static APART void go_down(int calls)
{
	if (calls > 0)
		further_down(calls - 2);
	else
		want_for_an_hour(&first_lock);
	__asm__ volatile("");
}

static APART void want_shared(void)
{
	pthread_rwlock_rdlock(&shared_lock);
}

static APART void *first(void *arg)
{
	pthread_mutex_lock(&first_lock);
	pthread_barrier_wait(&all_have);
	want(&second_lock);
	return arg;
}

static APART void *second(void *arg)
{
	const char *mode = arg;

	pthread_mutex_lock(&second_lock);
	pthread_barrier_wait(&all_have);
	if (!strcmp(mode, "three"))
		want_shared();
	else if (!strcmp(mode, "timed"))
		want_for_an_hour(&first_lock);
	else if (!strcmp(mode, "deep"))
		go_down(CALLS);
	else
		want(!strcmp(mode, "chain") ? &third_lock : &first_lock);
	return NULL;
}

static APART void *third(void *arg)
{
	const char *mode = arg;

	pthread_rwlock_wrlock(&shared_lock);
	pthread_mutex_lock(&third_lock);
	pthread_barrier_wait(&all_have);
	if (!strcmp(mode, "three"))
		want(&first_lock);
	else
		keep_until_end();
	return NULL;
}

static APART void take_one(void)
{
#pragma omp critical(one)
	{
		pthread_barrier_wait(&all_have);
#pragma omp critical(two)
		keep_until_end();
	}
}

static APART void take_two(void)
{
#pragma omp critical(two)
	{
		pthread_barrier_wait(&all_have);
#pragma omp critical(one)
		keep_until_end();
	}
}

static APART void take_again(void)
{
#pragma omp critical(one)
	keep_until_end();
}

static APART void take_twice(void)
{
#pragma omp critical(one)
	take_again();
}

static APART void have_set(void)
{
	omp_set_lock(&set_lock);
	pthread_barrier_wait(&all_have);
	keep_until_end();
	omp_unset_lock(&set_lock);
}

static APART void want_set(void)
{
	pthread_barrier_wait(&all_have);
	omp_set_lock(&set_lock);
	omp_unset_lock(&set_lock);
}

static APART void *team(void *arg)
{
	const char *mode = arg;

	omp_init_lock(&set_lock);
#pragma omp parallel num_threads(2)
	{
		if (!strcmp(mode, "regions"))
			omp_get_thread_num() ? take_two() : take_one();
		else if (!strcmp(mode, "set"))
			omp_get_thread_num() ? have_set() : want_set();
		else if (!omp_get_thread_num())
			take_twice();
	}
	return arg;
}

static APART void begin(char *mode)
{
	void *(*const mutexes[THREADS])(void *) = {first, second, third};
	const int openmp =
		!strcmp(mode, "regions") || !strcmp(mode, "again") || !strcmp(mode, "set");
	const int n = openmp ? 1 : !strcmp(mode, "three") || !strcmp(mode, "chain") ? 3 : 2;
	pthread_t thread;

	pthread_barrier_init(&all_have, NULL, (unsigned)(openmp ? 2 : n));
	for (int i = 0; i < n; i++)
		if (pthread_create(&thread, NULL, openmp ? team : mutexes[i], mode))
			exit(1);
}

int main(int argc, char **argv)
{
	int rank = 1;

	if (argc < 3)
		return 2;
	dir = argv[1];
#ifdef WITH_MPI
	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &(int){0});
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#endif
	if (rank == 1) {
		begin(argv[2]);
		keep_until_end();
	}
#ifdef WITH_MPI
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
#endif
	fflush(stdout);
	_exit(0);
}
