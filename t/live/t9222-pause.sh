#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# All recording pauses and goes on as a viewer orders: what was recorded is exact, and stacks are
# right, also of frames that were open when it paused or went on.
test_description='vftr top pauses recording, and lets it go on, on all nodes'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$VFTR" "$LIB/libvftrace.so"
cc_traced "$BIN/pause" "$T/live/app-pause.c" || skip_all 'app-pause.c cannot be compiled'
ALL=pause_all.json

# begin DIR THREADS [AGENT OPTION...]: $agent
begin() {
	dir=$1 threads=$2
	shift 2
	mkdir -p "$dir"
	VFTR_SESSION=$dir limit "$AGENT" -q -o "$PWD/$dir" "$@" -- "$BIN/pause" "$PWD/$dir" $threads >"$dir/ticks" &
	agent=$!
	wait_for 30 "limit $VFTR top -s $dir -1j -d 250ms >once && jq -e 'any(.paths[]; .path | startswith(\"tick<\"))' once"
}

# order DIR --pause|--resume: what it says, in said
order() {
	limit "$VFTR" top -s "$1" -d 250ms "$2" >said
	cat said
}

# paused DIR: its processes have paused
paused() {
	order "$1" --pause && grep -q "in 1 of 1 process$" said
}

# whole DIR THREADS: what is recorded is what the threads have done before and after
whole() {
	wait $agent
	jq '.stacks |= map(select(.function != "vftrace_pause" and .function != "tick"))' "$1/$ALL" >unpaused.json
	printf '%s\n' '1 main<init' "1 outer<main<init" "1000 before<outer<main<init" \
		"1 await<outer<main<init" "700 after<outer<main<init" "900 last<outer<main<init" >wanted
	if [ "$2" -gt 1 ]; then
		n=$(($2 - 1))
		printf '%s\n' "$n outer<init" "$((1000 * n)) before<outer<init" "$n await<outer<init" \
			"$((700 * n)) after<outer<init" "$((900 * n)) last<outer<init" >>wanted
	fi
	same_calls wanted unpaused.json
	is "0 0 0" "$(json "$1/$ALL" "\"\(.lost) \(.lost_messages) \(.lost_processes)\"")" lost
	ticks=$(jq "[.stacks[] | select(.function == \"tick\") | .calls] | add" "$1/$ALL")
	echo "$ticks of $(cat "$1/ticks") ticks"
	[ "$ticks" -lt "$(cat "$1/ticks")" ]
	is "$2" "$(jq "[.stacks[] | select(.function == \"vftrace_pause\") | .calls] | add" "$1/$ALL")" pauses
}

# pause_and_go_on DIR THREADS
pause_and_go_on() {
	wait_for 30 "paused $1"
	touch "$1/paused"
	wait_for 30 "[ \$(ls $1 | grep -c '^hidden') = $2 ]"
	limit "$VFTR" top -s "$1" -1j -d 250ms >once
	is "1 1" "$(json once ".paused | \"\(.nodes) \(.processes)\"")"
	order "$1" --resume
	is "recording goes on on 1 node" "$(cat said)"
	is null "$(limit "$VFTR" top -s "$1" -1j -d 250ms | jq .paused)"
	touch "$1/resumed"
	whole "$1" "$2"
}

test_expect 'nothing is recorded from an order to the next one; frames that are open then are right' '
	begin one 1
	pause_and_go_on one 1
	grep -E "recording was paused from [0-9:]+ to [0-9:]+, as vftr top had ordered" one/pause_all.log
	jq -e "any(.warnings[]; startswith(\"recording was paused from\"))" one/$ALL'

test_expect 'all threads of a process' '
	begin four 4
	pause_and_go_on four 4'

test_expect 'where each event takes the slow path, too' '
	begin raw 2 -k clock.source=raw
	pause_and_go_on raw 2'

test_expect 'a process that begins while the job is paused records nothing; what the log says of a pause that lasts' '
	mkdir late
	VFTR_SESSION=late limit "$AGENT" -q -o "$PWD/late" -- sh -c "$BIN/pause late/first 1 & while [ ! -e late/second ]; do sleep 0.1; done; $BIN/pause late/second 1; wait" >late.ticks &
	agent=$!
	mkdir late/first
	wait_for 30 "paused late"
	mkdir late/second
	wait_for 30 "limit $VFTR top -s late -1j -d 250ms >once && jq -e \".paused.processes == 2\" once"
	touch late/first/paused late/first/resumed late/second/paused late/second/resumed
	wait $agent
	is 1000 "$(jq "[.stacks[] | select(.function == \"before\") | .calls] | add" late/$ALL)"
	is 0 "$(jq "[.stacks[] | select(.function == \"last\") | .calls] | add // 0" late/$ALL)"
	grep -E "recording was paused from [0-9:]+ on, as vftr top had ordered" late/pause_all.log'

test_expect 'orders that exclude each other are refused' '
	status_of 2 "$VFTR" top --pause --resume 2>err
	has err "commands of their own"'

possible='command -v mpirun.openmpi && command -v ip && [ -e "$LIB/libvftrace-openmpi.so" ]'
if (eval "$possible") >/dev/null; then
	nodes_up 3
	. "$T/lib/live.sh"
	mpicc_traced openmpi "$BIN/mpi-pause" "$T/live/app-mpi-pause.c"
fi

test_if "$possible" 'no Open MPI, or no ip' 'ranks on three nodes: calls and messages of both sides of the pause are counted' '
	live_agents openmpi mpi -k clock.sync_interval_s=1
	limit $(nodes_mpirun 2) --mca mpi_yield_when_idle 1 -x VFTR_RUNTIME_DIR -x VFTR_SESSION=mpi -np 6 "$BIN/mpi-pause" "$PWD/mpi" &
	program=$!
	wait_for 60 "[ \$(ls mpi | grep -c ^paused.) = 6 ]"
	wait_for 60 "nodes_run node2 timeout 60 $VFTR top -s mpi --pause >said && grep -q \"on 3 nodes, in 6 of 6 processes\" said"
	touch mpi/paused
	wait_for 60 "[ \$(ls mpi | grep -c ^resumed.) = 6 ]"
	nodes_run node3 timeout 60 "$VFTR" top -s mpi --resume >said
	is "recording goes on on 3 nodes" "$(cat said)"
	touch mpi/resumed
	status_of 0 wait $program
	wait_for 60 "[ -s mpi/mpi-pause_all.json ]"
	wait $agents || :
	calls() { jq "[.stacks[] | select(.function == \"$1\") | .calls] | add // 0" mpi/mpi-pause_all.json; }
	is "1020 1020 6" "$(calls MPI_Allreduce) $(calls MPI_Sendrecv) $(calls MPI_Send)"
	# posted before the pause, or completed after it
	is "6 6" "$(calls MPI_Irecv) $(calls MPI_Wait)"
	is "0 0 0" "$(json mpi/mpi-pause_all.json "\"\(.lost) \(.lost_messages) \(.lost_processes)\"")"
	is 1 "$(grep -c "recording was paused from [0-9:]* to [0-9:]*, as vftr top had ordered" mpi/mpi-pause_all.log)"
	jq -c ".warnings" mpi/mpi-pause_all.json'

done_testing
