#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='memory: bytes, live bytes, peaks and leaks of programs of which they are known'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$LIB/libvftrace.so" "$LIB/libvftrace-memory.so"

# memory NAME: with and without hooks
"$T/lib/cached" $TEST_CC -O1 -g -Wall -fno-builtin -finstrument-functions -o "$BIN/memory" "$T/memory/app-memory.c" -pthread &&
	"$T/lib/cached" $TEST_CC -O1 -g -Wall -fno-builtin -o "$BIN/plain" "$T/memory/app-memory.c" -pthread ||
	{ echo 'Bail out! app-memory.c does not build'; exit 1; }

MIB=1048576

# memory_of PROGRAM MODE [OPTION...]: runs it
memory_of() {
	program=$1 mode=$2
	shift 2
	rm -f ${program}_*
	traced -q --preload -k memory.active=true "$@" -- "$BIN/$program" "$mode"
}

# at FILE FUNCTION KEY=VALUE...: what the row of this function has
at() {
	at_file=$1 at_function=$2
	shift 2
	at_wanted=
	for pair; do
		at_wanted="$at_wanted $pair"
	done
	is "1$at_wanted" "$(jq -r --arg f "$at_function" --arg wanted "$at_wanted" '[.memory[] | select(.function == $f)] as $rows |
		([$wanted | splits(" +") | select(. != "") | split("=")[0] | . as $key | "\($key)=\($rows[0][$key])"]) as $got |
		"\($rows | length) \($got | join(" "))"' "$at_file")" "rows of $at_function, and what it has"
}

test_expect 'large blocks: allocations, bytes, leaks, and who had what at the peak' '
	memory_of memory large
	at memory_all.json one_by_one allocations=10 bytes=$((10 * MIB)) live_bytes=0 peak_bytes=0 \
		live_error=0 bytes_error=0 frees=10 mean_bytes=1048576 largest=$MIB
	at memory_all.json leaves_two allocations=5 bytes=$((10 * MIB)) live_bytes=$((4 * MIB)) \
		live_blocks=2 peak_bytes=$((4 * MIB)) frees=3 live_error=0
	at memory_all.json peak allocations=2 bytes=$((30 * MIB)) live_bytes=0 \
		peak_bytes=$((30 * MIB)) largest=$((20 * MIB))
	is "$((34 * MIB)) $((4 * MIB)) 2 0" "$(jq -r ".memory_ranks[0] |
		\"\(.peak_bytes) \(.live_bytes) \(.live_blocks) \(.not_followed)\"" memory_all.json)"
	has memory_all.log "Memory of ranks"
	is "[]" "$(jq -c .warnings memory_all.json)"
'

test_expect 'each function that allocates is seen once' '
	memory_of memory each
	at memory_all.json each_function allocations=11 bytes=$((11 * MIB)) live_bytes=0 frees=11 \
		peak_bytes=$((2 * MIB))
'

test_expect 'a block that grows is another one each time, and one that could not grow stays' '
	memory_of memory chain
	at memory_all.json chain allocations=17 bytes=$((136 * MIB + 102400)) live_bytes=102400 \
		live_blocks=1 frees=16 peak_bytes=$((16 * MIB))
'

test_expect 'small blocks, each recorded: nothing is estimated' '
	memory_of memory small -k memory.large=0
	at memory_all.json small_ones allocations=200000 records=200000 bytes=119919900 \
		bytes_error=0 live_bytes=0 frees=200000 largest=1100
'

# By chance 15 or fewer of 20, or 5 or fewer of 10, are right within their interval once in 3000, or 16000,
# times, if 95 of 100 are; the mean of all is further away than 4 of its standard deviations once in 16000 times.
runs=10 right=5
[ -z "$VFTR_LONG" ] || runs=20 right=15
test_expect "samples of small blocks: what $runs runs say is right within what they say" '
	for i in $(seq $runs); do
		memory_of memory small
		jq -c ".memory[] | select(.function == \"small_ones\") |
			{is: .bytes, error: .bytes_error, right: 119919900}" memory_all.json >>bytes
		memory_of memory leaks
		jq -c ".memory[] | select(.function == \"small_leaks\") |
			{is: .live_bytes, error: .live_error, right: 30000000}" memory_all.json >>live
	done
	for what in bytes live; do
		jq -es "length == $runs and (map(select((.is - .right | fabs) <= .error)) | length) > $right and
			(map(.is - .right) | add | fabs) <
			4 * (map(.error / 1.96 | . * .) | add | sqrt)" $what || { cat $what >&2; false; }
	done
'

test_expect 'calls and bytes of a rank are counted one by one' '
	memory_of memory small
	jq -e ".memory_ranks[0] | .allocations >= 200000 and .allocations <= 200010 and
		.frees >= 200000 and .bytes >= 119919900 and .bytes < 119930000" memory_all.json
'

test_expect 'blocks that another thread frees' '
	memory_of memory threads
	at memory_all.json thread_allocates allocations=100 freed_by_other_thread=99 frees=99 \
		live_bytes=$MIB peak_bytes=$((100 * MIB))
'

test_expect 'what destructors free at the end of a thread, which gets no other ring for that' '
	memory_of memory destructors
	at memory_all.json has_data allocations=200 frees=200 live_bytes=0
	is 21 "$(jq .threads memory_all.json)"
	jq -e ".memory_ranks[0].frees >= 200" memory_all.json
'

test_expect 'a child of fork has its own memory, and no block of its parent' '
	memory_of memory forks
	at memory_all.json forks allocations=1 live_bytes=0 frees=1
	at memory_all.json child_allocates allocations=1 live_bytes=$((3 * MIB)) frees=0
	is 2 "$(jq ".memory_ranks | length" memory_all.json)"
'

test_expect 'children of fork of which several threads begin to allocate at once' '
	memory_of memory children
	at memory_all.json thread_of_child allocations=32000 live_bytes=0 frees=32000
	is "20 163840000" "$(jq -r "[.memory_ranks[] | select(.allocations < 2000) | .peak_bytes] |
		\"\(length) \(unique | join(\" \"))\"" memory_all.json)"
'

test_expect 'small blocks that cannot be had, and blocks of no bytes' '
	memory_of memory failing
	jq -e ".memory_ranks[0] | .peak_bytes >= $MIB and .peak_bytes <= 200 * $MIB" memory_all.json
	jq -e ".memory[] | select(.function == \"failing\") | .bytes >= $MIB and .live_bytes == 0" memory_all.json
'

test_expect 'what a program had when it was killed' '
	memory_of memory killed && exit 1
	at memory_all.json leaves_two allocations=5 live_bytes=$((4 * MIB)) peak_bytes=$((10 * MIB))
'

test_expect '8 threads allocate and free each other'"'"'s blocks at random: nothing stays' '
	[ -n "$VFTR_LONG" ] || export STORMS=60000
	memory_of memory storms
	is "0 0" "$(jq -r ".memory_ranks[0] | \"\(.live_bytes) \(.not_followed)\"" memory_all.json)"
	is "" "$(jq -r ".memory[] | select(.live_blocks != 0) | .path" memory_all.json)"
'

test_expect 'more live blocks than the first table has room for' '
	memory_of memory many
	at memory_all.json many_blocks allocations=20000 bytes=1310720000 peak_bytes=1310720000 \
		live_bytes=0 frees=20000
'

test_expect 'memory that the kernel gave: part of it goes, grows, and stays; what is none' '
	memory_of memory maps
	at memory_all.json maps allocations=4 bytes=$((9 * MIB)) mapped_bytes=$((9 * MIB)) frees=3 \
		live_bytes=$((2 * MIB)) live_blocks=1 peak_bytes=$((4 * MIB))
	memory_of memory maps -k files.active=true
	is $((9 * MIB)) "$(jq "[.memory[] | .mapped_bytes] | add" memory_all.json)"
'

test_expect 'with files.active, too, what vftr maps for itself is none of the program' '
	memory_of memory threads -k files.active=true
	is 0 "$(jq "[.memory[] | .mapped_bytes] | add" memory_all.json)"
'

test_expect 'the kernel takes whole pages, whatever length it is told' '
	memory_of memory odd_maps
	page=$(getconf PAGESIZE)
	at memory_all.json odd_maps allocations=3 bytes=$((MIB + page + 200)) frees=2 live_bytes=100 live_blocks=1
'

test_expect 'signal handlers that allocate' '
	memory_of memory handler
	at memory_all.json on_alarm allocations=100 bytes=10240000 frees=100 live_bytes=0
'

test_expect 'a program without hooks: all of it is at init' '
	memory_of plain large
	is "init 17 $((4 * MIB)) $((34 * MIB))" "$(jq -r ".memory[] |
		\"\(.path) \(.allocations) \(.live_bytes) \(.peak_bytes)\"" plain_all.json)"
'

test_expect 'without the key nothing is preloaded, and there are no tables' '
	traced -q --preload -- "$BIN/memory" large
	is null "$(jq -c .memory memory_all.json)"
	hasnt memory_all.log "Memory of ranks"
	traced -q --preload -- sh -c "case \$LD_PRELOAD in *libvftrace-memory*) exit 1 ;; esac"
'

test_expect 'the library without the key, without libvftrace, and without an agent' '
	export STORMS=20000
	traced -q --preload -- env LD_PRELOAD="$LIB/libvftrace.so $LIB/libvftrace-memory.so" "$BIN/memory" storms
	is null "$(jq -c .memory memory_all.json)"
	LD_PRELOAD=$LIB/libvftrace-memory.so "$BIN/plain" storms
	VFTR_OFF=yes LD_PRELOAD="$LIB/libvftrace.so $LIB/libvftrace-memory.so" "$BIN/plain" storms
'

done_testing
