#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Calls are exact, so what they say of the work does not depend on the machine; ranks work by waiting,
# and say themselves how long they did.
test_description='vftr efficiency of several runs, of functions, and with counters'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$VFTR"

mpi=$(mpi_list | head -n 1)
[ -n "$mpi" ] || skip_all 'no MPI'
run=$(mpirun_of "$mpi")
cat >counters.json <<'END'
{"hwprof": {"type": "dummy", "show_counters": true, "counters": [
	{"hwc_name": "instructions", "symbol": "I"}, {"hwc_name": "cycles", "symbol": "C"}]}}
END
mpicc_traced "$mpi" "$BIN/scaling" "$T/mpi/scaling/app-scaling.c" &&
	for p in 1 2 4; do
		for how in strong weak none; do
			limit "$VFTR" run -q -o $how$p -- $run -np $p "$BIN/scaling" $how 80 >$how$p.slept || exit
		done
		# its times count, so the work is well more than what grows with the ranks
		limit "$VFTR" run -q -o loop$p -- $run -np $p "$BIN/scaling" loop 400 >loop$p.slept || exit
		limit "$VFTR" run -q -c counters.json -o counted$p -- \
			$run -np $p "$BIN/scaling" strong 80 >counted$p.slept || exit
	done || { echo "Bail out! no runs"; exit 1; }

# scaling HOW: what is said of the runs HOW1, HOW4 and HOW2
scaling() {
	"$VFTR" efficiency --json "$1"1 "$1"4 "$1"2 >"$1.json"
	jq -r '"\(.scaling) \(.scaling_by) \(.reference)"' "$1.json"
}

test_expect 'strong or weak scaling is told by calls; what is assumed says why' '
	is "strong calls strong1" "$(scaling strong)"
	is "weak calls weak1" "$(scaling weak)"
	is "strong time loop1" "$(scaling loop)"
	is "strong assumed none1" "$(scaling none)"
	"$VFTR" efficiency strong1 strong2 >text
	grep -q "^Strong scaling: [0-9]* % of the calls are of functions that are called as often" text
	has text "; the work is the same in all."
	"$VFTR" efficiency weak2 weak1 >text
	grep -q "^Weak scaling: [0-9]* % of the calls are of functions that each rank calls" text
	has text "useful time in weak1 / in the run, each divided by its threads."
	"$VFTR" efficiency loop1 loop2 >text
	grep -q "^Strong scaling is assumed: .*useful times are those of the same work" text
	"$VFTR" efficiency none1 none2 >text
	grep -q "^Strong scaling is assumed: of the calls, " text
	"$VFTR" efficiency strong2 strong2 >text
	has text "Strong scaling is assumed: the runs have the same number of ranks."
	"$VFTR" efficiency weak1 >text
	hasnt text caling'

test_expect 'with what is recognised, computation scaling is that of the work' '
	jq -e "(.runs[0].useful_s / (.runs[1].useful_s * 4) - .runs[1].computation_scaling | fabs) < 1e-9" \
		strong.json
	jq -e "(.runs[0].useful_s / .runs[1].useful_s - .runs[1].computation_scaling | fabs) < 1e-9" \
		weak.json'

test_expect '--strong and --weak say otherwise' '
	"$VFTR" efficiency --weak --json strong1 strong2 >other.json
	is "weak option" "$(jq -r "\"\(.scaling) \(.scaling_by)\"" other.json)"
	"$VFTR" efficiency -s --json weak1 weak2 >other.json
	is "strong option" "$(jq -r "\"\(.scaling) \(.scaling_by)\"" other.json)"
	"$VFTR" efficiency -s weak1 weak2 >text
	has text "Strong scaling, as the command line says."
	status_of 2 "$VFTR" efficiency -s -w weak1 weak2 2>err
	has err "not both"'

# Events are counted: an IPC of 1/2 everywhere, and instructions are calls.
test_expect 'with counters, computation scaling has three factors; a run without them has none' '
	"$VFTR" efficiency --json counted1 counted4 >counted.json
	jq -e ".runs[1] | (.instruction_scaling * .ipc_scaling * .frequency_scaling -
		.computation_scaling | fabs) < 1e-9 and (.ipc_scaling - 1 | fabs) < 1e-9 and
		.instruction_scaling > 0.5 and .instruction_scaling < 1" counted.json
	jq -e "all(.runs[0] | .instruction_scaling, .ipc_scaling, .frequency_scaling;
		(. - 1 | fabs) < 1e-9)" counted.json
	"$VFTR" efficiency counted1 strong2 >text
	grep -q "^|     IPC  *|  *100.0 |  *---- |" text
	"$VFTR" efficiency strong1 strong2 >text
	hasnt text IPC'

test_expect '--model additive: what is lost is added up' '
	"$VFTR" efficiency -m additive --json strong4 strong1 >added.json
	"$VFTR" efficiency --json strong4 strong1 >strong.json
	is "additive multiplicative" "$(jq -r .factors added.json) $(jq -r .factors strong.json)"
	jq -e "all(.runs[]; (.process_load_balance + .process_communication - 1 - .process | fabs) < 1e-9
		and (.process - .parallel | fabs) < 1e-9 and (has(\"thread\") | not))" added.json
	is "$(jq -c "[.runs[] | .parallel, .global]" strong.json)" \
		"$(jq -c "[.runs[] | .parallel, .global]" added.json)"
	"$VFTR" efficiency -m additive strong4 >text
	has text "|   Processes "
	status_of 2 "$VFTR" efficiency -m none strong4 2>err
	has err "multiplicative or additive"'

test_if "TEST_FLAGS='-g -O1 -fopenmp' mpicc_traced $mpi '$BIN/hybrid' '$T/mpi/program/app-efficiency.c'" \
	'no OpenMP' 'with OpenMP, the additive model has threads beside processes' '
	limit "$VFTR" run -q -o hybrid -- $run -np 2 "$BIN/hybrid" 3 10 40 >out
	"$VFTR" efficiency -m additive --json hybrid >added.json
	jq -e ".runs[0] | (.process + .thread - 1 - .parallel | fabs) < 1e-9 and .thread < 0.9" added.json
	"$VFTR" efficiency -m additive hybrid >text
	has text "|   Threads "'

# function KEY RUN NAME: of functions.json
function_of() {
	jq -r --arg run "$2" --arg f "$3" ".runs[] | select(.run == \$run) | .functions[] |
		select(.function == \$f) | .$1" functions.json
}

# slept WHAT RUN: of the sleeps in WHAT, by the ranks' own clocks: the ranks with the longest and
# the shortest one, and the longest, the shortest and all of them in seconds
slept() {
	awk -v what="$1" 'BEGIN { n = split("uneven first second", column, " ") }
		{
			t = what == "twice" ? $3 + $4 : 0
			for (i = 1; i <= n; i++)
				if (column[i] == what)
					t = $(i + 1)
			if (NR == 1 || t > most) { most = t; slowest = $1 }
			if (NR == 1 || t < least) { least = t; fastest = $1 }
			all += t
		}
		END { print slowest, fastest, most, least, all }' "$2.slept"
}

# slowest WHAT: the rank of strong4
slowest() {
	slept "$1" strong4 | cut -d" " -f1
}

test_expect '-f: load balance of a function, its slowest and fastest rank, its scaling' '
	"$VFTR" efficiency --json -f uneven -f master -f item strong1 strong4 >functions.json
	# 20, 40, 60 and 80 ms, and what a busy machine adds
	is 4 "$(wc -l <strong4.slept)"
	slept uneven strong4 >times
	cat times
	read -r slowest fastest most least all <times
	jq -e ".runs[1].functions[0] | .t_excl_s >= $all and .max_s >= $most and .min_s >= $least and
		$all >= 0.2 and .min_s < .mean_s and .mean_s < .max_s and .t_excl_s < $all + 0.1" functions.json
	is "$slowest $fastest 4 1" "$(for k in rank_max rank_min calls paths; do function_of $k strong4 uneven; done | xargs)"
	jq -e ".runs[1].functions[0] | (.mean_s / .max_s - .load_balance | fabs) < 1e-9 and
		(.mean_s * 4 - .t_excl_s | fabs) < 1e-8 and (.load_balance_is_bound | not)" functions.json
	# of one rank only: the others have none
	is "0.25 0 null 0" "$(for k in load_balance rank_max rank_min min_s; do
		function_of $k strong4 master; done | xargs)"
	jq -e "(.runs[0].functions[2].t_excl_s / .runs[1].functions[2].t_excl_s -
		.runs[1].functions[2].scaling | fabs) < 1e-9" functions.json
	is "strong calls" "$(jq -r "\"\(.scaling) \(.scaling_by)\"" functions.json)"
	# one rank has no balance
	is null "$(function_of load_balance strong1 uneven)"'

test_expect '-f: weak scaling divides times by threads' '
	"$VFTR" efficiency --json -f item weak1 weak4 >functions.json
	is weak "$(jq -r .scaling functions.json)"
	jq -e "(.runs[0].functions[0].t_excl_s * 4 / .runs[1].functions[0].t_excl_s -
		.runs[1].functions[0].scaling | fabs) < 1e-9" functions.json'

test_expect '-f: of several call paths the balance is a bound; a call path is named with its callers' '
	"$VFTR" efficiency --json -f twice -f "twice<first" -f "twice < second < main" strong4 >functions.json
	is "true false false" "$(jq -r "[.runs[0].functions[].load_balance_is_bound] | join(\" \")" functions.json)"
	is "2 1 1" "$(jq -r "[.runs[0].functions[].paths] | join(\" \")" functions.json)"
	is "$(slowest twice) $(slowest first) $(slowest second)" "$(jq -r "[.runs[0].functions[].rank_max] | join(\" \")" functions.json)"
	jq -e ".runs[0].functions | .[1].t_excl_s + .[2].t_excl_s - .[0].t_excl_s | fabs < 1e-8" functions.json
	"$VFTR" efficiency -f twice strong4 >text
	grep -q "^| Load balance\[%\]  *| at most [0-9.]* |" text
	"$VFTR" efficiency -f "twice<fir" -f nothing strong4 >text 2>err || status=$?
	is 1 "$status"
	has err "no run has a function or call path \`twice<fir"
	has err "no run has a function or call path \`nothing"
	hasnt text Calls'

test_expect '-f: as a table and CSV' '
	"$VFTR" efficiency -f uneven -f MPI_Barrier strong1 strong4 >text
	grep -q "^|   which is  *|  *---- |  *$(slowest uneven) |" text
	grep -q "^|  *MPI_Barrier  *| strong1  *| strong4  *|" text
	has text "Scaling: time of all ranks in strong1 / in the run; the work is the same in all."
	"$VFTR" efficiency --csv -f uneven -f MPI_Barrier strong1 strong4 >table.csv
	is 5 "$(wc -l <table.csv)"
	is 1 "$(awk -F, "{ print NF }" table.csv | sort -u | wc -l)" "numbers of columns"
	awk -F, -v all="$(slept uneven strong4 | cut -d" " -f5)" \
		"/^\"strong4\",4,4,\"uneven\",4,1,/ { t = \$7 } END { exit !(t >= all && t < all + 0.1) }" table.csv
	status_of 2 "$VFTR" efficiency -m additive -f uneven strong1 2>err
	has err "not for --function"'
done_testing
