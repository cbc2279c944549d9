#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Which property is in which row: t/mpi/known/README.
test_description='known waits in one-sided communication: who came late to a window'
. "$(dirname "$0")/../lib/lib.sh"
. "$T/lib/known.sh"
need jq
need_built "$AGENT" "$VFTR"
mpis=$(mpi_list)
[ -n "$mpis" ] || skip_all 'no MPI on this machine'
OMPI_MCA_osc=pt2pt,sm # others want hardware
export OMPI_MCA_osc

for mpi in $mpis; do
	test_expect "$mpi: the program runs, and has stamped calls of each property" "
		known_run rma $mpi 4
		[ \$(grep -c '^meant ' truth.rma.$mpi) -ge 15 ]"
	known_rows rma "$mpi"
	test_expect "$mpi: late_post: ranks 1 to 3 have waited for rank 0, 8 ms each time, which was in bottleneck" "
		awk '\$1 == \"wait\" && \$2 == \"late_post\" && \$5 == \"rma_post\" && \$6 == 0 { t += \$7 }
			\$1 == \"cause\" && \$2 == \"late_post\" && \$6 == 0 && \$7 == \"bottleneck\" { n++ }
			END { print t, n; exit t < 0.9 * 6 * 3 * 8e-3 || !n }' found.rma.$mpi"
	test_expect "$mpi: mpi.show_sync_time: calls in which all ranks of a window meet have a function of their own, others none" "
		limit $VFTR run -q -o sync-$mpi -k mpi.show_sync_time=true -- $(mpirun_of "$mpi") -np 4 \
			$BIN/known-rma-$mpi sync-$mpi.shared >truth.sync
		jq -r '.stacks[].function | select(startswith(\"MPI_Win_\") and endswith(\"_sync\"))' \
			sync-$mpi/profile.json | sort -u >told
		printf '%s\n' MPI_Win_create_sync MPI_Win_fence_sync MPI_Win_free_sync |
			diff - told"
	test_expect "$mpi: --exact: who has waited for a lock while rank 1 had it, and no operation is left out" "
		awk '\$1 == \"wait\" && \$5 == \"rma_lock\" && \$2 ~ /is_held/ && \$6 == 1 { t += \$7 }
			END { print t; exit t < 0.9 * 2 * 6 * 6e-3 }' exact.rma.$mpi
		$VFTR waits --exact --json rma-$mpi | jq -e '.estimated | index(\"one_sided\") | not'"
done

# ---- the same on nodes with clocks of their own, each rank beside one that is not its neighbour --------

known_nodes_up

test_expect 'openmpi on two nodes, by agents with clocks an hour apart that drift: waits were compared' '
	known_nodes rma -x OMPI_MCA_osc
	jq -e ".waits_between_nodes | map(.not_compared) | add == 0" nodes/known-rma-openmpi_all.json'

test_expect 'openmpi on two nodes: all waits are what the program says, within the error of the clocks' '
	# of two that come within the error of the clocks nobody knows which is the last: not of balanced
	known_nodes_amounts rma none balanced'

test_expect 'openmpi on two nodes: rank 2 has waited for a lock of rank 1 on the other node, and knows what that did' '
	awk "\$1 == \"wait\" && \$2 == \"lock_is_held_far\" && \$5 == \"rma_lock\" && \$6 == 1 { t += \$7 }
		END { print t; exit t < 0.9 * 6 * 6e-3 }" found.nodes
	grep " rma_lock " truth.nodes >truth.locks
	grep " rma_lock " found.nodes >found.locks
	known_functions lock_is_held_far truth.locks found.locks
	awk "\$1 == \"cause\" && \$2 == \"lock_is_held_far\" && \$6 == 1 && \$7 == \"bottleneck\" { n++ }
		END { exit !n }" found.nodes'

done_testing
