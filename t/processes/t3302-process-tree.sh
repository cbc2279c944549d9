#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='the tree of processes in the node log and in the JSON'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$LIB/libvftrace.so" "$VFTR"

TEST_FLAGS="$TEST_FLAGS -D_GNU_SOURCE"
cc_traced "$BIN/processes" "$T/processes/app-processes.c" || skip_all 'app-processes.c cannot be compiled'
ALL=processes_all.json

test_expect 'three generations, two lives, and how each one ended' '
	traced -q -- "$BIN/processes" tree 2>err
	is "" "$(cat err)" "standard error"
	cat >wanted <<EOF
[-1,0,"exited",0,null]
[0,0,"exec",null,null]
[1,0,"killed",null,15]
[0,1,"exited",6,null]
[0,0,"exited",3,null]
EOF
	# ranks of parents by their place in the tree
	jq -c ".each_process as \$all | (\$all | map(.rank)) as \$ranks | \$all[] |
		.parent as \$p | [(\$ranks | index(\$p) // -1), .life, .end, .status, .signal]" \
		$ALL >got
	diff wanted got'

test_expect 'members of each_process: calls, start and run time add up' '
	is "$(json $ALL .calls)" "$(jq "[.each_process[].calls] | add" $ALL)" calls
	is "$(json $ALL .processes)" "$(jq ".each_process | length" $ALL)" processes
	is 0 "$(jq ".each_process[0].t_start_s" $ALL)" "the first start"
	jq -e ".each_process[] | select(.status == 3) | .t_start_s >= 0.1" $ALL'

test_expect 'the node log shows them below each other' '
	sed -n "/^Processes/,/^Rings/p" processes_node_*.log |
		awk -F"|" "NF > 10 && \$5 !~ /Executable/ { sub(/ +\$/, \"\", \$5); print \$5 \"|\" \$(NF - 1) }" |
		sed "s/ *|  */|/; s/ *\$//; s/^ //" >table
	printf "%s\n" "processes|exited 0" "  processes|exec" "    processes|signal 15 (Terminated)" \
		"  exec processes|exited 6" "  processes|exited 3" >wanted
	diff wanted table'

test_expect 'if there were several programs, it says which' '
	cp "$BIN/processes" "$BIN/other"
	hasnt "$(ls processes_node_*.log)" "Several programs ran"
	rm -f both_*
	traced -q -k outfile_basename=both -- sh -c "\"$BIN/processes\" tree; \"$BIN/other\" tree; :" 2>err
	has "$(ls both_node_*.log)" "Several programs ran: processes, other"'

test_expect 'vftr collate of the node profile shows the same tree' '
	mkdir -p again
	"$VFTR" collate -o again . >/dev/null
	is "$(jq -c .each_process $ALL)" "$(jq -c .each_process again/$ALL)"'

test_expect 'one after the other: the time of all, and the rings of those that lived at once' '
	rm -f script_*
	traced -q -k outfile_basename=script -- \
		sh -c "for i in 1 2 3 4 5 6 7 8 9; do \"$BIN/processes\" usage; sleep 0.02; done; :" 2>err
	is 9 "$(json script_all.json .processes)"
	jq -e ".runtime_s > 0.16 and .runtime_s > ([.each_process[].runtime_s] | max)" script_all.json
	awk "/^Vftrace used memory:/ { found = 1; many = \$5 != \"MiB\" || \$4 > 20 }
		END { exit many || !found }" script_all.log'

done_testing
