#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A program that does unequal work prints its own clock; what is measured is compared with that,
# not with what the work should have taken: on a busy machine that is something else.
test_description='the efficiency of jobs, and the times of their ranks, against the clock of the program'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$VFTR"
. "$T/lib/efficiency.sh"

mpis=$(mpi_list_short)
[ -n "$mpis" ] || skip_all 'no MPI'
for mpi in $mpis; do
	run="$(mpirun_of $mpi)"
	mpicc_traced $mpi "$BIN/efficiency" "$T/mpi/program/app-efficiency.c" ||
		{ echo "Bail out! app-efficiency.c does not build"; exit 1; }

	test_expect "$mpi: unequal ranks: window, useful time and factors are those of the program" '
		limit "$VFTR" run -q -o uneven-$mpi -- $run -np 4 "$BIN/efficiency" 10 10 20 30 40 >out
		right out uneven-$mpi/profile.json
		is "[]" "$(jq -c .efficiency.estimated uneven-$mpi/profile.json)"
		is "4 3 mpi" "$(jq -r ".efficiency | \"\(.ranks) \(.rank_max) \(.model)\"" uneven-$mpi/profile.json)"
		jq -e ".efficiency.load_balance < 0.8" uneven-$mpi/profile.json'

	test_expect "$mpi: it is in the summary, and among the first lines" '
		has uneven-$mpi/summary.log "| Parallel "
		grep -q "^  efficiency: [0-9]* % = load balance [0-9]* % x communication [0-9]* %$" \
			uneven-$mpi/summary.log
		hasnt uneven-$mpi/summary.log Estimated'

	test_expect "$mpi: in the layout of Vftrace it is in the JSON only" '
		mkdir -p classic-$mpi
		traced -q -o classic-$mpi -- $run -np 2 "$BIN/efficiency" 5 10 30 >out
		right out classic-$mpi/efficiency_all.json
		! grep -i efficiency: classic-$mpi/efficiency_all.log'

	test_expect "$mpi: a rank that kills itself counts until then, and that is said" '
		limit "$VFTR" run -q -o killed-$mpi -- $run -np 3 "$BIN/efficiency" 10 kill 10 20 30 \
			>out 2>err || :
		json=killed-$mpi/profile.json
		whole $json
		jq -e ".efficiency.estimated | index(\"killed_ranks\")" $json
		jq -e ".per_rank[] | select(.rank == 1) | .killed and .left_init and
			(.entered_finalize | not)" $json
		jq -e "all(.per_rank[]; .entered_finalize | not)" $json
		grep -q "^Estimated: .*cut off, and count" killed-$mpi/summary.log
		# its window is that of its own clock
		close "$(awk "\$2 == 1 { print \$4 - \$3 }" out)" \
			"$(jq ".per_rank[] | select(.rank == 1) | .window_s" $json)"'
done
for mpi in $mpis; do
	run="$(mpirun_of $mpi)"
	test_if "TEST_FLAGS='-g -O1 -fopenmp' mpicc_traced $mpi '$BIN/hybrid' '$T/mpi/program/app-efficiency.c'" \
		'no OpenMP' "$mpi: with OpenMP: threads that wait and idle, by frames and without them" '
		for idle in true false; do
			limit "$VFTR" run -q -k openmp.show_idle_time=$idle -o hybrid-$mpi-$idle -- \
				$run -np 2 "$BIN/hybrid" 5 10 40 >out
			json=hybrid-$mpi-$idle/profile.json
			right out $json
			is "hybrid 4" "$(jq -r ".efficiency | \"\(.model) \(.threads)\"" $json)"
			# workers: 30 of the 40 ms and more of a step, else idle
			jq -e "all(.per_rank[]; .openmp_threads == 2 and .all_threads.openmp_idle_s > 0.04)" $json
			is "[]" "$(jq -c .efficiency.estimated $json)"
		done
		has hybrid-$mpi-true/summary.log "|   OpenMP "'
done

cat >plain.c <<'END'
#include <stdio.h>
#include <time.h>
static void work(void)
{
	struct timespec t = {0, 100000000};
	nanosleep(&t, 0);
}
int main(void)
{
	work();
	return 0;
}
END
test_expect 'one process without MPI: its window is its life, and it has no time in MPI' '
	cc_traced "$BIN/plain" plain.c
	limit "$VFTR" run -q -o plain -- "$BIN/plain"
	whole plain/profile.json
	is "1 false false false" "$(jq -r "[.efficiency.ranks] + (.per_rank[0] | [has(\"mpi_s\",
		\"openmp_wait_s\", \"left_init\")]) | join(\" \")" plain/profile.json)"
	jq -e ".per_rank[0].useful_s >= 0.1 and .efficiency.parallel > 0.9" plain/profile.json
	hasnt plain/summary.log MPI_Init'

test_expect 'several processes without MPI are no job: each has its times, together they have no efficiency' '
	limit "$VFTR" run -q -o two -- sh -c "\"$BIN/plain\"; \"$BIN/plain\""
	is "2 null" "$(jq -r "\"\(.per_rank | length) \(.efficiency)\"" two/profile.json)"
	hasnt two/summary.log "| Parallel"'

# ---- the command -----------------------------------------------------------------------------

set -- $mpis
uneven=uneven-$1 hybrid=hybrid-$1-true
test_expect 'vftr efficiency: a column for each run, with the numbers of the JSON' '
	"$VFTR" efficiency $uneven >text
	has text "| Parallel "
	hasnt text Global
	hasnt text "in nodes"
	"$VFTR" efficiency --json $uneven classic-'"$1"' >two.json || status=$?
	is "" "$status"
	is 2 "$(jq ".runs | length" two.json)"
	for key in parallel load_balance load_balance_in_nodes communication useful_s; do
		is "$(jq ".efficiency.$key" $uneven/profile.json)" "$(jq ".runs[0].$key" two.json)" $key
	done
	# the reference is the run with the fewest threads
	is "classic-'"$1"' 1" "$(jq -r "\"\(.reference) \(.runs[1].computation_scaling)\"" two.json)"
	jq -e "(.runs[1].useful_s * 2 / (.runs[0].useful_s * 4) - .runs[0].computation_scaling | fabs) < 1e-9
		and all(.runs[]; (.global - .computation_scaling * .parallel | fabs) < 1e-9)" two.json
	"$VFTR" efficiency --weak --json $uneven classic-'"$1"' >weak.json
	jq -e --slurpfile strong two.json "(.runs[0].computation_scaling /
		\$strong[0].runs[0].computation_scaling - 2 | fabs) < 1e-9" weak.json
	"$VFTR" efficiency $uneven classic-'"$1"' >text
	has text "Computation scaling: useful time in classic-'"$1"' / in the run"'

test_expect 'vftr efficiency --csv: a line for each run; what is estimated has its reasons' '
	"$VFTR" efficiency --csv killed-'"$1"' $uneven >table.csv
	is 3 "$(wc -l <table.csv)"
	is 1 "$(awk -F, "{ print NF }" table.csv | sort -u | wc -l)" "numbers of columns"
	grep -q "^\"killed-.*killed_ranks" table.csv
	"$VFTR" efficiency killed-'"$1"' >text
	grep -q "^killed-'"$1"': estimated: .*cut off, and count" text'

test_expect 'vftr efficiency: runs that cannot be read are named, and the others shown' '
	mkdir -p empty
	status_of 1 "$VFTR" efficiency $uneven empty two >text 2>err
	has text "| Parallel "
	has err "empty: no node profiles"
	has err "two: it has no times of ranks"
	status_of 2 "$VFTR" efficiency empty >text 2>err
	is "" "$(cat text)"
	status_of 2 "$VFTR" efficiency 2>err
	has err "name folders of runs"
	status_of 2 "$VFTR" efficiency --csv --json $uneven 2>err
	has err "not both"'
done_testing
