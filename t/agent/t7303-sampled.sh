#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
test_description='a sampled time line says where the time went, as the exact profile does'
. "$(dirname "$0")/../lib/lib.sh"
need jq otf2-print
need_built "$AGENT" "$VFTR" "$LIB/libvftrace.so"

cc_traced "$BIN/shapes" "$T/agent/app-shapes.c"
cxx_traced "$BIN/bodies" "$T/agent/app-shapes.cpp"
for mpi in $(mpi_list | head -1); do
	mpicc_traced "$mpi" "$BIN/shapes-$mpi" -DSHAPES_MPI "$T/agent/app-shapes.c" -pthread
done

# Each prints "B LANE NS FUNCTION" and "E LANE NS" lines, or "S NS FUNCTION" of sums.
of_folded() {
	awk '{ f = $0; ns = $NF; sub(/ [0-9]+$/, "", f); sub(/.*;/, "", f); gsub(/ /, "_", f); print "S", ns, f }' "$1"
}
of_speedscope() {
	jq -r '.shared.frames as $f | .profiles | to_entries[] | .key as $t | .value.events[] |
		if .type == "O" then "B \($t) \(.at) \($f[.frame].name | gsub(" "; "_"))"
		else "E \($t) \(.at)" end' "$1"
}
of_chrome() {
	jq -r '.traceEvents[] | if .ph == "B" then "B \(.tid) \(.ts * 1000 | round) \(.name | gsub(" "; "_"))"
		elif .ph == "E" then "E \(.tid) \(.ts * 1000 | round)" else empty end' "$1"
}
of_otf2() {
	otf2-print "$1/traces.otf2" | awk '
		/^ENTER/ {
			at = "B " $2 " " $3
			sub(/.*Region: "/, "")
			sub(/" <[0-9]*>$/, "")
			gsub(/ /, "_")
			print at, $0
		}
		/^LEAVE/ { print "E", $2, $3 }'
}

# The formats of a run. Printing the one of OTF2 takes as long as all else: in the short form it is looked at
# in every other row, with each interval and kind of program.
formats='folded speedscope chrome otf2'

# record MS COMMAND ...: a run with that interval, exported into the formats
record() {
	rm -rf *.vfd *.vfp *_all.* x.*
	traced -q -k demangle_cxx=false -k sampling.active=true -k sampling.precise_functions="^(exchange|MPI_.*)$" \
		-k sampling.sample_interval="$(awk "BEGIN { print $1 / 1000 }")" -- "${@:2}"
	for f in $formats; do
		"$VFTR" export --mangled *.vfd -f $f -o x.$f 2>said
	done
	grep -q "sampled every $1 ms: " said
	"$VFTR" dump --mangled *.vfd >x.dump
	jq -r '.stacks[] | select(.function != "init") | "\(.t_excl_s) \(.function | gsub(" "; "_"))"' *_all.json >x.exact
}

# same_shares MS COMMAND ...: three standard deviations are passed by chance now and then,
# but not in three runs one after the other
same_shares() {
	for try in 1 2 3; do
		record "$@"
		bad=
		for f in $formats; do
			of_$f x.$f >x.$f.lines
			awk -f "$T/agent/sampled.awk" -v format=$f x.exact x.dump x.$f.lines || bad+=" $f"
		done
		[ "$bad" ] || return 0
		echo "try $try:$bad"
	done
	return 1
}

# long_calls_are_there MS COMMAND: calls of more than two intervals, as the program has timed them
long_calls_are_there() {
	formats=chrome
	SHAPES_TRUTH=$PWD/truth record "$@"
	of_chrome x.chrome | awk -v two="$((2 * $1))" '
		NR == FNR { if ($3 - $2 > two * 1e6) { calls[$1]++; took[$1, calls[$1]] = $3 - $2 } else short[$1]++; next }
		$1 == "B" { at[$2, ++depth[$2]] = $3; name[$2, depth[$2]] = $4 }
		$1 == "E" { f = name[$2, depth[$2]]; ns = $3 - at[$2, depth[$2]--]
			if (f in calls && !(f in short)) {
				n[f]++
				d = ns - took[f, n[f]]
				if (d < -two * 1e6 || d > two * 1e6 + 1e5) { print f, n[f], "took", took[f, n[f]], "shown", ns; bad = 1 }
			} }
		END { for (f in calls) if (!(f in short)) { some++; print f, calls[f], "calls,", n[f] + 0, "shown"; if (n[f] != calls[f]) bad = 1 }
			exit bad || !some }' truth -
}

if [ "${VFTR_LONG-}" ]; then
	shapes="nested recursive leaf few steps rhythm bursts chances messages threads"
	intervals="0.1 0.5 1 2 5 20" long_intervals="1 2 5 10" ms=1500
else
	shapes="leaf rhythm messages threads" intervals="1 5" long_intervals="2" ms=500
fi

for s in $shapes; do
	for i in $intervals; do
		case $VFTR_LONG:$s:$i in
		:leaf:5 | :rhythm:1 | :messages:* | :threads:5) some=${formats% *} ;;
		*) some=$formats ;;
		esac
		test_expect "$s, every $i ms: the shares of the exact profile, in $(wc -w <<<"$some") formats" "
			formats='$some'
			same_shares $i $BIN/shapes $s $ms"
	done
done
for i in ${intervals#* }; do
	test_expect "C++, every $i ms" "same_shares $i $BIN/bodies x $ms"
	for mpi in $(mpi_list | head -1); do
		test_expect "MPI, every $i ms" "same_shares $i $(mpirun_of $mpi) -np 2 $BIN/shapes-$mpi ranks $ms"
	done
done

for s in leaf few steps; do
	for i in $long_intervals; do
		test_expect "$s, every $i ms: each call of more than two intervals is there, as long as it was" "
			long_calls_are_there $i $BIN/shapes $s $ms"
	done
done

test_expect 'what a sample has opened says so' '
	formats=chrome
	record 5 $BIN/shapes leaf 300
	jq -e "[.traceEvents[] | select(.ph == \"B\" and .args.sampled)] | length > 0" x.chrome
	jq -e "[.traceEvents[] | select(.ph == \"B\" and .name == \"main\" and .args.sampled)] | length == 0" x.chrome'

test_expect 'every call is recorded: nothing is said of samples, nor marked' '
	rm -f *.vfd
	traced -q -k sampling.active=true -k sampling.sample_interval=0 -- $BIN/shapes leaf 100
	"$VFTR" export *.vfd -f chrome -o all.json >said 2>&1
	hasnt said sampled
	hasnt all.json sampled
	"$VFTR" dump *.vfd >out
	hasnt out " sampled "'

done_testing
