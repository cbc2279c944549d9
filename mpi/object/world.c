/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/object/world.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "mpi/object/comm.h"
#include "shm/identity.h"

/*
 * Variables that differ between jobs and are equal on all ranks; the first one that
 * is set counts. MPICH's own launcher, Hydra, sets none.
 */
static const char *const job_variables[] = {
	"PMIX_NAMESPACE", "PMI_JOBID", "PALS_APID", "SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"};

#define N_JOB_VARIABLES (sizeof(job_variables) / sizeof(job_variables[0]))

static uint64_t known_id; /* 0: not asked for yet */

bool vftr_world_is_up(void)
{
	int up = 0, down = 0;

	return PMPI_Initialized(&up) == MPI_SUCCESS && up && PMPI_Finalized(&down) == MPI_SUCCESS &&
	       !down;
}

#if MPI_VERSION >= 4
static bool open_session(struct world *w)
{
	if (PMPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &w->session) != MPI_SUCCESS)
		return false;
	if (PMPI_Group_from_session_pset(w->session, "mpi://WORLD", &w->group) == MPI_SUCCESS)
		return true;
	PMPI_Session_finalize(&w->session);
	return false;
}

bool vftr_world_open(struct world *w)
{
	w->session = MPI_SESSION_NULL;
	if (vftr_world_is_up())
		return PMPI_Comm_group(MPI_COMM_WORLD, &w->group) == MPI_SUCCESS;
	return open_session(w);
}

void vftr_world_close(struct world *w)
{
	PMPI_Group_free(&w->group);
	if (w->session != MPI_SESSION_NULL)
		PMPI_Session_finalize(&w->session);
}
#else
bool vftr_world_open(struct world *w)
{
	return vftr_world_is_up() && PMPI_Comm_group(MPI_COMM_WORLD, &w->group) == MPI_SUCCESS;
}

void vftr_world_close(struct world *w)
{
	PMPI_Group_free(&w->group);
}
#endif

static uint64_t job_from_environment(void)
{
	for (size_t i = 0; i < N_JOB_VARIABLES; i++) {
		const char *value = getenv(job_variables[i]);

		if (value && value[0])
			return vftr_mix_text(i + 1, value, strlen(value));
	}
	return 0;
}

#define HYDRA	"hydra_pmi_proxy" /* of each job, on each of its nodes: it starts the ranks */
#define ABOVE	16		  /* processes above a rank that are looked at: its scripts */
#define BETWEEN 17		  /* fields of /proc/PID/stat between the parent and the start */

struct above {
	char name[32];
	long parent;
	uint64_t started;
};

static bool read_above(long pid, struct above *a)
{
	char path[32], text[512], *name, *end, *at;
	long fd, n;

	snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
	/* the program's own files may be recorded */
	fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	n = fd >= 0 ? syscall(SYS_read, fd, text, sizeof(text) - 1) : -1;
	if (fd >= 0)
		syscall(SYS_close, fd);
	text[n > 0 ? n : 0] = '\0';
	name = strchr(text, '(');
	end = strrchr(text, ')');
	if (!name || !end || end < name || end[1] != ' ' || !end[2])
		return false;
	snprintf(a->name, sizeof(a->name), "%.*s", (int)(end - name - 1), name + 1);
	a->parent = strtol(end + 3, &at, 10);
	for (int i = 0; i < BETWEEN; i++)
		strtoll(at, &at, 10);
	a->started = strtoull(at, NULL, 10);
	return true;
}

/* All ranks have it above them if they are all on this node; 0: it is not known. */
static uint64_t job_of_hydra(int size)
{
	const char *here = getenv("MPI_LOCALNRANKS");
	struct above a;

	if (!here || strtol(here, NULL, 10) != size)
		return 0;
	for (long pid = getppid(), up = 0; pid > 1 && up < ABOVE && read_above(pid, &a); up++) {
		if (!strcmp(a.name, HYDRA))
			return identity_mix((uint64_t)pid, a.started);
		pid = a.parent;
	}
	return 0;
}

/* A world of one process is like no other. */
static uint64_t job_of_one(void)
{
	struct timespec now = {0};

	clock_gettime(CLOCK_REALTIME, &now);
	return identity_mix(
		identity_mix((uint64_t)getpid(), (uint64_t)now.tv_sec), (uint64_t)now.tv_nsec);
}

static bool spawned(void)
{
	MPI_Comm parent = MPI_COMM_NULL;

	return vftr_world_is_up() && PMPI_Comm_get_parent(&parent) == MPI_SUCCESS &&
	       parent != MPI_COMM_NULL;
}

uint64_t vftr_world_id(void)
{
	const int saved_errno = errno;
	uint64_t id = load_relaxed(&known_id), job;
	struct world w;
	int size = 0;

	if (id || !vftr_world_open(&w))
		return id;
	PMPI_Group_size(w.group, &size);
	vftr_world_close(&w);
	job = job_from_environment();
	if (!job)
		job = size == 1 ? job_of_one() : job_of_hydra(size);
	id = identity_mix(identity_mix(job, (uint64_t)size), spawned());
	store_relaxed(&known_id, id);
	errno = saved_errno;
	return id;
}
