#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='vftr-security(7): each file and each test that it names is there'
. "$(dirname "$0")/../lib/lib.sh"
need awk
scratch=$PWD
page=$TOP/man/vftr-security.7

# not_there PAGE: what it names of files and tests that are none
not_there() {
	grep -oE '\bt[0-9]{4}\b' "$1" | sort -u | while read -r n; do
		ls "$T"/*/"$n"-*.sh >/dev/null 2>&1 || echo "$n"
	done
	grep -oE '\bu-[a-z-]*[a-z]\b' "$1" | sort -u | while read -r u; do
		ls "$T"/unit/*/"$u.c" >/dev/null 2>&1 || echo "$u"
	done
	sed -n 's/.*\.P[aq].* \{0,1\}\(\(nodeagent\|libhook\|shm\|conf\|mpi\)\/[a-z/.-]*[a-z]\).*/\1/p' "$1" |
		sort -u | while read -r f; do
		[ -e "$TOP/$f" ] || echo "$f"
	done
}

# without_test PAGE: boundaries that lack one of the four rows, and promises without a test
without_test() {
	awk '
		function judge() {
			if (name == "")
				return
			if (rows != "Other side,Checked,Promised,Not promised,")
				print name ": has " rows
			if (untested != "")
				print name ": no test of: " untested
		}
		/^\.Ss / { judge(); name = substr($0, 5); rows = ""; untested = ""; row = "" }
		/^\.Sh / { judge(); name = "" }
		name != "" && /^\.It / { row = substr($0, 5); rows = rows row ","; tests = 0; next }
		name != "" && row == "Promised" && /\([tu][-0-9]/ { tests++ }
		name != "" && row == "Promised" && /^\.El/ { row = "" }
		name != "" && row == "Not promised" && !done[name]++ { if (!last[name]) untested = "all" }
		name != "" && row == "Promised" && tests { last[name] = 1 }' "$1"
}

test_expect 'each test and each file is there' '
	not_there "$page" >"$scratch/missing"
	cat "$scratch/missing"
	[ ! -s "$scratch/missing" ]'

test_expect 'each boundary says who, where, what and what not, and has a test of what it promises' '
	is 15 "$(grep -c "^\.Ss" "$page")" boundaries
	without_test "$page" >"$scratch/untested"
	cat "$scratch/untested"
	[ ! -s "$scratch/untested" ]'

test_expect 'a test, a unit and a file that are gone, and a promise without a test are found' '
	sed "s/t4505/t4999/; s/u-vfp/u-gone/; s/seal\.c/gone.c/" "$page" >"$scratch/other.7"
	not_there "$scratch/other.7" >found
	is "t4999 u-gone nodeagent/net/tcp/gone.c" "$(echo $(cat found))"
	awk "/^\.Ss The report/ { on = 1 } on && /\(t8410/ { sub(/ \(t8410.*/, \".\"); on = 0 } { print }" "$page" >"$scratch/less.7"
	without_test "$scratch/less.7" | grep -q "^The report: no test"'

done_testing
