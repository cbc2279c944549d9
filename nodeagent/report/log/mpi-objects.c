/* SPDX-License-Identifier: BSD-3-Clause */
/* Message sizes, communicators and files in the logs and in BASE_all.json. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/report/log/internal.h"

#define BAR_COLUMNS 40

/* ---- sizes -------------------------------------------------------------------------------- */

static uint64_t number_of(const struct profile_size *s)
{
	return s->sends + s->receives;
}

/* 2^log2 bytes in the largest unit that keeps it whole; the caller frees. */
static char *power_text(unsigned log2)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

	return xasprintf("%u %s", 1u << log2 % 10, units[log2 / 10]);
}

ROW_VALUE(char *, size_from, profile_size, at->log2 ? power_text(at->log2 - 1) : xstrdup("0 B"))
ROW_VALUE(char *, size_below, profile_size, power_text(at->log2))
ROW_VALUE(uint64_t, size_least, profile_size, at->log2 ? (uint64_t)1 << (at->log2 - 1) : 0)

static uint64_t size_greatest(const struct row *row)
{
	const struct profile_size *s = row->at;

	if (!s->log2)
		return 0;
	return s->log2 < 64 ? ((uint64_t)1 << s->log2) - 1 : UINT64_MAX;
}

/* A bar has at least one column if the value is not 0. */
static char *size_bar(const struct row *row)
{
	uint64_t n = number_of(row->at), most = *(const uint64_t *)row->more;
	size_t length = n ? (size_t)((double)n / (double)most * BAR_COLUMNS) : 0;
	char *bar = xcalloc(BAR_COLUMNS + 1, 1);

	if (n && !length)
		length = 1;
	memset(bar, '#', length);
	return bar;
}

#define SIZE(title, json, type, member, ...)                                                       \
	COLUMN(title, json, type, struct profile_size, member, ##__VA_ARGS__)

static const struct column size_columns[] = {
	COLUMN_GET("From", NULL, MADE, made, size_from),
	COLUMN_GET("Below", NULL, MADE, made, size_below),
	COLUMN_GET(NULL, "from_bytes", COUNT, count, size_least),
	COLUMN_GET(NULL, "to_bytes", COUNT, count, size_greatest),
	SIZE("Sends", "sends", COUNT, sends),
	SIZE("Receives", "recvs", COUNT, receives),
	SIZE("Sent[B]", "bytes_sent", COUNT, bytes_sent),
	SIZE("Received[B]", "bytes_received", COUNT, bytes_received),
	COLUMN_GET("Messages", NULL, MADE, made, size_bar, .left = true),
};

const struct list mpi_sizes = LIST(size_columns, sizes, .json = "message_sizes");

/* Rows from the smallest to the largest size; those between that did not occur are shown, too. */
void section_sizes(FILE *f, const struct report *r)
{
	const struct profile *p = r->p;
	struct table *t = columns_table(r, &mpi_sizes, 0);
	struct profile_size none = {0};
	uint64_t most = 0;
	uint32_t next = 0;

	for (size_t i = 0; i < p->n_sizes; i++)
		if (number_of(&p->sizes[i]) > most)
			most = number_of(&p->sizes[i]);
	EACH(const struct profile_size, s, p->sizes, p->n_sizes) {
		if (!number_of(s) || s->log2 > 64)
			continue;
		for (; next > 1 && next < s->log2; next++) {
			none.log2 = next;
			columns_row(t, &mpi_sizes, 0, &(struct row){.at = &none, .more = &most});
		}
		columns_row(t, &mpi_sizes, 0, &(struct row){.at = s, .more = &most});
		next = s->log2 + 1;
	}
	if (table_rows(t))
		columns_end(f, r, t, "Message sizes", true);
	else
		table_free(t);
}

/* ---- communicators ------------------------------------------------------------------------ */

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

static char *comm_label(const struct row *row)
{
	const char *name = report_comm_name(row->r->p, row->at);

	return name ? xstrdup(name) : xasprintf("(%s)", report_comm_kind(row->at));
}

ROW_VALUE(const char *, comm_name, profile_comm, report_comm_name(row->r->p, at))
ROW_VALUE(const char *, comm_kind, profile_comm, report_comm_kind(at))

static char *comm_size(const struct row *row)
{
	const struct profile_comm *c = row->at;

	if (c->remote_size)
		return xasprintf("%" PRIu32 " + %" PRIu32, c->size, c->remote_size);
	return xasprintf("%" PRIu32, c->size);
}

/* The row of all MPI_COMM_SELF has none. */
static bool has_id(const struct row *row)
{
	return !row->more;
}

#define COMM(title, json, type, member, ...)                                                       \
	COLUMN(title, json, type, struct profile_comm, member, ##__VA_ARGS__)

static const struct column comm_columns[] = {
	COLUMN_GET("Communicator", NULL, MADE, made, comm_label, .width = COLUMN_NAME),
	COMM("Id", "id", HEX, id, .where = has_id, .spare = true),
	COLUMN_GET(NULL, "name", TEXT, text, comm_name),
	COLUMN_GET(NULL, "kind", TEXT, text, comm_kind),
	COLUMN_GET("Size", NULL, MADE, made, comm_size),
	COMM(NULL, "size", COUNT, size),
	COMM(NULL, "remote_size", COUNT, remote_size),
	COMM("Used by", "ranks", COUNT, ranks),
	COMM("Sends", "sends", COUNT, sends),
	COMM("Receives", "recvs", COUNT, receives),
	COMM("Sent[B]", "bytes_sent", COUNT, bytes_sent),
	COMM("Received[B]", "bytes_received", COUNT, bytes_received),
	COMM("Collectives", "collectives", COUNT, collectives),
	COMM("Sent in them[B]", "collective_bytes_sent", COUNT, collective_bytes_sent,
		.spare = true),
	COMM("Received in them[B]", "collective_bytes_received", COUNT, collective_bytes_received,
		.spare = true),
	COMM("t_collectives[s]", "t_collective_s", SECONDS, collective_ns, .decimals = 6),
	COMM(NULL, "ambiguous_sends", COUNT, ambiguous_sends),
	COMM(NULL, "ambiguous_recvs", COUNT, ambiguous_receives),
};

const struct list mpi_comms = LIST(comm_columns, comms, .json = "communicators");

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

/* ---- of large jobs: communicators that have no row ------------------------------------------ */

static struct profile_comm sum_of(const struct profile_comm_rest *c)
{
	return (struct profile_comm){.kind = c->kind,
		.size = c->size,
		.ranks = (uint32_t)MIN(c->ranks, (uint64_t)UINT32_MAX),
		.sends = c->sends,
		.receives = c->receives,
		.bytes_sent = c->bytes_sent,
		.bytes_received = c->bytes_received,
		.collectives = c->collectives,
		.collective_bytes_sent = c->collective_bytes_sent,
		.collective_bytes_received = c->collective_bytes_received,
		.collective_ns = c->collective_ns};
}

/* Those of several sizes may be anything. */
static const char *rest_name(const struct row *row)
{
	const struct profile_comm_rest *c = row->at;
	const struct profile_comm sum = sum_of(c);

	return c->size < PROFILE_COMM_SIZES ? report_comm_name(row->r->p, &sum) : NULL;
}

static const char *rest_kind(const struct row *row)
{
	const struct profile_comm sum = sum_of(row->at);

	return report_comm_kind(&sum);
}

static char *rest_label(const struct row *row)
{
	const char *name = rest_name(row);

	return name ? xstrdup(name) : xasprintf("(%s)", rest_kind(row));
}

static uint64_t greatest_size(const struct profile_comm_rest *c)
{
	return c->size < PROFILE_COMM_SIZES ? c->size : 2 * (uint64_t)c->size - 1;
}

static char *rest_sizes(const struct row *row)
{
	const struct profile_comm_rest *c = row->at;

	if (c->size < PROFILE_COMM_SIZES)
		return xasprintf("%" PRIu32, c->size);
	return xasprintf("%" PRIu32 " to %" PRIu64, c->size, greatest_size(c));
}

ROW_VALUE(bool, has_size, profile_comm_rest, at->size)
ROW_VALUE(uint64_t, rest_size_to, profile_comm_rest, greatest_size(at))
/* If all members have used them, and all are of the greatest size. */
ROW_VALUE(uint64_t, rest_least, profile_comm_rest,
	at->ranks / greatest_size(at) + (at->ranks % greatest_size(at) != 0))

/* In the log the line of all MPI_COMM_SELF has these. */
static bool rest_is_shown(const struct row *row)
{
	const struct profile_comm sum = sum_of(row->at);

	return comm_is_used(&sum) && !is_self(row->r->p, &sum);
}

#define REST(title, json, type, member, ...)                                                       \
	COLUMN(title, json, type, struct profile_comm_rest, member, ##__VA_ARGS__)

static const struct column rest_columns[] = {
	COLUMN_GET("Communicators", NULL, MADE, made, rest_label),
	COLUMN_GET(NULL, "name", TEXT, text, rest_name),
	COLUMN_GET(NULL, "kind", TEXT, text, rest_kind),
	COLUMN_GET("Size", NULL, MADE, made, rest_sizes),
	REST(NULL, "from_size", COUNT, size),
	COLUMN_GET(NULL, "to_size", COUNT, count, rest_size_to),
	COLUMN_GET("At least", "at_least", COUNT, count, rest_least, .where = has_size),
	REST("Used by", "ranks", COUNT, ranks),
	REST("Sends", "sends", COUNT, sends),
	REST("Receives", "recvs", COUNT, receives),
	REST("Sent[B]", "bytes_sent", COUNT, bytes_sent),
	REST("Received[B]", "bytes_received", COUNT, bytes_received),
	REST("Collectives", "collectives", COUNT, collectives),
	REST("Sent in them[B]", "collective_bytes_sent", COUNT, collective_bytes_sent,
		.spare = true),
	REST("Received in them[B]", "collective_bytes_received", COUNT, collective_bytes_received,
		.spare = true),
	REST("t_collectives[s]", "t_collective_s", SECONDS, collective_ns, .decimals = 6),
	REST(NULL, "ambiguous_sends", COUNT, ambiguous_sends),
	REST(NULL, "ambiguous_recvs", COUNT, ambiguous_receives),
};

static uint64_t rest_weight(const struct profile *p, uint32_t i)
{
	const struct profile_comm_rest *c = &p->comm_rests[i];

	return c->collective_ns ? c->collective_ns | (uint64_t)1 << 63
				: (c->bytes_sent + c->bytes_received) >> 1;
}

const struct list mpi_comm_rests = LIST(rest_columns, comm_rests,
	.title = "The other communicators by kind and size", .json = "other_communicators",
	.things = "rows", .weight = rest_weight, .shown = rest_is_shown);

static void add_other_selves(struct profile_comm *self, const struct profile *p)
{
	EACH(const struct profile_comm_rest, c, p->comm_rests, p->n_comm_rests) {
		const struct profile_comm sum = sum_of(c);

		if (comm_is_used(&sum) && is_self(p, &sum))
			add_self(self, &sum);
	}
}

void section_comms(FILE *f, const struct report *r)
{
	const struct profile *p = r->p;
	struct profile_comm self = {0};
	struct table *t = columns_table(r, &mpi_comms, 0);
	uint32_t *order = sort_falling(p, p->n_comms, comm_weight);
	size_t used = 0;

	for (size_t i = 0; i < p->n_comms; i++) {
		const struct profile_comm *c = &p->comms[order[i]];

		if (comm_is_used(c) && is_self(p, c))
			add_self(&self, c);
		else if (comm_is_used(c) && used++ < COLUMN_ROWS)
			columns_row(t, &mpi_comms, 0, &(struct row){.r = r, .at = c});
	}
	add_other_selves(&self, p);
	if (comm_is_used(&self))
		columns_row(t, &mpi_comms, 0, &(struct row){.r = r, .at = &self, .more = &self});
	free(order);
	if (!table_rows(t)) {
		table_free(t);
		return;
	}
	columns_end(f, r, t, "Communicators", true);
	columns_more(f, used, "communicators");
}

/* ---- files -------------------------------------------------------------------------------- */

static uint64_t file_bytes(const struct profile *p, uint32_t i)
{
	return p->files[i].bytes_read + p->files[i].bytes_written;
}

ROW_VALUE(double, file_read_bandwidth, profile_file, report_mean(at->bytes_read, at->read_ns) * 1e9)
ROW_VALUE(double, file_write_bandwidth, profile_file,
	report_mean(at->bytes_written, at->write_ns) * 1e9)

#define MPI_FILE(title, json, type, member, ...)                                                   \
	COLUMN(title, json, type, struct profile_file, member, ##__VA_ARGS__)

static const struct column file_columns[] = {
	MPI_FILE("File", "name", TEXT, name, .width = COLUMN_NAME),
	MPI_FILE("Ranks", "ranks", COUNT, ranks),
	MPI_FILE("Opens", "opens", COUNT, opens),
	MPI_FILE("Reads", "reads", COUNT, reads),
	MPI_FILE("Read[B]", "bytes_read", COUNT, bytes_read),
	MPI_FILE("t_read[s]", "t_read_s", SECONDS, read_ns, .decimals = 6),
	COLUMN_GET("read BW[B/s]", NULL, SCIENTIFIC, real, file_read_bandwidth,
		.run = "read rate[B/s]"),
	MPI_FILE("Writes", "writes", COUNT, writes),
	MPI_FILE("Written[B]", "bytes_written", COUNT, bytes_written),
	MPI_FILE("t_write[s]", "t_write_s", SECONDS, write_ns, .decimals = 6),
	COLUMN_GET("write BW[B/s]", NULL, SCIENTIFIC, real, file_write_bandwidth,
		.run = "write rate[B/s]"),
};

const struct list mpi_files = LIST(file_columns, files, .title = "Files opened through MPI",
	.sum = true, .json = "files", .things = "files", .weight = file_bytes);
