#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The file for Prometheus of a running program, against the program's own JSON.
test_description='agent.metrics_file: counts of a node for Prometheus'
. "$(dirname "$0")/../lib/lib.sh"
need jq python3
need_built "$AGENT"

cat >work.c <<-EOF
	#include <stdio.h>
	#include <unistd.h>
	static volatile long n;
	static void step(void) { for (int i = 0; i < 3000000; i++) n += i; }
	int main(void) {
		for (int i = 0; i < 200; i++) step();
		fclose(fopen("worked", "w"));
		while (access("seen", F_OK)) usleep(20000);
		return 0;
	}
EOF
cc_traced "$BIN/work" work.c

# value NAME PATTERN: of the series in the file "series" whose labels match
value() {
	grep "^$1{.*$2.*} " series | sed 's/.* //'
}

# copied PATTERN: a file that matches was written after the work was done, and is now ./file
copied() {
	touch mark
	wait_for 60 '[ -n "$(find . -name "'"$1"'" -newer mark)" ]'
	cp $1 file
}

test_expect 'the file follows the format, and its counts are those of the JSON' '
	SLURM_JOB_ID=4711 limit "$AGENT" -q -k agent.metrics_file="$PWD/m-%h-%j.prom" -k agent.metrics_every_s=1 \
		-- "$BIN/work" &
	wait_for 60 "[ -e worked ]"
	copied "m-*-4711.prom"
	copied "m-*-4711.prom" # a whole period after the work
	touch seen
	wait $!
	python3 "$T/live/prometheus.py" file >series
	[ "$(grep -c "job_id=4711,program=work" series)" = "$(wc -l <series)" ]
	[ "$(wc -l <series)" -ge 40 ]
	is 201 "$(value vftr_calls_total "" | sed "s/\..*//")"
	is 201 "$(jq .calls work_all.json)"
	is 1 "$(value vftr_processes "" | sed "s/\..*//")"
	is 0 "$(value vftr_lost_calls_total "" | sed "s/\..*//")"
	# all time is useful; in the file until a second before the end of the wait
	value vftr_time_seconds_total class=useful >useful
	jq -e --argjson s "$(cat useful)" ".per_rank[0].useful_s as \$u | \$s <= \$u + 0.01 and \$s > \$u - 5" work_all.json
	jq -e --argjson s "$(cat useful)" ".stacks[] | select(.path == \"step<main<init\") | .t_incl_s <= \$s" work_all.json'

test_expect 'it is gone when the agent ends' '
	is "" "$(ls | grep prom)"'

test_expect 'a file that cannot be written is one warning, and the program runs' '
	rm -f worked && touch seen
	limit "$AGENT" -q -k agent.metrics_file=/proc/none/m.prom -- "$BIN/work"
	is 1 "$(jq -r ".warnings[]" work_all.json | grep -c "agent.metrics_file: /proc/none/m.prom could not be written")"
	limit "$AGENT" -q -k agent.metrics_file=m-%p.prom -- "$BIN/work"
	is 1 "$(jq -r ".warnings[]" work_all.json | grep -c "agent.metrics_file: in .m-%p.prom. only %h")"'

test_expect 'names of programs and jobs may be anything' '
	cp "$BIN/work" "a \"b\\c"
	SLURM_JOB_ID="1\"2" limit "$AGENT" -q -k agent.metrics_file="$PWD/odd.prom" -k agent.metrics_every_s=1 \
		-- sh -c "rm -f seen worked; ./a*c & sleep 3; touch seen; wait" &
	job=$!
	wait_for 60 "grep -qs \"program=.a .*b\" odd.prom"
	cp odd.prom file
	wait $job
	python3 "$T/live/prometheus.py" file | grep -F "program=a \\\"b\\\\c"'

test_expect 'the counts of processes that have ended stay, and so does the name of the program' '
	rm -f worked seen
	cp "$BIN/work" "$BIN/later"
	limit "$AGENT" -q -k agent.metrics_file="$PWD/two.prom" -k agent.metrics_every_s=1 \
		-- sh -c "touch seen; \"$BIN/work\"; \"$BIN/work\"; rm seen; \"$BIN/later\"" &
	job=$!
	wait_for 120 "grep -q \"^vftr_processes_ended_total{.*} 2\" two.prom"
	copied two.prom
	touch seen
	wait $job
	python3 "$T/live/prometheus.py" file >series
	n=$(value vftr_calls_total "" | sed "s/\..*//")
	[ "$n" -gt 402 ] && [ "$n" -le 603 ]
	# a series stays the same one when other programs come
	is "$(wc -l <series)" "$(grep -c "program=work" series)"'

done_testing
