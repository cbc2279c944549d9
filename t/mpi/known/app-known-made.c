/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that make communicators and files, for which all members wait.
 *
 *	app-known-made FILE
 *
 * Four ranks on one machine; FILE: known_open(). MPI's own files are FILE.data.
 */
#include <mpi.h>
#include <stdio.h>

#include "known.h"

#define RANKS	  4
#define WORLD	  MPI_COMM_WORLD
#define BIT(rank) (1u << (rank))
#define OTHERS	  ((BIT(RANKS) - 1) & ~BIT(known_rank))
#define NOBODY	  KNOWN_NOBODY

static char name[4096];
static int data;
static MPI_Comm duplicate,
	of_group; /* by MPI_Comm_idup; without rank 3, by MPI_Comm_create_group */

/* Works until all others of these ranks are in their nth call, and then so many ms more. */
static void late_work(unsigned ranks, int nth, int ms)
{
	struct known_stamp *s = known_inside(__func__);

	known_after(ranks & ~BIT(known_rank), nth);
	known_spin(ms);
	known_called(s);
}

/* Calls of this property are the nth ones of all ranks. */
static void late(int rank, int nth)
{
	if (known_rank == rank)
		late_work(OTHERS, nth, 6);
}

static void late_at_dup(void)
{
	MPI_Comm made;

	late(1, 1);
	KNOWN_CALL(NXN, 0, NOBODY, MPI_Comm_dup, WORLD, &made);
	MPI_Comm_free(&made);
}

/* Who waits completes it. */
static void late_at_idup(void)
{
	MPI_Request request;
	MPI_Comm made;

	late(2, 2);
	KNOWN_CALL(NXN_BEGIN, 0, NOBODY, MPI_Comm_idup, WORLD, &made, &request);
	KNOWN_CALL(NXN_END, 0, NOBODY, MPI_Wait, &request, MPI_STATUS_IGNORE);
	MPI_Comm_free(&made);
}

static void late_at_split(void)
{
	MPI_Comm made;

	late(2, 1);
	KNOWN_CALL(NXN, 0, NOBODY, MPI_Comm_split, WORLD, known_rank % 2, 0, &made);
	MPI_Comm_free(&made);
}

/* Rank 3 is no member of what is made, and all wait for it. */
static void late_at_create(void)
{
	MPI_Group all, group;
	MPI_Comm made;

	MPI_Comm_group(WORLD, &all);
	MPI_Group_excl(all, 1, &(int){3}, &group);
	late(3, 1);
	KNOWN_CALL(NXN, 0, NOBODY, MPI_Comm_create, WORLD, group, &made);
	if (made != MPI_COMM_NULL)
		MPI_Comm_free(&made);
	MPI_Group_free(&group);
	MPI_Group_free(&all);
}

/* Rank 3 is not in the group, and does not call. */
static void late_at_create_group(void)
{
	MPI_Group all, group;
	MPI_Comm made;

	MPI_Comm_group(WORLD, &all);
	MPI_Group_excl(all, 1, &(int){3}, &group);
	if (known_rank == 1)
		late_work(BIT(0) | BIT(2), 1, 6);
	if (known_rank != 3) {
		KNOWN_CALL(NXN, 0, NOBODY, MPI_Comm_create_group, WORLD, group, 7, &made);
		MPI_Comm_free(&made);
	}
	MPI_Group_free(&group);
	MPI_Group_free(&all);
}

static void late_message(MPI_Comm on)
{
	if (known_rank == 2) {
		late_work(BIT(1), 1, 6);
		KNOWN_CALL(SEND, 0, 1, MPI_Send, &data, 1, MPI_INT, 1, 5, on);
	} else if (known_rank == 1) {
		KNOWN_CALL(LATE_SENDER, 0, 2, MPI_Recv, &data, 1, MPI_INT, 2, 5, on,
			MPI_STATUS_IGNORE);
	}
}

static void message_in_duplicate(void)
{
	late_message(duplicate);
}

static void late_in_duplicate(void)
{
	late(0, 1);
	KNOWN_CALL(BARRIER, 0, NOBODY, MPI_Barrier, duplicate);
}

static void message_in_group(void)
{
	if (known_rank != 3)
		late_message(of_group);
}

static void late_in_group(void)
{
	if (known_rank == 0)
		late_work(BIT(1) | BIT(2), 1, 6);
	if (known_rank != 3)
		KNOWN_CALL(BARRIER, 0, NOBODY, MPI_Barrier, of_group);
}

/* What MPI refuses rank 1, others do not call. */
static void be_refused(void)
{
	MPI_Request request;

	MPI_Comm_set_errhandler(duplicate, MPI_ERRORS_RETURN);
	if (MPI_Bcast(&data, -1, MPI_INT, 0, duplicate) == MPI_SUCCESS ||
		MPI_Ibcast(&data, 1, MPI_INT, RANKS, duplicate, &request) == MPI_SUCCESS ||
		MPI_Comm_dup(duplicate, NULL) == MPI_SUCCESS)
		printf("nothing was refused\n");
}

static void late_after_refusal(void)
{
	if (known_rank == 1)
		be_refused();
	late(0, 1);
	KNOWN_CALL(BARRIER, 0, NOBODY, MPI_Barrier, duplicate);
}

static void late_at_cart(void)
{
	MPI_Comm made;

	late(0, 1);
	KNOWN_CALL(NXN, 0, NOBODY, MPI_Cart_create, WORLD, 1, &(int){RANKS}, &(int){0}, 0, &made);
	MPI_Comm_free(&made);
}

/* Who is in the other half is no member. */
static void late_in_half(void)
{
	MPI_Comm half, made;

	KNOWN_CALL(NXN, 2, NOBODY, MPI_Comm_split, WORLD, known_rank % 2, 0, &half);
	if (known_rank == 2)
		late_work(BIT(0), 2, 3);
	if (known_rank == 1)
		late_work(BIT(3), 2, 8);
	KNOWN_CALL(NXN, known_rank % 2, NOBODY, MPI_Comm_dup, half, &made);
	MPI_Comm_free(&made);
	MPI_Comm_free(&half);
}

/* Between other collective calls on the same communicator. */
static void late_among_others(void)
{
	MPI_Comm made;

	KNOWN_CALL(BARRIER, 0, NOBODY, MPI_Barrier, WORLD);
	late(1, 2);
	KNOWN_CALL(NXN, 1, NOBODY, MPI_Comm_dup, WORLD, &made);
	late(2, 3);
	KNOWN_CALL(BARRIER, 2, NOBODY, MPI_Barrier, WORLD);
	MPI_Comm_free(&made);
}

static MPI_File open_file(int group)
{
	MPI_File file;

	KNOWN_CALL(NXN, group, NOBODY, MPI_File_open, WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR,
		MPI_INFO_NULL, &file);
	return file;
}

static void close_file(MPI_File *file, int group)
{
	KNOWN_CALL(BARRIER, group, NOBODY, MPI_File_close, file);
}

static void late_at_open(void)
{
	MPI_File file;

	late(1, 1);
	file = open_file(0);
	close_file(&file, 1);
}

static void late_at_close(void)
{
	MPI_File file = open_file(0);

	late(2, 2);
	close_file(&file, 1);
}

static void late_at_set_size(void)
{
	MPI_File file = open_file(0);

	late(3, 2);
	KNOWN_CALL(NXN, 1, NOBODY, MPI_File_set_size, file, 100);
	close_file(&file, 2);
}

/* ------------------------------------------------------------------------------------------ */

static const struct known_property properties[] = {
	KNOWN_PROPERTY(late_at_dup, "nxn MPI_Comm_dup late_at_dup 1 late_work"),
	KNOWN_PROPERTY(late_at_idup, "nxn MPI_Wait late_at_idup 2 late_work"),
	KNOWN_PROPERTY(late_at_split, "nxn MPI_Comm_split late_at_split 2 late_work"),
	KNOWN_PROPERTY(late_at_create, "nxn MPI_Comm_create late_at_create 3 late_work"),
	KNOWN_PROPERTY(
		late_at_create_group, "nxn MPI_Comm_create_group late_at_create_group 1 late_work"),
	KNOWN_PROPERTY(message_in_duplicate, "late_sender MPI_Recv late_message 2 late_work"),
	KNOWN_PROPERTY(late_in_duplicate, "barrier MPI_Barrier late_in_duplicate 0 late_work"),
	KNOWN_PROPERTY(late_after_refusal, "barrier MPI_Barrier late_after_refusal 0 late_work"),
	KNOWN_PROPERTY(message_in_group, "late_sender MPI_Recv late_message 2 late_work"),
	KNOWN_PROPERTY(late_in_group, "barrier MPI_Barrier late_in_group 0 late_work"),
	KNOWN_PROPERTY(late_at_cart, "nxn MPI_Cart_create late_at_cart 0 late_work"),
	KNOWN_PROPERTY(late_in_half, "nxn MPI_Comm_dup late_in_half 1,2 late_work"),
	KNOWN_PROPERTY(late_among_others, "nxn MPI_Comm_dup late_among_others 1 late_work"),
	KNOWN_PROPERTY(late_at_open, "nxn MPI_File_open open_file 1 late_work"),
	KNOWN_PROPERTY(late_at_close, "barrier MPI_File_close close_file 2 late_work"),
	KNOWN_PROPERTY(late_at_set_size, "nxn MPI_File_set_size late_at_set_size 3 late_work"),
};
#define PROPERTIES (int)(sizeof(properties) / sizeof(properties[0]))

/* Each the second one of its kind; all calls are main's. */
KNOWN_UNTRACED static void make_comms(int rank)
{
	MPI_Request request[2];
	MPI_Group all, group;
	MPI_Comm first[2];
	int done = 0;

	MPI_Comm_idup(WORLD, &first[0], &request[0]);
	MPI_Comm_idup(WORLD, &duplicate, &request[1]);
	while (!done) /* which is no wait */
		MPI_Testall(2, request, &done, MPI_STATUSES_IGNORE);
	MPI_Comm_group(WORLD, &all);
	MPI_Group_excl(all, 1, &(int){3}, &group);
	if (rank != 3) {
		MPI_Comm_create_group(WORLD, group, 7, &first[1]);
		MPI_Comm_create_group(WORLD, group, 7, &of_group);
		MPI_Comm_free(&first[1]);
	}
	MPI_Comm_free(&first[0]);
	MPI_Group_free(&group);
	MPI_Group_free(&all);
}

int main(int argc, char **argv)
{
	int rank, size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(WORLD, &rank);
	MPI_Comm_size(WORLD, &size);
	if (size != RANKS || argc != 2) {
		fprintf(stderr, "four ranks and a file, please\n");
		MPI_Abort(WORLD, 2);
	}
	make_comms(rank);
	known_open(argv[1], rank, size);
	snprintf(name, sizeof(name), "%s.data", argv[1]);
	known_play(properties, PROPERTIES);
	MPI_Comm_free(&duplicate);
	if (rank != 3)
		MPI_Comm_free(&of_group);
	MPI_Finalize();
	return 0;
}
