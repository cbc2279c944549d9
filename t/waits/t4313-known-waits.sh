#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Which property is in which row: t/mpi/known/README.
test_description='waits in programs after ATS and PPerfMark, which stamp their calls themselves'
. "$(dirname "$0")/../lib/lib.sh"
. "$T/lib/known.sh"
need jq
need_built "$AGENT" "$VFTR"
mpis=$(mpi_list)
[ -n "$mpis" ] || skip_all 'no MPI on this machine'

for mpi in $mpis; do
	test_expect "$mpi: the program runs, and has stamped calls of each property" "
		known_run mpi $mpi 4
		[ \$(grep -c '^meant ' truth.mpi.$mpi) -ge 30 ]"
	known_rows mpi "$mpi"
done

# refused SED_COMMAND: what is found, changed so, is not what the program says
refused() {
	sed "$1" sound >changed
	if cmp -s sound changed; then return 1; fi
	! known_amounts p truth changed >/dev/null || ! known_functions p truth changed >/dev/null ||
		! known_meant p truth changed >/dev/null
}

test_expect 'another kind, call, rank, function, time or part of it is no match' '
	echo "meant p nxn MPI_X here 2 work" >truth
	echo "wait p MPI_X here nxn 2 0.100000 0.100100 4 work 0.9" >>truth
	echo "wait p MPI_X here nxn 2 0.1005" >sound
	echo "cause p MPI_X here nxn 2 work 0.95" >>sound
	known_amounts p truth sound && known_functions p truth sound && known_meant p truth sound
	for change in s/nxn/barrier/ s/MPI_X/MPI_Y/ s/here/there/ "s/nxn 2/nxn 1/" s/work/play/ \
		s/0.1005/0.1012/ s/0.1005/0.0989/ "s/work 0.95/work 0.85/" "s/^cause.*//" "s/^wait.*//" \
		"1s/\$/\nwait p MPI_X here nxn 3 0.0001/"; do
		refused "$change" || { echo "$change"; exit 1; }
	done
	echo "meant p nothing" >truth
	refused "s/work/play/"'

# ---- the same on nodes with clocks of their own, each rank beside one that is not its neighbour --------

need mpirun.openmpi
nodes_up 2
. "$T/lib/clocks.sh"
echo 0,0,0 >clock.node1
echo 3600,50,5 >clock.node2

test_expect 'openmpi on two nodes, by agents with clocks an hour apart that drift: waits were compared' '
	mkdir nodes
	agents_up nodes
	limit $(nodes_mpirun 2) --mca mpi_yield_when_idle 1 -x VFTR_RUNTIME_DIR -x VFTR_SESSION=nodes \
		--map-by node -np 4 "$BIN/known-mpi-openmpi" nodes.shared >truth.nodes
	wait $agents
	is "node1 node2 node1 node2" "$(json nodes/known-mpi-openmpi_all.json "[.per_rank[].node] | join(\" \")")"
	jq -e ".waits_between_nodes | map(.not_compared) | add == 0" nodes/known-mpi-openmpi_all.json
	jq -e "[.clocks[].error_s // 0] | max | . > 0 and . < 0.001" nodes/known-mpi-openmpi_all.json
	known_found nodes/known-mpi-openmpi_all.json >found.nodes'

test_expect 'openmpi on two nodes: all waits are what the program says, within the error of the clocks' '
	error=$(jq "2 * ([.clocks[].error_s // 0] | max)" nodes/known-mpi-openmpi_all.json)
	is "$(grep "^meant " truth.mpi.openmpi)" "$(grep "^meant " truth.nodes)"
	for property in $(awk "\$1 == \"meant\" { print \$2 }" truth.nodes) elsewhere; do
		known_amounts $property truth.nodes found.nodes late_receiver $error || bad="$bad $property"
	done
	is "" "$bad" "properties"'

test_expect 'openmpi on two nodes: what late senders on the other node did is what the program says' '
	of_messages=$(awk "\$1 == \"meant\" && \$3 ~ /late_sender|wrong_order/ { print \$2 }" truth.nodes | uniq)
	for property in $of_messages; do
		known_functions $property truth.nodes found.nodes || bad="$bad $property"
		known_meant $property truth.nodes found.nodes || bad="$bad $property"
	done
	is "" "$bad" "properties"
	[ $(echo $of_messages | wc -w) -ge 5 ]'

done_testing
