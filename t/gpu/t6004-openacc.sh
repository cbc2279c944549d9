#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='OpenACC by its profiling interface, with a stand-in for a runtime'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$LIB/libvftrace.so"
FLAGS="-g -O1 -fPIC -I$T/gpu -I$TOP"
$TEST_CC $FLAGS -shared -o libstandinacc.so "$T/gpu/standin-openacc.c" -ldl || exit 99
$TEST_CC $FLAGS -I"$TOP" -finstrument-functions-exclude-function-list=work,tell,thread,on_event \
	-finstrument-functions -o app "$T/gpu/app-openacc.c" ./libstandinacc.so -pthread \
	-Wl,-rpath,"$PWD" $(test_link vftrace) || exit 99
$TEST_CC $FLAGS -o plain "$T/gpu/app-openacc.c" ./libstandinacc.so -pthread -Wl,-rpath,"$PWD" || exit 99
echo '{"openacc": {"show_event_details": true}}' >details.json

# acc JSON EVENT MEMBER: the sum over entries of this event
acc() {
	jq -r --arg n "$2" "[.openacc[]? | select(.event == \$n) | .$3] | add // 0" "$1"
}

# row FILE TITLE FIRST...: cells of the table's row that begins so, without blanks
row() {
	sed -n "/$2/,/^\$/p" "$1" | tr -d ' ' | grep "^|$3"
}

test_expect 'events are frames below who caused them, with their place and what they are about' '
	traced --config details.json -- ./app model model model >out
	has out done
	is 3 "$(calls_of app_all.json "acc_enter_data@heat.c:10<solve<main<init")"
	is 3 "$(calls_of app_all.json "acc_enqueue_upload(b)@heat.c:10<acc_enter_data@heat.c:10<solve<main<init")"
	is 3 "$(calls_of app_all.json "acc_enqueue_launch(solve_20_gpu)@heat.c:20<acc_compute_construct@heat.c:20<solve<main<init")"
	is 3 "$(calls_of app_all.json "acc_wait@heat.c:20<acc_compute_construct@heat.c:20<solve<main<init")"
	is 3 "$(calls_of app_all.json "acc_free@heat.c:10<acc_exit_data@heat.c:10<solve<main<init")"
	is 0 "$(jq ".warnings | length" app_all.json)"'

test_expect 'bytes are told once, at the begin or at the end; a launch has none' '
	is 4500 "$(acc app_all.json enqueue_upload bytes)"
	is 3000 "$(acc app_all.json enqueue_download bytes)"
	is 4500 "$(acc app_all.json create bytes)"
	is 12288 "$(acc app_all.json alloc bytes)"
	is 0 "$(acc app_all.json enqueue_launch bytes)"
	is 6 "$(acc app_all.json enqueue_upload calls)"
	jq -e "[.openacc[] | select(.event == \"enqueue_launch\")] | length == 1 and
		(.[0] | .name == \"solve_20_gpu\" and .file == \"/src/heat.c\" and .lines == \"20-28\" and
		.function == \"solve\" and .parent == \"parallel\" and .number == 18)" app_all.json'

test_expect 'time is that of the innermost event, and its sum that of the outermost' '
	jq -e "([.openacc[] | .t_s] | add) as \$own |
		([.openacc[] | select(.event | test(\"_data\$|compute_construct\")) | .t_incl_s] | add) as \$all |
		(\$own - \$all | fabs) < 1e-6 and \$own > 0.017" app_all.json
	jq -e "(.openacc[] | select(.event == \"compute_construct\")) | .t_incl_s > 0.011 and .t_s < .t_incl_s / 2" app_all.json'

test_expect 'the tables of Vftrace have its titles, and add up' '
	has app_all.log "OpenACC callbacks:"
	has app_all.log "Total OpenACC time:"
	grep "^| *Position *| *Function *| t_compute \[s\] | t_data \[s\] | t_wait \[s\] | Host -> Device \[B\] | Device -> Host \[B\] | On Device \[B\] |" app_all.log
	grep "^| STID | event | *regionID *| #Calls | t_compute\[s\] | t_data\[s\] | t_wait\[s\] | Bytes | *Source File *| *Function *| " app_all.log
	row app_all.log "--OpenACC Summary--" "heat.c:10-18|solve|0.000|[0-9.]*|0.000|4500|3000|4500|"
	row app_all.log "--OpenACC Summary--" "heat.c:20-28|solve|[0-9.]*|0.000|[0-9.]*|0|0|0|"
	row app_all.log "--OpenACC Detailed Event Summary--" "[0-9]*|18|0x[0-9a-f]*|3|[0-9.]*|0.000|0.000|0|/src/heat.c|solve|solve_20_gpu|"
	row app_all.log "--OpenACC Detailed Event Summary--" "[0-9]*|24|0x[0-9a-f]*|3|0.000|0.000|[0-9.]*|0|"
	is 2 "$(grep -c "^--OpenACC" app_all.log)"
	sed -n "/^OpenACC ratio/,/^\$/p" app_all.log >block
	is solve "$(sed -n 2p block | tr -d " ")"
	grep -E "^ +in .* avg +6\.00 +min +6 +max +6 +2 for each kernel" block
	grep -E "^ +out .* 1 for each kernel" block
	grep -E "^ +kernel .* avg +3\.00 .*solve_20_gpu" block
	sed -n "/^OpenACC event numbers/,/^\$/p" app_all.log >numbers
	for number in "enter_data_start: 10" "enqueue_launch_start: 18" "free: 9" "wait_start: 24"; do
		has numbers "acc_ev_$number"
	done
	is 11 "$(grep -c acc_ev numbers)"'

test_expect 'one place in the source and one event have one region, whatever it is about' '
	jq -e "[.openacc[] | select(.event == \"create\") | .region] | length == 2 and .[0] == .[1]" app_all.json
	jq -e "[.openacc[] | .region] | unique | length == 11" app_all.json'

test_expect 'each table has its order and its switch, and a file of its own if wanted' '
	for column in time memcpy calls none; do
		jq -n "{openacc: {show_event_details: true, sort_table: {column: \"$column\", ascending: true}}}" >c.json
		traced -q --config c.json -- ./app model >out
		sed -n "/^--OpenACC Detailed/,/^\$/p" app_all.log | grep "^|" | tr -d " " | sed 1d |
			awk -F"|" "{ print \$2, \$5, \$6 + \$7 + \$8 }" >"by.$column"
	done
	cut -d" " -f3 by.time >k && sort -n k | cmp - k
	cut -d" " -f2 by.calls >k && sort -n k | cmp - k
	cut -d" " -f1 by.none >k && sort -n k | cmp - k
	traced -q --config details.json -k openacc.sort_table.column=memcpy -- ./app model >out
	row app_all.log "--OpenACC Detailed Event Summary--" "[0-9]" | sed -n 1p | grep "|1000|"
	traced -q -- ./app model >out
	hasnt app_all.log "Detailed Event"
	hasnt app_all.log "acc_ev_"
	traced -q -k openacc.show_table=false -- ./app model >out
	hasnt app_all.log "--OpenACC"
	is 1 "$(acc app_all.json wait calls)"
	traced -q --config details.json -k profile_table.separate=true -k logfile_for_ranks=all -- ./app model >out
	hasnt app_all.log "--OpenACC"
	is 2 "$(grep -c "^--OpenACC" app_all_accprof.log)"
	is 2 "$(grep -c "^--OpenACC" app_0_accprof.log)"
	rm -f app_*.log'

test_expect 'openacc.active false: nothing is recorded; what is known before registers nothing' '
	traced -q -- ./app callbacks >out
	has out "callbacks 25"
	traced -q -k openacc.active=false -- ./app model >out
	is 0 "$(jq "[.stacks[] | select(.path | test(\"acc_\"))] | length" app_all.json)"
	is null "$(jq .openacc app_all.json)"
	VFTR_OFF=1 ./app callbacks model >out
	has out "callbacks 0"'

test_expect 'the echo of the configuration has the section, and can be fed back' '
	traced -q --config details.json -k openacc.sort_table.column=calls -- ./app model >out
	sed -n "/^Vftrace configuration read/,\$p" app_all.log | sed 1d >echo.json
	jq -e ".openacc == {active: true, show_table: true, show_event_details: true,
		sort_table: {column: \"calls\", ascending: false}}" echo.json
	"$VFTR" config check echo.json >out
	hasnt out "no effect"'

test_expect 'programs that are not instrumented are traced when the library is preloaded' '
	traced -q --preload -- ./plain model >out
	is 1 "$(calls_of plain_all.json "acc_enqueue_upload(a)@heat.c:10<acc_enter_data@heat.c:10<init")"
	row plain_all.log "--OpenACC Summary--" "heat.c:10-18|solve|"'

test_expect 'from several threads, and from the child of a fork, each event counts once' '
	traced -q -- ./app threads 25 >out
	is 100 "$(acc app_all.json compute_construct calls)"
	is 150000 "$(acc app_all.json enqueue_upload bytes)"
	is 100 "$(calls_of app_all.json "acc_compute_construct@heat.c:20<solve<init")"
	traced -q -- ./app fork >out
	is 2 "$(acc app_all.json compute_construct calls)"
	is 3000 "$(acc app_all.json enqueue_upload bytes)"
	is 2 "$(jq .ranks app_all.json)"
	is 0 "$(jq ".warnings | length" app_all.json)"'

test_expect 'what makes no sense is no harm: unmatched, cut short, null, unknown' '
	limit env VFTR_OFF=1 ./app wild deep jump many own model >alone
	traced -q -- ./app wild deep jump many own model >out
	cmp alone out
	is 0 "$(jq "[.dead_ranks[]?] | length" app_all.json)"
	hasnt app_all.log "not used further"
	is 100 "$(calls_of app_all.json "acc_compute_construct@heat.c:40<leave<jump<main<init")"
	is 1 "$(calls_of app_all.json "acc_compute_construct@heat.c:31<acc_compute_construct@heat.c:30<deep<main<init")"
	# of very many places the last ones are one
	is 20000 "$(jq "[.openacc[] | select(.function == \"many\" or .lines != null and .event == \"update\" and
		.function == \"solve\") | .calls] | add" app_all.json)"
	[ "$(calls_of app_all.json "acc_update<many<main<init")" -gt 10000 ]
	is 2 "$(calls_of app_all.json "acc_wait<acc_compute_construct<solve<own<main<init")"'

test_expect 'callbacks of the program, and tools of others, hear what they hear without us' '
	cat >tool.c <<-EOF
	#include <stdio.h>
	#include "t/gpu/standin-openacc.h"
	static int n;
	static void count(const struct acc_prof *p, const struct acc_event *e, void *api)
	{ (void)e; (void)api; n += p->event_type; }
	void acc_register_library(acc_registration reg, acc_registration unreg, void *lookup)
	{ (void)unreg; (void)lookup; for (int i = 1; i < OPENACC_EVENT_LAST; i++) reg(i, count, ACC_REG); }
	__attribute__((destructor)) static void end(void) { printf("tool %d\n", n); fflush(stdout); }
	EOF
	$TEST_CC $FLAGS -shared -o tool.so tool.c
	limit ./plain own >alone
	traced -q --preload -- ./plain own >out
	cmp alone out
	ACC_PROFLIB=./tool.so limit ./plain own model >alone
	ACC_PROFLIB=./tool.so traced -q --preload -- ./plain own model >out
	cmp alone out
	LD_PRELOAD=./tool.so limit ./plain own model >alone
	grep "tool [1-9]" alone
	# ours comes first, and passes on
	traced -q -- env LD_PRELOAD="$LIB/libvftrace.so ./tool.so" ./plain own model >out
	cmp alone out
	is 3 "$(acc plain_all.json compute_construct calls)"'

test_expect 'logs are merged: collate, interim results, the time line' '
	echo "{\"sampling\": {\"active\": true}, \"openacc\": {\"show_event_details\": true}}" >c.json
	traced -q --config c.json -- ./app model >out
	mkdir merged
	"$VFTR" collate -o merged --config c.json app_*.vfp >/dev/null
	is 1500 "$(acc merged/app_all.json enqueue_upload bytes)"
	is 2 "$(grep -c "^--OpenACC" merged/app_all.log)"
	"$VFTR" dump app_*.vfd >dump
	has dump "acc_enqueue_launch(solve_20_gpu)@heat.c:20"'
done_testing
