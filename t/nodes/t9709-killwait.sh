#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Slurm sends SIGTERM, and 30 s later SIGKILL (KillWait): what is there is written before.
test_description='an agent that does not answer, and SIGTERM: the summary is there in time'
. "$(dirname "$0")/../lib/lib.sh"
need mpirun.openmpi jq
need_built "$AGENT" "$LIB/libvftrace-openmpi.so" "$LIB/vftr/peer-openmpi.so"

ALL_S=25 # ending.h
SMALL_S=4

mpicc_traced openmpi "$BIN/killjob" "$T/session/app-job.c"
cc_plain "$BIN/look" "$T/nodes/app-supervised.c" -lutil

# agents of a run, by its session: they are the children of their proxies
agents_of() {
	local p
	for p in $(pgrep -f -- "--session run-[^ ]*-$1( |\$)"); do
		[ "/proc/$p/exe" -ef "$AGENT" ] || continue
		[ ! "/proc/$(ps -o ppid= -p "$p" | tr -d " ")/exe" -ef "$AGENT" ] || echo "$p"
	done
}

# the agent of a node
agent_on() {
	local p
	for p in $(agents_of "$2"); do
		[ "$(nsenter -t "$p" -u hostname)" != "$1" ] || echo "$p"
	done
}

# hang PID: nothing runs in it, whatever signal it gets; until the file `hung' is removed
hang() {
	"$BIN/look" hang "$1" 300 &
	hung=$!
	wait_for 10 "grep -q \"^State:.t\" /proc/$1/status"
}

# those ranks that an agent has let in: it has given them their rings
traced_ranks() {
	local p n=0
	for p in $(pgrep -x killjob); do
		grep -q "memfd:.*vftr" "/proc/$p/maps" 2>/dev/null && n=$((n + 1))
	done
	echo $n
}

seconds_since() {
	awk -v from="$1" -v to="$(date +%s.%N)" 'BEGIN { print to - from }'
}

below() {
	awk -v value="$1" -v bound="$2" 'BEGIN { exit !(value < bound) }'
}

# in_time BEGIN: since then no more than all that there is
in_time() {
	took=$(seconds_since "$1")
	echo "took $took s: $(tail -n 3 said | tr "\n" "|")"
	below "$took" $((ALL_S + SMALL_S))
}

# killed_job NODE: 3 nodes, the agent of one hangs, SIGTERM to the front
killed_job() {
	local begin
	rm -rf out && mkdir out
	VFTR_TEST_DIR=$VFTR_TEST_DIR "$AGENT" -o out -- $(nodes_mpirun 2) -np 6 \
		"$BIN/killjob" 300 >stdout 2>said &
	job=$!
	wait_for 60 "[ \$(traced_ranks) = 6 ]"
	hang "$(agent_on "$1" $job)"
	begin=$(date +%s.%N)
	kill $job
	limit tail --pid=$job -f /dev/null
	kill $hung
	wait $hung || :
	in_time "$begin"
	is "$1 4" "$(missing)"
}

# the nodes without an agent, and how many ranks are there
missing() {
	jq -r '([.agents[] | select(.missing) | .host] | join(" ")) +
		" \([.agents[].processes] | add)"' out/*_all.json
}

if [ -z "${VFTR_LONG:-}" ] || ! command -v srun >/dev/null; then
	nodes_up 3
else
	slurm_up 3 cgroup
fi
test_expect 'the agent of a node hangs: SIGTERM to the front, the others are in the summary' '
	killed_job node3'

# killed_agent NODE: proxy and agent of an in-step job are killed; it ends soon after its ranks, which live
# for so long that on a busy machine these are found before
killed_agent() {
	local p victims="" begin life
	life=$(patient 3)
	[ "$life" -le 30 ] || life=30
	rm -rf out && mkdir out
	VFTR_TEST_DIR=$VFTR_TEST_DIR $(nodes_mpirun 2) -np 6 "$AGENT" -o out --in-step -- \
		"$BIN/killjob" "$life" >stdout 2>said &
	job=$!
	wait_for 60 "[ \$(traced_ranks) = 6 ]"
	begin=$(date +%s.%N)
	for p in $(pgrep -f -- "--in-step -- $BIN/killjob"); do # each of them leads a session
		[ "/proc/$p/exe" -ef "$AGENT" ] && [ "$(nsenter -t "$p" -u hostname)" = "$1" ] &&
			[ "$(ps -o sid= -p "$p" | tr -d " ")" = "$p" ] && victims="$victims $p"
	done
	is 2 "$(echo $victims | wc -w)" victims
	kill -9 $victims
	wait $job
	took=$(seconds_since "$begin")
	echo "took $took s: $(tail -n 3 said | tr "\n" "|")"
	below "$took" $((life + $(patient 12)))
}

test_expect 'proxy and agent of a node are killed in the in-step form: nobody waits for agent.deadline_s' '
	killed_agent node3
	is "node3 4" "$(missing)"'
test_if '[ -n "${VFTR_LONG:-}" ]' 'VFTR_LONG is not set' '... also those of agent 0: node profiles are left' '
	killed_agent node1
	is 2 "$(ls out/*.vfp | wc -l)"'

# cancelled NODE COMMAND: the same in a job of Slurm that scancel ends
cancelled() {
	local node=$1 begin id
	shift
	rm -rf out && mkdir out
	id=$(sbatch --parsable -N3 -n6 --ntasks-per-node=2 -o said --wrap "$*")
	wait_for 60 "[ \$(traced_ranks) = 6 ]"
	hang "$(pgrep -f -- "$AGENT" | while read -r p; do
		grep -qzxF "VFTR_TEST_DIR=$VFTR_TEST_DIR" "/proc/$p/environ" || continue
		[ "$(nsenter -t "$p" -u hostname)" = "$node" ] || continue
		[ ! "/proc/$(ps -o ppid= -p "$p" | tr -d " ")/exe" -ef "$AGENT" ] ||
			[ -n "$(pgrep -P "$p")" ] || echo "$p"
	done)"
	begin=$(date +%s.%N)
	scancel "$id"
	# in the in-step form nobody else writes what agent 0 should have written
	if [ $node = node1 ] && [[ $* = *in-step* ]]; then
		wait_for 60 "[ \$(ls out/*.vfp | wc -l) = 2 ]"
		in_time "$begin"
		"$VFTR" collate out
		is " 4" "$(missing)"
	else
		wait_for 60 "jq -e .agents out/*_all.json"
		in_time "$begin"
		is "$node 4" "$(missing)"
	fi
	kill $hung
	wait $hung || :
	wait_for 60 "! squeue -h -j $id | grep -q ."
}

test_if '[ -n "${VFTR_LONG:-}" ]' 'VFTR_LONG is not set' '... also agent 0' '
	killed_job node1'
for node in node3 node1; do
	export node
	test_if '[ -n "${VFTR_LONG:-}" ] && command -v srun' 'VFTR_LONG is not set, or no Slurm' \
		"scancel, with KillWait=30, the agent of $node hangs" '
		cancelled $node exec $AGENT -o out -- srun --mpi=pmix "$BIN/killjob" 300'
	test_if '[ -n "${VFTR_LONG:-}" ] && command -v srun' 'VFTR_LONG is not set, or no Slurm' \
		"... in the in-step form" '
		cancelled $node exec srun --mpi=pmix $AGENT -o out --in-step -- "$BIN/killjob" 300'
done

done_testing
