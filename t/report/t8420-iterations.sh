#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The iterations of programs whose iterations are known, found without a word in them.
test_description='iterations of the main loop: their number, kinds, outliers and growth'
. "$(dirname "$0")/../lib/lib.sh"
need jq python3
need_built "$AGENT" "$VFTR"

mpis=$(mpi_list)
[ -n "$mpis" ] || skip_all 'no MPI'

# of JSON EXPRESSION: of its iterations
of() {
	jq -r ".iterations | $2" "$1"
}

for mpi in $mpis; do
	run="$(mpirun_of $mpi)"
	json=known-$mpi/profile.json
	mpicc_traced $mpi "$BIN/loop" "$T/report/app-loop.c" || { echo "Bail out! app-loop.c does not build"; exit 1; }

	test_expect "$mpi: each call of the main loop is an iteration, and those that stall are the slowest" '
		limit "$VFTR" run -q -o known-$mpi -- $run -np 2 "$BIN/loop" warm 20 loop 120 3000 every 10 12000 \
			stall 37 1 250 stall 90 0 400 >out
		jq -c ".iterations | del(.steps)" $json
		is "step < main < init" "$(of $json .path)"
		is "2 120 1 120" "$(of $json "\"\\(.ranks) \\(.iterations) \\(.per_step) \\(.steps | length)\"")"
		is "$(seq -s " " 0 119)" "$(of $json "[.steps[].first] | map(tostring) | join(\" \")")"
		is "90 37" "$(of $json "[.slow[:2][].most_at | tostring] | join(\" \")")"
		# who made the others wait, and for how long
		is "0 1" "$(of $json "[.slow[:2][].outside_mpi_rank | tostring] | join(\" \")")"
		of $json ".slow[0].outside_mpi_most_s" | awk "{ exit !(\$1 > 0.400 && \$1 < 0.6) }"
		of $json ".slow[1].outside_mpi_most_s" | awk "{ exit !(\$1 > 0.250 && \$1 < 0.4) }"
		# the other one was in MPI meanwhile, and on a busy machine both a little afterwards
		[ "$(of $json ".slow[0].mpi_share > 0.4 and .slow[0].mpi_share < 0.6")" = true ]'

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
			([.steps[] | select(.first % 10 != 9) | .least_s] | min < 0.012) and
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
	limit "$VFTR" run -q -o grown -- $run -np 1 "$BIN/loop" loop 3000 60 grow 200 >out
	json=grown/profile.json
	jq -c ".iterations | del(.steps, .slow)" $json
	is "3000 2 1500" "$(of $json "\"\\(.iterations) \\(.per_step) \\(.steps | length)\"")"
	is 3000 "$(of $json "[.steps[].iterations] | add")"
	# from 60 us to 180 us in 3000: 4 us in 100, of a median of 120 us
	jq -e ".iterations.trend_per_100 > 0.015 and .iterations.trend_per_100 < 0.06" $json'

test_expect 'a loop in main is that of the function which it calls' '
	limit "$VFTR" run -q -o bare -- $run -np 2 "$BIN/loop" bare loop 50 2000 >out
	is "iteration < main < init 50" "$(of bare/profile.json "\"\\(.path) \\(.iterations)\"")"'

test_expect 'iterations.of names them; without iterations.active there are none' '
	limit "$VFTR" run -q -o named -k iterations.of="^warm_up\$" -- $run -np 1 "$BIN/loop" warm 30 loop 50 2000 >out
	is "warm_up < main < init 30" "$(of named/profile.json "\"\\(.path) \\(.iterations)\"")"
	limit "$VFTR" run -q -o off -k iterations.active=false -- $run -np 1 "$BIN/loop" loop 50 2000 >out
	is null "$(jq .iterations off/profile.json)"
	limit "$VFTR" iterations off | grep "^No function was called again and again"'

test_expect 'a program without MPI, and without a loop' '
	printf "%s\n" "static volatile int n;" "static void step(void) { for (int i = 0; i < 4000000; i++) n += i; }" \
		"int main(int c, char **v) { for (int i = 0; i < (c > 1 ? 40 : 1); i++) step(); return 0; }" >own.c
	cc_traced own own.c
	limit "$VFTR" run -q -o own-40 -- ./own many
	is "step < main < init 40 0" "$(of own-40/profile.json "\"\\(.path) \\(.iterations) \\(.mpi_share)\"")"
	limit "$VFTR" run -q -o own-1 -- ./own
	is null "$(jq .iterations own-1/profile.json)"'

test_expect 'a rank that is killed has the iterations until then' '
	limit "$VFTR" run -q -o killed -- sh -c "\"$BIN/loop\" loop 100000 1000 & sleep 1; kill -9 \$!; wait" >out 2>err || :
	n=$(of killed/profile.json .iterations)
	[ "$n" -gt 100 ]
	[ "$n" -lt 2000 ]
	is "$n" "$(of killed/profile.json "[.steps[].iterations] | add")"'

test_if '[ "$(id -u)" = 0 ] && command -v mpirun.openmpi' 'no pseudo-nodes' 'two nodes: one loop, of the ranks of both' '
	nodes_up 2
	mpicc_traced openmpi "$BIN/loop" "$T/report/app-loop.c"
	limit "$AGENT" -q -o both -k output.layout=run -- $(nodes_mpirun 1) -np 2 "$BIN/loop" loop 60 3000 stall 20 1 200 >out
	is "off_cpu" "$(of both/profile.json ".slow[0].cause")"
	# their waits for each other are known when the job is over
	jq -e ".iterations.slow[0].wait_s > 0.08" both/profile.json
	is "2 60 20 1" "$(of both/profile.json "\"\\(.ranks) \\(.iterations) \\(.slow[0].most_at) \\(.slow[0].outside_mpi_rank)\"")"'

done_testing
