/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Limits the lines that others can cause in the log: each source may cause `each` lines, all
 * sources together `all` lines; further lines are counted. Memory is bounded.
 */
#ifndef VFTR_NODEAGENT_BASE_QUOTA_H
#define VFTR_NODEAGENT_BASE_QUOTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QUOTA_SOURCES 1024 /* known apart; a power of two */

struct quota {
	unsigned each, all; /* most lines of one source, of all sources */
	/* the rest belongs to quota_take(), and begins as zeros */
	unsigned said;
	uint64_t unsaid;
	unsigned n_sources, n_silenced;
	struct quota_source {
		uint64_t hash, last; /* of the source, 0: free; of its last line */
		unsigned said;
		bool silenced;
	} sources[QUOTA_SOURCES];
};

/*
 * True if this line of this source is to be printed: not if the source, or all together, has
 * had its lines, nor if the line equals the source's last one (line NULL: not compared).
 */
bool quota_take(struct quota *q, const char *source, size_t bytes, const char *line);

/*
 * Writes "and 12 more lines about WHAT (of 3 addresses)" to out, for the lines left out since
 * the last call. False: there were none.
 */
bool quota_more(struct quota *q, const char *what, char *out, size_t bytes);

#endif
