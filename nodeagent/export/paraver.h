/* SPDX-License-Identifier: BSD-3-Clause */
/* Paraver's numbers, and the two files that explain them. */
#ifndef VFTR_NODEAGENT_EXPORT_PARAVER_H
#define VFTR_NODEAGENT_EXPORT_PARAVER_H

struct exporter;
struct export_region;

#define PARAVER_RUNNING 1

/* Types of events; the first four are those that Paraver's own views look for. */
#define PARAVER_FUNCTION       60000019
#define PARAVER_MPI_MESSAGE    50000001
#define PARAVER_MPI_COLLECTIVE 50000002
#define PARAVER_MPI_OTHER      50000003
#define PARAVER_LOST	       90000001
#define PARAVER_LEFT_OUT       90000002
#define PARAVER_GAP	       90000003
#define PARAVER_COUNTER	       42100000 /* + number of the counter */

/* PARAVER_MPI_MESSAGE, PARAVER_MPI_COLLECTIVE or PARAVER_MPI_OTHER. */
int paraver_mpi_type(const struct export_region *r);
/* Writes STEM.pcf and STEM.row; export_fail() if it can't. */
void paraver_names(struct exporter *x, const char *stem);

#endif
