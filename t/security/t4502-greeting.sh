#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='agents over TCP: another implementation meets them, strangers do not, nobody reads'
. "$(dirname "$0")/../lib/lib.sh"
need python3 jq perl
need_built "$AGENT" "$LIB/libvftrace.so"

cc_traced "$BIN/service" "$T/session/app-service.c"
(umask 077 && head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' >secret)

port() {
	perl -MIO::Socket::INET -e 'print IO::Socket::INET->new(LocalAddr => "127.0.0.1", Listen => 1)->sockport'
}

# begin NAME: agent 0 of two; its port in $p, the list of both in $list
begin() {
	p=$(port) q=$(port)
	list=127.0.0.1:$p/${1}0,127.0.0.1:$q/${1}1
	mkdir -p "$1"
	limit "$AGENT" -q -s "${1}0" -o "$1" --secret "$PWD/secret" --peers $list --me 0 \
		-k agent.deadline_s=20 2>"$1.err" &
	wait_for 20 "test -S $VFTR_RUNTIME_DIR/${1}0.sock"
	wait_for 20 "grep -q :$(printf %04X $p) /proc/net/tcp /proc/net/tcp6"
}

end() {
	kill -TERM "$(head -n 1 "$VFTR_RUNTIME_DIR/${1}0.lock")"
	wait
}

test_expect 'RFC 8439, in Python and in the agent, have the same frame' '
	key=000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f
	limit python3 "$T/security/peer.py" seal $key 7 "fifteen letters" >frame
	tr -d "\"\n\t " <"$T/unit/net/u-tcp.c" | grep -q "$(cat frame)"'

test_expect 'an agent written from vftr-peers(7) alone meets this one: keys, frames, acknowledgements' '
	begin one
	limit python3 "$T/security/peer.py" meet $p $list secret
	end one'

test_expect 'a knock: the agent dials who has proved it, which ends the knock, and nobody else' '
	p=$(port) q=$(port) r=$(port)
	list=127.0.0.1:$p/knock0,127.0.0.1:$q/knock1,127.0.0.1:$r/knock2
	mkdir -p knock
	limit "$AGENT" -q -s knock2 -o knock --secret "$PWD/secret" --peers $list --me 2 \
		-k agent.deadline_s=20 2>knock.err &
	wait_for 20 "test -S $VFTR_RUNTIME_DIR/knock2.sock"
	wait_for 20 "grep -q :$(printf %04X $r) /proc/net/tcp /proc/net/tcp6"
	limit python3 "$T/security/peer.py" knock $r $list secret
	kill -TERM "$(head -n 1 "$VFTR_RUNTIME_DIR/knock2.lock")"
	wait'

for case in changed repeated left_out replayed older newer stranger proofless shareless; do
	test_expect "$case: it gets no further" "
		begin $case
		limit python3 \"\$T/security/peer.py\" $case \$p \$list secret
		end $case"
done

test_expect 'what passes between two agents has no name of a function in it' '
	p=$(port) q=$(port) r=$(port)
	list=127.0.0.1:$r/two0,127.0.0.1:$q/two1
	limit python3 "$T/security/peer.py" relay $r $p passed &
	relay=$!
	for n in 0 1; do
		mkdir -p two$n
		limit "$AGENT" -q -s two$n -o two$n --secret "$PWD/secret" --peers $list --me $n \
			--listen 127.0.0.1:$([ $n = 0 ] && echo $p || echo $q) 2>two$n.err &
		eval agent$n=$!
	done
	for n in 0 1; do
		wait_for 20 "test -S $VFTR_RUNTIME_DIR/two$n.sock"
		VFTR_SESSION=two$n VFTR_AGENT=off "$BIN/service" 1 0 "$PWD/go" &
	done
	wait_for 30 "[ \$(ls | grep -c ^go.here) = 2 ]"
	touch go
	wait $agent0 $agent1
	kill $relay
	is 200 "$(calls_of two0/service_all.json "step<main<init")"
	[ "$(stat -c %s passed)" -gt 2000 ]
	grep -aq vftrpeer passed
	is "" "$(strings -n 4 passed | grep -E "step|main|service|clock" || :)"
	refuse grep -aqF "$(cat secret)" passed'

done_testing
