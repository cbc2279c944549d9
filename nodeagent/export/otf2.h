/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations for the files of the OTF2 exporter. */
#ifndef VFTR_NODEAGENT_EXPORT_OTF2_H
#define VFTR_NODEAGENT_EXPORT_OTF2_H

#include "nodeagent/export/otf2-api.h"
#include "nodeagent/export/export.h"

struct otf2 {
	struct exporter *x;
	void *library;
	struct otf2_api api;
	struct OTF2_Archive_struct *archive;
	struct OTF2_EvtWriter_struct **writers; /* by thread */
	uint64_t *events;			/* by thread */
	uint32_t n_ranks;			/* of MPI_COMM_WORLD */
	bool strangers;				/* there are ranks of another one */
	uint64_t *location_of;			/* by rank: its first thread, or an empty one */
	uint64_t n_locations;			/* threads, then the empty ones */
	uint64_t last;				/* time of the last event */
	uint64_t left_out;			/* communications without an OTF2 record */
	struct otf2_class *classes;		/* otf2-metrics.c */
	size_t n_classes, cap_classes;
	struct otf2_copies *copies; /* otf2-copies.c, or NULL */
};

/* Calls OTF2; the first error ends the export, so no other code checks results. */
#define OTF2_CALL(f, name, ...) otf2_check(f, (f)->api.name(__VA_ARGS__))
void otf2_check(struct otf2 *f, int code);

/* ---- otf2-metrics.c */

/* Writes an event with values of counters. */
void otf2_counts(struct otf2 *f, const struct export_event *e, struct OTF2_EvtWriter_struct *to);
/* Writes the definitions of counters; string: defines a text, and returns its number. */
void otf2_metrics(struct otf2 *f, struct OTF2_GlobalDefWriter_struct *to,
	uint32_t (*string)(void *ctx, const char *text), void *ctx);

/* ---- otf2-copies.c */

/* For a copy in a stream: after its enter; before its leave. */
void otf2_copy_begin(
	struct otf2 *f, const struct export_event *e, struct OTF2_EvtWriter_struct *to);
void otf2_copy_end(struct otf2 *f, const struct export_event *e, struct OTF2_EvtWriter_struct *to);
/* Writes the definitions for copies; group: the first free number of a group. */
void otf2_copies_define(struct otf2 *f, struct OTF2_GlobalDefWriter_struct *to, uint32_t group,
	uint32_t (*string)(void *ctx, const char *text), void *ctx);
void otf2_copies_free(struct otf2 *f);

/* ---- otf2-definitions.c */

void otf2_find_ranks(struct otf2 *f);
/* Writes all definitions, after all events. */
void otf2_definitions(struct otf2 *f);

#endif
