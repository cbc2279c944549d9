/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who may have how many lines in the log, where lines can be caused from outside: each source
 * has a few, all together have a number, and what is not said is counted. Bounded memory,
 * whatever comes.
 */
#ifndef VFTR_NODEAGENT_QUOTA_H
#define VFTR_NODEAGENT_QUOTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QUOTA_SOURCES 1024 /* known apart; a power of two */

struct quota {
	unsigned each, all; /* lines: of a source, of all */
	/* the rest is quota_take()'s; begins as zeros */
	unsigned said;
	uint64_t unsaid;
	unsigned n_sources, n_silenced;
	struct quota_source {
		uint64_t hash, last; /* 0: free; of its last line */
		unsigned said;
		bool silenced;
	} sources[QUOTA_SOURCES];
};

/*
 * Whether this line of this source is to be said. Not if the source has had its lines, or all
 * have; nor if it is the same as its last one: line is NULL where that does not count.
 */
bool quota_take(struct quota *q, const char *source, size_t bytes, const char *line);

/*
 * "and 12 more lines about WHAT (of 3 addresses)" into out, about what was not said since the last
 * call. False: all was said.
 */
bool quota_more(struct quota *q, const char *what, char *out, size_t bytes);

#endif
