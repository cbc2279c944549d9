#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The long form: 100 agents; WEEK_S=SECONDS is how long each of them lives.
test_description='a week of a service in fast motion: processes, sessions, and agents that are killed'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$LIB/libvftrace.so"

cc_traced "$BIN/week" "$T/processes/app-week.c"
KILLS=4
[ -z "$VFTR_LONG" ] || KILLS=100

begin() {
	VFTR_SESSION=week "$AGENT" -q -o "$PWD/out" -k profile.sample=0 -k agent.standby_s=0.2 -k agent.linger_s=60 \
		-k shm.ring_size=64KiB 2>>agents &
	agent=$!
	wait_for 20 "[ \"\$(head -n 1 '$VFTR_RUNTIME_DIR/week.lock')\" = $agent ]"
}

# used PROCESS: its memory in kB, descriptors, mappings
used() {
	echo "$(awk '/VmRSS/ { print $2 }' "/proc/$1/status") $(ls "/proc/$1/fd" | wc -l) $(wc -l <"/proc/$1/maps")"
}

# more N: processes than before
more() {
	seen=$(cat progress)
	wait_for 60 "[ \"\$(cat progress)\" -gt $((seen + $1)) ]"
}

test_expect "$KILLS agents are killed; the program and its result are unharmed" '
	mkdir -p out
	begin
	(
		status=0
		VFTR_SESSION=week "$BIN/week" 0 10 >said 2>err || status=$?
		echo $status >status
	) &
	wait_for 20 "[ -s progress ]"
	program=$(pgrep -x week -o)
	for k in $(seq $KILLS); do
		more 60
		echo "$(used $program) $(used $agent)" >>use
		kill -9 $agent
		wait $agent || true
		[ $((k % 2)) = 0 ] || more 10
		begin
	done
	more 60
	touch end
	wait_for 60 "[ -s status ]"
	kill $agent
	wait $agent || true
	is 7 "$(cat status)" status
	cat said err
	read -r processes good bad strange <said
	is 0 "$strange" "sessions that failed in another way"
	[ "$good" -gt "$bad" ]
	hasnt agents "ERROR"'

test_expect 'neither the program nor agents grow' '
	cat use
	awk "{ half = NR <= $KILLS / 2 ? 1 : 2; for (i = 1; i <= 6; i++) if (\$i > most[half, i]) most[half, i] = \$i }
	END {
		for (i = 1; i <= 6; i++)
			if (most[2, i] > 1.25 * most[1, i] + 8 + (i % 3 == 1 ? 1024 : 0))
				bad = 1
		exit bad
	}" use'

test_expect 'the last agent has what came in its time, and says that there was one before' '
	json out/week_all.json ".warnings[]" | grep "had another agent before"
	[ "$(json out/week_all.json .processes)" -gt 30 ]'

done_testing
