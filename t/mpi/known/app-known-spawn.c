/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two ranks and two that they have spawned, which wait for each other.
 *
 *	app-known-spawn FILE [HOST]
 *
 * On one machine, or with the children on HOST; FILE: known_open(). The children are ranks 2 and 3
 * in what it says.
 */
#include <mpi.h>
#include <stdio.h>

#include "known.h"

#define PARENTS	  2
#define RANKS	  4
#define BIT(rank) (1u << (rank))
#define NOBODY	  KNOWN_NOBODY
#define CHILD(of) (PARENTS + (of))

static int data;
static MPI_Comm both, merged; /* merged: in the order of the numbers above */
static MPI_Comm copy, merged_copy;
static MPI_Comm half, between; /* of merged and of copy: ranks with even numbers, and odd ones */
static MPI_Comm created;       /* of merged, without rank 1 */
static MPI_Comm grouped = MPI_COMM_NULL; /* the same, made by these alone */
static MPI_Comm grid, column;		 /* of merged: 2 x 2; the same ranks as in half */
static MPI_Comm met, met_merged;	 /* by a port of the parents; merged of that */
static MPI_Comm linked, crossed; /* by MPI_Intercomm_create, of both jobs; of even and odd ranks */

/* Works until these ranks are in their nth call, and then so many ms more. */
static void bottleneck(unsigned ranks, int nth, int ms)
{
	struct known_stamp *s = known_inside(__func__);

	known_after(ranks, nth);
	known_spin(ms);
	known_called(s);
}

static int is_child(void)
{
	return known_rank >= PARENTS;
}

/* Of rank `from`, whose partner on the other side is `to`, each by its rank in its group. */
static void message(int from, int from_rank, int to, int to_rank, int tag)
{
	if (known_rank == from) {
		bottleneck(BIT(to), 1, 8);
		KNOWN_CALL(SEND, tag, to, MPI_Send, &data, 1, MPI_INT, to_rank, tag, both);
	} else if (known_rank == to) {
		KNOWN_CALL(LATE_SENDER, tag, from, MPI_Recv, &data, 1, MPI_INT, from_rank, tag,
			both, MPI_STATUS_IGNORE);
	}
}

static void late_parent(void)
{
	message(1, 1, CHILD(0), 0, 1);
}

static void late_child(void)
{
	message(CHILD(1), 1, 0, 0, 1);
}

static void late_to_receive(void)
{
	if (known_rank == 0) {
		KNOWN_CALL(LATE_RECEIVER, 1, CHILD(1), MPI_Ssend, &data, 1, MPI_INT, 1, 1, both);
	} else if (known_rank == CHILD(1)) {
		bottleneck(BIT(0), 1, 8);
		KNOWN_CALL(LATE_SENDER, 1, 0, MPI_Recv, &data, 1, MPI_INT, 0, 1, both,
			MPI_STATUS_IGNORE);
	}
}

static void late_at_barrier(void)
{
	if (known_rank == CHILD(0))
		bottleneck(BIT(0) | BIT(1) | BIT(CHILD(1)), 1, 8);
	KNOWN_CALL(BARRIER, 1, is_child(), MPI_Barrier, both);
}

static void late_root(void)
{
	if (known_rank == 1)
		bottleneck(BIT(CHILD(0)) | BIT(CHILD(1)), 1, 8);
	if (is_child())
		KNOWN_CALL(LATE_ROOT, 1, 1, MPI_Bcast, &data, 1, MPI_INT, 1, both);
	else if (known_rank == 1)
		KNOWN_CALL(LATE_ROOT, 1, 1, MPI_Bcast, &data, 1, MPI_INT, MPI_ROOT, both);
	else
		MPI_Bcast(&data, 1, MPI_INT, MPI_PROC_NULL, both);
}

/* ---- in a duplicate -----------------------------------------------------------------------------
 */

static void copy_late_child(void)
{
	if (known_rank == CHILD(1)) {
		bottleneck(BIT(0), 1, 8);
		KNOWN_CALL(SEND, 1, 0, MPI_Send, &data, 1, MPI_INT, 0, 1, copy);
	} else if (known_rank == 0) {
		KNOWN_CALL(LATE_SENDER, 1, CHILD(1), MPI_Recv, &data, 1, MPI_INT, 1, 1, copy,
			MPI_STATUS_IGNORE);
	}
}

static void copy_late_at_barrier(void)
{
	if (known_rank == 1)
		bottleneck(BIT(0) | BIT(CHILD(0)) | BIT(CHILD(1)), 1, 8);
	KNOWN_CALL(BARRIER, 1, is_child(), MPI_Barrier, copy);
}

/* ---- in one communicator that was merged of both -----------------------------------------------
 */

/* Also within one job, where all members of the communicator have to mean the same one. */
static void merged_message(int from, int to, int tag)
{
	if (known_rank == from) {
		bottleneck(BIT(to), 1, 8);
		KNOWN_CALL(SEND, tag, to, MPI_Send, &data, 1, MPI_INT, to, tag, merged);
	} else if (known_rank == to) {
		KNOWN_CALL(LATE_SENDER, tag, from, MPI_Recv, &data, 1, MPI_INT, from, tag, merged,
			MPI_STATUS_IGNORE);
	}
}

/* Once: of several it is not known which one is which at the other side. */
static void late_to_merge(void)
{
	if (known_turn)
		return;
	if (known_rank == CHILD(0))
		bottleneck(BIT(0) | BIT(1) | BIT(CHILD(1)), 1, 8);
	KNOWN_CALL(NXN, 1, NOBODY, MPI_Intercomm_merge, both, is_child(), &merged);
	MPI_Comm_free(&both); /* before the other one is used */
}

static void merged_late_parent(void)
{
	merged_message(1, CHILD(1), 1);
}

static void merged_late_child(void)
{
	merged_message(CHILD(0), 0, 1);
}

static void merged_late_sibling(void)
{
	merged_message(CHILD(1), CHILD(0), 1);
}

static void merged_late_at_barrier(void)
{
	if (known_rank == CHILD(1))
		bottleneck(BIT(0) | BIT(1) | BIT(CHILD(0)), 1, 8);
	KNOWN_CALL(BARRIER, 1, NOBODY, MPI_Barrier, merged);
}

static void merged_late_at_allreduce(void)
{
	int sum;

	if (known_rank == 0)
		bottleneck(BIT(1) | BIT(CHILD(0)) | BIT(CHILD(1)), 1, 8);
	KNOWN_CALL(NXN, 1, NOBODY, MPI_Allreduce, &data, &sum, 1, MPI_INT, MPI_SUM, merged);
}

static void merged_late_root(void)
{
	if (known_rank == CHILD(0))
		bottleneck(BIT(0) | BIT(1) | BIT(CHILD(1)), 1, 8);
	KNOWN_CALL(LATE_ROOT, 1, CHILD(0), MPI_Bcast, &data, 1, MPI_INT, CHILD(0), merged);
}

/* Twice: the second one is used. */
static void late_to_copy(void)
{
	if (known_turn > 1)
		return;
	if (known_turn == 1)
		MPI_Comm_free(&merged_copy);
	if (known_rank == 1)
		bottleneck(BIT(0) | BIT(CHILD(0)) | BIT(CHILD(1)), 1, 8);
	KNOWN_CALL(NXN, 1, NOBODY, MPI_Comm_dup, merged, &merged_copy);
}

static void merged_copy_late_at_allreduce(void)
{
	int sum;

	if (known_rank == CHILD(0))
		bottleneck(BIT(0) | BIT(1) | BIT(CHILD(1)), 1, 8);
	KNOWN_CALL(NXN, 1, NOBODY, MPI_Allreduce, &data, &sum, 1, MPI_INT, MPI_SUM, merged_copy);
}

/* ---- made from that, and from the other one -----------------------------------------------------
 */

/* Whether it is to be made once more: twice in all, the second one is used. */
static int makes_again(MPI_Comm *made)
{
	if (known_turn == 1 && *made != MPI_COMM_NULL)
		MPI_Comm_free(made);
	return known_turn < 2;
}

/* In its call before all others are in theirs. */
static void late(int rank)
{
	if (known_rank == rank)
		bottleneck((BIT(RANKS) - 1) & ~BIT(rank), 1, 8);
}

static void late_to_split(void)
{
	if (!makes_again(&half))
		return;
	late(CHILD(0));
	KNOWN_CALL(NXN, 1, NOBODY, MPI_Comm_split, merged, known_rank % 2, 0, &half);
}

static void late_to_split_both(void)
{
	if (!makes_again(&between))
		return;
	late(1);
	KNOWN_CALL(NXN, 1, NOBODY, MPI_Comm_split, copy, known_rank % 2, 0, &between);
}

static void late_to_create(void)
{
	MPI_Group all, group;

	if (!makes_again(&created))
		return;
	MPI_Comm_group(merged, &all);
	MPI_Group_excl(all, 1, &(int){1}, &group);
	late(1);
	KNOWN_CALL(NXN, 1, NOBODY, MPI_Comm_create, merged, group, &created);
	MPI_Group_free(&group);
	MPI_Group_free(&all);
}

/* The next group begins with the same parent, and has the same tag. */
static void late_to_pair(void)
{
	MPI_Group all, pair;
	MPI_Comm made;

	if (known_rank != 0 && known_rank != CHILD(0))
		return;
	MPI_Comm_group(merged, &all);
	MPI_Group_incl(all, 2, ((int[]){0, CHILD(0)}), &pair);
	if (known_rank == CHILD(0))
		bottleneck(BIT(0), 1, 8);
	KNOWN_CALL(NXN, 1, NOBODY, MPI_Comm_create_group, merged, pair, 5, &made);
	MPI_Comm_free(&made);
	MPI_Group_free(&pair);
	MPI_Group_free(&all);
}

static void late_to_group(void)
{
	MPI_Group all, group;

	if (known_rank == 1 || !makes_again(&grouped))
		return;
	MPI_Comm_group(merged, &all);
	MPI_Group_excl(all, 1, &(int){1}, &group);
	if (known_rank == CHILD(0))
		bottleneck(BIT(0) | BIT(CHILD(1)), 1, 8);
	KNOWN_CALL(NXN, 1, NOBODY, MPI_Comm_create_group, merged, group, 5, &grouped);
	MPI_Group_free(&group);
	MPI_Group_free(&all);
}

static void grouped_late_root(void)
{
	if (known_rank == 1)
		return;
	if (known_rank == 0)
		bottleneck(BIT(CHILD(0)) | BIT(CHILD(1)), 1, 8);
	KNOWN_CALL(LATE_ROOT, 1, 0, MPI_Bcast, &data, 1, MPI_INT, 0, grouped);
}

static void late_to_cart(void)
{
	if (!makes_again(&grid))
		return;
	late(CHILD(1));
	KNOWN_CALL(NXN, 1, NOBODY, MPI_Cart_create, merged, 2, ((int[]){2, 2}), ((int[]){0, 0}), 0,
		&grid);
}

static void late_to_cart_sub(void)
{
	if (!makes_again(&column))
		return;
	late(0);
	KNOWN_CALL(NXN, 1, NOBODY, MPI_Cart_sub, grid, ((int[]){1, 0}), &column);
}

/* From the parent to the child of each of the two, or back; to, from: their ranks there. */
static void message_in_half(MPI_Comm on, int to_parent, int from, int to)
{
	const int pair = known_rank % 2;

	if (is_child() == to_parent) {
		bottleneck(BIT(to_parent ? pair : CHILD(pair)), 1, pair ? 4 : 8);
		KNOWN_CALL(SEND, pair, to_parent ? pair : CHILD(pair), MPI_Send, &data, 1, MPI_INT,
			to, 1, on);
	} else {
		KNOWN_CALL(LATE_SENDER, pair, to_parent ? CHILD(pair) : pair, MPI_Recv, &data, 1,
			MPI_INT, from, 1, on, MPI_STATUS_IGNORE);
	}
}

static void half_late_child(void)
{
	message_in_half(half, 1, 1, 0);
}

static void between_late_child(void)
{
	message_in_half(between, 1, 0, 0);
}

static void column_late_parent(void)
{
	message_in_half(column, 0, 0, 1);
}

static void half_late_at_barrier(void)
{
	if (known_rank == 1)
		bottleneck(BIT(CHILD(1)), 1, 8);
	if (known_rank == CHILD(0))
		bottleneck(BIT(0), 1, 4);
	KNOWN_CALL(BARRIER, known_rank % 2, NOBODY, MPI_Barrier, half);
}

static void created_late_root(void)
{
	if (known_rank == 1)
		return;
	if (known_rank == CHILD(1))
		bottleneck(BIT(0) | BIT(CHILD(0)), 1, 8);
	KNOWN_CALL(LATE_ROOT, 1, CHILD(1), MPI_Bcast, &data, 1, MPI_INT, 2, created);
}

static void grid_late_at_allreduce(void)
{
	int sum;

	late(0);
	KNOWN_CALL(NXN, 1, NOBODY, MPI_Allreduce, &data, &sum, 1, MPI_INT, MPI_SUM, grid);
}

/* ---- on a port ----------------------------------------------------------------------------------
 */

static void met_late_child(void)
{
	if (known_rank == CHILD(1)) {
		bottleneck(BIT(0), 1, 8);
		KNOWN_CALL(SEND, 1, 0, MPI_Send, &data, 1, MPI_INT, 0, 1, met);
	} else if (known_rank == 0) {
		KNOWN_CALL(LATE_SENDER, 1, CHILD(1), MPI_Recv, &data, 1, MPI_INT, 1, 1, met,
			MPI_STATUS_IGNORE);
	}
}

static void met_late_at_barrier(void)
{
	late(1);
	KNOWN_CALL(BARRIER, 1, is_child(), MPI_Barrier, met);
}

static void late_to_merge_met(void)
{
	if (!makes_again(&met_merged))
		return;
	late(CHILD(1));
	KNOWN_CALL(NXN, 1, NOBODY, MPI_Intercomm_merge, met, !is_child(), &met_merged);
}

static void met_merged_late_at_allreduce(void)
{
	int sum;

	late(CHILD(0));
	KNOWN_CALL(NXN, 1, NOBODY, MPI_Allreduce, &data, &sum, 1, MPI_INT, MPI_SUM, met_merged);
}

/* ---- by MPI_Intercomm_create --------------------------------------------------------------------
 */

static void message_from_last(MPI_Comm on)
{
	if (known_rank == CHILD(1)) {
		bottleneck(BIT(0), 1, 8);
		KNOWN_CALL(SEND, 1, 0, MPI_Send, &data, 1, MPI_INT, 0, 1, on);
	} else if (known_rank == 0) {
		KNOWN_CALL(LATE_SENDER, 1, CHILD(1), MPI_Recv, &data, 1, MPI_INT, 1, 1, on,
			MPI_STATUS_IGNORE);
	}
}

static void linked_late_child(void)
{
	message_from_last(linked);
}

static void linked_late_at_barrier(void)
{
	late(1);
	KNOWN_CALL(BARRIER, 1, is_child(), MPI_Barrier, linked);
}

static void crossed_late_child(void)
{
	message_from_last(crossed);
}

static void crossed_late_at_barrier(void)
{
	late(CHILD(1));
	KNOWN_CALL(BARRIER, 1, known_rank % 2, MPI_Barrier, crossed);
}

static const struct known_property properties[] = {
	KNOWN_PROPERTY(late_parent, "late_sender MPI_Recv message 1 bottleneck"),
	KNOWN_PROPERTY(late_child, "late_sender MPI_Recv message 3 bottleneck"),
	KNOWN_PROPERTY(late_to_receive, "late_receiver MPI_Ssend late_to_receive 3 bottleneck"),
	KNOWN_PROPERTY(late_at_barrier, "barrier MPI_Barrier late_at_barrier 2 bottleneck"),
	KNOWN_PROPERTY(late_root, "late_root MPI_Bcast late_root 1 bottleneck"),
	KNOWN_PROPERTY(copy_late_child, "late_sender MPI_Recv copy_late_child 3 bottleneck"),
	KNOWN_PROPERTY(
		copy_late_at_barrier, "barrier MPI_Barrier copy_late_at_barrier 1 bottleneck"),
	KNOWN_PROPERTY(late_to_merge, "nxn MPI_Intercomm_merge late_to_merge 2 bottleneck"),
	KNOWN_PROPERTY(merged_late_parent, "late_sender MPI_Recv merged_message 1 bottleneck"),
	KNOWN_PROPERTY(merged_late_child, "late_sender MPI_Recv merged_message 2 bottleneck"),
	KNOWN_PROPERTY(merged_late_sibling, "late_sender MPI_Recv merged_message 3 bottleneck"),
	KNOWN_PROPERTY(
		merged_late_at_barrier, "barrier MPI_Barrier merged_late_at_barrier 3 bottleneck"),
	KNOWN_PROPERTY(merged_late_at_allreduce,
		"nxn MPI_Allreduce merged_late_at_allreduce 0 bottleneck"),
	KNOWN_PROPERTY(merged_late_root, "late_root MPI_Bcast merged_late_root 2 bottleneck"),
	KNOWN_PROPERTY(late_to_copy, "nxn MPI_Comm_dup late_to_copy 1 bottleneck"),
	KNOWN_PROPERTY(merged_copy_late_at_allreduce,
		"nxn MPI_Allreduce merged_copy_late_at_allreduce 2 bottleneck"),
	KNOWN_PROPERTY(late_to_split, "nxn MPI_Comm_split late_to_split 2 bottleneck"),
	KNOWN_PROPERTY(half_late_child, "late_sender MPI_Recv message_in_half 2,3 bottleneck"),
	KNOWN_PROPERTY(
		half_late_at_barrier, "barrier MPI_Barrier half_late_at_barrier 1,2 bottleneck"),
	KNOWN_PROPERTY(late_to_split_both, "nxn MPI_Comm_split late_to_split_both 1 bottleneck"),
	KNOWN_PROPERTY(between_late_child, "late_sender MPI_Recv message_in_half 2,3 bottleneck"),
	KNOWN_PROPERTY(late_to_create, "nxn MPI_Comm_create late_to_create 1 bottleneck"),
	KNOWN_PROPERTY(created_late_root, "late_root MPI_Bcast created_late_root 3 bottleneck"),
	KNOWN_PROPERTY(late_to_pair, "nxn MPI_Comm_create_group late_to_pair 2 bottleneck"),
	KNOWN_PROPERTY(late_to_group, "nxn MPI_Comm_create_group late_to_group 2 bottleneck"),
	KNOWN_PROPERTY(grouped_late_root, "late_root MPI_Bcast grouped_late_root 0 bottleneck"),
	KNOWN_PROPERTY(late_to_cart, "nxn MPI_Cart_create late_to_cart 3 bottleneck"),
	KNOWN_PROPERTY(
		grid_late_at_allreduce, "nxn MPI_Allreduce grid_late_at_allreduce 0 bottleneck"),
	KNOWN_PROPERTY(late_to_cart_sub, "nxn MPI_Cart_sub late_to_cart_sub 0 bottleneck"),
	KNOWN_PROPERTY(column_late_parent, "late_sender MPI_Recv message_in_half 0,1 bottleneck"),
	KNOWN_PROPERTY(met_late_child, "late_sender MPI_Recv met_late_child 3 bottleneck"),
	KNOWN_PROPERTY(met_late_at_barrier, "barrier MPI_Barrier met_late_at_barrier 1 bottleneck"),
	KNOWN_PROPERTY(late_to_merge_met, "nxn MPI_Intercomm_merge late_to_merge_met 3 bottleneck"),
	KNOWN_PROPERTY(met_merged_late_at_allreduce,
		"nxn MPI_Allreduce met_merged_late_at_allreduce 2 bottleneck"),
	KNOWN_PROPERTY(linked_late_child, "late_sender MPI_Recv message_from_last 3 bottleneck"),
	KNOWN_PROPERTY(
		linked_late_at_barrier, "barrier MPI_Barrier linked_late_at_barrier 1 bottleneck"),
	KNOWN_PROPERTY(crossed_late_child, "late_sender MPI_Recv message_from_last 3 bottleneck"),
	KNOWN_PROPERTY(crossed_late_at_barrier,
		"barrier MPI_Barrier crossed_late_at_barrier 3 bottleneck"),
};

/* Leaders are ranks 0 and PARENTS; 0 and 1. */
KNOWN_UNTRACED static void link_and_cross(int child)
{
	MPI_Comm all, half_of_all;
	int rank;

	MPI_Intercomm_merge(both, child, &all);
	MPI_Comm_rank(all, &rank);
	MPI_Comm_split(all, rank % 2, 0, &half_of_all);
	MPI_Intercomm_create(MPI_COMM_WORLD, 0, all, child ? 0 : PARENTS, 7, &linked);
	MPI_Intercomm_create(half_of_all, 0, all, rank % 2 ? 0 : 1, 7, &crossed);
	MPI_Comm_free(&half_of_all);
	MPI_Comm_free(&all);
}

static void meet_at_port(int child)
{
	char port[MPI_MAX_PORT_NAME] = "";
	int rank, there = 0;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (!child && !rank) {
		MPI_Open_port(MPI_INFO_NULL, port);
		MPI_Send(port, sizeof(port), MPI_CHAR, 0, 9, both);
	} else if (!rank) {
		while (!there) /* which is no wait */
			MPI_Iprobe(0, 9, both, &there, MPI_STATUS_IGNORE);
		MPI_Recv(port, sizeof(port), MPI_CHAR, 0, 9, both, MPI_STATUS_IGNORE);
	}
	if (child)
		MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &met);
	else
		MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &met);
}

static void free_all(void)
{
	MPI_Comm *const made[] = {&crossed, &linked, &met_merged, &met, &column, &grid, &grouped,
		&created, &between, &half, &merged_copy, &merged, &copy};

	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++)
		if (*made[i] != MPI_COMM_NULL)
			MPI_Comm_free(made[i]);
}

static void spawn(char **argv, char *host)
{
	MPI_Info info = MPI_INFO_NULL;

	if (host) {
		MPI_Info_create(&info);
		MPI_Info_set(info, "host", host);
	}
	MPI_Comm_spawn(
		argv[0], argv + 1, PARENTS, info, 0, MPI_COMM_WORLD, &both, MPI_ERRCODES_IGNORE);
	if (host)
		MPI_Info_free(&info);
}

int main(int argc, char **argv)
{
	int rank, size, done = 0;
	MPI_Comm first, second;
	MPI_Request request;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_get_parent(&both);
	if (size != PARENTS || argc < 2 || argc > 3) {
		fprintf(stderr, "two ranks and a file, please\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	if (both == MPI_COMM_NULL)
		spawn(argv, argv[2]);
	else
		rank += PARENTS;
	MPI_Comm_dup(both, &first);
	MPI_Comm_dup(both, &second);
	MPI_Comm_free(&first);
	MPI_Comm_idup(second, &copy, &request);
	while (!done) /* which is no wait */
		MPI_Test(&request, &done, MPI_STATUS_IGNORE);
	MPI_Comm_free(&second);
	link_and_cross(rank >= PARENTS);
	meet_at_port(rank >= PARENTS);
	known_open(argv[1], rank, RANKS);
	known_play(properties, (int)(sizeof(properties) / sizeof(properties[0])));
	free_all();
	MPI_Finalize();
	return 0;
}
