#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='vftr export of profiles: flame graphs with the exact times of all call paths'
. "$(dirname "$0")/../lib/lib.sh"
. "$T/lib/runs.sh"

cat >folded.py <<'END'
# folded.py FOLDED JSON: each call path has exactly its time
import collections, json, re, sys
from decimal import Decimal
is_ = collections.Counter()
for line in open(sys.argv[1]):
    path, ns = line.rstrip('\n').rsplit(' ', 1)
    path = re.sub('^rank [0-9]+;', '', path)
    is_['<'.join(reversed(path.split(';')))] += int(ns)
want = collections.Counter()
for s in json.load(open(sys.argv[2]), parse_float=Decimal)['stacks']:
    ns = int(s['t_excl_s'] * 10**9)
    if ns:
        want[s['path'].replace(';', ':')] += ns
assert is_ == want, (is_ - want, want - is_)
END

cat >speedscope.py <<'END'
# speedscope.py FILE NS: the members that the schema requires, and their types
import json, sys
d = json.load(open(sys.argv[1]))
assert d['$schema'] == 'https://www.speedscope.app/file-format-schema.json'
frames, total = d['shared']['frames'], 0
assert all(isinstance(f['name'], str) for f in frames) and len({f['name'] for f in frames}) == len(frames)
assert d['profiles']
for p in d['profiles']:
    assert p['type'] == 'sampled' and isinstance(p['name'], str) and p['unit'] == 'nanoseconds'
    assert p['startValue'] == 0 and p['endValue'] == sum(p['weights'])
    assert len(p['samples']) == len(p['weights']) > 0
    assert all(isinstance(w, int) and w > 0 for w in p['weights'])
    assert all(s and all(0 <= f < len(frames) for f in s) for s in p['samples'])
    total += sum(p['weights'])
assert total == int(sys.argv[2]), (total, sys.argv[2])
print(len(d['profiles']))
END

for run in $RUNS; do
	test_expect "$run: folded stacks have exactly the time of each call path" "
		\"\$VFTR\" export $run -f folded -o folded >out
		[ ! -s out ]
		python3 folded.py folded $run/*_all.json
		is \"\$(sum_ns $run/*_all.json)\" \"\$(awk '{ n += \$NF } END { printf \"%d\", n }' folded)\"
		\"\$VFTR\" export $run -f folded --sum -o - >sum
		! grep '^rank ' sum >&2 || exit 1
		python3 folded.py sum $run/*_all.json"
	test_expect "$run: speedscope has the members that its schema requires, and all of the time" "
		\"\$VFTR\" export $run -f speedscope -o scope.json
		python3 speedscope.py scope.json \$(sum_ns $run/*_all.json)
		\"\$VFTR\" export $run -f speedscope --sum -o scope.json
		is 1 \"\$(python3 speedscope.py scope.json \$(sum_ns $run/*_all.json))\""
done

test_expect 'log, JSON, folded stacks and speedscope call the functions of a C++ program alike' '
	export VFTR_SET=output.layout=run
	limit "$VFTR" run -q --trace -o alike -k output.max_columns=0 -k profile_table.max_rows=0 \
		-k profile_table.min_percent=0 -- "$BIN/stl" 30 >out
	json alike/profile.json ".functions[].function" | sort >names
	[ "$(grep -c "::" names)" -gt 10 ]
	grep "^physics::Table::step #2$" names
	sed -n "/^Global call stacks/,/^\$/s/^ *STID[0-9]* *//p" alike/summary.log |
		sed "s/ *$//; s/ < /\n/g" | grep -v "^Call stack" | sort -u | diff names -
	# a call of 0 ns has no line in folded stacks
	json alike/profile.json ".functions[] | select(.t_incl_s > 0) | .function" | sort >timed
	"$VFTR" export -f folded --sum -o - alike/*.vfp | sed "s/ [0-9]*$//" | tr ";" "\n" | sort -u >folded
	diff timed folded
	"$VFTR" export -f speedscope -o - alike/*.vfp | jq -r ".shared.frames[].name" | sort >frames
	comm -23 timed frames | diff - /dev/null && comm -13 names frames | diff - /dev/null
	# the time line knows also what ran before main
	for format in folded speedscope; do
		"$VFTR" export -f $format -o - alike/*.vfd >line
		case $format in
		folded) sed "s/ [0-9]*$//" line | tr ";" "\n" | grep -v "^pid \|^rank " ;;
		speedscope) jq -r ".shared.frames[].name" line ;;
		esac | sort -u | comm -13 names - >more
		cat more
		! grep -v "^(lost)$\|^(blocked)$\|^_GLOBAL__sub_I_\|^__static_initialization" more >&2 || exit 1
		! grep "_Z" line >&2 || exit 1
	done'

test_if 'case $RUNS in *mpi*) ;; *) false ;; esac' 'no MPI' \
	'where the node profile knows the ranks, each is a tree of its own' '
	"$VFTR" export threads -f folded -o - >folded
	is "rank 0 rank 1" "$(sed "s/;.*//" folded | sort -u | paste -sd " ")"
	"$VFTR" export threads -f speedscope -o scope.json
	is 2 "$(python3 speedscope.py scope.json $(sum_ns threads/*_all.json))"
	"$VFTR" export threads -f folded -r 1 -o - >one
	grep "^rank 1;" folded | cmp - one
	"$VFTR" export mpi -f folded -o - >folded
	! grep "^rank " folded >&2 || exit 1
	status_of 2 "$VFTR" export mpi -f folded -r 1 -o - 2>err
	has err "only the sums of all ranks"'

test_if 'case $RUNS in *mpi*) ;; *) false ;; esac' 'no MPI' \
	'the times of ranks are those of the JSON' '
	"$VFTR" export threads -f folded -o folded
	python3 -c "
import collections, json, sys
times = collections.defaultdict(list)
for line in open(\"folded\"):
	path, ns = line.rstrip().rsplit(\" \", 1)
	rank, path = path.split(\";\", 1)
	times[\"<\".join(reversed(path.split(\";\")))].append(int(ns))
for s in json.load(open(sys.argv[1]))[\"stacks\"]:
	if s[\"ranks\"] == 2 and s[\"t_excl_min_s\"] > 0:
		low, high = sorted(times[s[\"path\"]])
		assert abs(low - s[\"t_excl_min_s\"] * 1e9) < 20 and abs(high - s[\"t_excl_max_s\"] * 1e9) < 20, (s, low, high)
" threads/*_all.json'

test_expect 'a folder with sampling files gives those, with --profile the profile' '
	mkdir both
	traced -q -k sampling.active=true -k sampling.sample_interval=0 -o both -- "$BIN/branches" 3 5
	"$VFTR" export both -f folded -o line
	"$VFTR" export both -f folded --profile -o exact
	! cmp -s line exact || exit 1
	python3 folded.py exact both/*_all.json
	"$VFTR" export both/*.vfp -f folded -o - | cmp - exact
	"$VFTR" export both --profile -f speedscope 2>err
	has err "wrote both/branches.speedscope.json (exact times of "
	"$VFTR" export both --profile -f speedscope --quiet 2>err
	[ ! -s err ]
	[ -s both/branches.speedscope.json ]'

test_expect 'sampling files of two runs of one program are no time line, and none is made' '
	mkdir again
	traced -q -k sampling.active=true -k sampling.sample_interval=0 -o again -- "$BIN/branches" 3 5
	for names in "both again" "both/branches_*.vfd again/branches_*.vfd"; do
		status_of 2 "$VFTR" export $names -f folded -o - >out 2>err
		has err "several runs: again/branches_"
		is 1 "$(wc -l <err)"
		[ ! -s out ]
		status_of 2 "$VFTR" critical-path $names >out 2>err
		has err "of two runs or events"
		[ ! -s out ]
	done'

test_expect 'what a profile cannot be is refused in one line' '
	for f in perfetto chrome otf2 paraver vfd3; do
		status_of 2 "$VFTR" export c -f $f 2>err
		is 1 "$(wc -l <err)"
		has err "$f is a time line"
	done
	status_of 2 "$VFTR" export c -f folded --from 1 2>err
	status_of 2 "$VFTR" export c -f folded --round 1 2>err
	status_of 2 "$VFTR" export --profile absent -f folded 2>err
	has err "absent: "
	status_of 2 "$VFTR" export c -f folded -o nowhere/x 2>err
	has err "nowhere/x: "
	status_of 2 "$VFTR" export c -f folded -o /dev/full 2>err
	mkdir empty
	status_of 2 "$VFTR" export empty -f folded 2>err
	has err "no sampling files"
	status_of 2 "$VFTR" export c --profile --mangled -f folded -o - >out 2>err
	has err "export: --mangled is for sampling files"
	[ ! -s out ]'

test_expect '30 000 call paths and a deep recursion: exact, and in no time' '
	mkdir many
	traced -q -o many -- "$BIN/branches" 9 1000
	began=$(date +%s)
	"$VFTR" export many -f folded -o folded
	"$VFTR" export many -f speedscope -o scope.json
	no_later 10 "$began"
	is "$(sum_ns many/*_all.json)" "$(awk "{ n += \$NF } END { printf \"%d\", n }" folded)"
	python3 speedscope.py scope.json "$(sum_ns many/*_all.json)"'

test_expect 'damaged node profiles are left out with status 1, or refused' '
	mkdir damaged
	cp c/*.vfp damaged/branches_a.vfp
	head -c 300 c/*.vfp >damaged/branches_b.vfp
	status_of 1 "$VFTR" export damaged -f folded -o folded 2>err
	has err "branches_b.vfp"
	python3 folded.py folded c/*_all.json
	status_of 2 "$VFTR" export damaged/branches_b.vfp -f folded -o - 2>err'

done_testing
