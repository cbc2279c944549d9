#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Calls are exact, so what they say of the work does not depend on the machine; ranks work by waiting.
test_description='vftr efficiency of several runs, and with counters'
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
		for how in strong weak loop none; do
			limit "$VFTR" run -q -o $how$p -- $run -np $p "$BIN/scaling" $how 80 || exit
		done
		limit "$VFTR" run -q -c counters.json -o counted$p -- \
			$run -np $p "$BIN/scaling" strong 80 || exit
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
	# item() alone: 160 ms of all ranks, or of each; uneven() and twice() grow with the ranks
	jq -e ".runs[] | select(.run == \"weak4\") | .computation_scaling > 0.6" weak.json
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

done_testing
