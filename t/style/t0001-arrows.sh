#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='who may include whom, and what may stand where'
. "$(dirname "$0")/../lib/lib.sh"
scratch=$PWD
cd "$TOP" || exit 99

sources() { # FOLDER...: its C files and headers
	for d; do
		[ -d "$d" ] && find "$d" -name '*.[ch]'
	done | sort
}

# Lines "FILE: INCLUDED" of our own headers, as FOLDER/NAME; same-folder ones too.
includes() {
	awk '/^[ \t]*#[ \t]*include[ \t]*"/ {
		split($0, part, "\"")
		folder = FILENAME
		sub("/[^/]*$", "", folder)
		print FILENAME ": " (part[2] ~ "/" ? part[2] : folder "/" part[2])
	}' $(sources "$@") /dev/null
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

# Text of the files without comments, as FILE: LINE.
code_of() {
	perl -0777 -ne '
		s{("(?:\\.|[^"\\\n])*"|\x27(?:\\.|[^\x27\\\n])*\x27)|/\*.*?\*/|//[^\n]*}{$1 // " "}gse;
		print "$ARGV: $_\n" for grep { /\S/ } split /\n/' "$@"
}

test_expect 'shm includes shm and the C library only' '
	includes shm | grep -v ": shm/" | none
	system_includes shm | grep -E "<(mpi|elf|gelf|libelf|cjson|liburing|sodium|cupti|cuda|check)" | none'

test_expect 'conf includes conf, cJSON and the C library only' '
	includes conf | grep -v ": conf/" | none
	system_includes conf | grep -E "<(mpi|elf|gelf|libelf|liburing|sodium|cupti|cuda|check)" | none'

test_expect 'libhook includes libhook, shm and generated files, and libc' '
	includes libhook | grep -Ev ": (libhook|shm|gen)/" | none
	system_includes libhook |
		grep -E "<(mpi|elfutils|gelf|libelf|cjson|liburing|sodium|cupti|cuda|check)" | none'

test_expect 'mpi, fortran, cupti and libc see only emit.h of libhook, shm, and each other' '
	includes mpi fortran cupti libc |
		grep -Ev ": (libhook/emit\.h|shm/.*|mpi/.*|fortran/.*|cupti/.*|libc/.*|gen/.*|mpi_[a-z]+\.h)$" |
		none
	includes cupti | grep -E ": (mpi|fortran)/" | none
	includes libc | grep -E ": (libhook|mpi|fortran|cupti)/" | none
	includes mpi | grep -E ": (cupti)/" | none'

test_expect 'nodeagent never includes libhook, mpi, fortran, cupti or libc' '
	includes nodeagent | grep -E ": (libhook|mpi|fortran|cupti|libc)/" | none
	includes nodeagent | grep -Ev ": (nodeagent|shm|conf|gen)/" | none'

test_expect 'only net/mpi.c of the agent sees mpi.h' '
	system_includes nodeagent | grep "<mpi.h>" | grep -v "^nodeagent/net/mpi\.c:" | none
	includes nodeagent | grep ": nodeagent/mpi.h" | none'

# arrows FOLDER: complaints about it, by FOLDER/ARROWS
arrows() {
	includes "$1" | awk -v d="$1/" 'index($2, d) == 1' >"$scratch/includes"
	awk -v top="$1" -f t/style/arrows.awk "$1/ARROWS" "$scratch/includes"
}

for d in nodeagent libhook mpi t; do
	test_expect "$d keeps to the table $d/ARROWS" "arrows $d | none"
done

# A made-up folder with one fault of each sort, each of which must be found.
test_expect 'a wrong arrow, a cycle, and a line that is no longer true are found' '
	mkdir "$scratch/made" && cat >"$scratch/made/ARROWS" <<-\EOF &&
	a: b
	b: c
	c: a
	d: a
	gone:
	wrong, to be cut:
	made/d/x.c: made/c/x.h
	made/d/x.c: made/b/x.h
	EOF
	cat >"$scratch/made/includes" <<-\EOF &&
	made/a/x.c: made/b/x.h
	made/a/x.c: made/b/internal.h
	made/a/x.c: made/c/x.h
	made/d/x.c: made/c/x.h
	made/e/x.c: made/d/x.h
	EOF
	awk "BEGIN { for (i = 0; i < 7; i++)
		print \"made/a/m\" i \".c: made/a/m\" (i + 1) % 7 \".h\" }" >>"$scratch/made/includes" &&
	awk -v top=made -f t/style/arrows.awk "$scratch/made/ARROWS" "$scratch/made/includes" |
		sort >"$scratch/made/found" &&
	cat >"$scratch/made/expected" <<-\EOF &&
	a cycle of 7 modules in a
	made/a/x.c includes made/b/internal.h, which is for its own folder
	made/a/x.c includes made/c/x.h: a may not include c
	made/e/x.c includes made/d/x.h: e may not include d
	table: a is on a cycle
	table: b is on a cycle
	table: c is on a cycle
	table: no line for e
	table: not there or not wrong any more: made/d/x.c: made/b/x.h
	table: there is no folder gone
	EOF
	LC_ALL=C sort -o "$scratch/made/expected" "$scratch/made/expected" &&
	LC_ALL=C sort "$scratch/made/found" | diff "$scratch/made/expected" - >&2'

test_expect 'nobody includes a test' '
	includes shm conf libhook mpi fortran cupti libc nodeagent | grep ": t/" | none'

test_expect 'rings are produced by libhook and consumed by the agent only' '
	includes mpi fortran cupti libc conf | grep ": shm/ring\.h" | none'

test_expect 'memory orders stand in shm/atomic.h and nowhere else' '
	code_of $(sources shm conf libhook mpi fortran cupti libc nodeagent) |
		grep -E "memory_order|__atomic_|__sync_|_Atomic|stdatomic" |
		grep -v "^shm/atomic\.h:" | none
	code_of $(sources shm conf libhook mpi fortran cupti libc nodeagent) |
		grep -w volatile | grep -vE "asm|__asm__" |
		grep -vE "sig_atomic_t|^(shm/|nodeagent/clock/ticks\.c:)" | none'

test_expect 'generated files bring no memory orders either' '
	[ ! -d "$BUILD/gen" ] || code_of $(sources "$BUILD/gen") |
		grep -E "memory_order|__atomic_|__sync_" | none'

# the clock, the pause of a spinning CPU, the copy, the one-instruction reservation, the count
may_asm="shm/clock.h shm/atomic.h shm/copy.h shm/killpoint.h shm/look.h libhook/reserve.h \
	libhook/vfork.h libhook/openmp/gomp-jump.h libhook/switches/count.c libhook/switches/count.h \
	libhook/switches/sled-entry.S"
test_expect 'assembler stands in the few headers made for it' '
	code_of $(sources shm conf libhook mpi fortran cupti libc nodeagent) |
		grep -wE "asm|__asm__|__asm" |
		grep -vE "__asm__.(\"[A-Za-z_0-9]+\"|#name)." | cut -d: -f1 | sort -u |
		grep -vxF "$(echo $may_asm | tr " " "\n")" | none'

test_expect 'the library in the application never exits, aborts, or uses stdio streams' '
	code_of $(sources libhook mpi fortran) |
		grep -wE "abort|exit|fprintf|printf|fopen|perror|signal|sigaction" |
		grep -vE "#include|_exit|thread_exit|^libhook/sampler/[a-z]*\.[ch]: .*\<(signal|sigaction)\>" | none'

done_testing
