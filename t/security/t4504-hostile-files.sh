#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
test_description='tools on hostile files: a sentence or what is left of it, in 2 s and 512 MB'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$VFTR" "$LIB/libvftrace.so" "$BUILD/core.a"
[ -z "$SANITIZE" ] || skip_all 'a sanitizer wants more address space than there is here'

gcc -O1 -D_GNU_SOURCE -I"$TOP" -I"$BUILD/gen" -o "$BIN/spoil" "$T/security/app-spoil.c" "$BUILD/core.a" $AGENT_LIBS ||
	{ echo "Bail out! app-spoil.c does not build"; exit 1; }
cc_traced "$BIN/fib" "$T/bench/fib.c"
limit "$VFTR" run -q --trace -k sampling.sample_interval=0 -o run -- "$BIN/fib" 15 2 >/dev/null 2>&1
mkdir from
cp run/*.vfd from/plain.vfd
cp run/*.vfp from/node.vfp
cp run/profile.json from/profile.json
cp "$T/fuzz/corpus/repack/packed" from/packed.vfd
cp "$T/fuzz/corpus/repack/counters" from/counters.vfd
cp "$T/fuzz/corpus/vfd/launches" from/launches.vfd
cp "$T/fuzz/corpus/causal/late" from/late.vfd
cp "$T/fuzz/corpus/diff/vftrace.log" from/old.log
[ -n "$VFTR_LONG" ] && seeds=300 || seeds=6

# what is done with a file of each kind; %: its path, @: a folder for results
commands() {
	local format
	case $1 in
	vfd) printf '%s\n' "dump %" "dump --json %" "critical-path %" "waits %" "compress -q %" ;
		for format in otf2 paraver perfetto speedscope chrome folded vfd3; do
			echo "export -q -f $format -o @/$f %"
		done ;;
	vfp) printf '%s\n' "collate @" "report -o @/r.html @" ;;
	json) printf '%s\n' "show %" "tree %" "diff % %" "findings %" "efficiency %" "models % %" \
		"histogram -o @/h.svg %" "iterations %" "waits %" "report -o @/r.html %" "export -q -o @/db -f sqlite %" ;;
	log) printf '%s\n' "diff % %" "show %" ;;
	esac
}

# bounded FILE COMMAND...: it ends by itself, in 2 s of CPU and 512 MB, and says why if it failed.
# OTF2 has two files for each rank that is spoken of: making them takes longer.
bounded() {
	file=$1
	shift
	got=0
	case " $* " in *" otf2 "*) seconds=60 ;; *) seconds=2 ;; esac
	(ulimit -v 524288 -t $seconds -f 200000 && exec timeout 120 "$VFTR" "$@") >out 2>err || got=$?
	[ $got -lt 124 ] || { echo "$file: status $got of vftr $*: $(tail -n 1 err)"; return 1; }
	[ $got = 0 ] || [ -s err ] || [ -s out ] || { echo "$file: status $got of vftr $*, and not a word"; return 1; }
}

# all_of FILE: each tool on it
all_of() {
	commands "${1##*.}" >list
	while IFS= read -r c; do
		c=${c//%/$1}
		bounded "$1" ${c//@/x} || return 1
	done <list
}

for f in from/*; do
	test_expect "${f##*/}: whole, and spoilt in $seeds ways under right checksums" '
		rm -rf x && mkdir x && cp $f x/
		all_of x/${f##*/}
		for seed in $(seq $seeds); do
			rm -rf x && mkdir x
			"$BIN/spoil" $f x/${f##*/} $seed
			all_of x/${f##*/} || { echo "seed $seed"; false; }
		done'
done

test_expect 'a dictionary that is none of zstd is damage, of which it is said where it is' '
	rm -rf x && mkdir x
	"$BIN/spoil" from/packed.vfd x/p.vfd dictionary
	cp x/p.vfd before
	status_of 1 limit "$VFTR" dump x/p.vfd >out 2>err
	grep -q "its dictionary is none of zstd" out err
	refuse limit "$VFTR" compress -d x/p.vfd 2>err
	grep -q "its dictionary is none of zstd" err
	cmp before x/p.vfd
	hasnt err "out of memory"'

test_expect 'texts that nest, lengths that are not there, and numbers without end' '
	rm -rf x && mkdir x
	perl -e "print q([) x 2000000" >x/deep.json
	perl -e "print q({\"a\":) x 1000000" >x/deeper.json
	perl -e "print q({\"vftr\":\"), q(x) x 50000000" >x/long.json
	perl -e "print q({\"format\":), q(9) x 5000000, q(})" >x/digits.json
	for f in x/*.json; do
		for c in show tree findings efficiency iterations; do
			bounded $f $c $f
			[ $got != 0 ]
			is 1 "$(wc -l <err)" "lines about $f"
		done
	done
	truncate -s 3G x/hole.vfd x/hole.json
	printf "VFTRVFD\n" | dd of=x/hole.vfd conv=notrunc 2>/dev/null
	for c in "dump x/hole.vfd" "show x/hole.json" "export -q -f folded -o x/f x/hole.vfd"; do
		bounded hole $c
		[ $got != 0 ]
	done'

done_testing
