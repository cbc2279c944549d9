/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files sampling*.c share. */
#ifndef VFTR_NODEAGENT_SAMPLING_INTERNAL_H
#define VFTR_NODEAGENT_SAMPLING_INTERNAL_H

#include <regex.h>
#include "nodeagent/sampling.h"
#include "shm/counters.h"

/* A pair that the matcher has found; the receive may be told a moment later. */
struct sampled_match {
	uint64_t comm, place; /* of the receiver */
	uint32_t ticket, sender_ticket, sender_thread;
	enum vfd_match match;
	bool partitioned;
};
#define SAMPLED_MATCHES 1024u

struct sampling {
	struct agent *agent;
	struct vfd_writer *writer; /* NULL: could not be opened, or is closed */
	char *path;
	bool replaced; /* another run's file has its name */
	int reserve;   /* an open file without a name, or -1 */
	regex_t precise;
	bool has_precise;
	uint64_t interval;	       /* ticks */
	uint64_t next_flush;	       /* CLOCK_MONOTONIC_RAW in ns */
	uint64_t drained;	       /* agent->drained_bytes at the last flush */
	uint32_t *mpi;		       /* as sampling_process.functions, +1, or 0 */
	struct map64 comms;	       /* identity -> number */
	struct map64 places;	       /* of the matcher -> number of the process */
	struct map64 starts;	       /* of partitioned messages: how many (sampling-message.c) */
	struct sampled_match *matches; /* room for SAMPLED_MATCHES; not told yet */
	uint32_t n_matches;
	uint32_t counters[COUNTERS_MAX], n_counters; /* of hwprof; 0: not defined yet */
	struct vfd_written written;
};

/* A function that has been used, and is named at the end. */
struct sampled_function {
	uint64_t key;
	uint32_t number;
	bool precise;
};

/* The lane of a thread in the file; lane is NULL after its end. */
struct sampled_thread {
	struct vfd_lane *lane;
	uint32_t number;
};

struct sampling_process {
	struct sampling *sampling;
	struct process *process;
	uint32_t number; /* in the file */
	bool has_rank;
	struct map64 functions; /* by key: number << 1 | precise */
	struct sampled_function *unnamed;
	size_t n_unnamed, cap_unnamed;
	struct sampled_thread *threads; /* by number */
	size_t n_threads, cap_threads;
	struct map64 objects; /* kind and number -> number in the file */
};

/* sampling-define.c: the number of the function with this key, defined if need be. */
uint32_t sampling_function(struct sampling_process *s, uint64_t key);

/* sampling-message.c: the process's traffic is listened to from now on. */
void sampling_listen(struct sampling_process *s);
/* So are all matches of the node; and they are told, as far as they are known. */
void sampling_listen_matches(struct sampling *s);
void sampling_tell_matches(struct sampling *s);

#endif
