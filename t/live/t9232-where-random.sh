#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# `vftr where' of jobs whose ranks hang in random ways, which they know: where each rank is, what it
# waits for, who has not come, and whether there is a deadlock. Long form: 200 hangs.
test_description='where ranks are that hang in random ways'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$VFTR"

# below PID: the processes that it has started
below() {
	for pid in $(pgrep -P "$1"); do
		echo "$pid"
		below $pid
	done
}

# matches DIR: the view is as the ranks say
matches() {
	limit "$VFTR" where -s "$1" --json >view &&
		jq --slurpfile truth truths -f "$T/live/where-truth.jq" view >compared &&
		jq -e ".deadlock and .seen == .truth" compared
}

# differs: what of it is not
differs() {
	jq -c ".deadlock" view
	jq -c '[.seen, .truth] | transpose[] | select(.[0] != .[1]) | "seen \(.[0])", "truth \(.[1])"' compared
	cat truths
}

# start MPI DIR RANKS PROGRAM...: $agent
start() {
	case $1 in
	openmpi) launch="mpirun.openmpi --oversubscribe --mca mpi_yield_when_idle 1 --mca btl self,vader" ;;
	mpich) launch="$T/lib/mpiexec.hydra" ;;
	esac
	out=$2 np=$3
	shift 3
	mkdir "$out"
	VFTR_SESSION=$out limit "$AGENT" -q -o "$PWD/$out" -- $launch -np $np "$@" >"$out.said" 2>&1 &
	agent=$!
}

# hang MPI DIR SEED: eight ranks that hang; their truth in the file truths, added up in hangs
hang() {
	start "$1" "$2" 8 "$BIN/random-$1" "$PWD/$2" "$3"
	wait_for 60 "[ \$(ls $2 | grep -c '^truth') = 8 ]"
	cat "$2"/truth.* >truths
	# who has started a rank that is killed would end the others
	starters=$(for pid in $(below $agent); do grep -qE "^(mpi|hydra)" /proc/$pid/comm && echo $pid; done) || :
	! jq -e -s 'any(.[]; .state == "ended")' truths || kill -STOP $starters
	touch "$2/kill" "$2/stop"
	passed=0
	wait_for 40 "matches $2" || passed=$?
	[ $passed = 0 ] || differs
	kill -KILL $(jq .pid truths) || :
	kill -CONT $starters || :
	wait $agent || :
	hangs=$((hangs + $(jq -s 'map(.communicator) | unique | length' truths)))
	[ $passed = 0 ]
}

# hang_often MPI HANGS
hang_often() {
	mpicc_traced "$1" "$BIN/random-$1" "$T/live/app-mpi-where-random.c"
	hangs=0 seed=1
	while [ $hangs -lt "$2" ]; do
		hang "$1" "$1-$seed" $seed || { echo "# seed $seed"; return 1; }
		seed=$((seed + 1))
	done
	echo "$hangs hangs of $((seed - 1)) jobs"
}

often=4
[ -z "${VFTR_LONG:-}" ] || often=200
for mpi in openmpi mpich; do
	test_if "[ -e $LIB/libvftrace-$mpi.so ]" "no $mpi" "$mpi: $often hangs are seen as they are" "
		hang_often $mpi $often"
done

# in_fortran MPI FLAG...: four ranks, whose view is in the file view
in_fortran() {
	mpi=$1
	shift
	mpifc_traced $mpi "$BIN/fortran" -cpp -w "$@" -J. "$T/live/app-mpi-where.f90"
	start $mpi fortran-$mpi$1 4 "$BIN/fortran"
	wait_for 60 "limit $VFTR where -s fortran-$mpi$1 --json >view && jq -e \"(.deadlock | length) > 0\" view"
	kill -KILL $(jq ".places[].pid" view) || : # one has died of the other's end
	wait $agent || :
	is "0<1:3/0 1<null:null/0 2<0:5/0 3<2:6/1" \
		"$(json view "[.waits[] | \"\\(.rank)<\\(.peer):\\(.tag)/\\(.requests)\"] | sort | join(\" \")")"
	is "[0,1]" "$(json view ".deadlock | tojson")"
}

for mpi in openmpi mpich; do
	test_if "[ -e $LIB/libvftrace-$mpi.so ] && command -v mpif90.$mpi" "no Fortran of $mpi" \
		"$mpi: in Fortran receives are shown, too" "
		in_fortran $mpi
		in_fortran $mpi -DF08"
done

done_testing
