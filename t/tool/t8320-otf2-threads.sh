#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='OTF2: teams of OpenMP fork and join, threads of the program are created and end'
. "$(dirname "$0")/../lib/lib.sh"
need jq gcc otf2-print
need_built "$AGENT" "$VFTR" "$LIB/libvftrace.so"
TEST_FLAGS='-g -O1 -fopenmp'

cat >teams.c <<'END'
#include <omp.h>
#include <pthread.h>
#include <stddef.h>
#define RUNS 4
static void work(void)
{
}
static void inner(void)
{
#pragma omp parallel num_threads(2)
	work();
}
/* three threads, of which the second one makes a team of two: 2 teams a run */
static void step(void)
{
#pragma omp parallel num_threads(3)
	{
		work();
#pragma omp barrier
		if (omp_get_thread_num() == 1)
			inner();
	}
}
/* three threads that all make a team of two, at the same place: 4 teams a run */
static void wide(void)
{
#pragma omp parallel num_threads(3)
	inner();
}
/* a thread of the program, with a team of its own: 1 team */
static void *thread(void *unused)
{
#pragma omp parallel num_threads(2)
	work();
	return NULL;
}
static void *quiet(void *unused)
{
	work();
	return NULL;
}
int main(int n, char **words)
{
	pthread_t p, q;

	omp_set_max_active_levels(3);
	for (int i = 0; i < RUNS; i++)
		step();
	if (n > 1)
		wide();
	pthread_create(&p, NULL, quiet, NULL);
	pthread_join(p, NULL);
	pthread_create(&q, NULL, thread, NULL);
	pthread_join(q, NULL);
	return 0;
}
END

# Reads definitions, then events: each line that is wrong, and at last "forks N teams N made N".
cat >check.awk <<'CHECK'
function wrong(what) { print what ": " $0; bad = 1 }
function number(text) { gsub(/[^0-9]/, "", text); return text + 0 }
function team_of(text) { sub(/.*Team: /, "", text); sub(/.*Contingent: /, "", text); sub(/.*</, "", text); return text + 0 }
/^GROUP .*COMM_GROUP, Paradigm: "(OpenMP|POSIX threads)"/ {
	group = $2
	n[group] = $0
	sub(/.*NONE, /, "", n[group]); sub(/ .*/, "", n[group])
	text = $0
	for (k = 0; match(text, /\("[^"]*" <[0-9]+>\)/); k++) {
		at = substr(text, RSTART, RLENGTH)
		sub(/.*</, "", at)
		at = number(at)
		member[group, k] = at
		is_in[group, at] = 1
		text = substr(text, RSTART + RLENGTH)
	}
	if (k != n[group]) wrong("not all members are named")
	next
}
/^COMM .*OpenMP team|^COMM .*threads of the program/ {
	g = $0; sub(/.*Group: "[^"]*" </, "", g); group_of[$2] = g + 0
	next
}
!/^[A-Z_]+ +[0-9]+ +[0-9]+ / { next }
{ t = $2 }
after[t] == "fork" && $1 != "THREAD_TEAM_BEGIN" { wrong("no team after a fork") }
after[t] == "begin" && !/^ENTER .*omp_parallel@/ { wrong("no region after the begin of a team") }
after[t] == "end" && !/^THREAD_TEAM_END/ { wrong("no end of the team after its region") }
after[t] == "ended" && !/^THREAD_JOIN/ { wrong("no join") }
{ after[t] = "" }
/^ENTER .*omp_parallel@/ && !began[t] { loose++; open[t, ++deep[t]] = -1 }
/^ENTER .*omp_parallel@/ { began[t] = 0 }
/^LEAVE .*omp_parallel@/ { if (open[t, deep[t]] != -1) after[t] = "end"; else deep[t]-- }
/^THREAD_FORK/ { if (!/Model: "OpenMP"/) wrong("model"); forks++; after[t] = "fork"; asked[t] = $NF; forked[t] = 1 }
/^THREAD_TEAM_BEGIN/ {
	c = team_of($0); g = group_of[c]
	if (!((g, t) in is_in)) wrong("not a member")
	if (forked[t]) {
		if (member[g, 0] != t) wrong("the master is not the first one")
		if (asked[t] != n[g]) wrong("another size")
		if (running[c]) wrong("the team is there already")
		running[c] = 1; came[c] = 0
		masters[t, deep[t] + 1] = c + 1
	} else if (!running[c]) wrong("before the fork")
	forked[t] = 0; came[c]++; teams++
	open[t, ++deep[t]] = c; began[t] = 1; after[t] = "begin"
}
/^THREAD_TEAM_END/ {
	c = team_of($0)
	if (open[t, deep[t]] != c) wrong("another team is open")
	if (!running[c]) wrong("the team is not there any more")
	if (masters[t, deep[t]] == c + 1) after[t] = "ended"
	deep[t]--
}
/^THREAD_JOIN/ {
	c = masters[t, deep[t] + 1] - 1; masters[t, deep[t] + 1] = 0; joins++
	if (c < 0) wrong("no fork before the join")
	if (came[c] != n[group_of[c]]) wrong("not all have come")
	running[c] = 0
}
/^THREAD_CREATE/ { made++; by[number($NF)] = t; if (!((group_of[team_of($0)], t) in is_in)) wrong("no contingent") }
/^THREAD_BEGIN/ {
	if (seen[t]) wrong("something before the begin of a thread")
	if (!(number($NF) in by)) wrong("created by nobody")
	begins++
	if (!((group_of[team_of($0)], t) in is_in)) wrong("not in the contingent")
}
/^THREAD_END/ { ends++; ended[t] = 1 }
!/^THREAD_END/ && ended[t] { wrong("something after the end of a thread") }
{ seen[t] = 1 }
END {
	if (forks != joins || made != begins || made != ends) wrong(forks " " joins " " made " " begins " " ends)
	print "forks " forks + 0 " teams " teams + 0 " made " made + 0 " loose " loose + 0
	exit bad
}
CHECK

# checked FOLDER: what check.awk says of an archive
checked() {
	otf2-print -G "$1/traces.otf2" >definitions
	otf2-print --warnings-as-errors "$1/traces.otf2" >events 2>&1
	hasnt events ERROR
	cat definitions events | awk -f check.awk >said || { cat said; return 1; }
	tail -n 1 said
}

for cc in gcc clang; do
	test_if "echo 'int main(void){return 0;}' >e.c && $cc -fopenmp e.c" "no OpenMP for $cc" \
		"$cc: each region is a fork and a join, and all of its team begin and end in it" "
		TEST_CC=$cc
		cc_traced $BIN/teams-$cc teams.c -pthread
		limit \"\$VFTR\" run --trace -q -o $cc -- $BIN/teams-$cc
		\"\$VFTR\" export $cc -f otf2 -o $cc.otf2
		# four runs of 3 threads and of 2, and a team of 2 of the thread that was made last
		is 'forks 9 teams 22 made 2 loose 0' \"\$(checked $cc.otf2)\"
		grep -q '^PARADIGM .*OPENMP.*THREAD_FORK_JOIN' definitions
		grep -q '^PARADIGM .*PTHREAD.*THREAD_CREATE_WAIT' definitions"
	test_if "[ -d $cc ]" "no OpenMP for $cc" \
		"$cc: all other events are those of the other formats" "
		\"\$VFTR\" export $cc -f chrome -o $cc.json
		is \"\$(jq '[.traceEvents[] | select(.ph == \"B\") // select(.ph == \"X\")] | length' $cc.json)\" \
			\"\$(otf2-print $cc.otf2/traces.otf2 | grep -c ^ENTER)\"
		is \"\$(otf2-print $cc.otf2/traces.otf2 | grep -c ^ENTER)\" \
			\"\$(otf2-print $cc.otf2/traces.otf2 | grep -c ^LEAVE)\""
	test_if "[ -d $cc ]" "no OpenMP for $cc" \
		"$cc: several teams at the same place at once are right, or a worker has no team" "
		limit \"\$VFTR\" run --trace -q -o $cc-wide -- $BIN/teams-$cc wide
		\"\$VFTR\" export $cc-wide -f otf2 -o $cc-wide.otf2
		said=\$(checked $cc-wide.otf2)
		# four teams more, with 3 workers in the inner ones
		set -- \$said
		is 13 \"\$2\" forks
		is 31 \$((\$4 + \$8)) 'begins of teams, and workers without'
		[ \"\$8\" -le 3 ]
		# a worker in a team that is not its own would make one more of three
		is 5 \"\$(grep -c \"^THREAD_FORK.*: 3\$\" events)\" 'forks of three'"
	test_if "[ -d $cc ]" "no OpenMP for $cc" \
		"$cc: a part of the time, and what an interval leaves, fork as often as they join" "
		end=\$(jq '[.traceEvents[] | .ts // 0] | max * 1000 | floor' $cc.json)
		begin=\$(jq '[.traceEvents[] | select(.name == \"main\") | .ts][0] * 1000 | floor' $cc.json)
		for part in 1 2 3; do
			from=\$((begin + (end - begin) * part / 5))
			rm -rf part.otf2
			\"\$VFTR\" export $cc -f otf2 -o part.otf2 --from \${from}ns --to \$(((from + end) / 2))ns
			otf2-print --warnings-as-errors part.otf2/traces.otf2 >events
			is \"\$(grep -c ^THREAD_FORK events)\" \"\$(grep -c ^THREAD_JOIN events)\"
			is \"\$(grep -c ^THREAD_TEAM_BEGIN events)\" \"\$(grep -c ^THREAD_TEAM_END events)\"
		done
		limit \"\$VFTR\" run --trace -k sampling.sample_interval=1ms -q -o $cc-some -- $BIN/teams-$cc
		\"\$VFTR\" export $cc-some -f otf2 -o some.otf2
		otf2-print --warnings-as-errors some.otf2/traces.otf2 >events
		is \"\$(grep -c ^THREAD_FORK events)\" \"\$(grep -c ^THREAD_JOIN events)\"
		rm -rf some.otf2"
done

test_expect 'a program without threads has no such events, paradigm or communicator' '
	printf "int main(void) { return 0; }\n" >alone.c
	TEST_FLAGS=-g TEST_CC=gcc
	cc_traced "$BIN/alone" alone.c
	limit "$VFTR" run --trace -q -o alone -- "$BIN/alone"
	"$VFTR" export alone -f otf2 -o alone.otf2 2>told
	has told "(1 thread, 0 messages)"
	otf2-print -A alone.otf2/traces.otf2 >all
	hasnt all THREAD_
	hasnt all PARADIGM
	hasnt all COMM'
done_testing
