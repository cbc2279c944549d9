#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='what programs tell the tools of Kokkos becomes regions'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$LIB/libvftrace-annotations.so"

$TEST_CC -O1 -g -o k "$T/annotation/app-kokkos.c" -ldl -pthread || exit 99

test_expect 'kernels, regions, sections, copies, allocations: exact calls, on each thread' '
	status_of 3 traced --preload -q -- ./k KOKKOS_TOOLS_LIBS calls >out
	is 0 "$(sed -n 1p out)" "global fences"
	sed 1d out >wanted
	same_calls wanted k_all.json
	is 0 "$(jq ".warnings | length" k_all.json)"'

test_expect 'a program that is linked with vftr needs no preload' '
	cc_traced linked "$T/annotation/app-kokkos.c" -ldl -pthread
	status_of 3 traced -q -- ./linked KOKKOS_TOOLS_LIBS calls >out
	is 5 "$(calls_of linked_all.json "Kokkos::parallel_reduce dot<Kokkos::parallel_for axpy<kernels<step<calls<main<init")"'

test_expect 'nor one that is linked with the archive, and exports its names' '
	$TEST_CC $TEST_FLAGS -rdynamic -o archive "$T/annotation/app-kokkos.c" "$LIB/libvftrace.a" -ldl -pthread
	status_of 3 traced -q -- ./archive KOKKOS_TOOLS_LIBS calls >out
	is 0 "$(sed -n 1p out)" "global fences"
	sed 1d out >wanted
	same_calls wanted archive_all.json'

test_expect 'a program that misuses them goes on, with its own result, and is told once' '
	status_of 3 traced --preload -q -- ./k KOKKOS_TOOLS_LIBS hostile >out 2>err
	is 7 "$(cat out)"
	[ ! -s err ]
	is 200 "$(calls_of k_all.json "interrupted<init")"
	is 200 "$(calls_of k_all.json "handler<interrupted<init")"
	is 200 "$(calls_of k_all.json "Kokkos::parallel_for in handler<handler<interrupted<init")"
	is 1 "$(calls_of k_all.json "child<init")"
	is 1 "$(calls_of k_all.json "crossed<init")"
	is 1 "$(json k_all.json .warnings[] | grep -c "\"Kokkos::Profiling::popRegion\": an end without a begin")"'

test_expect 'without a tracer, or untraced, the library does nothing' '
	status_of 3 env KOKKOS_TOOLS_LIBS="$LIB/libvftrace-annotations.so" ./k KOKKOS_TOOLS_LIBS hostile >out
	is 7 "$(cat out)"
	VFTR_OFF=1 status_of 3 traced --preload -q -- ./k KOKKOS_TOOLS_LIBS hostile >out
	is 7 "$(cat out)"'

test_expect 'which is not wanted, or another tool has been chosen: nothing is set' '
	status_of 3 traced --preload -q -k annotations=petsc -- ./k KOKKOS_TOOLS_LIBS calls >out
	is "no tool" "$(cat out)"
	traced -q -- env >out
	is 1 "$(grep -c "^KOKKOS_TOOLS_LIBS=.*libvftrace-annotations" out)"
	hasnt out KOKKOS_PROFILE_LIBRARY
	KOKKOS_PROFILE_LIBRARY=/else traced -q -- env >out
	hasnt out KOKKOS_TOOLS_LIBS
	traced -q -- env KOKKOS=1 printenv --kokkos-tools-libs=x >out 2>&1 || :
	traced -q -- sh -c "env" --kokkos-tools-libs=/else >out
	hasnt out KOKKOS_TOOLS_LIBS'

test_expect 'an installation that lacks the library names none' '
	mkdir -p lacks
	cp -r "$BUILD/bin" "$BUILD/lib" lacks
	rm lacks/lib/libvftrace-annotations.so
	limit lacks/bin/vftr-node-agent -q --preload -k annotations=kokkos,itt,petsc -- env >out
	hasnt out libvftrace-annotations
	has out LD_PRELOAD=
	status_of 3 limit lacks/bin/vftr-node-agent -q --preload -- ./k KOKKOS_TOOLS_LIBS calls >out
	is "no tool" "$(cat out)"'

test_expect 'a Kokkos before 3.7 knows another variable' '
	$TEST_CC -DOLD -O1 -o old -xc - <<-END
	#include <stdio.h>
	#include <stdlib.h>
	int main(void) { printf("%s\n", getenv("KOKKOS_PROFILE_LIBRARY") ? "told" : "not told"); return 0; }
	END
	traced -q -- ./old >out
	is told "$(cat out)"'

test_expect 'off by its key in the process: it is loaded and not heard' '
	KOKKOS_TOOLS_LIBS=$LIB/libvftrace-annotations.so \
		status_of 3 traced --preload -q -k annotations=none -- ./k KOKKOS_TOOLS_LIBS calls >out
	is 0 "$(jq "[.stacks[] | select(.path | test(\"Kokkos\"))] | length" k_all.json)"'

test_expect 'the table, the key and the manual page have the same words' '
	sed -n "s/^X(\([a-z]*\), *ANNOTATION_.*/\1/p" "$TOP/shm/annotation.h" >table
	[ "$(wc -l <table)" -ge 12 ]
	"$VFTR" config explain annotations | sed -n "s/.*accepted:.* of //p" | tr -d " " | tr , "\n" | diff table -
	sed -n "s/^\.It Cm \([a-z]*\) Ta .*/\1/p" "$TOP/man/vftr-annotations.7" | diff table -'

include=/usr/include/trilinos
test_if '[ -e $include/Kokkos_Core.hpp ] && command -v ${CXX:-c++}' 'no Kokkos of Trilinos' \
	'a program with Kokkos itself: its kernels, as often as it calls them' '
	${CXX:-c++} -O1 -fopenmp -I$include -o real "$T/annotation/app-kokkos-real.cpp" -ltrilinos_kokkoscore
	OMP_NUM_THREADS=2 ./real >untraced
	OMP_NUM_THREADS=2 traced --preload -q -- ./real >out
	cmp untraced out
	is 7 "$(calls_of real_all.json "step<init")"
	is 7 "$(calls_of real_all.json "Kokkos::parallel_for axpy<step<init")"
	is 7 "$(calls_of real_all.json "Kokkos::parallel_reduce dot<step<init")"
	is 7 "$(calls_of real_all.json "Kokkos::allocate field<step<init")"
	is 0 "$(jq ".warnings | length" real_all.json)"
	OMP_NUM_THREADS=2 traced --preload -q -k memory.active=true -k memory.large=0 -- ./real >out
	cmp untraced out
	jq -c ".memory[]" real_all.json
	is 7 "$(jq "[.memory[] | select(.path == \"Kokkos::allocate field<step<init\") |
		select(.live_bytes == 0 and .bytes >= 7 * 8000).allocations] | add" real_all.json)"'

done_testing
