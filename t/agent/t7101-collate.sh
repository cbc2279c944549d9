#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='agents collate over MPI: all present, late, dead, silent'
. "$(dirname "$0")/../lib/lib.sh"

mpis=$(mpi_list)
[ -n "$mpis" ] || skip_all 'no MPI on this machine'
need_built "$BUILD/core.a"

app=$BIN/app-collate
${TEST_CC} -std=gnu11 -D_GNU_SOURCE $TEST_FLAGS $CFLAGS $SANITIZE -I"$TOP" -o "$app" "$T/agent/app-collate.c" \
	"$BUILD/core.a" $AGENT_LIBS || {
	echo 'Bail out! app-collate does not compile'
	exit 1
}

# agents MPI N DEADLINE [OPTION...]: output in ./log; node profiles in ./out
agents() {
	mpi=$1 n=$2 deadline=$3
	shift 3
	rm -rf out
	mkdir out
	limit $(mpirun_of "$mpi") -np "$n" "$app" "$LIB/vftr" out "$deadline" "$@" >log 2>&1
}

# All agents that answered know the ids of their call paths, and each path has one id.
same_ids() {
	is "$1" "$(grep -c '^agent [0-9]*:' log)" 'agents that answered' &&
		is "$1" "$(grep -c '^agent [0-9]*:.* \([1-9][0-9]*\) numbers of \1,' log)" 'that know their ids' &&
		is "$1" "$(ls out/ids.* | wc -l)" 'that have written them' &&
		sort -u out/ids.* >ids &&
		is "$(wc -l <ids)" "$(cut -d ' ' -f 1 ids | sort -u | wc -l)" 'ids' &&
		is "$(wc -l <ids)" "$(cut -d ' ' -f 2 ids | sort -u | wc -l)" 'call paths'
}

# by_turns SENTENCE CODE: in the short form with every other MPI, and the next such row with the others
number=0
by_turns() {
	row=$((row + 1))
	case $VFTR_LONG:$mpis in
	:*openmpi*mpich*) [ $(((row + number) % 2)) = 0 ] || return 0 ;;
	esac
	test_expect "$@"
}

for mpi in $mpis; do
	number=$((number + 1)) row=0
	for n in 3 5; do
		by_turns "$mpi, $n agents: the summary equals that from files" '
			agents $mpi $n 20 shield
			same_ids $n
			has log "agents: $n"
			has log "missing agents: 0"
			has log "same as files: yes"
			has log "valid: yes"
			hasnt log "within more"
		'
	done

	by_turns "$mpi: MPI inside the agents, without proxies, gives the same" '
		agents $mpi 3 20
		same_ids 3
		has log "same as files: yes"
	'

	by_turns "$mpi: a killed agent costs its data only, and no time" '
		agents $mpi 5 30 shield killed=3
		has log "ended by signal 9"
		same_ids 4
		has log "missing: node1"
		has log "missing agents: 1"
		has log "valid: yes"
		is 4 "$(grep -c "within a fifth of the deadline" log)" "agents that did not wait"
	'

	by_turns "$mpi: a killed agent at the edge of the tree" '
		agents $mpi 5 30 shield killed=2
		same_ids 4
		has log "missing agents: 1"
		is 4 "$(grep -c "within a fifth of the deadline" log)" "agents that did not wait"
	'

	by_turns "$mpi: an agent that never answers is given up at the deadline" '
		agents $mpi 3 3 shield silent=1 || true
		same_ids 2
		has log "missing: node1"
		has log "missing agents: 1"
		hasnt log "within more"
	'

	by_turns "$mpi: an agent in the middle that never answers does not cost those below it" '
		agents $mpi 5 3 shield silent=3 || true
		same_ids 4
		has log "missing: node1"
		has log "missing agents: 1"
	'

	by_turns "$mpi: an agent that comes late is waited for" '
		agents $mpi 3 6 shield late=2:1.5
		same_ids 3
		has log "missing agents: 0"
		has log "same as files: yes"
	'

	by_turns "$mpi: when agent 0 is killed, the others write their node profiles" '
		agents $mpi 3 2 shield killed=0 || true
		wait_for 10 "test -e out/app_node0.vfp && test -e out/app_node1.vfp" ||
			has log "collate_start: Connection reset"
	'

	by_turns "$mpi: when a proxy is killed, all agents live on" '
		agents $mpi 3 2 shield proxy=1 || true
		wait_for 10 "test -e out/app_node0.vfp && test -e out/app_node1.vfp &&
			test -e out/app_node2.vfp"
	'
done
done_testing
