/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/tool/top/shares.h"

#include <math.h>
#include <string.h>
#include "nodeagent/base/util.h"
#include "nodeagent/live/view.h"

double percent_of(uint64_t part, uint64_t all)
{
	return all ? 100 * (double)part / (double)all : 0;
}

double rate_of(uint64_t n, uint64_t interval)
{
	return interval ? 1e9 * (double)n / (double)interval : NAN;
}

uint64_t thread_time(const uint64_t *classes)
{
	uint64_t all = 0;

	for (int i = 0; i < LIVE_MPI_WAIT; i++)
		all += classes[i];
	return all;
}

const char *host_of(const struct live_view *v, uint32_t agent)
{
	for (size_t i = 0; i < v->n_nodes; i++)
		if (v->nodes[i].agent == agent)
			return v->nodes[i].host;
	return NULL;
}

double cost_percent(const struct live_view *v)
{
	const uint64_t all = thread_time(v->classes);

	return all ? percent_of(v->hooks + v->classes[LIVE_BLOCKED], all) : NAN;
}

size_t path_name_bytes(const char *path)
{
	const char *end;

	for (const char *c = path; (c = strchr(c, '<')); c = end + 1) {
		int depth = 0;

		for (end = c; *end; end++) {
			depth += (*end == '<') - (*end == '>');
			if (!depth)
				break;
		}
		if (!*end)
			return (size_t)(c - path);
	}
	return strlen(path);
}

const struct live_off *off_named(const struct live_view *v, const char *name)
{
	return FIND(x, v->off, v->n_off, !strcmp(x->name, name));
}
