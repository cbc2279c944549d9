/* SPDX-License-Identifier: BSD-3-Clause */
/* The call paths of this node, by the names of their frames: processes may have other addresses. */
#include <stdlib.h>
#include <string.h>
#include "conf/conf.h"
#include "nodeagent/base/hash.h"
#include "nodeagent/base/util.h"
#include "nodeagent/live/sample/internal.h"
#include "nodeagent/process/host.h"
#include "nodeagent/process/names.h"
#include "nodeagent/replay/tree/calltree.h"
#include "nodeagent/symbols/demangle.h"
#include "nodeagent/symbols/names.h"
#include "shm/fnv.h"

/* Of two names with one hash the second one gets no path of its own: it is that rare. */
static uint32_t intern_name(struct sampled_paths *s, const char *text)
{
	const uint64_t hash = fnv_text(FNV_BEGIN, text);
	const uint32_t *known = map64_find(&s->texts, hash);

	if (known)
		return *known;
	map64_add(&s->texts, hash, (uint32_t)s->n_names);
	*LIST_ADD(s, names) = xstrdup(text);
	return (uint32_t)s->n_names - 1;
}

/* The hash that profiles have. */
static uint64_t hash_of(const struct sampled_paths *s, uint32_t path)
{
	size_t bytes = 0;
	char *text, *at;
	uint64_t hash;

	for (uint32_t i = path; i != NO_PATH; i = s->at[i].parent)
		bytes += strlen(s->names[s->at[i].name]) + 1;
	at = text = xmalloc(bytes + 1);
	for (uint32_t i = path; i != NO_PATH; i = s->at[i].parent) {
		at = stpcpy(at, s->names[s->at[i].name]);
		*at++ = '<';
	}
	at[-1] = '\0';
	hash = stack_hash(text, bytes);
	free(text);
	return hash;
}

static uint32_t name_of(struct sampled_paths *s, struct host *host, const struct process *p,
	struct map64 *keys, uint64_t key)
{
	const uint32_t *known = map64_find(keys, key);
	uint32_t name;

	if (known)
		return *known;
	name = intern_name(s, symcache_name(host->symbols, p, key));
	map64_add(keys, key, name);
	return name;
}

uint32_t sampled_child(struct sampled_paths *s, struct host *host, const struct process *p,
	struct map64 *keys, uint32_t parent, uint64_t key)
{
	const uint32_t name = name_of(s, host, p, keys, key);
	const uint64_t child = (uint64_t)parent << 32 | name;
	const uint32_t *known = map64_find(&s->children, child);
	uint32_t path = (uint32_t)s->n;

	if (known)
		return *known;
	if (s->n >= SAMPLED_PATHS_MAX && parent != NO_PATH) {
		s->full = true;
		return parent;
	}
	*APPEND(s->at, s->n, s->cap) =
		(struct sampled_path){.parent = parent, .name = name, .deep = key == KEY_DEEP};
	s->at[path].hash = hash_of(s, path);
	s->at[path].sum = (struct live_path){.hash = s->at[path].hash, .most_rank = LIVE_NO_RANK};
	map64_add(&s->children, child, path);
	return path;
}

void sampled_count(struct sampled_paths *s, uint32_t path, int64_t calls, int64_t ticks)
{
	struct sampled_path *p;

	if (path == NO_PATH)
		return;
	p = &s->at[path];
	if (p->stamp != s->stamp) {
		p->stamp = s->stamp;
		p->calls = p->ticks = 0;
		*LIST_ADD(s, touched) = path;
	}
	p->calls += calls;
	p->ticks += ticks;
}

void sampled_text(const struct sampled_paths *s, const struct host *host, uint32_t path, char *text)
{
	const struct name_style style = name_style_of(host->conf);
	const char *between = "", *separator = name_separator(host->conf);
	size_t used = 0;

	text[0] = '\0';
	for (uint32_t i = path; i != NO_PATH; i = s->at[i].parent) {
		char *name = name_shown(s->names[s->at[i].name], &style);
		const size_t more = strlen(between) + strlen(name);
		const bool fits = used + more < LIVE_PATH_BYTES;

		if (fits || !used) /* the function itself is cut rather than left out */
			snprintf(text + used, LIVE_PATH_BYTES - used, "%s%s", between, name);
		free(name);
		if (!fits)
			break;
		used += more;
		between = separator;
	}
}

void sampled_paths_free(struct sampled_paths *s)
{
	for (size_t i = 0; i < s->n_names; i++)
		free(s->names[i]);
	free(s->names);
	free(s->at);
	free(s->touched);
	map64_free(&s->children);
	map64_free(&s->texts);
}
