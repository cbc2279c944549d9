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

# build MPI LANGUAGE OUT OBJECT FLAG...: before the library, as users do; --as-needed as some gcc do. OBJECT
# is compiled for the first program that needs it.
build() {
	b_mpi=$1
	b_language=$2
	b_out=$3
	b_object=$b_language-$4.o
	shift 4
	[ "$b_object" != "$b_language-abort.o" ] || b_flags='-DTHREADS -DABORT'
	case $b_language in
	c) b_compiler=mpicc.$b_mpi
		[ -e "$b_object" ] || "$T/lib/cached" $b_compiler -Wno-stringop-overflow $b_flags -c -o "$b_object" \
			"$T/mpi/program/app-mpi-bindings.c" ;;
	*) b_compiler=mpif90.$b_mpi
		[ -e "$b_object" ] || "$T/lib/cached" $b_compiler -cpp "-D$b_language" -fallow-argument-mismatch -w \
			$b_flags -c -o "$b_object" "$T/mpi/program/app-mpi-bindings.f90" ;;
	esac
	"$b_compiler" -o "$b_out" "$b_object" -Wl,--as-needed "$@"
}

# job MPI RANKS PROGRAM: leaves rec.PID files; PRELOAD is preloaded in the ranks only
job() {
	rm -f rec.*
	RECORD=$PWD/rec limit $(mpirun_of "$1") -np "$2" env ${PRELOAD:+LD_PRELOAD="$PRELOAD"} "$3"
}

# recorded RANKS: every rank recorded the sequence, and its rank once
recorded() {
	is "$1" "$(ls rec.* | wc -l)" "files"
	# nothing is inside of anything: each enter is followed by its exit; the rank is told in MPI_Init
	awk -v ranks="$1" -v sequence="$(sequence | paste -sd' ')" '
		function end(	i) {
			if (file == "")
				return
			if (sequence != got)
				wrong("calls" got)
			if (inside != "" || first != " +MPI_Init rank -MPI_Init")
				wrong("inside " inside ", first" first)
		}
		function wrong(what) { print file ": " what; bad = 1 }
		BEGIN { gsub(/ +/, " ", sequence); sub(/^ */, " ", sequence); sub(/ $/, "", sequence) }
		FNR == 1 { end(); file = FILENAME; got = inside = first = "" }
		FNR <= 3 { first = first " " $1 }
		/^rank/ {
			if ($0 != "rank " $2 " of " ranks || $2 !~ /^[0-9]+$/ || $2 >= ranks || seen[$2]++)
				wrong($0)
			next
		}
		/^[+]/ {
			if (inside != "")
				wrong($0 " in " inside)
			inside = substr($0, 2)
			got = got " " substr($0, 6)
			next
		}
		$0 != "-" inside { wrong($0 " ends " inside) }
		{ inside = "" }
		END {
			end()
			for (r = 0; r < ranks; r++)
				if (seen[r] != 1)
					wrong("rank " r)
			exit bad
		}' rec.*
}

languages='c MPIFH USE_MPI F08'
for mpi in $mpis; do
	mkdir -p "$mpi"
	cd "$mpi" || exit 99
	test_expect "$mpi: the wrappers link with the recorder" "recorder $mpi"
	for language in $languages; do
		has_it="[ $language = c ] || command -v mpif90.$mpi"
		test_if "$has_it" "no mpif90.$mpi" "$mpi, $language: linked" "
			build $mpi $language linked whole -L. -lrec -Wl,-rpath,\"\$PWD\"
			job $mpi 2 ./linked >out
			has out ok
			recorded 2
		"
		# Fortran's wrappers are the same in both libraries: in the short form, with one interface
		case $VFTR_LONG:$language in
		:MPIFH | :USE_MPI) test_skip "$mpi, $language: linked with the archive" 'in the long form' ;;
		*) test_if "$has_it" "no mpif90.$mpi" "$mpi, $language: linked with the archive" "
			build $mpi $language archive whole librec.a
			job $mpi 2 ./archive >out
			has out ok
			recorded 2
		" ;;
		esac
		test_if "$has_it" "no mpif90.$mpi" "$mpi, $language: preloaded" "
			build $mpi $language plain whole
			PRELOAD=\$PWD/librec.so
			job $mpi 4 ./plain >out
			has out ok
			recorded 4
		"
		test_if "$has_it" "no mpif90.$mpi" "$mpi, $language: MPI_Init_thread, MPI_Abort and its status" "
			build $mpi $language abort abort -L. -lrec -Wl,-rpath,\"\$PWD\"
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
