/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that wait for each other for known reasons: `locks MODE [THREADS]`. Prints, for each kind
 * of wait, "NAME WAITS SECONDS": how many there were and how long they took at least, by time
 * stamps around the calls.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#define HOLD_NS 20000000
#define MOST	64

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void pass_ns(long ns)
{
	struct timespec t = {ns / 1000000000, ns % 1000000000};

	while (nanosleep(&t, &t))
		;
}

static struct timespec in_ns(clockid_t clock, long ns)
{
	struct timespec t;

	clock_gettime(clock, &t);
	t.tv_nsec += ns;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

static void check(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "%s failed\n", what);
	_exit(1);
}

static void stamped(const char *name, unsigned long waits, double seconds)
{
	printf("%s %lu %.9f\n", name, waits, seconds);
}

static pthread_t threads[MOST];

static void start(unsigned n, void *(*run)(void *))
{
	for (unsigned i = 0; i < n; i++)
		check(!pthread_create(&threads[i], NULL, run, (void *)(size_t)i), "pthread_create");
}

static void join(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		check(!pthread_join(threads[i], NULL), "pthread_join");
}

/* ---- one thread has a mutex for a time, again and again, and the others want it ---- */

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t round_begins;
static atomic_int held, wanting, waiters, rounds = 5;
static double seconds[MOST];

/* All others are in the call, as far as one can see from here. */
static void until_wanted(int n)
{
	while (atomic_load(&wanting) < n)
		sched_yield();
	pass_ns(2000000);
}

static __attribute__((noinline)) void have_table(int others)
{
	check(!pthread_mutex_lock(&table_lock), "lock");
	atomic_store(&held, 1);
	until_wanted(others);
	pass_ns(HOLD_NS);
	atomic_store(&held, 0);
	atomic_store(&wanting, 0);
	check(!pthread_mutex_unlock(&table_lock), "unlock");
	__asm__ volatile("");
}

static __attribute__((noinline)) void want_table(unsigned i)
{
	double from;

	while (!atomic_load(&held))
		sched_yield();
	from = now();
	atomic_fetch_add(&wanting, 1);
	check(!pthread_mutex_lock(&table_lock), "lock");
	seconds[i] += now() - from;
	check(!pthread_mutex_unlock(&table_lock), "unlock");
	atomic_fetch_sub(&waiters, 1);
}

static void *holder(void *arg)
{
	const int others = (int)(size_t)arg;

	for (int k = 0; k < rounds; k++) {
		atomic_store(&waiters, others);
		have_table(others);
		while (atomic_load(&waiters))
			sched_yield();
		pthread_barrier_wait(&round_begins);
	}
	return NULL;
}

static void *waiter(void *arg)
{
	for (int k = 0; k < rounds; k++) {
		want_table((unsigned)(size_t)arg);
		pthread_barrier_wait(&round_begins);
	}
	return NULL;
}

static void mutex(unsigned n)
{
	double sum = 0;

	pthread_barrier_init(&round_begins, NULL, n);
	for (unsigned i = 1; i < n; i++)
		check(!pthread_create(&threads[i], NULL, waiter, (void *)(size_t)i), "create");
	holder((void *)(size_t)(n - 1));
	for (unsigned i = 1; i < n; i++) {
		pthread_join(threads[i], NULL);
		sum += seconds[i];
	}
	stamped("table_lock", (unsigned long)rounds * (n - 1), sum);
}

/* Each thread has the mutex for a time, at the same place. */
static __attribute__((noinline)) void have_turn(void)
{
	check(!pthread_mutex_lock(&table_lock), "lock");
	pass_ns(1000000);
	check(!pthread_mutex_unlock(&table_lock), "unlock");
	__asm__ volatile("");
}

static void *takes_turns(void *unused)
{
	for (int k = 0; k < 4; k++)
		have_turn();
	return unused;
}

/* ---- nobody waits ---- */

static void had_twice(int robust, int protocol)
{
	pthread_mutexattr_t a;
	pthread_mutex_t m;

	pthread_mutexattr_init(&a);
	pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutexattr_setrobust(&a, robust);
	pthread_mutexattr_setprotocol(&a, protocol);
	pthread_mutex_init(&m, &a);
	check(!pthread_mutex_lock(&m) && !pthread_mutex_lock(&m), "recursive");
	check(!pthread_mutex_unlock(&m) && !pthread_mutex_unlock(&m), "recursive");
}

static void free_locks(void)
{
	static pthread_spinlock_t spin;
	static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
	static mtx_t plain;
	sem_t sem;
	pthread_t t;
	struct timespec later = in_ns(CLOCK_REALTIME, 1000000000);

	pthread_spin_init(&spin, 0);
	mtx_init(&plain, mtx_plain);
	sem_init(&sem, 0, 0);
	for (int i = 0; i < 1000; i++) {
		check(!pthread_mutex_lock(&table_lock) && !pthread_mutex_unlock(&table_lock), "m");
		check(!pthread_mutex_timedlock(&table_lock, &later), "timedlock");
		check(!pthread_mutex_unlock(&table_lock), "unlock");
		check(!pthread_rwlock_rdlock(&rw) && !pthread_rwlock_unlock(&rw), "rd");
		check(!pthread_rwlock_wrlock(&rw) && !pthread_rwlock_unlock(&rw), "wr");
		check(!pthread_spin_lock(&spin) && !pthread_spin_unlock(&spin), "spin");
		check(mtx_lock(&plain) == thrd_success && mtx_unlock(&plain) == thrd_success,
			"mtx");
		check(!sem_post(&sem) && !sem_wait(&sem), "sem");
	}
	check(!pthread_create(&t, NULL, (void *(*)(void *))(void *)now, NULL), "create");
	while (pthread_tryjoin_np(t, NULL) == EBUSY)
		sched_yield();
	had_twice(PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_INHERIT);
	had_twice(PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_NONE);
	stamped("none", 0, 0);
}

/* ---- the others, one wait each ---- */

static struct shared {
	pthread_mutex_t m;
	pthread_cond_t c;
	pthread_rwlock_t rw;
	pthread_spinlock_t spin;
	pthread_barrier_t b;
	sem_t sem;
	mtx_t mtx;
	cnd_t cnd;
	int ready, begun, go;
} * s;

static __attribute__((noinline)) void signal_it(void)
{
	pthread_mutex_lock(&s->m);
	s->ready = 1;
	pthread_cond_signal(&s->c);
	pthread_mutex_unlock(&s->m);
	__asm__ volatile("");
}

static __attribute__((noinline)) void post_it(void)
{
	sem_post(&s->sem);
	__asm__ volatile("");
}

static __attribute__((noinline)) void come_last(void)
{
	pthread_barrier_wait(&s->b);
	__asm__ volatile("");
}

static void sync_with(int step)
{
	atomic_int *mine = (atomic_int *)&s->begun, *other = (atomic_int *)&s->go;

	(void)mine;
	while (atomic_load(other) < step)
		sched_yield();
}

static void allow(int step)
{
	atomic_store((atomic_int *)&s->go, step);
}

static __attribute__((noinline)) void have_rw(void)
{
	pthread_rwlock_wrlock(&s->rw);
	allow(3);
	pass_ns(HOLD_NS);
	pthread_rwlock_unlock(&s->rw);
	__asm__ volatile("");
}

static __attribute__((noinline)) void have_spin(void)
{
	pthread_spin_lock(&s->spin);
	allow(5);
	pass_ns(HOLD_NS);
	pthread_spin_unlock(&s->spin);
	__asm__ volatile("");
}

static __attribute__((noinline)) void have_mtx(void)
{
	mtx_lock(&s->mtx);
	allow(6);
	pass_ns(HOLD_NS);
	mtx_unlock(&s->mtx);
	__asm__ volatile("");
}

static void *other_side(void *unused)
{
	sync_with(1);
	pass_ns(HOLD_NS);
	signal_it();
	sync_with(2);
	pass_ns(HOLD_NS);
	post_it();
	have_rw();
	sync_with(4);
	pass_ns(HOLD_NS);
	come_last();
	have_spin();
	have_mtx();
	sync_with(7);
	pass_ns(HOLD_NS);
	mtx_lock(&s->mtx);
	s->ready = 2;
	cnd_broadcast(&s->cnd);
	mtx_unlock(&s->mtx);
	sync_with(8);
	pass_ns(HOLD_NS);
	return unused;
}

#define STAMP(name, ...)                                                                           \
	do {                                                                                       \
		const double from_ = now();                                                        \
		__VA_ARGS__;                                                                       \
		stamped(name, 1, now() - from_);                                                   \
	} while (0)

static void kinds(void)
{
	s = calloc(1, sizeof(*s));
	pthread_mutex_init(&s->m, NULL);
	pthread_cond_init(&s->c, NULL);
	pthread_rwlock_init(&s->rw, NULL);
	pthread_spin_init(&s->spin, 0);
	pthread_barrier_init(&s->b, NULL, 2);
	sem_init(&s->sem, 0, 0);
	mtx_init(&s->mtx, mtx_timed);
	cnd_init(&s->cnd);
	check(!pthread_create(&threads[0], NULL, other_side, NULL), "create");
	pthread_mutex_lock(&s->m);
	allow(1);
	STAMP("condition", while (!s->ready) pthread_cond_wait(&s->c, &s->m));
	pthread_mutex_unlock(&s->m);
	allow(2);
	STAMP("semaphore", check(!sem_wait(&s->sem), "sem_wait"));
	sync_with(3);
	STAMP("rwlock", pthread_rwlock_rdlock(&s->rw));
	pthread_rwlock_unlock(&s->rw);
	allow(4);
	STAMP("barrier", pthread_barrier_wait(&s->b));
	sync_with(5);
	STAMP("spin", pthread_spin_lock(&s->spin));
	pthread_spin_unlock(&s->spin);
	sync_with(6);
	STAMP("mutex", mtx_lock(&s->mtx));
	allow(7);
	STAMP("condition", while (s->ready < 2) cnd_wait(&s->cnd, &s->mtx));
	mtx_unlock(&s->mtx);
	allow(8);
	STAMP("thread", join(1));
}

/* ---- waits that end otherwise ---- */

static void unlock_it(void *m)
{
	pthread_mutex_unlock(m);
}

static void *waits_for_ever(void *unused)
{
	pthread_mutex_lock(&s->m);
	pthread_cleanup_push(unlock_it, &s->m);
	allow(1);
	for (;;)
		pthread_cond_wait(&s->c, &s->m);
	pthread_cleanup_pop(0);
	return unused;
}

static void *posts_never(void *unused)
{
	allow(2);
	sem_wait(&s->sem);
	return unused;
}

static void cancelled(void)
{
	void *value;

	kinds();
	allow(0);
	start(1, waits_for_ever);
	sync_with(1);
	while (pthread_mutex_trylock(&s->m)) /* until it waits, which gives the mutex back */
		sched_yield();
	pthread_mutex_unlock(&s->m);
	pthread_cancel(threads[0]);
	pthread_join(threads[0], &value);
	check(value == PTHREAD_CANCELED, "cancel in pthread_cond_wait");
	check(!pthread_mutex_lock(&s->m), "the mutex after a cancelled wait");
	pthread_mutex_unlock(&s->m);
	start(1, posts_never);
	sync_with(2);
	pass_ns(HOLD_NS);
	pthread_cancel(threads[0]);
	pthread_join(threads[0], &value);
	check(value == PTHREAD_CANCELED, "cancel in sem_wait");
}

static void timeouts(void)
{
	struct timespec t = in_ns(CLOCK_REALTIME, HOLD_NS);
	static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
	sem_t sem;

	sem_init(&sem, 0, 0);
	pthread_mutex_lock(&m);
	printf("cond_timedwait %d\n", pthread_cond_timedwait(&c, &m, &t) == ETIMEDOUT);
	t = in_ns(CLOCK_REALTIME, HOLD_NS);
	printf("mutex_timedlock %d\n", pthread_mutex_timedlock(&m, &t) == ETIMEDOUT);
	t = in_ns(CLOCK_REALTIME, HOLD_NS);
	errno = 0;
	printf("sem_timedwait %d\n", sem_timedwait(&sem, &t) == -1 && errno == ETIMEDOUT);
	pthread_mutex_unlock(&m);
}

/* One wait for each of more condition variables than have names. */
static pthread_cond_t conditions[5000];

static void many(void)
{
	const struct timespec past = {0, 0};

	pthread_mutex_lock(&table_lock);
	for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++)
		check(pthread_cond_timedwait(&conditions[i], &table_lock, &past) == ETIMEDOUT,
			"pthread_cond_timedwait");
	pthread_mutex_unlock(&table_lock);
}

/* A thread waits for ever for a mutex that another one has: to be killed. */
static void *waits_for_table(void *unused)
{
	want_table(1);
	return unused;
}

static void hang(void)
{
	pthread_mutex_lock(&table_lock);
	atomic_store(&held, 1);
	start(1, waits_for_table);
	until_wanted(1);
	pass_ns(HOLD_NS);
	puts("hangs");
	fflush(stdout);
	pause();
}

static void in_child(unsigned n)
{
	pid_t pid;

	mutex(n);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		memset(seconds, 0, sizeof(seconds));
		mutex(n);
		exit(0);
	}
	waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	const unsigned n = argc > 2 ? (unsigned)atoi(argv[2]) : 2;

	if (!strcmp(mode, "mutex") && n > 1 && n <= MOST)
		mutex(n);
	else if (!strcmp(mode, "turns") && n <= MOST) {
		start(n, takes_turns);
		join(n);
	} else if (!strcmp(mode, "free"))
		free_locks();
	else if (!strcmp(mode, "kinds"))
		kinds();
	else if (!strcmp(mode, "cancelled"))
		cancelled();
	else if (!strcmp(mode, "timeouts"))
		timeouts();
	else if (!strcmp(mode, "many"))
		many();
	else if (!strcmp(mode, "hang"))
		hang();
	else if (!strcmp(mode, "fork"))
		in_child(n);
	else
		return 2;
	return 0;
}
