#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='waits by kind, call path and late rank, in programs that know their waits'
. "$(dirname "$0")/../lib/lib.sh"
need jq python3
need_built "$AGENT"
mpis=$(mpi_list)
[ -n "$mpis" ] || skip_all 'no MPI on this machine'

# found JSON: "PROPERTY KIND LATE_RANK SECONDS WAITS" of the calls right below a property
found() {
	jq -r '.waits[] | (.path | gsub(" "; "") | split("<")) as $p | select($p[2] == "play" and $p[1] != "tell") |
		.kind as $kind | .for[] | "\($p[1]) \($kind) \(.rank) \(.t_s) \(.calls)"' "$1"
}

# same_waits TRUTH FOUND: for each rank within 1 % or 20 us a wait; no other kinds
same_waits() {
	awk 'NR == FNR { s[$1, $2, $3] = $4; n[$1, $2, $3] = $5; kind[$1, $2]; next }
		!(($1, $2) in kind) { print "is no such wait: " $0; bad = 1; next }
		{ key = $1 SUBSEP $2 SUBSEP $3; seen[key]
		  judge(key, s[key], $4, n[key] > $5 ? n[key] : $5) }
		function judge(key, wanted, got, calls,   off) {
			off = got > wanted ? got - wanted : wanted - got
			if (off > 0.01 * wanted && off > 20e-6 * calls) {
				gsub(SUBSEP, " ", key)
				print key ": waited " wanted " s, found " got; bad = 1 } }
		END { for (key in s) if (!(key in seen)) judge(key, s[key], 0, n[key])
			exit bad }' "$1" "$2"
}

# named FILE PROPERTY KIND RANK...: each of these is waited for longer than any other rank
named() {
	named_in=$1 property=$2 kind=$3
	shift 3
	awk -v property="$property" -v kind="$kind" -v ranks=" $* " -v wanted=$# '
		$1 == property && $2 == kind {
			if (!index(ranks, " " $3 " ")) { if ($4 > most) most = $4 }
			else if (!n++ || $4 < least) least = $4 }
		END { if (n == wanted && least > most) exit 0
			print property ": " n + 0 " of the ranks" ranks ", " least + 0 " s or more; another one " most + 0 " s"
			exit 1 }' "$named_in"
}

# all_named FILE: what the properties are made for
all_named() {
	named "$1" late_sender late_sender 1 3 &&
		named "$1" late_sender_in_waitall late_sender 1 2 3 &&
		named "$1" imbalance_at_barrier barrier 3 &&
		named "$1" imbalance_at_alltoall nxn 2 &&
		named "$1" imbalance_at_allreduce nxn 0 1 2 3 &&
		named "$1" late_broadcast late_root 1 &&
		named "$1" late_scatter late_root 2 &&
		named "$1" early_reduce early_root 3 &&
		named "$1" early_gather early_root 0 &&
		named "$1" late_in_scan scan 1 &&
		named "$1" two_communicators barrier 3 &&
		named "$1" two_communicators late_root 2
}

# known MPI: another run if the machine was so busy that the program did not do what it is made for,
# or between stamp and call
known() {
	for try in 1 2 3 4 5 6; do
		rm -f p-"$1"_* steps
		# shellcheck disable=SC2046
		traced -q -- $(mpirun_of "$1") -np 4 "$BIN/p-$1" steps >truth || return
		all_named truth || continue
		! grep nobody_waits truth || continue
		found "p-$1_all.json" >found
		same_waits truth found && return
	done
	return 1
}

for mpi in $mpis; do
	test_expect "$mpi: what was waited for whom is what the program says, within 1 % or 20 us a wait" "
		mpicc_traced $mpi $BIN/p-$mpi $T/mpi/waits/app-wait-properties.c
		known $mpi"
	test_expect "$mpi: the kind of each property and its late ranks are named" "
		all_named found"
	test_expect "$mpi: where nobody waits none is reported" "
		jq -r '.stacks[].path' p-${mpi}_all.json | grep -q '^MPI_Reduce *< *nobody_waits'
		is '' \"\$(grep nobody_waits found)\""
	test_expect "$mpi: mpi.waits=off finds none" "
		rm -f p-${mpi}_* steps
		traced -q -k mpi.waits=off -- $(mpirun_of $mpi) -np 4 $BIN/p-$mpi steps >/dev/null
		is null \"\$(jq -c .waits p-${mpi}_all.json)\""
done

mpi=$(echo "$mpis" | head -n 1)
test_expect "$mpi: vftr waits --csv has call paths as the profile has them, with quotes in names, too" "
	mpicc_traced $mpi $BIN/quoted $T/mpi/waits/app-wait-quoted.cpp -lstdc++
	limit $VFTR run -q -o quoted -- $(mpirun_of $mpi) -np 2 $BIN/quoted
	jq -r '.waits[] | .path as \$path | .for[] | \$path' quoted/profile.json | sort >wanted
	grep 'operator\"' wanted
	$VFTR waits --csv quoted >csv
	python3 -c 'import csv; [print(r[\"path\"]) for r in csv.DictReader(open(\"csv\"))]' | sort | diff wanted -"

done_testing
