#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='waits by kind, call path and late rank, in programs that know their waits'
. "$(dirname "$0")/../lib/lib.sh"
. "$T/lib/wait-truth.sh"
need jq python3
need_built "$AGENT"
mpis=$(mpi_list_short)
[ -n "$mpis" ] || skip_all 'no MPI on this machine'

# all_named FILE: what the properties are made for
all_named() {
	waited_for "$1" late_sender late_sender 1 3 &&
		waited_for "$1" late_sender_in_waitall late_sender 1 2 3 &&
		waited_for "$1" imbalance_at_barrier barrier 3 &&
		waited_for "$1" imbalance_at_alltoall nxn 2 &&
		waited_for "$1" imbalance_at_allreduce nxn 0 1 2 3 &&
		waited_for "$1" late_broadcast late_root 1 &&
		waited_for "$1" late_scatter late_root 2 &&
		waited_for "$1" early_reduce early_root 3 &&
		waited_for "$1" early_gather early_root 0 &&
		waited_for "$1" late_in_scan scan 1 &&
		waited_for "$1" two_communicators barrier 3 &&
		waited_for "$1" two_communicators late_root 2
}

# known MPI: another run if the machine was so busy that the program did not do what it is made for,
# or between stamp and call
known() {
	for try in 1 2 3 4 5 6; do
		rm -f p-"$1"_* steps
		# shellcheck disable=SC2046
		traced -q -- $(mpirun_of "$1") -np 4 "$BIN/p-$1" steps >truth || return
		all_named truth || continue
		! grep nobody_waits truth || continue
		waits_of "p-$1_all.json" >found
		true_waits truth found && return
	done
	return 1
}

for mpi in $mpis; do
	test_expect "$mpi: what was waited for whom is what the program says, within 1 % or 20 us a wait" "
		mpicc_traced $mpi $BIN/p-$mpi -I$TOP $T/mpi/waits/app-wait-properties.c
		known $mpi"
	test_expect "$mpi: the kind of each property and its late ranks are named" "
		all_named found"
	test_expect "$mpi: where nobody waits none is reported" "
		jq -r '.stacks[].path' p-${mpi}_all.json | grep -q '^MPI_Reduce *< *nobody_waits'
		is '' \"\$(grep nobody_waits found)\""
	test_expect "$mpi: mpi.waits=off finds none" "
		rm -f p-${mpi}_* steps
		traced -q -k mpi.waits=off -- $(mpirun_of $mpi) -np 4 $BIN/p-$mpi steps >/dev/null
		is null \"\$(jq -c .waits p-${mpi}_all.json)\""
done

mpi=$(echo "$mpis" | head -n 1)
test_expect "$mpi: vftr waits --csv has call paths as the profile has them, with quotes in names, too" "
	mpicc_traced $mpi $BIN/quoted $T/mpi/waits/app-wait-quoted.cpp -lstdc++
	limit $VFTR run -q -o quoted -- $(mpirun_of $mpi) -np 2 $BIN/quoted
	jq -r '.waits[] | .path as \$path | .for[] | \$path' quoted/profile.json | sort >wanted
	grep 'operator\"' wanted
	$VFTR waits --csv quoted >csv
	python3 -c 'import csv; [print(r[\"path\"]) for r in csv.DictReader(open(\"csv\"))]' | sort | diff wanted -"

done_testing
