/* SPDX-License-Identifier: BSD-3-Clause */
/* The options by which a compiler leaves out the short functions of a run. */
#ifndef VFTR_NODEAGENT_TOOL_FLAGS_EXCLUDE_H
#define VFTR_NODEAGENT_TOOL_FLAGS_EXCLUDE_H

/* The form of the options. */
enum exclusion {
	EXCLUDE_BY_LIST, /* as gcc: names, of which a part is enough */
	EXCLUDE_BY_NVCC, /* the same, handed on to gcc one by one */
	EXCLUDE_INLINED, /* as clang: functions that are inlined; others need an attribute in the
			    source */
	EXCLUDE_BY_HAND, /* no option: attributes in the source only */
};

/*
 * Prints the option for the short functions of a run, a folder or file as of run_open()
 * (tool/show/run.h), on stdout, and on stderr which of them it cannot leave out. Returns 0; 1: some
 * files of the run could not be read; 2: none could. The reasons have been printed.
 */
int flags_exclude(const char *run, enum exclusion how);

#endif
