#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='communicators are the same on all members; collectives count as Vftrace counts'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT"
unset OMPI_MCA_btl # jobs that meet do so by TCP
export OMPI_MCA_btl_tcp_if_include=lo # networks of pseudo-nodes come and go

mpis=$(mpi_list)
[ -n "$mpis" ] || skip_all 'no MPI on this machine'

# run MPI RANKS PROGRAM...: traced; leaves PROGRAM_all.json
run() {
	r_mpi=$1
	r_ranks=$2
	shift 2
	traced -q -- $(mpirun_of "$r_mpi") -np "$r_ranks" "$@"
}

# NAME KIND SIZE REMOTE RANKS of the communicators in use, but for MPI_COMM_SELF
comms_of() {
	jq -r '.communicators[] | select(.name != "MPI_COMM_SELF")
		| "\(.name) \(.kind) \(.size) \(.remote_size) \(.ranks)"' "$1" | sort
}

# CALLER FUNCTION SENDS RECVS BYTES_SENT BYTES_RECEIVED of MPI_* with traffic
traffic_of() {
	jq -r '.mpi[] | "\(.caller) \(.function) \(.sends) \(.recvs) \(.bytes_sent)" +
		" \(.bytes_received)"' "$1" | sort
}

# What `app-mpi-comms made' makes. Members that had not agreed on the identity would
# be several lines with fewer ranks each.
made() {
	sort <<-EOF
	MPI_COMM_WORLD predefined 4 0 4
	dup dup 4 0 4
	dup2 dup 4 0 4
	idup dup 4 0 4
	info dup 4 0 4
	low split 2 0 2
	low2 split 2 0 2
	high split 2 0 2
	high2 split 2 0 2
	some split 3 0 3
	node split 4 0 4
	create create 3 0 3
	create_group from_group 2 0 2
	create_group2 from_group 2 0 2
	cart topology 4 0 4
	row topology 2 0 2
	row topology 2 0 2
	graph topology 4 0 4
	ring topology 4 0 4
	ring2 topology 4 0 4
	even split 2 0 2
	odd split 2 0 2
	inter inter 2 2 4
	inter again inter 2 2 4
	inter dup dup 2 2 4
	inter low split 1 1 2
	inter high split 1 1 2
	inter create create 1 1 2
	merged merge 4 0 4
	EOF
}

# What app-mpi-collectives does: sums over its four ranks. N is 10 ints, 40 bytes.
collectives() {
	cat <<-EOF
	allgather MPI_Allgather 16 16 640 640
	allgather_in_place MPI_Allgather 12 12 480 480
	allgatherv MPI_Allgatherv 16 16 160 160
	allgatherv_in_place MPI_Allgatherv 12 12 120 120
	allreduce MPI_Allreduce 16 16 640 640
	allreduce_in_place MPI_Allreduce 12 12 480 480
	alltoall MPI_Alltoall 16 16 640 640
	alltoall_in_place MPI_Alltoall 12 12 480 480
	alltoallv MPI_Alltoallv 16 16 192 192
	alltoallv_in_place MPI_Alltoallv 12 12 144 144
	alltoallw MPI_Alltoallw 16 16 64 64
	backwards MPI_Allreduce 8 8 320 320
	backwards MPI_Alltoall 8 8 320 320
	backwards MPI_Bcast 4 2 160 80
	backwards MPI_Gather 4 4 160 160
	backwards MPI_Gatherv 4 4 24 24
	backwards MPI_Reduce 4 4 160 160
	bcast MPI_Bcast 4 3 160 120
	cart MPI_Neighbor_allgather 6 6 24 24
	cart MPI_Neighbor_alltoallv 6 6 60 60
	exscan MPI_Exscan 3 3 120 120
	gather MPI_Gather 4 4 160 160
	gather_in_place MPI_Gather 3 3 120 120
	gatherv MPI_Gatherv 4 4 40 40
	gatherv_in_place MPI_Gatherv 3 3 24 24
	graph MPI_Neighbor_allgather 8 8 32 32
	graph MPI_Neighbor_alltoall 8 8 64 64
	graph MPI_Neighbor_alltoallv 8 8 32 32
	graph MPI_Neighbor_alltoallw 8 8 32 32
	iallreduce MPI_Iallreduce 16 16 640 640
	igatherv MPI_Igatherv 4 4 40 40
	inter_allgather MPI_Allgather 8 8 320 320
	inter_allreduce MPI_Allreduce 8 8 320 320
	inter_alltoall MPI_Alltoall 8 8 320 320
	inter_bcast MPI_Bcast 2 2 80 80
	inter_gather MPI_Gather 2 2 80 80
	inter_scatter MPI_Scatter 2 2 80 80
	reduce MPI_Reduce 4 4 160 160
	reduce_in_place MPI_Reduce 3 3 120 120
	reduce_scatter MPI_Reduce_scatter 8 8 200 200
	reduce_scatter_block MPI_Reduce_scatter_block 8 8 800 800
	reduce_scatter_in_place MPI_Reduce_scatter 6 6 156 156
	scan MPI_Scan 3 3 120 120
	scatter MPI_Scatter 4 4 160 160
	scatter_in_place MPI_Scatter 3 3 120 120
	scatterv MPI_Scatterv 4 4 40 40
	EOF
	[ "$1" != mpich ] || cat <<-EOF
	large MPI_Allgatherv_c 16 16 160 160
	persistent MPI_Start 12 9 480 360
	EOF
}

for MPI in $mpis; do
	export MPI
	test_expect "$MPI: all members of a communicator have the same identity for it" '
		mpicc_traced $MPI "$BIN/made-$MPI" "$T/mpi/program/app-mpi-comms.c"
		run $MPI 4 "$BIN/made-$MPI" made
		made >wanted
		comms_of made-${MPI}_all.json | diff wanted -
		is 29 "$(json made-${MPI}_all.json "[.communicators[] | select(.size > 1 or
			.remote_size > 0) | .id] | unique | length")" "distinct identities"
		is 4 "$(json made-${MPI}_all.json "[.communicators[] |
			select(.name == \"MPI_COMM_SELF\") | .id] | unique | length")" "MPI_COMM_SELF"
		is 0 "$(json made-${MPI}_all.json .lost_messages)"'

	test_expect "$MPI: making and freeing communicators for ever needs no memory" '
		run $MPI 2 "$BIN/made-$MPI" loop ${VFTR_LONG:+10}2000 >out
		cat out
		kb=$(sed -n "s/^kb //p" out)
		[ "$kb" -lt 100 ]'

	test_expect "$MPI: threads may make them at the same time" '
		run $MPI 2 "$BIN/made-$MPI" threads
		json made-${MPI}_all.json ".communicators[] | select(.name == \"of a thread\") |
			\"\(.size) \(.ranks) \(.collectives)\"" >got
		is 60 "$(wc -l <got)"
		is "2 2 2" "$(sort -u got)"'

	test_expect "$MPI: members of large communicators are sent in packets" '
		"mpicc.$MPI" -std=gnu11 -D_GNU_SOURCE -I"$TOP" -I"$BUILD/gen" -o "$BIN/members-$MPI" \
			"$T/mpi/program/app-mpi-members.c"
		is "0 failures, several packets" "$("$BIN/members-$MPI")"'

	test_expect "$MPI: bad handles are reported as ever, hidden communicators are found" '
		run $MPI 2 "$BIN/made-$MPI" bad | sort -u >out
		cat out
		has out "null: error, handler called 1 times"
		has out "hidden: handler called 0 times"
		is 2 "$(wc -l <out)"
		comms_of made-${MPI}_all.json >got
		has got "hidden unknown 2 0 2"'

	test_expect "$MPI: collectives count as the messages that Vftrace takes them for" '
		mpicc_traced $MPI "$BIN/coll-$MPI" "$T/mpi/program/app-mpi-collectives.c"
		is "0 wrong" "$(run $MPI 4 "$BIN/coll-$MPI")"
		collectives $MPI | sort >wanted
		traffic_of coll-${MPI}_all.json | diff wanted -
		is 0 "$(json coll-${MPI}_all.json .open_requests)"'

	for F in USE_MPI F08; do
		export F
		test_expect "$MPI: the same in Fortran ($F)" '
			mpifc_traced $MPI "$BIN/f-$MPI-$F" -cpp -D$F -J. "$T/mpi/program/app-mpi-comms.f90"
			is "" "$(run $MPI 4 "$BIN/f-$MPI-$F")"
			comms_of f-$MPI-${F}_all.json >got
			printf "%s\n" "even split 2 0 2" "from Fortran dup 4 0 4" "late dup 4 0 4" \
				"odd split 2 0 2" | diff - got
			traffic_of f-$MPI-${F}_all.json | tr A-Z a-z | sed "s|\.[0-9]* | |" >got
			printf "%s\n" "in_place mpi_allreduce 12 12 480 480" \
				"own_counts mpi_gatherv 4 4 40 40" | diff - got'
	done
done

# MPICH cannot do this with the network module that Debian has chosen
test_if 'mpi_list | grep openmpi' 'no Open MPI' \
	'groups that meet at a port agree' '
	run openmpi 4 "$BIN/made-openmpi" ports
	comms_of made-openmpi_all.json >got
	has got "accepted accept 2 2 4"'

test_if 'mpi_list | grep openmpi' 'no Open MPI' \
	'spawned processes are a world of their own' '
	run openmpi 2 "$BIN/made-openmpi" spawn
	comms_of made-openmpi_all.json >got
	cat got
	is 2 "$(grep -c "MPI_COMM_WORLD predefined 2 0 2" got)"
	has got "children spawn 2 2 2"
	has got "parent parent 2 2 2"'

test_if 'mpi_list | grep openmpi' 'no Open MPI' \
	'one rank knows whom it has spawned, and all agree on what they make with these' '
	run openmpi 2 "$BIN/made-openmpi" spawn_one
	comms_of made-openmpi_all.json >got
	cat got
	is 2 "$(grep -c "^met inter 2 2 2$" got)" "one for each job"
	is 2 "$(grep -c "^all merge 4 0 2$" got)" "one for each job"
	jq -e ".matching | .pairs.exact == 2 and
		([.unmatched_sends[], .unmatched_recvs[]] | add) == 0" made-openmpi_all.json'

# The launcher of MPICH tells no job by the environment.
test_if 'mpi_list | grep mpich' 'no MPICH' 'jobs that run at the same time are worlds of their own' '
	job="$(mpirun_of mpich) -np 4 $BIN/made-mpich made"
	traced -q -- sh -c "$job & sh -c \"$job; exit\" & wait"
	comms_of made-mpich_all.json >got
	cat got
	is 2 "$(grep -c "MPI_COMM_WORLD predefined 4 0 4" got)"
	is 2 "$(grep -c "create_group from_group 2 0 2" got)"'

test_if 'mpi_list | grep mpich' 'no MPICH' 'sessions need no MPI_COMM_WORLD' '
	run mpich 4 "$BIN/made-mpich" sessions
	printf "%s\n" "session dup dup 4 0 4" "session from_group 4 0 4" \
		"session inter inter 2 2 4" >wanted
	comms_of made-mpich_all.json | diff wanted -'

done_testing
