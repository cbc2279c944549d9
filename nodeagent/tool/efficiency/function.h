/* SPDX-License-Identifier: BSD-3-Clause */
/* `vftr efficiency -f FUNCTION`: functions, or call paths, in place of all of the run. */
#ifndef VFTR_NODEAGENT_TOOL_EFFICIENCY_FUNCTION_H
#define VFTR_NODEAGENT_TOOL_EFFICIENCY_FUNCTION_H

#include <stdbool.h>
#include <stddef.h>

/* Names as logs show them, or call paths as "solve<step", which may leave outer callers out. */
struct function_list {
	const char **names;
	size_t n_names, cap_names;
};

/* For cmd_option.take: adds a name to the struct function_list *list; true. The text is not copied;
 * the owner of the list frees names. */
bool function_take(const char *text, void *list);

struct function_request {
	const struct function_list *functions;
	bool strong, weak; /* neither: the numbers of calls decide */
	bool csv, json;
	const char *base; /* only runs of this name, or NULL */
};

/*
 * Prints the functions in the n runs. Returns the exit status: 0; 1: without what could not be
 * read, or no run has one of the functions; 2: no run could be read. Messages are printed.
 */
int functions_show(const struct function_request *r, char **paths, size_t n);

#endif
