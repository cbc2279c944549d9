/* SPDX-License-Identifier: BSD-3-Clause */
/*
 *	app-mpi-random PREFIX SEED ROUNDS [THREADS]
 *
 * Rank R writes what it has done to PREFIXR, as lines of words that are to be
 * added up over all ranks (of each line, the numbers after the key):
 *
 *	pair FROM TO sends bytes_sent receives bytes_received
 *	message FROM TO ...	the same without one-sided communication
 *	size BYTES ...		BYTES: the least of the class
 *	comm NAME ... collectives bytes_sent bytes_received
 *	function NAME calls ...	collectives included
 */
#include "app-mpi-random.h"

#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define THREADS_MAX 4

_Thread_local struct stream *stream;
int world_rank, world_size;
struct kind kinds[KINDS];

void wrong(const char *format, ...)
{
	va_list ap;

	fprintf(stderr, "app-mpi-random: rank %d, thread %d, round %d: ", world_rank,
		stream ? stream->thread : 0, stream ? stream->round : -1);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	abort();
}

static uint64_t next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

int pick(int n)
{
	return (int)(next(&stream->shared) % (unsigned)n);
}

int own_pick(int n)
{
	return (int)(next(&stream->own) % (unsigned)n);
}

struct group *pick_group(bool (*fits)(const struct group *))
{
	struct group *g;

	do {
		g = &stream->groups[pick(stream->n_groups)];
	} while (fits && !fits(g));
	return g;
}

void kinds_make(void)
{
	kinds[0] = (struct kind){MPI_BYTE, 1};
	kinds[1] = (struct kind){MPI_SHORT, sizeof(short)};
	kinds[2] = (struct kind){MPI_INT, sizeof(int)};
	kinds[3] = (struct kind){MPI_DOUBLE, sizeof(double)};
	kinds[4].bytes = 3 * sizeof(int);
	DO(MPI_Type_contiguous, 3, MPI_INT, &kinds[4].type);
	kinds[5].bytes = 2 * sizeof(int);
	DO(MPI_Type_vector, 2, 1, 2, MPI_INT, &kinds[5].type);
	DO(MPI_Type_commit, &kinds[4].type);
	DO(MPI_Type_commit, &kinds[5].type);
}

void kinds_free(void)
{
	DO(MPI_Type_free, &kinds[4].type);
	DO(MPI_Type_free, &kinds[5].type);
}

static void use(struct stream *s)
{
	stream = s;
	counts = &s->counts;
}

/* The order of rounds is the same on all ranks. */
static void *run(void *s)
{
	use(s);
	for (stream->round = 0; stream->round < stream->rounds; stream->round++)
		round_of_messages();
	return NULL;
}

static void run_all(struct stream *streams, int n)
{
	pthread_t threads[THREADS_MAX];

	for (int i = 1; i < n; i++)
		if (pthread_create(&threads[i], NULL, run, &streams[i]))
			wrong("no thread");
	run(&streams[0]);
	for (int i = 1; i < n; i++)
		pthread_join(threads[i], NULL);
}

static void run_persistent(void)
{
	struct group g = stream->groups[0];

	DO(MPI_Comm_dup, MPI_COMM_WORLD, &g.comm);
	snprintf(g.name, sizeof(g.name), "persistent");
	DO(MPI_Comm_set_name, g.comm, g.name);
	persistent_collectives(&g);
	DO(MPI_Comm_free, &g.comm);
}

static void write_all(const char *prefix, const struct stream *streams, int n)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s%d", prefix, world_rank);
	f = fopen(path, "w");
	if (!f)
		wrong("cannot write %s", path);
	for (int i = 0; i < n; i++)
		counts_write(f, &streams[i].counts, world_rank);
	if (fclose(f))
		wrong("cannot write %s", path);
}

int main(int argc, char **argv)
{
	static struct stream streams[THREADS_MAX];
	const int n = argc > 4 ? atoi(argv[4]) : 1;
	const int buffer_bytes = 16 << 20;
	void *buffer = malloc((size_t)buffer_bytes);

	if (argc < 4 || n < 1 || n > THREADS_MAX || !buffer) {
		fputs("usage: app-mpi-random PREFIX SEED ROUNDS [THREADS]\n", stderr);
		return 2;
	}
	use(&streams[0]);
	if (n > 1) {
		int provided;

		DO(MPI_Init_thread, &argc, &argv, MPI_THREAD_MULTIPLE, &provided);
		if (provided < MPI_THREAD_MULTIPLE)
			wrong("no MPI_THREAD_MULTIPLE");
	} else {
		DO(MPI_Init, &argc, &argv);
	}
	DO(MPI_Comm_rank, MPI_COMM_WORLD, &world_rank);
	DO(MPI_Comm_size, MPI_COMM_WORLD, &world_size);
	if (world_size < 2 || world_size > RANKS_MAX)
		wrong("needs 2 to %d ranks", RANKS_MAX);
	DO(MPI_Buffer_attach, buffer, buffer_bytes);
	kinds_make();
	for (int i = 0; i < n; i++) {
		struct stream *s = &streams[i];

		s->thread = i;
		s->threads = n;
		s->rounds = atoi(argv[3]);
		s->shared = strtoull(argv[2], NULL, 10) * 1000 + (unsigned)i;
		s->own = s->shared * 1000 + (unsigned)world_rank + 500;
		stream = s;
		groups_make();
	}
	use(&streams[0]);
	run_all(streams, n);
	if (MPI_VERSION >= 4)
		run_persistent();
	for (int i = 0; i < n; i++) {
		stream = &streams[i];
		groups_free();
	}
	use(&streams[0]);
	kinds_free();
	DO(MPI_Buffer_detach, &buffer, &(int){0});
	count_call("MPI_Finalize");
	write_all(argv[1], streams, n);
	MPI_Finalize();
	free(buffer);
	return 0;
}
