/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread ends when nothing is left to look up. One that hangs in the name server's
 * library cannot be ended: its lookup is then freed by itself.
 */
#include "nodeagent/lookup.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "nodeagent/addresses.h"
#include "nodeagent/contact.h"
#include "nodeagent/peer.h"
#include "nodeagent/util.h"

#define THREADS_MOST 32
#define LOOK_MS	     10 /* where there is no bell */

struct lookup {
	struct lookup *next;
	struct contact contact;
	struct addresses found;
	const char *why;
	int bell;
	enum { WAITING, ASKING, DONE } state;
	bool dropped;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct lookup *waiting, **waiting_end = &waiting;
static unsigned n_threads;

static void free_lookup(struct lookup *l)
{
	contact_clear(&l->contact);
	addresses_clear(&l->found);
	free(l);
}

static void ring(int bell)
{
	const uint64_t one = 1;

	if (bell >= 0 && write(bell, &one, sizeof(one)) < 0)
		return; /* it has been rung often enough */
}

/* Locked. */
static struct lookup *next_waiting(void)
{
	struct lookup *l = waiting;

	if (!l)
		return NULL;
	waiting = l->next;
	if (!waiting)
		waiting_end = &waiting;
	l->state = ASKING;
	return l;
}

static void *ask(void *unused)
{
	struct lookup *l;

	pthread_mutex_lock(&lock);
	while ((l = next_waiting())) {
		pthread_mutex_unlock(&lock);
		l->why = addresses_of(&l->contact, &l->found);
		pthread_mutex_lock(&lock);
		l->state = DONE;
		if (l->dropped)
			free_lookup(l);
		else
			ring(l->bell);
	}
	n_threads--;
	pthread_mutex_unlock(&lock);
	return unused;
}

/* Locked. Signals are for the others. */
static void start_thread(void)
{
	pthread_attr_t attributes;
	sigset_t all, old;
	pthread_t thread;

	if (n_threads >= THREADS_MOST || pthread_attr_init(&attributes))
		return;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	n_threads += !pthread_create(&thread, &attributes, ask, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attributes);
}

struct lookup *lookup_begin(const struct contact *c, int bell)
{
	struct lookup *l = xcalloc(1, sizeof(*l));
	bool alone;
	char *error;

	l->bell = bell;
	if (contact_parse(c->text, &l->contact, &error)) {
		free(error);
		l->why = "no address";
		l->state = DONE;
	} else if (addresses_given(&l->contact, &l->found)) {
		l->state = DONE;
	}
	if (l->state == DONE) {
		ring(bell);
		return l;
	}
	pthread_mutex_lock(&lock);
	*waiting_end = l;
	waiting_end = &l->next;
	start_thread();
	alone = !n_threads;
	pthread_mutex_unlock(&lock);
	if (alone) { /* no thread can be had: then we wait */
		pthread_mutex_lock(&lock);
		n_threads++;
		pthread_mutex_unlock(&lock);
		ask(NULL);
	}
	return l;
}

bool lookup_take(struct lookup **at, struct addresses *a, const char **why)
{
	struct lookup *l = *at;
	bool done;

	pthread_mutex_lock(&lock);
	done = l->state == DONE;
	pthread_mutex_unlock(&lock);
	if (!done)
		return false;
	*a = l->found;
	*why = l->why;
	l->found = (struct addresses){0};
	free_lookup(l);
	*at = NULL;
	return true;
}

void lookup_drop(struct lookup *l)
{
	if (!l)
		return;
	pthread_mutex_lock(&lock);
	for (struct lookup **at = &waiting; l->state == WAITING && *at; at = &(*at)->next) {
		if (*at != l)
			continue;
		*at = l->next;
		if (!*at)
			waiting_end = at;
		l->state = DONE;
		break;
	}
	l->dropped = true;
	if (l->state == DONE)
		free_lookup(l);
	pthread_mutex_unlock(&lock);
}

bool lookup_wait(struct lookup **l, struct addresses *a, const char **why, double most_s)
{
	const double until = peer_now() + most_s;

	while (!lookup_take(l, a, why)) {
		if (peer_now() >= until)
			return false;
		poll(NULL, 0, LOOK_MS);
	}
	return true;
}
