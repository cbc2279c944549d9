#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='sessions of processes without MPI, on three (pseudo-)nodes'
. "$(dirname "$0")/../lib/lib.sh"
need jq ip
need_built "$AGENT" "$LIB/libvftrace.so"
nodes_up 3
. "$T/lib/tcp.sh"
. "$T/lib/session.sh"

test_expect 'checklist 1, 2, 24: three processes on three nodes: one summary, all messages matched' '
	three world -k agent.linger_s=0.3
	one world node1 a join=0 expect=3 start ring=w=20 finish
	one world node2 b join=1 start ring=w=20 finish
	one world node3 c join=2 start ring=w=20 finish
	said world a "start 0 0/3 round 1"
	said world c "start 0 2/3 round 1"
	said world b "finish 0"
	statuses world 0 0 0
	ls world
	matched world/one_all.json 60
	is 3 "$(json world/one_all.json .ranks)"
	grep -q "^[^ ]*#[0-9a-f]*$" world/a.contact'

test_expect 'checklist 3, 15: contacts from other nodes, rounds, and communicators across nodes' '
	three contacts -k agent.linger_s=0.3
	one contacts node2 a join=1 start create=w=2,1 ring=n=5 finish start ring=w=2 finish
	one contacts node3 b join=2 start create=w=2,1 ring=n=5 finish start ring=w=2 finish
	one contacts node1 lead join=0 expect=3=a.contact,b.contact start finish start ring=w=2 finish
	said contacts a "create 0 1/2"
	said contacts lead "start 0 0/3 round 2"
	statuses contacts 0 0 0
	matched contacts/one_all.json 16
	for n in 1 2; do "$VFTR" collate -b one.round$n contacts; done
	is "10 6" "$(echo $(json contacts/one.round1_all.json .matching.pairs.exact) \
		$(json contacts/one.round2_all.json .matching.pairs.exact))" "matched in each round"
	is "0 1 2,1 2 2,2 0 2" "$(json contacts/one.round2_all.json \
		"[.thread_pairs[] | \"\(.from) \(.to) \(.messages)\"] | join(\",\")")"'

test_expect 'checklist 13, 14: children on other nodes than their parents' '
	three family -k agent.linger_s=0.3
	one family node2 a join=0 expect=1 start children=x.contact attach=0=w=2=x.contact ring=n=4 finish
	one family node1 b join===x.contact start ring=p=4 finish
	one family node3 c join===x.contact start ring=p=4 finish
	said family a "attach 0 0/3"
	statuses family 0 0 0
	matched family/one_all.json 12'

# A process that gets SIGTERM and does not care learns in its next call who is missing.
test_expect '--on-death abort: one dies on a node, those of the others are freed, told, and ended' '
	three abort -k agent.linger_s=0.3 --on-death abort
	one abort node2 lead join=0 expect=3 start ring=w=3 touch=ready sleep=60
	echo $! >lead.pid
	(cd abort && run abort node3 sh -c "trap \"\" TERM; exec \"\$0\" \"\$@\"" "$BIN/one" deaf join=2 \
		start ring=w=3 touch=waits create=w=0,1,2=60 finish=5 >deaf.out 2>deaf.err) &
	one abort node1 loser join=1 start ring=w=3 wait=ready wait=waits sleep=0.5 die=9
	wait "$(cat lead.pid)" || status=$?
	cat abort/*.out abort/*.err
	is 143 "$status" "exit status of the process on node2"
	statuses abort 0 0 0
	# it may have called after the other one had died, too
	grep -E "^deaf: create 9 vftrace_comm_create: (loser|lead) \(pid" abort/deaf.out
	has abort/node1.err "loser (pid"
	is "2 3" "$(json abort/one_all.json "\"\(.dead_ranks | length) \(.ranks)\"")"
	matched abort/one_all.json 9
	for node in node1 node2 node3; do
		is "" "$(nodes_run $node ls "$VFTR_RUNTIME_DIR" | grep "^abort")" "files of the session"
		is "" "$(nodes_run $node ls /dev/shm | grep -i vftr)" "shared memory"
	done'

test_expect 'checklist 10, 11: one is killed on another node: the others go on, and are told' '
	three killed -k agent.linger_s=0.3
	one killed node1 a join=0 expect=3 start ring=w=3 wait=go finish
	one killed node2 b join=1 start ring=w=3 wait=go create=w=1,2=60 finish
	one killed node3 c join=2 start ring=w=3 touch=ready sleep=0.3 die=9
	wait_for 10 "test -e killed/ready"
	sleep 1
	touch killed/go
	said killed a "finish 9 vftrace_finish: c (pid"
	said killed b "create 9 vftrace_comm_create: c (pid"
	has killed/b.out "on node3"
	statuses killed 0 0 0
	matched killed/one_all.json 9'

test_expect 'checklist 5, 6: numbers and time-outs across nodes' '
	three numbers -k agent.linger_s=0.3
	one numbers node2 a join=1 async wait=go leave
	said numbers a "join 0"
	one numbers node3 b join=1 join=0 expect=3 start=1
	said numbers b "join 5 vftrace_join: a (pid"
	said numbers b "start 7 vftrace_start: 2 of 3 processes have come; 1 have not joined"
	touch numbers/go
	statuses numbers 0 0 0'

test_expect 'an agent that is killed: its processes go on, the others are told who is missing' '
	three agentless -k agent.linger_s=0.3
	one agentless node1 a join=0 expect=3 start wait=go finish
	one agentless node2 b join=1 start wait=go finish
	one agentless node3 c join=2 start touch=ready wait=go finish send=w=0=1=1
	wait_for 10 "test -e agentless/ready"
	nodes_run node3 kill -9 "$(agent_of agentless node3)"
	sleep 1.5
	touch agentless/go
	said agentless c "finish 1"
	said agentless a "finish 9 vftrace_finish: c (pid"
	said agentless b "finish 9 vftrace_finish: c (pid"
	wait_for 30 "test -s agentless/node1.status"'

done_testing
