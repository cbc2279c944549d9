#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Standard input is the command's: each byte of it, what it leaves unread, its end, a terminal
# and none at all, in each form and behind each launcher, as without tracing.
test_description='standard input in three forms, as a process and behind three launchers'
. "$(dirname "$0")/../lib/lib.sh"
need jq bash mpirun.openmpi mpicc.openmpi
need_built "$AGENT" "$LIB/libvftrace-openmpi.so"
SIZE=${VFTR_LONG:+100}
SIZE=${SIZE:-1}

cc_traced "$BIN/stdin" "$T/nodes/app-stdin.c"
cc_plain "$BIN/bare" "$T/nodes/app-stdin.c"
gcc -O1 -o "$BIN/terminal" "$T/nodes/app-terminal.c" -lutil
for mpi in $(mpi_list); do
	mpicc_traced $mpi "$BIN/stdin.$mpi" "$T/nodes/app-stdin.c" -DUSE_MPI
	"mpicc.$mpi" -O1 -DUSE_MPI -o "$BIN/bare.$mpi" "$T/nodes/app-stdin.c"
done
head -c ${SIZE}000007 /dev/urandom >in
whole=$(cksum <in)
nothing=$(cksum </dev/null)

# The forms of a process, as commands: ./FORM ARGUMENT...
form() { # NAME WORDS
	echo "exec $2 \"\$@\"" >"$1"
	chmod +x "$1"
}
form untraced "env VFTR_OFF=1 $BIN/bare"
form around "$AGENT -q -o $PWD -- $BIN/stdin"
form preload "$AGENT -q -o $PWD --preload -- $BIN/bare"
form embedded "$BIN/stdin"
form embedded-preload "env LD_PRELOAD=$LIB/libvftrace.so $BIN/bare"
form in-step "$AGENT --in-step -q -o $PWD -- $BIN/stdin"
FORMS='around preload embedded embedded-preload in-step'

# ---- each byte ------------------------------------------------------------------

# profiles TASKS: the profiles of this folder are those of so many processes
profiles() {
	wait_for 30 "ls *_all.json || [ \$(ls *.vfp | wc -l) = 3 ]"
	ls *_all.json >/dev/null 2>&1 || "$VFTR" collate . >/dev/null
	is "$1" "$(json *_all.json .processes)" processes
}

# reached WHO TASKS COMMAND: the first of the tasks reads all there is, or each does. MPICH's
# launcher ends where a program reads too slowly: `sum count' says how far it is
reached() {
	who=$1 tasks=$2 r=0 send=cat
	rm -rf row && mkdir row && cd row
	case $3 in *"sum count"*) send="env VFTR_OFF=1 $BIN/bare send count" ;; esac
	begin=$(date +%s%N)
	$send <../in | limit sh -c "$3" >stdout 2>stderr || { cat stderr; false; }
	[ -z "$VFTR_LONG" ] || echo "$((($(date +%s%N) - begin) / 1000000)) ms: $3" >>../times
	while [ $r -lt "$tasks" ]; do
		if [ $r = 0 ] || [ "$who" = each ]; then wanted=$whole; else wanted=$nothing; fi
		is "$wanted" "$(cat sum.$r)" "checksum and bytes of rank $r"
		r=$((r + 1))
	done
	profiles "$tasks"
}

# row FORM LAUNCHER WHO TASKS COMMAND; row_long: in the long form only
row() {
	test_expect "$2, $1: $SIZE MB reach the command" "reached $3 $4 '$5'"
}

row_long() {
	[ -z "$VFTR_LONG" ] || row "$@"
}

for form in $FORMS; do
	row "$form" 'a process' first 1 "cd .. && cp $form row && cd row && sed -i s,$PWD,.,g $form && ./$form sum"
done

for mpi in $(mpi_list); do
	run="$(mpirun_of $mpi) -np 3"
	[ $mpi = openmpi ] && sum=sum || sum="sum count"
	row around $mpi first 3 "$AGENT -q -- $run $BIN/stdin.$mpi $sum"
	row_long preload $mpi first 3 "$AGENT -q --preload -- $run $BIN/bare.$mpi $sum"
	row embedded $mpi first 3 "$run $BIN/stdin.$mpi $sum"
	row in-step $mpi first 3 "$run $AGENT --in-step -- $BIN/stdin.$mpi $sum"
done

# ---- what is not read -------------------------------------------------------------

# as_untraced CODE: prints the same with ./untraced and each other form as $form
as_untraced() {
	for form in untraced $FORMS; do
		export form
		limit sh -c "$1" >"$form.out" 2>&1 || true
		cmp -s untraced.out "$form.out" || { diff untraced.out "$form.out"; echo "differs: $form"; return 1; }
	done
	cat untraced.out
}

test_expect 'what a program does not read stays in the pipe, and in the file' '
	head -c 1000 in >file
	as_untraced "for what in nothing \"bytes 4\"; do
			echo \$what:
			printf \"one\ntwo\nthree\n\" | (./\$form \$what; cat)
			(./\$form \$what; cksum) <file
		done"
	is 2 "$(grep -cx three untraced.out)"
	has untraced.out 996 # or it compares nothing with nothing
	is "a b" "$(printf "a\nb\n" | ("$AGENT" -q -- true; cat) | paste -sd" ")"'

test_expect 'a writer whose reader has ended gets SIGPIPE' '
	as_untraced "rm -f gone; (env --default-signal=PIPE yes; echo \$? >gone) | ./\$form nothing
		cat gone"
	has untraced.out 141'

test_expect 'a writer whose reader has closed it gets SIGPIPE while the reader runs' '
	as_untraced "rm -f gone; (env --default-signal=PIPE yes; echo \$? >gone) | ./\$form close gone
		echo \$?; cat gone"
	is "0 141" "$(paste -sd" " untraced.out)"'

test_expect 'the agent that a program has started keeps no pipe open while it lingers' '
	echo "{\"agent\": {\"linger_s\": 600}}" >linger
	begin=$(date +%s)
	for form in embedded embedded-preload; do
		yes | VFTR_CONFIG=$PWD/linger ./$form nothing | cat
	done
	no_later 30 $begin
	[ -n "$(agent_pids)" ]
	# one may end by itself in the meantime
	wait_for 60 "kill \$(agent_pids) 2>/dev/null; [ -z \"\$(agent_pids)\" ]"'

test_expect 'closed, /dev/null, a file, a pipe, a socket: the command has the same' '
	as_untraced "./\$form kind <&-
		echo null, a file to read and to write, a pipe:
		./\$form kind </dev/null
		./\$form kind <in
		./\$form kind <>in
		cat in | ./\$form kind
		echo all closed:
		./\$form kind <&- >&- 2>&-
		echo \$?
		./\$form sum <&-; cat sum.0
		./\$form sum <in; cat sum.0"
	has untraced.out "open: 0"
	has untraced.out "$whole"'

# ---- a terminal ----------------------------------------------------------------------

# on_terminal COMMAND WORDS KEYS...: the same as ./untraced, for each of $forms as ./it
on_terminal() {
	command=$1
	shift
	for form in untraced $forms; do
		cp $form it
		limit "$BIN/terminal" "$@" -- $command >raw || true
		cat raw
		# a shell's prompt comes before or after what its children print, and what is typed
		sed "s/? //g; s/^\(.1.\) [0-9]*$/\1/; s/srun: error.*//; /^$/d" raw >"$form.out"
		diff untraced.out "$form.out" || { echo "differs: $form"; return 1; }
	done
	hasnt untraced.out "not seen"
}

test_expect 'a terminal: each line when it is typed, a part of one, its end, the status' '
	forms=$FORMS
	on_terminal "./it lines" ready "hello\n" "read: hello" "part\d\d" "read: part" "\d"
	has untraced.out "terminal 1"
	has untraced.out "the end"
	has untraced.out "status 5"'

test_expect 'job control: stopped when it reads in the background, and by ^Z; goes on' '
	forms="around preload embedded embedded-preload"
	PS1="? "; export PS1
	stopped="Stopped                 ./it lines"
	on_terminal "bash --norc --noprofile --noediting -i" "? " "set -b\n" \
		"? " "./it lines &\n" "$stopped" "fg\n" "./it lines" "hello\n" "read: hello" "\z" \
		"$stopped" "fg\n" "./it lines" "\d" "the end" "echo is \$?\n" "is 5" "exit 3\n"
	is 2 "$(grep -c Stopped untraced.out)"
	has untraced.out "status 3"'

# ---- several nodes --------------------------------------------------------------------

slurm_up 3

test_expect 'agents on other nodes leave it to the command' '
	for what in true "head -c 2"; do
		printf "a\nb\n" | (limit "$AGENT" -q --agent-launcher "$(nodes_mpirun 1)" -- \
			$what; cat) >out
		is "a b" "$(paste -sd" " out)" "$what"
	done'

(umask 077 && echo 0123456789abcdef0123456789abcdef >secret)
PEERS="--peers node1:7001,node2:7001 --secret ../secret"
row distributed 'a process' first 1 "sh $T/lib/nodes.sh run $NODES node2 $AGENT -q $PEERS -- true </dev/null &
	sh $T/lib/nodes.sh run $NODES node1 $AGENT -q $PEERS -- $BIN/stdin sum; wait"
row distributed openmpi first 6 "$AGENT -q -- $(nodes_mpirun 2) -np 6 $BIN/stdin.openmpi sum"
row_long 'in-step over nodes' openmpi first 6 \
	"$(nodes_mpirun 2) -np 6 $AGENT --in-step -- $BIN/stdin.openmpi sum"
row_long 'embedded over nodes' openmpi first 6 "$(nodes_mpirun 2) -np 6 $BIN/stdin.openmpi sum"

# MPICH's own Finalize hangs over these nodes: processes without MPI
bridge=$(ip -o -4 addr | awk -v a="10.77.$test_net.254/" 'index($4, a) == 1 { print $2 }')
hydra="$T/lib/mpiexec.hydra -launcher ssh -launcher-exec $NODES/rsh -iface $bridge"
hydra="$hydra -hosts node1,node2,node3 -ppn 1 -n 3"
echo "[ \$PMI_RANK != 0 ] || exec $BIN/stdin \"\$@\"" >first
if command -v mpiexec.hydra >/dev/null; then
	row distributed mpich first 1 "$AGENT -q --agent-launcher \"\$(sh $T/lib/nodes.sh mpirun $NODES 1) \\
		--map-by ppr:1:node\" -- $hydra sh ../first sum count"
else
	test_skip 'mpich, distributed' 'no MPICH on this machine'
fi

srun="srun --mpi=pmix"
sixth="salloc -Q -N3 -n6"
srun --mpi=list 2>&1 | grep -q pmix || skip_all 'this Slurm has no PMIx'
row around srun each 2 "echo \"cat ../in | $AGENT -q -- $srun $BIN/stdin.openmpi sum\" >script
	sbatch -W -Q -N1 -n2 --wrap \"sh script\""
row embedded srun each 6 "$sixth $srun $BIN/stdin.openmpi sum"
row in-step srun each 6 "$sixth $srun $AGENT --in-step -- $BIN/stdin.openmpi sum"
row distributed srun each 6 "$sixth $AGENT -q -- $srun $BIN/stdin.openmpi sum"
row_long 'distributed, one reader' srun first 6 "$sixth $AGENT -q -- $srun -i0 $BIN/stdin.openmpi sum"
row_long 'in-step, one reader' srun first 6 \
	"$sixth $srun --input 0 $AGENT --in-step -- $BIN/stdin.openmpi sum"
row_long 'distributed, preload' srun each 6 \
	"$sixth $AGENT -q --preload -- $srun $BIN/bare.openmpi sum"
row_long 'mpirun in a job' srun first 6 "$sixth $AGENT -q -- mpirun.openmpi -np 6 $BIN/stdin.openmpi sum"

test_expect 'srun --pty: a terminal' '
	form untraced "salloc -Q -N1 srun --pty env VFTR_OFF=1 $BIN/bare"
	form around "salloc -Q -N1 $AGENT -q -- srun --pty $BIN/stdin"
	form embedded "salloc -Q -N1 srun --pty $BIN/stdin"
	form in-step "salloc -Q -N1 srun --pty $AGENT --in-step -q -- $BIN/stdin"
	forms="around embedded in-step"
	on_terminal "./it lines" ready "hello\n" "read: hello" "\d"
	has untraced.out "terminal 1"
	has untraced.out "status 5"'

[ ! -s times ] || sed 's/^/# /' times
done_testing
