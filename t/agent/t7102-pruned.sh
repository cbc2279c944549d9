#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# profile.prune on three (pseudo-)nodes whose processes have call paths of their own.
test_description='call paths with little time are added up in the summary; the node profiles have all'
. "$(dirname "$0")/../lib/lib.sh"
need jq ip ss python3
need_built "$AGENT" "$LIB/libvftrace.so"
nodes_up 3
. "$T/lib/tcp.sh"
cc_traced "$BIN/app-scale" "$T/scale/app-scale.c"

# job DIR PRUNE: 200 call paths of its own on each node; most of the time is that in which main waits
job() {
	job_begun=$(date +%s%N)
	three "$1" -k "profile.prune=$2"
	for n in 1 2 3; do
		run "$1" node$n "$BIN/app-scale" $n 4 200 "$PWD/$1/go" &
	done
	wait_for 30 "[ \$(ls $1 | grep -c ^go.here) = 3 ]"
	wait_for 10 "[ \$((\$(date +%s%N) - $job_begun)) -gt 2000000000 ]"
	touch "$1/go"
	statuses "$1" 0 0 0
}

# collate PRUNE TO: the summary of the node profiles in ./pruned
collate() {
	VFTR_SET=profile.prune=$1 "$VFTR" collate -o "$2" pruned
}

# sums JSON: calls, ns, and messages or whatever else tables have of call paths
sums() {
	json "$1" '"\([.stacks[].calls] | add) \([.stacks[].t_excl_s * 1e9 | round] | add) \(.calls) \(.stacks[] | select(.path == "init") | .t_incl_s)"'
}

# rows JSON: those of call paths that are not added up
rows() {
	json "$1" '.stacks[] | select(.function | endswith("(other call paths)") | not) |
		"\(.path) \(.calls) \(.t_excl_s) \(.t_incl_s) \(.ranks) \(.rank_min) \(.rank_max) \(.t_excl_deviation_s)"' | sort
}

test_expect 'the summary has few rows, and says so' '
	job pruned true
	paths=$(json pruned/app-scale_all.json .pruned.call_paths)
	rows=$(json pruned/app-scale_all.json ".stacks | length")
	echo "$rows rows of $paths call paths"
	[ "$paths" -gt 5000 ]
	[ "$rows" -lt $((paths / 5)) ]
	is true "$(json pruned/app-scale_all.json "[.stacks[] | select(.function | endswith(\"(other call paths)\"))] as \$o |
		.pruned.rows == (\$o | length) and .pruned.rows > 0 and
		(.pruned.rows_s - ([\$o[].t_excl_s] | add) | fabs) < 1e-6")"
	head -n 40 pruned/app-scale_all.log
	grep -q "^Of $paths call paths those with less than .*, with all that they call,$" pruned/app-scale_all.log
	grep -q "^are in [0-9]* rows .* here, with .*; the node profiles have all\.$" pruned/app-scale_all.log'

test_expect 'vftr collate of the node profiles gives the identical summary' '
	collate true again
	cmp pruned/app-scale_all.json again/app-scale_all.json'

test_expect 'vftr collate: a node profile that is named twice counts once, which is said' '
	VFTR_SET=profile.prune=true "$VFTR" collate -o twice pruned/*.vfp ./pruned/*.vfp pruned 2>told
	is 1 "$(grep -c "is named twice, and counts once" told)"
	cmp pruned/app-scale_all.json twice/app-scale_all.json'

test_expect 'read as one, the node profiles have all call paths, and the same sums' '
	collate false full
	is null "$(json full/app-scale_all.json .pruned)"
	is "$(json pruned/app-scale_all.json .pruned.call_paths)" "$(json full/app-scale_all.json ".stacks | length")"
	is "$(sums full/app-scale_all.json)" "$(sums pruned/app-scale_all.json)"
	"$VFTR" show --by-path --json pruned >shown
	is "$(json pruned/app-scale_all.json .pruned.call_paths)" "$(jq ".rows | length" shown)"'

test_expect 'each row that is left has the numbers that it has there' '
	rows full/app-scale_all.json >all
	rows pruned/app-scale_all.json >some
	[ "$(wc -l <some)" -gt 2 ] # the longer main has waited, the fewer
	is 0 "$(comm -13 all some | tee /dev/stderr | wc -l)" "other rows"'

test_expect 'a row that is left has as much time as is said, or a row below it has' '
	is true "$(json pruned/app-scale_all.json ".pruned.below_s as \$least |
		[.stacks[] | select(.function | endswith(\"(other call paths)\") | not) | .t_incl_s >= \$least] | all")"
	json full/app-scale_all.json ".stacks[] | select(.t_incl_s >= $(json pruned/app-scale_all.json .pruned.below_s)) | .path" |
		sort >long
	json pruned/app-scale_all.json ".stacks[] | select(.function | endswith(\"(other call paths)\") | not) | .path" | sort >left
	cmp long left'

test_expect 'a summary stands for its node profiles' '
	"$VFTR" show --by-path --json pruned/app-scale_all.json >named
	cmp shown named
	VFTR_SET=profile.prune=false "$VFTR" collate -o named-full pruned/app-scale_all.json
	cmp full/app-scale_all.json named-full/app-scale_all.json
	"$VFTR" diff pruned/app-scale_all.json full/app-scale_all.json >differences
	has differences "0 call paths only in A, 0 only in B; 0 differ by more"'

test_expect 'vftr.py reads the summary, or all call paths' '
	VFTR=$VFTR PYTHONPATH=$TOP/packaging/python PYTHONDONTWRITEBYTECODE=1 python3 - >read <<-END
		import vftr
		for whole in False, True:
		    run = vftr.open("pruned/app-scale_all.json", whole=whole)
		    print(len(run.stacks), sum(run.stacks.column("calls")))
	END
	{
		json pruned/app-scale_all.json "\"\\(.stacks | length) \\([.stacks[].calls] | add)\""
		json full/app-scale_all.json "\"\\(.stacks | length) \\([.stacks[].calls] | add)\""
	} >wanted
	cmp read wanted'

test_expect 'without prune the agents write what vftr collate writes without it' '
	job whole false
	is null "$(json whole/app-scale_all.json .pruned)"
	[ "$(json whole/app-scale_all.json ".stacks | length")" -gt 5000 ]
	VFTR_SET=profile.prune=false "$VFTR" collate -o whole-again whole
	cmp whole/app-scale_all.json whole-again/app-scale_all.json'

test_expect 'an agent without processes has no node profile, which is not missed' '
	mkdir idle
	cp pruned/app-scale_node?.vfp idle
	json pruned/app-scale_all.json ".agents += [{host: \"node4\", processes: 0}]" >idle/app-scale_all.json
	"$VFTR" show --by-path --json idle/app-scale_all.json >idle-shown
	cmp shown idle-shown'

# ids LOG: STID and path of its call stacks
ids() {
	sed -n '/^Global call stacks:/,/^$/s/^ *\(STID[0-9]\{1,\}\) *\([^ ].*[^ ]\) *$/\1|\2/p' "$1" | sort
}

test_expect 'of one node, too, its log has the ids of the summary' '
	mkdir alone
	traced -q -o alone -k profile.prune=true -- "$BIN/app-scale" 1 4 200 "$PWD/alone/go" &
	wait_for 30 "[ -e alone/go.here.1 ]"
	job_begun=$(date +%s%N)
	wait_for 10 "[ \$((\$(date +%s%N) - $job_begun)) -gt 2000000000 ]"
	touch alone/go
	wait $!
	[ "$(json alone/app-scale_all.json .pruned.rows)" -gt 0 ]
	ids alone/app-scale_all.log >all
	grep -v "|[^<]*(other call paths)" all >named
	[ "$(wc -l <named)" -gt 2 ]
	ids alone/app-scale_node_*.log >node
	is "" "$(comm -23 named node)" "stacks with another id in the log of the node"'

test_expect 'a node profile that is not there is named' '
	mkdir part
	cp pruned/app-scale_all.json pruned/app-scale_node1.vfp pruned/app-scale_node3.vfp part
	got=0
	"$VFTR" show --by-path --json part/app-scale_all.json >some-shown 2>err || got=$?
	is 1 $got
	has err "part/app-scale_node2.vfp: No such file or directory; what ran on node node2 is missing"
	is 1 "$(wc -l <err)"
	[ "$(jq ".rows | length" some-shown)" -gt 1000 ]
	got=0
	"$VFTR" show whole-again/app-scale_all.json 2>err || got=$?
	is 2 $got
	has err "whole-again/app-scale_all.json: a summary; name the folder with its node profiles"'

done_testing
