#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='licence lines, sizes, scripts and manual pages'
. "$(dirname "$0")/../lib/lib.sh"
cd "$TOP" || exit 99

# Our files, committed or about to be; without git, all that are not built.
files() {
	if git rev-parse --git-dir >/dev/null 2>&1; then
		git ls-files -co --exclude-standard
	else
		find . -type f -not -path './obj*' -not -path './.git/*' | sed 's|^\./||'
	fi | perl -lne 'print if -f'
}

source_files() {
	files | grep -E '\.(c|h|cpp|f90|F90|awk|sh|mk)$|^t/bench/(run|live)$|^Makefile$|^\.ci/|^man/' | grep -v '\.png$'
}

none() {
	! grep . >&2
}

scripts() {
	files | perl -lne 'open F, $_ and read F, $head, 80 and $head =~ m{^#!.*[ /]'"$1"'( |$)}m and print'
}

test_expect 'every source has the licence line near its top' '
	awk "FNR == 1 { all[FILENAME] }
		FNR <= 3 && /SPDX-License-Identifier: BSD-3-Clause/ { has[FILENAME] }
		END { for (f in all) if (!(f in has)) print f }" $(source_files | grep -v "^Makefile$") | none'

# long_functions FILE...: functions of more than 60 lines between their braces
long_functions() {
	awk '
		/^\{$/ { begin = FNR; name = line }
		/^\}/ && begin {
			if (FNR - begin - 1 > 60)
				print FILENAME ": " name ": " FNR - begin - 1 " lines"
			begin = 0
		}
		/^[a-z]/ { line = $0 }' "$@"
}

test_expect 'no function has more than 60 lines' '
	long_functions $(files | grep "\.[ch]$" | grep -v "^t/") | none
	{ echo "int long_one(void)"; echo "{"; yes "	;" | head -n 61; echo "}"; } >"$VFTR_TEST_DIR/work/long.c"
	long_functions "$VFTR_TEST_DIR/work/long.c" | grep -q "long_one.*: 61 lines"'

test_expect 'no file ends without a newline or has blanks at the end of a line' '
	source_files | perl -lne "open F, \$_; seek F, -1, 2; read F, \$last, 1;
		print qq(\$_: no newline at its end) if \$last ne qq(\n)" | none
	source_files | xargs grep -Hn "[[:blank:]]\$" | none'

test_expect 'no path of a developer machine, and nothing left for later' '
	files | grep -v "^t/style/t0003-style\.sh$" >"$VFTR_TEST_DIR/work/files"
	xargs grep -HnIE "TODO|FIXME" <"$VFTR_TEST_DIR/work/files" | none
	# at the beginning of a word: a clone may lie in /vftr
	for place in "$TOP" "$HOME"; do
		PLACE=$place xargs perl -ne "print qq(\$ARGV: \$_) if m{(^|[\s=:(\047])\Q\$ENV{PLACE}\E/}" \
			<"$VFTR_TEST_DIR/work/files" | none
	done'

# unheeded FILE...: commands that begin with "!", and all but the last of those with "&&" between
# them, where set -e does not heed them: not the row's last
unheeded() {
	awk '
		function indent(line) { match(line, /^\t*/); return RLENGTH }
		FNR == 1 { held = "" }
		held != "" && NF {
			if (indent($0) >= indent(held) && $1 !~ /^(}|do|done|fi|#.*)$/)
				print place ": " held
			held = ""
		}
		(/^\t+! / || /^\t+(\[|is|has|hasnt) .* && (\[|!|is|has|hasnt|grep|ls) /) &&
			!/(\047|&&|\||\\)$/ && !/\|\| |&& (return|exit|break|continue)/ { held = $0; place = FILENAME ":" FNR }' "$@"
}

test_expect 'a command that must fail ends its row where it does not' '
	unheeded $(files | grep "^t/.*\.sh$") | none
	printf "\t! grep x y\n\tgrep y z\n" >"$VFTR_TEST_DIR/work/unheeded.sh"
	unheeded "$VFTR_TEST_DIR/work/unheeded.sh" | grep -q "! grep x y"
	printf "\t[ x ] && [ y ]\n\tgrep y z\n" >"$VFTR_TEST_DIR/work/unheeded.sh"
	unheeded "$VFTR_TEST_DIR/work/unheeded.sh" | grep -q "x ] && . y"'

test_expect 'what sleeps or tries once more in a shell test is in the list of t/README, and why' '
	grep -cE "\b(u|nano)?sleep\b|\bfor (ra_)?(try|longer|seconds) in |\btries=[0-9]|HANGS=[0-9]" \
		$(files | grep "^t/.*\.sh$" | grep -v "^t/style/") | sed -n "s|^t/||; s|:\([1-9]\)| \1|p" | sort >"$VFTR_TEST_DIR/work/is"
	sed -n "s|^	\([a-z]*/[^ ]*\.sh [0-9]*\)	.*[a-z].*|\1|p" t/README | sort >"$VFTR_TEST_DIR/work/said"
	diff "$VFTR_TEST_DIR/work/said" "$VFTR_TEST_DIR/work/is"'

folders() { # FOLDER...
	find "$@" -type d -not -path t/fuzz/corpus/\* | sort
}

test_expect 'every folder of nodeagent has a README of 5 to 15 lines of text' '
	for d in $(folders nodeagent); do
		[ -s "$d/README" ] || echo "$d: no README"
		[ "$d" = nodeagent ] || [ "$(wc -l <"$d/README")" -le 18 ] || echo "$d/README: too long"
	done | none'

test_expect 'no folder has more than 40 files' '
	for d in $(folders nodeagent libhook mpi shm conf cupti libc fortran t); do
		n=$(find "$d" -maxdepth 1 -type f | wc -l)
		[ "$n" -le 40 ] || echo "$d: $n files"
	done | none'

test_expect 'shell scripts are shell' '
	for f in $(scripts sh) t/lib/lib.sh; do sh -n "$f" && bash -n "$f" || echo "$f"; done | none
	for f in $(scripts bash); do bash -n "$f" || echo "$f"; done | none'

test_expect 'test scripts and drivers are executable' '
	for f in $(files | grep -E "^t/[a-z]*/t[0-9].*\.sh$|^t/lib/nodes\.sh$|^t/bench/(run|live)$"); do
		[ -x "$f" ] || echo "$f"
	done | none'

test_if 'command -v shellcheck' 'no shellcheck' 'shellcheck finds no error in scripts' '
	shellcheck -S error $(scripts sh) $(scripts bash)'

test_if 'git cat-file -e HEAD~50' 'no history here' \
	'commits that .git-blame-ignore-revs names are in the history' '
	for rev in $(grep -v "^#" .git-blame-ignore-revs); do
		git merge-base --is-ancestor "$rev" HEAD || echo "$rev"
	done | none'

test_expect 'files that vftr-internals(7) names are there' '
	grep -oE "[a-z0-9*/-]+/[a-z0-9*-]+\.[ch]\b" man/vftr-internals.7 | sort -u >"$VFTR_TEST_DIR/work/named"
	[ "$(wc -l <"$VFTR_TEST_DIR/work/named")" -ge 30 ]
	while read -r f; do
		ls $f >/dev/null 2>&1 || ls nodeagent/$f >/dev/null 2>&1 || echo "$f"
	done <"$VFTR_TEST_DIR/work/named" | none
	grep -oE "[a-z0-9*/-]+\.[ch]\b" man/vftr-internals.7 | grep -v / | grep -vx mpi.h | none'

test_expect 'files and folders that CONTRIBUTING.md names are there' '
	for f in $(grep -oE "\`(nodeagent|libhook|shm|conf|mpi|t|man)/[A-Za-z0-9/._-]+\`" CONTRIBUTING.md | tr -d "\`"); do
		[ -e "$f" ] || echo "$f"
	done | none'

test_if 'command -v mandoc && ls man/*.[1-8]' 'no mandoc, or no pages' \
	'manual pages have no lint' '
	# which other pages are installed does not concern us
	mandoc -T lint man/*.[1-8] 2>/dev/null | grep -v "referenced manual not found" | none'

test_if 'command -v mawk' 'no mawk' 'awk scripts are accepted by mawk' '
	for f in $(files | grep "\.awk$"); do
		mawk -f "$f" -version </dev/null >/dev/null 2>&1 || :
		mawk -W dump -f "$f" </dev/null >/dev/null || echo "$f"
	done | none'

# Static functions of one word whose name stands in more than one file: names, and where
one_word() {
	find nodeagent -name "*.c" -exec awk '/^static / && match($0, /[ *][a-z0-9]+\(/) {
		n = substr($0, RSTART + 1, RLENGTH - 2)
		if (!((n, FILENAME) in seen)) {
			seen[n, FILENAME]
			files[n]++
			where[n] = where[n] " " FILENAME
		}
	} END {
		for (n in files)
			if (files[n] > 1)
				print n ":" where[n]
	}' {} +
}

# a function gets a noun: add_comm
test_expect 'no static function of one word has the name of one in another file' '
	one_word | none'

done_testing
