#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A view of many agents over TCP, which are more than one level of the tree below the one with the
# viewer: 40, in the long form 300.
test_description='a view of many agents over TCP'
. "$(dirname "$0")/../lib/lib.sh"
need jq ss
need_built "$AGENT" "$VFTR" "$LIB/libvftrace.so"
cc_traced "$BIN/live" "$T/live/app-live.c" || skip_all 'app-live.c cannot be compiled'
(umask 077 && echo 0123456789abcdef0123456789abcdef >secret)
n=${VFTR_LONG:+300}
n=${n:-40}
last=$((n - 1))
# the first of n ports below those that connections get, which nobody uses: from a number of our own
# on, as another test may look for some at the same time
first_port=$(ss -Htan | awk -v n="$n" -v from=$((10000 + $$ * 401 % 20000)) '
	{ sub(/.*:/, "", $4); used[$4] }
	END {
		for (p = from; p < 32768 && free < n; p++)
			free = p in used ? 0 : free + 1
		if (free == n)
			print p - n
	}')
[ -n "$first_port" ] || skip_all "there are no $n free ports side by side"
mkdir many

# agents_begin: n of them, each with a session of its own
agents_begin() {
	for i in $(seq 0 $last); do echo "127.0.0.1:$((first_port + i))/many$i"; done >many/list
	for i in $(seq 0 $last); do
		timeout -k 5 900 "$AGENT" -s "many$i" -o "$PWD/many" --secret "$PWD/secret" --me "$i" \
			-k agent.deadline_s=300 -k agent.linger_s=1000 --peers "@$PWD/many/list" \
			>"many/$i.out" 2>"many/$i.err" &
	done
}

test_expect "$n agents meet, and the view of one of them has all, with the sums of all processes" '
	agents_begin
	wait_for 300 "limit $VFTR top -s many0 -1j | jq -e \".n_nodes == $n and .nodes_seen == $n\""
	touch many/stop
	for i in 0 1 16 17 $last; do VFTR_SESSION=many$i VFTR_AGENT=off "$BIN/live" "$PWD/many" & done
	echo ".complete and .n_nodes == $n and .nodes_seen == $n and .nodes_missing == 0 and
		.total.processes == 5 and .total.threads == 5 and .total.calls_per_s == 0 and
		([.paths[] | select(.path | startswith(\"counted<\")).calls] | add) == 5 * 12345" >whole.jq
	for i in 0 $last 5; do
		wait_for 120 "limit $VFTR top -s many$i -1j >view.$i && jq -e -f whole.jq view.$i"
	done'

test_expect 'an order of one of them gets to all' '
	limit "$VFTR" top -s many3 --off counted >said
	is "counted is off on $n nodes" "$(cat said)"
	limit "$VFTR" top -s many$last --on counted >said
	is "counted is recorded on $n nodes" "$(cat said)"'

done_testing
