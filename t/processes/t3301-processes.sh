#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='however a program starts others: each process is profiled as itself'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$LIB/libvftrace.so"

TEST_FLAGS="$TEST_FLAGS -D_GNU_SOURCE"
cc_traced "$BIN/processes" "$T/processes/app-processes.c" || skip_all 'app-processes.c cannot be compiled'
cc_plain "$BIN/processes-plain" "$T/processes/app-processes.c"
$TEST_CC -O1 -DCALL=SYS_pidfd_open -o "$BIN/without-pidfds" "$T/lib/without-call.c" || exit 1
ALL=processes_all.json

# run STATUS WAY...: traced; nothing is said, nothing is lost
run() {
	wanted=$1
	shift
	rm -f processes_*
	status_of "$wanted" traced -q -- "$BIN/processes" "$@" >out 2>err
	is '' "$(cat err)" 'standard error'
	is '[]' "$(jq -c .warnings $ALL)" 'warnings'
	is 0 "$(json $ALL .lost)" 'lost'
}

# profile LINE...: exactly these "CALLS PATH", in any order
profile() {
	printf '%s\n' "$@" >wanted.profile
	same_calls wanted.profile $ALL
}

processes() {
	is "$1" "$(json $ALL .processes)" processes
}

# parent_and_child FUNCTION: the parent's calls, and those of app-processes child
parent_and_child() {
	profile "1 $1<main<init" "1 work<$1<main<init" "10 leaf<work<$1<main<init" \
		"1 in_parent<$1<main<init" "1 work<in_parent<$1<main<init" \
		"30 leaf<work<in_parent<$1<main<init" '2 main<init' '1 in_child<main<init' \
		'1 work<in_child<main<init' '20 leaf<work<in_child<main<init'
	processes 2
}

test_expect 'posix_spawn(), system() and popen() of a traced program' '
	run 0 spawn
	parent_and_child spawn
	run 0 system
	parent_and_child by_system
	run 0 popen
	parent_and_child by_popen'

test_expect 'vfork(): what the child calls before exec is in no profile' '
	run 0 vfork
	parent_and_child by_vfork'

test_expect 'vfork(): children that call more than a block has room for' '
	run 0 vfork-storm
	profile "1 main<init" "1 vfork_storm<main<init" "20 work<vfork_storm<main<init" \
		"2000 leaf<work<vfork_storm<main<init"
	processes 1'

# with_clone LINE...: the parent of 50 children made by clone()
with_clone() {
	profile '1 main<init' '1 with_clone<main<init' '1 work<with_clone<main<init' \
		'10 leaf<work<with_clone<main<init' '50 in_parent<with_clone<main<init' \
		'50 work<in_parent<with_clone<main<init' \
		'15000 leaf<work<in_parent<with_clone<main<init' "$@"
}

test_expect 'clone() as a fork: the child never writes to its parent'"'"'s rings' '
	run 0 clone
	with_clone "50 run_clone<init" "50 work<run_clone<init" "250 leaf<work<run_clone<init"
	processes 51'

test_expect 'clone() as a vfork: the child is in no profile' '
	run 0 clone-vfork
	with_clone "50 run_clone<init" >/dev/null 2>&1 && exit 1
	with_clone
	processes 1'

test_expect 'clone() of a thread that shares the thread-local memory of another' '
	run 0 beside
	n=$(cat out)
	profile "1 main<init" "1 beside<main<init" "1 work<beside<main<init" \
		"10 leaf<work<beside<main<init" "$n in_parent<beside<main<init" \
		"$n work<in_parent<beside<main<init" \
		"${n}00 leaf<work<in_parent<beside<main<init"
	processes 1'

test_expect 'fork by the bare system call: parent and child are both exact' '
	run 0 raw-fork
	profile "1 main<init" "1 raw_fork<main<init" "1 work<raw_fork<main<init" \
		"10 leaf<work<raw_fork<main<init" "1000 in_parent<raw_fork<main<init" \
		"1000 work<in_parent<raw_fork<main<init" \
		"30000 leaf<work<in_parent<raw_fork<main<init" \
		"1000 in_child<init" "1000 work<in_child<init" "20000 leaf<work<in_child<init"
	processes 2
	run 0 raw-fork-silent
	is 30 $(calls_of $ALL "leaf<work<in_parent<raw_fork_silent<main<init")
	processes 1'

test_expect 'the same while the fast path is off: clock.source raw, small rings' '
	rm -f processes_*
	status_of 0 traced -q -k clock.source=raw -k shm.ring_size=32KiB -- \
		"$BIN/processes" raw-fork
	is 30000 $(calls_of $ALL "leaf<work<in_parent<raw_fork<main<init")
	is 20000 $(calls_of $ALL "leaf<work<in_child<init")
	is 0 "$(json $ALL .lost)" lost'

test_expect 'exec in a thread: two lives of one process' '
	run 6 thread-exec
	profile "2 main<init" "1 thread_exec<main<init" "1 work<thread_exec<main<init" \
		"10 leaf<work<thread_exec<main<init" "1 exec_in_thread<init" \
		"1 work<exec_in_thread<init" "7 leaf<work<exec_in_thread<init" \
		"1 in_child<main<init" "1 work<in_child<main<init" \
		"20 leaf<work<in_child<main<init"'

test_expect 'four threads fork at a time: children go on where their thread was' '
	run 0 thread-fork
	profile "1 main<init" "1 thread_fork<main<init" "4 fork_in_thread<init" \
		"8 work<fork_in_thread<init" "60 leaf<work<fork_in_thread<init" \
		"4 in_child<fork_in_thread<init" "4 work<in_child<fork_in_thread<init" \
		"80 leaf<work<in_child<fork_in_thread<init"
	processes 5'

test_expect 'a thread that holds the list of modules: others go on, and so do the children that they fork' '
	run 0 beside-list
	profile "1 main<init" "1 beside_list<main<init" "1 work<beside_list<main<init" \
		"10 leaf<work<beside_list<main<init" "100 in_parent<beside_list<main<init" \
		"100 work<in_parent<beside_list<main<init" \
		"30000 leaf<work<in_parent<beside_list<main<init" \
		"2 in_child<beside_list<main<init" "2 work<in_child<beside_list<main<init" \
		"40 leaf<work<in_child<beside_list<main<init"
	processes 3'

many=300
[ -z "$VFTR_LONG" ] || many=3000
test_expect "$many short children, 16 at a time: every one is there, and memory is bounded" "
	rm -f processes_*
	status_of 0 traced -q -k shm.ring_size=128KiB -- sh -c '
		$BIN/processes many $many
		s=\$?
		grep VmHWM /proc/\$PPID/status >memory
		exit \$s'
	profile '1 main<init' '1 many<main<init' '$many in_child<many<main<init' \
		'$many work<in_child<many<main<init' \
		'$((20 * many)) leaf<work<in_child<many<main<init'
	processes $((many + 1))
	is 0 \"\$(json \$ALL .lost)\" lost
	is \"$many\" \"\$(jq '[.each_process[] | select(.status == 6 and .parent == 0)] |
		length' \$ALL)\" children
	kib=\$(tr -dc 0-9 <memory)
	[ \$kib -lt \$((60000 + 24 * $many)) ]"

test_expect 'children that become programs we do not trace leave nothing behind' "
	run 0 many-others 100
	profile '1 main<init' '1 many_others<main<init'
	processes 1"

# outlives WAY FUNCTION SECONDS: the parent is gone, its child lives on for 200 ms or more
outlives() {
	profile '1 main<init' "1 $1<main<init" "1 work<$1<main<init" "10 leaf<work<$1<main<init" \
		"2 in_child<$1<main<init" "2 work<in_child<$1<main<init" \
		"40 leaf<work<in_child<$1<main<init"
	processes 2
}

test_expect 'a child that outlives the command is waited for' '
	run 0 outlive 200
	outlives outlive'

test_expect '... even if it calls its first function after the command has ended' '
	run 0 late 100
	outlives late'

test_expect '... and a daemon (two forks and setsid)' '
	run 0 daemon 100
	outlives a_daemon'

test_expect 'no longer than agent.linger_s: then it is left, and lives on' '
	rm -f processes_* pid
	traced -q -k agent.linger_s=0.2 -- "$BIN/processes" outlive 30000
	is 1 "$(jq "[.each_process[] | select(.end == \"running\")] | length" $ALL)" running
	is 20 $(calls_of $ALL "leaf<work<in_child<outlive<main<init")
	pid=$(jq ".each_process[] | select(.end == \"running\") | .pid" $ALL)
	kill $pid'

test_expect 'a daemon that closes every descriptor is not harmed' '
	rm -f processes_*
	status_of 0 traced -q -- "$BIN/processes" closing-daemon 100 2>err
	is "" "$(cat err)" "standard error"
	is 10 $(calls_of $ALL "leaf<work<closing_daemon<main<init")'

test_expect 'a process that closes every descriptor and becomes a traced program: two of the profile' '
	rm -f processes_*
	status_of 6 traced -q -- "$BIN/processes" closing-exec
	is "exec exited" "$(jq -r "[.each_process[].end] | join(\" \")" $ALL)"
	is 2 "$(jq ".each_process | map(.pid) | length" $ALL)"'

test_expect '... also where there are no pidfds, as with kernels before 5.3 and in some containers' '
	rm -f processes_*
	status_of 6 "$BIN/without-pidfds" "$AGENT" -q -- "$BIN/processes" closing-exec
	is "exec exited" "$(jq -r "[.each_process[].end] | join(\" \")" $ALL)"
	is "[]" "$(jq -c .warnings $ALL)" warnings'

test_expect 'agent beside the program: it stays until the last child has ended' '
	rm -f processes_*
	limit "$AGENT" -q -s beside &
	agent=$!
	wait_for 10 "[ -S $VFTR_RUNTIME_DIR/beside.sock ]"
	env VFTR_SESSION=beside "$BIN/processes" late 300
	wait $agent
	outlives late'

test_expect 'an agent that the program starts stays as long' '
	rm -f processes_*
	env VFTR_AGENT="$AGENT" "$BIN/processes" daemon 300
	wait_for 10 "[ -s $ALL ]"
	outlives a_daemon
	wait_for 5 "[ -z \"\$(agent_pids)\" ]"'

done_testing
