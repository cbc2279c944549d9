# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# For programs that know their waits (t/mpi/known): compares what they say with what is found.

# known_run WHAT MPI RANKS [FLAG...]: app-known-WHAT with sampling files in WHAT-MPI; what it says is in
# truth.WHAT.MPI, what is found in found.WHAT.MPI and, by --exact, in exact.WHAT.MPI
known_run() {
	known_of=$1.$2 known_to=$1-$2 known_mpi=$2 known_ranks=$3
	shift 3
	mpicc_traced "$known_mpi" "$BIN/known-$known_to" "$T/mpi/known/app-known-${known_of%%.*}.c" \
		"$T/mpi/known/known.c" "$T/mpi/known/known-below.c" "$@" || return
	# shellcheck disable=SC2046
	limit "$VFTR" run -q --trace -o "$known_to" -- $(mpirun_of "$known_mpi") -np "$known_ranks" \
		"$BIN/known-$known_to" "$known_to.shared" >"truth.$known_of" || return
	"$VFTR" waits --json "$known_to" >"$known_to.json" &&
		"$VFTR" waits --exact --json "$known_to" >"$known_to.exact.json" || return
	known_found "$known_to.json" >"found.$known_of"
	known_found "$known_to.exact.json" >"exact.$known_of"
}

# known_rows WHAT MPI [KIND [PROPERTIES [MORE]]]: a test for each property of known_run; waits of KIND, and
# of the properties MORE, are found by --exact only, and those of PROPERTIES not by --exact; ALL: of none.
# What --exact names as causes is since the ranks' last moment in common: on a busy machine others, too
known_rows() {
	known_without=${3:-none}
	# shellcheck disable=SC2013
	for known_property in $(awk -v kind="$known_without" \
		'$1 == "meant" && $3 != kind { print $2 ($3 == "nothing" ? "=nothing" : "") }' \
		"truth.$1.$2" | uniq); do
		case $known_property in
		*=nothing) known_says='nobody waits' ;;
		*) known_says='kind, call, late ranks, seconds and functions are what the program says' ;;
		esac
		known_property=${known_property%=*}
		case " $4 " in
		*" $known_property "* | " ALL ") known_also=: ;;
		*) known_also=known_amounts ;;
		esac
		case " $5 " in
		*" $known_property "*) known_first=exact known_share=: known_cause=known_named ;;
		*) known_first=found known_share=known_functions known_cause=known_meant ;;
		esac
		test_expect "$2: $known_property: $known_says" "
			known_amounts $known_property truth.$1.$2 $known_first.$1.$2 $known_without
			$known_also $known_property truth.$1.$2 exact.$1.$2
			$known_share $known_property truth.$1.$2 $known_first.$1.$2
			$known_cause $known_property truth.$1.$2 $known_first.$1.$2"
	done
	test_expect "$2: no wait is found anywhere else" "
		known_amounts elsewhere truth.$1.$2 found.$1.$2
		known_amounts elsewhere truth.$1.$2 exact.$1.$2"
}

# known_found JSON: of each wait, "wait PROPERTY MPI_FUNCTION CALLER KIND LATE_RANK SECONDS", and of the
# late rank "cause PROPERTY MPI_FUNCTION CALLER KIND LATE_RANK FUNCTION SHARE_OF_THE_WAIT"; PROPERTY is
# "elsewhere" for calls of MPI that are in none, but those of main that make communicators, at which ranks wait
# indeed. What is of OpenMP counts for the function around it; waits of
# threads for a lock are not those of ranks.
known_found() {
	jq -r '.waits[]? | select(.kind != "lock") |
		(.path | gsub(" "; "") | split("<") | map(select(startswith("omp_") | not))) as $p |
		($p | index("play")) as $at |
		select($at or $p[1] != "main" or ($p[0] | test("^MPI_(Comm|Cart|Graph|Dist_graph|Intercomm)_") | not)) |
		"\(if $at then $p[$at - 1] else "elsewhere" end) \($p[0]) \($p[1]) \(.kind)" as $where |
		.t_s as $t_s | .causes as $causes | .for[] | .rank as $rank | (.t_s // .share * $t_s) as $for |
		"wait \($where) \($rank) \($for)",
		($causes[] | select(.rank == $rank and $for > 0) | "cause \($where) \($rank) " +
			"\(.path | gsub(" "; "") | split("<") | map(select(startswith("omp_") | not))[0]) " +
			"\(.share * $t_s / $for)")' "$1"
}

# known_amounts PROPERTY TRUTH FOUND [KIND [ERROR]]: in calls of the property each rank was waited for as long
# as the program says, within 1 % or 20 us a wait, and ERROR s more a wait; nothing else has waited. Waits
# of KIND are not looked for.
known_amounts() {
	awk -v property="$1" -v without="${4:-none}" -v error="${5:-0}" '$2 != property || $5 == without { next }
		$1 == "wait" && NR == FNR {
			k = $3 " " $4 " " $5 " " $6; least[k] = $7; most[k] = $8; calls[k] = $9 }
		$1 == "wait" && NR != FNR { is[$3 " " $4 " " $5 " " $6] += $7 }
		END {
			for (k in least) {
				off = 0.01 * most[k] > 20e-6 * calls[k] ? 0.01 * most[k] : 20e-6 * calls[k]
				off += error * calls[k]
				print k ": " least[k] " to " most[k] " s; found " is[k] + 0
				if (is[k] < least[k] - off || is[k] > most[k] + off) { print "is wrong"; bad = 1 } }
			for (k in is)
				if (!(k in least)) { print k ": " is[k] " s found where is none"; bad = 1 }
			exit bad }' "$2" "$3"
}

# known_functions PROPERTY TRUTH FOUND: late ranks that were in one function for most of a wait of 1 ms or
# more are found to have been there most, and for no shorter a part of the wait (0.03)
known_functions() {
	awk -v property="$1" '$2 != property { next }
		{ k = $3 " " $4 " " $5 " " $6 }
		$1 == "wait" && NR == FNR && $7 > 1e-3 * $9 && $11 > 0.5 { function_of[k] = $10; share[k] = $11 }
		$1 == "cause" && NR != FNR {
			sum[k, $7] += $8
			if (sum[k, $7] > found_share[k]) { found[k] = $7; found_share[k] = sum[k, $7] } }
		END {
			for (k in function_of) {
				print k ": in " function_of[k], share[k] "; found in " found[k], found_share[k]
				if (found[k] != function_of[k] || found_share[k] < share[k] - 0.03) { print "is wrong"; bad = 1 } }
			exit bad }' "$2" "$3"
}

# known_meant PROPERTY TRUTH FOUND: what the property is made for is there: its kind at its place, each of its
# late ranks waited for longer than any other, in its function. A machine that is busy may keep a rank elsewhere:
# where the program says it was, or, if that is less than half of the wait, where it has no stamp
known_meant() {
	awk -v property="$1" '$2 != property { next }
		$1 == "meant" {
			meant = 1; nothing = $3 == "nothing"; anything = $3 == "anything"
			n = split($6, late, ","); functions = split($7, name, ",")
			for (i = 1; i <= n; i++)
				function_of[$4 " " $5 " " $3 " " late[i]] = name[i < functions ? i : functions]
		}
		{ at = $3 " " $4 " " $5; k = at " " $6 }
		$1 == "wait" && NR == FNR { says[k] = $11 > 0.5 ? $10 : "no function" }
		$1 == "wait" && NR != FNR {
			s[k] += $7
			if (nothing) { print "waited:", $0; bad = 1 }
			if (!(k in function_of) && $7 > other[at]) other[at] = $7 }
		$1 == "cause" && NR != FNR {
			sum[k, $7] += $8
			if (sum[k, $7] > share[k]) { share[k] = sum[k, $7]; cause[k] = $7 } }
		END {
			if (nothing || anything || !meant) exit bad || !meant
			for (k in function_of) {
				at = k; sub(" [^ ]*$", "", at)
				print k ": " s[k] + 0 " s, in " cause[k] " (" says[k] "); others " other[at] + 0
				if (s[k] <= other[at] ||
					cause[k] != function_of[k] && cause[k] != says[k] && says[k] != "no function") {
					print "is not what is meant"; bad = 1 } }
			exit bad }' "$2" "$3"
}

# known_named PROPERTY TRUTH FOUND: the same, but that the function is one of those that are named as causes
known_named() {
	awk -v property="$1" '$2 != property { next }
		$1 == "meant" {
			meant = 1
			n = split($6, late, ","); functions = split($7, name, ",")
			for (i = 1; i <= n; i++)
				function_of[$4 " " $5 " " $3 " " late[i]] = name[i < functions ? i : functions]
		}
		{ at = $3 " " $4 " " $5; k = at " " $6 }
		$1 == "wait" && NR != FNR { s[k] += $7; if (!(k in function_of) && $7 > other[at]) other[at] = $7 }
		$1 == "cause" && NR != FNR && (k in function_of) && $7 == function_of[k] { share[k] += $8 }
		END {
			for (k in function_of) {
				at = k; sub(" [^ ]*$", "", at)
				print k ": " s[k] + 0 " s, in " function_of[k] " " share[k] + 0 "; others " other[at] + 0
				if (s[k] <= other[at] || share[k] <= 0) { print "is not what is meant"; bad = 1 } }
			exit bad || !meant }' "$2" "$3"
}

# ---- the same on nodes with clocks of their own, each rank beside one that is not its neighbour --------

# known_nodes_up: node1 and node2, whose clocks are an hour apart and drift
known_nodes_up() {
	need mpirun.openmpi
	nodes_up 2
	. "$T/lib/clocks.sh"
	echo 0,0,0 >clock.node1
	echo 3600,50,5 >clock.node2
}

# known_nodes WHAT [OPTION...]: the program of known_run WHAT openmpi there, OPTION... for mpirun; its profile
# is in nodes/, what it says in truth.nodes, what is found in found.nodes
known_nodes() {
	known_json=nodes/known-$1-openmpi_all.json
	known_program=$BIN/known-$1-openmpi
	shift
	mkdir nodes
	agents_up nodes
	# shellcheck disable=SC2046
	limit $(nodes_mpirun 2) --mca mpi_yield_when_idle 1 "$@" -x VFTR_RUNTIME_DIR -x VFTR_SESSION=nodes \
		--map-by node -np 4 "$known_program" nodes.shared >truth.nodes || return
	wait $agents
	is "node1 node2 node1 node2" "$(json "$known_json" "[.per_rank[].node] | join(\" \")")" || return
	jq -e "[.clocks[].error_s // 0] | max | . > 0 and . < 0.001" "$known_json" || return
	known_found "$known_json" >found.nodes
}

# known_nodes_error WHAT: of a wait for the other node, in seconds
known_nodes_error() {
	jq "2 * ([.clocks[].error_s // 0] | max)" "nodes/known-$1-openmpi_all.json"
}

# known_nodes_amounts WHAT KIND [PROPERTY]: the same is meant as on one node, and all waits are what the program
# says, within the error of the clocks; waits of KIND are not looked for, nor is PROPERTY
known_nodes_amounts() {
	known_error=$(known_nodes_error "$1") known_bad=
	is "$(grep "^meant " "truth.$1.openmpi")" "$(grep "^meant " truth.nodes)" || return
	for known_property in $(awk -v without="$3" '$1 == "meant" && $2 != without { print $2 }' truth.nodes) elsewhere; do
		known_amounts "$known_property" truth.nodes found.nodes "$2" "$known_error" ||
			known_bad="$known_bad $known_property"
	done
	is "" "$known_bad" "properties"
}
