#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='edges of MPI: what no program should do, calls behind our back, jumps, threads'
. "$(dirname "$0")/../lib/lib.sh"

need jq
need_built "$AGENT"
mpis=$(mpi_list)
[ -n "$mpis" ] || skip_all 'no MPI on this machine'

# run MPI PROGRAM [OPTION...]: alone and traced, its output must be the same
run() {
	mpi=$1 program=$2
	shift 2
	limit ./edges-$mpi $program >$program.plain 2>&1
	traced -q --preload -k profile.sample=0 "$@" -- ./edges-$mpi $program >$program.traced 2>&1
	diff $program.plain $program.traced
}

# refused OUTPUT: the errors that were returned, and which function ended the program
refused() {
	grep -oE "^class [0-9]+|Fatal error in [A-Za-z_]+" "$1"
}

# seen MPI: kind, sends and receives of each communicator; what is left open or unheard of
seen() {
	json edges-${1}_all.json '[.communicators[] | "\(.kind) \(.sends) \(.recvs)"] | join(", ")'
	json edges-${1}_all.json '"\(.open_requests) \(.lost_messages) \(.warnings | length)"'
}

functions() {
	json edges-${1}_all.json '[.mpi_functions[].function] | sort | join(" ")'
}

# across MPI: a plug-in is loaded across a multiple of 4 GiB and unloaded, then come messages
across() {
	echo "__asm__(\".text; .globl plugin_code; plugin_code: .skip 16777216, 0x90\");" >plugin.c
	gcc -shared -fPIC -o plugin.so plugin.c
	mpicc_traced "$1" across-$1 "$T/mpi/program/app-mpi-across.c" -ldl
	traced -q -- ./across-$1 ./plugin.so >across
	is 'across 4 GiB' "$(cat across)"
	is 'MPI_Barrier 10 MPI_Finalize 1 MPI_Init 1 MPI_Isend 10 MPI_Mprobe 10 MPI_Mrecv 10 MPI_Wait 10' \
		"$(json across-${1}_all.json '[.mpi_functions[] | "\(.function) \(.calls)"] | sort | join(" ")')"
	is '10 0' "$(json across-${1}_all.json '.matching | [.unmatched_sends, .unmatched_recvs |
		add] as $unmatched | "\(.pairs.exact) \($unmatched | add)"')"
	is 10 "$(json across-${1}_all.json '[.stacks[] | select(.path | startswith("after it<")) | .calls] | add')"
}

for mpi in $mpis; do
	test_expect "$mpi: the programs compile" "
		mpicc.$mpi \$TEST_FLAGS -Wall -Wextra -Wno-stringop-overflow -o edges-$mpi \
			\"\$T/mpi/program/app-mpi-edges.c\" -pthread
		mpicc.$mpi -shared -fPIC -o tool-$mpi.so \"\$T/mpi/program/app-mpi-edges-tool.c\"
		mpicc.$mpi \$TEST_FLAGS -std=gnu11 -I\"\$TOP\" -I\"\$BUILD/gen\" -o requests-$mpi \
			\"\$T/mpi/program/app-mpi-requests.c\" \"\$TOP/mpi/recorder/request.c\" \"\$TOP/mpi/memory.c\"
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
	test_expect "$mpi: NULL for a request, a message, a number or a flag is MPI's to refuse" "
		run $mpi nulls
		[ \$(grep -c ^class nulls.traced) -ge 11 ]
		is 'predefined 1 1' \"\$(seen $mpi | head -n 1)\"
		is '0 0 0' \"\$(seen $mpi | tail -n 1)\"
	"
	test_expect "$mpi: no group of ranks for an epoch is MPI's to refuse" "
		OMPI_MCA_osc=pt2pt,sm # others want hardware
		export OMPI_MCA_osc
		limit ./edges-$mpi no_group >plain 2>&1 || : # MPICH ends the program
		traced -q --preload -k profile.sample=0 -- ./edges-$mpi no_group >traced 2>&1 || :
		is \"\$(refused plain)\" \"\$(refused traced)\"
		[ \$(refused traced | wc -l) -ge 1 ]
	"
	test_expect "$mpi: bytes are right of types committed behind our back, and of what has two handles" "
		run $mpi types
		is '1600 1600' \"\$(json edges-${mpi}_all.json \
			'[.communicators[] | .bytes_sent, .bytes_received] | map(tostring) | join(\" \")')\"
	"
	test_expect "$mpi: a type of no elements may be none, also where the length of each message is recorded" "
		run $mpi no_type -k sampling.active=true
		is 2 \"\$(cat no_type.traced)\"
	"
	test_expect "$mpi: threads meet communicators made behind our back; handlers stay" "
		run $mpi unknown
		is '0 0 0' \"\$(seen $mpi | tail -n 1)\"
		is 200 \"\$(json edges-${mpi}_all.json '.communicators | length')\"
		is '800 800' \"\$(json edges-${mpi}_all.json \
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
			\"\$T/mpi/program/app-mpi-edges-unload.c\" -ldl -pthread
		traced -q -- ./unload-$mpi \"\$LIB/libvftrace-$mpi.so\" >unload
		is 'still here' \"\$(cat unload)\"
	"
	# MPI unloads plug-ins of its own: one in some thousand processes has one there by chance
	test_expect "$mpi: all is counted behind a plug-in that was across 4 GiB" "
		across $mpi
	"
	test_expect "$mpi: with VFTR_OFF MPI is asked for nothing that the program does not ask for" "
		VFTR_OFF=1
		export VFTR_OFF
		LD_PRELOAD=\"\$PWD/tool-$mpi.so \$LIB/libvftrace-$mpi.so\" limit ./edges-$mpi plain >off 2>&1
		is 'asked 0 times' \"\$(sort -u off)\"
	"
done

done_testing
