/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Pcontrol: 0 ends the recording of communication, 1 and 2 begin it again
 * (2 also means that profiles be flushed, which there is no need for), others
 * change nothing. By hand because it is variadic in C, and has in Fortran no
 * ierror or one, by the MPI; what is behind the level is passed on unseen. Where
 * the user says that it is a name, 1 and -1 begin and end a region, from C only.
 */
#include <stdarg.h>
#include "fortran/mangle.h"
#include "libhook/emit.h"
#include "mpi/call.h"

/* those that this MPI lacks, or whose library is not there, are NULL */
extern void pmpi_pcontrol_(void *, void *) __attribute__((weak));
extern void pmpi_pcontrol_f08_(void *, void *) __attribute__((weak));
extern void pmpir_pcontrol_f08_(void *, void *) __attribute__((weak));

VFTR_EXPORT void mpi_pcontrol_(void *, void *);
VFTR_EXPORT void mpi_pcontrol_f08_(void *, void *);

int MPI_Pcontrol(const int level, ...)
{
	const bool outermost = vftr_mpi_enter(VFTR_MPI_PCONTROL, __builtin_return_address(0));
	const int rc = PMPI_Pcontrol(level);
	va_list more;

	if (outermost)
		vftr_mpi_pcontrol(level);
	vftr_mpi_exit(outermost, VFTR_MPI_PCONTROL);
	if ((level == 1 || level == -1) && vftr_pcontrol_wanted()) {
		va_start(more, level);
		vftr_pcontrol_region(
			level, va_arg(more, const char *), __builtin_return_address(0));
		va_end(more);
	}
	return rc;
}

static inline __attribute__((always_inline)) void from_fortran(
	void (*pass_on)(void *, void *), void *level, void *more, const void *caller)
{
	const bool outermost = vftr_mpi_enter(VFTR_MPI_PCONTROL, caller);

	if (pass_on)
		pass_on(level, more);
	if (outermost)
		vftr_mpi_pcontrol(*(const MPI_Fint *)level);
	vftr_mpi_exit(outermost, VFTR_MPI_PCONTROL);
}

void mpi_pcontrol_(void *level, void *more)
{
	from_fortran(pmpi_pcontrol_, level, more, __builtin_return_address(0));
}
VFTR_SPELLINGS(mpi_pcontrol, MPI_PCONTROL);

void mpi_pcontrol_f08_(void *level, void *more)
{
	from_fortran(pmpi_pcontrol_f08_ ? pmpi_pcontrol_f08_ : pmpir_pcontrol_f08_, level, more,
		__builtin_return_address(0));
}
