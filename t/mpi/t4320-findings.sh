#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What a program was made to do wrong is what the first sentence says, with rank and function; and
# of a program that does nothing wrong there is none. All rules: t/unit/report/u-findings.c.
test_description='findings: the first one names what is wrong, and there is none where nothing is'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$VFTR"

mpis=$(mpi_list)
[ -n "$mpis" ] || skip_all 'no MPI'
WAITING='load_balance node_balance late_rank waits late_sender small_messages communication'

# first JSON KEY: of the first finding
first() {
	jq -r ".findings[0].$2" "$1"
}

for mpi in $mpis; do
	run="$(mpirun_of $mpi)"
	mpicc_traced $mpi "$BIN/findings" "$T/mpi/program/app-findings.c" ||
		{ echo "Bail out! app-findings.c does not build"; exit 1; }

	test_expect "$mpi: one rank that is slow in one function on every fourth step is the first finding" '
		limit "$VFTR" run -o slow-$mpi -- $run -np 4 "$BIN/findings" slow 2>screen
		cat screen
		json=slow-$mpi/profile.json
		jq -c .findings $json
		is load_balance "$(first $json rule)"
		is 2 "$(first $json evidence.rank)"
		first $json text | grep -E "^Rank 2 makes the others wait [0-9.]+ m?s \([0-9.]+ %\) in MPI_Allreduce < residual < step: it is in work < chem < step [0-9.]+ x longer than the mean\.\$"
		# 4 steps of 130 ms more, which three ranks wait for
		jq -e ".findings[0].seconds > 1.3 and .findings[0].seconds < 2.2" $json'

	test_expect "$mpi: it stands above all else in the summary, and on the screen, with its proof" '
		grep -o "^Findings\|^ 1\. Rank 2 makes\|^    proof: rank=2\|^Efficiency in\|^findings: 4 ranks\|^Functions" \
			slow-$mpi/summary.log >order
		printf "%s\n" Findings " 1. Rank 2 makes" "    proof: rank=2" "Efficiency in" "findings: 4 ranks" \
			Functions >wanted
		diff wanted order
		grep -A 1 "^  1\. Rank 2 makes the others wait" screen | tr -d "\n" | grep chem
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
		for try in 1 2 3; do
			limit "$VFTR" run -q -o even-$mpi -- $run -np 4 "$BIN/findings" balanced
			jq -c .findings even-$mpi/profile.json
			jq -r ".findings[].rule" even-$mpi/profile.json >rules
			waiting=
			# ranks that have no CPU are not even: now one is late, now another
			! grep -qx oversubscribed rules || sed -i /^waits\$/d rules
			for rule in $WAITING; do
				! grep -x $rule rules || waiting="$waiting $rule"
			done
			[ -n "$waiting" ] || break
		done
		is "" "$waiting"
		jq ".findings | length" even-$mpi/profile.json >n
		[ "$(cat n)" != 0 ] || grep "^Nothing to mend found: " even-$mpi/summary.log'

	test_expect "$mpi: a rank that sends late is the first finding, though all do the same work" '
		limit "$VFTR" run -q -o late-$mpi -- $run -np 4 "$BIN/findings" late
		json=late-$mpi/profile.json
		jq -c .findings $json
		is "late_rank 1" "$(first $json rule) $(first $json evidence.rank)"
		first $json text | grep "^Rank 1 makes the others wait .* in MPI_Recv < wave < main"
		# 16 waves in which three ranks wait 50 ms
		jq -e ".findings[0].seconds > 1.9 and .findings[0].seconds < 3" $json'

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
	grep "^load_balance,[0-9.]*,[0-9.]*,\"Rank 2 makes the others wait .*\"rank=2 " table.csv'

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
first = next(iter(run.findings))
print(first[\"rule\"], first[\"evidence\"][\"rank\"], len(vftr.open(\"$slow\").findings))" >out
	is "load_balance 2 $(jq ".findings | length" $slow/profile.json)" "$(cat out)"'

test_expect 'a program of which nothing was traced' '
	echo "int main(void) { return 0; }" >plain.c
	cc -o "$BIN/plain" plain.c
	limit "$VFTR" run -q -o plain -- "$BIN/plain" 2>err || :
	cat err
	[ ! -e plain/profile.json ] || is nothing_traced "$(first plain/profile.json rule)"'

test_expect 'a rank that was killed is told among them' '
	limit "$VFTR" run -q -o killed -- $(mpirun_of $mpi) -np 3 "$BIN/findings" killed >out 2>err || :
	jq -c .findings killed/profile.json
	jq -e "any(.findings[]; .rule == \"bad_end\")" killed/profile.json
	# what the others waited for then says nothing of the program
	jq -e "all(.findings[]; .rule != \"communication\" and .rule != \"load_balance\")" killed/profile.json'
done_testing
