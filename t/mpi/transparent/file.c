/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI-IO on one file in the working directory. */
#include <unistd.h>
#include "transparent.h"

enum { N = 8 };

static const char name[] = "transparent.data";
static int data[N], in[N];

static MPI_File open_new(void)
{
	MPI_File file = MPI_FILE_NULL;

	if (rank == 0)
		unlink(name);
	OK(MPI_Barrier(comm));
	OK(MPI_File_open(comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
	fill(data, N, 100 * rank);
	memset(in, 0xff, sizeof(in));
	return file;
}

static void close_file(MPI_File *file)
{
	OK(MPI_File_close(file));
	CHECK(*file == MPI_FILE_NULL);
	if (rank == 0)
		OK(MPI_File_delete(name, MPI_INFO_NULL));
}

static void say_bytes(const char *what, const MPI_Status *status, int wanted)
{
	int n = -1, ints = -1;

	OK(MPI_Get_count(status, MPI_BYTE, &n));
	OK(MPI_Get_count(status, MPI_INT, &ints));
	say("%s: bytes %d ints %d", what, n, ints);
	CHECK(n == wanted);
}

static void io_at(void)
{
	MPI_File file = open_new();
	MPI_Offset bytes = -1;
	MPI_Status status;
	const MPI_Offset mine = rank * (MPI_Offset)sizeof(data);

	mark(&status, 1);
	OK(MPI_File_write_at(file, mine, data, N, MPI_INT, &status));
	say_bytes("write_at", &status, sizeof(data));
	OK(MPI_File_sync(file));
	OK(MPI_Barrier(comm));
	OK(MPI_File_get_size(file, &bytes));
	CHECK(bytes == size * (MPI_Offset)sizeof(data));
	OK(MPI_File_read_at(file, mine, in, N, MPI_INT, MPI_STATUS_IGNORE));
	CHECK(is_filled(in, N, 100 * rank));
	mark(&status, 1);
	OK(MPI_File_read_at_all(
		file, (rank + 1) % size * (MPI_Offset)sizeof(data), in, N, MPI_INT, &status));
	say_bytes("read_at_all", &status, sizeof(data));
	CHECK(is_filled(in, N, 100 * ((rank + 1) % size)));
	mark(&status, 1);
	OK(MPI_File_read_at(file, bytes - 4, in, N, MPI_INT, &status));
	say_bytes("end of file", &status, 4);
	OK(MPI_File_write_at_all(file, mine, data, 0, MPI_INT, MPI_STATUS_IGNORE));
	close_file(&file);
}

static void io_pointer(void)
{
	MPI_File file = open_new();
	MPI_Offset at = -1;
	MPI_Status status;

	OK(MPI_File_seek(file, rank * (MPI_Offset)sizeof(data), MPI_SEEK_SET));
	OK(MPI_File_write(file, data, N / 2, MPI_INT, &status));
	OK(MPI_File_write_all(file, data + N / 2, N / 2, MPI_INT, &status));
	say_bytes("write_all", &status, sizeof(data) / 2);
	OK(MPI_File_get_position(file, &at));
	CHECK(at == (rank + 1) * (MPI_Offset)sizeof(data));
	OK(MPI_File_sync(file));
	OK(MPI_Barrier(comm));
	OK(MPI_File_seek(file, -(MPI_Offset)sizeof(data), MPI_SEEK_END));
	OK(MPI_File_read(file, in, 2, MPI_INT, &status));
	say_bytes("read", &status, 8);
	OK(MPI_File_read_all(file, in + 2, N - 2, MPI_INT, MPI_STATUS_IGNORE));
	CHECK(is_filled(in, N, 100 * (size - 1)));
	close_file(&file);
}

static void io_requests(void)
{
	MPI_File file = open_new();
	MPI_Request requests[3];
	MPI_Status statuses[3];
	const MPI_Offset mine = rank * (MPI_Offset)sizeof(data);
	int x = -1, flag = 0;

	OK(MPI_File_iwrite_at(file, mine, data, N, MPI_INT, &requests[0]));
	OK(MPI_Irecv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 3, comm, &requests[1]));
	OK(MPI_Isend(&rank, 1, MPI_INT, (rank + 1) % size, 3, comm, &requests[2]));
	mark(statuses, 3);
	OK(MPI_Waitall(3, requests, statuses));
	say_bytes("iwrite_at", &statuses[0], sizeof(data));
	WANT(&statuses[1], (rank + size - 1) % size, 3, MPI_INT, 1);
	OK(MPI_File_sync(file));
	OK(MPI_Barrier(comm));
	OK(MPI_File_iread_at(file, mine, in, N, MPI_INT, &requests[0]));
	while (!flag)
		OK(MPI_Test(&requests[0], &flag, &statuses[0]));
	say_bytes("iread_at", &statuses[0], sizeof(data));
	CHECK(is_filled(in, N, 100 * rank) && requests[0] == MPI_REQUEST_NULL);
	OK(MPI_File_seek(file, mine, MPI_SEEK_SET));
	OK(MPI_File_iread(file, in, 2, MPI_INT, &requests[0]));
	OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
	OK(MPI_File_iread_all(file, in, 2, MPI_INT, &requests[0]));
	OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
	CHECK(in[0] == 100 * rank + 2);
	OK(MPI_File_iwrite(file, data, 1, MPI_INT, &requests[0]));
	OK(MPI_Wait(&requests[0], &statuses[0]));
	say_bytes("iwrite", &statuses[0], 4);
	close_file(&file);
}

/* Every rank sees each size-th item. */
static void io_view(void)
{
	MPI_File file = open_new();
	MPI_Datatype strided, got_etype, got_type;
	MPI_Offset offset = -1, in_bytes = -1;
	char representation[MPI_MAX_DATAREP_STRING] = "?";
	MPI_Status status;

	OK(MPI_Type_vector(N, 1, size, MPI_INT, &strided));
	OK(MPI_Type_commit(&strided));
	OK(MPI_File_set_view(
		file, rank * (MPI_Offset)sizeof(int), MPI_INT, strided, "native", MPI_INFO_NULL));
	OK(MPI_File_get_view(file, &offset, &got_etype, &got_type, representation));
	CHECK(offset == rank * (MPI_Offset)sizeof(int) && strcmp(representation, "native") == 0);
	if (got_type != MPI_INT && got_type != strided)
		MPI_Type_free(&got_type);
	OK(MPI_File_write_at_all(file, 0, data, N, MPI_INT, &status));
	say_bytes("strided", &status, sizeof(data));
	OK(MPI_File_get_byte_offset(file, 1, &in_bytes));
	say("byte offset %d", (int)in_bytes);
	OK(MPI_File_sync(file));
	OK(MPI_Barrier(comm));
	OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
	OK(MPI_File_read_at(file, 0, in, size < N ? size : N, MPI_INT, MPI_STATUS_IGNORE));
	CHECK(in[0] == 0 && (size == 1 || in[1] == 100));
	OK(MPI_Type_free(&strided));
	close_file(&file);
}

static void io_shared(void)
{
	MPI_File file = open_new();
	MPI_Offset at = -1;
	MPI_Status status;

	OK(MPI_File_write_ordered(file, data, 2, MPI_INT, &status));
	say_bytes("write_ordered", &status, 8);
	OK(MPI_Barrier(comm));
	OK(MPI_File_get_position_shared(file, &at));
	say("shared %d", (int)at);
	OK(MPI_Barrier(comm));
	OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
	OK(MPI_File_read_ordered(file, in, 2, MPI_INT, &status));
	say_bytes("read_ordered", &status, 8);
	CHECK(is_filled(in, 2, 100 * rank));
	OK(MPI_File_write_shared(file, data, 1, MPI_INT, MPI_STATUS_IGNORE));
	OK(MPI_Barrier(comm));
	OK(MPI_File_get_size(file, &at));
	CHECK(at == size * 12);
	close_file(&file);
}

static void io_split(void)
{
	MPI_File file = open_new();
	MPI_Status status;
	const MPI_Offset mine = rank * (MPI_Offset)sizeof(data);

	OK(MPI_File_write_at_all_begin(file, mine, data, N, MPI_INT));
	mark(&status, 1);
	OK(MPI_File_write_at_all_end(file, data, &status));
	say_bytes("written", &status, sizeof(data));
	OK(MPI_File_sync(file));
	OK(MPI_Barrier(comm));
	OK(MPI_File_seek(file, mine, MPI_SEEK_SET));
	OK(MPI_File_read_all_begin(file, in, N, MPI_INT));
	OK(MPI_File_read_all_end(file, in, MPI_STATUS_IGNORE));
	CHECK(is_filled(in, N, 100 * rank));
	close_file(&file);
}

static void io_properties(void)
{
	MPI_File file = open_new();
	MPI_Group group;
	MPI_Info info;
	MPI_Aint extent = -1;
	int mode = -1, flag = -1, n = -1;
	MPI_Offset bytes = -1;

	OK(MPI_File_set_size(file, 1000));
	OK(MPI_Barrier(comm));
	OK(MPI_File_get_size(file, &bytes));
	CHECK(bytes == 1000);
	OK(MPI_Barrier(comm));
	OK(MPI_File_preallocate(file, 2000));
	OK(MPI_File_get_amode(file, &mode));
	CHECK(mode == (MPI_MODE_CREATE | MPI_MODE_RDWR));
	/* Open MPI has no atomic files, but does not always say so */
	OK(MPI_File_get_atomicity(file, &flag));
	CHECK(flag == 0);
	OK(MPI_File_get_group(file, &group));
	OK(MPI_Group_size(group, &n));
	CHECK(n == size);
	OK(MPI_Group_free(&group));
	OK(MPI_File_get_type_extent(file, MPI_DOUBLE, &extent));
	OK(MPI_File_get_info(file, &info));
	if (info != MPI_INFO_NULL)
		OK(MPI_Info_free(&info));
	say("extent %d", (int)extent);
	close_file(&file);
}

const struct program file_programs[] = {{"io_at", io_at, ANY}, {"io_pointer", io_pointer, ANY},
	{"io_requests", io_requests, ANY}, {"io_view", io_view, ANY}, {"io_shared", io_shared, ANY},
	{"io_split", io_split, ANY}, {"io_properties", io_properties, ANY}, {NULL, NULL, 0}};
