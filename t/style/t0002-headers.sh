#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='every header compiles alone'
. "$(dirname "$0")/../lib/lib.sh"
cd "$TOP" || exit 99

headers() {
	find shm conf libhook nodeagent mpi fortran cupti libc -name '*.h' 2>/dev/null | sort
}

# Headers that hold only what a generator or one MPI gives them are tried with mpicc.
alone() {
	compiler=$1
	shift
	failed=0
	for h; do
		case $h in mpi/* | fortran/*) needs_mpi=1 ;; *) needs_mpi= ;; esac
		if [ -n "$needs_mpi" ] || grep -q '<mpi.h>' "$h"; then
			command -v mpicc >/dev/null || continue
			flags=$(mpicc --showme:compile 2>/dev/null ||
				mpicc -compile_info | tr ' ' '\n' | grep '^-I')
		else
			flags=
		fi
		printf '#include "%s"\n#include "%s"\n' "$h" "$h" |
			$compiler -std=gnu11 -D_GNU_SOURCE -DVFTR_VERSION='"0"' -Wall -Wextra \
				-Wno-unused-parameter -Wno-unused-function -Werror \
				$flags -I. -I"$BUILD/gen" -x c -fsyntax-only - ||
			failed=1
	done
	return $failed
}

test_expect 'with gcc' 'alone gcc $(headers)'
test_if '[ -n "$VFTR_LONG" ] && command -v clang' 'only in the long form, where clang is' 'with clang' \
	'alone clang $(headers)'

test_if 'command -v g++' 'no g++' 'the public one also with g++, and as C99' '
	printf "#include \"libhook/vftrace.h\"\n" >"$VFTR_TEST_DIR/work/x.cc"
	g++ -std=c++98 -pedantic -Wall -Wextra -Werror -I. -fsyntax-only "$VFTR_TEST_DIR/work/x.cc"
	printf "#include \"libhook/vftrace.h\"\ntypedef int nothing;\n" |
		gcc -std=c99 -pedantic -Wall -Wextra -Werror -I. -x c -fsyntax-only -'

# make check builds neither
test_if 'command -v clang' 'no clang' 'fuzzers and benchmarks of the agent compile' '
	failed=0
	for f in t/fuzz/f-*.c t/bench/sampling.c t/bench/waits.c; do
		clang -std=gnu11 -D_GNU_SOURCE= -DVFTR_VERSION="\"0\"" -I. -I"$BUILD/gen" -Wall -Werror=implicit \
			-fsyntax-only "$f" || failed=1
	done
	[ $failed = 0 ]'

test_if 'echo "#include <valgrind/callgrind.h>" | cc -E -x c -' 'no headers of valgrind' 'the benchmark that counts compiles' '
	cc -std=gnu11 -D_GNU_SOURCE= -DVFTR_VERSION="\"0\"" -I. -I"$BUILD/gen" -Wall -Werror=implicit \
		-fsyntax-only t/bench/count.c'

# without their stores the compiler has no need of their block
test_expect 'the hooks that others are compared with keep what they store' '
	cc -O2 -fPIC -shared -o "$VFTR_TEST_DIR/work/libfloor.so" t/bench/floor.c &&
		size -A "$VFTR_TEST_DIR/work/libfloor.so" |
		awk "\$1 == \".tbss\" && \$2 >= 4096 { kept = 1 } END { exit !kept }"'

test_expect 'every header is guarded' '
	for h in $(headers); do
		grep -q "^#ifndef VFTR\|^#ifndef VFTRACE_H" $h || echo "$h"
	done | { ! grep . >&2; }'

done_testing
