/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective calls: how many were compared, and how well, where not each was. */
#include <inttypes.h>

#include "nodeagent/base/units.h"
#include "nodeagent/report/log/internal.h"

/* ---- in the log -------------------------------------------------------------------------- */

static struct profile_compared sum_of(const struct profile *p)
{
	struct profile_compared sum = {0};

	EACH(const struct profile_compared, c, p->compared, p->n_compared) {
		MOST(&sum, c, log2);
		sum.calls += c->calls;
		sum.unknown += c->unknown;
		sum.below += c->below;
		sum.below_ns += c->below_ns;
		sum.error_ns += c->error_ns;
		sum.partly += c->partly;
		sum.partly_ns += c->partly_ns;
	}
	return sum;
}

static void print_unknown(FILE *f, const struct profile_compared *sum)
{
	const char *about = sum->log2 ? "~" : "";

	fprintf(f,
		"  not compared: %s%" PRIu64 " %s, of whose members or clocks nothing is known\n",
		about, sum->unknown, one_or_many(sum->unknown, "call", "calls"));
	if (sum->partly)
		fprintf(f,
			"  %s%" PRIu64
			" of them %s waited for ranks of their own node, %s at least\n",
			about, sum->partly, one_or_many(sum->partly, "has", "have"),
			quantity_seconds(1e-9 * (double)sum->partly_ns).text);
}

void print_compared(FILE *f, const struct profile *p)
{
	const struct profile_compared sum = sum_of(p);

	if (!sum.calls)
		return;
	fprintf(f, "Between nodes: %" PRIu64 " collective %s", sum.calls,
		one_or_many(sum.calls, "call", "calls"));
	fprintf(f, ", error of the clocks at most %s",
		quantity_seconds(1e-9 * (double)sum.error_ns).text);
	if (sum.below)
		fprintf(f, "; below it %s in %" PRIu64 " %s more",
			quantity_seconds(1e-9 * (double)sum.below_ns).text, sum.below,
			one_or_many(sum.below, "call", "calls"));
	fputc('\n', f);
	if (sum.unknown)
		print_unknown(f, &sum);
	if (sum.log2)
		fprintf(f,
			"  ~ estimated: of some communicators one in %" PRIu64
			" instances was kept\n",
			(uint64_t)1 << sum.log2);
}

void print_sampled(FILE *f, const struct profile *p)
{
	struct profile_sampled sum = {0};

	EACH(const struct profile_sampled, s, p->sampled, p->n_sampled) {
		MOST(&sum, s, log2);
		sum.calls += s->calls;
		sum.kept += s->kept;
	}
	if (sum.log2)
		fprintf(f,
			"  ~ estimated: of %" PRIu64 " collective calls %" PRIu64
			" were compared within nodes, where they came fast one in %" PRIu64 "\n",
			sum.calls, sum.kept, (uint64_t)1 << sum.log2);
}

/* ---- in JSON ----------------------------------------------------------------------------- */

ROW_VALUE(uint64_t, one_in, profile_compared, (uint64_t)1 << at->log2)
ROW_VALUE(uint64_t, is_estimated, profile_compared, at->log2 > 0)

#define COMPARED(json, type, member) COLUMN(NULL, json, type, struct profile_compared, member)

static const struct column compared_columns[] = {
	COLUMN_GET(NULL, "one_in", COUNT, count, one_in),
	COLUMN_GET(NULL, "estimated", BOOL, count, is_estimated),
	COMPARED("calls", COUNT, calls),
	COMPARED("kept", COUNT, kept),
	COMPARED("not_compared", COUNT, unknown),
	COMPARED("waited", COUNT, waited),
	COMPARED("waited_s", SECONDS, waited_ns),
	COMPARED("error_s", SECONDS, error_ns),
	COMPARED("below", COUNT, below),
	COMPARED("below_s", SECONDS, below_ns),
	COMPARED("at_least", COUNT, partly),
	COMPARED("at_least_s", SECONDS, partly_ns),
};
static const struct list compared_list = LIST_OF(compared_columns, struct profile_compared);

ROW_VALUE(uint64_t, sampled_one_in, profile_sampled, (uint64_t)1 << at->log2)
ROW_VALUE(uint64_t, sampled_is_estimated, profile_sampled, at->log2 > 0)

#define SAMPLED(json, type, member) COLUMN(NULL, json, type, struct profile_sampled, member)

static const struct column sampled_columns[] = {
	COLUMN_GET(NULL, "one_in", COUNT, count, sampled_one_in),
	COLUMN_GET(NULL, "estimated", BOOL, count, sampled_is_estimated),
	SAMPLED("calls", COUNT, calls),
	SAMPLED("kept", COUNT, kept),
};
static const struct list sampled_list = LIST_OF(sampled_columns, struct profile_sampled);

static void put_rows(struct json *j, const struct report *r, const struct list *l, const char *key,
	const void *records, size_t n)
{
	if (!n)
		return;
	json_array(j, key);
	for (size_t i = 0; i < n; i++)
		columns_object(
			j, l, &(struct row){.r = r, .at = (const char *)records + i * l->size});
	json_close(j);
}

void json_compared(struct json *j, const struct report *r)
{
	put_rows(j, r, &sampled_list, "waits_within_nodes", r->p->sampled, r->p->n_sampled);
	put_rows(j, r, &compared_list, "waits_between_nodes", r->p->compared, r->p->n_compared);
}
