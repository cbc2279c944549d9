#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='what the table of the README says to type, typed'
. "$(dirname "$0")/../lib/lib.sh"
need jq gfortran
need_built "$VFTR" "$AGENT" "$BUILD/prefix"

# a user's folder: one source for each row
as_installed
cat >prog.c <<'END'
void step(int n) { (void)n; }
int main(void) { for (int i = 0; i < 7; i++) step(i); return 0; }
END
cp "$T/tool/app-stl.cpp" prog.cpp
cat >prog.f90 <<'END'
program prog
  call step(1)
contains
  subroutine step(n)
    integer, intent(in) :: n
    if (n < 0) print *, n
  end subroutine
end program
END
cat >prog-mpi.c <<'END'
#include <mpi.h>
int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Barrier(MPI_COMM_WORLD);
	return MPI_Finalize();
}
END
cat >prog.py <<'END'
from mpi4py import MPI
MPI.COMM_WORLD.Barrier()
END

# the cell of what is typed by those who have WHAT
cell() {
	sed -n '/^| I have | type this |/,/^$/p' "$TOP/README.md" | sed -n "s/^| $1[^|]* | \(.*\) |\$/\1/p"
}

# command WHAT N: the Nth text between ` and ` in it
command_of() {
	cell "$1" | grep -o '`[^`]*`' | sed -n "$2s/\`//gp"
}

# typed WHAT N: it is run; of programs a.out and binary there is a recent one
typed() {
	command_of "$1" "$2" >line
	[ -s line ] || { echo "no command $2 of $1"; exit 1; }
	cat line
	eval "limit sh -c '$(cat line)'" >output 2>&1 || { cat output; exit 1; }
}

calls_of_name() {
	json "$1" "[.stacks[] | select(.function | test(\"$2\")).calls] | add // 0"
}

test_expect 'the table has a row for each of these programs' '
	for row in C C++ CUDA Fortran MPI "Python with mpi4py" "a binary" CMake make "a job of Slurm" "nothing in the profile"; do
		[ -n "$(cell "$row")" ] || { echo "no row $row"; exit 1; }
	done
	[ "$(wc -l <"$TOP/README.md")" -le 150 ]'

test_expect 'C' '
	typed C 1
	typed C 2
	is 7 "$(calls_of_name vftr-a.out-last/profile.json "^step\$")"
	rm -rf a.out vftr-a.out*'

test_expect 'C++' '
	typed "C++" 1
	limit vftr run -q -- ./a.out 100
	is 0 "$(calls_of_name vftr-a.out-last/profile.json "^std::")"
	[ "$(calls_of_name vftr-a.out-last/profile.json ".")" -gt 100 ]
	rm -rf a.out vftr-a.out*'

test_expect 'Fortran' '
	typed Fortran 1
	limit vftr run -q -- ./a.out
	is 1 "$(calls_of_name vftr-a.out-last/profile.json "step")"
	rm -rf a.out vftr-a.out*'

test_if '[ -n "$mpi" ]' 'no MPI' 'MPI' '
	mkdir mpi
	cd mpi
	cp ../prog-mpi.c prog.c
	eval "$(command_of MPI 1 | sed "s/--mpi openmpi/--mpi $mpi/")"
	typed MPI 5
	is "4 4" "$(json vftr-a.out-last/profile.json "\"\(.ranks) \([.stacks[] | select(.function == \"MPI_Barrier\").calls] | add)\"")"'

test_if '[ -n "$mpi" ]' 'no MPI' 'a binary' '
	mkdir binary
	cd binary
	mpicc ../prog-mpi.c -o binary
	typed "a binary" 1
	is "4 4" "$(json vftr-binary-last/profile.json "\"\(.ranks) \([.stacks[] | select(.function == \"MPI_Barrier\").calls] | add)\"")"'

test_if '[ "$mpi" = openmpi ] && /usr/bin/python3 -c "import mpi4py"' 'no mpi4py for the Open MPI here' 'Python with mpi4py' '
	typed "Python with mpi4py" 1
	is "4 4" "$(json vftr-prog-last/profile.json "\"\(.ranks) \([.stacks[] | select(.function == \"MPI_Barrier\").calls] | add)\"")"'

test_expect 'nothing in the profile' '
	gcc prog.c
	command_of "nothing in the profile" 1 >line
	status_of 1 sh -c "$(cat line)" >said
	has said "-finstrument-functions"'

test_expect 'the words for CMake, pkg-config and Slurm are those of the installation' '
	for word in $(cell CMake | grep -o "vftrace::[a-z]*"); do
		case $word in vftrace::vftrace) ;; *) continue ;; esac
		grep -qF "_vftrace_target(${word#vftrace::} " "$TOP/packaging/vftrace-config.cmake.in"
	done
	for mpi in openmpi mpich; do
		cell CMake | grep -q "vftrace::$mpi"
		grep -qF "_vftrace_target($mpi " "$TOP/packaging/vftrace-config.cmake.in"
		cell make | grep -q "vftrace-$mpi"
	done
	"$AGENT" --help | grep -q -e "$(cell "a job of Slurm" | grep -o -e "--in-step")"'

test_expect 'each page that the README names is there' '
	grep -oE "\b(vftr[a-z-]*)\([1-8]\)" "$TOP/README.md" | sort -u | tr "()" "  " >pages
	[ "$(wc -l <pages)" -gt 10 ]
	while read -r name section; do
		[ -e "$TOP/man/$name.$section" ] || [ -e "$TOP/man/$name.$section.in" ] || { echo "no $name.$section"; exit 1; }
	done <pages'

done_testing
