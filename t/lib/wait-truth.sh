# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# For tests of programs that know their waits (t/mpi/waits/wait-truth.h).

# waits_of JSON: "PROPERTY KIND LATE_RANK SECONDS WAITS" of the calls right below a property
waits_of() {
	jq -r '.waits[] | (.path | gsub(" "; "") | split("<")) as $p | select($p[2] == "play" and $p[1] != "tell") |
		.kind as $kind | .for[] | "\($p[1]) \($kind) \(.rank) \(.t_s) \(.calls)"' "$1" | sum_of_calls
}

# sum_of_calls: a property may have several calls of MPI
sum_of_calls() {
	awk '{ s[$1 " " $2 " " $3] += $4; n[$1 " " $2 " " $3] += $5 }
		END { for (key in s) printf "%s %.9f %d\n", key, s[key], n[key] }'
}

# true_waits TRUTH FOUND: for each rank within 1 % or 20 us a wait; no other kinds
true_waits() {
	awk 'NR == FNR { s[$1, $2, $3] = $4; n[$1, $2, $3] = $5; kind[$1, $2]; next }
		!(($1, $2) in kind) { print "is no such wait: " $0; bad = 1; next }
		{ key = $1 SUBSEP $2 SUBSEP $3; seen[key]
		  judge(key, s[key], $4, n[key] > $5 ? n[key] : $5) }
		function judge(key, wanted, got, calls,   off) {
			off = got > wanted ? got - wanted : wanted - got
			if (off > 0.01 * wanted && off > 20e-6 * calls) {
				gsub(SUBSEP, " ", key)
				print key ": waited " wanted " s, found " got; bad = 1 } }
		END { for (key in s) if (!(key in seen)) judge(key, s[key], 0, n[key])
			exit bad }' "$1" "$2"
}

# waited_for FILE PROPERTY KIND RANK...: each of these is waited for longer than any other rank
waited_for() {
	named_in=$1 property=$2 kind=$3
	shift 3
	awk -v property="$property" -v kind="$kind" -v ranks=" $* " -v wanted=$# '
		$1 == property && $2 == kind {
			if (!index(ranks, " " $3 " ")) { if ($4 > most) most = $4 }
			else if (!n++ || $4 < least) least = $4 }
		END { if (n == wanted && least > most) exit 0
			print property ": " n + 0 " of the ranks" ranks ", " least + 0 " s or more; another one " most + 0 " s"
			exit 1 }' "$named_in"
}

# exactly_waits_of JSON: the same of what vftr waits --exact prints
exactly_waits_of() {
	jq -r '.waits[] | (.path | gsub(" "; "") | split("<")) as $p | select($p[2] == "play" and $p[1] != "tell") |
		.kind as $kind | .t_s as $t | .calls as $calls |
		.for[] | "\($p[1]) \($kind) \(.rank) \(.share * $t) \($calls)"' "$1" | sum_of_calls
}

# knows MPI PROGRAM CHECK: what is in the profile is what the program says; it is in found, and the run with
# its sampling files in the folder PROGRAM. CHECK FILE says whether the program did what it is made for.
# Another run if the machine was so busy that it did not, or between stamp and call.
knows() {
	for try in 1 2 3 4 5 6; do
		rm -rf "$2" steps
		# shellcheck disable=SC2046
		limit "$VFTR" run -q --trace -o "$2" -- $(mpirun_of "$1") -np 4 "$BIN/$2" steps >truth || return
		$3 truth || continue
		! grep nobody_waits truth || continue
		waits_of "$2/profile.json" >found
		true_waits truth found && return
	done
	return 1
}

# knows_exactly PROGRAM: the same, of the sampling files of that run
knows_exactly() {
	"$VFTR" waits --exact --json "$1" >exact.json &&
		exactly_waits_of exact.json >exact && true_waits truth exact
}
