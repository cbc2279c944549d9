#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='who may include whom, and what may stand where'
. "$(dirname "$0")/lib.sh"
cd "$TOP" || exit 99

sources() { # FOLDER...: its C files and headers
	for d; do
		[ -d "$d" ] && find "$d" -name '*.[ch]'
	done | sort
}

# Lines "FILE: INCLUDED" of our own headers, as FOLDER/NAME; same-folder ones too.
includes() {
	for f in $(sources "$@"); do
		sed -n 's/^[ \t]*#[ \t]*include[ \t]*"\([^"]*\)".*/\1/p' "$f" |
			while read -r h; do
				case $h in */*) ;; *) h=${f%/*}/$h ;; esac
				echo "$f: $h"
			done
	done
}

# system_includes FOLDER...: "FILE: <HEADER>"
system_includes() {
	grep -Ho '^[[:space:]]*#[[:space:]]*include[[:space:]]*<[^>]*>' $(sources "$@") |
		sed 's/:.*</: </'
}

# none: fails and shows the lines if there are any
none() {
	! grep . >&2
}

# Text of the files without comments, as FILE:LINE.
code_of() {
	for f; do
		gcc -fpreprocessed -dD -E -P -x c "$f" 2>/dev/null | sed "s|^|$f: |"
	done
}

test_expect 'shm includes shm and the C library only' '
	includes shm | grep -v ": shm/" | none
	system_includes shm | grep -E "<(mpi|elf|gelf|libelf|cjson|liburing|cupti|cuda|check)" | none'

test_expect 'conf includes conf, cJSON and the C library only' '
	includes conf | grep -v ": conf/" | none
	system_includes conf | grep -E "<(mpi|elf|gelf|libelf|liburing|cupti|cuda|check)" | none'

test_expect 'libhook includes libhook, shm and generated files, and libc' '
	includes libhook | grep -Ev ": (libhook|shm|gen)/" | none
	system_includes libhook |
		grep -E "<(mpi|elfutils|gelf|libelf|cjson|liburing|cupti|cuda|check)" | none'

test_expect 'mpi, fortran and cupti see only emit.h of libhook, shm, and each other' '
	includes mpi fortran cupti |
		grep -Ev ": (libhook/emit\.h|shm/.*|mpi/.*|fortran/.*|cupti/.*|gen/.*|mpi_[a-z]+\.h)$" |
		none
	includes cupti | grep -E ": (mpi|fortran)/" | none
	includes mpi | grep -E ": (cupti)/" | none'

test_expect 'nodeagent never includes libhook, mpi, fortran or cupti' '
	includes nodeagent | grep -E ": (libhook|mpi|fortran|cupti)/" | none
	includes nodeagent | grep -Ev ": (nodeagent|shm|conf|gen)/" | none'

test_expect 'only peer-mpi.c of the agent sees mpi.h' '
	system_includes nodeagent | grep "<mpi.h>" | grep -v "^nodeagent/peer-mpi\.c:" | none
	includes nodeagent | grep ": nodeagent/mpi.h" | none'

test_expect 'nobody includes a test' '
	includes shm conf libhook mpi fortran cupti nodeagent | grep ": t/" | none'

test_expect 'rings are produced by libhook and consumed by the agent only' '
	includes mpi fortran cupti conf | grep ": shm/ring\.h" | none'

test_expect 'memory orders stand in shm/atomic.h and nowhere else' '
	code_of $(sources shm conf libhook mpi fortran cupti nodeagent) |
		grep -E "memory_order|__atomic_|__sync_|_Atomic|stdatomic" |
		grep -v "^shm/atomic\.h:" | none
	code_of $(sources shm conf libhook mpi fortran cupti nodeagent) |
		grep -w volatile | grep -vE "asm|__asm__" |
		grep -vE "sig_atomic_t|^(shm/|nodeagent/clocks\.c:)" | none'

test_expect 'generated files bring no memory orders either' '
	[ ! -d "$BUILD/gen" ] || code_of $(sources "$BUILD/gen") |
		grep -E "memory_order|__atomic_|__sync_" | none'

# the clock, the pause of a spinning CPU, the copy, the one-instruction reservation
may_asm="shm/clock.h shm/atomic.h shm/copy.h shm/killpoint.h libhook/reserve.h libhook/vfork.h \
	libhook/gomp-jump.h"
test_expect 'assembler stands in the few headers made for it' '
	code_of $(sources shm conf libhook mpi fortran cupti nodeagent) |
		grep -wE "asm|__asm__|__asm" |
		grep -vE "__asm__.(\"[A-Za-z_0-9]+\"|#name)." | cut -d: -f1 | sort -u |
		grep -vxF "$(echo $may_asm | tr " " "\n")" | none'

test_expect 'the library in the application never exits, aborts, or uses stdio streams' '
	code_of $(sources libhook mpi fortran) |
		grep -wE "abort|exit|fprintf|printf|fopen|perror|signal|sigaction" |
		grep -vE "#include|_exit|thread_exit" | none'

done_testing
