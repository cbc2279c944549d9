/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From a linker's name to a reader's. Whole C++ names are left to libstdc++, which
 * is loaded when the first one is met, so that the agent does not need it; a
 * name it cannot make sense of stays as it is. Any thread may call.
 */
#include "nodeagent/symbols/demangle.h"

#include <ctype.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "conf/conf.h"
#include "nodeagent/base/util.h"
#include "nodeagent/symbols/itanium.h"
#include "nodeagent/symbols/rust.h"

#define DEMANGLED_MOST (16u << 10) /* a longer one stays as the linker has it */
#define DEMANGLED_ROOM (4u << 20)
#define PARTS_MOST     12u /* no name with fewer becomes 4 MiB long */

/* Marks between a module's name and its procedure's, by compiler. */
static const char *const module_marks[] = {
	"_MOD_", /* gfortran */
	"_MP_",	 /* nfort */
	"_mp_",	 /* ifort, ifx */
};

static char *(*demangler)(const char *, char *, size_t *, int *);
static pthread_once_t demangler_once = PTHREAD_ONCE_INIT;

static void demangler_load(void)
{
	void *lib = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);

	if (lib) /* stays loaded */
		*(void **)&demangler = dlsym(lib, "__cxa_demangle");
}

static bool is_printable(const char *s)
{
	for (; *s; s++)
		if (iscntrl((unsigned char)*s))
			return false;
	return true;
}

/*
 * Each part of a name that stands for an earlier one may double it, and the demangler
 * knows no limit but that of memory: so it is given little. Nobody else may ask meanwhile.
 */
static char *demangled_in_little(const char *name, int *status)
{
	static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
	struct rlimit before, little;
	char *s = NULL;
	uint64_t now;

	pthread_mutex_lock(&one);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* these want all of it */
	now = address_space();
#else
	now = 0;
#endif
	if (now && !getrlimit(RLIMIT_AS, &before)) {
		little = before;
		if (now + DEMANGLED_ROOM < before.rlim_cur)
			little.rlim_cur = now + DEMANGLED_ROOM;
		if (!setrlimit(RLIMIT_AS, &little)) {
			s = demangler(name, NULL, NULL, status);
			setrlimit(RLIMIT_AS, &before);
		}
	}
	pthread_mutex_unlock(&one);
	return s;
}

/* Parts that stand for earlier ones: S_, S0_, T_, T0_ ... Others may be among them. */
static unsigned parts_repeated(const char *name)
{
	unsigned n = 0;

	for (; *name; name++)
		n += *name == 'S' || *name == 'T';
	return n;
}

/* Allocated by malloc, or NULL. */
static char *demangled(const char *name)
{
	int status = -1;
	char *s;

	pthread_once(&demangler_once, demangler_load);
	if (!demangler || !is_printable(name))
		return NULL;
	s = parts_repeated(name) > PARTS_MOST ? demangled_in_little(name, &status)
					      : demangler(name, NULL, NULL, &status);
	if (s && !status && strlen(s) <= DEMANGLED_MOST && is_printable(s))
		return s;
	free(s);
	return NULL;
}

/* Length without Intel's ".t12p" for threaded code, or n. */
static size_t without_suffix(const char *s, size_t n)
{
	size_t i = n;

	if (n < 4 || s[n - 1] != 'p')
		return n;
	for (i = n - 1; i > 0 && isdigit((unsigned char)s[i - 1]); i--)
		;
	return i < n - 1 && i > 2 && s[i - 1] == 't' && s[i - 2] == '.' ? i - 2 : n;
}

static size_t without_underscores(const char *s, size_t n)
{
	while (n && s[n - 1] == '_')
		n--;
	return n;
}

/* The part of s after the first mark of any kind, or s. */
static const char *without_module(const char *s)
{
	const char *first = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(module_marks); i++) {
		const char *at = strstr(s, module_marks[i]);

		if (at && (!first || at < first) && at[strlen(module_marks[i])])
			first = at;
	}
	/* all marks end in the second underscore */
	return first ? strchr(first + 1, '_') + 1 : s;
}

/*
 * "mod::sub" of "__mod_MOD_sub" or "mod_mp_sub" (the underscore behind it tells it from a name
 * of C), and "mod::submod::sub" of "__mod.submod_MOD_sub". NULL: s is none of these.
 */
static char *with_module(const char *s, bool had_underscore)
{
	char *all = NULL, *to;

	for (size_t i = 0; i < ARRAY_SIZE(module_marks) && !all; i++) {
		bool gnu = i == 0;
		const char *module = gnu ? s + 2 : s, *at, *sub;

		if (gnu ? strncmp(s, "__", 2) != 0 : !had_underscore)
			continue;
		at = strstr(module, module_marks[i]);
		sub = at ? at + strlen(module_marks[i]) : NULL;
		if (!at || at == module || !*sub)
			continue;
		all = to = xmalloc(2 * strlen(s) + 1);
		for (; module < at; module++)
			to = *module == '.' ? stpcpy(to, "::") : mempcpy(to, module, 1);
		strcpy(stpcpy(to, "::"), sub);
	}
	return all;
}

/*
 * flang: "_QMmodSsubmodFhostPsub": each name has a letter before it, and none in it is large.
 * NULL: s is no such name.
 */
static char *flang(const char *s, bool strip)
{
	char *all, *to;

	if (!strcmp(s, "_QQmain"))
		return xstrdup("MAIN");
	if (strncmp(s, "_Q", 2) || !s[2] || !strchr("MSFP", s[2]))
		return NULL;
	all = to = xmalloc(2 * strlen(s) + 1);
	for (s += 2; *s && strchr("MSFP", *s) && s[1] && !isupper((unsigned char)s[1]);) {
		bool is_shown = !strip || *s == 'F' || *s == 'P';

		if (is_shown && to > all)
			to = stpcpy(to, "::");
		for (s++; *s && !isupper((unsigned char)*s); s++)
			if (is_shown)
				*to++ = *s;
	}
	*to = '\0';
	if (!*s && to > all)
		return all;
	free(all);
	return NULL;
}

static void show_controls(char *s)
{
	for (; *s; s++)
		if (iscntrl((unsigned char)*s))
			*s = '?';
}

/* "module.Class.__exit__", of Python; but not what compilers make of a submodule of Fortran. */
static bool is_dotted(const char *s, size_t n)
{
	return memchr(s, '.', n) && without_module(s) == s && strncmp(s, "_Q", 2) != 0;
}

/* Anything but C++ and Rust: Fortran, and C and Python, whose names have nothing that must go. */
static char *clean_plain(char *name, const struct name_style *style)
{
	size_t all = without_suffix(name, strlen(name));
	size_t n = is_dotted(name, all) ? all : without_underscores(name, all);
	char *out = flang(name, style->strip_module_names);

	if (n)
		name[n] = '\0';
	if (!out && style->strip_module_names)
		out = xstrdup(without_module(name));
	else if (!out)
		out = with_module(name, n < all);
	if (!out)
		return name;
	free(name);
	return out;
}

/* The name proper: what stands before "@file.c". */
static char *clean(char *name, const struct name_style *style)
{
	char *out;

	if (style->form == NAME_LINKER) {
		show_controls(name);
		return name;
	}
	out = rust_shown(name, style->form == NAME_SHORT);
	if (out && style->keep_cxx) {
		free(out);
		return name;
	}
	if (out) {
		free(name);
		return out;
	}
	if (strncmp(name, "_Z", 2)) { /* "_Z1f1AS_" ends in an underscore that means something */
		name = clean_plain(name, style);
	} else if (!style->keep_cxx) {
		if (style->form == NAME_SHORT)
			out = itanium_short(name);
		else
			out = demangled(name);
	}
	if (out) {
		free(name);
		name = out;
	}
	show_controls(name);
	return name;
}

/* A construct's place is a file, or a function and an offset: "@_Z1fv+0x12". */
static char *location_shown(const char *location, const struct name_style *style)
{
	const char *offset = strstr(location, "+0x");
	char *name, *both;

	if (!offset || offset == location + 1 || offset[3 + strspn(offset + 3, "0123456789abcdef")])
		return xstrdup(location);
	name = clean(xasprintf("%.*s", (int)(offset - location) - 1, location + 1), style);
	both = xasprintf("@%s%s", name, offset);
	free(name);
	return both;
}

char *name_shown(const char *raw, const struct name_style *style)
{
	const char *at = strrchr(raw, '@'); /* set by symtab_find(), and for constructs */
	char *name, *location, *both;

	if (!at || at == raw)
		return clean(xstrdup(raw), style);
	name = xasprintf("%.*s", (int)(at - raw), raw);
	name = clean(name, style);
	location = location_shown(at, style);
	both = xasprintf("%s%s", name, location);
	show_controls(both + strlen(name));
	free(location);
	free(name);
	return both;
}

bool name_matches(const regex_t *expression, const char *raw, const struct name_style *style)
{
	struct name_style full = *style;
	bool found = !regexec(expression, raw, 0, NULL, 0);

	full.form = NAME_FULL;
	for (int i = 0; i < 2 && !found; i++) {
		char *name = name_shown(raw, i ? &full : style);

		found = !regexec(expression, name, 0, NULL, 0);
		free(name);
	}
	return found;
}

struct name_style name_style_of(const struct conf *c)
{
	return (struct name_style){
		.strip_module_names = c->strip_module_names,
		.keep_cxx = !c->demangle_cxx,
		.form = !strcmp(c->output_names, "full")     ? NAME_FULL
			: !strcmp(c->output_names, "linker") ? NAME_LINKER
							     : NAME_SHORT,
	};
}
