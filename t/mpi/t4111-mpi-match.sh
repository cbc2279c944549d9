#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='sends and receives are matched, thread with thread: against messages that carry the truth'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT"
mpis=$(mpi_list)
[ -n "$mpis" ] || skip_all 'no MPI that can be compiled for and run'
ALL=match_all.json
rounds=${VFTR_LONG:+200}
rounds=${rounds:-25}

for mpi in $mpis; do
	mpicc_traced "$mpi" "$BIN/match-$mpi" "$T/mpi/program/app-mpi-match.c" -pthread ||
		{ echo 'Bail out! app-mpi-match.c does not build'; exit 1; }
done

# run MPI LEVEL SEED [OPTIONS OF THE AGENT]; MPICH's have partitioned messages, too.
run() {
	run_mpi=$1 run_level=$2 run_seed=$3
	shift 3
	rm -f match_* truth.* pairs.* compared
	cp "$BIN/match-$run_mpi" match
	last=
	[ "$run_mpi" = mpich ] && last=partitioned
	for try in 1 2 3; do
		VFTR_TEST_PAIRS=$PWD/pairs TEST_COMMAND_SECONDS=$(patient $((30 * try))) traced -q "$@" -- \
			$(mpirun_of "$run_mpi") -np 4 ./match "$run_level" "$run_seed" $rounds truth $last &&
			break
		echo "try $try of $run_mpi stopped or failed"
	done
	is '0 0' "$(json $ALL '"\(.lost) \(.lost_messages)"')" losses
}

# "messages right unmatched"
compare() {
	awk -f "$T/mpi/match-truth.awk" truth.* pairs.* >compared 2>wrong
	cat compared
}

count() {
	jq -r ".matching | $1" $ALL
}

for mpi in $mpis; do
	for level in single funneled serialized; do
		test_expect "$mpi, MPI_THREAD_$level: each pair is right, and labelled exact" "
			run $mpi $level 1
			compare
			set -- \$(cat compared)
			[ \$2 -gt 100 ]
			is \"messages \$2 right \$2 unmatched 0 exact \$2 wrong 0\" \"\$(cat compared)\"
			is \$2 \$(count .pairs.exact) 'pairs in the profile'
			is \$2 \$(count '.pairs | add') 'no others'
			is 0 \$(count '.unmatched_sends | add') 'sends without a receive'
			is 0 \$(count '.unmatched_recvs | add') 'receives without a send'
			is 0 \$(count '.too_long + .violations + .late + .overflow') 'what cannot be'"
	done
	test_expect "$mpi, MPI_THREAD_multiple: each pair is right, or labelled ambiguous" "
		run $mpi multiple 2
		compare
		hasnt wrong '# wrong: pair exact'
		set -- \$(cat compared)
		[ \$2 -gt 100 ]
		is \$2 \$(count '.pairs.exact + .pairs.ambiguous') 'pairs'
		[ \$(count .pairs.exact) -gt 0 ]
		is '0 0' \"\$(count '.unmatched_sends | add') \$(count '.unmatched_recvs | add')\" unmatched
		is '0 0' \"\$(count .too_long) \$(count .violations)\" 'exact pairs that cannot be'"
	test_expect "$mpi: messages from thread to thread add up, in the JSON and the node log" "
		jq -e '(.thread_pairs | map(.messages) | add) == (.matching.pairs | add)' $ALL
		jq -e '[.thread_pairs[] | select(.from_thread != .to_thread)] | length > 0' $ALL
		jq -e '(.thread_pairs | map(.bytes) | add) == (.communication_matrix | map(.bytes_received) | add)' $ALL
		has match_node_*.log 'Messages from thread to thread (rank.thread)'
		has match_all.log 'Matched messages:'"
	test_expect "$mpi: without mpi.match nothing is matched, and all else is the same" "
		run $mpi serialized 1 --set mpi.match=false
		is null \$(count .pairs)
		[ ! -e pairs.* ]
		jq -e '(.mpi | map(.sends) | add) > 100' $ALL
		hasnt match_all.log 'Matched messages'"
done

done_testing
