#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='MPI_IN_PLACE and MPI_STATUS(ES)_IGNORE of Fortran are known, in every binding'
. "$(dirname "$0")/../lib/lib.sh"

mpis=$(mpi_list)
[ -n "$mpis" ] || skip_all 'no MPI on this machine'

for mpi in $mpis; do
	for language in F08 USE_MPI MPIFH; do
		test_if "command -v mpif90.$mpi" "no mpif90.$mpi" "$mpi, $language" "
			need_built \"\$BUILD/mpi/$mpi/sentinel.o\"
			mpicc.$mpi -std=gnu11 -D_GNU_SOURCE -I\"\$TOP\" -I\"\$BUILD/gen\" -fPIC -fvisibility=hidden \
				-shared -o libsentinels-$mpi.so \"\$T/fortran/app-sentinels.c\" \"\$BUILD/mpi/$mpi/sentinel.o\"
			mpif90.$mpi -cpp -D$language -fallow-argument-mismatch -w -J. -o $mpi-$language \
				\"\$T/fortran/app-sentinels.f90\" -L. -lsentinels-$mpi -Wl,-rpath,\"\$PWD\"
			limit $(mpirun_of "$mpi") -np 1 ./$mpi-$language >out
			is '11110000 11110000' \"\$(paste -sd' ' out)\"
		"
	done
done

done_testing
