#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='programs that know nothing of us give the same results preloaded: hpcc, mpi4py'
. "$(dirname "$0")/../lib/lib.sh"
need jq ldd
need_built "$AGENT"

# What of Open MPI has windows wherever its processes may not read each other's memory.
OMPI_MCA_osc=pt2pt,sm
export OMPI_MCA_osc
unset OMPI_MCA_btl # jobs that meet do so by TCP
export OMPI_MCA_btl_tcp_if_include=lo # networks of pseudo-nodes come and go

# mpi_behind FILE: which MPI an executable or shared object is linked with
mpi_behind() {
	ldd "$1" 2>/dev/null | awk '$1 ~ /^libmpi\.so\.40/ { print "openmpi" }
		$1 ~ /^libmpich\.so|^libmpi\.so\.12/ { print "mpich" }' | head -n 1
}

# can_run MPI: it is one, it can start programs here, and there is a library for it
can_run() {
	[ -n "$1" ] && mpi_list | grep -qx "$1"
}

# twice MPI RANKS COMMAND...: untraced in plain/, then preloaded in traced/, where the
# folder files/ is the program's; stdout goes to out. Both are silent on stderr.
twice() {
	twice_launch="$(mpirun_of "$1") -np $2"
	shift 2
	for kind in plain traced; do
		rm -rf $kind
		mkdir -p $kind/files
		[ ! -e hpccinf.txt ] || cp hpccinf.txt $kind
		(
			cd $kind || exit
			set -- $twice_launch "$@"
			[ $kind = plain ] || set -- "$AGENT" -q --preload -- "$@"
			limit "$@" >out 2>err || { echo "$kind: $?"; cat err; exit 1; }
			is "" "$(cat err)" "stderr, $kind"
		)
	done
	mv traced/*_all.json traced/job_all.json
	# by samples it is seen that they are stripped
	is "[]" "$(json traced/job_all.json "[.warnings, .dead_ranks] | add |
		map(select(tostring | test(\"is stripped: \") | not)) | tojson")"
}

# ---- hpcc ---------------------------------------------------------------------

# hpcc_input N P Q: a problem of N unknowns on a grid of P x Q ranks
hpcc_input() {
	cat <<-EOF
	HPLinpack benchmark input file
	Innovative Computing Laboratory, University of Tennessee
	HPL.out      output file name (if any)
	8            device out (6=stdout,7=stderr,file)
	1            # of problems sizes (N)
	$1           Ns
	1            # of NBs
	80           NBs
	0            PMAP process mapping (0=Row-,1=Column-major)
	1            # of process grids (P x Q)
	$2           Ps
	$3           Qs
	16.0         threshold
	1            # of panel fact
	2            PFACTs (0=left, 1=Crout, 2=Right)
	1            # of recursive stopping criterium
	4            NBMINs (>= 1)
	1            # of panels in recursion
	2            NDIVs
	1            # of recursive panel fact.
	1            RFACTs (0=left, 1=Crout, 2=Right)
	1            # of broadcast
	1            BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
	1            # of lookahead depth
	1            DEPTHs (>=0)
	2            SWAP (0=bin-exch,1=long,2=mix)
	64           swapping threshold
	0            L1 in (0=transposed,1=no-transposed) form
	0            U  in (0=transposed,1=no-transposed) form
	1            Equilibration (0=no,1=yes)
	8            memory alignment in double (> 0)
	EOF
}

# What it found: each check, and the summary but for what it measured. Lines by CPU time
# are there only if the clock has ticked. The rounding of HPL's solution, HPL_RnormI, is
# another one in each untraced run where its BLAS has threads. Of random updates hpcc makes fewer than all,
# 4 N, where it takes these for longer than its time bound: that is measured, too.
hpcc_results() {
	grep -v "^CPU" "$1" | grep -oE "PASSED|FAILED|Found [0-9]+ errors.*|Node\(s\) with error.*|[0-9]+ tests.*"
	sed -n "/^Begin of Summary/,/^End of Summary/p" "$1" |
		awk -F= '/RandomAccess.*_N=/ { n = $2 }
			/RandomAccess.*_ExeUpdates=/ && $2 > 0 && $2 < 4 * n { print $1 "=" 4 * n; next } { print }' |
		sed -E "s/^(.*([fF]lops|GUPs|GBs|GBytes|usec|[tT]ime[0-9]*|_Copy|_Scale|_Add|_Triad|RnormI))=.*/\1/"
}

hpcc_same() {
	hpcc_results plain/hpccoutf.txt >plain.results
	hpcc_results traced/hpccoutf.txt >traced.results
	diff plain.results traced.results
	is 6 "$(grep -c "^PASSED" traced.results)"
	has traced.results "Success=1"
	[ "$(wc -l <traced.results)" -gt 150 ]
}

hpcc_mpi=$(mpi_behind "$(command -v hpcc)")
test_if "can_run '$hpcc_mpi'" 'no hpcc, or not for an MPI we have' \
	'hpcc on 2 ranks passes its tests as untraced, and is in the profile' '
	hpcc_input 120 1 2 >hpccinf.txt # a fifth of the CPU of 300
	twice '"$hpcc_mpi"' 2 hpcc
	hpcc_same
	is 2 "$(json traced/job_all.json .ranks)"
	# what it consists of
	for f in Init Finalize Allreduce Barrier Sendrecv Isend Irecv Waitall Testany Bcast; do
		json traced/job_all.json ".functions[] | select(.function == \"MPI_$f\") | .calls" >calls
		[ "$(cat calls)" -ge 2 ]
	done
	is 2 "$(json traced/job_all.json ".functions[] | select(.function == \"MPI_Init\") | .calls")"
'

# ---- mpi4py -------------------------------------------------------------------

# The first Python that has it, and its MPI.
python=
python_mpi=
for p in ${PYTHON:-} python3 /usr/bin/python3; do
	module=$($p -c 'import mpi4py; mpi4py.rc.initialize = False; from mpi4py import MPI
print(MPI.__file__)' 2>/dev/null) || continue
	python=$p
	python_mpi=$(mpi_behind "$module")
	break
done
have_python="can_run '$python_mpi'"

# py_same RANKS [PART...]: the same output, and where the program knows how often it
# called a function, spawned processes included, the profile says so, too
py_same() {
	py_n=$1
	shift
	rm -f hpccinf.txt
	twice "$python_mpi" "$py_n" "$python" "$T/mpi/program/app-mpi4py.py" files "$@"
	cmp plain/out traced/out
	[ "$(wc -l <traced/out)" -gt "$((100 * py_n))" ]
	cat plain/files/counts.* | sort >plain.counts
	cat traced/files/counts.* | sort | diff plain.counts -
	awk '{ n[$2] += $1 } END { for (f in n) print f, n[f] }' plain.counts | sort >wanted
	json traced/job_all.json '.functions[] | "\(.function) \(.calls)"' | sort >got
}

py_counted() {
	[ "$(wc -l <wanted)" -gt 120 ]
	is "" "$(comm -23 wanted got)" "calls, wanted and not in the profile"
}

test_if "$have_python" 'no python3-mpi4py for an MPI we have' \
	'mpi4py: buffers of all kinds on 2 ranks, with the calls that the program counted' '
	py_same 2
	py_counted
'
test_if "[ \"$VFTR_LONG\" ] && $have_python" 'no python3-mpi4py for an MPI we have, or not the long form' 'the same on 4 ranks' '
	py_same 4
	py_counted
'
test_if "$have_python" 'no python3-mpi4py for an MPI we have' \
	'mpi4py: spawned processes are traced, and counted' '
	py_same 2 spawn
	py_counted
	is 4 "$(json traced/job_all.json .processes)"
'
test_if "$have_python" 'no python3-mpi4py for an MPI we have' 'mpi4py: pickled objects, on 4 ranks' '
	py_same 4 pickled
'

# ---- how they are started -------------------------------------------------------

cat >start.c <<-'EOF'
	#include <mpi.h>
	int main(int argc, char **argv)
	{
		MPI_Init(&argc, &argv);
		return MPI_Finalize();
	}
EOF

# started_by COMMAND...: preloaded; the program is called start
started_by() {
	rm -f start_all.json
	limit "$AGENT" -q --preload -- "$@"
}

# inits: how many calls of MPI_Init there were, and the warnings
inits() {
	json start_all.json '"\([.functions[] | select(.function == "MPI_Init") | .calls] | add) \(.warnings)"'
}

for mpi in $(mpi_list); do
	run="$(mpirun_of "$mpi") -np 2 ./start"

	test_expect "$mpi: --preload finds the MPI behind other commands, or of a program in PATH" '
		"mpicc.$mpi" -finstrument-functions -o start start.c
		started_by env START=1 timeout 300 $run
		is "2 []" "$(inits)"
		PATH=$PWD:$PATH
		started_by start
		is "1 []" "$(inits)"
	'
	test_expect "$mpi: of a script it is not known, and the log says what was not seen" '
		started_by sh -c "$run"
		is 2 "$(json start_all.json .ranks)"
		has start_all.log "start: its MPI calls were not seen: link it with -lvftrace-$mpi in"
	'
done

done_testing
