#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# overhead.count_tiny is auto: vftr run counts short functions where their hooks cost much.
test_description='vftr run counts short functions by itself, says so, and times them where that is wanted'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$VFTR" "$LIB/libvftrace.so"
cc_traced "$BIN/accessors" "$T/counters/app-accessors.c" -O2 || skip_all 'app-accessors.c cannot be compiled'

# estimated FILE: call paths whose time is an estimate
estimated() {
	json "$1" '[.stacks[] | select(.estimated)] | length'
}

# counted STEPS: its profile is in run/; an agent that waits for a CPU gets a longer program
counted() {
	for longer in 1 5 25; do
		steps=$(($1 * longer))
		rm -rf run
		limit "$VFTR" run -o run -- "$BIN/accessors" "$steps" 100 2>digest
		[ "$(estimated run/profile.json)" -eq 0 ] || return 0
	done
	return 1
}

test_expect 'accessors are counted: each call is there, and all times add up' '
	counted 60
	json run/profile.json ".stacks[] | select(.function != \"init\" and .function != \"main\" and
		.function != \"step\") | .function + \" \" + (.calls | tostring)" |
		awk "{ n[\$1] += \$2 } END { for (f in n) print n[f] }" | sort -u >calls
	is $((8192 * steps)) "$(cat calls)"
	is $steps "$(json run/profile.json "[.stacks[] | select(.function == \"step\") | .calls] | add")"
	jq -e "([.stacks[].t_excl_s] | add) - (.stacks[] | select(.function == \"init\") | .t_incl_s) |
		fabs < 1e-6" run/profile.json'

test_expect 'the first lines say which, and how they are timed' '
	has digest "  counted, times ~: "
	has digest "; time all: -k overhead.count_tiny=null"
	has run/summary.log "  counted, times ~: "
	json run/profile.json ".warnings[]" | grep -F "counted and not timed" | grep -F " calls are exact"
	is 1 "$(json run/profile.json "[.warnings[] | select(contains(\"counted\"))] | length")"'

# marked TITLE FUNCTION LOG: has the row of this function in that table a ~?
marked() {
	sed -n "/^$1/,/^$/p" "$3" | awk -F "|" -v f="$2" "
		!col { for (i = 1; i <= NF; i++) if (\$i ~ /^ *Function *\$/) col = i }
		col && \$col ~ \"^ *\" f \" *\$\" { found = 1; mark = /~[0-9]/ }
		END { exit found ? !mark : 2 }"
}

# step makes the calls that are counted, so that what is left for itself is an estimate, too.
test_expect 'tables of the logs mark estimates, and only these' '
	for longer in 1 5 25; do
		rm -rf all
		limit "$VFTR" run -q -k profile_table.min_percent=0 -o all -- "$BIN/accessors" $((60 * longer)) 100
		limit "$AGENT" -q -k overhead.count_tiny=10 -k profile_table.show_minmax_summary=true -- \
			"$BIN/accessors" $((60 * longer)) 100
		[ "$(estimated accessors_all.json)" -eq 0 ] || [ "$(estimated all/profile.json)" -eq 0 ] || break
	done
	for table in Functions "Runtime profile"; do
		marked "$table" at all/summary.log
		marked "$table" step all/summary.log
		status_of 1 marked "$table" main all/summary.log
	done
	for table in "Runtime profile" " Summary: Min"; do
		marked "$table" step accessors_all.log
		status_of 1 marked "$table" main accessors_all.log
	done'

# A counted call takes some ns, and here does nothing else: it is not free.
test_expect 'what counting costs is said, and what to compile with' '
	jq -e ".hooks_s > 0.5e-9 * .calls" run/profile.json
	limit "$VFTR" flags --cc gcc --exclude run >excluded
	has excluded "-finstrument-functions-exclude-function-list="
	hasnt run/summary.log "Run with -k overhead.count_tiny"'

# share FUNCTION: percent of all exclusive time that it has in phase/
share() {
	json phase/profile.json "[.stacks[].t_excl_s] as \$all | [.stacks[] | select(.function == \"$1\") | .t_excl_s] |
		100 * add / (\$all | add) | round"
}

# Two thirds, by the work; a machine whose CPUs are wanted by others shifts it.
test_expect 'a function that becomes a hundred times longer is timed again, and found out' '
	cc_traced "$BIN/phase" "$T/live/app-phase.c" -O2
	for longer in 1 3 9 27; do
		rm -rf phase
		limit "$VFTR" run -q -o phase -- "$BIN/phase" $((300 * longer))
		[ "$(estimated phase/profile.json)" -eq 0 ] || [ "$(share phase)" -lt 40 ] ||
			[ "$(share phase)" -gt 85 ] || break
	done
	[ "$(estimated phase/profile.json)" -ge 1 ]
	[ "$(share phase)" -ge 40 ]
	[ "$(share phase)" -le 85 ]
	is $((101000 * 300 * longer)) "$(json phase/profile.json "[.stacks[] | select(.function == \"phase\") | .calls] | add")"
	is $((101000 * 300 * longer)) "$(json phase/profile.json "[.stacks[] | select(.function == \"other\") | .calls] | add")"'

# Calls look four times as long there. The busy ones end by themselves, whatever comes.
test_if 'command -v taskset' 'no taskset' 'accessors are counted where four programs share a CPU, and no call is lost' '
	cpu=$(taskset -cp $$ | sed "s/.*[ :]\([0-9]*\)[^0-9]*.*$/\1/")
	busy=
	for i in 1 2 3; do
		limit taskset -c "$cpu" sh -c "while :; do :; done" &
		busy="$busy $!"
	done
	trap "kill $busy" EXIT
	for longer in 1 5 25; do
		rm -rf shared
		limit "$VFTR" run -q -o shared -- taskset -c "$cpu" "$BIN/accessors" $((60 * longer)) 100
		[ "$(estimated shared/profile.json)" -eq 0 ] || break
	done
	for f in x at step; do
		json shared/profile.json "[.stacks[] | select(.function == \"$f\") | .calls] | add"
	done >calls
	is "$((8192 * 60 * longer)) $((8192 * 60 * longer)) $((60 * longer))" "$(paste -sd " " calls)"
	[ "$(estimated shared/profile.json)" -ge 8 ]'

test_expect 'with a filter of functions all are timed, unless a number says else' '
	limit "$VFTR" run -q -N nothing -o hidden -- "$BIN/accessors" 60 100
	is 0 "$(estimated hidden/profile.json)"
	limit "$VFTR" run -q -N nothing -k overhead.count_tiny=10 -o counted -- "$BIN/accessors" 200 100
	[ "$(estimated counted/profile.json)" -ge 1 ]'

test_expect 'with null all are timed' '
	limit "$VFTR" run -q -k overhead.count_tiny=null -o timed -- "$BIN/accessors" 60 100
	is 0 "$(estimated timed/profile.json)"
	hasnt timed/summary.log "counted, times"'

test_expect 'a time line has all calls, unless they are to be counted' '
	limit "$VFTR" run -q --trace -k sampling.max_size=1MiB -o line -- "$BIN/accessors" 60 100
	is 0 "$(estimated line/profile.json)"
	for longer in 1 5 25; do
		rm -rf line
		limit "$VFTR" run -q --trace -k overhead.count_tiny=10 -k sampling.max_size=1MiB -o line -- \
			"$BIN/accessors" $((60 * longer)) 100
		[ "$(estimated line/profile.json)" -eq 0 ] || break
	done
	[ "$(estimated line/profile.json)" -ge 1 ]'

test_expect 'so it is with the names of Vftrace, and where each thread has its times' '
	limit "$AGENT" -q -- "$BIN/accessors" 60 100
	is 0 "$(estimated accessors_all.json)"
	limit "$VFTR" run -q -k profile_table.threads=summary -o threads -- "$BIN/accessors" 60 100
	is 0 "$(estimated threads/profile.json)"'

test_expect 'where hooks cost little, all is timed' '
	limit "$VFTR" run -q -o long -- "$BIN/accessors" 10 20000
	is 0 "$(estimated long/profile.json)"'

done_testing
