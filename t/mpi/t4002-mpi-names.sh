#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='each MPI call is recorded once, under its name, in every language'
. "$(dirname "$0")/../lib/lib.sh"

mpis=$(mpi_list)
[ -n "$mpis" ] || skip_all 'no MPI on this machine'

# What a rank of app-mpi-bindings does, whatever the language.
sequence() {
	cat <<-EOF
	Init Comm_rank Comm_size Allreduce Sendrecv Irecv Isend Waitall Comm_split
	Comm_set_name Comm_get_name Type_contiguous Type_commit Op_create Allreduce Bcast
	Op_free Type_free Comm_free Info_create Info_set Info_get Info_free Barrier Pcontrol
	Wtime Wtick Reduce Finalize
	EOF
}

# The wrappers of MPI $1 with a recorder in place of the hooks: rec.so and rec.a
recorder() {
	flags="-std=gnu11 -D_GNU_SOURCE -I$TOP -I$BUILD/gen -fPIC -O1 -Wall -Wextra"
	gcc $flags -c "$T/mpi/program/app-mpi-recorder.c" -o recorder.o
	gcc $flags -c "$BUILD/gen/mpi_name.c" -o mpi_name.o
	"mpicc.$1" -shared -o librec.so recorder.o mpi_name.o "$BUILD/mpi/$1"/*.o "$BUILD/mpi/$1"/*/*.o \
		-Wl,--version-script="$TOP/libhook/lib.map" -Wl,--no-as-needed $(cat "$BUILD/gen/$1/fortran.libs")
	rm -f librec.a
	ar rcs librec.a recorder.o mpi_name.o "$BUILD/mpi/$1"/*.o "$BUILD/mpi/$1"/*/*.o
}

# build MPI LANGUAGE OUT FLAG...: before the library, as users do; --as-needed as some gcc do
build() {
	b_mpi=$1
	b_language=$2
	b_out=$3
	shift 3
	case $b_language in
	c) "mpicc.$b_mpi" -Wno-stringop-overflow -o "$b_out" "$T/mpi/program/app-mpi-bindings.c" -Wl,--as-needed "$@" ;;
	*) "mpif90.$b_mpi" -cpp "-D$b_language" -fallow-argument-mismatch -w -J. -o "$b_out" \
		"$T/mpi/program/app-mpi-bindings.f90" -Wl,--as-needed "$@" ;;
	esac
}

# job MPI RANKS PROGRAM: leaves rec.PID files; PRELOAD is preloaded in the ranks only
job() {
	rm -f rec.*
	RECORD=$PWD/rec limit $(mpirun_of "$1") -np "$2" env ${PRELOAD:+LD_PRELOAD="$PRELOAD"} "$3"
}

# recorded RANKS: every rank recorded the sequence, and its rank once
recorded() {
	is "$1" "$(ls rec.* | wc -l)" "files"
	for r in $(seq 0 $(($1 - 1))); do
		is 1 "$(grep -lx "rank $r of $1" rec.* | wc -l)" "rank $r"
	done
	for f in rec.*; do
		sed -n 's/^+MPI_//p' "$f" | paste -sd' ' >got
		sequence | paste -sd' ' | diff - got
		# nothing is inside of anything: each enter is followed by its exit
		is "" "$(grep -v '^rank' "$f" | paste - - | sed 's/+\(.*\)	-\1$//' | tr -d '\n')"
		is "+MPI_Init rank -MPI_Init" "$(head -n 3 "$f" | sed 's/^rank.*/rank/' | paste -sd' ')"
	done
}

languages='c MPIFH USE_MPI F08'
for mpi in $mpis; do
	mkdir -p "$mpi"
	cd "$mpi" || exit 99
	test_expect "$mpi: the wrappers link with the recorder" "recorder $mpi"
	for language in $languages; do
		has_it="[ $language = c ] || command -v mpif90.$mpi"
		test_if "$has_it" "no mpif90.$mpi" "$mpi, $language: linked" "
			build $mpi $language linked -L. -lrec -Wl,-rpath,\"\$PWD\"
			job $mpi 2 ./linked >out
			has out ok
			recorded 2
		"
		# Fortran's wrappers are the same in both libraries: in the short form, with one interface
		case $VFTR_LONG:$language in
		:MPIFH | :USE_MPI) test_skip "$mpi, $language: linked with the archive" 'in the long form' ;;
		*) test_if "$has_it" "no mpif90.$mpi" "$mpi, $language: linked with the archive" "
			build $mpi $language archive librec.a
			job $mpi 2 ./archive >out
			has out ok
			recorded 2
		" ;;
		esac
		test_if "$has_it" "no mpif90.$mpi" "$mpi, $language: preloaded" "
			build $mpi $language plain
			PRELOAD=\$PWD/librec.so
			job $mpi 4 ./plain >out
			has out ok
			recorded 4
		"
		test_if "$has_it" "no mpif90.$mpi" "$mpi, $language: MPI_Init_thread, MPI_Abort and its status" "
			build $mpi $language abort -DTHREADS -DABORT -L. -lrec -Wl,-rpath,\"\$PWD\"
			status_of 7 job $mpi 2 ./abort >out 2>err
			[ \"\$(cat rec.* | grep -c '^[-+]MPI_Init_thread')\" = 4 ]
			grep -qx +MPI_Abort rec.*
			cat rec.* >all
			hasnt all -MPI_Abort
		"
	done
	cd ..
done

# the real thing: the program counts by itself, the profile must agree
ranks=${VFTR_LONG:+1 2 }5
for mpi in $mpis; do
	test_expect "$mpi: the profile of a C program has the counts it took itself, $ranks ranks" "
		mpicc_traced $mpi count-$mpi \"\$T/mpi/program/app-mpi-count.c\"
		for n in $ranks; do
			rm -f counts.* count-${mpi}_*
			traced -- $(mpirun_of "$mpi") -np \$n ./count-$mpi counts. 40
			cat counts.* >all
			same_calls all count-${mpi}_all.json
			is \$n \"\$(json count-${mpi}_all.json .ranks)\"
		done
	"
	test_if "command -v mpif90.$mpi" "no mpif90.$mpi" "$mpi: and that of a Fortran program, 1 and 4 ranks" "
		mpifc_traced $mpi countf-$mpi \"\$T/mpi/program/app-mpi-count.f90\"
		for n in 1 4; do
			rm -f counts.* countf-${mpi}_*
			traced -- $(mpirun_of "$mpi") -np \$n ./countf-$mpi counts. 40
			cat counts.* >all
			same_calls all countf-${mpi}_all.json
		done
	"
done

done_testing
