#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A rank of the second node ends badly, and its launcher ends the others. The agents see
# clocks that are far apart: only what they find out by comparing them gives the order.
test_description='the summary of a job names the rank that ended badly first'
. "$(dirname "$0")/../lib/lib.sh"
need mpirun.openmpi mpicc.openmpi jq
need_built "$AGENT" "$VFTR" "$LIB/libvftrace-openmpi.so" "$LIB/vftr/peer-openmpi.so"
nodes_up 2
. "$T/lib/clocks.sh"

cat >first.c <<-END
	#include <mpi.h>
	#include <signal.h>
	#include <stdlib.h>
	#include <string.h>
	#include <unistd.h>
	int main(int argc, char **argv)
	{
		int rank;
		MPI_Init(&argc, &argv);
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
		MPI_Barrier(MPI_COMM_WORLD);
		usleep(300000);
		if (rank == 3 && !strcmp(argv[1], "exit"))
			exit(7);
		if (rank == 3 && !strcmp(argv[1], "signal"))
			raise(SIGUSR1);
		sleep(60);
		MPI_Finalize();
		return 0;
	}
END
mpicc_traced openmpi "$BIN/first" first.c

# job DIR HOW: with these clocks; its summary is DIR/first_all.*
job() {
	mkdir -p "$1"
	agents_up "$1" --expect 2
	VFTR_SESSION=$1 limit $(nodes_mpirun 2) -np 4 -x VFTR_SESSION -x VFTR_RUNTIME_DIR \
		"$BIN/first" "$2" >/dev/null 2>&1 || true
	wait $agents || true
	awk '/STID/ { exit } { print }' "$1/first_all.log" >above
	cat above
}

# first DIR FILTER: of first_end
first() {
	jq -r ".first_end | $2" "$1/first_all.json"
}

for offset in 3600 -3600; do
	echo 0,0,0 >clock.node1
	echo $offset,20,0 >clock.node2
	test_expect "rank 3 of node2 exits, whose clock is off by $offset s; the launcher ends the rest" '
		rm -rf exit
		job exit exit
		grep -q "^Warning: Rank 3 on node2 exited with status 7 at t=[0-9.]* s; ranks 0-2 were then ended by" above
		is 1 "$(grep -c "exited with" above)" "sentences of an exit"
		is "3 node2 7 null true 0" "$(first exit "\"\(.rank) \(.node) \(.status) \(.signal) \(.certain) \(.one_of | length)\"")"
		is true "$(first exit ".time_s > 0.3 and .time_s < 60 and .error_s < 0.05 and .pid > 1")"
		is true "$(jq ".warnings | any(startswith(\"Rank 3 on node2 exited with status 7\"))" exit/first_all.json)"'
done

test_expect "the node's own log speaks of its own ranks, by its own clock" '
	grep -q "^Warning: Rank 3 on node2 exited with status 7 at .*; rank 2 was then ended by" exit/first_node_node2.log
	hasnt exit/first_node_node1.log "exited with"'

test_expect 'vftr collate says the same' '
	mkdir -p again
	"$VFTR" collate -o again exit
	jq .first_end exit/first_all.json >wanted
	jq .first_end again/first_all.json | diff wanted -
	grep "^Warning: Rank" exit/first_all.log >wanted
	grep "^Warning: Rank" again/first_all.log | diff wanted -'

test_expect 'a signal is a cause, too' '
	rm -rf signal
	job signal signal
	grep -q "^Warning: Rank 3 on node2 was ended by signal 10 (User defined signal 1) at t=[0-9.]* s; ranks 0-2 were then" above
	is "3 node2 null 10" "$(first signal "\"\(.rank) \(.node) \(.status) \(.signal)\"")"'

done_testing
