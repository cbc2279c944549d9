/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What nodeagent/net/mpi.c says of a message when calls of MPI fail: whether its content may still
 * be read. MPI is a stand-in here.
 */
#include "nodeagent/net/mpi.c"

#include <check.h>

#include "t/lib/suite.h"

static int n_sends, fails_at; /* of MPI_Isend(), from 1 on; 0: none */
static bool test_fails;
static const void *posted; /* content that MPI has, or NULL */

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	*provided = required;
	return MPI_SUCCESS;
}

int MPI_Finalize(void)
{
	return MPI_SUCCESS;
}

int MPI_Abort(MPI_Comm comm, int status)
{
	return MPI_ERR_OTHER;
}

int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler)
{
	return MPI_SUCCESS;
}

int MPI_Comm_rank(MPI_Comm comm, int *rank)
{
	*rank = 0;
	return MPI_SUCCESS;
}

int MPI_Comm_size(MPI_Comm comm, int *size)
{
	*size = 1;
	return MPI_SUCCESS;
}

int MPI_Isend(const void *buf, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
	MPI_Request *request)
{
	if (++n_sends == fails_at)
		return MPI_ERR_OTHER;
	*request = n_sends;
	if (n_sends > 1)
		posted = buf;
	return MPI_SUCCESS;
}

int MPI_Irecv(
	void *buf, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request)
{
	return MPI_ERR_OTHER;
}

int MPI_Recv(
	void *buf, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status)
{
	return MPI_ERR_OTHER;
}

int MPI_Iprobe(int from, int tag, MPI_Comm comm, int *found, MPI_Status *status)
{
	return MPI_ERR_OTHER;
}

int MPI_Test(MPI_Request *request, int *done, MPI_Status *status)
{
	*done = true;
	return test_fails ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static char content[100];

static int send_one(void)
{
	char *why;
	struct transport *t = vftr_peer_open(60, &why);
	int error;

	ck_assert_ptr_nonnull(t);
	n_sends = 0;
	error = t->send(t, 0, 1, content, sizeof(content), transport_now() + 60);
	t->finish(t, true, 0, transport_now() + 60);
	return error;
}

START_TEST(a_message_leaves)
{
	ck_assert_int_eq(send_one(), 0);
	ck_assert_int_eq(n_sends, 2);
	ck_assert_ptr_eq(posted, content);
}
END_TEST

START_TEST(one_of_which_nothing_was_posted_may_be_freed)
{
	fails_at = 1;
	ck_assert_int_eq(send_one(), -EIO);
	ck_assert_int_eq(n_sends, 1);
	ck_assert_ptr_null(posted);
}
END_TEST

START_TEST(one_of_which_a_part_was_not_posted_must_stay)
{
	fails_at = 2;
	ck_assert_int_eq(send_one(), -ETIMEDOUT);
}
END_TEST

START_TEST(one_of_which_nothing_can_be_learned_must_stay)
{
	test_fails = true;
	ck_assert_int_eq(send_one(), -ETIMEDOUT);
	ck_assert_ptr_eq(posted, content);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mpi");
	TCase *c = tcase_create("mpi");

	tcase_add_test(c, a_message_leaves);
	tcase_add_test(c, one_of_which_nothing_was_posted_may_be_freed);
	tcase_add_test(c, one_of_which_a_part_was_not_posted_must_stay);
	tcase_add_test(c, one_of_which_nothing_can_be_learned_must_stay);
	suite_add_tcase(s, c);
	return run_suite(s);
}
