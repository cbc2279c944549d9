/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares two profiles, for `vftr diff': reads them from any kind of file, finds equal call paths,
 * judges the differences. Times are seconds. The input is not trusted, and memory is taken in
 * proportion to the two profiles, not to the files. For one thread.
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
	/* standard deviation, or a bound of it, of a rank's exclusive time, over all ranks of the
	 * job; < 0: not known */
	double deviation_s;
};

struct diff_profile {
	char *file;	  /* that it was read from, as named */
	char *tags;	  /* of the run, words KEY=VALUE (base/words.h), or NULL */
	const char *kind; /* "node profile": what the file is, static */
	uint64_t ranks;
	bool has_no_mpi; /* the ranks are processes */
	double runtime_s;
	double rounded_s; /* rounding error of times in logs; else 0 */
	/* hashes are of the names as linkers know them; else of the path as printed */
	bool hash_of_names;
	size_t n_bad; /* node profiles that could not be read: their calls are missing */
	struct text_store text;
	struct diff_stack *stacks;
	size_t n_stacks, cap_stacks;
};

/*
 * Reads file, which is BASE_all.json, BASE_HOST.vfp, a log (also one of Vftrace's), or a folder
 * that holds the output of one run. Returns the profile, which diff_profile_free() frees, and
 * *error = NULL; or NULL and *error, "FILE: why" (caller frees).
 */
struct diff_profile *diff_read(const char *file, char **error);
void diff_profile_free(struct diff_profile *p);

/* Readers of one format each. They return 0, or -1 and *error, the end of a sentence (caller
 * frees). */
int diff_read_json(FILE *f, struct diff_profile *p, char **error);
int diff_read_log(FILE *f, struct diff_profile *p, char **error);
/* For the readers: makes "foo<main" of "foo < main", in place. */
void diff_join_path(char *path);
/*
 * For the readers: adds a stack, zeros but for id and deviation_s, which are not known, and path,
 * of so many bytes; path NULL: the caller adds it to text, where it begins at the end, with a NUL.
 * The result is valid until the next call.
 */
struct diff_stack *diff_add(struct diff_profile *p, const char *path, size_t bytes);
/*
 * For the readers: sets deviation_s, once ranks and excl_s are known, from the deviation over the
 * ranks that have the stack (< 0: not known). If only bounds of that are known, it is given the
 * value of diff_deviation_most(): the greatest deviation of numbers from min to max with this mean.
 */
void diff_set_deviation(const struct diff_profile *p, struct diff_stack *s, double deviation);
double diff_deviation_most(double mean, double min, double max);

/* Adds up all stacks of each function; its name becomes the path, and ids are not known. */
void diff_by_function(struct diff_profile *p);

struct diff_row {
	uint32_t a, b; /* stacks of the two profiles, or DIFF_NONE */
	double a_s, b_s;
	double diff_s;	    /* b_s - a_s */
	double imbalance_s; /* root of the mean of both variances over ranks; NAN: not known */
	bool significant;   /* the difference exceeds the imbalance and what logs have rounded */
};

struct diff {
	const struct diff_profile *a, *b;
	bool inclusive; /* times are inclusive; else exclusive */
	bool per_rank;	/* times are means over all ranks of the job; else sums */
	struct diff_row *rows;
	size_t n_rows;
	double total_a_s, total_b_s; /* of all stacks, exclusive */
	/* rows with a stack of a, or b, alone, and significant rows, before diff_keep() */
	size_t only_a, only_b, n_significant;
};

/*
 * Makes *d, to be freed by diff_done(). Sorts a and b, which must outlive d, and adds up their
 * stacks of one path.
 */
void diff_make(struct diff *d, struct diff_profile *a, struct diff_profile *b, bool inclusive,
	bool per_rank);
void diff_done(struct diff *d);
/* For diff_make(): matches anew call paths that differ in the lines of constructs alone. */
void diff_match_moved(struct diff *d);

/*
 * Sorts rows by "diff", "percent", "significance", "a", "b" or "calls", the greatest amount first,
 * or by "path". False: the key is none of these.
 */
bool diff_sort(struct diff *d, const char *key);
/* Keeps rows that differ by min_s or more, and if wanted only significant ones. */
void diff_keep(struct diff *d, double min_s, bool significant);
/*
 * Of the rows that have grown by more than percent, and are significant or have no known imbalance,
 * the one that has grown by most seconds; or NULL.
 */
const struct diff_row *diff_grown(const struct diff *d, double percent);
/* The difference in percent of a_s; NAN if that is 0. */
double diff_percent(const struct diff_row *row);
/* The amount of the difference divided by the imbalance; NAN: not known; may be infinite. */
double diff_ratio(const struct diff_row *row);
/* The path of a row; belongs to one of the profiles. */
const char *diff_path(const struct diff *d, const struct diff_row *row);

/* Print the rows. limit: most rows; 0: all. function: the rows are functions. */
void diff_print(const struct diff *d, size_t limit, bool function, FILE *f);
void diff_print_json(const struct diff *d, size_t limit, bool function, FILE *f);
/* Prints all rows in the columns of vftrace_diff_profiles. */
void diff_print_classic(const struct diff *d, FILE *f);

#endif
