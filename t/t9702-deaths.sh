#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# One process of a job or of vftr is killed or stopped at a random instant.
test_description='deaths at random instants: the status of the job, a summary, nothing left'
. "$(dirname "$0")/lib.sh"
need mpirun.openmpi jq
need_built "$AGENT" "$LIB/libvftrace-openmpi.so" "$LIB/vftr/peer-openmpi.so"

: "${DEATHS_NODES:=${VFTR_LONG:+300}}" "${DEATHS_ONE:=${VFTR_LONG:+300}}" "${DEATHS_SEED:=$$}"
: "${DEATHS_NODES:=6}" "${DEATHS_ONE:=6}"
RANDOM=$DEATHS_SEED
: "${DEATHS_LOG:=}" # a line for each, there
echo "# DEATHS_SEED=$DEATHS_SEED"

mpicc_traced openmpi "$BIN/deathjob" "$T/app-job.c"

# those of ours that belong to the run of the supervisor $job: "PID what", one a line
parts() {
	local p parent
	for p in $(pgrep -f -- "--session run-[^ ]*-$job( |\$)"); do
		[ "$(readlink "/proc/$p/exe")" = "$AGENT" ] || continue
		parent=$(ps -o ppid= -p "$p" | tr -d " ")
		if [ "$(readlink "/proc/$parent/exe")" = "$AGENT" ]; then
			echo "$p agent"
		else
			echo "$p courier"
		fi
	done
	for p in $(pgrep -P "$job" -x vftr-agent); do
		echo "$p front"
		for p in $(pgrep -P "$p" mpirun); do echo "$p launcher"; done
	done
	for p in $(pgrep -x deathjob); do
		grep -qzxF "VFTR_TEST_DIR=$VFTR_TEST_DIR" "/proc/$p/environ" 2>/dev/null &&
			echo "$p rank"
	done
}

# One of a kind (agent courier launcher front rank) gets a signal: its name and pid
hit() {
	local victim
	victim=$(parts | awk -v what="$1" '$2 == what { print $1 }' | shuf -n 1)
	[ -n "$victim" ] || return 1
	kill -"$2" "$victim" || return 1
	echo "$2 to $1 $victim"
	# who stops a rank continues it: the job would wait for it untraced, too
	[ "$1 $2" != "rank STOP" ] || (sleep 0.7; kill -CONT "$victim")
}

# round COMMAND...: starts it, hits one, and looks at what becomes of it
round() {
	local kinds=$1 status=0 what signal wanted=0 t said
	shift
	read -ra kinds <<<"$kinds"
	what=${kinds[RANDOM % ${#kinds[@]}]}
	signal=KILL
	[ $((RANDOM % 3)) -gt 0 ] || signal=STOP
	rm -rf out && mkdir out
	VFTR_TEST_DIR=$VFTR_TEST_DIR "$AGENT" -k agent.deadline_s=5 -o out -- "$@" >stdout 2>said &
	job=$!
	wait_for 60 "pgrep -P $job | grep -qvx \"\$(pgrep -P $job -x vftr-agent)\" || [ ! -d /proc/$job ]"
	sleep "$(printf '%d.%02d' $((RANDOM % 2)) $((RANDOM % 100)))"
	hit "$what" $signal >hit || echo "nothing to hit: $what" >hit
	t=$SECONDS
	timeout 90 tail --pid=$job -f /dev/null || { echo "still running"; ps -ef; return 1; }
	wait $job || status=$?
	grep -q "KILL to rank" hit && wanted=137
	said="$(cat hit), after $((SECONDS - t)) s: status $status; $(grep -v "^\(--\|mpirun\|Prim\|\$\)" said | tail -n 3)"
	is $wanted $status "status: $said" || return 1
	# on one node all of it is in the agent
	if grep -q "KILL to front" hit && [ "$NODES_USED" = 1 ]; then
		grep -q "ended the agent: there is no profile" said && return 0
	fi
	[ -s out/deathjob_all.json ] || [ -s out/mpirun_all.json ] || ! echo "no summary: $said" || return 1
	# nothing stays behind for long
	wait_for 15 '[ -z "$(parts)" ]' || { echo "left: $(parts | tr "\n" " "): $said"; return 1; }
	[ -z "$DEATHS_LOG" ] || echo "$said" >>"$DEATHS_LOG"
}

rounds() {
	local n=$1 kinds=$2 bad=0 i
	shift 2
	for i in $(seq "$n"); do
		round "$kinds" "$@" || { bad=$((bad + 1)); cat said; }
		sleep 0.1
	done
	echo "$((n - bad)) of $n"
	[ $bad = 0 ]
}

NODES_USED=1
test_expect "one node, $DEATHS_ONE times: agent or rank" '
	rounds $DEATHS_ONE "front rank" $(mpirun_of openmpi) -np 2 "$BIN/deathjob" 1'

cat >first.c <<-END
	#include <mpi.h>
	#include <stdlib.h>
	#include <unistd.h>
	int main(int argc, char **argv)
	{
		int rank;
		MPI_Init(&argc, &argv);
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
		if (rank == 2)
			exit(5);
		sleep(60);
		MPI_Finalize();
		return 0;
	}
END
mpicc_traced openmpi "$BIN/first" first.c
test_expect "the summary names the first that ended, not those that the launcher ended then" '
	rm -rf out && mkdir out
	status_of 5 traced -q -o out -- $(mpirun_of openmpi) --oversubscribe -np 4 "$BIN/first"
	awk "/STID/ { exit } { print }" out/first_all.log >above
	grep -q "Rank 2 exited with status 5 at t=[0-9.]* s; ranks 0-1,3 were then ended by" above
	jq -e ".warnings[] | select(startswith(\"Rank 2 exited with status 5\"))" out/first_all.json'

nodes_up 3
NODES_USED=3
test_expect "another run in the same directory is neither announced nor collated nor touched" '
	rm -rf out && mkdir out
	traced -q -o out -k outfile_basename=other -- $(mpirun_of openmpi) -np 1 "$BIN/deathjob"
	cp out/other_all.log before
	rm out/other_all.json
	touch -d "1 hour" out/other_*
	traced -o out -- $(nodes_mpirun 1) -np 3 "$BIN/deathjob" 2>said
	is 1 "$(grep -c "profile: " said)" "$(cat said)"
	has said "out/deathjob_all.log"
	cmp out/other_all.log before
	[ ! -e out/other_all.json ]
	is 3 "$(for f in out/*.vfp; do od -An -t x8 -j 40 -N 8 $f; done | sort | uniq -c |
		awk "\$2 == \"$(jq -r .run out/deathjob_all.json)\" { print \$1 }")"'

test_expect "vftr collate says so where the files of one name are of several runs" '
	rm -rf out && mkdir out
	for node in node1 node2; do
		nodes_run $node "$AGENT" -q -o "$PWD/out" -k outfile_basename=same -- \
			$(mpirun_of openmpi) -np 1 "$BIN/deathjob"
	done
	"$VFTR" collate out 2>said
	is 1 "$(grep -c "of 2 runs" said)" "$(cat said)"
	has out/same_all.log "of 2 runs"
	is null "$(jq .run out/same_all.json)"
	rm out/same_node2.vfp
	"$VFTR" collate out 2>said
	hasnt said runs'

test_expect "3 nodes, $DEATHS_NODES times: agents, couriers, their mpirun, front, ranks" '
	rounds $DEATHS_NODES "agent courier launcher front rank" $(nodes_mpirun 2) \
		-x VFTR_TEST_DIR -np 6 "$BIN/deathjob" 1'

done_testing
