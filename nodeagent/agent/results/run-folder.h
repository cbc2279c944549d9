/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The folder of a run, with output.layout = run: vftr-NAME-DATE-TIME, with the number of the
 * batch job if there is one, in output_directory, and the link vftr-NAME-last to the latest.
 * One process makes it and hands its path to the agents of other nodes.
 */
#ifndef VFTR_NODEAGENT_AGENT_RUN_FOLDER_H
#define VFTR_NODEAGENT_AGENT_RUN_FOLDER_H

#include <stdbool.h>

struct agent;

/*
 * Makes the folder in a->host.output_directory, which becomes its path. wish: the folder itself,
 * by -o, with patterns; NULL: none. step: what all nodes of a step know, which have to find the
 * same folder; NULL: this process alone makes it. 0, or -1 and *error (the caller frees). If
 * nothing is in the folder when this process exits, it is removed.
 */
int run_folder_make(
	struct agent *a, char *const *command, const char *wish, const char *step, char **error);

/* At the end of the run: the link leads to the folder. Nothing without the above, or with a wish.
 * failed: something was not written; then the link stays if there is no profile, and that is said.
 */
void run_folder_link(const struct agent *a, bool failed);

/*
 * A wish with %p (program), %j (batch job; empty without), %d (date), %h (host) and %% replaced;
 * host NULL: several, so that there is no %h. NULL and *error: it has another one. Both are the
 * caller's to free.
 */
char *run_folder_pattern(
	const char *wish, const char *program, const char *date, const char *host, char **error);

#endif
