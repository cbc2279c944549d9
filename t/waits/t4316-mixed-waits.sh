#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Which property is in which row: t/mpi/known/README.
test_description='known waits in several communicators, in chains, with OpenMP, and with input and output'
. "$(dirname "$0")/../lib/lib.sh"
. "$T/lib/known.sh"
need jq
need_built "$AGENT" "$VFTR"
mpis=$(mpi_list_short)
[ -n "$mpis" ] || skip_all 'no MPI on this machine'
export OMP_WAIT_POLICY=passive # eight threads share what CPUs there are

for mpi in $mpis; do
	test_expect "$mpi: the program runs, and has stamped calls of each property" "
		known_run mixed $mpi 4 -fopenmp
		[ \$(grep -c '^meant ' truth.mixed.$mpi) -ge 15 ]"
	known_rows mixed "$mpi" none call_by_omp_worker
	test_expect "$mpi: call_by_omp_worker: --exact, which has first threads only, finds none and says so" "
		is '' \"\$(grep '^wait call_by_omp_worker' exact.mixed.$mpi)\"
		$VFTR critical-path --json mixed-$mpi | jq -e '.estimated | index(\"threads\")'"
	test_expect "$mpi: imbalance_in_omp_region: the late rank was at the end of its region" "
		jq -e '.waits[] | select(.path | test(\"^MPI_Barrier < imbalance_in_omp_region <\")) | .causes[0] |
			.rank == 2 and .share > 0.5 and
			(.path | test(\"^omp_join < omp_parallel@[^<]*< imbalance_in_omp_region <\"))' mixed-$mpi.json"
	test_expect "$mpi: threads_in_critical: threads have waited for each other, 3 ms or more in each of 24 regions" "
		jq -e '[.stacks[] | select(.path | test(\"^omp_critical_wait@[^<]*< omp_parallel@[^<]*< threads_in_critical <\")) |
			.t_excl_s] | add > 0.9 * 24 * 3e-3' mixed-$mpi/profile.json"
	test_expect "$mpi: threads_in_critical: threads have waited for the first one or the second of their rank" "
		jq -e '[.waits[] | select(.kind == \"lock\")] | length > 0 and all(.path | test(\"< threads_in_critical <\")) and
			([.[].t_s] | add > 0.9 * 24 * 3e-3)' mixed-$mpi.json
		jq -e '[.waits[] | select(.kind == \"lock\") | .for[]] | all(.thread == 0 or .thread == 1) and
			(map(.rank) | unique == [0, 1, 2, 3])' mixed-$mpi.json"
	test_expect "$mpi: io_by_mpi: ranks have written" "
		is '4 1200' \"\$(json mixed-$mpi/profile.json '.files[] | \"\(.ranks) \(.writes)\"')\""
done

done_testing
