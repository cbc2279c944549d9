#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='vftr attach in a step of Slurm: the processes of all its nodes are one profile'
. "$(dirname "$0")/../lib/lib.sh"
need jq srun salloc
need_built "$AGENT" "$VFTR"
slurm_up 3
$TEST_CC -O2 -fomit-frame-pointer -o "$BIN/shares" "$T/stack/app-shares.c" -pthread -ldl || exit 1

# job NAME COMMAND...: a job of 6 tasks on 3 nodes, in the background; $id when its tasks run
job() {
	test_job=$1
	shift
	salloc -Q -N3 -n6 --ntasks-per-node=2 -J "$test_job" srun -m cyclic "$@" >/dev/null 2>"$test_job.err" &
	wait_for 60 "[ -n \"\$(squeue -h -t R -n $test_job -o %i)\" ] && squeue -h -s -n $test_job | grep -q '\\.0 ' ||
		squeue -h -s | grep -q \"\$(squeue -h -t R -n $test_job -o %i)\\.0 \""
	id=$(squeue -h -t R -n "$test_job" -o %i)
}

# attach OPTION...: one task on each node of $id
attach() {
	rm -rf got
	limit srun --jobid "$id" --overlap -N3 -n3 "$VFTR" attach -o got -k profile.sample=50 "$@" </dev/null 2>said ||
		{ test_rc=$?; cat said; return $test_rc; }
	cat said
}

job long "$BIN/shares" serial 1000000
if ! attach -q -s 0.2 -j "$id" && grep -q 'the kernel allows no stack samples' said; then
	skip_all 'the kernel allows no perf events here'
fi

test_expect 'six ranks on three nodes: one folder, one profile, one log for each node' '
	attach -s 3 -j "$id"
	for n in 1 2 3; do has said "attached to 2 processes on node$n; Ctrl-C ends it, and they go on"; done
	is "6 6 3 0" "$(jq -r "\"\(.ranks) \(.processes) \(.nodes) \([.agents[] | select(.missing)] | length)\"" got/profile.json)"
	is 3 "$(ls got | grep -c "^node-.*\.log$")"
	has got/summary.log "burn < much < around < serial < main"
	"$VFTR" show got >shown
	has shown "shares: 6 ranks"
	is "" "$(find . -name ".vftr*")" "folders to meet in"'

test_expect 'two tasks on each node: the others end at once, and are not attached to' '
	limit srun --jobid "$id" --overlap -N3 -n6 -m cyclic "$VFTR" attach -o two -s 0.5 -j "$id" </dev/null 2>said
	is "6 6" "$(jq -r "\"\(.ranks) \(.processes)\"" two/profile.json)"'

test_expect 'a folder for each node is refused: they have one' '
	test_rc=0
	limit srun --jobid "$id" --overlap -N3 -n3 "$VFTR" attach -s 0.5 -j "$id" -o %h </dev/null 2>said || test_rc=$?
	[ "$test_rc" != 0 ]
	has said "%h is another host on each node, and these have one folder"'

test_expect 'the step is ended: what was seen until then is there, and the job goes on' '
	rm -rf got
	srun --jobid "$id" --overlap -N3 -n3 "$VFTR" attach -o got -k profile.sample=50 -j "$id" </dev/null 2>said &
	job=$!
	wait_for 60 "[ \$(grep -c \"attached to\" said) = 3 ]"
	step=$(squeue -h -s -j "$id" -o "%i %j" | awk "\$2 == \"vftr\" { print \$1 }")
	scancel -s INT "$step"
	wait $job || true
	cat said
	is 6 "$(jq .processes got/profile.json)"
	is 1 "$(squeue -h -t R -n long | wc -l)"'

test_expect 'a node that has no process of the program holds nobody up' '
	begin=$(date +%s)
	cp "$BIN/shares" "$BIN/only-here"
	nodes_run node2 "$BIN/only-here" serial 1000000 &
	wait_for 30 "pgrep -x only-here"
	attach -s 0.5 -n only-here
	has said "attached to 0 processes on node1"
	pkill -x only-here
	is "1 3 0" "$(jq -r "\"\(.processes) \(.nodes) \([.agents[] | select(.missing)] | length)\"" got/profile.json)"
	no_later 25 $begin'

test_expect 'the job ends: so do the agents, and the profile has each end' '
	: >said
	attach -j "$id" &
	wait_for 60 "[ \$(grep -c \"attached to\" said) = 3 ]"
	scancel -s KILL "$id.0"
	wait $!
	is "6 signal 9 (Killed)" "$(jq -r "[.dead[].end] | \"\(length) \(unique | join(\" \"))\"" got/profile.json)"'

done_testing
