#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='sampling.keep with MPI: what happens to one rank is in the files of all nodes'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$VFTR"

mpis=$(mpi_list_short)
[ -n "$mpis" ] || skip_all 'no MPI'
# a busy machine makes other iterations slow, too: each has a file
keep='-q -k output.layout=run -k sampling.keep=10s -k sampling.pause=0'

# longest_step FILE RANK: ms of the longest call of step() of a rank; 0: none is there
longest_step() {
	"$VFTR" dump -r $2 "$1" >dump || return 1
	grep -qx "Complete:        yes" dump
	awk '$2 == "call" && $3 ~ /^step<main/ { at = $1 }
		$2 == "exit" && $3 ~ /^step<main/ { if (at && $1 - at > most) most = $1 - at; at = 0 }
		END { printf "%d\n", 1000 * most }' dump
}

# has_slow HOST MS RANKS: a file of this host, $slow, has a step of each of them that lasted so long: one rank stalls
# for 700 ms, and the others may come to it later on a busy machine; a moment before, another one may have
# been slow, and the file has that name
has_slow() {
	for slow in out-$mpi/$1-slow*.vfd; do
		found=1
		for rank in $3; do
			[ "$(longest_step $slow $rank)" -ge $2 ] || found=0
		done
		[ $found = 0 ] || return 0
	done
	return 1
}

# same_traffic A B: the profiles of two runs have the same calls, messages and bytes; how often the
# program looks at the clock is chance
same_traffic() {
	for json in $1 $2; do
		calls_in $json | grep -Ev " (now|take) <" >$json.calls
		jq -c ".mpi[] | [.function, .caller, .sends, .recvs, .bytes_sent, .bytes_received]" $json >>$json.calls
	done
	[ "$(grep -c MPI_ $1.calls)" -ge 3 ] && diff $1.calls $2.calls
}

for mpi in $mpis; do
	run="$(mpirun_of $mpi)"
	mpicc_traced $mpi "$BIN/loop-$mpi" "$T/report/app-loop.c" || { echo "Bail out! app-loop.c does not build"; exit 1; }

	test_expect "$mpi: a file has the slow iteration on all ranks; calls and messages are those of any run" '
		limit "$AGENT" $keep -o out-$mpi -- $run -np 2 "$BIN/loop-$mpi" loop 200 500 every 10 2000 stall 137 1 700 >out
		ls out-$mpi
		has_slow "*" 400 "0 1"
		echo $slow >slow-$mpi
		grep "flight recorder: slow[0-9]*: call [0-9]* of step of rank [01]" out-$mpi/node-*.log
		# of short functions that are counted it would have the nearest caller that is not
		limit "$AGENT" -q -k output.layout=run -k overhead.count_tiny=null -o plain-$mpi -- $run -np 2 "$BIN/loop-$mpi" loop 200 500 every 10 2000 >out
		same_traffic out-$mpi/profile.json plain-$mpi/profile.json'

	test_expect "$mpi: waits and the critical path can be taken from it" '
		limit "$VFTR" waits --exact $(cat slow-$mpi) >waits
		grep "MPI_Allreduce" waits
		limit "$VFTR" critical-path $(cat slow-$mpi) >path
		[ -s path ]'

	test_expect "$mpi: a rank that is killed is in a file with its last calls, and so are the others" '
		limit "$AGENT" $keep -k sampling.when=death -o dead-$mpi -- $run -np 3 "$BIN/loop-$mpi" loop 50 500 die 30 2 >out 2>err || :
		ls dead-$mpi
		# its launcher kills the others at once, and one of them may be seen first
		file=$(ls dead-$mpi/*-death-rank?.vfd | head -n 1)
		for rank in 0 1 2; do
			"$VFTR" dump -r $rank $file >dump
			is "$rank 30" "$rank $(grep -c " exit iteration<step<main<init" dump | awk "{ print (\$1 > 30 ? 30 : \$1) }")"
		done
		grep "flight recorder: death-rank\([0-2]\): rank \1 (pid [0-9]*) \(was killed\|exited with\)" dead-$mpi/node-*.log'
done

need mpirun.openmpi mpicc.openmpi ip
nodes_up 2

test_expect 'two nodes: both write the slow iteration, and the time of all is one' '
	mpi=nodes
	mpicc_traced openmpi "$BIN/loop-nodes" "$T/report/app-loop.c"
	limit "$AGENT" $keep -o out-nodes -- $(nodes_mpirun 1) -np 2 "$BIN/loop-nodes" loop 400 500 stall 137 1 700 stall 300 0 2000 >out
	ls out-nodes
	has_slow node1 400 0
	has_slow node2 400 1
	# the files of one moment have one name
	limit "$VFTR" waits --exact $(echo $slow | sed "s/node2/node1/") $slow >waits
	grep "MPI_Allreduce" waits'

test_expect 'vftr where --record: both nodes write a file' '
	mkdir asked
	VFTR_SESSION=asked limit "$AGENT" $keep -k output.layout=vftrace -k sampling.when=request -k output_directory=asked -- \
		$(nodes_mpirun 1) -np 2 "$BIN/loop-nodes" loop 40000 500 >out &
	job=$!
	wait_for 30 "nodes_run node2 \"$VFTR\" where | grep step"
	is 0 "$(ls asked | grep -c vfd)"
	nodes_run node2 "$VFTR" where --record | grep "MPI_\|step"
	for node in 1 2; do
		wait_for 30 "\"$VFTR\" dump -H asked/loop-nodes_node${node}_request1.vfd | grep -qx \"Complete:        yes\""
	done
	kill $job
	wait $job || :
	is 2 "$(ls asked/*.vfd | wc -l)"'

done_testing
