#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
test_description='files of others, and large ones, cost bounded memory, time and files'
. "$(dirname "$0")/../lib/lib.sh"
need jq python3 otf2-print
need_built "$AGENT" "$VFTR" "$LIB/libvftrace.so"

# most_kib COMMAND ...: its peak of memory, in KiB, on the last line
most_kib() {
	python3 -c 'import resource, subprocess, sys
status = subprocess.call(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(status)' "$@"
}

cc_traced "$BIN/end" "$T/hook/app-end.c"

calls=$([ "${VFTR_LONG-}" ] && echo 8000000 || echo 1500000)
test_expect "OTF2: $calls calls of a thread are exported in 20 MiB" '
	traced -q -k sampling.active=true -k sampling.sample_interval=0 -- "$BIN/end" storm '$calls'
	kib=$(most_kib "$VFTR" export end_*.vfd -f otf2 -o o | tail -n 1)
	echo "$kib KiB"
	[ "$kib" -lt 20480 ]
	[ "$(du -sk o/traces | cut -f1)" -gt 4096 ]
	is "$(otf2-print o/traces.otf2 | grep -c ^ENTER)" "$("$VFTR" dump end_*.vfd | grep -c " call ")" calls
	rm -r o end_*'

test_expect 'OTF2: a process of rank 3 000 000 makes no file for each rank below' '
	OMPI_COMM_WORLD_RANK=3000000 OMPI_COMM_WORLD_SIZE=4000000 traced -q -k sampling.active=true -- "$BIN/end" storm 200
	limit "$VFTR" export *.vfd -f otf2 -o o
	[ "$(find o -type f | wc -l)" -lt 20 ]
	otf2-print o/traces.otf2 | grep -q ^ENTER
	rm -r o end_* *.log *.json *.vfp *.vfd 2>/dev/null || :'

for signal in TERM INT; do
	test_expect "OTF2: the first SIG$signal ends it among 100 000 empty places, and nothing is left" "
		OMPI_COMM_WORLD_RANK=99000 OMPI_COMM_WORLD_SIZE=99001 traced -q -k sampling.active=true -- \$BIN/end storm 200
		python3 -c 'import signal, os, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' $VFTR export \$(ls *.vfd) -f otf2 -o o &
		p=\$!
		wait_for 20 '[ \$(find . -path \"*o.tmp*\" -name \"*.evt\" | head -200 | wc -l) -ge 100 ]'
		kill -$signal \$p
		rc=0; wait \$p || rc=\$?
		[ \$rc -gt 128 ]
		is 0 \"\$(find . -name 'o*' | wc -l)\" left
		rm -f *.log *.json *.vfp *.vfd"
done

test_expect 'a symbol table that is a hole of 3 GB: no memory for it, the run is whole' '
	cat >holes.py <<"END"
import struct, sys
b = bytearray(open(sys.argv[1], "rb").read())
shoff, = struct.unpack_from("<Q", b, 40)
size, n = struct.unpack_from("<HH", b, 58)
for i in range(n):
    at = shoff + i * size
    if struct.unpack_from("<I", b, at + 4)[0] in (2, 3):  # symbols, strings
        struct.pack_into("<QQ", b, at + 24, len(b), 3 << 30)
open(sys.argv[2], "wb").write(b)
open(sys.argv[2], "ab").truncate(len(b) + (3 << 30))
END
	python3 holes.py "$BIN/end" holes
	chmod +x holes
	kib=$(most_kib "$AGENT" -q -- ./holes storm 200 | tail -n 1)
	echo "$kib KiB"
	[ "$kib" -lt 300000 ]
	jq -e ".calls > 200" holes_all.json
	for t in 2 3; do # the hole in one kind of section only
		sed "s/(2, 3)/($t,)/" holes.py >one.py
		python3 one.py "$BIN/end" holes
		kib=$(most_kib "$AGENT" -q -- ./holes storm 200 | tail -n 1)
		echo "$kib KiB, sections of kind $t"
		[ "$kib" -lt 300000 ]
		kib=$(most_kib "$VFTR" doctor holes | tail -n 1) || :
		[ "$kib" -lt 300000 ]
	done
	rm holes*'

test_expect 'a profile that is a hole is refused' '
	truncate -s 40G x_node.vfp
	status_of 2 "$VFTR" collate . 2>err || status_of 1 "$VFTR" collate . 2>err
	has err "too large"'

done_testing
