/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files of Vftrace's version 3, read back by a reader that knows only that
 * format's description: every field at its place, every byte accounted for.
 */
#include <check.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nodeagent/trace/dump/vftrace.h"
#include "nodeagent/trace/read/collectives.h"
#include "t/unit/trace/vfd-by-hand.h"
#include "t/lib/suite.h"

static char dir[] = "/tmp/u-vfd-classic.XXXXXX";
static char path[64], classic[64];

struct bytes {
	unsigned char *buf;
	size_t n, at;
};

static void get(struct bytes *b, void *to, size_t n)
{
	if (n > b->n - b->at)
		ck_abort_msg("the file ends at %zu, %zu more are needed", b->at, n);
	memcpy(to, b->buf + b->at, n);
	b->at += n;
}

static int get_int(struct bytes *b)
{
	int x;

	get(b, &x, 4);
	return x;
}

static long long get_long(struct bytes *b)
{
	long long x;

	get(b, &x, 8);
	return x;
}

static const char *get_text(struct bytes *b)
{
	int n = get_int(b);
	const char *text = (const char *)b->buf + b->at;

	ck_assert_int_gt(n, 0);
	ck_assert_uint_le((size_t)n, b->n - b->at);
	ck_assert_uint_eq(strlen(text) + 1, (size_t)n);
	b->at += (size_t)n;
	return text;
}

static void read_file(struct bytes *b)
{
	struct stat st;
	FILE *in;

	ck_assert_int_eq(stat(classic, &st), 0);
	*b = (struct bytes){.buf = malloc((size_t)st.st_size), .n = (size_t)st.st_size};
	in = fopen(classic, "r");
	ck_assert_uint_eq(fread(b->buf, 1, b->n, in), b->n);
	fclose(in);
}

static struct vfd_file *make(struct hand *h, int process, struct bytes *b)
{
	struct vfd_setup s = {.path = path};
	struct vfd_file *f;
	char *error;

	*h = (struct hand){.state = 5};
	hand_begin(h, &s);
	hand_run(h, 20000, 400);
	ck_assert_int_eq(hand_end(h), 0);
	f = vfd_open(path, &error);
	ck_assert_ptr_nonnull(f);
	ck_assert_msg(vfd_classic_write(f, (uint32_t)process, classic, &error), "%s", error);
	read_file(b);
	return f;
}

START_TEST(every_field_is_at_its_place)
{
	int kinds[3] = {0}, parents, functions, messages, n_stacks, rank = _i, open[2] = {0};
	long long at[4], last[3] = {0}, end;
	const char *names[4096];
	struct vfd_file *f;
	struct bytes b;
	struct hand h;
	double runtime;
	char date[25];

	setenv("TZ", "UTC0", 1);
	f = make(&h, rank, &b);
	end = (long long)(hand_last(&h) - HAND_START) / 2;
	ck_assert_int_eq(get_int(&b), 3);
	ck_assert_str_eq(get_text(&b), "Vftrace 2.0.0");
	ck_assert_int_eq(get_int(&b), 25);
	get(&b, date, 25);
	ck_assert_str_eq(date, "Tue Nov 14 22:13:20 2023");
	get(&b, date, 25);
	ck_assert_str_eq(date, "Tue Nov 14 22:13:20 2023");
	ck_assert_int_eq(get_long(&b), 0); /* interval */
	ck_assert_int_eq(get_int(&b), 2);
	ck_assert_int_eq(get_int(&b), rank);
	ck_assert_int_eq(get_int(&b), 2); /* threads */
	get(&b, &runtime, 8);
	ck_assert_int_eq((long long)(runtime * 1e9 + 0.5), end);
	functions = get_int(&b);
	messages = get_int(&b);
	n_stacks = get_int(&b);
	ck_assert_int_eq(get_int(&b), 0);
	ck_assert_int_eq(get_int(&b), 0);
	for (int i = 0; i < 4; i++)
		at[i] = get_long(&b);
	ck_assert_uint_eq(b.at, 156);
	ck_assert_int_eq(at[0], 156);

	for (int i = 0; i < functions + messages; i++) {
		int kind = get_int(&b), stack;
		long long time;

		if (kind < 0 || kind > 2)
			ck_abort_msg("kind %d of record %d", kind, i);
		kinds[kind]++;
		if (kind < 2) {
			stack = get_int(&b);
			time = get_long(&b);
			open[kind]++;
			if (i + 1 == functions + messages) {
				ck_assert_int_eq(kind, 1);
				ck_assert_int_eq(stack, 0);
				ck_assert_int_eq(time, end);
			}
			if (time < last[0])
				ck_abort_msg("time goes backwards");
			last[0] = time;
		} else {
			int way = get_int(&b), peer = get_int(&b), type = get_int(&b);
			int count = get_int(&b), size = get_int(&b), tag = get_int(&b);
			long long from = get_long(&b), to = get_long(&b);

			stack = get_int(&b);
			if ((way != 0 && way != 1) || peer != 1 - rank || type != 13 || size != 8 ||
				count < 0 || count >= 10000 || tag < 0 || tag >= 100 || from > to ||
				to - from >= 2500 || get_int(&b) > 1)
				ck_abort_msg("message %d is wrong", i);
		}
		if (stack < 0 || stack >= n_stacks)
			ck_abort_msg("stack %d of record %d", stack, i);
	}
	ck_assert_int_eq(kinds[0] + kinds[1], functions);
	ck_assert_int_eq(kinds[2], messages);
	ck_assert_int_gt(messages, 20);
	ck_assert_int_eq(open[0] + 1, open[1]); /* no call of init */
	ck_assert_uint_eq(b.at, (size_t)at[1]);

	for (int i = 0; i < n_stacks; i++) {
		int caller = get_int(&b);

		ck_assert(i ? caller >= 0 && caller < i : caller == -1);
		names[i] = get_text(&b);
	}
	ck_assert_str_eq(names[0], "init");
	for (int i = 1; i < n_stacks; i++) {
		bool precise = !strncmp(names[i], "MPI_", 4) || !strncmp(names[i], "halo", 4) ||
			       !strncmp(names[i], "phase one", 9);

		ck_assert_int_eq(names[i][strlen(names[i]) - 1] == '*', precise);
	}
	ck_assert_uint_eq(b.at, (size_t)at[2]);
	parents = get_int(&b);
	ck_assert_int_eq(parents, -1);
	ck_assert_int_eq(get_int(&b), 0);
	ck_assert_uint_eq(b.at, (size_t)at[3]);
	ck_assert_uint_eq(b.at, b.n);
	free(b.buf);
	vfd_close(f);
	hand_free(&h);
}
END_TEST

START_TEST(calls_are_those_of_both_threads)
{
	uint64_t given = 0;
	struct vfd_file *f;
	struct bytes b;
	struct hand h;

	f = make(&h, 1, &b);
	for (uint32_t track = 2; track < 4; track++)
		for (size_t i = 0; i < h.n_given[track]; i++)
			given += h.given[track][i].kind <= VFD_EXIT;
	b.at = 4 + 4 + 14 + 4 + 50 + 8 + 12 + 8;
	ck_assert_uint_eq((unsigned)get_int(&b), given + 1);
	free(b.buf);
	vfd_close(f);
	hand_free(&h);
}
END_TEST

START_TEST(a_process_that_is_not_there_is_refused)
{
	struct vfd_file *f;
	struct bytes b;
	struct hand h;
	char *error;

	f = make(&h, 0, &b);
	ck_assert(!vfd_classic_write(f, 3000, classic, &error));
	ck_assert_ptr_nonnull(strstr(error, "it has no process 3000"));
	free(error);
	ck_assert(!vfd_classic_write(f, 0, "/tmp/none/such/x.vfd", &error));
	ck_assert_str_eq(error, "/tmp/none/such/x.vfd: No such file or directory");
	free(error);
	free(b.buf);
	vfd_close(f);
	hand_free(&h);
}
END_TEST

START_TEST(names_have_as_many_digits_as_ranks)
{
	static const struct {
		int rank;
		uint32_t ranks;
		const char *path;
	} rows[] = {
		{0, 1, "d/x_0.vfd"},
		{3, 9, "d/x_3.vfd"},
		{3, 10, "d/x_03.vfd"},
		{11, 111, "d/x_011.vfd"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *p = vfd_classic_path("d", "x", rows[i].rank, rows[i].ranks);

		ck_assert_str_eq(p, rows[i].path);
		free(p);
	}
}
END_TEST

START_TEST(types_have_the_numbers_of_vftrace)
{
	ck_assert_str_eq(vfd_mpitype(0)->name, "MPI_DERIVED_TYPE");
	ck_assert_int_eq(vfd_mpitype(0)->classic, -1);
	ck_assert_str_eq(vfd_mpitype(8)->name, "MPI_INT");
	ck_assert_int_eq(vfd_mpitype(8)->classic, 2);
	ck_assert_int_eq(vfd_mpitype(16)->classic, 13);
	ck_assert_int_eq(vfd_mpitype(4)->classic, 35);
	ck_assert_int_eq(vfd_mpitype(100000)->classic, -1);
}
END_TEST

/* ---- operations as messages ---- */

enum on { NOWHERE, ODD, INTER, TURNED, OLD_INTER, MANY, ONS };

/* World ranks 1, 3, 5 of which the process is the first; 1, 2 and 4, 0; 2, 1 and 4, 0; as older
 * files have it, some and 4, 0; many. */
static void define_comms(struct hand *h, uint32_t *number)
{
	static const struct wire_run odd[] = {{1, 2, 3}}, inter[] = {{1, 1, 2}, {4, -4, 2}},
				     turned[] = {{2, -1, 2}, {4, -4, 2}},
				     old[] = {{-1, 0, 2}, {4, -4, 2}},
				     many[] = {{1, 1, 1}, {20000, -1, 9998}, {0, 0, 1}};
	const struct vfd_comm comms[ONS] = {[ODD] = {.id = 1, .size = 3, .runs = odd, .n_runs = 1},
		[INTER] = {.id = 2, .size = 2, .remote_size = 2, .runs = inter, .n_runs = 2},
		[TURNED] = {.id = 5, .size = 2, .remote_size = 2, .runs = turned, .n_runs = 2},
		[OLD_INTER] = {.id = 4, .size = 2, .remote_size = 2, .runs = old, .n_runs = 2},
		[MANY] = {.id = 3, .size = 10000, .runs = many, .n_runs = 3}};

	for (int i = ODD; i < ONS; i++)
		number[i] = vfd_define_comm(h->w, &comms[i]);
}

static const struct operation {
	const char *messages; /* s or r, peer, bytes */
	enum on on;
	uint32_t function, peer, sends, receives;
	uint64_t bytes, bytes_received;
} operations[] = {
	{"", ODD, VFTR_MPI_BARRIER, VFD_NONE, 0, 0, 0, 0},
	{"s1:40 s3:40 s5:40 ", ODD, VFTR_MPI_BCAST, 1, 3, 0, 120, 0},
	{"s1:0 s3:0 s5:0 ", ODD, VFTR_MPI_BCAST_C, 1, 3, 0, 0, 0},
	{"r5:40 ", ODD, VFTR_MPI_IBCAST, 5, 0, 1, 0, 40},
	{"s1:8 r1:8 r3:8 r5:8 ", ODD, VFTR_MPI_GATHER, 1, 1, 3, 8, 24},
	{"r3:8 r5:8 ", ODD, VFTR_MPI_GATHER_INIT, 1, 0, 2, 0, 16},
	{"s3:8 ", ODD, VFTR_MPI_GATHER, 3, 1, 0, 8, 0},
	{"s1:4 r-1:24 ", ODD, VFTR_MPI_GATHERV, 1, 1, 3, 4, 24},
	{"s1:0 r1:0 r3:0 r5:0 ", ODD, VFTR_MPI_IGATHERV_C, 1, 1, 3, 0, 0},
	{"s1:8 s3:8 s5:8 r1:8 ", ODD, VFTR_MPI_SCATTER, 1, 3, 1, 24, 8},
	{"s-1:24 r1:4 ", ODD, VFTR_MPI_SCATTERV, 1, 3, 1, 24, 4},
	{"s1:8 r1:8 r3:8 r5:8 ", ODD, VFTR_MPI_REDUCE, 1, 1, 3, 8, 24},
	{"s1:8 s3:8 s5:8 r1:8 r3:8 r5:8 ", ODD, VFTR_MPI_ALLREDUCE, VFD_NONE, 3, 3, 24, 24},
	{"s3:8 s5:8 r3:8 r5:8 ", ODD, VFTR_MPI_IALLREDUCE, VFD_NONE, 2, 2, 16, 16},
	{"s1:8 s3:8 s5:8 r1:8 r3:8 r5:8 ", ODD, VFTR_MPI_ALLTOALL, VFD_NONE, 3, 3, 24, 24},
	{"s-1:24 r-1:25 ", ODD, VFTR_MPI_ALLTOALLV, VFD_NONE, 3, 3, 24, 25},
	{"s1:8 s3:8 s5:8 r-1:24 ", ODD, VFTR_MPI_ALLGATHERV, VFD_NONE, 3, 3, 24, 24},
	{"s3:8 ", ODD, VFTR_MPI_SCAN, VFD_NONE, 1, 0, 8, 0},
	{"s1:24 r1:24 r3:24 r5:24 s1:4 s-1:20 r1:4 ", ODD, VFTR_MPI_REDUCE_SCATTER, VFD_NONE, 4, 4,
		48, 76},
	{"s1:30 r1:30 r3:30 r5:30 s1:10 s3:10 s5:10 r1:10 ", ODD, VFTR_MPI_REDUCE_SCATTER_BLOCK,
		VFD_NONE, 4, 4, 60, 100},
	{"s3:10 s5:10 r3:30 r5:30 ", ODD, VFTR_MPI_REDUCE_SCATTER_BLOCK, VFD_NONE, 2, 2, 20, 60},
	{"s-1:8 r-1:12 ", ODD, VFTR_MPI_NEIGHBOR_ALLGATHER, VFD_NONE, 2, 3, 8, 12},
	{"s4:40 s0:40 ", INTER, VFTR_MPI_BCAST, 1, 2, 0, 80, 0},
	{"s4:40 ", INTER, VFTR_MPI_GATHER, 4, 1, 0, 40, 0},
	{"s4:8 s0:8 r4:8 r0:8 ", INTER, VFTR_MPI_ALLREDUCE, VFD_NONE, 2, 2, 16, 16},
	{"s4:20 r4:20 r0:20 s1:10 s2:10 r1:10 ", INTER, VFTR_MPI_REDUCE_SCATTER_BLOCK, VFD_NONE, 3,
		3, 40, 50},
	{"s4:20 r4:20 r0:20 s1:9 s2:11 r1:9 ", INTER, VFTR_MPI_IREDUCE_SCATTER, VFD_NONE, 3, 3, 40,
		49},
	{"s4:20 r2:10 ", TURNED, VFTR_MPI_REDUCE_SCATTER_BLOCK, VFD_NONE, 1, 1, 20, 10},
	{"s4:20 r4:20 r0:20 s-1:20 r1:10 ", OLD_INTER, VFTR_MPI_REDUCE_SCATTER_BLOCK, VFD_NONE, 3,
		3, 40, 50},
	{"s4:20 r-1:10 ", OLD_INTER, VFTR_MPI_REDUCE_SCATTER_BLOCK, VFD_NONE, 1, 1, 20, 10},
	/* numbers that can't be, and operations that are not known */
	{"s-1:24 r-1:24 ", ODD, VFTR_MPI_ALLTOALL, VFD_NONE, 7, 7, 24, 24},
	{"s-1:25 r1:8 r3:8 r5:8 ", ODD, VFTR_MPI_ALLTOALL, VFD_NONE, 3, 3, 25, 24},
	{"s-1:24 r-1:24 ", ODD, VFTR_MPI_ALLTOALL, VFD_NONE, 0, 0, 24, 24},
	{"s-1:24 r-1:24 ", NOWHERE, VFTR_MPI_ALLTOALL, VFD_NONE, 3, 3, 24, 24},
	{"s-1:24 ", ODD, 100000, VFD_NONE, 3, 0, 24, 0},
	{"s-1:4294967295 r-1:9 ", ODD, VFTR_MPI_REDUCE_SCATTER, VFD_NONE, UINT32_MAX, UINT32_MAX,
		UINT32_MAX, 9},
};

static struct vfd_message message_of(const struct operation *o, const uint32_t *comms)
{
	return (struct vfd_message){.kind = VFD_COLLECTIVE,
		.track = 2, /* of rank 1 */
		.comm = o->on ? comms[o->on] : 4711,
		.function = o->function,
		.peer = o->peer,
		.sends = o->sends,
		.receives = o->receives,
		.bytes = o->bytes,
		.bytes_received = o->bytes_received,
		.type = 8,
		.start = HAND_START + 100,
		.end = HAND_START + 200,
		.ticket = 77,
		.sender_thread = VFD_NONE};
}

static struct vfd_file *with_comms(struct hand *h, uint32_t *comms, bool messages)
{
	struct vfd_setup s = {.path = path};
	struct vfd_file *f;
	char *error;

	*h = (struct hand){.state = 5};
	hand_begin(h, &s);
	define_comms(h, comms);
	for (size_t i = 0; messages && i < ARRAY_SIZE(operations); i++) {
		struct vfd_message m = message_of(&operations[i], comms);

		vfd_message(h->w, h->tracks[2], &m);
	}
	ck_assert_int_eq(hand_end(h), 0);
	f = vfd_open(path, &error);
	ck_assert_ptr_nonnull(f);
	return f;
}

static void expanded(struct vfd_file *f, const struct vfd_message *m, char *to, size_t bytes)
{
	struct vfd_expansion x;
	const struct vfd_message *one;
	uint64_t n;

	*to = 0;
	vfd_expand(&x, f, m);
	n = vfd_expand_count(&x);
	while ((one = vfd_expand_next(&x))) {
		size_t used = strlen(to);

		ck_assert_int_eq(one->tag, -1);
		ck_assert_uint_eq(one->ticket, 0);
		ck_assert_uint_eq(one->comm, m->comm);
		snprintf(to + used, bytes - used, "%c%d:%llu ", one->kind == VFD_SEND ? 's' : 'r',
			(int)one->peer, (unsigned long long)one->bytes);
		n--;
	}
	ck_assert_uint_eq(n, 0);
}

START_TEST(operations_are_the_messages_of_vftrace)
{
	struct vfd_message m;
	uint32_t comms[ONS];
	struct vfd_file *f;
	char got[256];
	struct hand h;

	f = with_comms(&h, comms, false);
	for (size_t i = 0; i < ARRAY_SIZE(operations); i++) {
		m = message_of(&operations[i], comms);
		expanded(f, &m, got, sizeof(got));
		ck_assert_msg(!strcmp(got, operations[i].messages), "%zu: wanted %s, got %s", i,
			operations[i].messages, got);
	}
	m = (struct vfd_message){.kind = VFD_RMA, .peer = 3, .bytes = 8, .bytes_received = 16};
	expanded(f, &m, got, sizeof(got));
	ck_assert_str_eq(got, "r3:16 s3:8 ");
	vfd_close(f);
	hand_free(&h);
}
END_TEST

/* Of the process of track 2: neighbours 3 and 3, from 5 and somebody; lengths of calls. */
static void define_more(struct hand *h, const uint32_t *comms)
{
	static const struct wire_run to[] = {{3, 0, 2}}, from[] = {{5, 1, 1}, {-1, 0, 1}};
	static const uint64_t few[] = {4, 8, 12}, more[] = {9, 9, 6};
	struct vfd_neighbours n = {.process = 1, .comm = comms[ODD], .runs = to, .n_runs = 1};
	struct vfd_lengths l = {
		.process = 1, .comm = comms[ODD], .ticket = 1, .n = 3, .bytes = few};

	vfd_define_neighbours(h->w, &n);
	n.received = true;
	n.runs = from;
	n.n_runs = 2;
	vfd_define_neighbours(h->w, &n);
	vfd_lengths(h->w, &l); /* ticket 1: both ways, in pieces that come in any order */
	l.received = true;
	l.first = 1;
	l.n = 2;
	vfd_lengths(h->w, &l);
	l.first = 0;
	l.n = 1;
	l.bytes = more;
	vfd_lengths(h->w, &l);
	l = (struct vfd_lengths){.process = 1,
		.comm = comms[MANY],
		.ticket = 2,
		.n = 9997,
		.same = true,
		.bytes = few};
	vfd_lengths(h->w, &l);
	l.first = 9997;
	l.same = false;
	l.n = 3;
	vfd_lengths(h->w, &l);
}

START_TEST(lengths_and_neighbours)
{
	static const struct {
		struct operation o;
		uint64_t ticket;
	} rows[] = {
		{{"s1:4 s3:8 s5:12 r1:9 r3:4 r5:8 ", ODD, VFTR_MPI_ALLTOALLV, VFD_NONE, 3, 3, 24,
			 21},
			1},
		{{"s1:4 s3:8 s5:12 r5:7 ", ODD, VFTR_MPI_SCATTERV, 5, 3, 1, 24, 7}, 1},
		{{"s1:24 r1:24 r3:24 r5:24 s1:4 s3:8 s5:12 r1:4 ", ODD, VFTR_MPI_REDUCE_SCATTER,
			 VFD_NONE, 4, 4, 48, 76},
			1},
		/* other sums, other numbers, another call */
		{{"s-1:23 r-1:21 ", ODD, VFTR_MPI_ALLTOALLV, VFD_NONE, 2, 2, 23, 21}, 1},
		{{"s-1:12 r-1:20 ", ODD, VFTR_MPI_ALLTOALLV, VFD_NONE, 3, 3, 12, 20}, 1},
		{{"s-1:24 r-1:21 ", ODD, VFTR_MPI_ALLTOALLV, VFD_NONE, 3, 3, 24, 21}, 3},
		{{"s3:4 s3:4 r5:6 r-1:6 ", ODD, VFTR_MPI_NEIGHBOR_ALLGATHER, VFD_NONE, 2, 2, 8, 12},
			1},
		{{"s-1:9 r-1:12 ", ODD, VFTR_MPI_NEIGHBOR_ALLTOALL, VFD_NONE, 2, 3, 9, 12}, 1},
		{{"s-1:8 r5:0 r-1:0 ", ODD, VFTR_MPI_NEIGHBOR_ALLTOALLV, VFD_NONE, 2, 2, 8, 0}, 1},
		{{"s-1:8 ", INTER, VFTR_MPI_NEIGHBOR_ALLGATHER, VFD_NONE, 2, 0, 8, 0}, 1},
	};
	struct vfd_setup setup = {.path = path};
	uint32_t comms[ONS], n = 0;
	const struct vfd_message *one;
	struct vfd_expansion x;
	struct vfd_message m;
	struct vfd_file *f;
	struct hand h = {.state = 5};
	uint64_t sum = 0;
	char got[256], *error;

	hand_begin(&h, &setup);
	define_comms(&h, comms);
	define_more(&h, comms);
	ck_assert_int_eq(hand_end(&h), 0);
	f = vfd_open(path, &error);
	ck_assert_ptr_nonnull(f);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		m = message_of(&rows[i].o, comms);
		m.ticket = rows[i].ticket;
		expanded(f, &m, got, sizeof(got));
		ck_assert_msg(!strcmp(got, rows[i].o.messages), "%zu: wanted %s, got %s", i,
			rows[i].o.messages, got);
	}
	m = message_of(&(struct operation){"", MANY, VFTR_MPI_SCATTERV, VFD_NONE, 10000, 0,
			       9997 * 4 + 24, 0},
		comms);
	m.ticket = 2;
	for (vfd_expand(&x, f, &m); (one = vfd_expand_next(&x)); n++) {
		ck_assert_uint_eq(one->bytes, n < 9998 ? 4 : n == 9998 ? 8 : 12);
		sum += one->bytes;
	}
	ck_assert_uint_eq(n, 10000);
	ck_assert_uint_eq(sum, m.bytes);
	vfd_close(f);
	hand_free(&h);
}
END_TEST

START_TEST(many_ranks_are_gone_through_one_by_one)
{
	const struct operation all = {
		"", MANY, VFTR_MPI_ALLTOALL, VFD_NONE, 10000, 10000, 80000, 80000};
	const struct vfd_message *one;
	struct vfd_expansion x;
	struct vfd_message m;
	uint32_t comms[ONS], n = 0;
	struct vfd_file *f;
	struct hand h;

	f = with_comms(&h, comms, false);
	m = message_of(&all, comms);
	vfd_expand(&x, f, &m);
	ck_assert_uint_eq(vfd_expand_count(&x), 20000);
	for (; (one = vfd_expand_next(&x)); n++) {
		const uint32_t rank = n % 10000;

		ck_assert_uint_eq(one->bytes, 8);
		ck_assert_int_eq(one->kind, n < 10000 ? VFD_SEND : VFD_RECEIVE);
		ck_assert_uint_eq(one->peer, !rank ? 1 : rank < 9999 ? 20001 - rank : 0);
	}
	ck_assert_uint_eq(n, 20000);
	vfd_close(f);
	hand_free(&h);
}
END_TEST

START_TEST(no_byte_is_lost_or_made_up)
{
	const struct vfd_message *one;
	struct vfd_expansion x;
	uint32_t comms[ONS];
	struct vfd_file *f;
	struct hand h;

	f = with_comms(&h, comms, false);
	for (int i = 0; i < 20000; i++) {
		const struct operation any = {"", hand_dice(&h, MANY), hand_dice(&h, 300),
			hand_dice(&h, 6), hand_dice(&h, 9), hand_dice(&h, 9), hand_dice(&h, 100),
			hand_dice(&h, 100)};
		struct vfd_message m = message_of(&any, comms);
		uint64_t bytes[2] = {0}, n;

		vfd_expand(&x, f, &m);
		for (n = vfd_expand_count(&x); (one = vfd_expand_next(&x)); n--)
			bytes[one->kind == VFD_RECEIVE] += one->bytes;
		if (n || bytes[0] != m.bytes || bytes[1] != m.bytes_received)
			ck_abort_msg("function %u on %u: %u sends of %u, %u receives of %u",
				any.function, m.comm, m.sends, (unsigned)m.bytes, m.receives,
				(unsigned)m.bytes_received);
	}
	vfd_close(f);
	hand_free(&h);
}
END_TEST

/* Their records in the order of the list: every field. */
START_TEST(operations_stand_in_files_of_vftrace)
{
	size_t n = 0, counted = 0;
	uint32_t comms[ONS];
	struct vfd_file *f;
	struct bytes b;
	struct hand h;
	char *error;

	f = with_comms(&h, comms, true);
	ck_assert_msg(vfd_classic_write(f, 1, classic, &error), "%s", error);
	vfd_close(f);
	read_file(&b);
	for (size_t i = 0; i < ARRAY_SIZE(operations); i++)
		for (const char *at = operations[i].messages; *at; at++)
			counted += *at == ':';
	b.at = 156 - 32 - 16;
	ck_assert_int_eq(get_int(&b), (int)counted);
	b.at = 156;
	for (size_t i = 0; i < ARRAY_SIZE(operations); i++) {
		const char *at = operations[i].messages;
		char way;
		unsigned long long bytes;
		int peer, length;

		for (; sscanf(at, "%c%d:%llu %n", &way, &peer, &bytes, &length) == 3;
			at += length) {
			ck_assert_int_eq(get_int(&b), 2);
			ck_assert_int_eq(get_int(&b), way == 'r');
			ck_assert_int_eq(get_int(&b), peer);
			ck_assert_int_eq(get_int(&b), 2); /* MPI_INT */
			ck_assert_int_eq(get_int(&b), (int)(bytes / 4));
			ck_assert_int_eq(get_int(&b), 4);
			ck_assert_int_eq(get_int(&b), -1);
			ck_assert_int_eq(get_long(&b), 50);
			ck_assert_int_eq(get_long(&b), 100);
			ck_assert_int_eq(get_int(&b), 0);
			ck_assert_int_eq(get_int(&b), 0);
			n++;
		}
	}
	ck_assert_uint_eq(n, counted);
	ck_assert_int_eq(get_int(&b), 1); /* init's exit */
	free(b.buf);
	hand_free(&h);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("vfd-classic");
	TCase *t = tcase_create("all");
	int failed;

	program_name = "u-vfd-classic";
	if (!mkdtemp(dir))
		return 99;
	snprintf(path, sizeof(path), "%s/a.vfd", dir);
	snprintf(classic, sizeof(classic), "%s/a_0.vfd", dir);
	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, every_field_is_at_its_place, 0, 2);
	tcase_add_test(t, calls_are_those_of_both_threads);
	tcase_add_test(t, a_process_that_is_not_there_is_refused);
	tcase_add_test(t, names_have_as_many_digits_as_ranks);
	tcase_add_test(t, types_have_the_numbers_of_vftrace);
	tcase_add_test(t, operations_are_the_messages_of_vftrace);
	tcase_add_test(t, lengths_and_neighbours);
	tcase_add_test(t, many_ranks_are_gone_through_one_by_one);
	tcase_add_test(t, no_byte_is_lost_or_made_up);
	tcase_add_test(t, operations_stand_in_files_of_vftrace);
	suite_add_tcase(s, t);
	failed = run_suite(s);
	unlink(path);
	unlink(classic);
	rmdir(dir);
	return failed;
}
