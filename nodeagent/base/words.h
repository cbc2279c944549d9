/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A list of words in one text, such as a command line: each word is ended by a newline; in a
 * word, \n stands for a newline and \\ for a backslash. Any bytes are a list.
 */
#ifndef VFTR_NODEAGENT_BASE_WORDS_H
#define VFTR_NODEAGENT_BASE_WORDS_H

#include <stddef.h>

/*
 * The list of words up to NULL, as many as fit into `most` bytes; *left: how many do not. The
 * caller frees.
 */
char *words_list(char *const *words, size_t most, size_t *left);
/* The next word (the caller frees), or NULL at the end; *list moves on. */
char *words_next(const char **list);
/* The list as a shell would have to read it: a 'b c'. The caller frees. */
char *words_for_shell(const char *list);

/* Text of letters, digits, / . _ - and %XX, which no shell changes; its reverse, any text. The
 * caller frees. */
char *words_escape(const char *text);
char *words_unescape(const char *text);

#endif
