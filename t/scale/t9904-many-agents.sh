#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Real agents, all on this machine: in the long form 512 over TCP, and 64 over MPI, where more
# has not been tried. What t/scale/run says of a summary holds:
# all nodes, all calls, what `vftr collate' makes of the nodes' files; and all agents leave.
test_description='many agents on one machine'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$VFTR" "$LIB/libvftrace.so"
unshare --uts --net true 2>/dev/null || skip_all "no host names of its own for each agent here (unshare --uts --net)"
[ -n "$VFTR_LONG" ] && many=512 few=64 || many=24 few=24
TEST_COMMAND_SECONDS=${VFTR_LONG:+900} # 470 s on two processors that have other work
: "${TEST_COMMAND_SECONDS:=180}"

# whole TRANSPORT AGENTS: of many on a machine the first one waits for minutes until the last one has come
whole() {
	SET="agent.deadline_s=300" limit bash "$T/scale/run" "$1" "$2"
}

test_expect "$many agents over TCP: a whole summary, and all leave" "whole tcp $many"

for mpi in $(mpi_list); do
	test_expect "$few agents over $mpi: the same" "whole $mpi $few"
done

done_testing
