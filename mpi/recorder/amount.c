/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/recorder/amount.h"
#include "mpi/object/type.h"
#include "shm/message.h"

/* The arguments of the call that have an amount. */
struct place {
	const void *counts; /* or NULL: */
	MPI_Count count;
	const void *types; /* or NULL: */
	MPI_Datatype type;
	bool in_arrays, many_types;
};

static struct place place_of(const struct mpi_call *k, enum amount a)
{
	switch (a) {
	case AMOUNT_COUNT:
		return (struct place){.count = k->count, .type = k->type};
	case AMOUNT_RCOUNT:
		return (struct place){.count = k->rcount, .type = k->rtype};
	case AMOUNT_COUNTS:
		return (struct place){.in_arrays = true, .counts = k->counts, .type = k->type};
	case AMOUNT_RCOUNTS:
	case AMOUNT_RCOUNTS_OWN:
		return (struct place){.in_arrays = true, .counts = k->rcounts, .type = k->rtype};
	case AMOUNT_COUNTS_TYPES:
		return (struct place){.in_arrays = true,
			.many_types = true,
			.counts = k->counts,
			.types = k->types};
	case AMOUNT_RCOUNTS_TYPES:
		return (struct place){.in_arrays = true,
			.many_types = true,
			.counts = k->rcounts,
			.types = k->rtypes};
	case AMOUNT_NONE:
		break;
	}
	return (struct place){.type = MPI_DATATYPE_NULL};
}

static uint64_t element(const struct mpi_call *k, const struct place *p, uint32_t i)
{
	uint32_t index;

	return vftr_type_size(p->many_types ? call_type(k, p->types, (int)i) : p->type, &index);
}

/* An array that must be there is missing: MPI reports it. */
static bool is_bad(const struct place *p)
{
	return (p->in_arrays && !p->counts) || (p->many_types && !p->types);
}

uint64_t vftr_amount_of(const struct mpi_call *k, enum amount a, uint32_t i)
{
	const struct place p = place_of(k, a);
	MPI_Count n;

	if (is_bad(&p))
		return 0;
	n = p.in_arrays ? call_count(k, p.counts, (int)i) : p.count;
	return n > 0 ? times(n, element(k, &p, i)) : 0; /* of 0, the type may be any, also none */
}

uint64_t vftr_amount_for(
	const struct mpi_call *k, const struct mpi_comm *c, enum amount a, const struct whom *w)
{
	const bool is_count = a == AMOUNT_COUNT;
	struct place p;
	uint64_t sum = 0;
	uint32_t index;

	if (is_count || a == AMOUNT_RCOUNT) /* what most calls have */
		return times((MPI_Count)whom_number(w),
			times(is_count ? k->count : k->rcount,
				vftr_type_size(is_count ? k->type : k->rtype, &index)));
	p = place_of(k, a);
	if (is_bad(&p) || !w->n)
		return 0;
	if (!p.in_arrays || a == AMOUNT_RCOUNTS_OWN)
		return times((MPI_Count)whom_number(w), vftr_amount_of(k, a, c->rank));
	for (uint32_t i = 0; i < w->n; i++) {
		const MPI_Count n = whom_has(w, i) ? call_count(k, p.counts, (int)i) : 0;

		if (n > 0) /* else its type may be any, also none */
			sum = plus(sum, times(n, p.many_types ? element(k, &p, i) : 1));
	}
	return p.many_types ? sum : times((MPI_Count)sum, element(k, &p, 0));
}

/*
 * The type of all elements, if they have one; ranks with a count of 0 may have any. Not
 * inlined: most calls have one type, and then save no registers for this.
 */
static __attribute__((noinline)) uint32_t common_type(
	const struct mpi_call *k, enum amount a, const struct whom *w)
{
	const struct place p = place_of(k, a);
	uint32_t common = MESSAGE_TYPE_DERIVED, index;

	if (is_bad(&p))
		return MESSAGE_TYPE_DERIVED;
	for (uint32_t i = 0; i < w->n; i++) {
		if (!whom_has(w, i) || call_count(k, p.counts, (int)i) <= 0)
			continue;
		vftr_type_size(call_type(k, p.types, (int)i), &index);
		if (index == MESSAGE_TYPE_DERIVED ||
			(common != MESSAGE_TYPE_DERIVED && index != common))
			return MESSAGE_TYPE_DERIVED;
		common = index;
	}
	return common;
}

uint32_t vftr_amount_type(const struct mpi_call *k, enum amount a, const struct whom *w)
{
	const struct place p = place_of(k, a);
	uint32_t index = MESSAGE_TYPE_DERIVED;

	if (p.many_types)
		return common_type(k, a, w);
	if (a != AMOUNT_NONE)
		vftr_type_size(p.type, &index);
	return index;
}
