#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Ranks of which one spends its time otherwise: they still have one main loop.
test_description='one main loop for all ranks, also for those that would choose another one, or none'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$VFTR"

mpis=$(mpi_list_short)
[ -n "$mpis" ] || skip_all 'no MPI'

# loop_of DIR MPI WORD...: path, ranks and iterations of its main loop
loop_of() {
	dir=$1 mpi=$2
	shift 2
	limit "$VFTR" run -q -o $dir -- $(mpirun_of $mpi) -np 3 "$BIN/loop-$mpi" "$@" >out || return 1
	jq -c ".iterations | del(.steps)" $dir/profile.json >&2
	jq -r ".iterations | if . then \"\\(.path): \\(.ranks), \\(.iterations)\" else \"none\" end" $dir/profile.json
}

for mpi in $mpis; do
	mpicc_traced $mpi "$BIN/loop-$mpi" "$T/report/app-loop.c" || { echo "Bail out! app-loop.c does not build"; exit 1; }

	test_expect "$mpi: a rank that works longer than the loop lasts has it, too" '
		is "step < main < init: 3, 40" "$(loop_of tail-$mpi $mpi loop 40 5000 tail 1 600)"'

	test_expect "$mpi: so in a loop without a function" '
		is "MPI_Allreduce < main < init: 3, 40" "$(loop_of flat-tail-$mpi $mpi flat loop 40 5000 tail 1 600)"'

	test_expect "$mpi: a rank whose time is in one function, which the others wait for" '
		is "MPI_Allreduce < main < init: 3, 40" "$(loop_of drag-$mpi $mpi flat loop 40 2000 drag 1 10000)"
		jq -e ".iterations | .steps | all(.[]; .ranks == 3)" drag-$mpi/profile.json'

	test_expect "$mpi: what has less than half of the time of all is no main loop" '
		is "none" "$(loop_of none-$mpi $mpi loop 40 5000 tail -1 900)"'
done

done_testing
