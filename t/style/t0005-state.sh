#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='which variables of the node agent keep a value between calls'
. "$(dirname "$0")/../lib/lib.sh"
cd "$TOP" || exit 99
need objdump
[ -z "$SANITIZE" ] || skip_all "sanitizers add variables of their own"

none() {
	! grep . >&2
}

# "FILE: NAME" of what is in .data or .bss: constants with addresses in them are in .data.rel.ro
found() { # FOLDER
	find "$BUILD/$1" -name '*.o' | sort | while read -r o; do
		f=${o#"$BUILD/"}
		f=${f%.o}.c
		[ -f "$f" ] || continue
		objdump -t "$o" | awk -v f="${f#"$1/"}" '
			NF > 4 && $(NF - 2) ~ /^\.t?(data|bss)/ && $(NF - 2) !~ /\.rel\.ro/ &&
				$(NF - 1) !~ /^0+$/ {
				sub(/\.[0-9]+$/, "", $NF)
				print f ": " $NF
			}'
	done | sort -u
}

listed() { # TABLE: the same
	grep -E '^[^#].*\.c: ' "$1" | sed 's/	.*//' | while read -r f names; do
		for n in $names; do echo "$f $n"; done
	done | sort -u
}

found nodeagent >"$VFTR_TEST_DIR/found"
listed nodeagent/STATE >"$VFTR_TEST_DIR/listed"

test_expect 'the objects were found' '[ "$(wc -l <"$VFTR_TEST_DIR/found")" -ge 20 ]'

test_expect 'every such variable is in the table nodeagent/STATE' '
	comm -23 "$VFTR_TEST_DIR/found" "$VFTR_TEST_DIR/listed" | none'

test_expect 'the table names none that is gone' '
	comm -13 "$VFTR_TEST_DIR/found" "$VFTR_TEST_DIR/listed" | none'

test_expect 'each line has a reason' '
	grep -v "^#" nodeagent/STATE | grep . | grep -v "	" | none'

test_expect 'a variable that a function or a file keeps is seen, a constant is not' '
	mkdir -p "$VFTR_TEST_DIR/made/o/made" && (
	cd "$VFTR_TEST_DIR/made" && mkdir made &&
	cat >made/x.c <<-\EOF &&
	static int kept;
	static const char *const names[] = {"a", "b"};
	int counts(int i);
	const char *name(int i);
	int counts(int i) { static int calls = 7; kept += i; return kept + calls++; }
	const char *name(int i) { return names[i]; }
	EOF
	${CC:-cc} -fPIC -O2 -c -o o/made/x.o made/x.c &&
	BUILD=$PWD/o && found made >got &&
	printf "x.c: calls\nx.c: kept\n" | diff - got)'

done_testing
