#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='full rings: block loses nothing, drop counts what is missing'
. "$(dirname "$0")/../lib/lib.sh"
need jq taskset
need_built "$AGENT" "$LIB/libvftrace.so"

cc_traced "$BIN/end" "$T/hook/app-end.c" || skip_all 'app-end.c cannot be compiled'
ALL=end_all.json
LEAF='leaf<work<end_storm<main<init'
SMALL='-k shm.ring_size=32KiB'
calls=${VFTR_LONG:+100000000} calls=${calls:-20000000} # a ring is full some thousand times
long=60000000 # longer than it takes to stop an agent
few=2000000

exact_storm() { # CALLS
	is "$1" "$(calls_of $ALL "$LEAF")" calls
	is 1 "$(calls_of $ALL 'work<end_storm<main<init')" 'calls of work'
	is 0 "$(json $ALL .lost)" lost
}

# what is there and what is missing is all there was; stacks are balanced
accounted() { # CALLS
	lost=$(json $ALL .lost)
	is "$1" $(($(calls_of $ALL "$LEAF") + lost)) 'calls and lost'
	is "$lost" "$(json $ALL '[.stacks[].lost] | add')" 'lost, per parent'
	is "$lost" "$(json $ALL '[.stacks[] | select(.function == "work") | .lost] | add')" \
		'lost below work'
	is 1 "$(calls_of $ALL 'work<end_storm<main<init')" 'calls of work'
	is 4 "$(json $ALL '[.stacks[] | select(.calls > 0)] | length')" paths
}

test_expect "block, 32 KiB rings, $calls calls: every one is there" "
	limit $AGENT -q $SMALL -- $BIN/end storm $calls
	exact_storm $calls"

test_expect 'block, on one CPU with the agent: nothing lost, the waiting is reported' "
	rm -f end_*
	limit taskset -c 0 $AGENT -q $SMALL -- $BIN/end storm $few
	exact_storm $few
	jq -e '.blocked_s > 0' $ALL
	grep -qi blocked end_node_*.log"

test_expect 'block, agent stopped for half a second: the program waits and goes on' "
	rm -f end_*
	$AGENT -q $SMALL -- $BIN/end storm $long &
	job=\$!
	# it has its rings
	wait_for 20 'grep -q memfd:.*vftr /proc/\$(pgrep -P \$job -x end)/maps'
	agent=\$(agent_pids)
	kill -STOP \$agent
	sleep 0.5
	kill -CONT \$agent
	wait \$job
	exact_storm $long
	jq -e '.blocked_s > 0.2' $ALL"

test_expect "drop, 32 KiB rings, $calls calls: what is missing is counted exactly" "
	rm -f end_*
	limit $AGENT -q $SMALL -k shm.when_full=drop -- $BIN/end storm $calls
	accounted $calls"

test_expect 'drop, on one CPU with the agent: much is missing, and all of it is counted' "
	rm -f end_*
	limit taskset -c 0 $AGENT -q $SMALL -k shm.when_full=drop -- $BIN/end storm $few
	accounted $few
	jq -e '.lost > 0' $ALL"

test_expect 'the loss is printed: summary, node log' "
	grep -qi lost end_all.log
	grep -qi lost end_node_*.log
	is 0 \$(json $ALL .blocked_s) 'blocked time'"

test_expect 'drop, recursion and several paths: stacks stay balanced' "
	cat >fib.c <<-'END'
		static volatile int sink;
		static int __attribute__((noinline)) fib(int n);
		static int __attribute__((noinline)) other(int n)
		{
			return fib(n - 1);
		}
		static int __attribute__((noinline)) fib(int n)
		{
			return n < 2 ? n : other(n) + other(n - 1);
		}
		int main(void)
		{
			for (int i = 0; i < 40; i++)
				sink += fib(20);
			return 0;
		}
	END
	cc_traced $BIN/fib fib.c
	limit $AGENT -q -- $BIN/fib
	cp fib_all.json whole.json
	rm -f fib_*
	limit taskset -c 0 $AGENT -q $SMALL -k shm.when_full=drop -- $BIN/fib
	all=\$(json whole.json '[.stacks[].calls] | add')
	is \$all \$(json fib_all.json '([.stacks[].calls] | add) + .lost') 'calls and lost'
	json fib_all.json '.stacks[].path' >paths
	json whole.json '.stacks[].path' >whole.paths
	sort whole.paths >a
	sort paths | comm -13 a - >extra
	is 0 \$(wc -l <extra) 'paths that cannot be'"

test_expect 'threads share nothing: each ring is full on its own' "
	cat >threads.c <<-'END'
		#include <pthread.h>
		static volatile int sink;
		static void __attribute__((noinline)) leaf(void)
		{
			sink++;
		}
		static void *run(void *arg)
		{
			for (int i = 0; i < 300000; i++)
				leaf();
			return arg;
		}
		int main(void)
		{
			pthread_t t[8];
			for (int i = 0; i < 8; i++)
				pthread_create(&t[i], 0, run, 0);
			for (int i = 0; i < 8; i++)
				pthread_join(t[i], 0);
			return 0;
		}
	END
	cc_traced $BIN/threads threads.c
	limit taskset -c 0 $AGENT -q $SMALL -- $BIN/threads
	is 2400000 \$(calls_of threads_all.json 'leaf<run<init') calls
	limit taskset -c 0 $AGENT -q $SMALL -k shm.when_full=drop -- $BIN/threads
	is 2400000 \$((\$(calls_of threads_all.json 'leaf<run<init') + \
		\$(json threads_all.json .lost))) 'calls and lost'"

done_testing
