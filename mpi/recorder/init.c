/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The start: after MPI_Init or MPI_Init_thread, from whatever language, or the
 * first session of a program that has no MPI_COMM_WORLD, the agent learns this
 * process's place in the world. Only local calls are made. At the end groups are
 * freed that only ranks of several jobs have: nothing here costs MPI_Finalize any time.
 */
#include <string.h>
#include "libhook/emit.h"
#include "mpi/object/comm.h"
#include "mpi/object/members.h"
#include "mpi/recorder/look.h"
#include "mpi/recorder/recorders.h"
#include "mpi/recorder/request.h"
#include "mpi/object/type.h"
#include "mpi/object/world.h"

static uint32_t started;

static void place_known(int rank, int size, int level, bool spawned)
{
	struct wire_rank place = {
		.rank = rank,
		.size = size,
		.job = vftr_world_id(),
		.spawned = spawned,
		.thread_level = (uint32_t)level,
	};

#if MPI_VERSION >= 3
	char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
	int bytes;

	if (PMPI_Get_library_version(library, &bytes) != MPI_SUCCESS)
		library[0] = '\0';
	vftr_set_rank(&place, library);
#else
	vftr_set_rank(&place, "");
#endif
}

void vftr_begin_init(struct mpi_call *k)
{
	(void)k;
}

void vftr_mpi_started(void)
{
	MPI_Comm parent = MPI_COMM_NULL;
	const struct mpi_comm *world;
	int level = MPI_THREAD_SINGLE;

	if (!vftr_active() || !vftr_world_is_up() || !claim_u32(&started, 0, 1))
		return;
	PMPI_Query_thread(&level);
	vftr_mpi_multiple |= level == MPI_THREAD_MULTIPLE;
	vftr_type_start();
	vftr_comm_start();
	vftr_request_start();
	world = vftr_comm_find(MPI_COMM_WORLD);
	PMPI_Comm_get_parent(&parent);
	place_known((int)world->rank, (int)world->size, level, parent != MPI_COMM_NULL);
	vftr_look_start();
}

void vftr_end_init(struct mpi_call *k)
{
	if (k->rc == MPI_SUCCESS)
		vftr_mpi_started();
}

#if MPI_VERSION >= 4
static int level_of(MPI_Session session)
{
	static const struct {
		const char *name;
		int level;
	} levels[] = {
		{"MPI_THREAD_SINGLE", MPI_THREAD_SINGLE},
		{"MPI_THREAD_FUNNELED", MPI_THREAD_FUNNELED},
		{"MPI_THREAD_SERIALIZED", MPI_THREAD_SERIALIZED},
	};
	MPI_Info info;
	char value[32] = "";
	int found = 0, level = MPI_THREAD_MULTIPLE;

	if (PMPI_Session_get_info(session, &info) != MPI_SUCCESS)
		return level;
	PMPI_Info_get(info, "thread_level", sizeof(value) - 1, value, &found);
	for (unsigned i = 0; found && i < sizeof(levels) / sizeof(levels[0]); i++)
		if (!strcmp(value, levels[i].name))
			level = levels[i].level;
	PMPI_Info_free(&info);
	return level;
}

static void first_session(MPI_Session session, int level)
{
	int rank, size;
	MPI_Group world;

	if (PMPI_Group_from_session_pset(session, "mpi://WORLD", &world) != MPI_SUCCESS)
		return;
	vftr_type_start();
	vftr_comm_start();
	if (PMPI_Group_rank(world, &rank) == MPI_SUCCESS &&
		PMPI_Group_size(world, &size) == MPI_SUCCESS && rank != MPI_UNDEFINED)
		place_known(rank, size, level, false);
	vftr_look_start();
	PMPI_Group_free(&world);
}
#endif

void vftr_begin_session_init(struct mpi_call *k)
{
	(void)k;
}

/* Sessions may be opened by several threads at once, before the level is known. */
void vftr_end_session_init(struct mpi_call *k)
{
#if MPI_VERSION >= 4
	static uint32_t opened;
	MPI_Session session;
	int world = 0, level;
	bool first;

	if (k->rc != MPI_SUCCESS || !vftr_active())
		return;
	session = k->language == LANGUAGE_C ? *(const MPI_Session *)k->sessions
					    : PMPI_Session_f2c(*(const MPI_Fint *)k->sessions);
	level = level_of(session);
	PMPI_Initialized(&world);
	first = !world && claim_u32(&opened, 0, 1);
	/* the level is of the session: another thread may be in another one */
	if (level == MPI_THREAD_MULTIPLE || !first)
		vftr_mpi_multiple = true;
	if (first)
		first_session(session, level);
#else
	(void)k;
#endif
}

void vftr_begin_finalize(struct mpi_call *k)
{
	(void)k;
	vftr_members_forget_origins();
}

void vftr_end_finalize(struct mpi_call *k)
{
	(void)k;
}

void vftr_begin_aborting(struct mpi_call *k)
{
	(void)k;
	vftr_before_abort();
}

void vftr_end_aborting(struct mpi_call *k)
{
	(void)k;
}
