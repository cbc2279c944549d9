# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh disable=SC2034
# For tests of views of running jobs, behind lib.sh and nodes_up 3: agents that talk over Open MPI,
# MPICH or TCP, and a job of six ranks on three nodes that they trace.

. "$T/lib/clocks.sh"
. "$T/lib/tcp.sh"
# over MPI agents learn of a viewer when they compare clocks
for node in 1 2 3; do echo 0,0,0 >clock.node$node; done
mpicc_traced openmpi "$BIN/live" "$T/live/app-mpi-live.c" ||
	{ echo "Bail out! app-mpi-live.c does not build"; exit 1; }

bridge=$(ip -o -4 route get "$(awk '/node1/ { print $1; exit }' "$NODES/hosts")" |
	sed 's/.* dev \([^ ]*\).*/\1/')
hydra="$T/lib/mpiexec.hydra -launcher ssh -launcher-exec $NODES/rsh -iface $bridge -hosts node1,node2,node3 -ppn 1 -n 3"

# mpich_starts: its programs on these nodes
mpich_starts() {
	[ -e "$LIB/vftr/peer-mpich.so" ] && timeout "$(patient 25)" $hydra true
}

# live_agents openmpi|mpich|tcp DIR [AGENT OPTION...]: one on each node, which talk like that
live_agents() {
	kind=$1 dir=$2
	shift 2
	mkdir -p "$dir"
	case $kind in
	openmpi) agents_up "$dir" "$@" ;;
	mpich)
		VFTR_SESSION=$dir timeout -k 5 200 $hydra "$AGENT" -q -o "$PWD/$dir" -k agent.deadline_s=5 "$@" &
		up "$dir" node1 node2 node3
		;;
	tcp) three "$dir" "$@" ;;
	esac
}

# live_job DIR SLOW: six ranks, two on each node, of which SLOW is slow; $program
live_job() {
	limit $(nodes_mpirun 2) --mca mpi_yield_when_idle 1 -x VFTR_RUNTIME_DIR -x VFTR_SESSION="$1" \
		-np 6 "$BIN/live" "$PWD/$1" "$2" &
	program=$!
}

# view_of NODE DIR [OPTION...]: one view, there
view_of() {
	node=$1 dir=$2
	shift 2
	nodes_run "$node" timeout 30 "$VFTR" top --session "$dir" --once --json "$@"
}

# viewer_on NODE DIR FILE [OPTION...]: in the background, a line in FILE for each view; its pid
# there in FILE.pid, its exit status in FILE.status
viewer_on() {
	node=$1 dir=$2 file=$3
	shift 3
	(
		got=0
		nodes_run "$node" sh -c "echo \$\$ >$file.pid; exec $VFTR top -s $dir -j $*" >"$file" || got=$?
		echo $got >"$file.status"
	) &
}

# has_line FILE CONDITION: one of the views in it
has_line() {
	jq -e -n "any(inputs; $2)" "$1"
}

# all_there DIR: the ranks have met, and do nothing any more
all_there() {
	touch "$1/stop"
	wait_for 60 "[ \$(ls $1 | grep -c '^there') = 6 ]"
}

# still DIR NODE FILE: a view from there in which all that was counted has come, within a few periods
still() {
	wait_for 30 "view_of $2 $1 >$3 && jq -e '.complete and .nodes_seen == 3 and .total.calls_per_s == 0' $3"
}

# true_counts DIR FILE: calls of leaf and step over all ranks are those that the ranks counted
true_counts() {
	cat "$1"/there.* | awk '{ leaf += $1; step += $2 } END { print leaf, step }' >wanted
	jq -r 'def calls(f): [.paths[] | select((.path | gsub(" "; "") | startswith(f + "<")) and .exact) | .calls] | add;
		"\(calls("leaf")) \(calls("step"))"' "$2" >got
	diff wanted got
}
