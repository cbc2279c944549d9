#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The in-step form under a real Slurm that ends its steps by control groups, as production
# sites do; and what is left there of processes that start an agent for themselves.
test_description='agents in the steps of a real Slurm with control groups'
. "$(dirname "$0")/../lib/lib.sh"
need jq srun salloc mpirun.openmpi mpicc.openmpi
need_built "$AGENT" "$LIB/libvftrace-openmpi.so"
ulimit -c unlimited # of the ranks, too
slurm_up 3 cgroup
srun --mpi=list 2>&1 | grep -q pmix || skip_all 'this Slurm has no PMIx'
for mpi in $(mpi_list); do
	mpicc_traced $mpi "$BIN/app.$mpi" "$T/nodes/app-in-step.c"
done
mpicc.openmpi -O1 -o "$BIN/bare" "$T/nodes/app-in-step.c"
cc_traced "$BIN/serial" "$T/hook/app-end.c" || exit 1

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

# six STATUS WORDS...: a step of 6 tasks on 3 nodes ends so; what it prints is in out and err.
# Again where Open MPI has crashed by itself: one run of 115 on a busy machine, with status 139;
# then without what Slurm's SIGKILL to the agents has left. $begin: when the last one began.
six() {
	wanted=$1 tries=0
	shift
	: >>in
	begin=$(date +%s)
	until status_of $wanted $E3 srun --mpi=pmix "$@" <in >out 2>err; do
		cat err
		tries=$((tries + 1))
		[ $tries -lt 3 ] && open_mpi_broke err
		rm -rf -- *.vfp *_all.* .vftr-step-*
		begin=$(date +%s)
	done
	cat err
}

# test_long: in the long form only
test_long() {
	[ -z "$VFTR_LONG" ] || test_expect "$@"
}

if [ -n "$VFTR_LONG" ]; then
	spreads="-m,block --ntasks-per-node=2 -m,cyclic"
else
	spreads="-m,cyclic"
fi
for how in $spreads; do
	how=$(echo "$how" | tr , " ")
	test_expect "6 ranks on 3 nodes, srun $how: one summary, all messages, standard input" '
		in_folder "six$how"
		echo hello >in
		six 0 $how "$AGENT" --in-step -- "$BIN/app.openmpi" ok
		is "stdin: hello" "$(cat out)"
		whole app.openmpi_all.json 6 600
		is 3 "$(json app.openmpi_all.json .nodes)"
		left'
done

test_long 'the plain form behind srun is one job, too; --preload' '
	in_folder plain
	six 0 "$AGENT" --preload -- "$BIN/bare" ok
	whole bare_all.json 6 600
	is 1 "$(ls | grep -c _all.log)"
	left'

test_if '[ -e "$BIN/app.mpich" ]' 'no MPICH' 'MPICH, pmi2, one node: 4 ranks' '
	in_folder mpich
	limit salloc -Q -N1 -n4 srun --mpi=pmi2 "$AGENT" --in-step -- "$BIN/app.mpich" ok </dev/null 2>err
	whole app.mpich_all.json 4 400
	left'

# Without an agent that somebody has started: what each node leaves, before its step's end.
for how in $spreads; do
	how=$(echo "$how" | tr , " ")
	test_expect "no agent started, srun $how: a profile of each node, of all 6 ranks" '
		in_folder "embedded$how"
		begin=$(date +%s%N)
		six 7 $how "$BIN/app.openmpi" status
		echo "# $((($(date +%s%N) - begin) / 1000000)) ms"
		is "" "$(grep vftr err)"
		is 3 "$(ls | grep -c "[.]vfp$")"
		"$VFTR" collate . >/dev/null
		is "6 0" "$(json app.openmpi_all.json "\"\(.ranks) \(.dead | length)\"")" "ranks, dead"
		left'
done

test_long 'no agent started, one node: a summary' '
	in_folder embedded1
	limit salloc -Q -N1 -n4 srun --mpi=pmix "$BIN/app.openmpi" ok </dev/null 2>err
	whole app.openmpi_all.json 4 400
	left'

test_long 'no agent started, one node, a batch script that goes on: a summary' '
	in_folder batch
	echo "srun --mpi=pmix $BIN/app.openmpi ok </dev/null; sleep 3" >script
	slurm_batch script -N1 -n4
	whole app.openmpi_all.json 4 400
	left'

test_long 'around srun on one node' '
	in_folder around1
	echo "$AGENT -q -- srun --mpi=pmix $BIN/app.openmpi ok </dev/null" >script
	slurm_batch script -N1 -n4
	whole app.openmpi_all.json 4 400
	left'

test_long 'little memory: a step of the agent beside that of the job; 64 processes of 4 MiB rings' '
	in_folder little
	limit salloc -Q -N1 -n4 --mem-per-cpu=32M "$AGENT" -q --agent-launcher \
		"srun --mpi=pmix --overlap -n1" -- srun --mpi=pmix "$BIN/app.openmpi" ok </dev/null 2>err ||
		{ cat err; false; }
	whole app.openmpi_all.json 4 400
	echo "seq 64 | xargs -P 64 -I % $BIN/serial return" >many
	echo "$AGENT -q -k agent.linger_s=1 -- sh many" >script
	slurm_batch script -N1 -n1 --mem=120M
	is 64 "$(json serial_all.json .processes)" || { cat script.out; ls; false; }
	left'

test_expect 'no agent started: no MPI, two of three tasks are not traced' '
	in_folder serial
	limit salloc -Q -N1 -n3 srun sh -c "[ \$SLURM_PROCID = 1 ] || exit 0; exec $BIN/serial return" </dev/null 2>err
	is 1 "$(json serial_all.json .processes)"
	left'

# stop_agents SIGNAL: those that the ranks of the job in this folder have started
stop_agents() {
	wait_for 30 "[ \$(ls pids | wc -l) = 6 ]"
	signal_agents $1
}

test_expect 'no agent started, and then killed: the step ends as it would have' '
	in_folder killed; mkdir pids
	$E3 srun --mpi=pmix "$BIN/app.openmpi" wait 3 pids </dev/null 2>err &
	job=$!
	stop_agents KILL
	begin=$(date +%s)
	wait $job
	no_later 9 $begin
	left'

test_long 'no agent started, and then stopped: the step waits 11 s at most, and says so' '
	in_folder stopped; mkdir pids
	$E3 srun --mpi=pmix "$BIN/app.openmpi" wait 2 pids </dev/null 2>err &
	job=$!
	stop_agents STOP
	begin=$(date +%s)
	wait $job
	no_later 20 $begin
	cat err
	grep -q "Slurm may end it" err
	left'

test_expect 'no longer than the program and 5 s; exit status 7 of rank 0' '
	in_folder status
	begin=$(date +%s)
	VFTR_OFF=1 six 7 "$BIN/app.openmpi" status 1
	own=$(($(date +%s) - begin))
	begin=$(date +%s)
	six 7 "$AGENT" --in-step -- "$BIN/app.openmpi" status 1
	no_later $((own + 6)) $begin
	is 6 "$(json app.openmpi_all.json .ranks)"
	left'

test_expect 'MPI_Abort, after which Slurm kills all of the step: the results of its node, and the same status' '
	in_folder abort
	aborted() {
		VFTR_OFF=1 status_of 9 limit salloc -Q -N$1 -n4 srun --mpi=pmix "$BIN/app.openmpi" abort </dev/null 2>bare
		status_of 9 limit salloc -Q -N$1 -n4 srun --mpi=pmix "$VFTR" run --in-step -o $1 -- \
			"$BIN/app.openmpi" abort </dev/null 2>err
		cat err
		is 1 "$(grep -c "MPI_ABORT was invoked" err)"
	}
	aborted 1
	is 4 "$(json 1/profile.json .ranks)"
	is 1 "$(calls_of 1/profile.json "MPI_Abort<main<init")"
	is 400 "$(calls_of 1/profile.json "MPI_Sendrecv<pass<main<init")"
	# the others may be about to store the last blocks of theirs
	[ "$(calls_of 1/profile.json "MPI_Sendrecv<talk<main<init")" -ge $((40000 - 3 * 64)) ]
	is "" "$(grep -e damaged err 1/*.log 1/profile.json)" "damage"
	aborted 2
	[ -s 2/node2.vfp ]
	"$VFTR" collate 2 >/dev/null
	is 1 "$(calls_of 2/profile.json "MPI_Abort<main<init")"'

test_expect 'the agents are killed: the job ends as it would have' '
	in_folder agents; mkdir pids
	$E3 srun --mpi=pmix "$AGENT" --in-step -- "$BIN/app.openmpi" wait 2 pids </dev/null 2>err &
	job=$!
	wait_for 30 "[ \$(ls pids | wc -l) = 6 ]"
	sleep 1
	for p in $(agent_pids); do
		[ "$(ps -o sid= -p $p | tr -d " ")" != $p ] || kill -9 $p || : # may end meanwhile
	done
	wait $job
	left'

test_expect 'scancel --signal: each rank gets it once' '
	in_folder signal; mkdir pids
	$E3 -J signalled srun --mpi=pmix "$AGENT" --in-step -- "$BIN/app.openmpi" signal 2 pids </dev/null >out 2>err &
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

broken_told
done_testing
