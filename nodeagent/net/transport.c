/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chooses the MPI of the agents. MPI itself is in plug-ins, so that a single agent neither loads
 * nor starts it.
 */
#include "nodeagent/net/transport.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nodeagent/base/util.h"

#define LOOK_S 0.2

int transport_receive(struct transport *p, int from, int for_whom, int tag, void **buf,
	size_t *bytes, int *who, double until)
{
	for (;;) {
		double now = transport_now(), look = until > now + LOOK_S ? now + LOOK_S : until;
		bool gone;
		int error;

		if (!p->gone)
			return p->receive(p, from, tag, buf, bytes, who, until);
		gone = p->gone(p, for_whom); /* what it has sent before is there now */
		error = p->receive(p, from, tag, buf, bytes, who, gone ? now : look);
		if (error != -ETIMEDOUT || gone || look >= until)
			return error;
	}
}

int transport_to_one(
	struct transport *p, int to, int tag, const void *buf, size_t bytes, double until)
{
	char *copy;
	int error;

	if (p->to_one)
		return p->to_one(p, to, tag, buf, bytes);
	copy = xmalloc(bytes + 1);
	memcpy(copy, buf, bytes);
	error = p->send(p, to, tag, copy, bytes, until);
	if (error != -ETIMEDOUT)
		free(copy); /* else it may be read yet */
	return error;
}

int transport_to_root(struct transport *p, int tag, const void *buf, size_t bytes, bool final,
	double hold_s, double until)
{
	return p->to_root ? p->to_root(p, tag, buf, bytes, final, hold_s)
			  : transport_to_one(p, 0, tag, buf, bytes, until);
}

int transport_to_all(struct transport *p, int tag, const void *buf, size_t bytes, double until)
{
	int error = 0;

	if (p->to_all)
		return p->to_all(p, tag, buf, bytes);
	for (int i = 1; i < p->size; i++) {
		const int failed = transport_to_one(p, i, tag, buf, bytes, until);

		error = error ? error : failed;
	}
	return error;
}

void transport_last_will(struct transport *p, int tag, const void *buf, size_t bytes)
{
	if (p && p->last_will)
		p->last_will(p, tag, buf, bytes);
}

/* Variables that launchers set; the first one that is set decides. */
static const struct {
	const char *variable; /* number of processes, or only a sign of the launcher */
	const char *size;     /* where the number is then, NULL: unknown */
	const char *plugin;
} launchers[] = {
	{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "openmpi"},
	{"PMI_SIZE", "PMI_SIZE", "mpich"},
	{"PMIX_RANK", "SLURM_STEP_NUM_TASKS", "openmpi"},
};

const char *peer_wanted(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(launchers); i++) {
		const char *size;

		if (!getenv(launchers[i].variable))
			continue;
		size = getenv(launchers[i].size);
		return size && atol(size) <= 1 ? NULL : launchers[i].plugin;
	}
	return NULL;
}

int transport_launched(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(launchers); i++) {
		const char *size = getenv(launchers[i].size);

		if (getenv(launchers[i].variable) && size && atoi(size) > 1)
			return atoi(size);
	}
	return 1;
}

struct transport *transport_load(const char *plugin, double start_s, char **error)
{
	transport_open_function *open_it;
	struct transport *p;
	void *handle;

	*error = NULL;
	if (access(plugin, R_OK)) {
		*error = xasprintf("the agents' MPI: %s: %s", plugin, strerror(errno));
		return NULL;
	}
	/* MPI libraries look for each other's symbols in the global scope */
	handle = dlopen(plugin, RTLD_NOW | RTLD_GLOBAL);
	open_it = handle ? (transport_open_function *)dlsym(handle, TRANSPORT_OPEN_SYMBOL) : NULL;
	if (!open_it) {
		*error = xasprintf("the agents' MPI can't be loaded: %s", dlerror());
		return NULL;
	}
	p = open_it(start_s, error);
	if (!p && !*error)
		*error = xasprintf("the agents' MPI (%s) did not start", plugin);
	return p;
}

char *transport_plugin(const char *plugin_dir, const char *mpi)
{
	if (!mpi)
		mpi = peer_wanted();
	return mpi ? xasprintf("%s/peer-%s.so", plugin_dir, mpi) : NULL;
}
