#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='vftr histogram, and the tools of Vftrace by their own names'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$VFTR"

cat >sizes.json <<'END'
{"format":"vftr-profile","version":1,"ranks":4,"stacks":[{"id":0,"path":"x"}],
"message_sizes":[{"from_bytes":0,"to_bytes":0,"sends":1,"recvs":2,"bytes_sent":0,"bytes_received":0},
{"from_bytes":8,"to_bytes":15,"sends":4000,"recvs":3000,"bytes_sent":40000,"bytes_received":30000},
{"from_bytes":1048576,"to_bytes":2097151,"sends":24000,"recvs":24000,"bytes_sent":25165824000,"bytes_received":25165824000}]}
END

test_expect 'each class is a row, with those between that did not occur' '
	"$VFTR" histogram sizes.json >text
	has text "Message sizes of sizes.json (4 ranks)"
	is "0 B 1 B 2 B 4 B 8 B 16 B 32 B 64 B 128 B 256 B 512 B 1 KiB 2 KiB 4 KiB 8 KiB 16 KiB 32 KiB 64 KiB 128 KiB 256 KiB 512 KiB 1 MiB" \
		"$(sed "1,2d" text | awk "{ printf \"%s%s %s\", (NR > 1 ? \" \" : \"\"), \$1, \$2 }")"
	is "8 B 4000 #### 3000 ###" "$(grep "^ *8 B" text | tr -s " " | sed "s/^ //")"
	is "1 MiB 24000 ######################## 24000 ########################" \
		"$(grep "1 MiB" text | tr -s " " | sed "s/^ //")"
	is "0 B 1 . 2 ." "$(grep "^ *0 B" text | tr -s " " | sed "s/^ //")" "little is not nothing"
	! grep -n ".\{81\}" text >&2 || exit 1
	! grep -n " \$" text >&2'

test_expect 'without MPI these are processes' '
	sed "s/\"ranks\":4/\"ranks\":1,\"processes\":1,\"unranked\":1/" sizes.json >alone.json
	"$VFTR" histogram alone.json >text
	has text "Message sizes of alone.json (1 process)"
	"$VFTR" diff alone.json sizes.json >text
	has text "1 process,"
	has text "4 ranks,"'

test_expect 'one direction only, and bytes instead of messages' '
	"$VFTR" histogram --send sizes.json >text
	hasnt text Receives
	is "8 B 4000 ####" "$(grep "^ *8 B" text | tr -s " " | sed "s/^ //")"
	"$VFTR" histogram -r -b sizes.json >text
	has text Received
	is "1 MiB 23.4 GiB ########################" "$(grep "1 MiB" text | tr -s " " | sed "s/^ //")"'

test_expect 'several files follow each other' '
	"$VFTR" histogram sizes.json sizes.json >text
	is 2 "$(grep -c "^Message sizes of" text)"'

test_expect 'the picture is well-formed and has a bar for each number' '
	cp sizes.json "a<b>&\"c.json"
	"$VFTR" histogram --svg picture.svg sizes.json "a<b>&\"c.json" >out
	[ ! -s out ]
	python3 -c "
import sys, xml.dom.minidom
d = xml.dom.minidom.parse(\"picture.svg\")
bars = [r for r in d.getElementsByTagName(\"rect\") if r.getElementsByTagName(\"title\")]
assert len(bars) == 12, len(bars)
assert bars[0].getElementsByTagName(\"title\")[0].firstChild.data == \"1 send\"
for b in bars:
	assert float(b.getAttribute(\"height\")) >= 0 and float(b.getAttribute(\"y\")) > 0
texts = [t.firstChild.data for t in d.getElementsByTagName(\"text\")]
assert \"a<b>&\\\"c.json\" in texts and \"1 MiB\" in texts, texts
"
	"$VFTR" histogram --svg - sizes.json | cmp -s - picture.svg && exit 1
	"$VFTR" histogram --svg - sizes.json | grep -q "</svg>"'

test_expect 'a job without messages says so' '
	echo "{\"ranks\":1,\"message_sizes\":[]}" >none.json
	"$VFTR" histogram none.json >text
	has text "no messages"
	"$VFTR" histogram --svg - none.json | grep -q "no messages"'

test_expect 'the sizes of an MPI program are those that it sends' '
	mpi=$(mpi_list | head -n 1)
	[ -n "$mpi" ] || { echo "no MPI"; exit 1; }
	mpicc_traced "$mpi" "$BIN/heat" "$T/demo/heat.c"
	traced -q -- $(mpirun_of "$mpi") -np 2 "$BIN/heat" 64 64 10 >out
	"$VFTR" histogram heat_all.json >text
	"$VFTR" histogram heat_*.vfp >nodes
	sed 1d text >one
	sed 1d nodes | diff one -
	sum=$(jq "[.message_sizes[].sends] | add" heat_all.json)
	is "$sum" "$(sed 1,2d text | awk "{ n += \$3 } END { print n }")"
	[ "$sum" -ge 20 ]'

test_expect 'what has no sizes is refused, the other files are shown' '
	echo "{\"stacks\":[]}" >no.json
	echo "{\"message_sizes\":[{\"from_bytes\":3,\"sends\":1}]}" >odd.json
	head -c 200 sizes.json >cut.json
	echo text >text.log
	mkdir empty
	for f in absent no.json odd.json cut.json text.log empty; do
		status_of 2 "$VFTR" histogram "$f" sizes.json >text 2>err || { echo "$f"; exit 1; }
		is 1 "$(wc -l <err)" "$f"
		has err "$f: "
		has text "Message sizes of sizes.json"
	done
	status_of 2 "$VFTR" histogram text.log 2>err
	has err "text.log: it is no profile of vftr"
	status_of 2 "$VFTR" histogram 2>err
	status_of 1 "$VFTR" histogram --svg nowhere/picture.svg sizes.json 2>err
	has err "nowhere/picture.svg: "'

test_expect 'a device is written as it is, and not replaced by a file' '
	mknod full c 1 7 || { echo "no devices here: the other half is tested"; : >no-device; }
	"$VFTR" histogram --svg /proc/self/fd/1 sizes.json | grep -q "<svg"
	[ -e no-device ] || status_of 1 "$VFTR" histogram --svg full sizes.json
	[ -e no-device ] || [ -c full ]'

# ---- the tools of Vftrace ---------------------------------------------------------

for link in vfd_dump diff_profiles check_config generate_default_config; do
	ln -s "$VFTR" "vftrace_$link"
done

test_expect 'vftrace_generate_default_config takes no argument; its text passes the check' '
	./vftrace_generate_default_config >default.json
	jq -e ".profile_table.show_table" default.json
	./vftrace_check_config default.json >out 2>err
	is "Checking of config file default.json is complete" "$(cat out)"
	[ ! -s err ]
	status_of 1 ./vftrace_generate_default_config more 2>err
	grep -qi usage err'

test_expect 'vftrace_check_config without a file shows its usage, with status 1' '
	status_of 1 ./vftrace_check_config 2>err
	grep -qi usage err
	echo "{\"mpi\": {\"show_tabel\": true}}" >typo.json
	status_of 0 ./vftrace_check_config typo.json >out 2>err
	has err "show_table"
	echo "{" >bad.json
	refuse ./vftrace_check_config bad.json >out 2>err'

test_expect 'vftrace_vfd_dump has the options that it had' '
	cc_traced "$BIN/end" "$T/hook/app-end.c"
	status_of 3 traced -q -k sampling.active=true -k sampling.sample_interval=0 -- "$BIN/end" exit3
	vfd=$(echo end_*.vfd)
	./vftrace_vfd_dump "$vfd" >whole
	grep -q "^ *[0-9.]* call .*work<outer<main<init" whole
	grep -q "^Stacks list:" whole
	./vftrace_vfd_dump --only_header "$vfd" >head
	has head "Sample interval:"
	! grep -E "^(Stacks list|Stack and message samples|Threadtree):" head >&2 || exit 1
	./vftrace_vfd_dump --skip_samples "$vfd" >stacks
	has stacks "Stacks list:"
	hasnt stacks "Stack and message samples:"
	./vftrace_vfd_dump --show_threadtree "$vfd" | grep -q "^Threadtree:"
	./vftrace_vfd_dump --output=file "$vfd" >out
	[ ! -s out ]
	cmp file whole
	./vftrace_vfd_dump --output=stderr "$vfd" 2>err >out
	cmp err whole
	[ ! -s out ]
	./vftrace_vfd_dump --output=stdout "$vfd" | cmp - whole
	./vftrace_vfd_dump "-?" | grep -q only_header
	./vftrace_vfd_dump --help | grep -q only_header
	./vftrace_vfd_dump --usage | grep -q skip_samples
	./vftrace_vfd_dump -V | grep -q "[0-9]\.[0-9]"
	refuse ./vftrace_vfd_dump 2>err
	refuse ./vftrace_vfd_dump absent.vfd 2>err
	refuse ./vftrace_vfd_dump --output=nowhere/x "$vfd" 2>err'

done_testing
