#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='vftr export: the same events in every format, read by others'
. "$(dirname "$0")/../lib/lib.sh"
need jq protoc otf2-print
need_built "$VFTR" "$BUILD/core.a"

# A track is 2 * rank + thread; the process without a rank has 8 and 9.
# Each reader below prints "B TRACK NAME", "E TRACK" and "M TRACK KIND" lines.
of_dump() {
	for f; do
		"$VFTR" dump --json "$f" | jq -r '
			(.processes | map({key: "\(.id)", value: .rank}) | from_entries) as $rank |
			(.threads | map({key: "\(.lane)", value: {stacks: (.stacks |
				map({key: "\(.id)", value: .function}) | from_entries),
				track: (.number + 2 * ($rank["\(.process)"] | if . < 0 then 4 else . end))}}) |
				from_entries) as $t | .events[] | $t["\(.lane)"] as $l |
			if .event == "call" then "B \($l.track) \($l.stacks["\(.stack)"])"
			elif .event == "exit" then "E \($l.track)"
			elif .event == "message" then "M \($l.track) \(.function // .kind)"
			else empty end'
	done | sed 's/^\(M [0-9]*\) recv$/\1 receive/; s/^\(M [0-9]*\) \(io\|file.*\)$/\1 write/'
}

of_perfetto() {
	protoc --decode perfetto.protos.Trace -I "$T/tool" "$T/tool/perfetto.proto" <"$1" >decoded
	awk '
	/^packet/ { type = track = name = iid = ""; n_iid = 0 }
	/^    event_names/ { in_names = 1 }
	in_names && /iid:/ { iid = $2 }
	in_names && / name:/ { sub(/^ *name: "/, ""); sub(/"$/, ""); names[iid] = $0; in_names = 0; next }
	/^    type:/ { type = $2 }
	/^    name_iid:/ { name = $2 }
	/^    track_uuid:/ { track = $2 - 4294967296 }
	/^    name:/ { sub(/^ *name: "/, ""); sub(/"$/, ""); text = $0 }
	/^}/ {
		track = int((track - 1))
		if (type == "TYPE_SLICE_BEGIN") print "B", track, names[name]
		if (type == "TYPE_SLICE_END") print "E", track
		if (type == "TYPE_INSTANT") print "M", track, text
	}' decoded
}

of_chrome() {
	jq -r '.traceEvents[] | (.tid - 1) as $t |
		if .ph == "B" then "B \($t) \(.name)" elif .ph == "E" then "E \($t)"
		elif .ph == "i" then "M \($t) \(.name)" else empty end' "$1"
}

of_speedscope() {
	jq -r '.shared.frames as $f | .profiles | to_entries[] | .key as $t | .value.events[] |
		if .type == "O" then "B \($t) \($f[.frame].name)" else "E \($t)" end' "$1"
}

of_otf2() {
	otf2-print "$1" | sed -n '
		s/^ENTER *\([0-9]*\) .*Region: "\(.*\)" <[0-9]*>$/B \1 \2/p
		s/^LEAVE *\([0-9]*\) .*$/E \1/p
		s/^MPI_I\{0,1\}SEND  *\([0-9]*\) .*/M \1 send/p
		s/^MPI_I\{0,1\}RECV  *\([0-9]*\) .*/M \1 receive/p
		s/^MPI_COLLECTIVE_END  *\([0-9]*\) .*/M \1 MPI_Allreduce/p'
}

of_paraver() {
	awk -F: 'FNR == 1 { file++ }
	file == 1 { if (/60000019/) on = 1; if (/50000001/) on = 0
		if (on && match($0, /^[0-9]+ +/)) name[$0 + 0] = substr($0, RLENGTH + 1); next }
	$1 == 2 && $7 == 60000019 {
		track = 2 * ($4 - 1) + $5 - 1
		below = depth[track] > 1 ? open[track, depth[track] - 1] : 0
		# an exit takes back the value of the caller
		if (depth[track] && $8 == below) { depth[track]--; print "E", track }
		else { open[track, ++depth[track]] = $8; print "B", track, name[$8] }
	}' "$1.pcf" "$1.prv"
}

# Values of counters, from each reader: "TRACK TIME VALUE NAME", numbers as people write them.
values() {
	awk '{ if ($3 !~ /^-?[0-9]+$/) $3 = sprintf("%.6g", $3); print }' | sort
}

values_of_dump() {
	for f; do
		"$VFTR" dump --json "$f" | jq -r '
			(.processes | map({key: "\(.id)", value: .rank}) | from_entries) as $rank |
			(.threads | map({key: "\(.lane)", value: (.number + 2 * ($rank["\(.process)"] |
				if . < 0 then 4 else . end))}) | from_entries) as $t |
			(.counters | map({key: "\(.id)", value: .name}) | from_entries) as $c |
			.events[] | select(.event == "counters") | . as $e | .values | to_entries[] |
			"\($t["\($e.lane)"]) \($e.t_ns) \(.value) \($c[.key])"'
	done | values
}

values_of_perfetto() {
	protoc --decode perfetto.protos.Trace -I "$T/tool" "$T/tool/perfetto.proto" <"$1" | awk '
	/^packet/ { type = track = value = "" }
	/^  timestamp:/ { time = $2 }
	/^    (uuid|track_uuid):/ { track = $2 }
	/^    name:/ { sub(/^ *name: "/, ""); sub(/"$/, ""); gsub(/\\"/, "\""); name[track] = $0 }
	/^    type:/ { type = $2 }
	/^    (double_)?counter_value:/ { value = $2 }
	/^}/ && type == "TYPE_COUNTER" { print track % 4294967296 - 1, time, value, name[track] }' | values
}

values_of_chrome() {
	jq -r '.traceEvents[] | select(.ph == "C") |
		"\((.id | tonumber) - 1) \(.ts * 1000 | round) \(.args.value) \(.name)"' "$1" | values
}

values_of_otf2() {
	otf2-print "$1" | sed -n 's/^METRIC  *//p' | awk '{
		track = $1; time = $2; sub(/^[^(]*/, "")
		for (n = split($0, part, /\), \(/); n; n--) {
			text = part[n]; gsub(/^\(|\)$/, "", text)
			value = text; sub(/.*; /, "", value)
			sub(/^"/, "", text); sub(/" <[0-9]+>; .*/, "", text)
			print track, time, value, text
		} }' | values
}

values_of_paraver() { # sums grow, what has a sign or a fraction has lost it
	awk -F: 'FNR == 1 { file++ }
	file == 1 { if (/^7  4210/) { split($0, w, " "); name[w[2]] = $0
		sub(/^7  [0-9]+ /, "", name[w[2]]); sub(/ \[.*/, "", name[w[2]]) }; next }
	$1 == 2 && $7 >= 42100000 && $7 < 42200000 { track = 2 * ($4 - 1) + $5 - 1
		for (i = 7; i < NF; i += 2) {
			sum = name[$i] ~ /instructions|PAPI/
			value[track, $i] = sum ? value[track, $i] + $(i + 1) : $(i + 1)
			printf "%d %d %d %s\n", track, $6, value[track, $i], name[$i]
		} }' "$1.pcf" "$1.prv" | sort
}

# Calls of each path on each track, and communications of each kind.
count() {
	sed 's/operator<.*/ODD/' | awk '
	$1 == "B" { t = $2; sub(/^B [0-9]+ /, ""); path[t, ++d[t]] = path[t, d[t]] "<" $0
		n[t " " path[t, d[t]]]++ }
	$1 == "E" { d[$2]--; if (d[$2] < 0) print "too many exits on", $2 }
	$1 == "M" { n[$2 " (" $3 ")"]++ }
	END { for (i in n) print n[i], i }' | sort
}

export_to() { # FORMAT OUT [OPTION...]
	"$VFTR" export in -f "$@" 2>messages
}

gcc $SANITIZE -std=gnu11 -D_GNU_SOURCE= -I"$TOP" -I"$BUILD/gen" -o make-vfd "$T/unit/trace/make-vfd.c" "$BUILD/core.a" \
	$AGENT_LIBS || { echo "Bail out! make-vfd.c"; exit 1; }
mkdir in gaps counted
./make-vfd in 20 whole && ./make-vfd gaps 20 && ./make-vfd counted 10 counted || { echo "Bail out! make-vfd"; exit 1; }
of_dump in/*.vfd >dump
count <dump >counts

test_expect 'the sample job is what it should be' '
	[ "$(grep -c . counts)" -gt 60 ]
	grep -qx "20 0 <main<solve<work<ODD" counts
	grep -qx "62 0 (send)" counts
	grep -qx "20 2 (MPI_Allreduce)" counts'

test_expect 'Perfetto: decoded by the schema, it has the same calls and communications' '
	export_to perfetto -o p
	of_perfetto p | count >got
	diff -U0 counts got
	hasnt decoded "15: "
	protoc --decode_raw <p >raw
	[ "$(grep -c "^1 {" raw)" = "$(grep -c "^packet {" decoded)" ]'

test_expect 'Perfetto: the flows are those of the messages, two ends each' '
	for f in in/*.vfd; do "$VFTR" dump --json $f; done | jq -r ".events[] | .flow // empty" |
		grep -v "^0*\$" | sort | uniq -c | sort >wanted
	export_to perfetto -o p
	of_perfetto p >/dev/null
	sed -n "s/^    flow_ids: //p" decoded | while read -r n; do printf "%016x\n" "$n"; done |
		sort | uniq -c | sort >got
	diff -U0 wanted got
	[ "$(awk "\$1 == 2" got | wc -l)" = 244 ]'

test_expect 'Perfetto: pids of two nodes are two processes, threads have names' '
	export_to perfetto -o p
	of_perfetto p >/dev/null
	[ "$(grep -c "process_name:" decoded)" = 5 ]
	[ "$(grep "^      pid:" decoded | sort -u | wc -l)" = 5 ]
	[ "$(grep "tid:" decoded | sort -u | wc -l)" = 10 ]
	has decoded "process_name: \"rank 2 (nodeB, pid 100) heat\""
	has decoded "thread_name: \"thread 1 OpenMP 1\""'

test_expect 'Chrome JSON: the same calls and communications, a start for each arrow' '
	export_to chrome -o c.json
	of_chrome c.json | count >got
	diff -U0 counts got
	[ "$(jq "[.traceEvents[] | select(.ph == \"s\" or .ph == \"f\") | .id] | group_by(.) |
		map(select(length == 2)) | length" c.json)" = 244 ]
	jq -e "[.traceEvents[] | select(.ph == \"f\") | .bp] | all(. == \"e\")" c.json'

test_expect 'Chrome JSON: the pid of a process is its rank, and a number behind the ranks if it has none' '
	export_to chrome -o c.json
	jq -r ".traceEvents[] | select(.name == \"process_name\") | \"\\(.pid) \\(.args.name)\"" c.json |
		cut -d " " -f 1-3 >got
	printf "%s\n" "0 rank 0" "1 rank 1" "2 rank 2" "3 rank 3" >wanted
	head -n 4 got | diff wanted -
	grep -q "^4 pid " got
	export_to chrome -o c.json --ranks 1,3
	is "1 3" "$(jq -r "[.traceEvents[].pid] | unique | join(\" \")" c.json)"'

test_expect 'it says how many threads the files have' '
	"$VFTR" export in/heat_nodeA.vfd -f folded -o f 2>told
	n=$("$VFTR" dump --json in/heat_nodeA.vfd | jq ".threads | length")
	grep -q "f ([0-9.]* [KMi]*B*[bytes]*, $n threads, " told || { cat told; echo "$n"; false; }'

test_expect 'folded: ranks stand in their order' '
	export_to folded -o f
	is "rank 0 rank 1 rank 2 rank 3" "$(sed -n "s/^\(rank [0-9]*\);.*/\1/p" f | uniq | tr "\n" " " |
		sed "s/ \$//")"'

test_expect '(lost) is a name in a file only if something is' '
	export_to speedscope -o s.json
	jq -e "[.shared.frames[].name] | index(\"(lost)\") == null" s.json
	export_to otf2 -o lost
	otf2-print -G lost/traces.otf2 >all
	hasnt all "(lost)"
	export_to paraver -o l.prv
	hasnt l.pcf "(lost)"'

test_expect 'speedscope: an evented profile per thread, balanced, in order, the same calls' '
	export_to speedscope -o s.json
	of_speedscope s.json | count >got
	grep -v "(" counts | diff -U0 - got
	jq -e ".[\"\$schema\"] == \"https://www.speedscope.app/file-format-schema.json\" and
		(.profiles | length) == 10 and all(.profiles[]; .type == \"evented\" and
		.unit == \"nanoseconds\" and (.name | type) == \"string\" and .startValue <= .endValue and
		([.events[].at] | . == sort) and .startValue <= .events[0].at and
		.events[-1].at <= .endValue and all(.events[]; .type == \"O\" or .type == \"C\"))" s.json'

test_expect 'speedscope --sum and folded stacks: the exclusive times of the whole' '
	export_to speedscope -o s.json
	export_to speedscope -o sum.json --sum
	export_to folded -o f
	export_to folded -o f1 --sum
	all=$(jq -r ".profiles[].events[] | \"\(.type) \(.at)\"" s.json | awk "
		\$1 == \"O\" && !d++ { s = \$2 }
		\$1 == \"C\" && !--d { n += \$2 - s }
		END { print n }")
	is "$all" "$(awk "{ n += \$NF } END { print n }" f)"
	is "$(jq "[.profiles[0].weights[]] | add" sum.json)" "$(awk "{ n += \$NF } END { print n }" f)"
	is "$(awk "{ n += \$NF } END { print n }" f1)" "$(awk "{ n += \$NF } END { print n }" f)"
	jq -e "(.profiles | length) == 1 and .profiles[0].type == \"sampled\" and
		(.profiles[0].samples | length) == (.profiles[0].weights | length)" sum.json
	grep -qE "^rank 3;main;solve;MPI_Send [0-9]+\$" f
	grep -qE "^main;solve;MPI_Send [0-9]+\$" f1
	is 40000 "$(sed -n "s/^rank 3;main;solve;MPI_Send //p" f)"
	! grep -v "^[^;]*\(;[^;]*\)* [0-9][0-9]*\$" f f1'

test_expect 'OTF2: otf2-print reads the same calls, messages and collectives' '
	export_to otf2 -o o
	of_otf2 o/traces.otf2 | count >got
	grep -v "(MPI_Put)\|(write)" counts >wanted
	diff -U0 wanted got
	grep -q "no place for 8 of the communications" messages
	otf2-print -G o/traces.otf2 >definitions
	grep -qE "^COMM +0 +Name: \"MPI_COMM_WORLD\"" definitions
	grep -qE "COMM_GROUP, .* 2 Members: 1 .*, 3 " definitions
	[ "$(grep -c "^LOCATION  " definitions)" = 10 ]
	grep -q "^INTER_COMM .*\"nodes\"" definitions
	grep -q "^PARADIGM .*Name: \"MPI\".*Class: PROCESS" definitions
	grep -q "^REGION .*\"MPI_Irecv\".*Role: POINT2POINT, Paradigm: .MPI" definitions
	grep -q "^REGION .*\"MPI_Allreduce\".*Role: COLL_ALL2ALL, Paradigm: .MPI" definitions
	[ "$(otf2-print o/traces.otf2 | grep -c "^MPI_SEND .*Receiver: 1 .*\"nodes\"")" = 2 ]
	[ "$(otf2-print o/traces.otf2 | grep -c "^MPI_SEND .*Receiver: 1 .*\"even\".*Tag: 2,")" = 20 ]'

test_expect 'OTF2: ranks that were left out are empty places, and it can be read' '
	export_to otf2 -o o1 --ranks 1
	otf2-print o1/traces.otf2 >all 2>&1
	hasnt all "ERROR"
	otf2-print -G o1/traces.otf2 | grep -q "rank 3 (not in this trace)"
	[ "$(awk "/^ENTER/ { print \$2 }" all | sort -u | tr "\n" " ")" = "0 1 " ]'

test_expect 'OTF2: prototypes and constants are those of its headers' '
	cat >api.c <<"END"
#include <otf2/otf2.h>
#include "nodeagent/export/otf2-api.h"
static struct otf2_api api;
#define SAME(result, name, symbol, parameters) \
	_Static_assert(__builtin_types_compatible_p(__typeof__(api.name), __typeof__(&symbol)), #symbol);
OTF2_API(SAME)
#define EQUAL(name, symbol, value) _Static_assert((uint64_t)OUR_##name == (uint64_t)(symbol), #symbol);
OTF2_CONSTANTS(EQUAL)
_Static_assert(sizeof(struct otf2_flush) == sizeof(OTF2_FlushCallbacks), "callbacks");
_Static_assert(sizeof(struct otf2_memory) == sizeof(OTF2_MemoryCallbacks), "callbacks");
END
	gcc -fsyntax-only -I"$TOP" api.c'

test_expect 'Paraver: by its grammar, the same calls, a record per whole message' '
	export_to paraver -o v.prv
	awk -f "$T/tool/paraver.awk" v.prv >got || { cat got; false; }
	read -r ok states events communications <got
	is "ok 10 244" "$ok $states $communications"
	of_paraver v | count >got
	grep -v "(" counts | diff -U0 - got
	grep -q "^LEVEL THREAD SIZE 10\$" v.row
	is 10 "$(sed "1,/LEVEL THREAD/d" v.row | grep -c "of rank\|of pid")"
	sed 3d v.prv >bad.prv
	refuse awk -f "$T/tool/paraver.awk" bad.prv'

test_expect 'gaps and lost calls are shown where the format can, and calls stay balanced' '
	"$VFTR" export gaps -f perfetto -o p
	of_perfetto p >all
	is 5 "$(grep -c "^M [0-9]* not recorded until here" all)"
	is 5 "$(grep -c "^M [0-9]* calls lost" all)"
	is "$(grep -c ^B all)" "$(grep -c ^E all)"
	"$VFTR" export gaps -f paraver -o g
	awk -f "$T/tool/paraver.awk" g
	is 5 "$(grep -c ":90000001:5\$" g)"'

test_expect '--from and --to cut, --ranks chooses, and calls stay balanced' '
	export_to chrome -o all.json
	export_to chrome -o cut.json --from 100us --to 0.2ms --ranks 0,2-3
	of_chrome cut.json >cut
	is "$(grep -c ^B cut)" "$(grep -c ^E cut)"
	is "rank 0 rank 2 rank 3" "$(jq -r ".traceEvents[] | select(.name == \"process_name\") |
		.args.name[0:6]" cut.json | tr "\n" " " | sed "s/ \$//")"
	jq -e "[.traceEvents[] | select(.ph == \"B\") | .ts] | min >= 100 and max < 200" cut.json
	[ "$(grep -c . cut)" -lt "$(of_chrome all.json | wc -l)" ]
	export_to speedscope -o cut.speedscope --from 100us --to 0.2ms
	jq -e "[.profiles[] | .startValue >= 100000 and .endValue <= 200000] | all" cut.speedscope
	export_to folded -o none --from 90s
	[ ! -s none ]'

test_expect 'a damaged file: the rest is exported, the place is told, status 1' '
	mkdir bad
	cp in/heat_nodeB.vfd bad
	n=$(stat -c %s in/heat_nodeA.vfd)
	head -c $((n / 2)) in/heat_nodeA.vfd >bad/heat_nodeA.vfd
	printf XXXX | dd of=bad/heat_nodeB.vfd bs=1 seek=$((n / 2)) conv=notrunc 2>/dev/null
	for f in perfetto chrome otf2 paraver folded speedscope; do
		status_of 1 "$VFTR" export bad -f $f -o "bad/$f" 2>err
		grep -q "heat_nodeB.vfd: bytes .* are left out: " err
	done
	of_chrome bad/chrome >got
	is "$(grep -c ^B got)" "$(grep -c ^E got)"
	otf2-print bad/otf2/traces.otf2 >all 2>&1
	hasnt all ERROR
	awk -f "$T/tool/paraver.awk" bad/paraver'

test_expect 'a file without its header is still one of the run' '
	mkdir headless
	cp in/*.vfd headless
	printf XXXX | dd of=headless/heat_nodeA.vfd bs=1 seek=70 conv=notrunc 2>/dev/null
	status_of 1 "$VFTR" export headless -f chrome 2>err
	grep -q "heat_nodeA.vfd: bytes .* are left out: " err
	jq -e ".traceEvents | length > 100" headless/heat.trace.json'

values_of_dump counted/*.vfd >values
test_expect 'counters: a track for each thread and counter, with the same values at the same times' '
	is "$(of_dump counted/*.vfd | grep -c "^[BE]")" "$(grep -c " instructions\$" values)"
	is 40 "$(grep -c " temperature\$" values)"
	grep -qx "6 24517 3.01 temperature" values
	grep -qx "0 25001 -5 queue \"q\"" values
	for f in perfetto chrome otf2 paraver; do "$VFTR" export counted -f $f -o "v-$f.prv"; done
	values_of_perfetto v-perfetto.prv | diff values -
	values_of_chrome v-chrome.prv | diff values -
	values_of_otf2 v-otf2.prv/traces.otf2 | diff values -
	awk -f "$T/tool/paraver.awk" v-paraver.prv
	awk "/queue|temperature/ { \$3 = \$3 < 0.5 ? 0 : int(\$3 + 0.5) } { print }" values | sort >rounded
	values_of_paraver v-paraver | diff rounded -'

test_expect 'counters: kinds and units are told, and sums stand before their calls' '
	otf2-print -G v-otf2.prv/traces.otf2 >definitions
	grep -q "^METRIC_MEMBER .*\"PAPI_TOT_CYC\".* Type: PAPI, Mode: ACCUMULATED_START.*Unit: \"cycles\"" definitions
	grep -q "^METRIC_MEMBER .*\"temperature\".* Type: USER, Mode: ABSOLUTE_POINT, Value Type: DOUBLE" definitions
	otf2-print v-otf2.prv/traces.otf2 | awk "/^(ENTER|LEAVE)/ && before[\$2] != \$3 { bad++ }
		/^METRIC/ && /instructions/ { before[\$2] = \$3 } END { exit bad != 1 }" # main of rank 3 was killed
	mkdir plain
	./make-vfd plain 10 whole
	for f in folded speedscope; do
		"$VFTR" export counted -f $f -o with
		"$VFTR" export plain -f $f -o without
		cmp with without
	done'

test_expect 'counters: --from cuts them, and Paraver adds up what is left' '
	"$VFTR" export counted -f paraver -o cut.prv --from 100us --to 200us
	awk -f "$T/tool/paraver.awk" cut.prv
	values_of_paraver cut | awk "/^0 .* instructions/ && \$3 > n { n = \$3 } END { print n }" >most
	is "$(awk "/^0 .* instructions/ && \$2 >= 100000 && \$2 < 200000 {
		if (!a || \$3 < a) a = \$3; if (\$3 > b) b = \$3 } END { print b - a }" values)" "$(cat most)"'

test_expect 'vfd3: a file of Vftrace per rank' '
	export_to vfd3 -o three
	is "heat_0.vfd heat_1.vfd heat_2.vfd heat_3.vfd" "$(ls three | tr "\n" " " | sed "s/ \$//")"
	has messages "wrote three (part of "
	has messages "1 process has no file there: Vftrace has one for each rank of one MPI job"
	export_to vfd3 -o ranked -r 0-3
	hasnt messages "no file"
	# an Allreduce in each of the rounds: 4 sends and 4 receives of a rank
	ln -s "$VFTR" vftrace_vfd_dump
	./vftrace_vfd_dump three/heat_2.vfd >dump
	stack=$(sed -n "s/^   \([0-9]*\): MPI_Allreduce<.*/\1/p" dump)
	for way in send recv; do
		grep -A1 " $way in stackID $stack " dump | grep -o "count=.*(1Bytes)\|peer=.*" |
			paste -d " " - - | sort | uniq -c | awk "{ \$1 = \$1; print }" >got
		rounds=$(sed -n "1s/ .*//p" got)
		[ "$rounds" -gt 0 ]
		for peer in 0 1 2 3; do
			echo "$rounds count=8 type=MPI_DERIVED_TYPE(1Bytes) peer=$peer tag=-1"
		done | diff - got
	done
	# they lie beside ours without being taken for them
	mkdir both
	cp in/*.vfd three/*.vfd both
	"$VFTR" export both -f folded -o both.folded
	export_to folded -o one.folded
	cmp both.folded one.folded'

test_expect 'a file that is named twice is exported once, which is said' '
	"$VFTR" export in in/*.vfd ./in -f folded -o twice.folded 2>told
	is 1 "$(grep -c "is named twice, and counts once" told)"
	cmp twice.folded one.folded'

test_expect 'wrong usage is one sentence and status 2, and nothing is made' '
	mkdir empty
	wrong() {
		wanted=$1
		shift
		status_of 2 "$VFTR" export "$@" >out 2>err
		is 1 "$(wc -l <err)" "lines for $*"
		grep -q "$wanted" err || { cat err; false; }
		[ ! -s out ]
	}
	wrong "no format .pdf.; there are perfetto, chrome, otf2, paraver, folded, speedscope, vfd3, sqlite" \
		in -f pdf
	wrong "no format .cube.; there are" in -f cube
	wrong "no format .speedscop.; did you mean .speedscope." in -f speedscop
	wrong "say which format" in
	wrong "name a directory" -f folded
	wrong "no sampling files" empty -f folded
	wrong "nowhere" nowhere -f folded
	wrong "is no time" in -f folded --from soon
	wrong "is not before" in -f folded --from 2 --to 1
	wrong "at .x" in -f folded --ranks 1,x
	wrong "no threads of ranks 77 in these files, which have ranks 0-3$" in -f folded -o x --ranks 77
	wrong "three files" in -f paraver -o -
	for folder in otf2 vfd3; do
		wrong "a folder can.t be written to the standard output" in -f $folder -o -
		[ ! -e - ]
	done
	wrong "not empty" in -f otf2 -o in
	wrong "can.t be written" in -f folded -o nowhere/x
	wrong "of the run .other." in/*.vfd -f folded --base other
	cp in/heat_nodeA.vfd empty/one_nodeA.vfd
	cp in/heat_nodeA.vfd empty/two_nodeA.vfd
	wrong "choose one with --base" empty -f folded
	"$VFTR" export empty -f folded --base two
	[ -s empty/two.folded ]
	[ -z "$(ls in empty | grep -F .tmp.)" ]'

test_expect 'the output has a name only when it is complete; - is the standard output' '
	export_to folded
	export_to folded -o - >f
	cmp f in/heat.folded
	"$VFTR" export in -f folded -o /proc/self/fd/1 | cmp f -
	export_to perfetto
	export_to perfetto -o - >f
	cmp f in/heat.perfetto-trace
	status_of 2 "$VFTR" export in -f perfetto -o - >/dev/full 2>err
	grep -q "can.t be written" err
	rm in/heat.folded in/heat.perfetto-trace
	status_of 2 "$VFTR" export in -f folded -o - >/dev/full 2>err
	grep -q "can.t be written" err'

test_if 'mkdir mnt && mount -t tmpfs -o size=16k none mnt' 'no mount' \
	'a full disk: one sentence, status 2, nothing left' '
	./make-vfd gaps 200
	for f in perfetto chrome paraver speedscope otf2; do
		status_of 2 "$VFTR" export gaps -f $f -o mnt/$f 2>err
		is 1 "$(wc -l <err)" "lines"
		grep -qE "No space left|OTF2 can.t write" err || { cat err; false; }
		[ -z "$(ls mnt)" ]
	done'

test_expect '--help, and the formats in it are those of the manual and the completion' '
	"$VFTR" export --help >help
	for f in perfetto chrome otf2 paraver folded speedscope vfd3 sqlite; do
		grep -q "^  $f " help
		grep -q "^\.It Cm $f\$" "$TOP/man/vftr-export.1"
		grep "_vftr_words \"perfetto" "$TOP/man/completion.bash" | grep -qw $f
	done'

done_testing
