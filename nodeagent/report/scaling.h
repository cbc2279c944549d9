/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How runs of one program scale: whether the work was the same in all (strong scaling) or grew
 * with the ranks (weak), and what computation scaling is made of. vftr-analysis(7) has the
 * formulas.
 */
#ifndef VFTR_NODEAGENT_REPORT_SCALING_H
#define VFTR_NODEAGENT_REPORT_SCALING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct report;

/* A function of the program, not of MPI or OpenMP, by the name that is shown. */
struct scaling_function {
	char *name;
	uint64_t calls;
};

/* The numbers of a run that are compared; scaling_done() frees them. */
struct scaling_run {
	struct scaling_function *functions; /* by name */
	size_t n_functions;
	uint64_t calls;	       /* their sum */
	double ranks, threads; /* 1 or more */
	double useful_s;       /* of all ranks or threads, summed; 0: not known */
	/* in functions of the program; NAN: not counted */
	double instructions, cycles;
};

/* What a run's report tells; the caller sets ranks, threads and useful_s. */
struct scaling_run scaling_of(const struct report *r);
void scaling_done(struct scaling_run *run);

enum scaling_reason {
	SCALING_BY_OPTION,  /* the user has said it */
	SCALING_BY_CALLS,   /* most calls say it */
	SCALING_SAME_RANKS, /* assumed: all runs have as many ranks, and calls tell nothing of
			       threads */
	SCALING_BY_TIME, /* assumed: calls say weak, but useful times are those of the same work */
	SCALING_NEITHER, /* assumed: calls say neither */
	SCALING_REASONS
};

struct scaling {
	bool weak;
	enum scaling_reason reason;
	/*
	 * Part, from 0 to 1, of a run's calls that are of functions called as often as in the
	 * reference, up to 1 %: in total, or by each rank. The least over the runs that have
	 * another number of ranks; 0 if there are none.
	 */
	double same_total, same_per_rank;
};

/* The words of the JSON, by reason: "option", "calls" ... */
extern const char *const scaling_reasons[SCALING_REASONS];

/* Compares n >= 2 runs with runs[reference], the one with the fewest threads. */
struct scaling scaling_recognise(const struct scaling_run *runs, size_t n, size_t reference);
/* One sentence that says which scaling it is and why, with a full stop; the caller frees. */
char *scaling_sentence(const struct scaling *s);

/*
 * Computation scaling = instructions * ipc * frequency. Each factor compares this run with the
 * reference: 1 is the same, more is better. NAN: what it needs is not known of one of the two.
 */
struct scaling_factors {
	double instructions, ipc, frequency;
};
struct scaling_factors scaling_factors(
	const struct scaling_run *run, const struct scaling_run *reference, bool weak);

#endif
