#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
test_description='other users of the machine: links in folders that all may write to, and secrets'
. "$(dirname "$0")/../lib/lib.sh"
need jq perl
need_built "$AGENT" "$VFTR" "$LIB/libvftrace.so"

cc_traced "$BIN/end" "$T/hook/app-end.c"
cc_traced "$BIN/service" "$T/session/app-service.c"
stranger=65534

# as COMMAND...: the neighbour
as() {
	setpriv --reuid=$stranger --regid=$stranger --clear-groups "$@"
}

# harmed: what the neighbour aims at is another file now
harmed() {
	[ "$(cat private/aim 2>/dev/null)" != "nobody writes this" ] || [ "$(ls private)" != aim ]
}

can='[ "$(id -u)" = 0 ] && command -v setpriv'
why='not root, or no setpriv(1)'
chmod 711 "$VFTR_TEST_DIR" "$VFTR_TEST_DIR/work"
mkdir -m 700 private
echo "nobody writes this" >private/aim
chmod 600 private/aim

# planted DIR NAME...: a folder like /tmp in which the neighbour has put links of these names
planted() {
	local dir=$1 name
	shift
	rm -rf "$dir"
	mkdir -m 1777 "$dir"
	for name; do as ln -s "$PWD/private/aim" "$dir/$name"; done
}

test_if "$can" "$why" 'a runtime directory that is a link, or belongs to another user, is refused' '
	planted tmp
	as ln -s "$PWD/private" tmp/linked
	as mkdir -m 777 tmp/theirs
	for d in linked theirs; do
		VFTR_RUNTIME_DIR=$PWD/tmp/$d status_of 125 limit "$AGENT" -q -o . -- "$BIN/end" exit3 2>err
		grep -q "runtime directory" err
		VFTR_RUNTIME_DIR=$PWD/tmp/$d status_of 3 limit "$BIN/end" exit3 2>err
	done
	refuse harmed
	is "" "$(ls tmp/theirs)"'

test_if "$can" "$why" 'a process of another user that reaches the socket is refused, and named' '
	mkdir -p theirs && chown $stranger theirs
	cat >connect.pl <<-"END"
		use Socket;
		socket(my $s, PF_UNIX, 5, 0) or die;
		connect($s, pack_sockaddr_un($ARGV[0])) or die "no: $!";
		my $end = recv($s, my $x, 999, 0);
		print length $x, "\n";
	END
	(cd theirs && mkdir -p run && chown $stranger run && chmod 700 run &&
		exec setpriv --reuid=$stranger --regid=$stranger --clear-groups env VFTR_RUNTIME_DIR="$PWD/run" \
		timeout 60 "$AGENT" -q -s theirs -o . 2>../theirs.err) &
	wait_for 20 "test -S theirs/run/theirs.sock"
	is 600 "$(stat -c %a theirs/run/theirs.sock)"
	is 600 "$(stat -c %a theirs/run/theirs.lock)"
	is 0 "$(limit perl connect.pl theirs/run/theirs.sock)" "bytes of an answer"
	wait_for 20 "grep -q \"refused a connection of another user (uid 0)\" theirs.err"
	kill -TERM "$(head -n 1 theirs/run/theirs.lock)"
	wait'

test_if "$can" "$why" 'a socket at which another user listens gets nothing of a program' '
	mkdir -p false && chmod 700 false
	cat >listen.pl <<-"END"
		use Socket;
		socket(my $s, PF_UNIX, 5, 0) or die;
		bind($s, pack_sockaddr_un("false/default.sock")) or die;
		$> = 65534;
		listen($s, 9) or die;
		$> = 0;
		open my $ready, ">", "false.ready"; close $ready;
		accept(my $c, $s) or die;
		recv($c, my $x, 9999, 0);
		open my $got, ">", "false.got"; print $got length $x; close $got;
	END
	limit perl listen.pl &
	wait_for 20 "test -e false.ready"
	VFTR_RUNTIME_DIR=$PWD/false VFTR_AGENT=off status_of 3 limit "$BIN/end" exit3
	wait_for 20 "test -s false.got"
	is 0 "$(cat false.got)" "bytes of the program"
	wait'

test_if "$can" "$why" 'vftr attach to a process of another user: a sentence' '
	timeout 60 tail -f /dev/null &
	pid=$!
	mkdir -p theirs/out && chown $stranger theirs/out
	(cd theirs/out && refuse as env VFTR_RUNTIME_DIR="$PWD/run" timeout 30 "$VFTR" attach $pid 2>../../attach.err)
	kill $pid
	cat attach.err
	[ "$(wc -l <attach.err)" = 1 ]
	grep -q "process $pid belongs to\|another user\|user root" attach.err'

test_expect 'a name of a session that leads elsewhere is refused, and a configuration that lies there is not read' '
	for s in ../x /tmp/x a/b .x; do
		status_of 125 limit "$AGENT" -q -s "$s" -o . -- "$BIN/end" exit3 2>err
		grep -q "a session.s name" err
		VFTR_SESSION=$s status_of 125 limit "$AGENT" -q -o . -- "$BIN/end" exit3 2>err
		grep -q "a session.s name" err
		VFTR_SESSION=$s status_of 3 limit "$BIN/end" exit3 2>err
	done
	mkdir -p cwd
	for f in vftr.json vftrace.json .vftr.json config.json .vftrrc; do echo "{\"no\": \"such key\"" >cwd/$f; done
	(cd cwd && HOME=$PWD status_of 3 limit "$AGENT" -q -o . -- "$BIN/end" exit3)'

test_if "$can" "$why" 'results in a folder that all may write to: no link is followed, none of theirs is ours' '
	traced -q -o . -k sampling.active=true -- "$BIN/end" return
	names=$(ls -d end_*)
	[ -n "$names" ]
	planted tmp $names
	traced -q -o tmp -k sampling.active=true -- "$BIN/end" return 2>err || cat err
	refuse harmed
	for n in $names; do
		[ -L tmp/$n ] && continue # a sticky folder: it is theirs to remove
		is 0 "$(stat -c %u tmp/$n)" "owner of $n"
	done'

test_if "$can" "$why" 'a folder of a run, and the link to the last one' '
	planted tmp vftr-end-last
	(cd tmp && limit "$VFTR" run -q -- "$BIN/end" return) || :
	refuse harmed
	planted tmp results
	refuse limit "$VFTR" run -q -o tmp/results -- "$BIN/end" return 2>err || :
	refuse harmed'

test_if "$can" "$why" 'what tools write: summary, exports, report, packed files' '
	rm -rf source
	limit "$VFTR" run -q --trace -o source -- "$BIN/end" return
	for how in "report -o tmp/r.html source" "export -q -f folded -o tmp/r.html source" \
		"export -q -f sqlite -o tmp/r.html source" "export -q -f perfetto -o tmp/r.html source" \
		"export -q -f otf2 -o tmp/r.html source" "export -q -f paraver -o tmp/r.html source" \
		"histogram -o tmp/r.html source"; do
		planted tmp r.html
		limit "$VFTR" $how >/dev/null 2>err || :
		refuse harmed
	done
	planted tmp
	cp source/*.vfd source/*.vfp tmp
	as ln -s "$PWD/private/aim" tmp/summary.log
	as ln -s "$PWD/private/aim" tmp/end_all.log
	as ln -s "$PWD/private/aim" tmp/end_all.json
	limit "$VFTR" collate tmp >/dev/null 2>&1 || :
	limit "$VFTR" compress -q tmp >/dev/null 2>&1 || :
	refuse harmed'

test_if "$can" "$why" 'a secret of another user, and one that others may read, are refused' '
	echo 0123456789abcdef0123456789abcdef >open
	chmod 644 open
	echo 0123456789abcdef0123456789abcdef >foreign
	chmod 600 foreign
	chown $stranger foreign
	for s in open foreign; do
		status_of 125 limit "$AGENT" -q -o . --secret "$PWD/$s" --expect 1 --listen 127.0.0.1:0 2>err
		grep -q "the agents. secret" err
		refuse grep -q 0123456789abcdef err
	done'

test_expect 'the secret of agents is in no argument, environment, log, profile or report' '
	(umask 077 && head -c 32 /dev/urandom | od -An -tx1 | tr -d " \n" >secret)
	set -- $(perl -MIO::Socket::INET -e "for (1, 2) {
		push @s, IO::Socket::INET->new(LocalAddr => q(127.0.0.1), Listen => 1) }
		print join q( ), map { \$_->sockport } @s")
	list=127.0.0.1:$1/s0,127.0.0.1:$2/s1
	for n in 0 1; do
		mkdir -p s$n
		limit "$AGENT" -s s$n -o s$n --secret "$PWD/secret" --peers $list \
			-k sampling.active=true >s$n.out 2>s$n.err &
	done
	for n in 0 1; do
		wait_for 20 "test -S $VFTR_RUNTIME_DIR/s$n.sock"
		VFTR_SESSION=s$n VFTR_AGENT=off "$BIN/service" 1 0 "$PWD/go" &
	done
	wait_for 30 "[ \$(ls | grep -c ^go.here) = 2 ]"
	pids=$(pgrep -f "$VFTR_TEST_DIR")
	[ "$(echo $pids | wc -w)" -ge 6 ] # two agents, what speaks for them, two programs
	for p in $pids; do
		refuse grep -aqF "$(cat secret)" /proc/$p/cmdline /proc/$p/environ 2>/dev/null
	done
	touch go
	wait
	is 200 "$(calls_of s0/service_all.json "step<main<init")"
	limit "$VFTR" report -o s.html s0
	is "" "$(grep -rlaF "$(cat secret)" s0 s1 s?.out s?.err s.html || :)"'

done_testing
