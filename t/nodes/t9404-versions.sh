#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='agents of two versions in one MPI job: a sentence, and none goes on'
. "$(dirname "$0")/../lib/lib.sh"
need_built "$AGENT"
[ -n "$(mpi_list)" ] || skip_all 'no MPI'

cat >agent <<'END'
#!/bin/sh
number=${OMPI_COMM_WORLD_RANK:-${PMI_RANK-}}
export VFTR_RUNTIME_DIR="$PWD/run$number" VFTR_SESSION=versions
mkdir -p -m 700 "$VFTR_RUNTIME_DIR" "$PWD/out$number"
[ "$number" != "$ODD" ] || export VFTR_TEST_VERSION=99
exec "$AGENT" -o "$PWD/out$number"
END
chmod +x agent
export AGENT ODD

# refused MPI NUMBER: the agent with this number is of another version
refused() {
	ODD=$2
	! limit $(mpirun_of "$1") -np 3 ./agent >said 2>&1 || return 1
	cat said
	has said "vftr-node-agent: agent $2 speaks version 99 of the agents' protocol, and this agent version"
	has said "and this agent version 99; use one version of vftr on all nodes"
	is 0 "$(find out? -type f | wc -l)" files
}

for mpi in $(mpi_list); do
	for odd in 0 2; do
		test_expect "$mpi: agent $odd of 3 is of another version: both say both versions" \
			"refused $mpi $odd"
	done
done

done_testing
