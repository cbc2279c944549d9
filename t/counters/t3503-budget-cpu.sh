#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='overhead.budget_percent: compared with CPU time, also where CPUs are short'
. "$(dirname "$0")/../lib/lib.sh"
need jq taskset
need_built "$AGENT" "$LIB/libvftrace.so"

cc_traced "$BIN/accessors" "$T/counters/app-accessors.c" -O2 -DUSER_TIME || skip_all 'app-accessors.c cannot be compiled'
$TEST_CC -O2 "$T/counters/app-accessors.c" -o "$BIN/plain" || skip_all 'no compiler'
ALL=accessors_all.json
cpu=$(taskset -cp $$ | sed 's/.*[ :]\([0-9]*\)[^0-9]*.*$/\1/')

# together N PROGRAM STEPS WORK: so many at once; what they print is in out.*
together() {
	for together_i in $(seq "$1"); do
		"$BIN/$2" "$3" "$4" >"out.$together_i" &
	done
	wait
}

# bounded OPTION... -- COMMAND...: with a budget
bounded() {
	rm -f accessors_*
	limit "$AGENT" -q "$@"
}

off() {
	json $ALL '.switched_off | length'
}

# the CPU time of N programs, in seconds
cpu_s() {
	cat out.* | awk '{ s += $2 } END { print s }'
}

# each program says itself what it should: the same as untraced
together 1 plain 2 400
untraced=$(cut -d' ' -f1 out.1)

export BIN
in_one='for i in 1 2 3 4; do "$BIN/accessors" 80 700 >out.$i & done; wait'

test_expect 'four processes on one CPU: what costs too much of their CPU time goes off' '
	bounded -k overhead.budget_percent=10 -- taskset -c "$cpu" sh -c "$in_one"
	[ "$(off)" -ge 3 ]
	jq -e "[.switched_off[].processes] | max == 4" $ALL
	# all calls are there, recorded or counted
	is $((4 * 80 * 65536)) "$(json $ALL "([.stacks[] | select(.function != \"init\" and
		.function != \"main\" and .function != \"step\") | .calls] | add) +
		([.switched_off[].calls] | add)")"'

test_expect 'the log says what was saved' '
	grep -q "^| Function *| *From\[s\] *| *Calls not recorded *| *Saved\[s\] *| *Processes *|" \
		accessors_all.log
	jq -e "[.switched_off[] | .saved_s > 0] | all" $ALL'

test_expect 'waiting for the agent counts' '
	taskset -c "$cpu" sh -c "exec \"\$0\" \"\$@\"" "$AGENT" -q -k shm.ring_size=32KiB \
		-k overhead.budget_percent=60 -- "$BIN/accessors" 100 200 >out.1
	[ "$(off)" -ge 1 ]
	jq -e ".hooks_s < 0.6 * .runtime_s" $ALL'

test_expect 'where nothing is too much, it says so' '
	bounded -k overhead.budget_percent=100 -k shm.ring_size=64MiB -- \
		"$BIN/accessors" 20 700 >out.1
	is 0 "$(off)"
	has accessors_all.log "No function was switched off: overhead.budget_percent is 100."'

test_expect 'where nothing may go, it says so' '
	bounded -k overhead.budget_percent=1 -k overhead.keep=. -- "$BIN/accessors" 100 200 >out.1
	is 0 "$(off)"
	has accessors_all.log "overhead.budget_percent: in the end tracing still cost more"'

test_expect 'results are those of the untraced program' '
	bounded -k overhead.budget_percent=10 -- "$BIN/accessors" 2 400 >out.1
	is "$untraced" "$(cut -d" " -f1 out.1)"'

# ratio STEPS N OPTION...: CPU time with a budget of 10 % over that without tracing, N at once; the
# agent's apart
ratio() {
	steps=$1 n=$2
	shift 2
	rm -f out.*
	together "$n" plain "$steps" 700
	ratio_plain=$(cpu_s)
	rm -f out.*
	bounded -k overhead.budget_percent=10 "$@" -- sh -c "for i in \$(seq $n); do
		\"\$BIN/accessors\" $steps 700 >out.\$i & done; wait"
	echo "$(cpu_s) $ratio_plain $(json $ALL '[.agents[].cpu_s] | add')" |
		awk '{ print $1 / $2, ($1 + $3) / $2 }'
}

# within MOST STEPS N OPTION...: the best of three is at most that; what else runs makes it more
within() {
	most=$1
	shift
	for i in 1 2 3; do
		ratio "$@" >ratio
		cat ratio
		awk -v most="$most" '{ exit !($1 <= most) }' ratio && return
	done
	return 1
}

# The time until functions go off weighs less in the long form.
# The same build took less than 1.15 and, hours later on the same machine, 1.24 to 1.28 times, with
# four times the steps, too; why is not known.
steps=250 gone_most=1.4
[ -z "$VFTR_LONG" ] || steps=2500 gone_most=1.15
test_expect 'a budget of 10 %, with hooks that stay: at most 1.4 times the CPU time of the untraced program' '
	within 1.4 $steps 2'

if [ "$(uname -m)" = x86_64 ]; then
	test_expect "and with hooks that go: at most $gone_most times" '
		within $gone_most $steps 2 -k overhead.remove_calls=true'
fi

done_testing
