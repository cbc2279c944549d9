#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
test_description='output files are new ones: no planted link is followed, two runs do not mix'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$VFTR" "$LIB/libvftrace.so"

cc_traced "$BIN/end" "$T/hook/app-end.c"
traced -q -o . -k sampling.active=true -k sampling.sample_interval=0 -- "$BIN/end" storm 20000 || exit 1
mkdir truth && mv end_* truth
outputs=$(cd truth && ls)

# plant DIR NAME...: links of these names to a file that must stay as it is
plant() {
	local dir=$1 name
	shift
	rm -rf "$dir" && mkdir "$dir"
	echo "nobody writes this" >secret
	chmod 600 secret
	for name; do ln -s ../secret "$dir/$name"; done
}

# unharmed DIR NAME...: the secret is, and the outputs are files of their own
unharmed() {
	local dir=$1 name
	shift
	is "nobody writes this" "$(cat secret)"
	for name; do
		[ -f "$dir/$name" ] && [ ! -L "$dir/$name" ] && [ -s "$dir/$name" ] ||
			{ echo "$dir/$name is no file of its own"; return 1; }
	done
}

test_expect 'a run: logs, JSON, profile and sampling file' '
	plant out $outputs
	traced -q -o out -k sampling.active=true -k sampling.sample_interval=0 -- "$BIN/end" storm 20000
	unharmed out $outputs
	"$VFTR" dump -H out/end_*.vfd | grep -qx "Complete:        yes"'

test_expect 'a run: the log of each rank, tables of their own, other names by outfile_basename' '
	plant out x_0.log x_all.log x_all.json
	traced -q -o out -k outfile_basename=x -k logfile_for_ranks=all -k profile_table.separate=true -- "$BIN/end" storm 2000
	unharmed out x_all.log x_all.json'

test_expect 'temporary names cannot be planted: those of old cannot be met, new ones are drawn' '
	plant out
	limit bash -c "for n in \$@; do for p in {0..9}; do ln -s ../secret out/\$n.tmp.\$((\$\$ + p)); done; done
		exec \"$AGENT\" -q -o out -k sampling.active=true -- \"$BIN/end\" storm 20000" bash $outputs
	unharmed out $outputs
	is 0 "$(find out -name "*.tmp.vftr-*" | wc -l)" "left"'

test_expect 'a profile that is written every while' '
	plant out $outputs
	traced -q -o out -k agent.write_every_s=0.1 -- "$BIN/end" storm 2000000
	unharmed out end_all.log end_all.json'

test_expect 'vftr collate' '
	plant out end_all.log end_all.json
	cp truth/*.vfp out
	"$VFTR" collate out
	unharmed out end_all.log end_all.json'

test_expect 'vftr collate: a FIFO among the profiles is named, and nobody waits for it' '
	plant out
	cp truth/*.vfp out
	mkfifo out/end_zzz.vfp
	timeout $(patient 20) "$VFTR" collate out >collated 2>&1 || [ $? = 1 ]
	grep -q "end_zzz.vfp: not a regular file" collated
	unharmed out end_all.log end_all.json'

test_expect 'vftr export, each format that is a file, and what Paraver has beside it' '
	for f in perfetto chrome folded speedscope paraver; do
		to=x.$f
		[ $f != paraver ] || to=x.prv
		plant out $to x.pcf x.row
		"$VFTR" export truth -f $f -o out/$to
		unharmed out $to
		[ $f != paraver ] || unharmed out x.pcf x.row
	done'

test_expect 'vftr export, folders: a link in the place of one is no folder' '
	for f in otf2 vfd3; do
		rm -rf out elsewhere; mkdir out elsewhere
		ln -s ../elsewhere out/x
		status_of 2 "$VFTR" export truth -f $f -o out/x 2>err
		is 0 "$(ls elsewhere | wc -l)"
		is 1 "$(ls out | wc -l)" "nothing half-made is left"
		"$VFTR" export truth -f $f -o out/y
		[ -d out/y ]
		[ ! -L out/y ]
		is "$(stat -c %a elsewhere)" "$(stat -c %a out/y)" mode
	done'

test_expect 'what vftrace_vfd_dump prints' '
	plant out d.txt
	ln -sf "$VFTR" vftrace_vfd_dump
	./vftrace_vfd_dump --output=out/d.txt truth/end_*.vfd
	unharmed out d.txt'

test_expect 'a FIFO or device in the place of the sampling file is refused, the run goes on' '
	plant out
	mkfifo out/$(basename truth/*.vfd)
	traced -o out -k sampling.active=true -- "$BIN/end" storm 2000 2>err
	has err "not a regular file"
	unharmed out end_all.log
	[ -p out/$(basename truth/*.vfd) ]'

# two at once in one folder: all are whole, and there
two_at_once() {
	rm -rf out second && mkdir out
	# the first has not ended when the second does
	traced -q -o out -k sampling.active=true -k sampling.sample_interval=0 -- \
		sh -c "\"$BIN/end\" storm 1500000; until [ -e second ]; do sleep 0.05; done" 2>err1 &
	wait_for 10 '[ -s out/end_*.vfd ]'
	traced -q -o out -k sampling.active=true -k sampling.sample_interval=0 -- "$BIN/end" storm 300000 2>err2
	touch second
	wait $!
	"$VFTR" dump -H out/end_*.vfd >header
	grep -qx "Complete:        yes" header
	hasnt header amage
	is 1 "$(grep -c "^Process:" <("$VFTR" dump out/end_*.vfd | grep "^Process:"))" processes
	jq -e ".calls > 0" out/end_all.json >/dev/null
	hasnt err1 "another run"
	hasnt err2 "another run"
	# the first has ended last; what the other has left is complete, too
	old=$(echo out/end_*.vfd.old*)
	n=${old##*.old}
	for f in out/end_*.vfd.old$n out/end_all.json.old$n out/end_*.vfp.old$n; do
		[ -s "$f" ] || { ls out; echo "no $f"; false; }
	done
	cp "$old" old.vfd
	"$VFTR" dump -H old.vfd | grep -qx "Complete:        yes"
	is "$(jq -r .run out/end_all.json.old$n)" "$("$VFTR" dump -j old.vfd | jq -r .run)" "run of the files"
	is 0 "$(find out -name "*.tmp.*" | wc -l)" "left"
}
for i in $(seq $([ "${VFTR_LONG-}" ] && echo 20 || echo 2)); do
	test_expect "two runs at once: whole files of both, one of them as .old ($i)" two_at_once
done

test_expect 'what a killed agent has left goes away; what may be in use stays' '
	plant out
	for n in old fresh locked; do echo x >out/$n.tmp.vftr-0123456789abcdef; done
	echo x >out/users.tmp.vftr-notes
	touch -d "1 hour ago" out/old.* out/locked.* out/users.*
	exec 8<out/locked.tmp.vftr-0123456789abcdef
	flock 8
	traced -q -o out -- "$BIN/end" storm 2000
	[ ! -e out/old.tmp.vftr-0123456789abcdef ]
	[ -e out/fresh.tmp.vftr-0123456789abcdef ]
	[ -e out/locked.tmp.vftr-0123456789abcdef ]
	[ -e out/users.tmp.vftr-notes ]'

test_if 'command -v strace' 'no strace' 'the profile and the summary are on the disk before they have their names' '
	plant out
	strace -f -o log -e trace=fsync,fdatasync,renameat,renameat2,rename "$AGENT" -q -o out -- "$BIN/end" storm 2000
	awk "/fsync/ { synced++ } /rename.*(vfp|_all)/ { n++; if (synced < n) bad = 1 } END { exit bad || n < 3 }" log'

# A user that this test has for itself; who takes his usual places is uid 65534.
stranger=$((200000 + $$))
as_user() {
	(cd home && exec setpriv --reuid=$stranger --regid=$stranger --clear-groups env -u VFTR_RUNTIME_DIR \
		HOME="$PWD" timeout 60 "$@")
}
taken() {
	setpriv --reuid=65534 --regid=65534 --clear-groups mkdir -m 755 "$1"
}
free_places() {
	rm -rf /tmp/vftr-$stranger /dev/shm/vftr-$stranger home
	mkdir home
	chown $stranger home
}
if [ "$(id -u)" = 0 ]; then
	chmod 711 "$VFTR_TEST_DIR" . "$BIN"
	test_expect 'another user has made /tmp/vftr-UID: a line, another place, and all is traced' '
		free_places
		taken /tmp/vftr-$stranger
		status_of 3 as_user "$AGENT" -o . -- "$BIN/end" exit3 2>said || { cat said; false; }
		is 1 "$(grep -c "/tmp/vftr-$stranger belongs to another user (uid 65534); /dev/shm/vftr-$stranger is used" said)" "$(cat said)"
		is 1 "$(calls_of home/end_all.json "main<init")"
		# a process that starts its agent itself, and one that finds an agent which is there
		rm -f home/end_*
		status_of 3 as_user env VFTR_AGENT="$AGENT" "$BIN/end" exit3 2>said
		wait_for 20 "[ -s home/end_all.json ]"
		is 1 "$(calls_of home/end_all.json "main<init")"
		rm -f home/end_*
		as_user "$AGENT" -q -s beside -o . 2>said &
		wait_for 10 "[ -S /dev/shm/vftr-$stranger/beside.sock ]"
		status_of 3 as_user env VFTR_AGENT=off VFTR_SESSION=beside "$BIN/end" exit3
		wait
		is 1 "$(calls_of home/end_all.json "main<init")"
		free_places'
	test_expect '... /dev/shm/vftr-UID, too: below $HOME, with the name of the node' '
		free_places
		taken /tmp/vftr-$stranger
		taken /dev/shm/vftr-$stranger
		status_of 3 as_user "$AGENT" -o . -- "$BIN/end" exit3 2>said || { cat said; false; }
		cat said; 		has said "$PWD/home/.vftr-$(hostname) is used"
		is 1 "$(calls_of home/end_all.json "main<init")"
		free_places'
	test_expect '... an XDG_RUNTIME_DIR that is not there, as in a job whose login node has it' '
		free_places
		status_of 3 as_user env XDG_RUNTIME_DIR=/run/user/none "$AGENT" -o . -- "$BIN/end" exit3 2>said
		has said "there can be no /run/user/none/vftr; /tmp/vftr-$stranger is used"
		is 1 "$(calls_of home/end_all.json "main<init")"
		free_places'
else
	test_skip 'another user has the usual runtime directory' 'needs root'
fi

done_testing
