/* SPDX-License-Identifier: BSD-3-Clause */
/* What the time of ranks was spent for, and what they read and wrote, slice by slice: in JSON. */
#include <math.h>
#include <stdlib.h>

#include "nodeagent/base/util.h"
#include "nodeagent/report/log/internal.h"

#define SLICES_SHOWN 64u   /* of one rank, at most */
#define CELLS_SHOWN  4096u /* of all */

/* What there is in a cell, and its member of a row in JSON. */
enum amount { AMOUNT_MPI, AMOUNT_WAIT, AMOUNT_READ, AMOUNT_WRITTEN, AMOUNTS };

static const struct {
	const char *key;
	bool is_share; /* of the cell's time; else bytes, missing where there are none in any */
} amounts[AMOUNTS] = {
	[AMOUNT_MPI] = {"mpi_share", true},
	[AMOUNT_WAIT] = {"wait_share", true},
	[AMOUNT_READ] = {"bytes_read", false},
	[AMOUNT_WRITTEN] = {"bytes_written", false},
};

struct cell {
	uint64_t ns, of[AMOUNTS];
};

struct cells {
	unsigned log2; /* of the ns of a slice */
	size_t n_rows, n;
	struct cell *at; /* n of row 0, then of row 1 ... */
	uint32_t *rank, *ranks;
	uint64_t sum[AMOUNTS];
};

/* Slices are as long as the longest of all ranks, or longer, until there are few enough. */
static void measure_slices(const struct profile *p, struct cells *c)
{
	uint64_t end = 0;

	for (size_t i = 0; i < p->n_slices; i++) {
		const struct profile_slice *s = &p->slices[i];

		c->n_rows += !i || s->rank != s[-1].rank;
		c->log2 = s->log2 > c->log2 ? s->log2 : c->log2;
	}
	do {
		end = 0;
		EACH(const struct profile_slice, s, p->slices, p->n_slices) {
			const uint64_t number = s->number >> (c->log2 - s->log2);

			end = number + 1 > end ? number + 1 : end;
		}
		c->n = end;
	} while ((end > SLICES_SHOWN || (end > 1 && end * c->n_rows > CELLS_SHOWN)) && ++c->log2);
}

static uint64_t amount_of(const struct profile_slice *s, size_t k)
{
	const uint64_t of[AMOUNTS] = {s->mpi_ns, s->wait_ns, s->bytes_read, s->bytes_written};

	return of[k];
}

static void add_up(const struct profile *p, struct cells *c)
{
	size_t row = 0;

	c->at = xcalloc(c->n_rows * c->n + 1, sizeof(*c->at));
	c->rank = xcalloc(c->n_rows + 1, sizeof(*c->rank));
	c->ranks = xcalloc(c->n_rows + 1, sizeof(*c->ranks));
	for (size_t i = 0; i < p->n_slices; i++) {
		const struct profile_slice *s = &p->slices[i];
		struct cell *to;

		row += i && s->rank != s[-1].rank;
		to = &c->at[row * c->n + (s->number >> (c->log2 - s->log2))];
		to->ns += s->ns;
		for (size_t k = 0; k < AMOUNTS; k++) {
			to->of[k] += amount_of(s, k);
			c->sum[k] += amount_of(s, k);
		}
		c->rank[row] = profile_rank_shown(p, s->rank);
		c->ranks[row] = s->ranks > c->ranks[row] ? s->ranks : c->ranks[row];
	}
}

/* Thousandths are enough for a colour. */
static double share_of(uint64_t part, const struct cell *c)
{
	return c->ns ? round(1000.0 * (double)part / (double)c->ns) / 1000.0 : NAN;
}

static void write_row(struct json *j, const struct cells *c, size_t row)
{
	const struct cell *at = &c->at[row * c->n];

	json_object(j, NULL);
	json_uint(j, "rank", c->rank[row]);
	json_uint(j, "ranks", c->ranks[row]);
	for (size_t k = 0; k < AMOUNTS; k++) {
		if (!amounts[k].is_share && !c->sum[k])
			continue;
		json_array(j, amounts[k].key);
		for (size_t i = 0; i < c->n; i++)
			if (amounts[k].is_share)
				json_shortest(j, NULL, share_of(at[i].of[k], &at[i]));
			else
				json_uint(j, NULL, at[i].of[k]);
		json_close(j);
	}
	json_close(j);
}

void json_time_slices(struct json *j, const struct report *r)
{
	struct cells c = {.log2 = 0};

	if (!r->p->n_slices)
		return;
	measure_slices(r->p, &c);
	add_up(r->p, &c);
	json_object(j, "time_slices");
	json_seconds(j, "slice_s", (uint64_t)1 << c.log2);
	json_uint(j, "slices", c.n);
	json_array(j, "rows");
	for (size_t i = 0; i < c.n_rows; i++)
		write_row(j, &c, i);
	json_close(j);
	json_close(j);
	free(c.at);
	free(c.rank);
	free(c.ranks);
}
