#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# `make deb': Debian packages of what is built, in OBJ; it prints their names.
#	packaging/deb.sh OBJ VERSION
#
#	libvftrace	what programs are linked with or preloaded with
#	libvftrace-dev	headers, static libraries, Fortran's modules, pkg-config, CMake
#	vftr		the agent, its plug-ins, the tools, vftr.py, manual pages, completions
#
# The agent and the libraries know where the others are: they are made anew for /usr, from
# copies of the objects, so that the build itself stays as it is. Needs dpkg-deb; what the
# packages depend on is found by dpkg-shlibdeps where that is installed.
#
# The maintainer is $DEBFULLNAME <$DEBEMAIL>, as for Debian's own tools; without these git's
# user.name and user.email, else the user on this host. $DEB_HOMEPAGE is the homepage, else
# where git's origin is, if that is a web page. $SOURCE_DATE_EPOCH is the date of the changelog,
# else the last commit's.
set -eu
obj=$1
version=$2
deb=$obj/deb
all=$deb/all
arch=$(dpkg --print-architecture)
: "${MAKE:=make}" "${CC:=cc}"
packaging=$(dirname "$0")

multiarch() {
	dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null || $CC -print-multiarch
}

# version of the format of gfortran's modules, which is part of the folder's name
module_version() {
	zcat "$obj/include/vftrace.mod" 2>/dev/null | sed -n "1s/^GFORTRAN module version '\([0-9]*\)'.*/\1/p"
}

git_says() {
	git "$@" 2>/dev/null || :
}

maintainer() {
	name=${DEBFULLNAME:-$(git_says config user.name)}
	mail=${DEBEMAIL:-$(git_says config user.email)}
	echo "${name:-the vftr authors} <${mail:-$(id -un)@$(hostname -f 2>/dev/null || hostname)}>"
}

homepage() {
	url=${DEB_HOMEPAGE:-$(git_says remote get-url origin)}
	case $url in
	http://*@* | https://*@*) ;;
	http://* | https://*) echo "${url%.git}" ;;
	esac
}

libdir=/usr/lib/$(multiarch)
modules=$(module_version)
moddir=/usr/include
[ -z "$modules" ] || moddir=$libdir/fortran/gfortran-mod-$modules
maintainer=$(maintainer)
homepage=$(homepage)
date=$(date -u -R -d "@${SOURCE_DATE_EPOCH:-$(git_says log -1 --format=%ct | grep . || date +%s)}")

rm -rf "$deb"
mkdir -p "$deb/obj" "$deb/debian"
for part in "$obj"/*; do
	case ${part##*/} in
	deb | t | bare | fuzz | demo | asan | tsan | *.deb) ;;
	*) cp -a "$part" "$deb/obj" ;;
	esac
done
$MAKE --no-print-directory O="$deb/obj" PREFIX=/usr LIBDIR="$libdir" DESTDIR="$all" \
	MODDIR="$moddir" \
	ZSHCOMP=/usr/share/zsh/vendor-completions install >"$deb/install.log" 2>&1 || {
	cat "$deb/install.log" >&2
	exit 1
}
# a prefix that every shell has anyway
rm -rf "$all/usr/share/modulefiles"
find "$all/usr/bin" "$all$libdir" -type f \( -name "*.so" -o -path "*/bin/*" \) \
	-exec strip --strip-unneeded --remove-section=.comment --remove-section=.note {} +
strip --strip-debug --remove-section=.comment --remove-section=.note \
	--enable-deterministic-archives "$all$libdir"/libvftrace*.a
find "$all/usr/share/man" -type f -exec gzip -9n {} +
find "$all/usr/share/man" -type l | while read -r link; do
	ln -s "$(readlink "$link").gz" "$link.gz"
	rm "$link"
done

# take PACKAGE FILE...: these go into it; what is left in the end is vftr's
take() {
	package=$1
	shift
	for file; do
		file=${file#"$all"/}
		mkdir -p "$deb/$package/${file%/*}"
		mv "$all/$file" "$deb/$package/$file"
	done
}

take libvftrace-dev "$all$libdir"/libvftrace*.a "$all$libdir/pkgconfig" "$all$libdir/cmake" \
	"$all/usr/include" "$all/usr/share/vftrace"/*.* "$all/usr/share/man/man3"/vftrace*
for extra in "$all$libdir/fortran" "$all$libdir/libvftrace-mpi.so"; do
	[ ! -e "$extra" ] || take libvftrace-dev "$extra"
done
take libvftrace "$all$libdir"/libvftrace*.so
mv "$all" "$deb/vftr"
cp README.md "$deb/vftr/usr/share/doc/vftr"

# Debian's form of licence and history, and why lintian may be contradicted
add_documents() {
	doc=$deb/$1/usr/share/doc/$1
	mkdir -p "$doc"
	{
		echo "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/"
		echo "Upstream-Name: vftr"
		printf '\nFiles: *\nCopyright: 2026, the vftr authors\nLicense: BSD-3-Clause\n'
		sed '1,/^Copyright/d' COPYING | sed '1{/^$/d}; s/^$/./; s/^/ /'
	} >"$doc/copyright"
	printf 'vftr (%s) unstable; urgency=medium\n\n  * %s\n\n -- %s  %s\n' "$version" \
		"As built by \`make deb' of the sources." "$maintainer" "$date" | gzip -9n >"$doc/changelog.gz"
	if [ -e "$packaging/lintian/$1" ]; then
		mkdir -p "$deb/$1/usr/share/lintian/overrides"
		cp "$packaging/lintian/$1" "$deb/$1/usr/share/lintian/overrides/$1"
	fi
}

# Packages of the libraries that these files are linked to. MPIs are not among them: a
# program that is traced brings its own.
needed_by() {
	rm -f "$deb/debian/control"
	if command -v dpkg-shlibdeps >/dev/null 2>&1; then
		printf 'Source: vftr\n\nPackage: vftr\nArchitecture: any\n' >"$deb/debian/control"
		(cd "$deb" && dpkg-shlibdeps --ignore-missing-info -O "$@" 2>/dev/null |
			sed -n 's/^shlibs:Depends=//p')
	fi
}

# field NAME VALUE: a line, unless the value is empty
field() {
	[ -z "$2" ] || echo "$1: $2"
}

# pack PACKAGE SECTION FIELDS DESCRIPTION
pack() {
	package=$1
	root=$deb/$package
	mkdir "$root/DEBIAN"
	add_documents "$package"
	# what anyone may read, whatever the umask here is
	chmod -R u=rwX,go=rX "$root"
	{
		field Package "$package"
		[ "$package" = vftr ] || field Source vftr
		field Version "$version"
		field Architecture "$arch"
		field Maintainer "$maintainer"
		field Installed-Size "$(du -sk --exclude=DEBIAN "$root" | cut -f1)"
		printf '%s\n' "$3"
		field Section "$2"
		field Priority optional
		field Homepage "$homepage"
		field Description "$4"
	} >"$root/DEBIAN/control"
	(cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
	[ "$package" != libvftrace ] || printf 'activate-noawait ldconfig\n' >"$root/DEBIAN/triggers"
	file=$obj/${package}_${version}_$arch.deb
	dpkg-deb --root-owner-group --build "$root" "$file" >/dev/null
	echo "$file"
}

of_program=$(needed_by vftr/usr/bin/vftr vftr/usr/bin/vftr-node-agent)
of_library=$(needed_by "libvftrace$libdir/libvftrace.so")
if [ -z "$of_program" ]; then
	of_program="libc6, libelf1, libdw1, libcjson1, liburing2, libsodium23"
	of_library="libc6"
	echo "deb: dpkg-shlibdeps could not be asked; versions are missing in Depends" >&2
fi

pack libvftrace libs "Multi-Arch: same
Depends: $of_library
Recommends: vftr (= $version)" "performance tracer for parallel programs - libraries
 What a program that is traced is linked with, or what the agent of vftr
 preloads: it notes function calls, MPI and OpenMP in memory shared with the
 agent. There is one library for programs without MPI, and one for each MPI."
pack libvftrace-dev libdevel "Multi-Arch: same
Depends: libvftrace (= $version)
Recommends: vftr (= $version)
Suggests: libopenmpi-dev | libmpich-dev, pkg-config${modules:+, gfortran-mod-$modules}" "performance tracer for parallel programs - development files
 Headers, modules of Fortran, static libraries, and files for pkg-config and
 CMake, to build programs that are traced by vftr, or that mark regions and
 sessions."
pack vftr devel "Depends: libvftrace (= $version), $of_program
Recommends: libvftrace-dev (= $version)
Suggests: openmpi-bin | mpich, python3, libsqlite3-0, libzstd1" "performance tracer for parallel programs
 Traces function calls, MPI and OpenMP of programs on one or many nodes and
 writes profiles by call path, message statistics and time lines. A process
 beside the program does the work; the program itself only notes what happens.
 Takes the configuration files and the place of Vftrace."
rm -rf "$deb"
