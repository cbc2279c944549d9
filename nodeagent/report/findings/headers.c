/* SPDX-License-Identifier: BSD-3-Clause */
/* C++ by g++, of which nearly nothing is seen, as what headers define is left out. */
#include "nodeagent/report/findings/internal.h"

#include <string.h>

#include "nodeagent/report/short.h"

#define ALONE 0.9 /* of what is computed: what is in one function */
#define MUCH  0.5 /* of all time, that is computed */

static bool is_cxx_source(const char *path)
{
	static const char *const ends[] = {".cc", ".cp", ".cpp", ".cxx", ".c++", ".C"};
	const char *end = strrchr(path, '.');

	for (size_t i = 0; end && i < ARRAY_SIZE(ends); i++)
		if (!strcmp(end, ends[i]))
			return true;
	return false;
}

/* As gcc sees it. */
static bool is_header(const char *path)
{
	char list[] = GCC_HEADERS, *save = NULL;

	for (char *part = strtok_r(list, ",", &save); part; part = strtok_r(NULL, ",", &save))
		if (strstr(path, part))
			return true;
	return false;
}

/* Functions of C++ were called, and none of a header. Only debug information tells. */
static bool is_cxx_without_headers(const struct report *r)
{
	bool is_cxx = false;

	EACH(const struct profile_stack, s, r->p->stacks, r->p->n_stacks) {
		const struct profile_source *at =
			s->calls ? report_source(r, r->p->names[s->name]) : NULL;

		if (at && is_header(at->file))
			return false;
		is_cxx |= at && is_cxx_source(at->file);
	}
	return is_cxx;
}

bool look_headers(const struct facts *facts, struct finding *f)
{
	const struct report *r = facts->r;
	const double computing_s = s_of(facts->d.part_ns[DIGEST_COMPUTING]);
	const struct report_group *most = NULL;
	double own_s;

	EACH(const struct report_group, g, r->groups, r->n_groups_used)
		if (r->part[g->name] == DIGEST_COMPUTING &&
			r->parent[r->members[g->first]] != PROFILE_NONE &&
			(!most || g->excl_ns > most->excl_ns))
			most = g;
	own_s = most ? s_of(most->excl_ns) : 0.0;
	if (!most || own_s <= ALONE * computing_s || computing_s <= MUCH * facts->all_s ||
		!is_cxx_without_headers(r))
		return false;
	finding_say(f,
		"%s has %.0f %% of what is computed; by g++ the work in functions of headers, and "
		"in templates that take a lambda, counts for their callers.",
		r->cell[most->name], 100.0 * own_s / computing_s);
	prove_text(f, "function", r->shown[most->name]);
	prove_seconds(f, "t_excl_s", own_s);
	prove_seconds(f, "computing_s", computing_s);
	return true;
}
