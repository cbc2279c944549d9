/* SPDX-License-Identifier: BSD-3-Clause */
/* When the rounds of a session were: vftrace-session(3), as its agents have seen them. */
#include <errno.h>
#include <stdlib.h>

#include "nodeagent/base/util.h"
#include "nodeagent/trace/read/internal.h"

struct vfd_round *vfd_rounds(const struct vfd_file *f, size_t *n)
{
	struct vfd_round *to = xcalloc(f->n_rounds + 1, sizeof(*to));

	*n = f->n_rounds;
	for (size_t i = 0; i < f->n_rounds; i++)
		to[i] = (struct vfd_round){
			f->rounds[i].number, reader_time(f, (uint64_t)f->rounds[i].begin)};
	return to;
}

/* The earliest one with a number in [least, most] in any file. */
static bool begin_of(
	struct vfd_file *const *files, size_t n, uint64_t least, uint64_t most, int64_t *begin)
{
	bool found = false;

	for (size_t i = 0; i < n; i++)
		EACH(const struct vfd_round, r, files[i]->rounds, files[i]->n_rounds) {
			int64_t at;

			if (r->number < least || r->number > most)
				continue;
			at = reader_time(files[i], (uint64_t)r->begin);
			if (!found || at < *begin)
				*begin = at;
			found = true;
		}
	return found;
}

bool vfd_round_span(struct vfd_file *const *files, size_t n, uint64_t number, struct vfd_span *span)
{
	*span = (struct vfd_span){.from_set = number > 1};
	if (!begin_of(files, n, number, number, &span->from))
		return false;
	span->to_set = begin_of(files, n, number + 1, UINT64_MAX, &span->to);
	return true;
}

bool vfd_round_number(const char *text, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && !errno && *number && *number < UINT32_MAX)
		return true;
	complain("--round %s: not a number of a round; the first one is 1", text);
	return false;
}
