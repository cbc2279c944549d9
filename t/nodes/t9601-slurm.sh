#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The everyday form in jobs of a real Slurm: whatever srun and mpirun are told, each rank
# and each message is in one summary, or COMMAND is not run and a sentence says why.
test_description='the everyday form under a real Slurm on three nodes'
TEST_SECONDS=${TEST_SECONDS:-${VFTR_LONG:+2700}} # MPICH hangs, see the last rows
. "$(dirname "$0")/../lib/lib.sh"
need srun sbatch salloc mpirun.openmpi jq
need_built "$AGENT" "$LIB/libvftrace-openmpi.so" "$LIB/vftr/peer-openmpi.so"
ulimit -c unlimited # of the ranks, too
slurm_up 3
srun --mpi=list 2>&1 | grep -q pmix || skip_all 'this Slurm has no PMIx'

mpicc_traced openmpi "$BIN/ring" "$T/nodes/app-ring.c" || skip_all 'app-ring.c cannot be compiled'
mpicc.openmpi -g -O1 -finstrument-functions -o "$BIN/plain" "$T/nodes/app-ring.c"
[ ! -e "$LIB/libvftrace-mpich.so" ] || mpicc_traced mpich "$BIN/ring-mpich" "$T/nodes/app-ring.c"
cp "$BIN/ring" ring
printf 'node1\nnode1\nnode3\nnode3\n' >hosts
echo "0-5 $BIN/ring 100" >programs

# summary RANKS MESSAGES [FILE]: of the run in this folder, the only one
summary() {
	is 1 "$(ls out/*_all.json | wc -l)" summaries
	is "$1 $2 0" "$(json out/*_all.json \
		'"\(.ranks) \(.matching.pairs.exact) \(.matching.unmatched_sends | add)"')" \
		'ranks, messages, and sends without a known receiver' || {
		cat stderr # what the agents said of it
		jq -c .matching out/*_all.json
		grep '^Warning' out/*_all.log
		false
	}
}

fresh() {
	rm -rf out && mkdir out
}

seconds() {
	date +%s.%N
}

# no_longer BEGIN END COMMAND...: what was traced in this time lasts 5 s longer, at most, than
# COMMAND, which is that untraced. In the long form only; not of MPICH, which sends its keys
# over PMI-2 once more after 10 s, if they were lost.
no_longer() {
	[ -n "$VFTR_LONG" ] && [ $broke != mpich_hangs ] || return 0
	all="$2 - $1" tries=0
	shift 2
	while :; do
		begin=$(seconds) status=0
		VFTR_OFF=1 "$@" >stdout.off 2>stderr.off || status=$?
		[ $status != 0 ] || break
		tries=$((tries + 1))
		cat stderr.off
		[ $tries -lt 8 ] || return 1
		$broke stderr.off
	done
	echo "$all $(seconds) - $begin" | awk '{ all = $1 - $3; own = $4 - $6
		printf "%.1f s, untraced %.1f s\n", all, own; exit !(all < own + 5) }' >took || status=1
	cat took
	[ $status = 0 ] || { uptime; return 1; } # on a busy machine one sample says little
	echo "$(cat took): $*" >>times
}

# sent_twice STDERR: Slurm's daemon of PMI-2 sends keys once more, seconds later, if a busy
# node did not take them
sent_twice() {
	grep -q "mpi/pmi2: failed to send" "$1"
}

# job RANKS ALLOCATION COMMAND: in a job, traced; 100 messages of each rank. INSIDE in COMMAND
# is the in-step form. In the long form the job is run untraced, too. A job that Open MPI itself
# has broken is run again, and so is one that lasted longer than the untraced one.
job() {
	tries=0 slow=0
	while :; do
		one_job "$@" && return 0 || failed=$?
		[ $failed != 3 ] || slow=$((slow + 1))
		tries=$((tries + 1))
		[ $tries -lt 8 ] && [ $slow -lt 3 ] && [ $failed -gt 1 ] || return 1
	done
}

# 1: wrong; 2: broken by others; 3: too slow, once
one_job() {
	ranks=$1 allocation=$2
	plain="$before "$(echo "$3" | sed "s, INSIDE,,")
	case $3 in
	*INSIDE*) traced=$(echo "$3" | sed "s,INSIDE,$AGENT --in-step -q -o out --,") ;;
	*) traced="$before $AGENT -q -o out $traced_by -- $3" ;;
	esac
	fresh
	begin=$(seconds) status=0
	limit salloc -Q $allocation sh -c "$traced" >stdout 2>stderr || status=$?
	if [ $status != 0 ] || sent_twice stderr; then
		cat stderr
		$broke stderr || return 1
		# at its end: what was done is there all the same
		[ $broke = mpich_hangs ] && summary "$ranks" "$((ranks * 100))" && return 0
		return 2
	fi
	end=$(seconds)
	hasnt stderr SIGCONT || return 1 # srun says so of what we tell it
	[ -e "$(echo out/*_all.json)" ] || {
		echo "no summary of the agents: that of vftr collate, without messages between nodes"
		"$VFTR" collate -o out out
	}
	summary "$ranks" "$((ranks * 100))" || {
		$broke stderr && return 2
		return 1
	}
	no_longer $begin $end limit salloc -Q $allocation sh -c "$plain" || return 3
}
traced_by=
before= # the agent
broke=open_mpi_broke

# MPICH 4.0.2 itself hangs over these nodes: some untraced runs at their start, 8 of 10 in
# MPI_Finalize, where two ranks wait in UCX for one that has gone on
mpich_hangs() {
	[ $status -ge 124 ] || sent_twice "$1"
}

# row SENTENCE RANKS ALLOCATION COMMAND
row() {
	test_expect "$1" "job $2 '$3' '$4'"
}

# test_long, row_long: in the long form only
test_long() {
	[ -z "$VFTR_LONG" ] || test_expect "$@"
}

row_long() {
	[ -z "$VFTR_LONG" ] || row "$@"
}

test_expect 'three nodes run a step, from the login node, a batch script and a node' '
	is 3 "$(srun -N3 -n6 hostname | sort -u | wc -l)"
	echo "srun hostname; exit 7" >script
	status_of 7 slurm_batch script -N3 -n6
	is 6 "$(grep -c node script.out)"
	is 2 "$(nodes_run node2 srun -n2 hostname | grep -c node)"'

test_expect 'the table of options is what the srun of this machine has' '
	sed -n "/srun_options\[\]/,/^};/p" "$TOP/nodeagent/agent/launch/launcher-tables.c" >table
	awk "{ while (match(\$0, /WORDS_[A-Z0-9]|\"[^\"]*\"/)) {
		found = substr(\$0, RSTART, RLENGTH); \$0 = substr(\$0, RSTART + RLENGTH)
		if (found ~ /^W/) { words = substr(found, 7, 1); continue }
		n = split(substr(found, 2, length(found) - 2), name, \" \")
		for (i = 1; i <= n; i++) print name[i], words } }" table >rows
	sed "s|/[^ ]*||" rows >names
	[ "$(wc -l <names)" -gt 140 ]
	while read -r name wanted; do
		says=$(srun "--$name" 2>&1 </dev/null) || true
		case $says in
		*unrecognized*) continue ;; # of another version
		*"requires an argument"*) got=1 ;;
		*) case $(srun "--$name=zz" --version 2>&1 </dev/null || true) in
			*"allow an argument"*) got=0 ;;
			*) got=G ;;
			esac ;;
		esac
		# a value that only later versions take
		[ "$name $wanted $got" = "pty G 0" ] || is "$name $wanted" "$name $got"
	done <names
	for letter in $(sed -n "s|.*/\(.\) 1\$|\1|p" rows); do
		says=$(srun "-$letter" 2>&1 </dev/null) || true
		case $says in
		*"requires an argument"* | *"invalid option"*) ;;
		*) is "a value" none "-$letter" ;;
		esac
	done'

row 'srun in a job of 3 nodes and 6 tasks' 6 '-N3 -n6' 'srun --mpi=pmix ./ring 100'
row 'options with values of their own words, and a job with tasks per node' 6 \
	'-N3 --ntasks-per-node=2' 'srun --ntasks-per-node 2 -o log.txt -n6 --mpi pmix ./ring 100'
row_long 'options glued together, and a beginning of one' 6 '-N3 -n6' \
	'srun -lN3 -n6 --mp=pmix -ofile ./ring 100'
row_long 'memory, GPUs and network' 6 '-N3 -n6 --mem-per-cpu=100' \
	'srun --mpi=pmix --mem=0 --gpus-per-node 0 --network=x -c 1 -m block:block ./ring 100'
row_long 'wishes in the environment' 6 '-N3 -n6' 'env SLURM_MPI_TYPE=pmix SLURM_CPU_BIND=none \
	SLURM_THREADS_PER_CORE=1 SLURM_LABELIO=1 SLURM_KILL_BAD_EXIT=1 srun ./ring 100'
row 'a step of one of three nodes: the agents are where it runs' 2 '-N3 -n6' \
	'srun -N1 -n2 --mpi=pmix ./ring 100; test $(ls out/*.vfp | wc -l) = 1'
row_long 'fewer tasks than nodes' 2 '-N3 --ntasks-per-node=2' 'srun -n2 --mpi=pmix ./ring 100'
row 'a step on named nodes' 4 '-N3 --ntasks-per-node=2' \
	'srun -w node2,node3 -N2 -n4 --mpi=pmix ./ring 100'
row_long 'a step beside a node' 4 '-N3 --ntasks-per-node=2' \
	'srun -x node2 -N2 -n4 --mpi=pmix ./ring 100'
row_long 'a step from the second node on' 4 '-N3 --ntasks-per-node=2' \
	'srun -r 1 -N2 -n4 --mpi=pmix ./ring 100'
row_long 'hosts of a file, as the distribution says' 4 '-N3 -n6' \
	'env SLURM_HOSTFILE=$PWD/hosts srun -n4 -m arbitrary --mpi=pmix ./ring 100'
row 'an environment that srun is not to pass on' 6 '-N3 -n6' \
	'srun --export=NONE --mpi=pmix ./ring 100'
row_long 'a list of programs' 6 '-N3 -n6' 'srun --mpi=pmix --multi-prog programs'
row 'mpirun in a job: its daemons are a step beside the agents' 6 '-N3 -n6' \
	'mpirun.openmpi -np 6 ./ring 100'
row 'a job of one node that is not this one' 2 '-N1 -n2' 'srun --mpi=pmix ./ring 100'
row_long 'the same with mpirun' 2 '-N1 -n2' 'mpirun.openmpi -np 2 ./ring 100'
traced_by=--preload
case $(readlink -f "$LIB") in
*[" :"]*)
	test_expect 'the library preloaded: not on several nodes, as its folder has a blank' '
		status_of 125 limit salloc -Q -N3 -n6 "$AGENT" -q --preload -- srun --mpi=pmix "$BIN/plain" 100 2>stderr
		has stderr "has a blank or a colon"' ;;
*) row 'the library preloaded' 6 '-N3 -n6' "srun --mpi=pmix $BIN/plain 100" ;;
esac
traced_by="--agent-launcher 'srun --mpi=pmix --overlap -N3 -n3 --ntasks-per-node=1 -K0'"
row_long 'agents started by a command of the user' 6 '-N3 -n6' 'srun --mpi=pmix ./ring 100'
traced_by=
before='env -u SLURM_NTASKS -u SLURM_NPROCS'
row_long 'without the number of tasks in the environment' 6 '-N3 -n6' 'srun -n6 --mpi=pmix ./ring 100'
before='env SLURM_MPI_TYPE=pmix'
row_long 'the MPI in the environment' 6 '-N3 -n6' 'srun ./ring 100'
before=

if [ -e "$BIN/ring-mpich" ]; then
	row 'MPICH, by PMI-2, on one node of three' 2 '-N3 -n6' \
		"srun --mpi=pmi2 -N1 -n2 $BIN/ring-mpich 100"
else
	test_skip 'MPICH by PMI-2' 'no MPICH on this machine'
fi

row_long 'in the step' 6 '-N3 -n6' 'srun --mpi=pmix INSIDE ./ring 100'
row_long 'in the step, by mpirun' 6 '-N3 -n6' 'mpirun.openmpi -np 6 INSIDE ./ring 100'
row_long 'in the step, of one node that is not this one' 2 '-N1 -n2' \
	'srun --mpi=pmix INSIDE ./ring 100'
row_long 'a heterogeneous job: a step of both groups' 6 '-N1 -n2 : -N2 -n4' \
	'srun --het-group=0,1 --mpi=pmix INSIDE ./ring 100'
row_long 'a heterogeneous job: a step of the first group' 2 '-N1 -n2 : -N2 -n4' \
	'srun --het-group=0 --mpi=pmix ./ring 100'
row_long 'a heterogeneous job: a step of the second group' 4 '-N1 -n2 : -N2 -n4' \
	'srun --het-group=1 --mpi=pmix ./ring 100'

# Launchers of other systems: `NAME [run] -n 6 COMMAND' is an srun whose tasks have the variables
# that NAME's manual names, and none of Slurm's. PMIx's own stay, so that MPI starts.
mkdir -p launchers/pals
cat >launchers/task <<'END'
launcher=$1 rank=$SLURM_PROCID size=$SLURM_STEP_NUM_TASKS local=$SLURM_LOCALID job=$SLURM_JOB_ID
nodes=$SLURM_STEP_NUM_NODES node=$SLURM_NODEID
shift
unset $(env | sed -n 's/^\(SLURM_[A-Z0-9_]*\)=.*/\1/p')
case $launcher in
flux) export FLUX_TASK_RANK=$rank FLUX_JOB_SIZE=$size FLUX_TASK_LOCAL_ID=$local \
	FLUX_JOB_NNODES=$nodes FLUX_JOB_ID=f$job ;;
jsrun) export JSM_NAMESPACE_RANK=$rank JSM_NAMESPACE_SIZE=$size \
	JSM_NAMESPACE_LOCAL_RANK=$local JSM_NAMESPACE_LOCAL_SIZE=$((size / nodes)) LSB_JOBID=$job ;;
aprun) export ALPS_APP_PE=$rank ALPS_APP_DEPTH=1 ALPS_APP_ID=$job ;;
prun) ;; # PMIX_RANK and PMIX_NAMESPACE
mpiexec) export PALS_RANKID=$rank PALS_LOCAL_RANKID=$local PALS_NODEID=$node PALS_APID=$job \
	PALS_LOCAL_SIZE=$((size / nodes)) PALS_DEPTH=1 PMI_RANK=$rank PMI_SIZE=$size \
	PMI_LOCAL_RANK=$local PMI_LOCAL_SIZE=$((size / nodes)) ;;
esac
# Open MPI knows these names, too, and starts by PMIx all the same when it is told to
export OMPI_MCA_ess=pmi OMPI_MCA_schizo=ompi
exec "$@"
END
cat >launchers/flux <<END
#!/bin/sh
[ "\$1" != run ] || shift
shift 2
exec srun --mpi=pmix sh $PWD/launchers/task "\${0##*/}" "\$@"
END
chmod +x launchers/flux
for name in jsrun aprun prun pals/mpiexec; do cp launchers/flux launchers/$name; done
PATH=$PWD/launchers:$PATH
for launcher in 'flux run' jsrun "$PWD/launchers/pals/mpiexec"; do
	row_long "in the step, by ${launcher##*/}" 6 '-N3 --ntasks-per-node=2' \
		"$launcher -n 6 INSIDE ./ring 100"
done

# apart LAUNCHER: it does not say how many tasks there are, so the nodes do not meet
apart() {
	fresh
	limit salloc -Q -N3 --ntasks-per-node=2 "$1" -n 6 "$AGENT" --in-step -o out -- ./ring 100 2>stderr ||
		{ cat stderr; false; }
	is 3 "$(grep -c "vftr collate .* makes the summary" stderr)" "nodes that say what to do"
	is "" "$(ls out/*_all.json 2>/dev/null)" "summaries of one node"
	"$VFTR" collate -o out out
	is "6 300 300" "$(json out/*_all.json "\"\(.ranks) \(.matching.pairs.exact) \(.matching.unmatched_sends.other_node)\"")" \
		"ranks, messages within a node, to others"
}

for launcher in aprun prun; do
	test_long "in the step, by $launcher: a profile of each node" "apart $launcher"
done

test_expect 'in a batch script; the exit status is the command' '
	fresh
	echo "$AGENT -q -o out -- srun --mpi=pmix ./ring 100 && $AGENT -q -- srun -N3 -n3 --mpi=pmix \\
		sh -c \"exit 5\"" >script
	status_of 5 slurm_batch script -N3 -n6
	has script.out "6 ranks"
	summary 6 600'

test_long 'the agents as a step of the user beside the step of the job' '
	fresh
	begin=$(seconds)
	echo "export VFTR_SESSION=mine
		srun --overlap -N3 -n3 --mpi=pmix $AGENT -q -o out &
		until srun --overlap -N3 -n3 test -S \$VFTR_RUNTIME_DIR/mine.sock; do sleep 0.1; done
		srun --overlap --mpi=pmix ./ring 100
		wait" >script
	limit salloc -Q -N3 -n6 sh script 2>stderr || { cat stderr; false; }
	end=$(seconds)
	summary 6 600
	no_longer $begin $end limit salloc -Q -N3 -n6 srun --mpi=pmix ./ring 100'

test_expect 'in a batch script on one node the agent needs no step' '
	fresh
	echo "$AGENT -q -o out -- srun --mpi=pmix ./ring 100" >script
	begin=$(seconds)
	slurm_batch script -N1 -n4
	end=$(seconds)
	summary 4 400
	hasnt script.out "--sibling"
	echo "srun --mpi=pmix ./ring 100" >script
	no_longer $begin $end slurm_batch script -N1 -n4'

# refused WORDS ALLOCATION ARGUMENT...: at once, and COMMAND does not run
refused() {
	words=$1 allocation=$2
	shift 2
	fresh; rm -f stdout
	begin=$(date +%s)
	status_of 125 limit $allocation "$AGENT" -q -o out "$@" >stdout 2>stderr
	no_later 10 $begin
	has stderr "$words"
	hasnt stdout ranks
}

test_expect 'on a login node: refused, with what to do' '
	refused "sbatch or salloc" "" -- srun -N3 -n6 --mpi=pmix ./ring 100
	refused "--in-step" "" -- srun -N1 --mpi=pmix ./ring 100'

test_expect 'components of a heterogeneous step: refused' '
	refused "--in-step" "salloc -Q -N3 -n6" -- srun -n1 --mpi=pmix ./ring 1 : -n1 ./ring 1'

test_expect 'around launchers of other systems: refused' '
	for launcher in "flux run" jsrun aprun prun "$PWD/launchers/pals/mpiexec"; do
		refused "--in-step" "salloc -Q -N3 -n6" -- $launcher -n 6 ./ring 100
		is 1 "$(wc -l <stderr)" "lines"
	done'

test_expect 'agents without MPI end at once' '
	refused "--mpi=pmix" "salloc -Q -N3 -n6" -- srun ./ring 100'

test_expect 'two agents on a node end at once, all of them' '
	refused "each node has one" "salloc -Q -N3 -n6" --agent-launcher \
		"srun --mpi=pmix --overlap -N3 -n6 -K0" -- srun --mpi=pmix ./ring 100
	refused "each node has one" "salloc -Q -N3 -n6" --agent-launcher \
		"mpirun.openmpi -np 6" -- srun --mpi=pmix ./ring 100
	# beside a job, without a front
	status_of 125 limit salloc -Q -N3 -n6 srun --mpi=pmix "$AGENT" -q 2>stderr || is 1 "$test_got"
	has stderr "each node has one"'

test_expect 'agents that are refused as two are on one host: none stays, and no lock' '
	for n in 1 ${VFTR_LONG:+2 3}; do
		refused "each node has one" "" --agent-launcher "mpirun.openmpi --oversubscribe -np 2" \
			-- mpirun.openmpi --oversubscribe -np 2 ./ring 1
		wait_for 10 "! pgrep -f -- \"--sibling .*$PWD/out\" && ! pgrep -f -- \"--sibling .*output_directory=out\""
		is "" "$(ls "$VFTR_RUNTIME_DIR" | grep run-)"
	done'

test_expect 'a script as COMMAND in a job of 3 nodes: a line says what is not traced, on one node none' '
	printf "#!/bin/sh\nexit 7\n" >script && chmod +x script
	for nodes in 3 1; do
		for command in "sh script" ./script; do
			status_of 7 limit salloc -Q -N$nodes "$AGENT" -o . -- $command 2>stderr
			is $((nodes / 3)) "$(grep -c "has 3 nodes, and .*script: .*not traced.*--in-step" stderr)" \
				"$(cat stderr)"
		done
	done
	# a program is what the user says it is
	limit salloc -Q -N3 "$AGENT" -q -o . -- ./ring 1 2>stderr || :
	hasnt stderr "has 3 nodes"'

input_from() {
	test_in=$1
	shift
	"$@" <"$test_in"
}

test_expect 'standard input reaches the application' '
	head -c ${VFTR_LONG:+100}300000 /dev/urandom >in
	for launcher in "srun --input 0 --mpi=pmix" "mpirun.openmpi -np 6"; do
		fresh; rm -f stdin
		begin=$(seconds)
		limit salloc -Q -N3 -n6 "$AGENT" -q -o out -- $launcher ./ring 10 0 read <in
		end=$(seconds)
		cmp in stdin
		summary 6 60
		no_longer $begin $end input_from in limit salloc -Q -N3 -n6 $launcher ./ring 10 0 read
	done'

test_expect 'an agents'\'' launcher that does not come has agent.start_s and as long again' '
	begin=$(date +%s)
	refused "did not start" "" -k agent.start_s=1 --agent-launcher "sleep 100" -- mpirun.openmpi -np 2 ./ring 1
	no_later 30 $begin'

test_expect 'scancel: a summary of what was done' '
	fresh
	job=$(sbatch --parsable -N3 -n6 -o cancelled.out --wrap \
		"exec $AGENT -q -o out -- srun --mpi=pmix ./ring 100 60")
	wait_for 30 "grep -q ranks cancelled.out"
	scancel "$job"
	wait_for 40 "ls out/*_all.json"
	cp cancelled.out stderr
	summary 6 600
	wait_for 40 "! squeue -h -j $job | grep -q ."'

[ ! -s times ] || sed 's/^/# /' times
# at the end, as hangs take their time
if [ -e "$BIN/ring-mpich" ]; then
	broke=mpich_hangs
	row_long 'MPICH, by PMI-2, on three nodes' 6 '-N3 -n6' \
		"timeout 20 srun --mpi=pmi2 $BIN/ring-mpich 100"
	row_long 'the same in the step' 6 '-N3 -n6' \
		"timeout 20 srun --mpi=pmi2 INSIDE $BIN/ring-mpich 100"
fi

broken_told
done_testing
