/* SPDX-License-Identifier: BSD-3-Clause */
/* What to tell a compiler about the short functions of a run: they are to be left out. */
#ifndef VFTR_NODEAGENT_TOOL_FLAGS_EXCLUDE_H
#define VFTR_NODEAGENT_TOOL_FLAGS_EXCLUDE_H

/* How a compiler is told. */
enum exclusion {
	EXCLUDE_BY_LIST, /* as gcc: names, of which a part is enough */
	EXCLUDE_BY_NVCC, /* the same, handed on to gcc one by one */
	EXCLUDE_INLINED, /* as clang: no functions that are inlined; others by their attribute */
	EXCLUDE_BY_HAND, /* by the attribute only */
};

/*
 * Prints the option for the short functions of this run (tool/show/run.h) on stdout, and on
 * stderr which of them it cannot leave out. 0; 1: some files of the run could not be read; 2:
 * none could, which has been said.
 */
int flags_exclude(const char *run, enum exclusion how);

#endif
