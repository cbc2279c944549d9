/* SPDX-License-Identifier: BSD-3-Clause */
/* What calls for locks return, in cases that one has to look up: it prints the same, traced or not.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define SAY(call)                                                                                  \
	do {                                                                                       \
		const int r_ = (call);                                                             \
		printf("%s: %d\n", #call, r_);                                                     \
	} while (0)
#define SAY_ERRNO(call)                                                                            \
	do {                                                                                       \
		errno = 0;                                                                         \
		const int r_ = (call);                                                             \
		printf("%s: %d %d\n", #call, r_, errno);                                           \
	} while (0)

static pthread_mutex_t *m;
static pthread_mutexattr_t attr;

static struct timespec soon(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	t.tv_nsec += 10000000;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

static void *lock_and_end(void *mutex)
{
	pthread_mutex_lock(mutex);
	return NULL;
}

static void *tries(void *mutex)
{
	struct timespec t = soon(CLOCK_REALTIME), u = soon(CLOCK_MONOTONIC);

	SAY(pthread_mutex_trylock(mutex));
	SAY(pthread_mutex_timedlock(mutex, &t));
	SAY(pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &u));
	SAY(pthread_mutex_unlock(mutex));
	return NULL;
}

static void in_thread(void *(*run)(void *), void *arg)
{
	pthread_t t;

	pthread_create(&t, NULL, run, arg);
	SAY(pthread_join(t, NULL));
}

static void make(int type, int robust, int protocol)
{
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, type);
	pthread_mutexattr_setrobust(&attr, robust);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	SAY(pthread_mutexattr_setprotocol(&attr, protocol));
	SAY(pthread_mutex_init(m, &attr));
}

static void mutexes(int protocol)
{
	make(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED, protocol);
	SAY(pthread_mutex_unlock(m));
	SAY(pthread_mutex_lock(m));
	SAY(pthread_mutex_lock(m));
	in_thread(tries, m);
	SAY(pthread_mutex_unlock(m));
	SAY(pthread_mutex_unlock(m));
	make(PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_STALLED, protocol);
	SAY(pthread_mutex_lock(m));
	SAY(pthread_mutex_lock(m));
	SAY(pthread_mutex_unlock(m));
	in_thread(tries, m);
	SAY(pthread_mutex_unlock(m));
	SAY(pthread_mutex_unlock(m));
	make(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST, protocol);
	in_thread(lock_and_end, m);
	SAY(pthread_mutex_lock(m));
	SAY(pthread_mutex_consistent(m));
	SAY(pthread_mutex_unlock(m));
	in_thread(lock_and_end, m);
	SAY(pthread_mutex_lock(m));
	SAY(pthread_mutex_unlock(m));
	SAY(pthread_mutex_lock(m));
	SAY(pthread_mutex_destroy(m));
}

/* A process that dies with the lock, while this one waits for it. */
static void robust_process(void)
{
	pid_t pid;

	make(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_NONE);
	fflush(stdout);
	pthread_mutex_lock(m);
	pid = fork();
	if (!pid) {
		alarm(20);
		_exit(pthread_mutex_lock(m) == 0 && pthread_mutex_unlock(m) == 0 ? 7 : 8);
	}
	usleep(20000);
	SAY(pthread_mutex_unlock(m));
	waitpid(pid, &(int){0}, 0);
	pid = fork();
	if (!pid) {
		pthread_mutex_lock(m);
		usleep(50000);
		kill(getpid(), SIGKILL);
	}
	usleep(20000);
	SAY(pthread_mutex_lock(m) == EOWNERDEAD || pthread_mutex_unlock(m) == 0);
	waitpid(pid, &(int){0}, 0);
}

static void protected(void)
{
	pthread_mutexattr_init(&attr);
	SAY(pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_PROTECT));
	SAY(pthread_mutexattr_setprioceiling(&attr, 1));
	SAY(pthread_mutex_init(m, &attr));
	SAY(pthread_mutex_lock(m));
	SAY(pthread_mutex_unlock(m));
}

static void adaptive(void)
{
	pthread_mutex_t a = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
	struct timespec past = {0, 0}, wrong = {0, -1}, t = soon(CLOCK_REALTIME);

	SAY(pthread_mutex_timedlock(&a, &wrong));
	SAY(pthread_mutex_timedlock(&a, &wrong));
	SAY(pthread_mutex_timedlock(&a, &past));
	SAY(pthread_mutex_timedlock(&a, &t));
	SAY(pthread_mutex_clocklock(&a, CLOCK_PROCESS_CPUTIME_ID, &t));
	SAY(pthread_mutex_unlock(&a));
	SAY(pthread_mutex_clocklock(&a, CLOCK_PROCESS_CPUTIME_ID, &t));
	SAY(pthread_mutex_trylock(&a));
}

static void rwlocks(void)
{
	pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
	struct timespec t = soon(CLOCK_REALTIME), past = {0, 0}, wrong = {0, -1};

	SAY(pthread_rwlock_timedrdlock(&rw, &wrong)); /* is free */
	SAY(pthread_rwlock_clockrdlock(&rw, CLOCK_MONOTONIC, &wrong));
	SAY(pthread_rwlock_timedwrlock(&rw, &wrong));
	SAY(pthread_rwlock_clockwrlock(&rw, CLOCK_MONOTONIC, &wrong));
	wrong.tv_nsec = 1000000000;
	SAY(pthread_rwlock_timedwrlock(&rw, &wrong));
	SAY(pthread_rwlock_rdlock(&rw));
	SAY(pthread_rwlock_rdlock(&rw));
	SAY(pthread_rwlock_timedwrlock(&rw, &t));
	SAY(pthread_rwlock_timedwrlock(&rw, &wrong));
	SAY(pthread_rwlock_trywrlock(&rw));
	SAY(pthread_rwlock_unlock(&rw));
	SAY(pthread_rwlock_unlock(&rw));
	SAY(pthread_rwlock_wrlock(&rw));
	SAY(pthread_rwlock_wrlock(&rw));
	SAY(pthread_rwlock_rdlock(&rw));
	SAY(pthread_rwlock_timedrdlock(&rw, &past));
	SAY(pthread_rwlock_clockrdlock(&rw, CLOCK_PROCESS_CPUTIME_ID, &t));
	SAY(pthread_rwlock_unlock(&rw));
}

static volatile sig_atomic_t came;
static sem_t sem;

static void handler(int sig)
{
	came = sig;
}

static void posts(int sig)
{
	(void)sig;
	sem_post(&sem);
}

static void semaphores(void)
{
	struct sigaction sa = {.sa_handler = handler};
	struct timespec t = soon(CLOCK_REALTIME), wrong = {0, -1};

	sem_init(&sem, 0, 1);
	SAY_ERRNO(sem_timedwait(&sem, &wrong));
	SAY_ERRNO(sem_trywait(&sem));
	SAY_ERRNO(sem_timedwait(&sem, &wrong));
	SAY_ERRNO(sem_timedwait(&sem, &t));
	SAY_ERRNO(sem_clockwait(&sem, CLOCK_PROCESS_CPUTIME_ID, &t));
	sigaction(SIGALRM, &sa, NULL);
	ualarm(10000, 0);
	SAY_ERRNO(sem_wait(&sem));
	printf("handler %d\n", came);
	sa.sa_handler = posts;
	sa.sa_flags = SA_RESTART;
	sigaction(SIGALRM, &sa, NULL);
	ualarm(10000, 0);
	SAY_ERRNO(sem_wait(&sem));
}

static void *waits(void *unused)
{
	sem_wait(&sem);
	return unused;
}

static void *cancels_itself(void *unused)
{
	pthread_cancel(pthread_self());
	sem_post(&sem);
	sem_wait(&sem); /* free, and a point of cancellation all the same */
	return unused;
}

static void joins(void)
{
	struct timespec t = soon(CLOCK_REALTIME);
	pthread_t thread;
	void *value = NULL;

	SAY(pthread_join(pthread_self(), NULL));
	pthread_create(&thread, NULL, waits, (void *)42);
	SAY(pthread_timedjoin_np(thread, &value, &t));
	sem_post(&sem);
	SAY(pthread_join(thread, &value));
	printf("%ld\n", (long)value);
	pthread_create(&thread, NULL, cancels_itself, NULL);
	SAY(pthread_join(thread, &value));
	printf("cancelled %d\n", value == PTHREAD_CANCELED);
	pthread_create(&thread, NULL, waits, (void *)43);
	SAY(pthread_detach(thread));
	SAY(pthread_join(thread, &value));
	sem_post(&sem);
}

static int returns(void *n)
{
	return *(int *)n;
}

static void c11(void)
{
	struct timespec t = soon(CLOCK_REALTIME);
	thrd_t thread;
	mtx_t x;
	cnd_t c;
	int n = 5;

	SAY(mtx_init(&x, mtx_timed));
	SAY(mtx_lock(&x));
	SAY(mtx_trylock(&x) == thrd_busy);
	SAY(mtx_timedlock(&x, &t) == thrd_timedout);
	SAY(cnd_init(&c));
	t = soon(CLOCK_REALTIME);
	SAY(cnd_timedwait(&c, &x, &t) == thrd_timedout);
	SAY(cnd_signal(&c));
	SAY(mtx_unlock(&x));
	thrd_create(&thread, returns, &n);
	SAY(thrd_join(thread, &n));
	printf("%d\n", n);
}

static void conditions(void)
{
	pthread_mutex_t e = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
	pthread_cond_t c = PTHREAD_COND_INITIALIZER;
	struct timespec past = {0, 0}, wrong = {0, -1};

	SAY(pthread_cond_wait(&c, &e)); /* is not its owner */
	SAY(pthread_mutex_lock(&e));
	SAY(pthread_cond_timedwait(&c, &e, &past));
	SAY(pthread_cond_timedwait(&c, &e, &wrong));
	SAY(pthread_cond_clockwait(&c, &e, CLOCK_MONOTONIC, &past));
	SAY(pthread_cond_broadcast(&c));
	SAY(pthread_mutex_unlock(&e));
	SAY(pthread_cond_destroy(&c));
}

int main(void)
{
	m = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	mutexes(PTHREAD_PRIO_NONE);
	mutexes(PTHREAD_PRIO_INHERIT);
	protected();
	robust_process();
	adaptive();
	rwlocks();
	semaphores();
	joins();
	c11();
	conditions();
	return 0;
}
