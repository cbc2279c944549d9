/* SPDX-License-Identifier: BSD-3-Clause */
/* Vftrace's own files, one per rank. */
#include <stdlib.h>

#include "nodeagent/base/util.h"
#include "nodeagent/export/internal.h"
#include "nodeagent/trace/dump/vftrace.h"

static void write_one(struct exporter *x, const struct export_process *p)
{
	struct vfd_file *f = x->files[p->file];
	size_t n;
	const struct vfd_process *all = vfd_processes(f, &n);
	const uint32_t ranks = p->number < n ? all[p->number].size : 0;
	char *path = vfd_classic_path(x->path, x->base, p->rank < 0 ? 0 : p->rank, ranks);
	char *error = NULL;

	if (!vfd_classic_write(f, p->number, path, &error))
		export_fail(x, "%s", error ? error : path);
	free(error);
	free(path);
}

/* The lowest rank, or without ranks the first process. */
static const struct export_process *first_of(const struct exporter *x)
{
	const struct export_process *first = NULL;

	EACH(const struct export_process, p, x->processes, x->n_processes)
		if (p->number != VFD_NONE &&
			(!first || (uint32_t)p->shown < (uint32_t)first->shown))
			first = p;
	return first;
}

/* Files are named by ranks of one job: others, and processes without a rank, have no name. */
static bool has_name(const struct export_process *p, const struct export_process *first)
{
	if (p->number == VFD_NONE)
		return false;
	return p == first || (p->rank >= 0 && (!p->job || p->job == first->job));
}

void *classic_begin(struct exporter *x)
{
	const struct export_process *first = first_of(x);

	if (x->options->span.from_set || x->options->span.to_set)
		export_fail(x, "vfd3 files hold the whole run: --from and --to are not for them");
	x->steps = (unsigned)x->n_processes;
	for (size_t i = 0; !x->error && i < x->n_processes; i++, x->steps_done++) {
		const struct export_process *p = &x->processes[i];

		export_progress(x, 0);
		if (export_stopped())
			export_fail(x, "stopped by signal %d", export_stopped());
		if (!has_name(p, first))
			x->n_left_out++;
		else if (!x->error)
			write_one(x, p);
	}
	return x;
}

void classic_end(void *state, bool good)
{
}
