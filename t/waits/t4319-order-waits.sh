#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='messages in the wrong order and late receivers, in a program that stamps its calls itself'
. "$(dirname "$0")/../lib/lib.sh"
. "$T/lib/known.sh"
need jq
need_built "$AGENT" "$VFTR"
mpis=$(mpi_list)
[ -n "$mpis" ] || skip_all 'no MPI on this machine'

for mpi in $mpis; do
	test_expect "$mpi: the program runs, and has stamped calls of each property" "
		known_run order $mpi 4
		[ \$(grep -c '^meant ' truth.order.$mpi) -ge 13 ]"
	known_rows order "$mpi"
	test_expect "$mpi: where the other message was received is told" "
		jq -r '.waits[] | select(.kind == \"wrong_order\") | .path as \$path | .for[] |
			\"\\(\$path | split(\"<\")[0:2] | join(\"<\") | gsub(\" \"; \"\")) \" +
			\"\\(.there_path | split(\"<\")[0:2] | join(\"<\") | gsub(\" \"; \"\"))\"' order-$mpi.json |
			sort -u >told
		printf '%s\n' 'MPI_Recv<receive_from MPI_Recv<receive_from' \
			'MPI_Wait<posted_before MPI_Wait<posted_before' | diff - told"
done

for mpi in $mpis; do
	if echo 'MPI_Psend_init' | mpicc."$mpi" -include mpi.h -E -P - | grep -q 'int MPI_Psend_init('; then
		test_expect "$mpi: messages in partitions: the program runs, and has stamped calls of each property" "
			known_run parts $mpi 4
			[ \$(grep -c '^meant ' truth.parts.$mpi) -ge 3 ]"
		known_rows parts "$mpi"
	else
		test_skip "$mpi: messages in partitions" 'it has no MPI_Psend_init'
	fi
done

test_expect 'on one node there is no error of clocks' '
	for of in order-*.json; do
		jq -e ".waits | length > 5 and all(.error_s == 0)" $of
	done
	$VFTR waits --csv order-$mpi | awk -F, "NR == 1 && \$NF != \"error_s\" || NR > 1 && \$NF != 0 { bad = 1 }
		END { exit bad || NR < 5 }"
	$VFTR waits order-$mpi >shown
	$VFTR waits --exact order-$mpi >>shown
	grep "^| Wrong order " shown
	! grep "+-.[mu]*s." shown'

# ---- the same on nodes with clocks of their own: ranks 0 and 2, 1 and 3 -----------------------------------

known_nodes_up

test_expect 'openmpi on two nodes, by agents with clocks an hour apart that drift: waits are what the program says' '
	known_nodes order
	known_nodes_amounts order none'

test_expect 'openmpi on two nodes: a wait for another node has the error of the clocks, each time; others have none' '
	json=nodes/known-order-openmpi_all.json
	error=$(known_nodes_error order)
	jq -e --argjson error $error ".waits | map(.for[] | select(.rank == 1)) | length > 2 and
		all(.error_s > 0 and .error_s <= .calls * \$error * 1.01 + 1e-9)" $json
	jq -e ".waits | map(select(.path | test(\"^MPI_Wait *<\")) | .for[] | select(.rank == 2)) | length == 2 and
		all(.error_s == 0)" $json
	jq -e ".waits | all(((.for | map(.error_s) | add) - .error_s | fabs) < 1e-8)" $json
	$VFTR waits nodes | grep "+-.[mu]*s."'

test_expect 'openmpi on two nodes: it is known what late receivers on the other node did' '
	for property in long_message_far long_in_waitall_far long_in_sendrecv_far; do
		known_functions $property truth.nodes found.nodes || bad="$bad $property"
		known_meant $property truth.nodes found.nodes || bad="$bad $property"
	done
	is "" "$bad" "properties"'

done_testing
