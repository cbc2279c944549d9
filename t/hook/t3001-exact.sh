#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='calls per path equal those of an independent counter'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$LIB/libvftrace.so" "$LIB/libvftrace.a"

# exact PROGRAM AGENT-OPTIONS...: run it, compare every path both ways
exact() {
	program=$1
	shift
	rm -f counts "${program##*/}"_*
	traced -q -k demangle_cxx=false "$@" -- "$program" counts 3
	same_calls counts "${program##*/}_all.json"
	is 0 "$(json "${program##*/}_all.json" .lost)" "lost"
	exclusive_sums_up "${program##*/}_all.json"
}

# compiled COMPILER OUT SOURCE OPTION...: an object, which several rows link
compiled() {
	compiled_cc=$1 compiled_out=$2 compiled_source=$3
	shift 3
	"$T/lib/cached" "$compiled_cc" "$@" -I"$TOP/libhook" -finstrument-functions -c -o "$compiled_out" "$compiled_source"
}

test_cc() {
	c=$1
	for pie in -pie -no-pie; do
		case $pie in -pie) code=-fPIE ;; *) code=-fno-pie ;; esac
		test_expect "$c, C, $pie, linked" "
			compiled $c $BIN/count.o $T/hook/app-count.c -g -O1 $code
			$c $pie -o $BIN/count $BIN/count.o -pthread -lm $(test_link vftrace)
			exact $BIN/count"
		test_expect "$c, C, $pie, preloaded" "
			$c $pie -o $BIN/count $BIN/count.o -pthread -lm
			exact $BIN/count --preload"
		test_expect "$c, C, $pie, static archive" "
			$c $pie -o $BIN/count $BIN/count.o $LIB/libvftrace.a -pthread -ldl
			exact $BIN/count"
	done
	for level in 0 2 3; do
		test_expect "$c, C, -O$level, linked" "
			TEST_CC=$c TEST_FLAGS='-g -O$level'
			cc_traced $BIN/count \$T/hook/app-count.c
			exact $BIN/count"
	done
}

test_cxx() {
	c=$1
	test_expect "$c, C++ with exceptions, linked" "
		compiled $c $BIN/countpp-$c.o $T/hook/app-count.cpp $TEST_FLAGS
		$c -o $BIN/countpp $BIN/countpp-$c.o -pthread $(test_link vftrace)
		exact $BIN/countpp"
	test_expect "$c, C++ with exceptions, preloaded, -O2, not PIE" "
		\$T/lib/cached $c -g -O2 -fno-pie -no-pie -finstrument-functions -o $BIN/countpp \$T/hook/app-count.cpp
		exact $BIN/countpp --preload"
	test_expect "$c, C++ with exceptions, static archive" "
		$c -o $BIN/countpp $BIN/countpp-$c.o $LIB/libvftrace.a -pthread -ldl
		exact $BIN/countpp"
}

for c in gcc clang; do
	if command -v $c >/dev/null; then test_cc $c; else test_skip "$c" "no $c"; fi
done
for c in g++ clang++; do
	if command -v $c >/dev/null; then test_cxx $c; else test_skip "$c" "no $c"; fi
done

# Whoever linked the C++ library in throws by its own functions, which we do not see: clang's
# programs, which call no hooks then, keep the calls of each function, not their paths.
linked_in='-static-libstdc++ -static-libgcc'
test_if "echo 'int main() {}' | g++ $linked_in -x c++ -" 'no libstdc++.a' \
	"g++, C++ with exceptions, $linked_in" "
	g++ $linked_in -o $BIN/countpp $BIN/countpp-g++.o -pthread $(test_link vftrace)
	exact $BIN/countpp"
test_if "echo 'int main() {}' | clang++ $linked_in -x c++ -" 'no clang++, or no libstdc++.a' \
	"clang++, C++ with exceptions, $linked_in" "
	clang++ $linked_in -o $BIN/countpp $BIN/countpp-clang++.o -pthread $(test_link vftrace)
	rm -f counts
	traced -q -- $BIN/countpp counts 3
	is \$(awk '{ n += \$1 } END { print n }' counts) \
		\$(json countpp_all.json '[.stacks[].calls] | add') calls"
test_if "echo 'int main() {}' | g++ -static-libstdc++ -x c++ -" 'no libstdc++.a' \
	'-static-libstdc++ with libvftrace-static.a' "
	g++ -static-libstdc++ -o $BIN/countpp $BIN/countpp-g++.o $LIB/libvftrace-static.a -pthread -ldl
	exact $BIN/countpp"

build_fortran='$T/lib/cached gcc -g -O1 -c -o counter-f.o $T/hook/app-counter-f.c'
for flags in '-O1' '-O2 -fno-pie -no-pie'; do
	test_if 'command -v gfortran' 'no gfortran' "Fortran, $flags, linked" "
		$build_fortran
		\$T/lib/cached gfortran -g $flags -finstrument-functions -c -o countf.o \$T/hook/app-count.f90
		gfortran $flags -o $BIN/countf countf.o counter-f.o $(test_link vftrace)
		exact $BIN/countf"
done
test_if 'echo "int main(void) { return 0; }" | gcc -fsanitize=address -x c - && ./a.out' 'no address sanitizer' \
	'gcc -fsanitize=address, whose runtime wants to be the first library, preloaded' "
	gcc $TEST_FLAGS -finstrument-functions -fsanitize=address -o $BIN/count-asan $T/hook/app-count.c
	exact $BIN/count-asan --preload"

test_if 'command -v gfortran' 'no gfortran' 'Fortran, preloaded' "
	$build_fortran
	\$T/lib/cached gfortran -g -O1 -finstrument-functions -c -o countf.o \$T/hook/app-count.f90
	gfortran -o $BIN/countf countf.o counter-f.o
	exact $BIN/countf --preload"

test_expect 'a program of no calls at all has an empty profile' "
	gcc -o $BIN/none -x c - <<-END
		int main(void) { return 0; }
	END
	traced -q --preload -- $BIN/none"

test_expect 'names of C++ are readable' "
	g++ -o $BIN/countpp $BIN/countpp-g++.o -pthread $(test_link vftrace)
	traced -q -- $BIN/countpp counts
	json countpp_all.json '.stacks[].path' >paths
	has paths 'deep::thrower'
	hasnt paths _Z"

test_expect 'without an agent, the process starts one and the profile is the same' "
	cc_traced $BIN/count \$T/hook/app-count.c
	rm -f count_*
	limit env VFTR_AGENT=$AGENT $BIN/count counts 3
	wait_for 20 '[ -s count_all.json ]'
	same_calls counts count_all.json"

for c in g++ clang++; do
	test_if "command -v $c" "no $c" "$c: a C program whose C++ plug-in throws works as without us" "
		$c -g -O1 -finstrument-functions -shared -fPIC -o $BIN/throw.so $T/hook/app-throw-plugin.cpp
		cc_plain $BIN/throw-host $T/hook/app-throw-host.c -ldl
		is 55 \$($BIN/throw-host $BIN/throw.so)
		is 55 \$(traced -q --preload -- $BIN/throw-host $BIN/throw.so)
		is 10 \$(calls_of throw-host_all.json 'after<main<init')
		is 10 \$(calls_of throw-host_all.json 'caught<main<init')"
done

test_expect "fully static program, with jumps linked to the other archive: a link error, no crash" '
	compiled gcc static.o "$T/hook/app-static.c" -g -O1
	gcc -static -o "$BIN/static" static.o "$LIB/libvftrace-static.a"
	exact "$BIN/static"
	gcc -static -o "$BIN/static" static.o "$LIB/libvftrace.a"
	exact "$BIN/static"
	compiled gcc jumps.o "$T/hook/app-count.c" -g -O1
	refuse gcc -static -o "$BIN/jumps" jumps.o "$LIB/libvftrace.a"'

done_testing
