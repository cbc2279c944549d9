#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='logs as the scripts of Vftrace users read them: titles, columns, labels, ids'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT"

cc_traced "$BIN/logs" "$T/agent/app-logs.c" || exit 1
cat >all.json <<-END
{ "logfile_for_ranks": "all", "profile_table": { "show_calltime_imbalances": true,
  "show_callpath": true, "show_overhead": true, "show_minmax_summary": true },
  "name_grouped_profile_table": { "show_table": true }, "mpi": { "show_callpath": true } }
END

# rows FILE TITLE: of the table below that title, cells separated by one |
rows() {
	awk -v title="$2" '
		$0 == title { lines = 1; next }
		lines && /^\+/ { if (++frames == 3) exit; next }
		lines && frames == 2 { gsub(/ *\| */, "|"); print }' "$1"
}

# header FILE TITLE: the line with the names of its columns, without blanks
header() {
	awk -v title="$2" '$0 == title { n = NR + 2 } n && NR == n { gsub(/ /, ""); print }' "$1"
}

# ids_agree FILE TITLE FUNCTION_COLUMN CALLER_COLUMN ID_COLUMN: each row is in the list of stacks
ids_agree() {
	rows "$1" "$2" | awk -F '|' -v f="$3" -v c="$4" -v i="$5" '
		NR == FNR { path[$1] = $2; next }
		{ want = $(c + 1) == "----" ? $(f + 1) : $(f + 1) "<" $(c + 1)
		  if (index(path["STID" $(i + 1)], want) != 1) { print "no such stack: " $0; bad = 1 }
		  n++ }
		END { exit bad || !n }' stacks -
}

# stacks_of FILE: "STIDn|path" into the file stacks
stacks_of() {
	sed -n '/^Global call stacks:/,/^$/s/^ *\(STID[0-9][0-9]*\) *\([^ ].*[^ ]\) *$/\1|\2/p' "$1" >stacks
	[ -s stacks ]
}

test_expect 'sections come once, in their order' '
	traced -q -c all.json -- "$BIN/logs"
	grep -nE "^(vftr |Runtime profile|Start Date: |End Date:   |Total runtime: |Application time: |\
Overhead: |   Function hooks: |Vftrace used memory: | Summary: Min/Max|Global call stacks:|Vftrace configuration read)" \
		logs_all.log | sed "s/^[0-9]*://; s/[:(].*//; s/ *[0-9.]* s$//" >got
	printf "%s\n" "vftr 0.1.0" "Runtime profile for application" "Start Date" "End Date" \
		"Total runtime" "Application time" "Overhead" "   Function hooks" \
		"Vftrace used memory" "Runtime profile" " Summary" "Runtime profile " \
		"Global call stacks" "Vftrace configuration read from \"all.json\"" | sed 1d >wanted
	sed 1d got | diff wanted -
'

cat >order.c <<'END'
#define F(name) __attribute__((noinline)) void name(void) { __asm__ volatile(""); }
F(delta) F(alpha) F(gam) F(beta)
int main(int n, char **v)
{
	for (char *c = v[1]; *c; c++)
		*c == 'd' ? delta() : *c == 'a' ? alpha() : *c == 'g' ? gam() : beta();
	return 0;
}
END

test_expect 'ids follow the time of the first call in any process: callers before what they call' '
	cc_traced order order.c &&
	traced -q -- sh -c "./order gd; ./order bda" &&
	stacks_of order_all.log &&
	printf "%s\n" init "main<init" "gam<main<init" "delta<main<init" "beta<main<init" \
		"alpha<main<init" | awk "{ print \"STID\" n++ \"|\" \$0 }" | diff - stacks &&
	jq -e "(.stacks | map(.id)) == [range(6)] and all(.stacks[]; .parent < .id)" order_all.json
'

test_expect 'labels have their values where scripts look for them' '
	awk "/^Total runtime: / && NF == 4 && \$4 == \"s\" && \$3 > 0 { n++ }
		/^Application time: / && NF == 4 { n++ }
		/^Overhead: / && NF == 3 { n++ }
		/^   Function hooks: / && NF == 4 { n++ }
		/^Vftrace used memory: / && \$5 ~ /^[KMG]iB\$/ { n++ }
		END { exit n != 5 }" logs_all.log
'

test_expect 'each call of a region is in its row, once' '
	rows logs_all.log "Runtime profile" | awk -F "|" "\$9 == \"reg\" { print \$2, \$10, \$12 }" >got
	is "20 foo reg<foo<main<init" "$(cat got)"
	rows logs_all.log "Runtime profile" | awk -F "|" "\$9 == \"rec\" { print \$2 }" >got
	is 6 "$(cat got)"
	rows logs_all.log "Runtime profile" | awk -F "|" "\$9 == \"init\" { print \$2, \$10 }" >got
	is "0 ----" "$(cat got)"
'

test_expect 'the exclusive times are 100 % together' '
	rows logs_all.log "Runtime profile" |
		awk -F "|" "{ s += \$4 } END { exit s < 99.5 || s > 100.5 }"
'

test_expect 'ids of all tables agree with the list, in the summary and in the rank log' '
	for log in logs_all.log logs_0.log; do
		stacks_of $log
		columns=8,9,10
		[ $log = logs_all.log ] || columns=6,7,8
		ids_agree $log "Runtime profile" $(echo $columns | tr , " ")
	done
	stacks_of logs_all.log
	cp stacks whole
	stacks_of logs_0.log
	diff whole stacks
	rows logs_all.log " Summary: Min/Max runtime across all ranks" |
		awk -F "|" "NR == FNR { path[\$1] = \$2; next }
			{ n++; if (index(path[\"STID\" \$2], \$3)  != 1) exit 1 } END { exit n < 5 }" stacks FS="|" -
'

test_expect 'a signal that ends the program has its banner, and the data are there' '
	status_of 136 traced -q -- "$BIN/logs" kill
	grep -B 1 -A 1 "^Application was cancelled by signal: Floating point exception$" logs_all.log >got
	is 3 "$(wc -l <got)"
	is 2 "$(grep -cE "^\*{20,}$" got)"
	is 20 "$(calls_of logs_all.json "bar<foo<main<init")"
'

test_expect 'frames fit: every line of a table is as wide as the first' '
	traced -q -c all.json -- "$BIN/logs"
	awk "/^[+|]/ { if (w && length != w) exit 1; w = length; next } { w = 0 }" logs_all.log logs_0.log
'

test_expect 'a C++ name of 2 000 characters is short in the tables and whole in the list' '
	long=$(head -c 2000 /dev/zero | tr "\0" n)
	cat >long.cpp <<-END
	extern "C" __attribute__((noinline)) void $long() { asm volatile(""); }
	int main() { for (int i = 0; i < 7; i++) $long(); }
	END
	cxx_traced "$BIN/long" long.cpp
	traced -q -- "$BIN/long"
	is 1 "$(grep -c "STID[0-9]*   $long<main<init" long_all.log)"
	awk "/^[+|]/ && length > 250 { exit 1 }" long_all.log
	rows long_all.log "Runtime profile" | grep -q "^|7|.*nnn\.\.\.nnn"
	is 7 "$(calls_of long_all.json "$long<main<init")"
'

test_expect 'agent.write_every_s: results on the way are whole, say so, and the last ones are right' '
	cat >every.c <<-END
	#include <unistd.h>
	__attribute__((noinline)) void leaf(void) { __asm__ volatile(""); }
	__attribute__((noinline)) void work(void) { for (int i = 0; i < 1000; i++) leaf(); usleep(1000); }
	int main(void) {
		for (int i = 0; i < 250; i++) { while (i == 200 && access("go", F_OK)) usleep(1000); work(); }
		return 0;
	}
	END
	cc_traced "$BIN/every" every.c
	traced -q -k agent.write_every_s=0.2 -k logfile_for_ranks=all -k sampling.active=true \
		-k profile_table.threads=all -- "$BIN/every" &
	wait_for 20 "[ -s every_all.json ] && [ -s every_0.log ]"
	cp every_all.json early.json
	cp every_all.log early.log
	cp every_*.vfp early_host.vfp
	touch go
	is 1 "$(grep -c "results on the way: 1 of 1 processes were running" early.log)"
	# complete, and of a program that was in the middle of it
	jq -e ".stacks | map(select(.path == \"work<main<init\")) | .[0].calls | . > 0 and . < 250" early.json
	exclusive_sums_up early.json
	"$VFTR" collate -b early early_host.vfp
	wait
	is 250000 "$(calls_of every_all.json "leaf<work<main<init")"
	hasnt every_all.log "on the way"
	is 0 "$(json every_all.json .lost)"
	"$VFTR" dump every_*.vfd >dump
	[ -s dump ]
	[ -z "$(ls | grep tmp)" ]
'

mpi=$(mpi_list | head -n 1)
test_if '[ -n "$mpi" ]' 'no MPI on this machine' 'MPI: files, labels, columns, and sync rows' '
	mpicc_traced "$mpi" "$BIN/traffic" "$T/mpi/program/app-mpi-traffic.c"
	traced -q -c all.json -k mpi.show_sync_time=true -k profile_table.separate=true -- \
		$(mpirun_of "$mpi") -np 4 "$BIN/traffic"
	ls traffic_0.log traffic_3.log traffic_0_mpi.log traffic_all_mpi.log traffic_all_minmax.log \
		traffic_all_namegroup.log
	is 1 "$(grep -c "^Nr. of MPI ranks:            4$" traffic_all.log)"
	is 1 "$(grep -c "^   MPI wrappers: " traffic_all.log)"
	# the share is that of the rows
	share=$(sed -n "s/^Time in MPI: *\([0-9.]*\) %$/\1/p" traffic_all.log)
	json traffic_all.json "([.stacks[] | select(.function | startswith(\"MPI_\")) | .t_excl_s] |
		add) / ([.stacks[].t_excl_s] | add) * 100 - $share | fabs < 0.006" | grep -qx true
	is 0 "$(grep -c "^Communication profile" traffic_all.log)"
	for log in traffic_all_mpi.log traffic_0_mpi.log; do
		is "|Messages|avgsendsize[B]|avgrecvsize[B]|avgsendBW[B/s]|avgrecvBW[B/s]|avgcommtime[s]|Function|Caller|STID|Callpath|" \
			"$(header $log "Communication profile")"
	done
	# 40 messages of 1000 bytes
	rows traffic_all_mpi.log "Communication profile" |
		awk -F "|" "\$8 == \"MPI_Isend\" { print \$2, \$3, \$4 }" >got
	is "40 1.000e+03 0.000e+00" "$(cat got)"
	# a bandwidth that is one: Vftrace wrote 1e-314 here
	rows traffic_all_mpi.log "Communication profile" |
		awk -F "|" "\$8 == \"MPI_Irecv\" { exit !(\$6 > 1e3 && \$6 < 1e13) }"
	rows traffic_all.log "Runtime profile" |
		awk -F "|" "\$9 == \"MPI_Allreduce_sync\" { print \$2, \$10 }" >got
	is "20 MPI_Allreduce" "$(cat got)"
'

test_if '[ -n "$mpi" ]' 'no MPI on this machine' 'MPI: ids of the rank logs are those of the summary' '
	traced -q -c all.json -- $(mpirun_of "$mpi") -np 4 "$BIN/traffic"
	stacks_of traffic_all.log
	for rank in 0 1 2 3; do
		# paths that this rank has: the same ids as in the summary
		ids_agree traffic_$rank.log "Runtime profile" 6 7 8
		ids_agree traffic_$rank.log "Communication profile" 7 8 9
	done
	cp stacks whole
	for rank in 0 3; do
		stacks_of traffic_$rank.log
		sort stacks >some
		sort whole | comm -13 - some >others
		[ ! -s others ]
	done
'

test_if '[ -n "$mpi" ]' 'no MPI on this machine' 'MPI: a stack that rank 0 lacks has no part in rank 0 imbalances' '
	rows traffic_all.log "Runtime profile" |
		awk -F "|" "\$9 == \"MPI_Recv\" { print \$7, \$8 }" >got
	is "0.00 3" "$(cat got)"
	traced -q -k profile_table.imbalance_formula=balance -k profile_table.show_calltime_imbalances=true -- \
		$(mpirun_of "$mpi") -np 4 "$BIN/traffic"
	rows traffic_all.log "Runtime profile" |
		awk -F "|" "\$6 < 0 || \$6 > 100 { exit 1 } \$6 < 100 { n++ } END { exit !n }"
'

test_if '[ -n "$mpi" ]' 'no MPI on this machine' 'MPI: ranks have as many digits as the number of ranks' '
	traced -q -k logfile_for_ranks=0,2-3,9 -- $(mpirun_of "$mpi") -np 10 "$BIN/traffic"
	ls traffic_00.log traffic_02.log traffic_03.log traffic_09.log
	[ ! -e traffic_01.log ]
	[ ! -e traffic_04.log ]
	is 1 "$(grep -c "^Nr. of MPI ranks:           10$" traffic_09.log)"
'

done_testing
