#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='stack samples in code whose unwind tables are unusual'
. "$(dirname "$0")/../lib/lib.sh"

need jq

sampled() { # COMMAND...: with profile.sample; paths in `paths', each with its samples
	rm -f ./*_all.json
	traced --preload -k profile.sample=100 -- "$@" >out || return 1
	mv ./*_all.json all.json
	jq -r ".stacks[] | select(.samples > 0) | \"\(.samples) \(.path | gsub(\" < \"; \"<\"))\"" all.json >paths
}

# where the kernel allows none there is nothing to see
allowed=yes
sampled sh -c : || true
grep -q "the kernel allows no stack samples" ./*_all.log && allowed=
may='[ "$allowed" ]'
why='the kernel allows no perf events here'

# samples PATTERN: of all paths that match it
samples() {
	awk -v p="$1" '$2 ~ p { n += $1 } END { print n + 0 }' paths
}
most_are() { # PATTERN
	cat paths
	[ "$(samples "$1")" -gt "$(($(samples .) * 3 / 4))" ]
}

cat >before.c <<'END'
__attribute__((noinline)) long never_called(long x) { __asm__ volatile(""); return 3 * x; }
END
cat >kernel.c <<'END'
long kernel(long n) { long s = 0; for (long i = 0; i < n; i++) __asm__ volatile("" : "+r"(s)); return s; }
END
cat >calls.c <<'END'
long kernel(long n), never_called(long x);
int main(int argc, char **argv) { return argc > 9 ? (int)never_called(argc) : (int)kernel(500000000); }
END

test_if "$may" "$why" 'a function without an entry, as of an assembler, has its name and not that before it' '
	for f in calls before; do $TEST_CC -O2 -c $f.c; done
	$TEST_CC -O2 -fno-asynchronous-unwind-tables -fno-unwind-tables -c kernel.c
	$TEST_CC -o bare calls.o before.o kernel.o
	sampled ./bare
	most_are "^kernel<"
	is 0 "$(samples never_called)"'

cat >fiber.c <<'END'
#include <stdlib.h>
#include <ucontext.h>
static ucontext_t outside, inside;
static volatile double sink;
__attribute__((noinline)) void burn(long n) { for (long i = 1; i < n; i++) sink += 1.0 / (double)i; }
void body(void) { for (;;) { burn(3000000); swapcontext(&inside, &outside); } }
int main(void)
{
	getcontext(&inside);
	inside.uc_stack.ss_sp = malloc(65536);
	inside.uc_stack.ss_size = 65536;
	inside.uc_link = &outside;
	makecontext(&inside, body, 0);
	for (int i = 0; i < 30; i++)
		swapcontext(&outside, &inside);
	return 0;
}
END

test_if "$may" "$why" 'the first function of a fiber has no caller' '
	$TEST_CC -O1 -o fiber fiber.c
	sampled ./fiber
	most_are "^burn<body<init$"
	is "" "$(grep "<body<" paths | grep -v "<body<init$")"'

cat >recursion.c <<'END'
static volatile double sink;
__attribute__((noinline)) void leaf(void) { for (int i = 0; i < 3000; i++) sink += 1.0 / (i + 1); }
__attribute__((noinline)) int walk(int d) { int r = 1; if (d) r += walk(d - 1); else leaf(); sink++; return r; }
__attribute__((noinline)) int phase(int d) { return walk(d) + 1; }
int main(void) { for (int i = 0; i < 30000; i++) phase(400); return 0; }
END

test_if "$may" "$why" 'a recursion of 400 small frames is one frame, with its callers' '
	$TEST_CC -O1 -fomit-frame-pointer -fno-optimize-sibling-calls -o recursion recursion.c
	sampled ./recursion
	most_are "^(leaf<)?walk<phase<main<init$"'

cat >handler.c <<'END'
#include <signal.h>
static volatile double sink;
__attribute__((noinline)) void burn(long n) { for (long i = 1; i < n; i++) sink += 1.0 / (double)i; }
void handler(int n) { burn(100000000); sink++; }
__attribute__((noinline)) void raises(void) { raise(SIGUSR1); sink++; }
int main(void) { signal(SIGUSR1, handler); raises(); return 0; }
END

# where the C library has no symbols, its address: that is a multiple of 16, and not one less
test_if "$may" "$why" 'what a signal handler returns to has its own name or address' '
	$TEST_CC -O1 -o handler handler.c
	sampled ./handler
	most_are "^burn<handler<.*raises<main<init$"
	is 0 "$(samples "handler<libc[^<]*[1-9a-f]<")"'

test_if "$may" "$why" 'functions of a program in a folder with a newline in its name have theirs' '
	folder=$(printf "a\nb")
	mkdir -p "$folder"
	cp recursion "$folder"
	sampled "./$folder/recursion"
	most_are "^(leaf<)?walk<phase<main<init$"'

# its functions are named by their symbols; it is attached to, as nothing can be preloaded into it
test_if "$may" "$why" 'a static program has neither each call of a recursion nor the begin of the C library' '
	sed "s/for (int i = 0; i < 30000; i++)/for (;;)/" recursion.c >forever.c
	$TEST_CC -O1 -fomit-frame-pointer -fno-optimize-sibling-calls -static -o static forever.c
	./static &
	test_pid=$!
	limit "$VFTR" attach -q -o got -k profile.sample=100 -s 1 "$test_pid" || { kill "$test_pid"; return 1; }
	kill "$test_pid"
	jq -r ".stacks[] | select(.samples > 0) | \"\(.samples) \(.path | gsub(\" < \"; \"<\"))\"" got/profile.json >paths
	most_are "^(leaf<)?walk<phase<main<init$"'

done_testing
