/* SPDX-License-Identifier: BSD-3-Clause */
/* Names as people read them. */
#include <check.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "nodeagent/symbols/demangle.h"
#include "t/lib/suite.h"

enum { SHORT = 0, FULL = 1, LINKER = 2, MODULES = 4, KEEP = 8 };

static const struct {
	const char *raw, *shown; /* NULL: as it is */
	int style;
} names[] = {
	{"main", "main", SHORT},
	{"", "", SHORT},
	{"solve_", "solve", SHORT},
	{"solve__", "solve", FULL},
	{"solve__", "solve__", LINKER},
	{"MAIN__", "MAIN", SHORT},
	{"_exit", "_exit", SHORT},
	{"___", "___", SHORT},
	{"foo_.t12p", "foo", SHORT},
	{"foo.t3p", "foo", SHORT},
	{"foo.tp", "foo.tp", SHORT},
	{"foo.t3q", "foo.t3q", SHORT},
	{".t3p", ".t3p", SHORT},
	{"foo.constprop.0", "foo.constprop.0", SHORT},
	{"inner.3", "inner.3", MODULES | FULL},
	{"i", "i", FULL},
	{"a\033[2Jb", "a?[2Jb", SHORT},
	{"a\033[2Jb", "a?[2Jb", LINKER},
	{"f@a\nb.c", "f@a?b.c", SHORT},
	{"helper@a.c", "helper@a.c", SHORT},
	{"helper_@a_.f90:2", "helper@a_.f90:2", SHORT},
	{"@start", "@start", SHORT},
	{"gr\303\266\303\237e_", "gr\303\266\303\237e", SHORT},

	/* Fortran: gfortran, ifort, nfort, flang */
	{"__heat_MOD_step", "heat::step", SHORT},
	{"__heat_MOD_step", "heat::step", FULL},
	{"__heat_MOD_step", "__heat_MOD_step", LINKER},
	{"__heat_MOD_step", "__heat_MOD_step", LINKER | MODULES},
	{"__heat_MOD_step", "step", MODULES},
	{"__heat.solver_MOD_step", "heat::solver::step", SHORT},
	{"__heat_MOD_step._omp_fn.0", "heat::step._omp_fn.0", SHORT},
	{"__m_MOD_x@a.f90", "x@a.f90", MODULES},
	{"__m_MOD_x@a.f90", "m::x@a.f90", SHORT},
	{"heat_mp_step_", "heat::step", SHORT},
	{"heat_MP_step_", "heat::step", SHORT},
	{"heat_mp_step_.t2p", "heat::step", SHORT},
	{"heat_mp_step_", "step", MODULES},
	{"heat_MP_step_", "step", MODULES},
	{"kernel_mp_step", "kernel_mp_step", SHORT}, /* of C */
	{"heat_MOD_step", "heat_MOD_step", SHORT},
	/* of Python */
	{"json.encoder.JSONEncoder.__init__", "json.encoder.JSONEncoder.__init__", SHORT},
	{"importlib.resources._common._", "importlib.resources._common._", FULL},
	{"mod.submod_mp_sub_", "mod::submod::sub", SHORT},
	{"_mp_step_", "_mp_step", SHORT},
	{"__a_MOD_b_MOD_c", "b_MOD_c", MODULES},
	{"__a_MOD_b_MOD_c", "a::b_MOD_c", SHORT},
	{"__a_mp_b_MOD_c", "b_MOD_c", MODULES},
	{"__a_mp_b_MOD_c", "a_mp_b::c", SHORT},
	{"__a_MOD_", "__a_MOD", MODULES},
	{"__a_MOD_", "__a_MOD", SHORT},
	{"__a_MOD_init_", "init", MODULES},
	{"_QMheatPstep", "heat::step", SHORT},
	{"_QMheatSsolverPstep", "heat::solver::step", SHORT},
	{"_QMheatFstepPinner", "heat::step::inner", SHORT},
	{"_QMheatFstepPinner", "step::inner", MODULES},
	{"_QPstep", "step", SHORT},
	{"_QQmain", "MAIN", SHORT},
	{"_QMheat", "heat", SHORT},
	{"_QMheatEcounter", "_QMheatEcounter", SHORT},
	{"_QM", "_QM", SHORT},
	{"_Quiet", "_Quiet", SHORT},

	/* C++: kept */
	{"_Z1fR1AS0_", "_Z1fR1AS0_", KEEP},
	{"_ZL6helperv@b.cpp", "_ZL6helperv@b.cpp", KEEP | MODULES},
	{"_Z3fo\nv", "_Z3fo?v", KEEP},
	{"_Z1fv", "_Z1fv", LINKER},
	/* whole, by libstdc++ */
	{"_Z3addIiET_S0_S0_", "int add<int>(int, int)", FULL},
	{"_ZN4heat4gridIdLi3EE4stepEv", "heat::grid<double, 3>::step()", FULL},
	{"_ZL6helperv@b.cpp", "helper()@b.cpp", FULL},
	{"_Z3foov.constprop.0", "foo() [clone .constprop.0]", FULL},
	{"_Zwhatever", "_Zwhatever", FULL},
	{"_Z", "_Z", FULL},
	{"_Z3fo\nv", "_Z3fo?v", FULL},
	{"omp_parallel@_ZN4heat4stepEv+0x1c", "omp_parallel@heat::step()+0x1c", FULL},

	/* short */
	{"_Z1fR1AS0_", "f", SHORT},
	{"_Z3addIiET_S0_S0_", "add", SHORT},
	{"_ZN4heat4gridIdLi3EE4stepEv", "heat::grid::step", SHORT},
	{"_ZNKSt6vectorIdSaIdEEixEm", "std::vector::operator[]", SHORT},
	{"_ZN3boxIcEltERKS0_", "box::operator<", SHORT},
	{"_ZlsRSoRK1A", "operator<<", SHORT},
	{"_ZN1AssERKS_", "A::operator<=>", SHORT},
	{"_ZN1AptEv", "A::operator->", SHORT},
	{"_ZN1AclEv", "A::operator()", SHORT},
	{"_Znwm", "operator new", SHORT},
	{"_ZdaPv", "operator delete[]", SHORT},
	{"_ZN1AawEv", "A::operator co_await", SHORT},
	{"_Zli2_hPKc", "operator\"\" _h", SHORT},
	{"_ZN1AcvbEv", "A::operator bool", SHORT},
	{"_ZN1AcvPKcEv", "A::operator char const*", SHORT},
	{"_ZNK1AcvNS_1BEEv", "A::operator A::B", SHORT},
	{"_ZNKSt17reference_wrapperIKiEcvRS0_Ev", "std::reference_wrapper::operator int const&",
		SHORT},
	{"_ZN1AcvSt6vectorIiSaIiEEEv", "A::operator std::vector", SHORT},
	{"_ZN1AcvT_IiEEv", "A::operator T", SHORT},
	{"_ZN1AcvPFivEEv", "A::operator (*)()*", SHORT},
	{"_ZN4heat4gridIdLi3EEC1Ev", "heat::grid::grid", SHORT},
	{"_ZN4heat4gridIdLi3EED2Ev", "heat::grid::~grid", SHORT},
	{"_ZN1BCI11AEi", "B::B", SHORT},
	{"_ZNSsC1EPKc", "std::string::string", SHORT},
	{"_ZN12_GLOBAL__N_16hiddenEi", "(anonymous)::hidden", SHORT},
	{"_ZN12_GLOBAL__N_11AC2Ev", "(anonymous)::A::A", SHORT},
	{"_ZZ4mainENKUliE_clEi", "main::{lambda#1}", SHORT},
	{"_ZZ4mainENKUliE0_clEi", "main::{lambda#2}", SHORT},
	{"_ZZ4mainENUliE_4_FUNEi", "main::{lambda#1}::_FUN", SHORT},
	{"_ZZN1A1fEvENKUlT_E_clIiEEDaS0_", "A::f::{lambda#1}", SHORT},
	/* with template parameters of its own */
	{"_Z14for_each_indexIZ14accumulate_alldEUlTyT_E_EvS0_", "for_each_index", SHORT},
	{"_ZZ14accumulate_alldENKUlTyT_E_clIiEEDaS_", "accumulate_all::{lambda#1}", SHORT},
	{"_ZZ4mainENKUlTnivE_clILi3EEEDav", "main::{lambda#1}", SHORT},
	{"_ZZ4mainENKUlTpTyDpT_E0_clIJiEEEDaS1_", "main::{lambda#2}", SHORT},
	{"_ZZ4mainENKUlTtTyTniEvE_clI1AEEDav", "main::{lambda#1}", SHORT},
	{"_ZZ4mainENKUlTk1CT_E_clIiEEDaS_", "main::{lambda#1}", SHORT},
	{"_ZZ4mainENKUlTtTyvE_clEv", "_ZZ4mainENKUlTtTyvE_clEv", SHORT},
	{"_ZZZ4mainENKUlvE_clEvENKUlvE0_clEv", "main::{lambda#1}::{lambda#2}", SHORT},
	{"_ZZ1fvENKUt_1gEv", "f::{unnamed type#1}::g", SHORT},
	{"_ZZ1fvEN1B1gEv", "f::B::g", SHORT},
	{"_ZZ1fiENKd_UlvE_clEv", "_ZZ1fiENKd_UlvE_clEv", SHORT},
	{"_ZZ1fiEd_NKUlvE_clEv", "f::{lambda#1}", SHORT},
	{"_ZN1A1xMUlvE_clEv", "A::x::{lambda#1}", SHORT},
	{"_ZZ1fvE1x_0", "f::x", SHORT},
	{"_ZNSt7__cxx119to_stringB5cxx11Ei", "std::to_string", SHORT},
	{"_ZNSt3__16vectorIiE4sizeEv", "std::vector::size", SHORT},
	{"_ZN1A1fB5cxx11B3fooEv", "A::f", SHORT},
	{"_ZL6helperv@b.cpp", "helper@b.cpp", SHORT},
	{"_Z3foov.constprop.0", "foo [clone .constprop.0]", SHORT},
	{"_ZN1A1fEv.isra.0.cold", "A::f [clone .isra.0.cold]", SHORT},
	{"_ZN1A1fEv._omp_fn.0", "A::f [clone ._omp_fn.0]", SHORT},
	{"_ZThn16_N1A1fEv", "A::f [thunk]", SHORT},
	{"_ZTv0_n24_N1AD0Ev", "A::~A [thunk]", SHORT},
	{"_ZTch0_v0_n24_N1A1fEv", "A::f [thunk]", SHORT},
	{"_ZThn16_N1A1fEv.cold", "A::f [thunk] [clone .cold]", SHORT},
	{"_ZTV1A", "A [vtable]", SHORT},
	{"_ZTW1x", "x [TLS wrapper]", SHORT},
	{"_ZGVZ1fvE1x", "f::x [guard]", SHORT},
	{"_ZGTtN1A1fEv", "A::f [transaction]", SHORT},
	{"_ZSt4sortIPiZ4mainEUliiE_EvT_S2_T0_", "std::sort", SHORT},
	{"_ZN1AIXsrSt7is_sameIT_iE5valueEE1fEv", "A::f", SHORT},
	{"_ZN1AILi5ELb1ELn3EXplLi1ELi2EEJicEE1fEv", "A::f", SHORT},
	{"_ZN1AIXadL_ZN1B1gEvEEE1fEv", "A::f", SHORT},
	{"_ZN1AIDTcl1gfp_EEE1fEv", "A::f", SHORT},
	{"_ZN1AIM1BFivEE1fEv", "A::f", SHORT},
	{"_ZN1AIA3_iE1fEv", "A::f", SHORT},
	{"_ZN1AIDv4_fDF16_DnE1fEv", "A::f", SHORT},
	{"_ZN1AISt8functionIFvvEEE1fEv", "A::f", SHORT},
	{"_ZN1AIXfL_plT_EE1fEv", "_ZN1AIXfL_plT_EE1fEv", SHORT},
	{"_ZN1AIXfLplT_Li0EEE1fEv", "A::f", SHORT},
	{"omp_parallel@_ZN4heat4stepEv+0x1c", "omp_parallel@heat::step+0x1c", SHORT},
	{"omp_parallel@_ZN4heat4stepEv+0x1c", "omp_parallel@_ZN4heat4stepEv+0x1c", KEEP},
	{"omp_critical(c)@__heat_MOD_step+0x10", "omp_critical(c)@step+0x10", MODULES},
	{"omp_parallel@step_+0x10", "omp_parallel@step+0x10", SHORT},
	{"omp_parallel@libheat.so.1+0x10", "omp_parallel@libheat.so.1+0x10", MODULES},
	{"omp_parallel@step_+0x1g", "omp_parallel@step_+0x1g", SHORT},
	{"f@+0x1", "f@+0x1", SHORT},

	/* Rust, the older way */
	{"_ZN1r10simulation6driver17h1555eaefff1e5886E", "r::simulation::driver", SHORT},
	{"_ZN1r10simulation6driver17h1555eaefff1e5886E", "r::simulation::driver", FULL},
	{"_ZN1r4main17h086b0cfd890a8ea9E", "_ZN1r4main17h086b0cfd890a8ea9E", KEEP},
	{"_ZN1r4main17h086b0cfd890a8ea9E", "_ZN1r4main17h086b0cfd890a8ea9E", LINKER},
	{"_ZN1r4main17h086b0cfd890a8ea9E.llvm.1234567890", "r::main", SHORT},
	{"_ZN1r4main17h086b0cfd890a8ea9E.cold", "r::main [clone .cold]", SHORT},
	{"_ZN72_$LT$r..simulation..Field$LT$f64$GT$$u20$as$u20$r..simulation..Relax$GT$5relax"
	 "17h5e3c6f6f88896437E",
		"<r::simulation::Field<f64> as r::simulation::Relax>::relax", SHORT},
	{"_ZN3std2rt10lang_start28_$u7b$$u7b$closure$u7d$$u7d$17ha86af84d9cc65291E",
		"std::rt::lang_start::{{closure}}", SHORT},
	{"_ZN4core3ops8function6FnOnce40call_once$u7b$$u7b$vtable.shim$u7d$$u7d$"
	 "17h42e08618e5619cfaE",
		"core::ops::function::FnOnce::call_once{{vtable.shim}}", SHORT},
	{"_ZN1a29$RF$$BP$$LP$$C$$RP$$u27$$uf6$17h0123456789abcdefE", "a::&*(,)'\303\266", SHORT},
	{"_ZN1a22$u7$$u202e$$XY$$$u$LT.17h0123456789abcdefE", "a::\\u{7}\\u{202e}$XY$$$u$LT.",
		SHORT},
	{"_ZN17h0123456789abcdefE", "h0123456789abcdef", SHORT},
	{"_ZN1a17h0123456789abcdef1bE", "a::h0123456789abcdef::b", SHORT},
	{"_ZN1a17h0123456789abcdegE", "a::h0123456789abcdeg", SHORT},
	{"_ZN1a17h0123456789abcdefEv", "a::h0123456789abcdef", SHORT}, /* C++ has types */

	/* Rust, v0 */
	{"_RNvCs6GmmlP4bgsG_1r4main", "r::main", SHORT},
	{"_RINvNtCs6GmmlP4bgsG_1r10simulation6driverNCNvB4_4main0EB4_", "r::simulation::driver",
		SHORT},
	{"_RINvNtCs6GmmlP4bgsG_1r10simulation6driverNCNvB4_4main0EB4_",
		"r::simulation::driver::<r::main::{closure#0}>", FULL},
	{"_RINvNtCs6GmmlP4bgsG_1r10simulation6driverNCNvB4_4main0EB4_",
		"_RINvNtCs6GmmlP4bgsG_1r10simulation6driverNCNvB4_4main0EB4_", KEEP},
	{"_RNvXNtCs6GmmlP4bgsG_1r10simulationINtB2_5FielddENtB2_5Relax5relax",
		"<r::simulation::Field as r::simulation::Relax>::relax", SHORT},
	{"_RNvXNtCs6GmmlP4bgsG_1r10simulationINtB2_5FielddENtB2_5Relax5relax",
		"<r::simulation::Field<f64> as r::simulation::Relax>::relax", FULL},
	{"_RNvC1a4main.llvm.0123", "a::main", SHORT},
	{"_RNvC1a4main.cold", "a::main [clone .cold]", SHORT},
	{"_RNvC1a4main@b.rs", "a::main@b.rs", SHORT},
	{"_RNCNvC1a1fs_0", "a::f::{closure#1}", SHORT},
	{"_RNSNvC1a1f1v0", NULL, SHORT},
	{"_RNSNvC1a1f1v", "a::f::{shim:v#0}", SHORT},
	{"_RNvC1au8gdel_5qa", "a::punycode{gdel_5qa}", SHORT},
	{"_RNvC1a3_1x_", "a::1x_", SHORT},
	{"_RINvC1a1fKj3_Kj0_Kln7_Kb1_Kc78_KcdF_KpE", NULL, FULL},
	{"_RINvC1a1fKj3_Kj0_Kln7_Kb1_Kb0_Kc78_Kcdf_KpKoffffffffffffffff1_E",
		"a::f::<3, 0, -7, true, false, 'x', '\303\237', _, 0xffffffffffffffff1>", FULL},
	{"_RINvC1a1fTEThETaxuEAAfj2_j3_SeE",
		"a::f::<(), (u8,), (i8, i64, ()), [[f32; 2]; 3], [str]>", FULL},
	{"_RINvC1a1fFUKClElFG_RL0_hPhOnEzE",
		"a::f::<unsafe extern \"C\" fn(i32) -> i32, for<'a> fn(&'a u8, *const u8, *mut "
		"i128) "
		"-> !>",
		FULL},
	{"_RINvC1a1fDNtC1b5DebugNtC1b4SendEL_RDNtC1b4Iterp4ItemhEL_QShE",
		"a::f::<dyn b::Debug + b::Send, &dyn b::Iter<Item = u8>, &mut [u8]>", FULL},
	{"_RNvXC1aDINtC1b2FnThEEp6OutputxEL_NtC1b4Send1f",
		"<dyn b::Fn<(u8,), Output = i64> as b::Send>::f", FULL},
	{"_RNvXC1aDINtC1b2FnThEEp6OutputxEL_NtC1b4Send1f", "<dyn b::Fn as b::Send>::f", SHORT},
	/* a lifetime and a constant that there are not, references forth, ends */
	{"_RINvC1a1fL0_E", NULL, FULL},
	{"_RINvC1a1fKe61_E", NULL, FULL},
	{"_RNvB_1f", NULL, FULL},
	{"_RNvB2_1f", NULL, FULL},
	{"_RNvC1a1fBzzzzzzzzzzzzzzz_E", NULL, FULL},
	{"_RNvC1a9f", NULL, FULL},
	{"_RNvC1a99999999999999999999999999f", NULL, FULL},
	{"_RINvC1a1fh", NULL, FULL},
	{"_RNvC1a1f ", NULL, FULL},
	{"_RNvC1a1f.a b", NULL, FULL},
	{"_RNvC1a2f\n", "_RNvC1a2f?", FULL},
	{"_R", "_R", SHORT},
	{"_Render", "_Render", SHORT},

	/* no such names */
	{"_Zwhatever", "_Zwhatever", SHORT},
	{"_Z", "_Z", SHORT},
	{"_ZN", "_ZN", SHORT},
	{"_ZNE", "_ZNE", SHORT},
	{"_ZN3fooI", "_ZN3fooI", SHORT},
	{"_ZN3foo3barIiEv", "_ZN3foo3barIiEv", SHORT},
	{"_ZN3fooIXEE3barEv", "_ZN3fooIXEE3barEv", SHORT},
	{"_Z999foo", "_Z999foo", SHORT},
	{"_Z99999999999999999999999999foo", "_Z99999999999999999999999999foo", SHORT},
	{"_Z0", "_Z0", SHORT},
	{"_ZS_", "_ZS_", SHORT},
	{"_ZNS_E", "_ZNS_E", SHORT},
	{"_ZNS_S_E", "_ZNS_S_E", SHORT},
	{"_ZC1", "_ZC1", SHORT},
	{"_ZN1ACE", "_ZN1ACE", SHORT},
	{"_ZTV", "_ZTV", SHORT},
	{"_ZTh", "_ZTh", SHORT},
	{"_ZZ1fv", "_ZZ1fv", SHORT},
	{"_Z3foo<int>", "_Z3foo<int>", SHORT},
	{"_Z3foo v", "_Z3foo v", SHORT},
	{"_Z3foo\377v", "_Z3foo\377v", SHORT},
	{"_R3foo", "_R3foo", SHORT},
};

START_TEST(test_name)
{
	const struct name_style style = {
		.strip_module_names = names[_i].style & MODULES,
		.keep_cxx = names[_i].style & KEEP,
		.form = names[_i].style & FULL	   ? NAME_FULL
			: names[_i].style & LINKER ? NAME_LINKER
						   : NAME_SHORT,
	};
	char *s;

	if (names[_i].style & FULL && !dlopen("libstdc++.so.6", RTLD_NOW))
		return; /* names stay mangled then */
	s = name_shown(names[_i].raw, &style);
	ck_assert_str_eq(s, names[_i].shown ? names[_i].shown : names[_i].raw);
	free(s);
}
END_TEST

START_TEST(test_long_and_nested)
{
	const struct name_style style = {.strip_module_names = true, .form = NAME_FULL};
	size_t n = 1 << 20;
	char *raw = malloc(n + 1), *s;

	memset(raw, '_', n);
	raw[n] = 0;
	s = name_shown(raw, &style);
	ck_assert_str_eq(s, raw);
	free(s);
	memset(raw, 'P', n);
	memcpy(raw, "_Z1f", 4);
	s = name_shown(raw, &style);
	ck_assert_ptr_nonnull(s);
	free(s);
	free(raw);
}
END_TEST

START_TEST(test_hundred_thousand)
{
	const struct name_style style = {.strip_module_names = true, .form = NAME_FULL};
	struct timespec a, b;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
	for (int i = 0; i < 50000; i++) {
		free(name_shown("__heat_MOD_step", &style));
		free(name_shown("_ZN4heat4gridIdLi3EE4stepEv", &style));
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
	ck_assert_int_lt(b.tv_sec - a.tv_sec, 5);
}
END_TEST

/* 22 pairs, each of the one before twice: 138 MB of text, if somebody writes it */
START_TEST(test_bomb)
{
	static const char digits[] = "0123456789ABCDEFGHIJK";
	const struct name_style style = {.form = NAME_FULL};
	char raw[512] = "_Z1fSt4pairIiiES_IS0_S0_E", *s, *at = raw + strlen(raw);
	struct rusage before, after;

	for (int i = 1; digits[i]; i++)
		at += sprintf(at, "S_IS%c_S%c_E", digits[i], digits[i]);
	getrusage(RUSAGE_SELF, &before);
	s = name_shown(raw, &style);
	getrusage(RUSAGE_SELF, &after);
	ck_assert_str_eq(s, raw);
	free(s);
	ck_assert_int_lt(after.ru_maxrss - before.ru_maxrss, 32 << 10); /* KiB */
	/* much repeated, and no longer than it may be */
	s = name_shown("_Z1fSt4pairIiiES_IS0_S0_ES_IS1_S1_ES_IS2_S2_ES_IS3_S3_ES_IS4_S4_E", &style);
	if (dlopen("libstdc++.so.6", RTLD_NOW))
		ck_assert_int_eq(strncmp(s, "f(std::pair<int, int>, std::pair<std::pair<", 43), 0);
	free(s);
}
END_TEST

/* ---- short names that nobody writes --------------------------------------------------- */

static double short_seconds(const char *raw, char **shown)
{
	const struct name_style style = {.form = NAME_SHORT};
	struct timespec a, b;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
	*shown = name_shown(raw, &style);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
	return (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec);
}

/* before, n times what is repeated, after. The caller frees. */
static char *repeated(const char *before, const char *what, size_t n, const char *after)
{
	char *s = malloc(strlen(before) + n * strlen(what) + strlen(after) + 1), *to;

	to = stpcpy(s, before);
	while (n--)
		to = stpcpy(to, what);
	strcpy(to, after);
	return s;
}

static const struct {
	const char *before, *what, *after;
	size_t n;
	const char *shown; /* NULL: as it is */
} long_names[] = {
	{"_ZN4heat4gridIJ", "d", "EE4stepEv", 100000, "heat::grid::step"},
	{"_ZN4heat4gridI", "3boxIiE", "E4stepEv", 15000, "heat::grid::step"},
	{"_ZN4heat4gridI", "S1_", "E4stepEv", 33000, "heat::grid::step"},
	{"_ZN4heat4gridIiE4stepE", "NSt6vectorIiEE", "", 8000, "heat::grid::step"},
	{"_ZN4heat4gridI", "SaI", "E4stepEv", 33000, NULL},
	{"_Z", "Z", "1fv", 100000, NULL},
	{"_ZZ1fvENKUl", "Tt", "vE_clEv", 50000, NULL},
	{"_ZZ1fvENKUl", "Ty", "vE_clEv", 50000, "f::{lambda#1}"},
	{"_ZN", "1aI", "E", 33000, NULL},
	{"_ZN1AIX", "pl", "EE1fEv", 50000, NULL},
	{"_ZN1AcvS", "P", "iEv", 100000, NULL},
	{"_ZN1Acv", "P", "iEv", 100000, NULL},
	{"_ZNK1AcvNS_1BEE", "PS0_", "v", 25000, "A::operator A::B"},
	{"_Z1f", "N", "", 100000, "f"},
	{"_ZN1A", "C1", "Ev", 50000, NULL}, /* long::long::... is no class */
	{"_ZTh", "0", "_1fv", 100000, "f [thunk]"},
	{"_Z", "9", "f", 100000, NULL},
	{"_ZN1AI", "E", "", 100000, "A"},
	{"", "_MOD_", "", 20000, NULL},
	{"__", "_MOD_", "x", 20000, NULL},
	{"_Q", "M", "", 100000, NULL},
	{"_ZN", "1a", "17h0123456789abcdefE", 100000, NULL},
	{"_ZN1a99999$", "LT$", "17h0123456789abcdefE", 33333, NULL},
	{"_RINvC1a1f", "h", "E", 15000, "a::f"},
	{"_RNvXC1aT", "NtC1b1c", "ENtC1b1d1f", 15000, NULL}, /* 90 KB of text */
	{"_RINvC1a1f", "S", "hE", 100000, NULL},
	{"_RNvXC1a", "FG_", "EuNtC1b1d1f", 33000, NULL},
	{"_R", "M", "C1ah", 100000, NULL},
	{"_R", "Nv", "C1a", 50000, NULL},
	{"_RNvC1a", "9", "f", 100000, NULL},
	{"_RNvC1a1fB", "z", "_", 100000, NULL},
	/* one long argument, read again by each reference to what it is of */
	{"_RNvXC1aTINtC1b100000_", "c", "ENtC1b1d1f", 100000, NULL},
};

/* 25 pairs, each of the one before twice; written, or not. */
START_TEST(test_rust_bomb)
{
	static const char digits[] =
		"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char raw[1024] = "_RNvXC1aT", *s;

	for (int is_short = 0; is_short < 2; is_short++) {
		const struct name_style style = {.form = is_short ? NAME_SHORT : NAME_FULL};
		size_t at, last;

		strcpy(raw, is_short ? "_RNvXC1aTINtC1b1chE" : "_RNvXC1aThh");
		last = strlen("_RNvXC1aT") - 2;
		for (int i = 0; i < 25; i++) {
			at = strlen(raw) - 2;
			sprintf(raw + strlen(raw), "TB%c%c_B%c%c_E", digits[(last - 1) / 62],
				digits[(last - 1) % 62], digits[(last - 1) / 62],
				digits[(last - 1) % 62]);
			last = at;
		}
		strcat(raw, "ENtC1b1d1f");
		s = name_shown(raw, &style);
		ck_assert_str_eq(s, raw);
		free(s);
	}
}
END_TEST

START_TEST(test_long_short)
{
	char *raw = repeated(
		long_names[_i].before, long_names[_i].what, long_names[_i].n, long_names[_i].after);
	char *s;
	double seconds = short_seconds(raw, &s);

	ck_assert_double_lt(seconds, 0.2);
	ck_assert_uint_le(strlen(s), 4 * strlen(raw) + 64);
	if (long_names[_i].shown)
		ck_assert_str_eq(s, long_names[_i].shown);
	free(s);
	free(raw);
}
END_TEST

/* Deep, but as deep as the program can be: 300 templates in each other. */
START_TEST(test_deep_short)
{
	char *head = repeated("_ZN1AI", "1BI", 300, "i"), *raw = repeated(head, "E", 300, "E1fEv");
	char *s;

	short_seconds(raw, &s);
	ck_assert_str_eq(s, "A::f");
	free(s);
	free(raw);
	free(head);
}
END_TEST

/* Any two bytes may be wrong: no name is read beyond its end, and each has some text. */
START_TEST(test_broken_short)
{
	static const char letters[] = "_ZNESTICDLXJUFPRKV0129abcdpls.\377";

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t n = strlen(names[i].raw);

		for (size_t k = 0; k < n; k++) {
			for (size_t c = 0; c < sizeof(letters); c++) {
				char *raw = strdup(names[i].raw), *s;
				double seconds;

				raw[k] = letters[c];
				if (k + 2 < n && c)
					raw[k + 2] = letters[c - 1];
				seconds = short_seconds(raw, &s);
				ck_assert_double_lt(seconds, 0.2);
				ck_assert(!*raw || *s);
				free(s);
				free(raw);
			}
		}
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("demangle");
	TCase *c = tcase_create("names");

	tcase_add_loop_test(c, test_name, 0, (int)(sizeof(names) / sizeof(names[0])));
	tcase_add_test(c, test_long_and_nested);
	tcase_add_test(c, test_hundred_thousand);
	tcase_add_test(c, test_bomb);
	tcase_add_loop_test(
		c, test_long_short, 0, (int)(sizeof(long_names) / sizeof(long_names[0])));
	tcase_add_test(c, test_rust_bomb);
	tcase_add_test(c, test_deep_short);
	tcase_add_test(c, test_broken_short);
	tcase_set_timeout(c, 60);
	suite_add_tcase(s, c);
	return run_suite(s);
}
