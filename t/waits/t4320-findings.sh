#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What a program was made to do wrong is what the first sentence says, with rank and function; and
# of a program that does nothing wrong there is none. All rules: t/unit/report/u-findings.c.
test_description='findings: the first one names what is wrong, and there is none where nothing is'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$VFTR"

mpis=$(mpi_list_short)
[ -n "$mpis" ] || skip_all 'no MPI'
WAITING='"load_balance node_balance late_rank waits late_sender small_messages communication"'

# place JSON: where the first finding about the program is, from 0. How long MPI takes to start is
# about the machine; that it is too busy is a finding, and then iterations that were long for it are about it, too.
place() {
	jq "[.findings[].rule] as \$rules | [\$rules | to_entries[] | select(.value != \"start_end\" and
		(.value != \"slow_iterations\" or (\$rules | index(\"oversubscribed\") | not))) | .key][0] // 0" "$1"
}

# first JSON KEY: of that finding
first() {
	jq -r ".findings[$(place "$1")].$2" "$1"
}

# near A B: they differ by no more than a tenth
near() {
	awk -v a="$1" -v b="$2" 'BEGIN { print a, b; exit !(a > 0 && b > 0.9 * a && b < 1.1 * a) }'
}

for mpi in $mpis; do
	run="$(mpirun_of $mpi)"
	mpicc_traced $mpi "$BIN/findings" "$T/mpi/program/app-findings.c" ||
		{ echo "Bail out! app-findings.c does not build"; exit 1; }

	test_expect "$mpi: one rank that is slow in one function on every second step is the first finding" '
		limit "$VFTR" run -o slow-$mpi -- $run -np 4 "$BIN/findings" slow >told 2>screen
		cat screen
		json=slow-$mpi/profile.json
		jq -c .findings $json
		is load_balance "$(first $json rule)"
		is 2 "$(first $json evidence.rank)"
		first $json text | grep -E "^Rank 2 has more work than the others, which costs [0-9.]+ m?s \([0-9.]+ %\): it spends [0-9.]+ times the mean in work < chem < step; others wait [0-9.]+ m?s for rank 2 in MPI_Allreduce < residual < step\.\$"
		# each number stands in the row that proves it
		for told in "which costs [0-9.]* m*s" "others wait [0-9.]* m*s"; do
			first $json text | grep -o "$told" | sed "s/ ms\$/e-3/; s/ s\$//; s/.* //"
		done | paste -s -d" " >numbers
		read -r costs waits <numbers
		near "$costs" "$(first $json "evidence | .ranks * (.useful_max_s - .useful_s)")"
		near "$waits" "$(jq "[.delays[] | select(.rank == 2 and (.thread | not)).t_s] | add" $json)"
		# 8 steps of 130 ms more, which three ranks wait for
		near "$(awk "\$1 == \"outside\" { n++; sum += \$3; if (\$3 > most) most = \$3 }
			END { print n * most - sum }" told)" "$(first $json seconds)"'

	test_expect "$mpi: it stands above all else in the summary, and on the screen, with its proof" '
		n=$(($(place slow-$mpi/profile.json) + 1))
		awk -v n=$n "/^ [0-9]\. / { on = \$1 == n \".\" } on || /^[FfE]/" slow-$mpi/summary.log |
			grep -o "^Findings\|^ $n\. Rank 2 has more work\|^    proof: rank=2\|^Efficiency in\|^findings: 4 ranks\|^Functions" >order
		printf "%s\n" Findings " $n. Rank 2 has more work" "    proof: rank=2" "Efficiency in" "findings: 4 ranks" \
			Functions >wanted
		diff wanted order
		# the screen has the first of all, as many of its clauses as go on two lines
		whole="1. $(jq -r ".findings[0].text" slow-$mpi/profile.json)"
		shown=$(awk "/^  1\. / { on = 1 } on && /^  (1\.|   [^ ])/ { \$1 = \$1; print; next } { on = 0 }" screen |
			paste -s -d" ")
		case $shown in
		*" ...") expr "$whole" : "$(echo "${shown% ...}" | sed "s/[][.*^\$]/\\\\&/g")[,;:] " ;;
		*) is "$whole" "$shown" ;;
		esac
		[ "$(wc -l <screen)" -le 15 ]
		# evidence is what other tables have
		json=slow-$mpi/profile.json
		is "$(jq .efficiency.useful_max_s $json | cut -c 1-8)" "$(first $json evidence.useful_max_s | cut -c 1-8)"
		is "$(jq -r ".stacks[] | select(.id == $(first $json evidence.id)) | .path" $json)" \
			"$(first $json evidence.path)"'

	test_expect "$mpi: waits say what the late rank did meanwhile, as part of what was waited for it" '
		jq -e ".waits[] | select(.path | startswith(\"MPI_Allreduce < residual\")) |
			([.causes[] | select(.rank == 2)] | max_by(.share)) as \$c |
			(.for[] | select(.rank == 2)) as \$for |
			(\$c.path | startswith(\"work < chem < step\")) and \$c.estimated and
			\$c.share > 0.8 * \$for.share and \$c.share <= \$for.share * 1.000001" slow-$mpi/profile.json
		jq -e ".delays[] | select(.rank == 2) | .activity | (.path | startswith(\"work < chem\")) and .share > 0.8" \
			slow-$mpi/profile.json
		limit "$VFTR" waits slow-$mpi | grep -E "^\| rank 2 .* work < chem +[0-9]+ %"'

	test_expect "$mpi: a program whose ranks are even has no finding about waiting" '
		# where the machine made them uneven, by their own clock, none says more than that
		for try in 1 2 3; do
			limit "$VFTR" run -q -o even-$mpi -- $run -np 4 "$BIN/findings" balanced >told
			jq -c .findings even-$mpi/profile.json
			waiting=$(jq -r ".findings[] | select(.rule | IN(($WAITING) | split(\" \")[])) |
				\"\(.rule) \(.seconds)\"" even-$mpi/profile.json)
			uneven=$(awk "\$1 == \"outside\" { n++; sum += \$3; mpi += \$4; if (\$3 > most) most = \$3 }
				END { print n == 4 ? n * most - sum + mpi : \"none\" }" told)
			[ -n "$waiting" ] || break
		done
		echo "$waiting" | awk -v uneven="$uneven" "NF && !(uneven > 0 && \$2 < 1.1 * uneven) {
			print \$0 \", of \" uneven \" s\"; bad = 1 } END { exit bad }"
		jq ".findings | length" even-$mpi/profile.json >n
		[ "$(cat n)" != 0 ] || grep "^Nothing to mend found: " even-$mpi/summary.log'

	test_expect "$mpi: a rank that sends late is the first finding, though all do the same work" '
		limit "$VFTR" run -q -o late-$mpi -- $run -np 4 "$BIN/findings" late >told
		json=late-$mpi/profile.json
		jq -c .findings $json
		is "late_rank 1" "$(first $json rule) $(first $json evidence.rank)"
		first $json text | grep "^Rank 1 makes the others wait .* in MPI_Recv < wave < main"
		# 16 waves in which three ranks wait 50 ms
		near "$(awk "\$1 == \"late\" && \$2 == 1 { sent[\$4, \$3] = \$5 }
			\$1 == \"late\" && \$2 != 1 { received[\$2, \$3] = \$5 }
			END { for (k in received) if (sent[k] > received[k]) sum += sent[k] - received[k]; print sum }" told)" \
			"$(jq "[.waits[] | select(.path | startswith(\"MPI_Recv < wave\")) | .for[] |
				select(.rank == 1).t_s] | add" $json)"'

	test_expect "$mpi: in the layout of Vftrace they are in the JSON only" '
		mkdir classic-$mpi
		traced -q -o classic-$mpi -- $run -np 4 "$BIN/findings" slow
		is load_balance "$(first classic-$mpi/findings_all.json rule)"
		! grep -i "^findings\|proof:" classic-$mpi/findings_all.log'
done

# ---- the command -----------------------------------------------------------------------------

set -- $mpis
slow=slow-$1 even=even-$1
test_expect 'vftr findings: text, JSON and CSV have what the summary has' '
	"$VFTR" findings $slow >text
	sed -n "/^Findings/,/^$/p" $slow/summary.log | sed "/^$/d" >wanted
	sed 1d text | diff wanted -
	"$VFTR" findings --json $slow >found.json
	is vftr-findings "$(jq -r .format found.json)"
	is "$(jq -c .findings $slow/profile.json)" "$(jq -c .findings found.json)"
	"$VFTR" findings $slow/*.vfp --json | jq -c .findings >of-file
	is "$(jq -c .findings found.json)" "$(cat of-file)"
	"$VFTR" findings --csv $slow >table.csv
	is "rule,seconds,percent,text,evidence,try,manual" "$(head -n 1 table.csv)"
	is $(($(jq ".findings | length" found.json) + 1)) "$(wc -l <table.csv)"
	grep "^load_balance,[0-9.]*,[0-9.]*,\"Rank 2 has more work than the others, .*\"rank=2 " table.csv'

test_expect 'vftr findings: wrong usage, and what is no run' '
	mkdir -p empty
	status_of 2 "$VFTR" findings empty 2>err
	has err "empty: no node profiles"
	status_of 2 "$VFTR" findings 2>err
	has err "name the folder of a run"
	status_of 2 "$VFTR" findings --csv --json $slow 2>err
	has err "not both"
	"$VFTR" findings --help | grep "usage: vftr findings"'

test_expect 'each rule names a section of vftr-analysis(7), and stands in its table' '
	rules=$TOP/nodeagent/report/findings/rules.c
	grep -c "look_" $rules >n
	[ "$(cat n)" -ge 20 ]
	sed -n "s/^.*\"\([^\"]*\)\"},\$/\1/p" $rules >sections
	is "$(cat n)" "$(wc -l <sections)"
	while read -r section; do
		grep -qx "\.Ss $section" "$TOP/man/vftr-analysis.7" || { echo "no section $section"; exit 1; }
	done <sections
	for rule in $(sed -n "s/^	{\"\([a-z_]*\)\".*/\1/p" $rules); do
		grep -q "^\.It.* $rule\( \|\$\)" "$TOP/man/vftr-analysis.7" || { echo "no row $rule"; exit 1; }
	done'

test_expect 'vftr.py has them as a table' '
	PYTHONPATH=$TOP/packaging/python python3 -c "
import vftr
run = vftr.open(\"$slow\")
first = list(run.findings)[$(place $slow/profile.json)]
print(first[\"rule\"], first[\"evidence\"][\"rank\"], len(vftr.open(\"$slow\").findings))" >out
	is "load_balance 2 $(jq ".findings | length" $slow/profile.json)" "$(cat out)"'

test_expect 'a program of which nothing was traced' '
	echo "int main(void) { return 0; }" >plain.c
	cc -o "$BIN/plain" plain.c
	limit "$VFTR" run -q -o plain -- "$BIN/plain" 2>err || :
	cat err
	# another finding is before it if the machine is busy
	json plain/profile.json ".findings[].rule" | grep -qx nothing_traced'

test_expect 'a rank that was killed is told among them' '
	limit "$VFTR" run -q -o killed -- $(mpirun_of $mpi) -np 3 "$BIN/findings" killed >out 2>err || :
	jq -c .findings killed/profile.json
	jq -e "any(.findings[]; .rule == \"bad_end\")" killed/profile.json
	# what the others waited for then says nothing of the program
	jq -e "all(.findings[]; .rule != \"communication\" and .rule != \"load_balance\")" killed/profile.json'
done_testing
