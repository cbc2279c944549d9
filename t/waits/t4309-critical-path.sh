#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What causal/ finds in sampling files: in programs whose reasons for waiting are known, and in
# random ones against t/mpi/causal/reference.py, which knows only the definitions.
test_description='critical path, serialisation and transfer, waits and their causes'
. "$(dirname "$0")/../lib/lib.sh"
. "$T/lib/waits.sh"
need jq
need_built "$AGENT" "$VFTR"

mpis=$(mpi_list_short)
[ -n "$mpis" ] || skip_all 'no MPI'
OMPI_MCA_osc=pt2pt,sm # others want hardware
export OMPI_MCA_osc

# near A B: they differ by no more than 1 % and 20 ms, which a busy machine needs
near() {
	awk -v a="$1" -v b="$2" 'BEGIN {
		d = a > b ? a - b : b - a
		print a, b
		exit !(a + 0 > 0 && b + 0 > 0 && d <= 0.01 * a + 0.02)
	}'
}

# of_window JSON: the critical path is as long as the window, products and sums hold
of_window() {
	jq -e '(.critical_path | map(.t_s) | add) as $length | .efficiency |
		($length - .window_s | fabs) < 1e-6 and
		(.load_balance * .serialisation * .transfer - .parallel | fabs) < 1e-9 and
		.useful_max_s <= .ideal_s and .ideal_s <= .window_s' "$1" &&
		jq -e '((.waits | map(.t_s) | add // 0) - .mpi_wait_s | fabs) < 1e-6 and
			((.delays | map(.cost_s) | add // 0) - .mpi_wait_s | fabs) < 1e-6' "$1"
}

# traced_to FOLDER MPI N PROGRAM ARGUMENT...: with sampling files of everything, and with $key, if set
traced_to() {
	to=$1 run=$(mpirun_of "$2") n=$3
	shift 3
	rm -rf "$to"
	limit "$VFTR" run -q --trace ${key:+-k "$key=true"} -o "$to" -- $run -np "$n" "$@"
}

# straggler_is_named: rank 3 and its function, with what they cost the others; uses $mpi
straggler_is_named() {
	traced_to straggler-$mpi $mpi 4 "$BIN/causal-$mpi" straggler &&
		"$VFTR" critical-path --json straggler-$mpi >straggler.json &&
		of_window straggler.json &&
		jq -e '.waits[0] | .kind == "nxn" and
			.path == "MPI_Allreduce<straggler<main<init" and .for[0].rank == 3 and
			(.causes[0] | .rank == 3 and .path == "work<culprit<straggler<main<init")' \
			straggler.json &&
		jq -e '.delays[0] | .rank == 3 and .path == "work<culprit<straggler<main<init" and
			.cost_s > 0.8 * 3 * 3 * 0.15 and .own_s > 0.7 * 3 * 0.15' straggler.json
}

for mpi in $mpis; do
	mpicc_traced $mpi "$BIN/causal-$mpi" "$T/mpi/causal/app-causal.c" &&
		mpicc_traced $mpi "$BIN/random-$mpi" "$T/mpi/causal/app-causal-random.c" ||
		{ echo "Bail out! the programs of t/mpi/causal do not build"; exit 1; }

	test_expect "$mpi: a late sender: who, where, how long, and what it did" '
		traced_to late-$mpi $mpi 2 "$BIN/causal-$mpi" late >out
		"$VFTR" critical-path --json late-$mpi >late.json
		of_window late.json
		is "[]" "$(jq -c .estimated late.json)"
		# 6 times 60 ms; less where a busy machine lets the one that waits come late, too
		waited=$(awk "\$1 == \"waited\" { print \$2 }" out)
		near "$waited" "$(jq ".waits[0].t_s" late.json)"
		jq -e ".waits[0] | .kind == \"late_sender\" and .path == \"MPI_Recv<late<main<init\" and
			.calls > 1 and .t_s > 0.05 and .for[0].rank == 0 and .for[0].share > 0.999 and
			(.causes[0] | .rank == 0 and .path == \"work<culprit<late<main<init\" and
				.share > 0.9)" late.json
		# all of it is in the work of rank 0
		jq -e ".critical_path[0] | .rank == 0 and .path == \"work<culprit<late<main<init\" and
			.t_s > $waited - 0.02" late.json
		jq -e ".efficiency | .serialisation > 0.95 and ($waited < 0.3 or .load_balance < 0.6)" late.json'

	test_expect "$mpi: a chain of 8 ranks: what all wait goes back to the first one" '
		traced_to chain-$mpi $mpi 8 "$BIN/causal-$mpi" chain
		"$VFTR" critical-path --json chain-$mpi >chain.json
		of_window chain.json
		jq -c "[.mpi_wait_s, .delays[:5]]" chain.json
		# ranks of MPICH keep their CPUs while they wait: on fewer they delay each other
		[ $mpi = mpich ] && [ "$(nproc)" -lt 9 ] && share=0.3 sums=0.3 || share=0.95 sums=0.9
		# seven wait for 400 ms, twice
		jq -e "(.mpi_wait_s > 3.7) and (.delays |
			(map(select(.rank == 0).cost_s) | add) > $share * (map(.cost_s) | add))" chain.json
		jq -e ".delays[0] | .rank == 0 and .path == \"work<culprit<chain<main<init\" and
			.direct_s < 0.3 * .cost_s" chain.json
		# the same from the sums of the profile alone, as far as these tell it: what a rank
		# that has lost its CPU is in the call beyond its waits counts for that rank, too
		"$VFTR" waits --json chain-$mpi >online.json
		jq -c "[.delays[] | {rank, path, cost_s, direct_s, t_s}]" online.json
		jq -e ".delays | (map(select(.rank == 0).cost_s) | add) > $sums * (map(.cost_s) | add) and
			((map(.cost_s) | add) - (map(.t_s) | add) | fabs) < 1e-6" online.json
		jq -e ".delays[0] | .rank == 0 and (.path | gsub(\" \"; \"\")) == \"work<culprit<chain<main<init\" and
			.t_s < 0.3 * .cost_s and .own_s > 0.5 and .paths[0].path == .path" online.json
		"$VFTR" waits chain-$mpi | grep -A 4 "^Who made others wait" | tail -n 1 | grep "^| rank 0 "'

	test_expect "$mpi: a rank that is late before MPI_Allreduce: it and its function are named" '
		# a busy machine stops the other ranks, too: then it is not the only one that is late
		for try in 1 2 3 4; do
			straggler_is_named && exit 0
			echo "not the only one that was late, try $try"
		done
		exit 1'

	test_expect "$mpi: neighbours wait for neighbours, and groups for the other group" '
		traced_to neighbours-$mpi $mpi 4 "$BIN/causal-$mpi" neighbours
		"$VFTR" critical-path --json neighbours-$mpi >neighbours.json
		of_window neighbours.json
		jq -e ".waits[0] | .kind == \"neighbours\" and .for[0].rank == 0 and
			.path == \"MPI_Neighbor_allgather<neighbours<main<init\"" neighbours.json
		jq -e ".estimated | index(\"unknown_members\") | not" neighbours.json
		jq -e ".delays[0] | .rank == 0 and .path == \"work<culprit<neighbours<main<init\" and
			.cost_s > 0.8 * 4 * 2 * 0.1" neighbours.json
		"$VFTR" critical-path --csv --waits neighbours-$mpi >table.csv
		# ranks 1 and 3 wait for it, each at most 4 times
		awk -F, "/^late,neighbours,0,/ { n = \$5 } END { exit n < 6 || n > 8 }" table.csv
		traced_to groups-$mpi $mpi 4 "$BIN/causal-$mpi" groups
		"$VFTR" critical-path --json groups-$mpi >groups.json
		of_window groups.json
		jq -c "[.waits[] | {path, kind, t_s, late: .for[0].rank}]" groups.json
		# others are of ranks that a busy machine keeps from making communicators
		jq -e "[.waits[] | select(.path | test(\"^MPI_(Barrier|Allgather)<groups<\")) |
			.kind + \" \" + (.for[0].rank | tostring), .t_s > 0.7 * 3 * 2 * 0.1] | sort ==
			[true, true, \"barrier 0\", \"nxn 0\"]" groups.json
		jq -e ".estimated | index(\"unknown_members\") | not" groups.json'

	test_expect "$mpi: calls that call an operator or files, or have a frame for their wait, wait to its end" '
		for key in files.active mpi.show_sync_time; do
			traced_to called-$key-$mpi $mpi 4 "$BIN/causal-$mpi" called shared-$key
			"$VFTR" critical-path --json called-$key-$mpi >called.json
			of_window called.json
			"$VFTR" waits --json called-$key-$mpi >online.json
			for call in Allreduce Reduce File_open; do
				# as the agent has found them, without regard to what they called
				of_call="[.waits[] | select(.path | test(\"^MPI_$call ?<\")).t_s] | add"
				exact=$(jq "$of_call" called.json) online=$(jq "$of_call" online.json)
				echo "$key, MPI_$call: $exact, online $online"
				near "$online" "$exact"
			done
			jq -c "[.critical_path[] | select(.t_s > 0.01)]" called.json
			jq -e "any(.critical_path[]; .rank == 3 and .t_s > 0.8 * 4 * 3 * 0.06 and
				.path == \"work<culprit<called<main<init\")" called.json
		done'

	test_expect "$mpi: random programs: waits, efficiencies, path and costs are those of the reference" '
		[ -n "$VFTR_LONG" ] && runs=50 each=10 || runs=2 each=20
		for seed in $(seq $runs); do
			traced_to random $mpi 4 "$BIN/random-$mpi" $seed $each 25
			"$VFTR" dump --json random >dump.json
			"$VFTR" critical-path --json random >exact.json
			python3 "$T/mpi/causal/reference.py" dump.json exact.json ||
				{ echo "seed $seed"; exit 1; }
			of_window exact.json
			"$VFTR" waits --json random >online.json
			same_probes exact.json online.json || { echo "seed $seed"; exit 1; }
			jq ".waits[] | select(.kind == \"rma_lock\") | .calls" exact.json >>locks-$mpi
		done
		cat locks-$mpi
		[ -s locks-$mpi ]
		[ -s probes ] && rm probes'
done

set -- $mpis
late=late-$1 straggler=straggler-$1
test_expect 'as text: the path, and with --waits who waited for whom and why' '
	"$VFTR" critical-path $late >text
	grep -q "^Parallel efficiency [0-9.]* % = load balance [0-9.]* % x serialisation [0-9.]* % x transfer [0-9.]* %$" text
	has text "| work<culprit<late<main<init "
	hasnt text Waits:
	hasnt text Estimated
	"$VFTR" critical-path --waits --rows 1 $late >text
	grep -q "^| Late sender .* MPI_Recv<late<main<init .* rank 0 100 % .* rank 0 in work<culprit " text
	grep -q "^And [0-9]* rows with [0-9.]* s.$" text
	"$VFTR" critical-path --waits --rank 0 $straggler >text
	has text "| Wait at NxN "
	hasnt text "rank 3"
	"$VFTR" critical-path --rank 0 $straggler | diff text -
	status_of 2 "$VFTR" critical-path --rank 4 $straggler 2>err
	has err "no rank 4"'

test_expect 'vftr waits --exact: the same waits; --rank: those for a rank' '
	"$VFTR" critical-path --json $straggler >straggler.json
	"$VFTR" waits --exact --json $straggler >waits.json
	is "$(jq -c .waits straggler.json)" "$(jq -c .waits waits.json)"
	is "$(jq -c .delays straggler.json)" "$(jq -c .delays waits.json)"
	is null "$(jq .critical_path waits.json)"
	"$VFTR" waits --exact --rank 3 $straggler >text
	has text "| Wait at NxN "
	hasnt text "Critical path"'

test_expect 'as CSV: the rows of the JSON' '
	"$VFTR" critical-path --csv --waits $straggler >table.csv
	is "what,kind,rank,path,calls,t_s,error_s" "$(head -n 1 table.csv)"
	is 1 "$(awk -F, "{ print NF }" table.csv | sort -u | wc -l)" "numbers of columns"
	"$VFTR" critical-path --json $straggler >straggler.json
	is "$(jq ".critical_path | length" straggler.json)" "$(grep -c ^critical_path, table.csv)"
	is "$(jq ".delays | length" straggler.json)" "$(grep -c ^delays, table.csv)"'

test_expect 'vftr efficiency --exact: communication is serialisation x transfer' '
	"$VFTR" efficiency --exact --json $late $straggler >two.json
	jq -e "all(.runs[]; (.load_balance * .serialisation * .transfer - .parallel | fabs) < 1e-9 and
		.serialisation <= 1 and .transfer <= 1 and .estimated == [])" two.json
	"$VFTR" critical-path --json $late >late.json
	is "$(jq .efficiency.serialisation late.json)" "$(jq ".runs[0].serialisation" two.json)"
	jq -e --slurpfile all two.json "(.efficiency.transfer - \$all[0].runs[0].transfer | fabs) < 1e-4" late.json
	"$VFTR" efficiency --exact $late >text
	has text "|     Serialisation "
	has text "|     Transfer "
	"$VFTR" efficiency $late >text
	hasnt text Serialisation
	status_of 2 "$VFTR" efficiency --exact --function work $late 2>err
	has err "not for --function"
	status_of 2 "$VFTR" efficiency --exact --model additive $late 2>err
	has err "--exact is of the multiplicative model"'

cat >team.c <<'END'
int main(void)
{
	volatile int n = 0;
#pragma omp parallel num_threads(2)
	for (int i = 0; i < 1000000; i++)
		n = i;
	return 0;
}
END
test_if "TEST_FLAGS='-g -O1 -fopenmp' mpicc_traced $1 '$BIN/hybrid' '$T/mpi/program/app-efficiency.c' &&
	TEST_CC=gcc TEST_FLAGS='-g -O1 -fopenmp' cc_traced '$BIN/team' team.c" 'no OpenMP' \
	'with OpenMP the factors are those of MPI, and named so; without MPI there are none' '
	traced_to hybrid '"$1"' 2 "$BIN/hybrid" 5 10 40
	"$VFTR" critical-path hybrid >text
	grep -q "^MPI parallel efficiency [0-9.]* % = load balance " text
	"$VFTR" critical-path --json hybrid >hybrid.json
	of_window hybrid.json
	jq -e --slurpfile p hybrid/profile.json "(.efficiency.parallel * \$p[0].efficiency.openmp -
		\$p[0].efficiency.parallel | fabs) < 0.01" hybrid.json
	limit "$VFTR" run -q --trace -o team -- "$BIN/team"
	"$VFTR" critical-path team >text
	has text "Processes: 1, window"
	hasnt text "arallel efficiency"
	"$VFTR" critical-path --json team >team.json
	jq -e ".efficiency | has(\"window_s\") and (has(\"parallel\", \"transfer\") | not)" team.json'

test_expect 'a rank that was killed, and a file that is sampled: the numbers are estimates, and say it' '
	traced_to killed '"$1"' 2 "$BIN/causal-'"$1"'" kill >out 2>err || :
	"$VFTR" critical-path --json killed >killed.json || [ $? = 1 ]
	jq -e ".estimated | index(\"killed_ranks\")" killed.json
	jq -e ".waits[0] | .kind == \"late_sender\" and .t_s > 0.05" killed.json
	limit "$VFTR" run -q -k sampling.active=true -k sampling.sample_interval=0.01 -o sampled -- \
		$(mpirun_of '"$1"') -np 2 "$BIN/causal-'"$1"'" late
	"$VFTR" critical-path sampled >text
	grep -q "^Estimated: .*sampled" text
	"$VFTR" efficiency --exact sampled >text
	grep -q "^sampled: serialisation and transfer are estimated: .*sampled" text'

test_if 'command -v script && script -qec true /dev/null' 'no script(1)' \
	'a terminal shows how much is done of what takes long, and nothing else does' '
	awk -f "$T/bench/tree.awk" >tree-gen.h
	cc_traced "$BIN/tree" "$T/bench/tree.c" -I.
	limit "$VFTR" run -q --trace -k sampling.sample_interval=0 -o long -- "$BIN/tree" 4 >/dev/null
	script -qec "$VFTR critical-path long" screen >/dev/null
	grep "analysing \[##*\.*\]  *[0-9]* %" screen
	"$VFTR" critical-path long >out 2>err
	[ ! -s err ]
	refuse grep analysing out'

test_expect 'without sampling files, or without ranks in them: one sentence, and status 2' '
	limit "$VFTR" run -q -o untraced -- true || :
	mkdir -p nothing
	status_of 2 "$VFTR" critical-path nothing 2>err
	grep -q "nothing: no sampling files.*vftr run --trace" err
	is 1 "$(wc -l <err)"
	status_of 1 "$VFTR" efficiency --exact --json '"$1"'-none $late >out 2>err
	status_of 2 "$VFTR" critical-path 2>err
	has err "name the folder of a run"
	status_of 2 "$VFTR" critical-path --csv --json $late 2>err
	has err "not both"
	TMPDIR=/no/such status_of 2 "$VFTR" critical-path $late 2>err
	has err "/no/such: no temporary file"'

done_testing
