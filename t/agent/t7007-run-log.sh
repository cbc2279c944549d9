#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='the log of output.layout run: short, and says first what matters'
. "$(dirname "$0")/../lib/lib.sh"
need jq awk
export TZ=UTC
need_built "$AGENT" "$VFTR" "$LIB/libvftrace.so"

# many: 32 766 call paths, of which each look at the JSON file takes a second; plain: 254
cc_traced "$BIN/many" "$T/agent/app-paths.c" && cc_traced "$BIN/plain" "$T/agent/app-paths.c" -DFEW ||
	{ echo 'Bail out! app-paths.c cannot be compiled'; exit 1; }
MPI=$(mpi_list | head -n 1)

# run OPTION... -- COMMAND...: its files are in the folder run, and the digest in the file err
run() {
	rm -rf run
	limit "$AGENT" -k output.layout=run -o run "$@" 2>err
}

# rows LOG TITLE: number of rows of a table
rows() {
	awk -v title="$2" '$0 == title { on = 1; next }
		on && /^\+/ { if (++frames == 3) exit; next }
		on && frames == 2 { n++ }
		END { print n + 0 }' "$1"
}

# digest_of LOG: its lines, from the log
digest_of() {
	awk '/^[^ ]+: [0-9]+ (rank|process)/ { on = 1 } on && /^$/ { exit } on' "$1"
}

# numbers JSON: what the digest must say of the profile, from the stacks and the head
numbers() {
	jq -r '
	def unit: if . == 0 then "0 s" elif . >= 0.9995 then "\(.) 1" elif . >= 0.9995e-3 then "\(. * 1e3) 1e-3"
		elif . >= 0.9995e-6 then "\(. * 1e6) 1e-6" else "\(. * 1e9) 1e-9" end;
	([.stacks[].t_excl_s] | add) as $all |
	([.stacks[] | select(.function | startswith("MPI_"))
		| select(.function == "MPI_Init" or .function == "MPI_Finalize") | .t_excl_s] | add // 0) as $ends |
	([.stacks[] | select(.function | startswith("MPI_")) | .t_excl_s] | add // 0) as $mpi |
	([.stacks[] | select(.function == "relax") | .t_excl_s] | add) as $hot |
	(.stacks[] | select(.function == "relax")) as $relax |
	"ranks \(.ranks)", "runtime \(.runtime_s)", "mpi \(100 * ($mpi - $ends) / $all)", "ends \(100 * $ends / $all)",
	"hot \(100 * $hot / $all)", "hot_s \($hot)", "rank \($relax.rank_max)",
	"times \($relax.t_excl_max_s * .ranks / $relax.t_excl_s)", "most \($relax.t_excl_max_s)",
	"least \($relax.t_excl_min_s)", "hooks \(.summary.hooks_s)",
	"tracing \(100 * .overhead_s / .runtime_s)"' "$1"
}

# said FILE: the same numbers, as the digest says them, in seconds and percent
said() {
	awk 'function s(n, unit) {
			sub(/[;,)].*/, "", unit)
			return n * (unit == "s" ? 1 : unit == "ms" ? 1e-3 : unit == "us" ? 1e-6 : 1e-9)
		}
		NR == 1 { print "ranks", $2; print "runtime", s($(NF - 1), $NF) }
		NR == 2 { for (i = 1; i < NF; i++) if ($i == "%") {
			if ($(i + 1) ~ /^MPI,?$/) print "mpi", $(i - 1)
			if ($(i + 1) ~ /^MPI_Init/) print "ends", $(i - 1) } }
		$5 == "relax" && $2 == "%" { print "hot", $1; print "hot_s", s($3, $4) }
		$1 == "imbalance:" { print "rank", $4; print "times", $6
			print "most", s(substr($10, 2), $11); print "least", s($13, $14) }
		$1 == "tracing:" { print "tracing", $2; print "hooks", s(substr($7, 2), $8) }' "$1"
}

# same_numbers SAID TRUE: all that are said are true, to three digits or the last digit
same_numbers() {
	awk 'NR == FNR { true[$1] = $2; next }
		{ n++; d = $2 - true[$1]; d = d < 0 ? -d : d
		  if (!($1 in true) || d > 0.006 * true[$1] + 0.051 * ($1 ~ /mpi|ends|hot$|tracing|times/)) {
			print $1, "is said to be", $2, "and is", true[$1]; wrong++ } }
		END { print n, "numbers"; exit wrong || n < 6 }' "$2" "$1"
}

test_expect 'a log of 32 766 call paths has at most 400 lines of at most 120 columns' '
	run -- "$BIN/many" 200
	is 32770 "$(json run/profile.json ".stacks | length")"
	[ "$(wc -l <run/summary.log)" -le 400 ]
	[ "$(sed "/^Vftrace.*configuration/,\$d" run/summary.log | wc -L)" -le 120 ]
	[ "$(cat run/node-*.log | wc -l)" -le 400 ]'

test_expect 'a line says how many rows are left out, and the list has only the stacks shown' '
	n=$(rows run/summary.log "Runtime profile")
	sed "1,/^Runtime profile\$/d" run/summary.log |
		grep "^\.\.\. [0-9 ]* rows with together .* are in the JSON file" >line
	is $((32770 - n)) "$(head -n 1 line | tr -d " " | sed "s/^\.\.\.//; s/rows.*//")"
	[ "$(grep -c "^ *STID[0-9]" run/summary.log)" -le $((n + 160)) ]
	grep "^ *STID[0-9]* *relax < sweep < main < init" run/summary.log'

test_expect 'profile_table.max_rows and min_percent cut the tables of the other layout, too' '
	limit "$AGENT" -q -k profile_table.max_rows=7 -- "$BIN/plain" 50
	is 7 "$(rows plain_all.log "Runtime profile")"
	limit "$AGENT" -q -k profile_table.min_percent=50 -- "$BIN/plain" 200
	is 1 "$(rows plain_all.log "Runtime profile")"
	has plain_all.log "... 257 rows with together "'

test_expect 'no line of the digest has more than 100 columns, and there are at most 15' '
	digest_of run/summary.log >digest # of many
	cat digest
	[ "$(wc -l <digest)" -le 15 ]
	[ "$(wc -l <digest)" -ge 5 ]
	[ "$(wc -L <digest)" -le 100 ]
	json run/profile.json ".digest[]" | diff - digest'

test_expect 'the terminal has the same lines, and none with -q or in the layout of Vftrace' '
	head -n "$(wc -l <digest)" err | diff digest -
	run -q -- "$BIN/plain" 20
	[ ! -s err ]
	limit "$AGENT" -- "$BIN/plain" 20 2>err
	is 1 "$(wc -l <err)"
	hasnt plain_all.log "tracing:"
	is "false false" "$(json plain_all.json "\"\(has(\"digest\")) \(has(\"summary\"))\"")"'

test_expect 'every number of the digest of one process is that of the JSON file' '
	run -- "$BIN/plain" 200
	digest_of run/summary.log | sed "s/process,/ranks,/" >digest
	said digest >said
	numbers run/profile.json >true
	same_numbers said true'

test_expect 'where a file cannot be written it is named, and the digest is printed all the same' '
	mkdir -p taken/profile.json/here
	limit "$VFTR" run -o taken -- "$BIN/plain" 50 2>err
	has err "vftr-node-agent: cannot write $PWD/taken/profile.json: Is a directory"
	grep "^plain: 1 process, " err
	hasnt err "vftr-node-agent: profile: "'

test_expect 'a process that kills itself is named with its signal' '
	run -- "$BIN/plain" 50 KILL || :
	grep "^  process 0 was killed by signal 9 (Killed)" err
	grep "^Process 0 (pid [0-9]*, .* was killed by signal 9" run/summary.log'

test_expect 'processes that share one CPU are known as starved, and have had half of it each' '
	[ -r /proc/self/schedstat ] || { echo "no schedstat here: only CPU time is known"; exit 0; }
	run -- taskset -c "$(taskset -cp $$ | sed "s/.*: //; s/[-,].*//")" sh -c "$BIN/plain 400 & $BIN/plain 400; wait"
	grep "^  CPU: [1-9][0-9] % of the time; process [01] waited for one for [1-9][0-9] %: the node is oversubscribed$" err
	json run/profile.json ".summary.cpu.starved" | grep true
	# what they had together is at most what one CPU has
	jq -e "(.each_process | length) == 2 and ([.each_process[].cpu_s] | add) as \$cpu |
		\$cpu > 0 and \$cpu <= .runtime_s * 1.01 and
		([.each_process[] | .cpu_s + .queued_s <= .runtime_s * 1.05] | all) and
		(.summary.cpu.t_s - \$cpu | fabs) < 1e-6" run/profile.json
	grep "| CPU\[.*\] | Queued\[.*\] |" run/node-*.log'

test_expect 'layout vftrace tells CPU times of processes in JSON only' '
	limit "$AGENT" -q -- "$BIN/plain" 100
	jq -e ".each_process[0].cpu_s > 0" plain_all.json
	hasnt plain_node_*.log "CPU\["'

test_expect 'licence and memory stand at the end, dates have a zone, changed keys one line each' '
	run -k profile_table.max_rows=9 -- "$BIN/plain" 50
	tail -n 5 run/summary.log >foot
	has foot "Vftrace used memory:"
	has foot "ABSOLUTELY NO WARRANTY"
	is 1 "$(grep -c "WARRANTY" run/summary.log)"
	grep "^Start Date: .* UTC$" run/summary.log
	is "   profile_table.max_rows=9" "$(sed -n "/^Configuration/{n;p;}" run/summary.log)"
	n=$(rows run/summary.log "Functions")
	[ "$n" -ge 1 ]
	[ "$n" -le 20 ]
	is "relax" "$(awk -F"[| ]+" "/^Functions/ { on = 1 } on && /relax|main/ { print \$(NF - 1); exit }" run/summary.log)"'

test_expect 'the log of the only node has no runtime profile, as the summary has it' '
	is 0 "$(grep -c "^Runtime profile$\|^Global call stacks" run/node-*.log)"
	grep "^Processes" run/node-*.log'

if [ -z "$MPI" ]; then
	test_skip 'the digest of two ranks' 'no MPI'
	done_testing
fi
mpicc_traced "$MPI" "$BIN/paths" "$T/agent/app-paths.c" -DWITH_MPI -DFEW

test_expect 'the first screen names the hot function, the late rank and the cost' '
	run -- $(mpirun_of "$MPI") -np 2 "$BIN/paths" 400
	head -n 24 err | cut -c 1-80 >screen
	cat screen
	grep " relax < sweep" screen
	grep "imbalance: relax: rank 1 works 1\.[0-9] x the mean" screen
	grep "tracing: [0-9.]* % of the run" screen
	head -n 24 run/summary.log | tr -s "\n " " " | grep "Rank 1 has more work than the others, [^:]*: it spends [0-9.]* times the mean in relax"
	grep "imbalance: relax: rank 1" run/summary.log
	[ "$(wc -l <run/summary.log)" -le 400 ]
	n=$(rows run/summary.log "Functions (sum over 2 ranks)")
	[ "$n" -ge 3 ]
	[ "$n" -le 20 ]
	awk "/^Functions/ { on = 1 } on && / relax / { print; exit }" run/summary.log | grep -E "\| +1 \|"'

test_expect 'every number of the digest of two ranks is that of the JSON file' '
	digest_of run/summary.log >digest
	[ "$(wc -L <digest)" -le 100 ]
	said digest >said
	numbers run/profile.json >true
	same_numbers said true
	is 12 "$(wc -l <said)"
	for share in "mpi Time in MPI:" "ends MPI_Init/Finalize:"; do
		awk -v want="$(awk -v k="${share%% *}" "\$1 == k { print \$2 }" true)" \
			-v label="${share#* }" "index(\$0, label) == 1 { d = \$(NF - 1) - want; ok = d * d < 1e-3 }
			END { exit !ok }" run/summary.log
	done'

test_expect 'a rank that is killed is named with its signal' '
	run -- $(mpirun_of "$MPI") -np 2 "$BIN/paths" 100 KILL || :
	grep "^  rank 1 was killed by signal 9 (Killed)" err'

done_testing
