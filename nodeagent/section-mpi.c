/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The communication profile, the table of MPI functions, and which tables a
 * log has. The columns of the communication profile are an interface: scripts
 * of Vftrace's users read them.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "nodeagent/report.h"
#include "nodeagent/table.h"
#include "nodeagent/util.h"

void section_more(FILE *f, size_t n, const char *things)
{
	if (n > SECTION_ROWS)
		fprintf(f, "... and %zu %s more; the JSON file has all of them.\n",
			n - SECTION_ROWS, things);
}

static void messages_row(struct table *t, const struct report *r, const struct profile_messages *m)
{
	uint64_t n = m->sends + m->receives;
	unsigned __int128 ns = (unsigned __int128)m->send_ns + m->receive_ns;

	table_uint(t, n);
	table_scientific(t, 3, report_mean(m->bytes_sent, m->sends));
	table_scientific(t, 3, report_mean(m->bytes_received, m->receives));
	table_scientific(t, 3, report_mean(m->send_bandwidth, m->sends));
	table_scientific(t, 3, report_mean(m->receive_bandwidth, m->receives));
	table_scientific(t, 3, report_mean(ns, n) * 1e-9);
	section_cell_function(t, r, m->stack);
	section_cell_caller(t, r, m->stack);
	section_cell_id(t, r, m->stack);
	if (r->c->mpi_show_callpath)
		section_cell_path(t, r, m->stack);
}

static bool is_mpi_run(const struct profile *p)
{
	return p->n_messages || p->n_functions || p->n_pairs || p->n_comms;
}

static void print_messages(FILE *f, const struct report *r)
{
	static const char *const titles[] = {
		"Messages",
		"avg send size[B]",
		"avg recv size[B]",
		"avg send BW[B/s]",
		"avg recv BW[B/s]",
		"avg comm time[s]",
		"Function",
		"Caller",
		"STID",
	};
	const struct conf *c = r->c;
	const char *by = c->mpi_sort_table_column, *ranks = c->mpi_only_for_ranks;
	bool none = !by || !strcmp(by, "none");
	struct table *t = table_new(TABLE_FRAMED);
	uint32_t *order = sort_messages(r, by, none || c->mpi_sort_table_ascending);

	for (size_t i = 0; i < ARRAY_SIZE(titles); i++)
		table_column(t, titles[i], TABLE_RIGHT);
	if (c->mpi_show_callpath)
		table_column(t, "Callpath", TABLE_RIGHT);
	for (size_t i = 0; i < r->p->n_messages; i++) {
		const struct profile_messages *m = &r->p->messages[order[i]];

		if (m->sends || m->receives)
			messages_row(t, r, m);
	}
	/* scripts look for it in each log of an MPI run, messages or not */
	if (table_rows(t) || (c->mpi_log_messages && is_mpi_run(r->p))) {
		fputs("\nCommunication profile", f);
		if (ranks && strcmp(ranks, "all"))
			fprintf(f, " for ranks: %s", ranks);
		fputc('\n', f);
		table_print(t, f);
	}
	table_free(t);
	free(order);
}

struct function_row {
	const struct report *r;
	const struct profile *p;
	const struct profile_function *f;
};

static void cell_function(struct table *t, const struct function_row *row)
{
	table_text(t, report_function(row->f));
}

static void cell_calls(struct table *t, const struct function_row *row)
{
	table_uint(t, row->f->calls);
}

static void cell_total(struct table *t, const struct function_row *row)
{
	table_real(t, 0, 6, row->f->ns * 1e-9);
}

static void cell_min(struct table *t, const struct function_row *row)
{
	table_real(t, 0, 6, row->f->min_ns * 1e-9);
}

static void cell_min_rank(struct table *t, const struct function_row *row)
{
	table_uint(t, profile_rank_shown(row->p, row->f->rank_min));
}

static void cell_max(struct table *t, const struct function_row *row)
{
	table_real(t, 0, 6, row->f->max_ns * 1e-9);
}

static void cell_max_rank(struct table *t, const struct function_row *row)
{
	table_uint(t, profile_rank_shown(row->p, row->f->rank_max));
}

static void cell_avg(struct table *t, const struct function_row *row)
{
	table_real(t, 0, 6, report_function_mean_s(row->p, row->f));
}

static void cell_imbalance(struct table *t, const struct function_row *row)
{
	table_real(t, 6, 2, report_function_imbalance(row->r, row->f));
}

static void cell_sends(struct table *t, const struct function_row *row)
{
	table_uint(t, row->f->sends);
}

static void cell_receives(struct table *t, const struct function_row *row)
{
	table_uint(t, row->f->receives);
}

static void cell_sent(struct table *t, const struct function_row *row)
{
	table_uint(t, row->f->bytes_sent);
}

static void cell_received(struct table *t, const struct function_row *row)
{
	table_uint(t, row->f->bytes_received);
}

static const struct {
	const char *title;
	void (*cell)(struct table *t, const struct function_row *row);
	bool only_over_ranks;
} function_columns[] = {
	{"Function", cell_function, false},
	{"Calls", cell_calls, false},
	{"t_total[s]", cell_total, false},
	{"t_min[s]", cell_min, true},
	{"on rank", cell_min_rank, true},
	{"t_max[s]", cell_max, true},
	{"on rank", cell_max_rank, true},
	{"t_avg[s]", cell_avg, true},
	{"Imbalance[%]", cell_imbalance, true}, /* other than in the runtime profile */
	{"Sends", cell_sends, false},
	{"Receives", cell_receives, false},
	{"Sent[B]", cell_sent, false},
	{"Received[B]", cell_received, false},
};

static uint64_t function_time(const struct profile *p, uint32_t i)
{
	return p->functions[i].ns;
}

static void print_functions(FILE *f, const struct report *r, bool over_ranks)
{
	const struct profile *p = r->p;
	struct table *t = table_new(TABLE_FRAMED);
	uint32_t *order = sort_falling(p, p->n_functions, function_time);

	for (size_t k = 0; k < ARRAY_SIZE(function_columns); k++)
		if (over_ranks || !function_columns[k].only_over_ranks)
			table_column(t, function_columns[k].title, TABLE_RIGHT);
	for (size_t i = 0; i < p->n_functions; i++) {
		struct function_row row = {r, p, &p->functions[order[i]]};

		for (size_t k = 0; k < ARRAY_SIZE(function_columns); k++)
			if (over_ranks || !function_columns[k].only_over_ranks)
				function_columns[k].cell(t, &row);
	}
	if (table_rows(t)) {
		fputs("\nMPI functions\n", f);
		table_print(t, f);
	}
	table_free(t);
	free(order);
}

bool report_has_mpi(const struct profile *p, const struct conf *c)
{
	return c->mpi_show_table && is_mpi_run(p);
}

void section_mpi(FILE *f, const struct report *r)
{
	if (!r->c->mpi_show_table)
		return;
	print_messages(f, r);
	print_functions(f, r, true);
	section_sizes(f, r);
	section_matrix(f, r);
	section_comms(f, r);
	section_files(f, r);
}

void section_mpi_rank(FILE *f, const struct report *r, uint32_t rank)
{
	if (!r->c->mpi_show_table)
		return;
	print_messages(f, r);
	print_functions(f, r, false);
	section_sizes(f, r);
	section_peers(f, r, rank);
	section_comms(f, r);
	section_files(f, r);
}
