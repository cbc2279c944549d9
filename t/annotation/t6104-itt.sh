#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='tasks and frames of ITT are regions, if they are wanted'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$LIB/libvftrace-annotations.so"

$TEST_CC -O1 -g -o i "$T/annotation/app-itt.c" -ldl || exit 99

test_expect 'tasks and frames: exact calls' '
	status_of 3 traced --preload -q -k annotations=itt -- ./i >wanted
	[ "$(wc -l <wanted)" = 3 ]
	same_calls wanted i_all.json
	is 0 "$(jq ".warnings | length" i_all.json)"'

test_expect 'misused: no crash, one warning for each name' '
	status_of 3 traced --preload -q -k annotations=itt -- ./i misuse >out 2>err
	is "went on" "$(cat out)"
	[ ! -s err ]
	is 1 "$(json i_all.json .warnings[] | grep -c "\"__itt_task_end\": an end without a begin was ignored, 10 times")"'

test_expect 'by default, or if another collector has been chosen, it is not ours' '
	status_of 3 traced --preload -q -- ./i >out
	is "no collector" "$(cat out)"
	INTEL_LIBITTNOTIFY64=/else traced -q -k annotations=itt -- printenv INTEL_LIBITTNOTIFY64 >out
	is /else "$(cat out)"'

test_expect 'without a tracer in the process the collector does nothing' '
	INTEL_LIBITTNOTIFY64=$LIB/libvftrace-annotations.so status_of 3 ./i misuse >out
	is "went on" "$(cat out)"'

test_if 'command -v ${CXX:-c++} && echo "#include <tbb/tbb.h>" | ${CXX:-c++} -xc++ -E - >/dev/null 2>&1' \
	'no oneTBB with headers' 'oneTBB: nodes of a flow graph and an algorithm' '
	${CXX:-c++} -O1 -o tbb "$T/annotation/app-tbb.cpp" -ltbb
	./tbb >untraced
	traced --preload -q -k annotations=itt -- ./tbb >out
	cmp untraced out
	is 4 "$(jq "[.stacks[] | select(.path | startswith(\"body<\")) | .calls] | add" tbb_all.json)"
	[ "$(calls_of tbb_all.json "tbb_parallel_reduce<init")" -ge 1 ]
	is 0 "$(jq ".warnings | length" tbb_all.json)"'

test_if 'command -v clang && ls /usr/lib/llvm-*/lib/libomp.so' 'no clang with OpenMP' \
	'the OpenMP of LLVM, which ends programs whose collector lacks something' '
	clang -O1 -fopenmp -o omp -xc - <<-END
	#include <stdio.h>
	int main(void)
	{
		double s = 0;
		for (int k = 0; k < 20; k++) {
	#pragma omp parallel for reduction(+ : s)
			for (int i = 0; i < 1000; i++)
				s += i;
	#pragma omp parallel
			{
	#pragma omp critical
				s += 1;
	#pragma omp barrier
			}
		}
		printf("%g\n", s);
		return 0;
	}
	END
	OMP_NUM_THREADS=3 ./omp >untraced
	OMP_NUM_THREADS=3 traced --preload -q -k annotations=itt -- ./omp >out
	cmp untraced out
	OMP_NUM_THREADS=3 INTEL_LIBITTNOTIFY64=$LIB/libvftrace-annotations.so limit ./omp >out
	cmp untraced out'

done_testing
