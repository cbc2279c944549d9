/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The run that a user names: node profiles (vfp.h) or folders that hold them, in both layouts
 * of names, BASE_HOST.vfp and HOST.vfp, or a summary that stands for them (collate_summary()). They
 * are merged as `vftr collate' does it. The files are not trusted.
 */
#ifndef VFTR_NODEAGENT_TOOL_SHOW_RUN_H
#define VFTR_NODEAGENT_TOOL_SHOW_RUN_H

#include <stddef.h>

#include "nodeagent/report/report.h"

struct conf;

struct run {
	char *name;	 /* what its files begin with; of HOST.vfp, the application's name */
	char *directory; /* of its first file */
	char **paths;	 /* its files */
	size_t n_paths;
	struct profile *p; /* of all nodes */
	struct conf *c;	   /* run_user_conf() */
	struct report r;   /* of p and c */
};

/*
 * The configuration for output to a person: the default, in output.layout run, with what
 * $VFTR_CONFIG and $VFTR_SET say. Prints a message for each unknown key. The caller frees with
 * conf_free(). NULL after a message: it is wrong.
 */
struct conf *run_user_conf(void);

/*
 * Opens the run that n arguments name. base: only the run of this name, or NULL. Returns 0; 1: some
 * of its files could not be read; 2: none could, or they are of several runs. The reasons have been
 * printed with complain(). After 0 and 1 the caller calls run_close().
 */
int run_open(struct run *run, char **arguments, size_t n, const char *base);
void run_close(struct run *run);

/*
 * Tells, also in its warnings, that a profile is the sum of node profiles of several runs: those of
 * one name in a folder may be, as of a node that an earlier run had.
 */
void run_tell_mixture(struct profile *p);

/* One line: what ran, and how long. The caller frees. */
char *run_headline(const struct run *run);
/* The last part of a run's path, in at most 20 columns, for the head of one. The caller frees. */
char *run_short_name(const char *path);

#endif
