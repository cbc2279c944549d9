#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Two (pseudo-)nodes of two ranks each, which do unequal work: load balance in and between nodes,
# and a window on the clock of both, against the clock that the program prints.
test_description='the efficiency of a job on several nodes'
. "$(dirname "$0")/../lib/lib.sh"
need mpirun.openmpi mpicc.openmpi jq
need_built "$AGENT" "$VFTR" "$LIB/libvftrace-openmpi.so" "$LIB/vftr/peer-openmpi.so"
nodes_up 2
. "$T/lib/clocks.sh"
. "$T/lib/efficiency.sh"
mpicc_traced openmpi "$BIN/efficiency" "$T/mpi/program/app-efficiency.c" ||
	{ echo "Bail out! app-efficiency.c does not build"; exit 1; }

# balances OUT: in nodes, and between nodes, of ranks 0 and 1, and of 2 and 3, by the stamps
balances() {
	awk '$1 == "stamps" {
		useful = $4 - $3 - $5
		if (useful > most) most = useful
		node[$2 >= 2] += useful / 2
	}
	END {
		n = node[0] > node[1] ? node[0] : node[1]
		print n / most, (node[0] + node[1]) / 2 / n
	}' "$1"
}

# efficiency FOLDER IN BETWEEN MS...: a run with the balances that this work has, and its output in out;
# with more work where the delays of a busy machine have changed them, or most of the run was its start
efficiency() {
	to=$1 in=$2 between=$3
	shift 3
	for times in 1 4 16; do
		rm -rf "$to"
		limit "$VFTR" run -q -o "$to" -- $(nodes_mpirun 2) -np 4 "$BIN/efficiency" 10 \
			$(for ms; do echo $((ms * times)); done) >out
		if balances out | awk -v in_nodes="$in" -v between="$between" '{
			print
			exit !(($1 - in_nodes) ^ 2 < 0.0025 && ($2 - between) ^ 2 < 0.0025) }' &&
			jq -e ".efficiency.window_s > 0.4 * .runtime_s" "$to/profile.json"; then
			break
		fi
	done
}

# by_nodes OUT JSON: the balances are those of the stamps
by_nodes() {
	set -- "$2" $(balances "$1")
	[ $# = 3 ] && close "$2" "$(jq .efficiency.load_balance_in_nodes "$1")" &&
		close "$3" "$(jq .efficiency.load_balance_between_nodes "$1")" &&
		is "node1 node1 node2 node2" "$(jq -r '[.per_rank[].node] | join(" ")' "$1")"
}

test_expect 'factors in nodes and between them are those of the stamps' '
	efficiency between 0.875 0.714 10 20 30 40
	right out between/profile.json
	by_nodes out between/profile.json
	is "[]" "$(jq -c .efficiency.estimated between/profile.json)"
	jq -e ".efficiency.window_error_s > 0 and .efficiency.window_error_s < 0.02" between/profile.json
	has between/summary.log "|     in nodes "
	has between/summary.log "|     between nodes "'

test_expect 'the rank with the most work is the same on another node: in nodes gets worse' '
	efficiency within 0.625 1 10 40 20 30
	right out within/profile.json
	by_nodes out within/profile.json
	jq -e --slurpfile between between/profile.json ".efficiency.load_balance_in_nodes <
		\$between[0].efficiency.load_balance_in_nodes - 0.1" within/profile.json'

test_expect 'the node whose ranks work most is a finding, and so is the rank; what they cost is apart' '
	jq -c .findings between/profile.json
	"$VFTR" findings between
	jq -e ".efficiency as \$e | .findings | map(select(.rule == \"node_balance\")) | length == 1 and
		.[0].evidence.node == \"node2\" and
		(.[0].seconds / (4 * \$e.useful_max_s * \$e.load_balance_in_nodes * (1 - \$e.load_balance_between_nodes)) - 1 | fabs) < 1e-3" between/profile.json
	jq -e ".efficiency as \$e | .findings | map(select(.rule == \"load_balance\")) | length == 1 and
		.[0].evidence.rank == 1 and .[0].evidence.node == \"node1\" and
		(.[0].seconds / (4 * \$e.useful_max_s * (1 - \$e.load_balance_in_nodes)) - 1 | fabs) < 1e-3" within/profile.json'

test_expect 'vftr efficiency of the folders: the same numbers, node by node' '
	"$VFTR" efficiency within between >text
	has text "|       between nodes "
	"$VFTR" efficiency --json within between >both.json
	for key in parallel load_balance_in_nodes load_balance_between_nodes window_s; do
		is "$(jq ".efficiency.$key" between/profile.json)" "$(jq ".runs[1].$key" both.json)" $key
	done'

test_expect 'a node whose file is missing: its ranks are, and that is said' '
	mkdir part
	cp within/node1.vfp part
	"$VFTR" efficiency --json part >part.json
	is "2 missing_ranks" "$(jq -r ".runs[0] | \"\(.ranks) \(.estimated | join(\" \"))\"" part.json)"
	"$VFTR" efficiency part >text
	has text "estimated: the data of 2 ranks are missing"'

# Clocks of the nodes are an hour apart: what was compared tells one from the other.
echo 0,0,0 >clock.node1
echo 3600,20,0 >clock.node2
test_expect 'the window of nodes whose clocks are an hour apart' '
	mkdir apart
	agents_up apart --expect 2
	VFTR_SESSION=apart limit $(nodes_mpirun 2) -np 4 -x VFTR_SESSION -x VFTR_RUNTIME_DIR \
		"$BIN/efficiency" 10 10 20 30 40 >out
	wait $agents
	right out apart/efficiency_all.json
	by_nodes out apart/efficiency_all.json
	is "[]" "$(jq -c .efficiency.estimated apart/efficiency_all.json)"'
done_testing
