#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='MPI programs see the same, to the last byte of a status, traced and untraced'
: "${TEST_SECONDS:=1200}" "${TEST_COMMAND_SECONDS:=400}"
. "$(dirname "$0")/../lib/lib.sh"

need_built "$AGENT"
mpis=$(mpi_list)
[ -n "$mpis" ] || skip_all 'no MPI on this machine'
S=$T/mpi/transparent
# Debian's Open MPI starts without the one-sided component that needs no help of the
# kernel, and would have none here
OMPI_MCA_osc=pt2pt,sm
export S OMPI_MCA_osc
unset OMPI_MCA_btl # jobs that meet do so by TCP
export OMPI_MCA_btl_tcp_if_include=lo # networks of pseudo-nodes come and go

# MPICH spins; it gets all programs on as many ranks as this has CPUs for, and those
# where more ranks matter on four.
ranks_of() {
	case $1 in openmpi) echo 4 ;; *) echo 2 ;; esac
}

# Programs that an MPI of this machine cannot do at all, with or without us.
excluded() {
	case $1 in
	mpich) echo connect_accept spawn spawn_multiple ;;
	esac
}

why_excluded() {
	case $1 in
	mpich) echo "Debian's MPICH 4.0 over UCX has no dynamic processes" ;;
	esac
}

on_four='any_source sendrecv order any_source_ignored bcast gather gatherv scatter alltoallw
	reduce_scatter iallreduce igather_iscatter cart_open dist_graph_adjacent split create idup
	names inter_queries inter_messages inter_bcast inter_rooted inter_all inter_split_merge
	attributes_comm groups_made'
on_two_threads='threads_messages threads_collectives threads_handed threads_queries
	threads_errors send waitany_one handles_reused iallreduce'

# build MPI: plain/ and linked/, each with all, child-all, alone and the Fortran ones
build() {
	flags="$TEST_FLAGS -O0 -finstrument-functions -std=gnu11 -Wall -Wextra -Werror"
	flags="$flags -Wno-stringop-overflow -Wno-stringop-overread"
	mkdir plain linked
	# one object of all of them, which is kept for the next time: -r is not for libraries of an MPI
	compiler=$("mpicc.$1" -show -c x.c | sed "s/ -c x.c//")
	"$T/lib/cached" $compiler $flags -r -o all.o $(ls "$S"/*.c | grep -v -e /child.c -e /alone.c)
	for program in child alone; do
		"$T/lib/cached" "mpicc.$1" $flags -c -o $program.o "$S/$program.c"
	done
	for kind in plain linked; do
		trace=
		[ $kind = plain ] || trace=$(test_link "vftrace-$1")
		"mpicc.$1" -o $kind/child-all child.o $trace
		"mpicc.$1" -o $kind/alone alone.o $trace
		"mpicc.$1" -o $kind/all all.o -pthread $trace
	done
}

# build_fortran MPI: plain/ and linked/, each with MPIFH and F08
build_fortran() {
	for language in MPIFH F08; do
		mkdir $language
		(cd $language && "mpif90.$1" $TEST_FLAGS -O0 -finstrument-functions -cpp "-D$language" -w \
			-fallow-argument-mismatch -ffree-line-length-none -c "$S/fortran-messages.f90" "$S/fortran.f90")
		"mpif90.$1" -o "plain/$language" $language/*.o
		"mpif90.$1" -o "linked/$language" $language/*.o $(test_link "vftrace-$1")
	done
}

# run_as MODE MPI RANKS OUT PROGRAM [ARGUMENT...]: transcripts OUT/rank.N. MPICH 4.0.2 hangs by
# itself now and then where collectives of several kinds follow one another, traced or not:
# it may try five times.
run_as() {
	run_once "$@" && return
	for ra_try in 2 3 4 5; do
		case $2 in mpich) ;; *) return 1 ;; esac
		grep -q "still running" "$ra_out.err" || return 1
		echo "MPICH hung: try $ra_try"
		run_once "$@" && return
	done
	return 1
}

run_once() {
	ra_mode=$1
	ra_ranks=$3
	ra_out=$PWD/$4
	ra_program=$5
	ra_run=$(mpirun_of "$2")
	shift 5
	rm -rf "$ra_out"
	mkdir "$ra_out"
	case $ra_mode in
	plain) set -- limit $ra_run -np "$ra_ranks" "plain/$ra_program" -o "$ra_out/rank" "$@" ;;
	linked) set -- traced -q -- $ra_run -np "$ra_ranks" "linked/$ra_program" -o "$ra_out/rank" "$@" ;;
	preloaded) set -- traced -q --preload -- $ra_run -np "$ra_ranks" "plain/$ra_program" \
		-o "$ra_out/rank" "$@" ;;
	esac
	"$@" >"$ra_out/rank.0" 2>"$ra_out.err" || {
		echo "status $? of $*"
		tail -n 20 "$ra_out.err"
		tail -qn 1 "$ra_out"/rank.*
		return 1
	}
}

# same OUT OTHER: every rank said the same
same() {
	[ -s "$1/rank.0" ] && diff -r -U0 "$1" "$2"
}

# right OUT RANKS: every rank came to its end, and none said FAIL
right() {
	is "$2" "$(grep -l '^end: after: ' "$1"/rank.* | wc -l)" "ranks that ended"
	is 0 "$(cat "$1"/rank.* | grep -c FAIL)" "FAIL in $1" || {
		grep FAIL "$1"/rank.* | head -n 20
		return 1
	}
}

# modes PROGRAM: how it is traced with $mpi. In the short form each is traced in one way, and each
# MPI, each program of several MPIs and both interfaces of Fortran in both.
modes() {
	case $VFTR_LONG:$mpi:$1 in
	:openmpi:all | :openmpi:mpi_f08 | :mpich:threads | :mpich:four | :mpich:mpifh) echo linked ;;
	:*) echo preloaded ;;
	*) echo linked preloaded ;;
	esac
}

# compared NAME RANKS PROGRAM [ARGUMENT...]: of $mpi; two or three tests. That a transcript
# does not change from run to run is tried where it has most programs, in the long form.
compared() {
	name=$1
	ranks=$2
	shift 2
	arguments=$*
	test_expect "$mpi, $name: what the standard wants, untraced" '
		cd $mpi
		run_as plain $mpi $ranks $name.first $arguments
		right $name.first $ranks
		if [ $name = all ] && [ -n "$VFTR_LONG" ]; then
			run_as plain $mpi $ranks $name.second $arguments
			same $name.first $name.second
		fi'
	for mode in $(modes $name); do
		test_expect "$mpi, $name: the same, $mode" '
			cd $mpi
			run_as $mode $mpi $ranks $name.$mode $arguments
			same $name.first $name.$mode'
	done
}

for mpi in $mpis; do
	mkdir "$mpi"
	test_expect "$mpi: the C programs compile without a warning" 'cd $mpi; build $mpi'
	test_if "command -v mpif90.$mpi" "no mpif90.$mpi" "$mpi: the Fortran programs compile" \
		'cd $mpi; build_fortran $mpi'
	for program in $(excluded $mpi); do
		test_skip "$mpi: $program" "$(why_excluded $mpi)"
	done
	compared all "$(ranks_of $mpi)" all -x $(excluded $mpi)
	[ $mpi = openmpi ] || compared four 4 all $on_four
	[ $mpi = mpich ] || [ -z "$VFTR_LONG" ] || compared three 3 all -x $(excluded $mpi)
	compared threads 2 all -t 3 $on_two_threads
	test_expect "$mpi: beginnings and endings, each traced the same" '
		cd $mpi
		# Open MPI starts a daemon beside each process, which takes three times the CPU of that: in
		# the short form only where it is preloaded
		[ -n "$VFTR_LONG" ] || export OMPI_MCA_ess_singleton_isolated=1
		limit plain/alone >alone.plain
		traced -q -- linked/alone >alone.linked
		diff -U0 alone.plain alone.linked
		unset OMPI_MCA_ess_singleton_isolated
		traced -q --preload -- plain/alone >alone.preloaded
		diff -U0 alone.plain alone.preloaded'
	[ -e $mpi/plain/F08 ] || continue
	compared mpifh 2 MPIFH
	compared mpi_f08 2 F08
done

test_expect 'there are at least 150 programs, at least 25 of them in each Fortran' '
	programs=0
	for mpi in $mpis; do
		n=$(($($mpi/plain/all -l | wc -l) - $(excluded $mpi | wc -w)))
		[ $n -le $programs ] || programs=$n
		for language in MPIFH F08; do
			[ ! -e $mpi/plain/$language ] || fortran=$(grep -c ": done$" $mpi/mpifh.first/rank.0)
		done
	done
	echo "$programs and $fortran"
	[ $programs -ge 150 ] && [ ${fortran:-25} -ge 25 ]'

done_testing
