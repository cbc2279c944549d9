/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All kinds of measures, in the order of logs and BASE_all.json: measures.def has the table. The
 * functions below are of that table or of the heads of the logs; each is in a file of log/, and
 * writes nothing if it has no data. section_...() prints into a log, json_...() writes members of
 * the object that is open. Errors of output are seen by ferror().
 */
#ifndef VFTR_NODEAGENT_REPORT_MEASURES_H
#define VFTR_NODEAGENT_REPORT_MEASURES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct conf;
struct json;
struct profile;
struct report;

struct result;

/* Prints all sections of r->log, except those that have a file of their own. */
void measures_print(FILE *f, const struct report *r);
/* Writes the text of BASE_all.json. */
void measures_json(FILE *f, const struct report *r);
/* Gives the values of BASE_all.json to j. */
void measures_hand(struct json *j, const struct report *r);
/*
 * With profile_table.separate: writes the parts of that log which have files of their own, below
 * dir. *error as of report_write(); returns the first -errno, or 0.
 */
int measures_write(const char *dir, const struct result *log, const struct report *r, char **error);

/* ---- lines of text: head.c, overhead.c ---------------------------------------------------- */

/* A line with a label and a number; how many columns these two have. */
#define SECTION_LABEL 22
#define SECTION_VALUE 8
void section_seconds(FILE *f, const char *label, double seconds);
void section_number(FILE *f, const char *label, uint64_t number);
void section_bytes(FILE *f, const char *label, double bytes);
/* Prints text from outside, plain, between two texts of ours. */
void section_text(FILE *f, const char *before, const char *text, const char *after);
/* The first lines: version, program, dates. */
void section_head(FILE *f, const struct report *r);
/* In layout run how the run was started, and on which nodes. */
void section_started(FILE *f, const struct report *r);
/* In layout run what stands at the end: memory, licence. */
void section_foot(FILE *f, const struct report *r);
/* A framed line, if a signal has ended the job. */
void section_banner(FILE *f, const struct report *r);
/* What is worth mending, in layout run. */
void section_findings(FILE *f, const struct report *r);
/* The digest, in layout run. */
void section_digest(FILE *f, const struct report *r);
/* Waits for other ranks and threads; the section in layout run. */
void section_waits(FILE *f, const struct report *r);
void json_waits(struct json *j, const struct report *r);
/* How many collective calls were compared, within nodes and between them. */
void json_compared(struct json *j, const struct report *r);
/*
 * The same of any profile, in any layout. late: only waits for this rank, as the profile has it, or
 * WAITS_ALL (waits.h). most: rows of each table; 0: all.
 */
void waits_print(FILE *f, const struct report *r, uint32_t late, uint64_t most);
void waits_json(struct json *j, const struct report *r, uint32_t late);
/* The main loop. most: rows of its slow iterations; 0: all. */
void main_loop_print(FILE *f, const struct report *r, uint64_t most);
void json_main_loop(struct json *j, const struct report *r);
void json_time_slices(struct json *j, const struct report *r);
/* The efficiency of the job, in layout run. */
void section_efficiency(FILE *f, const struct report *r);
/* The run time, runtime_s seconds, and what of it tracing has taken, by its parts. */
void section_times(FILE *f, const struct report *r, double runtime_s);
/* Deaths, losses, warnings; in the summary also missing nodes of the job. */
void section_warnings(FILE *f, const struct report *r);
/* A sentence each, if messages were lost, requests stayed open, or messages are ambiguous. */
void section_lost_messages(FILE *f, const struct profile *p);
/* The numbers of matched messages, and of those without a partner. */
void section_matching(FILE *f, const struct report *r);

/* The processes, in the head of the node log. */
void section_processes(FILE *f, const struct report *r);

/* ---- what measures.def names -------------------------------------------------------------- */

/* report_has_...(): true if the table of that name is wanted and has data. */
#define JSON(name)	    void json_##name(struct json *j, const struct report *r);
#define SECTION(name, logs) void section_##name(FILE *f, const struct report *r);
#define TABLE(name, logs, file, has)                                                               \
	SECTION(name, logs)                                                                        \
	bool report_has_##has(const struct profile *p, const struct conf *c);
#include "nodeagent/report/measures.def"
#undef JSON
#undef SECTION
#undef TABLE

#endif
