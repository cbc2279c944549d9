/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided communication in all its ways of synchronizing. */
#include "transparent.h"

enum { N = 16 };

static int data[N];

static int up(void)
{
	return (rank + 1) % size;
}

static int down(void)
{
	return (rank + size - 1) % size;
}

static void win_fence(void)
{
	MPI_Win win;
	int got[2] = {-1, -1}, sent[2] = {rank, -rank};

	fill(data, N, 100 * rank);
	OK(MPI_Win_create(data, sizeof(data), sizeof(int), MPI_INFO_NULL, comm, &win));
	OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
	OK(MPI_Put(sent, 2, MPI_INT, up(), 3, 2, MPI_INT, win));
	OK(MPI_Put(sent, 2, MPI_INT, MPI_PROC_NULL, 3, 2, MPI_INT, win));
	OK(MPI_Win_fence(0, win));
	CHECK(data[3] == down() && data[4] == -down() && data[5] == 100 * rank + 5);
	OK(MPI_Get(got, 2, MPI_INT, down(), 3, 2, MPI_INT, win));
	OK(MPI_Accumulate(sent, 1, MPI_INT, 0, 8, 1, MPI_INT, MPI_SUM, win));
	OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
	CHECK(got[0] == (down() + size - 1) % size);
	CHECK(rank || data[8] == 8 + size * (size - 1) / 2);
	say("data %08x", checksum(data, sizeof(data)));
	OK(MPI_Win_free(&win));
	CHECK(win == MPI_WIN_NULL);
}

static void win_pscw(void)
{
	MPI_Group all, from, to;
	MPI_Win win;
	int r, flag = 0;

	memset(data, 0, sizeof(data));
	OK(MPI_Win_create(data, sizeof(data), sizeof(int), MPI_INFO_NULL, comm, &win));
	OK(MPI_Win_get_group(win, &all));
	r = down();
	OK(MPI_Group_incl(all, 1, &r, &from));
	r = up();
	OK(MPI_Group_incl(all, 1, &r, &to));
	for (int i = 0; i < 2; i++) {
		OK(MPI_Win_post(from, 0, win));
		OK(MPI_Win_start(to, 0, win));
		OK(MPI_Put(&rank, 1, MPI_INT, up(), i, 1, MPI_INT, win));
		OK(MPI_Win_complete(win));
		if (i == 0)
			OK(MPI_Win_wait(win));
		for (flag = i == 0; !flag;)
			OK(MPI_Win_test(win, &flag));
		CHECK(data[i] == down());
	}
	say("data %08x", checksum(data, sizeof(data)));
	OK(MPI_Group_free(&all));
	OK(MPI_Group_free(&from));
	OK(MPI_Group_free(&to));
	OK(MPI_Win_free(&win));
}

static void win_lock(void)
{
	MPI_Win win;
	int *base = NULL, x = -1, zero = 0, one = 1, old = -1;

	OK(MPI_Win_allocate(N * sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &base, &win));
	OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win));
	fill(base, N, 10 * rank);
	OK(MPI_Win_unlock(rank, win));
	OK(MPI_Barrier(comm));
	OK(MPI_Win_lock(MPI_LOCK_SHARED, up(), 0, win));
	OK(MPI_Get(&x, 1, MPI_INT, up(), 1, 1, MPI_INT, win));
	OK(MPI_Win_flush(up(), win));
	CHECK(x == 10 * up() + 1);
	OK(MPI_Put(&one, 1, MPI_INT, up(), 2, 1, MPI_INT, win));
	OK(MPI_Win_flush_local(up(), win));
	OK(MPI_Win_unlock(up(), win));
	OK(MPI_Win_lock_all(0, win));
	OK(MPI_Fetch_and_op(&one, &old, MPI_INT, 0, 5, MPI_SUM, win));
	OK(MPI_Win_flush_all(win));
	CHECK(old >= 5 && old < 5 + size);
	OK(MPI_Compare_and_swap(&one, &zero, &old, MPI_INT, rank, 3, win));
	OK(MPI_Win_flush_local_all(win));
	CHECK(old == 10 * rank + 3);
	OK(MPI_Win_sync(win));
	OK(MPI_Win_unlock_all(win));
	OK(MPI_Barrier(comm));
	OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
	OK(MPI_Get_accumulate(NULL, 0, MPI_INT, &x, 1, MPI_INT, 0, 5, 1, MPI_INT, MPI_NO_OP, win));
	OK(MPI_Win_unlock(0, win));
	CHECK(x == 5 + size);
	say("counter %d", x);
	OK(MPI_Win_free(&win));
}

/* Operations with requests, completed by the calls for any request. */
static void win_requests(void)
{
	MPI_Request requests[4];
	MPI_Win win;
	int *base = NULL, x[2] = {rank, rank + 1}, y[2] = {0}, old[2] = {0}, flag = 0;

	OK(MPI_Win_allocate(N * sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &base, &win));
	OK(MPI_Win_lock_all(0, win));
	fill(base, N, 0);
	OK(MPI_Win_sync(win));
	OK(MPI_Barrier(comm));
	OK(MPI_Rput(x, 2, MPI_INT, up(), 4, 2, MPI_INT, win, &requests[0]));
	OK(MPI_Raccumulate(x, 1, MPI_INT, up(), 8, 1, MPI_INT, MPI_SUM, win, &requests[1]));
	OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
	CHECK(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);
	OK(MPI_Win_flush_all(win));
	OK(MPI_Barrier(comm));
	OK(MPI_Rget(y, 2, MPI_INT, up(), 4, 2, MPI_INT, win, &requests[0]));
	while (!flag)
		OK(MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE));
	CHECK(y[0] == rank && y[1] == rank + 1);
	OK(MPI_Rget_accumulate(
		x, 1, MPI_INT, old, 1, MPI_INT, up(), 8, 1, MPI_INT, MPI_SUM, win, &requests[2]));
	OK(MPI_Wait(&requests[2], MPI_STATUS_IGNORE));
	CHECK(old[0] == 8 + rank);
	OK(MPI_Rput(x, 2, MPI_INT, MPI_PROC_NULL, 4, 2, MPI_INT, win, &requests[3]));
	OK(MPI_Wait(&requests[3], MPI_STATUS_IGNORE));
	OK(MPI_Win_unlock_all(win));
	say("got %d %d %d", y[0], y[1], old[0]);
	OK(MPI_Win_free(&win));
}

static void win_shared(void)
{
	MPI_Win win;
	MPI_Aint bytes = -1;
	int *base = NULL, *of_first = NULL, unit = -1;

	OK(MPI_Win_allocate_shared(
		rank == 0 ? N * sizeof(int) : 0, sizeof(int), MPI_INFO_NULL, comm, &base, &win));
	OK(MPI_Win_shared_query(win, 0, &bytes, &unit, &of_first));
	CHECK(bytes == N * sizeof(int) && unit == sizeof(int) && of_first);
	OK(MPI_Win_fence(0, win));
	of_first[rank % N] = 7 * rank;
	OK(MPI_Win_fence(0, win));
	CHECK(of_first[(size - 1) % N] == 7 * (size - 1));
	say("bytes %d", (int)bytes);
	OK(MPI_Win_free(&win));
}

static void win_dynamic(void)
{
	MPI_Win win;
	MPI_Aint mine, theirs;
	int x = -1;

	fill(data, N, 5 * rank);
	OK(MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win));
	OK(MPI_Win_attach(win, data, sizeof(data)));
	OK(MPI_Get_address(&data[2], &mine));
	OK(MPI_Sendrecv(&mine, 1, MPI_AINT, down(), 1, &theirs, 1, MPI_AINT, up(), 1, comm,
		MPI_STATUS_IGNORE));
	OK(MPI_Win_fence(0, win));
	OK(MPI_Get(&x, 1, MPI_INT, up(), theirs, 1, MPI_INT, win));
	OK(MPI_Win_fence(0, win));
	CHECK(x == 5 * up() + 2);
	say("got %d", x);
	OK(MPI_Win_detach(win, data));
	OK(MPI_Win_free(&win));
}

static void win_named(void)
{
	MPI_Win win;
	MPI_Info info;
	char name[MPI_MAX_OBJECT_NAME] = "?";
	int n = -1;

	OK(MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, comm, &win));
	OK(MPI_Win_set_name(win, "a window"));
	OK(MPI_Win_get_name(win, name, &n));
	CHECK(n == 8 && strcmp(name, "a window") == 0);
	OK(MPI_Win_get_info(win, &info));
	OK(MPI_Info_free(&info));
	say("%s", name);
	OK(MPI_Win_free(&win));
}

const struct program window_programs[] = {{"win_fence", win_fence, ANY}, {"win_pscw", win_pscw, 2},
	{"win_lock", win_lock, ANY}, {"win_requests", win_requests, ANY},
	{"win_shared", win_shared, ANY}, {"win_dynamic", win_dynamic, ANY},
	{"win_named", win_named, ANY}, {NULL, NULL, 0}};
