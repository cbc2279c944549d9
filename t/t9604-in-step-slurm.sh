#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The in-step form under a real Slurm that ends its steps by control groups, as production
# sites do; and what is left there of processes that start an agent for themselves.
test_description='agents in the steps of a real Slurm with control groups'
. "$(dirname "$0")/lib.sh"
need jq srun salloc mpirun.openmpi mpicc.openmpi
need_built "$AGENT" "$LIB/libvftrace-openmpi.so"
slurm_up 3 cgroup
srun --mpi=list 2>&1 | grep -q pmix || skip_all 'this Slurm has no PMIx'
for mpi in $(mpi_list); do
	mpicc_traced $mpi "$BIN/app.$mpi" "$T/app-in-step.c"
done
mpicc.openmpi -O1 -o "$BIN/bare" "$T/app-in-step.c"
cc_traced "$BIN/serial" "$T/app-end.c" || exit 1

# whole JSON RANKS MESSAGES: that many, none lost or without a partner, no node missing
whole() {
	is "$2 $3 0 0" "$(json "$1" '"\(.ranks) \(.matching.pairs.exact) \([.matching.unmatched_sends[], .matching.unmatched_recvs[]] | add) \([.agents[] | select(.missing)] | length)"')" \
		"ranks, messages, without partner, missing agents of $1"
}

# In a folder of its own: in NAME
in_folder() {
	mkdir "$1" && cd "$1"
}

# left: nothing of ours in this folder, nothing in the nodes' control groups
left() {
	is "" "$(find . -name ".vftr*")" "folders to meet in"
	wait_for 10 "[ -z \"\$(squeue -h)\" ]"
}

E3="limit salloc -Q -N3 -n6"
for how in "--mpi=pmix" "--mpi=pmix --ntasks-per-node=2" "--mpi=pmix -m cyclic"; do
	test_expect "6 ranks on 3 nodes, srun $how: one summary, all messages, standard input" '
		in_folder "six$how"
		echo hello >in
		$E3 srun $how "$AGENT" --in-step -- "$BIN/app.openmpi" ok <in >out 2>err || { cat err; false; }
		cat err
		is "stdin: hello" "$(cat out)"
		whole app.openmpi_all.json 6 600
		is 3 "$(json app.openmpi_all.json .nodes)"
		left'
done

test_expect 'the plain form behind srun is one job, too; --preload' '
	in_folder plain
	$E3 srun --mpi=pmix "$AGENT" --preload -- "$BIN/bare" ok </dev/null 2>err
	whole bare_all.json 6 600
	is 1 "$(ls | grep -c _all.log)"
	left'

test_if '[ -e "$BIN/app.mpich" ]' 'no MPICH' 'MPICH, pmi2, one node: 4 ranks' '
	in_folder mpich
	limit salloc -Q -N1 -n4 srun --mpi=pmi2 "$AGENT" --in-step -- "$BIN/app.mpich" ok </dev/null 2>err
	whole app.mpich_all.json 4 400
	left'

# Without an agent that somebody has started: what each node leaves, before its step's end.
for how in "" "--ntasks-per-node=2" "-m cyclic"; do
	test_expect "no agent started, srun $how: a profile of each node, of all 6 ranks" '
		in_folder "embedded$how"
		begin=$(date +%s%N)
		status_of 7 $E3 srun --mpi=pmix $how "$BIN/app.openmpi" status </dev/null 2>err || { cat err; false; }
		echo "# $((($(date +%s%N) - begin) / 1000000)) ms"
		is "" "$(grep vftr err)"
		is 3 "$(ls | grep -c "[.]vfp$")"
		"$VFTR" collate . >/dev/null
		is "6 0" "$(json app.openmpi_all.json "\"\(.ranks) \(.dead | length)\"")" "ranks, dead"
		left'
done

test_expect 'no agent started, one node: a summary' '
	in_folder embedded1
	limit salloc -Q -N1 -n4 srun --mpi=pmix "$BIN/app.openmpi" ok </dev/null 2>err
	whole app.openmpi_all.json 4 400
	left'

test_expect 'no agent started: no MPI, two of three tasks are not traced' '
	in_folder serial
	limit salloc -Q -N1 -n3 srun sh -c "[ \$SLURM_PROCID = 1 ] || exit 0; exec $BIN/serial return" </dev/null 2>err
	is 1 "$(json serial_all.json .processes)"
	left'

# stop_agents SIGNAL: those that the ranks of the job in this folder have started
stop_agents() {
	wait_for 30 "[ \$(ls pids | wc -l) = 6 ]"
	for p in $(agent_pids); do
		kill -$1 $p
	done
}

test_expect 'no agent started, and then killed: the step ends as it would have' '
	in_folder killed; mkdir pids
	$E3 srun --mpi=pmix "$BIN/app.openmpi" wait 3 pids </dev/null 2>err &
	job=$!
	stop_agents KILL
	begin=$(date +%s%N)
	wait $job
	took=$((($(date +%s%N) - begin) / 1000000))
	echo "# $took ms"
	[ $took -lt 9000 ]
	left'

test_expect 'no agent started, and then stopped: the step waits 11 s at most, and says so' '
	in_folder stopped; mkdir pids
	$E3 srun --mpi=pmix "$BIN/app.openmpi" wait 2 pids </dev/null 2>err &
	job=$!
	stop_agents STOP
	begin=$(date +%s%N)
	wait $job
	took=$((($(date +%s%N) - begin) / 1000000))
	echo "# $took ms"
	[ $took -lt 20000 ]
	cat err
	grep -q "Slurm may end it" err
	left'

test_expect 'no longer than the program and 5 s; exit status 7 of rank 0' '
	in_folder status
	begin=$(date +%s%N)
	status_of 7 $E3 srun --mpi=pmix "$BIN/app.openmpi" status 1 </dev/null 2>err
	own=$(($(date +%s%N) - begin))
	begin=$(date +%s%N)
	status_of 7 $E3 srun --mpi=pmix "$AGENT" --in-step -- "$BIN/app.openmpi" status 1 </dev/null 2>err
	all=$(($(date +%s%N) - begin))
	echo "# $((own / 1000000)) ms untraced, $((all / 1000000)) ms traced"
	[ $((all - own)) -lt 5000000000 ]
	is 6 "$(json app.openmpi_all.json .ranks)"
	left'

test_expect 'the agents are killed: the job ends as it would have' '
	in_folder agents; mkdir pids
	$E3 srun --mpi=pmix "$AGENT" --in-step -- "$BIN/app.openmpi" wait 4 pids </dev/null 2>err &
	job=$!
	wait_for 30 "[ \$(ls pids | wc -l) = 6 ]"
	sleep 1
	for p in $(agent_pids); do
		[ "$(ps -o sid= -p $p | tr -d " ")" = $p ] && kill -9 $p
	done
	wait $job
	left'

test_expect 'scancel --signal: each rank gets it once' '
	in_folder signal; mkdir pids
	$E3 -J signalled srun --mpi=pmix "$AGENT" --in-step -- "$BIN/app.openmpi" signal 4 pids </dev/null >out 2>err &
	wait_for 30 "[ \$(ls pids | wc -l) = 6 ]"
	scancel -s USR1 "$(squeue -h -n signalled -o %i).0"
	wait
	for r in 0 1 2 3 4 5; do echo "rank $r: 1 signal"; done >want
	sort out | diff want -
	whole app.openmpi_all.json 6 600
	left'

test_expect 'scancel while it runs: a summary of all 6 ranks' '
	in_folder cancel; mkdir pids
	$E3 -J cancelled srun --mpi=pmix "$AGENT" --in-step -- "$BIN/app.openmpi" wait 100 pids </dev/null 2>err &
	wait_for 30 "[ \$(ls pids | wc -l) = 6 ]"
	sleep 1
	scancel -n cancelled
	wait || :
	wait_for 20 "[ -s app.openmpi_all.json ]"
	is 6 "$(json app.openmpi_all.json .ranks)"
	left'

done_testing
