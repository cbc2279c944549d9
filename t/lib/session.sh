# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# For tests of sessions on several nodes, behind tcp.sh: the processes beside its agents.

$TEST_CC $TEST_FLAGS -I"$TOP/libhook" -o "$BIN/one" "$T/session/app-session.c" -pthread $(test_link vftrace) ||
	skip_all 'app-session.c cannot be compiled'

# program DIR NODE PROGRAM NAME STEP...: in the background; its words in DIR/NAME.out
program() {
	one_dir=$1 one_node=$2 one_program=$BIN/$3 one_name=$4
	shift 4
	(
		cd "$one_dir"
		run "$one_dir" "$one_node" "$one_program" "$one_name" "$@" >"$one_name.out" 2>"$one_name.err"
	) &
}

# one DIR NODE NAME STEP...: the one that is linked with the library
one() {
	one_dir=$1 one_node=$2
	shift 2
	program "$one_dir" "$one_node" one "$@"
}

# said DIR NAME WORDS
said() {
	wait_for 30 "grep -qF '$2: $3' $1/$2.out" || { tail "$1"/*.out "$1"/*.err; return 1; }
}

# matched JSON MESSAGES: so many, all of them exactly
matched() {
	is "$2" "$(json "$1" .matching.pairs.exact)" 'messages matched exactly'
	is "0 0" "$(json "$1" '"\(.matching.unmatched_sends | add) \(.matching.unmatched_recvs | add)"')" unmatched
}
