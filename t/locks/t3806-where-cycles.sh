#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# `vftr where' of threads of a process that wait for each other.
test_description='where: threads that wait for locks of each other'
. "$(dirname "$0")/../lib/lib.sh"
need jq gcc
need_built "$AGENT" "$VFTR" "$LIB/libvftrace.so" "$LIB/libvftrace-locks.so"
cc_traced "$BIN/where-cycle" "$T/locks/app-where-cycle.c" -pthread -fopenmp

# begin NAME COMMAND...: it runs traced, in a session and a folder of this name
begin() {
	mkdir "$1"
	name=$1
	shift
	VFTR_SESSION=$name limit "$AGENT" -q --preload -k locks.active=true -o "$PWD/$name" -- "$@" &
	agent=$!
}

# seen NAME CONDITION: of the view, which is left in the file view, with the numbers of processes as X
seen() {
	timeout 30 "$VFTR" where -s "$1" -j >view && jq -e "$2" view >/dev/null
}

# text NAME: as people see it, without numbers of processes
text() {
	timeout 30 "$VFTR" where -s "$1" | sed 's/process [0-9][0-9]*/process X/' >text
	cat text
}

# waits: "THREAD waits_for LOCK of HOLDER" of the only cycle, and that its threads are at those places
waits() {
	jq -r '.lock_deadlocks | if length == 1 then .[0].threads[] | "\(.waits_for) \(.thread) \(.held_by)" else error("\(length) cycles") end' view
}

end() {
	touch "$1/end"
	status_of 0 wait $agent
}

test_expect 'two threads, each of which has the mutex that the other one waits for' '
	begin pair "$BIN/where-cycle" "$PWD/pair" pair
	wait_for 60 "seen pair \".lock_deadlocks | length > 0\""
	waits >got
	cat got
	is 2 "$(wc -l <got)"
	is "mutex where-cycle:first_lock mutex where-cycle:second_lock" "$(sort got | cut -d" " -f1,2 | paste -sd" ")"
	# in a ring, the lowest number first
	is "1 2 2 1" "$(cut -d" " -f3,4 got | paste -sd" ")"
	jq -e ".lock_deadlocks[0] | .rank == null and .pid > 0 and all(.threads[]; .since_s >= 1)" view
	jq -e ".deadlock == [] and .left_out.locked_threads == 0" view
	# who has a lock is where it was seen
	jq -e "[.places[] | select(.lock) | .lock_held_by] | sort | length == 2 and
		(.[0] | startswith(\"thread 1 in pthread_mutex_lock < want\")) and (.[1] | startswith(\"thread 2 in \"))" view
	text pair
	grep -E "^deadlock: thread 1 of process X waits for mutex where-cycle:(first|second)_lock, which thread 2 has, which waits for mutex where-cycle:(first|second)_lock, which thread 1 has\$" text
	end pair'

test_expect 'three threads in a ring, one of whose locks is a read-write lock' '
	begin three "$BIN/where-cycle" "$PWD/three" three
	wait_for 60 "seen three \".lock_deadlocks | length > 0\""
	waits >got
	cat got
	is 3 "$(wc -l <got)"
	has got "read-write lock where-cycle:shared_lock"
	is "1 2 3" "$(sed "s/.* \([0-9]\) [0-9]\$/\1/" got | sort | paste -sd" ")"
	is 1 "$(sed -n "s/.* \([0-9]\) [0-9]\$/\1/p" got | head -n 1)"
	end three'

test_expect 'who waits for a mutex of its own is a deadlock of one thread' '
	cc_traced "$BIN/where-locks" "$T/locks/app-where-locks.c" -pthread -fopenmp
	begin self "$BIN/where-locks" "$PWD/self" self
	wait_for 60 "seen self \".lock_deadlocks | length > 0\""
	is "mutex where-locks:table_lock 1 1" "$(waits)"
	text self
	grep "^deadlock: thread 1 of process X waits for mutex where-locks:table_lock, which it has itself\$" text
	end self'

# waiting NAME: so many threads wait for a lock that a thread is known to have, for a second
waiting() {
	seen "$1" "[.places[] | select(.lock_held_by and .since_least_s > 1.2)] | length == 2"
}

test_expect 'threads that wait for one that goes on are no deadlock' '
	begin chain "$BIN/where-cycle" "$PWD/chain" chain
	wait_for 60 "waiting chain"
	jq -e ".lock_deadlocks == []" view
	text chain
	hasnt text deadlock:
	end chain'

test_expect 'nor are those of whom one will not wait for ever' '
	begin timed "$BIN/where-cycle" "$PWD/timed" timed
	wait_for 60 "waiting timed"
	jq -e ".lock_deadlocks == []" view
	end timed'

test_expect 'nor if that wait is below more frames than a path has' '
	begin deep "$BIN/where-cycle" "$PWD/deep" deep
	wait_for 60 "waiting deep"
	jq -e ".lock_deadlocks == []" view
	jq -r ".places[] | select(.lock) | .lock_held_by, .path[0], .path[-1]" view >got
	cat got
	has got "thread 2 in pthread_mutex_timedlock < want_for_an_hour"
	jq -e "[.places[].path | select(.[-1] == \"pthread_mutex_timedlock\") |
		.[0] == \"init\" and .[1] == \"second\" and any(.[]; test(\"^\\\\([0-9]+ left out\\\\)\$\"))] == [true]" view
	end deep'

for cc in gcc clang; do
	test_if "echo 'int main(void){return 0;}' >e.c && $cc -fopenmp e.c" "no OpenMP for $cc" \
		"$cc: two threads of OpenMP, each in a critical region that the other one waits for" "
		TEST_CC=$cc
		cc_traced $BIN/where-cycle-$cc $T/locks/app-where-cycle.c -pthread -fopenmp
		begin regions-$cc $BIN/where-cycle-$cc \$PWD/regions-$cc regions
		wait_for 60 \"seen regions-$cc '.lock_deadlocks | length > 0'\"
		waits >got
		cat got
		is 2 \"\$(grep -c '^lock of OpenMP [0-9] [0-9]\$' got)\"
		jq -e '[.places[] | select(.lock)] | length == 2 and all(.[]; .lock_held_by | test(\"^thread [0-9] in \"))' view
		end regions-$cc"
	test_if "[ -e $BIN/where-cycle-$cc ]" "no OpenMP for $cc" "$cc: a thread that waits for its own critical region" "
		begin again-$cc $BIN/where-cycle-$cc \$PWD/again-$cc again
		wait_for 60 \"seen again-$cc '.lock_deadlocks | length > 0'\"
		is 'lock of OpenMP' \"\$(waits | sed 's/ [0-9] [0-9]\$//')\"
		jq -e '.lock_deadlocks[0].threads | length == 1 and .[0].thread == .[0].held_by' view
		end again-$cc"
	test_if "[ -e $BIN/where-cycle-$cc ]" "no OpenMP for $cc" "$cc: who got a lock last, which another thread waits for in omp_set_lock()" "
		begin set-$cc $BIN/where-cycle-$cc \$PWD/set-$cc set
		wait_for 60 \"seen set-$cc '[.places[] | select(.lock_got_last_by)] | length == 1'\"
		jq -e '.lock_deadlocks == [] and ([.places[] | select(.lock) | .lock, .lock_held_by] == [\"lock of OpenMP\", null])' view
		jq -e '.places[] | select(.lock_got_last_by) | (.lock_got_last_by | test(\"in keep_until_end < have_set\")) and
			(.path | any(.[]; . == \"want_set\"))' view
		text set-$cc
		grep -E '^ +waits for lock of OpenMP, which thread [0-9] in keep_until_end < have_set got last\$' text
		end set-$cc"
done

for mpi in $(mpi_list_short); do
	test_expect "$mpi: the rank is told, whoever waits for it" "
		mpicc_traced $mpi $BIN/mpi-cycle $T/locks/app-where-cycle.c -DWITH_MPI -pthread -fopenmp
		begin ranks-$mpi \$(mpirun_of $mpi) -np 2 $BIN/mpi-cycle \$PWD/ranks-$mpi pair
		wait_for 60 \"seen ranks-$mpi '.lock_deadlocks | length > 0'\"
		jq -e '.lock_deadlocks | length == 1 and .[0].rank == 1 and (.[0].threads | length == 2)' view
		text ranks-$mpi
		grep '^deadlock: thread [0-9] of rank 1 waits for mutex mpi-cycle:' text
		grep 'rank 0 .*MPI_Barrier\|MPI_Barrier .*rank 0' text
		end ranks-$mpi"
done

done_testing
