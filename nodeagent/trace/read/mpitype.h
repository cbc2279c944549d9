/* SPDX-License-Identifier: BSD-3-Clause */
/* Predefined datatypes of MPI, by their number in messages: rows of mpi/generate/types.tab. */
#ifndef VFTR_NODEAGENT_TRACE_READ_MPITYPE_H
#define VFTR_NODEAGENT_TRACE_READ_MPITYPE_H

#include <stdint.h>

struct vfd_mpitype {
	const char *name;
	uint32_t bytes; /* on this machine, without padding */
	int classic;	/* number in files of version 3 of Vftrace, or -1 */
};

/* Never NULL: derived ones have 1 byte and no number. */
const struct vfd_mpitype *vfd_mpitype(uint32_t type);

#endif
