#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='the table of MPI functions, and what the generator makes of it'
. "$(dirname "$0")/../lib/lib.sh"

need nm awk
M=$TOP/mpi/generate
GEN=$BUILD/gen
mpis=$(mpi_list)
[ -n "$mpis" ] || skip_all 'no MPI on this machine'
first_mpi=$(echo "$mpis" | head -n 1)
for mpi in $mpis; do
	need_built "$LIB/libvftrace-$mpi.so" "$GEN/$mpi/mpi.i" "$GEN/$mpi/c.sym" "$GEN/$mpi/fortran.sym"
done

# generate AWK OUT [INPUT...]: with the tables in the order the generator needs
generate() {
	gen_awk=$1
	gen_out=$2
	shift 2
	"$gen_awk" -v "out=$gen_out" -f "$M/gen.awk" "$M/kinds.tab" "$M/classes.tab" "$M/quirks.tab" "$M/not-wrapped.tab" \
		"$@" "$M/mpi.tab"
}

exported() {
	nm -D --defined-only "$1" | awk '$2 ~ /[TWi]/ { sub(/@.*/, "", $3); print $3 }' | sort -u
}

# not_wrapped WANTED LIBRARY: names in the file WANTED that the library lacks,
# and that mpi/generate/not-wrapped.tab does not name
not_wrapped() {
	exported "$2" >ours
	sed -n "s/^\([A-Za-z].*\)|.*/^\1\$/p" "$M/not-wrapped.tab" | sed "s/\*/.*/g" >left_out
	sort -u "$1" | comm -23 - ours | grep -vf left_out || :
}

# names of the functions of the table
functions() {
	sed -n "s/^\(MPI_[A-Za-z0-9_]*\).*/\1/p" "$M/mpi.tab"
}

test_expect 'ids never change: the first 489 rows are what they were' '
	functions >rows
	is "489 574147642" "$(head -n 489 rows | wc -l) $(head -n 489 rows | cksum | cut -d" " -f1)"
	is "MPI_Init MPI_Init_thread MPI_Finalize MPI_Abort" "$(head -n 4 rows | paste -sd" ")"
	[ "$(wc -l <rows)" -le 1536 ]
'

test_expect 'each row has its two ids, and the names are in the order of the ids' '
	functions | awk "{ print 2 * n++, toupper(\$1) }" >wanted
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
				generate ./a $out "$GEN/$mpi/mpi.i" "$GEN/$mpi/c.sym" "$GEN/$mpi/fortran.sym" >this
				[ -e first ] || mv this first
				[ ! -e this ] || cmp this first
			done
		done
	done
'

test_expect 'every C function that each MPI exports or declares has a wrapper' '
	for mpi in $mpis; do
		so=$(ldd "$LIB/libvftrace-$mpi.so" | awk "\$1 ~ /^libmpi(ch)?\.so/ { print \$3 }")
		exported "$so" | grep "^MPIX*_" >wanted
		[ "$(wc -l <wanted)" -gt 400 ]
		is "" "$(not_wrapped wanted "$LIB/libvftrace-$mpi.so")" "$mpi, not wrapped"
		tr "\n;" " \n" <"$GEN/$mpi/mpi.i" | grep -v typedef |
			sed -n "s/.*[ *]\(MPIX*_[A-Za-z0-9_]*\) *([^()]*).*/\1/p" | sort -u >declared
		sed "s/^P//; s/ .*//" "$GEN/$mpi/c.sym" | sort -u | comm -12 - declared >wanted
		[ "$(wc -l <wanted)" -gt 400 ]
		is "" "$(not_wrapped wanted "$LIB/libvftrace-$mpi.so")" "$mpi, not wrapped"
	done
'

test_expect 'every Fortran routine of each MPI has a wrapper' '
	for mpi in $mpis; do
		for so in $(cat "$GEN/$mpi/fortran.libs"); do
			exported "$so"
		done | grep "^mpix*_[a-z0-9_]*[a-z0-9]_$" >wanted || :
		sed "s/^pmpir\{0,1\}_/mpi_/" "$GEN/$mpi/fortran.sym" >>wanted
		[ "$(wc -l <wanted)" -gt 1000 ] || [ -z "$(command -v mpif90.$mpi)" ]
		is "" "$(not_wrapped wanted "$LIB/libvftrace-$mpi.so")" "$mpi, not wrapped"
		for family in _ _f08_; do
			[ ! -s wanted ] || [ "$(grep -c "_send$family$\|_barrier$family$" wanted)" -gt 0 ]
		done
	done
'

test_expect 'what is not wrapped is named with a reason, and is there' '
	sort -u /dev/null >all
	for mpi in $mpis; do
		for so in $(cat "$GEN/$mpi/fortran.libs") \
			$(ldd "$LIB/libvftrace-$mpi.so" | awk "\$1 ~ /^libmpi(ch)?\.so/ { print \$3 }"); do
			exported "$so" >>all
		done
	done
	sed -n "/^[^#]/p" "$M/not-wrapped.tab" >rows
	is "" "$(grep -v "^[A-Za-z0-9_*]*|[^|]*[a-z][^|]*$" rows)"
	cut -d"|" -f1 rows | sed "s/\*/.*/g; s/.*/^&\$/" >left_out
	while read -r pattern; do
		grep -q "$pattern" all || echo "$pattern"
	done <left_out >idle
	if [ "$(echo "$mpis" | wc -w)" = 2 ] && command -v mpif90.mpich mpif90.openmpi; then
		is "" "$(cat idle)" "names of nothing"
	fi
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
	cp "$M/kinds.tab" "$M/quirks.tab" "$M/not-wrapped.tab" "$M/mpi.tab" tables
	echo "$2" >>"tables/$1"
	n=$(wc -l <"tables/$1")
	refuse awk -v out="${4:-id}" -f "$M/gen.awk" tables/kinds.tab tables/quirks.tab \
		tables/not-wrapped.tab "$GEN/$first_mpi/mpi.i" tables/mpi.tab >out 2>err
	is "gen.awk: tables/$1:$n: $3" "$(cat err)"
}

test_expect 'a mistake in a table is refused with file and line' '
	refused kinds.tab "NEW|int %|=|addr|x" "a kind has six columns"
	refused kinds.tab "COUNT|int %|=|addr|-|again" "kind COUNT is there twice"
	refused kinds.tab "NEW|int %|=|adr|-|x" "kind NEW: Fortran \`adr'"'"' is not addr, text, cptr or -"
	refused kinds.tab "NEW|int %|=|addr|count|x" "kind NEW: \`count'"'"' is no field"
	refused not-wrapped.tab "MPI_New" "what is not wrapped has two columns"
	refused quirks.tab "MPI_Send buf:BUF" "a quirk has two columns"
	refused mpi.tab "MPI_Send buf:CBUF" "\`MPI_Send'"'"' is no function, or is there twice"
	refused mpi.tab "MPI_New:DOUBL" "\`MPI_New:DOUBL'"'"' is not function:KIND"
	refused mpi.tab "MPI_New:DOUBLE @send" "MPI_New: what is recorded must return an error code"
	refused mpi.tab "MPI_New %news buf:CBUF" "MPI_New: there is no family \`news'"'"'"
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
	generate awk c mpi.i >out 2>err
	is 1 "$(grep -c "^int MPI_" out)"
	is "" "$(cat err)"
	generate awk f77 fortran.sym >out
	is 1 "$(grep -c "^void mpi_[a-z_]*(" out)"
	generate awk f08 fortran.sym >out
	is 0 "$(grep -c "^void" out)"
'

test_expect 'a function of mpi.h that the table lacks passes by us, and the build says so' '
	mkdir -p new
	cat >new/mpi.i <<-EOF
	typedef int (MPI_Unknown_function)(void *);
	extern int MPI_Init(int *argc, char ***argv);
	int MPI_Send_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
	extern MPI_Fint MPI_Newest (MPI_Comm comm,
		int *n); int PMPI_Newest(MPI_Comm comm, int *n);
	int MPIX_Extension(int n);
	double MPI_Newer(void);
	EOF
	generate awk c new/mpi.i >out 2>err
	is "mpi.h of new declares 2 functions that the table does not know: MPI_Newest MPI_Newer" "$(cat err)"
	is 2 "$(grep -c "^int MPI_" out)"
	is 0 "$(grep -c "Newe\|Extension" out)"
	echo PMPI_Newer >c.sym
	generate awk c new/mpi.i c.sym >out 2>err
	is "mpi.h of new declares 1 function that the table does not know: MPI_Newer" "$(cat err)"
	is 0 "$(grep -c "^int MPI_" out)"
	for mpi in $mpis; do
		generate awk c "$GEN/$mpi/mpi.i" "$GEN/$mpi/c.sym" 2>err >out
		is "" "$(cat err)"
	done
'

test_expect 'vftr-mpi(7) has each function once, under what is recorded of it' '
	awk -f "$M/man.awk" "$M/kinds.tab" "$M/classes.tab" "$M/mpi.tab" "$TOP/man/vftr-mpi.7.in" >page
	sed -n "/^\.Bl -tag -width Ds/,/^\.El/s/^\.Fn \(MPI_[A-Za-z0-9_]*\).*/\1/p" page | sort >listed
	functions | sort | diff - listed
	sed -n "s/.*CLASS(\([a-z_]*\)).*/\1/p" "$TOP/mpi/recorder/recorders.h" | grep -v "^name$" | sort >classes
	sed -n "s/^\([a-z][^|]*\)|.*/\1/p" "$M/classes.tab" | tr " " "\n" | grep -v "^-$" | sort | diff classes -
	echo "MPI_New @news buf:BUF" | cat "$M/mpi.tab" - >mpi.tab
	refuse awk -f "$M/man.awk" "$M/kinds.tab" "$M/classes.tab" mpi.tab "$TOP/man/vftr-mpi.7.in" 2>err >out
	has err "MPI_New: class news is not in classes.tab"
	for a in mawk gawk original-awk; do
		command -v $a >/dev/null || continue
		$a -f "$M/man.awk" "$M/kinds.tab" "$M/classes.tab" "$M/mpi.tab" "$TOP/man/vftr-mpi.7.in" | cmp - page
	done
	! command -v mandoc || mandoc -T lint -W warning page
'

done_testing
