#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# `make deb': a Debian package of what is built, OBJ/vftr_VERSION_ARCH.deb.
#	packaging/deb.sh OBJ VERSION
# The libraries know where the agent is installed: they are made anew for /usr, from
# copies of the objects, so that the build itself stays as it is. Needs dpkg-deb; what
# the package depends on is found by dpkg-shlibdeps where that is installed.
set -eu
obj=$1
version=$2
deb=$obj/deb
root=$deb/root
arch=$(dpkg --print-architecture)
: "${MAKE:=make}"

rm -rf "$deb"
mkdir -p "$deb/obj" "$root/DEBIAN" "$deb/debian"
for part in "$obj"/*; do
	case ${part##*/} in
	deb | t | demo | asan | tsan | *.deb) ;;
	*) cp -a "$part" "$deb/obj" ;;
	esac
done
libdir=/usr/lib
$MAKE --no-print-directory O="$deb/obj" PREFIX=/usr DESTDIR="$root" install >"$deb/install.log" 2>&1 || {
	cat "$deb/install.log" >&2
	exit 1
}

doc=$root/usr/share/doc/vftr
mkdir -p "$doc"
cp COPYING "$doc/copyright"
cp README.md "$doc"
find "$root/usr/share/man" -type f -exec gzip -9n {} +
find "$root/usr/share/man" -type l | while read -r link; do
	ln -s "$(readlink "$link").gz" "$link.gz"
	rm "$link"
done
strip --strip-unneeded "$root"/usr/bin/vftr "$root"/usr/bin/vftr-node-agent \
	"$root$libdir"/libvftrace*.so "$root$libdir"/vftr/*.so
# what anyone may read, whatever the umask here is
chmod -R u=rwX,go=rX "$root"

# Packages of the libraries that the programs are linked to. MPIs are not among them:
# a program that is traced brings its own.
depends=
if command -v dpkg-shlibdeps >/dev/null 2>&1; then
	printf 'Source: vftr\n\nPackage: vftr\nArchitecture: any\n' >"$deb/debian/control"
	depends=$(cd "$deb" && dpkg-shlibdeps --ignore-missing-info -O \
		root/usr/bin/vftr root/usr/bin/vftr-node-agent root$libdir/libvftrace.so 2>/dev/null |
		sed -n 's/^shlibs:Depends=//p')
fi
if [ -z "$depends" ]; then
	depends="libc6, libelf1, libdw1, libcjson1, liburing2, libsodium23"
	echo "deb: dpkg-shlibdeps could not be asked; versions are missing in Depends" >&2
fi

kilobytes=$(du -sk --exclude=DEBIAN "$root" | cut -f1)
cat >"$root/DEBIAN/control" <<CONTROL
Package: vftr
Version: $version
Architecture: $arch
Maintainer: the vftr authors <vftr@localhost>
Installed-Size: $kilobytes
Depends: $depends
Suggests: openmpi-bin | mpich
Section: devel
Priority: optional
Description: performance tracer for parallel programs
 Traces function calls, MPI and OpenMP of programs on one or many nodes and
 writes profiles by call path, message statistics and time lines. A process
 beside the program does the work; the program itself only notes what happens.
 Takes the configuration files and the place of Vftrace.
CONTROL
(cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
printf 'activate-noawait ldconfig\n' >"$root/DEBIAN/triggers"

package=$obj/vftr_${version}_$arch.deb
dpkg-deb --root-owner-group --build "$root" "$package" >/dev/null
rm -rf "$deb"
echo "$package"
