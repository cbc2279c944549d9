#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='vftr report: a run as one HTML file, with the numbers of its JSON'
. "$(dirname "$0")/../lib/lib.sh"
need jq python3 xmllint
need_built "$AGENT" "$VFTR" "$BUILD/t/golden/make-golden" "$BUILD/t/report/make-large"
SAME=$T/report/same-numbers.py

# run_of NAME: the node profiles of a golden run, in the folder NAME
run_of() {
	mkdir -p "$1"
	for f in "$T/golden/in/$1"-*.vfp.gz; do
		name=${f##*/}
		case $name in *-round*) continue ;; esac
		name=${name#*-}
		gzip -dc "$f" >"$1/${name%.gz}"
	done
}
for run in collectives counters cuda end fork mpi nested open openacc rma session tasks; do
	run_of $run
done
mkdir made
"$BUILD/t/golden/make-golden" made "$T/golden/default.json" "$T/golden/all.json" "$T/golden/separate.json" ||
	bail "make-golden fails"
rm -rf made/all made/separate made/default
mv made/whole.vfp ./

# same_as RUN: its report has the numbers of its JSON
same_as() {
	limit "$VFTR" collate -o "$1.out" "$1" >said 2>&1 || cat said
	limit "$VFTR" report -o "$1.html" "$1"
	python3 "$SAME" "$1.html" "$1.out/profile.json"
}

for run in collectives counters cuda end fork mpi nested open openacc rma session tasks; do
	test_expect "$run: every number in tables and pictures is that of the JSON" "same_as $run"
done

test_expect 'a number that is not that of the JSON is noticed' '
	same_as mpi
	sed "s/\(with callees, \)/9\1/" mpi.html >wrong.html
	status_of 1 python3 "$SAME" wrong.html mpi.out/profile.json
	# what stands behind a bar, and a picture of which nobody knows what it should show
	sed "s/>400 B</>500 B</" mpi.html >wrong.html
	status_of 1 python3 "$SAME" wrong.html mpi.out/profile.json
	sed "s/ id=\"communication-sizes\"/ id=\"communication-other\"/" mpi.html >wrong.html
	status_of 1 python3 "$SAME" wrong.html mpi.out/profile.json 2>why
	has why "no check of "
	jq ".runtime_s += 1" mpi.out/profile.json >other.json
	status_of 1 python3 "$SAME" mpi.html other.json'

test_expect 'made-up profiles of several nodes: a report that is well-formed' '
	mkdir made-up
	cp whole.vfp made-up
	same_as made-up
	cp made-up.html made.html
	has made.html "id=\"communication-cells\""
	has made.html "id=\"balance-ranks\""
	xmllint --html --noout made.html 2>errors || true
	grep "error :" errors | grep -v "Tag .* invalid" >wrong || true
	is "" "$(cat wrong)"'

mpi=$(mpi_list | tr ' ' '\n' | head -n 1)
test_if '[ -n "$mpi" ]' 'no MPI' 'a run of a program with one slow rank: findings, efficiencies, balance, waits' '
	mpicc_traced $mpi "$BIN/findings" "$T/mpi/program/app-findings.c"
	limit "$VFTR" run -q -o slow -- $(mpirun_of $mpi) -np 4 "$BIN/findings" slow
	limit "$VFTR" report -o slow.html slow
	python3 "$SAME" slow.html slow/profile.json
	sed "s/<title>mean /&9/" slow.html >wrong.html
	status_of 1 python3 "$SAME" wrong.html slow/profile.json
	for page in head efficiency time balance waits iterations communication nodes; do
		has slow.html "<section id=\"$page\""
	done
	has slow.html "<a href=\"#balance\">Rank 2 has more work than the others"
	grep "Most useful work" slow.html | grep -q "wait: rank 2 on"'

test_if '[ -n "$mpi" ]' 'no MPI' 'who waited for whom: the others for the slow rank, as much as each has waited, and that one is late' '
	json=slow/profile.json
	jq -c ".wait_matrix" $json
	has slow.html "<svg id=\"waits-cells\""
	has slow.html "<title>rank 0 waited for 2: "
	is 2 "$(jq "[.wait_matrix[] | select(.rank == 0)] | max_by(.t_s) | .for" $json)"
	jq -e ".wait_matrix | all(.ranks == 1 and .rank != .for)" $json
	jq -e ". as \$all | def near(a; b): (a - b | fabs) < 1e-6;
		all(.per_rank[]; . as \$r | near([\$all.wait_matrix[] | select(.rank == \$r.rank) | .t_s] | add // 0; \$r.mpi_wait_s)) and
		all(.delays[]; . as \$d | near([\$all.wait_matrix[] | select(.for == \$d.rank) | .t_s] | add; \$d.t_s)) and
		([.wait_matrix[].calls] | add) == ([.waits[].calls] | add)" $json
	jq ".wait_matrix[0].t_s += 1" $json >other.json
	status_of 1 python3 "$SAME" slow.html other.json'

test_if '[ -n "$mpi" ]' 'no MPI' 'waits in MPI are apart where first threads alone call MPI; where others do, too, it is said' '
	limit "$VFTR" run -q --preload -k files.active=true -k profile.sample=0 -o helped -- \
		$(mpirun_of $mpi) -np 3 "$BIN/findings" slow
	limit "$VFTR" report -o helped.html helped
	python3 "$SAME" helped.html helped/profile.json
	has helped.html "<svg id=\"io-bytes\""
	has helped.html "<svg id=\"io-times\""
	has helped.html "<th scope=\"row\">files.active</th><td>true</td>"
	has helped.html "<th scope=\"row\">profile.sample</th><td>0</td>"
	hasnt slow.html "<th scope=\"row\">files.active</th>"
	hasnt slow.html "<th scope=\"row\">profile.sample</th>"
	for html in slow helped; do
		has $html.html ">MPI, but for waits</text>"
		has $html.html ">waits for other ranks in MPI</text>"
		has $html.html "<th scope=\"row\">Wait at NxN</th>"
		grep -q "<title>rank 2 on .*: MPI, but for waits " $html.html
	done
	mpicc_traced $mpi "$BIN/heat-threads" "$T/demo/heat.c" -fopenmp -lm
	OMP_NUM_THREADS=2 limit "$VFTR" run -q -o threads -- $(mpirun_of $mpi) -np 2 "$BIN/heat-threads" 200 200 20 >out
	limit "$VFTR" report -o threads.html threads
	python3 "$SAME" threads.html threads/profile.json
	is "null null" "$(jq -r "[.per_rank[].mpi_wait_s | tostring] | join(\" \")" threads/profile.json)"
	has threads.html ">MPI, with its waits</text>"
	hasnt threads.html "waits for other ranks in MPI</text>"'

test_expect 'locks and memory have pages; bytes, parts and calls have their units' '
	printf "%s\n" "#include <stdlib.h>" "static void *step(int n) { return malloc(n); }" \
		"int main(void) { for (int i = 0; i < 12345; i++) free(step(3 << 20)); return 0; }" >allocates.c
	cc_traced allocates allocates.c -O0
	limit "$VFTR" run -q -k memory.active=true -o allocates.run -- ./allocates
	limit "$VFTR" report -o allocates.html allocates.run
	python3 "$SAME" allocates.html allocates.run/profile.json
	has allocates.html "<section id=\"memory\""
	hasnt allocates.html "<section id=\"io\""
	hasnt allocates.html "<section id=\"locks\""
	has allocates.html "<svg id=\"memory-high-water\""
	has allocates.html "<title>rank 0: freed before the end 3145"
	has allocates.html "<svg id=\"memory-paths\""
	has allocates.html "<th scope=\"row\">step &lt; main &lt; init</th>"
	has allocates.html "<data value=\"3145728\">3.00 MiB</data>"
	has allocates.html "<data value=\"12345\">12 345</data>"'

test_expect 'pages without anything to show are left out' '
	for page in head time communication nodes; do
		has mpi.html "<section id=\"$page\""
		has mpi.html "href=\"#$page\""
	done
	for page in head efficiency time balance communication openmp gpu io counters nodes; do
		has made.html "<section id=\"$page\""
	done
	for page in openmp gpu counters; do
		hasnt mpi.html "<section id=\"$page\""
		hasnt mpi.html "href=\"#$page\""
	done
	has made.html "<svg id=\"openmp-regions\""
	has cuda.html "<section id=\"gpu\""
	has cuda.html "<svg id=\"gpu-devices\""
	hasnt cuda.html "<section id=\"balance\""
	has counters.html "<section id=\"counters\""'

test_expect 'nothing is asked of anybody, and it is not large' '
	for f in *.html; do
		hasnt "$f" "http:"
		hasnt "$f" "https:"
		hasnt "$f" " src="
		hasnt "$f" "url("
		[ "$(wc -c <"$f")" -lt 5000000 ]
	done'

test_expect '100 000 call paths and 4 096 ranks: at most 5 MB, and no waiting' '
	"$BUILD/t/report/make-large" large.vfp
	began=$(date +%s)
	limit "$VFTR" report -o large.html large.vfp
	no_later 2 "$began"
	[ "$(wc -c <large.html)" -le 5000000 ]
	has large.html "more functions, each below 0.1 %"
	has large.html "of 100000 call paths; what has less than"
	has large.html "is folded into the grey rest"'

test_expect '20 000 ranks: what those without a row of their own have spent is in all sums' '
	mkdir ranks
	for first in 0 10000; do
		"$BUILD/t/report/make-large" ranks/node$first.vfp 100 10000 $first
	done
	limit "$VFTR" report -o ranks.html ranks
	limit "$VFTR" collate ranks
	python3 "$SAME" ranks.html ranks/profile.json
	has ranks.html "Shown are the 128 ranks with the most and the 128 with the least useful work, of 20000"
	has ranks.html "mean of 19937 others"
	jq -e "(.per_rank | length) < 5000 and [.ranks_by_node[].node] == [\"node0\", \"node10000\"] and
		(.per_rank | length) + ([.ranks_by_node[].ranks] | add) == 20000 and
		((([.per_rank[], .ranks_by_node[] | .useful_s] | add) / 20000 / .efficiency.useful_s - 1) | fabs) < 1e-9 and
		([.per_rank[].useful_s] | max) == .efficiency.useful_max_s" ranks/profile.json
	jq -e "(.memory_ranks | length) < 5000 and [.memory_by_node[].node] == [\"node0\", \"node10000\"] and
		(.memory_ranks | length) + ([.memory_by_node[].ranks] | add) == 20000 and
		(.gpus | length) + ([.gpus_by_node[].gpus] | add) == 20000 and .gpu_efficiency.devices == 20000 and
		(.gpu_streams | length) + ([.gpu_streams_by_node[].entries] | add) == 20000 and
		(.gpu_devices | length) + ([.gpu_devices_by_node[].entries] | add) == 20000" ranks/profile.json
	jq -e "(.user_counters | length) == 32 and .user_counters_of_others == [{name: \"cells\", unit: \"1\",
		type: \"integer\", ranks: 19968, values: 39936, min: 16, min_rank: 16, mean: 10000, max: 19984,
		max_rank: 19983}]" ranks/profile.json
	grep "Counters of the program in the other processes" ranks/summary.log
	jq -e "(.communicators | length) == 16384 and ([.communicators[] | select(.size == 2)] | length) == 10000 and
		[.other_communicators[] | [.kind, .from_size, .to_size, .at_least, .ranks, .collectives]] ==
			[[\"predefined\", 1, 1, 13616, 13616, 40848]]" ranks/profile.json
	jq -e "(.gpu_transfers | length) == 320 and [.other_gpu_transfers[] | [.from, .to, .rows, .transfers]] ==
			[[\"host\", \"GPU\", 19680, 39360]] and
		([.gpu_transfers[], .other_gpu_transfers[] | .value] | add) == 199990000" ranks/profile.json
	grep "The other GPU transfers by kind" ranks/summary.log
	has ranks.html "The other communicators, by kind and size"
	has ranks.html "The other transfers, by kind"
	for what in "Memory of the other ranks" "The other GPUs" "The other GPU devices and streams"; do
		grep "$what by node" ranks/summary.log
	done'

test_expect 'two runs: each difference is that of their JSON, and one that is not is noticed' '
	limit "$VFTR" report -o differ.html open mpi
	python3 "$SAME" differ.html open.out/profile.json mpi.out/profile.json
	has differ.html "id=\"by-difference\""
	hasnt mpi.html "id=\"by-difference\""
	sed "s/in the other run /&1/" differ.html >wrong.html
	status_of 1 python3 "$SAME" wrong.html open.out/profile.json mpi.out/profile.json
	limit "$VFTR" report -o same.html mpi mpi
	hasnt same.html "class=\"f d[012456]\""
	has same.html "class=\"f d3\""'

# a viewer that is no viewer, beside a copy of the program
mkdir -p viewer/bin viewer/lib/vftr
cp "$VFTR" viewer/bin/vftr
printf '%s\n' 'speedscope = "</script><!--<b>";' >viewer/lib/vftr/speedscope.js
echo 'b { color: red }' >viewer/lib/vftr/speedscope.css
cat >part.py <<-"EOF"
	import json, re, sys
	text = open(sys.argv[1]).read()
	print(json.dumps(json.loads(re.search('<script type="application/json" id="%s">(.*?)</script>' % sys.argv[2], text, re.S)[1])))
EOF
printf "%s\n" "static volatile int n;" "static void step(void) { n++; }" \
	"int main(void) { for (int i = 0; i < 100; i++) step(); return 0; }" >short.c
cc_traced short short.c

test_expect 'where a viewer is installed, what was recorded over time is a page; elsewhere nothing is said of it' '
	limit "$VFTR" run -q --trace -o traced -- ./short
	limit viewer/bin/vftr report -o over.html traced
	has over.html "<section id=\"timeline\""
	has over.html "Calls of all threads that were recorded."
	python3 "$SAME" over.html traced/profile.json
	limit "$VFTR" export -q -f speedscope -o calls.json traced
	is "$(jq -cS ".profiles, .shared" calls.json)" "$(python3 part.py over.html timeline-calls | jq -cS ".profiles, .shared")"
	is "$(cat viewer/lib/vftr/speedscope.js)" "$(python3 part.py over.html timeline-viewer | jq -r .script)"
	is 0 "$(grep -c "</script><!--" over.html)"
	rm traced/*.vfd
	limit viewer/bin/vftr report -o over.html traced
	hasnt over.html "<section id=\"timeline\""
	mv viewer/lib/vftr/speedscope.css away
	cp -r made-up untraced
	limit viewer/bin/vftr report -o over.html untraced
	hasnt over.html "<section id=\"timeline\""
	mv away viewer/lib/vftr/speedscope.css'

test_expect 'what is too large is shown in part; of a flight recorder one event' '
	printf "%s\\n" "static volatile int n;" "static void step(void) { n++; }" \
		"int main(int n, char **arguments) { for (int i = 0; i < 200000; i++) step(); return n > 1; }" >many.c
	cc_traced many many.c -O0
	limit "$VFTR" run -q --trace -k overhead.count_tiny=null -o large.run -- ./many
	# no temporary file: all calls would be 15 MB
	(
		ulimit -f 6000
		TMPDIR=$PWD/none limit viewer/bin/vftr report -o large.html large.run 2>said
	)
	is "" "$(cat said)"
	has large.html "in the middle of the run; vftr-open(1) shows all."
	[ "$(wc -c <large.html)" -le 5000000 ]
	[ "$(python3 part.py large.html timeline-calls | jq "[.profiles[].events[]] | length")" -gt 1000 ]
	status_of 1 limit "$VFTR" run -q -k overhead.count_tiny=null -k sampling.keep=10s -k sampling.when=death -k report=true -o kept -- ./many x
	has kept/report.html "Calls over time were recorded, but a page that is written at the end"
	limit viewer/bin/vftr report -o kept.html kept
	grep "Calls of all threads in the last .* before the event death" kept.html
	[ "$(python3 part.py kept.html timeline-calls | jq "[.profiles[].events[]] | length")" -gt 1000 ]'

test_expect 'of several slow iterations that a flight recorder has, the longest is shown, not the first by its name' '
	printf "%s\\n" "#include <unistd.h>" "static void step(int i) { usleep(i == 60 ? 500000 : i == 120 ? 250000 : 15000); }" \
		"int main(void) { for (int i = 0; i < 170; i++) step(i); return 0; }" >stalls.c
	cc_traced stalls stalls.c -O0
	limit "$VFTR" run -q -k sampling.keep=10s -k sampling.when=slow -k sampling.pause=0 -k profile.sample=0 \
		-o stalls.run -- ./stalls
	# a step that had to wait for a CPU may have been the first slow one
	for recorded in stalls.run/*slow*.vfd; do
		break
	done
	host=${recorded%slow*}
	mv "$recorded" kept.vfd
	rm -f stalls.run/*.vfd
	recorded=${host}slow60.vfd
	mv kept.vfd "$recorded"
	for event in slow120 signal1; do # slow120 is the first by its name
		cp "$recorded" "$host$event.vfd"
	done
	limit viewer/bin/vftr report -o stalls.html stalls.run
	has stalls.html " before the event slow60; vftr-open(1) shows those of other events."
	cp "$recorded" "${host}death-rank0.vfd"
	limit viewer/bin/vftr report -o stalls.html stalls.run
	has stalls.html " before the event death-rank0; "
	rm stalls.run/*death* stalls.run/*signal1* "$recorded"
	limit viewer/bin/vftr report -o stalls.html stalls.run
	has stalls.html " before the event slow120."'

test_expect 'a damaged sampling file costs the time line alone; names that have no room do, and it is said' '
	limit "$VFTR" run -q --trace -o hurt -- ./short
	for f in hurt/*.vfd; do
		head -c 600 "$f" >half
		cp half "$f"
	done
	limit viewer/bin/vftr report -o hurt.html hurt 2>said
	python3 "$SAME" hurt.html hurt/profile.json
	for f in hurt/*.vfd; do
		rm "$f"
		mkfifo "$f"
	done
	limit viewer/bin/vftr report -o hurt.html hurt 2>said
	has said "no sampling file that can be read; the time line is without it"
	python3 - >names.c <<-"EOF"
		print("static volatile int n;")
		for i in range(400):
		    print("void %s_%d(void) { n++; }" % ("a" * 5000, i))
		print("int main(void) {")
		for i in range(400):
		    print("%s_%d();" % ("a" * 5000, i))
		print("return 0; }")
	EOF
	cc_traced names names.c
	limit "$VFTR" run -q --trace -k overhead.count_tiny=null -o names.run -- ./names
	limit viewer/bin/vftr report -o names.html names.run 2>said
	has said "calls over time have no room in the report"
	hasnt names.html "<section id=\"timeline\""'

test_expect 'of damage to a sampling file is told once, however many parts are tried' '
	cp -r large.run hurt-large
	python3 - hurt-large/*.vfd <<-"EOF"
		import sys
		data = bytearray(open(sys.argv[1], "rb").read())
		data[len(data) // 2:len(data) // 2 + 64] = bytes(64)
		open(sys.argv[1], "wb").write(data)
	EOF
	limit viewer/bin/vftr report -o hurt-large.html hurt-large 2>said
	is 1 "$(grep -c "are left out" said)"
	has hurt-large.html "<section id=\"timeline\""'

test_expect 'several runs: a column of efficiencies for each' '
	limit "$VFTR" report -o two.html mpi collectives
	python3 "$SAME" two.html mpi.out/profile.json collectives.out/profile.json
	limit "$VFTR" report -o both.html whole.vfp made/app_node0.vfp
	has both.html ">whole.vfp</th>"
	has both.html ">app_node0.vfp</th>"'

test_expect 'the default is a file beside the profiles, and its path is printed' '
	name=$(jq -r .application end.out/profile.json)
	is "end/$name.html" "$("$VFTR" report end)"
	cmp "end/$name.html" end.html
	"$VFTR" report -o - end >piped.html
	cmp piped.html end.html
	is "end/$name-compared.html" "$("$VFTR" report end mpi)"
	cmp "end/$name.html" end.html
	is "" "$(find . -name "*.tmp*")"'

test_expect 'report=true: a run ends with its report, in either layout; without it there is none' '
	cc_traced "$BIN/end" "$T/hook/app-end.c"
	status_of 3 limit "$VFTR" run -q -k report=true -o with -- "$BIN/end" exit3
	python3 "$SAME" with/report.html with/profile.json
	status_of 3 limit "$VFTR" run -q -o without -- "$BIN/end" exit3
	[ ! -e without/report.html ]
	mkdir as-vftrace
	hasnt with/report.html "id=\"timeline\""
	status_of 3 limit "$VFTR" run -q --trace -k report=true -o told -- "$BIN/end" exit3
	has told/report.html "<section id=\"timeline\""
	has told/report.html "Calls over time were recorded, but a page that is written at the end"
	status_of 3 limit "$VFTR" run -q -k sampling.keep=10s -k sampling.when=signal -k report=true -o calm -- "$BIN/end" exit3
	hasnt calm/report.html "id=\"timeline\""
	status_of 3 traced -q -k report=true -k output_directory=as-vftrace -- "$BIN/end" exit3
	python3 "$SAME" as-vftrace/end_all.html as-vftrace/end_all.json
	is "" "$(find with as-vftrace -name "*.tmp*")"'

test_expect 'report=true: a folder where no file can be written is told, and the other results are there' '
	mkdir taken
	mkdir taken/end_all.html
	traced -q -k report=true -k output_directory=taken -- "$BIN/end" return 2>said
	has said "cannot write $PWD/taken/end_all.html"
	[ -s taken/end_all.json ]'

test_expect 'what cannot be read or written is told, and how it ends' '
	status_of 2 "$VFTR" report 2>said
	has said "name the folder"
	status_of 2 "$VFTR" report nowhere 2>said
	status_of 2 "$VFTR" report -o no/folder/here.html end 2>said
	has said "cannot write no/folder/here.html"
	status_of 1 "$VFTR" report -o some.html end nowhere 2>said
	[ -s some.html ]'

done_testing
