/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/filter/filter.h"

#include <fnmatch.h>
#include <stdlib.h>

#include "conf/conf.h"
#include "nodeagent/base/map.h"
#include "nodeagent/base/util.h"
#include "nodeagent/process/codemap.h"
#include "nodeagent/filter/patterns.h"
#include "nodeagent/process/host.h"
#include "nodeagent/process/names.h"
#include "nodeagent/process/observer.h"
#include "nodeagent/process/process.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/replay/replay.h"

extern const char *const vftr_mpi_names[]; /* generated from mpi/generate/mpi.tab */
extern const unsigned vftr_mpi_n;

struct filter {
	struct patterns *only, *not ; /* or NULL */
	bool files;
	struct replay_filter rules;
};

/* FILTER_ bits of the keys of a process. */
struct filter_process {
	struct map64 bits;
};

static unsigned judge_key(const struct process *p, uint64_t key)
{
	const struct filter *f = p->host->filter;
	struct symcache *names = p->host->symbols;
	const struct subject s = {
		symcache_name(names, p, key), f->files ? symcache_file(names, p, key) : NULL};

	return (patterns_match(f->only, &s) ? FILTER_ONLY : 0) |
	       (patterns_match(f->not, &s) ? FILTER_NOT : 0);
}

/* As replay_filter.class_of. */
static unsigned class_of(void *ctx, uint64_t key)
{
	struct process *p = ctx;
	const uint32_t *known = map64_find(&p->filtered->bits, key);
	struct code_location unused;
	unsigned bits;

	if (known)
		return *known;
	if (!key_is_region(key) && !codemap_find_key(p->code, key, &unused))
		return 0; /* its module may be told of later */
	bits = judge_key(p, key);
	map64_add(&p->filtered->bits, key, bits);
	return bits;
}

static bool has_rules(const struct conf *c)
{
	return *c->filter_only || *c->filter_not || c->filter_depth;
}

static struct filter *filter_of(struct host *host)
{
	const struct conf *c = host->conf;
	struct filter *f;

	if (host->filter || !has_rules(c))
		return host->filter;
	f = host->filter = xcalloc(1, sizeof(*f));
	f->only = patterns_new(c->filter_only, c);
	f->not = patterns_new(c->filter_not, c);
	f->files = patterns_ask_files(f->only) || patterns_ask_files(f->not );
	f->rules = (struct replay_filter){class_of, f->only != NULL, (uint32_t)c->filter_depth};
	return f;
}

static void begin_thread(struct thread_ring *t)
{
	const struct filter *f = filter_of(t->process->host);

	if (!f)
		return;
	if (!t->process->filtered)
		t->process->filtered = xcalloc(1, sizeof(*t->process->filtered));
	replay_set_filter(t->replay, &f->rules);
}

static void free_process(struct process *p)
{
	if (p->filtered)
		map64_free(&p->filtered->bits);
	free(p->filtered);
	p->filtered = NULL;
}

/* A pattern such as *free* may be meant for functions of the program. */
static bool is_of_mpi(const char *pattern)
{
	return !strncmp(pattern, "MPI_", 4) &&
	       ANY(i, vftr_mpi_n, !fnmatch(pattern, vftr_mpi_names[i], 0));
}

static void warn_of(struct host *host, const char *key, const struct patterns *p)
{
	const char *text;

	for (size_t i = 0; (text = patterns_in_vain(p, i)); i++)
		host_warn(host, false,
			is_of_mpi(text) ? FILTER_WARNING "%s: \"%s\" fits functions of MPI only, "
							 "which are always recorded"
					: FILTER_WARNING
				"%s: no function or region that was called "
				"fits \"%s\"",
			key, text);
}

void filter_warn(struct host *host)
{
	const struct filter *f = host->filter;

	if (!f)
		return;
	warn_of(host, "only", f->only);
	warn_of(host, "not", f->not );
}

const struct process_observer filter_observer = {
	.thread_begin = begin_thread, .free = free_process};
