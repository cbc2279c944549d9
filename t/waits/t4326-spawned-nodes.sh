#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='known waits between ranks and those that they have spawned on another node'
. "$(dirname "$0")/../lib/lib.sh"
. "$T/lib/known.sh"
need jq
need_built "$AGENT" "$VFTR"
known_nodes_up

test_expect 'openmpi: two ranks spawn two on another node, and all wait for each other' '
	mpicc_traced openmpi "$BIN/known-spawn-openmpi" "$T/mpi/known/app-known-spawn.c" \
		"$T/mpi/known/known.c" "$T/mpi/known/known-below.c"
	mkdir nodes
	agents_up nodes
	limit $(nodes_mpirun 2) --mca mpi_yield_when_idle 1 -x VFTR_RUNTIME_DIR -x VFTR_SESSION=nodes \
		-np 2 "$BIN/known-spawn-openmpi" nodes.shared node2 >truth
	wait $agents
	json=nodes/known-spawn-openmpi_all.json
	jq -c "[.per_rank[] | [.rank, .node]]" $json
	jq -e "[.clocks[].error_s // 0] | max | . > 0 and . < 0.001" $json
	[ $(grep -c "^meant " truth) -eq 34 ]
	known_found $json >found'

# who has met whom by a port is known on one node only
test_expect 'openmpi: each message between the two jobs has its partner' '
	jq -c .matching nodes/known-spawn-openmpi_all.json
	jq -e ".matching | .pairs.exact == 13 * 6 + 1 and ([.unmatched_sends[]] | add) == 0" \
		nodes/known-spawn-openmpi_all.json'

test_expect 'openmpi: all waits are what the program says, within the error of the clocks' '
	error=$(known_nodes_error spawn) bad=
	for property in $(awk "\$1 == \"meant\" && \$2 !~ /met/ { print \$2 }" truth) elsewhere; do
		known_amounts $property truth found none $error || bad="$bad $property"
	done
	is "" "$bad" "properties"'

test_expect 'openmpi: what late senders on the other node did is what the program says' '
	bad=
	of_messages=$(awk "\$1 == \"meant\" && \$2 !~ /met/ && \$3 == \"late_sender\" { print \$2 }" truth | uniq)
	for property in $of_messages; do
		known_functions $property truth found || bad="$bad $property"
		known_meant $property truth found || bad="$bad $property"
	done
	is "" "$bad" "properties"
	[ $(echo $of_messages | wc -w) -ge 8 ]'

done_testing
