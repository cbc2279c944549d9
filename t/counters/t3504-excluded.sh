#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='profile.exclude and profile.depth: what is not in the profile'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$VFTR" "$LIB/libvftrace.so"

cc_traced "$BIN/excluded" "$T/counters/app-excluded.c" -pthread ||
	skip_all 'app-excluded.c cannot be compiled'

# excluded N [THREADS] -- OPTION...: in all.json
excluded() {
	excluded_args=
	while [ "$1" != -- ]; do
		excluded_args="$excluded_args $1"
		shift
	done
	shift
	rm -f ./*_all.json
	traced -q "$@" -- "$BIN/excluded" $excluded_args || return 1
	mv excluded_all.json all.json
}

paths() {
	jq -r '[.stacks[].path | gsub(" < "; "<")] | sort | join(" ")' all.json
}
calls() { # FUNCTION
	jq "[.stacks[] | select(.function == \"$1\") | .calls] | add // 0" all.json
}

test_expect 'without the keys all of them are there' '
	excluded 2000 --
	is "init leaf<through<phase<solve<main<init leaf<through<solve<main<init main<init phase<solve<main<init solve<main<init through<phase<solve<main<init through<solve<main<init" "$(paths)"'

test_expect 'a function that is excluded has no paths, and what it calls is called by its caller' '
	excluded 2000 -- -k "profile.exclude=^through$"
	is "init leaf<phase<solve<main<init leaf<solve<main<init main<init phase<solve<main<init solve<main<init" "$(paths)"
	is 4000 "$(calls leaf)"
	is 2 "$(calls phase)"
	exclusive_sums_up all.json'

test_expect 'calls are those of the rows; of what is left out they are apart' '
	excluded 2000 --
	jq -e ".calls == ([.stacks[].calls] | add) and (has(\"calls_left_out\") | not)" all.json
	all=$(jq .calls all.json)
	excluded 2000 -- -k "profile.exclude=^through$"
	jq -e ".calls == ([.stacks[].calls] | add) and .calls + .calls_left_out == $all and
		.calls_left_out > 0" all.json'

test_expect 'also a region, and several of them' '
	excluded 2000 -- -k "profile.exclude=^(phase|through|main)$"
	is "init leaf<solve<init solve<init" "$(paths)"
	is 4000 "$(calls leaf)"
	exclusive_sums_up all.json'

test_expect 'all of them: the process is left, with all of the time' '
	excluded 2000 -- -k profile.exclude=.
	is init "$(paths)"
	exclusive_sums_up all.json'

test_expect 'what is excluded is switched off when it is called often' '
	# 24 million calls take a second, and the agent looks at them after 0.1 s
	excluded 8000000 -- -k "profile.exclude=^(leaf|through)$"
	jq -e ".calls + .calls_left_out < 12000000" all.json
	is "init main<init phase<solve<main<init solve<main<init" "$(paths)"
	is 8000 "$(calls phase)"
	exclusive_sums_up all.json'

test_expect 'profile.depth: what is deeper is not in the profile' '
	excluded 2000 -- -k profile.depth=2
	is "init main<init solve<main<init" "$(paths)"
	exclusive_sums_up all.json
	excluded 2000 -- -k profile.depth=3 -k "profile.exclude=^main$"
	is "init leaf<through<solve<init phase<solve<init solve<init through<phase<solve<init through<solve<init" "$(paths)"
	exclusive_sums_up all.json'

test_expect 'threads one by one: their times add up, too' '
	excluded 5000 3 -- -k "profile.exclude=^through$" -k profile_table.threads=all
	is 40000 "$(calls leaf)"
	jq "del(.configuration)" all.json >but-configuration
	hasnt but-configuration through
	jq -e "[.each_thread[] | select(.stacks) | (.stacks | map(.t_excl_s) | add) - .t_alive_s |
		fabs] | length == 4 and max < 0.001" all.json'

printf "%s\n" "#include <stdlib.h>" "static void work(long n) { for (volatile long i = 0; i < n; i++); }" \
	"int main(int argc, char **argv) {" "#pragma omp parallel num_threads(2)" "work(argc + atol(argv[1]));" "return 0; }" >omp.c
test_if 'cc_traced "$BIN/omp" omp.c -fopenmp' 'no OpenMP' 'constructs of OpenMP are regions: in the profile unless they match' '
	traced -q -k "profile.exclude=^work$" -- "$BIN/omp" 1000
	jq -e "[.stacks[].path] | any(startswith(\"omp_parallel\"))" omp_all.json
	hasnt omp_all.json "\"work"
	rm -f omp_all.*
	traced -q -k "profile.exclude=^(omp_|work$)" -- "$BIN/omp" 1000
	is "init main<init" "$(jq -r "[.stacks[].path | gsub(\" < \"; \"<\")] | sort | join(\" \")" omp_all.json)"'

# Calls of each MPI function, whatever called it
mpi_calls() {
	jq -r '[.stacks[] | select(.function | startswith("MPI_"))] | group_by(.function)[] |
		"\(.[0].function) \(map(.calls) | add)"' heat_all.json
}

for mpi in $(mpi_list_short); do
	test_expect "calls of MPI stay, with the names of what waits for them: $mpi" '
		mpicc_traced "$mpi" "$BIN/heat" "$T/demo/heat.c"
		heat="$(mpirun_of "$mpi") -np 2 $BIN/heat 64 64 20"
		traced -q -- $heat >/dev/null
		mpi_calls >all
		[ -s all ]
		rm -f heat_all.json
		traced -q -k profile.exclude=. -- $heat >/dev/null
		mpi_calls >got
		cmp all got
		jq -e "[.stacks[].path | select(test(\"^(MPI_[A-Za-z_]*( < |<))?init\$\") | not)] | length == 0" heat_all.json'
done

done_testing
