#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='agents and tools give up what they do not need; the application keeps all'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$VFTR" "$LIB/libvftrace.so"

cc_traced "$BIN/rights" "$T/security/app-rights.c"
cc_plain "$BIN/rights-plain" "$T/security/app-rights.c"
"$BIN/rights-plain" >plain
[ "$(awk '/Seccomp:/ && $3 != 0' plain)" = "" ] && outer=no || outer=yes

# state PID: "NoNewPrivs Seccomp"
state() {
	awk '/^NoNewPrivs:|^Seccomp:/ { printf "%s ", $2 }' "/proc/$1/status"
}

# confined PID: it has given up
confined() {
	wait_for 20 "[ \"\$(state $1)\" = '1 2 ' ]" || {
		echo "process $1 has: $(state "$1"): $(tr '\0' ' ' <"/proc/$1/cmdline")"
		return 1
	}
}

# agent_of SESSION
agent_of() {
	head -n 1 "$VFTR_RUNTIME_DIR/$1.lock"
}

# as_before FILE: what a traced program says of itself is what an untraced one says
as_before() {
	grep -E "^(program|child|traces) " "$1" >said
	diff plain said
}

test_expect 'the everyday form: the agent has, its supervisor and COMMAND have not' '
	traced -q -s one -- "$BIN/rights" "$PWD/go" >out &
	wait_for 20 "grep -q traces out"
	confined "$(agent_of one)"
	as_before out
	supervisor=$(awk "/^PPid:/ { print \$2 }" /proc/$(agent_of one)/status)
	[ $outer = yes ] || is "0 0 " "$(state $supervisor)"
	touch go
	wait
	is 1 "$(calls_of rights_all.json "traces_a_child<main<init")"'

test_expect 'preloaded: the same' '
	rm -f go out*
	traced -q -s two --preload -- "$BIN/rights-plain" "$PWD/go" >out &
	wait_for 20 "grep -q traces out"
	confined "$(agent_of two)"
	as_before out
	touch go
	wait'

test_expect 'a session: agent before program' '
	rm -f go out*
	traced -q -s three -o . &
	wait_for 20 "test -S $VFTR_RUNTIME_DIR/three.sock"
	VFTR_SESSION=three "$BIN/rights" "$PWD/go" >out &
	wait_for 20 "grep -q traces out"
	confined "$(agent_of three)"
	as_before out
	touch go
	kill -TERM "$(agent_of three)"
	wait'

test_expect 'an agent that a program started itself has none of the program, nor the program of it' '
	rm -f go out*
	VFTR_SESSION=four limit "$BIN/rights" "$PWD/go" >out &
	wait_for 20 "grep -q traces out && test -s $VFTR_RUNTIME_DIR/four.lock"
	confined "$(agent_of four)"
	as_before out
	touch go
	wait
	wait_for 20 "! test -S $VFTR_RUNTIME_DIR/four.sock"'

test_expect 'agents over TCP: each agent, and the process that speaks for it' '
	rm -f go out*
	(umask 077 && echo 0123456789abcdef0123456789abcdef >secret)
	set -- $(perl -MIO::Socket::INET -e "for (1, 2) {
		push @s, IO::Socket::INET->new(LocalAddr => q(127.0.0.1), Listen => 1) }
		print join q( ), map { \$_->sockport } @s")
	list=127.0.0.1:$1/tcp0,127.0.0.1:$2/tcp1
	for n in 0 1; do
		mkdir -p tcp$n
		limit "$AGENT" -q -s tcp$n -o tcp$n --secret "$PWD/secret" --peers $list &
	done
	for n in 0 1; do
		wait_for 20 "test -S $VFTR_RUNTIME_DIR/tcp$n.sock"
		VFTR_SESSION=tcp$n VFTR_AGENT=off "$BIN/rights" "$PWD/go" >out$n &
	done
	for n in 0 1; do
		wait_for 20 "grep -q traces out$n"
		confined "$(agent_of tcp$n)"
		confined "$(awk "/^PPid:/ { print \$2 }" /proc/$(agent_of tcp$n)/status)"
		as_before out$n
	done
	touch go
	wait
	is 2 "$(calls_of tcp0/rights_all.json "traces_a_child<main<init")"'

for mpi in $(mpi_list); do
	mpicc_traced $mpi "$BIN/rights-$mpi" "$T/security/app-rights.c"
	test_expect "$mpi: beside a launcher, and in the place of its tasks" '
		for how in "" --in-step; do
			rm -f go out*
			if [ -z "$how" ]; then
				limit "$AGENT" -q -s m$mpi -o . -- $(mpirun_of $mpi) -np 2 "$BIN/rights-$mpi" "$PWD/go" >out &
			else
				limit $(mpirun_of $mpi) -np 2 "$AGENT" $how -q -s m$mpi -o . -- "$BIN/rights-$mpi" "$PWD/go" >out &
			fi
			wait_for 60 "[ \$(grep -c traces out) = 2 ]"
			confined "$(agent_of m$mpi)"
			is 0 "$(grep -c "[pm] NoNewPrivs:.*1\|traces 0" out || :)"
			touch go
			wait
		done'
done

test_if '[ "$(id -u)" = 0 ] && command -v setpriv && ! findmnt -no OPTIONS -T . | grep -q nosuid' \
	'not root, no setpriv, or a file system without set-user-ID programs' \
	'a set-user-ID program that a traced one of another user starts becomes root, as before' '
	chmod 711 "$VFTR_TEST_DIR"
	mkdir -m 777 shared
	mkdir -m 700 nobody && chown 65534:65534 nobody
	cp "$BIN/rights-plain" shared/rights-root
	chmod 4755 shared/rights-root
	cp "$BIN/rights" shared/rights-linked
	chmod 4755 shared/rights-linked
	rm -f out
	for how in --preload --preload=no; do
		(cd nobody && setpriv --reuid=65534 --regid=65534 --clear-groups env VFTR_RUNTIME_DIR="$PWD" \
			timeout 60 "$AGENT" -q $how -- ../shared/rights-root >../out)
		grep -qx "program 0" out
		is 0 "$(grep -c "NoNewPrivs:.*1" out || :)" "$how"
	done
	# linked with the library, which does nothing there: no agent is looked for or started
	(cd nobody && setpriv --reuid=65534 --regid=65534 --clear-groups env VFTR_RUNTIME_DIR="$PWD" \
		VFTR_SESSION=suid timeout 60 ../shared/rights-linked >../out)
	grep -qx "program 0" out
	is "" "$(ls nobody | grep suid || :)" "a session of it"'

test_if 'command -v strace' 'no strace' \
	'a tool gives up its rights before it looks at the first file that it is given' '
	for t in collate compress critical-path diff dump efficiency export findings histogram \
		iterations models report show tree waits; do
		limit strace -f -s 256 -o trace "$VFTR" $t foreign.vfd foreign.vfd >/dev/null 2>&1 || :
		awk -v t=$t "/SECCOMP_SET_MODE_FILTER.* = 0/ { on = 1 }
			/foreign.vfd/ && !/execve/ && !on { print t \": \" \$0; bad = 1; exit }
			END { if (!on) print t \": no filter\"; exit bad || !on }" trace
	done
	for link in vftrace_vfd_dump vftrace_check_config vftrace_diff_profiles; do
		ln -sf "$VFTR" $link
		limit strace -f -o trace ./$link foreign.vfd foreign.vfd >/dev/null 2>&1 || :
		grep -q "SECCOMP_SET_MODE_FILTER.* = 0" trace || { echo "$link: no filter"; false; }
	done'

test_if 'strace -f -qq -o /dev/null -e trace=seccomp -e inject=seccomp:error=EINVAL true' \
	'no strace that can make calls fail' 'a kernel without such a filter: all else is as it is with one' '
	for e in EINVAL ENOSYS EPERM; do
		limit strace -f -qq -o trace -e trace=seccomp -e inject=seccomp:error=$e \
			"$VFTR" run -q -o no-$e -- "$BIN/rights" --child >out 2>err
		grep -q "$e.*INJECTED" trace
		is "" "$(cat err)"
		is 1 "$(calls_of no-$e/profile.json "say_state<main<init")"
		limit strace -f -qq -o trace -e trace=seccomp -e inject=seccomp:error=$e \
			"$VFTR" show no-$e | grep -q say_state
	done'

test_if 'strace -f -qq -o /dev/null -e trace=seccomp -e inject=seccomp:error=EINVAL:when=1 true' \
	'no strace that can make calls fail' 'the filter slows nothing down; older kernels have it as they can' '
	limit strace -f -qq -o trace -e trace=seccomp "$VFTR" show foreign.vfp >/dev/null 2>&1 || :
	grep -q "SECCOMP_FILTER_FLAG_SPEC_ALLOW.* = 0" trace
	limit strace -f -qq -o trace -e trace=seccomp -e inject=seccomp:error=EINVAL:when=1 \
		"$VFTR" show foreign.vfp >/dev/null 2>&1 || :
	is 2 "$(wc -l <trace)"
	tail -n 1 trace | grep "SECCOMP_FILTER_FLAG_TSYNC, .* = 0"
	hasnt trace "SPEC_ALLOW.* = 0"'

test_if 'command -v strace' 'no strace' \
	'what reads debug information has no standard input and output when it opens the first file' '
	limit strace -f -y -qq -o trace -e trace=seccomp,dup2,dup3,openat \
		"$VFTR" run -q -o lines -- "$BIN/rights" --child >out
	reader=$(awk "/seccomp\(.* = 0/ { if (seen[\$1]++ == 0) last = \$1 } END { print last }" trace)
	awk -v pid=$reader "\$1 == pid" trace >of-reader
	for fd in 0 1; do
		grep -q "dup[23](.*</dev/null>, $fd.* = $fd" of-reader || { echo "$fd is the program'"'"'s"; false; }
	done
	awk "/seccomp\(/ { on = 1 } on && /openat/" of-reader | grep -q rights'

done_testing
