/* SPDX-License-Identifier: BSD-3-Clause */
/* The summary of a run whose agents could not make it together: from their files. */
#ifndef VFTR_NODEAGENT_SALVAGE_H
#define VFTR_NODEAGENT_SALVAGE_H

#include <stdbool.h>
#include <stdint.h>

struct conf;

struct salvage {
	const struct conf *conf;
	const char *directory; /* where the agents wrote */
	const char *hosts;     /* that had one, with blanks between them; "": not known */
	uint64_t run;	       /* only files of this run count */
	bool quiet;	       /* no line about where the summary is */
};

/*
 * Sees to it that there is a summary with all that the nodes have written, and says where
 * it is. orphans: agents may still be writing, and are waited for: until all hosts' files
 * are there, or none has come for some seconds. Hosts that left nothing are named.
 */
void salvage_summary(const struct salvage *s, bool orphans);

#endif
