#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The same as t9210 with agents that talk over TCP: those of `vftr run', and those of processes
# without MPI; with agents that talk over MPICH; and what `vftr top' says where there is nothing to see.
test_description='a view of all nodes, over TCP and MPICH'
. "$(dirname "$0")/../lib/lib.sh"
need mpirun.openmpi mpicc.openmpi jq ip ss
need_built "$AGENT" "$VFTR" "$LIB/libvftrace.so" "$LIB/libvftrace-openmpi.so"
nodes_up 3
. "$T/lib/live.sh"

# top NODE [OPTION...]: a view there
top() {
	node=$1
	shift
	nodes_run "$node" timeout 30 "$VFTR" top --once --json "$@"
}

test_expect 'no agent, an unknown session, a wrong period: each is said' '
	status_of 1 nodes_run node1 "$VFTR" top --once 2>err
	has err "no agent runs here"
	status_of 1 nodes_run node1 "$VFTR" top --once -s nobody 2>err
	has err "nobody.sock: No such file"
	status_of 1 nodes_run node1 "$VFTR" top --once -s a/b 2>err
	has err "no name of a session"
	status_of 2 nodes_run node1 "$VFTR" top --once -d 1ms 2>err
	has err "from 0.25 s"'

test_expect 'vftr run: the view of another node than that of the command has all ranks, exactly' '
	mkdir job
	limit "$VFTR" run -q -o job/results -- $(nodes_mpirun 2) --mca mpi_yield_when_idle 1 \
		-np 6 "$BIN/live" "$PWD/job" 2 &
	program=$!
	wait_for 60 "top node2 >view && jq -e \".total.processes == 6 and .per_rank[0].rank == 2\" view"
	touch job/stop
	wait_for 60 "[ \$(ls job | grep -c ^there) = 6 ]"
	wait_for 30 "top node3 >view && jq -e \".complete and .total.processes == 6 and .total.calls_per_s == 0\" view"
	true_counts job view
	touch job/end
	wait $program'

test_expect 'an agent whose processes are plain ones, and one that is killed' '
	three plain
	begin plain node1 node2 node3
	wait_for 30 "top node2 -s plain >view && jq -e \".complete and .nodes_seen == 3 and .total.processes == 3\" view"
	# each has done as many steps, and two leaves in each
	jq -e "def calls(f): [.paths[] | select(.path | startswith(f)) | .calls] | add;
		calls(\"step\") > 3 and calls(\"leaf\") >= 2 * (calls(\"step\") - 3) and calls(\"main\") == 3" view
	nodes_run node3 kill -9 $(agent_of plain node3)
	wait_for 30 "top node2 -s plain >view && jq -e \".nodes_seen == 2 and .nodes_missing == 1\" view"
	is 2 "$(json view ".missing[].agent")"
	touch plain/go
	wait'

test_expect 'agents in a step: nodes that nobody has looked at are seen; an order that one has not got is told' '
	mkdir step
	limit $(nodes_mpirun 2) --mca mpi_yield_when_idle 1 -x VFTR_RUNTIME_DIR -np 6 "$VFTR" run -q --in-step -o step/results \
		-- "$BIN/live" "$PWD/step" 2 </dev/null &
	program=$!
	wait_for 60 "top node1 >view && jq -e \".complete and .nodes_seen == 3 and .total.processes == 6\" view"
	wait_for 60 "nodes_run node1 timeout 60 \"$VFTR\" top --off work >said"
	is "work is off on 3 nodes" "$(cat said)"
	agent3=$(nodes_run node3 sh -c "head -n 1 $VFTR_RUNTIME_DIR/*.lock")
	nodes_run node3 kill -STOP $agent3
	status_of 1 nodes_run node1 timeout 60 "$VFTR" top --pause >said 2>err
	is "" "$(cat said)"
	is "vftr: top: recording is paused on 2 of 3 nodes; node3 does not answer" "$(cat err)"
	top node1 >view
	is "false 2 1" "$(json view "\"\(.complete) \(.nodes_seen) \(.nodes_missing)\"")"
	nodes_run node3 kill -CONT $agent3
	nodes_run node1 timeout 60 "$VFTR" top --resume
	touch step/stop step/end
	wait $program'

test_if mpich_starts 'MPICH starts no programs on these nodes' 'agents that talk over MPICH: the view of all nodes, exactly' '
	live_agents mpich mpich -k clock.sync_interval_s=2
	live_job mpich 2
	wait_for 60 "top node2 -s mpich >view && jq -e \".total.processes == 6 and .per_rank[0].rank == 2\" view"
	touch mpich/stop
	wait_for 60 "[ \$(ls mpich | grep -c ^there) = 6 ]"
	wait_for 30 "top node3 -s mpich >view && jq -e \".complete and .total.processes == 6 and .total.calls_per_s == 0\" view"
	is "3 0" "$(json view "\"\\(.nodes_seen) \\(.nodes_missing)\"")"
	true_counts mpich view
	touch mpich/end
	wait $program
	wait_for 60 "[ -s mpich/live_all.json ]"
	is 6 "$(calls_of mpich/live_all.json "wait_for_end<main<init")"
	wait || : # MPICH may hang or complain at its end'

done_testing
