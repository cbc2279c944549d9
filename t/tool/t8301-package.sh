#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='the Debian package, make install and make uninstall'
. "$(dirname "$0")/../lib/lib.sh"
need dpkg-deb dpkg jq
need_built "$VFTR" "$AGENT"

package() {
	echo "$BUILD"/vftr_*_"$(dpkg --print-architecture)".deb
}

field() {
	dpkg-deb -f "$(package)" "$1"
}

# the package's files, or those in a folder, without folders
files_below() {
	(cd "$1" && find . ! -type d | sed 's|^\./||' | sort)
}

# make TARGET [VARIABLE=...] of this build
build() {
	limit make -C "$TOP" --no-print-directory O="$BUILD" "$@"
}

test_expect 'make deb builds a package' '
	rm -f "$BUILD"/vftr_*.deb
	build deb >log 2>&1 || { cat log; exit 1; }
	is "$(package)" "$(tail -n 1 log)"
	[ -s "$(package)" ]'

test_expect 'its fields are those of this version' '
	is vftr "$(field Package)"
	is "$("$VFTR" --version)" "vftr $(field Version)"
	is "$(dpkg --print-architecture)" "$(field Architecture)"
	field Depends | grep -q libc6
	[ "$(field Installed-Size)" -gt 100 ]'

test_expect 'all its files belong to root and can be read by anyone' '
	dpkg-deb -c "$(package)" >list
	[ "$(wc -l <list)" -gt 20 ]
	! grep -v "root/root" list >&2
	! grep -v "^.r..r..r.." list >&2'

test_expect 'dpkg installs it' '
	mkdir -p target/var/lib/dpkg/updates target/var/lib/dpkg/info target/var/log
	: >target/var/lib/dpkg/status
	dpkg --root="$PWD/target" --force-not-root --force-depends --force-script-chrootless \
		-i "$(package)" >log 2>&1 || { cat log; exit 1; }
	grep -q "^Status: install ok installed" target/var/lib/dpkg/status
	(cd target && md5sum --quiet -c var/lib/dpkg/info/vftr.md5sums)'

test_expect 'its programs run, by all their names' '
	for p in target/usr/bin/*; do
		"$p" --help >help 2>&1 || { echo "$p"; exit 1; }
		[ -s help ] || { echo "$p: no help"; exit 1; }
	done
	for p in vftrace_check_config vftrace_diff_profiles vftrace_generate_default_config \
		vftrace_vfd_dump vftr vftr-node-agent; do
		[ -x target/usr/bin/$p ] || { echo "no $p"; exit 1; }
	done
	target/usr/bin/vftrace_generate_default_config >default.json
	target/usr/bin/vftrace_check_config default.json'

test_expect 'it has a manual page for each program and subcommand that has one' '
	for page in "$TOP"/man/*.[1-8]; do
		page=${page##*/}
		[ -s "target/usr/share/man/man${page##*.}/$page.gz" ] || { echo "no $page"; exit 1; }
	done
	[ -s target/usr/share/bash-completion/completions/vftr ]'

test_expect 'a program is built against it and traced by its agent' '
	lib=$PWD/target/usr/lib
	export PKG_CONFIG_PATH=$lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$PWD/target
	is "$(field Version)" "$(pkg-config --modversion vftrace)"
	$TEST_CC -g -O1 $(pkg-config --cflags vftrace) -o "$BIN/end" "$T/hook/app-end.c" -pthread -lm \
		-Wl,--no-as-needed $(pkg-config --libs vftrace) -Wl,-rpath,"$lib"
	status_of 3 limit target/usr/bin/vftr-node-agent -q -- "$BIN/end" exit3
	is 10 "$(calls_of end_all.json "leaf<work<outer<main<init")"'

test_expect 'without an agent beside it, the program starts the one of the package' '
	mkdir alone
	cd alone
	status_of 3 limit "$BIN/end" exit3
	wait_for 20 "[ -s end_all.json ]"
	is 10 "$(calls_of end_all.json "leaf<work<outer<main<init")"'

test_expect 'dpkg removes all of it' '
	dpkg --root="$PWD/target" --force-not-root --force-script-chrootless -P vftr >log 2>&1 ||
		{ cat log; exit 1; }
	[ ! -e target/usr ] || is "" "$(files_below target/usr)"'

test_expect 'make uninstall removes what make install has put there' '
	build install DESTDIR="$PWD/dest" >log 2>&1 || { cat log; exit 1; }
	[ "$(files_below dest | wc -l)" -gt 20 ]
	build uninstall DESTDIR="$PWD/dest" >log 2>&1 || { cat log; exit 1; }
	is "" "$(files_below dest)"'

done_testing
