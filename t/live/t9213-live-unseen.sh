#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What views of running jobs cost: nothing while nobody looks, before the first viewer and after
# the last one; and with a viewer less than 100 kB/s for each agent.
test_description='nothing is sent and nobody woken when nobody looks'
. "$(dirname "$0")/../lib/lib.sh"
need mpirun.openmpi mpicc.openmpi jq ip ss
need_built "$AGENT" "$VFTR" "$LIB/libvftrace-openmpi.so" "$LIB/vftr/peer-openmpi.so"
nodes_up 3
. "$T/lib/live.sh"

mpich=false
mpich_starts >/dev/null 2>&1 && mpich=true

# woken DIR NODE: how often its agent has slept, and been woken
woken() {
	nodes_run "$2" sh -c "grep ^voluntary_ctxt_switches /proc/\$(head -n 1 $VFTR_RUNTIME_DIR/$1.lock)/status" |
		cut -f2
}

# bytes_from NODE: all that it has sent to others
bytes_from() {
	nodes_run "$1" cat /proc/net/dev | awk '$1 == "eth0:" { print $10 }'
}

# measure DIR FILE: of node2 and node3, how often agents are woken in 5 s, and what leaves the node
measure() {
	for node in node2 node3; do echo "$(woken "$1" $node) $(bytes_from $node)"; done >"$2.before"
	sleep 5
	for node in node2 node3; do echo "$(woken "$1" $node) $(bytes_from $node)"; done >"$2.after"
	paste -d " " "$2.before" "$2.after" | awk '{ print $3 - $1, $4 - $2 }' >"$2"
	cat "$2"
	[ "$(wc -l <"$2")" = 2 ]
}

# sleeping DIR: no agent has been woken for a second, as it is when rings are read seldom again
sleeping() {
	for node in node2 node3; do woken "$1" $node; done >"$1.then"
	sleep 1
	for node in node2 node3; do woken "$1" $node; done | cmp -s - "$1.then"
}

# Some are due to other duties, over TCP four a second. One look a second would be 5 more, and a
# tick of the tree each 0.25 s 20.
# calm KIND FILE
calm() {
	case $1 in tcp) most=24 ;; *) most=4 ;; esac
	awk -v most=$most '$1 > most { bad = 1 } END { exit bad }' "$2"
}

# counters_of FILE NODE first|last: messages and bytes that its agent had sent for views then
counters_of() {
	jq -r -s "[.[].nodes[] | select(.node == \"$2\")] | $3 | \"\\(.sent_messages) \\(.sent_bytes)\"" "$1"
}

for kind in openmpi ${VFTR_LONG:+mpich tcp}; do
	possible=true
	[ $kind = mpich ] && possible=$mpich

	test_if $possible 'MPICH starts no programs on these nodes' \
		"$kind: before anybody looks no agent is woken, and none has sent anything" '
		live_agents $kind $kind -k clock.sync_interval_s=2
		live_job $kind 4
		all_there $kind
		[ $kind = tcp ] || wait_for 30 "sleeping $kind"
		measure $kind unseen.$kind
		calm $kind unseen.$kind
		viewer_on node1 $kind seen.$kind -d 250ms
		wait_for 60 "has_line seen.$kind \".complete\""
		# the first of its views that is seen here may be its second one
		for node in node2 node3; do
			set -- $(counters_of seen.$kind $node first)
			echo "$node: $1 messages, $2 bytes"
			[ "$1" -le 4 ]
		done'

	test_if $possible 'MPICH starts no programs on these nodes' \
		"$kind: with a viewer each agent sends less than 100 kB/s" '
		measure $kind viewed.$kind
		for node in node2 node3; do
			set -- $(counters_of seen.$kind $node last)
			echo "$node: $1 messages, $2 bytes"
			[ "$1" -gt 12 ]
		done
		# all that leaves the node in 5 s
		awk "\$2 >= 5e5 { bad = 1 } END { exit bad }" viewed.$kind'

	test_if $possible 'MPICH starts no programs on these nodes' \
		"$kind: when the viewer has been killed it is as before" '
		nodes_run node1 kill -9 $(cat seen.$kind.pid)
		sleep 5 # longer than all leases: 3 s
		[ $kind = tcp ] || wait_for 30 "sleeping $kind"
		measure $kind again.$kind
		calm $kind again.$kind
		viewer_on node1 $kind anew.$kind -d 250ms # they do listen
		wait_for 60 "has_line anew.$kind \".complete\""
		for node in node2 node3; do
			set -- $(counters_of seen.$kind $node last) $(counters_of anew.$kind $node first)
			echo "$node: $1 messages while one looked, $(($3 - $1)) until another one did"
			# four a second would be 40
			[ "$3" -gt "$1" ] && [ $(($3 - $1)) -lt 28 ]
		done
		touch $kind/end
		wait_for 60 "[ -s $kind/live_all.json ]"'
done

done_testing
