/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tracer comes and goes with a plug-in of an MPI program, the file that the
 * argument names, while a thread that it has recorded still runs.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MANY = 800 };

static pthread_barrier_t together;
static int (*wait_all)(int, MPI_Request *, MPI_Status *);

static void *work(void *unused)
{
	MPI_Request r[MANY];
	int x[MANY], one = 1;

	for (int i = 0; i < MANY; i++)
		MPI_Irecv(&x[i], 1, MPI_INT, 0, 1, MPI_COMM_SELF, &r[i]);
	for (int i = 0; i < MANY; i++)
		MPI_Send(&one, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
	wait_all(MANY, r, MPI_STATUSES_IGNORE);
	pthread_barrier_wait(&together);
	pthread_barrier_wait(&together);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	void *tracer;
	int level;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	tracer = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	if (!tracer)
		return 1;
	*(void **)&wait_all = dlsym(tracer, "MPI_Waitall");
	pthread_barrier_init(&together, NULL, 2);
	pthread_create(&thread, NULL, work, NULL);
	pthread_barrier_wait(&together);
	dlclose(tracer);
	pthread_barrier_wait(&together);
	pthread_join(thread, NULL);
	if (!fork())
		_exit(0);
	wait(NULL);
	MPI_Finalize();
	puts("still here");
	return 0;
}
