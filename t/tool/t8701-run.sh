#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What a user types every day: vftr run, its options, and the folder with the results.
test_description='vftr run: a command, its exit status, and a folder for each run'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$VFTR"
cc_traced "$BIN/end" "$T/hook/app-end.c"
cc_plain "$BIN/instrumented" "$T/hook/app-end.c"
gcc -O1 -o "$BIN/plain" "$T/hook/app-end.c" -pthread || exit 1
LEAF='leaf<work<outer<main<init'

# run ARGUMENTS: limited in time
run() {
	limit "$VFTR" run "$@"
}

# in_folder NAME: a new one
in_folder() {
	mkdir "$1" && cd "$1"
}

test_expect 'a run has a folder, its files have plain names, and a link leads to the latest' '
	in_folder first
	status_of 3 run -- "$BIN/end" exit3 2>err
	is 1 "$(ls -d vftr-end-2*-* | wc -l)" folders
	is "$(ls -d vftr-end-2*-*)" "$(readlink vftr-end-last)"
	host=$(hostname | cut -d. -f1)
	printf "%s\n" $host.vfp node-$host.log profile.json summary.log | sort >wanted
	ls vftr-end-last/ | sort | cmp wanted -
	is 10 "$(calls_of vftr-end-last/profile.json "$LEAF")"
	has err "$PWD/vftr-end-2"
	has err "/summary.log"'

test_expect 'two runs in one second have two folders; the link leads to the last that ended' '
	in_folder twice
	for i in 1 2 3 4; do
		status_of 3 run -q -- "$BIN/end" exit3 &
	done
	wait
	is 4 "$(ls -d vftr-end-2* | wc -l)"
	for d in vftr-end-2*; do
		is 10 "$(calls_of $d/profile.json "$LEAF")"
	done
	[ -s vftr-end-last/profile.json ]
	is "" "$(ls -A | grep "[.]tmp")"'

test_expect 'exit statuses: of the program, 128+n, 127, 126, 125; nothing stays of what did not run' '
	in_folder statuses
	status_of 3 run -q -- "$BIN/end" exit3
	status_of 137 run -q -- "$BIN/end" kill9
	rm -r vftr-*
	status_of 127 run -- ./none 2>err
	has err "cannot run ./none"
	: >file
	status_of 126 run -- ./file 2>err
	status_of 125 run -k nonsense=1 -- "$BIN/end" exit3 2>err
	status_of 125 run --nonsense -- "$BIN/end" exit3 2>err
	status_of 125 run 2>err
	has err "say what to run"
	is "err file" "$(ls | xargs)"'

test_expect 'standard input and output are those of the program, and its signals reach it' '
	in_folder streams
	is hello "$(echo hello | run -q -- cat 2>err)"
	status_of 143 run -q -- sh -c "kill -TERM \$\$" 2>err'

test_expect 'the name is that of the program or script behind launchers and interpreters' '
	in_folder names
	echo "exec $BIN/end exit3" >job.sh
	status_of 3 run -q -- sh -e job.sh
	status_of 3 run -q -- timeout 100 env A=b "$BIN/end" exit3
	is "vftr-end-last vftr-job-last" "$(ls -d *-last | xargs)"'

test_if 'command -v python3' 'no Python' 'a run of Python has the name of the script' '
	in_folder python
	echo "import subprocess; subprocess.run([\"$BIN/end\", \"exit3\"])" >train.py
	run -q --preload=no -- python3 -u train.py
	is 10 "$(calls_of vftr-train-last/profile.json "$LEAF")"'

test_expect '--output names the folder, with all on the way to it, by its patterns' '
	in_folder output
	host=$(hostname | cut -d. -f1)
	SLURM_JOB_ID= PBS_JOBID=77.server status_of 3 run -q -o "a/b %%/%p-%j-%h" -- "$BIN/end" exit3
	is 10 "$(calls_of "a/b %/end-77.server-$host/profile.json" "$LEAF")"
	status_of 3 run -q -o "$PWD/c/%d" -- "$BIN/end" exit3
	ls c | grep -q "^20[0-9]*-[0-9]*$"
	is "a c" "$(ls | xargs)"
	status_of 125 run -o "x%q" -- "$BIN/end" exit3 2>err
	has err "there is no %q"
	status_of 125 run -o "x%" -- "$BIN/end" exit3 2>err
	has err "there is no %;"
	: >x
	status_of 125 run -o x/y -- "$BIN/end" exit3 2>err
	has err "--output x/y: the folder cannot be made or written to: Not a directory"
	PBS_JOBID=78 status_of 3 run -q -- "$BIN/end" exit3
	ls -d vftr-end-*-78'

test_expect '--preload=auto: only into what is not linked with the library' '
	in_folder preload
	for p in end instrumented; do
		status_of 3 run -- "$BIN/$p" exit3 2>err
		is 10 "$(calls_of vftr-$p-last/profile.json "$LEAF")" "calls in $p"
	done
	status_of 3 run -q -- sh -c "echo \"[\$LD_PRELOAD]\" >preloads; exec $BIN/end exit3"
	status_of 0 run -q --preload -- sh -c "echo \"[\$LD_PRELOAD]\" >>preloads"
	status_of 0 run -q -- env >linked 2>err
	head -n 1 preloads | grep -qx "\[\]"
	tail -n 1 preloads | grep -q libvftrace
	grep -q "^LD_PRELOAD=.*libvftrace" linked
	status_of 3 run -k profile.sample=0 -- "$BIN/plain" exit3 2>err
	has err "no process of $BIN/plain was traced"
	has err "it is not instrumented"
	status_of 3 run --preload=no -- "$BIN/instrumented" exit3 2>err
	has err "no process of"
	status_of 125 run --preload=maybe -- "$BIN/end" exit3 2>err
	has err "not yes, no or auto"'

for mpi in $(mpi_list); do
	test_expect "a program of which only MPI is seen: one line says so ($mpi)" "
		in_folder only-$mpi
		printf \"%s\\n\" \"#include <mpi.h>\" \"int main(int n, char **v) { MPI_Init(&n, &v);\" \
			\"MPI_Barrier(MPI_COMM_WORLD); return MPI_Finalize(); }\" >m.c
		mpicc.$mpi -o m m.c
		run -k profile.sample=0 -- \$(mpirun_of $mpi) -np 2 ./m 2>err
		is 1 \"\$(grep -c 'm is not instrumented: its MPI calls are seen, and no functions' err)\"
		run -q -- \$(mpirun_of $mpi) -np 2 ./m 2>err
		hasnt err 'not instrumented'
		mpicc.$mpi -finstrument-functions -o m m.c
		run -- \$(mpirun_of $mpi) -np 2 ./m 2>err
		hasnt err 'not instrumented'"
done

test_expect '--preload=auto: a linked program has no LD_PRELOAD' '
	cat >look.c <<-END
		#include <stdio.h>
		#include <stdlib.h>
		int main(void) { puts(getenv("LD_PRELOAD") ? "preloaded" : "as it is"); return 0; }
	END
	cc_traced look look.c
	cc_plain look-plain look.c
	is "as it is" "$(run -q -- ./look)"
	is preloaded "$(run -q -- ./look-plain)"'

test_expect '--trace, --by-function, --rank and --set are those keys; --set wins' '
	in_folder keys
	host=$(hostname | cut -d. -f1)
	status_of 3 run -q --trace --by-function --rank all -- "$BIN/end" exit3
	[ -s vftr-end-last/rank-0.log ]
	"$VFTR" dump --json vftr-end-last >dump.json
	is 0 "$(json dump.json .interval_ns)"
	has vftr-end-last/summary.log "name_grouped"
	status_of 3 run -q --trace -k sampling.sample_interval=0.002 -k profile_table.separate=true \
		-- "$BIN/end" exit3
	"$VFTR" dump --json vftr-end-last >dump.json
	is 2000000 "$(json dump.json .interval_ns)"
	ls vftr-end-last/'

test_expect '--programs: of a makefile only the program, though it starts others, and by each of its names' '
	cc_plain "$BIN/prog" "$T/hook/app-end.c"
	printf "all:\n\ttrue; ls >/dev/null; $BIN/prog counted 3 $PWD/prog.count\n" >programs.mk
	limit "$VFTR" run -q -o every -- make -s -f programs.mk
	json every/profile.json ".executables[]" >every.programs
	grep -x ".*/make" every.programs
	for list in prog "nothing,pr?g" "*og"; do
		rm -rf only
		limit "$VFTR" run -q -o only --programs "$list" -- make -s -f programs.mk
		is "1 prog" "$(json only/profile.json "\"\(.processes) \(.executables | map(sub(\".*/\"; \"\")) | join(\" \"))\"")"
	done
	status_of 125 "$VFTR" run --require-profile -o none --programs "pro,rog,,$(printf %300s x)" -- make -s -f programs.mk 2>err
	has err "no process of make was traced: only programs named pro,rog,,"
	# what is left out is as without us
	VFTR_PROGRAMS=other limit "$VFTR" run -q -o none -- sh -c "exit 7" || is 7 $?'

test_expect '--require-profile: 125 where nothing was traced or nothing could be written' '
	in_folder require
	status_of 0 run -q --require-profile -- "$BIN/end" return 2>err
	status_of 3 run -q --require-profile -- "$BIN/plain" exit3 2>err
	status_of 125 run -q -k profile.sample=0 --require-profile -- true 2>err
	has err "--require-profile asks for"
	# the process is known, and nothing of what it did
	status_of 125 run -q -k profile.sample=0 -k memory.active=true -o known --require-profile -- true 2>err
	has err "--require-profile asks for"
	has err "neither a call nor a stack sample was recorded"
	is "1 0" "$(json known/profile.json "\"\(.processes) \(.calls)\"")"
	VFTR_OFF=1 status_of 125 run -q --require-profile -- "$BIN/end" return 2>err
	status_of 125 run -q --require-profile -o gone -- sh -c "$BIN/end return; rm -r gone; : >gone" 2>err
	has err "cannot write"
	status_of 0 run -q -o gone2 -- sh -c "$BIN/end return; rm -r gone2; : >gone2" 2>err'

test_expect 'other tools say these words: stat and record answer, and report makes one' '
	in_folder words
	status_of 3 limit "$VFTR" stat -- "$BIN/end" exit3 2>err
	has err "stat is another name for"
	status_of 3 limit "$VFTR" record -q -- "$BIN/end" exit3 2>err
	ls vftr-end-last/*.vfd
	"$VFTR" report -o report.html vftr-end-last
	has report.html "</html>"
	status_of 2 "$VFTR" report . 2>err
	has err "vftr run"
	"$VFTR" --help | head -n 1 | grep -q "vftr run -- ./a.out"
	"$VFTR" help run >help
	has help "--require-profile"'

test_expect 'tools take the folder, or the link to it' '
	in_folder tools
	status_of 3 run -q --trace -- "$BIN/end" exit3
	mv vftr-end-2* before
	status_of 3 run -q --trace -- "$BIN/end" exit3
	L=vftr-end-last
	"$VFTR" diff before $L >diff
	has diff "before/profile.json"
	has diff "$L/profile.json"
	"$VFTR" histogram $L >text
	has text "no messages"
	"$VFTR" dump $L | grep -q "Application: *end"
	cp -r $L/ again
	rm again/summary.log again/profile.json
	is "again/summary.log: 1 node profile" "$("$VFTR" collate again)"
	is 10 "$(calls_of again/profile.json "$LEAF")"
	rm again/*.log again/profile.json
	"$VFTR" diff again $L >diff
	has diff "node profile"
	# the summaries of two folders have one name
	mkdir together
	status_of 2 "$VFTR" collate -o together before $L 2>err
	has err "are of two runs, whose summaries have one name"
	is "" "$(ls together)"
	"$VFTR" collate -o together $L ./$L "$(readlink $L)" 2>err
	has err "is named twice, and counts once"
	is 10 "$(calls_of together/profile.json "$LEAF")"'

test_expect 'vftr run below vftr run is refused with the reason; stat is silent where it is to be' '
	status_of 125 limit "$VFTR" run -q -o outer -- "$VFTR" run -o inner -- true 2>err
	has err "this command runs under vftr run already"
	limit "$VFTR" stat -q -o named -k off=true -- true 2>err
	is "" "$(cat err)"
	limit "$VFTR" stat -o named -k off=true -- true 2>err
	has err "stat is another name for"'

test_expect 'export says what it has made, where to open it, and what an interval hides' '
	cd tools
	"$VFTR" export $PWD/vftr-end-last --format perfetto 2>err
	grep -q "wrote $PWD/vftr-end-last/end.perfetto-trace ([0-9.]* [KM]*i*B*[bytes]*, 1 thread, 0 messages): open it at https://ui.perfetto.dev" err || { cat err; false; }
	[ -s vftr-end-last/end.perfetto-trace ]
	hasnt err "sampled every"
	"$VFTR" export -q vftr-end-last --format folded 2>err
	is "" "$(cat err)"
	"$VFTR" export vftr-end-last --format folded -o - >out 2>err
	is "" "$(cat err)"
	status_of 3 run -q --trace -k sampling.sample_interval=0.005 -- "$BIN/end" exit3
	"$VFTR" export vftr-end-last --format chrome 2>err
	has err "sampled every 5 ms: of shorter calls only a random selection is shown"'

for mpi in $(mpi_list); do
	test_expect "$mpi: linked and unlinked programs, one folder of the job" "
		in_folder $mpi
		mpicc_traced $mpi $BIN/job.$mpi $T/session/app-job.c
		mpicc.$mpi -O1 -o $BIN/bare.$mpi $T/session/app-job.c
		run -q --rank 0-3 -- $(mpirun_of $mpi) -np 4 $BIN/job.$mpi >out
		is '4 1' \"\$(json vftr-job.$mpi-last/profile.json '\"\\(.ranks) \\(.nodes)\"')\"
		is 40 \"\$(calls_of vftr-job.$mpi-last/profile.json 'MPI_Allreduce<main<init')\"
		is 4 \"\$(ls vftr-job.$mpi-last/rank-?.log | wc -l)\"
		run -q -- $(mpirun_of $mpi) -np 2 $BIN/bare.$mpi >out
		is 20 \"\$(json vftr-bare.$mpi-last/profile.json \
			'[.stacks[] | select(.path | test(\"^MPI_Allreduce < call@[^<]* < \")) | .calls] | add')\"
		mkdir in && cd in
		limit $(mpirun_of $mpi) -np 2 $VFTR run -q --in-step -- $BIN/job.$mpi >out
		is 1 \"\$(ls -d vftr-job.$mpi-2* | wc -l)\" folders
		is 20 \"\$(calls_of vftr-job.$mpi-last/profile.json 'MPI_Allreduce<main<init')\""
done

done_testing
