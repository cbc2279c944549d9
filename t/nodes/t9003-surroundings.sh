#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
test_description='bad surroundings: one clear sentence, and the program is unharmed'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$LIB/libvftrace.so"

cc_traced "$BIN/end" "$T/hook/app-end.c" || skip_all 'app-end.c cannot be compiled'
gcc -D_GNU_SOURCE -I"$TOP" -o "$BIN/wire" "$T/shm/app-wire.c" || skip_all 'app-wire.c cannot be compiled'
DEFAULT=$VFTR_RUNTIME_DIR/default.sock

# says FILE WORDS...: exactly one line, which contains these words (any case)
says() {
	local n
	n=$(wc -l <"$1")
	[ "$n" -eq 1 ] || { echo "$n lines, wanted one:"; cat "$1"; return 1; } >&2
	for w in "${@:2}"; do
		grep -qi -e "$w" "$1" || { echo "not about $w: $(cat "$1")" >&2; return 1; }
	done
}

# refused WORDS...: the everyday form must not run the command, and say why
refused_with() {
	rm -f ran
	status_of 125 limit "$AGENT" "${options[@]}" -- sh -c ': >ran' 2>err
	[ ! -e ran ] || { echo "the command ran" >&2; return 1; }
	says err "$@"
}

# untraced WORDS...: the program runs by itself, untraced, and says why once
untraced() {
	rm -f end_*
	status_of 3 limit env VFTR_AGENT="$AGENT" "${settings[@]}" "$BIN/end" exit3 2>err
	says err untraced "$@"
	[ ! -e end_all.json ]
}

# ---- output ----

test_expect 'an output directory that does not exist is refused' '
	options=(-o "$PWD/nowhere")
	refused_with nowhere'

test_expect 'an output directory that is a file is refused' '
	: >file
	options=(-o "$PWD/file")
	refused_with file'

test_if 'unshare --mount mount -t tmpfs tmpfs /mnt' 'mounting is not allowed here' \
	'an output directory that cannot be written is refused' '
	mkdir ro
	unshare --mount sh -c "mount -t tmpfs -o ro tmpfs ro && exec $AGENT -o ro -- $BIN/end exit3" \
		2>err || status=$?
	is 125 "$status"
	says err "ro"'

test_if 'unshare --mount mount -t tmpfs tmpfs /mnt' 'mounting is not allowed here' \
	'a full disk: the status is the program'"'"'s, no file is half-written' '
	mkdir full
	unshare --mount sh -c "mount -t tmpfs -o size=16k tmpfs full
		$AGENT -q -o full -- $BIN/end mutual
		status=\$?
		cp full/* . 2>/dev/null
		exit \$status" 2>err
	grep -qi "space" err
	for f in *_all.json; do
		[ ! -e "$f" ] || json "$f" .version >/dev/null
	done
	! ls | grep -E "\.(tmp|new|part)"'

# ---- session ----

test_if '[ -z "$SANITIZE" ] && unshare --mount mount -t tmpfs tmpfs /mnt' \
	'mounting is not allowed here, or a sanitizer wants /proc' \
	'without /proc the profile has the name of the program, and its functions' '
	rm -f end_*
	(cd "$BIN" && status_of 3 unshare --mount sh -c "mount -t tmpfs tmpfs /proc &&
		exec $AGENT -q -o $OLDPWD -- ./end exit3")
	is 10 "$(calls_of end_all.json "leaf<work<outer<main<init")"'

test_expect 'a stale socket is replaced' '
	"$AGENT" -q -s stale -- sleep 30 &
	wait_for 10 "[ -S $VFTR_RUNTIME_DIR/stale.sock ]"
	kill -9 $(agent_pids)
	kill $!
	wait $! || :
	[ -S "$VFTR_RUNTIME_DIR/stale.sock" ]
	rm -f end_*
	status_of 3 traced -q -s stale -- "$BIN/end" exit3 2>err
	is 0 "$(wc -l <err)" "lines said"
	is 1 "$(calls_of end_all.json "main<init")"'

test_expect 'a stale socket does not hold up a program without an agent' '
	rm -f "$DEFAULT" end_*
	perl -e "use Socket; socket(S, AF_UNIX, SOCK_SEQPACKET, 0); bind(S, sockaddr_un(\$ARGV[0]))" \
		"$DEFAULT"
	[ -S "$DEFAULT" ]
	status_of 3 limit env VFTR_AGENT="$AGENT" "$BIN/end" exit3
	wait_for 20 "[ -s end_all.json ]"
	wait_for 20 "[ -z \"\$(agent_pids)\" ]"
	rm -f "$DEFAULT"'

# Agents that are slow where another process could come in between
cat >slow-agent.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>
int listen(int fd, int n)
{
	int (*real)(int, int) = (int (*)(int, int))dlsym(RTLD_NEXT, "listen");
	usleep(400000);
	return real(fd, n);
}
int flock(int fd, int how)
{
	int (*real)(int, int) = (int (*)(int, int))dlsym(RTLD_NEXT, "flock");
	int error = real(fd, how);
	usleep(100000);
	return error;
}
END
gcc -shared -fPIC -o "$BIN/slow-agent.so" slow-agent.c

test_expect 'a socket that is there is served' '
	rm -f end_*
	LD_PRELOAD=$BIN/slow-agent.so limit "$AGENT" -q -s slow &
	wait_for 20 "[ -S $VFTR_RUNTIME_DIR/slow.sock ]"
	status_of 3 limit env VFTR_AGENT=off VFTR_SESSION=slow "$BIN/end" exit3
	wait_for 5 "[ -s end_all.json ]" # or nobody has come, and it waits
	wait $!
	is 1 "$(calls_of end_all.json "main<init")"
	is "" "$(ls "$VFTR_RUNTIME_DIR" | grep slow)"'

test_expect 'who sweeps up what killed agents have left does not keep others from their session' '
	for i in 1 2 3; do
		rm -f end_*
		: >"$VFTR_RUNTIME_DIR/swept.lock"
		LD_PRELOAD=$BIN/slow-agent.so "$AGENT" -q -s sweeper -- true &
		# it has that lock for 0.1 s, now or soon
		for k in 1 2 3 4 5 6; do
			status_of 3 traced -q -s swept -- "$BIN/end" exit3
			: >"$VFTR_RUNTIME_DIR/swept.lock"
		done
		wait $!
	done'

# An agent of a process whose files are there only 3 s after its session is gone
cat >late-files.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>
int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
	int (*real)(int, const char *, int, const char *) =
		(int (*)(int, const char *, int, const char *))dlsym(RTLD_NEXT, "renameat");
	if (strstr(to, ".vfp"))
		sleep(3);
	return real(from_dir, from, to_dir, to);
}
END
gcc -shared -fPIC -o "$BIN/late-files.so" late-files.c
printf '#!/bin/sh\nLD_PRELOAD=%s exec %s "$@"\n' "$BIN/late-files.so" "$AGENT" >late-agent
chmod +x late-agent

test_expect 'an agent waits for the files of the one that a process started, not for its session only' '
	rm -f end_*
	limit "$AGENT" -s beside 2>err &
	wait_for 20 "[ -S $VFTR_RUNTIME_DIR/beside.sock ]"
	status_of 3 limit env VFTR_AGENT="$PWD/late-agent" "$BIN/end" exit3
	wait_for 5 "ls $VFTR_RUNTIME_DIR | grep writes"
	kill -0 $!
	wait $!
	has err "is taken as the profile of this node"
	is 1 "$(calls_of end_all.json "main<init")"
	wait_for 5 "[ -z \"\$(agent_pids)\" ]"
	is "" "$(ls "$VFTR_RUNTIME_DIR" | grep -e beside -e writes)"'

test_expect 'a second agent on a session is refused, the first is unharmed' '
	rm -f end_*
	traced -q -s twice -- sh -c ": >first; while [ ! -e refused ]; do sleep 0.1; done; exec $BIN/end exit3" &
	first=$!
	wait_for 10 "[ -e first ]"
	options=(-s twice)
	refused_with twice
	touch refused
	status=0
	wait $first || status=$?
	is 3 $status
	is 1 "$(calls_of end_all.json "main<init")"'

if [ "$(id -u)" = 0 ]; then
	test_expect 'a runtime directory of another user is refused by agent and process' '
		mkdir -m 700 other
		chown 65534 other
		export VFTR_RUNTIME_DIR=$PWD/other
		options=()
		refused_with other
		status_of 3 limit env VFTR_SESSION=x VFTR_AGENT="$AGENT" "$BIN/end" exit3 2>err
		says err other'
	test_expect 'the socket of another user is not trusted' '
		mkdir -m 777 shared
		(cd shared && exec setpriv --reuid=65534 --regid=65534 --clear-groups \
			"$BIN/wire" silent ./default.sock) &
		wait_for 10 "[ -S shared/default.sock ]"
		chmod 700 shared
		export VFTR_RUNTIME_DIR=$PWD/shared
		settings=(VFTR_AGENT=off)
		untraced "another user"
		kill $!'
else
	test_skip 'other users' 'needs root'
fi

test_expect 'a runtime directory open to others is refused' '
	mkdir -m 777 open
	chmod 777 open
	export VFTR_RUNTIME_DIR=$PWD/open
	options=()
	refused_with open'

test_expect 'a path too long for a socket is refused' '
	long=$PWD/$(printf "x%.0s" $(seq 100))
	mkdir -m 700 "$long"
	export VFTR_RUNTIME_DIR=$long
	options=()
	refused_with "long"'

# ---- versions ----

test_expect 'a process of another version is refused with both versions' '
	traced -q -s versions -- "$BIN/wire" old "$VFTR_RUNTIME_DIR/versions.sock" >out 2>err
	mine=$(sed -n "s/^#define WIRE_VERSION *\([0-9]*\).*/\1/p" "$TOP/shm/wire.h")
	grep -qw "$mine" out
	grep -qw $((mine + 41)) out'

test_expect 'of a thousand processes of another version one is told why, the others are off' '
	at=$VFTR_RUNTIME_DIR/versions.sock
	traced -q -s versions -- \
		sh -c "$BIN/wire old $at; for i in 1 2 3; do $BIN/wire off $at; done" >out 2>err
	is 1 "$(grep -c version out)"
	is 3 "$(grep -c ^off out)"'

test_expect 'something else than an agent is started: one sentence, and untraced' '
	rm -f end_*
	status_of 3 limit env VFTR_AGENT=/bin/false "$BIN/end" exit3 2>err
	is 1 "$(wc -l <err)"
	has err VFTR_AGENT'

test_expect 'a process refused by an agent says why once and runs untraced' '
	"$BIN/wire" refuse "$DEFAULT" &
	wait_for 10 "[ -S $DEFAULT ]"
	settings=(X=1)
	for i in 1 2 3 4 5 6 7 8 9 10; do # one that hangs up at once, whatever we send
		untraced "version 7"
	done
	kill $!
	rm -f "$DEFAULT"'

test_expect 'an agent that babbles or is silent costs seconds, not the program' '
	for how in babble silent; do
		printf "1\n1000\n" >"${DEFAULT%.sock}.lock" # a second, not the default of 30
		"$BIN/wire" $how "$DEFAULT" &
		wait_for 10 "[ -S $DEFAULT ]"
		settings=(X=1)
		untraced
		kill $!
		rm -f "${DEFAULT%.sock}".*
	done'

test_expect 'noise on the socket does not disturb the agent or its other processes' '
	rm -f end_*
	traced -q -s noise -- sh -c "$BIN/wire noise $VFTR_RUNTIME_DIR/noise.sock; \
		exec $BIN/end exit3" 2>err || status=$?
	is 3 "$status"
	is 1 "$(calls_of end_all.json "main<init")"'

# ---- memory, descriptors ----

test_expect 'no memory for rings: the program runs untraced, the profile says so' '
	rm -f end_*
	status=0
	(
		trap "" XFSZ
		ulimit -f 1000
		limit "$AGENT" -q -k shm.ring_size=64MiB -- "$BIN/end" exit3
	) 2>err || status=$?
	is 3 "$status" "exit status"
	grep -qiE "ring|memory|large" err end_node_*.log'

test_expect 'no descriptors left for the agent: the program runs' '
	rm -f end_*
	status=0
	(
		ulimit -n 12
		limit "$AGENT" -q -- "$BIN/end" exit3
	) 2>err || status=$?
	[ "$status" = 3 ] || [ "$status" = 125 ]'

test_expect 'a program that was refused for lack of descriptors: that is why nothing was traced' '
	rm -f end_*
	status=0
	(
		ulimit -n 20
		limit "$AGENT" -- "$BIN/end" exit3
	) 2>err || status=$?
	cat err
	is 3 "$status" "exit status"
	grep "was refused: the agent has no descriptors left" err
	grep "no process of $BIN/end was traced: the agent has refused 1, see above" err
	if grep "was .* started?" err; then return 1; fi'

test_expect 'no file may be written: the program runs untraced, and its status is kept' '
	rm -f end_*
	status=$( (
		ulimit -f 0
		limit "$AGENT" -- "$BIN/end" exit3 2>&1 >/dev/null | cat >&4
		echo "${PIPESTATUS[0]}"
	) 4>&1 | tee all | tail -1)
	is 3 "$status" "exit status"
	grep -q "too large" all'

test_expect 'logs that cannot be written are named, and the rest is there' '
	rm -rf end_*
	node=end_node_$(uname -n | cut -d. -f1).log
	mkdir -p end_all.log/kept $node/kept
	status_of 3 limit "$AGENT" -- "$BIN/end" exit3 2>err
	is 1 "$(grep -c "cannot write $PWD/end_all.log: " err)" "sentences on the summary"
	is 1 "$(grep -c "cannot write $PWD/$node: " err)" "sentences on the log of the node"
	[ -s end_all.json ]
	rm -rf end_*'

test_expect 'threads that have no descriptor for a ring: they run, the profile says so, and the agent has it back' '
	cat >limited.c <<-END
		#include <pthread.h>
		#include <sys/resource.h>
		static void *run(void *n)
		{
			return n;
		}
		int main(void)
		{
			struct rlimit none = {3, 3};
			pthread_t t;
			setrlimit(RLIMIT_NOFILE, &none);
			for (long i = 0; i < 50; i++)
				if (pthread_create(&t, 0, run, (void *)i) || pthread_join(t, 0))
					return 1;
			return 3;
		}
	END
	cc_traced "$BIN/limited" limited.c
	status_of 3 traced -q -- "$BIN/limited"
	is 1 "$(json limited_all.json .warnings[] | grep -c "had no memory for its events and was not traced: Too many open files (see ulimit -n)")"
	is 1 "$(calls_of limited_all.json "main<init")"
	grep "Vftrace used memory" limited_all.log | awk "{ exit \$4 > 20 }"
	[ -z "$SANITIZE" ] || exit 0
	rm -f end_*
	status_of 3 traced -q -k shm.ring_size=64MiB -- sh -c "ulimit -v 8000; $BIN/end exit3" # no room for 8 MiB
	is 1 "$(json end_all.json .warnings[] | grep -c "had no memory for its events and was not traced: Cannot")"'

test_expect 'the command has the limits and signals that the agent was given' '
	ask="ulimit -Sa; grep -E \"^(SigBlk|SigIgn|Cpus_allowed|Seccomp)\" /proc/self/status; nice"
	(
		ulimit -Sn 200
		trap "" USR2
		sh -c "$ask" >without
		limit "$AGENT" -q -- sh -c "$ask" >with 2>err
	)
	diff without with'

test_expect 'an agent that hangs up before it answers: its successor is asked' '
	rm -f end_*
	gcc -o "$BIN/hangs-up" "$T/hook/app-hangs-up.c"
	"$BIN/hangs-up" "$DEFAULT" &
	wait_for 20 "[ -e $DEFAULT ]"
	status_of 3 limit env VFTR_AGENT="$AGENT" "$BIN/end" exit3 2>err
	wait $!
	hasnt err untraced
	wait_for 20 "[ -e end_all.json ]"
	is 1 "$(calls_of end_all.json "main<init")"
	"$BIN/hangs-up" "$DEFAULT" &
	wait_for 20 "[ -e $DEFAULT ]"
	status_of 3 limit env VFTR_AGENT=off "$BIN/end" exit3 2>err
	wait $!
	is "" "$(cat err)"'

test_expect 'a hundred processes at once' '
	rm -f end_*
	traced -q -- sh -c "for i in \$(seq 100); do $BIN/end return & done; wait"
	is 100 "$(calls_of end_all.json "main<init")"'

test_if 'command -v script && script -qec true /dev/null' 'no script(1)' \
	'an agent that was typed without a command says for whom it waits; others are silent' '
	rm -f end_*
	script -qfec "$AGENT -s typed -k agent.linger_s=0.2" tty.out >/dev/null </dev/null &
	wait_for 20 "grep -q \"waiting for processes of session .typed.;\" tty.out"
	status_of 3 limit env VFTR_SESSION=typed VFTR_AGENT=off "$BIN/end" exit3
	wait $!
	is 1 "$(calls_of end_all.json "main<init")"
	rm -f end_*
	limit "$AGENT" -s piped -k agent.linger_s=0.2 2>err &
	wait_for 20 "[ -e $VFTR_RUNTIME_DIR/piped.sock ]"
	status_of 3 limit env VFTR_SESSION=piped VFTR_AGENT=off "$BIN/end" exit3
	wait $!
	has err "profile: "
	hasnt err waiting'

test_expect 'an agent with a command for each rank of a launcher: they are one' '
	rm -f end_*
	for rank in 0 1; do
		(export OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=$rank PMIX_NAMESPACE=one
		export OMPI_COMM_WORLD_LOCAL_SIZE=2 OMPI_COMM_WORLD_LOCAL_RANK=$rank
		status_of 3 limit "$AGENT" -- "$BIN/end" exit3 2>err.$rank; echo $? >status.$rank) &
	done
	wait_for 20 "[ -s status.0 ] && [ -s status.1 ]"
	is "0 0" "$(cat status.0 status.1 | paste -sd" ")" "both ended with 3"
	wait_for 20 "[ -s end_all.json ]"
	is 2 "$(json end_all.json .processes)"
	is "" "$(ls -d .vftr-* 2>/dev/null)"'

# ---- configuration ----

test_expect 'a configuration that is no JSON is refused, with file and line' '
	printf "{\n  \"off\": tru\n}\n" >bad.json
	options=(-c bad.json)
	refused_with "bad.json:2:"'

test_expect 'a value of the wrong type is refused, with file and line' '
	printf "{\n\n  \"shm\": { \"ring_size\": true }\n}\n" >bad.json
	options=(-c bad.json)
	refused_with "bad.json:3:" ring_size'

test_expect 'a configuration file that is not there is refused' '
	options=(-c missing.json)
	refused_with missing.json'

test_expect 'a --set that names no key is refused, with the nearest one' '
	options=(-k shm.ring_sise=1MiB)
	refused_with ring_sise ring_size
	options=(-k Sampling=true)
	refused_with "\"sampling\" is a section"'

test_expect 'an unknown key in a file is refused, or warns if that is wanted, with the nearest one' '
	printf "{ \"shm\": { \"ring_sise\": \"1MiB\" } }\n" >warn.json
	options=(-c warn.json)
	refused_with ring_sise ring_size warn.json:1:
	status_of 3 traced -q --lenient -c warn.json -- "$BIN/end" exit3 2>err
	has err ring_sise
	has err ring_size
	has err warn.json:1:'

test_expect 'without an everyday form a bad configuration means untraced, said once' '
	printf "{\n  \"off\": tru\n}\n" >bad.json
	settings=(VFTR_CONFIG=$PWD/bad.json)
	rm -f end_*
	status_of 3 limit env VFTR_AGENT="$AGENT" "${settings[@]}" "$BIN/end" exit3 2>err
	says err bad.json:2:
	[ ! -e end_all.json ]'

# ---- off ----

test_expect 'VFTR_OFF: nothing is written, nothing is said, nothing is started' '
	for v in 1 yes on true TRUE; do
		rm -f end_*
		status_of 3 limit env VFTR_OFF=$v VFTR_AGENT="$AGENT" "$BIN/end" exit3 2>err
		is 0 "$(wc -l <err)" "lines said"
		[ ! -e end_all.json ]
		is "" "$(agent_pids)" agents
	done'

test_expect 'VFTR_AGENT=off: untraced and silent' '
	rm -f end_*
	status_of 3 limit env VFTR_AGENT=off "$BIN/end" exit3 2>err
	is 0 "$(wc -l <err)" "lines said"
	[ ! -e end_all.json ]'

test_expect 'an agent that cannot be executed: said once' '
	settings=(VFTR_AGENT=/nonexistent/agent)
	rm -f end_*
	status_of 3 limit env "${settings[@]}" "$BIN/end" exit3 2>err
	says err untraced'

test_if 'unshare --pid --fork --mount-proc true' 'no process namespaces here' \
	'process 1 of a container, which waits for all its children, finds none of ours' '
	cat >first.c <<-END
		#include <sys/wait.h>
		#include <unistd.h>
		int main(void)
		{
			int n = 0;
			if (!fork())
				_exit(0);
			while (wait(0) > 0)
				n++;
			return n;
		}
	END
	cc_traced "$BIN/first" first.c
	status_of 1 limit env VFTR_AGENT="$AGENT" unshare --pid --fork --mount-proc "$BIN/first" 2>err
	says err "process 1" "vftr-node-agent -- COMMAND"
	[ ! -e first_all.json ]
	status_of 1 traced -q -- unshare --pid --fork --mount-proc "$BIN/first"
	is 1 "$(calls_of first_all.json "main<init")"'

test_expect 'installed in a folder with a blank in its name: --preload works, but not on several nodes' '
	mkdir -p "with a blank"
	cp -R "$BUILD/bin" "$BUILD/lib" "with a blank/"
	cc_plain "$BIN/preloaded" "$T/hook/app-end.c"
	rm -f preloaded_all.json
	status_of 3 limit "with a blank/bin/vftr-node-agent" -q --preload -- "$BIN/preloaded" exit3 2>err
	is 0 "$(wc -c <err)" "bytes on stderr"
	[ "$(json preloaded_all.json .ranks)" = 1 ]
	[ "$(json preloaded_all.json ".stacks | length")" -gt 3 ]
	status_of 125 limit "with a blank/bin/vftr-node-agent" --agent-launcher "sh x" --preload -- "$BIN/preloaded" exit3 2>err
	says err "with a blank" "other nodes"
	rm -r "with a blank"'

test_expect 'a command that does not exist: status and sentence of a shell' '
	status=0
	limit "$AGENT" -- ./no-such-program 2>err || status=$?
	is 127 "$status"
	says err no-such-program
	cp "$BIN/end" here
	status_of 127 limit "$AGENT" -- here exit3 2>err
	says err "\./here"'

test_if 'strace -o /dev/null true' 'no strace' \
	'what cannot be watched is said, and the program is not harmed' '
	refused=0
	for n in 2 3 4 5; do
		rm -f end_*
		status=0
		limit strace -f -o calls -e trace=epoll_ctl -e inject=epoll_ctl:error=ENOSPC:when=$n \
			"$AGENT" -q -- "$BIN/end" exit3 >out 2>err || status=$?
		grep -q INJECTED calls || continue
		refused=$((refused + 1))
		case $status in
		3) ;;
		125) is 2 $n ;;
		*) is 3 $status ;;
		esac
		grep -q max_user_watches err
	done
	[ $refused -ge 3 ]'

done_testing
