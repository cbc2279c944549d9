/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files of many ranks, in a bounded number of entries: where each rank has files of its own, they
 * grow with the ranks of a job. Those with the most time are kept, and the rest are one entry. A
 * file that was among the rest in a part of the job has that part of its calls there.
 */
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/profile/lists.h"
#include "nodeagent/profile/profile.h"
#include "shm/files.h"

static uint64_t ns_of(const struct profile_posix_file *f)
{
	return f->read_ns + f->write_ns + f->other_ns;
}

ORDER_POINTERS_BY(
	most_first, struct profile_posix_file, ORDER(ns_of(y), ns_of(x)) ?: ALPHABETIC(name))

void profile_files_limit(struct profile *p, size_t most)
{
	const size_t n = p->n_posix_files;
	struct profile_posix_file **by_time;
	uint32_t ranks = 0;

	if (n <= most)
		return;
	by_time = xmalloc(n * sizeof(*by_time));
	for (size_t i = 0; i < n; i++)
		by_time[i] = &p->posix_files[i];
	qsort(by_time, n, sizeof(*by_time), most_first);
	for (size_t i = 0; i < n; i++) {
		struct profile_posix_file *f = by_time[i];

		if (i < most - 1 && strcmp(f->name, FILE_NAME_BEYOND))
			continue;
		ranks = MAX(ranks, f->ranks);
		f->ranks = 0; /* they are not as many as there are files */
		free(f->name);
		f->name = xstrdup(FILE_NAME_BEYOND);
	}
	by_time[n - 1]->ranks = ranks;
	free(by_time);
	profile_combine(p, PROFILE_POSIX_FILES);
}
