#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='use vftrace: the module of Fortran, with gfortran and with flang'
. "$(dirname "$0")/../lib/lib.sh"
need jq gfortran nm
need_built "$AGENT" "$LIB/libvftrace.so" "$BUILD/include/vftrace.mod"

module="-I$BUILD/include"
fc_traced "$BIN/api" $module -J. "$T/hook/app-api.f90" ||
	{ echo 'Bail out! app-api.f90 cannot be compiled'; exit 1; }
ALL=api_all.json

cat >regions.counts <<'END'
1 main<init
1 MAIN<main<init
1 steps::regions<MAIN<main<init
5 part 1<steps::regions<MAIN<main<init
5 part 2<steps::regions<MAIN<main<init
5 steps::leaf<part 1<steps::regions<MAIN<main<init
5 steps::leaf<part 2<steps::regions<MAIN<main<init
5 two words<part 1<steps::regions<MAIN<main<init
5 two words<part 2<steps::regions<MAIN<main<init
5 steps::leaf<two words<part 1<steps::regions<MAIN<main<init
5 steps::leaf<two words<part 2<steps::regions<MAIN<main<init
1 (no name)<steps::regions<MAIN<main<init
1 steps::missing_end<steps::regions<MAIN<main<init
1 left open<steps::missing_end<steps::regions<MAIN<main<init
1 steps::leaf<left open<steps::missing_end<steps::regions<MAIN<main<init
END

# line PATH: what app-api.f90 prints of it
line() {
	echo "$1 ${#1}"
}

test_expect 'regions: blanks at the end do not count, any number, mismatched ends do no harm' "
	traced -q -- $BIN/api regions
	same_calls regions.counts $ALL"

test_expect 'pause and resume nest' "
	traced -q -- $BIN/api pause
	is 2 \$(calls_of $ALL 'steps::leaf<steps::pauses<MAIN<main<init')
	is 1 \$(calls_of $ALL 'vftrace_pause<steps::pauses<MAIN<main<init')"

test_expect 'get_stack: the path as the tables have it, without a NUL, its length right' "
	traced -q -- $BIN/api stack >out
	line 'steps::print_stack<MAIN<main<init' >wanted
	line 'steps::print_stack<a region<MAIN<main<init' >>wanted
	diff wanted out
	traced -q -k strip_module_names=true -- $BIN/api stack >short
	line 'print_stack<MAIN<main<init' >wanted
	line 'print_stack<a region<MAIN<main<init' >>wanted
	diff wanted short"

test_expect 'a program whose name begins like an MPI launcher keeps its arguments' "
	cp $BIN/api mpi-openmpi
	traced -q -- ./mpi-openmpi stack >out.mpi
	diff out out.mpi"

test_expect 'get_stack is \"init\", and nothing fails, when tracing is off' "
	limit env VFTR_OFF=yes $BIN/api stack >out
	is 'init 4 init 4 ' \"\$(tr '\n' ' ' <out)\"
	limit env VFTR_OFF=yes $BIN/api regions
	limit env VFTR_OFF=yes $BIN/api pause"

test_expect 'what get_stack returns can be deallocated: nothing is lost' "
	fc_traced leaks $module -J. -fsanitize=address \$T/hook/app-api.f90
	env VFTR_OFF=yes ASAN_OPTIONS=detect_leaks=1 timeout 60 ./leaks memory 2>err ||
		{ cat err; exit 1; }
	hasnt err 'LeakSanitizer'"

test_expect 'the library needs no library of Fortran, in any form' "
	nm -D --undefined-only $LIB/libvftrace.so | grep -i -e gfortran -e _Fortran && exit 1
	ldd $LIB/libvftrace.so | grep -i fortran && exit 1
	nm -D --defined-only $LIB/libvftrace.so | grep -q __vftrace_MOD_vftrace_get_stack"

test_expect 'the static archives have the module, too' "
	gfortran -g -O1 -finstrument-functions $module -J. -o $BIN/api-a \$T/hook/app-api.f90 \
		-Wl,--whole-archive $LIB/libvftrace.a -Wl,--no-whole-archive -pthread -ldl
	traced -q -- $BIN/api-a regions
	same_calls regions.counts api-a_all.json
	gfortran -g -O1 -static -finstrument-functions $module -J. -o $BIN/api-s \$T/hook/app-api.f90 \
		$LIB/libvftrace-static.a
	traced -q -- $BIN/api-s regions
	same_calls regions.counts api-s_all.json"

test_expect 'objects compiled with the module of Vftrace 2.0 run: regions, pause, get_stack' "
	mkdir -p theirs
	(cd theirs && gfortran -c -o module.o \$T/fortran/app-module.f90 &&
		gfortran -c -g -O1 -finstrument-functions -I. -o api.o \$T/hook/app-api.f90)
	nm theirs/api.o | grep -w U | grep -w __vftrace_MOD_vftrace_region_begin
	nm theirs/api.o | grep -w U | grep -w __vftrace_MOD_vftrace_region_end
	gfortran -o $BIN/theirs theirs/api.o \$(test_link vftrace)
	traced -q -- $BIN/theirs regions
	same_calls regions.counts theirs_all.json
	traced -q -- $BIN/theirs stack >got
	traced -q -- $BIN/api stack >out
	diff out got
	traced -q -- $BIN/theirs pause
	is 2 \$(calls_of theirs_all.json 'steps::leaf<steps::pauses<MAIN<main<init')"

for o in -O0 -O3 -fno-underscoring -fsecond-underscore; do
	test_expect "$o: the same" "
		fc_traced flags $module -J. $o \$T/hook/app-api.f90
		traced -q -- ./flags regions
		sed 's/MAIN</MAIN</' regions.counts >wanted.counts
		jq '.stacks |= map(.path |= gsub(\"MAIN_*<\"; \"MAIN<\"))' flags_all.json >got.json
		same_calls wanted.counts got.json"
done

for flang in flang flang-new flang-new-19 flang-new-16; do
	flang=$(command -v $flang) && break
done
test_if '[ -n "$flang" ]' 'no flang' 'flang: the module is compiled with the program' "
	mkdir -p flang
	cd flang
	lib=\$(dirname \"\$(readlink -f '$flang')\")/../lib
	$flang -L\$lib -o f-api \$TOP/fortran/vftrace.f90 \$T/hook/app-api.f90 \$(test_link vftrace)
	traced -q -- ./f-api regions
	is 5 \$(calls_of f-api_all.json 'two words<part 2<init')
	is 1 \$(calls_of f-api_all.json '(no name)<init')
	traced -q -- ./f-api stack >out
	is 'init 4,a region<init 13' \"\$(sed 's/^ *//' out | paste -sd,)\"
	limit ./f-api pause"

for mpi in $(mpi_list); do
	test_if "command -v mpif90.$mpi" "no mpif90.$mpi" "$mpi: its library has the module" "
		mpifc_traced $mpi mpi-$mpi $module -J. \$T/hook/app-api.f90
		traced -q -- ./mpi-$mpi regions
		same_calls regions.counts mpi-${mpi}_all.json"
done

done_testing
