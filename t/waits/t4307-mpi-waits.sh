#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='mpi.show_sync_time: who waits for whom in collective calls, by times that the program took'
. "$(dirname "$0")/../lib/lib.sh"
. "$T/lib/waits.sh"
need jq
need_built "$AGENT"
mpis=$(mpi_list_short)
[ -n "$mpis" ] || skip_all 'no MPI on this machine'

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
		awk -f "$T/mpi/waits-formulas.awk" stamps >wanted
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
