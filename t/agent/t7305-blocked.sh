#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='what a thread waits for room in its ring is overhead, and no time of a function'
. "$(dirname "$0")/../lib/lib.sh"
need jq mkfifo
need_built "$AGENT" "$VFTR" "$LIB/libvftrace.so"

cc_traced "$BIN/blocked" "$T/agent/app-blocked.c" -pthread || skip_all 'app-blocked.c cannot be compiled'
ALL=blocked_all.json

# blocked WHAT CALLS [OPTION...]: its agent is stopped for a second while it calls
blocked() {
	blocked_what=$1 blocked_calls=$2
	shift 2
	rm -f go out blocked_*
	mkfifo go
	"$AGENT" -q -k shm.ring_size=32KiB "$@" -- \
		"$BIN/blocked" "$blocked_what" "$blocked_calls" <go >out &
	blocked_agent=$!
	exec 8>go
	wait_for 20 "grep -q ready out"
	blocked_pids=$(agent_pids)
	kill -STOP $blocked_pids
	echo >&8
	exec 8>&-
	sleep 1
	kill -CONT $blocked_pids 2>/dev/null || : # who drops may have ended
	wait $blocked_agent
}

t_incl() {
	json $ALL "[.stacks[] | select(.function == \"$1\") | .t_incl_s] | add"
}

# it was blocked, and what outer() took by the clock is its time and the wait
waits_are_apart() {
	jq -e '.blocked_s > 0.2' $ALL
	for f in outer burst; do
		[ $f = outer ] || [ "$1" != clock ] || continue
		awk -v clock="$(sed 1d out | awk '{ s += $1 } END { print s }')" \
			-v blocked="$(json $ALL .blocked_s)" -v time="$(t_incl $f)" 'BEGIN {
				d = clock - blocked - time
				if (d < -0.001 * clock || d > 0.001 * clock + 0.002) {
					print clock, "is not", blocked, "+", time
					exit 1
				}
			}'
	done
}

test_expect 'the wait is exact, and in no time of a function' '
	blocked burst 20000
	waits_are_apart
	exclusive_sums_up $ALL
	is 20000 "$(calls_of $ALL "tiny<burst<outer<main<init")"'

test_expect 'the logs have it in the overhead, and not in the application time' '
	blocked=$(json $ALL .blocked_s)
	for log in blocked_all.log blocked_node_*.log; do
		awk -v blocked="$blocked" -F "[: ]+" "
			function near(a, b) { return a - b < 0.02 && b - a < 0.02 }
			/^Total runtime:/ { total = \$3 }
			/^Application time:/ { app = \$3 }
			/^Overhead:/ { overhead = \$2 }
			/^   Waiting for room:/ { waiting = \$5 }
			END { exit !(near(waiting, blocked) && near(total, app + overhead) &&
				overhead >= waiting) }" "$log"
	done
	jq -e "(.overhead_s - .hooks_s - .blocked_s) | fabs < 1e-6" $ALL'

test_expect 'it is said above the first table' '
	grep -n "^Warning: tracing took [0-9]* % of the run, [0-9]* % of it waiting for the agent" \
		blocked_all.log >warning
	[ "$(cut -d: -f1 warning)" -lt "$(grep -n -m 1 "^| *Calls" blocked_all.log | cut -d: -f1)" ]'

test_expect 'with the clock of the kernel, too' '
	blocked burst 20000 -k clock.source=raw
	waits_are_apart
	exclusive_sums_up $ALL'

test_expect 'with calls of a signal handler in between' '
	blocked signal 20000
	waits_are_apart clock
	exclusive_sums_up $ALL'

test_expect 'of several threads each its own' '
	blocked threads 20000 -k profile_table.threads=all
	waits_are_apart
	jq -e "([.each_thread[].blocked_s] | add) - .blocked_s | fabs < 1e-6" $ALL
	jq -e "(([.stacks[].t_excl_s] | add) + .blocked_s) as \$sum |
		([.each_thread[].t_alive_s] | add) / \$sum - 1 | fabs < 0.001" $ALL
	is 60000 "$(calls_of $ALL "tiny<burst<outer<init")"'

test_expect 'the sampling file and the node profile say the same' '
	blocked burst 20000 -k sampling.active=true
	jq -S .stacks $ALL >before
	"$VFTR" dump blocked_*.vfd >/dev/null
	mkdir -p again
	"$VFTR" collate -o again . >/dev/null
	jq -S .stacks again/$ALL | cmp before -
	is "$(json $ALL .blocked_s)" "$(json again/$ALL .blocked_s)"'

test_expect 'sampling files have a frame for it, so that exports and the profile agree' '
	for interval in 0 0.01; do
		blocked burst 20000 -k sampling.active=true -k sampling.sample_interval=$interval
		"$VFTR" export -f folded -q -o - blocked_*.vfd >folded
		"$VFTR" export -f folded -q -o - --profile . >profile
		cat folded profile
		awk -v blocked="$(json $ALL .blocked_s)" "
			{ ns = \$NF; sub(/ [0-9]+\$/, \"\") }
			/;\(blocked\)\$/ { waits += ns; next }
			/;tiny\$|;burst\$/ { calls[FILENAME] += ns }
			function near(a, b) { return a - b < 0.01 * a + 2e6 && b - a < 0.01 * a + 2e6 }
			END {
				exit !(blocked > 0.2 && near(blocked * 1e9, waits) &&
					near(calls[\"profile\"], calls[\"folded\"]))
			}" folded profile
	done'

test_expect 'who drops does not wait' '
	blocked burst 20000 -k shm.when_full=drop
	is 0 "$(json $ALL .blocked_s)"
	hasnt blocked_all.log "Waiting for room"
	exclusive_sums_up $ALL'

done_testing
