#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='waits in calls that complete collective calls which do not block, in a program that knows them'
. "$(dirname "$0")/../lib/lib.sh"
. "$T/lib/wait-truth.sh"
need jq
need_built "$AGENT" "$VFTR"
mpis=$(mpi_list)
[ -n "$mpis" ] || skip_all 'no MPI on this machine'

# as_made FILE: who is late
as_made() {
	waited_for "$1" imbalance_at_ibarrier barrier 3 &&
		waited_for "$1" overlapped_ibarrier barrier 2 &&
		waited_for "$1" imbalance_at_iallreduce nxn 1 &&
		waited_for "$1" late_ibcast late_root 1 &&
		waited_for "$1" early_ireduce early_root 3 &&
		waited_for "$1" late_in_iscan scan 1 &&
		waited_for "$1" message_and_ibarrier barrier 1 &&
		waited_for "$1" message_and_ibarrier late_sender 3 || return
	! grep -q '^persistent' "$1" ||
		{ waited_for "$1" persistent_barrier barrier 1 2 && waited_for "$1" persistent_reduce early_root 3; }
}

for mpi in $mpis; do
	test_expect "$mpi: what calls that complete collective calls have waited for is what the program says" "
		mpicc_traced $mpi $BIN/c-$mpi -I$TOP -Wno-stringop-overflow $T/mpi/waits/app-wait-completion.c
		knows $mpi c-$mpi as_made
		as_made found"
	test_if "grep -q '^persistent' truth" "$mpi has no persistent collective calls" \
		"$mpi: persistent ones wait for the members of the same start" "
		waited_for found persistent_barrier barrier 1 2
		waited_for found persistent_reduce early_root 3"
	test_expect "$mpi: sampling files say the same" "
		knows_exactly c-$mpi"
	test_expect "$mpi: the wait is at the call that has completed it" "
		jq -r '.waits[].path | gsub(\" \"; \"\") | split(\"<\") | select(.[2] == \"play\" and .[1] != \"tell\") | .[0]' \
			c-$mpi/profile.json | sort -u >in
		grep MPI_Wait in
		! grep -vE '^MPI_(Wait|Waitall)\$' in"
	test_expect "$mpi: where nobody waits none is reported" "
		jq -r '.stacks[].path' c-$mpi/profile.json | grep -q '^MPI_Test *< *nobody_waits_in_test'
		! grep nobody_waits found"
done

done_testing
