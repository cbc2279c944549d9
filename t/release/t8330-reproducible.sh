#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='two clean builds in other folders, at other times, give the same bytes'
. "$(dirname "$0")/../lib/lib.sh"
[ -n "$VFTR_LONG" ] || skip_all 'only in the long form: it builds everything twice'
need git make dpkg-deb tar
git -C "$TOP" ls-files >/dev/null 2>&1 || skip_all 'no clone'

# built DIR VARIABLE=VALUE...: of the files of this clone as they are
built() {
	dir=$1
	shift
	mkdir -p "$dir"
	(cd "$TOP" && git ls-files -z | tar -c --null -T - --ignore-failed-read) | tar -x -C "$dir"
	env -u MAKEFLAGS SOURCE_DATE_EPOCH=1700000000 DEBFULLNAME=Ann DEBEMAIL=ann@example.org "$@" \
		timeout "$(patient 900)" make -C "$dir" -j"$(nproc)" all deb >"$dir.log" 2>&1 ||
		{ tail -n 20 "$dir.log"; return 1; }
}

# sums DIR: of what is installed, and of the packages
sums() {
	(cd "$1/obj" && find bin lib include share gen -type f | sort | xargs sha256sum; sha256sum ./*.deb)
}

test_expect 'libraries, programs and packages' '
	umask 022
	built one TZ=UTC0 LC_ALL=C
	umask 077
	built a/folder/with/a/longer/name TZ=EST5 LC_ALL=C.UTF-8
	sums one >one.sums
	sums a/folder/with/a/longer/name >other.sums
	[ "$(wc -l <one.sums)" -gt 20 ]
	diff one.sums other.sums'

done_testing
