#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
test_description='the program is not harmed, whatever becomes of the agent or of standard error'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$LIB/libvftrace.so"

cc_traced "$BIN/unharmed" "$T/nodes/app-unharmed.c" || skip_all 'app-unharmed.c cannot be compiled'
gcc -D_GNU_SOURCE -I"$TOP" -o "$BIN/wire" "$T/shm/app-wire.c" || skip_all 'app-wire.c cannot be compiled'

# ---- what the library says ----

for surrounding in pipe full limit closed; do
	test_expect "the library has something to say, and standard error is: $surrounding" '
		started=$(date +%s)
		set -o pipefail # a pipe, for files are at their limit
		status_of 7 limit env VFTR_AGENT=/nonexistent \
			"$BIN/unharmed" as '$surrounding' "$BIN/unharmed" loop 1 | cat >out
		is "loop 1" "$(cat out)"
		no_later 20 $started
		[ ! -s limited ]'
done

test_expect 'it does not come into a file that the program has opened as descriptor 2' '
	status_of 7 limit env VFTR_AGENT=/nonexistent "$BIN/unharmed" data
	is HEADER01RECORD02 "$(cat data.bin)"'

test_expect '... but is said on a pipe that is read, and into a file' '
	status_of 7 env VFTR_AGENT=/nonexistent "$BIN/unharmed" loop 1 2>err
	has err "running untraced"
	VFTR_AGENT=/nonexistent "$BIN/unharmed" loop 1 2>&1 | grep -q "running untraced"'

# ---- whom it believes ----

# untraced WORDS...: the program runs untraced, and one line has these words
untraced() {
	status_of 7 limit env "${settings[@]}" "$BIN/unharmed" loop 1 2>err
	is 1 "$(wc -l <err)" "lines"
	has err "$@"
	[ ! -e unharmed_all.json ]
}

test_expect 'a runtime directory that is a link is not used, though a socket answers there' '
	mkdir -m 700 real
	"$BIN/wire" silent real/default.sock &
	wait_for 10 "[ -S real/default.sock ]"
	ln -s real link
	settings=(VFTR_RUNTIME_DIR="$PWD/link")
	untraced "runtime directory"
	kill $!'

test_expect 'nor is one that others may enter' '
	mkdir -m 777 open
	chmod 777 open
	settings=(VFTR_RUNTIME_DIR="$PWD/open")
	untraced "runtime directory"'

for name in ../escaped .hidden a/b; do
	test_expect "the session's name $name is refused by the library and by the agent" '
		settings=(VFTR_SESSION='$name' VFTR_AGENT="$AGENT")
		untraced "VFTR_SESSION"
		status_of 125 limit env VFTR_SESSION='$name' "$AGENT" -- true 2>err
		has err "VFTR_SESSION"
		is 1 "$(wc -l <err)" lines
		status_of 125 limit "$AGENT" -s '$name' -- true 2>err
		has err "a session'"'"'s name"
		[ ! -e "$VFTR_RUNTIME_DIR/../escaped.lock" ]'
done

# ---- what becomes of the agent ----

for mpi in $(mpi_list); do
	mpicc_traced "$mpi" "$BIN/mpi-$mpi" "$T/nodes/app-unharmed-mpi.c" || exit 1
done

# kind: its argument; what it prints is either of the two
declare -A size=([loop]=400 [regions]=30000 [stack]=20000 [fork]=60 [exec]=40)
kinds=(loop regions stack fork exec)
for mpi in $(mpi_list); do
	kinds+=("$mpi")
	size[$mpi]=500
done

# program KIND: in the directory and session of its agent; result is what it came to
program() {
	local status=0
	case $1 in
	openmpi | mpich) limit $(mpirun_of "$1") -np 2 "$BIN/mpi-$1" "${size[$1]}" ;;
	*) limit "$BIN/unharmed" "$1" "${size[$1]}" ;;
	esac >out 2>err || status=$?
	grep -v "^vftrace: .*running untraced$" err >others || :
	echo "$status $(cat out) $(cat others)" >result
}

wanted() {
	case $1 in
	openmpi | mpich) echo "0 mpi $((size[$1] * (size[$1] - 1))) " ;;
	*) echo "7 $1 ${size[$1]} " ;;
	esac
}

# do_harm HARM PID SOCKET
do_harm() {
	case $1 in
	STOP | KILL) kill -"$1" "$2" ;;
	PAUSE)
		kill -STOP "$2"
		sleep 0.1
		kill -CONT "$2"
		;;
	FLOOD) for _ in 1 2 3; do "$BIN/wire" noise "$3"; done ;;
	esac >/dev/null 2>&1
}

# harmed NAME KIND POLICY HARM AT_MS BLOCK_S MOST_S: a word, and why, if the program was harmed
harmed() {
	local agent running
	set +e
	mkdir "$1"
	cd "$1" || return 1
	"$AGENT" -q -s "u$1" -o . -k shm.block_most_s="$6" -k shm.when_full="$3" \
		-k shm.ring_size=64KiB 2>agent.err &
	agent=$!
	wait_for 20 "[ -S $VFTR_RUNTIME_DIR/u$1.sock ]" || return 1
	export VFTR_SESSION="u$1" VFTR_AGENT=off
	date +%s%N >began
	(program "$2"; date +%s%N >ended) &
	running=$!
	sleep "$(printf '%d.%03d' $(($5 / 1000)) $(($5 % 1000)))"
	do_harm "$4" $agent "$VFTR_RUNTIME_DIR/u$1.sock"
	wait $running
	{ kill -CONT $agent; kill -TERM $agent; wait $agent; } 2>/dev/null
	[ "$(cat result)" = "$(wanted "$2")" ] || echo "harmed: $2 $3 $4 at $5 ms: $(cat result)"
	[ $((($(cat ended) - $(cat began)) / 1000000)) -lt $(($7 * 1000)) ] ||
		echo "late: $2 $3 $4 at $5 ms: $((($(cat ended) - $(cat began)) / 1000000)) ms"
	# who waited until the end is named, if the agent still can; who need not wait is there
	if [ "$4" = STOP ] && grep -q "does not answer" err && [ ! -s agent.err ]; then
		echo "not named: $2 $3 at $5 ms"
	fi
	case $4 in
	PAUSE | FLOOD) if [ -s err ]; then echo "untraced: $2 $3 $4 at $5 ms: $(cat err)"; fi ;;
	esac
	echo "done"
}

# verdict N FILE...: N runs have come to their end, and there is no word of harm
verdict() {
	local n=$1
	shift
	! grep -hE "^(harmed|late|not named|untraced)" "$@" >&2 || return 1 || exit 1
	is "$n" "$(grep -hx "done" "$@" | wc -l)" runs || { cat "$@" >&2; return 1; }
}

# instants N BLOCK_S MOST_S LANES: all kinds, policies and harms in turn, at random instants,
# LANES at a time
instants() {
	local harms=(STOP KILL PAUSE FLOOD) policies=(block drop) i
	local block=("$2" "$2" 30 30) # a busy machine is no reason to give up
	rm -rf run-* verdict-*
	for ((i = 0; i < $1; i++)); do # as 7 and 8 have no common factor, all pairs come
		[ $i -lt "$4" ] || wait -n || :
		(harmed "run-$i" "${kinds[i % ${#kinds[@]}]}" "${policies[i / 4 % 2]}" \
			"${harms[i % 4]}" $((RANDOM % 500)) "${block[i % 4]}" "$3" >"verdict-$i" 2>&1) &
	done
	wait
	verdict "$1" verdict-*
}

# in the long form as it is without a setting: who waits, waits 30 s once and never twice
rounds=28 block=0.5 most=25 lanes=4
[ -z "$VFTR_LONG" ] || rounds=500 block=30 most=55 lanes=10
test_expect "the agent is stopped, killed, paused, flooded at $rounds instants, waiting $block s: status and output are as without it" '
	instants $rounds $block $most $lanes'

done_testing
