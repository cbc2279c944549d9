/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/report/openacc.h"

#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "nodeagent/report/report.h"
#include "nodeagent/base/util.h"
#include "shm/fnv.h"

/* ---- of one entry --------------------------------------------------------------------- */

static struct openacc_texts openacc_texts(const struct profile_openacc *o)
{
	struct openacc_texts t = {.all = xstrdup(o->text)};
	const char **const to[] = {&t.file, &t.lines, &t.function, &t.name};
	char *at = t.all;

	for (size_t i = 0; i < ARRAY_SIZE(to); i++) {
		char *end = strchr(at, '\n');

		*to[i] = at;
		at = end ? end + 1 : at + strlen(at);
		if (end)
			*end = '\0';
	}
	return t;
}

static bool is_event(const struct profile *p, uint32_t stack)
{
	/* openacc[] is sorted by stack */
	const size_t at = LOWER_BOUND(i, 0, p->n_openacc, p->openacc[i].stack < stack);

	return at < p->n_openacc && p->openacc[at].stack == stack;
}

uint32_t openacc_caller(const struct report *r, uint32_t stack)
{
	while (stack != PROFILE_NONE && is_event(r->p, stack))
		stack = r->parent[stack];
	return stack;
}

struct openacc_texts openacc_texts_shown(const struct report *r, const struct profile_openacc *o)
{
	struct openacc_texts t = openacc_texts(o);
	uint32_t caller = t.function[0] ? PROFILE_NONE : openacc_caller(r, o->stack);

	if (caller != PROFILE_NONE)
		t.function = r->cell[r->p->stacks[caller].name];
	return t;
}

uint64_t openacc_region_id(const struct profile_openacc *o)
{
	uint64_t h = FNV_BEGIN; /* of file, lines and event */
	int texts = 0;

	for (const char *c = o->text; *c && texts < 2; c++) {
		h = fnv_word(h, (unsigned char)*c);
		texts += *c == '\n';
	}
	return fnv_word(h, o->event);
}

static uint64_t bytes_to_device(const struct profile_openacc *o)
{
	return o->event == OPENACC_UPLOAD_EVENT ? o->bytes : 0;
}

static uint64_t bytes_to_host(const struct profile_openacc *o)
{
	return o->event == OPENACC_DOWNLOAD_EVENT ? o->bytes : 0;
}

/* ---- order ---------------------------------------------------------------------------- */

static uint64_t key_of(const struct conf *c, uint64_t ns, uint64_t bytes, uint64_t calls)
{
	const char *column = c->openacc_sort_table_column;

	if (!strcmp(column, "none"))
		return 0;
	return !strcmp(column, "memcpy") ? bytes : !strcmp(column, "calls") ? calls : ns;
}

uint32_t *openacc_sort(const struct report *r, size_t *n)
{
	const struct profile *p = r->p;
	struct sort_key *keys = xcalloc(p->n_openacc, sizeof(*keys));

	for (uint32_t i = 0; i < p->n_openacc; i++) {
		const struct profile_openacc *o = &p->openacc[i];
		uint64_t bytes = bytes_to_device(o) + bytes_to_host(o);

		keys[i] = (struct sort_key){.key = key_of(r->c, o->own_ns, bytes, o->calls),
			.id = r->id[o->stack],
			.i = i};
	}
	*n = p->n_openacc;
	return sort_by_key(keys, p->n_openacc, r->c->openacc_sort_table_ascending);
}

/* ---- by position ---------------------------------------------------------------------- */

ORDER_BY(by_position, struct openacc_total, ALPHABETIC(position) ?: ALPHABETIC(function))

static void add_openacc(struct openacc_total *to, const struct openacc_total *from)
{
	to->calls += from->calls;
	for (int k = 0; k <= OPENACC_WAIT; k++)
		to->ns[k] += from->ns[k];
	to->to_device += from->to_device;
	to->to_host += from->to_host;
	to->on_device += from->on_device;
}

static struct openacc_total total_of(
	const struct report *r, const struct profile_openacc *o, uint32_t memory_event)
{
	struct openacc_texts texts = openacc_texts_shown(r, o);
	struct openacc_total t = {.position = xasprintf("%s%s%s", basename(texts.file),
					  texts.lines[0] ? ":" : "", texts.lines),
		.function = xstrdup(texts.function),
		.calls = o->calls,
		.to_device = bytes_to_device(o),
		.to_host = bytes_to_host(o),
		.on_device = o->event == memory_event ? o->bytes : 0};

	t.ns[openacc_event_time(o->event)] = o->own_ns;
	free(texts.all);
	return t;
}

static struct openacc_total *in_order(const struct report *r, struct openacc_total *all, size_t n)
{
	struct openacc_total *t = xcalloc(n + 1, sizeof(*t));
	struct sort_key *keys = xcalloc(n, sizeof(*keys));
	uint32_t *order;

	for (uint32_t i = 0; i < n; i++) {
		const struct openacc_total *o = &all[i];
		uint64_t ns = 0;

		for (int k = 0; k <= OPENACC_WAIT; k++)
			ns += o->ns[k];
		keys[i] = (struct sort_key){
			.key = key_of(r->c, ns, o->to_device + o->to_host, o->calls), .i = i};
	}
	order = sort_by_key(keys, n, r->c->openacc_sort_table_ascending);
	for (size_t i = 0; i < n; i++)
		t[i] = all[order[i]];
	free(order);
	free(all);
	return t;
}

/* What is allocated may be more, or less often, than what is created in it. */
static uint32_t memory_event(const struct profile *p)
{
	for (size_t i = 0; i < p->n_openacc; i++)
		if (p->openacc[i].event == OPENACC_CREATE_EVENT && p->openacc[i].bytes)
			return OPENACC_CREATE_EVENT;
	return OPENACC_ALLOC_EVENT;
}

struct openacc_total *openacc_totals(const struct report *r, size_t *n)
{
	const struct profile *p = r->p;
	struct openacc_total *all = xcalloc(p->n_openacc + 1, sizeof(*all));
	uint32_t memory = memory_event(p);
	size_t kept = 0;

	for (size_t i = 0; i < p->n_openacc; i++)
		all[i] = total_of(r, &p->openacc[i], memory);
	qsort(all, p->n_openacc, sizeof(*all), by_position);
	for (size_t i = 0; i < p->n_openacc; i++) {
		if (kept && !by_position(&all[kept - 1], &all[i])) {
			add_openacc(&all[kept - 1], &all[i]);
			free(all[i].position);
			free(all[i].function);
			continue;
		}
		all[kept++] = all[i];
	}
	*n = kept;
	return in_order(r, all, kept);
}

void openacc_totals_free(struct openacc_total *t, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(t[i].position);
		free(t[i].function);
	}
	free(t);
}
