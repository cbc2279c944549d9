/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/internode/far-causes.h"

#include <stdlib.h>
#include <string.h>
#include "nodeagent/base/util.h"
#include "nodeagent/process/host.h"
#include "nodeagent/process/names.h"
#include "nodeagent/process/process.h"
#include "nodeagent/process/threads-ended.h"
#include "nodeagent/replay/comm/causes.h"
#include "nodeagent/replay/comm/comm.h"
#include "nodeagent/replay/comm/far.h"
#include "nodeagent/replay/comm/history.h"
#include "nodeagent/replay/comm/sync.h"
#include "nodeagent/replay/tree/calltree.h"

enum { PATH = 1, HISTORY };

#define NAME_MAX_BYTES 65536u

/* ---- telling ------------------------------------------------------------------------------ */

static void put_name(struct words *w, const char *name)
{
	const size_t bytes = strnlen(name, NAME_MAX_BYTES);

	words_put(w, bytes);
	for (size_t at = 0; at < bytes; at += sizeof(uint64_t)) {
		uint64_t word = 0;

		for (size_t k = 0; k < sizeof(word) && at + k < bytes; k++)
			word |= (uint64_t)(unsigned char)name[at + k] << 8 * k;
		words_put(w, word);
	}
}

static uint32_t tell_node(struct far_telling *f, const struct host *host, const struct process *p,
	const struct node *n, uint64_t key, uint32_t parent)
{
	const uint32_t next = (uint32_t)f->paths.n + 1;
	const uint32_t number = *map64_at(&f->paths, (uintptr_t)n, next);

	if (number != next)
		return number;
	words_put(&f->words, PATH);
	words_put(&f->words, number);
	words_put(&f->words, parent);
	put_name(&f->words, symcache_name(host->symbols, p, key));
	return number;
}

/* Those of threads that have ended. */
uint32_t far_tell_path(struct far_telling *f, const struct host *host, const struct process *p,
	const struct node *path)
{
	const struct node *root = calltree_root(p->ended_tree), *up[DEPTH_MAX + 2];
	uint32_t number, n = 0;

	if (path)
		path = threads_ended_awaited(p, path);
	for (; path && path != root && n < ARRAY_SIZE(up); path = path->parent)
		up[n++] = path;
	if (path != root)
		return 0;
	number = tell_node(f, host, p, root, KEY_INIT, 0);
	while (n--)
		number = tell_node(f, host, p, up[n], up[n]->key, number);
	return number;
}

uint32_t far_tell(
	struct far_telling *f, const struct host *host, const struct process *p, uint32_t history)
{
	const struct histories *all = causes_histories(sync_causes(host->sync));
	uint64_t paths[HISTORY_PARTS];
	const struct history_part *at;
	const struct traffic *whose;
	size_t n;

	if (map32_find(&f->histories, history))
		return history;
	at = all ? history_parts(all, history, &n, &whose) : NULL;
	if (!at || !p || whose != p->traffic)
		return 0;
	for (size_t i = 0; i < n; i++)
		paths[i] = far_tell_path(f, host, p, traffic_path_node(whose, at[i].path));
	map32_add(&f->histories, history, 1);
	words_put(&f->words, HISTORY);
	words_put(&f->words, history);
	words_put(&f->words, n);
	for (size_t i = 0; i < n; i++) {
		words_put(&f->words, 2 * paths[i] + at[i].ends);
		words_put(&f->words, clocks_ns(&host->clocks, at[i].ticks));
	}
	return history;
}

void far_telling_free(struct far_telling *f)
{
	words_free(&f->words);
	map32_free(&f->histories);
	map64_free(&f->paths);
	*f = (struct far_telling){.histories = {0}};
}

/* ---- hearing ------------------------------------------------------------------------------- */

void far_heard_next(struct far_heard *f)
{
	map32_free(&f->histories);
	map32_free(&f->paths);
	f->histories = f->paths = (struct map32){0};
}

void far_heard_free(struct far_heard *f)
{
	far_heard_next(f);
	free(f->kept);
	free(f->parts);
	*f = (struct far_heard){.n_kept = 0};
}

static uint32_t get_small(struct words_in *in)
{
	const uint64_t word = words_get(in);

	in->bad |= word > UINT32_MAX;
	return (uint32_t)word;
}

static uint32_t number_of(const struct map32 *m, uint32_t number)
{
	const uint32_t *at = number ? map32_find(m, number) : NULL;

	return at ? *at : 0;
}

/* The caller frees. NULL: in is bad. */
static char *take_name(struct words_in *in)
{
	const uint64_t bytes = words_get(in);
	char *name;

	if (in->bad || bytes > NAME_MAX_BYTES || (bytes + 7) / 8 > in->n) {
		in->bad = true;
		return NULL;
	}
	name = xcalloc(bytes + 8, 1);
	for (size_t at = 0; at < bytes; at += sizeof(uint64_t)) {
		const uint64_t word = words_get(in);

		for (size_t k = 0; k < sizeof(word) && at + k < bytes; k++)
			name[at + k] = (char)(word >> 8 * k);
	}
	return name;
}

/* One for which there is no room is known, as 0, and so are those below it. */
static void take_path(struct far_heard *f, struct far_paths *paths, struct words_in *in)
{
	const uint32_t number = get_small(in), parent = get_small(in),
		       *above = parent ? map32_find(&f->paths, parent) : NULL;
	char *name = take_name(in);

	in->bad |= !number || (parent && !above);
	if (!in->bad && !map32_find(&f->paths, number))
		map32_add(&f->paths, number,
			!parent || *above ? far_path_add(paths, parent ? *above : 0, name) : 0);
	free(name);
}

static uint64_t ticks_of(const struct host *host, uint64_t ns)
{
	const double ticks = (double)ns / host->clocks.ns_per_tick;

	return ticks > 0 && ticks < 0x1p62 ? (uint64_t)ticks : 0;
}

static void take_history(struct far_heard *f, const struct host *host, struct words_in *in)
{
	const uint32_t number = get_small(in), n = get_small(in);
	const bool fits = f->n_parts + n <= FAR_PARTS_MAX && !number_of(&f->histories, number);
	const size_t first = f->n_parts;

	in->bad |= !number || n > HISTORY_PARTS;
	for (uint32_t i = 0; i < n && !in->bad; i++) {
		const uint64_t path = words_get(in), ns = words_get(in);

		if (fits)
			*LIST_ADD(f, parts) = (struct history_part){.ticks = ticks_of(host, ns),
				.path = number_of(&f->paths, (uint32_t)(path / 2)),
				.ends = path & 1};
	}
	if (in->bad || !fits)
		return;
	*LIST_ADD(f, kept) = (struct kept_history){first, n};
	map32_add(&f->histories, number, (uint32_t)f->n_kept);
}

const char *far_take(struct far_heard *f, struct host *host, const uint64_t *words, size_t n)
{
	struct words_in in = {words, n, false};

	while (in.n && !in.bad && host->sync)
		switch (words_get(&in)) {
		case PATH:
			take_path(f, causes_far(sync_causes(host->sync)), &in);
			break;
		case HISTORY:
			take_history(f, host, &in);
			break;
		default:
			return "what late senders did, of an unknown kind";
		}
	return in.bad ? "what late senders did, which makes no sense" : NULL;
}

uint32_t far_number(const struct far_heard *f, uint32_t told)
{
	return number_of(&f->histories, told);
}

uint32_t far_path_number(const struct far_heard *f, uint32_t told)
{
	return number_of(&f->paths, told);
}

uint32_t far_keep(struct far_heard *f, const struct history_part *at, size_t n)
{
	if (!n || f->n_parts + n > FAR_PARTS_MAX)
		return 0;
	*LIST_ADD(f, kept) = (struct kept_history){f->n_parts, (uint32_t)n};
	for (size_t i = 0; i < n; i++)
		*LIST_ADD(f, parts) = at[i];
	return (uint32_t)f->n_kept;
}

const struct history_part *far_history(const struct far_heard *f, uint32_t number, size_t *n)
{
	if (!number || number > f->n_kept)
		return NULL;
	*n = f->kept[number - 1].n;
	return &f->parts[f->kept[number - 1].first];
}
