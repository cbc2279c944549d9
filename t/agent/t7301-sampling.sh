#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
test_description='the sampling file that the agent writes: exact, whole, and never in the way'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$VFTR" "$LIB/libvftrace.so"

# What of Open MPI has windows, and files, wherever its processes run (t4103).
export OMPI_MCA_osc=pt2pt,sm OMPI_MCA_io=romio321

all=(-q -k sampling.active=true -k sampling.sample_interval=0)

# calls_sampled VFD: "CALLS PATH" of all calls in the file, as calls_in has them
calls_sampled() {
	"$VFTR" dump "$1" | awk '$2 == "call" {
			sub(/^ *[0-9.]+ call /, ""); sub(/ thread=[0-9]+$/, ""); gsub(/\*/, ""); c[$0]++ }
		END { for (p in c) print c[p], p }' | sort -k2
}

# same_samples PROGRAM [WITHOUT]: each path has as many calls in the file as in the profile;
# functions that call themselves (WITHOUT) are one frame
same_samples() {
	local without="^[0-9]+ (${2:-nothing})<"
	"$VFTR" dump -H "$1"_*.vfd >header
	grep -qx "Complete:        yes" header
	calls_sampled "$1"_*.vfd >sampled
	calls_in "$1_all.json" >counted
	[ -s counted ]
	diff <(grep -Ev "$without" counted) <(grep -Ev "$without" sampled)
	diff <(cut -d" " -f2- counted) <(cut -d" " -f2- sampled)
}

# same_regions: the same of OpenMP, whose workers stand below the path of their region.
same_regions() {
	same_samples openmp
	grep -q " [^ ]*<omp_parallel@[^ ]*<main<init" sampled
}

# in_order VFD: times never go back within a lane, enters and exits alternate as in a tree
in_order() {
	"$VFTR" dump --json "$1" >dump.json
	is "[] true true" "$(jq -r '([.events[] | select(.event == "call" or .event == "exit")] | group_by(.lane)) as $lanes |
		"\(.damage) \($lanes | all(map(.t_ns) | . == sort)) \($lanes |
			all((map(select(.event == "call")) | length) == (map(select(.event == "exit")) | length)))"' dump.json)" \
		"damage, and in order"
}

# samples_are CALLS: the header on stdin has so many enters and exits, beside the
# definitions of its stacks
samples_are() {
	awk -v calls="$1" '/^   Function:/ { n = $2 } /^Unique stacks:/ { stacks += $3 }
		END { print n, calls, stacks
			exit !(calls > 0 && n >= 2 * calls && n <= 2 * calls + stacks) }'
}

cc_traced "$BIN/count" "$T/hook/app-count.c"
cc_traced "$BIN/threads" "$T/threads/app-threads.c"
cc_traced "$BIN/api" "$T/hook/app-api.c"
cc_traced "$BIN/end" "$T/hook/app-end.c"

# ---- everything is there ----

test_expect 'every call on every path, of recursion, longjmp, signals of qsort ...' '
	traced "${all[@]}" -- $BIN/count counts
	same_samples count "again|fib|jumps"
	in_order count_*.vfd'

test_expect 'by default few calls are sampled, and the file is whole' '
	rm -f count_*
	traced -q -k sampling.active=true -- $BIN/count counts 300
	"$VFTR" dump count_*.vfd >out
	grep -qx "Complete:        yes" out
	n=$(grep -Ec "^ +[0-9.]+ (call|exit) " out)
	calls=$(json count_all.json .calls)
	[ $n -gt 0 ]
	[ $n -lt $((calls / 50)) ]
	grep -Eq "^ +[0-9.]+ (call|exit) [a-z]+<.*main<init$" out'

test_expect 'precise functions are always sampled' '
	rm -f count_*
	traced -q -k sampling.active=true -k sampling.precise_functions="^(leaf|odd)$" -- $BIN/count counts 20
	calls_sampled count_*.vfd | grep -E "^[0-9]+ (leaf|odd)<" >sampled
	calls_in count_all.json | grep -E "^[0-9]+ (leaf|odd)<" >counted
	diff counted sampled
	[ -s counted ]
	"$VFTR" dump count_*.vfd | grep -q " call odd\*<even<"'

for how in tree detached cancelled; do
	test_expect "threads, $how: each has its lane, with its name and creator" "
		rm -f threads_* creators
		traced \"\${all[@]}\" -- $BIN/threads $how 6 >out || :
		same_samples threads
		in_order threads_*.vfd
		is \"\$(json threads_all.json .threads)\" \"\$(jq '.threads | length' dump.json)\" lanes
		jq -e '[.threads[] | select(.number > 0) | .creator] | all(. >= 0)' dump.json"
done

for how in regions pause; do
	test_expect "user regions and pauses: $how; precise" "
		rm -f api_*
		traced \"\${all[@]}\" -- $BIN/api $how
		same_samples api vftrace_pause
		in_order api_*.vfd
		\"$VFTR\" dump api_*.vfd | grep -q ' call [a-z_]*\*<'"
done

# ---- OpenMP ----

if gcc -fopenmp -xc -o "$BIN/try" - <<<'int main(void) { return 0; }' 2>/dev/null; then
	for p in openmp openmp-nested openmp-tasks; do
		"$T/lib/cached" gcc $TEST_FLAGS -fopenmp -I"$TOP/libhook" -I"$T/openmp" -finstrument-functions -o "$BIN/$p" \
			"$T/openmp/app-$p.c" -lm $(test_link vftrace)
	done
	for how in parallel sizes loops barriers sections; do
		test_expect "OpenMP, $how: workers below their region, with their place in the team" "
			rm -f openmp_*
			traced \"\${all[@]}\" -- $BIN/openmp $how 4
			same_regions
			in_order openmp_*.vfd
			\"$VFTR\" export openmp_*.vfd -f folded --sum -o folded
			grep -q '^main.*omp_parallel' folded
			! grep -q '^omp_' folded || exit 1
			\"$VFTR\" dump openmp_*.vfd | grep -q '(OpenMP level 1, thread [1-3])'"
	done
	test_expect 'OpenMP, tasks: below their region, what was running goes on' '
		rm -f openmp-tasks_*
		traced "${all[@]}" -- $BIN/openmp-tasks copies 4
		same_samples openmp-tasks
		in_order openmp-tasks_*.vfd'
	test_expect 'OpenMP, teams in teams: every call is there, wherever its region is' '
		rm -f openmp-nested_*
		traced "${all[@]}" -- $BIN/openmp-nested nested 3 3
		names() { awk "{ n = \$1; sub(/^[0-9]+ /, \"\"); sub(/<.*/, \"\"); c[\$0] += n }
			END { for (f in c) print c[f], f }" | sort; }
		diff <(calls_in openmp-nested_all.json | names) <(calls_sampled openmp-nested_*.vfd | names)
		in_order openmp-nested_*.vfd'
fi

# ---- MPI ----

# same_messages PROGRAM: messages in the file and in the profile
# Calls that make communicators and open files are collective, but send nothing, and are in no table.
same_messages() {
	"$VFTR" dump --json "$1"_*.vfd >dump.json
	is "[]" "$(jq -c .damage dump.json)" damage
	jq -c '[.events[] | select(.event == "message")] |
		(map(select(.kind == "send")) | [length, (map(.bytes) | add // 0)]),
		(map(select(.kind == "recv")) | [length, (map(.bytes) | add // 0)]),
		(map(select(.kind == "collective" and (.function | test("^MPI_(Comm|Cart|Graph|Dist|Intercomm|File)_") | not))) |
			[length, (map(.bytes) | add // 0), (map(.bytes_received) | add // 0)])' dump.json >got
	jq -c '[.communicators[]] | [(map(.sends) | add), (map(.bytes_sent) | add)],
		[(map(.recvs) | add), (map(.bytes_received) | add)],
		[(map(.collectives) | add), (map(.collective_bytes_sent) | add),
			(map(.collective_bytes_received) | add)]' "$1_all.json" >wanted
	diff wanted got
}

for mpi in $(mpi_list_short); do
	start=$(mpirun_of "$mpi")
	for p in count traffic collectives; do
		mpicc_traced "$mpi" "$BIN/$p-$mpi" "$T/mpi/program/app-mpi-$p.c"
		test_expect "$mpi, $p: calls, messages and collective calls are those of the profile" "
			rm -f $p-${mpi}_* c
			traced \"\${all[@]}\" -k mpi.show_sync_time=true -- $start -np 4 $BIN/$p-$mpi c >out
			same_samples $p-$mpi '[a-z_]+'
			same_messages $p-$mpi
			is '0 1 2 3' \"\$(jq -r '[.processes[].rank | select(. >= 0)] | sort | join(\" \")' dump.json)\"
			jq -e '[.events[] | select(.event == \"message\")] | all(.end_ns >= .t_ns)' dump.json"
	done
	mpicc_traced "$mpi" "$BIN/waits-$mpi" "$T/mpi/program/app-mpi-waits.c"
	test_expect "$mpi: JSON says on which communicator a collective call was, and who is the root" "
		rm -f waits-${mpi}_*
		traced \"\${all[@]}\" -- $start -np 4 $BIN/waits-$mpi >stamps
		\"$VFTR\" dump --json waits-${mpi}_*.vfd >dump.json"'
		# FUNCTION MEMBERS ROOT TIMES of the calls of one id and ticket; root by the stamps
		jq -r "(.communicators | map({key: \"\(.number)\", value: .}) | from_entries) as \$c |
			[.events[] | select(.kind == \"collective\") | . + {on: \$c[\"\(.communicator)\"]}] |
			group_by([.on.id, .ticket])[] |
			(.[0].on | .size + .remote_size) as \$size |
			if length != \$size then \"\(length) of \(\$size) members\" else
			\"\(map(.function) | unique | join(\" \")) \(\$size) \(map(.root) | unique | join(\" \"))\" end" \
			dump.json | sort | uniq -c | awk "{ \$1 = \$1; print }" >got
		for line in "10 MPI_Bcast 4 0" "10 MPI_Bcast 3 1" "5 MPI_Bcast 4 -1 1" "5 MPI_Scatter 4 0" \
			"5 MPI_Scatter 3 1" "10 MPI_Reduce 4 0" "10 MPI_Reduce 3 1" "5 MPI_Reduce 4 -1 1" \
			"5 MPI_Gatherv 3 1" "10 MPI_Scan 4 -1" "10 MPI_Scan 3 -1" "10 MPI_Allreduce 4 -1" \
			"5 MPI_Allreduce 3 -1"; do
			grep -qx -e "$line" got || { echo "not there: $line"; cat got; exit 1; }
		done
		is 0 "$(grep -c members got)"
		is "3 2 1" "$(jq -r "[.communicators[] | select(.size == 3).members[] |
			.first + .stride * range(.count)] | join(\" \")" dump.json)"
		# the same ids as in the profile, which lists those that more was done with than to make others
		jq -r "[.events[] | select(.event == \"message\" and
			(.function // \"\" | test(\"^MPI_(Comm|Cart|Graph|Dist|Intercomm|File)_\") | not)) |
			.communicator] as \$used | .communicators[] | select(.number | IN(\$used[])) | .id" dump.json |
			sort -u >ids
		jq -r ".communicators[].id" waits-'"$mpi"'_all.json | sort -u | diff - ids
	'
	test_expect "$mpi: by default every call of MPI and its messages are there" "
		rm -f traffic-${mpi}_*
		traced -q -k sampling.active=true -- $start -np 2 $BIN/traffic-$mpi >out
		same_messages traffic-$mpi
		diff <(calls_sampled traffic-${mpi}_*.vfd | grep ' MPI_' | grep -v '_sync') \
			<(calls_in traffic-${mpi}_all.json | grep ' MPI_')"
	mpicc_traced "$mpi" "$BIN/rma-$mpi" -Wno-stringop-overflow "$T/mpi/program/app-mpi-rma-io.c" 2>/dev/null
	test_expect "$mpi: one-sided communication, and files with their names" "
		rm -f rma-${mpi}_* data
		traced \"\${all[@]}\" -- $start -np 4 $BIN/rma-$mpi data
		\"$VFTR\" dump --json rma-${mpi}_*.vfd >dump.json
		is \"\$(json rma-${mpi}_all.json '[.files[] | .bytes_read + .bytes_written] | add')\" \
			\"\$(jq '[.events[] | select(.kind == \"file\") | .bytes] | add' dump.json)\" files
		is \"\$(json rma-${mpi}_all.json '[.communication_matrix[].bytes_sent] | add')\" \
			\"\$(jq '[.events[] | select(.kind == \"rma\" or .kind == \"send\") | .bytes] | add' dump.json)\" sent
		\"$VFTR\" dump rma-${mpi}_*.vfd | grep -q 'write .* file=.*data'"
done

# ---- what it costs ----

test_expect 'at most 2.5 bytes for a call of the call-tree program; the node log says it' '
	awk -f "$T/bench/tree.awk" >tree-gen.h
	cc_traced "$BIN/tree" -I. -I"$T/bench" "$T/bench/tree.c"
	traced "${all[@]}" -- $BIN/tree 20
	bytes=$(stat -c %s tree_*.vfd)
	calls=$(json tree_all.json .calls)
	[ $((5 * calls)) -ge $((2 * bytes)) ]
	"$VFTR" dump -H tree_*.vfd | samples_are $calls
	grep -q "^Sampling file: .*/tree_.*\.vfd" tree_node_*.log
	awk "/Bytes per call:/ { good = \$4 > 0.2 && \$4 < 2.5 } END { exit !good }" tree_node_*.log'

test_expect 'max_size: the file stays below it, is whole, and says what is missing' '
	rm -f tree_*
	traced "${all[@]}" -k sampling.max_size=2MiB -- $BIN/tree 40
	[ $(stat -c %s tree_*.vfd) -le $(((2 << 20) + (128 << 10))) ]
	"$VFTR" dump -H tree_*.vfd >out
	grep -q "^Thinned: .*calls left out to stay below 2097152 bytes" out
	grep -qx "Complete:        yes" out
	has tree_node_*.log "sampling.max_size"'

# ---- a disk that is slower than the program ----

# What the agent gives to the disk goes there one part in 50 ms: 10 MB/s.
cat >slow-disk.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <time.h>
struct io_uring;
int io_uring_submit(struct io_uring *ring)
{
	static double next;
	int (*real)(struct io_uring *) = (int (*)(struct io_uring *))dlsym(RTLD_NEXT, "io_uring_submit");
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	double now = t.tv_sec + 1e-9 * t.tv_nsec;
	if (now < next)
		return -EAGAIN;
	next = now + 0.05;
	return real(ring);
}
END
gcc -shared -fPIC -o "$BIN/slow-disk.so" slow-disk.c
behind=(-k sampling.outbuffer_size=1 -k shm.ring_size=256KiB)

# on_slow_disk POLICY: the tree on it; its last words in "out"
on_slow_disk() {
	rm -f tree_*
	LD_PRELOAD=$BIN/slow-disk.so traced "${all[@]}" "${behind[@]}" -k shm.when_full=$1 \
		-- $BIN/tree 120 >out
	"$VFTR" dump -H tree_*.vfd >header
	grep -qx "Complete:        yes" header
	cut -d" " -f1-2 out >words
}

test_expect 'a slow disk, block: the program waits, nothing is missing in profile and file' '
	rm -f tree_*
	traced "${all[@]}" -- $BIN/tree 120 | cut -d" " -f1-2 >words.fast
	json tree_all.json .calls >calls.fast
	on_slow_disk block
	diff words.fast words
	is "$(cat calls.fast)" "$(json tree_all.json .calls)" calls
	is 0 "$(json tree_all.json .lost)" lost
	samples_are $(cat calls.fast) <header
	# 4 MB, of which one may wait
	jq -e ".blocked_s > 0 and .runtime_s > 0.2" tree_all.json'

test_expect 'a slow disk, drop: the program does not wait, what is missing is counted' '
	on_slow_disk drop
	diff words.fast words
	lost=$(json tree_all.json .lost)
	[ $lost -gt 0 ]
	is "$(cat calls.fast)" $(($(json tree_all.json .calls) + lost)) "calls and lost"
	jq -e ".blocked_s == 0" tree_all.json
	grep -qx "Lost calls: *$lost" header'

# ---- ends of all kinds ----

moments=${VFTR_LONG:+0 0.003 0.01 0.03 0.07 0.1 0.2 0.4} moments=${moments:-0 0.05}
export moments
test_expect 'kill -9 of the program at several moments: what it did until then is there' '
	for after in $moments; do
		rm -f end_* counter pid
		status_of 137 traced "${all[@]}" -- sh -c "echo \$\$ >pid; exec $BIN/end counted 20 counter" &
		job=$!
		wait_for 20 "[ -s counter ] && [ \$(number_in counter) -gt 0 ]"
		sleep $after
		kill -9 $(cat pid)
		wait $job
		"$VFTR" dump -H end_*.vfd | tee out | samples_are $(json end_all.json .calls)
		grep -qx "Complete:        yes" out
	done'

cat >slow.c <<'END'
#include <fcntl.h>
#include <time.h>
#include <stdlib.h>
#include <unistd.h>
static void __attribute__((noinline)) leaf(void) { nanosleep(&(struct timespec){0, 500000}, 0); }
int main(int argc, char **argv)
{
	int fd = open(argv[2], O_RDWR | O_CREAT, 0600);
	for (long i = 1; i <= atol(argv[1]); i++) {
		leaf();
		pwrite(fd, &i, sizeof(i), 0);
	}
	return 7;
}
END
cc_traced "$BIN/slow" slow.c

test_expect 'kill -9 of the agent at several moments while it writes: the file is read to its last block' '
	for after in $moments; do
		rm -f tree_* pid
		traced "${all[@]}" -s mine -- sh -c "echo \$\$ >pid; exec $BIN/tree 100000" 2>/dev/null &
		job=$!
		wait_for 20 "[ -e tree_*.vfd ] && [ \$(stat -c %s tree_*.vfd) -gt 100000 ]"
		sleep $after
		kill -9 $(agent_pids)
		kill -9 $(cat pid)
		wait $job || :
		status=0
		"$VFTR" dump -H tree_*.vfd >out 2>err || status=$?
		is 1 $status
		grep -q "it has no end" err
		samples=$(sed -n "s/^   Function: *//p" out)
		[ "$samples" -gt $(($(stat -c %s tree_*.vfd) / 12)) ] || { echo "$samples samples"; exit 1; }
	done'

test_expect 'kill -9 of the agent: all until the last second is readable' '
	for try in 1 2 3 4 5; do # who gets no CPU for a second cannot write
		rm -f slow_* counter
		traced "${all[@]}" -s mine -- sh -c "echo \$\$ >pid; exec $BIN/slow 100000 counter" &
		job=$!
		wait_for 20 "[ -e slow_*.vfd ] && [ \$(stat -c %s slow_*.vfd) -gt 2000 ]"
		called=$(number_in counter)
		sleep 1.2
		kill -9 $(agent_pids)
		kill -9 $(cat pid)
		wait $job || :
		status=0
		"$VFTR" dump slow_*.vfd >out 2>err || status=$?
		is 1 $status
		grep -q "it has no end" err
		hasnt err "left out"
		readable=$(grep -c " call .*main<init" out)
		echo "$called called before the last second, $readable readable"
		# what stood in the block that filled has not been read
		[ $readable -ge $((called - 256)) ] && [ $readable -gt 1000 ] && exit 0
	done
	exit 1'

test_if 'unshare --mount mount -t tmpfs tmpfs /mnt' 'mounting is not allowed here' \
	'a full disk: one warning, the profile is complete, the file readable' '
	mkdir full
	rm -f tree_*
	unshare --mount sh -c "mount -t tmpfs -o size=8m tmpfs full
		$AGENT ${all[*]} -o full -- $BIN/tree 400
		status=\$?
		cp full/*.json full/*.log full/*.vfd .
		exit \$status" 2>err
	is 1 "$(grep -ci "sampling file ends after .*No space left" err)" warnings
	is 0 "$(grep -vc "No space left" err)" "others" # a log may find no room either
	has tree_all.log "No space left"
	"$VFTR" dump -H tree_*.vfd >out 2>dump.err || :
	grep -q "^Complete:        no" out
	[ "$(sed -n "s/^   Function: *//p" out)" -gt 100000 ]
	is 0 "$(json tree_all.json .lost)"'

test_if 'unshare --mount mount -t tmpfs tmpfs /mnt' 'mounting is not allowed here' \
	'results that are larger than what was kept free for them: the end of the file goes instead' '
	mkdir narrow
	rm -f tree_*
	unshare --mount sh -c "mount -t tmpfs -o size=5m tmpfs narrow
		$AGENT ${all[*]} -o narrow -- $BIN/tree 400
		status=\$?
		cp narrow/* .
		exit \$status" 2>err
	has err "bytes were cut off to make room for the other results: No space left"
	json tree_all.json .calls
	has tree_node_*.log "cut off to make room"
	[ -s tree_*.vfp ]
	"$VFTR" dump -H tree_*.vfd >out 2>dump.err || :
	grep -q "^Complete:        no" out
	[ "$(sed -n "s/^   Function: *//p" out)" -gt 1000 ]'

# The JSON has 18 MB, and finds 11 MB free.
test_if 'unshare --mount mount -t tmpfs tmpfs /mnt' 'mounting is not allowed here' \
	'a result that is larger than all room that is left: the same' '
	mkdir large
	rm -f tree_*
	cc_traced "$BIN/paths" "$T/agent/app-paths.c"
	unshare --mount sh -c "mount -t tmpfs -o size=40m tmpfs large
		$AGENT ${all[*]} -o large -- sh -c \"$BIN/tree 400; $BIN/paths 1\"
		status=\$?
		mv large/* .
		exit \$status" 2>err
	has err "bytes were cut off to make room for the other results: No space left"
	[ "$(stat -c %s tree_all.json)" -gt 12000000 ]
	json tree_all.json .calls
	[ -s tree_all.log ]
	[ -s tree_node_*.log ]
	[ -s tree_*.vfp ]
	"$VFTR" dump -H tree_*.vfd >out 2>dump.err || :
	[ "$(sed -n "s/^   Function: *//p" out)" -gt 1000 ]'

test_if 'unshare --mount mount -t tmpfs tmpfs /mnt' 'mounting is not allowed here' \
	'no file can be made any more: nothing of the sampling file is cut off for it' '
	mkdir few
	rm -f tree_*
	status=0
	unshare --mount sh -c "mount -t tmpfs -o size=100m,nr_inodes=3 tmpfs few
		$AGENT ${all[*]} -o few -- $BIN/tree 20
		cp few/* ." 2>err || status=$?
	has err "tree_all.log: No space left"
	hasnt err "cut off"
	[ -s tree_*.vfp ]
	"$VFTR" dump -H tree_*.vfd >out
	grep -q "^Complete:        yes" out'

test_expect 'a file that cannot be made: one warning, and the profile' '
	mkdir -p d/count_$(hostname -s).vfd
	traced "${all[@]}" -o d -- $BIN/count counts 2>err
	is 1 "$(wc -l <err)" warnings
	grep -q "no sampling file: .*count_" err
	json d/count_all.json .calls'

test_expect 'no file without sampling.active' '
	mkdir none
	traced -q -o none -- $BIN/count counts
	! ls none/*.vfd'

done_testing
