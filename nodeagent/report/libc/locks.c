/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks of the C library that threads have waited for: a table, and the same in JSON. */
#include <stdlib.h>

#include "nodeagent/base/json-write.h"
#include "nodeagent/base/table.h"
#include "nodeagent/base/util.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/report/columns.h"
#include "nodeagent/report/measures.h"
#include "nodeagent/report/report.h"
#include "nodeagent/report/waits.h"

#define HOLDER_COLUMNS 40

static uint64_t weight_of(const struct profile *p, uint32_t i)
{
	return p->locks[i].ns;
}

/* Rows of those that had a lock follow that of the lock. */
static bool is_lock(const struct row *row)
{
	const struct profile_lock *at = row->at;

	return !at->holder;
}

/* "update<step 83 %" */
static char *most_held(const struct row *row)
{
	const struct profile_lock *at = row->at, *most = locks_most_held(row->r->p, at);
	char *path, *text;

	if (!most)
		return xstrdup("");
	path = report_short_path(row->r, most->holder - 1, 2, HOLDER_COLUMNS);
	text = xasprintf(
		"%s %.0f %%", path, at->ns ? 100.0 * (double)most->ns / (double)at->ns : 0.0);
	free(path);
	return text;
}

static void put_path(struct json *j, const struct report *r, const char *key, uint32_t stack)
{
	char *path = report_path(r, stack - 1);

	json_string(j, key, path);
	free(path);
}

static void write_held(struct json *j, const char *key, const struct row *row)
{
	const struct profile *p = row->r->p;
	const struct profile_lock *at = row->at;

	json_array(j, key);
	for (const struct profile_lock *h = at + 1; locks_is_holder_of(p, h, at); h++) {
		json_object(j, NULL);
		json_uint(j, "id", row->r->id[h->holder - 1]);
		put_path(j, row->r, "path", h->holder);
		json_uint(j, "calls", h->calls);
		json_real(j, "t_s", 1e-9 * (double)h->ns);
		json_close(j);
	}
	json_close(j);
}

static void write_first(struct json *j, const char *key, const struct row *row)
{
	const struct profile_lock *at = row->at;

	if (at->first)
		put_path(j, row->r, key, at->first);
	else
		json_string(j, key, NULL);
}

static char *lock_name(const struct row *row)
{
	return locks_name(row->r, row->at);
}

ROW_VALUE(const char *, kind_name, profile_lock, locks_kind_name(at->kind))

#define LOCKS(title, json, type, member, ...)                                                      \
	COLUMN(title, json, type, struct profile_lock, member, ##__VA_ARGS__)

static const struct column lock_columns[] = {
	COLUMN_GET("Kind", "kind", TEXT, text, kind_name, .left = true),
	COLUMN_GET(NULL, "name", MADE, made, lock_name),
	LOCKS("Ranks", "ranks", COUNT, ranks),
	LOCKS("Waits", "calls", COUNT, calls),
	LOCKS("t_wait[s]", "t_s", SECONDS, ns),
	LOCKS("Longest[s]", "longest_s", SECONDS, longest_ns),
	COLUMN_GET(NULL, "first_path", WRITTEN, write, write_first),
	COLUMN_GET(NULL, "held", WRITTEN, write, write_held),
	COLUMN_GET("Lock", NULL, MADE, made, lock_name, .left = true, .width = COLUMN_NAME),
	COLUMN_GET("Had in", NULL, MADE, made, most_held, .left = true, .spare = true),
};

static const struct list lock_list =
	LIST(lock_columns, locks, .title = "Locks that threads waited for", .sum = true,
		.json = "locks", .things = "locks", .weight = weight_of, .shown = is_lock);

void section_locks(FILE *f, const struct report *r)
{
	columns_print(f, r, &lock_list, 0);
}

void json_locks(struct json *j, const struct report *r)
{
	if (!r->p->n_locks)
		return;
	json_array(j, lock_list.json);
	for (uint32_t i = 0; i < r->p->n_locks; i++) {
		const struct row row = {.r = r, .at = &r->p->locks[i], .index = i};

		if (is_lock(&row))
			columns_object(j, &lock_list, &row);
	}
	json_close(j);
}
