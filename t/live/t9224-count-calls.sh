#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# overhead.count_calls: what is counted has all its calls on each path.
test_description='functions that are counted: their calls are exact, also after kill -9'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$VFTR" "$LIB/libvftrace.so"
cc_traced "$BIN/counted" "$T/live/app-counted.c" -O1 -pthread || skip_all 'app-counted.c cannot be compiled'
# by the global offset table: these calls cannot be changed to count, so their hooks do
cc_traced "$BIN/hooked" "$T/live/app-counted.c" -O1 -pthread -fno-plt || skip_all 'no -fno-plt'
cc_traced "$BIN/accessors" "$T/counters/app-accessors.c" -O2 || skip_all 'app-accessors.c cannot be compiled'
apps='counted hooked'
if [ "$(uname -m)" = x86_64 ] && command -v clang >/dev/null; then
	sleds="clang -O1 -fno-inline -Wno-unknown-attributes -fxray-instrument -fxray-instruction-threshold=1 -fnoxray-link-deps"
	# shellcheck disable=SC2086
	$sleds -o "$BIN/sleds" "$T/live/app-counted.c" -pthread $(test_link vftrace) && apps="$apps sleds"
fi

# own FILE: the program's sums over its threads, by path, in the order of the enum
own() {
	od -An -v -t d8 -w40 "$1" |
		awk '{ for (i = 1; i <= 5; i++) s[i] += $i } END { for (i = 1; i <= 5; i++) print s[i] }'
}

# told FUNCTION CALLER: calls in the profile
told() {
	json "${app}_all.json" "[.stacks[] | select(.function == \"$1\" and .caller == \"$2\") | .calls] | add // 0"
}

all_told() {
	told tiny one
	told tiny two
	told other one
	json "${app}_all.json" '[.stacks[] | select(.function == "one") | .calls] | add'
	json "${app}_all.json" '[.stacks[] | select(.function == "two") | .calls] | add'
}

COUNT="-k overhead.budget_percent=1 -k overhead.count_calls=true -k overhead.keep=^(one|two)\$"
for app in $apps; do
	test_expect "four threads of $app: each path has its calls" '
		limit "$AGENT" -q $COUNT -- "$BIN/$app" own 4 30000
		own own >want
		all_told >got
		cmp want got
		[ "$(json ${app}_all.json "[.stacks[] | select(.estimated)] | length")" -ge 1 ]
		json ${app}_all.json ".warnings[]" | grep -F " counted and not timed"'
done

test_expect 'the budget counts what it switches off, and all times add up' '
	limit "$AGENT" -q $COUNT -- "$BIN/accessors" 60 100
	json accessors_all.json ".stacks[] | select(.function != \"init\" and .function != \"main\" and
		.function != \"step\") | .function + \" \" + (.calls | tostring)" |
		awk "{ n[\$1] += \$2 } END { for (f in n) print n[f] }" | sort -u >calls
	is 491520 "$(cat calls)"
	jq -e "(.switched_off // []) == []" accessors_all.json
	jq -e "([.stacks[].t_excl_s] | add) - (.stacks[] | select(.function == \"init\") | .t_incl_s) | fabs < 1e-6" accessors_all.json'

# switched SEED N: tiny() or other() is switched off or on, tiny() off first; a busy machine may not
# answer in time
switched() {
	how=$(awk -v seed="$1" -v n="$2" 'BEGIN {
		srand(seed)
		if (!n) print "--off tiny"
		else print(rand() < .6 ? "--off" : "--on"), (rand() < .6 ? "tiny" : "other") }')
	echo "$how"
	limit "$VFTR" top -s job-$app $how || limit "$VFTR" top -s job-$app $how || :
}

# Each call is recorded or counted, whichever it is at that instant.
switches=6
[ -z "$VFTR_LONG" ] || switches=100
[ -n "$VFTR_LONG" ] || apps='counted hooked'
for app in $apps; do
	test_expect "eight threads of $app, while functions are switched at random" '
		mkdir -p job-$app
		rm -f own.end ./*_all.*
		VFTR_SESSION=job-$app timeout -k 5 300 "$AGENT" -q -o "$PWD" -k overhead.count_calls=true \
			-- "$BIN/$app" own 8 0 500 &
		agent=$!
		wait_for 30 "limit $VFTR top -s job-$app -1j >once && jq -e \"any(.paths[]; .path | contains(\\\"tiny\\\"))\" once"
		for k in $(seq 0 $switches); do
			switched $$$k $k
		done
		touch own.end
		wait $agent
		own own >want
		all_told >got
		paste want got
		cmp want got
		[ "$(json ${app}_all.json "[.stacks[] | select(.estimated)] | length")" -ge 1 ]'
done

# A thread may have come to the hook before another one had the sled count.
test_if '[ -n "$sleds" ]' 'no clang, or no x86-64' 'a sled leads to its hook and to instructions that count, and to nothing else' '
	$sleds -o "$BIN/targets" "$T/hook/app-sled-targets.c" -pthread
	for i in 1 2; do
		limit "$AGENT" -q --preload -k overhead.budget_percent=2 -k overhead.keep=batch -k overhead.count_calls=true \
			-k overhead.remove_calls=true -- "$BIN/targets" 2 4 >places
		cat places
		[ "$(cat places)" -le 2 ]
	done'

# Each count is raised before its call: of a thread that was killed a call may have not begun.
app=counted
kills=2
[ -z "$VFTR_LONG" ] || kills=100
test_expect 'after kill -9 no call is missing and none is there twice' '
	rm -f own.end
	for i in $(seq $kills); do
		limit "$AGENT" -q $COUNT -- "$BIN/counted" own 4 "-$((500 + i % 50))" || :
		own own >want
		all_told >got
		paste want got
		paste want got | awk "{ if (\$2 > \$1 || \$1 - \$2 > 4) bad = 1 } END { exit bad }"
		[ "$(json counted_all.json "[.stacks[] | select(.estimated)] | length")" -ge 1 ]
	done'

done_testing
