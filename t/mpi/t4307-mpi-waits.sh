#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='mpi.show_sync_time: who waits for whom in collective calls, by times that the program took'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT"
mpis=$(mpi_list)
[ -n "$mpis" ] || skip_all 'no MPI on this machine'

# The formulas of vftr-mpi(7), on the stamps of app-mpi-waits: lines of
# "SCENE COMMUNICATOR WORLD_RANK SECONDS CALLS", one for each rank and scene.
cat >formulas.awk <<'AWK'
function kind(scene) {
	return scene ~ /^(bcast|scatter)/ ? "from_root" : scene ~ /^(reduce|gatherv)/ ? "to_root" :
		scene ~ /^scan/ ? "below" : "all"
}
# whether line a waits for line b
function waits(a, b) {
	if (where[a] == "between" && (rank[a] < 2) == (rank[b] < 2))
		return 0
	if (kind(scene[a]) == "from_root")
		return rank[b] == root[a]
	if (kind(scene[a]) == "to_root")
		return rank[a] == root[a]
	return kind(scene[a]) == "all" || rank[b] < rank[a]
}
BEGIN { offset = 0 }
{
	if (!offset)
		offset = $7 - 1
	scene[NR] = $1; where[NR] = $2; rank[NR] = $4; root[NR] = $5; world[NR] = $6
	enter[NR] = ($7 - offset) / 1e9; leave[NR] = ($8 - offset) / 1e9
	instance = $1 " " $2 " " $3
	of[instance] = of[instance] " " NR
}
END {
	for (instance in of) {
		n = split(of[instance], line, " ")
		for (i = 1; i <= n; i++) {
			a = line[i]
			until = enter[a]
			late = -1
			for (k = 1; k <= n; k++)
				if (waits(a, line[k]) && enter[line[k]] > until) {
					until = enter[line[k]]
					late = world[line[k]]
				}
			if (until > leave[a])
				until = leave[a]
			key = scene[a] " " where[a] " " world[a]
			sum[key] += until - enter[a]
			if (late >= 0)
				for_rank[key " " late] += until - enter[a]
			calls[key]++
		}
	}
	for (key in sum)
		printf "%s %.6f %d\n", key, sum[key], calls[key]
	for (key in for_rank)
		printf "%s %.6f\n", key, for_rank[key] >"late"
}
AWK

# waited JSON: of a profile, "SCENE COMMUNICATOR WORLD_RANK LATE_RANK SECONDS KIND", and the sums
waited() {
	jq -r '.waits[] | (.path | gsub("[a-z_]*::"; "") | gsub(" "; "") | split("<")) as $p | select($p[2] == "play") |
		($p | map(select(. == ("on_world", "on_some", "between")))[0]) as $where |
		($p | map(select(startswith("rank_")))[0] | ltrimstr("rank_")) as $rank | .kind as $kind |
		.for[] | "\($p[1]) \($where) \($rank) \(.rank) \(.t_s) \($kind)"' "$1"
}

# same_late LATE WAITED: for the same ranks, within 2 % and 5 ms a call; each kind where it belongs
same_late() {
	awk 'NR == FNR { wanted[$1, $2, $3, $4] = $5; next }
		{ is[$1, $2, $3, $4] = $5
		  kind = $1 ~ /^(bcast|scatter)/ ? "late_root" : $1 ~ /^(reduce_scatter|all)/ ? "nxn" :
			$1 ~ /^(reduce|gatherv)/ ? "early_root" : $1 ~ /^scan/ ? "scan" : "barrier nxn"
		  if (index(kind, $6) == 0) { print "of another kind:", $0; bad = 1 } }
		END {
			for (k in wanted) { d = wanted[k] - is[k]; if (d < 0) d = -d
				if (d > 0.02 * wanted[k] + 0.03) { print "wanted " wanted[k] ", got " is[k] ": " k; bad = 1 } }
			for (k in is) if (!(k in wanted) && is[k] > 0.03) { print "of nobody: " k; bad = 1 }
			exit bad }' "$1" "$2"
}

# shown JSON: the same of a profile
shown() {
	jq -r '.stacks[] | select(.function | endswith("_sync")) |
		(.path | gsub("[a-z_]*::"; "") | split("<")) as $p | select($p[3] == "play") |
		($p | map(select(. == ("on_world", "on_some", "between")))[0]) as $where |
		($p | map(select(startswith("rank_")))[0] | ltrimstr("rank_")) as $rank |
		"\($p[2]) \($where) \($rank) \(.t_excl_s) \(.calls)"' "$1"
}

# agree WANTED SHOWN: the same lines; times within 2 % and 5 ms a call
agree() {
	cut -d" " -f1-3,5 "$1" | sort >wanted_calls
	cut -d" " -f1-3,5 "$2" | sort | diff wanted_calls - || return
	awk 'NR == FNR { wanted[$1, $2, $3] = $4; next }
		{ w = wanted[$1, $2, $3]; d = $4 - w; most = 0.02 * w + 0.005 * $5 }
		d > most || -d > most { print "wanted " w " s:", $0; bad = 1 }
		END { exit bad }' "$1" "$2"
}

# waits MPI PROGRAM SCENES: another run if the machine was busy between stamp and call
waits() {
	for try in 1 2 3; do
		rm -f "$2"_*
		# shellcheck disable=SC2046
		traced -q -k mpi.show_sync_time=true -- $(mpirun_of "$1") -np 4 "$BIN/$2" >stamps
		awk -f formulas.awk stamps >wanted
		is "$3" "$(wc -l <wanted)" 'ranks and scenes' || return
		# what the late ones of all scenes make the others wait
		awk '{ sum += $4 } END { exit !(sum > 2) }' wanted
		shown "$2_all.json" >got
		waited "$2_all.json" >got_late
		agree wanted got && same_late late got_late && return
	done
	return 1
}

for mpi in $mpis; do
	test_expect "$mpi: in a Bcast for the root, in a Reduce the root, in a Scan for those below" "
		mpicc_traced $mpi $BIN/c-$mpi $T/mpi/program/app-mpi-waits.c
		waits $mpi c-$mpi $((10 * 4 + 10 * 3 + 3 * 4))"
	test_if "command -v mpif90.$mpi" "no mpif90.$mpi on this machine" \
		"$mpi: the same from Fortran" "
		mpifc_traced $mpi $BIN/f-$mpi $T/mpi/program/app-mpi-waits.f90
		waits $mpi f-$mpi $((6 * 4 + 6 * 3))"
done

done_testing
