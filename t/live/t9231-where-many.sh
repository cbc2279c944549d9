#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# `vftr where' of many threads of one node without MPI: all are there, at two places, and how long
# that takes, beside that of one thread. Long form: 16 processes with 128 threads each.
test_description='where many threads are'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$VFTR" "$LIB/libvftrace.so"

processes=4 threads=32
[ -z "${VFTR_LONG:-}" ] || processes=16 threads=128
cc_traced "$BIN/where-threads" "$T/live/app-where-threads.c" -pthread

test_expect 'each thread of each process is in the tree' '
	mkdir job
	VFTR_SESSION=many limit "$AGENT" -q -o "$PWD/job" -- sh -c "
		for k in \$(seq $processes); do $BIN/where-threads $PWD/job \$k $threads & done; wait" &
	agent=$!
	all=$((processes * threads))
	wait_for 60 "timeout 30 $VFTR where -s many -j >view && jq -e \".complete and .threads == $all and
		([.places[] | select(.path[-1] == \\\"wait_for_end\\\") | .threads] | add) == $all\" view"
	is "$processes $processes" "$(json view "[.places[] | .processes | tostring] | join(\" \")")"
	is "0 false" "$(json view "\"\\(.left_out.threads) \\(.all_wait_in_mpi)\"")"'

# where_ms SESSION
where_ms() {
	began=$(date +%s%N)
	timeout 30 "$VFTR" where -s "$1" >text
	echo $((($(date +%s%N) - began) / 1000000))
}

# One process after the other would take the 250 ms, in which an agent answers, for each.
test_expect 'it takes less than a second; or, on a busy machine, than three times what one thread takes' '
	mkdir alone
	VFTR_SESSION=alone limit "$AGENT" -q -o "$PWD/alone" -- "$BIN/where-threads" "$PWD/alone" 1 1 &
	agent=$!
	wait_for 60 "timeout 30 $VFTR where -s alone -j >view && jq -e \".complete and .threads == 1\" view"
	for try in 1 2 3 4 5; do
		one=$(where_ms alone) took=$(where_ms many)
		echo "$took ms for $all threads, $one ms for one"
		[ "$took" -ge 1000 ] && [ "$took" -ge $((3 * one)) ] || break
	done
	touch alone/end
	[ "$took" -lt 1000 ] || [ "$took" -lt $((3 * one)) ]
	has text "$all threads"
	status_of 0 wait $agent'

test_expect 'a view is no reason to go on: the job ends' '
	touch job/end
	status_of 0 wait $agent'

done_testing
