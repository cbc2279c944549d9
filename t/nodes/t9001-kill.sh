#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
test_description='kill -9 of a rank or of an agent, at any time'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$LIB/libvftrace.so"

cc_traced "$BIN/end" "$T/hook/app-end.c" || skip_all 'app-end.c cannot be compiled'
cc_plain "$BIN/end-plain" "$T/hook/app-end.c"
LEAF='leaf<end_counted<main<init'
rounds=5
[ -z "$VFTR_LONG" ] || rounds=50

# complete JSON COUNTER...: all calls up to the last stored record are there. The
# counter is one ahead where the kill came between it and the call.
complete() {
	local sum=0 n=0 f
	for f in "${@:2}"; do
		sum=$((sum + $(number_in "$f")))
		n=$((n + 1))
	done
	local got
	got=$(calls_of "$1" "$LEAF")
	[ "$got" -le "$sum" ] && [ "$got" -ge $((sum - n)) ] ||
		{ echo "calls: $got, counted: $sum" >&2; return 1; }
	is 0 "$(json "$1" .lost)" lost
}

test_expect "a process killed at a random time: $rounds times, all it stored is there" '
	for i in $(seq $rounds); do
		rm -f end_* counter pid
		delay=0.$((RANDOM % 5))$((RANDOM % 10))1
		status_of 137 traced -q -- sh -c "echo \$\$ >pid; exec $BIN/end counted 20 counter" &
		job=$!
		wait_for 20 "[ -s counter ] && [ \$(number_in counter) -gt 0 ]"
		sleep $delay
		kill -9 $(cat pid)
		wait $job
		complete end_all.json counter
		is "[9]" "$(jq -c "[.dead[].signal]" end_all.json)"
	done'

test_expect 'the death is named in the summary and in the node log' '
	grep -qi "killed" end_all.log
	grep -qi "killed" end_node_*.log'

test_expect 'killed while it blocks on a full ring: nothing of it is lost' '
	rm -f end_* counter pid
	traced -q -k shm.ring_size=32KiB -- \
		sh -c "echo \$\$ >pid; exec $BIN/end counted 20 counter" &
	job=$!
	wait_for 20 "[ -s counter ] && [ \$(number_in counter) -gt 0 ]"
	agent=$(agent_pids)
	kill -STOP $agent
	wait_for 20 "stands_still counter"
	kill -9 $(cat pid)
	kill -CONT $agent
	wait $job || :
	complete end_all.json counter'

test_expect 'killed in its first moments: no file is half-written, no agent stays' '
	for i in 1 2 3 4 5 6 7 8 9 10; do
		rm -f end_* counter
		traced -q -- timeout -s KILL 0.00$i $BIN/end counted 5 counter 2>err || :
		[ ! -e end_all.json ] || json end_all.json .version >/dev/null
		is "" "$(agent_pids)" "agents left"
	done
	! ls | grep -E "\.(tmp|new|part)"'

cat >ranks.c <<'END'
#include <mpi.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#define UNTRACED __attribute__((no_instrument_function))
static volatile long sink;
static void __attribute__((noinline)) leaf(void)
{
	sink++;
}
static volatile long *UNTRACED counter_of(int rank)
{
	char name[32];
	int fd;
	snprintf(name, sizeof(name), "counter.%d", rank);
	fd = open(name, O_RDWR | O_CREAT, 0600);
	if (fd < 0 || ftruncate(fd, 16))
		exit(99);
	return mmap(NULL, 16, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}
static void __attribute__((noinline)) end_counted(double seconds)
{
	volatile long *count;
	double from;
	int rank;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	count = counter_of(rank);
	count[1] = getpid();
	from = MPI_Wtime();
	while (MPI_Wtime() - from < seconds)
		for (int i = 0; i < 100; i++) {
			count[0]++;
			leaf();
		}
}
int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	end_counted(atof(argv[1]));
	MPI_Finalize();
	return 0;
}
END

# counts RANK: it has called leaf() many times, and its pid is in its file
counts() {
	[ -s "counter.$1" ] && [ "$(number_in "counter.$1")" -gt 1000 ]
}

# run_and_kill MPI STATUS-FILE COMMAND...: kills rank 1 of the job after a while
run_and_kill() {
	local mpi=$1
	shift
	rm -f counter.*
	limit "$@" $(mpirun_of "$mpi") -np 3 "$program" 100 >out 2>err &
	job=$!
	wait_for 30 'counts 0 && counts 1 && counts 2' # else rank 1 may be pid 0, who is we all
	sleep 0.$((RANDOM % 10))
	kill -9 "$(od -An -t d8 -j 8 -N 8 counter.1 | tr -d ' ')"
	status=0
	wait $job || status=$?
}

for mpi in $(mpi_list); do
	test_expect "$mpi: a killed rank ends the job as it would untraced, and is named" "
		program=$BIN/ranks-plain
		mpicc.$mpi -O1 -o \$program ranks.c
		run_and_kill $mpi env
		untraced=\$status
		program=$BIN/ranks
		mpicc_traced $mpi \$program ranks.c
		for i in 1 2; do
			rm -f ranks_*
			run_and_kill $mpi $AGENT -q --
			is \$untraced \$status 'exit status'
			is 3 \$(json ranks_all.json .ranks) ranks
			json ranks_all.json '.dead_ranks[]' | grep -qx 1
			complete ranks_all.json counter.0 counter.1 counter.2
			grep -qiE 'rank 1 .*killed|killed.*rank 1' ranks_all.log
		done"
done
[ -n "$(mpi_list)" ] || test_skip 'killed ranks of an MPI job' 'no MPI on this machine'

test_expect 'a killed agent does not harm the program (everyday form)' '
	rm -f counter
	"$AGENT" -q -- sh -c "$BIN/end counted 4 counter; echo \$? >status" &
	wait_for 20 "[ -s counter ] && [ \$(number_in counter) -gt 0 ]"
	signal_agents KILL
	wait_for 20 "[ -s status ]"
	is 0 "$(cat status)" "exit status of the program"
	status_of 0 wait $!'

test_expect 'a killed agent does not harm a program that blocks on a full ring' '
	rm -f counter status
	"$AGENT" -q -k shm.ring_size=32KiB -- \
		sh -c "$BIN/end counted 4 counter; echo \$? >status" &
	wait_for 20 "[ -s counter ] && [ \$(number_in counter) -gt 0 ]"
	signal_agents STOP
	wait_for 20 "stands_still counter"
	signal_agents KILL
	wait_for 20 "[ -s status ]"
	is 0 "$(cat status)" "exit status of the program"
	status_of 0 wait $!'

test_expect 'a killed agent that the program had started itself does no harm' '
	rm -f counter
	env VFTR_AGENT=$AGENT $BIN/end counted 4 counter &
	wait_for 20 "[ -s counter ] && [ \$(number_in counter) -gt 0 ]"
	signal_agents KILL
	wait $!'

test_expect 'after a killed agent the next one on the session works' '
	rm -f counter end_*
	traced -q -- $BIN/end return
	is 1 $(calls_of end_all.json "main<init")'

done_testing
