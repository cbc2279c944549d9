/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collective calls on files. Only that which opens a file has a record: it tells the communicator.
 * Others are known by their order, as long as the line has one file open.
 */
#include "mpi_id.h"
#include "nodeagent/causal/read.h"

#define LARGE_COUNT 1u

static const struct {
	uint32_t function;
	enum wait_kind kind;
} calls[] = {
	{VFTR_MPI_FILE_CLOSE, WAIT_BARRIER},
	{VFTR_MPI_FILE_PREALLOCATE, WAIT_NXN},
	{VFTR_MPI_FILE_SET_SIZE, WAIT_NXN},
	{VFTR_MPI_FILE_SET_VIEW, WAIT_NXN},
	{VFTR_MPI_FILE_SYNC, WAIT_NXN},
};

void reader_file_opened(struct reader *r, uint32_t line, const struct causal_collective *m)
{
	struct reader_file *f = &r->lines[line].file;

	if (f->open++)
		f->unclear = true;
	else
		*f = (struct reader_file){.open = 1, .comm = m->comm, .ticket = m->ticket};
}

/* Among the tickets of communicators, and of calls on windows. */
static uint64_t ticket_of(const struct reader_file *f)
{
	const uint64_t which = f->ticket * 0x9e3779b97f4a7c15u ^ f->calls * 0xd6e8feb86659fd93u;

	return which >> 2 | (uint64_t)1 << 62;
}

static void meet(struct reader *r, uint32_t line, enum wait_kind kind, int64_t enter)
{
	struct reader_file *f = &r->lines[line].file;

	if (!f->open)
		return;
	if (f->unclear)
		causal_add_doubt(r->run->c, CAUSAL_MEMBERS, 1);
	else
		causal_collective(r->run->c, line,
			&(struct causal_collective){.comm = f->comm,
				.ticket = ticket_of(f),
				.kind = kind,
				.root = CAUSAL_NONE,
				.enter = enter,
				.leave = CAUSAL_WITH_CALL});
	f->calls++;
}

void reader_file_call(struct reader *r, uint32_t line, const struct vfd_function *f, int64_t enter)
{
	struct reader_file *file = &r->lines[line].file;

	if (!f || f->kind != VFD_FUNCTION_MPI)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (calls[i].function == (f->index & ~LARGE_COUNT))
			meet(r, line, calls[i].kind, enter);
	if (f->index == VFTR_MPI_FILE_CLOSE && file->open)
		file->open--;
}
