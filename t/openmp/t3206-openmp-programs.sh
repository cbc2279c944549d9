#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='programs with OpenMP as people have them: not instrumented, packaged, loaded late, ended anyhow'
. "$(dirname "$0")/../lib/lib.sh"
need jq gcc
need_built "$AGENT" "$LIB/libvftrace.so"
TEST_FLAGS='-g -O2 -fopenmp'
TEST_CC=gcc
OMP_DYNAMIC=false OMP_WAIT_POLICY=passive
export OMP_DYNAMIC OMP_WAIT_POLICY
cc_plain "$BIN/ends" "$T/openmp/app-openmp-ends.c" || { echo "Bail out! app-openmp-ends.c does not build"; exit 1; }

# preloaded PROGRAM ARGUMENT...: the profile is $(basename PROGRAM)_all.json; it prints
# and ends as it does alone
preloaded() {
	test_status=0
	limit "$@" >alone || test_status=$?
	status_of "$test_status" traced -q --preload -k profile_table.threads=summary -- "$@" >out
	diff -U0 alone out
}

# functions_of JSON: "CALLS NAME"
functions_of() {
	jq -r '.functions[] | select(.calls > 0) | "\(.calls) \(.function)"' "$1" | sort -k2
}

# calls_are CALLS NAME JSON: of the function, or of this construct in all places
calls_are() {
	is "$1" "$(jq --arg n "$2" '[.functions[] | select(.function == $n or (.function |
		startswith($n + "@"))) | .calls] | add // 0' "$3")" "$2"
}

# teams_fit JSON: each region has as many frames as its teams had threads, each in time
teams_fit() {
	jq -e '(.stacks | map({key: "\(.id)", value: .calls}) | from_entries) as $calls |
		(.openmp | length > 0) and (.openmp | all(
			.team_min >= 1 and .team_min * .calls <= $calls["\(.id)"] and
			.team_max * .calls >= $calls["\(.id)"] and .threads >= .team_max and
			.t_busy_s <= .t_wall_s * .team_max + 1e-6))' "$1"
}

# kernels CC: constructs have the calls that the program counted, at its lines
kernels() {
	"$1" $TEST_FLAGS -o "$BIN/kernels-$1" "$T/openmp/app-openmp-kernels.c" -lm
	OMP_NUM_THREADS=3 preloaded "$BIN/kernels-$1"
	is 4 "$(wc -l <out)"
	is '[]' "$(jq -c .warnings "kernels-$1_all.json")" warnings
	is 0 "$(json "kernels-$1_all.json" .lost)" lost
	sort -k2 counts >wanted
	functions_of "kernels-$1_all.json" | grep -E ' omp_(parallel|task|taskwait|critical)@' >got
	diff -U0 wanted got
	teams_fit "kernels-$1_all.json"
	exclusive_threads "kernels-$1_all.json"
}

# Nothing is counted twice: all exclusive times are what the threads lived, at most.
exclusive_threads() {
	jq -e '([.stacks[].t_excl_s] | add) <= .runtime_s * 1.01 * .threads' "$1"
}

test_expect 'gcc -O2: conjugate gradients, Cholesky by tasks, merge sort and a histogram: every construct, at its line' '
	kernels gcc'
test_if 'command -v clang && echo "int main(void){return 0;}" >e.c && clang -fopenmp e.c' 'no OpenMP for clang' \
	'clang -O2: the same' 'kernels clang'

test_if 'command -v primecount' 'no primecount' 'a packaged program without symbols or lines: same result, its regions are seen' '
	OMP_NUM_THREADS=2 preloaded primecount 1e11 -t2
	is 4118054813 "$(cat out)"
	teams_fit primecount_all.json
	jq -e "[.openmp[].team_max] | max == 2" primecount_all.json
	jq -e ".openmp | all(.region | startswith(\"omp_parallel@libprimecount.so\"))" primecount_all.json'

test_if '[ -x /usr/bin/python3 ]' 'no python3' 'python3 loads a library with OpenMP in processes that it forks or starts' '
	gcc $TEST_FLAGS -finstrument-functions -fPIC -shared -o libsquares.so "$T/openmp/app-openmp-ends.c"
	cat >pool.py <<-END
	import ctypes, multiprocessing, sys
	def work(n):
	    return ctypes.CDLL(sys.argv[2]).squares(n)
	if __name__ == "__main__":
	    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
	        print(pool.map(work, [10] * 8, chunksize=2))
	        pool.close()
	        pool.join()
	END
	for how in fork spawn forkserver; do
		rm -f ./*_all.json
		preloaded /usr/bin/python3 pool.py $how "$PWD/libsquares.so"
		set -- python3*_all.json
		calls_are 8 squares "$1"
		calls_are 16 omp_parallel "$1"
		calls_are 80 square "$1"
		teams_fit "$1"
	done'

for how in exit:9 _exit:8 abort:134 kill:137; do
	test_expect "the process ends by ${how%:*} of a thread in a region" "
		status_of ${how#*:} traced -q --preload -- \"\$BIN/ends\" ${how%:*} >out
		is 328350 \"\$(cat out)\"
		calls_are 4 omp_parallel ends_all.json
		calls_are 2 omp_barrier ends_all.json
		teams_fit ends_all.json"
done
test_expect 'a thread in a region replaces the program: both are in the profile' '
	preloaded "$BIN/ends" exec "$BIN/ends" threads
	calls_are 126 omp_parallel ends_all.json
	is 2 "$(json ends_all.json .processes)"'
test_expect 'POSIX threads have teams of their own at the same time' '
	preloaded "$BIN/ends" threads
	calls_are 122 omp_parallel ends_all.json
	calls_are 61 squares ends_all.json
	is 0 "$(json ends_all.json .lost)"
	teams_fit ends_all.json'
test_expect 'a daemon that closes every descriptor' '
	status_of 0 traced -q --preload -- "$BIN/ends" daemon "$PWD/said"
	is 285 "$(cat said)"
	calls_are 2 omp_parallel ends_all.json
	calls_are 1 squares ends_all.json'
done_testing
