/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls of MPI_Probe() that are taken to have looked for the message of a receive: those of its
 * thread since the receive before, as no record tells which message a probe has found. Times are
 * ticks. For one thread of the agent.
 */
#ifndef VFTR_NODEAGENT_MATCH_PROBES_H
#define VFTR_NODEAGENT_MATCH_PROBES_H

#include <stddef.h>
#include <stdint.h>

#ifndef MATCH_PROBES_MAX
#define MATCH_PROBES_MAX (1u << 16) /* of a process, the last ones; 24 B each */
#endif

struct match_probe {
	uint64_t enter, leave;
	uint32_t path;	 /* the caller's number of it */
	uint32_t before; /* number of the last one before, of the same receive; 0: none */
};

/* Begins as zeros. */
struct match_probes {
	struct match_probe *at;
	size_t n_at, cap_at;
	uint32_t last; /* number of the last one */
};

void match_probes_free(struct match_probes *p);
/* Adds a probe, and returns its number, which is not 0. */
uint32_t match_probes_add(struct match_probes *p, const struct match_probe *probe);
/*
 * The probe with this number, valid until the next one is added; NULL: number is 0, or it was
 * forgotten.
 */
const struct match_probe *match_probes_find(const struct match_probes *p, uint32_t number);

#endif
