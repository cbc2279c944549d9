#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='edges of MPI: what no program should do, calls behind our back, jumps, threads'
. "$(dirname "$0")/lib.sh"

need jq
need_built "$AGENT"
mpis=$(mpi_list)
[ -n "$mpis" ] || skip_all 'no MPI on this machine'

# run MPI PROGRAM: alone and traced, its output must be the same
run() {
	limit ./review-$1 $2 >$2.plain 2>&1
	traced -q --preload -- ./review-$1 $2 >$2.traced 2>&1
	diff $2.plain $2.traced
}

# seen MPI: kind, sends and receives of each communicator; what is left open or unheard of
seen() {
	json review-${1}_all.json '[.communicators[] | "\(.kind) \(.sends) \(.recvs)"] | join(", ")'
	json review-${1}_all.json '"\(.open_requests) \(.lost_messages) \(.warnings | length)"'
}

functions() {
	json review-${1}_all.json '[.mpi_functions[].function] | sort | join(" ")'
}

for mpi in $mpis; do
	test_expect "$mpi: the programs compile" "
		mpicc.$mpi \$TEST_FLAGS -Wall -Wextra -Wno-stringop-overflow -o review-$mpi \
			\"\$T/app-mpi-review.c\" -pthread
		mpicc.$mpi -shared -fPIC -o tool-$mpi.so \"\$T/app-mpi-review-tool.c\"
		mpicc.$mpi \$TEST_FLAGS -std=gnu11 -I\"\$TOP\" -I\"\$BUILD/gen\" -o requests-$mpi \
			\"\$T/app-mpi-requests.c\" \"\$TOP/mpi/request.c\" \"\$TOP/mpi/memory.c\"
	"
	test_expect "$mpi: the table of open requests does as a list does" "
		limit ./requests-$mpi
	"
	test_expect "$mpi: a communicator may be used, and its end refused, by its attributes" "
		run $mpi attributes
		seen $mpi | grep -x 'dup [23] [23]'
	"
	test_expect "$mpi: partitioned messages to and from impossible ranks are MPI's to refuse" "
		run $mpi bad_partitions
	"
	test_expect "$mpi: threads meet communicators made behind our back; handlers stay" "
		run $mpi unknown
		is '0 0 0' \"\$(seen $mpi | tail -n 1)\"
		is 200 \"\$(json review-${mpi}_all.json '.communicators | length')\"
		is '800 800' \"\$(json review-${mpi}_all.json \
			'[([.communicators[].sends] | add), ([.communicators[].recvs] | add)] | map(tostring) | join(\" \")')\"
	"
	test_expect "$mpi: persistent requests go on after an error and a completion unseen" "
		run $mpi persistent
		is '0 0 0' \"\$(seen $mpi | tail -n 1)\"
	"
	test_expect "$mpi: requests may be made or completed behind our back" "
		run $mpi behind
		is 'predefined 9600 6400' \"\$(seen $mpi | head -n 1)\"
		is '0 0 0' \"\$(seen $mpi | tail -n 1)\"
	"
	test_expect "$mpi: threads whose requests have each other's handles" "
		run $mpi threads
		is 'predefined 8000 8000' \"\$(seen $mpi | head -n 1)\"
		is '0 0 0' \"\$(seen $mpi | tail -n 1)\"
	"
	test_expect "$mpi: 200000 requests at once" "
		run $mpi many
		is 'predefined 100000 100000' \"\$(seen $mpi | head -n 1)\"
		is '0 0 0' \"\$(seen $mpi | tail -n 1)\"
	"
	test_expect "$mpi: after a jump out of Waitall, all later ones are still seen" "
		run $mpi jumps
		seen $mpi
		is 'dup 100001' \"\$(seen $mpi | head -n 1 | cut -d ' ' -f 1,2)\"
		n=\$(seen $mpi | head -n 1 | cut -d ' ' -f 3)
		[ \$n -ge 100000 ]
	"
	test_expect "$mpi: what ROMIO calls is not the program's" "
		OMPI_MCA_io=romio321
		export OMPI_MCA_io
		run $mpi file
		is 'MPI_File_close MPI_File_open MPI_File_set_view MPI_File_write_all MPI_Finalize MPI_Get_count MPI_Init_thread MPI_Type_commit MPI_Type_free MPI_Type_vector' \"\$(functions $mpi)\"
	"
	test_expect "$mpi: the tracer may be unloaded with a plug-in while its threads run" "
		mpicc.$mpi \$TEST_FLAGS -Wall -Wextra -Wno-stringop-overflow -o unload-$mpi \
			\"\$T/app-mpi-review-unload.c\" -ldl -pthread
		traced -q -- ./unload-$mpi \"\$LIB/libvftrace-$mpi.so\" >unload
		is 'still here' \"\$(cat unload)\"
	"
	test_expect "$mpi: with VFTR_OFF MPI is asked for nothing that the program does not ask for" "
		VFTR_OFF=1
		export VFTR_OFF
		LD_PRELOAD=\"\$PWD/tool-$mpi.so \$LIB/libvftrace-$mpi.so\" limit ./review-$mpi plain >off 2>&1
		is 'asked 0 times' \"\$(sort -u off)\"
	"
done

done_testing
