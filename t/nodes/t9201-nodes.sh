#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Jobs on several (pseudo-)nodes: one agent each, one summary.
test_description='several nodes: agents collate over MPI'
. "$(dirname "$0")/../lib/lib.sh"
need mpirun.openmpi jq
need_built "$AGENT" "$LIB/libvftrace-openmpi.so" "$LIB/vftr/peer-openmpi.so"
nodes_up 3
times=${VFTR_LONG:+20} times=${times:-1}
pairs=${VFTR_LONG:+5} pairs=${pairs:-1}
export times pairs

mpicc_traced openmpi "$BIN/job" "$T/session/app-job.c"

# at_work FOLDER: its six ranks, which have done their first calls there
at_work() {
	wait_for 30 "[ \$(ls $1 | grep -c \"^[0-5]\$\") = 6 ]"
}
mpicc_traced openmpi "$BIN/other" "$T/session/app-job.c"

# calls of app-job with N ranks: right_calls JSON N
right_calls() {
	n=$2
	is $((100 * n + n * (n - 1) / 2)) "$(calls_of "$1" 'common<main<init')" "calls of common" &&
		is $((n / 2 * 7)) "$(calls_of "$1" 'odd<main<init')" "calls of odd" &&
		is $((n / 2 * 7)) "$(calls_of "$1" 'common<odd<main<init')" "calls of common<odd" &&
		is $((n / 2 * 14)) "$(calls_of "$1" 'leaf<common<odd<main<init')" "calls of leaf" &&
		is 1 "$(calls_of "$1" 'last<main<init')" "calls of last" &&
		is $((10 * n)) "$(calls_of "$1" 'MPI_Allreduce<main<init')" "calls of MPI_Allreduce"
}

test_expect "3 nodes x 2 ranks, $times times in a row: one right summary each" '
	for i in $(seq $times); do
		rm -rf out && mkdir out
		traced -q -o out -- $(nodes_mpirun 2) -np 6 "$BIN/job" >stdout
		is "6 ranks" "$(grep ranks stdout)"
		right_calls out/job_all.json 6
		is "6 3 0" "$(json out/job_all.json "\"\\(.ranks) \\(.nodes) \\(.dead_ranks | length)\"")"
		is "1" "$(ls out | grep -c "_all.json")"
		is "3" "$(ls out | grep -c "_node_.*log")"
	done'

# beside NAME SLOTS: agents beside a job of 2 * SLOTS ranks on two nodes, in the folder both
beside() {
	limit $(nodes_mpirun 1 node1 node2) -x VFTR_RUNTIME_DIR -x VFTR_SESSION="$1" -np 2 "$AGENT" -q -o both &
	for node in node1 node2; do
		wait_for 20 "nodes_run $node test -S $VFTR_RUNTIME_DIR/$1.sock"
	done
	limit $(nodes_mpirun "$2" node1 node2) -x VFTR_RUNTIME_DIR -x VFTR_SESSION="$1" -x VFTR_AGENT=off \
		-np $((2 * $2)) "$BIN/job"
	wait
}

test_expect "two jobs of one program at once in one folder, $pairs times: two complete results each" '
	for i in $(seq $pairs); do
		rm -rf both && mkdir both
		beside one$i 1 >one.out & beside two$i 2 >two.out & wait
		is "2 ranks 4 ranks" "$(grep -h ranks one.out two.out | xargs)"
		is "2 4" "$(jq .ranks both/job_all.json* | sort -n | xargs)"
		for f in both/job_all.json*; do
			right_calls $f "$(jq .ranks $f)"
			# the node profiles of this run, whatever their .old is, give its summary
			rm -rf set && mkdir set
			for one in both/*.vfp*; do
				[ "$(od -An -tx8 -j40 -N8 $one | tr -d " ")" != "$(json $f .run)" ] ||
					cp $one set/$(basename ${one%.old*})
			done
			is 2 "$(ls set | wc -l)" "profiles of the run"
			"$VFTR" collate set
			cmp $f set/job_all.json
		done
		is 12 "$(ls both | wc -l)" files
	done'

# they look at the folder every 5 s at the least
test_expect 'agents whose job begins later do not take the results of other jobs beside them' '
	mkdir later
	limit $(nodes_mpirun 1 node1 node2) -x VFTR_RUNTIME_DIR -x VFTR_SESSION=later -np 2 "$AGENT" -q -o later &
	for node in node1 node2; do
		wait_for 20 "nodes_run $node test -S $VFTR_RUNTIME_DIR/later.sock"
	done
	rm -rf both
	ln -s later both
	for job in soon sooner soonest; do
		(beside $job 1)
	done
	limit $(nodes_mpirun 2 node1 node2) -x VFTR_RUNTIME_DIR -x VFTR_SESSION=later -x VFTR_AGENT=off -np 4 "$BIN/job"
	wait
	is "2 2 2 4" "$(jq .ranks later/job_all.json* | sort -n | xargs)"'

test_expect 'imbalance: the rank with the most exclusive time is right across nodes' '
	json out/job_all.json ".stacks[] | select(.path == \"last<main<init\") |
		\"\\(.ranks) \\(.rank_min) \\(.rank_max)\"" >got
	is "1 5 5" "$(cat got)"'

for where in "1 8" ${VFTR_LONG:+"2 8"} "3 6"; do
	set -- $where
	nodes=$(seq -f node%g "$1" | tr "\n" " ")
	languages=c
	[ "$1" != 3 ] && [ -z "$VFTR_LONG" ] || languages='c f90'
	for language in $languages; do
		test_expect "calls per path equal the program's own counts: $language, $1 nodes, $2 ranks" "
			rm -rf count && mkdir count
			case $language in
			c) mpicc_traced openmpi $BIN/mcount $T/mpi/program/app-mpi-count.c ;;
			f90) mpifc_traced openmpi $BIN/mcount $T/mpi/program/app-mpi-count.f90 ;;
			esac
			traced -q -o count -- \$(nodes_mpirun $(($2 / $1)) $nodes) -np $2 $BIN/mcount \$PWD/count/rank
			cat count/rank* >counts
			same_calls counts count/mcount_all.json"
	done
done

test_expect 'an unknown key in the file: with --lenient all agents go on, without nobody starts' '
	mkdir lenient
	echo "{ \"of\": true }" >of.json
	status_of 125 traced -c of.json -o lenient -- $(nodes_mpirun 2) -np 6 "$BIN/job" >stdout 2>err
	has err "of.json:1: \"of\" is not a valid vftrace option; did you mean \"off\"?"
	[ ! -s stdout ]
	traced --lenient -q -c of.json -o lenient -- $(nodes_mpirun 2) -np 6 "$BIN/job" >stdout 2>err
	right_calls lenient/job_all.json 6'

test_expect 'vftr collate of the node profiles gives the identical summary' '
	mkdir again
	"$VFTR" collate -o again out
	cmp out/job_all.json again/job_all.json
	for d in out again; do
		sed "/^Vftrace .*configuration/,\$d" $d/job_all.log >$d.log
	done
	cmp out.log again.log'

test_expect 'ranks with different programs (MPMD)' '
	mkdir mpmd
	traced -q -o mpmd -- $(nodes_mpirun 2) -np 4 "$BIN/job" : -np 2 "$BIN/other"
	ls mpmd
	right_calls mpmd/*_all.json 6
	is 6 "$(json mpmd/*_all.json .ranks)"
	is 1 "$(ls mpmd | grep -c "_all.json")"
	is "job_node1.vfp job_node2.vfp job_node3.vfp" "$(cd mpmd && echo *.vfp)"'

test_expect 'a node that hosts no rank, and a launcher behind others' '
	mkdir empty
	traced -q -o empty -- env EMPTY=1 timeout 300 $(nodes_mpirun 2) -np 4 "$BIN/job"
	right_calls empty/job_all.json 4
	is 2 "$(ls empty | grep -c "\.vfp$")" nodes
	is 4 "$(json empty/job_all.json .ranks)"'

test_expect 'sidecar form: agents alongside, started first' '
	mkdir side
	limit $(nodes_mpirun 1) --map-by ppr:1:node -x VFTR_RUNTIME_DIR -x VFTR_SESSION=side "$AGENT" -q -o "$PWD/side" &
	wait_for 20 "nodes_run node1 test -S $VFTR_RUNTIME_DIR/side.sock"
	wait_for 20 "nodes_run node2 test -S $VFTR_RUNTIME_DIR/side.sock"
	wait_for 20 "nodes_run node3 test -S $VFTR_RUNTIME_DIR/side.sock"
	limit $(nodes_mpirun 2) -x VFTR_RUNTIME_DIR -x VFTR_SESSION=side -np 6 "$BIN/job"
	wait
	right_calls side/job_all.json 6'

# Their launcher is there already as the job begins: agents look back for 5 s.
test_expect 'sidecar form, but the job was first and started agents of its own' '
	mkdir late
	cd late
	exec 9>gate
	flock 9
	(exec 9>&- &&
		limit $(nodes_mpirun 1) --map-by ppr:1:node -x VFTR_RUNTIME_DIR ${ASAN_OPTIONS:+-x ASAN_OPTIONS} \
			${LSAN_OPTIONS:+-x LSAN_OPTIONS} flock -s "$PWD/gate" "$AGENT" -q) &
	for node in node1 node2 node3; do
		wait_for 30 "nodes_run $node pgrep -x flock"
	done
	(exec 9>&- && limit $(nodes_mpirun 2) -x VFTR_RUNTIME_DIR -np 6 "$BIN/job" 100 0 "$PWD") &
	at_work .
	exec 9>&-
	for node in node1 node2 node3; do
		wait_for 30 "nodes_run $node test -S $VFTR_RUNTIME_DIR/default.sock"
	done
	touch end
	wait
	right_calls job_all.json 6
	is 3 "$(json job_all.json .nodes)"'

test_expect 'sidecar form, and the job was over before the agents looked' '
	mkdir over
	cd over
	limit $(nodes_mpirun 1) --map-by ppr:1:node -x VFTR_RUNTIME_DIR -x VFTR_SESSION=other "$AGENT" -q &
	wait_for 20 "nodes_run node1 test -S $VFTR_RUNTIME_DIR/other.sock"
	wait_for 20 "nodes_run node2 test -S $VFTR_RUNTIME_DIR/other.sock"
	wait_for 20 "nodes_run node3 test -S $VFTR_RUNTIME_DIR/other.sock"
	limit $(nodes_mpirun 2) -x VFTR_RUNTIME_DIR -np 6 "$BIN/job"
	wait
	right_calls job_all.json 6'

test_expect 'embedded default: an agent per node by itself, then vftr collate' '
	mkdir alone
	( cd alone && limit $(nodes_mpirun 2) -x VFTR_RUNTIME_DIR -np 6 "$BIN/job" )
	wait_for 20 "test \$(ls alone/*.vfp | wc -l) = 3"
	"$VFTR" collate alone
	right_calls alone/job_all.json 6'

test_expect 'kill -9 of an agent: the job ends as it should, the others are in the summary' '
	mkdir killed
	traced -q -o killed -k agent.deadline_s=4 -- $(nodes_mpirun 2) -np 6 "$BIN/job" 3 7 $PWD/killed >stdout &
	pid=$!
	at_work killed
	nodes_run node2 pkill -9 -f -- --sibling
	status_of 7 wait $pid
	is "6 ranks" "$(grep ranks stdout)"
	json killed/job_all.json ".agents[] | \"\\(.host) \\(.missing)\"" >agents
	has agents "node1 false"
	has agents "node2 true"
	has agents "node3 false"
	is 410 "$(calls_of killed/job_all.json "common<main<init")" # ranks 0, 1, 4, 5
	has killed/job_all.log node2'

test_expect 'sidecar form: an agent is killed, the others finish with the job' '
	mkdir sidekill
	limit $(nodes_mpirun 1) --map-by ppr:1:node -x VFTR_RUNTIME_DIR -x VFTR_SESSION=sidekill \
		"$AGENT" -q -o "$PWD/sidekill" -k agent.deadline_s=4 2>agents.err &
	agents=$!
	wait_for 20 "nodes_run node1 test -S $VFTR_RUNTIME_DIR/sidekill.sock"
	wait_for 20 "nodes_run node2 test -S $VFTR_RUNTIME_DIR/sidekill.sock"
	wait_for 20 "nodes_run node3 test -S $VFTR_RUNTIME_DIR/sidekill.sock"
	limit $(nodes_mpirun 2) -x VFTR_RUNTIME_DIR -x VFTR_SESSION=sidekill -np 6 "$BIN/job" 4 0 "$PWD/sidekill" &
	job=$!
	at_work sidekill
	nodes_run node3 sh -c "kill -9 \$(head -n 1 $VFTR_RUNTIME_DIR/sidekill.lock)"
	status_of 0 wait $job
	wait $agents || true
	is 406 "$(calls_of sidekill/job_all.json "common<main<init")"
	has sidekill/job_all.log node3'

test_expect 'the same, and it had a copy, which has written a node profile: vftr collate adds that' '
	mkdir copykill
	limit $(nodes_mpirun 1) --map-by ppr:1:node -x VFTR_RUNTIME_DIR -x VFTR_SESSION=copykill \
		"$AGENT" -q -o "$PWD/copykill" -k agent.deadline_s=4 -k agent.standby_s=0.5 2>agents.err &
	agents=$!
	for node in node1 node2 node3; do
		wait_for 20 "nodes_run $node test -S $VFTR_RUNTIME_DIR/copykill.sock"
	done
	limit $(nodes_mpirun 2) -x VFTR_RUNTIME_DIR -x VFTR_SESSION=copykill -np 6 "$BIN/job" 4 0 "$PWD/copykill" &
	job=$!
	at_work copykill
	nodes_run node3 sh -c "head -n 1 $VFTR_RUNTIME_DIR/copykill.lock" >agent
	wait_for 20 "nodes_run node3 pgrep -P $(cat agent) -x vftr-standby >first"
	wait_for 20 "nodes_run node3 pgrep -P $(cat agent) -x vftr-standby >next && ! cmp -s first next" # made after all were at work
	nodes_run node3 kill -9 $(cat agent)
	status_of 0 wait $job
	wait $agents || true
	cat agents.err
	grep "the agent died: its results end at" agents.err
	is 406 "$(calls_of copykill/job_all.json "common<main<init")"
	"$VFTR" collate copykill
	ls copykill
	is 6 "$(json copykill/job_all.json .ranks)"
	is 615 "$(calls_of copykill/job_all.json "common<main<init")"
	has copykill/job_all.log "the agent died"'

test_expect 'kill -9 of a rank: everybody else is complete, the dead rank is named' '
	mkdir rank
	traced -q -o rank -- $(nodes_mpirun 2) -np 6 "$BIN/job" 60 0 $PWD/rank >stdout 2>&1 &
	pid=$!
	at_work rank
	nodes_run node2 sh -c "kill -9 \$(pgrep -x job | head -n 1)"
	status_of 137 wait $pid
	is 615 "$(calls_of rank/job_all.json "common<main<init")"
	json rank/job_all.json ".dead[] | select(.signal == 9) | .rank" >dead
	grep -q "[23]" dead'

test_if 'command -v mpicc.mpich && command -v mpiexec.hydra' 'no MPICH' \
	'agents under Open MPI, application under MPICH (one host)' '
	mkdir mixed
	mpicc_traced mpich "$BIN/mpich-job" "$T/session/app-job.c"
	limit mpirun.openmpi --oversubscribe -np 1 -x VFTR_SESSION=mixed "$AGENT" -q -o "$PWD/mixed" &
	wait_for 20 "test -S $VFTR_RUNTIME_DIR/mixed.sock"
	VFTR_SESSION=mixed limit $(mpirun_of mpich) -np 4 "$BIN/mpich-job"
	wait
	right_calls mixed/mpich-job_all.json 4'

bridge=$(ip -o -4 route get "$(awk "/node1/ { print \$1; exit }" "$NODES/hosts")" |
	sed "s/.* dev \([^ ]*\).*/\1/")
test_if 'timeout $(patient 25) mpiexec.hydra -launcher ssh -launcher-exec "$NODES/rsh" -iface "$bridge" \
	-hosts node1,node2,node3 -ppn 2 -n 6 true' 'MPICH starts no programs on these nodes' \
	'MPICH across nodes, whether or not it hangs at its end: a complete summary' '
	mkdir hydra
	mpicc_traced mpich "$BIN/mpich-job" "$T/session/app-job.c"
	timeout -k 30 $(($(patient 15) + 45)) "$AGENT" -q -o hydra -k agent.deadline_s=5 --agent-launcher \
		"$(nodes_mpirun 1) --map-by ppr:1:node" -- timeout $(patient 15) "$T/lib/mpiexec.hydra" -launcher ssh \
		-launcher-exec "$NODES/rsh" -iface "$bridge" -hosts node1,node2,node3 -ppn 2 -n 6 \
		"$BIN/mpich-job" || true
	right_calls hydra/mpich-job_all.json 6'

test_if 'sh "$T/lib/nodes.sh" with 1 true || [ $? != 77 ]' 'no namespaces of a user here' \
	'a command with nodes of its own, in a network of its own, which go with it' '
	status_of 3 limit sh "$T/lib/nodes.sh" with 2 sh -c "sh $T/lib/nodes.sh run node2 hostname
		readlink /proc/self/ns/net; echo \$NODES; exit 3" >stdout
	is node2 "$(head -n 1 stdout)"
	[ "$(sed -n 2p stdout)" != "$(readlink /proc/self/ns/net)" ]
	[ ! -e "$(tail -n 1 stdout)" ]'

done_testing
