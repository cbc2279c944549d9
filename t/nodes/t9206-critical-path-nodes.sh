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
mpicc_traced openmpi "$BIN/causal" "$T/mpi/causal/app-causal.c" ||
	{ echo "Bail out! app-causal.c does not build"; exit 1; }

# late_sender FOLDER OUT: rank 0 made rank 3 wait, as long as the clock of both said
late_sender() {
	"$VFTR" critical-path --json "$1" >json
	jq -e '.waits[0] | .kind == "late_sender" and .path == "MPI_Recv<late<main<init" and
		.calls == 10 and .for[0].rank == 0 and
		(.causes[0] | .rank == 0 and .path == "work<culprit<late<main<init")' json
	close "$(awk '$1 == "waited" { print $2 }' "$2")" "$(jq '.waits[0].t_s' json)"
	jq -e '(.critical_path | map(.t_s) | add) as $length | .efficiency |
		($length - .window_s | fabs) < 1e-6 and
		(.load_balance * .serialisation * .transfer - .parallel | fabs) < 1e-9' json
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
	jq -e ".delays[0] | .rank == 3 and .node == \"node2\" and .cost_s > 0.8 * 3 * 3 * 0.04" json'

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
