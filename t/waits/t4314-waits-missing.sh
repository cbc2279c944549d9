#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='where not all waits can be known, what is shown is no more than was waited, and says why'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$VFTR"
mpis=$(mpi_list_short)
[ -n "$mpis" ] || skip_all 'no MPI on this machine'

# run_of DIR MPI SCENE [OPTION OF VFTR RUN...]: its output may be of a launcher that complains
run_of() {
	dir=$1 mpi=$2 scene=$3
	shift 3
	rm -rf "$dir" truth.*
	limit $on "$VFTR" run -q -o "$dir" "$@" -- $(mpirun_of "$mpi") -np 4 "$BIN/missing-$mpi" "$scene" truth \
		>out 2>&1 </dev/null || echo "status $?"
}

# reasons DIR: why waits are not all known
reasons() {
	"$VFTR" waits --json "$1" | jq -r '.waits_incomplete | join(" ")'
}

# for_rank_3 DIR: what the others have waited for it in barriers, "FOUND TRUTH" in seconds
for_rank_3() {
	echo "$("$VFTR" waits --json "$1" | jq '[.waits[] | select(.kind == "barrier") | .for[] |
			select(.rank == 3) | .t_s] | add // 0')" \
		"$(cat truth.* | awk '$1 == 3 { s += $2 } END { print s + 0 }')"
}

# as_stamped DIR: all of it is found, within 2 % and 5 ms; ranks of MPICH keep their CPUs while they
# wait, so that others may be late, too
as_stamped() {
	for_rank_3 "$1"
	for_rank_3 "$1" | awk '{ d = $1 - $2; most = 0.02 * $2 + 0.005
		exit !($2 > 0.05 && d < most && d > -most) }'
}

# stamped DIR MPI SCENE: another run if the machine was busy between stamp and call
stamped() {
	for try in 1 2 3; do
		run_of "$@"
		as_stamped "$1" && return
	done
	return 1
}

on= # a command in front of vftr run
for mpi in $mpis; do
	mpicc_traced $mpi "$BIN/missing-$mpi" "$T/mpi/waits/app-wait-missing.c" -pthread ||
		{ echo "Bail out! app-wait-missing.c does not build"; exit 1; }

	test_expect "$mpi: a rank is killed: what was waited before is right, and the line says that one was killed" '
		stamped killed-$mpi $mpi killed
		reasons killed-$mpi | grep -w killed_ranks
		"$VFTR" waits killed-$mpi >text
		grep "^Incomplete, as .*[1-4] ranks* w[ae][sr]e* cut off.*: what these waited is not known$" text
		grep -A 3 "^Waiting for other ranks" killed-$mpi/summary.log | grep "^Incomplete, as "'

	test_expect "$mpi: a rank is killed behind MPI_Finalize: all that was waited is known" '
		stamped finalized-$mpi $mpi finalized
		jq -e ".dead | length > 0" finalized-$mpi/profile.json
		is "" "$(reasons finalized-$mpi)"
		is 0 "$(jq "[.efficiency.estimated[] | select(. == \"killed_ranks\")] | length" finalized-$mpi/profile.json)"'

	test_expect "$mpi: a signal ends ranks that wait for each other: they are named, with where they hang" '
		mkdir -p stuck-$mpi
		limit "$AGENT" -q -s stuck -o stuck-$mpi 2>err </dev/null &
		agent=$!
		wait_for 20 "test -S $VFTR_RUNTIME_DIR/stuck.sock"
		limit env VFTR_SESSION=stuck $(mpirun_of $mpi) -np 4 "$BIN/missing-$mpi" stuck truth >out 2>&1 </dev/null &
		job=$!
		wait_for 60 "\"$VFTR\" where -s stuck --json | jq -e \".deadlock | length == 2\""
		kill -TERM "$(head -n 1 "$VFTR_RUNTIME_DIR/stuck.lock")"
		wait $agent || echo "status $?"
		kill $job
		wait $job || echo "status $?"
		cat err
		[ "$(grep -c "as SIGTERM came, there was a deadlock on [^ ]*: rank 0 waits for rank 1, which waits for rank 0; .*ranks 0-1 for [1-9][0-9.]* s in MPI_Recv < stuck < main" err)" = 1 ]
		jq -e ".warnings | map(select(contains(\"rank 0 waits for rank 1\"))) | length == 1" stuck-$mpi/*_all.json
		reasons stuck-$mpi | grep -w killed_ranks
		"$VFTR" findings --json stuck-$mpi | jq -e "[.findings[].rule] | index(\"communication\") == null"'

	test_expect "$mpi: calls are dropped where rings are full: no wait is too long, and the line says that calls are missing" '
		on="taskset -c 0" # with the agent, which is too slow then
		run_of storm-$mpi $mpi storm -k shm.when_full=drop -k shm.ring_size=32KiB
		for_rank_3 storm-$mpi
		for_rank_3 storm-$mpi | awk "{ exit !(\$1 < 1.02 * \$2 + 0.005) }"
		jq -e ".lost > 0" storm-$mpi/profile.json
		reasons storm-$mpi | grep -w lost_calls
		"$VFTR" waits storm-$mpi | grep "^Incomplete, as .*[0-9] calls were not recorded"'

	test_expect "$mpi: two threads wait for the same messages: no wait for a sender is shown, and the line says so" '
		run_of threads-$mpi $mpi threads
		n=$(jq ".matching.pairs.ambiguous" threads-$mpi/profile.json)
		[ $n -gt 0 ]
		reasons threads-$mpi | grep -w uncertain_messages
		"$VFTR" waits threads-$mpi >text
		grep "^Incomplete, as $n messages* may be of .*: what these waited is not known$" text'

	test_expect "$mpi: a rank is 70000 collective calls ahead: those that the agent has no room for are dropped, and the line says so" '
		run_of ahead-$mpi $mpi ahead
		is dropped_calls "$(reasons ahead-$mpi)"
		"$VFTR" waits ahead-$mpi >text
		n=$(sed -n "s/^Incomplete, as \([0-9]*\) collective calls were dropped before .*: what these waited is not known$/\1/p" text)
		[ $n -ge $((70000 - 65536)) ] && [ $n -le 140000 ]'

	test_expect "$mpi: where nothing is missing nothing is said" '
		stamped whole-$mpi $mpi storm
		is "" "$(reasons whole-$mpi)"
		"$VFTR" waits whole-$mpi >text
		hasnt text Incomplete'
done

done_testing
