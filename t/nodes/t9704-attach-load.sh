#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
test_description='many processes begin at once on a busy node: each is in the profile, or named'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$LIB/libvftrace.so"

cc_traced "$BIN/unharmed" "$T/nodes/app-unharmed.c" || skip_all 'app-unharmed.c cannot be compiled'
n=200 stopped=2
[ -z "$VFTR_LONG" ] || n=1024 stopped=20

# all_there: each process, with its one call, is in the profile or is counted as lost
all_there() {
	local there lost
	is "all $n" "$(cat out)"
	there=$(json unharmed_all.json .processes)
	lost=$(json unharmed_all.json .lost_processes)
	is $((n + 1)) $((there + lost)) "processes, there $there, lost $lost"
	is "$there" "$(calls_of unharmed_all.json "leaf<init")" "calls"
	[ "$lost" = 0 ] || has unharmed_all.log "$lost process"
	is 0 "$(json unharmed_all.json .lost)" "lost calls"
}

test_expect "$n processes at once, with four beside that keep the processors busy" '
	for _ in 1 2 3 4; do
		timeout 300 sh -c "while :; do :; done" &
		busy="$busy $!"
	done
	status=0
	traced -q -- "$BIN/unharmed" all $n >out 2>err || status=$?
	kill $busy
	is 7 $status
	all_there'

test_expect "... with an agent that is stopped for $stopped s: they wait, and none is lost" '
	rm -f unharmed_all.*
	"$AGENT" -q -s stopped -o . 2>agent.err &
	agent=$!
	wait_for 20 "[ -S $VFTR_RUNTIME_DIR/stopped.sock ]"
	kill -STOP $agent
	VFTR_SESSION=stopped VFTR_AGENT=off "$BIN/unharmed" all $n >out 2>err &
	program=$!
	sleep $stopped
	kill -CONT $agent
	status=0
	wait $program || status=$?
	is 7 $status
	wait $agent
	all_there
	is 0 "$(json unharmed_all.json .lost_processes)" "lost processes"'

done_testing
