#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Fixed inputs (golden/README) through the code and the tools; every byte that comes out
# is as it was when golden/sums was written:
#
#	sh t/tool/t8501-golden.sh			compare
#	sh t/tool/t8501-golden.sh --renew		write golden/sums and golden/text anew
#	sh t/tool/t8501-golden.sh --keep FOLDER	and leave all outputs there, to compare two commits
test_description='golden files: what users get from fixed inputs is byte for byte as before'
. "$(dirname "$0")/../lib/lib.sh"
need_built "$VFTR" "$BUILD/t/golden/make-golden"
G=$T/golden
TZ=UTC
export TZ
unset VFTR_SET

# Of these a difference is shown, not only told; together about 100 KiB.
is_telling() {
	case $1 in
	*.svg) ;;
	made/all/app_node_node0.log | made/separate/app_00_[acmo]*.log | made/separate/app_all_n*.log | \
		collate/cuda/*.log | collate/counters/*.log | collate/end/*.json | dump/everything | \
		dump/end-vm.json | export/end.* | diff/mpi-open | diff/vftrace | histogram/*) return 0 ;;
	esac
	return 1
}

# into NAME COMMAND...: what it prints, and how it ends, is the output NAME
into() {
	into_name=$OUT/$1
	shift
	mkdir -p "${into_name%/*}"
	into_status=0
	limit "$@" >"$into_name" 2>"$into_name.said" </dev/null || into_status=$?
	[ "$into_status" -lt 124 ] || return 1
	if [ -s "$into_name.said" ] || [ "$into_status" != 0 ]; then
		echo "exit status $into_status" >>"$into_name.said"
	else
		rm "$into_name.said"
	fi
}

# mask FOLDER: its texts without the version of vftr
mask() {
	find "$OUT/$1" -type f | while read -r f; do
		case $f in
		*.vfp | *.vfd | *.perfetto | *.otf2 | *.evt | *.def) ;;
		*) sed -i "s/vftr [0-9][0-9.]*\([^0-9.]\|$\)/vftr VERSION\1/" "$f" ;;
		esac
	done
}

# same FOLDER: its outputs are as they were
same() {
	mask "$1"
	(cd "$OUT" && find "$1" -type f | LC_ALL=C sort | xargs sha256sum) >is
	[ -s is ]
	grep "  $1/" "$G/sums" >was || true
	if [ -n "$RENEW" ]; then
		cat is >>"$VFTR_TEST_DIR/sums"
		return 0
	fi
	diff was is >differs && return 0
	echo "what is different (< before, > now):"
	cat differs
	sed -n 's/^[<>] [0-9a-f]*  //p' differs | sort -u | while read -r f; do
		is_telling "$f" && [ -e "$G/text/$f" ] && [ -e "$OUT/$f" ] &&
			diff -u "$G/text/$f" "$OUT/$f" | head -n 25
	done
	echo "The rest: --keep FOLDER at this commit and at the one before, and diff -r."
	return 1
}

OUT=out RENEW='' KEEP=''
case $1 in
'') ;;
--renew) RENEW=1 ;;
--keep) KEEP=${2:?--keep needs a folder} ;;
*) echo "usage: $0 [--renew | --keep FOLDER]" >&2; exit 2 ;;
esac
mkdir -p "$OUT" classic
cp "$G"/*.json ./  # the logs name them
# golden/in/RUN-HOST.vfp is real/RUN/app_HOST.vfp, and of a round app.roundN_HOST.vfp
for f in "$G"/in/*.gz; do
	name=${f##*/}
	mkdir -p "real/${name%%-*}"
	run=${name%%-*} name=${name%.gz}
	case $name in *-round*) host=.${name#*-} ;; *) host=_${name#*-} ;; esac
	gzip -dc "$f" >"real/$run/app$host"
done
runs=$(ls real)
for name in vftrace_vfd_dump vftrace_diff_profiles; do ln -s "$VFTR" "classic/$name"; done
export OUT RENEW G

test_expect 'profiles, logs, JSON and sampling files of made-up runs' '
	mkdir "$OUT/made"
	"$BUILD/t/golden/make-golden" "$OUT/made" default.json all.json separate.json
	same made'

test_expect 'vftr collate: logs and JSON from node profiles' '
	for run in $runs; do
		mkdir -p "$OUT/collate/$run"
		into "collate/$run/said" "$VFTR" collate -c all.json -o "$OUT/collate/$run" \
			real/$run
	done
	for config in default all separate; do
		mkdir -p "$OUT/collate/$config"
		into "collate/$config/said" "$VFTR" collate -b app -c $config.json \
			-o "$OUT/collate/$config" "$OUT"/made/app_node?.vfp
	done
	same collate'

test_expect 'vftr dump: text, JSON, as peers, a part; and as Vftrace prints it' '
	for f in "$OUT"/made/*.vfd real/*/*.vfd; do
		name=$(echo "${f%.vfd}" | sed "s,^real/,,; s,^$OUT/made/,,; s,/app_,-,")
		into "dump/$name" "$VFTR" dump "$f"
		into "dump/$name.json" "$VFTR" dump --json "$f"
		into "dump/$name.peers" "$VFTR" dump --peers "$f"
		into "dump/$name.peers.json" "$VFTR" dump --peers --json "$f"
		into "dump/$name.part" "$VFTR" dump --from 100us --to 900us "$f"
	done
	same dump'

test_expect 'vftr export: every format' '
	for run in exact sampled everything $runs; do
		set -- real/$run/*.vfd
		[ -e "$OUT/made/$run.vfd" ] && set -- "$OUT/made/$run.vfd"
		[ -e "$1" ] || continue
		for format in perfetto chrome paraver folded speedscope vfd3; do
			rm -rf exported
			mkdir exported
			into "export/$run.$format.said" "$VFTR" export "$@" -f $format -o exported/$run.$format
			mkdir -p "$OUT/export"
			cp -r exported/. "$OUT/export"
		done
		into "export/$run.sum" "$VFTR" export "$@" -f folded --sum -o -
		into "export/$run.part" "$VFTR" export "$@" -f chrome --to 500us -o -
		for f in "$OUT/export/$run.vfd3"/*.vfd; do
			into "export/$run.vfd3.dump/${f##*/}" classic/vftrace_vfd_dump "$f"
		done
	done
	same export'

test_if 'command -v otf2-print' 'no otf2-print on this machine' 'vftr export: OTF2, as others read it' '
	for run in exact sampled everything $runs; do
		set -- real/$run/*.vfd
		[ -e "$OUT/made/$run.vfd" ] && set -- "$OUT/made/$run.vfd"
		[ -e "$1" ] || continue
		into "otf2/$run.said" "$VFTR" export "$@" -f otf2 -o exported.otf2
		into "otf2/$run.events" otf2-print exported.otf2/traces.otf2
		into "otf2/$run.definitions" otf2-print -G exported.otf2/traces.otf2
		rm -rf exported.otf2
	done
	same otf2'

test_expect 'vftr diff: of profiles, JSON and logs, in every way' '
	into dump/ranks "$VFTR" dump --ranks 1-2 real/mpi/app_node1.vfd
	one=$OUT/collate/mpi/app_all two=$OUT/collate/open/app_all
	into diff/mpi-open "$VFTR" diff $one.json $two.json
	into diff/mpi-open.log "$VFTR" diff $one.log $two.log
	into diff/mpi-open.mixed "$VFTR" diff real/mpi/app_node1.vfp $two.json
	into diff/json "$VFTR" diff --json $one.json $two.json
	into diff/job "$VFTR" diff --per job --time incl --sort calls $one.json $two.json
	into diff/function "$VFTR" diff --function --sort path $one.json $two.json
	into diff/significant "$VFTR" diff --significant --limit 5 --min 0.0001 $one.json $two.json
	into diff/fail "$VFTR" diff --fail 1 $one.json $two.json
	into diff/made "$VFTR" diff "$OUT/made/app_node0.vfp" "$OUT/made/app_node1.vfp"
	into diff/made.json "$VFTR" diff --json "$OUT/made/whole.vfp" "$OUT/collate/default/app_all.json"
	into diff/vftrace classic/vftrace_diff_profiles $one.log $two.log
	same diff'

test_expect 'vftr histogram: text and picture' '
	for run in mpi open rma collectives; do
		into histogram/$run "$VFTR" histogram "$OUT/collate/$run/app_all.json"
		into histogram/$run.send "$VFTR" histogram --send real/$run/*.vfp
		into histogram/$run.bytes "$VFTR" histogram --recv --bytes real/$run/*.vfp
	done
	into histogram/made "$VFTR" histogram "$OUT/made/whole.vfp"
	into histogram/picture.svg "$VFTR" histogram --svg - "$OUT/made/whole.vfp"
	into histogram/bytes.svg "$VFTR" histogram --bytes --send --svg - "$OUT/made/whole.vfp"
	same histogram'

test_expect 'vftr report: a page of one run, and of two' '
	# without the viewer that may be beside the program
	mkdir -p plain/bin
	cp "$VFTR" plain/bin/vftr
	into report/mpi.html plain/bin/vftr report -o - real/mpi
	into report/made.html plain/bin/vftr report -o - "$OUT/made/whole.vfp"
	into report/two.html plain/bin/vftr report -o - real/open real/mpi
	same report'

if [ -n "$RENEW" ] && [ "$test_failed" = 0 ]; then
	cp "$VFTR_TEST_DIR/sums" "$G/sums"
	rm -rf "$G/text"
	while read -r sum name; do
		is_telling "$name" || continue
		mkdir -p "$G/text/${name%/*}"
		cp "$OUT/$name" "$G/text/$name"
	done <"$G/sums"
	echo "# $G/sums and $G/text are new: git diff, and say why in the commit"
fi
[ -z "$KEEP" ] || { mkdir -p "$KEEP" && cp -r "$OUT/." "$KEEP"; }
done_testing
