#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# More collective calls than the agent compares, as it is told to compare few: the sampling file
# of the same run has each.
test_description='waits in collective calls of which some stand for all'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$VFTR"
mpi=$(mpi_list | head -n 1)
[ -n "$mpi" ] || skip_all 'no MPI on this machine'
mpicc_traced "$mpi" "$BIN/often" "$T/mpi/waits/app-wait-often.c" ||
	{ echo "Bail out! app-wait-often.c does not build"; exit 1; }
calls=9000

# often DIR [OPTION...]
often() {
	dir=$1
	shift
	# shellcheck disable=SC2046
	limit "$VFTR" run -q "$@" -o "$dir" -- $(mpirun_of "$mpi") -np 3 "$BIN/often" $calls >/dev/null
}

# sums JSON: "FUNCTION SECONDS ERROR" of each call path in MPI
sums() {
	jq -r '.waits[] | select(.kind | IN("barrier", "nxn", "late_root")) |
		"\(.path | split("<")[1] | gsub(" "; "")) \(.t_s) \(.error_s // 0)"' "$1" |
		awk '$1 ~ /^in_/ { t[$1] += $2; e[$1] += $3 } END { for (f in t) print f, t[f], e[f] }' | sort
}

# is_within DIR: another run if one long wait of a busy machine was left out, as no error can tell
is_within() {
	sums "$1/profile.json" >found
	"$VFTR" waits --exact --json "$1" >exact.json
	sums exact.json >exact
	paste -d" " found exact
	paste -d" " found exact | awk '{ off = $2 > $5 ? $2 - $5 : $5 - $2 }
		$1 != $4 || off > $3 + 0.01 * $5 { bad = 1 }
		{ errors += $3 }
		END { exit bad || NR != 3 || errors <= 0 }'
}

TEST_RANKS_AWAKE=1
export TEST_RANKS_AWAKE
test_expect 'by default each of so few is compared' '
	often all
	is null "$(jq -c .waits_within_nodes all/profile.json)"
	"$VFTR" waits all >text
	hasnt text "~ estimated"'

# an eighth of what comes here in a second, however busy the machine is
VFTR_TEST_ARRIVALS=$(jq "3 * $calls / .efficiency.window_s / 8 | ceil" all/profile.json)
export VFTR_TEST_ARRIVALS
test_expect 'the log and JSON say that these are estimates, and of how many' '
	often few --trace
	"$VFTR" waits few >text
	has text "~ estimated: of"
	has text "+-["
	jq -c .waits_within_nodes few/profile.json
	jq -e ".waits_within_nodes | any(.estimated and .one_in > 1 and .kept < .calls)" few/profile.json
	is 0 "$(json few/profile.json "[.waits_incomplete[] | select(. == \"dropped_calls\")] | length")" dropped'

test_expect 'each call counts, and is in the list of those that were made' '
	is $((3 * calls)) "$(json few/profile.json "[.waits_within_nodes[].calls] | add")"
	for call in Barrier Allreduce Bcast; do
		is $calls "$(json few/profile.json "[.stacks[] | select(.path | test(\"^MPI_$call *< *in_\")) | .calls] | add")" $call
	done'

test_expect 'what the others stand for is what was waited, within the error that is printed' '
	for try in 1 2 3 4 5; do
		is_within few && break
		rm -rf few
		often few --trace
	done
	is_within few'

test_expect 'mpi.show_sync_time has each' '
	often each -k mpi.show_sync_time=on
	is null "$(jq -c .waits_within_nodes each/profile.json)"
	is $((2 * calls)) "$(json each/profile.json "[.stacks[] | select(.path | test(\"^MPI_(Barrier|Allreduce)_sync\")) | .calls] | add")"'

done_testing
