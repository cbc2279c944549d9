#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='traced time less the overhead that is told is the untraced time'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$LIB/libvftrace.so"

cc_traced "$BIN/accessors" "$T/counters/app-accessors.c" -O2 -DUSER_TIME || skip_all 'app-accessors.c cannot be compiled'
$TEST_CC -O2 -DUSER_TIME "$T/counters/app-accessors.c" -o "$BIN/plain" || skip_all 'no compiler'
export BIN
MPI=$(mpi_list | head -n 1)

# two PROGRAM STEPS WORK: both CPU times together, in seconds; other work is beside them
two='for i in 1 2; do "$BIN/$0" "$1" "$2" >out.$i & done; wait'
two() {
	sh -c "$two" "$@"
	two_sum
}
two_sum() {
	cat out.1 out.2 | awk '{ s += $2 } END { print s }'
}

two_traced() {
	limit "$AGENT" -q -k shm.ring_size=64MiB -- sh -c "$two" accessors "$@"
	two_sum
}

# The same of two ranks: ranks PROGRAM SHAPE KIND TURNS WORK
ranks() {
	ranks_program=$1
	shift
	rm -f out.*
	limit $(mpirun_of "$MPI") -np 2 "$BIN/$ranks_program" "$@"
	cat out.0 out.1 | awk '{ s += $2 } END { print s }'
}
ranks_traced() {
	rm -f out.*
	limit "$AGENT" -q -k shm.ring_size=1MiB -- $(mpirun_of "$MPI") -np 2 "$BIN/density" "$@"
	cat out.0 out.1 | awk '{ s += $2 } END { print s }'
}

# bound: what may be wrong of a time. The short form has 25 %: others are beside it, which costs hooks
# more than their callers, by what the others evict from caches. It has 50 % where processes that are
# not ours took a third of the time in which the untraced ones wanted to run: with some ten of them for
# each CPU hooks took up to twice the time that was told.
busy_1=
bound() {
	if [ -n "$VFTR_LONG" ]; then
		echo 0.1
	elif [ -z "$busy_1" ] && awk '{ cpu += $2; all += $3 } END { exit !(all > 1.5 * cpu) }' untraced; then
		echo 0.5
	else
		echo 0.25
	fi
}

# pair HOW PLAIN ARGUMENT...: untraced, traced, told: CPU seconds, of two processes
pair() {
	pair_how=$1 pair_program=$2
	shift 2
	pair_plain=$("$pair_how" "$pair_program" "$@")
	[ "$pair_how" = ranks ] || cat out.1 out.2 >>untraced # ranks wait for each other, too
	rm -f ./*_all.json
	pair_traced=$("${pair_how}_traced" "$@")
	echo "$pair_plain $pair_traced $(json ./*_all.json '.hooks_s * .processes')"
}

# median_pair: that of the pairs, each made side by side, whose difference is in the middle
median_pair() {
	awk '{ print ($2 - $3) / $1, $0 }' pairs | sort -n |
		awk '{ row[NR] = $2 " " $3 " " $4 } END { print row[(NR + 1) / 2] }'
}

# spread: half the range of the untraced times: what such a measurement is worth here and now
spread() {
	awk 'NR == 1 || $1 < low { low = $1 } NR == 1 || $1 > high { high = $1 }
		END { print (high - low) / (high + low) }' pairs
}

# right HOW PLAIN ARGUMENT...: a line for the table of what was found; within the bound and the
# spread of the untraced time, and of the traced time where most of that is overhead. Of three
# pairs, or of nine where others disturb the three. The two processes tell their time in user mode;
# the ranks, which tell that of short parts, have small rings: on a machine whose host gives memory
# page by page, the kernel's part of a new page is 10 us and more.
right() {
	: >pairs
	: >untraced
	for i in 1 2 3 4 5 6 7 8 9; do
		pair "$@" >>pairs
		[ $i != 3 ] || ! is_right "$@" || return 0
	done
	is_right "$@"
}

is_right() {
	shift 2
	median_pair | awk -v spread="$(spread)" -v bound="$(bound)" -v what="$*" '{
		left = $2 - $3
		share = $3 / $2
		off = left - $1
		printf "# %s: untraced %.3f s, traced %.3f s, told %.3f s (%.0f %%): off by %.1f %%, %.1f %% of traced; bound %d %%, spread %.1f %%\n",
			what, $1, $2, $3, 100 * share, 100 * off / $1, 100 * off / $2, 100 * bound, 100 * spread
		scale = share > 0.5 ? $2 : $1
		scale *= bound + spread
		exit !(off <= scale && (-off <= scale || what ~ "chain"))
	}'
}

# two others want the CPUs, too: in the short form in its first row, as they burn what they get
busy() {
	"$BIN/plain" 1000000 100 >/dev/null &
	busy_1=$!
	"$BIN/plain" 1000000 100 >/dev/null &
	busy_2=$!
}

quiet() {
	kill $busy_1 $busy_2
	wait $busy_1 $busy_2 2>/dev/null || :
	busy_1=
}

each() { # STEPS WORK
	test_expect "steps of $2 rounds of arithmetic" "right two plain $1 $2"
	grep "^#" "$VFTR_TEST_DIR/output"
}

program() { # SHAPE KIND TURNS WORK
	test_expect "two ranks: $1, $4 rounds of $2" "right ranks density-plain $*"
	grep "^#" "$VFTR_TEST_DIR/output"
}

# chain: how much of a hook is hidden behind the program's work cannot be seen, and no
# less than that is told (vftr-limits(7)): the untraced time is what is left, or more
programs() {
	if [ -z "$MPI" ]; then
		echo "# no MPI: without the programs of two ranks"
		return
	fi
	mpicc_traced "$MPI" "$BIN/density" "$T/agent/app-density.c" -DWITH_MPI -O2
	"mpicc.$MPI" -O2 -DWITH_MPI "$T/agent/app-density.c" -o "$BIN/density-plain"
	if [ -n "$VFTR_LONG" ]; then
		program accessors arithmetic 8000 20000
		program flat memory 5000 20000
		program deep memory 20000 3000
		program flat arithmetic 60000 2000
		program tree arithmetic 100000 1000
		program deep arithmetic 150000 600
		program flat memory 200000 700
		program accessors arithmetic 200000 300
		program tree memory 200000 200
		program flat arithmetic 200000 0
		program chain arithmetic 60000 30
		program chain arithmetic 100000 10
	else
		program tree arithmetic 10000 3000
	fi
}

busy
if [ -n "$VFTR_LONG" ]; then
	each 20 20000
	each 120 2000
	each 250 800
	each 350 470
	each 450 300
	each 600 200
	each 700 130
	each 900 70
	each 1000 30
	each 1200 0
else
	each 60 470
	quiet
	each 200 0
fi
programs
[ -z "$VFTR_LONG" ] || quiet

done_testing
