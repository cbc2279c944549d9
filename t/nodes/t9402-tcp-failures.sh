#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Networks that break, agents that die, strangers: on three (pseudo-)nodes, without MPI.
test_description='agents over TCP: what may go wrong between them'
. "$(dirname "$0")/../lib/lib.sh"
need jq ip ss perl
need_built "$AGENT" "$LIB/libvftrace.so"
nodes_up 3
. "$T/lib/tcp.sh"

# kill_both DIR NODE: the proxy and the agent, at once. Stopped is the agent alone, or it
# would see the end of the proxy: nsenter stops itself where its child is stopped, and
# then has no exit status for ever.
kill_both() {
	agent=$(agent_of "$1" "$2")
	nodes_run "$2" sh -c "read -r _ _ _ proxy rest </proc/$agent/stat
		kill -STOP $agent
		kill -9 \$proxy $agent"
}

test_expect 'the network of node2 is gone for a while: nothing is lost, and it is named' '
	read -r net <"$NODES/set"
	three cut -k agent.deadline_s=6 # silent after the half of it, dead after another one
	begin cut node1 node2 node3
	ip link set "vftr$net.2" down
	wait_for 10 "grep -q \"broke: it is silent\" cut/node1.err"
	ip link set "vftr$net.2" up
	wait_for 10 "grep -q \"connected again\" cut/node1.err"
	touch cut/go
	statuses cut 0 0 0
	cat cut/*.err
	complete cut/service_all.json 3
	has cut/node1.err "broke: it is silent"
	has cut/service_node_node1.log "is connected again"
	is 3 "$(json cut/service_all.json .nodes)"'

test_expect 'a connection is torn: it is made again, and what was under way is there' '
	three torn
	begin torn node1 node2 node3
	nodes_run node2 ss -K dport = 7001 >/dev/null || :
	nodes_run node1 ss -K sport = 7001 >/dev/null || :
	wait_for 10 "grep -q \"connected again\" torn/node1.err"
	touch torn/go
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
	my $l = IO::Socket::INET->new(LocalAddr => "127.0.0.1", LocalPort => $port, Listen => 9, ReuseAddr => 1) or die;
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
	# head is node1, to which node3 has another way
	read -r one rest <<-END
		$(grep -w node1 "$NODES/hosts")
	END
	{ echo "$one head"; cat "$NODES/hosts"; } >hosts
	{ echo "127.0.0.1 head"; cat "$NODES/hosts"; } >hosts3
	for n in 1 2; do nodes_run node$n mount --bind "$PWD/hosts" /etc/hosts; done
	nodes_run node3 mount --bind "$PWD/hosts3" /etc/hosts
	nodes_run node3 perl relay.pl 7001 $one:7001 &
	ways=head:7001,node2:7001,node3:7001
	for n in 1 2 3; do start relay node$n --peers $ways --me $((n - 1)); done
	up relay node1 node2 node3
	for node in node1 node2 node3; do run relay $node "$BIN/service" 2 & done
	statuses relay 0 0 0
	for n in 1 2 3; do nodes_run node$n umount /etc/hosts; done
	cat relay/*.err
	complete relay/service_all.json 3
	is 0 "$(json relay/service_all.json "[.agents[] | select(.missing)] | length")"
	json relay/service_all.json ".clocks[]"
	is true "$(json relay/service_all.json "[.clocks[] | select(.state == \"compared\") | (.offset_ns | fabs) <= .error_s * 1e9 + 20] | all")"'

test_expect 'an agent is killed: the summary names it, in time; it alone fails' '
	three killed -k agent.deadline_s=300
	begin killed node1 node2 node3
	before=$(date +%s)
	nodes_run node2 kill -9 "$(agent_of killed node2)"
	touch killed/go
	statuses killed 0 137 0
	complete killed/service_all.json 2
	no_later 25 $before # who waits for a deadline, waits for much longer
	is node2 "$(json killed/service_all.json ".agents[] | select(.missing) | .host")"
	has killed/service_all.log node2
	is "" "$(nodes_run node2 ls "$VFTR_RUNTIME_DIR" | grep killed)" "left by the one killed"'

test_expect 'an agent is killed before any process has come: the others wait for theirs' '
	three early -k agent.deadline_s=300
	up early node1 node2 node3
	wait_for 20 "[ \$(nodes_run node1 ss -Htn state established sport = 7001 | wc -l) -ge 2 ]"
	nodes_run node2 kill -9 "$(agent_of early node2)"
	wait_for 20 "grep -q \"ended by signal 9\" early/node2.err"
	begin early node1 node3
	touch early/go
	statuses early 0 137 0
	complete early/service_all.json 2'

test_expect 'an agent and its proxy are killed: the others do not wait for ever' '
	three dead -k agent.deadline_s=8
	begin dead node1 node2 node3
	before=$(date +%s)
	kill_both dead node2
	touch dead/go
	statuses dead 0 137 0
	complete dead/service_all.json 2
	no_later 60 $before
	is node2 "$(json dead/service_all.json ".agents[] | select(.missing) | .host")"
	has dead/node1.err "has ended without a word"
	has dead/service_node_node1.log "has ended without a word"'

test_expect 'agent 0 and its proxy are killed: each node has its profile' '
	three headless -k agent.deadline_s=8
	begin headless node1 node2 node3
	kill_both headless node1
	touch headless/go
	statuses headless 137 0 0
	ls headless
	[ ! -e headless/service_all.json ]
	"$VFTR" collate -o headless headless
	complete headless/service_all.json 2'

test_expect 'agent 0 is killed before all have come, and started anew: nobody waits for a deadline' '
	start anew node1 --peers $peers -k agent.deadline_s=300
	start anew node2 --peers $peers -k agent.deadline_s=300
	up anew node1 node2
	# more than they need to meet: node2 has told its host
	wait_for 20 "nodes_run node1 ss -Htni sport = 7001 | grep -Eq \"bytes_received:([4-9]..|[0-9]{4})\""
	before=$(date +%s)
	kill_both anew node1
	wait_for 20 "test -s anew/node1.status"
	rm anew/node1.status
	start anew node1 --peers $peers -k agent.deadline_s=300
	up anew node1
	start anew node3 --peers $peers -k agent.deadline_s=300
	up anew node3
	begin anew node1 node2 node3
	touch anew/go
	statuses anew 0 0 0
	no_later 60 $before
	complete anew/service_all.json 3
	is "node1 node2 node3" "$(json anew/service_all.json "[.agents[].host] | join(\" \")")"'

test_expect 'one agent never comes: the summary names its contact after the deadline' '
	start never node1 --peers $peers -k agent.deadline_s=5
	start never node3 --peers $peers -k agent.deadline_s=5
	up never node1 node3
	begin never node1 node3
	wait_for 10 "grep -q \"did not come\" never/node1.err"
	touch never/go
	statuses never 0
	wait_for 20 "test -s never/node3.status"
	complete never/service_all.json 2
	is node2:7001 "$(json never/service_all.json ".agents[] | select(.missing) | .host")"
	has never/node1.err "did not come"'

test_expect 'another secret is refused, and both sides say so' '
	(umask 077 && echo fedcba9876543210fedcba9876543210 >other)
	start wrong node1 -k agent.deadline_s=6 --peers node1:7003,node2:7003
	start wrong node2 -k agent.deadline_s=6 --peers node1:7003,node2:7003 --secret $PWD/other
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
		has strange/node$n.err "it speaks version 1 of the agents"
		has strange/node$n.err "protocol, and this agent version 10;"
		has strange/node$n.err "protocol, and this agent version 10;"
		has strange/node$n.err "refused a connection from"
		has strange/node$n.err "it is no agent"
		has strange/service_node_node$n.log "it is no agent"
	done'

done_testing
