/* SPDX-License-Identifier: BSD-3-Clause */
/* Brings libvftrace-annotations.so into COMMAND's processes: vftr-annotations(7). */
#ifndef VFTR_NODEAGENT_AGENT_LAUNCH_ANNOTATIONS_H
#define VFTR_NODEAGENT_AGENT_LAUNCH_ANNOTATIONS_H

#include <stdbool.h>

struct arguments;

/* True if a word of `wanted`, the value of the key, is of an adapter that has to be preloaded. */
bool annotations_need_preload(const char *wanted);

/*
 * Sets the variables by which libraries of the program find `library`, an absolute path, for the
 * adapters in `wanted`, and adds their names to *pass. Those that name another tool, in the
 * environment or on COMMAND's line, are left alone.
 */
void annotations_offer(
	const char *wanted, const char *library, char *const *command, struct arguments *pass);

#endif
