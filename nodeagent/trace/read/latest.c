/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/trace/read/latest.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"

struct vfd_latest {
	uint32_t *counters, *place; /* place: by number, 1 + index in counters, or 0 */
	size_t n, cap, n_place;
	uint64_t **values; /* by track, or NULL */
	size_t n_tracks;
	uint64_t *nothing; /* zeros */
};

struct vfd_latest *vfd_latest_new(const struct vfd_file *f)
{
	struct vfd_latest *l = xcalloc(1, sizeof(*l));
	const struct vfd_counter *all = vfd_counters(f, &l->n_place);

	vfd_threads(f, &l->n_tracks);
	l->values = xcalloc(l->n_tracks, sizeof(*l->values));
	l->place = xcalloc(l->n_place, sizeof(*l->place));
	for (size_t i = 0; i < l->n_place; i++) {
		if (!all[i].number || all[i].kind != VFD_COUNTER_SUM)
			continue;
		*APPEND(l->counters, l->n, l->cap) = (uint32_t)i;
		l->place[i] = (uint32_t)l->n;
	}
	l->nothing = xcalloc(l->n, sizeof(*l->nothing));
	return l;
}

void vfd_latest_free(struct vfd_latest *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->n_tracks; i++)
		free(l->values[i]);
	free(l->values);
	free(l->counters);
	free(l->place);
	free(l->nothing);
	free(l);
}

const uint32_t *vfd_latest_counters(const struct vfd_latest *l, size_t *n)
{
	*n = l->n;
	return l->counters;
}

void vfd_latest_note(struct vfd_latest *l, const struct vfd_event *e)
{
	uint64_t **to = &l->values[e->track];

	for (uint32_t i = 0; i < e->counts->n; i++) {
		const uint32_t place = l->place[e->counts->counters[i]];

		if (!place)
			continue;
		if (!*to)
			*to = xcalloc(l->n, sizeof(**to));
		(*to)[place - 1] = e->counts->values[i];
	}
}

const uint64_t *vfd_latest_values(const struct vfd_latest *l, uint32_t track)
{
	return l->values[track] ? l->values[track] : l->nothing;
}

const char *vfd_value_text(enum vfd_counter_kind kind, uint64_t value, char *buf)
{
	double real;

	memcpy(&real, &value, sizeof(real));
	if (kind == VFD_COUNTER_SUM)
		snprintf(buf, 32, "%" PRIu64, value);
	else if (kind == VFD_COUNTER_INTEGER)
		snprintf(buf, 32, "%" PRId64, (int64_t)value);
	else
		snprintf(buf, 32, "%.17g", real);
	/* the shortest that is the same number */
	for (int digits = 1; kind == VFD_COUNTER_REAL && digits < 17; digits++) {
		char shorter[32];

		snprintf(shorter, sizeof(shorter), "%.*g", digits, real);
		if (strtod(shorter, NULL) == real)
			return strcpy(buf, shorter);
	}
	return buf;
}
