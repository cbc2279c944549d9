/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which MPI the agents speak, and how they live under its launcher. MPI itself
 * is in plug-ins, so that an agent that is alone neither loads nor starts it.
 */
#include "nodeagent/peer.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "nodeagent/util.h"

double peer_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

/* What launchers leave in the environment; the first variable that is set decides. */
static const struct {
	const char *variable; /* number of processes, or only a sign of the launcher */
	const char *size;     /* where the number is then, NULL: unknown */
	const char *plugin;
} launchers[] = {
	{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "openmpi"},
	{"PMI_SIZE", "PMI_SIZE", "mpich"},
	{"PMIX_RANK", "SLURM_STEP_NUM_TASKS", "openmpi"},
};

const char *peer_wanted(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(launchers); i++) {
		const char *size;

		if (!getenv(launchers[i].variable))
			continue;
		size = getenv(launchers[i].size);
		return size && atol(size) <= 1 ? NULL : launchers[i].plugin;
	}
	return NULL;
}

struct peer *peer_open(const char *plugin_dir, const char *mpi, char **error)
{
	peer_open_function *open_it;
	struct peer *p;
	char *path;
	void *plugin;

	*error = NULL;
	if (!mpi)
		mpi = peer_wanted();
	if (!mpi)
		return NULL;
	path = xasprintf("%s/peer-%s.so", plugin_dir, mpi);
	/* MPI libraries look for each other's symbols in the global scope */
	plugin = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	if (!plugin && access(path, R_OK))
		*error = xasprintf("the agents were started by %s, but %s: %s",
			!strcmp(mpi, "openmpi") ? "Open MPI" : "MPICH", path, strerror(errno));
	else if (!plugin)
		*error = xasprintf("cannot load the agents' MPI: %s", dlerror());
	free(path);
	if (!plugin)
		return NULL;
	open_it = (peer_open_function *)dlsym(plugin, PEER_OPEN_SYMBOL);
	if (!open_it) {
		*error = xasprintf("cannot load the agents' MPI: %s", dlerror());
		return NULL;
	}
	p = open_it(error);
	if (!p && !*error)
		*error = xasprintf("the agents' MPI (%s) did not start", mpi);
	return p;
}

static const int passed_on[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1};

/*
 * Whether a launcher ends the job when one process has ended badly. mpirun and
 * mpiexec do, and also when the others have left without MPI_Finalize, which
 * is how a guard that waits comes to its end. Slurm doesn't, nor does Open MPI
 * when it is told to recover.
 */
static bool launcher_kills_job(void)
{
	const char *recovery = getenv("OMPI_MCA_orte_enable_recovery");

	return !getenv("SLURM_STEP_ID") && !(recovery && strchr("1tTyY", recovery[0]));
}

/* Signals wait in the mask until sigwaitinfo(): no handler, no race. */
static _Noreturn void guard(pid_t child, const sigset_t *mask)
{
	int status = 0;

	for (;;) {
		int sig = sigwaitinfo(mask, NULL);

		if (sig == SIGCHLD && waitpid(child, &status, WNOHANG) == child)
			break;
		for (size_t i = 0; i < ARRAY_SIZE(passed_on); i++) {
			if (sig == passed_on[i])
				kill(child, sig);
		}
	}
	if (!WIFSIGNALED(status))
		_exit(WEXITSTATUS(status));
	complain("the agent on this node was ended by signal %d (%s)", WTERMSIG(status),
		strsignal(WTERMSIG(status)));
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	while (launcher_kills_job()) {
		int sig = sigwaitinfo(mask, NULL);

		if (sig == SIGTERM || sig == SIGINT || sig == SIGHUP)
			break;
	}
	_exit(128 + WTERMSIG(status));
}

void peer_shield(void)
{
	sigset_t mask, old;
	pid_t child;

	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	for (size_t i = 0; i < ARRAY_SIZE(passed_on); i++)
		sigaddset(&mask, passed_on[i]);
	sigprocmask(SIG_BLOCK, &mask, &old);
	child = fork();
	if (child > 0)
		guard(child, &mask);
	sigprocmask(SIG_SETMASK, &old, NULL);
	if (child == 0)
		setsid();
}
