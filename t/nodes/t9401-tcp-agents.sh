#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Agents that find each other over TCP: plain processes on three (pseudo-)nodes, one
# summary.
test_description='agents over TCP, without MPI'
. "$(dirname "$0")/../lib/lib.sh"
need jq ip ss
need_built "$AGENT" "$LIB/libvftrace.so"
nodes_up 3
. "$T/lib/tcp.sh"

test_expect 'plain processes on 3 nodes: one summary, as with MPI' '
	three plain
	for node in node1 node2 node3 node3; do run plain $node "$BIN/service" 1.5 0 $PWD/plain/go & done
	wait_for 30 "[ \$(ls plain | grep -c ^go.here) = 4 ]"
	touch plain/go
	statuses plain 0 0 0
	complete plain/service_all.json 4
	is "3 0 false" "$(json plain/service_all.json "\"\\(.nodes) \\(.dead_ranks | length) \\([.agents[].missing // false] | any)\"")"
	is 1 "$(ls plain | grep -c "_all.json")"
	is 3 "$(ls plain | grep -c "_node_.*log")"
	cat plain/*.err
	is 1 "$(cat plain/*.err | wc -l)" "lines on standard error"'

test_expect 'vftr collate of the node profiles gives the identical summary' '
	mkdir again
	"$VFTR" collate -o again plain
	cmp plain/service_all.json again/service_all.json'

test_expect 'clocks: offsets are within the printed bounds, which are below 1 ms most of the time' '
	json plain/service_all.json ".clocks[] | \"# \\(.host) \\(.state) \\(.offset_ns) ns, bound \\(.error_s)\""
	is "reference compared compared" "$(json plain/service_all.json "[.clocks[].state] | join(\" \")")"
	is true "$(json plain/service_all.json "[.clocks[1,2] | (.offset_ns | fabs) <= .error_s * 1e9 + 20] | all")"
	is true "$(json plain/service_all.json "[.clocks[1,2].error_median_s < 1e-3] | all")"'

test_expect 'a command on each node, agents joined: each has its own exit status' '
	mkdir command
	for n in 1 2 3; do
		start command node$n --peers $peers -- "$BIN/service" 0.$((n * 3)) $n
	done
	statuses command 1 2 3
	complete command/service_all.json 3'

test_expect 'a command whose process begins when those of the others have long ended' '
	for node in node1 node2; do start later $node --peers $peers -- "$BIN/service" 0.1; done
	start later node3 --peers $peers -- sh -c "sleep 4; exec \"$BIN/service\" 0.5"
	statuses later 0 0 0
	complete later/service_all.json 3'

test_expect 'a late agent, and one that was told its place and port' '
	printf "# three\nnode1:7002\nnode2:7002 # second\n\nnode3:7002\n" >list
	start late node1 --peers @$PWD/list --me 0
	start late node2 --peers @$PWD/list --listen :7002
	up late node1 node2
	run late node1 "$BIN/service" 1 0 $PWD/late/go &
	run late node2 "$BIN/service" 1 0 $PWD/late/go &
	wait_for 10 "[ \$(ls late | grep -c ^go.here) = 2 ]"
	sleep 0.5
	start late node3 --peers @$PWD/list --interface eth0
	up late node3
	run late node3 "$BIN/service" 1 &
	touch late/go
	statuses late 0 0 0
	complete late/service_all.json 3
	is 0 "$(json late/service_all.json "[.agents[] | select(.missing)] | length")"'

test_expect '--expect: waits for processes on agents that it invites; exit status 0' '
	for node in node2 node3; do
		start expect $node --listen :0 --print-contact=$PWD/expect/$node.contact
	done
	wait_for 10 "test -s expect/node2.contact && test -s expect/node3.contact"
	hasnt expect/node2.contact " "
	start expect node1 --listen node1:7004 --expect 4 $(cat expect/node2.contact) $(cat expect/node3.contact)
	up expect node1 node2 node3
	run expect node1 "$BIN/service" 0.3
	run expect node2 "$BIN/service" 0.3
	sleep 2.5
	[ ! -e expect/node1.status ]
	run expect node2 "$BIN/service" 0.1
	run expect node3 "$BIN/service" 0.1
	statuses expect 0 0 0
	complete expect/service_all.json 4'

test_expect '--expect --within: exit status 3 when not all came' '
	start within node1 --expect 3 --within 4
	up within node1
	run within node1 "$BIN/service" 0.1
	statuses within 3
	complete within/service_all.json 1'

test_expect '... also where an agent does not come' '
	since=$(date +%s)
	start absent node1 --expect 2 --within 2 node3:7077
	statuses absent 3
	[ "$(($(date +%s) - since))" -lt 20 ]'

test_expect '--expect stopped by a signal: all agents write what they have, status 3' '
	start stopped node2 --listen :7005
	start stopped node1 --expect 3 node2:7005
	up stopped node1 node2
	run stopped node1 "$BIN/service" 1 0 $PWD/stopped/go &
	run stopped node2 "$BIN/service" 1 0 $PWD/stopped/go &
	wait_for 10 "[ \$(ls stopped | grep -c ^go.here) = 2 ]"
	nodes_run node1 kill -TERM "$(agent_of stopped node1)"
	statuses stopped 3 0
	is 2 "$(json stopped/service_all.json .ranks)"'

test_expect '... also one that joins the others when the signal comes' '
	start joins node2 -k agent.deadline_s=240 --listen :7006
	up joins node2
	run joins node2 "$BIN/service" 1 0 $PWD/joins/go &
	wait_for 10 "[ \$(ls joins | grep -c ^go.here) = 1 ]"
	nodes_run node2 ip link set eth0 down
	start joins node1 -k agent.deadline_s=240 -k agent.linger_s=0 --expect 3 node2:7006
	up joins node1
	run joins node1 "$BIN/service" 1 0 $PWD/joins/go &
	wait_for 10 "[ \$(ls joins | grep -c ^go.here) = 2 ]"
	nodes_run node1 kill -TERM "$(agent_of joins node1)"
	sleep 0.3 # it would be over by now
	nodes_run node2 ip link set eth0 up
	statuses joins 3 0
	is 2 "$(json joins/service_all.json .ranks)"'

test_if 'command -v mpirun.openmpi && command -v mpicc.openmpi' 'no Open MPI' \
	'messages one way, and agents that linger: one that is idle has told of them before the end' '
	cat >oneway.c <<-END
	#include <mpi.h>
	#include <unistd.h>
	int main(int argc, char **argv)
	{
		int rank, x = 0;

		MPI_Init(&argc, &argv);
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
		for (int i = 0; i < 100; i++) {
			if (rank == 1)
				MPI_Send(&x, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
			else if (rank == 0)
				MPI_Recv(&x, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		}
		MPI_Finalize();
		return 0;
	}
	END
	mpicc_traced openmpi "$BIN/oneway" "$PWD/oneway.c"
	three oneway -k agent.linger_s=4
	limit $(nodes_mpirun 1) -x VFTR_RUNTIME_DIR -x VFTR_SESSION=oneway -np 3 "$BIN/oneway"
	statuses oneway 0 0 0
	all=oneway/$(cd oneway && echo *_all.json)
	is "100 0 0" "$(json $all ".matching | \"\(.pairs | add) \(.unmatched_sends | add) \(.unmatched_recvs | add)\"")"'

test_if 'mpi_list | grep -x openmpi' 'no Open MPI here' \
	'MPI ranks beside a plain process, agents without MPI: one summary, messages matched' '
	mpicc_traced openmpi "$BIN/match" "$T/mpi/program/app-mpi-match.c" -pthread
	three mpi
	run mpi node2 "$BIN/service" 1 0 "$PWD/mpi/go" & # it is there before the ranks, and after them
	wait_for 30 "[ \$(ls mpi | grep -c ^go.here) = 1 ]"
	limit $(nodes_mpirun 1) -x VFTR_RUNTIME_DIR -x VFTR_SESSION=mpi -np 3 "$BIN/match" \
		single 1 20 "$PWD/mpi/truth"
	touch mpi/go
	statuses mpi 0 0 0
	all=mpi/$(cd mpi && echo *_all.json)
	ls mpi
	json $all .matching
	is "4 3" "$(json $all "\"\(.processes) \(.ranks)\"")" "processes and ranks"
	is 100 "$(calls_of $all "step<main<init")"
	sent=$(cat mpi/truth.* | wc -l)
	[ "$sent" -gt 100 ]
	is $sent "$(json $all ".matching.pairs | add")" "pairs of messages"
	is "0 0" "$(json $all "\"\(.matching.unmatched_sends | add) \(.matching.unmatched_recvs | add)\"")" unmatched'

# addresses of IPv6 beside those that the nodes have
for n in 1 2 3; do
	nodes_run node$n ip -6 addr add fd00:77::$n/64 dev eth0 nodad 2>/dev/null || ipv6=no
done

test_if '[ "${ipv6-yes}" = yes ]' 'no IPv6 here' \
	'IPv6 addresses, in any sequence of starts, one of them later than the deadline' '
	six="[fd00:77::2]:7011,[fd00:77::1]:7011,[fd00:77::3]:7011"
	start six node3 --peers "$six" -k agent.deadline_s=3
	up six node3
	start six node2 --peers "$six" -k agent.deadline_s=3
	up six node2
	run six node2 "$BIN/service" 1 0 $PWD/six/go &
	run six node3 "$BIN/service" 1 0 $PWD/six/go &
	wait_for 10 "grep -q \"fd00:77::1.*did not come\" six/node2.err"
	start six node1 --peers "$six"
	up six node1
	run six node1 "$BIN/service" 0.5 &
	touch six/go
	statuses six 0 0 0
	cat six/*.err
	complete six/service_all.json 3'

test_expect 'a node whose name is 127.0.0.1 there; an agent that two invite; contacts of an interface' '
	{ echo "127.0.0.1 node2"; grep -v node2 "$NODES/hosts"; } >hosts
	nodes_run node2 mount --bind "$PWD/hosts" /etc/hosts
	start two node2 -k agent.deadline_s=8 --listen node2:7012 --print-contact=$PWD/two/node2.contact
	wait_for 10 "test -s two/node2.contact"
	cat two/node2.contact
	hasnt two/node2.contact 127.0.0.1
	start two node1 -k agent.deadline_s=8 --listen :7012 --expect 2 $(cat two/node2.contact)
	up two node1
	wait_for 10 "nodes_run node1 ss -Htn state established sport = 7012 | grep -q 7012"
	start two node3 -k agent.deadline_s=8 --listen :7012 --expect 1 node2:7012
	wait_for 10 "grep -q \"another agent has invited this one before\" two/node2.err"
	wait_for 10 "grep -q \"cannot join the agent.*another agent has invited it before\" two/node3.err"
	run two node1 "$BIN/service" 0.1 &
	run two node2 "$BIN/service" 0.1 &
	run two node3 "$BIN/service" 0.1 &
	statuses two 0 0 3
	cat two/*.err
	is 1 "$(grep -c "invited this one" two/node2.err)"
	start lo node1 --interface lo --listen :0 --print-contact=$PWD/lo.contact
	wait_for 10 "test -s lo.contact"
	grep -x "127.0.0.1:[0-9]*\(+.*\)*/lo" lo.contact
	nodes_run node1 kill "$(agent_of lo node1)"
	nodes_run node2 umount /etc/hosts'

test_if '[ -n "$VFTR_LONG" ]' 'only in the long form' \
	'300 agents on one host meet with few connections, and end together' '
	mkdir -p many
	for i in $(seq 0 299); do echo "127.0.0.1:$((21000 + i))/many$i"; done >many/list
	for i in $(seq 0 299); do
		(
			got=0
			limit "$AGENT" -s "many$i" -o "$PWD/many" --secret "$PWD/secret" --me "$i" \
				-k agent.deadline_s=300 -k agent.linger_s=1000 --peers "@$PWD/many/list" \
				>"many/$i.out" 2>"many/$i.err" || got=$?
			echo $got >"many/$i.status"
		) &
	done
	began=$(date +%s)
	wait_for 300 "[ \$(ss -Htn state established \"sport >= :21000 and sport <= :21299\" | wc -l) -ge 299 ]"
	echo "# all met after $(($(date +%s) - began)) s"
	VFTR_SESSION=many0 VFTR_AGENT=off "$BIN/service" 0.5
	VFTR_SESSION=many299 VFTR_AGENT=off "$BIN/service" 0.5
	n=$(ss -Htn state established "sport >= :21000 and sport <= :21299" | wc -l)
	echo "# $n connections"
	[ "$n" -le 3000 ]
	kill "$(head -n 1 "$VFTR_RUNTIME_DIR/many0.lock")"
	wait_for 300 "[ \$(ls many/*.status | wc -l) = 300 ]"
	is 0 "$(cat many/*.status | sort -u)" "exit statuses"
	complete many/service_all.json 2
	is 300 "$(json many/service_all.json "[.agents[] | select(.missing | not)] | length")"'

test_expect 'what makes no sense is refused in one sentence' '
	echo 0123456789abcdef >other
	chmod 644 other
	(umask 077 && echo too short >short)
	no() {
		words=$1
		shift
		status_of 125 limit "$AGENT" "$@" 2>err
		cat err
		is 1 "$(wc -l <err)"
		has err "$words"
	}
	no "must have mode 0600" --peers node1,localhost --secret other
	no "it has 9 bytes; 16 are the least" --peers node1,localhost --secret short
	no "it is not a file" --peers node1,localhost --secret /tmp
	no "no address of this node" --peers 192.0.2.77:1,192.0.2.78:1 --secret secret
	no "a port is a number" --peers localhost:70000 --secret secret
	no "an IPv6 address stands in" --peers ::1:80 --secret secret
	no "No such file" --peers @nothing --secret secret
	no "--peers has 1 contacts" --peers localhost:1 --me 3 --secret secret
	no "--interface nothing0" --peers localhost:7009 --interface nothing0 --secret secret
	no "not a whole number" --expect 1.5
	no "--me needs --peers" --me 1
	no "--within needs --expect" --within 3
	no "--expect takes contacts, no command" --expect 2 -- true
	no "need --peers" --interface eth0'

done_testing
