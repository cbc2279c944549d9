#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description="threads that wait for each other: for which one, and what is it doing?"
. "$(dirname "$0")/../lib/lib.sh"
need jq gcc
need_built "$AGENT" "$LIB/libvftrace.so"
TEST_FLAGS='-g -O1 -fopenmp'

# One thread of four, by its number in the team, has more to do in each step; "turns": another one
# each time. It says which system thread that is, and for how long each has been in boundary().
cat >slow.c <<'EOT'
#define _GNU_SOURCE
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#ifdef WITH_MPI
#include <mpi.h>
#endif
static double spent[4];
static double now(void) __attribute__((no_instrument_function));
static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}
static void rest(long us)
{
	nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
}
static void boundary(int thread)
{
	double from = now();

	rest(80000);
	spent[thread] += now() - from;
}
static void flux(void)
{
	rest(200);
}
int main(int argc, char **argv)
{
	int slow = 2, turns = argc > 1 && !strcmp(argv[1], "turns"), rank = 0;
	long tid = 0;

#ifdef WITH_MPI
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#endif
	for (int step = 0; step < 12; step++) {
#pragma omp parallel num_threads(4)
		{
			int thread = omp_get_thread_num();

			flux();
			if (rank == 0 && thread == (turns ? step % 4 : slow)) {
				boundary(thread);
				tid = syscall(SYS_gettid);
			}
		}
#ifdef WITH_MPI
		MPI_Barrier(MPI_COMM_WORLD);
#endif
	}
#ifdef WITH_MPI
	MPI_Finalize();
#endif
	if (!rank)
		printf("%ld %.9f\n", tid, spent[slow]);
	return 0;
}
EOT
# PROGRAM: the finding, and its evidence, of the last run
finding() {
	jq -r '.findings[] | select(.rule == "openmp_wait") | .text' "$1_all.json"
}
proof() {
	jq -r --arg k "$2" '.findings[] | select(.rule == "openmp_wait") | .evidence[$k]' "$1_all.json"
}
for cc in $(command -v gcc) $(command -v clang); do
	c=${cc##*/}
	TEST_CC=$c
	cc_traced "$BIN/$c" slow.c
	test_expect "$c: the thread is named, its call path, and its time there beyond the mean" "
		traced -q -k profile_table.threads=all -- \$BIN/$c >said
		read -r tid spent <said
		is 'rest<boundary<omp_parallel@slow.c:46' \"\$(proof $c slowest_path | sed 's/<main.*//; s/<[.]omp_outlined.*</</')\"
		is \"\$tid\" \"\$(jq --argjson n \$(proof $c thread) '.each_thread[] | select(.thread == \$n) | .tid' ${c}_all.json)\"
		jq -e --argjson s \$spent --argjson got \$(proof $c t_slowest_s) --argjson more \$(proof $c t_beyond_s) -n \
			'\$got > 0.95 * \$s and \$got < 1.001 * \$s and (\$more - 0.75 * \$got | fabs) < 1e-6'
		finding $c | grep -q 'mostly for thread 0[.][1-3], which works [0-9.]* ms longer than the mean in rest<boundary<[.o]'"
	test_expect "$c: none is named where it is another one each time" "
		rm -f ${c}_all.*
		traced -q -- \$BIN/$c turns >said
		finding $c | grep -q 'on average they work'
		is null \"\$(proof $c thread)\""
done
for mpi in $(mpi_list_short); do
	test_expect "$mpi: the rank, too" "
		mpicc.$mpi -DWITH_MPI -g -O1 -fopenmp -finstrument-functions -o job slow.c $(test_link vftrace-$mpi)
		traced -q -- $(mpirun_of $mpi) -np 2 ./job >said
		finding job | grep -q 'mostly for thread 0[.][1-3], which works [0-9.]* ms longer than the mean in rest<boundary<omp_parallel'
		is '0 rest' \"\$(proof job rank) \$(proof job slowest_path | sed 's/<.*//')\""
	test_expect "$mpi: a rank that waits for this one waits for this thread, in its call path" "
		for frame in false true; do
			traced -q -k openmp.show_idle_time=\$frame -- $(mpirun_of "$mpi") -np 2 ./job >said
			jq -r '[.waits[] | select(.kind == \"barrier\" and .t_s > 0.1) | .causes[] |
				select(.rank == 0)] | max_by(.share) | .path | gsub(\" \"; \"\")' job_all.json >path
			cat path
			grep '^rest<boundary<omp_parallel@slow.c' path
		done"
	test_expect "$mpi: --exact: what the slowest thread of a team does, the rank does" "
		limit $VFTR run -q --trace -o exact-$mpi -- $(mpirun_of "$mpi") -np 2 ./job >said
		read -r tid spent <said
		$VFTR critical-path --json exact-$mpi >exact.json
		jq -r '[.waits[] | select(.kind == \"barrier\") | .causes[] | select(.rank == 0)] |
			max_by(.share) | .path | gsub(\" \"; \"\")' exact.json >path
		cat path
		grep '^rest<boundary<omp_parallel@slow.c.*<main<init' path
		jq -e --argjson s \$spent '[.critical_path[] | select(.rank == 0 and
			(.path | startswith(\"rest<boundary<omp_parallel\")))] | map(.t_s) | add |
			. > 0.7 * \$s and . < 1.01 * \$s' exact.json # a busy machine may keep another thread for longer"
done

done_testing
