#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# How `make check' runs the files of tests: lib/run-test and lib/run-tests; and lib/cached.
test_description='files of tests run side by side, and what they print is told'
. "$(dirname "$0")/../lib/lib.sh"
need prove

# a file of one row
file() { # NAME CODE
	printf '#!/bin/sh\n%s\necho "ok 1 - %s"\necho 1..1\n' "$2" "$1" >"$1"
	chmod +x "$1"
}

# run FILE...: two at a time, and once more what fails
run() {
	TEST_SKIPS=$PWD/skips TEST_FAILURES=$PWD/failures limit sh "$T/lib/run-tests" \
		"prove -e 'sh $T/lib/run-test'" -j2 "$@" >out 2>err
}

test_expect 'a file that prints on stderr and goes on keeps no other from its start' '
	mkfifo third.runs
	file first "echo on stderr >&2; timeout 60 cat third.runs || exit"
	file second ""
	file third "timeout 60 sh -c \": >third.runs\""
	run ./first ./second ./third
	has out "All tests successful"
	has err "on stderr"'

test_expect 'a row that fails the first time only is told, and the files pass' '
	file once "[ -e tried ] || { : >tried; echo \"not ok 1 - once\"; echo 1..1; exit 1; }"
	run ./once ./second
	has out "1 failed beside other tests, as said above"
	has out "0 failed a second time, as said above"'

test_expect 'files that want to be alone run before the others, and once more where they fail' '
	file lonely "[ ! -e others ] && [ -e seen ] || { : >seen; echo \"not ok 1 - lonely\"; echo 1..1; exit 1; }"
	file other ": >others"
	TEST_ALONE=./lonely run ./other && exit 1 # the second time the other one has been
	has out "lonely: lonely"
	rm others
	TEST_ALONE=./lonely run ./second
	has out "0 failed, as said above"
	grep -q "^./lonely" out'

test_expect 'what fails twice, gives up or ends early has failed, with its reason' '
	file gives-up "echo \"Bail out! no compiler\"; exit 1"
	file ends "exit 3"
	status=0
	run ./gives-up ./second ./ends || status=$?
	[ "$status" != 0 ]
	has out "gives-up: gave up: no compiler"
	has out "ends: ended with status 3 before its end"
	has out "2 failed a second time, as said above"'

# compiled OPTION...: a.c, of an own tree of tests; how many programs are kept
compiled() {
	rm -f a
	(export T="$PWD/tree" BUILD="$PWD/build"; "$TOP/t/lib/cached" gcc "$@" -o a) || return
	ls build/t/compiled | grep -vc "[.]files$"
}

test_expect 'a program is compiled once, and anew when its source, a header, a library or the command has changed' '
	mkdir -p tree build
	echo "#include \"a.h\"
int main(void) { return VALUE; }" >tree/a.c
	echo "#define VALUE 3" >tree/a.h
	is 1 "$(compiled "$PWD/tree/a.c")"
	status_of 3 ./a
	is 1 "$(compiled "$PWD/tree/a.c")"
	status_of 3 ./a
	# what is kept is what comes
	cp /bin/true "$(ls build/t/compiled/* | grep -v "[.]files$")"
	is 1 "$(compiled "$PWD/tree/a.c")"
	./a
	echo "#define VALUE 4" >tree/a.h
	is 2 "$(compiled "$PWD/tree/a.c")"
	status_of 4 ./a
	is 3 "$(compiled -DOTHER "$PWD/tree/a.c")"
	echo "int main(void) { return 5; }" >tree/a.c
	is 4 "$(compiled "$PWD/tree/a.c")"
	status_of 5 ./a
	echo "int other;" | gcc -x c -c -o other.o - && ar rc libother.a other.o
	is 5 "$(compiled "$PWD/tree/a.c" "$PWD/libother.a")"
	touch -d yesterday libother.a
	is 6 "$(compiled "$PWD/tree/a.c" "$PWD/libother.a")"'

test_expect 'one that does not compile, warns or is of another tree is not kept' '
	echo "int main(void) { int unused; return 6; }" >tree/a.c
	is 6 "$(compiled -Wall "$PWD/tree/a.c" 2>warnings)"
	has warnings unused
	status_of 6 ./a
	cp tree/a.c elsewhere.c
	is 6 "$(compiled "$PWD/elsewhere.c")"
	is 6 "$(compiled elsewhere.c)"
	status_of 6 ./a
	echo "int main(void) {" >tree/a.c
	refuse compiled "$PWD/tree/a.c"
	[ ! -e a ]
	is "" "$(ls -A build/t/compiled | grep "^[.]")"'

# cached COMPILER: a.c, of the own tree
cached() {
	T=$PWD/tree BUILD=$PWD/build "$TOP/t/lib/cached" "$1" "$PWD/tree/a.c" -o a
}

# gcc/gcc: gcc, with options in a file, and with commands in a file before and after
write_gcc() {
	mkdir -p gcc
	: >gcc/before
	: >gcc/after
	: >gcc/option
	echo "one compiler" >gcc/cc1
	cat >gcc/gcc <<-END
		#!/bin/sh
		[ "\$1" != -print-prog-name=cc1 ] || { echo "$PWD/gcc/cc1"; exit; }
		. "$PWD/gcc/before"
		gcc \$(cat "$PWD/gcc/option") "\$@" || exit
		. "$PWD/gcc/after"
	END
	chmod +x gcc/gcc
}

# kept: how many programs and objects are
kept() {
	ls build/t/compiled | grep -vc "[.]files$"
}

test_expect 'an object is kept, of one source; of two none is' '
	rm -rf build a && mkdir build
	echo "int main(void) { return 7; }" >tree/a.c
	echo "int other;" >tree/b.c
	is 1 "$(compiled -c "$PWD/tree/a.c")"
	gcc a -o linked -x none
	status_of 7 ./linked
	is 1 "$(compiled -c "$PWD/tree/a.c")"
	refuse compiled -c "$PWD/tree/a.c" "$PWD/tree/b.c" 2>said
	is 1 "$(kept)"
	rm tree/b.c'

test_if 'command -v clang' 'no clang' 'what clang compiles is kept, and anew when a header has changed' '
	rm -rf build && mkdir build
	echo "#include \"a.h\"
int main(void) { return VALUE; }" >tree/a.c
	for value in 3 3 4; do
		echo "#define VALUE $value" >tree/a.h
		cached clang
		status_of $value ./a
	done
	is 2 "$(kept)"'

test_if 'command -v gfortran' 'no gfortran' 'Fortran is kept, but for what includes files' '
	rm -rf build && mkdir build
	for value in 3 3 4; do
		echo "call exit($value)
end" >tree/a.f90
		T=$PWD/tree BUILD=$PWD/build "$TOP/t/lib/cached" gfortran "$PWD/tree/a.f90" -o a
		status_of $value ./a
	done
	is 2 "$(kept)"
	echo "call exit(5)" >tree/a.inc
	printf "  INCLUDE \"%s\"\nend\n" "$PWD/tree/a.inc" >tree/a.f90
	T=$PWD/tree BUILD=$PWD/build "$TOP/t/lib/cached" gfortran "$PWD/tree/a.f90" -o a
	status_of 5 ./a
	is 2 "$(kept)"'

test_expect 'text that moves from a header to the next is noticed' '
	echo "#include \"a.h\"
#include \"b.h\"
int main(void) { return line(); }" >tree/a.c
	echo >tree/a.h
	echo "static int line(void) { return __LINE__; }" >tree/b.h
	cached gcc
	status_of 1 ./a
	cat tree/a.h tree/b.h >both
	mv both tree/b.h
	: >tree/a.h
	cached gcc
	status_of 2 ./a'

test_expect 'what is changed while it is compiled is not kept' '
	write_gcc
	echo "int main(void) { return 3; }" >tree/a.c
	echo "echo \"int main(void) { return 7; }\" >$PWD/tree/a.c" >gcc/after
	cached gcc/gcc
	status_of 3 ./a
	cached gcc/gcc
	status_of 7 ./a'

test_expect 'another compiler behind the command is noticed' '
	write_gcc
	echo "int main(void) { return VALUE; }" >tree/a.c
	echo -DVALUE=3 >gcc/option
	cached gcc/gcc
	status_of 3 ./a
	echo -DVALUE=4 >gcc/option
	echo "another compiler" >gcc/cc1
	cached gcc/gcc
	status_of 4 ./a'

test_expect 'on a full disk programs are compiled, and none is kept by half of what it has read' '
	echo "int main(void) { return 8; }" >tree/a.c
	mkdir -p short
	printf "#!/bin/sh\nexit 2\n" >short/sort
	chmod +x short/sort
	(PATH=$PWD/short:$PATH; cached gcc)
	status_of 8 ./a
	echo "int main(void) { return 9; }" >tree/a.c
	cached gcc
	status_of 9 ./a
	# the compiler cannot write what it has read
	rm -rf a build
	write_gcc
	echo "[ ! \"\$DEPENDENCIES_OUTPUT\" ] || exit 1" >gcc/before
	cached gcc/gcc
	status_of 9 ./a
	is "" "$(ls -A build/t/compiled)"
	# there is no folder
	rm -rf a build
	: >build
	cached gcc 2>said
	[ ! -s said ]
	status_of 9 ./a'

done_testing
