/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions with the most time, each with the rank that has too much of it: the first table
 * of layout run. Of a function of several call paths the rank took that time or more.
 */
#include <math.h>
#include <stdlib.h>

#include "conf/conf.h"
#include "nodeagent/report/digest.h"
#include "nodeagent/report/log/few-samples.h"
#include "nodeagent/report/log/internal.h"

#define TOP_ROWS     20
#define TOP_FUNCTION 50

struct top {
	const struct report_group *group;
	struct digest_imbalance imbalance;
	double share; /* percent */
	bool counted; /* calls of its own, or that it makes: its time is an estimate */
};

/* What is known of several paths may be less than the mean, which says nothing. */
static bool has_ranks(const struct row *row)
{
	const struct digest_imbalance *im = &((const struct top *)row->at)->imbalance;

	return im->name != PROFILE_NONE &&
	       (!im->is_bound || (double)im->max_ns * im->members > (double)im->sum_ns);
}

ROW_VALUE(uint64_t, top_calls, top, at->group->calls)
ROW_VALUE(uint64_t, top_time, top, at->group->excl_ns)
ROW_VALUE(bool, top_has_calls, top, calls_are_known(row->r->p, at->group->calls))
ROW_VALUE(bool, top_is_marked, top, at->counted)
ROW_VALUE(bool, top_has_samples, top, at->group->samples)
ROW_VALUE(double, top_error, top, samples_error_s(at->group->estimated_ns, at->group->samples))
ROW_VALUE(double, top_share, top, at->share)
ROW_VALUE(uint64_t, top_most, top, at->imbalance.max_ns)
ROW_VALUE(uint64_t, top_rank, top, at->imbalance.rank)
ROW_VALUE(double, top_imbalance, top,
	at->imbalance.sum_ns ? 100.0 * ((double)at->imbalance.max_ns * at->imbalance.members /
						       (double)at->imbalance.sum_ns -
					       1.0)
			     : NAN)
ROW_VALUE(const char *, top_bound, top, at->imbalance.is_bound ? ">=" : "")
ROW_VALUE(const char *, top_name, top, row->r->cell[at->group->name])

enum { OVER_RANKS = 1, WITH_SAMPLES = 2 };

static const struct column top_columns[] = {
	COLUMN_GET("Calls", NULL, COUNT, count, top_calls, .where = top_has_calls),
	COLUMN_GET("t_excl[s]", NULL, SECONDS, count, top_time, .mark = top_is_marked),
	COLUMN_GET("~[s]", NULL, REAL, real, top_error, .only = WITH_SAMPLES,
		.where = top_has_samples),
	COLUMN_GET("t_excl[%]", NULL, REAL, real, top_share, .decimals = 1),
	COLUMN_GET("", NULL, TEXT, text, top_bound, .only = OVER_RANKS, .where = has_ranks),
	COLUMN_GET("t_max[s]", NULL, SECONDS, count, top_most, .only = OVER_RANKS,
		.where = has_ranks, .mark = top_is_marked),
	COLUMN_GET("on rank", NULL, COUNT, count, top_rank, .only = OVER_RANKS, .where = has_ranks),
	COLUMN_GET("max/mean-1[%]", NULL, REAL, real, top_imbalance, .decimals = 1,
		.only = OVER_RANKS, .where = has_ranks),
	COLUMN_GET("Function", NULL, TEXT, text, top_name, .width = TOP_FUNCTION),
};

static const struct list top_list = LIST_OF(top_columns, struct top, .title = NULL);

void section_top(FILE *f, const struct report *r)
{
	struct report_group *groups;
	const uint32_t *members;
	struct columns_rows rows = {.n = 0};
	struct table *t;
	const unsigned asked = (r->p->world_size > 1 ? OVER_RANKS : 0) |
			       (r->p->n_stack_samples ? WITH_SAMPLES : 0);

	if (!r->run)
		return;
	rows.n = report_groups(r, &groups, &members);
	t = columns_table(r, &top_list, asked);
	sort_groups(groups, rows.n, r, members, "time_excl", false);
	for (size_t i = 0; i < rows.n; i++) {
		const struct top top = {
			.group = &groups[i],
			.imbalance = digest_imbalance(r, members, &groups[i]),
			.share = r->excl_s > 0.0 ? 1e-7 * (double)groups[i].excl_ns / r->excl_s
						 : 0.0,
			.counted = report_any_counted(r, members + groups[i].first, groups[i].n),
		};

		if (i < TOP_ROWS && top.share >= r->c->profile_table_min_percent) {
			columns_row(t, &top_list, asked, &(struct row){.r = r, .at = &top});
			continue;
		}
		rows.left++;
		rows.left_ns += groups[i].excl_ns;
	}
	columns_end(f, r, t, "Functions", true);
	columns_left(f, r, &rows);
	free(groups);
}
