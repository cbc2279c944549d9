#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# With Kokkos itself: t/annotation/t6101-kokkos.sh.
test_description='memory of Kokkos: blocks belong to the labels that it tells, and count once'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$LIB/libvftrace-annotations.so" "$LIB/libvftrace-memory.so"

$TEST_CC -O1 -g -fno-builtin -o k "$T/annotation/app-kokkos.c" -ldl -pthread ||
	{ echo 'Bail out! app-kokkos.c does not build'; exit 1; }
MIB=1048576

# row PATH: allocations, bytes, frees, live bytes, peak
row() {
	jq -r --arg p "$1" '.memory[] | select(.path == $p) |
		"\(.allocations) \(.bytes) \(.frees) \(.live_bytes) \(.peak_bytes)"' k_all.json
}

for large in 64KiB 0; do
	test_expect "large blocks, with memory.large of $large" '
		rm -f k_all.json
		status_of 3 traced --preload -q -k memory.active=true -k memory.large=$large -- ./k KOKKOS_TOOLS_LIBS memory
		jq -c ".memory[]" k_all.json
		is "3 $((6 * MIB)) 2 $((2 * MIB)) $((2 * MIB))" "$(row "Kokkos::allocate plain<step<init")"
		is "1 $((2 * MIB)) 1 0 $((2 * MIB))" "$(row "Kokkos::allocate headed<step<init")"
		# nothing of them is left where they were allocated
		is "1 $((4 * MIB)) 0 $((4 * MIB)) $((4 * MIB))" "$(jq -r ".memory[] | select(.path == \"step<init\") |
			[.allocations, .bytes, .frees, .live_bytes, .peak_bytes] | map(tostring) | join(\" \")" k_all.json)"
		# and nothing of what no malloc() has allocated is anywhere
		is "" "$(jq -r ".memory[].path | select(test(\"away|null\"))" k_all.json)"
		jq -e "(.memory | map(.peak_bytes) | add) == .memory_ranks[0].peak_bytes" k_all.json
		is 0 "$(jq ".warnings | length" k_all.json)"
	'
done

test_expect 'a small block is labelled where it is recorded' '
	is "1 30000 1 0 0" "$(row "Kokkos::allocate small<step<init")"
'

test_expect 'without kokkos among the annotations all stays at the path that has allocated it' '
	rm -f k_all.json
	KOKKOS_TOOLS_LIBS=$LIB/libvftrace-annotations.so status_of 3 traced --preload -q -k memory.active=true \
		-k annotations=none -- ./k KOKKOS_TOOLS_LIBS memory
	is "" "$(jq -r ".memory[].path | select(test(\"Kokkos\"))" k_all.json)"
	jq -e "[.memory[] | select(.path == \"init\").bytes] | add >= 12 * $MIB" k_all.json
'

test_expect 'without memory.active the labels are regions as before' '
	status_of 3 traced --preload -q -- ./k KOKKOS_TOOLS_LIBS memory
	is "3 1" "$(jq -r "[.stacks[] | select(.function | test(\"allocate (plain|headed)$\")) |
		select(.path | test(\"deallocate\") | not).calls] | sort | reverse | map(tostring) | join(\" \")" k_all.json)"
	is null "$(jq .memory k_all.json)"
'

done_testing
