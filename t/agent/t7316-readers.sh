#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='profiles are the same, however many threads of the agent read the rings'
. "$(dirname "$0")/../lib/lib.sh"
need jq mkfifo
need_built "$AGENT" "$VFTR" "$LIB/libvftrace.so"

cc_traced "$BIN/readers" "$T/agent/app-readers.c" -pthread || skip_all 'app-readers.c cannot be compiled'
ALL=readers_all.json
CALLS=20000

# ns_of PID: "NS TID" of each thread of it but the first: the time on a CPU
ns_of() {
	for ns_task in /proc/"$1"/task/*; do
		[ "${ns_task##*/}" = "$1" ] || echo "$(cut -d' ' -f1 "$ns_task/schedstat") ${ns_task##*/}"
	done
}

# readers N KIND [OPTION...]: runs it with N reading threads; calls.KIND.N are its calls, threads.N
# the other threads of the agent while it ran
readers() {
	readers_n=$1 readers_kind=$2
	shift 2
	rm -f readers_* go out
	mkfifo go
	"$AGENT" -q -k agent.readers="$readers_n" "$@" -- "$BIN/readers" "$readers_kind" 6 $CALLS \
		<go >out 2>err &
	readers_agent=$!
	exec 8>go
	wait_for 60 "grep -q done out"
	for p in $(agent_pids); do
		ns_of "$p"
	done >"threads.$readers_n"
	exec 8>&-
	wait $readers_agent
	is 0 "$(json $ALL .lost)" "lost calls"
	calls_in $ALL >"calls.$readers_kind.$readers_n"
}

# one, two and four of them, with the same result
same() {
	for n in 1 2 4; do
		readers $n "$@"
		is $((n - 1)) "$(wc -l <threads.$n)" "threads beside the agent's"
		diff -u "calls.$1.1" "calls.$1.$n"
	done
	[ "$(wc -l <"calls.$1.1")" -gt 200 ]
}

test_expect 'of a process with several threads' '
	same threads
	is $((6 * CALLS / 5000)) "$(awk "/ rare</ { n += \$1 } END { print n }" calls.threads.4)" rare'

test_expect 'of processes with children that have children' '
	same processes
	is 25 "$(json $ALL .processes)" processes'

test_expect 'of processes that are killed' '
	same killed
	is 3 "$(json $ALL "[.dead[] | select(.signal == 9)] | length")" killed'

test_expect 'with a sampling file, in which each call of some functions is' '
	rm -f *.vfd
	for n in 1 4; do
		readers $n threads -k sampling.active=true -k sampling.precise_functions="^rare$"
		"$VFTR" dump --mangled *.vfd >dump
		is $((6 * CALLS / 5000)) "$(grep -c " call rare[*]<" dump)" "calls of rare()"
		is $((6 * CALLS / 5000)) "$(grep -c " exit rare[*]<" dump)" "their ends"
		rm -f *.vfd
	done
	diff -u calls.threads.1 calls.threads.4'

test_expect 'they read, and their CPU time is that of the agent' '
	readers 4 threads -k shm.ring_size=256KiB
	others=$(awk "{ s += \$1 } END { print s / 1e9 }" threads.4)
	awk -v s="$others" -v all="$(json $ALL ".agents[0].cpu_s")" "BEGIN {
		print s, \"of\", all
		exit !(s > 0 && s < all) }"'

test_expect 'rings that are full are read by as many as are wanted' '
	readers 3 threads -k shm.ring_size=32KiB
	diff -u calls.threads.1 calls.threads.3'

test_expect 'a copy of the agent, which has no such threads, writes results on the way' '
	readers 4 threads -k agent.write_every_s=100ms
	diff -u calls.threads.1 calls.threads.4'

for mpi in $(mpi_list_short); do
	test_expect "$mpi: each message is matched with the right one" "
		mpicc_traced $mpi match $T/mpi/program/app-mpi-match.c -pthread
		rm -f truth.* pairs.*
		VFTR_TEST_PAIRS=\$PWD/pairs TEST_COMMAND_SECONDS=\$(patient 60) traced -q \\
			-k agent.readers=4 -- $(mpirun_of "$mpi") -np 4 ./match serialized 1 25 truth
		set -- \$(awk -f $T/mpi/match-truth.awk truth.* pairs.*)
		[ \$2 -gt 100 ]
		is \"messages \$2 right \$2 unmatched 0 exact \$2 wrong 0\" \"\$*\""
done

done_testing
