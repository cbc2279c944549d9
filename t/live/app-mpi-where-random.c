/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For tests of `vftr where': app-mpi-where-random DIR SEED. The ranks are divided into groups at
 * random, each with a communicator; each group communicates for a while and then hangs in a way
 * that it knows. Before that each rank writes to DIR/truth.RANK what it is about to do:
 *
 *   rank, pid	of the process
 *   at		the function where it will be
 *   state	running; stopped, or, once DIR/kill is there, ended, each by a signal of its own
 *   missing	the ranks that have not come to its collective call, which has the number `call'
 *   waits	the messages that it waits for, as vftr where shows them
 *   edges	the ranks that may end its wait
 *   stuck	true: nobody ever will, even if all that compute were to go on
 *
 * All ranks draw the same numbers, so each knows what the others do.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define APART	   __attribute__((noinline, noipa))
#define UNSEEN	   __attribute__((no_instrument_function))
#define RANKS_MOST 64
#define TAGS	   1000

struct group {
	int n, member[RANKS_MOST]; /* world ranks, by rank in comm */
	unsigned way, length, tag, how, seed, rounds;
	char name[16];
	MPI_Comm comm;
	int me;
	unsigned calls; /* collective ones */
};

/* What a rank is about to do; its text grows. */
struct truth {
	const char *at, *state;
	int stuck;
	char missing[64], waits[1024], edges[512];
};

static const char *dir;
static int rank, ranks, words[8];
static unsigned drawn;

static UNSEEN unsigned draw(unsigned below)
{
	drawn = drawn * 1664525u + 1013904223u;
	return (drawn >> 8) % below;
}

/* ---- the truth -------------------------------------------------------------------------- */

static UNSEEN void write_truth(const struct group *g, const struct truth *t)
{
	char path[4096], soon[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/truth.%d", dir, rank);
	snprintf(soon, sizeof(soon), "%s/soon.%d", dir, rank);
	f = fopen(soon, "w");
	if (!f)
		exit(1);
	fprintf(f,
		"{\"rank\":%d,\"pid\":%d,\"at\":\"%s\",\"state\":\"%s\",\"stuck\":%s,"
		"\"communicator\":\"%s\",\"call\":%u,\"missing\":[%s],\"waits\":[%s],"
		"\"edges\":[%s],\"way\":%u}\n",
		rank, (int)getpid(), t->at, t->state ? t->state : "running",
		t->stuck ? "true" : "false", g->name, g->calls, t->missing, t->waits, t->edges,
		g->way);
	if (fclose(f) || rename(soon, path))
		exit(1);
}

static UNSEEN void add_text(char *to, size_t room, const char *more)
{
	const size_t n = strlen(to);

	snprintf(to + n, room - n, "%s%s", n ? "," : "", more);
}

/* peer: in the group, -1: any one; tag -1: any one; requests 0: a blocking call. */
static UNSEEN void expect_wait(const struct group *g, struct truth *t, const char *what, int peer,
	int tag, int requests, int of)
{
	char text[256], from[16] = "null", with[16] = "null";

	if (peer >= 0)
		snprintf(from, sizeof(from), "%d", g->member[peer]);
	if (tag >= 0)
		snprintf(with, sizeof(with), "%d", tag);
	snprintf(text, sizeof(text),
		"{\"for\":\"%s\",\"peer\":%s,\"tag\":%s,\"communicator\":\"%s\",\"requests\":%d,"
		"\"of\":%d}",
		what, from, with, g->name, requests, of);
	add_text(t->waits, sizeof(t->waits), text);
	for (int i = 0; i < g->n; i++) {
		snprintf(text, sizeof(text), "%d", g->member[i]);
		if (i == peer || (peer < 0 && i != g->me))
			add_text(t->edges, sizeof(t->edges), text);
	}
}

/* ---- what a rank waits in for ever ---------------------------------------------------------- */

static APART void compute(const char *until)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", dir, until);
	while (access(path, F_OK))
		usleep(20000);
}

static APART void receive_from(struct group *g, int peer, int stuck)
{
	static const char *const calls[] = {"MPI_Recv", "MPI_Wait", "MPI_Probe", "MPI_Mprobe"};
	const unsigned how = (g->how + (unsigned)g->me) % 4;
	const int tag = (int)g->tag + g->me;
	struct truth t = {.at = calls[how], .stuck = stuck};
	MPI_Request request;
	MPI_Message message;

	expect_wait(g, &t, "receive", peer, tag, how == 1, 1);
	write_truth(g, &t);
	switch (how) {
	case 0:
		MPI_Recv(words, 1, MPI_INT, peer, tag, g->comm, MPI_STATUS_IGNORE);
		break;
	case 1:
		MPI_Irecv(words, 1, MPI_INT, peer, tag, g->comm, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		break;
	case 2:
		MPI_Probe(peer, tag, g->comm, MPI_STATUS_IGNORE);
		break;
	default:
		MPI_Mprobe(peer, tag, g->comm, &message, MPI_STATUS_IGNORE);
	}
}

static APART void receive_from_anyone(struct group *g, int stuck)
{
	const int tag = g->how % 2 ? MPI_ANY_TAG : (int)g->tag;
	struct truth t = {.at = "MPI_Recv", .stuck = stuck};

	expect_wait(g, &t, "receive", -1, g->how % 2 ? -1 : tag, 0, 1);
	write_truth(g, &t);
	MPI_Recv(words, 1, MPI_INT, MPI_ANY_SOURCE, tag, g->comm, MPI_STATUS_IGNORE);
}

static APART void send_to(struct group *g, int peer, int stuck)
{
	const int tag = (int)g->tag + g->me, blocks = g->how % 2;
	struct truth t = {.at = blocks ? "MPI_Ssend" : "MPI_Wait", .stuck = stuck};
	MPI_Request request;

	expect_wait(g, &t, "send", peer, tag, !blocks, 1);
	write_truth(g, &t);
	if (blocks) {
		MPI_Ssend(words, 1, MPI_INT, peer, tag, g->comm);
	} else {
		MPI_Issend(words, 1, MPI_INT, peer, tag, g->comm, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
}

/* Two that are alike, and another one, whose message may be there. */
static APART void wait_for_all(struct group *g, int twice, int once, int stuck)
{
	struct truth t = {.at = "MPI_Waitall", .stuck = stuck};
	MPI_Request request[3];

	expect_wait(g, &t, "receive", twice, (int)g->tag, 2, 3);
	expect_wait(g, &t, "receive", once, TAGS, 1, 3);
	write_truth(g, &t);
	MPI_Irecv(&words[0], 1, MPI_INT, twice, (int)g->tag, g->comm, &request[0]);
	MPI_Irecv(&words[1], 1, MPI_INT, once, TAGS, g->comm, &request[1]);
	MPI_Irecv(&words[2], 1, MPI_INT, twice, (int)g->tag, g->comm, &request[2]);
	MPI_Waitall(3, request, MPI_STATUSES_IGNORE);
}

/* For one of two that are open. */
static APART void wait_for_one_of_two(struct group *g, int one, int other, int stuck)
{
	struct truth t = {.at = "MPI_Wait", .stuck = stuck};
	MPI_Request request[2];

	expect_wait(g, &t, "receive", one, (int)g->tag, 1, 1);
	write_truth(g, &t);
	MPI_Irecv(&words[0], 1, MPI_INT, one, (int)g->tag, g->comm, &request[0]);
	MPI_Irecv(&words[1], 1, MPI_INT, other, TAGS, g->comm, &request[1]);
	MPI_Wait(&request[0], MPI_STATUS_IGNORE);
}

static APART void meet_without(struct group *g, int missing, int stuck)
{
	struct truth t = {.at = g->how % 2 ? "MPI_Barrier" : "MPI_Allreduce", .stuck = stuck};

	snprintf(t.missing, sizeof(t.missing), "%d", g->member[missing]);
	snprintf(t.edges, sizeof(t.edges), "%d", g->member[missing]);
	write_truth(g, &t);
	if (g->how % 2)
		MPI_Barrier(g->comm);
	else
		MPI_Allreduce(&words[0], &words[1], 1, MPI_INT, MPI_SUM, g->comm);
}

/* How a call meets: blocking or not, from a root, to a root, or all with all. */
enum meeting { MEET_ALL, MEET_FROM_ROOT, MEET_TO_ROOT };

static UNSEEN void start_meeting(struct group *g, enum meeting kind, int root, MPI_Request *request)
{
	if (kind == MEET_FROM_ROOT)
		MPI_Ibcast(words, 1, MPI_INT, root, g->comm, request);
	else if (kind == MEET_TO_ROOT)
		MPI_Igather(&words[0], 1, MPI_INT, &words[1], 1, MPI_INT, root, g->comm, request);
	else if (g->how / 2 % 2)
		MPI_Iallreduce(&words[0], &words[1], 1, MPI_INT, MPI_SUM, g->comm, request);
	else
		MPI_Ibarrier(g->comm, request);
}

/* missing: a list of world ranks, for any of which this one waits. */
static APART void meet_somehow(
	struct group *g, enum meeting kind, int root, const char *missing, int stuck)
{
	static const char *const blocking[] = {"MPI_Allgather", "MPI_Bcast", "MPI_Reduce",
		"MPI_Alltoall", "MPI_Scatter", "MPI_Gather"};
	const unsigned how = g->how % 2 ? kind + 3 * (g->how / 2 % 2) : 6;
	struct truth t = {.at = how < 6 ? blocking[how] : "MPI_Wait", .stuck = stuck};
	static int all[RANKS_MOST], mine[RANKS_MOST];
	MPI_Request request;

	snprintf(t.missing, sizeof(t.missing), "%s", missing);
	snprintf(t.edges, sizeof(t.edges), "%s", missing);
	write_truth(g, &t);
	switch (how) {
	case 0:
		MPI_Allgather(mine, 1, MPI_INT, all, 1, MPI_INT, g->comm);
		break;
	case 1:
		MPI_Bcast(words, 1, MPI_INT, root, g->comm);
		break;
	case 2:
		MPI_Reduce(mine, all, 1, MPI_INT, MPI_SUM, root, g->comm);
		break;
	case 3:
		MPI_Alltoall(mine, 1, MPI_INT, all, 1, MPI_INT, g->comm);
		break;
	case 4:
		MPI_Scatter(all, 1, MPI_INT, mine, 1, MPI_INT, root, g->comm);
		break;
	case 5:
		MPI_Gather(mine, 1, MPI_INT, all, 1, MPI_INT, root, g->comm);
		break;
	default:
		start_meeting(g, kind, root, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
}

static APART void go_away(struct group *g, const char *state)
{
	struct truth t = {.at = strcmp(state, "stopped") ? "compute" : "go_away", .state = state};

	write_truth(g, &t);
	if (!strcmp(state, "ended")) {
		compute("kill");
		kill(getpid(), SIGKILL);
	}
	compute(strcmp(state, "stopped") ? "never" : "stop");
	kill(getpid(), SIGSTOP);
}

/* ---- ways to hang --------------------------------------------------------------------------- */

static UNSEEN void cycle_of_receives(struct group *g)
{
	receive_from(g, g->me < (int)g->length ? (g->me + 1) % (int)g->length : g->me - 1, 1);
}

static UNSEEN void cycle_of_sends(struct group *g)
{
	if (g->me < (int)g->length)
		send_to(g, (g->me + 1) % (int)g->length, 1);
	else
		receive_from(g, g->me - 1, 1);
}

static UNSEEN void missing_in_a_collective_call(struct group *g)
{
	if (g->me == g->n - 1)
		go_away(g, "running");
	else
		meet_without(g, g->n - 1, 0);
}

/* The last one does something else, and the others wait for it, or for each other. */
static UNSEEN void receive_from_last(struct group *g, const char *state)
{
	if (g->me == g->n - 1)
		go_away(g, state);
	else
		receive_from(g, g->how % 2 ? g->n - 1 : g->me + 1, 0);
}

static UNSEEN void last_computes(struct group *g)
{
	receive_from_last(g, "running");
}

static UNSEEN void last_is_stopped(struct group *g)
{
	receive_from_last(g, "stopped");
}

static UNSEEN void last_is_killed(struct group *g)
{
	receive_from_last(g, "ended");
}

static UNSEEN void wait_with_a_missing_partner(struct group *g)
{
	if (g->me == g->n - 1) {
		MPI_Send(words, 1, MPI_INT, 0, g->n > 2 ? TAGS + 1 : TAGS, g->comm);
		go_away(g, "running");
	}
	if (g->n > 2 && g->me == 1)
		MPI_Send(words, 1, MPI_INT, 0, TAGS, g->comm);
	if (g->me == 0)
		wait_for_all(g, g->n - 1, 1, 0);
	else
		receive_from(g, 0, 0);
}

static UNSEEN void cycle_of_requests(struct group *g)
{
	wait_for_all(g, (g->me + 1) % g->n, (g->me + g->n - 1) % g->n, 1);
}

static UNSEEN void collective_call_and_receive(struct group *g)
{
	if (g->me == 0)
		receive_from(g, 1, 1);
	else
		meet_without(g, 0, 1);
}

static UNSEEN void send_without_receiver(struct group *g)
{
	if (g->me == g->n - 1)
		go_away(g, "running");
	else if (g->me == 0)
		send_to(g, g->n - 1, 0);
	else
		receive_from(g, g->me - 1, 0);
}

static UNSEEN void anyone_of_all(struct group *g)
{
	receive_from_anyone(g, 1);
}

static UNSEEN void anyone_of_one_that_computes(struct group *g)
{
	if (g->me == g->n - 1)
		go_away(g, "running");
	else
		receive_from_anyone(g, 0);
}

/* The ranks of a group but for some, which come first. */
static UNSEEN void list_members(const struct group *g, int from, char *text, size_t room)
{
	char number[16];

	text[0] = '\0';
	for (int i = from; i < g->n; i++) {
		snprintf(number, sizeof(number), "%d", g->member[i]);
		add_text(text, room, number);
	}
}

/* The last one has not come, and receives from the first one, or computes. */
static UNSEEN void meet_without_last(struct group *g, enum meeting kind, int root, int receives)
{
	char missing[64];

	list_members(g, g->n - 1, missing, sizeof(missing));
	if (g->me < g->n - 1)
		meet_somehow(g, kind, root, missing, receives);
	else if (receives)
		receive_from(g, 0, 1);
	else
		go_away(g, "running");
}

static UNSEEN void late_root(struct group *g)
{
	meet_without_last(g, MEET_FROM_ROOT, g->n - 1, 0);
}

static UNSEEN void root_that_receives(struct group *g)
{
	meet_without_last(g, MEET_FROM_ROOT, g->n - 1, 1);
}

static UNSEEN void member_that_receives(struct group *g)
{
	meet_without_last(g, MEET_ALL, 0, 1);
}

/* The root waits for all others, of which the last one may receive from it; who has nothing to
 * wait for would go on. */
static UNSEEN void root_alone(struct group *g, int receives)
{
	char missing[64];

	list_members(g, 1, missing, sizeof(missing));
	if (!g->me)
		meet_somehow(g, MEET_TO_ROOT, 0, missing, receives);
	else if (receives && g->me == g->n - 1)
		receive_from(g, 0, 1);
	else
		go_away(g, "running");
}

static UNSEEN void root_that_nobody_sends_to(struct group *g)
{
	root_alone(g, 0);
}

static UNSEEN void root_that_is_received_from(struct group *g)
{
	root_alone(g, 1);
}

static UNSEEN void cycle_of_waits(struct group *g)
{
	wait_for_one_of_two(g, (g->me + 1) % g->n, (g->me + g->n - 1) % g->n, 1);
}

/* All wait for the last one, which waits for the first one; or computes. */
static UNSEEN void wait_for_one_that_waits(struct group *g)
{
	const int other = g->n > 2 ? (g->me + 1) % (g->n - 1) : g->n - 1;

	if (g->me < g->n - 1)
		wait_for_one_of_two(g, g->n - 1, other, g->how % 2);
	else if (g->how % 2)
		receive_from(g, 0, 1);
	else
		go_away(g, "running");
}

static void (*const ways[])(struct group *g) = {cycle_of_receives, cycle_of_sends,
	missing_in_a_collective_call, last_computes, last_is_stopped, last_is_killed,
	wait_with_a_missing_partner, cycle_of_requests, collective_call_and_receive,
	send_without_receiver, anyone_of_all, anyone_of_one_that_computes, late_root,
	root_that_receives, member_that_receives, root_that_nobody_sends_to,
	root_that_is_received_from, cycle_of_waits, wait_for_one_that_waits};
#define WAYS (sizeof(ways) / sizeof(*ways))

/* ---- before that
 * --------------------------------------------------------------------------------- */

static UNSEEN void communicate(struct group *g)
{
	const int next = (g->me + 1) % g->n, before = (g->me + g->n - 1) % g->n;
	MPI_Request request[2];

	drawn = g->seed;
	for (unsigned i = 0; i < g->rounds; i++) {
		switch (draw(5)) {
		case 0:
			MPI_Allreduce(&words[0], &words[1], 1, MPI_INT, MPI_SUM, g->comm);
			g->calls++;
			break;
		case 1:
			MPI_Bcast(words, 4, MPI_INT, (int)draw((unsigned)g->n), g->comm);
			g->calls++;
			break;
		case 2:
			MPI_Sendrecv(&words[0], 1, MPI_INT, next, 5, &words[1], 1, MPI_INT, before,
				5, g->comm, MPI_STATUS_IGNORE);
			break;
		case 3:
			MPI_Irecv(&words[1], 1, MPI_INT, before, 6, g->comm, &request[0]);
			MPI_Isend(&words[0], 1, MPI_INT, next, 6, g->comm, &request[1]);
			MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
			break;
		default:
			MPI_Barrier(g->comm);
			g->calls++;
		}
	}
}

/* All draw the same; *g: the group of this rank. Returns the number of that. */
static UNSEEN int draw_groups(struct group *g)
{
	int order[RANKS_MOST], mine = -1, n = 0;

	for (int i = 0; i < ranks; i++) {
		const int k = (int)draw((unsigned)i + 1);

		order[i] = order[k];
		order[k] = i;
	}
	for (int from = 0, size; from < ranks; from += size, n++) {
		struct group now = {.seed = draw(1u << 24), .way = draw(WAYS)};

		size = 2 + (int)draw(3);
		if (ranks - from - size < 2)
			size = ranks - from;
		now.n = size;
		now.length = 2 + draw((unsigned)size - 1);
		now.tag = 1 + draw(TAGS / 2);
		now.how = draw(4);
		now.rounds = draw(8);
		snprintf(now.name, sizeof(now.name), "group %d", n);
		for (int i = 0; i < size; i++) {
			now.member[i] = order[from + i];
			if (now.member[i] != rank)
				continue;
			mine = n;
			now.me = i;
		}
		if (mine == n)
			*g = now;
	}
	return mine;
}

int main(int argc, char **argv)
{
	struct group g = {0};
	int mine, level;

	MPI_Init_thread(
		&argc, &argv, atoi(argv[2]) % 2 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	dir = argv[1];
	drawn = (unsigned)atoi(argv[2]) * 2654435761u;
	mine = draw_groups(&g);
	MPI_Comm_split(MPI_COMM_WORLD, mine, g.me, &g.comm);
	MPI_Comm_set_name(g.comm, g.name);
	communicate(&g);
	ways[g.way](&g);
	return 1; /* it was to hang */
}
