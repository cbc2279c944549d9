#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Viewers that are on no node of the job: this side of the bridge of the pseudo-nodes, which has
# another runtime directory and no agent.
test_description='vftr top and vftr where from outside of the job, over TCP'
. "$(dirname "$0")/../lib/lib.sh"
need mpirun.openmpi mpicc.openmpi jq ip ss
need_built "$AGENT" "$VFTR" "$LIB/libvftrace.so" "$LIB/libvftrace-openmpi.so"
nodes_up 3
. "$T/lib/live.sh"

address=$(awk '$2 == "node2" { print $1 }' "$NODES/hosts")
HOME=$PWD/home
export HOME
mkdir home outside
(umask 077 && echo fedcba9876543210fedcba9876543210 >other)

# outside COMMAND [OPTION...]: a subcommand that looks from here, with the right secret
port=7001
outside() {
	sub=$1
	shift
	VFTR_RUNTIME_DIR=$PWD/outside timeout -k 5 "$(patient 60)" "$VFTR" $sub --at "$address:$port" --secret "$PWD/secret" "$@"
}

# watch FILE [OPTION...]: in the background, a line in FILE for each view; $viewer
watch() {
	file=$1
	shift
	VFTR_RUNTIME_DIR=$PWD/outside "$VFTR" top --at "$address:7001" --secret "$PWD/secret" -j -d 250ms "$@" >"$file" 2>"$file.err" &
	viewer=$!
}

lines() {
	wc -l <"$1"
}

test_expect 'an agent that is not told to admits none, and both sides say so' '
	start shut node2 --peers node1:7011,node2:7011
	up shut node2
	port=7011
	status_of 1 outside top --once >out 2>err
	has err "viewers from outside are not admitted (agent.remote_viewers)"
	is 1 "$(lines err)"
	grep "refused a connection from .*: viewers from outside are not admitted" shut/node2.err
	nodes_run node2 kill -TERM $(agent_of shut node2)'

three far -k agent.remote_viewers=true
live_job far 2

test_expect 'a view from outside has all nodes and ranks, and names the slow one' '
	wait_for 60 "outside top -1j >view && jq -e \".total.processes == 6 and .per_rank[0].rank == 2\" view"
	jq -e ".complete and .nodes_seen == 3 and .per_rank[0].node == \"node2\"" view'

test_expect 'who lacks the secret is refused by one sentence, and it is not made' '
	for sub in top where; do
		status_of 1 env VFTR_RUNTIME_DIR=$PWD/outside timeout 60 "$VFTR" $sub --at $address:7001 -j >out 2>err
		grep "^vftr: $sub: the agents. secret $HOME/.vftr-secret: No such file or directory" err
		is 1 "$(lines err)"
		status_of 1 env VFTR_RUNTIME_DIR=$PWD/outside timeout 60 "$VFTR" $sub --at $address:7001 --secret other -j >out 2>err
		has err "$sub: cannot look at the job by the agent at $address:7001: it has another secret"
		is 1 "$(lines err)"
		[ ! -s out ]
	done
	[ ! -e home/.vftr-secret ]
	grep "refused a connection from .*: it has another secret" far/node2.err'

test_expect 'another session, a node without an agent, no contact, a secret without one: each is said' '
	status_of 1 outside top -1 -s near 2>err
	grep "it is of session .far" err
	status_of 1 env VFTR_RUNTIME_DIR=$PWD/outside timeout 60 "$VFTR" top -1 --at $address:7009 --secret secret 2>err
	has err "Connection refused"
	status_of 1 env VFTR_RUNTIME_DIR=$PWD/outside timeout 60 "$VFTR" where --at a:b --secret secret 2>err
	has err "a port is a number"
	for sub in top where; do
		status_of 2 "$VFTR" $sub --secret secret -j 2>err
		has err "$sub: --secret is for --at"
	done'

# more than the kernel keeps on the way to a viewer that does not read
test_expect 'a viewer that is stopped, or killed, is no harm to another one; one that was stopped goes on' '
	watch stopped
	slow=$viewer
	watch killed
	gone=$viewer
	watch seen
	wait_for 60 "[ \$(wc -l <stopped) -gt 3 ] && [ \$(wc -l <killed) -gt 3 ] && [ \$(wc -l <seen) -gt 3 ]"
	kill -STOP $slow
	kill -9 $gone
	had=$(lines seen)
	wait_for 120 "[ \$(wc -l <seen) -gt $((had + 40)) ]"
	view_of node1 far >view
	jq -e ".complete and .total.processes == 6" view
	# its lease is over: the agent has hung up
	wait_for 60 "[ \$(nodes_run node2 ss -Htn state established sport = 7001 dst $(awk "/head/ { print \$1 }" "$NODES/hosts") | wc -l) = 1 ]"
	# it says so to nobody, but dials again
	had=$(lines stopped)
	kill -CONT $slow
	wait_for 60 "[ \$(wc -l <stopped) -gt $((had + 60)) ]" || { cat stopped.err; exit 1; }
	is "" "$(cat stopped.err)"
	kill $viewer $slow'

test_expect 'an order from outside reaches all nodes' '
	outside top --off late_work >out
	cat out
	outside top -1j >view
	jq -e ".switched_off[] | .function == \"late_work\" and .nodes == 3" view
	outside top --on late_work >out'

test_expect 'when nothing changes any more, all counts are those of the ranks; where says where they are' '
	all_there far
	wait_for 30 "outside top -1j >view && jq -e \".complete and .total.calls_per_s == 0\" view"
	view_of node1 far >near
	jq -S "[.paths[] | {path, calls}] | sort_by(.path)" view >one
	jq -S "[.paths[] | {path, calls}] | sort_by(.path)" near >two
	diff one two
	outside where -j >where.json
	outside where >where.text
	cat where.text
	grep "wait_for_end  *ranks 0-5" where.text'

test_expect 'a viewer sees the end of the job, and ends in order' '
	watch last
	wait_for 60 "has_line last \".complete and .total.processes == 6\""
	touch far/end
	wait $viewer
	is "" "$(cat last.err)"
	wait_for 60 "[ -s far/live_all.json ]"
	statuses far 0 0 0
	is 6 "$(calls_of far/live_all.json "wait_for_end<main<init")"
	is 0 "$(json far/live_all.json "[.agents[] | select(.missing)] | length")"'

test_expect 'a connection that breaks is no end of the job, and is said' '
	three broken -k agent.remote_viewers=true
	begin broken node1 node2 node3
	watch broken.views
	wait_for 60 "[ -s broken.views ]"
	agent=$(agent_of broken node2)
	proxy=$(nodes_run node2 sh -c "cut -d\" \" -f4 /proc/$agent/stat")
	nodes_run node2 kill -9 $proxy
	got=0
	wait $viewer || got=$?
	is 1 $got status
	has broken.views.err "top: the connection to the agent broke"
	touch broken/go
	wait'

test_expect 'an agent of one node says that nobody can look at it from outside' '
	cc_traced "$BIN/live1" "$T/live/app-live.c"
	mkdir alone
	touch alone/stop alone/end
	limit "$AGENT" -q -k agent.remote_viewers=true -o alone -- "$BIN/live1" "$PWD/alone" 2>err
	has err "agent.remote_viewers: this agent does not talk over TCP"'

done_testing
