#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# `vftr where' of threads that wait for a lock: which one, and which thread has it.
test_description='where: locks, and who has them'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$VFTR" "$LIB/libvftrace.so" "$LIB/libvftrace-locks.so"
cc_traced "$BIN/where-locks" "$T/locks/app-where-locks.c" -pthread -fopenmp

# begin MODE: the program, with a thread that will wait
begin() {
	mkdir "$1"
	VFTR_SESSION=$1 limit "$AGENT" -q --preload -k locks.active=true -o "$PWD/$1" -- \
		"$BIN/where-locks" "$PWD/$1" "$1" &
	agent=$!
}

# seen MODE CONDITION: of a place with a lock, whose fields are left in the file place
seen() {
	timeout 30 "$VFTR" where -s "$1" -j >view &&
		jq -e "[.places[] | select(.lock)] | length == 1 and (.[0] | $2)" view >/dev/null &&
		jq -r '.places[] | select(.lock) | "\(.lock), \(.lock_held_by)"' view >place
}

# end MODE
end() {
	touch "$1/end"
	status_of 0 wait $agent
}

test_expect 'a mutex of the program that another thread has' '
	begin mutex
	wait_for 60 "seen mutex \".lock_held_by\""
	cat place
	is "mutex where-locks:table_lock, thread 0 in keep_until_end < hold" "$(cat place)"
	timeout 30 "$VFTR" where -s mutex >text
	grep -E "^ +waits for mutex where-locks:table_lock, which thread 0 in keep_until_end < hold has\$" text
	end mutex'

test_expect 'a read-write lock that another thread has for writing' '
	begin rwlock
	wait_for 60 "seen rwlock \".lock_held_by\""
	is "read-write lock where-locks:shared_lock, thread 0 in keep_until_end < hold" "$(cat place)"
	end rwlock'

test_expect 'a mutex that the thread has itself, and so never gets' '
	begin self
	wait_for 60 "seen self \".lock_held_by\""
	is "mutex where-locks:table_lock, the same thread" "$(cat place)"
	timeout 30 "$VFTR" where -s self >text
	grep "waits for mutex where-locks:table_lock, which the same thread has\$" text
	end self'

test_expect 'a condition variable: nobody has it' '
	begin free
	wait_for 60 "seen free true"
	is "condition variable where-locks:news, null" "$(cat place)"
	timeout 30 "$VFTR" where -s free >text
	grep "waits for condition variable where-locks:news, which nobody is known to have" text
	end free'

test_expect 'a critical region of OpenMP that another thread is in' '
	begin critical
	wait_for 60 "seen critical \".lock_held_by\""
	cat place
	grep -E "^lock of OpenMP, thread [01] in " place
	end critical'

done_testing
