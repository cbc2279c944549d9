#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='files: calls, bytes, sequential or not, of programs of which they are known'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$LIB/libvftrace.so" "$LIB/libvftrace-files.so"

$TEST_CC -O1 -g -Wall -o "$BIN/files" "$T/files/app-files.c" -pthread || { echo 'Bail out! app-files.c does not build'; exit 1; }
mkdir -p many

# files_of MODE: runs it
files_of() {
	mode=$1
	shift
	rm -f files_*
	traced -q --preload -k files.active=true "$@" -- "$BIN/files" "$mode"
}

# file NAME KEY=VALUE...: what the row of this file has
file() {
	row=$(jq -c --arg name "$1" '.posix_files[] | select(.name == $name or (.name | endswith("/" + $name)))' files_all.json)
	is 1 "$(printf '%s\n' "$row" | grep -c .)" "rows of $1"
	shift
	for pair; do
		is "${pair#*=}" "$(printf '%s\n' "$row" | jq -r ".${pair%%=*}")" "${pair%%=*}"
	done
}

# names: all files of the run, without their folder
names() {
	jq -r '[.posix_files[].name | sub(".*/"; "")] | sort | join(" ")' files_all.json
}

test_expect 'reads and writes by descriptors: calls, bytes, sizes, sequential or not' '
	files_of descriptors
	file plain ranks=1 opens=1 closes=1 reads=29 bytes_read=91970 sequential_reads=23 \
		writes=110 bytes_written=91920 sequential_writes=110 small_writes=100 small_reads=7 \
		read_min=0 read_max=4096 write_min=100 write_max=8192 seeks=1 syncs=1 others=1 failed=0
	file vectors writes=5 bytes_written=111 sequential_writes=2 closes=3
	file appended writes=7 bytes_written=77 sequential_writes=7
	file "(not opened)" opens=1 failed=1
	is "(not opened) appended plain vectors" "$(names)"
	is "[]" "$(jq -c .warnings files_all.json)"
'

test_expect 'the calls are frames of their functions, and reads and writes are at their call paths' '
	is 119 "$(calls_of files_all.json "write<init")"
	is 24 "$(calls_of files_all.json "read<init")"
	is 1 "$(calls_of files_all.json "fsync<init")"
	is "122 0 92108" "$(jq -r "[.io[] | select(.kind == \"write\")] |
		\"\(map(.operations) | add) \(map(.failed) | add) \(map(.bytes) | add)\"" files_all.json)"
	is 29 "$(jq "[.io[] | select(.kind == \"read\") | .operations] | add" files_all.json)"
	has files_all.log "Files of the program"
'

test_expect 'jumps are not sequential' '
	files_of jumps
	file jumps reads=50 sequential_reads=1 seeks=50 small=50 bytes_read=25600
'

test_expect 'a descriptor of a folder that closedir() has closed is forgotten' '
	files_of folders
	file many opens=1 reads=0
	file "(pipes)" reads=1 writes=1
'

test_expect 'copies from and to offsets of the caller move no descriptor' '
	files_of copies
	file copied reads=10 sequential_reads=6 failed=1 bytes_read=30672
	file copy writes=7 sequential_writes=4 failed=1 bytes_written=14298
'

test_expect 'streams: blocks are calls, characters and lines are bytes' '
	files_of streams
	file text opens=2 closes=2 writes=1 reads=1 bytes_written=6000 bytes_read=6001 \
		stream_bytes=10001 mean_bytes=1000 seeks=1 others=0
'

test_expect 'streams that append: what was there before, or is of another stream, is not theirs' '
	files_of appends
	file log opens=3 writes=3 bytes_written=10030 reads=1 bytes_read=6 stream_bytes=1
	file two writes=200 bytes_written=2000 stream_bytes=0
'

test_expect 'a stream on a descriptor that was there before begins where its first call began' '
	head -c 100000 /dev/zero | tr "\0" "\n" >in.txt
	printf "%01000d" 0 >out.txt
	# the shell has opened it, and the stream stands behind 1000 bytes
	exec 3<>out.txt
	cat <&3 >/dev/null
	files_of inherited <in.txt >&3
	exec 3>&-
	file in.txt reads=1 bytes_read=100000 stream_bytes=99900
	file out.txt writes=1 bytes_written=51 stream_bytes=41
'

test_expect 'pipes and sockets are no files; sendfile, mmap, temporary files, names' '
	files_of others
	file "(pipes)" reads=1 writes=1 bytes_read=3 bytes_written=3
	file "(sockets)" reads=1 writes=1 bytes_read=4 bytes_written=4
	file from reads=1 bytes_read=10000 maps=1 bytes_mapped=4096
	file to writes=1 bytes_written=10000
	file "(temporary files)" opens=1 writes=1 bytes_written=77
	file "(by name)" others=3
	is "(by name) (pipes) (sockets) (temporary files) from to" "$(names)"
'

test_expect 'threads: nothing is lost, with small rings, too' '
	files_of threads -k shm.ring_size=64KiB
	for i in 0 1 2 3; do
		file t$i opens=2 closes=2 writes=2000 bytes_written=128000 sequential_writes=2000
	done
	is 0 "$(json files_all.json .lost)"
'

test_expect 'a child of fork has the descriptors of its parent, and another process counts' '
	files_of forks
	file shared ranks=2 opens=1 writes=20 bytes_written=140
'

test_expect 'what a child of vfork does to its descriptors is not taken for the parent'\''s' '
	files_of vforks
	file mine writes=1 bytes_written=9 closes=0
	file its writes=1 bytes_written=8 closes=0
'

test_expect 'handlers that write, at any instruction' '
	files_of handlers >out
	read -r outer inner <out
	file outer writes=$outer bytes_written=$((16 * outer))
	written=$(jq ".posix_files[] | select(.name | endswith(\"/inner\")) | .bytes_written" files_all.json)
	# not those that interrupt the recording of another call
	[ "$written" -le "$inner" ]
	[ "$written" -ge $((inner / 4)) ]
	is "[]" "$(jq -c .warnings files_all.json)"
'

test_expect 'a process that is killed has left all its calls' '
	status_of 137 files_of killed
	file killed writes=1234 bytes_written=12340 closes=0
'

test_expect 'a program that closes all descriptors, ours too, and uses their numbers again' '
	files_of closes
	file before writes=1 bytes_written=5 closes=1
	is 11 "$(jq "[.posix_files[].bytes_written] | add" files_all.json)"
'

test_expect 'names beyond the first 4096 are one row' '
	files_of many
	file "(other files)" opens=904 closes=904
	is 4097 "$(jq ".posix_files | length" files_all.json)"
'

test_expect 'files that are excluded are not shown' '
	files_of descriptors -k "files.exclude=/(plain|vectors)$"
	is "(not opened) appended" "$(names)"
	is 119 "$(calls_of files_all.json "write<init")"
'

test_expect 'without the key nothing is preloaded, nor recorded' '
	rm -f files_*
	traced -q --preload -- sh -c "echo \$LD_PRELOAD" >out
	hasnt out libvftrace-files
	traced -q --preload -- env LD_PRELOAD="$LIB/libvftrace.so $LIB/libvftrace-files.so" "$BIN/files" descriptors
	is null "$(jq -c .posix_files files_all.json 2>/dev/null || echo null)"
'

test_expect 'the library alone, without libvftrace and without an agent, changes nothing' '
	env LD_PRELOAD="$LIB/libvftrace-files.so" "$BIN/files" streams >out
	is "1000 lines" "$(cat out)"
	ldd "$LIB/libvftrace-files.so" | grep -v -e linux-vdso -e libc -e ld-linux -e libdl -e libpthread >left || :
	[ ! -s left ]
'

done_testing
