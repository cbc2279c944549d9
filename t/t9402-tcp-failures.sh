#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Networks that break, agents that die, strangers: on three (pseudo-)nodes, without MPI.
TEST_SECONDS=240
test_description='agents over TCP: what may go wrong between them'
. "$(dirname "$0")/lib.sh"
need jq ip ss perl
need_built "$AGENT" "$LIB/libvftrace.so"
nodes_up 3
. "$T/tcp.sh"

# kill_both DIR NODE: the courier and the agent, at once
kill_both() {
	agent=$(agent_of "$1" "$2")
	nodes_run "$2" sh -c "read -r _ _ _ courier rest </proc/$agent/stat
		kill -9 \$courier $agent"
}

test_expect 'the network of node2 is gone for 3 s: nothing is lost, and it is named' '
	read -r net <"$NODES/set"
	three cut
	for node in node1 node2 node3; do run cut $node "$BIN/service" 6 & done
	sleep 1.5
	ip link set "vftr$net.2" down
	sleep 3
	ip link set "vftr$net.2" up
	statuses cut 0 0 0
	cat cut/*.err
	complete cut/service_all.json 3
	has cut/node1.err "broke: it is silent"
	has cut/service_node_node1.log "is connected again"
	is 3 "$(json cut/service_all.json .nodes)"'

test_expect 'a connection is torn: it is made again, and what was under way is there' '
	three torn
	for node in node1 node2 node3; do run torn $node "$BIN/service" 3 & done
	sleep 1
	nodes_run node2 ss -K dport = 7001 >/dev/null || :
	nodes_run node1 ss -K sport = 7001 >/dev/null || :
	statuses torn 0 0 0
	cat torn/*.err
	complete torn/service_all.json 3
	has torn/node1.err "is connected again"'

test_if 'nodes_run node3 tc qdisc add dev eth0 root netem delay 40ms rate 2mbit' \
	'this kernel has no netem' 'a slow link: 40 ms and 2 Mbit/s' '
	three slow
	for node in node1 node2 node3; do run slow $node "$BIN/service" 1 & done
	statuses slow 0 0 0
	nodes_run node3 tc qdisc del dev eth0 root
	complete slow/service_all.json 3'

# Words wait 60 ms in it, and 250 kB/s pass in each direction.
cat >relay.pl <<-'END'
	use IO::Socket::INET; use IO::Select; use Time::HiRes qw(time sleep);
	my ($port, $to) = @ARGV;
	my $l = IO::Socket::INET->new(LocalPort => $port, Listen => 9, ReuseAddr => 1) or die;
	my $s = IO::Select->new($l); my (%other, %queue);
	while (1) {
		for my $r ($s->can_read(0.01)) {
			if ($r == $l) {
				my $a = $l->accept or next;
				my $b = IO::Socket::INET->new(PeerAddr => $to) or next;
				@other{$a, $b} = ($b, $a); $s->add($a, $b);
			} elsif (!sysread($r, my $x, 2500)) {
				$s->remove($r, $other{$r}); close $other{$r}; close $r;
			} else { push @{$queue{$r}}, [time + 0.06, $x]; }
		}
		for my $r ($s->handles) {
			while (@{$queue{$r} || []} && $queue{$r}[0][0] < time) {
				syswrite $other{$r}, (shift @{$queue{$r}})->[1];
			}
		}
	}
END

test_expect 'a slow way to agent 0, by a relay: nothing is lost, and the clock is bounded' '
	nodes_run node3 perl relay.pl 7101 node1:7001 &
	start relay node1 --peers $peers
	start relay node2 --peers $peers
	start relay node3 --peers 127.0.0.1:7101,node2:7001,node3:7001 --me 2
	up relay node1 node2 node3
	for node in node1 node2 node3; do run relay $node "$BIN/service" 2 & done
	statuses relay 0 0 0
	cat relay/*.err
	complete relay/service_all.json 3
	is 0 "$(json relay/service_all.json "[.agents[] | select(.missing)] | length")"
	json relay/service_all.json ".clocks[]"
	is true "$(json relay/service_all.json "[.clocks[] | select(.state == \"compared\") | (.offset_ns | fabs) <= .error_s * 1e9 + 20] | all")"'

test_expect 'an agent is killed: the summary names it, in time; it alone fails' '
	three killed
	for node in node1 node2 node3; do run killed $node "$BIN/service" 4 & done
	sleep 1
	before=$(date +%s)
	nodes_run node2 kill -9 "$(agent_of killed node2)"
	statuses killed 0 137 0
	complete killed/service_all.json 2
	[ $(($(date +%s) - before)) -le 12 ]
	is node2 "$(json killed/service_all.json ".agents[] | select(.missing) | .host")"
	has killed/service_all.log node2'

test_expect 'an agent and its courier are killed: the others do not wait for ever' '
	three dead
	for node in node1 node2 node3; do run dead $node "$BIN/service" 4 & done
	sleep 1
	before=$(date +%s)
	kill_both dead node2
	statuses dead 0 137 0
	complete dead/service_all.json 2
	[ $(($(date +%s) - before)) -le 14 ]
	is node2 "$(json dead/service_all.json ".agents[] | select(.missing) | .host")"
	has dead/node1.err "has ended without a word"
	has dead/service_node_node1.log "has ended without a word"'

test_expect 'agent 0 and its courier are killed: each node has its profile' '
	three headless
	for node in node1 node2 node3; do run headless $node "$BIN/service" 5 & done
	sleep 1
	kill_both headless node1
	statuses headless 137 0 0
	ls headless
	[ ! -e headless/service_all.json ]
	"$VFTR" collate -o headless headless
	complete headless/service_all.json 2'

test_expect 'one agent never comes: the summary names its contact after the deadline' '
	start never node1 --peers $peers
	start never node3 --peers $peers
	up never node1 node3
	for node in node1 node3; do run never $node "$BIN/service" 5 & done
	statuses never 0
	wait_for 20 "test -s never/node3.status"
	complete never/service_all.json 2
	is node2:7001 "$(json never/service_all.json ".agents[] | select(.missing) | .host")"
	has never/node1.err "did not come"'

test_expect 'another secret is refused, and both sides say so' '
	(umask 077 && echo fedcba9876543210fedcba9876543210 >other)
	start wrong node1 --peers node1:7003,node2:7003
	start wrong node2 --peers node1:7003,node2:7003 --secret $PWD/other
	up wrong node1 node2
	wait_for 10 "grep another wrong/node1.err"
	wait_for 10 "grep another wrong/node2.err"
	for node in node1 node2; do run wrong $node "$BIN/service" 1 & done
	statuses wrong 0 0
	has wrong/node1.err "it has another secret"
	has wrong/node2.err "it has another secret"
	has wrong/service_node_node1.log "it has another secret"
	complete wrong/service_all.json 1'

test_expect 'strangers: noise, oversized words and silence are refused and named' '
	three strange
	for node in node1 node2 node3; do run strange $node "$BIN/service" 3 & done
	for node in node1 node2; do
		nodes_run node3 bash -c "
			head -c 300000 /dev/urandom >/dev/tcp/$node/7001
			{ printf vftrpeer; head -c 136 /dev/zero; } >/dev/tcp/$node/7001
			{ printf vftrpeer; printf %b \"\\1\\0\\0\\0\\4\\3\\2\\1\"; head -c 500000 /dev/zero; } >/dev/tcp/$node/7001
			: >/dev/tcp/$node/7001
			printf GET >/dev/tcp/$node/7001
			exec 5<>/dev/tcp/$node/7001 || :
			sleep 5" 2>/dev/null || :
	done &
	statuses strange 0 0 0
	complete strange/service_all.json 3
	is 0 "$(json strange/service_all.json "[.agents[] | select(.missing)] | length")"
	for n in 1; do
		has strange/node$n.err "refused a connection from"
		has strange/node$n.err "it is no agent"
		has strange/service_node_node$n.log "it is no agent"
	done'

done_testing
