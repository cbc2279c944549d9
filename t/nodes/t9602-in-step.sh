#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The in-step form: a launcher starts vftr-node-agent in place of each process of a job, on
# one host and on several pseudo-nodes, and under a real Slurm.
test_description='in-step form: the agents live in the step of the job'
. "$(dirname "$0")/../lib/lib.sh"
need jq mpirun.openmpi mpicc.openmpi
need_built "$AGENT" "$LIB/libvftrace-openmpi.so"
nodes_up 3
for mpi in $(mpi_list); do
	mpicc_traced $mpi "$BIN/app.$mpi" "$T/nodes/app-in-step.c"
	"mpicc.$mpi" -O1 -o "$BIN/bare.$mpi" "$T/nodes/app-in-step.c"
done

# whole JSON RANKS MESSAGES: that many ranks and messages, none lost or without a partner
whole() {
	is "$2 $3 0 0" "$(json "$1" '"\(.ranks) \(.matching.pairs.exact) \([.matching.unmatched_sends[], .matching.unmatched_recvs[]] | add) \([.agents[] | select(.missing)] | length)"')" \
		"ranks, messages, without partner, missing agents of $1"
}

# that of --preload to a library whose folder has a blank
case $(readlink -f "$LIB") in
*" "*) link_that_stays='lib-[0-9a-f]*' ;;
*) link_that_stays= ;;
esac

# nothing_left DIR: neither files of ours nor processes
nothing_left() {
	wait_for 10 '[ -z "$(agent_pids)" ]'
	is "" "$(ls -A "$VFTR_RUNTIME_DIR" | grep -vx "$link_that_stays")" "runtime directory"
	is "" "$(find "$1" -name ".vftr*")" "folders to meet in"
}

# quick LIMIT_MS COMMAND...
quick() {
	test_begin=$(date +%s%N)
	shift
	"$@"
	test_ms=$((($(date +%s%N) - test_begin) / 1000000))
	echo "# $test_ms ms: $*"
}

for mpi in $(mpi_list); do
	test_expect "$mpi on one host: one summary of 4 ranks, standard input, nothing left" '
		mkdir one.$mpi; cd one.$mpi
		printf "a\nb\n" >in
		limit $(mpirun_of $mpi) -np 4 "$AGENT" --in-step -- "$BIN/app.$mpi" ok <in >out 2>err
		is "stdin: a stdin: b" "$(paste -sd" " out)"
		is 1 "$(wc -l <err)" "lines on standard error"
		whole app.${mpi}_all.json 4 400
		is "4 0" "$(json app.${mpi}_all.json "\"\\(.processes) \\(.dead | length)\"")"
		nothing_left .'

	test_expect "$mpi, plain form behind the launcher: the same" '
		mkdir plain.$mpi; cd plain.$mpi
		limit $(mpirun_of $mpi) -np 3 "$AGENT" -- "$BIN/app.$mpi" ok </dev/null 2>err
		whole app.${mpi}_all.json 3 300
		is 1 "$(ls | grep -c _all.log)"
		nothing_left .'

	test_expect "$mpi: --preload, options, a program of another folder" '
		mkdir preload.$mpi; cd preload.$mpi; mkdir results
		limit $(mpirun_of $mpi) -np 2 "$AGENT" --in-step --preload -o results -k logfile_for_ranks=all \
			-- "$BIN/bare.$mpi" ok </dev/null 2>err
		whole results/bare.${mpi}_all.json 2 200
		is 2 "$(ls results | grep -c "bare.${mpi}_[01].log")"
		nothing_left .'

	test_expect "$mpi: a command that does not exist, or cannot be executed: 127 and 126" '
		mkdir none.$mpi; cd none.$mpi
		: >noexec
		for n in 1 2; do
			status_of 127 limit $(mpirun_of $mpi) -np $n "$AGENT" --in-step -- ./nothere </dev/null 2>err
			has err "cannot run ./nothere: No such file or directory"
			status_of 126 limit $(mpirun_of $mpi) -np $n "$AGENT" --in-step -- ./noexec </dev/null 2>err
			has err "cannot run ./noexec: Permission denied"
		done
		nothing_left .'

	test_expect "$mpi: what killed steps have left is removed, and nothing that is younger, in use or of tasks that live" '
		mkdir swept.$mpi; cd swept.$mpi
		sh -c "echo \$\$" >dead
		for f in dead young locked; do echo "$(cat dead) 0" >"$VFTR_RUNTIME_DIR/step-$f.tasks"; done
		echo "$$ 0" >"$VFTR_RUNTIME_DIR/step-lives.tasks"
		: >"$VFTR_RUNTIME_DIR/step-dead.first"
		: >"$VFTR_RUNTIME_DIR/step-dead.lock"
		touch -d "2 minutes ago" "$VFTR_RUNTIME_DIR"/step-dead.* "$VFTR_RUNTIME_DIR"/step-l*.tasks
		exec 8>"$VFTR_RUNTIME_DIR/step-locked.lock"
		flock 8
		limit $(mpirun_of $mpi) -np 2 "$AGENT" --in-step -- "$BIN/app.$mpi" ok </dev/null 2>err
		is "step-lives.tasks step-locked.lock step-locked.tasks step-young.tasks" \
			"$(ls "$VFTR_RUNTIME_DIR" | grep step- | paste -sd " ")"
		rm "$VFTR_RUNTIME_DIR"/step-*'

	test_expect "$mpi: exit status of a task, a rank that ends before MPI_Finalize, kill -9" '
		for what in status early kill last; do
			mkdir $what.$mpi; cd $what.$mpi
			untraced=0
			VFTR_OFF=1 limit $(mpirun_of $mpi) -np 3 "$BIN/app.$mpi" $what 1 </dev/null >/dev/null 2>&1 || untraced=$?
			[ $untraced != 0 ]
			traced=0
			timeout -k 5 $(patient 30) $(mpirun_of $mpi) -np 3 "$AGENT" --in-step -- "$BIN/app.$mpi" $what 1 \
				</dev/null >out 2>err || traced=$?
			# MPICH gives the status of the first or of those it has killed then
			case $mpi.$what.$traced in
			mpich.early.[79] | mpich.kill.9 | mpich.kill.15 | mpich.last.9 | mpich.last.15) ;;
			*) is $untraced $traced "status with $what" || { cat out err; false; } ;;
			esac
			wait_for 10 "[ -s app.${mpi}_all.json ]"
			nothing_left .
			is 3 "$(json app.${mpi}_all.json .ranks)" "ranks with $what"
			cd ..
		done'
done

test_expect 'over nodes: 3 x 2 ranks, one summary, every message matched, nothing left' '
	mkdir nodes; cd nodes
	echo hello >in
	limit $(nodes_mpirun) -np 6 "$AGENT" --in-step -- "$BIN/app.openmpi" ok <in >out 2>err
	cat err
	is "stdin: hello" "$(cat out)"
	whole app.openmpi_all.json 6 600
	is 3 "$(json app.openmpi_all.json .nodes)"
	is 3 "$(ls | grep -c "[.]vfp$")"
	nothing_left .'

done_testing
