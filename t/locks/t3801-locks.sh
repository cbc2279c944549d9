#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='locks: waits, and who they were for, of programs of which they are known'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$VFTR" "$LIB/libvftrace.so" "$LIB/libvftrace-locks.so"

for app in locks conform; do
	$TEST_CC -O1 -g -Wall -D_GNU_SOURCE -finstrument-functions -o "$BIN/$app" "$T/locks/app-$app.c" -pthread ||
		{ echo "Bail out! app-$app.c does not build"; exit 1; }
done

# locks_of MODE [THREADS] [-- OPTION...]: runs it; its stamps are in "stamps"
locks_of() {
	mode=$1 n=${2:-2}
	shift $#
	rm -f locks_*
	traced -q --preload -k locks.active=true $options -- "$BIN/locks" "$mode" "$n" >stamps
}

# lock NAME FIELD: of the row of this lock, whose name may have the program's before it
lock() {
	jq -r --arg name "$1" ".locks[] | select(.name == \$name or (.name | endswith(\":\" + \$name))) | .$2" locks_all.json
}

# near A B N: B is at most 5 % and 3 ms for each of N waits from A, as the stamps are around the calls
near() {
	awk -v a="$1" -v b="$2" -v n="$3" 'BEGIN { d = a - b; if (d < 0) d = -d
		if (d > 0.05 * a + 0.003 * n) { print b " is not " a > "/dev/stderr"; exit 1 } }'
}

# until_near CHECK: another run if the machine was busy between stamp and call
until_near() {
	for try in 1 2 3 4; do
		"$@" && return
	done
	return 1
}

# mutex_as_stamped THREADS
mutex_as_stamped() {
	locks_of mutex "$1"
	read -r name waits seconds <stamps
	cat stamps
	jq -c ".locks[]" locks_all.json
	is "$waits" "$(lock table_lock calls)" || return
	near "$seconds" "$(lock table_lock t_s)" "$waits" || return
	# of what the holder did
	near "$seconds" "$(lock table_lock "held | map(select(.path | startswith(\"have_table<holder<\"))) | map(.t_s) | add")" "$waits"
}

for n in 2 8; do
	test_expect "$n threads and a mutex that one of them has: who waits, how long, and for whom" "
		until_near mutex_as_stamped $n
		is mutex \"\$(lock table_lock kind)\"
		is locks:table_lock \"\$(lock table_lock name)\"
		lock table_lock first_path | grep '^pthread_mutex_lock<want_table<waiter'
		is $((5 * (n - 1))) \"\$(calls_of locks_all.json 'pthread_mutex_lock<want_table<waiter<init')\"
		has locks_all.log 'Locks that threads waited for'
	"
done

test_expect 'the waits are in the table of waits, with the thread that had the lock' '
	is "0" "$(jq -r "[.waits[] | select(.kind == \"mutex\") | .for[] | select(.path | startswith(\"have_table<\")) | .thread] | unique | map(tostring) | join(\" \")" locks_all.json)"
	"$VFTR" waits locks_*.vfp >shown
	cat shown
	has shown "Waiting for other threads:"
	grep -E "Mutex .*pthread_mut" shown
'

test_expect 'a finding names the mutex, and where it is held' '
	jq -c .findings locks_all.json
	is locks:table_lock "$(jq -r ".findings[] | select(.rule == \"lock\") | .evidence.lock" locks_all.json)"
	jq -r ".findings[] | select(.rule == \"lock\") | .evidence.holder_path" locks_all.json | grep "^have_table<"
'

test_expect 'many threads that have a mutex in turns: all of them are known to have had it' '
	locks_of turns 48
	jq -c ".locks[]" locks_all.json
	# what is missing is from a thread that gives it back to the next one
	is true "$(jq ".locks[] | select(.name | endswith(\":table_lock\")) | (.held | map(.t_s) | add) > .t_s / 2" locks_all.json)"
'

test_expect 'locks that are free leave nothing' '
	locks_of free
	is null "$(json locks_all.json .locks)"
	is "" "$(jq -r ".stacklist[]?.function? // empty" locks_all.json | grep -E "^(pthread|mtx|sem)_" || :)"
'

# of_kind KIND FIELD: summed
of_kind() {
	jq --arg kind "$1" "[.locks[] | select(.kind == \$kind) | .$2] | add" locks_all.json
}

kinds_as_stamped() {
	locks_of kinds
	cat stamps
	jq -c ".locks[]" locks_all.json
	while read -r stamp waits kind; do
		[ "$waits" -gt 1 ] || is 1 "$(of_kind "$kind" calls)" "$kind" || return
		near "$(awk -v k="$stamp" "\$1 == k { s += \$3 } END { print s }" stamps)" "$(of_kind "$kind" t_s)" "$waits" || return
	done <<-END
		semaphore 1 semaphore
		rwlock 1 read-write lock
		barrier 1 barrier
		spin 1 spin lock
		mutex 1 mutex
		thread 1 thread
		condition 2 condition variable
	END
}

test_expect 'one wait of each other kind, as long as stamped, for who gave it back' '
	until_near kinds_as_stamped
	is "come_last have_mtx have_rw have_spin post_it signal_it" "$(jq -r ".locks[].held[].path" locks_all.json |
		tr "<" "\n" | grep -E "_(it|last|mtx|rw|spin)$" | grep -v "^pthread_" | sort -u | paste -sd" ")"
	is "thread 1" "$(jq -r ".locks[] | select(.kind == \"thread\") | .name" locks_all.json)"
	is "thread_end 1" "$(jq -r ".waits[] | select(.kind == \"thread_end\") | \"\(.kind) \(.for[0].thread)\"" locks_all.json)"
	# at its end it was in no function that was waited for
	is "0 0" "$(jq -r "([.waits[] | select(.kind == \"thread_end\") | .causes[]] | length) as \$causes |
		\"\(\$causes) \([.locks[] | select(.kind == \"thread\") | .held[]?] | length)\"" locks_all.json)"
'

test_expect 'threads that are cancelled in a wait: it ends there, and the mutex is theirs' '
	locks_of cancelled
	is "[]" "$(jq -c .warnings locks_all.json)"
	is 1 "$(calls_of locks_all.json "sem_wait<posts_never<init")"
	# main() has joined it, and has not waited for the mutex
	is 0 "$(calls_of locks_all.json "pthread_mutex_lock<cancelled<main<init")"
'

test_expect 'waits that take too long are waits' '
	locks_of timeouts
	is "cond_timedwait 1 mutex_timedlock 1 sem_timedwait 1" "$(paste -sd" " stamps)"
	is "1 1 1" "$(for f in pthread_cond_timedwait pthread_mutex_timedlock sem_timedwait; do calls_of locks_all.json "$f<timeouts<main<init"; done | paste -sd" ")"
	is "condition variable mutex semaphore" "$(jq -r ".locks[].kind" locks_all.json | sort | paste -sd" ")"
'

test_expect 'names beyond the first 4096 are one row' '
	locks_of many
	is 4097 "$(jq ".locks | length" locks_all.json)"
	is 904 "$(lock "(other locks)" calls)"
	is 5000 "$(jq "[.locks[].calls] | add" locks_all.json)"
	is 1 "$(lock conditions+0x30 calls)"
'

test_expect 'what calls return is the same, traced or not' '
	"$BIN/conform" >plain
	traced -q --preload -k locks.active=true -- "$BIN/conform" >out
	cmp plain out
	is "[]" "$(jq -c .warnings conform_all.json)"
'

test_expect 'a child of fork waits for itself' '
	locks_of fork 3
	is 2 "$(lock table_lock ranks)"
	is "$(awk "{ n += \$2 } END { print n }" stamps)" "$(lock table_lock calls)"
'

test_expect 'a process that is killed while it hangs: where it waits is there' '
	rm -f locks_*
	traced -q --preload -k locks.active=true -- sh -c "\"\$1\" hang >out & wait_pid=\$!
		while ! grep -q hangs out; do sleep 0.05; done; kill -9 \$wait_pid; wait \$wait_pid || :" sh "$BIN/locks"
	is 1 "$(calls_of locks_all.json "pthread_mutex_lock<want_table<waits_for_table<init")"
'

test_expect 'small rings, and a ring that is full, lose no wait' '
	options="-k shm.ring_size=32KiB"
	locks_of mutex 8
	options=
	is 35 "$(lock table_lock calls)"
	is 0 "$(json locks_all.json .lost)"
'

test_expect 'without the key nothing is preloaded, nor recorded' '
	rm -f locks_*
	traced -q --preload -- sh -c "echo \$LD_PRELOAD" >out
	hasnt out libvftrace-locks
	traced -q --preload -- env LD_PRELOAD="$LIB/libvftrace.so $LIB/libvftrace-locks.so" "$BIN/locks" mutex >stamps
	is null "$(json locks_all.json .locks)"
'

test_expect 'the library alone, without libvftrace, changes nothing' '
	limit env LD_PRELOAD="$LIB/libvftrace-locks.so" "$BIN/conform" >out
	cmp plain out
	limit env LD_PRELOAD="$LIB/libvftrace-locks.so" "$BIN/locks" cancelled >out
'

test_expect 'it needs the C library and nothing else' '
	readelf -d "$LIB/libvftrace-locks.so" | sed -n "s/.*NEEDED.*\[\(.*\)\]/\1/p" >needed
	cat needed
	! grep -vE "^(libc|libpthread|libdl|ld-linux[-a-z0-9_]*)\.so" needed
'

done_testing
