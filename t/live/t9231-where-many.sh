#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# `vftr where' of many threads of one node without MPI: all are there, at two places, and how long
# that takes. Long form: 16 processes with 128 threads each, within a second.
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

test_expect 'it takes less than a second, of which the agents take 250 ms to answer' '
	for try in 1 2 3 4 5; do
		began=$(date +%s%N)
		timeout 30 "$VFTR" where -s many >text
		took=$((($(date +%s%N) - began) / 1000000))
		echo "$took ms for $all threads"
		[ "$took" -ge 1000 ] || break
	done
	[ "$took" -lt 1000 ]
	has text "$all threads"'

test_expect 'a view is no reason to go on: the job ends' '
	touch job/end
	status_of 0 wait $agent'

done_testing
