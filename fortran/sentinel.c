/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_IN_PLACE and MPI_STATUS(ES)_IGNORE in Fortran are variables of the MPI
 * library; their addresses are what counts. They are found by the names that
 * Open MPI and MPICH give them, so no Fortran compiler is needed. What an MPI
 * lacks is NULL: a weak symbol.
 */
#include <string.h>
#include "mpi/call.h"
#include "shm/atomic.h"

/* whatever <mpi.h> says of the same symbol */
#define SYMBOL(name) __asm__(#name) __attribute__((weak, visibility("default")))

/*
 * Open MPI: common blocks, in the spelling of its Fortran compiler. That they
 * are named here also makes the linker export those of the program, so that
 * there is one of each.
 */
#define SPELLED(own, name, capitals)                                                               \
	extern char own##_1 SYMBOL(name##_), own##_2 SYMBOL(name), own##_3 SYMBOL(name##__),       \
		own##_4 SYMBOL(capitals)
SPELLED(ompi_in_place, mpi_fortran_in_place, MPI_FORTRAN_IN_PLACE);
SPELLED(ompi_status, mpi_fortran_status_ignore, MPI_FORTRAN_STATUS_IGNORE);
SPELLED(ompi_statuses, mpi_fortran_statuses_ignore, MPI_FORTRAN_STATUSES_IGNORE);
#define IS(address, own)                                                                           \
	((address) == &own##_1 || (address) == &own##_2 || (address) == &own##_3 ||                \
		(address) == &own##_4)

/* MPICH: in mpi_f08; in mpif.h and `use mpi' a pointer, which mpirinitf_() sets */
extern char mpich_f08_in_place SYMBOL(MPIR_F08_MPI_IN_PLACE);
extern void *mpich_in_place SYMBOL(MPIR_F_MPI_IN_PLACE);
extern void mpich_init_fortran(void) SYMBOL(mpirinitf_);
/* both, of the standard; Open MPI's mpi_f08 uses those of mpif.h */
extern void *status_ignore SYMBOL(MPI_F_STATUS_IGNORE);
extern void *statuses_ignore SYMBOL(MPI_F_STATUSES_IGNORE);
extern void *f08_status_ignore SYMBOL(MPI_F08_STATUS_IGNORE);
extern void *f08_statuses_ignore SYMBOL(MPI_F08_STATUSES_IGNORE);

/* MPICH learns its addresses in the first Fortran call, which may be this one. */
static void know_mpich(void)
{
	if (&mpich_in_place && !mpich_in_place && mpich_init_fortran)
		mpich_init_fortran();
}

bool vftr_call_in_place(const struct mpi_call *k, const void *buffer)
{
	if (k->language == LANGUAGE_C)
		return buffer == MPI_IN_PLACE;
	/* a descriptor begins with the address of the data */
	if (k->language == LANGUAGE_F08TS && buffer)
		buffer = *(const void *const *)buffer;
	if (!buffer)
		return false;
	know_mpich();
	return IS(buffer, ompi_in_place) || buffer == &mpich_f08_in_place ||
	       (&mpich_in_place && buffer == mpich_in_place);
}

static bool points_to(const void *status, void *const *ignore)
{
	return ignore && status == *ignore;
}

bool vftr_call_status_ignored(const struct mpi_call *k)
{
	if (k->language == LANGUAGE_C)
		return k->status == MPI_STATUS_IGNORE || k->status == MPI_STATUSES_IGNORE;
	if (!k->status)
		return false;
	know_mpich();
	return IS(k->status, ompi_status) || IS(k->status, ompi_statuses) ||
	       points_to(k->status, &status_ignore) || points_to(k->status, &statuses_ignore) ||
	       points_to(k->status, &f08_status_ignore) ||
	       points_to(k->status, &f08_statuses_ignore);
}

#ifdef MPICH
/* MPICH 4.0's mpi_f08 returns the positions of C from Waitany, Testany, Waitsome and Testsome. */
static int mpich_first(void)
{
	static uint32_t known; /* 1 + the answer; every thread finds the same */
	char version[MPI_MAX_LIBRARY_VERSION_STRING + 1] = "";
	int answer = (int)load_relaxed(&known) - 1, length = 0;

	if (answer < 0) {
		PMPI_Get_library_version(version, &length);
		answer = strncmp(version + strcspn(version, "0123456789"), "4.0", 3) != 0;
		store_relaxed(&known, (uint32_t)(1 + answer));
	}
	return answer;
}
#endif

int vftr_call_first_position(const struct mpi_call *k)
{
#ifdef MPICH
	if (k->language == LANGUAGE_F08 || k->language == LANGUAGE_F08TS)
		return mpich_first();
#endif
	return k->language != LANGUAGE_C;
}
