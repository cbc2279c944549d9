#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='stack samples of stacks that are larger than most'
. "$(dirname "$0")/../lib/lib.sh"

need jq
$TEST_CC -O2 -fomit-frame-pointer -o "$BIN/deep" "$T/stack/app-deep.c" -pthread || exit 1

# `ms' milliseconds of CPU time below KIB KiB of stack; standard output in `out'
sampled() { # KIB [thread]
	kib=$1
	shift
	rm -f ./*_all.json
	traced --preload -k profile.sample=100 -- "$BIN/deep" "$kib" 2000 "$@" >out || return 1
	mv ./*_all.json all.json
}

# Seconds of burn() below outermost(), and of all of it
share() {
	jq -r '[.stacks[] | select(.function == "burn")] |
		"\(map(select(.path | test("<outermost"; ""))) | map(.t_excl_s) | add // 0) \(map(.t_excl_s) | add // 0)"' all.json
}
most_have_it() {
	share
	share | awk '{ exit !($2 > 1 && $1 > 0.7 * $2) }'
}

allowed=yes
sampled 1 || exit 1
grep -q "the kernel allows no stack samples" ./*_all.log && allowed=
may='[ "$allowed" ]'
why='the kernel allows no perf events here'

test_if "$may" "$why" 'a stack of 1 KiB' '
	most_have_it && has out done'

test_if "$may" "$why" 'one of 50 KiB has its outer functions, too, after the first few samples' '
	sampled 50
	most_have_it && has out done
	share | awk "{ exit !(\$1 < \$2) }"'

test_if "$may" "$why" 'also that of another thread' '
	sampled 50 thread
	most_have_it && has out done'

test_if "$may" "$why" 'one of 200 KiB lacks them, and the path says so' '
	sampled 200
	share | awk "{ exit !(\$1 == 0 && \$2 > 1) }"
	jq -e "[.stacks[] | select(.function == \"(callers not known)\")] | length > 0" all.json
	has out done'

done_testing
