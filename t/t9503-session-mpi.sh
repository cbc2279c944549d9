#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='MPI ranks and other processes in one session'
. "$(dirname "$0")/lib.sh"
need jq
need_built "$AGENT" "$LIB/libvftrace.so"

$TEST_CC $TEST_FLAGS -I"$TOP/libhook" -o "$BIN/one" "$T/app-session.c" -pthread $(test_link vftrace) ||
	skip_all 'app-session.c cannot be compiled'

for MPI in $(mpi_list); do
	export MPI
	test_expect "$MPI: ranks keep their place, messages of both kinds are matched" '
		mpicc_traced $MPI "$BIN/mixed-$MPI" "$T/app-session-mpi.c"
		mkdir $MPI
		cd $MPI
		export VFTR_SESSION=$MPI VFTR_AGENT=off
		("$AGENT" -q >agent.out 2>agent.err; echo $? >agent.status) &
		wait_for 10 "test -S $VFTR_RUNTIME_DIR/$MPI.sock"
		limit "$BIN/one" service join=0 start=20 ring=w=4 finish >service.out 2>&1 &
		limit $(mpirun_of $MPI) -np 2 "$BIN/mixed-$MPI" 4 >mpi.out 2>&1 || { cat mpi.out; false; }
		wait_for 20 "test -s agent.status"
		cat mpi.out service.out agent.err
		all=$(ls ./*_all.json)
		is 20 "$(json $all .matching.pairs.exact)" "messages matched exactly"
		is "0 0" "$(json $all "\"\\(.matching.unmatched_sends | add) \\(.matching.unmatched_recvs | add)\"")"
		is "2 1" "$(json $all "\"\\(.ranks) \\(.unranked)\"")"
		is "4 4" "$(json $all "[.communication_matrix[] | select(.from != null and .to != null) | .sends] | map(tostring) | join(\" \")")"'
done

done_testing
