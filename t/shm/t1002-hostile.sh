#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='a process that writes nonsense is quarantined; the others do not notice'
. "$(dirname "$0")/../lib/lib.sh"

need gcc jq
need_built "$AGENT" "$LIB/libvftrace.so"

gcc -g -O1 -std=gnu11 -D_GNU_SOURCE= -I"$TOP" -o hostile "$T/shm/app-hostile.c" "$TOP/shm/segment.c"
cat >good.c <<'EOF'
#include <stdlib.h>
__attribute__((noinline)) void leaf(void)
{
	__asm__ volatile("");
}
__attribute__((noinline)) void middle(void)
{
	for (int i = 0; i < 9; i++)
		leaf();
}
int main(int argc, char **argv)
{
	for (int i = atoi(argv[1]); i; i--)
		middle();
	return 0;
}
EOF
cc_traced good good.c
mkfifo fifo
seed=${VFTR_SEED:-$(date +%s)}
echo "# seed $seed"

# start_agent OPTIONS...: in the sidecar form, until finish_agent
start_agent() {
	export VFTR_SESSION=hostile VFTR_AGENT=off
	rm -rf out
	mkdir out
	[ ! -e "$VFTR_RUNTIME_DIR/hostile.lock" ] || kill -9 "$(head -n 1 "$VFTR_RUNTIME_DIR/hostile.lock")" # after a failure
	rm -f "$VFTR_RUNTIME_DIR"/hostile.*
	"$AGENT" --session hostile -q -o out --set outfile_basename=p --set agent.linger_s=600 \
		--set shm.ring_size=64KiB "$@" >said 2>&1 &
	agent_pid=$!
	wait_for 5 'test -S "$VFTR_RUNTIME_DIR/hostile.sock"'
}

# It must end soon, and well, when it is told to.
finish_agent() {
	kill -TERM $agent_pid
	wait_for 20 '! kill -0 $agent_pid'
	status=0
	wait $agent_pid || status=$?
	cat said
	is 0 "$status" "exit status of the agent"
}

# beside MODE MILLISECONDS [AGENT OPTION...]: a good process meanwhile, and one afterwards
beside() {
	mode=$1 ms=$2
	shift 2
	start_agent "$@"
	./hostile "$mode" "$seed" "$ms" &
	bad_pid=$!
	limit ./good 40000
	status_of 0 wait $bad_pid
	limit ./good 20000
	finish_agent
	jq -r '"\([.stacks[] | select(.path == "middle<main<init" or .path == "leaf<middle<main<init") |
		"\(.path) \(.calls)"] | sort | join(", "))", .warnings[]' out/p_all.json >told
	is "leaf<middle<main<init 540000, middle<main<init 60000" "$(head -n 1 told)"
}

# named: the quarantine is in the logs, with the process and a reason
named() {
	sed 1d told >warnings
	has warnings "process $bad_pid: its records are damaged"
	grep -rqF "process $bad_pid: its records are damaged" out/p_node_*.log
}

ms=350
[ -z "$VFTR_LONG" ] || ms=700
for mode in data stage head far-head back empty page control-words resume close future \
	packets second-hello region messages stranger no-such-rank wrong-members; do
	test_expect "$mode: quarantined and named, the others are exact" "
		beside $mode $ms
		named"
done

# Nothing here is wrong enough to be refused; it must only stay bounded.
for mode in words not-started paths rank flood questions threads spare undead modules mute come-and-go \
	requests comms files locks; do
	test_expect "$mode: the others are exact" "beside $mode $ms"
done

test_expect 'an agent that is told to stop does not wait for a process that goes on' '
	start_agent
	./hostile undead "$seed" 100000 &
	bad_pid=$!
	wait_for 20 "grep -q memfd: /proc/$bad_pid/maps" # it is attached
	limit ./good 20000
	finish_agent
	kill $bad_pid
	is 20000 "$(calls_of out/p_all.json "middle<main<init")" middle'

# "id name words timed" of each kind, as the header and as the page has it
header_records() {
	sed -nE 's/.*RECORD\(([A-Z_]+), ([0-9]+), (.+), ([01]), [a-z_]+\).*/\2 \1 \3 \4/p' "$TOP/shm/record.h" |
		sed 's/RECORD_COUNTERS_N(w)/n/; s/1$/yes/; s/0$/-/' | sort -n
}

page_records() {
	sed -nE 's/^([0-9]+) +([A-Z_]+) +([1-9]|1 \+ n) +(yes|-)$/\1 \2 \3 \4/p' "$TOP/man/vftr-ring.7" |
		sort -n
}

test_expect 'vftr-ring(7) lists each kind of record with its words' '
	header_records >header_records
	page_records >page_records
	[ "$(wc -l <header_records)" -ge 30 ]
	diff header_records page_records'

test_expect 'vftr-ring(7) describes the versions that the headers have' '
	format=$(sed -n "s/^#define RECORD_FORMAT \([0-9]*\).*/\1/p" "$TOP/shm/record.h")
	version=$(sed -n "s/^#define WIRE_VERSION *\([0-9]*\)u.*/\1/p" "$TOP/shm/wire.h")
	grep -q "record format $format and protocol version $version\." "$TOP/man/vftr-ring.7"'

done_testing
