#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='one-sided communication and MPI-IO: operations and bytes are what the program knows'
. "$(dirname "$0")/../lib/lib.sh"

need jq
need_built "$AGENT"
mpis=$(mpi_list)
[ -n "$mpis" ] || skip_all 'no MPI on this machine'

# What of Open MPI has windows wherever its processes may not read each other's memory.
OMPI_MCA_osc=pt2pt,sm
# Its own MPI-IO needs more than some machines have, and never completes short reads.
OMPI_MCA_io=romio321
export OMPI_MCA_osc OMPI_MCA_io

# agrees JSON DATA: with the counts that the ranks wrote
agrees() {
	cat "$2".counts.* | awk '
		$1 == "put" || $1 == "get" { n[$1 " " $2 " " $3] += $4; b[$1 " " $2 " " $3] += $5 }
		$1 == "read" || $1 == "write" { n[$1] += $2; b[$1] += $3 }
		END { for (k in n) print k, n[k], b[k] }' | sort >wanted
	[ -s wanted ]
	jq -r --arg f "$2" '
		(.communication_matrix[] | select(.bytes_sent > 0) | "put \(.from) \(.to) \(.sends) \(.bytes_sent)"),
		(.communication_matrix[] | select(.bytes_received > 0) | "get \(.from) \(.to) \(.recvs) \(.bytes_received)"),
		(.files[] | select(.name == $f) | "read \(.reads) \(.bytes_read)", "write \(.writes) \(.bytes_written)")
		' "$1" | sort | diff wanted -
	is "0 0" "$(json "$1" '"\(.open_requests // 0) \(.lost_messages // 0)"')"
	is "" "$(json "$1" '.warnings // [] | join(" ")')" warnings
}

for mpi in $mpis; do
	test_expect "$mpi: C, 1 and 4 ranks" "
		mpicc_traced $mpi rma-$mpi -Wno-stringop-overflow \"\$T/mpi/program/app-mpi-rma-io.c\"
		for n in 1 4; do
			rm -f data* rma-${mpi}_*
			traced -- $(mpirun_of "$mpi") -np \$n ./rma-$mpi data
			agrees rma-${mpi}_all.json data
			is \$n \"\$(json rma-${mpi}_all.json '.files[0].ranks')\"
		done
	"
	test_expect "$mpi: which ranks an epoch is for is asked again only where it is for others" "
		mpicc.$mpi \$TEST_FLAGS -std=gnu11 -I\"\$TOP\" -I\"\$BUILD/gen\" -Wno-stringop-overflow -o targets-$mpi \
			\"\$T/mpi/app-mpi-targets.c\"
		is '0 failures, 0 bytes left' \"\$(limit $(mpirun_of "$mpi") -np 3 ./targets-$mpi)\"
	"
	for language in F08 USE_MPI MPIFH; do
		test_if "command -v mpif90.$mpi" "no mpif90.$mpi" "$mpi: Fortran, $language, 3 ranks" "
			rm -f data* rmaf-${mpi}_*
			mpifc_traced $mpi rmaf-$mpi -cpp -D$language -fallow-argument-mismatch -w -J. \
				\"\$T/mpi/program/app-mpi-rma-io.f90\"
			traced -- $(mpirun_of "$mpi") -np 3 ./rmaf-$mpi data
			agrees rmaf-${mpi}_all.json data
		"
	done
done

done_testing
