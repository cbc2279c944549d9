/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * KILLPOINT(name) stands after each step that another process can see. In a
 * production build it is nothing. Built with -DVFTR_KILLPOINTS, the process
 * kills itself with SIGKILL the n-th time it passes the point named in the
 * environment: VFTR_KILLPOINT=name:n. For tests.
 */
#ifndef VFTR_SHM_KILLPOINT_H
#define VFTR_SHM_KILLPOINT_H

#ifdef VFTR_KILLPOINTS
void vftr_killpoint(const char *name);
#define KILLPOINT(name) vftr_killpoint(name)
#else
#define KILLPOINT(name) ((void)0)
#endif

#endif
