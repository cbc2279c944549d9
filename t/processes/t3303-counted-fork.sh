#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='children of fork() whose parent counts functions'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$LIB/libvftrace.so"
[ "$(uname -m)" = x86_64 ] || skip_all 'hooks are taken out on x86-64 only'
cc_traced "$BIN/counted-fork" "$T/processes/app-counted-fork.c" -O1 || skip_all 'app-counted-fork.c cannot be compiled'

test_expect 'calls of a counted function in a child change no signal mask' '
	traced -q -k overhead.budget_percent=1 -k overhead.count_calls=true -k "overhead.keep=^recorded\$" \
		-- "$BIN/counted-fork" >out
	cat out
	[ "$(sed -n "s/^masks //p" out)" -lt 100 ]'

test_expect 'the counts of both are exact' '
	is "$(sed -n "s/^calls //p" out)" "$(json counted-fork_all.json "[.stacks[] | select(.function == \"tiny\") | .calls] | add")"'

done_testing
