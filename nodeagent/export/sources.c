/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where a region begins in the program's source. Of functions the file tells it; the names of
 * constructs end in it, as "omp_parallel@heat.c:42".
 */
#include <stdlib.h>
#include <string.h>

#include "nodeagent/export/export.h"
#include "nodeagent/base/util.h"

/* The last ':' before a number, which is *line; NULL: there is none. */
static const char *find_line(const char *text, uint32_t *line)
{
	const char *colon = strrchr(text, ':');
	const size_t digits = colon ? strspn(colon + 1, "0123456789") : 0;
	/* " #2" tells constructs of one name apart */
	const bool ends = digits && (!colon[1 + digits] || colon[1 + digits] == ' ');
	const unsigned long number = ends ? strtoul(colon + 1, NULL, 10) : 0;

	if (!number || number > INT32_MAX)
		return NULL;
	*line = (uint32_t)number;
	return colon;
}

/* The file of a construct; NULL: its name does not tell it. */
static char *file_in_name(const char *name, uint32_t *line)
{
	const char *at = strrchr(name, '@'), *colon = at ? find_line(at + 1, line) : NULL;

	return colon ? xasprintf("%.*s", (int)(colon - at - 1), at + 1) : NULL;
}

void export_find_source(struct export_region *r, const struct vfd_function *fn)
{
	char *file = NULL, *clean;

	if (r->file)
		return;
	if (fn->file && fn->line) {
		file = xstrdup(fn->file);
		r->line = fn->line;
	} else if (fn->kind == VFD_FUNCTION_OPENMP) {
		file = file_in_name(r->name, &r->line);
	}
	clean = file ? export_cleaned(file) : NULL;
	r->file = clean ? clean : file;
	if (clean)
		free(file);
}
