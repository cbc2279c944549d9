/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters by PAPI, which is loaded when the user asks for it. Its types and
 * constants are few and old, and declared here. Events that do not go together
 * get event sets of their own. In a child of fork PAPI would read the parent's
 * counters: there it is not used again.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include "libhook/counters.h"
#include "libhook/process.h"

#define PAPI_OK		      0
#define PAPI_NULL	      (-1)
#define VERSION(major, minor) ((int)((unsigned)(major) << 24 | (unsigned)(minor) << 16))
#define TURNS_WAITED	      100000 /* for another thread that is loading it */

static struct {
	int (*library_init)(int version);
	int (*thread_init)(unsigned long (*id)(void));
	int (*create_eventset)(int *set);
	int (*add_named_event)(int set, const char *name);
	int (*start)(int set);
	int (*read)(int set, long long *values);
	int (*stop)(int set, long long *values);
	int (*cleanup_eventset)(int set);
	int (*destroy_eventset)(int *set);
	int (*unregister_thread)(void);
} papi;

static const struct {
	const char *name;
	void *to;
} functions[] = {
	{"PAPI_library_init", &papi.library_init},
	{"PAPI_thread_init", &papi.thread_init},
	{"PAPI_create_eventset", &papi.create_eventset},
	{"PAPI_add_named_event", &papi.add_named_event},
	{"PAPI_start", &papi.start},
	{"PAPI_read", &papi.read},
	{"PAPI_stop", &papi.stop},
	{"PAPI_cleanup_eventset", &papi.cleanup_eventset},
	{"PAPI_destroy_eventset", &papi.destroy_eventset},
	{"PAPI_unregister_thread", &papi.unregister_thread},
};

static const char *const libraries[] = {
	"libpapi.so",
	"libpapi.so.7.2",
	"libpapi.so.7.1",
	"libpapi.so.7.0",
	"libpapi.so.7",
	"libpapi.so.6.0",
	"libpapi.so.6",
	"libpapi.so.5",
};

enum { NEW = 0, LOADING, READY, FAILED };
static uint32_t state;
static int error;
static uint32_t loaded_in; /* vftr_process.generation */

static unsigned long thread_id(void)
{
	return (unsigned long)pthread_self();
}

static int find_functions(void *library)
{
	for (unsigned i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *f = dlsym(library, functions[i].name);

		if (!f)
			return -ENOSYS;
		memcpy(functions[i].to, &f, sizeof(f));
	}
	return 0;
}

/* PAPI must be given its own version, so all are tried. */
static int initialize(void)
{
	for (int major = 7; major >= 5; major--)
		for (int minor = 9; minor >= 0; minor--)
			if (papi.library_init(VERSION(major, minor)) == VERSION(major, minor))
				return papi.thread_init(thread_id) == PAPI_OK ? 0 : -EPROTO;
	return -EPROTO;
}

static int load(void)
{
	void *library = NULL;
	int failed;

	for (unsigned i = 0; !library && i < sizeof(libraries) / sizeof(libraries[0]); i++)
		library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return -ELIBACC;
	failed = find_functions(library);
	return failed ? failed : initialize();
}

/* 0, or why there is no PAPI here. */
static int papi_ready(void)
{
	if (claim_u32(&state, NEW, LOADING)) {
		loaded_in = vftr_process.generation;
		error = load();
		store_release(&state, error ? FAILED : READY);
	}
	for (int i = 0; i < TURNS_WAITED && load_acquire(&state) == LOADING; i++)
		sched_yield();
	if (load_acquire(&state) == LOADING)
		return -EBUSY;
	return !error && loaded_in != vftr_process.generation ? -ECHILD : error;
}

static bool add_to(struct counters *c, int k, uint32_t i)
{
	if (papi.add_named_event(c->set[k], c->wanted->at[i].name) != PAPI_OK)
		return false;
	c->in_set[k][c->set_n[k]++] = i;
	c->state[i].ways = COUNTER_BY_CALL;
	return true;
}

void vftr_papi_open(struct counters *c, uint32_t i)
{
	int set = PAPI_NULL;

	c->state[i].error = papi_ready();
	if (c->state[i].error)
		return;
	for (int k = 0; k < c->n_sets; k++)
		if (add_to(c, k, i))
			return;
	c->state[i].error = -ENOENT;
	if (c->n_sets == PAPI_SETS_MAX || papi.create_eventset(&set) != PAPI_OK)
		return;
	c->set[c->n_sets] = set;
	c->set_n[c->n_sets] = 0;
	if (add_to(c, c->n_sets, i)) {
		c->state[i].error = 0;
		c->n_sets++;
	} else {
		papi.destroy_eventset(&set);
	}
}

void vftr_papi_begin(struct counters *c)
{
	for (int k = 0; k < c->n_sets; k++) {
		if (papi.start(c->set[k]) == PAPI_OK)
			continue;
		for (uint32_t m = 0; m < c->set_n[k]; m++)
			c->state[c->in_set[k][m]].error = -EBUSY;
		c->set_n[k] = 0;
	}
}

void vftr_papi_read(struct counters *c)
{
	long long value[COUNTERS_MAX];

	for (int k = 0; k < c->n_sets; k++) {
		if (!c->set_n[k] || papi.read(c->set[k], value) != PAPI_OK)
			continue;
		for (uint32_t m = 0; m < c->set_n[k]; m++)
			c->word[1 + c->in_set[k][m]] = (uint64_t)value[m] & (COUNTER_MARK - 1);
	}
}

void vftr_papi_close(struct counters *c)
{
	long long value[COUNTERS_MAX];

	for (int k = 0; k < c->n_sets; k++) {
		if (c->set_n[k])
			papi.stop(c->set[k], value);
		papi.cleanup_eventset(c->set[k]);
		papi.destroy_eventset(&c->set[k]);
	}
	if (c->n_sets)
		papi.unregister_thread();
}
