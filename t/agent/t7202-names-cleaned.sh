#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='names that other tools lose, cut or mix up'
. "$(dirname "$0")/../lib/lib.sh"
need gcc jq
need_built "$AGENT" "$LIB/libvftrace.so"

# The names compilers give, without those compilers.
cat >spelled.c <<'END'
#define F(id, symbol) \
	void id(void) __asm__(symbol); \
	__attribute__((noinline)) void id(void) { __asm__ volatile(""); }
F(underscores, "solve___")
F(threaded, "loop_.t12p")
F(no_thread, "loop.tp")
F(gnu, "__grid_MOD_gnu")
F(intel, "grid_mp_intel_")
F(nec, "grid_MP_nec_")
F(nested, "__a_MOD_b_MOD_c")
F(clone, "step.constprop.0")
F(only_underscores, "___")
int main(void)
{
	underscores(); threaded(); no_thread(); gnu(); intel(); nec(); nested(); clone();
	only_underscores();
	return 0;
}
END
cc_traced spelled spelled.c || { echo 'Bail out! spelled.c cannot be compiled'; exit 1; }

# functions JSON: their names in one line, sorted
functions() {
	json "$1" '[.stacks[].function] | sort | join(" ")'
}

test_expect 'trailing underscores and the suffix .tNp of threaded code are cut, and no more' '
	traced -q -- ./spelled
	is "___ a::b_MOD_c grid::gnu grid::intel grid::nec init loop loop.tp main solve step.constprop.0" \
		"$(functions spelled_all.json)"'

test_expect 'output.names = linker: nothing is cut' '
	traced -q -k output.names=linker -- ./spelled
	is "___ __a_MOD_b_MOD_c __grid_MOD_gnu grid_MP_nec_ grid_mp_intel_ init loop.tp loop_.t12p main solve___ step.constprop.0" \
		"$(functions spelled_all.json)"'

test_expect 'strip_module_names: gfortran, ifort and nfort; at the first mark only' '
	traced -q -k strip_module_names=true -- ./spelled
	is "___ b_MOD_c gnu init intel loop loop.tp main nec solve step.constprop.0" \
		"$(functions spelled_all.json)"
	has spelled_all.log "b_MOD_c<main<init"'

cxx='command -v g++'
cat >templates.cpp <<'END'
#include <string>
#include <cstdlib>
#include <cstring>
extern "C" {
#include "vftrace.h"
}
#define NOINLINE __attribute__((noinline))
template <class A, class B> struct pair_of {};
template <class T> struct box {
	template <class U> NOINLINE static pair_of<T, U> put(T, U) { return {}; }
	NOINLINE bool operator<(const box &) const { return true; }
};
template <class T> NOINLINE void long_name(T) {}
// 2 to the power of 7 times a long word
struct a_rather_long_word {};
typedef pair_of<a_rather_long_word, a_rather_long_word> p1;
template <class T> struct t2 {};
typedef pair_of<pair_of<t2<p1>, t2<t2<p1>>>, pair_of<t2<t2<t2<p1>>>, t2<t2<t2<t2<p1>>>>>> p2;
template <int... N> struct numbers {};
NOINLINE void stack() { char *s = vftrace_get_stack(); free(s); }
NOINLINE void print() { char *s = vftrace_get_stack(); __builtin_puts(s); free(s); }
int main()
{
	box<int>::put(1, 2.5);
	box<int>::put(1, 'c');
	(void)(box<char>() < box<char>());
	long_name(p2());
	long_name(numbers<100000001, 100000002, 100000003, 100000004, 100000005, 100000006, 100000007,
		100000008, 100000009, 100000010, 100000011, 100000012, 100000013, 100000014, 100000015,
		MANY>());
	print();
	return 0;
}
END

test_if "$cxx" 'no g++' 'demangle_cxx keeps what follows the first template bracket' '
	cxx_traced templates -DMANY=1 templates.cpp
	traced -q -k output.names=full -- ./templates
	for f in "pair_of<int, double> box<int>::put<double>(int, double)" \
		"pair_of<int, char> box<int>::put<char>(int, char)" \
		"box<char>::operator<(box<char> const&) const"; do
		is 1 "$(jq --arg f "$f" "[.stacks[] | select(.function == \$f)] | length" templates_all.json)" "$f"
		has templates_all.log "$f"
	done
	is "$(json templates_all.json ".stacks | length")" \
		"$(json templates_all.json "[.stacks[].path] | unique | length")" "stacks of one name"'

test_if "$cxx" 'no g++' 'get_stack gives names as the tables do' '
	traced -q -- ./templates >out
	is "print<main<init" "$(cat out)"
	traced -q -k output.names=full -- ./templates >out
	is "print()<main<init" "$(cat out)"
	traced -q -k demangle_cxx=false -- ./templates >out
	is "_Z5printv<main<init" "$(cat out)"'

test_if "$cxx" 'no g++' 'layout run: between the names of a path are blanks, and no name has such' '
	traced -q -k output.layout=run -k profile_table.min_percent=0 -o run -- ./templates
	has run/summary.log " box::operator< < main < init"
	is 1 "$(calls_of run/profile.json "box::operator< < main < init")"
	is "$(json run/profile.json ".stacks | length")" "$(json run/profile.json \
		"[.stacks[] | select((.path | split(\" < \")[0]) == .function)] | length")"
	cp run/profile.json run.json
	traced -q -- ./templates
	is 1 "$(calls_of templates_all.json "box::operator<<main<init")"
	"$VFTR" diff run.json templates_all.json >diff
	hasnt diff " < "
	is "$(json run.json "[.stacks[].hash]")" "$(json templates_all.json "[.stacks[].hash]")"'

test_if "$cxx" 'no g++' 'names of more than 2000 characters: whole in the list, kept apart, tables stay narrow' '
	many=$(seq -s, 200000001 200000250)
	cxx_traced long -DMANY="$many" templates.cpp
	for form in full linker; do
		traced -q -k output.names=$form -- ./long
		name=$(json long_all.json "[.stacks[].function] | max_by(length)")
		[ "${#name}" -gt 2000 ]
		case $name in *200000250*) ;; *) exit 1 ;; esac
		grep "STID" long_all.log | grep -qF "$name<main<init"
		# the table of functions does not grow with it
		awk "/^ *Runtime profile/ { in_table = 1 } /Global call stacks/ { in_table = 0 }
			in_table && length > 600 { print length; bad = 1 } END { exit bad }" long_all.log
	done
	traced -q -- ./long
	is "long_name long_name #2" "$(functions long_all.json | grep -o "long_name[ #2]*" | xargs)"'

test_expect 'code that belongs to no file: a name that says so, right calls, nothing lost' '
	cat >generated.c <<-"END"
		#include <string.h>
		#include <sys/mman.h>
		void __cyg_profile_func_enter(void *f, void *site);
		void __cyg_profile_func_exit(void *f, void *site);
		static void leaf(void) { __asm__ volatile(""); }
		int main(void)
		{
			char *code = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			for (int i = 0; i < 7; i++) {
				__cyg_profile_func_enter(code + 64, code);
				leaf();
				__cyg_profile_func_exit(code + 64, code);
			}
			return code == MAP_FAILED;
		}
	END
	cc_traced generated generated.c
	traced -q -- ./generated
	is 7 "$(calls_of generated_all.json "(UnknownFunctionName)<main<init")"
	is 7 "$(calls_of generated_all.json "leaf<(UnknownFunctionName)<main<init")"'

test_expect 'a stripped program: the profile is there, main is an address' '
	cp spelled bare
	strip bare
	traced -q -- ./bare
	is 11 "$(json bare_all.json ".stacks | length")"
	is 10 "$(json bare_all.json "[.stacks[].calls] | add")"
	is 10 "$(json bare_all.json "[.stacks[] | select(.function | startswith(\"bare+0x\"))] | length")"'

test_expect 'opened by dlopen, also from folders that others leave out' '
	mkdir -p usr/lib
	gcc $TEST_FLAGS -finstrument-functions -shared -fPIC -DWORK=work_here -o usr/lib/libplug.so \
		"$T/agent/app-plugin-lib.c"
	gcc $TEST_FLAGS -finstrument-functions -o host "$T/agent/app-plugin.c" $(test_link vftrace) -ldl
	traced -q -- ./host "$PWD/usr/lib/libplug.so" >said
	is 3 "$(calls_of host_all.json "work_here<plugin_run<use<main<init")"'

test_expect 'static functions of one name under one caller: two stacks, no call lost' '
	printf "static void same(void) { __asm__ volatile(\"\"); }\nvoid ONE(void);\nvoid ONE(void)\n{\nsame();\n}\n" >s.c
	cat >two.c <<-"END"
		void one(void), two(void);
		int main(void) { for (int i = 0; i < 3; i++) { one(); two(); two(); } return 0; }
	END
	gcc $TEST_FLAGS -finstrument-functions -DONE=one -c s.c -o s1.o
	gcc $TEST_FLAGS -finstrument-functions -DONE=two -c s.c -o s2.o
	cc_traced both two.c s1.o s2.o
	traced -q -- ./both
	is 9 "$(json both_all.json "[.stacks[] | select(.function | startswith(\"same\")) | .calls] | add")"
	is 3 "$(json both_all.json "[.stacks[] | select(.caller == \"one\") | .calls] | add")"
	is 6 "$(json both_all.json "[.stacks[] | select(.caller == \"two\") | .calls] | add")"'

done_testing
