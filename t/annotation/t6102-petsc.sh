#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='events and stages of PETSc are regions, as often as -log_view counts them'
. "$(dirname "$0")/../lib/lib.sh"
need jq awk
need_built "$LIB/libvftrace-annotations.so"

petsc=$(ls -d /usr/lib/petscdir/petsc3.1[0-9]/*-real 2>/dev/null | tail -n 1)
# PETSc of Debian is built with Open MPI
[ -e "$petsc/include/petscksp.h" ] || skip_all 'no PETSc before 3.20 with its headers'
mpi_list | grep -qw openmpi || skip_all 'no Open MPI'
mpicc.openmpi -O1 -g -o p "$T/annotation/app-petsc.c" -I"$petsc/include" "$petsc"/lib/libpetsc_real.so ||
	exit 99

# "CALLS EVENT<STAGE" of -log_view's text
counted_by_petsc() {
	awk '/^--- Event Stage/ { stage = $0; sub(/.*: /, "", stage) }
		/^Memory usage|^Object Type|Object Type/ { exit }
		stage && $2 ~ /^[0-9]+$/ && $3 ~ /^[0-9.]+$/ { print $2 * ranks " " $1 "<" stage }' ranks="$1" "$2" | sort
}

# the same from the profile: the innermost stage on the path
counted_by_us() {
	json "$1" ".stacks[] | \"\(.calls) \(.path)\"" | grep -v "MPI_\|[0-9] call@" |
		awk '{ calls = $1; sub(/^[0-9]+ /, ""); event = $0; sub(/<.*/, "", event)
			if (event == "Solving" || event == "Main Stage" || !/Main Stage<init$/) next
			n[event "<" (/<Solving</ ? "Solving" : "Main Stage")] += calls }
			END { for (e in n) print n[e] " " e }' | sort
}

test_expect 'one process: every event of each stage, below its solver' '
	traced --preload -q -k profile.sample=0 -- ./p -log_view :log >out
	has out "iterations"
	counted_by_petsc 1 log >wanted
	[ "$(wc -l <wanted)" -gt 15 ]
	counted_by_us p_all.json | diff wanted -
	is 3 "$(calls_of p_all.json "OwnEvent<Solving<Main Stage<init")"
	is 6 "$(calls_of p_all.json "PCApply<KSPSolve<OwnEvent<Solving<Main Stage<init")"
	is 0 "$(jq ".warnings | length" p_all.json)"'

test_expect 'the log of PETSc has the same events as untraced' '
	./p -log_view :untraced >out
	counted_by_petsc 1 untraced | diff wanted -'

test_expect 'without -log_view the events are there, too, and the result is the same' '
	./p >untraced.out
	traced --preload -q -k profile.sample=0 -- ./p >out
	cmp untraced.out out
	counted_by_us p_all.json | diff wanted -'

# -log_view counts an event inside of itself once: so are SFPack here, and solvers in a preconditioner
test_expect 'two ranks' '
	traced --preload -q -k profile.sample=0 -- $(mpirun_of openmpi) -np 2 ./p -pc_type jacobi -log_view :log >out
	counted_by_petsc 2 log | grep -v SFPack >wanted2
	[ "$(wc -l <wanted2)" -gt 15 ]
	counted_by_us p_all.json | grep -v SFPack | diff wanted2 -
	is 6 "$(calls_of p_all.json "OwnEvent<Solving<Main Stage<init")"'

test_expect 'not wanted: nothing of it is recorded, and -log_view counts all' '
	traced --preload -q -k profile.sample=0 -k annotations=kokkos -- ./p -log_view :log >out
	counted_by_petsc 1 log | diff wanted -
	is 0 "$(json p_all.json ".stacks[].path" | grep -c "Main Stage")"'

test_if '/usr/bin/python3 -c "import petsc4py"' 'no petsc4py' \
	'of Python, which loads PETSc with names that others do not see' '
	cat >s.py <<-END
	from petsc4py import PETSc
	with PETSc.Log.Stage("Stage of Python"):
	    x = PETSc.Vec().createSeq(10)
	    x.set(1)
	    print(x.norm())
	END
	traced --preload -q -k profile.sample=0 -- /usr/bin/python3 s.py >out
	has out 3.16
	is 1 "$(calls_of python3*_all.json "VecSet<Stage of Python<Main Stage<init")"'

done_testing
