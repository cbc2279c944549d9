#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Command line, directory, time, tags, node and executables, in all files that tell of a run.
test_description='results say how, when, where and of what they were made'
. "$(dirname "$0")/../lib/lib.sh"
need jq python3
need_built "$AGENT" "$VFTR" "$LIB/libvftrace.so"
unset VFTR_SET
PYTHONPATH=$TOP/packaging/python
PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH PYTHONDONTWRITEBYTECODE
cc_traced "$BIN/end" "$T/hook/app-end.c" || { echo 'Bail out! app-end.c cannot be compiled'; exit 1; }
HOST=$(hostname | cut -d. -f1)
# a word with blanks and quotes, one with a newline, one that no terminal should see
HOSTILE=$(printf '\033[31m\377')
NEWLINE=$(printf 'two\nlines')
export HOSTILE NEWLINE

# started JSON EXPRESSION: of the member
started() {
	jq -r ".started | $2" "$1"
}

test_expect 'vftr run: command line, directory, time, batch job' '
	began=$(date +%s)
	mkdir "a folder" && cd "a folder"
	PBS_JOBID=12.server TZ=Asia/Kolkata status_of 3 limit "$VFTR" run -q -o ../run -- "$BIN/end" exit3 "it'\''s" "" \
		"$NEWLINE" "$HOSTILE"
	cd ..
	jq -c .started run/profile.json
	jq -n --arg program "$BIN/end" --arg newline "$NEWLINE" \
		"[\$program, \"exit3\", \"it'\''s\", \"\", \$newline, \"\\u001b[31m\\ufffd\"]" >wanted
	jq .started.command run/profile.json | diff wanted -
	is "run $PWD/a folder 12.server {}" "$(started run/profile.json \
		"\"\(.command_of) \(.directory) \(.job) \(.tags)\"")"
	utc=$(started run/profile.json .utc_s)
	[ "$utc" -ge "$began" ]
	[ "$utc" -le "$(date +%s)" ]
	is "$(TZ=Asia/Kolkata date -d "@$utc" +%Y-%m-%dT%H:%M:%S+05:30)" "$(started run/profile.json .time)"
	is false "$(started run/profile.json "has(\"command_left_out\")")"'

test_expect 'the logs of that layout say it at their top, on lines that a terminal can show' '
	for log in run/summary.log run/node-$HOST.log; do
		head -n 8 $log >head
		cat -A head
		grep -x "Run:        $(json run/profile.json .run)" head
		grep -F "Command:    $BIN/end exit3 " head
		grep -E "^Started:    [-0-9]+T[0-9:]+\+05:30 in $PWD/a folder, batch job 12.server\$" head
		grep -E "^Nodes:      1 x .*, $(getconf _NPROCESSORS_ONLN) CPUs?, [0-9.]+ GiB: 1 process, 1 thread\$" head
		is "" "$(tr -d "\n[:print:]" <head)" "bytes that are not printable"
		[ "$(wc -L <head)" -le 120 ]
	done
	hasnt run/summary.log "Tags:"'

test_expect 'the layout of Vftrace says it in the JSON file only' '
	traced -q --tag a=1 -- "$BIN/end" return
	is "$BIN/end return" "$(started end_all.json ".command | join(\" \")")"
	is 1 "$(started end_all.json .tags.a)"
	for log in end_all.log end_node_*.log; do
		is "" "$(grep -E "^(Command|Started|Nodes|Tags|Run):" $log)"
	done'

test_expect 'the node: CPU, memory, kernel' '
	awk -F": " "/^model name/ { print \$2; exit }" /proc/cpuinfo >model
	[ ! -s model ] || is "$(cat model)" "$(json run/profile.json ".agents[0].cpu_model")"
	is "$HOST $(getconf _NPROCESSORS_ONLN) 1 1 Linux $(uname -r)" "$(json run/profile.json ".agents[0] |
		\"\(.host) \(.cpus) \(.processes) \(.threads) \(.kernel)\"")"
	is $(($(getconf _PHYS_PAGES) * $(getconf PAGESIZE))) "$(json run/profile.json ".agents[0].memory_bytes")"'

test_if 'command -v readelf' 'no readelf' 'the executable: its build-id and compiler, also where it was replaced' '
	cp "$BIN/end" mine
	id=$(readelf -n mine | sed -n "s/.*Build ID: //p")
	limit "$VFTR" run -q -o builds -- ./mine return
	is "1 $PWD/mine $id" "$(json builds/profile.json "\"\(.builds | length) \(.builds[0] | .path + \" \" + .build_id)\"")"
	readelf -p .comment mine | sed -n "s/^ *\[ *[0-9a-f]*\]  *//p" | paste -sd ";" | sed "s/;/; /g" >wanted
	cat wanted
	[ -s wanted ]
	is "$(cat wanted)" "$(json builds/profile.json ".builds[0].compiler")"
	limit "$VFTR" run -q -o replaced -- sh -c "./mine return; rm mine; echo other >mine"
	is "$id" "$(json replaced/profile.json ".builds[] | select(.path | endswith(\"/mine\")) | .build_id")"'

test_expect 'a command line that is left out is in no file' '
	limit "$VFTR" run -q -o secret -k output.command_line=false --trace -- "$BIN/end" return s3cret-word
	is "false false true" "$(started secret/profile.json \
		"[has(\"command\", \"command_of\", \"directory\")] | map(tostring) | join(\" \")")"
	is "" "$(grep -rla s3cret-word secret)" "files with it"
	limit "$VFTR" run -q -o open --trace -- "$BIN/end" return s3cret-word
	grep -qa s3cret-word open/$HOST.vfp open/profile.json open/summary.log'

test_expect 'a long command line is cut, and says by how many words' '
	limit "$VFTR" run -q -o long -- "$BIN/end" return $(seq 10000 11999)
	n=$(started long/profile.json ".command | length")
	is 2002 $((n + $(started long/profile.json .command_left_out)))
	is "return 10000" "$(started long/profile.json ".command[1:3] | join(\" \")")"
	[ "$n" -gt 100 ]
	[ "$n" -lt 1000 ]
	[ "$(wc -c <long/$HOST.vfp)" -lt 20000 ]
	grep "^Command: .*\.\.\.\$" long/summary.log'

test_expect 'tags: of the command line, which win, and of the configuration' '
	echo "{\"output\": {\"tags\": \"case=file,machine=file\"}}" >conf.json
	limit "$VFTR" run -q -c conf.json --tag case=small --tag "note=a, b=c" --tag empty= -o tags -- "$BIN/end" return
	echo "{\"case\":\"small\",\"empty\":\"\",\"machine\":\"file\",\"note\":\"a, b=c\"}" >wanted
	jq -c .started.tags tags/profile.json | diff wanted -
	grep -F "Tags:       case=small empty= machine=file '\''note=a, b=c'\''" tags/summary.log
	VFTR_SET="output.tags=from=environment" limit "$VFTR" run -q -o tags2 -- "$BIN/end" return
	is environment "$(started tags2/profile.json .tags.from)"'

test_expect 'a tag of a bad form is refused in one sentence' '
	for bad in nothing =x "a b=c" "a=$(printf "%300s" x)" "a=$HOSTILE"; do
		status_of 125 limit "$VFTR" run --tag "$bad" -- "$BIN/end" return 2>said
		cat -v said
		is 1 "$(wc -l <said)" lines
		grep "^vftr: run: --tag: " said
	done
	status_of 125 limit "$VFTR" run -k output.tags=a -- "$BIN/end" return 2>said
	has said "output.tags: \"a\" is not a list of tags such as \"case=small,cpus=8\": \"a\" is not of the form KEY=VALUE"
	[ ! -e vftr-end-last ]'

test_expect 'vftr collate, export -f sqlite, vftr.py and diff tell the same' '
	cp -r tags again && rm again/profile.json again/summary.log
	"$VFTR" collate again
	for part in .started .builds .agents; do
		jq -c $part tags/profile.json >wanted
		jq -c $part again/profile.json | diff wanted -
	done
	grep "^Tags:  *case=small" again/summary.log
	"$VFTR" export -f sqlite again -o again.sqlite
	python3 - >got <<"END"
import sqlite3, vftr
db, run = sqlite3.connect("again.sqlite"), vftr.open("again")
def sql(question):
    return db.execute(question).fetchone()[0]
assert run.started["command"][-1] == "return" and run.tags["note"] == "a, b=c", run.started
assert sql("SELECT value FROM started WHERE key = '\''directory'\''") == run.started["directory"]
assert sql("SELECT value FROM started_tags WHERE key = '\''note'\''") == "a, b=c"
assert sql("SELECT count(*) FROM started_command") == len(run.started["command"])
assert sql("SELECT cpus FROM agents") == list(run.table("agents"))[0]["cpus"] > 0
assert sql("SELECT build_id FROM builds") == list(run.table("builds"))[0]["build_id"]
END
	"$VFTR" diff tags tags/$HOST.vfp >said
	is 2 "$(grep -cxF "   tags: case=small empty= machine=file '\''note=a, b=c'\''" said)"
	"$VFTR" diff -j tags tags/$HOST.vfp | jq -c ".a.tags, .b.tags" | sort -u >got
	is 1 "$(wc -l <got)"
	jq -c .started.tags tags/profile.json | diff got -
	hasnt run/summary.log tags:'

test_expect 'a profile of before, without any of it, is read as ever' '
	mkdir before
	gzip -dc "$T/golden/in/end-vm.vfp.gz" >before/app_vm.vfp
	"$VFTR" collate -b app -o before before
	is "false false false" "$(json before/app_all.json "[has(\"started\", \"builds\"), (.agents[0] | has(\"cpus\"))] |
		map(tostring) | join(\" \")")"
	python3 -c "
import vftr
run = vftr.open(\"before/app_all.json\")
assert run.started == {} and run.tags == {}"
	"$VFTR" diff before before >said
	hasnt said tags:'

test_expect 'a process that starts its agent tells its own command line' '
	export VFTR_AGENT="$AGENT"
	VFTR_SET="output.tags=form=embedded" limit "$BIN/end" return alone
	wait_for 20 "[ -s end_all.json ] && jq -e \".started.tags.form\" end_all.json"
	is "process $BIN/end return alone $PWD" "$(started end_all.json "\"\(.command_of) \(.command | join(\" \")) \(.directory)\"")"'

test_expect 'an agent beside the program has that of the first process' '
	mkdir beside there
	limit "$AGENT" -q -s beside-$$ -o beside --tag form=beside 2>err &
	me=$!
	wait_for 20 "[ -S \"\$VFTR_RUNTIME_DIR/beside-$$.sock\" ]"
	for n in 1 2; do
		(cd there && VFTR_SESSION=beside-$$ limit "$BIN/end" return $n)
	done
	wait $me
	is "process $BIN/end return 1 $PWD/there beside" "$(started beside/end_all.json \
		"\"\(.command_of) \(.command | join(\" \")) \(.directory) \(.tags.form)\"")"
	limit "$VFTR" collate beside
	limit "$AGENT" -q -s beside-$$ -o beside -k output.command_line=false 2>err &
	me=$!
	wait_for 20 "[ -S \"\$VFTR_RUNTIME_DIR/beside-$$.sock\" ]"
	VFTR_SESSION=beside-$$ limit "$BIN/end" return 3
	wait $me
	is "false $PWD" "$(started beside/end_all.json "\"\(has(\"command\")) \(.directory)\"")"'

for mpi in $(mpi_list); do
	export mpi
	test_expect "two ranks of $mpi: the command with its launcher; in a step, that of a task" '
		mpicc_traced $mpi "$BIN/paths" "$T/agent/app-paths.c" -DWITH_MPI -DFEW
		limit "$VFTR" run -q --tag mpi=$mpi -o $mpi -- $(mpirun_of $mpi) -np 2 "$BIN/paths" 20
		is "run $(mpirun_of $mpi) -np 2 $BIN/paths 20" "$(started $mpi/profile.json "\"\(.command_of) \(.command | join(\" \"))\"")"
		is "1 2 $mpi 1" "$(json $mpi/profile.json "\"\(.agents | length) \(.agents[0].processes) \(.started.tags.mpi) \(.builds | length)\"")"
		started $mpi/profile.json .mpi
		case $mpi in
		openmpi) is "Open MPI v$(ompi_info --version | sed -n "s/.* v//p")" "$(started $mpi/profile.json .mpi)" ;;
		mpich) is "MPICH Version: $(mpichversion | sed -n "s/^MPICH Version:[[:blank:]]*//p")" "$(started $mpi/profile.json .mpi)" ;;
		esac
		grep -F "MPI:        $(started $mpi/profile.json .mpi)" $mpi/summary.log
		grep -E "^Nodes:      1 x .*: 2 processes, [2-9] threads\$" $mpi/summary.log
		limit $(mpirun_of $mpi) -np 2 "$VFTR" run -q --in-step -o step.$mpi -- "$BIN/paths" 20
		is "task $BIN/paths 20" "$(started step.$mpi/profile.json "\"\(.command_of) \(.command | join(\" \"))\"")"
		grep -F "Command:    (of a task) $BIN/paths 20" step.$mpi/summary.log'
done
[ -n "$(mpi_list)" ] || test_skip 'two ranks' 'no MPI'

done_testing
