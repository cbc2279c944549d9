#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# How many messages agent 0 has, with many real agents on this machine.
test_description='messages at agent 0: some log N of N agents'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$LIB/libvftrace.so"
unshare --uts --net true 2>/dev/null || skip_all "no host names of its own for each agent here (unshare --uts --net)"
[ -n "$VFTR_LONG" ] && many=256 few=64 || many=32 few=16

# few_messages TRANSPORT AGENTS MOST [OF EACH]: MOST for each level of the tree, and some for each
# other agent; of three runs the best. 32 agents over TCP send 37 to 50: those who end together are in
# one message, and how many do depends on the machine. A design that asks each agent has 62, and of
# 256 has 510 for 96.
few_messages() {
	for try in 1 2 3; do
		limit bash "$T/scale/run" "$1" "$2" >rows || { cat rows; return 1; }
		cat rows
		messages=$(awk -v n="$2" '$2 == n { print $4 }' rows)
		levels=$(awk -v n="$2" 'BEGIN { for (k = 0; 2 ^ k < n; k++); print k }')
		[ "$messages" -gt $(($3 * levels + ${4:-0} * $2)) ] || return 0
		echo "$messages messages of $2 agents"
	done
	return 1
}

test_expect "$many agents over TCP: each has its place in the summary, and agent 0 few messages" '
	few_messages tcp $many 12'

test_expect "processes start one after the other, and agents wait for more: no more messages by that" '
	PAUSE=0.1 SET="agent.linger_s=1" few_messages tcp $many 12'

test_expect "nodes are lost, with others below them in the tree: all others are in the summary" '
	KILL="16 8 5" SET="agent.deadline_s=5" few_messages tcp 32 60'

# the first message of all goes from agent 0 to each other one, and back: see net/mpi.c
for mpi in $(mpi_list); do
	n=$few
	[ $mpi != mpich ] || n=16
	test_expect "$n agents over $mpi: the same" "few_messages $mpi $n 20 2"
done

done_testing
