#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Messages whose sender and receiver are on different nodes, against messages that
# carry the truth. With VFTR_TEST_CLOCK the agents of node2 and
# node3 see other times.
test_description='sends and receives are matched across nodes'
. "$(dirname "$0")/../lib/lib.sh"
need mpirun.openmpi mpicc.openmpi jq
need_built "$AGENT" "$LIB/libvftrace-openmpi.so" "$LIB/vftr/peer-openmpi.so"
nodes_up 3
. "$T/lib/clocks.sh"
mpicc_traced openmpi "$BIN/match" "$T/mpi/program/app-mpi-match.c" -pthread
rounds=${VFTR_LONG:+200}
rounds=${rounds:-25}

echo 0,0,0 >clock.node1
echo 3.25,50,5 >clock.node2
echo 7200,-50,0 >clock.node3
# the agents say which pairs they found
VFTR_TEST_PAIRS=$PWD/pairs
export VFTR_TEST_PAIRS

# run DIR LEVEL SEED [OPTION OF MPIRUN...]: six ranks
run() {
	dir=$1 level=$2 seed=$3
	shift 3
	rm -f truth.* pairs.*
	mkdir "$dir"
	agents_up "$dir" -k agent.deadline_s=300
	limit $(nodes_mpirun 2) --mca mpi_yield_when_idle 1 -x VFTR_RUNTIME_DIR -x VFTR_SESSION="$dir" \
		"$@" -np 6 "$BIN/match" "$level" "$seed" "$rounds" "$PWD/truth"
	wait $agents
	is '6 3 0' "$(json "$dir/match_all.json" '"\(.ranks) \(.nodes) \(.lost_messages)"')" 'ranks, nodes, losses'
	awk -f "$T/mpi/match-truth.awk" truth.* pairs.* >compared 2>wrong
	cat compared
	head -n 20 wrong
	set -- $(cat compared)
	messages=$2
	[ "$messages" -gt 100 ]
}

# count DIR FILTER: of its member matching
count() {
	json "$1/match_all.json" ".matching | $2"
}

# across: messages in the truth between ranks of different nodes; with an argument they are in turn
across() {
	awk -v turn="$1" 'function node(r) { return turn ? r % 3 : int(r / 2) }
		node($1) != node($4) { n++ } END { print n + 0 }' truth.*
}

test_expect 'ranks by slot: each pair is right and exact, also those of two nodes' '
	run slot serialized 1
	is "messages $messages right $messages unmatched 0 exact $messages wrong 0" "$(cat compared)"
	is $messages $(count slot .pairs.exact) "pairs in the summary"
	is 0 $(count slot "(.unmatched_sends | add) + (.unmatched_recvs | add)") unmatched
	[ $(across) -gt 20 ]
	is $messages $(json slot/match_all.json ".thread_pairs | map(.messages) | add") "from thread to thread"
'

test_expect 'ranks in turn on the nodes: the same' '
	run turn single 3 --map-by node
	is "messages $messages right $messages unmatched 0 exact $messages wrong 0" "$(cat compared)"
	[ $(across 1) -gt 50 ]
'

test_expect 'W5: the clocks are seconds apart and drift: corrected, no message is received before it is sent' '
	is "reference compared compared" "$(json slot/match_all.json "[.clocks[].state] | join(\" \")")"
	is 0 $(count slot .violations) violations
	is 0 $(count turn .violations) violations
	has slot/match_all.log "Clock violations:            0"
	hasnt slot/match_all.log "before they were sent"
'

test_expect 'MPI_THREAD_MULTIPLE: each pair is right, or labelled ambiguous' '
	run multiple multiple 2
	hasnt wrong "# wrong: pair exact"
	is $messages $(count multiple ".pairs.exact + .pairs.ambiguous") pairs
	[ $(count multiple .pairs.exact) -gt 0 ]
'

test_expect 'the log of a node has the messages from thread to thread, and so has the summary' '
	for log in multiple/match_node_node1.log multiple/match_node_node3.log multiple/match_all.log; do
		has $log "Messages from thread to thread (rank.thread)"
	done
'

# The job is told when to go on by a file.
test_expect 'an agent is killed: its pairs are missing and counted, the others are right, nobody waits' '
	rm -f truth.* pairs.*
	mkdir killed
	agents_up killed -k agent.deadline_s=300
	limit $(nodes_mpirun 2) --mca mpi_yield_when_idle 1 -x VFTR_RUNTIME_DIR -x VFTR_SESSION=killed \
		-np 6 "$BIN/match" single 4 "$rounds" "$PWD/truth" wait "$PWD/go" &
	wait_for 20 "test -e truth.5 && test \$(wc -l <truth.0) -gt 0"
	nodes_run node2 sh -c "kill -9 \$(head -n 1 $VFTR_RUNTIME_DIR/killed.lock)"
	: >go
	since=$(date +%s)
	wait $agents
	no_later 45 $since # without word of the dead one it would be more
	is "node2" "$(json killed/match_all.json ".agents[] | select(.missing) | .host")"
	awk -f "$T/mpi/match-truth.awk" truth.* pairs.node1 pairs.node3 >compared 2>wrong
	cat compared
	hasnt wrong "# wrong: pair"
	[ $(count killed .pairs.exact) -gt 50 ]
	[ $(count killed .unmatched_recvs.no_send) -gt 20 ]
	[ $(count killed .unmatched_sends.other_node) -gt 20 ]
	has killed/match_all.log "agent did not get them"
'

. "$T/lib/waits.sh"
test_expect 'late senders on other nodes, whose clocks go wrong: what was waited for them' '
	rm -f truth.*
	mpicc_traced openmpi "$BIN/late" "$T/mpi/program/app-mpi-late.c"
	mkdir late
	agents_up late -k agent.deadline_s=300
	limit $(nodes_mpirun 1) --mca mpi_yield_when_idle 1 -x VFTR_RUNTIME_DIR -x VFTR_SESSION=late \
		-np 3 "$BIN/late" "$PWD/truth" 20
	wait $agents
	same_waits late/late_all.json
	is 6 "$(json late/late_all.json ".thread_pairs | map(.to, .from) | unique | length * 2")"'

done_testing
