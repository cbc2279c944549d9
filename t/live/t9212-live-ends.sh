#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Viewers that come before there is a rank, that are killed, and that are there when an agent dies
# or the job ends: over each of the networks that agents talk over.
test_description='viewers and agents that come early, go or die'
. "$(dirname "$0")/../lib/lib.sh"
need mpirun.openmpi mpicc.openmpi jq ip ss
need_built "$AGENT" "$VFTR" "$LIB/libvftrace-openmpi.so" "$LIB/vftr/peer-openmpi.so"
nodes_up 3
. "$T/lib/live.sh"

mpich=false
mpich_starts >/dev/null 2>&1 && mpich=true

# agent_on DIR NODE
agent_on() {
	nodes_run "$2" head -n 1 "$VFTR_RUNTIME_DIR/$1.lock"
}

for kind in openmpi tcp ${VFTR_LONG:+mpich}; do
	possible=true
	[ $kind = mpich ] && possible=$mpich

	test_if $possible 'MPICH starts no programs on these nodes' \
		"$kind: a viewer that is there before all ranks sees none, and then all" '
		live_agents $kind $kind -k clock.sync_interval_s=1
		viewer_on node2 $kind early.$kind -d 500ms
		wait_for 60 "has_line early.$kind \".total.processes == 0 and .total.calls == 0\""
		live_job $kind 4
		wait_for 60 "has_line early.$kind \".complete and .total.processes == 6 and .per_rank[0].rank == 4\""
		jq -e -s "all(.[]; .nodes_missing == 0)" early.$kind'

	test_if $possible 'MPICH starts no programs on these nodes' \
		"$kind: a viewer that is killed is no harm to another one" '
		viewer_on node2 $kind other.$kind -d 500ms
		wait_for 60 "has_line other.$kind \".complete and .total.processes == 6\""
		nodes_run node2 kill -9 $(cat other.$kind.pid)
		wait_for 20 "[ -s other.$kind.status ]"
		is 137 "$(cat other.$kind.status)"
		seen=$(wc -l <early.$kind)
		wait_for 30 "[ \$(wc -l <early.$kind) -gt $((seen + 10)) ]"
		nodes_run node2 kill -9 $(cat early.$kind.pid)
		all_there $kind
		still $kind node2 view.$kind
		true_counts $kind view.$kind'

	test_if $possible 'MPICH starts no programs on these nodes' \
		"$kind: a viewer sees the end of the job, and ends in order" '
		for node in node1 node3; do
			viewer_on $node $kind last.$kind.$node -d 500ms
			wait_for 60 "has_line last.$kind.$node \".complete and .total.processes == 6\""
		done
		touch $kind/end
		for node in node1 node3; do
			wait_for 60 "[ -s last.$kind.$node.status ]"
			is 0 "$(cat last.$kind.$node.status)"
		done
		wait_for 60 "[ -s $kind/live_all.json ]"
		is 6 "$(calls_of $kind/live_all.json "wait_for_end<main<init")"
		is 0 "$(json $kind/live_all.json "[.agents[] | select(.missing)] | length")"'

	test_if $possible 'MPICH starts no programs on these nodes' \
		"$kind: an agent that dies is named to a viewer that was there, with what the others see" '
		live_agents $kind dies.$kind -k clock.sync_interval_s=1
		live_job dies.$kind 1
		viewer_on node1 dies.$kind dies.seen -d 500ms
		wait_for 60 "has_line dies.seen \".complete and .total.processes == 6\""
		nodes_run node3 kill -9 $(agent_on dies.$kind node3)
		wait_for 60 "has_line dies.seen \".nodes_seen == 2 and .total.processes == 4 and .missing[0].node == \\\"node3\\\"\""
		seen=$(wc -l <dies.seen)
		wait_for 30 "[ \$(wc -l <dies.seen) -gt $((seen + 4)) ]"
		touch dies.$kind/stop dies.$kind/end
		wait $program || :
		wait_for 60 "[ -s dies.seen.status ]"
		is 0 "$(cat dies.seen.status)"
		wait || :'
done

done_testing
