#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='OpenMP: waiting at the end of regions and idle workers are frames of their own'
. "$(dirname "$0")/../lib/lib.sh"
need jq gcc
need_built "$AGENT" "$VFTR" "$LIB/libvftrace.so"
TEST_FLAGS='-g -O1 -fopenmp'
. "$T/lib/openmp.sh"
OPENMP_AGENT='-k openmp.show_idle_time=true'
OPENMP_WITHOUT='^omp_join$|^[(]idle[)]$'

cat >uneven.c <<'EOF'
#include <omp.h>
#include <time.h>
#define RUNS 5
static void work(long ms)
{
	struct timespec t = {0, ms * 1000000};
	nanosleep(&t, 0);
}
/* the last of three threads works for 60 ms, the others do not */
static void step(void)
{
#pragma omp parallel num_threads(3)
	work(omp_get_thread_num() == 2 ? 60 : 0);
}
static void serial(void)
{
	work(40);
}
int main(void)
{
	for (int i = 0; i < RUNS; i++) {
		step();
		serial();
	}
	return 0;
}
EOF

# sum FIELD PATH of uneven_all.json or profile.json
sum() {
	jq --arg p "$2" "[.stacks[] | select(.function | test(\$p)) | .$1] | add // 0" "$json"
}
between() {
	awk -v x="$1" -v a="$2" -v b="$3" 'BEGIN { print x; exit !(x >= a && x <= b) }'
}
# The maker of the team waits in 5 regions for 60 ms, two workers idle in 5 serial parts for
# 40 ms, and one of them in the regions, too. Late is allowed, on a busy machine.
idle_and_join() {
	is 5 "$(sum calls '^omp_join$')" calls
	is 10 "$(sum calls '^[(]idle[)]$')" 'a worker idles after each of its parts'
	between "$(sum t_excl_s '^omp_join$')" 0.295 1
	between "$(sum t_excl_s '^[(]idle[)]$')" 0.695 3
	between "$(sum t_excl_s '^omp_parallel@')" 0 0.1
}
for cc in gcc clang; do
	test_if "echo 'int main(void){return 0;}' >e.c && $cc -fopenmp e.c" "no OpenMP for $cc" \
		"$cc: the wait at the end is omp_join, a worker between regions is (idle)" "
		TEST_CC=$cc
		cc_traced $BIN/uneven-$cc uneven.c
		traced -q \$OPENMP_AGENT -- $BIN/uneven-$cc
		json=uneven-${cc}_all.json
		idle_and_join
		jq -e 'all(.stacks[] | select(.function == \"omp_join\");
			.caller | startswith(\"omp_parallel@uneven.c:12\"))' \$json
		is '[]' \"\$(jq -c .warnings \$json)\" warnings
		# calls of the program are counted as without it
		traced -q -- $BIN/uneven-$cc
		is 0 \"\$(sum calls 'omp_join|idle')\"
		cp \$json without.json
		traced -q \$OPENMP_AGENT -- $BIN/uneven-$cc
		is \"\$(json without.json .calls)\" \"\$(json \$json .calls)\" calls"
done

test_expect 'vftr run does so by itself: profile, tree, the lines at its end and pictures' '
	traced_run() { limit "$VFTR" run "$@"; }
	TEST_CC=gcc
	cc_traced $BIN/uneven uneven.c
	traced_run --trace -o out -- $BIN/uneven 2>told
	json=out/profile.json
	idle_and_join
	has told "% waiting in OpenMP, "
	has told "% idle OpenMP workers"
	"$VFTR" tree out >tree
	has tree "omp_join"
	grep -qF "\`-(idle)" tree
	"$VFTR" export out -f folded -o folded
	grep -q "main;step;omp_parallel@uneven.c:12;omp_join [0-9]" folded
	grep -q ";(idle) [0-9]" folded
	# each in the time line as often as in the profile
	"$VFTR" export out -f chrome -o chrome.json
	is "5 10" "$(jq -r "[.traceEvents[] | select(.ph == \"B\" or .ph == \"X\") | .name] |
		\"\(map(select(. == \"omp_join\")) | length) \(map(select(. == \"(idle)\")) | length)\"" chrome.json)"
	traced_run -o off -k openmp.show_idle_time=false -- $BIN/uneven
	json=off/profile.json
	is 0 "$(sum calls "omp_join|idle")"'

test_if 'command -v otf2-print' 'no otf2-print' 'OTF2: constructs have their roles' '
	"$VFTR" export out -f otf2 -o otf2
	otf2-print -G otf2/traces.otf2 >definitions
	grep -q "^REGION .*\"omp_join.*Role: IMPLICIT_BARRIER, Paradigm: \"OpenMP\"" definitions
	grep -q "^REGION .*\"omp_parallel@.*Role: PARALLEL, Paradigm: \"OpenMP\"" definitions
	grep -q "^REGION .*\"(idle).*Role: ARTIFICIAL, Paradigm: \"OpenMP\"" definitions'

for p in openmp openmp-nested openmp-tasks; do
	cc_traced "$BIN/$p" "$T/openmp/app-$p.c" || { echo "Bail out! app-$p.c does not build"; exit 1; }
done
OPENMP_PLACELESS="$OPENMP_PLACELESS|for|sections|single|scope|taskgroup|target.*|teams"
for run in 'openmp paths 4' 'openmp barriers 4' 'openmp-nested nested' 'openmp-nested reused' \
	'openmp-nested nested 3 3 3' 'openmp-tasks recursive 4' 'openmp-tasks groups 4'; do
	test_expect "all other frames are as without it: $run" "same_openmp $run"
done

done_testing
