/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs whose waits are known: what the app-known-*.c of this folder share. Their ranks, all on
 * one machine, meet in memory that they share, so that MPI is called for the properties only.
 *
 * Each call is stamped four times: before it, below the tracer (in PMPI_*, known-below.c), and
 * again on its way back. So whatever the machine does meanwhile, the begin of the call that the
 * tracer has seen lies between two stamps, and its end, too; waits have a least and a greatest
 * length. At the end known_play() prints, of each rank that was waited for,
 *
 *	wait PROPERTY MPI_FUNCTION CALLER KIND LATE_RANK LEAST_S MOST_S CALLS FUNCTION SHARE
 *
 * by the definitions of vftr-analysis(7) alone: FUNCTION is where the late rank was for most of
 * the wait, of what is stamped, and SHARE the least part of the wait that this was.
 */
#ifndef VFTR_T_MPI_KNOWN_KNOWN_H
#define VFTR_T_MPI_KNOWN_KNOWN_H

#include <stdint.h>
#include <time.h>

#define KNOWN_UNTRACED __attribute__((no_instrument_function))
#define KNOWN_RANKS    8    /* at most */
#define KNOWN_STAMPS   4096 /* of a rank, at most */
#define KNOWN_NAME     40
#define KNOWN_NOBODY   (-1)

/* What a call waits for, and what it is for others. */
enum known_kind {
	KNOWN_LATE_SENDER, /* peer: who sends, if it has posted the receive, too */
	KNOWN_BARRIER, /* peer: the group, on an intercommunicator; KNOWN_NOBODY: they are one */
	KNOWN_NXN,
	KNOWN_NXN_END,	  /* completes a call that does not block, for which all wait */
	KNOWN_LATE_ROOT,  /* peer: the root */
	KNOWN_EARLY_ROOT, /* the same */
	KNOWN_SCAN,
	/* not of a call: a late sender, while a message lay there that a later call received */
	KNOWN_WRONG_ORDER,
	KNOWN_LATE_RECEIVER, /* a synchronous send; peer: who receives */
	KNOWN_RMA_FENCE,
	KNOWN_RMA_POST,	    /* MPI_Win_start, MPI_Win_complete; peer: bits of the targets */
	KNOWN_RMA_COMPLETE, /* MPI_Win_wait; peer: bits of the origins */
	KNOWN_RMA_LOCK,	    /* until the lock is there; peer: bits of those that may have it */
	KNOWN_WAITS,
	KNOWN_SEND = KNOWN_WAITS, /* peer: who receives */
	KNOWN_POST,		  /* a receive that does not block; peer: who sends */
	KNOWN_NXN_BEGIN,	  /* what KNOWN_NXN_END completes */
	KNOWN_EXPOSE,		  /* MPI_Win_post; peer: bits of the origins */
	KNOWN_RELEASE,		  /* MPI_Win_unlock */
	KNOWN_INSIDE,		  /* in a function, not in a call of MPI */
};

struct known_stamp {
	int64_t enter, entered; /* ns: it began between these ... */
	int64_t leaving, left;	/* ... and ended between these */
	int16_t kind, peer;	/* as a rank of these programs */
	int16_t property, turn;
	int32_t group; /* only calls of the same group need each other */
	char function[KNOWN_NAME], caller[KNOWN_NAME];
};

/* A function of a program, and what is meant to be found of it; more of the same without run. */
struct known_property {
	void (*run)(void);
	const char *name;
	/* "KIND MPI_FUNCTION CALLER LATE_RANK,... FUNCTION,...", a function for each rank or the
	 * last one for the rest; "anything"; NULL: nothing */
	const char *meant;
};

#define KNOWN_PROPERTY(name, meant)                                                                \
	{                                                                                          \
		name, #name, meant                                                                 \
	}

extern int known_rank, known_size, known_turn, known_turns;

KNOWN_UNTRACED static inline int64_t known_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* path: of a file for what ranks share, which is made if it is not there, and empty then. */
KNOWN_UNTRACED void known_open(const char *path, int rank, int size);
/* Runs each property known_turns times, in a function play(); all ranks meet before each. Then rank
 * 0 prints lines "meant PROPERTY ..." and "wait ...". */
KNOWN_UNTRACED void known_play(const struct known_property *of, int n);
KNOWN_UNTRACED void known_meet(void);

/* Before a call, which known_below() says to the others when the tracer has seen it. */
KNOWN_UNTRACED struct known_stamp *known_call(
	enum known_kind kind, int group, int peer, const char *function, const char *caller);
KNOWN_UNTRACED void known_called(struct known_stamp *s);
/* In a function of the program, until known_called(). */
KNOWN_UNTRACED struct known_stamp *known_inside(const char *function);

/* Of the call that is under way: below the tracer. NULL: none, or there already. */
KNOWN_UNTRACED struct known_stamp *known_below(void);

/* Until each of these ranks (bits) is in its nth call of this turn, from 1, or beyond. */
KNOWN_UNTRACED void known_after(unsigned ranks, int nth);
/* Takes so many ms of this thread's CPU time. */
KNOWN_UNTRACED void known_spin(int ms);

#define KNOWN_CALL(kind, group, peer, function, ...)                                               \
	do {                                                                                       \
		struct known_stamp *s_ =                                                           \
			known_call(KNOWN_##kind, group, peer, #function, __func__);                \
		s_->enter = known_now();                                                           \
		function(__VA_ARGS__);                                                             \
		s_->left = known_now();                                                            \
		known_called(s_);                                                                  \
	} while (0)

#endif
