/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes that a user means. */
#ifndef VFTR_NODEAGENT_ATTACH_CHOICE_H
#define VFTR_NODEAGENT_ATTACH_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

/* All 0 at first, but for what is wished: at most one of name, job, user. */
struct attach_choice {
	const char *name; /* of the program */
	const char *job;  /* of Slurm */
	bool user;	  /* all of this user */
	char *pids;	  /* those that were chosen, with a comma behind each; or NULL */
	size_t n;
};

void attach_choose(struct attach_choice *c, int pid);
/* All of this user that are wished; those that cannot be taken are left out without a word. */
void attach_choose_all(struct attach_choice *c);

#endif
