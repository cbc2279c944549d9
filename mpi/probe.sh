#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Which Fortran routines does this MPI have, and in which shared libraries?
#
#   probe.sh MPI-FORTRAN-COMPILER DIRECTORY
#
# Links an empty program and looks at the libraries it got. Writes in DIRECTORY
# fortran.sym, the profiling entries (pmpi_send_, pmpir_send_f08ts_, ...), and
# fortran.libs, the libraries that have them. Both are empty, which means no
# Fortran wrappers, if the compiler is missing or does not work.
fc=$1 dir=$2
: >"$dir/fortran.sym.new" && : >"$dir/fortran.libs.new" || exit 1

if [ -n "$fc" ] && printf '      end\n' >"$dir/probe.f90" &&
	$fc -Wl,--no-as-needed -o "$dir/probe" "$dir/probe.f90" 2>"$dir/probe.log"; then
	ldd "$dir/probe" | awk '$3 ~ /^\// { print $3 }' | while read -r lib; do
		nm -D --defined-only "$lib" 2>/dev/null |
			awk '$3 ~ /^pmpir?_[a-z0-9_]*[a-z0-9]_$/ { print $3 }' >"$dir/probe.sym"
		if grep -q '^pmpir\{0,1\}_init_' "$dir/probe.sym"; then
			cat "$dir/probe.sym" >>"$dir/fortran.sym.new"
			echo "$lib" >>"$dir/fortran.libs.new"
		fi
	done
fi
rm -f "$dir/probe" "$dir/probe.f90" "$dir/probe.sym"
mv "$dir/fortran.sym.new" "$dir/fortran.sym" && mv "$dir/fortran.libs.new" "$dir/fortran.libs"
