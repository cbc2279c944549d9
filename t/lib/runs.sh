# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# Runs with known shapes for the tests of vftr show, tree and export of profiles, each in a folder:
# c (many call paths, deep recursion), cxx, openmp, and mpi and threads with 2 ranks (of threads
# the times of each rank are known). $RUNS has those that can be made here.

need jq python3
need_built "$AGENT" "$VFTR" "$LIB/libvftrace.so"
# logs and JSON as Vftrace has them: what is compared has the same names
export VFTR_SET='output.layout=vftrace'
mkdir c cxx openmp mpi threads
RUNS='c cxx openmp'
cc_traced "$BIN/branches" "$T/tool/app-branches.c" &&
	cxx_traced "$BIN/stl" "$T/tool/app-stl.cpp" &&
	cc_traced "$BIN/team" "$T/openmp/app-openmp.c" -fopenmp &&
	traced -q -o c -- "$BIN/branches" 3 60 &&
	traced -q -o cxx -- "$BIN/stl" >/dev/null &&
	traced -q -o openmp -- "$BIN/team" parallel 3 >/dev/null ||
	{ echo "Bail out! no runs"; exit 1; }
mpi=$(mpi_list | head -n 1)
if [ -n "$mpi" ]; then
	mpicc_traced "$mpi" "$BIN/heat" "$T/demo/heat.c" &&
		traced -q -o mpi -- $(mpirun_of "$mpi") -np 2 "$BIN/heat" 64 64 10 >/dev/null &&
		traced -q -o threads -k profile_table.threads=all -- \
			$(mpirun_of "$mpi") -np 2 "$BIN/heat" 64 64 10 >/dev/null &&
		RUNS="$RUNS mpi threads"
fi

# sum_ns JSON: of the exclusive times of all call paths
sum_ns() {
	python3 -c "
import json, sys
from decimal import Decimal
stacks = json.load(open(sys.argv[1]), parse_float=Decimal)['stacks']
print(int(sum(s['t_excl_s'] for s in stacks) * 10**9))" "$1"
}
