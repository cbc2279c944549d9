/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares two profiles, for `vftr diff`: reads them from any kind of file, finds
 * equal call paths, judges the differences. Times are seconds. The input is not
 * trusted, and memory is taken in proportion to the two profiles, not to the
 * files.
 */
#ifndef VFTR_NODEAGENT_TOOL_DIFF_DIFF_H
#define VFTR_NODEAGENT_TOOL_DIFF_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "nodeagent/base/json-read.h"

#define DIFF_NONE  UINT32_MAX
#define DIFF_NO_ID UINT64_MAX

struct diff_stack {
	uint64_t hash;	       /* of the path */
	uint64_t id;	       /* STID in its own file, or DIFF_NO_ID */
	size_t path;	       /* offset in text: "foo<bar<main<init" */
	size_t function_bytes; /* of the path: length of the innermost name, which may have a `<' in
				  it */
	uint64_t calls;
	double incl_s, excl_s; /* sums over ranks */
	uint64_t ranks;	       /* that have this stack; 0: not known, perhaps all */
	/* standard deviation of excl_s over all ranks of the job, at most; < 0: not known */
	double deviation_s;
};

struct diff_profile {
	char *file; /* that it was read from */
	char *tags; /* of the run, words KEY=VALUE (base/words.h), or NULL */
	const char *kind;
	uint64_t ranks;
	double runtime_s;
	double rounded_s; /* rounding error of times, in logs */
	/* hash is of the names as linkers know them; else of the path as printed */
	bool hash_of_names;
	struct text_store text;
	struct diff_stack *stacks;
	size_t n_stacks, cap_stacks;
};

/*
 * FILE is BASE_all.json, BASE_HOST.vfp, a log (also one of Vftrace's), or a folder
 * that holds the output of one run. NULL on error; *error is "FILE: why" (caller frees).
 */
struct diff_profile *diff_read(const char *file, char **error);
void diff_profile_free(struct diff_profile *p);

/* Readers of one format each. Return 0, or -1 with *error, the end of a sentence. */
int diff_read_json(FILE *f, struct diff_profile *p, char **error);
int diff_read_log(FILE *f, struct diff_profile *p, char **error);
/* For the readers: makes "foo<main" of "foo < main", in place. */
void diff_join_path(char *path);
/* For the readers: adds a stack, all zero but id, path and deviation_s (not known). */
struct diff_stack *diff_add(struct diff_profile *p, const char *path, size_t bytes);
/*
 * Sets deviation_s, once the ranks of the job are known, from the deviation over the
 * ranks that have the stack. If only bounds are known, pass the value of
 * diff_deviation_most().
 */
void diff_set_deviation(const struct diff_profile *p, struct diff_stack *s, double deviation);
double diff_deviation_most(double mean, double min, double max);

/* Adds up all stacks of each function; names replace paths. */
void diff_by_function(struct diff_profile *p);

struct diff_row {
	uint32_t a, b; /* stacks, or DIFF_NONE */
	double a_s, b_s;
	double diff_s;	    /* b - a */
	double imbalance_s; /* root of the mean of both variances over ranks; NAN: not known */
	bool significant;   /* the difference exceeds the imbalance */
};

struct diff {
	const struct diff_profile *a, *b;
	bool inclusive; /* times; else exclusive */
	bool per_rank;	/* mean over all ranks of the job; else their sum */
	struct diff_row *rows;
	size_t n_rows;
	double total_a_s, total_b_s; /* of all stacks, exclusive */
	size_t only_a, only_b, n_significant;
};

/* Sorts a and b, which must outlive the diff. */
void diff_make(struct diff *d, struct diff_profile *a, struct diff_profile *b, bool inclusive,
	bool per_rank);
void diff_done(struct diff *d);

/* Sorts by "diff" (its amount), "percent", "significance", "a", "b", "calls" or "path". */
bool diff_sort(struct diff *d, const char *key);
/* Keeps rows of at least this difference, and only significant ones if wanted. */
void diff_keep(struct diff *d, double min_s, bool significant);
/* The row with the most growth, if that is more than percent, or NULL. */
const struct diff_row *diff_grown(const struct diff *d, double percent);
/* The difference in percent of a; NAN if a is 0. */
double diff_percent(const struct diff_row *row);
/* The difference divided by the imbalance; NAN: not known. */
double diff_ratio(const struct diff_row *row);
const char *diff_path(const struct diff *d, const struct diff_row *row);

/* limit: most rows, 0 for all. function: the rows are functions. */
void diff_print(const struct diff *d, size_t limit, bool function, FILE *f);
void diff_print_json(const struct diff *d, size_t limit, bool function, FILE *f);
/* Prints the columns of vftrace_diff_profiles. */
void diff_print_classic(const struct diff *d, FILE *f);

#endif
