/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay/openacc.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "nodeagent/base/util.h"
#include "nodeagent/replay/internal.h"

static char *one_line(const char *text)
{
	char *copy = xstrdup(text);

	for (char *c = copy; *c; c++)
		if (*c == '\n' || *c == '\r')
			*c = ' ';
	return copy;
}

struct openacc_region *openacc_region_new(
	const struct wire_openacc *m, const char *file, const char *function, const char *name)
{
	struct openacc_region *r;

	if (!openacc_event_name(m->event))
		return NULL;
	r = xcalloc(1, sizeof(*r));
	r->event = m->event;
	r->parent = m->parent;
	r->line = m->line;
	r->last = m->last > m->line ? m->last : m->line;
	r->file = one_line(file);
	r->function = one_line(function);
	r->name = one_line(name);
	return r;
}

void openacc_region_free(struct openacc_region *r)
{
	if (!r)
		return;
	free(r->file);
	free(r->function);
	free(r->name);
	free(r);
}

char *openacc_region_location(const struct openacc_region *r)
{
	const char *file = basename(r->file);

	if (!r->file[0])
		return NULL;
	return r->line ? xasprintf("%s:%" PRIu32, file, r->line) : xstrdup(file);
}

/* Bytes that an event has moved or allocated, for the frame on top. */
bool replay_take_openacc(struct replay *r, const struct ring_record *rec)
{
	calltree_extra(replay_node(r->top))->openacc_bytes += rec->last & ~RECORD_OPENACC_MARK;
	return true;
}
