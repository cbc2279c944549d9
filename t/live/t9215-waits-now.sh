#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Waits are known when a block of records is full: of many calls at a time. What `vftr top' shows
# of them is never more than the time in MPI beside it.
test_description='what a view shows of waits that are known late'
. "$(dirname "$0")/../lib/lib.sh"
need mpirun.openmpi mpicc.openmpi jq
need_built "$AGENT" "$VFTR" "$LIB/libvftrace-openmpi.so"
mpicc_traced openmpi "$BIN/live" "$T/live/app-mpi-live.c" ||
	{ echo "Bail out! app-mpi-live.c does not build"; exit 1; }

test_expect 'ranks that wait for a slow one: some views show waits of calls that ended before' '
	mkdir job
	VFTR_SESSION=job timeout -k 5 300 "$AGENT" -q -o "$PWD/job" -- $(mpirun_of openmpi) --mca mpi_yield_when_idle 1 \
		-np 3 "$BIN/live" "$PWD/job" 1 &
	agent=$!
	wait_for 30 "limit $VFTR top -s job -1j >once && jq -e \".total.ranks == 3\" once"
	limit "$VFTR" top -s job -j -d 250ms >lines &
	viewer=$!
	echo "any(.[]; .waits | any(.calls_now > 1)) and any(.[]; .waits | any(.calls_now == 0 and .t_now_s > 0))" >late.jq
	wait_for 60 "sed \"\\\$d\" lines >whole && jq -e -s -f late.jq whole"
	touch job/stop job/end
	wait $viewer $agent'

test_expect 'no share is above what it is a part of' '
	jq -c "[.total.mpi_s, .total.mpi_wait_s, [.waits[] | [.kind, .calls_now, .t_now_s]]]" whole
	jq -e -s "length > 3 and all(.[]; .total.mpi_wait_s <= .total.mpi_s and
		([.per_rank[], .nodes[]] | all(.mpi_wait_s <= .mpi_s)) and
		([.waits[].t_now_s] | add // 0) <= .total.mpi_s + 1e-6)" whole'

test_expect 'and what is shown of a kind is what has come since the first look, or less' '
	jq -e -s "([.[].waits[] | select(.kind == \"nxn\").t_now_s] | add) as \$shown |
		\$shown > 0 and \$shown <= ([.[].waits[] | select(.kind == \"nxn\").t_s] | max) + 1e-6" whole'

done_testing
