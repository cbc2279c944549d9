/* SPDX-License-Identifier: BSD-3-Clause */
/* Whose functions are instrumented in a C++ program: mostly the standard library's. */
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/doctor/doctor.h"
#include "nodeagent/doctor/hooked.h"
#include "nodeagent/symbols/itanium.h"

#define LIBRARY_MUCH 0.25 /* of the functions: worth an advice */

/* Libraries that are compiled with the program, by the first part of a name. */
static const struct library {
	const char *part, *shown;
	const char *advice; /* if it has many functions */
} libraries[] = {
	{"std", "std",
		"compile C++ with what `vftr flags --cxxflags' prints: it leaves the "
		"standard library out"},
	{"__gnu_cxx", "std", NULL},
	{"__cxxabiv1", "std", NULL},
	{"boost", "boost", "leave Boost out: -finstrument-functions-exclude-file-list=/boost/"},
	{"Eigen", "Eigen", "leave Eigen out: -finstrument-functions-exclude-file-list=/Eigen/"},
	{"Kokkos", "Kokkos", NULL},
	{"thrust", "thrust", NULL},
	{"fmt", "fmt", NULL},
};

struct namespaces {
	size_t n, n_cxx;
	size_t of[ARRAY_SIZE(libraries)];
};

static const struct library *library_of(const char *name)
{
	const char *end = strstr(name, "::");

	return end ? FIND(x, libraries, ARRAY_SIZE(libraries),
			     strlen(x->part) == (size_t)(end - name) &&
				     !strncmp(name, x->part, (size_t)(end - name)))
		   : NULL;
}

static void count_function(void *ctx, const char *raw)
{
	struct namespaces *s = ctx;
	char *name = itanium_short(raw);
	const struct library *l = name ? library_of(name) : NULL;

	s->n++;
	s->n_cxx += name != NULL;
	for (size_t i = 0; l && i < ARRAY_SIZE(libraries); i++)
		if (!strcmp(libraries[i].shown, l->shown)) { /* the first row has the sum */
			s->of[i]++;
			break;
		}
	free(name);
}

static char *library_counts(const struct namespaces *s)
{
	char *text = xstrdup("");
	size_t rest = s->n;

	for (size_t i = 0; i < ARRAY_SIZE(libraries); i++) {
		if (!s->of[i])
			continue;
		text = xappend(text, "%zu of %s::, ", s->of[i], libraries[i].shown);
		rest -= s->of[i];
	}
	return xappend(text, "%zu of the program", rest);
}

void diagnose_namespaces(struct patient *p)
{
	struct namespaces s = {0};
	char *text;

	hooked_functions(p->path, count_function, &s);
	if (!s.n_cxx)
		return;
	text = library_counts(&s);
	diagnose(p->d, FINDING_NOTE, "%zu %s instrumented: %s", s.n,
		one_or_many(s.n, "function is", "functions are"), text);
	free(text);
	for (size_t i = 0; i < ARRAY_SIZE(libraries); i++)
		if (libraries[i].advice && (double)s.of[i] > LIBRARY_MUCH * (double)s.n)
			diagnose(p->d, FINDING_DO, "%s", libraries[i].advice);
}
