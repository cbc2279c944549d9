/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of system calls; for this folder only. */
#ifndef VFTR_NODEAGENT_SANDBOX_INTERNAL_H
#define VFTR_NODEAGENT_SANDBOX_INTERNAL_H

#include <stddef.h>

/* A list of system calls, which not all architectures have. */
struct sandbox_calls {
	const int *number;
	size_t n;
};

extern const struct sandbox_calls sandbox_never, /* what no agent and no tool needs */
	sandbox_outside, /* what a tool that reads files does not need, either */
	sandbox_reading; /* all that a reader of one file needs */

#endif
