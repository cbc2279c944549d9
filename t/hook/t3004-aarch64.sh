#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The library for aarch64: compiled with all warnings, and run in an emulator
# under the agent of this machine (their clocks differ, so by the kernel's).
test_description='aarch64: compiles, and records in an emulator'
. "$(dirname "$0")/../lib/lib.sh"
need aarch64-linux-gnu-gcc qemu-aarch64
need_built "$AGENT"
printf '%s\n' '#include <stdio.h>' 'int main(void) { return puts("") < 0; }' >can.c
aarch64-linux-gnu-gcc -static -pthread -o can can.c -lm 2>/dev/null ||
	skip_all 'the compiler for aarch64 has no C library (libc6-dev-arm64-cross)'

test_expect 'the hook library compiles without a warning' '
	mkdir obj
	# where the build has ccache, what has not changed is not compiled again
	ccache=$(command -v ccache) || :
	for f in "$TOP"/libhook/*.c "$TOP"/libhook/*/*.c "$TOP"/shm/segment.c "$TOP"/shm/runtime-dir.c \
		"$TOP"/shm/killpoint.c; do
		folder=${f%/*}
		$ccache aarch64-linux-gnu-gcc -std=gnu11 -D_GNU_SOURCE= -I"$TOP" -DVFTR_VERSION="\"0\"" \
			-DVFTR_BINDIR="\"/usr/bin\"" -O2 -Wall -Wextra -Wno-unused-parameter -Werror -fPIC \
			-ftls-model=initial-exec -fvisibility=hidden -c "$f" -o "obj/${folder##*/}-${f##*/}.o"
	done
	rm obj/libhook-interpose.c.o
	aarch64-linux-gnu-ar rcs libvftrace.a obj/*.o'

test_expect 'calls are exact in the emulator' '
	aarch64-linux-gnu-gcc -g -O1 -static -finstrument-functions -I"$TOP/libhook" -o count \
		"$T/hook/app-static.c" libvftrace.a -pthread -lm
	traced -q -k clock.source=raw -- qemu-aarch64 ./count counts
	same_calls counts count_all.json'

done_testing
