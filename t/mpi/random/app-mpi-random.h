/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A random communication program that knows what it does: from a seed all ranks
 * draw the same operations, each executes its part and counts what that was,
 * by peer, communicator, size and MPI function. It knows nothing of a tracer.
 * Each thread has a stream of operations, communicators and counts of its own.
 */
#ifndef APP_MPI_RANDOM_H
#define APP_MPI_RANDOM_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define RANKS_MAX  16
#define GROUPS_MAX 24

/* ---- counting ---------------------------------------------------------------- */

struct tally {
	long long sends, bytes_sent, receives, bytes_received;
};

struct counts {
	struct tally peers[RANKS_MAX];	  /* by world rank: to and from it */
	struct tally messages[RANKS_MAX]; /* the same without one-sided */
	struct tally sizes[64];		  /* as the bits of the number of bytes */
	struct {
		const char *name;
		struct tally messages, collective;
		long long collectives;
	} groups[GROUPS_MAX];
	struct {
		const char *name;
		long long calls;
		struct tally all;
	} functions[256];
	int function; /* the last one called */
};

extern _Thread_local struct counts *counts;

struct group;

void count_call(const char *function);
/* The following are by the function called last. */
void count_send(const struct group *g, int world, long long bytes);
void count_receive(const struct group *g, int world, long long bytes);
void count_one_sided(const struct group *g, int world, long long out, long long in);
void count_collective(const struct group *g, const struct tally *t);
/* One message of a collective call of neighbours: with this world rank, beside that. */
void count_neighbour(int world, const struct tally *t);
/* Lines for awk; the program's own rank is `rank`. */
void counts_write(FILE *f, const struct counts *c, int rank);

/* A call of an MPI function, counted; any error is fatal. */
#define DO(function, ...) (count_call(#function), (void)function(__VA_ARGS__))
#define DO_VOID(function) (count_call(#function), (void)function())
/* Now and then in its form for large counts. */
#if MPI_VERSION >= 4
#define DO_LARGE(function, ...)                                                                    \
	(own_pick(3) ? DO(function, __VA_ARGS__) : DO(function##_c, __VA_ARGS__))
#else
#define DO_LARGE DO
#endif

/* ---- communicators --------------------------------------------------------------- */

/* Sides of an intercommunicator; a communicator has one side only. */
struct group {
	MPI_Comm comm; /* MPI_COMM_NULL on ranks outside */
	char name[40];
	int n[2];		 /* n[1] 0: no intercommunicator */
	int world[2][RANKS_MAX]; /* world ranks of both sides */
	int side, rank;		 /* mine; rank -1: outside */
	bool persistent;	 /* no collective calls but persistent ones: MPICH 4.0 stops else */
	MPI_Win window;		 /* or MPI_WIN_NULL */
	int n_in, n_out;	 /* neighbours, where there is a topology */
	int in[RANKS_MAX], out[RANKS_MAX]; /* ranks, or MPI_PROC_NULL */
};

/* The stream of operations of one thread. */
struct stream {
	uint64_t shared, own; /* random states: of all ranks, of this one */
	int thread, threads, rounds, round;
	int n_groups;
	struct group groups[GROUPS_MAX];
	struct counts counts;
};

extern _Thread_local struct stream *stream;
extern int world_rank, world_size;

/* 0 .. n-1, the same on all ranks; on this rank only. */
int pick(int n);
int own_pick(int n);
/* Of a group's ranks as world ranks. */
static inline bool is_inter(const struct group *g)
{
	return g->n[1] > 0;
}
/* Where the world rank is in the group (of its side), or -1. */
int rank_in(const struct group *g, int world, int *side);
/* The group that sends and receives go to, as its members see it from `side`. */
static inline int far_side(const struct group *g, int side)
{
	return is_inter(g) ? !side : 0;
}
struct group *pick_group(bool (*fits)(const struct group *));

void groups_make(void);
void groups_free(void);

/* ---- operations -------------------------------------------------------------------- */

struct kind {
	MPI_Datatype type;
	int bytes;
};
#define KINDS	   6
#define KIND_BASIC 4 /* those before are predefined, and good for reductions from 1 on */
extern struct kind kinds[KINDS];
#define EXTENT_MAX 24
void kinds_make(void);
void kinds_free(void);

/* Memory until the end of the round; or for ever. */
void *room(long long bytes);
void *room_for_ever(long long bytes);
void rooms_free(void);

/*
 * A request to be completed at the end of the round. A receive's status is
 * compared with what is wanted; source -1: nothing is.
 */
struct open {
	int source, tag, count;
	MPI_Datatype type;
	bool cancelled, partitioned;
	const void *data; /* NULL, or where the first byte is to be `first` */
	int first;
};
void open_request(MPI_Request request, const struct open *wanted);
void check_status(const struct open *w, MPI_Status *s);
void check_data(const struct open *w);
/* Completes what is open, in one of many ways. */
void complete_all(void);

/* Messages, rings, cancelled receives ...: by all ranks. */
void round_of_messages(void);
void collective(void);
void persistent_collectives(const struct group *g);
void one_sided(void);
_Noreturn void wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
