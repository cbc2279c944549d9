#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='scripts of Vftrace users, unchanged, on our logs and dumps'
# Each script below is as somebody wrote it for Vftrace: it takes fields by number,
# counts titles, and cuts text behind words. None knows anything of this program.
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$VFTR" "$LIB/libvftrace.so"

for link in vfd_dump check_config generate_default_config diff_profiles; do
	ln -s "$VFTR" "vftrace_$link"
done
PATH=$PWD:$PATH

cc_traced "$BIN/logs" "$T/agent/app-logs.c" || { echo 'Bail out! app-logs.c cannot be compiled'; exit 1; }
cat >config.json <<-END
	{ "sampling": { "active": true, "sample_interval": 0.0005, "precise_functions": "^(foo|bar)\$" },
	  "profile_table": { "show_callpath": true }, "logfile_for_ranks": "all",
	  "name_grouped_profile_table": { "show_table": true },
	  "mpi": { "show_sync_time": true } }
END

# ---- the scripts -----------------------------------------------------------------------

# calls.sh LOG FUNCTION CALLER: cells are separated by blanks and bars
cat >calls.sh <<'SCRIPT'
awk -v f="$2" -v c="$3" '/^Runtime profile$/ { on = 1 }
	on && /^$/ { exit }
	on && $10 == f && $12 == c { print $2 }' "$1"
SCRIPT

# titles.sh LOG: how often each table is there
cat >titles.sh <<'SCRIPT'
for title in "Runtime profile" "Runtime profile (Grouped by function name)" \
	"Global call stacks:" "Communication profile"; do
	echo "$(grep -c -x -F "$title" "$1") $title"
done
SCRIPT

# stid.sh LOG STACK: the number of a call stack, from the list
cat >stid.sh <<'SCRIPT'
grep -E "^ +STID[0-9]+ +$2 *\$" "$1" | awk '{ sub("STID", "", $1); print $1 }'
SCRIPT

# column.sh LOG TITLE: cells of a column that is found by its title
cat >column.sh <<'SCRIPT'
awk -F'|' -v name="$2" '/^Runtime profile$/ { t = 1 }
	t && !k { for (i = 1; i <= NF; i++) { h = $i; gsub(/ /, "", h); if (h == name) k = i } next }
	k && /^\+/ { if (++frame == 2) exit; next }
	k { gsub(/ /, "", $k); print $k }' "$1"
SCRIPT

# runtime.sh LOG: the time of the program and that of tracing
cat >runtime.sh <<'SCRIPT'
grep "Total runtime:" "$1" | awk '{ print $3 }'
grep "^Overhead:" "$1" | tr -s ' ' | cut -d' ' -f2
SCRIPT

# config.sh LOG: the configuration out of a log
cat >config.sh <<'SCRIPT'
sed -n '/^Vftrace.*configuration/,$p' "$1" | tail -n +2
SCRIPT

# samples.sh VFD FUNCTION: how often it was called, by the samples
cat >samples.sh <<'SCRIPT'
vftrace_vfd_dump "$1" | awk -v f="$2" '$2 == "call" { split($3, frame, "<"); if (frame[1] == f) n++ }
	END { print n + 0 }'
SCRIPT

# balance.sh VFD: calls without an exit
cat >balance.sh <<'SCRIPT'
vftrace_vfd_dump "$1" | awk '/Stack and message samples:/ { on = 1; next }
	on && $2 == "call" { n[$3]++ } on && $2 == "exit" { n[$3]-- }
	END { for (s in n) if (n[s]) { print s, n[s]; bad = 1 } exit bad }'
SCRIPT

# messages.sh VFD: direction, count, type, peer and tag of each message
cat >messages.sh <<'SCRIPT'
vftrace_vfd_dump "$1" | awk '/ (send|recv) in stackID/ { dir = $2; getline
	for (i = 1; i <= NF; i++) if (split($i, a, "=") == 2) v[a[1]] = a[2]
	print dir, v["count"], v["type"], v["peer"], v["tag"]
	getline; if ($2 != dir || $3 != "end") exit 1 }'
SCRIPT

# peers.sh VFD FUNCTION<CALLER: what it sent and received: direction, count and peer of each
cat >peers.sh <<'SCRIPT'
vftrace_vfd_dump "$1" | awk -v f="$2" '/^Stacks list:/ { list = 1; next } list && NF < 2 { list = 0 }
	list { sub(":", "", $1); name[$1] = $2 }
	/ (send|recv) in stackID/ { dir = $2; split(name[$5], frame, "<"); getline
		if (frame[1] "<" frame[2] != f) next
		match($0, /count=[0-9]+/); n = substr($0, RSTART + 6, RLENGTH - 6)
		match($0, /peer=-?[0-9]+/); print dir, n, substr($0, RSTART + 5, RLENGTH - 5) }'
SCRIPT

# header.sh VFD LABEL
cat >header.sh <<'SCRIPT'
vftrace_vfd_dump --only_header "$1" | grep "^ *$2:" | head -n 1 | sed 's/.*: *//'
SCRIPT

# names.sh VFD: the stack that a number in a message stands for
cat >names.sh <<'SCRIPT'
vftrace_vfd_dump "$1" | awk '/^Stacks list:/ { list = 1; next } list && NF < 2 { list = 0 }
	list { sub(":", "", $1); name[$1] = $2 }
	/ (send|recv) in stackID/ { print name[$5] }' | sort -u
SCRIPT

# ---- without MPI -------------------------------------------------------------------------

test_expect 'calls of a function, by the fields of the table' '
	VFTR_CONFIG=config.json traced -q -c config.json -- "$BIN/logs"
	for log in logs_all.log logs_0.log; do
		is 20 "$(sh calls.sh $log bar foo)"
		is 1 "$(sh calls.sh $log bar main)"
		is 20 "$(sh calls.sh $log foo main)"
		is 6 "$(sh calls.sh $log rec main)"
		is 0 "$(sh calls.sh $log init ----)"
	done'

test_expect 'a region has one row, with each call once' '
	is 20 "$(sh calls.sh logs_all.log reg foo)"
	is 1 "$(grep -c "^|.* reg<foo<main<init |\$" logs_all.log)"
	is 20 "$(sh samples.sh logs_*.vfd "reg*")"'

test_expect 'titles are counted' '
	sh titles.sh logs_all.log >got
	printf "%s\n" "1 Runtime profile" "1 Runtime profile (Grouped by function name)" \
		"1 Global call stacks:" "0 Communication profile" | diff - got'

test_expect 'columns by title, stacks by number, times by label' '
	sh column.sh logs_all.log Function >functions
	sh column.sh logs_all.log Caller | paste functions - >pairs
	is 1 "$(grep -c -x "reg	foo" pairs)"
	is "$(sh column.sh logs_all.log Calls | wc -l)" "$(wc -l <functions)"
	for path in "bar<foo<main<init" "main<init" "init"; do
		id=$(sh stid.sh logs_all.log "$path")
		is "$id" "$(sh stid.sh logs_0.log "$path")"
		sh column.sh logs_all.log STID | grep -qx "$id"
	done
	is 100 "$(sh column.sh logs_all.log "t_excl[%]" | awk "{ s += \$1 } END { printf \"%.0f\", s }")"
	sh runtime.sh logs_all.log | awk "{ exit !(\$1 ~ /^[0-9]+\.[0-9][0-9]\$/) }"
	is 2 "$(sh runtime.sh logs_all.log | wc -l)"'

test_expect 'the configuration out of a log is one' '
	sh config.sh logs_all.log >again.json
	vftrace_check_config again.json >out 2>err
	[ ! -s err ]
	is true "$(json again.json .name_grouped_profile_table.show_table)"
	vftrace_generate_default_config >default.json
	is "off output_directory outfile_basename" \
		"$(command jq -r "keys_unsorted[:3] | join(\" \")" default.json)"'

test_expect 'samples: calls are counted, and balanced' '
	traced -q -c config.json -k sampling.sample_interval=0 -k outfile_basename=each -- "$BIN/logs"
	sh balance.sh each_*.vfd
	is 20 "$(sh samples.sh logs_*.vfd "foo*")"
	is 21 "$(sh samples.sh logs_*.vfd "bar*")"'

test_expect 'the header of a sampling file' '
	is 1 "$(sh header.sh logs_*.vfd Threads)"
	is "5.000000e-04 seconds" "$(sh header.sh logs_*.vfd "Sample interval")"
	sh header.sh logs_*.vfd "Job runtime" | grep -qE "^[0-9]+\.[0-9]{3} seconds\$"
	is 0 "$(sh header.sh logs_*.vfd Messages)"
	n=$(sh header.sh logs_*.vfd Function)
	is "$n" "$(vftrace_vfd_dump logs_*.vfd | grep -cE "^ +[0-9.]+ (call|exit) ")"'

test_expect 'two logs are compared' '
	cp logs_all.log first.log
	traced -q -- "$BIN/logs"
	vftrace_diff_profiles first.log logs_all.log >diff
	is "Function T1[s] T2[s] T_diff[s] T_diff[%] stackID" "$(head -n 1 diff | tr -s " " | sed "s/^ //")"
	is 2 "$(awk "\$1 == \"bar\"" diff | wc -l)"
	awk "NR > 1 && NF != 6 { exit 1 }" diff'

test_expect 'a file of Vftrace itself, with threads and counters' '
	sh header.sh "$T/fuzz/corpus/classic/counters" "Version ID" >got
	is "Vftrace 2.0.0" "$(cat got)"
	vftrace_vfd_dump --show_threadtree "$T/fuzz/corpus/classic/counters" | sed -n "/^Threadtree/,\$p" >got
	cat >wanted <<-END
	Threadtree:
	0
	  1
	    2

	Stacks list:
	   0: init
	   1: main<init
	   2: MPI_Recv*<main<init

	Stack and message samples:
	        0.010000 10 20 call main<init
	        0.020000 20 40 call MPI_Recv*<main<init
	        0.030000 30 60 exit MPI_Recv*<main<init
	        0.020000 recv in stackID 2 from threadID 2
	                 count=100 type=MPI_DOUBLE(8Bytes) rate= 762.9395 MiB/s peer=0 tag=-1
	        0.020001 recv end

	PAPI_TOT_CYC -> C
	PAPI_TOT_INS -> I

	IPC: I/C
	rate: I/T [1/s]
	END
	diff wanted got
	vftrace_vfd_dump "$T/fuzz/corpus/classic/counters" >whole
	vftrace_vfd_dump --skip_samples "$T/fuzz/corpus/classic/counters" >brief
	hasnt whole "Threadtree:"
	hasnt brief "Stack and message samples:"
	has brief "PAPI_TOT_INS -> I"
	for bytes in 40 160 300 330 400; do
		head -c $bytes "$T/fuzz/corpus/classic/counters" >cut.vfd
		status_of 1 vftrace_vfd_dump cut.vfd >out 2>err
		is 1 "$(wc -l <err)"
		has err cut.vfd:
	done
	head -c 300 "$T/fuzz/corpus/classic/counters" >cut.vfd
	status_of 1 vftrace_vfd_dump cut.vfd >out
	is 3 "$(grep -cE " (call|exit) " out)"'

# ---- with MPI ------------------------------------------------------------------------------

mpi=$(mpi_list | tail -n 1)
if [ -z "$mpi" ]; then
	test_skip 'scripts about messages' 'no MPI on this machine'
	done_testing
fi

test_expect 'messages of the communication profile, by the fields of the table' '
	mpicc_traced '"$mpi"' "$BIN/options" "$T/mpi/program/app-mpi-options.c"
	traced -q -c config.json -- '"$(mpirun_of "$mpi")"' -np 4 "$BIN/options"
	is 1 "$(grep -c "Communication profile" options_all.log)"
	awk "/^Communication profile/ { on = 1 } on && \$14 == \"MPI_Isend\" { n += \$2; if (\$6 != \"0.000e+00\") exit 1 }
		END { print n }" options_all.log >got
	is 36 "$(cat got)"'

test_expect 'sync rows: one for each function that waits, below it' '
	is 4 "$(sh calls.sh options_all.log MPI_Bcast_sync MPI_Bcast)"
	grep -q "STID[0-9]* *MPI_Bcast_sync<MPI_Bcast<late<main<init" options_all.log
	is 1 "$(sh column.sh options_all.log Function | grep -c "^MPI_Bcast_sync\$")"
	is 4 "$(sh samples.sh options_*.vfd "MPI_Bcast_sync*")"
	is 4 "$(vftrace_vfd_dump options_*.vfd | grep -c " exit MPI_Bcast_sync\*<MPI_Bcast\*<late<main<init")"'

test_expect 'messages of a dump: count=, type=, peer= and tag= of each' '
	sh messages.sh options_*.vfd | sort | uniq -c | awk "{ \$1 = \$1; print }" >got
	for rank in 0 1 2 3; do
		has got "6 recv 100 MPI_BYTE(1Bytes) $rank 1"
		has got "6 send 100 MPI_BYTE(1Bytes) $rank 1"
		has got "3 send 1000 MPI_BYTE(1Bytes) $rank 2"
		has got "3 recv 1000 MPI_BYTE(1Bytes) $rank 2"
	done
	is 0 "$(grep -c " 3\$" got)" "messages after MPI_Pcontrol(0)"'

test_expect 'functions of MPI are precise, and messages name their stacks' '
	sh names.sh options_*.vfd >got
	is "MPI_Bcast*<late<main<init MPI_Irecv*<post<across<main<init MPI_Irecv*<post<around<main<init \
MPI_Isend*<post<across<main<init MPI_Isend*<post<around<main<init MPI_Sendrecv*<others<main<init" \
		"$(echo $(cat got))"'

test_expect 'a file for each rank, as Vftrace has them, out of vftr export' '
	"$VFTR" export options_*.vfd --format vfd3 --output ranks
	: >got
	for rank in 0 1 2 3; do
		is "$rank of 4" "$(sh header.sh ranks/options_$rank.vfd Processes)"
		n=$(sh header.sh ranks/options_$rank.vfd Function)
		is "$n" "$(vftrace_vfd_dump ranks/options_$rank.vfd | grep -cE "^ +[0-9.]+ (call|exit) ")"
		is 1 "$(sh samples.sh ranks/options_$rank.vfd "MPI_Bcast_sync*")"
		sh messages.sh ranks/options_$rank.vfd >>got
	done
	sh messages.sh options_*.vfd | sort >wanted
	sort got | diff wanted -'

# The lists below are what Vftrace has of such calls. Ranks 3 and 1 are one communicator.
test_expect 'collective operations are messages between each rank and its peers' '
	mpicc_traced '"$mpi"' "$BIN/coll" "$T/mpi/program/app-mpi-collectives.c"
	traced -q -c config.json -- '"$(mpirun_of "$mpi")"' -np 4 "$BIN/coll" >out
	is "0 wrong" "$(cat out)"
	"$VFTR" export coll_*.vfd --format vfd3 --output collectives
	got() {
		sh peers.sh collectives/coll_$1.vfd "$2" | sort | tr "\n" "," | sed "s/,\$//"
	}
	is "" "$(got 1 "MPI_Barrier*<backwards")"
	is "send 10 1,send 10 3" "$(got 3 "MPI_Bcast*<backwards")"
	is "recv 10 3" "$(got 1 "MPI_Bcast*<backwards")"
	is "recv 10 1,recv 10 3,send 10 3" "$(got 3 "MPI_Gather*<backwards")"
	is "send 10 3" "$(got 1 "MPI_Gather*<backwards")"
	is "recv 1 3,recv 2 1,send 2 1" "$(got 1 "MPI_Gatherv*<backwards")"
	is "send 1 1" "$(got 3 "MPI_Gatherv*<backwards")"
	is "recv 10 1,recv 10 3,send 10 1" "$(got 1 "MPI_Reduce*<backwards")"
	is "send 10 0" "$(got 2 "MPI_Reduce*<backwards")"
	for f in Allreduce Alltoall; do
		is "recv 10 1,recv 10 3,send 10 1,send 10 3" "$(got 3 "MPI_$f*<backwards")"
		is "recv 10 0,recv 10 2,send 10 0,send 10 2" "$(got 0 "MPI_$f*<backwards")"
	done
	is "recv 10 0,recv 10 2,recv 10 3,send 10 0,send 10 2,send 10 3" \
		"$(got 1 "MPI_Allreduce*<allreduce_in_place")"
	is "recv 10 2,recv 10 3,send 10 2,send 10 3" "$(got 1 "MPI_Alltoall*<inter_alltoall")"
	is "send 10 2,send 10 3" "$(got 0 "MPI_Bcast*<inter_bcast")"
	is "" "$(got 1 "MPI_Bcast*<inter_bcast")"
	is "recv 10 0,send 10 2" "$(got 1 "MPI_Scan*<scan")"
	is "recv 2 0,send 10 0" "$(got 1 "MPI_Reduce_scatter*<reduce_scatter")"
	is "recv 1 0,recv 10 0,recv 10 1,recv 10 2,recv 10 3,send 1 0,send 10 0,send 2 1,send 3 2,send 4 3" \
		"$(got 0 "MPI_Reduce_scatter*<reduce_scatter")"
	is "recv 1 0,recv 3 2,recv 4 3,send 1 0,send 3 2,send 4 3" \
		"$(got 1 "MPI_Alltoallv*<alltoallv_in_place")"
	is "send 1 0,send 2 1,send 3 2,send 4 3" "$(got 0 "MPI_Scatterv*<scatterv" | sed "s/recv[^,]*,//")"
	is "recv 1 0,recv 1 2,send 1 0,send 1 2" "$(got 1 "MPI_Neighbor_allgather*<cart")"
	is "recv 2 2,recv 3 0,send 2 0,send 3 2" "$(got 1 "MPI_Neighbor_alltoallv*<cart")"
	is "recv 2 1,send 3 1" "$(got 0 "MPI_Neighbor_alltoallv*<cart")"
	is "recv 2 1,recv 2 2,send 2 0,send 2 1" "$(got 3 "MPI_Neighbor_alltoall*<graph")"
	# of our file the same, and as many as the header says
	for f in "Alltoall*<backwards" "Allgatherv*<allgatherv" "Reduce_scatter*<reduce_scatter"; do
		for rank in 0 1 2 3; do
			sh peers.sh collectives/coll_$rank.vfd "MPI_$f"
		done | sort >wanted
		[ -s wanted ]
		sh peers.sh coll_*.vfd "MPI_$f" | sort | diff wanted -
	done
	is "$(sh header.sh coll_*.vfd Messages)" "$(sh messages.sh coll_*.vfd | wc -l)"'

test_expect 'vftr dump has a line for each collective call, and messages with --peers' '
	"$VFTR" dump coll_*.vfd >calls
	is "$(sed -n "s/^   Messages: *//p" calls)" "$(grep -c " in stackID" calls)"
	is 4 "$(grep -A1 " collective in stackID" calls | grep -c " MPI_Alltoall sent=160 received=160 ")"
	hasnt calls "(lost)<init"
	"$VFTR" dump --peers coll_*.vfd >peers
	vftrace_vfd_dump coll_*.vfd | diff peers -
	"$VFTR" dump --peers --json coll_*.vfd >peers.json
	hasnt peers "peer=-1"
	is "$(grep -c " in stackID" peers)" \
		"$(jq "[.events[] | select(.event == \"message\")] | length" peers.json)"
	is 0 "$(jq "[.threads[].stacks[] | select(.function == \"(lost)\")] | length" peers.json)"
	# what one sends in such a call, its peer receives
	jq -r "(.processes | map({(.id | tostring): .rank}) | add) as \$rank |
		(.threads | map({(.lane | tostring): \$rank[.process | tostring]}) | add) as \$of |
		.events[] | select(.event == \"message\" and ((.function // \"\") | test(\"[vw]\$|Neighbor\"))) |
		\$of[.lane | tostring] as \$me |
		if .kind == \"send\" then \"s \(\$me) \(.peer) \(.bytes) \(.function)\"
		else \"r \(.peer) \(\$me) \(.bytes) \(.function)\" end" peers.json >each
	[ $(wc -l <each) -gt 200 ]
	sed -n "s/^s //p" each | sort >sent
	sed -n "s/^r //p" each | sort | diff sent -'

done_testing
