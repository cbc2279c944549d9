# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh disable=SC2034
# For tests of agents that see other clocks than the node's, behind lib.sh and nodes_up.
# The file clock.NODE has what the agent of that node sees: seconds, ppm, amplitude of
# the wander in us (period 20 s).

cat >agent <<-END
	#!/bin/sh
	VFTR_TEST_CLOCK=\$(cat $PWD/clock.\$(hostname))
	export VFTR_TEST_CLOCK
	exec $AGENT "\$@"
END
chmod +x agent

# agents_up DIR [AGENT OPTION...]: one on each node that has a clock, of session DIR,
# their results there; `wait $agents' waits for all of them
agents_up() {
	dir=$1
	shift
	limit $(nodes_mpirun 1) --map-by ppr:1:node -x VFTR_RUNTIME_DIR -x VFTR_SESSION="$dir" \
		${VFTR_TEST_PAIRS:+-x VFTR_TEST_PAIRS} ${VFTR_TEST_KEPT:+-x VFTR_TEST_KEPT} ${ASAN_OPTIONS:+-x ASAN_OPTIONS} \
		${LSAN_OPTIONS:+-x LSAN_OPTIONS} "$PWD/agent" -q -o "$PWD/$dir" "$@" &
	agents=$!
	for clock in clock.*; do
		wait_for 20 "nodes_run ${clock#clock.} test -S $VFTR_RUNTIME_DIR/$dir.sock"
	done
}
