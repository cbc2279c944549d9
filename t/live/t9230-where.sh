#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What `vftr where' says of jobs that hang, are stopped or have lost ranks, on three
# (pseudo-)nodes, against what the ranks do by construction.
test_description='where the threads of a job are'
. "$(dirname "$0")/../lib/lib.sh"
need mpirun.openmpi mpicc.openmpi jq ip
need_built "$AGENT" "$VFTR" "$LIB/libvftrace-openmpi.so" "$LIB/vftr/peer-openmpi.so"
nodes_up 3
. "$T/lib/live.sh"
mpicc_traced openmpi "$BIN/where" "$T/live/app-mpi-where.c" ||
	{ echo "Bail out! app-mpi-where.c does not build"; exit 1; }

# begin DIR MODE [RANK]: agents and six ranks, two on each node, which are about to hang; $program
begin() {
	live_agents openmpi "$1" -k clock.sync_interval_s=1
	limit $(nodes_mpirun 2) --mca mpi_yield_when_idle 1 -x VFTR_RUNTIME_DIR -x VFTR_SESSION="$1" \
		-np 6 "$BIN/where" "$PWD/$1" "$2" ${3+"$3"} &
	program=$!
	wait_for 60 "[ \$(ls $1 | grep -c '^pid') = 6 ]"
}

# where NODE DIR [OPTION...]
where() {
	node=$1 dir=$2
	shift 2
	nodes_run "$node" timeout 60 "$VFTR" where --session "$dir" "$@"
}

# seen DIR CONDITION: in a complete view from node2, which is left in the file view
seen() {
	where node2 "$1" --json >view && jq -e ".complete and .nodes_seen == 3 and ($2)" view
}

# signal DIR SIGNAL RANK NODE
signal() {
	nodes_run "$4" kill -"$2" "$(cat "$1/pid.$3")"
}

# place FUNCTION FIELD: of the places whose innermost frame this is
place() {
	json view "[.places[] | select(.path[-1] == \"$1\") | $2 | tostring] | join(\" \")"
}

# end_by_signal DIR: ranks that nothing else ends
end_by_signal() {
	for rank in 0 1 2 3 4 5; do signal "$1" KILL $rank node$((rank / 2 + 1)) || :; done
	wait $program || :
}

# below PID: the processes that it has started, with their names
below() {
	for pid in $(pgrep -P "$1"); do
		echo "$pid $(cat /proc/$pid/comm)"
		below $pid
	done
}

test_expect 'no agent, an unknown session, a wrong period: each is said' '
	status_of 1 nodes_run node1 "$VFTR" where 2>err
	has err "no agent runs here"
	status_of 1 nodes_run node1 "$VFTR" where -s nobody 2>err
	has err "nobody.sock: No such file"
	status_of 2 nodes_run node1 "$VFTR" where -d 1ms 2>err
	has err "from 0.25 s"'

test_expect 'a rank that has not come to a barrier is named, with where it is instead' '
	begin barrier barrier 3
	wait_for 60 "seen barrier \".processes == 6 and ([.places[] | select(.path[-1] == \\\"MPI_Barrier\\\")] | length == 1)\""
	cat view
	is "0-2,4-5" "$(place MPI_Barrier .ranks)"
	is "5 5" "$(place MPI_Barrier "\"\\(.threads) \\(.processes)\"")"
	is "3 3 6 MPI_COMM_WORLD" "$(place MPI_Barrier ".collective | \"\\(.missing) \\(.call) \\(.size) \\(.communicator)\"")"
	is "init main meet MPI_Barrier" "$(place MPI_Barrier ".path | join(\" \")")"
	is "3 1 running" "$(place stay_away "\"\\(.ranks) \\(.threads) \\(.state)\"")"
	is "[] false" "$(json view "\"\\(.deadlock) \\(.all_wait_in_mpi)\"")"'

test_expect 'the text says the same' '
	where node3 barrier >text
	has text "3 of 3 nodes   6 processes   6 threads"
	grep -E "^ +6  init > main$" text
	grep -E "^ +5   meet > MPI_Barrier +ranks 0-2,4-5   since [0-9.]+ s" text
	has text "collective call 3 on MPI_COMM_WORLD of 6 ranks: 1 has not come: rank 3"
	grep -E "^ +1   stay_away +rank 3   since" text'

test_expect 'the time since each is there goes on' '
	was=$(place MPI_Barrier .since_least_s)
	wait_for 30 "seen barrier \"[.places[] | select(.path[-1] == \\\"MPI_Barrier\\\")][0].since_least_s > $was + 1\""'

test_expect 'a rank that a signal has stopped is named as such' '
	signal barrier STOP 5 node3
	wait_for 30 "seen barrier \"any(.places[]; .state == \\\"stopped\\\")\""
	is "5 MPI_Barrier" "$(json view ".places[] | select(.state == \"stopped\") | \"\\(.ranks) \\(.path[-1])\"")"
	is "0-2,4" "$(json view ".places[] | select(.path[-1] == \"MPI_Barrier\" and .state == \"running\") | .ranks")"
	where node1 barrier >text
	grep "rank 5   since .* s   stopped by a signal" text
	signal barrier CONT 5 node3'

test_expect 'again each time, until the job ends' '
	where node1 barrier --every 500ms --json >lines &
	viewer=$!
	wait_for 30 "[ \$(wc -l <lines) -ge 3 ]"
	touch barrier/end
	status_of 0 wait $viewer
	status_of 0 wait $program
	jq -e -s "all(.[]; .format == \"vftr-where\")" lines'

test_expect 'ranks that each send to the next one: a deadlock, with peers and tags' '
	begin ring ring
	wait_for 60 "seen ring \"(.deadlock | length) == 6\""
	is "0-5" "$(place MPI_Ssend .ranks)"
	is "0>1 1>2 2>3 3>4 4>5 5>0" "$(json view "[.waits[] | \"\\(.rank)>\\(.peer)\"] | sort | join(\" \")")"
	is "send 7 MPI_COMM_WORLD 0 1" "$(json view "[.waits[] | \"\\(.for) \\(.tag) \\(.communicator) \\(.requests) \\(.of)\"] | unique | join(\"|\")")"
	where node1 ring >text
	grep "^deadlock: rank [0-5] waits for rank [0-5], which waits for" text
	has text "rank 2 sends to rank 3, tag 7, on MPI_COMM_WORLD"
	end_by_signal ring'

test_expect 'requests that are open are named, and where the only one is one of a cycle' '
	begin requests requests
	wait_for 60 "seen requests .all_wait_in_mpi"
	is "0,2,4" "$(place MPI_Wait .ranks)"
	is "1,3,5" "$(place MPI_Waitall .ranks)"
	is "receive MPI_COMM_WORLD" "$(json view "[.waits[] | \"\\(.for) \\(.communicator)\"] | unique | join(\"|\")")"
	is "0>1:7*1/1 1>0:8*3/5 1>2:7*1/5 2>3:7*1/1 3>2:8*3/5 3>4:7*1/5 4>5:7*1/1 5>0:7*1/5 5>4:8*3/5" \
		"$(json view "[.waits[] | \"\\(.rank)>\\(.peer):\\(.tag)*\\(.requests)/\\(.of)\"] | sort | join(\" \")")"
	where node1 requests >text
	has text "rank 2 waits for a receive from rank 3, tag 7, on MPI_COMM_WORLD"
	has text "rank 3 has open: a receive from rank 4, tag 7, on MPI_COMM_WORLD"
	has text "rank 3 has open: 3 receives from rank 2, tag 8, on MPI_COMM_WORLD"
	has text "and 1 other request"
	end_by_signal requests'

test_expect 'a cycle through the second of two that have not come to a barrier' '
	begin mixed mixed
	wait_for 60 "seen mixed \"(.deadlock | length) == 2\""
	is "0 5" "$(json view "[.deadlock | sort[] | tostring] | join(\" \")")"
	is "1,5" "$(place MPI_Barrier .collective.missing)"
	is "0,2-4" "$(place MPI_Barrier .ranks)"
	end_by_signal mixed'

test_expect 'ranks that all receive: a deadlock, with what each receives or probes for' '
	begin receive receive
	wait_for 60 "seen receive \".all_wait_in_mpi and (.deadlock | length) > 0\""
	is "0,3,5" "$(place MPI_Recv .ranks)"
	is "0>1:7/1 1>0:9/2 1>2:7/2 2>3:7/1 3>null:null/1 4>5:7/1 5>0:7/1" \
		"$(json view "[.waits[] | \"\\(.rank)>\\(.peer):\\(.tag)/\\(.of)\"] | sort | join(\" \")")"
	is "[0,1]" "$(json view ".deadlock | tojson")"
	where node1 receive >text
	has text "deadlock: rank 0 waits for rank 1, which waits for rank 0"
	has text "rank 0 receives from rank 1, tag 7, on MPI_COMM_WORLD"
	has text "rank 3 receives from any rank, any tag, on MPI_COMM_WORLD"
	end_by_signal receive'

test_expect 'a rank that was killed is named, and so is what the others wait for' '
	begin dead barrier 2
	# it would end the others
	starter=$(below $program | grep mpirun | cut -d " " -f 1)
	kill -STOP $starter
	signal dead KILL 2 node2
	wait_for 30 "seen dead \"any(.places[]; .state == \\\"ended\\\")\""
	is "2" "$(json view ".places[] | select(.state == \"ended\") | .ranks")"
	is "2" "$(place MPI_Barrier .collective.missing)"
	is "0-1,3-5" "$(place MPI_Barrier .ranks)"
	kill -CONT $starter
	end_by_signal dead
	wait || :'

done_testing
