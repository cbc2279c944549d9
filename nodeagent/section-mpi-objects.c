/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of message sizes, communicators and files. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/report.h"
#include "nodeagent/table.h"
#include "nodeagent/util.h"

#define BAR_COLUMNS  40
#define NAME_COLUMNS 60
#define NOTHING	     "----"

static void columns(struct table *t, const char *const *titles, size_t n)
{
	for (size_t i = 0; i < n; i++)
		table_column(t, titles[i], TABLE_RIGHT);
}

static uint64_t number_of(const struct profile_size *s)
{
	return s->sends + s->receives;
}

/* 2^log2 bytes in the largest unit that keeps it whole */
static void cell_power(struct table *t, unsigned log2)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	char cell[32];

	snprintf(cell, sizeof(cell), "%u %s", 1u << log2 % 10, units[log2 / 10]);
	table_text(t, cell);
}

/* What happened at all is seen: one column at least. */
static void cell_bar(struct table *t, uint64_t n, uint64_t most)
{
	char bar[BAR_COLUMNS + 1];
	size_t length = n ? (size_t)((double)n / (double)most * BAR_COLUMNS) : 0;

	if (n && !length)
		length = 1;
	memset(bar, '#', length);
	bar[length] = '\0';
	table_text(t, bar);
}

static void size_row(struct table *t, unsigned log2, const struct profile_size *s, uint64_t most)
{
	if (log2)
		cell_power(t, log2 - 1);
	else
		table_text(t, "0 B");
	cell_power(t, log2);
	table_uint(t, s->sends);
	table_uint(t, s->receives);
	table_uint(t, s->bytes_sent);
	table_uint(t, s->bytes_received);
	cell_bar(t, number_of(s), most);
}

/* Rows from the smallest to the largest size; those between that did not occur are shown, too. */
void section_sizes(FILE *f, const struct report *r)
{
	static const char *const titles[] = {
		"From",
		"Below",
		"Sends",
		"Receives",
		"Sent[B]",
		"Received[B]",
	};
	static const struct profile_size none;
	const struct profile *p = r->p;
	struct table *t = table_new(TABLE_FRAMED);
	uint64_t most = 0;
	uint32_t next = 0;

	for (size_t i = 0; i < p->n_sizes; i++)
		if (number_of(&p->sizes[i]) > most)
			most = number_of(&p->sizes[i]);
	columns(t, titles, ARRAY_SIZE(titles));
	table_column(t, "Messages", TABLE_LEFT);
	for (size_t i = 0; i < p->n_sizes; i++) {
		const struct profile_size *s = &p->sizes[i];

		if (!number_of(s) || s->log2 > 64)
			continue;
		for (; next > 1 && next < s->log2; next++)
			size_row(t, next, &none, most);
		size_row(t, s->log2, s, most);
		next = s->log2 + 1;
	}
	if (table_rows(t)) {
		fputs("\nMessage sizes\n", f);
		table_print(t, f);
	}
	table_free(t);
}

static bool comm_is_used(const struct profile_comm *c)
{
	return c->sends || c->receives || c->collectives;
}

/* Time first; communicators without collectives follow by their bytes. */
static uint64_t comm_weight(const struct profile *p, uint32_t i)
{
	const struct profile_comm *c = &p->comms[i];

	if (c->collective_ns)
		return c->collective_ns | (uint64_t)1 << 63;
	return (c->bytes_sent + c->bytes_received) >> 1;
}

static void comm_row(
	struct table *t, const struct profile *p, const struct profile_comm *c, const char *id)
{
	const char *name = report_comm_name(p, c);
	char *text = name ? xstrdup(name) : xasprintf("(%s)", report_comm_kind(c));
	char *cell = text_short(text, NAME_COLUMNS);
	char size[32];

	snprintf(size, sizeof(size), "%" PRIu32, c->size);
	if (c->remote_size)
		snprintf(size, sizeof(size), "%" PRIu32 " + %" PRIu32, c->size, c->remote_size);
	table_text(t, cell);
	table_text(t, id);
	table_text(t, size);
	table_uint(t, c->ranks);
	table_uint(t, c->sends);
	table_uint(t, c->receives);
	table_uint(t, c->bytes_sent);
	table_uint(t, c->bytes_received);
	table_uint(t, c->collectives);
	table_uint(t, c->collective_bytes_sent);
	table_uint(t, c->collective_bytes_received);
	table_real(t, 0, 6, c->collective_ns * 1e-9);
	free(cell);
	free(text);
}

/* MPI_COMM_SELF: each rank has one of its own, and one line is for all of them. */
static bool is_self(const struct profile *p, const struct profile_comm *c)
{
	const char *name = report_comm_name(p, c);

	return c->size == 1 && !c->remote_size && name && !strcmp(name, "MPI_COMM_SELF");
}

static void add_self(struct profile_comm *sum, const struct profile_comm *c)
{
	struct profile_comm before = *sum;

	*sum = *c;
	sum->ranks += before.ranks;
	sum->sends += before.sends;
	sum->receives += before.receives;
	sum->bytes_sent += before.bytes_sent;
	sum->bytes_received += before.bytes_received;
	sum->collectives += before.collectives;
	sum->collective_bytes_sent += before.collective_bytes_sent;
	sum->collective_bytes_received += before.collective_bytes_received;
	sum->collective_ns += before.collective_ns;
}

void section_comms(FILE *f, const struct report *r)
{
	static const char *const titles[] = {
		"Communicator",
		"Id",
		"Size",
		"Used by",
		"Sends",
		"Receives",
		"Sent[B]",
		"Received[B]",
		"Collectives",
		"Sent in them[B]",
		"Received in them[B]",
		"t_collectives[s]",
	};
	const struct profile *p = r->p;
	struct profile_comm self = {0};
	struct table *t = table_new(TABLE_FRAMED);
	uint32_t *order = sort_falling(p, p->n_comms, comm_weight);
	size_t used = 0;
	char id[17];

	columns(t, titles, ARRAY_SIZE(titles));
	for (size_t i = 0; i < p->n_comms; i++) {
		const struct profile_comm *c = &p->comms[order[i]];

		if (comm_is_used(c) && is_self(p, c)) {
			add_self(&self, c);
		} else if (comm_is_used(c) && used++ < SECTION_ROWS) {
			snprintf(id, sizeof(id), "%016" PRIx64, c->id);
			comm_row(t, p, c, id);
		}
	}
	if (comm_is_used(&self))
		comm_row(t, p, &self, NOTHING);
	if (table_rows(t)) {
		fputs("\nCommunicators\n", f);
		table_print(t, f);
		section_more(f, used, "communicators");
	}
	table_free(t);
	free(order);
}

static uint64_t file_bytes(const struct profile *p, uint32_t i)
{
	return p->files[i].bytes_read + p->files[i].bytes_written;
}

static void cell_bandwidth(struct table *t, uint64_t bytes, uint64_t ns)
{
	table_scientific(t, 3, report_mean(bytes, ns) * 1e9);
}

static void file_row(struct table *t, const struct profile_file *file)
{
	char *name = text_short(file->name, NAME_COLUMNS);

	table_text(t, name);
	table_uint(t, file->ranks);
	table_uint(t, file->opens);
	table_uint(t, file->reads);
	table_uint(t, file->bytes_read);
	table_real(t, 0, 6, file->read_ns * 1e-9);
	cell_bandwidth(t, file->bytes_read, file->read_ns);
	table_uint(t, file->writes);
	table_uint(t, file->bytes_written);
	table_real(t, 0, 6, file->write_ns * 1e-9);
	cell_bandwidth(t, file->bytes_written, file->write_ns);
	free(name);
}

void section_files(FILE *f, const struct report *r)
{
	static const char *const titles[] = {
		"File",
		"Ranks",
		"Opens",
		"Reads",
		"Read[B]",
		"t_read[s]",
		"read BW[B/s]",
		"Writes",
		"Written[B]",
		"t_write[s]",
		"write BW[B/s]",
	};
	const struct profile *p = r->p;
	struct table *t = table_new(TABLE_FRAMED);
	uint32_t *order = sort_falling(p, p->n_files, file_bytes);

	columns(t, titles, ARRAY_SIZE(titles));
	for (size_t i = 0; i < p->n_files && i < SECTION_ROWS; i++)
		file_row(t, &p->files[order[i]]);
	if (table_rows(t)) {
		fputs("\nFiles opened through MPI\n", f);
		table_print(t, f);
		section_more(f, p->n_files, "files");
	}
	table_free(t);
	free(order);
}
