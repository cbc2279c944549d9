#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The screen of `vftr top' in a terminal, which tmux is: what it shows, what keys do, and that the
# terminal is as before, however it ends.
test_description='vftr top as a screen'
. "$(dirname "$0")/../lib/lib.sh"
need tmux jq
need_built "$AGENT" "$VFTR" "$LIB/libvftrace.so"
cc_traced "$BIN/live" "$T/live/app-live.c" || skip_all 'app-live.c cannot be compiled'

# a server of our own, whose socket is short enough
export TMUX_TMPDIR="$VFTR_RUNTIME_DIR"
unset TMUX TMUX_PANE

# mux COMMAND...: to the server of the last terminal(); one that ends may still have its socket
mux() {
	tmux -L "t$(cat server)" -f /dev/null "$@"
}
echo 0 >server
# modes NAME: those of the terminal, but for its size, in stty.NAME
echo 'stty -a | sed "s/rows.*columns [0-9]*//" >stty.soon && mv stty.soon stty.$1' >modes

# job DIR: its agent and the program, in the background; $agent
job() {
	mkdir -p "$1"
	VFTR_SESSION=$1 "$AGENT" -q -o "$PWD/$1" -- "$BIN/live" "$PWD/$1" &
	agent=$!
	wait_for 30 "[ -S $VFTR_RUNTIME_DIR/$1.sock ]"
}

# terminal WIDTH HEIGHT: a shell in it, with a line from before
terminal() {
	mux kill-server >/dev/null 2>&1 || :
	echo $(($(cat server) + 1)) >server
	rm -f stty.before
	mux new-session -d -s s -x "$1" -y "$2" "echo before; sh modes before; exec env PS1='$ ' TERM=screen LC_ALL=C.UTF-8 sh"
	mux set-option -g status off
	mux resize-window -t s -x "$1" -y "$2"
	wait_for 20 "[ -s stty.before ] && shown '^before'"
}

# type_in LINE: as a user does; press KEY...: the same for keys of tmux
type_in() {
	mux send-keys -t s -l "$1"
	mux send-keys -t s Enter
}

press() {
	mux send-keys -t s "$@"
}

# what is on the terminal
screen() {
	mux capture-pane -p -t s
}

# shown REGEX, until_shown REGEX, until_gone REGEX
shown() {
	screen | grep -qE -e "$1"
}

until_shown() {
	wait_for 30 "shown '$1'" || { screen >&2; return 1; }
}

until_gone() {
	wait_for 30 "! shown '$1'" || { screen >&2; return 1; }
}

# as_before: the shell's screen is back, with its cursor and modes
as_before() {
	until_shown '^before'
	hasnt_shown 'most useful|q quit'
	is 0 "$(mux display-message -p -t s '#{alternate_on}')" 'second screen'
	is 1 "$(mux display-message -p -t s '#{cursor_flag}')" cursor
	is 1 "$(mux display-message -p -t s '#{wrap_flag}')" 'wrapped lines'
	rm -f stty.after
	type_in 'sh modes after'
	wait_for 20 "[ -s stty.after ]"
	diff stty.before stty.after
}

# none_wider COLUMNS FILE
none_wider() {
	jq -R -e -n "[inputs | length] | max as \$most | if \$most > $1 then error(\"\(\$most) columns\") else true end" "$2"
}

hasnt_shown() {
	! shown "$1"
}

# top_pid: of the viewer in the terminal, whose shell has no other child
top_pid() {
	pgrep -P "$(mux display-message -p -t s '#{pane_pid}')" -f "^$VFTR top -s first"
}

# dies SIGNAL: of it; if not, what the process does with it
dies() {
	pid=$(top_pid)
	kill -$1 "$pid"
	wait_for 30 "[ ! -d /proc/$pid ]" || { tr "\0" " " </proc/$pid/cmdline; grep -E "^(State|Sig|Shd)" /proc/$pid/status; return 1; }
}

test_expect 'no line is wider than the terminal, and calls are those of --once --json' '
	job first
	touch first/stop
	wait_for 30 "limit $VFTR top -s first -1j >once && jq -e \".total.calls_per_s == 0 and
		any(.paths[]; .path | startswith(\\\"counted\\\"))\" once"
	for size in "80 24" "200 60" "40 10"; do
		set -- $size
		terminal $1 $2
		type_in "$VFTR top -s first"
		until_shown "tracing [0-9]"
		screen >screen.$1
		cat screen.$1
		is 1 "$(mux display-message -p -t s "#{alternate_on}")" "second screen"
		none_wider $1 screen.$1
		is $2 "$(grep -c "" screen.$1)" "lines"
		press q
		as_before
	done
	is 12345 "$(jq "[.paths[] | select(.path | startswith(\"counted\")).calls] | add" once)"
	jq -r "\"\(.n_nodes) node  \(.total.processes) process  \(.total.threads) thread\"" once >wanted
	grep -F "1 of $(cat wanted)" screen.200
	grep -E "^ *[0-9.]+ +0 +12k .* counted" screen.200
	grep -E "^ *[0-9.]+ +0 +---- .* wait_for_end *<" screen.80'

# head_of FILE: what is above the table
head_of() {
	sed '/TIME%/,$d' "$1"
}

test_expect 'the head has the same at 80 columns as at 200, less what matters least, and no part is cut' '
	for n in 80 200; do
		head_of screen.$n >head.$n
		cat head.$n
		for part in "live " "[0-9][0-9]:[0-9][0-9]:[0-9][0-9]" "1 node" "1 process" \
			"tracing [0-9.]+ %\$" "useful [0-9]+ %" "MPI [0-9]+ % .wait" "efficiency [a-z ]*[0-9-]+" \
			"most useful[a-z ]*: rank - on .* [0-9]+ %\$"; do
			grep -E -e "$part" head.$n
		done
	done
	grep -F "session first" head.200
	grep -E "records [0-9.]+[kM]?/s" head.200'

test_expect 'the iterations of the main loop: their number grows, and each took as long as it sleeps' '
	job loop
	loop=$agent
	echo ".main_loop | .rank == null and (.path | startswith(\"step<main\")) and (.last_s | length) == 60 and
		all(.last_s[]; . >= 0.005)" >loop.jq
	wait_for 30 "limit $VFTR top -s loop -1j >once && jq -e -f loop.jq once"
	limit "$VFTR" top -s loop -1j >twice
	jq -e --slurpfile before once "$(cat loop.jq) and .iterations > \$before[0].main_loop.iterations" twice
	for size in "80 24" "200 60"; do
		set -- $size
		terminal $1 $2
		type_in "$VFTR top -s loop"
		until_shown "^step [0-9]+  step  [0-9.]+ ms  last $(($1 < 200 ? 20 : 60)) [^ ]+$"
		press q
		as_before
	done
	touch loop/stop loop/end
	wait $loop'

test_expect 'keys: tables, order, filter, pause, help, scroll' '
	terminal 100 24
	type_in "$VFTR top -s first -d 0.25"
	until_shown "FUNCTION"
	press n
	until_shown "NODE +PROCS"
	press r
	until_shown "RANK +NODE +PID"
	press w
	until_shown "KIND OF WAIT"
	press "?"
	until_shown "WHAT IT DOES"
	press "?"
	until_shown "FUNCTION"
	press s
	until_shown "sort: calls"
	press s
	until_shown "sort: spread"
	press s
	until_shown "sort: time"
	press /
	until_shown "functions with: _"
	mux send-keys -t s -l countex
	press BSpace
	until_shown "functions with: counte_"
	press Enter
	until_shown "filter: counte"
	until_gone "wait_for_end *<"
	shown counted
	press /
	press Escape
	until_shown "wait_for_end *<"
	press f
	until_shown "switch off or on: wait_for_end_"
	press BSpace
	until_shown "switch off or on: wait_for_en_"
	press Escape
	until_shown "q quit"
	press f
	until_shown "switch off or on: wait_for_end_"
	press Enter
	until_shown "\[off\] wait_for_end *<"
	press f
	until_shown "switch off or on: wait_for_end_"
	press Enter
	until_gone "\[off\]"
	press Space
	until_shown "  held$"
	press Space
	until_gone "  held$"
	press p
	until_shown "paused"
	until_shown "p go on"
	press p
	until_gone "paused"
	press t
	until_shown "^flight recorder: nothing is written: the agent keeps nothing: sampling.keep=TIME"
	press s
	until_gone "^flight recorder"
	press s
	press s
	until_shown "sort: time"
	mux resize-window -t s -x 100 -y 7
	until_gone "counted *<"
	press Down
	until_gone "wait_for_end *<"
	press NPage
	press PPage
	press Up
	until_shown "wait_for_end *<"
	mux resize-window -t s -x 60 -y 20
	wait_for 20 "[ \$(screen | grep -c \"\") = 20 ] && shown \"counted *<\""
	screen >screen.small
	none_wider 60 screen.small
	press q
	as_before'

for signal in TERM INT HUP QUIT ABRT SEGV; do
	test_expect "the terminal is as before after SIG$signal" "
		terminal 80 24
		type_in '$VFTR top -s first'
		until_shown FUNCTION
		dies $signal
		as_before"
done

test_expect 'Ctrl-C, Ctrl-Z and back' '
	terminal 80 24
	type_in "$VFTR top -s first"
	until_shown FUNCTION
	press C-z
	as_before
	type_in fg
	until_shown FUNCTION
	press s
	until_shown "sort: calls"
	kill -STOP $(top_pid)
	until_shown "^\\$"
	type_in fg
	until_shown "FUNCTION"
	press C-c
	as_before'

test_expect 'no colour, no UTF-8, a terminal without escapes, none at all' '
	terminal 100 24
	type_in "NO_COLOR=1 $VFTR top -s first"
	until_shown FUNCTION
	mux capture-pane -e -p -t s >plain
	cat -v plain >plain.v
	hasnt plain.v "^["
	press q
	as_before
	type_in "$VFTR top -s first"
	until_shown FUNCTION
	mux capture-pane -e -p -t s | cat -v >styled
	has styled "^[[7m"
	press q
	as_before
	type_in "LC_ALL=C $VFTR top -s first"
	until_shown "FUNCTION"
	screen >ascii
	LC_ALL=C awk "/[\200-\377]/ { bad = 1 } END { exit bad }" ascii
	press q
	as_before
	type_in "TERM=dumb script -qc \"$VFTR top -s first -d 0.25\" typescript"
	wait_for 30 "[ \$(grep -c FUNCTION typescript) -gt 2 ]"
	press C-c
	sed 1d typescript | cat -v >dumb
	hasnt dumb "^["
	status_of 2 "$VFTR" top -s first >out 2>err
	has err "no terminal; for one view there is --once"
	status_of 1 limit "$VFTR" top -s none -1 2>err
	has err "no agent serves session"'

test_expect 'a viewer that is stopped or killed is no harm' '
	terminal 80 24
	type_in "$VFTR top -s first -d 0.25"
	until_shown FUNCTION
	kill -STOP $(top_pid)
	wait_for 30 "limit $VFTR top -s first -1j >once"
	kill -9 $(top_pid)
	wait_for 30 "limit $VFTR top -s first -1j >once"
	jq -e ".total.calls > 12345" once'

test_expect 'the job ends: the last view stays, with a line that says so, and status 0' '
	terminal 80 24
	type_in "$VFTR top -s first; echo status \$? ."
	until_shown FUNCTION
	touch first/end
	until_shown "the job of session first has ended"
	until_shown "status 0 ."
	shown "wait_for_end *<"
	shown "^before"
	wait_for 30 "[ -s first/live_all.json ]"
	is 12345 "$(calls_of first/live_all.json "counted<main<init")"
	type_in clear
	until_gone "status 0" # or what is typed is cleared, too
	until_shown "^[\$] *\$"
	type_in "echo before"
	as_before'

mux kill-server >/dev/null 2>&1
done_testing
