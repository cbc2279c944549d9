/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/tool/export-wrote.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "nodeagent/base/util.h"
#include "nodeagent/export/export.h"

/* Where the formats are looked at. */
static const struct {
	const char *format, *how;
} viewers[] = {
	{"perfetto", "open it at https://ui.perfetto.dev"},
	{"chrome", "open it at https://ui.perfetto.dev"},
	{"speedscope", "open it at https://www.speedscope.app"},
	{"folded", "open it at https://www.speedscope.app, or with flamegraph.pl"},
	{"otf2", "open traces.otf2 in it with Vampir, or print it with otf2-print"},
	{"paraver", "open it with wxparaver"},
};

static char *size_text(const char *path)
{
	static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
	struct stat st;
	double size;
	size_t i = 0;

	if (stat(path, &st) || !S_ISREG(st.st_mode)) /* a folder's says nothing */
		return xstrdup("");
	for (size = (double)st.st_size; size >= 1024 && i + 1 < ARRAY_SIZE(units); i++)
		size /= 1024;
	return xasprintf("%.*f %s, ", size < 10 && i ? 1 : 0, size, units[i]);
}

/* What the files have: all of it only if nothing else is said. */
static void say_file(const struct export_format *format, const struct export_options *o,
	struct vfd_file *const *files, size_t n)
{
	const size_t left = o->n_left_out ? *o->n_left_out : 0;
	const bool part = o->ranks || o->span.from_set || o->span.to_set || left;
	uint64_t threads = 0, messages = 0;
	char *size = size_text(o->output);
	const char *how = NULL;

	for (size_t i = 0; i < n; i++) {
		size_t here;
		const struct vfd_thread *t = vfd_threads(files[i], &here);

		for (size_t k = 0; k < here; k++)
			threads += t[k].track != VFD_NONE;
		messages += vfd_facts(files[i])->messages;
	}
	for (size_t i = 0; i < ARRAY_SIZE(viewers); i++)
		if (!strcmp(format->name, viewers[i].format))
			how = viewers[i].how;
	complain("wrote %s (%s%s%" PRIu64 " %s, %" PRIu64 " %s)%s%s", o->output, size,
		part ? "part of " : "", threads, one_or_many(threads, "thread", "threads"),
		messages, one_or_many(messages, "message", "messages"), how ? ": " : "",
		how ? how : "");
	if (left)
		complain("%zu %s no file there: Vftrace has one for each rank of one MPI job", left,
			one_or_many(left, "process has", "processes have"));
	free(size);
}

void export_wrote(const struct export_format *format, const struct export_options *o,
	struct vfd_file *const *files, size_t n)
{
	if (strcmp(o->output, "-"))
		say_file(format, o, files, n);
}
