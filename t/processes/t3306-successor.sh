#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='an agent that dies, and the next one of its session, to which processes go over'
. "$(dirname "$0")/../lib/lib.sh"
need jq pgrep
need_built "$AGENT" "$LIB/libvftrace.so" "$VFTR"

cc_traced "$BIN/successor" "$T/processes/app-successor.c" -pthread

# agent NAME OPTION...: of the session `next', its results go to folder NAME; its process
agent() {
	name=$1
	shift
	mkdir -p "$name"
	VFTR_SESSION=next "$AGENT" -q -o "$PWD/$name" -k profile.sample=0 "$@" 2>"$name.err" 7>&- &
	agent=$!
	wait_for 20 "[ -S '$VFTR_RUNTIME_DIR/next.sock' ] && $VFTR where -s next"
}

# program THREADS: it reads what say() writes
program() {
	rm -f words
	mkfifo words
	: >said
	VFTR_SESSION=next status_of 7 limit "$BIN/successor" "$1" <words >said &
	program=$!
	exec 7>words
}

# say N: and wait until the program has done so
say() {
	done=$(wc -l <said)
	echo "$1" >&7
	wait_for 20 "[ \"\$(wc -l <said)\" -gt $done ]"
}

# The program calls until an agent has it
gone_over() {
	wait_for 20 "say 1; [ \"\$($VFTR where -s next -j | jq .threads)\" = $1 ]"
}

dies() {
	kill -9 $(agent_pids)
	wait $agent || true
}

# The program calls for longer than a look at the agent takes to come, and no agent has it
stays_off() {
	for i in 1 2 3 4 5 6; do
		sleep 0.3
		say 1000
	done
	is 0 "$($VFTR where -s next -j | jq .threads)"
	exec 7>&-
	wait $program
	kill $(agent_pids)
	wait $agent || true
}

# ended: the program, and then the agent
ended() {
	exec 7>&-
	wait $program
	wait $agent
}

# work FOLDER: calls of work() in the results there
work() {
	json "$1"/successor_all.json '[.stacks[] | select(.function == "work") | .calls] | add'
}

# a thread's block that is not full has so many calls of work() at most
UNREAD=128

test_expect 'what is stored while no agent is there is read by the next one' '
	agent first -k agent.standby_s=0.2
	program 3
	say 1000
	dies
	say 200
	agent second
	gone_over 3
	ended
	least=$((3 * (200 + $(wc -l <said) - 2)))
	echo "$least after the death, of which $(work second) and before $(work first) are there"
	[ "$(work second)" -ge $least ]
	[ "$(work second)" -le $((least + 3 * UNREAD)) ]
	is "$(work second)" "$(json second/successor_all.json "[.stacks[] | select(.function == \"part\") | .calls] | add")"'

# once FOLDER: calls of once() there
once() {
	json "$1"/successor_all.json '[.stacks[] | select(.function == "once") | .calls] | add // 0'
}

test_expect 'what the results say of that' '
	json second/successor_all.json ".warnings[]" | grep "process [0-9]*, maybe more, had another agent before, which is gone"
	is "" "$(json second/successor_all.json "[.stacks[].path | select(. != \"init\" and (endswith(\"(callers not known)<init\") | not))][]")"
	[ ! -s second.err ]'

test_expect 'a ring that is full holds nobody up; what it had no room for is counted' '
	agent third -k shm.ring_size=64KiB
	program 2
	say 10
	dies
	say 20000
	agent fourth -k shm.ring_size=64KiB
	gone_over 2
	say 300
	ended
	made=$((2 * 2 * (20000 + 300 + $(wc -l <said) - 3)))
	known=$(json fourth/successor_all.json ".calls + .lost")
	echo "$(work fourth) of work, $(json fourth/successor_all.json .lost) calls lost; $known of $made"
	[ "$(work fourth)" -ge 600 ]
	[ "$(work fourth)" -lt 20000 ]
	[ "$known" -ge $made ]
	[ "$known" -le $((made + 2 * 2 * UNREAD + 20)) ]'

test_expect 'threads that begin and end while no agent is there' '
	agent fifth
	program 1
	say 10
	say -3
	dies
	say 1
	agent sixth
	gone_over 1
	dies
	say -1
	say -100
	agent seventh
	gone_over 1
	say -5
	ended
	echo "$(once seventh) and before $(once sixth)"
	# of threads that begin meanwhile nothing is known
	is 5 "$(once seventh)"'

test_expect 'threads that end while no agent is there, and processes that end right after' '
	agent eighth
	program 4
	say 5
	dies
	say 100
	say 0
	agent ninth
	sleep 1.2
	ended
	[ "$(work ninth)" -ge 400 ]
	[ "$(work ninth)" -le 420 ]
	is 4 "$(json ninth/successor_all.json .threads)"'

test_expect 'agent.successor=never: they switch themselves off' '
	agent never -k agent.successor=never
	program 2
	say 10
	dies
	agent other
	stays_off'

test_expect 'agent.successor=always: an agent that is asked to end, and the next one' '
	agent old -k agent.successor=always
	program 3
	say 1000
	kill $(agent_pids)
	wait $agent || true
	say 100
	agent new
	gone_over 3
	ended
	least=$((3 * (100 + $(wc -l <said) - 2)))
	echo "$least after the end, of which $(work new), and before $(work old) are there"
	[ "$(work new)" -ge $least ]
	[ "$(work new)" -le $((least + 3 * UNREAD)) ]
	[ "$(work old)" -ge $((3 * 1000)) ]'

test_expect 'without that key they do not follow an agent that ends in order' '
	agent old2
	program 3
	say 1000
	kill $(agent_pids)
	wait $agent || true
	agent new2
	stays_off'

# ends_amid KEY-OPTION...: an agent is asked to end while three threads call
ends_amid() {
	agent amid "$@"
	program 3
	echo 3000000 >&7
	wait_for 20 "[ \"\$($VFTR where -s next -j | jq .threads)\" = 3 ]"
	kill $(agent_pids)
	wait $agent || true
	exec 7>&-
	wait $program
	cat amid.err
	hasnt amid.err "damaged"
	is 0 "$(json amid/successor_all.json "[.warnings[]? | select(test(\"damaged|ERROR\"))] | length")"
}

test_expect 'an agent that is asked to end while threads call finds their records whole' '
	for i in 1 2 3; do
		ends_amid
		ends_amid -k agent.successor=always
	done'

test_expect 'a budget: what was counted by numbers of the first agent is not counted by the next' '
	agent tenth -k overhead.count_calls=true -k overhead.budget_percent=1
	program 1
	for i in 1 2 3 4 5 6; do
		say 1000000
	done
	dies
	say 10
	agent eleventh
	gone_over 1
	ended
	echo "$(work eleventh)"
	[ "$(work eleventh)" -le $((10 + $(wc -l <said) + UNREAD)) ]'

done_testing
