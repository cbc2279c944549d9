/* SPDX-License-Identifier: BSD-3-Clause */
/* Input and output by call path, as the program has told: a table, and the same in JSON. */

#include "nodeagent/profile/profile.h"
#include "nodeagent/report/columns.h"
#include "nodeagent/report/log/internal.h"
#include "nodeagent/report/measures.h"
#include "nodeagent/report/report.h"
#include "shm/record.h"

/* NULL: a kind that only later versions know. */
static const char *kind_of(uint32_t kind)
{
	static const char *const names[RECORD_IO_KINDS] = {
		[RECORD_IO_READ] = "read", [RECORD_IO_WRITE] = "write"};

	return kind < RECORD_IO_KINDS ? names[kind] : NULL;
}

static uint64_t weight_of(const struct profile *p, uint32_t i)
{
	return p->io[i].ns;
}

ROW_VALUE(const char *, io_kind, profile_io, kind_of(at->kind))

#define IO(title, json, type, member, ...)                                                         \
	COLUMN(title, json, type, struct profile_io, member, ##__VA_ARGS__)

static const struct column io_columns[] = {
	IO(NULL, "id", STACK_ID, stack),
	IO(NULL, "path", PATH, stack),
	COLUMN_GET("Kind", "kind", TEXT, text, io_kind, .left = true),
	IO("Operations", "operations", COUNT, operations),
	IO("Failed", "failed", COUNT, failed),
	IO("Bytes", "bytes", COUNT, bytes, .run = "Data[B]"),
	IO("t_io[s]", "t_s", SECONDS, ns),
	IO("t_min[us]", "t_min_s", US, min_ns),
	IO("t_max[us]", "t_max_s", US, max_ns),
	IO("Ranks", "ranks", COUNT, ranks),
	IO("Function", "function", FUNCTION, stack, .left = true),
	IO("STID", NULL, STACK_ID, stack),
	IO("Callpath", NULL, PATH, stack, .left = true),
};

static const struct list io_list = LIST(io_columns, io, .title = "Input and output", .sum = true,
	.json = "io", .things = "rows", .weight = weight_of);

void section_io(FILE *f, const struct report *r)
{
	columns_print(f, r, &io_list, 0);
}

void json_io(struct json *j, const struct report *r)
{
	if (r->p->n_io)
		columns_json(j, r, &io_list);
}
