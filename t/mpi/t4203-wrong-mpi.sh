#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='the library for another MPI than the program has: a sentence, and the program runs'
. "$(dirname "$0")/../lib/lib.sh"
for mpi in openmpi mpich; do
	command -v mpicc.$mpi >mpicc && [ -f "$LIB/libvftrace-$mpi.so" ] ||
		skip_all "no $mpi: two MPI libraries are needed"
done

cat >sum.c <<'END'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	int rank, size, sum = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (!rank)
		printf("sum %d of %d\n", sum, size);
	MPI_Finalize();
	return 0;
}
END
cat >sum.f90 <<'END'
program add_ranks
	use mpi
	implicit none
	integer :: rank, ranks, total, error
	call MPI_Init(error)
	call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
	call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
	call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
	if (rank == 0) print '(a,i0,a,i0)', 'sum ', total, ' of ', ranks
	call MPI_Finalize(error)
end program
END
# MPI OTHER: programs of MPI, linked with the library for OTHER, and with none
build() {
	wrong="-L$LIB -Wl,--no-as-needed,-rpath,$LIB -lvftrace-$2"
	"mpicc.$1" $TEST_FLAGS -finstrument-functions -o "c-$1-linked" sum.c $wrong
	"mpicc.$1" $TEST_FLAGS -o "c-$1-plain" sum.c
	"mpif90.$1" $TEST_FLAGS -finstrument-functions -o "f-$1-linked" sum.f90 $wrong
	"mpif90.$1" $TEST_FLAGS -o "f-$1-plain" sum.f90
}
build openmpi mpich && build mpich openmpi || skip_all 'a program cannot be built'

# works MPI OTHER HOW LANGUAGE
works() {
	preload=
	[ "$3" = linked ] || preload="env LD_PRELOAD=$LIB/libvftrace-$2.so"
	export VFTR_AGENT=off
	limit $(mpirun_of "$1") -np 2 $preload "./$4-$1-$3" >out 2>err
	is "sum 1 of 2" "$(cat out)"
	is 1 "$(grep -c "libvftrace-$2 is for .* and the program's MPI is .*: use libvftrace-$1" err)" \
		sentences
}

for mpi in openmpi mpich; do
	other=$([ $mpi = openmpi ] && echo mpich || echo openmpi)
	for how in linked plain; do
		test_expect "$mpi, $how, with the library for $other: in C" "works $mpi $other $how c"
	done
	for how in linked plain; do
		test_expect "$mpi, $how, with the library for $other: in Fortran" "works $mpi $other $how f"
	done
	test_expect "$mpi with its own library: not a word" "
		mpicc_traced $mpi right sum.c
		traced -q -o . -- $(mpirun_of $mpi) -np 2 ./right >out 2>err
		is 'sum 1 of 2' \"\$(cat out)\"
		hasnt 'is for' err
		is 2 \"\$(calls_of right_all.json 'MPI_Allreduce<main<init')\" calls"
done

done_testing
