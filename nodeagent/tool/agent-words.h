/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of a node agent, which a subcommand becomes. */
#ifndef VFTR_NODEAGENT_TOOL_AGENT_WORDS_H
#define VFTR_NODEAGENT_TOOL_AGENT_WORDS_H

#include <stddef.h>

/* Exit status where nothing was begun, as of the agent. */
#define OWN_FAILURE 125

/* The words of the command line, v[n] NULL. Begins as zeros. */
struct agent_words {
	char **v;
	size_t n, cap;
};

/*
 * Adds the agent's path: beside this program, or else a name for PATH; and the name of the
 * subcommand, with which its messages begin until it has begun.
 */
void agent_words_begin(struct agent_words *w, const char *subcommand);
/* Adds a word, which is not copied: it must stay until the agent runs. */
void agent_words_add(struct agent_words *w, char *word);
/* Adds --set and the text of key and value put together, copied. key ends with "=", or is
 * "KEY=VALUE" with an empty value. */
void agent_words_add_key(struct agent_words *w, const char *key, const char *value);

/* Becomes the agent. subcommand: its name, for the message after which it returns OWN_FAILURE. */
int agent_become(const struct agent_words *w, const char *subcommand);

#endif
