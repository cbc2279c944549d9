/* SPDX-License-Identifier: BSD-3-Clause */
/* What this node is, as its kernel says. */
#ifndef VFTR_NODEAGENT_BASE_MACHINE_H
#define VFTR_NODEAGENT_BASE_MACHINE_H

#include <stdint.h>

/* The texts are owned by who has asked; NULL and 0: not known. */
struct machine {
	char *cpu_model;       /* "AMD EPYC 7763 64-Core Processor" */
	char *kernel;	       /* "Linux 6.1.0-18-amd64" */
	uint32_t cpus;	       /* logical ones that are on line */
	uint64_t memory_bytes; /* that the kernel has */
};

struct machine machine_read(void);
/* The model in a text such as /proc/cpuinfo, or NULL; the caller frees. */
char *machine_cpu_model(const char *cpuinfo);

#endif
