#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='late senders: what receives waited for, and for whom, against the program'"'"'s own clock'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$VFTR"

. "$T/lib/waits.sh"

for mpi in openmpi mpich; do
	command -v mpirun.$mpi >/dev/null && [ -e "$LIB/libvftrace-$mpi.so" ] || continue
	test_expect "$mpi: by Recv, Waitall, Wait, persistent, Mrecv and Sendrecv" "
		rm -f truth.* late_*
		mpicc_traced $mpi $BIN/late-$mpi $T/mpi/program/app-mpi-late.c
		traced -q -- $(mpirun_of $mpi) -np 4 $BIN/late-$mpi truth
		same_waits late-${mpi}_all.json
		jq -e '.matching.pairs.exact == (.thread_pairs | map(.messages) | add)' late-${mpi}_all.json"
	test_expect "$mpi: no wait is found where there is none" "
		rm -f truth.* late_*
		traced -q -- $(mpirun_of $mpi) -np 4 $BIN/late-$mpi truth 0
		is 0 \"\$(jq '.thread_pairs | map(.late_s) | add' late-${mpi}_all.json)\"
		is 0 \"\$(cat truth.* | awk '{ s += \$3 } END { print s + 0 }')\""
	test_expect "$mpi: vftr run names the rank that is waited for most" "
		rm -rf truth.* out again
		limit $VFTR run -o out -- $(mpirun_of $mpi) -np 3 $BIN/late-$mpi truth 2>told
		grep -E '^  late senders: receives waited [0-9.]+ m?s for them, [0-9]+ % of it for rank 2\$' told
		jq -e '.summary.late_senders | .rank == 2 and .t_rank_s <= .t_s' out/profile.json
		mkdir again
		$VFTR collate -o again out
		is \"\$(jq -c .thread_pairs out/profile.json)\" \"\$(jq -c .thread_pairs again/*.json)\""
done

done_testing
