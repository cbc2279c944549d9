#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='sampling.keep: the last seconds are held in memory, and written when something happens'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$VFTR"

cc_traced "$BIN/flight" "$T/agent/app-flight.c"
# on a busy machine any step may be slow
keep='-q -k output.layout=run -k sampling.keep=2s -k sampling.when=signal,death'

# whole VFD: every step that begins and ends in the file has 100 leaves; at least 100 such steps
whole() {
	"$VFTR" dump "$1" >dump
	grep -qx "Complete:        yes" dump
	awk '$2 == "call" && $3 ~ /^step</ { leaves = 0; in_step = 1 }
		$2 == "call" && $3 ~ /^leaf<deep<step<main<init/ { leaves++ }
		$2 == "exit" && $3 ~ /^step</ { if (in_step) { n++; if (leaves != 100) { print "a step of", leaves; bad = 1 } } in_step = 0 }
		END { print n + 0, "steps"; exit !(n >= 100) || bad }' dump
}

# seconds_of VFD: from its first event to its last one
seconds_of() {
	"$VFTR" dump "$1" | awk '$2 == "call" || $2 == "exit" { if (!n++) first = $1; last = $1 } END { print last - first }'
}

# signalled PID: sends SIGURG to the agent that has this child or parent
urge() {
	for pid in $(agent_pids); do
		kill -URG $pid
	done
}

test_expect 'SIGURG writes one file of the last seconds, in which each step is whole' '
	rm -f stop
	limit "$AGENT" $keep -o out -- "$BIN/flight" >steps &
	sleep_pid=$!
	wait_for 20 "[ -n \"\$(agent_pids)\" ]"
	sleep 4
	urge
	wait_for 20 "[ -s out/*-signal1.vfd ] && \"$VFTR\" dump -H out/*-signal1.vfd | grep -qx \"Complete:        yes\""
	touch stop
	wait $sleep_pid
	is 1 "$(ls out/*.vfd | wc -l)"
	whole out/*-signal1.vfd
	grep "flight recorder: signal1: SIGURG came" out/node-*.log
	# two seconds before the signal and half a one behind it
	seconds_of out/*-signal1.vfd | awk "{ print; exit !(\$1 > 1.4 && \$1 < 3.5) }"
	# the profile has all
	is "$(($(cat steps) * 100))" "$(calls_of out/profile.json "leaf<deep<step<main<init")"'

# calls_of_still N: the leaves of N rounds, each followed by a call, of which the last goes on
calls_of_still() {
	wait_for 20 "[ -s still/*-signal$1.vfd ] && \"$VFTR\" dump -H still/*-signal$1.vfd | grep -qx \"Complete:        yes\""
	"$VFTR" dump still/*-signal$1.vfd >dump
	is $((3 * $1)) "$(grep -c " exit leaf<rounds<main<init" dump)" leaves
	is "$1" "$(grep -c " call still<rounds<main<init" dump)" "calls that began"
	is $(($1 - 1)) "$(grep -c " exit still<rounds<main<init" dump)" "calls that ended"
}

test_expect 'a thread that records little: the file has its last events, and the next one goes on behind them' '
	limit "$AGENT" $keep -k sampling.keep=100s -o still -- "$BIN/flight" still 3 &
	sleep_pid=$!
	for k in 1 2 3; do
		wait_for 20 "[ -f at$k ]"
		urge
		calls_of_still $k
		touch go$k
	done
	wait $sleep_pid
	is 9 "$(calls_of still/profile.json "leaf<rounds<main<init")"
	is 3 "$(calls_of still/profile.json "still<rounds<main<init")"
	is 3 "$(jq ".warnings | length" still/profile.json)" "lines of the log, one for each file"'

test_expect 'all readers take it' '
	limit "$VFTR" export -f perfetto -o p.json out
	[ "$(grep -ao leaf p.json | wc -l)" -gt 0 ]
	limit "$VFTR" export -f speedscope -o s.json out
	jq -e ".profiles[0].events | length > 1000" s.json
	limit "$VFTR" dump --json out >dump.json
	is "[]" "$(jq -c .damage dump.json)"'

test_expect 'without an event nothing is written, and the profile is that of any run' '
	touch stop
	limit "$AGENT" $keep -o none -- "$BIN/flight" >steps
	is 0 "$(ls none | grep -c vfd)"
	rm stop
	limit "$AGENT" $keep -o kept -k sampling.when=none -- "$BIN/flight" exit at 500 || :
	limit "$AGENT" -q -k output.layout=run -o plain -- "$BIN/flight" exit at 500 || :
	is 0 "$(ls kept | grep -c vfd)"
	calls_in kept/profile.json >kept.calls
	calls_in plain/profile.json | diff kept.calls -
	[ -s kept.calls ]'

test_expect 'a process that is killed leaves a file with its last calls' '
	rm -f stop
	status_of 137 limit "$AGENT" $keep -o killed -- "$BIN/flight" kill at 1500
	is 1 "$(ls killed/*.vfd | wc -l)"
	whole killed/*-death-pid*.vfd
	is 7 "$(grep -c " call leaf<deep<ends_in_here<main<init" dump)"
	grep "flight recorder: death-pid.* was killed by signal 9" killed/node-*.log'

test_expect 'so does one that exits with an error; and none if sampling.when does not name it' '
	status_of 3 limit "$AGENT" $keep -o exited -- "$BIN/flight" exit at 600
	ls exited/
	is 1 "$(ls exited | grep -c "death-pid.*vfd")"
	is 7 "$("$VFTR" dump exited/*.vfd | grep -c " call leaf<deep<ends_in_here<main<init")"
	status_of 137 limit "$AGENT" $keep -k sampling.when=signal -o other -- "$BIN/flight" kill at 20
	is 0 "$(ls other | grep -c vfd)"'

test_expect 'all files together are no larger than sampling.max_size, and the log says once that there are no more' '
	rm -f stop
	limit "$AGENT" $keep -k sampling.max_size=2MiB -o bounded -- "$BIN/flight" >steps &
	sleep_pid=$!
	wait_for 20 "[ -n \"\$(agent_pids)\" ]"
	# on a busy machine steps are fewer and files smaller: until three are missing
	for k in $(seq 40); do
		sleep 1
		urge
		[ "$k" -lt 8 ] || [ "$(ls bounded/*.vfd | wc -l)" -gt $((k - 3)) ] || break
	done
	touch stop
	wait $sleep_pid
	ls -l bounded
	[ "$(ls bounded/*.vfd | wc -l)" -ge 1 ]
	[ "$(ls bounded/*.vfd | wc -l)" -lt "$k" ]
	[ "$(cat bounded/*.vfd | wc -c)" -le $((2 << 20)) ]
	for file in bounded/*.vfd; do
		"$VFTR" dump "$file" | grep -qx "Complete:        yes"
	done
	is 1 "$(grep -c "files would be larger than sampling.max_size: no more" bounded/node-*.log)"'

test_expect 'files of an earlier run that have the name of a new one stay, as NAME.old' '
	rm -f stop
	mkdir again
	status_of 3 limit "$AGENT" -q -k sampling.keep=2s -o again -- "$BIN/flight" exit at 600
	file=$(cd again && ls *death*.vfd)
	[ "$(echo "$file" | wc -l)" = 1 ]
	cp "again/$file" first.vfd
	status_of 3 limit "$AGENT" -q -k sampling.keep=2s -o again -- "$BIN/flight" exit at 300
	ls again
	cmp first.vfd "again/$file.old"'

done_testing
