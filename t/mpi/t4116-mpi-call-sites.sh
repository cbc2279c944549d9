#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='from which line MPI was called, by programs as they come'
. "$(dirname "$0")/../lib/lib.sh"

need jq addr2line
need_built "$AGENT"
mpis=$(mpi_list_short)
[ -n "$mpis" ] || skip_all 'no MPI on this machine'

# said: what the processes have counted, summed up
said() {
	cat said.[0-9]* | awk '{ n[$1 " " $2] += $3 } END { for (k in n) print k, n[k] }' | sort
}

# found JSON: the same from a profile
found() {
	jq -r '.stacks[] | select(.path | test("^MPI_[A-Za-z_]+<call@")) |
		(.path | capture("^(?<f>[^<]+)<call@(?<at>[^<]+)<")) as $c | "\($c.f) \($c.at) \(.calls)"' "$1" |
		awk '{ n[$1 " " $2] += $3 } END { for (k in n) print k, n[k] }' | sort
}

# found_by_offset JSON DEBUG: where frames are call@MODULE+0xOFFSET, and DEBUG.MODULE knows its lines
found_by_offset() {
	found "$1" | awk -v debug="$2" '{
			split($2, at, "+")
			offsets[at[1]] = offsets[at[1]] " " at[2]
			i = ++count[at[1]]
			name[at[1], i] = $1
			calls[at[1], i] = $3
		}
		END {
			for (module in offsets) {
				i = 0
				command = "addr2line -e " debug "." module offsets[module]
				while ((command | getline line) > 0) {
					sub(/.*\//, "", line)
					sub(/ .*/, "", line)
					i++
					n[name[module, i] " " line] += calls[module, i]
				}
				if (i != count[module])
					print module, "has", count[module], "places, of which addr2line knows", i
			}
			for (k in n)
				print k, n[k]
		}' | sort
}

# all_have_a_site JSON: no call of MPI is left without
all_have_a_site() {
	is 0 "$(jq '[.stacks[] | select(.path | test("^MPI_")) |
		select(.path | test("^MPI_[A-Za-z_]+<call@") | not)] | length' "$1")"
}

# sites MPI PROGRAM LIBRARY [ROUNDS [AGENT OPTION...]]
sites() {
	sites_mpi=$1 sites_program=$2 sites_library=$3 sites_rounds=${4:-300}
	shift 3
	[ $# = 0 ] || shift
	rm -f said.* sites_all.json
	traced -q --preload -k profile.sample=0 -k outfile_basename=sites "$@" -- \
		$(mpirun_of "$sites_mpi") -np 2 "$sites_program" said. "$sites_library" "$sites_rounds"
}

steps='uname -m | grep -q x86_64'
if (eval "$steps") >/dev/null; then
	gcc $TEST_FLAGS -D_GNU_SOURCE -o stepper "$T/hook/app-stepper.c" || skip_all 'app-stepper.c cannot be compiled'
fi

# step MPI WAY CALL: a handler at each instruction of the begin of a call, see app-mpi-site-steps.c
step() {
	address=$(nm "steps-$1" | awk '$3 == "vftr_mpi_enter" { print $1 }')
	rm -f said.* steps_all.json
	traced -q -k outfile_basename=steps -k mpi.call_sites=on -- \
		./stepper "$address" 1 1 1000 "./steps-$1" "$2" said. "$3" 2>err
	cat err >&2
	hasnt err '(not all)'
	[ "$(awk '/ rounds,/ { print $1 }' err)" -gt 30 ]
	said >kinds
	[ "$(grep -c '^usual' kinds)" -ge 2 ]
	# calls of a handler that found the slow path at work may be counted as lost
	found steps_all.json | sed 's/^[^ ]* //' >found
	while read -r kind at n; do
		got=$(awk -v at="$at" '$1 == at { print $2 }' found)
		case $kind in
		usual) is "$n" "$got" "calls of $at" || return ;;
		handler) [ "${got:-0}" -le "$n" ] || return ;;
		esac
	done <kinds
	all_have_a_site steps_all.json
}

for mpi in $mpis; do
	# the test reads no other debug information than that of its own programs
	# in the short form each kind of handler at one call, and each call by two kinds
	test_expect "$mpi: counts by line are those of the program: threads, a library, callbacks, a child of fork" "
		for part in '-o sites-$mpi -pthread' '-o sites-$mpi.so -shared -fPIC -DLIBRARY'; do
			\$T/lib/cached mpicc.$mpi \$TEST_FLAGS -g -Wall -Wno-cast-function-type -rdynamic \
				\"\$T/mpi/sites/app-mpi-sites.c\" \$part -ldl
		done
		sites $mpi ./sites-$mpi ./sites-$mpi.so
		said >expected
		test \$(wc -l <expected) -ge 15
		found sites_all.json | diff expected -
		all_have_a_site sites_all.json
		is 0 \"\$(json sites_all.json .lost)\"
	"
	test_expect "$mpi: without debug information the places are offsets that addr2line takes" "
		for f in sites-$mpi sites-$mpi.so; do
			cp \$f debug.\$f
			strip -g \$f
		done
		sites $mpi ./sites-$mpi ./sites-$mpi.so
		said >expected
		found sites_all.json | grep -q 'MPI_Send sites-$mpi+0x'
		found_by_offset sites_all.json debug | diff expected -
		for f in sites-$mpi sites-$mpi.so; do
			cp debug.\$f \$f
		done
	"
	test_expect "$mpi: in small rings that are full, as in pauses, no call gets another's place" "
		sites $mpi ./sites-$mpi ./sites-$mpi.so 4000 -k shm.ring_size=32KiB
		said >expected
		found sites_all.json | diff expected -
	"
	test_expect "$mpi: where another library was before, lines are those of the one that is there" "
		{ echo '#line 501 \"app-mpi-sites.c\"' && cat \"\$T/mpi/sites/app-mpi-sites.c\"; } >later.c
		mpicc.$mpi \$TEST_FLAGS -g -shared -fPIC -DLIBRARY -o later-$mpi.so later.c
		rm -f said.* sites_all.json
		# an odd number of rounds: the last call before and the first one after are at one address
		traced -q --preload -k profile.sample=0 -k outfile_basename=sites -- $(mpirun_of $mpi) -np 2 \
			./sites-$mpi said. ./sites-$mpi.so 21 ./later-$mpi.so >places
		grep '^[1-4] at the same place' places
		said >expected
		is 4 \$(grep -c MPI_Sendrecv expected)
		found sites_all.json | diff expected -
	"
	test_if "$steps" 'x86-64 only' "$mpi: a signal after each instruction before a call, whose handler calls MPI" "
		\$T/lib/cached mpicc.$mpi \$TEST_FLAGS -g -no-pie -o steps-$mpi \"\$T/mpi/sites/app-mpi-site-steps.c\" \
			\"\$LIB/libvftrace-$mpi.a\" -pthread -ldl -lm
		step $mpi calls same
		[ ! '$VFTR_LONG' ] || step $mpi calls other
	"
	test_if "$steps" 'x86-64 only' "$mpi: the same on a stack of its own, above that of the thread" "
		[ ! '$VFTR_LONG' ] || step $mpi above same
		step $mpi above other
	"
	test_if "$steps" 'x86-64 only' "$mpi: one that leaves by a jump of which we are not told" "
		step $mpi jumps same
		[ ! '$VFTR_LONG' ] || step $mpi jumps other
	"
	test_if "$steps" 'x86-64 only' "$mpi: one that forks, and the child goes on in the call" "
		[ ! '$VFTR_LONG' ] || step $mpi forks same
		step $mpi forks other
	"
	test_if "$steps" 'x86-64 only' "$mpi: with a library that lies below the address to which it is linked" "
		for name in one two; do
			gcc \$TEST_FLAGS -shared -fPIC -DLIBRARY=\$name -Wl,-Ttext-segment=0x7fffff000000 \
				-o lib\$name.so \"\$T/mpi/sites/app-mpi-prelinked.c\"
		done
		mpicc.$mpi \$TEST_FLAGS -D_GNU_SOURCE -g -o prelinked-$mpi \"\$T/mpi/sites/app-mpi-prelinked.c\" \
			-L. -lone -ltwo -Wl,-rpath,.
		traced -q --preload -k profile.sample=0 -k outfile_basename=sites -- ./prelinked-$mpi >places
		grep 'one is below' places
		is 1 \"\$(json sites_all.json .processes)\"
		found sites_all.json | grep 'MPI_Initialized app-mpi-prelinked.c:[0-9]* 1'
	"
	test_expect "$mpi: linked with the static library" "
		\$T/lib/cached mpicc.$mpi \$TEST_FLAGS -g -rdynamic -o static-$mpi \"\$T/mpi/sites/app-mpi-sites.c\" \
			\"\$LIB/libvftrace-$mpi.a\" -pthread -ldl -lm
		rm -f said.*
		traced -q -k outfile_basename=sites -- $(mpirun_of $mpi) -np 2 ./static-$mpi said. ./sites-$mpi.so 100
		said >expected
		found sites_all.json | diff expected -
	"
	test_expect "$mpi: they are in the sampling file, the call tree and the flame graph" "
		sites $mpi ./sites-$mpi ./sites-$mpi.so 50 -k sampling.active=true
		line=\$(said | sed -n 's/^MPI_Allreduce \(.*\) .*/\1/p')
		\"\$VFTR\" tree sites_*.vfp >tree
		grep -q 'call@app-mpi-sites.c:' tree
		\"\$VFTR\" export --format folded -o folded sites_*.vfp
		grep -q \"init;call@\$line;MPI_Allreduce \" folded
		\"\$VFTR\" export --format chrome -o chrome sites_*.vfd
		grep -q \"call@\$line\" chrome
		has sites_all.log \"call@\$line\"
	"
	test_expect "$mpi: mpi.call_sites turns them off" "
		sites $mpi ./sites-$mpi ./sites-$mpi.so 20 -k mpi.call_sites=off
		is '' \"\$(found sites_all.json)\"
		jq -e '.stacks[] | select(.path == \"MPI_Allreduce<init\")' sites_all.json
	"
	test_expect "$mpi: an instrumented program has its functions, and places where they are wanted" "
		mpicc_traced $mpi known-$mpi \"\$T/mpi/program/app-mpi-count.c\"
		traced -q -- $(mpirun_of $mpi) -np 2 ./known-$mpi known. 20
		is 0 \"\$(jq '[.stacks[] | select(.path | test(\"call@\"))] | length' known-${mpi}_all.json)\"
		traced -q -k mpi.call_sites=on -- $(mpirun_of $mpi) -np 2 ./known-$mpi known. 20
		jq -e '.stacks[] | select(.path | test(\"^MPI_Init<call@app-mpi-count.c:[0-9]+<.*main<init\"))' \
			known-${mpi}_all.json
		# without them the paths are those that the program has counted
		jq -r '.stacks[] | select(.path | test(\"^call@\") | not) | select(.calls > 0) |
			\"\(.calls) \(.path | gsub(\"call@[^<]*<\"; \"\"))\"' known-${mpi}_all.json |
			awk '{ n[\$2] += \$1 } END { for (p in n) print n[p], p }' | sort >found
		cat known.[0-9]* | awk '{ n[\$2] += \$1 } END { for (p in n) if (n[p]) print n[p], p }' | sort | diff - found
	"
	test_if "command -v mpif90.$mpi" "no Fortran for $mpi" "$mpi: Fortran's lines are counted" "
		\$T/lib/cached mpif90.$mpi \$TEST_FLAGS -g -cpp -ffree-line-length-none -o fsites-$mpi \"\$T/mpi/sites/app-mpi-sites.f90\"
		rm -f said.* sites_all.json
		traced -q --preload -k profile.sample=0 -k outfile_basename=sites -- $(mpirun_of $mpi) -np 2 ./fsites-$mpi
		said >expected
		is 8 \$(wc -l <expected)
		# some versions of gfortran say that calls with one argument are on the first line
		grep -v 'MPI_Init\|MPI_Finalize' expected >of_messages
		found sites_all.json | grep -v 'MPI_Init\|MPI_Finalize' | diff of_messages -
		all_have_a_site sites_all.json
	"
done

# forked_at STEP: calls of MPI_Comm_rank() in the parent and its child, none of them inside another
forked_at() {
	rm -f fork-stepped_all.json
	traced -q -k mpi.call_sites=on -- "$BIN/fork-stepped" "$1" >&2
	jq "if all(.stacks[]; .path | [scan(\"MPI_Comm_rank\")] | length < 2) then
		[.stacks[] | select(.path | startswith(\"MPI_Comm_rank<\")) | .calls] | add else \"one is inside another\" end" \
		fork-stepped_all.json
}

stepped='[ "$(uname -m)" = x86_64 ] && command -v mpicc.openmpi'
test_if "$stepped" 'no Open MPI on x86-64' 'a handler forks around the moment at which a call is stored: it is no call inside itself' '
	mpicc_traced openmpi "$BIN/fork-stepped" "$T/mpi/app-fork-stepped.c"
	before=1 after=90 # steps: the call is stored between them, and the child makes it anew, or has it
	is 4 "$(forked_at $before)"
	while [ "$(forked_at $after)" = 4 ]; do
		before=$after after=$((after * 2))
	done
	is 3 "$(forked_at $after)"
	while [ $((after - before)) -gt 1 ]; do
		middle=$(((before + after) / 2))
		calls=$(forked_at $middle)
		case $calls in
		3) after=$middle ;;
		4) before=$middle ;;
		*) exit 1 ;;
		esac
	done
	for k in 1 2 3; do
		is 3 "$(forked_at $((after + k)))"
	done'

done_testing
