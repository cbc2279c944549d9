#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='stack samples by timers in the program, where the kernel allows none'
. "$(dirname "$0")/../lib/lib.sh"

need jq
build="$TEST_CC -O2 -fomit-frame-pointer"
$build -fno-pie -no-pie -o "$BIN/shares" "$T/stack/app-shares.c" -pthread -ldl || exit 1
$build -fpie -pie -rdynamic -o "$BIN/shares-pie" "$T/stack/app-shares.c" -pthread -ldl || exit 1
$build -shared -fPIC -o "$BIN/plugin.so" "$T/stack/app-shares-plugin.c" || exit 1
$build -D_GNU_SOURCE -o "$BIN/timer" "$T/stack/app-timer.c" -pthread || exit 1
$TEST_CC -O1 -DCALL=SYS_perf_event_open -o "$BIN/without-perf" "$T/lib/without-call.c" || exit 1
strip -o "$BIN/shares-stripped" "$BIN/shares"

sampled() { # HZ COMMAND...: standard output in `out', of errors in `err'
	test_hz=$1
	shift
	rm -f ./*_all.json ./*_all.log
	limit env ${late:+"LD_PRELOAD=$late"} "$BIN/without-perf" "$AGENT" --preload -k profile.sample="$test_hz" -- "$@" >out 2>err || return
	cat ./*_all.json >all.json
	has ./*_all.log "profile.sample: timers in the processes take the stack samples, as the kernel allows the agent none"
}

of_path() { # PATH: the object of this call path
	jq --arg p "$1" ".stacks[] | select((.path | gsub(\" < \"; \"<\")) == \$p)" all.json
}

samples() {
	jq "[.stacks[].samples // 0] | add" all.json
}

shares_hold() { # HZ: of each function that the program names, by its own clock
	jq -r ".stacks[] | \"\(.function) \(.t_incl_s)\"" all.json >got
	cat out
	awk -v period="$(awk -v hz="$1" "BEGIN { print 1 / hz / 1.0472 }")" -f "$T/stack/within.awk" out got
}

case $(uname -m) in
x86_64 | aarch64) ;;
*) skip_all 'stacks are sampled on x86-64 and aarch64 only' ;;
esac

test_expect 'shares of a program without frame pointers are those of its own clock' '
	sampled 50 "$BIN/shares" serial 1500
	shares_hold 50
	of_path "burn<much<around<serial<main<init" | jq -e ".calls == 0 and .estimated"'

test_expect 'and of one that is a PIE' '
	sampled 50 "$BIN/shares-pie" serial 1000
	shares_hold 50'

test_expect 'a stripped one has as many paths, with addresses in place of names' '
	sampled 50 "$BIN/shares-stripped" serial 1000
	is "[5,6]" "$(jq -c "[.stacks[] | select(.samples > 5) | .path | split(\"<\") | length] | unique" all.json)"
	hasnt all.json "callers not known"'

test_expect 'two threads, one of which records nothing' '
	sampled 50 "$BIN/shares" threads 1000
	shares_hold 50
	of_path "beside<init" | jq -e .estimated
	hasnt all.json "callers not known"'

test_expect 'a thread that goes on when the first one has ended' '
	sampled 50 "$BIN/shares" left 1000
	shares_hold 50'

cat >late-look.c <<-'END'
	#define _GNU_SOURCE
	#include <dirent.h>
	#include <dlfcn.h>
	#include <string.h>
	#include <unistd.h>
	DIR *opendir(const char *path)
	{
		DIR *(*next)(const char *) = (DIR *(*)(const char *))dlsym(RTLD_NEXT, "opendir");

		if (strstr(path, "/task"))
			usleep(1000000);
		return next(path);
	}
END
$TEST_CC -shared -fPIC -o "$BIN/late-look.so" late-look.c -ldl

test_expect 'the same where the agent looks at the process only then' '
	late=$BIN/late-look.so
	sampled 50 "$BIN/shares" left 1000
	shares_hold 50'
late=

test_expect 'a child of fork' '
	sampled 50 "$BIN/shares" fork 1000
	shares_hold 50
	jq -e ".processes | length == 2" all.json'

test_expect 'a library that is loaded while the program runs' '
	sampled 50 "$BIN/shares" serial 600 "$BIN/plugin.so"
	shares_hold 50
	of_path "burn<asked<asking<load<main<init" | jq -e ".samples > 10"'

test_expect 'a plug-in with libvftrace.a that is closed takes its timers with it' '
	cat >closes.c <<-END
		#include <dlfcn.h>
		#include <fcntl.h>
		#include <time.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			void *plug = dlopen("./timed.so", RTLD_NOW);
			void (*call)(int) = (void (*)(int))dlsym(plug, "plug");

			call(1);
			if (argc > 1) {
				close(open(argv[1], O_RDONLY)); /* until the agent is gone */
				call(4000000);
			}
			if (dlclose(plug) || dlopen("./timed.so", RTLD_NOW | RTLD_NOLOAD))
				return 1;
			for (const clock_t from = clock(); clock() - from < CLOCKS_PER_SEC / 10;)
				;
			return 0;
		}
	END
	$build -o closes closes.c -ldl
	cat >timed.c <<-END
		#include <vftrace.h>
		void plug(int n)
		{
			for (; n > 0; n--) {
				vftrace_region_begin("solve");
				vftrace_region_end("solve");
			}
		}
	END
	$build -I"$TOP/libhook" -shared -fPIC -o timed.so timed.c $(test_link :libvftrace.a) -ldl -pthread
	rm -f ./*_all.json ./*_all.log
	limit "$BIN/without-perf" "$AGENT" -k profile.sample=200 -- ./closes
	has closes_all.log "profile.sample: timers in the processes take the stack samples"
	is 1 "$(calls_of closes_all.json "solve<init")"'

test_expect 'also where the agent was killed before' '
	mkfifo gone
	limit "$BIN/without-perf" "$AGENT" -k profile.sample=200 -- sh -c \
		"status=0; ./closes gone || status=\$?; echo \$status >status" &
	job=$!
	exec 9>gone # the program waits
	kill -9 $(agent_pids)
	exec 9>&-
	wait_for 20 "[ -s status ]"
	wait $job || :
	is 0 "$(cat status)"'

test_expect 'of a large stack all functions are known' '
	sampled 100 "$BIN/shares" large 3000
	of_path "burn<large<main<init" | jq -e ".samples > 20"'

test_expect 'samples of a process that is killed are kept' '
	rm -f ./*_all.*
	status=0
	limit "$BIN/without-perf" "$AGENT" --preload -k profile.sample=50 -- "$BIN/timer" killed 1000 >out || status=$?
	is 137 "$status"
	cat ./*_all.json >all.json
	of_path "burn<spend<main<init" | jq -e ".samples > 30"'

for mpi in $(mpi_list_short); do
	"mpicc.$mpi" -O2 -o "$BIN/shares-$mpi" "$T/stack/app-shares-mpi.c" || exit 1
	test_expect "two ranks of $mpi: paths by samples, calls of MPI exactly" '
		sampled 50 $(mpirun_of $mpi) -np 2 "$BIN/shares-$mpi" 1200
		of_path "burn<much<main<init" | jq -e ".samples >= 10"
		is 2400 "$(json all.json ".mpi_functions[] | select(.function == \"MPI_Allreduce\") | .calls")"
		jq -e "[.stacks[] | select(.function | test(\"^MPI_\")) | select(.estimated)] == []" all.json'
done

unharmed() { # HOW ROUNDS HZ: prints the same, sampled or not
	"$BIN/timer" "$1" "$2" >plain 2>/dev/null
	sampled "$3" "$BIN/timer" "$1" "$2"
	diff plain out
}

test_expect 'a program with a handler of its own for the signal: no timer calls it, and the log tells' '
	unharmed handler 500 50
	is "timer 0" "$(head -1 out)"
	has timer_all.log "uses the signal SIGURG itself"
	[ "$(samples)" -gt 15 ]'

test_expect 'one whose handlers call what was there before: that is the default' '
	unharmed chained 300 50
	is "signal 1" "$(sed -n 2p out)"
	is "calls 2" "$(tail -1 out)"'

test_expect 'one with a descriptor of all signals' '
	unharmed descriptor 300 50
	is "others 0" "$(cat out)"
	has timer_all.log "uses the signal SIGURG itself"'

test_expect 'one that blocks all signals, and waits for them' '
	unharmed blocked 300 50
	is "waited -1" "$(head -1 out)"
	is "own 23" "$(tail -1 out)"'

test_expect 'one with a thread that waits for the signals of all' '
	unharmed waiter 300 50
	is "others 0" "$(tail -1 out)"'

test_expect 'one with a timer of its own' '
	unharmed profiled 500 50
	[ "$(samples)" -gt 15 ]'

test_expect 'one whose handler runs on an alternate stack: there is no end of it to be found' '
	unharmed alternate 500 100
	[ "$(samples)" -gt 30 ]'

test_expect 'one with an alternate stack that is too small for a signal' '
	unharmed tiny 300 100
	is "set 0" "$(cat out)"'

test_expect 'one on a stack that is empty, at the end of a page with nothing behind it' '
	unharmed empty 500 50
	is "empty 1" "$(cat out)"'

test_expect 'one whose child of vfork() sets what the signal does: it is sampled on' '
	unharmed reset 500 50
	hasnt timer_all.log "uses the signal SIGURG itself"
	[ "$(samples)" -gt 15 ]'

test_expect 'one on stacks of its own, with nothing behind them' '
	unharmed coroutine 500 200
	[ "$(samples)" -gt 60 ]'

test_expect 'calls that a signal ends, as poll() and select(), do not end by it' '
	sampled 400 "$BIN/timer" interrupts 300
	if [ "$(uname -m)" = x86_64 ]; then
		is 0 "$(awk "{ n += \$2 } END { print n }" out)"
	else
		is 8 "$(wc -l <out)"
	fi
	[ "$(samples)" -gt 200 ]'

test_expect 'a call that a signal of the program has ended is not made again' '
	unharmed worked 5 50
	is "ended 5" "$(cat out)"'

test_if '[ "$(uname -m)" = x86_64 ]' 'calls are made again on x86-64 only' \
	'a mask that lets the signal in for a call does not end it' '
	unharmed unmasked 600 50
	is "ended 0" "$(cat out)"
	[ "$(samples)" -gt 5 ]'

test_if '[ "$(uname -m)" = x86_64 ]' 'calls are made again on x86-64 only' \
	'nor by the signal of another process, which the program ignores' '
	unharmed urged 100 50
	is "ended 0" "$(cat out)"'

test_expect 'threads that come and go, some with little stack, leave no timers' '
	unharmed threads 500 200
	is "timers 1" "$(cat out)"
	[ "$(samples)" -gt 100 ]'

test_expect 'a program that becomes another one while a signal of its timer waits' '
	unharmed becomes 300 100
	jq -e ".processes | length >= 2" all.json'

test_expect 'many children of vfork()' '
	unharmed vforks 100 100
	is "calls 100" "$(cat out)"'

test_expect 'one that permits itself no call of the system but read() and write()' '
	unharmed strict 300 200
	is "strict 1" "$(head -1 out)"
	is "status 0" "$(tail -1 out)"
	[ "$(samples)" -gt 30 ]'

test_expect 'profile.sample_by=timer: the same where the kernel would allow more' '
	rm -f ./*_all.*
	limit "$AGENT" --preload -k profile.sample=50 -k profile.sample_by=timer -- "$BIN/shares" serial 1000 >out
	cat ./*_all.json >all.json
	has shares_all.log "timers in the processes take the stack samples, as profile.sample_by says"
	shares_hold 50'

test_expect 'by itself it is 20 Hz for a program that is not instrumented, and no timer for one that is' '
	rm -f ./*_all.*
	limit "$BIN/without-perf" "$AGENT" --preload -- "$BIN/shares" serial 1000 >out
	cat ./*_all.json >all.json
	shares_hold 20
	$TEST_CC -O2 -finstrument-functions -D_GNU_SOURCE -o "$BIN/timer-hooked" "$T/stack/app-timer.c" -pthread
	limit "$BIN/without-perf" "$AGENT" --preload -- "$BIN/timer-hooked" threads 100 >out
	hasnt timer-hooked_all.log "stack samples"'

done_testing
