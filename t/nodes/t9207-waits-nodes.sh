#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Collective calls whose members are on several (pseudo-)nodes with clocks of their own, against
# the times that the program took on the one clock of this machine.
test_description='who waits for whom in collective calls between nodes'
. "$(dirname "$0")/../lib/lib.sh"
need mpirun.openmpi mpicc.openmpi jq
need_built "$AGENT" "$VFTR" "$LIB/libvftrace-openmpi.so" "$LIB/vftr/peer-openmpi.so"
nodes_up 3
. "$T/lib/clocks.sh"
. "$T/lib/waits.sh"
mpicc_traced openmpi "$BIN/waits" "$T/mpi/program/app-mpi-waits.c" ||
	{ echo "Bail out! app-mpi-waits.c does not build"; exit 1; }

echo 0,0,0 >clock.node1
echo 3600,50,5 >clock.node2
echo 3.25,-50,0 >clock.node3

# run DIR [OPTION OF MPIRUN...]: four ranks, two on each of two nodes; their agents on three
run() {
	dir=$1
	shift
	mkdir "$dir"
	agents_up "$dir"
	limit $(nodes_mpirun 2) --mca mpi_yield_when_idle 1 -x VFTR_RUNTIME_DIR -x VFTR_SESSION="$dir" \
		"$@" -np 4 "$BIN/waits" >"$dir.stamps"
	wait $agents
	of "$dir"
}

# of DIR [JSON]: late, by the stamps; got, by the profile; of communicators with one group
of() {
	awk -f "$T/mpi/waits-formulas.awk" "$1.stamps" >wanted
	grep -v " between " late >late_of_one
	waited "${2:-$1/waits_all.json}" | grep -v " between " >got
	awk '{ sum += $5 } END { exit !(sum > 2) }' late_of_one
}

# within JSON: what is printed is right within the printed error, in 5 calls of a scene, and what it takes
# from a stamp to the call
within() {
	error=$(jq '[.clocks[].error_s // 0] | max' "$1")
	jq -e "$error < 0.002" "$1" >/dev/null
	same_late late_of_one got "$(awk "BEGIN { print 10 * $error + 0.003 }")" 0
}

# compared DIR FILTER: of all rows of waits_between_nodes
compared() {
	json "$1/waits_all.json" ".waits_between_nodes | $2"
}

# right NAME [OPTION OF MPIRUN...]: another run if the machine was busy between stamp and call
right() {
	name=$1
	shift
	for try in 1 2 3; do
		run "$name$try" "$@"
		is 0 "$(compared "$name$try" "map(.not_compared) | add")" 'not compared' || return
		is false "$(compared "$name$try" "any(.estimated)")" estimated || return
		within "$name$try/waits_all.json" && mv "$name$try" "$name" && return
	done
	return 1
}

test_expect 'ranks by slot, clocks an hour apart that drift: each wait, for the rank that was late' '
	right slot
	is "node1 node1 node2 node2" "$(json slot/waits_all.json "[.per_rank[].node] | join(\" \")")"
	[ $(compared slot "map(.waited) | add") -gt 200 ]
	jq -e ".waits_between_nodes[0] | .error_s > 0 and .error_s < 0.05 * .waited_s" slot/waits_all.json
	"$VFTR" waits slot >text
	has text "collective calls, error of the clocks at most"
	hasnt text "not compared"
	hasnt text Incomplete
	is "[]" "$(jq -c .waits_incomplete slot/waits_all.json)"'

# in the short form by agents of vftr run, below
test_if '[ -n "$VFTR_LONG" ]' 'only in the long form' 'ranks in turn on three nodes: the same' '
	right turn --map-by node
	is "node1 node2 node3 node1" "$(json turn/waits_all.json "[.per_rank[].node] | join(\" \")")"'

test_expect 'with little memory in each agent: some instances are kept, and what is shown is estimated' '
	VFTR_TEST_KEPT=6000
	export VFTR_TEST_KEPT
	run few --map-by node
	unset VFTR_TEST_KEPT
	compared few "map(select(.estimated) | .one_in)"
	[ $(compared few "map(.one_in) | max") -ge 2 ]
	[ $(compared few "map(.kept) | add") -lt $(compared few "map(.calls) | add") ]
	is 0 "$(compared few "map(.not_compared) | add")" "not compared"
	"$VFTR" waits few >text
	has text "~ estimated: of some communicators one in"
	# waits for those who were late only, which do not last longer than all of them could have
	awk "NR == FNR { wanted[\$1, \$2, \$3, \$4] = \$5; next }
		\$5 > 0.01 && wanted[\$1, \$2, \$3, \$4] < 0.002 { print; bad = 1 }
		END { exit bad || !FNR }" late_of_one got'

test_expect 'an agent is killed: what needs its ranks counts as not compared, but for waits in a node; the rest is right' '
	mkdir killed
	agents_up killed
	limit $(nodes_mpirun 2) --mca mpi_yield_when_idle 1 -x VFTR_RUNTIME_DIR -x VFTR_SESSION=killed \
		--map-by node -np 4 "$BIN/waits" >killed.stamps &
	program=$!
	sleep 2
	nodes_run node3 sh -c "kill -9 \$(head -n 1 $VFTR_RUNTIME_DIR/killed.lock)"
	wait $program
	since=$(date +%s)
	wait $agents
	no_later 45 $since
	of killed
	[ $(compared killed "map(.not_compared) | add") -gt 100 ]
	"$VFTR" waits killed >text
	has text "  not compared: "
	grep -q "^Incomplete, as 1 rank has left no data.*: what these waited is not known\$" text
	is "missing_ranks not_compared" "$(json killed/waits_all.json ".waits_incomplete | join(\" \")")"
	# in an Allreduce on the world nobody knows who was last, but that of the same node
	is "0 3" "$(awk "/^allreduce on_world / { print \$3; print \$4 }" got | sort -u | xargs)"
	grep -q " of them have waited for ranks of their own node, .* at least\$" text
	[ $(compared killed "map(.at_least) | add") -gt 10 ]
	jq -e "[.waits_between_nodes[] | .at_least <= .not_compared] | all" killed/waits_all.json
	# no rank has waited longer than it did; a rank that was not last is of the same node
	awk "NR == FNR { wanted[\$1, \$2, \$3] += \$5; last[\$1, \$2, \$3, \$4] = \$5; next }
		{ sum[\$1, \$2, \$3] += \$5 }
		\$5 > last[\$1, \$2, \$3, \$4] + 0.005 && \$3 + \$4 != 3 { print; bad = 1 }
		END { for (k in sum) if (sum[k] > wanted[k] + 0.005) { print k, sum[k], wanted[k]; bad = 1 }
			exit bad }" late_of_one got'

test_expect 'agents of vftr run, which talk over TCP: the same, and the log of the run says so' '
	for try in 1 2 3; do
		limit "$VFTR" run -q -o tcp$try -- $(nodes_mpirun 2) --mca mpi_yield_when_idle 1 \
			--map-by node -np 4 "$BIN/waits" >tcp$try.stamps
		is 0 "$(json tcp$try/profile.json ".waits_between_nodes | map(.not_compared) | add")"
		is "node1 node2 node3 node1" "$(json tcp$try/profile.json "[.per_rank[].node] | join(\" \")")"
		is false "$(json tcp$try/profile.json ".waits_between_nodes | any(.estimated)")" estimated
		has tcp$try/summary.log "collective calls, error of the clocks at most"
		of tcp$try tcp$try/profile.json
		within tcp$try/profile.json && break
		[ $try != 3 ]
	done'

done_testing
