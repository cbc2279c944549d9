#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# overhead.remove_calls: hooks of functions that are off leave the code of a running program, and
# come back.
test_description='overhead.remove_calls: what is off has no hooks, and its stacks stay right'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$VFTR" "$LIB/libvftrace.so"
[ "$(uname -m)" = x86_64 ] || skip_all 'hooks are taken out on x86-64 only'

# built NAME SOURCE OPTION...: a traced program
cc_traced "$BIN/removed" "$T/live/app-removed.c" -O2 -pthread || skip_all 'app-removed.c cannot be compiled'
$TEST_CC -O2 "$T/counters/app-accessors.c" -o "$BIN/plain" || skip_all 'no compiler'
ALL=accessors_all.json

# bounded PROGRAM [LEAST]: with a budget; its results, and how many hooks of what is off were taken out.
# An agent that waits for a CPU decides later: it gets a longer program.
bounded() {
	bounded=$1
	for steps in 50 150 400; do
		[ $steps -ge "${2:-0}" ] || continue
		[ -s sum.$steps ] || "$BIN/plain" $steps 700 | cut -d" " -f1 >sum.$steps
		echo $steps >steps
		rm -f ./*_all.json
		limit "$AGENT" -q -k overhead.budget_percent=5 -k overhead.remove_calls=true -- "$BIN/$bounded" "$steps" 700 >out
		is "$(cat sum.$steps)" "$(cut -d" " -f1 out)" || return
		removed=$(json "${bounded}_all.json" "[.switched_off[] | select(.removed_s)] | length")
		[ "$removed" -lt 3 ] || break
	done
	echo "$removed"
}

test_expect 'hooks of functions that the budget switches off are taken out; results are the same' '
	cc_traced "$BIN/accessors" "$T/counters/app-accessors.c" -O2
	for least in 50 400; do
		[ "$(bounded accessors $least)" -ge 3 ]
		# most calls are neither recorded nor counted
		calls=$(json $ALL "([.stacks[] | select(.function != \"init\" and .function != \"main\" and
			.function != \"step\") | .calls] | add) + ([.switched_off[].calls] | add)")
		made=$((65536 * $(cat steps)))
		echo "$calls of $made"
		[ "$calls" -ge $((made / 2)) ] || break
	done
	[ "$calls" -lt $((made / 2)) ]
	has accessors_all.log "Removed[s]"'

test_expect 'without the key none is' '
	limit "$AGENT" -q -k overhead.budget_percent=5 -- "$BIN/accessors" 60 700 >out
	is 0 "$(json $ALL "[.switched_off[] | select(.removed_s)] | length")"
	! grep -F "Removed[s]" accessors_all.log'

hows='-fno-plt
-no-pie -O0
-fcf-protection=full -Wl,-z,lazy -O2'
[ -z "$VFTR_LONG" ] || hows="$hows
-Wl,-z,now -O2
-O3"
IFS='
'
for how in $hows; do
	unset IFS
	test_expect "the same of a program compiled with $how" '
		cc_traced "$BIN/other" "$T/counters/app-accessors.c" '"$how"'
		[ "$(bounded other)" -ge 3 ]'
done

test_if 'command -v clang' 'no clang' 'the same of clang' '
	TEST_CC=clang cc_traced "$BIN/other" "$T/counters/app-accessors.c" -O2 -Wno-unknown-attributes
	[ "$(bounded other)" -ge 3 ]'

test_if 'command -v clang' 'no clang' 'the same of sleds, which are changed back' '
	clang -O2 -fno-inline -Wno-unknown-attributes -fxray-instrument -fxray-instruction-threshold=1 \
		-fnoxray-link-deps -o "$BIN/other" "$T/counters/app-accessors.c" $(test_link vftrace)
	[ "$(bounded other)" -ge 3 ]'

# the CPU time of a long run over that of the untraced program, and with hooks that stay
test_expect 'what is off costs less than it does with its hooks' '
	for i in 1 2; do
		for k in true false; do
			limit "$AGENT" -q -k overhead.budget_percent=5 -k overhead.remove_calls=$k -- \
				"$BIN/accessors" 400 100 | cut -d" " -f2 >$k
		done
		"$BIN/plain" 400 100 | cut -d" " -f2 >plain
		echo "$(cat plain) $(cat false) $(cat true)" | awk "{ print \$2 / \$1, \$3 / \$1 }" | tee -a ratios
		! sort -n -k 2 ratios | awk "NR == 1 { exit !(\$2 < \$1) }" || exit 0
	done
	exit 1'

# begin DIR: the agent and the program; $agent
begin() {
	mkdir -p "$1"
	VFTR_SESSION=$1 timeout -k 5 300 "$AGENT" -q -o "$PWD/$1" -k overhead.remove_calls=true -- \
		"$BIN/removed" "$PWD/$1" 8 >"$1/counts" &
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

# rate FUNCTION: calls of it a second, by a view
rate() {
	limit "$VFTR" top -s job -1j |
		jq "[.paths[] | select(.path | startswith(\"$1<\")) | .calls_per_s] | add // 0 | floor"
}

test_expect 'eight threads: off and on again, again and again' '
	begin job
	for k in 1 2; do
		for f in leaf nest step; do
			switched --off $f
			wait_for 30 "[ \$(rate $f) = 0 ]"
		done
		for f in nest leaf step; do
			switched --on $f
		done
		wait_for 30 "[ \$(rate leaf) -gt 0 ]"
	done
	switched --off nest
	touch job/end
	wait $agent'

test_expect 'no call is there twice, and no frame where it cannot be' '
	cat job/counts
	while read -r function n; do
		got=$(jq "([.stacks[] | select(.function == \"$function\") | .calls] | add // 0) +
			([.switched_off[]? | select(.function == \"$function\") | .calls] | add // 0)" job/removed_all.json)
		echo "$function $got of $n"
		[ "$got" -gt 0 ]
		[ "$got" -le "$n" ]
	done <job/counts
	jq -e "[.switched_off[] | select(.removed_s) | .function] | contains([\"leaf\", \"nest\"])" job/removed_all.json
	# each is below its callers, or below theirs while these are off
	json job/removed_all.json ".stacks[].stack // .stacks[].path" | sort -u >paths
	cat paths
	[ -z "$(grep -vE "^(leaf<)?(nest<)*(step<)?init\$" paths)" ]
	! grep -F "Closed by outer exit" job/removed_all.log'

done_testing
