/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes the files for users from a profile. Each function that returns an int writes its files
 * below dir, under a temporary name that is then changed. It returns 0, and *error is NULL; or
 * -errno of the first error, and *error is one sentence that names the path (caller frees), and the
 * files that could be written are there. For one thread at a time on each profile.
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
	uint64_t bytes, events, messages, launches; /* events: enters and exits */
	uint64_t thinned;			    /* calls left out to keep sampling.max_size */
	uint64_t dropped_blocks;		    /* because the disk was behind */
};

/*
 * The summary, as log and as JSON; with profile_table.separate also the files of tables that
 * measures.def names. Prints only data that merging keeps, so that agents and `vftr collate' write
 * the same text. Names are those of base/result-files.h, in the layout of c; base: result_base().
 */
int output_summary(const struct profile *p, const struct conf *c, const char *dir, const char *base,
	char **error);

/* Prints the digest of the summary (digest.h), in output.layout run only. dir: of the files that it
 * names, or NULL. */
void output_digest(FILE *f, const struct profile *p, const struct conf *c, const char *dir);

/* Writes what BASE_all.json holds to f; errors are seen by ferror(). */
void output_json(const struct profile *p, const struct conf *c, FILE *f);
/*
 * Writes BASE_all.json of a struct report whose log is REPORT_SUMMARY. It has the type of the
 * writers that html/json-tree.h takes. If j hands its values over, the report must live as long as
 * they are used.
 */
void output_json_of(struct json *j, const void *report);

/*
 * The log of a node. numbers: the n ids of stacks in the job (profile_numbers()), which are
 * printed; NULL with n = 0: the ids in the node. trace: NULL: there is no sampling file.
 */
int output_node(const struct profile *node, const struct conf *c, const char *dir, const char *base,
	const char *host, const struct output_trace *trace, const struct profile_number *numbers,
	size_t n, char **error);

/*
 * The log of one process, with profile_table.separate also those of tables. one_rank: the profile
 * of that process alone; who: its entry in processes[]. Ranks in names have as many digits as
 * nranks.
 */
int output_rank(const struct profile *one_rank, const struct profile_process *who, unsigned nranks,
	const struct conf *c, const char *dir, const char *base,
	const struct profile_number *numbers, size_t n, char **error);

#endif
