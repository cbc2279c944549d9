/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The main loop of a job and its iterations, out of iterations[] of its profile: vftr-analysis(7)
 * has the formulas. Times are seconds.
 */
#ifndef VFTR_NODEAGENT_REPORT_MAIN_LOOP_H
#define VFTR_NODEAGENT_REPORT_MAIN_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile;
struct report;

#define LOOP_KINDS 6

/* Why an iteration took longer than others of its kind. */
enum loop_cause {
	LOOP_UNKNOWN,
	LOOP_WORK,     /* a rank worked longer: loop_step.by, in loop_step.stack */
	LOOP_OFF_CPU,  /* a rank had no CPU: loop_step.by, in loop_step.stack */
	LOOP_WAIT,     /* ranks waited longer, and none was late in the same iteration */
	LOOP_TRANSFER, /* MPI took longer, not waiting for others */
	LOOP_CAUSES
};

/*
 * Factors from 0 to 1 of some iterations: parallel = balance * communication. 1 without time. All
 * time: of each step its mean, or busiest if that is more.
 */
struct loop_efficiency {
	double parallel;      /* mean time outside of MPI / all time */
	double balance;	      /* mean time outside of MPI / greatest of a rank */
	double communication; /* greatest time outside of MPI of a rank / all time */
};

/* Successive iterations on all ranks: mostly one, see main_loop.per_step. */
struct loop_step {
	uint64_t first; /* number of the first one, from 0 */
	uint64_t n;	/* how many each rank has made */
	uint32_t ranks; /* that have made them */
	double mean;	/* of one iteration, over ranks */
	double least;	/* the shortest of a rank */
	double most;	/* the longest ... */
	uint64_t at;	/* ... its number ... */
	uint32_t rank;	/* ... and rank, as printed */
	double mpi;	/* the part in MPI, over ranks */
	double busy;	/* of one iteration, outside of MPI: mean over ranks ... */
	double busiest; /* ... and of the rank that has most */
	uint32_t by;	/* that rank, as printed */
	double wait;	/* of one iteration, in MPI for other ranks: mean over ranks */
	double off;	/* of busy, without a CPU ... */
	double by_off;	/* ... and of busiest: waiting for a CPU, and asleep, blocked or stopped */
	double by_queued, by_asleep; /* parts of by_off; both 0: that is not known */
	uint32_t stack; /* 1 + the stack in which `by' took longer than on average; 0: not known */
	struct loop_efficiency efficiency;
	enum loop_cause cause; /* of slow ones */
	double cause_s;	       /* seconds by which an iteration is longer for this cause */
	unsigned kind;	       /* index into main_loop.kinds[] */
};

/* True if by_queued and by_asleep are known. */
static inline bool loop_step_tells_off(const struct loop_step *s)
{
	return s->by_queued > 0.0 || s->by_asleep > 0.0;
}

/* Iterations of about one duration. */
struct loop_kind {
	size_t n;	/* steps */
	double median;	/* of loop_step.mean */
	uint64_t first; /* number of the first iteration */
	/* iterations from the begin of a step to that of the next one; 0: it differs, or there are
	 * fewer than three steps */
	uint64_t every;
	struct loop_efficiency efficiency;
};

/* Parts of main_loop.excess, by cause: they add up to 1, or are all 0. */
struct loop_excess {
	double wait, transfer; /* in MPI: for other ranks, and the rest */
	double off, work;      /* outside: without a CPU, and the rest */
};

struct main_loop {
	uint32_t stack;	   /* whose calls are the iterations; see is_separated */
	uint32_t ranks;	   /* that have made it */
	uint64_t n;	   /* iterations of the rank that has made most */
	uint64_t per_step; /* iterations in a step, a power of 2 */
	double sum, mpi;   /* seconds of a rank on average, in the loop; the part in MPI, 0 to 1 */
	double median, p90, p99; /* of loop_step.mean */
	double least, most;	 /* the shortest and the longest iteration of a rank */
	/* seconds from the median of the first third of the steps to that of the last one; 0 of
	 * fewer than 9 steps */
	double growth;
	double trend;		  /* growth for every 100 iterations, as part of the median */
	double excess;		  /* seconds above the median, of a rank on average */
	struct loop_excess parts; /* of excess */
	struct loop_efficiency efficiency;
	bool has_waits;	   /* waits for other ranks are known; else `transfer' is all time in MPI */
	bool is_separated; /* the calls at `stack' are between iterations */
	struct loop_step *steps;
	size_t n_steps;
	struct loop_kind kinds[LOOP_KINDS]; /* by falling number of steps */
	unsigned n_kinds;
	size_t *slow; /* indices of steps with an iteration far longer than its kind, longest first
		       */
	size_t n_slow;
};

/* False for exceptions: fewer than three steps, or less than a twelfth at no regular distance. */
bool loop_kind_is_usual(const struct main_loop *l, const struct loop_kind *k);
/* The median of the kind of a step, or of all steps where the kind is an exception. */
double loop_usual_s(const struct main_loop *l, const struct loop_step *s);

/* "rank 3 worked 400 ms longer in output": the cause of a slow step; the caller frees. NULL: it is
 * not known. */
char *loop_cause_text(const struct report *r, const struct main_loop *l, const struct loop_step *s);
/* "work": a static word for programs. */
const char *loop_cause_name(enum loop_cause cause);

/*
 * For main_loop_of(): sets what depends on the steps and kinds of l: parts, efficiencies, and
 * causes of slow steps.
 */
void main_loop_explain(struct main_loop *l);

/* Sets *l, to be freed by main_loop_done(). False: the profile has no main loop, and *l stays. */
bool main_loop_of(const struct profile *p, struct main_loop *l);
void main_loop_done(struct main_loop *l);

#endif
