#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What a viewer does to a program that is looked at, by what no load of the machine changes: how often
# the program waits, what it waits for, and what is lost; and what an agent does that nobody asks.
test_description='a viewer that is stopped, killed or slow changes nothing for the program'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$VFTR" "$LIB/libvftrace.so"
cc_traced "$BIN/viewed" "$T/live/app-viewed.c" || skip_all 'app-viewed.c cannot be compiled'

# begin DIR: $agent; the program waits for DIR/go
begin() {
	mkdir -p "$1"
	VFTR_SESSION=$1 limit "$AGENT" -q -o "$PWD/$1" -- "$BIN/viewed" "$PWD/$1" >"$1/waits" &
	agent=$!
	wait_for 30 "[ -S $VFTR_RUNTIME_DIR/$1.sock ]"
	own=$(head -n 1 "$VFTR_RUNTIME_DIR/$1.lock")
}

# unharmed DIR: all calls are there, nothing was lost, no thread waited for the agent, and the program
# waited in its sleeps alone (not in all of them; a page from the disk is waited for, too)
unharmed() {
	status_of 0 wait $agent
	cat "$1/waits"
	is 300001 "$(jq "[.stacks[] | select(.function == \"leaf\") | .calls] | add" "$1/viewed_all.json")" calls
	is "0 0" "$(json "$1/viewed_all.json" "\"\(.lost) \(.blocked_s)\"")" "lost, blocked"
	awk "{ exit !(\$1 <= \$2 + 100) }" "$1/waits"
}

# viewer DIR OPTION...: its pid in $viewer
viewer() {
	dir=$1
	shift
	"$VFTR" top -s "$dir" -j -d 250ms "$@" >"$dir/seen" &
	viewer=$!
	wait_for 30 "[ \$(wc -l <$dir/seen) -ge 2 ]"
}

test_expect 'nobody looks' '
	begin none
	touch none/go
	unharmed none'

test_expect 'one is stopped: the agent goes on without it, and another viewer has its views' '
	begin stopped
	viewer stopped
	kill -STOP $viewer
	touch stopped/go
	limit "$VFTR" top -s stopped -1j >once
	jq -e ".complete" once
	unharmed stopped
	kill -KILL $viewer'

test_expect 'one is killed' '
	begin killed
	viewer killed
	touch killed/go
	kill -KILL $viewer
	unharmed killed'

test_expect 'one is slow: nobody reads what it prints' '
	begin slow
	mkfifo pipe
	"$VFTR" top -s slow -j -d 250ms >pipe &
	viewer=$!
	exec 9<pipe
	read -r first <&9
	touch slow/go
	unharmed slow
	exec 9<&-
	wait $viewer || :'

# cpu_of PID: ns that it has run
cpu_of() {
	cut -d " " -f 1 "/proc/$1/schedstat"
}

test_if '[ -r /proc/self/schedstat ]' 'the kernel counts no CPU time of tasks' \
	'an agent that nobody asks and whose program sleeps does not run at all' '
	begin idle
	kill -STOP $(pgrep -P $own viewed || pgrep -f "^$BIN/viewed $PWD/idle")
	wait_for 30 "was=\$(cpu_of $own); sleep 1; [ \"\$was\" = \"\$(cpu_of $own)\" ]"
	was=$(cpu_of $own)
	sleep 3
	is "$was" "$(cpu_of $own)" "ns of CPU time"
	kill -CONT $(pgrep -f "^$BIN/viewed $PWD/idle")
	touch idle/go
	unharmed idle'

done_testing
