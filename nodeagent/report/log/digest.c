/* SPDX-License-Identifier: BSD-3-Clause */
/* The digest at the top of the summary and, with its numbers, in BASE_all.json. */
#include <stdlib.h>

#include "nodeagent/report/digest.h"
#include "nodeagent/report/log/internal.h"

void section_digest(FILE *f, const struct report *r)
{
	char **lines;
	size_t n;

	if (!r->run)
		return;
	lines = report_digest(r, r->folder, &n);
	for (size_t i = 0; i < n; i++) {
		fprintf(f, "%s\n", lines[i]);
		free(lines[i]);
	}
	free(lines);
}

static void write_top(struct json *j, const struct report *r, const struct digest *d)
{
	json_array(j, "top");
	EACH(const struct digest_function, top, d->top, d->n_top) {
		json_object(j, NULL);
		json_string(j, "function", r->shown[top->name]);
		json_string(
			j, "caller", top->caller == PROFILE_NONE ? NULL : r->shown[top->caller]);
		json_uint(j, "calls", top->calls);
		json_seconds(j, "t_excl_s", top->excl_ns);
		json_close(j);
	}
	json_close(j);
}

static void write_imbalance(
	struct json *j, const struct report *r, const struct digest_imbalance *im)
{
	if (im->name == PROFILE_NONE) {
		json_string(j, "imbalance", NULL);
		return;
	}
	json_object(j, "imbalance");
	json_string(j, "function", r->shown[im->name]);
	json_uint(j, "rank", im->rank);
	json_seconds(j, "t_max_s", im->max_ns);
	json_bool(j, "is_bound", im->is_bound);
	json_real(j, "t_mean_s", 1e-9 * (double)im->sum_ns / im->members);
	if (!im->is_bound) {
		json_uint(j, "ranks", im->ranks);
		json_uint(j, "rank_min", im->rank_min);
		json_seconds(j, "t_min_s", im->min_ns);
	}
	json_close(j);
}

static void write_cpu(struct json *j, const struct report *r)
{
	const struct profile_cpu *c = &r->p->cpu;

	if (!c->wall_ns)
		return;
	json_object(j, "cpu");
	json_seconds(j, "t_s", c->ns);
	json_seconds(j, "t_queued_s", c->queued_ns);
	json_seconds(j, "t_wall_s", c->wall_ns);
	json_uint(j, "rank_least", profile_rank_shown(r->p, c->least_rank));
	json_seconds(j, "t_least_s", c->least_ns);
	json_seconds(j, "t_wall_least_s", c->least_wall_ns);
	json_uint(j, "rank_queued", profile_rank_shown(r->p, c->queued_rank));
	json_seconds(j, "t_queued_most_s", c->most_queued_ns);
	json_seconds(j, "t_wall_queued_s", c->queued_wall_ns);
	json_bool(j, "starved", digest_is_starved(r));
	json_close(j);
}

static void write_late(struct json *j, const struct digest_late *d)
{
	json_object(j, "late_senders");
	json_seconds(j, "t_s", d->ns);
	if (d->rank != PROFILE_NONE) {
		json_uint(j, "rank", d->rank);
		json_seconds(j, "t_rank_s", d->rank_ns);
	}
	json_close(j);
}

static void write_numbers(struct json *j, const struct report *r)
{
	static const char *const parts[DIGEST_PARTS] = {"computing_s", "mpi_s", "mpi_start_end_s",
		"openmp_wait_s", "openmp_idle_s", "lock_wait_s", "paused_s", "outside_s"};
	struct digest d = digest_of(r);

	json_object(j, "summary");
	json_real(j, "t_s", r->excl_s);
	for (size_t i = 0; i < DIGEST_PARTS; i++)
		if (d.part_ns[i] || (i == DIGEST_LOCK_WAIT ? r->p->n_locks : i != DIGEST_PAUSED))
			json_seconds(j, parts[i], d.part_ns[i]);
	json_real(j, "hooks_s", d.hooks_s);
	json_real(j, "blocked_s", d.blocked_s);
	write_cpu(j, r);
	write_top(j, r, &d);
	write_imbalance(j, r, &d.imbalance);
	write_late(j, &d.late);
	json_close(j);
}

void json_digest(struct json *j, const struct report *r)
{
	char **lines;
	size_t n;

	if (!r->run)
		return;
	lines = report_digest(r, r->folder, &n);
	json_array(j, "digest");
	for (size_t i = 0; i < n; i++) {
		json_string(j, NULL, lines[i]);
		free(lines[i]);
	}
	json_close(j);
	free(lines);
	write_numbers(j, r);
}
