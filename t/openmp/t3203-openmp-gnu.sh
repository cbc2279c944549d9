#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description="OpenMP with gcc's runtime, by interposition"
. "$(dirname "$0")/../lib/lib.sh"
need jq gcc gfortran
need_built "$AGENT" "$LIB/libvftrace.so" "$LIB/libvftrace.a"
TEST_CC=gcc
TEST_FLAGS='-g -O1 -fopenmp'
for p in openmp openmp-tasks openmp-nested openmp-gnu; do
	cc_traced "$BIN/$p" "$T/openmp/app-$p.c" || { echo "Bail out! app-$p.c does not build"; exit 1; }
	cc_plain "$BIN/$p-plain" "$T/openmp/app-$p.c"
done
. "$T/lib/openmp.sh"
# the calls that begin these have the line of whatever stands near in gcc's eyes
OPENMP_PLACELESS="$OPENMP_PLACELESS|for|sections|single|scope|taskgroup|target.*|teams"

for n in 1 2 7 64; do
	test_expect "teams of $n: calls of each thread on each path" "
		same_openmp openmp parallel $n"
done
test_expect 'teams of 1, 2, 4 ... 64 in turn' 'same_openmp openmp sizes 64'
for how in paths serial loops combined sections singles barriers critical locks ordered; do
	test_expect "$how" "same_openmp openmp $how 4"
done
test_expect 'reductions, but for the atomic updates that gcc makes of some' '
	OPENMP_WITHOUT=omp_atomic_wait
	same_openmp openmp reductions 4'
test_expect 'locks that are only tried' 'same_openmp openmp tests 4'
for how in nested reused limited recursive; do
	test_expect "teams within teams: $how" "same_openmp openmp-nested $how"
done
test_expect 'teams within teams: 3 x 3 x 3' 'same_openmp openmp-nested nested 3 3 3'
test_expect 'the tree of threads has the levels and ancestors that the runtime says' '
	run_openmp openmp-nested nested 3 2 2
	for a in 0 1 2; do
		for i in 1 2 3; do
			echo "1 0,$a"
			for k in $(seq 0 $((a % 2))); do
				printf "%s\n" "2 0,$a,0" "2 0,$a,1" "3 0,$a,0,0" "3 0,$a,0,1" \
					"3 0,$a,0,0" "3 0,$a,0,1" "3 0,$a,1,0" "3 0,$a,1,1"
			done
		done
	done | sort | uniq -c | awk "{ print \$2, \$3, \$1 }" >wanted
	jq -r ".openmp_threads[] | select(.level > 0) |
		\"\(.level) \(.ancestors | join(\",\")) \(.teams)\"" $OPENMP_JSON | sort >got
	diff -U0 wanted got'

cat >deep.c <<'END'
#include <pthread.h>
#include <stdlib.h>
static pthread_barrier_t all;
static void deep(int levels)
{
	if (!levels) {
		pthread_barrier_wait(&all);
		return;
	}
#pragma omp parallel num_threads(2)
	deep(levels - 1);
}
int main(int argc, char **argv)
{
	const int levels = argc > 1 ? atoi(argv[1]) : 1;

	pthread_barrier_init(&all, NULL, 1u << levels);
	for (int i = 0; i < 20; i++)
		deep(levels);
	return 0;
}
END
test_expect 'teams within teams, made anew each time: the threads that are there at once' '
	cc_traced "$BIN/deep" deep.c
	for levels in 1 2 3; do
		OMP_MAX_ACTIVE_LEVELS=3 traced -q -- "$BIN/deep" $levels
		is $((1 << levels)) "$(jq .per_rank[0].openmp_threads deep_all.json)" $levels
	done'
for how in recursive dependent groups undeferred copies detached loops; do
	test_expect "tasks: $how" "
		same_openmp openmp-tasks $how 4
		same_openmp openmp-tasks $how 1"
done
for how in cancelled left loop_left; do
	test_expect "$how: by cancellation, and where it is switched off" "
		OMP_CANCELLATION=true same_openmp openmp-tasks $how 4
		OMP_CANCELLATION=true same_openmp openmp-tasks $how 1
		same_openmp openmp-tasks $how 4"
done
test_expect 'loops, sections and regions that are cancelled' '
	OMP_CANCELLATION=true same_openmp openmp cancelled 4
	OPENMP_WITHOUT=omp_barrier
	OMP_CANCELLATION=true same_openmp openmp abandoned 4'
test_expect 'many tasks, and many inside of each other' '
	cat >deep.c <<-"EOF"
	#include <stdlib.h>
	static long n;
	static void down(long depth)
	{
	#pragma omp task if (0)
		if (depth > 1)
			down(depth - 1);
	#pragma omp atomic
		n++;
	}
	int main(void)
	{
	#pragma omp parallel num_threads(2)
	#pragma omp master
		{
			for (long i = 0; i < 100000; i++)
	#pragma omp task
	#pragma omp atomic
				n++;
			down(5000);
		}
		return n != 105000;
	}
	EOF
	gcc -g -O1 -fopenmp -o "$BIN/deep" deep.c $(test_link vftrace)
	traced -q -- "$BIN/deep"
	is "[]" "$(jq -c .warnings deep_all.json)" warnings
	is 105000 "$(jq "[.stacks[] | select(.path | startswith(\"omp_task@\")) | .calls] | add" deep_all.json)"
	is 105000 "$(jq "[.stacks[] | select(.path | startswith(\"omp_task_create@\")) | .calls] | add" deep_all.json)"'
test_expect 'threads of the program with a team each, at the same time' '
	cat >each.c <<-"EOF"
	#include <pthread.h>
	static void work(void) {}
	static void *run(void *p)
	{
		for (int i = 0; i < 20; i++) {
	#pragma omp parallel num_threads(2)
			{
				work();
	#pragma omp for schedule(dynamic)
				for (int k = 0; k < 10; k++)
					work();
			}
		}
		return p;
	}
	int main(void)
	{
		pthread_t t[4];

		for (int i = 0; i < 4; i++)
			pthread_create(&t[i], 0, run, 0);
		for (int i = 0; i < 4; i++)
			pthread_join(t[i], 0);
		return 0;
	}
	EOF
	cc_traced "$BIN/each" each.c
	traced -q -k profile_table.threads=all -- "$BIN/each"
	is "[]" "$(jq -c .warnings each_all.json)" warnings
	for path in "omp_parallel@each.c:6<run<init 160" "work<omp_parallel@each.c:6<run<init 160"; do
		is "${path#* }" "$(calls_of each_all.json "${path% *}")" "$path"
	done
	is 800 "$(jq "[.stacks[] | select(.path | startswith(\"work<omp_for@\")) | .calls] | add" each_all.json)"'
test_expect 'the process ends inside of a region, by exit() on one of its threads' '
	OPENMP_STATUS=7
	same_openmp openmp exits 4'
for how in copied crossed wide_loops task_reductions devices alone; do
	test_expect "only of gcc: $how" "same_openmp openmp-gnu $how 4"
done
test_expect 'more groups within each other than are kept in mind: no function is lost' '
	run_openmp openmp-gnu deep
	is "[]" "$(jq -c .warnings $OPENMP_JSON)" warnings
	is 101 "$(jq "[.stacks[] | select(.path | startswith(\"leaf<\")) | .calls] | add" $OPENMP_JSON)"
	is 1 "$(calls_of $OPENMP_JSON "leaf<deep<main<init")"'
test_expect 'entry points of older compilers' '
	OPENMP_PLACELESS="$OPENMP_PLACELESS|parallel"
	same_openmp openmp-gnu old 1
	same_openmp openmp-gnu old 4'

# ---- how it was built and started ----------------------------------------------------

test_expect 'preloaded' '
	OPENMP_AGENT=--preload
	same_openmp openmp-plain loops 3
	same_openmp openmp-tasks-plain recursive 3
	same_openmp openmp-nested-plain nested'
test_expect 'with the static archive' '
	for p in openmp openmp-tasks; do
		gcc $TEST_FLAGS -finstrument-functions -o "$BIN/$p-archive" "$T/openmp/app-$p.c" \
			"$LIB/libvftrace.a" -pthread -ldl -lm
	done
	same_openmp openmp-archive combined 3
	same_openmp openmp-archive locks 3
	same_openmp openmp-tasks-archive copies 3'
test_expect 'a linker that leaves out libgomp, as we have all that is called of it' '
	cat >few.c <<-"EOF"
	static int n;
	int main(void)
	{
	#pragma omp parallel num_threads(3)
	#pragma omp critical
		n++;
		return n;
	}
	EOF
	gcc $TEST_FLAGS -finstrument-functions -o "$BIN/few" few.c -L"$LIB" -lvftrace \
		-Wl,--as-needed -Wl,-rpath,"$LIB"
	readelf -d "$BIN/few" >dynamic
	hasnt dynamic libgomp
	status_of 3 traced -q -- "$BIN/few"
	is 3 "$(jq "[.stacks[] | select(.path | startswith(\"omp_parallel\")) | .calls] | add" few_all.json)"
	status_of 3 limit env VFTR_OFF=1 "$BIN/few"'
test_expect 'optimised, where the last call of a function is a jump: each construct has its own code' '
	cat >jumps.c <<-"EOF"
	void work(void);
	void one(void);
	void two(void);
	void one(void)
	{
	#pragma omp parallel num_threads(2)
		{
			work();
			work();
	#pragma omp barrier
		}
	}
	void two(void)
	{
	#pragma omp parallel num_threads(2)
		{
			work();
			work();
	#pragma omp barrier
		}
	}
	EOF
	cat >jumped.c <<-"EOF"
	void one(void);
	void two(void);
	void work(void);
	void work(void) {}
	int main(void)
	{
		one();
		two();
		two();
		return 0;
	}
	EOF
	gcc -g -O2 -fopenmp -c jumps.c
	gcc -g -O2 -fopenmp -finstrument-functions -o "$BIN/jumped" jumped.c jumps.o $(test_link vftrace)
	traced -q -- "$BIN/jumped"
	is "2 4" "$(jq -r "[.stacks[] | select(.function | startswith(\"omp_parallel@\")) | .calls] |
		sort | join(\" \")" jumped_all.json)"
	is "2 4" "$(jq -r "[.stacks[] | select(.function | startswith(\"omp_barrier@\")) | .calls] |
		sort | join(\" \")" jumped_all.json)"
	hasnt jumped_all.json libvftrace'
test_expect 'gfortran, which gives a parallel region the line of its end' '
	OPENMP_PLACELESS="$OPENMP_PLACELESS|parallel"
	gcc $TEST_FLAGS -c "$T/openmp/app-openmp-f.c"
	fc_traced "$BIN/openmpf" "$T/openmp/app-openmp.f90" app-openmp-f.o -cpp \
		-finstrument-functions-exclude-function-list=counted_frame,waited
	for how in loops locked tasks; do
		same_openmp openmpf $how 1
		same_openmp openmpf $how 5
	done'
test_expect 'off, or without an agent: the programs run as ever' '
	rm -f openmp*_all.json
	VFTR_OFF=1 limit "$BIN/openmp" loops 4
	VFTR_AGENT=off limit "$BIN/openmp" locks 4
	VFTR_AGENT=off limit "$BIN/openmp-tasks" copies 4
	VFTR_AGENT=off limit "$BIN/openmp-gnu" old 4
	[ ! -e openmp_all.json ]'
test_expect 'paused and resumed inside of a region: later frames are right' '
	cat >pause.c <<-"EOF"
	#include <vftrace.h>
	static void inner(void) {}
	int main(void)
	{
	#pragma omp parallel num_threads(3)
		{
	#pragma omp barrier
	#pragma omp master
			vftrace_pause();
	#pragma omp barrier
			inner();
	#pragma omp critical
			inner();
	#pragma omp barrier
	#pragma omp master
			vftrace_resume();
	#pragma omp barrier
	#pragma omp critical
			inner();
		}
		inner();
		return 0;
	}
	EOF
	cc_traced "$BIN/pause" pause.c
	traced -q -- "$BIN/pause"
	is 3 "$(jq "[.stacks[] | select(.path | startswith(\"inner<omp_critical\")) | .calls] | add" pause_all.json)"
	is 1 "$(calls_of pause_all.json "inner<main<init")"
	is "[]" "$(jq -c .warnings pause_all.json)" warnings'
done_testing
