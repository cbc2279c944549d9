/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocking collective calls. Arguments that mean nothing, on ranks that are not the
 * root or next to MPI_IN_PLACE, are garbage here on purpose: nobody may look.
 */
#include "transparent.h"

enum { N = 4, MOST = 64 };

static int out[N * MOST], in[N * MOST], counts[MOST], places[MOST];

static void prepare(void)
{
	fill(out, N * size, 1000 * rank);
	memset(in, 0xff, sizeof(in));
}

static void result(const char *what)
{
	say("%s %08x", what, checksum(in, sizeof(in)));
}

/* Rank r has r + 1 items (0 of the last rank), with a gap of one between them. */
static int uneven(void)
{
	int place = 0;

	for (int r = 0; r < size; r++) {
		counts[r] = r == size - 1 ? 0 : r + 1;
		places[r] = place;
		place += counts[r] + 1;
	}
	return counts[rank];
}

static void barrier(void)
{
	for (int i = 0; i < 5; i++)
		OK(MPI_Barrier(comm));
	OK(MPI_Barrier(MPI_COMM_SELF));
	say("passed");
}

static void bcast(void)
{
	for (int root = 0; root < size; root++) {
		prepare();
		if (rank == root)
			fill(in, N, 50 + root);
		OK(MPI_Bcast(in, N, MPI_INT, root, comm));
		CHECK(is_filled(in, N, 50 + root));
		OK(MPI_Bcast(NULL, 0, MPI_INT, root, comm));
		result("bcast");
	}
}

static void gather(void)
{
	for (int root = 0; root < size; root++) {
		prepare();
		if (rank == root)
			OK(MPI_Gather(out, N, MPI_INT, in, N, MPI_INT, root, comm));
		else
			OK(MPI_Gather(out, N, MPI_INT, NO_ARRAY, NO_COUNT, NO_TYPE, root, comm));
		for (int r = 0; rank == root && r < size; r++)
			CHECK(is_filled(in + N * r, N, 1000 * r));
		result("gather");
	}
}

static void gather_in_place(void)
{
	prepare();
	if (rank == size - 1) {
		fill(in + N * rank, N, 7);
		OK(MPI_Gather(MPI_IN_PLACE, NO_COUNT, NO_TYPE, in, N, MPI_INT, size - 1, comm));
		CHECK(is_filled(in + N * rank, N, 7));
		CHECK(is_filled(in, N, 0));
	} else {
		OK(MPI_Gather(out, N, MPI_INT, NULL, 0, MPI_DATATYPE_NULL, size - 1, comm));
	}
	result("gather");
}

static void gatherv(void)
{
	const int n = uneven();

	for (int root = 0; root < size; root++) {
		prepare();
		if (rank == root)
			OK(MPI_Gatherv(out, n, MPI_INT, in, counts, places, MPI_INT, root, comm));
		else
			OK(MPI_Gatherv(
				out, n, MPI_INT, NULL, NO_ARRAY, NO_ARRAY, NO_TYPE, root, comm));
		result("gatherv");
	}
	prepare();
	fill(in + places[0], counts[0], 9);
	if (rank == 0)
		OK(MPI_Gatherv(
			MPI_IN_PLACE, NO_COUNT, NO_TYPE, in, counts, places, MPI_INT, 0, comm));
	else
		OK(MPI_Gatherv(out, n, MPI_INT, NULL, NULL, NULL, MPI_DATATYPE_NULL, 0, comm));
	CHECK(rank || in[places[0]] == 9);
	result("in place");
}

static void scatter(void)
{
	for (int root = 0; root < size; root++) {
		prepare();
		if (rank == root)
			OK(MPI_Scatter(out, N, MPI_INT, in, N, MPI_INT, root, comm));
		else
			OK(MPI_Scatter(NO_ARRAY, NO_COUNT, NO_TYPE, in, N, MPI_INT, root, comm));
		CHECK(is_filled(in, N, 1000 * root + N * rank));
		if (rank == root)
			OK(MPI_Scatter(
				out, N, MPI_INT, MPI_IN_PLACE, NO_COUNT, NO_TYPE, root, comm));
		else
			OK(MPI_Scatter(NULL, 0, MPI_DATATYPE_NULL, in, N, MPI_INT, root, comm));
		result("scatter");
	}
}

static void scatterv(void)
{
	const int n = uneven();

	for (int root = 0; root < size; root++) {
		prepare();
		if (rank == root)
			OK(MPI_Scatterv(out, counts, places, MPI_INT, in, n, MPI_INT, root, comm));
		else
			OK(MPI_Scatterv(
				NULL, NO_ARRAY, NO_ARRAY, NO_TYPE, in, n, MPI_INT, root, comm));
		CHECK(is_filled(in, n, 1000 * root + places[rank]));
		if (rank == root)
			OK(MPI_Scatterv(out, counts, places, MPI_INT, MPI_IN_PLACE, NO_COUNT,
				NO_TYPE, root, comm));
		else
			OK(MPI_Scatterv(
				NULL, NULL, NULL, MPI_DATATYPE_NULL, in, n, MPI_INT, root, comm));
		result("scatterv");
	}
}

static void allgather(void)
{
	prepare();
	OK(MPI_Allgather(out, N, MPI_INT, in, N, MPI_INT, comm));
	result("allgather");
	prepare();
	fill(in + N * rank, N, 10 * rank);
	OK(MPI_Allgather(MPI_IN_PLACE, NO_COUNT, NO_TYPE, in, N, MPI_INT, comm));
	for (int r = 0; r < size; r++)
		CHECK(is_filled(in + N * r, N, 10 * r));
	result("in place");
	OK(MPI_Allgather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, comm));
}

static void allgatherv(void)
{
	const int n = uneven();

	prepare();
	OK(MPI_Allgatherv(out, n, MPI_INT, in, counts, places, MPI_INT, comm));
	for (int r = 0; r < size; r++)
		CHECK(is_filled(in + places[r], counts[r], 1000 * r));
	result("allgatherv");
	prepare();
	fill(in + places[rank], n, 10 * rank);
	OK(MPI_Allgatherv(MPI_IN_PLACE, NO_COUNT, NO_TYPE, in, counts, places, MPI_INT, comm));
	for (int r = 0; r < size; r++)
		CHECK(is_filled(in + places[r], counts[r], 10 * r));
	result("in place");
}

static void alltoall(void)
{
	prepare();
	OK(MPI_Alltoall(out, N, MPI_INT, in, N, MPI_INT, comm));
	for (int r = 0; r < size; r++)
		CHECK(is_filled(in + N * r, N, 1000 * r + N * rank));
	result("alltoall");
	memcpy(in, out, sizeof(in));
	OK(MPI_Alltoall(MPI_IN_PLACE, NO_COUNT, NO_TYPE, in, N, MPI_INT, comm));
	for (int r = 0; r < size; r++)
		CHECK(is_filled(in + N * r, N, 1000 * r + N * rank));
	result("in place");
}

/* To rank r go r + 1 items, nothing from odd to odd. */
static void alltoallv(void)
{
	int sent[MOST], from[MOST];

	prepare();
	for (int r = 0; r < size; r++) {
		sent[r] = rank % 2 && r % 2 ? 0 : (r + 1) % N;
		counts[r] = rank % 2 && r % 2 ? 0 : (rank + 1) % N;
		from[r] = places[r] = N * r;
	}
	OK(MPI_Alltoallv(out, sent, from, MPI_INT, in, counts, places, MPI_INT, comm));
	for (int r = 0; r < size; r++)
		CHECK(is_filled(in + N * r, counts[r], 1000 * r + N * rank));
	result("alltoallv");
	for (int r = 0; r < size; r++)
		counts[r] = 2;
	OK(MPI_Alltoallv(
		MPI_IN_PLACE, NO_ARRAY, NO_ARRAY, NO_TYPE, in, counts, places, MPI_INT, comm));
	result("in place");
}

static void alltoallw(void)
{
	int sent[MOST], from[MOST];
	MPI_Datatype types[MOST], their[MOST], pair;

	OK(MPI_Type_contiguous(2, MPI_INT, &pair));
	OK(MPI_Type_commit(&pair));
	prepare();
	for (int r = 0; r < size; r++) {
		sent[r] = r % 2 ? 2 : 4;
		types[r] = r % 2 ? pair : MPI_INT;
		counts[r] = 2;
		their[r] = pair;
		from[r] = places[r] = N * r * (int)sizeof(int);
	}
	OK(MPI_Alltoallw(out, sent, from, types, in, counts, places, their, comm));
	for (int r = 0; r < size; r++)
		CHECK(is_filled(in + N * r, N, 1000 * r + N * rank));
	result("alltoallw");
	OK(MPI_Alltoallw(
		MPI_IN_PLACE, NO_ARRAY, NO_ARRAY, NO_ARRAY, in, counts, places, their, comm));
	result("in place");
	OK(MPI_Type_free(&pair));
}

static void reduce(void)
{
	for (int root = 0; root < size; root++) {
		prepare();
		OK(MPI_Reduce(out, rank == root ? in : NO_ARRAY, N, MPI_INT, MPI_SUM, root, comm));
		CHECK(rank != root || in[1] == 1000 * (size - 1) * size / 2 + size);
		if (rank == root) {
			memcpy(in, out, sizeof(in));
			OK(MPI_Reduce(MPI_IN_PLACE, in, N, MPI_INT, MPI_MAX, root, comm));
			CHECK(in[1] == 1000 * (size - 1) + 1);
		} else {
			OK(MPI_Reduce(out, NULL, N, MPI_INT, MPI_MAX, root, comm));
		}
		result("reduce");
	}
}

static void allreduce(void)
{
	struct {
		double value;
		int where;
	} mine = {rank == 1 ? -1.5 : rank, rank}, least;

	prepare();
	OK(MPI_Allreduce(out, in, N, MPI_INT, MPI_SUM, comm));
	result("allreduce");
	memcpy(in, out, sizeof(in));
	OK(MPI_Allreduce(MPI_IN_PLACE, in, N, MPI_INT, MPI_MIN, comm));
	CHECK(is_filled(in, N, 0));
	OK(MPI_Allreduce(&mine, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC, comm));
	CHECK(least.where == (size > 1));
	OK(MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, comm));
}

static void reduce_scatter(void)
{
	const int n = uneven();
	int total = 0, before = 0;

	for (int r = 0; r < size; r++) {
		total += counts[r];
		before += r < rank ? counts[r] : 0;
	}
	prepare();
	OK(MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, comm));
	for (int i = 0; i < n; i++)
		CHECK(in[i] == 1000 * (size - 1) * size / 2 + (before + i) * size);
	result("reduce_scatter");
	memcpy(in, out, total * sizeof(int));
	OK(MPI_Reduce_scatter(MPI_IN_PLACE, in, counts, MPI_INT, MPI_MAX, comm));
	CHECK(is_filled(in, n, 1000 * (size - 1) + before));
	prepare();
	OK(MPI_Reduce_scatter_block(out, in, N, MPI_INT, MPI_MIN, comm));
	CHECK(is_filled(in, N, N * rank));
	result("reduce_scatter_block");
	memcpy(in, out, sizeof(in));
	OK(MPI_Reduce_scatter_block(MPI_IN_PLACE, in, N, MPI_INT, MPI_MIN, comm));
	CHECK(is_filled(in, N, N * rank));
}

static void scan(void)
{
	prepare();
	OK(MPI_Scan(out, in, N, MPI_INT, MPI_MAX, comm));
	CHECK(is_filled(in, N, 1000 * rank));
	result("scan");
	memcpy(in, out, sizeof(in));
	OK(MPI_Scan(MPI_IN_PLACE, in, N, MPI_INT, MPI_MAX, comm));
	CHECK(is_filled(in, N, 1000 * rank));
	prepare();
	OK(MPI_Exscan(out, in, N, MPI_INT, MPI_MAX, comm));
	CHECK(rank == 0 || is_filled(in, N, 1000 * (rank - 1)));
	memcpy(in, out, sizeof(in));
	OK(MPI_Exscan(MPI_IN_PLACE, in, N, MPI_INT, MPI_MAX, comm));
	CHECK(rank == 0 || is_filled(in, N, 1000 * (rank - 1)));
	say("exscan %d", rank ? in[1] : 0);
}

static int combined, asked;

/* Matrix product of 2 x 2: not commutative. Asks MPI things while it is at it. */
static void product(void *a, void *b, int *n, MPI_Datatype *type)
{
	int *x = a, *y = b, r = -1, bytes = -1;
	MPI_Aint lower, extent;

	for (int i = 0; i < *n; i++, x += 4, y += 4) {
		int p = x[0] * y[0] + x[1] * y[2], q = x[0] * y[1] + x[1] * y[3];
		int s = x[2] * y[0] + x[3] * y[2], t = x[2] * y[1] + x[3] * y[3];

		y[0] = p, y[1] = q, y[2] = s, y[3] = t;
	}
	combined += *n;
	OK(MPI_Type_size(*type, &bytes));
	OK(MPI_Type_get_extent(*type, &lower, &extent));
	OK(MPI_Comm_rank(MPI_COMM_WORLD, &r));
	OK(MPI_Sendrecv(&r, 1, MPI_INT, 0, 1, &asked, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_SELF,
		MPI_STATUS_IGNORE));
	CHECK(bytes == 16 && extent == 16 && r == rank && asked == r);
}

static void own_operation(void)
{
	int mine[4] = {1, rank, 0, 1}, all[4] = {0}, scanned[4] = {0}, commute = -1;
	MPI_Datatype matrix;
	MPI_Op op;
	MPI_Request request;

	combined = 0;
	OK(MPI_Type_contiguous(4, MPI_INT, &matrix));
	OK(MPI_Type_commit(&matrix));
	OK(MPI_Op_create(product, 0, &op));
	OK(MPI_Op_commutative(op, &commute));
	CHECK(commute == 0);
	OK(MPI_Allreduce(mine, all, 1, matrix, op, comm));
	CHECK(all[0] == 1 && all[1] == size * (size - 1) / 2);
	OK(MPI_Scan(mine, scanned, 1, matrix, op, comm));
	CHECK(scanned[1] == rank * (rank + 1) / 2);
	OK(MPI_Iallreduce(mine, all, 1, matrix, op, comm, &request));
	OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	CHECK(all[1] == size * (size - 1) / 2);
	OK(MPI_Reduce_local(mine, all, 1, matrix, op));
	say("called for %d", combined);
	OK(MPI_Op_free(&op));
	OK(MPI_Type_free(&matrix));
	CHECK(op == MPI_OP_NULL && matrix == MPI_DATATYPE_NULL);
}

/* Everything at its smallest: a communicator of one, and of no data. */
static void alone(void)
{
	int x = 5, y = -1, n = 1, zero = 0;

	OK(MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF));
	CHECK(y == 5);
	OK(MPI_Alltoallv(&x, &n, &zero, MPI_INT, &y, &n, &zero, MPI_INT, MPI_COMM_SELF));
	OK(MPI_Gather(MPI_IN_PLACE, NO_COUNT, NO_TYPE, &y, 1, MPI_INT, 0, MPI_COMM_SELF));
	OK(MPI_Exscan(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF));
	OK(MPI_Reduce_scatter(&x, &y, &n, MPI_INT, MPI_SUM, MPI_COMM_SELF));
	OK(MPI_Bcast(NULL, 0, MPI_DOUBLE, 0, MPI_COMM_SELF));
	say("alone %d", y);
}

const struct program collective_programs[] = {{"barrier", barrier, ANY}, {"bcast", bcast, ANY},
	{"gather", gather, ANY}, {"gather_in_place", gather_in_place, ANY},
	{"gatherv", gatherv, ANY}, {"scatter", scatter, ANY}, {"scatterv", scatterv, ANY},
	{"allgather", allgather, ANY}, {"allgatherv", allgatherv, ANY}, {"alltoall", alltoall, ANY},
	{"alltoallv", alltoallv, ANY}, {"alltoallw", alltoallw, ANY}, {"reduce", reduce, ANY},
	{"allreduce", allreduce, ANY}, {"reduce_scatter", reduce_scatter, ANY}, {"scan", scan, ANY},
	{"own_operation", own_operation, ANY}, {"alone", alone, ANY}, {NULL, NULL, 0}};
