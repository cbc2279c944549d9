/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions behind Fortran's module vftrace (fortran/vftrace.f90). Names of regions
 * come as Fortran passes text: the address, and after all arguments the length,
 * blanks at the end included. Compilers spell the names of such procedures
 * differently; the commonest spelling is the function, the others are aliases.
 *
 * In the module of Vftrace 2.0 regions are procedures of the module: objects that
 * gfortran has compiled with that one call them by gfortran's names for these, with
 * the same arguments.
 */
#include <stdlib.h>
#include <string.h>
#include "libhook/process.h"
#include "libhook/vftrace.h"

#define EXPORT __attribute__((visibility("default")))

#define SPELLING(name, target)                                                                     \
	extern __typeof__(target) name __attribute__((alias(#target), visibility("default")))
#define SPELLINGS(lower, upper)                                                                    \
	SPELLING(lower, lower##_);                                                                 \
	SPELLING(lower##__, lower##_);                                                             \
	SPELLING(upper, lower##_)

void vftrace_fortran_begin_(const char *name, size_t bytes);
void vftrace_fortran_end_(const char *name, size_t bytes);
char *vftrace_fortran_stack(size_t *bytes);
void vftrace_fortran_free(char *text);

static size_t trimmed(const char *text, size_t bytes)
{
	while (bytes && text[bytes - 1] == ' ')
		bytes--;
	return bytes;
}

EXPORT void vftrace_fortran_begin_(const char *name, size_t bytes)
{
	vftr_region_event(0, name, trimmed(name, bytes), __builtin_return_address(0));
}
SPELLINGS(vftrace_fortran_begin, VFTRACE_FORTRAN_BEGIN);
SPELLING(__vftrace_MOD_vftrace_region_begin, vftrace_fortran_begin_);

EXPORT void vftrace_fortran_end_(const char *name, size_t bytes)
{
	vftr_region_event(RECORD_EXIT, name, trimmed(name, bytes), __builtin_return_address(0));
}
SPELLINGS(vftrace_fortran_end, VFTRACE_FORTRAN_END);
SPELLING(__vftrace_MOD_vftrace_region_end, vftrace_fortran_end_);

/* The call path, to be freed by the next function; 0 bytes without memory. */
EXPORT char *vftrace_fortran_stack(size_t *bytes)
{
	char *text = vftrace_get_stack();

	*bytes = text ? strlen(text) : 0;
	return text;
}

EXPORT void vftrace_fortran_free(char *text)
{
	free(text);
}
