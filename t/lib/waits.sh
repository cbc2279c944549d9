# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# For the tests of late senders (t/mpi/program/app-mpi-late.c).

# same_waits JSON [LEAST]: what each rank waited for each other one is what the program says in
# truth.*, within 2 % and 5 ms; in all LEAST s (0.3) or more
same_waits() {
	jq -r '.thread_pairs[] | "\(.to) \(.from) \(.late_s)"' "$1" >got
	cat truth.* | awk -v least="${2:-0.3}" 'NR == FNR { got[$1 " " $2] += $3; all += $3; next }
		{ wanted = $3 * 1e-9; sum += wanted
		  is = got[$1 " " $2] + 0
		  off = is > wanted ? is - wanted : wanted - is
		  if (off > 0.02 * wanted + 0.005) {
			print "rank " $1 " waited for " $2 ": " wanted " s, not " is; bad = 1
		  } }
		END { print all " s of " sum " s"; exit bad || sum < least }' got -
}

# waited_most RANK: by truth.*, no other rank was waited for longer, within 2 % and 5 ms; on a busy machine it may be
# one that the program did not mean
waited_most() {
	cat truth.* | awk -v rank="$1" '{ s[$2] += $3 * 1e-9 }
		END { for (r in s) if (s[r] > most) most = s[r]
			print "rank " rank ": " s[rank] " s, the most: " most " s"
			exit !(s[rank] > 0 && s[rank] >= 0.98 * most - 0.005) }'
}

# same_by_path JSON: the same for each late rank by call path, in calls that can receive; what is
# found for each is the sum over call paths
same_by_path() {
	jq -r '.thread_pairs[] | select(.late_s > 0) | "\(.from) \(.late_s)"' "$1" | sum_by_rank >by_pair
	jq -r '.waits[] | select(.kind == "late_sender" or .kind == "wrong_order") | .for[] | "\(.rank) \(.t_s)"' "$1" |
		sum_by_rank >by_path
	diff by_pair by_path
	jq -r '.waits[] | select(.kind == "late_sender" or .kind == "wrong_order") | .path | sub("<.*"; "")' "$1" | sort -u >in
	! grep -vE "^MPI_(Recv|Mprobe|Mrecv|Sendrecv|Wait|Waitall|Waitany|Waitsome|Test|Testall) *$" in
}

# of lines RANK SECONDS, to a microsecond
sum_by_rank() {
	awk '{ s[$1] += $2 } END { for (r in s) printf "%s %.6f\n", r, s[r] }' | sort
}

# waited JSON: of a profile, "SCENE COMMUNICATOR WORLD_RANK LATE_RANK SECONDS KIND", and the sums
waited() {
	jq -r '.waits[] | (.path | gsub("[a-z_]*::"; "") | gsub(" "; "") | split("<")) as $p | select($p[2] == "play") |
		($p | map(select(. == ("on_world", "on_some", "between")))[0]) as $where |
		($p | map(select(startswith("rank_")))[0] | ltrimstr("rank_")) as $rank | .kind as $kind |
		.for[] | "\($p[1]) \($where) \($rank) \(.rank) \(.t_s) \($kind)"' "$1"
}

# same_late LATE WAITED [LEAST [SHARE]]: for the same ranks, within SHARE (2 %) and LEAST s (0.03); each kind
# where it belongs
same_late() {
	awk -v least="${3:-0.03}" -v share="${4:-0.02}" 'NR == FNR { wanted[$1, $2, $3, $4] = $5; next }
		{ is[$1, $2, $3, $4] = $5
		  kind = $1 ~ /^(bcast|scatter)/ ? "late_root" : $1 ~ /^(reduce_scatter|all)/ ? "nxn" :
			$1 ~ /^(reduce|gatherv)/ ? "early_root" : $1 ~ /^scan/ ? "scan" : "barrier nxn"
		  if (index(kind, $6) == 0) { print "of another kind:", $0; bad = 1 } }
		END {
			for (k in wanted) { d = wanted[k] - is[k]; if (d < 0) d = -d
				if (d > share * wanted[k] + least) { print "wanted " wanted[k] ", got " is[k] ": " k; bad = 1 } }
			for (k in is) if (!(k in wanted) && is[k] > least) { print "of nobody: " k; bad = 1 }
			exit bad }' "$1" "$2"
}

# probes JSON: the waits in probes, by path
probes() {
	jq '[.waits[] | select(.path | test("^MPI_M?[Pp]robe")) |
		{kind, path: (.path | gsub(" "; "")), calls, t_s}] | sort_by(.kind, .path)' "$1"
}

# same_probes EXACT ONLINE: they are the same in both; their paths are added to "probes"
same_probes() {
	probes "$1" >exact.probes && probes "$2" >online.probes || return
	jq -r '.[].path' exact.probes >>probes
	jq -e -n --slurpfile exact exact.probes --slurpfile online online.probes '
		($exact[0] | map(del(.t_s))) == ($online[0] | map(del(.t_s))) and
		([$exact[0], $online[0]] | transpose | all((.[0].t_s - .[1].t_s | fabs) < 1e-6 * .[0].calls))' ||
		{ cat exact.probes online.probes; return 1; }
}

# like_probes EXACT ONLINE: between nodes, with what the clocks may be wrong: by path, within 2 % and 1 ms
like_probes() {
	probes "$1" >exact.probes && probes "$2" >online.probes || return
	jq -r '.[].path' exact.probes >>probes
	jq -e -n --slurpfile exact exact.probes --slurpfile online online.probes '
		def sums: group_by(.path) | map({key: .[0].path, value: (map(.t_s) | add)}) | from_entries;
		($exact[0] | sums) as $a | ($online[0] | sums) as $b | [$a, $b | keys[]] | unique |
		all(.[]; (($a[.] // 0) - ($b[.] // 0) | fabs) < 0.02 * ($a[.] // 0) + 0.001)' ||
		{ cat exact.probes online.probes; return 1; }
}
