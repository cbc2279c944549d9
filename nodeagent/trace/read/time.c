/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Time in a sampling file: units to the node's CLOCK_MONOTONIC_RAW, by the rate
 * over the whole run, and that to the job's time, along straight lines between
 * the sync points of the clock.
 */
#include <math.h>
#include <stdlib.h>

#include "nodeagent/trace/read/internal.h"
#include "nodeagent/base/util.h"

#define LEAST_SPAN_NS 1000000 /* of a pair to be a measure of the rate */
#define FAR	      0x1p62

static int64_t near(double x)
{
	if (!(x > -FAR))
		return -(int64_t)FAR;
	return x < FAR ? (int64_t)llrint(x) : (int64_t)FAR;
}

static int64_t saturated_sum(int64_t a, int64_t b)
{
	int64_t s;

	if (__builtin_add_overflow(a, b, &s) || s > (int64_t)FAR || s < -(int64_t)FAR)
		return a < 0 ? -(int64_t)FAR : (int64_t)FAR;
	return s;
}

static int64_t saturated_difference(int64_t a, int64_t b)
{
	return saturated_sum(a, b == INT64_MIN ? INT64_MAX : -b);
}

static int64_t since_start(const struct vfd_file *f, uint64_t units)
{
	return near((double)(int64_t)(units - f->start_units) * f->facts.ns_per_unit);
}

/* global - raw */
static int64_t offset_at(const struct vfd_file *f, int64_t raw)
{
	const struct clock_sync_point *a, *b;
	/* the last sync point that is not later */
	const size_t low = LOWER_BOUND(i, 1, f->n_sync_points, f->sync_points[i].raw <= raw) - 1;
	double slope;

	if (f->n_sync_points == 1 || raw <= f->sync_points[0].raw)
		return f->sync_points[0].offset;
	a = &f->sync_points[low];
	if (low + 1 == f->n_sync_points)
		return a->offset;
	b = a + 1;
	slope = (double)saturated_difference(b->offset, a->offset) / (double)(b->raw - a->raw);
	return saturated_sum(a->offset, near(slope * (double)(raw - a->raw)));
}

int64_t reader_time(const struct vfd_file *f, uint64_t units)
{
	const int64_t since = since_start(f, units);
	int64_t raw;

	if (!f->n_sync_points)
		return saturated_sum(
			saturated_sum(since,
				saturated_difference(f->facts.start_unix_ns, f->facts.job_unix_ns)),
			f->later);
	raw = saturated_sum(f->start_raw, since);
	return saturated_difference(saturated_sum(raw, offset_at(f, raw)), f->zero);
}

ORDER_BY(by_raw, struct clock_sync_point, RISING(raw))

void reader_finish_clock(struct vfd_file *f)
{
	const int64_t ns = saturated_difference(f->last_pair_raw, f->start_raw);
	const double units = (double)(int64_t)(f->last_pair_units - f->start_units);
	size_t n = 0;

	if (f->pair_seen && ns >= LEAST_SPAN_NS && units > 0)
		f->facts.ns_per_unit = (double)ns / units;
	if (!isfinite(f->facts.ns_per_unit) || f->facts.ns_per_unit <= 0 ||
		f->facts.ns_per_unit > 1e9)
		f->facts.ns_per_unit = 1;
	if (f->n_sync_points)
		qsort(f->sync_points, f->n_sync_points, sizeof(*f->sync_points), by_raw);
	EACH(const struct clock_sync_point, k, f->sync_points, f->n_sync_points) {
		/* time must not run backwards */
		if (n && (k->raw == f->sync_points[n - 1].raw ||
				 saturated_difference(f->sync_points[n - 1].offset, k->offset) >=
					 saturated_difference(k->raw, f->sync_points[n - 1].raw)))
			continue;
		f->sync_points[n++] = *k;
		f->facts.clock_error_ns = MAX(f->facts.clock_error_ns, k->half_width);
	}
	f->n_sync_points = n;
	f->facts.synchronised = n > 0;
	if (n && !f->zero_seen)
		f->zero = saturated_difference(
			saturated_sum(f->start_raw, offset_at(f, f->start_raw)),
			saturated_difference(f->facts.start_unix_ns, f->facts.job_unix_ns));
}

static void move(struct vfd_file *f, int64_t by)
{
	f->later = saturated_sum(f->later, by);
	f->facts.start = saturated_sum(f->facts.start, by);
	f->facts.end = saturated_sum(f->facts.end, by);
	for (size_t i = 0; i < f->n_threads; i++) {
		f->threads[i].start = saturated_sum(f->threads[i].start, by);
		f->threads[i].end = saturated_sum(f->threads[i].end, by);
	}
	for (size_t i = 0; i < f->n_processes; i++) {
		f->processes[i].start = saturated_sum(f->processes[i].start, by);
		f->processes[i].end = saturated_sum(f->processes[i].end, by);
	}
}

void vfd_line_up(struct vfd_file *const *files, size_t n)
{
	int64_t first = INT64_MAX;

	for (size_t i = 0; i < n; i++)
		if (files[i]->header_seen && files[i]->facts.job_unix_ns < first)
			first = files[i]->facts.job_unix_ns;
	for (size_t i = 0; i < n; i++)
		if (files[i]->header_seen && !files[i]->n_sync_points)
			move(files[i],
				saturated_difference(
					saturated_difference(files[i]->facts.job_unix_ns, first),
					files[i]->later));
}
