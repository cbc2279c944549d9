#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The code of many agents in one process (t/scale/sim/job.h), in virtual time.
test_description='simulated agents: the same summary whatever the tree, and what grows with their number'
. "$(dirname "$0")/../lib/lib.sh"
SIMULATE=$BUILD/t/scale/sim/simulate
need_built "$SIMULATE"
[ -n "$VFTR_LONG" ] && many=200 || many=40

# small KEY=VALUE... AGENTS...: nodes with every list of a profile, computing takes no time
small() { limit "$SIMULATE" shape=dice ranks=4 cpu=0 check=1 "$@" >rows 2>words || { cat rows words; return 1; }; }

test_expect 'any number of agents: the summary is that of all node profiles in one process, to the byte' '
	small 1 2 3 4 5 6 7 8 9 15 16 17 31 40 64
	[ "$(awk "\$1 + 0 > 0 && NF == 13" rows | wc -l)" = 15 ]'

test_expect 'call paths with little time are added up before they are sent: the same as afterwards' '
	small prune=0 1 2 3 4 5 6 7 8 9 15 16 17 31 40 64
	[ "$(awk "\$1 + 0 > 0 && NF == 13" rows | wc -l)" = 15 ]
	small prune=1000000000 64 && awk "\$1 == 64 { print \$12 }" rows >all && small prune=0 64 &&
		awk "\$1 == 64 { print \$12 }" rows >some && [ "$(cat some)" -lt "$(cat all)" ]'

# 576 ranks: 331776 pairs; a half of the nodes has 248832, which are not grouped
test_if '[ -n "${VFTR_LONG:-}" ]' 'VFTR_LONG is not set' 'more pairs of ranks than are kept: the same' '
	small shape=all ranks=18 stacks=50 32
	[ "$(awk "\$1 + 0 > 0 && NF == 13" rows | wc -l)" = 1 ]'

test_expect 'more ranks than keep times of their own: the same, in a tenth of the records' '
	small shape=none ranks=512 stacks=20 40 41
	[ "$(awk "\$1 + 0 > 0 && NF == 13" rows | wc -l)" = 2 ]
	mkdir -p sums && small shape=none ranks=512 stacks=20 write=sums 40
	jq -e "(.per_rank | length) < 2048 and (.per_rank | length) + ([.ranks_by_node[].ranks] | add) == 20480 and
		(.ranks_by_node | length) == 40" sums/*.json'

test_expect 'more ranks than have rows of their own in any list: the same, and none is lost' '
	small shape=none ranks=512 stacks=20 by_rank=1 40 41
	[ "$(awk "\$1 + 0 > 0 && NF == 13" rows | wc -l)" = 2 ]
	mkdir -p rows-of && small shape=none ranks=512 stacks=20 by_rank=1 write=rows-of 40
	jq -e "def of(kept; sums): (kept | length) < 2048 and (kept | length) + ([sums[].ranks] | add) == 20480;
		of(.memory_ranks; .memory_by_node) and (.gpus | length) + ([.gpus_by_node[].gpus] | add) == 20480 and
		(.gpu_streams | length) + ([.gpu_streams_by_node[].entries] | add) == 40960 and
		(.user_counters | length) + ([.user_counters_of_others[].ranks] | add) == 40960 and
		(.communicators | length) == 16384 and
		([.other_communicators[] | select(.from_size == 1) | .ranks] | add) == 20480 - 16384 and
		(.gpu_transfers | length) < 2048 and
		(.gpu_transfers | length) + ([.other_gpu_transfers[].rows] | add) == 40960" rows-of/*.json'

test_expect 'messages that are late, and nodes that end late: the same' "
	small delayed=100 delay_s=2 skew_s=3 runs=$many 13 32"

test_expect 'the same with call paths added up before they are sent' "
	small prune=0 delayed=100 delay_s=2 skew_s=3 runs=$many 13 32"

test_expect 'two runs with the same seed are the same run' '
	small delayed=100 delay_s=2 seed=5 20 && cp rows once
	small delayed=100 delay_s=2 seed=5 20 && cmp once rows
	small delayed=100 delay_s=2 seed=6 20 && ! cmp -s once rows'

# messages SHAPE EACH KEY=VALUE...: so many for each level of the tree
messages() {
	limit "$SIMULATE" "shape=$1" $3 stacks=50 ranks=8 cpu=0 2 8 9 64 512 >rows || { cat rows; return 1; }
	awk -v each="$2" 'NF == 13 && $1 + 0 > 1 {
			n++
			for (levels = 0; 2 ^ levels < $1; levels++);
			if ($7 != each * levels) { print; bad = 1 }
		}
		END { exit bad || n != 5 }' rows
}

# done up, finish down, profiles up, numbers down
test_expect 'agent 0 has 4 messages for each level of the tree where no node has any for others' 'messages none 4'

test_expect 'it has 2 more, of the directory, where nodes have messages for others' 'messages halo 6'

# each way, hashes and answers
test_expect 'it has 4 more where nodes ask which call paths have little time' 'messages none 8 prune=0'

test_expect 'where they do, the summary has as many rows whatever the number of agents' '
	limit "$SIMULATE" stacks=500 own=40 ranks=8 cpu=0 prune=0 512 >rows && cat rows
	awk "\$1 == 512 { n++; bad = \$12 > 600 } END { exit n != 1 || bad }" rows
	limit "$SIMULATE" stacks=500 own=40 ranks=8 cpu=0 prune=1000000000 512 >rows && cat rows
	awk "\$1 == 512 { n++; bad = \$12 < 100000 } END { exit n != 1 || bad }" rows'

# moved PRUNE: MB that agent 0 sends and gets, where agents have died before
moved() {
	limit "$SIMULATE" stacks=500 own=40 ranks=8 cpu=0 seed=2 deaths=6 "prune=$1" 256 >rows || { cat rows; return 1; }
	awk '$1 == 256 { print $8 }' rows
}

test_expect 'agents that have died before the end do not keep the others from asking' '
	asked=$(moved 0)
	not=$(moved 1000000000)
	echo "$asked MB, $not without being asked"
	awk "BEGIN { exit !($asked < 0.8 * $not) }"'

test_if '[ -z "$SANITIZE" ]' 'memory is not counted, as the sanitizer has an allocator of its own' \
	'half of the agents need no more memory in a job of 512 than in one of 32' '
	limit "$SIMULATE" stacks=500 own=40 ranks=8 cpu=0 32 512 >rows
	cat rows
	awk "\$1 == 32 { few = \$11 } \$1 == 512 { many = \$11 } END { exit !few || many > 1.2 * few + 0.1 }" rows'

# placed PLACEMENT RANKS: MB that agent 0 moves, and of its memory; each node has one run of ranks
placed() {
	limit "$SIMULATE" shape=none "placement=$1" "ranks=$2" stacks=50 cpu=0 256 >"$1" || { cat "$1"; return 1; }
	awk '$1 == 256 { n++; print $8, $9; bad = $13 != 256 } END { exit n != 1 || bad }' "$1"
}

test_expect 'ranks that go round the nodes: the same summary from any tree, and a run of ranks of each node' '
	limit "$SIMULATE" placement=cyclic ranks=5 stacks=50 cpu=0 check=1 delayed=100 delay_s=2 1 2 3 7 16 33 >rows
	cat rows
	awk "NF == 13 && \$1 + 0 > 0 { n++; bad += \$13 != \$1 } END { exit n != 6 || bad }" rows'

test_if '[ -z "$SANITIZE" ]' 'memory is not counted, as the sanitizer has an allocator of its own' \
	'they need no more memory and messages at agent 0 than ranks in blocks, however many there are' '
	for ranks in 4 128; do
		block=$(placed block $ranks) && cyclic=$(placed cyclic $ranks)
		echo "$block in blocks, $cyclic round the nodes"
		awk "BEGIN { split(\"$block $cyclic\", v); exit v[3] > 1.01 * v[1] || v[4] > 1.01 * v[2] + 0.1 }"
	done'

test_expect 'a summary that is not that of the nodes is told' '
	if small wrong=1 8; then return 1; fi
	grep "not that of all node profiles" words'

done_testing
