#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Functions of a program that is made for it have the names of the C++ functions that libraries of
# this machine define.
test_description='10 000 names of real C++ functions'
. "$(dirname "$0")/../lib/lib.sh"
need jq nm
need_built "$AGENT" "$VFTR"

N=10000
for library in "$(g++ -print-file-name=libstdc++.so.6 2>/dev/null)" /usr/lib/*/libicu*.so.[0-9]* \
	/usr/lib/*/libLLVM*.so* /usr/lib/*/libboost*.so.[0-9]* /usr/lib/*/lib*.so.[0-9]*; do
	[ -f "$library" ] && [ ! -L "$library" ] || library=$(readlink -f "$library")
	nm -D --defined-only "$library" 2>/dev/null
	echo "next of $library"
done | awk -v most=$N '$2 ~ /[TW]/ && $3 ~ /^_Z/ { sub(/@.*/, "", $3); if (!seen[$3]++) { print $3; n++ } }
	n == most { exit }' >symbols
[ "$(wc -l <symbols)" = $N ] || skip_all "the libraries here have less than $N C++ functions"

# the functions in assembler, and one that calls the hooks of each: compiled, 10 000 take 15 s
{
	awk 'BEGIN { print "\t.data\n\t.balign 8\n\t.globl functions\nfunctions:" }
		{ printf "\t.quad \"%s\"\n", $1 }' symbols
	awk 'BEGIN { print "\t.text" }
		{ printf "\t.type \"%s\", %%function\n\"%s\":\n\tnop\n\t.size \"%s\", .-\"%s\"\n", $1, $1, $1, $1 }
		END { print "\t.section .note.GNU-stack,\"\",%progbits" }' symbols
} >real.s
cat >main.c <<END
void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);
extern void *functions[];
int main(void)
{
	for (int i = 0; i < $N; i++) {
		__cyg_profile_func_enter(functions[i], (char *)main + 1);
		__cyg_profile_func_exit(functions[i], (char *)main + 1);
	}
	return 0;
}
END
cc_traced "$BIN/real" main.c real.s || exit 1
limit "$VFTR" run -q -o all -k overhead.count_tiny=null -k profile_table.max_rows=1000000 \
	-k profile_table.min_percent=0 -- "$BIN/real" || exit 1
json all/profile.json '.functions[] | "\(.linker_name // .function)\t\(.function)"' >names

test_expect 'each has one short name in the JSON, from which that of the linker is found' '
	cut -f 1 names | grep -vxE "init|main" | LC_ALL=C sort >got
	LC_ALL=C sort symbols | diff - got
	is "" "$(cut -f 2 names | sort | uniq -d)"
	# names of stacks are among those
	json all/profile.json ".stacks[].function" | sort -u >of-stacks
	cut -f 2 names | sort | diff - of-stacks'

test_expect 'short names have no template arguments, parameters or return type' '
	is "" "$(cut -f 2 names | grep -vE "operator|\{|[[]|\(anonymous\)" | grep "[<>()]" | head -n 5)"
	awk -F "\t" "\$1 == \$2" names >as-they-are
	wc -l as-they-are
	[ "$(wc -l <as-they-are)" -lt 100 ]'

# section FROM TO: cells of its column Function, as they are read
functions_from() {
	awk -v from="$1" -v to="$2" -F '|' '
		$0 ~ from { on = 1 }
		$0 ~ to { on = 0 }
		on && /^\|/ {
			if ($0 ~ / Function /) {
				for (i = 1; i <= NF; i++)
					if ($i ~ /^ *Function *$/)
						at = i
				next
			}
			gsub(/^ +| +$/, "", $at)
			print $at
		}' all/summary.log
}

test_expect 'in the table of the log no two of them read alike, and none takes more than 60 columns' '
	functions_from "^Runtime profile$" "^Agents" >cells
	is $((N + 2)) "$(wc -l <cells)"
	is "" "$(sort cells | uniq -d | head -n 5)"
	[ "$(wc -L <cells)" -le 60 ]
	[ "$(wc -L <all/summary.log)" -le 120 ]'

test_expect 'vftr show: no two rows read alike in 60 columns' '
	"$VFTR" show -n 0 -C calls,function all >shown
	sed -n "s/^ *[0-9]*  *//p" shown | sed "s/ *\$//" | sort | uniq -d >twice
	head -n 5 twice
	[ ! -s twice ]
	[ "$(wc -l <shown)" -ge $N ]'

test_expect 'nor do call paths of it, and rows of vftr diff' '
	"$VFTR" show -n 0 -C calls,path all >shown
	sed -n "s/^ *[0-9]*  *//p" shown | sed "s/ *\$//" | sort | uniq -d >twice
	"$VFTR" diff -l 0 all all >differences
	sed -n "s/.* | *//; s/ *|\$//p" differences | sort | uniq -d >>twice
	head -n 5 twice
	[ ! -s twice ]'

test_expect 'folded stacks have each of them once' '
	"$VFTR" export all -f folded -o - >folded
	sed "s/ [0-9]*\$//; s/.*;//" folded | sort | uniq -d >twice
	head -n 5 twice
	[ ! -s twice ]'

done_testing
