#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='vftr-stability(7): its numbers are those of the source, and its tests are there'
. "$(dirname "$0")/../lib/lib.sh"
need awk
page=$TOP/man/vftr-stability.7

# defined NAME FILE: the number
defined() {
	sed -n "s/^#define $1[[:space:]]*\([0-9][0-9]*\)u\{0,1\}\([[:space:]].*\)\{0,1\}$/\1/p" "$TOP/$2"
}

# row THING: the second column
row() {
	sed -n "s/^\.It $1 Ta \(.*\) Ta Xr .*/\1/p" "$page"
}

test_expect 'formats are those of the headers' '
	is "$(defined VFP_VERSION_LEAST nodeagent/profile/vfp.h) to $(defined VFP_VERSION nodeagent/profile/vfp.h)" \
		"$(row "node profile")" "node profile"
	is "$(defined VFD_VERSION_LEAST nodeagent/trace/format.h) to $(defined VFD_VERSION nodeagent/trace/format.h)" \
		"$(row "sampling file")" "sampling file"
	is "$(defined WIRE_VERSION shm/wire.h)" "$(row "library to agent")" "library to agent"
	is "$(defined RECORD_FORMAT shm/record.h)" "$(row "records in rings")" rings
	is "$(defined TRANSPORT_VERSION nodeagent/net/transport.h)" "$(row "agents, over TCP")" agents'

test_expect 'each test that it names is there' '
	grep -oE "\bt[0-9]{4}\b" "$page" | sort -u >names
	[ "$(wc -l <names)" -ge 4 ]
	while read -r n; do
		ls "$T"/*/"$n"-*.sh >/dev/null
	done <names'

test_expect 'NEWS begins with the version that is built, and no version is in it twice' '
	version=$(sed -n "s/^VERSION := //p" "$TOP/Makefile")
	grep -E "^[0-9]+\.[0-9]+\.[0-9]+(,|\$)" "$TOP/NEWS" | sed "s/,.*//" >versions
	is "$version" "$(head -n 1 versions)"
	is "" "$(sort versions | uniq -d)"'

test_expect 'each function of the headers is in the list of those that stay' '
	sed -n "s/^[a-z].*[ *]\(vftrace_[a-z_]*\)(.*/\1/p" "$TOP/libhook/vftrace.h" "$TOP/libhook/vftrace-session.h" |
		sort >declared
	sed -n "s/^	X(\(vftrace_[a-z_]*\), .*/\1/p" "$T/release/app-interfaces.c" | sort >listed
	[ "$(wc -l <listed)" -gt 40 ]
	diff listed declared'

done_testing
