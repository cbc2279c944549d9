#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description="which libgomp: versions we don't know, plug-ins with their own, old locks"
. "$(dirname "$0")/../lib/lib.sh"
need jq gcc perl
need_built "$AGENT" "$LIB/libvftrace.so"
TEST_CC=gcc
TEST_FLAGS='-g -O1 -fopenmp'
GOMP=$(gcc -print-file-name=libgomp.so.1)
[ -e "$GOMP" ] || skip_all 'no libgomp on this machine'

# calls_with JSON START: calls of all frames whose path starts so
calls_with() {
	jq --arg s "$2" '[.stacks[] | select(.path | startswith($s)) | .calls] | add // 0' "$1"
}

# ---- a version that the tables do not know ------------------------------------------

cc_traced "$BIN/openmp" "$T/openmp/app-openmp.c"
cc_plain "$BIN/openmp-plain" "$T/openmp/app-openmp.c"
mkdir other
# libgomp keeps OMP_5.0.1 as the end of this string
perl -pe 's/\0GOMP_5\.0\.1\0/\0GOMP_9.0.1\0/' "$GOMP" >other/libgomp.so.1
for how in '-- ' '--preload -- '; do
	test_expect "a version unknown to us: the functions without constructs, one warning ($how)" "
		p=openmp
		[ '$how' = '-- ' ] || p=openmp-plain
		rm -f openmp*_all.*
		LD_LIBRARY_PATH=\$PWD/other traced -q $how \$BIN/\$p parallel 3
		is 0 \"\$(jq '[.stacks[] | select(.path | contains(\"omp_\"))] | length' \${p}_all.json)\"
		is 15 \"\$(calls_with \${p}_all.json 'work<')\"
		is 1 \"\$(grep -c OMP_9.0.1 \${p}_all.log)\" 'lines of warning'
		LD_LIBRARY_PATH=\$PWD/other traced -q $how \$BIN/\$p locks 4
		LD_LIBRARY_PATH=\$PWD/other traced -q $how \$BIN/\$p loops 4
		is 450 \"\$(calls_with \${p}_all.json 'leaf<')\""
done
test_expect 'no warning without constructs, and none with the version we know' '
	echo "int main(void) { return 0; }" >none.c
	cc_traced "$BIN/none" none.c
	LD_LIBRARY_PATH=$PWD/other traced -q -- "$BIN/none"
	is "[]" "$(jq -c .warnings none_all.json)"
	rm -f openmp_*
	traced -q -- "$BIN/openmp" parallel 3
	is "[]" "$(jq -c .warnings openmp_all.json)"'

# ---- plug-ins ---------------------------------------------------------------------------

cat >plugin.c <<'EOT'
#include <omp.h>
__attribute__((noinline)) static void in_plugin(void) {}
long plug(int n);
long plug(int n)
{
	long sum = 0;
	omp_lock_t lock;

	omp_init_lock(&lock);
#pragma omp parallel num_threads(3) reduction(+ : sum)
	{
		in_plugin();
#pragma omp for schedule(dynamic)
		for (int i = 0; i <= n; i++)
			sum += i;
#pragma omp task
		in_plugin();
		omp_set_lock(&lock);
		omp_unset_lock(&lock);
	}
	omp_destroy_lock(&lock);
	return sum;
}
EOT
cat >host.c <<'EOT'
#include <dlfcn.h>
int main(int argc, char **argv)
{
	long (*plug[8])(int), sum = 0;

	for (int i = 1; i < argc; i++) {
		void *p = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);

		if (!p || !(*(void **)&plug[i] = dlsym(p, "plug")))
			return 9;
	}
	for (int k = 0; k < 3; k++)
		for (int i = 1; i < argc; i++)
			sum += plug[i](100);
	return sum == 5050L * 3 * (argc - 1) ? 0 : 1;
}
EOT
gcc -g -O1 -o "$BIN/host" host.c -ldl
for x in a b; do
	perl -pe "s/\\0libgomp\\.so\\.1\\0/\\0libgom$x.so.1\\0/" "$GOMP" >"libgom$x.so.1"
	gcc -g -O1 -fPIC -fopenmp -finstrument-functions -c plugin.c
	gcc -shared -o "plugin-$x.so" plugin.o "./libgom$x.so.1" -Wl,-rpath,"$PWD"
done
test_expect 'a plug-in that brings a libgomp that nobody else sees' '
	traced -q --preload -- "$BIN/host" ./plugin-a.so
	is "[]" "$(jq -c .warnings host_all.json)"
	is 9 "$(calls_with host_all.json omp_parallel@)"
	is 9 "$(calls_with host_all.json omp_for@)"
	is 9 "$(calls_with host_all.json omp_task@)"
	is 9 "$(calls_with host_all.json omp_lock_wait@)"'
test_expect 'two plug-ins, each with its own: each calls the one it was linked with' '
	traced -q --preload -- "$BIN/host" ./plugin-a.so ./plugin-b.so
	is "[]" "$(jq -c .warnings host_all.json)"
	is 18 "$(calls_with host_all.json omp_parallel@)"
	is 18 "$(calls_with host_all.json omp_for@)"
	is 18 "$(calls_with host_all.json "in_plugin<omp_task@")"'

test_expect 'a team made by the constructor of a plug-in: its threads need the loader no more' '
	cat >team.c <<-"EOF"
	extern long plug(int n);
	static long sum;
	__attribute__((constructor)) static void construct(void)
	{
		sum = plug(100);
	}
	EOF
	for x in a b; do
		gcc -g -O1 -fPIC -fopenmp -finstrument-functions -c plugin.c team.c
		gcc -shared -o "team-$x.so" plugin.o team.o "./libgom$x.so.1" -Wl,-rpath,"$PWD"
	done
	TEST_COMMAND_SECONDS=$(patient 60)
	traced -q --preload -- "$BIN/host" ./team-a.so ./team-b.so
	is 24 "$(calls_with host_all.json omp_parallel@)"
	gcc -shared -o team.so plugin.o team.o -lgomp
	traced -q --preload -- "$BIN/host" ./team.so
	is 12 "$(calls_with host_all.json omp_parallel@)"'

# ---- the other runtime -----------------------------------------------------------------

echo 'int main(void) { return 0; }' >empty.c
test_if 'clang -fopenmp -o empty empty.c' 'no OpenMP runtime for clang' \
	'code of gcc on the runtime of LLVM, which records by itself: nothing twice' '
	gcc $TEST_FLAGS -finstrument-functions -c -o llvm.o "$T/openmp/app-openmp.c"
	clang -fopenmp -o "$BIN/llvm" llvm.o $(test_link vftrace)
	traced -q -- "$BIN/llvm" parallel 3
	is 15 "$(calls_with llvm_all.json omp_parallel@)"
	traced -q -- "$BIN/llvm" critical 3
	is 120 "$(calls_with llvm_all.json omp_critical@)"'

# ---- locks of OMP_1.0, which are smaller -----------------------------------------------

cat >old.c <<'EOT'
struct old {
	int owner, count, behind[6];
};
void new_locks(void);
#define OLD(name) __asm__(".symver " #name "," #name "@OMP_1.0")
OLD(omp_init_nest_lock);
OLD(omp_set_nest_lock);
OLD(omp_unset_nest_lock);
OLD(omp_init_lock);
OLD(omp_set_lock);
OLD(omp_unset_lock);
void omp_init_nest_lock(void *), omp_set_nest_lock(void *), omp_unset_nest_lock(void *);
void omp_init_lock(void *), omp_set_lock(void *), omp_unset_lock(void *);
int main(void)
{
	struct old nest = {0, 0, {1, 2, 3, 4, 5, 6}}, lock = nest;

	omp_init_nest_lock(&nest);
	omp_init_lock(&lock);
	new_locks();
	for (int k = 0; k < 3; k++) {
		omp_set_nest_lock(&nest);
		omp_set_nest_lock(&nest);
		if (nest.count != 2)
			return 3;
		omp_unset_nest_lock(&nest);
		omp_unset_nest_lock(&nest);
		omp_set_lock(&lock);
		omp_unset_lock(&lock);
	}
	for (int i = 0; i < 6; i++)
		if (nest.behind[i] != i + 1)
			return 4;
	return 0;
}
EOT
cat >new.c <<'EOT'
#include <omp.h>
void new_locks(void);
void new_locks(void)
{
	omp_nest_lock_t nest;

	omp_init_nest_lock(&nest);
	omp_set_nest_lock(&nest);
	omp_set_nest_lock(&nest);
	omp_unset_nest_lock(&nest);
	omp_unset_nest_lock(&nest);
	omp_destroy_nest_lock(&nest);
}
EOT
test_expect 'old locks and new ones in one program' '
	gcc -g -O1 -fPIC -shared -fopenmp -o libnew.so new.c
	gcc -g -O1 -finstrument-functions -o "$BIN/old" old.c -L. -lnew -Wl,-rpath,"$PWD" -lgomp
	nm -D "$BIN/old" >symbols
	has symbols omp_set_nest_lock@OMP_1.0
	limit "$BIN/old"
	traced -q --preload -- "$BIN/old"
	is 11 "$(calls_with old_all.json omp_lock_wait@)"'

# ---- fully static -----------------------------------------------------------------------

test_if '[ -e "$(gcc -print-file-name=libgomp.a)" ]' 'no libgomp.a' \
	'linked with -static: as if there were no constructs' '
	gcc $TEST_FLAGS -static -finstrument-functions -o "$BIN/static" "$T/openmp/app-openmp.c" \
		"$LIB/libvftrace-static.a" -pthread -ldl 2>errors || { cat errors; exit 1; }
	traced -q -- "$BIN/static" parallel 3
	is 15 "$(calls_with static_all.json "work<")"
	is 0 "$(calls_with static_all.json omp_)"'
done_testing
