#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What agents tell each other of waits by default: while a job runs that makes collective calls
# between nodes as often as it can, less than 100 kB/s each.
test_description='what agents tell each other of waits while a job runs'
. "$(dirname "$0")/../lib/lib.sh"
need mpirun.openmpi mpicc.openmpi jq ss
need_built "$AGENT" "$LIB/libvftrace-openmpi.so" "$LIB/vftr/peer-openmpi.so"
nodes_up 2
. "$T/lib/clocks.sh"
for node in 1 2; do echo 0,0,0 >clock.node$node; done
mpicc_traced openmpi "$BIN/often" "$T/live/app-mpi-often.c" ||
	{ echo "Bail out! app-mpi-often.c does not build"; exit 1; }

# agents_sent NODE: bytes, on all connections of its agent and the agent's proxy
agents_sent() {
	nodes_run "$1" ss -Htinp | awk '
		/users:/ { ours = /"vftr-node-agent"/ }
		ours && match($0, /bytes_sent:[0-9]+/) { sum += substr($0, RSTART + 11, RLENGTH - 11); n++ }
		END { if (!n) exit 1; print sum }'
}

test_expect 'the agents have connections, on which each sends less than 100 kB/s' '
	mkdir job
	agents_up job -k clock.sync_interval_s=1
	limit $(nodes_mpirun 2) --mca mpi_yield_when_idle 1 -x VFTR_RUNTIME_DIR -x VFTR_SESSION=job \
		-np 4 "$BIN/often" "$PWD/job" >made &
	program=$!
	wait_for 60 "[ -e job/begun ]"
	wait_for 60 "agents_sent node1 && agents_sent node2"
	for node in node1 node2; do echo "$(date +%s.%N) $(agents_sent $node)"; done >before
	sleep 5
	for node in node1 node2; do echo "$(date +%s.%N) $(agents_sent $node)"; done >after
	touch job/end
	wait $program
	wait $agents
	paste -d " " before after | awk "{ rate = (\$4 - \$2) / (\$3 - \$1); print rate, \"B/s\"
		if (rate >= 1e5) bad = 1 } END { exit bad || NR != 2 }"'

test_expect 'when it is over they have compared each call, and none is estimated' '
	read calls rate <made
	echo "$calls collective calls, $rate in a second"
	[ "$calls" -gt 1000 ]
	is $((4 * calls)) "$(json job/often_all.json "[.waits_between_nodes[].calls] | add")" calls
	is "false 0" "$(json job/often_all.json "[(.waits_between_nodes | any(.estimated)),
		([.waits_between_nodes[].not_compared] | add)] | map(tostring) | join(\" \")")"'

done_testing
