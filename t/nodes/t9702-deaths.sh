#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# One process of a job or of vftr is killed or stopped at a random instant.
test_description='deaths at random instants: the status of the job, a summary, nothing left'
[ -z "$VFTR_LONG" ] || : "${TEST_SECONDS:=3500}" "${TEST_COMMAND_SECONDS:=500}"
. "$(dirname "$0")/../lib/lib.sh"
need mpirun.openmpi jq
need_built "$AGENT" "$LIB/libvftrace-openmpi.so" "$LIB/vftr/peer-openmpi.so"

: "${DEATHS_NODES:=${VFTR_LONG:+300}}" "${DEATHS_ONE:=${VFTR_LONG:+300}}" "${DEATHS_SEED:=$$}"
: "${DEATHS_NODES:=2}" "${DEATHS_ONE:=2}" "${DEATHS_LANES:=${VFTR_LONG:+4}}"
: "${DEATHS_LANES:=2}" # so many at a time, which load each other
: "${DEATHS_LOG:=}"    # a line for each, there
echo "# DEATHS_SEED=$DEATHS_SEED"

mpicc_traced openmpi "$BIN/deathjob" "$T/session/app-job.c"

# those of ours that belong to the run of the supervisor $job: "PID what", one a line
parts() {
	local p parent
	for p in $(pgrep -f -- "--session run-[^ ]*-$job( |\$)"); do
		[ "/proc/$p/exe" -ef "$AGENT" ] || continue
		parent=$(ps -o ppid= -p "$p" | tr -d " ")
		if [ "/proc/$parent/exe" -ef "$AGENT" ]; then
			echo "$p agent"
		else
			echo "$p proxy"
		fi
	done
	for p in $(pgrep -P "$job" -x vftr-agent); do
		echo "$p front"
		for p in $(pgrep -P "$p" mpirun); do echo "$p launcher"; done
	done
	for p in $(pgrep -x deathjob); do
		grep -qzxF "DEATHS_LANE=$DEATHS_LANE" "/proc/$p/environ" 2>/dev/null && echo "$p rank"
	done
}

# what must be gone when the job has ended, also launchers and their daemons
left() {
	parts
	pgrep -f -- "orte_tmpdir_base $lane_tmp( |\$)"
}

# stops PID; not if it has ended, and is only not waited for
stops() {
	kill -STOP "$1" || return 1
	until grep -q "^State:.T" "/proc/$1/status"; do
		grep -q "^State:.[^XZ]" "/proc/$1/status" || return 1
	done
}

# One of a kind (agent proxy launcher front rank) gets a signal, as soon as there is one
hit() {
	local victim
	until victim=$(parts | awk -v what="$1" '$2 == what { print $1 }' | shuf -n 1) &&
		[ -n "$victim" ] && stops "$victim"; do
		[ -d "/proc/$job" ] && sleep 0.05 || return 1
	done 2>/dev/null
	[ "$2" = STOP ] || kill -"$2" "$victim" || return 1
	echo "$2 to $1 $victim"
	# who stops a rank continues it: the job would wait for it untraced, too
	[ "$1 $2" != "rank STOP" ] || (sleep 0.7; kill -CONT "$victim")
}

# starts COMMAND..., until the supervisor has started it: before, who dies is said, and it
# is not run
start() {
	rm -rf out && mkdir out
	"$AGENT" -k agent.deadline_s=5 -o out -- "$@" >stdout 2>said &
	job=$!
	wait_for 60 "pgrep -P $job mpirun || [ ! -d /proc/$job ]"
}

# "PROCESSES LOST MISSING-AGENTS CALLS-OF-COMMON" of the summary
all_of() {
	jq -r "[.ranks, .lost_processes, ([.agents[]? | select(.missing)] | length),
		([.stacks[] | select(.path == \"common<main<init\") | .calls] | add // 0)] | join(\" \")" out/*_all.json
}

# Whoever was not hit is in the summary to the call: rank r calls common() 100 + r times. One
# agent at most is missing, with two ranks; processes that gave up waiting are counted.
exact() {
	local ranks lost missing calls n=$((2 * NODES_USED))
	read -r ranks lost missing calls <<<"$(all_of)"
	is $n "$ranks" ranks || return 1
	[ "$lost" = 0 ] || return 0
	case $missing in
	0) is $((100 * n + n * (n - 1) / 2)) "$calls" "calls" ;;
	1) [ "$calls" -ge $((100 * (n - 2) + (n - 2) * (n - 3) / 2)) ] || ! echo "$calls calls of the others" ;;
	*) ! echo "$missing agents are missing" ;;
	esac
}

# round KINDS COMMAND...: starts it, hits one, and looks at what becomes of it; 2 if all was
# over before
round() {
	local kinds=$1 status=0 what signal wanted=0 t said at
	shift
	read -ra kinds <<<"$kinds"
	what=${kinds[RANDOM % ${#kinds[@]}]}
	signal=KILL
	[ $((RANDOM % 3)) -gt 0 ] || signal=STOP
	start "$@"
	at=$((RANDOM % span_ms))
	sleep "$(printf '%d.%03d' $((at / 1000)) $((at % 1000)))"
	hit "$what" $signal >hit || { wait $job || :; return 2; }
	t=$SECONDS
	timeout 90 tail --pid=$job -f /dev/null || { echo "still running: $(cat hit) at $at ms"; ps -ef | grep "$job\|$DEATHS_LANE\|$lane_tmp\|deathjob"; return 1; }
	wait $job || status=$?
	grep -q "KILL to rank" hit && wanted=137
	said="$(cat hit) at $at ms, after $((SECONDS - t)) s: status $status; $(grep "^vftr-node-agent:" said | tail -n 3)"
	is $wanted $status "status: $said" || return 1
	if [ -n "$DEATHS_LOG" ]; then
		said="$said; all: $(all_of 2>/dev/null)"
		echo "$said" | paste -s -d "|" >>"$DEATHS_LOG"
	fi
	# on one node all of it is in the agent
	if grep -q "KILL to front" hit && [ "$NODES_USED" = 1 ]; then
		grep -q "ended the agent: there is no profile" said && return 0
	fi
	[ -s out/deathjob_all.json ] || [ -s out/mpirun_all.json ] || ! echo "no summary: $said" || return 1
	# the launcher ends the others when a rank is killed, before they call anything even
	grep -q "KILL to rank" hit || exact || ! echo "not exact: $said" || return 1
	# nothing stays behind for long
	wait_for 15 '[ -z "$(left)" ]' || { echo "left: $(left | tr "\n" " "): $said"; return 1; }
}

# lane NUMBER N KINDS COMMAND...: N of them one after the other
lane() {
	local n=$2 i=0 tries=0 status
	export DEATHS_LANE="$NODES_USED.$1.$$"
	RANDOM=$((DEATHS_SEED + $1))
	mkdir "lane$1" && cd "lane$1" || return 1
	lane_tmp=$(mktemp -d "$VFTR_TEST_DIR/ompi.XXXXXX")
	shift 2
	# its own directory of Open MPI: by that its launchers and daemons are known
	set -- "${@//ORTE_TMP/"$lane_tmp"}" -x DEATHS_LANE -np $((2 * NODES_USED)) "$BIN/deathjob" 1
	start "${@:2}"
	local began=$(date +%s%3N)
	wait $job || { cat said; return 1; }
	span_ms=$((($(date +%s%3N) - began) * 11 / 10))
	echo "an undisturbed run: $span_ms ms"
	while [ $i -lt "$n" ] && [ $tries -lt $((3 * n + 10)) ]; do
		status=0
		round "$@" || status=$?
		tries=$((tries + 1))
		# one try of six or so may come too late: a busy machine is slower, then faster
		case $status in
		2) span_ms=$((span_ms * 9 / 10 + 100)) ;;
		*) i=$((i + 1)) span_ms=$((span_ms * 51 / 50)) ;;
		esac
		[ $status != 0 ] || echo "good"
		[ $status != 1 ] || { echo "bad"; cat said; cp -r out "bad.$i"; }
		sleep 0.1
	done >verdict 2>&1
}

# rounds N KINDS COMMAND...: N of them in all lanes together
rounds() {
	local n=$1 i lanes=() good
	shift
	rm -rf lane*
	for ((i = 0; i < DEATHS_LANES; i++)); do
		lane $i $(((n + i) / DEATHS_LANES)) "$@" >lane-$i 2>&1 &
		lanes+=($!)
	done
	wait "${lanes[@]}" || :
	good=$(cat lane*/verdict | grep -cx good) || :
	[ "$good" = "$n" ] || cat lane-* lane*/verdict | grep -vx good
	is "$n" "$good" "good ones"
}

NODES_USED=1
test_expect "one node, $DEATHS_ONE times: agent or rank" '
	rounds $DEATHS_ONE "front rank" $(mpirun_of openmpi) --mca orte_tmpdir_base ORTE_TMP'

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
		touch -d "1 hour" out/same_* # else a run that begins in a later second takes them for older
	done
	"$VFTR" collate out 2>said
	is 1 "$(grep -c "of 2 runs" said)" "$(cat said)"
	has out/same_all.log "of 2 runs"
	is null "$(jq .run out/same_all.json)"
	rm out/same_node2.vfp
	"$VFTR" collate out 2>said
	hasnt said runs'

test_expect "3 nodes, $DEATHS_NODES times: agents, proxies, their mpirun, front, ranks" '
	rounds $DEATHS_NODES "agent proxy launcher front rank" \
		$(nodes_mpirun 2 | sed "s/\\(orte_tmpdir_base\\) [^ ]*/\\1 ORTE_TMP/")'

done_testing
