#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='sessions of processes without MPI, on one node'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$LIB/libvftrace.so"

$TEST_CC $TEST_FLAGS -I"$TOP/libhook" -o "$BIN/one" "$T/session/app-session.c" -pthread $(test_link vftrace) ||
	skip_all 'app-session.c cannot be compiled'
$TEST_CC $TEST_FLAGS -DDYNAMIC -I"$TOP/libhook" -o "$BIN/free" "$T/session/app-session.c" -pthread

SESSION_TIMES=1
export SESSION_TIMES

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

# one NAME STEP...: a process in the background; its words in NAME.out
one() {
	limit "$BIN/one" "$@" >"$1.out" 2>"$1.err" &
}

# over STATUS: the agent has ended with it, and all processes; neither has left anything
over() {
	wait_for 20 'test -s agent.status'
	cat ./*.out agent.err
	is "$1" "$(cat agent.status)" 'exit status of the agent'
	wait
	is '' "$(ls "$VFTR_RUNTIME_DIR" | grep "^${VFTR_SESSION}[.]")" 'files of the session'
	is '' "$(ls /dev/shm | grep -i vftr)" 'shared memory'
	is '' "$(agent_pids)" agents
}

# in_time NAME STEP: each such step took less than 5 s
in_time() {
	awk -v what="$1: $2 took" 'index($0, what) == 1 { n++; late += $NF >= 5 }
		END { exit !n || late }' "$1.out"
}

# said NAME WORDS
said() {
	wait_for 20 "grep -qF '$1: $2' $1.out" || { cat ./*.out; return 1; }
}

matched() {
	is "$1" "$(json one_all.json .matching.pairs.exact)" 'messages matched exactly'
	is "0 0" "$(json one_all.json '"\(.matching.unmatched_sends | add) \(.matching.unmatched_recvs | add)"')" unmatched
}

test_expect 'an agent without a name for its session says whose processes it takes' '
	mkdir bare
	cd bare
	(env -u VFTR_SESSION "$AGENT" >said 2>&1; echo $? >agent.status) &
	wait_for 10 "grep -q waiting said"
	is "vftr-node-agent: waiting for processes of session \`default'"'"', which is that of all of yours that \
name no session; Ctrl-C ends it" "$(cat said)"
	kill -TERM $(head -n 1 "$VFTR_RUNTIME_DIR/default.lock")
	wait_for 20 "test -s agent.status"
	agent named
	kill -TERM $(head -n 1 "$VFTR_RUNTIME_DIR/named.lock")
	wait_for 20 "test -s agent.status"
	is "" "$(cat agent.err)"'

test_if '[ -n "$(mpi_list)" ]' 'no MPI that can be run here' 'of several agents the first one says it' '
	mkdir -m 700 several several/0 several/1
	cd several
	mpi=$(mpi_list | head -n 1)
	env -u VFTR_SESSION timeout -k 5 60 $(mpirun_of $mpi) -np 2 sh -c "
		VFTR_RUNTIME_DIR=\$PWD/\${OMPI_COMM_WORLD_RANK:-\$PMI_RANK} exec \$1" sh "$AGENT" >said 2>&1 &
	wait_for 30 "grep -q waiting said && test -s 0/default.lock && test -s 1/default.lock"
	is 1 "$(grep -c "waiting for processes of session .default.," said)"
	kill -TERM $(head -n 1 0/default.lock) $(head -n 1 1/default.lock)
	wait $!
	is 1 "$(grep -c "no process was traced" said)"'

test_expect 'checklist 3: clients first: the one that leads gets their contacts' '
	agent clients
	one a join=1 start ring=w=5 finish
	one b join=2 start ring=w=5 finish
	one lead join=0 expect=3=a.contact,b.contact start ring=w=5 finish
	over 0
	said lead "start 0 0/3 round 1"
	said b "start 0 2/3"
	said a "finish 0"
	matched 15'

test_expect 'checklist 3: server first: the others get its contact, behind \"S:\"' '
	agent server
	one lead join=0 expect=3 start ring=w=5 finish
	one a join==S:=lead.contact start ring=w=5 finish
	one b join==S:=lead.contact start ring=w=5 finish
	over 0
	said lead "start 0 0/3"
	matched 15'

# alone NAME STEP...: as one, without an agent or session before
alone() {
	(unset VFTR_SESSION; VFTR_AGENT=$AGENT VFTR_CONFIG=$PWD/quick.json limit "$BIN/$program" "$@" \
		>"$1.out" 2>"$1.err") &
}

test_expect 'a contact leads to the agent that a process has started itself' '
	mkdir own
	cd own
	echo "{\"agent\": {\"linger_s\": 0.3}}" >quick.json
	program=one
	alone lead join=0 expect=3 start ring=w=5 finish
	alone a join==S:=lead.contact start ring=w=5 finish
	said a "join 0"
	alone b join==S:=lead.contact start ring=w=5 finish
	said lead "start 0 0/3 round 1"
	wait
	wait_for 20 "test -s one_all.json"
	matched 15
	is 3 "$(json one_all.json ".processes | length")"
	wait_for 20 "test -z \"\$(agent_pids)\""'

test_expect 'one that has an agent of its own is told which VFTR_SESSION it needs' '
	mkdir two
	cd two
	echo "{\"agent\": {\"linger_s\": 0.3}}" >quick.json
	program=one
	alone lead join=0 expect=2 start ring=w=5 finish
	wait_for 20 "test -s lead.contact"
	program=traced
	cc_traced "$BIN/traced" -I"$TOP/libhook" "$T/session/app-session.c" -pthread
	alone a join==S:=lead.contact
	said a "join 6 vftrace_join: the contact "
	sed -n "s/.*VFTR_SESSION=\(process-[0-9]*\)$/\1/p" a.out >session
	VFTR_SESSION=$(cat session) limit "$BIN/traced" b join==S:=lead.contact start ring=w=5 finish >b.out
	said b "start 0 1/2"
	wait
	wait_for 20 "test -z \"\$(agent_pids)\""
	matched 10'

test_expect 'checklist 3, 13: parents contact: children of an attach; the parents come first' '
	agent parent
	one a join=0 expect=2 start children=for.contact attach=0=w=2=for.contact ring=n=4 ring=w=4 finish
	one b join=1 start attach=0=w ring=n=4 ring=w=4 finish
	one c join=0==for.contact start parent ring=p=4 ring=w=4 finish
	one d join=1==for.contact start parent ring=p=4 ring=w=4 finish
	over 0
	said a "attach 0 0/4"
	said b "attach 0 1/4"
	said c "start 0 0/2"
	said d "parent 0"
	said c "finish 0"
	matched 32
	json one_all.json ".communication_matrix | tostring" | head -c 2000'

test_expect 'checklist 14: children of children; those of the first round have no parent' '
	agent deeper
	one a join=0 expect=1 start parent children=x.contact attach=0=w=1=x.contact ring=n=3 finish
	one b join===x.contact start parent children=y.contact attach=0=w=2=y.contact ring=p=3 ring=n=2 finish
	one c join===y.contact start ring=p=2 finish
	one d join===y.contact start ring=p=2 finish
	over 0
	said a "parent 99"
	said b "parent 0"
	said b "attach 0 0/3"
	matched 12'

test_expect 'checklist 15: communicators of the users own, freed and made again' '
	agent own
	for i in 0 1 2 3; do
		case $i in
		0 | 2) other=2,0 ;;
		*) other=1,3 ;;
		esac
		one p$i join=$i expect=4 start create=w=$other ring=n=3 free=n create=w=3,2,1,0 ring=n=2 finish
	done
	over 0
	said p0 "create 0 1/2"
	said p2 "create 0 0/2"
	said p0 "create 0 3/4"
	matched 20'

test_expect 'checklist 5: a number that is taken, or too large, fails and names who has it' '
	agent numbers
	one a join=1 start=8
	said a "join 0"
	one b join=1
	said b "join 5 vftrace_join: a (pid"
	one c join=7 expect=2 start=8
	said c "start 5 vftrace_start: c (pid"
	said a "start 5"
	over 0'

test_expect 'checklist 5: numbers that nobody has asked for are given out' '
	agent automatic
	one a join=2 expect=3 start finish
	said a "join 0"
	one b join=-1 start finish
	said b "join 0"
	one c join=-1 start finish
	over 0
	said a "start 0 2/3"
	said b "start 0 0/3"
	said c "start 0 1/3"'

test_expect 'checklist 6: start has a time-out, which says who is missing; it may be called again' '
	agent timeout
	one a join=0 expect=3 start=0.3 start=10 finish
	one b join=1 touch=b.there wait=go start finish
	said a "start 7 vftrace_start: 1 of 3 processes have come; missing: b (pid"
	has a.out "1 have not joined"
	one c join=2 start finish
	touch go
	over 0
	said a "start 0 0/3"'

test_expect 'checklist 6: start without waiting, and test' '
	agent async
	one a join=0 expect=2 async test=0.05 test=10 ring=w=1 finish
	said a "test -1"
	one b join=1 async test=10 ring=w=1 finish
	over 0
	said a "test 0 0/2"
	matched 2'

test_expect 'checklist 6, 10: a process that is killed before the start: the others are told who' '
	agent before
	one a join=0 expect=2 start=10
	said a "join 0"
	one b join=1 sleep=0.3 die=9
	said a "start 9 vftrace_start: b (pid"
	over 0
	in_time a start'

test_expect 'who comes in the place of the dead is welcome' '
	agent again
	one a join=0 expect=2 start=10 wait=go start=10 finish
	one b join=1 sleep=0.2 die=9
	said a "start 9"
	one c join=1 touch=go start finish
	over 0
	said c "start 0 1/2"
	said a "finish 0"'

test_expect 'checklist 7: abort of another thread ends what waits, in all processes' '
	agent abort
	one a join=0 expect=3 abortafter=0.5 start=20
	one b join=1 start=20
	said a "start 8 vftrace_start: a (pid"
	said b "start 8 vftrace_start: a (pid"
	over 0
	in_time a start
	in_time b start'

test_expect 'checklist 8: several rounds in one life' '
	agent rounds -k profile_table.threads=all -k sampling.active=true
	for i in 0 1; do
		one p$i join=$i expect=2 start ring=w=2 counter=load==5,2 finish \
			start ring=w=3 counter=load==3,4,$i finish start ring=w=4 finish
	done
	over 0
	said p1 "start 0 1/2 round 3"
	matched 18
	is 2 "$(json one_all.json .ranks)"
	for n in 1 2 3; do
		is "2 $((2 * (n + 1)))" "$(json one.round${n}_all.json \
			"\"\(.ranks) \([.communication_matrix[] | .sends] | add)\"")" "round $n"
		is $((2 * (n + 1))) "$(calls_of one.round${n}_all.json "vftrace_log_receive<init")"
		is $((2 * (n + 1))) "$(json one.round${n}_all.json .matching.pairs.exact)" matched
		is "0 1 $((n + 1)),1 0 $((n + 1))" "$(json one.round${n}_all.json \
			"[.thread_pairs[] | \"\(.from) \(.to) \(.messages)\"] | join(\",\")")"
		is "$((n + 1)) $((n + 1)) true" "$(json one.round${n}_all.json \
			"\"\([.each_thread[].sends] | join(\" \")) \(.calls == ([.each_thread[].calls] | add))\"")"
	done
	counters="[.user_counters[] | \"\(.rank) \(.values) \(.min) \(.mean) \(.max)\"] | join(\",\")"
	is "0 2 2 3.5 5,1 2 2 3.5 5" "$(json one.round1_all.json "$counters")"
	is "0 3 0 2.3333333333333335 4,1 3 1 2.6666666666666665 4" "$(json one.round2_all.json "$counters")"
	is "" "$(json one.round3_all.json "$counters")"
	is "0 5 0 2.8 5,1 5 1 3 5" "$(json one_all.json "$counters")"
	for n in 1 2 3; do
		"$VFTR" dump --json --round $n one_*.vfd >cut.json
		is $((2 * (n + 1))) "$(json cut.json "[.events[] | select(.kind == \"send\")] | length")" sends
		is "1 2 3" "$(json cut.json "[.rounds[].number] | join(\" \")")"
		is $((2 * (n + 1))) "$("$VFTR" export -f chrome --round $n -o - . |
			jq "[.traceEvents[] | select(.ph == \"s\")] | length")" arrows
	done
	{
		status_of 2 "$VFTR" dump --round 4 one_*.vfd
		status_of 2 "$VFTR" export -f chrome -o - --round 4 .
		status_of 2 "$VFTR" dump --round 0 one_*.vfd
		status_of 2 "$VFTR" export -f chrome -o - --round 1 --to 3 .
	} 2>words
	cat words
	is "2 1 1" "$(echo $(grep -c "no round 4" words) $(grep -c "not a number of a round" words) \
		$(grep -c "not with --from" words))"
	is "0 1 9,1 0 9" "$(json one_all.json \
		"[.thread_pairs[] | \"\(.from) \(.to) \(.messages)\"] | join(\",\")")"
	rm one.round2_all.json
	"$VFTR" collate -b one.round2 .
	is 6 "$(calls_of one.round2_all.json "vftrace_log_send<init")"'

test_expect 'checklist 9: reset: as if the round had never begun; leave: as if it had not joined' '
	agent reset
	for i in 0 1; do
		one p$i join=$i expect=2 start ring=w=2 reset ring=w=1 start ring=w=2 finish leave start join=$i
	done
	over 0
	said p0 "ring 3"
	said p0 "start 0 0/2 round 2"
	said p1 "start 2 this process has not joined"
	matched 8'

test_expect 'checklist 10, 11: killed in the round: the others finish, and are told' '
	agent killed
	one a join=0 expect=3 start ring=w=2 wait=go finish
	one b join=1 start ring=w=2 wait=go finish
	one c join=2 start ring=w=2 create=w=0,2=0.2 die=9
	wait_for 10 "grep -q \"create 7\" c.out"
	sleep 0.3
	touch go
	over 0
	said a "finish 9 vftrace_finish: c (pid"
	said b "finish 9"
	in_time c create
	matched 6
	has agent.err "has died before round 1 was finished"'

test_expect 'checklist 10: --on-death abort ends the others' '
	agent ondeath --on-death abort
	one a join=0 expect=2 start sleep=20
	one b join=1 start sleep=0.2 die=11
	over 0
	hasnt a.out "sleep took"
	[ ! -e one.round1_all.json ]'

test_expect 'create with a dead member, and with a list that the others do not have' '
	agent wrong
	one a join=0 expect=2 start create=w=0,1,1 create=w=1 create=w=0,7 wait=go create=w=0,1 finish
	one b join=1 start die=9
	said a "create 11 vftrace_comm_create: rank 0 calls it"
	sleep 0.3
	touch go
	over 0
	said a "create 9 vftrace_comm_create: b (pid"
	is 3 "$(grep -c "create 11" a.out)"'

test_expect 'contacts that nobody has given, and calls in the wrong order' '
	agent order
	echo nonsense#0123456789abcdef >bad.contact
	one a start send=w=0=1=1 join==S:=bad.contact join===bad.contact expect=1 join=0 join=0 expect=0 expect=1=bad.contact finish attach=0=w=1=bad.contact expect=1 start start send=w=1=1=1 send=77=0=1=1 send=w=0=-1=1 attach=0=w=1=bad.contact=1 finish finish
	over 0
	said a "start 2"
	said a "send 2"
	is 3 "$(grep -c "join 6 vftrace_join: no\|expect 6" a.out)"
	said a "join 4"
	said a "expect 11"
	said a "finish 3"
	said a "attach 3"
	said a "start 4"
	is 3 "$(grep -c "send 11" a.out)"
	said a "attach 6"'

test_expect 'checklist 16, 17: self messages, tags, and sizes beyond 4 GiB' '
	agent sizes
	one a join=0 expect=2 start send=s=0=1=5000000000 recv=s=0=1=5000000000 send=w=1=5=1 send=w=1=6=2 recv=w=1=0=3 finish
	one b join=1 start recv=w=0=6=2 recv=w=0=5=1 send=w=0=0=3 send=w=0=9=4 finish
	over 0
	is 4 "$(json one_all.json .matching.pairs.exact)"
	is 1 "$(json one_all.json ".matching.unmatched_sends | add")"
	is 5000000000 "$(json one_all.json "[.communicators[].bytes_sent] | max")"'

test_expect 'checklist 18: classes and states with their source' '
	agent states
	one a join=0 expect=1 start states data=input=4096 data=input=1000 coll=0=w=-1=0 coll=3=w=-1=8 unordered finish
	over 0
	is 1 "$(calls_of one_all.json "class:state<init")"
	is 2 "$(calls_of one_all.json "class:state@file.c:17<init")"
	has one_all.json "(data) input"
	matched 1'

test_expect 'counters of the program: least, mean, greatest, last; what is no value is refused' '
	agent counters
	one a join=0 expect=2 start counter=queue=items=3,-5,4294967298,4 counter=load==0.5,1e-300,2.5 finish
	one b join=1 start counter=queue=items=7 counterswrong finish
	over 0
	said b "counterswrong 0"
	is "0 queue items integer 4 -5 4294967298 4,1 queue items integer 1 7 7 7" "$(json one_all.json \
		"[.user_counters[] | select(.name == \"queue\") | \"\(.rank) \(.name) \(.unit) \(.type) \(.values) \(.min) \(.max) \(.last)\"] | join(\",\")")"
	is "1 1e-300" "$(json one_all.json ".user_counters[] | select(.name == \"load\") | \"\(.mean) \(.min)\"")"
	is "integer -3 real 4" "$(json one_all.json \
		"[.user_counters[] | select(.name == \"mixed\") | \"\(.type) \(.last)\"] | join(\" \")")"
	grep -q "| *0 | *queue | items | *4 | *-5 | *1073741825 | 4294967298 | *4 |" one_node_*.log
	mkdir again
	"$VFTR" collate -o again .
	is "$(json one_all.json ".user_counters | tostring")" "$(json again/one_all.json ".user_counters | tostring")"'

test_expect 'checklist 22: a program without the library runs, and does nothing' '
	agent dynamic
	limit "$BIN/free" x join expect=1 start ring=w=2 finish load=$LIB/libvftrace.so join expect=1 start ring=w=2 finish >x.out
	is 5 "$(grep -c "x: [a-z]* 1" x.out)"
	is 0 "$(nm -D -u "$BIN/free" | grep -c vftrace_)" "undefined symbols of the library"
	said x "finish 0"
	wait_for 10 "test -s agent.status"
	is 2 "$(json free_all.json .matching.pairs.exact)"'

test_if 'command -v $TEST_FC' 'no Fortran compiler' 'checklist 21: the same from Fortran' '
	agent fortran
	$TEST_FC $TEST_FLAGS -I"$BUILD/include" -J. -o "$BIN/fs" "$T/session/app-session.f90" $(test_link vftrace)
	is done "$(limit "$BIN/fs")"
	wait_for 10 "test -s agent.status"
	is 1 "$(json fs_all.json .matching.pairs.exact)"
	is "7 0.25" "$(json fs_all.json "[.user_counters[].last] | sort | reverse | join(\" \")")"
	is 1 "$(calls_of fs_all.json "class:state@file.f90:7<init")"'

test_if 'command -v $TEST_FC' 'no Fortran compiler' 'clients first, led from Fortran: contacts are an argument of expect' '
	agent fortran-leads
	one a join=1 start ring=w=5 finish
	one b join=2 start ring=w=5 finish
	said a "join 0"
	said b "join 0"
	is led "$(limit "$BIN/fs" a.contact b.contact)"
	over 0
	said a "start 0 1/3 round 1"
	is 15 "$(json fs_all.json .matching.pairs.exact)"'

test_expect 'without an agent all calls return, and nothing is said' '
	VFTR_AGENT=off VFTR_SESSION=nobody limit "$BIN/one" x join expect=1 start send=w=0=1=1 test parent finish leave >x.out 2>x.err
	is 8 "$(grep -c "x: [a-z]* 1 there is no node agent" x.out)"
	is 0 "$(wc -c <x.err)"'

test_expect 'checklist 25: attach of a child takes less than 5 ms; the fastest of some' '
	for try in $(seq 20); do
		(
			agent attach$try
			one a join=0 expect=1 start children=x.contact wait=ready sleep=0.1 attach=0=w=1=x.contact finish
			one c join===x.contact touch=ready start finish
			over 0
		)
		sed -n "s/^a: attach took //p" attach$try/a.out | tee -a times
		[ $try -lt 4 ] || ! sort -n times | awk "NR == 1 { exit !(\$1 < 0.005) }" || break
	done
	awk "/^[0-9.]*\$/ { if (!n++ || \$1 < least) least = \$1 } END { exit !(n && least < 0.005) }" times'

test_expect '100 processes join, start, and are all matched' '
	agent many
	for i in $(seq 0 99); do
		one p$i join=$i expect=100 start ring=w=1 finish
	done
	over 0 >/dev/null
	for i in $(seq 0 99); do
		said p$i "start 0 $i/100"
	done
	matched 100'

test_expect 'a name has one number, whichever thread asks, however many there are' '
	cat >names.c <<-END
		#include <pthread.h>
		#include <stdio.h>
		#include <vftrace-session.h>
		enum { THREADS = 4, NAMES = 20000 };
		static int number[THREADS][NAMES];

		static void *name_all(void *numbers)
		{
			char file[32];

			for (int i = 0; i < NAMES; i++) {
				snprintf(file, sizeof(file), "file%d.c", i / 2);
				vftrace_location(file, i % 2, &((int *)numbers)[i]);
			}
			return NULL;
		}

		int main(void)
		{
			static char seen[NAMES + 1];
			pthread_t t[THREADS];
			int wrong = 0;

			for (int i = 0; i < THREADS; i++)
				pthread_create(&t[i], NULL, name_all, number[i]);
			for (int i = 0; i < THREADS; i++)
				pthread_join(t[i], NULL);
			for (int i = 0; i < NAMES; i++) {
				const int n = number[0][i];

				for (int k = 1; k < THREADS; k++)
					wrong += number[k][i] != n;
				wrong += n < 1 || n > NAMES || seen[n]++;
			}
			printf("%d wrong\\n", wrong);
			return 0;
		}
	END
	gcc $TEST_FLAGS -I"$TOP/libhook" -o names names.c -pthread $(test_link vftrace)
	is "0 wrong" "$(traced -q -- ./names)"'

done_testing
