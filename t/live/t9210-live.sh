#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What `vftr top' shows of a job on several (pseudo-)nodes while it runs, against what its ranks
# know themselves.
test_description='a view of all nodes while the job runs'
. "$(dirname "$0")/../lib/lib.sh"
need mpirun.openmpi mpicc.openmpi jq ip
need_built "$AGENT" "$VFTR" "$LIB/libvftrace-openmpi.so" "$LIB/vftr/peer-openmpi.so"
nodes_up 3
. "$T/lib/live.sh"

# begin DIR SLOW [AGENT OPTION...]: agents that talk over MPI, and the job
begin() {
	dir=$1 slow=$2
	shift 2
	live_agents openmpi "$dir" "$@"
	live_job "$dir" "$slow"
}

test_expect 'while ranks step: all nodes, and the rank that is slow, with its node' '
	begin steps 3 -k clock.sync_interval_s=2
	# on a busy machine ranks begin to step late, and one after the other
	echo ".complete and .total.processes == 6 and .per_rank[0].rank == 3 and
		.efficiency.parallel > 0 and .efficiency.parallel < 0.9 and
		[.paths[] | select(.path | startswith(\"late_work\"))][0].most_rank == 3" >steps.jq
	wait_for 60 "view_of node1 steps >view && jq -e -f steps.jq view"
	cat view
	jq -e "all(.paths[]; .hash != \"0000000000000000\")" view
	is "3 0 0" "$(json view "\"\\(.nodes_seen) \\(.nodes_missing) \\(.nodes_awaited)\"")"
	is "node1 node2 node3" "$(json view "[.nodes[].node] | sort | join(\" \")")"
	is "2 2 2" "$(json view "[.nodes[].processes | tostring] | join(\" \")")"
	is "3 node2" "$(json view ".per_rank[0] | \"\\(.rank) \\(.node)\"")"'

test_expect 'the program, its main loop, what is sent, and what tracing costs' '
	is "live null 6" "$(json view "\"\(.program) \(.job) \(.total.ranks)\"")"
	# messages are known by full blocks of records
	echo ".complete and .main_loop.rank == 0 and .total.messages > 0 and .total.messages_per_s > 0 and .total.message_bytes_per_s > 0" >sent.jq
	wait_for 60 "view_of node1 steps >view && jq -e -f sent.jq view"
	json view "[.elapsed_s, .total.hooks_s, .total.tracing_percent, .main_loop] | tostring"
	jq -e ".elapsed_s > 0 and .total.hooks_s > 0 and .total.tracing_percent > 0 and .total.tracing_percent < 50" view
	jq -e ".main_loop | (.path | startswith(\"MPI_Allreduce<main\")) and .is_separated and .iterations >= 16 and
		(.last_s | length) >= 16 and (.last_s | add / length) >= 0.069" view'

# switched NODE HOW SAYS: of work. On a busy machine nodes may answer later than the command waits, which says so; asked
# once more nothing else changes
switched() {
	wait_for 60 "nodes_run $1 timeout 60 \"$VFTR\" top -s steps $2 work >said 2>err ||
		! grep -Ex \"vftr: top: (not all nodes have answered|.* of 3 nodes; .* not answer)\" err"
	cat said err
	is "$3" "$(cat said)"
}

test_expect 'a function goes off on all nodes, and on again by another one' '
	switched node1 --off "work is off on 3 nodes"
	# where the addresses of two modules have a low half in common, a function of a node stays on
	wait_for 30 "view_of node3 steps >view &&
		jq -e \"[.switched_off[] | [.function, .nodes, .functions > 0]] == [[\\\"work\\\", 3, true]]\" view"
	switched node2 --on "work is recorded on 3 nodes"
	wait_for 30 "view_of node1 steps >view && jq -e \".complete and .switched_off == []\" view"'

test_expect 'at a barrier: the calls of all ranks, to the last one, from each node' '
	all_there steps
	for node in node1 node2 node3; do
		still steps $node view.$node
		true_counts steps view.$node
		# after a long time it is not the main loop any more
		jq -e --argjson n "$(cut -d " " -f 2 steps/there.3)" ".main_loop | . == null or
			.iterations == \$n" view.$node
	done'

test_expect 'the text for people has the same' '
	nodes_run node2 timeout 30 "$VFTR" top -s steps -1 >text
	has text "3 of 3 nodes  6 ranks  6 threads  tracing "
	grep -E " 6 +wait_for_end ?< ?main ?< ?init" text'

test_expect 'as many viewers as there may be: each is served, one more is told, one that is stopped holds nobody up' '
	for k in 1 2 3 4 5 6 7 8; do
		nodes_run node1 sh -c "echo \$\$ >viewer.$k; exec $VFTR top -s steps -j -d 500ms" >seen.$k &
		eval "viewer$k=\$!"
		wait_for 20 "[ -s viewer.$k ]"
	done
	nodes_run node1 kill -STOP $(cat viewer.8)
	status_of 1 nodes_run node1 timeout 20 "$VFTR" top -s steps -1 2>err
	has err "as many viewers as it takes"
	for k in 1 2 3 4 5 6 7; do
		wait_for 30 "[ \$(wc -l <seen.$k) -ge 4 ]"
		jq -e -s "all(.[]; .nodes_seen >= 1 and .n_nodes == 3)" seen.$k
	done
	for k in 1 2 3 4 5 6 7 8; do nodes_run node1 kill -9 $(cat viewer.$k); done
	kill -9 $viewer8 # its shell has stopped, too
	wait $viewer1 $viewer2 $viewer3 $viewer4 $viewer5 $viewer6 $viewer7 || :
	still steps node1 view'

test_expect 'a viewer is no reason to go on: the job ends, and so does the viewer' '
	nodes_run node2 "$VFTR" top -s steps -j >last &
	viewer=$!
	wait_for 30 "jq -e -s \"any(.[]; .nodes_seen == 3)\" last"
	touch steps/end
	status_of 0 wait $viewer
	wait_for 60 "[ -s steps/live_all.json ]"
	is 6 "$(calls_of steps/live_all.json "wait_for_end<main<init")"'

test_expect 'a node whose agent is killed is named, and so is one that is stopped; the others are shown' '
	begin gaps 5
	wait_for 60 "view_of node1 gaps | jq -e \".complete and .total.processes == 6\""
	agent3=$(nodes_run node3 head -n 1 "$VFTR_RUNTIME_DIR/gaps.lock")
	agent2=$(nodes_run node2 head -n 1 "$VFTR_RUNTIME_DIR/gaps.lock")
	nodes_run node2 kill -STOP $agent2
	wait_for 30 "view_of node1 gaps >view && jq -e \".nodes_seen == 2 and .nodes_missing == 1 and (.complete | not)\" view"
	is "node2 no answer" "$(json view ".missing[] | \"\\(.node) \\(.why)\"")"
	nodes_run node2 kill -CONT $agent2
	wait_for 30 "view_of node1 gaps >view && jq -e \".complete and .nodes_seen == 3 and .nodes_missing == 0\" view"
	nodes_run node3 kill -9 $agent3
	wait_for 30 "view_of node1 gaps >view && jq -e \".nodes_seen == 2 and .nodes_missing == 1\" view"
	is node3 "$(json view ".missing[].node")"
	is "node1 node2" "$(json view "[.nodes[].node] | sort | join(\" \")")"
	touch gaps/stop gaps/end
	wait $program
	wait $agents || :'

# same_moment DIR: a snapshot that was written after the view, of a process that does nothing new in
# between: calls and own time of each call path, but for that of the one that waits
same_moment() {
	limit "$VFTR" top -s "$1" -1j >view
	echo >"$1/viewed"
	wait_for 30 "[ $1/plain_all.json -nt $1/viewed ]"
	limit "$VFTR" top -s "$1" -1j >after
	jq -c '[.paths[] | select(.path != "wait_for_end<main<init") | [.path, .calls, .t_excl_s]] | sort' view >is
	jq -c '[.paths[] | select(.path != "wait_for_end<main<init") | [.path, .calls, .t_excl_s]] | sort' after >still
	jq -c '[.stacks[] | select(.path != "wait_for_end<main<init") | [.path, .calls, .t_excl_s]] | sort' "$1/plain_all.json" >written
	cmp is still
}

test_expect 'calls and own times are those of the JSON that is written at the same moment' '
	cc_traced "$BIN/plain" "$T/live/app-live.c"
	mkdir moment
	VFTR_SESSION=moment limit "$AGENT" -q -k agent.write_every_s=1 -k profile.sample=0 -o "$PWD/moment" -- \
		"$BIN/plain" "$PWD/moment" &
	agent=$!
	wait_for 60 "[ -s moment/plain_all.json ]"
	touch moment/stop
	wait_for 60 "limit $VFTR top -s moment -1j | jq -e \".total.calls_per_s == 0 and (.paths | any(.path == \\\"wait_for_end<main<init\\\"))\""
	wait_for 60 "same_moment moment"
	cat is
	[ "$(jq length is)" -ge 5 ]
	is "$(jq length is)" "$(jq length written)"
	jq -e --slurpfile w written "[., \$w[0]] | transpose | all(.[];
		.[0][:2] == .[1][:2] and (.[0][2] - .[1][2] | fabs) < 1e-6)" is
	is "$(jq .total.calls view)" "$(jq "[.stacks[].calls] | add" moment/plain_all.json)"
	is 12345 "$(jq ".paths[] | select(.path == \"counted<main<init\").calls" view)"
	touch moment/end
	status_of 0 wait $agent'

done_testing
