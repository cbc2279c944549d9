/* SPDX-License-Identifier: BSD-3-Clause */
/*
 *	app-mpi-growth MILLIONS
 *
 * One process sends itself MILLIONS messages; then it has 10 000 requests open at
 * once, and makes and frees 20 000 communicators, after some of each to begin with.
 * Prints how many messages there were, and by how many KiB it and its parent, the agent, have grown
 *meanwhile. Before each part the agent is stopped for a while, as a loaded machine may do at any
 *time: what it needs for a ring that is full then does not count as growth.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#define OPEN 10000

static long resident_kib(int pid)
{
	char path[64], line[256];
	long kib = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmRSS: %ld", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib;
}

static long sent;

static void messages(long n)
{
	char out[8] = "", in[8];
	MPI_Request r[2];

	sent += n;
	for (long i = 0; i < n / 2; i++) {
		MPI_Sendrecv(out, 8, MPI_CHAR, 0, 1, in, 8, MPI_CHAR, 0, 1, MPI_COMM_SELF,
			MPI_STATUS_IGNORE);
		MPI_Irecv(in, 8, MPI_CHAR, 0, 2, MPI_COMM_SELF, &r[0]);
		MPI_Isend(out, 8, MPI_CHAR, 0, 2, MPI_COMM_SELF, &r[1]);
		MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	}
}

static void communicators(int n)
{
	MPI_Comm c;
	int one = 1, sum;

	for (int i = 0; i < n; i++) {
		MPI_Comm_dup(MPI_COMM_SELF, &c);
		MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, c);
		MPI_Comm_free(&c);
	}
}

static void open_requests(void)
{
	static MPI_Request r[OPEN];
	static char in[OPEN], out;

	sent += OPEN;
	for (int i = 0; i < OPEN; i++)
		MPI_Irecv(&in[i], 1, MPI_CHAR, 0, i, MPI_COMM_SELF, &r[i]);
	for (int i = 0; i < OPEN; i++)
		MPI_Send(&out, 1, MPI_CHAR, 0, i, MPI_COMM_SELF);
	MPI_Waitall(OPEN, r, MPI_STATUSES_IGNORE);
}

static volatile sig_atomic_t stopped;

static void go_on(int signal)
{
	(void)signal;
	kill(getppid(), SIGCONT);
	stopped = 0;
}

/* Stops the agent until the ring has been full for long. */
static void stop_agent(void)
{
	struct itimerval soon = {.it_value.tv_usec = 200000};

	signal(SIGALRM, go_on);
	stopped = 1;
	kill(getppid(), SIGSTOP);
	setitimer(ITIMER_REAL, &soon, NULL);
}

static long own, agent;

static void from_here(void)
{
	usleep(300000); /* the agent reads what is left */
	own = resident_kib(getpid());
	agent = resident_kib(getppid());
}

static void report(const char *what)
{
	usleep(300000);
	printf("%s %ld %ld\n", what, resident_kib(getpid()) - own, resident_kib(getppid()) - agent);
}

int main(int argc, char **argv)
{
	long millions = argc > 1 ? atol(argv[1]) : 10;

	MPI_Init(&argc, &argv);
	for (int i = 0; i < 2; i++) {
		stop_agent();
		while (stopped)
			messages(1000);
		messages(500000);
		stop_agent();
		while (stopped)
			communicators(100);
		communicators(1000);
		stop_agent();
		while (stopped)
			open_requests();
		open_requests();
	}
	from_here();
	messages(millions * 1000000);
	report("messages");
	from_here();
	for (int i = 0; i < 5; i++)
		open_requests();
	report("requests");
	from_here();
	communicators(20000);
	report("communicators");
	printf("sent %ld\n", sent);
	MPI_Finalize();
	return 0;
}
