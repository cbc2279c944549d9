/* SPDX-License-Identifier: BSD-3-Clause */
/* Sentences and their evidence. */
#include "nodeagent/report/findings/internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_FUNCTIONS 3
#define PATH_COLUMNS   60
#define NEARLY_ALL     0.9 /* of an amount in one place: it is the only one to be named */

static char *text_of_format(const char *fmt, va_list args)
{
	char *text;

	if (vasprintf(&text, fmt, args) < 0)
		die(125, "out of memory");
	return text;
}

void finding_say(struct finding *f, const char *fmt, ...)
{
	va_list args;

	free(f->text);
	va_start(args, fmt);
	f->text = text_of_format(fmt, args);
	va_end(args);
}

void finding_advise(struct finding *f, const char *fmt, ...)
{
	va_list args;

	free(f->advice);
	va_start(args, fmt);
	f->advice = text_of_format(fmt, args);
	va_end(args);
}

void finding_drop(struct finding *f)
{
	free(f->text);
	free(f->advice);
	for (size_t i = 0; i < f->n_evidence; i++)
		free(f->evidence[i].text);
	*f = (struct finding){.n_evidence = 0};
}

static void add_evidence(struct finding *f, struct evidence e)
{
	if (f->n_evidence < FINDING_EVIDENCE)
		f->evidence[f->n_evidence++] = e;
	else
		free(e.text);
}

void prove_count(struct finding *f, const char *key, uint64_t count)
{
	add_evidence(f, (struct evidence){.key = key, .kind = EVIDENCE_COUNT, .count = count});
}

void prove_seconds(struct finding *f, const char *key, double seconds)
{
	add_evidence(f, (struct evidence){.key = key, .kind = EVIDENCE_SECONDS, .real = seconds});
}

void prove_ratio(struct finding *f, const char *key, double ratio)
{
	add_evidence(f, (struct evidence){.key = key, .kind = EVIDENCE_RATIO, .real = ratio});
}

void prove_text(struct finding *f, const char *key, const char *text)
{
	add_evidence(
		f, (struct evidence){.key = key, .kind = EVIDENCE_TEXT, .text = xstrdup(text)});
}

void prove_stack(struct finding *f, const struct report *r, uint32_t stack)
{
	char *path = report_path(r, stack);

	if (r->id[stack] != REPORT_NO_ID)
		prove_count(f, "id", r->id[stack]);
	prove_text(f, "path", path);
	free(path);
}

void prove_rank(struct finding *f, const struct profile *p, uint32_t rank)
{
	const char *host = efficiency_host(p, rank);

	prove_count(f, "rank", profile_rank_shown(p, rank));
	if (host)
		prove_text(f, "node", host);
}

void prove_doubts(struct finding *f, const struct facts *facts)
{
	char *text = xstrdup("");

	for (unsigned i = 0; i < DOUBTS; i++)
		if (facts->e.doubts >> i & 1)
			text = xappend(text, "%s%s", *text ? " " : "", efficiency_doubts[i]);
	if (*text)
		prove_text(f, "estimated", text);
	free(text);
}

struct amount amount_of(const struct facts *facts, double seconds)
{
	struct amount a;

	snprintf(a.text, sizeof(a.text), "%s (%.*f %%)", quantity_seconds(seconds).text,
		seconds < 0.1 * facts->all_s, 100.0 * seconds / facts->all_s);
	return a;
}

char *part_in(double part, double of, const char *where)
{
	if (part >= NEARLY_ALL * of)
		return xasprintf(" in %s", where);
	if (2 * part > of)
		return xasprintf(", mostly in %s", where);
	return xasprintf(", %.0f %% of it in %s", 100 * part / of, where);
}

char *short_path(const struct report *r, uint32_t stack)
{
	return report_short_path(r, stack, PATH_FUNCTIONS, PATH_COLUMNS);
}

const struct finding *found_by(const struct facts *facts, const char *rule)
{
	return FIND(x, facts->found, facts->n_found, !strcmp(x->rule, rule));
}

uint64_t proven_count(const struct finding *f, const char *key)
{
	for (size_t i = 0; i < f->n_evidence; i++)
		if (!strcmp(f->evidence[i].key, key))
			return f->evidence[i].count;
	return UINT64_MAX;
}
