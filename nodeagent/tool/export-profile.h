/* SPDX-License-Identifier: BSD-3-Clause */
/* `vftr export` of node profiles: flame graphs with the exact times of all call paths. */
#ifndef VFTR_NODEAGENT_TOOL_EXPORT_PROFILE_H
#define VFTR_NODEAGENT_TOOL_EXPORT_PROFILE_H

#include <stdbool.h>
#include <stddef.h>

struct export_format;
struct export_options;

/* True if all arguments are node profiles, or folders with such and without sampling files. */
bool export_is_profile(char **arguments, size_t n);
/* Writes the flame graph of a run. Returns the exit status; messages are printed. */
int export_flame_graph(const struct export_format *format, const struct export_options *o,
	char **arguments, size_t n);

#endif
