#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# overhead.count_calls: a signal after each instruction that counts. leaf() is called by work() only,
# and inner() by the handler.
test_description='signal handlers at any instruction while calls are counted'
. "$(dirname "$0")/../lib/lib.sh"
need jq nm
need_built "$AGENT" "$LIB/libvftrace.a"
[ "$(uname -m)" = x86_64 ] || skip_all 'single steps are for x86-64'

TEST_FLAGS="$TEST_FLAGS -D_GNU_SOURCE"
gcc $TEST_FLAGS -o "$BIN/stepper" "$T/hook/app-stepper.c" || skip_all 'app-stepper.c cannot be compiled'
# static addresses for the stepper
gcc $TEST_FLAGS -DCOUNTED -I"$TOP" -I"$BUILD/gen" -finstrument-functions -no-pie -o "$BIN/stepped" \
	"$T/hook/app-signals.c" "$LIB/libvftrace.a" -ldl -lpthread || skip_all 'app-signals.c cannot be linked'
stride=43
[ -z "$VFTR_LONG" ] || stride=1

# step FUNCTION STEP WAY CALLS [LAST]: each instruction of the function, or every STEP-th
step() {
	address=$(nm "$BIN/stepped" | awk -v f="$1" '$3 == f { print $1 }')
	rm -f stepped_*
	limit "$AGENT" -q -k overhead.budget_percent=0.01 -k overhead.count_calls=true \
		-k "overhead.keep=^(handler|work)\$" -- \
		"$BIN/stepper" "$address" 1 "$2" "${5:-5000}" "$BIN/stepped" "$3" "$4" >counts 2>err
	cat err >&2
	hasnt err '(not all)'
}

# of FUNCTION: what the program says; called FUNCTION [CALLER]: what the profile has
of() {
	awk -v f="$1" '$2 == f { print $1 }' counts
}
called() {
	json stepped_all.json "[.stacks[] | select(.function == \"$1\" and (\"$2\" == \"\" or .caller == \"$2\")) | .calls] | add // 0"
}

# Each call where it was made. Those of a handler that has interrupted the slow path are lost.
exact() {
	is "$(of leaf)" "$(called leaf work)" leaf
	is "$(of work)" "$(called work)" work
	is "$(called inner)" "$(called inner handler)" 'inner, by its caller'
	is "$(awk '{ s += $1 } END { print s }' counts)" \
		"$(json stepped_all.json '([.stacks[].calls] | add) + .lost')" 'all calls, and lost'
	is 2 "$(json stepped_all.json '[.stacks[] | select(.estimated) | .function] | unique | length')" counted
}

for calls in 1 3; do
	test_expect "after each instruction that counts, handler of $calls calls" "
		step vftr_count_here 1 counted $calls
		exact
		is 0 \$(json stepped_all.json .lost) lost"
done

test_expect "after each ${stride}th instruction of the event behind counted calls" "
	step vftr_slow $stride counted 2
	exact"

test_expect 'a handler that forks: parent exact, and its children end well' '
	step vftr_count_here 1 counted_forks 1
	is $(($(of leaf) + $(of work) + $(of inner) + $(called handler))) \
		"$(jq ".each_process | max_by(.calls) | .calls + .lost" stepped_all.json)" "calls of the parent"
	is "" "$(jq -r ".each_process[] | select(.status != 0)" stepped_all.json)"'

done_testing
