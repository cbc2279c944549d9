#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='tables of stack samples: functions first, and call paths that have enough of them'
. "$(dirname "$0")/../lib/lib.sh"

need jq
$TEST_CC -O2 -o "$BIN/shares" "$T/stack/app-shares.c" -pthread -ldl || exit 1
traced --preload -k profile.sample=50 -- "$BIN/shares" serial 1000 >out || exit 1
if grep -q "the kernel allows no stack samples" shares_all.log; then
	skip_all 'the kernel allows no perf events here'
fi

collated() { # FILE KEY=VALUE...: the log with these keys
	test_to=$1
	shift
	rm -rf again && mkdir again
	printf "%s\n" "$@" | jq -Rn "reduce (inputs / \"=\") as [\$k, \$v] ({};
		setpath(\$k / \".\"; \$v | fromjson))" >keys.json
	"$VFTR" collate -c keys.json -o again shares_*.vfp 2>err || { cat err; return 1; }
	mv again/shares_all.log "$test_to"
}

table_of() { # TITLE FILE: the rows, without the titles of columns
	awk -v title="$1" '$0 == title { on = 1; next } on && /^\|/ { print; next } on && !/^\+/ { exit }' "$2" |
		sed 1d
}

sums_to_all() { # FILE: the exclusive times of the profile are those of all
	table_of "Runtime profile" "$1" | awk -F"|" -v all="$(jq "[.stacks[].t_excl_s] | add" shares_all.json)" '
		{ sum += $3 }
		END { print sum, all, NR; exit !(NR && sum > all - 0.0006 * NR && sum < all + 0.0006 * NR) }'
}

test_expect 'functions are shown by default, the one with the most samples first' '
	table_of "Runtime profile (Grouped by function name)" shares_all.log >rows
	grep -v " init " rows | head -n 1 | grep -q "^| *---- .* burn "
	is "$(jq "[.stacks[] | select(.function == \"burn\") | .samples] | add" shares_all.json)" \
		"$(jq ".functions[] | select(.function == \"burn\") | .samples" shares_all.json)"
	collated off name_grouped_profile_table.show_table=false
	hasnt off "Grouped by function"'

test_expect 'a path of fewer samples than asked for is part of its caller, and nothing is lost' '
	most=$(jq "[.stacks[].samples_incl // 0] | max" shares_all.json)
	for n in 0 1 5 20 "$most" $((most + 1)) 2147483647; do
		collated log profile_table.min_samples=$n
		sums_to_all log
	done
	is 1 "$(table_of "Runtime profile" log | wc -l)"
	has log "call paths of fewer than 2147483647 stack samples, with together"
	has log "profile_table.min_samples=0 shows all"'

test_expect 'with 0 each path has its row' '
	collated all profile_table.min_samples=0
	is "$(jq ".stacks | length" shares_all.json)" "$(table_of "Runtime profile" all | wc -l)"
	hasnt all "of fewer than"'

test_expect 'the error of a row is that of all samples that it shows' '
	collated log profile_table.min_samples="$(jq "[.stacks[].samples_incl // 0] | max" shares_all.json)"
	table_of "Runtime profile" log | grep " main " | awk -F"|" "{
		n = (2 * \$3 / \$4) ^ 2
		print \$3, \$4, n
		exit !(n > 0.98 * want && n < 1.02 * want) }" \
		want="$(jq "[.stacks[].samples // 0] | add" shares_all.json)"'

test_expect 'the list of call paths has those that a table shows' '
	collated log profile_table.min_samples=2147483647 name_grouped_profile_table.show_table=false
	is 1 "$(sed "1,/^Global call stacks/d" log | grep -c "^ *STID[0-9]")"'

done_testing
