/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of a node agent, which a subcommand becomes. */
#ifndef VFTR_NODEAGENT_TOOL_AGENT_WORDS_H
#define VFTR_NODEAGENT_TOOL_AGENT_WORDS_H

#include <stddef.h>

/* Exit status where nothing was begun, as of the agent. */
#define OWN_FAILURE 125

/* All 0 at first. */
struct agent_words {
	char **v;
	size_t n, cap;
};

/* The agent's path: beside this program, or else a name for PATH. */
void agent_words_begin(struct agent_words *w);
/* The word stays the caller's until the agent runs. */
void agent_words_add(struct agent_words *w, char *word);
/* Adds --set KEY=VALUE. */
void agent_words_add_key(struct agent_words *w, const char *key, const char *value);

/* Becomes the agent. Returns OWN_FAILURE, after a message, if that fails. */
int agent_become(const struct agent_words *w, const char *subcommand);

#endif
