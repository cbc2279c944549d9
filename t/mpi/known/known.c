/* SPDX-License-Identifier: BSD-3-Clause */
#include "known.h"

#include <fcntl.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CALLS_OF_TURN 1000

struct shared {
	_Atomic int64_t step[KNOWN_RANKS]; /* turns * CALLS_OF_TURN + calls */
	_Atomic int64_t met[KNOWN_RANKS];  /* times */
	int32_t n[KNOWN_RANKS];
	struct known_stamp stamps[KNOWN_RANKS][KNOWN_STAMPS];
};

int known_rank, known_size, known_turn, known_turns = 6;
static int property, n_turns;
static struct shared *shared;
static struct known_stamp *under_way;

KNOWN_UNTRACED static void give_up(const char *why)
{
	fprintf(stderr, "rank %d: %s\n", known_rank, why);
	MPI_Abort(MPI_COMM_WORLD, 2);
	_exit(2);
}

void known_open(const char *path, int rank, int size)
{
	const int fd = open(path, O_RDWR | O_CREAT, 0600);

	known_rank = rank;
	known_size = size;
	if (size > KNOWN_RANKS || fd < 0 || ftruncate(fd, sizeof(*shared)) ||
		(shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)) ==
			MAP_FAILED)
		give_up("no memory to share");
	close(fd);
}

KNOWN_UNTRACED static void nap(void)
{
	const struct timespec t = {0, 200000};

	nanosleep(&t, NULL);
}

void known_meet(void)
{
	const int64_t times = atomic_load(&shared->met[known_rank]) + 1;

	atomic_store(&shared->met[known_rank], times);
	for (int r = 0; r < known_size; r++)
		while (atomic_load(&shared->met[r]) < times)
			nap();
}

KNOWN_UNTRACED static void begin_turn(int number, int turn)
{
	struct known_stamp *here;

	property = number;
	known_turn = turn;
	here = known_inside("play"); /* others may go on before the machine lets this rank go */
	known_meet();
	n_turns++;
	atomic_store(&shared->step[known_rank], (int64_t)n_turns * CALLS_OF_TURN);
	known_called(here);
}

void known_after(unsigned ranks, int nth)
{
	for (int r = 0; r < known_size; r++)
		while (ranks >> r & 1 &&
			atomic_load(&shared->step[r]) < (int64_t)n_turns * CALLS_OF_TURN + nth)
			nap();
}

void known_spin(int ms)
{
	struct timespec t;
	int64_t begin, now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	begin = t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
	do {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
		now = t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
	} while (now - begin < ms * INT64_C(1000000));
}

/* ---- stamps ------------------------------------------------------------------------------ */

KNOWN_UNTRACED static struct known_stamp *new_stamp(
	enum known_kind kind, int group, int peer, const char *function, const char *caller)
{
	int32_t *n = &shared->n[known_rank];
	struct known_stamp *s = &shared->stamps[known_rank][*n];

	if (*n >= KNOWN_STAMPS)
		give_up("too many calls");
	++*n;
	*s = (struct known_stamp){.kind = (int16_t)kind,
		.peer = (int16_t)peer,
		.property = (int16_t)property,
		.turn = (int16_t)known_turn,
		.group = group};
	snprintf(s->function, sizeof(s->function), "%s", function);
	snprintf(s->caller, sizeof(s->caller), "%s", caller);
	return s;
}

struct known_stamp *known_call(
	enum known_kind kind, int group, int peer, const char *function, const char *caller)
{
	under_way = new_stamp(kind, group, peer, function, caller);
	return under_way;
}

struct known_stamp *known_below(void)
{
	struct known_stamp *s = under_way;

	under_way = NULL;
	if (s) {
		s->entered = known_now();
		atomic_fetch_add(&shared->step[known_rank], 1);
	}
	return s;
}

struct known_stamp *known_inside(const char *function)
{
	struct known_stamp *s = new_stamp(KNOWN_INSIDE, 0, KNOWN_NOBODY, function, "");

	s->enter = s->entered = known_now();
	return s;
}

void known_called(struct known_stamp *s)
{
	if (s->kind == KNOWN_INSIDE)
		s->leaving = s->left = known_now();
	if (!s->entered || !s->leaving)
		give_up("known-below.c does not have this call of MPI");
}

/* ---- the truth --------------------------------------------------------------------------- */

#define FUNCTIONS 8

/* What calls from one place have waited for one rank, and where that one was meanwhile. */
struct row {
	const struct known_stamp *like;
	enum known_kind kind;
	int late;
	int64_t least, most, calls;
	struct {
		const char *name;
		int64_t ns;
	} functions[FUNCTIONS];
};

static struct row rows[1024];
static int n_rows;

KNOWN_UNTRACED static int is_send(const struct known_stamp *s)
{
	return s->kind == KNOWN_SEND || s->kind == KNOWN_LATE_RECEIVER;
}

/* Whether call a of rank ra needs call b of rank rb. */
KNOWN_UNTRACED static int needs(
	const struct known_stamp *a, int ra, const struct known_stamp *b, int rb)
{
	if (a->property != b->property || a->turn != b->turn || a->group != b->group || ra == rb)
		return 0;
	switch (a->kind) {
	case KNOWN_LATE_SENDER:
		return is_send(b) && b->peer == ra;
	case KNOWN_LATE_RECEIVER:
		return (b->kind == KNOWN_POST || b->kind == KNOWN_LATE_SENDER) && b->peer == ra &&
		       a->peer == rb;
	case KNOWN_BARRIER:
		return b->kind == a->kind && (a->peer == KNOWN_NOBODY || a->peer != b->peer);
	case KNOWN_NXN:
	case KNOWN_RMA_FENCE:
		return b->kind == a->kind;
	case KNOWN_NXN_END:
		return b->kind == KNOWN_NXN_BEGIN;
	case KNOWN_RMA_POST:
		return b->kind == KNOWN_EXPOSE && a->peer >> rb & 1 && b->peer >> ra & 1;
	case KNOWN_RMA_COMPLETE:
		return !strcmp(b->function, "MPI_Win_complete") && a->peer >> rb & 1 &&
		       b->peer >> ra & 1;
	case KNOWN_RMA_LOCK: /* who gives it back later had it later */
		return b->kind == KNOWN_RELEASE && a->peer >> rb & 1 && b->enter < a->left;
	case KNOWN_LATE_ROOT:
		return b->kind == a->kind && rb == a->peer;
	case KNOWN_EARLY_ROOT:
		return b->kind == a->kind && ra == a->peer;
	case KNOWN_SCAN:
		return b->kind == a->kind && rb < ra;
	}
	return 0;
}

/* Such a call may return before those that others would wait for: then it has waited for as long as
 * it lasted, or not. */
KNOWN_UNTRACED static int is_rma(const struct known_stamp *s)
{
	return s->kind == KNOWN_RMA_FENCE || s->kind == KNOWN_RMA_POST;
}

/* Whether a message lay there before `until` that a call of rank ra after a received. */
enum lay { NEVER, PERHAPS, SURELY };

KNOWN_UNTRACED static enum lay lay_there(
	const struct known_stamp *a, int ra, int64_t until_least, int64_t until_most)
{
	const struct known_stamp *end = &shared->stamps[ra][shared->n[ra]];
	enum lay lay = NEVER;

	for (int r = 0; r < known_size; r++)
		for (int i = 0; i < shared->n[r]; i++) {
			const struct known_stamp *b = &shared->stamps[r][i], *later = a + 1;

			if (!is_send(b) || b->enter > until_most || needs(a, ra, b, r))
				continue;
			while (later < end && !needs(later, ra, b, r))
				later++;
			if (later == end)
				continue;
			if (b->entered < until_least)
				return SURELY;
			lay = PERHAPS;
		}
	return lay;
}

KNOWN_UNTRACED static struct row *row_of(
	const struct known_stamp *s, enum known_kind kind, int late)
{
	for (int i = 0; i < n_rows; i++)
		if (rows[i].like->property == s->property && rows[i].kind == kind &&
			rows[i].late == late && !strcmp(rows[i].like->function, s->function) &&
			!strcmp(rows[i].like->caller, s->caller))
			return &rows[i];
	rows[n_rows] = (struct row){.like = s, .kind = kind, .late = late};
	return &rows[n_rows++];
}

KNOWN_UNTRACED static void add_function(struct row *row, const char *name, int64_t ns)
{
	for (int i = 0; i < FUNCTIONS; i++) {
		if (row->functions[i].name && strcmp(row->functions[i].name, name))
			continue;
		row->functions[i].name = name;
		row->functions[i].ns += ns;
		return;
	}
}

/* Where the late rank was in [from, to], for sure. */
KNOWN_UNTRACED static void look_at(struct row *row, int64_t from, int64_t to)
{
	for (int i = 0; i < shared->n[row->late]; i++) {
		const struct known_stamp *s = &shared->stamps[row->late][i];
		const int64_t begin = s->entered > from ? s->entered : from;
		const int64_t end = s->leaving < to ? s->leaving : to;

		if (end > begin)
			add_function(row, s->function, end - begin);
	}
}

KNOWN_UNTRACED static int64_t length(int64_t from, int64_t needed, int64_t until)
{
	const int64_t to = needed < until ? needed : until;

	return to > from ? to - from : 0;
}

/* What a waited for rank rb, which came between `last` and last_most. sure: it was this rank, and
 * this kind. */
KNOWN_UNTRACED static void count_wait(const struct known_stamp *a, enum known_kind kind, int rb,
	int64_t last, int64_t last_most, int sure)
{
	struct row *row = row_of(a, kind, rb);

	row->calls++;
	row->most += length(a->enter, last_most, a->left);
	row->least += sure ? length(a->entered, last, a->leaving) : 0;
	if (sure)
		look_at(row, a->entered, a->entered + length(a->entered, last, a->leaving));
}

KNOWN_UNTRACED static void count_kinds(
	const struct known_stamp *a, int ra, int rb, int64_t last, int64_t last_most, int sure)
{
	enum lay lay = NEVER;

	if (a->kind == KNOWN_LATE_SENDER)
		lay = lay_there(a, ra, last < a->leaving ? last : a->leaving,
			last_most < a->left ? last_most : a->left);
	if (lay != SURELY)
		count_wait(a, a->kind, rb, last, last_most, sure && lay == NEVER);
	if (lay != NEVER)
		count_wait(a, KNOWN_WRONG_ORDER, rb, last, last_most, sure && lay == SURELY);
}

/* Who of those that a needs was last; several ones, if stamps do not tell. */
KNOWN_UNTRACED static void judge(const struct known_stamp *a, int ra)
{
	int64_t last = 0, last_most = 0;
	int64_t entered[KNOWN_RANKS] = {0};
	int n = 0, returned;

	for (int rb = 0; rb < known_size; rb++)
		for (int i = 0; i < shared->n[rb]; i++) {
			const struct known_stamp *b = &shared->stamps[rb][i];

			if (!needs(a, ra, b, rb))
				continue;
			last = b->enter > last ? b->enter : last;
			last_most = b->entered > last_most ? b->entered : last_most;
			entered[rb] = b->entered > entered[rb] ? b->entered : entered[rb];
		}
	if (!length(a->enter, last_most, a->left))
		return;
	returned = is_rma(a) && a->left < last;
	for (int rb = 0; rb < known_size; rb++)
		n += entered[rb] >= last && entered[rb];
	for (int rb = 0; rb < known_size; rb++)
		if (entered[rb] && entered[rb] >= last)
			count_kinds(a, ra, rb, last, last_most, n == 1 && !returned);
}

KNOWN_UNTRACED static void print_row(const struct known_property *of, const struct row *row)
{
	static const char *const kinds[KNOWN_WAITS] = {"late_sender", "barrier", "nxn", "nxn",
		"late_root", "early_root", "scan", "wrong_order", "late_receiver", "rma_fence",
		"rma_post", "rma_complete", "rma_lock"};
	int most = 0;

	for (int i = 1; i < FUNCTIONS; i++)
		if (row->functions[i].ns > row->functions[most].ns)
			most = i;
	printf("wait %s %s %s %s %d %.9f %.9f %d %s %.3f\n", of[row->like->property].name,
		row->like->function, row->like->caller, kinds[row->kind], row->late,
		1e-9 * (double)row->least, 1e-9 * (double)row->most, (int)row->calls,
		row->functions[most].name ?: "-",
		(double)row->functions[most].ns / (double)row->most);
}

KNOWN_UNTRACED static void tell(const struct known_property *of, int n)
{
	for (int i = 0; i < n; i++)
		printf("meant %s %s\n", of[i].name, of[i].meant ?: "nothing");
	for (int r = 0; r < known_size; r++)
		for (int i = 0; i < shared->n[r]; i++)
			if (shared->stamps[r][i].kind < KNOWN_WAITS)
				judge(&shared->stamps[r][i], r);
	for (int i = 0; i < n_rows; i++)
		print_row(of, &rows[i]);
	fflush(stdout);
}

/* The caller of all properties in the profile. */
static void play(const struct known_property *of, int n)
{
	for (int i = 0; i < n; i++)
		for (int turn = 0; of[i].run && turn < known_turns; turn++) {
			begin_turn(i, turn);
			of[i].run();
		}
}

void known_play(const struct known_property *of, int n)
{
	play(of, n);
	known_meet();
	if (!known_rank)
		tell(of, n);
	known_meet();
}
