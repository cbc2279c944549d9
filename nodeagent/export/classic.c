/* SPDX-License-Identifier: BSD-3-Clause */
/* Vftrace's own files, one per rank. */
#include <stdlib.h>

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

void *classic_begin(struct exporter *x)
{
	const struct export_process *last = NULL;

	if (x->options->span.from_set || x->options->span.to_set)
		export_fail(x, "vfd3 files hold the whole run: --from and --to are not for them");
	x->steps = (unsigned)x->n_processes;
	for (size_t i = 0; !x->error && i < x->n_processes; i++, x->steps_done++) {
		const struct export_process *p = &x->processes[i];

		export_progress(x, 0);
		if (export_stopped())
			export_fail(x, "stopped by signal %d", export_stopped());
		/* those without a rank, and ranks of a second job, have no name there */
		if (p->number == VFD_NONE || (last && (p->rank < 0 || p->job != last->job)))
			continue;
		if (!x->error)
			write_one(x, p);
		last = p;
	}
	return x;
}

void classic_end(void *state, bool good)
{
}
