#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='nothing goes on any more: agent.deadlock_s and agent.stop_file'
. "$(dirname "$0")/../lib/lib.sh"
need jq ip
need_built "$AGENT" "$LIB/libvftrace.so"
$TEST_CC $TEST_FLAGS -I"$TOP/libhook" -o "$BIN/one" "$T/session/app-session.c" -pthread $(test_link vftrace) ||
	skip_all 'app-session.c cannot be compiled'

# agent DIR [OPTION...]: one in the background, and the folder of its processes
agent() {
	mkdir -p "$1"
	cd "$1"
	VFTR_SESSION=$1
	VFTR_AGENT=off
	export VFTR_SESSION VFTR_AGENT
	shift
	("$AGENT" -q -k agent.linger_s=0.3 "$@" >agent.out 2>agent.err; echo $? >agent.status) &
	wait_for 10 "test -S $VFTR_RUNTIME_DIR/$VFTR_SESSION.sock"
}

one() {
	limit "$BIN/one" "$@" >"$1.out" 2>"$1.err" &
}

test_expect 'checklist 12: nobody makes progress: call stacks, and the results so far' '
	agent deadlock -k agent.deadlock_s=0.8
	one a join=0 expect=2 start ring=w=3 enter=receiving wait=go
	one b join=1 start ring=w=3 enter=sending wait=go
	wait_for 10 "test -s stacks_*.log && ls ./*_node_*.log"
	cat stacks_*.log agent.err
	grep -q "rank 0 .*: stays:receiving<init$" stacks_*.log
	grep -q "rank 1 .*: stays:sending<init$" stacks_*.log
	[ ! -e agent.status ]
	has agent.err "no thread has recorded anything for 0.8 s"
	sleep 1
	is 1 "$(grep -c "no thread" agent.err)"
	touch go
	wait_for 10 "test -s agent.status"
	is 0 "$(cat agent.status)"'

test_expect 'who makes progress slowly is not called idle' '
	agent slow -k agent.deadlock_s=2
	one a join=0 expect=1 start $(for i in $(seq 15); do echo ring=w=1 sleep=0.2; done) ring=w=1
	wait_for 10 "test -s agent.status"
	hasnt agent.err "no thread"
	[ ! -e stacks_*.log ]'

test_expect 'checklist 20: a stop file ends the run; the results are written, the processes live' '
	agent stopped -k agent.stop_file=$PWD/stop
	one a join=0 expect=1 start ring=w=3 wait=go touch=alive
	wait_for 10 "grep -q ring a.out"
	sleep 0.7
	[ ! -e agent.status ]
	touch ../stop
	wait_for 10 "test -s agent.status"
	has agent.err "the run is stopped"
	is 3 "$(json one_all.json .matching.pairs.exact)"
	touch go
	wait_for 10 "test -e alive"'

test_expect 'checklist 20: with a command, that gets the signal' '
	rm -f stop
	(sleep 0.5; touch stop) &
	status_of 143 traced -q -k agent.stop_file=$PWD/stop -- "$BIN/one" x join=0 expect=1 start sleep=100'

nodes_up 2
. "$T/lib/tcp.sh"

test_expect 'checklist 12: on two nodes, all have to be idle' '
	for n in 1 2; do
		start both node$n --peers node1:7001,node2:7001 -k agent.deadlock_s=1.5
	done
	up both node1 node2
	(cd both && run both node1 "$BIN/one" a join=0 expect=2 start ring=w=3 enter=receiving wait=go >a.out 2>&1) &
	(cd both && run both node2 "$BIN/one" b join=1 start ring=w=3 $(for i in $(seq 12); do echo sleep=0.2 states; done) touch=quiet enter=x wait=go >b.out 2>&1) &
	wait_for 10 "test -e both/quiet"
	[ ! -e both/stacks_node1.log ]
	wait_for 10 "test -s both/stacks_node1.log && test -s both/stacks_node2.log"
	has both/stacks_node1.log "stays:receiving<init"
	touch both/go
	wait_for 20 "test -s both/node1.status && test -s both/node2.status"'

done_testing
