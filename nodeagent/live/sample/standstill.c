/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/live/sample/standstill.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "nodeagent/base/util.h"
#include "nodeagent/live/sample/stacks.h"
#include "nodeagent/live/where/where.h"
#include "nodeagent/process/host.h"

#define PLACES_SHOWN 3
#define FRAMES_SHOWN 3

/* "MPI_Recv < ex < main": the innermost functions. */
static char *append_path(char *text, const char *path)
{
	const char *end = path + strlen(path);

	for (int i = 0; i < FRAMES_SHOWN && end > path; i++) {
		const char *before = memrchr(path, WHERE_FRAME_BEGINS, (size_t)(end - path));
		const char *name = before ? before + 1 : path;

		text = xappend(text, "%s%.*s", i ? " < " : " in ", (int)(end - name), name);
		end = before ? before : path;
	}
	return text;
}

static char *append_place(char *text, const struct where_place *p)
{
	char *ranks =
		p->ranks.n ? where_ranks_words(&p->ranks) : xasprintf("process %" PRIu32, p->pid);

	text = xappend(text, "%s for %.1f s", ranks, 1e-9 * (double)p->since_least);
	free(ranks);
	return append_path(text, p->path);
}

static char *append_places(char *text, const struct where *w)
{
	size_t shown = 0, hang = 0;

	EACH(const struct where_place, p, w->places, w->n_places) {
		if (!p->in_mpi || p->state == WHERE_ENDED || p->since_least < WHERE_HANGS_LEAST)
			continue;
		hang++;
		if (shown == PLACES_SHOWN)
			continue;
		text = xappend(text, "; ");
		shown++;
		text = append_place(text, p);
	}
	if (hang > shown)
		text = xappend(text, "; and others at %zu more places", hang - shown);
	return text;
}

char *standstill_text(struct host *host, bool *deadlock)
{
	struct where *w = xmalloc(sizeof(*w));
	char *cycle, *text = NULL;

	stacks_look(host, w);
	where_sort(w);
	cycle = where_cycle_text(w);
	if (cycle)
		text = xasprintf("there was a deadlock on %s: %s", host->name, cycle);
	else if (where_all_wait(w, WHERE_HANGS_LEAST))
		text = xasprintf("nobody on %s went on", host->name);
	*deadlock = cycle;
	if (text)
		text = append_places(text, w);
	free(cycle);
	free(w);
	return text;
}
