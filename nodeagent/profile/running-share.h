/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VFTR_NODEAGENT_PROFILE_RUNNING_SHARE_H
#define VFTR_NODEAGENT_PROFILE_RUNNING_SHARE_H

#define RUNNING_SHARE_LEAST 0.01 /* a smaller share is within the error of its times */

/*
 * The part of the time in which threads wanted a CPU and had one, from RUNNING_SHARE_LEAST to 1.
 * running: time with a CPU; waiting: time in which they were ready and had none, in the same unit.
 * Both 0: RUNNING_SHARE_LEAST.
 */
static inline double running_share(double running, double waiting)
{
	const double share = running / (running + waiting);

	return share > RUNNING_SHARE_LEAST ? share : RUNNING_SHARE_LEAST;
}

#endif
