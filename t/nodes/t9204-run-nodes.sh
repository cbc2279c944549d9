#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# vftr run on several (pseudo-)nodes: one folder, which all agents find.
test_description='several nodes: one folder for each run'
. "$(dirname "$0")/../lib/lib.sh"
need mpirun.openmpi jq
need_built "$AGENT" "$VFTR" "$LIB/libvftrace-openmpi.so" "$LIB/vftr/peer-openmpi.so"
nodes_up 2
mpicc_traced openmpi "$BIN/job" "$T/session/app-job.c" || exit 1

# right FOLDER: four ranks on two nodes, all of the job's files
right() {
	is "4 2 0" "$(json "$1/profile.json" '"\(.ranks) \(.nodes) \(.dead_ranks | length)"')" &&
		is 40 "$(calls_of "$1/profile.json" 'MPI_Allreduce < main < init')" &&
		is "node-node1.log node-node2.log node1.vfp node2.vfp profile.json summary.log" \
			"$(cd "$1" && for f in node-node?.log node?.vfp *.json summary*; do echo $f; done | xargs)"
}

test_expect 'the agents of all nodes write into the folder of the run' '
	limit "$VFTR" run -q -- $(nodes_mpirun 2) -np 4 "$BIN/job" >out
	right vftr-job-last
	is 1 "$(ls -d vftr-job-2* | wc -l)" folders'

test_expect 'the digest of the summary is printed at the end, and where the files are' '
	limit "$VFTR" run -o told -- $(nodes_mpirun 2) -np 4 "$BIN/job" >out 2>err
	right told
	json told/profile.json ".digest[]" >digest
	has digest "job: 4 ranks on 2 nodes, "
	sed -n "/^job: /,\$p" err | head -n "$(wc -l <digest)" | diff digest -
	has err "vftr-node-agent: profile: $PWD/told/summary.log"'

test_expect 'two such jobs at once, with --output: a folder each' '
	for i in 1 2; do
		limit "$VFTR" run -q --trace -o "res/%p-$i" -- $(nodes_mpirun 2) -np 4 "$BIN/job" >out.$i &
	done
	wait
	for i in 1 2; do
		is "node1.vfd node2.vfd" "$(cd res/job-$i && echo node?.vfd)"
		rm res/job-$i/*.vfd
		right res/job-$i
	done'

test_expect '--in-step: a folder with the name of the step, the same on all nodes' '
	mkdir step && cd step
	limit $(nodes_mpirun 2) -np 4 "$VFTR" run -q --in-step -- "$BIN/job" >out
	right vftr-job-last
	is 1 "$(ls -d vftr-job-[^l]* | wc -l)" folders
	is "" "$(find . -name ".vftr*")"
	limit $(nodes_mpirun 2) -np 4 "$VFTR" run -q --in-step -o "x/%h" -- "$BIN/job" >out 2>err || :
	has err "another host on each node"'

# Each agent begins its sampling file before it has met the others, with a run number of its own.
test_expect '--in-step: the sampling files of both nodes are of one run for export and analyses' '
	limit $(nodes_mpirun 2) -np 4 "$VFTR" run -q --in-step --trace -o traced -- "$BIN/job" >out
	for node in 1 2; do "$VFTR" dump --json traced/node$node.vfd | jq .run; done >numbers
	is 2 "$(sort -u numbers | wc -l)" numbers
	"$VFTR" export traced/node1.vfd ./traced/node2.vfd -f folded -o folded
	is "0 1 2 3" "$(sed -n "s/^rank \([0-3]\).*/\1/p" folded | sort -u | xargs)"
	"$VFTR" critical-path --json traced >json
	is 4 "$(jq ".per_rank | length" json)"'

test_expect 'under the names of Vftrace: what an earlier job has left is kept on both nodes' '
	mkdir old && cd old
	for i in 1 2; do
		traced -q -k sampling.active=true -- $(nodes_mpirun 2) -np 4 "$BIN/job" >out
		json job_all.json .run >run.$i
	done
	is "$(cat run.1)" "$(json job_all.json.old .run)"
	is "8 8" "$(ls | grep -c "^job.*old\$") $(ls job* | grep -vc old)"
	! ls | grep old2'

done_testing
