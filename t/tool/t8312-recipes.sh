#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='module file, recipe for Spack, file for a container image, page for users of Vftrace'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$VFTR" "$AGENT"

RECIPE=$TOP/packaging/spack/packages/vftr/package.py
CONTAINER=$TOP/packaging/Containerfile

# placed PREFIX: this build, as it is: PREFIX is where it is said to be
placed() {
	installed "$1"
	sed "s|^set prefix .*|set prefix $1|" "$1"/share/modulefiles/vftr/* >modulefile
	mv modulefile "$1"/share/modulefiles/vftr/*
}

# ---- the module file -------------------------------------------------------------------

cat >loaded.sh <<'END'
module use "$1/share/modulefiles"
module load vftr
vftr --version
gcc -O1 -finstrument-functions "$2" -o loaded -lm -lvftrace
vftr-node-agent -q -- ./loaded counts
pkg-config --variable=prefix vftrace
man -w vftr
module unload vftr
command -v vftr || echo gone
END

# what users of the loaded module see; FILE defines `module'
loads() {
	PREFIX=$PWD/prefix
	[ -d prefix ] || placed "$PREFIX"
	env -u MANPATH PATH=/usr/local/bin:/usr/bin:/bin bash -c '. "$1"; shift; . ./loaded.sh "$@"' bash \
		"$1" "$PREFIX" "$T/hook/app-count.c" >said 2>err || { cat said err; exit 1; }
	[ ! -s err ] || { cat err; exit 1; }
	has said "$("$VFTR" --version)"
	has said "$PREFIX/share/man/man1/vftr.1"
	is gone "$(tail -n 1 said)"
	[ "$(json loaded_all.json "[.stacks[].calls] | add")" -gt 3 ]
}

test_if '[ -e /usr/share/modules/init/bash ] && command -v man' 'no Environment Modules, or no man' \
	'Environment Modules: loaded, a program is compiled and traced without a path; unloaded, it is gone' '
	loads /usr/share/modules/init/bash'

test_if '[ -e /usr/share/lmod/lmod/init/bash ] && command -v man' 'no Lmod, or no man' \
	'Lmod: the same file, the same result' '
	loads /usr/share/lmod/lmod/init/bash'

test_if 'command -v tclsh' 'no tclsh' 'the module file is Tcl, and names no folder that is not there' '
	[ -d prefix ] || placed "$PWD/prefix"
	cat >check.tcl <<-"END"
	proc prepend-path {name folder} { if {![file isdirectory $folder]} { puts "$name: no $folder" } }
	proc module-whatis {text} {}
	proc conflict {name} {}
	source [lindex $argv 0]
	ModulesHelp
	END
	is "" "$(tclsh check.tcl prefix/share/modulefiles/vftr/* 2>help)"
	has help "$("$VFTR" --version)"'

# ---- Spack -----------------------------------------------------------------------------

# spack [mpi=NAME] [fortran]: what make(1) would do
spack() {
	mkdir -p empty
	MAKE="make -n -C $TOP --no-print-directory O=$BUILD" python3 "$T/tool/standin-spack.py" \
		"$RECIPE" "$PWD/tree" "$@" >said 2>&1 || { tail said; exit 1; }
}

test_if 'command -v python3' 'no python3' 'Spack: the recipe is Python, and builds the clone that it lies in' '
	cp "$RECIPE" recipe.py
	python3 -m py_compile recipe.py
	spack
	is "git file://$(cd "$TOP" && pwd -P)" "$(grep "^git" said)"
	grep "^depends" said >needs
	for name in elfutils cjson liburing libsodium mpi; do has needs "depends $name"; done
	has "$TOP/packaging/spack/repo.yaml" "namespace: vftr"'

test_if 'command -v python3' 'no python3' 'Spack: it is installed below the prefix; without MPI there is none' '
	spack
	grep "^install -m 755 .*vftr-node-agent" said | grep -q "$PWD/tree/bin\$"
	! grep "^install .*libvftrace-\(openmpi\|mpich\)" said >&2'

for mpi in $(mpi_list); do
	test_if 'command -v python3' 'no python3' "Spack: with ^$mpi the libraries of this MPI alone" '
		spack mpi='"$mpi"' fortran
		grep "^install .*libvftrace-$mpi.so" said | grep -q "$PWD/tree/lib\$"
		is 1 "$(grep -o "libvftrace-[a-z]*\.a" said | grep -v static | sort -u | wc -l)"'
done

# ---- a container -------------------------------------------------------------------------

test_expect 'the container file builds by what this tree has, and t/bare runs each of its lines' '
	sed "/^#/d; /^\$/d" "$CONTAINER" >lines
	! grep -v "^\(FROM\|COPY\|RUN\|WORKDIR\|CMD\) " lines >&2 || exit 1
	! grep "\\\\\$" lines >&2 || exit 1
	grep -q "^COPY \. /src\$" lines
	grep "^RUN" lines | grep -o "/usr/local/share/[^ ]*" | sed s,/usr/local,, | sort -u >named
	[ -d prefix ] || placed "$PWD/prefix"
	while read -r file; do [ -e "prefix$file" ] || { echo "no $file"; exit 1; }; done <named
	grep -q "sh t/deps.sh" lines
	grep -q "packaging/Containerfile" "$T/bare"'

# ---- vftr-vftrace(7) -----------------------------------------------------------------------

PAGE=$TOP/man/vftr-vftrace.7

test_expect 'the page for users of Vftrace names every key that Vftrace has not' '
	"$VFTR" config default >ours.json
	keys() { jq -r "paths(type != \"object\" and type != \"array\") | map(tostring) | join(\".\")" "$1" | sort; }
	keys ours.json >ours
	keys "$T/conf/vftrace-default.json" >theirs
	# those of Vftrace that it does not print
	comm -23 ours theirs | grep -v "^openacc\.\|^profile_table.separate\$" >new
	[ "$(wc -l <new)" -gt 10 ]
	# the row of keys, a word a line: sections, keys, and keys of the section of the one before
	sed -n "/^keys	T{/,/^T}/p" "$PAGE" | tr -s " ,;\n" "\n" >words
	while read -r key; do
		grep -qxF -e "$key" -e "${key##*.}" -e "${key%%.*}" words || echo "$key"
	done <new >missing
	is "" "$(cat missing)"
	is "" "$(comm -13 ours theirs)"'

cat >old.c <<'END'
void vftrace_region_begin(const char *name);
void vftrace_region_end(const char *name);
void work(void) { vftrace_region_begin("region"); vftrace_region_end("region"); }
int main(void) { for (int i = 0; i < 7; i++) work(); return 0; }
END

test_expect 'a program that was linked with Vftrace is traced when our library has that name' '
	mkdir theirs-lib ours-lib
	cat >theirs.c <<-"END"
	void __cyg_profile_func_enter(void *f, void *c) {}
	void __cyg_profile_func_exit(void *f, void *c) {}
	void vftrace_region_begin(const char *name) {}
	void vftrace_region_end(const char *name) {}
	END
	gcc -shared -fPIC -Wl,-soname,libvftrace.so.0 theirs.c -o theirs-lib/libvftrace.so.0
	gcc -O1 -fno-inline -finstrument-functions ../work/old.c theirs-lib/libvftrace.so.0 -o old
	ln -s "$LIB/libvftrace.so" ours-lib/libvftrace.so.0
	LD_LIBRARY_PATH=$PWD/ours-lib traced -q -- ./old
	is 7 "$(calls_of old_all.json "region<work<main<init")"'

test_expect 'names of C++ are short, whole or the linker'\''s, as the page says' '
	cat >box.cpp <<-"END"
	template <class T> struct Box { T v; void put(T x) { v = x; } };
	int main() { Box<int> b; for (int i = 0; i < 5; i++) b.put(i); return 0; }
	END
	flagged "--cxxflags --libs" g++ -O0 box.cpp -o box
	traced -q -- ./box
	is 5 "$(calls_of box_all.json "Box::put<main<init")"
	traced -q -k output.names=full -- ./box
	is 5 "$(calls_of box_all.json "Box<int>::put(int)<main<init")"
	traced -q -k demangle_cxx=false -- ./box
	is 5 "$(calls_of box_all.json "_ZN3BoxIiE3putEi<main<init")"
	grep -q "Box::put" "$PAGE"
	grep -q "Box<int>::put(int)" "$PAGE"'

test_expect 'a wrong configuration: the agent refuses with the status of the page' '
	echo "{ \"off\": tru }" >bad.json
	status_of 125 traced -c bad.json -- ./box 2>err
	ln -sf "$VFTR" vftrace_check_config
	status_of 1 ./vftrace_check_config bad.json 2>err
	has err "bad.json:1"'

done_testing
