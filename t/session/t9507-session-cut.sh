#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What sessions do while the way between their nodes is cut, slow, or leads nowhere.
test_description='sessions of processes on nodes whose network breaks'
. "$(dirname "$0")/../lib/lib.sh"
need jq ip perl
need_built "$AGENT" "$LIB/libvftrace.so"
nodes_up 3
. "$T/lib/tcp.sh"
. "$T/lib/session.sh"
SESSION_TIMES=1
export SESSION_TIMES

# node2 comes back in time; node3 only after it has been taken for dead
test_expect 'two nodes are cut off: calls end and name who is missing; one goes on, one is out' '
	three cut -k agent.deadline_s=6
	read -r net <"$NODES/set"
	one cut node1 a join=0 expect=4 start ring=w=5 wait=cut create=w=0,1=1 create=w=0,3=1 \
		create=w=0,2 touch=dead wait=back create=w=0,1 ring=n=5 finish
	one cut node2 b join=1 start ring=w=5 wait=cut create=w=0,1=1 ring=s=1 wait=back create=w=0,1 ring=n=5 finish
	one cut node3 c join=2 start ring=w=5 wait=cut create=w=0,2 ring=s=1 wait=all create=w=0,2 ring=s=3 finish
	one cut node1 d join=3 start ring=w=5 wait=cut create=w=0,3=3 ring=s=1 wait=back finish
	for name in a b c d; do said cut $name "ring 0"; done
	ip link set "vftr$net.2" down
	ip link set "vftr$net.3" down
	touch cut/cut
	said cut b "create 14 after 1 s, the agent on node1, which leads the session, has not answered"
	said cut a "create 7 vftrace_comm_create: 1 of 2 processes have come; missing: b (pid"
	has cut/a.out " on node2)"
	said cut a "create 0 0/2"
	ip link set "vftr$net.2" up
	said cut a "create 9 vftrace_comm_create: c (pid"
	has cut/a.out "on node3) cannot be reached any more"
	said cut c "create 14 the agent on node1, which leads the session, cannot be reached"
	touch cut/back
	said cut b "create 0 1/2"
	ip link set "vftr$net.3" up
	wait_for 20 "grep -q node3.*connected.again cut/node1.err"
	wait_for 20 "grep -q node3.*connected.again cut/node2.err" # or it has nobody to match with
	touch cut/all
	said cut c "create 9 the agent of this node could not be reached for too long"
	said cut a "finish 9"
	statuses cut 0 0 0
	cat cut/node?.err
	is 4 "$(json cut/one_all.json .ranks)"
	is 0 "$(json cut/one_all.json "[.agents[] | select(.missing)] | length")"
	matched cut/one_all.json 36'

# 7 bytes at a time, 20 ms under way; after SIGUSR1 all is torn, and nobody listens for 2 s
cat >relay.pl <<-'END'
	use IO::Socket::INET; use IO::Select; use Time::HiRes qw(time);
	my ($port, $to) = @ARGV; my ($l, %other, %queue); my $s = IO::Select->new;
	my $away = 0; $SIG{USR1} = sub { $away = time + 2; };
	$SIG{PIPE} = "IGNORE";
	while (1) {
		if ($away > time) {
			for my $h ($s->handles) { $s->remove($h); close $h; }
			%other = (); %queue = (); $l = undef;
			select undef, undef, undef, 0.05;
			next;
		}
		if (!$l) {
			$l = IO::Socket::INET->new(LocalAddr => "127.0.0.1", LocalPort => $port, Listen => 9, ReuseAddr => 1) or die;
			$s->add($l);
		}
		for my $r ($s->can_read(0.002)) {
			if ($r == $l) {
				my $a = $l->accept or next;
				my $b = IO::Socket::INET->new(PeerAddr => $to) or next;
				@other{$a, $b} = ($b, $a); $s->add($a, $b);
			} elsif (!sysread($r, my $x, 7)) {
				$s->remove($r, $other{$r}); close $other{$r}; close $r;
			} else { push @{$queue{$r}}, [time + 0.02, $x]; }
		}
		for my $r ($s->handles) {
			while (@{$queue{$r} || []} && $queue{$r}[0][0] < time) {
				syswrite $other{$r}, (shift @{$queue{$r}})->[1];
			}
		}
	}
END

test_expect 'a slow way that breaks: calls wait for it, end when nobody is there, and go on after' '
	# head is node1, to which node2 has another way
	one_ip=$(sed -n "s/ node1$//p" "$NODES/hosts")
	{ echo "$one_ip head"; cat "$NODES/hosts"; } >hosts1
	{ echo "127.0.0.1 head"; cat "$NODES/hosts"; } >hosts2
	for n in 1 2; do nodes_run node$n mount --bind "$PWD/hosts$n" /etc/hosts; done
	nodes_run node2 sh -c "echo \$\$ >relay.pid; exec perl relay.pl 7001 $one_ip:7001" &
	start slow node1 --peers head:7001,node2:7001 --me 0
	start slow node2 --peers head:7001,node2:7001 --me 1
	up slow node1 node2
	one slow node1 a join=0 expect=2 start create=w=0,1 ring=n=5 wait=again create=w=0,1 ring=n=5 finish
	one slow node2 b join=1 start create=w=0,1 ring=n=5 create=w=1,0 wait=again create=w=0,1 ring=n=5 finish
	said slow b "ring 0"
	nodes_run node2 kill -USR1 "$(cat relay.pid)"
	said slow b "create 14 the agent on node1, which leads the session, cannot be reached"
	wait_for 20 "grep -q connected.again slow/node2.err"
	touch slow/again
	said slow b "finish 0"
	statuses slow 0 0
	cat slow/node?.err slow/b.out
	matched slow/one_all.json 20'

done_testing
