#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='another tool on the MPI profiling interface, before and after ours'
. "$(dirname "$0")/../lib/lib.sh"
# in the short form in one job that is preloaded, and in one that is linked, of each MPI
[ -z "$VFTR_LONG" ] || with_all_of_mpi
need jq
need_built "$AGENT"
mpis=$(mpi_list)
[ -n "$mpis" ] || skip_all 'no MPI on this machine'

# As the interface is meant, a tool calls PMPI_: the first one in the order of linking
# has a call to itself, the others get what it does not intercept. So an extension is
# the other tool's in any case, and MPI_Bcast always ours.
ROUNDS=10
RANKS=2

# What the program calls on a rank, without the extension.
calls_of_user() {
	cat <<-EOF
	1 Init
	1 Comm_rank
	1 Comm_size
	$ROUNDS Send
	$ROUNDS Recv
	$((2 * ROUNDS)) Isend
	$((2 * ROUNDS)) Irecv
	$ROUNDS Waitall
	$ROUNDS Allreduce
	$ROUNDS Wtime
	$ROUNDS Bcast
	1 Barrier
	1 Finalize
	EOF
}

# of_tool, of_others: the lines of calls_of_user that the tool intercepts, or not
of_tool() {
	calls_of_user | grep -vE "Comm_|Bcast|Barrier"
}
of_others() {
	calls_of_user | grep -E "Comm_|Bcast|Barrier"
}

# all_ranks: of the lines "CALLS NAME", for all ranks together
all_ranks() {
	awk -v n=$RANKS '{ print n * $1, ($2 ~ /^MPIX/ ? "" : "MPI_") $2 }' | sort -k2
}

# tool_saw: the lines that follow, and the extension
tool_saw() {
	{
		cat
		echo "$ROUNDS MPIX_Query_cuda_support"
	} | all_ranks >wanted
	is "$RANKS" "$(ls counts.* | wc -l)" "files of the tool"
	cat counts.* | awk '{ n[$2] += $1 } END { for (f in n) if (n[f]) print n[f], f }' |
		sort -k2 | diff -U0 wanted -
}

# we_saw: exactly these, beside the lines that call them
we_saw() {
	all_ranks >wanted
	json job_all.json '.functions[] | select(.calls > 0 and (.function | test("^call@app-pmpi-") | not)) |
		"\(.calls) \(.function)"' | sort -k2 |
		diff -U0 wanted -
	is "$RANKS 0 []" "$(json job_all.json '"\(.ranks) \(.unranked) \(.warnings)"')"
}

# build MPI: the program, and the tool in its variants, as libraries and as archives of the same objects
build() {
	"$T/lib/cached" "mpicc.$1" -O1 -g -c -o user.o "$T/mpi/program/app-pmpi-user.c"
	"mpicc.$1" -o user user.o
	for variant in PMPI INNER_MPI NEXT; do
		"$T/lib/cached" "mpicc.$1" -O1 -g -D$variant -fPIC -c -o tool-$variant.o "$T/mpi/program/app-pmpi-tool.c"
		"mpicc.$1" -shared -o libtool-$variant.so tool-$variant.o -ldl
		ar rcs libtool-$variant.a tool-$variant.o
	done
}

# link MPI OUT FLAG...
link() {
	link_mpi=$1
	link_out=$2
	shift 2
	"mpicc.$link_mpi" -o "$link_out" user.o -Wl,--no-as-needed "$@"
}

# job PROGRAM [AGENT OPTION...]: in the ranks TOOL is preloaded before ours, if set
job() {
	job_program=$PWD/$1
	shift
	rm -f counts.* ./*_all.json
	TOOL_COUNTS=$PWD/counts
	TOOL=${TOOL:+$PWD/$TOOL}
	export TOOL_COUNTS TOOL
	traced -q "$@" -- $(mpirun_of "$mpi") -np $RANKS sh -c '
		[ -z "$TOOL" ] || export LD_PRELOAD="$TOOL${LD_PRELOAD:+:$LD_PRELOAD}"
		exec "$0" "$@"' "$job_program" $ROUNDS >out
	is ok "$(cat out)" "the program says"
	mv ./*_all.json job_all.json
}

for mpi in $mpis; do
	ours="-L$LIB -lvftrace-$mpi -Wl,-rpath,$LIB"
	mkdir -p "$mpi"
	cd "$mpi" || exit 99

	test_expect "$mpi: the tool and its program are built" "build $mpi"

	test_expect "$mpi: ours preloaded first has all calls, the other tool what is left" '
		for variant in PMPI INNER_MPI NEXT; do
			[ $variant != NEXT ] || with_all_of_mpi
			LD_PRELOAD=$PWD/libtool-$variant.so job user --preload
			calls_of_user | we_saw
			tool_saw </dev/null
		done
	'

	test_expect "$mpi: the other tool preloaded first has its calls, we have what is left" '
		TOOL=libtool-PMPI.so job user --preload
		of_tool | tool_saw
		of_others | we_saw
	'

	test_expect "$mpi: bytes are recorded as well where MPI_Init was the other tool's" '
		bytes=".mpi[] | select(.function == \"MPI_Bcast\") | \"\(.bytes_sent) \(.bytes_received)\""
		job user --preload -k profile.sample=0
		json job_all.json "$bytes" >wanted
		TOOL=libtool-PMPI.so job user --preload -k profile.sample=0
		is "$(cat wanted)" "$(json job_all.json "$bytes")"
		[ "$(cut -d" " -f1 wanted)" -gt 0 ]
	'

	test_expect "$mpi: preloaded first into a program linked with ours" "
		link $mpi linked $ours
		TOOL=libtool-PMPI.so job linked
		of_tool | tool_saw
		of_others | we_saw
	"

	test_expect "$mpi: in the order of linking, for two shared libraries" "
		link $mpi tool-first -L. -ltool-PMPI -Wl,-rpath,\"\$PWD\" $ours
		job tool-first
		of_tool | tool_saw
		of_others | we_saw
		link $mpi ours-first $ours -L. -ltool-PMPI -Wl,-rpath,\"\$PWD\"
		with_all_of_mpi
		job ours-first
		calls_of_user | we_saw
		tool_saw </dev/null
	"

	test_expect "$mpi: an archive in the program comes before ours, preloaded or linked" "
		link $mpi archive libtool-PMPI.a
		job archive --preload
		of_tool | tool_saw
		of_others | we_saw
		link $mpi archive-linked libtool-PMPI.a $ours
		job archive-linked
		of_tool | tool_saw
		of_others | we_saw
	"

	# what it does itself: one set of each in Init, an attribute for each Send and Isend
	test_expect "$mpi: what the other tool calls by MPI_ names is a call of the program to us" '
		for how in preloaded archive; do
			if [ $how = preloaded ]; then
				TOOL=libtool-INNER_MPI.so job user --preload
			else
				link '"$mpi"' inner libtool-INNER_MPI.a
				job inner --preload
			fi
			of_tool | tool_saw
			{
				of_others
				printf "1 %s\n" Comm_dup Comm_free Comm_create_keyval Comm_set_attr
				echo "$((3 * ROUNDS)) Comm_get_attr"
			} | we_saw
		done
	'

	test_expect "$mpi: a tool that hands on to the next library shares all calls with us" '
		TOOL=libtool-NEXT.so job user --preload
		of_tool | tool_saw
		calls_of_user | we_saw
		link '"$mpi"' next libtool-NEXT.a
		job next --preload
		of_tool | tool_saw
		calls_of_user | we_saw
	'
	cd ..
done

done_testing
