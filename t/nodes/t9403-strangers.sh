#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Strangers: false and silent connections, agents of other jobs, a network that changes what
# it carries, and profiles that others have put into the output directory. All is on the
# loopback interface.
test_description='strangers are refused by a line, and the profile is complete'
. "$(dirname "$0")/../lib/lib.sh"
need jq ss perl
need_built "$AGENT" "$LIB/libvftrace.so"

cc_traced "$BIN/service" "$T/session/app-service.c"
cc_plain "$BIN/strangers" "$T/nodes/app-strangers.c"
(umask 077 && head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' >secret)
if [ -n "$VFTR_LONG" ]; then
	hellos=3000 idle=10000 flips=40
else
	hellos=600 idle=1500 flips=6
fi

# A port that nobody listens at
port() {
	perl -MIO::Socket::INET -e 'print IO::Socket::INET->new(LocalAddr => "127.0.0.1", Listen => 1)->sockport'
}

# start DIR N [AGENT OPTION...]: agent N of session DIRN
start() {
	dir=$1 n=$2
	shift 2
	mkdir -p "$dir/$n"
	(
		got=0
		limit "$AGENT" -s "$dir$n" -o "$PWD/$dir/$n" --secret "$PWD/secret" "$@" \
			>"$dir/$n.out" 2>"$dir/$n.err" || got=$?
		echo $got >"$dir/$n.status"
	) &
}

up() {
	wait_for 20 "test -S $VFTR_RUNTIME_DIR/$1$2.sock"
}

run() {
	dir=$1 n=$2
	shift 2
	VFTR_SESSION=$dir$n VFTR_AGENT=off "$BIN/service" "$@"
}

# whole DIR: both agents ended well, and all that both processes did is in one summary
whole() {
	for n in 0 1; do
		wait_for 60 "test -s $1/$n.status"
		is 0 "$(cat "$1/$n.status")" "exit status of agent $n" || { cat "$1"/*.err; return 1; }
	done
	is 2 "$(json "$1/0/service_all.json" .ranks)" processes
	is 200 "$(calls_of "$1/0/service_all.json" "step<main<init")" "calls of step"
	is 0 "$(json "$1/0/service_all.json" "[.agents[] | select(.missing)] | length")" missing
}

# besieged DIR KIND COUNT ADDRESSES: agent 1 comes while these strangers do
besieged() {
	p=$(port) q=$(port)
	list=127.0.0.1:$p/${1}0,127.0.0.1:$q/${1}1
	start "$1" 0 --peers $list -k agent.deadline_s=30
	up "$1" 0
	"$BIN/strangers" $p "$2" "$3" "$4" "$PWD/$1.stop" >"$1.came" &
	sleep 0.5
	run "$1" 0 1 0 "$PWD/$1/go" &
	start "$1" 1 --peers $list -k agent.deadline_s=30
	up "$1" 1
	run "$1" 1 1 0 "$PWD/$1/go" &
	began=$(date +%s)
	wait_for 30 "ss -Htn state established sport = $p dport != 0 src 127.0.0.1 | grep -q . &&
		[ \$(ls $1 | grep -c ^go.here) = 2 ]"
	touch "$1/go"
	whole "$1"
	echo "# after $(($(date +%s) - began)) s"
	touch "$1.stop"
	wait_for 10 "test -s $1.came"
	echo "# $(cat "$1.came") strangers came"
	[ "$(cat "$1.came")" -ge "$3" ]
	cat "$1/0.err"
	[ "$(grep -c "refused a connection" "$1/0.err")" -le 60 ]
}

test_expect "$hellos false HELLOs at a time do not keep an agent out" '
	besieged hello hello $hellos 1
	# or, of very many, that they were sent away before they had said it
	grep "it has another secret\|it has not said who it is" hello/0/service_node_*.log
	grep -q "it has another secret\|it has not said who it is" hello/0.err'

test_expect "... nor those of $hellos agents of version 1, and both versions are named" '
	besieged old old $hellos 3
	has old/0.err "it speaks version 1 of the agents"
	has old/0.err "this agent version 10"'

test_expect "... nor $idle connections that say nothing" '
	besieged idle idle $idle 1
	has idle/0.err "others wait, and it has not said who it is"'

test_if '[ -n "$VFTR_LONG" ]' 'only in the long form' \
	"... nor $idle from 200 addresses, nor noise" '
	besieged many idle $idle 200
	besieged noise garbage $hellos 50'

# One bit of each tenth piece that passes is another one, also where they meet.
cat >relay.pl <<-'END'
	use IO::Socket::INET; use IO::Select;
	my ($port, $to, $most, $count) = @ARGV;
	my $l = IO::Socket::INET->new(LocalAddr => "127.0.0.3", LocalPort => $port, Listen => 9,
		ReuseAddr => 1) or die;
	my $s = IO::Select->new($l); my %other; my $pieces = 0; my $flips = 0; srand(7);
	while (1) {
		for my $r ($s->can_read(1)) {
			if ($r == $l) {
				my $a = $l->accept or next;
				my $b = IO::Socket::INET->new(PeerAddr => $to) or do { close $a; next };
				@other{$a, $b} = ($b, $a); $s->add($a, $b);
			} elsif (!sysread($r, my $x, 65536)) {
				my $o = $other{$r}; $s->remove($r, $o); close $o; close $r; last;
			} else {
				if (++$pieces % 10 == 0 && $flips < $most) {
					substr($x, rand length $x, 1) ^= chr(1 << rand 8);
					$flips++;
					open my $c, ">", $count; print $c $flips; close $c;
				}
				syswrite $other{$r}, $x;
			}
		}
	}
END

test_expect "a network that flips $flips bits: no agent loses its trust, nothing is missing" '
	p=$(port) q=$(port) r=$(port)
	list=127.0.0.3:$p/flip0,127.0.0.1:$q/flip1
	perl relay.pl $p 127.0.0.1:$r $flips flips &
	relay=$!
	start flip 0 --peers $list --listen 127.0.0.1:$r --me 0 -k agent.deadline_s=4
	start flip 1 --peers $list --me 1 -k agent.deadline_s=4
	up flip 0
	up flip 1
	run flip 0 1 0 "$PWD/flip/go" &
	run flip 1 1 0 "$PWD/flip/go" &
	wait_for 120 "[ \$(cat flips) = $flips ]"
	touch flip/go
	whole flip
	kill $relay
	cat flip/*.err
	cat flip/*.err | grep -q "what came was changed on the way"
	hasnt flip/0.err "not trusted"
	hasnt flip/1.err "not trusted"
	cat flip/*.err | grep -q "is connected again"'

test_expect 'an agent of another job with the same secret: both name both sessions' '
	p=$(port) q=$(port)
	list=127.0.0.1:$p,127.0.0.1:$q
	start tea 0 --peers $list --me 0 -k agent.deadline_s=3
	start tea 1 --peers $list --me 1 -k agent.deadline_s=3
	up tea 0
	up tea 1
	wait_for 60 "grep -q \"it is of session .tea1. (list of contacts [0-9a-f]*), and this agent is of session .tea0. (list\" tea/0.err"
	wait_for 60 "grep -q \"cannot join.*it is of session .tea0. (list of contacts [0-9a-f]*), and this agent is of session .tea1. (list\" tea/1.err"
	run tea 0 0.1
	run tea 1 0.1
	wait_for 20 "test -s tea/0.status && test -s tea/1.status"
	is 1 "$(json tea/0/service_all.json .ranks)" "processes of the first"
	p=$(port) q=$(port)
	start list 0 --peers 127.0.0.1:$p/list0,127.0.0.1:$q/list1 --me 0 -k agent.deadline_s=3
	start list 1 --peers 127.0.0.1:$p/list0,127.0.0.1:$q/list1,127.0.0.1:9 --me 1 -k agent.deadline_s=3
	up list 0
	up list 1
	wait_for 60 "grep -q \"cannot join.*(list of contacts [0-9a-f]*), and this agent is of session .list1. (list of contacts\" list/1.err"
	run list 0 0.1
	run list 1 0.1
	wait_for 20 "test -s list/0.status && test -s list/1.status"
	is 1 "$(json list/0/service_all.json .ranks)" "processes of the first"'

test_expect 'an agent listens at the address of its contact only' '
	p=$(port) q=$(port)
	start here 0 --peers 127.0.0.1:$p/here0,127.0.0.1:$q/here1 -k agent.deadline_s=2
	up here 0
	ss -Htln "sport = $p"
	is 1 "$(ss -Htln "sport = $p" | wc -l)" listeners
	is "127.0.0.1:$p" "$(ss -Htln "sport = $p" | awk "{print \$4}")"
	kill "$(head -n 1 "$VFTR_RUNTIME_DIR/here0.lock")"
	wait_for 10 "test -s here/0.status"
	start there 0 --peers 192.0.2.7:$p,127.0.0.1:$q --me 0
	wait_for 10 "test -s there/0.status"
	is 125 "$(cat there/0.status)"
	has there/0.err "192.0.2.7:$p: this node has none of its addresses"'

# beside DIR: an agent without processes that looks for a profile in DIR, in the background
beside() {
	mkdir -p "$1"
	(
		got=0
		limit "$AGENT" -s "$1" -o "$PWD/$1" >"$1.out" 2>"$1.err" || got=$?
		echo $got >"$1.status"
	) &
	wait_for 20 "test -S $VFTR_RUNTIME_DIR/$1.sock"
	sleep 0.1 # what is older than it is not for it
}

mkdir -p own
# by an agent that it starts itself
(cd own && limit "$BIN/service" 0) >own.words 2>&1
wait_for 20 "ls own/*.vfp"
profile=$(echo own/*.vfp) host=${profile##*/service_}

test_expect 'a link, a pipe and a file of nobody are not taken for the profile; ours is, and is named' '
	beside planted
	ln -s "$PWD/$profile" "planted/zz_$host"
	mkfifo "planted/yy_$host"
	wait_for 60 "grep -q \"zz_$host is not taken for a profile of this run: it is a link\" planted.err"
	wait_for 60 "grep -q \"yy_$host is not taken for a profile of this run: it is not a regular\" planted.err"
	if [ "$(id -u)" = 0 ]; then
		cp "$profile" "$PWD/xx" && chown 65534 xx && touch xx && mv xx "planted/xx_$host"
		wait_for 60 "grep -q \"xx_$host is not taken for a profile of this run: it belongs to another user\" planted.err"
	fi
	[ ! -e planted.status ]
	cp "$profile" "$PWD/ww" && touch ww && mv ww "planted/ww_$host"
	wait_for 60 "test -s planted.status"
	cat planted.err
	is 0 "$(cat planted.status)"
	has planted.err "ww_$host is taken as the profile of this node"
	is 1 "$(json planted/service_all.json .ranks)"'

done_testing
