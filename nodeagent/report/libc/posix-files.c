/* SPDX-License-Identifier: BSD-3-Clause */
/* What the program does with files: a table, and the same in JSON. */
#include <math.h>

#include "nodeagent/base/json-write.h"
#include "nodeagent/base/table.h"
#include "nodeagent/base/util.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/report/columns.h"
#include "nodeagent/report/measures.h"
#include "nodeagent/report/report.h"

static uint64_t ns_of(const struct profile_posix_file *f)
{
	return f->read_ns + f->write_ns + f->other_ns;
}

static uint64_t weight_of(const struct profile *p, uint32_t i)
{
	return ns_of(&p->posix_files[i]);
}

/* NAN, which is shown as nothing, if there was nothing. */
static double ratio_of(double a, uint64_t b)
{
	return b ? a / (double)b : NAN;
}

static uint64_t good_reads(const struct profile_posix_file *f)
{
	return f->reads > f->failed_reads ? f->reads - f->failed_reads : 0;
}

static uint64_t good_writes(const struct profile_posix_file *f)
{
	return f->writes > f->failed_writes ? f->writes - f->failed_writes : 0;
}

static uint64_t good_data(const struct profile_posix_file *f)
{
	return good_reads(f) + good_writes(f);
}

static double sequential_percent(const struct profile_posix_file *f)
{
	return ratio_of(100.0 * (double)(f->sequential_reads + f->sequential_writes), good_data(f));
}

/* By calls that are counted, and have a time. */
static double counted_bytes(const struct profile_posix_file *f)
{
	double bytes = (double)f->bytes_read + (double)f->bytes_written - (double)f->stream_bytes;

	return bytes > 0 ? bytes : 0;
}

static double mean_bytes(const struct profile_posix_file *f)
{
	return ratio_of(counted_bytes(f), good_data(f));
}

static double speed_of(const struct profile_posix_file *f)
{
	return ratio_of(1e9 * counted_bytes(f), f->read_ns + f->write_ns);
}

static uint64_t failed_calls(const struct profile_posix_file *f)
{
	return f->failed_reads + f->failed_writes + f->failed_others;
}

ROW_VALUE(uint64_t, file_ns, profile_posix_file, ns_of(at))
ROW_VALUE(uint64_t, file_failed, profile_posix_file, failed_calls(at))
ROW_VALUE(uint64_t, file_small, profile_posix_file, at->small_reads + at->small_writes)
ROW_VALUE(double, file_sequential, profile_posix_file, sequential_percent(at))
ROW_VALUE(double, file_mean, profile_posix_file, mean_bytes(at))
ROW_VALUE(double, file_speed, profile_posix_file, speed_of(at))
ROW_VALUE(bool, has_reads, profile_posix_file, good_reads(at) != 0)
ROW_VALUE(bool, has_writes, profile_posix_file, good_writes(at) != 0)

#define FILES(title, json, type, member, ...)                                                      \
	COLUMN(title, json, type, struct profile_posix_file, member, ##__VA_ARGS__)

static const struct column file_columns[] = {
	FILES(NULL, "name", TEXT, name),
	FILES("Ranks", "ranks", COUNT, ranks),
	FILES("Opens", "opens", COUNT, opens),
	FILES(NULL, "closes", COUNT, closes),
	FILES("Reads", "reads", COUNT, reads),
	FILES("Writes", "writes", COUNT, writes),
	FILES("Seeks", "seeks", COUNT, seeks),
	FILES("Syncs", "syncs", COUNT, syncs, .spare = true),
	FILES(NULL, "maps", COUNT, maps),
	FILES(NULL, "others", COUNT, others),
	COLUMN_GET("Failed", "failed", COUNT, count, file_failed, .spare = true),
	FILES("Read[B]", "bytes_read", COUNT, bytes_read),
	FILES("Written[B]", "bytes_written", COUNT, bytes_written),
	FILES(NULL, "bytes_mapped", COUNT, bytes_mapped),
	FILES(NULL, "stream_bytes", COUNT, stream_bytes),
	COLUMN_GET("Mean[B]", "mean_bytes", REAL, real, file_mean, .decimals = 1),
	COLUMN_GET("<4KiB", "small", COUNT, count, file_small),
	FILES(NULL, "small_reads", COUNT, small_reads),
	FILES(NULL, "small_writes", COUNT, small_writes),
	FILES(NULL, "read_min", COUNT, read_min, .where = has_reads),
	FILES(NULL, "read_max", COUNT, read_max, .where = has_reads),
	FILES(NULL, "write_min", COUNT, write_min, .where = has_writes),
	FILES(NULL, "write_max", COUNT, write_max, .where = has_writes),
	FILES(NULL, "sequential_reads", COUNT, sequential_reads),
	FILES(NULL, "sequential_writes", COUNT, sequential_writes),
	COLUMN_GET("Seq.[%]", NULL, REAL, real, file_sequential, .decimals = 1),
	FILES(NULL, "read_s", SECONDS, read_ns),
	FILES(NULL, "write_s", SECONDS, write_ns),
	FILES(NULL, "other_s", SECONDS, other_ns),
	COLUMN_GET("t_file[s]", "t_s", SECONDS, count, file_ns),
	COLUMN_GET("Speed[B/s]", "speed", REAL, real, file_speed, .decimals = 0),
	FILES("File", NULL, TEXT, name, .left = true, .width = COLUMN_NAME),
};

static const struct list file_list =
	LIST(file_columns, posix_files, .title = "Files of the program", .sum = true,
		.json = "posix_files", .things = "files", .weight = weight_of);

void section_posix_files(FILE *f, const struct report *r)
{
	columns_print(f, r, &file_list, 0);
}

void json_posix_files(struct json *j, const struct report *r)
{
	if (r->p->n_posix_files)
		columns_json(j, r, &file_list);
}
