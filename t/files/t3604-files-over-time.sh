#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='files over time: what each rank reads and writes in each slice of the run'
. "$(dirname "$0")/../lib/lib.sh"
need jq python3
need_built "$AGENT" "$VFTR" "$LIB/libvftrace-files.so"

mpis=$(mpi_list_short)
[ -n "$mpis" ] || skip_all 'no MPI'
MIB=1048576

# cells KEY COMMAND: of each row of time_slices
cells() {
	jq -c "[.time_slices.rows[].$1 | $2]" run-$mpi/profile.json
}

for mpi in $mpis; do
	test_expect "$mpi: rank r writes r + 1 MiB, rank 1 in a second thread; later rank 0 reads all that" '
		mpicc.$mpi -O1 -g -Wall -o "$BIN/io-$mpi" "$T/files/app-io-over-time.c" -pthread
		# nothing but these files: what MPI reads and writes itself is left out
		limit "$VFTR" run -q --preload -k files.active=true -k "files.exclude=^[(]|/(dev|proc|sys|tmp/ompi)|[^0-9]$" \
			-o run-$mpi -- $(mpirun_of $mpi) -np 3 "$BIN/io-$mpi"
		jq -c .time_slices,.posix_files run-$mpi/profile.json
		for key in bytes_read bytes_written; do
			is "$(jq "[.posix_files[] | select(.name | test(\"/data-[0-2]$\")).$key] | add" run-$mpi/profile.json)" $((6 * MIB))
		done
		# a byte may be lost where a slice is shared out
		jq -e ".time_slices | .slices as \$n | [.rows[].bytes_written | add] as \$w | [range(3)] |
			all(. as \$r | \$w[\$r] <= (\$r + 1) * $MIB + \$n and \$w[\$r] >= (\$r + 1) * $MIB - \$n)" run-$mpi/profile.json
		jq -e ".time_slices | .slices as \$n | [.rows[].bytes_read | add] |
			.[0] <= 6 * $MIB + \$n and .[0] >= 6 * $MIB - \$n and .[1:] == [0, 0]" run-$mpi/profile.json'

	test_expect "$mpi: reads come after all writes, which are spread over many slices" '
		first=$(cells bytes_read "to_entries | map(select(.value > 0).key)" | jq "add | min")
		last=$(cells bytes_written "to_entries | map(select(.value > 0).key)" | jq "add | max")
		[ "$last" -le "$first" ]
		is "[true,true,true]" "$(cells bytes_written "map(select(. > 0)) | length >= 8")"'

	test_expect "$mpi: the report has both maps, with the numbers of the JSON" '
		"$VFTR" report -o $mpi.html run-$mpi
		python3 "$T/report/same-numbers.py" $mpi.html run-$mpi/profile.json >checked
		cat checked
		grep -c "id=\"io-read-over-time\"" $mpi.html
		grep -c "id=\"io-written-over-time\"" $mpi.html'
done

test_expect 'without files.active there is nothing of it' '
	limit "$VFTR" run -q --preload -o none -- $(mpirun_of $mpi) -np 2 "$BIN/io-$mpi"
	jq -e ".time_slices.rows | length == 2 and all(has(\"mpi_share\") and (has(\"bytes_read\") | not))" none/profile.json'

done_testing
