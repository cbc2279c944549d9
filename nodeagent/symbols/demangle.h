/* SPDX-License-Identifier: BSD-3-Clause */
/* Readable names of functions. */
#ifndef VFTR_NODEAGENT_SYMBOLS_DEMANGLE_H
#define VFTR_NODEAGENT_SYMBOLS_DEMANGLE_H

#include <stdbool.h>

struct name_style {
	bool strip_module_names; /* gfortran `__mod_MOD_sub` -> `sub`; also _MP_, _mp_ */
	bool demangle_cxx;	 /* by __cxa_demangle of libstdc++, loaded at run time */
};

/*
 * Clean name for tables: Fortran's trailing underscores and compiler suffixes
 * removed, then by style. The caller frees.
 */
char *name_shown(const char *raw, const struct name_style *style);

#endif
