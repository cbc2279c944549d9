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

/* What the time of a stack was spent for. */
enum digest_part {
	DIGEST_COMPUTING,   /* in functions of the program */
	DIGEST_MPI,	    /* but for: */
	DIGEST_MPI_ENDS,    /* MPI_Init ..., MPI_Finalize */
	DIGEST_OPENMP_WAIT, /* of a thread for others, in OpenMP */
	DIGEST_OPENMP_IDLE, /* of a worker between regions */
	DIGEST_LOCK_WAIT,   /* the same in functions of the C library: shm/locks.h */
	DIGEST_OUTSIDE,	    /* in no function that was traced: init */
	DIGEST_PARTS
};

struct digest_function {
	uint32_t name;	 /* index into names[] */
	uint32_t caller; /* that of its calls with the most time, or PROFILE_NONE */
	uint64_t calls, excl_ns;
	bool estimated; /* excl_ns is an estimate, in part */
};

/*
 * The function whose slowest rank costs the most time. A function of several call paths is
 * known by the least and the most of each path only: then max_ns is what the rank took at
 * least (is_bound), and min_ns is not known.
 */
struct digest_imbalance {
	uint32_t name;		 /* PROFILE_NONE: no function is worth it */
	uint32_t rank, rank_min; /* as printed */
	uint32_t members;	 /* ranks that the mean counts */
	uint32_t ranks;		 /* those that called it, if one path has it */
	bool is_bound;
	uint64_t max_ns, min_ns, sum_ns;
};

/*
 * What all ranks waited in receives for messages that were not sent yet, and the sender that
 * makes most of it. rank: as printed, or PROFILE_NONE where ranks are known in groups only.
 */
struct digest_late {
	uint64_t ns, rank_ns;
	uint32_t rank;
};

struct digest {
	uint64_t part_ns[DIGEST_PARTS]; /* exclusive times of all ranks and threads */
	size_t n_top;
	struct digest_function top[DIGEST_TOP]; /* by falling time; no DIGEST_MPI_ENDS, no init */
	struct digest_imbalance imbalance;
	struct digest_late late;
	double hooks_s, blocked_s; /* of the run: report_cost() */
};

/*
 * The imbalance of one function (report_groups()); if not several ranks have called it, or it is no
 * work, name is PROFILE_NONE.
 */
struct report_group;
struct digest_imbalance digest_imbalance(
	const struct report *r, const uint32_t *members, const struct report_group *g);
/* The digest of r, made at the first call. */
struct digest digest_of(const struct report *r);
struct digest_once {
	bool is_made;
	struct digest d;
};
enum digest_part digest_part(const struct report *r, uint32_t stack);
/* True if waits for locks were recorded. */
bool digest_has_locks(const struct profile *p);
/*
 * The part of a function that is no root, by its name. has_locks: digest_has_locks(); if false, no
 * function is taken for a wait for a lock.
 */
enum digest_part digest_part_of(bool has_locks, const char *name);
/* True if a rank waited for a CPU so long that its times say little about the program. */
bool digest_is_starved(const struct report *r);
/* MPI_Init, MPI_Finalize and the like, which are no communication. */
bool digest_is_start_or_end(const char *name);

/*
 * At most DIGEST_LINES lines of at most DIGEST_COLUMNS columns, without newlines. folder: of
 * the files, for the last line; NULL: none. The caller frees each, and the array.
 */
char **report_digest(const struct report *r, const char *folder, size_t *n);

#endif
