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

# It stamps its parts itself and prints what the waits are by that; see idle_and_join.
cat >uneven.c <<'EOF'
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#define RUNS	 5
#define UNTRACED __attribute__((no_instrument_function))
static double began[RUNS][3], ended[RUNS][3], before[RUNS], after[RUNS], serially;
static _Atomic int done;
UNTRACED static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
UNTRACED static void nap(long us)
{
	struct timespec t = {0, us * 1000};
	nanosleep(&t, 0);
}
static void work(long ms)
{
	nap(1000 * ms);
}
/* the last of three threads works for 60 ms more than the others */
static void part(int run, int thread)
{
	began[run][thread] = now();
	while (thread == 2 && atomic_load(&done) < 2 * (run + 1))
		nap(200);
	work(thread == 2 ? 60 : 0);
	ended[run][thread] = now();
	atomic_fetch_add(&done, thread != 2);
}
static void step(int run)
{
	before[run] = now();
#pragma omp parallel num_threads(3)
	part(run, omp_get_thread_num());
	after[run] = now();
}
static void serial(void)
{
	const double from = now();
	work(40);
	serially += now() - from;
}
UNTRACED static void tell(void)
{
	double join = 0, join_most = 0, idle = 0, parts = 0, region = 0;
	for (int i = 0; i < RUNS; i++) {
		join += ended[i][2] - ended[i][0];
		join_most += after[i] - ended[i][0];
		idle += ended[i][2] - ended[i][1];
		parts += ended[i][1] - began[i][1] + ended[i][2] - began[i][2];
		region += after[i] - before[i] - (ended[i][0] - began[i][0]);
	}
	printf("%.6f %.6f %.6f %.6f %.6f %.6f\n", join, join_most, idle, serially, parts, region);
}
int main(void)
{
	for (int i = 0; i < RUNS; i++) {
		step(i);
		serial();
	}
	tell();
	return 0;
}
EOF
parallel=$(grep -n '#pragma' uneven.c | cut -d : -f 1)

# sum FIELD PATH of uneven_all.json or profile.json
sum() {
	jq --arg p "$2" "[.stacks[] | select(.function | test(\$p)) | .$1] | add // 0" "$json"
}
# The maker of the team waits in 5 regions for 60 ms, two workers idle in 5 serial parts for
# 40 ms, and one of them in the regions, too. By the stamps, whatever the machine does: nobody has waited for
# longer than between two of them; workers have idled in all of the serial parts; what is left of
# their time, and of the maker's in the regions, is that of the construct. From the end of a part to the wait
# behind it a thread may lose its CPU, but not for half of all waits.
idle_and_join() {
	is 5 "$(sum calls '^omp_join$')" calls
	is 10 "$(sum calls '^[(]idle[)]$')" 'a worker idles after each of its parts'
	echo "$(cat stamps) $(sum t_excl_s '^omp_join$') $(sum t_excl_s '^[(]idle[)]$') \
		$(sum t_excl_s '^omp_parallel@') $(jq .runtime_s "$json")" | awk '
		function within(what, least, is, most) {
			print what ": " least " <= " is " <= " most " s"
			if (is < least - 1e-5 || is > most + 1e-5) { print "is wrong"; bad = 1 } }
		{ join = $7; idle = $8; construct = $9; workers = 2 * $10 - $5
		  within("parts", 0.3, $1, $1)
		  within("between them", 0.2, $4, $4)
		  within("join", 0.5 * $1, join, $2)
		  within("idle", 2 * $4 + 0.5 * $3, idle, workers)
		  within("construct", 0, construct, $6 - join + workers - idle)
		  exit bad || NF != 10 }'
}
for cc in gcc clang; do
	test_if "echo 'int main(void){return 0;}' >e.c && $cc -fopenmp e.c" "no OpenMP for $cc" \
		"$cc: the wait at the end is omp_join, a worker between regions is (idle)" "
		TEST_CC=$cc
		cc_traced $BIN/uneven-$cc uneven.c
		traced -q \$OPENMP_AGENT -- $BIN/uneven-$cc >stamps
		json=uneven-${cc}_all.json
		idle_and_join
		jq -e 'all(.stacks[] | select(.function == \"omp_join\");
			.caller | startswith(\"omp_parallel@uneven.c:$parallel\"))' \$json
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
	traced_run --trace -o out -- $BIN/uneven >stamps 2>told
	json=out/profile.json
	idle_and_join
	has told "% waiting in OpenMP, "
	has told "% idle OpenMP workers"
	"$VFTR" tree out >tree
	has tree "omp_join"
	grep -qF "\`-(idle)" tree
	"$VFTR" export out -f folded -o folded
	grep -q "main;step;omp_parallel@uneven.c:$parallel;omp_join [0-9]" folded
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
