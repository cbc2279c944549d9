#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='regions, pauses and stacks in the ways that have broken other tools'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$LIB/libvftrace.so"

cc_traced "$BIN/r" "$T/hook/app-regions.c" || { echo 'Bail out! app-regions.c cannot be compiled'; exit 1; }
ALL=r_all.json

profile() {
	printf '%s\n' "$@" >wanted.profile
	same_calls wanted.profile $ALL
}

# warned [SENTENCE...]: exactly these, and they stand in the log, too
warned() {
	: >wanted.warnings
	for w; do
		echo "$w" >>wanted.warnings
		has r_all.log "Warning: $w"
	done
	json $ALL '.warnings[]' | diff wanted.warnings -
}

test_expect 'two regions in turns in one function: one stack for each, every call counted' "
	traced -q -- $BIN/r turns
	profile '1 main<init' '1 turns<main<init' '10 in_region<turns<main<init' \
		'5 A<in_region<turns<main<init' '5 leaf<A<in_region<turns<main<init' \
		'5 B<in_region<turns<main<init' '5 leaf<B<in_region<turns<main<init'
	is 5 \$(grep -c 'in_region<turns<main<init' r_all.log) 'call stacks below in_region'
	warned"

test_expect 'a hundred ends too many: ignored, nothing is shifted, said once' "
	traced -q -- $BIN/r surplus
	profile '1 main<init' '1 surplus<main<init' '1 leaf<surplus<main<init'
	warned 'region \"nothing\": an end without a begin was ignored, 100 times'"

test_expect 'missing ends: closed with the function, and reported' "
	traced -q -- $BIN/r unended 3
	profile '1 main<init' '1 unended<main<init' '3 unended<unended<main<init' \
		'1 leaf<unended<unended<main<init'
	warned 'region \"unended\": the end was missing, it was closed with what is around it, 3 times'"

test_expect 'ends in the wrong order: the outer one closes the inner one' "
	traced -q -- $BIN/r crossed
	profile '1 main<init' '1 crossed<main<init' '1 outer<crossed<main<init' \
		'1 inner<outer<crossed<main<init' '1 leaf<crossed<main<init'
	warned 'region \"inner\": an end without a begin was ignored, once' \
		'region \"inner\": the end was missing, it was closed with what is around it, once'"

test_expect 'a region that a longjmp leaves is closed: right callers after it, no warning' "
	traced -q -- $BIN/r jump
	profile '1 main<init' '1 jump<main<init' '1 jumps<jump<main<init' \
		'1 left by a jump<jumps<jump<main<init' '1 leaf<jump<main<init'
	warned"

test_expect 'names: long ones are cut, not dropped; UTF-8, control characters, none at all' "
	traced -q -- $BIN/r names
	long=\$(printf '%1023s' | tr ' ' x)
	in='in_region<names<main<init'
	profile '1 main<init' '1 names<main<init' \"7 \$in\" \"1 leaf<\$in\" \"2 leaf<\$long<\$in\" \
		\"2 \$long<\$in\" \"1 größe<\$in\" \"1 leaf<größe<\$in\" \"1 changed later<\$in\" \
		\"1 leaf<changed later<\$in\" \"1 tab?and?line<\$in\" \"1 leaf<tab?and?line<\$in\" \
		\"1 (no name)<\$in\" \"1 leaf<(no name)<\$in\"
	grep -q \"\$long<\$in\" r_all.log"

many=6000
[ -z "$VFTR_LONG" ] || many=20000
test_expect "$many names, used twice each" "
	traced -q -- $BIN/r many $many
	is '$((2 * many)) $many $((2 * many))' \"\$(json $ALL '[.stacks[] | select(.path | startswith(\"region\"))] as \$regions |
		[(\$regions | map(.calls) | add - 2),
		(\$regions | map(select(.path | contains(\"in_region\")) | .function) | unique | length),
		([.stacks[] | select(.function == \"leaf\") | .calls] | add)] | join(\" \")')\"
	warned 'region \"region 5001\": the end was missing, it was closed with what is around it, once' \
		'region \"region 5002\": an end without a begin was ignored, once'"

test_expect 'more names than are kept: the rest is counted under one name, exactly' "
	mkdir -p small/lib
	sed 's/define NAMES_MAX .*/define NAMES_MAX 100u/' \$TOP/libhook/api/region.c >small/region.c
	grep -q 'NAMES_MAX 100u' small/region.c
	(cd \$TOP && gcc -std=gnu11 -D_GNU_SOURCE= -I. -I\$BUILD/gen -O2 -fPIC -fvisibility=hidden \
		-ftls-model=initial-exec -c -o \$VFTR_TEST_DIR/work/small/region.o \
		\$VFTR_TEST_DIR/work/small/region.c)
	cp $LIB/libvftrace.a small/lib/libvftrace.a
	ar r small/lib/libvftrace.a small/region.o
	gcc -g -O1 -finstrument-functions -I\$TOP/libhook -o r \$T/hook/app-regions.c \
		-Wl,--whole-archive small/lib/libvftrace.a -Wl,--no-whole-archive -pthread -ldl
	traced -q -- ./r many 1000
	is 1800 \$(calls_of $ALL '(other regions)<in_region<many<main<init')
	is 2 \$(calls_of $ALL 'region 99<in_region<many<main<init')
	is 2000 \$(json $ALL '[.stacks[] | select(.function == \"leaf\") | .calls] | add')"

test_expect 'paused in one function, resumed in another: who comes next has the right caller' "
	traced -q -- $BIN/r across
	jq '.stacks |= map(select(.function != \"vftrace_pause\"))' $ALL >unpaused.json
	printf '%s\n' '1 main<init' '1 across<main<init' '1 A<across<main<init' \
		'1 B<across<main<init' '1 leaf<B<across<main<init' >wanted
	same_calls wanted unpaused.json"

test_expect 'regions that end or begin while paused' "
	traced -q -- $BIN/r region-in-pause
	jq '.stacks |= map(select(.function != \"vftrace_pause\"))' $ALL >unpaused.json
	printf '%s\n' '1 main<init' '1 region_in_pause<main<init' '1 open<region_in_pause<main<init' \
		'2 leaf<region_in_pause<main<init' >wanted
	same_calls wanted unpaused.json
	warned"

test_expect 'get_stack before the first hook, after main, and deep down' "
	limit env EARLY=1 $AGENT -q -- $BIN/r nothing >out
	is 'init init' \"\$(echo \$(cat out))\"
	is 1 \$(calls_of $ALL 'late<init')
	traced -q -- $BIN/r deep 100000 >out
	is 'deep<main<init' \"\$(cat out)\"
	traced -q -- $BIN/r wide 50 >out
	grep -qE '^a{999}<wide<b{999}<wide<.*<init\$' out
	is 1 \$((\$(wc -c <out) < 16385)) 'not longer than promised'"

test_expect 'regions of four threads' "
	traced -q -- $BIN/r threads >out
	is 'init init init init' \"\$(echo \$(cat out))\"
	for i in 0 1 2 3; do
		is 1000 \$(calls_of $ALL \"shared<thread \$i<init\")
	done
	warned"

test_expect 'a program without instrumented functions: its regions are the profile' "
	gcc -O2 -I\$TOP/libhook -o r \$T/hook/app-regions.c -pthread \$(test_link vftrace)
	traced -q -- ./r turns
	profile '5 A<init' '5 B<init'
	strip r
	traced -q -- ./r turns
	profile '5 A<init' '5 B<init'"

for mpi in $(mpi_list_short); do
	test_expect "$mpi: before MPI_Init, after MPI_Finalize, and counted exactly in between" "
		cat >m.c <<-'END'
			#include <mpi.h>
			#include <stdio.h>
			#include <stdlib.h>
			#include \"vftrace.h\"
			static void all(const char *when)
			{
				char *stack = vftrace_get_stack();
				for (int i = 0; i < 10; i++) {
					vftrace_region_begin(when);
					vftrace_region_end(when);
					vftrace_region_begin(i % 2 ? \"A\" : \"B\");
					vftrace_region_end(i % 2 ? \"A\" : \"B\");
				}
				printf(\"%s\n\", stack);
				free(stack);
			}
			int main(int argc, char **argv)
			{
				all(\"before\");
				MPI_Init(&argc, &argv);
				all(\"between\");
				vftrace_pause();
				MPI_Barrier(MPI_COMM_WORLD);
				vftrace_resume();
				MPI_Finalize();
				all(\"after\");
				return 0;
			}
		END
		mpicc_traced $mpi m m.c
		traced -q -- $(mpirun_of $mpi) -np 2 ./m >out
		is 6 \$(grep -o 'all<main<init' out | wc -l) # MPICH mixes the lines of ranks
		for r in before between after; do
			is 20 \$(calls_of m_all.json \"\$r<all<main<init\")
		done
		for r in A B; do
			is 30 \$(calls_of m_all.json \"\$r<all<main<init\")
		done
		is 0 \$(calls_of m_all.json 'MPI_Barrier<main<init') 'while paused'"
done

test_expect 'handlers leave regions by jumps: those that come later are recorded' '
	$TEST_CC $TEST_FLAGS -I"$TOP/libhook" -o "$BIN/region-jumps" "$T/hook/app-region-jumps.c" $(test_link vftrace)
	traced -q -- "$BIN/region-jumps"
	is 1000 "$(jq "[.stacks[] | select(.path | startswith(\"after<\")) | .calls] | add" region-jumps_all.json)"'

done_testing
