#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='a rank that dies inside of MPI_Recv: what all ranks did until then is there'
. "$(dirname "$0")/../lib/lib.sh"

need jq
mpis=$(mpi_list)
[ -n "$mpis" ] || skip_all 'no MPI on this machine'

counted() {
	od -An -t d8 -j $(($1 * 8)) -N 8 counts | tr -d " "
}

# about SEEN COUNTED: equal, or one more, which was in flight
about() {
	[ "$1" = "$2" ] || [ "$1" = $(($2 + 1)) ] || {
		echo "$1 in the profile, $2 counted" >&2
		return 1
	}
}

pair() {
	jq "[.communication_matrix[] | select(.from == $2 and .to == $3) | .$1] | add // 0" "death-$mpi"_all.json
}

for mpi in $mpis; do
	need_built "$LIB/libvftrace-$mpi.so"
	test_expect "$mpi: the job ends as untraced, and the death is named" "
		mpicc.$mpi -O1 -w -o death-$mpi $T/mpi/program/app-mpi-death.c
		head -c 4096 /dev/zero >counts
		untraced=0
		limit \$(mpirun_of $mpi) -np 3 ./death-$mpi counts >/dev/null 2>&1 || untraced=\$?
		head -c 4096 /dev/zero >counts
		status_of \$untraced limit $AGENT -q --preload -- \$(mpirun_of $mpi) -np 3 ./death-$mpi counts >/dev/null 2>&1
		is 1 \"\$(counted 6)\" \"died in MPI_Recv\"
		is 9 \"\$(jq '.dead[] | select(.rank == 2) | .signal' death-${mpi}_all.json)\" signal"
	test_expect "$mpi: the messages of the dead rank are there" '
		is "100 100" "$(pair sends 2 0) $(pair recvs 2 0)"
		is 1600 "$(pair bytes_sent 2 0)" bytes'
	test_expect "$mpi: the messages of the survivors are there" '
		[ "$(counted 0)" -gt 1000 ]
		about "$(pair sends 0 1)" "$(counted 0)"
		about "$(pair sends 1 0)" "$(counted 2)"
		about "$(pair recvs 1 0)" "$(($(counted 1) - 100))"
		about "$(pair recvs 0 1)" "$(counted 3)"'
done

done_testing
