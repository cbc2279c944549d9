#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='the Debian packages, make install and make uninstall'
. "$(dirname "$0")/../lib/lib.sh"
need dpkg-deb dpkg jq pkg-config
need_built "$VFTR" "$AGENT"

PACKAGES='libvftrace libvftrace-dev vftr'
ARCH=$(dpkg --print-architecture)
MULTIARCH=$($TEST_CC -print-multiarch)
DEBFULLNAME='Ann Packager' DEBEMAIL=ann@vftr-packages.org
export DEBFULLNAME DEBEMAIL

package() {
	echo "$BUILD/$1"_*_"$ARCH".deb
}

field() {
	dpkg-deb -f "$(package "$1")" "$2"
}

# the package's files, or those in a folder, without folders
files_below() {
	(cd "$1" && find . ! -type d | sed 's|^\./||' | sort)
}

# make TARGET [VARIABLE=...] of this build; on a busy machine packages take minutes
build() {
	timeout -k 5 600 make -C "$TOP" --no-print-directory O="$BUILD" "$@"
}

# dpkg of a system in a folder of its own
dpkg_target() {
	dpkg --root="$PWD/target" --force-not-root --force-depends --force-script-chrootless "$@" \
		>log 2>&1 || { cat log; exit 1; }
}

test_expect 'make deb builds the packages: libraries, what is needed to build, and programs' '
	rm -f "$BUILD"/*.deb
	build deb >log 2>&1 || { cat log; exit 1; }
	for p in $PACKAGES; do package $p; done >wanted
	tail -n 3 log | diff wanted -
	for p in $PACKAGES; do [ -s "$(package $p)" ]; done'

test_expect 'their fields are those of this version' '
	version=$("$VFTR" --version)
	for p in $PACKAGES; do
		is $p "$(field $p Package)"
		is "$version" "vftr $(field $p Version)"
		is "$ARCH" "$(field $p Architecture)"
		is "Ann Packager <ann@vftr-packages.org>" "$(field $p Maintainer)"
		[ "$(field $p Installed-Size)" -gt 100 ]
	done
	for p in libvftrace vftr; do field $p Depends | grep -q libc6; done
	field vftr Depends | grep -q "libvftrace (= ${version#vftr })"
	field libvftrace-dev Depends | grep -q "libvftrace (= ${version#vftr })"
	field libvftrace Recommends | grep -q "vftr (= "'

test_expect 'all their files belong to root and can be read by anyone; no file is in two' '
	for p in $PACKAGES; do dpkg-deb -c "$(package $p)"; done >list
	[ "$(wc -l <list)" -gt 60 ]
	! grep -v "root/root" list >&2 || exit 1
	! grep -v "^.r..r..r.." list >&2 || exit 1
	is "" "$(grep -v "^d" list | awk "{ print \$6 }" | sort | uniq -d)"'

test_if '[ -n "$VFTR_LONG" ] && command -v lintian' 'only in the long form, where lintian is' 'lintian finds nothing in them, and what is overridden is explained' '
	lintian --allow-root --fail-on error,warning $(for p in $PACKAGES; do package $p; done) >log 2>&1 ||
		{ cat log; exit 1; }
	! grep "^[EW]:" log >&2 || exit 1
	for file in "$TOP"/packaging/lintian/*; do
		head -n 1 "$file" | grep -q "^# "
	done'

test_expect 'dpkg installs them' '
	mkdir -p target/var/lib/dpkg/updates target/var/lib/dpkg/info target/var/log
	: >target/var/lib/dpkg/status
	dpkg_target -i $(for p in $PACKAGES; do package $p; done)
	is 3 "$(grep -c "^Status: install ok installed" target/var/lib/dpkg/status)"
	cd target
	for p in $PACKAGES; do
		md5sum --quiet -c var/lib/dpkg/info/$p.md5sums 2>/dev/null ||
			md5sum --quiet -c var/lib/dpkg/info/$p:$ARCH.md5sums
	done'

test_expect 'licence and changelog are in the form of Debian' '
	for p in $PACKAGES; do
		has target/usr/share/doc/$p/copyright "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/"
		has target/usr/share/doc/$p/copyright "THE COPYRIGHT HOLDERS AND CONTRIBUTORS"
		zcat target/usr/share/doc/$p/changelog.gz >changes
		head -n 1 changes | grep -q "^vftr ($(field $p Version)) "
		if command -v dpkg-parsechangelog; then
			is "Ann Packager <ann@vftr-packages.org>" "$(dpkg-parsechangelog -l changes -S Maintainer)"
		fi
	done'

test_expect 'libraries are where this architecture has them, and nowhere else' '
	files_below target/usr/lib >files
	[ -n "$MULTIARCH" ]
	! grep -v "^$MULTIARCH/" files >&2 || exit 1
	[ -e target/usr/lib/$MULTIARCH/libvftrace.so ]'

test_expect 'their programs run, by all their names' '
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

test_expect 'they have a manual page for each program and subcommand that has one, and completions' '
	for page in "$TOP"/man/*.[1-8]; do
		page=${page##*/}
		[ -s "target/usr/share/man/man${page##*.}/$page.gz" ] || { echo "no $page"; exit 1; }
	done
	for file in bash-completion/completions/vftr zsh/vendor-completions/_vftr \
		fish/vendor_completions.d/vftr.fish; do
		[ -s "target/usr/share/$file" ] || { echo "no $file"; exit 1; }
	done'

test_expect 'pkg-config prints no folder that the compiler knows by itself, and no way round' '
	export PKG_CONFIG_LIBDIR=$PWD/target/usr/lib/$MULTIARCH/pkgconfig
	is "-finstrument-functions" "$(pkg-config --cflags vftrace | sed "s/ *\$//")"
	is "-lvftrace" "$(pkg-config --libs vftrace | sed "s/ *\$//")"
	is "/usr/lib/$MULTIARCH" "$(pkg-config --variable=libdir vftrace)"
	module=$(pkg-config --variable=moduledir vftrace)
	[ -e "target$module/vftrace.mod" ] || [ ! -e "$BUILD/include/vftrace.mod" ]'

test_expect 'a program is built by pkg-config and traced by their agent' '
	lib=$PWD/target/usr/lib/$MULTIARCH
	export PKG_CONFIG_LIBDIR=$lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$PWD/target
	is "$(field vftr Version)" "$(pkg-config --modversion vftrace)"
	$TEST_CC -g -O1 -I"$PWD/target/usr/include" $(pkg-config --cflags vftrace) -o "$BIN/end" \
		"$T/hook/app-end.c" -pthread -lm -L"$lib" \
		-Wl,--no-as-needed $(pkg-config --libs vftrace) -Wl,-rpath,"$lib"
	status_of 3 limit target/usr/bin/vftr-node-agent -q -- "$BIN/end" exit3
	is 10 "$(calls_of end_all.json "leaf<work<outer<main<init")"'

test_expect 'without an agent beside it, the program starts the one of the package' '
	mkdir alone
	cd alone
	status_of 3 limit "$BIN/end" exit3
	wait_for 20 "[ -s end_all.json ]"
	is 10 "$(calls_of end_all.json "leaf<work<outer<main<init")"'

test_expect 'the library that is not below a prefix with an agent starts the one that it was built for' '
	strings target/usr/lib/$MULTIARCH/libvftrace.so | grep -x "/usr/bin"'

test_expect 'the agent preloads the library of the package' '
	mkdir preload
	cd preload
	cc_plain "$BIN/plain" "$T/hook/app-end.c"
	status_of 3 limit ../target/usr/bin/vftr-node-agent -q --preload -- "$BIN/plain" exit3
	is 10 "$(calls_of plain_all.json "leaf<work<outer<main<init")"
	limit ../target/usr/bin/vftr-node-agent -q --preload -- env >environment
	grep "^LD_PRELOAD=" environment | grep -q "/target/usr/lib/$MULTIARCH/libvftrace.so"'

for mpi in $(mpi_list); do
	test_expect "$mpi: the agent finds its plug-in and the library for this MPI" '
		mkdir $mpi
		cd $mpi
		mpicc.$mpi -g -o ranks "$T/mpi/program/app-mpi-start.c"
		limit ../target/usr/bin/vftr-node-agent -q --preload -- $(mpirun_of $mpi) -np 2 ./ranks >out
		is 2 "$(json ranks_all.json .ranks)"
		plugin=$(cd .. && pwd)/target/usr/lib/$MULTIARCH/vftr/peer-$mpi.so
		# two on one node: they tell each other by MPI that one is enough
		refuse limit $(mpirun_of $mpi) -np 2 env LD_DEBUG=files ../target/usr/bin/vftr-node-agent -q >log 2>&1
		grep -qF "file=$plugin [0];  dynamically loaded" log
		has log "each node has one"'
done

test_expect 'vftr flags prints where they are' '
	here=$PWD/target/usr
	VFTR=target/usr/bin/vftr
	flagged "--cflags --libs" $TEST_CC -O1 "$T/hook/app-count.c" -o count -lm
	limit target/usr/bin/vftr-node-agent -q -- ./count counts >out
	[ -s count_all.json ]
	target/usr/bin/vftr flags --libs >flags
	has flags "-L$here/lib/$MULTIARCH -Wl,-rpath,$here/lib/$MULTIARCH"'

test_if 'command -v gfortran && [ -e "$BUILD/include/vftrace.mod" ]' 'no gfortran' \
	'Fortran finds its module by the flags of vftr' '
	mkdir fortran
	cd fortran
	VFTR=../target/usr/bin/vftr
	flagged --fflags gfortran -c "$T/hook/app-api.f90" -o api.o
	flagged --libs gfortran -o api api.o
	limit ../target/usr/bin/vftr-node-agent -q -- ./api stack >out
	has out "a region<MAIN<main<init"'

test_if 'command -v cmake && command -v gfortran' 'no cmake or gfortran' 'CMake finds them, and the module' '
	mkdir cmake
	cp "$T/tool/examples-build/main.c" "$T/tool/examples-build/smooth.f90" .
	cp "$T/tool/examples-build/cmake/CMakeLists.txt" cmake
	cmake -S cmake -B made -DCMAKE_PREFIX_PATH="$PWD/target/usr" -DCMAKE_Fortran_COMPILER=gfortran \
		-DCMAKE_C_COMPILER=gcc >said 2>&1 || { cat said; exit 1; }
	env -u MAKEFLAGS cmake --build made >>said 2>&1 || { cat said; exit 1; }
	limit target/usr/bin/vftr-node-agent -q -- made/example
	is 3 "$(calls_of example_all.json "step<main<init")"'

test_if 'command -v python3' 'no python3' 'its vftr.py reads the profile, and its vftr the time line' '
	mkdir python
	cd python
	status_of 3 limit ../target/usr/bin/vftr-node-agent -q -k sampling.active=true \
		-k sampling.sample_interval=0 -- "$BIN/end" exit3
	unset VFTR
	PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=../target/usr/share/vftrace/python python3 -c "
import vftr
run = vftr.open(\".\")
print([n.calls for n in run.walk() if n.path == \"leaf<work<outer<main<init\"][0])
print(any(e[\"function\"] == \"leaf\" for e in run.timeline()))
print(vftr._find_vftr(None))" >got
	is "10 True" "$(head -n 2 got | paste -s -d " ")"
	has got target/usr/bin/vftr'

test_expect 'dpkg removes all of them' '
	dpkg_target -P $PACKAGES
	[ ! -e target/usr ] || is "" "$(files_below target/usr)"'

test_expect 'make uninstall removes what make install has put there, for anyone to read, whatever the umask' '
	(umask 077; build install DESTDIR="$PWD/dest") >log 2>&1 || { cat log; exit 1; }
	is "" "$(find dest -type f ! -perm -o=r)"
	[ "$(files_below dest | wc -l)" -gt 20 ]
	build uninstall DESTDIR="$PWD/dest" >log 2>&1 || { cat log; exit 1; }
	is "" "$(files_below dest)"'

done_testing
