/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes that a user means. */
#ifndef VFTR_NODEAGENT_ATTACH_CHOICE_H
#define VFTR_NODEAGENT_ATTACH_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

#define ATTACH_REASONS 3

/* What the user wishes, at most one of name, job and user; begins as zeros otherwise. */
struct attach_choice {
	const char *name; /* of the program */
	const char *job;  /* of Slurm */
	bool user;	  /* all processes of this user */
	char *pids;	  /* pids that were chosen, with a comma behind each; or NULL */
	size_t n;
	size_t n_refused;	       /* that fit the wish and cannot be taken */
	char *refused[ATTACH_REASONS]; /* why the first of them cannot: attach_refusal() */
};

/* Adds this process. */
void attach_choose(struct attach_choice *c, int pid);

/*
 * Chooses all processes of this user that fit the wish, but for those that wait for this one or for
 * tasks (srun, vftr), and what has started these, such as a shell; what cannot be taken goes to
 * refused[], which belongs to the choice.
 */
void attach_choose_all(struct attach_choice *c);

#endif
