/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A run in a few lines: what it was, where its time went, what is wrong. The same numbers are
 * members of BASE_all.json, so that both can be compared.
 */
#ifndef VFTR_NODEAGENT_REPORT_DIGEST_H
#define VFTR_NODEAGENT_REPORT_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile;
struct report;

#define DIGEST_LINES   15
#define DIGEST_COLUMNS 100
#define DIGEST_TOP     5

/* What the exclusive time of a stack was spent for. */
enum digest_part {
	DIGEST_COMPUTING, /* functions of the program; they may have slept */
	DIGEST_MPI,	  /* functions of MPI, but for: */
	DIGEST_MPI_ENDS,  /* MPI_Init ..., MPI_Finalize */
	/* waits of a thread for others, in OpenMP; also of a worker until its team has ended */
	DIGEST_OPENMP_WAIT,
	DIGEST_OPENMP_IDLE, /* idleness of a worker between parallel regions */
	DIGEST_LOCK_WAIT,   /* waits for threads in functions of the C library: shm/locks.h */
	DIGEST_PAUSED,	    /* between vftrace_pause() and vftrace_resume() */
	DIGEST_OUTSIDE,	    /* no function that was traced: init */
	DIGEST_PARTS
};

struct digest_function {
	uint32_t name;	 /* index into names[] */
	uint32_t caller; /* the same, of the caller below which it has most time, or PROFILE_NONE */
	uint32_t more_callers; /* others below which it has time, but for itself */
	uint64_t calls, excl_ns;
	bool estimated; /* excl_ns is an estimate, in part */
};

/*
 * How unevenly ranks share the exclusive time of a function. Of a function of several call paths
 * only the least and the most of each path are known: then max_ns is what the rank took at least
 * (is_bound), and min_ns is not known.
 */
struct digest_imbalance {
	uint32_t name;		 /* index into names[]; PROFILE_NONE: there is no function */
	uint32_t rank, rank_min; /* with the most and the least, as printed */
	uint32_t members;	 /* ranks that the mean counts */
	uint32_t ranks;		 /* those that called it, if it has one path */
	bool is_bound;
	uint64_t max_ns, min_ns, sum_ns;
};

/*
 * What all ranks waited in receives for messages that were not sent yet (ns), and the sender for
 * which they waited most (rank_ns). rank: as printed, or PROFILE_NONE: no sender is known, or ranks
 * are known in groups only.
 */
struct digest_late {
	uint64_t ns, rank_ns;
	uint32_t rank;
};

struct digest {
	uint64_t part_ns[DIGEST_PARTS]; /* exclusive times of all ranks and threads */
	/* idleness as DIGEST_OPENMP_IDLE is, of the windows of ranks where no frame shows it
	 * (openmp.show_idle_time); frames_show_idle: one does, and it is part_ns[] */
	uint64_t openmp_idle_ns;
	bool frames_show_idle;
	size_t n_top;
	/* by falling time; no DIGEST_MPI_ENDS, DIGEST_OPENMP_IDLE or DIGEST_OUTSIDE */
	struct digest_function top[DIGEST_TOP];
	/* of the function of the program whose slowest rank costs the most time, if that is worth
	 * a line */
	struct digest_imbalance imbalance;
	struct digest_late late;
	double hooks_s, blocked_s; /* of the run: report_cost() */
};

/*
 * The imbalance of one function (report_groups()). name is PROFILE_NONE if the job has fewer than
 * two ranks, and if the function is init or has no time.
 */
struct report_group;
struct digest_imbalance digest_imbalance(
	const struct report *r, const uint32_t *members, const struct report_group *g);
/* True if chance makes stack samples differ so much, or more: own_ns of a rank are excess_ns beyond
 * the mean; there are so many samples in sampled_ns of all ranks. */
bool digest_is_chance(double excess_ns, double own_ns, uint64_t sampled_ns, uint64_t samples);
/* The digest of r, made at the first call. */
struct digest digest_of(const struct report *r);
/* What a report keeps of it. */
struct digest_once {
	bool is_made;
	struct digest d;
};
/* The part of a stack. A wait for a lock in MPI or OpenMP has the part of its caller. */
enum digest_part digest_part(const struct report *r, uint32_t stack);
/* True if waits for locks were recorded. */
bool digest_has_locks(const struct profile *p);
/*
 * The part of a function that is no root, by its raw name. has_locks: digest_has_locks(); if it is
 * false, no function is taken for a wait for a lock.
 */
enum digest_part digest_part_of(bool has_locks, const char *name);
/*
 * True if a rank waited for a CPU for more than a tenth of its time: then its times say little
 * about the program.
 */
bool digest_is_starved(const struct report *r);
/* True for MPI_Init, MPI_Finalize and the like, which are no communication. */
bool digest_is_start_or_end(const char *name);

/*
 * Sets *n to the number of lines, at most DIGEST_LINES, of at most DIGEST_COLUMNS columns, without
 * newlines. folder: of the files, which the last line names; NULL: none. The caller frees each line
 * and the array.
 */
char **report_digest(const struct report *r, const char *folder, size_t *n);

#endif
