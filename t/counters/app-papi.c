/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stands in for libpapi.so: knows EVENT_0 to EVENT_9, of which those of odd and
 * even numbers cannot be in one set. EVENT_n has counted 10 n + k at its k-th
 * reading in a set.
 */
#include <stdlib.h>
#include <string.h>

#define OK	    0
#define INVALID	    (-1)
#define NO_EVENT    (-7)
#define CONFLICT    (-8)
#define THIS	    (7 << 24 | 1 << 16)
#define SETS	    256
#define EVENTS_MOST 10

static struct {
	int n, event[EVENTS_MOST], started, readings;
} sets[SETS];
static int used, initialized;

int PAPI_library_init(int version);
int PAPI_thread_init(unsigned long (*id)(void));
int PAPI_create_eventset(int *set);
int PAPI_add_named_event(int set, const char *name);
int PAPI_start(int set);
int PAPI_read(int set, long long *values);
int PAPI_stop(int set, long long *values);
int PAPI_cleanup_eventset(int set);
int PAPI_destroy_eventset(int *set);
int PAPI_unregister_thread(void);

int PAPI_library_init(int version)
{
	if (version != THIS)
		return INVALID;
	initialized++;
	return version;
}

int PAPI_thread_init(unsigned long (*id)(void))
{
	return initialized == 1 && id() ? OK : INVALID;
}

int PAPI_create_eventset(int *set)
{
	*set = __atomic_fetch_add(&used, 1, __ATOMIC_RELAXED);
	return *set < SETS ? OK : INVALID;
}

int PAPI_add_named_event(int set, const char *name)
{
	int event;

	if (strncmp(name, "EVENT_", 6) || strlen(name) != 7)
		return NO_EVENT;
	event = atoi(name + 6);
	if (sets[set].n && (sets[set].event[0] ^ event) & 1)
		return CONFLICT;
	sets[set].event[sets[set].n++] = event;
	return OK;
}

int PAPI_start(int set)
{
	sets[set].started = 1;
	return sets[set].n ? OK : INVALID;
}

int PAPI_read(int set, long long *values)
{
	sets[set].readings++;
	for (int i = 0; i < sets[set].n; i++)
		values[i] = 10 * sets[set].event[i] + sets[set].readings;
	return sets[set].started ? OK : INVALID;
}

int PAPI_stop(int set, long long *values)
{
	sets[set].started = 0;
	return OK;
}

int PAPI_cleanup_eventset(int set)
{
	return sets[set].started ? INVALID : OK;
}

int PAPI_destroy_eventset(int *set)
{
	*set = -1;
	return OK;
}

int PAPI_unregister_thread(void)
{
	return OK;
}
