#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Agents that die at any time from the run to the end of the collation, half of them with their
# proxies, while messages are late (t/scale/sim/job.h). Each run fails if an agent that lives is
# missing in the summary, or does not get the numbers of the call paths; if one that is missing
# has not died; if the summary is not, to the byte, that of the nodes that are in it; or if any
# agent or proxy waits long after its deadline.
test_description='simulated agents that die: all that live are in the summary, and nobody waits for ever'
. "$(dirname "$0")/../lib/lib.sh"
SIMULATE=$BUILD/t/scale/sim/simulate
need_built "$SIMULATE"
# the memory of an agent that dies is lost, and is no leak
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
[ -n "$VFTR_LONG" ] && times=20 || times=1

# survive RUNS KEY=VALUE... AGENTS: some have died in them
survive() {
	runs=$(($1 * times))
	shift
	limit "$SIMULATE" shape=dice ranks=4 cpu=0 check=1 "runs=$runs" "$@" >rows 2>words || { cat rows words; return 1; }
	grep "^$runs runs of .* [1-9][0-9]* died, [1-9][0-9]* missing in summaries, 0 runs failed" rows
}

test_expect 'one of few agents dies' 'survive 100 deaths=1 2 && survive 100 deaths=1 7'

test_expect 'several die, and messages are late' '
	survive 100 deaths=3 delayed=50 delay_s=1 16 &&
	survive 100 deaths=2 delayed=200 delay_s=1 skew_s=1 10'

test_expect 'one in five dies, and nodes end late' 'survive 30 deaths=8 delayed=50 delay_s=1 skew_s=2 40'

test_expect 'some die while nodes ask which call paths have little time, and later' '
	for us in 1000 20000 40000; do
		survive 60 prune=0 deaths=4 latency_us=$us 16 || return
	done
	survive 30 prune=0 deaths=8 delayed=50 delay_s=1 skew_s=2 40'

test_expect 'agent 0 dies, too: no proxy waits for its word that the job is over' '
	limit "$SIMULATE" shape=dice ranks=4 cpu=0 rootless=1 deaths=5 delayed=50 delay_s=1 skew_s=2 \
		"runs=$((30 * times))" 24 >rows 2>words || { cat rows words; return 1; }
	grep " [1-9][0-9]* died, .* 0 runs failed" rows'

done_testing
