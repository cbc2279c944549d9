#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# No run destroys the results of another one: in folders of vftr run, and under Vftrace's names.
test_description='results stay: a folder for each run, or NAME.old'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$VFTR"
cc_traced "$BIN/end" "$T/hook/app-end.c"
cc_traced "$BIN/other" "$T/hook/app-end.c"
cat >times.c <<'END'
#include <stdlib.h>
__attribute__((noinline)) static void leaf(void) { __asm__ volatile(""); }
int main(int argc, char **argv)
{
	for (int i = atoi(argv[argc - 1]); i > 0; i--)
		leaf();
	return 0;
}
END
cc_traced "$BIN/times" times.c || exit 1

# how many runs there are in one folder, and how many of these end at once
runs=40 at_once=10
[ -z "$VFTR_LONG" ] || runs=100 at_once=20

# all_calls PATH JSON...: calls of it in each
all_calls() {
	all_path=$1
	shift
	jq -r --arg p "$all_path" '[.stacks[] | select((.path | gsub(" < "; "<")) == $p) | .calls] | add // 0' "$@"
}

# one_of_many I: of $runs, every fourth one is killed at some moment
one_of_many() {
	if [ $(($1 % 4)) = 0 ]; then
		{ limit "$VFTR" run -q -- "$BIN/end" counted 30 "$PWD/count.$1" & } 2>/dev/null
		me=$!
		wait_for 30 "[ -s count.$1 ]"
		sleep "0.0$(shuf -i 0-99 -n 1)"
		pkill -9 -xf "$BIN/end counted 30 $PWD/count.$1"
		wait $me && me=0 || me=$?
		echo $me >status.$1
	else
		limit "$VFTR" run -q -- "$BIN/times" "$1"
		echo "$?" >status.$1
	fi
}

test_expect "$runs runs in one folder, 8 at once, some killed: $runs complete results" '
	mkdir many && cd many
	for first in $(seq 1 8 $runs); do
		for i in $(seq $first $((first + 7))); do
			[ $i -gt $runs ] || one_of_many $i &
		done
		wait
	done
	is $runs "$(ls -d vftr-*-2* | wc -l)" folders
	is $((3 * runs / 4)) "$(cat status.* | grep -cx 0)" "runs that ended well"
	is $((runs / 4)) "$(cat status.* | grep -cx 137)" "runs that were killed"
	# of those that ended well each number of calls is there once
	all_calls "leaf<main<init" vftr-times-2*/profile.json | sort -n >got
	seq $runs | awk "\$1 % 4" >wanted
	cmp wanted got
	all_calls "leaf<end_counted<main<init" vftr-end-2*/profile.json | sort -n >got
	for i in $(seq 4 4 $runs); do
		number_in count.$i
	done | sort -n >wanted
	# the program counts before it calls
	paste wanted got | awk "{ if (\$1 != \$2 && \$1 != \$2 + 1) { print; bad = 1 } } END { exit bad || NR != $runs / 4 }"
	is "" "$(find . -name "*.tmp*")" "files left"'

test_expect 'under the names of Vftrace what an earlier run has left becomes .old, .old2 ...' '
	mkdir old && cd old
	for i in 1 2 3; do
		traced -q -k sampling.active=true -k sampling.sample_interval=0 -k logfile_for_ranks=all -- \
			"$BIN/times" $i
	done
	is "1 2 3" "$(for f in times_all.json.old times_all.json.old2 times_all.json; do
		calls_of $f "leaf<main<init"; done | xargs)"
	is "6 6 6" "$(ls | grep -c "[.]old\$") $(ls | grep -c "[.]old2\$") $(ls | grep -vc old)" \
		"files of each run"
	for n in "" .old .old2; do
		cp times_$(hostname | cut -d. -f1).vfd$n one.vfd
		is "$(json times_all.json$n .run)" "$("$VFTR" dump -j one.vfd | jq -r .run)" "run of the .vfd"
	done'

test_expect 'tools do not read what is old' '
	cd old
	"$VFTR" collate . >out
	has out "times_all.log: 1 node profile"
	is 3 "$(calls_of times_all.json "leaf<main<init")"
	rm one.vfd
	"$VFTR" export . --format folded -o - | grep -q leaf
	"$VFTR" diff . . >out'

test_expect 'another name beside it, and files that are no results, are left alone' '
	cd old
	echo mine >times_notes.txt
	echo mine >times.log
	cp times_all.json kept
	traced -q -- "$BIN/other" return
	cmp kept times_all.json
	traced -q -- "$BIN/times" 4
	cmp kept times_all.json.old3
	is "mine mine" "$(cat times_notes.txt times.log | xargs)"'

test_expect 'the same run replaces its own files' '
	mkdir again && cd again
	traced -q -k agent.write_every_s=0.1 -- "$BIN/end" counted 1 count
	is "" "$(ls | grep old)"
	is "$(number_in count)" "$(calls_of end_all.json "leaf<end_counted<main<init")"'

test_expect 'a log without a profile beside it is kept, too, if it is older' '
	mkdir alone && cd alone
	echo log >times_all.log
	echo rank >times_3.log
	touch -d "1 hour ago" times_*
	traced -q -- "$BIN/times" 5
	is "log rank" "$(cat times_all.log.old times_3.log.old | xargs)"'

test_expect "$at_once runs that end at once in one folder: $at_once sets, each of one run" '
	mkdir once && cd once
	for i in $(seq $at_once); do
		traced -q -k sampling.active=true -- "$BIN/times" $i &
	done
	wait
	is $at_once "$(ls times_all.json* | wc -l)"
	all_calls "leaf<main<init" times_all.json* >got
	host=$(hostname | cut -d. -f1)
	for f in times_all.json*; do
		n=${f#times_all.json}
		cp times_$host.vfd$n one.vfd
		cp times_$host.vfp$n one.vfp
		is "$(json $f .run)" "$("$VFTR" dump -j one.vfd | jq -r .run)" "run of the .vfd$n"
		is "1 call" "$("$VFTR" diff one.vfp one.vfp | grep -c leaf) call"
		[ -s times_all.log$n ]
		[ -s times_node_$host.log$n ]
	done
	seq $at_once >wanted
	sort -n got | cmp - wanted'

# beside MORE...: two agents beside two programs, in one folder at once: 40 calls and 31
beside() {
	cat >slow.c <<-END
	#include <stdlib.h>
	#include <unistd.h>
	__attribute__((noinline)) static void leaf(void) { usleep(20000); }
	int main(int argc, char **argv)
	{
		for (int i = atoi(argv[argc - 1]); i > 0; i--)
			leaf();
		return 0;
	}
	END
	cc_traced slow slow.c || return 1
	for s in one two; do
		limit "$AGENT" -q -s $s-$$ -k logfile_for_ranks=all "$@" &
		wait_for 20 "[ -S \"$VFTR_RUNTIME_DIR/$s-$$.sock\" ]" || return 1
	done
	VFTR_SESSION=one-$$ ./slow 40 &
	VFTR_SESSION=two-$$ ./slow 31 &
	wait
	rm slow slow.c
	for f in slow_all.json slow_all.json.old*; do
		n=${f#slow_all.json}
		calls_of $f "leaf<main<init"
		[ -s slow_all.log$n ] && [ -s slow_0.log$n ] && [ -s slow_node_$(hostname | cut -d. -f1).log$n ] || return 1
		cp slow_$(hostname | cut -d. -f1).vfp$n one.vfp
		is 0 "$("$VFTR" diff --json one.vfp $f | jq "[.differences[] | select(.calls_a != .calls_b or (.in_a and .in_b | not))] | length")" "of .vfp$n" || return 1
		rm one.vfp
	done | sort -n | xargs >calls
	is "31 40" "$(cat calls)" "calls of both" && rm calls
}

test_expect 'two agents beside two runs of one program, in one folder at once: two complete results' '
	mkdir beside && cd beside && beside
	is 10 "$(ls | wc -l)" files'

test_expect 'the same while both write results on the way: none of these is left' '
	mkdir beside-way && cd beside-way && beside -k agent.write_every_s=0.1
	is 10 "$(ls | wc -l)" files'

test_expect 'the same with sampling files, each of its run' '
	mkdir beside-vfd && cd beside-vfd
	beside -k sampling.active=true -k sampling.sample_interval=0 -k agent.write_every_s=0.1
	for f in slow_all.json*; do
		cp slow_$(hostname | cut -d. -f1).vfd${f#slow_all.json} one.vfd
		"$VFTR" dump -j one.vfd >dump
		is "$(json $f .run)" "$(jq -r .run dump)" "run of the time line beside $f"
		is "$(calls_of $f "leaf<main<init")" "$("$VFTR" dump one.vfd | grep -c "call leaf<")" "calls in it"
		rm dump one.vfd
	done
	is 12 "$(ls | wc -l)" files'

test_expect 'the file of a run that has just begun is not taken for one of this run' '
	mkdir begun && cd begun
	vfd=times_$(hostname | cut -d. -f1).vfd
	traced -q -k sampling.active=true -- sh -c "exec \"$BIN/end\" counted 300 $PWD/count" &
	wait_for 20 "[ -s count ]"
	live=$(ls end_*.vfd)
	mv "$live" "$live.old" # as another run does that begins
	: >"$live"             # and has not written yet
	pkill -xf "$BIN/end counted 300 $PWD/count"
	wait
	is "$(json end_all.json .run)" "$("$VFTR" dump -j "$live" | jq -r .run)" "run of the .vfd"
	[ ! -s "$live.old2" ] && [ -e "$live.old2" ]'

test_expect 'the agent that a program starts keeps what was there, too' '
	mkdir embedded && cd embedded
	export VFTR_AGENT=$AGENT
	"$BIN/times" 7
	wait_for 20 "[ -s times_all.json ] && [ -z \"\$(agent_pids)\" ]"
	"$BIN/times" 8
	wait_for 20 "[ -s times_all.json.old ] && [ -z \"\$(agent_pids)\" ]"
	is "7 8" "$(calls_of times_all.json.old "leaf<main<init") $(calls_of times_all.json "leaf<main<init")"'

test_expect '--output names a folder again: what is in it becomes .old' '
	for i in 1 2; do
		limit "$VFTR" run -o mine -- "$BIN/times" $i 2>err.$i
	done
	hasnt err.1 "become"
	has err.2 "results of another run in $PWD/mine become NAME.old"
	mkdir empty
	limit "$VFTR" run -o empty -- "$BIN/times" 1 2>err
	hasnt err "become"
	limit "$VFTR" run -q -o empty -- "$BIN/times" 1 2>err
	[ ! -s err ]
	is "1 2" "$(calls_of mine/profile.json.old "leaf<main<init") $(calls_of mine/profile.json "leaf<main<init")"
	is "4 4" "$(ls mine | grep -c old\$) $(ls mine | grep -vc old)"'

test_expect 'call stacks of an earlier run become .old, too, in both layouts' '
	cat >quiet.c <<-END
	#include <poll.h>
	__attribute__((noinline)) void first(void) { poll(0, 0, 1500); }
	__attribute__((noinline)) void second(void) { poll(0, 0, 1500); }
	int main(int argc, char **argv) { argc > 1 ? first() : second(); return 0; }
	END
	cc_traced quiet quiet.c
	mkdir stacks
	host=$(hostname | cut -d. -f1)
	for argument in 1 "" ""; do
		traced -q -o stacks -k agent.deadlock_s=0.3 -- ./quiet $argument
		limit "$VFTR" run -q -o stacks/run -k agent.deadlock_s=0.3 -- ./quiet $argument
	done
	for file in stacks/stacks_$host.log stacks/run/stacks-$host.log; do
		grep -E "first( < |<)main" $file.old
		grep -E "second( < |<)main" $file.old2
		grep -E "second( < |<)main" $file
		[ ! -e $file.old3 ]
	done'

test_expect 'a full disk: the earlier results stay' '
	mkdir full && cd full
	mount -t tmpfs -o size=256k none . 2>/dev/null || { echo "# no mount here"; exit 0; }
	cd . && cd "$PWD"
	traced -q -- "$BIN/times" 1
	dd if=/dev/zero of=filler bs=1k 2>/dev/null || :
	traced -q -- "$BIN/times" 2 2>../err || :
	has ../err "No space left"
	for f in times_all.json*; do
		calls_of $f "leaf<main<init"
	done | grep -qx 1
	cd .. && umount full'

test_if 'unshare --mount mount -t tmpfs tmpfs /mnt' 'mounting is not allowed here' \
	'where the folder is read-only the sentence names the option that takes another one' '
	mkdir closed
	for option in "" "--output $PWD"; do
		unshare --mount sh -c "mount -t tmpfs -o ro tmpfs closed && cd closed &&
			exec $VFTR run -q $option -- $BIN/times 1" 2>err && echo 0 || echo $?
		cat err
	done >got
	is 3 "$(wc -l <got)" "$(cat got)"
	is "125 0" "$(sed -n "1p;3p" got | xargs)" statuses
	has got "Read-only file system; --output FOLDER takes another one"'

done_testing
