/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communication in the logs and in BASE_all.json: messages by call path, MPI functions,
 * and which tables a log has. The columns of the communication profile are an interface: scripts
 * of Vftrace's users read them.
 */
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "nodeagent/report/digest.h"
#include "nodeagent/report/log/internal.h"

static bool is_mpi_run(const struct profile *p)
{
	return p->n_messages || p->n_functions || p->n_pairs || p->n_comms || p->n_comm_rests;
}

/* ---- messages by call path ---------------------------------------------------------------- */

ROW_VALUE(double, messages_sent, profile_messages, report_mean(at->bytes_sent, at->sends))
ROW_VALUE(
	double, messages_received, profile_messages, report_mean(at->bytes_received, at->receives))
ROW_VALUE(double, messages_send_bandwidth, profile_messages,
	report_mean(at->send_bandwidth, at->sends))
ROW_VALUE(double, messages_receive_bandwidth, profile_messages,
	report_mean(at->receive_bandwidth, at->receives))
ROW_VALUE(double, messages_time, profile_messages,
	report_mean((unsigned __int128)at->send_ns + at->receive_ns, at->sends + at->receives) *
		1e-9)
/* Of sends and receives together, each as long as its call took, waiting included. */
ROW_VALUE(double, messages_size, profile_messages,
	report_mean(
		(unsigned __int128)at->bytes_sent + at->bytes_received, at->sends + at->receives))
/* Not the mean of the rates of single messages: size by time of one row are to give it. */
ROW_VALUE(double, messages_rate, profile_messages,
	1e9 * report_mean((unsigned __int128)at->bytes_sent + at->bytes_received,
		      at->send_ns + at->receive_ns))
ROW_VALUE(uint64_t, messages_number, profile_messages, at->sends + at->receives)
ROW_VALUE(uint64_t, messages_ns, profile_messages, at->send_ns + at->receive_ns)
ROW_VALUE(bool, has_messages, profile_messages, at->sends || at->receives)

static uint32_t *messages_order(const struct report *r, size_t *n)
{
	const char *by = r->c->mpi_sort_table_column;
	bool none = !by || !strcmp(by, "none");

	*n = r->p->n_messages;
	return sort_messages(r, by, none || r->c->mpi_sort_table_ascending);
}

enum { WITH_PATHS = 1, OF_VFTRACE = 2, OF_RUN = 4 };

#define MESSAGES(title, json, type, member, ...)                                                   \
	COLUMN(title, json, type, struct profile_messages, member, ##__VA_ARGS__)

static const struct column messages_columns[] = {
	COLUMN_GET("Messages", NULL, COUNT, count, messages_number, .run = "Sends+recvs"),
	COLUMN_GET("avg send size[B]", NULL, SCIENTIFIC, real, messages_sent, .only = OF_VFTRACE),
	COLUMN_GET(
		"avg recv size[B]", NULL, SCIENTIFIC, real, messages_received, .only = OF_VFTRACE),
	COLUMN_GET("avg send BW[B/s]", NULL, SCIENTIFIC, real, messages_send_bandwidth,
		.only = OF_VFTRACE),
	COLUMN_GET("avg recv BW[B/s]", NULL, SCIENTIFIC, real, messages_receive_bandwidth,
		.only = OF_VFTRACE),
	COLUMN_GET("avg comm time[s]", NULL, SCIENTIFIC, real, messages_time, .run = "t_mean[s]"),
	COLUMN_GET("Size[B]", NULL, REAL, real, messages_size, .only = OF_RUN),
	COLUMN_GET("Rate[B/s]", NULL, REAL, real, messages_rate, .only = OF_RUN),
	MESSAGES(NULL, "id", STACK_ID, stack),
	MESSAGES("Function", "function", FUNCTION, stack),
	MESSAGES("Caller", "caller", CALLER, stack),
	MESSAGES("STID", NULL, STACK_ID, stack),
	MESSAGES("Callpath", NULL, PATH, stack, .only = WITH_PATHS),
	MESSAGES(NULL, "sends", COUNT, sends),
	MESSAGES(NULL, "recvs", COUNT, receives),
	MESSAGES(NULL, "bytes_sent", COUNT, bytes_sent),
	MESSAGES(NULL, "bytes_received", COUNT, bytes_received),
	COLUMN_GET(NULL, "t_comm_s", SECONDS, count, messages_ns),
	MESSAGES(NULL, "t_send_s", SECONDS, send_ns),
	MESSAGES(NULL, "t_recv_s", SECONDS, receive_ns),
	COLUMN_GET(NULL, "send_bandwidth", REAL, real, messages_send_bandwidth),
	COLUMN_GET(NULL, "recv_bandwidth", REAL, real, messages_receive_bandwidth),
};

static const struct list messages = LIST(messages_columns, messages, .json = "mpi",
	.order = messages_order, .shown = has_messages, .limited = true);

static void print_messages(FILE *f, const struct report *r)
{
	const struct conf *c = r->c;
	const char *ranks = c->mpi_only_for_ranks;
	const unsigned asked =
		(c->mpi_show_callpath ? WITH_PATHS : 0) | (r->run ? OF_RUN : OF_VFTRACE);
	struct columns_rows rows;
	struct table *t = columns_fill(r, &messages, asked, &rows);
	char *title = ranks && strcmp(ranks, "all")
			      ? xasprintf("Communication profile for ranks: %s", ranks)
			      : xstrdup("Communication profile");

	/* scripts look for it in each log of an MPI run, messages or not */
	if (rows.n || (c->mpi_log_messages && is_mpi_run(r->p))) {
		columns_end(f, r, t, title, true);
		columns_left(f, r, &rows);
	} else {
		table_free(t);
	}
	free(title);
}

/* ---- functions ---------------------------------------------------------------------------- */

ROW_VALUE(const char *, function_name, profile_function, report_function(at))
ROW_VALUE(double, function_mean, profile_function, report_function_mean_s(row->r->p, at))
ROW_VALUE(double, function_imbalance, profile_function, report_function_imbalance(row->r, at))

static uint64_t function_time(const struct profile *p, uint32_t i)
{
	return p->functions[i].ns;
}

/* By time; in layout run the start and the end of MPI, which are no communication, come last. */
static uint32_t *functions_order(const struct report *r, size_t *n)
{
	uint32_t *order, *ends;
	size_t kept = 0, last = 0;

	*n = r->p->n_functions;
	order = sort_falling(r->p, *n, function_time);
	ends = xcalloc(*n + 1, sizeof(*ends));
	for (size_t i = 0; i < *n; i++) {
		const char *name = report_function(&r->p->functions[order[i]]);

		if (r->run && digest_is_start_or_end(name))
			ends[last++] = order[i];
		else
			order[kept++] = order[i];
	}
	for (size_t i = 0; i < last; i++)
		order[kept + i] = ends[i];
	free(ends);
	return order;
}

enum { OVER_RANKS = 1 };

#define FUNCTION(title, json, type, member, ...)                                                   \
	COLUMN(title, json, type, struct profile_function, member, ##__VA_ARGS__)

static const struct column function_columns[] = {
	COLUMN_GET("Function", "function", TEXT, text, function_name),
	FUNCTION("Calls", "calls", COUNT, calls),
	FUNCTION("t_total[s]", "t_s", SECONDS, ns, .decimals = 6),
	FUNCTION("t_min[s]", "t_min_s", SECONDS, min_ns, .decimals = 6, .only = OVER_RANKS,
		.spare = true),
	FUNCTION("on rank", NULL, RANK, rank_min, .only = OVER_RANKS, .spare = true),
	FUNCTION("t_max[s]", "t_max_s", SECONDS, max_ns, .decimals = 6, .only = OVER_RANKS),
	FUNCTION("on rank", NULL, RANK, rank_max, .only = OVER_RANKS),
	COLUMN_GET("t_avg[s]", "t_avg_s", REAL, real, function_mean, .decimals = 6,
		.only = OVER_RANKS, .spare = true),
	FUNCTION(NULL, "rank_min", RANK, rank_min),
	FUNCTION(NULL, "rank_max", RANK, rank_max),
	FUNCTION(NULL, "ranks", COUNT, ranks),
	/* other than in the runtime profile */
	COLUMN_GET("Imbalance[%]", "imbalance_percent", REAL, real, function_imbalance, .width = 6,
		.decimals = 2, .only = OVER_RANKS),
	FUNCTION("Sends", "sends", COUNT, sends),
	FUNCTION("Receives", "recvs", COUNT, receives),
	FUNCTION("Sent[B]", "bytes_sent", COUNT, bytes_sent),
	FUNCTION("Received[B]", "bytes_received", COUNT, bytes_received, .spare = true),
};

static const struct list functions = LIST(function_columns, functions, .title = "MPI functions",
	.sum = true, .json = "mpi_functions", .order = functions_order);

/* ---- all of it ---------------------------------------------------------------------------- */

bool report_has_mpi(const struct profile *p, const struct conf *c)
{
	return c->mpi_show_table && is_mpi_run(p);
}

void section_mpi(FILE *f, const struct report *r)
{
	if (!r->c->mpi_show_table)
		return;
	print_messages(f, r);
	columns_print(f, r, &functions, r->process ? 0 : OVER_RANKS);
	section_sizes(f, r);
	if (r->process)
		section_peers(f, r, r->process->rank);
	else
		section_matrix(f, r);
	section_comms(f, r);
	columns_print(f, r, &mpi_comm_rests, 0);
	columns_print(f, r, &mpi_files, 0);
}

#define PLACE(json, type, member, ...)                                                             \
	COLUMN(NULL, json, type, struct profile_rank_range, member, ##__VA_ARGS__)

ROW_VALUE(bool, has_step, profile_rank_range, at->step)

static const struct column place_columns[] = {
	PLACE("host", TEXT, host),
	PLACE("first", RANK, first),
	PLACE("last", RANK, last),
	PLACE("step", COUNT, step, .where = has_step),
};

static const struct list rank_ranges = LIST(place_columns, rank_ranges, .json = "places");

void json_mpi(struct json *j, const struct report *r)
{
	columns_json(j, r, &messages);
	columns_json(j, r, &functions);
	columns_json(j, r, &mpi_sizes);
	json_uint(j, "communication_matrix_ranks", r->p->pair_ranks ? r->p->pair_ranks : 1);
	columns_json(j, r, &mpi_pairs);
	columns_json(j, r, &mpi_comms);
	if (r->p->n_comm_rests)
		columns_json(j, r, &mpi_comm_rests);
	columns_json(j, r, &mpi_files);
	columns_json(j, r, &rank_ranges);
	json_uint(j, "lost_messages", r->p->lost_messages);
	json_open_requests(j, r);
	json_uint(j, "ambiguous_sends", r->p->ambiguous_sends);
	json_uint(j, "ambiguous_recvs", r->p->ambiguous_receives);
}
