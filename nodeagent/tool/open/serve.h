/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A server of one file, by HTTP/1.1 on 127.0.0.1, for pages of one origin: others, and who does
 * not know the file's path, get nothing. One connection at a time; one that says nothing for
 * SERVE_SILENT_S is closed.
 */
#ifndef VFTR_NODEAGENT_TOOL_OPEN_SERVE_H
#define VFTR_NODEAGENT_TOOL_OPEN_SERVE_H

#include <stdint.h>

#define SERVE_SILENT_S 10

struct served {
	int file;	    /* from its beginning; a regular file */
	uint64_t bytes;	    /* of it */
	const char *path;   /* that is asked for: "/..." */
	const char *origin; /* "https://..." */
};

/* A socket that listens on 127.0.0.1; or -errno. */
int serve_listen(uint16_t port);
/*
 * Answers until the whole file was fetched once: 0. -errno: of accept(). -EINTR: a signal came.
 */
int serve_once(int listening, const struct served *s);

#endif
