/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A server of one file, by HTTP/1.1 on 127.0.0.1, for pages of one origin. Requests from pages of
 * other origins, from what is no page, or for another path, get no data. It has one connection at a
 * time, and closes one that sends or takes nothing for SERVE_SILENT_S seconds.
 */
#ifndef VFTR_NODEAGENT_TOOL_OPEN_SERVE_H
#define VFTR_NODEAGENT_TOOL_OPEN_SERVE_H

#include <stdint.h>

#define SERVE_SILENT_S 10

struct served {
	int file;	    /* descriptor of a regular file, which is sent from its beginning */
	uint64_t bytes;	    /* of the file */
	const char *path;   /* that requests have to name: "/..." */
	const char *origin; /* that requests have to come from: "https://..." */
};

/* A socket, which the caller closes, that listens on this port of 127.0.0.1; or -errno. */
int serve_listen(uint16_t port);
/*
 * Answers requests until the whole file was fetched once. Returns 0, or -errno of accept(); -EINTR:
 * serve_stop() was called, by a handler of a signal, also before.
 */
int serve_once(int listening, const struct served *s);
void serve_stop(void);

#endif
