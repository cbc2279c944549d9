/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs of a track: rows of enters and exits that its samples refer to. */
#include <stdlib.h>

#include "nodeagent/base/util.h"
#include "nodeagent/trace/read/internal.h"

/* The run with this number, from 0; NULL: the file cannot have so many. */
static struct read_run *run_at(struct vfd_file *f, struct read_track *l, uint64_t number)
{
	const uint64_t more = number < l->n_runs ? 0 : number + 1 - l->n_runs;

	if (!reader_possible(f, number) || !reader_possible(f, f->all_runs + more))
		return NULL;
	f->all_runs += more;
	while (l->n_runs <= number)
		*APPEND(l->runs, l->n_runs, l->cap_runs) = (struct read_run){0};
	return &l->runs[number];
}

static bool take_run(struct read_track *l, struct read_run *run, struct varint_reader *r)
{
	const uint64_t n = varint_get(r);
	int64_t stack = varint_get32(r);

	/* each takes a byte at least */
	if (run->n || r->bad || n > (size_t)(r->end - r->at) || l->n_run_events + n > UINT32_MAX)
		return false;
	*run = (struct read_run){(uint32_t)l->n_run_events, (uint32_t)n};
	for (uint64_t i = 0; i < n; i++) {
		const uint64_t event = varint_get(r);

		if (event)
			stack = (uint32_t)((uint64_t)stack + (uint64_t)unzigzag(event - 1));
		*APPEND(l->run_events, l->n_run_events, l->cap_run_events) =
			event ? (uint32_t)stack : 0;
	}
	return !r->bad;
}

bool reader_runs(struct vfd_file *f, uint32_t track, struct varint_reader *r, uint32_t records)
{
	struct read_track *l = reader_track(f, track);
	const uint64_t first = varint_get(r);

	if (!l || !first)
		return false;
	for (uint64_t i = 0; i < records; i++) {
		struct read_run *run = run_at(f, l, first - 1 + i);

		if (!run || !take_run(l, run, r))
			return false;
	}
	return true;
}
