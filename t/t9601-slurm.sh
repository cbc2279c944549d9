#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='the everyday form under a real Slurm on three nodes'
. "$(dirname "$0")/lib.sh"
need srun sbatch

slurm_up 3

test_expect 'three nodes run a step, from the login node, a batch script and a node' '
	is 3 "$(srun -N3 -n6 hostname | sort -u | wc -l)"
	echo "srun hostname; exit 7" >script
	status_of 7 slurm_batch script -N3 -n6
	is 6 "$(grep -c node script.out)"
	is 2 "$(nodes_run node2 srun -n2 hostname | grep -c node)"
'

done_testing
