/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided communication and MPI-IO of every kind, and what it moved:
 *
 *	app-mpi-rma-io FILE
 *
 * Each rank writes FILE.counts.RANK, lines of
 *
 *	put FROM TO OPERATIONS BYTES	from this rank, by world ranks
 *	get FROM TO OPERATIONS BYTES	to this rank
 *	read OPERATIONS BYTES		of FILE
 *	write OPERATIONS BYTES
 *
 * The second window is on a communicator whose ranks are those of the world
 * backwards. Any number of ranks.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANKS 64

static int rank, size;
static long long puts_to[RANKS][2], gets_from[RANKS][2], reads[2], writes[2];

static void counted(long long *what, long long bytes)
{
	what[0]++;
	what[1] += bytes;
}

static void need(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "rank %d: %s\n", rank, what);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static int world_rank(MPI_Comm comm, int r)
{
	MPI_Group group, world;
	int w;

	MPI_Comm_group(comm, &group);
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_translate_ranks(group, 1, &r, world, &w);
	MPI_Group_free(&group);
	MPI_Group_free(&world);
	return w;
}

static void one_sided(MPI_Comm comm)
{
	enum { PLACES = 64 };
	double *memory, from[PLACES] = {0}, to[PLACES];
	long long one = 1, before, compare = 0;
	int r, n, i, flag = 0;
	MPI_Win win, second;
	MPI_Request request[2];
	MPI_Datatype pairs;
	MPI_Group group, right_group, left_group;

	MPI_Comm_rank(comm, &r);
	MPI_Comm_size(comm, &n);
	const int right = (r + 1) % n, left = (r + n - 1) % n;
	long long *const put = puts_to[world_rank(comm, right)];
	long long *const get = gets_from[world_rank(comm, left)];
	long long *const got_right = gets_from[world_rank(comm, right)];

	MPI_Win_allocate(
		PLACES * sizeof(double), sizeof(double), MPI_INFO_NULL, comm, &memory, &win);
	memset(memory, 0, PLACES * sizeof(double));
	MPI_Win_set_name(win, "places");
	MPI_Win_create(to, sizeof(to), 1, MPI_INFO_NULL, comm, &second);
	MPI_Type_vector(3, 2, 4, MPI_DOUBLE, &pairs);
	MPI_Type_commit(&pairs);

	MPI_Win_fence(0, win);
	MPI_Put(from, 5, MPI_DOUBLE, right, 0, 5, MPI_DOUBLE, win);
	counted(put, 5 * 8);
	MPI_Put(from, 5, MPI_DOUBLE, MPI_PROC_NULL, 0, 5, MPI_DOUBLE, win);
	MPI_Put(from, 1, pairs, right, 8, 6, MPI_DOUBLE, win);
	counted(put, 6 * 8);
	MPI_Win_fence(0, win);
	MPI_Get(to, 7, MPI_INT, left, 0, 7, MPI_INT, win);
	counted(get, 7 * 4);
	MPI_Accumulate(from, 3, MPI_DOUBLE, right, 16, 3, MPI_DOUBLE, MPI_SUM, win);
	counted(put, 3 * 8);
	MPI_Win_fence(0, win);

	MPI_Comm_group(comm, &group);
	MPI_Group_incl(group, 1, &right, &right_group);
	MPI_Group_incl(group, 1, &left, &left_group);
	MPI_Win_post(left_group, 0, win);
	MPI_Win_start(right_group, 0, win);
	MPI_Put(from, 2, MPI_INT, right, 0, 2, MPI_INT, win);
	counted(put, 2 * 4);
	MPI_Win_complete(win);
	while (!flag)
		MPI_Win_test(win, &flag);
	MPI_Group_free(&group);
	MPI_Group_free(&right_group);
	MPI_Group_free(&left_group);

	MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win);
	MPI_Rput(from, 4, MPI_DOUBLE, right, 24, 4, MPI_DOUBLE, win, &request[0]);
	counted(put, 4 * 8);
	MPI_Wait(&request[0], MPI_STATUS_IGNORE);
	MPI_Win_flush(right, win);
	MPI_Rget(to, 2, MPI_DOUBLE, right, 24, 2, MPI_DOUBLE, win, &request[0]);
	counted(got_right, 2 * 8);
	MPI_Raccumulate(from, 1, MPI_DOUBLE, right, 32, 1, MPI_DOUBLE, MPI_SUM, win, &request[1]);
	counted(put, 8);
	MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
	MPI_Win_unlock(right, win);

	MPI_Win_lock_all(0, win);
	MPI_Get_accumulate(
		from, 2, MPI_DOUBLE, to, 2, MPI_DOUBLE, right, 40, 2, MPI_DOUBLE, MPI_SUM, win);
	counted(put, 2 * 8);
	counted(got_right, 2 * 8);
	MPI_Get_accumulate(
		NULL, 0, MPI_DOUBLE, to, 3, MPI_DOUBLE, right, 40, 3, MPI_DOUBLE, MPI_NO_OP, win);
	counted(got_right, 3 * 8);
	MPI_Fetch_and_op(&one, &before, MPI_LONG_LONG, right, 48, MPI_SUM, win);
	counted(put, 8);
	counted(got_right, 8);
	MPI_Win_flush_all(win);
	MPI_Fetch_and_op(NULL, &before, MPI_LONG_LONG, right, 48, MPI_NO_OP, win);
	counted(got_right, 8);
	MPI_Compare_and_swap(&one, &compare, &before, MPI_LONG_LONG, right, 49, win);
	counted(put, 8);
	counted(got_right, 8);
	MPI_Win_unlock_all(win);

	/* errors leave no trace */
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	MPI_Win_fence(0, win);
	i = MPI_Put(from, 5, MPI_DOUBLE, n + 3, 0, 5, MPI_DOUBLE, win);
	need(i != MPI_SUCCESS, "a put to a rank that is not there");
	MPI_Win_fence(0, win);

	MPI_Type_free(&pairs);
	MPI_Win_free(&second);
	MPI_Win_free(&win);
}

static void input_output(const char *name)
{
	enum { N = 10 };
	int data[N], back[3 * N], got;
	MPI_File f;
	MPI_Status status;
	MPI_Request request[2];
	const MPI_Offset end = (MPI_Offset)size * 8 * N * sizeof(int);
	MPI_Offset mine = (MPI_Offset)rank * 8 * N * sizeof(int);

	for (int i = 0; i < N; i++)
		data[i] = rank * N + i;
	got = MPI_File_open(
		MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
	need(got == MPI_SUCCESS, "cannot open the file");
	MPI_File_set_size(f, 0);

	MPI_File_write_at(f, mine, data, N, MPI_INT, MPI_STATUS_IGNORE);
	counted(writes, N * 4);
	MPI_File_seek(f, mine + 40, MPI_SEEK_SET);
	MPI_File_write(f, data, N, MPI_INT, &status);
	counted(writes, N * 4);
	MPI_Get_count(&status, MPI_INT, &got);
	need(got == N, "the count of a write");
	MPI_File_write_all(f, data, N / 2, MPI_INT, MPI_STATUS_IGNORE);
	counted(writes, N / 2 * 4);
	MPI_File_iwrite_at(f, mine + 120, data, N, MPI_INT, &request[0]);
	counted(writes, N * 4);
	MPI_File_iwrite_at(f, mine + 160, data, 3, MPI_INT, &request[1]);
	counted(writes, 3 * 4);
	MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
	MPI_File_write_at_all_begin(f, mine + 200, data, N, MPI_INT);
	MPI_File_write_at_all_end(f, data, MPI_STATUS_IGNORE);
	counted(writes, N * 4);
	MPI_File_write_at_all(f, mine + 280, data, N, MPI_INT, MPI_STATUS_IGNORE);
	counted(writes, N * 4);
	MPI_File_sync(f);
	MPI_Barrier(MPI_COMM_WORLD);

	MPI_File_read_at(f, mine, back, N, MPI_INT, MPI_STATUS_IGNORE);
	counted(reads, N * 4);
	need(!memcmp(data, back, sizeof(data)), "what was read");
	/* 3 N numbers where only N are left */
	MPI_File_read_at(f, end - N * 4, back, 3 * N, MPI_INT, MPI_STATUS_IGNORE);
	counted(reads, N * 4);
	MPI_File_read_at(f, end - N * 4, back, 2 * N, MPI_INT, &status);
	counted(reads, N * 4);
	MPI_Get_count(&status, MPI_INT, &got);
	need(got == N, "the count of a short read");
	/* no short one: ROMIO's collective reads always say that they got it all */
	MPI_File_read_at_all(f, mine, back, N, MPI_INT, MPI_STATUS_IGNORE);
	counted(reads, N * 4);
	MPI_File_iread_at(f, end - 2 * 4, back, N, MPI_INT, &request[0]);
	MPI_Wait(&request[0], &status);
	MPI_Get_count(&status, MPI_INT, &got); /* not of all MPIs the 2 that are there */
	counted(reads, got * 4);
	MPI_File_iread_at(f, mine, back, N, MPI_INT, &request[0]);
	counted(reads, N * 4);
	MPI_Wait(&request[0], MPI_STATUS_IGNORE);
	MPI_File_seek(f, end, MPI_SEEK_SET);
	MPI_File_read(f, back, N, MPI_INT, MPI_STATUS_IGNORE);
	counted(reads, 0);
	MPI_File_seek(f, mine, MPI_SEEK_SET);
	MPI_File_read_all_begin(f, back, N, MPI_INT);
	MPI_File_read_all_end(f, back, MPI_STATUS_IGNORE);
	counted(reads, N * 4);

	/* an error is no read */
	got = MPI_File_read_at(f, -1, back, N, MPI_INT, MPI_STATUS_IGNORE);
	need(got != MPI_SUCCESS, "a read before the beginning");
	MPI_File_close(&f);
}

int main(int argc, char **argv)
{
	char name[4096];
	MPI_Comm backwards;
	FILE *out;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	need(argc == 2 && size <= RANKS, "usage: app-mpi-rma-io FILE");
	MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &backwards);
	one_sided(MPI_COMM_WORLD);
	one_sided(backwards);
	input_output(argv[1]);
	MPI_Comm_free(&backwards);

	snprintf(name, sizeof(name), "%s.counts.%d", argv[1], rank);
	out = fopen(name, "w");
	need(!!out, name);
	for (int i = 0; i < size; i++) {
		if (puts_to[i][0])
			fprintf(out, "put %d %d %lld %lld\n", rank, i, puts_to[i][0],
				puts_to[i][1]);
		if (gets_from[i][0])
			fprintf(out, "get %d %d %lld %lld\n", i, rank, gets_from[i][0],
				gets_from[i][1]);
	}
	fprintf(out, "read %lld %lld\nwrite %lld %lld\n", reads[0], reads[1], writes[0], writes[1]);
	fclose(out);
	MPI_Finalize();
	return 0;
}
