/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kind of a launcher whose file has a name that many have, as mpirun, from what is in the file:
 * a script names what it starts, a program its MPI. What names none, or several, is asked for its
 * version, if it is a program, or a script that hands its arguments on.
 */
#ifndef VFTR_NODEAGENT_AGENT_LAUNCH_LAUNCHER_FILE_H
#define VFTR_NODEAGENT_AGENT_LAUNCH_LAUNCHER_FILE_H

#include "nodeagent/agent/launch/launcher.h"

/*
 * LAUNCHER_NONE: not known, so that nothing of ours may stand in its command line. question: the
 * option that shows a version, or NULL: nothing is run. It may take 5 s, the first time for this
 * path.
 */
enum launcher_kind launcher_file_kind(const char *path, const char *question);

#endif
