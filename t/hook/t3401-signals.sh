#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='signal handlers at any instruction: exact, and as without us'
. "$(dirname "$0")/../lib/lib.sh"
need jq nm
need_built "$AGENT" "$LIB/libvftrace.so" "$LIB/libvftrace.a"

TEST_FLAGS="$TEST_FLAGS -D_GNU_SOURCE"
cc_traced "$BIN/signals" "$T/hook/app-signals.c" || skip_all 'app-signals.c cannot be compiled'
seconds=1
stride=43
if [ -n "$VFTR_LONG" ]; then
	seconds=10
	stride=1
fi

# exact JSON COUNTS: each function was recorded as often as it says that it ran;
# calls of handlers and below them may be counted as lost instead
exact() {
	# the library, linked in statically, may have functions of the same name
	jq -r '.lost, "\(.warnings)", (.stacks[] | "\(.calls) \(.path)")' "$1" |
		awk 'function wrong(what) {
				print what
				bad = 1
			}
			NR == FNR {
				wanted[$2] = $1
				all += $1
				next
			}
			FNR == 1 {
				sum = $1
				next
			}
			FNR == 2 {
				if ($0 != "[]")
					wrong("warnings: " $0)
				next
			}
			{
				sum += $1
				calls = $1
				sub(/^[0-9]+ /, "")
				if (sub(/<.*/, "")) {
					sub(/@.*/, "")
					got[$0] += calls
				}
			}
			END {
				for (f in wanted)
					if (got[f] + 0 > wanted[f] || (got[f] + 0 < wanted[f] && f != "handler" && f != "inner"))
						wrong("calls of " f ": wanted " wanted[f] ", got " got[f] + 0)
				if (sum != all || !all)
					wrong("all calls, and lost: wanted " all ", got " sum)
				exit bad
			}' "$2" -
}

# signals WAY [CALLS [SECONDS]]: traced
signals() {
	rm -f signals_*
	traced -q -- "$BIN/signals" "$@" >counts
	exact signals_all.json counts
}

test_expect "a handler at 1 kHz during $seconds s of deep calls" '
	signals timer 2 $seconds
	[ "$(awk "/ handler/ { print \$1 }" counts)" -gt 100 ]'

test_expect 'one that calls more than a block has room for' 'signals timer 200 1'

test_expect 'one on a stack of its own (sigaltstack)' 'signals altstack 2 1'

test_expect 'a handler while dlopen() and dlclose() change the list of modules' '
	echo "int unloaded;" >unloaded.c
	needed=
	for n in 1 2 3 4 5 6 7 8; do # one is unmapped when others are gone
		gcc -shared -fPIC -o needed$n.so unloaded.c
		needed="$needed ./needed$n.so"
	done
	gcc -shared -fPIC -Wl,--no-as-needed -o unloaded.so unloaded.c $needed
	signals unloading 600 $seconds
	[ "$(awk "/ handler/ { print \$1 }" counts)" -gt 10 ]'

test_expect 'a profiler in the program gets its SIGPROF' 'signals profiler 0 1'

test_expect 'blocking calls end with EINTR as without us' '
	signals interrupted 2
	is "20 handler" "$(grep handler counts)"'

# ---- single steps ----

steps='uname -m | grep -q x86_64'
if (eval "$steps") >/dev/null; then
	gcc $TEST_FLAGS -o "$BIN/stepper" "$T/hook/app-stepper.c"
	# static addresses for the stepper
	gcc $TEST_FLAGS -finstrument-functions -no-pie -o "$BIN/stepped" "$T/hook/app-signals.c" \
		"$LIB/libvftrace.a" -ldl -lpthread
fi

# step FUNCTION STEP WAY CALLS [LAST]: each instruction of the function, or every STEP-th,
# to the LAST
step() {
	[ -s symbols ] || nm "$BIN/stepped" >symbols
	address=$(awk -v f="$1" '$3 == f { print $1 }' symbols)
	rm -f stepped_*
	traced -q -- "$BIN/stepper" "$address" 1 "$2" "${5:-5000}" "$BIN/stepped" "$3" "$4" >counts 2>err
	cat err >&2
	hasnt err '(not all)'
}

for calls in 0 2 300; do
	for hook in enter exit; do
		test_if "$steps" 'x86-64 only' \
			"a signal after each instruction of the $hook hook, handler of $calls calls" "
			step __cyg_profile_func_$hook 1 rounds $calls
			exact stepped_all.json counts
			[ \$(awk '/ handler/ { print \$1 }' counts) -gt 20 ]"
	done
	test_if "$steps" 'x86-64 only' \
		"after each ${stride}th instruction of the turn of a block, handler of $calls calls" "
		step vftr_slow $stride rounds $calls
		exact stepped_all.json counts"
done

test_if "$steps" 'x86-64 only' 'a handler that fills two blocks and more: all but a few are right' '
	step __cyg_profile_func_enter 1 rounds 1500
	all=$(awk "{ s += \$1 } END { print s }" counts)
	sum=$(jq "[.stacks[].calls] | add" stepped_all.json)
	lost=$(json stepped_all.json .lost)
	[ $lost -le 10 ] && [ $sum -le $all ] && [ $((sum + lost)) -ge $all ]'

test_if "$steps" 'x86-64 only' 'in the first event of a thread' "
	step vftr_slow $((8 * stride)) threads 2
	exact stepped_all.json counts
	step vftr_thread_attach $((3 * stride)) threads 2
	exact stepped_all.json counts"

test_if "$steps" 'x86-64 only' 'a handler that forks: parent exact, and its children end well' "
	for f in __cyg_profile_func_enter:1 vftr_slow:4:120 vftr_slow:$((3 * stride)); do
		step \$(echo \$f: | awk -F: '{ print \$1, \$2, \"forks 0\", \$3 }')
		is \$(awk '/ leaf| work/ { s += \$1 } END { print s }' counts) \
			\$(jq '.each_process | max_by(.calls) | .calls + .lost' stepped_all.json) 'calls of the parent'
		is \$(awk '/ handler/ { print \$1 + 1 }' counts) \
			\$(jq .processes stepped_all.json) processes
		is '' \"\$(jq -r '.each_process[] | select(.status != 0)' stepped_all.json)\"
		case \$f in
		*enter*) is '' \"\$(jq -r '.stacks[] | select(.path == \"leaf<init\")' stepped_all.json)\" \
			'calls of children outside of the one that the handler has interrupted' ;;
		esac
	done"

# VFTR_PROGRAMS is read at the first event, and the C library may have any of its locks then
cc_traced "$BIN/locale" "$T/hook/app-locale.c" || exit 99
test_expect 'the first event is in a handler that interrupts setlocale()' '
	for list in other locale; do
		is end "$(VFTR_PROGRAMS=$list limit "$AGENT" -q -k profile.sample=0 -- "$BIN/locale")"
	done
	is locale "$(jq -r ".executables[] | sub(\".*/\"; \"\")" locale_all.json)"'

done_testing
