#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='waits at probes, and where communicators and files are made, in programs that stamp their calls themselves'
. "$(dirname "$0")/../lib/lib.sh"
. "$T/lib/known.sh"
need jq
need_built "$AGENT" "$VFTR"
mpis=$(mpi_list)
[ -n "$mpis" ] || skip_all 'no MPI on this machine'

for mpi in $mpis; do
	test_expect "$mpi: probes: the program runs, and has stamped calls of each property" "
		known_run probe $mpi 4
		[ \$(grep -c '^meant ' truth.probe.$mpi) -eq 8 ]"
	known_rows probe "$mpi"
done

# of these calls on files there is no record: that they follow the one that opens a file is known there
closed='late_at_open late_at_close late_at_set_size'
for mpi in $mpis; do
	test_expect "$mpi: communicators and files: the program runs, and has stamped calls of each property" "
		known_run made $mpi 4
		[ \$(grep -c '^meant ' truth.made.$mpi) -eq 16 ]"
	known_rows made "$mpi" none "" "$closed"
done
done_testing
