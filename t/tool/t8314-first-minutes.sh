#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A user who knows nothing types at most two commands, of the README's table where it has them,
# and reads the function that takes the time on the terminal.
test_description='the first five minutes of a new user: two commands to the hot spot'
. "$(dirname "$0")/../lib/lib.sh"
need_built "$VFTR" "$AGENT" "$BUILD/prefix"

as_installed

# burns CPU time: most of it in hot_spot
cat >prog.c <<'END'
static volatile double sum;
__attribute__((noinline)) static void hot_spot(long n) { for (long i = 0; i < n; i++) sum += (double)i; }
__attribute__((noinline)) static void cool(long n) { for (long i = 0; i < n; i++) sum += 2; }
int main(void) { for (int i = 0; i < 20; i++) { hot_spot(15000000); cool(100000); } return 0; }
END
{
	printf '#include <algorithm>\n#include <vector>\n'
	cat <<'END'
namespace field {
template <class T> struct grid { std::vector<T> cells; T hot_spot(int n); void cool(); };
template <class T> T grid<T>::hot_spot(int n)
{
	T sum = 0;
	for (int k = 0; k < n; k++)
		for (T &c : cells)
			sum += c = c * T(0.5) + T(k);
	return sum;
}
template <class T> void grid<T>::cool() { std::sort(cells.begin(), cells.end()); }
} // namespace field
int main()
{
	field::grid<double> g{std::vector<double>(10000, 1.0)};
	double sum = 0;
	for (int i = 0; i < 20; i++) { sum += g.hot_spot(2000); g.cool(); }
	return sum > 0 ? 0 : 1;
}
END
} >prog.cpp
cat >prog.f90 <<'END'
module field
contains
  subroutine hot_spot(s)
    real(8), intent(inout) :: s
    integer :: i
    do i = 1, 15000000
      s = s * 0.5d0 + i
    end do
  end subroutine
  subroutine cool(s)
    real(8), intent(inout) :: s
    s = s + 1
  end subroutine
end module
program prog
  use field
  real(8) :: s = 0
  integer :: i
  do i = 1, 20
    call hot_spot(s)
    call cool(s)
  end do
  if (s < 0) print *, s
end program
END
sed 's/^int main(void) .*/int main(void)\n{\n\tfor (int k = 0; k < 5; k++) {\n#pragma omp parallel num_threads(2)\n\t\thot_spot(30000000);\n\t\tcool(100);\n\t}\n\treturn 0;\n}/' prog.c >prog-omp.c
cat >prog.py <<'END'
from mpi4py import MPI

def hot_spot(n):
    s = 0
    for i in range(n):
        s += i * i
    return s

def cool(n):
    return MPI.COMM_WORLD.allreduce(n)

for step in range(5):
    cool(hot_spot(600000) % 7)
END

# minutes HOT COMMAND...: at most two; the row with most time of what the last one says names HOT
minutes() {
	minutes_hot=$1
	shift
	[ $# -le 2 ] || { echo "$# commands"; return 1; }
	for minutes_command; do
		printf '%% %s\n' "$minutes_command"
		limit sh -c "$minutes_command" >out 2>terminal || { cat out terminal; return 1; }
	done
	cat terminal
	[ "$(wc -l <terminal)" -le 17 ]
	grep -E '^ {3,}[0-9.]+ % ' terminal | head -n 1 | grep -E "$minutes_hot"
}

# readme WHAT N: the Nth command that its table has for those who have WHAT
readme() {
	sed -n '/^| I have | type this |/,/^$/p' "$TOP/README.md" | sed -n "s/^| $1[^|]* | \(.*\) |\$/\1/p" |
		grep -o '`[^`]*`' | sed -n "$2s/\`//gp"
}

test_expect 'C' '
	minutes hot_spot "$(readme C 1)" "$(readme C 2)"'

test_if 'command -v c++' 'no C++' 'C++' '
	minutes "field::grid::hot_spot" "$(readme "C++" 1)" "vftr run -- ./a.out"'

test_if 'command -v gfortran' 'no gfortran' 'Fortran' '
	minutes "field::hot_spot" "$(readme Fortran 1)" "vftr run -- ./a.out"'

test_if 'echo "int main(void){return 0;}" >e.c && cc -fopenmp e.c' 'no OpenMP' 'OpenMP' '
	minutes "hot_spot" "cc -fopenmp -O2 -g prog-omp.c \$(vftr flags --cflags --libs)" "vftr run -- ./a.out"'

test_if '[ "$mpi" = openmpi ] && /usr/bin/python3 -c "import mpi4py"' 'no mpi4py for the Open MPI here' 'mpi4py' '
	minutes "hot_spot" "vftr run --preload -k python.functions=true -- mpirun -np 2 python3 prog.py"'

test_if 'command -v cmake' 'no cmake' 'CMake' '
	cat >CMakeLists.txt <<-"END"
	cmake_minimum_required(VERSION 3.13)
	project(first C)
	find_package(vftrace REQUIRED)
	add_executable(prog prog.c)
	target_link_libraries(prog PRIVATE vftrace::vftrace)
	END
	minutes hot_spot "cmake -S . -B build && cmake --build build" "vftr run -- build/prog"'

test_expect 'a prebuilt binary: by stack samples' '
	cc -O2 prog.c -o prebuilt
	minutes hot_spot "vftr run -- ./prebuilt"'

test_if '[ -n "$mpi" ]' 'no MPI' 'a prebuilt MPI binary: by stack samples' '
	sed "1i#include <mpi.h>
		s/^int main(void) {/int main(int argc, char **argv) { MPI_Init(\&argc, \&argv);/
		s/return 0; }\$/MPI_Barrier(MPI_COMM_WORLD); return MPI_Finalize(); }/" prog.c >prog-mpi.c
	mpicc -O2 prog-mpi.c -o binary
	minutes hot_spot "$(readme "a binary" 1 | sed "s/-np 4/-np 2/")"'

done_testing
