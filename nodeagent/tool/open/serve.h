/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A server of one file, by HTTP/1.1 on 127.0.0.1, for pages of one origin. Requests from pages of
 * other origins, or for another path, get no data. One connection at a time; one that sends nothing
 * for SERVE_SILENT_S is closed.
 */
#ifndef VFTR_NODEAGENT_TOOL_OPEN_SERVE_H
#define VFTR_NODEAGENT_TOOL_OPEN_SERVE_H

#include <stdint.h>

#define SERVE_SILENT_S 10

struct served {
	int file;	    /* descriptor of a regular file, which is sent from its beginning */
	uint64_t bytes;	    /* of it */
	const char *path;   /* in the request: "/..." */
	const char *origin; /* "https://..." */
};

/* A socket that listens on 127.0.0.1; or -errno. */
int serve_listen(uint16_t port);
/*
 * Answers requests until the whole file was fetched once. Returns 0, or -errno of accept(); -EINTR:
 * a signal came.
 */
int serve_once(int listening, const struct served *s);

#endif
