#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='names of the frames that a child of fork() begins in, in sampling files'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$LIB/libvftrace.so" "$VFTR"

cc_traced "$BIN/inherited" "$T/processes/app-inherited.c"

# paths_of [OPTION]...: those of all processes together, as the recorded file and the profile have
# them
paths_of() {
	rm -rf r
	limit "$VFTR" run -q "$@" -o r -- "$BIN/inherited"
	"$VFTR" export r -f folded --sum -q -o - | sed "s/ [0-9]*\$//" >sampled
	"$VFTR" export r -f folded --profile --sum -q -o - | sed "s/ [0-9]*\$//; s/^init;//" |
		grep -v "^init\$" | sort >counted
}

whole='main;forks;solver;child'

test_expect 'all calls recorded: the child has the paths of the profile, and each once' '
	paths_of -k sampling.active=true -k sampling.sample_interval=0
	grep -qx "$whole" sampled
	sort sampled >sorted
	diff counted sorted
	"$VFTR" export r -f speedscope -q -o - | jq -r ".shared.frames[].name" | sort >frames
	is "" "$(uniq -d frames)" "frames that are there twice"'

test_expect 'with sampling.precise_functions, which are known by their names' '
	for precise in body "child|forks"; do
		paths_of -k sampling.active=true -k sampling.precise_functions="$precise"
		grep -qx "$whole" sampled
		hasnt sampled "nknown"
		sort sampled >sorted
		uniq -d sorted >twice
		is "" "$(cat twice)" "paths that are there twice"
	done'

test_expect 'a sampled file: names and modules, as the same function of the parent' '
	paths_of -k sampling.active=true
	grep -qx "$whole" sampled
	hasnt sampled "nknown"
	sort sampled >sorted
	is "" "$(uniq -d sorted)" "paths that are there twice"'

done_testing
