#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Two nodes with clocks that are seconds apart and drift: their sampling files, read
# together, are one time line, and each arrow goes from the thread that sent to the one
# that received. What the truth is stands in the length of each message.
test_description='sampling files of two nodes: one clock, and arrows between all threads'
. "$(dirname "$0")/../lib/lib.sh"
need mpirun.openmpi jq awk protoc otf2-print
need_built "$AGENT" "$VFTR" "$LIB/libvftrace-openmpi.so" "$LIB/vftr/peer-openmpi.so"
nodes_up 2
. "$T/lib/clocks.sh"
mpicc_traced openmpi "$BIN/arrows" "$T/agent/app-mpi-arrows.c" -pthread

echo 0,0,0 >clock.node1
echo 3.25,50,0 >clock.node2

# side DIR SECONDS: agents with these clocks, and a job beside them
side() {
	mkdir "$1"
	agents_up "$1" -k sampling.active=true
	limit $(nodes_mpirun 2) -x VFTR_RUNTIME_DIR -x VFTR_SESSION="$1" -np 4 "$BIN/arrows" "$2" >"$1/messages"
	wait
}

# ends DIR: "FLOW send|recv RANK THREAD BYTES START END MATCH" of the messages of the threads
ends() {
	for f in "$1"/*.vfd; do
		"$VFTR" dump --json "$f" | jq -r '
			(.processes | map({key: "\(.id)", value: .rank}) | from_entries) as $rank |
			(.threads | map({key: "\(.lane)", value: [$rank["\(.process)"], .number]}) | from_entries) as $t |
			.events[] | select(.event == "message" and (.kind == "send" or .kind == "recv")) |
			"\(.flow) \(.kind) \($t["\(.lane)"] | join(" ")) \(.bytes) \(.t_ns) \(.end_ns) \(.match)"'
	done | sort
}

# true_pairs: of lines "RANK THREAD BYTES to RANK THREAD", once each, MESSAGES in all
true_pairs() {
	awk -v n="$1" -v size=4 '{
			from = $3 % 64
			if ($1 != from || $5 != (from + 1) % size || $2 != $6 || seen[$2, $3]++) {
				print "wrong:", $0; wrong++ }
			m++ }
		END { print m + 0, "of", n, "messages,", wrong + 0, "wrong"; exit !(m == n && n > 0 && !wrong) }'
}

test_expect 'every receive has its send, on whatever node and thread that was' '
	side skewed 6
	ls skewed/arrows_node1.vfd skewed/arrows_node2.vfd
	ends skewed >ends
	awk "\$2 == \"send\" { s[\$1] = \$3 \" \" \$4 \" \" \$5 }
		\$2 == \"recv\" { r[\$1] = \$3 \" \" \$4 }
		END { for (f in r) print s[f], \"to\", r[f] }" ends >pairs
	true_pairs "$(cat skewed/messages)" <pairs
	is exact "$(awk "\$2 == \"recv\" { print \$8 }" ends | sort -u)"'

test_expect 'no message is received before it was sent, by more than the printed bound' '
	json skewed/arrows_all.json ".clocks[] | \"# \(.host) \(.state) \(.offset_ns) bound \(.error_s)\""
	bound=$(json skewed/arrows_all.json "[.clocks[].error_s] | max * 1e9 + 1000 | floor")
	awk -v bound=$bound "\$2 == \"send\" { s[\$1] = \$6; from[\$1] = \$3 }
		\$2 == \"recv\" { e[\$1] = \$7; to[\$1] = \$3 }
		END { for (f in e) {
				d = e[f] - s[f]
				way = int(from[f] / 2) int(to[f] / 2)
				if (!(way in least) || d < least[way]) least[way] = d
				early += d < -bound }
			for (w in least) {
				print \"# nodes\", w, \"shortest message\", least[w], \"ns, bound\", bound
				n++
				if (least[w] > 20e6) early++ }
			exit !(n >= 3 && !early) }" ends
	for n in 1 2; do "$VFTR" dump -H skewed/arrows_node$n.vfd | grep -i "clock"; done'

test_expect 'Perfetto: flows of two ends, on the right tracks' '
	"$VFTR" export skewed -f perfetto -o p
	protoc --decode perfetto.protos.Trace -I "$T/tool" "$T/tool/perfetto.proto" <p >decoded
	grep "^    flow_ids: " decoded | sort | uniq -c | awk "{ n[\$1]++ } END { print n[1] + 0, n[2] }" >flows
	is "0 $(cat skewed/messages)" "$(cat flows)"'

test_expect 'OTF2: otf2-print reads all sends and receives of the program' '
	"$VFTR" export skewed -f otf2 -o o
	otf2-print o/traces.otf2 >all
	hasnt all ERROR
	n=$(cat skewed/messages)
	is $n "$(grep -Ec "^MPI_I?SEND " all)" sends
	is $n "$(grep -Ec "^MPI_I?RECV " all)" receives
	for k in SEND RECV; do
		sed -nE "s/^MPI_I?$k +([0-9]+) .*Tag: ([01]), Length: ([0-9]+)(,.*)?\$/\2 \3/p" all | sort >$k
	done
	cmp SEND RECV
	is $n "$(sort -u SEND | wc -l)" "different ones"'

test_expect 'Paraver: each communication record is the right one' '
	"$VFTR" export skewed -f paraver -o v.prv
	awk -f "$T/tool/paraver.awk" v.prv
	# 3:cpu:appl:task:thread:logical:physical:cpu:appl:task:thread:logical:physical:size:tag
	grep "^3:" v.prv | awk -F: "{ print \$4 - 1, \$5 - 1, \$14, \"to\", \$10 - 1, \$11 - 1 }" |
		true_pairs "$(cat skewed/messages)"'

test_expect 'without comparing, files lie as their UNIX clocks say' '
	mkdir alone run1 run2
	for n in 1 2; do
		nodes_run node$n env VFTR_RUNTIME_DIR=$VFTR_RUNTIME_DIR/n$n "$AGENT" -q -o run$n \
			-k sampling.active=true -- mpirun.openmpi --oversubscribe -np 1 "$BIN/arrows" 0
		mv run$n/*.vfd alone
		sleep 1
	done
	"$VFTR" export alone -f chrome -o c.json
	jq -e "[.traceEvents[] | select(.ph == \"B\" and .name == \"main\") | .ts] | sort |
		length == 2 and .[1] - .[0] > 1e6 and .[1] - .[0] < 2e7" c.json'

done_testing
