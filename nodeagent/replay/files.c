/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay/files.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include "nodeagent/base/util.h"
#include "nodeagent/replay/tree/calltree.h"
#include "nodeagent/replay/tree/slices.h"

struct files {
	uint16_t place[FILE_NUMBERS + 1]; /* by number: 1 + its place in at[], or 0 */
	struct file_use *at;
	size_t n, cap;
	/* by number of a region: it is the frame of such calls. Others than these are not known. */
	bool is_frame[RECORD_REGIONS_SHORT];
	uint64_t begin;
	struct slices *slices; /* or NULL */
	bool leaves_out;
	regex_t exclude;
};

struct files *files_new(const char *exclude, uint64_t begin)
{
	struct files *f = xcalloc(1, sizeof(*f));

	f->begin = begin;
	f->leaves_out = exclude && !regcomp(&f->exclude, exclude, REG_EXTENDED | REG_NOSUB);
	return f;
}

void files_free(struct files *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->n; i++)
		free(f->at[i].name);
	free(f->at);
	slices_free(f->slices);
	if (f->leaves_out)
		regfree(&f->exclude);
	free(f);
}

struct file_use *files_use(struct files *f, uint32_t number)
{
	if (number > FILE_NUMBERS)
		return NULL;
	if (!f->place[number]) {
		*APPEND(f->at, f->n, f->cap) = (struct file_use){.number = number};
		f->place[number] = (uint16_t)f->n;
	}
	return &f->at[f->place[number] - 1];
}

static void name_use(struct files *f, struct file_use *u, const char *name)
{
	u->name = xasprintf("%.*s", (int)FILE_NAME_BYTES - 1, name);
	u->left_out = f->leaves_out && !regexec(&f->exclude, u->name, 0, NULL, 0);
}

bool files_define(struct files *f, const struct wire_file_name *m, const char *name)
{
	struct file_use *u = m->number ? files_use(f, m->number) : NULL;

	if (!u || !name[0])
		return false;
	if (!u->name)
		name_use(f, u, name);
	return true;
}

/* An index in is_frame[], or RECORD_REGIONS_SHORT. */
static uint64_t frame_of(uint64_t key)
{
	return key_is_region(key) && !RECORD_IS_REGION(key) ? key - RECORD_ID_REGION
							    : RECORD_REGIONS_SHORT;
}

void files_found_in(struct files *f, uint64_t key)
{
	const uint64_t n = frame_of(key);

	if (n < RECORD_REGIONS_SHORT)
		f->is_frame[n] = true;
}

bool files_are_in(const struct files *f, uint64_t region_key)
{
	const uint64_t n = frame_of(region_key);

	return f && n < RECORD_REGIONS_SHORT && f->is_frame[n];
}

const struct file_use *files_all(const struct files *f, size_t *n)
{
	*n = f ? f->n : 0;
	return f ? f->at : NULL;
}

void files_moved(struct files *f, bool is_write, uint64_t since, uint64_t ticks, uint64_t bytes)
{
	if (!f->slices)
		f->slices = slices_new(f->begin);
	slices_spread(f->slices, is_write ? SLICE_WRITTEN : SLICE_READ, since, ticks, bytes);
}

const struct slices *files_slices(const struct files *f)
{
	return f ? f->slices : NULL;
}
