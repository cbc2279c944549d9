/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The names that Fortran compilers give to MPI_Send. The wrapper has the commonest,
 * mpi_send_; the other spellings are aliases of it, as in the MPI libraries.
 * mpi_f08 routines are always called by the name the MPI library's own module
 * was compiled with, so they need none.
 */
#ifndef VFTR_FORTRAN_MANGLE_H
#define VFTR_FORTRAN_MANGLE_H

/* The wrappers have a section of their own: an MPI's Fortran may jump to its C (mpi/call.c). */
#define VFTR_EXPORT __attribute__((visibility("default"), section("vftr_fortran")))

#define VFTR_SPELLING(name, target)                                                                \
	extern __typeof__(target) name __attribute__((weak, alias(#target), visibility("default")))

/* mpi_send, MPI_SEND -> mpi_send_ also as mpi_send, mpi_send__ and MPI_SEND */
#define VFTR_SPELLINGS(lower, upper)                                                               \
	VFTR_SPELLING(lower, lower##_);                                                            \
	VFTR_SPELLING(lower##__, lower##_);                                                        \
	VFTR_SPELLING(upper, lower##_)

#endif
