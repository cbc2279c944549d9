/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes that a user means. */
#ifndef VFTR_NODEAGENT_ATTACH_CHOICE_H
#define VFTR_NODEAGENT_ATTACH_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

/* What the user wishes, at most one of name, job and user; begins as zeros otherwise. */
struct attach_choice {
	const char *name; /* of the program */
	const char *job;  /* of Slurm */
	const char *step; /* of that job: its processes are left out; or NULL */
	bool user;	  /* all processes of this user */
	char *pids;	  /* pids that were chosen, with a comma behind each; or NULL */
	size_t n;
};

/* Adds this process. */
void attach_choose(struct attach_choice *c, int pid);

/*
 * Chooses all processes of this user that fit the wish; leaves out, without a message, those that
 * cannot be taken.
 */
void attach_choose_all(struct attach_choice *c);

#endif
