#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='functions have their source lines, where debug information tells them'
. "$(dirname "$0")/../lib/lib.sh"

need gcc strip objcopy jq
need_built "$AGENT" "$VFTR" "$LIB/libvftrace.so" "$LIB/libvftrace.a"

found=$(test_link vftrace)
hooked='-O1 -finstrument-functions'
here=$PWD

mkdir src
cat >src/one.h <<'EOT'
int other(int x);
EOT
cat >src/one.c <<'EOT'
#include "one.h"

static int inner(int x) {
	return x + 1;
}

int main(void) {
	return inner(other(1)) - 4;
}
EOT
cat >src/other.c <<'EOT'
#include "one.h"




int other(int x) {
	return x + 2;
}
EOT

# source_of JSON FUNCTION: "FILE:LINE", or "null:null"
source_of() {
	json "$1" ".functions[] | select(.function == \"$2\") | \"\(.file):\(.line)\""
}

# has_lines JSON: those of the two files above
has_lines() {
	is "$here/src/one.c:7" "$(source_of "$1" main)"
	is "$here/src/one.c:3" "$(source_of "$1" inner)"
	is "$here/src/other.c:6" "$(source_of "$1" other)"
	is null:null "$(source_of "$1" init)"
}

# has_none JSON: no function has a line, and nobody says a word about it
has_none() {
	is 0 "$(json "$1" "[.functions[] | select(has(\"file\") or has(\"line\"))] | length")"
	is "[]" "$(json "$1" ".warnings" | tr -d " \n")"
}

for how in '-g' '-gdwarf-4' '-gdwarf-5 -gz' '-g -static' '-g -fno-pie -no-pie' '-g3 -O2 -fno-inline'; do
	test_expect "gcc $how: each function has its file and line" '
		case "$how" in
		*-static) gcc $hooked $how -o app src/one.c src/other.c "$LIB/libvftrace.a" ;;
		*) gcc $hooked $how -o app src/one.c src/other.c $found ;;
		esac
		traced -q -- ./app
		has_lines app_all.json'
done

test_expect 'gcc -g -gsplit-dwarf: the same' '
	gcc $hooked -g -gsplit-dwarf -o app src/one.c src/other.c $found
	traced -q -- ./app
	has_lines app_all.json'

test_if 'command -v clang' 'no clang' 'clang -g: the same' '
	clang $hooked -g -o app src/one.c src/other.c $found
	traced -q -- ./app
	has_lines app_all.json'

test_expect 'a shared library: the same, and in a library without -g there are none' '
	gcc $hooked -g -shared -fPIC -o libother.so src/other.c
	gcc $hooked -g -o app src/one.c -L. -lother -Wl,-rpath,"$PWD" $found
	traced -q -- ./app
	has_lines app_all.json
	gcc $hooked -shared -fPIC -o libother.so src/other.c
	traced -q -- ./app
	is null:null "$(source_of app_all.json other)"
	is "$here/src/one.c:7" "$(source_of app_all.json main)"'

test_expect 'a separate debug file tells them' '
	gcc $hooked -g -o split src/one.c src/other.c $found
	objcopy --only-keep-debug split split.debug
	strip split
	objcopy --add-gnu-debuglink=split.debug split
	traced -q -- ./split
	has_lines split_all.json'

test_if 'echo "int main(void){return 0;}" >e.c && gcc -fopenmp e.c' 'no OpenMP' \
	'constructs of OpenMP: the file and the line that are in their names' '
	cat >src/omp.c <<-EOT
	int main(void) {
		int n = 0;
	#pragma omp parallel num_threads(2)
		n += n;
		return n;
	}
	EOT
	gcc $hooked -g -fopenmp -o omp src/omp.c $found
	traced -q --set sampling.active=true -- ./omp
	is "$here/src/omp.c:3" "$(source_of omp_all.json omp_parallel@omp.c:3)"
	"$VFTR" export -f speedscope -o omp.speedscope omp_*.vfd
	is "$here/src/omp.c 3" "$(json omp.speedscope ".shared.frames[] |
		select(.name == \"omp_parallel@omp.c:3\") | \"\(.file) \(.line)\"")"'

test_expect 'without debug information there are none, and nothing is said' '
	gcc $hooked -o app src/one.c src/other.c $found
	traced -q -- ./app >said 2>&1
	[ ! -s said ]
	has_none app_all.json
	gcc $hooked -g -o app src/one.c src/other.c $found
	objcopy --strip-debug app
	traced -q -- ./app
	has_none app_all.json'

test_expect 'noise in place of debug information: the calls are all there' '
	for section in .debug_line .debug_info .debug_abbrev; do
		gcc $hooked -g -o app src/one.c src/other.c $found
		objcopy --dump-section "$section=part" app
		head -c "$(wc -c <part)" /dev/urandom >noise
		objcopy --update-section "$section=noise" app
		traced -q -- ./app
		is 1 "$(calls_of app_all.json "inner<main<init")"
	done'

test_expect 'main of two programs has no line, the function of both has one' '
	gcc $hooked -g -o app src/one.c src/other.c $found
	sed "1i // another one" src/one.c >src/two.c
	gcc $hooked -g -o two src/two.c src/other.c $found
	traced -q -- sh -c "./app; ./two"
	is null:null "$(source_of app_all.json main)"
	is "$here/src/other.c:6" "$(source_of app_all.json other)"'

test_if 'command -v g++' 'no g++' 'C++: members, and templates for several types' '
	cat >src/cxx.cpp <<-EOT
	template <typename T> T add(T a, T b) {
		return a + b;
	}
	struct grid {
		int n;
		int step();
	};

	int grid::step() {
		return add(n, 1) + (int)add(1.0, 2.0);
	}

	int main() {
		return grid{-4}.step();
	}
	EOT
	g++ -g -finstrument-functions -o cxx src/cxx.cpp $found
	traced -q -- ./cxx
	is "$here/src/cxx.cpp:1 $here/src/cxx.cpp:1" "$(echo $(json cxx_all.json \
		".functions[] | select(.function | startswith(\"add\")) | \"\(.file):\(.line)\""))"
	is "$here/src/cxx.cpp:9" "$(source_of cxx_all.json grid::step)"'

test_if 'command -v gfortran' 'no gfortran' 'Fortran: subroutines of a module' '
	cat >src/solve.f90 <<-EOT
	module solver
	contains
	  subroutine solve(x)
	    real, intent(inout) :: x
	    x = x + 1
	  end subroutine
	end module

	program main
	  use solver
	  real :: x = 1
	  call solve(x)
	end program
	EOT
	gfortran -g -finstrument-functions -o fortran src/solve.f90 $found
	traced -q -- ./fortran
	json fortran_all.json ".functions[] | select(.file) | \"\(.linker_name // .function) \(.file):\(.line)\"" >got
	grep "solve" got | grep -q "$here/src/solve.f90:3$"'

test_expect 'a node profile has them, and so has what is made of it' '
	gcc $hooked -g -o app src/one.c src/other.c $found
	mkdir results
	traced -q -o results -- ./app
	"$VFTR" show --columns function,source results >table
	grep -q "^inner *one.c:3$" table
	"$VFTR" show --csv --columns function,source results >csv
	grep -qxF "\"other\",\"$here/src/other.c:6\"" csv
	is "$here/src/one.c:7" "$("$VFTR" show --json --columns function,source results |
		jq -r ".. | objects | select(.function? == \"main\").source")"
	mkdir again
	cp results/*.vfp again
	"$VFTR" collate again
	has_lines again/app_all.json
	"$VFTR" export --profile -f speedscope -o profile.speedscope results
	is "$here/src/other.c 6" "$(json profile.speedscope \
		".shared.frames[] | select(.name == \"other\") | \"\(.file) \(.line)\"")"'

test_if 'command -v sqlite3 || python3 -c "import sqlite3"' 'no sqlite3' 'the database has them as columns' '
	"$VFTR" export -f sqlite -o all.db results
	python3 - all.db >got <<-EOT
	import sqlite3, sys
	for row in sqlite3.connect(sys.argv[1]).execute("select function, file, line from functions"):
	    print(*row)
	EOT
	grep -qxF "inner $here/src/one.c 3" got'

test_expect 'a sampling file has them, and so have time lines for other viewers' '
	mkdir samples
	traced -q --set sampling.active=true --set "sampling.precise_functions=." -o samples -- ./app
	for format in speedscope chrome perfetto; do
		"$VFTR" export -f $format -o "time.$format" samples
	done
	is "$here/src/one.c 3" "$(json time.speedscope \
		".shared.frames[] | select(.name == \"inner\") | \"\(.file) \(.line)\"")"
	is "$here/src/other.c:6" "$(json time.chrome \
		".traceEvents[] | select(.ph == \"B\" and .name == \"other\").args.source")"
	grep -qaF "$here/src/one.c" time.perfetto'

test_if 'command -v otf2-print' 'no otf2-print' 'OTF2: source file and first line of a region' '
	"$VFTR" export -f otf2 -o archive samples
	otf2-print -G archive/traces.otf2 >regions
	grep "REGION .*\"inner\"" regions | grep -F "File: \"$here/src/one.c\"" | grep -q "Begin: 3,"'

done_testing
