/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Beginnings and endings, each in a process of its own and without a launcher:
 * says what it printed and how it ended. Its errors' texts are not compared.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int level_of(const char *name)
{
	static const char *const names[] = {"single", "funneled", "serialized", "multiple"};
	static const int levels[] = {
		MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};

	for (int i = 0; i < 4; i++)
		if (strcmp(name, names[i]) == 0)
			return levels[i];
	return -1;
}

static void say_state(const char *when)
{
	int up = -1, down = -1, version = -1, subversion = -1;

	MPI_Initialized(&up);
	MPI_Finalized(&down);
	MPI_Get_version(&version, &subversion);
	printf("%s: up %d down %d version %d.%d\n", when, up, down, version, subversion);
}

static int deleted(MPI_Comm comm, int key, void *value, void *extra)
{
	int up = -1, down = -1, rank = -1;

	(void)key;
	(void)extra;
	MPI_Initialized(&up);
	MPI_Finalized(&down);
	MPI_Comm_rank(comm, &rank);
	printf("deleted %s: up %d down %d rank %d\n", (char *)value, up, down, rank);
	return MPI_SUCCESS;
}

/* MPI_Finalize frees MPI_COMM_SELF first, its attributes the last one first. */
static void attributes(void)
{
	static char *const values[] = {"first", "second", "third"};

	for (int i = 0; i < 3; i++) {
		int key;

		MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, deleted, &key, NULL);
		MPI_Comm_set_attr(MPI_COMM_SELF, key, values[i]);
	}
}

static void at_exit(void)
{
	say_state("at exit");
	fflush(stdout);
}

/* An open request, an unfreed communicator and type are left behind. */
static void leave_open(void)
{
	static int x;
	MPI_Request request;
	MPI_Comm comm;
	MPI_Datatype type;

	MPI_Irecv(&x, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Type_contiguous(3, MPI_INT, &type);
	MPI_Type_commit(&type);
	MPI_Cancel(&request);
	MPI_Request_free(&request);
}

static int one(const char *name)
{
	int provided = -1, asked = -1, level = level_of(name), main_thread = -1, rank = -1,
	    size = -1;

	say_state("before");
	if (strcmp(name, "never") == 0)
		return 6;
	atexit(at_exit);
	if (level >= 0) {
		MPI_Init_thread(NULL, NULL, level, &provided);
		MPI_Query_thread(&asked);
		MPI_Is_thread_main(&main_thread);
		printf("provided %d, asked %d, main %d\n", provided, asked, main_thread);
	} else {
		MPI_Init(NULL, NULL);
	}
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	printf("rank %d of %d\n", rank, size);
	say_state("between");
	fflush(stdout);
	if (strcmp(name, "abort") == 0)
		MPI_Abort(MPI_COMM_WORLD, 7);
	if (strcmp(name, "fatal") == 0)
		MPI_Send(NULL, 1, MPI_INT, 5, 1, MPI_COMM_WORLD);
	if (strcmp(name, "unfinished") == 0)
		exit(4);
	if (strcmp(name, "at_once") == 0)
		_exit(9);
	if (strcmp(name, "signal") == 0)
		kill(getpid(), SIGKILL);
	if (strcmp(name, "attributes") == 0)
		attributes();
	if (strcmp(name, "open") == 0)
		leave_open();
	printf("finalize %d\n", MPI_Finalize() == MPI_SUCCESS);
	say_state("after");
	return 3;
}

static void child(const char *self, const char *name)
{
	int status = -1;
	pid_t pid;

	printf("%s\n", name);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		alarm(20);
		if (!freopen("/dev/null", "w", stderr))
			_exit(126);
		execl(self, self, name, (char *)NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		exit(125);
	printf("%s: exit %d signal %d\n\n", name, WIFEXITED(status) ? WEXITSTATUS(status) : -1,
		WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

int main(int argc, char **argv)
{
	static const char *const names[] = {"single", "funneled", "serialized", "multiple", "plain",
		"never", "abort", "fatal", "unfinished", "at_once", "signal", "attributes", "open"};

	if (argc == 2)
		return one(argv[1]);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		child(argv[0], names[i]);
	return 0;
}
