#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='vftr flags, pkg-config, CMake, Meson, autotools: from flags to a profile'
. "$(dirname "$0")/../lib/lib.sh"
need jq gfortran
need_built "$AGENT" "$LIB/libvftrace.so" "$BUILD/include/vftrace.mod" "$BUILD/prefix"

E=$T/tool/examples-build
ROOT=$PWD/in\ stalled # with a blank
PREFIX=$(cat "$BUILD/prefix")

# example NAME: a folder with the example, and the files of this build system
example() {
	mkdir "$1"
	cp "$E/main.c" "$E/smooth.f90" "$1"
	[ ! -d "$E/$1" ] || cp "$E/$1"/* "$1"
	cd "$1"
}

cat >"$VFTR_TEST_DIR/example.counts" <<'END'
1 main<init
3 step<main<init
3 assemble<step<main<init
3 smooth<step<main<init
3 relax<smooth<step<main<init
END

# profiled PROGRAM: it is traced without any further setting, and right
profiled() {
	is 33 "$(limit env VFTR_OFF=1 "./$1")"
	is 33 "$(traced -q -- "./$1")"
	same_calls "$VFTR_TEST_DIR/example.counts" "${1##*/}_all.json"
}

test_expect 'C: compiled, then linked with what vftr flags prints' '
	flagged --cflags gcc -O1 -c "$T/hook/app-count.c" -o count.o
	flagged --libs gcc -o count count.o -lm
	traced -q -- ./count counts >out
	[ "$(json count_all.json "[.stacks[].calls] | add")" -gt 3 ]'

test_expect 'the library is kept wherever it stands, also by linkers that drop what is not needed' '
	eval "gcc -O1 $("$VFTR" flags --cflags) -Wl,--as-needed $("$VFTR" flags --libs) \
		-o first \"\$T/hook/app-count.c\" -lm"
	traced -q -- ./first counts >out
	same_stacks() { json "$1" ".stacks | length"; }
	is "$(same_stacks count_all.json)" "$(same_stacks first_all.json)"'

test_expect 'one command with all flags, in one line' '
	is 1 $("$VFTR" flags --cflags --libs | wc -l) lines
	flagged "--cflags --libs" gcc -O1 "$T/hook/app-count.c" -o once -lm
	traced -q -- ./once counts >out
	[ -s once_all.json ]'

test_expect 'Fortran, with the module' '
	flagged --fflags gfortran -J. -c "$T/hook/app-api.f90" -o api.o
	flagged --libs gfortran -o fortran api.o
	traced -q -- ./fortran stack >out
	has out "a region<MAIN<main<init"'

test_if 'command -v clang' 'no clang' 'clang' '
	flagged "--cc clang-14 --cflags --libs" clang -O1 "$T/hook/app-count.c" -o clang-count -lm
	traced -q -- ./clang-count counts >out
	[ -s clang-count_all.json ]'

# own_calls JSON: no function of the standard library and no lambda is in it; all calls
own_calls() {
	json "$1" ".functions[] | .linker_name // .function" | grep -E "^_Z(N?K?St|N9__gnu|.*UlR)" && return 1
	json "$1" "[.stacks[].calls] | add"
}

test_expect 'C++ by gcc: the program without the standard library and without lambdas' '
	flagged "--cxxflags --libs" g++ -O2 "$T/tool/app-stl.cpp" -o stl
	is 40200 "$(traced -q -- ./stl 1000)"
	calls=$(own_calls stl_all.json)
	echo "$calls calls"
	[ "$calls" -gt 5000 ]
	[ "$calls" -lt 12000 ]
	for f in Field::sort Table::step; do
		is 2000 "$(json stl_all.json "[.functions[] | select(.function | test(\"$f\")).calls] | add")"
	done'

test_if 'command -v clang++' 'no clang' 'C++ by clang: what is left when all is inlined' '
	flagged "--cc clang++ --cxxflags --libs" clang++ -O2 "$T/tool/app-stl.cpp" -o stl-clang
	is 40200 "$(traced -q -- ./stl-clang 1000)"
	calls=$(json stl-clang_all.json "[.stacks[].calls] | add")
	echo "$calls calls"
	[ "$calls" -gt 2000 ] && [ "$calls" -lt 80000 ]'

test_if 'command -v clang++' 'no clang' 'C++ by clang: the header in the manual leaves the standard library out' '
	sed -n "/^#ifdef __cplusplus/,/^#endif/p" "$TOP/man/vftr-flags.1" | sed "s/\\\\e/\\\\/" >header.h
	has header.h "no_instrument_function"
	flagged "--cc clang++ --cxxflags --libs" clang++ -O2 -include ./header.h "$T/tool/app-stl.cpp" -o stl-header
	is 40200 "$(traced -q -- ./stl-header 1000)"
	own_calls stl-header_all.json
	json stl-header_all.json ".functions[].function" >names
	has names "Table::step"'

# compiled in a fifth of the time: one function of the standard library, and one lambda
cat >few.cpp <<-EOF
	#include <utility>
	extern "C" int printf(const char *, ...);
	template <class F> static void with(int &n, F f) { f(n); }
	static int least(int a, int b) { if (b < a) std::swap(a, b); return a; }
	int main() {
		int sum = 0;
		for (int i = 0; i < 10; i++)
			with(sum, [](int &n) { n += least(7, 5); });
		printf("%d\n", sum);
	}
EOF
few=$PWD/few.cpp

# few_profiled PROGRAM: all that it has of its own is traced, and nothing else
few_profiled() {
	is 50 "$(traced -q -- "./$1")"
	own_calls "${1##*/}_all.json"
	is 10 "$(json "${1##*/}_all.json" "[.functions[] | select(.function | test(\"least\")).calls] | add")"
}

test_expect 'C++ in a makefile: by the shell, and by lines' '
	g++ -O1 "$few" -finstrument-functions $("$VFTR" flags --libs) -o few-all
	traced -q -- ./few-all >out
	[ "$(own_calls few-all_all.json | wc -l)" -ge 2 ]
	printf "few-make:\n\tg++ -O1 %s -o \$@ \$(shell \"%s\" flags --cxxflags --libs)\n" \
		few.cpp "$VFTR" >Makefile
	env -u MAKEFLAGS make -s few-make
	few_profiled few-make'

test_expect '--static: a program linked with -static' '
	flagged "--cflags --libs --static" gcc -O1 -static -o static "$T/hook/app-static.c"
	traced -q -- ./static >out
	[ -s static_all.json ]
	refuse "$VFTR" flags --static --mpi openmpi --libs 2>err
	has err "cannot be traced"'

for mpi in $(mpi_list); do
	test_expect "$mpi: --mpi" '
		flagged "--cflags --libs --mpi $mpi" mpicc.$mpi -o mpi-$mpi "$T/mpi/program/app-mpi-start.c"
		readelf -d mpi-$mpi | grep NEEDED | head -n 1 | grep -q "libvftrace-$mpi.so"'
done

test_expect 'other compilers: their own option, or a clear word' '
	"$VFTR" flags --cflags --cc /opt/nvidia/bin/nvc >said 2>&1
	has said "-Minstrument=functions"
	"$VFTR" flags --fflags --cc flang-new-16 >flags 2>said
	hasnt flags instrument
	has said "flang-new-16 cannot instrument functions"'

test_expect 'nvcc: its host compiler gets the options, each behind -Xcompiler or -Xlinker' '
	"$VFTR" flags --cc /usr/local/cuda/bin/nvcc --cxxflags --libs --no-headers >said
	grep -q -- "-Xcompiler -finstrument-functions -Xcompiler @.*/gcc-c++.options -Xcompiler @.*/nvcc.options" said
	has said "-Xcompiler -finstrument-functions-exclude-file-list=.inl"
	has said "-Xlinker --push-state,--no-as-needed -lvftrace -Xlinker --pop-state"
	hasnt said "-Wl,"'

test_if 'command -v nvcc || [ -x /usr/local/cuda/bin/nvcc ]' 'no nvcc' 'nvcc: of a program with kernels, its own functions are traced' '
	PATH=$PATH:/usr/local/cuda/bin
	cat >kernels.cu <<-EOF
		#include <cstdio>
		#include <nvtx3/nvToolsExt.h>
		#include <utility>
		__global__ void scale(float *x) { x[threadIdx.x] *= 2; }
		static int least(int a, int b) { if (b < a) std::swap(a, b); return a; }
		static void launch() { float *x; cudaMalloc(&x, 128); scale<<<1, dim3(32)>>>(x); }
		int main() {
			nvtxRangePushA("a range");
			printf("%d\n", least(3, 1));
			launch();
			nvtxRangePop();
			return 0;
		}
	EOF
	flagged "--cc nvcc --cxxflags --libs" nvcc -O1 -o kernels kernels.cu
	traced -q -- ./kernels >out
	is 1 "$(cat out)"
	is "a range init launch least main scale" "$(jq -r ".functions[].function" kernels_all.json |
		grep -v "^cu[A-Z]\|^cuda" | sort | paste -sd " ")"'

# hydro_source FOLDER: accessors in a header, and kernels that use them, as in bench/hydro.cpp; without the
# standard library, which is most of what that costs to compile
hydro_source() {
	cat >"$1/domain.h" <<-EOF
		class Domain {
			double x_[8] = {1, 2, 3, 4, 5, 6, 7, 8}, energy_[8] = {};
		public:
			double &x(int i) { return x_[i]; }
			int corner(int k) const { return 7 - k; }
			double &energy(int i) { return energy_[i]; }
		};
	EOF
	cat >"$1/hydro.cpp" <<-EOF
		#include "domain.h"
		namespace hydro {
		static inline double triple(double x, double y, double z) { return x * x + y * y + z * z; }
		static void step(Domain &d)
		{
			for (int k = 0; k < 8; k++)
				d.energy(k) += triple(d.x(k), d.x(d.corner(k)), 1);
		}
		}
		int main()
		{
			Domain d;
			for (int i = 0; i < 3; i++)
				hydro::step(d);
			return d.energy(0) != 3 * 66;
		}
	EOF
}

# functions of hydro.cpp that a run has, with these flags: accessors, and kernels
hydro() {
	hydro_source . # a path with .h in it would be a header
	flagged "--cc $1 --cxxflags --libs $2" "$1" -O2 -o hydro hydro.cpp
	traced -q -- ./hydro
	json hydro_all.json ".functions[].function" >names
	grep "Domain::\(x\|corner\|energy\)$" names >accessors || true
	has names main
}

test_expect 'C++ by gcc: functions of headers are left out, others are not; --headers traces them' '
	hydro g++ --headers
	[ -s accessors ]
	hydro g++ --no-headers
	has names hydro::step
	has names hydro::triple
	[ ! -s accessors ] || { cat accessors; exit 1; }
	is "$("$VFTR" flags --cxxflags --no-headers)" "$("$VFTR" flags --cxxflags)"
	mkdir my.hydro && cd my.hydro
	hydro g++ 2>said
	[ -s accessors ]
	has said "what headers define is traced, too"
	status_of 2 "$VFTR" flags --cc 2>said
	has said "requires an argument"
	status_of 2 "$VFTR" flags --headers --no-headers 2>said
	has said "cannot go together"'

cat >sums.h <<-EOF
	template <class T> T sum(T n) { T s = 0; for (T i = 0; i < n; i++) s += 1 / (i + s + 1); return s; }
EOF
cat >sums.cpp <<-EOF
	#include <cstdio>
	#include "sums.h"
	int main() { std::printf("%g\n", sum<double>(3e7)); }
EOF
test_expect 'where headers had all of the work, a finding says for whom it counts, and how to see it' '
	for option in "" --headers; do
		rm -rf sums
		flagged "--cc g++ --cxxflags --libs $option" g++ -O1 -g -o sums sums.cpp
		limit "$VFTR" run -q -o sums.run -- ./sums >out
		jq -c "[.findings[] | select(.rule == \"headers\") | .evidence.function]" sums.run/profile.json >found.$option
		rm -rf sums.run
	done
	is "[\"main\"]" "$(cat found.)"
	is "[]" "$(cat found.--headers)"'

test_expect '--no-headers: C, too' '
	cp "$T/hook/app-count.c" "$T/hook/app-counter.h" .
	flagged "--cflags --libs --no-headers" gcc -O1 app-count.c -o headless -lm
	traced -q -- ./headless counts >out
	is "$(json count_all.json ".stacks | length")" "$(json headless_all.json ".stacks | length")"'

test_expect '--no-headers: where gcc would take all files for headers, a message says so' '
	"$VFTR" flags --no-headers --cxxflags >option 2>said
	hasnt said "header"
	has option "file-list=.h,"
	mkdir their.hydro && cd their.hydro
	"$VFTR" flags --no-headers --cxxflags >../option 2>../said
	has ../said "contains one of .h,"
	"$VFTR" flags --no-headers --cc nvc++ >../option 2>../said
	has ../said "nvc++ has no option"
	status_of 2 "$VFTR" flags --no-headers --exclude x 2>../said'

test_if 'command -v clang++' 'no clang' '--no-headers: clang leaves out what it inlines' '
	is "-finstrument-functions-after-inlining" "$("$VFTR" flags --no-headers --cc clang --cflags | tr " " "\n" | grep instrument)"
	hydro clang++ --no-headers
	[ ! -s accessors ]'

# cost JSON: calls, and estimated seconds in hooks
cost() {
	json "$1" "\"\(.calls) \(.hooks_s)\""
}

# fell BEFORE AFTER: to less than a quarter
fell() {
	echo "calls and seconds in hooks: $(cost "$1"), then $(cost "$2")"
	echo "$(cost "$1") $(cost "$2")" | awk "{ exit !(\$3 < \$1 / 4 && \$4 < \$2 / 2) }"
}

# excluding RUN COMPILER NAMES COMMAND...: the command's run, and the option that leaves out its
# short functions, $left_out of those in NAMES; $told: a part of what is said when all that no option
# leaves out were short, too. On a busy machine a short function that had to wait for a CPU has
# taken long: so it goes before others where this is allowed; else once more, and the lists with most of them count.
ahead=
! chrt -f 1 true 2>/dev/null || ahead='chrt -f 1'
excluding() {
	excluding_run=$1 excluding_cc=$2
	printf "%s\n" $3 >names
	shift 3
	mkdir "$excluding_run"
	found=-1
	for try in 1 2 3 4 5 6; do
		sum=$(limit $ahead "$AGENT" -q -o "$excluding_run" -- "$@")
		"$VFTR" flags --exclude "$excluding_run" --cc "$excluding_cc" >option 2>said
		cat option said
		left_out=$(tr "=," "\n\n" <option | grep -cxFf names) || true
		all=$((10 * $(grep -cF "${told:-}" said) + left_out))
		[ "$all" -le "$found" ] || { found=$all; cp option option.most; cp said said.most; }
		[ "$left_out" -lt "$(wc -l <names)" ] || ! grep -qF "${told:-}" said || break
	done
	mv option.most option
	mv said.most said
	left_out=$(tr "=," "\n\n" <option | grep -cxFf names) || true
	told=
}

test_expect '--exclude: g++ leaves out the short functions of a run, and no other, and their cost is gone' '
	flagged --libs g++ -O1 -finstrument-functions "$T/tool/app-short.cpp" -o short
	told="operator()"
	excluding short-1 g++ "grid::row::put ::get grid::twice plain_step" ./short 300000
	[ "$left_out" -ge 3 ]
	is 1 "$(wc -l <option)"
	# its name is part of that of a long function
	! tr "=," "\n\n" <option | grep -x tick || exit 1
	grep "no list leaves these out without others; .*no_instrument_function.*: .*operator()" said
	grep "these functions made [0-9]* % of the calls" said
	flagged --libs g++ -O1 -finstrument-functions $(cat option) "$T/tool/app-short.cpp" -o short
	mkdir short-2
	is "$sum" "$(traced -q -o short-2 -- ./short 300000)"
	fell short-1/short_all.json short-2/short_all.json
	is "main ticking work" "$(json short-2/short_all.json ".functions[].function" |
		grep -x "main\|work\|ticking" | sort | paste -sd " ")"'

test_expect '--exclude: the same functions are short where the program had a sixth of a CPU' '
	[ -r /proc/self/schedstat ] || { echo "no schedstat here: only CPU time is known"; exit 0; }
	flagged --libs g++ -O1 -finstrument-functions "$T/tool/app-short.cpp" -o short
	mkdir starved
	cpu=$(taskset -cp $$ | sed "s/.*: //; s/[-,].*//")
	for i in 1 2 3 4 5; do
		taskset -c "$cpu" sh -c "while :; do :; done" &
		others="$others $!"
	done
	traced -q -o starved -- taskset -c "$cpu" ./short 700000
	kill $others
	json starved/short_all.json "\"\(.each_process[-1].cpu_s) s of a CPU, waited for one \(.each_process[-1].queued_s) s\""
	"$VFTR" flags --exclude starved --cc g++ >option 2>said
	cat option said
	for name in grid::row::put ::get grid::twice plain_step; do
		tr "=," "\n\n" <option | grep -qxF $name
	done
	! tr "=," "\n\n" <option | grep -xE "tick|ticking|work|main" || exit 1'

test_if 'command -v clang++' 'no clang' '--exclude: clang has an option for what it inlines, and the attribute for the rest' '
	"$VFTR" flags --exclude short-1 --cc clang++-14 >option 2>said
	is "-finstrument-functions-after-inlining" "$(cat option)"
	grep "no_instrument_function.*: .*grid::" said
	flagged --libs clang++ -O2 $(cat option) -DSHORT= "$T/tool/app-short.cpp" -o short
	mkdir short-3
	traced -q -o short-3 -- ./short 300000
	fell short-1/short_all.json short-3/short_all.json'

test_expect '--exclude: gfortran, in a module and outside' '
	flagged --libs gfortran -O1 -fno-inline -finstrument-functions "$T/tool/app-short.f90" -J. -o fshort
	excluding fshort-1 gfortran "move outer" ./fshort
	is "=move =outer" "$(sed "s/.*-list=//; s/,/\n/g" option | sort | sed "s/^/=/" | paste -sd " ")"
	flagged --libs gfortran -O1 -fno-inline -finstrument-functions $(cat option) "$T/tool/app-short.f90" -J. -o fshort
	mkdir fshort-2
	traced -q -o fshort-2 -- ./fshort
	fell fshort-1/fshort_all.json fshort-2/fshort_all.json'

test_expect '--exclude: other compilers and runs without short functions are told so, wrong ones refused' '
	"$VFTR" flags --exclude short-1 --cc nvc++ >option 2>said
	[ ! -s option ]
	has said "this compiler has no list"
	"$VFTR" flags --exclude short-2 >option 2>said
	[ ! -s option ] || hasnt option "plain_step"
	status_of 2 "$VFTR" flags --exclude absent 2>said
	has said "absent"
	status_of 2 "$VFTR" flags --exclude short-1 --libs 2>said
	has said "goes with --cc only"'

test_expect 'wrong usage: one sentence, status 2' '
	for wrong in --mpi --wrong word "--mpi lam" --cc; do
		status_of 2 "$VFTR" flags $wrong 2>said
		is 1 $(wc -l <said) "lines for $wrong"
	done
	status_of 0 "$VFTR" flags --help >said
	has said "--cflags"
	status_of 0 "$VFTR" help flags >said'

test_expect 'lines for a makefile' '
	"$VFTR" flags >flags.mk
	printf "void step(void) {}\nint main(void) { step(); return 0; }\n" >lines.c
	printf "include flags.mk\n\$(info \$(CFLAGS) - \$(LDLIBS))\nlines: lines.c\n" >Makefile
	env -u MAKEFLAGS make -s >made
	traced -q -- ./lines
	is 1 "$(calls_of lines_all.json "step<main<init")"
	is "$("$VFTR" flags --cflags) - $("$VFTR" flags --libs)" "$(cat made)"'

# ---- installed, and the folder moved to a place with a blank in its name

test_expect 'installed below DESTDIR' '
	installed "$ROOT"
	[ -s "$ROOT/include/vftrace.h" ]
	[ -s "$ROOT/include/vftrace.mod" ]
	[ -s "$ROOT/share/vftrace/vftrace.f90" ]'

# CMake tries nvcc out at length
nvcc_by_cmake='[ -n "$VFTR_LONG" ] && command -v cmake && { command -v nvcc || [ -x /usr/local/cuda/bin/nvcc ]; }'
test_if "$nvcc_by_cmake" 'no cmake or nvcc, or not the long form' 'nvcc: the same by CMake' '
	PATH=$PATH:/usr/local/cuda/bin
	mkdir project && cp kernels.cu project
	cat >project/CMakeLists.txt <<-EOF
		cmake_minimum_required(VERSION 3.18)
		project(kernels LANGUAGES CXX CUDA)
		find_package(vftrace REQUIRED)
		add_executable(kernels-cmake kernels.cu)
		set_property(TARGET kernels-cmake PROPERTY CUDA_ARCHITECTURES 90)
		target_link_libraries(kernels-cmake vftrace::vftrace)
	EOF
	ln -s "$ROOT" unblank # nvcc does not quote what it hands on
	cmake -S project -B cuda-made -DCMAKE_PREFIX_PATH="$PWD/unblank" >said 2>&1 || { cat said; exit 1; }
	env -u MAKEFLAGS cmake --build cuda-made >>said 2>&1 || { cat said; exit 1; }
	traced -q -- cuda-made/kernels-cmake >out
	is "$(jq -r ".functions[].function" kernels_all.json | sort)" \
		"$(jq -r ".functions[].function" kernels-cmake_all.json | sort)"'

test_expect 'the installed tool prints flags of where it is; blanks are quoted' '
	"$ROOT/bin/vftr" flags --cflags >flags
	has flags "in\\ stalled/include"
	VFTR=$ROOT/bin/vftr
	flagged "--cflags --libs" gcc -O1 -o moved "$T/hook/app-count.c" -lm
	readelf -d moved | grep -q "in stalled/lib"
	limit "$ROOT/bin/vftr-node-agent" -q -- ./moved counts >out
	[ -s moved_all.json ]'

test_expect 'where it quotes it says what to type in a shell, and that works; nowhere else it says so' '
	mkdir typed
	cd typed
	cp "$T/hook/app-end.c" prog.c
	cp "$T/hook"/*.h .
	PATH=$ROOT/bin:$PATH
	vftr flags --libs >flags 2>said
	sed -n "s/.* in a shell type: //p" said >line
	has line "eval"
	sh -c "$(cat line)" 2>said || { cat said; exit 1; }
	status_of 3 limit vftr run -q -- ./a.out exit3
	is 10 "$(calls_of vftr-a.out-last/profile.json "leaf<work<outer<main<init")"
	is "" "$(vftr flags 2>&1 >flags.mk)"
	cp -R "$ROOT" plain
	is "" "$(plain/bin/vftr flags --cflags --libs 2>&1 >flags)"'

test_expect 'a dollar in the name of the folder: lines of a makefile have two, and mean one' '
	cp -R "$ROOT" "one\$two"
	"one\$two/bin/vftr" flags >flags.mk 2>said
	printf "include flags.mk\nall:; @:\n\$(info \$(CFLAGS) - \$(LDLIBS))\n" >Makefile
	env -u MAKEFLAGS make -s >made
	has made "/one\\\$two/include"
	is "$("one\$two/bin/vftr" flags --cflags 2>said) - $("one\$two/bin/vftr" flags --libs 2>said)" "$(cat made)"'

test_expect 'make install and make uninstall refuse folders with a blank: rm -rf would take the first half' '
	for goal in install uninstall; do
		# the Makefile asks for all in one loop: the short form tries its first with one, its last with the other
		folders="PREFIX DESTDIR LIBDIR MODDIR CMAKEDIR BASHCOMP ZSHCOMP FISHCOMP MODULEFILES DOCDIR"
		[ -n "$VFTR_LONG" ] || case $goal in install) folders=PREFIX ;; *) folders=DOCDIR ;; esac
		for folder in $folders; do
			refuse env -u MAKEFLAGS -u MFLAGS make -n -C "$TOP" O="$BUILD" PREFIX="$PREFIX" \
				$folder="/no such" $goal >printed 2>said
			has said "$folder is \`/no such"
			hasnt printed "/no such"
		done
	done'

test_expect 'make' '
	example make
	env -u MAKEFLAGS make -s VFTR="$ROOT/bin/vftr"
	profiled example
	readelf -d example | grep -q "in stalled/lib"'

test_if 'command -v cmake' 'no cmake' 'CMake: find_package(vftrace), in the moved folder' '
	example cmake-build
	mkdir cmake
	cp "$E/cmake/CMakeLists.txt" cmake
	cmake -S cmake -B build -DCMAKE_PREFIX_PATH="$ROOT" -DCMAKE_Fortran_COMPILER=gfortran \
		-DCMAKE_C_COMPILER=gcc >said 2>&1 || { cat said; exit 1; }
	env -u MAKEFLAGS cmake --build build >>said 2>&1 || { cat said; exit 1; }
	profiled build/example
	readelf -d build/example | grep -q "in stalled/lib"'

# as_found FOLDER FROM: a build in this folder takes what CMake has found out of the compilers in another one
as_found() {
	mkdir -p "$1/CMakeFiles"
	cp -R "$2"/CMakeFiles/[0-9]* "$1/CMakeFiles"
}
AS_FOUND=-DCMAKE_PLATFORM_INFO_INITIALIZED=1
# the first ones are built by make, which starts ten times as many processes
! command -v ninja >/dev/null || export CMAKE_GENERATOR=Ninja

test_if 'command -v cmake' 'no cmake' 'CMake: C++ without the standard library' '
	mkdir cmake-cxx
	printf "%s\n" "cmake_minimum_required(VERSION 3.15)" "project(x CXX)" \
		"find_package(vftrace REQUIRED)" "add_executable(few-cmake $few)" \
		"target_link_libraries(few-cmake vftrace::vftrace)" >cmake-cxx/CMakeLists.txt
	cmake -S cmake-cxx -B cmake-cxx -DCMAKE_PREFIX_PATH="$ROOT" -DCMAKE_CXX_COMPILER=g++ >said 2>&1 &&
		env -u MAKEFLAGS cmake --build cmake-cxx >>said 2>&1 || { cat said; exit 1; }
	few_profiled cmake-cxx/few-cmake'

# hydro_cmake FOLDER OPTION...: accessors, as with hydro, of a build in this folder
hydro_cmake() {
	at=$1
	shift
	mkdir -p "$at"
	hydro_source "$at"
	[ -e "$at/made" ] || as_found "$at/made" cmake-cxx
	printf "%s\n" "cmake_minimum_required(VERSION 3.15)" "project(x CXX)" \
		"find_package(vftrace REQUIRED)" "add_executable(hydro hydro.cpp)" \
		"target_link_libraries(hydro vftrace::vftrace)" >"$at/CMakeLists.txt"
	cmake -S "$at" -B "$at/made" -DCMAKE_PREFIX_PATH="$ROOT" $AS_FOUND "$@" >said 2>&1 &&
		env -u MAKEFLAGS cmake --build "$at/made" >>said 2>&1 || { cat said; exit 1; }
	traced -q -- "$at/made/hydro"
	json hydro_all.json ".functions[].function" >names
	grep "Domain::\(x\|corner\|energy\)$" names >accessors || true
	has names hydro::step
}

test_if 'command -v cmake' 'no cmake' 'CMake: C++ without what headers define, or with it' '
	hydro_cmake hydro-cmake
	[ ! -s accessors ] || { cat accessors; exit 1; }
	hydro_cmake hydro-cmake -Dvftrace_HEADERS=ON
	[ -s accessors ]
	hydro_cmake our.hydro
	[ -s accessors ]
	has said "gcc traces what headers define, too"'

test_if 'command -v cmake' 'no cmake' 'CMake: the API alone; a version that is too old, an MPI that is not there' '
	cd cmake-build
	as_found plain build
	cmake -S cmake -B plain -DTRACED=OFF -DCMAKE_PREFIX_PATH="$ROOT" $AS_FOUND >said 2>&1
	env -u MAKEFLAGS cmake --build plain >>said 2>&1 || { cat said; exit 1; }
	traced -q -- plain/example
	printf "%s\n" "3 assemble<init" "3 relax<init" >wanted
	same_calls wanted example_all.json
	mkdir wrong
	printf "cmake_minimum_required(VERSION 3.15)\nproject(x NONE)\n%s\n" \
		"find_package(vftrace 99 REQUIRED)" >wrong/CMakeLists.txt
	refuse cmake -S wrong -B w1 -DCMAKE_PREFIX_PATH="$ROOT" >said 2>&1
	has said "requested version \"99\""
	printf "cmake_minimum_required(VERSION 3.15)\nproject(x NONE)\n%s\n" \
		"find_package(vftrace REQUIRED COMPONENTS lam)" >wrong/CMakeLists.txt
	refuse cmake -S wrong -B w2 -DCMAKE_PREFIX_PATH="$ROOT" >said 2>&1
	has said "vftr was built without lam"'

# of a moved folder pkg-config is told; its variables quote blanks, and Meson does not read that
P=$VFTR_TEST_DIR/prefix
MOVED='pkg-config --define-prefix'
test_if 'command -v meson && command -v ninja && command -v pkg-config' 'no meson' 'Meson: dependency(vftrace)' '
	ln -sfn "$ROOT" "$P"
	example meson
	env PKG_CONFIG="$MOVED" PKG_CONFIG_PATH="$P/lib/pkgconfig" meson setup build >said 2>&1 || { cat said; exit 1; }
	ninja -C build >>said 2>&1 || { cat said; exit 1; }
	profiled build/example'

test_if 'command -v autoreconf && command -v aclocal && command -v pkg-config' 'no autotools' \
	'autotools: PKG_CHECK_MODULES' '
	example autotools
	# what the autotools make of the same files is kept; autoreconf runs one of them twice
	made=$BUILD/t/autotools-$({ cat *; for tool in aclocal autoconf automake pkg-config; do
		stat -L -c "%n %s %y" "$(command -v $tool)"; done; } | sha256sum | cut -c 1-40)
	if [ ! -e "$made/Makefile.in" ]; then
		{ aclocal && autoconf && automake -a -c; } >said 2>&1 || { cat said; exit 1; }
		rm -rf "$BUILD"/t/autotools-* autom4te.cache
		mkdir "$made.$$" && cp -a . "$made.$$" && mv "$made.$$" "$made"
	fi
	cp -a "$made"/. .
	# of the compilers it is told what gcc is
	./configure --disable-dependency-tracking ac_cv_c_compiler_gnu=yes ac_cv_prog_cc_g=yes ac_cv_prog_cc_c11= \
		am_cv_prog_cc_c_o=yes ac_cv_fc_compiler_gnu=yes ac_cv_prog_fc_g=yes PKG_CONFIG="$MOVED" PKG_CONFIG_PATH="$ROOT/lib/pkgconfig" CC=gcc FC=gfortran >>said 2>&1 ||
		{ tail said; exit 1; }
	env -u MAKEFLAGS make >>said 2>&1 || { tail said; exit 1; }
	profiled example
	readelf -d example | grep -q "in stalled/lib"'

test_expect 'pkg-config: versions, flags and folders; one file for each MPI' '
	ln -sfn "$ROOT" "$P"
	PKG_CONFIG_PATH=$P/lib/pkgconfig
	export PKG_CONFIG_PATH
	is "$PREFIX" "$(pkg-config --variable=prefix vftrace)"
	is "$("$VFTR" --version | sed "s/vftr //")" "$($MOVED --modversion vftrace)"
	[ -e "$($MOVED --variable=moduledir vftrace)/vftrace.mod" ]
	[ -e "$($MOVED --variable=module_source vftrace)" ]
	is "-I$P/include -finstrument-functions" "$($MOVED --cflags vftrace | sed "s/ *\$//")"
	gcc "$T/hook/app-count.c" -o pc $($MOVED --cflags --libs vftrace) -lm \
		-Wl,-rpath,"$($MOVED --variable=libdir vftrace)"
	traced -q -- ./pc counts >out
	[ -s pc_all.json ]
	g++ -O1 "$few" -o pcxx $($MOVED --variable=cxxflags vftrace) \
		$($MOVED --libs vftrace) -Wl,-rpath,"$($MOVED --variable=libdir vftrace)"
	few_profiled pcxx
	for mpi in $(mpi_list) $([ -z "$(mpi_list)" ] || echo mpi); do
		$MOVED --libs vftrace-$mpi | grep -q -e "-lvftrace-$mpi"
	done'

test_expect 'make uninstall leaves nothing' '
	mkdir -p "stage${PREFIX%/*}"
	mv "$ROOT" "stage$PREFIX"
	env -u MAKEFLAGS make -s -C "$TOP" O="$BUILD" PREFIX="$PREFIX" DESTDIR="$PWD/stage" \
		uninstall >made 2>&1
	is "" "$(cd stage && find . -type f -o -type l)"'

done_testing
