/* SPDX-License-Identifier: BSD-3-Clause */
/* Derived datatypes: made, looked at, sent, packed; also huge and empty ones. */
#include "transparent.h"

/* What there is to know of a type; then it travels to the partner and back. */
static void travel(const char *what, MPI_Datatype type, int count)
{
	static int data[400], in[400];
	MPI_Aint lower = -1, extent = -1, true_lower = -1, true_extent = -1;
	MPI_Status status;
	MPI_Count large = -1;
	int bytes = -1;

	OK(MPI_Type_commit(&type));
	OK(MPI_Type_size(type, &bytes));
	OK(MPI_Type_size_x(type, &large));
	OK(MPI_Type_get_extent(type, &lower, &extent));
	OK(MPI_Type_get_true_extent(type, &true_lower, &true_extent));
	say("%s: size %d/%d extent %d %d true %d %d", what, bytes, (int)large, (int)lower,
		(int)extent, (int)true_lower, (int)true_extent);
	fill(data, COUNT_OF(data), 1000 * rank);
	memset(in, 0xff, sizeof(in));
	mark(&status, 1);
	OK(MPI_Sendrecv(data + 100, count, type, peer, 5, in + 100, count, type, peer, MPI_ANY_TAG,
		comm, &status));
	say_status(what, &status, type);
	WANT(&status, peer, 5, type, count);
	say("%s: data %08x", what, checksum(in, sizeof(in)));
	OK(MPI_Type_free(&type));
	CHECK(type == MPI_DATATYPE_NULL);
}

static void type_vector(void)
{
	MPI_Datatype type, inner;

	OK(MPI_Type_vector(3, 2, 5, MPI_INT, &type));
	travel("vector", type, 2);
	OK(MPI_Type_create_hvector(3, 1, -8, MPI_INT, &type));
	travel("hvector", type, 1);
	OK(MPI_Type_contiguous(3, MPI_INT, &inner));
	OK(MPI_Type_vector(2, 1, 2, inner, &type));
	OK(MPI_Type_free(&inner));
	travel("nested", type, 3);
}

static void type_indexed(void)
{
	int blocks[3] = {1, 0, 2}, places[3] = {4, 100, 0};
	MPI_Aint bytes[3] = {16, -8, 40};
	MPI_Datatype type;

	OK(MPI_Type_indexed(3, blocks, places, MPI_INT, &type));
	travel("indexed", type, 2);
	OK(MPI_Type_create_hindexed(3, blocks, bytes, MPI_INT, &type));
	travel("hindexed", type, 1);
	OK(MPI_Type_create_indexed_block(2, 2, places + 1, MPI_INT, &type));
	travel("indexed_block", type, 1);
	OK(MPI_Type_create_hindexed_block(3, 1, bytes, MPI_INT, &type));
	travel("hindexed_block", type, 1);
}

static void type_struct(void)
{
	int blocks[3] = {1, 2, 3};
	MPI_Aint places[3] = {0, 8, 32};
	MPI_Datatype types[3] = {MPI_INT, MPI_DOUBLE, MPI_CHAR}, type, resized;

	OK(MPI_Type_create_struct(3, blocks, places, types, &type));
	OK(MPI_Type_create_resized(type, 0, 48, &resized));
	OK(MPI_Type_free(&type));
	travel("struct", resized, 3);
}

static void type_subarray(void)
{
	int sizes[2] = {6, 5}, part[2] = {2, 3}, start[2] = {1, 2};
	MPI_Datatype type;

	OK(MPI_Type_create_subarray(2, sizes, part, start, MPI_ORDER_C, MPI_INT, &type));
	travel("subarray", type, 1);
	OK(MPI_Type_create_darray(2, rank % 2, 2, (int[]){8, 4},
		(int[]){MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE},
		(int[]){MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG}, (int[]){2, 1},
		MPI_ORDER_FORTRAN, MPI_INT, &type));
	OK(MPI_Type_commit(&type));
	OK(MPI_Type_free(&type));
}

/* Nothing in it, however many: zero bytes are sent. */
static void type_empty(void)
{
	MPI_Datatype type;
	MPI_Status status;
	int x = 3, n = -1;

	OK(MPI_Type_contiguous(0, MPI_INT, &type));
	OK(MPI_Type_commit(&type));
	mark(&status, 1);
	OK(MPI_Sendrecv(&x, 4, type, peer, 1, &x, 9, type, peer, 1, comm, &status));
	OK(MPI_Get_count(&status, MPI_INT, &n));
	CHECK(n == 0 && x == 3);
	OK(MPI_Get_count(&status, type, &n));
	say("count %d", n);
	OK(MPI_Type_free(&type));
}

/* More bytes than an int counts; sent none of it. */
static void type_huge(void)
{
	MPI_Datatype block, type;
	MPI_Count large = -1, lower = -1, extent = -1;
	MPI_Status status;
	int bytes = -1;

	OK(MPI_Type_contiguous(1 << 30, MPI_INT, &block));
	OK(MPI_Type_contiguous(1 << 10, block, &type));
	OK(MPI_Type_commit(&type));
	OK(MPI_Type_size(type, &bytes));
	OK(MPI_Type_size_x(type, &large));
	CHECK(bytes == MPI_UNDEFINED && large == (MPI_Count)1 << 42);
	OK(MPI_Type_get_extent_x(type, &lower, &extent));
	CHECK(extent == (MPI_Count)1 << 42);
	mark(&status, 1);
	OK(MPI_Sendrecv(NULL, 0, type, peer, 1, NULL, 0, type, peer, 1, comm, &status));
	say_status("huge", &status, MPI_INT);
	OK(MPI_Bcast(NULL, 0, type, 0, MPI_COMM_SELF));
	OK(MPI_Type_free(&type));
	OK(MPI_Type_free(&block));
}

static void type_contents(void)
{
	int blocks[2] = {3, 1}, places[2] = {5, 0}, ints[8], n_int, n_aint, n_type, combiner;
	MPI_Aint aints[2];
	MPI_Datatype type, types[2], copy;

	OK(MPI_Type_indexed(2, blocks, places, MPI_DOUBLE, &type));
	OK(MPI_Type_get_envelope(type, &n_int, &n_aint, &n_type, &combiner));
	CHECK(n_int == 5 && n_aint == 0 && n_type == 1 && combiner == MPI_COMBINER_INDEXED);
	OK(MPI_Type_get_contents(type, n_int, n_aint, n_type, ints, aints, types));
	say("contents %d %d %d %d %d", ints[0], ints[1], ints[2], ints[3], ints[4]);
	CHECK(types[0] == MPI_DOUBLE);
	OK(MPI_Type_dup(type, &copy));
	OK(MPI_Type_get_envelope(copy, &n_int, &n_aint, &n_type, &combiner));
	CHECK(combiner == MPI_COMBINER_DUP);
	OK(MPI_Type_free(&copy));
	OK(MPI_Type_free(&type));
	OK(MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &type));
	OK(MPI_Type_get_envelope(MPI_INT, &n_int, &n_aint, &n_type, &combiner));
	CHECK(combiner == MPI_COMBINER_NAMED);
}

/* Absolute addresses, sent from MPI_BOTTOM. */
static void bottom(void)
{
	int a = 10 + rank, c = -1;
	double b = 0.25 * rank, d = -1;
	MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE}, from, to;
	MPI_Aint places[2];
	MPI_Status status;
	int blocks[2] = {1, 1};

	OK(MPI_Get_address(&a, &places[0]));
	OK(MPI_Get_address(&b, &places[1]));
	OK(MPI_Type_create_struct(2, blocks, places, types, &from));
	OK(MPI_Get_address(&c, &places[0]));
	OK(MPI_Get_address(&d, &places[1]));
	OK(MPI_Type_create_struct(2, blocks, places, types, &to));
	OK(MPI_Type_commit(&from));
	OK(MPI_Type_commit(&to));
	mark(&status, 1);
	OK(MPI_Sendrecv(MPI_BOTTOM, 1, from, peer, 2, MPI_BOTTOM, 1, to, peer, 2, comm, &status));
	say_status("bottom", &status, to);
	CHECK(c == 10 + peer && memcmp(&d, &(double){0.25 * peer}, sizeof(d)) == 0);
	OK(MPI_Bcast(MPI_BOTTOM, 1, from, 0, MPI_COMM_SELF));
	OK(MPI_Type_free(&from));
	OK(MPI_Type_free(&to));
}

static void packed(void)
{
	char buffer[200];
	int place = 0, n = -1, x = rank, y = -1;
	double a = 1.5 * rank, b = -1;
	MPI_Status status;
	MPI_Aint bytes = -1, at = 0;

	OK(MPI_Pack_size(1, MPI_DOUBLE, comm, &n));
	CHECK(n >= 8);
	OK(MPI_Pack(&x, 1, MPI_INT, buffer, sizeof(buffer), &place, comm));
	OK(MPI_Pack(&a, 1, MPI_DOUBLE, buffer, sizeof(buffer), &place, comm));
	mark(&status, 1);
	OK(MPI_Sendrecv_replace(buffer, place, MPI_PACKED, peer, 1, peer, 1, comm, &status));
	say_status("packed", &status, MPI_PACKED);
	place = 0;
	OK(MPI_Unpack(buffer, sizeof(buffer), &place, &y, 1, MPI_INT, comm));
	OK(MPI_Unpack(buffer, sizeof(buffer), &place, &b, 1, MPI_DOUBLE, comm));
	CHECK(y == peer && memcmp(&b, &(double){1.5 * peer}, sizeof(b)) == 0);
	OK(MPI_Pack_external_size("external32", 3, MPI_INT, &bytes));
	CHECK(bytes == 12);
	OK(MPI_Pack_external("external32", &x, 1, MPI_INT, buffer, sizeof(buffer), &at));
	CHECK(at == 4 && buffer[3] == rank);
	at = 0;
	OK(MPI_Unpack_external("external32", buffer, sizeof(buffer), &at, &y, 1, MPI_INT));
	CHECK(y == rank);
}

const struct program datatype_programs[] = {{"type_vector", type_vector, PAIR},
	{"type_indexed", type_indexed, PAIR}, {"type_struct", type_struct, PAIR},
	{"type_subarray", type_subarray, PAIR}, {"type_empty", type_empty, PAIR},
	{"type_huge", type_huge, PAIR}, {"type_contents", type_contents, ANY},
	{"bottom", bottom, PAIR}, {"packed", packed, PAIR}, {NULL, NULL, 0}};
