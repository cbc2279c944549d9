/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells the agent where this process keeps what its threads wait for in MPI (shm/look.h). */
#ifndef VFTR_MPI_RECORDER_LOOK_H
#define VFTR_MPI_RECORDER_LOOK_H

/* When MPI is up, by any thread. */
void vftr_look_start(void);

#endif
