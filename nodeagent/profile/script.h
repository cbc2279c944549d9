/* SPDX-License-Identifier: BSD-3-Clause */
/* The script that an interpreter has run: for people, it is the program. */
#ifndef VFTR_NODEAGENT_PROFILE_SCRIPT_H
#define VFTR_NODEAGENT_PROFILE_SCRIPT_H

struct profile;

/*
 * "train.py" where the application is Python, and the command line of the run says what it ran: a
 * file, or else a module. NULL: another program, or not known. The caller frees.
 */
char *profile_script(const struct profile *p);

#endif
