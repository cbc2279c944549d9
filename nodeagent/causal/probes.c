/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Probes: whose message a call of MPI_Probe() or MPI_Mprobe() has waited for. The file has no
 * record of either. The receive of a message that MPI_Mprobe() has found tells when that began;
 * MPI_Probe() is taken to have found what its thread receives next; what it looked for is not
 * known.
 */
#include <stdlib.h>

#include "mpi_id.h"
#include "nodeagent/base/wait-kinds.h"
#include "nodeagent/causal/read.h"

struct probe {
	uint32_t track;
	int64_t enter;
};

/* Of a line: calls since its last receive. */
struct probing {
	struct probe *calls;
	size_t n_calls, cap_calls;
};

struct reader_probes {
	struct match_table found; /* line, begin of the call -> struct causal_message */
	struct probing *lines;
	uint32_t n;
};

struct reader_probes *reader_probes_new(uint32_t lines)
{
	struct reader_probes *p = xcalloc(1, sizeof(*p));

	p->lines = xcalloc(lines, sizeof(*p->lines));
	p->n = lines;
	return p;
}

void reader_probes_free(struct reader_probes *p)
{
	for (size_t i = 0; p->found.slots && i <= p->found.mask; i++)
		free(p->found.slots[i].value);
	for (uint32_t i = 0; i < p->n; i++)
		free(p->lines[i].calls);
	match_table_free(&p->found);
	free(p->lines);
	free(p);
}

bool reader_has_probes(const struct reader *r)
{
	for (size_t i = 0; i < r->n_files; i++) {
		size_t n;
		const struct vfd_function *f = vfd_functions(r->files[i], &n);

		for (size_t k = 0; k < n; k++)
			if (f[k].number != VFD_NONE && f[k].kind == VFD_FUNCTION_MPI &&
				f[k].index == VFTR_MPI_PROBE)
				return true;
	}
	return false;
}

static bool is_call_of(const struct vfd_function *f, uint32_t function)
{
	return f && f->kind == VFD_FUNCTION_MPI && f->index == function;
}

void reader_probe_entered(struct reader *r, const struct vfd_event *e)
{
	const uint32_t line = reader_line_of(r, e->file, e->track);

	if (line == CAUSAL_NONE || e->kind != VFD_ENTER ||
		!is_call_of(reader_function(r, e->file, e->track, e->stack), VFTR_MPI_PROBE))
		return;
	*LIST_ADD(&r->probes->lines[line], calls) = (struct probe){e->track, e->time};
}

static void found(struct reader *r, uint32_t line, int64_t enter, const struct vfd_event *e)
{
	const struct vfd_message *m = e->message;
	const struct causal_message message = {.flow = vfd_message_flow(r->files[e->file], m),
		.enter = enter,
		.leave = INT64_MAX,
		.peer = reader_peer(r, line, e),
		.takes = m->flags & VFD_MESSAGE_MATCHED ? reader_takes(m) : CHOICE_ALL};
	struct causal_message *kept;

	if (!message.flow || message.peer == CAUSAL_NONE ||
		match_table_find(&r->probes->found, line, (uint64_t)enter))
		return;
	kept = xmalloc(sizeof(*kept));
	*kept = message;
	match_table_add(&r->probes->found, line, (uint64_t)enter, kept);
}

void reader_probe_received(struct reader *r, const struct vfd_event *e)
{
	const struct vfd_message *m = e->message;
	const uint32_t line = reader_line_of(r, e->file, e->track);
	struct probing *p;
	size_t stay = 0;

	if (line == CAUSAL_NONE || m->kind != VFD_RECEIVE || m->match == VFD_MATCH_NONE ||
		m->flags & (VFD_MESSAGE_CANCELLED | VFD_MESSAGE_PARTITIONED))
		return;
	if (m->flags & VFD_MESSAGE_MATCHED) {
		if (m->offset)
			found(r, line, m->start - (int64_t)m->offset, e);
		return;
	}
	p = &r->probes->lines[line];
	for (size_t i = 0; i < p->n_calls; i++) {
		if (p->calls[i].track == e->track)
			found(r, line, p->calls[i].enter, e);
		else
			p->calls[stay++] = p->calls[i];
	}
	p->n_calls = stay;
}

void reader_probe(struct reader *r, uint32_t line, const struct vfd_function *f, int64_t enter)
{
	const struct causal_message *m;

	if (!is_call_of(f, VFTR_MPI_PROBE) && !is_call_of(f, VFTR_MPI_MPROBE))
		return;
	m = match_table_find(&r->probes->found, line, (uint64_t)enter);
	if (m)
		causal_probe(r->run->c, line, m);
}
