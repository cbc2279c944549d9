#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='what the options about MPI and MPI_Pcontrol do to the tables'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT"
mpis=$(mpi_list_short)
[ -n "$mpis" ] || skip_all 'no MPI on this machine'
first=$(echo "$mpis" | head -n 1)

# run MPI [AGENT OPTION...]: app-mpi-options with 4 ranks; its files are app_*
run() {
	run_mpi=$1
	shift
	[ -x "$BIN/$run_mpi/app" ] || {
		mkdir -p "$BIN/$run_mpi"
		mpicc_traced "$run_mpi" "$BIN/$run_mpi/app" "$T/mpi/program/app-mpi-options.c"
	}
	rm -f app_*
	# shellcheck disable=SC2046
	traced -q "$@" -- $(mpirun_of "$run_mpi") -np 4 "$BIN/$run_mpi/app"
	is "4 0 0" "$(json app_all.json '"\(.ranks) \(.lost_messages) \(.open_requests)"')"
}

# messages FILE: function, caller, sends, receives and bytes of both, one per line
messages() {
	jq -r '.mpi[] | [.function, .caller, .sends, .recvs, .bytes_sent, .bytes_received] |
		map(tostring) | join(" ")' "$1" | sort
}

# table FILE TITLE: its rows without frame and blanks
table() {
	awk -v title="$2" '
		$0 == title { lines = 1; next }
		lines && /^\+/ { if (++frames == 3) exit; next }
		lines && frames == 2 { gsub(/ /, ""); print }' "$1"
}

# titles FILE TITLE: the line with the names of its columns, without blanks
titles() {
	awk -v title="$2" '$0 == title { n = NR + 2 } n && NR == n { gsub(/ /, ""); print }' "$1"
}

for mpi in $mpis; do
	test_expect "$mpi: MPI_Pcontrol 0: messages posted from there on are not recorded, calls are" "
		run $mpi"'
		messages app_all.json >got
		cat >wanted <<-END
		MPI_Bcast late 4 3 16 12
		MPI_Irecv post 0 12 0 240
		MPI_Irecv post 0 24 0 2400
		MPI_Isend post 12 0 240 0
		MPI_Isend post 24 0 2400 0
		MPI_Sendrecv others 12 12 12000 12000
		END
		diff wanted got
		is 20 "$(calls_of app_all.json "MPI_Sendrecv<silent<main<init")"
		is 4 "$(calls_of app_all.json "MPI_Allreduce<silent<main<init")"
		is 24 "$(calls_of app_all.json "MPI_Irecv<post<across<main<init")"
		is 8 "$(calls_of app_all.json "MPI_Pcontrol<silent<main<init")"
		is 4 "$(json app_all.json "[.communication_matrix[] | select(.sends == 10 and
			.recvs == 10 and .bytes_sent == 1660 and .bytes_received == 1660)] | length")"
	'

	test_expect "$mpi: MPI_Pcontrol from mpif.h and from mpi_f08" "
		mpifc_traced $mpi $BIN/$mpi/fortran $T/mpi/program/app-mpi-options.f90
		traced -q -- $(mpirun_of "$mpi") -np 4 $BIN/$mpi/fortran"'
		messages fortran_all.json | sed "s/exchange:://" >got
		cat >wanted <<-END
		MPI_Sendrecv by_header 24 24 192 192
		MPI_Sendrecv by_module 24 24 192 192
		END
		diff wanted got
		is 72 "$(json fortran_all.json "[.stacks[] | select(.function == \"MPI_Sendrecv\") |
			.calls] | add")"
	'
done

test_expect 'mpi.log_messages=false: functions with their times, and nothing is sent' "
	run $first --set mpi.log_messages=false --set logfile_for_ranks=1"'
	is "0 0 0 0" "$(json app_all.json "[(.mpi, .message_sizes, .communication_matrix,
		.communicators) | length] | join(\" \")")"
	is 12 "$(calls_of app_all.json "MPI_Sendrecv<others<main<init")"
	table app_all.log "MPI functions" | grep "^|MPI_Bcast|4|.*|0|0|0|0|$" >bcast
	awk -F"|" "{ exit !(\$4 > 0.2) }" bcast
	hasnt app_1.log "Communication profile"
	hasnt app_1.log "Messages by peer"
'

test_expect 'mpi.only_for_ranks: a message counts if both its ranks are listed' "
	run $first --set mpi.only_for_ranks=0,2-3"'
	is "0-2:1/1000 0-3:1/1000 2-0:1/1000 2-3:10/1660 3-0:10/1660 3-2:1/1000" "$(json app_all.json \
		"[.communication_matrix[] | \"\(.from)-\(.to):\(.sends)/\(.bytes_sent)\"] | join(\" \")")"
	messages app_all.json >got
	cat >wanted <<-END
	MPI_Bcast late 3 2 12 8
	MPI_Irecv post 0 12 0 1200
	MPI_Irecv post 0 6 0 120
	MPI_Isend post 12 0 1200 0
	MPI_Isend post 6 0 120 0
	MPI_Sendrecv others 6 6 6000 6000
	END
	diff wanted got
	grep -qx "Communication profile for ranks: 0,2-3" app_all.log
	is 12 "$(calls_of app_all.json "MPI_Sendrecv<others<main<init")"
'

# By hand: what vftr-config(5) says of each call, for messages between two listed ranks.
for mpi in $mpis; do
	test_expect "$mpi: mpi.only_for_ranks: of collective calls, too, with the lengths of each message" "
		mpicc_traced $mpi $BIN/$mpi/listed $T/mpi/program/app-mpi-listed.c
		listed() { traced -q \"\$@\" -- $(mpirun_of "$mpi") -np 4 $BIN/$mpi/listed; }"'
		listed --set mpi.only_for_ranks=0,1
		messages listed_all.json >first
		grep "^MPI_Alltoall main 4 4 16 16$" first
		grep "^MPI_Bcast main 2 1 8 4$" first
		grep "^MPI_Gather main 2 2 8 8$" first
		grep "^MPI_Reduce main 2 2 8 8$" first
		grep "^MPI_Alltoallv main 4 4 36 36$" first
		listed --set mpi.only_for_ranks=1,3
		cat >wanted <<-END
		MPI_Allgatherv main 2 2 24 24
		MPI_Alltoall main 4 4 16 16
		MPI_Alltoallv main 4 4 144 144
		MPI_Gather main 2 2 8 8
		MPI_Gatherv main 2 2 24 24
		MPI_Ialltoallv main 4 4 144 144
		MPI_Neighbor_alltoallv neighbours 2 2 24 24
		MPI_Reduce main 2 2 8 8
		MPI_Reduce_scatter turned 4 4 96 96
		MPI_Reduce_scatter_block turned 2 2 40 40
		MPI_Scan odd 1 1 4 4
		MPI_Scatterv main 2 2 24 24
		END
		messages listed_all.json | grep -v " 0 0 0 0$" | diff wanted -
	'
done

test_expect 'mpi.only_for_ranks=none: no message counts' "
	run $first --set mpi.only_for_ranks=none"'
	is "0 0" "$(json app_all.json "[([.mpi[] | .sends + .recvs] | add // 0),
		(.communication_matrix | length)] | join(\" \")")"
	grep -qx "Communication profile for ranks: none" app_all.log
	is 0 "$(table app_all.log "Communication profile for ranks: none" | grep -c "|MPI_")"
'

# The last rank, the root of MPI_Bcast, is late by 0.2 s for each of the 3 others.
test_expect 'mpi.show_sync_time: waiting for the root is a function of its own' "
	run $first"'
	hasnt app_all.log MPI_Bcast_sync
	is 0 "$(calls_of app_all.json "MPI_Bcast_sync<MPI_Bcast<late<main<init")"
	'"run $first --set mpi.show_sync_time=true"'
	is 4 "$(calls_of app_all.json "MPI_Bcast_sync<MPI_Bcast<late<main<init")"
	jq -e ".stacks | map({(.path): .}) | add |
		.[\"MPI_Bcast_sync<MPI_Bcast<late<main<init\"] as \$s |
		.[\"MPI_Bcast<late<main<init\"] as \$b |
		\$s.t_excl_s > 0.3 and \$s.t_excl_s <= \$b.t_incl_s and
		((\$b.t_incl_s - \$b.t_excl_s - \$s.t_incl_s) | fabs) < 1e-6" app_all.json
	jq -e "[.stacks[].function | select(endswith(\"_sync\"))] | unique ==
		[\"MPI_Barrier_sync\", \"MPI_Bcast_sync\"]" \
		app_all.json
	grep -q "MPI_Bcast_sync *| *MPI_Bcast *|" app_all.log
	jq -e "([.stacks[].t_excl_s] | add) as \$all | \$all <= .runtime_s * .ranks * 1.001" app_all.json
	messages app_all.json | grep -qx "MPI_Bcast late 4 3 16 12"
'

test_expect 'mpi.show_table=false: the logs have no table of MPI, the JSON has all' "
	run $first --set mpi.show_table=false --set logfile_for_ranks=0"'
	for log in app_all.log app_0.log; do
		for title in "Communication profile" "MPI functions" "Message sizes" "Messages from" \
			"Bytes from" "Messages by peer" Communicators; do
			hasnt $log "$title"
		done
		has $log MPI_Sendrecv
	done
	is 6 "$(messages app_all.json | wc -l)"
	is 12 "$(json app_all.json ".communication_matrix | length")"
'

test_expect 'mpi.show_callpath: a column with the call path, here and in rank logs' "
	run $first --set logfile_for_ranks=2"'
	titles app_all.log "Communication profile" | grep -q "|Caller|STID|$"
	'"run $first --set mpi.show_callpath=true --set logfile_for_ranks=2"'
	for log in app_all.log app_2.log; do
		titles $log "Communication profile" | grep -q "|STID|Callpath|$"
		table $log "Communication profile" | grep -q "|MPI_Isend<post<around<main<init|$"
	done
'

# The node profile of one run, shown again with another configuration.
test_expect 'mpi.sort_table: by each column, falling unless it says ascending; none is by stack' "
	run $first"'
	for by in messages:2 send_size:3 recv_size:4 send_bw:5 recv_bw:6 comm_time:7 stack_id:10; do
		for ascending in true false; do
			echo "{\"mpi\":{\"sort_table\":{\"column\":\"${by%:*}\",\"ascending\":$ascending}}}" >c
			"$VFTR" collate -c c .
			table app_all.log "Communication profile" | cut -d"|" -f${by#*:} >keys
			is 6 "$(wc -l <keys)" rows
			case $ascending in
			true) sort -g keys | diff keys - ;;
			false) sort -rg keys | diff keys - ;;
			esac
		done
	done
	echo "{\"mpi\":{\"sort_table\":{\"column\":\"none\"}}}" >c
	"$VFTR" collate -c c .
	table app_all.log "Communication profile" | cut -d"|" -f10 >keys
	sort -g keys | diff keys -
'

test_expect 'the same options from a file' "
	cat >some.json <<-END
	{ \"mpi\": { \"only_for_ranks\": \"1,3\", \"show_callpath\": true,
		\"sort_table\": { \"column\": \"messages\" } } }
	END
	VFTR_CONFIG=some.json run $first"'
	is "1-3:1 3-1:1" "$(json app_all.json \
		"[.communication_matrix[] | \"\(.from)-\(.to):\(.sends)\"] | join(\" \")")"
	grep -qx "Communication profile for ranks: 1,3" app_all.log
	table app_all.log "Communication profile for ranks: 1,3" >got
	grep -q "|MPI_Sendrecv|others|[0-9]*|MPI_Sendrecv<others<main<init|$" got
	cut -d"|" -f2 got >keys
	sort -rg keys | diff keys -
'

for wrong in mpi.only_for_ranks=2-1 mpi.only_for_ranks=x mpi.sort_table.column=bytes \
	mpi.show_sync_time=2; do
	test_expect "$wrong is refused, and nothing is run" "
		status_of 125 traced --set $wrong -- touch ran 2>said
		[ ! -e ran ]
		has said ${wrong%=*}"
done

done_testing
