/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations for the files of the sampling file's writer. */
#ifndef VFTR_NODEAGENT_TRACE_WRITE_INTERNAL_H
#define VFTR_NODEAGENT_TRACE_WRITE_INTERNAL_H

#include "nodeagent/base/map.h"
#include "nodeagent/trace/block.h"
#include "nodeagent/trace/time-column.h"
#include "nodeagent/trace/write/sample.h"
#include "nodeagent/trace/write/writer.h"

#define TRACK_BLOCK_BYTES (16u << 10)

/* ---- page.c: a block while it is filled, for data that belong to no track: definitions,
 * messages, index. Its payload begins behind the header. */

#define SHARED_BLOCK_BYTES (32u << 10) /* of payload of a full block */

/* The owner frees bytes. */
struct vfd_page {
	unsigned char *bytes;
	size_t used, room; /* of the payload; room for a varint stays behind it */
	uint32_t records;
};

/* Makes room for n bytes of payload; write there, then give vfd_page_done() the new end. */
unsigned char *vfd_page_room(struct vfd_page *p, size_t n);
void vfd_page_done(struct vfd_page *p, const unsigned char *end);
/* Frees unused memory of the page. */
void vfd_page_trim(struct vfd_page *p);
/* Writes it as a block and empties it; false: as vfd_write_block(). */
bool vfd_page_write(struct vfd_writer *w, struct vfd_page *p, enum vfd_kind kind, uint64_t time);

/* ---- index.c: the blocks that were written, for the index at the end of the file */

struct vfd_index {
	struct vfd_page *pages; /* the last one is not full */
	size_t n_pages, cap_pages;
	uint64_t offset, time; /* of the entry before, in the same page */
	uint64_t blocks;
};

/* Adds the sealed block b, which is at this offset. */
void vfd_index_add(struct vfd_index *x, uint64_t offset, const struct vfd_block *b);
/* Writes INDEX blocks, the first of which will be at `place`, and END at `units`; waits for the
 * disk until the deadline. False: there is no END, as something did not get through. */
bool vfd_index_write(
	struct vfd_index *x, struct vfd_writer *w, uint64_t place, uint64_t units, double deadline);
/* Bytes that the index takes so far, without the headers of its blocks. */
uint64_t vfd_index_bytes(const struct vfd_index *x);
void vfd_index_free(struct vfd_index *x);

/* ---- the writer */

struct vfd_writer {
	struct outfile *out;
	struct keep *keep;  /* blocks stay in memory, and out is NULL between files; or NULL */
	bool to_file;	    /* with keep: blocks are only for the file that begins */
	bool too_many;	    /* definitions for the memory */
	uint64_t track_end; /* units: of the last event in the block of a track being written */
	double units_per_ns;
	uint64_t max_size, interval_units, sequence;
	uint32_t block_bytes;
	unsigned level; /* of thinning */
	bool full;	/* max_size is reached, or a block was left out that would pass it */
	/* how many there were of each when it was full: nothing may refer to later ones */
	struct vfd_told {
		uint32_t processes, tracks, functions, comms;
	} told;
	uint64_t least_units; /* shorter calls are left out whatever the level; 0: there are none */
	bool mute;	      /* no event is written any more */
	struct vfd_page definitions;
	uint64_t run_bytes; /* of all definitions of runs */
	struct records {
		struct vfd_page page;
		uint64_t time, written; /* of this block; records of all blocks */
		int64_t last;		/* start of the one before in this block */
	} records[VFD_BLOCK_KINDS];	/* of no track: records.c */
	struct vfd_launch last_launch;	/* of this block */
	struct track *tracks;
	uint32_t n_processes, n_functions, n_comms, n_objects[2], n_tracks;
	uint32_t n_live_tracks;
	uint32_t n_counters, n_observables;
	bool *precise; /* by function */
	size_t cap_precise;
	struct map64 text_numbers; /* by hash */
	char **texts;
	size_t n_texts, cap_texts;
	struct vfd_index index;
	uint64_t events, n_counts, launch_id;
	uint64_t thinned, dropped_blocks;
	char *trouble;
};

/* Writes a block; false: it was dropped. The caller has set b->bytes, kind, flags, track,
 * records and time; the payload is behind the header. */
bool vfd_write_block(struct vfd_writer *w, struct vfd_block *b);

void vfd_write_definitions(struct vfd_writer *w);
/* Waits while the disk is behind, until then: raw seconds. */
void vfd_wait_until(struct vfd_writer *w, double deadline);
/* Writes all open blocks of records that belong to no track. */
void vfd_write_records(struct vfd_writer *w);

/* ---- definitions of threads */
void vfd_define_thread(struct vfd_writer *w, const struct vfd_thread *t);
void vfd_define_thread_end(struct vfd_writer *w, uint32_t track, uint64_t ticks);

/* ---- tracks */

#define TRACK_SLACK   96u /* an event, and what a varint writes too far */
#define PENDING_MOST  64u
#define SAMPLED_MOST  2u
#define SEGMENTS_MOST 255u

struct vfd_path {
	uint32_t top, base;
};

struct track_stack {
	uint32_t caller, function, depth;
};

struct track {
	struct vfd_track fast; /* the first: see track_of() */
	struct vfd_writer *writer;
	struct track *next, *prev;
	/* the header, the open paths and what happens; limit: an event may begin below it; NULL: no
	 * block */
	unsigned char *buffer, *order, *limit;
	uint32_t *differences; /* of the times: since the event before */
	struct time_coding coding;
	unsigned coded; /* more blocks that it is for */
	uint32_t number;
	struct track_stack *stacks;
	struct vfd_link *links;
	size_t n_stacks, cap_stacks;
	uint32_t stacks_used, blocks;
	bool has_stacks, has_marks, recap;
	bool has_news;	      /* its blocks refer to functions that the file will not have */
	unsigned late_places; /* names and places in teams since the file is full */
	struct vfd_path suspended[SEGMENTS_MOST];
	uint32_t n_suspended;
	struct vfd_sampler sampler;
	struct track_sampled {
		uint32_t stack;
		uint64_t units;
	} sampled[SAMPLED_MOST]; /* before the next event, if that is recorded */
	uint32_t n_sampled;
	uint64_t call_units; /* the next event ends a call that was so long */
	unsigned level;
	uint64_t thin_units;
	uint32_t thin_depth;
	bool thin_precise;
	uint64_t thinned, marked; /* calls: not in the file yet; in a mark of the open block */
	struct track_pending {
		uint32_t stack;
		uint64_t units;
	} waiting[PENDING_MOST];
	uint32_t n_waiting;
	struct track_counters *counters; /* or NULL: counters.c */
	struct vfd_page runs;		 /* definitions that are not in the file yet */
	uint32_t n_runs, runs_tried;	 /* tried: 1 + blocks when they could not be written last */
};

static inline void thin_count(struct track *l, uint64_t calls)
{
	l->thinned += calls;
	l->writer->thinned += calls;
}

static inline struct track *track_of(struct vfd_track *l)
{
	return (struct track *)l;
}

/* Writes the track's open block to the file. */
void track_push(struct track *l);
/* The open block gets no more events. */
void track_end_block(struct track *l);
/* Defines the stack in the file, if need be; at the time of the last event. */
void track_use_stack(struct track *l, uint32_t stack, uint64_t units);

/* track.c: encode an event without checking whether it is to be written. */
void track_put_enter(struct track *l, uint32_t stack, uint64_t units);
void track_put_exit(struct track *l, uint32_t stack, uint64_t units);
/* Encodes a mark with up to two numbers, at this time or the last event's if that is later.
 * False: no more events are written. */
bool track_put_mark(struct track *l, unsigned mark, uint64_t a, uint64_t b, uint64_t units);

/* track.c, to a file of what is kept: what is open now, as a block without events at this time;
 * all stacks of the track. The track goes on as if nothing had been. */
void track_write_open(struct track *l, uint64_t units);
void track_recapitulate(struct track *l);

/* ---- keep.c */
struct keep *keep_new(const struct vfd_setup *s);
void keep_free(struct keep *k);
/* As vfd_write_block(), of n bytes that are sealed; end: units, of the last event in it. */
bool keep_block(struct vfd_writer *w, const struct vfd_block *b, size_t n, uint64_t end);

/* True if so many bytes of runs that wait do not leave too little memory for blocks. */
bool keep_has_room(const struct keep *k, uint64_t bytes);

/* runs.c: writes the definitions of runs that are not in the file yet. */
void track_push_runs(struct track *l);

/* counters.c: writes the open block of counters to the file; frees its memory. */
void track_push_counters(struct track *l);
void track_free_counters(struct track *l);

/* thin.c: while the file is thinned. */
void thin_level(struct track *l, uint64_t units);
void thin_enter(struct track *l, uint32_t stack, uint64_t units);
void thin_exit(struct track *l, uint32_t stack, uint64_t units);
/* Writes the open calls that are long enough by now; or all that wait. */
void thin_release(struct track *l, uint64_t units, bool all);

#endif
