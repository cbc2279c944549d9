#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
test_description='the supervisor: the caller sees the command, whatever becomes of the agent'
. "$(dirname "$0")/../lib/lib.sh"

cc_plain "$BIN/look" -O1 "$T/nodes/app-supervised.c" -lutil
cc_traced "$BIN/signals" "$T/nodes/app-supervised.c" -lutil

got() {
	"$BIN/look" get "$@"
}

# start [OPTION...]: the program that counts all signals; $job is what the caller has
start() {
	rm -f state signals_* said
	"$AGENT" "$@" -- "$BIN/signals" program 2>said &
	job=$!
	wait_for 20 '[ "$(got ready)" = 1 ]'
}

# the program ends, and the caller sees that
finish() {
	"$BIN/look" end
	status_of 7 wait "$job"
}

test_expect 'each signal that can be caught reaches the command, once' '
	start -q
	sent="1 2 3 5 6 7 8 10 11 12 13 14 15 16 23 24 25 26 27 28 29 30 31 34 40 64"
	for i in $sent; do
		kill -$i $job
		wait_for 10 "[ \$(got count $i) = 1 ]"
	done
	sleep 0.1
	for i in $sent; do is 1 "$(got count $i)" "signal $i"; done
	finish
	is 1 "$(calls_of signals_all.json "main<init")"'

test_expect 'the value of a queued signal reaches it, too' '
	start -q
	env kill --queue 4711 -s RTMIN+2 $job
	wait_for 10 "[ \"\$(got value)\" = 4711 ]"
	finish'

test_expect 'a signal that ends the command: 128 + its number, and the profile' '
	for i in 1 2 3 10 12 14 15 24 26 27; do
		rm -f state signals_*
		(trap - INT QUIT; exec "$AGENT" -q -- env --default-signal "$BIN/signals" program 40) &
		job=$!
		wait_for 20 "[ \"\$(got ready)\" = 1 ]"
		kill -$i $job
		status_of $((128 + i)) wait $job
		is "[$i]" "$(jq -c "[.dead[].signal]" signals_all.json)"
	done'

test_expect 'signals that reach agent and command, as of a batch system: each is as untraced' '
	start -q
	agent=$(agent_pids)
	for i in 1 2 3 10 12 14 15 24 26 27 28 34; do
		kill -$i $agent
	done
	kill -10 $job $agent
	wait_for 10 "[ \$(got count 10) = 1 ]"
	is "$agent" "$(agent_pids)"
	finish
	is 1 "$(calls_of signals_all.json "main<init")"'

test_expect 'what the command sends to its whole group reaches it once' '
	rm -f got
	status_of 3 setsid -w "$AGENT" -q -- bash -c "trap \"echo x >>got\" TERM
		kill -TERM 0; sleep 0.2; exit 3"
	is 1 "$(wc -l <got)"'

test_expect 'on a terminal: ^C, ^\, ^Z, size, background and status are as untraced' '
	rm -f state
	limit "$BIN/look" terminal "$BIN/look" program 2 3 28 >untraced
	rm -f state
	limit "$BIN/look" terminal "$AGENT" -q -- "$BIN/signals" program 2 3 28 >traced
	cat traced
	diff untraced traced
	hasnt traced "not:"
	has traced "INT 2, QUIT 1, WINCH 1"
	has traced "status 7"
	is 1 "$(calls_of signals_all.json "main<init")"'

test_expect 'the agent is ended by a signal: the status is the command'\''s, and it is said' '
	for i in KILL SEGV ABRT BUS; do
		start
		kill -$i $(agent_pids)
		finish
		is 1 "$(grep -c "ended the agent: there is no profile" said)" "$i: $(cat said)"
		[ ! -e signals_all.json ]
	done'

test_expect 'the agent is stopped: it goes on when the command has ended, and writes' '
	start
	kill -STOP $(agent_pids)
	sleep 0.2
	finish
	is 1 "$(calls_of signals_all.json "main<init")"'

test_expect 'the agent hangs: the caller has the status after a while, with one sentence' '
	start -k agent.deadline_s=1
	agent=$(agent_pids)
	"$BIN/look" hang $agent 300 &
	hang=$!
	wait_for 10 "grep -q \"^State:.t\" /proc/$agent/status"
	"$BIN/look" end
	before=$(date +%s)
	status_of 7 wait $job
	no_later 10 $before
	is 1 "$(grep -c "left behind" said)" "$(cat said)"
	kill $hang # and then it writes
	wait_for 10 "[ -e signals_all.json ]"
	wait_for 10 "[ ! -d /proc/$agent ]"'

test_expect 'the second SIGTERM while a hung agent is waited for ends the wait' '
	start
	agent=$(agent_pids)
	"$BIN/look" hang $agent 300 &
	hang=$!
	wait_for 10 "grep -q \"^State:.t\" /proc/$agent/status"
	"$BIN/look" end
	wait_for 10 "grep -q \"^State:.Z\" /proc/$(pgrep -P $job -x signals)/status"
	kill $job
	sleep 0.3
	kill $job
	status_of 7 wait $job
	kill $hang
	wait_for 10 "[ ! -d /proc/$agent ]"'

test_expect 'the agent is killed or hangs before it could start the command, which runs untraced' '
	for i in 1 2 3 4 5 6; do
		rm -f signals_* ran
		"$AGENT" -q -- sh -c ": >ran; exit 5" 2>said &
		job=$!
		# as early as it can be had
		until agent=$(pgrep -P $job -x vftr-agent) || [ ! -d /proc/$job ]; do :; done
		[ -z "$agent" ] || kill -9 $agent || :
		status_of 5 wait $job
		[ -e ran ]
	done'

# looking for a command in so many directories takes long enough to stop the agent meanwhile
test_expect 'the agent is stopped while a command is looked for that is not there: 127' '
	many=$(printf "/x:%.0s" {1..40000})
	for i in 1 2; do
		env PATH="${many}/bin" "$AGENT" -- no-such-command-anywhere 2>said &
		job=$!
		agent=
		until [ -n "$agent" ] || [ ! -d /proc/$job ]; do
			read -r first second </proc/$job/task/$job/children || :
			[ -z "$second" ] || agent=$first
		done 2>nothing
		[ -z "$agent" ] || kill -STOP $agent || :
		wait_for 20 "[ ! -d /proc/$job ] || grep -q \"^State:.Z\" /proc/$job/status" ||
			{ kill -CONT $agent; false; }
		status_of 127 wait $job
		has said "cannot run no-such-command-anywhere"
	done'

test_expect 'the supervisor is killed: the command goes on, and the profile is written' '
	start -q
	agent=$(agent_pids)
	kill -9 $job
	wait $job || :
	sleep 0.2
	[ -d /proc/$agent ]
	"$BIN/look" end
	wait_for 20 "[ -e signals_all.json ]"
	wait_for 10 "[ ! -d /proc/$agent ]"
	is 1 "$(calls_of signals_all.json "main<init")"
	is "[]" "$(jq -c .dead signals_all.json)"'

test_if 'setpriv --pdeathsig KILL true' 'no setpriv(1) that knows --pdeathsig' \
	'who dies with his parent by SIGKILL takes the command along' '
	rm -f state
	sh -c "setpriv --pdeathsig KILL $AGENT -q -- $BIN/signals program; :" &
	wait_for 20 "[ \"\$(got ready)\" = 1 ]"
	program=$(pgrep -f "^$BIN/signals program")
	kill -9 $!
	wait_for 10 "[ ! -d /proc/$program ]"
	wait_for 10 "[ -z \"\$(agent_pids)\" ]"'

test_expect 'standard input and output are the command'\''s alone' '
	is 100000 "$(head -c 100000 /dev/zero | traced -q -- cat | wc -c)"
	rm -f end early # its reader sees the end when the command closes it
	"$AGENT" -q -- sh -c "exec >&- 3>&-; for i in 1 2 3 4 5 6 7 8 9; do
		[ ! -e end ] || : >early; sleep 0.2; done" 3>&1 | (cat; : >end)
	[ -e early ]
	traced -q -- sh -c "echo five >&5" 5>out
	is five "$(cat out)"'

test_expect 'the command gets masks and dispositions as they were: SIGCHLD ignored, SIGHUP blocked' '
	for how in "" "$AGENT -q --"; do
		env --ignore-signal=CHLD,HUP,USR1 --block-signal=USR2,WINCH $how \
			grep -E "^Sig(Blk|Ign|Cgt)" /proc/self/status
	done >all
	is 3 "$(sort -u all | wc -l)" "$(cat all)"
	status_of 4 env --ignore-signal=CHLD "$AGENT" -q -- sh -c "exit 4"'

test_expect '127 for a command that is not there, 126 for one that cannot be executed, 125 for ours' '
	status_of 127 traced -- no-such-command 2>err
	has err "cannot run no-such-command"
	is 1 "$(wc -l <err)"
	status_of 127 traced -- ./no/such 2>err
	: >plain
	status_of 126 traced -- ./plain 2>err
	has err "cannot run ./plain: Permission denied"
	status_of 126 traced -- "$PWD" 2>err
	status_of 125 traced -o nowhere -- true 2>err
	status_of 125 traced --no-such-option -- true 2>err
	status_of 137 traced -- sh -c "kill -9 \$\$" 2>err
	is "" "$(agent_pids)" "agents left"'

done_testing
