/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/profile/first-end.h"

#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "nodeagent/base/json-write.h"
#include "nodeagent/profile/places.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/base/table.h"
#include "nodeagent/base/util.h"

#define FATES_MAX  4  /* the first one's, and of others */
#define MAYBE_MAX  4  /* nodes of which one was first, that are named */
#define RANGES_MAX 20 /* of ranks with the same fate */

/* What may have been first: of each node its first one, the earliest first. */
struct maybe {
	const struct profile_bad_end *at[MAYBE_MAX];
	const char *host[MAYBE_MAX];
	size_t n;
	bool more;
};

static bool is_known(const struct profile_bad_end *e)
{
	return e->error_ns <= INT64_MAX / 2;
}

static bool same_host(const char *a, const char *b)
{
	return !a || !b ? a == b : !strcmp(a, b);
}

int bad_end_cmp(const struct profile_bad_end *x, const struct profile_bad_end *y)
{
	return ORDER(!is_known(x), !is_known(y)) ?: RISING(end_ns) ?: RISING(rank);
}

ORDER_POINTERS_BY(by_time, struct profile_bad_end, bad_end_cmp(x, y))

static int64_t latest_ns(const struct profile_bad_end *e)
{
	return e->end_ns + (int64_t)e->error_ns;
}

const struct profile_bad_end *first_certain_end(const struct profile *p)
{
	const struct profile_bad_end *first = NULL;

	EACH(const struct profile_bad_end, e, p->ends, p->n_ends)
		if (is_known(e) && (!first || latest_ns(e) < latest_ns(first)))
			first = e;
	return first;
}

static void note_end(struct maybe *m, const struct profile_bad_end *e, const char *host)
{
	for (size_t i = 0; i < m->n; i++)
		if (same_host(m->host[i], host))
			return; /* one agent saw both, in this order */
	if (m->n == MAYBE_MAX) {
		m->more = true;
		return;
	}
	m->host[m->n] = host;
	m->at[m->n++] = e;
}

static struct maybe find_first(const struct profile *p)
{
	const struct profile_bad_end **order = xmalloc((p->n_ends + 1) * sizeof(*order));
	const struct profile_bad_end *first = first_certain_end(p);
	const int64_t certain = first ? latest_ns(first) : INT64_MAX;
	struct maybe m = {.n = 0};

	for (size_t i = 0; i < p->n_ends; i++)
		order[i] = &p->ends[i];
	qsort(order, p->n_ends, sizeof(*order), by_time);
	for (size_t i = 0; i < p->n_ends && !m.more; i++)
		if (!is_known(order[i]) ||
			order[i]->end_ns - (int64_t)order[i]->error_ns <= certain)
			note_end(&m, order[i], places_host(p, order[i]->rank));
	free(order);
	return m;
}

const struct profile_bad_end *first_end(const struct profile *p)
{
	struct maybe m = find_first(p);

	return m.n == 1 ? m.at[0] : NULL;
}

static bool is_worker_let_go(const struct profile *p, const struct profile_process *d)
{
	/* SIGKILL may be of the kernel, for want of memory */
	return d->outlived && d->exit_status == SIGTERM &&
	       !(p->world_size && d->rank < PROFILE_UNRANKED);
}

const struct profile_process *first_death(const struct profile *p, size_t *n)
{
	const struct profile_process *first = NULL;

	*n = p->dead_more;
	EACH(const struct profile_process, d, p->dead, p->n_dead) {
		if (is_worker_let_go(p, d))
			continue;
		first = first ? first : d;
		++*n;
	}
	return first;
}

/* Since the first process of all began, or of its node where the clocks were not compared. */
static double time_s(const struct profile *p, const struct profile_bad_end *e)
{
	if (p->begin_known && is_known(e) && e->end_ns > p->begin_ns)
		return (double)(e->end_ns - p->begin_ns) * 1e-9;
	return (double)e->since_ns * 1e-9;
}

/* ---- the sentence ------------------------------------------------------------------- */

static bool same_fate(const struct profile_bad_end *a, const struct profile_bad_end *b)
{
	return a->end == b->end && a->exit_status == b->exit_status;
}

/* "ranks 0-2,5": those with this fate, which are sorted by rank; returns how many. */
static size_t print_ranks(
	FILE *f, const struct profile *p, const struct profile_bad_end *like, bool capital)
{
	size_t n = 0, ranges = 0;

	for (size_t i = 0; i < p->n_ends; i++)
		n += same_fate(&p->ends[i], like);
	fprintf(f, "%cank%s ", capital ? 'R' : 'r', one_or_many(n, "", "s"));
	for (size_t i = 0; i < p->n_ends; i++) {
		uint32_t first = p->ends[i].rank;

		if (!same_fate(&p->ends[i], like))
			continue;
		while (i + 1 < p->n_ends && same_fate(&p->ends[i + 1], like) &&
			p->ends[i + 1].rank == p->ends[i].rank + 1)
			i++;
		if (ranges++ == RANGES_MAX) {
			fputs(",...", f);
			break;
		}
		fprintf(f, "%s%" PRIu32, ranges > 1 ? "," : "", first);
		if (p->ends[i].rank != first)
			fprintf(f, "-%" PRIu32, p->ends[i].rank);
	}
	if (p->ends_more && n >= PROFILE_ENDS_EACH && ranges <= RANGES_MAX)
		fputs(",...", f);
	return n;
}

static void print_fate(FILE *f, const struct profile_bad_end *e, size_t n, const char *then)
{
	if (e->end == PROCESS_EXITED)
		fprintf(f, " %sexited with status %d", then, e->exit_status);
	else
		fprintf(f, " %s %sended by signal %d (%s)", one_or_many(n, "was", "were"), then,
			e->exit_status, strsignal(e->exit_status));
}

static void print_host(FILE *f, const struct profile *p, const char *host)
{
	char *plain;

	if (!host || (p->n_agents < 2 && p->world_size <= p->ranks - p->unranked))
		return;
	plain = text_plain(host);
	fprintf(f, " on %s", plain);
	free(plain);
}

/* The first one is known. */
static void print_first(FILE *f, const struct profile *p, const struct maybe *m)
{
	const struct profile_bad_end *e = m->at[0];
	size_t n = print_ranks(f, p, e, true);

	if (n == 1)
		print_host(f, p, m->host[0]);
	print_fate(f, e, n, "");
	if (n > 1) {
		fprintf(f, ", first rank %" PRIu32, e->rank);
		print_host(f, p, m->host[0]);
	}
	fprintf(f, " at t=%.2f s", time_s(p, e));
}

static void print_one_of(FILE *f, const struct profile *p, const struct maybe *m)
{
	uint64_t error_ns = 0;

	fputs("One of these ended badly first:", f);
	for (size_t i = 0; i < m->n; i++) {
		const struct profile_bad_end *e = m->at[i];

		fprintf(f, "%s rank %" PRIu32, i ? "," : "", e->rank);
		print_host(f, p, m->host[i]);
		fputs(" (it", f);
		print_fate(f, e, 1, "");
		fprintf(f, " at t=%.3f s)", time_s(p, e));
		error_ns = MAX(error_ns, e->error_ns);
	}
	fprintf(f, "%s; ", m->more ? ", or others" : "");
	if (error_ns <= INT64_MAX / 2)
		fprintf(f, "these times are known to %.1f ms", (double)error_ns * 1e-6);
	else
		fputs("their nodes have not compared their clocks", f);
}

/* Those with other fates than what is told of. */
static void print_others(FILE *f, const struct profile *p, const struct profile_bad_end *first)
{
	const struct profile_bad_end *told[FATES_MAX] = {first};
	size_t n = first ? 1 : 0;

	for (size_t i = 0; i < p->n_ends && n < FATES_MAX; i++) {
		const struct profile_bad_end *e = &p->ends[i];
		bool known = false;

		for (size_t k = 0; k < n; k++)
			known = known || same_fate(e, told[k]);
		if (known)
			continue;
		told[n++] = e;
		fputs("; ", f);
		print_fate(f, e, print_ranks(f, p, e, false), first ? "then " : "");
	}
}

char *first_end_sentence(const struct profile *p)
{
	struct maybe m;
	char *text;
	size_t bytes;
	FILE *f;

	if (!p->n_ends || (p->n_ends == 1 && p->ends[0].end == PROCESS_KILLED))
		return NULL;
	f = memory_begin(&text, &bytes);
	m = find_first(p);
	if (m.n == 1)
		print_first(f, p, &m);
	else
		print_one_of(f, p, &m);
	print_others(f, p, m.n == 1 ? m.at[0] : NULL);
	memory_end(f);
	return text;
}

/* ---- JSON --------------------------------------------------------------------------- */

static void write_one(struct json *j, const struct profile *p, const struct maybe *m, size_t i)
{
	const struct profile_bad_end *e = m->at[i];

	json_uint(j, "rank", e->rank);
	json_string(j, "node", m->host[i]);
	json_int(j, "pid", e->pid);
	json_int(j, e->end == PROCESS_EXITED ? "status" : "signal", e->exit_status);
	json_real(j, "time_s", time_s(p, e));
	if (is_known(e))
		json_seconds(j, "error_s", e->error_ns);
	else
		json_string(j, "error_s", NULL);
}

void json_first_end(struct json *j, const struct profile *p)
{
	struct maybe m = find_first(p);

	if (!m.n) {
		json_string(j, "first_end", NULL);
		return;
	}
	json_object(j, "first_end");
	write_one(j, p, &m, 0);
	json_bool(j, "certain", m.n == 1);
	json_array(j, "one_of");
	for (size_t i = 0; m.n > 1 && i < m.n; i++) {
		json_object(j, NULL);
		write_one(j, p, &m, i);
		json_close(j);
	}
	json_close(j);
	json_close(j);
}
