#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='the agent, the tools and the plug-ins are built against bad input'
. "$(dirname "$0")/../lib/lib.sh"
need readelf nm
need_built "$AGENT" "$VFTR"

echo "int f(void) { return 0; }" | ${CC:-cc} -fcf-protection -S -xc -o "$VFTR_TEST_DIR/endbr" - 2>/dev/null
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

# The linker drops the mark where one object lacks it, as those of Debian's C library do.
test_if 'grep -q "endbr64" "$VFTR_TEST_DIR/endbr"' 'this compiler has no control-flow protection' \
	'where calls and jumps may go is marked in each object of the agent and the tools (CET)' '
	find "$BUILD/nodeagent" "$BUILD/conf" -name "*.o" ! -path "*/net/mpi*" >objects
	[ "$(wc -l <objects)" -gt 100 ]
	while read -r o; do
		readelf -n "$o" 2>/dev/null | grep -q "IBT, SHSTK" || echo "$o"
	done <objects >unmarked
	cat unmarked >&2
	[ ! -s unmarked ]'

test_expect 'what applications load has no stack protector in its hooks' '
	! readelf -Ws "$LIB/libvftrace.so" | grep -q "__stack_chk_fail"'

# Symbols of ARCHIVE that could be the application's own: the rest are ours by their prefix,
# or calls of the C library and the compilers' run-time libraries that are taken over.
strays() {
	nm -g "$1" 2>/dev/null | awk 'NF == 3 && $2 != "U" { print $3 }' | sort -u |
		grep -vE '^(vftr_|[vV][fF][tT][rR][aA][cC][eE]_|__vftrace|__cyg_profile_|GOMP_|GOACC_|ompt_|acc_|omp_(un)?set_)' |
		grep -vE '^(P?MPIX?_|p?mpix?_|MPIR_|mpi_|__cxa_|_Unwind_|_?_?exit$|_Exit$|_?_?(sig)?longjmp(_chk)?$)' |
		grep -vE '^((__)?sigaction|signal|bsd_signal|ssignal|_?_?sysv_signal|sigset|sigignore|signalfd|sigwait(info)?|sigtimedwait|sigaltstack)$' |
		grep -vxE 'clone|vfork|dlclose|pthread_create|pthread_setname_np|thrd_create' || :
}

test_expect 'all global symbols of the archives have a prefix' '
	printf "int vftr_one;\nint say(void) { return 0; }\n" >one.c
	gcc -c -o one.o one.c && ar rcs one.a one.o
	is "$(strays one.a)" say "a symbol without a prefix"
	for f in "$LIB"/*.a; do
		strays "$f" | sed "s|^|${f##*/}: |"
	done >found
	cat found >&2
	[ ! -s found ]'

done_testing
