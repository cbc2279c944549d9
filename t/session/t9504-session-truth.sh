#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='random trees of processes, and random requests'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$LIB/libvftrace.so"

$TEST_CC $TEST_FLAGS -I"$TOP/libhook" -o "$BIN/tree" "$T/session/app-session-tree.c" -pthread $(test_link vftrace) ||
	skip_all 'app-session-tree.c cannot be compiled'
$TEST_CC $TEST_FLAGS -D_GNU_SOURCE -I"$TOP" -o "$BIN/wild" "$T/session/app-session-wild.c"

for seed in 1 2 3 $(($(date +%s) % 100000)); do
	export seed
	test_expect "tree $seed: every message is matched with the one that it was" '
		mkdir tree$seed
		cd tree$seed
		VFTR_TEST_PAIRS=$PWD/pairs traced -q -- "$BIN/tree" $seed 24 >out || { cat out; false; }
		cat out
		n=$(sed -n "s/^messages \([0-9]*\) of .*/\1/p" out)
		[ "$n" -gt 300 ]
		is "messages $n of $n" "$(cat out)"
		is "$n 0" "$(json tree_all.json "\"\\(.matching.pairs.exact) \\(.matching.unmatched_sends + .matching.unmatched_recvs | add)\"")"
		is "$n 0" "$(awk "\$1 == \"pair\" { n++; wrong += \$12 != \$18 } END { print n, wrong }" pairs.*)"'
done

test_expect 'random requests do no harm to the agent and to others' '
	mkdir wild
	cd wild
	export VFTR_SESSION=wild VFTR_AGENT=off
	("$AGENT" -q -k agent.linger_s=1 >agent.out 2>agent.err; echo $? >agent.status) &
	wait_for 10 "test -S $VFTR_RUNTIME_DIR/wild.sock"
	for i in 1 2 3 4 5; do
		limit "$BIN/wild" $VFTR_RUNTIME_DIR/wild.sock $i$seed 1500 >wild$i.out &
	done
	limit "$BIN/tree" 5 10 >tree.out 2>tree.err || : # its session is disturbed, it is not
	wait_for 60 "test -s agent.status"
	head -5 agent.err
	cat wild*.out
	is 0 "$(cat agent.status)"
	is 5 "$(cat wild*.out | grep -c answers)"'

done_testing
