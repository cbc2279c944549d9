/* SPDX-License-Identifier: BSD-3-Clause */
/* The sorted lists of a profile, each with unique keys: communication, times of threads. */
#include "nodeagent/profile-mpi.h"

#include <stdlib.h>
#include <string.h>

#include "nodeagent/calltree.h"
#include "nodeagent/compare.h"
#include "nodeagent/profile.h"
#include "nodeagent/user-counters.h"
#include "nodeagent/util.h"

#define NO_TEXT	  SIZE_MAX
#define TIME_MOST (INT64_MAX / 4) /* ns: 73 years */

#define BY(type, member)                                                                           \
	static int type##_cmp(const void *x, const void *y)                                        \
	{                                                                                          \
		const struct profile_##type *a = x, *b = y;                                        \
                                                                                                   \
		COMPARE(a->member, b->member);                                                     \
		return 0;                                                                          \
	}

BY(messages, stack)
BY(function, id)
BY(size, log2)
BY(comm, id)
BY(place, first)
BY(thread_range, stack)
BY(openmp, stack)
BY(bad_end, rank)
BY(counter, number)

static int open_cmp(const void *x, const void *y)
{
	const struct profile_open *a = x, *b = y;

	COMPARE(a->stack, b->stack);
	COMPARE(a->kind, b->kind);
	return 0;
}

static int pair_cmp(const void *x, const void *y)
{
	const struct profile_pair *a = x, *b = y;

	COMPARE(a->from, b->from);
	COMPARE(a->to, b->to);
	return 0;
}

static int thread_pair_cmp(const void *x, const void *y)
{
	const struct profile_thread_pair *a = x, *b = y;

	COMPARE(a->from, b->from);
	COMPARE(a->from_thread, b->from_thread);
	COMPARE(a->to, b->to);
	COMPARE(a->to_thread, b->to_thread);
	return 0;
}

static int user_counter_cmp(const void *x, const void *y)
{
	const struct profile_user_counter *a = x, *b = y;

	const int order = strcmp(a->name, b->name);

	COMPARE(a->rank, b->rank);
	if (order)
		return order;
	COMPARE(a->real, b->real);
	return 0;
}

static int switched_cmp(const void *x, const void *y)
{
	return strcmp(((const struct profile_switched *)x)->name,
		((const struct profile_switched *)y)->name);
}

static int count_cmp(const void *x, const void *y)
{
	const struct profile_count *a = x, *b = y;

	COMPARE(a->stack, b->stack);
	COMPARE(a->counter, b->counter);
	return 0;
}

static int file_cmp(const void *x, const void *y)
{
	const struct profile_file *a = x, *b = y;

	return strcmp(a->name, b->name);
}

static void add_messages(void *x, const void *y)
{
	struct profile_messages *to = x;
	const struct profile_messages *from = y;

	to->sends += from->sends;
	to->receives += from->receives;
	to->bytes_sent += from->bytes_sent;
	to->bytes_received += from->bytes_received;
	to->send_ns += from->send_ns;
	to->receive_ns += from->receive_ns;
	to->send_bandwidth += from->send_bandwidth;
	to->receive_bandwidth += from->receive_bandwidth;
}

static void add_function(void *x, const void *y)
{
	struct profile_function *to = x;
	const struct profile_function *from = y;

	if (from->ranks && (!to->ranks || from->min_ns < to->min_ns ||
				   (from->min_ns == to->min_ns && from->rank_min < to->rank_min))) {
		to->min_ns = from->min_ns;
		to->rank_min = from->rank_min;
	}
	if (from->ranks && (!to->ranks || from->max_ns > to->max_ns ||
				   (from->max_ns == to->max_ns && from->rank_max < to->rank_max))) {
		to->max_ns = from->max_ns;
		to->rank_max = from->rank_max;
	}
	to->ranks += from->ranks;
	to->calls += from->calls;
	to->ns += from->ns;
	to->sumsq_ns2 += from->sumsq_ns2;
	to->sends += from->sends;
	to->receives += from->receives;
	to->bytes_sent += from->bytes_sent;
	to->bytes_received += from->bytes_received;
}

static void add_size(void *x, const void *y)
{
	struct profile_size *to = x;
	const struct profile_size *from = y;

	to->sends += from->sends;
	to->receives += from->receives;
	to->bytes_sent += from->bytes_sent;
	to->bytes_received += from->bytes_received;
}

static void add_pair(void *x, const void *y)
{
	struct profile_pair *to = x;
	const struct profile_pair *from = y;

	to->sends += from->sends;
	to->bytes_sent += from->bytes_sent;
	to->receives += from->receives;
	to->bytes_received += from->bytes_received;
}

/*
 * Members may see one communicator differently: the two sides of an
 * intercommunicator, or one that has not seen it being made.
 */
static void add_comm(void *x, const void *y)
{
	struct profile_comm *to = x;
	const struct profile_comm *from = y;

	if (from->kind < to->kind)
		to->kind = from->kind;
	if (from->size > to->size ||
		(from->size == to->size && from->remote_size > to->remote_size)) {
		to->size = from->size;
		to->remote_size = from->remote_size;
	}
	to->ranks += from->ranks;
	to->sends += from->sends;
	to->receives += from->receives;
	to->bytes_sent += from->bytes_sent;
	to->bytes_received += from->bytes_received;
	to->collectives += from->collectives;
	to->collective_bytes_sent += from->collective_bytes_sent;
	to->collective_bytes_received += from->collective_bytes_received;
	to->collective_ns += from->collective_ns;
	to->ambiguous_sends += from->ambiguous_sends;
	to->ambiguous_receives += from->ambiguous_receives;
}

static void add_file(void *x, const void *y)
{
	struct profile_file *to = x;
	const struct profile_file *from = y;

	to->ranks += from->ranks;
	to->opens += from->opens;
	to->reads += from->reads;
	to->writes += from->writes;
	to->bytes_read += from->bytes_read;
	to->bytes_written += from->bytes_written;
	to->read_ns += from->read_ns;
	to->write_ns += from->write_ns;
}

static void add_open(void *x, const void *y)
{
	struct profile_open *to = x;
	const struct profile_open *from = y;

	LEAST(to, from, rank_min);
	MOST(to, from, rank_max);
	to->ranks += from->ranks;
	to->requests += from->requests;
}

/* Of two processes of one rank the one that was first. */
static void add_bad_end(void *x, const void *y)
{
	struct profile_bad_end *to = x;
	const struct profile_bad_end *from = y;

	if (from->end_ns < to->end_ns || (from->end_ns == to->end_ns && from->pid < to->pid))
		*to = *from;
}

/* By time, then by rank and thread, so that the order of adding does not matter. */
static bool is_less(uint64_t ns, uint32_t rank, uint32_t thread, uint64_t than_ns,
	uint32_t than_rank, uint32_t than_thread)
{
	if (ns != than_ns)
		return ns < than_ns;
	return rank != than_rank ? rank < than_rank : thread < than_thread;
}

static void add_thread_range(void *x, const void *y)
{
	struct profile_thread_range *to = x;
	const struct profile_thread_range *from = y;

	to->threads += from->threads;
	if (is_less(from->min_ns, from->rank_min, from->thread_min, to->min_ns, to->rank_min,
		    to->thread_min)) {
		to->min_ns = from->min_ns;
		to->rank_min = from->rank_min;
		to->thread_min = from->thread_min;
	}
	/* the least of those with the greatest time */
	if (is_less(to->max_ns, from->rank_max, from->thread_max, from->max_ns, to->rank_max,
		    to->thread_max)) {
		to->max_ns = from->max_ns;
		to->rank_max = from->rank_max;
		to->thread_max = from->thread_max;
	}
}

static void add_openmp(void *x, const void *y)
{
	struct profile_openmp *to = x;
	const struct profile_openmp *from = y;

	if (from->calls && (!to->calls || from->size_min < to->size_min))
		to->size_min = from->size_min;
	if (from->size_max > to->size_max)
		to->size_max = from->size_max;
	to->ranks += from->ranks;
	to->calls += from->calls;
	to->threads += from->threads;
	to->wall_ns += from->wall_ns;
	to->busy_ns += from->busy_ns;
	to->average_ns += from->average_ns;
	to->most_ns += from->most_ns;
	to->barrier_ns += from->barrier_ns;
	to->wait_ns += from->wait_ns;
	to->join_ns += from->join_ns;
	to->start_ns += from->start_ns;
	to->tasks += from->tasks;
	to->task_ns += from->task_ns;
}

static void add_thread_pair(void *x, const void *y)
{
	struct profile_thread_pair *to = x;
	const struct profile_thread_pair *from = y;

	to->messages += from->messages;
	to->bytes += from->bytes;
}

static void add_counter(void *x, const void *y)
{
	struct profile_counter *to = x;
	const struct profile_counter *from = y;

	if (from->source > to->source)
		to->source = from->source;
	to->enabled_ns += from->enabled_ns;
	to->running_ns += from->running_ns;
}

static void add_count(void *x, const void *y)
{
	((struct profile_count *)x)->value += ((const struct profile_count *)y)->value;
}

static void add_switched(void *x, const void *y)
{
	struct profile_switched *to = x;
	const struct profile_switched *from = y;

	LEAST(to, from, from_ns);
	to->calls += from->calls;
	to->processes += from->processes;
}

static void add_user_counter(void *x, const void *y)
{
	struct profile_user_counter *to = x;
	const struct profile_user_counter *from = y;
	union user_value sum = {.bits = to->sum}, more = {.bits = from->sum};

	if (user_value_less(to->real, (union user_value){.bits = from->min},
		    (union user_value){.bits = to->min}))
		to->min = from->min;
	if (user_value_less(to->real, (union user_value){.bits = to->max},
		    (union user_value){.bits = from->max}))
		to->max = from->max;
	if (from->last_ns > to->last_ns) {
		to->last = from->last;
		to->last_ns = from->last_ns;
	}
	to->values += from->values;
	sum.real += more.real;
	to->sum = sum.bits;
}

#define LIST(type, member, text, add)                                                              \
	{                                                                                          \
		offsetof(struct profile, n_##member), offsetof(struct profile, member),            \
			sizeof(struct profile_##type), text, type##_cmp, add                       \
	}

#define GPU_LIST(type, member, text)                                                               \
	{                                                                                          \
		offsetof(struct profile, n_##member), offsetof(struct profile, member),            \
			sizeof(struct profile_##type), text, profile_##type##_cmp,                 \
			profile_##type##_add                                                       \
	}

const struct profile_list profile_lists[PROFILE_N_LISTS] = {
	LIST(messages, messages, NO_TEXT, add_messages),
	LIST(function, functions, NO_TEXT, add_function),
	LIST(size, sizes, NO_TEXT, add_size),
	LIST(pair, pairs, NO_TEXT, add_pair),
	LIST(comm, comms, offsetof(struct profile_comm, name), add_comm),
	LIST(file, files, offsetof(struct profile_file, name), add_file),
	LIST(place, places, offsetof(struct profile_place, host), NULL),
	LIST(open, open, NO_TEXT, add_open),
	LIST(bad_end, ends, NO_TEXT, add_bad_end),
	LIST(thread_range, thread_ranges, NO_TEXT, add_thread_range),
	LIST(openmp, openmp, NO_TEXT, add_openmp),
	LIST(thread_pair, thread_pairs, NO_TEXT, add_thread_pair),
	LIST(counter, counters, offsetof(struct profile_counter, name), add_counter),
	LIST(count, counts, NO_TEXT, add_count),
	GPU_LIST(gpu, gpu, offsetof(struct profile_gpu, name)),
	GPU_LIST(gpu_stream, gpu_streams, offsetof(struct profile_gpu_stream, name)),
	LIST(user_counter, user_counters, offsetof(struct profile_user_counter, name),
		add_user_counter),
	LIST(switched, switched, offsetof(struct profile_switched, name), add_switched),
	GPU_LIST(gpu_device, gpu_devices, offsetof(struct profile_gpu_device, name)),
	GPU_LIST(gpu_link, gpu_links, NO_TEXT),
	GPU_LIST(gpu_wait, gpu_waits, offsetof(struct profile_gpu_wait, name)),
	GPU_LIST(openacc, openacc, offsetof(struct profile_openacc, text)),
};

static size_t *count_of(struct profile *p, const struct profile_list *l)
{
	return (size_t *)((char *)p + l->count);
}

static void **array_of(struct profile *p, const struct profile_list *l)
{
	return (void **)((char *)p + l->array);
}

static char **text_of(void *array, size_t i, const struct profile_list *l)
{
	return (char **)((char *)array + i * l->element_bytes + l->text);
}

void profile_mpi_free(struct profile *p)
{
	for (const struct profile_list *l = profile_lists; l < profile_lists + PROFILE_N_LISTS;
		l++) {
		void **array = array_of(p, l);

		for (size_t i = 0; l->text != NO_TEXT && i < *count_of(p, l); i++)
			free(*text_of(*array, i, l));
		free(*array);
		*array = NULL;
		*count_of(p, l) = 0;
	}
}

void profile_mpi_copy(struct profile *c)
{
	for (const struct profile_list *l = profile_lists; l < profile_lists + PROFILE_N_LISTS;
		l++) {
		size_t n = *count_of(c, l);
		void **array = array_of(c, l), *copy = xcalloc(n, l->element_bytes);

		if (n)
			memcpy(copy, *array, n * l->element_bytes);
		for (size_t i = 0; l->text != NO_TEXT && i < n; i++) {
			char **text = text_of(copy, i, l);

			*text = *text ? xstrdup(*text) : NULL;
		}
		*array = copy;
	}
}

static bool is_sorted(const struct profile *p, const struct profile_list *l)
{
	size_t n = *(const size_t *)((const char *)p + l->count);
	const char *at = *(const char *const *)((const char *)p + l->array);

	for (size_t i = 1; i < n; i++)
		if (l->cmp(at + (i - 1) * l->element_bytes, at + i * l->element_bytes) >= 0)
			return false;
	return true;
}

static bool is_rank(const struct profile *p, uint32_t rank)
{
	return rank < PROFILE_UNRANKED || rank - PROFILE_UNRANKED < p->unranked;
}

static bool is_end_of_pair(const struct profile *p, uint32_t rank)
{
	return rank == PROFILE_ELSEWHERE || is_rank(p, rank);
}

const char *profile_mpi_valid(const struct profile *p)
{
	for (size_t i = 0; i < p->n_messages; i++)
		if (p->messages[i].stack >= p->n_stacks)
			return "messages belong to a stack that is not in the profile";
	for (size_t i = 0; i < p->n_open; i++) {
		const struct profile_open *o = &p->open[i];

		if (o->stack >= p->n_stacks || o->kind >= OPEN_KINDS || !is_rank(p, o->rank_min) ||
			!is_rank(p, o->rank_max))
			return "open requests that cannot be";
	}
	for (size_t i = 0; i < p->n_ends; i++) {
		const struct profile_bad_end *e = &p->ends[i];

		if (e->rank >= PROFILE_UNRANKED || e->exit_status <= 0 || e->end_ns < -TIME_MOST ||
			e->end_ns > TIME_MOST ||
			(e->end != PROCESS_EXITED && e->end != PROCESS_KILLED))
			return "the end of a rank that cannot be";
	}
	if (p->begin_ns < -TIME_MOST || p->begin_ns > TIME_MOST)
		return "a begin that cannot be";
	for (size_t i = 0; i < p->n_sizes; i++)
		if (p->sizes[i].log2 > 64)
			return "messages are larger than 2^64 bytes";
	for (size_t i = 0; i < p->n_pairs; i++)
		if (!is_end_of_pair(p, p->pairs[i].from) || !is_end_of_pair(p, p->pairs[i].to))
			return "a message's rank is not in the profile";
	if (profile_pairs_valid(p))
		return profile_pairs_valid(p);
	for (size_t i = 0; i < p->n_thread_pairs; i++)
		if (!is_end_of_pair(p, p->thread_pairs[i].from) ||
			!is_end_of_pair(p, p->thread_pairs[i].to))
			return "a thread's rank is not in the profile";
	if (p->matching.violations && (!is_end_of_pair(p, p->matching.worst_from) ||
					      !is_end_of_pair(p, p->matching.worst_to)))
		return "the rank of a matched message is not in the profile";
	for (size_t i = 0; i < p->n_thread_ranges; i++) {
		const struct profile_thread_range *t = &p->thread_ranges[i];

		if (t->stack >= p->n_stacks || !t->threads || t->min_ns > t->max_ns ||
			!is_rank(p, t->rank_min) || !is_rank(p, t->rank_max))
			return "times of threads that cannot be";
	}
	for (size_t i = 0; i < p->n_openmp; i++)
		if (p->openmp[i].stack >= p->n_stacks)
			return "a parallel region is a stack that is not in the profile";
	for (size_t i = 0; i < p->n_counters; i++)
		if (!p->counters[i].name)
			return "a counter has no name";
	for (size_t i = 0; i < p->n_counts; i++)
		if (p->counts[i].stack >= p->n_stacks)
			return "a counter counted at a stack that is not in the profile";
	for (size_t i = 0; i < p->n_gpu_streams; i++)
		if (!is_rank(p, p->gpu_streams[i].rank))
			return "a stream's rank is not in the profile";
	for (size_t i = 0; i < p->n_gpu_devices; i++)
		if (!is_rank(p, p->gpu_devices[i].rank))
			return "a GPU's rank is not in the profile";
	if (profile_gpu_valid(p))
		return profile_gpu_valid(p);
	if (profile_openacc_valid(p))
		return profile_openacc_valid(p);
	for (size_t i = 0; i < p->n_user_counters; i++)
		if (!is_rank(p, p->user_counters[i].rank) || !p->user_counters[i].name)
			return "a counter's rank is not in the profile";
	for (size_t i = 0; i < p->n_switched; i++)
		if (!p->switched[i].name)
			return "a function that was switched off has no name";
	for (size_t i = 0; i < p->n_files; i++)
		if (!p->files[i].name)
			return "a file has no name";
	for (size_t i = 0; i < p->n_places; i++) {
		const struct profile_place *q = &p->places[i];

		if (!q->host)
			return "a place has no host";
		if (q->first > q->last || !is_rank(p, q->first) || !is_rank(p, q->last) ||
			(q->first < PROFILE_UNRANKED) != (q->last < PROFILE_UNRANKED))
			return "a place is no range of ranks";
		if (i && q->first <= q[-1].last)
			return "the places overlap or are not sorted";
	}
	for (size_t i = 0; i < PROFILE_N_LISTS; i++)
		if (!is_sorted(p, &profile_lists[i]))
			return "P5: an array of communication or of threads is not sorted";
	return NULL;
}
