#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What `vftr top' shows of a loop that has no function of its own, against what the program does.
test_description='a view of a loop in main, between calls of MPI'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$VFTR"

mpis=$(mpi_list_short)
[ -n "$mpis" ] || skip_all 'no MPI'

# held MPI KIND: the program waits in iteration 300; KIND-MPI.json and the text before it are seen while the
# loop still has half of the time. That is over when the wait is as long as the loop was.
held() {
	mkdir -p $2-$1
	VFTR_SESSION=$2-$1 limit "$AGENT" -q -o $2-$1 -- $(mpirun_of $1) -np 2 "$BIN/loop-$1" \
		$2 asleep loop 320 8000 hold 300 $PWD/go >out &
	job=$!
	echo ".main_loop | .rank == 0 and .is_separated and .iterations == 300" >held.jq
	wait_for 60 "limit $VFTR top -s $2-$1 -1 >$2-$1.text && limit $VFTR top -s $2-$1 -1j >$2-$1.json 2>err && jq -e -f held.jq $2-$1.json"
}

go() {
	touch go
	wait $job
	rm go
}

for mpi in $mpis; do
	mpicc_traced $mpi "$BIN/loop-$mpi" "$T/report/app-loop.c" || { echo "Bail out! app-loop.c does not build"; exit 1; }

	test_expect "$mpi: all iterations that have ended, to the last one, and how long they took" '
		held $mpi flat
		go
		jq -c .main_loop flat-$mpi.json
		jq -e ".main_loop | .path == \"MPI_Allreduce<main<init\" and (.last_s | length) == 60 and
			(.last_s | add / 60) >= 0.0079" flat-$mpi.json
		has flat-$mpi.text "between MPI_Allreduce"
		# the same loop in the profile
		jq -e ".iterations | .path == \"MPI_Allreduce<main<init\" and .ranks == 2 and .iterations == 320" flat-${mpi}/loop-${mpi}_all.json'

	test_expect "$mpi: if it begins with MPI, each one ends with the first call of the next" '
		held $mpi first
		go
		jq -c .main_loop first-$mpi.json
		jq -e ".main_loop | .path == \"MPI_Bcast<main<init\" and (.last_s | length) == 60 and
			(.last_s | add / 60) >= 0.0079" first-$mpi.json'
done

done_testing
