/* SPDX-License-Identifier: BSD-3-Clause */
/* The run that a sampling file is of, without reading the rest. */
#ifndef VFTR_NODEAGENT_TRACE_RUN_H
#define VFTR_NODEAGENT_TRACE_RUN_H

#include <stdint.h>

/* Its number, as in node profiles; 0: not known, or no sampling file. */
uint64_t vfd_run(const char *path);

#endif
