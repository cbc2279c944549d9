#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='what each key of the configuration does to the files that are written'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT"

cc_traced "$BIN/logs" "$T/agent/app-logs.c" || exit 1

# run [AGENT OPTION...]: its files are logs_*
run() {
	rm -f logs_*
	traced -q "$@" -- "$BIN/logs"
}

# column FILE TITLE N: cells of column N (from 1) of the table below that title
column() {
	awk -F '|' -v title="$2" -v n="$(($3 + 1))" '
		$0 == title { lines = 1; next }
		lines && /^\+/ { if (++frames == 3) exit; next }
		lines && frames == 2 { gsub(/ /, "", $n); print $n }' "$1"
}

# sorted [-OPTIONS] : standard input is in that order of sort
sorted() {
	cat >order
	sort -s -c "$@" order
}

# echo_of LOG: the configuration that is printed at its end
echo_of() {
	sed '1,/^Vftrace .*configuration/d' "$1"
}

test_expect 'the default text of Vftrace is accepted without a warning, and changes nothing but the names of C++' '
	"$VFTR" config check "$T/conf/vftrace-default.json" >out 2>err
	[ ! -s err ]
	is "Checking of config file $T/conf/vftrace-default.json is complete" "$(cat out)"
	run -c "$T/conf/vftrace-default.json" 2>err
	[ ! -s err ]
	has logs_all.log "Vftrace configuration read from \"$T/conf/vftrace-default.json\""
	echo_of logs_all.log >with.json
	run
	has logs_all.log "Vftrace default configuration:"
	echo_of logs_all.log >without.json
	sed "s/\"demangle_cxx\": false/\"demangle_cxx\": true/
		/name_grouped/,/}/s/\"show_table\": false/\"show_table\": \"auto\"/" with.json | diff - without.json
'

test_expect 'the echo in the log is JSON that is accepted again and comes back the same' '
	cat >c.json <<-END
	{ "logfile_for_ranks": "0,2-5", "sampling": { "precise_functions": "^a\"\\\\\\\\b" },
	  "profile_table": { "separate": true }, "openacc": { "active": false },
	  "hwprof": { "counters": [{ "hwc_name": "A", "symbol": "a" }, { "hwc_name": "B", "symbol": "b" }],
	  "observables": [{ "name": "x", "formula": "a/b" }, { "name": "y", "formula": "a", "unit": "1/s" }] } }
	END
	run -c c.json
	echo_of logs_all.log >first.json
	jq . first.json >/dev/null
	is "0,2-5 true false 2 2" "$(json first.json "\"\(.logfile_for_ranks) \(.profile_table.separate) \
\(.openacc.active) \(.hwprof.counters | length) \(.hwprof.observables | length)\"")"
	run -c first.json
	echo_of logs_all.log >second.json
	diff first.json second.json
'

test_expect 'the command line wins over VFTR_SET, and that over the file' '
	echo "{ \"outfile_basename\": \"a\", \"logfile_for_ranks\": \"all\" }" >c.json
	export VFTR_SET="outfile_basename=b; stacklist.show_stacklist=false;"
	traced -q -c c.json -k outfile_basename=c -- "$BIN/logs"
	[ -e c_0.log ]
	[ ! -e a_all.log ]
	[ ! -e b_all.log ]
	hasnt c_all.log "Global call stacks"
	traced -q -c c.json -- "$BIN/logs"
	[ -e b_all.log ]
	[ -e b_0.log ]
	has b_all.log "Vftrace configuration read from \"c.json\", changed on the command line or by VFTR_SET"
	unset VFTR_SET
	traced -q -k mpi.match=false -- "$BIN/logs"
	has logs_all.log "Vftrace default configuration, changed on the command line or by VFTR_SET:"
	status_of 125 traced -k nonsense -- "$BIN/logs" 2>err
	has err "nonsense"
	has err "KEY=VALUE"
	VFTR_SET="shm.ring_siz=1" status_of 125 traced -- "$BIN/logs" 2>err
	has err "did you mean \"shm.ring_size\""
'

test_expect 'VFTR_SET reaches an agent that the program starts, and vftr collate' '
	rm -f logs_* z_*
	VFTR_AGENT=$AGENT VFTR_SET="outfile_basename=z" limit "$BIN/logs"
	wait_for 20 "[ -s z_all.log ]"
	rm z_all.log
	VFTR_SET="print_config=false" "$VFTR" collate . >out
	has z_all.log "Runtime profile"
	hasnt z_all.log "configuration"
	VFTR_SET="nothing=1" status_of 2 "$VFTR" collate . 2>err
	has err "VFTR_SET: \"nothing\" is not a valid vftrace option"
	status_of 2 "$VFTR" collate missing 2>err
	is "vftr: missing: No such file or directory" "$(cat err)"
	rm -f z_*
'

test_expect 'null where none is accepted is refused with a sentence, never a crash' '
	for key in logfile_for_ranks mpi.only_for_ranks output_directory off sampling.sample_interval \
		profile_table.sort_table.column; do
		jq -n --arg k "$key" "setpath(\$k | split(\".\"); null)" >c.json
		status_of 125 traced -c c.json -- "$BIN/logs" 2>err
		has err "$key: null is not"
	done
	for key in outfile_basename sampling.precise_functions overhead.keep hwprof.default_scenario; do
		jq -n --arg k "$key" "setpath(\$k | split(\".\"); null)" >c.json
		run -c c.json
	done
'

test_expect 'a key of any level that is not known gets the nearest of its level' '
	jq -n "{ofF2: 1, profile_tabel: {}, mpi: {sort_tabel: {}}, cuda: {sort_table: {colum: 1}},
		hwprof: {show_nothing_like_it: 1, counters: [{hwc_name: \"A\", symbol: \"a\", symbl: 1}]},
		openacc: {activ: 1}, stacklist: {show: 1}, sampling: {activ: 1}}" >c.json
	"$VFTR" config check --lenient c.json 2>err
	for pair in ofF2:off profile_tabel:profile_table sort_tabel:sort_table colum:column \
		symbl:symbol activ:active show:show_stacklist; do
		grep -A 1 "\"${pair%%:*}\" is not a valid vftrace option" err >two
		has two "\"${pair#*:}\"?"
	done
	is 8 "$(grep -c "Did you mean" err)"
'

test_expect 'a file with an unknown key starts no program, unless --lenient warns of it' '
	rm -f logs_*
	printf "{\"sampling\": {\n\"activ\": true }}\n" >c.json
	said="c.json:2: \"activ\" is not a valid vftrace option; did you mean \"active\"?"
	status_of 125 traced -c c.json -- sh -c "echo has run" >out 2>err
	is "vftr-node-agent: $said" "$(cat err)"
	[ ! -s out ]
	VFTR_CONFIG=c.json status_of 125 limit "$VFTR" run -- sh -c "echo has run" >out 2>err
	[ ! -s out ]
	run --lenient -c c.json 2>err
	has err "c.json:2: Warning: \"activ\" is not a valid vftrace option."
	[ -e logs_all.log ]
	status_of 1 "$VFTR" doctor -c c.json "$BIN/logs" >out 2>err
	cat err >>out
	has out "$said"
'

test_expect 'a program that starts its agent itself says once what is wrong in the file, and runs untraced' '
	rm -f logs_*
	VFTR_AGENT=$AGENT VFTR_CONFIG=$PWD/c.json limit "$BIN/logs" 2>err
	is 1 "$(grep -c "did you mean \"active\"?" err)"
	is 1 "$(wc -l <err)"
	[ ! -e logs_all.log ]
'

test_expect 'a file of counters with an unknown key is refused, too' '
	printf "{\"counters\": [],\n\"observable\": []}\n" >counters.json
	status_of 125 traced -k hwprof.default_scenario=counters.json -- "$BIN/logs" 2>err
	has err "counters.json:2: \"observable\" is not a valid vftrace option; did you mean \"observables\"?"
	run --lenient -k hwprof.default_scenario=counters.json
'

test_expect 'times and sizes have units, and booleans more words, on a command line and in VFTR_SET' '
	VFTR_SET="sampling.active=yes;sampling.sample_interval=20ms" run -k agent.linger_s=500ms \
		-k sampling.outbuffer_size=16MiB -k stacklist.show_stacklist=off
	echo_of logs_all.log >c.json
	is "true 0.02 0.5 16 false" "$(json c.json "\"\(.sampling.active) \(.sampling.sample_interval) \
\(.agent.linger_s) \(.sampling.outbuffer_size) \(.stacklist.show_stacklist)\"")"
	echo "{\"sampling\": { \"active\": \"yes\" }}" >c.json
	status_of 125 traced -c c.json -- "$BIN/logs" 2>err
	has err "c.json:1: sampling.active: \"yes\" is not true or false"
	rm -f logs_*
'

test_expect '--within takes a time with a unit' '
	status_of 3 limit "$AGENT" -q --expect 1 --within 200ms
	status_of 125 limit "$AGENT" -q --expect 1 --within soon 2>err
	has err "--within \`soon'"'"': not a time from 0.001 to 1e+09 s, such as 2.5 or 300ms"
'

test_expect 'off: nothing is written, the program runs as ever' '
	run -k off=true
	[ ! -e logs_all.log ]
	for off in 1 yes ON True; do
		VFTR_OFF=$off run
		[ ! -e logs_all.log ]
	done
	VFTR_OFF=0 run
	[ -e logs_all.log ]
	VFTR_OFF=1 limit "$VFTR" run -- true 2>err
	is "vftr-node-agent: tracing is off (VFTR_OFF): nothing was recorded" "$(cat err)"
	limit "$VFTR" run -k off=true -- true 2>err
	has err "tracing is off (off=true): nothing was recorded"
	limit "$VFTR" run -q -k off=true -- true 2>err
	is "" "$(cat err)"
'

test_expect 'output_directory and outfile_basename' '
	mkdir -p there
	run -k output_directory=there -k outfile_basename=name
	[ -e there/name_all.log ]
	[ -e there/name_all.json ]
	[ ! -e name_all.log ]
	run -k outfile_basename=there/two -k sampling.active=true
	[ -e there/two_all.log ]
	ls there/two_*.vfd
	# what could not be written at the end is refused at the start
	status_of 125 traced -k outfile_basename=nowhere/name -- "$BIN/logs" 2>err
	has err "outfile_basename: \"./nowhere\" can'"'"'t be written to"
	status_of 125 traced -k outfile_basename="$(printf %0200d 0)" -- "$BIN/logs" 2>err
	has err "outfile_basename: a file name of 200 bytes; 150 are the limit"
'

test_if '[ -d /proc/self ]' 'no /proc' 'a directory that takes no files is refused before the start, to root, too' '
	status_of 125 traced -k output_directory=/proc -- sh -c "echo has run" >out 2>err
	why="no file can be made in it"
	[ "$(id -u)" = 0 ] || why="Permission denied"
	is "vftr-node-agent: output_directory: \"/proc\" can'"'"'t be written to: $why" "$(cat err)"
	[ ! -s out ]
	echo "{\"output_directory\": \"/proc\"}" >c.json
	status_of 1 "$VFTR" config check c.json
	mkdir asked
	echo "{\"output_directory\": \"asked\"}" >c.json
	"$VFTR" config check c.json
	is "" "$(ls -A asked)"
'

test_expect 'a program whose name is as long as names may be has its files' '
	long=$(printf %0250d 0)
	cp "$BIN/logs" "$BIN/$long"
	traced -q -k logfile_for_ranks=all -k sampling.active=true -- "$BIN/$long"
	for end in all.log all.json 0.log "*.vfp" "*.vfd"; do
		ls "$(printf %0150d 0)"_$end
	done
	has "$(printf %0150d 0)_all.log" "Runtime profile for application: $long"
'

test_expect 'agent.cpu: the agent runs where it is told, and says so' '
	cpu=$(sed -n "s/^Cpus_allowed_list:[^0-9]*\([0-9]*\).*/\1/p" /proc/self/status)
	run -k agent.cpu="$cpu,1000"
	has logs_all.log "| cpu $cpu, as configured |"
	run -k agent.cpu=1000 2>err
	has err "agent.cpu: no CPU of \"1000\" may be used; running on any"
	has logs_all.log "| any cpu |"
'

test_expect 'print_config, stacklist.show_stacklist, profile_table.show_table' '
	run -k print_config=false -k stacklist.show_stacklist=false -k profile_table.show_table=false
	hasnt logs_all.log "configuration"
	hasnt logs_all.log "Global call stacks"
	hasnt logs_all.log "t_excl"
	run
	is 1 "$(grep -c "^Runtime profile$" logs_all.log)"
	is 1 "$(grep -c "^Global call stacks:$" logs_all.log)"
'

test_expect 'profile_table.show_callpath, show_overhead, show_calltime_imbalances add their columns' '
	run -k profile_table.show_callpath=true -k profile_table.show_overhead=true \
		-k profile_table.show_calltime_imbalances=true
	is "|Calls|t_excl[s]|t_excl[%]|t_incl[s]|overhead[s]|Imbalances[%]|onrank|Function|Caller|STID|Callpath|" \
		"$(grep -m 1 Callpath logs_all.log | tr -d " ")"
	column logs_all.log "Runtime profile" 11 | grep -qx "bar<foo<main<init"
'

test_expect 'the overhead is that of the hooks, as the process has measured it' '
	run -k logfile_for_ranks=all
	# two hooks for each call: between 1 and 2000 ns together, on any machine
	jq -e "[.stacks[] | .calls] | add > 40" logs_all.json
	jq -e ".stacks[] | select(.path == \"foo<main<init\") |
		.overhead_s / .calls | . > 1e-9 and . < 2e-6" logs_all.json
'

test_expect 'output.layout=run has other defaults for keys that are not given' '
	run -k output.layout=run -o folder
	has folder/summary.log "Imbalance["
	hasnt folder/summary.log "imbalance_formula"
	run -k output.layout=run -o folder -k profile_table.imbalance_formula=idle
	has folder/summary.log "   profile_table.imbalance_formula=\"idle\""
	run -k output.layout=run -o folder -k profile_table.show_calltime_imbalances=false
	hasnt folder/summary.log "Imbalance["
'

test_expect 'output.max_columns bounds the lines of tables, in both layouts' '
	run -k output.max_columns=60
	sed -n "/^Runtime profile/,/^Vftrace.*configuration/p" logs_all.log | grep "^[|+]" >tables
	is 60 "$(wc -L <tables)"
	has logs_all.log "for which there is no room"
	run -k output.layout=run -o folder -k output.max_columns=70
	[ "$(grep "^[|+]" folder/summary.log | wc -L)" -le 70 ]
	has folder/summary.log "   output.max_columns=70"
'

test_expect 'profile_table.sort_table: each column, both ways' '
	for column in time_excl:2 time_incl:4 calls:1 stack_id:7; do
		run -k profile_table.sort_table.column="${column%:*}"
		column logs_all.log "Runtime profile" "${column#*:}" | sorted -g -r
		run -k profile_table.sort_table.column="${column%:*}" -k profile_table.sort_table.ascending=true
		column logs_all.log "Runtime profile" "${column#*:}" | sorted -g
	done
	run -k profile_table.sort_table.column=none
	column logs_all.log "Runtime profile" 7 | sorted -n
	run -k profile_table.sort_table.column=overhead -k profile_table.show_overhead=true
	column logs_all.log "Runtime profile" 5 | sorted -g -r
'

test_expect 'name_grouped_profile_table has a sorting of its own' '
	title="Runtime profile (Grouped by function name)"
	for column in time_excl:2 time_incl:4 calls:1; do
		run -k name_grouped_profile_table.show_table=true \
			-k name_grouped_profile_table.sort_table.column="${column%:*}"
		column logs_all.log "$title" "${column#*:}" | sorted -g -r
		column logs_all.log "Runtime profile" 2 | sorted -g -r
		run -k name_grouped_profile_table.show_table=true \
			-k name_grouped_profile_table.sort_table.column="${column%:*}" \
			-k name_grouped_profile_table.sort_table.ascending=true
		column logs_all.log "$title" "${column#*:}" | sorted -g
	done
	is "21" "$(awk -F "|" "/Grouped/ { on = 1 } on && \$6 ~ /^ *bar *\$/ { print \$2 + 0; exit }" logs_all.log)"
'

test_expect 'name_grouped_profile_table.max_stack_ids cuts the list of ids' '
	title="Runtime profile (Grouped by function name)"
	run -k name_grouped_profile_table.show_table=true -k name_grouped_profile_table.max_stack_ids=1
	column logs_all.log "$title" 6 | grep -qE "^[0-9]+,\.\.\.$"
	run -k name_grouped_profile_table.show_table=true
	column logs_all.log "$title" 6 | grep -qE "^[0-9]+,[0-9]+$"
'

test_expect 'profile_table.separate: tables in files of their own' '
	run -k profile_table.separate=true -k profile_table.show_minmax_summary=true \
		-k name_grouped_profile_table.show_table=true
	is 1 "$(grep -c "^Runtime profile$" logs_all.log)"
	is 0 "$(grep -c "Grouped\|Min/Max" logs_all.log)"
	has logs_all_namegroup.log "Runtime profile (Grouped by function name)"
	has logs_all_minmax.log " Summary: Min/Max runtime across all ranks"
	[ ! -e logs_all_mpi.log ]
'

test_expect 'profile_table.imbalance_formula: the same for one rank, but for balance' '
	for formula in deviation max_mean idle variation range; do
		run -k profile_table.imbalance_formula=$formula
		is 0 "$(json logs_all.json "[.stacks[].imbalance_percent] | max")"
	done
	run -k profile_table.imbalance_formula=balance
	is 100 "$(json logs_all.json "[.stacks[].imbalance_percent] | min")"
	status_of 125 traced -k profile_table.imbalance_formula=x -- "$BIN/logs" 2>err
	has err "is not one of deviation, max_mean, idle, variation, range, balance"
'

test_expect 'include_cxx_prelude: what runs before main is left out unless it is set' '
	cxx_traced "$BIN/prelude" "$T/conf/app-prelude.cpp"
	traced -q -- "$BIN/prelude"
	calls_in prelude_all.json >got
	hasnt got early
	is 1 "$(calls_of prelude_all.json "always<main<init")"
	is 1 "$(calls_of prelude_all.json "helper<main<init")"
	# in main, and after it
	is 2 "$(grep -c "^1 always<" got)"
	is 1 "$(grep -c "^1 late<" got)"
	exclusive_sums_up prelude_all.json
	traced -q -k include_cxx_prelude=true -- "$BIN/prelude"
	is 5 "$(jq "[.stacks[] | select(.path | startswith(\"helper<early\")) | .calls] | add" prelude_all.json)"
	exclusive_sums_up prelude_all.json
'

test_expect 'include_cxx_prelude: a program without a main of its own keeps all' '
	cat >lib.c <<-END
	__attribute__((noinline)) void inner(void) { __asm__ volatile(""); }
	__attribute__((constructor)) void begin(void) { inner(); }
	void outer(void) { inner(); inner(); }
	END
	echo "void outer(void); int main(void) { outer(); return 0; }" >m.c
	$TEST_CC -fPIC -shared -finstrument-functions -o libone.so lib.c
	$TEST_CC -o nomain m.c -L. -lone -Wl,-rpath,"$PWD" $(test_link vftrace)
	traced -q -- ./nomain
	is 1 "$(calls_of nomain_all.json "inner<begin<init")"
	is 2 "$(calls_of nomain_all.json "inner<outer<init")"
'

test_expect 'demangle_cxx and strip_module_names change what is shown, not what is counted' '
	traced -q -k include_cxx_prelude=true -- "$BIN/prelude"
	has prelude_all.log " whole_life::whole_life "
	hasnt prelude_all.log "_ZN10whole_life"
	calls=$(jq -c "[.stacks[] | [.hash, .calls]]" prelude_all.json)
	traced -q -k include_cxx_prelude=true -k demangle_cxx=false -- "$BIN/prelude"
	has prelude_all.log " _ZN10whole_lifeC"
	is "$calls" "$(jq -c "[.stacks[] | [.hash, .calls]]" prelude_all.json)"
'

done_testing
