#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='memory: programs as they come give the same results; other languages, MPI, other mallocs'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$LIB/libvftrace.so" "$LIB/libvftrace-memory.so"

"$T/lib/cached" $TEST_CC -O1 -g -Wall -fno-builtin -o "$BIN/plain" "$T/memory/app-memory.c" -pthread || { echo 'Bail out! app-memory.c does not build'; exit 1; }

with_memory() {
	rm -rf prof
	mkdir prof
	traced -q --preload -k memory.active=true -k output_directory=prof -- "$@"
}

# sum KEY [SELECT]: of the rows of the last run
sum() {
	jq -r "[.memory[] | select(${2:-true}) | .$1] | add" prof/*_all.json
}

# same COMMAND: untraced and traced, with each allocation recorded and with samples; output,
# errors and status are the same
same() {
	s1=0
	limit sh -c "$1" >plain.out 2>plain.err || s1=$?
	for large in 0 64KiB; do
		s2=0
		rm -rf prof
		mkdir prof
		traced -q --preload -k memory.active=true -k memory.large=$large -k output_directory=prof -- \
			sh -c "$1" >traced.out 2>traced.err || s2=$?
		is "$s1" "$s2" status
		cmp plain.out traced.out
		cmp plain.err traced.err
	done
}

seq 1 30000 | sed 's/$/ some text/' >lines
cp "$T/memory/app-memory.c" program.c

test_expect 'sort, a compiler and what it starts, jq: same results' '
	same "sort -k1,1 --parallel=2 -S 1M -T . lines"
	[ "$(sum bytes)" -gt 1000000 ]
	same "${TEST_CC:-cc} -S -o - program.c"
	same "seq 20000 | jq -s \"map(. * 2) | add\""
'
test_expect 'commands that fail fail likewise' '
	same "sort no-such-file"
	status_of 143 with_memory sh -c "kill -TERM \$\$"
	status_of 139 with_memory sh -c "kill -SEGV \$\$"
'
test_if 'command -v python3' 'no python3' 'Python, its threads and children' '
	cat >x.py <<-"END"
	import subprocess, threading
	d = [bytearray(100000 + i) for i in range(50)]
	t = [threading.Thread(target=lambda: d.append([str(i) for i in range(20000)])) for _ in range(4)]
	[x.start() for x in t]
	[x.join() for x in t]
	print(sum(map(len, d)), subprocess.run(["echo", "child"], capture_output=True).stdout)
	END
	same "python3 x.py"
	[ "$(sum bytes)" -ge 5001225 ]
'
test_if 'command -v "$TEST_CXX"' 'no C++ compiler' 'C++: new, with alignment too, and vectors that grow' '
	"$T/lib/cached" $TEST_CXX -std=c++17 -O1 -g -finstrument-functions -finstrument-functions-exclude-file-list=/usr/include \
		-o "$BIN/new" "$T/memory/app-new.cpp"
	with_memory "$BIN/new"
	for row in "makes_arrays 1 1048576 0" "makes_aligned 3 3145728 1048576"; do
		set -- $row
		is "$2 $3 $4" "$(jq -r ".memory[] | select(.function | startswith(\"$1\")) |
			\"\(.allocations) \(.bytes) \(.live_bytes)\"" prof/*_all.json)" "$1"
	done
	is 0 "$(sum live_bytes ".function | startswith(\"makes_vectors\")")"
	[ "$(sum largest ".function | startswith(\"makes_vectors\")")" = 8388608 ]
'
test_if 'command -v gfortran' 'no gfortran' 'Fortran: allocate and deallocate' '
	gfortran -O1 -finstrument-functions -o "$BIN/allocate" "$T/memory/app-allocate.f90"
	with_memory "$BIN/allocate" >out.txt
	is 1.0 "$(cat out.txt)"
	is "4 32000000 8000000 3" "$(jq -r ".memory[] | select(.bytes >= 8000000) |
		\"\(.allocations) \(.bytes) \(.live_bytes) \(.frees)\"" prof/*_all.json)"
'
test_expect 'sanitizers find what they find' '
	cat >leak.c <<-"END"
	#include <stdlib.h>
	int main(int argc, char **argv) { char *p = malloc(200000); p[0] = 1; if (argc > 1) { free(p); return p[0]; } p = NULL; return 0; }
	END
	for c in "$TEST_CC" clang; do
		command -v ${c%% *} >/dev/null || continue
		$c -g -fsanitize=address -o "$BIN/asan" leak.c 2>/dev/null || continue # it has none
		for arg in "" 1; do
			s1=0 s2=0
			limit "$BIN/asan" $arg 2>plain.err || s1=$?
			with_memory "$BIN/asan" $arg 2>traced.err || s2=$?
			is "$s1" "$s2" "status with $c"
			is "$(grep -o "ERROR: [A-Za-z]*:" plain.err)" "$(grep -o "ERROR: [A-Za-z]*:" traced.err)"
		done
	done
'

[ -n "$VFTR_LONG" ] || export STORMS=40000 # a fifth
for other in jemalloc.so.2 tcmalloc_minimal.so.4 mimalloc.so.2; do
	found=$(ls /usr/lib/*/lib$other 2>/dev/null | head -n 1)
	test_if "[ -n '$found' ]" "no lib$other" "another malloc that is preloaded: $other" "
		for mode in large chain storms; do
			rm -rf prof && mkdir prof
			LD_PRELOAD=$found traced -q --preload -k memory.active=true -k output_directory=prof -- \"\$BIN/plain\" \$mode
			[ \"\$(sum bytes)\" -gt 1000000 ]
		done
		is 0 \"\$(sum live_bytes)\"
		# with files.active, too, what it maps for itself is no memory of the program
		rm -rf prof && mkdir prof
		LD_PRELOAD=$found traced -q --preload -k memory.active=true -k memory.large=0 -k files.active=true \\
			-k output_directory=prof -- \"\$BIN/plain\" large
		is 0 \"\$(sum mapped_bytes)\"
	"
done

for mpi in $(mpi_list_short); do
	test_expect "$mpi: each rank has its own, and one call path is one row" "
		mpicc.$mpi -O1 -g -fno-builtin -finstrument-functions -o \"\$BIN/mpi-memory-$mpi\" \"\$T/memory/app-mpi-memory.c\"
		rm -rf prof && mkdir prof
		traced -q --preload -k memory.active=true -k output_directory=prof -- \
			$(mpirun_of "$mpi") -np 3 \"\$BIN/mpi-memory-$mpi\" >out.txt 2>err.txt
		is 3 \"\$(cat out.txt)\"
		is '3 6 6291456 6291456' \"\$(jq -r '.memory[] | select(.function == \"keeps_blocks\") |
			\"\(.ranks) \(.allocations) \(.live_bytes) \(.peak_bytes)\"' prof/*_all.json)\"
		is '0 1 2' \"\$(jq -r '[.memory_ranks[].rank] | sort | join(\" \")' prof/*_all.json)\"
	"
done

done_testing
