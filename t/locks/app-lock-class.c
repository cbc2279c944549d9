/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The main thread waits for two others in five ways, and one of them for it, so long that it
 * counts. Prints by its own clock, in seconds, the window, the time in MPI (with -DWITH_MPI), and
 * what the calls took that wait, in the main thread and in others:
 *
 *	class RANK BEGIN END MPI FIRST OTHERS SLACK_FIRST SLACK_OTHERS
 *
 * The slacks: 20 us for each call, and how long the threads were ready around them and had no CPU,
 * which may be between time stamp and call.
 */
#ifdef WITH_MPI
#include <mpi.h>
#endif
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 4

static pthread_mutex_t first_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t second_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t is_ready = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t both;
static sem_t posted;
static atomic_int step;
static int ready;
static double first_s, first_slack_s, others_s, others_slack_s, mpi_s;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void pass_ms(long ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	while (nanosleep(&t, &t))
		;
}

/* How long this thread was ready and had no CPU. */
static double without_cpu(void)
{
	char text[64] = "";
	unsigned long long ran, waited = 0;
	int fd = open("/proc/thread-self/schedstat", O_RDONLY);

	if (fd >= 0 && read(fd, text, sizeof(text) - 1) > 0 &&
		sscanf(text, "%llu %llu", &ran, &waited) < 2)
		waited = 0;
	if (fd >= 0)
		close(fd);
	return 1e-9 * (double)waited;
}

#define STAMPED(who, call)                                                                         \
	do {                                                                                       \
		const double delay_ = without_cpu(), from_ = now();                                \
		if (call)                                                                          \
			abort();                                                                   \
		who##_s += now() - from_;                                                          \
		who##_slack_s += without_cpu() - delay_ + 20e-6;                                   \
	} while (0)

static void next(void)
{
	atomic_fetch_add(&step, 1);
}

static void until(int n)
{
	const struct timespec t = {0, 50000};

	while (atomic_load(&step) < n)
		nanosleep(&t, NULL);
}

static void *short_life(void *unused)
{
	pass_ms(20);
	return unused;
}

/* Who comes last, mostly the other thread, has another result. */
static int barrier_wait(void)
{
	const int error = pthread_barrier_wait(&both);

	return error == PTHREAD_BARRIER_SERIAL_THREAD ? 0 : error;
}

static void *other_side(void *unused)
{
	for (int n = 0, k = 0; k < ROUNDS; k++) {
		STAMPED(others, pthread_mutex_lock(&first_lock));
		next(); /* it is had: 1 */
		pass_ms(20);
		pthread_mutex_unlock(&first_lock);
		until(n + 2);
		pass_ms(20);
		STAMPED(others, pthread_mutex_lock(&first_lock));
		ready = 1;
		pthread_cond_signal(&is_ready);
		pthread_mutex_unlock(&first_lock);
		until(n + 3);
		pass_ms(20);
		sem_post(&posted);
		until(n + 4);
		pass_ms(20);
		STAMPED(others, barrier_wait());
		until(n + 5); /* the main thread has the second one */
		STAMPED(others, pthread_mutex_lock(&second_lock));
		pthread_mutex_unlock(&second_lock);
		next();
		until(n += 7);
	}
	pass_ms(20);
	return unused;
}

static int cond_wait(void)
{
	int error = 0;

	while (!ready && !error)
		error = pthread_cond_wait(&is_ready, &first_lock);
	return error;
}

static void wait_in_all_ways(int n)
{
	pthread_t thread;

	until(n + 1);
	STAMPED(first, pthread_mutex_lock(&first_lock));
	ready = 0;
	next();
	STAMPED(first, cond_wait());
	pthread_mutex_unlock(&first_lock);
	next();
	STAMPED(first, sem_wait(&posted));
	next();
	STAMPED(first, barrier_wait());
	STAMPED(first, pthread_mutex_lock(&second_lock));
	next();
	pass_ms(20);
	pthread_mutex_unlock(&second_lock);
	until(n + 6);
	if (pthread_create(&thread, NULL, short_life, NULL))
		abort();
	STAMPED(first, pthread_join(thread, NULL));
	next();
}

int main(int argc, char **argv)
{
	double begin, end;
	pthread_t thread;
	int rank = 0;

#ifdef WITH_MPI
	int level;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#else
	(void)argc;
	(void)argv;
#endif
	begin = now();
	pthread_barrier_init(&both, NULL, 2);
	sem_init(&posted, 0, 0);
	if (pthread_create(&thread, NULL, other_side, NULL))
		abort();
	for (int k = 0; k < ROUNDS; k++)
		wait_in_all_ways(7 * k);
	STAMPED(first, pthread_join(thread, NULL));
#ifdef WITH_MPI
	end = now();
	MPI_Barrier(MPI_COMM_WORLD);
	mpi_s += now() - end;
#endif
	end = now();
#ifdef WITH_MPI
	MPI_Finalize();
#endif
	printf("class %d %.9f %.9f %.9f %.9f %.9f %.9f %.9f\n", rank, begin, end, mpi_s, first_s,
		others_s, first_slack_s, others_slack_s);
	return 0;
}
