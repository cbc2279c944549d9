#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Which functions does this MPI really have, and its Fortran in which libraries?
#
#   probe.sh MPI-C-COMPILER MPI-FORTRAN-COMPILER DIRECTORY
#
# Links an empty program in each language and looks at the libraries it got.
# Writes in DIRECTORY
#
#   c.sym         the profiling entries of C (PMPI_Send, ...): an <mpi.h> may
#                 declare what is in no library, or in that of Fortran, which C
#                 programs lack; then the word `fortran' follows
#   fortran.sym   those of Fortran (pmpi_send_, pmpir_send_f08ts_, ...)
#   fortran.libs  the libraries that have the latter
#
# Those of Fortran are empty, which means no Fortran wrappers, if the compiler is
# missing or does not work; c.sym is, which means all that is declared, if the
# libraries are static.
cc=$1 fc=$2 dir=$3
for file in c.sym fortran.sym fortran.libs; do
	: >"$dir/$file.new" || exit 1
done

# libraries COMPILER SOURCE: the shared libraries of an empty program
libraries() {
	$1 -Wl,--no-as-needed -o "$dir/probe" "$2" 2>"$dir/probe.log" || return
	ldd "$dir/probe" | awk '$3 ~ /^\// { print $3 }'
}

# entries LIBRARY PATTERN
entries() {
	nm -D --defined-only "$1" 2>/dev/null | awk -v p="$2" '{ sub(/@.*/, "", $3) } $3 ~ p { print $3 }'
}

echo 'int main(void) { return 0; }' >"$dir/probe.c"
for lib in $(libraries "$cc" "$dir/probe.c"); do
	entries "$lib" '^PMPIX?_[A-Z][A-Za-z0-9_]*$' >>"$dir/c.sym.new"
done
printf '      end\n' >"$dir/probe.f90"
for lib in $([ -z "$fc" ] || libraries "$fc" "$dir/probe.f90"); do
	entries "$lib" '^pmpir?_[a-z0-9_]*[a-z0-9]_$' >"$dir/probe.sym"
	if grep -q '^pmpir\{0,1\}_init_' "$dir/probe.sym"; then
		cat "$dir/probe.sym" >>"$dir/fortran.sym.new"
		echo "$lib" >>"$dir/fortran.libs.new"
		entries "$lib" '^PMPIX?_[A-Z][A-Za-z0-9_]*$' | sed 's/$/ fortran/' >>"$dir/c.sym.new"
	fi
done
rm -f "$dir/probe" "$dir/probe.c" "$dir/probe.f90" "$dir/probe.sym"
for file in c.sym fortran.sym fortran.libs; do
	mv "$dir/$file.new" "$dir/$file" || exit 1
done
