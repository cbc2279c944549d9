/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vftr flags: what to add when compiling and linking a program. The library is
 * looked for around the tool itself, so that the answer is right in the build
 * tree, after `make install', and in a folder that was moved.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nodeagent/tool/cmd.h"
#include "nodeagent/base/installed.h"
#include "nodeagent/report/short.h"
#include "nodeagent/tool/flags-exclude.h"
#include "nodeagent/base/util.h"

enum language { LANGUAGE_C, LANGUAGE_CXX, LANGUAGE_FORTRAN };

enum {
	WANT_C = 1 << LANGUAGE_C,
	WANT_CXX = 1 << LANGUAGE_CXX,
	WANT_FORTRAN = 1 << LANGUAGE_FORTRAN,
	WANT_COMPILE = WANT_C | WANT_CXX | WANT_FORTRAN,
	WANT_LIBS = 8,
	WANTS = 4 /* of single ones */
};

/*
 * gcc calls the hooks of inlined functions, too: in C++ those of the standard library and of
 * lambdas would be most of the calls. GCC_CXX, a file of options, leaves them out.
 * clang calls only those of functions that are left when all is inlined.
 */
#define HOOKS	      "-finstrument-functions"
#define HOOKS_GCC_CXX HOOKS " @"
#define GCC_CXX	      "share/vftrace/gcc-c++.options" /* below the prefix */
#define HOOKS_INLINED HOOKS "-after-inlining"
#define HOOKS_NVIDIA  "-Minstrument=functions"
/*
 * nvcc compiles for the host by gcc, and hands on what stands behind -Xcompiler and -Xlinker.
 * NVCC, a file of options, leaves out CUDA's headers and what nvcc adds for each kernel.
 */
#define HOST	   "-Xcompiler "
#define HOOKS_NVCC HOST HOOKS
#define NVCC	   "share/vftrace/nvcc.options"
/* For gcc, what names of headers contain; it looks for these in all of a file's path. */
#define NO_HEADERS "-finstrument-functions-exclude-file-list="

/* How compilers are told to call the hooks, by what their command contains. */
static const struct {
	const char *part;
	const char *options[LANGUAGE_FORTRAN + 1]; /* by language; NULL: it cannot */
	enum exclusion exclusion;
} compilers[] = {
	{"clang", {HOOKS, HOOKS_INLINED, NULL}, EXCLUDE_INLINED},
	{"icpx", {HOOKS, HOOKS_INLINED, NULL}, EXCLUDE_INLINED},
	{"flang", {NULL, NULL, NULL}, EXCLUDE_BY_HAND},
	{"nvcc", {HOOKS_NVCC, HOOKS_NVCC " " HOST "@", NULL}, EXCLUDE_BY_NVCC},
	{"nvc", {HOOKS_NVIDIA, HOOKS_NVIDIA, NULL}, EXCLUDE_BY_HAND},
	{"nvfortran", {NULL, NULL, HOOKS_NVIDIA}, EXCLUDE_BY_HAND},
	{"pgcc", {HOOKS_NVIDIA, NULL, NULL}, EXCLUDE_BY_HAND},
	{"pgfortran", {NULL, NULL, HOOKS_NVIDIA}, EXCLUDE_BY_HAND},
	{"", {HOOKS, HOOKS_GCC_CXX, HOOKS}, EXCLUDE_BY_LIST}, /* like gcc, or not known */
};

/* What gets a backslash in a path. */
#define QUOTED " \t\"'\\()&;|<>*?[]#!`$~"

/* What commands of compilers like gcc contain, or are. */
static const char *const like_gcc[] = {"gcc", "g++", "c++", "gfortran", "icx", "ifx", "ncc", "nc++",
	"nfort", "mpi", "ftn", "fort"};
static const char *const are_gcc[] = {"cc", "CC", "c99", "c11", "f77", "f95"};

/* Where the linker, the loader and the compiler look without being told. */
static const char *const system_folders[] = {"/lib", "/usr/lib", "/lib64", "/usr/lib64"};

struct request {
	unsigned wanted;
	const char *mpi;	  /* "openmpi", "mpich" or NULL */
	const char *compiler;	  /* or NULL */
	const char *exclude;	  /* short functions of this run; or NULL */
	bool is_static;		  /* the program is linked with -static */
	bool headers, no_headers; /* what headers define is traced, or not; neither: not in C++ */
	char *prefix, *lib;	  /* lib: the folder of the library */
};

static void print_usage(void)
{
	printf("usage: vftr flags [OPTIONS]\n\n"
	       "Prints what to add when compiling and linking a program to be traced.\n"
	       "Without one of the first four options it prints all of them, as lines of a\n"
	       "makefile.\n\n"
	       "  --cflags        for compiling C\n"
	       "  --cxxflags      for compiling C++, without the standard library and, by gcc,\n"
	       "                  what headers define: accessors and templates\n"
	       "  --fflags        for compiling Fortran\n"
	       "  --libs          for linking\n"
	       "  --headers       in C++ trace the functions that headers define, too; by\n"
	       "                  default their time counts for the functions that call them\n"
	       "  --no-headers    leave them out in C, too\n"
	       "  --mpi MPI       the program uses this MPI: openmpi or mpich\n"
	       "  --static        the program is linked with -static\n"
	       "  --cc COMPILER   the command of the compiler, unless it is like gcc\n"
	       "  --exclude RUN   only the option that leaves out the short functions which\n"
	       "                  cost most in this run: a folder or a node profile\n"
	       "  -h, --help      this text\n\n"
	       "Exit status: 0 done, 1 no such library, or files of RUN could not be read,\n"
	       "2 nothing could be read, or wrong usage.\n");
}

static bool is_system_folder(const char *folder)
{
	return ANY(i, ARRAY_SIZE(system_folders), !strcmp(folder, system_folders[i])) ||
	       (!strncmp(folder, "/usr/lib/", 9) && strstr(folder, "-linux-gnu"));
}

/* A path in a word of a shell or a makefile. */
static void put_path(FILE *f, const char *before, const char *path)
{
	fputs(before, f);
	for (; *path; path++) {
		if (strchr(QUOTED, *path))
			fputc('\\', f);
		fputc(*path, f);
	}
}

/* Its row of compilers[]. */
static size_t compiler_of(const struct request *r)
{
	const char *name = r->compiler ? basename(r->compiler) : "";
	size_t i = 0;

	while (!strstr(name, compilers[i].part))
		i++;
	return i;
}

static bool is_known(const struct request *r)
{
	const char *name = r->compiler ? basename(r->compiler) : "gcc";

	if (compiler_of(r) + 1 < ARRAY_SIZE(compilers))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(like_gcc); i++)
		if (strstr(name, like_gcc[i]))
			return true;
	return ANY(i, ARRAY_SIZE(are_gcc), !strcmp(name, are_gcc[i]));
}

static enum exclusion exclusion_of(const struct request *r)
{
	return compilers[compiler_of(r)].exclusion;
}

static bool is_nvcc(const struct request *r)
{
	return exclusion_of(r) == EXCLUDE_BY_NVCC;
}

static const char *hook_option(const struct request *r, enum language l)
{
	const char *option = compilers[compiler_of(r)].options[l];

	return option && r->no_headers && exclusion_of(r) == EXCLUDE_INLINED ? HOOKS_INLINED
									     : option;
}

/* The folder of the headers; and of Fortran's module, for which gfortran looks nowhere else. */
static void put_include(const struct request *r, unsigned languages, FILE *f)
{
	char *headers = xasprintf("%s/include", r->prefix);
	char *module = installed_module_folder(r->prefix, "vftrace");
	bool is_apart = module && (strcmp(module, headers) || !strcmp(r->prefix, "/usr"));

	if (strcmp(r->prefix, "/usr"))
		put_path(f, " -I", headers);
	if (languages & WANT_FORTRAN && is_apart)
		put_path(f, " -I", module);
	free(headers);
	free(module);
}

/* True if a source file in the current folder would count as a header, by its path. */
static bool is_below_header(void)
{
	char list[] = GCC_HEADERS, *save = NULL, *folder = get_current_dir_name();
	bool found = false;

	for (char *part = strtok_r(list, ",", &save); folder && part && !found;
		part = strtok_r(NULL, ",", &save))
		found = strstr(folder, part);
	free(folder);
	return found;
}

/* Inlined accessors of C++ cost many times what they take, so their hooks are to be asked for. */
static bool leaves_headers_by_itself(const struct request *r, unsigned languages)
{
	return !r->headers && !r->no_headers && languages & WANT_CXX &&
	       exclusion_of(r) == EXCLUDE_BY_LIST;
}

static bool leaves_headers(const struct request *r, unsigned languages)
{
	if (leaves_headers_by_itself(r, languages))
		return !is_below_header();
	return r->no_headers && languages & (WANT_C | WANT_CXX);
}

/* nvcc would split a list: it gets an option for each. */
static void put_no_headers(const struct request *r, FILE *f)
{
	char list[] = GCC_HEADERS, *save = NULL;

	if (exclusion_of(r) == EXCLUDE_BY_LIST)
		fputs(" " NO_HEADERS GCC_HEADERS, f);
	for (char *part = strtok_r(list, ",", &save); part && is_nvcc(r);
		part = strtok_r(NULL, ",", &save))
		fprintf(f, " " HOST NO_HEADERS "%s", part);
}

/* Words, each with a blank before it. Of several languages the last has all that is needed. */
static void put_compile(const struct request *r, unsigned languages, FILE *f)
{
	const char *option = NULL;

	for (enum language l = LANGUAGE_C; l <= LANGUAGE_FORTRAN; l++)
		if (languages & 1u << l && hook_option(r, l))
			option = hook_option(r, l);
	put_include(r, languages, f);
	if (option)
		fprintf(f, " %s", option);
	if (option && option[strlen(option) - 1] == '@') {
		put_path(f, "", r->prefix);
		fputs("/" GCC_CXX, f);
		if (is_nvcc(r)) {
			put_path(f, " " HOST "@", r->prefix);
			fputs("/" NVCC, f);
		}
	}
	if (leaves_headers(r, languages))
		put_no_headers(r, f);
}

static void put_libs(const struct request *r, FILE *f)
{
	const char *linker;

	if (r->is_static) {
		put_path(f, " ", r->lib);
		fputs("/libvftrace-static.a -ldl -lpthread", f);
		return;
	}
	linker = is_nvcc(r) ? " -Xlinker " : " -Wl,";
	if (!is_system_folder(r->lib)) {
		put_path(f, " -L", r->lib);
		fprintf(f, "%s-rpath,", linker);
		put_path(f, "", r->lib);
	}
	/* wherever it stands on the command line */
	fprintf(f, "%s--push-state,--no-as-needed -lvftrace%s%s%s--pop-state", linker,
		r->mpi ? "-" : "", r->mpi ? r->mpi : "", linker);
}

/* A line of a makefile, which takes two dollars for one. */
static void put_doubled(const char *words)
{
	for (; *words; words++) {
		if (*words == '$')
			putchar('$');
		putchar(*words);
	}
	putchar('\n');
}

/* What is wanted as one line of a makefile, or without a name the words alone. */
static void print_line(const struct request *r, const char *name, unsigned wanted)
{
	char *words = NULL;
	size_t bytes;
	FILE *f = memory_begin(&words, &bytes);

	if (wanted & WANT_COMPILE)
		put_compile(r, wanted, f);
	if (wanted & WANT_LIBS)
		put_libs(r, f);
	memory_end(f);
	if (name) {
		printf("%s +=", name);
		put_doubled(words);
	} else {
		puts(*words ? words + 1 : "");
	}
	free(words);
}

static void print_flags(const struct request *r)
{
	if (r->wanted) {
		print_line(r, NULL, r->wanted);
		return;
	}
	print_line(r, "CFLAGS", WANT_C);
	print_line(r, "CXXFLAGS", WANT_CXX);
	print_line(r, "FFLAGS", WANT_FORTRAN);
	print_line(r, "LDLIBS", WANT_LIBS);
}

static char *library_name(const struct request *r)
{
	if (r->mpi)
		return xasprintf("libvftrace-%s.so", r->mpi);
	return xstrdup(r->is_static ? "libvftrace-static.a" : "libvftrace.so");
}

/* False: said why. */
static bool look_around(struct request *r)
{
	char *name = library_name(r);

	r->prefix = installed_prefix();
	r->lib = r->prefix ? installed_library_folder(r->prefix, name) : NULL;
	if (!r->lib)
		complain("there is no %s below %s%s%s", name, r->prefix ? r->prefix : "this tool",
			r->mpi ? ": vftr was built without this MPI" : "", r->mpi ? "" : "/lib");
	free(name);
	return r->lib;
}

/* True if the compiler cannot instrument a language that is asked for, or any of them. */
static bool lacks_hooks(const struct request *r)
{
	unsigned asked = r->wanted & WANT_COMPILE, lacking = 0;

	for (enum language l = LANGUAGE_C; l <= LANGUAGE_FORTRAN; l++)
		if (!hook_option(r, l))
			lacking |= 1u << l;
	return r->wanted ? asked & lacking : lacking == WANT_COMPILE;
}

static void warn_of_headers(const struct request *r)
{
	if (exclusion_of(r) == EXCLUDE_BY_HAND)
		complain(
			"flags: %s has no option that leaves out what headers define", r->compiler);
	else if (exclusion_of(r) != EXCLUDE_INLINED && is_below_header())
		complain(
			"flags: gcc takes a file for a header if its path contains one "
			"of " GCC_HEADERS "; this folder's does: give the compiler relative paths");
}

/* A shell splits what $(...) prints without reading the backslashes in it. */
static void warn_of_quotes(const struct request *r)
{
	if (r->wanted && strpbrk(r->prefix, QUOTED))
		complain("flags: `%s' is quoted, for makefiles; in a shell type: eval \"cc prog.c "
			 "$(vftr flags --cflags --libs)\"",
			r->prefix);
}

/* False: said why. */
static bool is_sensible(const struct request *r)
{
	if (r->exclude && (r->wanted || r->mpi || r->is_static || r->headers || r->no_headers)) {
		complain("flags: --exclude prints one option, and goes with --cc only");
		return false;
	}
	if (r->headers && r->no_headers) {
		complain("flags: --headers and --no-headers cannot go together");
		return false;
	}
	if (r->mpi && strcmp(r->mpi, "openmpi") && strcmp(r->mpi, "mpich")) {
		complain("unknown MPI `%s'; it is openmpi or mpich (Intel MPI, Cray MPICH and "
			 "MVAPICH are like mpich)",
			r->mpi);
		return false;
	}
	if (r->mpi && r->is_static) {
		complain("MPI programs that are linked with -static cannot be traced; link the "
			 "MPI dynamically");
		return false;
	}
	if (!r->exclude && lacks_hooks(r))
		complain("%s cannot instrument functions: only regions, MPI and OpenMP will be "
			 "traced",
			r->compiler);
	if (!is_known(r))
		complain("flags: --cc %s: no compiler that vftr knows; these are the options of "
			 "gcc",
			r->compiler);
	if (r->no_headers)
		warn_of_headers(r);
	else if (leaves_headers_by_itself(r, r->wanted ? r->wanted : WANT_CXX) && !r->exclude &&
		 is_below_header())
		complain("flags: what headers define is traced, too: gcc takes a file for a header "
			 "if its path contains one of " GCC_HEADERS ", and this folder's does");
	return true;
}

static bool read_options(int argc, char **argv, struct request *r, int *status)
{
	bool wanted[WANTS] = {false};
	const struct cmd_option options[] = {
		{"cflags", .flag = &wanted[LANGUAGE_C]},
		{"cxxflags", .flag = &wanted[LANGUAGE_CXX]},
		{"fflags", .flag = &wanted[LANGUAGE_FORTRAN]},
		{"libs", .flag = &wanted[WANTS - 1]},
		{"mpi", .text = &r->mpi},
		{"static", .flag = &r->is_static},
		{"headers", .flag = &r->headers},
		{"no-headers", .flag = &r->no_headers},
		{"cc", .text = &r->compiler},
		{"exclude", .text = &r->exclude},
		{"help", 'h', .say = print_usage},
		{0},
	};

	*status = cmd_options(argc, argv, options, NULL);
	if (*status >= 0)
		return false;
	*status = 2;
	for (unsigned i = 0; i < WANTS; i++)
		r->wanted |= (unsigned)wanted[i] << i;
	if (optind < argc) {
		complain("flags: `%s' is no option; `vftr help flags' tells more", argv[optind]);
		return false;
	}
	return is_sensible(r);
}

int cmd_flags(int argc, char **argv)
{
	struct request r = {0};
	int status;

	if (!read_options(argc, argv, &r, &status))
		return status;
	if (r.exclude)
		return flags_exclude(r.exclude, exclusion_of(&r));
	status = look_around(&r) ? 0 : 1;
	if (!status) {
		warn_of_quotes(&r);
		print_flags(&r);
	}
	free(r.prefix);
	free(r.lib);
	return status;
}
