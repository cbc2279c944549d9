/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The values of runs in the text format of Extra-P (https://github.com/extra-p/extrap,
 * docs/file-formats.md): a parameter, its points, and for each metric and call path a line of
 * data for each point, with one number for each run there. Numbers have no exponents.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/table.h"
#include "nodeagent/base/util.h"
#include "nodeagent/tool/models/models.h"

static void put_row(FILE *f, const struct models *m, const struct model_row *row, int metric)
{
	char *name = text_plain(row->name);
	size_t run = 0;

	fprintf(f, "REGION %s\n", name);
	for (size_t i = 0; i < m->n_points; i++) {
		fputs("DATA", f);
		for (; run < m->n_runs && m->runs[run].p == m->p[i]; run++)
			fprintf(f, " %.9f", row->values[metric][run]);
		putc('\n', f);
	}
	free(name);
}

/* The metric stands before its regions, once: a reader keeps it for all of them. */
static void put_all(FILE *f, const struct models *m, unsigned only)
{
	fprintf(f, "PARAMETER %s\nPOINTS", m->parameter);
	for (size_t i = 0; i < m->n_points; i++)
		fprintf(f, " (%.*f)", m->p[i] == floor(m->p[i]) ? 0 : 9, m->p[i]);
	putc('\n', f);
	for (int k = 0; k < MODEL_METRICS; k++) {
		bool any = false;

		for (size_t i = 0; i < m->n_rows; i++)
			any |= m->rows[i].has[k];
		if (!any || !(only >> k & 1))
			continue;
		fprintf(f, "METRIC %s\n", model_words[k].name);
		for (size_t i = 0; i < m->n_rows; i++)
			if (m->rows[i].has[k])
				put_row(f, m, &m->rows[i], k);
	}
}

bool models_write_extrap(const struct models *m, unsigned only, const char *file)
{
	struct writing *w;
	FILE *f;
	int error;

	if (!strcmp(file, "-")) {
		put_all(stdout, m, only);
		return true;
	}
	error = write_begin(&f, &w, file);
	if (!error) {
		put_all(f, m, only);
		error = write_end(f, w);
	}
	if (error)
		complain("%s: %s", file, strerror(-error));
	return !error;
}
