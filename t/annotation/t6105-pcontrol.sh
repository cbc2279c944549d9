#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='MPI_Pcontrol with a name begins and ends a region, if that is wanted'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT"

[ -n "$(mpi_list)" ] || skip_all 'no MPI'
for mpi in $(mpi_list_short); do
	mpicc_traced $mpi p_$mpi "$T/annotation/app-pcontrol.c" || exit 99
	test_expect "$mpi: regions, exact calls; what is no name does nothing" '
		traced -q -k annotations=pcontrol -- $(mpirun_of '$mpi') -np 2 ./p_'$mpi' >out 2>err
		is 10 "$(calls_of p_'$mpi'_all.json "solver<main<init")"
		is 10 "$(calls_of p_'$mpi'_all.json "at the edge<solver<main<init")"
		is 10 "$(calls_of p_'$mpi'_all.json "MPI_Barrier<solver<main<init")"
		is 2 "$(json p_'$mpi'_all.json .stacks[].path | grep -cE "^(solver|at the edge)<")"
		is 0 "$(json p_'$mpi'_all.json .stacks[].path | grep -c "not for us")"'
	test_expect "$mpi: calls without a second parameter do no harm" '
		traced -q -k annotations=pcontrol -- $(mpirun_of '$mpi') -np 2 ./p_'$mpi' bare >out 2>err
		[ "$(jq "[.stacks[] | select(.path | startswith(\"MPI_Finalize<\")) | .calls] | add" p_'$mpi'_all.json)" = 2 ]'
	test_expect "$mpi: by default a name does nothing" '
		traced -q -- $(mpirun_of '$mpi') -np 2 ./p_'$mpi' >out 2>err
		is 10 "$(calls_of p_'$mpi'_all.json "MPI_Barrier<main<init")"
		is 0 "$(json p_'$mpi'_all.json .stacks[].path | grep -c solver)"'
done

done_testing
