/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For tests of how soon a view names a rank that has become slow: app-mpi-straggler DIR. All ranks
 * work for 5 ms and meet, until DIR/end is there. While DIR/slow.RANK is there, that rank works for
 * 40 ms more; when it begins to, it writes the time, seconds since 1970, to DIR/since.RANK.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define APART	 __attribute__((noinline, noipa))
#define UNTRACED __attribute__((no_instrument_function))

static const char *dir;
static int rank;

static UNTRACED int there_is(const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return access(dir, F_OK) || !access(path, F_OK);
}

static UNTRACED void say_since(void)
{
	char path[4096], soon[4096];
	struct timespec t;
	FILE *f;

	snprintf(path, sizeof(path), "%s/since.%d", dir, rank);
	snprintf(soon, sizeof(soon), "%s/soon.%d", dir, rank);
	f = fopen(soon, "w");
	clock_gettime(CLOCK_REALTIME, &t);
	if (!f || fprintf(f, "%lld.%09ld\n", (long long)t.tv_sec, t.tv_nsec) < 0 || fclose(f) ||
		rename(soon, path))
		exit(1);
}

static APART void work(int us)
{
	usleep(us);
}

static APART void late_work(void)
{
	work(40000);
}

static APART void step(void)
{
	static int is_slow;
	char name[32];

	snprintf(name, sizeof(name), "slow.%d", rank);
	work(5000);
	if (!there_is(name)) {
		is_slow = 0;
		return;
	}
	if (!is_slow)
		say_since();
	is_slow = 1;
	late_work();
}

int main(int argc, char **argv)
{
	int ends, end = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	dir = argv[1];
	while (!end) {
		step();
		ends = there_is("end");
		MPI_Allreduce(&ends, &end, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
