#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='vftr tree: the call tree of a run'
. "$(dirname "$0")/../lib/lib.sh"
. "$T/lib/runs.sh"

for run in $RUNS; do
	test_expect "$run: the tree has each call path once, with the calls of the JSON" "
		\"\$VFTR\" tree -p 0 -d 0 $run >tree
		is \"\$(jq '.stacks | length' $run/*_all.json)\" \"\$(tail -n 1 tree | awk '{ print \$2 }')\"
		tail -n 1 tree | grep -q '^all [0-9]* frames'
		is \"\$(jq '.stacks | length' $run/*_all.json)\" \"\$(grep -c '^ *[0-9.]* .*s  ' tree)\"
		sed -n '4p' tree | grep -q '^ 100\\.0 .* init\$'"
	test_expect "$run: lines have at most 100 columns, and are ASCII in an ASCII locale" "
		\"\$VFTR\" tree -p 0 $run >tree
		! grep -n '.\\{101\\}' tree >&2 || exit 1
		! grep -n '[^ -~]' tree >&2"
done

test_expect 'the frames stand below their callers, the one with the most time first' '
	"$VFTR" tree -p 0 -d 3 c >tree
	sed -n "4,\$p" tree | sed "s/.*  //" | grep -q "^init$"
	grep -q "[|\`]-main$" tree
	grep -q "  [|\`]-north$" tree
	grep -q "  [|\`]-down$" tree
	hasnt tree east
	tail -n 1 tree | grep "^4 of [0-9]* frames; left out are [0-9]* below 0 % or deeper than 3, with .* of own time"'

test_expect 'lines of boxes where the locale is UTF-8' '
	LC_ALL=C.UTF-8 "$VFTR" tree -p 0 -d 3 c >tree
	grep -q "└─main$" tree
	sed "s/└─/\`-/; s/├─/|-/; s/│/|/g" tree >plain
	"$VFTR" tree -p 0 -d 3 c | cmp - plain'

test_expect '--percent cuts what has less; the rest is counted' '
	"$VFTR" tree --percent 100 c >tree
	sed -n "4,\$p" tree | grep " init$"
	status_of 2 "$VFTR" tree --percent 101 c 2>err
	status_of 2 "$VFTR" tree --percent x c 2>err
	status_of 2 "$VFTR" tree --depth x c 2>err'

test_expect '--from adds up all outermost calls of a function, and recursion counts once' '
	"$VFTR" tree --from down -p 0 -d 1 c >tree
	sed -n 4p tree | grep "^ 100.0 .* 1  down$"
	"$VFTR" tree --from down -p 0 c >tree
	is 25 "$(grep -c "[] -]down$" tree)"
	# north is the outermost function; east is called below it, below south, west, and both
	"$VFTR" tree --from east -p 0 -d 1 c >tree
	calls=$(jq "[.stacks[] | select(.path | test(\"^east<(south|west|north)(<(south|west|north))*<main\")) | .calls] | add" c/*_all.json)
	sed -n 4p tree | grep " $calls  east$"
	status_of 2 "$VFTR" tree --from absent c 2>err
	has err "--from absent: no such function"'

test_expect '--reverse has the callers of a function, with the calls by each' '
	"$VFTR" tree --reverse --from down -p 0 -d 2 c >tree
	sed -n 4p tree | grep " 30  down$"
	grep " 29  [|\`]-again$" tree
	grep " 1  [|\`]-main$" tree
	"$VFTR" tree --reverse -p 0 -d 1 c >tree
	is 8 "$(sed -n "4,\$p" tree | grep -c "^ *[0-9.]* .*s  ")"'

test_if 'case $RUNS in *mpi*) ;; *) false ;; esac' 'no MPI' \
	'with several ranks, the least and the most own time and their ranks' '
	"$VFTR" tree -p 0 mpi >tree
	has tree "own time, least .. most"
	grep -E "s @[01] \.\. [0-9.]+ .?s @[01] .*main$" tree
	"$VFTR" tree --reverse -p 0 -d 1 mpi >tree
	grep -E "s @[01] \.\. [0-9.]+ .?s @[01] .*MPI_Init$" tree'

test_expect '30 000 call paths and a deep recursion take no time' '
	mkdir many
	traced -q -o many -- "$BIN/branches" 9 1000
	began=$(date +%s)
	"$VFTR" tree many >tree
	"$VFTR" tree -r many >tree
	"$VFTR" tree -d 0 -p 0 many >tree
	"$VFTR" tree -r -d 0 -p 0 --from down many >callers
	no_later 10 "$began"
	grep -q "\[[0-9]*\] down$" tree
	! grep -n ".\{101\}" tree >&2'

done_testing
