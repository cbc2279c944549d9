#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The iterations of programs whose iterations are known, found without a word in them.
test_description='iterations of the main loop: their number, kinds, outliers and growth'
. "$(dirname "$0")/../lib/lib.sh"
need jq python3
need_built "$AGENT" "$VFTR"

mpis=$(mpi_list_short)
[ -n "$mpis" ] || skip_all 'no MPI'

# of JSON EXPRESSION: of its iterations
of() {
	jq -r ".iterations | $2" "$1"
}

# longest_as_told JSON TOLD N AT...: the first N slow iterations are the longest ones by the clock of the program,
# with the rank that was longest outside of MPI, and the times; among the slow ones are those that stalled,
# AT. A stamp is taken a little before the tracer's: within 2 % and 20 ms, which a busy machine needs.
longest_as_told() {
	long_json=$1 long_told=$2 long_n=$3
	shift 3
	for at; do
		jq -e --argjson at "$at" '.iterations.slow | any(.most_at == $at)' "$long_json" || return 1
	done
	jq -r --argjson n "$long_n" '.iterations.slow[:$n][] |
		"\(.most_at) \(.most_s) \(.outside_mpi_rank) \(.outside_mpi_most_s) \(.mpi_share)"' "$long_json" |
		awk -v n="$long_n" 'function near(a, b) { return a - b < 0.02 * a + 0.02 && b - a < 0.02 * a + 0.02 }
			NR == FNR && $1 == "iteration" {
				if ($4 > most[$3]) most[$3] = $4
				outside[$3, $2] = $4 - $5; all[$3] += $4; mpi[$3] += $5; next }
			NR != FNR { k++; at = $1; seen[at]
				print "told", at, most[at], outside[at, $3], mpi[at] / all[at] "; found", $0
				if (!near(most[at], $2) || !near(outside[at, $3], $4) || outside[at, 1 - $3] > outside[at, $3] + 0.02 ||
					$5 - mpi[at] / all[at] > 0.05 || mpi[at] / all[at] - $5 > 0.05) { print "is wrong"; bad = 1 }
				if (k == 1 || most[at] < least) least = most[at] }
			END {
				for (i in most)
					if (!(i in seen) && most[i] > least * 1.02 + 0.02) { print i " was longer: " most[i]; bad = 1 }
				exit bad || k != n }' "$long_told" -
}

# others_as_long TOLD SECONDS AT...: by the clock of the program others than AT took longer than that, on a busy
# machine; three that are about as long are a kind of their own, and none of them is slow
others_as_long() {
	long_told=$1 long_s=$2
	shift 2
	awk -v s="$long_s" -v at=" $* " '$1 == "iteration" && $4 > s && !index(at, " " $3 " ") { print; n++ }
		END { exit !n }' "$long_told"
}

for mpi in $mpis; do
	run="$(mpirun_of $mpi)"
	json=known-$mpi/profile.json
	mpicc_traced $mpi "$BIN/loop" "$T/report/app-loop.c" || { echo "Bail out! app-loop.c does not build"; exit 1; }

	test_expect "$mpi: each call of the main loop is an iteration, and those that stall are the slowest" '
		for try in 1 2 3 4; do
			rm -rf known-$mpi
			limit "$VFTR" run -q -o known-$mpi -- $run -np 2 "$BIN/loop" warm 20 loop 120 3000 every 10 12000 \
				stall 37 1 600 stall 90 0 900 tell >told
			others_as_long told 0.4 37 90 || break
		done
		jq -c ".iterations | del(.steps)" $json
		is "step < main < init" "$(of $json .path)"
		is "2 120 1 120" "$(of $json "\"\\(.ranks) \\(.iterations) \\(.per_step) \\(.steps | length)\"")"
		is "$(seq -s " " 0 119)" "$(of $json "[.steps[].first] | map(tostring) | join(\" \")")"
		# who made the others wait, and for how long
		longest_as_told $json told 2 37 90
		is "1 0" "$(of $json "[.slow[] | select(.most_at == (37, 90))] | sort_by(.most_at) |
			map(.outside_mpi_rank | tostring) | join(\" \")")"'

	test_expect "$mpi: their times are those of the call path" '
		jq -e ".iterations as \$i | .stacks[] | select(.id == \$i.id) |
			(.t_incl_s - \$i.t_s * \$i.ranks | fabs) < 1e-6 and .calls == \$i.iterations * \$i.ranks" $json
		jq -e ".iterations | ([.steps[] | .mean_s * .iterations] | add) - .t_s | fabs < 1e-6" $json
		jq -e ".iterations | ([.steps[].most_s] | max) == .most_s and ([.steps[].least_s] | min) == .least_s" $json'

	test_expect "$mpi: how well ranks are used in iterations, and in those of each kind" '
		jq -e ".iterations | def near(a; b): (a - b | fabs) < 1e-6;
			near(.parallel_efficiency; .load_balance * .communication_efficiency) and
			near(.load_balance; ([.steps[] | .outside_mpi_s * .iterations] | add) /
				([.steps[] | .outside_mpi_most_s * .iterations] | add)) and
			([.kinds[], .steps[] | near(.parallel_efficiency; .load_balance * .communication_efficiency)] | all)" $json
		grep -E "^Efficiency within: [0-9]+ % \(load balance [0-9]+ %, communication [0-9]+ %\)$" known-$mpi/summary.log'

	test_expect "$mpi: iterations with output are a kind of their own" '
		# 3 ms and 15 ms; what else runs on the machine makes them longer, not shorter
		jq -e ".iterations | .median_s >= 0.003 and
			([.steps[] | select(.first % 10 == 9) | .least_s] | min >= 0.015) and
			([.steps[] | select(.first % 10 != 9) | .least_s] | min) <
				0.8 * ([.steps[] | select(.first % 10 == 9) | .least_s] | min) and
			([.kinds[].steps] | add == 120)" $json'

	test_expect "$mpi: the summary, vftr iterations, its CSV and JSON, and the report say the same" '
		grep -E "^Iterations of step < main: 120 on each of 2 ranks, [0-9.]+ (ms|s), [0-9]+ % of it in MPI\$" \
			known-$mpi/summary.log
		limit "$VFTR" iterations known-$mpi >text
		sed -n "/^Iterations of/,/^Kinds/p" known-$mpi/summary.log >wanted
		sed -n "/^Iterations of/,/^Kinds/p" text | diff wanted -
		grep -E "^\| +90 \| +[0-9.]+ \|" text
		limit "$VFTR" iterations --json known-$mpi | jq -S "del(.format, .version)" >one
		jq -S "{iterations}" $json | diff one -
		limit "$VFTR" iterations --csv known-$mpi >csv
		is 121 "$(wc -l <csv)"
		is "$(of $json ".steps[] | [.first, .outside_mpi_rank] | @csv")" "$(awk -F, "NR > 1 { print \$1 \",\" \$13 }" csv)"
		limit "$VFTR" report -o page.html known-$mpi
		python3 "$T/report/same-numbers.py" page.html $json
		[ "$(grep -o "longest: iteration [0-9]*, [0-9.]* s on rank [01]" page.html | wc -l)" -ge 120 ]
		status_of 2 "$VFTR" iterations --csv --json known-$mpi
		status_of 2 "$VFTR" iterations'
done

test_expect 'iterations that grow have a trend; many of them are taken together' '
	limit "$VFTR" run -q -o grown -- $run -np 1 "$BIN/loop" loop 3000 60 grow 200 tell >told
	json=grown/profile.json
	jq -c ".iterations | del(.steps, .slow)" $json
	is "3000 2 1500" "$(of $json "\"\\(.iterations) \\(.per_step) \\(.steps | length)\"")"
	is 3000 "$(of $json "[.steps[].iterations] | add")"
	# from 60 us to 180 us in 3000: 4 us in 100, of a median of 120 us; a busy machine makes more of it
	python3 -c "
from statistics import median
took = [float(line.split()[3]) for line in open(\"told\") if line.startswith(\"iteration \")]
steps = [(a + b) / 2 for a, b in zip(took[::2], took[1::2])]
told = (median(steps[1000:]) - median(steps[:500])) / median(steps) / 20
found = $(of $json .trend_per_100)
print(\"told\", told, \"found\", found)
is_disturbed = median(steps[:500]) > 150e-6 # of 80 us
exit(not ((told > 0.005 or is_disturbed) and abs(found - told) < 0.1 * abs(told) + 0.003))"'

test_expect 'a loop in main is that of the function which it calls' '
	limit "$VFTR" run -q -o bare -- $run -np 2 "$BIN/loop" bare loop 50 2000 >out
	is "iteration < main < init 50" "$(of bare/profile.json "\"\\(.path) \\(.iterations)\"")"'

test_expect 'iterations.of names them; without iterations.active there are none' '
	limit "$VFTR" run -q -o named -k iterations.of="^warm_up\$" -- $run -np 1 "$BIN/loop" warm 30 loop 50 2000 >out
	is "warm_up < main < init 30" "$(of named/profile.json "\"\\(.path) \\(.iterations)\"")"
	limit "$VFTR" run -q -o off -k iterations.active=false -- $run -np 1 "$BIN/loop" loop 50 2000 >out
	is null "$(jq .iterations off/profile.json)"
	limit "$VFTR" iterations off | grep "^Iterations were not looked for: iterations.active was false\.\$"
	limit "$VFTR" run -q -o nobody -k iterations.of=nosuch -- $run -np 1 "$BIN/loop" loop 50 2000 >out
	limit "$VFTR" iterations nobody | grep "^No function that can be the main loop matches iterations.of=\"nosuch\" (vftr-analysis(7), The main loop)\.\$"'

test_expect 'a program without MPI, and without a loop' '
	printf "%s\n" "static volatile int n;" "static void step(void) { for (int i = 0; i < 4000000; i++) n += i; }" \
		"int main(int c, char **v) { for (int i = 0; i < (c > 1 ? 40 : 1); i++) step(); return 0; }" >own.c
	cc_traced own own.c
	limit "$VFTR" run -q -o own-40 -- ./own many
	is "step < main < init 40 0" "$(of own-40/profile.json "\"\\(.path) \\(.iterations) \\(.mpi_share)\"")"
	limit "$VFTR" run -q -o own-1 -- ./own
	is null "$(jq .iterations own-1/profile.json)"'

test_expect 'a rank that is killed has the iterations until then' '
	limit "$VFTR" run -q -o killed -- "$BIN/loop" loop 100000 500 die 400 0 >out 2>err || :
	n=$(of killed/profile.json .iterations)
	echo "$n"
	[ "$n" = 400 ] || [ "$n" = 401 ]
	is "$n" "$(of killed/profile.json "[.steps[].iterations] | add")"'

test_if '[ "$(id -u)" = 0 ] && command -v mpirun.openmpi' 'no pseudo-nodes' 'two nodes: one loop, of the ranks of both' '
	nodes_up 2
	mpicc_traced openmpi "$BIN/loop" "$T/report/app-loop.c"
	for try in 1 2 3 4; do
		rm -rf both
		limit "$AGENT" -q -o both -k output.layout=run -- $(nodes_mpirun 1) -np 2 "$BIN/loop" loop 60 3000 stall 20 1 900 tell >told
		others_as_long told 0.6 20 || break
	done
	longest_as_told both/profile.json told 1 20
	# their waits for each other are known when the job is over
	jq -e ".iterations.slow[] | select(.most_at == 20) | .wait_s > 0.4 and .cause == \"off_cpu\" and .outside_mpi_rank == 1" \
		both/profile.json
	is "2 60" "$(of both/profile.json "\"\\(.ranks) \\(.iterations)\"")"'

done_testing
