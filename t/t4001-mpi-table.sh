#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='the table of MPI functions, and what the generator makes of it'
. "$(dirname "$0")/lib.sh"

need nm awk
M=$TOP/mpi
GEN=$BUILD/gen
mpis=$(mpi_list)
[ -n "$mpis" ] || skip_all 'no MPI on this machine'
first_mpi=$(echo "$mpis" | head -n 1)
for mpi in $mpis; do
	need_built "$LIB/libvftrace-$mpi.so" "$GEN/$mpi/mpi.i" "$GEN/$mpi/fortran.sym"
done

# generate AWK OUT [INPUT...]: with the tables in the order the generator needs
generate() {
	gen_awk=$1
	gen_out=$2
	shift 2
	"$gen_awk" -v "out=$gen_out" -f "$M/gen.awk" "$M/kinds.tab" "$M/quirks.tab" "$@" "$M/mpi.tab"
}

exported() {
	nm -D --defined-only "$1" | awk '$2 ~ /[TWi]/ { sub(/@.*/, "", $3); print $3 }' | sort -u
}

# not_wrapped WANTED LIBRARY: names in the file WANTED that the library lacks
not_wrapped() {
	exported "$2" >ours
	sort -u "$1" | comm -23 - ours
}

test_expect 'ids never change: the first 406 rows are what they were' '
	awk "/^MPI_/ { print \$1 }" "$M/mpi.tab" >rows
	is "406 2310072677" "$(head -n 406 rows | wc -l) $(head -n 406 rows | cksum | cut -d" " -f1)"
	is "MPI_Init MPI_Init_thread MPI_Finalize MPI_Abort" "$(head -n 4 rows | paste -sd" ")"
	[ "$(wc -l <rows)" -le 512 ]
'

test_expect 'each row has its two ids, and the names are in the order of the ids' '
	awk "/^MPI_/ { print 2 * n++, toupper(\$1) }" "$M/mpi.tab" >wanted
	sed -n "s/^	VFTR_\(MPI_.*\) = \([0-9]*\),/\2 \1/p" "$GEN/mpi_id.h" >ids
	awk "\$1 % 2 == 0" ids | diff wanted -
	sed -n "s/^	\"\(.*\)\", \"\(.*\)\",/\1\n\2/p" "$GEN/mpi_name.c" |
		awk "{ print NR - 1, toupper(\$0) }" | sort >names
	[ "$(wc -l <ids)" -gt 500 ]
	is "" "$(sort ids | comm -23 - names)" "ids with another name"
'

test_expect 'every awk on this machine generates the same' '
	for out in id name c f77 f08; do
		for mpi in $mpis; do
			rm -f first
			for a in mawk gawk original-awk busybox; do
				command -v $a >/dev/null || continue
				printf "#!/bin/sh\nexec $a %s \"\$@\"\n" "$([ $a = busybox ] && echo awk)" >a
				chmod +x a
				generate ./a $out "$GEN/$mpi/mpi.i" "$GEN/$mpi/fortran.sym" >this
				[ -e first ] || mv this first
				[ ! -e this ] || cmp this first
			done
		done
	done
'

test_expect 'every C function of each MPI has a wrapper, but for conversions, MPI_T and clocks' '
	for mpi in $mpis; do
		so=$(ldd "$LIB/libvftrace-$mpi.so" | awk "\$1 ~ /^libmpi(ch)?\.so/ { print \$3 }")
		exported "$so" | grep "^MPI_[A-Z][a-z]" |
			grep -Ev "^MPI_(.*_(c2f|f2c|c2f08|f082c|f2f08|f082f)|Wtime|Wtick|Aint_add|Aint_diff)$" >wanted
		[ "$(wc -l <wanted)" -gt 300 ]
		is "" "$(not_wrapped wanted "$LIB/libvftrace-$mpi.so")" "$mpi, not wrapped"
	done
'

test_expect 'every Fortran routine of each MPI has a wrapper, with the same exceptions' '
	for mpi in $mpis; do
		sed "s/^pmpir\{0,1\}_/mpi_/" "$GEN/$mpi/fortran.sym" | grep -Ev \
			"_(fn|fn_null)_$|sizeof|_(wtime|wtick|pcontrol|aint_add|aint_diff|f_sync_reg)_|delete_error" \
			>wanted || :
		[ "$(wc -l <wanted)" -gt 300 ] || [ -z "$(command -v mpif90.$mpi)" ]
		is "" "$(not_wrapped wanted "$LIB/libvftrace-$mpi.so")" "$mpi, not wrapped"
	done
'

test_expect 'the Fortran wrappers also have the other spellings' '
	for mpi in $mpis; do
		[ -s "$GEN/$mpi/fortran.sym" ] || continue
		printf "%s\n" mpi_init mpi_init_ mpi_init__ MPI_INIT mpi_send MPI_SEND >wanted
		is "" "$(not_wrapped wanted "$LIB/libvftrace-$mpi.so")" "$mpi, not there"
	done
'

# refused TABLE LINE MESSAGE: with this line appended, the generator stops there
refused() {
	mkdir -p tables
	cp "$M/kinds.tab" "$M/quirks.tab" "$M/mpi.tab" tables
	echo "$2" >>"tables/$1"
	n=$(wc -l <"tables/$1")
	refuse awk -v out="${4:-id}" -f "$M/gen.awk" tables/kinds.tab tables/quirks.tab \
		"$GEN/$first_mpi/mpi.i" tables/mpi.tab >out 2>err
	is "gen.awk: tables/$1:$n: $3" "$(cat err)"
}

test_expect 'a mistake in a table is refused with file and line' '
	refused kinds.tab "NEW|int %|=" "a kind has five columns"
	refused kinds.tab "COUNT|int %|=|addr|again" "kind COUNT is there twice"
	refused kinds.tab "NEW|int %|=|adr|x" "kind NEW: Fortran \`adr'"'"' is not addr, text, cptr or -"
	refused quirks.tab "MPI_Send buf:BUF" "a quirk has two columns"
	refused mpi.tab "MPI_Send buf:CBUF" "\`MPI_Send'"'"' is no function, or is there twice"
	refused mpi.tab "MPI_New buf:CBUFF" "MPI_New: \`buf:CBUFF'"'"' is not argument:KIND"
	refused mpi.tab "MPI_New buf" "MPI_New: \`buf'"'"' is not argument:KIND"
	sed -i "/^MPI_Send /d; /^MPI_New/d" tables/mpi.tab
	echo "MPI_Send buf:CBUF" >>tables/mpi.tab
	refuse awk -v out=c -f "$M/gen.awk" tables/kinds.tab "$GEN/$first_mpi/mpi.i" tables/mpi.tab 2>err >out
	grep -q "tables/mpi.tab:[0-9]*: MPI_Send has 1 arguments here and 6 in <mpi.h>" err
'

test_expect 'a function that an MPI lacks gets no wrapper' '
	echo "int MPI_Init(int *argc, char ***argv);" >mpi.i
	echo "pmpi_init_" >fortran.sym
	generate awk c mpi.i >out
	is 1 "$(grep -c "^int MPI_" out)"
	generate awk f77 fortran.sym >out
	is 1 "$(grep -c "^void mpi_[a-z_]*(" out)"
	generate awk f08 fortran.sym >out
	is 0 "$(grep -c "^void" out)"
'

done_testing
