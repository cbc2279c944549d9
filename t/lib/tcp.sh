# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh disable=SC2034
# For tests of agents over TCP, behind lib.sh and nodes_up 3: agents on the nodes, and
# plain processes beside them.

cc_traced "$BIN/service" "$T/session/app-service.c"
peers=node1:7001,node2:7001,node3:7001
(umask 077 && echo 0123456789abcdef0123456789abcdef >secret)

# start DIR NODE [AGENT OPTION...]: an agent there, in the background; its words in
# DIR/NODE.err, its exit status in DIR/NODE.status
start() {
	dir=$1 node=$2
	shift 2
	mkdir -p "$dir"
	(
		got=0
		VFTR_SESSION=$dir nodes_run "$node" "$AGENT" -o "$PWD/$dir" \
			--secret "$PWD/secret" "$@" >"$dir/$node.out" 2>"$dir/$node.err" || got=$?
		echo $got >"$dir/$node.status"
	) &
}

# up DIR NODE...: their agents listen
up() {
	dir=$1
	shift
	for node; do
		wait_for 20 "nodes_run $node test -S $VFTR_RUNTIME_DIR/$dir.sock"
	done
}

# run DIR NODE COMMAND...: a process there, traced by the agent of this session
run() {
	dir=$1 node=$2
	shift 2
	VFTR_SESSION=$dir VFTR_AGENT=off nodes_run "$node" "$@"
}

# begin DIR NODE...: a service on each, until `touch DIR/go'; all of them run, and have met
begin() {
	dir=$1
	shift
	for node; do run "$dir" "$node" "$BIN/service" 0.5 0 "$PWD/$dir/go" & done
	wait_for 30 "[ \$(ls $dir | grep -c '^go.here') = $# ]"
	wait_for 30 "[ \$(nodes_run $1 ss -Htn state established sport = 7001 | wc -l) -ge $(($# - 1)) ]"
	sleep 0.5
}

# agent_of DIR NODE: the agent itself, not its proxy
agent_of() {
	nodes_run "$2" head -n 1 "$VFTR_RUNTIME_DIR/$1.lock"
}

# three DIR [AGENT OPTION...]: agents on all nodes
three() {
	dir=$1
	shift
	for node in node1 node2 node3; do
		start "$dir" $node --peers $peers "$@"
	done
	up "$dir" node1 node2 node3
}

# statuses DIR WANTED...: exit statuses of the agents on node1, node2 ...
statuses() {
	dir=$1 n=0
	shift
	for wanted; do
		n=$((n + 1))
		wait_for 30 "test -s $dir/node$n.status"
		is "$wanted" "$(cat "$dir/node$n.status")" "exit status of the agent on node$n" ||
			{ cat "$dir"/*.err; return 1; }
	done
}

# complete JSON PROCESSES: all calls of so many processes
complete() {
	is "$2" "$(json "$1" .ranks)" processes
	is $((100 * $2)) "$(calls_of "$1" "step<main<init")" "calls of step"
	is $((200 * $2)) "$(calls_of "$1" "leaf<step<main<init")" "calls of leaf"
}
