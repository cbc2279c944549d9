#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What a viewer is told that has asked all nodes to write what their flight recorders keep.
test_description='vftr where --record says what becomes of the request'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$VFTR" "$LIB/libvftrace.so"
cc_traced "$BIN/live" "$T/live/app-live.c" || skip_all 'app-live.c cannot be compiled'

# begin DIR [AGENT OPTION...]: $agent
begin() {
	dir=$1
	shift
	mkdir -p "$dir"
	VFTR_SESSION=$dir limit "$AGENT" -q -o "$PWD/$dir" "$@" -- "$BIN/live" "$PWD/$dir" &
	agent=$!
	wait_for 30 "limit $VFTR where -s $dir | grep -q step"
}

# end DIR
end() {
	touch "$1/stop" "$1/end"
	wait $agent
}

# refused DIR WHY STATE: nothing is written; the command says why, fails, and still shows the tree
refused() {
	status_of 1 limit "$VFTR" where -s "$1" --record >out 2>err
	has err "flight recorder: nothing is written: $2"
	is 1 "$(wc -l <err)"
	has out "init > main" # in a step, or between two
	status_of 1 limit "$VFTR" where -s "$1" --record --json >out.json 2>err
	is "refused 1" "$(json out.json ".record | \"\(.answer) \(.nodes.$3)\"")"
	jq -e --rawfile err err ".record.text as \$text | \$err | contains(\$text)" out.json
}

# has_asked PID: it waits for an answer
has_asked() {
	ls -l /proc/$1/fd | grep -q socket && grep -q "^State:.S" /proc/$1/status
}

test_expect 'an agent without a flight recorder: what to set' '
	begin nothing
	refused nothing "the agent keeps nothing: sampling.keep=TIME sets how much" not_kept
	end nothing
	is 0 "$(ls nothing | grep -c vfd)"'

test_expect 'one that writes a whole sampling file keeps nothing either' '
	begin sampled -k sampling.active=true
	refused sampled "the agent keeps nothing: sampling.keep=TIME sets how much" not_kept
	end sampled'

test_expect 'one that is to write for other events' '
	begin others -k sampling.keep=2s -k sampling.when=death
	refused others "sampling.when does not have the word" not_wanted
	end others'

test_expect 'a file is written: its name, which is there; once more: another one' '
	begin kept -k sampling.keep=2s -k sampling.when=request
	for n in 1 2; do
		status_of 0 limit "$VFTR" where -s kept --record >out 2>err
		grep -E "^flight recorder: 1 of 1 node has written a file: .*_request$n.vfd$" out
		file=$(sed -n "s/^flight recorder: .*a file: //p" out)
		"$VFTR" dump -H "$file" | grep -qx "Complete:        yes"
	done
	is 0 "$(wc -l <err)"
	limit "$VFTR" where -s kept --record --json >out.json
	is "written 1" "$(json out.json ".record | \"\(.answer) \(.nodes.written)\"")"
	[ -s "$(json out.json .record.file)" ]
	is null "$(limit "$VFTR" where -s kept --json | jq .record)"'

test_expect 'two ask at once: one file for both' '
	own=$(head -n 1 "$VFTR_RUNTIME_DIR/kept.lock")
	kill -STOP $own
	"$VFTR" where -s kept --record >one.out 2>one.err &
	one=$!
	"$VFTR" where -s kept --record >two.out 2>two.err &
	two=$!
	wait_for 5 "has_asked $one && has_asked $two"
	kill -CONT $own
	status_of 0 wait $one
	status_of 0 wait $two
	cat one.out two.out
	is 2 "$(cat one.out two.out | grep -c "has written a file: .*_request4.vfd")"
	end kept
	is 4 "$(ls kept/*.vfd | wc -l)"'

test_expect 'files that would be larger than sampling.max_size' '
	begin full -k sampling.keep=20s -k sampling.when=request -k sampling.max_size=1MiB
	wait_for 30 "! limit $VFTR where -s full --record >out 2>err"
	refused full "the files would be larger than sampling.max_size" full
	end full'

possible='command -v mpirun.openmpi && command -v ip && [ -e "$LIB/libvftrace-openmpi.so" ]'
if (eval "$possible") >/dev/null; then
	nodes_up 3
	. "$T/lib/live.sh"
fi

test_if "$possible" 'no Open MPI, or no ip' 'three nodes: the answer counts them' '
	live_agents openmpi all -k sampling.keep=2s -k clock.sync_interval_s=1 -k sampling.when=request
	live_job all 1
	wait_for 60 "view_of node1 all >view && jq -e \".complete and .total.processes == 6\" view"
	status_of 0 nodes_run node2 timeout 60 "$VFTR" where -s all --record >out 2>err
	cat out err
	grep -E "^flight recorder: 3 of 3 nodes have written a file, one of them is .*_request1.vfd$" out
	wait_for 30 "[ \$(ls all/*_request1.vfd | wc -l) = 3 ]"
	touch all/stop all/end
	wait $program
	wait $agents || :'

done_testing
