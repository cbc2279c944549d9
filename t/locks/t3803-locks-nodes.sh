#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='locks of ranks on several (pseudo-)nodes: one row for each variable'
. "$(dirname "$0")/../lib/lib.sh"
need mpirun.openmpi jq
need_built "$AGENT" "$VFTR" "$LIB/libvftrace-openmpi.so" "$LIB/libvftrace-locks.so"
nodes_up 2
mpicc.openmpi -O1 -g -D_GNU_SOURCE -finstrument-functions -o "$BIN/mpi-locks" "$T/locks/app-mpi-locks.c" -pthread || exit 99

test_expect 'a mutex of ranks on two nodes: a row, of all their waits, and where it was had' '
	limit "$VFTR" run -q --preload -k locks.active=true -o run -- $(nodes_mpirun 2) -np 4 "$BIN/mpi-locks" >out 2>err
	is "4 2 0" "$(json run/profile.json '"'"'"\(.ranks) \(.nodes) \(.dead_ranks | length)"'"'"')"
	jq -c ".locks[] | select(.name == \"mpi-locks:table_lock\") | [.kind, .ranks, .calls]" run/profile.json >rows
	is "[\"mutex\",4,12]" "$(cat rows)"
	jq -r ".locks[] | select(.name == \"mpi-locks:table_lock\") | .held[] | \"\(.calls) \(.path)\"" run/profile.json >held
	cat held
	is "12 have_table < main < init" "$(cat held)"
	is "[]" "$(jq -c .warnings run/profile.json)"'

done_testing
