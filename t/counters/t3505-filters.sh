#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='filter.only, filter.not and filter.depth: what is recorded'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$VFTR" "$LIB/libvftrace.so"

cc_traced "$BIN/filter" "$T/counters/app-filter.c" -pthread -g ||
	skip_all 'app-filter.c cannot be compiled'

# filtered OPTION... -- ARGUMENT...: in out/
filtered() {
	filtered_options=
	while [ "$1" != -- ]; do
		filtered_options="$filtered_options '$1'"
		shift
	done
	shift
	rm -rf out
	eval "limit \"\$VFTR\" run -q -o out $filtered_options -- \"\$BIN/filter\"" '"$@"'
}

# stacks [PATTERN]: "CALLS PATH" of all, or of those that match
stacks() {
	jq -r '.stacks[] | select(.calls > 0) | "\(.calls) \(.path | gsub(" < "; "<"))"' out/profile.json |
		LC_ALL=C sort -k2 | grep -e "${1-.}" | tr '\n' ' '
}

test_expect 'without a filter all calls are there' '
	filtered -- 10
	is "10 inner<step<main<init 1 leaf<main<init 10 leaf<phase<inner<step<main<init 1 leaf<setup<main<init 10 leaf<step<main<init 1 main<init 10 phase<inner<step<main<init 1 setup<main<init 10 step<main<init " "$(stacks)"'

test_expect '-F: a function and what it calls, below init, and regions outside of it' '
	filtered -F inner -- 10
	is "10 inner<init 10 leaf<phase<inner<init 10 phase<inner<init " "$(stacks)"
	exclusive_sums_up out/profile.json
	filtered -F setup -- 10
	is "1 leaf<setup<init 10 phase<init 1 setup<init " "$(stacks)"'

test_expect '-F of a region: functions that are called in it' '
	filtered -F phase -- 10
	is "10 leaf<phase<init 10 phase<init " "$(stacks)"'

test_expect '-N: neither a function nor those that it calls; their time is that of the caller' '
	filtered -N inner -- 10
	is "1 leaf<main<init 1 leaf<setup<main<init 10 leaf<step<main<init 1 main<init 10 phase<step<main<init 1 setup<main<init 10 step<main<init " "$(stacks)"
	exclusive_sums_up out/profile.json
	filtered -N main -- 10
	is "10 phase<init " "$(stacks)"
	exclusive_sums_up out/profile.json'

test_expect 'both, several times, with shell patterns; -N wins within -F' '
	filtered -F step -F "set*" -N "[ip]*n*e*" -- 10
	is "1 leaf<setup<init 10 leaf<step<init 10 phase<step<init 1 setup<init 10 step<init " "$(stacks)"
	filtered -F "s[!e]*,x" -F inner -N "ph?se" -- 5
	is "5 inner<init " "$(stacks)"
	has out/summary.log "filter.only: no function or region that was called fits \"s[!e]*\\,x\""'

test_expect 'file:NAME: functions of a source file, by its name or the end of its path' '
	filtered -F file:app-filter.c -N setup -- 10
	is "1 leaf<main<init 10 leaf<phase<inner<step<main<init 10 leaf<step<main<init " "$(stacks "leaf")"
	filtered -N "file:counters/app-*.c" -- 10
	is "10 phase<init " "$(stacks)"
	filtered -N "file:filter.c" -- 10
	is "1 main<init " "$(stacks "^1 main")"'

test_expect '--depth: no deeper, regions stay, and recursion is no depth' '
	filtered --depth 2 -- 10
	is "1 leaf<main<init 1 main<init 10 phase<step<main<init 1 setup<main<init 10 step<main<init " "$(stacks)"
	exclusive_sums_up out/profile.json
	filtered --depth 1 -F step -- 10
	is "10 phase<step<init 10 step<init " "$(stacks)"'

test_expect 'what is too deep stays so with a budget, which switches off no function that calls it' '
	filtered --depth 2 -k overhead.budget_percent=0.01 -k overhead.count_tiny=0.01 -- 3000000
	is "1 main<init 3000000 phase<step<main<init 1 setup<main<init 3000000 step<main<init " "$(stacks "[^f]<main\|^1 main")"
	is "" "$(stacks "inner")"'

test_expect 'functions that call themselves by way of others' '
	filtered -N up -- 1 recurse 20
	is "1 down<main<init " "$(stacks "down\| up<")"
	filtered -F up -- 1 recurse 3
	is "1 down<up<down<up<down<up<init 1 down<up<down<up<init 1 down<up<init 1 leaf<down<up<down<up<down<up<init 1 up<down<up<down<up<init 1 up<down<up<init 1 up<init " "$(stacks "up")"'

test_expect 'longjmp() out of a function that is not recorded, across it, and into it' '
	filtered -N far -- 1 jump 7
	is "7 inside<leave<main<init 7 leaf<leave<main<init 1 leave<main<init " "$(stacks "leave")"
	filtered -N inside -- 1 jump 7
	is "7 leaf<leave<main<init 1 leave<main<init " "$(stacks "leave")"
	filtered -N leave -- 1 jump 7
	is "1 leaf<main<init 1 leaf<setup<main<init 1 leaf<step<main<init " "$(stacks "leaf<[^p]")"'

test_expect 'a child of fork() begins as its parent was, hidden or not' '
	filtered -N making -- 3 fork
	is "3 phase<forking<main<init 3 phase<inner<step<main<init 3 phase<inner<step<work<forking<main<init " "$(stacks " phase<")"
	jq "del(.configuration)" out/profile.json >but-configuration
	hasnt but-configuration making
	filtered -F making -- 3 fork
	is "1 making<init 1 work<making<init " "$(stacks "^1 ")"
	is "6 phase<init 3 phase<inner<step<work<making<init " "$(stacks " phase")"'

test_expect 'threads, all alike' '
	filtered -F work -- 100 threads 8
	is "800 inner<step<work<init 800 leaf<phase<inner<step<work<init 800 leaf<step<work<init 100 phase<init 800 phase<inner<step<work<init 800 step<work<init 8 work<init " "$(stacks)"'

test_expect 'by keys of the configuration, of the agent too' '
	rm -f filter_all.json
	printf "%s\n" "{\"filter\": {\"only\": \"step\", \"not\": \"leaf,ph*\", \"depth\": 2}}" >c.json
	traced -q -c c.json -- "$BIN/filter" 10
	is "10 inner<step<init 10 step<init" "$(jq -r ".stacks[] | select(.calls > 0) |
		\"\(.calls) \(.path | gsub(\" < \"; \"<\"))\"" filter_all.json | sort -k2 | paste -sd " ")"'

test_expect 'the time line has the same calls, each with its end' '
	filtered --trace -N inner -F main -- 20 jump 3 threads 4
	"$VFTR" export out -f chrome -o x.json
	jq -r ".traceEvents[] | select(.ph == \"B\") | .name" x.json | sort | uniq -c | sed "s/^ *//" >begun
	jq -r ".traceEvents[] | select(.ph == \"E\") | .name" x.json | sort | uniq -c | sed "s/^ *//" >ended
	cmp begun ended
	jq -r "[.stacks[] | select(.calls > 0)] | group_by(.function)[] |
		\"\(map(.calls) | add) \(.[0].function)\"" out/profile.json | sort >wanted
	sort begun | diff -U0 wanted -
	hasnt begun inner
	has begun "100 phase"'

test_expect '--time-filter: short calls are not in the time line, and no call is missing in the profile' '
	printf "%s\n" "#include <time.h>" "#include \"vftrace.h\"" \
		"static void wait_ms(long ms) { struct timespec t = {0, ms * 1000000}; nanosleep(&t, 0); }" \
		"void tiny(void) { volatile int i = 0; i++; }" \
		"void marked(void) { vftrace_region_begin(\"mark\"); vftrace_region_end(\"mark\"); }" \
		"void lasting(void) { for (int i = 0; i < 50; i++) tiny(); wait_ms(60); tiny(); }" \
		"int main(void) { for (int i = 0; i < 3; i++) { lasting(); tiny(); marked(); } return 0; }" >time.c
	cc_traced "$BIN/time" time.c -finstrument-functions-exclude-function-list=wait_ms
	rm -rf out
	limit "$VFTR" run -q -o out --trace --time-filter 50ms -- "$BIN/time"
	is "3 lasting<main<init 1 main<init 3 mark<marked<main<init 3 marked<main<init 153 tiny<lasting<main<init 3 tiny<main<init " "$(stacks)"
	"$VFTR" export out -f chrome -o x.json 2>err
	has err "156 calls are not in the time line: too short for --time-filter"
	is "3 lasting 1 main 3 mark 3 marked" "$(jq -r ".traceEvents[] | select(.ph == \"B\") | .name" x.json |
		sort | uniq -c | sed "s/^ *//" | paste -sd " ")"
	is 10 "$(jq "[.traceEvents[] | select(.ph == \"E\")] | length" x.json)"
	"$VFTR" dump out/*.vfd >dumped
	has dumped "156 calls left out, as they were short"
	refuse "$VFTR" run --time-filter soon -- "$BIN/time" 2>err
	has err "--time-filter: \"soon\" is not a time"'

printf "%s\n" "#include <stdlib.h>" "void leaf(void) { volatile int i = 0; i++; }" \
	"void inner(void) { leaf(); leaf(); }" \
	"void solve(void) {" "#pragma omp parallel num_threads(4)" "{ inner();" "#pragma omp barrier" "inner(); }" "leaf(); }" \
	"void other(void) {" "#pragma omp parallel num_threads(4)" "inner(); }" \
	"int main(int argc, char **argv) { for (int i = 0; i < atoi(argv[1]); i++) { solve(); other(); }" "return argc == 1; }" >omp.c
omp_stacks() { # FUNCTION OPTION...
	rm -rf out
	omp_function=$1
	shift
	limit "$VFTR" run -q -o out "$@" -- "$BIN/omp" 200 || return 1
	jq -r --arg f "$omp_function" '.stacks[] | select(.calls > 0 and .function == $f) |
		"\(.calls) \(.path | gsub(" < "; "<") | gsub("@[^<]*"; ""))"' out/profile.json |
		LC_ALL=C sort -k2 | paste -sd " "
}
test_if 'cc_traced "$BIN/omp" omp.c -fopenmp' 'no OpenMP' 'threads of a team are where its region is: hidden with it, or recorded' '
	export OMP_WAIT_POLICY=passive
	is "800 inner<omp_parallel<other<main<init" "$(omp_stacks inner -N solve)"
	is "1600 leaf<inner<omp_parallel<other<main<init" "$(omp_stacks leaf -N solve)"
	is "800 omp_barrier<omp_parallel<main<init" "$(omp_stacks "omp_barrier@omp.c:7" -N solve)"
	is "1600 inner<omp_parallel<solve<init" "$(omp_stacks inner -F solve)"
	is "3200 leaf<inner<omp_parallel<solve<init 200 leaf<solve<init" "$(omp_stacks leaf -F solve)"
	is "800 inner<omp_parallel<other<main<init 1600 inner<omp_parallel<solve<main<init" "$(omp_stacks inner --depth 3)"
	is "200 leaf<solve<main<init" "$(omp_stacks leaf --depth 3)"'

test_if 'cxx_traced "$BIN/cxx" "$T/counters/app-filter-cxx.cpp"' 'no C++' 'C++: names short, in full and with patterns; exceptions through what is not recorded' '
	cxx() {
		rm -rf out
		limit "$VFTR" run -q -k output.names=full -o out "$@" -- "$BIN/cxx"
		calls=$(jq -r "[.stacks[] | select(.calls > 0)] | group_by(.function) |
			map(\"\(map(.calls) | add) \(.[0].function)\") | join(\"|\")" out/profile.json)
	}
	cxx
	is "15 check(int)|10 kernel::add(double)|10 kernel::add(int)|1 main|10 run(int)|10 void solver::advance<double>(int)|5 void solver::advance<int>(int)" "$calls"
	cxx -F "kernel::add(int)"
	is "10 kernel::add(int)" "$calls"
	cxx -N "solver::advance" -N kernel::add
	is "1 main|10 run(int)" "$calls"
	cxx -N "*<double>*" -N check
	is "10 kernel::add(int)|1 main|10 run(int)|5 void solver::advance<int>(int)" "$calls"
	cxx -F "_ZN6kernel3addEd"
	is "10 kernel::add(double)" "$calls"'

test_expect 'stacks stay right while vftr top switches functions at random under 8 threads' '
	mkdir flips
	VFTR_SESSION=flips timeout -k 5 300 "$AGENT" -q -o "$PWD/flips" -k filter.not=inner -k filter.only=work -- \
		"$BIN/filter" 100 until "$PWD/flips/end" >flips/steps &
	agent=$!
	wait_for 30 "limit $VFTR top -s flips -1j >once && jq -e \"any(.paths[]; .path | startswith(\\\"leaf\\\"))\" once"
	for flip in off:step off:leaf on:step on:leaf off:step on:step; do
		# where agents are slow to answer, it is done nevertheless
		limit "$VFTR" top -s flips --${flip%:*} ${flip#*:} >said 2>&1 || has said "not all nodes have answered"
	done
	touch flips/end
	wait $agent
	mv flips/filter_all.json flips/profile.json
	rm -rf out
	mv flips out
	steps=$(cat out/steps)
	jq -e "[.switched_off[] | select(.function == \"step\" or .function == \"leaf\") | .calls > 0] |
		length == 2 and all" out/profile.json
	is "$steps" $((100 * $(stacks "^[0-9]* work<init" | cut -d " " -f 1)))
	is "$steps" $(($(jq "[.stacks[] | select(.function == \"step\") | .calls] | add" out/profile.json) +
		$(jq "[.switched_off[] | select(.function == \"step\") | .calls] | add" out/profile.json)))
	is "$((steps + 100))" "$(jq "[.stacks[] | select(.function == \"phase\") | .calls] | add" out/profile.json)"
	# a frame of step() that stayed open would have the phases of later calls, which are off
	is "$(stacks "^[0-9]* step<work<init" | cut -d " " -f 1)" \
		"$(stacks "^[0-9]* phase<step<work<init" | cut -d " " -f 1)"
	is "" "$(stacks | tr " " "\n" | grep "<" | grep -v -E "^((leaf|phase)<)?(step<)?work<init$|^phase<init$")"'

test_expect 'a name that nothing has is told at the end, and no other' '
	rm -rf out
	limit "$VFTR" run -o out -F step -N stpe -N inner -- "$BIN/filter" 3 2>err
	is 1 "$(grep -c "filter\\.not: no function or region that was called fits \"stpe\"" err)"
	is 1 "$(grep -c "filter\\." err)"
	rm -rf out
	limit "$VFTR" run -o out -N MPI_Barrier -- "$BIN/filter" 3 2>err
	has err "filter.not: \"MPI_Barrier\" fits functions of MPI only, which are always recorded"'

test_expect 'patterns that are none are refused with their text' '
	for p in "" "a[b" "file:" "x\\"; do
		refuse "$VFTR" run -N "$p" -- "$BIN/filter" 1 2>err
		has err "--not"
		has err "\"$p\""
	done
	refuse "$VFTR" run --depth -1 -- "$BIN/filter" 1 2>err
	has err "--depth: -1 is not"'

# Calls of each MPI function, whatever called it
mpi_calls() {
	jq -r '[.stacks[] | select(.function | startswith("MPI_"))] | group_by(.function)[] |
		"\(.[0].function) \(map(.calls) | add)"' out/profile.json
}

for mpi in $(mpi_list_short); do
	test_expect "calls of MPI and their messages stay, below what is recorded: $mpi" '
		mpicc_traced "$mpi" "$BIN/heat" "$T/demo/heat.c"
		heat="$(mpirun_of "$mpi") -np 2 $BIN/heat 64 64 20"
		rm -rf out
		limit "$VFTR" run -q -o out -- $heat >/dev/null
		mpi_calls >all
		jq -c "[.communication_matrix, .message_sizes]" out/profile.json >sent
		grep -q "[1-9]" sent
		for filter in "-N *" "-F exchange*" "--depth 1"; do
			rm -rf out
			set -f
			limit "$VFTR" run -q -o out $filter -- $heat >/dev/null
			set +f
			mpi_calls >got
			diff -U0 all got
			jq -c "[.communication_matrix, .message_sizes]" out/profile.json | cmp - sent
		done
		jq -e "[.stacks[] | select(.calls > 0) | .path | gsub(\" < \"; \"<\") |
			select(test(\"^(MPI_[A-Za-z_]*<)?main<init\$\") | not)] == []" out/profile.json'
done

done_testing
