#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='late senders: what receives waited for, and for whom, against the program'"'"'s own clock'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$VFTR"

. "$T/lib/waits.sh"

for mpi in openmpi mpich; do
	command -v mpirun.$mpi >/dev/null && [ -e "$LIB/libvftrace-$mpi.so" ] || continue
	test_expect "$mpi: by Recv, Waitall, Wait, persistent, Mrecv and Sendrecv" "
		rm -f truth.* late_*
		mpicc_traced $mpi $BIN/late-$mpi $T/mpi/program/app-mpi-late.c
		traced -q -- $(mpirun_of $mpi) -np 4 $BIN/late-$mpi truth
		same_waits late-${mpi}_all.json
		same_by_path late-${mpi}_all.json
		jq -e '.matching.pairs.exact == (.thread_pairs | map(.messages) | add)' late-${mpi}_all.json"
	test_expect "$mpi: no wait is found where there is none" "
		rm -f truth.* late_*
		traced -q -- $(mpirun_of $mpi) -np 4 $BIN/late-$mpi truth 0
		is 0 \"\$(jq '.thread_pairs | map(.late_s) | add' late-${mpi}_all.json)\"
		is null \"\$(jq -c '.waits | map(select(.kind == \"late_sender\"))[0]?' late-${mpi}_all.json)\"
		is 0 \"\$(cat truth.* | awk '{ s += \$3 } END { print s + 0 }')\""
	test_expect "$mpi: vftr run names the rank that is waited for most" "
		rm -rf truth.* out again
		limit $VFTR run -o out -- $(mpirun_of $mpi) -np 3 $BIN/late-$mpi truth 2>told
		grep -E '^  late senders: receives waited [0-9.]+ m?s for them, [0-9]+ % of it for rank [0-9]+\$' told >named
		waited_most \"\$(sed 's/.* //' named)\"
		jq -e --arg named \"\$(cat named)\" '.summary.late_senders | .t_rank_s <= .t_s and
			(.rank as \$rank | \$named | endswith(\" for rank \\(\$rank)\"))' out/profile.json
		$VFTR collate -o again out
		is \"\$(jq -c .thread_pairs out/profile.json)\" \"\$(jq -c .thread_pairs again/*.json)\""
	test_expect "$mpi: vftr waits shows them, by call path and by the rank that is late" "
		$VFTR waits out >shown
		grep '^| Late sender ' shown
		grep -A8 '^Who made others wait' shown | grep '^| rank 2 '
		grep -A20 '^Waiting for other ranks: ' out/summary.log | grep '^| Late sender '
		$VFTR waits --json out >waits.json
		jq -c '[.waits, .delays]' waits.json >one
		jq -c '[.waits, .delays]' out/profile.json | diff one -
		$VFTR waits --csv out >csv
		is \"\$(jq '[.waits[].t_s] | add * 1e9 | round' waits.json)\" \
			\"\$(awk -F, 'NR > 1 { s += \$(NF - 4) } END { printf \"%.0f\", 1e9 * s }' csv)\"
		$VFTR waits -j -r 2 out >two
		jq -e '[.waits[].for[].rank] | unique == [2]' two
		jq -e --slurpfile all waits.json '.delays == [\$all[0].delays[] | select(.rank == 2)]' two
		$VFTR waits -n 1 out | sed '/^Who made/q' >first
		is 1 \"\$(grep -c '^| [A-Z]' first)\"
		status_of 2 $VFTR waits -r 77 out 2>err
		has err 'there is no rank 77 in the run: its ranks are 0 to 2'
		status_of 2 $VFTR waits; status_of 2 $VFTR waits -c -j out; status_of 2 $VFTR waits -r x out"
	test_expect "$mpi: mpi.waits=false: none is looked for" "
		rm -rf truth.* off
		limit $VFTR run -q -o off -k mpi.waits=false -- $(mpirun_of $mpi) -np 3 $BIN/late-$mpi truth
		is null \"\$(jq -c .waits off/profile.json)\"
		is 'No call is known to have waited for another rank or thread.' \"\$($VFTR waits off)\""
done

done_testing
