#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='calls of LIKWID, PAPI, ROCTX, PerfStubs, Caliper, Score-P, TAU, Extrae are regions'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$LIB/libvftrace-annotations.so"

$TEST_CC -O1 -shared -fPIC -o libtools.so "$T/annotation/standin-tools.c" || exit 99
# one with the tools, and one that has never heard of them
$TEST_CC -O1 -g -I"$TOP" -o with "$T/annotation/app-marks.c" -pthread -Wl,--no-as-needed ./libtools.so -Wl,-rpath,"$PWD" || exit 99
$TEST_CC -O1 -g -I"$TOP" -o without "$T/annotation/app-marks.c" -pthread || exit 99

for tool in likwid PAPI roctx ps_tool cali SCOREP Tau Extrae; do
	test_expect "$tool: regions with exact calls, and the tool is called as often as without us" '
		status_of 3 ./with '$tool' >untraced
		status_of 3 traced --preload -q -- ./with '$tool' >out
		cmp untraced out
		sed "\$d" out >wanted
		same_calls wanted with_all.json
		is 0 "$(jq ".warnings | length" with_all.json)"'
	test_expect "$tool: the same in a program without the tool" '
		status_of 3 traced --preload -q -- ./without '$tool' >wanted
		[ -s wanted ]
		same_calls wanted without_all.json
		is 0 "$(jq ".warnings | length" without_all.json)"'
done

test_expect 'PerfStubs: long names, and thousands of timers, are told apart' '
	status_of 3 traced --preload -q -- ./without timers >wanted
	same_calls wanted without_all.json
	is 0 "$(jq ".warnings | length" without_all.json)"
	# where names are kept is no memory of the program
	status_of 3 traced --preload -q -k memory.active=true -k memory.large=0 -- ./without timers >wanted
	jq -e "[.memory[] | .mapped_bytes] | add < 16777216" without_all.json'

test_expect 'misused: no crash, the same result, one warning for each name' '
	status_of 3 ./with misuse >untraced
	for program in with without; do
		status_of 3 traced --preload -q -- ./$program misuse >out 2>err
		is 7 "$(sed -n 1p out)"
		[ ! -s err ]
		is 1 "$(json ${program}_all.json .warnings[] | grep -c "\"roctxRangePop\": an end without a begin was ignored, 99 times")"
		is 1 "$(json ${program}_all.json .warnings[] | grep -c "\"SCOREP_User_RegionEnd\"")"
	done
	status_of 3 traced --preload -q -- ./with misuse >out
	cmp untraced out'

test_expect 'threads that come and go: exact calls, and their memory goes, too' '
	status_of 3 traced --preload -q -- ./without threads >wanted
	hasnt wanted memory
	same_calls wanted without_all.json
	is 0 "$(jq ".warnings | length" without_all.json)"'

# what a handler calls while a block is passed on is counted as lost, and not recorded
test_expect 'a handler that marks: what it interrupts has exact calls, and no frame stays open' '
	status_of 3 traced --preload -q -- ./without signals >wanted
	for name in outer inner; do
		is "$(sed -n "s/ $name\$//p" wanted)" "$(jq "[.stacks[] | select(.path |
			split(\"<\") | map(select(. != \"handler\" and . != \"mark\")) | .[0] == \"$name\") |
			select(.path | test(\"^(handler|mark)\") | not) | .calls] | add" without_all.json)"
	done
	is 0 "$(jq "[.stacks[] | select(.path | test(\"outer.*outer|inner.*inner\"))] | length" without_all.json)"'

test_expect 'no annotation is wanted: they are not there, as untraced' '
	status_of 3 traced --preload -q -k annotations=none -- ./without roctx >out
	is "no tool" "$(cat out)"
	status_of 3 traced --preload -q -k annotations=kokkos,itt,pcontrol -- ./without roctx >out
	is "no tool" "$(cat out)"'

test_expect 'one that is not wanted is called on, and not recorded' '
	status_of 3 ./with roctx >untraced
	status_of 3 traced --preload -q -k annotations=likwid -- ./with roctx >out
	cmp untraced out
	is 0 "$(calls_of with_all.json "outer<init")"'

test_expect 'untraced, with the library: the tools are called on' '
	status_of 3 env LD_PRELOAD="$LIB/libvftrace-annotations.so" ./with cali >out
	status_of 3 ./with cali >untraced
	cmp untraced out'

test_expect 'a plug-in that brings its own tool along: it is called on' '
	$TEST_CC -O1 -shared -fPIC -Dmain=plugin_main -I"$TOP" -o plugin.so "$T/annotation/app-marks.c" -Wl,--no-as-needed ./libtools.so -Wl,-rpath,"$PWD"
	$TEST_CC -O1 -o host -xc - -ldl <<-END
	#include <dlfcn.h>
	int main(int argc, char **argv)
	{
		void *p = dlopen("./plugin.so", RTLD_NOW | RTLD_LOCAL);
		int (*f)(int, char **) = (int (*)(int, char **))dlsym(p, "plugin_main");
		return f(argc, argv);
	}
	END
	status_of 3 ./host SCOREP >untraced
	status_of 3 traced --preload -q -- ./host SCOREP >out
	cmp untraced out
	is 35 "$(sed -n "\$p" out)"
	is 5 "$(calls_of host_all.json "by name<entered<begun<init")"'

test_expect 'plug-ins that come and go with their own tools: one is called, never what is gone' '
	printf "%s\n" "#include <stdio.h>" "void roctxMarkA(const char *m); void roctxMarkA(const char *m) { puts(m); fflush(stdout); }" >tool.c
	printf "%s\n" "void roctxMarkA(const char *); void mark(const char *m); void mark(const char *m) { roctxMarkA(m); }" >mark.c
	for i in 1 2; do
		$TEST_CC -O1 -shared -fPIC -o libtool$i.so tool.c
		$TEST_CC -O1 -shared -fPIC -o mark$i.so mark.c -Wl,--no-as-needed ./libtool$i.so -Wl,-rpath,"$PWD"
	done
	$TEST_CC -O1 -o comes -xc - -ldl <<-END
	#include <dlfcn.h>
	#include <sys/mman.h>
	static int once(const char *file)
	{
		void *p = dlopen(file, RTLD_NOW | RTLD_LOCAL);
		void (*f)(const char *) = (void (*)(const char *))dlsym(p, "mark");
		f(file);
		return dlclose(p);
	}
	int main(void)
	{
		int failed = once("./mark1.so");
		for (int i = 0; i < 3000; i++) /* the next ones are elsewhere */
			mmap(0, (1 + i % 6) * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		return once("./mark2.so") || failed;
	}
	END
	./comes >untraced
	traced --preload -q -- ./comes >out
	cmp untraced out
	is 1 "$(calls_of comes_all.json "./mark2.so<init")"'

test_expect 'linked with vftr and with its annotations, a program needs no preload' '
	$TEST_CC $TEST_FLAGS -I"$TOP" -o linked "$T/annotation/app-marks.c" -L"$LIB" -Wl,-rpath,"$LIB" \
		-Wl,--no-as-needed -lvftrace -lvftrace-annotations
	status_of 3 traced -q -- ./linked roctx >wanted
	[ -s wanted ]
	same_calls wanted linked_all.json'

test_if '[ -e /usr/include/papi.h ]' 'no PAPI with headers' 'a program with PAPI itself' '
	$TEST_CC -O1 -o papi -xc - -lpapi <<-END
	#include <papi.h>
	#include <stdio.h>
	int main(void)
	{
		int first = 0;
		for (int i = 0; i < 4; i++) {
			int result = PAPI_hl_region_begin("work");
			if (!i)
				first = result;
			PAPI_hl_region_end("work");
		}
		printf("%d\n", first);
		return 0;
	}
	END
	PAPI_OUTPUT_DIRECTORY=$PWD/papi.out ./papi >untraced 2>untraced.err || :
	PAPI_OUTPUT_DIRECTORY=$PWD/papi.out traced --preload -q -- ./papi >out
	cmp untraced out
	is 4 "$(calls_of papi_all.json "work<init")"'

test_if '[ -e /usr/include/likwid-marker.h ]' 'no LIKWID with headers' 'a program with LIKWID itself' '
	$TEST_CC -O1 -DLIKWID_PERFMON -o likwid -xc - -llikwid <<-END
	#include <likwid-marker.h>
	int main(void)
	{
		LIKWID_MARKER_INIT;
		for (int i = 0; i < 4; i++) {
			LIKWID_MARKER_START("work");
			LIKWID_MARKER_STOP("work");
		}
		LIKWID_MARKER_CLOSE;
		return 0;
	}
	END
	status_of 0 traced --preload -q -- ./likwid >out
	is 4 "$(calls_of likwid_all.json "work<init")"'

test_if '[ -e /usr/include/papi.h ] && [ -e /usr/include/likwid-marker.h ] && command -v gfortran' \
	'no PAPI, LIKWID or gfortran' 'their functions for Fortran, which call those for C' '
	cat >f.f90 <<-END
	program f
	  integer :: check, i
	  do i = 1, 4
	    call PAPIf_hl_region_begin("in Fortran", check)
	    call likwid_markerStartRegion("inside")
	    call likwid_markerStopRegion("inside")
	    call PAPIf_hl_region_end("in Fortran", check)
	  end do
	end program
	END
	gfortran -O1 -o f f.f90 -lpapi -llikwid
	PAPI_OUTPUT_DIRECTORY=$PWD/papi.out traced --preload -q -- ./f
	is 4 "$(calls_of f_all.json "in Fortran<init")"
	is 4 "$(calls_of f_all.json "inside<in Fortran<init")"'

done_testing
