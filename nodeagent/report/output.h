/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes the files for users from a profile. Each function writes its files below
 * dir (under a temporary name, then renamed) and returns 0 or -errno; then
 * *error is one sentence that names the path (caller frees), and the files that
 * could be written exist. *error is NULL on success.
 */
#ifndef VFTR_NODEAGENT_REPORT_OUTPUT_H
#define VFTR_NODEAGENT_REPORT_OUTPUT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct conf;
struct json;
struct profile;
struct profile_number;
struct profile_process;

/* Numbers of this node's sampling file, for its log. */
struct output_trace {
	const char *path;
	uint64_t bytes, events, messages, launches;
	uint64_t thinned;	 /* calls left out to keep sampling.max_size */
	uint64_t dropped_blocks; /* because the disk was behind */
};

/*
 * Names are those of base/result-files.h, in the layout of c; base: result_base().
 *
 * The summary, as log and as JSON; with profile_table.separate also files of the tables other
 * than the runtime profile. Prints only data that merging keeps, so that agents and `vftr
 * collate` write the same text.
 */
int output_summary(const struct profile *p, const struct conf *c, const char *dir, const char *base,
	char **error);

/* The digest of the summary (digest.h), in output.layout run; else nothing. dir: of its files. */
void output_digest(FILE *f, const struct profile *p, const struct conf *c, const char *dir);

/* What BASE_all.json holds, to f; errors are seen by ferror(). */
void output_json(const struct profile *p, const struct conf *c, FILE *f);
/*
 * Writes BASE_all.json of a struct report whose log is REPORT_SUMMARY; has the type of a function
 * that writes JSON. If j hands its values over, the report must live as long as they are used.
 */
void output_json_of(struct json *j, const void *report);

/*
 * The log of a node. numbers: n ids of stacks in the job (profile_numbers()),
 * which are printed. NULL: the ids in the node. trace: may be NULL.
 */
int output_node(const struct profile *node, const struct conf *c, const char *dir, const char *base,
	const char *host, const struct output_trace *trace, const struct profile_number *numbers,
	size_t n, char **error);

/*
 * The log of one process, with profile_table.separate also those of tables; one_rank is the
 * profile of that process alone. Ranks in names have as many digits as nranks.
 */
int output_rank(const struct profile *one_rank, const struct profile_process *who, unsigned nranks,
	const struct conf *c, const char *dir, const char *base,
	const struct profile_number *numbers, size_t n, char **error);

#endif
