#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='sampling.when=slow: iterations of a loop in main, between calls of MPI'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$VFTR"

mpis=$(mpi_list_short)
[ -n "$mpis" ] || skip_all 'no MPI'
# a busy machine makes other iterations slow, too: each has a file
keep='-q -k output.layout=run -k sampling.keep=60s -k sampling.pause=0 -k sampling.when=slow'

# ends FILE RANK FUNCTION: when each of its calls ended, in seconds
ends() {
	"$VFTR" dump -r $2 "$1" >dump || return 1
	grep -qx "Complete:        yes" dump || return 1
	awk -v f="$3" '$2 == "exit" && $3 ~ "^" f "[*]?<main<init" { print $1 }' dump
}

# has_slow DIR FUNCTION: a file of it has an iteration that took rank 0 300 ms, and of rank 1 the call at
# its end: that long after rank 0 had left the one before, though a busy machine may let rank 1
# begin the iteration later
has_slow() {
	for slow in $1/*-slow*.vfd; do
		ends $slow 0 $2 >ends0 && ends $slow 1 $2 >ends1 || return 1
		paste -d" " ends0 ends1 | awk 'NF == 2 && n++ && $1 - before >= 0.3 && $2 - before >= 0.3 { found = 1 }
			{ before = $1 } END { exit !found }' && return 0
	done
	return 1
}

for mpi in $mpis; do
	run="$(mpirun_of $mpi)"
	mpicc_traced $mpi "$BIN/loop-$mpi" "$T/report/app-loop.c" || { echo "Bail out! app-loop.c does not build"; exit 1; }

	# rank 0, for which all others wait, also those of MPI_Bcast; and again, as a file may end within one
	for kind in flat first; do
		test_expect "$mpi, $kind: a file has the slow iteration of all ranks, and the log names the calls" '
			limit "$AGENT" $keep -o $kind-$mpi -- $run -np 2 "$BIN/loop-$mpi" $kind loop 200 3000 stall 60 0 300 stall 100 0 300 stall 140 0 300 stall 180 0 300 >out
			ls $kind-$mpi
			grep "flight recorder" $kind-$mpi/node-*.log
			case $kind in first) function=MPI_Bcast ;; *) function=MPI_Allreduce ;; esac
			has_slow $kind-$mpi $function
			grep "flight recorder: slow[0-9]*: iteration [0-9]* between calls of $function of rank [01]" $kind-$mpi/node-*.log
			# compute() is called twice in each: its calls are none, since that is known
			is "" "$(sed -n "s/.*: call \([0-9]*\) of compute of .*/\1/p" $kind-$mpi/node-*.log | awk "\$1 >= 128")"'
	done

	test_expect "$mpi: with iterations.of only the functions that it names" '
		limit "$AGENT" $keep -k iterations.of="^compute" -o named-$mpi -- $run -np 2 "$BIN/loop-$mpi" flat loop 200 1000 stall 137 0 400 >out
		is 0 "$(grep -c "between calls" named-$mpi/node-*.log)"'
done

done_testing
