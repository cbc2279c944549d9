#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The thresholds of these rules: t/unit/report/u-findings.c.
test_description='memory: what nobody frees, and a rank that needs more than others, are findings'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$VFTR" "$LIB/libvftrace.so" "$LIB/libvftrace-memory.so"

$TEST_CC -O1 -g -Wall -fno-builtin -finstrument-functions -o "$BIN/memory" "$T/memory/app-memory.c" -pthread ||
	{ echo 'Bail out! app-memory.c does not build'; exit 1; }

# run_memory MODE: runs it
run_memory() {
	limit "$VFTR" run -q --preload -k memory.active=true -o "$1" -- "$BIN/memory" "$1"
	jq -c '.findings, .memory' "$1/profile.json"
}

test_expect 'blocks that each step leaves: how many, of how many bytes, where, and since when' '
	run_memory grows
	jq -c ".findings[] | select(.rule == \"memory_leak\")" grows/profile.json >found
	json found .text | grep -E "^19\.5 MiB in 200 blocks of step < (grows < )?main are live at the end, (9[0-9]|100) % of what was live at most; they were allocated [0-9.]+ ms before"
	is "200 $((200 * 102400)) 0" "$(json found ".evidence | \"\(.live_blocks) \(.live_bytes) \(.live_error)\"")"
	# it is the row of the table, and steps of 2 ms were half of their time ago
	is "$(jq ".memory[] | select(.function == \"step\") | .live_age_s" grows/profile.json | cut -c 1-7)" \
		"$(json found .evidence.live_age_s | cut -c 1-7)"
	jq -e ".evidence.live_age_s > 0.19 and .evidence.live_age_s < 0.75 * $(jq .runtime_s grows/profile.json)" found
'

test_expect 'the same that is freed in the end, and what is there from the begin, is none' '
	for mode in frees built; do
		run_memory $mode
		is "" "$(jq -r ".findings[].rule | select(startswith(\"memory_\"))" $mode/profile.json)" $mode
	done
	is 200 "$(jq ".memory[] | select(.function == \"build\") | .live_blocks" built/profile.json)"
'

test_expect 'samples that may stand for nothing are none' '
	limit "$VFTR" run -q --preload -k memory.active=true -k memory.sample_bytes=1GiB -o few -- "$BIN/memory" small
	is "" "$(jq -r ".findings[].rule | select(startswith(\"memory_\"))" few/profile.json)"
'

for mpi in $(mpi_list_short); do
	test_expect "$mpi: a rank that needs 100 MiB more than the others; and none that needs 1 MiB more" '
		mpicc.$mpi -O1 -g -fno-builtin -finstrument-functions -o "$BIN/mpi-memory" "$T/memory/app-mpi-memory.c"
		for more in 100 0; do
			limit "$VFTR" run -q --preload -k memory.active=true -o $mpi-$more -- \
				$(mpirun_of "$mpi") -np 4 "$BIN/mpi-memory" $more >out
			is 6 "$(cat out)"
			jq -c .findings,.memory_ranks $mpi-$more/profile.json
		done
		jq -c ".findings[] | select(.rule == \"memory_balance\")" $mpi-100/profile.json >found
		is "1 $(uname -n) 4" "$(json found ".evidence | \"\(.rank) \(.node) \(.ranks)\"")"
		is "$(jq ".memory_ranks[] | select(.rank == 1) | .peak_bytes" $mpi-100/profile.json)" "$(json found .evidence.peak_bytes)"
		json found .text | grep "^Rank 1 needs 1[0-9.]* MiB of memory at its peak, [23]\.[0-9] x the mean of 4 ranks\.\$"
		is "" "$(jq -r ".findings[].rule | select(. == \"memory_balance\")" $mpi-0/profile.json)"
	'
done

done_testing
