/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the sampling file's reader share. */
#ifndef VFTR_NODEAGENT_VFD_READER_H
#define VFTR_NODEAGENT_VFD_READER_H

#include "nodeagent/map64.h"
#include "nodeagent/vfd-format.h"
#include "nodeagent/vfd-read.h"
#include "nodeagent/vfd-varint.h"

#define READER_DEPTH_MOST    4096u /* of a stack; a deeper one is damage */
#define READER_SEGMENTS_MOST 256u

struct read_block {
	uint64_t offset, time; /* units */
	uint32_t lane, records, bytes;
	uint16_t kind, flags;
};

struct read_lane {
	struct vfd_stack *stacks; /* one more than n_stacks: what is not defined */
	size_t n_stacks, cap_stacks;
	size_t n_written; /* of them; those behind are of waits */
	uint32_t *blocks; /* indexes of its SAMPLES, in the order of the file */
	size_t n_blocks, cap_blocks;
	uint32_t *value_blocks; /* of its COUNTERS */
	size_t n_value_blocks, cap_value_blocks;
	struct read_wait *waits; /* by start */
	size_t n_waits, cap_waits;
};

/* A sender that was told apart from its receive: vfd-match.c. */
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

/* A record of vfd-lengths.c. */
struct read_lengths {
	uint64_t key; /* of the call, and the direction */
	uint32_t first, block, offset;
};

/* Of a lane: the frame `own` from start to end, below stack. */
struct read_wait {
	uint64_t start, end;
	uint32_t stack, own;
};

struct clock_knot {
	int64_t raw, offset, half_width;
};

struct vfd_file {
	struct vfd_facts facts;
	char *path, *host, *application, *writer;
	int fd; /* -1: memory */
	const unsigned char *memory;
	struct read_block *blocks;
	size_t n_blocks, cap_blocks;
	struct vfd_damage *damage;
	size_t n_damage, cap_damage;
	char **texts; /* by number - 1 */
	struct vfd_process *processes;
	struct vfd_thread *threads;
	struct read_lane *lanes;
	struct vfd_function *functions;
	char **names; /* of functions, made by vfd_function_name() */
	struct vfd_comm *comms;
	struct vfd_object *objects;
	struct vfd_counter *counters;
	struct vfd_observable *observables;
	size_t n_texts, n_processes, n_threads, n_functions, n_comms, n_objects;
	size_t cap_objects, n_counters, n_observables;
	size_t all_stacks; /* places in the tables of all lanes */
	struct read_pair *pairs;
	size_t n_pairs, cap_pairs;
	bool pairs_loaded;
	struct read_neighbours *neighbours;
	size_t n_neighbours, cap_neighbours;
	struct map64 neighbours_at;   /* vfd-lengths.c */
	struct read_lengths *lengths; /* sorted, once they are loaded */
	size_t n_lengths, cap_lengths;
	bool lengths_loaded;
	unsigned char *lengths_payload; /* of the block that was read last, + 1 */
	size_t lengths_room;
	uint32_t lengths_block;
	struct read_round {
		uint64_t number, units;
	} * rounds; /* in the order of the file */
	size_t n_rounds, cap_rounds;
	struct clock_knot *knots;
	size_t n_knots, cap_knots;
	uint64_t start_units, last_pair_units, end_units;
	int64_t start_raw, last_pair_raw, zero;
	int64_t later; /* than the first file, by vfd_line_up() */
	bool header_seen, pair_seen, zero_seen;
	struct reader_symbols {
		const char *module; /* text of ours */
		struct symtab *table;
	} * symbols;
	size_t n_symbols, cap_symbols;
};

/* Tables can't have more elements than the file could define. */
static inline bool reader_possible(const struct vfd_file *f, uint64_t number)
{
	return number < f->facts.bytes / 8 + 16;
}

/* Payload of a block into buf (room for VFD_BLOCK_MAX); false: it can't be read
 * or is no longer what it was. */
bool reader_load(const struct vfd_file *f, const struct read_block *b, unsigned char *buf);
/* The same into *buf, which has *room, begins as NULL and 0, and is the caller's to free. */
bool reader_load_grown(
	const struct vfd_file *f, const struct read_block *b, unsigned char **buf, size_t *room);

/* ---- vfd-tables.c. False: nonsense. */
bool reader_header(struct vfd_file *f, struct varint_reader *r);
bool reader_definitions(struct vfd_file *f, struct varint_reader *r, uint32_t records);
bool reader_clock(struct vfd_file *f, struct varint_reader *r, uint32_t records);
/* The lane is there, if its number is possible. */
struct read_lane *reader_lane(struct vfd_file *f, uint32_t lane);
bool reader_stack(
	struct vfd_file *f, uint32_t lane, uint32_t number, uint32_t caller, uint32_t function);
/* After all blocks. */
void reader_finish_tables(struct vfd_file *f);
void reader_free_tables(struct vfd_file *f);

/* ---- vfd-wait.c: after all blocks, before reader_finish_tables(). */
void reader_waits(struct vfd_file *f);

/* ---- vfd-lengths.c. False: nonsense. */
bool reader_get_neighbours(struct vfd_file *f, struct varint_reader *r);
void reader_free_lengths(struct vfd_file *f);

/* ---- vfd-rounds.c. False: nonsense. */
bool reader_get_round(struct vfd_file *f, struct varint_reader *r);

/* ---- vfd-time.c */
int64_t reader_time(const struct vfd_file *f, uint64_t units);
void reader_finish_clock(struct vfd_file *f);

/* ---- vfd-samples.c: the events of one block, as recorded */

struct read_path {
	uint32_t top, base;
};

struct samples {
	struct varint_reader r;
	const struct read_lane *lane; /* NULL: stacks are taken as they come */
	uint64_t units;
	uint32_t left; /* events */
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

bool samples_begin(struct samples *s, const struct read_lane *l, const struct read_block *b,
	const unsigned char *payload);
/* 1; 0: that was all; -1: the rest makes no sense. */
int samples_next(struct samples *s, struct sample *e);

#endif
