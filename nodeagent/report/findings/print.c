/* SPDX-License-Identifier: BSD-3-Clause */
/* Findings as text, for logs and terminals. */
#include "nodeagent/report/findings/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/table.h"

#define COLUMNS 100

/* Words that are continued below each other at this indent. A long word has a line of its own. */
struct lines {
	FILE *f;
	size_t indent, at;
};

static void put_words(struct lines *l, const char *text)
{
	while (*text) {
		const size_t bytes = strcspn(text, " ");
		char *word = xasprintf("%.*s", (int)bytes, text), *plain = text_plain(word);
		const size_t columns = text_columns(plain);

		if (l->at > l->indent && l->at + 1 + columns > COLUMNS) {
			fprintf(l->f, "\n%*s", (int)l->indent, "");
			l->at = l->indent;
		} else if (l->at > l->indent) {
			fputc(' ', l->f);
			l->at++;
		}
		fputs(plain, l->f);
		l->at += columns;
		free(word);
		free(plain);
		text += bytes;
		text += strspn(text, " ");
	}
}

static void put_paragraph(FILE *f, const char *before, const char *text)
{
	struct lines l = {.f = f, .indent = strlen(before), .at = strlen(before)};

	fputs(before, f);
	put_words(&l, text);
	fputc('\n', f);
}

static char *evidence_text(const struct evidence *e)
{
	switch (e->kind) {
	case EVIDENCE_COUNT:
		return xasprintf("%" PRIu64, e->count);
	case EVIDENCE_SECONDS:
		return xasprintf("%.6f", e->real);
	case EVIDENCE_RATIO:
		return isfinite(e->real) ? xasprintf("%.4f", e->real) : xstrdup("----");
	case EVIDENCE_TEXT:
		break;
	}
	return text_plain(e->text);
}

char *finding_evidence_text(const struct finding *f)
{
	char *text = xstrdup("");

	for (size_t i = 0; i < f->n_evidence; i++) {
		char *value = evidence_text(&f->evidence[i]);

		text = xappend(text, "%s%s=%s", i ? " " : "", f->evidence[i].key, value);
		free(value);
	}
	return text;
}

static void put_finding(FILE *f, const struct finding *is, size_t number)
{
	char *before = xasprintf("%2zu. ", number);
	char *proof = finding_evidence_text(is);
	char *section = xasprintf("vftr-analysis(7), %s", is->section);

	put_paragraph(f, before, is->text);
	put_paragraph(f, "    proof: ", proof);
	put_paragraph(f, "    try: ", is->advice);
	put_paragraph(f, "    see: ", section);
	free(before);
	free(proof);
	free(section);
}

void findings_print(FILE *f, const struct findings *all)
{
	if (!all->n) {
		put_paragraph(f, "", findings_nothing);
		return;
	}
	fprintf(f,
		"Findings, by the time to be won; percent of %s, the time of all ranks and "
		"threads\n",
		quantity_seconds(all->all_s).text);
	for (size_t i = 0; i < all->n; i++)
		put_finding(f, &all->at[i], i + 1);
	if (all->left)
		fprintf(f, "... and %zu more with less time.\n", all->left);
}
