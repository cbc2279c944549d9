#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='vftr show: the functions and call paths with the most time'
. "$(dirname "$0")/../lib/lib.sh"
. "$T/lib/runs.sh"

cat >equal.py <<'END'
# equal.py functions|paths CSV JSON: each row of each is in the other one, with the same numbers
import csv, json, sys
from decimal import Decimal
what, rows, profile = sys.argv[1], list(csv.DictReader(open(sys.argv[2]))), json.load(
    open(sys.argv[3]), parse_float=Decimal)
key = 'id' if what == 'paths' else 'function'
of = {str(s[key]): s for s in profile['stacks' if what == 'paths' else 'functions']}
assert len(rows) == len(of), (len(rows), len(of))
assert {r[key] for r in rows} == set(of)
fields = ['calls', 't_excl_s', 't_incl_s']
if what == 'paths':
    fields += ['ranks', 't_excl_min_s', 't_excl_max_s', 'rank_min', 'rank_max', 'lost',
               'imbalance_percent', 'imbalance_rank', 'path', 'function']
for r in rows:
    s = of[r[key]]
    for f in fields:
        same = r[f] == s[f] if isinstance(s[f], str) else Decimal(r[f]) == s[f]
        assert same, (r[key], f, r[f], s[f])
all = sum(Decimal(r['t_excl_s']) for r in rows)
assert abs(sum(Decimal(r['t_excl_percent']) for r in rows) - 100) < Decimal('0.0001')
assert all == sum(s['t_excl_s'] for s in profile['stacks'])
END

for run in $RUNS; do
	test_expect "$run: every row of --csv is in the JSON, with the same numbers" "
		\"\$VFTR\" show --csv $run >functions.csv
		python3 equal.py functions functions.csv $run/*_all.json
		\"\$VFTR\" show --csv --by-path $run >paths.csv
		python3 equal.py paths paths.csv $run/*_all.json"
	test_expect "$run: no line has more than 100 columns, and the last one tells what is left out" "
		for by in '' --by-path; do
			\"\$VFTR\" show \$by -n 4 $run >text
			! grep -n '.\\{101\\}' text >&2 || exit 1
			! LC_ALL=C grep -n '[^ -~]' text >&2 || exit 1
			tail -n 1 text | grep -q '^4 of [0-9]* .*; the other [0-9]* have '
			\"\$VFTR\" show \$by -n 0 $run >text
			! grep -n '.\\{101\\}' text >&2 || exit 1
			tail -n 1 text | grep -q '^all [0-9]* '
		done"
done

test_expect 'the order is that of the numbers' '
	for run in $RUNS; do
		for sort in excl:2 incl:3 calls:4 imbalance:5; do
			"$VFTR" show --csv -C function,excl,incl,calls,imbalance,max,ranks \
				--sort ${sort%:*} --by-path $run >rows
			[ ${sort%:*} = imbalance ] && continue
			cut -d, -f ${sort#*:} rows | sed 1d | sort -c -g -r
		done
	done
	status_of 2 "$VFTR" show --sort time c 2>err
	has err "excl, incl, calls or imbalance"'

test_if 'case $RUNS in *mpi*) ;; *) false ;; esac' 'no MPI' \
	'imbalance comes first where the slowest rank loses most' '
	"$VFTR" show --csv --by-path --sort imbalance -C max,excl,ranks mpi >rows
	python3 -c "
import csv
lost = [float(r[\"t_excl_max_s\"]) - float(r[\"t_excl_s\"]) / int(r[\"ranks\"]) for r in csv.DictReader(open(\"rows\"))]
assert len(lost) > 5 and lost[0] > 0
assert all(a >= b - 2e-9 for a, b in zip(lost, lost[1:])), lost"'

test_expect '--filter keeps the functions that match, of call paths those with one in them' '
	"$VFTR" show --csv --filter "^(north|down)$" -C function c >rows
	is "\"down\" \"north\"" "$(sed 1d rows | sort | paste -sd " ")"
	"$VFTR" show --csv -p --filter "down<main" -C path c >rows
	is 60 "$(sed 1d rows | wc -l)"
	"$VFTR" show --filter west c | tail -n 1 | grep "^1 of 8 functions (--filter)"
	"$VFTR" show --filter nothing c | tail -n 1 | grep "^0 of 8 functions"
	status_of 2 "$VFTR" show --filter "(" c 2>err
	has err "--filter ("'

test_expect '--json has the same rows, and is JSON' '
	for run in $RUNS; do
		"$VFTR" show --csv $run >rows
		"$VFTR" show --json $run >json
		jq -e ".format == \"vftr-show\" and .functions == (.rows | length)" json
		is "$(sed 1d rows | wc -l)" "$(jq ".rows | length" json)"
		is "$(jq "[.functions[].calls] | add" $run/*_all.json)" "$(jq "[.rows[].calls] | add" json)"
	done
	"$VFTR" show --json -n 2 c | jq -e ".rows | length == 2"'

test_expect 'wrong columns and numbers are refused' '
	status_of 2 "$VFTR" show --columns calls,time c 2>err
	has err "no column \`time"
	status_of 2 "$VFTR" show -n -1 c 2>err
	status_of 2 "$VFTR" show -n 3x c 2>err
	status_of 2 "$VFTR" show --csv --json c 2>err
	status_of 2 "$VFTR" show 2>err
	status_of 2 "$VFTR" show absent 2>err
	has err "absent: "
	mkdir empty
	status_of 2 "$VFTR" show empty 2>err
	has err "no node profiles"'

test_expect 'a folder of one run may call its files HOST.vfp; two runs are told apart' '
	mkdir one two
	cp c/*.vfp one/node1.vfp
	"$VFTR" show --csv one | cmp - "$(: >x; "$VFTR" show --csv c >x; echo x)"
	cp c/*.vfp two/
	cp cxx/*.vfp two/
	status_of 2 "$VFTR" show two 2>err
	has err "several runs, \`branches"
	"$VFTR" show --csv --base branches two | cmp - x
	status_of 2 "$VFTR" show c cxx 2>err
	has err "choose one with --base"
	mkdir other
	cp c/*.vfp other/node1.vfp
	status_of 2 "$VFTR" show one other 2>err
	has err "/one/'\'' and \`$PWD/other/'\'': name one of them"
	status_of 2 "$VFTR" show --base absent two 2>err'

test_expect 'node profiles that are named twice, by links, too, count once, which is said' '
	ln -s one last
	for names in "one one/node1.vfp" "one last" "c c/branches_*.vfp" "last/node1.vfp one/node1.vfp"; do
		"$VFTR" show --csv $names 2>err | cmp - x
		is 1 "$(grep -c "is named twice, and counts once" err)"
	done
	cp one/node1.vfp one/node2.vfp
	"$VFTR" show --csv one >both
	"$VFTR" show --csv one/node1.vfp last/node2.vfp 2>err | cmp - both
	[ ! -s err ]
	rm one/node2.vfp'

test_expect 'profiles of several nodes are added up' '
	mkdir nodes
	cp c/branches_*.vfp nodes/branches_a.vfp
	cp c/branches_*.vfp nodes/branches_b.vfp
	"$VFTR" show --csv -C function,calls nodes >twice
	"$VFTR" show --csv -C function,calls c >once
	python3 -c "
import csv
a, b = ({r[\"function\"]: int(r[\"calls\"]) for r in csv.DictReader(open(f))} for f in (\"once\", \"twice\"))
assert {k: 2 * v for k, v in a.items()} == b, (a, b)"'

test_expect '30 000 call paths and a deep recursion take no time' '
	mkdir many
	traced -q -o many -- "$BIN/branches" 9 1000
	began=$(date +%s)
	"$VFTR" show many >text
	"$VFTR" show -p many >paths
	no_later 10 "$began"
	tail -n 1 paths | grep "of [0-9]* call paths"
	is $((29524 + 1000 + 2)) "$(tail -n 1 paths | cut -d" " -f 3)"
	! grep -n ".\{101\}" text paths >&2'

test_expect 'damaged node profiles are refused, or left out with status 1' '
	mkdir damaged
	cp c/*.vfp damaged/branches_a.vfp
	head -c 300 c/*.vfp >damaged/branches_b.vfp
	status_of 1 "$VFTR" show --csv damaged >rows 2>err
	cmp rows x
	has err "branches_b.vfp"
	python3 -c "
import random, subprocess
good = open(\"damaged/branches_a.vfp\", \"rb\").read()
random.seed(7)
for i in range(150):
	bad = bytearray(good)
	for k in range(random.choice([1, 8])):
		bad[random.randrange(len(bad))] = random.randrange(256)
	open(\"bad.vfp\", \"wb\").write(bad)
	for command in ([\"show\"], [\"show\", \"-p\", \"--csv\"], [\"tree\", \"-p\", \"0\"], [\"tree\", \"-r\"],
			[\"export\", \"-f\", \"folded\", \"-o\", \"-\"], [\"export\", \"-f\", \"speedscope\", \"-o\", \"-\"]):
		rc = subprocess.run([\"$VFTR\", *command, \"bad.vfp\"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
		assert rc in (0, 1, 2), (i, command, rc)
"'

done_testing
