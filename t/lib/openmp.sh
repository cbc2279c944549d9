# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# For the tests of OpenMP: compares a profile with what app-openmp*.c counted.
# Paths are compared without what compilers make of a construct's code, as
# main._omp_fn.0 and .omp_outlined., and without the places of constructs that wait.

OPENMP_AGENT=
OPENMP_STATUS=0
OPENMP_HANGS=0 # so many runs may hang, where the runtime does that without us, too
OPENMP_WITHOUT='^$' # frames that are not compared,
OPENMP_ANYWHERE='^$' # are compared without the thread they are on,
OPENMP_INVISIBLE='^$' # are taken out of all paths
OPENMP_PLACELESS='.*wait|barrier.*|taskyield|critical|ordered' # compared without a place

# run_openmp PROGRAM ARGUMENT...: traced; its profile is $OPENMP_JSON
run_openmp() {
	OPENMP_JSON=$1_all.json
	test_program=$1
	shift
	while :; do
		rm -f counts "$test_program"_*
		test_got=0
		# shellcheck disable=SC2086
		traced -q -k profile_table.threads=all $OPENMP_AGENT -- \
			"$BIN/$test_program" "$@" || test_got=$?
		[ "$OPENMP_HANGS" -gt 0 ] || break
		[ $test_got = 124 ] || [ $test_got = 137 ] || break
		OPENMP_HANGS=$((OPENMP_HANGS - 1))
		echo "no end within $TEST_COMMAND_SECONDS s: once more" >&2
	done
	status_of "$OPENMP_STATUS" sh -c "exit $test_got"
}

# Reads "TID CALLS PATH", adds up what is the same for the comparison.
openmp_paths() {
	awk -v without="$OPENMP_WITHOUT" -v anywhere="$OPENMP_ANYWHERE" \
		-v invisible="$OPENMP_INVISIBLE" -v placeless="^omp_($OPENMP_PLACELESS)@" '{
		n = split($3, frame, "<")
		path = ""
		thread = frame[1] ~ anywhere ? "any" : $1
		for (i = 1; i <= n; i++) {
			outlined = frame[i] ~ /^\.omp|\._omp_(c?fn|copyfn)|__captured_stmt/ ||
				frame[i] ~ invisible
			if (outlined && i == 1)
				next
			if (frame[i] ~ placeless)
				sub(/@.*/, "", frame[i])
			if (i == 1 && frame[i] ~ without)
				next
			if (!outlined)
				path = path (path ? "<" : "") frame[i]
		}
		calls[thread " " path] += $2
	}
	END { for (p in calls) { split(p, k, " "); print k[1], calls[p], k[2] } }' | sort
}

# same_openmp PROGRAM ARGUMENT...: each (thread, path) has the calls it counted
same_openmp() {
	run_openmp "$@"
	is 0 "$(json "$OPENMP_JSON" .lost)" lost
	is '[]' "$(jq -c .warnings "$OPENMP_JSON")" warnings
	openmp_paths <counts >wanted
	[ -s wanted ]
	jq -r '(.stacks | map({key: "\(.id)", value: .path}) | from_entries) as $path |
		.each_thread[] | .tid as $tid | .stacks[] |
		select(.calls > 0) | "\($tid) \(.calls) \($path["\(.id)"])"' "$OPENMP_JSON" |
		openmp_paths >got
	diff -U0 wanted got
}
