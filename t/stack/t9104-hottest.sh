#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='the functions with the most time by stack samples are those of a clock, or of perf'
. "$(dirname "$0")/../lib/lib.sh"

need jq
$TEST_CC -O2 -fomit-frame-pointer -o "$BIN/hottest" "$T/stack/app-hottest.c" || exit 1
"$BIN/hottest" 0.1 >/dev/null || exit 1
traced --preload -k profile.sample=20 -- "$BIN/hottest" 0.2 >out || exit 1
if grep -q "the kernel allows no stack samples" hottest_all.log; then
	skip_all 'the kernel allows no perf events here'
fi

by_samples() { # FILE: lines "SAMPLES FUNCTION"
	jq -r '.functions[] | select(.samples) | "\(.samples) \(.function)"' "$1"
}

test_expect 'ten functions of known shares, each within 2 % of all time' '
	traced --preload -k profile.sample=1000 -- "$BIN/hottest" 5 >out
	awk "{ print \$2, \$1 }" out >known
	by_samples hottest_all.json >got
	awk -v most=2 -v n=10 -f "$T/stack/hottest.awk" known got'

# Programs as Debian has them, for so long that 2 % is more than chance, beside perf on the same run
beside_perf() { # NAME COMMAND...: with the log as NAME_all.log
	test_name=$1
	shift
	perf record -q -e cpu-clock:u -F 199 -o perf.data -- \
		"$AGENT" -q --preload -k profile.sample=100 -k outfile_basename="$test_name" \
		-- "$@" >out 2>&1 || { tail out; return 1; }
	perf script -i perf.data -F comm,sym 2>/dev/null |
		grep -v "^ *\(vftr\|perf\|mpirun\|orted\|hydra\)" | sed "s/^ *[^ ]* *//; s/^/1 /" >known
	by_samples "${test_name}_all.json" >got
	awk -v most=2 -v n=10 -f "$T/stack/hottest.awk" known got
}

if [ -n "$VFTR_LONG" ]; then
	steps=${HOTTEST_STEPS:-15000}
	perf record -q -e cpu-clock:u -o perf.data true >/dev/null 2>&1 && has_perf=yes || has_perf=
	test_if '[ "$has_perf" ] && command -v lmp' 'perf or lmp (lammps) is not here' \
		'lammps: the ten hottest functions are those of perf' '
		beside_perf lammps lmp -in "$T/stack/melt.lammps" -var steps "$steps" -log none'
fi

done_testing
