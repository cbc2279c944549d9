#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='overhead.budget_percent: what costs too much is switched off, exactly'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$VFTR" "$LIB/libvftrace.so"

cc_traced "$BIN/budget" "$T/counters/app-budget.c" || skip_all 'app-budget.c cannot be compiled'

# budget PERCENT WHAT SECONDS [THREADS] [-- OPTION...]: the counts are in `counts'
budget() {
	budget_percent=$1
	shift
	budget_args=
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		budget_args="$budget_args $1"
		shift
	done
	[ $# -eq 0 ] || shift
	traced -q -k "overhead.budget_percent=$budget_percent" "$@" -- \
		"$BIN/budget" $budget_args >counts
}

# FUNCTION: calls that were recorded, and counted where it was off
recorded() {
	jq "[.stacks[] | select(.function == \"$1\") | .calls] | add // 0" budget_all.json
}
unrecorded() {
	jq "[.switched_off[] | select(.function == \"$1\") | .calls] | add // 0" budget_all.json
}
called() {
	awk -v f="$1" '$1 == f { n += $2 } END { print n }' counts
}

# exact FUNCTION...: no call is missing, nor is any there twice
exact() {
	for f; do
		is "$(called "$f")" $(($(recorded "$f") + $(unrecorded "$f")))
	done
}

is_off() {
	[ "$(unrecorded "$1")" -gt 0 ]
}

# off FUNCTION PERCENT WHAT SECONDS ...: as budget, and it must be off in the end; an agent
# that has to wait for a CPU gets more time
off() {
	off_function=$1 off_percent=$2 off_what=$3 off_seconds=$4
	shift 4
	for longer in 1 5 25; do
		budget "$off_percent" "$off_what" "$(awk "BEGIN { print $off_seconds * $longer }")" "$@"
		is_off "$off_function" && return 0
	done
	return 1
}

test_expect 'what costs most is switched off, and no call is missing or there twice' '
	off tiny 2 loop 0.4
	exact tiny kept turn work
	is 0 "$(unrecorded turn)"
	jq -e ".switched_off[] | select(.function == \"tiny\") |
		.from_s > 0 and .from_s < 60 and .processes == 1" budget_all.json'

test_expect 'the time of the others is right: that of their callers has what is missing' '
	jq -e "(.stacks[] | select(.function == \"work\") | .t_incl_s) as \$work |
		(.stacks[] | select(.function == \"turn\") | .t_incl_s) > 0.9 * \$work" budget_all.json
	exclusive_sums_up budget_all.json'

test_expect 'overhead.keep is on whatever the budget says' '
	off tiny 0.01 loop 0.4 -- -k "overhead.keep=^(kept|turn)$"
	is 0 "$(unrecorded kept)"
	exact tiny kept turn'

test_expect 'calls that are open when their function goes off end when they do' '
	off sink 1 deep 0.4
	exact sink
	# it has all of its time, but for what it waited for room: that is no function'"'"'s
	in_sink=$(awk "\$1 == \"in_sink\" { print \$2 }" counts)
	jq -e "([.stacks[] | select(.function == \"sink\") | .t_incl_s] | add) + .blocked_s >
		0.999 * $in_sink and $in_sink >= 0.4" budget_all.json
	is 0 "$(jq .lost budget_all.json)"
	! grep -q "closed by" budget_node_*.log'

test_expect 'threads switch alike, and count on their own' '
	off tiny 1 loop 0.4 3
	exact tiny kept turn work'

test_expect 'a child of fork goes on as its parent was' '
	# the parent may have ended its part just when the function went off
	for seconds in 0.3 2 10; do
		off tiny 1 fork $seconds
		exact tiny kept turn work
		[ "$(jq "[.switched_off[].processes] | max" budget_all.json)" = 1 ] || break
	done
	is 2 "$(jq "[.switched_off[].processes] | max" budget_all.json)"'

test_expect 'what a pause leaves out is not counted as switched off' '
	off tiny 1 pause 0.4
	is $(($(called tiny) / 2)) $(($(recorded tiny) + $(unrecorded tiny)))
	exact kept turn'

test_expect 'it is in the log, with the option that leaves them out for good' '
	has budget_all.log "Functions switched off (overhead.budget_percent)"
	grep -q "^| tiny  *| *[0-9.]* | *$(unrecorded tiny) | *[0-9.]* | *1 |$" budget_all.log
	grep -qE "^   -finstrument-functions-exclude-function-list=.*tiny" budget_all.log'

test_expect 'the node profile has it, and collating says the same' '
	jq -S .switched_off budget_all.json >before
	mkdir -p again
	"$VFTR" collate -o again . >/dev/null
	jq -S .switched_off again/budget_all.json | cmp before -'

test_expect 'without a budget nothing is switched off' '
	traced -q -- "$BIN/budget" loop 0.25 >counts
	is null "$(jq .switched_off budget_all.json)"
	hasnt budget_all.log "switched off"'

done_testing
