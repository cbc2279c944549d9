/* SPDX-License-Identifier: BSD-3-Clause */
/* The members of BASE_all.json about communication: vftr-profile(5). */
#include <inttypes.h>

#include "nodeagent/json.h"
#include "nodeagent/report.h"

static void write_messages(struct json *j, const struct report *r)
{
	const struct profile *p = r->p;

	json_array(j, "mpi");
	for (size_t i = 0; i < p->n_messages; i++) {
		const struct profile_messages *m = &p->messages[i];
		uint32_t parent = r->parent[m->stack];

		json_object(j, NULL);
		json_uint(j, "id", r->id[m->stack]);
		json_string(j, "function", r->shown[p->stacks[m->stack].name]);
		json_string(j, "caller",
			parent == PROFILE_NONE ? NULL : r->shown[p->stacks[parent].name]);
		json_uint(j, "sends", m->sends);
		json_uint(j, "recvs", m->receives);
		json_uint(j, "bytes_sent", m->bytes_sent);
		json_uint(j, "bytes_received", m->bytes_received);
		json_seconds(j, "t_comm_s", m->send_ns + m->receive_ns);
		json_seconds(j, "t_send_s", m->send_ns);
		json_seconds(j, "t_recv_s", m->receive_ns);
		json_real(j, "send_bandwidth", report_mean(m->send_bandwidth, m->sends));
		json_real(j, "recv_bandwidth", report_mean(m->receive_bandwidth, m->receives));
		json_close(j);
	}
	json_close(j);
}

static void write_functions(struct json *j, const struct report *r)
{
	const struct profile *p = r->p;

	json_array(j, "mpi_functions");
	for (size_t i = 0; i < p->n_functions; i++) {
		const struct profile_function *f = &p->functions[i];

		json_object(j, NULL);
		json_string(j, "function", report_function(f));
		json_uint(j, "calls", f->calls);
		json_seconds(j, "t_s", f->ns);
		json_seconds(j, "t_min_s", f->min_ns);
		json_seconds(j, "t_max_s", f->max_ns);
		json_real(j, "t_avg_s", report_function_mean_s(p, f));
		json_uint(j, "rank_min", profile_rank_shown(p, f->rank_min));
		json_uint(j, "rank_max", profile_rank_shown(p, f->rank_max));
		json_uint(j, "ranks", f->ranks);
		json_real(j, "imbalance_percent", report_function_imbalance(r, f));
		json_uint(j, "sends", f->sends);
		json_uint(j, "recvs", f->receives);
		json_uint(j, "bytes_sent", f->bytes_sent);
		json_uint(j, "bytes_received", f->bytes_received);
		json_close(j);
	}
	json_close(j);
}

/* Of the sizes of one class, the least (last: the greatest). */
static uint64_t bound(uint32_t log2, bool last)
{
	if (!log2)
		return 0;
	if (!last)
		return (uint64_t)1 << (log2 - 1);
	return log2 < 64 ? ((uint64_t)1 << log2) - 1 : UINT64_MAX;
}

static void write_sizes(struct json *j, const struct profile *p)
{
	json_array(j, "message_sizes");
	for (size_t i = 0; i < p->n_sizes; i++) {
		const struct profile_size *s = &p->sizes[i];

		json_object(j, NULL);
		json_uint(j, "from_bytes", bound(s->log2, false));
		json_uint(j, "to_bytes", bound(s->log2, true));
		json_uint(j, "sends", s->sends);
		json_uint(j, "recvs", s->receives);
		json_uint(j, "bytes_sent", s->bytes_sent);
		json_uint(j, "bytes_received", s->bytes_received);
		json_close(j);
	}
	json_close(j);
}

static void write_rank(struct json *j, const char *key, const struct profile *p, uint32_t rank)
{
	if (rank == PROFILE_ELSEWHERE)
		json_string(j, key, NULL);
	else
		json_uint(j, key, profile_rank_shown(p, rank));
}

static void write_matrix(struct json *j, const struct profile *p)
{
	json_uint(j, "communication_matrix_ranks", p->pair_ranks ? p->pair_ranks : 1);
	json_array(j, "communication_matrix");
	for (size_t i = 0; i < p->n_pairs; i++) {
		const struct profile_pair *q = &p->pairs[i];

		json_object(j, NULL);
		write_rank(j, "from", p, q->from);
		write_rank(j, "to", p, q->to);
		json_uint(j, "sends", q->sends);
		json_uint(j, "bytes_sent", q->bytes_sent);
		json_uint(j, "recvs", q->receives);
		json_uint(j, "bytes_received", q->bytes_received);
		json_close(j);
	}
	json_close(j);
}

static void write_comms(struct json *j, const struct profile *p)
{
	json_array(j, "communicators");
	for (size_t i = 0; i < p->n_comms; i++) {
		const struct profile_comm *c = &p->comms[i];
		char id[17];

		snprintf(id, sizeof(id), "%016" PRIx64, c->id);
		json_object(j, NULL);
		json_string(j, "id", id);
		json_string(j, "name", report_comm_name(p, c));
		json_string(j, "kind", report_comm_kind(c));
		json_uint(j, "size", c->size);
		json_uint(j, "remote_size", c->remote_size);
		json_uint(j, "ranks", c->ranks);
		json_uint(j, "sends", c->sends);
		json_uint(j, "recvs", c->receives);
		json_uint(j, "bytes_sent", c->bytes_sent);
		json_uint(j, "bytes_received", c->bytes_received);
		json_uint(j, "collectives", c->collectives);
		json_uint(j, "collective_bytes_sent", c->collective_bytes_sent);
		json_uint(j, "collective_bytes_received", c->collective_bytes_received);
		json_seconds(j, "t_collective_s", c->collective_ns);
		json_uint(j, "ambiguous_sends", c->ambiguous_sends);
		json_uint(j, "ambiguous_recvs", c->ambiguous_receives);
		json_close(j);
	}
	json_close(j);
}

static void write_files(struct json *j, const struct profile *p)
{
	json_array(j, "files");
	for (size_t i = 0; i < p->n_files; i++) {
		const struct profile_file *f = &p->files[i];

		json_object(j, NULL);
		json_string(j, "name", f->name);
		json_uint(j, "ranks", f->ranks);
		json_uint(j, "opens", f->opens);
		json_uint(j, "reads", f->reads);
		json_uint(j, "bytes_read", f->bytes_read);
		json_seconds(j, "t_read_s", f->read_ns);
		json_uint(j, "writes", f->writes);
		json_uint(j, "bytes_written", f->bytes_written);
		json_seconds(j, "t_write_s", f->write_ns);
		json_close(j);
	}
	json_close(j);
}

static void write_places(struct json *j, const struct profile *p)
{
	json_array(j, "places");
	for (size_t i = 0; i < p->n_places; i++) {
		const struct profile_place *q = &p->places[i];

		json_object(j, NULL);
		json_string(j, "host", q->host);
		json_uint(j, "first", profile_rank_shown(p, q->first));
		json_uint(j, "last", profile_rank_shown(p, q->last));
		json_close(j);
	}
	json_close(j);
}

void json_mpi(struct json *j, const struct report *r)
{
	write_messages(j, r);
	write_functions(j, r);
	write_sizes(j, r->p);
	write_matrix(j, r->p);
	write_comms(j, r->p);
	write_files(j, r->p);
	write_places(j, r->p);
	json_uint(j, "lost_messages", r->p->lost_messages);
	json_open_requests(j, r);
	json_uint(j, "ambiguous_sends", r->p->ambiguous_sends);
	json_uint(j, "ambiguous_recvs", r->p->ambiguous_receives);
}
