#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='MPI_THREAD_MULTIPLE: messages whose order is not defined, messages of each thread'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT"
mpis=$(mpi_list)
[ -n "$mpis" ] || skip_all 'no MPI that can be compiled for and run'
ALL=ambiguous_all.json

for mpi in $mpis; do
	mpicc_traced "$mpi" "$BIN/ambiguous-$mpi" "$T/mpi/program/app-mpi-ambiguous.c" -pthread ||
		{ echo 'Bail out! app-mpi-ambiguous.c does not build'; exit 1; }
done

# run MPI HOW OPTIONS...
run() {
	run_mpi=$1 how=$2
	shift 2
	rm -f ambiguous_* said
	cp "$BIN/ambiguous-$run_mpi" ambiguous
	for try in 1 2 3 4; do
		TEST_COMMAND_SECONDS=$(patient $((20 * try))) traced -q -k profile_table.threads=all "$@" -- \
			$(mpirun_of "$run_mpi") -np 2 ./ambiguous "$how" >said && break
		echo "try $try of $run_mpi stopped or failed"
	done
	is '0 0 0' "$(json $ALL '"\(.lost) \(.lost_messages) \(.open_requests)"')" losses
	is '[]' "$(jq -c .warnings $ALL)" warnings
}

ambiguous() {
	is "$1 $2" "$(json $ALL '"\(.ambiguous_sends) \(.ambiguous_recvs)"')" "ambiguous sends, receives"
	is "$1 $2" "$(json $ALL '.communicators |
		"\(map(.ambiguous_sends) | add) \(map(.ambiguous_recvs) | add)"')" "by communicator"
}

# Both were inside most times, which nothing can force.
ambiguous_receives() {
	received=$(json $ALL .ambiguous_recvs)
	[ "$received" -ge 2 ] && [ "$received" -le 10 ] && [ $((received % 2)) = 0 ] || return 1
	ambiguous 0 "$received"
}

# Each thread's messages as the program counted them; threads by number. A rank has
# threads of MPI's own between its first and its others.
same_messages() {
	awk '$3 || $5 { print $1, $3, $4, $5, $6 }' said | sort >wanted
	jq -r '.each_thread[] | select(.sends + .recvs > 0) |
		"\(.rank) \(.sends) \(.bytes_sent) \(.recvs) \(.bytes_received)"' $ALL | sort >got
	[ -s wanted ]
	diff -U0 wanted got
	is true "$(jq '(.each_thread | map(.sends, .recvs) | add) == (.mpi | map(.sends, .recvs) | add)' $ALL)" \
		"the sum over threads is that over stacks"
}

for mpi in $mpis; do
	test_expect "$mpi: two threads inside of synchronous sends: each one is ambiguous" "
		run $mpi sends -k logfile_for_ranks=all
		ambiguous 10 0
		same_messages
		has ambiguous_all.log '10 sends and 0 receives are ambiguous'
		has ambiguous_0.log '10 sends and 0 receives are ambiguous'
		hasnt ambiguous_1.log 'are ambiguous'
		grep -q 'Ambiguous sends: *10$' ambiguous_node_*.log
		grep -q 'Blocked.s. .* Sends .* Receives .* Sent.B. .* Received.B.' ambiguous_0.log"
	for how in tags comms; do
		test_expect "$mpi: each with its own (${how}): none is" "
			run $mpi $how
			ambiguous 0 0
			same_messages"
	done
	test_expect "$mpi: two threads inside of receives" "
		run $mpi recvs
		ambiguous_receives
		same_messages"
	test_expect "$mpi: ... one of them from any source" "
		run $mpi any
		ambiguous_receives"
	test_expect "$mpi: threads that take turns: none" "
		run $mpi mutex
		ambiguous 0 0
		same_messages"
	test_expect "$mpi: a thread that waits for a tag of its own all the time: none" "
		run $mpi server
		ambiguous 0 0
		same_messages"
	test_expect "$mpi: a request belongs to the thread that posted it, which has ended" "
		run $mpi handed
		ambiguous 0 0
		same_messages"
done
test_expect 'without messages the table of threads has no columns for them' '
	cc_traced "$BIN/threads" "$T/threads/app-threads.c"
	traced -q -k profile_table.threads=summary -- "$BIN/threads" flat 2
	has threads_node_*.log "Created by"
	hasnt threads_node_*.log "Received[B]"
	is "0 0" "$(json threads_all.json "\"\(.ambiguous_sends) \(.ambiguous_recvs)\"")"'

done_testing
