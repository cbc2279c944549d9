#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The viewer itself, in a browser without a screen: it comes from npm's registry, so this is
# part of the long tests.
test_description='every name of a C++ program stands in speedscope as in the profile'
. "$(dirname "$0")/../lib/lib.sh"
[ -n "$VFTR_LONG" ] || skip_all 'a browser and the registry of npm: make check-long'
need jq node npm chromium
need_built "$AGENT" "$VFTR"

test_if 'timeout 300 npm install --no-audit --no-fund speedscope@1.25.0 puppeteer-core >npm.log 2>&1' \
	'npm cannot install speedscope' 'speedscope 1.25 and what steers a browser' '
	[ -s node_modules/speedscope/dist/release/index.html ]'
[ -s node_modules/speedscope/dist/release/index.html ] || { done_testing; exit; }
cp "$T/tool/speedscope.js" . # beside its modules

flagged "--cxxflags --libs" g++ -O2 "$T/tool/app-stl.cpp" -o stl &&
	flagged --libs g++ -O2 -finstrument-functions "$T/tool/app-stl.cpp" -o all || exit 1

# shown FILE: the names that speedscope's table has of it
shown() {
	node speedscope.js node_modules/speedscope/dist/release "$(command -v chromium)" "$1" |
		grep -vx "Symbol Name" | sort
}

for program in stl all; do
	export program
	test_expect "$program, the exact profile: all names, and no other" '
		traced -q -- "./$program" 20
		"$VFTR" export $program"_$(hostname | cut -d. -f1).vfp" -f speedscope -o $program.json
		shown $program.json >in_viewer
		# a call of less than a nanosecond may have no box
		json ${program}_all.json ".functions[] | select(.t_incl_s == 0 and .calls > 0) | .function" >no_time
		json ${program}_all.json ".stacks[] | select(.t_excl_s > 0 or .calls > 0) | .function" |
			grep -vxF -f no_time | sort -u >in_profile
		grep -vxF -f no_time in_viewer >seen || [ ! -s in_viewer ]
		mv seen in_viewer
		[ $(wc -l <in_profile) -gt 10 ]
		diff in_profile in_viewer'
	test_expect "$program, the time line: all names, and no other" '
		traced -q -k sampling.active=true -k sampling.sample_interval=0 \
			-k include_cxx_prelude=true -- "./$program" 20
		"$VFTR" export $program"_$(hostname | cut -d. -f1).vfd" -f speedscope -o $program.json
		shown $program.json >in_viewer
		json ${program}_all.json ".stacks[].function" | grep -vx init | sort -u >in_profile
		diff in_profile in_viewer'
done
done_testing
