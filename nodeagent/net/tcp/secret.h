/* SPDX-License-Identifier: BSD-3-Clause */
/* The file whose content all agents of a session share; nobody else may read it. */
#ifndef VFTR_NODEAGENT_NET_TCP_SECRET_H
#define VFTR_NODEAGENT_NET_TCP_SECRET_H

#include <stddef.h>

#define SECRET_BYTES_MIN  16
#define SECRET_BYTES_MAX  4096
#define SECRET_TEXT_BYTES 66 /* of a new one: 32 bytes as hex digits, newline and NUL */

/* Makes a secret from random bytes. */
void secret_make(char text[SECRET_TEXT_BYTES]);

/* The name of the default file; the caller frees. */
char *secret_usual(void);

/*
 * Reads path, without blanks at its end. NULL: $HOME/.vftr-secret, which is made from
 * random bytes if it is not there. 0, or -1 with *error, a sentence; the caller frees both.
 */
int secret_read(const char *path, char **secret, size_t *bytes, char **error);

#endif
