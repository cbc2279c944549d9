#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='licence lines, sizes, scripts and manual pages'
. "$(dirname "$0")/lib.sh"
cd "$TOP" || exit 99

# Our files, committed or about to be; without git, all that are not built.
files() {
	if git rev-parse --git-dir >/dev/null 2>&1; then
		git ls-files -co --exclude-standard
	else
		find . -type f -not -path './obj*' -not -path './.git/*' | sed 's|^\./||'
	fi | while read -r f; do
		[ -f "$f" ] && echo "$f"
	done
}

source_files() {
	files | grep -E '\.(c|h|cpp|f90|F90|awk|sh|mk)$|^t/bench/run$|^Makefile$|^\.ci/|^man/' | grep -v '\.png$'
}

none() {
	! grep . >&2
}

scripts() {
	files | while read -r f; do
		head -n 1 "$f" | tr -d '\0' | grep -qE "^#!.*[ /]$1( |\$)" && echo "$f"
	done
}

test_expect 'every source has the licence line near its top' '
	for f in $(source_files | grep -v "^Makefile$"); do
		head -n 3 "$f" | grep -q "SPDX-License-Identifier: BSD-3-Clause" || echo "$f"
	done | none'

test_expect 'no file is longer than 600 lines, no manual page than 660, no unit test than 760' '
	for f in $(source_files); do
		n=$(wc -l <"$f")
		case $f in t/[um]-*) most=760 ;; man/*) most=660 ;; *) most=600 ;; esac
		[ "$n" -le $most ] || echo "$f: $n lines"
	done | none'

test_expect 'no file ends without a newline or has blanks at the end of a line' '
	for f in $(source_files); do
		[ -z "$(tail -c 1 "$f")" ] || echo "$f: no newline at its end"
		grep -Hn "[[:blank:]]\$" "$f" || :
	done | none'

test_expect 'no path of a developer machine, and nothing left for later' '
	for f in $(files | grep -vE "^t/t0003-style\.sh$"); do
		grep -HnIE "TODO|FIXME" "$f" || :
		grep -HnIF -e "$TOP/" -e "$HOME/" "$f" || :
	done | none'

# strays FOLDER: files that no line of its README names, and names of it that fit no file
strays() {
	ls "$1"/*.[ch] | sed 's|.*/||; s|\.[ch]$||' | sort -u | awk -F '\t' '
		FNR == NR {
			n = /^\t[a-z]/ ? split($2, word, " ") : 0
			for (i = 1; i <= n; i++) {
				fits = "^" word[i] "$"
				gsub(/\*/, "[a-z0-9-]*", fits)
				words[fits] = word[i]
			}
			next
		}
		{
			found = 0
			for (fits in words)
				if ($0 ~ fits)
					found = used[fits] = 1
			if (!found)
				print $0 ": in no group"
		}
		END {
			for (fits in words)
				if (!(fits in used))
					print words[fits] ": no such file"
		}' "$1/README" -
}

test_expect 'nodeagent/README has each file in a group' '
	strays nodeagent | none'

test_expect 'shell scripts are shell' '
	for f in $(scripts sh) t/lib.sh; do sh -n "$f" && bash -n "$f" || echo "$f"; done | none
	for f in $(scripts bash); do bash -n "$f" || echo "$f"; done | none'

test_expect 'test scripts and drivers are executable' '
	for f in $(files | grep -E "^t/t[0-9].*\.sh$|^t/nodes\.sh$|^t/bench/run$"); do
		[ -x "$f" ] || echo "$f"
	done | none'

test_if 'command -v shellcheck' 'no shellcheck' 'shellcheck finds no error in scripts' '
	shellcheck -S error $(scripts sh) $(scripts bash)'

test_if 'command -v mandoc && ls man/*.[1-8]' 'no mandoc, or no pages' \
	'manual pages have no lint' '
	# which other pages are installed does not concern us
	mandoc -T lint man/*.[1-8] 2>/dev/null | grep -v "referenced manual not found" | none'

test_if 'command -v mawk' 'no mawk' 'awk scripts are accepted by mawk' '
	for f in $(files | grep "\.awk$"); do
		mawk -f "$f" -version </dev/null >/dev/null 2>&1 || :
		mawk -W dump -f "$f" </dev/null >/dev/null || echo "$f"
	done | none'

done_testing
