#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='memory of ranks on several (pseudo-)nodes: one row for each call path'
. "$(dirname "$0")/../lib/lib.sh"
need mpirun.openmpi jq
need_built "$AGENT" "$VFTR" "$LIB/libvftrace-openmpi.so" "$LIB/libvftrace-memory.so"
nodes_up 2
mpicc.openmpi -O1 -g -fno-builtin -finstrument-functions -o "$BIN/mpi-memory" "$T/memory/app-mpi-memory.c" || exit 99

test_expect 'a call path of ranks on two nodes: a row, of all that they allocated' '
	limit "$VFTR" run -q --preload -k memory.active=true -o run -- $(nodes_mpirun 2) -np 4 "$BIN/mpi-memory" >out 2>err
	is 6 "$(cat out)"
	is "4 2 0" "$(json run/profile.json '"'"'"\(.ranks) \(.nodes) \(.dead_ranks | length)"'"'"')"
	is "[4,10,10485760,10,10485760,10485760]" "$(jq -c ".memory[] | select(.function == \"keeps_blocks\") |
		[.ranks, .allocations, .bytes, .live_blocks, .live_bytes, .peak_bytes]" run/profile.json)"
	is "0 1 2 3" "$(jq -r "[.memory_ranks[].rank] | sort | join(\" \")" run/profile.json)"
	is "[]" "$(jq -c .warnings run/profile.json)"
'

test_expect 'and so says the report' '
	"$VFTR" report run >out
	has "$(ls run/*.html)" keeps_blocks
'

done_testing
