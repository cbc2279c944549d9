#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='what MPI does about mistakes is the same traced and untraced'
. "$(dirname "$0")/../lib/lib.sh"
need_built "$AGENT"
mpis=$(mpi_list)
[ -n "$mpis" ] || skip_all 'no MPI that can be compiled for and run'

# Without pids, addresses, stack traces, our own lines, and what a start-up may say.
without_chance() {
	sed -E -e '/^vftr-node-agent: /d' -e 's/0x[0-9a-fA-F]+/ADDRESS/g' -e 's/(PID |:|\[)[0-9]+/\1N/g' \
		-e 's/by process \[.*/by process/' -e 's/Abort\([0-9]+\)/Abort(N)/' -e 's/handle=[0-9a-fA-F]+/handle=H/' \
		-e 's/[bs]uf=ADDRESS/buf/g' -e 's/(plain|linked)-/program-/g' \
		-e '/mpirun.* has exited|[0-9]+ more process|orte_base_help/d' "$1" |
		grep -v '^ *$' | sort -u
}

# run_as HOW RANKS WORD...: out.HOW and err.HOW; RANKS 0: without mpirun. Open MPI 4.1
# now and then stumbles over its own messages, MPICH loses them, traced or not: again, then.
run_as() {
	how=$1
	run=
	[ "$2" = 0 ] || run="$(mpirun_of "$mpi") -np $2"
	shift 2
	for try in 1 2 3 4 5 6 7 8; do
		status=0
		case $how in
		plain) limit $run "./plain-$mpi" "$@" >out 2>err || status=$? ;;
		linked) traced -q -- $run "./linked-$mpi" "$@" >out 2>err || status=$? ;;
		preloaded) traced -q --preload -- $run "./plain-$mpi" "$@" >out 2>err || status=$? ;;
		esac
		grep -qE "ORTE_ERROR_LOG|^\[warn\]" err && continue
		[ $status = 0 ] || grep -qE "MPI|internal_" err || continue
		break
	done
	sort out >"out.$how"
	echo "status $status" >>"out.$how"
	without_chance err >"err.$how"
}

# Open MPI starts a daemon beside a process without a launcher, which takes three times the CPU of
# the process: in the short form only where the process calls outside of MPI's life, or ends the job.
no_daemon() {
	[ -n "$VFTR_LONG" ] || export OMPI_MCA_ess_singleton_isolated=1
}

# alike RANKS WORD...: exit status, stdout and stderr of the program, plain, linked and
# preloaded, are the same; the short form takes linked and preloaded by turns where there are many
hows='linked preloaded'
alike() {
	run_as plain "$@"
	for traced_how in $hows; do
		run_as $traced_how "$@"
		diff out.plain out.$traced_how &&
			{ grep -q ORTE_ERROR_LOG err.plain err.$traced_how ||
				diff err.plain err.$traced_how; } || {
			echo "$*: differs ($traced_how, >)"
			return 1
		}
	done
}

for mpi in $mpis; do
	export mpi
	half=$([ $mpi = openmpi ] && echo 1 || echo 0)
	export half
	test_expect "$mpi: the programs can be built" '
		"mpicc.$mpi" $TEST_FLAGS -Wall -Wextra -o "plain-$mpi" "$T/mpi/program/app-mpi-errors.c"
		mpicc_traced "$mpi" "linked-$mpi" "$T/mpi/program/app-mpi-errors.c"'
	test_expect "$mpi: fatal mistakes end the program with the same status and words" '
		fatal=0 turn=0 least=${VFTR_LONG:+14} least=${least:-6}
		no_daemon
		for case in $("./plain-$mpi"); do
			if [ -z "$VFTR_LONG" ]; then # with each MPI half of them, linked and preloaded by turns
				turn=$((turn + 1))
				[ $((turn % 2)) = $half ] || continue
				[ "$hows" = linked ] && hows=preloaded || hows=linked
			fi
			alike 0 "$case"
			grep -q "^status 0$" out.plain || fatal=$((fatal + 1))
		done
		[ $fatal -ge $least ]'
	test_expect "$mpi: with two ranks, too" '
		for case in bad_rank truncated_wait; do
			alike 2 "$case"
		done'
	test_expect "$mpi: errors that are returned are the same" '
		no_daemon
		for case in ${VFTR_LONG:+$("./plain-$mpi")} all; do
			alike 0 "$case" return
			grep -q "class" out.plain
		done
		is "$("./plain-$mpi" | wc -l)" "$(grep -c ": class " out.plain)" "mistakes that were told"'
	test_expect "$mpi: handlers are called as often, with the same" '
		no_daemon
		for case in ${VFTR_LONG:+$("./plain-$mpi")} all; do
			alike 0 "$case" handler
		done
		has out.plain "handler called"'
	test_expect "$mpi: calls before MPI_Init, after MPI_Finalize, MPI_Init twice" '
		for case in before_init after_finalize twice; do
			alike 0 "$case"
		done'
	test_expect "$mpi: MPI_Abort" '
		alike 0 abort
		alike 2 abort
		has out.plain "status 42"'
done
done_testing
