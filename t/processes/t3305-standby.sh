#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='agents that are killed: a copy writes what they knew'
. "$(dirname "$0")/../lib/lib.sh"
need jq pgrep
need_built "$AGENT" "$LIB/libvftrace.so" "$VFTR"

cc_traced "$BIN/steps" "$T/processes/app-steps.c"

# standby: the copy of the agent that serves this test
standby() {
	agent=$(agent_pids)
	[ -n "$agent" ] && pgrep -P "$agent" -x vftr-standby
}

# killed: the agent that serves this test has a copy, and is killed when the program has
# done 100 steps more, at least; `before' is the number of steps when the copy was there
killed() {
	wait_for 20 standby
	agent=$(agent_pids)
	before=$(number_in steps)
	wait_for 20 "[ \"\$(number_in steps)\" -gt $((before + 100)) ]"
	kill -9 "$agent"
	at_death=$(number_in steps)
	touch stop
}

# counts JSON: the calls that the program had made at one moment: three parts of each step, and of
# the last one no, some or all
counts() {
	step=$(calls_of "$1" "step<main<init") part=$(calls_of "$1" "part<step<main<init")
	echo "$step steps, $part parts; $at_death steps at the agent's death"
	[ "$step" -gt 0 ] && [ "$step" -le $((at_death + 1)) ] &&
		[ "$part" -le $((3 * step)) ] && [ "$part" -ge $((3 * step - 3)) ]
}

test_expect 'vftr run: status, files and digest are there, the profile says until when it is' '
	rm -f steps stop
	limit "$VFTR" run -k agent.standby_s=0.3 -- "$BIN/steps" steps >out 2>err &
	killed
	status=0
	wait $! || status=$?
	is 7 "$status" status
	is finished "$(cat out)"
	counts vftr-steps-last/profile.json
	json vftr-steps-last/profile.json ".warnings[]" | grep "the agent died: these are its results until [0-9:]*, [0-9]* s before; 1 of 1 "
	has vftr-steps-last/summary.log "the agent died: these are its results until"
	cat err
	is 1 "$(grep -c "the agent died: its results end at" err)"
	has err "signal 9 (Killed) ended the agent"
	hasnt err "there is no profile"
	has err "profile: "'

test_expect 'the time of the program ends with the results: no function has more' '
	jq -e ".runtime_s as \$r | [.stacks[] | .t_incl_s] | max <= \$r * 1.001" vftr-steps-last/profile.json
	exclusive_sums_up vftr-steps-last/profile.json'

test_expect 'nothing is left: no process, no socket' '
	wait_for 5 "! pgrep -f \"^$AGENT .*$PWD\" && [ -z \"\$(agent_pids)\" ]"'

test_expect 'an agent beside its processes, without anybody who waits for it' '
	mkdir -p beside && rm -f steps stop
	VFTR_SESSION=beside "$AGENT" -k agent.standby_s=0.3 -o "$PWD/beside" >out 2>err &
	wait_for 10 "[ -S \"\$VFTR_RUNTIME_DIR/beside.sock\" ] || [ -S \"\$VFTR_RUNTIME_DIR/beside\" ]"
	VFTR_SESSION=beside status_of 7 limit "$BIN/steps" steps >out.steps 2>err.steps &
	killed
	wait_for 20 "grep -q profile: err"
	cat err
	has err "the agent died: its results end at"
	counts beside/steps_all.json
	wait $!
	is finished "$(cat out.steps)"'

test_expect 'a copy that is killed is replaced; one that is not needed goes with its agent' '
	rm -f steps stop
	limit "$VFTR" run -q -k agent.standby_s=1 -o replaced -- "$BIN/steps" steps >out 2>err &
	wait_for 20 "standby >first && kill -9 \$(cat first)"
	wait_for 20 "standby >next && ! grep -qxFf first next && ls -l /proc/\$(cat next)/fd >fds"
	touch stop
	wait $! || true
	cat err
	[ ! -d "/proc/$(cat next)" ] || ! grep -q vftr-standby "/proc/$(cat next)/comm"
	is "$(number_in steps)" "$(calls_of replaced/profile.json "step<main<init")"
	is 0 "$(json replaced/profile.json "[.warnings[]? | select(test(\"agent died\"))] | length")"'

test_expect 'a copy has neither memory of processes nor sockets of them' '
	cat fds
	[ "$(grep -c -- "->" fds)" -ge 3 ]
	hasnt fds memfd
	is 1 "$(grep -c socket: fds)" "sockets, of which one leads to the supervisor"'

test_expect 'agent.standby_s=0: there is none, and no profile' '
	rm -f steps stop
	limit "$VFTR" run -k agent.standby_s=0 -o none -- "$BIN/steps" steps >out 2>err &
	wait_for 20 "[ \"\$(number_in steps)\" -gt 300 ]"
	agent=$(agent_pids)
	refuse pgrep -P "$agent" -x vftr-standby
	kill -9 "$agent"
	touch stop
	status=0
	wait $! || status=$?
	is 7 "$status" status
	has err "there is no profile of this run"'

# later_than_copy: a snapshot is there that tells of a later second than the copy, which is still the same
later_than_copy() {
	standby >now || return
	cmp -s now first || { cp now first && date +%s >made && return 1; }
	[ "$(stat -c %Y later/*.vfp)" -gt $(($(cat made) + 1)) ]
}

test_expect 'what was written after the copy was made is not replaced by older results' '
	rm -f steps stop first
	limit "$VFTR" run -k agent.standby_s=5 -k agent.write_every_s=0.25 -o later -- "$BIN/steps" steps >out 2>err &
	wait_for 30 "later_than_copy && kill -9 \$(agent_pids)"
	before=$(calls_of later/profile.json "step<main<init")
	touch stop
	wait $! || true
	cat err
	has err "the agent died: its results are those of its last node profile"
	after=$(calls_of later/profile.json "step<main<init")
	[ "$before" -le "$after" ]
	has later/summary.log "these are results on the way"'

mpi=$(mpi_list_short | head -n 1)
test_if '[ -n "$mpi" ]' 'no MPI on this machine' 'ranks and threads of an MPI job' '
	mpicc_traced "$mpi" "$BIN/steps-mpi" "$T/processes/app-steps.c" -DWITH_MPI
	rm -f steps stop
	limit "$VFTR" run -q -k agent.standby_s=0.5 -o mpi -- $(mpirun_of "$mpi") -np 3 "$BIN/steps-mpi" steps >out 2>err &
	killed
	status=0
	wait $! || status=$?
	cat err
	is 7 "$status" status
	is 3 "$(json mpi/profile.json .ranks)"
	jq -e "[.stacks[] | select(.function == \"MPI_Barrier\") | .calls] | add > 30" mpi/profile.json'

done_testing
