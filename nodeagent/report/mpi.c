/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers and words about communication that the logs and the JSON share. */
#include "conf/conf.h"
#include "nodeagent/report/imbalance.h"
#include "nodeagent/report/report.h"
#include "nodeagent/base/util.h"
#include "shm/wire.h"

/* Generated from mpi/generate/mpi.tab. */
extern const char *const vftr_mpi_names[];
extern const unsigned vftr_mpi_n;

static const char *const comm_kinds[] = {
	[WIRE_COMM_PREDEFINED] = "predefined",
	[WIRE_COMM_DUP] = "dup",
	[WIRE_COMM_CREATE] = "create",
	[WIRE_COMM_SPLIT] = "split",
	[WIRE_COMM_TOPOLOGY] = "topology",
	[WIRE_COMM_FROM_GROUP] = "from_group",
	[WIRE_COMM_INTER] = "inter",
	[WIRE_COMM_MERGE] = "merge",
	[WIRE_COMM_SPAWN] = "spawn",
	[WIRE_COMM_PARENT] = "parent",
	[WIRE_COMM_ACCEPT] = "accept",
	[WIRE_COMM_UNKNOWN] = "unknown",
};

_Static_assert(ARRAY_SIZE(comm_kinds) == WIRE_COMM_KINDS, "a new kind needs a word");

const char *report_function(const struct profile_function *f)
{
	return f->id < vftr_mpi_n ? vftr_mpi_names[f->id] : "unknown MPI function";
}

/* Processes that a mean over ranks counts: those of the MPI job, also if they never called f. */
static uint32_t members_of(const struct profile *p, const struct profile_function *f)
{
	uint32_t n = p->ranks;

	if (p->world_size && p->ranks > p->unranked)
		n = p->ranks - p->unranked;
	return n > f->ranks ? n : f->ranks;
}

double report_function_mean_s(const struct profile *p, const struct profile_function *f)
{
	return report_mean(f->ns, members_of(p, f)) * 1e-9;
}

double report_function_imbalance(const struct report *r, const struct profile_function *f)
{
	uint32_t members = members_of(r->p, f);
	struct spread spread = {
		.n = members,
		.sum = f->ns,
		.min = f->ranks < members ? 0 : f->min_ns, /* some never called it */
		.max = f->max_ns,
		.sumsq = f->sumsq_ns2,
	};

	return imbalance(r->c->profile_table_imbalance_formula, &spread, NULL);
}

const char *report_comm_kind(const struct profile_comm *c)
{
	return c->kind < WIRE_COMM_KINDS ? comm_kinds[c->kind] : comm_kinds[WIRE_COMM_UNKNOWN];
}

const char *report_comm_name(const struct profile *p, const struct profile_comm *c)
{
	if (c->name || c->kind != WIRE_COMM_PREDEFINED || p->world_size < 2)
		return c->name;
	if (c->size == p->world_size)
		return "MPI_COMM_WORLD";
	return c->size == 1 ? "MPI_COMM_SELF" : NULL;
}

double report_mean(unsigned __int128 sum, uint64_t n)
{
	return n ? (double)sum / (double)n : 0.0;
}
