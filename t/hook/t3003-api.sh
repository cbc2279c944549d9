#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='vftrace.h: regions, pause and resume, get_stack'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$LIB/libvftrace.so"

cc_traced "$BIN/api" "$T/hook/app-api.c" || skip_all 'app-api.c cannot be compiled'
ALL=api_all.json

profile() {
	printf '%s\n' "$@" >wanted.profile
	same_calls wanted.profile $ALL
}

regions_profile() {
	profile '1 main<init' '1 use_regions<main<init' '10 red<use_regions<main<init' \
		'10 leaf<red<use_regions<main<init' '10 blue<red<use_regions<main<init' \
		'10 work<blue<red<use_regions<main<init' \
		'20 leaf<work<blue<red<use_regions<main<init' \
		'10 blue<use_regions<main<init' '1 missing_end<use_regions<main<init' \
		'1 left open<missing_end<use_regions<main<init' \
		'1 leaf<left open<missing_end<use_regions<main<init' \
		'1 leaf<use_regions<main<init' '1 left open<use_regions<main<init'
}

# while paused nothing is counted but the pauses themselves
pause_profile() {
	jq '.stacks |= map(select(.function != "vftrace_pause"))' $ALL >unpaused.json
	printf '%s\n' '1 main<init' '1 use_pause<main<init' '4 work<use_pause<main<init' \
		'10 leaf<work<use_pause<main<init' '1 pauses<use_pause<main<init' \
		'1 leaf<pauses<use_pause<main<init' >wanted.profile
	same_calls wanted.profile unpaused.json
}

test_expect 'regions are told apart by name and caller; surplus and missing ends do no harm' "
	traced -q -- $BIN/api regions
	regions_profile"

test_expect 'pause and resume nest, and functions entered before return properly' "
	traced -q -- $BIN/api pause
	pause_profile"

test_expect 'paused time is shown below the caller' "
	json $ALL '.stacks[].path' >paths
	has paths 'vftrace_pause<use_pause<main<init'
	has paths 'vftrace_pause<pauses<use_pause<main<init'"

test_expect 'get_stack gives the call path, with regions, and its length' "
	traced -q -- $BIN/api stack >out
	printf '%s\n' 'use_stack<main<init' 'shows<use_stack<main<init' \
		'shows<a region<use_stack<main<init' 'shows<use_stack<main<init' | diff - out"

test_expect 'get_stack is \"init\", and nothing fails, when tracing is off' "
	limit env VFTR_OFF=1 $BIN/api stack >out
	is 'init init init init ' \"\$(tr '\n' ' ' <out)\"
	limit env VFTR_OFF=yes $BIN/api regions
	limit env VFTR_OFF=TRUE $BIN/api pause
	limit env VFTR_AGENT=off $BIN/api regions 2>err
	is 0 \$(wc -l <err) 'lines on stderr'"

test_expect 'a program that is not linked with the library runs, and works preloaded' "
	cc_plain $BIN/api \$T/hook/app-api.c
	limit $BIN/api stack >out
	is 4 \$(grep -c 'not linked' out)
	traced -q --preload -- $BIN/api regions
	regions_profile
	traced -q --preload -- $BIN/api stack >out
	has out 'shows<a region<use_stack<main<init'"

test_expect 'the static archive offers the same' "
	gcc -g -O1 -finstrument-functions -I\$TOP/libhook -o $BIN/api \$T/hook/app-api.c \
		-Wl,--whole-archive $LIB/libvftrace.a -Wl,--no-whole-archive -pthread -ldl
	traced -q -- $BIN/api regions
	regions_profile
	traced -q -- $BIN/api pause
	pause_profile"

test_expect '3000 region names, 100 uses each, from two threads' "
	cat >many.c <<-'END'
		#include <pthread.h>
		#include <stdio.h>
		#include \"vftrace.h\"
		static void *use(void *unused)
		{
			char name[32];
			for (int i = 0; i < 300000; i++) {
				snprintf(name, sizeof(name), \"region %d\", i % 3000);
				vftrace_region_begin(name);
				vftrace_region_end(name);
			}
			return unused;
		}
		int main(void)
		{
			pthread_t t;
			pthread_create(&t, NULL, use, NULL);
			use(NULL);
			return pthread_join(t, NULL);
		}
	END
	gcc -O1 -I\$TOP/libhook -o $BIN/many many.c -pthread \$(test_link vftrace)
	traced -q -- $BIN/many
	is 3000 \$(json many_all.json '[.stacks[] | select(.calls == 200)] | length') regions
	is 600000 \$(json many_all.json '[.stacks[].calls] | add') calls"

test_if 'command -v g++' 'no g++' 'the header is C++ too' "
	printf '#include \"vftrace.h\"\nint main() { vftrace_region_begin(\"a\"); }\n' >x.cpp
	g++ -Wall -Wextra -Werror -I\$TOP/libhook -o $BIN/x x.cpp \$(test_link vftrace)
	traced -q -- $BIN/x
	is 1 \$(calls_of x_all.json 'a<init')"

done_testing
