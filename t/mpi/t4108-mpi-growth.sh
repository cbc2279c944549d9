#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='memory grows with what is different, not with the number of messages'
. "$(dirname "$0")/../lib/lib.sh"

need jq
millions=${VFTR_LONG:+10} millions=${millions:-2}
mpis=$(mpi_list_short)
[ -n "$mpis" ] || skip_all 'no MPI on this machine'

# grown WHAT KIB-OF-PROGRAM KIB-OF-AGENT: as the program printed it, at most so many
grown() {
	read -r what own agent <<-END
		$(grep "^$1 " out)
	END
	[ "$own" -le "$2" ] && [ "$agent" -le "$3" ] || {
		echo "$what: the program has grown by $own KiB, the agent by $agent KiB" >&2
		return 1
	}
}

for mpi in $mpis; do
	need_built "$LIB/libvftrace-$mpi.so"
	test_expect "$mpi: it runs, and all messages are there" "
		mpicc.$mpi -O1 -w -o growth-$mpi $T/mpi/program/app-mpi-growth.c
		limit $AGENT -q --preload -k shm.ring_size=1MiB -- ./growth-$mpi $millions >out
		sent=\$(sed -n 's/^sent //p' out)
		[ \"\$sent\" -gt ${millions}000000 ]
		is \"\$sent\" \"\$(jq '[.communication_matrix[].sends] | add' growth-${mpi}_all.json)\" sends
		is \"\$sent\" \"\$(jq '[.communication_matrix[].recvs] | add' growth-${mpi}_all.json)\" receives
		is '0 0' \"\$(json growth-${mpi}_all.json '\"\(.lost_messages) \(.open_requests)\"')\" lost"
	test_expect "$mpi: $millions million messages" 'grown messages 256 256'
	test_expect "$mpi: ten thousand open requests" 'grown requests 256 256'
	test_expect "$mpi: twenty thousand communicators" 'grown communicators 512 1024'
done

done_testing
