#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='examples of programs without MPI'
. "$(dirname "$0")/../lib/lib.sh"
need jq ip
need_built "$AGENT" "$LIB/libvftrace.so"

# example NAME: as users build it
example() {
	$TEST_CC $TEST_FLAGS -Wall -I"$TOP/libhook" -o "$BIN/$1" "$T/examples/$1.c" $(test_link vftrace)
}

matched() {
	is "$2" "$(json "$1" .matching.pairs.exact)" 'messages matched exactly'
	is "0 0" "$(json "$1" '"\(.matching.unmatched_sends | add) \(.matching.unmatched_recvs | add)"')" unmatched
}

test_expect 'fork-flat: parent and children in one session' '
	example fork-flat
	is "sum 140" "$(traced -q -- "$BIN/fork-flat" 8)"
	matched fork-flat_all.json 16
	is 9 "$(json fork-flat_all.json .ranks)"
	is "" "$(agent_pids)"'

test_expect '100 processes are forked, join, start and end in less than 2 s; the fastest of some' '
	for try in 1 2 3 4 5 6; do
		from=$(date +%s%N)
		traced -q -- "$BIN/fork-flat" 99 >/dev/null
		ms=$((($(date +%s%N) - from) / 1000000))
		from=$(date +%s%N)
		for i in $(seq 100); do /bin/true; done
		others=$((($(date +%s%N) - from) / 1000000))
		echo "$ms ms; 100 others, one after the other, $others ms"
		# these take 0.1 s on a machine that is not busy
		[ $ms -ge $((1500 + 5 * others)) ] || exit 0
	done
	exit 1'

test_expect 'fork-tree: attached level by level, with a library that is loaded; or without' '
	$TEST_CC $TEST_FLAGS -Wall -I"$TOP/libhook" -o "$BIN/fork-tree" "$T/examples/fork-tree.c"
	is "7 processes" "$(limit "$BIN/fork-tree" 2 2)"
	is "13 processes" "$(traced -q -- "$BIN/fork-tree" 2 3 "$LIB/libvftrace.so" 2>err)" || { cat err; false; }
	cat err
	is 0 "$(wc -c <err)"
	matched fork-tree_all.json 24
	is 13 "$(json fork-tree_all.json .ranks)"'

test_expect 'simple: rounds, each with its files; messages to oneself, a state, a counter' '
	example simple
	is "sum 60" "$(traced -q -- "$BIN/simple" 3 2)"
	matched simple_all.json 96
	is "33 63" "$(echo $(for n in 1 2; do
		json simple.round${n}_all.json "[.communication_matrix[] | .sends] | add"
	done))"
	is 3 "$(json simple.round1_all.json "[.stacks[] | select(.path | startswith(\"ring:passing@\")) | .calls] | add")"
	is "sum 30 60" "$(json simple_all.json ".user_counters[0] | \"\(.name) \(.values) \(.last)\"")"
	is "sum 90" "$(VFTR_AGENT=off limit "$BIN/simple" 3 3)"'

test_expect 'errors: six faults and two successes, each in less than 5 s; nothing is left' '
	example errors
	for try in 1 2 3 4; do # on a busy machine a try may be late
		rm -f errors_*
		traced -q -- "$BIN/errors" >out 2>err && break
		cat out err
	done
	has out "all as expected"
	is "" "$(agent_pids)"
	is "" "$(ls $VFTR_RUNTIME_DIR)"
	is 8 "$(grep -c " [0-4]\.[0-9] s$" out)" "tries in time"
	is "" "$(ls /dev/shm | grep -i vftr)"
	is "" "$(grep -lzxF "VFTR_TEST_DIR=$VFTR_TEST_DIR" /proc/[0-9]*/environ 2>/dev/null |
		sed "s,environ,comm," | xargs cat 2>/dev/null | grep -x errors)" "processes left"'

test_expect 'key-value, without an agent: it runs and says nothing' '
	$TEST_CC $TEST_FLAGS -I"$TOP/libhook" -o "$BIN/key-value" "$T/examples/key-value.c"
	limit "$BIN/key-value" server 127.0.0.1 7654 1 >server.out 2>&1 &
	server=$!
	wait_for 10 "limit $BIN/key-value client 127.0.0.1 7654 100 >client.out 2>&1"
	wait $server
	is 0 "$(cat server.out client.out | wc -c)"'

nodes_up 3
. "$T/lib/tcp.sh"

test_expect 'key-value, a server and 3 clients on 3 nodes: every request is matched' '
	example key-value
	three kv
	ip=$(nodes_run node1 getent hosts node1 | cut -d" " -f1)
	(cd kv && run kv node1 "$BIN/key-value" server $ip 7654 3 >server.out 2>&1; echo $? >server.status) &
	for n in 1 2 3; do
		(cd kv && run kv node$n "$BIN/key-value" client $ip 7654 50 >client$n.out 2>&1; echo $? >client$n.status) &
	done
	statuses kv 0 0 0
	cat kv/*.out
	is "0 0 0 0" "$(echo $(cat kv/server.status kv/client?.status))"
	matched kv/key-value_all.json 300
	is 4 "$(json kv/key-value_all.json .ranks)"'

done_testing
