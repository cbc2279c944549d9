#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
test_description='names that turn, hide or steer are seen as they are, wherever a person reads'
. "$(dirname "$0")/../lib/lib.sh"
need jq perl
need_built "$AGENT" "$VFTR" "$LIB/libvftrace.so"

turns=$(printf '\342\200\256') hides=$(printf '\342\200\213') steers=$(printf '\033')
program="$BIN/p${turns}q"
cc_traced "$program" "$T/security/app-unseen.c"
export LC_ALL=C.UTF-8

# plain FILE...: not a byte in them that nobody sees
plain() {
	for f; do
		[ -s "$f" ] || { echo "$f is empty"; return 1; }
		! perl -0777 -ne 'exit !/\xe2\x80[\x8b-\x8f\xaa-\xae]|[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]/' "$f" ||
			{ echo "$f:"; perl -ne 'print "$ARGV:$.: $_" if /\xe2\x80[\x8b-\xae]|\x1b/' "$f" | cat -v; return 1; }
	done
}

limit "$VFTR" run --trace -k sampling.sample_interval=0 --tag "tag=v${turns}v${hides}al" -o run \
	-- "$program" >said 2>&1 || { echo "Bail out! no run"; cat said; exit 1; }

test_expect 'what a run says, and its logs' '
	plain said run/*.log
	grep -q "evil_.u202edab_.u200bx" run/summary.log
	grep -q "region .u202edab?\[31m.u200b" run/summary.log'

test_expect 'the JSON has it escaped, and is the name of the program for who parses it' '
	plain run/profile.json
	jq -r ".. | strings" run/profile.json | grep -q "evil_${turns}dab_${hides}x"'

for c in show tree "show --threads" findings waits iterations; do
	test_expect "vftr $c" "
		limit \"\$VFTR\" $c run >out 2>&1 || grep -q . out
		plain out"
done

test_expect 'vftr dump, its JSON, and CSV' '
	limit "$VFTR" dump run/*.vfd >out
	plain out
	limit "$VFTR" dump -H run/*.vfd >out
	plain out
	limit "$VFTR" dump --json run/*.vfd >out
	plain out
	limit "$VFTR" efficiency --csv run >out
	plain out'

test_expect 'the report' '
	limit "$VFTR" report run -o out.html
	plain out.html
	grep -q "evil_.u202edab" out.html'

test_expect 'messages about files and options, and of a configuration' '
	for words in "show nothing-${turns}x" "dump n${steers}x" "x${turns}y" "export -f f${turns}x run" \
		"config check n${turns}x" "run -k x${turns}=1 -- true" "diff a${turns} b" "report n${hides}"; do
		refuse limit "$VFTR" $words >out 2>&1
		plain out
	done
	printf "{\"a%sb\": 1, \"c%s\": {}}" "$turns" "$hides" >c.json
	refuse limit "$VFTR" config check c.json >out 2>&1
	plain out'

done_testing
