#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='what is wrong in Vftrace 2.0 is right here, bug by bug'
# The rows of this file begin with the part of Vftrace that is meant: 2a configuration,
# 2b logs, 2c sampling files, 2d API, 2e hashes, 2f MPI, 2g OpenMP, threads, GPUs,
# counters, signals, 2h tools, 2i collation and ends of programs. The table says where
# the bugs are tested that are not tested below.
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$LIB/libvftrace.so"

cc_traced "$BIN/bugs" "$T/agent/app-compared.c" || { echo 'Bail out! app-compared.c cannot be compiled'; exit 1; }
mpis=$(mpi_list_short)

# BUG | TEST | how its row begins, or words of it
cat >elsewhere <<'END'
2a: a configuration that cannot be read kills the program|t9003|without an everyday form a bad configuration means untraced
2a: null as a list of ranks crashes|t2002|null where none is accepted is refused with a sentence, never a crash
2a: stacklist.show_stacklist has no effect|t2002|print_config, stacklist.show_stacklist, profile_table.show_table
2a: the sorting of the grouped profile is ignored|t2002|name_grouped_profile_table has a sorting of its own
2a: sorting messages by size divides by zero|t4302|mpi.sort_table: by each column
2a: the advisor does not know all sections|t2002|a key of any level that is not known gets the nearest of its level
2a: the echo is no JSON with counters, and lacks keys|t2002|the echo in the log is JSON that is accepted again
2a: the echo lacks OpenACC|t6004|the echo of the configuration has the section
2a: OpenACC in rank logs is sorted as CUDA is|t6004|each table has its order and its switch
2a: numbers out of range are accepted|u-conf|every_key_refuses
2a: demangled names end at the first bracket|t7202|demangle_cxx keeps what follows the first template bracket
2a: counters are read where there are none|t3501|without counters nothing is read
2a: a check of a wrong file ends by a signal|t8303|vftrace_check_config without a file shows its usage
2b: calls and messages are cut to 32 bits|u-output|6000000001
2b: times of recursive functions are counted twice in groups|u-output|even<odd<even
2b: rows of least and greatest times have no stack ids|t7001|ids of all tables agree with the list
2b: ids of rank logs are others than in its list|t7001|MPI: ids of the rank logs are those of the summary
2b: receiving bandwidths of other ranks are nonsense|t7001|MPI: files, labels, columns, and sync rows
2b: a stack that rank 0 lacks is 100 % imbalanced there|t7001|MPI: a stack that rank 0 lacks has no part
2b: observables are added up over stacks|t3501|the tables have their titles, columns and totals
2b: files of two nodes have the same name|t7302|every receive has its send, on whatever node
2c: clocks of ranks are not compared|t7302|no message is received before it was sent
2c: any file is taken for a sampling file|t8101|what is no sampling file gives one sentence
2c: samples have no thread|t7301|each has its lane, with its name and creator
2c: recursive calls are not sampled|t7301|every call on every path, of recursion
2c: after a crash there are 0 bytes|t7301|kill -9 of the program at several moments
2c: one datatype has no name|t8101|the datatypes are those of mpi/generate/types.tab
2d: two regions in turns make a stack for each call, and crash|t3005|two regions in turns in one function
2d: a surplus end shifts the profile, several crash|t3005|a hundred ends too many
2d: any end closes whatever is open|t3005|ends in the wrong order
2d: a missing end is not told|t3005|missing ends: closed with the function, and reported
2d: a pause is not nested|t3003|pause and resume nest
2d: resumed in another function, callers are wrong|t3005|paused in one function, resumed in another
2d: get_stack crashes while tracing is off|t3003|get_stack is \"init\", and nothing fails
2d: get_stack of Fortran leaks, and ends in NUL|t5101|get_stack: the path as the tables have it, without a NUL
2d: the API may not be used outside of MPI_Init and MPI_Finalize|t3005|before MPI_Init, after MPI_Finalize
2d: stripped programs have no profile|t7201|a stripped program has a profile
2d: code opened by dlopen has no names|t7202|opened by dlopen, also from folders that others leave out
2d: there are no hooks for other processors|t3004|calls are exact in the emulator
2e: equal hashes merge two paths|u-merge|equal_hashes_of_different_paths_are_kept_apart
2f: requests are asked for in every wait|t4107|200000 requests at once
2f: groups are leaked|t4102|making and freeing communicators for ever needs no memory
2f: MPI_Recv logs the size of the buffer|t4105|peers, sizes, communicators and functions are exact
2f: many functions are not wrapped|t4001|every C function that each MPI exports or declares has a wrapper
2f: requests of persistent and cancelled operations|t4107|persistent requests go on after an error
2f: spawned processes are not in the profile|t4102|spawned processes are a world of their own
2f: windows and files are not recorded|t4103|C, 1 and 4 ranks
2f: a program of sessions alone has no rank|t4104|MPI_Session_init
2g: OpenMP is disabled|t3201|calls of each thread on each path
2g: OpenMP of gcc has no tools interface|t3203|calls of each thread on each path
2g: two threads crash, or mix their trees|t3101|calls of each thread on each path
2c: CUDA is not in the sampling file|t6001|streams are tracks of the sampling file
2g: CUDA: streams are serialised|t6001|streams and devices are busy for the union of what runs there
2g: CUDA: one thread only|t6001|from several threads, with small buffers
2g: CUDA: bytes of plain copies only|t6001|copies, sets, peer copies and unified memory have bytes
2g: OpenACC needs one compiler|t6005|constructs are frames at their lines
2g: OpenACC: events that do not match are lost|t6004|what makes no sense is no harm
2g: counters: recursion gives negative values|t3501|the dummy source counts every event once, at its path
2g: counters: an unknown event aborts|t3501|and unknown ones named
2g: counters: a wrong formula aborts|t3501|a formula that is none is refused, with its place
2g: counters are not those of threads|t3501|counters are those of each thread, and add up
2g: handlers of the program are overwritten|t3002|no signal handler, no blocked signal, no child of ours
2g: after longjmp callers are wrong|t3002|longjmp over three frames, 100 times
2g: only dlopen is known|t7201|plug-ins that take turns, fifty times
2h: dump takes one file and exports nothing|t8201|pids of two nodes are two processes
2h: diff wants the same number of stacks|t8302|a path of one run only is shown
2h: diff crashes on logs with more columns|t8302|logs of Vftrace are read, with whatever columns
2h: diff compares shares, without the first row|t8302|vftrace_diff_profiles prints what it printed
2h: the histogram shows nothing above 14 bytes|t8303|the sizes of an MPI program are those that it sends
2i: mutual recursion grows for ever|t3002|20000 deep mutual recursion
2i: B1: paths that rank 0 lacks crash MPI_Finalize|t9201|ranks with different programs (MPMD)
2i: B3: static functions of one name crash the end|t7202|static functions of one name under one caller
2i: _exit, quick_exit and exec lose everything|t3002|exec: two lives of one process
2i: SIGKILL loses everything|t9001|a process killed at a random time
2i: parent and child of a fork write the same files|t3002|fork: parent and child are both profiled
2i: a dead rank hangs the job|t4109|the job ends as untraced, and the death is named
2i: MPI_Abort writes nothing|t4106|MPI_Abort
2i: rank 0 takes the profiles of all ranks one by one|u-merge|every_tree_gives_the_same
END

test_expect 'each bug that is tested elsewhere has its row there' '
	while IFS="|" read -r bug file words; do
		for f in "$T"/*/"$file"*.sh "$T"/unit/*/"$file.c"; do
			[ -e "$f" ] && grep -qF -e "$words" "$f" && continue 2
		done
		echo "$bug: no such row in $file: $words"
		touch missing
	done <elsewhere
	[ ! -e missing ]
	is 0 "$(cut -d"|" -f1 elsewhere | sort | uniq -d | wc -l)" "bugs named twice"'

# ---- 2a: configuration -----------------------------------------------------------------

# A program that starts its agent with FILE as configuration: status and output its own.
lives_with() {
	rm -f bugs_*
	VFTR_CONFIG=$1 VFTR_AGENT=$AGENT status_of 3 limit "$BIN/bugs" end 3 >out 2>err
	is "done" "$(cat out)"
	is 1 "$(wc -l <err)" "lines on stderr: $(cat err)"
	has err "$2"
	[ ! -e bugs_all.log ]
}

test_expect '2a: no mistake in a configuration ends the program' '
	echo "{ \"off\": false, }" >syntax.json
	echo "{ \"mpi\": { \"show_table\": \"yes\" } }" >type.json
	echo "{ \"profile_table\": { \"sort_table\": { \"column\": \"best\" } } }" >column.json
	echo "{ \"output_directory\": \"./nowhere\" }" >folder.json
	echo "{ \"sampling\": { \"precise_functions\": \"a(b\" } }" >regex.json
	echo "{ \"mpi\": { \"only_for_ranks\": null } }" >null.json
	lives_with syntax.json syntax.json:1
	lives_with type.json "mpi.show_table: \"yes\" is not true or false"
	lives_with column.json "\"best\" is not one of time_excl"
	lives_with folder.json "\"./nowhere\" can'"'"'t be written to"
	lives_with regex.json "\"a(b\" is not"
	lives_with null.json "mpi.only_for_ranks: null is not"
	lives_with absent.json "absent.json"'

test_expect '2a: each sorting of the OpenACC table is known, and no other' '
	for column in time memcpy calls none; do
		echo "{ \"openacc\": { \"sort_table\": { \"column\": \"$column\" } } }" >acc.json
		"$VFTR" config check acc.json 2>err
		[ ! -s err ]
	done
	for column in cbid tim "" timetime; do
		echo "{ \"openacc\": { \"sort_table\": { \"column\": \"$column\" } } }" >acc.json
		status_of 1 "$VFTR" config check acc.json 2>err
		has err "acc.json:1: openacc.sort_table.column: \"$column\" is not one of time"
	done'

test_expect '2a: units may be left out: each observable keeps its own' '
	cat >units.json <<-END
	{ "hwprof": { "counters": [{ "hwc_name": "E", "symbol": "e" }], "observables": [
	  { "name": "first", "formula": "e" }, { "name": "second", "formula": "e + 1", "unit": "m" },
	  { "name": "third", "formula": "e + 2" }, { "name": "fourth", "formula": "T", "unit": "s" } ] } }
	END
	traced -q -c units.json -- "$BIN/bugs"
	grep -q "| #Calls | *Func *| *first *| *second \[m\] *| *third *| *fourth \[s\] *|" bugs_all.log
	awk -F "|" "\$3 ~ /^ *leaf *\$/ && \$4 + 1 == \$5 + 0 && \$4 + 2 == \$6 + 0 { n++ }
		END { exit n != 1 }" bugs_all.log'

# ---- 2c: sampling files ------------------------------------------------------------------

test_expect '2c: functions that are always sampled do not keep others from it' '
	traced -q -k sampling.active=true -k sampling.precise_functions="^frequent\$" \
		-- "$BIN/bugs" starve
	"$VFTR" dump bugs_*.vfd >dump
	is 2000 "$(grep -c " call frequent\*<ordinary<starve<main<init" dump)"
	# 20 calls of 2 ms, an interval of 5 ms
	n=$(grep -cE " (call|exit) ordinary<starve<main<init" dump)
	[ "$n" -ge 3 ]'

# ---- 2e, 2g: names and signals -------------------------------------------------------------

test_expect '2e: paths of a stripped program are the same wherever it is loaded' '
	cp "$BIN/bugs" "$BIN/bare"
	strip "$BIN/bare"
	for i in 1 2; do
		traced -q -k outfile_basename=run$i -- "$BIN/bare"
		json run${i}_all.json ".stacks[] | select(.calls > 0) | \"\(.calls) \(.hash)\"" >hashes$i
	done
	is 3 "$(wc -l <hashes1)"
	diff hashes1 hashes2'

test_expect '2g: a library that cannot be opened: no handle, and the loader says why' '
	traced -q -- "$BIN/bugs" dlopen >out
	VFTR_OFF=1 "$BIN/bugs" dlopen | cmp - out
	has out "/nowhere/plugin.so: cannot open shared object file"
	is 10 "$(calls_of bugs_all.json "leaf<work<nothing_to_open<main<init")"'

while read -r name number; do
	test_expect "2i: SIG$name ends the program, as itself, and the profile is whole" "
		ulimit -c 0
		status_of $((128 + number)) traced -q -- \"\$BIN/bugs\" $(echo "$name" | tr A-Z a-z)
		is 10 \"\$(calls_of bugs_all.json 'leaf<work<main<init')\"
		is $number \"\$(json bugs_all.json .dead[0].signal)\"
		is 1 \"\$(grep -c '^Application was cancelled by signal: ' bugs_all.log)\""
done <<'END'
HUP 1
INT 2
QUIT 3
ILL 4
BUS 7
FPE 8
USR1 10
XCPU 24
END

# ---- 2h: tools ---------------------------------------------------------------------------

test_expect '2h: the tools need no MPI' '
	ldd "$VFTR" >needs
	! grep -E "libmpi|libvftrace" needs'

# ---- 2f, 2i: MPI ---------------------------------------------------------------------------

for mpi in $mpis; do
	run=$(mpirun_of "$mpi")
	test_expect "$mpi, 2f: statuses, Testany and Waitany are those of MPI; nothing is lost" '
		mpicc_traced '"$mpi"' "$BIN/mpi" "$T/mpi/program/app-mpi-compared.c" -w
		rm -f mpi_*
		echo "{ \"hwprof\": { \"counters\": [{ \"hwc_name\": \"E\", \"symbol\": \"e\" }] } }" >hw.json
		traced -q -c hw.json -k sampling.active=true -k mpi.show_sync_time=true -- \
			'"$run"' -np 4 "$BIN/mpi" all
		is "4 0 0" "$(json mpi_all.json "\"\(.ranks) \(.lost) \(.open_requests)\"")"'
	test_expect "$mpi, 2f: a message is as large as it was, not as its buffer" '
		json mpi_all.json ".mpi[] | select(.function == \"MPI_Recv\") | .bytes_received" >got
		is 28 "$(cat got)"'
	test_expect "$mpi, 2f: peers of non-blocking messages are ranks of the world" '
		json mpi_all.json ".communication_matrix[] | select(.from != .to and .bytes_sent == 4) |
			\"\(.from)-\(.to)\"" | sort >got
		is "0-1 1-0 2-3 3-2" "$(echo $(cat got))"'
	test_expect "$mpi, 2f: messages above 2 GiB" '
		is "4 $((32 << 30))" "$(json mpi_all.json ".mpi[] | select(.caller == \"large\") |
			\"\(.sends) \(.bytes_sent)\"")"'
	test_expect "$mpi, 2i: B1: paths that only some ranks have" '
		is 10 "$(calls_of mpi_all.json "leaf<only_odd<main<init")"
		json mpi_all.json ".stacks[] | select(.path == \"leaf<only_odd<main<init\") |
			\"\(.ranks) \(.rank_min % 2) \(.rank_max % 2)\"" >got
		is "2 1 1" "$(cat got)"'
	test_expect "$mpi, 2c: counters and waiting times together: the sampling file is read to its end" '
		"$VFTR" dump mpi_*.vfd >dump 2>err
		[ ! -s err ]
		grep -qx "Complete:        yes" dump
		grep -qE "^ +[0-9.]+ [0-9]+ call MPI_Bcast\*<together<main<init" dump
		is 4 "$(grep -c " exit MPI_Bcast\*<together<main<init" dump)"
		is 4 "$(grep -cE "^ +[0-9.]+ [0-9]+ call MPI_Bcast_sync\*<MPI_Bcast\*<together<main<init" dump)"
		is 4 "$(grep -cE "^ +[0-9.]+ [0-9]+ exit MPI_Bcast_sync\*<MPI_Bcast\*<together<main<init" dump)"
		rm -rf ranks
		"$VFTR" export mpi_*.vfd --format vfd3 --output ranks
		ln -sf "$VFTR" vftrace_vfd_dump
		for rank in 0 1 2 3; do
			./vftrace_vfd_dump ranks/mpi_$rank.vfd >dump 2>err
			[ ! -s err ]
			is 1 "$(grep -c " call MPI_Bcast_sync\*<MPI_Bcast\*<together<main<init" dump)"
		done'
	test_expect "$mpi, 2f: open requests cost functions nothing" '
		traced -q -- '"$run"' -np 1 "$BIN/mpi" open >out
		awk "{ exit !(\$1 > 0 && \$1 < 10) }" out || { cat out; exit 1; }
		is 280000 "$(json mpi_all.json "[.stacks[] | select(.function == \"leaf\") | .calls] | add")"'
	test_expect "$mpi, 2i: a program that never calls MPI_Init" '
		status_of 3 traced -q -- "$BIN/mpi" none
		is 1 "$(calls_of mpi_all.json "leaf<main<init")"'
	test_expect "$mpi, 2i: a rank that exits without MPI_Finalize: the job ends, all data are there" '
		refuse traced -q -- '"$run"' -np 4 "$BIN/mpi" exit 2>err
		is "4 4" "$(json mpi_all.json "\"\(.ranks) \([.stacks[] | select(.function == \"leaf\") |
			.calls] | add)\"")"'
done
[ -n "$mpis" ] || test_skip '2f, 2i: the bugs of MPI' 'no MPI on this machine'

done_testing
