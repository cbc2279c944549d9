#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='files of ranks on several (pseudo-)nodes: one row for each path'
. "$(dirname "$0")/../lib/lib.sh"
need mpirun.openmpi jq
need_built "$AGENT" "$VFTR" "$LIB/libvftrace-openmpi.so" "$LIB/libvftrace-files.so"
nodes_up 2
mpicc.openmpi -O1 -o "$BIN/io" "$T/files/app-mpi-io.c" || exit 99

test_expect 'a file that ranks on two nodes share: a row, of all that they did' '
	limit "$VFTR" run -q --preload -k files.active=true -o run -- $(nodes_mpirun 2) -np 4 "$BIN/io" >out 2>err
	hasnt out "something else"
	is "4 2 0" "$(json run/profile.json '"'"'"\(.ranks) \(.nodes) \(.dead_ranks | length)"'"'"')"
	jq -c ".posix_files[] | select(.name | endswith(\"/together\")) | [.ranks, .opens, .bytes_written, .bytes_read]" run/profile.json >rows
	is "[4,4,41943040,41943040]" "$(cat rows)"
	is "[]" "$(jq -c .warnings run/profile.json)"'

test_expect 'and so says the report' '
	"$VFTR" report run >out
	has "$(ls run/*.html)" "/together"'

done_testing
