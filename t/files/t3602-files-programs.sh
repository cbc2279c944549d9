#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='files: programs as they come give the same results; other languages, MPI'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$LIB/libvftrace.so" "$LIB/libvftrace-files.so"

with_files() {
	rm -rf prof
	mkdir prof
	traced -q --preload -k files.active=true -k output_directory=prof -- "$@"
}

# bytes FILE KEY: of a file of the last run
bytes() {
	jq -r --arg n "$1" --arg k "$2" '[.posix_files[] | select(.name == $n or (.name | endswith("/" + $n))) | .[$k]] | add' prof/*_all.json
}

# same COMMAND: untraced and traced; output, errors, status and what is in out/ are the same
same() {
	rm -rf out
	mkdir out
	s1=0
	limit sh -c "$1" >plain.out 2>plain.err || s1=$?
	rm -rf out.plain
	mv out out.plain
	mkdir out
	s2=0
	with_files sh -c "$1" >traced.out 2>traced.err || s2=$?
	is "$s1" "$s2" status
	cmp plain.out traced.out
	cmp plain.err traced.err
	diff -r out.plain out
	[ -z "$2" ] || [ "$(jq "[.posix_files[].$2] | add" prof/*_all.json)" -gt 0 ]
}

mkdir in
seq 1 100000 | sed 's/$/ some text/' >in/lines
head -c 3000000 /dev/zero | tr '\0' 'x' >in/block
cp "$T/files/app-files.c" in/program.c

test_expect 'dd: each block is a call' '
	same "dd if=in/block of=out/copy bs=1000 2>/dev/null" bytes_written
	is "3001 3000000 3000 3000000" "$(bytes in/block reads) $(bytes in/block bytes_read) \
$(bytes out/copy writes) $(bytes out/copy bytes_written)"
'
test_expect 'cp, cat, sort, tar: same results' '
	same "cp -a in out/in && cat in/lines in/block | tail -n 3" reads
	same "sort -k1,1 --parallel=2 -S 1M -T out in/lines >out/sorted" writes
	same "tar cf out/x.tar --mtime=@0 in && tar tf out/x.tar && tar xf out/x.tar -C out" bytes_written
'
test_expect 'a compiler and what it starts: same output' '
	same "${TEST_CC:-cc} -S -o out/x.s in/program.c" bytes_written
'
test_expect 'commands that fail fail likewise' '
	same "cat in/no-such-file; exit 7"
	same "cat in/lines >&-"
	same "cat in/lines | head -n 1"
	status_of 143 with_files sh -c "kill -TERM \$\$"
	same "exec 9<in/lines; read -r x <&9; echo \$x; cat <&9 | tail -n 1" reads
'
test_if 'command -v sqlite3' 'no sqlite3' 'sqlite3' '
	same "sqlite3 out/db \"create table t(a); insert into t values(1),(2); select sum(a) from t;\"" writes
'
test_if 'command -v python3' 'no python3' 'Python: text files, with no word about it' '
	cat >in/x.py <<-"END"
	import os, subprocess, tempfile
	with open("out/py", "w") as f:
	    for i in range(1000):
	        print("line of sixteen", file=f)
	print(len(open("out/py").read()))
	with tempfile.TemporaryFile() as t:
	    t.write(b"x" * 100)
	print(subprocess.run(["cat", "out/py"], capture_output=True).stdout[:15])
	END
	same "python3 in/x.py" writes
	is 16000 "$(bytes out/py bytes_written)"
	[ "$(bytes out/py bytes_read)" -ge 16000 ]
'
test_if 'command -v "$TEST_CXX"' 'no C++ compiler' 'C++ streams: bytes, by the calls of their library' '
	$TEST_CXX -O1 -o "$BIN/iostream" "$T/files/app-iostream.cpp"
	with_files "$BIN/iostream" >out.txt
	is 1000 "$(cat out.txt)"
	is "16000 16000 2" "$(bytes cxx bytes_read) $(bytes cxx bytes_written) $(bytes cxx opens)"
'
test_if 'command -v gfortran' 'no gfortran' 'Fortran: bytes, by the calls of its library' '
	gfortran -O1 -o "$BIN/fortran" "$T/files/app-fortran.f90"
	with_files "$BIN/fortran" >out.txt
	is "line of sixteen" "$(cat out.txt)"
	is "16000 16000" "$(bytes formatted bytes_read) $(bytes formatted bytes_written)"
	is 8000 "$(bytes direct bytes_written)"
'

for mpi in $(mpi_list_short); do
	test_expect "$mpi: a file that ranks share, written by MPI: calls of both, one below the other" "
		rm -rf together prof && mkdir prof
		mpicc.$mpi -O1 -o \"\$BIN/mpi-io-$mpi\" \"\$T/files/app-mpi-io.c\"
		traced -q --preload -k files.active=true -k output_directory=prof -- \
			$(mpirun_of "$mpi") -np 3 \"\$BIN/mpi-io-$mpi\" >out.txt 2>err.txt
		hasnt out.txt 'something else'
		is 31457280 \"\$(stat -c %s together)\"
		is '3 31457280 31457280' \"\$(bytes together ranks) \$(bytes together bytes_written) \$(bytes together bytes_read)\"
		is 31457280 \"\$(jq '[.io[] | select(.kind == \"write\" and (.path | test(\"<MPI_File_write_at<\"))) | .bytes] | add' prof/*_all.json)\"
		is 31457280 \"\$(jq '[.io[] | select(.kind == \"read\" and (.path | test(\"<MPI_File_read_at<\"))) | .bytes] | add' prof/*_all.json)\"
	"
done

done_testing
