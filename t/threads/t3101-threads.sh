#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='threads: calls of each, who created whom, names, many short ones'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$LIB/libvftrace.so" "$LIB/libvftrace.a"

cc_traced "$BIN/threads" "$T/threads/app-threads.c" || { echo 'Bail out! app-threads.c does not build'; exit 1; }
cc_plain "$BIN/threads-plain" "$T/threads/app-threads.c"
ALL=threads_all.json

# each_thread HOW N OPTIONS...: run it; every (thread, path) and creator must agree
each_thread() {
	how=$1 n=$2
	shift 2
	rm -f counts creators threads_*
	traced -q -k profile_table.threads=all "$@" -- "$BIN/threads" "$how" "$n"
	same_threads
}

same_threads() {
	is 0 "$(json $ALL .lost)" lost
	is '[]' "$(jq -c .warnings $ALL)" warnings
	sort counts >wanted
	# a thread whose last destructors come late has another ring for them
	jq -r '(.stacks | map({key: "\(.id)", value: .path}) | from_entries) as $path |
		.each_thread[] | .tid as $tid | .stacks[] |
		select(.calls > 0) | "\($tid) \(.calls) \($path["\(.id)"])"' $ALL |
		awk '{ n = $2; k = $1; $1 = $2 = ""; c[k, $0] += n }
			END { for (i in c) { split(i, p, SUBSEP); print p[1], c[i] p[2] } }' |
		sed 's/  */ /g' | sort >got
	[ -s wanted ]
	diff -U0 wanted got
	sort creators >wanted
	jq -r '(.each_thread | map({key: "\(.thread)", value: .tid}) | from_entries) as $tid |
		.each_thread[] | select(.thread > 0) | "\(.tid) \($tid["\(.parent)"])"' $ALL |
		sort -u >got
	diff -U0 wanted got
	sed 's/^[0-9]* //' counts >totals
	same_calls totals $ALL
}

for n in 1 2 7 64; do
	test_expect "$n threads: calls of each thread on each path" "
		each_thread flat $n
		is $((n + 1)) \"\$(json \$ALL .threads)\" threads"
done
for how in tree detached cancelled exits c11 destructors errors; do
	test_expect "$how" "
		each_thread $how 8 -k shm.ring_size=64KiB"
done
test_expect 'a tree of threads, three levels deep, as a table' '
	rm -f threads_*
	traced -q -k profile_table.threads=summary -k logfile_for_ranks=all -- "$BIN/threads" tree 2
	has threads_node_*.log "Created by"
	has threads_0.log "Created by"
	hasnt threads_0.log "Runtime profile of thread"
	is 40 "$(jq ".each_thread | length" $ALL)" threads
	is null "$(jq -c ".each_thread[1].stacks" $ALL)" stacks'
# ranges: of each stack, over how many threads, and the least and greatest time of one
ranges() {
	is '[]' "$(jq -c '[.each_thread[].stacks[] | {id, t: .t_excl_s}] |
		group_by(.id) | map({key: "\(.[0].id)", value: {n: length,
			min: (map(.t) | min), max: (map(.t) | max)}}) | from_entries as $each |
		input | [.stacks[] | . as $s | $each["\(.id)"] as $e |
			select(.threads != $e.n or
				(.t_excl_thread_min_s - $e.min | fabs) > 1e-6 or
				(.t_excl_thread_max_s - $e.max | fabs) > 1e-6 or
				.thread_min_rank != 0 or .thread_max_rank != 0)]' $ALL $ALL)" "stacks that differ"
}

test_expect 'least and greatest time over threads are those of the threads' '
	each_thread flat 7
	ranges
	each_thread tree 2
	ranges'
test_expect 'they are there in a summary, with the threads that have them' '
	rm -f threads_*
	traced -q -k profile_table.threads=summary -- "$BIN/threads" flat 7
	is "7 true true" "$(jq -r ".stacks[] | select(.path == \"work<thread_main<init\") |
		\"\(.threads) \(.t_excl_thread_min_s <= .t_excl_thread_max_s) \([.thread_min, .thread_max] |
			all(. > 0 and . < 8))\"" $ALL)"
	is "8 0" "$(jq -r ".stacks[] | select(.path == \"init\") | .threads" $ALL) $(jq 		"[.stacks[] | select(.t_excl_s - .threads * .t_excl_thread_max_s > 1e-6 or
			.threads * .t_excl_thread_min_s - .t_excl_s > 1e-6)] | length" $ALL)"
	traced -q -- "$BIN/threads" flat 7
	is null "$(jq ".stacks[0].threads" $ALL)"'
test_expect 'a profile per thread in the rank logs' '
	each_thread flat 3 -k logfile_for_ranks=all
	has threads_0.log "Runtime profile of thread 3 (threads)"'
test_expect 'without being asked for, threads are only summed up' '
	rm -f threads_*
	traced -q -- "$BIN/threads" flat 5
	is null "$(jq -c .each_thread $ALL)"
	sed "s/^[0-9]* //" counts >totals
	same_calls totals $ALL'
for c in gcc clang; do
	test_if "command -v $c" "no $c" "$c: preloaded, and with the static archive" "
		$c -g -O2 -finstrument-functions -o $BIN/threads \$T/threads/app-threads.c -pthread
		each_thread tree 3 --preload
		each_thread cancelled 8 --preload
		$c -g -O1 -finstrument-functions -o $BIN/threads \$T/threads/app-threads.c $LIB/libvftrace.a -pthread -ldl
		each_thread tree 3
		each_thread c11 8"
done
test_expect 'C++: std::thread, std::jthread, destructors of thread_local objects' '
	g++ -std=c++20 -g -O1 -finstrument-functions \
		-finstrument-functions-exclude-file-list=/usr/ -o "$BIN/threads" "$T/threads/app-threads.cpp" -pthread
	rm -f threads_*
	traced -q --preload -k profile_table.threads=all -- "$BIN/threads" std 12
	same_threads'

cc_traced "$BIN/threads" "$T/threads/app-threads.c"
test_expect 'names, given by the thread or its creator, before or after its first event' '
	rm -f threads_*
	traced -q -k profile_table.threads=all -- "$BIN/threads" names
	jq -r ".each_thread[].name" $ALL | sort >got
	printf "%s\n" "by creator" early late "the first" | sort >wanted
	diff -U0 wanted got'
test_expect 'kill -9 while eight threads run: nothing that was stored is lost' '
	rm -f threads_* shared
	status_of 137 traced -q -k profile_table.threads=all -- "$BIN/threads" killed 8
	od -An -v -t d8 -w16 shared >counted
	[ "$(wc -l <counted)" = 8 ]
	while read -r tid calls; do
		got=$(jq --argjson t "$tid" "(.stacks[] | select(.path == \"counted<init\") | .id) as \$id |
			.each_thread[] | select(.tid == \$t) | .stacks[] | select(.id == \$id) | .calls" $ALL)
		[ "$got" = "$calls" ] || [ "$got" = $((calls + 1)) ] || {
			echo "thread $tid: $calls counted, $got in the profile" >&2
			exit 1
		}
	done <counted'

test_expect 'cancelled at any instruction: each end is seen, and its ring used again' '
	rm -f threads_*
	traced -q -k shm.ring_size=64KiB -- "$BIN/threads" async 100
	is 0 "$(json $ALL .lost)" lost
	is "[]" "$(jq -c .warnings $ALL)" warnings
	awk "/Ring memory:/ { ok = \$4 == \"KiB\" || \$3 < 6 } END { exit !ok }" threads_node_*.log'

# ring_memory THREADS CALLS: "RINGS KIB" that are allocated while all threads live
ring_memory() {
	rm -f ring-memory_*
	traced -q -- "$BIN/ring-memory" "$1" "$2"
	is 0 "$(json ring-memory_all.json .lost)" lost
	is $(($1 * ($2 - 1))) "$(calls_of ring-memory_all.json "leaf<thread_main<init")" calls
}

cc_traced "$BIN/ring-memory" "$T/threads/app-ring-memory.c"
rings_seen=0
traced -q -- "$BIN/ring-memory" 1 1 >/dev/null 2>&1 || rings_seen=$?
rm -f ring-memory_*
test_if '[ "$rings_seen" != 77 ]' 'the kernel shows no map_files' \
	'256 threads of 100 calls take less than 80 MB of rings' '
	ring_memory 256 100 >taken
	read -r rings kib <taken
	is 257 "$rings" rings
	[ "$kib" -ge $((257 * 4)) ] && [ "$kib" -lt 80000 ] || { echo "$kib KiB" >&2; exit 1; }'
test_if '[ "$rings_seen" != 77 ]' 'the kernel shows no map_files' \
	'a ring takes as its thread writes, up to its size, and nothing is lost on the way' '
	ring_memory 1 40000 >taken
	read -r rings some <taken
	is 2 "$rings" rings
	[ "$some" -gt 512 ] && [ "$some" -lt 1024 ] || { echo "$some KiB" >&2; exit 1; }
	ring_memory 1 1000000 >taken
	read -r rings all <taken
	is 2 "$rings" rings
	[ "$all" -gt 4096 ] && [ "$all" -lt 4400 ] || { echo "$all KiB" >&2; exit 1; }'

many=20000
[ -n "$VFTR_LONG" ] && many=100000
test_expect "$many short threads: nothing lost, memory bounded, more than 4096 summed up" "
	rm -f threads_*
	grown=\$(traced -q -k profile_table.threads=all -- $BIN/threads churn $many)
	[ \"\$grown\" -lt 2048 ] || { echo \"grew by \$grown KiB\" >&2; exit 1; }
	is $((many + 1)) \"\$(json \$ALL .threads)\" threads
	is 0 \"\$(json \$ALL .lost)\" lost
	is $many \"\$(calls_of \$ALL 'work<init')\" calls
	is $many \"\$(calls_of \$ALL 'inner<work<init')\" calls
	is $((many * 2)) \"\$(calls_of \$ALL 'leaf<inner<work<init')\" calls
	is $((many - 4095)) \"\$(jq '.each_thread[-1].threads' \$ALL)\" 'other threads'
	is $((many * 4 + 2)) \"\$(jq '[.each_thread[].calls] | add' \$ALL)\" 'calls of all'"

done_testing
