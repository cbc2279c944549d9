#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A batch system sends SIGTERM to all, and SIGKILL 30 s later: here one agent is stopped meanwhile.
test_description='SIGTERM to all agents over TCP, one of which is stopped: the others are in time'
. "$(dirname "$0")/../lib/lib.sh"
need jq ip
need_built "$AGENT" "$LIB/libvftrace.so"
nodes_up 3
. "$T/lib/tcp.sh"

# agent and proxy on a node
both_of() {
	agent=$(agent_of "$1" "$2")
	echo "$agent $(nodes_run "$2" ps -o ppid= -p "$agent")"
}

# ended_with STOPPED ENDED...: the summary is there within 25 s of SIGTERM; on a busy machine, later
ended_with() {
	stopped=$1
	shift
	three "$stopped"
	begin "$stopped" node1 node2 node3
	for node in node1 node2 node3; do agent_of "$dir" $node >"$dir/$node.pid"; done
	both=$(both_of "$dir" "$stopped")
	nodes_run "$stopped" kill -STOP $both
	sent=$(date +%s.%N)
	for node in node1 node2 node3; do nodes_run $node kill "$(cat "$dir/$node.pid")" || :; done
	touch "$dir/go"
	wait_for 60 "test -s $dir/$LAST"
	# for its end they wait longer: as long as it is stopped, in the long form
	[ "$VFTR_LONG" ] || nodes_run "$stopped" kill -KILL $both
	for node; do wait_for 90 "test -s $dir/$node.status"; done
	[ -z "$VFTR_LONG" ] || nodes_run "$stopped" kill -KILL $both
	cat "$dir"/*.err
	took=$(awk "BEGIN { print $(stat -c %.9Y "$dir/$LAST") - $sent }")
	echo "# $LAST after $took s"
	awk "BEGIN { exit !($took < $(patient 25)) }"
}

test_expect 'the agent of node3 is stopped: the summary has the others' '
	LAST=service_all.json
	ended_with node3 node1 node2
	is "node3" "$(json node3/service_all.json ".agents[] | select(.missing) | .host")" missing'

test_expect 'agent 0 is stopped: the others have written their profiles' '
	LAST=service_node3.vfp
	ended_with node1 node2 node3
	test -s node1/service_node2.vfp
	for node in node2 node3; do
		has node1/service_node_$node.log "the ids of stacks in the logs of this node"
		has node1/$node.err "the ids of stacks in the logs of this node"
	done'

done_testing
