#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Two (pseudo-)nodes of two ranks each, with a sampling file each: what ranks of one wait for
# those of the other, on the clock of both.
test_description='critical path and waits of a job on several nodes'
. "$(dirname "$0")/../lib/lib.sh"
need mpirun.openmpi mpicc.openmpi jq
need_built "$AGENT" "$VFTR" "$LIB/libvftrace-openmpi.so" "$LIB/vftr/peer-openmpi.so"
nodes_up 2
. "$T/lib/clocks.sh"
. "$T/lib/efficiency.sh"
. "$T/lib/waits.sh"
mpicc_traced openmpi "$BIN/causal" "$T/mpi/causal/app-causal.c" &&
	mpicc_traced openmpi "$BIN/random" "$T/mpi/causal/app-causal-random.c" ||
	{ echo "Bail out! the programs of t/mpi/causal do not build"; exit 1; }

# of_window JSON: the critical path is as long as the window, products and sums hold
of_window() {
	jq -e '(.critical_path | map(.t_s) | add) as $length | .efficiency |
		($length - .window_s | fabs) < 1e-6 and
		(.load_balance * .serialisation * .transfer - .parallel | fabs) < 1e-9 and
		.useful_max_s <= .ideal_s and .ideal_s <= .window_s + 0.001' "$1" &&
		jq -e '((.delays | map(.cost_s) | add // 0) - .mpi_wait_s | fabs) < 1e-6' "$1"
}

# late_sender FOLDER OUT: rank 0 made rank 3 wait, as long as the clock of both said
late_sender() {
	"$VFTR" critical-path --json "$1" >json
	jq -e '.waits[0] | .kind == "late_sender" and .path == "MPI_Recv<late<main<init" and
		.calls > 3 and .calls <= 6 and .for[0].rank == 0 and
		(.causes[0] | .rank == 0 and .path == "work<culprit<late<main<init")' json
	close "$(awk '$1 == "waited" { print $2 }' "$2")" "$(jq '.waits[0].t_s' json)"
	of_window json
	is "[]" "$(jq -c .estimated json)"
	is "node1 node1 node2 node2" "$(jq -r '[.per_rank[].node] | join(" ")' json)"
	is "0 node1" "$(jq -r '.critical_path[0] | "\(.rank) \(.node)"' json)"
}

test_expect 'a late sender on another node' '
	limit "$VFTR" run -q --trace -o late -- $(nodes_mpirun 2) -np 4 "$BIN/causal" late >out
	late_sender late out
	cp json late.json'

test_expect 'the same numbers by vftr efficiency --exact' '
	"$VFTR" efficiency --exact --json late >efficiency.json
	is "$(jq .efficiency.serialisation late.json)" "$(jq ".runs[0].serialisation" efficiency.json)"
	close "$(jq .efficiency.transfer late.json)" "$(jq ".runs[0].transfer" efficiency.json)"'

test_expect 'a rank that is late before MPI_Allreduce: those of both nodes wait for it' '
	limit "$VFTR" run -q --trace -o straggler -- $(nodes_mpirun 2) -np 4 "$BIN/causal" straggler
	"$VFTR" critical-path --json straggler >json
	jq -e ".waits[0] | .kind == \"nxn\" and .for[0].rank == 3 and
		(.causes[0] | .rank == 3 and .path == \"work<culprit<straggler<main<init\")" json
	jq -e ".delays[0] | .rank == 3 and .node == \"node2\" and .cost_s > 0.8 * 3 * 3 * 0.15" json'

test_expect 'random programs: what is earlier than its cause by the clocks is no contradiction' '
	for seed in 1 2 3 ${VFTR_LONG:+4 5 6 7 8 9 10}; do
		rm -rf random
		limit "$VFTR" run -q --trace -o random -- $(nodes_mpirun 2) --mca osc pt2pt,sm -np 4 "$BIN/random" $seed 2 25
		"$VFTR" critical-path --json random >json
		of_window json
		"$VFTR" waits --json random >online.json
		like_probes json online.json
		is "[]" "$(jq -c ".estimated - [\"untold_calls\"]" json)"
		jq -e ".unresolved_s < 0.1 * .mpi_wait_s and .mpi_wait_s > 0.001" json
	done'

test_expect 'a node whose file is missing: that is said, and waits for its ranks are not there' '
	mkdir part
	cp late/node2.vfd part
	"$VFTR" critical-path --json part >json
	jq -e ".estimated | index(\"missing_ranks\") and index(\"unmatched_receives\")" json
	jq -e "all(.waits[]; .path != \"MPI_Recv<late<main<init\")" json'

# Clocks of the nodes are an hour apart, and drift: what was compared tells one from the other.
echo 0,0,0 >clock.node1
echo 3600,20,0 >clock.node2
test_expect 'clocks that are an hour apart, and drift' '
	mkdir apart
	agents_up apart --expect 2 -k sampling.active=true -k sampling.sample_interval=0
	VFTR_SESSION=apart limit $(nodes_mpirun 2) -np 4 -x VFTR_SESSION -x VFTR_RUNTIME_DIR \
		"$BIN/causal" late >out
	wait $agents
	late_sender apart out'
done_testing
