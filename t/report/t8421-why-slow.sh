#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Why iterations were slow that are known to be: ranks that work longer, rest or are stopped; and loops in main.
test_description='causes of slow iterations, ranks over time, loops without a function'
. "$(dirname "$0")/../lib/lib.sh"
need jq python3
need_built "$AGENT" "$VFTR"

mpis=$(mpi_list_short)
[ -n "$mpis" ] || skip_all 'no MPI'

# of JSON EXPRESSION: of its iterations
of() {
	jq -r ".iterations | $2" "$1"
}

# late FILE JSON: what the rank that was late said of it; if that may be either, what is said in JSON
late() {
	local word
	word=$(sed -n "s/^late: //p" "$1")
	[ "$word" != either ] || word=$(of "$2" "first(.slow[] | select(.most_at == 20)).cause")
	echo "$word"
}

# two JSON EXPRESSION: of iterations 20 and 40, in this order
two() {
	jq -r ".iterations.slow | map(select(.most_at == 20 or .most_at == 40)) | sort_by(.most_at) | $2" "$1"
}

# both_are_slow JSON: a busy machine makes others slow, too, but no rank works longer in them
both_are_slow() {
	is "20 40" "$(two "$1" "map(.most_at | tostring) | join(\" \")")"
	jq -e ".iterations.slow | (map(select(.most_at == 20 or .most_at == 40).most_s) | min) as \$least |
		all(.[]; .most_at == 20 or .most_at == 40 or .most_s < \$least or .cause != \"work\")" "$1"
}

for mpi in $mpis; do
	run="$(mpirun_of $mpi)"
	mpicc_traced $mpi "$BIN/loop" "$T/report/app-loop.c" || { echo "Bail out! app-loop.c does not build"; exit 1; }

	test_expect "$mpi: why they are slow: a rank worked longer, and where; or it did not run" '
		limit "$VFTR" run -q -o why-$mpi -- $run -np 2 "$BIN/loop" loop 60 3000 late 20 1 300 stop 40 0 500 >out
		w=why-$mpi/profile.json
		jq -c ".iterations | del(.steps)" $w
		both_are_slow $w
		is "$(late out $w) off_cpu" "$(two $w "map(.cause) | join(\" \")")"
		is "1 0" "$(two $w "map(.outside_mpi_rank | tostring) | join(\" \")")"
		[ "$(late out $w)" = off_cpu ] || jq -e ".iterations.slow[] | select(.most_at == 20).cause_path |
			test(\"^(output < )?be_late < iteration < step < main < init\$\")" $w
		# that it did not run is known, and of what ranks waited most, which is the mean of two
		# it was stopped, and has not waited for a CPU for so long
		jq -e ".iterations.slow[] | select(.most_at == 40) | .asleep_most_s > .queued_most_s and
			(.asleep_most_s + .queued_most_s - .off_cpu_most_s | fabs) < 1e-6" $w
		jq -e ".iterations.slow[] | select(.most_at == 40) | .off_cpu_most_s > 0.4 and .off_cpu_most_s <= .outside_mpi_most_s and
			.wait_s > 0.2 and .wait_s <= .most_s / 2 + 0.01" $w
		jq -e ".iterations.slow[] | select(.most_at == 20) | .outside_mpi_most_s >= 0.3 and .wait_s > 0.1 and
			.outside_mpi_most_s - .off_cpu_most_s > 0.25 and .outside_mpi_most_s - .off_cpu_most_s < 0.4" $w
		grep -E "^\| +40 \|.*\| rank 0 slept or was blocked [0-9]+ % in [a-z_]+.*\|$" why-$mpi/summary.log
		[ "$(late out $w)" = off_cpu ] ||
			grep -E "^\| +20 \|.*\| rank 1 worked [0-9]+ ms longer in ([a-z]+ < )*(output|be_late)" why-$mpi/summary.log
		# of two ranks one worked 300 ms longer and one was stopped for 500, and the other one waited
		jq -e ".iterations | .above_median_s as \$s | .above_median_parts | (add - 1 | fabs) < 1e-6 and
			.wait * \$s > 0.2 and .off_cpu * \$s > 0.15 and .work * \$s > 0.1" $w
		limit "$VFTR" iterations --csv why-$mpi >csv
		is "off_cpu" "$(awk -F, "\$1 == 40 { print \$20 }" csv)"
		is "queued_most_s,asleep_most_s" "$(head -n 1 csv | cut -d, -f21-)"
		is 22 "$(awk -F, "{ print NF }" csv | sort -u)"
		is "$(jq -r ".iterations.slow[] | select(.most_at == 40) | \"\(.queued_most_s) \(.asleep_most_s)\"" $w |
			awk "{ printf \"%.9f %.9f\", \$1, \$2 }")" "$(awk -F, "\$1 == 40 { print \$21 \" \" \$22 }" csv)"
		# an iteration in which that was not seen has neither of the two
		awk -F, "NR > 1 && (\$21 == \"\") != (\$22 == \"\") { exit 1 }" csv'

	test_expect "$mpi: over time, the rank that waits for the stopped one" '
		jq -c .time_slices why-$mpi/profile.json
		jq -e ".time_slices | (.rows | map(.rank)) == [0, 1] and .slices <= 64 and
			([.rows[] | (.mpi_share | length), (.wait_share | length)] | unique) == [.slices]" why-$mpi/profile.json
		# some slice of half a second, or of a longer one a quarter of a second
		jq -e ".time_slices | .rows as \$r | ([1, 0.25 / .slice_s] | min) as \$part | [range(\$r[0].mpi_share | length) |
			select(\$r[1].wait_share[.] > 0.9 * \$part and \$r[0].mpi_share[.] < 1 - 0.9 * \$part)] |
			length > 0" why-$mpi/profile.json
		limit "$VFTR" report why-$mpi -o why.html
		python3 "$T/report/same-numbers.py" why.html why-$mpi/profile.json
		grep "slices-mpi" why.html >/dev/null'

	test_expect "$mpi: a loop in main without a function that each iteration calls once" '
		# rank 0, for which all others wait, also those of MPI_Bcast
		for kind in flat first last; do
			limit "$VFTR" run -q -o $kind-$mpi -- $run -np 2 "$BIN/loop" $kind loop 60 3000 late 20 0 300 stall 40 0 600 >out
			w=$kind-$mpi/profile.json
			jq -c ".iterations | del(.steps)" $w
			is "2 60 true" "$(of $w "\"\\(.ranks) \\(.iterations) \\(.is_separated)\"")"
			is "$(seq -s " " 0 59)" "$(of $w "[.steps[].first] | map(tostring) | join(\" \")")"
			both_are_slow $w
			is "$(late out $w) off_cpu" "$(two $w "map(.cause) | join(\" \")")"
			[ "$(late out $w)" = off_cpu ] || jq -e ".iterations.slow[] | select(.most_at == 20).cause_path |
				endswith(\"be_late < main < init\")" $w
			# the last one may end with the last call that is told
			jq -e "[.iterations.steps[:-1][].least_s] | min >= 0.003" $w
		done
		is "MPI_Allreduce < main < init" "$(of flat-$mpi/profile.json .path)"
		is "MPI_Bcast < main < init" "$(of first-$mpi/profile.json .path)"
		grep -E "^Iterations between calls of MPI_Allreduce < main: 60 on each of 2 ranks" flat-$mpi/summary.log'
done

test_if '[ "$(id -u)" = 0 ] && command -v mpirun.openmpi' 'no pseudo-nodes' 'two nodes: a loop in main, and waits that are known at the end' '
	nodes_up 2
	mpicc_traced openmpi "$BIN/loop" "$T/report/app-loop.c"
	limit "$AGENT" -q -o both -k output.layout=run -- $(nodes_mpirun 1) -np 2 "$BIN/loop" flat loop 60 3000 late 20 1 300 >out
	jq -c ".iterations | del(.steps)" both/profile.json
	is "MPI_Allreduce < main < init 2 60 20 1 $(late out both/profile.json)" "$(of both/profile.json "\"\\(.path) \\(.ranks) \\(.iterations) \\(.slow[0] | \"\\(.most_at) \\(.outside_mpi_rank) \\(.cause)\")\"")"
	jq -e ".iterations.slow[0].wait_s > 0.1" both/profile.json
	jq -e ".time_slices.rows | map(.rank) == [0, 1]" both/profile.json'

done_testing
