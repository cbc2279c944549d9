#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='vftr attach: processes that run already, seen from outside'
. "$(dirname "$0")/../lib/lib.sh"

need jq
$TEST_CC -O2 -fomit-frame-pointer -o "$BIN/shares" "$T/stack/app-shares.c" -pthread -ldl || exit 1

# run COMMAND...: in the background, its output in `out'; $pid
run() {
	"$@" >out &
	pid=$!
}

# attach OPTION...: the results in the folder `got', what it says in `said'
attach() {
	rm -rf got
	limit "$VFTR" attach -o got "$@" 2>said || { test_rc=$?; cat said; return $test_rc; }
}

by_function() {
	jq -r ".stacks[] | \"\(.function) \(.t_incl_s)\"" got/profile.json
}

# CPU time of the process in the profile, against that of its functions and init
all_of_init() {
	jq -e '(.stacks[] | select(.id == 0) | .t_incl_s) as $all | (.each_process | map(.cpu_s) | add) as $cpu |
		$all > 0.5 * $cpu and $all < 1.2 * $cpu + 0.1' got/profile.json
}

run "$BIN/shares" serial 40
attach -k profile.sample=50 "$pid" || exit 1
wait "$pid"
if grep -q "the kernel allows no stack samples" said; then
	skip_all 'the kernel allows no perf events here'
fi

test_expect 'functions of a program that runs already have their shares of the CPU time' '
	run "$BIN/shares" serial 1500
	attach -k profile.sample=50 "$pid"
	wait "$pid"
	by_function | grep -E "^(little|around|deep) " >found
	# of what was there since the agent came, its share is that of all
	awk "NR == FNR { known += \$2; next } { sum += \$2 } END { print sum / known }" out found >seen
	awk -v f="$(cat seen)" "{ print \$1, \$2 * f }" out >known
	awk -v period="$(awk "BEGIN { print 1 / 50 / 1.0472 }")" -f "$T/stack/within.awk" known found
	awk "{ exit !(\$1 > 0.6 && \$1 < 1.1) }" seen
	all_of_init
	is exited "$(jq -r ".each_process[0].end" got/profile.json)"
	has said "attached to 1 process"
	has got/summary.log "burn < much < around < serial < main"'

test_expect 'it ends after --seconds, and the process goes on' '
	run "$BIN/shares" serial 1000000
	attach -k profile.sample=100 -s 1 "$pid"
	kill -0 "$pid"
	kill -9 "$pid"
	is 1 "$(jq ".each_process | length" got/profile.json)"
	is running "$(jq -r ".each_process[0].end" got/profile.json)"
	jq -e ".runtime_s < 100 and .runtime_s > 0.8" got/profile.json
	[ -s got/summary.log ]
	ls got | grep -q "^node-.*\.log$"'

test_expect 'threads have rows of their own' '
	run "$BIN/shares" threads 400
	attach -k profile.sample=50 -k profile_table.threads=all "$pid"
	is 2 "$(jq ".each_thread | length" got/profile.json)"
	jq -e ".each_thread[1] | .name == \"shares\" and .t_functions_s > 0 and .t_functions_s <= 1.1 * .t_alive_s" got/profile.json
	jq -r ".stacks[].path" got/profile.json >paths
	has paths "burn < much < beside < init"
	has paths "burn < deep < serial < main < init"'

done_testing
