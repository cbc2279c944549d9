/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Declarations that the files of replay/ share: replay.c (short enters and exits), record.c (all
 * other records), frames.c (the stack of frames), and a file for each kind of record that has one.
 */
#ifndef VFTR_NODEAGENT_REPLAY_INTERNAL_H
#define VFTR_NODEAGENT_REPLAY_INTERNAL_H

#include <stdbool.h>
#include "nodeagent/base/map.h"
#include "nodeagent/replay/replay.h"
#include "nodeagent/replay/sampled.h"
#include "nodeagent/replay/tree/activity.h"
#include "nodeagent/replay/window.h"
#include "shm/counters.h"
#include "shm/record.h"

#define EPOCH_BITS ((uint64_t)KEY_WIDE_EPOCH_LAST << KEY_WIDE_EPOCH_SHIFT)

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* Reasons why the fast way of replay_block() is not enough. */
enum {
	SLOW_PAUSED = 1,
	SLOW_PENDING = 2, /* messages wait for the end of their frame */
	SLOW_COUNTED = 4, /* a COUNTERS record was read: the event that it belongs to comes next */
	SLOW_WINDOW = 8,  /* MPI_Init is open, or MPI_Finalize was entered: window.c */
	SLOW_FRESH = 16,  /* a path was new: that of the frame on top, or none */
	SLOW_GOT = 32,	  /* the thread has got a lock, which the next frame holds: lock-record.c */
	SLOW_HIDDEN = 64, /* what is called now is hidden, as one around it: filter.c */
};

struct frame {
	struct node *node; /* NULL: entered while recording was paused, or hidden calls */
	struct node *last; /* the child that ended last */
	uint64_t since;
	uint64_t depth; /* further direct calls of itself that are open; see below */
};

/* True for a frame that stands for hidden calls; its depth is their number in r->hidden[]. */
static inline bool frame_is_hidden(const struct frame *f)
{
	return !f->node && f->depth;
}

/* A call that is not to be seen (replay.h), or that with all that it calls. */
struct hidden_call {
	uint64_t key;
	uint64_t depth; /* further direct calls of itself that are open */
	bool all_below;
};

/*
 * Frames of OpenMP records (constructs[]) are left by their own record only:
 * this in their depth keeps the fast way of replay_block() from doing it.
 */
#define FRAME_CONSTRUCT ((uint64_t)1 << 62)

static inline bool frame_is_construct(const struct frame *f)
{
	return f->depth > FRAME_CONSTRUCT / 2;
}

/* Further calls of the frame itself that are open. */
static inline bool frame_is_deep(const struct frame *f)
{
	return frame_is_construct(f) ? f->depth > FRAME_CONSTRUCT : f->depth;
}

enum construct_kind { OPEN_FORK, OPEN_TEAM, OPEN_TASK, OPEN_WAIT };

/* An OpenMP record whose exit has not come. */
struct construct_frame {
	enum construct_kind kind;
	bool own;      /* it has a frame; else a TEAM that goes on in the one of FORK */
	bool placed;   /* the frame hangs elsewhere than on the one below it */
	bool entered;  /* FORK: this thread has begun its part */
	bool in_join;  /* TASK: run after this thread's part in the team */
	bool resumed;  /* TASK */
	bool hides;    /* TEAM, TASK: functions in it are hidden */
	uint32_t team; /* 0: WAIT */
	uint32_t region, level;
	uint32_t number;    /* of the thread in its team; WAIT: of the lock, or 0 */
	uint32_t orphan;    /* 1 + index of the one it lies in, or 0 */
	size_t frame;	    /* index; of frames that have several constructs they come in order */
	size_t below;	    /* placed: index of the frame it hangs on; 0: it is from the root */
	uint64_t since;	    /* enter */
	uint64_t left;	    /* FORK: when this thread's part was over, or 0 */
	uint64_t suspended; /* ticks in which frames placed above it ran */
	uint64_t wait, barrier;
	uint64_t join_tasks; /* FORK: ticks of tasks since `left` */
};

/* A lock of OpenMP that the thread has, or had: lock-record.c. */
struct held_lock {
	uint32_t number;
	bool in_turn;
	size_t frame; /* index of the one that holds it; 0: none does */
	uint64_t since;
};

#define ITERATION_DEPTH 6  /* frames of a path that may be the main loop ... */
#define ITERATION_PATHS 64 /* ... of which so many of each depth are watched */
#define PERIOD_DEPTH	4 /* frames of a call of MPI between two of which an iteration may be ... */
#define PERIODS_MOST	8 /* ... of the first functions that call some */

#define LOCKS_REMEMBERED 16
#define LOCKS_HELD	 64 /* by frames of a thread at once */

/* The frames of a thread in a team whose place in the tree is not known yet. */
struct orphan {
	struct node *node; /* KEY_ORPHAN | index */
	uint32_t team, region;
	uint32_t open; /* constructs that lie in it */
	bool used;
};

/* The node of a path of replay/openmp/teams.h in this tree. */
struct known_path {
	const struct node *path;
	struct node *node;
};

struct replay {
	struct calltree *tree;
	struct frame *base, *top, *full; /* full: no room above */
	struct frame *deep;		 /* frames above this one lie below KEY_DEEP */
	uint64_t high;			 /* time base of the block, shifted */
	uint64_t start;
	uint64_t now;		   /* latest time seen */
	uint64_t not_after;	   /* no stamp may be later */
	uint64_t blocked;	   /* ticks of waits for room ... */
	uint64_t blocked_until;	   /* ... the last of which ended then */
	uint64_t vain, vain_sites; /* frames walked over in vain */
	unsigned slow;		   /* SLOW_ bits */
	uint32_t fast_from;	   /* smaller ids always take the slow way ... */
	uint32_t fast_least;	   /* ... and it is this, but while SLOW_GOT is set */
	uint64_t *sites;	   /* of MPI functions: the last CALL_SITE, without ONCE; or 0 */
	size_t n_sites;
	struct traffic_track *track;
	struct sampled_track *sampled;		    /* or NULL */
	struct activity *activity;		    /* or NULL; of the track */
	struct gpu *gpu;			    /* or NULL */
	struct user_counters *const *user_counters; /* or NULL */
	struct files *files;			    /* or NULL */
	struct memory *memory;			    /* or NULL */
	struct replay_counts counts;
	replay_same_function same;
	replay_mismatch mismatch;		 /* or NULL */
	int (*is_main)(void *ctx, uint64_t key); /* or NULL: it was seen, or need not be */
	void *ctx;
	const char *error;

	uint32_t n_counters;
	uint64_t counter[COUNTERS_MAX];	 /* as last recorded */
	const unsigned char *counted_at; /* SLOW_COUNTED: where the track was then */
	uint64_t *counted; /* of SWITCHES_MAX functions: calls of COUNTED records so far, or NULL */

	/* OpenMP: openmp-record.c, orphans.c */
	struct openmp *openmp;
	uint32_t thread; /* its number in the process */
	bool idle_frames;
	struct construct_frame *constructs;
	size_t n_constructs, cap_constructs;
	struct orphan *orphans;
	size_t n_orphans, cap_orphans, n_used;
	struct known_path *paths;
	size_t n_paths, cap_paths;
	struct map64 node_of_path, path_of_node; /* addresses -> paths[] */
	uint32_t last_team, last_number;	 /* whose frame has ended last */
	struct replay_team_times team_times;

	struct locks *locks;	     /* or NULL */
	struct lock_uses *lock_uses; /* or NULL */
	struct held_lock got;	     /* SLOW_GOT */
	struct held_lock *holds;     /* by frames, innermost last */
	size_t n_holds, cap_holds;
	struct held_lock taken[LOCKS_REMEMBERED]; /* the last ones without a frame */
	unsigned n_taken;			  /* ever */

	/* the window of its process: window.c */
	struct time_window *window; /* or NULL */
	time_class_of_region *class_of_region;
	struct node *fresh;   /* SLOW_FRESH: its node */
	struct node *entered; /* a new path of MPI_Init or MPI_Finalize: its frame is on top */
	size_t init_frame;    /* index of the frame of MPI_Init while that is open, else 0 */

	struct waiting_stacks *stacks; /* or NULL: stack-samples.c */
	bool has_stacks;	       /* some were placed */
	struct site_paths *site_paths; /* or NULL: call-site-path.c */

	const struct replay_filter *filter;	     /* or NULL */
	struct hidden_call *hidden;		     /* that are open, the outermost first */
	size_t n_hidden, cap_hidden, n_hidden_whole; /* whole: with all below */

	struct sequences *sequences; /* or NULL; sequences.h */
	uint64_t sequences_from;     /* records of the thread before they are used */

	/* the calls of its main loop: iterations.c */
	bool iterates;
	bool is_shadow;				  /* it sees a part of a thread's time: shadow.c */
	uint32_t n_iterated[ITERATION_DEPTH + 1]; /* paths, by their depth */
	uint32_t n_periods;
	uint64_t iteration_least;   /* ticks: shorter calls are none of a main loop */
	struct off_cpu *off;	    /* of the thread; NULL: it is not known */
	replay_slow_call tell_slow; /* or NULL */
	void *slow_ctx;
	uint64_t slow_least;
	bool slow_anywhere;
	uint64_t paused, went_on; /* the last pause of recording; of one that lasts, `paused` */
};

static inline uint64_t elapsed(uint64_t from, uint64_t to)
{
	return (int64_t)(to - from) > 0 ? to - from : 0;
}

/* ---- the sampling file, where r->sampled: samples.c */

/* node_extra.stack: 0 or, once it was asked for, the number there and a flag. */
#define SAMPLE_PRECISE ((uint32_t)1 << 31)  /* only known if there is an interval */
#define SAMPLE_NONE    (SAMPLE_PRECISE - 1) /* it has no number yet */

uint32_t replay_new_sample(struct replay *r, struct node *n);
/* True if n will get another stack there when the path of its team is known. */
bool replay_is_in_orphan(const struct replay *r, const struct node *n);
uint32_t replay_judge_sample(struct replay *r, struct node *n);

/* The number of n's stack in the sampling file. */
static inline __attribute__((always_inline)) uint32_t replay_sample(
	struct replay *r, struct node *n)
{
	uint32_t stack = n->extra ? n->extra->stack & ~SAMPLE_PRECISE : 0;

	return likely(stack - 1 < SAMPLE_NONE - 1) ? stack : replay_new_sample(r, n);
}

/*
 * True if an event at t is recorded. ran: the node that ran until then; took: ticks of the
 * call, if the event is its exit. Nodes whose events are not recorded get no number in the
 * file: of many paths, few are sampled.
 */
bool replay_decide_sample(
	struct replay *r, struct node *ran, uint64_t t, uint64_t took, bool precise);

static inline __attribute__((always_inline)) bool sample_is_due(
	struct replay *r, struct node *n, struct node *ran, uint64_t t, uint64_t took)
{
	struct sampled_track *l = r->sampled;
	uint32_t stack = n->extra ? n->extra->stack : 0;

	if (unlikely(!stack))
		stack = replay_judge_sample(r, n);
	if (likely(t <= l->wake && took <= l->long_call && !(stack & SAMPLE_PRECISE))) {
		l->window.last = t;
		return false;
	}
	return replay_decide_sample(r, ran, t, took, stack & SAMPLE_PRECISE);
}

static inline __attribute__((always_inline)) void sample_enter(
	struct replay *r, struct node *n, uint64_t t)
{
	if (!r->sampled->interval || sample_is_due(r, n, n->parent ? n->parent : n, t, 0))
		vfd_enter(r->sampled->track, replay_sample(r, n), t);
}

static inline __attribute__((always_inline)) void sample_exit(
	struct replay *r, struct node *n, uint64_t since, uint64_t t)
{
	if (!r->sampled->interval || sample_is_due(r, n, n, t, elapsed(since, t)))
		vfd_exit(r->sampled->track, replay_sample(r, n), t);
}

/* The number of a stack of that key, called by caller, for which the tree has no node. */
uint32_t replay_sample_below(struct replay *r, struct node *caller, uint64_t key);
/* With an interval: the recorded events begin anew at t; what was left out before that is told. */
void replay_told_window(struct replay *r, uint64_t t);

/* n is entered, and does not hang on the frame below it, which is suspended. */
void replay_sample_aside(struct replay *r, struct node *n, struct node *ran, uint64_t t);

/* The thread has this place in a team of OpenMP from now on. */
void replay_sample_team(struct replay *r, uint32_t level, uint32_t number);

/* The call of a GPU's interface in whose frame we are has this number: gpu.h. */
void replay_sampled_launch(struct replay *r, uint32_t number);

/* n, a child of the root that was not expected, is entered: if it is main, what came before it
 * is forgotten (replay_drop_prelude()). */
void replay_prelude(struct replay *r, struct node *n);

/* The first call of main begins: what came before it is forgotten. */
void replay_begin_main(struct replay *r);

/* ---- hidden calls, with r->filter (filter.c) */

/* Is a call of this key from the frame on top hidden? all_below: and what it calls. */
bool replay_hides(const struct replay *r, uint64_t key, bool *all_below);
/* A hidden call begins. */
void replay_hide(struct replay *r, uint64_t key, bool all_below, uint64_t t);
/* If a call of this key is hidden, begins it, counts no call, and returns true. */
bool replay_enter_hidden(struct replay *r, uint64_t key, uint64_t t);
/* on: from now on all functions are hidden, until as many calls with false. */
void replay_hide_functions(struct replay *r, bool on);
/*
 * True if a call of this key is hidden when it is called from node `to'. For functions that were
 * seen while the path of their team was not known.
 */
bool replay_hides_from(const struct replay *r, uint64_t key, const struct node *to);
/* Of the frame on top, which is one of hidden calls: the n innermost of r->hidden[] end. */
void replay_close_hidden(struct replay *r, uint64_t n, uint64_t t);
/* The same; but if the outermost of them has called itself, only its last call ends. */
void replay_leave_hidden(struct replay *r, uint64_t n, uint64_t t);
/* The n innermost of all are forgotten with their frame. */
void replay_drop_hidden(struct replay *r, uint64_t n);
/* Of the n before r->hidden[end]: 1 for the innermost that `is', 2 if it is the one around that,
 * and so on; 0: none is. */
typedef bool hidden_test(const struct replay *r, uint64_t key, uint64_t what);
uint64_t replay_find_hidden(
	const struct replay *r, size_t end, uint64_t n, hidden_test *is, uint64_t what);
/* False: r->error, no frame fits above the one on top. */
bool replay_frame_room(struct replay *r);

/* From now on the last calls are kept, and the track can ask for them: activity.c. */
void replay_keep_activity(struct replay *r);

/* With r->iterates: a path is new. */
void replay_iteration_path(struct replay *r, struct node *n);
/* Frame f of n, which has an extra, ends at t. */
void replay_iteration_left(struct replay *r, const struct frame *f, struct node *n, uint64_t t);

/* A path is new, and no call of it is counted yet. */
void replay_window_path(struct replay *r, struct node *n);
/* With SLOW_WINDOW, before the next word is taken, and at the end. */
void replay_window_step(struct replay *r);

/* The node that new frames hang on: that of the nearest frame that has one. */
static inline struct node *replay_node(const struct frame *f)
{
	while (!f->node)
		f--;
	return f->node;
}

/* A call: counted, and a direct call of itself shares the frame of its caller. */
void replay_enter(struct replay *r, uint64_t key, uint64_t t);
/* A new frame on top, even if the function calls itself; no call is counted. */
void replay_open(struct replay *r, uint64_t key, uint64_t t);
/* The same with this node, wherever it is in the tree. Not above r->deep. */
void replay_open_at(struct replay *r, struct node *n, uint64_t t);
/*
 * The same for an MPI function whose call site was recorded (call-site.c). Returns false if none
 * was.
 */
bool replay_enter_mpi(struct replay *r, uint32_t id, const struct replay_epoch *epoch, uint64_t t);
/*
 * From now on exits take the slow way: a frame of KEY_SITE, which is open, must end with the one
 * above it.
 */
void replay_expect_sites(struct replay *r);
/* An exit of the function with this id: frames above its frame are closed. */
void replay_leave(struct replay *r, uint32_t id, uint64_t t);
/* The frame on top ends, unless it is the root. */
void replay_pop(struct replay *r, uint64_t t);
/* The n innermost calls end. */
void replay_close(struct replay *r, uint64_t n, uint64_t t);
/* All frames above f end. */
void replay_close_above(struct replay *r, struct frame *f, uint64_t t);
/* After a jump the code at site runs: frames above its function are gone. */
void replay_jump(struct replay *r, uint64_t site, uint64_t t);

/* With SLOW_PENDING: a call of frame f ends, below which `depth` others of itself are open. */
void replay_settle_frame(struct replay *r, const struct frame *f, uint64_t depth, uint64_t t);

/* The top frame, which is of an OpenMP construct, has ended at t after d ticks. */
void construct_left(struct replay *r, uint64_t t, uint64_t d);
/* Ends the TEAM that is open in the top frame without one of its own. False: there is none. */
bool construct_end_bare(struct replay *r, uint64_t t);
void replay_openmp(struct replay *r, uint64_t w, uint64_t a, uint64_t b, uint64_t t);

/*
 * The node for the frame of a team: at the team's path if that is known (*orphan is 0), else
 * in an orphan subtree (*orphan is 1 + its index), and below the root if there are too many.
 * region: of the team, or UINT32_MAX.
 */
struct node *orphan_node(struct replay *r, uint32_t team, uint32_t region, uint32_t *orphan);
/* The path of a node in this tree; *team: below the frame of that one, or 0. */
const struct node *orphan_path(struct replay *r, struct node *n, uint32_t *team);
void orphans_free(struct replay *r);

/* ---- locks of OpenMP (lock-record.c) */

/* The frame of a WAIT at n, since then, is over at t. a: its word 1. */
void replay_got_lock(struct replay *r, uint64_t a, struct node *n, uint64_t since, uint64_t t);
/* With SLOW_GOT: an event at t was taken, an enter or an exit. */
void replay_hold_lock(struct replay *r, bool exit, uint64_t t);
/* With n_holds: frame f, of node n, has ended. */
void replay_leave_lock(struct replay *r, const struct frame *f, struct node *n, uint64_t t);

/* New paths are told, as at first, or not. */
void replay_watch_paths(struct replay *r, bool on);
void replay_free_stack_samples(struct replay *r);

/* A stack sample lies in a call from the KEY_SITE of this node: its caller is the last one of a
 * path, of which the `functions' innermost are below the frame around the call. */
void replay_note_site_path(
	struct replay *r, struct node *site, const struct node *caller, unsigned functions);
/* At the end, before paths from stack samples get their times: puts call sites below them. */
void replay_place_sites(struct replay *r);
void replay_free_site_paths(struct replay *r);

/* ---- words (words.c) */

/* What the word before has left to do. */
void replay_finish_word(struct replay *r);
/* Takes words before `end`; the first one was not at the begin of a block. Returns the word before
 * which it has ended: the end, r->error, or another way is to be taken from there on. */
const uint64_t *replay_take_words(struct replay *r, const uint64_t *word, const uint64_t *end,
	const struct replay_epoch *epoch);
/* The same, as far as the words change nothing but this replay and its tree: any thread may do
 * that while nobody else looks at them. Returns the word before which it has ended. */
const uint64_t *replay_take_own_words(struct replay *r, const uint64_t *word, const uint64_t *end,
	const struct replay_epoch *epoch);

/* ---- records (record.c) */

#define FUTURE_MAX ((uint64_t)1 << 34) /* ticks a stamp may be ahead: seconds */

/* A complete record in a block: its last word is there. */
struct ring_record {
	const uint64_t *word; /* in the ring: its producer may still change it */
	uint64_t head, last;  /* its first and last word, read once; one word: last is 0 */
	unsigned words;
	uint64_t ticks; /* when, if the kind is timed */
	const struct replay_epoch *epoch;
};

/* A record with an id below RECORD_ID_MPI and `left` words to the end of the block, w the
 * first. Returns the words taken. */
unsigned replay_record(struct replay *r, const uint64_t *word, unsigned left, uint64_t w,
	const struct replay_epoch *epoch);
/* A SYNC: w has the upper bits of all times from here on. */
void replay_set_time_base(struct replay *r, uint64_t w);

/* True if a COUNTERS record may start so; else sets r->error. */
bool replay_check_counters(struct replay *r, uint64_t head);

/* replay_take_TAKEN_BY() of each kind: in record.c, or in a file of its own. True: it counts as a
 * record of the thread. */
typedef bool record_taker(struct replay *r, const struct ring_record *rec);
#define RECORD_TAKER(name, id, words, timed, taken_by) record_taker replay_take_##taken_by;
RECORDS(RECORD_TAKER)

/* io.c: an operation of the frame on top; bytes -1: it failed. */
void replay_add_io(struct replay *r, enum record_io kind, int64_t bytes, uint64_t ticks);

/* With SLOW_COUNTED, after a word of this id was taken: if its event was recorded in the
 * sampling file, the counters are recorded, too. */
void replay_counted(struct replay *r, uint32_t id);

/* After all frames have ended: nodes whose time is below 0, as clocks went back, get 0. */
void replay_blocked_end(struct replay *r);

/* While paused, the time goes to a pseudo-frame on top of the open ones. */
void replay_pause(struct replay *r, uint64_t t);
void replay_go_on(struct replay *r, uint64_t t, uint64_t unrecorded);
void replay_leave_paused(struct replay *r, uint32_t id, uint64_t t);

#endif
