#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='hardware counters: values per path, sources, tables, formulas'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$VFTR" "$LIB/libvftrace.so"

cc_traced "$BIN/hw" "$T/counters/app-hwprof.c" || skip_all 'app-hwprof.c cannot be compiled'

# config FILE TYPE "NAME SYMBOL ..." [MORE]: show_counters and these counters
config() {
	config_file=$1
	config_type=$2
	config_more=${4:+, $4}
	set -- $3
	config_list=
	while [ $# -gt 0 ]; do
		config_list="$config_list${config_list:+, }{\"hwc_name\": \"$1\", \"symbol\": \"$2\"}"
		shift 2
	done
	echo "{\"hwprof\": {\"type\": \"$config_type\", \"show_counters\": true,
		\"show_summary\": true, \"counters\": [$config_list]$config_more}}" >"$config_file"
}

# value SYMBOL PATH: what the counter has counted there
value() {
	jq -r --arg s "$1" --arg p "$2" \
		'[.stacks[] | select(.path == $p) | .counters[$s]] | add // "none"' hw_all.json
}

# Each event adds 1 to A and 2 to B: an enter to those of the caller, an exit to the
# function's own. A recursive call is one frame.
each_event_once() {
	jq -e '
		([.stacks[] | {key: (.id | tostring), value: 0}] | from_entries) as $none |
		(reduce (.stacks[] | select(.parent >= 0 and .function != "vftrace_pause")) as $s
			($none; .[$s.parent | tostring] +=
				(if $s.function == "rec" then $s.calls / 6 else $s.calls end))) as $below |
		[.stacks[] | select(.function != "vftrace_pause") |
			(if .function == "rec" then .calls * 2 - .calls / 6 else .calls end
				+ $below[.id | tostring]) as $wanted |
			if .counters.A == $wanted and .counters.B == 2 * $wanted then empty
			else "\(.path): \(.counters), wanted \($wanted)" end] |
		if . == [] then true else join("\n") | halt_error end' hw_all.json
}

config dummy.json dummy 'EVENT_A A EVENT_B B' '"observables": [
	{"name": "ratio", "formula": "B / A", "unit": "1"},
	{"name": "calls", "formula": "CALLS * T / T"},
	{"name": "nothing", "formula": "A / (B - 2 * A)", "unit": "m"}]'

test_expect 'the dummy source counts every event once, at its path' '
	traced -q -c dummy.json -- "$BIN/hw" calls
	each_event_once
	is 40 "$(value A "bar<foo<calls<main<init")"
	is 12 "$(value A "rec<calls<main<init")"'

test_expect 'what is counted in a pause belongs to the pause' '
	config paused.json dummy "EVENT_A A"
	traced -q -c paused.json -- "$BIN/hw" calls
	is 0 "$(value A "vftrace_pause<pausing<main<init")"
	is 2 "$(value A "pausing<main<init")"'

test_expect 'counters are those of each thread, and add up' '
	traced -q -c dummy.json -- "$BIN/hw" threads 4
	each_event_once
	is 160 "$(value A "bar<foo<calls<thread<threads<main<init")" ||
		is 160 "$(value A "bar<foo<calls<thread<init")"'

test_expect 'each thread has its own values, in all and by path, in logs and JSON' '
	traced -q -c dummy.json -k profile_table.threads=all -k logfile_for_ranks=all -- \
		"$BIN/hw" threads 3
	is "138 138 138" "$(jq -r "[.each_thread[] | select(.thread > 0) | .counters.A] |
		join(\" \")" hw_all.json)"
	is true "$(jq "([.each_thread[].counters.B] | add) == ([.stacks[].counters.B] | add) and
		all(.each_thread[]; .counters.A == ([.stacks[].counters.A] | add))" hw_all.json)"
	grep -q "^|    0 |      2 | hw   |     69 | *2.000000 |.*|  *138 |  *276 |$" hw_node_*.log
	grep -q "^HWProf - Threads (Dummy)$" hw_0.log
	is 4 "$(grep -c "^HWProf - Thread [0-9] (Dummy)$" hw_0.log)"
	traced -q -c dummy.json -k profile_table.threads=summary -- "$BIN/hw" threads 3
	is "138 null" "$(jq -r ".each_thread[2] | \"\(.counters.A) \(.stacks)\"" hw_all.json)"
	traced -q -c dummy.json -k profile_table.threads=none -- "$BIN/hw" threads 3
	hasnt hw_node_*.log "HWProf - Threads"'

test_expect 'frames that a longjmp left have what they counted' '
	traced -q -c dummy.json -- "$BIN/hw" jump
	is 1 "$(value A "jumps<between<jump<main<init")"
	is 1 "$(value A "between<jump<main<init")"
	is 2 "$(value A "jump<main<init")"'

test_expect 'a child of fork has counters of its own' '
	traced -q -c dummy.json -- "$BIN/hw" fork
	is 80 "$(value A "bar<foo<calls<main<init")"
	is 24 "$(value A "rec<calls<main<init")"'

test_expect 'no event is missing where calls were lost' '
	traced -q -c dummy.json -k shm.ring_size=32KiB -k shm.when_full=drop -- "$BIN/hw" flood 200000
	jq -e "([.stacks[].counters.A] | add) as \$a | ([.stacks[].calls] | add) as \$c |
		(2 * (\$c + .lost)) as \$w |
		if \$a >= \$w - 4100 and \$a <= \$w then true
		else \"\(\$a), wanted \(\$w)\" | halt_error end" hw_all.json'

test_expect 'the tables have their titles, columns and totals' '
	traced -q -c dummy.json -k logfile_for_ranks=all -- "$BIN/hw" calls
	has hw_all.log "HWProf - Observables (Dummy)"
	has hw_all.log "HWProf - Hardware Counters (Dummy)"
	grep -q "| #Calls | *Func *| *ratio \[1\] | *calls *| *nothing \[m\] |" hw_all.log
	grep -q "| #Calls | *Func *| EVENT_A | EVENT_B |" hw_all.log
	grep -q "|     40 | *bar | *40 | *80 |" hw_all.log
	grep -qx "HWProf observables summary: " hw_all.log
	grep -qx "HWProf counters summary: " hw_all.log
	grep -qx "  ratio: 2.000000 1" hw_all.log
	grep -qx "  EVENT_A: 142" hw_all.log
	has hw_0.log "HWProf - Hardware Counters (Dummy)"'

test_expect 'a value that is no number is shown as ----' '
	grep -qE "\|     20 \| +foo \| +2.000000 \| +20.000000 \| +---- \|" hw_all.log
	is "null" "$(jq ".stacks[] | select(.function == \"foo\") | .observables[2]" hw_all.json)"'

test_expect 'rows are sorted by an observable, the greatest first' '
	traced -q -c dummy.json -k hwprof.sort_by_column=1 -- "$BIN/hw" calls
	sed -n "/^HWProf - Obs/,/^HWProf/p" hw_all.log | awk -F"|" "/^\\| +[0-9]/ { print \$2 + 0 }" >calls
	sort -rn calls | diff calls -'

test_expect 'tables go to files of their own, and away, as the configuration says' '
	traced -q -c dummy.json -k profile_table.separate=true -- "$BIN/hw" calls
	has hw_all_hwprof.log "HWProf - Observables (Dummy)"
	hasnt hw_all.log "HWProf -"
	traced -q -c dummy.json -k hwprof.show_summary=false -- "$BIN/hw" calls
	has hw_all.log "HWProf - Observables (Dummy)"
	hasnt hw_all.log "summary:"
	traced -q -c dummy.json -k hwprof.show_observables=false -k hwprof.show_counters=false \
		-- "$BIN/hw" calls
	hasnt hw_all.log "HWProf"
	traced -q -c dummy.json -k hwprof.active=false -- "$BIN/hw" calls
	hasnt hw_all.log "HWProf -"
	is null "$(jq ".counters" hw_all.json)"'

test_expect 'without counters nothing is read, and no table is there' '
	traced -q -- "$BIN/hw" calls
	hasnt hw_all.log "HWProf"
	is null "$(jq ".counters" hw_all.json)"'

test_expect 'a node profile keeps counters: vftr collate prints the same tables' '
	traced -q -c dummy.json -- "$BIN/hw" calls
	sed -n "/^HWProf/,/^Agents/p" hw_all.log >before
	rm -f hw_all.*
	limit "$VFTR" collate -c dummy.json hw_*.vfp || limit env VFTR_CONFIG=dummy.json "$VFTR" collate .
	sed -n "/^HWProf/,/^Agents/p" hw_all.log | diff before -
	[ -s before ]'

test_expect 'a scenario file has the counters and observables' '
	echo "{\"counters\": [{\"hwc_name\": \"READ_BYTES\", \"symbol\": \"B\"}],
		\"observables\": [{\"name\": \"Read I/O\", \"formula\": \"B / T / 1024 / 1024\",
			\"unit\": \"MB / s\"}]}" >scenario.json
	traced -q -k hwprof.default_scenario=scenario.json -k hwprof.type=perf -- "$BIN/hw" io
	is 200000 "$(value B "reads<main<init")"
	grep -q "Read I/O \[MB / s\]" hw_all.log
	grep -q "\"hwc_name\": \"READ_BYTES\"" hw_all.log
	status_of 125 traced -k hwprof.default_scenario=scenario.json -k hwprof.sort_by_column=1 \
		-- "$BIN/hw" io 2>err
	has err "hwprof.sort_by_column: 1 is not the position of an observable: there are 1"
	echo "{\"counters\": [{\"hwc_name\": \"A\"}]}" >broken.json
	status_of 125 traced -k hwprof.default_scenario=broken.json -- "$BIN/hw" io 2>err
	grep -q "broken.json:1: hwprof.counters: element 1: \"symbol\" is missing" err'

test_expect 'a formula that is none is refused, with its place' '
	config wrong.json dummy "EVENT_A A" "\"observables\":
		[{\"name\": \"x\", \"formula\": \"A + * 2\"}]"
	status_of 125 traced -c wrong.json -- "$BIN/hw" calls 2>err
	grep -qF "element 1: formula: \"A + * 2\": no value at \"* 2\"" err
	config wrong.json dummy "EVENT_A A" "\"observables\":
		[{\"name\": \"x\", \"formula\": \"A / B\"}]"
	status_of 125 traced -c wrong.json -- "$BIN/hw" calls 2>err
	grep -qF "neither a symbol nor a function at \"B\"" err'

# ---- in the sampling file ------------------------------------------------------------

# Growth of the first counter between the lines of calls, by the path that it belongs to.
growth() {
	awk '/ (call|exit) / {
		own = $5; gsub(/\*/, "", own)
		if ($4 == "call") sub(/^[^<]*</, "", own)
		sum[own] += $2 - last; last = $2
	}
	END { for (path in sum) if (sum[path]) print path, sum[path] }' "$1" | sort
}

test_expect 'each call in the sampling file has its counters, and they add up to the table' '
	traced -q -c dummy.json -k sampling.active=true -k sampling.sample_interval=0 -- "$BIN/hw" calls
	"$VFTR" dump hw_*.vfd >dump
	growth dump >got
	jq -r ".stacks[] | select(.counters.A > 0) | \"\(.path) \(.counters.A)\"" hw_all.json | sort | diff - got
	is 142 "$(awk "/ exit main/ { print \$2 }" dump)"
	is 0 "$(awk "/ (call|exit) / && \$3 != 2 * \$2" dump | wc -l)"
	grep -qx "HW counters:     2" dump
	grep -qx "   EVENT_B -> B" dump
	grep -qx "   ratio: B / A \[1\]" dump'

test_expect 'so has each thread, with a sampling interval as without' '
	for interval in 0 0.0002; do
		traced -q -c dummy.json -k sampling.active=true -k sampling.sample_interval=$interval \
			-- "$BIN/hw" threads 4
		"$VFTR" dump --json hw_*.vfd >dump.json
		jq -e "[.events[] | select(.event == \"call\" or .event == \"exit\")] as \$c |
			[.events[] | select(.event == \"counters\")] as \$v | (\$c | length) > 4 and
			([\$c[] | [.lane, .t_ns]] | sort) == ([\$v[] | [.lane, .t_ns]] | sort) and
			([\$v | group_by(.lane)[] | [.[].values[\"1\"]] | . == (sort | unique)] | all) and
			(.counters[0] | .kind == \"sum\" and .name == \"EVENT_A\" and .symbol == \"A\" and
				.source == \"dummy\")" dump.json
	done'

test_expect 'values that a program tells stand in it, too, at their times' '
	cc_traced "$BIN/session" "$T/session/app-session.c"
	traced -q -k sampling.active=true -k sampling.sample_interval=0 -- \
		"$BIN/session" me counter=queue=jobs=5,-3,17 counter=temperature=K=1.5,-2.25
	"$VFTR" dump session_*.vfd | sed -n "s/^ *[0-9.]* counter //p" >got
	printf "%s\n" "5 queue" "-3 queue" "17 queue" "1.5 temperature" "-2.25 temperature" | diff - got
	"$VFTR" dump --json session_*.vfd | jq -e "[.counters[] | [.name, .unit, .kind, .process]] ==
		[[\"queue\", \"jobs\", \"integer\", 0], [\"temperature\", \"K\", \"real\", 0]]"'

# ---- events of the kernel ---------------------------------------------------------

config perf.json perf 'page-faults F task-clock NS'
perf_is_allowed() {
	traced -q -c perf.json -- "$BIN/hw" fault
	hasnt hw_all.log "not allowed here"
}
perf_is_allowed >/dev/null 2>&1 && allowed=yes || allowed=

test_if '[ -n "$allowed" ]' 'perf_event_open(2) is not allowed here' \
	'software events are counted where they happen' '
	traced -q -c perf.json -- "$BIN/hw" fault
	n=$(value F "touch<fault<main<init") ns=$(value NS "touch<fault<main<init")
	more=$(value F "fault<main<init")
	echo "touch: $n faults in $ns ns, fault: $more"
	[ "$n" -ge 1000 ]
	[ "$n" -le 1020 ]
	[ "$ns" -gt 10000 ]
	[ "$more" -le 10 ]
	is Perf "$(sed -n "s/^HWProf - Hardware Counters (\(.*\))/\1/p" hw_all.log)"'

test_if '[ "$(id -u)" = 0 ] && [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -eq 2 ]' \
	'needs root, and perf_event_paranoid=2' \
	'who may not count the kernel has what happens in user mode, and that is said' '
	config user.json perf "page-faults F context-switches S"
	# below the directory of this test others find nothing
	user=$(mktemp -d /tmp/vftr-user.XXXXXX) status=0
	cp user.json "$BIN/hw" "$LIB/libvftrace.so" "$user" && chown -R 65534 "$user"
	(cd "$user" && VFTR_RUNTIME_DIR=$user LD_LIBRARY_PATH=$user setpriv --reuid=65534 --regid=65534 --clear-groups \
		"$AGENT" -q -c user.json -- ./hw fault) || status=$?
	cp "$user"/hw_all.* . || status=$?
	rm -r "$user"
	is 0 $status
	n=$(value F "touch<fault<main<init")
	[ "$n" -ge 1000 ]
	[ "$n" -le 1020 ]
	has hw_all.log "Counted in user mode only (see /proc/sys/kernel/perf_event_paranoid): page-faults."
	has hw_all.log "Not counted, and 0 in the tables: context-switches (not allowed here"'

test_expect 'bytes and calls of /proc/PID/io are counted without those of the reading' '
	config io.json perf "io:rchar R io:wchar W io:syscr SR io:syscw SW page-faults F"
	traced -q -c io.json -- "$BIN/hw" io
	is 300000 "$(value W "writes<main<init")"
	is 3 "$(value SW "writes<main<init")"
	is 200000 "$(value R "reads<main<init")"
	is 4 "$(value SR "reads<main<init")"
	is 0 "$(value R "bar<reads<main<init")"
	is 0 "$(value SR "bar<reads<main<init")"'

test_expect 'getrusage: faults of each thread, and the memory that each path has made grow' '
	config rusage.json perf "rusage:minflt F rusage:maxrss M rusage:utime U rusage:nvcsw S"
	traced -q -c rusage.json -- "$BIN/hw" fault
	n=$(value F "touch<fault<main<init")
	[ "$n" -ge 1000 ]
	[ "$n" -le 1020 ]
	m=$(value M "touch<fault<main<init") # the kernel counts pages in batches
	[ "$m" -ge $((900 * 4096)) ]
	[ "$m" -le $((1100 * 4096)) ]
	[ "$(value M "bar<fault<main<init")" -le $((100 * 4096)) ]
	[ "$(value M init)" -gt 100000 ]
	traced -q -c rusage.json -- "$BIN/hw" threads 4
	[ "$(jq "[.stacks[].counters.M] | add" hw_all.json)" -lt 100000000 ]'

# Two packages, of which one wraps around while nobody looks.
powercap() {
	rm -rf cap
	for zone in intel-rapl:0:package-0:1000 intel-rapl:1:package-1:900 \
		intel-rapl:0:0:dram:7 intel-rapl:1:0:dram:8 intel-rapl:1:1:core:9; do
		folder=cap/${zone%:*:*}
		mkdir -p "$folder"
		zone_name=${zone%:*}
		echo "${zone_name##*:}" >"$folder/name"
		echo "${zone##*:}" >"$folder/energy_uj"
		echo 1000000 >"$folder/max_energy_range_uj"
	done
}

test_expect 'energy of all packages is counted, by one process, over the end of its range' '
	powercap
	config energy.json perf "energy:package E power/energy-ram/ D bar:x X"
	status_of 0 traced -q -c energy.json -- env VFTR_TEST_POWERCAP=cap "$BIN/hw" energy cap
	is false "$(jq ".counters[0].counted" hw_all.json)" # the agent is asked, not the program
	powercap
	VFTR_TEST_POWERCAP=cap status_of 0 traced -q -c energy.json -- "$BIN/hw" energy cap
	is "true true false" "$(jq -r "[.counters[].counted | tostring] | join(\" \")" hw_all.json)"
	is 1003300 "$(jq "[.stacks[].counters.E] | add" hw_all.json)"
	is 1003300 "$(value E "uses<energy<main<init")"
	is 0 "$(jq "[.stacks[].counters.D] | add" hw_all.json)"'

test_expect 'a machine that does not tell of energy says so, and which file may not be read' '
	config energy.json perf "energy:psys P power/energy-cores/ C"
	powercap
	VFTR_TEST_POWERCAP=cap status_of 0 traced -q -c energy.json -- "$BIN/hw" calls
	grep -q "energy:psys (this machine does not tell: no zone \"psys\" in cap)" hw_all.log
	is true "$(jq ".counters[1].counted" hw_all.json)"
	rm cap/intel-rapl:1:1/energy_uj
	VFTR_TEST_POWERCAP=cap status_of 0 traced -q -c energy.json -- "$BIN/hw" calls
	grep -q "cores/ (cap/intel-rapl:1:1/energy_uj cannot be read: No such file or directory)" \
		hw_all.log'

test_expect 'events that are not there are named in one warning, and count 0' '
	config none.json perf "page-faults F no-such-event X cpu/nonsense=1/ Y pmu_of_mars/a/ Z"
	traced -q -c none.json -- "$BIN/hw" calls
	is 1 "$(grep -c "Not counted, and 0 in the tables" hw_all.log)"
	grep -q "Warning: Not counted.* no-such-event (no such event), cpu/nonsense=1/ (" hw_all.log
	is 0 "$(value X "foo<calls<main<init")"
	is false "$(jq ".counters[1].counted" hw_all.json)"
	is 40 "$(calls_of hw_all.json "bar<foo<calls<main<init")"'

test_expect 'sources that are not offered are said to be none, and the program runs' '
	for type in likwid ve; do
		config other.json $type "EX E"
		status_of 0 traced -q -c other.json -- "$BIN/hw" calls
		grep -q "EX (vftr does not offer hwprof.type $type)" hw_all.log
	done'

test_expect 'a program that closes our descriptors and opens its own is not disturbed' '
	status_of 0 traced -q -c io.json -- sh -c "ulimit -n 700; exec $BIN/hw closes"
	is 80 "$(calls_of hw_all.json "bar<foo<calls<closes<main<init")"'

test_expect 'where descriptors run out the program still has all that it had' '
	config many.json perf "page-faults A task-clock B cs C io:rchar D"
	status_of 0 traced -q -c many.json -- sh -c "ulimit -n 40; exec $BIN/hw threads 40"
	is 1600 "$(jq "[.stacks[] | select(.function == \"bar\" and (.path | startswith(\"bar<foo\"))) |
		.calls] | add" hw_all.json)"'

has_pmu='perf_says() { perf stat -x, -e instructions:u true 2>&1 | grep -qE "^[0-9]+,"; }; perf_says'
test_if "$has_pmu" 'no hardware counters on this machine' \
	'instructions of a known loop are counted within 2 %' '
	config pmu.json perf "instructions I cycles C"
	traced -q -c pmu.json -- "$BIN/hw" loop 20000000
	n=$(value I "spin<main<init")
	[ "$n" -ge 59000000 ]
	[ "$n" -le 61200000 ]
	[ "$(value C "spin<main<init")" -gt 1000000 ]'
test_if "$has_pmu" 'no hardware counters on this machine' \
	'more events than counters are counted in turns, and that is said' '
	config turns.json perf "instructions A branches B cycles C branch-misses D
		cache-references E cache-misses F r00c0 G r00c4 H r003c I r013c J r00c5 K r412e L"
	traced -q -c turns.json -- "$BIN/hw" loop 1000000000
	has hw_all.log "Counted in turns, and scaled up"'

test_expect 'events of PAPI are counted, in sets that go together, and unknown ones named' '
	mkdir -p papi
	gcc -shared -fPIC -o papi/libpapi.so "$T/counters/app-papi.c"
	config papi.json papi "EVENT_2 A EVENT_3 B NOT_AN_EVENT X EVENT_4 C"
	status_of 0 traced -q -c papi.json -- env LD_LIBRARY_PATH="$PWD/papi" "$BIN/hw" threads 3
	grep -q "Not counted, and 0 in the tables: NOT_AN_EVENT (this machine cannot count it)\." \
		hw_all.log
	for symbol in A B C; do
		is 180 "$(jq "[.stacks[] | select(.function == \"foo\") | .counters.$symbol] | add" \
			hw_all.json)"
	done
	is 0 "$(jq "[.stacks[].counters.X] | add" hw_all.json)"'

test_expect 'without PAPI the program runs, and the log says why' '
	: >papi/libpapi.so
	for n in .5 .6 .6.0 .7 .7.0 .7.1 .7.2; do : >"papi/libpapi.so$n"; done
	status_of 0 traced -q -c papi.json -- env LD_LIBRARY_PATH="$PWD/papi" "$BIN/hw" calls
	if ldconfig -p | grep -q "libpapi"; then
		grep -q "EVENT_2 (" hw_all.log
	else
		grep -q "EVENT_2 (there is no libpapi.so)" hw_all.log
	fi
	is 40 "$(calls_of hw_all.json "bar<foo<calls<main<init")"'

done_testing
