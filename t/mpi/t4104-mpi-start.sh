#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='the start of MPI, sessions, MPI_Pcontrol, functions without an error code'
. "$(dirname "$0")/../lib/lib.sh"

need jq
need_built "$AGENT" "$VFTR"
mpis=$(mpi_list)
[ -n "$mpis" ] || skip_all 'no MPI on this machine'

# messages JSON N: each of 3 ranks has sent so many to the next, and nothing else
messages() {
	for r in 0 1 2; do
		echo "$r $(((r + 1) % 3)) $2 $(($2 * 4)) $2"
	done >wanted
	jq -r '.communication_matrix[] | "\(.from) \(.to) \(.sends) \(.bytes_sent) \(.recvs)"' "$1" |
		sort | diff wanted -
	is "3 0" "$(json "$1" '"\(.ranks) \(.warnings | length)"')"
}

# calls JSON FUNCTION
calls() {
	jq -r --arg f "$2" '[.stacks[] | select(.path | startswith($f + "<")) | .calls] | add // 0' "$1"
}

for mpi in $mpis; do
	test_expect "$mpi: MPI_Pcontrol 0 ends the recording of messages, 1 and 2 begin it, others nothing" "
		mpicc_traced $mpi start-$mpi \"\$T/mpi/program/app-mpi-start.c\"
		traced -- $(mpirun_of "$mpi") -np 3 ./start-$mpi
		messages start-${mpi}_all.json 18
		is '21 84' \"\$(calls start-${mpi}_all.json MPI_Pcontrol) \$(calls start-${mpi}_all.json MPI_Sendrecv)\"
	"
	test_if "command -v mpif90.$mpi" "no mpif90.$mpi" "$mpi: the same in Fortran, and its functions" "
		mpifc_traced $mpi startf-$mpi \"\$T/mpi/program/app-mpi-start.f90\"
		traced -- $(mpirun_of "$mpi") -np 3 ./startf-$mpi
		messages startf-${mpi}_all.json 2
		for f in Wtime Aint_add Aint_diff; do
			is 3 \"\$(calls startf-${mpi}_all.json MPI_\$f)\" \$f
		done
		is 6 \"\$(calls startf-${mpi}_all.json MPI_Pcontrol)\"
	"
	mpicc_traced "$mpi" "session-$mpi" -DSESSION "$T/mpi/program/app-mpi-start.c" >/dev/null 2>&1 || :
	test_if "nm session-$mpi | grep -q MPI_Session_init" "$mpi has no sessions" \
		"$mpi: a program with a session only has ranks, and its messages" "
		traced -- $(mpirun_of "$mpi") -np 3 ./session-$mpi
		messages session-${mpi}_all.json 1
	"
	test_if "nm session-$mpi | grep -q MPI_Session_init" "$mpi has no sessions" \
		"$mpi: its window is the life of its processes, in sampling files, too" "
		limit \"\$VFTR\" run -q --trace -o life-$mpi -- $(mpirun_of "$mpi") -np 3 ./session-$mpi
		\"\$VFTR\" critical-path --json life-$mpi >life.json
		jq -e '.efficiency.window_s - \$p[0].efficiency.window_s | fabs < 0.001' \
			--slurpfile p life-$mpi/profile.json life.json
		jq -e '.efficiency.parallel - \$p[0].efficiency.parallel | fabs < 0.02' \
			--slurpfile p life-$mpi/profile.json life.json
		jq -e '[.estimated, \$p[0].efficiency.estimated] | all(index(\"window\") | not)' \
			--slurpfile p life-$mpi/profile.json life.json
		hasnt life.json completed_elsewhere
	"
done

done_testing
