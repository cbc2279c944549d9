/* SPDX-License-Identifier: BSD-3-Clause */
/* BASE_all.json, vftr-profile(5), for `vftr diff`: only the stacks are kept. */
#include <stdlib.h>
#include <string.h>

#include "nodeagent/tool/diff/diff.h"
#include "nodeagent/base/util.h"
#include "nodeagent/base/words.h"

#define FORMAT	  "vftr-profile"
#define VERSION	  1
#define TAGS_MOST 16384 /* bytes */

struct spread {
	double min, max, deviation; /* over the ranks that have the stack; deviation < 0: none */
};

/* The members read, and those needed once the number of ranks is known. */
struct reading {
	struct json_in j;
	struct diff_profile *p;
	struct spread *spread;
	size_t cap;
	bool format, stacks;
};

static bool is_text(struct json_in *j, const char *wanted)
{
	struct text_store text = {0};
	bool same;

	json_in_text(j, &text);
	same = !strcmp(text.bytes, wanted);
	free(text.bytes);
	return same;
}

static uint64_t read_hash(struct json_in *j)
{
	struct text_store text = {0};
	char *end;
	uint64_t hash;

	json_in_text(j, &text);
	hash = strtoull(text.bytes, &end, 16);
	if (text.n != 17 || *end || strspn(text.bytes, "0123456789abcdefABCDEF") != 16)
		json_in_fail(j, "a hash that has not 16 hexadecimal digits");
	free(text.bytes);
	return hash;
}

/* The length of a text that is not kept. */
static size_t text_bytes(struct json_in *j, struct text_store *room)
{
	size_t at = json_in_text(j, room), bytes = room->n - at - 1;

	room->n = at;
	return bytes;
}

static void read_stack(struct reading *r)
{
	struct json_in *j = &r->j;
	struct diff_profile *p = r->p;
	struct spread spread = {.deviation = -1.0};
	struct diff_stack s = {.id = DIFF_NO_ID, .path = SIZE_MAX, .deviation_s = -1.0};
	bool hash = false;
	const char *key;

	json_in_object(j);
	while ((key = json_in_member(j))) {
		if (!strcmp(key, "path")) {
			s.path = json_in_text(j, &p->text);
			diff_join_path(p->text.bytes + s.path);
		} else if (!strcmp(key, "function")) {
			s.function_bytes = text_bytes(j, &p->text);
		} else if (!strcmp(key, "hash")) {
			s.hash = read_hash(j);
			hash = true;
		} else if (!strcmp(key, "id")) {
			s.id = json_in_uint(j);
		} else if (!strcmp(key, "calls")) {
			s.calls = json_in_uint(j);
		} else if (!strcmp(key, "ranks")) {
			s.ranks = json_in_uint(j);
		} else if (!strcmp(key, "t_incl_s")) {
			s.incl_s = json_in_real(j);
		} else if (!strcmp(key, "t_excl_s")) {
			s.excl_s = json_in_real(j);
		} else if (!strcmp(key, "t_excl_min_s")) {
			spread.min = json_in_real(j);
		} else if (!strcmp(key, "t_excl_max_s")) {
			spread.max = json_in_real(j);
		} else if (!strcmp(key, "t_excl_deviation_s")) {
			spread.deviation = json_in_real(j);
		} else {
			json_in_skip(j);
		}
	}
	if (s.path == SIZE_MAX)
		json_in_fail(j, "a stack without a path");
	if (j->error)
		return;
	if (!s.function_bytes || s.function_bytes > strlen(p->text.bytes + s.path))
		s.function_bytes = strcspn(p->text.bytes + s.path, "<");
	r->spread = grow(r->spread, p->n_stacks, &r->cap, sizeof(*r->spread));
	r->spread[p->n_stacks] = spread;
	*diff_add(p, NULL, 0) = s;
	p->hash_of_names &= hash;
}

static void read_stacks(struct reading *r)
{
	r->stacks = true;
	json_in_array(&r->j);
	while (json_in_element(&r->j))
		read_stack(r);
}

/* Makes of {"case": "small"} the words case=small. */
static void read_tags(struct reading *r)
{
	struct json_in *j = &r->j;
	char **tags = NULL, *list;
	size_t n = 0, cap = 0, left;
	const char *key;

	json_in_object(j);
	while ((key = json_in_member(j))) {
		char *own = xstrdup(key);
		struct text_store text = {0};

		json_in_text(j, &text);
		if (!j->error)
			*APPEND(tags, n, cap) = xasprintf("%s=%s", own, text.bytes);
		free(text.bytes);
		free(own);
	}
	*APPEND(tags, n, cap) = NULL;
	list = words_list(tags, TAGS_MOST, &left);
	free(r->p->tags);
	r->p->tags = *list ? list : NULL;
	if (!*list)
		free(list);
	for (size_t i = 0; i < n; i++)
		free(tags[i]);
	free(tags);
}

static void read_start(struct reading *r)
{
	const char *key;

	json_in_object(&r->j);
	while ((key = json_in_member(&r->j)))
		if (!strcmp(key, "tags"))
			read_tags(r);
		else
			json_in_skip(&r->j);
}

static void read_members(struct reading *r)
{
	struct json_in *j = &r->j;
	uint64_t processes = 0, unranked = 0;
	const char *key;

	json_in_object(j);
	while ((key = json_in_member(j))) {
		if (!strcmp(key, "format")) {
			r->format = is_text(j, FORMAT);
		} else if (!strcmp(key, "version")) {
			if (json_in_uint(j) != VERSION)
				json_in_fail(j, "a version of the format that this vftr is too "
						"old or too new for");
		} else if (!strcmp(key, "ranks") || !strcmp(key, "other_ranks")) {
			r->p->ranks += json_in_uint(j);
		} else if (!strcmp(key, "processes")) {
			processes = json_in_uint(j);
		} else if (!strcmp(key, "unranked")) {
			unranked = json_in_uint(j);
		} else if (!strcmp(key, "runtime_s")) {
			r->p->runtime_s = json_in_real(j);
		} else if (!strcmp(key, "started")) {
			read_start(r);
		} else if (!strcmp(key, "stacks")) {
			read_stacks(r);
		} else {
			json_in_skip(j);
		}
	}
	r->p->has_no_mpi = processes && unranked == processes;
}

int diff_read_json(FILE *f, struct diff_profile *p, char **error)
{
	struct reading r = {.p = p};

	p->kind = "summary";
	p->hash_of_names = true;
	json_in_begin(&r.j, f);
	read_members(&r);
	*error = json_in_end(&r.j);
	if (!*error && (!r.format || !r.stacks))
		*error = xasprintf("it is JSON, but no profile (BASE_all.json) of vftr");
	for (size_t i = 0; i < p->n_stacks && !*error; i++) {
		struct diff_stack *s = &p->stacks[i];
		const struct spread *over = &r.spread[i];
		double n = s->ranks ? (double)s->ranks : 1.0;

		diff_set_deviation(p, s,
			over->deviation >= 0.0
				? over->deviation
				: diff_deviation_most(s->excl_s / n, over->min, over->max));
	}
	free(r.spread);
	return *error ? -1 : 0;
}
