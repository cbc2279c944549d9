#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='vftr diff: profiles of any kind and number of ranks, and what they differ by'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$VFTR"

# profile RANKS RUNTIME < lines "CALLS EXCL DEVIATION RANKS PATH": a BASE_all.json
profile() {
	awk -v ranks="$1" -v runtime="$2" '
	BEGIN { printf "{\"format\":\"vftr-profile\",\"version\":1,\"ranks\":%d,\"runtime_s\":%s,\"stacks\":[", ranks, runtime }
	{
		f = $5; sub(/<.*/, "", f)
		printf "%s{\"id\":%d,\"path\":\"%s\",\"function\":\"%s\",\"calls\":%s,\"t_incl_s\":%s,\"t_excl_s\":%s,\"t_excl_deviation_s\":%s,\"ranks\":%s,\"unknown\":[{}]}", (NR > 1 ? "," : ""), NR - 1, $5, f, $1, $2 * 2, $2, $3, $4
	}
	END { print "],\"mpi\":[]}" }'
}

# what jq finds in the difference of the row with this path
row() {
	jq -r --arg p "$2" ".differences[] | select(.path == \$p) | $3" "$1"
}

{
	echo "4 8.0 0.1 4 solve<main<init"
	echo "4 4.0 0.5 4 wait<main<init"
	echo "4 2.0 0.0 4 gone<main<init"
	echo "0 0.4 0.0 4 main<init"
} | profile 4 4.0 >a.json
{
	echo "8 8.8 0.1 8 solve<main<init"
	echo "8 9.6 0.5 8 wait<main<init"
	echo "8 0.8 0.0 8 fresh<main<init"
	echo "0 0.8 0.0 8 main<init"
} | profile 8 3.0 >b.json

test_expect 'times are means over the ranks of each job' '
	"$VFTR" diff -j a.json b.json >d.json
	is "2 1.1 -0.9" "$(row d.json "solve<main<init" "\"\(.a_s) \(.b_s) \(.diff_s)\"")"
	is "4 3" "$(jq -r "\"\(.a.runtime_s) \(.b.runtime_s)\"" d.json)"
	is "4 8" "$(row d.json "solve<main<init" "\"\(.calls_a) \(.calls_b)\"")"'

test_expect 'ranks of further jobs of a run count, as their time does' '
	sed "s/\"ranks\":8,/\"ranks\":6,\"other_ranks\":2,/" b.json >jobs.json
	"$VFTR" diff -j a.json jobs.json >d.json
	is "4 8" "$(jq -r "\"\(.a.ranks) \(.b.ranks)\"" d.json)"
	is "2 1.1 -0.9" "$(row d.json "solve<main<init" "\"\(.a_s) \(.b_s) \(.diff_s)\"")"'

test_expect 'or sums, or inclusive' '
	"$VFTR" diff -j -p job a.json b.json >d.json
	is "8 8.8 10" "$(row d.json "solve<main<init" "\"\(.a_s) \(.b_s) \(.diff_percent)\"")"
	"$VFTR" diff -j -t incl a.json b.json >d.json
	is "4 2.2 null false" "$(row d.json "solve<main<init" \
		"\"\(.a_s) \(.b_s) \(.imbalance_s) \(.significant)\"")"'

test_expect 'a difference counts if it exceeds the imbalance over ranks' '
	"$VFTR" diff -j a.json b.json >d.json
	is "0.1 true" "$(row d.json "solve<main<init" "\"\(.imbalance_s) \(.significant)\"")"
	is "0.2 0.5 false" "$(row d.json "wait<main<init" "\"\(.diff_s) \(.imbalance_s) \(.significant)\"")"
	"$VFTR" diff --significant a.json b.json >text
	has text "solve<main<init"
	hasnt text "wait<main<init"'

test_expect 'a path of one run only is shown, and told' '
	"$VFTR" diff a.json b.json >text
	has text "1 call path only in A, 1 only in B"
	has text "A: a.json (summary, 4 ranks, 4.000 s, 4 call paths)"
	grep -q "^| *0.500 | *---- | *-0.500 | .*gone<main<init" text
	grep -q "^| *---- | *0.100 | *0.100 | .*fresh<main<init" text'

test_expect 'rows are sorted by the key, and limited' '
	order() { "$VFTR" diff -j -s "$1" a.json b.json | jq -r "[.differences[].function] | join(\" \")"; }
	is "solve gone wait fresh main" "$(order diff)"
	is "fresh gone main solve wait" "$(order path)"
	is "solve wait gone main fresh" "$(order a)"
	is "wait solve fresh main gone" "$(order b)"
	"$VFTR" diff -l 2 a.json b.json >text
	is 2 "$(grep -c "<init" text)"
	has text "... and 3 more"
	"$VFTR" diff -l 0 -m 0.4 a.json b.json >text
	is 2 "$(grep -c "<init" text)"'

test_expect 'functions add up their paths' '
	printf "1 1.0 0.1 2 f<g<main<init\n1 2.0 0.2 2 f<main<init\n1 4.0 0 2 f<f<main<init\n" | profile 2 1 >f.json
	"$VFTR" diff -f -j -p job f.json f.json >d.json
	is "1 f 7 3" "$(jq -r ".differences | \"\(length) \(.[0].path) \(.[0].a_s) \(.[0].calls_a)\"" d.json)"
	"$VFTR" diff -f -j -t incl -p job f.json f.json >d.json
	is "6" "$(jq -r ".differences[0].a_s" d.json)" "recursion counts once"'

test_expect 'a profile does not differ from itself, whatever file it is read from' '
	cc_traced "$BIN/end" "$T/hook/app-end.c"
	mkdir run
	cd run
	status_of 3 traced -q -- "$BIN/end" exit3
	for a in end_all.json end_all.log end_*.vfp .; do
		for b in end_all.json end_all.log end_*.vfp .; do
			"$VFTR" diff -j "$a" "$b" >d.json
			is "0 0" "$(jq -r "\"\(.only_a) \(.only_b)\"" d.json)" "$a $b"
			is 0 "$(jq -r "[.differences[] | select(.calls_a != .calls_b)] | length" d.json)"
			is "" "$(jq -r ".differences[] | select((.diff_s | fabs) > 0.001) | .path" d.json)"
		done
	done'

test_expect 'logs of Vftrace are read, with whatever columns' '
	cp "$T/fuzz/corpus/diff/vftrace.log" v.log
	"$VFTR" diff -j v.log v.log >d.json
	is "log of Vftrace 7 7" "$(jq -r "\"\(.a.kind) \(.a.rows) \(.differences | length)\"" d.json)"
	is "0.041 20" "$(row d.json "bar<foo<main<init" "\"\(.a_s) \(.calls_a)\"")"
	# the columns of the default
	cut -d"|" -f1-5,9- v.log | sed "s/^\(+-*+-*+-*+-*\)+-*+-*+-*/\1/" >plain.log
	hasnt plain.log "overhead"
	"$VFTR" diff -j plain.log v.log >d.json
	is "0 0 0" "$(jq -r "\"\(.only_a) \(.only_b) \([.differences[] | select(.diff_s != 0)] | length)\"" d.json)"'

test_expect 'calls that Vftrace printed as negative numbers are those beyond 2^31' '
	sed "/| *20 |.*bar<foo/s/^|    20 |/|-29496 |/" v.log >negative.log
	"$VFTR" diff -j negative.log v.log >d.json
	is 4294937800 "$(row d.json "bar<foo<main<init" .calls_a)"'

test_expect 'a rank log of Vftrace, whose list of stacks has other numbers, is not mixed up' '
	cut -d"|" -f1-5,9-11,13 v.log | sed "s/^\(+-*+-*+-*+-*\)+-*+-*+-*/\1/; s/^\(+-.*\)+-*+\$/\1+/; s/^  STID4 /  STIDx /; s/^  STID5 /  STID4 /; s/^  STIDx /  STID5 /" >rank.log
	"$VFTR" diff -j rank.log rank.log >d.json
	is "0.041" "$(row d.json "bar<foo" .a_s)"
	is "0.008" "$(row d.json "bar<main" .a_s)"'

test_expect 'a log of layout run is read in its own units, with its own titles' '
	cat >units.log <<-"END"
		vftr 0.1.0
		Nr. of MPI ranks:            2

		Runtime profile (sum over 2 ranks)
		+-------+------------+-----------+--------------+---------+----------+--------+------+
		| Calls | t_excl[ms] | t_incl[s] | Imbalance[%] | on rank | Function | Caller | STID |
		+-------+------------+-----------+--------------+---------+----------+--------+------+
		|     3 |    250.500 |     1.200 |        60.00 |       1 |      foo |   main |    1 |
		|     1 |      0.250 |     1.500 |         0.00 |       0 |     main |   init |    0 |
		+-------+------------+-----------+--------------+---------+----------+--------+------+

		Global call stacks:
		   STID   Call stack
		  STID1   foo < main < init
		  STID0   main < init
	END
	sed "s/t_excl.ms./t_excl[s] /" units.log >seconds.log
	"$VFTR" diff -j units.log seconds.log >d.json
	is "0.12525 125.25" "$(row d.json "foo<main<init" "\"\(.a_s) \(.b_s)\"")"'

test_expect 'names with blanks, < and | of C++ stay whole' '
	cat >cxx.log <<-"END"
		vftr 0.1.0
		Nr. of processes:            2

		Runtime profile
		+-------+-----------+----------------------+--------+------+
		| Calls | t_excl[s] |       Function       | Caller | STID |
		+-------+-----------+----------------------+--------+------+
		|     3 |     1.500 | operator|(int, é<A>) |   main |    0 |
		|     1 |     0.500 |                 main |   init |    1 |
		+-------+-----------+----------------------+--------+------+

		Global call stacks:
		   STID   Call stack
		  STID0   operator|(int, é<A>)<main<init
		  STID1   main<init
	END
	"$VFTR" diff -j cxx.log cxx.log >d.json
	is "3 operator|(int, é<A>)" "$(row d.json "operator|(int, é<A>)<main<init" "\"\(.calls_a) \(.function)\"")"
	"$VFTR" diff -f -j cxx.log cxx.log >d.json
	is "main operator|(int, é<A>)" "$(jq -r "[.differences[].path] | sort | join(\" \")" d.json)"'

test_expect '--fail tells what has become slower, by more than the imbalance' '
	status_of 0 "$VFTR" diff -x 5 a.json a.json >text
	status_of 1 "$VFTR" diff -x 5 a.json b.json >text 2>err
	has err "fresh<main<init is new in B (0.100 s)"
	# wait takes 20 % longer, which the imbalance allows
	status_of 0 "$VFTR" diff -x 5 -m 0.15 a.json b.json >text
	has text "wait<main<init"'

test_expect 'OpenMP regions whose lines have moved are the same, in their order; one more is new' '
	lines() {
		for line; do
			echo "4 2.$line 0.1 4 omp_parallel@a.c:$line<f<main<init"
			echo "4 1.$line 0.1 4 omp_join<omp_parallel@a.c:$line<f<main<init"
		done
	}
	{ lines 9 100; echo "4 3 0.1 4 omp_parallel@b.c:5<g<main<init"; } | profile 4 4.0 >old.json
	{ lines 12 103; echo "4 3 0.1 4 omp_parallel@b.c:7<g<main<init"; } | profile 4 4.0 >new.json
	"$VFTR" diff -j -p job old.json new.json >d.json
	is "5 0 0" "$(jq -r "\"\(.rows) \(.only_a) \(.only_b)\"" d.json)"
	is "2.9 2.12" "$(row d.json "omp_parallel@a.c:9<f<main<init" "\"\(.a_s) \(.b_s)\"")"
	is "1.1 1.103" "$(row d.json "omp_join<omp_parallel@a.c:100<f<main<init" "\"\(.a_s) \(.b_s)\"")"
	status_of 0 "$VFTR" diff -x 1000 old.json new.json >text
	{ lines 12 50 103; echo "4 3 0.1 4 omp_parallel@b.c:7<g<main<init"; } | profile 4 4.0 >more.json
	status_of 1 "$VFTR" diff -p job -x 1000 old.json more.json >text 2>err
	is "vftr: omp_parallel@a.c:50<f<main<init is new in B (2.500 s)" "$(cat err)"
	"$VFTR" diff -j old.json more.json >d.json
	is "4 6" "$(jq -r "\"\(.only_a) \(.only_b)\"" d.json)"'

# stacks LINE:SECONDS...: a loop in each of these lines, and what it calls
stacks() {
	for at; do
		echo "4 ${at#*:} 0 4 omp_loop@a.c:${at%:*}<f<main<init"
		echo "4 ${at#*:} 0 4 g<omp_loop@a.c:${at%:*}<f<main<init"
	done
}

test_expect 'nor where the line of one is now what that of another was, with what they call' '
	stacks 20:1 30:8 40:2 | profile 4 4.0 >old.json
	stacks 30:1 40:8 50:2 | profile 4 4.0 >new.json
	"$VFTR" diff -j -p job old.json new.json >d.json
	is "6 0 0 0" "$(jq -r "\"\(.rows) \(.only_a) \(.only_b) \([.differences[] | select(.diff_s != 0)] | length)\"" d.json)"
	# what one alone calls, and not in both runs
	{ stacks 20:1 30:8 40:2; echo "4 3 0 4 h<g<omp_loop@a.c:20<f<main<init"
		echo "4 5 0 4 h<g<omp_loop@a.c:30<f<main<init"; } | profile 4 4.0 >old.json
	{ stacks 30:1 40:8 50:2; echo "4 3 0 4 h<g<omp_loop@a.c:30<f<main<init"; } | profile 4 4.0 >new.json
	"$VFTR" diff -j -p job old.json new.json >d.json
	is "1 0" "$(jq -r "\"\(.only_a) \(.only_b)\"" d.json)"
	is "3 3" "$(row d.json "h<g<omp_loop@a.c:20<f<main<init" "\"\(.a_s) \(.b_s)\"")"
	is "5 0" "$(row d.json "h<g<omp_loop@a.c:30<f<main<init" "\"\(.a_s) \(.calls_b)\"")"'

test_expect 'names of other functions that look like a place are not taken for one' '
	echo "4 3 0.1 4 call@plt:5<f<main<init" | profile 4 4.0 >old.json
	echo "4 3 0.1 4 call@plt:7<f<main<init" | profile 4 4.0 >new.json
	"$VFTR" diff -j old.json new.json >d.json
	is "2 1 1" "$(jq -r "\"\(.rows) \(.only_a) \(.only_b)\"" d.json)"'

test_expect '--fail: where a node profile is damaged it cannot tell, which is status 2' '
	mkdir whole
	for n in 1 2; do gunzip -c "$T/golden/in/mpi-node$n.vfp.gz" >whole/mpi_node$n.vfp; done
	cp -r whole cut
	head -c 2000 whole/mpi_node2.vfp >cut/mpi_node2.vfp
	status_of 0 "$VFTR" diff -x 1e6 whole whole >text
	status_of 2 "$VFTR" diff -x 1e6 whole cut >text 2>err
	has err "cut: 1 node profile can"
	status_of 0 "$VFTR" diff whole cut >text 2>err
	has err "mpi_node2.vfp"'

test_expect 'vftrace_diff_profiles prints what it printed, from the same command line' '
	ln -s "$VFTR" vftrace_diff_profiles
	sed "s/ 0.041 |/ 0.051 |/" v.log >slow.log
	./vftrace_diff_profiles slow.log v.log >text
	is "Function T1[s] T2[s] T_diff[s] T_diff[%] stackID" "$(head -n 1 text)"
	is "bar 0.051 0.041 0.010 19.61 4" "$(awk "NR == 2 { print \$1, \$2, \$3, \$4, \$5, \$6 }" text)"
	is 8 "$(wc -l <text)"
	refuse ./vftrace_diff_profiles v.log 2>/dev/null
	./vftrace_diff_profiles --help | grep -q vftrace_diff_profiles'

test_expect 'what is no profile is refused in one sentence, with status 2' '
	: >empty
	echo "no log" >text.log
	echo "{\"format\":\"other\"}" >other.json
	echo "{\"format\":\"vftr-profile\",\"version\":9,\"stacks\":[]}" >new.json
	head -c 300 a.json >cut.json
	sed "s/|     1 |     0.008/|     1 | 0.008x  /" v.log >broken.log
	sed "/^| *20 .*reg/s/|    20 |/|    20 /" v.log >edge.log
	head -n 14 v.log >short.log
	printf "VFTRVFP\n and nothing of one" >bad.vfp
	mkdir nothing
	for f in absent empty text.log other.json new.json cut.json broken.log edge.log \
		short.log bad.vfp nothing /proc/self/mem; do
		status_of 2 "$VFTR" diff a.json "$f" >text 2>err || { echo "$f"; exit 1; }
		is 1 "$(wc -l <err)" "$f"
		has err "$f: "
	done
	status_of 2 "$VFTR" diff a.json 2>err
	status_of 2 "$VFTR" diff -s size a.json a.json 2>err
	status_of 2 "$VFTR" diff -l -1 a.json a.json 2>err
	status_of 2 "$VFTR" diff -t now a.json a.json 2>err'

test_expect 'terminals are safe from names with control characters' '
	sed "s/solve/so\\\\u001b[31mlve/g" a.json >control.json
	"$VFTR" diff control.json control.json >text
	! grep -q "$(printf "\033")" text'

# big SEED PATHS: each path of about 300 bytes, 450 bytes of JSON
big() {
	awk -v n="$2" -v seed="$1" 'BEGIN {
		srand(seed)
		printf "{\"format\":\"vftr-profile\",\"version\":1,\"ranks\":64,\"runtime_s\":1.5,\"stacks\":["
		tail = "main<init"
		for (i = 1; i < 14; i++)
			tail = "some_function_" i "<" tail
		for (i = 0; i < n; i++)
			printf "%s\n{\"id\":%d,\"hash\":\"%016x\",\"path\":\"function_%d<%s\",\"function\":\"function_%d\",\"caller\":\"some_function_13\",\"calls\":%d,\"t_incl_s\":%.9f,\"t_excl_s\":%.9f,\"ranks\":64,\"t_excl_min_s\":0.001,\"t_excl_max_s\":0.009}", (i ? "," : ""), i, i, i, tail, i, i * 7, rand(), rand()
		print "]}"
	}'
}

test_expect 'two profiles of 100 000 paths take little memory' '
	for n in 10000 100000; do
		big 1 $n >big1.$n.json
		big 2 $n >big2.$n.json
	done
	(
		[ -n "$SANITIZE" ] || ulimit -v 300000
		"$VFTR" diff big1.100000.json big2.100000.json >text
	)
	has text "0 call paths only in A, 0 only in B"'

# Processor time, made side by side: it is 8 to 10 times that of a tenth of the paths, and 0.3 of that
# in which Python reads the same files, on a busy machine, too
test_if '[ -z "$SANITIZE" ] && command -v python3' 'no python3, or with sanitizers' \
	'... and little time: no more than in proportion to the paths, and than Python needs to read them' '
	limit python3 - "$VFTR" <<"END"
import resource, statistics, subprocess, sys

def spent(*command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

def diff(paths):
    return spent(sys.argv[1], "diff", "big1.%d.json" % paths, "big2.%d.json" % paths)

read = "import json; kept = [json.load(open(f)) for f in (%r, %r)]" % (
    "big1.100000.json", "big2.100000.json")
few, many, python = [], [], []
for i in range(5):
    few.append(diff(10000))
    many.append(diff(100000))
    python.append(spent(sys.executable, "-c", read))
times = statistics.median(m / f for m, f in zip(many, few))
share = statistics.median(m / p for m, p in zip(many, python))
print("%.1f times as long as a tenth, %.2f of what Python takes:" % (times, share), few, many, python)
sys.exit(not (times < 14 and share < 0.75))
END'

done_testing
