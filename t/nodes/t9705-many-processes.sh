#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='thousands of short processes: all are traced, and what they cost the agent'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$LIB/libvftrace.so"

cc_traced "$BIN/many" "$T/nodes/app-many.c" || skip_all 'app-many.c cannot be compiled'
ALL=many_all.json
LEAF='leaf<work<children<main<init'

# the agent, when all of them have ended: how many descriptors, and kB of its own memory
cat >seen.sh <<'END'
"$@" || exit
agent=$(head -n 1 "$VFTR_RUNTIME_DIR"/*.lock)
ls "/proc/$agent/fd" | wc -l >descriptors
sed -n 's/^RssAnon:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$agent/status" >memory
END

# many N [OPTION...]: N children of one process, nofile=256 for it and for the agent
many() {
	n=$1
	shift
	mkdir "of-$n"
	cd "of-$n"
	(ulimit -n 256 && traced -q -k shm.ring_size=64KiB -k outfile_basename=many "$@" -- \
		sh ../seen.sh "$BIN/many" children "$n" 8)
}

# all_there N: nobody is missing from the list, from the sums, or from the tree
all_there() {
	is "$(($1 + 1))" "$(json $ALL .ranks)" processes
	is "$(($1 + 1))" "$(json $ALL '.each_process | length')" 'processes in the list'
	is "$(($1 + 1))" "$(json $ALL '[.each_process[].pid] | unique | length')" pids
	is "$(($1 * 10))" "$(calls_of $ALL "$LEAF")" 'calls of leaf'
	is "$1" "$(calls_of $ALL 'work<children<main<init')" 'calls of work'
	is 0 "$(json $ALL '.lost + (.warnings | length)')" 'lost, and warnings'
	is "$(($1 * 11 + 2))" "$(json $ALL .calls)" 'calls of all'
	is "$(json $ALL .calls)" "$(json $ALL '[.each_process[].calls] | add')" 'calls of each'
	is 1 "$(json $ALL '[.each_process[] | select(.calls == 2)] | length')" parents
}

# no_more_than LIMIT GOT WHAT
no_more_than() {
	[ "$2" -le "$1" ] || { echo "$3: $2, not at most $1" >&2; return 1; }
}

test_expect '1500 children with 256 descriptors: all are traced' '
	many 1500
	all_there 1500'
test_expect '... and the agent keeps none open for them' '
	no_more_than 60 "$(cat of-1500/descriptors)" descriptors'
test_expect 'what the first thousand cost is kept; 1500 more cost 4 KB each at most' '
	many 3000
	all_there 3000
	no_more_than "$(($(cat ../of-1500/memory) + 1500 * 4))" "$(cat memory)" kB'
test_expect 'the same holds where short functions are counted, as by vftr run, and no call of them is missing' '
	mkdir counted && cd counted
	traced -q -k shm.ring_size=64KiB -k overhead.count_tiny=10 -- sh ../seen.sh "$BIN/many" busy 2200 8
	is 2201 "$(json $ALL "[.each_process[] | select(.calls > 0)] | length")" processes
	is 20000000 "$(calls_of $ALL "leaf<busy<main<init")" "calls of leaf in the first process"
	is true "$(json $ALL ".stacks[] | select(.path == \"$LEAF\") | .estimated")" "children count leaf"
	is 22000 "$(calls_of $ALL "$LEAF")" "calls of leaf in its children"
	is 2200 "$(calls_of $ALL "work<children<main<init")" "calls of work"
	no_more_than "$(($(cat ../of-1500/memory) + 1700 * 4))" "$(cat memory)" kB'
# each_costs FEW MANY: CPU time of the agent for each of FEW and of MANY processes
each_costs() {
	echo "$(json "of-$1/$ALL" .agents[0].cpu_s) $(json "of-$2/$ALL" .agents[0].cpu_s)" |
		awk -v few="$1" -v many="$2" '{ print $1 / (few + 1), $2 / (many + 1) }'
}
test_expect 'the CPU time of the agent grows with their number, not faster' '
	for try in 1 2 3; do # one beside the other: others may have had the caches of one of them
		[ $try = 1 ] || (rm -rf of-1500 && many 1500)
		rm -rf of-500
		(many 500 && all_there 500)
		each_costs 500 1500 >costs
		cat costs
		awk "{ exit \$2 > 2 * \$1 }" costs && exit 0
	done
	exit 1'
# makes N: how often the agent of N children made, mapped or asked for something
makes() {
	mkdir "calls-$1"
	limit strace -f -ff -o "calls-$1/of" -e "$MAKES" "$AGENT" -q -k shm.ring_size=64KiB \
		-k agent.cpu=any -- "$BIN/many" children "$1" 1
	grep -c . "$(grep -l memfd_create "calls-$1"/of.* | head -n 1)"
}
MAKES=trace=memfd_create,ftruncate,fallocate,mmap,munmap,prlimit64,openat,newfstatat,readlink
test_if 'command -v strace' 'no strace' 'a child that has ended leaves its memory to the next' '
	few=$(makes 40)
	many=$(makes 140)
	no_more_than $((few + 100 * 4)) "$many" "system calls of 140 children, after those of 40"'
test_expect 'the list has their numbers without a gap, in order, the first process first' '
	cd of-3000
	json $ALL "[.each_process[].rank] | . == (sort | unique)" | grep -x true
	json $ALL ".each_process[0].calls" | grep -x 2
	json $ALL ".application" | grep -x many'
test_expect 'a child whose parent was let go before its first call is inside its functions' '
	traced -q -k shm.ring_size=64KiB -- "$BIN/many" late 1200 8
	is 1203 "$(json $ALL .ranks)" processes
	is 10 "$(calls_of $ALL "leaf<work<begin_late<late<main<init")" calls
	is 12000 "$(calls_of $ALL "leaf<work<children<late<main<init")" calls'
test_expect 'the same with a time line: all are in it' '
	mkdir line && cd line
	traced -q -k shm.ring_size=64KiB -k sampling.active=true -- "$BIN/many" late 1200 8
	is 10 "$(calls_of $ALL "leaf<work<begin_late<late<main<init")" calls
	"$VFTR" dump --json many_*.vfd >dump.json
	is 1203 "$(jq "[.processes[] | select(.ended)] | length" dump.json)" processes
	is 1203 "$(jq ".threads | length" dump.json)" threads'
if [ -n "$VFTR_LONG" ]; then
	test_expect '10 000 children' '
		many 2000
		all_there 2000
		cd ..
		many 10000
		all_there 10000
		no_more_than 60 "$(cat descriptors)" descriptors
		no_more_than "$(($(cat ../of-2000/memory) + 8000 * 4))" "$(cat memory)" kB
		cd ..
		each_costs 2000 10000 | awk "{ print; exit \$2 > 2 * \$1 }"'
fi

done_testing
