#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description="OpenMP with LLVM's runtime, by its tools interface"
. "$(dirname "$0")/../lib/lib.sh"
need jq clang
need_built "$AGENT" "$LIB/libvftrace.so" "$LIB/libvftrace.a"
TEST_CC=clang
TEST_FLAGS='-g -O1 -fopenmp'
echo 'int main(void) { return 0; }' >empty.c
clang -fopenmp -o empty empty.c 2>/dev/null || skip_all "no OpenMP runtime for clang on this machine"
for p in openmp openmp-tasks openmp-nested; do
	cc_traced "$BIN/$p" "$T/openmp/app-$p.c" || { echo "Bail out! app-$p.c does not build"; exit 1; }
	cc_plain "$BIN/$p-plain" "$T/openmp/app-$p.c"
done
. "$T/lib/openmp.sh"

for n in 1 2 7 64; do
	test_expect "teams of $n: calls of each thread on each path" "
		same_openmp openmp parallel $n"
done
test_expect 'teams of 1, 2, 4 ... 64 in turn' 'same_openmp openmp sizes 64'
for how in paths serial loops combined sections singles barriers critical locks ordered \
	reductions; do
	test_expect "$how" "same_openmp openmp $how 4"
done
test_expect 'locks that are only tried' '
	OPENMP_WITHOUT=omp_lock_wait
	same_openmp openmp tests 4'
for how in nested reused limited recursive; do
	test_expect "teams within teams: $how" "same_openmp openmp-nested $how"
done
test_expect 'teams within teams: 3 x 3 x 3' 'same_openmp openmp-nested nested 3 3 3'
test_expect 'the process ends inside of a region, by exit() on one of its threads' '
	OPENMP_STATUS=7
	same_openmp openmp exits 4'
for how in dependent groups undeferred copies detached; do
	test_expect "tasks: $how" "same_openmp openmp-tasks $how 4"
done
# LLVM 14 hangs in untied tasks now and then, each thread waiting for the lock of another's
# queue: one run of 30 on two idle cores, with no word of ours in the program.
test_expect 'tasks: recursive; untied ones begin here and go on there' '
	OPENMP_HANGS=5 TEST_COMMAND_SECONDS=$(patient 20)
	OPENMP_ANYWHERE="^omp_task@"
	same_openmp openmp-tasks recursive 4'
test_expect 'tasks: loops; the runtime shows their taskgroups, and hides where they are' '
	OPENMP_INVISIBLE="^omp_taskgroup"
	OPENMP_PLACELESS="$OPENMP_PLACELESS|taskloop|task"
	same_openmp openmp-tasks loops 4'
test_expect 'tasks that are cancelled' '
	OMP_CANCELLATION=true same_openmp openmp-tasks cancelled 4'
test_expect 'loops and sections that are cancelled' '
	OMP_CANCELLATION=true same_openmp openmp cancelled 4'
test_expect 'regions that are cancelled' '
	OPENMP_WITHOUT=omp_barrier
	OMP_CANCELLATION=true same_openmp openmp abandoned 4'
test_expect 'preloaded, and with the static archive' '
	OPENMP_AGENT="--preload"
	same_openmp openmp-plain paths 3
	OPENMP_AGENT=
	clang $TEST_FLAGS -finstrument-functions -o $BIN/openmp-archive $T/openmp/app-openmp.c \
		$LIB/libvftrace.a -pthread -ldl -lm
	same_openmp openmp-archive loops 3'

test_expect 'a program that is not instrumented, preloaded: constructs alone' '
	clang $TEST_FLAGS -o $BIN/openmp-bare $T/openmp/app-openmp.c -lm
	OPENMP_AGENT=--preload
	run_openmp openmp-bare singles 3
	is 3 "$(jq "[.stacks[] | select(.path | startswith(\"omp_parallel@\")) | .calls] | add" $OPENMP_JSON)"
	is 8 "$(jq "[.stacks[] | select(.path | startswith(\"omp_single@\")) | .calls] | add" $OPENMP_JSON)"'
test_expect "compiled by gcc, with LLVM's runtime: recorded once, and where the program called" '
	gcc $TEST_FLAGS -finstrument-functions -c -o gcc.o $T/openmp/app-openmp.c
	clang -fopenmp -o $BIN/openmp-gcc gcc.o -lm $(test_link vftrace)
	for how in parallel critical locks sizes; do
		same_openmp openmp-gcc $how 3
	done
	jq -e "all(.stacks[]; .path | contains(\"@libvftrace\") | not)" $OPENMP_JSON'
test_expect 'a construct is named by its file and line, and the code below it is there, too' '
	run_openmp openmp parallel 2
	line=$(grep -n "pragma omp parallel" $T/openmp/app-openmp.c | head -n 1 | cut -d: -f1)
	jq -e --arg p "<omp_parallel@app-openmp.c:$line<region<parallel<main<init" \
		"any(.stacks[]; (.path | endswith(\$p)) and (.path | startswith(\".omp_outlined.\")))" \
		$OPENMP_JSON'

# ---- many -----------------------------------------------------------------------------

cat >many.c <<'EOF'
#include <omp.h>
#include <stdlib.h>
static long n;
static void down(long depth)
{
	if (depth)
#pragma omp task if (0)
		down(depth - 1);
}
int main(int argc, char **argv)
{
	long tasks = atol(argv[1]), depth = atol(argv[2]);
#pragma omp parallel num_threads(3)
#pragma omp single
	{
		for (long i = 0; i < tasks; i++)
#pragma omp task
			__atomic_add_fetch(&n, 1, __ATOMIC_RELAXED);
#pragma omp taskwait
		down(depth);
	}
	return n != tasks;
}
EOF
# tasks TASKS DEPTH
tasks() {
	rm -f many_*
	OMP_STACKSIZE=500M traced -q -- $BIN/many "$@"
}
tasks_seen() {
	jq '[.stacks[] | select(.path | startswith("omp_task@")) | .calls] | add' many_all.json
}
test_expect 'a million tasks, and ten thousand inside of each other' '
	cc_traced $BIN/many many.c
	tasks 1000000 10000
	is 1010000 "$(tasks_seen)" tasks
	is 0 "$(json many_all.json .lost)" lost
	is "[]" "$(jq -c .warnings many_all.json)"'
test_expect 'more inside of each other than we keep: the user is told' '
	tasks 10 60000
	[ "$(tasks_seen)" -lt 60000 ]
	[ "$(tasks_seen)" -gt 40000 ]
	is 1 "$(jq ".warnings | length" many_all.json)"'
test_expect 'teams of 4 x 4 x 4' 'same_openmp openmp-nested nested 4 4 4'

# ---- without the tool ---------------------------------------------------------------

MISSING='OpenMP constructs are missing'
cat >other-tool.c <<'EOF'
void *ompt_start_tool(unsigned version, const char *runtime) { return 0; }
EOF
test_expect 'OMP_TOOL=disabled: the functions without constructs, and one warning' '
	rm -f openmp_*
	OMP_TOOL=disabled traced -q -- $BIN/openmp parallel 3
	is 0 "$(jq "[.stacks[] | select(.path | contains(\"omp_parallel\"))] | length" openmp_all.json)"
	is 15 "$(jq "[.stacks[] | select(.path | startswith(\"work<\")) | .calls] | add" openmp_all.json)"
	is 1 "$(grep -c "$MISSING" openmp_all.log)"'
test_expect 'another tool was faster: the same' '
	clang -shared -fPIC -o libother.so other-tool.c
	rm -f openmp_*
	LD_PRELOAD=$PWD/libother.so traced -q -- $BIN/openmp parallel 3
	is 0 "$(jq "[.stacks[] | select(.path | contains(\"omp_parallel\"))] | length" openmp_all.json)"
	is 1 "$(grep -c "$MISSING" openmp_all.log)"'
test_expect 'a runtime that is loaded and not used is none that misses us' '
	clang -g -fopenmp -finstrument-functions -o $BIN/unused empty.c $(test_link vftrace)
	OMP_TOOL=disabled traced -q -- $BIN/unused
	hasnt unused_all.log "$MISSING"'
test_expect 'switched off, and without an agent: the program runs as ever' '
	rm -f openmp_*
	VFTR_OFF=1 limit $BIN/openmp loops 4
	VFTR_AGENT=off limit $BIN/openmp singles 4
	[ ! -e openmp_all.json ]'

done_testing
