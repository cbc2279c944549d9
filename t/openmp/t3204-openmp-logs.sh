#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='OpenMP in the logs: the tree of threads, parallel regions, names by file and line'
. "$(dirname "$0")/../lib/lib.sh"
need jq gcc objcopy strip
need_built "$AGENT" "$LIB/libvftrace.so"
TEST_FLAGS='-g -O1 -fopenmp'
TEST_CC=gcc
cc_traced "$BIN/tree" "$T/openmp/app-openmp-tree.c" || { echo "Bail out! app-openmp-tree.c does not build"; exit 1; }

# tree_of JSON: "0.2.1 TID" for each place and each thread that was there
tree_of() {
	jq -r '(.each_thread | map({key: "\(.thread)", value: .tid}) | from_entries) as $tid |
		.openmp_threads[] | select(.level > 0) | (.ancestors | map(tostring) | join(".")) as $at |
		.threads[] | "\($at) \($tid["\(.)"])"' "$1" | sort
}

# same_tree PROGRAM CASE
same_tree() {
	traced -q -k profile_table.threads=all -- "$BIN/$1" "$2" >told
	is '[]' "$(jq -c .warnings "$1_all.json")" warnings
	sort -u told >wanted
	tree_of "$1_all.json" >got
	diff -U0 wanted got
	# as many implicit tasks as lines at each place
	cut -d' ' -f1 told | sort | uniq -c | awk '{ print $2, $1 }' >wanted
	jq -r '.openmp_threads[] | select(.level > 0) |
		"\(.ancestors | map(tostring) | join(".")) \(.teams)"' "$1_all.json" | sort >got
	diff -U0 wanted got
}

for how in seed reused; do
	test_expect "gcc: the tree of threads is the one the program asks omp_get_ancestor_thread_num for: $how" "
		same_tree tree $how"
done
test_if 'command -v clang && echo "int main(void){return 0;}" >e.c && clang -fopenmp e.c' 'no OpenMP for clang' \
	'clang: the same' '
	TEST_CC=clang
	cc_traced "$BIN/clang-tree" "$T/openmp/app-openmp-tree.c"
	same_tree clang-tree seed
	same_tree clang-tree reused'
test_expect 'levels, parents and ancestors agree, and the root is the first thread' '
	traced -q -- "$BIN/tree" seed >told
	jq -e ".openmp_threads as \$t | \$t | all(.level == (.ancestors | length) - 1 and
		.thread_num == .ancestors[-1] and
		(if .parent < 0 then .level == 0 and .threads == [0]
		 else \$t[.parent].ancestors == .ancestors[:-1] end))" tree_all.json'
test_expect 'parallel regions are in the order of the ids of their call paths' '
	traced -q -- "$BIN/tree" numbers >told
	jq -e "[.openmp[].id] | length > 2 and . == sort" tree_all.json'
test_expect 'the tree is in the logs of ranks and nodes, indented' '
	traced -q -k logfile_for_ranks=all -- "$BIN/tree" seed >told
	for log in tree_0.log tree_node_*.log; do
		sed -n "/^OpenMP threads/,/^$/p" $log >table
		for place in "0 " "  0.0 " "  0.3 " "    0.2.1 " "      0.2.1.1 "; do
			has table "| $place"
		done
	done
	# the lines of Vftrace, one for each thread; no table unless it is asked for
	is 1 "$(grep -c "^Nr. of OMP threads: *4$" tree_0.log)"
	is 1 "$(grep -c "^   OMP callbacks: " tree_0.log)"
	is "$(sed -n "s/^Nr. of threads: *//p" tree_0.log)" \
		"$(grep -cE "^ +Thread [0-9]+: +[0-9]+\.[0-9]{2} s$" tree_0.log)"
	is 0 "$(cat tree_*.log | grep -c "^Threads$")"
	jq -e "has(\"each_thread\") | not" tree_all.json'
cat >many.c <<-"EOF"
	#include <pthread.h>
	#include <unistd.h>
	static void *run(void *unused)
	{
	#pragma omp parallel num_threads(2)
		usleep(1000);
		return unused;
	}
	int main(void)
	{
		pthread_t t;
		for (int i = 0; i < 12; i++)
			if (pthread_create(&t, NULL, run, NULL) || pthread_join(t, NULL))
				return 1;
		run(NULL);
		return usleep(100000);
	}
EOF
test_expect 'of many threads at one place the first are named; idle time is shown' '
	TEST_FLAGS="$TEST_FLAGS -fopenmp"
	cc_traced many many.c
	traced -q -- ./many
	sed -n "/^OpenMP threads/,/^$/p" many_node_*.log >table
	has table "| Level | Teams |"
	has table "| 0 1 3 5 7 9 11 13 and 5 more "
	is "[13,13]" "$(jq -c "[.openmp_threads[] | select(.level == 1) | .teams]" many_all.json)"
	has many_all.log "threads are idle, which is part of the exclusive time of init"
	# where it has frames of its own it is not
	limit "$VFTR" run -q -o shown -- ./many
	has shown/summary.log "(idle)"
	hasnt shown/summary.log "threads are idle"'

region() { # STACK-OF-REGION NAME...: the values
	json_region=$1
	shift
	for name; do
		jq -r --arg c "$json_region" ".openmp[] | select(.caller == \$c) | .$name" tree_all.json
	done | tr '\n' ' ' | sed 's/ $//'
}
between() {
	awk -v low="$1" -v x="$2" -v high="$3" 'BEGIN { exit !(low <= x && x <= high) }' ||
		{ echo "$2 is not between $1 and $3: $4"; return 1; }
}
test_expect 'one thread of four works: balance, join' '
	traced -q -- "$BIN/tree" numbers
	is "2 4 4 4 1 0" "$(region unbalanced calls team_min team_max threads ranks tasks)"
	between 0.12 "$(region unbalanced t_wall_s)" 10 wall
	between 0.12 "$(region unbalanced t_busy_s)" 10 busy
	between 25 "$(region unbalanced balance_percent)" 60 balance
	between 0.30 "$(region unbalanced t_join_s)" 30 join'
test_expect 'waiting at a barrier is no work' '
	between 0.09 "$(region at_the_barrier t_barrier_s)" 10 barrier
	between 0.11 "$(region at_the_barrier t_busy_s)" 10 busy
	between 0.07 "$(region at_the_barrier t_wall_s)" 10 wall'
test_expect 'tasks and their time' '
	is 10 "$(region some_tasks tasks)"
	between 0.02 "$(region some_tasks t_tasks_s)" 10 tasks'
test_expect 'the table of regions stands in all logs, with names by file and line' '
	line=$(awk "/void unbalanced/ { f = 1 } f && /omp parallel/ { print NR; exit }" "$T/openmp/app-openmp-tree.c")
	for log in tree_all.log tree_node_*.log; do
		sed -n "/^OpenMP parallel regions/,/^$/p" $log >table
		grep -qE "omp_parallel@app-openmp-tree.c:$line \| +unbalanced" table
		has table "Balance[%]"
	done'
test_expect 'two processes: their regions are added up, their trees stand side by side' '
	printf "#!/bin/sh\n\"%s\" numbers & \"%s\" numbers; wait\n" "$BIN/tree" "$BIN/tree" >both
	traced -q -- sh both
	is "4 4 2" "$(jq -r ".openmp[] | select(.caller == \"unbalanced\") | .calls, .team_max, .ranks" tree_all.json | tr "\n" " " | sed "s/ $//")"
	is 2 "$(jq "[.openmp_threads[] | select(.level == 0)] | length" tree_all.json)"
	is 20 "$(jq ".openmp[] | select(.caller == \"some_tasks\") | .tasks" tree_all.json)"'
test_expect 'the time in teams, and what workers did not work' '
	traced -q -k profile_table.threads=summary -- "$BIN/tree" numbers
	jq -e "[.each_thread[] | select(.thread > 0) | .t_teams_s > 0 and .t_teams_s <= .t_alive_s] | all" tree_all.json
	jq -e "[.each_thread[] | .t_team_waits_s <= .t_teams_s and .t_teams_s + .t_team_joins_s <= .t_alive_s + 1e-6] | all" tree_all.json
	sed -n "/^Threads/,/^$/p" tree_node_*.log >table
	has table "t_idle[s]"'
test_expect 'workers are read long before the thread that made their team: all is in its place' '
	traced -q -k shm.ring_size=65536 -k profile_table.threads=all -- "$BIN/tree" silent
	is "[]" "$(jq -c .warnings tree_all.json)"
	is 600000 "$(jq "[.stacks[] | select(.path | test(\"^leaf<.*omp_parallel@[^<]*<silent<main<init$\")) | .calls] | add" tree_all.json)"
	is 0 "$(jq "[.stacks[] | select(.path | test(\"silent\") | not) | select(.path | startswith(\"leaf\"))] | length" tree_all.json)"
	jq -e "[.stacks[].t_excl_s] | add as \$sum | \$sum > 0.1 and \$sum < 60" tree_all.json'
test_expect 'thousands of threads, each in one small team: all in their places' '
	traced -q -- "$BIN/tree" churn
	is "[]" "$(jq -c .warnings tree_all.json)"
	is 4800 "$(jq "[.stacks[] | select(.path | test(\"^leaf<.*omp_parallel@[^<]*<small<.*omp_parallel@[^<]*<churn<main<init$\")) | .calls] | add" tree_all.json)"
	is 4800 "$(jq "[.stacks[] | select(.path | startswith(\"leaf<\")) | .calls] | add" tree_all.json)"
	is "1200 4" "$(region small calls team_max)"
	is 21 "$(jq ".openmp_threads | length" tree_all.json)"'
test_expect 'killed inside of a region: what there was is in its place' '
	status_of 137 traced -q -- "$BIN/tree" killed
	is 3 "$(jq "[.stacks[] | select(.path | test(\"^leaf<.*omp_parallel@[^<]*<killed<main<init$\")) | .calls] | add" tree_all.json)"
	is "1 3" "$(region killed calls team_max)"'

# ---- names ---------------------------------------------------------------------------

names() { jq -r '.openmp[].region' "$1_all.json" | sort; }
test_expect 'separate debug files give the lines, too' '
	traced -q -- "$BIN/tree" numbers
	names tree >wanted
	is 3 "$(grep -c "^omp_parallel@app-openmp-tree.c:[0-9]*$" wanted)"
	cp "$BIN/tree" "$BIN/split"
	objcopy --only-keep-debug "$BIN/split" "$BIN/split.debug"
	strip --strip-all "$BIN/split"
	objcopy --add-gnu-debuglink="$BIN/split.debug" "$BIN/split"
	traced -q -- "$BIN/split" numbers
	names split | diff -U0 wanted -'
test_expect 'without debug information: function and offset, or file and offset' '
	TEST_FLAGS="-O1 -g0 -fopenmp"
	cc_traced "$BIN/nolines" "$T/openmp/app-openmp-tree.c"
	traced -q -- "$BIN/nolines" numbers
	is 3 "$(names nolines | grep -cE "^omp_parallel@[a-z_.0-9]+\+0x[0-9a-f]+$")"
	strip --strip-all "$BIN/nolines"
	traced -q -- "$BIN/nolines" numbers
	is 3 "$(names nolines | grep -cE "^omp_parallel@nolines\+0x[0-9a-f]+$")"'
test_expect 'damaged debug information: names without lines, and no harm' '
	objcopy --dump-section .debug_line=lines "$BIN/tree" "$BIN/spoilt"
	head -c "$(wc -c <lines)" /dev/urandom >noise
	objcopy --update-section .debug_line=noise "$BIN/tree" "$BIN/spoilt"
	traced -q -- "$BIN/spoilt" numbers
	is 3 "$(names spoilt | grep -c "^omp_parallel@")"'
done_testing
