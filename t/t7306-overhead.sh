#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='traced time less the overhead that is told is the untraced time'
. "$(dirname "$0")/lib.sh"
need jq
need_built "$AGENT" "$LIB/libvftrace.so"

cc_traced "$BIN/accessors" "$T/app-accessors.c" -O2 || skip_all 'app-accessors.c cannot be compiled'
$TEST_CC -O2 "$T/app-accessors.c" -o "$BIN/plain" || skip_all 'no compiler'
export BIN
ALL=accessors_all.json

# two PROGRAM STEPS WORK: both CPU times together, in seconds; other work is beside them
two='for i in 1 2; do "$BIN/$0" "$1" "$2" >out.$i & done; wait'
two() {
	sh -c "$two" "$@"
	two_sum
}
two_sum() {
	cat out.1 out.2 | awk '{ s += $2 } END { print s }'
}

# pair STEPS WORK: untraced, traced, told: CPU seconds, of two processes
pair() {
	pair_plain=$(two plain "$1" "$2")
	rm -f accessors_*
	limit "$AGENT" -q -k shm.ring_size=64MiB -- sh -c "$two" accessors "$1" "$2"
	echo "$pair_plain $(two_sum) $(json $ALL '.hooks_s * .processes')"
}

# of_each COLUMN: the median of three pairs
of_each() {
	sort -n -k "$1" pairs | awk -v c="$1" 'NR == 2 { print $c }'
}

# right STEPS WORK: a line for the table of what was found; within 10 % of the untraced
# time, and of the traced time where most of that is overhead
right() {
	for i in 1 2 3; do
		pair "$1" "$2"
	done >pairs
	echo "$(of_each 1) $(of_each 2) $(of_each 3)" | awk -v work="$2" '{
		left = $2 - $3
		share = $3 / $2
		off = left - $1
		printf "# work %d: untraced %.3f s, traced %.3f s, told %.3f s (%.0f %%): off by %.1f %%\n",
			work, $1, $2, $3, 100 * share, 100 * off / $1
		scale = share > 0.5 ? $2 : $1
		exit !(off <= 0.1 * scale && -off <= 0.1 * scale)
	}'
}

# two others want the CPUs, too
busy() {
	"$BIN/plain" 1000000 100 >/dev/null &
	busy_1=$!
	"$BIN/plain" 1000000 100 >/dev/null &
	busy_2=$!
}

quiet() {
	kill $busy_1 $busy_2
	wait $busy_1 $busy_2 2>/dev/null || :
}

each() { # STEPS WORK
	test_expect "steps of $2 rounds of arithmetic" "right $1 $2"
	grep "^#" "$VFTR_TEST_DIR/output"
}

busy
if [ -n "$VFTR_LONG" ]; then
	each 20 20000
	each 120 2000
	each 250 800
	each 350 470
	each 450 300
	each 600 200
	each 700 130
	each 900 70
	each 1000 30
	each 1200 0
else
	each 5 20000
	each 60 470
	each 100 130
	each 200 0
fi
quiet

done_testing
