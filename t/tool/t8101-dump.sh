#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='vftr dump prints sampling files, whole and damaged'
. "$(dirname "$0")/../lib/lib.sh"

make_file() {
	"$BUILD/t/unit/trace/u-vfd" --make "$1"
}

test_expect 'a whole file: status 0, header, threads, stacks and samples of each process' '
	make_file a.vfd
	"$VFTR" dump a.vfd >out
	grep -qx "Version ID:      vftr .*" out
	grep -qx "Host:            nodeA" out
	grep -qx "Processes:       3, ranks: 2 of 2" out
	grep -qx "Threads:         5" out
	grep -qx "Sample interval: 5.000000e-03 seconds" out
	grep -qx "Complete:        yes" out
	[ "$(grep -c "^Process: " out)" = 3 ]
	[ "$(grep -c "^Threadtree:" out)" = 3 ]
	[ "$(grep -c "^   0: init" out)" = 3 ]
	! grep -qF ": (lost)<init" out || exit 1
	grep -qx "0<1 worker (OpenMP level 1, thread 1)" out'

test_expect 'lines of calls and messages as Vftrace prints them' '
	make_file a.vfd
	"$VFTR" dump -r 1 a.vfd >out
	[ "$(grep -c "^Process: " out)" = 1 ]
	grep -qE "^ +[0-9]+\.[0-9]{6} (call|exit) ([^ ].*<)?main<init" out
	grep -qE "^ +[0-9]+\.[0-9]{6} call MPI_(Send|Recv)\*<" out
	sed -n "/ send in stackID/,+2p" out | head -n 3 >message
	sed -n 1p message | grep -qxE " +[0-9]+\.[0-9]{6} send in stackID [0-9]+ from threadID [01]"
	sed -n 2p message | grep -qE "^ {17}count=[0-9]+ type=MPI_DOUBLE\(8Bytes\) rate= +[0-9]+\.[0-9]{4} MiB/s peer=0 tag=[0-9]+ "
	sed -n 3p message | grep -qxE " +[0-9]+\.[0-9]{6} send end"
	grep -q " match=exact sent=[0-9]* sender=1$" out
	[ "$(grep " in stackID" out | head -n 1 | cut -c1-16 | tr -d " " | cut -d. -f2 | wc -c)" = 7 ]'

test_expect 'the stacks of the messages stand in the list' '
	make_file a.vfd
	"$VFTR" dump -r 0 a.vfd >out
	for n in $(sed -n "s/.* in stackID \([0-9]*\) .*/\1/p" out | sort -u); do
		grep -q "^   $n: .*init$" out || exit 1
	done'

test_expect '--peers leaves messages between two ranks as they are' '
	make_file a.vfd
	"$VFTR" dump a.vfd >out
	"$VFTR" dump --peers a.vfd | diff out -
	"$VFTR" dump -j a.vfd >out
	"$VFTR" dump -jp a.vfd | diff out -'

test_expect 'json holds the same, and is json' '
	make_file a.vfd
	"$VFTR" dump --json a.vfd >a.json
	[ "$(jq -r .format a.json)" = vftr-sampling ]
	"$VFTR" dump a.vfd >out
	[ "$(jq "[.events[] | select(.event == \"call\")] | length" a.json)" = "$(grep -c "^ *[0-9.]* call " out)" ]
	[ "$(jq "[.events[] | select(.event == \"message\")] | length" a.json)" = "$(grep -c " in stackID " out)" ]
	[ "$(jq "[.communicators[].number] as \$c | [.events[] | select(.event == \"message\")] | length > 0 and
		all(.communicator as \$n | \$c | index(\$n))" a.json)" = true ]
	[ "$(jq "[.events[].t_ns] as \$t | \$t == (\$t | sort)" a.json)" = true ]'

test_expect '--from and --to cut a part out, --header leaves all events out' '
	make_file a.vfd
	"$VFTR" dump --from 1ms --to 2000us a.vfd >units
	"$VFTR" dump --from 0.001 --to 0.002 a.vfd | diff - units
	"$VFTR" dump --from 0.001 --to 0.002 a.vfd | grep -E "^ +[0-9.]+ (call|exit) " | cut -c1-16 >times
	[ -s times ]
	[ -z "$(awk "\$1 < 0.001 || \$1 > 0.002" times)" ]
	"$VFTR" dump --header a.vfd >out
	! grep -q " call " out'

test_expect 'a damaged file is printed around the damage, with status 1 and a sentence' '
	make_file a.vfd
	size=$(stat -c %s a.vfd)
	printf "XXXXXXXX" | dd of=a.vfd bs=1 seek=$((size / 2)) conv=notrunc 2>dd.log
	rc=0
	"$VFTR" dump a.vfd >out 2>err || rc=$?
	[ $rc = 1 ]
	grep -q "a.vfd: bytes [0-9]* to [0-9]* are left out: " err
	grep -q "^Damage:          bytes [0-9]* to [0-9]*: " out
	grep -qx "Complete:        no, it is damaged" out
	grep -q " call " out'

test_expect 'a file that is cut short is printed up to there' '
	make_file a.vfd
	size=$(stat -c %s a.vfd)
	for part in 3 2; do
		head -c $((size / part)) a.vfd >cut.vfd
		rc=0
		"$VFTR" dump cut.vfd >out.$part 2>err || rc=$?
		[ $rc = 1 ]
		grep -q "has no end: cut short, or still being written" err
	done
	[ $(wc -l <out.2) -ge $(wc -l <out.3) ]'

test_expect 'after kill -9 of its writer everything up to there is readable' '
	for i in 1 2 3 4 5; do
		rm -f k.vfd
		"$BUILD/t/unit/trace/u-vfd" --endless k.vfd &
		wait_for 20 "[ \$(stat -c %s k.vfd) -gt 20000 ]"
		sleep 0.$i
		kill -9 $!
		wait $! || :
		rc=0
		"$VFTR" dump --header k.vfd >out 2>err || rc=$?
		[ $rc = 1 ]
		! grep -q checksum err || exit 1
		[ $(sed -n "s/^   Function: *//p" out) -gt 10 ]
		grep -qx "Processes:       3, ranks: 2 of 2" out
	done'

test_expect 'what is no sampling file gives one sentence and status 2' '
	for what in /dev/null . nothing; do
		rc=0
		"$VFTR" dump $what >out 2>err || rc=$?
		[ $rc = 2 ]
		[ $(wc -l <err) = 1 ]
		[ ! -s out ]
	done
	echo "no such thing, but long enough for a header" >x
	rc=0
	"$VFTR" dump x 2>err || rc=$?
	[ $rc = 2 ]
	grep -q "x: not a sampling file of vftr" err
	make_file a.vfd
	for bad in "--ranks x a.vfd" "--ranks 3-1 a.vfd" "-r 77 a.vfd" "--from soon a.vfd" \
		"-f 2 -t 1 a.vfd" "--nothing a.vfd" "" "a b"; do
		rc=0
		"$VFTR" dump $bad >out 2>err || rc=$?
		[ $rc = 2 ]
		[ $(wc -l <err) = 1 ]
		[ ! -s out ]
	done'

test_expect 'a full disk is not silent' '
	make_file a.vfd
	rc=0
	"$VFTR" dump a.vfd >/dev/full 2>err || rc=$?
	[ $rc = 1 ]'

test_expect 'the datatypes are those of mpi/generate/types.tab' '
	sed -n "s/^\(MPI_[A-Z0-9_]*\) .*/\1/p" $TOP/mpi/generate/types.tab >tab
	sed -n "s/^TYPE(\"\(MPI_[A-Z0-9_]*\)\", .*/\1/p" "$BUILD/gen/mpi_type_name.h" >c
	[ -s tab ]
	diff tab c'

done_testing
