/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies between host and GPU in OTF2, as Score-P has them: the stream gets from the
 * thread that called, or puts there, in a window that all threads are part of; it is
 * complete when the copy ends. OTF2 has nothing for the launch of a kernel.
 */
#include <stdlib.h>

#include "nodeagent/export/otf2.h"
#include "nodeagent/base/util.h"

#define WINDOW 0u /* the only one: MPI's one-sided operations are left out */

struct otf2_copies {
	uint64_t n;
	uint64_t *open; /* by thread: number of the copy that runs, 0: none */
};

void otf2_copy_begin(struct otf2 *f, const struct export_event *e, struct OTF2_EvtWriter_struct *to)
{
	const size_t thread = (size_t)(e->thread - f->x->threads);
	const struct export_flow *a = NULL;
	struct otf2_copies *c = f->copies;
	uint32_t remote;

	for (size_t i = 0; !a && i < e->n_flows; i++)
		if (!e->flows[i].out && (e->flows[i].kind == VFD_LAUNCH_TO_DEVICE ||
						e->flows[i].kind == VFD_LAUNCH_TO_HOST))
			a = &e->flows[i];
	if (!a)
		return;
	if (!c) {
		c = f->copies = xcalloc(1, sizeof(*c));
		c->open = xcalloc(f->x->n_threads, sizeof(*c->open));
	}
	remote = (uint32_t)(a->from - f->x->threads);
	c->open[thread] = ++c->n;
	if (a->kind == VFD_LAUNCH_TO_DEVICE)
		OTF2_CALL(f, get, to, NULL, e->time, WINDOW, remote, a->bytes, c->n);
	else
		OTF2_CALL(f, put, to, NULL, e->time, WINDOW, remote, a->bytes, c->n);
	f->events[thread]++;
}

void otf2_copy_end(struct otf2 *f, const struct export_event *e, struct OTF2_EvtWriter_struct *to)
{
	const size_t thread = (size_t)(e->thread - f->x->threads);

	if (!f->copies || !f->copies->open[thread])
		return;
	OTF2_CALL(f, copied, to, NULL, e->time, WINDOW, f->copies->open[thread]);
	f->events[thread]++;
	f->copies->open[thread] = 0;
}

void otf2_copies_define(struct otf2 *f, struct OTF2_GlobalDefWriter_struct *to, uint32_t group,
	uint32_t (*string)(void *ctx, const char *text), void *ctx)
{
	const uint32_t n = (uint32_t)f->x->n_threads, comm = f->first_plain + f->n_plain;
	const uint32_t name = string(ctx, "CUDA");
	uint64_t *members;

	if (!f->copies)
		return;
	members = xcalloc(n, sizeof(*members));
	for (uint32_t i = 0; i < n; i++)
		members[i] = i;
	OTF2_CALL(f, group, to, group, name, OUR_COMM_LOCATIONS, OUR_BY_CUDA, 0, n, members);
	OTF2_CALL(f, group, to, group + 1, name, OUR_COMM_GROUP, OUR_BY_CUDA, 0, n, members);
	OTF2_CALL(f, comm, to, comm, name, group + 1, OUR_NONE, 0);
	OTF2_CALL(f, window, to, WINDOW, name, comm, 0);
	free(members);
}

void otf2_copies_free(struct otf2 *f)
{
	if (f->copies)
		free(f->copies->open);
	free(f->copies);
}
