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

known_nodes_up

test_expect 'openmpi on two nodes, by agents with clocks an hour apart that drift: waits were compared' '
	known_nodes mpi
	jq -e ".waits_between_nodes | map(.not_compared) | add == 0" nodes/known-mpi-openmpi_all.json'

test_expect 'openmpi on two nodes: all waits are what the program says, within the error of the clocks' '
	known_nodes_amounts mpi late_receiver'

test_expect 'openmpi on two nodes: what late senders on the other node did is what the program says' '
	of_messages=$(awk "\$1 == \"meant\" && \$3 ~ /late_sender|wrong_order/ { print \$2 }" truth.nodes | uniq)
	for property in $of_messages; do
		known_functions $property truth.nodes found.nodes || bad="$bad $property"
		known_meant $property truth.nodes found.nodes || bad="$bad $property"
	done
	is "" "$bad" "properties"
	[ $(echo $of_messages | wc -w) -ge 5 ]'

done_testing
