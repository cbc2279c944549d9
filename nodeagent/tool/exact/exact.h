/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tool shows of the causal analysis of a run's sampling files (causal/causal.h): its
 * critical path, waits with causes, and who made others wait.
 */
#ifndef VFTR_NODEAGENT_TOOL_EXACT_EXACT_H
#define VFTR_NODEAGENT_TOOL_EXACT_EXACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "nodeagent/causal/run.h"

struct vfd_file;

struct exact {
	struct vfd_file **files;
	size_t n_files, cap_files;
	struct causal_run *run;
};

/*
 * Reads the sampling files that are named, or in the folders that are named; base: only files
 * that begin with it, or NULL. 0; 1: some could not be read; 2: there is nothing. The reasons
 * have been printed with complain(). exact_close() in the first two cases.
 */
int exact_open(struct exact *x, char **arguments, size_t n, const char *base);
void exact_close(struct exact *x);

/* Factors from 0 to 1: parallel = load_balance * serialisation * transfer. NAN: no useful time. */
struct exact_efficiency {
	double window_s, useful_s, useful_max_s, ideal_s; /* useful_s: the mean of ranks */
	double parallel, load_balance, communication, serialisation, transfer;
};
struct exact_efficiency exact_efficiency(const struct exact *x);

/* Why the numbers are estimates, with "; " between; NULL: they are exact. The caller frees. */
char *exact_doubts(const struct exact *x);

/* A row of waits, of one kind in one call path: over all ranks, or one. Threads of a process that
 * have waited for each other are in it: CAUSAL_THREAD_WAITS. */
struct exact_wait {
	uint32_t kind, path;
	uint64_t calls;
	double ns, error; /* error: the bound of the clocks' errors in it */
	int64_t longest;
};
/*
 * exact_excess(): the ns by which the time of a rank in a path, without waits, is above the mean of
 * all ranks; below 0: it is less. means: the result of exact_means(), by path, which the caller
 * frees.
 */
double *exact_means(const struct exact *x);
double exact_excess(const struct exact *x, const double *means, uint32_t path, uint32_t line);

enum exact_form { EXACT_TEXT, EXACT_CSV, EXACT_JSON };

struct exact_request {
	enum exact_form form;
	size_t most;	  /* rows of a table; 0: all */
	int rank;	  /* waits of this one; -1: all */
	bool for_rank;	  /* waits of others for this rank, not its own */
	bool path, waits; /* what is shown: the critical path; waits and delays */
};
/* Longest first; the caller frees. */
struct exact_wait *exact_waits(const struct exact *x, const struct exact_request *r, size_t *n);
/* The row is of the rank that is asked for, if one is. */
bool exact_is_wanted(const struct exact *x, const struct exact_request *r, uint32_t line);
void exact_print(const struct exact *x, const struct exact_request *r);
void exact_csv(const struct exact *x, const struct exact_request *r);
void exact_json(const struct exact *x, const struct exact_request *r);

/* The whole of a command: opens, shows and closes. Its exit status, as of exact_open(). */
int exact_show(const struct exact_request *r, char **arguments, size_t n, const char *base);

#endif
