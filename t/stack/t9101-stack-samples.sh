#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='stack samples: call paths of programs that are not instrumented'
. "$(dirname "$0")/../lib/lib.sh"

need jq
build="$TEST_CC -O2 -fomit-frame-pointer"
"$T/lib/cached" $build -fno-pie -no-pie -o "$BIN/shares" "$T/stack/app-shares.c" -pthread -ldl || exit 1
"$T/lib/cached" $build -fpie -pie -rdynamic -o "$BIN/shares-pie" "$T/stack/app-shares.c" -pthread -ldl || exit 1
$build -shared -fPIC -o "$BIN/plugin.so" "$T/stack/app-shares-plugin.c" || exit 1
strip -o "$BIN/shares-stripped" "$BIN/shares"

sampled() { # HZ COMMAND...: with profile.sample, standard output in `out'
	test_hz=$1
	shift
	rm -f ./*_all.json
	traced --preload -k profile.sample="$test_hz" -- "$@" >out || return 1
	mv ./*_all.json all.json
}

# where the kernel allows none there is nothing to see: the last case is about that
allowed=yes
sampled 50 "$BIN/shares" serial 20 || exit 1
grep -q "the kernel allows no stack samples" ./*_all.log && allowed=

of_path() { # PATH: the object of this call path
	jq --arg p "$1" ".stacks[] | select((.path | gsub(\" < \"; \"<\")) == \$p)" all.json
}

# Seconds of each function that the program names, by samples: all paths that end in it
by_function() {
	jq -r ".stacks[] | \"\(.function) \(.t_incl_s)\"" all.json
}

shares_hold() { # HZ
	by_function >got
	cat out
	awk -v period="$(awk -v hz="$1" "BEGIN { print 1 / hz / 1.0472 }")" -f "$T/stack/within.awk" out got
}

may='[ "$allowed" ]'
why='the kernel allows no perf events here'

test_if "$may" "$why" 'shares of a program without frame pointers are those of its own clock' '
	sampled 200 "$BIN/shares" serial 375
	shares_hold 200
	of_path "burn<much<around<serial<main<init" | jq -e ".calls == 0 and .estimated"'

test_if "$may" "$why" 'and of one that is a PIE' '
	sampled 200 "$BIN/shares-pie" serial 375
	shares_hold 200'

test_if "$may" "$why" 'flame graphs of it say that their times are estimates' '
	estimates=$(jq "[.stacks[] | select(.estimated)] | length" all.json)
	[ "$estimates" -gt 3 ]
	"$VFTR" export shares-pie_*.vfp -f folded -o flame 2>err
	has err "wrote flame (times of $(jq ".stacks | length" all.json) call paths, $estimates of them estimates)"
	"$VFTR" export shares-pie_*.vfp -f speedscope -o - | jq -e ".profiles[0].name | test(\"times, estimated in part\")"'

test_if "$may" "$why" 'a stripped one has as many paths, with addresses in place of names' '
	sampled 200 "$BIN/shares" serial 375
	jq -r "[.stacks[] | select(.samples > 5) | .path | split(\"<\") | length] | unique" all.json >named
	sampled 200 "$BIN/shares-stripped" serial 375
	jq -r "[.stacks[] | select(.samples > 5) | .path | split(\"<\") | length] | unique" all.json >stripped
	is "[5,6]" "$(tr -d " \n" <named)"
	diff named stripped
	jq -e "[.stacks[] | select(.function | test(\"^shares-stripped\\\\+0x\"))] | length > 3" all.json
	hasnt all.json "callers not known"'

test_if "$may" "$why" 'two threads, one of which records nothing and ends first' '
	sampled 200 "$BIN/shares" threads 375
	shares_hold 200
	of_path "beside<init" | jq -e .estimated'

test_if "$may" "$why" 'a thread that goes on when the first one has ended' '
	sampled 200 "$BIN/shares" left 375
	shares_hold 200
	of_path "beside<init" | jq -e .estimated'

test_if "$may" "$why" 'more threads than there are descriptors for: some are sampled, and the log says it' '
	(ulimit -n 64; sampled 50 "$BIN/shares" crowd 25)
	is 60 "$(wc -l <out)"
	has shares_all.log "maybe more, has no stack samples: Too many open files"
	hasnt shares_all.log "the kernel allows no stack samples"
	of_path "beside<init" | jq -e .estimated'

test_if "$may" "$why" 'a child of fork' '
	sampled 200 "$BIN/shares" fork 375
	shares_hold 200
	jq -e ".processes | length == 2" all.json'

test_if "$may" "$why" 'a library that is loaded while the program runs' '
	sampled 200 "$BIN/shares" serial 250 "$BIN/plugin.so"
	shares_hold 200
	of_path "plugged<load<main<init" | jq -e .estimated
	of_path "burn<asked<asking<load<main<init" | jq -e ".samples > 20"
	jq -e "[.stacks[] | select(.path | test(\"not known\")) | .samples] | add // 0 | . <= 10" all.json'

test_if "$may" "$why" 'of a stack larger than a sample the innermost functions are known, then all' '
	sampled 400 "$BIN/shares" large 750
	of_path "burn<large<(callers not known)<init" | jq -e ".samples >= 3"
	of_path "burn<large<main<init" | jq -e ".samples > 20"'

test_if "$may" "$why" 'no sample is lost, and each stack is whole' '
	sampled 100 "$BIN/shares" threads 500
	hasnt ./*_all.log "stack samples are missing"
	hasnt all.json "callers not known"'

for mpi in $(mpi_list_short); do
	"$T/lib/cached" "mpicc.$mpi" -O2 -o "$BIN/shares-$mpi" "$T/stack/app-shares-mpi.c" || exit 1
	test_if "$may" "$why" "two ranks of $mpi: paths by samples, calls of MPI exactly" '
		sampled 200 $(mpirun_of $mpi) -np 2 "$BIN/shares-$mpi" 300
		shares_hold 200
		is 600 "$(json all.json ".mpi_functions[] | select(.function == \"MPI_Allreduce\") | .calls")"
		jq -e "[.stacks[] | select(.function | test(\"^MPI_\")) | select(.estimated)] == []" all.json
		jq -e "[.stacks[] | select(.function == \"much\" and .calls > 0)] == []" all.json'
done

by_itself() { # [OPTION...] -- COMMAND...: as `sampled' without a rate
	rm -f ./*_all.json ./*_all.log
	limit "$AGENT" --preload "$@" >out 2>err || return 1
	mv ./*_all.json all.json
}

"$T/lib/cached" $TEST_CC -O2 -finstrument-functions -o "$BIN/shares-hooked" "$T/stack/app-shares.c" -pthread -ldl &&
	$TEST_CC -O2 -shared -fPIC -finstrument-functions -o "$BIN/plugin-hooked.so" \
		"$T/stack/app-shares-plugin.c" &&
	$TEST_CC -O2 -o "$BIN/shares-beside" "$T/stack/app-shares.c" -pthread -ldl \
		-Wl,--no-as-needed "$BIN/plugin-hooked.so" || exit 1

test_if "$may" "$why" 'without the key a program that is not instrumented is sampled at 20 Hz' '
	by_itself -- "$BIN/shares" serial 1500
	is auto "$("$VFTR" config default | jq -r .profile.sample)"
	shares_hold 20
	of_path "burn<much<around<serial<main<init" | jq -e .estimated'

test_expect 'one with instrumented functions is not, be they in a library of it' '
	for program in shares-hooked shares-beside; do
		by_itself -- "$BIN/$program" serial 200 "$BIN/plugin-hooked.so"
		is "" "$(jq ".stacks[] | select(.estimated or .samples)" all.json)"
	done
	jq -e ".stacks[] | select(.function == \"plugged\" and .calls > 0)" all.json'

test_if "$may" "$why" 'but so it is by a rate, beside its exact calls' '
	by_itself -k profile.sample=200 -- "$BIN/shares-beside" serial 200 "$BIN/plugin-hooked.so"
	of_path "burn<much<around<serial<main<init" | jq -e .estimated
	is 400 "$(jq "[.stacks[] | select(.function == \"plugged\") | .calls] | add" all.json)"'

test_if "$may" "$why" 'a program that a script starts is sampled if it records something' '
	printf "%s\n" "#!/bin/sh" "true" "$BIN/shares serial 10" "exit 7" >script
	chmod +x script
	limit "$AGENT" --preload -- ./script >out 2>err || status=$?
	is 7 "$status"
	has err "no process of ./script was traced"
	status=0
	limit "$AGENT" --preload -k profile.sample=20 -- ./script >out 2>err || status=$?
	is 7 "$status"
	rm -f ./*_all.json'

test_expect 'with 0 there are no samples, and the program does not come before its events' '
	rm -f ./*_all.json
	limit "$AGENT" --preload -k profile.sample=0 -- "$BIN/shares" serial 10 >out 2>err || true
	has err "no process of"
	[ ! -e shares_all.json ]'

# agent_with NAME OPTION...: $agent, with another share of a CPU for samples, or other times
agent_with() {
	agent=$BIN/$1/bin/vftr-node-agent
	shift
	mkdir -p "${agent%/*}" && ln -s "$LIB" "${agent%/bin/*}/lib" &&
		$TEST_CC -std=gnu11 -D_GNU_SOURCE= -O1 -I"$TOP" -I"$BUILD/gen" -DVFTR_VERSION="\"test\"" \
			"$@" -o "$agent" \
			"$TOP/nodeagent/agent/main.c" "$TOP/nodeagent/stack/stack.c" "$BUILD/core.a" \
			$SANITIZE $AGENT_LIBS -rdynamic || exit 1
}

test_if "$may" "$why" 'an agent that takes too much time takes fewer samples, which count for more' '
	agent_with sparing -DSTACK_SHARE=0.00001
	rm -f ./*_all.json
	limit "$agent" --preload -k profile.sample=400 -- "$BIN/shares" serial 5000 >out
	has shares_all.log "stack samples took more than 0.001 % of a CPU, so from now on there are"
	mv shares_all.json all.json
	by_function >got
	awk "FNR == NR { known += \$2; names[\$1]; next } \$1 in names { got += \$2 }
		END { print got, known; exit !(got > 0.8 * known && got < 1.2 * known) }" out got'

test_if "$may" "$why" 'many children that end at once do not make the samples fewer' '
	agent_with soon -DWINDOW_NS=500000000u # half a second, not 2 s
	for children in 40 160 640 2500 10000; do # a second of them, so that it looks twice
		rm -f ./*_all.*
		limit "$agent" -q --preload -k profile.sample=20 -- "$BIN/shares" children $children >out
		[ "$(json shares_all.json .runtime_s | sed "s/[.].*//")" = 0 ] || break
	done
	[ "$(json shares_all.json .runtime_s | sed "s/[.].*//")" -ge 1 ]
	hasnt shares_all.log "from now on there are"'

"$T/lib/cached" $TEST_CC -O1 -DCALL=SYS_perf_event_open -o "$BIN/without-perf" "$T/lib/without-call.c" || exit 1

test_expect 'where the kernel refuses, the log and doctor say so, and the profile is as without' '
	rm -f ./*_all.json
	limit "$BIN/without-perf" "$AGENT" --preload -k profile.sample=20 -k profile.sample_by=perf -- \
		"$BIN/shares" serial 10 >out
	is 3 "$(wc -l <out)"
	has shares_all.log "profile.sample: the kernel allows no stack samples (perf_event_open: Operation not permitted"
	is init "$(json shares_all.json ".stacks[].path")"
	limit "$BIN/without-perf" "$VFTR" doctor "$BIN/shares" >said || true
	has said "the kernel allows no stack samples (perf_event_open: Operation not permitted"
	has said "with profile.sample_by=auto timers in the program take them"
	limit "$VFTR" doctor "$BIN/shares" >said || true
	[ ! "$allowed" ] || hasnt said "allows no stack samples"'

test_expect 'where it refuses what nobody has asked for, one line of the log says so, and nothing else' '
	rm -f ./*_all.json ./*_all.log
	limit "$BIN/without-perf" "$AGENT" --preload -k profile.sample_by=perf -- "$BIN/shares" serial 10 >out 2>err
	is 3 "$(wc -l <out)"
	is "vftr-node-agent: profile: $PWD/shares_all.log" "$(cat err)"
	is 1 "$(grep -c "stack samples" shares_all.log)"
	is init "$(json shares_all.json ".stacks[].path")"'

done_testing
