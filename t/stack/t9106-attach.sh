#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='vftr attach: processes that run already, seen from outside'
. "$(dirname "$0")/../lib/lib.sh"

need jq
$TEST_CC -O2 -fomit-frame-pointer -o "$BIN/shares" "$T/stack/app-shares.c" -pthread -ldl || exit 1
for name in execs headless later spent zombie; do
	$TEST_CC -O2 -DWHAT_"$name" -o "$BIN/$name" "$T/stack/app-attached.c" -pthread || exit 1
done

# run COMMAND...: in the background, its output in `out'; $pid is the program when this returns, and
# not the shell any more
run() {
	"$@" >out &
	pid=$!
	wait_for 30 "[ \"\$(readlink /proc/$pid/exe)\" != \"$(readlink /proc/$$/exe)\" ]"
}

# attach OPTION...: the results in the folder `got', what it says in `said'
attach() {
	rm -rf got
	limit "$VFTR" attach -o got "$@" 2>said || { test_rc=$?; cat said; return $test_rc; }
}

# seen [PID]: what attach shows of the program while PID, a process of it, has half a second of a CPU:
# about 50 samples, however busy the machine is
seen() {
	rm -rf got
	"$VFTR" attach -o got -k profile.sample=100 "$pid" 2>said &
	test_agent=$!
	wait_for 30 "grep -q \"attached to\" said" && limit "$BIN/spent" "${1:-$pid}" || { cat said; return 1; }
	kill "$test_agent" && wait "$test_agent"
}

by_function() {
	jq -r ".stacks[] | \"\(.function) \(.t_incl_s)\"" got/profile.json
}

# CPU time of the process in the profile, against that of its functions and init
all_of_init() {
	jq -e '(.stacks[] | select(.id == 0) | .t_incl_s) as $all | (.each_process | map(.cpu_s) | add) as $cpu |
		$all > 0.5 * $cpu and $all < 1.2 * $cpu + 0.1' got/profile.json
}

run "$BIN/shares" serial 1000000
attach -k profile.sample=50 -s 0.1 "$pid" || exit 1
kill "$pid"
if grep -q "the kernel allows no stack samples" said; then
	skip_all 'the kernel allows no perf events here'
fi

test_expect 'functions of a program that runs already have their shares of the CPU time' '
	run "$BIN/shares" serial 1500
	attach -k profile.sample=50 "$pid"
	wait "$pid"
	by_function | grep -E "^(little|around|deep) " >found
	# of what was there since the agent came, its share is that of all
	awk "NR == FNR { known += \$2; next } { sum += \$2 } END { print sum / known }" out found >seen
	awk -v f="$(cat seen)" "{ print \$1, \$2 * f }" out >known
	awk -v period="$(awk "BEGIN { print 1 / 50 / 1.0472 }")" -f "$T/stack/within.awk" known found
	awk "{ exit !(\$1 > 0.6 && \$1 < 1.1) }" seen
	all_of_init
	is exited "$(jq -r ".each_process[0].end" got/profile.json)"
	has said "attached to 1 process"
	has got/summary.log "burn < much < around < serial < main"'

test_expect 'it ends after --seconds, and the process goes on' '
	run "$BIN/shares" serial 1000000
	attach -k profile.sample=100 -s 1 "$pid"
	kill -0 "$pid"
	kill -9 "$pid"
	is 1 "$(jq ".each_process | length" got/profile.json)"
	is running "$(jq -r ".each_process[0].end" got/profile.json)"
	jq -e ".runtime_s < 100 and .runtime_s > 0.99" got/profile.json
	jq -e "[.findings[].percent // 0] | max <= 100" got/profile.json
	[ -s got/summary.log ]
	ls got | grep -q "^node-.*\.log$"'

test_expect 'a folder with results: they become .old, and a line says so' '
	run "$BIN/shares" serial 1000000
	rm -rf twice
	for i in 1 2; do
		limit "$VFTR" attach -o twice -k profile.sample=100 -s 0.2 "$pid" 2>said.$i
	done
	kill -9 "$pid"
	hasnt said.1 become
	has said.2 "results of another run in $PWD/twice become NAME.old"
	[ -s twice/profile.json.old ]
	[ -s twice/profile.json ]
	limit "$VFTR" diff twice/profile.json.old twice/profile.json >both'

test_expect 'threads have rows of their own' '
	run "$BIN/shares" threads 400
	attach -k profile.sample=50 -k profile_table.threads=all "$pid"
	is 2 "$(jq ".each_thread | length" got/profile.json)"
	jq -e ".each_thread[1] | .name == \"shares\" and .t_functions_s > 0 and .t_functions_s <= 1.1 * .t_alive_s" got/profile.json
	jq -r ".stacks[].path" got/profile.json >paths
	has paths "burn < much < beside < init"
	has paths "burn < deep < serial < main < init"'

test_expect 'a process that runs another program is two of the profile' '
	run "$BIN/execs" "$BIN/shares" serial 300
	attach -k profile.sample=50 "$pid"
	is "exec exited" "$(jq -r "[.each_process[].end] | join(\" \")" got/profile.json)"
	is "execs shares" "$(jq -r "[.each_process[].executable | sub(\".*/\"; \"\")] | join(\" \")" got/profile.json)"
	is "$pid $pid" "$(jq -r "[.each_process[].pid] | join(\" \")" got/profile.json)"
	jq -r ".stacks[].path" got/profile.json >paths
	has paths "work < before < main < init"
	has paths "burn < deep < serial < main < init"'

test_expect 'children that come later are seen, but for --no-children' '
	run "$BIN/later" 2
	attach -k profile.sample=50 "$pid"
	is 3 "$(jq ".each_process | length" got/profile.json)"
	is "$pid $pid" "$(jq -r ".each_process[0].pid as \$p | [.each_process[] | select(.parent_pid == \$p) | .parent_pid] | join(\" \")" got/profile.json)"
	run "$BIN/later" 1
	attach -k profile.sample=50 --no-children "$pid"
	is 1 "$(jq ".each_process | length" got/profile.json)"'

test_expect 'a process that is killed is a row that says so, with what was seen until then' '
	run "$BIN/shares" serial 1000000
	attach -q -k profile.sample=50 -s 100 "$pid" &
	agent=$!
	limit "$BIN/spent" "$pid"
	kill -9 "$pid"
	wait "$agent"
	is "killed $pid" "$(jq -r ".each_process[0] | \"\(.end) \(.pid)\"" got/profile.json)"
	jq -e "([.stacks[].samples // 0] | add) > 5" got/profile.json'

test_expect 'its end is seen without pidfds, too, as with kernels before 5.3 and in some containers' '
	$TEST_CC -O1 -DCALL=SYS_pidfd_open -o "$BIN/without-pidfds" "$T/lib/without-call.c"
	run "$BIN/shares" serial 1000000
	rm -rf got
	"$BIN/without-pidfds" "$VFTR" attach -o got -s 100 "$pid" 2>said &
	agent=$!
	wait_for 30 "grep -q \"attached to\" said"
	kill -9 "$pid"
	wait "$agent"
	# how, is known only if the shell has not waited for it yet
	jq -e ".each_process[0] | .pid == $pid and .end != \"running\"" got/profile.json'

test_expect 'a file that comes into the place of another one has the names of its own' '
	for name in red green; do
		$TEST_CC -O2 -fPIC -shared -DWORK=only_$name -o "$BIN/$name.so" "$T/stack/app-swapped.c"
	done
	$TEST_CC -O2 -o "$BIN/swapped" "$T/stack/app-swapped.c" -ldl
	run "$BIN/swapped" 2.5 "$BIN/red.so" "$BIN/green.so"
	attach -q -k profile.sample=100 "$pid"
	is 2 "$(wc -l <out)"
	is 1 "$(uniq out | wc -l)"
	jq -r ".stacks[] | \"\(.samples // 0) \(.path)\"" got/profile.json >paths
	# what runs before the change is noticed has the older names
	for name in red green; do
		is yes "$(awk -v n="only_$name" "\$2 == n { sum += \$1 } END { print (sum > 50 ? \"yes\" : sum) }" paths)"
	done'

test_expect 'a program whose file was removed, as it was built anew, has its names while it runs' '
	for options in -Wl,--build-id -Wl,--build-id=none; do
		$TEST_CC -O2 -fomit-frame-pointer $options -o "$BIN/rebuilt" "$T/stack/app-shares.c" -pthread -ldl
		run "$BIN/rebuilt" serial 1000000
		rm "$BIN/rebuilt"
		cp "$BIN/spent" "$BIN/rebuilt"
		seen
		kill "$pid"
		jq -r ".stacks[].path" got/profile.json >paths
		has paths "burn < deep < serial < main < init"
		is rebuilt "$(jq -r ".each_process[0].executable | sub(\".*/\"; \"\")" got/profile.json)"
		hasnt got/summary.log deleted
	done'

test_expect 'an agent that is killed leaves the process as it was' '
	run "$BIN/shares" serial 1000000
	attach -q "$pid" &
	limit "$BIN/spent" "$pid"
	kill -9 "$(head -n 1 "$VFTR_RUNTIME_DIR"/attach-*.lock)"
	wait "$!" || true
	kill -0 "$pid"
	grep -q "^TracerPid:[[:space:]]*0$" "/proc/$pid/status"
	attach -q -s 0.5 "$pid"
	kill "$pid"
	is running "$(jq -r ".each_process[0].end" got/profile.json)"'

test_expect 'several processes are rows of one profile, by number or by name' '
	run "$BIN/shares" serial 1000000
	one=$pid
	run "$BIN/shares" serial 1000000
	attach -q -s 1 "$one" "$pid"
	is 2 "$(jq ".each_process | length" got/profile.json)"
	cp "$BIN/shares" "$BIN/only-this-name"
	run "$BIN/only-this-name" serial 1000000
	attach -q -s 1 --name only-this-name
	is "$pid" "$(jq -r "[.each_process[].pid] | join(\" \")" got/profile.json)"
	kill "$one" "$pid"'

test_expect 'ranks are those that the launcher has told' '
	run env OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=5 "$BIN/shares" serial 1000000
	one=$pid
	run env PMI_RANK=1 PMI_SIZE=5 "$BIN/shares" serial 1000000
	attach -q -s 1 "$one" "$pid"
	kill "$one" "$pid"
	is "1 $pid 3 $one" "$(jq -r "[.each_process[] | .rank, .pid] | join(\" \")" got/profile.json)"'

test_expect 'a batch script looks at its own job: it is left out, as it waits for that' '
	cat >batch.sh <<-END
		echo \$\$ >batch
		"$BIN/shares" serial 1500 >out &
		"$VFTR" attach -q -o got -k profile.sample=50 -j 77
	END
	limit env SLURM_JOB_ID=77 sh batch.sh
	is "1 0" "$(jq -r --argjson batch "$(cat batch)" "[.each_process[] | select(.executable | endswith(\"/shares\"))] as \$shares |
		\"\(\$shares | length) \([.each_process[] | select(.pid == \$batch)] | length)\"" got/profile.json)"'

test_expect 'what cannot be taken is said in a sentence, and the rest is taken' '
	run tail -f /dev/null
	idle=$pid
	run "$BIN/shares" serial 1000000
	refused() { # WORDS PID...
		test_words=$1
		shift
		test_rc=0
		"$VFTR" attach -q -o none "$@" 2>said || test_rc=$?
		is 1 "$test_rc"
		has said "$test_words"
	}
	"$BIN/zombie" >zombie &
	limit sh -c "until [ -s zombie ]; do :; done"
	refused "there is no process 4194305" 4194305
	test_rc=0
	sh -c "exec \"$VFTR\" attach -q -o none \$\$" 2>said || test_rc=$?
	is 1 "$test_rc"
	has said "is this one, which looks at others"
	refused "has ended, and its parent has not waited for it yet" "$(cat zombie)"
	kill $!
	"$BIN/headless" &
	limit sh -c "until grep -q \"^State:.Z\" /proc/$!/status; do :; done"
	refused "process $! goes on without its first thread, which has ended" $!
	kill $!
	[ ! -d /proc/2 ] || [ -e /proc/2/exe ] || refused "process 2 is a thread of the kernel" 2
	refused "no process of yours that can be looked at runs no-such-program" -n no-such-program
	attach -s 1 4194305 "$pid"
	has said "there is no process 4194305"
	is "$pid" "$(jq -r "[.each_process[].pid] | join(\" \")" got/profile.json)"
	attach -q -s 1 "$idle"
	is 0 "$(jq "[.stacks[].samples // 0] | add" got/profile.json)"
	kill "$idle" "$pid"
	for bad in "" "-u -n x" "x" "-s never 1"; do
		test_rc=0
		"$VFTR" attach $bad 2>said || test_rc=$?
		is 2 "$test_rc"
	done'

test_expect 'a name of more than 15 bytes is that of the whole file or script, and no other one' '
	cp "$BIN/shares" simulation_driver_cpu
	run ./simulation_driver_cpu serial 1000000
	test_rc=0
	"$VFTR" attach -q -s 1 -o none -n simulation_driver_gpu 2>said || test_rc=$?
	is 1 "$test_rc"
	has said "no process of yours that can be looked at runs simulation_driver_gpu"
	attach -s 1 -n simulation_driver_cpu
	is "$pid" "$(jq -r "[.each_process[].pid] | join(\" \")" got/profile.json)"
	rm simulation_driver_cpu
	attach -s 1 -n simulation_driver_cpu
	is "$pid" "$(jq -r "[.each_process[].pid] | join(\" \")" got/profile.json)"
	kill "$pid"
	printf "#!/bin/sh\nwhile :; do :; done\n" >simulation_driver.sh
	chmod +x simulation_driver.sh
	./simulation_driver.sh &
	pid=$!
	wait_for 30 "grep -q simulation_driv /proc/$pid/comm"
	attach -s 1 -n simulation_driver.sh
	kill "$pid"
	is "$pid" "$(jq -r "[.each_process[].pid] | join(\" \")" got/profile.json)"'

test_expect 'a process that is traced already is refused, with what shows it' '
	cp "$BIN/shares" "$BIN/is-traced"
	"$AGENT" -q --session mine --preload -- "$BIN/is-traced" serial 1000000 >/dev/null &
	agent=$!
	limit sh -c "until pid=\$(pgrep -P $agent -x is-traced) && grep -q memfd:vftr-control /proc/\$pid/maps; do :; done"
	test_rc=0
	"$VFTR" attach "$(pgrep -P "$agent" -x is-traced)" 2>said || test_rc=$?
	"$VFTR" attach -s 1 -n is-traced 2>by_name || true
	kill "$(pgrep -P "$agent" -x is-traced)"
	wait "$agent" || true
	is 1 "$test_rc"
	has said "is traced already"
	has said "vftr where"
	has by_name "no process of yours that can be looked at runs is-traced"
	has by_name "is traced already"'

test_if "command -v mpirun.openmpi mpicc.openmpi" "no Open MPI" 'with its mpirun all ranks of a job are shown' '
	mpicc.openmpi -O2 -o "$BIN/ranks" "$T/stack/app-attached-mpi.c"
	run mpirun.openmpi --oversubscribe --bind-to none -np 3 "$BIN/ranks" ready
	limit sh -c "until [ -e ready ]; do :; done"
	seen "$(pgrep -P "$pid" -x ranks | head -n 1)"
	rm ready
	wait "$pid"
	is "0 1 2" "$(jq -r "[.each_process[] | select(.executable | endswith(\"/ranks\")) | .rank] | join(\" \")" got/profile.json)"
	jq -r ".stacks[].path" got/profile.json >paths
	has paths "own_work < main < init"'

test_if "command -v python3" "no python3" 'an interpreter has its native functions' '
	run "$(python3 -c "import sys; print(sys.executable)")" -c "
import json
while True:
	json.loads(json.dumps([{str(i): [i] * 9} for i in range(50)]))"
	seen
	kill "$pid"
	jq -r ".stacks[].path" got/profile.json >paths
	has paths "Py"'

test_expect 'more threads than there is room for have rows, and the log says so' '
	run "$BIN/shares" crowd 1000000
	limit sh -c "until [ \$(ls /proc/$pid/task | wc -l) = 61 ]; do :; done"
	(ulimit -n 120; attach -q -s 1 -k profile_table.threads=all "$pid")
	kill -9 "$pid"
	is 61 "$(jq ".each_thread | length" got/profile.json)"
	grep -q "this thread, maybe more, has no stack samples" got/*.log'

mounts='[ "$(id -u)" = 0 ] && unshare -m true'
test_if "$mounts" 'mounts need root' 'a process that sees other files than we do has the names of its own' '
	mkdir inner hidden
	cp "$BIN/shares" hidden/only-inside
	run unshare -m sh -c "mount --bind hidden inner && exec inner/only-inside serial 1000000"
	limit sh -c "until readlink /proc/$pid/exe | grep -q only-inside; do :; done"
	[ ! -e inner/only-inside ]
	seen
	kill "$pid"
	jq -r ".stacks[].path" got/profile.json >paths
	has paths "burn < deep < serial < main < init"'

test_if "$mounts" 'mounts need root' 'so has one in a root of its own, alone or with other files' '
	$TEST_CC -O2 -static -o "$BIN/static" "$T/stack/app-shares.c" -pthread
	mkdir jail
	cp "$BIN/static" jail/jailed
	mkdir jail/all
	for way in "chroot jail /jailed" \
		"unshare -m sh -c \"mount --rbind / jail/all && exec chroot jail/all $BIN/static serial 1000000\" "; do
		eval "run $way serial 1000000"
		limit sh -c "until readlink /proc/$pid/exe | grep -q jail; do :; done"
		seen || return
		kill "$pid"
		jq -r ".stacks[].path" got/profile.json >paths
		has paths "deep < serial < main <" || return
	done'

test_expect 'where the kernel allows no samples, a sentence says so, and no folder is left' '
	$TEST_CC -O1 -DCALL=SYS_perf_event_open -o "$BIN/without-perf" "$T/lib/without-call.c"
	run "$BIN/shares" serial 1000000
	test_rc=0
	limit "$BIN/without-perf" "$VFTR" attach -o refused "$pid" 2>said || test_rc=$?
	kill "$pid"
	is 125 "$test_rc"
	has said "the kernel allows no stack samples (perf_event_open: Operation not permitted"
	[ ! -e refused ]'

root='[ "$(id -u)" = 0 ] && setpriv --reuid=65534 --clear-groups true'
test_if "$root" 'another user needs root' 'another user is refused' '
	run "$BIN/shares" serial 1000000
	mkdir -m 777 other
	chmod 755 "$VFTR_TEST_DIR"
	test_rc=0
	(cd other && VFTR_RUNTIME_DIR=$PWD setpriv --reuid=65534 --clear-groups "$VFTR" attach "$pid" 2>../said) || test_rc=$?
	kill "$pid"
	is 1 "$test_rc"
	has said "process $pid is of user root: only its own user, or root, may attach to it"'

test_if "$root" 'another user needs root' 'why a program that may be executed and not read is shown to root only' '
	mkdir -m 777 unread
	chmod 755 "$VFTR_TEST_DIR"
	cp "$BIN/shares" unread/ && chmod 711 unread/shares
	(cd unread && exec setpriv --reuid=65534 --clear-groups env ./shares serial 1000000 >/dev/null) &
	pid=$!
	wait_for 30 "[ \"\$(readlink /proc/$pid/exe)\" = $PWD/unread/shares ]"
	test_rc=0
	(cd unread && VFTR_RUNTIME_DIR=$PWD setpriv --reuid=65534 --clear-groups "$VFTR" attach "$pid" 2>../said) || test_rc=$?
	kill "$pid"
	is 1 "$test_rc"
	has said "process $pid is shown to root only, as its file may be executed and not read"
	(cd unread && unset VFTR_RUNTIME_DIR && limit setpriv --reuid=65534 --clear-groups "$VFTR" run -q -o got -k profile.sample=50 ./shares serial 20 >/dev/null 2>&1)
	has unread/got/summary.log "its file may be executed and not read, so the kernel shows its stacks to root only"'

rootless='[ "$(id -u)" = 0 ] && setpriv --bounding-set -sys_ptrace,-perfmon,-sys_admin --inh-caps -sys_ptrace true'
test_if "$rootless" 'rights are dropped by root' 'root without the right is not told to become root' '
	mkdir -m 777 lacks
	chmod 755 "$VFTR_TEST_DIR"
	cp "$BIN/shares" lacks/ && chmod 755 lacks/shares
	(cd lacks && exec setpriv --reuid=65534 --clear-groups ./shares serial 1000000) &
	pid=$!
	wait_for 30 "[ \"\$(readlink /proc/$pid/exe)\" = $PWD/lacks/shares ]"
	test_rc=0
	limit setpriv --bounding-set -sys_ptrace,-perfmon,-sys_admin --inh-caps -sys_ptrace "$VFTR" attach "$pid" 2>said || test_rc=$?
	kill "$pid"
	is 1 "$test_rc"
	has said "process $pid is not shown to root here either, who lacks the right"'

done_testing
