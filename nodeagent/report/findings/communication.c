/* SPDX-License-Identifier: BSD-3-Clause */
/* Time in MPI, by what explains it. */
#include "nodeagent/report/findings/internal.h"
#include "nodeagent/report/waits.h"

#include <stdlib.h>
#include <string.h>

#define ONE_SENDER   0.5  /* of all waits for late senders: then this one is to be mended */
#define SMALL_BYTES  4096 /* mean of small messages */
#define QUICK_S	     1e-4 /* a message that takes longer waits for something else */
#define USUAL_ENDS_S 1.0  /* of a rank: so long MPI may take to start and end anywhere */

/* ---- late senders -------------------------------------------------------------------------- */

bool look_late_sender(const struct facts *facts, struct finding *f)
{
	const struct digest_late *late = &facts->d.late;
	const struct finding *balance = found_by(facts, "load_balance");
	const bool is_one = late->rank != PROFILE_NONE &&
			    (double)late->rank_ns >= ONE_SENDER * (double)late->ns;

	/* the same time, seen by those who wait */
	if (!late->ns || waits_any(facts->p, WAITS_FOR_RANKS) ||
		(is_one && balance && proven_count(balance, "rank") == late->rank))
		return false;
	f->seconds = s_of(late->ns);
	if (late->rank == PROFILE_NONE)
		finding_say(f, "Receives wait %s for messages that are not sent yet.",
			amount_of(facts, f->seconds).text);
	else
		finding_say(f,
			"Receives wait %s for messages that are not sent yet, %.0f %% of it for "
			"rank %" PRIu32 ".",
			amount_of(facts, f->seconds).text,
			100.0 * (double)late->rank_ns / (double)late->ns, late->rank);
	prove_seconds(f, "t_s", f->seconds);
	if (late->rank != PROFILE_NONE) {
		prove_count(f, "rank", late->rank);
		prove_seconds(f, "t_rank_s", s_of(late->rank_ns));
	}
	return true;
}

/* ---- point-to-point ------------------------------------------------------------------------ */

static bool is_pairwise(const char *name)
{
	static const char *const names[] = {"MPI_Send", "MPI_Isend", "MPI_Ssend", "MPI_Issend",
		"MPI_Bsend", "MPI_Ibsend", "MPI_Rsend", "MPI_Irsend", "MPI_Recv", "MPI_Irecv",
		"MPI_Mrecv", "MPI_Imrecv", "MPI_Sendrecv", "MPI_Sendrecv_replace", "MPI_Start",
		"MPI_Startall", "MPI_Wait", "MPI_Waitall", "MPI_Waitany", "MPI_Waitsome",
		"MPI_Test", "MPI_Testall", "MPI_Testany", "MPI_Testsome", "MPI_Probe",
		"MPI_Iprobe"};

	return ANY(i, ARRAY_SIZE(names), !strcmp(name, names[i]));
}

bool look_small_messages(const struct facts *facts, struct finding *f)
{
	const struct profile *p = facts->p;
	uint64_t sends = 0, receives = 0, sent = 0, received = 0, ns = 0, messages, bytes;
	const double late_s = s_of(facts->d.late.ns);

	for (size_t i = 0; i < p->n_sizes; i++) {
		sends += p->sizes[i].sends;
		receives += p->sizes[i].receives;
		sent += p->sizes[i].bytes_sent;
		received += p->sizes[i].bytes_received;
	}
	for (size_t i = 0; i < p->n_functions; i++)
		if (is_pairwise(report_function(&p->functions[i])))
			ns += p->functions[i].ns;
	messages = sends > receives ? sends : receives;
	bytes = sends > receives ? sent : received;
	if (!messages || bytes > messages * SMALL_BYTES || s_of(ns) <= late_s ||
		(s_of(ns) - late_s) / (double)messages > QUICK_S)
		return false;
	f->seconds = s_of(ns) - late_s;
	finding_say(f, "Sending and receiving take %s for %s messages of %s on average.",
		amount_of(facts, f->seconds).text, quantity_count((double)messages).text,
		quantity_bytes((double)bytes / (double)messages).text);
	prove_count(f, "messages", messages);
	prove_count(f, "bytes", bytes);
	prove_seconds(f, "t_s", s_of(ns));
	prove_seconds(f, "t_late_s", late_s);
	prove_ratio(f, "messages_per_s_and_rank",
		p->runtime_s > 0.0 ? (double)messages / p->runtime_s / report_all_ranks(p) : NAN);
	return true;
}

/* ---- what is left -------------------------------------------------------------------------- */

static uint32_t slowest_mpi(const struct facts *facts)
{
	uint32_t most = PROFILE_NONE;

	for (uint32_t i = 0; i < facts->p->n_stacks; i++)
		if (digest_part(facts->r, i) == DIGEST_MPI &&
			(most == PROFILE_NONE ||
				facts->p->stacks[i].excl_ns > facts->p->stacks[most].excl_ns))
			most = i;
	return most;
}

static double seconds_of(const struct facts *facts, const char *rule)
{
	const struct finding *f = found_by(facts, rule);

	return f ? f->seconds : 0.0;
}

/* Where CPUs are too few, who waits in MPI may wait for one that has none. */
static double without_cpu(const struct facts *facts)
{
	return digest_is_starved(facts->r) ? s_of(facts->p->cpu.queued_ns) : 0.0;
}

/* The time in MPI of the rank with the most work: it does not wait for another one's work. */
static double mpi_of_slowest(const struct facts *facts)
{
	EACH(const struct profile_rank_time, t, facts->p->rank_times, facts->p->n_rank_times)
		if (!t->others && profile_rank_shown(facts->p, t->rank) == facts->e.rank_max)
			return s_of(t->mpi_ns);
	return 0.0;
}

bool look_communication(const struct facts *facts, struct finding *f)
{
	const struct efficiency *e = &facts->e;
	uint32_t stack;
	double own_s;
	char *path;

	if (!facts->has_efficiency || facts->is_cut)
		return false;
	own_s = mpi_of_slowest(facts);
	stack = slowest_mpi(facts);
	f->seconds = e->ranks * own_s - seconds_of(facts, "late_sender") -
		     seconds_of(facts, "late_rank") - seconds_of(facts, "waits") -
		     seconds_of(facts, "small_messages") - without_cpu(facts);
	if (stack == PROFILE_NONE || f->seconds <= 0.0)
		return false;
	path = short_path(facts->r, stack);
	finding_say(f,
		"Also rank %" PRIu32 ", which works most, is in MPI for %s: of all ranks %s, the "
		"largest part in %s.",
		e->rank_max, quantity_seconds(own_s).text, amount_of(facts, f->seconds).text, path);
	free(path);
	prove_count(f, "rank", e->rank_max);
	prove_seconds(f, "mpi_s", own_s);
	prove_ratio(f, "communication", e->communication);
	prove_stack(f, facts->r, stack);
	prove_seconds(f, "t_excl_s", s_of(facts->p->stacks[stack].excl_ns));
	prove_doubts(f, facts);
	return true;
}

bool look_start_end(const struct facts *facts, struct finding *f)
{
	const struct profile *p = facts->p;
	uint64_t end_ns = 0;

	if (!facts->d.part_ns[DIGEST_MPI_ENDS])
		return false;
	for (uint32_t i = 0; i < p->n_stacks; i++)
		if (digest_part(facts->r, i) == DIGEST_MPI_ENDS &&
			strstr(p->names[p->stacks[i].name], "inalize"))
			end_ns += p->stacks[i].excl_ns;
	f->seconds = s_of(facts->d.part_ns[DIGEST_MPI_ENDS]);
	if (f->seconds < USUAL_ENDS_S * report_all_ranks(p))
		return false;
	if (end_ns)
		finding_say(f, "MPI_Init and MPI_Finalize take %s, %s of it at the end.",
			amount_of(facts, f->seconds).text, quantity_seconds(s_of(end_ns)).text);
	else
		finding_say(
			f, "MPI_Init and MPI_Finalize take %s.", amount_of(facts, f->seconds).text);
	prove_seconds(f, "mpi_start_end_s", f->seconds);
	prove_seconds(f, "mpi_end_s", s_of(end_ns));
	return true;
}
