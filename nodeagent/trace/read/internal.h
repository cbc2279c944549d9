/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations for the files of the sampling file's reader. */
#ifndef VFTR_NODEAGENT_TRACE_READ_INTERNAL_H
#define VFTR_NODEAGENT_TRACE_READ_INTERNAL_H

#include "nodeagent/base/map.h"
#include "nodeagent/trace/format.h"
#include "nodeagent/trace/time-column.h"
#include "nodeagent/trace/read/file.h"
#include "nodeagent/trace/varint.h"

#define READER_DEPTH_MOST    4096u /* of a stack; a deeper one is damage */
#define READER_SEGMENTS_MOST 256u

struct read_block {
	uint64_t offset, time; /* units */
	uint32_t track, records, bytes;
	uint32_t packed; /* bytes in the file, if they are packed there; else 0 */
	uint16_t kind, flags;
};

struct read_track {
	struct vfd_stack *stacks; /* one more than n_stacks, for undefined stacks */
	size_t n_stacks, cap_stacks;
	size_t n_written; /* stacks from the file; those after them are of waits */
	uint32_t *blocks; /* indexes of its SAMPLES, in the order of the file */
	size_t n_blocks, cap_blocks;
	struct read_run {
		uint32_t first, n; /* of its events in run_events */
	} * runs;		   /* by number - 1; n is 0 if the file does not have it */
	size_t n_runs, cap_runs;
	uint32_t *run_events; /* stacks that are entered; 0: an exit */
	size_t n_run_events, cap_run_events;
	uint32_t *value_blocks; /* of its COUNTERS */
	size_t n_value_blocks, cap_value_blocks;
	struct read_wait *waits; /* by start */
	size_t n_waits, cap_waits;
};

/* A record of MATCHES, with the sender of a receive: pairs.c. */
struct read_pair {
	uint64_t key; /* of the receive */
	uint64_t sender_ticket;
	uint32_t sender_thread;
	enum vfd_match match;
};

struct read_neighbours {
	struct wire_run *runs;
	size_t n_runs, cap_runs;
	uint64_t ranks;
};

/* A record of a block of LENGTHS. */
struct read_lengths {
	uint64_t key; /* of the call, and the direction */
	uint32_t first, block, offset;
};

/* A wait of a track: the frame `own` from start to end, below stack. */
struct read_wait {
	uint64_t start, end;
	uint32_t stack, own;
};

struct clock_sync_point {
	int64_t raw, offset, half_width;
};

struct vfd_file {
	struct vfd_facts facts;
	char *path, *host, *application, *writer;
	int fd; /* -1: memory */
	const unsigned char *memory;
	struct packer *packer; /* NULL: nothing was packed yet */
	struct read_block *blocks;
	size_t n_blocks, cap_blocks;
	struct vfd_damage *damage;
	size_t n_damage, cap_damage;
	char **texts; /* by number - 1 */
	struct vfd_process *processes;
	struct vfd_thread *threads;
	struct read_track *tracks;
	struct vfd_function *functions;
	char **names; /* of functions: made by vfd_function_name(), or shortened; NULL */
	struct vfd_comm *comms;
	struct map64 spawns; /* id of what parents have -> index in comms */
	struct vfd_object *objects;
	struct vfd_counter *counters;
	struct vfd_observable *observables;
	size_t n_texts, n_processes, n_threads, n_functions, n_comms, n_objects;
	size_t cap_objects, n_counters, n_observables;
	size_t all_stacks, all_runs; /* room in the tables of all tracks */
	uint64_t n_told;	     /* processes with `told' */
	struct read_pair *pairs;
	size_t n_pairs, cap_pairs;
	bool pairs_loaded;
	struct read_neighbours *neighbours;
	size_t n_neighbours, cap_neighbours;
	struct map64 neighbours_at;
	struct read_lengths *lengths; /* sorted, once they are loaded */
	size_t n_lengths, cap_lengths;
	bool lengths_loaded;
	unsigned char *lengths_payload; /* of block lengths_block - 1, which was read last */
	size_t lengths_room;
	uint32_t lengths_block;
	struct vfd_round *rounds; /* in the order of the file; in units */
	size_t n_rounds, cap_rounds;
	struct clock_sync_point *sync_points;
	size_t n_sync_points, cap_sync_points;
	uint64_t start_units, last_pair_units, end_units;
	int64_t start_raw, last_pair_raw, zero;
	int32_t *numbers; /* of processes; NULL before vfd_number_ranks() */
	int64_t later;	  /* ns that times are shifted by, of vfd_line_up() */
	bool header_seen, pair_seen, zero_seen, dictionary_seen;
	struct reader_symbols {
		const char *module; /* text of ours */
		struct symtab *table;
	} * symbols;
	size_t n_symbols, cap_symbols;
};

#define READER_PACKED 32u /* times that definitions may be longer than in a packed file */

/* Tables can't have more elements than the file could define. */
static inline bool reader_possible(const struct vfd_file *f, uint64_t number)
{
	return number < f->facts.bytes * (f->packer ? READER_PACKED : 1) / 8 + 16;
}

/* Reads the payload of a block into buf (room for VFD_BLOCK_MAX); false: it can't be read
 * or has changed. */
bool reader_load(const struct vfd_file *f, const struct read_block *b, unsigned char *buf);
/* The same into *buf of *room bytes, at first NULL and 0; the caller frees it. */
bool reader_load_grown(
	const struct vfd_file *f, const struct read_block *b, unsigned char **buf, size_t *room);

/* ---- tables.c. False: nonsense. */
bool reader_header(struct vfd_file *f, struct varint_reader *r);
bool reader_definitions(struct vfd_file *f, struct varint_reader *r, uint32_t records);
bool reader_clock(struct vfd_file *f, struct varint_reader *r, uint32_t records);
/* The track with this number, made if need be; NULL if the number is not possible. */
struct read_track *reader_track(struct vfd_file *f, uint32_t track);
bool reader_stack(
	struct vfd_file *f, uint32_t track, uint32_t number, uint32_t caller, uint32_t function);
/* After all blocks. */
void reader_finish_tables(struct vfd_file *f);
void reader_free_tables(struct vfd_file *f);

/* ---- waits.c: after all blocks, before reader_finish_tables(). */
void reader_waits(struct vfd_file *f);

/* ---- lengths.c: lengths of the messages of collective calls, from the LENGTHS blocks, and
 * neighbours from the definitions. From the first call on, 24 bytes are kept for each record
 * of lengths. */
struct lengths; /* collectives.h */

/* False: nonsense. */
bool reader_get_neighbours(struct vfd_file *f, struct varint_reader *r);
/*
 * Begins with the messages sent (or received) by a process in its call with this ticket.
 * False: the file does not have all n, or their sum is not `bytes`.
 */
bool reader_lengths(
	struct vfd_file *f, struct lengths *l, const struct vfd_lengths *which, uint64_t bytes);
/* The next length; to be called at most n times. */
uint64_t lengths_next(struct vfd_file *f, struct lengths *l);
/* Neighbours of a process; NULL: the file does not say, or they are not n. */
const struct read_neighbours *reader_neighbours(
	const struct vfd_file *f, uint32_t process, uint32_t comm, bool received, uint32_t n);
void reader_free_lengths(struct vfd_file *f);

/* ---- pairs.c: sets match, sender_ticket and sender_thread of a receive, if the file has them in
 * MATCHES. */
void reader_match(struct vfd_file *f, struct vfd_message *m);

/* A hash for a message or collective call of a process; equal ones in a file are improbable. */
static inline uint64_t reader_key(uint32_t process, uint32_t comm, uint64_t ticket, bool flag)
{
	uint64_t h = (uint64_t)process << 32 | comm;

	h = (h ^ h >> 29) * 0xbf58476d1ce4e5b9u;
	h ^= ticket << 1 | flag;
	h = (h ^ h >> 32) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 29;
}

/* ---- time.c */
int64_t reader_time(const struct vfd_file *f, uint64_t units);
void reader_finish_clock(struct vfd_file *f);

/* ---- runs.c: takes the runs of a track, of which r begins. False: nonsense. */
bool reader_runs(struct vfd_file *f, uint32_t track, struct varint_reader *r, uint32_t records);

/* ---- samples.c: the events of one block, as recorded */

struct read_path {
	uint32_t top, base;
};

struct samples {
	struct varint_reader r;
	const struct read_track *track; /* NULL: stacks are not checked */
	uint64_t units;
	uint32_t left; /* events */
	bool columns;
	struct time_column times;
	uint32_t run_left; /* events of a run, the next of which is *run */
	const uint32_t *run;
	struct read_path paths[READER_SEGMENTS_MOST];
	uint32_t n_paths; /* at least 1 */
};

struct sample {
	enum vfd_event_kind kind;
	bool stack_defined; /* not an event: stack, caller and function define a stack */
	bool aside, at;	    /* ENTER aside; a jump */
	uint64_t units, count;
	uint32_t stack, caller, function, depth;
};

bool samples_begin(struct samples *s, const struct read_track *l, const struct read_block *b,
	const unsigned char *payload);
/* 1: an event; 0: the end; -1: the rest makes no sense. */
int samples_next(struct samples *s, struct sample *e);

/* ---- walk.c: the events of one track: read from its blocks and, unless raw, with the implied
 * enters and exits */

struct walk;

/* NULL: the filter wants no event of the track. */
struct walk *walk_new(
	struct vfd_file *f, uint32_t file, uint32_t track, const struct vfd_filter *filter);
void walk_free(struct walk *w);
/* False at the end. */
bool walk_next(struct walk *w, struct vfd_event *e);
/* Numbers of blocks read, and of all blocks. */
void walk_progress(const struct walk *w, uint64_t *done, uint64_t *all);

/* ---- values.c: the values of one track's counters, in the order of time */

struct values;

/* NULL: there are none. */
struct values *values_new(
	struct vfd_file *f, uint32_t file, uint32_t track, const struct vfd_filter *filter);
void values_free(struct values *v);
/* False at the end. Pointers in e are valid until the next call. */
bool values_next(struct values *v, struct vfd_event *e);
/* True if the last record has sums, which were read at an event of the track. */
bool values_are_sums(const struct values *v);
/* Numbers of blocks read, and of all blocks. */
void values_progress(const struct values *v, uint64_t *done, uint64_t *all);

/* ---- launches.c: both ends of each launch, in the order of time */

struct launches;

/*
 * Launches with both tracks wanted and both times in the filter's span; NULL: there are
 * none. Each takes 88 bytes of memory.
 */
struct launches *launches_new(struct vfd_file *f, uint32_t file, const struct vfd_filter *filter,
	bool (*wanted)(const void *ctx, const struct vfd_file *f, uint32_t track), const void *ctx);
void launches_free(struct launches *l);
bool launches_next(struct launches *l, struct vfd_event *e);
/* Numbers of ends given, and of all ends. */
void launches_progress(const struct launches *l, uint64_t *done, uint64_t *all);

#endif
