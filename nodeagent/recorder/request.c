/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of viewers that what is kept is written, and what viewers are told of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/process/host.h"
#include "nodeagent/recorder/internal.h"

#define CUT "..."

/* The end of a path tells more than its beginning. */
static void note_file(struct record_request *q, const char *path)
{
	const size_t bytes = strlen(path), room = sizeof(q->file) - 1;

	if (bytes <= room)
		snprintf(q->file, sizeof(q->file), "%s", path);
	else
		snprintf(q->file, sizeof(q->file), CUT "%s", path + bytes - room + strlen(CUT));
}

void recorder_request_is(struct host *host, enum request_state state)
{
	struct record_request *q = &host->request;
	const struct recorder *s = host->recorder;
	char *path = s && s->flight ? flight_path(s) : NULL;

	q->state = state;
	q->file[0] = '\0';
	if (path &&
		(state == REQUEST_DUE || state == REQUEST_WRITTEN || state == REQUEST_UNDER_WAY))
		note_file(q, path);
	free(path);
}

void recorder_request_elsewhere(struct host *host, const struct flight_event *e)
{
	const enum request_state state = flight_refusal(host);

	if (e->stamp <= host->request.stamp)
		return;
	host->request.stamp = e->stamp;
	if (state != REQUEST_DUE && !flight_has(host, e))
		recorder_request_is(host, state);
}

void recorder_request(struct host *host, uint64_t stamp)
{
	const struct flight_event e = {.kind = EVENT_REQUEST, .stamp = stamp};
	enum request_state state = flight_refusal(host);

	if (stamp <= host->request.stamp)
		return;
	host->request.stamp = stamp;
	if (flight_join(host, stamp))
		return;
	if (state == REQUEST_DUE && !recorder_event(host, e, "a viewer has asked for it"))
		state = REQUEST_FAILED;
	if (state != REQUEST_DUE)
		recorder_request_is(host, state);
}
