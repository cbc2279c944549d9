#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='the tables of communication say what a program with known numbers has done'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT"
mpis=$(mpi_list_short)
[ -n "$mpis" ] || skip_all 'no MPI on this machine'

# run MPI RANKS [AGENT OPTION...]: app-mpi-traffic, with its file in this directory
run() {
	run_launch="$(mpirun_of "$1") -np $2"
	run_mpi=$1
	shift 2
	[ -x "$BIN/$run_mpi/app" ] || {
		mkdir -p "$BIN/$run_mpi"
		mpicc_traced "$run_mpi" "$BIN/$run_mpi/app" "$T/mpi/program/app-mpi-traffic.c"
	}
	rm -f app_*
	# shellcheck disable=SC2086
	traced -q "$@" -- $run_launch "$BIN/$run_mpi/app" "$PWD/data"
	is 0 "$(json app_all.json .lost_messages)" "lost messages"
	is 0 "$(json app_all.json .open_requests)" "open requests"
}

# numbers FILTER: of app_all.json, an array, as one line
numbers() {
	jq -r "$1 | map(tostring) | join(\" \")" app_all.json
}

# table FILE TITLE: its rows without frame and blanks
table() {
	awk -v title="$2" '
		$0 == title { lines = 1; next }
		lines && /^\+/ { if (++frames == 3) exit; next }
		lines && frames == 2 { gsub(/ /, ""); print }' "$1"
}

for mpi in $mpis; do
	test_expect "$mpi: sums by call path, function, size, pair and communicator" "
		run $mpi 4 --set logfile_for_ranks=3"'
		of=".mpi[] | [.function, .sends, .recvs, .bytes_sent, .bytes_received]"
		jq -r "$of | map(tostring) | join(\" \")" app_all.json | sort >got
		cat >wanted <<-END
		MPI_Allreduce 40 40 320 320
		MPI_Irecv 0 40 0 40000
		MPI_Isend 40 0 40000 0
		MPI_Recv 0 2 0 5000
		MPI_Send 2 0 5000 0
		END
		diff wanted got
		jq -r ".mpi_functions[] | select(.sends + .recvs > 0) |
			[.function, .sends, .recvs, .bytes_sent, .bytes_received] |
			map(tostring) | join(\" \")" app_all.json | sort | diff wanted -
		is "1 0 3 1" "$(numbers "[.mpi_functions[] | select(.function == \"MPI_Send\") |
			.ranks, .rank_min] + [.mpi_functions[] | select(.function == \"MPI_Recv\") |
			.rank_max, .ranks]")"
		is "0 0 1 1 512 1023 40 40 4096 8191 1 1" "$(numbers \
			"[.message_sizes[] | .from_bytes, .to_bytes, .sends, .recvs]")"
		is "0-1:10/10000 0-3:2/5000 1-2:10/10000 2-3:10/10000 3-0:10/10000" "$(numbers \
			"[.communication_matrix[] | \"\(.from)-\(.to):\(.sends)/\(.bytes_sent)\"]")"
		is "0-1:10/10000 0-3:2/5000 1-2:10/10000 2-3:10/10000 3-0:10/10000" "$(numbers \
			"[.communication_matrix[] | \"\(.from)-\(.to):\(.recvs)/\(.bytes_received)\"]")"
		is "2 2 10 2 2 10" "$(numbers "[.communicators[] | select(.name == \"odd or even\") |
			.size, .ranks, .collectives]")"
		is "4 42 42 45000 45000" "$(numbers "[.communicators[] |
			select(.name == \"MPI_COMM_WORLD\") |
			.ranks, .sends, .recvs, .bytes_sent, .bytes_received]")"
		is "$PWD/data 4 4 4 400" "$(numbers "[.files[] |
			.name, .ranks, .opens, .writes, .bytes_written]")"
		is "0 3" "$(numbers "[.places[] | .first, .last]")"
	'

	test_expect "$mpi: the same numbers in the log" '
		table app_all.log "Communication profile" >got
		is 5 "$(wc -l <got)" rows
		grep -q "^|40|0.000e+00|1.000e+03|0.000e+00|[1-9].*|MPI_Irecv|ring|" got
		grep -q "^|40|1.000e+03|0.000e+00|[1-9].*|0.000e+00|.*|MPI_Isend|ring|" got
		grep -q "^|2|2.500e+03|0.000e+00|.*|MPI_Send|far|" got
		grep -q "^|80|8.000e+00|8.000e+00|.*|MPI_Allreduce|together|" got
		is "|0|.|10|.|2| |1|.|.|10|.| |2|.|.|.|10| |3|10|.|.|.|" "$(table app_all.log \
			"Messages from rank (row) to rank (column)" | paste -sd" ")"
		table app_all.log "MPI functions" | grep -q "^|MPI_Send|2|.*|300.00|2|0|5000|0|$"
		is "0B 512B 1KiB 2KiB 4KiB" "$(table app_all.log "Message sizes" |
			cut -d"|" -f2 | paste -sd" ")"
		is 3 "$(table app_all.log Communicators | wc -l)" communicators
	'

	test_expect "$mpi: the log of one rank has its peers" '
		is "|0|10|2|10000|5000| |2|0|10|0|10000|" "$(table app_3.log "Messages by peer" |
			paste -sd" ")"
		table app_3.log "Communication profile" |
			grep -q "^|10|0.000e+00|1.000e+03|.*|MPI_Irecv|"
		hasnt app_3.log "(row)"
	'

	test_expect "$mpi: more than 32 ranks on one node are shown in groups" "
		run $mpi 34"'
		table app_all.log "Messages from ranks (row) to ranks (column)" >got
		is 17 "$(wc -l <got)" rows
		grep -q "^|0|0-1|10|10|" got
		is 342 "$(json app_all.json "[.communication_matrix[].sends] | add")"
	'
done

first=$(echo "$mpis" | head -n 1)

test_expect 'each choice of mpi.sort_table sorts' "
	for by in messages send_size recv_size comm_time; do
		run $first 2 --set mpi.sort_table.column=\$by
		table app_all.log 'Communication profile' >got
		case \$by in
		messages) column=2 ;;
		send_size) column=3 ;;
		recv_size) column=4 ;;
		comm_time) column=7 ;;
		esac
		cut -d'|' -f\$column got >keys
		sort -rg keys | diff keys -
	done
"

test_expect 'without mpi.show_table there are no tables, and all is in the JSON' "
	run $first 2 --set mpi.show_table=false
	hasnt app_all.log 'Communication profile'
	hasnt app_all.log 'MPI functions'
	[ \"\$(json app_all.json '.mpi | length')\" = 5 ]
"

test_expect 'without mpi.log_messages functions have their times, and nothing is sent' "
	run $first 2 --set mpi.log_messages=false
	hasnt app_all.log 'Communication profile'
	table app_all.log 'MPI functions' | grep -q '^|MPI_Send|2|.*|0|0|0|0|\$'
	is 0 \"\$(json app_all.json '.communication_matrix | length')\"
"

done_testing
