/* SPDX-License-Identifier: BSD-3-Clause */
/* Readable names of functions, one by one; names.h has those of a whole profile. */
#ifndef VFTR_NODEAGENT_SYMBOLS_DEMANGLE_H
#define VFTR_NODEAGENT_SYMBOLS_DEMANGLE_H

#include <regex.h>
#include <stdbool.h>

struct conf;

enum name_form {
	NAME_SHORT,  /* C++: without return type, template arguments and parameters (itanium.h) */
	NAME_FULL,   /* C++: by __cxa_demangle of libstdc++, loaded at run time */
	NAME_LINKER, /* as it is */
};

struct name_style {
	bool strip_module_names; /* Fortran: `sub` instead of `mod::sub` */
	bool keep_cxx;		 /* names of C++ and Rust stay as they are, whatever the form */
	enum name_form form;
};

/* By output.names, strip_module_names and demangle_cxx. */
struct name_style name_style_of(const struct conf *c);

/*
 * A name for people. Of Rust: as rust.h has it. Of Fortran: `mod::sub` of what gfortran, ifort,
 * nfort and flang make of it, without trailing underscores and suffixes. The caller frees.
 */
char *name_shown(const char *raw, const struct name_style *style);

/*
 * True if the expression matches the name of a function: the raw one, the shown one, or the full
 * one.
 */
bool name_matches(const regex_t *expression, const char *raw, const struct name_style *style);

#endif
