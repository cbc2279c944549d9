#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
test_description='the program is not harmed, whatever becomes of the agent or of standard error'
. "$(dirname "$0")/lib.sh"
need jq
need_built "$AGENT" "$LIB/libvftrace.so"

cc_traced "$BIN/unharmed" "$T/app-unharmed.c" || skip_all 'app-unharmed.c cannot be compiled'
gcc -D_GNU_SOURCE -I"$TOP" -o "$BIN/wire" "$T/app-wire.c" || skip_all 'app-wire.c cannot be compiled'

# ---- what the library says ----

for surrounding in pipe full limit closed; do
	test_expect "the library has something to say, and standard error is: $surrounding" '
		started=$SECONDS
		set -o pipefail # a pipe, for files are at their limit
		status_of 7 limit env VFTR_AGENT=/nonexistent \
			"$BIN/unharmed" as '$surrounding' "$BIN/unharmed" loop 1 | cat >out
		is "loop 1" "$(cat out)"
		[ $((SECONDS - started)) -lt 20 ]
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

done_testing
