#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='requests that never complete: how many, of which kind, and where they were posted'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$VFTR"
mpis=$(mpi_list_short)
[ -n "$mpis" ] || skip_all 'no MPI on this machine'

# paths FILE: requests, kind, ranks, lowest and highest, path; one a line, in their order
paths() {
	jq -r '.open_request_paths[] |
		[.requests, .kind, .ranks, .rank_min, .rank_max, .path] | join(" ")' "$1"
}

# rows LOG: the table, without frame and STID, blanks as one
rows() {
	awk -F"|" '/^Requests that were never seen/ { lines = 1; next }
		lines && /^\+/ { if (++frames == 3) exit; next }
		lines && frames == 2 { $8 = ""; gsub(/ +/, " "); gsub(/^ | $/, ""); print }' "$1"
}

# with 3 ranks: 2 + 3 + 4 sends in first, 3 * 3 receives in second
cat >wanted-c <<END
9 send 3 0 2 MPI_Isend<first<main<init
9 receive 3 0 2 MPI_Irecv<second<deeper<main<init
3 send 3 0 2 MPI_Issend<second<deeper<main<init
3 receive 3 0 2 MPI_Start<third<main<init
2 other 2 1 2 MPI_Ibarrier<fourth<main<init
END
cat >wanted-f <<END
9 send 3 0 2 MPI_Issend<first<MAIN<main<init
9 receive 3 0 2 MPI_Irecv<second<MAIN<main<init
END

sentence="were posted and never seen to complete:"

for mpi in $mpis; do
	test_expect "$mpi: sends, receives and others by call path, in the JSON" "
		mkdir -p $mpi
		mpicc_traced $mpi $mpi/open \"\$T/mpi/program/app-mpi-open.c\"
		traced -q -o $mpi -- $(mpirun_of "$mpi") -np 3 $mpi/open"'
		paths '$mpi'/open_all.json | sort >got
		sort wanted-c | diff - got
		is 26 "$(json '$mpi'/open_all.json .open_requests)"
		is "12 MPI_Issend MPI_Start" "$(json '$mpi'/open_all.json \
			"[.open_request_paths[] | select(.kind == \"send\").requests] | add") $(json \
			'$mpi'/open_all.json "[.open_request_paths[] | select(.requests == 3).function] |
			sort | join(\" \")")"
		# its id is that of the stack
		is true "$(json '$mpi'/open_all.json ". as \$all | [.open_request_paths[] |
			.path == \$all.stacks[.id].path] | all")"'

	test_expect "$mpi: the same in the logs, by one sentence and a table, the most first" '
		for log in '$mpi'/open_all.log '$mpi'/open_node_*.log; do
			grep -q "^26 requests '"$sentence"' 12 sends (counted as sent, " $log
			grep -q " 12 receives (not counted as received), 2 others (of which only " $log
			rows $log | cut -d" " -f 1-6 | sort >got
			sed "s/<.*//" wanted-c | sort | diff - got
			rows $log | sort -rn -s -k 1,1 >sorted
			rows $log | diff sorted -
		done'

	test_expect "$mpi: vftr collate says the same" '
		rm '$mpi'/open_all.*
		"$VFTR" collate '$mpi'
		paths '$mpi'/open_all.json | sort >got
		sort wanted-c | diff - got
		grep -q "^26 requests '"$sentence"' 12 sends" '$mpi'/open_all.log'

	test_expect "$mpi: what is persistent, partitioned, freed or cancelled is not open" "
		traced -q -o $mpi -k outfile_basename=none -- \
			$(mpirun_of "$mpi") -np 3 $mpi/open none"'
		is "0 0" "$(json '$mpi'/none_all.json "\"\(.open_requests) \(.open_request_paths | length)\"")"
		hasnt '$mpi'/none_all.log "never seen to complete"
		is 9 "$(calls_of '$mpi'/none_all.json "MPI_Startall<persistent<main<init")"'

	test_if "command -v mpif90.$mpi" "no mpif90.$mpi" "$mpi: the same from Fortran" "
		mpifc_traced $mpi $mpi/openf -J. \"\$T/mpi/program/app-mpi-open.f90\"
		traced -q -o $mpi -k strip_module_names=true -- $(mpirun_of "$mpi") -np 3 $mpi/openf"'
		paths '$mpi'/openf_all.json | sort >got
		sort wanted-f | diff - got
		is 18 "$(json '$mpi'/openf_all.json .open_requests)"'
done

done_testing
