/* SPDX-License-Identifier: BSD-3-Clause */
/* Open requests and the memory they use, of one round; all ways to complete them. */
#include "app-mpi-random.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define OPEN_MAX  128
#define ROOMS_MAX 512

static _Thread_local MPI_Request requests[OPEN_MAX];
static _Thread_local struct open wants[OPEN_MAX];
static _Thread_local int n_open;
static _Thread_local void *rooms[ROOMS_MAX];
static _Thread_local int n_rooms;

void *room_for_ever(long long bytes)
{
	void *p = calloc(1, (size_t)bytes + 64);

	if (!p)
		wrong("no memory");
	return p;
}

void *room(long long bytes)
{
	if (n_rooms == ROOMS_MAX)
		wrong("too many buffers in a round");
	return rooms[n_rooms++] = room_for_ever(bytes);
}

void rooms_free(void)
{
	while (n_rooms)
		free(rooms[--n_rooms]);
}

void open_request(MPI_Request request, const struct open *wanted)
{
	if (n_open == OPEN_MAX)
		wrong("too many requests in a round");
	requests[n_open] = request;
	wants[n_open++] = wanted ? *wanted : (struct open){.source = -1};
}

void check_data(const struct open *w)
{
	if (w->data && w->count && *(const unsigned char *)w->data != (unsigned char)w->first)
		wrong("message from %d with tag %d: %d, not %d", w->source, w->tag,
			*(const unsigned char *)w->data, (unsigned char)w->first);
}

void check_status(const struct open *w, MPI_Status *s)
{
	int n;

	if (w->cancelled) {
		DO(MPI_Test_cancelled, s, &n);
		if (!n)
			wrong("a receive that matches nothing was not cancelled");
	}
	if (w->source == -1)
		return;
	DO(MPI_Get_count, s, w->type, &n);
	if (s->MPI_SOURCE != w->source || s->MPI_TAG != w->tag || n != w->count)
		wrong("from %d with tag %d, %d elements; wanted from %d with tag %d, %d",
			s->MPI_SOURCE, s->MPI_TAG, n, w->source, w->tag, w->count);
}

static void completed(int i, MPI_Status *s)
{
	if (i < 0 || i >= n_open)
		wrong("request %d of %d completed", i, n_open);
	if (s)
		check_status(&wants[i], s);
	check_data(&wants[i]);
}

static MPI_Status *maybe(MPI_Status *s)
{
	return own_pick(2) ? s : NULL;
}

#define ONE(s)	((s) ? (s) : MPI_STATUS_IGNORE)
#define MANY(s) ((s) ? (s) : MPI_STATUSES_IGNORE)

static void one_by_one(bool wait)
{
	MPI_Status room_for_one;

	for (int i = 0; i < n_open; i++) {
		MPI_Status *s = maybe(&room_for_one);
		int flag = wait;

		if (wait)
			DO(MPI_Wait, &requests[i], ONE(s));
		while (!flag) {
			DO(MPI_Test, &requests[i], &flag, ONE(s));
			sched_yield();
		}
		completed(i, s);
	}
}

static void all_at_once(bool wait)
{
	MPI_Status many[OPEN_MAX], *s = maybe(many);
	int flag = wait;

	if (wait)
		DO(MPI_Waitall, n_open, requests, MANY(s));
	while (!flag) {
		DO(MPI_Testall, n_open, requests, &flag, MANY(s));
		sched_yield();
	}
	for (int i = 0; i < n_open; i++)
		completed(i, s ? &s[i] : NULL);
}

static void any(bool wait)
{
	for (int left = n_open + 1, i = 0, flag = 1; i != MPI_UNDEFINED;) {
		MPI_Status room_for_one, *s = maybe(&room_for_one);

		if (wait)
			DO(MPI_Waitany, n_open, requests, &i, ONE(s));
		else
			DO(MPI_Testany, n_open, requests, &i, &flag, ONE(s));
		if (flag && i != MPI_UNDEFINED) {
			completed(i, s);
			if (!left--)
				wrong("more completions than requests");
		} else if (!flag) {
			i = 0;
			sched_yield();
		}
	}
}

static void some(bool wait)
{
	for (int n = 0, left = n_open; n != MPI_UNDEFINED;) {
		MPI_Status many[OPEN_MAX], *s = maybe(many);
		int which[OPEN_MAX];

		if (wait)
			DO(MPI_Waitsome, n_open, requests, &n, which, MANY(s));
		else
			DO(MPI_Testsome, n_open, requests, &n, which, MANY(s));
		for (int i = 0; n != MPI_UNDEFINED && i < n; i++, left--)
			completed(which[i], s ? &s[i] : NULL);
		if (left < 0)
			wrong("more completions than requests");
		sched_yield();
	}
}

void complete_all(void)
{
	static void (*const ways[])(bool) = {one_by_one, all_at_once, any, some};

	bool partitioned = false;

	while (!own_pick(4))
		open_request(MPI_REQUEST_NULL, NULL);
	for (int i = n_open - 1; i > 0; i--) {
		const int j = own_pick(i + 1);
		const MPI_Request r = requests[i];
		const struct open w = wants[i];

		requests[i] = requests[j];
		wants[i] = wants[j];
		requests[j] = r;
		wants[j] = w;
	}
	if (n_open && !own_pick(3) && requests[0] != MPI_REQUEST_NULL)
		DO(MPI_Request_get_status, requests[0], &(int){0}, MPI_STATUS_IGNORE);
	for (int i = 0; i < n_open; i++)
		partitioned |= wants[i].partitioned;
	/* MPI_Testall of MPICH 4.0 reports an error for partitioned messages */
	ways[own_pick(4)](partitioned || own_pick(2));
	n_open = 0;
}
