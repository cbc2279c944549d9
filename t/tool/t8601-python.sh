#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='vftr.py and vftr export -f sqlite: every number of a profile, and what is refused'
. "$(dirname "$0")/../lib/lib.sh"
need jq python3
need_built "$VFTR" "$AGENT"
PYTHONPATH=$TOP/packaging/python
PYTHONDONTWRITEBYTECODE=1
SAME=$T/tool/same-tables.py
export PYTHONPATH PYTHONDONTWRITEBYTECODE SAME
unset VFTR_SET

vftr_py() {
	limit python3 "$PYTHONPATH/vftr.py" "$@"
}

# one_sentence WORDS COMMAND...: it is refused with 2, in one line that has these words
one_sentence() {
	one_words=$1
	shift
	status_of 2 limit "$@" >said 2>&1
	is 1 "$(wc -l <said)" "lines said by $*"
	has said "$one_words"
	hasnt said Traceback
}

# to_compare FOLDER JSON RUN...: in $checks, tables, rows and tree; and the databases of the JSON and of RUN
checks=
to_compare() {
	same_at=$1 same_json=$2
	shift 2
	checks="$checks -- python $same_json"
	limit "$VFTR" export -f sqlite "$same_json" -o "$same_at/of-json.sqlite"
	limit "$VFTR" export -f sqlite "$@" -o "$same_at/of-run.sqlite"
	checks="$checks -- sql $same_json $same_at/of-json.sqlite -- sql $same_json $same_at/of-run.sqlite"
}

# compared: all of $checks, by one python; each looks at many values, time lines at any
compared() {
	limit python3 "$SAME" $checks >values
	is 0 "$(awk "\$1 <= (\$3 == \"timeline\" ? 0 : 100)" values | wc -l)" "checks of hardly any value"
	checks=
}

# same_everywhere JSON RUN...
same_everywhere() {
	to_compare . "$@"
	compared
}

test_expect 'recorded runs of every kind: tables, tree and database have what the JSON has' '
	for f in "$T"/golden/in/*.gz; do
		name=${f##*/} name=${name%.gz} run=${name%%-*}
		mkdir -p "real/$run"
		case $name in *-round*) host=.${name#*-} ;; *) host=_${name#*-} ;; esac
		gzip -dc "$f" >"real/$run/app$host"
	done
	looked=0
	# the short form takes the configurations by turns
	all=$T/golden/all.json turn=
	for run in real/*; do
		[ "$turn" = "$all" ] && turn= || turn=$all
		[ -n "$VFTR_LONG" ] && configs="- $all" || configs=${turn:--}
		for config in $configs; do
			[ "$config" != - ] || config=
			looked=$((looked + 1))
			mkdir out-$looked
			export VFTR_CONFIG="$config"
			limit "$VFTR" collate -b app -o out-$looked $run >log
			echo "# $run $config"
			to_compare out-$looked out-$looked/app_all.json $run/app_*.vfp
		done
	done
	[ $looked -ge 10 ]
	compared
	is $((3 * looked)) "$(wc -l <values)"
	rm -r out-*'

test_expect 'recorded time lines: the events are those of vftr dump' '
	for f in real/*/*.vfd; do
		checks="$checks -- timeline $VFTR $f"
	done
	compared
	is "$(ls real/*/*.vfd | wc -l)" "$(wc -l <values)"'

test_expect 'a program in C: the same, and the tree knows its paths' '
	cc_traced "$BIN/end" "$T/hook/app-end.c"
	mkdir c && cd c
	status_of 3 traced -q -k sampling.active=true -k sampling.sample_interval=0 -- "$BIN/end" exit3
	checks="-- timeline $VFTR $(echo end_*.vfd)"
	same_everywhere end_all.json .
	python3 - <<"END"
import vftr
run = vftr.open(".")
leaf = [n for n in run.walk() if n.path == "leaf<work<outer<main<init"][0]
assert leaf.calls == 10 and leaf.parent.function == "work" and leaf in leaf.parent.children
assert leaf.parent.parent.parent.parent == run.roots[0] and run.roots[0].function == "init"
entered = [e for e in run.timeline() if e["event"] == "call" and e["path"] == leaf.path]
assert len(entered) == 10, entered
assert all(e["thread"] == 0 and e["pid"] > 1 for e in entered)
late = entered[5]["t_ns"]
part = [e["t_ns"] for e in run.timeline(start="%dns" % late)]
assert part and min(part) >= late, part
END
'

test_expect 'OpenMP, with all threads: the same' '
	cc_traced "$BIN/tree" "$T/openmp/app-openmp-tree.c" -fopenmp
	traced -q -k profile_table.threads=all -k sampling.active=true -- "$BIN/tree" seed >told
	[ "$(json tree_all.json ".openmp | length")" -gt 0 ]
	[ "$(json tree_all.json "[.each_thread[].stacks[]] | length")" -gt 0 ]
	checks="-- timeline $VFTR $(echo tree_*.vfd)"
	same_everywhere tree_all.json tree_all.json'

for mpi in $(mpi_list_short); do
	export mpi
	test_expect "messages of $mpi: the same, and sums by path, by pair and by rank are equal" '
		mpicc_traced $mpi "$BIN/traffic" "$T/mpi/program/app-mpi-traffic.c"
		mkdir $mpi && cd $mpi
		traced -q -k mpi.match=true -k sampling.active=true -- $(mpirun_of $mpi) -np 4 "$BIN/traffic"
		checks="-- timeline $VFTR $(echo traffic_*.vfd)"
		same_everywhere traffic_all.json .
		python3 - <<"END"
import vftr
run = vftr.open("traffic_all.json")
assert len(run.ranks) == 4 and sum(run.pairs.column("bytes_sent")) > 0
for column in ("sends", "bytes_sent", "recvs", "bytes_received"):
    assert sum(run.ranks.column(column)) == sum(run.pairs.column(column)), column
assert any(e["event"] == "message" and e["peer"] >= 0 for e in run.timeline(ranks="1"))
assert {e["rank"] for e in run.timeline(ranks="1")} == {1}
END
		"$VFTR" export -f sqlite . -o m.sqlite
		python3 - >got <<"END"
import sqlite3
db = sqlite3.connect("m.sqlite")
for q in ("SELECT sum(bytes_sent) FROM ranks", "SELECT sum(bytes_sent) FROM pairs",
          "SELECT sum(sends) FROM messages", "SELECT sum(calls) FROM stacks"):
    print(db.execute(q).fetchone()[0])
END
		json traffic_all.json "([.communication_matrix[].bytes_sent] | add | ., .),
			([.mpi[].sends] | add), ([.stacks[].calls] | add)" | diff - got'
done
[ -n "$(mpi_list)" ] || test_skip 'messages' 'no MPI'

test_expect 'several nodes: no processes in the profile, so what each rank did is not known' '
	"$VFTR" collate -b app -o . real/mpi >log
	python3 - <<"END"
import vftr
ranks = vftr.open("app_all.json").ranks
assert ranks.column("host") == ["node1", "node1", "node2", "node2"], ranks.column("host")
assert set(ranks.column("calls")) == {None} and sum(ranks.column("sends")) > 0
END
'

test_expect 'ranks that go round the nodes: places with a step, the same host of each rank everywhere' '
	jq -c ".places = [{host: \"node1\", first: 0, last: 2, step: 2}, {host: \"node2\", first: 1, last: 3, step: 2}]" \
		app_all.json >turn_all.json
	same_everywhere turn_all.json turn_all.json
	is "node1 node2 node1 node2" "$(python3 -c "
import vftr
print(*vftr.open(\"turn_all.json\").ranks.column(\"host\"))")"'

test_expect 'a matrix of groups of ranks: what a rank has sent is not known, to neither' '
	jq -c ".communication_matrix_ranks = 2" app_all.json >groups_all.json
	same_everywhere groups_all.json groups_all.json
	is "null 0" "$(python3 -c "
import json, vftr
r = vftr.open(\"groups_all.json\").ranks
print(json.dumps(r[0][\"sends\"]), r[0][\"rank\"])")"'

for mpi in $(mpi_list_short); do
	export mpi
	test_expect "$mpi: two jobs in a run: each rank of both has its row, and all messages are those of one" '
		mkdir two-$mpi && cd two-$mpi
		traced -q -k mpi.match=true -k sampling.active=true -k sampling.sample_interval=0 -- sh -c "$(mpirun_of $mpi) -np 4 $BIN/traffic && $(mpirun_of $mpi) -np 2 $BIN/traffic"
		same_everywhere *_all.json .
		python3 - <<"END"
import vftr
run = vftr.open(".")
assert run.summary["ranks"] in (2, 4) and len(run.ranks) == 6, run.summary
assert list(run.ranks.column("rank")) == list(range(6)) and all(run.ranks.column("calls"))
for column in ("sends", "bytes_sent", "recvs", "bytes_received"):
    assert sum(run.ranks.column(column)) == sum(run.pairs.column(column)), column
END
		"$VFTR" export -f sqlite . -o m.sqlite
		is 6 "$(python3 -c "
import sqlite3
print(sqlite3.connect(\"m.sqlite\").execute(\"SELECT count(calls) FROM ranks\").fetchone()[0])")"'
	test_expect "$mpi: the time line has the ranks of both by the same numbers" '
		cd two-$mpi
		"$VFTR" export . -f folded -o folded
		seq 0 5 | sed "s/^/rank /" >wanted
		cut -d";" -f 1 folded | uniq | diff wanted -
		"$VFTR" export . -f chrome -o chrome
		jq -r ".traceEvents[] | select(.name == \"process_name\") |
			\"\(.args.name | match(\"^rank ([0-9]+) .*pid ([0-9]+)\").captures | map(.string) | join(\" \")) \(.pid)\"" chrome |
			sort >shown
		json *_all.json ".each_process[] | \"\(.rank) \(.pid) \(.rank)\"" | sort | diff - shown
		"$VFTR" export . --ranks 4-5 -f folded -o - | cmp - "$(grep "^rank [45];" folded >some; echo some)"
		"$VFTR" critical-path --json --rank 5 . >json'
done

test_expect 'a folder: its newest profile, with the sampling files of that run' '
	mkdir folder
	cp real/end/app_vm.vfd folder/new_vm.vfd
	cp real/fork/app_vm.vfd folder/old_vm.vfd
	for name in old new; do
		"$VFTR" collate -b app -o . real/end >log
		mv app_all.json folder/${name}_all.json
	done
	touch -d "1 hour ago" folder/old_all.json
	is "folder/new_all.json folder/new_vm.vfd" "$(python3 -c "
import vftr
run = vftr.open(\"folder\")
print(run.path, *run.traces)")"
	mkdir layout
	cp folder/new_all.json layout/profile.json
	cp real/end/app_vm.vfd layout/vm.vfd
	cp real/end/app_vm.vfd layout/other_vm.vfd
	cp folder/old_all.json folder/new.round1_all.json
	is folder/new_all.json "$(python3 -c "import vftr; print(vftr.open(\"folder\").path)")"
	mkdir both
	cp folder/*.vfd both
	one_sentence "both: sampling files of several runs" python3 "$PYTHONPATH/vftr.py" both
	is "layout/profile.json layout/vm.vfd" "$(python3 -c "
import vftr
run = vftr.open(\"layout\")
print(run.path, *run.traces)")"
	vftr_py layout >top
	has top outer
	"$VFTR" export -f sqlite layout
	[ -s layout/profile.sqlite ]
	"$VFTR" run -q --trace -o ran -- "$BIN/end" exit3 || [ $? = 3 ]
	checks="-- timeline $VFTR $(echo ran/*.vfd)"
	same_everywhere ran/profile.json ran'

test_expect 'a folder without a profile: one sentence, which says what to do' '
	mkdir empty
	one_sentence "empty: neither a profile" python3 "$PYTHONPATH/vftr.py" empty
	one_sentence "vftr collate real/rma" python3 "$PYTHONPATH/vftr.py" real/rma
	one_sentence "makes of all of a run one profile" python3 "$PYTHONPATH/vftr.py" real/rma/app_vm.vfp
	one_sentence "nowhere: No such file" python3 "$PYTHONPATH/vftr.py" nowhere
	one_sentence "open the profile" python3 "$PYTHONPATH/vftr.py" real/end/app_vm.vfd
	one_sentence "there are no sampling files" python3 -c "
import sys, vftr
try:
    vftr.open(\"groups_all.json\").timeline()
except vftr.Error as e:
    sys.exit(print(e) or 2)"'

test_expect 'the command line: the ten functions with most time, a table, their names' '
	vftr_py c/end_all.json >top
	json c/end_all.json ".functions | sort_by(-.t_excl_s)[:10][] | .function" >wanted
	sed 1d top | awk "{ print \$4 }" | sort >got
	sort wanted | diff - got
	is "$(head -n 1 wanted)" "$(awk "NR == 2 { print \$4 }" top)"
	vftr_py --csv functions c/end_all.json >csv
	is "$(json c/end_all.json ".functions | length")" "$(sed 1d csv | wc -l)"
	is function,calls,t_incl_s,t_excl_s,stacks,file,line "$(head -n 1 csv)"
	vftr_py --tables c >tables
	for name in stacks functions messages pairs ranks communicators; do
		grep -q "^$name  *[0-9]*$" tables || { echo "no $name"; exit 1; }
	done
	one_sentence "there is no table \`nothing" python3 "$PYTHONPATH/vftr.py" --csv nothing c
	vftr_py --help | grep -q -e --csv
	vftr_py --csv stacks c/end_all.json | head -n 1 >line
	[ -s line ]'

test_expect 'without pandas, dataframe() says that it is missing' '
	python3 -c "
import sys
sys.modules[\"pandas\"] = None
import vftr
try:
    vftr.open(\"c\").stacks.dataframe()
except vftr.Error as e:
    print(e)" >said
	is "dataframe() needs pandas, which is not installed here" "$(cat said)"'

test_expect 'no module of others is wanted' '
	python3 -S -E -I -c "
import sys
sys.path.insert(0, \"$PYTHONPATH\")
import vftr"
	python3 -c "
import ast, sys
for node in ast.walk(ast.parse(open(\"$PYTHONPATH/vftr.py\").read(), feature_version=(3, 8))):
    names = [a.name for a in node.names] if isinstance(node, ast.Import) else \
        [node.module] if isinstance(node, ast.ImportFrom) else []
    for name in names:
        assert name == \"pandas\" or name.split(\".\")[0] in getattr(
            sys, \"stdlib_module_names\", [name.split(\".\")[0]]), name"'

# refuse_both WORDS WORDS FILE: by vftr.py, by vftr export, which leaves nothing behind
refuse_both() {
	one_sentence "$3: $1" python3 "$PYTHONPATH/vftr.py" "$3"
	one_sentence "$3: $2" "$VFTR" export -f sqlite "$3" -o refused.sqlite
	is "" "$(ls | grep refused)"
}

# py_refuses FILE...: vftr.py says one sentence of each, all in one python
py_refuses() {
	limit python3 - "$@" <<"END"
import contextlib, io, sys
import vftr
for path in sys.argv[1:]:
    with contextlib.redirect_stderr(io.StringIO()) as said:
        status = vftr._main([path])
    said = said.getvalue()
    assert status == 2 and said.startswith("vftr.py: %s: " % path) and said.count("\n") == 1, (path, said)
END
}

# sql_refuses FILE: so does vftr export, which leaves nothing behind
sql_refuses() {
	one_sentence "$1: " "$VFTR" export -f sqlite "$1" -o refused.sqlite
	is "" "$(ls | grep refused)"
}

test_expect 'other formats, other versions and other JSON are refused in one sentence' '
	jq -c ".version = 2" c/end_all.json >bad.json
	refuse_both "version 2" "line 1: a version" bad.json
	jq -c ".version = \"1\"" c/end_all.json >bad.json
	refuse_both "version 1" "line 1: a version" bad.json
	jq -c ".format = \"vftr-sampling\"" c/end_all.json >bad.json
	refuse_both "no profile of vftr" "line 1: it is JSON, but" bad.json
	"$VFTR" dump --json real/end/app_vm.vfd >bad.json
	refuse_both "no profile of vftr" "line 2: it is JSON, but" bad.json
	n=0
	for text in "{}" "[]" "7" "" "no JSON" "{\"format\":\"vftr-profile\",\"version\":1}" \
		"{\"format\":\"vftr-profile\",\"version\":1,\"stacks\":[]} more"; do
		n=$((n + 1))
		printf "%s" "$text" >bad-$n.json
		sql_refuses bad-$n.json
	done
	py_refuses bad-[1-7].json
	cp "$VFTR" bad.json
	refuse_both "" "" bad.json'

test_expect 'a profile cut short anywhere is refused in one sentence' '
	jq -c . c/end_all.json >whole.json
	for config in "" "$T/golden/all.json"; do
		VFTR_CONFIG=$config "$VFTR" collate -b app -o . real/cuda >log
		python3 - app_all.json <<"END"
import io, os, sys
import vftr
whole = open(sys.argv[1]).read()
vftr.open(sys.argv[1])
# the short form cuts at fewer bytes
for n in range(1, len(whole.rstrip()), 7 if os.environ.get("VFTR_LONG") else 59):
    for chunk in (1, 1 << 20) if n % (3 if os.environ.get("VFTR_LONG") else 9) == 0 else (1 << 20,):
        vftr._Stream.CHUNK = chunk
        with open("cut.json", "w") as f:
            f.write(whole[:n])
        try:
            vftr.open("cut.json")
        except vftr.Error as e:
            assert str(e).startswith("cut.json: ") and "\n" not in str(e), e
        else:
            sys.exit("cut at %d: read" % n)
END
	done
	size=$(wc -c <whole.json)
	for part in 2 3 5 7 11; do
		head -c $((size * (part - 1) / part)) whole.json >cut-$part.json
		one_sentence "cut-$part.json: line 1" "$VFTR" export -f sqlite cut-$part.json -o refused.sqlite
		is "" "$(ls | grep refused)"
	done
	py_refuses cut-*.json
	refuse_both "line 1" "line 1" cut-2.json'

test_expect 'a profile of single characters is read as one of a whole' '
	python3 - c/end_all.json <<"END"
import sys
import vftr
whole = vftr.open(sys.argv[1])
for chunk in (1, 2, 3, 7, 64, 1000):
    vftr._Stream.CHUNK = chunk
    parts = vftr.open(sys.argv[1])
    assert parts.summary == whole.summary
    for name in whole.tables():
        assert list(parts.table(name)) == list(whole.table(name)), (chunk, name)
END
'

test_expect 'hostile profiles are refused in one sentence, wherever they are opened or walked' '
	python3 - c/end_all.json <<"END"
import json, sys
import vftr
with open(sys.argv[1]) as f:
    good = f.read()
def text_of(change):
    raw = json.loads(good)
    change(raw)
    return json.dumps(raw)
def stack(**members):
    return lambda raw: raw["stacks"][1].update(members)
def loop(raw):
    raw["stacks"][0]["parent"], raw["stacks"][1]["parent"] = 1, 0
hostile = {
    "an id that is another": text_of(stack(id=7)), "no id": text_of(stack(id=None)),
    "true for an id": text_of(stack(id=True)), "a text for calls": text_of(stack(calls="9")),
    "no such caller": text_of(stack(parent=10 ** 6)), "below the root": text_of(stack(parent=-2)),
    "a huge caller": text_of(stack(parent=1 << 70)), "its own caller": text_of(stack(parent=1)),
    "a circle": text_of(loop), "a list for a time": text_of(stack(t_excl_s=[])),
    "a text for a row": text_of(lambda raw: raw["stacks"].append("x")),
    "stacks no list": text_of(lambda raw: raw.update(stacks={})),
    "no functions": text_of(lambda raw: raw.pop("functions")),
    "a function without calls": text_of(lambda raw: raw["functions"][0].pop("calls")),
    "messages of nobody": text_of(lambda raw: raw["mpi"].append({"id": 10 ** 9})),
    "too many ranks": text_of(lambda raw: raw.update(ranks=1 << 60)),
    "a place without end": text_of(lambda raw: raw["places"].append(
        {"host": "h", "first": 0, "last": 1 << 62})),
    "a place with a text for a step": text_of(lambda raw: raw["places"].append(
        {"host": "h", "first": 0, "last": 1, "step": "2"})),
    "a place without a name": text_of(lambda raw: raw["places"].append({"first": 0, "last": 1})),
    "pairs without bytes": text_of(lambda raw: raw["communication_matrix"].append(
        {"from": 0, "to": 0})),
    "no number": good.replace("\"calls\":10,", "\"calls\":NaN,"),
    "endless": good.replace("\"calls\":10,", "\"calls\":-Infinity,"),
    "deep": good.replace("\"warnings\":[]", "\"warnings\":" + "[" * 10 ** 6),
    "deep objects": good.replace("\"warnings\":[]", "\"warnings\":" + "{\"a\":" * 10 ** 5),
    "digits": good.replace("\"calls\":10,", "\"calls\":" + "9" * 10 ** 6 + ","),
    "no UTF-8": good.replace("leaf", "\udcff"), "half a name": good.replace("\"id\"", "\"id", 1),
    "a comma too many": good.replace("\"dead\":[]", "\"dead\":[,]"),
}
for name, text in hostile.items():
    assert text != good, name
    with open("hostile.json", "w", errors="surrogateescape") as f:
        f.write(text)
    try:
        run = vftr.open("hostile.json")
        run.hatchet_literal()
        for table in run.tables():
            list(run.table(table))
    except vftr.Error as e:
        assert str(e).startswith("hostile.json: ") and "\n" not in str(e), (name, e)
        assert len(str(e)) < 300, (name, str(e)[:400])
        print("%s: %s" % (name, e))
    else:
        sys.exit("%s: read" % name)
END
	one_sentence "hostile.json: " python3 "$PYTHONPATH/vftr.py" hostile.json'

test_expect 'a member, a column or a value that nobody knows yet is in the tables, exactly' '
	jq -c ".new_table = [{a: 1, b: {c: [1, {d: null}]}}, {a: \"x\", e: 1.5, \"f \\\"g\": true}, [3, [4]]] |
		.new_object = {x: 1, y: {z: [true, \"\"]}} | .stacks[2].new = 3 |
		.stacks[3].calls = 18446744073709551615 | .stacks[4].calls = 9007199254740993" \
		c/end_all.json >new_all.json
	sed -i "s/18446744073709552000/18446744073709551615/; s/9007199254740992/9007199254740993/" new_all.json
	jq . new_all.json >/dev/null
	"$VFTR" export -f sqlite new_all.json -o new.sqlite
	python3 "$SAME" python new_all.json -- sql new_all.json new.sqlite'

test_expect 'a sampling file that is damaged gives its events and a warning; one that is none, a sentence' '
	cp real/mpi/app_node1.vfd damaged_x.vfd
	printf "\377\377\377" | dd of=damaged_x.vfd bs=1 seek=3000 conv=notrunc 2>dd
	python3 -c "
import vftr
print(len(list(vftr.open(\"damaged_x.vfd\").timeline())))" >got 2>said
	[ "$(cat got)" -gt 10 ]
	has said "are left out"
	head -c 30 real/mpi/app_node1.vfd >damaged_x.vfd
	one_sentence "damaged_x.vfd" python3 -c "
import sys, vftr
try:
    list(vftr.open(\"damaged_x.vfd\").timeline())
except vftr.Error as e:
    sys.exit(print(e) or 2)
sys.exit(print(\"damaged_x.vfd: read\") or 2)"
	one_sentence "is not found" env VFTR= PATH=/nowhere "$(python3 -c "import sys; print(sys.executable)")" -c "
import sys, vftr
try:
    list(vftr.open(\"real/mpi/app_node1.vfd\").timeline())
except vftr.Error as e:
    sys.exit(print(e) or 2)"'

test_expect 'several sampling files: one time line, in the order of time' '
	python3 -c "
import vftr
events = list(vftr.open(\"real/mpi\").timeline())
times = [e[\"t_ns\"] for e in events]
assert times == sorted(times) and {e[\"host\"] for e in events} == {\"node1\", \"node2\"}"'

test_expect 'files of two events of the flight recorder are not put together, as they tell calls twice' '
	mkdir events
	cp c/end_all.json events/profile.json
	cp real/mpi/app_node1.vfd events/node1-slow40.vfd
	cp real/mpi/app_node1.vfd events/node1-slow70.vfd
	one_sentence "are of several events (slow40, slow70): open those of one" python3 -c "
import sys, vftr
try:
    list(vftr.open(\"events\").timeline())
except vftr.Error as e:
    sys.exit(print(e) or 2)"
	python3 -c "
import vftr
print(len(list(vftr.open(\"events/node1-slow40.vfd\").timeline())))" >got
	[ "$(cat got)" -gt 10 ]
	# a run whose name is like that of an event
	for k in 1 2; do
		cp real/mpi/app_node$k.vfd events/fft_signal2d_node0$k.vfd
	done
	mv events/profile.json events/fft_signal2d_all.json
	python3 -c "
import vftr
print(len(list(vftr.open(\"events/fft_signal2d_all.json\").timeline())))" >got
	[ "$(cat got)" -gt 10 ]'

test_expect 'node profiles that are named twice count once, and those of two runs make no database' '
	mkdir one two
	cp real/end/app_vm.vfp one/vm.vfp
	cp real/fork/app_vm.vfp two/vm.vfp
	ln -s one last
	one_sentence "one/vm.vfp and two/vm.vfp are node profiles of two runs" \
		"$VFTR" export -f sqlite one/vm.vfp two/vm.vfp -o two.sqlite
	[ ! -e two.sqlite ]
	one_sentence "are node profiles of two runs" "$VFTR" export -f sqlite c/end_*.vfp real/fork/app_vm.vfp
	calls() { python3 -c "
import sqlite3, sys
print(sqlite3.connect(sys.argv[1]).execute(\"SELECT sum(calls) FROM stacks\").fetchone()[0])" "$1"; }
	"$VFTR" export -f sqlite one/vm.vfp -o once.sqlite
	"$VFTR" export -f sqlite one/vm.vfp ./one/vm.vfp last/vm.vfp -o twice.sqlite 2>said
	is 1 "$(grep -c "is named twice, and counts once" said)"
	is "$(calls once.sqlite)" "$(calls twice.sqlite)"'

test_expect 'sqlite: what it is given besides a profile is refused' '
	one_sentence "not with --ranks" "$VFTR" export -f sqlite c --ranks 1
	one_sentence "not with --ranks" "$VFTR" export -f sqlite c --sum
	one_sentence "not with --ranks" "$VFTR" export -f sqlite c --round 1
	one_sentence "standard output" "$VFTR" export -f sqlite c -o -
	one_sentence "name a directory or a profile" "$VFTR" export -f sqlite
	one_sentence "empty: neither" "$VFTR" export -f sqlite empty
	one_sentence "nowhere: No such file" "$VFTR" export -f sqlite nowhere
	one_sentence "a sampling file: name the profile" "$VFTR" export -f sqlite real/end/app_vm.vfd
	one_sentence "choose one with --base" "$VFTR" export -f sqlite folder
	one_sentence "several files are node profiles" "$VFTR" export -f sqlite real/rma/app_vm.vfp c/end_all.json
	one_sentence "no/such/folder.sqlite: can" "$VFTR" export -f sqlite c -o no/such/folder.sqlite
	mkdir taken.sqlite
	one_sentence "taken.sqlite: can" "$VFTR" export -f sqlite c -o taken.sqlite
	"$VFTR" export -f sqlite folder --base old
	[ -s folder/old.sqlite ]
	is "" "$(ls | grep "tmp.vftr")"'

test_expect 'sqlite: an older file is replaced as a whole, the default name is that of the run' '
	echo "no database" >c/end.sqlite
	"$VFTR" export -f sqlite c
	python3 "$SAME" sql c/end_all.json c/end.sqlite
	is "" "$(ls c | grep "tmp.vftr")"'

test_expect 'sqlite: without the library, or with another one of its name, a sentence' '
	mkdir none other
	echo none >none/libsqlite3.so.0
	one_sentence "libsqlite3-0" env LD_LIBRARY_PATH=none "$VFTR" export -f sqlite c -o no.sqlite
	echo "int nothing;" | gcc -shared -fPIC -x c - -o other/libsqlite3.so.0
	one_sentence "no function sqlite3" env LD_LIBRARY_PATH=other "$VFTR" export -f sqlite c -o no.sqlite
	is "" "$(ls | grep "^no.sqlite")"'

test_expect 'sqlite: thousands of columns or tables are refused, and nothing remains' '
	jq -c ".dead = [[range(2500) | {key: \"c\\(.)\", value: 1}] | from_entries]" c/end_all.json >wide.json
	one_sentence "too many columns" "$VFTR" export -f sqlite wide.json -o w.sqlite
	jq -c ". + ([range(2500) | {key: \"t\\(.)\", value: []}] | from_entries)" c/end_all.json >wide.json
	one_sentence "more than 1000 tables" "$VFTR" export -f sqlite wide.json -o w.sqlite
	jq -c ".warnings = [[range(9) | {a: 1, A: 2}]]" c/end_all.json >wide.json
	one_sentence "duplicate column" "$VFTR" export -f sqlite wide.json -o w.sqlite
	is "" "$(ls | grep "^w.sqlite")"'

test_if 'echo "#include <sqlite3.h>" | gcc -fsyntax-only -x c -' 'no headers of SQLite' \
	'sqlite: prototypes and constants are those of its header' '
	cat >api.c <<"END"
#include <sqlite3.h>
#include "nodeagent/export/sqlite-api.h"
static struct sqlite_api api;
#define SAME(result, name, symbol, parameters) \
	_Static_assert(__builtin_types_compatible_p(__typeof__(api.name), __typeof__(&symbol)), #symbol);
SQLITE_FUNCTIONS(SAME)
#define EQUAL(name, symbol, value) _Static_assert((int)OUR_SQL_##name == (int)(symbol), #symbol);
SQLITE_CONSTANTS(EQUAL)
END
	gcc -fsyntax-only -I"$TOP" api.c'

# Both times are made side by side, of a CPU: it is 0.6 to 0.75 of what json.load() takes. Of the 10^6
# of the long form that would want 5 GB: they are compared with 20 times 50 000.
PATHS=50000
[ -z "$VFTR_LONG" ] || PATHS=1000000
export PATHS
test_expect "$PATHS call paths are read by vftr.py about as fast as by json.load(), and made a database" '
	python3 "$T/tool/make-paths.py" $PATHS >big_all.json
	python3 "$T/tool/make-paths.py" 50000 >some_all.json
	ls -l big_all.json
	limit python3 - <<"END"
import json, os, resource, statistics, time
import vftr
n = int(os.environ["PATHS"])

def load():
    with open("some_all.json") as f:
        return json.load(f)

def spent(what):
    cpu = time.process_time()
    what()
    return time.process_time() - cpu

ratios = []
for i in range(3 if n > 50000 else 5):
    json_s, ours_s = spent(load) * n / 50000, spent(lambda: vftr.open("big_all.json"))
    ratios.append(ours_s / json_s)
run = vftr.open("big_all.json")
assert len(run.stacks) == n and run.stacks[n - 1]["id"] == n - 1
assert sum(1 for _ in run.walk()) == n
calls = sum(run.stacks.column("calls"))
print("# %d call paths, %.0f MB: %.1f s of the CPU, json.load() %.1f s; %.0f MB of memory" % (
    n, os.stat("big_all.json").st_size / 1e6, ours_s, json_s,
    resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3))
assert statistics.median(ratios) < 1.5, ratios
END
	start=$(date +%s)
	limit "$VFTR" export -f sqlite big_all.json -o big.sqlite
	echo "# the database: $(($(date +%s) - start)) s, $(wc -c <big.sqlite) bytes"
	python3 -c "
import sqlite3, vftr
run, db = vftr.open(\"big_all.json\"), sqlite3.connect(\"big.sqlite\")
for table, column in ((\"stacks\", \"calls\"), (\"functions\", \"calls\"), (\"stacks\", \"id\")):
    total, = db.execute(\"SELECT sum(%s) FROM %s\" % (column, table)).fetchone()
    assert total == sum(run.table(table).column(column)), column
n, = db.execute(\"SELECT count(*) FROM functions_stacks\").fetchone()
assert n == len(run.stacks)"'
grep '^# ' "$VFTR_TEST_DIR/output"

done_testing
