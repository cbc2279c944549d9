#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description="several copies of the library in one process: the first one alone records"
. "$(dirname "$0")/../lib/lib.sh"
need jq gcc
need_built "$AGENT" "$VFTR" "$LIB/libvftrace.so"
TEST_FLAGS='-g -O1 -fopenmp'

# Threads, jumps and a child process, which the library sees by standing in for others' functions.
cat >all.c <<'EOT'
#include <pthread.h>
#include <setjmp.h>
#include <sys/wait.h>
#include <unistd.h>
static jmp_buf back;
static void leaf(void) {}
static void deep(int n) { leaf(); if (n) deep(n - 1); else longjmp(back, 1); }
static void *run(void *arg) { for (int i = 0; i < 10; i++) leaf(); return arg; }
int main(void)
{
	pthread_t t[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, run, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	if (!setjmp(back))
		deep(4);
#pragma omp parallel num_threads(3)
	run(NULL);
	if (!fork()) {
		run(NULL);
		_exit(0);
	}
	wait(NULL);
	return 0;
}
EOT
# NAME: what is known of its run, times left out
known_of() {
	jq -S '[.stacks[] | {path, calls}], .warnings, .processes, .unranked' "$1_all.json"
}
for cc in $(command -v gcc) $(command -v clang); do
	c=${cc##*/}
	TEST_CC=$c
	cc_traced "$BIN/$c" all.c
	test_expect "$c: the program is as it should be" "
		traced -q -- \$BIN/$c
		known_of $c >alone
		is 75 \"\$(jq '[.stacks[] | select(.path | startswith(\"leaf<\")) | .calls] | add' ${c}_all.json)\"
		is 3 \"\$(jq '[.stacks[] | select(.path | startswith(\"omp_parallel@\")) | .calls] | add' ${c}_all.json)\"
		is '[]' \"\$(jq -c .warnings ${c}_all.json)\""
	test_expect "$c: linked and preloaded: all is as with one copy" "
		rm -f ${c}_all.*
		traced -q --preload -- \$BIN/$c
		known_of $c >both
		diff alone both"
	test_expect "$c: an archive in a program that exports it, and preloaded" "
		$c \$TEST_FLAGS -rdynamic -finstrument-functions -o \$BIN/$c all.c -pthread \
			$(test_link :libvftrace.a) -ldl
		rm -f ${c}_all.*
		traced -q --preload -- \$BIN/$c
		known_of $c >both
		diff alone both"
done

cat >job.c <<'EOT'
#include <mpi.h>
static void step(void) { MPI_Barrier(MPI_COMM_WORLD); }
int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	for (int i = 0; i < 10; i++)
		step();
	return MPI_Finalize();
}
EOT
# FILE: ranks, other processes, calls of step and of MPI_Barrier, warnings
counts_in() {
	echo "$(jq -c '.ranks, .unranked' "$1" | paste -sd' ') $(calls_of "$1" 'step<main<init')" \
		"$(calls_of "$1" 'MPI_Barrier<step<main<init') $(jq '.warnings | length' "$1")"
}
for mpi in $(mpi_list); do
	test_expect "$mpi: linked with the library without MPI: preloaded by itself" "
		mpicc.$mpi \$TEST_FLAGS -finstrument-functions -o job job.c $(test_link vftrace)
		\"\$VFTR\" run -q -o run-$mpi -- $(mpirun_of $mpi) -np 2 ./job
		is '2 0 20 20 0' \"\$(counts_in run-$mpi/profile.json)\""
	test_expect "$mpi: linked with the library for it, and preloaded" "
		mpicc_traced $mpi job job.c
		traced -q --preload -- $(mpirun_of $mpi) -np 2 ./job
		is '2 0 20 20 0' \"\$(counts_in job_all.json)\""
	test_expect "$mpi: linked with both, that for MPI first" "
		mpicc.$mpi \$TEST_FLAGS -finstrument-functions -o job job.c $(test_link vftrace-$mpi) -lvftrace
		traced -q -- $(mpirun_of $mpi) -np 2 ./job
		is '2 0 20 20 0' \"\$(counts_in job_all.json)\""
	test_expect "$mpi: linked with both, that for MPI last: the functions, and what to do" "
		mpicc.$mpi \$TEST_FLAGS -finstrument-functions -o job job.c $(test_link vftrace) -lvftrace-$mpi
		traced -q -- $(mpirun_of $mpi) -np 2 ./job
		is '2 0 20 0 1' \"\$(counts_in job_all.json)\"
		jq -e '.warnings[0] | contains(\"link it with -lvftrace-$mpi in place of -lvftrace\")' job_all.json"
done

done_testing
