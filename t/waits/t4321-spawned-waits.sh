#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='known waits between ranks and those that they have spawned'
. "$(dirname "$0")/../lib/lib.sh"
. "$T/lib/known.sh"
need jq
need_built "$AGENT" "$VFTR"
mpis=$(mpi_list)
[ -n "$mpis" ] || skip_all 'no MPI on this machine'
unset OMPI_MCA_btl # jobs that meet do so by TCP
export OMPI_MCA_btl_tcp_if_include=lo # networks of pseudo-nodes come and go

for mpi in $mpis; do
	if [ "$mpi" = mpich ]; then
		test_skip "$mpi: ranks and those that they have spawned" \
			"Debian's MPICH 4.0 over UCX has no dynamic processes"
		continue
	fi
	test_expect "$mpi: the program runs, and has stamped calls of each property" "
		known_run spawn $mpi 2
		[ \$(grep -c '^meant ' truth.spawn.$mpi) -eq 38 ]"
	known_rows spawn "$mpi"
	test_expect "$mpi: each message between the two jobs has its partner" "
		jq -c .matching spawn-$mpi/profile.json
		jq -e '.matching | .pairs.exact == 16 * 6 + 1 and ([.unmatched_sends[], .unmatched_recvs[]] | add) == 0' \
			spawn-$mpi/profile.json"
	test_expect "$mpi: serialisation and transfer, which would be those of both jobs, are left out" "
		mpicc_traced $mpi spawn-once '$T/waits/app-spawn-once.c'
		limit '$VFTR' run -q --trace -o once-$mpi -- $(mpirun_of "$mpi") -np 1 ./spawn-once
		'$VFTR' efficiency --exact once-$mpi >text
		has text 'serialisation and transfer are left out: the sampling files have ranks of 2 MPI jobs'
		'$VFTR' efficiency --exact --json once-$mpi >json
		'$VFTR' dump -H once-$mpi | grep '^Processes: .* ranks: 2 of 2\$'
		jq -e '.runs[0] | has(\"communication\") and (has(\"serialisation\", \"transfer\") | not)' json"
done
done_testing
