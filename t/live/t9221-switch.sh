#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Functions that `vftr top' switches off and on again: no call is missing, nor is any there twice.
test_description='vftr top switches functions off and on again, on all nodes'
. "$(dirname "$0")/../lib/lib.sh"
need tmux jq
need_built "$AGENT" "$VFTR" "$LIB/libvftrace.so"
cc_traced "$BIN/switch" "$T/live/app-switch.c" || skip_all 'app-switch.c cannot be compiled'

# calls FUNCTION: that were recorded, and counted while it was off; of the job in DIR
recorded() {
	jq "[.stacks[] | select(.function == \"$2\") | .calls] | add // 0" "$1/switch_all.json"
}
unrecorded() {
	jq "[.switched_off[]? | select(.function == \"$2\") | .calls] | add // 0" "$1/switch_all.json"
}

# begin DIR: the agent and the program; $agent
begin() {
	mkdir -p "$1"
	VFTR_SESSION=$1 timeout -k 5 300 "$AGENT" -q -o "$PWD/$1" -- "$BIN/switch" "$PWD/$1" >"$1/counts" &
	agent=$!
	wait_for 30 "limit $VFTR top -s $1 -1j >once && jq -e 'any(.paths[]; .path | startswith(\"leaf\"))' once"
}

# switched OPTION FUNCTION: a busy machine may not answer in time, of which it has six times that of -d
switched() {
	for every in 250ms 1s 5s 15s; do
		limit "$VFTR" top -s job -d $every "$@" && return
	done
	return 1
}

# now_of DIR FUNCTION: calls of it a second, by a view
now_of() {
	limit "$VFTR" top -s "$1" -1j | jq "[.paths[] | select(.path | startswith(\"$2<\")) | .calls_per_s] | add // 0"
}

test_expect 'off: it is not recorded any more, and a view says so; on: it is, again' '
	begin job
	switched --off leaf >said
	is "leaf is off on 1 node" "$(cat said)"
	wait_for 30 "[ \$(now_of job leaf) = 0 ]"
	limit "$VFTR" top -s job -1j >once
	is "leaf 1 1" "$(json once ".switched_off[] | \"\\(.function) \\(.nodes) \\(.functions)\"")"
	switched --on leaf >said
	is "leaf is recorded on 1 node" "$(cat said)"
	wait_for 30 "[ \$(now_of job leaf | cut -d . -f 1) -gt 0 ]"
	is 0 "$(limit "$VFTR" top -s job -1j | jq ".switched_off | length")"'

test_expect 'one that calls itself and others, again and again; and one that nobody calls' '
	for k in 1 2 3; do
		switched --off nest
		switched --on nest
	done
	switched --off nobody >said
	has said "will be off when it is called"'

test_expect 'in the end no call is missing, and none is there twice; the log and the JSON have the times' '
	switched --off step
	touch job/end
	wait_for 60 "jq -e .format job/switch_all.json && [ -s job/switch_all.log ]"
	cat job/counts
	while read -r function n; do
		is "$n" $(($(recorded job $function) + $(unrecorded job $function))) "$function"
	done <job/counts
	[ "$(unrecorded job leaf)" -gt 0 ]
	[ "$(recorded job leaf)" -gt 0 ]
	grep -E "leaf was not recorded from [0-9:]+ to [0-9:]+: vftr top had switched it off" job/switch_all.log
	grep -E "step was not recorded from [0-9:]+ on: vftr top had switched it off" job/switch_all.log
	jq -e "any(.warnings[]; contains(\"leaf was not recorded from\"))" job/switch_all.json'

done_testing
