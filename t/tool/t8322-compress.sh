#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='vftr compress: packed sampling files are read as the others'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$VFTR" "$AGENT"

make_file() {
	"$BUILD/t/unit/trace/u-vfd" --make "$1"
}

# size FILE: its bytes
size() {
	stat -c %s "$1"
}

# same A B: the same events, definitions and facts, but for the size and its parts
same() {
	local f
	for f; do
		"$VFTR" dump --json "$f" | jq -S "del(.bytes, .blocks, .block_bytes, .file, .path)" >"$f.json"
	done
	diff "$1.json" "$2.json"
}

cc_traced "$BIN/fib" "$T/bench/fib.c" || { echo 'Bail out! fib.c does not build'; exit 1; }

test_expect 'of a folder a file that has nothing before .vfd is none of its sampling files' '
	mkdir hidden
	make_file hidden/.vfd
	cp hidden/.vfd before
	status_of 1 "$VFTR" compress hidden 2>said
	has said "there are no sampling files in it"
	cmp before hidden/.vfd'

test_expect 'each event, definition and message is the same, packed and again as before' '
	make_file a.vfd
	cp a.vfd b.vfd
	limit "$VFTR" compress b.vfd >out
	grep -qE "^b.vfd: [0-9.]+ (B|KiB), was [0-9.]+ KiB$" out
	[ $(size b.vfd) -lt $(size a.vfd) ]
	same a.vfd b.vfd
	limit "$VFTR" compress -ql 19 b.vfd
	same a.vfd b.vfd
	limit "$VFTR" compress -qd b.vfd
	same a.vfd b.vfd
	cmp a.vfd b.vfd'

test_expect 'a real run: less than a byte a call, and each exporter writes the same' '
	limit "$VFTR" run -q --trace -k sampling.sample_interval=0 -o plain -- "$BIN/fib" 25 2 >/dev/null
	cp -r plain packed
	limit "$VFTR" compress packed >out
	cat out
	calls=$(jq .calls plain/profile.json)
	for k in plain packed; do
		bytes=$(size $k/*.vfd)
		echo "$k: $bytes bytes of $calls calls"
		for format in folded speedscope chrome perfetto paraver; do
			limit "$VFTR" export -q -f $format $k -o $k.$format
			[ -s $k.$format ] || [ -d $k.$format ]
		done
	done
	[ $bytes -lt $calls ]
	for format in folded speedscope chrome perfetto paraver; do
		cmp plain.$format packed.$format
	done
	"$VFTR" dump -f 0.01 -t 0.011 plain/*.vfd | grep -v "^File\|bytes" >a
	"$VFTR" dump -f 0.01 -t 0.011 packed/*.vfd | grep -v "^File\|bytes" | diff a -'

test_expect 'time and permissions stay; of several files their sum is said' '
	mkdir two
	make_file two/a.vfd
	make_file two/b.vfd
	chmod 640 two/a.vfd
	touch -d "2024-02-03 04:05:06.5" two/a.vfd
	printf "x" >two/other.vfd
	limit "$VFTR" compress two >out
	[ "$(grep -c "^two/[ab].vfd: " out)" = 2 ]
	grep -q "^all: .*, was " out
	is "640 2024-02-03 04:05:06.500000000" "$(stat -c "%a %y" two/a.vfd | cut -c1-33)"
	is x "$(cat two/other.vfd)"
	is "" "$(ls -a two | grep tmp)"'

test_expect 'a link stays one; what would not become smaller is not written' '
	make_file to.vfd
	ln -s to.vfd link.vfd
	limit "$VFTR" compress link.vfd >out
	is to.vfd "$(readlink link.vfd)"
	has out ", was "
	inode=$(stat -c %i to.vfd)
	limit "$VFTR" compress link.vfd >out
	grep -q "^link.vfd: left as it is: .* would become " out
	is $inode "$(stat -c %i to.vfd)"
	limit "$VFTR" compress -qd link.vfd
	[ $inode != "$(stat -c %i to.vfd)" ]'

test_if '[ "$(id -u)" = 0 ]' 'only root writes for others' 'the owner stays, too' '
	make_file a.vfd
	chown 1234:2345 a.vfd
	chmod 640 a.vfd
	limit "$VFTR" compress -q a.vfd
	is "1234 2345 640" "$(stat -c "%u %g %a" a.vfd)"
	if command -v setpriv >/dev/null; then
		mkdir -m 777 shared
		make_file shared/a.vfd
		cp shared/a.vfd before
		chmod 644 shared/a.vfd
		status_of 1 setpriv --reuid 1234 --regid 2345 --clear-groups "$VFTR" compress shared/a.vfd 2>err
		grep -q "left as it is: it is another user.s" err
		cmp before shared/a.vfd
	fi'

test_expect 'what is damaged, has no end, or is none stays as it is' '
	make_file a.vfd
	cp a.vfd bad.vfd
	printf "\\377" | dd of=bad.vfd bs=1 seek=3000 conv=notrunc 2>/dev/null
	head -c $(($(size a.vfd) - 64)) a.vfd >cut.vfd
	printf "no sampling file" >none.vfd
	for f in bad cut none; do
		cp $f.vfd $f.before
		status_of 1 "$VFTR" compress $f.vfd 2>err
		grep -q "^vftr: .*$f.vfd: left as it is: " err
		cmp $f.vfd $f.before
	done
	has err "not a sampling file"
	status_of 1 "$VFTR" compress cut.vfd 2>err
	has err "it has no end"
	status_of 1 "$VFTR" compress missing.vfd 2>err
	has err "No such file"
	mkdir empty
	status_of 1 "$VFTR" compress empty 2>err
	has err "no sampling files in it"
	for wrong in "-l 0" "-l 20" "-l x" ""; do
		status_of 2 "$VFTR" compress $wrong ${wrong:+a.vfd} 2>err
	done'

test_expect 'one without an end, if that is asked for; damage in a packed one is left out' '
	make_file a.vfd
	head -c $(($(size a.vfd) - 64)) a.vfd >cut.vfd
	"$BUILD/t/unit/trace/u-vfd" --make whole.vfd
	cp cut.vfd cut2.vfd
	limit "$VFTR" compress -qu cut2.vfd || exit 1
	"$VFTR" dump --json cut.vfd 2>/dev/null | jq -c .events >a || :
	"$VFTR" dump --json cut2.vfd 2>/dev/null | jq -c .events | diff a -
	limit "$VFTR" compress -q a.vfd
	printf "\\377" | dd of=a.vfd bs=1 seek=$(($(size a.vfd) * 3 / 4)) conv=notrunc 2>/dev/null
	status_of 1 "$VFTR" dump a.vfd >out 2>err
	grep -q "are left out" err
	grep -q " call " out'

test_expect 'no library: one sentence says what it is in' '
	make_file a.vfd
	limit "$VFTR" compress -q a.vfd
	mkdir none
	echo none >none/libzstd.so.1
	status_of 2 env LD_PRELOAD= LD_LIBRARY_PATH=none "$VFTR" dump a.vfd 2>err || :
	# libelf needs it as well: then the loader has its own word
	grep -q "libzstd" err'

test_expect 'no room on the disk: the old file stays' '
	make_file a.vfd
	cp a.vfd before
	(ulimit -f 1; trap "" XFSZ; status_of 1 "$VFTR" compress a.vfd 2>err)
	grep -q "left as it is" err
	cmp a.vfd before
	is "" "$(ls -a | grep tmp)"'

test_if 'echo "#include <zstd.h>" | gcc -fsyntax-only -x c -' 'no headers of zstd' \
	'prototypes are those of its header' '
	cat >api.c <<"END"
#include <zstd.h>
#include "nodeagent/trace/zstd-api.h"
static struct zstd_api api;
#define SAME(result, name, symbol, parameters) \
	_Static_assert(__builtin_types_compatible_p(__typeof__(api.name), __typeof__(&symbol)), #symbol);
ZSTD_FUNCTIONS(SAME)
END
	gcc -fsyntax-only -I"$TOP" api.c'

done_testing
