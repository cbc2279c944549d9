#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='MPI ranks and other processes in one session'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$VFTR" "$LIB/libvftrace.so"

$TEST_CC $TEST_FLAGS -I"$TOP/libhook" -o "$BIN/one" "$T/session/app-session.c" -pthread $(test_link vftrace) ||
	skip_all 'app-session.c cannot be compiled'

for MPI in $(mpi_list_short); do
	export MPI
	test_expect "$MPI: ranks keep their place, messages of both kinds are matched" '
		mpicc_traced $MPI "$BIN/mixed-$MPI" "$T/session/app-session-mpi.c"
		mkdir $MPI
		cd $MPI
		export VFTR_SESSION=$MPI VFTR_AGENT=off
		("$AGENT" -q -k sampling.active=true >agent.out 2>agent.err; echo $? >agent.status) &
		wait_for 10 "test -S $VFTR_RUNTIME_DIR/$MPI.sock"
		limit "$BIN/one" service join=0 start=20 ring=w=4 finish >service.out 2>&1 &
		limit $(mpirun_of $MPI) -np 2 "$BIN/mixed-$MPI" 4 >mpi.out 2>&1 || { cat mpi.out; false; }
		wait_for 20 "test -s agent.status"
		cat mpi.out service.out agent.err
		all=$(ls ./*_all.json)
		is 20 "$(json $all .matching.pairs.exact)" "messages matched exactly"
		is "0 0" "$(json $all "\"\\(.matching.unmatched_sends | add) \\(.matching.unmatched_recvs | add)\"")"
		is "2 1" "$(json $all "\"\\(.ranks) \\(.unranked)\"")"
		"$VFTR" dump --json ./*.vfd >dump.json
		arrows() {
			jq -r ".events[] | select(.event == \"message\" and .tag == 7 and .kind == \"$1\") | .flow" dump.json |
				grep -vx 0000000000000000 | sort
		}
		arrows send >sends
		arrows recv | cmp sends -
		is 12 "$(sort -u sends | wc -l)" "arrows in the session"
		is "4 4" "$(json $all "[.communication_matrix[] | select(.from != null and .to != null) | .sends] | map(tostring) | join(\" \")")"'
done

mpi_list | grep -qx openmpi || { done_testing; exit; }
nodes_up 2
. "$T/lib/tcp.sh"

# launched DIR [AGENT OPTION...]: agents on both nodes, started by mpirun
launched() {
	dir=$1
	shift
	mkdir -p "$dir"
	(
		got=0
		limit $(nodes_mpirun 1) --map-by ppr:1:node -x VFTR_RUNTIME_DIR -x VFTR_SESSION="$dir" \
			${ASAN_OPTIONS:+-x ASAN_OPTIONS} ${LSAN_OPTIONS:+-x LSAN_OPTIONS} \
			"$AGENT" -q -o "$PWD/$dir" "$@" >"$dir/agents.out" 2>&1 || got=$?
		echo $got >"$dir/status"
	) &
	up "$dir" node1 node2
}

one() {
	one_dir=$1 one_node=$2 one_name=$3
	shift 3
	(
		cd "$one_dir"
		got=0
		run "$one_dir" "$one_node" "$BIN/one" "$one_name" "$@" >"$one_name.out" 2>"$one_name.err" || got=$?
		echo $got >"$one_name.status"
	) &
}

test_expect 'agents that mpirun started: a session on node2, agent 0 is on node1; --on-death abort' '
	launched far --on-death abort
	one far node2 a join=0 expect=2 start=20 ring=w=5 create=w=1,0=20 touch=made sleep=30
	one far node2 b join=1 start=20 ring=w=5 create=w=1,0=20 wait=made die=9
	wait_for 40 "test -s far/status"
	cat far/*.out far/*.err
	has far/agents.out "session: b (pid"
	has far/agents.out "on node2) has died before round 1 was finished"
	is "143 137" "$(echo $(cat far/a.status far/b.status))"
	is 0 "$(cat far/status)"
	is 10 "$(json far/one_all.json .matching.pairs.exact)"'

test_expect 'ranks on two nodes wait for each other: said when both do, with the stacks of both' '
	mpicc_traced openmpi "$BIN/mutual" "$T/nodes/app-mpi-mutual.c"
	mkdir mutual
	traced -q -o mutual -k agent.deadlock_s=2 -- $(nodes_mpirun 1) -np 2 "$BIN/mutual" 3 $PWD/alone >mutual.out 2>mutual.err &
	wait_for 30 "test -e alone"
	! grep MPI_Recv mutual/stacks_node1.log || exit 1
	wait_for 20 "grep -q MPI_Recv mutual/stacks_node1.log && grep -q MPI_Recv mutual/stacks_node2.log"
	cat mutual/stacks*
	has mutual/stacks_node1.log "MPI_Recv<stuck<main<init"
	has mutual/stacks_node2.log "MPI_Recv<stuck<main<init"
	wait_for 20 "test -s mutual/mutual_node_node1.log && test -s mutual/mutual_node_node2.log"
	for node in node1 node2; do nodes_run $node sh -c "kill -9 \$(grep -l ^$BIN/mutual /proc/[0-9]*/cmdline | cut -d/ -f3)"; done || :
	wait
	cat mutual.err
	has mutual.err "no thread has recorded anything for 2 s"'

done_testing
