#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='the agent, the tools and the plug-ins are built against bad input'
. "$(dirname "$0")/lib.sh"
need readelf
need_built "$AGENT" "$VFTR"

plug_ins=$(ls "$LIB"/vftr/*.so 2>/dev/null || :)

test_expect 'position independent, relocated and read-only before the first line of code' '
	for f in "$AGENT" "$VFTR" $plug_ins; do
		readelf -Wh "$f" | grep -q "Type: *DYN" || { echo "$f: not position independent"; false; }
		readelf -Wl "$f" | grep -q GNU_RELRO || { echo "$f: no relro"; false; }
		readelf -Wd "$f" | grep -Eq "BIND_NOW|FLAGS_1.*NOW" || { echo "$f: lazy"; false; }
		readelf -Wl "$f" | grep GNU_STACK | grep -q "RW " || { echo "$f: executable stack"; false; }
	done'

test_if '! readelf -Ws "$AGENT" | grep -Eq "__asan_init|__tsan_init"' 'a sanitizer is in it' \
	'stack protector, and checked calls of the C library' '
	for f in "$AGENT" "$VFTR"; do
		readelf -Ws "$f" | grep -q "__stack_chk_fail" || { echo "$f: no stack protector"; false; }
		readelf -Ws "$f" | grep -Eq "__[a-z]+_chk@" || { echo "$f: no fortify"; false; }
	done'

test_expect 'what applications load has no stack protector in its hooks' '
	! readelf -Ws "$LIB/libvftrace.so" | grep -q "__stack_chk_fail"'

done_testing
