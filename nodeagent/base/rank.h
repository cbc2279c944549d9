/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers for "no rank" and "no thread", and the ends of processes; also stored in files. */
#ifndef VFTR_NODEAGENT_BASE_RANK_H
#define VFTR_NODEAGENT_BASE_RANK_H

#include <stdint.h>

#define PROFILE_NONE UINT32_MAX
/* "Ranks" of processes that are in no MPI job: this plus 0, 1, 2 ... */
#define PROFILE_UNRANKED  (1u << 30)
#define PROFILE_ELSEWHERE (UINT32_MAX - 1) /* a rank of another MPI job */

enum process_end {
	PROCESS_RUNNING = 0, /* still running when the data were written */
	PROCESS_EXITED,	     /* announced its end (BYE) */
	PROCESS_KILLED,	     /* ended by a signal, or vanished */
	PROCESS_EXECED,	     /* became another program */
};

#endif
