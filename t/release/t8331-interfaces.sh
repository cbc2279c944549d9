#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='what programs of version 0.1 use is there: functions, types, numbers, modules'
. "$(dirname "$0")/../lib/lib.sh"
need cc jq
need_built "$AGENT" "$LIB/libvftrace.so" "$LIB/libvftrace.a"
source=$T/release/app-interfaces.c
version=$("$AGENT" --version | sed 's/.* //')

# compiled OUTPUT FLAG...
compiled() {
	out=$1
	shift
	$TEST_CC -I"$TOP/libhook" -o "$out" "$source" "$@"
}

test_expect 'it compiles, is linked with the shared library, and runs' '
	compiled shared -L"$LIB" -lvftrace -Wl,-rpath,"$LIB"
	VFTR_OFF=1 limit ./shared "$version" >names
	[ "$(wc -l <names)" -gt 40 ]
	limit "$AGENT" -q -- ./shared "$version"
	is 1 "$(calls_of shared_all.json "a region<init")"'

test_expect '... and with the static ones' '
	for library in libvftrace.a libvftrace-static.a; do
		[ -e "$LIB/$library" ]
		static=
		[ $library = libvftrace.a ] || static=-static
		compiled archive $static "$LIB/$library" -ldl -lpthread
		VFTR_OFF=1 limit ./archive "$version" | diff names -
	done'

test_expect 'a function or a number that changes is noticed' '
	sed "s/X(vftrace_pause, void,/X(vftrace_pause, int,/" "$source" >changed.c
	status_of 1 cmp -s changed.c "$source"
	status_of 1 $TEST_CC -I"$TOP/libhook" -c -o changed.o changed.c
	sed "s/X(VFTRACE_SCATTER, 6)/X(VFTRACE_SCATTER, 5)/" "$source" >changed.c
	status_of 1 $TEST_CC -I"$TOP/libhook" -c -o changed.o changed.c'

# only_public: what abidw and abidiff are to leave out, all but the functions of app-interfaces.c
only_public() {
	printf "[suppress_function]\nsymbol_name_not_regexp = ^(%s)\$\ndrop = true\n" \
		"$(sed -n "s/.*X(\(vftrace_[a-z0-9_]*\),.*/\1/p" "$source" | paste -sd"|")"
	printf "[suppress_variable]\nname_regexp = .*\ndrop = true\n"
}

test_if 'command -v abidiff' 'no abidiff' 'the library keeps the functions of 0.1 and their types, as it was compiled' '
	only_public >public
	limit abidiff --suppressions public "$T/release/libvftrace-0.1.abi" "$LIB/libvftrace.so"
	sed "s/\(VFTRACE_IO_WRITE. value=.\)1/\12/" "$T/release/libvftrace-0.1.abi" >other.abi
	status_of 4 abidiff --suppressions public other.abi "$LIB/libvftrace.so" >said
	has said "1 Changed"
	sed "s/vftrace_pause/vftrace_paused/g" "$T/release/libvftrace-0.1.abi" >other.abi
	sed "s/vftrace_pause|/vftrace_paused|&/" public >both
	status_of 12 abidiff --suppressions both other.abi "$LIB/libvftrace.so" >said
	has said "1 Removed"'

test_expect 'the shared library has no version in its name, so that a program finds a later one' '
	readelf -d "$LIB/libvftrace.so" | grep "SONAME.*\[libvftrace\.so\]"'

test_expect 'sbom: valid JSON, of this version, with each library that programs need' '
	sh "$TOP/packaging/sbom.sh" "$BUILD" "$version" >sbom.json
	is "SPDX-2.3 vftr $version" "$(json sbom.json "\"\(.spdxVersion) \(.packages[0].name) \(.packages[0].versionInfo)\"")"
	readelf -d "$AGENT" | sed -n "s/.*(NEEDED).*\[\(.*\)\]\$/\1/p" | while read -r library; do
		json sbom.json ".packages[].name" | grep -xF "$library"
	done
	is 0 "$(json sbom.json "[.packages[].SPDXID] as \$ids | [.relationships[].relatedSpdxElement] - \$ids | length")"
	sh "$TOP/packaging/sbom.sh" "$BUILD" "$version" | cmp - sbom.json'

test_if 'git -C "$TOP" rev-parse HEAD' 'no clone' 'dist: the files of the last commit, the same bytes each time' '
	limit make -C "$TOP" --no-print-directory O="$PWD/made" dist >said
	archive=$(cat said)
	cp "$archive" once.tar.gz
	is 0 "$(od -An -tu4 -j4 -N4 once.tar.gz | tr -d " ")" "time in the header"
	limit make -C "$TOP" --no-print-directory O="$PWD/made" dist
	cmp once.tar.gz "$archive"
	tar tzf "$archive" | grep -v "/\$" | sed "s|^vftr-$version/||" | sort >in
	git -C "$TOP" ls-tree -r --name-only HEAD | sort | diff - in'

done_testing
