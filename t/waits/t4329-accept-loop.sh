#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='partners of messages between a server and clients that it accepts one after the other'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$VFTR"
need mpirun.openmpi
nodes_up 3
. "$T/lib/clocks.sh"
. "$T/lib/tcp.sh"
for node in node1 node2 node3; do
	echo 0,0,0 >clock.$node
done
mpicc_traced openmpi "$BIN/accept-loop" "$T/waits/app-accept-loop.c" ||
	{ echo "Bail out! app-accept-loop.c does not build"; exit 1; }

for kind in mpi tcp; do
	mkdir $kind
	export kind
	test_expect "agents over $kind: messages between a server and two clients, each on its node, have their partners" '
		case $kind in
		mpi) agents_up mpi ;;
		tcp) AGENT=$PWD/agent; three tcp -q ;;
		esac
		limit $(nodes_mpirun 1) --mca mpi_yield_when_idle 1 -x VFTR_RUNTIME_DIR -x VFTR_SESSION=$kind \
			-np 1 "$BIN/accept-loop" node2 node3
		[ $kind = tcp ] || wait $agents
		[ $kind = mpi ] || statuses tcp 0 0 0
		jq -c "[.per_rank[] | [.rank, .node]], .matching" $kind/accept-loop_all.json
		# all of the talks by a port; which of two children that were spawned alike has which of
		# the four messages before them may come too late (vftr-limits(7))
		jq -e ".matching | .pairs.exact as \$n | \$n >= 2 * 2 * 100 and
			([.unmatched_sends[]] | add) == 2 * (2 * 100 + 2) - \$n and
			([.unmatched_recvs[]] | add) == 2 * (2 * 100 + 2) - \$n" $kind/accept-loop_all.json'
done

done_testing
