/* SPDX-License-Identifier: BSD-3-Clause */
/* The waits of a profile: by kind and call path, and by the rank that was waited for. */
#ifndef VFTR_NODEAGENT_REPORT_WAITS_H
#define VFTR_NODEAGENT_REPORT_WAITS_H

#include <stddef.h>
#include <stdint.h>

struct profile;
struct profile_wait;

/* What a late rank did while others waited for it. */
struct wait_activity {
	uint32_t late;	/* the rank; PROFILE_ELSEWHERE: several */
	uint32_t stack; /* in which it was */
	double ns;	/* of the waits for it; an estimate */
};

/* All waits of one kind at one call path, summed over ranks. */
struct wait_place {
	uint32_t kind;	/* enum wait_kind */
	uint32_t stack; /* of the call that waited */
	uint64_t calls, ns;
	const struct profile_wait **late; /* by falling time; a part of struct waits */
	size_t n_late;
	const struct wait_activity *activities; /* by falling time; a part of struct waits */
	size_t n_activities;
	struct wait_activity most; /* the greatest, of all late ranks together; 0 ns: not known */
};

/* All waits for one rank; PROFILE_ELSEWHERE: for all that are not told apart. */
struct wait_cause {
	uint32_t rank;
	uint64_t calls, ns;
	uint32_t kind, stack;	       /* of the greatest of these waits */
	uint64_t most_ns;	       /* its time */
	struct wait_activity activity; /* the greatest; 0 ns: not known */
};

/* By falling time. */
struct waits {
	struct wait_place *places;
	struct wait_cause *causes;
	size_t n_places, n_causes;
	uint64_t ns;	 /* of all */
	uint64_t mpi_ns; /* of all ranks' threads in MPI, in their windows; 0: not known */
	const struct profile_wait **rows;
	struct wait_activity *activities;
	size_t n_activities;
};

#define WAITS_ALL UINT32_MAX

/* Of p, which must outlive it. late: only those for this rank, or WAITS_ALL. */
void waits_of(const struct profile *p, uint32_t late, struct waits *w);
void waits_done(struct waits *w);

#endif
