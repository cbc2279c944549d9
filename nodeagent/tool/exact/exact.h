/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tool shows of the causal analysis of a run's sampling files (causal/causal.h): its
 * critical path, waits with causes, and who made others wait.
 */
#ifndef VFTR_NODEAGENT_TOOL_EXACT_EXACT_H
#define VFTR_NODEAGENT_TOOL_EXACT_EXACT_H

#include <stdbool.h>
#include <stddef.h>

#include "nodeagent/causal/run.h"

struct vfd_file;

struct exact {
	struct vfd_file **files;
	size_t n_files, cap_files;
	struct causal_run *run;
};

/*
 * Reads the sampling files that are named, or are in the folders that are named, and analyses them.
 * base: only files of the run of this name, or NULL. Returns 0; 1: some could not be read; 2: none
 * could, or they are of several runs or events. The reasons have been printed with complain().
 * After 0 and 1 the caller calls exact_close().
 */
int exact_open(struct exact *x, char **arguments, size_t n, const char *base);
void exact_close(struct exact *x);

/*
 * Factors from 0 to 1: parallel = load_balance * communication, communication = serialisation *
 * transfer. Without useful time load_balance and serialisation may be NAN. Of runs with OpenMP they
 * are those of MPI only, and say nothing where there is no MPI.
 */
struct exact_efficiency {
	double window_s, useful_s, useful_max_s, ideal_s; /* useful_s: the mean of ranks */
	double parallel, load_balance, communication, serialisation, transfer;
};
struct exact_efficiency exact_efficiency(const struct exact *x);

/* True if a thread was in a team of OpenMP. */
bool exact_has_openmp(const struct exact *x);
/* True if exact_efficiency() says something about the run. */
bool exact_has_factors(const struct exact *x);

/* The MPI jobs whose ranks exact_efficiency() is of; 1 without MPI. */
uint32_t exact_jobs(const struct exact *x);

/* Why the numbers are estimates, with "; " between; NULL: they are exact. The caller frees. */
char *exact_doubts(const struct exact *x);

/* The waits of one kind in one call path, of all ranks or of one, and those of threads of a process
 * for each other (CAUSAL_THREAD_WAITS). */
struct exact_wait {
	uint32_t kind, path; /* enum wait_kind; of run->paths */
	uint64_t calls;
	double ns, error; /* error: the bound of the clocks' errors in ns */
	int64_t longest;  /* ns */
};
/*
 * exact_excess(): the ns by which the time of a rank in a path, without waits, is above the mean of
 * all ranks; below 0: it is less. line: index into run->ranks[]. means: the result of
 * exact_means(), ns by path, which the caller frees.
 */
double *exact_means(const struct exact *x);
double exact_excess(const struct exact *x, const double *means, uint32_t path, uint32_t line);

enum exact_form { EXACT_TEXT, EXACT_CSV, EXACT_JSON };

struct exact_request {
	enum exact_form form;
	size_t most;	  /* rows of a table of text; 0: all */
	int rank;	  /* waits of this rank only; -1: of all */
	bool for_rank;	  /* waits of others for this rank, in place of its own */
	bool path, waits; /* what is shown: the critical path; waits and delays */
};
/* The *n waits that are asked for, by falling time; the caller frees. */
struct exact_wait *exact_waits(const struct exact *x, const struct exact_request *r, size_t *n);
/* True if rows of this line, an index into run->ranks[], are asked for. */
bool exact_is_wanted(const struct exact *x, const struct exact_request *r, uint32_t line);
/* Print what is asked for on standard output. */
void exact_print(const struct exact *x, const struct exact_request *r);
void exact_csv(const struct exact *x, const struct exact_request *r);
void exact_json(const struct exact *x, const struct exact_request *r);

/*
 * The whole of a command: opens, shows and closes. Returns the exit status, as exact_open(); 2 also
 * if there is no rank that is asked for.
 */
int exact_show(const struct exact_request *r, char **arguments, size_t n, const char *base);

#endif
