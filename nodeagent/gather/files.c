/* SPDX-License-Identifier: BSD-3-Clause */
/* What a process did with files, on its way into a profile. */
#include "nodeagent/gather/internal.h"

#include "nodeagent/base/util.h"
#include "nodeagent/process/process.h"
#include "nodeagent/profile/lists.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/replay/files.h"

/* UINT64_MAX: there were none, and MIN takes that of another process. */
static uint64_t least_of(const struct file_calls *c)
{
	return c->calls > c->failed ? c->least : UINT64_MAX;
}

static char *name_of(const struct file_use *u)
{
	if (u->name)
		return xstrdup(u->name);
	return u->number ? xasprintf("(file %u)", u->number) : xstrdup(FILE_NAME_BEYOND);
}

static void add_file(const struct gather_from *from, const struct file_use *u)
{
	const struct file_calls *of = u->of, *in = &of[FILE_READ], *out = &of[FILE_WRITE];
	struct profile_posix_file *to = profile_add(from->out, PROFILE_POSIX_FILES);

	*to = (struct profile_posix_file){.ranks = 1,
		.opens = of[FILE_OPEN].calls,
		.closes = of[FILE_CLOSE].calls,
		.reads = in->calls,
		.writes = out->calls,
		.seeks = of[FILE_SEEK].calls,
		.syncs = of[FILE_SYNC].calls,
		.maps = of[FILE_MAP].calls,
		.others = of[FILE_OTHER].calls,
		.failed_reads = in->failed,
		.failed_writes = out->failed,
		.bytes_read = in->bytes,
		.bytes_written = out->bytes,
		.bytes_mapped = of[FILE_MAP].bytes,
		.stream_bytes = in->rest + out->rest,
		.sequential_reads = in->sequential,
		.sequential_writes = out->sequential,
		.small_reads = in->small,
		.small_writes = out->small,
		.read_ns = gather_ns(from, in->ticks),
		.write_ns = gather_ns(from, out->ticks),
		.read_min = least_of(in),
		.write_min = least_of(out),
		.read_max = in->most,
		.write_max = out->most,
		.name = name_of(u)};
	for (unsigned kind = 0; kind < FILE_CALLS; kind++) {
		if (&of[kind] == in || &of[kind] == out)
			continue;
		to->failed_others += of[kind].failed;
		to->other_ns += gather_ns(from, of[kind].ticks);
	}
}

void gather_files(const struct gather_from *from)
{
	size_t n;
	const struct file_use *u = files_all(from->p->files, &n);

	for (size_t i = 0; i < n; i++)
		if (u[i].used && !u[i].left_out)
			add_file(from, &u[i]);
}
