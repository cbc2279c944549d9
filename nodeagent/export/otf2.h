/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations for the files of the OTF2 exporter. Times are ns. */
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
	uint64_t *events;			/* by thread: how many were written */
	uint32_t n_ranks;			/* of all jobs */
	uint32_t *first_rank;			/* by job, and n_ranks: of its ranks among these */
	bool strangers;				/* there are other ranks */
	/* by rank: its first thread, or an empty location; behind them, with strangers, theirs */
	uint64_t *location_of;
	uint64_t n_locations;	    /* threads, then the empty ones */
	uint64_t last;		    /* time of the last event */
	uint64_t left_out;	    /* communications without an OTF2 record */
	struct otf2_class *classes; /* otf2-metrics.c */
	size_t n_classes, cap_classes;
	struct otf2_copies *copies; /* otf2-copies.c, or NULL */
	struct otf2_teams *teams;   /* otf2-teams.c, or NULL */
	struct otf2_plain *plain;   /* otf2-plain.c, or NULL */
	/* numbers of OTF2's communicators: after those of MPI come teams, then plain threads */
	uint32_t first_team, n_teams, first_plain, n_plain;
};

/* Calls a function of OTF2; its first error ends the export, so no other code checks results. */
#define OTF2_CALL(f, name, ...) otf2_check(f, (f)->api.name(__VA_ARGS__))
void otf2_check(struct otf2 *f, int code);

/* ---- otf2-metrics.c */

/* Writes an event with values of counters. */
void otf2_counts(struct otf2 *f, const struct export_event *e, struct OTF2_EvtWriter_struct *to);
/* Writes the definitions of counters; string(ctx, text) defines a text, and returns its number. */
void otf2_metrics(struct otf2 *f, struct OTF2_GlobalDefWriter_struct *to,
	uint32_t (*string)(void *ctx, const char *text), void *ctx);

/* ---- otf2-copies.c */

/* Writes the events of a copy in a stream: after the enter of a call, and before its leave. */
void otf2_copy_begin(
	struct otf2 *f, const struct export_event *e, struct OTF2_EvtWriter_struct *to);
void otf2_copy_end(struct otf2 *f, const struct export_event *e, struct OTF2_EvtWriter_struct *to);
/* Writes the definitions for copies, if there were any; group: the first free number of a group. */
void otf2_copies_define(struct otf2 *f, struct OTF2_GlobalDefWriter_struct *to, uint32_t group,
	uint32_t (*string)(void *ctx, const char *text), void *ctx);
void otf2_copies_free(struct otf2 *f);

/* ---- otf2-teams.c: teams of OpenMP */

/* Finds the team of each parallel region: reads all calls once, if there are such regions. */
void otf2_teams_find(struct otf2 *f);
/* What a thread was in parallel regions; one that was both counts as a worker. */
enum otf2_part { OTF2_NO_TEAM, OTF2_WORKER, OTF2_MASTER };
enum otf2_part otf2_part(const struct otf2 *f, uint32_t thread);
/*
 * Writes the events of a team before the enter of a call, and after its leave; of a call that is no
 * parallel region nothing.
 */
void otf2_team_begin(
	struct otf2 *f, const struct export_event *e, struct OTF2_EvtWriter_struct *to);
void otf2_team_end(struct otf2 *f, const struct export_event *e, struct OTF2_EvtWriter_struct *to);
/* Writes the teams' definitions. group, and the result: the first free number of a group. */
uint32_t otf2_teams_define(struct otf2 *f, struct OTF2_GlobalDefWriter_struct *to, uint32_t group,
	uint32_t (*string)(void *ctx, const char *text), void *ctx);
void otf2_teams_free(struct otf2 *f);

/* ---- otf2-plain.c: threads that the program has made, without OpenMP */

/* Finds these threads; to be called after otf2_teams_find(). */
void otf2_plain_find(struct otf2 *f);
/*
 * Writes what threads begin up to this time, and what they end before it; to be called before the
 * event of this time. UINT64_MAX: all that is left.
 */
void otf2_plain_until(struct otf2 *f, uint64_t time);
/* As otf2_teams_define(), of these threads. */
uint32_t otf2_plain_define(struct otf2 *f, struct OTF2_GlobalDefWriter_struct *to, uint32_t group,
	uint32_t (*string)(void *ctx, const char *text), void *ctx);
void otf2_plain_free(struct otf2 *f);

/* ---- otf2-definitions.c */

/* Sets n_ranks to n_locations. */
void otf2_find_ranks(struct otf2 *f);
/* Writes all definitions, after all events. */
void otf2_definitions(struct otf2 *f);

#endif
