#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='the commands of vftr-tutorial(7) do what it says; pages are complete'
. "$(dirname "$0")/../lib/lib.sh"
need jq mandoc mpicc.openmpi mpirun.openmpi pkg-config
need_built "$VFTR" "$AGENT" "$LIB/libvftrace-openmpi.so"

# What a user who has installed it would find.
mkdir -p tools
cat >tools/mpicc <<-'END'
	#!/bin/sh
	exec mpicc.openmpi "$@"
END
cat >tools/mpirun <<-'END'
	#!/bin/sh
	exec mpirun.openmpi --oversubscribe --bind-to none "$@"
END
chmod +x tools/*
PATH=$PWD/tools:$BUILD/bin:$PATH
export PATH
cp "$T/demo/heat.c" .

# The page as its readers see it, so that quotes and backslashes are tested, too; a command may have several lines.
mandoc -T ascii -O width=500 "$TOP/man/vftr-tutorial.7" | sed 's/.\x08//g' |
	sed -e :a -e '/\\$/N; s/\\\n *//; ta' |
	sed -n 's/^ *\$ //p' >commands

test_expect 'the page has commands' '
	[ "$(wc -l <commands)" -ge 15 ]
	is "$(grep -c "^\.Dl \\$ " "$TOP/man/vftr-tutorial.7")" "$(wc -l <commands)"'

n=0
while read -r command; do
	n=$((n + 1))
	printf '%s\n' "$command" >"command$n"
	test_expect "it runs: $(printf '%s' "$command" | tr -d '#' | cut -c1-90)" "
		limit sh -e ./command$n >output$n 2>&1 </dev/null || { cat output$n; exit 1; }
		[ -s output$n ] || case \$(cat command$n) in
		mpicc* | *'>'* | *--svg* | *-q* | *export*) ;;
		*) echo 'it printed nothing'; exit 1 ;;
		esac"
done <commands

test_expect 'the program is the same with and without tracing' '
	mpirun -np 4 ./heat 400 400 300 >plain 2>/dev/null
	VFTR_OFF=1 mpirun -np 4 ./heat 400 400 300 2>/dev/null | diff - plain'

test_expect 'the functions that it names are those that are found' '
	jq -r ".stacks[].path" vftr-heat-last/profile.json >paths
	has paths "MPI_Allreduce < residual < "
	has paths "update_row < update < "
	has paths "row_change < residual < "
	has paths " < exchange_halo < "
	jq -r ".stacks[].path" vftr-heat-few-last/profile.json >paths
	hasnt paths update_row
	hasnt paths row_change
	grep -q "<svg" sizes.svg
	ls vftr-heat-few-last/*perfetto*'

test_expect 'update_row is only in A, as the page says' '
	vftr diff -f -j vftr-heat-last vftr-heat-few-last >diff.json
	is "true false" "$(jq -r ".differences[] | select(.function == \"update_row\") |
		\"\(.in_a) \(.in_b)\"" diff.json)"'

test_expect 'its lines for build systems work with what pkg-config knows' '
	make -C "$TOP" --no-print-directory O="$BUILD" install DESTDIR="$PWD/dest" >log 2>&1 ||
		{ cat log; exit 1; }
	pc=$(find dest -name vftrace.pc)
	export PKG_CONFIG_PATH="${pc%/*}"
	for module in vftrace $(grep -oE "vftrace-(openmpi|mpich)" "$TOP/man/vftr-tutorial.7" | sort -u); do
		pkg-config --exists "$module" || { echo "no $module"; exit 1; }
	done
	pkg-config --cflags vftrace | grep -q finstrument-functions
	pkg-config --libs vftrace | grep -q lvftrace
	[ -s "$(find dest -path "*/share/doc/vftr/examples/heat.c")" ]'

# ---- manual pages and completion, against the programs ---------------------------

options_of() { # HELP: the long options in it
	grep -oE -- '(^|[ ,|[])--[a-z][a-z_-]*' "$1" | grep -oE -- '--[a-z][a-z_-]*' | grep -vx -- --help | sort -u
}

test_expect 'every subcommand is in vftr(1), and has its own page or is explained there' '
	vftr --help | sed -n "s/^  \([a-z]*\)  *.*/\1/p" >subcommands
	[ "$(wc -l <subcommands)" -ge 8 ]
	for c in $(cat subcommands); do
		grep -qE "^\.It Cm $c( |$)" "$TOP/man/vftr.1" || { echo "vftr.1 lacks $c"; exit 1; }
	done'

test_expect 'a mistyped subcommand gets a near one, and another word none' '
	status_of 2 vftr rn 2>err
	has err "did you mean \`run"
	status_of 2 vftr flgas 2>err
	has err "did you mean \`flags"
	status_of 2 vftr foo 2>err
	has err "unknown subcommand \`foo"
	hasnt err "did you mean"'

test_expect 'the pages name every option that --help names' '
	for c in $(cat subcommands) node-agent; do
		page=$TOP/man/vftr-$c.1
		[ -e "$page" ] || continue
		case $c in
		node-agent) vftr-node-agent --help ;;
		*) vftr "$c" --help ;;
		esac >help
		mandoc -T ascii "$page" | sed "s/.\x08//g" >page
		for o in $(options_of help); do
			grep -qF -e "$o" page || { echo "$page lacks $o"; exit 1; }
		done
	done'

test_expect 'vftr(1) names the options of those that have no page' '
	mandoc -T ascii "$TOP/man/vftr.1" | sed "s/.\x08//g" >page
	for c in collate dump; do
		vftr "$c" --help >help
		for o in $(options_of help); do
			grep -qF -e "$o" page || { echo "$c: $o"; exit 1; }
		done
	done'

test_expect 'vftr-logs(5) names the lines and columns of the logs of an MPI job' '
	vftr-node-agent -q -k profile_table.show_calltime_imbalances=true -k logfile_for_ranks=0 \
		-k profile_table.show_minmax_summary=true -k profile_table.show_overhead=true \
		-k profile_table.threads=summary -k name_grouped_profile_table.show_table=true \
		-- mpirun -np 2 ./heat-few 40 40 3 >out
	mandoc -T ascii -O width=500 "$TOP/man/vftr-logs.5" | sed "s/.\x08//g" >page
	{
		grep -h "^|" heat-few_all.log heat-few_node_*.log heat-few_0.log |
			grep "[a-z]" | grep -v "| *[0-9.]* |" | tr "|" "\n"
		sed -n "s/^\([A-Z][A-Za-z. ]*\): .*[0-9] [s%MKG].*/\1/p" heat-few_all.log
	} | sed "s/^ *//; s/ *$//" | grep "[a-z]" | sort -u >words
	[ "$(wc -l <words)" -ge 40 ]
	while read -r word; do
		grep -qF -e "${word%\[*}" page || echo "$word"
	done <words >missing
	is "" "$(cat missing)"'

test_expect 'vftr-vfp(5) names every section of a node profile, its fields, and every kind of wait' '
	page=$TOP/man/vftr-vfp.5
	sed -n "s/^PROFILE_[A-Z]*([A-Z_]*, \"\([a-z]*\) *\",.*/\1/p" "$TOP/nodeagent/profile/lists.def" >sections
	[ "$(wc -l <sections)" -ge 50 ]
	while read -r section; do
		grep -q "^\.It Sy $section Ta " "$page" || echo "$section is not in the list"
		grep -qE "^\.It Sy ([a-z]+ , )*$section( , [a-z]+)*\$" "$page" || echo "$section has no fields"
	done <sections >missing
	is "" "$(cat missing)"
	n=$(grep -cE "^.X\([A-Z_]+, " "$TOP/nodeagent/base/wait-kinds.h")
	[ "$n" -ge 20 ]
	sed -n "/^\.It Sy waits\$/,/^\.It Sy causes/p" "$page" >waits
	has waits " $((n - 1)) "'

test_expect 'completion offers every subcommand, and every option of each' '
	for c in $(cat subcommands); do
		bash -c ". \"$TOP/man/completion.bash\"; COMP_WORDS=(vftr \"\"); COMP_CWORD=1; _vftr vftr;
			printf \"%s\n\" \"\${COMPREPLY[@]}\"" | grep -qx "$c" || { echo "no $c"; exit 1; }
		vftr "$c" --help >help 2>&1
		bash -c ". \"$TOP/man/completion.bash\"; COMP_WORDS=(vftr $c -); COMP_CWORD=2; _vftr vftr;
			printf \"%s\n\" \"\${COMPREPLY[@]}\"" >offered
		case $c in config | help) continue ;; esac
		for o in $(options_of help); do
			grep -qxF -e "$o" offered || { echo "$c: $o is not offered"; exit 1; }
		done
	done'

test_expect 'every page says what it is, and those it refers to are there' '
	for page in "$TOP"/man/*.[1-8] "$TOP"/man/*.in; do
		grep -q "^\.Nd ." "$page" || { echo "$page: no description"; exit 1; }
		sed -n "s/^\.Xr \(vft[^ ]*\) \([1-8]\).*/\1.\2/p" "$page" | sort -u |
			while read -r other; do
				[ -e "$TOP/man/$other" ] || [ -e "$TOP/man/$other.in" ] ||
					echo "$page: no $other"
			done
	done >missing
	is "" "$(cat missing)"'

done_testing
