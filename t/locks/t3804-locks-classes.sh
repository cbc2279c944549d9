#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='locks: what threads wait for each other is a class of their time, and no useful work'
. "$(dirname "$0")/../lib/lib.sh"
. "$T/lib/efficiency.sh"
. "$T/lib/thread-waits.sh"
need jq
need_built "$AGENT" "$VFTR" "$LIB/libvftrace.so" "$LIB/libvftrace-locks.so"
app=$T/locks/app-lock-class.c
$TEST_CC -O1 -g -Wall -D_GNU_SOURCE -finstrument-functions -o "$BIN/class" "$app" -pthread || exit 99

# within A B SLACK: B is at most 1 % and SLACK from A, the program's own stamps around its calls
within() {
	awk -v a="$1" -v b="$2" -v slack="$3" 'BEGIN { d = a > b ? a - b : b - a
		print a, b, slack
		exit !(a > 0 && b != "" && d <= 0.01 * a + slack) }'
}

# as_stamped STAMPS JSON [only_first]: the lock waits of each rank's first thread, and of all its threads
as_stamped() {
	whole "$2" || return 1
	as_stamped_json=$2 as_stamped_first=$3
	grep ^class "$1" | while read -r _ rank _ _ _ first others slack more; do
		set -- $(jq -r ".per_rank[] | select(.rank == $rank) |
			\"\(.lock_wait_s) \(.all_threads.lock_wait_s)\"" "$as_stamped_json")
		[ $# = 2 ] && within "$first" "$1" "$slack" || exit 1
		[ -n "$as_stamped_first" ] || within "$(echo "$first $others" | awk '{ print $1 + $2 }')" "$2" \
			"$(echo "$slack $more" | awk '{ print $1 + $2 }')" || exit 1
	done
}

test_expect 'mutex, condition, semaphore, barrier and end of a thread: their time is lock_wait_s' '
	traced -q --preload -k locks.active=true -- "$BIN/class" >stamps
	cat stamps
	is 0 "$(json class_all.json .per_rank[0].rank)"
	as_stamped stamps class_all.json
	# what is left is useful
	is true "$(jq ".per_rank[0] | (.useful_s + .lock_wait_s + .blocked_s - .window_s | fabs) < 1e-8" class_all.json)"
	is true "$(jq ".efficiency | (.parallel * .window_s - .useful_s | fabs) < 1e-6" class_all.json)"
	is "lock_wait_s" "$(jq -r ".efficiency.estimated | join(\" \")" class_all.json)"
	# and this is what the table of locks has, but for who came last to a barrier
	is true "$(jq "(.per_rank[0].all_threads.lock_wait_s / ([.locks[].t_s] | add) - 1) as \$d |
		\$d >= -1e-6 and \$d < 0.1" class_all.json)"
'

test_expect 'the lines at the top of the summary have it, and the share of what is computed does not' '
	limit "$VFTR" run -q --preload -k locks.active=true -o run -- "$BIN/class" >stamps
	as_stamped stamps run/profile.json
	is true "$(jq "(.summary.lock_wait_s - .per_rank[0].all_threads.lock_wait_s | fabs) < 1e-6" run/profile.json)"
	is true "$(jq "(.summary | .computing_s + .mpi_s + .mpi_start_end_s + .openmp_wait_s + .openmp_idle_s +
		.lock_wait_s + .outside_s - .t_s | fabs) < 1e-6" run/profile.json)"
	grep -E "[0-9]+\.[0-9] % waiting for locks and threads" run/summary.log
	has run/summary.log "waited for threads whose work does not count"
	limit "$VFTR" report -o run.html run
	has run.html "waits for locks and threads"
'

test_expect 'stack samples in the calls that wait change nothing' '
	limit "$VFTR" run -q --preload -k locks.active=true -k profile.sample=999 -o sampled -- "$BIN/class" >stamps
	as_stamped stamps sampled/profile.json
'

test_expect 'without the key there is no such class' '
	rm -rf class_* plain
	traced -q --preload -- "$BIN/class" >stamps
	is "false false" "$(jq -r ".per_rank[0] | \"\(has(\"lock_wait_s\")) \(.all_threads | has(\"lock_wait_s\"))\"" class_all.json)"
	limit "$VFTR" run -q --preload -o plain -- "$BIN/class" >stamps
	is false "$(jq ".summary | has(\"lock_wait_s\")" plain/profile.json)"
	hasnt plain/summary.log "waiting for locks"
	limit "$VFTR" report -o plain.html plain
	hasnt plain.html "lock waits"
	whole plain/profile.json
'

test_expect 'without MPI: who waited for whom, and the path of the process through the threads waited for' '
	limit "$VFTR" run -q --trace --preload -k locks.active=true -o threads -- "$BIN/class" >stamps
	"$VFTR" waits --json threads >profile.json
	limit "$VFTR" critical-path --waits --json threads >exact.json
	jq -c "[.efficiency, .per_rank, .estimated]" exact.json
	same_thread_waits profile.json exact.json
	# the window is the life of the process, and the path as long
	jq -e --slurpfile p threads/profile.json ".per_rank[0] as \$r | \$p[0].per_rank[0] as \$q |
		(\$r.window_s - \$q.window_s | fabs) < 2e-6 and (\$r.lock_wait_s - \$q.lock_wait_s | fabs) < 2e-6 and
		\$r.mpi_s == 0 and .estimated == [] and
		(([.critical_path[].t_s] | add) - .efficiency.window_s | fabs) < 1e-6" exact.json
	jq -e "([.critical_path[] | select(.path | test(\"^pass_ms<(other_side|short_life)\")).t_s] | add) as \$of_others |
		\$of_others > 0.5 * .per_rank[0].lock_wait_s and \$of_others < 1.01 * .per_rank[0].lock_wait_s" exact.json
	limit "$VFTR" critical-path --waits threads >text
	cat text
	grep "^Processes: 1, window " text
	has text "| Mutex "
	hasnt text "in MPI ("
'

cat >stuck.c <<-EOF
	#include <pthread.h>
	#include <signal.h>
	#include <unistd.h>
	static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
	static void *stuck(void *unused) { pthread_mutex_lock(&held); return unused; }
	static void *killer(void *unused) { sleep(1); kill(getpid(), SIGKILL); return unused; }
	int main(void) {
		pthread_t t[2];
		pthread_mutex_lock(&held);
		return pthread_create(&t[0], NULL, stuck, NULL) || pthread_create(&t[1], NULL, killer, NULL) ||
			pthread_join(t[0], NULL);
	}
EOF
$TEST_CC -O1 -finstrument-functions -o "$BIN/stuck" stuck.c -pthread || exit 99

test_expect 'of a program that is killed in a deadlock the waits that never ended have it' '
	rm -rf stuck
	status_of 137 "$VFTR" run -q --preload -k locks.active=true -o stuck -- "$BIN/stuck"
	whole stuck/profile.json
	jq -e ".per_rank[0] | .killed and .lock_wait_s > 0.9 * .window_s" stuck/profile.json
	jq -e "(.summary.lock_wait_s / .per_rank[0].all_threads.lock_wait_s - 1 | fabs) < 1e-6" stuck/profile.json
	grep -E "6[0-9]\.[0-9] % waiting for locks and threads" stuck/summary.log
'

cat >live.c <<-EOF
	#include <pthread.h>
	#include <stddef.h>
	#include <unistd.h>
	static void *until_seen(void *unused) { while (access("seen", F_OK)) usleep(20000); return unused; }
	int main(void) {
		pthread_t t;
		return pthread_create(&t, NULL, until_seen, NULL) || pthread_join(t, NULL);
	}
EOF
$TEST_CC -O1 -finstrument-functions -o "$BIN/live" live.c -pthread || exit 99

test_expect 'vftr top has the class of who waits for a thread since it began' '
	rm -f seen
	VFTR_SESSION=live limit "$AGENT" -q --preload -k locks.active=true -- "$BIN/live" &
	wait_for 60 "limit \"$VFTR\" top -s live -d 250ms --once --json >view && jq -e \".total |
		.lock_wait_s > 0 and (.lock_wait_s / .useful_s - 1 | fabs) < 0.1\" view"
	limit "$VFTR" top -s live -d 250ms --once >screen
	touch seen
	wait $!
	cat screen
	grep -E "lock wait (4|5)[0-9] %" screen
	# until the end one of the two threads has waited
	is true "$(jq ".per_rank[0] | .lock_wait_s > 0.9 * .window_s" live_all.json)"
'

test_if 'command -v tmux >/dev/null' 'no tmux on this machine' \
	'its tables of nodes and of ranks have the share of the threads that wait' '
	rm -f seen
	VFTR_SESSION=tables limit "$AGENT" -q --preload -k locks.active=true -- "$BIN/live" &
	unset TMUX TMUX_PANE
	export TMUX_TMPDIR="$VFTR_RUNTIME_DIR"
	# it has waited for as long as it has worked when the view says so
	wait_for 60 "limit \"$VFTR\" top -s tables -d 250ms --once --json >view && jq -e \".total |
		.lock_wait_s > 0 and (.lock_wait_s / .useful_s - 1 | fabs) < 0.1\" view"
	tmux -L locks -f /dev/null new-session -d -s s -x 120 -y 30 \
		"exec env TERM=screen LC_ALL=C.UTF-8 \"$VFTR\" top -s tables -d 250ms"
	for key in n r; do
		wait_for 60 "tmux -L locks send-keys -t s $key; tmux -L locks capture-pane -p -t s >table-$key;
			grep -qE \"^ *$([ $key = n ] && echo NODE || echo RANK) .* locks%\" table-$key"
	done
	tmux -L locks send-keys -t s q
	touch seen
	wait $!
	cat table-n table-r
	# the last column; the process has one thread that waits and one that does not
	awk "/ locks%/ { getline; found += (\$NF >= 40 && \$NF < 60) } END { exit found != 2 }" table-n table-r
'

# The library sleeps in pthread_cond_wait when a thread has waited for so long.
cat >team.c <<-EOF
	#include <omp.h>
	#include <unistd.h>
	static void __attribute__((noinline)) work(int others_ms, int first_ms) {
		usleep(1000 * (omp_get_thread_num() ? others_ms : first_ms));
	}
	int main(void) {
		#pragma omp parallel num_threads(2)
		work(400, 20);
		usleep(400000);
		#pragma omp parallel num_threads(2)
		{
			work(20, 400);
			#pragma omp barrier
			work(400, 20);
		}
		return 0;
	}
EOF
test_if 'command -v clang && clang -fopenmp -O1 -g -finstrument-functions -o "$BIN/team" team.c' 'no OpenMP for clang' \
	'waits in the library of OpenMP are those of OpenMP, whether frames tell of them or not' '
	for told in true false; do
		rm -rf team
		limit env KMP_BLOCKTIME=1 "$VFTR" run -q --preload -k locks.active=true \
			-k openmp.show_idle_time=$told -o team -- "$BIN/team"
		jq -c .per_rank[0] team/profile.json
		jq -e ".per_rank[0] | .openmp_wait_s > 0.7 and .lock_wait_s < 0.1 * .openmp_wait_s and
			(.useful_s + .openmp_wait_s + .lock_wait_s + .blocked_s - .window_s | fabs) < 1e-8" team/profile.json
		jq -e ".per_rank[0].all_threads | .openmp_idle_s > 0.3 and .lock_wait_s < 0.1 * .openmp_wait_s" team/profile.json
		whole team/profile.json
		jq -c .summary team/profile.json
		jq -e ".summary | .openmp_wait_s > 0.7 and .openmp_idle_s > 0.3 and
			.lock_wait_s < 0.1 * .openmp_wait_s" team/profile.json
		[ $told = false ] || jq -e ".summary.openmp_wait_s > 1" team/profile.json
	done'

if command -v mpirun.openmpi >/dev/null && [ -e "$LIB/libvftrace-openmpi.so" ]; then
	nodes_up 2
	mpicc.openmpi -O1 -g -Wall -D_GNU_SOURCE -DWITH_MPI -finstrument-functions -o "$BIN/class-mpi" "$app" -pthread || exit 99
	test_expect 'ranks on two nodes: each has its own, in its window' '
		limit "$VFTR" run -q --preload -k locks.active=true -o ranks -- $(nodes_mpirun 2) -np 2 "$BIN/class-mpi" >stamps
		is "2 2" "$(json ranks/profile.json "\"\(.ranks) \(.nodes)\"")"
		# threads of the MPI library have locks, too
		as_stamped stamps ranks/profile.json only_first
		limit "$VFTR" report -o ranks.html ranks
		grep -E ">lock waits</th>" ranks.html >column
		# in MPI_Init and MPI_Finalize the library waits for its threads: that is none of it
		is true "$(json ranks/profile.json "([.per_rank[].all_threads.lock_wait_s] | add) as \$s | .summary |
			.lock_wait_s - \$s < 0.1 * .mpi_start_end_s")"
		grep ^class stamps | while read -r _ rank begin end mpi first _; do
			close "$(echo "$begin $end $mpi $first" | awk "{ print \$2 - \$1 - \$3 - \$4 }")" \
				"$(jq ".per_rank[] | select(.rank == $rank) | .useful_s" ranks/profile.json)" || exit 1
		done
	'
	test_expect 'vftr waits --exact and vftr critical-path find the same in sampling files' '
		limit "$VFTR" run -q --trace --preload -k locks.active=true -o files -- $(nodes_mpirun 2) -np 2 \
			"$BIN/class-mpi" >stamps
		as_stamped stamps files/profile.json only_first
		for command in "waits --exact" critical-path; do
			limit "$VFTR" $command --json files >exact.json
			jq -c .per_rank[] exact.json
			for rank in 0 1; do
				of="[.per_rank[] | select(.rank == $rank)]"
				online=$(jq -c "$of" files/profile.json) exact=$(jq -c "$of" exact.json)
				echo "$online"
				# of other classes the files know MPI only
				jq -n -e --argjson a "$online" --argjson b "$exact" "\$a[0] as \$a | \$b[0] as \$b |
					def near(\$c): . - \$c | fabs < 2e-6;
					(\$b.lock_wait_s | near(\$a.lock_wait_s)) and (\$b.mpi_s | near(\$a.mpi_s)) and
					(\$b.useful_s + \$b.lock_wait_s + \$b.mpi_s | near(\$b.window_s)) and
					(\$b.useful_s | near(\$a.window_s - \$a.mpi_s - \$a.lock_wait_s))" || exit 1
			done
			# messages that take no time make nobody wait less for a thread
			jq -e ".efficiency | .useful_max_s < 0.9 * .ideal_s and .transfer > 0.9 and
				(.load_balance * .serialisation * .transfer - .parallel | fabs) < 1e-9" exact.json
		done
		limit "$VFTR" critical-path files >table
		has table "Ranks waited for locks and threads for"
	'
	test_expect "who waited for whom is in the files, too, and the critical path goes through the threads waited for" '
		limit "$VFTR" waits --json files >profile.json
		limit "$VFTR" critical-path --waits --json files >exact.json
		same_thread_waits profile.json exact.json
		is "condition mutex semaphore thread_barrier thread_end" \
			"$(jq -r "[.waits[] | select(.for[0].thread).kind] | unique | join(\" \")" exact.json)"
		is "[]" "$(jq -c "[.waits[] | select(.kind == \"thread_end\").causes[]]" exact.json)"
		# one rank or the other is on it, and waits most of that time for threads that pass_ms()
		jq -e "([.critical_path[] | select(.path | test(\"^pass_ms<(other_side|short_life)\")).t_s] | add) as \$of_others |
			([.per_rank[].lock_wait_s] | min) as \$waited |
			\$of_others > 0.5 * \$waited and \$of_others < 1.01 * ([.per_rank[].lock_wait_s] | max)" exact.json
	'
else
	test_skip 'ranks on two nodes: each has its own, in its window' 'no Open MPI here'
	test_skip 'vftr waits --exact and vftr critical-path find the same in sampling files' 'no Open MPI here'
	test_skip 'who waited for whom is in the files, too, and the critical path goes through the threads waited for' 'no Open MPI here'
fi

done_testing
