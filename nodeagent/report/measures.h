/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All kinds of measures, in the order of logs and BASE_all.json: measures.c has one table of
 * them. The functions below are named in that table or in the heads of the logs; each is in
 * a file of log/, and writes nothing if it has no data.
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

/* Prints all sections of r->log, except those that have a file of their own. */
void measures_print(FILE *f, const struct report *r);
/* BASE_all.json. */
void measures_json(FILE *f, const struct report *r);
/*
 * With profile_table.separate: writes the files DIR/BASE PREFIX_NAME.log of these tables. Errors
 * as report_write(); returns the first, or 0.
 */
int measures_write(const char *dir, const char *base, const char *prefix, const struct report *r,
	char **error);

/* ---- lines of text: head.c, overhead.c ---------------------------------------------------- */

/* Columns of the lines: label, then a number. */
#define SECTION_LABEL 22
#define SECTION_VALUE 8
void section_seconds(FILE *f, const char *label, double seconds);
void section_number(FILE *f, const char *label, uint64_t number);
void section_bytes(FILE *f, const char *label, double bytes);
void section_head(FILE *f, const struct report *r);
void section_banner(FILE *f, const struct report *r);
/* The overhead and its parts. */
void section_times(FILE *f, const struct report *r, double runtime_s);
/* Deaths, losses, warnings; in the summary also missing nodes of the job. */
void section_warnings(FILE *f, const struct report *r);
/* A sentence, if messages were lost or are ambiguous. */
void section_lost_messages(FILE *f, const struct profile *p);
/* The number of matched messages. */
void section_matching(FILE *f, const struct report *r);

/* ---- sections ----------------------------------------------------------------------------- */

void section_profile(FILE *f, const struct report *r);
void section_lost(FILE *f, const struct report *r);
void section_minmax(FILE *f, const struct report *r);
void section_grouped(FILE *f, const struct report *r);
void section_stacks(FILE *f, const struct report *r);
void section_config(FILE *f, const struct report *r);
void section_open_requests(FILE *f, const struct report *r);
void section_switched(FILE *f, const struct report *r);
void section_processes(FILE *f, const struct report *r);
void section_openmp(FILE *f, const struct report *r);
void section_threads(FILE *f, const struct report *r);
/* A runtime profile of each thread, with profile_table.threads "all". */
void section_thread_profiles(FILE *f, const struct report *r);
/* Messages from thread to thread. */
void section_thread_pairs(FILE *f, const struct report *r);
void section_mpi(FILE *f, const struct report *r);
void section_gpu(FILE *f, const struct report *r);
/* The numbers of CUDA's functions in the table of section_gpu(). */
void section_gpu_functions(FILE *f, const struct report *r);
void section_openacc(FILE *f, const struct report *r);
/* The numbers of the events in the detailed table of section_openacc(). */
void section_openacc_numbers(FILE *f, const struct report *r);
void section_hwprof(FILE *f, const struct report *r);
void section_user_counters(FILE *f, const struct report *r);
void section_agents(FILE *f, const struct report *r);
void section_clocks(FILE *f, const struct report *r);

/* True if there are data for a file of its own. */
bool report_has_minmax(const struct profile *p, const struct conf *c);
bool report_has_groups(const struct profile *p, const struct conf *c);
bool report_has_openmp(const struct profile *p, const struct conf *c);
bool report_has_mpi(const struct profile *p, const struct conf *c);
bool report_has_gpu(const struct profile *p, const struct conf *c);
bool report_has_openacc(const struct profile *p, const struct conf *c);
bool report_has_hwprof(const struct profile *p, const struct conf *c);

/* ---- members of BASE_all.json ------------------------------------------------------------- */

void json_head(struct json *j, const struct report *r);
void json_warnings(struct json *j, const struct report *r);
void json_agents(struct json *j, const struct report *r);
void json_clocks(struct json *j, const struct report *r);
void json_stacks(struct json *j, const struct report *r);
void json_processes(struct json *j, const struct report *r);
void json_threads(struct json *j, const struct report *r);
void json_openmp(struct json *j, const struct report *r);
void json_mpi(struct json *j, const struct report *r);
void json_matching(struct json *j, const struct report *r);
void json_gpu(struct json *j, const struct report *r);
void json_openacc(struct json *j, const struct report *r);
void json_hwprof(struct json *j, const struct report *r);
void json_switched(struct json *j, const struct report *r);
void json_user_counters(struct json *j, const struct report *r);

#endif
