/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command lines of srun and of the mpiruns: their options in every spelling, the
 * number of words of each, and the position of the program. No global state.
 */
#ifndef VFTR_NODEAGENT_AGENT_LAUNCH_LAUNCHER_OPTIONS_H
#define VFTR_NODEAGENT_AGENT_LAUNCH_LAUNCHER_OPTIONS_H

#include "nodeagent/agent/launch/launcher.h"

/* The meaning of an option for us. */
enum option_role {
	OPTION_OTHER,	 /* nothing */
	OPTION_KEPT,	 /* the agents' launcher gets it, too */
	OPTION_HOSTS,	 /* kept; its value lists hosts */
	OPTION_HOSTFILE, /* kept; its value names a file of hosts */
	OPTION_NODES,	 /* the rest: srun's */
	OPTION_TASKS,
	OPTION_NODE_LIST, /* as HOSTS, in Slurm's notation */
	OPTION_DISTRIBUTION,
	OPTION_RELATIVE, /* kept; says which nodes of the job */
	OPTION_JOB,	 /* kept; the number of the job */
	OPTION_GROUPS,	 /* components of a heterogeneous job */
	OPTION_EXPORT,
	OPTION_MPI,	 /* kept */
	OPTION_PROGRAMS, /* the program's place has a list of programs */
};

/* Words of an option's value. WORDS_GLUED: one, as part of the same word, or none. */
enum option_words { WORDS_0, WORDS_1, WORDS_2, WORDS_GLUED };

struct launcher_option {
	char name[32]; /* without dashes */
	char letter;   /* srun's short form, or 0 */
	enum option_words words;
	enum option_role role;
};

/* Options that mean the same to us: "NAME NAME/LETTER ...". */
struct launcher_options {
	enum option_role role;
	enum option_words words;
	const char *names;
};

/* The options of a kind of launcher; the last element has no names. */
const struct launcher_options *launcher_options(enum launcher_kind kind);

/* One option as it was written. */
struct launcher_seen {
	const struct launcher_option *option; /* valid in see() */
	const char *values[2];		      /* as many as it has; else NULL */
};

/*
 * Goes through the words behind argv[0] until the program, and calls see() for each known
 * option. Returns the index of the program in argv, or of argv's NULL. Words behind an
 * unknown option are taken for its values as long as they are no executable files.
 */
int launcher_read_options(enum launcher_kind kind, char *const *argv,
	void (*see)(void *ctx, const struct launcher_seen *s), void *ctx);

#endif
