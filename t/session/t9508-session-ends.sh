#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='what tracing without MPI must offer, on two (pseudo-)nodes'
# Row numbers are those of the list of what users of such a library see; the others are
# in t9501 (one node), t9502 (three), t9505 (12, 20), t9401 (4, 23).
. "$(dirname "$0")/../lib/lib.sh"
need jq ip nm
need_built "$AGENT" "$LIB/libvftrace.so"
nodes_up 2
. "$T/lib/tcp.sh"
. "$T/lib/session.sh"

$TEST_CC $TEST_FLAGS -DDYNAMIC -I"$TOP/libhook" -o "$BIN/free" "$T/session/app-session.c" -pthread &&
	$TEST_CC -D_GNU_SOURCE -I"$TOP" -o "$BIN/wire" "$T/shm/app-wire.c" ||
	skip_all 'the programs of this test cannot be compiled'

# invited DIR PROCESSES [OPTION...]: an agent on node1 that invites the one on node2
invited() {
	invited_dir=$1 invited_n=$2
	shift 2
	start "$invited_dir" node2 -k outfile_basename=it --listen :0 \
		--print-contact="$PWD/$invited_dir/contact" "$@"
	wait_for 10 "test -s $invited_dir/contact"
	start "$invited_dir" node1 -k outfile_basename=it --listen :0 --expect "$invited_n" \
		"$(cat "$invited_dir/contact")" "$@"
	up "$invited_dir" node1 node2
}

# ---- one session, of which the rows below speak ------------------------------------

test_expect 'the host name stands for 127.0.0.1 in /etc/hosts: contacts work' '
	ip=$(nodes_run node2 getent hosts node2 | cut -d" " -f1)
	nodes_run node2 sh -c "(echo 127.0.0.1 localhost node2; grep node1 /etc/hosts) >hosts; mount --bind hosts /etc/hosts"
	is 127.0.0.1 "$(nodes_run node2 getent ahostsv4 node2 | sed -n "1s/ .*//p")"
	invited all 2
	grep -q "^$ip[:+/]" all/contact || { cat all/contact; false; }
	hasnt all/contact 127.0.0.1'

test_expect 'a client of another version is refused, with both; the agent goes on' '
	run all node2 "$BIN/wire" old "$VFTR_RUNTIME_DIR/all.sock" >out
	mine=$(sed -n "s/^#define WIRE_VERSION *\([0-9]*\).*/\1/p" "$TOP/shm/wire.h")
	grep -w "$mine" out | grep -w $((mine + 41))'

test_expect 'abort frees those that wait on the other node; loaded by the program' '
	is 0 "$(nm -D -u "$BIN/free" | grep -c vftrace_)" "undefined symbols of the library"
	program all node2 free b load=$LIB/libvftrace.so join=1 touch=b.ready start=20 start recv=w=0=5=3000000000 send=w=0=6=3 recv=w=0=4=1 states finish start ring=w=2 reset start ring=w=3 finish leave start
	program all node1 one a join=0 expect=3 wait=b.ready abortafter=0.5 start=20 expect=2 start send=s=0=1001=8 recv=s=0=1001=8 send=w=1=5=3000000000 recv=w=1=6=3 send=w=1=9=1 states counter=queue=items=1,5,3 finish start ring=w=2 reset ring=w=1 start ring=w=3 finish leave start
	said all a "start 8 vftrace_start: a (pid"
	said all b "start 8 vftrace_start: a (pid"
	has all/b.out "on node1"'

test_expect 'exit status 0 when all has come and is in the summary' '
	statuses all 0 0
	is 2 "$(json all/it_all.json .ranks)"'

test_expect 'reset: out of the round, still joined; leave: out of the session' '
	said all a "ring 3"
	said all a "start 0 0/2 round 3"
	said all b "start 0 1/2 round 3"
	said all b "leave 0"
	said all b "start 2 this process has not joined"'

test_expect 'three rounds, each with its own files on each node' '
	for n in 1 2 3; do
		[ -s all/it.round${n}_node1.vfp ]
		"$VFTR" collate -b it.round$n all
	done
	is "4 4 6" "$(echo $(for n in 1 2 3; do
		json all/it.round${n}_all.json "[.communication_matrix[] | .sends] | add"
	done))"
	is 6 "$(calls_of all/it.round3_all.json "vftrace_log_send<init")"
	is 14 "$(calls_of all/it_all.json "vftrace_log_send<init")"
	is 0 "$(calls_of all/it.round2_all.json "class:state<init")"'

test_expect 'to itself, to and fro, and with a tag that nobody receives' '
	is 13 "$(json all/it_all.json .matching.pairs.exact)"
	is "1 1" "$(json all/it_all.json "\"\\(.matching.unmatched_sends | add) \\(.matching.unmatched_recvs | add)\"")"
	is 1 "$(json all/it_all.json ".communication_matrix[] | select(.from == 0 and .to == 0) | .sends")"'

test_expect '3 GB in a message' '
	is 3000000004 "$(json all/it_all.json "[.communicators[].bytes_received] | max")"'

test_expect 'states of both, with and without the place in the source' '
	is 2 "$(calls_of all/it_all.json "class:state<init")"
	is 4 "$(calls_of all/it_all.json "class:state@file.c:17<init")"
	is "0 5 3" "$(json all/it_all.json ".user_counters[0] | \"\\(.rank) \\(.max) \\(.last)\"")"'

test_expect 'both clocks were compared' '
	is "node1 node2" "$(json all/it_all.json "[.agents[].host] | sort | join(\" \")")"
	json all/it_all.json ".clocks | tostring" | grep node2'

# ---- how processes end --------------------------------------------------------------

# memory_group NAME BYTES: a control group; prints its folder
memory_group() {
	for top in /sys/fs/cgroup/memory /sys/fs/cgroup; do
		mkdir "$top/$1" 2>/dev/null || continue
		for limit in memory.limit_in_bytes memory.max; do
			[ -e "$top/$1/$limit" ] && echo "$2" >"$top/$1/$limit" && echo "$top/$1" && return 0
		done
		rmdir "$top/$1"
	done
	return 1
}
group=$(memory_group "vftr-test-$$" 40000000)
export group

test_expect 'SIGSEGV, Ctrl-C, SIGKILL: the others are told; status 3' '
	invited ends 4
	program ends node2 one b join=1 start ring=w=3 wait=go die=11
	program ends node2 one c join=2 start ring=w=3 wait=go die=2
	program ends node1 one d join=3 start ring=w=3 wait=go die=9
	program ends node1 one a join=0 start=20 ring=w=3 wait=go sleep=0.5 finish
	for name in a b c d; do
		said ends $name "ring 0"
	done
	touch ends/go
	said ends a "finish 9 vftrace_finish: "
	has ends/a.out "has died; the others have finished"
	statuses ends 3 0
	is "12 1,2,3" "$(json ends/it_all.json "\"\\(.matching.pairs.exact) \\(.dead_ranks | sort | map(tostring) | join(\",\"))\"")"
	is "2 9 11" "$(json ends/it_all.json "[.dead[].signal] | sort | map(tostring) | join(\" \")")"
	is "" "$(nodes_run node2 ls $VFTR_RUNTIME_DIR /dev/shm | grep -v :)"
	is "" "$(agent_pids)"'

if [ -n "$group" ]; then
	test_expect 'out of memory in a control group: what it had stored is there' '
		mkdir memory
		cd memory
		export VFTR_SESSION=memory VFTR_AGENT=off
		("$AGENT" -q -k agent.linger_s=0.3 >agent.out 2>agent.err; echo $? >agent.status) &
		wait_for 10 "test -S $VFTR_RUNTIME_DIR/memory.sock"
		limit "$BIN/one" a join=0 expect=2 start ring=w=3 wait=full finish >a.out 2>a.err &
		got=0
		limit sh -c "echo \$\$ >$group/cgroup.procs && exec \"$BIN/one\" b join=1 start ring=w=3 touch=full eat=200" >b.out 2>b.err || got=$?
		is 137 $got "exit status"
		wait_for 10 "test -s agent.status"
		cat ./*.out agent.err
		grep "^a: finish 9 vftrace_finish: b (pid" a.out
		is "6 1" "$(json one_all.json "\"\\(.matching.pairs.exact) \\(.dead_ranks | join(\" \"))\"")"
		hasnt b.out "eat"'
	rmdir "$group"
else
	test_skip 'out of memory in a control group: what it had stored is there' \
		'no control group can be made here'
fi

# ---- configuration ---------------------------------------------------------------------

test_expect 'file, environment, command line, in this order; what holds is printed' '
	echo "{\"outfile_basename\": \"file\", \"agent\": {\"linger_s\": 0.7}}" >c.json
	with() {
		traced -q "$@" -- "$BIN/one" a join=0 expect=1 start ring=w=1 finish >out
	}
	export VFTR_CONFIG=$PWD/c.json
	with
	[ -s file_all.log ]
	VFTR_SET=outfile_basename=environment with
	[ -s environment_all.log ]
	VFTR_SET=outfile_basename=environment with -k outfile_basename=line
	[ -s line_all.log ]
	grep -q "\"outfile_basename\": \"line\"" line_all.log
	grep -q "\"linger_s\": 0.7" line_all.log'

test_expect 'the configuration of the agent holds, not that of the process' '
	mkdir server
	cd server
	export VFTR_SESSION=server VFTR_AGENT=off
	("$AGENT" -q -k agent.linger_s=0.3 -k outfile_basename=server >agent.out 2>&1; echo $? >agent.status) &
	wait_for 10 "test -S $VFTR_RUNTIME_DIR/server.sock"
	VFTR_CONFIG=$PWD/../c.json VFTR_SET=outfile_basename=client limit "$BIN/one" a join=0 expect=1 start ring=w=1 finish
	wait_for 10 "test -s agent.status"
	is "server_all.json" "$(echo *_all.json)"'

done_testing
