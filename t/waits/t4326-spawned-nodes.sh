#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='known waits between ranks and those that they have spawned on another node'
. "$(dirname "$0")/../lib/lib.sh"
. "$T/lib/known.sh"
need jq
need_built "$AGENT" "$VFTR"
need mpirun.openmpi
nodes_up 3
. "$T/lib/clocks.sh"
. "$T/lib/tcp.sh"
echo 0,0,0 >clock.node1
echo 3600,50,5 >clock.node2
echo -1800,-30,5 >clock.node3
mpicc_traced openmpi "$BIN/spawn" "$T/mpi/known/app-known-spawn.c" "$T/mpi/known/known.c" \
	"$T/mpi/known/known-below.c" || { echo "Bail out! app-known-spawn.c does not build"; exit 1; }

for kind in mpi tcp; do
	mkdir $kind
	export kind
	test_expect "agents over $kind: two ranks spawn two on another node, and all wait for each other" '
		case $kind in
		mpi) agents_up mpi; child=node2 ;;
		tcp) AGENT=$PWD/agent; three tcp -q; child=node3 ;;
		esac
		limit $(nodes_mpirun 2) --mca mpi_yield_when_idle 1 -x VFTR_RUNTIME_DIR -x VFTR_SESSION=$kind \
			-np 2 "$BIN/spawn" $kind.shared $child >truth.$kind
		[ $kind = tcp ] || wait $agents
		[ $kind = mpi ] || statuses tcp 0 0 0
		jq -c "[.per_rank[] | [.rank, .node]]" $kind/spawn_all.json
		jq -e "[.clocks[].error_s // 0] | max | . > 0 and . < 0.001" $kind/spawn_all.json
		[ $(grep -c "^meant " truth.$kind) -eq 38 ]
		known_found $kind/spawn_all.json >found.$kind'

	test_expect "agents over $kind: each message between the two jobs has its partner" '
		jq -c .matching $kind/spawn_all.json
		jq -e ".matching | .pairs.exact == 16 * 6 + 1 and ([.unmatched_sends[], .unmatched_recvs[]] | add) == 0" \
			$kind/spawn_all.json'

	# collective calls are compared between jobs; those of groups with ranks of both, on each node
	test_expect "agents over $kind: all waits are what the program says, within the error of the clocks" '
		error=$(jq "2 * ([.clocks[].error_s // 0] | max)" $kind/spawn_all.json) bad=
		for property in $(awk "\$1 == \"meant\" && \$2 !~ /crossed_late_at/ { print \$2 }" \
			truth.$kind) elsewhere; do
			known_amounts $property truth.$kind found.$kind none $error || bad="$bad $property"
		done
		is "" "$bad" "properties"
		grep "^wait crossed_late_at_barrier MPI_Barrier .* barrier 3 " found.$kind'

	test_expect "agents over $kind: what late senders on the other node did is what the program says" '
		bad=
		of_messages=$(awk "\$1 == \"meant\" && \$3 == \"late_sender\" { print \$2 }" truth.$kind | uniq)
		for property in $of_messages; do
			known_functions $property truth.$kind found.$kind || bad="$bad $property"
			known_meant $property truth.$kind found.$kind || bad="$bad $property"
		done
		is "" "$bad" "properties"
		[ $(echo $of_messages | wc -w) -ge 8 ]'
done

done_testing
