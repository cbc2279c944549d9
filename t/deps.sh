#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Installs what building and testing need. Debian and Ubuntu: by apt, as root
# or with sudo. Elsewhere it prints what to install, and stops if it is missing.
#   t/deps.sh          for building and the demo
#   t/deps.sh --tests  for the tests, too
#   t/deps.sh --list   print the apt and dnf lines
set -u

# package:what proves that it is there (a command, a header, or a file, maybe with *)
apt="build-essential:cc gfortran:gfortran openmpi-bin:mpirun.openmpi libopenmpi-dev:mpicc.openmpi
mpich:mpiexec.hydra libmpich-dev:mpicc.mpich libelf-dev:libelf.h libdw-dev:elfutils/libdw.h
libcjson-dev:cjson/cJSON.h liburing-dev:liburing.h libsodium-dev:sodium.h pkg-config:pkg-config"
apt_tests="check:check.h mandoc:mandoc jq:jq gojq:gojq gawk:gawk iproute2:ip perl:prove clang:clang
util-linux:unshare tini:tini procps:pgrep gdb:gdb strace:strace gcc-aarch64-linux-gnu:aarch64-linux-gnu-gcc
libc6-dev-arm64-cross:/usr/aarch64-linux-gnu/include/stdio.h qemu-user:qemu-aarch64
libomp-dev:/usr/lib/llvm-*/lib/libomp.so
cmake:cmake meson:meson ninja-build:ninja autoconf:autoconf automake:automake hpcc:hpcc primecount-bin:primecount
python3:python3 cython3:cython3 libsqlite3-0:/usr/lib/*/libsqlite3.so.0 libsqlite3-dev:sqlite3.h libzstd1:/usr/lib/*/libzstd.so.1 libzstd-dev:zstd.h
python3-mpi4py:/usr/lib/python3/dist-packages/mpi4py/__init__.py
slurmctld:/usr/sbin/slurmctld slurmd:/usr/sbin/slurmd slurm-client:srun munge:/usr/sbin/munged
otf2-tools:otf2-print libopen-trace-format2-dev:otf2/otf2.h protobuf-compiler:protoc
abigail-tools:abidiff libxml2-utils:xmllint lintian:lintian zsh:zsh fish:fish tmux:tmux environment-modules:/usr/share/modules/init/bash
libtrilinos-kokkos-dev:/usr/include/trilinos/Kokkos_Core.hpp libtbb-dev:/usr/include/tbb/tbb.h libpapi-dev:papi.h
likwid:/usr/include/likwid-marker.h
libjemalloc2:/usr/lib/*/libjemalloc.so.2 libtcmalloc-minimal4:/usr/lib/*/libtcmalloc_minimal.so.4"
dnf="gcc gcc-c++ gcc-gfortran make openmpi-devel mpich-devel elfutils-libelf-devel elfutils-devel
cjson-devel liburing-devel libsodium-devel check-devel pkgconf-pkg-config mandoc jq gawk iproute perl-Test-Harness clang libomp-devel util-linux tini procps-ng gdb strace
slurm slurm-slurmctld slurm-slurmd munge python3 sqlite-libs sqlite-devel libzstd-devel python3-mpi4py-openmpi protobuf-compiler libxml2 libabigail zsh fish tmux environment-modules"

apt_names() {
	for p in $apt $apt_tests; do
		printf '%s ' "${p%%:*}"
	done
}

lines() {
	echo "  Debian, Ubuntu: apt-get install $(apt_names)"
	echo "  Fedora, RHEL:   dnf install $(echo $dnf)"
}

there() {
	case $1 in
	/*)
		set -- $1
		[ -e "$1" ]
		;;
	*.h) echo "#include <$1>" | ${CC:-cc} -E -x c - >/dev/null 2>&1 ;;
	*) command -v "$1" >/dev/null 2>&1 ;;
	esac
}

# Those that this release has: tests that need the others are skipped.
packaged() {
	for p; do
		apt-cache show "$p" >/dev/null 2>&1 && echo "$p"
	done
	return 0
}

[ "${1:-}" = --list ] && { lines; exit 0; }
[ "${1:-}" = --tests ] && apt="$apt $apt_tests"

missing=
for p in $apt; do
	there "${p#*:}" || missing="$missing ${p%%:*}"
done
[ -z "$missing" ] && exit 0

as_root=
[ "$(id -u)" = 0 ] || as_root="sudo -n"
if command -v apt-get >/dev/null 2>&1 && { [ -z "$as_root" ] || sudo -n true 2>/dev/null; }; then
	echo "installing:$missing"
	log=$(mktemp)
	if { $as_root apt-get update -q &&
		$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q \
			--no-install-recommends $(packaged $missing); } >"$log" 2>&1; then
		rm -f "$log"
		exit 0
	fi
	tail -n 20 "$log"
	rm -f "$log"
	echo "apt-get could not install:$missing" >&2
	exit 1
fi
echo "missing:$missing" >&2
echo "install them, then run make again:" >&2
lines >&2
exit 1
