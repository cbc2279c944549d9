#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='sleds of clang: functions are recorded exactly, and nothing of theirs is harmed'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$VFTR" "$LIB/libvftrace.so" "$LIB/libvftrace.a" "$LIB/libvftrace-static.a"
[ "$(uname -m)" = x86_64 ] || skip_all 'sleds are changed on x86-64 only'
command -v clang >/dev/null || skip_all 'no clang'
SLEDS='-fxray-instrument -fxray-instruction-threshold=1 -fnoxray-link-deps'

# -fno-inline: what is inlined has no sleds. -u: sleds refer to nothing that is in the archive.
# exact PROGRAM AGENT-OPTIONS...: calls of each path are those of the program's own counter
exact() {
	program=$1
	shift
	rm -f counts "${program##*/}"_*
	traced -q -k demangle_cxx=false "$@" -- "$program" counts 3
	same_calls counts "${program##*/}_all.json"
	is 0 "$(json "${program##*/}_all.json" .lost)" lost
	exclusive_sums_up "${program##*/}_all.json"
}

for how in '-O0' '-O1 -fno-pie -no-pie' '-O2' '-O3 -flto -fuse-ld=lld'; do
	test_if "echo 'int main() {}' | clang $how -x c -" "clang $how does not link" \
		"C, $how: each path has its calls, preloaded and linked" "
		\$T/lib/cached clang -g $how -fno-inline $SLEDS -c -o count.o \$T/hook/app-count.c
		clang $how $SLEDS -o $BIN/count count.o -pthread -lm
		exact $BIN/count --preload
		clang $how $SLEDS -o $BIN/count count.o -pthread -lm \$(test_link vftrace)
		exact $BIN/count"
done

test_if 'command -v clang++' 'no clang++' 'C++ with exceptions: each path has its calls' "
	for how in -O1 -O2; do
		\$T/lib/cached clang++ -g \$how $SLEDS -c -o countpp.o \$T/hook/app-count.cpp
		clang++ $SLEDS -o $BIN/countpp countpp.o -pthread
		exact $BIN/countpp --preload
		clang++ $SLEDS -o $BIN/countpp countpp.o -pthread \$(test_link vftrace)
		exact $BIN/countpp
	done"

test_expect 'a program linked with -static, and one that was stripped' "
	\$T/lib/cached clang -g -O1 -static $SLEDS -Wl,-u,vftrace_version -o $BIN/static \$T/hook/app-static.c $LIB/libvftrace-static.a
	exact $BIN/static
	\$T/lib/cached clang -g -O1 -fno-inline $SLEDS -Wl,-E -o $BIN/count \$T/hook/app-count.c -pthread -lm
	strip $BIN/count
	rm -f counts count_*
	traced -q --preload -- $BIN/count counts 3
	is \$(awk '{ n += \$1 } END { print n }' counts) \$(json count_all.json '[.stacks[].calls] | add')"

# built OPTION...: app-sleds
built() {
	"$T/lib/cached" clang -O2 -g -Wno-psabi $SLEDS "$@" -o "$BIN/sleds" "$T/hook/app-sleds.c" -pthread
	"$BIN/sleds" 3000 >plain 2>state
	is unchanged "$(cat state)"
}

# recorded AGENT-OPTIONS...: all calls, and the program's results
recorded() {
	rm -f sleds_*
	traced -q --preload "$@" -- "$BIN/sleds" 3000 >out 2>state
	cmp plain out
	is changed "$(cat state)"
	json sleds_all.json '.stacks[] | "\(.function) \(.calls)"' |
		awk '{ n[$1] += $2 } END { for (f in n) print f, n[f] }' | sort >calls
	sort <<-END | diff - calls
		after_jump 1
		doubles 9000
		fib 135041
		init 0
		ints 9000
		jumper 1
		jumps 4
		longer 9000
		main 1
		mixed 9000
		odd 9000
		pair 9000
		round_of 9000
		tail 18000
		thread 2
		variable 9000
		vectors 9000
		wide 9000
	END
}

test_expect 'arguments and results of all kinds stay, in threads, in small rings, with each event slow' '
	built
	recorded -k shm.ring_size=32KiB
	recorded -k shm.when_full=drop
	recorded -k clock.source=raw'

test_if 'grep -q -w avx2 /proc/cpuinfo' 'no AVX2' 'the same of vectors of 256 bits' '
	built -mavx2
	recorded -k shm.ring_size=32KiB
	recorded -k clock.source=raw'

test_if 'grep -q -w avx512f /proc/cpuinfo' 'no AVX-512' 'the same of vectors of 512 bits' '
	built -mavx512f
	recorded -k shm.ring_size=32KiB
	recorded -k clock.source=raw'

test_expect 'functions that end in a conditional jump, and those that use all registers, are not harmed' '
	for how in -O2 -Os -Oz "-O2 -mretpoline" "-O2 -mgeneral-regs-only -DGENERAL_REGISTERS"; do
		"$T/lib/cached" clang $how $SLEDS -o "$BIN/registers" "$T/hook/app-sled-registers.c"
		"$BIN/registers" >plain
		for key in shm.when_full=drop clock.source=raw; do
			rm -f registers_*
			traced -q --preload -k $key -- "$BIN/registers" >out
			cmp plain out
			json registers_all.json ".stacks[].function" >functions
			has functions small
			has functions by_address
		done
	done'

test_expect 'what is called in pauses is left out, and nothing else' '
	# at -O1 and above a call in the place of a return is below the caller
	"$T/lib/cached" clang -O0 $SLEDS -I"$TOP/libhook" -o "$BIN/regions" "$T/hook/app-regions.c" -pthread $(test_link vftrace)
	"$T/lib/cached" gcc -O0 -finstrument-functions -I"$TOP/libhook" -o "$BIN/hooked" "$T/hook/app-regions.c" -pthread $(test_link vftrace)
	for what in across region-in-pause "deep 300"; do
		traced -q -- "$BIN/regions" $what
		traced -q -- "$BIN/hooked" $what
		calls_in regions_all.json | sort | grep -vE "^1 (late|print_stack)<" >sleds # these have no hooks
		calls_in hooked_all.json | sort | diff - sleds
	done
	[ -s sleds ]'

test_expect 'a function that a debugger has stopped in stays as it is, and the others are recorded' '
	cat >stopped.c <<-END
		#include <string.h>
		#include <sys/mman.h>
		int a(int n) { return n + 1; }
		int b(int n) { return n + 2; }
		/* comes before the library of tracing */
		__attribute__((xray_never_instrument)) static void stop(void)
		{
			char *page = (char *)((unsigned long)&a & ~4095ul);
			mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC);
			*(unsigned char *)&a = 0xcc;
			mprotect(page, 8192, PROT_READ | PROT_EXEC);
		}
		__attribute__((section(".preinit_array"), used)) static void (*first)(void) = stop;
		int main(void) { return b(1) - 3; }
	END
	clang -O1 -fno-inline $SLEDS -o "$BIN/stopped" stopped.c
	traced -q --preload -- "$BIN/stopped"
	json stopped_all.json ".stacks[].function" | sort | tr "\n" " " >functions
	is "b init main " "$(cat functions)"'

test_expect 'where the system refuses to have code changed, the program is sampled' '
	cat >refused.c <<-END
		#include <errno.h>
		#include <linux/filter.h>
		#include <linux/seccomp.h>
		#include <stddef.h>
		#include <sys/prctl.h>
		#include <sys/syscall.h>
		#include <unistd.h>
		int main(int n, char **v)
		{
			struct sock_filter f[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
				BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pwrite64, 0, 1),
				BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EIO),
				BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
			struct sock_fprog p = {4, f};
			prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
			prctl(PR_SET_SECCOMP, 2, &p);
			execvp(v[1], v + 1);
			return 9;
		}
	END
	gcc -o "$BIN/refused" refused.c
	built
	traced -q --preload -k mpi.call_sites=off -- "$BIN/refused" "$BIN/sleds" 3000 >out 2>state
	cmp plain out
	is unchanged "$(cat state)"'

test_expect 'a map of begins alone, or of ends alone: no function is recorded' '
	for bundle in function-entry function-exit; do
		"$T/lib/cached" clang -O2 -Wno-psabi -fxray-instrumentation-bundle=$bundle $SLEDS -o "$BIN/half" "$T/hook/app-sleds.c" -pthread
		traced -q --preload -- "$BIN/half" 10 >out 2>state
		cat state
		[ "$(cat state)" != changed ]
	done'

test_expect 'without an agent, switched off, and with profile.xray=false they stay as they are' '
	built
	for how in VFTR_OFF=1 VFTR_AGENT=off; do
		LD_PRELOAD="$LIB/libvftrace.so" limit env $how "$BIN/sleds" 3000 >out 2>state
		cmp plain out
		is unchanged "$(cat state)"
	done
	traced -q --preload -k profile.xray=false -- "$BIN/sleds" 3000 >out 2>state
	cmp plain out
	is unchanged "$(cat state)"'

test_expect 'vftr doctor says what is recorded' '
	built
	limit "$VFTR" doctor "$BIN/sleds" >said
	has said "will be traced"
	has said "sleds of -fxray-instrument"'
done_testing
