#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='stack samples: from which path MPI is called, in programs that are not instrumented'
. "$(dirname "$0")/../lib/lib.sh"

need jq
need_built "$AGENT"
mpis=$(mpi_list_short)
[ -n "$mpis" ] || skip_all 'no MPI on this machine'

run() { # MPI HZ SECONDS: all.json, and what the program has counted in `out'
	rm -f ./*_all.json
	traced --preload -k profile.sample="$2" -- $(mpirun_of "$1") -np 2 "$BIN/paths-$1" "$3" >out
	mv ./*_all.json all.json
}

# counted PLACE PATH: all its calls have this path, around the frame of its line
counted() {
	line=$(awk -v place="$1" '$1 == place { print $2 }' out)
	wanted=$(awk -v place="$1" '$1 == place { print $3 }' out)
	[ "$wanted" -gt 0 ]
	is "$wanted" "$(calls_of all.json "MPI_Reduce_local<call@app-paths-mpi.c:$line<$2")" "calls from $1"
	is "$wanted" "$(jq --arg at "<call@app-paths-mpi.c:$line<" \
		'[.stacks[] | select(.path | startswith("MPI_Reduce_local" + $at)) | .calls] | add' all.json)"
}

incl() { # PATH: its inclusive seconds
	jq --arg p "$1" '[.stacks[] | select(.path == $p) | .t_incl_s] | add' all.json
}

# Exclusive times are none below 0, and all of them together are that of the program
adds_up() {
	jq -e '[.stacks[].t_excl_s] | min >= 0' all.json
	jq -e '([.stacks[].t_excl_s] | add) as $sum | (.stacks[] | select(.path == "init") | .t_incl_s) as $all |
		$sum > 0.9999 * $all and $sum < 1.0001 * $all' all.json
}

allowed=yes
for mpi in $mpis; do
	"mpicc.$mpi" -O2 -g -fomit-frame-pointer -o "$BIN/paths-$mpi" "$T/stack/app-paths-mpi.c" &&
		run "$mpi" 100 0 || exit 1
	! grep -q "the kernel allows no stack samples" ./*_all.log || allowed=
done
may='[ "$allowed" ]'
why='the kernel allows no perf events here'

for mpi in $mpis; do
	test_if "$may" "$why" "$mpi: calls of MPI are below the functions that have called them, each exactly once" "
		run $mpi 100 0.3
		counted here 'reduce_here<first<main<init'
		counted there 'reduce_there<around<second<main<init'
		jq -e '[.stacks[] | select(.function | test(\"^MPI_\")) | select(.estimated)] == []' all.json
		jq -e '[.stacks[] | select(.calls == 0 and (.estimated | not) and .path != \"init\")] == []' all.json"

	test_if "$may" "$why" "$mpi: a call site that several paths reach stays where it is" "
		counted shared init"

	test_if "$may" "$why" "$mpi: functions have the time of their calls of MPI, and all times add up" "
		adds_up
		line=\$(awk '\$1 == \"there\" { print \$2 }' out)
		awk -v mpi=\"\$(incl \"MPI_Reduce_local<call@app-paths-mpi.c:\$line<reduce_there<around<second<main<init\")\" \\
			-v around=\"\$(incl 'reduce_there<around<second<main<init')\" \\
			-v main=\"\$(incl 'main<init')\" \\
			'BEGIN { print mpi, around, main; exit !(mpi >= 0.3 && around >= 0.999 * mpi && main >= around) }'"

	test_if "$may" "$why" "$mpi: the call that separates iterations of the main loop is found where it is now" "
		jq -e '.iterations.path as \$p | .stacks[] | select(.path == \$p) |
			.calls > 8 and (.path | test(\"^MPI_[A-Za-z_]+<call@\"))' all.json"

	test_expect "$mpi: without samples they are below init" "
		run $mpi 0 0
		counted here init
		counted there init
		counted shared init
		adds_up"
done

done_testing
