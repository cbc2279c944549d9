/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two profiles side by side, for `vftr diff`: reading them from whatever file
 * holds them, finding the same call paths, judging the differences. Times are
 * seconds. What is read is not trusted, and memory is taken in proportion to the
 * two profiles, not to the files.
 */
#ifndef VFTR_NODEAGENT_DIFF_H
#define VFTR_NODEAGENT_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "nodeagent/json-in.h"

#define DIFF_NONE  UINT32_MAX
#define DIFF_NO_ID UINT64_MAX

struct diff_stack {
	uint64_t hash;	       /* of the path */
	uint64_t id;	       /* STID in its own file, or DIFF_NO_ID */
	size_t path;	       /* place in text: "foo<bar<main<init" */
	size_t function_bytes; /* of the path: the innermost name, which may have a `<' in it */
	uint64_t calls;
	double incl_s, excl_s; /* sums over ranks */
	uint64_t ranks;	       /* that have it; 0: not known, perhaps all */
	/* standard deviation of excl_s over all ranks of the job, at most; < 0: not known */
	double deviation_s;
};

struct diff_profile {
	char *file; /* that it was read from */
	const char *kind;
	uint64_t ranks;
	double runtime_s;
	double rounded_s; /* times may be off by so much: those of logs */
	/* hash is that of names as linkers know them; else of the path as it stands here */
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

/* The readers of one format each: 0, or -1 with *error, a part of a sentence. */
int diff_read_json(FILE *f, struct diff_profile *p, char **error);
int diff_read_log(FILE *f, struct diff_profile *p, char **error);
/* What they share. A new stack, all zero but for id, path and deviation_s (not known). */
struct diff_stack *diff_add(struct diff_profile *p, const char *path, size_t bytes);
/*
 * Sets deviation_s, once the ranks of the job are known: of `deviation` over the ranks
 * that have the stack to that over all. Only bounds may be known: pass it from
 * diff_deviation_most().
 */
void diff_set_deviation(const struct diff_profile *p, struct diff_stack *s, double deviation);
double diff_deviation_most(double mean, double min, double max);

/* All stacks of a function become one; names instead of paths. */
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

/* a and b get sorted, and must outlive the diff. */
void diff_make(struct diff *d, struct diff_profile *a, struct diff_profile *b, bool inclusive,
	bool per_rank);
void diff_done(struct diff *d);

/* By "diff" (its amount), "percent", "significance", "a", "b", "calls" or "path". */
bool diff_sort(struct diff *d, const char *key);
/* Keeps rows of at least this difference, and only significant ones if wanted. */
void diff_keep(struct diff *d, double min_s, bool significant);
/* NULL, or the path (as below) of the row of the most growth that is more than percent. */
const struct diff_row *diff_grown(const struct diff *d, double percent);
/* In percent of a; NAN where that is 0. */
double diff_percent(const struct diff_row *row);
/* How many times the difference is greater than the imbalance; NAN: not known. */
double diff_ratio(const struct diff_row *row);
const char *diff_path(const struct diff *d, const struct diff_row *row);

/* limit: so many rows, 0 for all. function: the rows are functions. */
void diff_print(const struct diff *d, size_t limit, bool function, FILE *f);
void diff_print_json(const struct diff *d, size_t limit, bool function, FILE *f);
/* As vftrace_diff_profiles did. */
void diff_print_classic(const struct diff *d, FILE *f);

#endif
